"""Slots in trees of modules, containers and nodes: search by a tree of values, and assignment.

Nodes are instances of classes that `umber.utils.register_tree_node` was called for. Dicts are
accessed by the methods of `dict`, because a module may define others, such as a `__getitem__` that
counts its layers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from umber.nn.layers.ties import Tie, tie_of
from umber.utils import _children, _nodes, _rebuild

_ABSENT = object()


def is_node(value: Any) -> bool:
    """Whether a value is an instance of a registered class, other than a container."""
    return type(value) in _nodes and not isinstance(value, (dict, list, tuple))


def is_keyed(tree: Any) -> bool:
    """Whether the children of a tree have names, in contrast to indices."""
    tree = tree.value if isinstance(tree, Fixed) else tree
    return isinstance(tree, dict) or (is_node(tree) and _nodes[type(tree)][2] is not None)


class Fixed:
    """A tuple or node in a container, which a new one replaces to change a child of it."""

    def __init__(self, container: Any, key: Any) -> None:
        self.container = container
        self.key = key

    @property
    def value(self) -> Any:
        """The tuple or node."""
        return _entry(self.container, self.key)

    def __getitem__(self, key: Any) -> Any:
        value = self.value
        return dict(_children(value))[key] if is_node(value) else value[key]

    def with_children(self, children: dict[Any, Any]) -> Any:
        """A tuple or node of the same class with some other children."""
        value = self.value
        pairs = [(key, child, children.get(key, child)) for key, child in pairs_of(value)]
        if all(old is new for _, old, new in pairs):
            return value
        return with_children(value, [new for _, _, new in pairs])

    @property
    def identity(self) -> tuple:
        """Key that is equal for all views of one position."""
        return (*_identity(self.container), self.key)


class Slot(NamedTuple):
    """A position in a container and the value to store there."""

    container: Any
    key: Any
    value: Any

    @property
    def identity(self) -> tuple:
        """Key that is equal for all paths to the position, and for positions that are tied."""
        tie = tie_of(self.container, self.key)
        return (*_identity(self.container), self.key) if tie is None else (id(tie),)

    def is_filled(self) -> bool:
        """Whether the container holds the value at the position now."""
        try:
            return _entry(self.container, self.key) is self.value
        except (KeyError, IndexError, TypeError):
            return False


def with_children(like: Any, children: list[Any]) -> Any:
    """A tuple or node of the class of `like`, whose constructor may take other arguments."""
    if isinstance(like, tuple):
        return tuple.__new__(type(like), children)
    return _rebuild(like, (), children)


def assign(slots: list[Slot]) -> list[Slot]:
    """Store the values of the slots; returns the slots that undo it."""
    originals = [Slot(container, key, _entry(container, key)) for container, key, _ in slots]
    store(slots)
    return originals


def store(slots: list[Slot]) -> None:
    """Store the values of the slots; if a class refuses its new children, store none."""
    direct = []
    changed: dict[tuple, tuple[Fixed, dict[Any, Any]]] = {}
    for slot in slots:
        if isinstance(slot.container, Fixed):
            _, children = changed.setdefault(slot.container.identity, (slot.container, {}))
            children[slot.key] = slot.value
        else:
            direct.append(slot)
    # The innermost first. Each is created once, with all its new children.
    for depth in range(max(map(len, changed), default=0), 0, -1):
        for identity in [each for each in changed if len(each) == depth]:
            fixed, children = changed.pop(identity)
            outer, key, value = fixed.container, fixed.key, fixed.with_children(children)
            if isinstance(outer, Fixed):
                changed.setdefault(outer.identity, (outer, {}))[1][key] = value
            else:
                direct.append(Slot(outer, key, value))
    for container, key, value in direct:
        _put(container, key, value)


def current(slots: list[Slot]) -> list[Slot]:
    """The slots with what they hold now; in place of a child of a tuple or node, that."""
    found = []
    for container, key, _ in slots:
        while isinstance(container, Fixed):
            container, key = container.container, container.key
        found.append(Slot(container, key, _entry(container, key)))
    return found


def find_slots(
    target: Any, updates: Any, leaf: type, strict: bool = True, op: str = "Module.update"
) -> list[Slot]:
    """The slots in `target` for the values in a tree of updates, all of type `leaf`.

    With `strict` a value for which `target` holds no `leaf` is an error; otherwise it is ignored.
    Empty containers stand for no update. Errors name `op`.
    """
    if not isinstance(updates, (dict, list, tuple)):
        raise TypeError(f"[{op}] got {type(updates).__name__}, expected a tree of dicts and lists")
    return list(_walk(target, updates, leaf, strict, op, ""))


def containers_in(tree: Any) -> list[Any]:
    """The containers and nodes of a tree, each once, starting with the tree itself."""
    pending: list[Any] = [tree]
    containers: dict[int, Any] = {}
    while pending:
        container = pending.pop()
        if _is_inner(container) and id(container) not in containers:
            containers[id(container)] = container
            pending += (value for _, value in pairs_of(container))
    return [*containers.values()]


def pairs_of(tree: Any) -> Iterable[tuple[Any, Any]]:
    """The children of a container or node with their keys."""
    if is_node(tree):
        return _children(tree)
    return dict.items(tree) if isinstance(tree, dict) else enumerate(tree)


def by_key(target: dict, updates: Any, leaf: type) -> dict:
    """The updates of a dict with the dict's own keys, which a flat file may have changed.

    `tree_unflatten` returns a dict with the keys "0", "1", … as a list, numbers as strings, and
    keys with dots as nested dicts.
    """
    if not isinstance(updates, dict):
        updates = {str(key): value for key, value in pairs_of(updates)}
    own = dict.keys(target)
    if dict.keys(updates) <= own and not any("." in str(key) for key in own):
        return updates
    names = {str(key): key for key in own}

    def is_prefix(path: str) -> bool:
        return path in names or any(name.startswith(f"{path}.") for name in names)

    result = {}
    pending = [*reversed(dict.items(updates))]
    while pending:
        key, new = pending.pop()
        own_key = key if key in own else names.get(str(key), key)
        current = dict.get(target, own_key, {})
        if _is_container(new, leaf) and isinstance(current, dict):
            inner = dict(pairs_of(new))
            nested = [k for k in inner if k not in dict.keys(current) and is_prefix(f"{key}.{k}")]
            pending += [(f"{key}.{k}", inner.pop(k)) for k in reversed(nested)]
            if nested:
                new = {k: child for k, child in inner.items() if not _is_empty(child, leaf)}
            if nested and not new:
                continue
        result[own_key] = new
    return result


def _entry(container: Any, key: Any) -> Any:
    return dict.__getitem__(container, key) if isinstance(container, dict) else container[key]


def _put(container: Any, key: Any, value: Any) -> None:
    if isinstance(container, dict):
        # Bypasses the checks of user assignments, which would slow down every training step.
        dict.__setitem__(container, key, value)
        if Tie.exists and (tie := tie_of(container, key)) is not None:
            tie.store(value)
    else:
        container[key] = value


def _identity(container: Any) -> tuple:
    return container.identity if isinstance(container, Fixed) else (id(container),)


def _walk(
    target: Any, updates: Any, leaf: type, strict: bool, op: str, path: str
) -> Iterator[Slot]:
    own = target.value if isinstance(target, Fixed) else target
    children = own if isinstance(own, dict) else dict(pairs_of(own))
    if is_keyed(own):
        updates = by_key(children, updates, leaf)
    elif is_keyed(updates):
        if strict and not _is_empty(updates, leaf):
            raise _mismatch(op, path, updates, own)
        return
    for key, new in pairs_of(updates):
        child_path = f"{path}.{key}" if path else str(key)
        old = dict.get(children, key, _ABSENT)
        if isinstance(old, leaf) and isinstance(new, leaf):
            yield Slot(target, key, new)
        elif _is_inner(old) and _is_container(new, leaf):
            inner = Fixed(target, key) if isinstance(old, tuple) or is_node(old) else old
            yield from _walk(inner, new, leaf, strict, op, child_path)
        elif strict and ((old is _ABSENT and not is_keyed(own)) or not _is_empty(new, leaf)):
            if old is not _ABSENT:
                raise _mismatch(op, child_path, new, old)
            raise ValueError(
                f"[{op}] {child_path} does not exist in the module "
                f"(value of type {type(new).__name__})"
            )


def _is_inner(value: Any) -> bool:
    """Whether a value has children."""
    return isinstance(value, (dict, list, tuple)) or is_node(value)


def _is_container(value: Any, leaf: type) -> bool:
    return _is_inner(value) and not isinstance(value, leaf)


def _is_empty(value: Any, leaf: type) -> bool:
    return _is_container(value, leaf) and next(iter(pairs_of(value)), None) is None


def _mismatch(op: str, path: str, new: Any, old: Any) -> ValueError:
    prefix = f"{path}: " if path else ""
    return ValueError(
        f"[{op}] {prefix}cannot replace {type(old).__name__} with {type(new).__name__}"
    )
