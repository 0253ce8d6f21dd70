//! Quantisation, and products with quantised matrices.
//!
//! One subject: one binding per operation on quantised arrays; most lines are their documentation.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umber_core::ops::{
    self, Gathered, GlobalScales, MaybeQuantized, Quantization, QuantizationMode, Quantized, Transposed,
};
use umber_core::{Array, DType};

use crate::args::{Operand, StreamArg, record_on};
use crate::dtype::{DtypeArg, dtype_for, or};
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// Parse the quantisation format from the arguments of a call.
fn parse_format(op: &str, mode: &str, group_size: Option<i64>, bits: Option<i64>) -> PyResult<Quantization> {
    QuantizationMode::named(op, mode)
        .and_then(|mode| Quantization::new(op, mode, group_size, bits))
        .or_raise()
}

fn transposed_if(transpose: bool) -> Transposed {
    if transpose { Transposed::Yes } else { Transposed::No }
}

/// The right operand: quantised if scales are given.
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

/// Quantise a matrix: store each group of elements of the last axis in a few bits and one scale.
///
/// Parameters
/// ----------
/// w : array_like
///     Real floating-point array. `group_size` divides the length `n` of its last axis.
/// group_size : int, optional
///     Elements per scale. Default: see the table.
/// bits : int, optional
///     Bits per element. Default: see the table.
/// mode : {'affine', 'mxfp4', 'mxfp8', 'nvfp4'}, optional
///     Format. Default: 'affine'.
/// global_scale : array_like, optional
///     Largest magnitude in `w`, to which scales are relative. Only for 'nvfp4'. Default: None.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// list of array
///     Packed codes, uint32 of shape ``(..., n * bits / 32)`` with the first code in the lowest bits; scales of shape
///     ``(..., n / group_size)``; in mode 'affine', biases like the scales.
///
/// Raises
/// ------
/// ValueError
///     If the mode is unknown, `group_size` or `bits` is not one of the mode, `group_size` does not divide the last
///     axis, or `global_scale` is given for another mode than 'nvfp4'.
/// TypeError
///     If `w` is not real floating point.
///
/// See Also
/// --------
/// dequantize, quantized_matmul, qqmm
///
/// Notes
/// -----
/// ======  ===================  =======================  ============  ======
/// mode    group_size           bits                     scales        biases
/// ======  ===================  =======================  ============  ======
/// affine  32, 64, 128          1, 2, 3, 4, 5, 6, 8      like `w`      yes
/// mxfp4   32                   4 (E2M1)                 E8M0, uint8   no
/// mxfp8   32                   8 (E4M3)                 E8M0, uint8   no
/// nvfp4   16                   4 (E2M1)                 E4M3, uint8   no
/// ======  ===================  =======================  ============  ======
///
/// The defaults of 'affine' are groups of 64 and 4 bits. In mode 'affine' an element is ``scale * code + bias`` with an
/// integer code; the end of the group's range that is farther from zero is represented exactly. In the other modes it
/// is ``scale * code`` with a float4 or float8 code.
///
/// NaN is ignored in the search for scales. Scales and biases are differentiable with respect to `w`. The MX formats
/// are those of the OCP Microscaling Formats (MX) specification 1.0.
///
/// Examples
/// --------
/// >>> w = mx.arange(64.0).reshape(2, 32)
/// >>> codes, scales, biases = mx.quantize(w, group_size=32, bits=8)
/// >>> codes.shape, scales.shape, biases.shape
/// ((2, 8), (2, 1), (2, 1))
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
    let format = parse_format("quantize", mode, group_size, bits)?;
    let (w, scale) = (w.into_array(), global_scale.map(Operand::into_array));
    let arrays = record_on(stream, || ops::quantize(&w, format, scale.as_ref()))?;
    Ok(arrays.into_iter().map(NewArray::from).collect())
}

