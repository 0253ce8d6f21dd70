//! Convolutions.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use umber_core::ops::{self, ConvOptions, ConvTransposeOptions, ConvolveMode, KernelOrder, PerAxis};

use crate::args::{Ints, Operand, StreamArg, record_on};
use crate::new_array::NewArray;

/// A number for all spatial axes, or one for each.
fn per_axis(numbers: &Ints) -> PerAxis {
    numbers.as_slice().into()
}

/// One number.
fn one(number: i64) -> Ints {
    Ints(smallvec::smallvec![number])
}

/// Zero padding of the input: the same on both sides, or one list for each side.
enum Padding {
    Both(Ints),
    Sides(Ints, Ints),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Padding {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(both) = object.extract::<Ints>() {
            return Ok(Padding::Both(both));
        }
        match object.extract::<(Ints, Ints)>() {
            Ok((low, high)) => Ok(Padding::Sides(low, high)),
            Err(_) => Err(PyTypeError::new_err(format!(
                "got {}, expected an integer, one for each axis, or a pair of lists of them",
                object.get_type().name()?
            ))),
        }
    }
}

/// Convolutions with a fixed number of spatial axes, each with its transposed counterpart.
macro_rules! convolutions {
    ($($(#[$doc:meta])* $name:ident $(#[$doc_of_transposed:meta])* $transposed:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(
                signature = (
                    input, weight, /, stride = one(1), padding = one(0), dilation = one(1), groups = 1, *, stream = None
                ),
                text_signature = "(input, weight, /, stride=1, padding=0, dilation=1, groups=1, *, stream=None)"
            )]
            fn $name(
                input: Operand,
                weight: Operand,
                stride: Ints,
                padding: Ints,
                dilation: Ints,
                groups: i64,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (input, weight) = Operand::pair(input, weight)?;
                let padding = per_axis(&padding);
                let options = ConvOptions {
                    stride: per_axis(&stride),
                    low: padding.clone(),
                    high: padding,
                    kernel_dilation: per_axis(&dilation),
                    groups,
                    ..ConvOptions::default()
                };
                record_on(stream, || ops::$name(&input, &weight, &options)).map(NewArray::from)
            }

            $(#[$doc_of_transposed])*
            #[pyfunction]
            #[pyo3(
                signature = (
                    input, weight, /, stride = one(1), padding = one(0), dilation = one(1), output_padding = one(0),
                    groups = 1, *, stream = None
                ),
                text_signature = "(input, weight, /, stride=1, padding=0, dilation=1, output_padding=0, groups=1, *, stream=None)"
            )]
            fn $transposed(
                input: Operand,
                weight: Operand,
                stride: Ints,
                padding: Ints,
                dilation: Ints,
                output_padding: Ints,
                groups: i64,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (input, weight) = Operand::pair(input, weight)?;
                let options = ConvTransposeOptions {
                    stride: per_axis(&stride),
                    padding: per_axis(&padding),
                    dilation: per_axis(&dilation),
                    output_padding: per_axis(&output_padding),
                    groups,
                };
                record_on(stream, || ops::$transposed(&input, &weight, &options)).map(NewArray::from)
            }
        )*

        fn register_convolutions(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(
                module.add_function(wrap_pyfunction!($name, module)?)?;
                module.add_function(wrap_pyfunction!($transposed, module)?)?;
            )*
            Ok(())
        }
    };
}

