"""Linear layers: `Linear`, `Bilinear`, and `Identity`, which returns its input."""

from __future__ import annotations

import math
from typing import Any

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module
from umber.nn.layers.input_errors import check_last_axis
from umber.nn.layers.quantized import QQLinear, QuantizedLinear

__all__ = ["Bilinear", "Identity", "Linear"]


class Identity(Module):
    """Return the input. Constructor arguments are ignored, so that it can replace any layer.

    Parameters
    ----------
    *args : Any
        Ignored.
    **kwargs : Any
        Ignored.

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.Identity(4, 8, bias=False)(mx.array([1.0, 2.0]))
    array([1, 2], dtype=float32)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def __call__(self, x: mx.array) -> mx.array:
        return x


class Linear(Module):
    """Affine map of the last axis: `y = x @ weight.T + bias`.

    Parameters
    ----------
    input_dims : int
        Size of the input's last axis.
    output_dims : int
        Size of the output's last axis.
    bias : bool, optional
        Whether to add a bias. Default: True.

    Attributes
    ----------
    weight : array of shape (output_dims, input_dims)
        Matrix, float32, drawn uniformly from `[-s, s)` with `s = 1/√input_dims`.
    bias : array of shape (output_dims,)
        Bias, drawn from the same distribution after `weight`; absent if `bias` is False.

    See Also
    --------
    Bilinear, QuantizedLinear

    Notes
    -----
    Shapes: `(..., input_dims)` → `(..., output_dims)`.

    Examples
    --------
    >>> layer = nn.Linear(4, 8)
    >>> layer(mx.zeros((2, 4))).shape
    (2, 8)
    >>> layer.weight.shape, layer.bias.shape
    ((8, 4), (8,))
    """

    def __init__(self, input_dims: int, output_dims: int, bias: bool = True) -> None:
        super().__init__()
        s = 1 / math.sqrt(input_dims) if input_dims > 0 else 0.0
        self.weight = mx.random.uniform(-s, s, (output_dims, input_dims))
        if bias:
            self.bias = mx.random.uniform(-s, s, (output_dims,))

    def _extra_repr(self) -> str:
        output_dims, input_dims = self.weight.shape
        return f"input_dims={input_dims}, output_dims={output_dims}, bias={'bias' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        try:
            y = x @ self.weight.T
        except ValueError:
            check_last_axis(type(self).__name__, x, self.weight.shape[-1])
            raise
        return y + self.bias if "bias" in self else y

    def to_quantized(
        self,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
        quantize_input: bool = False,
    ) -> QuantizedLinear | QQLinear:
        """Quantise the matrix.

        Parameters
        ----------
        group_size : int, optional
            Number of neighbouring elements that share a scale; divides `input_dims`. Default: that
            of the mode.
        bits : int, optional
            Bits per element. Default: that of the mode.
        mode : str, optional
            Quantisation mode, see `mx.quantize`. Default: `"affine"`.
        quantize_input : bool, optional
            Whether the new layer also quantises its inputs. The mode must be `"nvfp4"` or
            `"mxfp8"`, and this layer must have no bias. Default: False.

        Returns
        -------
        QuantizedLinear or QQLinear
            A new layer; a `QQLinear` if `quantize_input` is True.

        Raises
        ------
        ValueError
            If the mode, group size or bits do not exist, if the group size does not divide
            `input_dims`, or if `quantize_input` is True in another mode than `"nvfp4"` and
            `"mxfp8"`.
        NotImplementedError
            If `quantize_input` is True and the layer has a bias.

        See Also
        --------
        nn.quantize, QQLinear.from_linear, QuantizedLinear.from_linear

        Examples
        --------
        >>> nn.Linear(64, 8).to_quantized(bits=8)
        QuantizedLinear(input_dims=64, output_dims=8, bias=True, group_size=64, bits=8, mode=affine)
        """
        if not quantize_input:
            return QuantizedLinear.from_linear(self, group_size, bits, mode)
        if mode not in ("nvfp4", "mxfp8"):
            raise ValueError(
                f"[to_quantized] quantize_input does not support mode {mode!r}, "
                "expected 'nvfp4' or 'mxfp8'"
            )
        return QQLinear.from_linear(self, group_size, bits, mode)


class Bilinear(Module):
    """Map linear in each of two inputs: `y[o] = x2ᵀ weight[o] x1 + bias[o]`.

    Parameters
    ----------
    input1_dims : int
        Size of the last axis of the first input.
    input2_dims : int
        Size of the last axis of the second input.
    output_dims : int
        Size of the output's last axis.
    bias : bool, optional
        Whether to add a bias. Default: True.

    Attributes
    ----------
    weight : array of shape (output_dims, input2_dims, input1_dims)
        Matrices, float32, drawn uniformly from `[-s, s)` with `s = 1/√input1_dims`.
    bias : array of shape (output_dims,)
        Bias, drawn from the same distribution after `weight`; absent if `bias` is False.

    See Also
    --------
    Linear

    Notes
    -----
    Calling the layer raises ValueError if the last axes of the inputs have other sizes.

    Shapes: `(..., input1_dims)` and `(..., input2_dims)` → `(..., output_dims)`.

    Examples
    --------
    >>> layer = nn.Bilinear(4, 5, 6)
    >>> layer(mx.zeros((2, 4)), mx.zeros((2, 5))).shape
    (2, 6)
    """

    def __init__(
        self, input1_dims: int, input2_dims: int, output_dims: int, bias: bool = True
    ) -> None:
        super().__init__()
        s = 1 / math.sqrt(input1_dims) if input1_dims > 0 else 0.0
        self.weight = mx.random.uniform(-s, s, (output_dims, input2_dims, input1_dims))
        if bias:
            self.bias = mx.random.uniform(-s, s, (output_dims,))

    def _extra_repr(self) -> str:
        output_dims, input2_dims, input1_dims = self.weight.shape
        return (
            f"input1_dims={input1_dims}, input2_dims={input2_dims}, "
            f"output_dims={output_dims}, bias={'bias' in self}"
        )

    def __call__(self, x1: mx.array, x2: mx.array) -> mx.array:
        # (..., 1, input1) @ (input1, output · input2) → (..., output, input2)
        output_dims, input2_dims, input1_dims = self.weight.shape
        if x1.shape[-1:] != (input1_dims,) or x2.shape[-1:] != (input2_dims,):
            raise ValueError(
                f"[Bilinear] got inputs of shapes {x1.shape} and {x2.shape}, "
                f"expected (..., {input1_dims}) and (..., {input2_dims})"
            )
        left = x1 @ self.weight.reshape(output_dims * input2_dims, input1_dims).T
        left = mx.unflatten(left, -1, (output_dims, input2_dims))
        y = (left @ x2[..., None]).squeeze(-1)
        return y + self.bias if "bias" in self else y


_layout.complete(globals())
