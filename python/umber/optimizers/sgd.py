"""Stochastic gradient descent."""

from __future__ import annotations

import umber.core as mx
from umber import _layout
from umber.optimizers.base import Optimizer
from umber.optimizers.overflow import in_float32
from umber.optimizers.schedulers import Schedule


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum.

    Parameters
    ----------
    learning_rate : float, array or callable
        Step size `lr`: a number, or a schedule, a function of the step that returns one.
    momentum : float, optional
        Momentum `mu`. Default: 0.
    weight_decay : float, optional
        Weight decay `wd`. Default: 0.
    dampening : float, optional
        Dampening `tau` of the gradient in the momentum. Default: 0.
    nesterov : bool, optional
        Whether to use Nesterov's momentum, which needs `momentum` and no `dampening`. Default:
        False.

    Attributes
    ----------
    state : dict
        ``"step"``, ``"learning_rate"`` and, at the place of each parameter, ``{"v": ...}``.

    Raises
    ------
    ValueError
        If `nesterov` is true without momentum or with dampening.

    See Also
    --------
    Adam, Muon

    Notes
    -----
    With the gradient `g` of the parameter `w`, one step computes

    - ``v = mu * v + (1 - tau) * g``
    - ``w = w - lr * v``

    and without momentum ``w = w - lr * g``. Weight decay replaces `g` by ``g + wd * w``. Nesterov's
    momentum [1]_ replaces `v` in the second line by ``g + mu * v``.

    References
    ----------
    .. [1] Sutskever et al., "On the importance of initialization and momentum in deep learning",
       2013.

    Examples
    --------
    >>> optimizer = optim.SGD(learning_rate=0.1)
    >>> optimizer.apply_gradients({"w": mx.array([2.0])}, {"w": mx.array([1.0])})
    {'w': array([0.8], dtype=float32)}
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
        """Set the momentum `v` to zero."""
        state["v"] = mx.zeros_like(parameter)

    def _state_dtype(self, gradient: mx.array, parameter: mx.array) -> mx.Dtype:
        return mx.result_type(gradient, parameter) if self.weight_decay != 0 else gradient.dtype

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """New value of one parameter; updates its momentum."""
        if self.weight_decay != 0:
            gradient = gradient + self.weight_decay * parameter
        rate = self.learning_rate.astype(gradient.dtype)
        if self.momentum <= 0:
            return parameter - rate * gradient
        v = self.momentum * state["v"] + (1 - self.dampening) * gradient
        state["v"] = v
        return parameter - rate * (gradient + self.momentum * v if self.nesterov else v)


_layout.complete(globals())