convolutions! {
    /// Convolution over one spatial axis.
    ///
    /// Parameters
    /// ----------
    /// input : array_like
    ///     Shape ``(N, L, C)``: batch, length, channels.
    /// weight : array_like
    ///     Shape ``(O, K, C / groups)``: output channels, kernel, input channels.
    /// stride : int or sequence of int, optional
    ///     Step of the kernel; one number for all spatial axes or one for each. Default: 1.
    /// padding : int or sequence of int, optional
    ///     Zeros on both sides of each spatial axis. A negative number crops. Default: 0.
    /// dilation : int or sequence of int, optional
    ///     Distance between the elements of the kernel. Default: 1.
    /// groups : int, optional
    ///     Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
    ///     1.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape ``(N, L_out, O)`` in the promoted dtype, with
    ///     ``L_out = (L + 2 * padding - dilation * (K - 1) - 1) // stride + 1``.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
    ///     another number of axes, or the kernel is longer than the padded input.
    ///
    /// See Also
    /// --------
    /// conv_general, conv_transpose1d, convolve
    ///
    /// Notes
    /// -----
    /// The kernel is not flipped, as usual in machine learning. Integers are exact and wrap on overflow; float16 and
    /// bfloat16 are summed in float32 and rounded once.
    ///
    /// Examples
    /// --------
    /// >>> x, w = mx.array([1.0, 2.0, 4.0]).reshape(1, 3, 1), mx.array([1.0, -1.0]).reshape(1, 2, 1)
    /// >>> mx.conv1d(x, w).flatten()
    /// array([-1, -2], dtype=float32)
    conv1d
    /// Transposed convolution over one spatial axis: the derivative of `conv1d` with respect to its input.
    ///
    /// Parameters
    /// ----------
    /// input : array_like
    ///     Shape ``(N, L, C)``: batch, length, channels.
    /// weight : array_like
    ///     Shape ``(O, K, C / groups)``: output channels, kernel, input channels.
    /// stride : int or sequence of int, optional
    ///     Step of the convolution, which is the distance between input elements in the result; one number or one for each
    ///     axis. Default: 1.
    /// padding : int or sequence of int, optional
    ///     Elements cropped from both ends of the result. Default: 0.
    /// dilation : int or sequence of int, optional
    ///     Distance between the elements of the kernel. Default: 1.
    /// output_padding : int or sequence of int, optional
    ///     Elements added to the end of the result. Default: 0.
    /// groups : int, optional
    ///     Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
    ///     1.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape ``(N, L_out, O)`` in the promoted dtype, with
    ///     ``L_out = (L - 1) * stride - 2 * padding + dilation * (K - 1) + 1 + output_padding``.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
    ///     another number of axes, or the result is empty.
    ///
    /// See Also
    /// --------
    /// conv1d
    ///
    /// Examples
    /// --------
    /// >>> x, w = mx.array([1.0, 2.0]).reshape(1, 2, 1), mx.array([1.0, 10.0]).reshape(1, 2, 1)
    /// >>> mx.conv_transpose1d(x, w, stride=2).flatten()
    /// array([1, 10, 2, 20], dtype=float32)
    conv_transpose1d,
    /// Convolution over two spatial axes.
    ///
    /// Parameters
    /// ----------
    /// input : array_like
    ///     Shape ``(N, H, W, C)``: batch, height, width, channels.
    /// weight : array_like
    ///     Shape ``(O, KH, KW, C / groups)``: output channels, kernel, input channels.
    /// stride : int or sequence of int, optional
    ///     Step of the kernel; one number for all spatial axes or one for each. Default: 1.
    /// padding : int or sequence of int, optional
    ///     Zeros on both sides of each spatial axis. A negative number crops. Default: 0.
    /// dilation : int or sequence of int, optional
    ///     Distance between the elements of the kernel. Default: 1.
    /// groups : int, optional
    ///     Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
    ///     1.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape ``(N, H_out, W_out, O)`` in the promoted dtype, with
    ///     ``H_out = (H + 2 * padding - dilation * (KH - 1) - 1) // stride + 1`` and `W_out` alike.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
    ///     another number of axes, or the kernel is longer than the padded input.
    ///
    /// See Also
    /// --------
    /// conv_general, conv_transpose2d
    ///
    /// Notes
    /// -----
    /// The kernel is not flipped, as usual in machine learning. Integers are exact and wrap on overflow; float16 and
    /// bfloat16 are summed in float32 and rounded once.
    ///
    /// Examples
    /// --------
    /// >>> mx.conv2d(mx.ones((1, 32, 32, 3)), mx.ones((16, 3, 3, 3)), stride=2, padding=1).shape
    /// (1, 16, 16, 16)
    conv2d
    /// Transposed convolution over two spatial axes: the derivative of `conv2d` with respect to its input.
    ///
    /// Parameters
    /// ----------
    /// input : array_like
    ///     Shape ``(N, H, W, C)``: batch, height, width, channels.
    /// weight : array_like
    ///     Shape ``(O, KH, KW, C / groups)``: output channels, kernel, input channels.
    /// stride : int or sequence of int, optional
    ///     Step of the convolution, which is the distance between input elements in the result; one number or one for each
    ///     axis. Default: 1.
    /// padding : int or sequence of int, optional
    ///     Elements cropped from both ends of the result. Default: 0.
    /// dilation : int or sequence of int, optional
    ///     Distance between the elements of the kernel. Default: 1.
    /// output_padding : int or sequence of int, optional
    ///     Elements added to the end of the result. Default: 0.
    /// groups : int, optional
    ///     Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
    ///     1.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape ``(N, H_out, W_out, O)`` in the promoted dtype, with
    ///     ``H_out = (H - 1) * stride - 2 * padding + dilation * (KH - 1) + 1 + output_padding`` and `W_out` alike.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
    ///     another number of axes, or the result is empty.
    ///
    /// See Also
    /// --------
    /// conv2d
    ///
    /// Examples
    /// --------
    /// >>> mx.conv_transpose2d(mx.ones((1, 8, 8, 16)), mx.ones((4, 2, 2, 16)), stride=2).shape
    /// (1, 16, 16, 4)
    conv_transpose2d,
    /// Convolution over three spatial axes.
    ///
    /// Parameters
    /// ----------
    /// input : array_like
    ///     Shape ``(N, D, H, W, C)``: batch, depth, height, width, channels.
    /// weight : array_like
    ///     Shape ``(O, KD, KH, KW, C / groups)``: output channels, kernel, input channels.
    /// stride : int or sequence of int, optional
    ///     Step of the kernel; one number for all spatial axes or one for each. Default: 1.
    /// padding : int or sequence of int, optional
    ///     Zeros on both sides of each spatial axis. A negative number crops. Default: 0.
    /// dilation : int or sequence of int, optional
    ///     Distance between the elements of the kernel. Default: 1.
    /// groups : int, optional
    ///     Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
    ///     1.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape ``(N, D_out, H_out, W_out, O)`` in the promoted dtype, with
    ///     ``D_out = (D + 2 * padding - dilation * (KD - 1) - 1) // stride + 1`` and `H_out`, `W_out` alike.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
    ///     another number of axes, or the kernel is longer than the padded input.
    ///
    /// See Also
    /// --------
    /// conv_general, conv_transpose3d
    ///
    /// Notes
    /// -----
    /// The kernel is not flipped, as usual in machine learning. Integers are exact and wrap on overflow; float16 and
    /// bfloat16 are summed in float32 and rounded once.
    ///
    /// Examples
    /// --------
    /// >>> mx.conv3d(mx.ones((1, 4, 8, 8, 2)), mx.ones((5, 3, 3, 3, 2))).shape
    /// (1, 2, 6, 6, 5)
    conv3d
    /// Transposed convolution over three spatial axes: the derivative of `conv3d` by its input.
    ///
    /// Parameters
    /// ----------
    /// input : array_like
    ///     Shape ``(N, D, H, W, C)``: batch, depth, height, width, channels.
    /// weight : array_like
    ///     Shape ``(O, KD, KH, KW, C / groups)``: output channels, kernel, input channels.
    /// stride : int or sequence of int, optional
    ///     Step of the convolution, which is the distance between input elements in the result; one number or one for each
    ///     axis. Default: 1.
    /// padding : int or sequence of int, optional
    ///     Elements cropped from both ends of the result. Default: 0.
    /// dilation : int or sequence of int, optional
    ///     Distance between the elements of the kernel. Default: 1.
    /// output_padding : int or sequence of int, optional
    ///     Elements added to the end of the result. Default: 0.
    /// groups : int, optional
    ///     Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
    ///     1.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape ``(N, D_out, H_out, W_out, O)`` in the promoted dtype, with
    ///     ``D_out = (D - 1) * stride - 2 * padding + dilation * (KD - 1) + 1 + output_padding`` and `H_out`, `W_out`
    ///     alike.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
    ///     another number of axes, or the result is empty.
    ///
    /// See Also
    /// --------
    /// conv3d
    ///
    /// Examples
    /// --------
    /// >>> mx.conv_transpose3d(mx.ones((1, 2, 4, 4, 3)), mx.ones((5, 2, 2, 2, 3)), stride=2).shape
    /// (1, 4, 8, 8, 5)
    conv_transpose3d,
}

