"""Programs of libraries that speak the array API, run with NumPy's arrays and with umber's.

A program takes a namespace and a function that makes an array of the namespace from NumPy's, and
gives arrays, numbers, or trees of them. SciPy decides when it is imported whether it speaks the
standard, which is why they run in a process of their own: `python -m array_api_clients GROUP`
prints, as JSON, what is wrong with each program of a group, if anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np


def programs_of(group: str) -> dict[str, Callable]:
    """The programs of a group by name, in the order in which they are written."""
    module = import_module(f"array_api_clients.{group}_programs")
    return {
        name: value
        for name, value in vars(module).items()
        if callable(value) and not name.startswith("_") and value.__module__ == module.__name__
    }


def leaves(tree: Any) -> list:
    """Arrays and numbers of a tree of sequences and dicts."""
    if isinstance(tree, list | tuple):
        return [leaf for part in tree for leaf in leaves(part)]
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    return [tree]


def complaint(ours: Any, theirs: Any, array: type, exact: float) -> str | None:
    """How one of our results differs from NumPy's, if it does."""
    if type(theirs) in (bool, int, float, str):
        is_close = type(ours) is float is type(theirs) and math.isclose(ours, theirs, rel_tol=exact)
        return None if is_close or ours == theirs else f"got {ours!r}, expected {theirs!r}"
    if not isinstance(ours, array):
        return f"got {type(ours)}, expected an array of umber"
    value, theirs = np.asarray(ours), np.asarray(theirs)
    if value.dtype.kind != theirs.dtype.kind and {value.dtype.kind, theirs.dtype.kind} != {*"iu"}:
        return f"got {value.dtype}, expected the kind of {theirs.dtype}"
    if value.shape != theirs.shape:
        return f"got shape {value.shape}, expected {theirs.shape}"
    if not np.allclose(value, theirs, rtol=exact, atol=exact, equal_nan=True):
        return f"got {value!r}, expected {theirs!r}"[:500]
    return None
