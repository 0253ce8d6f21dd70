"""List long files; fail for a very long one that does not say why it is one subject.

Over 300 lines a file asks a question and is listed. Over 600 its first lines must hold
`//! One subject: why` (Python: `# One subject: why`). Functions over 60 lines are listed too: their
doc comments must say why. Documentation of items is not counted (`///`, docstrings), nor are tests,
tables of data, generated stubs and texts.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from pathlib import Path

from rust_source import Function, functions_of

ASKS = 300
MUST_SAY_WHY = 600
HEAD = 30
LONG_FUNCTION = 60
REASON = re.compile(r"^\s*(?://!|//|#|)\s*One subject: \S", re.MULTILINE)
COUNTED = {".rs", ".py", ".cu"}
# Tests and tables in data form may be as long as what they list.
EXCEPTED = re.compile(
    r"(^|/)(tests|testdata|data)/|(^|/)tests?\.rs$|_tests?\.rs$|_table\.(rs|py)$|stub_types\.py$"
)


def tracked(root: Path) -> list[Path]:
    """The files that git tracks or would track, so that build folders are left out."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [root / name for name in listing.split("\0") if name]


def is_counted(path: Path, root: Path) -> bool:
    """Whether the size of this file is anybody's business."""
    relative = path.relative_to(root).as_posix()
    return path.suffix in COUNTED and not EXCEPTED.search(relative) and path.is_file()


def code_lines(path: Path, text: str) -> int:
    """How many lines a file has without the documentation of its items."""
    if path.suffix != ".py":
        return sum(not line.lstrip().startswith("///") for line in text.splitlines())
    documented = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = (
        node.body[0]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, documented) and ast.get_docstring(node) is not None
    )
    lengths = ((first.end_lineno or first.lineno) - first.lineno + 1 for first in docstrings)
    return len(text.splitlines()) - sum(lengths)


def survey(paths: list[Path], root: Path) -> tuple[list[str], list[str]]:
    """The lines to print about long files, and the complaints about very long ones."""
    listed, complaints = [], []
    for path in paths:
        if not is_counted(path, root):
            continue
        text = path.read_text()
        count = code_lines(path, text)
        if count <= ASKS:
            continue
        name = path.relative_to(root).as_posix()
        says_why = bool(REASON.search("\n".join(text.splitlines()[:HEAD])))
        listed.append((count, name))
        if count > MUST_SAY_WHY and not says_why:
            complaints.append(
                f"{name} has {count} lines and no line `One subject: why` in its head"
            )
    return [f"{count:6} {name}" for count, name in sorted(listed, reverse=True)], complaints


def python_functions(source: str) -> list[Function]:
    """Every function of a Python file."""
    return [
        Function(node.name, node.lineno, node.end_lineno - node.lineno + 1)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def long_functions(paths: list[Path], root: Path) -> list[str]:
    """The lines to print about long functions."""
    found = []
    for path in paths:
        if is_counted(path, root) and path.suffix in (".rs", ".py"):
            find = functions_of if path.suffix == ".rs" else python_functions
            name = path.relative_to(root).as_posix()
            found += [(f.lines, f"{name}:{f.line} {f.name}") for f in find(path.read_text())]
    found = sorted((item for item in found if item[0] > LONG_FUNCTION), reverse=True)
    return [f"{lines:6} {place}" for lines, place in found]


def main() -> int:
    """Print the long files; the exit status says whether one must be split or explained."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    root = parser.parse_args().root
    paths = tracked(root)
    listed, complaints = survey(paths, root)
    functions = long_functions(paths, root)
    print(f"sizes: {len(listed)} files over {ASKS} lines", *listed, sep="\n")
    print(f"sizes: {len(functions)} functions over {LONG_FUNCTION} lines", *functions, sep="\n")
    for complaint in complaints:
        print(f"[sizes] {complaint}", file=sys.stderr)
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
