"""Muon: steps along an orthogonalised momentum."""

from __future__ import annotations

import umber.core as mx
from umber import _layout
from umber.optimizers.base import Optimizer
from umber.optimizers.overflow import in_float32
from umber.optimizers.schedulers import Schedule


class Muon(Optimizer):
    """Muon: steps along a momentum that is orthogonalised as a matrix.

    Parameters
    ----------
    learning_rate : float, array or callable
        Step size `lr`: a number, or a schedule, a function of the step that returns one.
    momentum : float, optional
        Momentum `mu`. Default: 0.95.
    weight_decay : float, optional
        Weight decay `wd`. Default: 0.01.
    nesterov : bool, optional
        Whether to use Nesterov's momentum. Default: True.
    ns_steps : int, optional
        Number of Newton-Schulz iterations. Default: 5.

    Attributes
    ----------
    state : dict
        ``"step"``, ``"learning_rate"`` and, at the place of each parameter, ``{"v": ...}``.

    See Also
    --------
    SGD, MultiOptimizer

    Notes
    -----
    With the gradient `g` of the parameter `w`, one step [1]_ computes

    - ``v = mu * v + (1 - mu) * g``
    - ``w = w - lr * sqrt(max(1, rows / columns)) * orthogonal(v)``

    Weight decay replaces `g` by ``g + wd * w``. Nesterov's momentum replaces `v` in the second line
    by ``mu * v + (1 - mu) * g``.

    Parameters with more than two axes are reshaped to matrices, whose rows are the first axis.
    `rows` and `columns` are the last two axes of the parameter. Parameters with fewer than two
    axes, such as biases, step along `v` itself; another optimizer suits them better (see
    `MultiOptimizer`).

    References
    ----------
    .. [1] Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> optimizer = optim.Muon(learning_rate=0.02)
    >>> gradients = {"weight": mx.ones((1, 2)), "bias": mx.ones((1,))}
    >>> optimizer.update(model, gradients)
    >>> optimizer.step.item()
    1
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
    """The matrix with all singular values except the smallest changed to about 1.

    Each Newton-Schulz step maps a singular value `s` to ``a * s + b * s**3 + c * s**5``, which
    grows fast near 0.
    """
    a, b, c = 3.4445, -4.7750, 2.0315
    is_tall = x.shape[0] > x.shape[1]
    x = x.T if is_tall else x
    x = x / (mx.sqrt(mx.square(x).sum()) + 1e-7)
    for _ in range(steps):
        squares = x @ x.T
        x = a * x + (b * squares + c * squares @ squares) @ x
    return x.T if is_tall else x


_layout.complete(globals())
