"""Sequences split into their time steps."""

from __future__ import annotations

import umber.core as mx


def steps_of(x: mx.array, axis: int) -> list[mx.array]:
    """The slices of `x` along an axis, without that axis."""
    length = x.shape[axis]
    if length == 0:
        return []
    return [mx.squeeze(part, axis) for part in mx.split(x, length, axis=axis)]
