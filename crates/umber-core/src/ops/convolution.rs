//! Convolutions: kernels that slide along the spatial axes of their input.
//!
//! Inputs are `[batch, lengths.., channels]`, weights `[outputs, taps.., channels / groups]`. Dtypes are promoted;
//! integers are exact and wrap, float16 and bfloat16 are summed in float32 and rounded once.

use smallvec::{SmallVec, smallvec};
use umber_types::{ConvAxis, ConvParams, Result, Shape, bail, ensure, promote};

use super::promotion::cast_constant;
use super::shaping::flip;
use crate::graph::Array;
use crate::graph::tracing::note_length_read;
use crate::primitives::convolution::convolve as record;
use crate::primitives::rules::{conj, reshape};

/// A number for all spatial axes, or one for each.
pub type PerAxis = SmallVec<[i64; 3]>;

/// The order in which the kernel is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelOrder {
    /// Not flipped, as usual in machine learning.
    Forward,
    /// Flipped along every spatial axis: the convolution of mathematics.
    Flipped,
}

/// How a convolution slides its kernel. Every list holds one number for all axes or one for each.
#[derive(Clone, Debug)]
pub struct ConvOptions {
    /// Steps of the kernel.
    pub stride: PerAxis,
    /// Zeros before the input; a negative number crops.
    pub low: PerAxis,
    /// Zeros after the input.
    pub high: PerAxis,
    /// Distance between the taps of the kernel.
    pub kernel_dilation: PerAxis,
    /// Distance between the elements of the input, zeros between.
    pub input_dilation: PerAxis,
    /// Number of groups of channels, which do not mix.
    pub groups: i64,
    /// In which order the kernel is read.
    pub order: KernelOrder,
}

impl Default for ConvOptions {
    fn default() -> ConvOptions {
        let one: PerAxis = smallvec![1];
        ConvOptions {
            stride: one.clone(),
            low: smallvec![0],
            high: smallvec![0],
            kernel_dilation: one.clone(),
            input_dilation: one,
            groups: 1,
            order: KernelOrder::Forward,
        }
    }
}

/// How a transposed convolution spreads its input. Every list holds one number for all axes or one for each.
#[derive(Clone, Debug)]
pub struct ConvTransposeOptions {
    /// Steps of the convolution whose derivative this is: the distance at which the input is spread.
    pub stride: PerAxis,
    /// Elements cut off both ends of the result.
    pub padding: PerAxis,
    /// Distance between the taps of the kernel.
    pub dilation: PerAxis,
    /// Elements added to the end of the result.
    pub output_padding: PerAxis,
    /// Number of groups of channels, which do not mix.
    pub groups: i64,
}

impl Default for ConvTransposeOptions {
    fn default() -> ConvTransposeOptions {
        let (zero, one): (PerAxis, PerAxis) = (smallvec![0], smallvec![1]);
        ConvTransposeOptions {
            stride: one.clone(),
            padding: zero.clone(),
            dilation: one,
            output_padding: zero,
            groups: 1,
        }
    }
}

/// Upper bound of products of lengths and options, so that offsets into the padded input cannot overflow.
const MAX_EXTENT: i128 = 1 << 61;

/// Convolution over any number of spatial axes.
///
/// `out[n, o.., c] = sum over t.., i of x[n, o * stride + t * kernel_dilation - low.., i] * weight[c, t.., i]`, where
/// `x` has `input_dilation - 1` zeros between its elements and is padded with `low` and `high` zeros. With groups,
/// output channels of a group see only the input channels of the same group.
///
/// ```
/// # use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1.0f32, 2.0, 3.0, 4.0], [1, 4, 1])?;
/// let weight = Array::from_slice(&[1.0f32, -1.0], [1, 2, 1])?;
/// let y = ops::conv_general(&x, &weight, &ops::ConvOptions::default())?;
/// assert_eq!(y.to_vec::<f32>()?, [-1.0, -1.0, -1.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the shapes or options do not fit each other, or the kernel is longer than the padded input.
pub fn conv_general(x: &Array, weight: &Array, options: &ConvOptions) -> Result<Array> {
    ensure!(
        x.ndim() >= 3,
        Value("conv_general"),
        "input must have at least 3 axes (batch, spatial, channels), got shape {}",
        x.shape()
    );
    conv("conv_general", x, weight, x.ndim() - 2, options)
}

