"""Pooling to a given size: the greatest element or the mean of windows that share out the input.

The window `i` of `M` on an axis of the size `L` reaches from `⌊i L / M⌋` to `⌈(i + 1) L / M⌉`, so
that all are equally large, give or take one, and neighbours overlap where `M` does not divide `L`.
"""

from __future__ import annotations

from typing import ClassVar

import umber.core as mx
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
    """What all adaptive pooling layers share: the windows, one axis after the other."""

    axes: ClassVar[int]

    def __init__(self, output_size: OutputSizes) -> None:
        super().__init__()
        sizes = output_size if isinstance(output_size, tuple) else (output_size,) * self.axes
        given = tuple(1 if size is None else size for size in sizes)
        per_axis(type(self).__name__, "output_size", given, self.axes, least=1)
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
        places, _ = _windows(x.shape[axis], count)
        return mx.take(x, places, axis=axis).max(axis=axis + 1)


class _AdaptiveAvgPool(_AdaptivePool):
    def _result_dtype(self, x: mx.array) -> mx.Dtype:
        return x.dtype if mx.issubdtype(x.dtype, mx.inexact) else mx.float32

    def _pool(self, x: mx.array, axis: int, count: int) -> mx.array:
        places, counted = _windows(x.shape[axis], count)
        rest = (1,) * (x.ndim - 1 - axis)
        inside = counted.reshape(*counted.shape, *rest)
        total = mx.where(inside, mx.take(x, places, axis=axis), 0).sum(axis=axis + 1)
        return total / counted.sum(axis=1).reshape(count, *rest).astype(x.dtype)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The greatest elements of `output_size` windows.

    Shapes: `(N, L, C)` or `(L, C)` → `(N, output_size, C)` or `(output_size, C)`.

    Args:
        output_size: how many windows share out the axis; `None` leaves it as it is.
    """

    axes = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """`AdaptiveMaxPool1d` along two axes: `(N, H, W, C)` → `(N, H', W', C)`, `N` being optional.

    Args:
        output_size: `H'` and `W'`, or one number for both; `None` leaves an axis as it is.
    """

    axes = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """`AdaptiveMaxPool1d` along three axes: `(N, D, H, W, C)` → `(N, D', H', W', C)`.

    Args:
        output_size: `D'`, `H'` and `W'`, or one number for all; `None` leaves an axis as it is.
    """

    axes = 3


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The means of `output_size` windows.

    Shapes: `(N, L, C)` or `(L, C)` → `(N, output_size, C)` or `(output_size, C)`.

    Args:
        output_size: how many windows share out the axis; `None` leaves it as it is.
    """

    axes = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """`AdaptiveAvgPool1d` along two axes: `(N, H, W, C)` → `(N, H', W', C)`, `N` being optional.

    Args:
        output_size: `H'` and `W'`, or one number for both; `None` leaves an axis as it is.
    """

    axes = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """`AdaptiveAvgPool1d` along three axes: `(N, D, H, W, C)` → `(N, D', H', W', C)`.

    Args:
        output_size: `D'`, `H'` and `W'`, or one number for all; `None` leaves an axis as it is.
    """

    axes = 3


def _windows(size: int, count: int) -> tuple[mx.array, mx.array]:
    """The places of each window, `(count, longest)`, the last repeated, and which of them count."""
    first = [i * size // count for i in range(count)]
    end = [-((-i - 1) * size // count) for i in range(count)]
    longest = max((b - a for a, b in zip(first, end, strict=True)))
    steps = mx.arange(longest)
    places = mx.array(first, mx.int32)[:, None] + steps
    ends = mx.array(end, mx.int32)[:, None]
    return mx.minimum(places, ends - 1), places < ends
