"""Gradient accumulation: an update of the parameters every few calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import umber.core as mx
from umber import _layout
from umber.nn.layers.tree_paths import assign, find_slots
from umber.optimizers.base import Optimizer
from umber.optimizers.overflow import widened
from umber.optimizers.schedulers import Schedule
from umber.optimizers.trees import (
    assigned,
    check_gradients,
    check_order,
    restored_on_error,
    snapshot,
)
from umber.utils import tree_map, tree_merge


class MultiSteps(Optimizer):
    """Gradient accumulation: an optimizer that updates in every `every_k`-th call.

    Parameters
    ----------
    optimizer : Optimizer
        The optimizer, which gets the mean of the gradients.
    every_k : int
        Number of calls for an update, at least 1.

    Attributes
    ----------
    optimizer : Optimizer
        The optimizer.
    state : dict
        ``"mini_step"``, the number of calls since the last update, ``"gradients"``, their mean
        gradients, and ``"optimizer"``, the state of the optimizer.

    Raises
    ------
    TypeError
        If `optimizer` is not an optimizer.
    ValueError
        If `every_k` is less than 1.

    See Also
    --------
    Optimizer, MultiOptimizer

    Notes
    -----
    The class has the name and the meaning of Optax's. If the loss is a mean over the batch, `k`
    batches of equal size give the update of one batch that is `k` times as large. Step and learning
    rate are those of the optimizer: its schedules count updates, not calls.

    Means of float16 and bfloat16 gradients are kept in float32.

    Examples
    --------
    >>> optimizer = optim.MultiSteps(optim.SGD(0.5), every_k=2)
    >>> w = mx.array([1.0])
    >>> for gradient in (2.0, 4.0):
    ...     w = optimizer.apply_gradients({"w": mx.array([gradient])}, {"w": w})["w"]
    ...     print(w)
    array([1], dtype=float32)
    array([-0.5], dtype=float32)
    """

    def __init__(self, optimizer: Optimizer, every_k: int) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"[MultiSteps] optimizer: got {type(optimizer).__name__}, expected an optimizer"
            )
        if every_k < 1:
            raise ValueError(f"[MultiSteps] got every_k {every_k}, expected at least 1")
        super().__init__()
        self.optimizer = optimizer
        self.every_k = every_k
        self._state = {"mini_step": mx.array(0, mx.uint64), "gradients": {}}

    def init(self, parameters: Any) -> None:
        """Initialise means and states of parameters that have none yet."""
        self.optimizer.init(parameters)
        zeros = tree_map(lambda leaf: mx.zeros_like(widened(leaf)), parameters)
        means = self._state.get("gradients", {})
        self._state["gradients"] = tree_merge(zeros, means, lambda _, mean: mean)

    def apply_gradients(self, gradients: Any, parameters: Any) -> Any:
        """New values of the parameters that have gradients, as a tree."""
        check_order("gradients, parameters", gradients, parameters)
        check_gradients(type(self).__name__, gradients, parameters)
        self.init(gradients)
        with restored_on_error(self.state):
            count = self._state["mini_step"] + 1
            all_means = self._state["gradients"]
            means = tree_map(lambda g, mean: _mean(mean, g, count), gradients, all_means)
            is_last = count == self.every_k
            updated = self._apply_if(is_last, gradients, means, parameters)
            means = tree_map(lambda mean: mx.where(is_last, mx.zeros_like(mean), mean), means)
            self._state["gradients"] = tree_merge(all_means, means, lambda _, mean: mean)
            self._state["mini_step"] = mx.where(is_last, mx.zeros_like(count), count)
        return updated

    def _apply_if(self, is_last: mx.array, gradients: Any, means: Any, parameters: Any) -> Any:
        """Update the parameters by the mean gradients if it is the last call, or keep them."""
        means = tree_map(lambda g, mean: mean.astype(g.dtype), gradients, means)
        own = tree_map(_promoted, gradients, parameters)
        try:
            is_update = bool(is_last.item())
        except ValueError:
            # In a trace, where it has no value.
            return self._apply_in_trace(is_last, means, own)
        return self.optimizer.apply_gradients(means, own) if is_update else own

    def _apply_in_trace(self, is_last: mx.array, means: Any, parameters: Any) -> Any:
        """The same, with both ways in the graph."""

        def update(means: Any, parameters: Any, state: Any) -> tuple[Any, Any]:
            restore = snapshot(self.optimizer.state)
            try:
                assign(find_slots(self.optimizer.state, state, mx.array))
                updated = self.optimizer.apply_gradients(means, parameters)
                return updated, tree_map(lambda leaf: leaf, self.optimizer.state)
            finally:
                restore()

        def keep(means: Any, parameters: Any, state: Any) -> tuple[Any, Any]:
            return parameters, state

        state = tree_map(lambda leaf: leaf, self.optimizer.state)
        updated, state = mx.cond(is_last, update, keep, means, parameters, state)
        assign(find_slots(self.optimizer.state, state, mx.array))
        return updated

    @property
    def state(self) -> dict[str, Any]:
        """The means of the gradients and the state of the optimizer."""
        self._state["optimizer"] = self.optimizer.state
        return self._state

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        self._check_state(state)
        self.optimizer.state = state["optimizer"]
        self._state = assigned(self._state, state)
        self._state["optimizer"] = self.optimizer.state

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        for name in ("mini_step", "optimizer"):
            if name not in state:
                raise ValueError(f"[MultiSteps] state: got a dict without {name!r}, expected one")
        self.optimizer._check_state(state["optimizer"])

    @property
    def step(self) -> mx.array:
        """Number of updates so far."""
        return self.optimizer.step

    @property
    def learning_rate(self) -> mx.array:
        """The learning rate of the optimizer; a number or a schedule may be assigned."""
        return self.optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate: float | mx.array | Schedule) -> None:
        self.optimizer.learning_rate = learning_rate

    def _parts(self) -> Iterator[Optimizer]:
        return self.optimizer._parts()


def _mean(mean: mx.array, gradient: mx.array, count: mx.array) -> mx.array:
    """The mean of `count` gradients, from that of the earlier ones."""
    if not mx.issubdtype(mean.dtype, mx.inexact):
        return mean
    change = (widened(gradient) - mean) / count.astype(mx.float32)
    return mean + change.astype(mean.dtype)


def _promoted(gradient: mx.array, parameter: mx.array) -> mx.array:
    """The parameter in the dtype that it has after an update."""
    if not mx.issubdtype(parameter.dtype, mx.inexact):
        return parameter
    return parameter.astype(mx.result_type(gradient, parameter))


_layout.complete(globals())