/// Convolution over any number of spatial axes.
///
/// Parameters
/// ----------
/// input : array_like
///     Shape ``(N, ..., C)``: batch, spatial axes, channels.
/// weight : array_like
///     Shape ``(O, ..., C / groups)``: output channels, kernel, input channels.
/// stride : int or sequence of int, optional
///     Step of the kernel; one number for all spatial axes or one for each. Default: 1.
/// padding : int, sequence of int or pair of sequences of int, optional
///     Zeros on both sides of each spatial axis, or the zeros before and the zeros after. A negative number crops.
///     Default: 0.
/// kernel_dilation : int or sequence of int, optional
///     Distance between the elements of the kernel. Default: 1.
/// input_dilation : int or sequence of int, optional
///     Distance between the elements of the input, with zeros between them. Default: 1.
/// groups : int, optional
///     Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
///     1.
/// flip : bool, optional
///     Flip the kernel along its spatial axes, as in the convolution of mathematics. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape ``(N, ..., O)`` in the promoted dtype:
///     ``out[n, o, c] = sum(x[n, o * stride + t * kernel_dilation - padding, i] * weight[c, t, i])`` over `t` and `i`.
///
/// Raises
/// ------
/// ValueError
///     If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
///     another number of axes, or the kernel is longer than the padded input.
/// TypeError
///     If an option is not an integer or a sequence of integers.
///
/// See Also
/// --------
/// conv1d, conv2d, conv3d, convolve
///
/// Notes
/// -----
/// Integers are exact and wrap on overflow; float16 and bfloat16 are summed in float32 and rounded once.
///
/// Examples
/// --------
/// >>> x, w = mx.array([1.0, 2.0, 4.0]).reshape(1, 3, 1), mx.array([1.0, -1.0]).reshape(1, 2, 1)
/// >>> mx.conv_general(x, w, padding=([1], [0])).flatten()
/// array([-1, -1, -2], dtype=float32)
/// >>> mx.conv_general(x, w, flip=True).flatten()
/// array([1, 2], dtype=float32)
#[pyfunction]
#[pyo3(
    signature = (
        input, weight, /, stride = one(1), padding = Padding::Both(one(0)), kernel_dilation = one(1), input_dilation = one(1),
        groups = 1, flip = false, *, stream = None
    ),
    text_signature = "(input, weight, /, stride=1, padding=0, kernel_dilation=1, input_dilation=1, groups=1, flip=False, *, \
                      stream=None)"
)]
#[expect(clippy::too_many_arguments, reason = "the arguments of the public function")]
fn conv_general(
    input: Operand,
    weight: Operand,
    stride: Ints,
    padding: Padding,
    kernel_dilation: Ints,
    input_dilation: Ints,
    groups: i64,
    flip: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (input, weight) = Operand::pair(input, weight)?;
    let (low, high) = match &padding {
        Padding::Both(both) => (per_axis(both), per_axis(both)),
        Padding::Sides(low, high) => (per_axis(low), per_axis(high)),
    };
    let options = ConvOptions {
        stride: per_axis(&stride),
        low,
        high,
        kernel_dilation: per_axis(&kernel_dilation),
        input_dilation: per_axis(&input_dilation),
        groups,
        order: if flip { KernelOrder::Flipped } else { KernelOrder::Forward },
    };
    record_on(stream, || ops::conv_general(&input, &weight, &options)).map(NewArray::from)
}

