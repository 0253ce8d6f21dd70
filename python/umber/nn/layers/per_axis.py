"""Arguments given as one number for all spatial axes or as one number per axis."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any


def per_axis(op: str, name: str, value: Any, axes: int, minimum: int = 0) -> tuple[int, ...]:
    """One number per axis.

    Parameters
    ----------
    op : str
        Name of the layer, for error messages.
    name : str
        Name of the argument, for error messages.
    value : int or sequence of int
        One number for all axes, or one per axis.
    axes : int
        Number of spatial axes.
    minimum : int, optional
        Lowest valid number. Default: 0.

    Returns
    -------
    tuple of int
        As many numbers as there are axes.

    Raises
    ------
    ValueError
        If `value` is not an integer or `axes` integers, or if one of them is below `minimum`.
    """
    expected = f"an integer or a tuple containing {axes} integer{'s' if axes > 1 else ''}"
    is_vector = getattr(value, "ndim", 0) == 1
    values = tuple(value) if is_vector or isinstance(value, Sequence) else (value,) * axes
    try:
        numbers = tuple(map(index, values))
    except TypeError:
        numbers = ()
    # The repr of an array may have several lines.
    shown = " ".join(repr(value).split())
    if isinstance(value, str) or len(numbers) != axes:
        raise ValueError(f"[{op}] got {name} {shown}, expected {expected}")
    if min(numbers) < minimum:
        raise ValueError(f"[{op}] got {name} {shown}, expected at least {minimum}")
    return numbers
