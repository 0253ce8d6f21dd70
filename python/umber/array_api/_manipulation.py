"""Manipulation functions that answer tuples: MLX's `broadcast_arrays` gives a list."""

from __future__ import annotations

import umber.core as mx
from umber._errors import guard


def broadcast_arrays(*arrays: mx.array) -> tuple[mx.array, ...]:
    """All arrays broadcast to their common shape (a list before version 2025.12)."""
    return tuple(mx.broadcast_arrays(*arrays))


guard(globals())
