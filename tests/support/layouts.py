"""One set of values in many memory layouts.

A layout takes NumPy values and answers an umber array with a certain arrangement of memory, and
the values that it holds (a broadcast layout must repeat values, an empty one must drop them).
"""

import numpy as np
import umber.core as mx
from arrays import to_umber


def contiguous(values, name):
    """Rows one after the other."""
    return to_umber(values, name), values


def transposed(values, name):
    """Columns one after the other."""
    axes = tuple(reversed(range(values.ndim)))
    return mx.transpose(to_umber(values.transpose(axes), name), axes), values


def broadcast(values, name):
    """Stride 0 along the first axis: one row, seen many times."""
    row = values[:1]
    repeated = np.broadcast_to(row, values.shape).copy()
    return mx.broadcast_to(to_umber(row, name), values.shape), repeated


def sliced(values, name):
    """Every second element of a larger array, one away from its edge."""
    large = np.zeros([2 * size + 2 for size in values.shape], values.dtype)
    window = tuple(slice(1, 2 * size + 1, 2) for size in values.shape)
    large[window] = values
    return to_umber(large, name)[window], values


def reversed_(values, name):
    """Negative strides along every axis."""
    backwards = tuple(slice(None, None, -1) for _ in values.shape)
    return to_umber(values[backwards], name)[backwards], values


# Layouts that need at least one axis fall back to contiguous for 0-d values.
MEMORY = {
    "contiguous": contiguous,
    "transposed": transposed,
    "broadcast": broadcast,
    "sliced": sliced,
    "reversed": reversed_,
}


def arrange(layout: str, values: np.ndarray, name: str):
    """An umber array in this layout, and the values it holds."""
    make = MEMORY[layout] if values.ndim else contiguous
    return make(values, name)
