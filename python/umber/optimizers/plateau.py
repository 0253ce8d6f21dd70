"""A learning rate that falls when a metric stops improving."""

from __future__ import annotations

import math
from typing import Literal

import umber.core as mx
from umber import _layout
from umber.optimizers.base import Optimizer
from umber.optimizers.reprs import Described, number_of

_ENTRIES = ("best", "num_bad_epochs", "cooldown_counter")


class ReduceLROnPlateau(Described):
    """Reduce the learning rate of an optimizer when a metric has stopped improving.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer. Its learning rate is a number, not a schedule.
    mode : {"min", "max"}, optional
        Whether lower or higher values of the metric are better. Default: "min".
    factor : float, optional
        Factor of each reduction, above 0 and below 1. Default: 0.1.
    patience : int, optional
        Number of calls of `step` without improvement that are tolerated. Default: 10.
    threshold : float, optional
        How much better a value must be to count as an improvement, at least 0. Default: 1e-4.
    threshold_mode : {"rel", "abs"}, optional
        Whether `threshold` is a part of the best value or a difference from it. Default: "rel".
    cooldown : int, optional
        Number of calls of `step` after a reduction that do not count. Default: 0.
    min_lr : float, optional
        Minimum of the learning rate. Default: 0.
    eps : float, optional
        A reduction by this or less is left out. Default: 1e-8.

    Attributes
    ----------
    state : dict of str to array
        ``"best"``, the best value so far, ``"num_bad_epochs"`` and ``"cooldown_counter"``.

    Raises
    ------
    TypeError
        If `optimizer` is not an optimizer.
    ValueError
        If the optimizer has a schedule, or an option is not one of those above.

    See Also
    --------
    step_decay, Optimizer

    Notes
    -----
    The rules are those of PyTorch's class of this name. The new rate is assigned to
    ``optimizer.learning_rate``, so a compiled step that has the optimizer's state among its inputs
    uses it. Each optimizer of a `MultiOptimizer` has its own rate reduced. `step` reads the value
    of the metric: call it outside of the compiled step, for example once an epoch.

    Examples
    --------
    >>> optimizer = optim.SGD(0.5)
    >>> plateau = optim.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    >>> for loss in (2.0, 1.0, 1.0, 1.0):
    ...     plateau.step(loss)
    >>> optimizer.learning_rate
    array(0.25, dtype=float32)
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: Literal["min", "max"] = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: Literal["rel", "abs"] = "rel",
        cooldown: int = 0,
        min_lr: float = 0.0,
        eps: float = 1e-8,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"[ReduceLROnPlateau] optimizer: got {type(optimizer).__name__}, "
                "expected an optimizer"
            )
        if mode not in ("min", "max"):
            raise ValueError(f"[ReduceLROnPlateau] got mode {mode!r}, expected 'min' or 'max'")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(
                f"[ReduceLROnPlateau] got threshold_mode {threshold_mode!r}, "
                "expected 'rel' or 'abs'"
            )
        if not 0 < factor < 1:
            raise ValueError(
                f"[ReduceLROnPlateau] got factor {factor}, expected a number above 0 and below 1"
            )
        least = {
            "patience": patience,
            "threshold": threshold,
            "cooldown": cooldown,
            "min_lr": min_lr,
            "eps": eps,
        }
        for name, value in least.items():
            if not value >= 0:
                raise ValueError(f"[ReduceLROnPlateau] got {name} {value}, expected at least 0")
        self.optimizer = optimizer
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.eps = eps
        self._check_schedules()
        self._state: dict[str, mx.array] = {}
        self._store(math.inf if mode == "min" else -math.inf, 0, 0)

    def step(self, metric: float | mx.array) -> None:
        """Take note of the value of the metric, and reduce the learning rate if it is time.

        Parameters
        ----------
        metric : float or array
            The value, a number or an array with one element. NaN is never an improvement.

        Raises
        ------
        TypeError
            If `metric` is not a number.
        ValueError
            If the optimizer has a schedule.

        Examples
        --------
        >>> plateau = optim.ReduceLROnPlateau(optim.SGD(0.5))
        >>> plateau.step(mx.array(2.0))
        >>> plateau.state["best"].item()
        2.0
        """
        self._check_schedules()
        if not hasattr(metric, "__float__"):
            raise TypeError(
                f"[ReduceLROnPlateau] metric: got {type(metric).__name__}, expected a number"
            )
        value = float(metric)
        best, bad, cooldown = (self.state[name].item() for name in _ENTRIES)
        if self._is_better(value, best):
            best, bad = value, 0
        else:
            bad += 1
        if cooldown > 0:
            cooldown, bad = cooldown - 1, 0
        if bad > self.patience:
            self._reduce()
            cooldown, bad = self.cooldown, 0
        self._store(best, bad, cooldown)

    @property
    def state(self) -> dict[str, mx.array]:
        """What is known of the metric; a saved state may be assigned."""
        return self._state

    @state.setter
    def state(self, state: dict[str, mx.array]) -> None:
        if not isinstance(state, dict):
            raise TypeError(
                f"[ReduceLROnPlateau] state: got {type(state).__name__}, expected a dict"
            )
        for name in _ENTRIES:
            if not isinstance(state.get(name), mx.array):
                raise ValueError(
                    f"[ReduceLROnPlateau] state: got no array {name!r}, "
                    f"expected {', '.join(_ENTRIES)}"
                )
        self._state = state

    def _repr_options(self) -> dict[str, str]:
        """The options and what is known of the metric."""
        known = {name: number_of(value) for name, value in self._state.items()}
        return super()._repr_options() | known

    def _store(self, best: float, bad: int, cooldown: int) -> None:
        self._state["best"] = mx.array(best, mx.float64)
        self._state["num_bad_epochs"] = mx.array(bad, mx.int32)
        self._state["cooldown_counter"] = mx.array(cooldown, mx.int32)

    def _check_schedules(self) -> None:
        for part in self.optimizer._parts():
            if "learning_rate" in part._schedulers:
                raise ValueError(
                    f"[ReduceLROnPlateau] the learning rate of {type(part).__name__} is a "
                    "schedule, which would replace a reduced one; give it a number"
                )

    def _is_better(self, value: float, best: float) -> bool:
        margin = self.threshold * best if self.threshold_mode == "rel" else self.threshold
        if self.threshold_mode == "rel" and math.isinf(best):
            margin = 0.0
        return value < best - margin if self.mode == "min" else value > best + margin

    def _reduce(self) -> None:
        for part in self.optimizer._parts():
            rate = part.learning_rate.item()
            reduced = max(rate * self.factor, self.min_lr)
            if rate - reduced > self.eps:
                part.learning_rate = reduced


_layout.complete(globals())
