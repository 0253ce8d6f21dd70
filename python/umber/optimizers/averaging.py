"""Averages of parameters over the steps of a training: exponential and equal weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import umber.core as mx
from umber import _layout
from umber.nn import Module
from umber.nn.layers.parameter_swap import swap_parameters
from umber.optimizers.overflow import widened
from umber.optimizers.reprs import Described, number_of
from umber.optimizers.trees import assigned
from umber.utils import tree_flatten, tree_map


class EMA(Described):
    """Moving average of the parameters of a model.

    Parameters
    ----------
    model : Module or tree of array
        The parameters to average: all parameters of a model, or those of a tree, such as
        ``model.trainable_parameters()``.
    decay : float, optional
        Decay `d` of the weights of earlier parameters, from 0 to 1. With 1 all have equal weights,
        as in stochastic weight averaging. Default: 0.999.
    bias_correction : bool, optional
        Whether the parameters at the start have no weight. Otherwise they count as the first
        average. Default: True.

    Attributes
    ----------
    state : dict
        ``"step"``, the number of updates, and ``"average"``, a tree.

    Raises
    ------
    ValueError
        If `decay` is not from 0 to 1, or is 1 without bias correction.
    TypeError
        If a parameter is not an array.

    See Also
    --------
    Optimizer

    Notes
    -----
    Update `t` computes ``average = average + a * (w - average)`` with

    - ``a = 1 - d`` without bias correction
    - ``a = (1 - d) / (1 - d**t)`` with it, which gives earlier parameters the weights ``d``,
      ``d**2``, ... [1]_
    - ``a = 1 / t`` for ``d = 1``, the limit of the line above [2]_

    Averages of float16 and bfloat16 parameters are kept in float32, where the changes do not round
    to zero. Integers and bools are not averaged: the latest are kept.

    References
    ----------
    .. [1] Kingma, Ba, "Adam: A Method for Stochastic Optimization", 2015, section 3.
    .. [2] Izmailov et al., "Averaging Weights Leads to Wider Optima and Better Generalization",
       2018.

    Examples
    --------
    >>> model = nn.Linear(1, 1, bias=False)
    >>> ema = optim.EMA(model, decay=0.5)
    >>> for weight in (1.0, 4.0):
    ...     model.weight = mx.array([[weight]])
    ...     ema.update(model)
    >>> with ema.swapped(model):
    ...     print(model.weight)
    array([[3]], dtype=float32)
    >>> model.weight
    array([[4]], dtype=float32)
    """

    def __init__(self, model: Any, decay: float = 0.999, bias_correction: bool = True) -> None:
        if not 0 <= decay <= 1:
            raise ValueError(f"[EMA] got decay {decay}, expected a number from 0 to 1")
        if decay == 1 and not bias_correction:
            raise ValueError(
                "[EMA] decay 1 without bias_correction never changes the average: use "
                "bias_correction for equal weights"
            )
        parameters = model.parameters() if isinstance(model, Module) else model
        for path, leaf in tree_flatten(parameters):
            if not isinstance(leaf, mx.array):
                raise TypeError(
                    f"[EMA] got {type(leaf).__name__} as {path or 'the tree'}, expected an array"
                )
        self.decay = decay
        self.bias_correction = bias_correction
        # Copies, because the arrays of the model may be changed in place.
        average = tree_map(lambda leaf: widened(mx.array(leaf)), parameters)
        self._state: dict[str, Any] = {"step": mx.array(0, mx.uint64), "average": average}

    def update(self, model: Any) -> None:
        """Add the current parameters to the average.

        Parameters
        ----------
        model : Module or tree of array
            The model, or a tree that has at least the places of the average.

        Raises
        ------
        ValueError
            If a parameter has another shape than its average. The average is not changed then.
        KeyError, IndexError, TypeError
            If the tree lacks a place of the average.

        See Also
        --------
        swapped

        Notes
        -----
        Call it after each update of the optimizer, or once an epoch for equal weights. In a
        compiled step, `state` belongs to the inputs and outputs.

        Examples
        --------
        >>> ema = optim.EMA({"w": mx.array([0.0])}, decay=0.5, bias_correction=False)
        >>> ema.update({"w": mx.array([1.0])})
        >>> ema.average
        {'w': array([0.5], dtype=float32)}
        """
        step = self._state["step"] + 1
        weight = self._weight(step.astype(mx.float64))

        def averaged(average: mx.array, parameter: mx.array) -> mx.array:
            if average.shape != parameter.shape:
                raise ValueError(
                    f"[EMA] got a parameter of the shape {parameter.shape}, "
                    f"expected {average.shape}"
                )
            if not mx.issubdtype(average.dtype, mx.inexact):
                return mx.array(parameter)
            change = weight.astype(average.dtype) * (parameter - average)
            return (average + change).astype(average.dtype)

        average = tree_map(averaged, self._state["average"], model)
        # In place, so that a compiled step that holds the dict sees the new entries.
        self._state.update(step=step, average=average)

    @property
    def average(self) -> Any:
        """The averaged parameters, a tree; those of float16 and bfloat16 in float32."""
        return self._state["average"]

    @contextmanager
    def swapped(self, model: Module) -> Iterator[Module]:
        """Context manager in which a model has the averaged parameters, in their own dtypes.

        Parameters
        ----------
        model : Module
            The model.

        Yields
        ------
        Module
            The model.

        Raises
        ------
        ValueError
            If the model lacks a parameter of the average.

        See Also
        --------
        update

        Notes
        -----
        At the end the model has its own parameters again, except those that were replaced in
        between. To keep the averages, use ``model.update(ema.average)``.

        Examples
        --------
        >>> model = nn.Linear(2, 1)
        >>> ema = optim.EMA(model)
        >>> ema.update(model)
        >>> with ema.swapped(model):
        ...     y = model(mx.ones((1, 2)))
        """
        averages = tree_map(lambda average, own: average.astype(own.dtype), self.average, model)
        restore = swap_parameters(model, averages)
        try:
            yield model
        finally:
            restore()

    @property
    def state(self) -> dict[str, Any]:
        """The number of updates and the average; a saved state may be assigned."""
        return self._state

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        missing = {"step", "average"} - (state.keys() if isinstance(state, dict) else set())
        if missing:
            raise ValueError(
                f"[EMA] state: got {type(state).__name__} without {', '.join(sorted(missing))}, "
                "expected a dict with step and average"
            )
        self._state = assigned(self._state, state)

    def _repr_options(self) -> dict[str, str]:
        """The options and the number of updates."""
        return super()._repr_options() | {"step": number_of(self._state["step"])}

    def _weight(self, step: mx.array) -> mx.array:
        """The weight of the newest parameters."""
        if self.decay == 1:
            return 1 / step
        weight = mx.array(1 - self.decay, mx.float64)
        return weight / (1 - self.decay**step) if self.bias_correction else weight


_layout.complete(globals())