/// Recover the elements of a quantised array: ``scales * codes + biases``, group by group.
///
/// Parameters
/// ----------
/// w : array_like
///     Packed codes from `quantize`, uint32.
/// scales : array_like
///     Scales from `quantize`.
/// biases : array_like, optional
///     Biases from `quantize`, required in mode 'affine'. Default: None.
/// group_size : int, optional
///     Elements per scale. Default: the default of the mode, see `quantize`.
/// bits : int, optional
///     Bits per element. Default: the default of the mode, see `quantize`.
/// mode : {'affine', 'mxfp4', 'mxfp8', 'nvfp4'}, optional
///     Format of `w`. Default: 'affine'.
/// global_scale : array_like, optional
///     The value passed to `quantize`. Only for 'nvfp4'. Default: None.
/// dtype : Dtype, optional
///     Real floating-point dtype of the result. Default: that of the scales and biases in mode 'affine', else bfloat16,
///     or float32 with `global_scale`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape of the array that was quantised.
///
/// Raises
/// ------
/// ValueError
///     If the shapes do not match each other and the mode, or biases are missing.
/// TypeError
///     If `dtype` is not real floating point.
///
/// See Also
/// --------
/// quantize, from_fp8
///
/// Notes
/// -----
/// Differentiable with respect to scales and biases in mode 'affine'; the gradient of the packed `w` is zero. float16
/// and bfloat16 are computed in float32 and rounded once.
///
/// Examples
/// --------
/// >>> codes, scales, biases = mx.quantize(mx.arange(32.0), group_size=32, bits=8)
/// >>> mx.dequantize(codes, scales, biases, group_size=32, bits=8)[-1]
/// array(31, dtype=float32)
#[pyfunction]
#[pyo3(signature = (
    w, /, scales, biases = None, group_size = None, bits = None, mode = "affine", global_scale = None,
    dtype = None, *, stream = None
))]
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
    let format = parse_format("dequantize", mode, group_size, bits)?;
    let (words, scales, biases) = (w.into_array(), scales.into_array(), biases.map(Operand::into_array));
    let (scale, dtype) = (global_scale.map(Operand::into_array), dtype_for(dtype, scales.dtype()));
    let w = Quantized { words: &words, scales: &scales, biases: biases.as_ref(), how: format };
    record_on(stream, || ops::dequantize(w, scale.as_ref(), dtype)).map(NewArray::from)
}

/// Product with a quantised matrix: ``x @ w.T``, or ``x @ w`` with ``transpose=False``.
///
/// Parameters
/// ----------
/// x : array_like
///     Shape ``(..., m, k)`` or ``(k,)``.
/// w : array_like
///     Packed codes of a matrix of shape ``(..., n, k)``, or ``(..., k, n)`` with ``transpose=False``. Batch axes
///     broadcast.
/// scales : array_like
///     Scales from `quantize`.
/// biases : array_like, optional
///     Biases from `quantize`, required in mode 'affine'. Default: None.
/// transpose : bool, optional
///     Multiply by the transpose of the matrix, ``x @ w.T``, else ``x @ w``. Default: True.
/// group_size : int, optional
///     Elements per scale. Default: the default of the mode, see `quantize`.
/// bits : int, optional
///     Bits per element. Default: the default of the mode, see `quantize`.
/// mode : {'affine', 'mxfp4', 'mxfp8', 'nvfp4'}, optional
///     Format of `w`. Default: 'affine'.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape ``(..., m, n)`` in the promoted dtype of `x` and the scales.
///
/// Raises
/// ------
/// ValueError
///     If the shapes do not match each other and the mode, or biases are missing.
/// TypeError
///     If `x` is complex.
///
/// See Also
/// --------
/// quantize, gather_qmm, qqmm
///
/// Notes
/// -----
/// Accumulates in float32, or float64 for float64. Differentiable with respect to `x`, scales and biases; the gradient
/// of the packed `w` is zero.
///
/// Examples
/// --------
/// >>> mx.quantized_matmul(mx.ones((2, 64)), *mx.quantize(mx.ones((3, 64))))
/// array([[64, 64, 64],
///        [64, 64, 64]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (
    x, w, /, scales, biases = None, transpose = true, group_size = None, bits = None, mode = "affine", *,
    stream = None
))]
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
    let format = parse_format("quantized_matmul", mode, group_size, bits)?;
    let (x, words, scales, biases) =
        (x.into_array(), w.into_array(), scales.into_array(), biases.map(Operand::into_array));
    let w = Quantized { words: &words, scales: &scales, biases: biases.as_ref(), how: format };
    record_on(stream, || ops::quantized_matmul(&x, w, transposed_if(transpose))).map(NewArray::from)
}

