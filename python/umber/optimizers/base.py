"""`Optimizer`, the base class of update rules, and `MultiOptimizer`, which combines several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import umber.core as mx
from umber import _layout
from umber.nn import Module
from umber.optimizers.reprs import Described, name_of, number_of
from umber.optimizers.schedulers import Schedule
from umber.optimizers.trees import (
    assigned,
    check_gradients,
    check_order,
    child_at,
    has_fixed_entries,
    has_states,
    restored_on_error,
    same_shapes,
    with_states,
)
from umber.utils import _child, tree_flatten, tree_map, tree_map_with_path, tree_merge

_ABSENT = object()


class Optimizer(Described):
    """Base class of optimizers: an update rule and its state.

    Parameters
    ----------
    schedulers : dict of str to callable, optional
        Schedules, functions of the step, by the entry of the state that they set before each
        update. Default: none.

    Attributes
    ----------
    state : dict
        A tree: ``"step"``, ``"learning_rate"`` and, at the place of each parameter, a dict filled
        by `init_single`.
    step : array
        Number of updates so far.
    learning_rate : array
        The learning rate.

    See Also
    --------
    MultiOptimizer, nn.value_and_grad, clip_grad_norm

    Notes
    -----
    A subclass defines `init_single` and `apply_single`. Parameters of integers and bools, and
    parameters without gradients, are never changed.

    If an update raises, the state is that before it.

    Examples
    --------
    >>> class Descent(optim.Optimizer):
    ...     def init_single(self, parameter, state):
    ...         pass
    ...
    ...     def apply_single(self, gradient, parameter, state):
    ...         return parameter - 0.5 * gradient
    >>> Descent().apply_gradients({"w": mx.array([2.0])}, {"w": mx.array([1.0])})
    {'w': array([0], dtype=float32)}
    """

    def __init__(self, schedulers: dict[str, Schedule] | None = None) -> None:
        self._initialized = False
        self._state: dict[str, Any] = {"step": mx.array(0, mx.uint64)}
        self._schedulers = dict(schedulers or {})

    def init(self, parameters: dict) -> None:
        """Initialise the state of parameters that have none yet.

        Calling it is optional: the first update initialises what it needs.

        Parameters
        ----------
        parameters : dict or array
            A tree of parameters, or one parameter.

        Raises
        ------
        TypeError
            If `parameters` is a list or tuple.
        ValueError
            If an assigned state has other entries than those of this optimizer.

        See Also
        --------
        init_single

        Notes
        -----
        The dict `state` is changed in place, so a compiled step that holds it sees the new entries.

        Examples
        --------
        >>> model, optimizer = nn.Linear(2, 1), optim.Adam(1e-3)
        >>> optimizer.init(model.trainable_parameters())
        >>> optimizer.state["bias"]
        {'m': array([0], dtype=float32), 'v': array([0], dtype=float32)}
        """
        if isinstance(parameters, (list, tuple)):
            raise TypeError(
                f"[{type(self).__name__}] got a {type(parameters).__name__} of parameters, "
                "expected a dict or one array"
            )
        if not self._initialized and has_fixed_entries(self):
            self._check_entries(parameters, self._state, "")
        # In place, so that a compiled step that holds the dict sees the new entries.
        if isinstance(parameters, mx.array):
            self._init_root(parameters)
        else:
            self._state.update(with_states(self._state, parameters, self.init_single))
        self._initialized = True

    def _init_root(self, parameter: mx.array) -> None:
        """Initialise the state for a single parameter instead of a tree of parameters."""
        new: dict[str, mx.array] = {}
        self.init_single(parameter, new)
        if not any(name in self._state for name in new):
            self._state.update(new)

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """Initialise the state of one parameter; subclasses define it.

        Parameters
        ----------
        parameter : array
            The parameter.
        state : dict of str to array
            An empty dict to fill.

        Raises
        ------
        NotImplementedError
            If a subclass does not define it.

        See Also
        --------
        apply_single

        Examples
        --------
        >>> state = {}
        >>> optim.SGD(0.1).init_single(mx.array([1.0]), state)
        >>> state
        {'v': array([0], dtype=float32)}
        """
        raise _undefined(self, "init_single")

    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """New value of one parameter; updates its state; subclasses define it.

        Parameters
        ----------
        gradient : array
            The gradient.
        parameter : array
            The parameter, of the shape of `gradient`.
        state : dict of str to array
            The state that `init_single` made, to be updated in place.

        Returns
        -------
        array
            The new value of the parameter.

        Raises
        ------
        NotImplementedError
            If a subclass does not define it.

        See Also
        --------
        apply_gradients, init_single

        Examples
        --------
        >>> optim.SGD(0.1).apply_single(mx.array([2.0]), mx.array([1.0]), {})
        array([0.8], dtype=float32)
        """
        raise _undefined(self, "apply_single")

    def _state_dtype(self, gradient: mx.array, parameter: mx.array) -> mx.Dtype:
        """The dtype of what updates the entries of a state."""
        return gradient.dtype

    def update(self, model: Module, gradients: dict) -> None:
        """Update the parameters of a model that have gradients, in place.

        Parameters
        ----------
        model : Module
            The model.
        gradients : dict
            A tree shaped like a part of the model's parameters, as the function of
            `nn.value_and_grad` returns it.

        Raises
        ------
        ValueError
            If a gradient has no parameter, or another shape than its parameter.
        TypeError
            If a gradient or parameter is not an array, or the arguments are in the wrong order.

        See Also
        --------
        apply_gradients

        Examples
        --------
        >>> model, optimizer = nn.Linear(2, 1, bias=False), optim.SGD(0.1)
        >>> loss_and_grad = nn.value_and_grad(model, lambda x: model(x).sum())
        >>> loss, gradients = loss_and_grad(mx.ones((1, 2)))
        >>> optimizer.update(model, gradients)
        >>> mx.eval(model.parameters(), optimizer.state)
        """
        check_order("model, gradients", gradients, model)
        model.update(self.apply_gradients(gradients, model))

    def apply_gradients(self, gradients: Any, parameters: Any) -> Any:
        """New values of the parameters that have gradients, as a tree.

        Parameters
        ----------
        gradients : tree of array
            The gradients. They decide which parameters are updated.
        parameters : tree of array
            A tree that has at least the places of `gradients`, such as a module.

        Returns
        -------
        tree of array
            The new values, in the structure of `gradients`. Parameters of integers and bools are
            returned unchanged.

        Raises
        ------
        ValueError
            If a gradient has no parameter, or another shape than its parameter, or the state of a
            parameter has the wrong shape or the entries of another optimizer.
        TypeError
            If a gradient or parameter is not an array, or the arguments are in the wrong order.
        KeyError
            If the state of a parameter lacks an entry.

        See Also
        --------
        update, apply_single

        Notes
        -----
        The state is initialised for parameters that have none. If an update raises, the state is
        that before it.

        Examples
        --------
        >>> parameters = {"w": mx.array([1.0]), "b": mx.array([3.0])}
        >>> optim.SGD(0.1).apply_gradients({"w": mx.array([2.0])}, parameters)
        {'w': array([0.8], dtype=float32)}
        """
        check_order("gradients, parameters", gradients, parameters)
        check_gradients(type(self).__name__, gradients, parameters)
        # Parameters may be added later, when a layer is unfrozen.
        is_new = not self._initialized or not has_states(self._state, gradients)
        if is_new:
            self.init(gradients)
        try:
            with restored_on_error(self._state):
                for name, schedule in self._schedulers.items():
                    self.state[name] = _number_as_array(schedule(self.step))
                self.state["step"] = self.step + 1
                updated = tree_map(self._apply_to, gradients, parameters, self.state)
                # An assigned state may have wrong shapes that broadcast.
                if is_new and not same_shapes(updated, gradients):
                    self._check_states(gradients, parameters)
                return updated
        except (TypeError, ValueError, KeyError, IndexError) as error:
            self._check_states(gradients, parameters, error)
            raise

    def _check_entries(self, parameters: Any, state: Any, path: str) -> None:
        """Raise if an assigned state has entries that this optimizer does not use."""
        if isinstance(parameters, (dict, list, tuple)):
            pairs = parameters.items() if isinstance(parameters, dict) else enumerate(parameters)
            for key, child in pairs:
                inner = child_at(state, key)
                if inner:
                    self._check_entries(child, inner, f"{path}.{key}" if path else str(key))
            return
        # The state of a single parameter is beside the numbers of the optimizer.
        if not path or not isinstance(state, dict) or not _is_inexact(parameters):
            return
        new: dict[str, mx.array] = {}
        self.init_single(parameters, new)
        if not state.keys() <= new.keys():
            name = type(self).__name__
            raise ValueError(
                f"[{name}] the state of {name} for {path}: got {', '.join(map(str, state))}, "
                f"expected {', '.join(new)}; it is that of another optimizer or other options"
            )

    def _check_states(
        self, gradients: Any, parameters: Any, cause: Exception | None = None
    ) -> None:
        """Raise if the state of a parameter lacks an entry of a new one or has another shape."""
        error = self._wrong_state(gradients, parameters, self._state, "")
        if error is not None:
            raise error from cause

    def _wrong_state(
        self, gradients: Any, parameters: Any, state: Any, path: str
    ) -> Exception | None:
        """The error for the first state that lacks an entry of a new one or has another shape."""
        if isinstance(gradients, (dict, list, tuple)):
            pairs = gradients.items() if isinstance(gradients, dict) else enumerate(gradients)
            prefix = f"{path}." if path else ""
            errors = (
                self._wrong_state(
                    child, _child("update", parameters, key), state[key], f"{prefix}{key}"
                )
                for key, child in pairs
                if tree_flatten(child)
            )
            return next((error for error in errors if error is not None), None)
        if not _is_inexact(parameters):
            return None
        new: dict[str, mx.array] = {}
        self.init_single(parameters, new)
        op = type(self).__name__
        subject = f"[{op}] the state of {op} for {path or 'the parameter'}"
        if not isinstance(state, dict):
            return TypeError(
                f"{subject}: got {type(state).__name__}, expected a dict of {', '.join(new)}"
            )
        for name, value in new.items():
            if name not in state:
                return KeyError(
                    f"{subject} lacks {name!r}, expected {', '.join(new)}, "
                    f"got {', '.join(map(str, state))}"
                )
            if getattr(state[name], "shape", None) != value.shape:
                got = getattr(state[name], "shape", type(state[name]).__name__)
                return ValueError(f"{subject}: got {name} of shape {got}, expected {value.shape}")
        return None

    def _apply_to(self, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        # Indices, bools and packed codes have no gradient.
        if not _is_inexact(parameter):
            return parameter
        return self.apply_single(gradient, parameter, state)

    @property
    def state(self) -> dict[str, Any]:
        """The state of the optimizer; a saved one may be assigned.

        A compiled function that declares the state sees the assignment.
        """
        return self._state

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        self._check_state(state)
        self._initialized = False
        self._state = assigned(self._state, state)

    def _check_state(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise TypeError(
                f"[{type(self).__name__}] state: got {type(state).__name__}, expected a dict"
            )

    @property
    def step(self) -> mx.array:
        """Number of updates so far, a uint64 scalar."""
        return self._entry("step")

    @property
    def learning_rate(self) -> mx.array:
        """The learning rate, a float32 scalar; a number or a schedule may be assigned.

        A schedule replaces the previous one. If there is one, a number lasts until the next update.
        """
        return self._entry("learning_rate")

    @learning_rate.setter
    def learning_rate(self, learning_rate: float | mx.array | Schedule) -> None:
        self._maybe_schedule("learning_rate", learning_rate)

    def _repr_options(self) -> dict[str, str]:
        """The hyperparameters and the number of steps."""
        from inspect import signature  # Takes longer than this package.

        arguments = signature(type(self).__init__).parameters
        options = {}
        for name in dict.fromkeys([*arguments, *self._schedulers, "step"]):
            value = vars(self).get(name, self._state.get(name, _ABSENT))
            if value is not _ABSENT:
                schedule = self._schedulers.get(name)
                source = "" if schedule is None else f" by {name_of(schedule)}"
                options[name] = number_of(value) + source
        return options

    def _parts(self) -> Iterator[Optimizer]:
        """The optimizers that have a learning rate of their own."""
        yield self

    def _entry(self, name: str) -> mx.array:
        state = self.state
        if name not in state:
            raise KeyError(f"[{type(self).__name__}] state lacks {name!r}")
        return state[name]

    def _maybe_schedule(self, name: str, value: float | mx.array | Schedule) -> None:
        """Set an entry of the state to a number, or to the values of a schedule."""
        entry = _number_as_array(value(self.step) if callable(value) else value)
        if not isinstance(entry, mx.array):
            raise TypeError(
                f"[{type(self).__name__}] {name}: got {type(entry).__name__}, "
                "expected a number, an array or a function of the step"
            )
        if callable(value):
            self._schedulers[name] = value
        self.state[name] = entry


class MultiOptimizer(Optimizer):
    """Several optimizers, each for a part of the parameters.

    Parameters
    ----------
    optimizers : sequence of Optimizer
        The optimizers, at least one.
    filters : sequence of callable, optional
        One fewer than `optimizers`. ``filter(path, gradient)`` is called for each parameter, which
        belongs to the first optimizer whose filter is true. The last optimizer takes the rest.

    Attributes
    ----------
    optimizers : list of Optimizer
        The optimizers.
    filters : list of callable
        The filters, with one for the last optimizer.
    state : dict
        ``{"states": [the state of each optimizer]}``.

    Raises
    ------
    ValueError
        If there is no optimizer, or not one filter fewer than optimizers.

    See Also
    --------
    Optimizer, Muon

    Notes
    -----
    The learning rate is that of the first optimizer; assigning it sets that of all.

    Optimizers of the same class are what other frameworks call parameter groups: the second example
    leaves biases and the scales of normalisations without weight decay. Filters that are functions
    of a module, instead of lambdas, can be pickled.

    Examples
    --------
    >>> optimizer = optim.MultiOptimizer(
    ...     [optim.SGD(0.1), optim.AdamW(1e-3)],
    ...     [lambda path, gradient: path.endswith("bias")],
    ... )
    >>> optimizer.init(nn.Linear(2, 1).trainable_parameters())
    >>> [sorted(state) for state in optimizer.state["states"]]
    [['bias', 'learning_rate', 'step'], ['learning_rate', 'step', 'weight']]

    >>> def is_vector(path, gradient):
    ...     return gradient.ndim < 2
    >>> optimizer = optim.MultiOptimizer(
    ...     [optim.AdamW(1e-3, weight_decay=0.0), optim.AdamW(1e-3, weight_decay=0.1)],
    ...     [is_vector],
    ... )
    >>> optimizer.init(nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3)).trainable_parameters())
    >>> decayed = optimizer.state["states"][1]
    >>> [sorted(layer) for layer in decayed["layers"]]
    [['weight'], []]
    """

    def __init__(
        self,
        optimizers: Sequence[Optimizer],
        filters: Sequence[Callable[[str, mx.array], bool]] = (),
    ) -> None:
        super().__init__()
        if len(optimizers) == 0:
            raise ValueError("[MultiOptimizer] needs at least one optimizer")
        if len(filters) != len(optimizers) - 1:
            raise ValueError(
                f"[MultiOptimizer] got {len(filters)} filters for {len(optimizers)} optimizers, "
                f"expected {len(optimizers) - 1}"
            )
        self._state = {}
        self.optimizers = list(optimizers)
        self.filters = [*filters, _takes_rest]

    def __repr__(self) -> str:
        """The class with its optimizers and their filters."""
        from textwrap import indent  # Takes longer than this module.

        lines = [f"{path}: {optimizer!r}" for path, optimizer in self._repr_children()]
        text = indent("\n".join(lines), "  ")
        return f"{type(self).__name__}(\n{text}\n)"

    def _repr_options(self) -> dict[str, str]:
        return {}

    def _repr_children(self) -> list[tuple[str, Any]]:
        parts = zip(self.optimizers, self.filters, strict=True)
        return [
            (f"({i}) {name_of(matches)}", optimizer) for i, (optimizer, matches) in enumerate(parts)
        ]

    def _parts(self) -> Iterator[Optimizer]:
        for optimizer in self.optimizers:
            yield from optimizer._parts()

    def init(self, parameters: dict) -> None:
        """Initialise the state of all optimizers, each for its part of the parameters."""
        for optimizer, subtree in zip(self.optimizers, self._split(parameters), strict=True):
            optimizer.init(subtree)

    def apply_gradients(self, gradients: Any, parameters: Any) -> Any:
        """New values of the parameters that have gradients, as a tree."""
        check_order("gradients, parameters", gradients, parameters)
        check_gradients(type(self).__name__, gradients, parameters)
        subtrees = self._split(gradients)
        updated: Any = {}
        # If a later optimizer fails, the state of the earlier ones is also restored.
        with restored_on_error(self.state):
            for optimizer, subtree in zip(self.optimizers, subtrees, strict=True):
                updated = tree_merge(updated, optimizer.apply_gradients(subtree, parameters))
        return updated

    @property
    def state(self) -> dict[str, Any]:
        """The states of the optimizers: ``{"states": [...]}``."""
        return {"states": [optimizer.state for optimizer in self.optimizers]}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        # Check all before assigning any.
        self._check_state(state)
        for optimizer, substate in zip(self.optimizers, state["states"], strict=True):
            optimizer.state = substate

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        states = state.get("states", ())
        if not isinstance(states, (list, tuple)):
            raise TypeError(
                f"[MultiOptimizer] states: got {type(states).__name__}, expected a list of dicts"
            )
        if len(states) != len(self.optimizers):
            raise ValueError(
                f"[MultiOptimizer] got {len(states)} states, expected {len(self.optimizers)}"
            )
        for optimizer, substate in zip(self.optimizers, states, strict=True):
            optimizer._check_state(substate)

    @property
    def learning_rate(self) -> mx.array:
        """The learning rate of the first optimizer; assigning sets that of all."""
        return self.optimizers[0].learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate: float | mx.array | Schedule) -> None:
        for optimizer in self.optimizers:
            optimizer.learning_rate = learning_rate

    @property
    def step(self) -> mx.array:
        """Number of updates so far, which is that of every optimizer."""
        return self.optimizers[0].step

    def _split(self, tree: Any) -> list[Any]:
        def owner(path: str, leaf: Any) -> int:
            return next(i for i, matches in enumerate(self.filters) if matches(path, leaf))

        owners = tree_map_with_path(owner, tree, path="")
        return [_select(tree, owners, i) for i in range(len(self.optimizers))]


def _takes_rest(path: str, gradient: mx.array) -> bool:
    """The filter of the last optimizer."""
    return True


def _select(tree: Any, owners: Any, owner: int) -> Any:
    """The subtree of the leaves with this owner; `{}` if there are none."""
    if isinstance(tree, dict):
        selected = {key: _select(child, owners[key], owner) for key, child in tree.items()}
        return {key: subtree for key, subtree in selected.items() if not _is_empty(subtree)}
    if isinstance(tree, (list, tuple)):
        selected = [_select(child, owners[i], owner) for i, child in enumerate(tree)]
        return {} if all(map(_is_empty, selected)) else selected
    return tree if owners == owner else {}


def _is_inexact(parameter: mx.array) -> bool:
    return mx.issubdtype(parameter.dtype, mx.inexact)


def _is_empty(tree: Any) -> bool:
    return isinstance(tree, dict) and not tree


def _number_as_array(value: Any) -> Any:
    """Convert a number, or a list of one number, to a float32 array; return others unchanged."""
    if isinstance(value, (list, tuple)) and len(value) == 1:
        return _number_as_array(value[0])
    if isinstance(value, mx.array) or not (
        hasattr(value, "__float__") or hasattr(value, "__index__")
    ):
        return value
    return mx.array(value if hasattr(value, "shape") else float(value), mx.float32)


def _undefined(optimizer: Optimizer, method: str) -> NotImplementedError:
    return NotImplementedError(f"[{type(optimizer).__name__}] the class must define {method}")


_layout.complete(globals())
