"""Parameters of several modules that are one parameter.

A module stores its ties by the names of its parameters in `_ties`. Each of these entries holds the
shared array, and every assignment to one of them stores the array in all.
"""

from __future__ import annotations

from typing import Any


class Tie:
    """The entries of modules that hold one parameter."""

    # Whether there has been a tie: most programs have none, and need not look for them.
    exists = False
    # Copies and pickles fill modules before their ties.
    members: tuple[tuple[Any, str], ...] = ()

    def __new__(cls) -> Tie:
        Tie.exists = True
        return super().__new__(cls)

    def store(self, value: Any) -> None:
        """Store a value in all entries that exist."""
        for module, name in self.members:
            if dict.__contains__(module, name):
                dict.__setitem__(module, name, value)


def tie_of(container: Any, key: Any) -> Tie | None:
    """The tie of an entry."""
    if not Tie.exists:
        return None
    ties = getattr(container, "_ties", None)
    return None if ties is None else ties.get(key)


def tie(members: list[tuple[Any, str]]) -> Tie:
    """Tie entries, and those that are tied to them already."""
    joined = Tie()
    for module, name in members:
        old = tie_of(module, name)
        joined.members += ((module, name),) if old is None else old.members
    # An entry may be given twice, or be tied to another one already.
    distinct = {(id(module), name): (module, name) for module, name in joined.members}
    joined.members = tuple(distinct.values())
    for module, name in joined.members:
        # Past `__setattr__`, to which a dict is an entry.
        module.__dict__.setdefault("_ties", {})[name] = joined
    return joined


def untie(module: Any, name: str) -> None:
    """Remove an entry from its tie."""
    old = tie_of(module, name)
    if old is not None:
        del module.__dict__["_ties"][name]
        old.members = tuple(
            (other, key) for other, key in old.members if other is not module or key != name
        )
