"""Learning rates adapted to the squares of past gradients: `Adagrad`, `RMSprop`, `AdaDelta`."""

from __future__ import annotations

import umber.core as mx
from umber import _layout
from umber.optimizers.base import Optimizer
from umber.optimizers.overflow import in_float32, nonzero
from umber.optimizers.schedulers import Schedule


class Adagrad(Optimizer):
    """Adagrad: steps scaled by the sum of the squares of all gradients so far.

    Parameters
    ----------
    learning_rate : float, array or callable
        Step size `lr`: a number, or a schedule, a function of the step that returns one.
    eps : float, optional
        Added to the denominator, above 0. Default: 1e-8.

    Attributes
    ----------
    state : dict
        ``"step"``, ``"learning_rate"`` and, at the place of each parameter, ``{"v": ...}``.

    Raises
    ------
    ValueError
        If `eps` is not positive.

    See Also
    --------
    RMSprop, AdaDelta

    Notes
    -----
    With the gradient `g` of the parameter `w`, one step [1]_ computes

    - ``v = v + g**2``
    - ``w = w - lr * g / (sqrt(v) + eps)``

    References
    ----------
    .. [1] Duchi, Hazan, Singer, "Adaptive Subgradient Methods for Online Learning", 2011.

    Examples
    --------
    >>> optimizer = optim.Adagrad(learning_rate=0.5)
    >>> optimizer.apply_gradients({"w": mx.array([2.0])}, {"w": mx.array([1.0])})
    {'w': array([0.5], dtype=float32)}
    """

    def __init__(self, learning_rate: float | mx.array | Schedule, eps: float = 1e-8) -> None:
        _check_positive("Adagrad", "eps", eps)
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.eps = eps

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """Set the sum of squares `v` to zero."""
        state["v"] = mx.zeros_like(parameter)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """New value of one parameter; updates its state."""
        rate = self.learning_rate.astype(gradient.dtype)
        v = state["v"] + mx.square(gradient)
        state["v"] = v
        return parameter - rate * gradient / (mx.sqrt(v) + nonzero(self.eps))


class RMSprop(Optimizer):
    """RMSprop: steps scaled by a running mean of the squares of gradients.

    Parameters
    ----------
    learning_rate : float, array or callable
        Step size `lr`: a number, or a schedule, a function of the step that returns one.
    alpha : float, optional
        Decay rate of the running mean, at least 0. Default: 0.99.
    eps : float, optional
        Added to the denominator, above 0. Default: 1e-8.

    Attributes
    ----------
    state : dict
        ``"step"``, ``"learning_rate"`` and, at the place of each parameter, ``{"v": ...}``.

    Raises
    ------
    ValueError
        If `alpha` is negative or `eps` is not positive.

    See Also
    --------
    Adagrad, Adam

    Notes
    -----
    With the gradient `g` of the parameter `w`, one step [1]_ computes

    - ``v = alpha * v + (1 - alpha) * g**2``
    - ``w = w - lr * g / (sqrt(v) + eps)``

    References
    ----------
    .. [1] Tieleman, Hinton, "Neural Networks for Machine Learning", lecture 6.5, 2012.

    Examples
    --------
    >>> optimizer = optim.RMSprop(learning_rate=0.1, alpha=0.75)
    >>> optimizer.apply_gradients({"w": mx.array([2.0])}, {"w": mx.array([1.0])})
    {'w': array([0.8], dtype=float32)}
    """

    def __init__(
        self, learning_rate: float | mx.array | Schedule, alpha: float = 0.99, eps: float = 1e-8
    ) -> None:
        _check_not_negative("RMSprop", "alpha", alpha)
        _check_positive("RMSprop", "eps", eps)
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.alpha = alpha
        self.eps = eps

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """Set the running mean of squares `v` to zero."""
        state["v"] = mx.zeros_like(parameter)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """New value of one parameter; updates its state."""
        rate = self.learning_rate.astype(gradient.dtype)
        v = self.alpha * state["v"] + (1 - self.alpha) * mx.square(gradient)
        state["v"] = v
        return parameter - rate * gradient / (mx.sqrt(v) + nonzero(self.eps))


class AdaDelta(Optimizer):
    """AdaDelta: steps scaled by running means of squares of steps and of gradients.

    Parameters
    ----------
    learning_rate : float, array or callable
        Step size `lr`: a number, or a schedule, a function of the step that returns one.
    rho : float, optional
        Decay rate of the running means, at least 0. Default: 0.9.
    eps : float, optional
        Added to both running means, above 0. Default: 1e-6.

    Attributes
    ----------
    state : dict
        ``"step"``, ``"learning_rate"`` and, at the place of each parameter, ``{"v": ..., "u":
        ...}``.

    Raises
    ------
    ValueError
        If `rho` is negative or `eps` is not positive.

    See Also
    --------
    Adagrad, RMSprop

    Notes
    -----
    With the gradient `g` of the parameter `w`, one step [1]_ computes

    - ``v = rho * v + (1 - rho) * g**2``
    - ``d = g * sqrt(u + eps) / sqrt(v + eps)``
    - ``u = rho * u + (1 - rho) * d**2``
    - ``w = w - lr * d``

    References
    ----------
    .. [1] Zeiler, "ADADELTA: An Adaptive Learning Rate Method", 2012.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> optimizer = optim.AdaDelta(learning_rate=1.0)
    >>> gradients = {"weight": mx.ones((1, 2)), "bias": mx.ones((1,))}
    >>> optimizer.update(model, gradients)
    >>> optimizer.step.item()
    1
    """

    def __init__(
        self, learning_rate: float | mx.array | Schedule, rho: float = 0.9, eps: float = 1e-6
    ) -> None:
        _check_not_negative("AdaDelta", "rho", rho)
        _check_positive("AdaDelta", "eps", eps)
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.rho = rho
        self.eps = eps

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """Set the running means of squares to zero: `v` of gradients, `u` of steps."""
        state["v"] = mx.zeros_like(parameter)
        state["u"] = mx.zeros_like(parameter)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """New value of one parameter; updates its state."""
        rate = self.learning_rate.astype(gradient.dtype)
        u = state["u"]
        v = self.rho * state["v"] + (1 - self.rho) * mx.square(gradient)
        eps = nonzero(self.eps)
        d = mx.sqrt(u + eps) / mx.sqrt(v + eps) * gradient
        state["v"] = v
        state["u"] = self.rho * u + (1 - self.rho) * mx.square(d)
        return parameter - rate * d


def _check_not_negative(op: str, name: str, value: float) -> None:
    if not value >= 0:
        raise ValueError(f"[{op}] got {name} {value}, expected at least 0")


def _check_positive(op: str, name: str, value: float) -> None:
    if not value > 0:
        raise ValueError(f"[{op}] got {name} {value}, expected a number above 0")


_layout.complete(globals())
