"""`mlx.core.metal` where umber runs on CPUs: no Metal, and the memory functions of `mlx.core`."""

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
    """Whether an Apple GPU is available: it is not.

    Returns
    -------
    bool
        False.
    """
    return False


def start_capture(path: str) -> None:
    """Start a GPU capture. Does nothing, and writes no file.

    Parameters
    ----------
    path : str
        Path of the capture.
    """


def stop_capture() -> None:
    """Stop the GPU capture that `start_capture` started. Does nothing."""
