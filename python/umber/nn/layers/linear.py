"""Layers that map linearly: `Linear`, `Bilinear`, and `Identity`, which maps nothing."""

from __future__ import annotations

import math
from typing import Any

import umber.core as mx
from umber.nn.layers.base import Module
from umber.nn.layers.quantized import QQLinear, QuantizedLinear

__all__ = ["Bilinear", "Identity", "Linear"]


class Identity(Module):
    """Gives back its input; takes and ignores any arguments, to stand in for another layer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def __call__(self, x: mx.array) -> mx.array:
        return x


class Linear(Module):
    """An affine map of the last axis: `y = x Wᵀ + b`.

    `W` with shape `(output_dims, input_dims)` and `b` with shape `(output_dims,)` are float32,
    drawn uniformly from `[-s, s)` with `s = 1/√input_dims`, `W` first.

    Shapes: `(..., input_dims)` → `(..., output_dims)`.

    Args:
        input_dims: size of the input's last axis.
        output_dims: size of the output's last axis.
        bias: whether there is a `b`. Default: `True`.
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
        y = x @ self.weight.T
        return y + self.bias if "bias" in self else y

    def to_quantized(
        self,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
        quantize_input: bool = False,
    ) -> QuantizedLinear | QQLinear:
        """The layer with its matrix stored in few bits, see `umber.core.quantize`.

        With `quantize_input`, in modes `"nvfp4"` and `"mxfp8"`, a `QQLinear`, which has no bias.
        """
        if not quantize_input:
            return QuantizedLinear.from_linear(self, group_size, bits, mode)
        if mode not in ("nvfp4", "mxfp8"):
            raise ValueError(
                f"[to_quantized] got quantize_input with mode {mode!r}, expected 'nvfp4' or 'mxfp8'"
            )
        return QQLinear.from_linear(self, group_size, bits, mode)


class Bilinear(Module):
    """A map linear in each of two inputs: `y[o] = x1ᵀ W[o]ᵀ x2 + b[o]`.

    `W` with shape `(output_dims, input2_dims, input1_dims)` and `b` with shape `(output_dims,)` are
    float32, drawn uniformly from `[-s, s)` with `s = 1/√input1_dims`, `W` first.

    Shapes: `(..., input1_dims)` and `(..., input2_dims)` → `(..., output_dims)`.

    Args:
        input1_dims: size of the first input's last axis.
        input2_dims: size of the second input's last axis.
        output_dims: size of the output's last axis.
        bias: whether there is a `b`. Default: `True`.
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
