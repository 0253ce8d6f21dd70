//! Quantisation, and products with quantised matrices.
//!
//! The float4 and float8 formats are those of the OCP Microscaling Formats (MX) specification 1.0, and NVFP4.

use umber_types::{DType, Result, Shape, bail, ensure, promote};
pub use umber_types::{Quantization, QuantizationMode};

use super::contraction::matmul;
use super::error_context::with_op;
use super::gathered_matmul::gather_mm_as;
use crate::graph::{Array, ArraySpec};
use crate::primitives::indexed_matmul::{each, listed};
pub use crate::primitives::quantized::Transposed;
use crate::primitives::quantized::{
    Dequantize, Fp8, NVFP4_UNIT, Product, Quantize, Rounded, quantized_matmul as product, row_length,
};
use crate::primitives::rules::{broadcast, cast, constant, div, mul, reshape, swap_last};

/// A quantised array.
#[derive(Clone, Copy, Debug)]
pub struct Quantized<'a> {
    /// Codes, packed into uint32: `[..., n * bits / 32]`.
    pub words: &'a Array,
    /// One scale per group: `[..., n / group_size]`, floats in affine mode, else uint8.
    pub scales: &'a Array,
    /// One bias per group in affine mode, like the scales.
    pub biases: Option<&'a Array>,
    /// The format.
    pub how: Quantization,
}

/// Quantise a matrix: store each group of elements of the last axis in a few bits and one scale.
///
/// Returns packed codes, scales and, in affine mode, biases. In affine mode an element is `scale * code + bias` with an
/// integer code; the end of the group's range that is farther from zero is represented exactly. In the other modes it
/// is `scale * code` with a float4 or float8 code, and scales are codes, too. `global_scale`, in NVFP4, is the largest
/// magnitude in the array, to which scales are relative. NaN is ignored in the search for scales.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, ops};
/// let how = ops::Quantization::new("quantize", ops::QuantizationMode::Affine, Some(32), Some(8))?;
/// let w = ops::reshape(&ops::arange(0.0, 64.0, 1.0, DType::Float32)?, &[2, 32])?;
/// let arrays = ops::quantize(&w, how, None)?;
/// assert_eq!(arrays[0].shape().to_vec(), [2, 8]);
/// let stored = ops::Quantized { words: &arrays[0], scales: &arrays[1], biases: Some(&arrays[2]), how };
/// let back = ops::dequantize(stored, None, None)?;
/// assert!((back.to_vec::<f32>()?[63] - 63.0).abs() < 0.1);
/// # Ok::<(), umber::Error>(())
/// ```
///
/// # Errors
/// If `w` is not real floating-point, has no axes, or the length of its last axis is not a multiple of the group size.
pub fn quantize(w: &Array, how: Quantization, global_scale: Option<&Array>) -> Result<Vec<Array>> {
    check_quantizable("quantize", "w", how, w)?;
    let largest =
        global_scale.map(|scale| global("quantize", "global_scale", how, scale, None)).transpose()?;
    let inputs: Vec<&Array> = [Some(w), largest.as_ref()].into_iter().flatten().collect();
    Quantize(how).apply(&inputs)
}

/// Recover the elements of a quantised array: `scales * codes + biases`, group by group.
///
/// The default `dtype` is that of the scales and biases, or bfloat16 where scales are codes (float32 with a
/// `global_scale`). Differentiable with respect to scales and biases; the packed codes have no gradient. float16 and
/// bfloat16 are computed in float32 and rounded once.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let how = ops::Quantization::new("dequantize", ops::QuantizationMode::Affine, Some(32), Some(1))?;
/// let (words, scales) = (Array::from([[5u32]]), Array::from([[2.0f32]]));
/// let stored = ops::Quantized { words: &words, scales: &scales, biases: Some(&Array::from([[-1.0f32]])), how };
/// assert_eq!(ops::dequantize(stored, None, None)?.to_vec::<f32>()?[..4], [1.0, -1.0, 1.0, -1.0]);
/// # Ok::<(), umber::Error>(())
/// ```
///
/// # Errors
/// If words, scales and biases do not match each other, or `dtype` is not a real floating-point dtype.
pub fn dequantize(w: Quantized, global_scale: Option<&Array>, dtype: Option<DType>) -> Result<Array> {
    let arrays = w.arrays("dequantize")?;
    let default_dtype = match (arrays.as_slice(), global_scale) {
        ([_, scales, biases], _) => promote(scales.dtype(), biases.dtype()),
        (_, None) => DType::BFloat16,
        (_, Some(_)) => DType::Float32,
    };
    let dtype = dtype.unwrap_or(default_dtype);
    ensure!(
        dtype.is_floating(),
        Type("dequantize"),
        "dtype {dtype} is not supported, expected float16, bfloat16, float32 or float64"
    );
    let Some(scale) = global_scale else {
        return Dequantize { format: w.how, dtype }.apply(&arrays[0], &arrays[1], arrays.get(2));
    };
    let scale = global("dequantize", "global_scale", w.how, scale, None)?;
    let wide = if dtype == DType::Float64 { dtype } else { DType::Float32 };
    let values = Dequantize { format: w.how, dtype: wide }.apply(&arrays[0], &arrays[1], None)?;
    let factor = broadcast(&cast(&unit(&scale)?, wide)?, values.shape())?;
    cast(&mul(&values, &factor)?, dtype)
}

