"""RAdam: Adam with a rectified step size."""

from __future__ import annotations

from collections.abc import Sequence

import umber.core as mx
from umber import _layout
from umber.optimizers.adam import Adam
from umber.optimizers.overflow import in_float32, nonzero
from umber.optimizers.schedulers import Schedule
from umber.optimizers.weight_decay import decayed, decayed_dtype


class RAdam(Adam):
    """RAdam: Adam whose first steps are shorter, by the variance of the second moment.

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
    decoupled_weight_decay : bool, optional
        Whether weight decay is that of `AdamW`, ``w = w - lr * wd * w`` before the step. Otherwise
        it replaces `g` by ``g + wd * w``. Default: False.

    Attributes
    ----------
    state : dict
        ``"step"``, ``"learning_rate"`` and, at the place of each parameter, ``{"m": ..., "v":
        ...}``.

    Raises
    ------
    ValueError
        If `betas` are not two numbers in ``[0, 1)`` or `eps` is negative.

    See Also
    --------
    Adam, NAdam

    Notes
    -----
    With the gradient `g` of the parameter `w`, step `t` [1]_ computes

    - ``m = b1 * m + (1 - b1) * g``
    - ``v = b2 * v + (1 - b2) * g**2``
    - ``rho = rho_inf - 2 * t * b2**t / (1 - b2**t)`` with ``rho_inf = 2 / (1 - b2) - 1``
    - ``w = w - lr * r * m / (1 - b1**t) * sqrt(1 - b2**t) / (sqrt(v) + eps)`` if ``rho > 5``, with
      ``r = sqrt((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho))``
    - ``w = w - lr * m / (1 - b1**t)`` otherwise

    With the default `betas`, the first five steps are of the second kind. A warmup of the learning
    rate is not needed.

    References
    ----------
    .. [1] Liu et al., "On the Variance of the Adaptive Learning Rate and Beyond", 2020.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> optimizer = optim.RAdam(learning_rate=1e-3)
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
        decoupled_weight_decay: bool = False,
    ) -> None:
        super().__init__(learning_rate, betas, eps, bias_correction=True)
        self.weight_decay = weight_decay
        self.decoupled_weight_decay = decoupled_weight_decay

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
        # In float64, because both terms of rho are about 2000 where their difference is about 5.
        step = self.step.astype(mx.float64)
        remainder = 1 - b2**step
        rho_inf = 2 / (1 - b2) - 1
        rho = rho_inf - 2 * step * (1 - remainder) / remainder
        is_rectified = rho > 5
        # A number above 4 where the factor is not used, since the derivative of 0 is infinite.
        rho = mx.maximum(rho, 5)
        ratio = (rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho)
        factor = mx.sqrt(ratio * remainder).astype(v.dtype)
        scale = mx.where(is_rectified, factor / (mx.sqrt(v) + nonzero(self.eps)), 1)
        rate = self.learning_rate / (1 - b1**step)
        return parameter - rate.astype(v.dtype) * m * scale


_layout.complete(globals())
