"""Activation functions, each as a function and as a module.

One subject: a table of small functions and the modules that call them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module
from umber.nn.layers.input_errors import check_last_axis

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
    """Logistic sigmoid: `y = 1 / (1 + exp(-x))`.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    log_sigmoid, Sigmoid, silu

    Examples
    --------
    >>> nn.sigmoid(mx.array([-2.0, 0.0, 2.0]))
    array([0.119203, 0.5, 0.880797], dtype=float32)
    """
    return mx.sigmoid(x)


def log_sigmoid(x: mx.array) -> mx.array:
    """Logarithm of the sigmoid: `y = log(1 / (1 + exp(-x)))`.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers.

    See Also
    --------
    LogSigmoid, sigmoid, softplus

    Notes
    -----
    Computed as ``-softplus(-x)``, so large inputs of either sign do not overflow.

    Examples
    --------
    >>> nn.log_sigmoid(mx.array([-1000.0, 0.0, 2.0]))
    array([-1000, -0.693147, -0.126928], dtype=float32)
    """
    return -softplus(-x)


def tanh(x: mx.array) -> mx.array:
    """Hyperbolic tangent.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    hard_tanh, Tanh

    Examples
    --------
    >>> nn.tanh(mx.array([-1.0, 0.0, 1.0]))
    array([-0.761594, 0, 0.761594], dtype=float32)
    """
    return mx.tanh(x)


def hard_tanh(x: mx.array, min_val: float = -1.0, max_val: float = 1.0) -> mx.array:
    """Clip `x` to the interval `[min_val, max_val]`.

    Parameters
    ----------
    x : array
        Input of any shape.
    min_val : float, optional
        Lower bound. Default: -1.0.
    max_val : float, optional
        Upper bound. Default: 1.0.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    HardTanh, relu6, tanh

    Notes
    -----
    The gradient is 0 at both bounds and outside them.

    Examples
    --------
    >>> nn.hard_tanh(mx.array([-2.0, 0.5, 2.0]))
    array([-1, 0.5, 1], dtype=float32)
    """
    return mx.minimum(mx.maximum(x, min_val), max_val)


def softsign(x: mx.array) -> mx.array:
    """Softsign: `y = x / (1 + |x|)`.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    Softsign, tanh

    Notes
    -----
    The value is ±1 at ±∞.

    Examples
    --------
    >>> nn.softsign(mx.array([-1.0, 0.0, 3.0]))
    array([-0.5, 0, 0.75], dtype=float32)
    """
    is_infinite = mx.isinf(x)
    finite = mx.where(is_infinite, 0, x)
    return mx.where(is_infinite, mx.sign(x), finite / (1 + mx.abs(finite)))


def softplus(x: mx.array) -> mx.array:
    """Softplus, a smooth ReLU: `y = log(1 + exp(x))`.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    log_sigmoid, mish, Softplus

    Notes
    -----
    Computed as ``logaddexp(x, 0)``, so large inputs do not overflow.

    Examples
    --------
    >>> nn.softplus(mx.array([-1.0, 0.0, 1000.0]))
    array([0.313262, 0.693147, 1000], dtype=float32)
    """
    return mx.logaddexp(x, 0)


def relu(x: mx.array) -> mx.array:
    """Rectified linear unit: `y = max(x, 0)`.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape and dtype as `x`; int32 for booleans.

    See Also
    --------
    leaky_relu, ReLU, relu2, relu6

    Notes
    -----
    The gradient is 0 at 0.

    Examples
    --------
    >>> nn.relu(mx.array([-1.0, 0.0, 2.0]))
    array([0, 0, 2], dtype=float32)
    """
    return mx.maximum(x, 0)


def relu2(x: mx.array) -> mx.array:
    """Squared ReLU: `y = max(x, 0)²`.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape and dtype as `x`; int32 for booleans.

    See Also
    --------
    relu, ReLU2

    Notes
    -----
    So et al., "Primer: Searching for Efficient Transformers for Language Modeling", 2021.

    Examples
    --------
    >>> nn.relu2(mx.array([-1.0, 0.5, 3.0]))
    array([0, 0.25, 9], dtype=float32)
    """
    return relu(x).square()


def relu6(x: mx.array) -> mx.array:
    """ReLU with values of at most 6: `y = min(max(x, 0), 6)`.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    hard_tanh, hardswish, relu, ReLU6

    Notes
    -----
    Krizhevsky, "Convolutional Deep Belief Networks on CIFAR-10", 2010.

    The gradient is 0 at 0 and at 6.

    Examples
    --------
    >>> nn.relu6(mx.array([-1.0, 3.0, 8.0]))
    array([0, 3, 6], dtype=float32)
    """
    return mx.minimum(relu(x), 6.0)


def leaky_relu(x: mx.array, negative_slope: float = 0.01) -> mx.array:
    """Leaky ReLU: `y = x` if `x >= 0`, else `negative_slope · x`.

    Parameters
    ----------
    x : array
        Input of any shape.
    negative_slope : float, optional
        Factor for negative inputs. Default: 0.01.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    LeakyReLU, prelu, relu

    Notes
    -----
    The gradient is 1 at 0.

    Examples
    --------
    >>> nn.leaky_relu(mx.array([-1.0, 0.0, 2.0]))
    array([-0.01, 0, 2], dtype=float32)
    """
    return mx.where(x >= 0, x, negative_slope * x)


def prelu(x: mx.array, alpha: mx.array) -> mx.array:
    """Parametric ReLU: `y = x` if `x > 0`, else `alpha · x`, with a learned `alpha`.

    Parameters
    ----------
    x : array
        Input of any shape.
    alpha : array
        Factor for negative inputs. Its shape broadcasts to that of `x`.

    Returns
    -------
    array
        Same shape as `x`; the dtype that `x` and `alpha` promote to.

    Raises
    ------
    ValueError
        If the shapes of `x` and `alpha` do not broadcast.

    See Also
    --------
    leaky_relu, PReLU

    Notes
    -----
    He et al., "Delving Deep into Rectifiers", 2015. The gradient by `x` is `alpha` at 0.

    Examples
    --------
    >>> nn.prelu(mx.array([-2.0, 3.0]), mx.array(0.25))
    array([-0.5, 3], dtype=float32)
    """
    return mx.where(x > 0, x, alpha * _not_positive(x))


def elu(x: mx.array, alpha: float = 1.0) -> mx.array:
    """Exponential linear unit: `y = x` if `x > 0`, else `alpha · (exp(x) - 1)`.

    Parameters
    ----------
    x : array
        Input of any shape.
    alpha : float, optional
        Values approach `-alpha` as inputs go to -∞. Default: 1.0.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    celu, ELU, selu

    Notes
    -----
    Clevert, Unterthiner, Hochreiter, "Fast and Accurate Deep Network Learning by Exponential Linear
    Units", 2015.

    Examples
    --------
    >>> nn.elu(mx.array([-1.0, 0.0, 2.0]))
    array([-0.632121, 0, 2], dtype=float32)
    """
    return mx.where(x > 0, x, alpha * mx.expm1(_not_positive(x)))


def celu(x: mx.array, alpha: float = 1.0) -> mx.array:
    """Continuously differentiable ELU: `y = x` if `x > 0`, else `alpha · (exp(x / alpha) - 1)`.

    Parameters
    ----------
    x : array
        Input of any shape.
    alpha : float, optional
        Values approach `-alpha` as inputs go to -∞. Default: 1.0.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    CELU, elu, selu

    Notes
    -----
    Barron, "Continuously Differentiable Exponential Linear Units", 2017.

    Examples
    --------
    >>> nn.celu(mx.array([-1.0, 0.0, 2.0]), alpha=2.0)
    array([-0.786939, 0, 2], dtype=float32)
    """
    return mx.where(x > 0, x, alpha * mx.expm1(_not_positive(x) / alpha))


def _not_positive(x: mx.array) -> mx.array:
    """`min(x, 0)`, with derivative 1 at 0.

    Argument of an exponential in a branch that is not selected for positive `x`: there it would
    overflow, and its gradient would be NaN.
    """
    return mx.where(x > 0, 0, x)


def selu(x: mx.array) -> mx.array:
    """Scaled ELU: `y = scale · elu(x, alpha)` with constants that keep mean 0 and variance 1.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    celu, elu, SELU

    Notes
    -----
    `scale` is 1.0507009873554805 and `alpha` is 1.6732632423543772.

    Klambauer et al., "Self-Normalizing Neural Networks", 2017.

    Examples
    --------
    >>> nn.selu(mx.array([-1.0, 0.0, 1.0]))
    array([-1.11133, 0, 1.0507], dtype=float32)
    """
    return SELU_SCALE * elu(x, SELU_ALPHA)


def _gated(x: mx.array, gate: Callable[[mx.array], mx.array], bound: float) -> mx.array:
    """`x · gate(x)`, for a gate that rounds to 0 below `-bound` and to 1 above `bound`.

    The product is computed between the bounds only: outside, infinity times zero in the value or
    in a derivative would be NaN.
    """
    inner = mx.clip(x, -bound, bound)
    return mx.where(x >= bound, x, inner * gate(inner))


def silu(x: mx.array) -> mx.array:
    """Sigmoid linear unit, also called swish: `y = x · sigmoid(x)`.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    glu, hardswish, sigmoid, SiLU

    Notes
    -----
    Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016.

    Infinite inputs give no NaN, neither in the value nor in the gradient.

    Examples
    --------
    >>> nn.silu(mx.array([-1.0, 0.0, 1.0]))
    array([-0.268941, 0, 0.731059], dtype=float32)
    """
    return _gated(x, mx.sigmoid, 1000.0)


def mish(x: mx.array) -> mx.array:
    """Mish: `y = x · tanh(softplus(x))`.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    Mish, silu, softplus

    Notes
    -----
    Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2019.

    Examples
    --------
    >>> nn.mish(mx.array([-1.0, 0.0, 1.0]))
    array([-0.303401, 0, 0.865098], dtype=float32)
    """
    return _gated(x, lambda x: mx.tanh(softplus(x)), 1000.0)


def gelu(x: mx.array) -> mx.array:
    """Gaussian error linear unit: `y = x · Φ(x)`, with `Φ` the normal distribution function.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    GELU, gelu_approx, gelu_fast_approx

    Notes
    -----
    `Φ(x) = (1 + erf(x / √2)) / 2`.

    Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016.

    Examples
    --------
    >>> nn.gelu(mx.array([-1.0, 0.0, 1.0]))
    array([-0.158655, 0, 0.841345], dtype=float32)
    """
    return _gated(x, lambda x: (1 + mx.erf(x / math.sqrt(2))) / 2, 10.0)


def gelu_approx(x: mx.array) -> mx.array:
    """Approximation of `gelu`: `y = x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³)))`.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    GELU, gelu, gelu_fast_approx

    Notes
    -----
    The absolute error is at most 0.0005.

    Examples
    --------
    >>> nn.gelu_approx(mx.array([-1.0, 0.0, 1.0]))
    array([-0.158808, 0, 0.841192], dtype=float32)
    """

    def gate(x: mx.array) -> mx.array:
        return 0.5 * (1 + mx.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))

    return _gated(x, gate, 10.0)


def gelu_fast_approx(x: mx.array) -> mx.array:
    """Approximation of `gelu`: `y = x · sigmoid(1.702 x)`.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    GELU, gelu, gelu_approx

    Notes
    -----
    The absolute error is at most 0.021.

    Examples
    --------
    >>> nn.gelu_fast_approx(mx.array([-1.0, 0.0, 1.0]))
    array([-0.154204, 0, 0.845796], dtype=float32)
    """
    return _gated(x, lambda x: mx.sigmoid(1.702 * x), 1000.0)


def hardswish(x: mx.array) -> mx.array:
    """Piecewise approximation of `silu`: `y = x · relu6(x + 3) / 6`.

    Parameters
    ----------
    x : array
        Input of any shape.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    Hardswish, relu6, silu

    Notes
    -----
    Howard et al., "Searching for MobileNetV3", 2019.

    Examples
    --------
    >>> nn.hardswish(mx.array([-4.0, 1.0, 4.0]))
    array([-0, 0.666667, 4], dtype=float32)
    """
    return _gated(x, lambda x: (x + 3) / 6, 3.0)


def hard_shrink(x: mx.array, lambd: float = 0.5) -> mx.array:
    """Hard shrinkage: `y = x` if `|x| > lambd`, else 0.

    Parameters
    ----------
    x : array
        Input of any shape.
    lambd : float, optional
        Threshold. Default: 0.5.

    Returns
    -------
    array
        Same shape and dtype as `x`; int32 for booleans.

    See Also
    --------
    HardShrink, softshrink

    Examples
    --------
    >>> nn.hard_shrink(mx.array([-2.0, 0.3, 0.8]))
    array([-2, 0, 0.8], dtype=float32)
    """
    return mx.where(mx.abs(x) <= lambd, 0, x)


def softshrink(x: mx.array, lambd: float = 0.5) -> mx.array:
    """Soft shrinkage: `y = x - sign(x) · lambd` if `|x| > lambd`, else 0.

    Parameters
    ----------
    x : array
        Input of any shape.
    lambd : float, optional
        Threshold. Default: 0.5.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    See Also
    --------
    hard_shrink, Softshrink

    Examples
    --------
    >>> nn.softshrink(mx.array([-2.0, 0.3, 0.8]))
    array([-1.5, 0, 0.3], dtype=float32)
    """
    return mx.where(mx.abs(x) <= lambd, 0, x - mx.sign(x) * lambd)


def step(x: mx.array, threshold: float = 0.0) -> mx.array:
    """Binary step: 1 if `x >= threshold`, else 0.

    Parameters
    ----------
    x : array
        Input of any shape.
    threshold : float, optional
        Smallest input that gives 1. Default: 0.0.

    Returns
    -------
    array
        Same shape as `x`; int32.

    See Also
    --------
    Step

    Notes
    -----
    The gradient is 0 everywhere.

    Examples
    --------
    >>> nn.step(mx.array([-1.0, 0.0, 2.0]))
    array([0, 1, 1], dtype=int32)
    """
    return mx.where(x >= threshold, 1, 0)


def glu(x: mx.array, axis: int = -1) -> mx.array:
    """Gated linear unit: `y = a · sigmoid(b)`, with `a` and `b` the halves of `x` along an axis.

    Parameters
    ----------
    x : array
        Input of any shape with at least one axis.
    axis : int, optional
        Axis to split, of even size. Default: -1.

    Returns
    -------
    array
        Shape of `x` with half the size along `axis`; its floating dtype, float32 for integers and
        booleans.

    Raises
    ------
    ValueError
        If the size of the axis is odd.
    IndexError
        If the axis is out of bounds.

    See Also
    --------
    GLU, sigmoid, silu

    Notes
    -----
    An infinite `a` gives 0 where `sigmoid(b)` is 0.

    Dauphin et al., "Language Modeling with Gated Convolutional Networks", 2016.

    Examples
    --------
    >>> nn.glu(mx.array([1.0, 2.0, 0.0, 100.0]))
    array([0.5, 2], dtype=float32)
    """
    a, b = mx.split(x, 2, axis=axis)
    # As in `_gated`: beyond the bound the gate is 0 or 1, and infinities are not multiplied.
    bound = 1000.0
    finite = mx.where((mx.abs(b) >= bound) & mx.isinf(a), 0, a)
    return mx.where(b >= bound, a, finite * mx.sigmoid(mx.clip(b, -bound, bound)))


def softmax(x: mx.array, axis: int = -1) -> mx.array:
    """Softmax along an axis: `y = exp(x) / Σ exp(x)`.

    Parameters
    ----------
    x : array
        Input of any shape.
    axis : int, optional
        Axis to normalise over. Default: -1.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    Raises
    ------
    IndexError
        If the axis is out of bounds.

    See Also
    --------
    log_softmax, mx.softmax, Softmax, softmin

    Examples
    --------
    >>> nn.softmax(mx.array([0.0, 0.0, 2.0]))
    array([0.106507, 0.106507, 0.786986], dtype=float32)
    """
    return mx.softmax(x, axis=axis)


def softmin(x: mx.array, axis: int = -1) -> mx.array:
    """Softmin along an axis: `y = exp(-x) / Σ exp(-x)`.

    Parameters
    ----------
    x : array
        Input of any shape.
    axis : int, optional
        Axis to normalise over. Default: -1.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers.

    Raises
    ------
    IndexError
        If the axis is out of bounds.

    See Also
    --------
    softmax, Softmin

    Examples
    --------
    >>> nn.softmin(mx.array([0.0, 0.0, 2.0]))
    array([0.468311, 0.468311, 0.0633789], dtype=float32)
    """
    return mx.softmax(-x, axis=axis)


def log_softmax(x: mx.array, axis: int = -1) -> mx.array:
    """Logarithm of the softmax along an axis: `y = x - log Σ exp(x)`.

    Parameters
    ----------
    x : array
        Input of any shape.
    axis : int, optional
        Axis to normalise over. Default: -1.

    Returns
    -------
    array
        Same shape as `x`; its floating dtype, float32 for integers and booleans.

    Raises
    ------
    IndexError
        If the axis is out of bounds.

    See Also
    --------
    LogSoftmax, mx.log_softmax, softmax

    Notes
    -----
    Computed as ``(x - m) - log(sum(exp(x - m)))`` with ``m = max(x)``, so large inputs do not
    overflow.

    Examples
    --------
    >>> nn.log_softmax(mx.array([0.0, 0.0, 2.0]))
    array([-2.23954, -2.23954, -0.239545], dtype=float32)
    """
    return mx.log_softmax(x, axis=axis)


class Sigmoid(Module):
    """Logistic sigmoid as a module: `y = 1 / (1 + exp(-x))`.

    See Also
    --------
    sigmoid

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.Sigmoid()(mx.array([-1.0, 0.0, 2.0]))
    array([0.268941, 0.5, 0.880797], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return sigmoid(x)


class LogSigmoid(Module):
    """Logarithm of the sigmoid as a module: `y = log(1 / (1 + exp(-x)))`.

    See Also
    --------
    log_sigmoid

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.LogSigmoid()(mx.array([-1.0, 0.0, 2.0]))
    array([-1.31326, -0.693147, -0.126928], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return log_sigmoid(x)


class Tanh(Module):
    """Hyperbolic tangent as a module.

    See Also
    --------
    tanh

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.Tanh()(mx.array([-1.0, 0.0, 2.0]))
    array([-0.761594, 0, 0.964028], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return tanh(x)


class HardTanh(Module):
    """Clipping to the interval `[-1, 1]` as a module.

    See Also
    --------
    hard_tanh

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.HardTanh()(mx.array([-2.0, 0.5, 2.0]))
    array([-1, 0.5, 1], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return hard_tanh(x)


class Softsign(Module):
    """Softsign as a module: `y = x / (1 + |x|)`.

    See Also
    --------
    softsign

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.Softsign()(mx.array([-1.0, 0.0, 3.0]))
    array([-0.5, 0, 0.75], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return softsign(x)


class Softplus(Module):
    """Softplus, a smooth ReLU, as a module: `y = log(1 + exp(x))`.

    See Also
    --------
    softplus

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.Softplus()(mx.array([-1.0, 0.0, 2.0]))
    array([0.313262, 0.693147, 2.12693], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return softplus(x)


class ReLU(Module):
    """Rectified linear unit as a module: `y = max(x, 0)`.

    See Also
    --------
    relu

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.ReLU()(mx.array([-1.0, 0.0, 2.0]))
    array([0, 0, 2], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return relu(x)


class ReLU2(Module):
    """Squared ReLU as a module: `y = max(x, 0)²`.

    See Also
    --------
    relu2

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.ReLU2()(mx.array([-1.0, 0.0, 2.0]))
    array([0, 0, 4], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return relu2(x)


class ReLU6(Module):
    """ReLU with values of at most 6 as a module: `y = min(max(x, 0), 6)`.

    See Also
    --------
    relu6

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.ReLU6()(mx.array([-1.0, 3.0, 8.0]))
    array([0, 3, 6], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return relu6(x)


class LeakyReLU(Module):
    """Leaky ReLU as a module: `y = x` if `x >= 0`, else `negative_slope · x`.

    Parameters
    ----------
    negative_slope : float, optional
        Factor for negative inputs. Default: 0.01.

    See Also
    --------
    leaky_relu, PReLU

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.LeakyReLU(0.1)(mx.array([-1.0, 0.0, 2.0]))
    array([-0.1, 0, 2], dtype=float32)
    """

    def __init__(self, negative_slope: float = 0.01) -> None:
        super().__init__()
        self._negative_slope = negative_slope

    def __call__(self, x: mx.array) -> mx.array:
        return leaky_relu(x, self._negative_slope)


class PReLU(Module):
    """Parametric ReLU as a module: `y = x` if `x > 0`, else `weight · x`.

    Parameters
    ----------
    num_parameters : int, optional
        Size of `weight`: 1, or the size of the input's last axis. Default: 1.
    init : float, optional
        Initial value of `weight`. Default: 0.25.

    Attributes
    ----------
    weight : array of shape (num_parameters,)
        Learned factor for negative inputs, float32.

    See Also
    --------
    LeakyReLU, prelu

    Notes
    -----
    Shapes: any, kept; the last axis has the size `num_parameters` unless that is 1.

    Examples
    --------
    >>> nn.PReLU()(mx.array([-2.0, 3.0]))
    array([-0.5, 3], dtype=float32)
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25) -> None:
        super().__init__()
        self.weight = mx.full((num_parameters,), init)

    def __call__(self, x: mx.array) -> mx.array:
        try:
            return prelu(x, self.weight)
        except ValueError:
            check_last_axis(type(self).__name__, x, self.weight.size)
            raise


class ELU(Module):
    """Exponential linear unit as a module: `y = x` if `x > 0`, else `alpha · (exp(x) - 1)`.

    Parameters
    ----------
    alpha : float, optional
        Values approach `-alpha` as inputs go to -∞. Default: 1.0.

    See Also
    --------
    elu

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.ELU()(mx.array([-1.0, 0.0, 2.0]))
    array([-0.632121, 0, 2], dtype=float32)
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._alpha = alpha

    def __call__(self, x: mx.array) -> mx.array:
        return elu(x, self._alpha)


class CELU(Module):
    """Continuously differentiable ELU as a module.

    Parameters
    ----------
    alpha : float, optional
        Values approach `-alpha` as inputs go to -∞. Default: 1.0.

    See Also
    --------
    celu

    Notes
    -----
    Computes `y = x` if `x > 0`, else `alpha · (exp(x / alpha) - 1)`.

    Shapes: any, kept.

    Examples
    --------
    >>> nn.CELU()(mx.array([-1.0, 0.0, 2.0]))
    array([-0.632121, 0, 2], dtype=float32)
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._alpha = alpha

    def __call__(self, x: mx.array) -> mx.array:
        return celu(x, self._alpha)


class SELU(Module):
    """Scaled ELU as a module: `y = scale · elu(x, alpha)` with constant `scale` and `alpha`.

    See Also
    --------
    selu

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.SELU()(mx.array([-1.0, 0.0, 2.0]))
    array([-1.11133, 0, 2.1014], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return selu(x)


class SiLU(Module):
    """Sigmoid linear unit, also called swish, as a module: `y = x · sigmoid(x)`.

    See Also
    --------
    silu

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.SiLU()(mx.array([-1.0, 0.0, 2.0]))
    array([-0.268941, 0, 1.76159], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return silu(x)


class Mish(Module):
    """Mish as a module: `y = x · tanh(softplus(x))`.

    See Also
    --------
    mish

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.Mish()(mx.array([-1.0, 0.0, 2.0]))
    array([-0.303401, 0, 1.94396], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return mish(x)


class GELU(Module):
    """Gaussian error linear unit, or an approximation of it, as a module.

    Parameters
    ----------
    approx : {"none", "precise", "tanh", "fast"}, optional
        `"none"` for `gelu`, `"precise"` or `"tanh"` for `gelu_approx`, `"fast"` for
        `gelu_fast_approx`. Default: `"none"`.

    Attributes
    ----------
    FUNCTIONS : dict
        The function of each value of `approx`; of the class.

    Raises
    ------
    ValueError
        If `approx` is none of these.

    See Also
    --------
    gelu, gelu_approx, gelu_fast_approx

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.GELU()(mx.array([-1.0, 0.0, 1.0]))
    array([-0.158655, 0, 0.841345], dtype=float32)
    >>> nn.GELU("fast")(mx.array([-1.0, 0.0, 1.0]))
    array([-0.154204, 0, 0.845796], dtype=float32)
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
    """Piecewise approximation of SiLU as a module: `y = x · relu6(x + 3) / 6`.

    See Also
    --------
    hardswish

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.Hardswish()(mx.array([-4.0, 1.0, 4.0]))
    array([-0, 0.666667, 4], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return hardswish(x)


class HardShrink(Module):
    """Hard shrinkage as a module: `y = x` if `|x| > lambd`, else 0.

    Parameters
    ----------
    lambd : float, optional
        Threshold. Default: 0.5.

    Attributes
    ----------
    lambd : float
        The threshold.

    See Also
    --------
    hard_shrink

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.HardShrink()(mx.array([-2.0, 0.3, 0.8]))
    array([-2, 0, 0.8], dtype=float32)
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def __call__(self, x: mx.array) -> mx.array:
        return hard_shrink(x, self.lambd)


class Softshrink(Module):
    """Soft shrinkage as a module: `y = x - sign(x) · lambd` if `|x| > lambd`, else 0.

    Parameters
    ----------
    lambd : float, optional
        Threshold. Default: 0.5.

    Attributes
    ----------
    lambd : float
        The threshold.

    See Also
    --------
    softshrink

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.Softshrink()(mx.array([-2.0, 0.3, 0.8]))
    array([-1.5, 0, 0.3], dtype=float32)
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def __call__(self, x: mx.array) -> mx.array:
        return softshrink(x, self.lambd)


class Step(Module):
    """Binary step as a module: 1 if `x >= threshold`, else 0.

    Parameters
    ----------
    threshold : float, optional
        Smallest input that gives 1. Default: 0.0.

    Attributes
    ----------
    threshold : float
        The threshold.

    See Also
    --------
    step

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.Step(1.0)(mx.array([0.5, 1.0, 2.0]))
    array([0, 1, 1], dtype=int32)
    """

    def __init__(self, threshold: float = 0.0) -> None:
        super().__init__()
        self.threshold = threshold

    def __call__(self, x: mx.array) -> mx.array:
        return step(x, self.threshold)


class GLU(Module):
    """Gated linear unit as a module: `y = a · sigmoid(b)`, with `a` and `b` the halves of `x`.

    Parameters
    ----------
    axis : int, optional
        Axis to split, of even size. Default: -1.

    Attributes
    ----------
    axis : int
        The axis that is split.

    See Also
    --------
    glu

    Notes
    -----
    Shapes: `(..., 2 · n, ...)` → `(..., n, ...)`, `n` along `axis`.

    Examples
    --------
    >>> nn.GLU()(mx.array([1.0, 2.0, 0.0, 100.0]))
    array([0.5, 2], dtype=float32)
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def __call__(self, x: mx.array) -> mx.array:
        return glu(x, self.axis)


class Softmax(Module):
    """Softmax along the last axis as a module: `y = exp(x) / Σ exp(x)`.

    See Also
    --------
    softmax

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.Softmax()(mx.array([0.0, 0.0, 2.0]))
    array([0.106507, 0.106507, 0.786986], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return softmax(x)


class Softmin(Module):
    """Softmin along the last axis as a module: `y = exp(-x) / Σ exp(-x)`.

    See Also
    --------
    softmin

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.Softmin()(mx.array([0.0, 0.0, 2.0]))
    array([0.468311, 0.468311, 0.0633789], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return softmin(x)


class LogSoftmax(Module):
    """Logarithm of the softmax along the last axis as a module.

    See Also
    --------
    log_softmax

    Notes
    -----
    Shapes: any, kept.

    Examples
    --------
    >>> nn.LogSoftmax()(mx.array([0.0, 0.0, 2.0]))
    array([-2.23954, -2.23954, -0.239545], dtype=float32)
    """

    def __call__(self, x: mx.array) -> mx.array:
        return log_softmax(x)


_layout.complete(globals())