/// Product with a quantised matrix: `x @ w.T`, or `x @ w` if it is not transposed.
///
/// `(…, m, k)` by a quantised `(…, n, k)` (not transposed: `(…, k, n)`) gives `(…, m, n)` in the promoted dtype of `x`
/// and the scales; batch axes broadcast. Accumulates in float32 (float64 for float64). Differentiable with respect to
/// `x`, scales and biases.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops};
/// let how = ops::Quantization::new("quantize", ops::QuantizationMode::Affine, None, None)?;
/// let arrays = ops::quantize(&ops::ones(&Shape::from([3, 64]), DType::Float32), how, None)?;
/// let w = ops::Quantized { words: &arrays[0], scales: &arrays[1], biases: Some(&arrays[2]), how };
/// let x = ops::ones(&Shape::from([64]), DType::Float32);
/// assert_eq!(ops::quantized_matmul(&x, w, ops::Transposed::Yes)?.to_vec::<f32>()?, [64.0, 64.0, 64.0]);
/// # Ok::<(), umber::Error>(())
/// ```
///
/// # Errors
/// If words, scales and biases, or the shapes of the operands, do not match each other.
pub fn quantized_matmul(x: &Array, w: Quantized, transposed: Transposed) -> Result<Array> {
    let op = "quantized_matmul";
    let right = Right::stored(op, w, transposed)?;
    let dtype = right.dtype(op, x)?;
    right.times(op, &cast(x, dtype)?, None)
}

/// The matrices of both stacks to multiply.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gathered<'a> {
    /// Flat indices into the batch axes of the left operand; by default all in order.
    pub lhs: Option<&'a Array>,
    /// Flat indices into the batch axes of the right operand; by default all in order.
    pub rhs: Option<&'a Array>,
}

/// Product with quantised matrices selected by index: `x[lhs[i]] @ w[rhs[i]].T` for each `i`.
///
/// Indices are flat indices into the batch axes. They broadcast, and negative ones count from the end. `global_scale`,
/// in NVFP4, is one number or one for each matrix of `w`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, Shape, ops};
/// let how = ops::Quantization::new("quantize", ops::QuantizationMode::Affine, None, None)?;
/// let arrays = ops::quantize(&ops::ones(&Shape::from([2, 3, 64]), DType::Float32), how, None)?;
/// let w = ops::Quantized { words: &arrays[0], scales: &arrays[1], biases: Some(&arrays[2]), how };
/// let x = ops::ones(&Shape::from([1, 1, 64]), DType::Float32);
/// let selection = ops::Gathered { rhs: Some(&Array::from([1i32, 0, 1])), ..Default::default() };
/// assert_eq!(ops::gather_qmm(&x, w, selection, ops::Transposed::Yes, None)?.shape(), &Shape::from([3, 1, 3]));
/// # Ok::<(), umber::Error>(())
/// ```
///
/// # Errors
/// If shapes do not fit or indices are not integers; when evaluated, if an index is out of bounds.
pub fn gather_qmm(
    x: &Array,
    w: Quantized,
    selection: Gathered,
    transposed: Transposed,
    global_scale: Option<&Array>,
) -> Result<Array> {
    let op = "gather_qmm";
    let right = Right::stored(op, w, transposed)?;
    let dtype = right.dtype(op, x)?;
    let factor = global_scale
        .map(|scale| unit(&global(op, "global_scale", w.how, scale, Some(&right.batch()))?))
        .transpose()?;
    let wide = if factor.is_some() { promote(dtype, DType::Float32) } else { dtype };
    cast(&right.gathered(op, &cast(x, wide)?, selection, [None, factor])?, dtype)
}

