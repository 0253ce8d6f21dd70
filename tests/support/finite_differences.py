"""Directional derivatives of the reference functions, by central differences."""

from collections.abc import Callable, Sequence

import numpy as np

STEP = 1e-3


def directional(
    function: Callable[..., list[np.ndarray]],
    values: Sequence[np.ndarray],
    directions: Sequence[np.ndarray],
) -> list[np.ndarray]:
    """d/dt function(values + t * directions) at t = 0; the error is of fourth order."""

    def at(offset: float) -> list[np.ndarray]:
        moved = [value + offset * way for value, way in zip(values, directions, strict=True)]
        return function(*moved)

    far_right, right, left, far_left = (at(k * STEP) for k in (2, 1, -1, -2))
    return [
        (8 * (b - c) - (a - d)) / (12 * STEP)
        for a, b, c, d in zip(far_right, right, left, far_left, strict=True)
    ]


def inner(left: Sequence[np.ndarray], right: Sequence[np.ndarray]) -> float:
    """The real inner product of two lists of arrays."""
    return float(sum(np.real(np.sum(np.conj(a) * b)) for a, b in zip(left, right, strict=True)))
