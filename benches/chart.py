"""A picture of a comparison: for each program, how much longer the peers take than umber."""

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
    """By program and peer, the peer's time over umber's: above 1 umber is ahead."""
    found = {}
    for key, result in record.items():
        seconds = result.get("seconds", {})
        peers = {name: each for name, each in seconds.items() if name != OWN}
        if OWN in seconds and "title" in result and peers:
            found[key] = {name: each / seconds[OWN] for name, each in peers.items()}
    return found


def draw(record: Mapping[str, Any], path: Path) -> bool:
    """Write a PNG with a group of bars for each program; false if there is nothing to compare."""
    shown = ratios(record)
    if not shown:
        return False
    names = sorted({name for peers in shown.values() for name in peers})
    thickness = HEIGHT / len(names)
    figure, axes = plt.subplots(
        figsize=(8, 1.5 + 0.25 * len(names) * len(shown)), layout="constrained"
    )
    for place, name in enumerate(names):
        rows = [row for row, peers in enumerate(shown.values()) if name in peers]
        lengths = [peers[name] for peers in shown.values() if name in peers]
        middles = [row - HEIGHT / 2 + (place + 0.5) * thickness for row in rows]
        bars = axes.barh(middles, [length - 1 for length in lengths], thickness, left=1, label=name)
        axes.bar_label(bars, [f"{length:.2g}" for length in lengths], padding=2, fontsize=7)
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(shown)), list(shown))
    axes.invert_yaxis()
    axes.set_xlabel(f"time of the peer over {OWN}'s (above 1: {OWN} is ahead)")
    axes.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return True
