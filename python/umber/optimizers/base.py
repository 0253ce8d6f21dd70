"""`Optimizer`, what all update rules share, and `MultiOptimizer`, which joins several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import umber.core as mx
from umber.nn import Module
from umber.nn.layers.slots import by_key
from umber.optimizers.schedulers import Schedule
from umber.utils import tree_flatten, tree_map, tree_map_with_path, tree_merge


class Optimizer:
    """An update rule with its state.

    `state` is a tree: `"step"`, the number of updates so far (uint64), `"learning_rate"` (float32),
    and, at the places of the parameters, a dict for each, filled by `init_single`. Subclasses
    define `init_single` and `apply_single`.

    Args:
        schedulers: functions of the step by the name of the state's entry that they set before each
            update. Default: none.

    Example:
        >>> optimizer = optimizers.Adam(learning_rate=1e-3)
        >>> loss, gradients = loss_and_grad(x, y)
        >>> optimizer.update(model, gradients)
        >>> mx.eval(model.parameters(), optimizer.state)
    """

    def __init__(self, schedulers: dict[str, Schedule] | None = None) -> None:
        self._initialized = False
        self._state: dict[str, Any] = {"step": mx.array(0, mx.uint64)}
        self._schedulers = dict(schedulers or {})

    def init(self, parameters: dict) -> None:
        """Make the state of parameters that have none yet; an update does it by itself."""
        if isinstance(parameters, (list, tuple)):
            raise TypeError(
                f"[{type(self).__name__}] got a {type(parameters).__name__} of parameters, "
                "expected a dict or one array"
            )
        # In place: whoever holds the dict (a compiled step, say) sees what is added.
        if isinstance(parameters, mx.array):
            self._init_root(parameters)
        else:
            self._state.update(_with_places(self._state, parameters, self.init_single))
        self._initialized = True

    def _init_root(self, parameter: mx.array) -> None:
        """The state of a parameter that is the whole tree stands beside the optimizer's own."""
        new: dict[str, mx.array] = {}
        self.init_single(parameter, new)
        if not any(name in self._state for name in new):
            self._state.update(new)

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        """Fill the state of one parameter."""
        raise _undefined(self, "init_single")

    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        """The new value of one parameter; updates its state."""
        raise _undefined(self, "apply_single")

    def _state_dtype(self, gradient: mx.array, parameter: mx.array) -> mx.Dtype:
        """The dtype of what the entries of a state are updated with."""
        return gradient.dtype

    def update(self, model: Module, gradients: dict) -> None:
        """Replace the model's parameters that have gradients by their new values.

        Args:
            model: the module.
            gradients: a tree shaped like a part of the model's parameters, as
                `umber.nn.value_and_grad` gives it.
        """
        _check_order("model, gradients", gradients, model)
        model.update(self.apply_gradients(gradients, model))

    def apply_gradients(self, gradients: Any, parameters: Any) -> Any:
        """The new values of the parameters that have gradients, as a tree.

        Parameters of integers and bools stay as they are.

        Args:
            gradients: the tree that decides which parameters are updated.
            parameters: a tree that has at least the places of `gradients`, such as a module.
        """
        _check_order("gradients, parameters", gradients, parameters)
        _check_gradients(type(self).__name__, gradients, parameters)
        # Parameters may join later, when a layer is unfrozen.
        is_new = not self._initialized or not _has_places(self._state, gradients)
        if is_new:
            self.init(gradients)
        try:
            with _restored_on_error(self._state):
                for name, schedule in self._schedulers.items():
                    self.state[name] = _number_as_array(schedule(self.step))
                self.state["step"] = self.step + 1
                updated = tree_map(self._apply_to, gradients, parameters, self.state)
                # A state that was assigned may have wrong shapes that broadcast.
                if is_new and not _same_shapes(updated, gradients):
                    self._check_parts(gradients, parameters)
                return updated
        except (TypeError, ValueError, KeyError, IndexError) as error:
            self._check_parts(gradients, parameters, error)
            raise

    def _check_parts(self, gradients: Any, parameters: Any, cause: Exception | None = None) -> None:
        """Refuse a state in which that of a parameter is not what the rule would begin with."""
        wrong = self._wrong_state(gradients, parameters, self._state, "")
        if wrong is not None:
            raise wrong from cause

    def _wrong_state(
        self, gradients: Any, parameters: Any, state: Any, path: str
    ) -> Exception | None:
        """What the state of a parameter lacks, or has in another shape than a new one."""
        if isinstance(gradients, (dict, list, tuple)):
            pairs = gradients.items() if isinstance(gradients, dict) else enumerate(gradients)
            prefix = f"{path}." if path else ""
            wrongs = (
                self._wrong_state(child, parameters[key], state[key], f"{prefix}{key}")
                for key, child in pairs
                if tree_flatten(child)
            )
            return next((wrong for wrong in wrongs if wrong is not None), None)
        if not mx.issubdtype(parameters.dtype, mx.inexact):
            return None
        new: dict[str, mx.array] = {}
        self.init_single(parameters, new)
        op = type(self).__name__
        whose = f"[{op}] the state of {op} for {path or 'the parameter'}"
        if not isinstance(state, dict):
            return TypeError(
                f"{whose}: got {type(state).__name__}, expected a dict of {', '.join(new)}"
            )
        for name, value in new.items():
            if name not in state:
                return KeyError(f"{whose} lacks {name!r}")
            if getattr(state[name], "shape", None) != value.shape:
                found = getattr(state[name], "shape", type(state[name]).__name__)
                return ValueError(f"{whose}: got {name} of shape {found}, expected {value.shape}")
        return None

    def _apply_to(self, gradient: mx.array, parameter: mx.array, state: dict) -> mx.array:
        # No step leads from one index, truth value or packed code to another.
        if not mx.issubdtype(parameter.dtype, mx.inexact):
            return parameter
        return self.apply_single(gradient, parameter, state)

    @property
    def state(self) -> dict[str, Any]:
        """The optimizer's state; one that was saved may be assigned."""
        return self._state

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        self._check_state(state)
        self._initialized = False
        self._state = state

    def _check_state(self, state: Any) -> None:
        if not isinstance(state, dict):
            raise TypeError(
                f"[{type(self).__name__}] state: got {type(state).__name__}, expected a dict"
            )

    @property
    def step(self) -> mx.array:
        """The number of updates so far, uint64 without axes."""
        return self._entry("step")

    @property
    def learning_rate(self) -> mx.array:
        """The learning rate, float32 without axes; a number or a schedule may be assigned.

        A schedule replaces the one before. A number lasts until the next update if there is one.
        """
        return self._entry("learning_rate")

    @learning_rate.setter
    def learning_rate(self, learning_rate: float | mx.array | Schedule) -> None:
        self._maybe_schedule("learning_rate", learning_rate)

    def _entry(self, name: str) -> mx.array:
        state = self.state
        if name not in state:
            raise KeyError(f"[{type(self).__name__}] state lacks {name!r}")
        return state[name]

    def _maybe_schedule(self, name: str, value: float | mx.array | Schedule) -> None:
        """Set an entry of the state to a number, or to what a schedule gives for each step."""
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

    Args:
        optimizers: the optimizers.
        filters: called with the path and the gradient; a parameter belongs to the first optimizer
            whose filter holds. One fewer than optimizers: the last gets the rest.

    Example:
        >>> optimizers.MultiOptimizer(
        ...     [optimizers.SGD(0.1), optimizers.AdamW(1e-3)],
        ...     [lambda path, gradient: path.endswith("bias")],
        ... )
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
        self.filters = [*filters, lambda path, gradient: True]

    def init(self, parameters: dict) -> None:
        """Make the state of all optimizers, each for its part."""
        for optimizer, part in zip(self.optimizers, self._split(parameters), strict=True):
            optimizer.init(part)

    def apply_gradients(self, gradients: Any, parameters: Any) -> Any:
        """The new values of the parameters that have gradients, as a tree."""
        _check_order("gradients, parameters", gradients, parameters)
        _check_gradients(type(self).__name__, gradients, parameters)
        parts = self._split(gradients)
        updated: Any = {}
        # Those whose turn is over have succeeded, and are put back too if a later one fails.
        with _restored_on_error(self.state):
            for optimizer, part in zip(self.optimizers, parts, strict=True):
                updated = tree_merge(updated, optimizer.apply_gradients(part, parameters))
        return updated

    @property
    def state(self) -> dict[str, Any]:
        """`{"states": [the state of each optimizer]}`."""
        return {"states": [optimizer.state for optimizer in self.optimizers]}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        # All of them first: nothing changes if one is wrong.
        self._check_state(state)
        for optimizer, part in zip(self.optimizers, state["states"], strict=True):
            optimizer.state = part

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        parts = state.get("states", ())
        if not isinstance(parts, (list, tuple)):
            raise TypeError(
                f"[MultiOptimizer] states: got {type(parts).__name__}, expected a list of dicts"
            )
        if len(parts) != len(self.optimizers):
            raise ValueError(
                f"[MultiOptimizer] got {len(parts)} states, expected {len(self.optimizers)}"
            )
        for optimizer, part in zip(self.optimizers, parts, strict=True):
            optimizer._check_state(part)

    @property
    def learning_rate(self) -> mx.array:
        """The first optimizer's learning rate; assigning sets that of all."""
        return self.optimizers[0].learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate: float | mx.array | Schedule) -> None:
        for optimizer in self.optimizers:
            optimizer.learning_rate = learning_rate

    def _split(self, tree: Any) -> list[Any]:
        def owner(path: str, leaf: Any) -> int:
            return next(i for i, holds in enumerate(self.filters) if holds(path, leaf))

        owners = tree_map_with_path(owner, tree, path="")
        return [_part_of(tree, owners, i) for i in range(len(self.optimizers))]


