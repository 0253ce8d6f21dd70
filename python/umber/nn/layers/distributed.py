"""Linear layers and modules whose parts lie in several processes, for a group of one process.

The whole of every layer is in that process, so there is nothing to exchange: each layer computes
what the one that it was made of does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import umber.core as mx
from umber.nn.layers.base import Module
from umber.nn.layers.linear import Linear
from umber.nn.layers.quantized import QuantizedLinear
from umber.utils import tree_flatten, tree_map

__all__ = [
    "AllToShardedLinear",
    "FullyShardedModule",
    "QuantizedAllToShardedLinear",
    "QuantizedShardedToAllLinear",
    "ShardedToAllLinear",
    "fully_shard",
]

_SHARDINGS = ("all-to-sharded", "sharded-to-all")

Sharding = str | Callable[[str, mx.array], Any]
# One process or several: what `umber.mlx.distributed.init` gives, or `None` for the only one.
Group = Any


class _Sharded(Linear):
    """A linear layer, whole, that knows its group."""

    def __init__(
        self, input_dims: int, output_dims: int, bias: bool = True, group: Group | None = None
    ) -> None:
        super().__init__(input_dims, output_dims, bias)
        self.group = _check_group(type(self).__name__, group)

    @classmethod
    def from_linear(
        cls, linear_layer: Module, *, segments: int | list = 1, group: Group | None = None
    ) -> Any:
        """The layer of this kind with the parameters of a `Linear`."""
        layer = cls(1, 1, "bias" in linear_layer, group)
        layer.update(linear_layer.parameters())
        return layer


class AllToShardedLinear(_Sharded):
    """`y = x Wᵀ + b`, of which each process of a group has some of the outputs.

    Shapes: `(..., input_dims)` → `(..., output_dims / size of the group)`.

    Args:
        input_dims: size of the last axis of the input.
        output_dims: size of the last axis of the output, over all processes.
        bias: whether there is a `b`. Default: `True`.
        group: a group of one process. Default: the only one.
    """


class ShardedToAllLinear(_Sharded):
    """`y = x Wᵀ + b`, of which each process of a group has some of the inputs.

    Shapes: `(..., input_dims / size of the group)` → `(..., output_dims)`.

    Args:
        input_dims: size of the last axis of the input, over all processes.
        output_dims: size of the last axis of the output.
        bias: whether there is a `b`. Default: `True`.
        group: a group of one process. Default: the only one.
    """


class _QuantizedSharded(QuantizedLinear):
    """A quantised linear layer, whole, that knows its group."""

    def __init__(
        self,
        input_dims: int,
        output_dims: int,
        bias: bool = True,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
        group: Group | None = None,
    ) -> None:
        super().__init__(input_dims, output_dims, bias, group_size, bits, mode)
        self.group = _check_group(type(self).__name__, group)

    @classmethod
    def from_quantized_linear(
        cls, quantized_linear_layer: Module, *, segments: int | list = 1, group: Group | None = None
    ) -> Any:
        """The layer of this kind with the parameters of a `QuantizedLinear`."""
        given = quantized_linear_layer
        layer = cls(512, 1, "bias" in given, given.group_size, given.bits, given.mode, group)
        layer.update(given.parameters())
        layer.freeze()
        return layer


class QuantizedAllToShardedLinear(_QuantizedSharded):
    """`AllToShardedLinear` with a matrix of few bits; its parameters are frozen.

    Shapes: `(..., input_dims)` → `(..., output_dims / size of the group)`.

    Args:
        input_dims: size of the last axis of the input.
        output_dims: size of the last axis of the output, over all processes.
        bias: whether there is a `b`. Default: `True`.
        group_size: neighbours with one scale. Default: the mode's usual number.
        bits: bits of an element. Default: the mode's usual number.
        mode: how elements are stored, see `umber.core.quantize`. Default: `"affine"`.
        group: a group of one process. Default: the only one.
    """


class QuantizedShardedToAllLinear(_QuantizedSharded):
    """`ShardedToAllLinear` with a matrix of few bits; its parameters are frozen.

    Shapes: `(..., input_dims / size of the group)` → `(..., output_dims)`.

    Args:
        input_dims: size of the last axis of the input, over all processes.
        output_dims: size of the last axis of the output.
        bias: whether there is a `b`. Default: `True`.
        group_size: neighbours with one scale. Default: the mode's usual number.
        bits: bits of an element. Default: the mode's usual number.
        mode: how elements are stored, see `umber.core.quantize`. Default: `"affine"`.
        group: a group of one process. Default: the only one.
    """


class FullyShardedModule(Module):
    """A module of which each process of a group has a part, and computes with the whole.

    Args:
        module: the module.
        group: a group of one process. Default: the only one.
        compute_dtype: what the floating parameters are cast to when the module is called. Default:
            their own dtype.
    """

    def __init__(
        self, module: Module, group: Group | None = None, compute_dtype: mx.Dtype | None = None
    ) -> None:
        super().__init__()
        if not isinstance(module, Module):
            raise TypeError(
                f"[FullyShardedModule] module: got {type(module).__name__}, expected a Module"
            )
        _check_group("FullyShardedModule", group)
        self.module = module
        self.compute_dtype = compute_dtype

    def _extra_repr(self) -> str:
        return f"num_sharded_params={len(tree_flatten(self.module.parameters()))}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._with_gathered(self.module, *args, **kwargs)

    def as_linear(self, *args: Any, **kwargs: Any) -> Any:
        """`as_linear` of the module, for tied input and output layers."""
        return self._with_gathered(self.module.as_linear, *args, **kwargs)

    def _with_gathered(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self.compute_dtype is None:
            return fn(*args, **kwargs)
        kept = self.module.parameters()
        self.module.update(tree_map(self._cast, kept))
        try:
            return fn(*args, **kwargs)
        finally:
            self.module.update(kept)

    def _cast(self, x: mx.array) -> mx.array:
        return x.astype(self.compute_dtype) if mx.issubdtype(x.dtype, mx.floating) else x


def fully_shard(
    module: Module, *, group: Group | None = None, compute_dtype: mx.Dtype | None = None
) -> Module:
    """The module with a part of it in each process: of one process, the module itself."""
    if not isinstance(module, Module):
        raise TypeError(f"[fully_shard] module: got {type(module).__name__}, expected a Module")
    _check_group("fully_shard", group)
    return module


def shard_linear(
    module: Module, sharding: Sharding, *, segments: int | list = 1, group: Group | None = None
) -> Module:
    """The part of a linear layer that a process has in a group, as a layer of its kind.

    Args:
        module: a `Linear` or a `QuantizedLinear`.
        sharding: `"all-to-sharded"` or `"sharded-to-all"`.
        segments: how many matrices the weight is made of. One process has all of them.
        group: a group of one process. Default: the only one.
    """
    _check("shard_linear", module, sharding)
    if not isinstance(sharding, str):
        expected = " or ".join(map(repr, _SHARDINGS))
        raise ValueError(f"[shard_linear] got a function as sharding, expected {expected}")
    if "weight" not in module:
        raise TypeError(
            f"[shard_linear] got {type(module).__name__}, expected a layer with a weight"
        )
    if isinstance(module, QuantizedLinear):
        return _QUANTIZED[sharding].from_quantized_linear(module, segments=segments, group=group)
    return _PLAIN[sharding].from_linear(module, segments=segments, group=group)


def shard_inplace(
    module: Module, sharding: Sharding, *, segments: int | list = 1, group: Group | None = None
) -> None:
    """Keep this process's part of a module's parameters: of one process, all of them."""
    _check("shard_inplace", module, sharding)
    _check_group("shard_inplace", group)


def sum_gradients(group: Group | None = None) -> Callable[[mx.array], mx.array]:
    """A function that is the identity, and whose gradients are summed over all processes."""
    _check_group("sum_gradients", group)

    def identity(x: mx.array) -> mx.array:
        return x

    return identity


_PLAIN = dict(zip(_SHARDINGS, (AllToShardedLinear, ShardedToAllLinear), strict=True))
_QUANTIZED = dict(
    zip(_SHARDINGS, (QuantizedAllToShardedLinear, QuantizedShardedToAllLinear), strict=True)
)


def _check_group(op: str, group: Group | None) -> Group | None:
    if group is not None and group.size() != 1:
        raise ValueError(f"[{op}] got a group of {group.size()} processes, expected one")
    return group


def _check(op: str, module: Module, sharding: Sharding) -> None:
    if not isinstance(module, Module):
        raise TypeError(f"[{op}] got {type(module).__name__}, expected a Module")
    if not callable(sharding) and sharding not in _SHARDINGS:
        expected = " or ".join(map(repr, _SHARDINGS))
        raise ValueError(f"[{op}] got the sharding {sharding!r}, expected {expected}")
