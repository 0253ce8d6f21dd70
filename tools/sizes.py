"""List long files, and fail for very long files that do not give a reason for their length.

Files over 300 lines are listed. Files over 600 lines must contain `//! One subject: why` (in Python
`# One subject: why`) among their first lines. Functions over 60 lines are listed too; their doc
comments must explain the length. Documentation of items (`///`, docstrings) is not counted. Tests,
data tables, generated stubs and texts are exempt.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from pathlib import Path

from rust_source import Function, functions_of

LISTED_LINES = 300
REASON_REQUIRED_LINES = 600
HEAD_LINES = 30
LONG_FUNCTION = 60
REASON = re.compile(r"^\s*(?://!|//|#|)\s*One subject: \S", re.MULTILINE)
COUNTED = {".rs", ".py", ".cu"}
# Tests and data tables may have any length.
EXEMPT = re.compile(
    r"(^|/)(tests|testdata|data)/|(^|/)tests?\.rs$|_tests?\.rs$|_table\.(rs|py)$|stub_types\.py$"
)


def tracked(root: Path) -> list[Path]:
    """The files that git tracks or would track, which excludes build folders."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [root / name for name in listing.split("\0") if name]


def is_counted(path: Path, root: Path) -> bool:
    """Whether the size of this file is checked."""
    relative = path.relative_to(root).as_posix()
    return path.suffix in COUNTED and not EXEMPT.search(relative) and path.is_file()


def code_lines(path: Path, text: str) -> int:
    """The number of lines of a file without the documentation of its items."""
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
    """The list of long files, and error messages about very long files without a reason."""
    listed, complaints = [], []
    for path in paths:
        if not is_counted(path, root):
            continue
        text = path.read_text()
        count = code_lines(path, text)
        if count <= LISTED_LINES:
            continue
        name = path.relative_to(root).as_posix()
        has_reason = bool(REASON.search("\n".join(text.splitlines()[:HEAD_LINES])))
        listed.append((count, name))
        if count > REASON_REQUIRED_LINES and not has_reason:
            complaints.append(
                f"{name} has {count} lines and no line `One subject: why` in its head"
            )
    return [f"{count:6} {name}" for count, name in sorted(listed, reverse=True)], complaints


def python_functions(source: str) -> list[Function]:
    """All functions of a Python file."""
    return [
        Function(node.name, node.lineno, node.end_lineno - node.lineno + 1)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def long_functions(paths: list[Path], root: Path) -> list[str]:
    """The list of long functions."""
    functions = []
    for path in paths:
        if is_counted(path, root) and path.suffix in (".rs", ".py"):
            find = functions_of if path.suffix == ".rs" else python_functions
            name = path.relative_to(root).as_posix()
            functions += [(f.lines, f"{name}:{f.line} {f.name}") for f in find(path.read_text())]
    functions = sorted((item for item in functions if item[0] > LONG_FUNCTION), reverse=True)
    return [f"{lines:6} {location}" for lines, location in functions]


def main() -> int:
    """Print the long files; the exit status is 1 if one must be split or needs a reason."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    root = parser.parse_args().root
    paths = tracked(root)
    listed, complaints = survey(paths, root)
    functions = long_functions(paths, root)
    print(f"sizes: {len(listed)} files over {LISTED_LINES} lines", *listed, sep="\n")
    print(f"sizes: {len(functions)} functions over {LONG_FUNCTION} lines", *functions, sep="\n")
    for complaint in complaints:
        print(f"[sizes] {complaint}", file=sys.stderr)
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
