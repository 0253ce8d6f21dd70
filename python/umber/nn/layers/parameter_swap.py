"""Temporary replacement of a module's parameters, for example by traced arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import umber.core as mx
from umber.nn.layers.base import Module, overrides
from umber.nn.layers.tree_paths import (
    Slot,
    assign,
    containers_in,
    current,
    find_slots,
    is_node,
    pairs_of,
    store,
    with_children,
)

_ABSENT = object()


def swap_parameters(module: Module, parameters: dict) -> Callable[[], None]:
    """Replace the parameters of a module by those of a tree; returns a function that restores them.

    Entries that were replaced in between are not restored. If the class of the module overrides
    `update`, that method is called, and its changes of arrays and containers are undone, for
    example of arrays that it computes from parameters; other changes, such as counters, are kept.
    """
    if not overrides(module, "update"):
        traced = find_slots(module, parameters, mx.array)
        own = assign(traced)
        return lambda: _restore_slots(own, traced)
    original_contents = _contents(module)
    try:
        module.update(parameters)
    except BaseException:
        _undo(original_contents, _contents(module))
        raise
    updated_contents = _contents(module)
    return lambda: _undo(original_contents, updated_contents)


@contextmanager
def parameters_swapped(module: Module, parameters: dict, op: str) -> Iterator[None]:
    """Replace the parameters of a module by those of a tree while the context lasts.

    Unlike the function of `swap_parameters`, the end restores every parameter of the tree, also if
    it was replaced or deleted in between. Errors name `op`.
    """
    # An overridden `update` may know other names.
    slots = find_slots(module, parameters, mx.array, not overrides(module, "update"), op)
    own = current(slots)
    restore = swap_parameters(module, parameters)
    try:
        yield
    finally:
        restore()
        store(own)


@contextmanager
def changes_undone(module: Module) -> Iterator[None]:
    """Undo changes of the arrays and containers of a module when the context ends."""
    before = _contents(module)
    try:
        yield
    finally:
        _undo(before, _contents(module))


def _restore_slots(own: list[Slot], traced: list[Slot]) -> None:
    assign([old for old, new in zip(own, traced, strict=True) if new.is_filled()])


class _Content(NamedTuple):
    """The entries of a container at one time."""

    container: Any
    entries: Any


def _contents(module: Module) -> dict[int, _Content]:
    """The entries of all containers of a module and its modules' plain attributes, by identity."""
    contents: dict[int, _Content] = {}
    for container in containers_in(module):
        attributes = [vars(container)] if isinstance(container, Module) else []
        for entries in [container, *attributes]:
            if isinstance(entries, dict):
                items = {key: _copy(value) for key, value in dict.items(entries)}
                contents[id(entries)] = _Content(entries, items)
            elif isinstance(entries, list):
                contents[id(entries)] = _Content(entries, [_copy(value) for value in entries])
    return contents


def _copy(value: Any) -> Any:
    """A new node of the same leaves, since attributes of a node may change; other values as is."""
    if not is_node(value):
        return value
    return with_children(value, [_copy(child) for _, child in pairs_of(value)])


def _is_same(a: Any, b: Any) -> bool:
    """Whether two values are one object, or nodes of one class that hold the same objects."""
    if a is b or not is_node(a) or type(a) is not type(b):
        return a is b
    children = [[child for _, child in pairs_of(node)] for node in (a, b)]
    return len(children[0]) == len(children[1]) and all(map(_is_same, *children))


def _undo(before: dict[int, _Content], after: dict[int, _Content]) -> None:
    """Restore entries that differ between two snapshots and have not changed since the second."""
    for key, (container, old) in before.items():
        if key not in after:
            continue
        new = after[key].entries
        if isinstance(container, dict):
            _undo_in_dict(container, old, new)
        else:
            _undo_in_list(container, old, new)


def _undo_in_dict(container: dict, old: dict, new: dict) -> None:
    for key in old | new:
        original, changed = old.get(key, _ABSENT), new.get(key, _ABSENT)
        is_current = _is_same(dict.get(container, key, _ABSENT), changed)
        is_tree = _is_tree(original) or _is_tree(changed)
        if _is_same(original, changed) or not is_current or not is_tree:
            continue
        if original is _ABSENT:
            dict.__delitem__(container, key)
        else:
            dict.__setitem__(container, key, original)


def _undo_in_list(container: list, old: list, new: list) -> None:
    if len(old) == len(new) == len(container):
        for i, (original, changed) in enumerate(zip(old, new, strict=True)):
            is_current = _is_same(container[i], changed)
            if is_current and _is_tree(changed) and not _is_same(original, changed):
                container[i] = original
    elif len(container) == len(new) and any(map(_is_tree, old + new)):
        container[:] = old


def _is_tree(value: Any) -> bool:
    return isinstance(value, (mx.array, dict, list, tuple)) or is_node(value)