macro_rules! convolutions {
    ($($name:ident $transposed:ident $spatial:literal $axes:literal;)*) => {$(
        #[doc = concat!("Convolution over ", $axes, ": see [`conv_general`].\n\n# Errors\nAs [`conv_general`].")]
        pub fn $name(x: &Array, weight: &Array, options: &ConvOptions) -> Result<Array> {
            conv(stringify!($name), x, weight, $spatial, options)
        }

        #[doc = concat!("Transposed convolution over ", $axes, ": see [`conv_transpose`].\n\n# Errors\nAs [`conv_transpose`].")]
        pub fn $transposed(x: &Array, weight: &Array, options: &ConvTransposeOptions) -> Result<Array> {
            transposed(stringify!($transposed), x, weight, $spatial, options)
        }
    )*};
}

convolutions! {
    conv1d conv_transpose1d 1 "one spatial axis";
    conv2d conv_transpose2d 2 "two spatial axes";
    conv3d conv_transpose3d 3 "three spatial axes";
}

/// Transposed convolution over any number of spatial axes: the derivative of a convolution with respect to its input.
///
/// The result has length `(length - 1) * stride - 2 * padding + dilation * (taps - 1) + 1 + output_padding`. The weight
/// is `[outputs, taps.., channels / groups]`.
///
/// ```
/// # use umber_core::{Array, ops};
/// let x = Array::from_slice(&[1.0f32, 2.0], [1, 2, 1])?;
/// let weight = Array::from_slice(&[1.0f32, 10.0], [1, 2, 1])?;
/// let options = ops::ConvTransposeOptions { stride: [2].into_iter().collect(), ..Default::default() };
/// let y = ops::conv_transpose(&x, &weight, &options)?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 10.0, 2.0, 20.0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the shapes or options do not fit each other, or nothing is left of the result.
pub fn conv_transpose(x: &Array, weight: &Array, options: &ConvTransposeOptions) -> Result<Array> {
    transposed("conv_transpose", x, weight, x.ndim().saturating_sub(2), options)
}

fn transposed(
    op: &str,
    x: &Array,
    weight: &Array,
    spatial: usize,
    options: &ConvTransposeOptions,
) -> Result<Array> {
    check_axes(op, x, weight, spatial)?;
    let [padding, dilation, output_padding] = [
        per_axis(op, "paddings", &options.padding, spatial)?,
        positive(op, "dilations", &options.dilation, spatial)?,
        per_axis(op, "output paddings", &options.output_padding, spatial)?,
    ];
    ensure!(
        output_padding.iter().all(|&number| number >= 0),
        Value(op),
        "output padding must not be negative, got {:?}",
        output_padding.as_slice()
    );
    positive(op, "strides", &options.stride, spatial)?;
    let low = (0..spatial).map(|i| {
        let extent = (weight.shape()[i + 1] as i64 - 1).saturating_mul(dilation[i]);
        extent.saturating_sub(padding[i])
    });
    let low: PerAxis = low.collect();
    let high = low
        .iter()
        .zip(&output_padding)
        .map(|(low, output_padding)| low.saturating_add(*output_padding))
        .collect();
    let options = ConvOptions {
        stride: smallvec![1],
        low,
        high,
        kernel_dilation: dilation,
        input_dilation: options.stride.clone(),
        groups: options.groups,
        order: KernelOrder::Flipped,
    };
    conv(op, x, weight, spatial, &options)
}

/// Check for a batch or output axis, `spatial` spatial axes and a channel axis in both operands.
fn check_axes(op: &str, x: &Array, weight: &Array, spatial: usize) -> Result<()> {
    let axes = if spatial == 1 { "axis" } else { "axes" };
    ensure!(
        spatial > 0 && x.ndim() == spatial + 2,
        Value(op),
        "input must have a batch axis, {1} spatial {axes} and a channel axis, got shape {0}",
        x.shape(),
        spatial.max(1)
    );
    ensure!(
        weight.ndim() == spatial + 2,
        Value(op),
        "weight must have an output channel axis, {spatial} spatial {axes} and an input channel axis, got \
         shape {}",
        weight.shape()
    );
    Ok(())
}

fn per_axis(op: &str, what: &str, values: &[i64], spatial: usize) -> Result<PerAxis> {
    match values {
        [value] => Ok(SmallVec::from_elem(*value, spatial)),
        values if values.len() == spatial => Ok(values.into()),
        values => bail!(Value(op), "got {} {what}, expected 1 or {spatial}", values.len()),
    }
}

