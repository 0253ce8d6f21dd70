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
    set_wired_limit,
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
    "set_wired_limit",
    "start_capture",
    "stop_capture",
]


def is_available() -> bool:
    """Whether arrays can live on an Apple GPU: they cannot."""
    return False


def start_capture(path: str) -> None:
    """Record what an Apple GPU does from now on: nothing, and no file is written."""


def stop_capture() -> None:
    """End the recording that `start_capture` began."""
