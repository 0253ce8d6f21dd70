"""Arguments that are one number for all spatial axes or one for each."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any


def per_axis(op: str, name: str, value: Any, axes: int, least: int = 0) -> tuple[int, ...]:
    """The number for each axis.

    Args:
        op: the layer, for messages.
        name: the argument, for messages.
        value: an integer, or as many as there are axes.
        axes: how many spatial axes there are.
        least: the smallest number that makes sense.
    """
    expected = f"an integer or a tuple containing {axes} integer{'s' if axes > 1 else ''}"
    is_vector = getattr(value, "ndim", 0) == 1
    values = tuple(value) if is_vector or isinstance(value, Sequence) else (value,) * axes
    try:
        numbers = tuple(map(index, values))
    except TypeError:
        numbers = ()
    # An array writes itself in several lines.
    given = " ".join(repr(value).split())
    if isinstance(value, str) or len(numbers) != axes:
        raise ValueError(f"[{op}] got {name} {given}, expected {expected}")
    if min(numbers) < least:
        raise ValueError(f"[{op}] got {name} {given}, expected at least {least}")
    return numbers
