"""Lazy, differentiable arrays in Rust, with MLX's API.

`umber.core` has arrays, operations and transforms, `umber.nn` layers and losses, `umber.optimizers`
update rules, `umber.data` pipelines of samples, and `umber.utils` functions on trees of arrays.
Importing `umber` alone loads none of them; they are loaded when they are first used.
"""

import sys

__version__: str

if sys.version_info < (3, 12):
    # Takes every class called array for that of the standard library; pytest and debuggers use it.
    import reprlib

    def _repr_array(
        self: reprlib.Repr, x: object, level: int, _original=reprlib.Repr.repr_array
    ) -> str:
        is_standard = type(x).__module__ == "array"
        return _original(self, x, level) if is_standard else self.repr_instance(x, level)

    reprlib.Repr.repr_array = _repr_array  # type: ignore[method-assign]

# Not imported from `typing`, whose import takes longer than this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from umber import array_api, core, data, nn, optimizers, utils  # noqa: F401

_SUBMODULES = ("array_api", "core", "data", "nn", "optimizers", "utils")


def __getattr__(name: str) -> object:
    # Reading the package metadata takes longer than importing everything else.
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("umber")
        except PackageNotFoundError:
            # The package is used from a source tree without being installed.
            from umber.core import __version__

            return __version__
    if __name__ == "umber" and name in _SUBMODULES:
        from importlib import import_module

        return import_module(f"umber.{name}")
    if __name__ != "umber" and name.isidentifier():
        # Under the import hook, `__name__` is MLX's, and `from umber import nn` searches for
        # submodules below that name, where some are missing.
        from importlib import import_module
        from importlib.util import find_spec

        if find_spec(f"umber.{name}") is not None:
            return import_module(f"umber.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *(("__version__", *_SUBMODULES) if __name__ == "umber" else ())})
