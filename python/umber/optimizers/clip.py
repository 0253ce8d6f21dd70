"""Gradient clipping: `clip_grad_norm`, `clip_grad_value`."""

from __future__ import annotations

from typing import Any

import umber.core as mx
from umber import _layout
from umber.utils import tree_flatten, tree_map, tree_reduce


def clip_grad_norm(grads: Any, max_norm: float) -> tuple[Any, mx.array]:
    """Scale gradients so that their joint norm is at most `max_norm`.

    Parameters
    ----------
    grads : tree of array
        The gradients.
    max_norm : float
        Maximum norm, at least 0.

    Returns
    -------
    clipped : tree of array
        The gradients, all scaled by ``min(1, max_norm / (norm + 1e-6))`` [1]_. Floating dtypes are
        kept.
    norm : array
        The norm before scaling, the root of the sum of all squares: float32, or float64 if a
        gradient is of float64 or complex128.

    Raises
    ------
    ValueError
        If `max_norm` is negative.

    See Also
    --------
    clip_grad_value

    Notes
    -----
    Squares are summed in float64, where those of finite float32 numbers do not overflow. All
    gradients have the factor in common, so that their direction is kept.

    References
    ----------
    .. [1] Pascanu, Mikolov, Bengio, "On the difficulty of training recurrent neural networks",
       2013.

    Examples
    --------
    >>> clipped, norm = optim.clip_grad_norm({"w": mx.array([3.0, 4.0])}, max_norm=1.0)
    >>> clipped["w"], norm
    (array([0.6, 0.8], dtype=float32), array(5, dtype=float32))
    """
    if not max_norm >= 0:
        raise ValueError(f"[clip_grad_norm] got max_norm {max_norm}, expected at least 0")

    def add_squares(total: mx.array, gradient: mx.array) -> mx.array:
        # In float64, squares of finite float32 do not overflow.
        is_complex = mx.issubdtype(gradient.dtype, mx.complexfloating)
        size = mx.abs(gradient) if is_complex else gradient
        return total + mx.square(size.astype(mx.float64)).sum()

    exact_norm = mx.sqrt(tree_reduce(add_squares, grads, mx.array(0.0, mx.float64)))
    dtypes = [gradient.dtype for _, gradient in tree_flatten(grads)]
    is_double = any(dtype in (mx.float64, mx.complex128) for dtype in dtypes)
    norm = exact_norm if is_double else exact_norm.astype(mx.float32)
    scale = mx.minimum(max_norm / (exact_norm + 1e-6), 1.0).astype(norm.dtype)

    def scaled(gradient: mx.array) -> mx.array:
        product = gradient * scale
        is_floating = mx.issubdtype(gradient.dtype, mx.floating)
        return product.astype(gradient.dtype) if is_floating else product

    return tree_map(scaled, grads), norm


def clip_grad_value(grads: Any, clip_value: float) -> Any:
    """Limit each element of the gradients to the interval from ``-clip_value`` to ``clip_value``.

    Parameters
    ----------
    grads : tree of array
        The gradients.
    clip_value : float
        Maximum absolute value, at least 0.

    Returns
    -------
    tree of array
        The limited gradients. Dtypes are kept.

    Raises
    ------
    ValueError
        If `clip_value` is negative.
    TypeError
        If a gradient is complex.

    See Also
    --------
    clip_grad_norm

    Notes
    -----
    NaN stays NaN. Unlike `clip_grad_norm`, this changes the direction of the gradients.

    Examples
    --------
    >>> optim.clip_grad_value({"w": mx.array([3.0, -0.5, -4.0])}, clip_value=1.0)
    {'w': array([1, -0.5, -1], dtype=float32)}
    """
    if not clip_value >= 0:
        raise ValueError(f"[clip_grad_value] got clip_value {clip_value}, expected at least 0")

    def limited(gradient: mx.array) -> mx.array:
        if mx.issubdtype(gradient.dtype, mx.complexfloating):
            raise TypeError(
                f"[clip_grad_value] got a gradient of {gradient.dtype}, expected real ones: "
                "complex numbers have no order"
            )
        return mx.clip(gradient, -clip_value, clip_value).astype(gradient.dtype)

    return tree_map(limited, grads)


_layout.complete(globals())
