"""Functions that MLX keeps to itself, with an underscore, but that public programs call.

`umber._layout` shows each of them in the module where MLX has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import umber.core as mx
from umber.nn.init import _fans
from umber.nn.layers.base import Filter, Module, _Walk
from umber.nn.layers.pooling import _Pool
from umber.nn.layers.quantized import _format
from umber.nn.layers.slots import assign, find_slots
from umber.nn.reduction import Reduction, reduce
from umber.optimizers.clip import clip_grad_norm
from umber.utils import tree_map_with_path

# mlx.nn.init


def _calculate_fan_in_fan_out(x: mx.array) -> tuple[int, int]:
    """How many inputs an element of a layer with this weight has, and how many outputs."""
    return _fans("calculate_fan_in_fan_out", x)


# mlx.nn.layers.activations


def _make_activation_module(f: Callable[..., mx.array]) -> Callable[[type], type]:
    """A decorator of classes of modules, which call `f`."""

    def decorate(class_: type) -> type:
        class_.__call__ = lambda self, x: f(x)  # type: ignore[operator]
        return class_

    return decorate


# mlx.nn.layers.base


def _unwrap(
    model: Module,
    value_key: str,
    value: Any,
    filter_fn: Filter,
    map_fn: Callable[[Any], Any],
    is_leaf_fn: Filter,
) -> Any:
    """What `filter_and_map` makes of one value of a module."""
    return _Walk(filter_fn, map_fn, is_leaf_fn).enter(model, value_key, value)


def _update_modules(dst: Any, modules: Any, strict: bool) -> None:
    """What `update_modules` does."""
    assign(find_slots(dst, modules, Module, strict))


# mlx.nn.layers.distributed, for a group of one process


def _all_to_sharded(segments: int | list) -> Callable[[str, mx.array], tuple[int, int | list]]:
    """Which axis a layer's output lies on, by the path of a parameter."""

    def shard(path: str, weight: mx.array) -> tuple[int, int | list]:
        return (-1 if path.endswith("bias") else max(weight.ndim - 2, 0)), segments

    return shard


def _sharded_to_all(
    segments: int | list,
) -> Callable[[str, mx.array], tuple[int, int | list] | None]:
    """Which axis a layer's input lies on, by the path of a parameter; `None` for a bias."""

    def shard(path: str, weight: mx.array) -> tuple[int, int | list] | None:
        return None if path.endswith("bias") else (-1, segments)

    return shard


def _check_sharding(sharding: Any) -> None:
    if sharding not in ("all-to-sharded", "sharded-to-all"):
        raise ValueError(
            f"[shard_linear] got the sharding {sharding!r}, expected 'all-to-sharded' or "
            "'sharded-to-all'"
        )


def _make_gather_fn(
    group: Any,
    full_shapes: Sequence[tuple[int, ...]],
    shard_sizes: Sequence[int],
    compute_dtype: mx.Dtype | None,
) -> Callable[[mx.array], list[mx.array]]:
    """A function of all shards in a row that gives the parameters in their shapes."""
    ends = [sum(shard_sizes[: i + 1]) for i in range(len(shard_sizes) - 1)]

    def gather(shards: mx.array) -> list[mx.array]:
        shards = shards if compute_dtype is None else shards.astype(compute_dtype)
        parts = mx.split(shards, ends)
        return [part.reshape(shape) for part, shape in zip(parts, full_shapes, strict=True)]

    return gather


def _maybe_shard(m: Module, k: str, v: Any) -> bool:
    """Whether a value of a module is one that shards are made of."""
    return isinstance(v, mx.array)


def _shard(parameters: dict, sharding_predicate: Callable, group: Any = None) -> Any:
    """The parameters' shards in this process: all of them."""

    def shard(path: str, weight: mx.array) -> mx.array:
        sharding_predicate(path, weight)
        return weight

    return tree_map_with_path(shard, parameters)


def _split(weight: mx.array, segments: int | list, axis: int) -> list[mx.array]:
    """`split`, with places that may be fractions of the length."""
    if isinstance(segments, int):
        return list(mx.split(weight, segments, axis=axis))
    length = weight.shape[axis]
    places = [int(place * length) if isinstance(place, float) else place for place in segments]
    return list(mx.split(weight, places, axis=axis))


# mlx.nn.layers.pooling


