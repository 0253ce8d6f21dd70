"""The dtype of indices: int64, as in the array API standard.

The functions of MLX return uint32, in which ``i - 1`` wraps around.
"""

import umber.core as mx

INDEX = mx.int64


def index(x: mx.array) -> mx.array:
    """The same indices in the index dtype."""
    return mx.astype(x, INDEX, copy=False)
