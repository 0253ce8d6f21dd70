"""Bar chart of a comparison: the time of each library over umber's, by program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

OWN = "umber"
HEIGHT = 0.8


def ratios(record: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The peer's time over umber's by program and peer; above 1 umber is faster."""
    result_ratios = {}
    for key, result in record.items():
        seconds = result.get("seconds", {})
        peers = {name: time for name, time in seconds.items() if name != OWN}
        if OWN in seconds and "title" in result and peers:
            result_ratios[key] = {name: time / seconds[OWN] for name, time in peers.items()}
    return result_ratios


def draw(record: Mapping[str, Any], path: Path) -> bool:
    """Write a PNG with a group of bars per program; false if there is nothing to compare."""
    ratios_by_program = ratios(record)
    if not ratios_by_program:
        return False
    names = sorted({name for peers in ratios_by_program.values() for name in peers})
    thickness = HEIGHT / len(names)
    figure, axes = plt.subplots(
        figsize=(8, 1.5 + 0.25 * len(names) * len(ratios_by_program)), layout="constrained"
    )
    for index, name in enumerate(names):
        rows = [row for row, peers in enumerate(ratios_by_program.values()) if name in peers]
        lengths = [peers[name] for peers in ratios_by_program.values() if name in peers]
        centers = [row - HEIGHT / 2 + (index + 0.5) * thickness for row in rows]
        bars = axes.barh(centers, [length - 1 for length in lengths], thickness, left=1, label=name)
        axes.bar_label(bars, [f"{length:.2g}" for length in lengths], padding=2, fontsize=7)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(ratios_by_program)), list(ratios_by_program))
    axes.invert_yaxis()
    axes.set_xlabel(f"time of the peer over {OWN}'s (above 1: {OWN} is faster)")
    axes.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return True
