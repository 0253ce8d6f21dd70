"""`Sequential`, which chains modules."""

from __future__ import annotations

from collections.abc import Callable

import umber.core as mx
from umber.nn.layers.base import Module

__all__ = ["Sequential"]


class Sequential(Module):
    """Apply functions one after another: `Sequential(f, g)(x) = g(f(x))`.

    Parameters
    ----------
    *modules : callable
        Modules or other functions of an array.

    Attributes
    ----------
    layers : list of callable
        The modules and functions in order.

    Raises
    ------
    TypeError
        If an argument is not callable.

    Notes
    -----
    Shapes: those of the modules.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    >>> model(mx.zeros((2, 64))).shape
    (2, 10)
    >>> list(model.parameters()["layers"][0])
    ['weight', 'bias']
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
