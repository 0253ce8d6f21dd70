"""Places in trees of modules, lists and dicts: found by a tree of new values, and filled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple


class Slot(NamedTuple):
    """A place in a tree and what shall stand there."""

    container: Any
    key: Any
    value: Any

    @property
    def identity(self) -> tuple[int, Any]:
        """The same for all paths that lead to the place."""
        return id(self.container), self.key


def assign(slots: list[Slot]) -> list[Slot]:
    """Put the values into their places; returns the slots that undo it."""
    before = [Slot(container, key, container[key]) for container, key, _ in slots]
    for container, key, value in slots:
        if isinstance(container, dict):
            # Past what modules look at when a user assigns, which every step would pay for.
            dict.__setitem__(container, key, value)
        else:
            container[key] = value
    return before


def find_slots(target: Any, updates: Any, leaf: type, strict: bool = True) -> list[Slot]:
    """The places in `target` of the values in a tree of updates, all of the type `leaf`.

    With `strict` a value without a place that holds a `leaf` now is an error, else it is passed
    over. Empty containers stand for "nothing here".
    """
    if not isinstance(updates, (dict, list, tuple)):
        raise TypeError(
            f"[Module.update] got {type(updates).__name__}, expected a tree of dicts and lists"
        )
    return list(_walk(target, updates, leaf, strict, ""))


def _walk(target: Any, updates: Any, leaf: type, strict: bool, path: str) -> Iterator[Slot]:
    if isinstance(updates, (list, tuple)) and isinstance(target, dict):
        # A dict with the keys "0", "1", … comes back from a flat file as a list.
        updates = {str(i): value for i, value in enumerate(updates)}
    is_sequence = isinstance(updates, (list, tuple))
    if is_sequence != isinstance(target, list):
        if strict and updates:
            raise _mismatch(path, updates, target)
        return
    for key, new in enumerate(updates) if is_sequence else updates.items():
        place = f"{path}.{key}" if path else str(key)
        is_there = key < len(target) if is_sequence else key in target
        old = target[key] if is_there else None
        if isinstance(old, leaf) and isinstance(new, leaf):
            yield Slot(target, key, new)
        elif is_there and isinstance(old, (dict, list)) and _is_container(new, leaf):
            yield from _walk(old, new, leaf, strict, place)
        elif strict and ((is_sequence and not is_there) or not _is_empty(new, leaf)):
            if is_there:
                raise _mismatch(place, new, old)
            raise ValueError(
                f"[Module.update] {place} does not exist: got a value of type "
                f"{type(new).__name__}, expected only places that the module has"
            )


def _is_container(value: Any, leaf: type) -> bool:
    return isinstance(value, (dict, list, tuple)) and not isinstance(value, leaf)


def _is_empty(value: Any, leaf: type) -> bool:
    return _is_container(value, leaf) and not value


def _mismatch(path: str, new: Any, old: Any) -> ValueError:
    place = f"for {path} " if path else ""
    return ValueError(
        f"[Module.update] {place}got a value of type {type(new).__name__}, "
        f"expected one that can replace {type(old).__name__}"
    )
