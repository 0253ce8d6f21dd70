"""The names of umber's modules in pickles."""

from __future__ import annotations

import sys


def module_name(name: str) -> str:
    """The current name of a module of umber: MLX's under the import hook."""
    hook = sys.modules.get("umber.mlx.hook")
    return name if hook is None else hook.module_name(name)


def rename_imported() -> None:
    """Under the import hook, give MLX's names to modules that have been imported since."""
    hook = sys.modules.get("umber.mlx.hook")
    if hook is not None:
        hook.rename_imported()
