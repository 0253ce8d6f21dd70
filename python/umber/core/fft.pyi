# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.

"""Fourier transforms."""
from collections.abc import Sequence
from typing import Literal
from umber.core import _Axes, _DType, _Device, _Operand, _StreamOrDevice, array


def dct(
    a: _Operand,
    type: Literal[1, 2, 3, 4] = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete cosine transform along one axis.

    Parameters
    ----------
    a : array_like
        Input of at least one axis.
    type : {1, 2, 3, 4}, optional
        Type of the transform. Default: 2.
    n : int, optional
        Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    axis : int, optional
        Axis to transform. Default: -1.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the period of the extended input, 'forward' the forward transform,
        'ortho' both by its square root. None means 'backward'. Default: None.
    orthogonalize : bool, optional
        Scale the first and last elements so that the transform matrix is orthogonal up to a factor. Default: True with
        ``norm='ortho'``, else False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the axis of length `n`. float32, or float64 for float64 input. Complex input gives complex64
        or complex128: real and imaginary parts are transformed separately.

    Raises
    ------
    ValueError
        If the length is below 1 (below 2 for type 1), or `type` or `norm` is unknown.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    idct, dst, rfft

    Notes
    -----
    Unscaled, with sums over ``j`` from 0 to ``n - 1``; an element in front of a sum is left out of the sum:

    - type 1: ``y[k] = x[0] + (-1)**k * x[n-1] + 2 * sum(x[j] * cos(pi * j * k / (n - 1)))``, period ``2 * (n - 1)``
    - type 2: ``y[k] = 2 * sum(x[j] * cos(pi * (2*j + 1) * k / (2*n)))``, period ``2 * n``
    - type 3: ``y[k] = x[0] + 2 * sum(x[j] * cos(pi * j * (2*k + 1) / (2*n)))``, period ``2 * n``
    - type 4: ``y[k] = 2 * sum(x[j] * cos(pi * (2*j + 1) * (2*k + 1) / (4*n)))``, period ``2 * n``

    These are SciPy's conventions. Computed by a Fourier transform of the symmetric extension of the input (J. Makhoul,
    A Fast Cosine Transform in One and Two Dimensions, 1980).

    Examples
    --------
    >>> mx.fft.dct(mx.array([1.0, 1.0]))
    array([4, 0], dtype=float32)
    """


def dst(
    a: _Operand,
    type: Literal[1, 2, 3, 4] = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete sine transform along one axis.

    Parameters
    ----------
    a : array_like
        Input of at least one axis.
    type : {1, 2, 3, 4}, optional
        Type of the transform. Default: 2.
    n : int, optional
        Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    axis : int, optional
        Axis to transform. Default: -1.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the period of the extended input, 'forward' the forward transform,
        'ortho' both by its square root. None means 'backward'. Default: None.
    orthogonalize : bool, optional
        Scale the first and last elements so that the transform matrix is orthogonal up to a factor. Default: True with
        ``norm='ortho'``, else False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the axis of length `n`. float32, or float64 for float64 input. Complex input gives complex64
        or complex128: real and imaginary parts are transformed separately.

    Raises
    ------
    ValueError
        If the length is below 1, or `type` or `norm` is unknown.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    idst, dct, rfft

    Notes
    -----
    Unscaled, with sums over ``j`` from 0 to ``n - 1``; an element in front of a sum is left out of the sum:

    - type 1: ``y[k] = 2 * sum(x[j] * sin(pi * (j + 1) * (k + 1) / (n + 1)))``, period ``2 * (n + 1)``
    - type 2: ``y[k] = 2 * sum(x[j] * sin(pi * (2*j + 1) * (k + 1) / (2*n)))``, period ``2 * n``
    - type 3: ``y[k] = (-1)**k * x[n-1] + 2 * sum(x[j] * sin(pi * (j + 1) * (2*k + 1) / (2*n)))``, period ``2 * n``
    - type 4: ``y[k] = 2 * sum(x[j] * sin(pi * (2*j + 1) * (2*k + 1) / (4*n)))``, period ``2 * n``

    These are SciPy's conventions.

    Examples
    --------
    >>> mx.fft.dst(mx.array([1.0, -1.0]))
    array([0, 4], dtype=float32)
    """


