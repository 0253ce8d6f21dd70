//! `umber.core.fft`: Fourier transforms.
//!
//! One subject: one binding per transform; most lines are their documentation.

use pyo3::prelude::*;
use umber_core::DType;
use umber_core::ops::PadMode;
use umber_core::ops::fft::{self as transforms, AxesOf, CosineOptions, CosineType, Frames, Norm};

use crate::args::{DeviceArg, Ints, Operand, StreamArg, axes, record_on, resolve_stream};
use crate::dtype::{DtypeArg, or};
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// Transforms along one axis.
macro_rules! transforms {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(
                signature = (a, n = None, axis = -1, norm = "backward", stream = None),
                text_signature = "(a, n=None, axis=-1, norm='backward', stream=None)"
            )]
            fn $name(
                a: Operand,
                n: Option<i64>,
                axis: i64,
                norm: Option<&str>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (a, norm) = (a.into_array(), norm_of(stringify!($name), norm)?);
                record_on(stream, || transforms::$name(&a, n, axis, norm)).map(NewArray::from)
            }
        )*

        fn register_transforms(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

transforms! {
    /// Discrete Fourier transform along one axis: ``y[k] = sum_m x[m] * exp(-2j * pi * m * k / n)``.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of at least one axis. Real input counts as complex.
    /// n : int, optional
    ///     Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    /// axis : int, optional
    ///     Axis to transform. Default: -1.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the axis of length `n`. complex128 for float64 and complex128 input, else complex64.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If `axis` is out of bounds.
    ///
    /// See Also
    /// --------
    /// ifft, rfft, fftn, fftfreq
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.fft(mx.array([1.0, 2.0, 3.0, 4.0]))
    /// array([10+0j, -2+2j, -2+0j, -2-2j], dtype=complex64)
    fft,
    /// Inverse Fourier transform along one axis: ``x[m] = sum_k y[k] * exp(2j * pi * m * k / n) / n``.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of at least one axis. Real input counts as complex.
    /// n : int, optional
    ///     Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    /// axis : int, optional
    ///     Axis to transform. Default: -1.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the axis of length `n`. complex128 for float64 and complex128 input, else complex64.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If `axis` is out of bounds.
    ///
    /// See Also
    /// --------
    /// fft, irfft, ifftn
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.ifft(mx.array([4.0, 0.0, 0.0, 0.0]))
    /// array([1+0j, 1+0j, 1+0j, 1+0j], dtype=complex64)
    ifft,
    /// Fourier transform of real input along one axis: the ``n // 2 + 1`` non-negative frequencies.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Real input of at least one axis. The imaginary part of complex input is ignored.
    /// n : int, optional
    ///     Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    /// axis : int, optional
    ///     Axis to transform. Default: -1.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the axis of length ``n // 2 + 1``. complex128 for float64 and complex128 input, else
    ///     complex64.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If `axis` is out of bounds.
    ///
    /// See Also
    /// --------
    /// irfft, fft, rfftn, rfftfreq
    ///
    /// Notes
    /// -----
    /// The transform of real input is Hermitian: result ``n - k`` is the conjugate of result ``k``. `rfft` computes the
    /// first half of it.
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.rfft(mx.array([1.0, 2.0, 3.0, 4.0]))
    /// array([10+0j, -2+2j, -2+0j], dtype=complex64)
    rfft,
    /// Inverse of `rfft`: a real array of length `n` along one axis.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     The non-negative frequencies along `axis`.
    /// n : int, optional
    ///     Length of the result. Default: ``2 * (a.shape[axis] - 1)``.
    /// axis : int, optional
    ///     Axis to transform. Default: -1.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the axis of length `n`. float64 for float64 and complex128 input, else float32.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If `axis` is out of bounds.
    ///
    /// See Also
    /// --------
    /// rfft, ifft, irfftn
    ///
    /// Notes
    /// -----
    /// `rfft` gives ``n // 2 + 1`` frequencies for both an even and an odd `n`. Pass `n` where it was odd.
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.irfft(mx.fft.rfft(mx.array([2.0, 2.0, 4.0])), n=3)
    /// array([2, 2, 4], dtype=float32)
    irfft,
    /// Discrete Fourier transform of Hermitian input, given by its first half: a real array of length `n`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     First ``n // 2 + 1`` elements, along `axis`, of input with ``x[n - j] == conj(x[j])``.
    /// n : int, optional
    ///     Length of the result. Default: ``2 * (a.shape[axis] - 1)``.
    /// axis : int, optional
    ///     Axis to transform. Default: -1.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the axis of length `n`. float64 for float64 and complex128 input, else float32.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If `axis` is out of bounds.
    ///
    /// See Also
    /// --------
    /// ihfft, irfft
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.hfft(mx.array([1.0, 2.0, 3.0]))  # the transform of 1, 2, 3, 2
    /// array([8, -2, 0, -2], dtype=float32)
    hfft,
    /// Inverse of `hfft`: the first ``n // 2 + 1`` elements of the inverse transform of real input.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Real input of at least one axis. The imaginary part of complex input is ignored.
    /// n : int, optional
    ///     Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    /// axis : int, optional
    ///     Axis to transform. Default: -1.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the axis of length ``n // 2 + 1``. complex128 for float64 and complex128 input, else
    ///     complex64.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If `axis` is out of bounds.
    ///
    /// See Also
    /// --------
    /// hfft, rfft
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.ihfft(mx.fft.hfft(mx.array([1.0, 2.0, 3.0]))).real
    /// array([1, 2, 3], dtype=float32)
    ihfft,
}

/// Transforms along several axes, by default all, each with its variant along the last two axes.
macro_rules! multi_axis_transforms {
    ($($(#[$doc:meta])* $name:ident $(#[$doc_of_two:meta])* $two:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, s = None, axes = None, norm = "backward", stream = None))]
            fn $name(
                a: Operand,
                s: Option<Ints>,
                axes: Option<Ints>,
                norm: Option<&str>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (a, norm) = (a.into_array(), norm_of(stringify!($name), norm)?);
                record_on(stream, || transforms::$name(&a, axes_of(s.as_ref(), axes.as_ref()), norm)).map(NewArray::from)
            }

            $(#[$doc_of_two])*
            #[pyfunction]
            #[pyo3(
                signature = (a, s = None, axes = Some(last_two()), norm = "backward", stream = None),
                text_signature = "(a, s=None, axes=[-2, -1], norm='backward', stream=None)"
            )]
            fn $two(
                a: Operand,
                s: Option<Ints>,
                axes: Option<Ints>,
                norm: Option<&str>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (a, norm) = (a.into_array(), norm_of(stringify!($two), norm)?);
                let renamed = |error: umber_core::Error| error.with_op(stringify!($two));
                let axes = axes_of(s.as_ref(), axes.as_ref());
                record_on(stream, || transforms::$name(&a, axes, norm).map_err(renamed)).map(NewArray::from)
            }
        )*

        fn register_multi_axis_transforms(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(
                module.add_function(wrap_pyfunction!($name, module)?)?;
                module.add_function(wrap_pyfunction!($two, module)?)?;
            )*
            Ok(())
        }
    };
}

multi_axis_transforms! {
    /// Discrete Fourier transform along several axes.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Real or complex input.
    /// s : int or sequence of int, optional
    ///     Length of each transformed axis, which is truncated or zero-padded to it; -1 keeps the length of the axis.
    ///     Default: the shape of `a`.
    /// axes : int or sequence of int, optional
    ///     Axes to transform. An axis given twice is transformed twice. Default: the last ``len(s)`` axes, all axes without
    ///     `s`.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the transformed axes of lengths `s`. complex128 for float64 and complex128 input, else
    ///     complex64.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// ifftn, fft, fft2, rfftn
    ///
    /// Notes
    /// -----
    /// With ``axes=[]``, `a` is returned unchanged.
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.fftn(mx.ones((2, 3)))
    /// array([[6+0j, 0+0j, 0+0j],
    ///        [0+0j, 0+0j, 0+0j]], dtype=complex64)
    fftn
    /// Discrete Fourier transform along two axes.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Real or complex input of at least two axes.
    /// s : int or sequence of int, optional
    ///     Length of each transformed axis, which is truncated or zero-padded to it; -1 keeps the length of the axis.
    ///     Default: the shape of `a`.
    /// axes : int or sequence of int, optional
    ///     Axes to transform. Default: the last two.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the transformed axes of lengths `s`. complex128 for float64 and complex128 input, else
    ///     complex64.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// ifft2, fftn, rfft2
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.fft2(mx.ones((2, 2)))
    /// array([[4+0j, 0+0j],
    ///        [0+0j, 0+0j]], dtype=complex64)
    fft2,
    /// Inverse discrete Fourier transform along several axes.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Real or complex input.
    /// s : int or sequence of int, optional
    ///     Length of each transformed axis, which is truncated or zero-padded to it; -1 keeps the length of the axis.
    ///     Default: the shape of `a`.
    /// axes : int or sequence of int, optional
    ///     Axes to transform. An axis given twice is transformed twice. Default: the last ``len(s)`` axes, all axes without
    ///     `s`.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the transformed axes of lengths `s`. complex128 for float64 and complex128 input, else
    ///     complex64.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// fftn, ifft, ifft2, irfftn
    ///
    /// Notes
    /// -----
    /// With ``axes=[]``, `a` is returned unchanged.
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.ifftn(mx.fft.fftn(mx.array([[1.0, 2.0], [3.0, 4.0]])))
    /// array([[1+0j, 2+0j],
    ///        [3+0j, 4+0j]], dtype=complex64)
    ifftn
    /// Inverse discrete Fourier transform along two axes.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Real or complex input of at least two axes.
    /// s : int or sequence of int, optional
    ///     Length of each transformed axis, which is truncated or zero-padded to it; -1 keeps the length of the axis.
    ///     Default: the shape of `a`.
    /// axes : int or sequence of int, optional
    ///     Axes to transform. Default: the last two.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the transformed axes of lengths `s`. complex128 for float64 and complex128 input, else
    ///     complex64.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// fft2, ifftn, irfft2
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.ifft2(mx.array([[4.0, 0.0], [0.0, 0.0]]))
    /// array([[1+0j, 1+0j],
    ///        [1+0j, 1+0j]], dtype=complex64)
    ifft2,
    /// Fourier transform of real input along several axes: `rfft` along the last, `fft` along the others.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Real input. The imaginary part of complex input is ignored.
    /// s : int or sequence of int, optional
    ///     Length of each transformed axis, which is truncated or zero-padded to it; -1 keeps the length of the axis.
    ///     Default: the shape of `a`.
    /// axes : int or sequence of int, optional
    ///     Axes to transform. An axis given twice is transformed twice. Default: the last ``len(s)`` axes, all axes without
    ///     `s`.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the transformed axes of lengths `s`, the last of them ``n // 2 + 1``. complex128 for float64
    ///     and complex128 input, else complex64.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// irfftn, rfft, rfft2, fftn
    ///
    /// Notes
    /// -----
    /// With ``axes=[]``, `a` is returned unchanged.
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.rfftn(mx.ones((2, 4))).shape
    /// (2, 3)
    rfftn
    /// Fourier transform of real input along two axes: `rfft` along the last, `fft` along the other.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Real input of at least two axes. The imaginary part of complex input is ignored.
    /// s : int or sequence of int, optional
    ///     Length of each transformed axis, which is truncated or zero-padded to it; -1 keeps the length of the axis.
    ///     Default: the shape of `a`.
    /// axes : int or sequence of int, optional
    ///     Axes to transform. Default: the last two.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the transformed axes of lengths `s`, the last of them ``n // 2 + 1``. complex128 for float64
    ///     and complex128 input, else complex64.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// irfft2, rfftn, fft2
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.rfft2(mx.ones((2, 4))).shape
    /// (2, 3)
    rfft2,
    /// Inverse of `rfftn`: `ifft` along all transformed axes but the last, then `irfft` along the last.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     The non-negative frequencies along the last transformed axis, all frequencies along the others.
    /// s : int or sequence of int, optional
    ///     Length of each transformed axis of the result; -1 means the default. Default: the shape of `a`, but
    ///     ``2 * (length - 1)`` for the last transformed axis.
    /// axes : int or sequence of int, optional
    ///     Axes to transform. An axis given twice is transformed twice. Default: the last ``len(s)`` axes, all axes without
    ///     `s`.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the transformed axes of lengths `s`. float64 for float64 and complex128 input, else float32.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// rfftn, irfft, irfft2, ifftn
    ///
    /// Notes
    /// -----
    /// Pass `s` where the last transformed axis had an odd length. With ``axes=[]``, `a` is returned unchanged.
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.irfftn(mx.fft.rfftn(mx.array([[1.0, 2.0, 4.0], [3.0, 0.0, 1.0]])), s=(2, 3)).shape
    /// (2, 3)
    irfftn
    /// Inverse of `rfft2`: `ifft` along the first transformed axis, then `irfft` along the second.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     The non-negative frequencies along the last transformed axis, all frequencies along the other.
    /// s : int or sequence of int, optional
    ///     Length of each transformed axis of the result; -1 means the default. Default: the shape of `a`, but
    ///     ``2 * (length - 1)`` for the last transformed axis.
    /// axes : int or sequence of int, optional
    ///     Axes to transform. Default: the last two.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the length, 'forward' the forward transform, 'ortho' both by its
    ///     square root. None means 'backward'. Default: 'backward'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the transformed axes of lengths `s`. float64 for float64 and complex128 input, else float32.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `s` and `axes` differ in length, a length is below 1 or `norm` is unknown.
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// rfft2, irfftn, ifft2
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.irfft2(mx.array([[8.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    /// array([[1, 1, 1, 1],
    ///        [1, 1, 1, 1]], dtype=float32)
    irfft2,
}

/// Cosine and sine transforms.
macro_rules! cosines {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(
                signature = (a, r#type = 2, n = None, axis = -1, norm = None, *, orthogonalize = None, stream = None),
                text_signature = "(a, type=2, n=None, axis=-1, norm=None, *, orthogonalize=None, stream=None)"
            )]
            fn $name(
                a: Operand,
                r#type: i64,
                n: Option<i64>,
                axis: i64,
                norm: Option<&str>,
                orthogonalize: Option<bool>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (a, norm) = (a.into_array(), norm_of(stringify!($name), norm)?);
                let kind = CosineType::numbered(stringify!($name), r#type).or_raise()?;
                let options = CosineOptions { kind, length: n, axis, norm, is_orthogonal: orthogonalize };
                record_on(stream, || transforms::$name(&a, options)).map(NewArray::from)
            }
        )*

        fn register_cosines(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

cosines! {
    /// Discrete cosine transform along one axis.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of at least one axis.
    /// type : {1, 2, 3, 4}, optional
    ///     Type of the transform. Default: 2.
    /// n : int, optional
    ///     Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    /// axis : int, optional
    ///     Axis to transform. Default: -1.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the period of the extended input, 'forward' the forward transform,
    ///     'ortho' both by its square root. None means 'backward'. Default: None.
    /// orthogonalize : bool, optional
    ///     Scale the first and last elements so that the transform matrix is orthogonal up to a factor. Default: True with
    ///     ``norm='ortho'``, else False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the axis of length `n`. float32, or float64 for float64 input. Complex input gives complex64
    ///     or complex128: real and imaginary parts are transformed separately.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the length is below 1 (below 2 for type 1), or `type` or `norm` is unknown.
    /// IndexError
    ///     If `axis` is out of bounds.
    ///
    /// See Also
    /// --------
    /// idct, dst, rfft
    ///
    /// Notes
    /// -----
    /// Unscaled, with sums over ``j`` from 0 to ``n - 1``; an element in front of a sum is left out of the sum:
    ///
    /// - type 1: ``y[k] = x[0] + (-1)**k * x[n-1] + 2 * sum(x[j] * cos(pi * j * k / (n - 1)))``, period ``2 * (n - 1)``
    /// - type 2: ``y[k] = 2 * sum(x[j] * cos(pi * (2*j + 1) * k / (2*n)))``, period ``2 * n``
    /// - type 3: ``y[k] = x[0] + 2 * sum(x[j] * cos(pi * j * (2*k + 1) / (2*n)))``, period ``2 * n``
    /// - type 4: ``y[k] = 2 * sum(x[j] * cos(pi * (2*j + 1) * (2*k + 1) / (4*n)))``, period ``2 * n``
    ///
    /// These are SciPy's conventions. Computed by a Fourier transform of the symmetric extension of the input (J. Makhoul,
    /// A Fast Cosine Transform in One and Two Dimensions, 1980).
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.dct(mx.array([1.0, 1.0]))
    /// array([4, 0], dtype=float32)
    dct,
    /// Inverse of `dct` of the same type and norm.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of at least one axis.
    /// type : {1, 2, 3, 4}, optional
    ///     Type of the transform. Default: 2.
    /// n : int, optional
    ///     Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    /// axis : int, optional
    ///     Axis to transform. Default: -1.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the period of the extended input, 'forward' the forward transform,
    ///     'ortho' both by its square root. None means 'backward'. Default: None.
    /// orthogonalize : bool, optional
    ///     Scale the first and last elements so that the transform matrix is orthogonal up to a factor. Default: True with
    ///     ``norm='ortho'``, else False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the axis of length `n`. float32, or float64 for float64 input. Complex input gives complex64
    ///     or complex128: real and imaginary parts are transformed separately.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the length is below 1 (below 2 for type 1), or `type` or `norm` is unknown.
    /// IndexError
    ///     If `axis` is out of bounds.
    ///
    /// See Also
    /// --------
    /// dct, idst
    ///
    /// Notes
    /// -----
    /// Up to a factor, types 2 and 3 are each other's inverse, and types 1 and 4 their own. See `dct` for the formulas.
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.idct(mx.fft.dct(mx.array([1.0, 2.0, 3.0])))
    /// array([1, 2, 3], dtype=float32)
    idct,
    /// Discrete sine transform along one axis.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of at least one axis.
    /// type : {1, 2, 3, 4}, optional
    ///     Type of the transform. Default: 2.
    /// n : int, optional
    ///     Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    /// axis : int, optional
    ///     Axis to transform. Default: -1.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the period of the extended input, 'forward' the forward transform,
    ///     'ortho' both by its square root. None means 'backward'. Default: None.
    /// orthogonalize : bool, optional
    ///     Scale the first and last elements so that the transform matrix is orthogonal up to a factor. Default: True with
    ///     ``norm='ortho'``, else False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the axis of length `n`. float32, or float64 for float64 input. Complex input gives complex64
    ///     or complex128: real and imaginary parts are transformed separately.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the length is below 1, or `type` or `norm` is unknown.
    /// IndexError
    ///     If `axis` is out of bounds.
    ///
    /// See Also
    /// --------
    /// idst, dct, rfft
    ///
    /// Notes
    /// -----
    /// Unscaled, with sums over ``j`` from 0 to ``n - 1``; an element in front of a sum is left out of the sum:
    ///
    /// - type 1: ``y[k] = 2 * sum(x[j] * sin(pi * (j + 1) * (k + 1) / (n + 1)))``, period ``2 * (n + 1)``
    /// - type 2: ``y[k] = 2 * sum(x[j] * sin(pi * (2*j + 1) * (k + 1) / (2*n)))``, period ``2 * n``
    /// - type 3: ``y[k] = (-1)**k * x[n-1] + 2 * sum(x[j] * sin(pi * (j + 1) * (2*k + 1) / (2*n)))``, period ``2 * n``
    /// - type 4: ``y[k] = 2 * sum(x[j] * sin(pi * (2*j + 1) * (2*k + 1) / (4*n)))``, period ``2 * n``
    ///
    /// These are SciPy's conventions.
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.dst(mx.array([1.0, -1.0]))
    /// array([0, 4], dtype=float32)
    dst,
    /// Inverse of `dst` of the same type and norm.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of at least one axis.
    /// type : {1, 2, 3, 4}, optional
    ///     Type of the transform. Default: 2.
    /// n : int, optional
    ///     Length of the transform. The axis is truncated or zero-padded to it. Default: the length of the axis.
    /// axis : int, optional
    ///     Axis to transform. Default: -1.
    /// norm : {'backward', 'ortho', 'forward'} or None, optional
    ///     'backward' divides the inverse transform by the period of the extended input, 'forward' the forward transform,
    ///     'ortho' both by its square root. None means 'backward'. Default: None.
    /// orthogonalize : bool, optional
    ///     Scale the first and last elements so that the transform matrix is orthogonal up to a factor. Default: True with
    ///     ``norm='ortho'``, else False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape of `a` with the axis of length `n`. float32, or float64 for float64 input. Complex input gives complex64
    ///     or complex128: real and imaginary parts are transformed separately.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the length is below 1, or `type` or `norm` is unknown.
    /// IndexError
    ///     If `axis` is out of bounds.
    ///
    /// See Also
    /// --------
    /// dst, idct
    ///
    /// Notes
    /// -----
    /// Up to a factor, types 2 and 3 are each other's inverse, and types 1 and 4 their own. See `dst` for the formulas.
    ///
    /// Examples
    /// --------
    /// >>> mx.fft.idst(mx.array([0.0, 4.0]))
    /// array([1, -1], dtype=float32)
    idst,
}

fn last_two() -> Ints {
    Ints(smallvec::smallvec![-2, -1])
}

/// Parse a normalisation mode; `None` is `backward`, as in NumPy.
fn norm_of(op: &str, name: Option<&str>) -> PyResult<Norm> {
    name.map_or(Ok(Norm::Backward), |name| Norm::named(op, name)).or_raise()
}

fn axes_of<'a>(s: Option<&'a Ints>, axes: Option<&'a Ints>) -> AxesOf<'a> {
    AxesOf { lengths: s.map(Ints::as_slice), axes: axes.map(Ints::as_slice) }
}

/// Frequencies of the results of `fft` in order: ``[0, 1, ..., -2, -1] / (n * d)``.
///
/// Parameters
/// ----------
/// n : int
///     Length of the transform.
/// d : float, optional
///     Distance between samples. Default: 1.0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
/// dtype : Dtype, optional
///     Real floating-point dtype of the result. Default: float32.
/// device : Device, optional
///     Where the operation runs, under the name of the array API standard.
///
/// Returns
/// -------
/// array
///     Shape ``(n,)``: the non-negative frequencies, then the negative ones.
///
/// Raises
/// ------
/// ValueError
///     If `n` is not positive, `d` is zero, or `stream` is on another device than `device`.
/// TypeError
///     If `dtype` is not real floating point.
///
/// See Also
/// --------
/// rfftfreq, fftshift
///
/// Examples
/// --------
/// >>> mx.fft.fftfreq(4, 0.5)
/// array([0, 0.5, -1, -0.5], dtype=float32)
#[pyfunction]
#[pyo3(signature = (n, d = 1.0, stream = None, *, dtype = None, device = None))]
fn fftfreq(
    n: i64,
    d: f64,
    stream: Option<StreamArg>,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
) -> PyResult<NewArray> {
    let (stream, dtype) = (resolve_stream("fftfreq", stream, device)?, or(dtype, DType::Float32));
    record_on(stream, || transforms::fftfreq(n, d, dtype)).map(NewArray::from)
}

/// Frequencies of the results of `rfft` in order: ``[0, 1, ..., n // 2] / (n * d)``.
///
/// Parameters
/// ----------
/// n : int
///     Length of the transform.
/// d : float, optional
///     Distance between samples. Default: 1.0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
/// dtype : Dtype, optional
///     Real floating-point dtype of the result. Default: float32.
/// device : Device, optional
///     Where the operation runs, under the name of the array API standard.
///
/// Returns
/// -------
/// array
///     Shape ``(n // 2 + 1,)``.
///
/// Raises
/// ------
/// ValueError
///     If `n` is not positive, `d` is zero, or `stream` is on another device than `device`.
/// TypeError
///     If `dtype` is not real floating point.
///
/// See Also
/// --------
/// fftfreq
///
/// Examples
/// --------
/// >>> mx.fft.rfftfreq(4, 0.5)
/// array([0, 0.5, 1], dtype=float32)
#[pyfunction]
#[pyo3(signature = (n, d = 1.0, stream = None, *, dtype = None, device = None))]
fn rfftfreq(
    n: i64,
    d: f64,
    stream: Option<StreamArg>,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
) -> PyResult<NewArray> {
    let (stream, dtype) = (resolve_stream("rfftfreq", stream, device)?, or(dtype, DType::Float32));
    record_on(stream, || transforms::rfftfreq(n, d, dtype)).map(NewArray::from)
}

/// Move frequency zero from the front to the middle of each axis.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any dtype.
/// axes : int or sequence of int, optional
///     Axes to shift. Default: all axes.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape and dtype of `a`: each axis rolled by ``length // 2``.
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds.
///
/// See Also
/// --------
/// ifftshift, fftfreq
///
/// Examples
/// --------
/// >>> mx.fft.fftshift(mx.fft.fftfreq(5, 0.2))
/// array([-2, -1, 0, 1, 2], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, axes = None, stream = None))]
fn fftshift(a: Operand, axes: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || transforms::fftshift(&a, self::axes(axes.as_ref()))).map(NewArray::from)
}

/// Move frequency zero from the middle to the front of each axis: the inverse of `fftshift`.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any dtype.
/// axes : int or sequence of int, optional
///     Axes to shift. Default: all axes.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape and dtype of `a`: each axis rolled by ``-(length // 2)``.
///
/// Raises
/// ------
/// IndexError
///     If an axis is out of bounds.
///
/// See Also
/// --------
/// fftshift
///
/// Examples
/// --------
/// >>> mx.fft.ifftshift(mx.array([-2, -1, 0, 1, 2]))
/// array([0, 1, 2, -2, -1], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, axes = None, stream = None))]
fn ifftshift(a: Operand, axes: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || transforms::ifftshift(&a, self::axes(axes.as_ref()))).map(NewArray::from)
}

/// Short-time Fourier transform: the transform of each windowed frame of the last axis.
///
/// Parameters
/// ----------
/// x : array_like
///     Signal of shape ``(..., time)``, real or complex.
/// n_fft : int, optional
///     Length of a frame. Default: 2048.
/// hop_length : int, optional
///     Distance between the starts of consecutive frames. Default: ``n_fft // 4``.
/// win_length : int, optional
///     Length of the default window, at most `n_fft`. Ignored where `window` is given. Default: `n_fft`.
/// window : array_like, optional
///     Real window of one axis and at most `n_fft` elements, zero-padded on both sides to `n_fft`. Default:
///     `win_length` ones.
/// center : bool, optional
///     Pad the signal by ``n_fft // 2`` on both sides, so that frame `t` is centred on sample ``t * hop_length``.
///     Default: True.
/// pad_mode : str, optional
///     Mode of this padding, as in `mx.pad`. Default: 'reflect'.
/// norm : {'backward', 'ortho', 'forward'} or None, optional
///     Scaling of the transforms, as in `fft`. Default: 'backward'.
/// onesided : bool, optional
///     Compute only the ``n_fft // 2 + 1`` non-negative frequencies. Default: True for a real signal, False for a
///     complex one.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape ``(..., frequency, frame)``, with ``1 + (padded_time - n_fft) // hop_length`` frames. complex128 for
///     float64 and complex128 input, else complex64.
///
/// Raises
/// ------
/// ValueError
///     If the padded signal is shorter than a frame, `n_fft` or `hop_length` is not positive, the window is longer than
///     a frame, not real or not of one axis, or `pad_mode` or `norm` is unknown.
///
/// See Also
/// --------
/// istft, rfft
///
/// Examples
/// --------
/// >>> mx.fft.stft(mx.ones(100), n_fft=20, hop_length=5).shape
/// (11, 21)
#[pyfunction]
#[pyo3(signature = (
    x, n_fft = 2048, hop_length = None, win_length = None, window = None, center = true, pad_mode = "reflect",
    norm = "backward", onesided = None, stream = None
))]
#[expect(clippy::too_many_arguments, reason = "MLX's signature")]
fn stft(
    x: Operand,
    n_fft: i64,
    hop_length: Option<i64>,
    win_length: Option<i64>,
    window: Option<Operand>,
    center: bool,
    pad_mode: &str,
    norm: Option<&str>,
    onesided: Option<bool>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (x, window) = (x.into_array(), window.map(Operand::into_array));
    // Without padding, the mode is ignored.
    let padding = if center { super::shaping::pad_mode("stft", pad_mode)? } else { PadMode::Constant };
    let frames = Frames {
        hop: hop_length,
        window_length: win_length,
        window: window.as_ref(),
        centred: center,
        norm: norm_of("stft", norm)?,
        onesided,
    };
    record_on(stream, || transforms::stft(&x, n_fft, frames, padding)).map(NewArray::from)
}

/// Inverse short-time Fourier transform: the real signal whose `stft` is given.
///
/// Parameters
/// ----------
/// stft_matrix : array_like
///     Shape ``(..., frequency, frame)``, as returned by `stft`.
/// n_fft : int, optional
///     Length of a frame. Default: ``2 * (frequencies - 1)``, or the number of frequencies with ``onesided=False``.
/// hop_length : int, optional
///     Distance between the starts of consecutive frames. Default: ``n_fft // 4``.
/// win_length : int, optional
///     Length of the default window, at most `n_fft`. Ignored where `window` is given. Default: `n_fft`.
/// window : array_like, optional
///     The window passed to `stft`. Default: `win_length` ones.
/// center : bool, optional
///     Remove the padding that ``stft(..., center=True)`` adds. Default: True.
/// norm : {'backward', 'ortho', 'forward'} or None, optional
///     Scaling of the transforms, as passed to `stft`. Default: 'backward'.
/// onesided : bool, optional
///     The matrix holds only the non-negative frequencies. Default: True.
/// length : int, optional
///     Length of the signal, which is truncated or zero-padded to it. Default: the length covered by the frames.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Real signal of shape ``(..., time)``. float64 for float64 and complex128 input, else float32.
///
/// Raises
/// ------
/// ValueError
///     If the matrix has fewer than two axes or no frames, `n_fft` or `hop_length` is not positive, `length` is
///     negative, the window is longer than a frame, or `norm` is unknown.
///
/// See Also
/// --------
/// stft, irfft
///
/// Notes
/// -----
/// The inverse transforms are multiplied by the window, added where frames overlap, and divided by the sum of the
/// squared windows, which is clamped to at least 1e-8.
///
/// Examples
/// --------
/// >>> spectrum = mx.fft.stft(mx.ones(100), n_fft=20, hop_length=5)
/// >>> mx.allclose(mx.fft.istft(spectrum, hop_length=5), mx.ones(100)).item()
/// True
#[pyfunction]
#[pyo3(signature = (
    stft_matrix, n_fft = None, hop_length = None, win_length = None, window = None, center = true,
    norm = "backward", onesided = None, length = None, stream = None
))]
#[expect(clippy::too_many_arguments, reason = "MLX's signature")]
fn istft(
    stft_matrix: Operand,
    n_fft: Option<i64>,
    hop_length: Option<i64>,
    win_length: Option<i64>,
    window: Option<Operand>,
    center: bool,
    norm: Option<&str>,
    onesided: Option<bool>,
    length: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (matrix, window) = (stft_matrix.into_array(), window.map(Operand::into_array));
    let frames = Frames {
        hop: hop_length,
        window_length: win_length,
        window: window.as_ref(),
        centred: center,
        norm: norm_of("istft", norm)?,
        onesided,
    };
    record_on(stream, || transforms::istft(&matrix, n_fft, frames, length)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let fft = PyModule::new(py, "fft")?;
    fft.setattr("__name__", "umber.core.fft")?;
    fft.setattr("__doc__", "Fourier transforms.")?;
    register_transforms(&fft)?;
    register_multi_axis_transforms(&fft)?;
    register_cosines(&fft)?;
    for function in [
        wrap_pyfunction!(fftfreq, &fft)?,
        wrap_pyfunction!(rfftfreq, &fft)?,
        wrap_pyfunction!(fftshift, &fft)?,
        wrap_pyfunction!(ifftshift, &fft)?,
        wrap_pyfunction!(stft, &fft)?,
        wrap_pyfunction!(istft, &fft)?,
    ] {
        fft.add_function(function)?;
    }
    module.add("fft", &fft)?;
    py.import("sys")?.getattr("modules")?.set_item("umber.core.fft", fft)
}
