"""Pooling: the greatest element or the mean of windows that slide along the spatial axes.

Channels are the last axis, and the axes before it are the spatial ones; a first axis for samples is
optional.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import ClassVar

import umber.core as mx
from umber.nn.layers.base import Module
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
    """What all pooling layers share: how the windows lie."""

    axes: ClassVar[int]

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        name = type(self).__name__
        self._kernel_size = per_axis(name, "kernel_size", kernel_size, self.axes, least=1)
        self._stride = self._kernel_size
        if stride is not None:
            self._stride = per_axis(name, "stride", stride, self.axes, least=1)
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

    def _windows_tile(self) -> bool:
        return self._stride == self._kernel_size


class _MaxPool(_Pool):
    def __call__(self, x: mx.array) -> mx.array:
        x = self._padded(x, least_of(x.dtype))
        if self._windows_tile():
            return _tiles(x, self._kernel_size).max(axis=_axes_in_tiles(x, self.axes))
        sizes = x.shape[-1 - self.axes : -1]
        along = [
            _along_axis(size, kernel, stride)
            for size, kernel, stride in zip(sizes, self._kernel_size, self._stride, strict=True)
        ]
        corners = [x[(..., *places, slice(None))] for places in itertools.product(*along)]
        return mx.stack(corners).max(axis=0)


class _AvgPool(_Pool):
    def __call__(self, x: mx.array) -> mx.array:
        x = self._padded(x, 0)
        if self._windows_tile():
            return _tiles(x, self._kernel_size).mean(axis=_axes_in_tiles(x, self.axes))
        dtype = x.dtype if mx.issubdtype(x.dtype, mx.inexact) else mx.float32
        y = x.astype(mx.float32) if dtype in (mx.float16, mx.bfloat16) else x.astype(dtype)
        # The mean of a box is the mean of means, one axis after the other.
        for axis, kernel, stride in zip(
            range(-1 - self.axes, -1), self._kernel_size, self._stride, strict=True
        ):
            places = _along_axis(y.shape[axis], kernel, stride)
            rest = [slice(None)] * (-1 - axis)
            parts = [y[(..., place, *rest)] for place in places]
            y = sum(parts[1:], start=parts[0]) / kernel
        return y.astype(dtype)


class MaxPool1d(_MaxPool):
    """`y[n, i, c] = max x[n, stride · i + k - padding, c]` over `0 <= k < kernel_size`.

    Shapes: `(N, L, C)` or `(L, C)` → `(N, L', C)` or `(L', C)` with
    `L' = ⌊(L + 2 padding - kernel_size) / stride⌋ + 1`.

    Args:
        kernel_size: size of the windows.
        stride: how far apart they are. Default: `kernel_size`.
        padding: how many places, lower than all elements, stand before and after the input.
            Default: 0.
    """

    axes = 1


class MaxPool2d(_MaxPool):
    """`MaxPool1d` along two axes: `(N, H, W, C)` → `(N, H', W', C)`, `N` being optional.

    All sizes are one number or one for each axis; the arguments are those of `MaxPool1d`.
    """

    axes = 2


class MaxPool3d(_MaxPool):
    """`MaxPool1d` along three axes: `(N, D, H, W, C)` → `(N, D', H', W', C)`, `N` being optional.

    All sizes are one number or one for each axis; the arguments are those of `MaxPool1d`.
    """

    axes = 3


class AvgPool1d(_AvgPool):
    """`y[n, i, c] = Σ x[n, stride · i + k - padding, c] / kernel_size` over `0 <= k < kernel_size`.

    Shapes: `(N, L, C)` or `(L, C)` → `(N, L', C)` or `(L', C)` with
    `L' = ⌊(L + 2 padding - kernel_size) / stride⌋ + 1`.

    Args:
        kernel_size: size of the windows.
        stride: how far apart they are. Default: `kernel_size`.
        padding: how many zeros, which count in the mean, stand before and after the input.
            Default: 0.
    """

    axes = 1


class AvgPool2d(_AvgPool):
    """`AvgPool1d` along two axes: `(N, H, W, C)` → `(N, H', W', C)`, `N` being optional.

    All sizes are one number or one for each axis; the arguments are those of `AvgPool1d`.
    """

    axes = 2


class AvgPool3d(_AvgPool):
    """`AvgPool1d` along three axes: `(N, D, H, W, C)` → `(N, D', H', W', C)`, `N` being optional.

    All sizes are one number or one for each axis; the arguments are those of `AvgPool1d`.
    """

    axes = 3


def check_axes(op: str, x: mx.array, axes: int) -> None:
    """Refuse inputs that are not `(N, *spatial, C)` or `(*spatial, C)`."""
    if x.ndim not in (axes + 1, axes + 2):
        raise ValueError(
            f"[{op}] got an input with the shape {x.shape}, expected {axes + 1} or {axes + 2} axes"
        )


def least_of(dtype: mx.Dtype) -> float | bool:
    """The value that never is a maximum."""
    if dtype == mx.bool_:
        return False
    if mx.issubdtype(dtype, mx.integer):
        return mx.iinfo(dtype).min
    return float("-inf")


def _count(size: int, kernel: int, stride: int) -> int:
    """How many windows fit."""
    return max((size - kernel) // stride + 1, 0)


def _along_axis(size: int, kernel: int, stride: int) -> list[slice]:
    """Where all windows have their first element, their second, and so on."""
    last = (_count(size, kernel, stride) - 1) * stride
    return [slice(first, max(first + last + 1, first), stride) for first in range(kernel)]


def _tiles(x: mx.array, kernel: Sequence[int]) -> mx.array:
    """The input cut into windows that do not overlap: `(…, L / k, k, …, C)`."""
    first = x.ndim - 1 - len(kernel)
    counts = [size // k for size, k in zip(x.shape[first:-1], kernel, strict=True)]
    whole = [slice(0, count * k) for count, k in zip(counts, kernel, strict=True)]
    x = x[(..., *whole, slice(None))]
    # From the last axis on, so that those before it keep their places.
    for axis in reversed(range(len(kernel))):
        x = mx.unflatten(x, first + axis, (counts[axis], kernel[axis]))
    return x


def _axes_in_tiles(x: mx.array, axes: int) -> list[int]:
    """The axes inside the windows of `_tiles`."""
    first = x.ndim - 1 - axes
    return [first + 2 * i + 1 for i in range(axes)]
