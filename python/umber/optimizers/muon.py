"""Momentum made orthogonal: `Muon`."""

from __future__ import annotations

import umber.core as mx
from umber.optimizers.base import Optimizer
from umber.optimizers.ranges import in_float32
from umber.optimizers.schedulers import Schedule


class Muon(Optimizer):
    """`v = μ v + (1 - μ) g`, `w = w - λ √max(1, rows / columns) orthogonal(v)`.

    Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024. With weight
    decay `ω`, `g + ω w` takes the place of `g`; with Nesterov's momentum `μ v + (1 - μ) g` that of
    `v` in the step. Parameters with more than two axes are seen as matrices, all axes but the first
    as one; those with fewer step along `v` as it is, and are better left to another optimizer.

    Args:
        learning_rate: `λ`, a number or a function of the step.
        momentum: `μ`. Default: 0.95.
        weight_decay: `ω`. Default: 0.01.
        nesterov: Default: `True`.
        ns_steps: how often the iteration of Newton and Schulz is repeated. Default: 5.
    """

    def __init__(
        self,
        learning_rate: float | mx.array | Schedule,
        momentum: float = 0.95,
        weight_decay: float = 0.01,
        nesterov: bool = True,
        ns_steps: int = 5,
    ) -> None:
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.momentum = momentum
        self.weight_decay = weight_decay
        self.nesterov = nesterov
        self.ns_steps = ns_steps

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
        v = self.momentum * state["v"] + (1 - self.momentum) * gradient
        state["v"] = v
        update = self.momentum * v + (1 - self.momentum) * gradient if self.nesterov else v
        rate = self.learning_rate.astype(gradient.dtype)
        if update.ndim >= 2 and update.size > 0:
            matrix = update.reshape(update.shape[0], -1)
            rate = rate * max(1, update.shape[-2] / update.shape[-1]) ** 0.5
            update = _orthogonal(matrix, self.ns_steps).reshape(update.shape)
        return parameter - rate * update


def _orthogonal(x: mx.array, steps: int) -> mx.array:
    """The matrix with its singular values, all but the smallest, moved to about 1.

    Each step applies the polynomial `a s + b s³ + c s⁵`, which grows fast near 0, to them.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    is_tall = x.shape[0] > x.shape[1]
    x = x.T if is_tall else x
    x = x / (mx.sqrt(mx.square(x).sum()) + 1e-7)
    for _ in range(steps):
        squares = x @ x.T
        x = a * x + (b * squares + c * squares @ squares) @ x
    return x.T if is_tall else x
