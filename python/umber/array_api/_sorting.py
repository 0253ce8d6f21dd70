"""Sorting functions, whose indices are int64."""

from __future__ import annotations

import umber.core as mx
from umber._errors import guard

from ._index import index


def argsort(
    x: mx.array, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> mx.array:
    """Indices that sort an array along an axis.

    Parameters
    ----------
    x : array
        The array.
    axis : int, optional
        The axis. Default: -1.
    descending : bool, optional
        Whether to sort in descending order. Default: False.
    stable : bool, optional
        Whether equal elements keep their order. They always do. Default: True.

    Returns
    -------
    array
        Indices, int64. NaN comes last.
    """
    return index(mx.argsort(x, axis, descending=descending, stable=stable))


guard(globals())
