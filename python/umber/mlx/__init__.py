"""Run programs written for MLX: `import mlx` gives the modules of umber.

``python -m umber.mlx PROGRAM`` runs a program that way. `install` does it for the process that
calls it, before its first ``import mlx``. Then `mlx`, its `core`, `nn`, `optimizers` and `utils`
and the modules below them are the modules of umber themselves, so that classes, `isinstance` and
pickles agree. Importing a module that umber lacks raises `ModuleNotFoundError`.

`mlx.core.__version__` and ``importlib.metadata.version("mlx")`` are `MLX_VERSION`, the version of
MLX whose API umber follows.
"""

from umber.mlx.hook import MlxImportedError, install, uninstall
from umber.mlx.version import MLX_VERSION

__all__ = ["MLX_VERSION", "MlxImportedError", "install", "uninstall"]
