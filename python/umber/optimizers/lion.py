"""Lion: steps along the sign of a momentum."""

from __future__ import annotations

from collections.abc import Sequence

import umber.core as mx
from umber import _layout
from umber.optimizers.base import Optimizer
from umber.optimizers.overflow import as_numbers, in_float32
from umber.optimizers.schedulers import Schedule


class Lion(Optimizer):
    """Lion: steps along the sign of a momentum, all of the same size.

    Parameters
    ----------
    learning_rate : float, array or callable
        Step size `lr`: a number, or a schedule, a function of the step that returns one.
    betas : (float, float), optional
        Weights ``(b1, b2)`` of the momentum, each in ``[0, 1)``. Default: ``(0.9, 0.99)``.
    weight_decay : float, optional
        Weight decay `wd`. Default: 0.

    Attributes
    ----------
    state : dict
        ``"step"``, ``"learning_rate"`` and, at the place of each parameter, ``{"m": ...}``.

    Raises
    ------
    ValueError
        If `betas` are not two numbers in ``[0, 1)``.

    See Also
    --------
    AdamW, SGD

    Notes
    -----
    With the gradient `g` of the parameter `w`, one step [1]_ computes

    - ``c = b1 * m + (1 - b1) * g``
    - ``m = b2 * m + (1 - b2) * g``
    - ``w = w - lr * (sign(c) + wd * w)``

    Since all steps have the same size, the learning rate should be 3 to 10 times smaller than that
    of `Adam`.

    References
    ----------
    .. [1] Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023.

    Examples
    --------
    >>> optimizer = optim.Lion(learning_rate=0.25)
    >>> optimizer.apply_gradients({"w": mx.array([2.0])}, {"w": mx.array([1.0])})
    {'w': array([0.75], dtype=float32)}
    """

    def __init__(
        self,
        learning_rate: float | mx.array | Schedule,
        betas: Sequence[float] = (0.9, 0.99),
        weight_decay: float = 0.0,
    ) -> None:
        if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"[Lion] got betas {betas}, expected two numbers in [0, 1)")
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)
        self.betas = as_numbers(betas)
        self.weight_decay = weight_decay

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """Set the momentum `m` to zero."""
        state["m"] = mx.zeros_like(parameter)

    @in_float32
    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """New value of one parameter; updates its momentum."""
        rate = self.learning_rate.astype(gradient.dtype)
        b1, b2 = self.betas
        m = state["m"]
        c = b1 * m + (1 - b1) * gradient
        state["m"] = b2 * m + (1 - b2) * gradient
        if self.weight_decay > 0:
            parameter = (1 - rate * self.weight_decay) * parameter
        return parameter - rate * mx.sign(c)


_layout.complete(globals())
