"""Adaptive pooling: the maximum or mean of windows that cover the input, for a given output size.

Window `i` of `M` on an axis of size `L` spans the indices from `⌊i L / M⌋` to `⌈(i + 1) L / M⌉`,
exclusive. Window sizes differ by at most one, and neighbouring windows overlap if `M` does not
divide `L`.
"""

from __future__ import annotations

from typing import ClassVar

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module
from umber.nn.layers.per_axis import per_axis
from umber.nn.layers.pooling import check_axes

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
]

OutputSizes = int | None | tuple[int | None, ...]


class _AdaptivePool(Module):
    """Base of all adaptive pooling layers, which pool one axis after the other."""

    axes: ClassVar[int]

    def __init__(self, output_size: OutputSizes) -> None:
        super().__init__()
        sizes = output_size if isinstance(output_size, tuple) else (output_size,) * self.axes
        explicit = tuple(1 if size is None else size for size in sizes)
        per_axis(type(self).__name__, "output_size", explicit, self.axes, minimum=1)
        self._output_size = sizes

    def _extra_repr(self) -> str:
        return f"output_size={self._output_size}"

    def __call__(self, x: mx.array) -> mx.array:
        check_axes(type(self).__name__, x, self.axes)
        dtype = self._result_dtype(x)
        y = x.astype(mx.float32) if dtype in (mx.float16, mx.bfloat16) else x.astype(dtype)
        for axis, count in enumerate(self._output_size, start=x.ndim - 1 - self.axes):
            if count is not None and count != x.shape[axis]:
                if x.shape[axis] == 0:
                    raise ValueError(
                        f"[{type(self).__name__}] got an input with the shape {x.shape}, "
                        "expected at least one element along each spatial axis"
                    )
                y = self._pool(y, axis, count)
        return y.astype(dtype)

    def _result_dtype(self, x: mx.array) -> mx.Dtype:
        return x.dtype

    def _pool(self, x: mx.array, axis: int, count: int) -> mx.array:
        raise NotImplementedError


class _AdaptiveMaxPool(_AdaptivePool):
    def _pool(self, x: mx.array, axis: int, count: int) -> mx.array:
        indices, _ = _windows(x.shape[axis], count)
        return mx.take(x, indices, axis=axis).max(axis=axis + 1)


