"""Lazy, differentiable arrays in Rust, with MLX's API.

`umber.core` holds the arrays, operations and transforms, `umber.nn` layers and losses,
`umber.optimizers` the update rules and `umber.utils` functions on trees of arrays. Importing
`umber` alone loads none of them.
"""

__version__: str


def __getattr__(name: str) -> str:
    # Looking for the version takes longer than importing everything else.
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("umber")
        except PackageNotFoundError:
            # A copy that nothing has installed.
            from umber.core import __version__

            return __version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
