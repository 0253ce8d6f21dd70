"""The names of umber's modules in pickles."""

from __future__ import annotations

import sys


def module_name(name: str) -> str:
    """What a module of umber is called in this process: by MLX's name under the import hook."""
    hook = sys.modules.get("umber.mlx.hook")
    return name if hook is None else hook.module_name(name)
