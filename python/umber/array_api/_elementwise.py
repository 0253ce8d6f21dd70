"""Elementwise functions whose parameters have other names in MLX."""

from __future__ import annotations

import umber.core as mx
from umber._errors import guard


def clip(
    x: mx.array,
    /,
    min: mx.array | int | float | None = None,
    max: mx.array | int | float | None = None,
) -> mx.array:
    """`x` limited to `min` and `max`, in the dtype of `x`; not-a-number stays.

    A limit is a number or an array that broadcasts with `x`; `None` does not limit.
    """
    clipped = mx.clip(x, min, max)
    return mx.astype(clipped, x.dtype, copy=False)


guard(globals())
