"""Rates adapted to the squares of past gradients: `Adagrad`, `RMSprop`, `AdaDelta`."""

from __future__ import annotations

import umber.core as mx
from umber.optimizers.base import Optimizer
from umber.optimizers.ranges import in_float32, nonzero
from umber.optimizers.schedulers import Schedule


class Adagrad(Optimizer):
    """`v = v + g²`, `w = w - λ g / (√v + ε)`.

    Duchi, Hazan, Singer, "Adaptive Subgradient Methods for Online Learning", 2011.

    Args:
        learning_rate: `λ`, a number or a function of the step.
        eps: `ε`, above 0. Default: 1e-8.
    """

    def __init__(self, learning_rate: float | mx.array | Schedule, eps: float = 1e-8) -> None:
        _check_positive("Adagrad", "eps", eps)
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.eps = eps

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """The sum of squares `v`."""
        state["v"] = mx.zeros_like(parameter)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """One step of one parameter."""
        rate = self.learning_rate.astype(gradient.dtype)
        v = state["v"] + mx.square(gradient)
        state["v"] = v
        return parameter - rate * gradient / (mx.sqrt(v) + nonzero(self.eps))


class RMSprop(Optimizer):
    """`v = α v + (1 - α) g²`, `w = w - λ g / (√v + ε)`.

    Tieleman, Hinton, "Neural Networks for Machine Learning", lecture 6.5, 2012.

    Args:
        learning_rate: `λ`, a number or a function of the step.
        alpha: `α`, at least 0. Default: 0.99.
        eps: `ε`, above 0. Default: 1e-8.
    """

    def __init__(
        self, learning_rate: float | mx.array | Schedule, alpha: float = 0.99, eps: float = 1e-8
    ) -> None:
        _check_not_negative("RMSprop", "alpha", alpha)
        _check_positive("RMSprop", "eps", eps)
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.alpha = alpha
        self.eps = eps

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """The running mean of squares `v`."""
        state["v"] = mx.zeros_like(parameter)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """One step of one parameter."""
        rate = self.learning_rate.astype(gradient.dtype)
        v = self.alpha * state["v"] + (1 - self.alpha) * mx.square(gradient)
        state["v"] = v
        return parameter - rate * gradient / (mx.sqrt(v) + nonzero(self.eps))


class AdaDelta(Optimizer):
    """`v = ρ v + (1 - ρ) g²`, `d = g √(u + ε) / √(v + ε)`, `u = ρ u + (1 - ρ) d²`, `w = w - λ d`.

    Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012.

    Args:
        learning_rate: `λ`, a number or a function of the step.
        rho: `ρ`, at least 0. Default: 0.9.
        eps: `ε`, above 0. Default: 1e-6.
    """

    def __init__(
        self, learning_rate: float | mx.array | Schedule, rho: float = 0.9, eps: float = 1e-6
    ) -> None:
        _check_not_negative("AdaDelta", "rho", rho)
        _check_positive("AdaDelta", "eps", eps)
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.rho = rho
        self.eps = eps

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """The running means of squares: `v` of gradients, `u` of steps."""
        state["v"] = mx.zeros_like(parameter)
        state["u"] = mx.zeros_like(parameter)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """One step of one parameter."""
        rate = self.learning_rate.astype(gradient.dtype)
        u = state["u"]
        v = self.rho * state["v"] + (1 - self.rho) * mx.square(gradient)
        eps = nonzero(self.eps)
        d = mx.sqrt(u + eps) / mx.sqrt(v + eps) * gradient
        state["v"] = v
        state["u"] = self.rho * u + (1 - self.rho) * mx.square(d)
        return parameter - rate * d


def _check_not_negative(op: str, name: str, value: float) -> None:
    if not value >= 0:
        raise ValueError(f"[{op}] got {name} {value}, expected at least 0")


def _check_positive(op: str, name: str, value: float) -> None:
    if not value > 0:
        raise ValueError(f"[{op}] got {name} {value}, expected a number above 0")
