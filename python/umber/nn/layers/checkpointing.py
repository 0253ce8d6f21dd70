"""`checkpoint`: recompute activations in the backward pass instead of keeping them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module
from umber.nn.layers.parameter_swap import swap_parameters


def checkpoint(module: Module, fn: Callable | None = None) -> Callable:
    """Wrap a function so that its gradient recomputes intermediate values instead of keeping them.

    Parameters
    ----------
    module : Module
        Module whose parameters `fn` uses.
    fn : callable, optional
        Function to wrap. Default: `module`.

    Returns
    -------
    callable
        Function with the arguments and results of `fn`.

    Raises
    ------
    TypeError
        If `module` is not a module, or if `fn` is not callable.

    See Also
    --------
    mx.checkpoint, nn.TransformerEncoder

    Notes
    -----
    Only the inputs are kept for the backward pass. Values between inputs and outputs are recomputed
    for the gradient by the arguments and by the module's trainable parameters. If `mx` has no
    `checkpoint`, `fn` is returned unchanged.

    Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016.

    Examples
    --------
    >>> layer = nn.Linear(4, 4)
    >>> x = mx.ones((1, 4))
    >>> mx.array_equal(nn.utils.checkpoint(layer)(x), layer(x))
    array(True, dtype=bool)
    """
    if not isinstance(module, Module) or not (fn is None or callable(fn)):
        raise TypeError(
            f"[checkpoint] got {type(module).__name__} and {type(fn).__name__}, "
            "expected a Module and a function"
        )
    fn = module if fn is None else fn
    transform = getattr(mx, "checkpoint", None)
    if transform is None:
        return fn

    def with_parameters(parameters: dict, *args: Any, **kwargs: Any) -> Any:
        restore = swap_parameters(module, parameters)
        try:
            return fn(*args, **kwargs)
        finally:
            restore()

    transformed = transform(with_parameters)
    return lambda *args, **kwargs: transformed(module.trainable_parameters(), *args, **kwargs)


_layout.complete(globals())
