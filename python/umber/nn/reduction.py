"""What losses do with the values of all elements or samples."""

from __future__ import annotations

from typing import Literal, get_args

import umber.core as mx

Reduction = Literal["none", "mean", "sum"]


HALVES = (mx.float16, mx.bfloat16)


def widened(x: mx.array) -> mx.array:
    """16-bit floats in float32, where neither squares nor sums of them overflow."""
    return x.astype(mx.float32) if isinstance(x, mx.array) and x.dtype in HALVES else x


def reduce(
    op: str,
    values: mx.array,
    reduction: Reduction,
    dtype: mx.Dtype | None = None,
    is_counted: mx.array | None = None,
) -> mx.array:
    """The values, their mean or their sum, for the loss function `op`.

    The mean is that of the values that are counted, all by default; others are 0. Of 16-bit floats
    the result, computed in float32, is rounded to their `dtype`.
    """
    if reduction == "none":
        result = values
    elif reduction == "sum":
        result = mx.sum(values)
    elif reduction == "mean":
        result = mx.mean(values) if is_counted is None else mx.sum(values) / mx.sum(is_counted)
    else:
        raise ValueError(
            f"[{op}] got the reduction {reduction!r}, expected one of {list(get_args(Reduction))}"
        )
    return result.astype(dtype) if dtype in HALVES else result
