"""Squares of gradients kept as rows and columns: `Adafactor`."""

from __future__ import annotations

from collections.abc import Sequence

import umber.core as mx
from umber.optimizers.base import Optimizer
from umber.optimizers.ranges import as_numbers, in_float32
from umber.optimizers.schedulers import Schedule


class Adafactor(Optimizer):
    """`u = g / √v`, `u = u / max(1, RMS(u) / d)`, `w = w - λ max(ε₂, RMS(w)) u`.

    Shazeer, Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost", 2018. In step
    `t`, `v = β v + (1 - β) (g² + ε₁)` with `β = 1 - t^decay_rate`. Of parameters with two axes or
    more only the means of `v` along the last two are kept, `r` and `c`, and `v = r c / mean(r)`.

    Args:
        learning_rate: `λ`, a number or a function of the step. Default: none, which needs
            `relative_step`.
        eps: `(ε₁, ε₂)`. Default: `(1e-30, 1e-3)`.
        clip_threshold: `d`, the greatest root mean square of `u`. Default: 1.0.
        decay_rate: how fast old gradients are forgotten. Default: -0.8.
        beta_1: what a momentum of `u` keeps of itself. Default: none.
        weight_decay: times `λ` and `w`, is taken from `w`. Default: 0.
        scale_parameter: whether `RMS(w)` scales the steps. Default: `True`.
        relative_step: whether `λ = min(0.01, 1/√t)` whatever `learning_rate` says. Default: `True`.
        warmup_init: whether `λ` grows from 1e-6 by 1e-6 with each step up to `1/√t` instead.
            Default: `False`.
    """

    def __init__(
        self,
        learning_rate: float | mx.array | Schedule | None = None,
        eps: Sequence[float] = (1e-30, 1e-3),
        clip_threshold: float = 1.0,
        decay_rate: float = -0.8,
        beta_1: float | None = None,
        weight_decay: float = 0.0,
        scale_parameter: bool = True,
        relative_step: bool = True,
        warmup_init: bool = False,
    ) -> None:
        if learning_rate is None and not relative_step:
            raise ValueError("[Adafactor] needs a learning_rate or relative_step=True")
        if isinstance(eps, str) or not hasattr(eps, "__len__") or len(eps) != 2:
            raise TypeError(f"[Adafactor] eps: got {eps!r}, expected two numbers")
        super().__init__()
        if learning_rate is not None:
            self._maybe_schedule("learning_rate", learning_rate)
        self.eps = as_numbers(eps)
        self.clip_threshold = clip_threshold
        self.decay_rate = decay_rate
        self.beta_1 = beta_1
        self.weight_decay = weight_decay
        self.scale_parameter = scale_parameter
        self.relative_step = relative_step
        self.warmup_init = warmup_init

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """The means of squares, whole or as rows and columns, and the momentum if there is one."""
        shape, dtype = parameter.shape, parameter.dtype
        if parameter.ndim >= 2:
            state["exp_avg_sq_row"] = mx.zeros(shape[:-1], dtype=dtype)
            state["exp_avg_sq_col"] = mx.zeros((*shape[:-2], shape[-1]), dtype=dtype)
        else:
            state["exp_avg_sq"] = mx.zeros_like(parameter)
        if self.beta_1 is not None:
            state["exp_avg"] = mx.zeros_like(parameter)

    def _state_dtype(self, gradient: mx.array, parameter: mx.array) -> mx.Dtype:
        return mx.result_type(gradient, parameter)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """One step of one parameter."""
        step = self.step.astype(mx.float32)
        rate = self._rate(step, parameter).astype(parameter.dtype)
        beta = (1 - step**self.decay_rate).astype(parameter.dtype)
        update = gradient * _inverse_root(mx.square(gradient) + self.eps[0], beta, state)
        update = update * (rate / mx.maximum(1, _rms(update) / self.clip_threshold))
        if self.beta_1 is not None:
            update = self.beta_1 * state["exp_avg"] + (1 - self.beta_1) * update
            state["exp_avg"] = update
        if self.weight_decay != 0:
            parameter = parameter * (1 - self.weight_decay * rate)
        return parameter - update

    def _rate(self, step: mx.array, parameter: mx.array) -> mx.array:
        """The size of the step."""
        if self.relative_step:
            most = 1e-6 * step if self.warmup_init else 1e-2
            rate = mx.minimum(most, mx.rsqrt(step))
        else:
            rate = self.learning_rate
        return rate * mx.maximum(self.eps[1], _rms(parameter)) if self.scale_parameter else rate


def _inverse_root(squares: mx.array, beta: mx.array, state: dict[str, mx.array]) -> mx.array:
    """Put the squares into the running means and give `1 / √v`."""
    if "exp_avg_sq" in state:
        v = beta * state["exp_avg_sq"] + (1 - beta) * squares
        state["exp_avg_sq"] = v
        return mx.rsqrt(v)
    row = beta * state["exp_avg_sq_row"] + (1 - beta) * squares.mean(axis=-1)
    column = beta * state["exp_avg_sq_col"] + (1 - beta) * squares.mean(axis=-2)
    state["exp_avg_sq_row"], state["exp_avg_sq_col"] = row, column
    # Two roots, because the product of two small means may be 0.
    relative = mx.rsqrt(row / row.mean(axis=-1, keepdims=True))
    return mx.expand_dims(relative, -1) * mx.expand_dims(mx.rsqrt(column), -2)


def _rms(x: mx.array) -> mx.array:
    """The root mean square of all elements."""
    return mx.sqrt(mx.square(x).mean())
