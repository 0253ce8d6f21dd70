"""Indices as the array API standard has them: of the default index dtype, which is int64.

MLX's functions answer uint32, from which `i - 1` wraps around.
"""

import umber.core as mx

INDEX = mx.int64


def index(x: mx.array) -> mx.array:
    """The same indices in the index dtype."""
    return mx.astype(x, INDEX, copy=False)
