"""Adafactor: second moments factored into rows and columns."""

from __future__ import annotations

from collections.abc import Sequence

import umber.core as mx
from umber import _layout
from umber.optimizers.base import Optimizer
from umber.optimizers.overflow import as_numbers, in_float32
from umber.optimizers.schedulers import Schedule


class Adafactor(Optimizer):
    """Adafactor: Adam with factored second moments and relative step sizes.

    Parameters
    ----------
    learning_rate : float, array or callable, optional
        Step size `lr`: a number, or a schedule, a function of the step that returns one. Default:
        none, which needs `relative_step`.
    eps : (float, float), optional
        ``(eps1, eps2)``: added to squares of gradients, and the minimum of the scale of a
        parameter. Default: ``(1e-30, 1e-3)``.
    clip_threshold : float, optional
        Maximum `d` of the root mean square of an update. Default: 1.0.
    decay_rate : float, optional
        Exponent of the decay of second moments. Default: -0.8.
    beta_1 : float, optional
        Decay rate of a momentum of the updates. Default: none, no momentum.
    weight_decay : float, optional
        Weight decay `wd`. Default: 0.
    scale_parameter : bool, optional
        Whether to scale steps by the root mean square of the parameter. Default: True.
    relative_step : bool, optional
        Whether `lr` is ``min(0.01, 1 / sqrt(t))`` in step `t`, whatever `learning_rate` is.
        Default: True.
    warmup_init : bool, optional
        With `relative_step`, whether `lr` is ``min(1e-6 * t, 1 / sqrt(t))`` instead. Default:
        False.

    Attributes
    ----------
    state : dict
        ``"step"``, ``"learning_rate"`` if it was given and, at the place of each parameter, a dict:
        ``"exp_avg_sq_row"`` and ``"exp_avg_sq_col"`` for parameters with two axes or more, else
        ``"exp_avg_sq"``; with `beta_1` also ``"exp_avg"``.

    Raises
    ------
    ValueError
        If there is neither a `learning_rate` nor `relative_step`.
    TypeError
        If `eps` is not two numbers.

    See Also
    --------
    Adam

    Notes
    -----
    With the gradient `g` of the parameter `w`, step `t` [1]_ computes

    - ``v = b * v + (1 - b) * (g**2 + eps1)`` with ``b = 1 - t**decay_rate``
    - ``u = g / sqrt(v)``
    - ``u = u / max(1, rms(u) / d)``
    - ``w = w - lr * max(eps2, rms(w)) * u``

    Of a parameter with two axes or more, only the means of `v` along the last two axes are kept,
    `r` and `c`, and ``v = r * c / mean(r)``.

    References
    ----------
    .. [1] Shazeer, Stern, "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost", 2018.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> optimizer = optim.Adafactor()
    >>> optimizer.update(model, {"weight": mx.ones((1, 2))})
    >>> sorted(optimizer.state["weight"])
    ['exp_avg_sq_col', 'exp_avg_sq_row']
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
        """Set the means of squares to zero, whole or factored, and the momentum if there is one."""
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
        """New value of one parameter; updates its state."""
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
        """The step size for one parameter."""
        if self.relative_step:
            maximum = 1e-6 * step if self.warmup_init else 1e-2
            rate = mx.minimum(maximum, mx.rsqrt(step))
        else:
            rate = self.learning_rate
        return rate * mx.maximum(self.eps[1], _rms(parameter)) if self.scale_parameter else rate


def _inverse_root(squares: mx.array, beta: mx.array, state: dict[str, mx.array]) -> mx.array:
    """Update the running means of squares and return `1 / sqrt(v)`."""
    if "exp_avg_sq" in state:
        v = beta * state["exp_avg_sq"] + (1 - beta) * squares
        state["exp_avg_sq"] = v
        return mx.rsqrt(v)
    row = beta * state["exp_avg_sq_row"] + (1 - beta) * squares.mean(axis=-1)
    column = beta * state["exp_avg_sq_col"] + (1 - beta) * squares.mean(axis=-2)
    state["exp_avg_sq_row"], state["exp_avg_sq_col"] = row, column
    # Two roots, because the product of two small means may underflow to 0.
    relative = mx.rsqrt(row / row.mean(axis=-1, keepdims=True))
    return mx.expand_dims(relative, -1) * mx.expand_dims(mx.rsqrt(column), -2)


def _rms(x: mx.array) -> mx.array:
    """Root mean square of all elements."""
    return mx.sqrt(mx.square(x).mean())


_layout.complete(globals())
