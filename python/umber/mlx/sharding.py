"""`mlx.nn.layers.distributed` for one process: the whole of every layer is in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import umber.core as mx
from umber.mlx.distributed import Group
from umber.nn import Module

__all__ = ["shard_inplace", "shard_linear", "sum_gradients"]

_SHARDINGS = ("all-to-sharded", "sharded-to-all")

Sharding = str | Callable[[str, mx.array], Any]


def shard_linear(
    module: Module, sharding: Sharding, *, segments: Any = 1, group: Group | None = None
) -> Module:
    """The part of a linear layer that a process has in a group: of one process, all of it."""
    _check("shard_linear", module, sharding)
    return module


def shard_inplace(
    module: Module, sharding: Sharding, *, segments: Any = 1, group: Group | None = None
) -> None:
    """Keep this process's part of a module's parameters: of one process, all of them."""
    _check("shard_inplace", module, sharding)


def sum_gradients(group: Group | None = None) -> Callable[[mx.array], mx.array]:
    """A function that is the identity, and whose gradients are summed over all processes."""

    def identity(x: mx.array) -> mx.array:
        return x

    return identity


def _check(op: str, module: Module, sharding: Sharding) -> None:
    if not isinstance(module, Module):
        raise TypeError(f"[{op}] got {type(module).__name__}, expected a Module")
    if not callable(sharding) and sharding not in _SHARDINGS:
        expected = " or ".join(map(repr, _SHARDINGS))
        raise ValueError(f"[{op}] got the sharding {sharding!r}, expected {expected}")
