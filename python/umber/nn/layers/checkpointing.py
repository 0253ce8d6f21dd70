"""`checkpoint`, which computes again instead of keeping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import umber.core as mx
from umber.nn.layers.base import Module
from umber.nn.layers.exchange import exchange


def checkpoint(module: Module, fn: Callable | None = None) -> Callable:
    """A function that gives what `fn` gives and keeps only its inputs for the gradient.

    Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016: what lies between inputs and
    outputs is computed again when the gradient by the arguments and the module's trainable
    parameters needs it. Where `umber.core` has no `checkpoint`, nothing is computed again.

    Args:
        module: the module whose parameters `fn` uses.
        fn: Default: the module itself.

    Example:
        >>> y = nn.utils.checkpoint(layer)(x)
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
        put_back = exchange(module, parameters)
        try:
            return fn(*args, **kwargs)
        finally:
            put_back()

    transformed = transform(with_parameters)
    return lambda *args, **kwargs: transformed(module.trainable_parameters(), *args, **kwargs)
