"""Text for the reprs of optimizers: options, numbers and the names of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import umber.core as mx


def with_options(owner: Any, **more: Any) -> str:
    """The class of an object with its public attributes, and more of them."""
    options = {name: value for name, value in vars(owner).items() if not name.startswith("_")}
    entries = (f"{name}={number_of(value)}" for name, value in (options | more).items())
    return f"{type(owner).__name__}({', '.join(entries)})"


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
