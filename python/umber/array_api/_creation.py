"""Creation functions whose parameters or results differ from those of `umber.core`."""

from __future__ import annotations

import umber.core as mx
from umber._errors import guard


def full(
    shape: int | tuple[int, ...],
    fill_value: mx.array | bool | int | float | complex,
    *,
    dtype: mx.Dtype | None = None,
    device: mx.Device | None = None,
) -> mx.array:
    """Array filled with one value.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the result.
    fill_value : scalar or 0-d array
        The value.
    dtype : Dtype, optional
        Dtype of the result. Default: the default dtype of the kind of `fill_value`.
    device : Device, optional
        Device of the result. Default: the default device.

    Returns
    -------
    array
        An array of the given shape.
    """
    return mx.full(shape, fill_value, dtype, device=device)


def full_like(
    x: mx.array,
    /,
    fill_value: mx.array | bool | int | float | complex,
    *,
    dtype: mx.Dtype | None = None,
    device: mx.Device | None = None,
) -> mx.array:
    """Array filled with one value, of the shape of another array.

    Parameters
    ----------
    x : array
        The array whose shape is used.
    fill_value : scalar or 0-d array
        The value.
    dtype : Dtype, optional
        Dtype of the result. Default: that of `x`.
    device : Device, optional
        Device of the result. Default: that of `x`.

    Returns
    -------
    array
        An array of the shape of `x`.
    """
    return mx.full_like(x, fill_value, dtype, device=x.device if device is None else device)


def empty_like(
    x: mx.array, /, *, dtype: mx.Dtype | None = None, device: mx.Device | None = None
) -> mx.array:
    """Array of unspecified values, currently zeros, of the shape of another array.

    Parameters
    ----------
    x : array
        The array whose shape is used.
    dtype : Dtype, optional
        Dtype of the result. Default: that of `x`.
    device : Device, optional
        Device of the result. Default: that of `x`.

    Returns
    -------
    array
        An array of the shape of `x`.
    """
    return mx.empty_like(x, dtype, device=x.device if device is None else device)


def ones_like(
    x: mx.array, /, *, dtype: mx.Dtype | None = None, device: mx.Device | None = None
) -> mx.array:
    """Array of ones, of the shape of another array.

    Parameters
    ----------
    x : array
        The array whose shape is used.
    dtype : Dtype, optional
        Dtype of the result. Default: that of `x`.
    device : Device, optional
        Device of the result. Default: that of `x`.

    Returns
    -------
    array
        An array of the shape of `x`.
    """
    return mx.ones_like(x, dtype, device=x.device if device is None else device)


def zeros_like(
    x: mx.array, /, *, dtype: mx.Dtype | None = None, device: mx.Device | None = None
) -> mx.array:
    """Array of zeros, of the shape of another array.

    Parameters
    ----------
    x : array
        The array whose shape is used.
    dtype : Dtype, optional
        Dtype of the result. Default: that of `x`.
    device : Device, optional
        Device of the result. Default: that of `x`.

    Returns
    -------
    array
        An array of the shape of `x`.
    """
    return mx.zeros_like(x, dtype, device=x.device if device is None else device)


def asarray(
    obj: object,
    /,
    *,
    dtype: mx.Dtype | None = None,
    device: mx.Device | None = None,
    copy: bool | None = None,
) -> mx.array:
    """Convert an object to an array, without a copy where possible.

    Parameters
    ----------
    obj : array_like
        The object: an array, a number, nested sequences of numbers, or an object that exports
        memory.
    dtype : Dtype, optional
        Dtype of the result. Default: that of `obj`, or the default dtype of its kind.
    device : Device, optional
        Device of the result. Default: the default device.
    copy : bool, optional
        True copies always; False raises ValueError where a copy would be necessary. Default: copy
        only where necessary.

    Returns
    -------
    array
        The array. With ``copy=False`` an array is returned itself, so that writes to either are
        visible in both.
    """
    array = mx.asarray(obj, dtype, device=device, copy=copy)
    return obj if copy is False and isinstance(obj, mx.array) else array


guard(globals())
