"""Whether MLX's rules apply in the few places where umber's differ.

They apply while the hook of `umber.mlx` is installed, which also sets this for `umber.core`.
"""

from __future__ import annotations

import umber.core as mx

_enabled = False


def set_mlx_rules(enabled: bool) -> None:
    """Apply MLX's rules, or umber's own."""
    global _enabled
    mx._set_narrowing(enabled)  # type: ignore[attr-defined]
    _enabled = enabled


def mlx_rules_hold() -> bool:
    """Whether MLX's rules apply."""
    return _enabled
