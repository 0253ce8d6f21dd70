"""Check that every public function of `umber::ops` shows an example that `cargo test --doc` runs.

An example is a fenced block of Rust in the doc comment (not `ignore`, `no_run` or `text`), or
`#[doc = example!(…)]` where a macro writes it. Of functions that a table makes, either the macro
writes the example or every row of the table brings one.

Also checked: the table in the documentation of `ops/mod.rs` names every documentation group.
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
RUN = {"", "rust", "should_panic"}
WRITTEN = re.compile(r"^#\[doc = example!\(")
ABOVE = re.compile(r"^(///|#\[|\$\(#\[)")
MACRO = re.compile(r"^macro_rules! (\w+) \{", re.MULTILINE)
GROUP = re.compile(r"^pub mod (\w+);", re.MULTILINE)
GROUP_ROW = re.compile(r"^//! \| \[`(\w+)`\]", re.MULTILINE)


def has_example(above: list[str]) -> bool:
    """Whether doc comments and attributes hold an example that runs."""
    inside = False
    for line in above:
        fence = FENCE.match(line)
        if WRITTEN.match(line) or (fence and not inside and fence[1] in RUN):
            return True
        inside ^= bool(fence)
    return False


def lines_above(lines: list[str], index: int) -> list[str]:
    """The doc comments and attributes that belong to the item at `index`."""
    start = index
    while start > 0 and ABOVE.match(lines[start - 1].strip()):
        start -= 1
    return [line.strip() for line in lines[start:index]]


def macro_of(source: str, line: int) -> str | None:
    """The macro whose definition the line stands in: the last that begins above it."""
    begun = [m[1] for m in MACRO.finditer(source) if source.count("\n", 0, m.start()) < line]
    return begun[-1] if begun else None


def rows_without(lines: list[str], macro: str) -> Iterator[tuple[int, str]]:
    """Line and name of the rows without an example in the tables that `macro` reads."""
    opening = re.compile(rf"^\s*{macro}! \{{$")
    inside = False
    for index, line in enumerate(lines):
        if opening.match(line):
            inside = True
        elif inside and line.strip() == "}":
            inside = False
        elif inside and (row := re.match(r"\s*(\w+)\b", line)):
            above = lines_above(lines, index)
            if above and not has_example(above):
                yield index + 1, row[1]


def without_example(source: str) -> Iterator[tuple[int, str]]:
    """Line and name of every public function of a file that has no example."""
    lines = source.splitlines()
    for index, line in enumerate(lines):
        found = FUNCTION.match(line)
        if not found or has_example(lines_above(lines, index)):
            continue
        macro = macro_of(source, index) if found[1].startswith("$") else None
        if macro is None:
            yield index + 1, found[1]
        else:
            yield from rows_without(lines, macro)


def check_examples(root: Path) -> list[str]:
    """Complaints about functions without an example."""
    return [
        f"{path.relative_to(root).as_posix()}:{line}: {name} has no example in its documentation"
        for path in sorted((root / OPS).rglob("*.rs"))
        for line, name in without_example(path.read_text())
    ]


def check_groups(root: Path) -> list[str]:
    """Complaints about the table of documentation groups."""
    source = (root / OPS / "mod.rs").read_text()
    groups, rows = set(GROUP.findall(source)), set(GROUP_ROW.findall(source))
    place = (OPS / "mod.rs").as_posix()
    return [
        f"{place}: no row for group {name} (write `//! | [`{name}`] | what is in it |`)"
        for name in sorted(groups - rows)
    ] + [f"{place}: a row for group {name}, which there is not" for name in sorted(rows - groups)]


def main() -> int:
    """Print what is missing; the exit status says whether something is."""
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
