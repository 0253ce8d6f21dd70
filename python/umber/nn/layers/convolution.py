"""Convolution layers: `Conv1d`, `Conv2d`, `Conv3d`. Channels are the last axis.

Dumoulin, Visin, "A guide to convolution arithmetic for deep learning", 2016.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module
from umber.nn.layers.input_errors import check_channels_last
from umber.nn.layers.per_axis import per_axis

__all__ = ["Conv1d", "Conv2d", "Conv3d"]

Sizes = int | Sequence[int]
Padding = Sizes | Literal["same", "valid"]


class _Convolution(Module):
    """Base of all convolutions; `weight` has the shape `(out, *kernel, in / groups)`."""

    axes: ClassVar[int]
    convolve: ClassVar[Callable[..., mx.array]]
    groups: int = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        for channels, count in (("in_channels", in_channels), ("out_channels", out_channels)):
            if groups < 1 or count % groups != 0:
                raise ValueError(
                    f"[{name}] {channels} {count} must be divisible by groups {groups}"
                )
        kernel = per_axis(name, "kernel_size", kernel_size, self.axes, minimum=1)
        fan_in = in_channels // groups * math.prod(kernel)
        s = 1 / math.sqrt(fan_in) if fan_in > 0 else 0.0
        self.weight = mx.random.uniform(-s, s, (out_channels, *kernel, in_channels // groups))
        if bias:
            self.bias = mx.zeros((out_channels,))
        strides = per_axis(name, "stride", stride, self.axes, minimum=1)
        self.padding = _padding(name, padding, strides)
        self.stride = _numbers(strides)
        dilations = per_axis(name, "dilation", dilation, self.axes, minimum=1)
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
        try:
            y = self._convolve(x)
        except ValueError:
            channels = self.weight.shape[-1] * self.groups
            check_channels_last(type(self).__name__, x, self.axes, channels)
            raise
        return y + self.bias if "bias" in self else y

    def _convolve(self, x: mx.array) -> mx.array:
        padding = self.padding
        if isinstance(padding, str):
            widths = self._same_padding()
            return mx.conv_general(
                x, self.weight, self.stride, widths, self.dilation, groups=self.groups
            )
        return type(self).convolve(x, self.weight, self.stride, padding, self.dilation, self.groups)

    def _same_padding(self) -> tuple[list[int], list[int]]:
        """Zeros before and after each axis; an odd one is added after it, as in PyTorch and JAX."""
        dilations = self.dilation
        if isinstance(dilations, int):
            dilations = (dilations,) * self.axes
        kernel = self.weight.shape[1:-1]
        totals = [d * (k - 1) for d, k in zip(dilations, kernel, strict=True)]
        return [total // 2 for total in totals], [total - total // 2 for total in totals]


class Conv1d(_Convolution):
    """Convolution along one axis.

    Parameters
    ----------
    in_channels : int
        Size of the input's last axis.
    out_channels : int
        Size of the output's last axis.
    kernel_size : int or sequence of int
        Size of the filters.
    stride : int or sequence of int, optional
        Distance between neighbouring positions of the filters. Default: 1.
    padding : int, sequence of int, "same" or "valid", optional
        Number of zeros added before and after the input. `"same"` keeps the size of the input
        and requires the stride 1; `"valid"` is 0. Default: 0.
    dilation : int or sequence of int, optional
        Distance between the input elements that a filter reads. Default: 1.
    groups : int, optional
        Number of groups into which input and output channels are split. Groups do not mix.
        Default: 1.
    bias : bool, optional
        Whether to add a bias. Default: True.

    Attributes
    ----------
    weight : array of shape (out_channels, kernel_size, in_channels / groups)
        Filters, float32, drawn uniformly from `[-s, s)` with
        `s = 1/√(kernel_size · in_channels / groups)`.
    bias : array of shape (out_channels,)
        Bias, initially zeros; absent if `bias` is False.

    Raises
    ------
    ValueError
        If `groups` does not divide `in_channels` and `out_channels`, if a size is not an integer
        or is too small, or if `padding` is `"same"` and a stride is not 1.

    See Also
    --------
    Conv2d, ConvTranspose1d, mx.conv1d

    Notes
    -----
    Computes the cross-correlation ``y[n, i, o] = Σ weight[o, k, c] x[n, stride · i + dilation · k -
    padding, c] + bias[o]``, summed over `k` and the channels `c` of the group of `o`.

    Shapes: `(N, L, in_channels)` → `(N, L', out_channels)` with
    `L' = ⌊(L + 2 padding - dilation (kernel_size - 1) - 1) / stride⌋ + 1`.

    With `padding="same"` ``dilation · (kernel_size - 1)`` zeros are added in total. If their number
    is odd, the additional one is after the input, as in PyTorch. For other strides the frameworks
    differ: TensorFlow and JAX pad by the size of the input, PyTorch refuses.

    Examples
    --------
    >>> layer = nn.Conv1d(4, 8, kernel_size=3, stride=2)
    >>> layer(mx.zeros((1, 9, 4))).shape
    (1, 4, 8)
    >>> nn.Conv1d(4, 8, kernel_size=4, padding="same")(mx.zeros((1, 9, 4))).shape
    (1, 9, 8)
    """

    axes = 1
    convolve = staticmethod(mx.conv1d)


class Conv2d(_Convolution):
    """Convolution along two axes.

    Parameters
    ----------
    in_channels : int
        Size of the input's last axis.
    out_channels : int
        Size of the output's last axis.
    kernel_size : int or sequence of int
        Size of the filters, one for both axes or one per axis.
    stride : int or sequence of int, optional
        Distance between neighbouring positions of the filters. Default: 1.
    padding : int, sequence of int, "same" or "valid", optional
        Number of zeros added at both ends of each axis. `"same"` keeps the size of the input
        and requires the stride 1; `"valid"` is 0. Default: 0.
    dilation : int or sequence of int, optional
        Distance between the input elements that a filter reads. Default: 1.
    groups : int, optional
        Number of groups into which input and output channels are split. Groups do not mix.
        Default: 1.
    bias : bool, optional
        Whether to add a bias. Default: True.

    Attributes
    ----------
    weight : array of shape (out_channels, *kernel_size, in_channels / groups)
        Filters, float32, drawn uniformly from `[-s, s)`, `1/s²` being the number of inputs of a
        filter.
    bias : array of shape (out_channels,)
        Bias, initially zeros; absent if `bias` is False.

    Raises
    ------
    ValueError
        If `groups` does not divide `in_channels` and `out_channels`, if a size is not an integer
        or is too small, or if `padding` is `"same"` and a stride is not 1.

    See Also
    --------
    Conv1d, ConvTranspose2d, mx.conv2d

    Notes
    -----
    Computes the cross-correlation of `Conv1d` along two axes.

    Shapes: `(N, H, W, in_channels)` → `(N, H', W', out_channels)`, with `H'` and `W'` as `L'` of
    `Conv1d`.

    Examples
    --------
    >>> layer = nn.Conv2d(3, 16, kernel_size=3, padding=1)
    >>> layer(mx.zeros((1, 8, 8, 3))).shape
    (1, 8, 8, 16)
    >>> layer.weight.shape
    (16, 3, 3, 3)
    """

    axes = 2
    convolve = staticmethod(mx.conv2d)


class Conv3d(_Convolution):
    """Convolution along three axes.

    Parameters
    ----------
    in_channels : int
        Size of the input's last axis.
    out_channels : int
        Size of the output's last axis.
    kernel_size : int or sequence of int
        Size of the filters, one for all axes or one per axis.
    stride : int or sequence of int, optional
        Distance between neighbouring positions of the filters. Default: 1.
    padding : int, sequence of int, "same" or "valid", optional
        Number of zeros added at both ends of each axis. `"same"` keeps the size of the input
        and requires the stride 1; `"valid"` is 0. Default: 0.
    dilation : int or sequence of int, optional
        Distance between the input elements that a filter reads. Default: 1.
    bias : bool, optional
        Whether to add a bias. Default: True.

    Attributes
    ----------
    weight : array of shape (out_channels, *kernel_size, in_channels)
        Filters, float32, drawn uniformly from `[-s, s)`, `1/s²` being the number of inputs of a
        filter.
    bias : array of shape (out_channels,)
        Bias, initially zeros; absent if `bias` is False.

    Raises
    ------
    ValueError
        If a size is not an integer or is too small, or if `padding` is `"same"` and a stride is not
        1.

    See Also
    --------
    Conv1d, ConvTranspose3d, mx.conv3d

    Notes
    -----
    Computes the cross-correlation of `Conv1d` along three axes. There are no groups.

    Shapes: `(N, D, H, W, in_channels)` → `(N, D', H', W', out_channels)`, with `D'`, `H'` and `W'`
    as `L'` of `Conv1d`.

    Examples
    --------
    >>> layer = nn.Conv3d(1, 4, kernel_size=3)
    >>> layer(mx.zeros((1, 8, 8, 8, 1))).shape
    (1, 6, 6, 6, 4)
    """

    axes = 3
    convolve = staticmethod(mx.conv3d)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Padding = 0,
        dilation: Sizes = 1,
        bias: bool = True,
    ) -> None:
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, dilation, 1, bias)

    def _extra_repr(self) -> str:
        return super()._extra_repr().replace(f"groups={self.groups}, ", "")


def _padding(name: str, padding: Padding, strides: tuple[int, ...]) -> Any:
    """Numbers, or "same", which is resolved at the call."""
    if not isinstance(padding, str):
        return _numbers(per_axis(name, "padding", padding, len(strides)))
    if padding == "valid":
        return _numbers((0,) * len(strides))
    if padding != "same":
        raise ValueError(f"[{name}] got padding {padding!r}, expected numbers, 'same' or 'valid'")
    if max(strides) > 1:
        raise ValueError(
            f"[{name}] padding 'same' is defined for the stride 1, got {_numbers(strides)}; "
            "pass the padding as numbers"
        )
    return padding


def _numbers(values: tuple[int, ...]) -> Any:
    """A number for one spatial axis, a tuple for several, as layers show them."""
    return values[0] if len(values) == 1 else values


_layout.complete(globals())
