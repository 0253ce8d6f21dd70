"""Search for arrays and modules that are assigned to a module but not part of its tree."""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, ValuesView
from typing import Any, NamedTuple

import umber.core as mx
from umber.nn.layers.tree_paths import is_node, pairs_of
from umber.utils import _flatten_node

# Containers that are not pytrees.
_COLLECTIONS = (set, frozenset, deque, KeysView, ValuesView, ItemsView, types.MappingProxyType)
# The most common types of assigned values, which cannot contain arrays.
_ATOMIC_TYPES = frozenset({int, float, complex, bool, str, bytes, type(None), range, slice})
# Objects of these types refer to others, but do not hold them as data.
_OPAQUE = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
)
# Packages with objects that hold their own arrays, such as the state of an optimizer.
_OWN_PACKAGES = ("umber", "mlx")
# Limit of visited objects, since one may refer to very many others.
_MAX_VISITED = 10_000


class HiddenValue(NamedTuple):
    """A value that is not part of the module's tree."""

    path: str
    value: Any
    contains: str | None
    """`"arrays"` or `"modules"`; None for an array of another library."""


def find_hidden(
    path: str, value: Any, is_module: Callable[[Any], bool], is_reached: Callable[[Any], bool]
) -> Iterator[HiddenValue]:
    """The arrays of other libraries in a tree, and the leaves that contain arrays or modules.

    Parameters
    ----------
    path : str
        Path of the tree.
    value : Any
        The tree, of dicts, lists, tuples and nodes of registered classes.
    is_module : callable
        Whether an object is a module.
    is_reached : callable
        Whether an array or module that a leaf contains is also part of the module's tree.

    Yields
    ------
    Unreached
        Each such array or leaf.
    """
    pending = [] if type(value) in _ATOMIC_TYPES else [(path, value)]
    entered: set[int] = set()
    while pending:
        path, value = pending.pop()
        if isinstance(value, mx.array) or is_module(value) or id(value) in entered:
            continue
        if is_node(value) and (
            contains := _contents_of(_flatten_node(value)[1], is_module, is_reached)
        ):
            yield HiddenValue(path, value, contains)
        if isinstance(value, (dict, list, tuple)) or is_node(value):
            entered.add(id(value))
            children = value.items() if isinstance(value, dict) else pairs_of(value)
            pending += [
                (f"{path}.{key}", child)
                for key, child in children
                if type(child) not in _ATOMIC_TYPES
            ]
        elif _is_foreign_array(value):
            yield HiddenValue(path, value, None)
        elif contains := _contents_of(value, is_module, is_reached):
            yield HiddenValue(path, value, contains)


def _is_foreign_array(value: Any) -> bool:
    """Whether a value is an array of another library, such as NumPy; scalars are settings."""
    return hasattr(type(value), "__array__") and getattr(value, "ndim", 0) > 0


def _contents_of(
    value: Any, is_module: Callable[[Any], bool], is_reached: Callable[[Any], bool]
) -> str | None:
    """Whether an object contains `"arrays"` or `"modules"`, at any depth; else `None`."""
    pending = [value]
    visited: dict[int, Any] = {}
    while pending and len(visited) < _MAX_VISITED:
        value = pending.pop()
        if id(value) in visited:
            continue
        # The reference keeps the object alive, and its id from being used again.
        visited[id(value)] = value
        if is_module(value) or isinstance(value, mx.array):
            if not is_reached(value):
                return "modules" if is_module(value) else "arrays"
        else:
            pending += _children(value)
    return None


def _children(value: Any) -> Iterable[Any]:
    """The values that an object references as data."""
    if type(value) in _ATOMIC_TYPES or isinstance(value, _OPAQUE):
        return ()
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, (list, tuple, *_COLLECTIONS)):
        return tuple(value.values() if isinstance(value, types.MappingProxyType) else value)
    if isinstance(value, functools.partial):
        return (value.func, *value.args, *value.keywords.values())
    classes = type(value).__mro__[:-1]
    if any(cls.__module__.partition(".")[0] in _OWN_PACKAGES for cls in classes):
        return ()
    slots = [name for cls in classes for name in _slots_of(cls)]
    return (*getattr(value, "__dict__", {}).values(), *(getattr(value, s, None) for s in slots))


def _slots_of(cls: type) -> tuple[str, ...]:
    slots = vars(cls).get("__slots__", ())
    names = (slots,) if isinstance(slots, str) else tuple(slots)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))