/// Product with quantised matrices selected by index: ``x[lhs_indices] @ w[rhs_indices].T``.
///
/// Parameters
/// ----------
/// x : array_like
///     Stack of matrices of shape ``(..., m, k)``.
/// w : array_like
///     Packed codes of matrices of shape ``(..., n, k)``, or ``(..., k, n)`` with ``transpose=False``.
/// scales : array_like
///     Scales from `quantize`.
/// biases : array_like, optional
///     Biases from `quantize`, required in mode 'affine'. Default: None.
/// lhs_indices : array_like of int, optional
///     Flat indices into the batch axes of `x`. Negative indices count from the end. Default: all matrices in order.
/// rhs_indices : array_like of int, optional
///     Flat indices into the batch axes of `w`, as for `lhs_indices`. Both broadcast. Default: all matrices in order.
/// transpose : bool, optional
///     Multiply by the transpose of the matrix, ``x @ w.T``, else ``x @ w``. Default: True.
/// group_size : int, optional
///     Elements per scale. Default: the default of the mode, see `quantize`.
/// bits : int, optional
///     Bits per element. Default: the default of the mode, see `quantize`.
/// mode : {'affine', 'mxfp4', 'mxfp8', 'nvfp4'}, optional
///     Format of `w`. Default: 'affine'.
/// global_scale : array_like, optional
///     One number, or one for each matrix of `w`. Only for 'nvfp4'. Default: None.
/// sorted_indices : bool, optional
///     Hint that the indices are sorted. It changes nothing. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape ``(*index_shape, m, n)`` in the promoted dtype of `x` and the scales.
///
/// Raises
/// ------
/// ValueError
///     If the shapes do not match each other and the mode, or biases are missing.
/// TypeError
///     If an operand is complex or the indices are not integers.
/// IndexError
///     When evaluated, if an index is out of bounds.
///
/// See Also
/// --------
/// quantized_matmul, gather_mm, gather_qqmm
///
/// Examples
/// --------
/// >>> w = mx.quantize(mx.ones((2, 3, 64)))
/// >>> mx.gather_qmm(mx.ones((1, 1, 64)), *w, rhs_indices=mx.array([1, 0, 1])).shape
/// (3, 1, 3)
#[pyfunction]
#[pyo3(signature = (
    x, w, /, scales, biases = None, lhs_indices = None, rhs_indices = None, transpose = true, group_size = None,
    bits = None, mode = "affine", global_scale = None, *, sorted_indices = false, stream = None
))]
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
    let format = parse_format("gather_qmm", mode, group_size, bits)?;
    let (x, words, scales) = (x.into_array(), w.into_array(), scales.into_array());
    let [biases, lhs, rhs, scale] =
        [biases, lhs_indices, rhs_indices, global_scale].map(|argument| argument.map(Operand::into_array));
    let w = Quantized { words: &words, scales: &scales, biases: biases.as_ref(), how: format };
    let gathered = Gathered { lhs: lhs.as_ref(), rhs: rhs.as_ref() };
    record_on(stream, || ops::gather_qmm(&x, w, gathered, transposed_if(transpose), scale.as_ref()))
        .map(NewArray::from)
}

