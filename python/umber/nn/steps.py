"""Sequences taken apart into their steps."""

from __future__ import annotations

import umber.core as mx


def steps_of(x: mx.array, axis: int) -> list[mx.array]:
    """The parts of `x` along an axis, without that axis.

    Halves are halved again: the gradient of a part is as large as what it was cut from, so that
    cutting all `L` steps from `x` would make differentiation cost `L²`, this way it is `L log L`.
    """
    length = x.shape[axis]
    if length == 0:
        return []
    if length == 1:
        return [mx.squeeze(x, axis)]
    first, second = mx.split(x, [length // 2], axis=axis)
    return steps_of(first, axis) + steps_of(second, axis)
