"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from collections.abc import Sequence

import umber.core as mx
from umber import _layout
from umber.optimizers.adam import Adam
from umber.optimizers.overflow import in_float32, nonzero
from umber.optimizers.schedulers import Schedule
from umber.optimizers.weight_decay import decayed, decayed_dtype


class NAdam(Adam):
    """NAdam: Adam with Nesterov's momentum, which looks one step ahead.

    Parameters
    ----------
    learning_rate : float, array or callable
        Step size `lr`: a number, or a schedule, a function of the step that returns one.
    betas : (float, float), optional
        Decay rates ``(b1, b2)`` of the moments, each in ``[0, 1)``. Default: ``(0.9, 0.999)``.
    eps : float, optional
        Added to the denominator, at least 0. Default: 1e-8.
    weight_decay : float, optional
        Weight decay `wd`. Default: 0.
    momentum_decay : float, optional
        Decay `p` of the momentum, at least 0. Default: 4e-3.
    decoupled_weight_decay : bool, optional
        Whether weight decay is that of `AdamW`, ``w = w - lr * wd * w`` before the step. Otherwise
        it replaces `g` by ``g + wd * w``. Default: False.

    Attributes
    ----------
    state : dict
        ``"step"``, ``"learning_rate"`` and, at the place of each parameter, ``{"m": ..., "v": ...,
        "mu_product": ...}``.

    Raises
    ------
    ValueError
        If `betas` are not two numbers in ``[0, 1)``, or `eps` or `momentum_decay` is negative.

    See Also
    --------
    Adam, RAdam

    Notes
    -----
    With the gradient `g` of the parameter `w`, step `t` [1]_ computes, as PyTorch does,

    - ``m = b1 * m + (1 - b1) * g``
    - ``v = b2 * v + (1 - b2) * g**2``
    - ``mu[t] = b1 * (1 - 0.96**(t * p) / 2)``, with the product ``c[t] = mu[1] * ... * mu[t]``
    - ``n = mu[t+1] * m / (1 - c[t+1]) + (1 - mu[t]) * g / (1 - c[t])``
    - ``w = w - lr * n / (sqrt(v / (1 - b2**t)) + eps)``

    References
    ----------
    .. [1] Dozat, "Incorporating Nesterov Momentum into Adam", 2016.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> optimizer = optim.NAdam(learning_rate=2e-3)
    >>> gradients = {"weight": mx.ones((1, 2)), "bias": mx.ones((1,))}
    >>> optimizer.update(model, gradients)
    >>> optimizer.step.item()
    1
    """

    def __init__(
        self,
        learning_rate: float | mx.array | Schedule,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if not momentum_decay >= 0:
            raise ValueError(
                f"[{type(self).__name__}] got momentum_decay {momentum_decay}, expected at least 0"
            )
        super().__init__(learning_rate, betas, eps, bias_correction=True)
        self.weight_decay = weight_decay
        self.momentum_decay = momentum_decay
        self.decoupled_weight_decay = decoupled_weight_decay

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """Set the moments `m` and `v` to zero and the product of the `mu` to one."""
        super().init_single(parameter, state)
        state["mu_product"] = mx.ones((), dtype=parameter.dtype)

    def _state_dtype(self, gradient: mx.array, parameter: mx.array) -> mx.Dtype:
        return decayed_dtype(self, gradient, parameter)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """New value of one parameter; updates its moments."""
        gradient, parameter = decayed(self, gradient, parameter)
        b1, b2 = self.betas
        m, v = self._update_moments(gradient, state)
        step = self.step.astype(mx.float64)
        mu, next_mu = (
            (b1 * (1 - 0.5 * 0.96 ** (t * self.momentum_decay))).astype(v.dtype)
            for t in (step, step + 1)
        )
        product = state["mu_product"] * mu
        state["mu_product"] = product
        ahead = next_mu / (1 - product * next_mu) * m + (1 - mu) / (1 - product) * gradient
        root = mx.sqrt(v / (1 - b2**step).astype(v.dtype))
        return parameter - self.learning_rate.astype(v.dtype) * ahead / (root + nonzero(self.eps))


_layout.complete(globals())