/// Product of two quantised matrices: ``x @ w.T`` with both operands in the same format.
///
/// Parameters
/// ----------
/// x : array_like
///     Shape ``(..., m, k)`` or ``(k,)``, not quantised. It is quantised by the function.
/// w : array_like
///     Array of shape ``(..., n, k)``, which is quantised by the function, or packed codes from `quantize`. Batch axes
///     broadcast.
/// scales : array_like, optional
///     Scales from `quantize`, required where `w` is packed. Default: None.
/// group_size : int, optional
///     Elements per scale. Default: the default of the mode, see `quantize`.
/// bits : int, optional
///     Bits per element. Default: the default of the mode, see `quantize`.
/// mode : {'nvfp4', 'mxfp8', 'mxfp4'}, optional
///     Format of both operands. Default: 'nvfp4'.
/// global_scale_x, global_scale_w : array_like, optional
///     Largest magnitudes in `x` and `w`. Both or neither, only for 'nvfp4'. Default: None.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape ``(..., m, n)``. Dtype of `x`, or the promoted dtype of `x` and an unquantised `w`.
///
/// Raises
/// ------
/// ValueError
///     If the shapes do not match each other and the mode, the mode is 'affine', `w` is packed without `scales`, or
///     only one global scale is given.
/// TypeError
///     If an operand is complex.
///
/// See Also
/// --------
/// quantized_matmul, gather_qqmm, quantize
///
/// Notes
/// -----
/// Products are summed in float32. Gradients of unquantised operands pass straight through the rounding.
///
/// Examples
/// --------
/// >>> mx.qqmm(mx.ones((2, 32)), mx.ones((3, 32)), mode="mxfp8")
/// array([[32, 32, 32],
///        [32, 32, 32]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (
    x, w, scales = None, group_size = None, bits = None, mode = "nvfp4", global_scale_x = None,
    global_scale_w = None, *, stream = None
))]
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
    let format = parse_format("qqmm", mode, group_size, bits)?;
    let (x, words) = (x.into_array(), w.into_array());
    let [scales, of_x, of_w] =
        [scales, global_scale_x, global_scale_w].map(|argument| argument.map(Operand::into_array));
    let w = maybe_quantized("qqmm", &words, scales.as_ref(), format)?;
    let global = global_scales("qqmm", of_x.as_ref(), of_w.as_ref())?;
    record_on(stream, || ops::qqmm(&x, w, global)).map(NewArray::from)
}

