"""Draw random sentences of the documentation, docstrings, comments and error messages.

Rewrite those that users of other array libraries do not understand. Tests and code are omitted.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

from rust_source import NOISE
from sizes import tracked

EXCLUDED = re.compile(r"(^|/)tests?(/|\.rs$)|^(?!crates/|python/).*\.(rs|pyi?)$")
RUST_TESTS = re.compile(r"^#\[cfg\(test\)\]\s*mod \w+ \{.*?^\}", re.MULTILINE | re.DOTALL)
ERROR_CALL = re.compile(r"\b(?:(?:bail|ensure|error)!|new_err|Error::other)\(")
STRING = re.compile(r'b?r?(?P<hashes>#*)"(?P<text>.*)"(?P=hashes)', re.DOTALL)
PYTHON_NOISE = re.compile(r"""[\"]{3}[\s\S]*?[\"]{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|#.*""")
CODE = re.compile(r"(?m)\A---$[\s\S]*?^---$|^ *(?:```[\s\S]*?^ *```|>>>[\s\S]*?(?:^ *$|\Z))")
# Underlined and other headings, tables, tags, targets of links, and the types of parameters.
OMITTED = re.compile(r"(?m)^(?:.*\n *[-=]{3,}| *(?:[#|<]|\[[^]]+\]: |\*{0,2}\w[\w, *.]* : ).*)$")
WORD = re.compile(r"[^\W\d]{2,}(?![\w,]|\.\w)")
LIST_ITEM = re.compile(r" *(?:[-*+]|\d+\.) ")
LINK = re.compile(r"(?<!\w)!?\[((?:[^][]|\[[^]]*\])*)\](?:\([^)]*\)|\[\w*\])")
SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!\b[A-Z]\.)\s+(?=[^a-z\s])")
Numbered = tuple[int, str]  # the number of a line and a text that starts there


def blank(pattern: re.Pattern[str], text: str) -> str:
    """The text without what matches; line breaks are preserved."""
    return pattern.sub(lambda match: "\n" * match[0].count("\n"), text)


def paragraphs_of(text: str) -> Iterator[list[Numbered]]:
    """The lines of each paragraph and of each list item."""
    paragraph: list[Numbered] = []
    indent = 0
    for number, line in enumerate([*blank(OMITTED, blank(CODE, text)).splitlines(), ""], 1):
        item = LIST_ITEM.match(line)
        depth = item.end() if item else len(line) - len(line.lstrip())
        if paragraph and (item or depth > indent or not line.strip()):
            yield paragraph
            paragraph = []
        indent = depth
        if line.strip():
            paragraph.append((number, line[depth:].rstrip()))


def sentences_of(text: str) -> Iterator[Numbered]:
    """The sentences with at least three words, and the lines on which they start."""
    for paragraph in paragraphs_of(text):
        joined = "\n".join(line for _, line in paragraph)
        ends = (match.end() for match in SENTENCE_END.finditer(joined))
        for start, stop in pairwise([0, *ends, len(joined)]):
            sentence = LINK.sub(r"\1", " ".join(joined[start:stop].split()))
            if len(WORD.findall(sentence)) > 2:
                yield paragraph[joined.count("\n", 0, start)][0], sentence


def sentences_at(texts: Iterable[Numbered]) -> Iterator[Numbered]:
    """The sentences of texts that begin on the given lines."""
    lines: list[str] = []
    for number, text in texts:
        lines += [""] * (number - 1 - len(lines)) + text.splitlines()
    yield from sentences_of("\n".join(lines))


def of_docstrings(source: str) -> Iterator[Numbered]:
    """The sentences of the docstrings of a Python file or stub."""
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr))
    strings = (node for node in nodes if isinstance(getattr(node.value, "value", None), str))
    # The first line begins after the quotes, so it gets the indentation of the others.
    yield from sentences_at(sorted((s.lineno, " " * s.col_offset + s.value.value) for s in strings))


def of_comments(noise: re.Pattern[str], source: str) -> Iterator[Numbered]:
    """The sentences of the comments of a source file."""
    comments = (match for match in noise.finditer(source) if match[0].startswith(("//", "#")))
    yield from sentences_at(
        (source.count("\n", 0, match.start()) + 1, match[0].lstrip("/!#")) for match in comments
    )


def of_rust_errors(source: str) -> Iterator[Numbered]:
    """The string literals with a space in the arguments of error macros and constructors."""
    noise = {match.start(): match[0] for match in NOISE.finditer(source)}
    for call in ERROR_CALL.finditer(source):
        index, depth = call.end(), 1
        while depth and index < len(source):
            token = noise.get(index, source[index])
            depth += {"(": 1, ")": -1}.get(token, 0)
            if (string := STRING.fullmatch(token)) and " " in string["text"].strip():
                yield source.count("\n", 0, index) + 1, re.sub(r"\\\n\s*", "", string["text"])
            index += len(token)


def of_python_errors(source: str) -> Iterator[Numbered]:
    """The strings with a space in `raise` statements."""
    nodes = [node.exc for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Raise)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.JoinedStr | ast.Constant):
            text = ast.unparse(node).lstrip("f").strip("'\"")
            if " " in text.strip():
                yield node.lineno, text
        elif node:
            nodes += ast.iter_child_nodes(node)


SOURCES: dict[str, dict[str, Callable[[str], Iterator[Numbered]]]] = {
    "docs": {".md": sentences_of},
    "docstrings": {".py": of_docstrings, ".pyi": of_docstrings},
    "comments": {".py": partial(of_comments, PYTHON_NOISE), ".rs": partial(of_comments, NOISE)},
    "errors": {".py": of_python_errors, ".rs": of_rust_errors},
}


def collect(root: Path, source: str) -> list[str]:
    """The sentences of a source, each after its file and line."""
    found: dict[str, str] = {}
    for path in tracked(root):
        name, extract = path.relative_to(root).as_posix(), SOURCES[source].get(path.suffix)
        if extract and not EXCLUDED.search(name) and path.is_file():
            for line, sentence in extract(blank(RUST_TESTS, path.read_text())):
                found.setdefault(sentence, f"{name}:{line}: {sentence}")
    return list(found.values())


def main() -> None:
    """Print numbered sentences of every source."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=10, help="number of sentences of each source")
    options = parser.parse_args()
    for source in SOURCES:
        found = collect(Path(__file__).resolve().parents[1], source)
        print(f"{source}: {options.count} of {len(found)}")
        random.Random(options.seed).shuffle(found)
        for number, sentence in enumerate(found[: options.count], 1):
            print(f"{number:3}. {sentence}")


if __name__ == "__main__":
    main()