def _part_of(tree: Any, owners: Any, owner: int) -> Any:
    """The part of a tree whose leaves have this owner; `{}` where there is none."""
    if isinstance(tree, dict):
        parts = {key: _part_of(child, owners[key], owner) for key, child in tree.items()}
        return {key: part for key, part in parts.items() if not _is_empty(part)}
    if isinstance(tree, (list, tuple)):
        parts = [_part_of(child, owners[i], owner) for i, child in enumerate(tree)]
        return {} if all(map(_is_empty, parts)) else parts
    return tree if owners == owner else {}


def _is_empty(tree: Any) -> bool:
    return isinstance(tree, dict) and not tree


def _check_order(expected: str, gradients: Any, model: Any) -> None:
    """Refuse a model in the place of the gradients."""
    if isinstance(gradients, Module) and not isinstance(model, Module):
        raise TypeError(
            f"[update] arguments are in the wrong order: got {type(gradients).__name__} as "
            f"gradients, expected ({expected})"
        )


def _number_as_array(value: Any) -> Any:
    """A number, also one of NumPy's or one in a list, as a float32 array; else as it is."""
    if isinstance(value, (list, tuple)) and len(value) == 1:
        return _number_as_array(value[0])
    if isinstance(value, mx.array) or not (
        hasattr(value, "__float__") or hasattr(value, "__index__")
    ):
        return value
    return mx.array(value if hasattr(value, "shape") else float(value), mx.float32)


