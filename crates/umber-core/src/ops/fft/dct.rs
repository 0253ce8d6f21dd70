//! Cosine and sine transforms of types 1 to 4, in the conventions of SciPy.
//!
//! | type | cosine | sine |
//! |---|---|---|
//! | 1 | `x[0] + (-1)ᵏ x[n-1] + 2 Σ x[j] cos(πjk / (n-1))` | `2 Σ x[j] sin(π(j+1)(k+1) / (n+1))` |
//! | 2 | `2 Σ x[j] cos(π(2j+1)k / 2n)` | `2 Σ x[j] sin(π(2j+1)(k+1) / 2n)` |
//! | 3 | `x[0] + 2 Σ x[j] cos(πj(2k+1) / 2n)` | `(-1)ᵏ x[n-1] + 2 Σ x[j] sin(π(j+1)(2k+1) / 2n)` |
//! | 4 | `2 Σ x[j] cos(π(2j+1)(2k+1) / 4n)` | `2 Σ x[j] sin(π(2j+1)(2k+1) / 4n)` |
//!
//! An element in front of a sum is excluded from the sum. Each transform is computed as a Fourier transform of the input extended
//! by its mirror image (J. Makhoul, A Fast Cosine Transform in One and Two Dimensions, 1980).

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

use umber_types::shape::normalize_axis;
use umber_types::{DType, Result, Scalar, Shape, ensure};

use super::{Norm, Transform, fit};
use crate::graph::Array;
use crate::ops::elementwise::{add, exp, imag, multiply, negative, real};
use crate::ops::{arange, concatenate, weak};
use crate::primitives::fft::{Fft, factors};
use crate::primitives::rules::{cast, reshape};
use crate::primitives::slice::{reversed, slice_along};
use umber_numerics::fft::Scaling;

/// The type of a transform: the symmetry of the extended input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CosineType {
    /// Mirrored at the end elements, which are not repeated.
    One,
    /// Mirrored next to the end elements, which are repeated.
    Two,
    /// The inverse of the second type.
    Three,
    /// Shifted by half a step in both domains.
    Four,
}

impl CosineType {
    /// The type of this number.
    ///
    /// ```
    /// # use umber_core as umber;
    /// use umber::ops::fft::CosineType;
    /// assert_eq!(CosineType::numbered("dct", 2)?, CosineType::Two);
    /// assert!(CosineType::numbered("dct", 5).is_err());
    /// # Ok::<(), umber::Error>(())
    /// ```
    pub fn numbered(op: &str, number: i64) -> Result<CosineType> {
        ensure!((1..=4).contains(&number), Value(op), "type must be 1, 2, 3 or 4, got {number}");
        Ok(match number {
            1 => CosineType::One,
            2 => CosineType::Two,
            3 => CosineType::Three,
            _ => CosineType::Four,
        })
    }

    fn inverse(self) -> CosineType {
        match self {
            CosineType::One => CosineType::One,
            CosineType::Two => CosineType::Three,
            CosineType::Three => CosineType::Two,
            CosineType::Four => CosineType::Four,
        }
    }
}

/// Options of a cosine or sine transform.
#[derive(Clone, Copy, Debug)]
pub struct CosineOptions {
    /// The type of the transform.
    pub kind: CosineType,
    /// Length to which the axis is truncated or zero-padded.
    pub length: Option<i64>,
    /// The axis to transform.
    pub axis: i64,
    /// The direction that divides by the period of the extended input.
    pub norm: Norm,
    /// Whether the end elements are scaled so that the matrix is orthogonal up to a factor; by default under [`Norm::Ortho`].
    pub is_orthogonal: Option<bool>,
}

/// The basis functions of a transform.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wave {
    Cosine,
    Sine,
}

/// `exp(i factor (j + shift))` for the elements along an axis of `x`, complex.
fn twiddles(x: &Array, axis: usize, count: usize, factor: f64, shift: f64) -> Result<Array> {
    let positions = arange(0.0, count as f64, 1.0, DType::Float64)?;
    let positions = add(&positions, &weak(Scalar::Float(shift), &positions))?;
    let twiddles =
        exp(&multiply(&positions, &Array::scalar(Scalar::Complex(0.0, factor), DType::Complex128))?)?;
    let aligned: Shape = (0..x.ndim()).map(|other| if other == axis { count } else { 1 }).collect();
    cast(&reshape(&twiddles, aligned)?, x.dtype().complex())
}

