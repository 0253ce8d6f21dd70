"""The reprs of optimizers: options, numbers, the names of functions and the size of the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import umber.core as mx
from umber.nn.layers.html_repr import to_html
from umber.utils import tree_flatten


class Described:
    """Base class that shows an object with its options, as text and as HTML."""

    state: Any

    def __repr__(self) -> str:
        """The class with its options, as they are now."""
        entries = (f"{name}={text}" for name, text in self._repr_options().items())
        return f"{type(self).__name__}({', '.join(entries)})"

    def _repr_html_(self) -> str:
        return to_html(self, name_of)

    def _repr_options(self) -> dict[str, str]:
        """The options that the repr shows, by name: the public attributes."""
        return {
            name: number_of(value) for name, value in vars(self).items() if not name.startswith("_")
        }

    def _extra_repr(self) -> str:
        """The options that are not shown as nodes of their own."""
        children = dict(self._repr_children())
        options = self._repr_options().items()
        return ", ".join(f"{name}={text}" for name, text in options if name not in children)

    def _repr_children(self) -> list[tuple[str, Any]]:
        """The optimizers in this one, by name."""
        attributes = vars(self).items()
        return [(name, value) for name, value in attributes if isinstance(value, Described)]

    def _repr_note(self) -> str:
        """The number and size of the arrays of the state."""
        leaves = (leaf for _, leaf in tree_flatten(self.state))
        sizes = [leaf.nbytes for leaf in leaves if isinstance(leaf, mx.array)]
        return f"state: {len(sizes):,} arrays, {sum(sizes):,} bytes"


def number_of(value: Any) -> str:
    """The repr of a hyperparameter, and of an array the value."""
    if not isinstance(value, mx.array) or value.size != 1:
        return repr(value)
    try:
        number = value.item()
    except ValueError:
        return "traced"
    return f"{number:.6g}" if isinstance(number, float) else str(number)


def name_of(function: Callable) -> str:
    """The name of a schedule or filter, or its repr if it has none."""
    return getattr(function, "__qualname__", repr(function)).lstrip("_")