def _undefined(optimizer: Optimizer, method: str) -> NotImplementedError:
    return NotImplementedError(f"[{type(optimizer).__name__}] the class must define {method}")


def _contents(tree: Any) -> list[tuple[dict, dict]]:
    """The dicts of a tree, each with a copy; rules change nothing else."""
    if isinstance(tree, dict):
        inner = [pair for child in tree.values() for pair in _contents(child)]
        return [(tree, tree.copy()), *inner]
    if isinstance(tree, (list, tuple)):
        return [pair for child in tree for pair in _contents(child)]
    return []


@contextmanager
def _restored_on_error(state: Any) -> Iterator[None]:
    """Put the dicts of a state back to what they are now if the body fails."""
    contents = _contents(state)
    try:
        yield
    except BaseException:
        for container, before in contents:
            container.clear()
            container.update(before)
        raise


def _check_gradients(op: str, gradients: Any, parameters: Any, path: str = "") -> None:
    """Refuse gradients that have no parameter or another shape, before anything changes."""
    prefix = f"{path}." if path else ""
    if isinstance(gradients, dict):
        for key, child in gradients.items():
            # A branch without gradients may be missing.
            if not isinstance(parameters, dict) or key not in parameters:
                if child is None or isinstance(child, mx.array) or tree_flatten(child):
                    raise ValueError(f"[{op}] {prefix}{key} is not a parameter, but has a gradient")
            else:
                _check_gradients(op, child, parameters[key], f"{prefix}{key}")
    elif isinstance(gradients, (list, tuple)):
        if not isinstance(parameters, (list, tuple)) or len(gradients) > len(parameters):
            raise ValueError(
                f"[{op}] got a list of {len(gradients)} gradients for {path or 'the parameters'}, "
                f"expected a tree shaped like the parameters"
            )
        for i, child in enumerate(gradients):
            _check_gradients(op, child, parameters[i], f"{prefix}{i}")
    else:
        _check_gradient(op, gradients, parameters, path)


def _check_gradient(op: str, gradient: Any, parameter: Any, path: str) -> None:
    place = f" for {path}" if path else ""
    for name, value in {"gradient": gradient, "parameter": parameter}.items():
        if not isinstance(value, mx.array):
            raise TypeError(
                f"[{op}] the {name}{place}: got {type(value).__name__}, expected an array"
            )
    if gradient.shape != parameter.shape:
        raise ValueError(
            f"[{op}] the gradient{place}: got the shape {gradient.shape}, "
            f"expected {parameter.shape}"
        )


def _same_shapes(updated: Any, gradients: Any) -> bool:
    pairs = zip(tree_flatten(updated), tree_flatten(gradients), strict=True)
    return all(getattr(new, "shape", None) == gradient.shape for (_, new), (_, gradient) in pairs)


def _has_places(state: Any, gradients: Any) -> bool:
    """Whether every gradient has a place in the state."""
    if isinstance(gradients, dict):
        return isinstance(state, dict) and all(
            key in state and _has_places(state[key], child) for key, child in gradients.items()
        )
    if isinstance(gradients, (list, tuple)):
        return isinstance(state, (list, tuple)) and all(
            i < len(state) and _has_places(state[i], child) for i, child in enumerate(gradients)
        )
    return isinstance(state, dict)


def _with_places(state: Any, parameters: Any, init_single: Callable) -> Any:
    """`state` with a place, made by `init_single`, for each parameter that had none."""
    if isinstance(parameters, dict):
        state = dict(by_key(parameters, state or {}, mx.array))
        for key, child in parameters.items():
            state[key] = _with_places(state.get(key), child, init_single)
        return state
    if isinstance(parameters, (list, tuple)):
        state = [*(state or [])]
        state += [None] * (len(parameters) - len(state))
        for i, child in enumerate(parameters):
            state[i] = _with_places(state[i], child, init_single)
        return state
    if state:
        return state
    state = {}
    init_single(parameters, state)
    return state