/// The input of an unscaled transform, and its axis.
struct Signal {
    x: Array,
    axis: usize,
}

impl Signal {
    fn length(&self) -> usize {
        self.x.shape()[self.axis]
    }

    fn concatenate(&self, parts: &[&Array]) -> Result<Array> {
        concatenate(parts, Some(self.axis as i64))
    }

    fn segment(&self, x: &Array, start: usize, length: usize) -> Result<Array> {
        slice_along(x, self.axis, start, length)
    }

    fn transform(&self, transform: Transform, x: &Array, length: usize) -> Result<Array> {
        Fft { transform, scaling: Scaling::One, axis: self.axis, length }.apply(x)
    }

    fn zeros(&self, count: usize) -> Array {
        Array::full(self.x.shape().with(self.axis, count), 0.0, self.x.dtype())
    }

    fn twiddled(&self, x: &Array, factor: f64, shift: f64) -> Result<Array> {
        multiply(x, &twiddles(&self.x, self.axis, x.shape()[self.axis], factor, shift)?)
    }

    /// The first cosine transform: the input, followed by its mirror image without the end elements.
    fn first_cosine(&self) -> Result<Array> {
        let n = self.length();
        let mirrored = reversed(&self.segment(&self.x, 1, n - 2)?, self.axis)?;
        let extended = self.concatenate(&[&self.x, &mirrored])?;
        real(&self.transform(Transform::RealForward, &extended, 2 * (n - 1))?)
    }

    /// The first sine transform: the input and its negated mirror image, separated by zeros.
    fn first_sine(&self) -> Result<Array> {
        let n = self.length();
        let zero = self.zeros(1);
        let extended =
            self.concatenate(&[&zero, &self.x, &zero, &negative(&reversed(&self.x, self.axis)?)?])?;
        let spectrum = self.transform(Transform::RealForward, &extended, 2 * (n + 1))?;
        negative(&imag(&self.segment(&spectrum, 1, n)?)?)
    }

    fn second(&self) -> Result<Array> {
        let n = self.length();
        let extended = self.concatenate(&[&self.x, &reversed(&self.x, self.axis)?])?;
        let spectrum = self.transform(Transform::RealForward, &extended, 2 * n)?;
        real(&self.twiddled(&self.segment(&spectrum, 0, n)?, -PI / (2 * n) as f64, 0.0)?)
    }

    fn third(&self) -> Result<Array> {
        let n = self.length();
        let spectrum = self.twiddled(&self.x, PI / (2 * n) as f64, 0.0)?;
        let spectrum = self.concatenate(&[&spectrum, &self.zeros(1)])?;
        self.segment(&self.transform(Transform::RealInverse, &spectrum, 2 * n)?, 0, n)
    }

    fn fourth(&self) -> Result<Array> {
        let n = self.length();
        let spectrum = self.twiddled(&self.x, -PI / (2 * n) as f64, 0.0)?;
        let padded = fit(&spectrum, self.axis, 2 * n)?;
        let result = self.segment(&self.transform(Transform::Forward, &padded, 2 * n)?, 0, n)?;
        let result = real(&self.twiddled(&result, -PI / (2 * n) as f64, 0.5)?)?;
        add(&result, &result)
    }

    /// Negate every other element, starting with the second.
    fn alternating(&self, x: &Array) -> Result<Array> {
        let sign = |index: usize| if index.is_multiple_of(2) { 1.0 } else { -1.0 };
        multiply(x, &factors_along(x, self.axis, sign)?)
    }

