"""Lazy, differentiable arrays in Rust, with MLX's API.

`umber.core` holds the arrays, operations and transforms, `umber.nn` layers and losses,
`umber.optimizers` the update rules and `umber.utils` functions on trees of arrays. Importing
`umber` alone loads none of them.
"""

__version__: str


def __getattr__(name: str) -> object:
    # Looking for the version takes longer than importing everything else.
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("umber")
        except PackageNotFoundError:
            # A copy that nothing has installed.
            from umber.core import __version__

            return __version__
    if __name__ != "umber" and name.isidentifier():
        # While the import hook has this package go by MLX's name, `from umber import nn` looks for
        # its modules below that name, where some of them are not.
        from importlib import import_module
        from importlib.util import find_spec

        if find_spec(f"umber.{name}") is not None:
            return import_module(f"umber.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
