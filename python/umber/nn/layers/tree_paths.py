"""Slots in trees of modules, dicts, lists and tuples: search by a tree of values, and assignment.

Dicts are accessed by the methods of `dict`, because a module may define others, such as a
`__getitem__` that counts its layers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from umber.nn.layers.ties import Tie, tie_of


class Elements:
    """Mutable view of a tuple in a container: assigning an element replaces the tuple."""

    def __init__(self, container: Any, key: Any) -> None:
        self.container = container
        self.key = key

    def __getitem__(self, index: int) -> Any:
        return _entry(self.container, self.key)[index]

    def __setitem__(self, index: int, value: Any) -> None:
        old = _entry(self.container, self.key)
        elements = [*old]
        elements[index] = value
        _put(self.container, self.key, with_elements(old, elements))

    def __len__(self) -> int:
        return len(_entry(self.container, self.key))

    @property
    def identity(self) -> tuple:
        """Key that is equal for all views of one tuple."""
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


def with_elements(like: tuple, elements: Iterable[Any]) -> tuple:
    """A tuple of the class of `like`, whose constructor may take other arguments."""
    return tuple.__new__(type(like), elements)


def assign(slots: list[Slot]) -> list[Slot]:
    """Store the values of the slots; returns the slots that undo it."""
    originals = [Slot(container, key, _entry(container, key)) for container, key, _ in slots]
    store(slots)
    return originals


def store(slots: list[Slot]) -> None:
    """Store the values of the slots."""
    for container, key, value in slots:
        _put(container, key, value)


def current(slots: list[Slot]) -> list[Slot]:
    """The slots with what they hold now; in place of an element of a tuple, the tuple."""
    found = []
    for container, key, _ in slots:
        while isinstance(container, Elements):
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
    """The dicts, lists and tuples of a tree, each once, starting with the tree itself."""
    pending: list[Any] = [tree]
    containers: dict[int, Any] = {}
    while pending:
        container = pending.pop()
        if isinstance(container, (dict, list, tuple)) and id(container) not in containers:
            containers[id(container)] = container
            pending += (value for _, value in _pairs(container))
    return [*containers.values()]


def by_key(target: dict, updates: Any, leaf: type) -> dict:
    """The updates of a dict with the dict's own keys, which a flat file may have changed.

    `tree_unflatten` returns a dict with the keys "0", "1", … as a list, numbers as strings, and
    keys with dots as nested dicts.
    """
    if isinstance(updates, (list, tuple)):
        updates = {str(i): value for i, value in enumerate(updates)}
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
            inner = dict(_pairs(new))
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


def _pairs(tree: Any) -> Iterable[tuple[Any, Any]]:
    return dict.items(tree) if isinstance(tree, dict) else enumerate(tree)


def _put(container: Any, key: Any, value: Any) -> None:
    if isinstance(container, dict):
        # Bypasses the checks of user assignments, which would slow down every training step.
        dict.__setitem__(container, key, value)
        if Tie.exists and (tie := tie_of(container, key)) is not None:
            tie.store(value)
    else:
        container[key] = value


def _identity(container: Any) -> tuple:
    return container.identity if isinstance(container, Elements) else (id(container),)


def _walk(
    target: Any, updates: Any, leaf: type, strict: bool, op: str, path: str
) -> Iterator[Slot]:
    if isinstance(target, dict):
        updates = by_key(target, updates, leaf)
    is_sequence = isinstance(updates, (list, tuple))
    if is_sequence == isinstance(target, dict):
        if strict and not _is_empty(updates, leaf):
            raise _mismatch(op, path, updates, target)
        return
    for key, new in _pairs(updates):
        child_path = f"{path}.{key}" if path else str(key)
        exists = key < len(target) if is_sequence else dict.__contains__(target, key)
        old = _entry(target, key) if exists else None
        if isinstance(old, leaf) and isinstance(new, leaf):
            yield Slot(target, key, new)
        elif exists and isinstance(old, (dict, list, tuple)) and _is_container(new, leaf):
            inner = Elements(target, key) if isinstance(old, tuple) else old
            yield from _walk(inner, new, leaf, strict, op, child_path)
        elif strict and ((is_sequence and not exists) or not _is_empty(new, leaf)):
            if exists:
                raise _mismatch(op, child_path, new, old)
            raise ValueError(
                f"[{op}] {child_path} does not exist in the module "
                f"(value of type {type(new).__name__})"
            )


def _is_container(value: Any, leaf: type) -> bool:
    return isinstance(value, (dict, list, tuple)) and not isinstance(value, leaf)


def _is_empty(value: Any, leaf: type) -> bool:
    return _is_container(value, leaf) and next(iter(_pairs(value)), None) is None


def _mismatch(op: str, path: str, new: Any, old: Any) -> ValueError:
    prefix = f"{path}: " if path else ""
    old = _entry(old.container, old.key) if isinstance(old, Elements) else old
    return ValueError(
        f"[{op}] {prefix}cannot replace {type(old).__name__} with {type(new).__name__}"
    )