def _value_or_list(x: Any, n: int, msg: str) -> list:
    """One value `n` times, or a sequence of `n` values."""
    values = list(x) if isinstance(x, (list, tuple)) else [x] * n
    if len(values) != n:
        raise ValueError(msg)
    return values


def _sliding_windows(
    x: mx.array, window_shape: Sequence[int], window_strides: Sequence[int]
) -> mx.array:
    """Windows that slide along the spatial axes.

    Shapes: `(N, *spatial, C)` → `(N, *places, *window_shape, C)`.
    """
    spatial = x.shape[1:-1]
    if not len(spatial) == len(window_shape) == len(window_strides):
        raise ValueError(
            f"[sliding_windows] got {len(window_shape)} lengths and {len(window_strides)} strides "
            f"of windows for an array of shape {x.shape}, expected one for each spatial axis"
        )
    axes = range(len(spatial))
    for axis, length, step in zip(axes, window_shape, window_strides, strict=True):
        places = mx.arange(0, spatial[axis] - length + 1, step)
        taken = places[:, None] + mx.arange(length)[None]
        x = mx.moveaxis(mx.take(x, taken, axis=axis + 1), axis + 2, -2)
    return x


def _non_overlapping_sliding_windows(
    x: mx.array, shape: Sequence[int], window_shape: Sequence[int]
) -> mx.array:
    """`_sliding_windows` of an array of this shape, whose windows lie side by side."""
    x = x.reshape(*shape)
    return _sliding_windows(x, window_shape, window_shape)


class _PoolOf(_Pool):
    """Windows, each of which a function reduces to one element."""

    def __init__(
        self,
        pooling_function: Callable[..., mx.array],
        padding_value: float,
        kernel_size: int | tuple[int, ...],
        stride: int | tuple[int, ...] | None = None,
        padding: int | tuple[int, ...] = 0,
    ) -> None:
        super().__init__(kernel_size, stride, padding)
        self._pooling_function = pooling_function
        self._padding_value = padding_value

    def __call__(self, x: mx.array) -> mx.array:
        windows = _sliding_windows(
            self._padded(x, self._padding_value), self._kernel_size, self._stride
        )
        return self._pooling_function(windows, tuple(range(-self.axes - 1, -1)))


class _Pool1d(_PoolOf):
    axes = 1


class _Pool2d(_PoolOf):
    axes = 2


class _Pool3d(_PoolOf):
    axes = 3


# mlx.nn.layers.quantized


def _defaults_for_mode(mode: str, group_size: int | None, bits: int | None) -> tuple[int, int]:
    """Group size and bits, of which `None` is the mode's usual number."""
    return _format("quantize", mode, group_size, bits)


# mlx.nn.losses


def _reduce(loss: mx.array, reduction: Reduction = "none") -> mx.array:
    """The values, their mean or their sum."""
    return reduce("loss", loss, reduction)


# mlx.nn.utils


def _extract_info(flat: list[tuple[str, mx.array]]) -> tuple[list, list, list, list]:
    """The paths, shapes, sizes and dtypes of a flat tree."""
    keys = [key for key, _ in flat]
    arrays = [value for _, value in flat]
    return keys, [a.shape for a in arrays], [a.size for a in arrays], [a.dtype for a in arrays]


def _group_by_size(
    keys: Sequence[str], sizes: Sequence[int], itemsize: int, communication_size: int
) -> list[list[int]]:
    """The places of neighbours in groups, each of which ends with the one that fills it."""
    groups: list[list[int]] = []
    filled = communication_size
    for place, size in enumerate(sizes):
        if filled >= communication_size:
            groups.append([])
            filled = 0
        groups[-1].append(place)
        filled += size * itemsize
    return groups


def clip_grad_norm_sharded(
    gradients: Any, max_norm: float, group: Any = None
) -> tuple[Any, mx.array]:
    """`optimizers.clip_grad_norm` of gradients that lie in several processes; here, in one.

    Args:
        gradients: a tree of arrays.
        max_norm: the greatest norm of all gradients together.
        group: what `mlx.core.distributed.init` gives, a group of one.

    Returns:
        The gradients, scaled down where their norm is greater, and the norm that they had.
    """
    if group is not None and group.size() != 1:
        raise ValueError(
            f"[clip_grad_norm_sharded] got a group of {group.size()} processes, expected one"
        )
    return clip_grad_norm(gradients, max_norm)
