"""Creation functions that have other parameters, or another answer, in MLX."""

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


def asarray(
    obj: object,
    /,
    *,
    dtype: mx.Dtype | None = None,
    device: mx.Device | None = None,
    copy: bool | None = None,
) -> mx.array:
    """An array of `obj`, over its memory where that can be shared and no copy is asked for.

    With `copy=False` an array is given back as it is: what is written to one is seen in the other.
    """
    array = mx.asarray(obj, dtype, device=device, copy=copy)
    return obj if copy is False and isinstance(obj, mx.array) else array


guard(globals())