/// The right operand of [`qqmm`].
#[derive(Clone, Copy, Debug)]
pub enum MaybeQuantized<'a> {
    /// An array to quantise.
    Numbers(&'a Array, Quantization),
    /// A quantised array.
    Stored(Quantized<'a>),
}

/// The largest magnitudes of both operands, to which scales are relative in NVFP4.
#[derive(Clone, Copy, Debug)]
pub struct GlobalScales<'a> {
    /// The largest magnitude of the left operand.
    pub x: &'a Array,
    /// The largest magnitude of the right operand.
    pub w: &'a Array,
}

/// Product of two quantised matrices: `x @ w.T` with both operands in the same format.
///
/// Any mode but affine. Unquantised operands are quantised by the function; gradients pass straight through the
/// rounding. The dtype is that of `x`, or the promoted dtype of `x` and an unquantised `w`; products are summed in
/// float32.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, Shape, ops};
/// let how = ops::Quantization::new("qqmm", ops::QuantizationMode::Nvfp4, None, None)?;
/// let ones = |rows| ops::ones(&Shape::from([rows, 32]), DType::Float32);
/// let out = ops::qqmm(&ones(2), ops::MaybeQuantized::Numbers(&ones(3), how), None)?;
/// assert_eq!(out.shape(), &Shape::from([2, 3]));
/// # Ok::<(), umber::Error>(())
/// ```
///
/// # Errors
/// If the operands do not match each other, or the mode is affine.
pub fn qqmm(x: &Array, w: MaybeQuantized, scales: Option<GlobalScales>) -> Result<Array> {
    let op = "qqmm";
    let operands = Operands::new(op, x, w, scales, [None, None])?;
    let mut scaled = operands.right.times(op, &operands.x, None)?;
    for factor in operands.factors.iter().flatten() {
        scaled = mul(&scaled, &broadcast(&cast(factor, scaled.dtype())?, scaled.shape())?)?;
    }
    cast(&scaled, operands.dtype)
}

/// Product of two quantised matrices selected by index: `x[lhs[i]] @ w[rhs[i]].T` for each `i`.
///
/// Operands are those of [`qqmm`]. Global scales are one number, or one for each matrix of their operand.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, Shape, ops};
/// let how = ops::Quantization::new("qqmm", ops::QuantizationMode::Mxfp8, None, None)?;
/// let ones = |count| ops::ones(&Shape::from([count, 1, 32]), DType::Float32);
/// let (x, w) = (ones(1), ones(2));
/// let selection = ops::Gathered { rhs: Some(&Array::from([1i32, 0, 1])), ..Default::default() };
/// let out = ops::gather_qqmm(&x, ops::MaybeQuantized::Numbers(&w, how), selection, None)?;
/// assert_eq!(out.to_vec::<f32>()?, [32.0; 3]);
/// # Ok::<(), umber::Error>(())
/// ```
///
/// # Errors
/// If [`qqmm`] fails, or if indices are not integers; when evaluated, if an index is out of bounds.
pub fn gather_qqmm(
    x: &Array,
    w: MaybeQuantized,
    selection: Gathered,
    scales: Option<GlobalScales>,
) -> Result<Array> {
    let op = "gather_qqmm";
    let batch = |x: &Array| -> Shape { x.shape()[..x.ndim().saturating_sub(2)].into() };
    let batch_w = match w {
        MaybeQuantized::Numbers(w, _) => batch(w),
        MaybeQuantized::Stored(w) => batch(w.words),
    };
    let operands = Operands::new(op, x, w, scales, [Some(batch(x)), Some(batch_w)])?;
    cast(&operands.right.gathered(op, &operands.x, selection, operands.factors)?, operands.dtype)
}

/// Round to the nearest float8 (E4M3) and return its bits as uint8.
///
/// Ties go to even; magnitudes above 448 become 448, and NaN stays NaN.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// assert_eq!(ops::to_fp8(&Array::from([1.0f32, -2.0, 1e9]))?.to_vec::<u8>()?, [0x38, 0xc0, 0x7e]);
/// # Ok::<(), umber::Error>(())
/// ```
///
/// # Errors
/// If `x` is not real floating-point.
pub fn to_fp8(x: &Array) -> Result<Array> {
    ensure!(
        x.dtype().is_floating(),
        Type("to_fp8"),
        "x must be float16, bfloat16, float32 or float64, not {}",
        x.dtype()
    );
    Array::record_one(Fp8::Encode, &[x])
}

