"""Reduction of the losses of all elements or samples."""

from __future__ import annotations

from typing import Literal, get_args

import umber.core as mx

Reduction = Literal["none", "mean", "sum"]


HALVES = (mx.float16, mx.bfloat16)


def widened(x: mx.array) -> mx.array:
    """float16 and bfloat16 as float32, in which neither squares nor their sums overflow."""
    return x.astype(mx.float32) if isinstance(x, mx.array) and x.dtype in HALVES else x


def reduce(
    op: str,
    values: mx.array,
    reduction: Reduction,
    dtype: mx.Dtype | None = None,
    is_counted: mx.array | None = None,
) -> mx.array:
    """The losses of the function `op`, their mean or their sum.

    The mean divides by the number of losses where `is_counted`, all by default; the others are 0.
    Losses of float16 and bfloat16 arguments are computed in float32 and rounded to `dtype` here.
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
