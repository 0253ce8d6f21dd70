"""Modules made of modules: `Sequential`."""

from __future__ import annotations

from collections.abc import Callable

import umber.core as mx
from umber.nn.layers.base import Module

__all__ = ["Sequential"]


class Sequential(Module):
    """Applies functions one after another: `Sequential(f, g)(x) = g(f(x))`.

    Args:
        modules: modules or any other callables, kept in the list `layers`.

    Example:
        >>> nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    """

    def __init__(self, *modules: Callable[[mx.array], mx.array]) -> None:
        super().__init__()
        for module in modules:
            if not callable(module):
                raise TypeError(
                    f"[Sequential] got {type(module).__name__}, expected modules or functions"
                )
        self.layers = list(modules)

    def __call__(self, x: mx.array) -> mx.array:
        for layer in self.layers:
            x = layer(x)
        return x