    /// Sine transforms of types 2 to 4 are cosine transforms of the input reversed or with alternating signs.
    fn run(&self, wave: Wave, kind: CosineType) -> Result<Array> {
        let with = |x: Array, run: fn(&Signal) -> Result<Array>| run(&Signal { x, axis: self.axis });
        match (kind, wave) {
            (CosineType::One, Wave::Cosine) => self.first_cosine(),
            (CosineType::One, Wave::Sine) => self.first_sine(),
            (CosineType::Two, Wave::Cosine) => self.second(),
            (CosineType::Three, Wave::Cosine) => self.third(),
            (CosineType::Four, Wave::Cosine) => self.fourth(),
            (CosineType::Two, Wave::Sine) => {
                reversed(&with(self.alternating(&self.x)?, Signal::second)?, self.axis)
            }
            (CosineType::Three, Wave::Sine) => {
                self.alternating(&with(reversed(&self.x, self.axis)?, Signal::third)?)
            }
            (CosineType::Four, Wave::Sine) => {
                self.alternating(&with(reversed(&self.x, self.axis)?, Signal::fourth)?)
            }
        }
    }
}

/// Factors along an axis of `x`, computed from the index.
fn factors_along(x: &Array, axis: usize, factor: impl Fn(usize) -> f64) -> Result<Array> {
    let count = x.shape()[axis];
    let aligned: Shape = (0..x.ndim()).map(|other| if other == axis { count } else { 1 }).collect();
    cast(&reshape(&factors(count, factor)?, aligned)?, x.dtype())
}

/// Multiply the elements at both ends.
fn scaled(x: &Array, axis: usize, [first, last]: [f64; 2]) -> Result<Array> {
    if first == 1.0 && last == 1.0 {
        return Ok(x.clone());
    }
    let end = x.shape()[axis] - 1;
    let factor_at = |index: usize, end: usize, factor: f64| if index == end { factor } else { 1.0 };
    multiply(x, &factors_along(x, axis, |index| factor_at(index, 0, first) * factor_at(index, end, last))?)
}

/// The factors of both end elements before and after the transform that make its matrix orthogonal.
fn end_factors(wave: Wave, kind: CosineType) -> [[f64; 2]; 2] {
    let ones = [1.0, 1.0];
    match (kind, wave) {
        (CosineType::One, Wave::Cosine) => [[SQRT_2, SQRT_2], [FRAC_1_SQRT_2, FRAC_1_SQRT_2]],
        (CosineType::Two, Wave::Cosine) => [ones, [FRAC_1_SQRT_2, 1.0]],
        (CosineType::Two, Wave::Sine) => [ones, [1.0, FRAC_1_SQRT_2]],
        (CosineType::Three, Wave::Cosine) => [[SQRT_2, 1.0], ones],
        (CosineType::Three, Wave::Sine) => [[1.0, SQRT_2], ones],
        (CosineType::One, Wave::Sine) | (CosineType::Four, Wave::Cosine | Wave::Sine) => [ones, ones],
    }
}

fn transformed(op: &str, wave: Wave, a: &Array, options: CosineOptions, norm: Norm) -> Result<Array> {
    if a.dtype().is_complex() {
        // The transform is real and linear: transform both parts.
        let parts = [real(a)?, imag(a)?].map(|part| transformed(op, wave, &part, options, norm));
        let [re, im] = parts;
        let unit = Array::scalar(Scalar::Complex(0.0, 1.0), a.dtype());
        return add(&cast(&re?, a.dtype())?, &multiply(&cast(&im?, a.dtype())?, &unit)?);
    }
    let axis = normalize_axis(op, options.axis, a.ndim())?;
    let kind = options.kind;
    let min_length = if kind == CosineType::One && wave == Wave::Cosine { 2 } else { 1 };
    let length = options.length.unwrap_or(a.shape()[axis] as i64);
    ensure!(
        length >= min_length,
        Value(op),
        "needs at least {min_length} elements along axis {axis}, got {length} (shape {})",
        a.shape()
    );
    let mut lengths: Vec<i64> = a.shape().iter().map(|&length| length as i64).collect();
    lengths[axis] = length.saturating_mul(2).saturating_add(2);
    Shape::checked(op, &lengths)?;
    let dtype = if a.dtype() == DType::Float64 { DType::Float64 } else { DType::Float32 };
    let x = fit(&cast(a, dtype)?, axis, length as usize)?;
    let period = match (kind, wave) {
        (CosineType::One, Wave::Cosine) => 2 * (length - 1),
        (CosineType::One, Wave::Sine) => 2 * (length + 1),
        (CosineType::Two | CosineType::Three | CosineType::Four, Wave::Cosine | Wave::Sine) => 2 * length,
    } as f64;
    let factor = match norm {
        Norm::Backward => 1.0,
        Norm::Ortho => period.sqrt().recip(),
        Norm::Forward => period.recip(),
    };
    let [before, after] = if options.is_orthogonal.unwrap_or(options.norm == Norm::Ortho) {
        end_factors(wave, kind)
    } else {
        [[1.0; 2]; 2]
    };
    let signal = Signal { x: scaled(&x, axis, before)?, axis };
    let result = scaled(&signal.run(wave, kind)?, axis, after)?;
    if factor == 1.0 { Ok(result) } else { multiply(&result, &weak(Scalar::Float(factor), &result)) }
}

