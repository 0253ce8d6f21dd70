//! Numbers stored in few bits each, and products with matrices of them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umber_core::ops::{
    self, Gathered, GlobalScales, MaybeQuantized, Quantization, QuantizationMode, Quantized, Transposed,
};
use umber_core::{Array, DType};

use crate::args::{Operand, StreamArg, record_on};
use crate::dtype::{DtypeArg, beside, or};
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// The way of storing that a call asks for.
fn how(op: &str, mode: &str, group_size: Option<i64>, bits: Option<i64>) -> PyResult<Quantization> {
    QuantizationMode::named(op, mode)
        .and_then(|mode| Quantization::new(op, mode, group_size, bits))
        .or_raise()
}

fn transposed_if(transpose: bool) -> Transposed {
    if transpose { Transposed::Yes } else { Transposed::No }
}

/// `w` with its parts if scales are given, else numbers.
fn maybe_quantized<'a>(
    op: &str,
    words: &'a Array,
    scales: Option<&'a Array>,
    how: Quantization,
) -> PyResult<MaybeQuantized<'a>> {
    match scales {
        Some(scales) => Ok(MaybeQuantized::Stored(Quantized { words, scales, biases: None, how })),
        None if words.dtype() == DType::UInt32 => {
            Err(PyValueError::new_err(format!("[{op}] w of dtype uint32 requires scales")))
        }
        None => Ok(MaybeQuantized::Numbers(words, how)),
    }
}

/// Both global scales or neither.
fn global_scales<'a>(
    op: &str,
    x: Option<&'a Array>,
    w: Option<&'a Array>,
) -> PyResult<Option<GlobalScales<'a>>> {
    match (x, w) {
        (Some(x), Some(w)) => Ok(Some(GlobalScales { x, w })),
        (None, None) => Ok(None),
        _ => Err(PyValueError::new_err(format!(
            "[{op}] global_scale_x and global_scale_w must be given together"
        ))),
    }
}

