"""Manipulation functions that return tuples where `umber.core` returns lists."""

from __future__ import annotations

import umber.core as mx
from umber._errors import guard


def broadcast_arrays(*arrays: mx.array) -> tuple[mx.array, ...]:
    """Broadcast arrays to their common shape.

    Parameters
    ----------
    *arrays : array
        The arrays.

    Returns
    -------
    tuple of array
        The arrays in the common shape; before version 2025.12 of the standard, a list.
    """
    return tuple(mx.broadcast_arrays(*arrays))


guard(globals())
