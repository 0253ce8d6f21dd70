"""Plots that several examples draw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray


def side_by_side(figure: Figure, count: int) -> list[SubFigure]:
    """Subfigures of equal size in one row."""
    grid = figure.add_gridspec(1, count)
    return [figure.add_subfigure(grid[0, i]) for i in range(count)]


def draw_losses(axes: Axes, losses: Sequence[float], label: str = "training loss") -> None:
    """Plot the loss of each step and its moving average."""
    window = max(1, len(losses) // 20)
    mean = np.convolve(losses, np.full(window, 1 / window), mode="valid")
    (line,) = axes.plot(range(1, len(losses) + 1), losses, alpha=0.3)
    axes.plot(range(window, len(losses) + 1), mean, label=label, color=line.get_color())
    axes.set_xlabel("step")
    axes.legend()


def draw_images(axes: Axes, images: NDArray[np.float32], title: str) -> None:
    """Draw a grid of grey images, (rows, columns, height, width); 0 is white."""
    rows, columns, height, width = images.shape
    axes.axis("off")
    axes.imshow(images.swapaxes(1, 2).reshape(rows * height, columns * width), cmap="gray_r")
    axes.set_title(title, fontsize=8)