/// Store each group of `group_size` neighbours in the last axis of `w` in few bits: a list of packed codes (uint32), scales and, in
/// mode 'affine', biases.
///
/// ======  ===============  ===================  ============  ======
/// mode    group_size       bits                 scales        biases
/// ======  ===============  ===================  ============  ======
/// affine  32, *64*, 128    1, 2, 3, *4*, 5,     like `w`      yes
///                          6, 8
/// mxfp4   *32*             *4* (E2M1)           E8M0, uint8   no
/// mxfp8   *32*             *8* (E4M3)           E8M0, uint8   no
/// nvfp4   *16*             *4* (E2M1)           E4M3, uint8   no
/// ======  ===============  ===================  ============  ======
///
/// `w` is real floating point with a last axis of n elements, which `group_size` divides; codes are `[..., n * bits / 32]`,
/// the first in the lowest bits, scales and biases `[..., n / group_size]`. `global_scale`, in mode 'nvfp4', is the largest
/// magnitude in `w`, relative to which scales are stored. Scales and biases are differentiable in `w`. The formats are those of
/// the OCP Microscaling Formats (MX) specification 1.0, and NVFP4.
#[pyfunction]
#[pyo3(signature = (w, /, group_size = None, bits = None, mode = "affine", *, global_scale = None, stream = None))]
fn quantize(
    w: Operand,
    group_size: Option<i64>,
    bits: Option<i64>,
    mode: &str,
    global_scale: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<Vec<NewArray>> {
    let how = how("quantize", mode, group_size, bits)?;
    let (w, scale) = (w.alone(), global_scale.map(Operand::alone));
    let parts = record_on(stream, || ops::quantize(&w, how, scale.as_ref()))?;
    Ok(parts.into_iter().map(NewArray::from).collect())
}

/// What the arrays that `quantize` gives stand for: `scales * codes + biases`, group by group.
///
/// The result is of `dtype`: by default that of scales and biases, or where scales are codes bfloat16 (with `global_scale` float32).
/// Derivatives pass to scales and biases in mode 'affine'; those of the packed `w` are zero.
#[pyfunction]
#[pyo3(signature = (w, /, scales, biases = None, group_size = None, bits = None, mode = "affine", global_scale = None, dtype = None, *, stream = None))]
#[expect(clippy::too_many_arguments, reason = "MLX's signature")]
fn dequantize(
    w: Operand,
    scales: Operand,
    biases: Option<Operand>,
    group_size: Option<i64>,
    bits: Option<i64>,
    mode: &str,
    global_scale: Option<Operand>,
    dtype: Option<DtypeArg>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let how = how("dequantize", mode, group_size, bits)?;
    let (words, scales, biases) = (w.alone(), scales.alone(), biases.map(Operand::alone));
    let (scale, dtype) = (global_scale.map(Operand::alone), beside(dtype, scales.dtype()));
    let w = Quantized { words: &words, scales: &scales, biases: biases.as_ref(), how };
    record_on(stream, || ops::dequantize(w, scale.as_ref(), dtype)).map(NewArray::from)
}

/// The product of `x` with a quantised matrix: `x @ w.T`, or `x @ w` without `transpose`.
///
/// `x` is `(..., m, k)` or `(k,)`, `w` stands for `(..., n, k)` (without `transpose` `(..., k, n)`), packed along its last axis; batch
/// axes broadcast. The result is `(..., m, n)` in the dtype that holds `x` and the scales. Derivatives pass to `x`, scales
/// and biases; those of the packed `w` are zero.
#[pyfunction]
#[pyo3(signature = (x, w, /, scales, biases = None, transpose = true, group_size = None, bits = None, mode = "affine", *, stream = None))]
#[expect(clippy::too_many_arguments, reason = "MLX's signature")]
fn quantized_matmul(
    x: Operand,
    w: Operand,
    scales: Operand,
    biases: Option<Operand>,
    transpose: bool,
    group_size: Option<i64>,
    bits: Option<i64>,
    mode: &str,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let how = how("quantized_matmul", mode, group_size, bits)?;
    let (x, words, scales, biases) = (x.alone(), w.alone(), scales.alone(), biases.map(Operand::alone));
    let w = Quantized { words: &words, scales: &scales, biases: biases.as_ref(), how };
    record_on(stream, || ops::quantized_matmul(&x, w, transposed_if(transpose))).map(NewArray::from)
}

/// `quantized_matmul` of matrices picked by flat indices into the batch axes of `x` and of `w`.
///
/// Index arrays broadcast; without one, all matrices of its operand are taken in order. Indices are integers, negative ones
/// count from the end, and one out of bounds is an `IndexError`. `global_scale`, in mode 'nvfp4', is one number or one for each matrix
/// of `w`. `sorted_indices` is a hint that is not needed.
#[pyfunction]
#[pyo3(signature = (x, w, /, scales, biases = None, lhs_indices = None, rhs_indices = None, transpose = true, group_size = None, bits = None, mode = "affine", global_scale = None, *, sorted_indices = false, stream = None))]
#[expect(clippy::too_many_arguments, reason = "MLX's signature")]
fn gather_qmm(
    x: Operand,
    w: Operand,
    scales: Operand,
    biases: Option<Operand>,
    lhs_indices: Option<Operand>,
    rhs_indices: Option<Operand>,
    transpose: bool,
    group_size: Option<i64>,
    bits: Option<i64>,
    mode: &str,
    global_scale: Option<Operand>,
    sorted_indices: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let _ = sorted_indices;
    let how = how("gather_qmm", mode, group_size, bits)?;
    let (x, words, scales) = (x.alone(), w.alone(), scales.alone());
    let [biases, lhs, rhs, scale] =
        [biases, lhs_indices, rhs_indices, global_scale].map(|given| given.map(Operand::alone));
    let w = Quantized { words: &words, scales: &scales, biases: biases.as_ref(), how };
    let picks = Gathered { lhs: lhs.as_ref(), rhs: rhs.as_ref() };
    record_on(stream, || ops::gather_qmm(&x, w, picks, transposed_if(transpose), scale.as_ref()))
        .map(NewArray::from)
}

/// The product `x @ w.T` of matrices that are both quantised, in mode 'nvfp4', 'mxfp8' or 'mxfp4'.
///
/// `x` of shape `(..., m, k)` is quantised on the way. `w`, `(..., n, k)`, is too, or has been: then it is packed and `scales` are given.
/// `global_scale_x` and `global_scale_w`, in mode 'nvfp4', are the largest magnitudes in `x` and `w`. Derivatives pass straight
/// through the rounding to what comes unquantised.
#[pyfunction]
#[pyo3(signature = (x, w, scales = None, group_size = None, bits = None, mode = "nvfp4", global_scale_x = None, global_scale_w = None, *, stream = None))]
#[expect(clippy::too_many_arguments, reason = "MLX's signature")]
fn qqmm(
    x: Operand,
    w: Operand,
    scales: Option<Operand>,
    group_size: Option<i64>,
    bits: Option<i64>,
    mode: &str,
    global_scale_x: Option<Operand>,
    global_scale_w: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let how = how("qqmm", mode, group_size, bits)?;
    let (x, words) = (x.alone(), w.alone());
    let [scales, of_x, of_w] =
        [scales, global_scale_x, global_scale_w].map(|given| given.map(Operand::alone));
    let w = maybe_quantized("qqmm", &words, scales.as_ref(), how)?;
    let global = global_scales("qqmm", of_x.as_ref(), of_w.as_ref())?;
    record_on(stream, || ops::qqmm(&x, w, global)).map(NewArray::from)
}

/// `qqmm` of matrices picked by flat indices into the batch axes of `x` and of `w`.
///
/// Index arrays are as in `gather_qmm`; global scales are one number, or one for each matrix of their operand. `sorted_indices` is a
/// hint that is not needed.
#[pyfunction]
#[pyo3(signature = (x, w, /, scales = None, lhs_indices = None, rhs_indices = None, group_size = None, bits = None, mode = "nvfp4", global_scale_x = None, global_scale_w = None, *, sorted_indices = false, stream = None))]
#[expect(clippy::too_many_arguments, reason = "MLX's signature")]
fn gather_qqmm(
    x: Operand,
    w: Operand,
    scales: Option<Operand>,
    lhs_indices: Option<Operand>,
    rhs_indices: Option<Operand>,
    group_size: Option<i64>,
    bits: Option<i64>,
    mode: &str,
    global_scale_x: Option<Operand>,
    global_scale_w: Option<Operand>,
    sorted_indices: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let _ = sorted_indices;
    let how = how("gather_qqmm", mode, group_size, bits)?;
    let (x, words) = (x.alone(), w.alone());
    let [scales, lhs, rhs] = [scales, lhs_indices, rhs_indices].map(|given| given.map(Operand::alone));
    let [of_x, of_w] = [global_scale_x, global_scale_w].map(|given| given.map(Operand::alone));
    let w = maybe_quantized("gather_qqmm", &words, scales.as_ref(), how)?;
    let global = global_scales("gather_qqmm", of_x.as_ref(), of_w.as_ref())?;
    let picks = Gathered { lhs: lhs.as_ref(), rhs: rhs.as_ref() };
    record_on(stream, || ops::gather_qqmm(&x, w, picks, global)).map(NewArray::from)
}

/// The nearest float of eight bits (E4M3 of the OCP's 8-bit specification), in uint8, to each real number.
///
/// Ties go to even; magnitudes above 448 become that, NaN stays NaN.
#[pyfunction]
#[pyo3(signature = (x, *, stream = None))]
fn to_fp8(x: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    record_on(stream, || ops::to_fp8(&x.alone())).map(NewArray::from)
}

/// The number that each float of eight bits (E4M3), in uint8, is; of `dtype`, bfloat16 by default.
#[pyfunction]
#[pyo3(signature = (x, dtype = None, *, stream = None))]
fn from_fp8(x: Operand, dtype: Option<DtypeArg>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    record_on(stream, || ops::from_fp8(&x.alone(), or(dtype, DType::BFloat16))).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for function in [
        wrap_pyfunction!(quantize, module)?,
        wrap_pyfunction!(dequantize, module)?,
        wrap_pyfunction!(quantized_matmul, module)?,
        wrap_pyfunction!(gather_qmm, module)?,
        wrap_pyfunction!(qqmm, module)?,
        wrap_pyfunction!(gather_qqmm, module)?,
        wrap_pyfunction!(to_fp8, module)?,
        wrap_pyfunction!(from_fp8, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
