"""Adam and its kin: `Adam`, `AdamW`, `Adamax`."""

from __future__ import annotations

from collections.abc import Sequence

import umber.core as mx
from umber.optimizers.base import Optimizer
from umber.optimizers.ranges import as_numbers, in_float32, nonzero
from umber.optimizers.schedulers import Schedule


class Adam(Optimizer):
    """`m = β₁ m + (1 - β₁) g`, `v = β₂ v + (1 - β₂) g²`, `w = w - λ m / (√v + ε)`.

    Kingma, Ba, "Adam: A Method for Stochastic Optimization", 2015. Bias correction divides, in step
    `t`, `m` by `1 - β₁ᵗ` and `v` by `1 - β₂ᵗ`.

    Args:
        learning_rate: `λ`, a number or a function of the step.
        betas: `(β₁, β₂)`, each in `[0, 1)`. Default: `(0.9, 0.999)`.
        eps: `ε`, at least 0. Default: 1e-8.
        bias_correction: Default: `False`.
    """

    def __init__(
        self,
        learning_rate: float | mx.array | Schedule,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
        bias_correction: bool = False,
    ) -> None:
        name = type(self).__name__
        if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"[{name}] got betas {betas}, expected two numbers in [0, 1)")
        if not eps >= 0:
            raise ValueError(f"[{name}] got eps {eps}, expected at least 0")
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.betas = as_numbers(betas)
        self.eps = eps
        self.bias_correction = bias_correction

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """The moments `m` and `v`."""
        state["m"] = mx.zeros_like(parameter)
        state["v"] = mx.zeros_like(parameter)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """One step of one parameter."""
        b1, b2 = self.betas
        m = b1 * state["m"] + (1 - b1) * gradient
        v = b2 * state["v"] + (1 - b2) * mx.square(gradient)
        state["m"], state["v"] = m, v
        rate = self.learning_rate
        root = mx.sqrt(v)
        if self.bias_correction:
            rate = rate / (1 - b1**self.step)
            root = root * mx.rsqrt(1 - b2**self.step).astype(v.dtype)
        return parameter - rate.astype(gradient.dtype) * m / (root + nonzero(self.eps))


class AdamW(Adam):
    """`Adam` after `w = w - λ ω w`.

    Loshchilov, Hutter, "Decoupled Weight Decay Regularization", 2019.

    Args:
        learning_rate: `λ`, a number or a function of the step.
        betas: as for `Adam`. Default: `(0.9, 0.999)`.
        eps: as for `Adam`. Default: 1e-8.
        weight_decay: `ω`. Default: 0.01.
        bias_correction: as for `Adam`. Default: `False`.
    """

    def __init__(
        self,
        learning_rate: float | mx.array | Schedule,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        bias_correction: bool = False,
    ) -> None:
        super().__init__(learning_rate, betas, eps, bias_correction)
        self.weight_decay = weight_decay

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """One step of one parameter."""
        rate = self.learning_rate.astype(gradient.dtype)
        decayed = parameter * (1 - rate * self.weight_decay)
        return super().apply_single(gradient, decayed, state)


class Adamax(Adam):
    """`m = β₁ m + (1 - β₁) g`, `v = max(β₂ v, |g|)`, `w = w - λ m / (v + ε)`.

    Kingma, Ba, "Adam: A Method for Stochastic Optimization", 2015, section 7.1.

    Args:
        learning_rate: `λ`, a number or a function of the step.
        betas: `(β₁, β₂)`, each in `[0, 1)`. Default: `(0.9, 0.999)`.
        eps: `ε`, at least 0. Default: 1e-8.
    """

    def __init__(
        self,
        learning_rate: float | mx.array | Schedule,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(learning_rate, betas, eps)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """One step of one parameter."""
        b1, b2 = self.betas
        m = b1 * state["m"] + (1 - b1) * gradient
        v = mx.maximum(b2 * state["v"], mx.abs(gradient))
        state["m"], state["v"] = m, v
        rate = self.learning_rate.astype(gradient.dtype)
        return parameter - rate * m / (v + nonzero(self.eps))
