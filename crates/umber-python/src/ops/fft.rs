//! `umber.core.fft`: Fourier transforms.

use pyo3::prelude::*;
use umber_core::DType;
use umber_core::ops::PadMode;
use umber_core::ops::fft::{self as transforms, AxesOf, CosineOptions, CosineType, Frames, Norm};

use crate::args::{DeviceArg, Ints, Operand, StreamArg, axes, placed, record_on};
use crate::dtype::{DtypeArg, or};
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// Transforms along one axis.
macro_rules! transforms {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            ///
            /// The axis is cut or filled up with zeros to the length that `n` asks for. `norm` says which direction
            /// divides by the length: `"backward"`, `"forward"`, or both by its root, `"ortho"`. Raises `ValueError` for
            /// a length below one or another `norm`, `IndexError` for a bad axis.
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
                let (a, norm) = (a.alone(), norm_of(stringify!($name), norm)?);
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
    fft "Discrete Fourier transform along an axis; complex64, or complex128 from float64 and complex128.",
    ifft "Inverse discrete Fourier transform along an axis.",
    rfft "Discrete Fourier transform of real numbers: the `n // 2 + 1` frequencies that are not negative. An imaginary part does not count.",
    irfft "Inverse of `rfft`: `n` real numbers, `2 * (length - 1)` by default.",
    hfft "Transform of a line given by its first half, the other being its conjugate mirror image: `n` real numbers, `2 * (length - 1)` by default.",
    ihfft "Inverse of `hfft`: the first `n // 2 + 1` elements of a line that is its own conjugate mirror image.",
}

/// Transforms along several axes: by default all of them, or the last two.
macro_rules! transforms_of_several {
    ($($name:ident $two:ident $of:literal,)*) => {
        $(
            #[doc = concat!($of, " along several axes, all by default.")]
            ///
            /// The axes are cut or filled up with zeros to the lengths `s` (-1 leaves one as it is); without `axes` they
            /// are those of the last axes. An axis named twice is transformed twice. No axes leave `a` as it is.
            #[pyfunction]
            #[pyo3(signature = (a, s = None, axes = None, norm = "backward", stream = None))]
            fn $name(
                a: Operand,
                s: Option<Ints>,
                axes: Option<Ints>,
                norm: Option<&str>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (a, norm) = (a.alone(), norm_of(stringify!($name), norm)?);
                record_on(stream, || transforms::$name(&a, chosen(s.as_ref(), axes.as_ref()), norm)).map(NewArray::from)
            }

            #[doc = concat!($of, " along two axes, the last two by default.")]
            ///
            /// The axes are cut or filled up with zeros to the lengths `s` (-1 leaves one as it is).
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
                let (a, norm) = (a.alone(), norm_of(stringify!($two), norm)?);
                let renamed = |error: umber_core::Error| error.with_op(stringify!($two));
                record_on(stream, || transforms::$name(&a, chosen(s.as_ref(), axes.as_ref()), norm).map_err(renamed)).map(NewArray::from)
            }
        )*

        fn register_transforms_of_several(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(
                module.add_function(wrap_pyfunction!($name, module)?)?;
                module.add_function(wrap_pyfunction!($two, module)?)?;
            )*
            Ok(())
        }
    };
}

transforms_of_several! {
    fftn fft2 "Discrete Fourier transform",
    ifftn ifft2 "Inverse discrete Fourier transform",
    rfftn rfft2 "Discrete Fourier transform of real numbers, the last axis halved as by `rfft`,",
    irfftn irfft2 "Inverse of a real transform, real numbers,",
}

/// Cosine and sine transforms.
macro_rules! cosines {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            ///
            /// Types 1 to 4 and norms are SciPy's: `"backward"` leaves this direction unscaled and the other divides by the
            /// length of the line with its mirror image, `"forward"` the other way round, `"ortho"` both by its root. With
            /// `orthogonalize`, by default under `"ortho"`, end elements are scaled so that the matrix is orthogonal. The
            /// axis is cut or filled up with zeros to `n`; the result is float32, or float64 from float64. Raises
            /// `ValueError` for another type or norm, or a line without elements, `IndexError` for a bad axis.
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
                let (a, norm) = (a.alone(), norm_of(stringify!($name), norm)?);
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
    dct "Discrete cosine transform along an axis.",
    idct "Inverse of `dct` of the same type and norm.",
    dst "Discrete sine transform along an axis.",
    idst "Inverse of `dst` of the same type and norm.",
}

