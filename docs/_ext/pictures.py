"""Draw the pictures of the site as SVG, from the installed package and from data files.

The chart of measured times is drawn by `tools/performance_chart.py` where the repository has it.
"""

from __future__ import annotations

import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Any

import umber.core as mx
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "tools/performance_chart.py"
DTYPES = (
    "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 "
    "float16 bfloat16 float32 float64 complex64 complex128"
).split()
CELL_WIDTH, CELL_HEIGHT, MARGIN = 44, 24, 96
SHORT = {"uint": "u", "int": "i", "bfloat": "bf", "float": "f", "complex": "c"}
# By kind: background, readable under black text in both themes.
COLOURS = {"b": "#e8e8e8", "u": "#d5ecd4", "i": "#cfe3f7", "f": "#fde7c2", "c": "#ecd6f2"}


def text(x: float, y: float, words: str, anchor: str = "middle", weight: str = "normal") -> str:
    """A line of text."""
    style = f'text-anchor="{anchor}" font-weight="{weight}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(words)}</text>'


def short(name: str) -> str:
    """The name of a dtype that fits into a cell."""
    letters = name.rstrip("0123456789")
    return SHORT.get(letters, letters) + name.removeprefix(letters)


def promotion() -> str:
    """The table of promotion, `mx.result_type` of each pair of dtypes."""
    width = MARGIN + CELL_WIDTH * len(DTYPES) + 8
    height = CELL_HEIGHT * (len(DTYPES) + 1) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12" role="img">',
        "<title>Type promotion</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for column, name in enumerate(DTYPES):
        x = MARGIN + CELL_WIDTH * (column + 0.5)
        parts.append(text(x, 17, short(name), weight="bold"))
    for row, left in enumerate(DTYPES):
        y = CELL_HEIGHT * (row + 1)
        parts.append(text(MARGIN - 6, y + 17, left, "end", "bold"))
        for column, right in enumerate(DTYPES):
            result = mx.result_type(getattr(mx, left), getattr(mx, right))
            x = MARGIN + CELL_WIDTH * column
            kind = "f" if result == mx.bfloat16 else result.kind
            parts.append(
                f'<rect x="{x}" y="{y}" width="{CELL_WIDTH - 2}" height="{CELL_HEIGHT - 2}" '
                f'fill="{COLOURS[kind]}"/>'
            )
            parts.append(text(x + CELL_WIDTH / 2, y + 16, short(result.name)))
    return "\n".join([*parts, "</svg>", ""])


def draw(app: Sphinx) -> None:
    """Write the pictures that changed."""
    file = Path(app.srcdir) / "_static/generated/promotion.svg"
    file.parent.mkdir(parents=True, exist_ok=True)
    picture = promotion()
    if not file.exists() or file.read_text(encoding="utf-8") != picture:
        file.write_text(picture, encoding="utf-8")
    if CHART.exists():
        subprocess.run([sys.executable, str(CHART)], check=True, cwd=ROOT)


def setup(app: Sphinx) -> dict[str, Any]:
    """Draw before Sphinx looks for sources."""
    draw(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
