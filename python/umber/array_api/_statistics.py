"""Cumulative sums and products, which widen small integers as `sum` does."""

from __future__ import annotations

from collections.abc import Callable

import umber.core as mx
from umber._errors import guard


def _sum_dtype(dtype: mx.Dtype) -> mx.Dtype:
    """The dtype of a sum of numbers of `dtype`."""
    return mx.sum(mx.zeros((1,), dtype)).dtype


def _scan(
    function: Callable,
    x: mx.array,
    axis: int | None,
    dtype: mx.Dtype | None,
    include_initial: bool,
) -> mx.array:
    if axis is None and x.ndim != 1:
        text = f"axis is required for an array of shape {x.shape}"
        raise ValueError(f"[{function.__name__}] {text}")
    dtype = _sum_dtype(x.dtype) if dtype is None else dtype
    return function(x, -1 if axis is None else axis, dtype=dtype, include_initial=include_initial)


def cumulative_sum(
    x: mx.array,
    /,
    *,
    axis: int | None = None,
    dtype: mx.Dtype | None = None,
    include_initial: bool = False,
) -> mx.array:
    """Cumulative sum along an axis.

    Parameters
    ----------
    x : array
        The array.
    axis : int, optional
        The axis; it may be omitted for one axis.
    dtype : Dtype, optional
        Dtype of the result. Default: that of `sum`, which widens small integers.
    include_initial : bool, optional
        Whether the result begins with 0, and is one element longer. Default: False.

    Returns
    -------
    array
        Sums up to and including each element.

    Raises
    ------
    ValueError
        If `axis` is omitted and `x` does not have one axis.
    """
    return _scan(mx.cumulative_sum, x, axis, dtype, include_initial)


def cumulative_prod(
    x: mx.array,
    /,
    *,
    axis: int | None = None,
    dtype: mx.Dtype | None = None,
    include_initial: bool = False,
) -> mx.array:
    """Cumulative product along an axis.

    Parameters
    ----------
    x : array
        The array.
    axis : int, optional
        The axis; it may be omitted for one axis.
    dtype : Dtype, optional
        Dtype of the result. Default: that of `sum`, which widens small integers.
    include_initial : bool, optional
        Whether the result begins with 1, and is one element longer. Default: False.

    Returns
    -------
    array
        Products up to and including each element.

    Raises
    ------
    ValueError
        If `axis` is omitted and `x` does not have one axis.
    """
    return _scan(mx.cumulative_prod, x, axis, dtype, include_initial)


guard(globals())
