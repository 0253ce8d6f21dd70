"""Private functions of MLX that programs call.

`umber._layout` makes each of them an attribute of the module where MLX defines it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import umber.core as mx
from umber.nn.init import _fans
from umber.nn.layers.base import Filter, Module, _Walk
from umber.nn.layers.pooling import _Pool
from umber.nn.layers.quantized import _format
from umber.nn.layers.tree_paths import assign, find_slots
from umber.nn.reduction import Reduction, reduce
from umber.optimizers.clip import clip_grad_norm
from umber.utils import tree_map_with_path

# mlx.nn.init


def _calculate_fan_in_fan_out(x: mx.array) -> tuple[int, int]:
    """Fan-in and fan-out of a weight."""
    return _fans("calculate_fan_in_fan_out", x)


# mlx.nn.layers.activations


def _make_activation_module(f: Callable[..., mx.array]) -> Callable[[type], type]:
    """A decorator of module classes whose `__call__` is `f`."""

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
    """The result of `filter_and_map` for one value of a module."""
    return _Walk(filter_fn, map_fn, is_leaf_fn).enter(model, value_key, value)


def _update_modules(dst: Any, modules: Any, strict: bool) -> None:
    """The implementation of `update_modules`."""
    assign(find_slots(dst, modules, Module, strict))


# mlx.nn.layers.distributed, for a group of one process


def _all_to_sharded(segments: int | list) -> Callable[[str, mx.array], tuple[int, int | list]]:
    """A function from path and parameter to the axis of a layer's output."""

    def shard(path: str, weight: mx.array) -> tuple[int, int | list]:
        return (-1 if path.endswith("bias") else max(weight.ndim - 2, 0)), segments

    return shard


def _sharded_to_all(
    segments: int | list,
) -> Callable[[str, mx.array], tuple[int, int | list] | None]:
    """A function from path and parameter to the axis of a layer's input; `None` for a bias."""

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
    """A function that splits concatenated shards into parameters of their shapes."""
    ends = [sum(shard_sizes[: i + 1]) for i in range(len(shard_sizes) - 1)]

    def gather(shards: mx.array) -> list[mx.array]:
        shards = shards if compute_dtype is None else shards.astype(compute_dtype)
        parts = mx.split(shards, ends)
        return [part.reshape(shape) for part, shape in zip(parts, full_shapes, strict=True)]

    return gather


def _maybe_shard(m: Module, k: str, v: Any) -> bool:
    """Whether a value of a module is sharded: an array."""
    return isinstance(v, mx.array)


def _shard(parameters: dict, sharding_predicate: Callable, group: Any = None) -> Any:
    """The shards of the parameters in this process: the parameters themselves."""

    def shard(path: str, weight: mx.array) -> mx.array:
        sharding_predicate(path, weight)
        return weight

    return tree_map_with_path(shard, parameters)


def _split(weight: mx.array, segments: int | list, axis: int) -> list[mx.array]:
    """`mx.split` with positions that may be fractions of the length."""
    if isinstance(segments, int):
        return list(mx.split(weight, segments, axis=axis))
    length = weight.shape[axis]
    positions = [
        int(position * length) if isinstance(position, float) else position for position in segments
    ]
    return list(mx.split(weight, positions, axis=axis))


# mlx.nn.layers.pooling


def _value_or_list(x: Any, n: int, msg: str) -> list:
    """One value repeated `n` times, or a sequence of `n` values."""
    values = list(x) if isinstance(x, (list, tuple)) else [x] * n
    if len(values) != n:
        raise ValueError(msg)
    return values


def _sliding_windows(
    x: mx.array, window_shape: Sequence[int], window_strides: Sequence[int]
) -> mx.array:
    """Windows that slide along the spatial axes.

    Shapes: `(N, *spatial, C)` → `(N, *windows, *window_shape, C)`.
    """
    spatial = x.shape[1:-1]
    if not len(spatial) == len(window_shape) == len(window_strides):
        raise ValueError(
            f"[sliding_windows] got {len(window_shape)} lengths and {len(window_strides)} strides "
            f"of windows for an array of shape {x.shape}, expected one for each spatial axis"
        )
    axes = range(len(spatial))
    for axis, length, step in zip(axes, window_shape, window_strides, strict=True):
        starts = mx.arange(0, spatial[axis] - length + 1, step)
        indices = starts[:, None] + mx.arange(length)[None]
        x = mx.moveaxis(mx.take(x, indices, axis=axis + 1), axis + 2, -2)
    return x


def _non_overlapping_sliding_windows(
    x: mx.array, shape: Sequence[int], window_shape: Sequence[int]
) -> mx.array:
    """`_sliding_windows` of an array of this shape, with windows that do not overlap."""
    x = x.reshape(*shape)
    return _sliding_windows(x, window_shape, window_shape)


class _PoolOf(_Pool):
    """Pooling with a function that reduces each window."""

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
    """Group size and bits; `None` stands for the default of the mode."""
    return _format("quantize", mode, group_size, bits)


# mlx.nn.losses


def _reduce(loss: mx.array, reduction: Reduction = "none") -> mx.array:
    """The losses, their mean or their sum."""
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
    """Indices of consecutive entries in groups of about `communication_size` bytes."""
    groups: list[list[int]] = []
    filled = communication_size
    for index, size in enumerate(sizes):
        if filled >= communication_size:
            groups.append([])
            filled = 0
        groups[-1].append(index)
        filled += size * itemsize
    return groups


def clip_grad_norm_sharded(
    gradients: Any, max_norm: float, group: Any = None
) -> tuple[Any, mx.array]:
    """Scale gradients so that their joint norm is at most `max_norm`, for a group of one process.

    Parameters
    ----------
    gradients : tree of array
        The gradients.
    max_norm : float
        Maximum norm, at least 0.
    group : optional
        A group of one process, as ``mlx.core.distributed.init`` returns. Default: this process.

    Returns
    -------
    clipped : tree of array
        The gradients, scaled down if their norm is larger.
    norm : array
        The norm before scaling.

    Raises
    ------
    ValueError
        If the group has more than one process or `max_norm` is negative.
    """
    if group is not None and group.size() != 1:
        raise ValueError(
            f"[clip_grad_norm_sharded] got a group of {group.size()} processes, expected one"
        )
    return clip_grad_norm(gradients, max_norm)