/// NumPy's convolutions of two one-dimensional arrays.
macro_rules! numpy_convolutions {
    ($($(#[$doc:meta])* $name:ident $mode:literal $signature:literal;)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, v, /, mode = $mode, *, stream = None), text_signature = $signature)]
            fn $name(a: Operand, v: Operand, mode: &str, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let (a, v) = Operand::pair(a, v)?;
                let run = || ops::$name(&a, &v, ConvolveMode::parse(stringify!($name), mode)?);
                record_on(stream, run).map(NewArray::from)
            }
        )*

        fn register_numpy_convolutions(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

numpy_convolutions! {
    /// Discrete convolution of two 1-D arrays: ``out[k] = sum_i a[i] * v[k - i]``.
    ///
    /// Parameters
    /// ----------
    /// a, v : array_like
    ///     1-D arrays of at least one element.
    /// mode : {'full', 'same', 'valid'}, optional
    ///     'full' returns every overlap, ``len(a) + len(v) - 1`` elements; 'same' the middle ``max(len(a), len(v))`` of
    ///     them; 'valid' only complete overlaps. Default: 'full'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     One axis, promoted dtype.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If an array is empty or not 1-D, or `mode` is unknown.
    ///
    /// See Also
    /// --------
    /// correlate, conv1d
    ///
    /// Examples
    /// --------
    /// >>> mx.convolve(mx.array([1.0, 2.0, 3.0]), mx.array([0.0, 1.0, 0.5]))
    /// array([0, 1, 2.5, 4, 1.5], dtype=float32)
    convolve "full" "(a, v, /, mode='full', *, stream=None)";
    /// Cross-correlation of two 1-D arrays: ``out[k] = sum_i a[i + k] * conj(v[i])``.
    ///
    /// Parameters
    /// ----------
    /// a, v : array_like
    ///     1-D arrays of at least one element.
    /// mode : {'full', 'same', 'valid'}, optional
    ///     'full' returns every overlap, ``len(a) + len(v) - 1`` elements; 'same' the middle ``max(len(a), len(v))`` of
    ///     them; 'valid' only complete overlaps. Default: 'valid'.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     One axis, promoted dtype.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If an array is empty or not 1-D, or `mode` is unknown.
    ///
    /// See Also
    /// --------
    /// convolve
    ///
    /// Examples
    /// --------
    /// >>> mx.correlate(mx.array([1.0, 2.0, 3.0]), mx.array([0.0, 1.0, 0.5]))
    /// array([3.5], dtype=float32)
    correlate "valid" "(a, v, /, mode='valid', *, stream=None)";
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_convolutions(module)?;
    register_numpy_convolutions(module)?;
    module.add_function(wrap_pyfunction!(conv_general, module)?)
}
