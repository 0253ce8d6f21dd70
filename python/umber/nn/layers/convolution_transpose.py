"""Transposed convolutions: `ConvTranspose1d`, `ConvTranspose2d`, `ConvTranspose3d`.

Each is the derivative of a convolution by its input, which enlarges where that one reduces.
Dumoulin, Visin, "A guide to convolution arithmetic for deep learning", 2016, chapter 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import umber.core as mx
from umber.nn.layers.base import Module
from umber.nn.layers.convolution import Sizes, _numbers
from umber.nn.layers.per_axis import per_axis

__all__ = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _ConvolutionTranspose(Module):
    """What all transposed convolutions share; `weight` has the shape `(out, *kernel, in)`."""

    axes: ClassVar[int]
    convolve: ClassVar[Callable[..., mx.array]]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        output_padding: Sizes = 0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        kernel = per_axis(name, "kernel_size", kernel_size, self.axes, least=1)
        fan_in = in_channels * math.prod(kernel)
        s = 1 / math.sqrt(fan_in) if fan_in > 0 else 0.0
        self.weight = mx.random.uniform(-s, s, (out_channels, *kernel, in_channels))
        if bias:
            self.bias = mx.zeros((out_channels,))
        self.padding = _numbers(per_axis(name, "padding", padding, self.axes))
        self.stride = _numbers(per_axis(name, "stride", stride, self.axes, least=1))
        self.output_padding = _numbers(per_axis(name, "output_padding", output_padding, self.axes))
        dilations = per_axis(name, "dilation", dilation, self.axes, least=1)
        self.dilation = dilations[0] if isinstance(dilation, int) else dilations

    def _extra_repr(self) -> str:
        out_channels, *kernel, in_channels = self.weight.shape
        return (
            f"{in_channels}, {out_channels}, "
            f"kernel_size={_numbers(tuple(kernel))}, stride={self.stride}, "
            f"padding={self.padding}, dilation={self.dilation}, "
            f"output_padding={self.output_padding}, bias={'bias' in self}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        y = type(self).convolve(
            x, self.weight, self.stride, self.padding, self.dilation, self.output_padding
        )
        return y + self.bias if "bias" in self else y


class ConvTranspose1d(_ConvolutionTranspose):
    """`y[n, i, o] = Σ w[o, k, c] x[n, j, c] + b[o]` over `stride · j + dilation · k = i + padding`.

    `w` with shape `(out_channels, kernel_size, in_channels)` is float32, drawn uniformly from
    `[-s, s)` with `s = 1/√(in_channels · kernel_size)`; `b` begins as zeros.

    Shapes: `(N, L, in_channels)` → `(N, L', out_channels)` with
    `L' = (L - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1`.

    Args:
        in_channels: size of the input's last axis.
        out_channels: size of the output's last axis.
        kernel_size: size of the filters.
        stride: how many places of the output one of the input moves. Default: 1.
        padding: how many places are cut off on both sides. Default: 0.
        dilation: distance between the elements that a filter writes. Default: 1.
        output_padding: how many places are added at the end. Default: 0.
        bias: whether there is a `b`. Default: `True`.
    """

    axes = 1
    convolve = staticmethod(mx.conv_transpose1d)


class ConvTranspose2d(_ConvolutionTranspose):
    """`ConvTranspose1d` along two axes: `(N, H, W, in_channels)` → `(N, H', W', out_channels)`.

    All sizes are one number or one for each axis; the arguments are those of `ConvTranspose1d`.
    """

    axes = 2
    convolve = staticmethod(mx.conv_transpose2d)


class ConvTranspose3d(_ConvolutionTranspose):
    """`ConvTranspose1d` along three axes: `(N, D, H, W, in)` → `(N, D', H', W', out)`.

    All sizes are one number or one for each axis; the arguments are those of `ConvTranspose1d`.
    """

    axes = 3
    convolve = staticmethod(mx.conv_transpose3d)