class _AdaptiveAvgPool(_AdaptivePool):
    def _result_dtype(self, x: mx.array) -> mx.Dtype:
        return x.dtype if mx.issubdtype(x.dtype, mx.inexact) else mx.float32

    def _pool(self, x: mx.array, axis: int, count: int) -> mx.array:
        indices, is_inside = _windows(x.shape[axis], count)
        trailing = (1,) * (x.ndim - 1 - axis)
        mask = is_inside.reshape(*is_inside.shape, *trailing)
        total = mx.where(mask, mx.take(x, indices, axis=axis), 0).sum(axis=axis + 1)
        return total / is_inside.sum(axis=1).reshape(count, *trailing).astype(x.dtype)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """Adaptive max pooling to a given output size along one axis.

    Parameters
    ----------
    output_size : int or None, or a tuple of one
        Number of windows. `None` keeps the size of the axis.

    Raises
    ------
    ValueError
        If a size is not an integer above 0.

    See Also
    --------
    AdaptiveAvgPool1d, MaxPool1d

    Notes
    -----
    Window `i` of `M` on an axis of size `L` spans the indices from `⌊i L / M⌋` to
    `⌈(i + 1) L / M⌉`, exclusive, and gives its maximum. The dtype is kept.

    Shapes: `(N, L, C)` or `(L, C)` → `(N, output_size, C)` or `(output_size, C)`.

    Examples
    --------
    >>> x = mx.array([[1.0], [4.0], [2.0], [3.0]])
    >>> nn.AdaptiveMaxPool1d(2)(x).reshape(-1)
    array([4, 3], dtype=float32)
    >>> nn.AdaptiveMaxPool1d(3)(x).reshape(-1)
    array([4, 4, 3], dtype=float32)
    """

    axes = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """Adaptive max pooling to a given output size along two axes.

    Parameters
    ----------
    output_size : int, None, or tuple of int and None
        Number of windows, one for both axes or one per axis. `None` keeps the size of an axis.

    Raises
    ------
    ValueError
        If a size is not an integer above 0, or if the number of sizes is not 2.

    See Also
    --------
    AdaptiveAvgPool2d, AdaptiveMaxPool1d, MaxPool2d

    Notes
    -----
    Each axis is pooled as by `AdaptiveMaxPool1d`, with its dtypes.

    Shapes: `(N, H, W, C)` or `(H, W, C)` → `(N, H', W', C)` or `(H', W', C)`, with
    `(H', W') = output_size`.

    Examples
    --------
    >>> x = mx.zeros((1, 7, 5, 3))
    >>> nn.AdaptiveMaxPool2d(2)(x).shape
    (1, 2, 2, 3)
    >>> nn.AdaptiveMaxPool2d((1, None))(x).shape
    (1, 1, 5, 3)
    """

    axes = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """Adaptive max pooling to a given output size along three axes.

    Parameters
    ----------
    output_size : int, None, or tuple of int and None
        Number of windows, one for all axes or one per axis. `None` keeps the size of an axis.

    Raises
    ------
    ValueError
        If a size is not an integer above 0, or if the number of sizes is not 3.

    See Also
    --------
    AdaptiveAvgPool3d, AdaptiveMaxPool1d, MaxPool3d

    Notes
    -----
    Each axis is pooled as by `AdaptiveMaxPool1d`, with its dtypes.

    Shapes: `(N, D, H, W, C)` or `(D, H, W, C)` → `(N, D', H', W', C)` or `(D', H', W', C)`, with
    `(D', H', W') = output_size`.

    Examples
    --------
    >>> x = mx.zeros((1, 7, 5, 5, 3))
    >>> nn.AdaptiveMaxPool3d(2)(x).shape
    (1, 2, 2, 2, 3)
    >>> nn.AdaptiveMaxPool3d((1, None, 2))(x).shape
    (1, 1, 5, 2, 3)
    """

    axes = 3


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Adaptive average pooling to a given output size along one axis.

    Parameters
    ----------
    output_size : int or None, or a tuple of one
        Number of windows. `None` keeps the size of the axis.

    Raises
    ------
    ValueError
        If a size is not an integer above 0.

    See Also
    --------
    AdaptiveMaxPool1d, AvgPool1d

    Notes
    -----
    Window `i` of `M` on an axis of size `L` spans the indices from `⌊i L / M⌋` to
    `⌈(i + 1) L / M⌉`, exclusive, and gives its mean. Integers and booleans give float32; float16
    and bfloat16 are averaged in float32 and rounded at the end.

    Shapes: `(N, L, C)` or `(L, C)` → `(N, output_size, C)` or `(output_size, C)`.

    Examples
    --------
    >>> x = mx.array([[1.0], [4.0], [2.0], [3.0]])
    >>> nn.AdaptiveAvgPool1d(2)(x).reshape(-1)
    array([2.5, 2.5], dtype=float32)
    >>> nn.AdaptiveAvgPool1d(3)(x).reshape(-1)
    array([2.5, 3, 2.5], dtype=float32)
    """

    axes = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Adaptive average pooling to a given output size along two axes.

    Parameters
    ----------
    output_size : int, None, or tuple of int and None
        Number of windows, one for both axes or one per axis. `None` keeps the size of an axis.

    Raises
    ------
    ValueError
        If a size is not an integer above 0, or if the number of sizes is not 2.

    See Also
    --------
    AdaptiveAvgPool1d, AdaptiveMaxPool2d, AvgPool2d

    Notes
    -----
    Each axis is pooled as by `AdaptiveAvgPool1d`, with its dtypes.

    Shapes: `(N, H, W, C)` or `(H, W, C)` → `(N, H', W', C)` or `(H', W', C)`, with
    `(H', W') = output_size`.

    Examples
    --------
    >>> x = mx.zeros((1, 7, 5, 3))
    >>> nn.AdaptiveAvgPool2d(2)(x).shape
    (1, 2, 2, 3)
    >>> nn.AdaptiveAvgPool2d((1, None))(x).shape
    (1, 1, 5, 3)
    """

    axes = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Adaptive average pooling to a given output size along three axes.

    Parameters
    ----------
    output_size : int, None, or tuple of int and None
        Number of windows, one for all axes or one per axis. `None` keeps the size of an axis.

    Raises
    ------
    ValueError
        If a size is not an integer above 0, or if the number of sizes is not 3.

    See Also
    --------
    AdaptiveAvgPool1d, AdaptiveMaxPool3d, AvgPool3d

    Notes
    -----
    Each axis is pooled as by `AdaptiveAvgPool1d`, with its dtypes.

    Shapes: `(N, D, H, W, C)` or `(D, H, W, C)` → `(N, D', H', W', C)` or `(D', H', W', C)`, with
    `(D', H', W') = output_size`.

    Examples
    --------
    >>> x = mx.zeros((1, 7, 5, 5, 3))
    >>> nn.AdaptiveAvgPool3d(2)(x).shape
    (1, 2, 2, 2, 3)
    >>> nn.AdaptiveAvgPool3d((1, None, 2))(x).shape
    (1, 1, 5, 2, 3)
    """

    axes = 3


def _windows(size: int, count: int) -> tuple[mx.array, mx.array]:
    """Indices of each window, `(count, longest)`, and whether each is inside its window.

    Shorter windows repeat their last index.
    """
    first = [i * size // count for i in range(count)]
    end = [-((-i - 1) * size // count) for i in range(count)]
    window_size = max((b - a for a, b in zip(first, end, strict=True)))
    steps = mx.arange(window_size)
    indices = mx.array(first, mx.int32)[:, None] + steps
    ends = mx.array(end, mx.int32)[:, None]
    return mx.minimum(indices, ends - 1), indices < ends


_layout.complete(globals())
