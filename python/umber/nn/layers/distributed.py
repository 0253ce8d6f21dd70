"""Layers and modules sharded over several processes, for groups of one process.

With one process there is no communication: each shard is the whole layer and computes the same
result as the original layer.

One subject: layers and functions that share the checks of groups and shardings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import umber.core as mx
from umber import _layout
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
# The result of `umber.mlx.distributed.init`, or `None` for the only process.
Group = Any


class _Sharded(Linear):
    """Linear layer that keeps its group."""

    def __init__(
        self, input_dims: int, output_dims: int, bias: bool = True, group: Group | None = None
    ) -> None:
        super().__init__(input_dims, output_dims, bias)
        self.group = _check_group(type(self).__name__, group)

    @classmethod
    def from_linear(
        cls, linear_layer: Module, *, segments: int | list = 1, group: Group | None = None
    ) -> Any:
        """Shard a `Linear`.

        Parameters
        ----------
        linear_layer : Linear
            Layer to shard.
        segments : int or list, optional
            Number of matrices that the weight consists of. Unused with one process. Default: 1.
        group : Group, optional
            Group of one process. Default: None, the only process.

        Returns
        -------
        AllToShardedLinear or ShardedToAllLinear
            A layer of the class on which the method is called, with the parameters of
            `linear_layer`.

        Raises
        ------
        ValueError
            If the group has more than one process.

        Examples
        --------
        >>> nn.AllToShardedLinear.from_linear(nn.Linear(4, 8))
        AllToShardedLinear(input_dims=4, output_dims=8, bias=True)
        """
        layer = cls(1, 1, "bias" in linear_layer, group)
        layer.update(linear_layer.parameters())
        return layer


class AllToShardedLinear(_Sharded):
    """Linear layer with its outputs sharded over a group: `y = x @ weight.T + bias`.

    Parameters
    ----------
    input_dims : int
        Size of the input's last axis.
    output_dims : int
        Size of the output's last axis, over all processes.
    bias : bool, optional
        Whether to add a bias. Default: True.
    group : Group, optional
        Group of one process. Default: None, the only process.

    Attributes
    ----------
    weight : array of shape (output_dims, input_dims)
        Matrix, drawn like that of `Linear`.
    bias : array of shape (output_dims,)
        Bias; absent if `bias` is False.
    group : Group or None
        The group.

    Raises
    ------
    ValueError
        If the group has more than one process.

    See Also
    --------
    Linear, ShardedToAllLinear, QuantizedAllToShardedLinear

    Notes
    -----
    Shapes: `(..., input_dims)` → `(..., output_dims / group size)`.

    Examples
    --------
    >>> layer = nn.AllToShardedLinear(4, 8)
    >>> layer(mx.zeros((2, 4))).shape
    (2, 8)
    """


class ShardedToAllLinear(_Sharded):
    """Linear layer with its inputs sharded over a group: `y = x @ weight.T + bias`.

    Parameters
    ----------
    input_dims : int
        Size of the input's last axis, over all processes.
    output_dims : int
        Size of the output's last axis.
    bias : bool, optional
        Whether to add a bias. Default: True.
    group : Group, optional
        Group of one process. Default: None, the only process.

    Attributes
    ----------
    weight : array of shape (output_dims, input_dims)
        Matrix, drawn like that of `Linear`.
    bias : array of shape (output_dims,)
        Bias; absent if `bias` is False.
    group : Group or None
        The group.

    Raises
    ------
    ValueError
        If the group has more than one process.

    See Also
    --------
    Linear, AllToShardedLinear, QuantizedShardedToAllLinear

    Notes
    -----
    Shapes: `(..., input_dims / group size)` → `(..., output_dims)`.

    Examples
    --------
    >>> layer = nn.ShardedToAllLinear(4, 8)
    >>> layer(mx.zeros((2, 4))).shape
    (2, 8)
    """


class _QuantizedSharded(QuantizedLinear):
    """Quantised linear layer that keeps its group."""

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
        """Shard a `QuantizedLinear`.

        Parameters
        ----------
        quantized_linear_layer : QuantizedLinear
            Layer to shard.
        segments : int or list, optional
            Number of matrices that the weight consists of. Unused with one process. Default: 1.
        group : Group, optional
            Group of one process. Default: None, the only process.

        Returns
        -------
        QuantizedAllToShardedLinear or QuantizedShardedToAllLinear
            A layer of the class on which the method is called, with the parameters of
            `quantized_linear_layer`, frozen.

        Raises
        ------
        ValueError
            If the group has more than one process.

        Examples
        --------
        >>> source = nn.QuantizedLinear(64, 8)
        >>> layer = nn.QuantizedAllToShardedLinear.from_quantized_linear(source)
        >>> mx.array_equal(layer.weight, source.weight)
        array(True, dtype=bool)
        """
        source = quantized_linear_layer
        layer = cls(512, 1, "bias" in source, source.group_size, source.bits, source.mode, group)
        layer.update(source.parameters())
        layer.freeze()
        return layer


class QuantizedAllToShardedLinear(_QuantizedSharded):
    """Quantised linear layer with its outputs sharded over a group.

    Parameters
    ----------
    input_dims : int
        Size of the input's last axis.
    output_dims : int
        Size of the output's last axis, over all processes.
    bias : bool, optional
        Whether to add a bias. Default: True.
    group_size : int, optional
        Number of neighbouring elements that share a scale; divides `input_dims`. Default: that of
        the mode.
    bits : int, optional
        Bits per element. Default: that of the mode.
    mode : str, optional
        Quantisation mode, see `mx.quantize`. Default: `"affine"`.
    group : Group, optional
        Group of one process. Default: None, the only process.

    Attributes
    ----------
    weight, scales, biases, bias : array
        Parameters of `QuantizedLinear`.
    group : Group or None
        The group.

    Raises
    ------
    ValueError
        If the group has more than one process, or if the layer cannot be quantised, as for
        `QuantizedLinear`.

    See Also
    --------
    AllToShardedLinear, QuantizedLinear

    Notes
    -----
    All parameters are frozen.

    Shapes: `(..., input_dims)` → `(..., output_dims / group size)`.

    Examples
    --------
    >>> layer = nn.QuantizedAllToShardedLinear(64, 8)
    >>> layer(mx.zeros((2, 64))).shape
    (2, 8)
    """


class QuantizedShardedToAllLinear(_QuantizedSharded):
    """Quantised linear layer with its inputs sharded over a group.

    Parameters
    ----------
    input_dims : int
        Size of the input's last axis, over all processes.
    output_dims : int
        Size of the output's last axis.
    bias : bool, optional
        Whether to add a bias. Default: True.
    group_size : int, optional
        Number of neighbouring elements that share a scale; divides `input_dims`. Default: that of
        the mode.
    bits : int, optional
        Bits per element. Default: that of the mode.
    mode : str, optional
        Quantisation mode, see `mx.quantize`. Default: `"affine"`.
    group : Group, optional
        Group of one process. Default: None, the only process.

    Attributes
    ----------
    weight, scales, biases, bias : array
        Parameters of `QuantizedLinear`.
    group : Group or None
        The group.

    Raises
    ------
    ValueError
        If the group has more than one process, or if the layer cannot be quantised, as for
        `QuantizedLinear`.

    See Also
    --------
    ShardedToAllLinear, QuantizedLinear

    Notes
    -----
    All parameters are frozen.

    Shapes: `(..., input_dims / group size)` → `(..., output_dims)`.

    Examples
    --------
    >>> layer = nn.QuantizedShardedToAllLinear(64, 8)
    >>> layer(mx.zeros((2, 64))).shape
    (2, 8)
    """


class FullyShardedModule(Module):
    """Module with its parameters sharded over a group and gathered for each call.

    Parameters
    ----------
    module : Module
        Module to shard.
    group : Group, optional
        Group of one process. Default: None, the only process.
    compute_dtype : Dtype, optional
        Dtype to which floating-point parameters are cast during calls. Default: their own.

    Attributes
    ----------
    module : Module
        The module.
    compute_dtype : Dtype or None
        Dtype of the parameters during calls.

    Raises
    ------
    TypeError
        If `module` is not a module.
    ValueError
        If the group has more than one process.

    See Also
    --------
    fully_shard

    Notes
    -----
    Arguments and results of calls are those of the module.

    Examples
    --------
    >>> layer = nn.FullyShardedModule(nn.Linear(4, 8), compute_dtype=mx.bfloat16)
    >>> layer(mx.zeros((2, 4), mx.bfloat16)).dtype
    umber.core.bfloat16
    >>> layer.module.weight.dtype
    umber.core.float32
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
        """Call `as_linear` of the module with gathered parameters, to tie input and output layers.

        Parameters
        ----------
        *args, **kwargs : Any
            Arguments of the module's `as_linear`.

        Returns
        -------
        Any
            Result of the module's `as_linear`.

        Raises
        ------
        AttributeError
            If the module has no method `as_linear`.

        Examples
        --------
        >>> layer = nn.FullyShardedModule(nn.Embedding(4, 8))
        >>> layer.as_linear(mx.zeros((2, 8))).shape
        (2, 4)
        """
        return self._with_gathered(self.module.as_linear, *args, **kwargs)

    def _with_gathered(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self.compute_dtype is None:
            return fn(*args, **kwargs)
        own = self.module.parameters()
        self.module.update(tree_map(self._cast, own))
        try:
            return fn(*args, **kwargs)
        finally:
            self.module.update(own)

    def _cast(self, x: mx.array) -> mx.array:
        return x.astype(self.compute_dtype) if mx.issubdtype(x.dtype, mx.floating) else x


def fully_shard(
    module: Module, *, group: Group | None = None, compute_dtype: mx.Dtype | None = None
) -> Module:
    """Shard the parameters of a module over a group; for one process, return the module.

    Parameters
    ----------
    module : Module
        Module to shard.
    group : Group, optional
        Group of one process. Default: None, the only process.
    compute_dtype : Dtype, optional
        Ignored with one process. Default: None.

    Returns
    -------
    Module
        `module` itself.

    Raises
    ------
    TypeError
        If `module` is not a module.
    ValueError
        If the group has more than one process.

    See Also
    --------
    FullyShardedModule

    Examples
    --------
    >>> layer = nn.Linear(4, 8)
    >>> nn.fully_shard(layer) is layer
    True
    """
    if not isinstance(module, Module):
        raise TypeError(f"[fully_shard] module: got {type(module).__name__}, expected a Module")
    _check_group("fully_shard", group)
    return module


def shard_linear(
    module: Module, sharding: Sharding, *, segments: int | list = 1, group: Group | None = None
) -> Module:
    """Shard of a linear layer, as a layer of its kind.

    Parameters
    ----------
    module : Linear or QuantizedLinear
        Layer to shard.
    sharding : {"all-to-sharded", "sharded-to-all"}
        Whether the outputs or the inputs are sharded.
    segments : int or list, optional
        Number of matrices that the weight consists of. Unused with one process. Default: 1.
    group : Group, optional
        Group of one process. Default: None, the only process.

    Returns
    -------
    Module
        `AllToShardedLinear`, `ShardedToAllLinear` or their quantised forms.

    Raises
    ------
    TypeError
        If `module` is not a module with a `weight`.
    ValueError
        If `sharding` is none of the two strings, or if the group has more than one process.

    See Also
    --------
    shard_inplace

    Examples
    --------
    >>> nn.layers.distributed.shard_linear(nn.Linear(4, 8), "all-to-sharded")
    AllToShardedLinear(input_dims=4, output_dims=8, bias=True)
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
    """Replace the parameters of a module by the shards of this process; for one process, keep all.

    Parameters
    ----------
    module : Module
        Module to shard.
    sharding : {"all-to-sharded", "sharded-to-all"} or callable
        How parameters are sharded. A function is called with the path and the array.
    segments : int or list, optional
        Number of matrices that a weight consists of. Unused with one process. Default: 1.
    group : Group, optional
        Group of one process. Default: None, the only process.

    Raises
    ------
    TypeError
        If `module` is not a module.
    ValueError
        If `sharding` is neither a function nor one of the two strings, or if the group has more
        than one process.

    See Also
    --------
    shard_linear

    Examples
    --------
    >>> layer = nn.Linear(4, 8)
    >>> nn.layers.distributed.shard_inplace(layer, "all-to-sharded")
    >>> layer.weight.shape
    (8, 4)
    """
    _check("shard_inplace", module, sharding)
    _check_group("shard_inplace", group)


def sum_gradients(group: Group | None = None) -> Callable[[mx.array], mx.array]:
    """Identity function whose gradient is summed over the processes of a group.

    Parameters
    ----------
    group : Group, optional
        Group of one process. Default: None, the only process.

    Returns
    -------
    callable
        Function of an array.

    Raises
    ------
    ValueError
        If the group has more than one process.

    Examples
    --------
    >>> nn.layers.distributed.sum_gradients()(mx.array(1.0))
    array(1, dtype=float32)
    """
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


_layout.complete(globals())
