"""Layers that change the shape only: `Flatten` merges axes, `Unflatten` splits one."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Merge consecutive axes into one; by default all but the first, which counts samples.

    Parameters
    ----------
    start_axis : int, optional
        First axis to merge. Default: 1.
    end_axis : int, optional
        Last axis to merge. Default: -1.

    Raises
    ------
    TypeError
        If an axis is not an integer.

    See Also
    --------
    Unflatten, mx.flatten

    Notes
    -----
    A call raises ValueError if the input has no such axis. Elements keep their order, so the
    channels of an image, its last axis, vary fastest; in PyTorch, where channels come first, the
    columns do. Permute the weights of a following `Linear` accordingly if they come from there.

    Shapes: `(N, *axes)` → `(N, M)`, `M` being the product of the lengths.

    Examples
    --------
    >>> model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10))
    >>> model(mx.zeros((2, 8, 8, 3))).shape
    (2, 10)
    >>> nn.Flatten(0, 1)(mx.zeros((2, 3, 4))).shape
    (6, 4)
    """

    def __init__(self, start_axis: int = 1, end_axis: int = -1) -> None:
        super().__init__()
        self.start_axis = start_axis
        self.end_axis = end_axis

    def _extra_repr(self) -> str:
        return f"start_axis={self.start_axis}, end_axis={self.end_axis}"

    def __call__(self, x: mx.array) -> mx.array:
        return mx.flatten(x, self.start_axis, self.end_axis)


class Unflatten(Module):
    """Split one axis into several.

    Parameters
    ----------
    axis : int
        Axis to split.
    shape : int or sequence of int
        Lengths of the new axes; one of them may be -1, which follows from the others.

    Raises
    ------
    TypeError
        If `axis` or a length is not an integer.
    ValueError
        If there is no length, a length is less than -1, or several are -1.

    See Also
    --------
    Flatten, mx.unflatten

    Notes
    -----
    A call raises ValueError if the product of the lengths is not the length of `axis`.

    Shapes: `(*before, M, *after)` → `(*before, *shape, *after)`, `M` being the length of `axis`.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(16, 64), nn.Unflatten(-1, (4, 4, 4)))
    >>> model(mx.zeros((2, 16))).shape
    (2, 4, 4, 4)
    """

    def __init__(self, axis: int, shape: int | Sequence[int]) -> None:
        super().__init__()
        is_number = isinstance(shape, int) or getattr(shape, "ndim", 1) == 0
        try:
            lengths = tuple(map(index, (shape,) if is_number else shape))
        except TypeError:
            raise TypeError(f"[Unflatten] shape: got {shape!r}, expected integers") from None
        if not lengths or min(lengths) < -1 or lengths.count(-1) > 1:
            raise ValueError(
                f"[Unflatten] shape: got {shape!r}, expected lengths, of which one may be -1"
            )
        self.axis = axis
        self.shape = lengths

    def _extra_repr(self) -> str:
        return f"axis={self.axis}, shape={self.shape}"

    def __call__(self, x: mx.array) -> mx.array:
        return mx.unflatten(x, self.axis, self.shape)


_layout.complete(globals())
