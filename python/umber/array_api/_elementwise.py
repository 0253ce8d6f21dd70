"""Elementwise functions whose parameters have other names in `umber.core`."""

from __future__ import annotations

import umber.core as mx
from umber._errors import guard


def clip(
    x: mx.array,
    /,
    min: mx.array | int | float | None = None,
    max: mx.array | int | float | None = None,
) -> mx.array:
    """Limit the elements of an array to a range.

    Parameters
    ----------
    x : array
        The array.
    min, max : scalar or array, optional
        Limits, which broadcast with `x`. Default: no limit.

    Returns
    -------
    array
        ``minimum(maximum(x, min), max)`` in the dtype of `x`. NaN stays NaN.
    """
    clipped = mx.clip(x, min, max)
    return mx.astype(clipped, x.dtype, copy=False)


guard(globals())