fn positive(op: &str, what: &str, values: &[i64], spatial: usize) -> Result<PerAxis> {
    let checked = per_axis(op, what, values, spatial)?;
    ensure!(
        checked.iter().all(|&number| number > 0),
        Value(op),
        "{what} must be positive, got {:?}",
        checked.as_slice()
    );
    Ok(checked)
}

/// Check all arguments and record the convolution.
fn conv(op: &str, x: &Array, weight: &Array, spatial: usize, options: &ConvOptions) -> Result<Array> {
    check_axes(op, x, weight, spatial)?;
    let stride = positive(op, "strides", &options.stride, spatial)?;
    let kernel_dilation = positive(op, "dilations of the kernel", &options.kernel_dilation, spatial)?;
    let input_dilation = positive(op, "dilations of the input", &options.input_dilation, spatial)?;
    let low = per_axis(op, "paddings before", &options.low, spatial)?;
    let high = per_axis(op, "paddings after", &options.high, spatial)?;
    let groups = check_channels(op, x, weight, options.groups)?;
    let axes = (0..spatial).map(|i| ConvAxis {
        stride: stride[i] as usize,
        low: low[i] as isize,
        high: high[i] as isize,
        kernel_dilation: kernel_dilation[i] as usize,
        input_dilation: input_dilation[i] as usize,
    });
    let params = ConvParams { axes: axes.collect(), groups };
    for (i, axis) in params.axes.iter().enumerate() {
        check_lengths(op, axis, x.shape(), weight.shape(), i)?;
    }
    let dtype = promote(x.dtype(), weight.dtype());
    let (x, mut weight) = (cast_constant(x, dtype)?, cast_constant(weight, dtype)?);
    if options.order == KernelOrder::Flipped {
        let axes: SmallVec<[i64; 3]> = (1..=spatial as i64).collect();
        weight = flip(&weight, Some(&axes))?;
    }
    record(&params, &x, &weight)
}

/// The number of groups, which must divide the channels.
fn check_channels(op: &str, x: &Array, weight: &Array, groups: i64) -> Result<usize> {
    let last = x.ndim() - 1;
    let (channels, outputs, channels_per_group) = (x.shape()[last], weight.shape()[0], weight.shape()[last]);
    let group_count = match usize::try_from(groups) {
        Ok(group_count) if group_count > 0 => group_count,
        _ => bail!(Value(op), "number of groups must be at least 1, got {groups}"),
    };
    ensure!(
        channels.is_multiple_of(group_count) && outputs.is_multiple_of(group_count),
        Value(op),
        "{group_count} groups do not divide {channels} input channels and {outputs} output channels"
    );
    ensure!(
        channels_per_group == channels / group_count,
        Value(op),
        "input of shape {} and weight of shape {} with {group_count} groups: weight must have {} input channels \
         per group",
        x.shape(),
        weight.shape(),
        channels / group_count
    );
    Ok(group_count)
}

/// Check that the kernel fits into the padded input along spatial axis `i`.
fn check_lengths(op: &str, axis: &ConvAxis, x: &Shape, weight: &Shape, i: usize) -> Result<()> {
    let (input, taps) = (x[i + 1], weight[i + 1]);
    ensure!(
        taps > 0,
        Value(op),
        "kernel must not be empty along a spatial axis, got weight of shape {weight}"
    );
    let (positions, extent) = (axis.positions(input), axis.kernel_extent(taps));
    let sizes = [positions, extent, axis.low.unsigned_abs() as i128, axis.high.unsigned_abs() as i128];
    ensure!(
        sizes.into_iter().all(|size| size < MAX_EXTENT),
        Overflow(op),
        "padding or dilation along spatial axis {i} does not fit 64 bits"
    );
    ensure!(
        (axis.stride as i128) < MAX_EXTENT,
        Overflow(op),
        "stride {} along spatial axis {i} is too large, expected less than {MAX_EXTENT}",
        axis.stride
    );
    ensure!(
        positions >= extent,
        Value(op),
        "kernel spans {extent} elements along spatial axis {i}, but the padded input has {positions} (shapes \
         {x} and {weight})"
    );
    Ok(())
}

