"""Searching functions: indices and counts have the default index dtype."""

from __future__ import annotations

from typing import Literal

import umber.core as mx
from umber._errors import guard

from ._index import index


def argmax(x: mx.array, /, *, axis: int | None = None, keepdims: bool = False) -> mx.array:
    """Index of the first largest element along `axis`, or of the flattened array."""
    return index(mx.argmax(x, axis, keepdims))


def argmin(x: mx.array, /, *, axis: int | None = None, keepdims: bool = False) -> mx.array:
    """Index of the first smallest element along `axis`, or of the flattened array."""
    return index(mx.argmin(x, axis, keepdims))


def count_nonzero(
    x: mx.array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> mx.array:
    """How many elements over `axis`, all axes by default, are different from zero."""
    return index(mx.count_nonzero(x, axis=axis, keepdims=keepdims))


def nonzero(x: mx.array, /) -> tuple[mx.array, ...]:
    """The indices of the elements that are not zero, an array for each axis, in row-major order.

    `x` has at least one axis and is evaluated, since its values decide the shape.
    """
    if x.ndim == 0:
        raise ValueError("[nonzero] got a 0-d array, expected at least one axis")
    return tuple(index(place) for place in mx.nonzero(x))


def searchsorted(
    x1: mx.array,
    x2: mx.array | int | float,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: mx.array | None = None,
) -> mx.array:
    """Where each element of `x2` would go into the sorted `x1` of one axis.

    Before (`side="left"`) or behind (`"right"`) equal elements. `sorter` holds the indices that
    bring `x1` in order.
    """
    return index(mx.searchsorted(x1, x2, side, sorter))


guard(globals())
