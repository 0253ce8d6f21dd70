"""Parts of the examples' figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray


def side_by_side(figure: Figure, parts: int) -> list[SubFigure]:
    """Equal parts of a figure."""
    grid = figure.add_gridspec(1, parts)
    return [figure.add_subfigure(grid[0, part]) for part in range(parts)]


def draw_losses(axes: Axes, losses: Sequence[float], label: str = "training loss") -> None:
    """The loss of each step, and its running mean."""
    window = max(1, len(losses) // 20)
    mean = np.convolve(losses, np.full(window, 1 / window), mode="valid")
    (each,) = axes.plot(range(1, len(losses) + 1), losses, alpha=0.3)
    axes.plot(range(window, len(losses) + 1), mean, label=label, color=each.get_color())
    axes.set_xlabel("step")
    axes.legend()


def draw_images(axes: Axes, images: NDArray[np.float32], title: str) -> None:
    """Images of grey values, (rows, columns, height, width), white where they are 0."""
    rows, columns, height, width = images.shape
    axes.axis("off")
    axes.imshow(images.swapaxes(1, 2).reshape(rows * height, columns * width), cmap="gray_r")
    axes.set_title(title, fontsize=8)
