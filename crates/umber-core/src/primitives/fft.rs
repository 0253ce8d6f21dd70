//! Fft: one-dimensional discrete Fourier transforms along an axis.

use smallvec::smallvec;
use umber_numerics::fft::{Scaling, Transform};
use umber_types::{DType, Result, Shape, error};

use super::rules::{broadcast, cast, linear_jvp, mul, reshape};
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// A transform of length `length` along an axis, of float32 and complex64 or of float64 and complex128 arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Fft {
    /// Which transform.
    pub transform: Transform,
    /// The factor that the results are multiplied by.
    pub scaling: Scaling,
    /// Along which axis.
    pub axis: usize,
    /// Length of the transform: for real transforms, the length of the real side.
    pub length: usize,
}

/// The default length of a transform of `input_length` elements.
pub(crate) fn natural_length(transform: Transform, input_length: usize) -> i64 {
    match transform {
        Transform::Forward | Transform::Inverse | Transform::RealForward => input_length as i64,
        Transform::RealInverse => 2 * (input_length as i64 - 1),
    }
}

/// `factor(0), …, factor(count - 1)` as a float64 array.
pub(crate) fn factors(count: usize, factor: impl Fn(usize) -> f64) -> Result<Array> {
    let mut factors: Vec<f64> = Vec::new();
    factors
        .try_reserve_exact(count)
        .map_err(|_| error!(Memory("fft"), "out of memory for {count} twiddle factors"))?;
    factors.extend((0..count).map(factor));
    Array::from_slice(&factors, [count])
}

impl Fft {
    /// The transform of `x`.
    pub(crate) fn apply(self, x: &Array) -> Result<Array> {
        Array::record_one(self, &[x])
    }

    /// The same transform for an input of length `new`, if it has the default length for `old`.
    pub(crate) fn of_lines(self, old: usize, new: usize) -> Option<Fft> {
        let natural = |input_length| usize::try_from(natural_length(self.transform, input_length)).ok();
        let length = natural(new).filter(|_| natural(old) == Some(self.length))?;
        Some(Fft { length, ..self })
    }

    fn with_transform(self, transform: Transform) -> Fft {
        Fft { transform, ..self }
    }

    /// `x`, half of a Hermitian spectrum, with the elements that represent a conjugate pair multiplied by `factor`.
    fn weigh_pairs(self, x: &Array, factor: f64) -> Result<Array> {
        let half = self.length / 2 + 1;
        // The zero frequency has no conjugate partner, nor has the Nyquist frequency of an even length.
        let is_unpaired = |k: usize| k == 0 || 2 * k == self.length;
        let weights = factors(half, |k| if is_unpaired(k) { 1.0 } else { factor })?;
        let ones: Shape = std::iter::repeat_n(1, x.ndim()).collect();
        let shape = ones.with(self.axis, half);
        let weights = cast(&reshape(&weights, shape)?, x.dtype())?;
        mul(x, &broadcast(&weights, x.shape())?)
    }
}

impl Primitive for Fft {
    fn name(&self) -> &'static str {
        match self.transform {
            Transform::Forward => "fft",
            Transform::Inverse => "ifft",
            Transform::RealForward => "rfft",
            Transform::RealInverse => "irfft",
        }
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let dtype: DType = match self.transform {
            Transform::Forward | Transform::Inverse => inputs[0].dtype,
            Transform::RealForward => inputs[0].dtype.complex(),
            Transform::RealInverse => inputs[0].dtype.real(),
        };
        let [_, length] = self.transform.lengths(self.length);
        Ok(ArraySpec { shape: inputs[0].shape.with(self.axis, length), dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.axis(self.axis)?;
        let [from, _] = self.transform.lengths(self.length);
        let dtype = site.inputs[0].dtype;
        match self.transform {
            Transform::Forward | Transform::Inverse | Transform::RealInverse => {
                site.must(dtype.is_complex(), "complex numbers")?;
            }
            Transform::RealForward => {
                site.must(matches!(dtype, DType::Float32 | DType::Float64), "real numbers of 32 or 64 bits")?;
            }
        }
        let fits = self.length > 0 && site.inputs[0].shape[self.axis] == from;
        site.must(fits, &format!("{from} elements"))
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let [old, new] = [&change.old, &change.new].map(|specs| specs[0].shape[self.axis]);
        Some(Generalized::of(if old == new { *self } else { self.of_lines(old, new)? }))
    }

    fn vjp(&self, _at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        // The DFT matrix is symmetric, so its adjoint is the DFT of opposite sign. Half spectra represent conjugate pairs by
        // one element, which is therefore weighted by 1/2 or 2.
        rule(|| {
            let ct = &cotangents[0];
            Ok(smallvec![Some(match self.transform {
                Transform::Forward => self.with_transform(Transform::Inverse).apply(ct)?,
                Transform::Inverse => self.with_transform(Transform::Forward).apply(ct)?,
                Transform::RealForward => {
                    self.with_transform(Transform::RealInverse).apply(&self.weigh_pairs(ct, 0.5)?)?
                }
                Transform::RealInverse => {
                    self.weigh_pairs(&self.with_transform(Transform::RealForward).apply(ct)?, 2.0)?
                }
            })])
        })
    }

    fn jvp(&self, _at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| linear_jvp(*self, tangents))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let inner = Fft { axis: self.axis + 1, ..*self };
            Ok(vec![Batched::yes(inner.apply(&inputs[0].array)?)])
        })
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            umber_numerics::fft::fft(self.transform, self.scaling, self.length, self.axis, inputs[0], output)
        })
    }
}
