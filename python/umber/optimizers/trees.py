"""Trees of gradients, parameters and states: their checks, initialisation and restoration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import umber.core as mx
from umber.nn import Module
from umber.nn.layers.tree_paths import by_key, is_keyed, is_node, pairs_of
from umber.utils import tree_flatten, tree_map


def check_order(expected: str, gradients: Any, model: Any) -> None:
    """Raise if a model was passed in place of the gradients."""
    if isinstance(gradients, Module) and not isinstance(model, Module):
        raise TypeError(
            f"[update] arguments are in the wrong order: got {type(gradients).__name__} as "
            f"gradients, expected ({expected})"
        )


def snapshot(state: Any) -> Callable[[], None]:
    """A function that restores the dicts of a state as they are now.

    Update rules change nothing else.
    """
    contents = [*_contents(state)]

    def restore() -> None:
        for container, saved in contents:
            container.clear()
            container.update(saved)

    return restore


def _contents(tree: Any) -> Iterator[tuple[dict, dict]]:
    """The dicts of a tree, each with a copy."""
    if isinstance(tree, dict):
        yield tree, tree.copy()
    if isinstance(tree, (dict, list, tuple)):
        for child in tree.values() if isinstance(tree, dict) else tree:
            yield from _contents(child)


def assigned(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The dict to keep as state when `new` is assigned in place of `old`.

    It is `new` itself, as in MLX, unless a compiled function declares `old` as its state: such a
    function knows only that dict, which takes the entries of `new`.
    """
    if new is old or not mx._is_declared_state(old):  # type: ignore[attr-defined]
        return new
    # Copies of the containers, so that updates do not reach into the dict that was assigned.
    entries = tree_map(lambda leaf: leaf, new)
    old.clear()
    old.update(entries)
    return old


@contextmanager
def restored_on_error(state: Any) -> Iterator[None]:
    """Restore the dicts of a state if the body raises."""
    restore = snapshot(state)
    try:
        yield
    except BaseException:
        restore()
        raise


def check_gradients(op: str, gradients: Any, parameters: Any, path: str = "") -> None:
    """Raise for gradients without parameter or of another shape, before anything changes."""
    prefix = f"{path}." if path else ""
    if is_node(parameters):
        children = dict(pairs_of(parameters))
        parameters = children if is_keyed(parameters) else [*children.values()]
    if isinstance(gradients, dict):
        for key, child in gradients.items():
            # A subtree without gradients may have no parameters.
            if not isinstance(parameters, dict) or key not in parameters:
                if child is None or isinstance(child, mx.array) or tree_flatten(child):
                    raise ValueError(f"[{op}] {prefix}{key} is not a parameter, but has a gradient")
            else:
                check_gradients(op, child, parameters[key], f"{prefix}{key}")
    elif isinstance(gradients, (list, tuple)):
        if not isinstance(parameters, (list, tuple)) or len(gradients) > len(parameters):
            raise ValueError(
                f"[{op}] got a list of {len(gradients)} gradients for {path or 'the parameters'}, "
                f"expected a tree shaped like the parameters"
            )
        for i, child in enumerate(gradients):
            check_gradients(op, child, parameters[i], f"{prefix}{i}")
    else:
        _check_gradient(op, gradients, parameters, path)


def _check_gradient(op: str, gradient: Any, parameter: Any, path: str) -> None:
    suffix = f" for {path}" if path else ""
    for name, value in {"gradient": gradient, "parameter": parameter}.items():
        if not isinstance(value, mx.array):
            raise TypeError(
                f"[{op}] the {name}{suffix}: got {type(value).__name__}, expected an array"
            )
    if gradient.shape != parameter.shape:
        raise ValueError(
            f"[{op}] the gradient{suffix}: got the shape {gradient.shape}, "
            f"expected {parameter.shape}"
        )


def same_shapes(updated: Any, gradients: Any) -> bool:
    pairs = zip(tree_flatten(updated), tree_flatten(gradients), strict=True)
    return all(getattr(new, "shape", None) == gradient.shape for (_, new), (_, gradient) in pairs)


def has_states(state: Any, gradients: Any) -> bool:
    """Whether every gradient has a state."""
    if isinstance(gradients, dict):
        return isinstance(state, dict) and all(
            key in state and has_states(state[key], child) for key, child in gradients.items()
        )
    if isinstance(gradients, (list, tuple)):
        return isinstance(state, (list, tuple)) and all(
            i < len(state) and has_states(state[i], child) for i, child in enumerate(gradients)
        )
    return isinstance(state, dict)


def child_at(tree: Any, key: Any) -> Any:
    """The child of a dict, list or tuple at a key, or None."""
    if isinstance(tree, dict):
        return tree.get(key)
    is_present = isinstance(tree, (list, tuple)) and isinstance(key, int) and key < len(tree)
    return tree[key] if is_present else None


def has_fixed_entries(optimizer: Any) -> bool:
    """Whether `init_single` creates all entries of a state: other classes may add some later."""
    rules = (type(optimizer).init_single, type(optimizer).apply_single)
    return all(str(getattr(rule, "__module__", "")).startswith("umber.") for rule in rules)


def with_states(state: Any, parameters: Any, init_single: Callable) -> Any:
    """`state` with an entry, created by `init_single`, for each parameter without one."""
    if isinstance(parameters, dict):
        state = dict(by_key(parameters, state or {}, mx.array))
        for key, child in parameters.items():
            state[key] = with_states(state.get(key), child, init_single)
        return state
    if isinstance(parameters, (list, tuple)):
        state = [*(state or [])]
        state += [None] * (len(parameters) - len(state))
        for i, child in enumerate(parameters):
            state[i] = with_states(state[i], child, init_single)
        return state
    if state:
        return state
    state = {}
    init_single(parameters, state)
    return state
