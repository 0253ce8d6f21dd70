"""Creation functions whose parameters have other names in MLX."""

from __future__ import annotations

import umber.core as mx
from umber._errors import guard


def full(
    shape: int | tuple[int, ...],
    fill_value: mx.array | bool | int | float | complex,
    *,
    dtype: mx.Dtype | None = None,
    device: mx.Device | None = None,
) -> mx.array:
    """An array with one value everywhere, of the value's default dtype unless one is given.

    The value may be a 0-d array.
    """
    return mx.full(shape, fill_value, dtype, device=device)


def full_like(
    x: mx.array,
    /,
    fill_value: mx.array | bool | int | float | complex,
    *,
    dtype: mx.Dtype | None = None,
    device: mx.Device | None = None,
) -> mx.array:
    """One value everywhere, in the shape of `x`, and in its dtype unless one is given."""
    return mx.full_like(x, fill_value, dtype, device=device)


guard(globals())
