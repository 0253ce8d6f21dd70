//! Rotary position embeddings.

use umber_types::{DType, Pairing, Result, Shape, ensure};

use super::record;
use crate::graph::{Array, Inputs};
use crate::primitives::composite::{Composite, Parameter, Rope, RotationDirection};
use crate::primitives::rules::{cast, reshape};

/// The angle between consecutive positions.
#[derive(Clone, Copy, Debug)]
pub enum Frequencies<'a> {
    /// `base^(-2 i / dims)` for the pair `i`.
    Powers(f64),
    /// The reciprocal of element `i` of a vector.
    Explicit(&'a Array),
}

/// The features to rotate and the angles.
#[derive(Clone, Copy, Debug)]
pub struct Rotation<'a> {
    /// The number of rotated features, an even number.
    pub dims: i64,
    /// The pairing of the features.
    pub pairing: Pairing,
    /// The angular frequencies of the pairs.
    pub frequencies: Frequencies<'a>,
    /// Factor by which positions are multiplied.
    pub scale: f64,
}

/// Rotary position embedding: rotate pairs of features by angles proportional to the position.
///
/// `a` is `[..., t, d]`. Pair `i` of its first `dims` features rotates by `(t + offset) * scale * base^(-2 i / dims)`,
/// or by `(t + offset) * scale` over a given period; the other features are unchanged. `offset` is one integer, or one for each
/// entry of the first axis. The result has the shape and dtype of `a`. Angles are computed in float64, the rotation in float32
/// at least.
/// Fails for an odd or too large number of features, fewer than two axes, dtypes that are not real floating point,
/// offsets that are not integers, and shapes that do not match. J. Su et al., RoFormer, 2021.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops::fast};
/// use umber::types::Pairing;
/// let quarter = Array::from([std::f64::consts::FRAC_2_PI]);
/// let turn = fast::Rotation {
///     dims: 2,
///     pairing: Pairing::Neighbours,
///     frequencies: fast::Frequencies::Explicit(&quarter),
///     scale: 1.0,
/// };
/// let y = fast::rope(&Array::from([[1.0, 2.0], [1.0, 2.0]]), turn, &Array::from(0))?.to_vec::<f64>()?;
/// assert!(y.iter().zip([1.0, 2.0, -2.0, 1.0]).all(|(y, expected)| (y - expected).abs() < 1e-12));
/// # Ok::<(), umber::Error>(())
/// ```
pub fn rope(a: &Array, rotation: Rotation<'_>, offset: &Array) -> Result<Array> {
    let Rotation { dims, pairing, frequencies, scale } = rotation;
    ensure!(
        a.ndim() >= 2,
        Value("rope"),
        "array must have at least 2 axes (positions, features), got shape {}",
        a.shape()
    );
    ensure!(
        a.dtype().is_floating(),
        Type("rope"),
        "dtype {} is not supported, expected real floating-point numbers",
        a.dtype()
    );
    let features = a.shape()[a.ndim() - 1];
    ensure!(
        dims > 0 && dims % 2 == 0 && dims as u64 <= features as u64,
        Value("rope"),
        "dims must be even, from 2 to the {features} features, got {dims}"
    );
    let half = dims as usize / 2;
    let mut inputs: Inputs = [a.clone(), aligned(a, offset)?].into_iter().collect();
    let base = match frequencies {
        Frequencies::Powers(base) => Some(Parameter::new(base)),
        Frequencies::Explicit(periods) => {
            ensure!(
                periods.shape()[..] == [half] && !periods.dtype().is_complex(),
                Value("rope"),
                "freqs must be {half} real numbers, got shape {} and dtype {}",
                periods.shape(),
                periods.dtype()
            );
            inputs.push(cast(periods, DType::Float64)?);
            None
        }
    };
    let scale = Parameter::new(scale);
    let rope = Rope { dims: 2 * half, pairing, direction: RotationDirection::Forwards, base, scale };
    record(Composite::Rope(rope), inputs)
}

/// The offset of each sample, with axes of length one appended to broadcast over the other batch axes of `a`.
fn aligned(a: &Array, offset: &Array) -> Result<Array> {
    let batch = a.ndim() - 2;
    ensure!(offset.dtype().is_integer(), Type("rope"), "offset must be integer, not {}", offset.dtype());
    let samples = if batch > 0 { a.shape()[0] } else { 1 };
    let fits = offset.ndim() == 0 || offset.ndim() == 1 && (offset.size() == 1 || offset.size() == samples);
    ensure!(
        fits,
        Value("rope"),
        "offset must be a scalar or have shape ({samples},), got shape {}",
        offset.shape()
    );
    let shape: Shape = match offset.size() {
        1 => Shape::scalar(),
        _ => std::iter::once(samples).chain(std::iter::repeat_n(1, batch.saturating_sub(1))).collect(),
    };
    cast(&reshape(offset, shape)?, DType::Int64)
}
