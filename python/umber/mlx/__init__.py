"""Programs for MLX, run as they are: `import mlx` gives umber's modules.

`python -m umber.mlx PROGRAM` runs a program that way; `install()` does it for the process that
calls it, before its first `import mlx`. What is answered: `mlx` with its `core`, `nn`,
`optimizers` and `utils` and all modules below them that umber has, as the very modules of umber,
so that classes, `isinstance` and pickles agree. A module that umber lacks is a
`ModuleNotFoundError` that says so.

Asked for its version, in `mlx.core.__version__` or `importlib.metadata.version("mlx")`, the answer
is `MLX_VERSION`, since programs ask in order to learn what they may call.
"""

from umber.mlx.hook import MlxImportedError, install, uninstall
from umber.mlx.version import MLX_VERSION

__all__ = ["MLX_VERSION", "MlxImportedError", "install", "uninstall"]
