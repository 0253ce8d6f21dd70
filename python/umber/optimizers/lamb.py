"""LAMB: Adam with steps in proportion to the norms of the parameters."""

from __future__ import annotations

from collections.abc import Sequence

import umber.core as mx
from umber import _layout
from umber.optimizers.adam import Adam
from umber.optimizers.overflow import in_float32, nonzero
from umber.optimizers.schedulers import Schedule


class LAMB(Adam):
    """LAMB: Adam with steps in proportion to the norm of each parameter, for large batches.

    Parameters
    ----------
    learning_rate : float, array or callable
        Step size `lr`: a number, or a schedule, a function of the step that returns one.
    betas : (float, float), optional
        Decay rates ``(b1, b2)`` of the moments, each in ``[0, 1)``. Default: ``(0.9, 0.999)``.
    eps : float, optional
        Added to the denominator, at least 0. Default: 1e-6.
    weight_decay : float, optional
        Weight decay `wd`. Default: 0.01.

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
    AdamW, Adafactor

    Notes
    -----
    With the gradient `g` of the parameter `w`, step `t` [1]_ computes

    - ``m = b1 * m + (1 - b1) * g``
    - ``v = b2 * v + (1 - b2) * g**2``
    - ``u = m / (1 - b1**t) / (sqrt(v / (1 - b2**t)) + eps) + wd * w``
    - ``w = w - lr * norm(w) / norm(u) * u``

    Norms are those of whole parameters. The quotient is 1 where one of them is 0.

    References
    ----------
    .. [1] You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes",
       2020.

    Examples
    --------
    >>> optimizer = optim.LAMB(learning_rate=0.25, weight_decay=0.0)
    >>> new = optimizer.apply_gradients({"w": mx.array([2.0, 2.0])}, {"w": mx.array([3.0, 4.0])})
    >>> mx.linalg.norm(new["w"] - mx.array([3.0, 4.0]))
    array(1.25, dtype=float32)
    """

    def __init__(
        self,
        learning_rate: float | mx.array | Schedule,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-6,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(learning_rate, betas, eps, bias_correction=True)
        self.weight_decay = weight_decay

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """New value of one parameter; updates its moments."""
        b1, b2 = self.betas
        m, v = self._update_moments(gradient, state)
        step = self.step.astype(mx.float64)
        root = mx.sqrt(v / (1 - b2**step).astype(v.dtype))
        update = m / (1 - b1**step).astype(v.dtype) / (root + nonzero(self.eps))
        if self.weight_decay != 0:
            update = update + self.weight_decay * parameter
        lengths = mx.sqrt(mx.square(parameter).sum()), mx.sqrt(mx.square(update).sum())
        is_defined = (lengths[0] > 0) & (lengths[1] > 0)
        ratio = mx.where(is_defined, lengths[0] / lengths[1], 1)
        return parameter - self.learning_rate.astype(update.dtype) * ratio * update


_layout.complete(globals())