/// Convert float8 (E4M3) codes to floating-point numbers.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, ops};
/// let codes = Array::from([0x38u8, 0xc0, 1]);
/// assert_eq!(ops::from_fp8(&codes, DType::Float32)?.to_vec::<f32>()?, [1.0, -2.0, 1.0 / 512.0]);
/// # Ok::<(), umber::Error>(())
/// ```
///
/// # Errors
/// If `x` is not uint8, or `dtype` is not a real floating-point dtype.
pub fn from_fp8(x: &Array, dtype: DType) -> Result<Array> {
    if x.dtype() == DType::Float8E4M3Fn && dtype.is_floating() {
        return cast(x, dtype);
    }
    ensure!(
        x.dtype() == DType::UInt8,
        Type("from_fp8"),
        "x must be uint8 or float8_e4m3fn, not {}",
        x.dtype()
    );
    ensure!(
        dtype.is_floating(),
        Type("from_fp8"),
        "dtype {dtype} is not supported, expected float16, bfloat16, float32 or float64"
    );
    Array::record_one(Fp8::Decode(dtype), &[x])
}

/// A global scale divided by the largest product of an E2M1 code (6) and an E4M3 scale (448).
fn unit(scale: &Array) -> Result<Array> {
    div(scale, &constant(scale, NVFP4_UNIT))
}

/// A global scale as float32: a scalar, or one element for each index of `batch`.
fn global(op: &str, name: &str, how: Quantization, scale: &Array, batch: Option<&Shape>) -> Result<Array> {
    ensure!(
        how.mode() == QuantizationMode::Nvfp4,
        Value(op),
        "{name} requires mode 'nvfp4', got mode '{}'",
        how.mode().name()
    );
    ensure!(
        scale.dtype().is_floating(),
        Type(op),
        "{name} must be a real floating-point array, not {}",
        scale.dtype()
    );
    let scale = cast(scale, DType::Float32)?;
    match batch {
        Some(batch) if scale.shape() == batch => Ok(scale),
        _ if scale.size() == 1 => reshape(&scale, Shape::scalar()),
        Some(batch) => {
            bail!(Value(op), "{name} must be a scalar or have shape {batch}, got shape {}", scale.shape())
        }
        None => bail!(Value(op), "{name} must be a scalar, got shape {}", scale.shape()),
    }
}

/// Check that an array can be quantised.
fn check_quantizable(op: &str, name: &str, how: Quantization, x: &Array) -> Result<()> {
    ensure!(
        x.dtype().is_floating(),
        Type(op),
        "{name} must be float16, bfloat16, float32 or float64, not {}",
        x.dtype()
    );
    let is_divisible = x.shape().last().is_some_and(|length| length.is_multiple_of(how.group_size()));
    ensure!(
        is_divisible,
        Value(op),
        "last axis of {name} must be divisible by group_size {1}, got shape {0}",
        x.shape(),
        how.group_size()
    );
    Ok(())
}

impl Quantized<'_> {
    /// Check words, scales and biases, and return them in the order in which primitives take them.
    fn arrays(&self, op: &str) -> Result<Vec<Array>> {
        let Quantized { words, scales, biases, how } = *self;
        let mode = how.mode().name();
        ensure!(
            words.dtype() == DType::UInt32,
            Type(op),
            "w must hold packed codes in uint32, not {}",
            words.dtype()
        );
        ensure!(
            biases.is_some() == how.has_biases(),
            Value(op),
            "mode '{mode}' {}",
            if how.has_biases() { "requires biases" } else { "does not take biases" }
        );
        for (name, factors) in [("scales", Some(scales)), ("biases", biases)] {
            let Some(factors) = factors else { continue };
            let fits = if how.has_biases() {
                factors.dtype().is_floating()
            } else {
                factors.dtype() == DType::UInt8
            };
            ensure!(
                fits,
                Type(op),
                "{name} must be {} for mode '{mode}', not {}",
                if how.has_biases() { "real floating-point" } else { "uint8" },
                factors.dtype()
            );
        }
        let arrays: Vec<Array> = [Some(words), Some(scales), biases].into_iter().flatten().cloned().collect();
        row_length(op, how, &arrays.iter().map(Array::spec).collect::<Vec<&ArraySpec>>())?;
        Ok(arrays)
    }
}