fn last_two() -> Ints {
    Ints(smallvec::smallvec![-2, -1])
}

/// The norm of this name; NumPy's users may say `None`.
fn norm_of(op: &str, name: Option<&str>) -> PyResult<Norm> {
    name.map_or(Ok(Norm::Backward), |name| Norm::named(op, name)).or_raise()
}

fn chosen<'a>(s: Option<&'a Ints>, axes: Option<&'a Ints>) -> AxesOf<'a> {
    AxesOf { lengths: s.map(Ints::as_slice), axes: axes.map(Ints::as_slice) }
}

/// The frequency of each result of `fft` of `n` numbers `d` apart, as float32 unless a dtype is given.
#[pyfunction]
#[pyo3(signature = (n, d = 1.0, stream = None, *, dtype = None, device = None))]
fn fftfreq(
    n: i64,
    d: f64,
    stream: Option<StreamArg>,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
) -> PyResult<NewArray> {
    let (stream, dtype) = (placed("fftfreq", stream, device)?, or(dtype, DType::Float32));
    record_on(stream, || transforms::fftfreq(n, d, dtype)).map(NewArray::from)
}

/// The frequency of each result of `rfft` of `n` numbers `d` apart, as float32 unless a dtype is given.
#[pyfunction]
#[pyo3(signature = (n, d = 1.0, stream = None, *, dtype = None, device = None))]
fn rfftfreq(
    n: i64,
    d: f64,
    stream: Option<StreamArg>,
    dtype: Option<DtypeArg>,
    device: Option<DeviceArg>,
) -> PyResult<NewArray> {
    let (stream, dtype) = (placed("rfftfreq", stream, device)?, or(dtype, DType::Float32));
    record_on(stream, || transforms::rfftfreq(n, d, dtype)).map(NewArray::from)
}

/// Frequency zero moved from the front to the middle of `axes`, of all by default.
#[pyfunction]
#[pyo3(signature = (a, axes = None, stream = None))]
fn fftshift(a: Operand, axes: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || transforms::fftshift(&a, self::axes(axes.as_ref()))).map(NewArray::from)
}

/// Frequency zero moved from the middle to the front of `axes`, of all by default: the inverse of `fftshift`.
#[pyfunction]
#[pyo3(signature = (a, axes = None, stream = None))]
fn ifftshift(a: Operand, axes: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.alone();
    record_on(stream, || transforms::ifftshift(&a, self::axes(axes.as_ref()))).map(NewArray::from)
}

/// Transforms of frames of `n_fft` numbers of the last axis: `(..., time)` to `(..., frequency, frame)`.
///
/// Frames begin `hop_length` numbers apart (`n_fft // 4` by default) and are multiplied by `window`, real numbers along
/// one axis in the middle of a frame (by default `win_length` ones, `n_fft` by default). With `center` the signal gets
/// half a frame more at both ends, as `pad_mode` says for `mx.pad`. Real signals answer the frequencies that are not
/// negative unless `onesided` is false; `norm` is that of `fft`. Raises `ValueError` if the signal is shorter than a frame.
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
    let (x, window) = (x.alone(), window.map(Operand::alone));
    // Without padding its mode does not matter.
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

/// The real signal whose `stft` is `(..., frequency, frame)`: `(..., time)`.
///
/// Inverse transforms times the window, added where frames overlap, over the sum of the squared windows (at least 1e-8).
/// `n_fft` is by default that of an even transform, `2 * (frequencies - 1)`; `onesided` is true by default; `length`
/// cuts the signal or fills it up with zeros. Other arguments are those of `stft`.
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
    let (matrix, window) = (stft_matrix.alone(), window.map(Operand::alone));
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
    register_transforms_of_several(&fft)?;
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
