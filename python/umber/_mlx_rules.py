"""Whether MLX's rules hold in the few places where umber has others of its own.

They do while the hook of `umber.mlx` is installed, which sets this for `umber.core` as well.
"""

from __future__ import annotations

import umber.core as mx

_are_on = False


def set_mlx_rules(are_on: bool) -> None:
    """Let MLX's rules hold, or umber's own."""
    global _are_on
    mx._set_narrowing(are_on)  # type: ignore[attr-defined]
    _are_on = are_on


def mlx_rules_hold() -> bool:
    """Whether MLX's rules hold."""
    return _are_on
