"""Write docs/usage/differences_from_mlx.md from its table in tests/tables; --check compares."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/usage/differences_from_mlx.md"
sys.path.insert(0, str(ROOT / "tests/tables"))

from differences_from_mlx import COMPARED_WITH, DIFFERENCES, Difference  # noqa: E402

HEAD = f"""\
<!-- Written by tools/differences.py from tests/tables/differences_from_mlx.py. -->

# Where umber differs from MLX {COMPARED_WITH}

MLX programs run on umber unchanged, and results agree, except for the deliberate differences listed
here. Tests check the list on a CPU, by random calls of every function and by running each example
in both frameworks.
"""


def code(text: str) -> str:
    """Inline code for a cell of a table."""
    return f"`{text}`".replace("|", "\\|")


def line(row: Difference) -> str:
    names = ", ".join(f"`{name}`" for name in row.names.split())
    return f"| {names} | {code(row.example)} | {row.mlx} | {row.umber} | {row.why} |"


def page() -> str:
    """The whole page."""
    lines = [HEAD]
    for heading, rows in DIFFERENCES.items():
        lines.append(f"\n## {heading}\n\n| functions | example | MLX | umber | reason |\n")
        lines.append("| --- | --- | --- | --- | --- |\n")
        lines += [line(row) + "\n" for row in rows]
    return "".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if the page is out of date")
    if not parser.parse_args().check:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") != page():
        print(f"{PAGE.relative_to(ROOT)} is out of date: run python tools/differences.py")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
