"""Convolutions: `Conv1d`, `Conv2d`, `Conv3d`. Channels are the last axis.

Dumoulin, Visin, "A guide to convolution arithmetic for deep learning", 2016.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import umber.core as mx
from umber.nn.layers.base import Module
from umber.nn.layers.per_axis import per_axis

__all__ = ["Conv1d", "Conv2d", "Conv3d"]

Sizes = int | Sequence[int]


class _Convolution(Module):
    """What all convolutions share; `weight` has the shape `(out, *kernel, in / groups)`."""

    axes: ClassVar[int]
    convolve: ClassVar[Callable[..., mx.array]]
    groups: int = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if groups < 1 or in_channels % groups != 0:
            raise ValueError(
                f"[{name}] in_channels {in_channels} must be divisible by groups {groups}"
            )
        kernel = per_axis(name, "kernel_size", kernel_size, self.axes, least=1)
        fan_in = in_channels // groups * math.prod(kernel)
        s = 1 / math.sqrt(fan_in) if fan_in > 0 else 0.0
        self.weight = mx.random.uniform(-s, s, (out_channels, *kernel, in_channels // groups))
        if bias:
            self.bias = mx.zeros((out_channels,))
        self.padding = _numbers(per_axis(name, "padding", padding, self.axes))
        self.stride = _numbers(per_axis(name, "stride", stride, self.axes, least=1))
        dilations = per_axis(name, "dilation", dilation, self.axes, least=1)
        self.dilation = dilations[0] if isinstance(dilation, int) else dilations
        self.groups = groups

    def _extra_repr(self) -> str:
        out_channels, *kernel, in_channels = self.weight.shape
        return (
            f"{in_channels * self.groups}, {out_channels}, "
            f"kernel_size={_numbers(tuple(kernel))}, stride={self.stride}, "
            f"padding={self.padding}, dilation={self.dilation}, "
            f"groups={self.groups}, bias={'bias' in self}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        y = type(self).convolve(
            x, self.weight, self.stride, self.padding, self.dilation, self.groups
        )
        return y + self.bias if "bias" in self else y


class Conv1d(_Convolution):
    """`y[n, i, o] = Σ w[o, k, c] x[n, stride · i + dilation · k - padding, c] + b[o]`.

    `w` with shape `(out_channels, kernel_size, in_channels / groups)` is float32, drawn uniformly
    from `[-s, s)` with `s = 1/√(kernel_size · in_channels / groups)`; `b` begins as zeros.

    Shapes: `(N, L, in_channels)` → `(N, L', out_channels)` with
    `L' = ⌊(L + 2 padding - dilation (kernel_size - 1) - 1) / stride⌋ + 1`.

    Args:
        in_channels: size of the input's last axis.
        out_channels: size of the output's last axis.
        kernel_size: size of the filters.
        stride: Default: 1.
        padding: how many zeros stand before and after the input. Default: 0.
        dilation: distance between the elements that a filter sees. Default: 1.
        groups: input and output channels are split into so many groups that do not mix. Default: 1.
        bias: whether there is a `b`. Default: `True`.
    """

    axes = 1
    convolve = staticmethod(mx.conv1d)


class Conv2d(_Convolution):
    """`Conv1d` along two axes: `(N, H, W, in_channels)` → `(N, H', W', out_channels)`.

    `kernel_size`, `stride`, `padding` and `dilation` are one number or one for each axis; the other
    arguments are those of `Conv1d`.
    """

    axes = 2
    convolve = staticmethod(mx.conv2d)


class Conv3d(_Convolution):
    """`Conv1d` along three axes: `(N, D, H, W, in_channels)` → `(N, D', H', W', out_channels)`.

    `kernel_size`, `stride`, `padding` and `dilation` are one number or one for each axis; the other
    arguments are those of `Conv1d`, without `groups`.
    """

    axes = 3
    convolve = staticmethod(mx.conv3d)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        bias: bool = True,
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, 1, bias)

    def _extra_repr(self) -> str:
        return super()._extra_repr().replace(f"groups={self.groups}, ", "")


def _numbers(values: tuple[int, ...]) -> Any:
    """A layer with one spatial axis shows numbers, the others tuples."""
    return values[0] if len(values) == 1 else values
