"""Pooling layers: the maximum or the mean of windows that slide along the spatial axes.

Channels are the last axis, and the axes before it are the spatial ones. A first axis for samples
is optional.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import ClassVar

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module
from umber.nn.layers.input_errors import layout_of
from umber.nn.layers.per_axis import per_axis

__all__ = [
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
]

Sizes = int | Sequence[int]


class _Pool(Module):
    """Base of all pooling layers: kernel size, stride and padding per axis."""

    axes: ClassVar[int]

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        name = type(self).__name__
        self._kernel_size = per_axis(name, "kernel_size", kernel_size, self.axes, minimum=1)
        self._stride = self._kernel_size
        if stride is not None:
            self._stride = per_axis(name, "stride", stride, self.axes, minimum=1)
        self._padding = per_axis(name, "padding", padding, self.axes)

    def _extra_repr(self) -> str:
        return f"kernel_size={self._kernel_size}, stride={self._stride}, padding={self._padding}"

    def _padded(self, x: mx.array, value: float | bool) -> mx.array:
        check_axes(type(self).__name__, x, self.axes)
        if not any(self._padding):
            return x
        sides = [(p, p) for p in self._padding]
        widths = [*[(0, 0)] * (x.ndim - self.axes - 1), *sides, (0, 0)]
        return mx.pad(x, widths, constant_values=value)

    def _windows_are_disjoint(self) -> bool:
        return self._stride == self._kernel_size


class _MaxPool(_Pool):
    def __call__(self, x: mx.array) -> mx.array:
        x = self._padded(x, lowest_of(x.dtype))
        if self._windows_are_disjoint():
            return _tiles(x, self._kernel_size).max(axis=_axes_in_tiles(x, self.axes))
        sizes = x.shape[-1 - self.axes : -1]
        slices_by_axis = [
            _window_slices(size, kernel, stride)
            for size, kernel, stride in zip(sizes, self._kernel_size, self._stride, strict=True)
        ]
        offsets = [x[(..., *slices, slice(None))] for slices in itertools.product(*slices_by_axis)]
        return mx.stack(offsets).max(axis=0)


class _AvgPool(_Pool):
    def __call__(self, x: mx.array) -> mx.array:
        x = self._padded(x, 0)
        if self._windows_are_disjoint():
            return _tiles(x, self._kernel_size).mean(axis=_axes_in_tiles(x, self.axes))
        dtype = x.dtype if mx.issubdtype(x.dtype, mx.inexact) else mx.float32
        y = x.astype(mx.float32) if dtype in (mx.float16, mx.bfloat16) else x.astype(dtype)
        # The mean of a box is the mean of means, one axis after the other.
        for axis, kernel, stride in zip(
            range(-1 - self.axes, -1), self._kernel_size, self._stride, strict=True
        ):
            slices = _window_slices(y.shape[axis], kernel, stride)
            trailing = [slice(None)] * (-1 - axis)
            elements = [y[(..., window_slice, *trailing)] for window_slice in slices]
            y = sum(elements[1:], start=elements[0]) / kernel
        return y.astype(dtype)


class MaxPool1d(_MaxPool):
    """Max pooling along one axis.

    Parameters
    ----------
    kernel_size : int or sequence of int
        Size of the windows.
    stride : int or sequence of int, optional
        Distance between neighbouring windows. Default: `kernel_size`.
    padding : int or sequence of int, optional
        Number of elements added before and after the input. They are lower than all others: -∞, the
        minimum of an integer dtype, or False. Default: 0.

    Raises
    ------
    ValueError
        If a size is not an integer or is too small: kernel and stride are at least 1, the padding
        is at least 0.

    See Also
    --------
    AdaptiveMaxPool1d, AvgPool1d, MaxPool2d

    Notes
    -----
    Computes ``y[n, i, c] = max x[n, stride · i + k - padding, c]`` over ``0 <= k < kernel_size``.
    The dtype is kept.

    Shapes: `(N, L, C)` or `(L, C)` → `(N, L', C)` or `(L', C)` with
    `L' = ⌊(L + 2 padding - kernel_size) / stride⌋ + 1`.

    Examples
    --------
    >>> x = mx.array([[1.0], [4.0], [2.0], [3.0]])
    >>> nn.MaxPool1d(2)(x).reshape(-1)
    array([4, 3], dtype=float32)
    >>> nn.MaxPool1d(2, stride=1)(x).reshape(-1)
    array([4, 4, 3], dtype=float32)
    """

    axes = 1


class MaxPool2d(_MaxPool):
    """Max pooling along two axes.

    Parameters
    ----------
    kernel_size : int or sequence of int
        Size of the windows, one for both axes or one per axis.
    stride : int or sequence of int, optional
        Distance between neighbouring windows. Default: `kernel_size`.
    padding : int or sequence of int, optional
        Number of elements, lower than all others, added at both ends of each axis. Default: 0.

    Raises
    ------
    ValueError
        If a size is not an integer, is too small, or if the number of sizes is not 2.

    See Also
    --------
    AdaptiveMaxPool2d, AvgPool2d, MaxPool1d

    Notes
    -----
    Each axis is pooled as by `MaxPool1d`. The dtype is kept.

    Shapes: `(N, H, W, C)` or `(H, W, C)` → `(N, H', W', C)` or `(H', W', C)`, with `H'` and `W'` as
    `L'` of `MaxPool1d`.

    Examples
    --------
    >>> nn.MaxPool2d(2)(mx.zeros((1, 8, 8, 3))).shape
    (1, 4, 4, 3)
    >>> nn.MaxPool2d(2)(mx.arange(16).reshape(4, 4, 1)).squeeze(-1)
    array([[5, 7],
           [13, 15]], dtype=int32)
    """

    axes = 2


class MaxPool3d(_MaxPool):
    """Max pooling along three axes.

    Parameters
    ----------
    kernel_size : int or sequence of int
        Size of the windows, one for all axes or one per axis.
    stride : int or sequence of int, optional
        Distance between neighbouring windows. Default: `kernel_size`.
    padding : int or sequence of int, optional
        Number of elements, lower than all others, added at both ends of each axis. Default: 0.

    Raises
    ------
    ValueError
        If a size is not an integer, is too small, or if the number of sizes is not 3.

    See Also
    --------
    AdaptiveMaxPool3d, AvgPool3d, MaxPool1d

    Notes
    -----
    Each axis is pooled as by `MaxPool1d`. The dtype is kept.

    Shapes: `(N, D, H, W, C)` or `(D, H, W, C)` → `(N, D', H', W', C)` or `(D', H', W', C)`, with
    `D'`, `H'` and `W'` as `L'` of `MaxPool1d`.

    Examples
    --------
    >>> nn.MaxPool3d(2)(mx.zeros((1, 8, 8, 8, 3))).shape
    (1, 4, 4, 4, 3)
    """

    axes = 3


class AvgPool1d(_AvgPool):
    """Average pooling along one axis.

    Parameters
    ----------
    kernel_size : int or sequence of int
        Size of the windows.
    stride : int or sequence of int, optional
        Distance between neighbouring windows. Default: `kernel_size`.
    padding : int or sequence of int, optional
        Number of zeros added before and after the input. They count in the mean. Default: 0.

    Raises
    ------
    ValueError
        If a size is not an integer or is too small: kernel and stride are at least 1, the padding
        is at least 0.

    See Also
    --------
    AdaptiveAvgPool1d, AvgPool2d, MaxPool1d

    Notes
    -----
    Computes ``y[n, i, c] = Σ x[n, stride · i + k - padding, c] / kernel_size`` over
    ``0 <= k < kernel_size``. Integers and booleans give float32; float16 and bfloat16 are averaged
    in float32 and rounded at the end.

    Shapes: `(N, L, C)` or `(L, C)` → `(N, L', C)` or `(L', C)` with
    `L' = ⌊(L + 2 padding - kernel_size) / stride⌋ + 1`.

    Examples
    --------
    >>> x = mx.array([[1.0], [4.0], [2.0], [3.0]])
    >>> nn.AvgPool1d(2)(x).reshape(-1)
    array([2.5, 2.5], dtype=float32)
    >>> nn.AvgPool1d(2, stride=1)(x).reshape(-1)
    array([2.5, 3, 2.5], dtype=float32)
    """

    axes = 1


class AvgPool2d(_AvgPool):
    """Average pooling along two axes.

    Parameters
    ----------
    kernel_size : int or sequence of int
        Size of the windows, one for both axes or one per axis.
    stride : int or sequence of int, optional
        Distance between neighbouring windows. Default: `kernel_size`.
    padding : int or sequence of int, optional
        Number of zeros added at both ends of each axis. They count in the mean. Default: 0.

    Raises
    ------
    ValueError
        If a size is not an integer, is too small, or if the number of sizes is not 2.

    See Also
    --------
    AdaptiveAvgPool2d, AvgPool1d, MaxPool2d

    Notes
    -----
    Each axis is pooled as by `AvgPool1d`, with its dtypes.

    Shapes: `(N, H, W, C)` or `(H, W, C)` → `(N, H', W', C)` or `(H', W', C)`, with `H'` and `W'` as
    `L'` of `AvgPool1d`.

    Examples
    --------
    >>> nn.AvgPool2d(2)(mx.zeros((1, 8, 8, 3))).shape
    (1, 4, 4, 3)
    >>> nn.AvgPool2d(2)(mx.arange(16).reshape(4, 4, 1)).squeeze(-1)
    array([[2.5, 4.5],
           [10.5, 12.5]], dtype=float32)
    """

    axes = 2


class AvgPool3d(_AvgPool):
    """Average pooling along three axes.

    Parameters
    ----------
    kernel_size : int or sequence of int
        Size of the windows, one for all axes or one per axis.
    stride : int or sequence of int, optional
        Distance between neighbouring windows. Default: `kernel_size`.
    padding : int or sequence of int, optional
        Number of zeros added at both ends of each axis. They count in the mean. Default: 0.

    Raises
    ------
    ValueError
        If a size is not an integer, is too small, or if the number of sizes is not 3.

    See Also
    --------
    AdaptiveAvgPool3d, AvgPool1d, MaxPool3d

    Notes
    -----
    Each axis is pooled as by `AvgPool1d`, with its dtypes.

    Shapes: `(N, D, H, W, C)` or `(D, H, W, C)` → `(N, D', H', W', C)` or `(D', H', W', C)`, with
    `D'`, `H'` and `W'` as `L'` of `AvgPool1d`.

    Examples
    --------
    >>> nn.AvgPool3d(2)(mx.zeros((1, 8, 8, 8, 3))).shape
    (1, 4, 4, 4, 3)
    """

    axes = 3


def check_axes(op: str, x: mx.array, axes: int) -> None:
    """Raise for inputs that are neither `(N, *spatial, C)` nor `(*spatial, C)`."""
    if x.ndim not in (axes + 1, axes + 2):
        layout = layout_of(axes)
        raise ValueError(
            f"[{op}] got an input with the shape {x.shape}, expected ({layout}) or "
            f"({layout.removeprefix('N, ')}): channels are the last axis"
        )


def lowest_of(dtype: mx.Dtype) -> float | bool:
    """The lowest value of a dtype: padding with it leaves maxima unchanged."""
    if dtype == mx.bool_:
        return False
    if mx.issubdtype(dtype, mx.integer):
        return mx.iinfo(dtype).min
    return float("-inf")


def _count(size: int, kernel: int, stride: int) -> int:
    """Number of windows that fit."""
    return max((size - kernel) // stride + 1, 0)


def _window_slices(size: int, kernel: int, stride: int) -> list[slice]:
    """Slices that select the first element of every window, the second, and so on."""
    span = (_count(size, kernel, stride) - 1) * stride
    return [slice(first, max(first + span + 1, first), stride) for first in range(kernel)]


def _tiles(x: mx.array, kernel: Sequence[int]) -> mx.array:
    """The input split into windows that do not overlap: `(…, L / k, k, …, C)`."""
    first = x.ndim - 1 - len(kernel)
    counts = [size // k for size, k in zip(x.shape[first:-1], kernel, strict=True)]
    covered = [slice(0, count * k) for count, k in zip(counts, kernel, strict=True)]
    x = x[(..., *covered, slice(None))]
    # From the last axis on, so that the axes before it keep their numbers.
    for axis in reversed(range(len(kernel))):
        x = mx.unflatten(x, first + axis, (counts[axis], kernel[axis]))
    return x


def _axes_in_tiles(x: mx.array, axes: int) -> list[int]:
    """The axes of the result of `_tiles` that run inside a window."""
    first = x.ndim - 1 - axes
    return [first + 2 * i + 1 for i in range(axes)]


_layout.complete(globals())
