"""Errors of inputs that do not fit a layer, in the words of the layer.

The functions here are called in handlers, after an operation has failed: they raise if the input is
the cause. A call without an error costs nothing.
"""

from __future__ import annotations

from typing import Any, NoReturn

import umber.core as mx

_SPATIAL = {1: "L", 2: "H, W", 3: "D, H, W"}


def check_last_axis(op: str, x: Any, size: int) -> None:
    """Raise if the last axis of an input has another size.

    Parameters
    ----------
    op : str
        Name of the layer or method, for the error message.
    x : Any
        The input.
    size : int
        The size that it must have.

    Raises
    ------
    ValueError
        If `x` is an array that does not have the shape ``(..., size)``.
    """
    if isinstance(x, mx.array) and x.shape[-1:] != (size,):
        _refuse(op, x, f"(..., {size})")


def check_channels_last(op: str, x: Any, axes: int, channels: int) -> None:
    """Raise if an input does not have a batch axis, the spatial axes and channels as its last axis.

    Parameters
    ----------
    op : str
        Name of the layer, for the error message.
    x : Any
        The input.
    axes : int
        Number of spatial axes.
    channels : int
        Number of channels.

    Raises
    ------
    ValueError
        If `x` is an array of another shape.
    """
    if not isinstance(x, mx.array) or (x.ndim == axes + 2 and x.shape[-1] == channels):
        return
    hint = "channels are the last axis"
    if x.ndim == axes + 2 and x.shape[1] == channels:
        hint += ": use mx.moveaxis(x, 1, -1)"
    elif x.shape[-1:] == (channels,) and x.ndim == axes + 1:
        hint = "add an axis for samples: use x[None]"
    _refuse(op, x, f"({layout_of(axes, channels)}): {hint}")


def check_indices(op: str, x: Any) -> None:
    """Raise if an input does not hold integers.

    Parameters
    ----------
    op : str
        Name of the layer, for the error message.
    x : Any
        The input.

    Raises
    ------
    ArrayIndexError
        If `x` is an array of another dtype.
    """
    if isinstance(x, mx.array) and not mx.issubdtype(x.dtype, mx.integer):
        name = str(x.dtype).rpartition(".")[2]
        raise mx.ArrayIndexError(
            f"[{op}] got an input of dtype {name}, expected integers, the indices of vectors"
        ) from None


def layout_of(axes: int, channels: int | str = "C") -> str:
    """The axes of an input with samples: `"N, H, W, C"` for two spatial axes."""
    return f"N, {_SPATIAL[axes]}, {channels}"


def _refuse(op: str, x: mx.array, expected: str) -> NoReturn:
    raise ValueError(f"[{op}] got an input with the shape {x.shape}, expected {expected}") from None
