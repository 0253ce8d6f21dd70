"""Bounds on gradients: `clip_grad_norm`."""

from __future__ import annotations

from typing import Any

import umber.core as mx
from umber.utils import tree_map, tree_reduce


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
        # The square of a float16 may overflow where the gradient does not.
        wide = gradient.astype(mx.float32) if _is_half(gradient) else gradient
        return total + mx.square(mx.abs(wide)).sum()

    norm = mx.sqrt(tree_reduce(add_squares, grads, mx.array(0.0)))
    scale = mx.minimum(max_norm / (norm + 1e-6), 1.0)

    def scaled(gradient: mx.array) -> mx.array:
        product = gradient * scale
        return product.astype(gradient.dtype) if _is_half(gradient) else product

    return tree_map(scaled, grads), norm


def _is_half(x: mx.array) -> bool:
    return x.dtype in (mx.float16, mx.bfloat16)
