"""Activation functions: the functions with their formulas, then a module for each.

All work elementwise, keep the shape and compute in the input's dtype, integers in float32;
`softmax` and the like normalise one axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import umber.core as mx
from umber.nn.layers.base import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "HardShrink",
    "HardTanh",
    "Hardswish",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU2",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Step",
    "Tanh",
    "celu",
    "elu",
    "gelu",
    "gelu_approx",
    "gelu_fast_approx",
    "glu",
    "hard_shrink",
    "hard_tanh",
    "hardswish",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "prelu",
    "relu",
    "relu2",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "step",
    "tanh",
]

# Klambauer et al., "Self-Normalizing Neural Networks", 2017: these keep mean 0 and variance 1.
SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805


def sigmoid(x: mx.array) -> mx.array:
    """`1 / (1 + exp(-x))`."""
    return mx.sigmoid(x)


def log_sigmoid(x: mx.array) -> mx.array:
    """`log(1 / (1 + exp(-x)))`."""
    return -softplus(-x)


def tanh(x: mx.array) -> mx.array:
    """The hyperbolic tangent."""
    return mx.tanh(x)


def hard_tanh(x: mx.array, min_val: float = -1.0, max_val: float = 1.0) -> mx.array:
    """`x` clipped to `[min_val, max_val]`."""
    return mx.minimum(mx.maximum(x, min_val), max_val)


def softsign(x: mx.array) -> mx.array:
    """`x / (1 + |x|)`, ±1 at ±∞."""
    is_infinite = mx.isinf(x)
    finite = mx.where(is_infinite, 0, x)
    return mx.where(is_infinite, mx.sign(x), finite / (1 + mx.abs(finite)))


def softplus(x: mx.array) -> mx.array:
    """`log(1 + exp(x))`."""
    return mx.logaddexp(x, 0)


def relu(x: mx.array) -> mx.array:
    """`max(x, 0)`."""
    return mx.maximum(x, 0)


def relu2(x: mx.array) -> mx.array:
    """`max(x, 0)²`. So et al., "Primer: Searching for Efficient Transformers", 2021."""
    return relu(x).square()


def relu6(x: mx.array) -> mx.array:
    """`min(max(x, 0), 6)`. Krizhevsky, "Convolutional Deep Belief Networks on CIFAR-10", 2010."""
    return mx.minimum(relu(x), 6.0)


def leaky_relu(x: mx.array, negative_slope: float = 0.01) -> mx.array:
    """`x` where it is not negative, else `negative_slope · x`."""
    return mx.where(x >= 0, x, negative_slope * x)


def prelu(x: mx.array, alpha: mx.array) -> mx.array:
    """`x` where it is positive, else `alpha · x`, `alpha` being learned.

    He et al., "Delving Deep into Rectifiers", 2015.
    """
    return mx.where(x > 0, x, alpha * _not_positive(x))


def elu(x: mx.array, alpha: float = 1.0) -> mx.array:
    """`x` where it is positive, else `alpha · (exp(x) - 1)`.

    Clevert, Unterthiner, Hochreiter, "Fast and Accurate Deep Network Learning by Exponential Linear
    Units", 2015.
    """
    return mx.where(x > 0, x, alpha * mx.expm1(_not_positive(x)))


def celu(x: mx.array, alpha: float = 1.0) -> mx.array:
    """`x` where it is positive, else `alpha · (exp(x / alpha) - 1)`.

    Barron, "Continuously Differentiable Exponential Linear Units", 2017.
    """
    return mx.where(x > 0, x, alpha * mx.expm1(_not_positive(x) / alpha))


def _not_positive(x: mx.array) -> mx.array:
    """`min(x, 0)`, with the derivative 1 at 0.

    In branches that are not taken for positive numbers: there they must not overflow, for their
    gradient would be NaN.
    """
    return mx.where(x > 0, 0, x)


def selu(x: mx.array) -> mx.array:
    """`scale · elu(x, alpha)` with the constants `SELU_SCALE` and `SELU_ALPHA`."""
    return SELU_SCALE * elu(x, SELU_ALPHA)


def _gated(x: mx.array, gate: Callable[[mx.array], mx.array], bound: float) -> mx.array:
    """`x · gate(x)`, for a gate that rounds to 0 from `-bound` down and to 1 from `bound` up.

    The product is taken between the bounds only: infinity times zero, in the value or in a
    derivative, would be NaN.
    """
    inner = mx.clip(x, -bound, bound)
    return mx.where(x >= bound, x, inner * gate(inner))


def silu(x: mx.array) -> mx.array:
    """`x · sigmoid(x)`, also called swish.

    Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016.
    """
    return _gated(x, mx.sigmoid, 1000.0)


def mish(x: mx.array) -> mx.array:
    """`x · tanh(softplus(x))`.

    Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2019.
    """
    return _gated(x, lambda x: mx.tanh(softplus(x)), 1000.0)


def gelu(x: mx.array) -> mx.array:
    """`x Φ(x)`, Φ the distribution function of the normal distribution.

    Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016.
    """
    return _gated(x, lambda x: (1 + mx.erf(x / math.sqrt(2))) / 2, 10.0)


def gelu_approx(x: mx.array) -> mx.array:
    """`gelu` by `x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))`; off by at most 0.0005."""

    def gate(x: mx.array) -> mx.array:
        return 0.5 * (1 + mx.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))

    return _gated(x, gate, 10.0)


def gelu_fast_approx(x: mx.array) -> mx.array:
    """`gelu` by `x · sigmoid(1.702 x)`; off by at most 0.021."""
    return _gated(x, lambda x: mx.sigmoid(1.702 * x), 1000.0)


def hardswish(x: mx.array) -> mx.array:
    """`x · relu6(x + 3) / 6`. Howard et al., "Searching for MobileNetV3", 2019."""
    return _gated(x, lambda x: (x + 3) / 6, 3.0)


def hard_shrink(x: mx.array, lambd: float = 0.5) -> mx.array:
    """`x` where `|x| > lambd`, else 0."""
    return mx.where(mx.abs(x) > lambd, x, 0)


def softshrink(x: mx.array, lambd: float = 0.5) -> mx.array:
    """`x - sign(x) · lambd` where `|x| > lambd`, else 0."""
    return mx.where(mx.abs(x) > lambd, x - mx.sign(x) * lambd, 0)


def step(x: mx.array, threshold: float = 0.0) -> mx.array:
    """1 where `x >= threshold`, else 0; int32."""
    return mx.where(x >= threshold, 1, 0)


def glu(x: mx.array, axis: int = -1) -> mx.array:
    """`a · sigmoid(b)`, `a` and `b` the halves of `x` along `axis`, whose size is even.

    An infinite `a` gives 0 where `sigmoid(b)` is 0.

    Dauphin et al., "Language Modeling with Gated Convolutional Networks", 2016.
    """
    a, b = mx.split(x, 2, axis=axis)
    # As in `_gated`, the gate is 0 or 1 beyond the bound, and nothing infinite is multiplied there.
    bound = 1000.0
    rest = mx.where((mx.abs(b) >= bound) & mx.isinf(a), 0, a)
    return mx.where(b >= bound, a, rest * mx.sigmoid(mx.clip(b, -bound, bound)))


def softmax(x: mx.array, axis: int = -1) -> mx.array:
    """`exp(x) / Σ exp(x)`, the sum along `axis`."""
    return mx.softmax(x, axis=axis)


def softmin(x: mx.array, axis: int = -1) -> mx.array:
    """`softmax(-x)`."""
    return mx.softmax(-x, axis=axis)


def log_softmax(x: mx.array, axis: int = -1) -> mx.array:
    """`(x - m) - log Σ exp(x - m)` with `m = max(x)`, along `axis`."""
    return mx.log_softmax(x, axis=axis)


class Sigmoid(Module):
    """`sigmoid` as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return sigmoid(x)