/// The right operand of a product.
enum Right {
    Stored {
        arrays: Vec<Array>,
        product: Product,
    },
    /// A dense matrix, already transposed.
    Dense(Array),
}

impl Right {
    fn stored(op: &str, w: Quantized, transposed: Transposed) -> Result<Right> {
        let arrays = w.arrays(op)?;
        ensure!(
            arrays[0].ndim() >= 2,
            Value(op),
            "w must have at least 2 axes, got shape {}",
            arrays[0].shape()
        );
        Ok(Right::Stored { arrays, product: Product { format: w.how, transposed } })
    }

    /// The dtype of its product with `x`.
    fn dtype(&self, op: &str, x: &Array) -> Result<DType> {
        ensure!(
            !x.dtype().is_complex(),
            Type(op),
            "x must be float16, bfloat16, float32 or float64, not {}",
            x.dtype()
        );
        Ok(match self {
            Right::Stored { arrays, .. } if arrays.len() == 3 => {
                promote(x.dtype(), promote(arrays[1].dtype(), arrays[2].dtype()))
            }
            Right::Stored { .. } => x.dtype().inexact(),
            Right::Dense(w) => promote(x.dtype(), w.dtype()),
        })
    }

    /// The batch axes.
    fn batch(&self) -> Shape {
        match self {
            Right::Stored { arrays, .. } => arrays[0].shape()[..arrays[0].ndim() - 2].into(),
            Right::Dense(w) => w.shape()[..w.ndim() - 2].into(),
        }
    }

    /// The product with `x` of a floating dtype: of selected matrices, or with batch axes that broadcast.
    fn times(&self, op: &'static str, x: &Array, selection: Option<Gathered>) -> Result<Array> {
        let (arrays, params) = match self {
            Right::Stored { arrays, product } => (arrays, *product),
            Right::Dense(w) => {
                return match selection {
                    Some(selection) => gather_mm_as(op, x, w, selection.lhs, selection.rhs),
                    None => with_op(op, matmul(x, w)),
                };
            }
        };
        let (rows, groups) =
            (arrays[1].shape()[arrays[1].ndim() - 2], arrays[1].shape()[arrays[1].ndim() - 1]);
        let (k, n) = match params.transposed {
            Transposed::Yes => (groups * params.format.group_size(), rows),
            Transposed::No => (rows, groups * params.format.group_size()),
        };
        ensure!(
            x.shape().last() == Some(&k),
            Value(op),
            "inner dimensions differ: x of shape {}, quantised matrix of {k} by {n}",
            x.shape()
        );
        let m = if x.ndim() == 1 { 1 } else { x.shape()[x.ndim() - 2] };
        let batch_x: Shape = x.shape()[..x.ndim().saturating_sub(2)].into();
        let batch_w = self.batch();
        let to_stack = |x: &Array| {
            let tail = &x.shape()[x.ndim().max(2) - 2..];
            let tail = if tail.len() == 2 { [tail[0], tail[1]] } else { [1, tail[0]] };
            reshape(x, [x.shape()[..x.ndim().saturating_sub(2)].iter().product(), tail[0], tail[1]])
        };
        let stacks = arrays.iter().map(to_stack).collect::<Result<Vec<_>>>()?;
        let (out, batch) = match selection {
            None if batch_w.size() == 1 => {
                // A single right matrix: merge the batch into the rows.
                let batch = batch_x.broadcast(&batch_w).expect("lengths of one broadcast");
                (product(params, &reshape(x, [1, batch_x.size() * m, k])?, &stacks, None)?, batch)
            }
            None if batch_x == batch_w => (product(params, &to_stack(x)?, &stacks, None)?, batch_x),
            selection => {
                let Gathered { lhs, rhs } = selection.unwrap_or_default();
                let index = |index: Option<&Array>, batch: &Shape| match index {
                    Some(index) => Ok(index.clone()),
                    None => reshape(&each(batch.size())?, batch.clone()),
                };
                let (left, right) = (index(lhs, &batch_x)?, index(rhs, &batch_w)?);
                let Some(batch) = left.shape().broadcast(right.shape()) else {
                    let what = if lhs.is_some() || rhs.is_some() { "indices" } else { "batch axes" };
                    bail!(
                        Value(op),
                        "{what} of shapes {} and {} cannot be broadcast",
                        left.shape(),
                        right.shape()
                    );
                };
                let count = batch.size();
                let indices = [listed(&left, &batch)?, listed(&right, &batch)?, each(count)?];
                let out = product(
                    params,
                    &to_stack(x)?,
                    &stacks,
                    Some((count, [&indices[0], &indices[1], &indices[2]])),
                )?;
                (out, batch)
            }
        };
        let row = (x.ndim() > 1).then_some(m);
        reshape(&out, batch.iter().copied().chain(row).chain([n]).collect::<Shape>())
    }

