"""Searching functions, whose indices and counts are int64."""

from __future__ import annotations

from typing import Literal

import umber.core as mx
from umber._errors import guard

from ._index import index


def argmax(x: mx.array, /, *, axis: int | None = None, keepdims: bool = False) -> mx.array:
    """Index of the maximum along an axis.

    Parameters
    ----------
    x : array
        The array.
    axis : int, optional
        The axis. Default: the flattened array.
    keepdims : bool, optional
        Whether the axis is kept with length 1. Default: False.

    Returns
    -------
    array
        Indices, int64; of equal maxima, the first.
    """
    return index(mx.argmax(x, axis, keepdims))


def argmin(x: mx.array, /, *, axis: int | None = None, keepdims: bool = False) -> mx.array:
    """Index of the minimum along an axis.

    Parameters
    ----------
    x : array
        The array.
    axis : int, optional
        The axis. Default: the flattened array.
    keepdims : bool, optional
        Whether the axis is kept with length 1. Default: False.

    Returns
    -------
    array
        Indices, int64; of equal minima, the first.
    """
    return index(mx.argmin(x, axis, keepdims))


def count_nonzero(
    x: mx.array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> mx.array:
    """Number of elements that are not zero.

    Parameters
    ----------
    x : array
        The array.
    axis : int or tuple of int, optional
        Axes to count over. Default: all axes.
    keepdims : bool, optional
        Whether the axes are kept with length 1. Default: False.

    Returns
    -------
    array
        Counts, int64.
    """
    return index(mx.count_nonzero(x, axis=axis, keepdims=keepdims))


def nonzero(x: mx.array, /) -> tuple[mx.array, ...]:
    """Indices of the elements that are not zero.

    Parameters
    ----------
    x : array
        An array with at least one axis. It is evaluated, since its values decide the shape.

    Returns
    -------
    tuple of array
        Indices, int64, one array for each axis, in row-major order.

    Raises
    ------
    ValueError
        If `x` has no axes.
    """
    if x.ndim == 0:
        raise ValueError("[nonzero] got a 0-d array, expected at least one axis")
    return tuple(index(indices) for indices in mx.nonzero(x))


def searchsorted(
    x1: mx.array,
    x2: mx.array | int | float,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: mx.array | None = None,
) -> mx.array:
    """Positions at which elements would be inserted into a sorted array.

    Parameters
    ----------
    x1 : array
        A sorted array of one axis.
    x2 : scalar or array
        The elements.
    side : {"left", "right"}, optional
        Whether positions are before or after equal elements. Default: ``"left"``.
    sorter : array, optional
        Indices that sort `x1`. Default: `x1` is sorted.

    Returns
    -------
    array
        Positions, int64, in the shape of `x2`.
    """
    return index(mx.searchsorted(x1, x2, side, sorter))


guard(globals())