/// Product of two quantised matrices selected by index: ``x[lhs_indices] @ w[rhs_indices].T``.
///
/// Parameters
/// ----------
/// x : array_like
///     Stack of matrices of shape ``(..., m, k)``, not quantised. It is quantised by the function.
/// w : array_like
///     Stack of matrices of shape ``(..., n, k)``, which is quantised by the function, or packed codes from `quantize`.
/// scales : array_like, optional
///     Scales from `quantize`, required where `w` is packed. Default: None.
/// lhs_indices : array_like of int, optional
///     Flat indices into the batch axes of `x`. Negative indices count from the end. Default: all matrices in order.
/// rhs_indices : array_like of int, optional
///     Flat indices into the batch axes of `w`, as for `lhs_indices`. Both broadcast. Default: all matrices in order.
/// group_size : int, optional
///     Elements per scale. Default: the default of the mode, see `quantize`.
/// bits : int, optional
///     Bits per element. Default: the default of the mode, see `quantize`.
/// mode : {'nvfp4', 'mxfp8', 'mxfp4'}, optional
///     Format of both operands. Default: 'nvfp4'.
/// global_scale_x, global_scale_w : array_like, optional
///     Largest magnitudes in `x` and `w`: one number, or one for each matrix of the operand. Both or neither, only for
///     'nvfp4'. Default: None.
/// sorted_indices : bool, optional
///     Hint that the indices are sorted. It changes nothing. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape ``(*index_shape, m, n)``. Dtype of `x`, or the promoted dtype of `x` and an unquantised `w`.
///
/// Raises
/// ------
/// ValueError
///     If the shapes do not match each other and the mode, the mode is 'affine', `w` is packed without `scales`, or
///     only one global scale is given.
/// TypeError
///     If an operand is complex or the indices are not integers.
/// IndexError
///     When evaluated, if an index is out of bounds.
///
/// See Also
/// --------
/// qqmm, gather_qmm, gather_mm
///
/// Examples
/// --------
/// >>> x, w = mx.ones((1, 1, 32)), mx.ones((2, 1, 32))
/// >>> mx.gather_qqmm(x, w, rhs_indices=mx.array([1, 0, 1]), mode="mxfp8").flatten()
/// array([32, 32, 32], dtype=float32)
#[pyfunction]
#[pyo3(signature = (
    x, w, /, scales = None, lhs_indices = None, rhs_indices = None, group_size = None, bits = None,
    mode = "nvfp4", global_scale_x = None, global_scale_w = None, *, sorted_indices = false, stream = None
))]
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
    let format = parse_format("gather_qqmm", mode, group_size, bits)?;
    let (x, words) = (x.into_array(), w.into_array());
    let [scales, lhs, rhs] =
        [scales, lhs_indices, rhs_indices].map(|argument| argument.map(Operand::into_array));
    let [of_x, of_w] = [global_scale_x, global_scale_w].map(|argument| argument.map(Operand::into_array));
    let w = maybe_quantized("gather_qqmm", &words, scales.as_ref(), format)?;
    let global = global_scales("gather_qqmm", of_x.as_ref(), of_w.as_ref())?;
    let gathered = Gathered { lhs: lhs.as_ref(), rhs: rhs.as_ref() };
    record_on(stream, || ops::gather_qqmm(&x, w, gathered, global)).map(NewArray::from)
}

/// Round to the nearest float8 (E4M3) and return its bits as uint8.
///
/// Parameters
/// ----------
/// x : array_like
///     Real floating-point array.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     uint8 codes of the shape of `x`.
///
/// Raises
/// ------
/// TypeError
///     If `x` is not real floating point.
///
/// See Also
/// --------
/// from_fp8
///
/// Notes
/// -----
/// Ties go to even. Magnitudes above 448, the maximum of E4M3, become 448; NaN stays NaN. E4M3 is defined in the OCP
/// 8-bit Floating Point Specification.
///
/// Examples
/// --------
/// >>> mx.to_fp8(mx.array([1.0, -2.0, 1e9]))
/// array([56, 192, 126], dtype=uint8)
#[pyfunction]
#[pyo3(signature = (x, *, stream = None))]
fn to_fp8(x: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    record_on(stream, || ops::to_fp8(&x.into_array())).map(NewArray::from)
}

/// Convert float8 (E4M3) codes to floating-point numbers.
///
/// Parameters
/// ----------
/// x : array_like
///     Array of uint8 codes, or of dtype float8_e4m3fn.
/// dtype : Dtype, optional
///     Real floating-point dtype of the result. Default: bfloat16.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Numbers of the shape of `x`.
///
/// Raises
/// ------
/// TypeError
///     If the dtype of `x` or the dtype of the result is not one of these.
///
/// See Also
/// --------
/// to_fp8, dequantize
///
/// Examples
/// --------
/// >>> mx.from_fp8(mx.to_fp8(mx.array([1.0, -2.0, 0.3])), dtype=mx.float32)
/// array([1, -2, 0.3125], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, dtype = None, *, stream = None))]
fn from_fp8(x: Operand, dtype: Option<DtypeArg>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    record_on(stream, || ops::from_fp8(&x.into_array(), or(dtype, DType::BFloat16))).map(NewArray::from)
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
