"""Adam and its variants: `Adam`, `AdamW`, `Adamax`."""

from __future__ import annotations

from collections.abc import Sequence

import umber.core as mx
from umber import _layout
from umber.optimizers.base import Optimizer
from umber.optimizers.overflow import as_numbers, in_float32, nonzero
from umber.optimizers.schedulers import Schedule


class Adam(Optimizer):
    """Adam: steps scaled by running means of gradients and of their squares.

    Parameters
    ----------
    learning_rate : float, array or callable
        Step size `lr`: a number, or a schedule, a function of the step that returns one.
    betas : (float, float), optional
        Decay rates ``(b1, b2)`` of the moments, each in ``[0, 1)``. Default: ``(0.9, 0.999)``.
    eps : float, optional
        Added to the denominator, at least 0. Default: 1e-8.
    bias_correction : bool, optional
        Whether to correct the moments for their start at zero. Default: False.

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
    AdamW, Adamax

    Notes
    -----
    With the gradient `g` of the parameter `w`, one step computes

    - ``m = b1 * m + (1 - b1) * g``
    - ``v = b2 * v + (1 - b2) * g**2``
    - ``w = w - lr * m / (sqrt(v) + eps)``

    [1]_. Bias correction divides `m` by ``1 - b1**t`` and `v` by ``1 - b2**t`` in step `t`.
    Parameters of float16 and bfloat16 are updated in float32.

    References
    ----------
    .. [1] Kingma, Ba, "Adam: A Method for Stochastic Optimization", 2015.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> optimizer = optim.Adam(learning_rate=1e-3)
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
        bias_correction: bool = False,
    ) -> None:
        name = type(self).__name__
        if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"[{name}] got betas {betas}, expected two numbers in [0, 1)")
        if not eps >= 0:
            raise ValueError(f"[{name}] got eps {eps}, expected at least 0")
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.betas = as_numbers(betas)
        self.eps = eps
        self.bias_correction = bias_correction

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """Set the moments `m` and `v` to zero."""
        state["m"] = mx.zeros_like(parameter)
        state["v"] = mx.zeros_like(parameter)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """New value of one parameter; updates its moments."""
        b1, b2 = self.betas
        m, v = self._update_moments(gradient, state)
        rate = self.learning_rate
        root = mx.sqrt(v)
        if self.bias_correction:
            rate = rate / (1 - b1**self.step)
            root = root * mx.rsqrt(1 - b2**self.step).astype(v.dtype)
        return parameter - rate.astype(gradient.dtype) * m / (root + nonzero(self.eps))

    def _update_moments(
        self, gradient: mx.array, state: dict[str, mx.array]
    ) -> tuple[mx.array, mx.array]:
        """Store the new moments `m` and `v`, and return them."""
        b1, b2 = self.betas
        m = b1 * state["m"] + (1 - b1) * gradient
        v = b2 * state["v"] + (1 - b2) * mx.square(gradient)
        state["m"], state["v"] = m, v
        return m, v


class AdamW(Adam):
    """AdamW: Adam with decoupled weight decay.

    Parameters
    ----------
    learning_rate : float, array or callable
        Step size `lr`: a number, or a schedule, a function of the step that returns one.
    betas : (float, float), optional
        Decay rates ``(b1, b2)`` of the moments, each in ``[0, 1)``. Default: ``(0.9, 0.999)``.
    eps : float, optional
        Added to the denominator, at least 0. Default: 1e-8.
    weight_decay : float, optional
        Weight decay `wd`. Default: 0.01.
    bias_correction : bool, optional
        Whether to correct the moments for their start at zero. Default: False.

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
    Adam

    Notes
    -----
    Each step first computes ``w = w - lr * wd * w`` [1]_ and then the step of `Adam`.

    References
    ----------
    .. [1] Loshchilov, Hutter, "Decoupled Weight Decay Regularization", 2019.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> optimizer = optim.AdamW(learning_rate=1e-3, weight_decay=0.1)
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
        weight_decay: float = 0.01,
        bias_correction: bool = False,
    ) -> None:
        super().__init__(learning_rate, betas, eps, bias_correction)
        self.weight_decay = weight_decay

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """New value of one parameter; updates its moments."""
        rate = self.learning_rate.astype(gradient.dtype)
        decayed = parameter * (1 - rate * self.weight_decay)
        return super().apply_single(gradient, decayed, state)


class Adamax(Adam):
    """Adamax: Adam with a running maximum in place of the second moment.

    Parameters
    ----------
    learning_rate : float, array or callable
        Step size `lr`: a number, or a schedule, a function of the step that returns one.
    betas : (float, float), optional
        Decay rates ``(b1, b2)`` of the moments, each in ``[0, 1)``. Default: ``(0.9, 0.999)``.
    eps : float, optional
        Added to the denominator, at least 0. Default: 1e-8.

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
    Adam

    Notes
    -----
    With the gradient `g` of the parameter `w`, one step computes

    - ``m = b1 * m + (1 - b1) * g``
    - ``v = max(b2 * v, abs(g))``
    - ``w = w - lr * m / (v + eps)``

    [1]_, without bias correction.

    References
    ----------
    .. [1] Kingma, Ba, "Adam: A Method for Stochastic Optimization", 2015, section 7.1.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> optimizer = optim.Adamax(learning_rate=1e-3)
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
    ) -> None:
        super().__init__(learning_rate, betas, eps)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """New value of one parameter; updates its moments."""
        b1, b2 = self.betas
        m = b1 * state["m"] + (1 - b1) * gradient
        v = mx.maximum(b2 * state["v"], mx.abs(gradient))
        state["m"], state["v"] = m, v
        rate = self.learning_rate.astype(gradient.dtype)
        return parameter - rate * m / (v + nonzero(self.eps))


_layout.complete(globals())
