"""Stochastic gradient descent."""

from __future__ import annotations

import umber.core as mx
from umber.optimizers.base import Optimizer
from umber.optimizers.ranges import in_float32
from umber.optimizers.schedulers import Schedule


class SGD(Optimizer):
    """`v = μ v + (1 - τ) g`, `w = w - λ v`.

    With weight decay `ω`, `g + ω w` takes the place of `g`; with Nesterov's momentum `g + μ v` that
    of `v` in the step (Sutskever et al., "On the importance of initialization and momentum in deep
    learning", 2013). Without momentum it is `w = w - λ g`.

    Args:
        learning_rate: `λ`, a number or a function of the step.
        momentum: `μ`. Default: 0.
        weight_decay: `ω`. Default: 0.
        dampening: `τ`. Default: 0.
        nesterov: needs momentum and no dampening. Default: `False`.
    """

    def __init__(
        self,
        learning_rate: float | mx.array | Schedule,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        dampening: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                "[SGD] nesterov requires momentum above 0 and dampening 0, got momentum "
                f"{momentum} and dampening {dampening}"
            )
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.dampening = dampening
        self.nesterov = nesterov

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """The momentum `v`."""
        state["v"] = mx.zeros_like(parameter)

    def _state_dtype(self, gradient: mx.array, parameter: mx.array) -> mx.Dtype:
        return mx.result_type(gradient, parameter) if self.weight_decay != 0 else gradient.dtype

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """One step of one parameter."""
        if self.weight_decay != 0:
            gradient = gradient + self.weight_decay * parameter
        rate = self.learning_rate.astype(gradient.dtype)
        if self.momentum <= 0:
            return parameter - rate * gradient
        v = self.momentum * state["v"] + (1 - self.dampening) * gradient
        state["v"] = v
        return parameter - rate * (gradient + self.momentum * v if self.nesterov else v)
