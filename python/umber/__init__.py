"""Lazy, differentiable arrays in Rust, with MLX's API.

`umber.core` holds the arrays, operations and transforms, `umber.nn` layers and losses,
`umber.optimizers` the update rules and `umber.utils` functions on trees of arrays. Importing
`umber` alone loads none of them.
"""

from importlib.metadata import version

__version__ = version("umber")
