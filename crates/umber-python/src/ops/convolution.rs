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

/// Zeros around the input: as many on both sides, or two lists.
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

macro_rules! convolutions {
    ($($name:ident $transposed:ident $axes:literal $input:literal $weight:literal;)*) => {
        $(
            #[doc = concat!("Convolution over ", $axes, ".\n\nThe input has shape `", $input, "`, the weight `", $weight, "`; `stride`, \
                `padding` (zeros on both sides) and `dilation` are one number or one for each axis. Channels of different \
                `groups` do not mix. Integers are exact and wrap; 16-bit floats are summed in float32.")]
            #[pyfunction]
            #[pyo3(
                signature = (input, weight, /, stride = one(1), padding = one(0), dilation = one(1), groups = 1, *, stream = None),
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

            #[doc = concat!("Transposed convolution over ", $axes, ": the derivative of a convolution by its input.\n\n\
                The input has shape `", $input, "`, the weight `", $weight, "`. The result is `(length - 1) * stride - 2 * \
                padding + dilation * (taps - 1) + 1 + output_padding` long.")]
            #[pyfunction]
            #[pyo3(
                signature = (
                    input, weight, /, stride = one(1), padding = one(0), dilation = one(1), output_padding = one(0), groups = 1, *,
                    stream = None
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
    conv1d conv_transpose1d "one spatial axis" "(N, L, C)" "(O, K, C / groups)";
    conv2d conv_transpose2d "two spatial axes" "(N, H, W, C)" "(O, KH, KW, C / groups)";
    conv3d conv_transpose3d "three spatial axes" "(N, D, H, W, C)" "(O, KD, KH, KW, C / groups)";
}

/// Convolution over any number of spatial axes.
///
/// The input has shape `(N, ..., C)`, the weight `(O, ..., C / groups)`. `padding` is one number, one for each axis, or two
/// lists: zeros before and after. `input_dilation - 1` zeros stand between the elements of the input; `flip` reads the
/// kernel backwards.
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

macro_rules! lines {
    ($($name:ident $mode:literal $signature:literal $doc:literal;)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, v, /, mode = $mode, *, stream = None), text_signature = $signature)]
            fn $name(a: Operand, v: Operand, mode: &str, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let (a, v) = Operand::pair(a, v)?;
                let run = || ops::$name(&a, &v, ConvolveMode::parse(stringify!($name), mode)?);
                record_on(stream, run).map(NewArray::from)
            }
        )*

        fn register_lines(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

lines! {
    convolve "full" "(a, v, /, mode='full', *, stream=None)"
        "Discrete convolution of two one-dimensional arrays, as NumPy's: `mode` is `full`, `same` or `valid`.";
    correlate "valid" "(a, v, /, mode='valid', *, stream=None)"
        "Cross-correlation of two one-dimensional arrays, the second conjugated, as NumPy's: `mode` is `full`, `same` or `valid`.";
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_convolutions(module)?;
    register_lines(module)?;
    module.add_function(wrap_pyfunction!(conv_general, module)?)
}
