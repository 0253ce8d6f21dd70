"""Layers that normalise the last axis: `LayerNorm`, `RMSNorm`.

float16 and bfloat16 are normalised in float32 and rounded once, at the end.
"""

from __future__ import annotations

import umber.core as mx
from umber.nn.layers.base import Module


class LayerNorm(Module):
    """`y = (x - mean) / √(var + eps) · w + b`, mean and variance over the last axis.

    Ba, Kiros, Hinton, "Layer Normalization", 2016. `w` begins as ones, `b` as zeros, both float32
    with shape `(dims,)`.

    Shapes: `(..., dims)`, kept.

    Args:
        dims: size of the last axis.
        eps: added to the variance. Default: 1e-5.
        affine: whether there are `w` and `b`. Default: `True`.
        bias: whether there is a `b`. Default: `True`.
    """

    def __init__(
        self, dims: int, eps: float = 1e-5, affine: bool = True, bias: bool = True
    ) -> None:
        super().__init__()
        if affine:
            self.weight = mx.ones((dims,))
            if bias:
                self.bias = mx.zeros((dims,))
        self.dims = dims
        self.eps = eps

    def _extra_repr(self) -> str:
        return f"{self.dims}, eps={self.eps}, affine={'weight' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        _check_last_axis(type(self).__name__, x, self.get("weight"))
        wide = _widened(x)
        centered = wide - wide.mean(axis=-1, keepdims=True)
        variance = centered.square().mean(axis=-1, keepdims=True)
        y = centered * mx.rsqrt(variance + self.eps)
        return _scaled(y, x, self.get("weight"), self.get("bias"))


class RMSNorm(Module):
    """`y = x / √(mean(x²) + eps) · w`, the mean over the last axis.

    Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019. `w` begins as ones, float32 with
    shape `(dims,)`.

    Shapes: `(..., dims)`, kept.

    Args:
        dims: size of the last axis.
        eps: added to the mean square. Default: 1e-5.
    """

    def __init__(self, dims: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.weight = mx.ones((dims,))
        self.eps = eps

    def _extra_repr(self) -> str:
        return f"{self.weight.shape[0]}, eps={self.eps}"

    def __call__(self, x: mx.array) -> mx.array:
        _check_last_axis(type(self).__name__, x, self.weight)
        wide = _widened(x)
        y = wide * mx.rsqrt(wide.square().mean(axis=-1, keepdims=True) + self.eps)
        return _scaled(y, x, self.weight, None)


def _check_last_axis(op: str, x: mx.array, weight: mx.array | None) -> None:
    if x.ndim == 0:
        raise ValueError(f"[{op}] got an input without axes, expected at least one axis")
    if weight is not None and x.shape[-1] != weight.shape[0]:
        raise ValueError(
            f"[{op}] the input's last axis has size {x.shape[-1]}, expected {weight.shape[0]}"
        )


def _widened(x: mx.array) -> mx.array:
    return x.astype(mx.float32) if x.dtype in (mx.float16, mx.bfloat16) else x


def _scaled(y: mx.array, x: mx.array, weight: mx.array | None, bias: mx.array | None) -> mx.array:
    """`y · w + b` with the dtype that `x`, `w` and `b` promote to."""
    y = y if weight is None else y * weight
    y = y if bias is None else y + bias
    if x.dtype not in (mx.float16, mx.bfloat16):
        return y
    return y.astype(mx.result_type(x, *(a for a in (weight, bias) if a is not None)))