    /// The product of selected matrices, times the factors of both operands.
    fn gathered(
        &self,
        op: &'static str,
        x: &Array,
        selection: Gathered,
        factors: [Option<Array>; 2],
    ) -> Result<Array> {
        for index in [selection.lhs, selection.rhs].into_iter().flatten() {
            ensure!(index.dtype().is_integer(), Type(op), "indices must be integers, not {}", index.dtype());
        }
        let mut out = self.times(op, x, Some(selection))?;
        for (factor, index) in factors.into_iter().zip([selection.lhs, selection.rhs]) {
            let Some(factor) = factor else { continue };
            let factor = match index {
                Some(index) if factor.ndim() > 0 => {
                    super::indexing::take_as(op, &reshape(&factor, [factor.size()])?, index, None)?
                }
                _ => factor,
            };
            let ones = if factor.ndim() == 0 { 0 } else { x.ndim().min(2) };
            let column: Shape = factor.shape().iter().copied().chain(std::iter::repeat_n(1, ones)).collect();
            let factor = broadcast(&cast(&reshape(&factor, column)?, out.dtype())?, out.shape())?;
            out = mul(&out, &factor)?;
        }
        Ok(out)
    }
}

/// Both operands of a product, rounded to their format, and the factors of the product.
struct Operands {
    x: Array,
    right: Right,
    factors: [Option<Array>; 2],
    dtype: DType,
}

impl Operands {
    fn new(
        op: &str,
        x: &Array,
        w: MaybeQuantized,
        scales: Option<GlobalScales>,
        batches: [Option<Shape>; 2],
    ) -> Result<Operands> {
        let format = match w {
            MaybeQuantized::Numbers(_, format) => format,
            MaybeQuantized::Stored(w) => w.how,
        };
        ensure!(
            format.mode() != QuantizationMode::Affine,
            Value(op),
            "mode 'affine' is not supported, expected 'nvfp4', 'mxfp8' or 'mxfp4'"
        );
        check_quantizable(op, "x", format, x)?;
        let [batch_x, batch_w] = batches;
        let scales = scales
            .map(|scales| -> Result<[Array; 2]> {
                Ok([
                    global(op, "global_scale_x", format, scales.x, batch_x.as_ref())?,
                    global(op, "global_scale_w", format, scales.w, batch_w.as_ref())?,
                ])
            })
            .transpose()?;
        let [scale_x, scale_w] = scales.map_or([None, None], |[x, w]| [Some(x), Some(w)]);
        let rounded = |x: &Array, largest: Option<&Array>| {
            Rounded(format).apply(&std::iter::once(x).chain(largest).collect::<Vec<_>>())
        };
        let (right, dtype) = match w {
            MaybeQuantized::Numbers(w, _) => {
                check_quantizable(op, "w", format, w)?;
                ensure!(
                    w.ndim() >= 2 && x.shape().last() == w.shape().last(),
                    Value(op),
                    "x and w must have equal last axes and w at least 2 axes, got shapes {} and {}",
                    x.shape(),
                    w.shape()
                );
                (Right::Dense(swap_last(&rounded(w, scale_w.as_ref())?)?), promote(x.dtype(), w.dtype()))
            }
            MaybeQuantized::Stored(w) => (Right::stored(op, w, Transposed::Yes)?, x.dtype()),
        };
        let x = rounded(x, scale_x.as_ref())?;
        let factors = [scale_x, scale_w].map(|scale| scale.map(|scale| unit(&scale)).transpose());
        let [factor_x, factor_w] = factors;
        Ok(Operands { x, right, factors: [factor_x?, factor_w?], dtype })
    }
}
