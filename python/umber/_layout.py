"""Names that modules of MLX import for their own use, and that programs import from there.

Examples are `mlx.nn.utils.tree_flatten` and `mlx.nn.losses.Literal`. `complete` adds them to the
modules of umber. They are looked up lazily and are in no `__all__`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

_LAYERS = (
    "activations base containers convolution convolution_transpose distributed dropout embedding "
    "linear normalization pooling positional_encoding quantized recurrent transformer upsample"
)
_TREES = "tree_flatten tree_map tree_merge tree_reduce tree_unflatten"

# By module: the source module and the names in it; the source "" means that a name is a module.
_IMPORTED_NAMES: dict[str, dict[str, str]] = {
    "umber.nn": {"umber.nn.layers": _LAYERS},
    "umber.nn.init": {"umber.nn.mlx_private": "_calculate_fan_in_fan_out"},
    "umber.nn.layers.activations": {
        "typing": "Any",
        "functools": "partial",
        "umber.nn.mlx_private": "_make_activation_module",
    },
    "umber.nn.layers.base": {
        "typing": "List Optional Tuple Union",
        "umber.nn.mlx_private": "_unwrap _update_modules",
    },
    "umber.nn.layers.convolution": {"typing": "Union"},
    "umber.nn.layers.convolution_transpose": {"typing": "Union"},
    "umber.nn.layers.distributed": {
        "typing": "Optional Union",
        "functools": "lru_cache reduce",
        "": "math",
        "umber.utils": "tree_flatten tree_map_with_path tree_unflatten",
        "umber.nn.mlx_private": (
            "_all_to_sharded _check_sharding _make_gather_fn _maybe_shard _shard _sharded_to_all "
            "_split"
        ),
    },
    "umber.nn.layers.embedding": {"typing": "Optional"},
    "umber.nn.layers.linear": {"typing": "Optional"},
    "umber.nn.layers.normalization": {"typing": "Tuple"},
    "umber.nn.layers.pooling": {
        "typing": "Optional Tuple Union",
        "itertools": "accumulate",
        "": "operator",
        "umber.nn.mlx_private": (
            "_Pool1d _Pool2d _Pool3d _non_overlapping_sliding_windows _sliding_windows "
            "_value_or_list"
        ),
    },
    "umber.nn.layers.positional_encoding": {"typing": "Optional"},
    "umber.nn.layers.quantized": {
        "typing": "Optional Union",
        "umber.nn.mlx_private": "_defaults_for_mode",
    },
    "umber.nn.layers.recurrent": {"typing": "Optional"},
    "umber.nn.layers.transformer": {"typing": "Optional", "umber.nn.utils": "checkpoint"},
    "umber.nn.layers.upsample": {
        "typing": "Tuple Union",
        "math": "ceil",
        "itertools": "product",
        "functools": "reduce",
        "": "operator",
        "umber.nn.mlx_upsample": (
            "_aa_indices _cubic_aa_indices _cubic_indices _cubic_kernel _interpolate "
            "_interpolate_separable _linear_aa_indices _linear_indices _nearest_indices "
            "_scaled_indices _triangle_kernel _validate_antialias_align_corners"
        ),
    },
    "umber.nn.losses": {
        "typing": "Literal Optional get_args",
        "umber.nn.mlx_private": "_reduce",
    },
    "umber.nn.utils": {
        "typing": "Optional",
        "functools": "reduce",
        "umber.utils": "tree_flatten tree_map tree_reduce tree_unflatten",
        "umber.nn.mlx_private": "_extract_info _group_by_size clip_grad_norm_sharded",
    },
    "umber.optimizers": {
        "collections.abc": "Callable",
        "typing": "List Optional Tuple Union",
        "": "math",
        "umber": "core:mx",
        "umber.nn": "Module",
        "umber.utils": _TREES,
    },
    "umber.optimizers.optimizers": {
        "collections.abc": "Callable",
        "typing": "List Optional Tuple Union",
        "umber": "core:mx",
        "umber.nn": "Module",
        "umber.utils": _TREES,
    },
    "umber.optimizers.schedulers": {"typing": "List"},
    "umber.utils": {
        "typing": "Dict List Optional Tuple Union",
        "collections": "defaultdict",
        "itertools": "zip_longest",
    },
}


def complete(package: str) -> None:
    """Add the names of the table to the imported modules of a package."""
    for name in _IMPORTED_NAMES:
        if name == package or name.startswith(f"{package}."):
            vars(sys.modules[name])["__getattr__"] = _finder(name)


def _finder(module: str) -> Callable[[str], Any]:
    sources = {}
    for source, names in _IMPORTED_NAMES[module].items():
        for entry in names.split():
            name, _, displayed = entry.partition(":")
            sources[displayed or name] = (source, name)

    def __getattr__(name: str) -> Any:
        if name not in sources:
            displayed = sys.modules[module].__name__
            raise AttributeError(f"module {displayed!r} has no attribute {name!r}")
        source, original = sources[name]
        if not source:
            return import_module(original)
        return getattr(import_module(source), original)

    return __getattr__
