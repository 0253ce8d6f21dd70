"""Bounds on gradients: `clip_grad_norm`."""

from __future__ import annotations

from typing import Any

import umber.core as mx
from umber.utils import tree_flatten, tree_map, tree_reduce


def clip_grad_norm(grads: Any, max_norm: float) -> tuple[Any, mx.array]:
    """Scale all gradients by one factor so that the norm of all together is at most `max_norm`.

    Pascanu, Mikolov, Bengio, "On the difficulty of training recurrent neural networks", 2013.

    Args:
        grads: a tree of arrays.
        max_norm: the greatest norm that is left as it is.

    Returns:
        The tree of scaled gradients and the norm before scaling.
    """
    if not max_norm >= 0:
        raise ValueError(f"[clip_grad_norm] got max_norm {max_norm}, expected at least 0")

    def add_squares(total: mx.array, gradient: mx.array) -> mx.array:
        # Squares of floats that are in range themselves are in the range of float64.
        is_complex = mx.issubdtype(gradient.dtype, mx.complexfloating)
        size = mx.abs(gradient) if is_complex else gradient
        return total + mx.square(size.astype(mx.float64)).sum()

    wide = mx.sqrt(tree_reduce(add_squares, grads, mx.array(0.0, mx.float64)))
    dtypes = [gradient.dtype for _, gradient in tree_flatten(grads)]
    is_double = any(dtype in (mx.float64, mx.complex128) for dtype in dtypes)
    norm = wide if is_double else wide.astype(mx.float32)
    scale = mx.minimum(max_norm / (wide + 1e-6), 1.0).astype(norm.dtype)

    def scaled(gradient: mx.array) -> mx.array:
        product = gradient * scale
        is_floating = mx.issubdtype(gradient.dtype, mx.floating)
        return product.astype(gradient.dtype) if is_floating else product

    return tree_map(scaled, grads), norm
