"""Write the chart and the tables of docs/internals/performance.md; --check compares.

The data are in docs/internals/performance.csv. Each row contains one case on one processor: umber's
value, the fastest peer and its value, in seconds or bytes. A ratio is the peer's value over
umber's; above 1 umber is faster.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs/internals"
DATA = FOLDER / "performance.csv"
PAGE = FOLDER / "performance.md"
PICTURE = FOLDER / "performance.svg"

BEGIN, END = "<!-- begin tables -->\n", "<!-- end tables -->\n"
GROUPS = {
    "elementwise": ("elementwise",),
    "reductions and sorting": ("reductions",),
    "matrix products": ("matmul",),
    "indexing": ("indexing",),
    "convolutions": ("conv",),
    "FFT and linear algebra": ("fft", "linalg"),
    "training and inference": ("transforms",),
    "call overheads": ("overheads",),
    "files": ("io",),
}
COLOURS = ("#4269d0", "#efb118", "#3ca951")
MAX_RATIO = 4.0
"""Ratios are limited to this value in means, so that no single case dominates its group."""


@dataclass(frozen=True)
class Case:
    """A measured case."""

    group: str
    processor: str
    threads: int
    ratio: float


def cases() -> list[Case]:
    """The cases of the data file with values of both umber and a peer."""
    names = {folder: group for group, folders in GROUPS.items() for folder in folders}
    with DATA.open(encoding="utf-8", newline="") as file:
        return [
            Case(
                names[row["case"].split("/")[0]],
                row["processor"],
                int(row["threads"]),
                float(row["peer_value"]) / float(row["umber"]),
            )
            for row in csv.DictReader(file)
            if row["umber"] and row["peer_value"]
        ]


def processors(all_cases: Sequence[Case]) -> list[str]:
    return list(dict.fromkeys(case.processor for case in all_cases))


def mean(ratios: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(math.log(min(ratio, MAX_RATIO)) for ratio in ratios) / len(ratios))


def ratios(
    all_cases: Sequence[Case], processor: str, threads: int, group: str | None
) -> list[float]:
    return [
        case.ratio
        for case in all_cases
        if (case.processor, case.threads) == (processor, threads) and group in (None, case.group)
    ]


def tables(all_cases: Sequence[Case]) -> str:
    """Tables of the geometric means by group, and of the number of cases umber is fastest in."""
    lines = []
    for threads, title in ((2, "Two threads"), (1, "One thread")):
        lines.append(f"**{title}**\n\n| group | {' | '.join(processors(all_cases))} |\n")
        lines.append("|---|" + "---:|" * len(processors(all_cases)) + "\n")
        for group in (*GROUPS, None):
            cells = []
            for processor in processors(all_cases):
                group_ratios = ratios(all_cases, processor, threads, group)
                wins = sum(ratio >= 1 for ratio in group_ratios)
                cells.append(f"{mean(group_ratios):.2f} ({wins} of {len(group_ratios)})")
            lines.append(f"| {group or 'all'} | {' | '.join(cells)} |\n")
        lines.append("\n")
    return "".join(lines)


def label(x: int, y: int, anchor: str, text: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="#222222">{text}</text>'


def picture(all_cases: Sequence[Case]) -> str:
    """An SVG bar chart of the means with two threads, with a bar for each processor."""
    bar, gap, left, scale = 10, 16, 190, 150.0
    group_height = bar * len(processors(all_cases)) + gap
    top, width = 64, left + int(scale * 3) + 70
    height = top + group_height * len(GROUPS) + 24

    def lines() -> Iterator[str]:
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif" font-size="12" role="img">'
        )
        yield "<title>Speed of umber relative to the fastest other library</title>"
        yield f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
        yield (
            '<text x="12" y="22" font-size="14" fill="#222222">Speed relative to the fastest of '
            "NumPy, PyTorch, JAX and MLX, two threads</text>"
        )
        for index, processor in enumerate(processors(all_cases)):
            x = 12 + 190 * index
            yield f'<rect x="{x}" y="34" width="10" height="10" fill="{COLOURS[index]}"/>'
            yield f'<text x="{x + 15}" y="43" fill="#222222">{processor}</text>'
        for tick in (0, 1, 2, 3):
            x = left + int(scale * tick)
            colour = "#222222" if tick == 1 else "#cccccc"
            yield f'<path d="M{x} {top - 8}V{height - 18}" stroke="{colour}"/>'
            yield label(x, height - 4, "middle", f"{tick}×")
        for row, group in enumerate(GROUPS):
            y = top + group_height * row
            middle = y + bar * len(processors(all_cases)) // 2 + 4
            yield label(left - 8, middle, "end", group)
            for index, processor in enumerate(processors(all_cases)):
                value = mean(ratios(all_cases, processor, 2, group))
                length = int(scale * value)
                bar_y = y + bar * index
                yield (
                    f'<rect x="{left}" y="{bar_y}" width="{length}" height="{bar - 1}" '
                    f'fill="{COLOURS[index]}"/>'
                )
                yield (
                    f'<text x="{left + length + 4}" y="{bar_y + 9}" font-size="10" '
                    f'fill="#222222">{value:.2f}</text>'
                )
        yield "</svg>"

    return "\n".join(lines()) + "\n"


def page(all_cases: Sequence[Case]) -> str:
    """The page with updated tables."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables(all_cases)}{END}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if a file is out of date")
    check = parser.parse_args().check
    all_cases = cases()
    status = 0
    for path, text in ((PAGE, page(all_cases)), (PICTURE, picture(all_cases))):
        if not check:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            print(f"{path.name} is out of date: run python tools/performance_chart.py")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
