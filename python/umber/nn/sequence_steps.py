"""Splitting of sequences into time steps."""

from __future__ import annotations

import umber.core as mx


def split_steps(x: mx.array, axis: int) -> list[mx.array]:
    """The slices of `x` along an axis, without that axis."""
    length = x.shape[axis]
    if length == 0:
        return []
    return [mx.squeeze(step, axis) for step in mx.split(x, length, axis=axis)]
