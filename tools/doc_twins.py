"""Compare the first sentences of the Python and Rust documentation of the same function.

The twin of a `#[pyfunction]` in the bindings' ops/ is the `pub fn` with the same name in
umber-core's ops/, or the row of a macro's table that generates it, unless the binding calls another
function of `ops` instead. Names in backticks may differ. With `write`, the twin's first sentence
replaces that of the binding.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

BINDINGS = Path("crates/umber-python/src/ops")
CORE = Path("crates/umber-core/src/ops")
# Functions that modify their argument in Python, but return a new array in Rust.
IN_PLACE = {"fill_diagonal", "place", "put", "putmask", "shuffle"}
# Submodules of umber.core; several may define the same name, such as `split`.
SUBMODULES = {"fast", "fft", "linalg", "random", "special"}

DOC = re.compile(r"^\s*/// ?(.*)$")
ATTRIBUTE = re.compile(r"^\s*#\[")
FUNCTION = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?(?:const |unsafe )*fn (?:r#)?(\w+)")
TABLE = re.compile(r"^(\w+)! ?[{(\[]")
MACRO = re.compile(r"^macro_rules! (\w+) \{.*?^\}", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^    (?:r#)?([a-z_]\w*)\b(?! *::)")
PYTHON_NAME = re.compile(r'\bname = "(\w+)"')
CALL = re.compile(r"\bops::(?:\w+::)*([a-z_]\w*)(?=[(),])")
LINK = re.compile(r"\[(`[^`]+`)\](?:\([^)]*\))?")


class Documented(NamedTuple):
    """A function or table row that has a doc comment."""

    name: str
    path: Path
    first: int  # the lines of the doc comment
    last: int
    paragraph: str  # its first paragraph, on one line
    attributes: str
    is_public: bool
    table: str  # the macro whose table contains the row; "" for a function
    calls: frozenset[str]  # functions of `ops` in its body


def documented(path: Path) -> Iterator[Documented]:
    """Every documented function and every documented row of a table in a file."""
    lines = path.read_text().splitlines()
    table = ""
    index = 0
    while index < len(lines):
        if lines[index] and not lines[index][0].isspace():
            start = TABLE.match(lines[index])
            table = start[1] if start else ""
        if not DOC.match(lines[index]):
            index += 1
            continue
        first = index
        while index < len(lines) and DOC.match(lines[index]):
            index += 1
        last = index - 1
        attributes = ""
        while index < len(lines) and (
            ATTRIBUTE.match(lines[index]) or attributes.count("[") > attributes.count("]")
        ):
            attributes += lines[index].strip() + " "
            index += 1
        item = lines[index] if index < len(lines) else ""
        function = FUNCTION.match(item)
        row = ROW.match(item) if table and not function else None
        match = function or row
        if match:
            yield Documented(
                match[1],
                path,
                first,
                last,
                paragraph(lines[first : last + 1]),
                attributes,
                item.lstrip().startswith("pub fn"),
                table if row else "",
                frozenset() if row else frozenset(calls(lines[index:])),
            )


def calls(lines: list[str]) -> Iterator[str]:
    """The functions of `ops` that the function in `lines` calls; it ends at its closing brace."""
    indent = len(lines[0]) - len(lines[0].lstrip())
    for line in lines:
        yield from CALL.findall(line)
        if line == " " * indent + "}":
            break


def paragraph(comment: list[str]) -> str:
    """The first paragraph of a doc comment, joined into one line."""
    words = []
    for line in comment:
        text = DOC.match(line)[1].strip()
        if not text:
            break
        words.append(text)
    return " ".join(words)


def sentences(text: str) -> tuple[str, str]:
    """The first sentence and the rest; periods inside backticks and of `e.g.` do not count."""
    in_code = False
    for index, character in enumerate(text):
        in_code ^= character == "`" != text[index - 1 : index]
        ends = character == "." and text[index + 1 : index + 2] in ("", " ")
        if ends and not in_code and not text[: index + 1].endswith(("e.g.", "i.e.", "et al.")):
            return text[: index + 1], text[index + 1 :].strip()
    return text, ""


def plain(sentence: str) -> str:
    """The sentence without rustdoc links, as in Python's documentation."""
    return LINK.sub(r"\1", sentence)