/// The inverse transform has the inverse type and the opposite norm.
fn inverted(op: &str, wave: Wave, a: &Array, options: CosineOptions) -> Result<Array> {
    let inverse = CosineOptions { kind: options.kind.inverse(), ..options };
    transformed(op, wave, a, inverse, options.norm.inverse())
}

/// Discrete cosine transform along one axis.
///
/// float32, or float64 for float64. Real and imaginary parts of complex input are transformed separately.
///
/// Fails for an empty axis (fewer than two elements for type 1), or an axis that is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::Array;
/// use umber::ops::fft::{CosineOptions, CosineType, Norm, dct};
/// let options =
///     CosineOptions { kind: CosineType::Two, length: None, axis: -1, norm: Norm::Backward, is_orthogonal: None };
/// let y = dct(&Array::from([1.0, 1.0]), options)?.to_vec::<f64>()?;
/// assert!((y[0] - 4.0).abs() < 1e-12 && y[1].abs() < 1e-12);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn dct(a: &Array, options: CosineOptions) -> Result<Array> {
    transformed("dct", Wave::Cosine, a, options, options.norm)
}

/// Inverse of [`dct`] of the same type and norm.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Closeness};
/// use umber::ops::fft::{CosineOptions, CosineType, Norm, dct, idct};
/// let options =
///     CosineOptions { kind: CosineType::Two, length: None, axis: -1, norm: Norm::Backward, is_orthogonal: None };
/// let x = Array::from([1.0, 2.0, 4.0]);
/// let again = idct(&dct(&x, options)?, options)?;
/// assert!(ops::allclose(&again, &x, Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn idct(a: &Array, options: CosineOptions) -> Result<Array> {
    inverted("idct", Wave::Cosine, a, options)
}

/// Discrete sine transform along one axis.
///
/// float32, or float64 for float64. Real and imaginary parts of complex input are transformed separately.
///
/// Fails for an empty axis, or an axis that is out of bounds.
///
/// ```
/// # use umber_core as umber;
/// use umber::Array;
/// use umber::ops::fft::{CosineOptions, CosineType, Norm, dst};
/// let options =
///     CosineOptions { kind: CosineType::Two, length: None, axis: -1, norm: Norm::Backward, is_orthogonal: None };
/// let y = dst(&Array::from([1.0, -1.0]), options)?.to_vec::<f64>()?;
/// assert!(y[0].abs() < 1e-12 && (y[1] - 4.0).abs() < 1e-12);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn dst(a: &Array, options: CosineOptions) -> Result<Array> {
    transformed("dst", Wave::Sine, a, options, options.norm)
}

/// Inverse of [`dst`] of the same type and norm.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops, ops::Closeness};
/// use umber::ops::fft::{CosineOptions, CosineType, Norm, dst, idst};
/// let options =
///     CosineOptions { kind: CosineType::Three, length: None, axis: -1, norm: Norm::Ortho, is_orthogonal: None };
/// let x = Array::from([1.0, 2.0, 4.0]);
/// let again = idst(&dst(&x, options)?, options)?;
/// assert!(ops::allclose(&again, &x, Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn idst(a: &Array, options: CosineOptions) -> Result<Array> {
    inverted("idst", Wave::Sine, a, options)
}