def fft(
    a: _Operand,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete Fourier transform along one axis: ``y[k] = sum_m x[m] * exp(-2j * pi * m * k / n)``.

    Parameters
    ----------
    a : array_like
        Input of at least one axis. Real input counts as complex.
    n : int, optional
        Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    axis : int, optional
        Axis to transform. Default: -1.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the axis of length `n`. complex128 for float64 and complex128 input, else complex64.

    Raises
    ------
    ValueError
        If the length is below 1 or `norm` is unknown.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    ifft, rfft, fftn, fftfreq

    Examples
    --------
    >>> mx.fft.fft(mx.array([1.0, 2.0, 3.0, 4.0]))
    array([10+0j, -2+2j, -2+0j, -2-2j], dtype=complex64)
    """


def fft2(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = [-2, -1],
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete Fourier transform along two axes.

    Parameters
    ----------
    a : array_like
        Real or complex input of at least two axes.
    s : int or sequence of int, optional
        Length of each transformed axis, which is truncated or zero-padded to it; -1 keeps the length of the axis.
        Default: the shape of `a`.
    axes : int or sequence of int, optional
        Axes to transform. Default: the last two.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the transformed axes of lengths `s`. complex128 for float64 and complex128 input, else
        complex64.

    Raises
    ------
    ValueError
        If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    ifft2, fftn, rfft2

    Examples
    --------
    >>> mx.fft.fft2(mx.ones((2, 2)))
    array([[4+0j, 0+0j],
           [0+0j, 0+0j]], dtype=complex64)
    """


def fftfreq(
    n: int,
    d: float = 1.0,
    stream: _StreamOrDevice = None,
    *,
    dtype: _DType = None,
    device: _Device | None = None,
) -> array:
    """Frequencies of the results of `fft` in order: ``[0, 1, ..., -2, -1] / (n * d)``.

    Parameters
    ----------
    n : int
        Length of the transform.
    d : float, optional
        Distance between samples. Default: 1.0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    device : Device, optional
        Where the operation runs, under the name of the array API standard.

    Returns
    -------
    array
        Shape ``(n,)``: the non-negative frequencies, then the negative ones.

    Raises
    ------
    ValueError
        If `n` is not positive, `d` is zero, or `stream` is on another device than `device`.
    TypeError
        If `dtype` is not real floating point.

    See Also
    --------
    rfftfreq, fftshift

    Examples
    --------
    >>> mx.fft.fftfreq(4, 0.5)
    array([0, 0.5, -1, -0.5], dtype=float32)
    """


def fftn(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete Fourier transform along several axes.

    Parameters
    ----------
    a : array_like
        Real or complex input.
    s : int or sequence of int, optional
        Length of each transformed axis, which is truncated or zero-padded to it; -1 keeps the length of the axis.
        Default: the shape of `a`.
    axes : int or sequence of int, optional
        Axes to transform. An axis given twice is transformed twice. Default: the last ``len(s)`` axes, all axes without
        `s`.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the transformed axes of lengths `s`. complex128 for float64 and complex128 input, else
        complex64.

    Raises
    ------
    ValueError
        If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    ifftn, fft, fft2, rfftn

    Notes
    -----
    With ``axes=[]``, `a` is returned unchanged.

    Examples
    --------
    >>> mx.fft.fftn(mx.ones((2, 3)))
    array([[6+0j, 0+0j, 0+0j],
           [0+0j, 0+0j, 0+0j]], dtype=complex64)
    """


def fftshift(a: _Operand, axes: _Axes | None = None, stream: _StreamOrDevice = None) -> array:
    """Move frequency zero from the front to the middle of each axis.

    Parameters
    ----------
    a : array_like
        Input of any dtype.
    axes : int or sequence of int, optional
        Axes to shift. Default: all axes.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape and dtype of `a`: each axis rolled by ``length // 2``.

    Raises
    ------
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    ifftshift, fftfreq

    Examples
    --------
    >>> mx.fft.fftshift(mx.fft.fftfreq(5, 0.2))
    array([-2, -1, 0, 1, 2], dtype=float32)
    """


def hfft(
    a: _Operand,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete Fourier transform of Hermitian input, given by its first half: a real array of length `n`.

    Parameters
    ----------
    a : array_like
        First ``n // 2 + 1`` elements, along `axis`, of input with ``x[n - j] == conj(x[j])``.
    n : int, optional
        Length of the result. Default: ``2 * (a.shape[axis] - 1)``.
    axis : int, optional
        Axis to transform. Default: -1.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the axis of length `n`. float64 for float64 and complex128 input, else float32.

    Raises
    ------
    ValueError
        If the length is below 1 or `norm` is unknown.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    ihfft, irfft

    Examples
    --------
    >>> mx.fft.hfft(mx.array([1.0, 2.0, 3.0]))  # the transform of 1, 2, 3, 2
    array([8, -2, 0, -2], dtype=float32)
    """


def idct(
    a: _Operand,
    type: Literal[1, 2, 3, 4] = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse of `dct` of the same type and norm.

    Parameters
    ----------
    a : array_like
        Input of at least one axis.
    type : {1, 2, 3, 4}, optional
        Type of the transform. Default: 2.
    n : int, optional
        Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    axis : int, optional
        Axis to transform. Default: -1.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the period of the extended input, 'forward' the forward transform,
        'ortho' both by its square root. None means 'backward'. Default: None.
    orthogonalize : bool, optional
        Scale the first and last elements so that the transform matrix is orthogonal up to a factor. Default: True with
        ``norm='ortho'``, else False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the axis of length `n`. float32, or float64 for float64 input. Complex input gives complex64
        or complex128: real and imaginary parts are transformed separately.

    Raises
    ------
    ValueError
        If the length is below 1 (below 2 for type 1), or `type` or `norm` is unknown.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    dct, idst

    Notes
    -----
    Up to a factor, types 2 and 3 are each other's inverse, and types 1 and 4 their own. See `dct` for the formulas.

    Examples
    --------
    >>> mx.fft.idct(mx.fft.dct(mx.array([1.0, 2.0, 3.0])))
    array([1, 2, 3], dtype=float32)
    """


def idst(
    a: _Operand,
    type: Literal[1, 2, 3, 4] = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse of `dst` of the same type and norm.

    Parameters
    ----------
    a : array_like
        Input of at least one axis.
    type : {1, 2, 3, 4}, optional
        Type of the transform. Default: 2.
    n : int, optional
        Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    axis : int, optional
        Axis to transform. Default: -1.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the period of the extended input, 'forward' the forward transform,
        'ortho' both by its square root. None means 'backward'. Default: None.
    orthogonalize : bool, optional
        Scale the first and last elements so that the transform matrix is orthogonal up to a factor. Default: True with
        ``norm='ortho'``, else False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the axis of length `n`. float32, or float64 for float64 input. Complex input gives complex64
        or complex128: real and imaginary parts are transformed separately.

    Raises
    ------
    ValueError
        If the length is below 1, or `type` or `norm` is unknown.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    dst, idct

    Notes
    -----
    Up to a factor, types 2 and 3 are each other's inverse, and types 1 and 4 their own. See `dst` for the formulas.

    Examples
    --------
    >>> mx.fft.idst(mx.array([0.0, 4.0]))
    array([1, -1], dtype=float32)
    """


def ifft(
    a: _Operand,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse Fourier transform along one axis: ``x[m] = sum_k y[k] * exp(2j * pi * m * k / n) / n``.

    Parameters
    ----------
    a : array_like
        Input of at least one axis. Real input counts as complex.
    n : int, optional
        Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    axis : int, optional
        Axis to transform. Default: -1.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the axis of length `n`. complex128 for float64 and complex128 input, else complex64.

    Raises
    ------
    ValueError
        If the length is below 1 or `norm` is unknown.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    fft, irfft, ifftn

    Examples
    --------
    >>> mx.fft.ifft(mx.array([4.0, 0.0, 0.0, 0.0]))
    array([1+0j, 1+0j, 1+0j, 1+0j], dtype=complex64)
    """


def ifft2(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = [-2, -1],
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse discrete Fourier transform along two axes.

    Parameters
    ----------
    a : array_like
        Real or complex input of at least two axes.
    s : int or sequence of int, optional
        Length of each transformed axis, which is truncated or zero-padded to it; -1 keeps the length of the axis.
        Default: the shape of `a`.
    axes : int or sequence of int, optional
        Axes to transform. Default: the last two.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the transformed axes of lengths `s`. complex128 for float64 and complex128 input, else
        complex64.

    Raises
    ------
    ValueError
        If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    fft2, ifftn, irfft2

    Examples
    --------
    >>> mx.fft.ifft2(mx.array([[4.0, 0.0], [0.0, 0.0]]))
    array([[1+0j, 1+0j],
           [1+0j, 1+0j]], dtype=complex64)
    """


def ifftn(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse discrete Fourier transform along several axes.

    Parameters
    ----------
    a : array_like
        Real or complex input.
    s : int or sequence of int, optional
        Length of each transformed axis, which is truncated or zero-padded to it; -1 keeps the length of the axis.
        Default: the shape of `a`.
    axes : int or sequence of int, optional
        Axes to transform. An axis given twice is transformed twice. Default: the last ``len(s)`` axes, all axes without
        `s`.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the transformed axes of lengths `s`. complex128 for float64 and complex128 input, else
        complex64.

    Raises
    ------
    ValueError
        If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    fftn, ifft, ifft2, irfftn

    Notes
    -----
    With ``axes=[]``, `a` is returned unchanged.

    Examples
    --------
    >>> mx.fft.ifftn(mx.fft.fftn(mx.array([[1.0, 2.0], [3.0, 4.0]])))
    array([[1+0j, 2+0j],
           [3+0j, 4+0j]], dtype=complex64)
    """


def ifftshift(a: _Operand, axes: _Axes | None = None, stream: _StreamOrDevice = None) -> array:
    """Move frequency zero from the middle to the front of each axis: the inverse of `fftshift`.

    Parameters
    ----------
    a : array_like
        Input of any dtype.
    axes : int or sequence of int, optional
        Axes to shift. Default: all axes.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape and dtype of `a`: each axis rolled by ``-(length // 2)``.

    Raises
    ------
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    fftshift

    Examples
    --------
    >>> mx.fft.ifftshift(mx.array([-2, -1, 0, 1, 2]))
    array([0, 1, 2, -2, -1], dtype=int32)
    """


def ihfft(
    a: _Operand,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse of `hfft`: the first ``n // 2 + 1`` elements of the inverse transform of real input.

    Parameters
    ----------
    a : array_like
        Real input of at least one axis. The imaginary part of complex input is ignored.
    n : int, optional
        Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    axis : int, optional
        Axis to transform. Default: -1.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the axis of length ``n // 2 + 1``. complex128 for float64 and complex128 input, else
        complex64.

    Raises
    ------
    ValueError
        If the length is below 1 or `norm` is unknown.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    hfft, rfft

    Examples
    --------
    >>> mx.fft.ihfft(mx.fft.hfft(mx.array([1.0, 2.0, 3.0]))).real
    array([1, 2, 3], dtype=float32)
    """


def irfft(
    a: _Operand,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse of `rfft`: a real array of length `n` along one axis.

    Parameters
    ----------
    a : array_like
        The non-negative frequencies along `axis`.
    n : int, optional
        Length of the result. Default: ``2 * (a.shape[axis] - 1)``.
    axis : int, optional
        Axis to transform. Default: -1.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the axis of length `n`. float64 for float64 and complex128 input, else float32.

    Raises
    ------
    ValueError
        If the length is below 1 or `norm` is unknown.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    rfft, ifft, irfftn

    Notes
    -----
    `rfft` gives ``n // 2 + 1`` frequencies for both an even and an odd `n`. Pass `n` where it was odd.

    Examples
    --------
    >>> mx.fft.irfft(mx.fft.rfft(mx.array([2.0, 2.0, 4.0])), n=3)
    array([2, 2, 4], dtype=float32)
    """


def irfft2(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = [-2, -1],
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse of `rfft2`: `ifft` along the first transformed axis, then `irfft` along the second.

    Parameters
    ----------
    a : array_like
        The non-negative frequencies along the last transformed axis, all frequencies along the other.
    s : int or sequence of int, optional
        Length of each transformed axis of the result; -1 means the default. Default: the shape of `a`, but
        ``2 * (length - 1)`` for the last transformed axis.
    axes : int or sequence of int, optional
        Axes to transform. Default: the last two.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the transformed axes of lengths `s`. float64 for float64 and complex128 input, else float32.

    Raises
    ------
    ValueError
        If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    rfft2, irfftn, ifft2

    Examples
    --------
    >>> mx.fft.irfft2(mx.array([[8.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    array([[1, 1, 1, 1],
           [1, 1, 1, 1]], dtype=float32)
    """


def irfftn(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse of `rfftn`: `ifft` along all transformed axes but the last, then `irfft` along the last.

    Parameters
    ----------
    a : array_like
        The non-negative frequencies along the last transformed axis, all frequencies along the others.
    s : int or sequence of int, optional
        Length of each transformed axis of the result; -1 means the default. Default: the shape of `a`, but
        ``2 * (length - 1)`` for the last transformed axis.
    axes : int or sequence of int, optional
        Axes to transform. An axis given twice is transformed twice. Default: the last ``len(s)`` axes, all axes without
        `s`.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the transformed axes of lengths `s`. float64 for float64 and complex128 input, else float32.

    Raises
    ------
    ValueError
        If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    rfftn, irfft, irfft2, ifftn

    Notes
    -----
    Pass `s` where the last transformed axis had an odd length. With ``axes=[]``, `a` is returned unchanged.

    Examples
    --------
    >>> mx.fft.irfftn(mx.fft.rfftn(mx.array([[1.0, 2.0, 4.0], [3.0, 0.0, 1.0]])), s=(2, 3)).shape
    (2, 3)
    """


def istft(
    stft_matrix: _Operand,
    n_fft: int | None = None,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: _Operand | None = None,
    center: bool = True,
    norm: str = "backward",
    onesided: bool | None = None,
    length: int | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse short-time Fourier transform: the real signal whose `stft` is given.

    Parameters
    ----------
    stft_matrix : array_like
        Shape ``(..., frequency, frame)``, as returned by `stft`.
    n_fft : int, optional
        Length of a frame. Default: ``2 * (frequencies - 1)``, or the number of frequencies with ``onesided=False``.
    hop_length : int, optional
        Distance between the starts of consecutive frames. Default: ``n_fft // 4``.
    win_length : int, optional
        Length of the default window, at most `n_fft`. Ignored where `window` is given. Default: `n_fft`.
    window : array_like, optional
        The window passed to `stft`. Default: `win_length` ones.
    center : bool, optional
        Remove the padding that ``stft(..., center=True)`` adds. Default: True.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        Scaling of the transforms, as passed to `stft`. Default: 'backward'.
    onesided : bool, optional
        The matrix holds only the non-negative frequencies. Default: True.
    length : int, optional
        Length of the signal, which is truncated or zero-padded to it. Default: the length covered by the frames.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Real signal of shape ``(..., time)``. float64 for float64 and complex128 input, else float32.

    Raises
    ------
    ValueError
        If the matrix has fewer than two axes or no frames, `n_fft` or `hop_length` is not positive, `length` is
        negative, the window is longer than a frame, or `norm` is unknown.

    See Also
    --------
    stft, irfft

    Notes
    -----
    The inverse transforms are multiplied by the window, added where frames overlap, and divided by the sum of the
    squared windows, which is clamped to at least 1e-8.

    Examples
    --------
    >>> spectrum = mx.fft.stft(mx.ones(100), n_fft=20, hop_length=5)
    >>> mx.allclose(mx.fft.istft(spectrum, hop_length=5), mx.ones(100)).item()
    True
    """


def rfft(
    a: _Operand,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Fourier transform of real input along one axis: the ``n // 2 + 1`` non-negative frequencies.

    Parameters
    ----------
    a : array_like
        Real input of at least one axis. The imaginary part of complex input is ignored.
    n : int, optional
        Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    axis : int, optional
        Axis to transform. Default: -1.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the axis of length ``n // 2 + 1``. complex128 for float64 and complex128 input, else
        complex64.

    Raises
    ------
    ValueError
        If the length is below 1 or `norm` is unknown.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    irfft, fft, rfftn, rfftfreq

    Notes
    -----
    The transform of real input is Hermitian: result ``n - k`` is the conjugate of result ``k``. `rfft` computes the
    first half of it.

    Examples
    --------
    >>> mx.fft.rfft(mx.array([1.0, 2.0, 3.0, 4.0]))
    array([10+0j, -2+2j, -2+0j], dtype=complex64)
    """


def rfft2(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = [-2, -1],
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Fourier transform of real input along two axes: `rfft` along the last, `fft` along the other.

    Parameters
    ----------
    a : array_like
        Real input of at least two axes. The imaginary part of complex input is ignored.
    s : int or sequence of int, optional
        Length of each transformed axis, which is truncated or zero-padded to it; -1 keeps the length of the axis.
        Default: the shape of `a`.
    axes : int or sequence of int, optional
        Axes to transform. Default: the last two.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the transformed axes of lengths `s`, the last of them ``n // 2 + 1``. complex128 for float64
        and complex128 input, else complex64.

    Raises
    ------
    ValueError
        If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    irfft2, rfftn, fft2

    Examples
    --------
    >>> mx.fft.rfft2(mx.ones((2, 4))).shape
    (2, 3)
    """


def rfftfreq(
    n: int,
    d: float = 1.0,
    stream: _StreamOrDevice = None,
    *,
    dtype: _DType = None,
    device: _Device | None = None,
) -> array:
    """Frequencies of the results of `rfft` in order: ``[0, 1, ..., n // 2] / (n * d)``.

    Parameters
    ----------
    n : int
        Length of the transform.
    d : float, optional
        Distance between samples. Default: 1.0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    device : Device, optional
        Where the operation runs, under the name of the array API standard.

    Returns
    -------
    array
        Shape ``(n // 2 + 1,)``.

    Raises
    ------
    ValueError
        If `n` is not positive, `d` is zero, or `stream` is on another device than `device`.
    TypeError
        If `dtype` is not real floating point.

    See Also
    --------
    fftfreq

    Examples
    --------
    >>> mx.fft.rfftfreq(4, 0.5)
    array([0, 0.5, 1], dtype=float32)
    """


def rfftn(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Fourier transform of real input along several axes: `rfft` along the last, `fft` along the others.

    Parameters
    ----------
    a : array_like
        Real input. The imaginary part of complex input is ignored.
    s : int or sequence of int, optional
        Length of each transformed axis, which is truncated or zero-padded to it; -1 keeps the length of the axis.
        Default: the shape of `a`.
    axes : int or sequence of int, optional
        Axes to transform. An axis given twice is transformed twice. Default: the last ``len(s)`` axes, all axes without
        `s`.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
        square root. None means 'backward'. Default: 'backward'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a` with the transformed axes of lengths `s`, the last of them ``n // 2 + 1``. complex128 for float64
        and complex128 input, else complex64.

    Raises
    ------
    ValueError
        If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    irfftn, rfft, rfft2, fftn

    Notes
    -----
    With ``axes=[]``, `a` is returned unchanged.

    Examples
    --------
    >>> mx.fft.rfftn(mx.ones((2, 4))).shape
    (2, 3)
    """


def stft(
    x: _Operand,
    n_fft: int = 2048,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: _Operand | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    norm: str = "backward",
    onesided: bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Short-time Fourier transform: the transform of each windowed frame of the last axis.

    Parameters
    ----------
    x : array_like
        Signal of shape ``(..., time)``, real or complex.
    n_fft : int, optional
        Length of a frame. Default: 2048.
    hop_length : int, optional
        Distance between the starts of consecutive frames. Default: ``n_fft // 4``.
    win_length : int, optional
        Length of the default window, at most `n_fft`. Ignored where `window` is given. Default: `n_fft`.
    window : array_like, optional
        Real window of one axis and at most `n_fft` elements, zero-padded on both sides to `n_fft`. Default:
        `win_length` ones.
    center : bool, optional
        Pad the signal by ``n_fft // 2`` on both sides, so that frame `t` is centred on sample ``t * hop_length``.
        Default: True.
    pad_mode : str, optional
        Mode of this padding, as in `mx.pad`. Default: 'reflect'.
    norm : {'backward', 'ortho', 'forward'} or None, optional
        Scaling of the transforms, as in `fft`. Default: 'backward'.
    onesided : bool, optional
        Compute only the ``n_fft // 2 + 1`` non-negative frequencies. Default: True for a real signal, False for a
        complex one.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(..., frequency, frame)``, with ``1 + (padded_time - n_fft) // hop_length`` frames. complex128 for
        float64 and complex128 input, else complex64.

    Raises
    ------
    ValueError
        If the padded signal is shorter than a frame, `n_fft` or `hop_length` is not positive, the window is longer than
        a frame, not real or not of one axis, or `pad_mode` or `norm` is unknown.

    See Also
    --------
    istft, rfft

    Examples
    --------
    >>> mx.fft.stft(mx.ones(100), n_fft=20, hop_length=5).shape
    (11, 21)
    """
