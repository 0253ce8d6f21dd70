"""Check that every public function of `umber::ops` has an example that `cargo test --doc` runs.

An example is a fenced block of Rust in the doc comment (not `ignore`, `no_run` or `text`), or
`#[doc = example!(…)]` in a macro that generates it. If a macro generates functions from a table,
the macro or every row of the table must contain the example.

Also checks that the table in the documentation of `ops/mod.rs` lists every documentation group.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

OPS = Path("crates/umber-core/src/ops")
FUNCTION = re.compile(r"^\s*pub (?:const |unsafe |async )*fn (\$?\w+)")
FENCE = re.compile(r"^/// ?```(\S*)")
TESTED_LANGUAGES = {"", "rust", "should_panic"}
EXAMPLE_MACRO = re.compile(r"^#\[doc = example!\(")
DOC_OR_ATTRIBUTE = re.compile(r"^(///|#\[|\$\(#\[)")
MACRO = re.compile(r"^macro_rules! (\w+) \{", re.MULTILINE)
GROUP = re.compile(r"^pub mod (\w+);", re.MULTILINE)
GROUP_ROW = re.compile(r"^//! \| \[`(\w+)`\]", re.MULTILINE)


def has_example(doc_lines: list[str]) -> bool:
    """Whether doc comments and attributes contain an example that is run."""
    in_fence = False
    for line in doc_lines:
        fence = FENCE.match(line)
        if EXAMPLE_MACRO.match(line) or (fence and not in_fence and fence[1] in TESTED_LANGUAGES):
            return True
        in_fence ^= bool(fence)
    return False


def lines_above(lines: list[str], index: int) -> list[str]:
    """The doc comments and attributes that belong to the item at `index`."""
    start = index
    while start > 0 and DOC_OR_ATTRIBUTE.match(lines[start - 1].strip()):
        start -= 1
    return [line.strip() for line in lines[start:index]]


def macro_of(source: str, line: int) -> str | None:
    """The macro whose definition contains the line: the last one that begins above it."""
    names = [m[1] for m in MACRO.finditer(source) if source.count("\n", 0, m.start()) < line]
    return names[-1] if names else None


def rows_without(lines: list[str], macro: str) -> Iterator[tuple[int, str]]:
    """Line and name of the rows without an example in the tables passed to `macro`."""
    opening = re.compile(rf"^\s*{macro}! \{{$")
    in_table = False
    for index, line in enumerate(lines):
        if opening.match(line):
            in_table = True
        elif in_table and line.strip() == "}":
            in_table = False
        elif in_table and (row := re.match(r"\s*(\w+)\b", line)):
            doc_lines = lines_above(lines, index)
            if doc_lines and not has_example(doc_lines):
                yield index + 1, row[1]


def without_example(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of every public function without an example in a file."""
    lines = source.splitlines()
    for index, line in enumerate(lines):
        match = FUNCTION.match(line)
        if not match or has_example(lines_above(lines, index)):
            continue
        macro = macro_of(source, index) if match[1].startswith("$") else None
        if macro is None:
            yield index + 1, match[1]
        else:
            yield from rows_without(lines, macro)


def check_examples(root: Path) -> list[str]:
    """Error messages about functions without an example."""
    return [
        f"{path.relative_to(root).as_posix()}:{line}: {name} has no example in its documentation"
        for path in sorted((root / OPS).rglob("*.rs"))
        for line, name in without_example(path.read_text())
    ]


def check_groups(root: Path) -> list[str]:
    """Error messages about the table of documentation groups."""
    source = (root / OPS / "mod.rs").read_text()
    groups, rows = set(GROUP.findall(source)), set(GROUP_ROW.findall(source))
    path = (OPS / "mod.rs").as_posix()
    return [
        f"{path}: no row for group {name} (write `//! | [`{name}`] | what is in it |`)"
        for name in sorted(groups - rows)
    ] + [f"{path}: a row for group {name}, which there is not" for name in sorted(rows - groups)]


def main() -> int:
    """Print what is missing; the exit status is 1 if anything is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    root = parser.parse_args().root
    complaints = check_examples(root) + check_groups(root)
    for complaint in complaints:
        print(f"[doc_examples] {complaint}", file=sys.stderr)
    if not complaints:
        print("doc_examples: every public function of ops has an example")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
