"""Write the chart and the tables of docs/internals/performance.md; --check compares.

The data are in docs/internals/performance.csv. A row is one case on one processor: umber's value,
the fastest peer and its value, in seconds or bytes. A ratio is the peer's value over umber's, so
above 1 umber is ahead.
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
LARGEST = 4.0
"""Ratios above this count as this in means, so that no case decides its group."""


@dataclass(frozen=True)
class Case:
    """A measured case."""

    group: str
    processor: str
    threads: int
    ratio: float


def cases() -> list[Case]:
    """The cases of the data file that umber and a peer have both run."""
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


def processors(given: Sequence[Case]) -> list[str]:
    return list(dict.fromkeys(case.processor for case in given))


def mean(ratios: Sequence[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(math.log(min(ratio, LARGEST)) for ratio in ratios) / len(ratios))


def ratios(given: Sequence[Case], processor: str, threads: int, group: str | None) -> list[float]:
    return [
        case.ratio
        for case in given
        if (case.processor, case.threads) == (processor, threads) and group in (None, case.group)
    ]


def tables(given: Sequence[Case]) -> str:
    """Geometric means by group, with how many cases umber is the fastest in."""
    parts = []
    for threads, title in ((2, "Two threads"), (1, "One thread")):
        parts.append(f"**{title}**\n\n| group | {' | '.join(processors(given))} |\n")
        parts.append("|---|" + "---:|" * len(processors(given)) + "\n")
        for group in (*GROUPS, None):
            cells = []
            for processor in processors(given):
                found = ratios(given, processor, threads, group)
                ahead = sum(ratio >= 1 for ratio in found)
                cells.append(f"{mean(found):.2f} ({ahead} of {len(found)})")
            parts.append(f"| {group or 'all'} | {' | '.join(cells)} |\n")
        parts.append("\n")
    return "".join(parts)


def label(x: int, y: int, anchor: str, text: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="#222222">{text}</text>'


def picture(given: Sequence[Case]) -> str:
    """Horizontal bars of the means with two threads, a bar for each processor."""
    bar, gap, left, scale = 10, 16, 190, 150.0
    each = bar * len(processors(given)) + gap
    top, width = 64, left + int(scale * 3) + 70
    height = top + each * len(GROUPS) + 24

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
        for number, processor in enumerate(processors(given)):
            x = 12 + 190 * number
            yield f'<rect x="{x}" y="34" width="10" height="10" fill="{COLOURS[number]}"/>'
            yield f'<text x="{x + 15}" y="43" fill="#222222">{processor}</text>'
        for tick in (0, 1, 2, 3):
            x = left + int(scale * tick)
            colour = "#222222" if tick == 1 else "#cccccc"
            yield f'<path d="M{x} {top - 8}V{height - 18}" stroke="{colour}"/>'
            yield label(x, height - 4, "middle", f"{tick}×")
        for row, group in enumerate(GROUPS):
            y = top + each * row
            middle = y + bar * len(processors(given)) // 2 + 4
            yield label(left - 8, middle, "end", group)
            for number, processor in enumerate(processors(given)):
                value = mean(ratios(given, processor, 2, group))
                length = int(scale * value)
                place = y + bar * number
                yield (
                    f'<rect x="{left}" y="{place}" width="{length}" height="{bar - 1}" '
                    f'fill="{COLOURS[number]}"/>'
                )
                yield (
                    f'<text x="{left + length + 4}" y="{place + 9}" font-size="10" '
                    f'fill="#222222">{value:.2f}</text>'
                )
        yield "</svg>"

    return "\n".join(lines()) + "\n"


def page(given: Sequence[Case]) -> str:
    """The page with its tables written anew."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables(given)}{END}{after}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if a file is out of date")
    check = parser.parse_args().check
    given = cases()
    status = 0
    for path, text in ((PAGE, page(given)), (PICTURE, picture(given))):
        if not check:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            print(f"{path.name} is out of date: run python tools/performance_chart.py")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