/// The part of a one-dimensional convolution to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvolveMode {
    /// Every overlap of the operands.
    Full,
    /// As many elements as the longer operand, from the middle of the full result.
    Same,
    /// Only complete overlaps.
    Valid,
}

impl ConvolveMode {
    /// The mode of this name.
    ///
    /// # Errors
    /// If there is none.
    ///
    /// ```
    /// # use umber_core as umber;
    /// use umber::ops::ConvolveMode;
    /// assert_eq!(ConvolveMode::parse("convolve", "same")?, ConvolveMode::Same);
    /// let error = ConvolveMode::parse("convolve", "half").expect_err("there is no such mode");
    /// assert_eq!(error.to_string(), "[convolve] got mode 'half', expected 'full', 'same' or 'valid'");
    /// # Ok::<(), umber::Error>(())
    /// ```
    pub fn parse(op: &str, name: &str) -> Result<ConvolveMode> {
        match name {
            "full" => Ok(ConvolveMode::Full),
            "same" => Ok(ConvolveMode::Same),
            "valid" => Ok(ConvolveMode::Valid),
            other => bail!(Value(op), "got mode '{other}', expected 'full', 'same' or 'valid'"),
        }
    }
}

fn check_vectors(op: &str, a: &Array, v: &Array) -> Result<()> {
    ensure!(
        a.ndim() == 1 && v.ndim() == 1,
        Value(op),
        "arrays must be one-dimensional, got shapes {} and {}",
        a.shape(),
        v.shape()
    );
    ensure!(a.size() > 0 && v.size() > 0, Value(op), "arrays must not be empty");
    // The lengths determine which operand slides along the other.
    for array in [a, v] {
        note_length_read(array, 0);
    }
    Ok(())
}

/// Slide `kernel` along `signal`, which is at least as long.
fn slide(op: &str, signal: &Array, kernel: &Array, mode: ConvolveMode) -> Result<Array> {
    let (length, taps) = (signal.size(), kernel.size() as i64);
    let (low, high) = match mode {
        ConvolveMode::Full => (taps - 1, taps - 1),
        ConvolveMode::Same => (taps / 2, taps - 1 - taps / 2),
        ConvolveMode::Valid => (0, 0),
    };
    let options = ConvOptions { low: smallvec![low], high: smallvec![high], ..ConvOptions::default() };
    let out =
        conv(op, &reshape(signal, [1, length, 1])?, &reshape(kernel, [1, taps as usize, 1])?, 1, &options)?;
    let size = out.size();
    reshape(&out, [size])
}

/// Discrete convolution of two 1-D arrays: `out[k] = sum over i of a[i] * v[k - i]`.
///
/// Modes are those of NumPy.
///
/// ```
/// # use umber_core::{Array, ops};
/// let a = Array::from_slice(&[1.0f32, 2.0, 3.0], [3])?;
/// let v = Array::from_slice(&[0.0f32, 1.0, 0.5], [3])?;
/// let full = ops::convolve(&a, &v, ops::ConvolveMode::Full)?;
/// assert_eq!(full.to_vec::<f32>()?, [0.0, 1.0, 2.5, 4.0, 1.5]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If an array is empty or has another number of axes.
pub fn convolve(a: &Array, v: &Array, mode: ConvolveMode) -> Result<Array> {
    check_vectors("convolve", a, v)?;
    let (longer, shorter) = if a.size() >= v.size() { (a, v) } else { (v, a) };
    slide("convolve", longer, &flip(shorter, None)?, mode)
}

/// Cross-correlation of two 1-D arrays: `out[k] = sum over i of a[i + k] * conj(v[i])`.
///
/// Modes are those of NumPy.
///
/// ```
/// # use umber_core::{Array, ops};
/// let a = Array::from_slice(&[1.0f32, 2.0, 3.0], [3])?;
/// let v = Array::from_slice(&[0.0f32, 1.0, 0.5], [3])?;
/// assert_eq!(ops::correlate(&a, &v, ops::ConvolveMode::Valid)?.to_vec::<f32>()?, [3.5]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If an array is empty or has another number of axes.
pub fn correlate(a: &Array, v: &Array, mode: ConvolveMode) -> Result<Array> {
    check_vectors("correlate", a, v)?;
    let v = conj(v)?;
    if a.size() >= v.size() {
        slide("correlate", a, &v, mode)
    } else {
        flip(&slide("correlate", &v, a, mode)?, None)
    }
}
