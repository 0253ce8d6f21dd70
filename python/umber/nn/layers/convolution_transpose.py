"""Transposed convolutions: `ConvTranspose1d`, `ConvTranspose2d`, `ConvTranspose3d`.

Each computes the gradient of a convolution by its input, and so enlarges where the convolution
reduces. Dumoulin, Visin, "A guide to convolution arithmetic for deep learning", 2016, chapter 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module
from umber.nn.layers.convolution import Sizes, _numbers
from umber.nn.layers.input_errors import check_channels_last
from umber.nn.layers.per_axis import per_axis

__all__ = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _ConvolutionTranspose(Module):
    """Base of all transposed convolutions; `weight` has the shape `(out, *kernel, in)`."""

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
        kernel = per_axis(name, "kernel_size", kernel_size, self.axes, minimum=1)
        fan_in = in_channels * math.prod(kernel)
        s = 1 / math.sqrt(fan_in) if fan_in > 0 else 0.0
        self.weight = mx.random.uniform(-s, s, (out_channels, *kernel, in_channels))
        if bias:
            self.bias = mx.zeros((out_channels,))
        self.padding = _numbers(per_axis(name, "padding", padding, self.axes))
        self.stride = _numbers(per_axis(name, "stride", stride, self.axes, minimum=1))
        self.output_padding = _numbers(per_axis(name, "output_padding", output_padding, self.axes))
        dilations = per_axis(name, "dilation", dilation, self.axes, minimum=1)
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
        try:
            y = type(self).convolve(
                x, self.weight, self.stride, self.padding, self.dilation, self.output_padding
            )
        except ValueError:
            check_channels_last(type(self).__name__, x, self.axes, self.weight.shape[-1])
            raise
        return y + self.bias if "bias" in self else y


class ConvTranspose1d(_ConvolutionTranspose):
    """Transposed convolution along one axis.

    Parameters
    ----------
    in_channels : int
        Size of the input's last axis.
    out_channels : int
        Size of the output's last axis.
    kernel_size : int or sequence of int
        Size of the filters.
    stride : int or sequence of int, optional
        Distance in the output between neighbouring elements of the input. Default: 1.
    padding : int or sequence of int, optional
        Number of elements removed at both ends of the output. Default: 0.
    dilation : int or sequence of int, optional
        Distance between the output elements that a filter writes. Default: 1.
    output_padding : int or sequence of int, optional
        Number of elements added at the end of the output. Default: 0.
    bias : bool, optional
        Whether to add a bias. Default: True.

    Attributes
    ----------
    weight : array of shape (out_channels, kernel_size, in_channels)
        Filters, float32, drawn uniformly from `[-s, s)` with `s = 1/√(in_channels · kernel_size)`.
    bias : array of shape (out_channels,)
        Bias, initially zeros; absent if `bias` is False.

    Raises
    ------
    ValueError
        If a size is not an integer or is too small.

    See Also
    --------
    Conv1d, ConvTranspose2d, mx.conv_transpose1d

    Notes
    -----
    Computes ``y[n, i, o] = Σ weight[o, k, c] x[n, j, c] + bias[o]``, summed over `c` and all `j`
    and `k` with ``stride · j + dilation · k = i + padding``.

    Shapes: `(N, L, in_channels)` → `(N, L', out_channels)` with
    `L' = (L - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1`.

    Examples
    --------
    >>> layer = nn.ConvTranspose1d(8, 4, kernel_size=2, stride=2)
    >>> layer(mx.zeros((1, 5, 8))).shape
    (1, 10, 4)
    """

    axes = 1
    convolve = staticmethod(mx.conv_transpose1d)


class ConvTranspose2d(_ConvolutionTranspose):
    """Transposed convolution along two axes.

    Parameters
    ----------
    in_channels : int
        Size of the input's last axis.
    out_channels : int
        Size of the output's last axis.
    kernel_size : int or sequence of int
        Size of the filters, one for both axes or one per axis.
    stride : int or sequence of int, optional
        Distance in the output between neighbouring elements of the input. Default: 1.
    padding : int or sequence of int, optional
        Number of elements removed at both ends of each axis of the output. Default: 0.
    dilation : int or sequence of int, optional
        Distance between the output elements that a filter writes. Default: 1.
    output_padding : int or sequence of int, optional
        Number of elements added at the end of each axis of the output. Default: 0.
    bias : bool, optional
        Whether to add a bias. Default: True.

    Attributes
    ----------
    weight : array of shape (out_channels, *kernel_size, in_channels)
        Filters, float32, drawn uniformly from `[-s, s)`, `1/s²` being `in_channels` times the size
        of a filter.
    bias : array of shape (out_channels,)
        Bias, initially zeros; absent if `bias` is False.

    Raises
    ------
    ValueError
        If a size is not an integer or is too small.

    See Also
    --------
    Conv2d, ConvTranspose1d, mx.conv_transpose2d, Upsample

    Notes
    -----
    Computes the sum of `ConvTranspose1d` along two axes.

    Shapes: `(N, H, W, in_channels)` → `(N, H', W', out_channels)`, with `H'` and `W'` as `L'` of
    `ConvTranspose1d`.

    Examples
    --------
    >>> layer = nn.ConvTranspose2d(8, 4, kernel_size=2, stride=2)
    >>> layer(mx.zeros((1, 5, 5, 8))).shape
    (1, 10, 10, 4)
    """

    axes = 2
    convolve = staticmethod(mx.conv_transpose2d)


class ConvTranspose3d(_ConvolutionTranspose):
    """Transposed convolution along three axes.

    Parameters
    ----------
    in_channels : int
        Size of the input's last axis.
    out_channels : int
        Size of the output's last axis.
    kernel_size : int or sequence of int
        Size of the filters, one for all axes or one per axis.
    stride : int or sequence of int, optional
        Distance in the output between neighbouring elements of the input. Default: 1.
    padding : int or sequence of int, optional
        Number of elements removed at both ends of each axis of the output. Default: 0.
    dilation : int or sequence of int, optional
        Distance between the output elements that a filter writes. Default: 1.
    output_padding : int or sequence of int, optional
        Number of elements added at the end of each axis of the output. Default: 0.
    bias : bool, optional
        Whether to add a bias. Default: True.

    Attributes
    ----------
    weight : array of shape (out_channels, *kernel_size, in_channels)
        Filters, float32, drawn uniformly from `[-s, s)`, `1/s²` being `in_channels` times the size
        of a filter.
    bias : array of shape (out_channels,)
        Bias, initially zeros; absent if `bias` is False.

    Raises
    ------
    ValueError
        If a size is not an integer or is too small.

    See Also
    --------
    Conv3d, ConvTranspose1d, mx.conv_transpose3d

    Notes
    -----
    Computes the sum of `ConvTranspose1d` along three axes.

    Shapes: `(N, D, H, W, in_channels)` → `(N, D', H', W', out_channels)`, with `D'`, `H'` and `W'`
    as `L'` of `ConvTranspose1d`.

    Examples
    --------
    >>> layer = nn.ConvTranspose3d(8, 4, kernel_size=2, stride=2)
    >>> layer(mx.zeros((1, 5, 5, 5, 8))).shape
    (1, 10, 10, 10, 4)
    """

    axes = 3
    convolve = staticmethod(mx.conv_transpose3d)


_layout.complete(globals())
