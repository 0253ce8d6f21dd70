"""`mlx.core.metal` where umber runs on CPUs: no Metal, and the memory functions that moved."""

from umber.core import (
    clear_cache,
    device_info,
    get_active_memory,
    get_cache_memory,
    get_peak_memory,
    reset_peak_memory,
    set_cache_limit,
    set_memory_limit,
)

__all__ = [
    "clear_cache",
    "device_info",
    "get_active_memory",
    "get_cache_memory",
    "get_peak_memory",
    "is_available",
    "reset_peak_memory",
    "set_cache_limit",
    "set_memory_limit",
]


def is_available() -> bool:
    """Whether arrays can live on an Apple GPU: they cannot."""
    return False
