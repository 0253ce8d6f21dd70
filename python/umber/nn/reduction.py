"""What losses do with the values of all elements or samples."""

from __future__ import annotations

from typing import Literal, get_args

import umber.core as mx

Reduction = Literal["none", "mean", "sum"]


def reduce(op: str, values: mx.array, reduction: Reduction) -> mx.array:
    """The values, their mean or their sum, for the loss function `op`."""
    if reduction == "none":
        return values
    if reduction == "mean":
        return mx.mean(values)
    if reduction == "sum":
        return mx.sum(values)
    raise ValueError(
        f"[{op}] got the reduction {reduction!r}, expected one of {list(get_args(Reduction))}"
    )