def normalized(sentence: str) -> str:
    """The sentence with all names in backticks replaced by the same placeholder."""
    return re.sub(r"`+[^`]*`+", "``", plain(sentence))


def submodule(path: Path, root: Path) -> str:
    """The submodule of umber.core that a file belongs to, or "" for umber.core itself."""
    first = path.relative_to(root).parts[0].removesuffix(".rs")
    return first if first in SUBMODULES else ""


class Macros:
    """The macros of a crate; macros of the same name may differ between files."""

    def __init__(self, root: Path) -> None:
        """Read all files below `root`."""
        self.bodies: dict[tuple[Path, str], str] = {}
        self.shared: dict[str, str] = {}
        for path in sorted(root.rglob("*.rs")):
            for match in MACRO.finditer(path.read_text()):
                self.bodies[path, match[1]] = self.shared[match[1]] = match[0]

    def generates(self, item: Documented, text: str) -> bool:
        """Whether the macro of the item's table contains `text`, as in a function's definition."""
        shared = self.shared.get(item.table, "")
        return text in self.bodies.get((item.path, item.table), shared)


def twins(bindings: Path, core: Path) -> Iterator[tuple[Documented, Documented]]:
    """Pairs of bindings and twins; a name that umber-core defines twice has no twin."""
    known: dict[tuple[str, str], list[Documented]] = {}
    macros = Macros(core)
    for path in sorted(core.rglob("*.rs")):
        for item in documented(path):
            if item.is_public or macros.generates(item, "pub fn $name"):
                known.setdefault((submodule(path, core), item.name), []).append(item)
    macros = Macros(bindings)
    for path in sorted(bindings.rglob("*.rs")):
        for item in documented(path):
            attribute = "#[pyfunction"
            if attribute not in item.attributes and not macros.generates(item, attribute):
                continue
            name_attribute = PYTHON_NAME.search(item.attributes)
            python_name = name_attribute[1] if name_attribute else item.name
            if python_name.startswith("_"):
                continue
            for name in (item.name, python_name):
                candidates = known.get((submodule(path, bindings), name), [])
                calls_another = (
                    bool(item.calls) and candidates and candidates[0].name not in item.calls
                )
                if len(candidates) == 1 and not calls_another and name not in IN_PLACE:
                    yield item, candidates[0]
                    break


def run(bindings: Path, core: Path, write: bool) -> int:
    """List twins whose first sentences differ, or correct them; returns 1 if any was listed."""
    different = [
        (item, sentences(twin.paragraph)[0])
        for item, twin in twins(bindings, core)
        if normalized(sentences(item.paragraph)[0]) != normalized(sentences(twin.paragraph)[0])
    ]
    # From the end of each file, so that line numbers stay valid.
    for item, sentence in reversed(different):
        if write:
            replace(item, plain(sentence))
    for item, sentence in different if not write else []:
        location = f"{item.path}:{item.first + 1}: {item.name}"
        print(f"{location}\n    {sentences(item.paragraph)[0]}\n    {plain(sentence)}")
    verb = "corrected" if write else "differ"
    print(f"[docstrings] {len(different)} first sentences {verb}", file=sys.stderr)
    return int(bool(different) and not write)


def replace(item: Documented, sentence: str) -> None:
    """Make `sentence` the summary; the rest of its paragraph becomes a separate paragraph."""
    text = item.path.read_text()
    lines = text.splitlines()
    indent = lines[item.first][: len(lines[item.first]) - len(lines[item.first].lstrip())]
    length = 0
    while item.first + length <= item.last and DOC.match(lines[item.first + length])[1].strip():
        length += 1
    rest = sentences(item.paragraph)[1]
    new = [f"{indent}/// {sentence}"]
    if rest:
        new += [f"{indent}///", f"{indent}/// {rest}"]
    lines[item.first : item.first + length] = new
    item.path.write_text("\n".join(lines) + "\n")
