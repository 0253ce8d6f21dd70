"""The last step of a module's definition: `complete` guards its names and lets it find others.

Some public names of the packages are imported when they are first used, because most programs use
few of the optimizers and layers. A module also finds the names that its counterpart in MLX imports
for its own use, and that programs import from there, such as `mlx.nn.utils.tree_flatten` and
`mlx.nn.losses.Literal`. These are in no `__all__`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from umber import _errors, _names

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
        "": "textwrap",
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


def complete(namespace: dict[str, Any], later: Mapping[str, Sequence[str]] | None = None) -> None:
    """Guard the public functions and classes of a module, and let it find names on first use.

    Parameters
    ----------
    namespace : dict
        The globals of the module, which has defined everything else.
    later : dict of str to sequence of str, optional
        Public names by the module that is imported on first use of one. Names that it has already,
        because it has been imported, are copied. The source of a submodule is the package itself;
        sources that are submodules need not be listed. Default: none.
    """
    module = namespace["__name__"]
    later = dict(later or {})
    sources = [source.rpartition(".") for source in later]
    if submodules := [name for parent, _, name in sources if parent == module]:
        later[module] = [*later.get(module, ()), *submodules]
    for source, names in later.items():
        imported = vars(sys.modules[source]) if source in sys.modules else {}
        namespace.update({name: imported[name] for name in names if name in imported})
    public = namespace.get("__all__", namespace)
    own = {
        name: value
        for name, value in namespace.items()
        if name in public and getattr(value, "__module__", None) == module
    }
    _errors.guard(own)
    namespace.update(own)
    if later or module in _IMPORTED_NAMES:
        namespace["__getattr__"] = _finder(namespace, later)
    if later:
        found = [name for names in later.values() for name in names]

        def __dir__() -> list[str]:
            return sorted({*namespace, *found})

        namespace["__dir__"] = __dir__


def _finder(namespace: dict[str, Any], later: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    module = namespace["__name__"]
    public = {name: source for source, names in later.items() for name in names}
    private = {}
    for source, names in _IMPORTED_NAMES.get(module, {}).items():
        for entry in names.split():
            name, _, displayed = entry.partition(":")
            private[displayed or name] = (source, name)

    def __getattr__(name: str) -> Any:
        if name in public:
            source = public[name]
            namespace[name] = value = (
                import_module(f"{module}.{name}")
                if source == module
                else getattr(import_module(source), name)
            )
            _names.rename_imported()
            return value
        if name in private:
            source, original = private[name]
            return getattr(import_module(source), original) if source else import_module(original)
        raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")

    return __getattr__
