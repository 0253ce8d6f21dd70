"""Steps by the sign of a momentum."""

from __future__ import annotations

from collections.abc import Sequence

import umber.core as mx
from umber.optimizers.base import Optimizer
from umber.optimizers.ranges import as_numbers, in_float32
from umber.optimizers.schedulers import Schedule


class Lion(Optimizer):
    """`c = β₁ m + (1 - β₁) g`, `m = β₂ m + (1 - β₂) g`, `w = w - λ (sign(c) + ω w)`.

    Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023. All steps have the same
    size, so the learning rate should be 3 to 10 times smaller than for Adam.

    Args:
        learning_rate: `λ`, a number or a function of the step.
        betas: `(β₁, β₂)`, each in `[0, 1)`. Default: `(0.9, 0.99)`.
        weight_decay: `ω`. Default: 0.
    """

    def __init__(
        self,
        learning_rate: float | mx.array | Schedule,
        betas: Sequence[float] = (0.9, 0.99),
        weight_decay: float = 0.0,
    ) -> None:
        if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"[Lion] got betas {betas}, expected two numbers in [0, 1)")
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.betas = as_numbers(betas)
        self.weight_decay = weight_decay

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """The momentum `m`."""
        state["m"] = mx.zeros_like(parameter)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """One step of one parameter."""
        rate = self.learning_rate.astype(gradient.dtype)
        b1, b2 = self.betas
        m = state["m"]
        c = b1 * m + (1 - b1) * gradient
        state["m"] = b2 * m + (1 - b2) * gradient
        if self.weight_decay > 0:
            parameter = (1 - rate * self.weight_decay) * parameter
        return parameter - rate * mx.sign(c)