class LogSigmoid(Module):
    """`log_sigmoid` as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return log_sigmoid(x)


class Tanh(Module):
    """`tanh` as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return tanh(x)


class HardTanh(Module):
    """`hard_tanh` to `[-1, 1]` as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return hard_tanh(x)


class Softsign(Module):
    """`softsign` as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return softsign(x)


class Softplus(Module):
    """`softplus` as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return softplus(x)


class ReLU(Module):
    """`relu` as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return relu(x)


class ReLU2(Module):
    """`relu2` as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return relu2(x)


class ReLU6(Module):
    """`relu6` as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return relu6(x)


class LeakyReLU(Module):
    """`leaky_relu` as a module.

    Args:
        negative_slope: factor for negative inputs. Default: 0.01.
    """

    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__()
        self._negative_slope = negative_slope

    def __call__(self, x: mx.array) -> mx.array:
        return leaky_relu(x, self._negative_slope)


class PReLU(Module):
    """`prelu` as a module, whose parameter `weight` is `alpha`.

    Args:
        num_parameters: size of `weight`, 1 or the size of the input's last axis. Default: 1.
        init: what `weight` begins as. Default: 0.25.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None:
        super().__init__()
        self.weight = mx.full((num_parameters,), init)

    def __call__(self, x: mx.array) -> mx.array:
        return prelu(x, self.weight)


class ELU(Module):
    """`elu` as a module.

    Args:
        alpha: minus the limit for very negative inputs. Default: 1.0.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._alpha = alpha

    def __call__(self, x: mx.array) -> mx.array:
        return elu(x, self._alpha)


class CELU(Module):
    """`celu` as a module.

    Args:
        alpha: minus the limit for very negative inputs. Default: 1.0.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._alpha = alpha

    def __call__(self, x: mx.array) -> mx.array:
        return celu(x, self._alpha)


class SELU(Module):
    """`selu` as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return selu(x)


class SiLU(Module):
    """`silu` as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return silu(x)


class Mish(Module):
    """`mish` as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return mish(x)


class GELU(Module):
    """`gelu` or an approximation of it as a module.

    Args:
        approx: `"none"` for `gelu`, `"precise"` or `"tanh"` for `gelu_approx`, `"fast"` for
            `gelu_fast_approx`. Default: `"none"`.
    """

    FUNCTIONS: ClassVar = {
        "none": gelu,
        "precise": gelu_approx,
        "tanh": gelu_approx,
        "fast": gelu_fast_approx,
    }

    def __init__(self, approx: str = "none") -> None:
        super().__init__()
        if approx not in self.FUNCTIONS:
            raise ValueError(
                f"[GELU] got the approximation {approx!r}, expected one of {list(self.FUNCTIONS)}"
            )
        self._approx = approx

    def __call__(self, x: mx.array) -> mx.array:
        return self.FUNCTIONS[self._approx](x)


class Hardswish(Module):
    """`hardswish` as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return hardswish(x)


class HardShrink(Module):
    """`hard_shrink` as a module.

    Args:
        lambd: the threshold. Default: 0.5.
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def __call__(self, x: mx.array) -> mx.array:
        return hard_shrink(x, self.lambd)


class Softshrink(Module):
    """`softshrink` as a module.

    Args:
        lambd: the threshold. Default: 0.5.
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def __call__(self, x: mx.array) -> mx.array:
        return softshrink(x, self.lambd)


class Step(Module):
    """`step` as a module.

    Args:
        threshold: the smallest input that gives 1. Default: 0.0.
    """

    def __init__(self, threshold: float = 0.0) -> None:
        super().__init__()
        self.threshold = threshold

    def __call__(self, x: mx.array) -> mx.array:
        return step(x, self.threshold)


class GLU(Module):
    """`glu` as a module.

    Args:
        axis: the axis that is halved. Default: -1.
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def __call__(self, x: mx.array) -> mx.array:
        return glu(x, self.axis)


class Softmax(Module):
    """`softmax` of the last axis as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return softmax(x)


class Softmin(Module):
    """`softmin` of the last axis as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return softmin(x)


class LogSoftmax(Module):
    """`log_softmax` of the last axis as a module."""

    def __call__(self, x: mx.array) -> mx.array:
        return log_softmax(x)
