//! Composites: operations defined by simpler operations, for which a backend may have a kernel.
//!
//! A composite works along its last axes and treats the others as batch axes, so that `vmap` only adds a leading axis.
//! Its `decompose` defines it; the CPU kernel is an optimisation and is tested against it.

mod attention;
mod deviations;
mod gated_delta;
mod layer_norm;
mod logsumexp;
mod rms_norm;
mod rope;
mod shifted_logsumexp;
mod softmax;

use smallvec::smallvec;
use umber_types::{Axes, BinaryKind, DType, Result, Shape, UnaryKind, ensure};

pub(crate) use self::attention::lowest_of;
pub use self::attention::{Attention, AttentionGradient};
pub use self::deviations::{Dispersion, MeanParts, Measure};
pub use self::gated_delta::GatedDelta;
pub use self::layer_norm::LayerNorm;
pub use self::logsumexp::LogSumExp;
pub use self::rms_norm::RmsNorm;
pub use self::rope::{Rope, RotationDirection};
pub use self::shifted_logsumexp::ShiftedLogSumExp;
pub(crate) use self::shifted_logsumexp::{Shifted, shifted_logsumexp};
pub use self::softmax::Softmax;
use super::reduce;
use super::rules::{binary, broadcast, cast, constant, reshape, sub, unary, widened};
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::op::Op;
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// The rules of an operation that is defined by simpler ones.
pub trait Decompose {
    /// The name users see.
    fn name(&self) -> &'static str;

    /// Shapes and dtypes of the outputs.
    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs>;

    /// Are these inputs that the functions in `ops` could have recorded it on? See [`Primitive::validate`].
    fn validate(&self, site: &Site<'_>) -> Result<()>;

    /// The operation at other lengths. See [`Primitive::generalize`].
    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized>;

    /// An equal graph of simpler nodes.
    fn decompose(&self, inputs: &[Array]) -> Result<Vec<Array>>;

    /// Pull cotangents back in closed form; without one they go through the decomposition.
    fn vjp(&self, _at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        None
    }

    /// Push tangents forward in closed form; without one they go through the decomposition.
    fn jvp(&self, _at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        None
    }

    /// The operation with a batch axis in front of some inputs; without a rule the decomposition is batched.
    fn vmap(&self, _inputs: &[Batched]) -> Rule<Vec<Batched>> {
        None
    }

    /// Run the CPU kernel.
    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()>;
}

/// `enum Composite` with one variant per composite.
macro_rules! composites {
    ($($(#[$attribute:meta])* $ty:ident,)*) => {
        /// An operation that is defined by simpler ones.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum Composite {
            $($(#[$attribute])* $ty($ty),)*
        }

        $(impl From<$ty> for Op {
            fn from(composite: $ty) -> Op {
                Op::Composite(Composite::$ty(composite))
            }
        })*

        impl Composite {
            fn rules(&self) -> &dyn Decompose {
                match self { $(Composite::$ty(composite) => composite,)* }
            }
        }
    };
}

// The list of composites.
composites! {
    /// `exp(x) / sum(exp(x))` along the last axis.
    Softmax,
    /// `log(sum(exp(x)))` along the last axis, which is removed.
    LogSumExp,
    /// The maximum of the last axis, and `log(sum(exp(x - max(x))))`; the axis is removed.
    ShiftedLogSumExp,
    /// Elements of the last axis normalised to mean zero and variance one, then scaled and shifted.
    LayerNorm,
    /// Elements of the last axis divided by their root mean square, then scaled.
    RmsNorm,
    /// Rotary position embedding: pairs of features rotated by angles proportional to the position.
    Rope,
    /// Scaled dot-product attention.
    Attention,
    /// The cotangents of the inputs of an attention.
    AttentionGradient,
    /// The recurrence of gated delta networks.
    GatedDelta,
    /// The variance or the standard deviation over adjacent axes.
    #[serde(rename = "Spread")]
    Dispersion,
    /// The mean over adjacent axes, as a sum of two numbers.
    MeanParts,
}

impl Primitive for Composite {
    fn name(&self) -> &'static str {
        self.rules().name()
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        self.rules().infer(inputs)
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        self.rules().validate(site)
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        self.rules().generalize(change)
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        self.rules().vjp(at, cotangents)
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        self.rules().jvp(at, tangents)
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        self.rules().vmap(inputs)
    }

    fn expand(&self, inputs: &[Array]) -> Rule<Vec<Array>> {
        Some(self.rules().decompose(inputs))
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        self.rules().eval_cpu(task)
    }
}

/// Vmap of a composite that works on the rows of its first input: the same operation on more rows.
fn batch_rows(composite: impl Into<Op>, inputs: &[Batched]) -> Rule<Vec<Batched>> {
    // The kernels have one weight for all rows: with batched weights the decomposition is batched.
    if !inputs[0].batched || inputs[1..].iter().any(|input| input.batched) {
        return None;
    }
    rule(|| {
        let arrays = inputs.iter().map(|input| input.array.clone()).collect();
        Ok(Batched::all(Array::record(composite, arrays)?))
    })
}

/// [`Softmax`] of an array with at least one axis; complex numbers have no kernel.
pub(crate) fn softmax(x: &Array, softmax: Softmax) -> Result<Array> {
    record(Composite::Softmax(softmax), x)
}

/// [`LogSumExp`] of an array with at least one axis; complex numbers have no kernel.
pub(crate) fn logsumexp(x: &Array) -> Result<Array> {
    record(Composite::LogSumExp(LogSumExp), x)
}

fn record(composite: Composite, x: &Array) -> Result<Array> {
    if x.dtype().is_complex() {
        let mut outputs = composite.rules().decompose(std::slice::from_ref(x))?;
        return Ok(outputs.pop().expect("one output"));
    }
    Array::record_one(composite, &[x])
}

/// A real parameter that compares and hashes by its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Parameter(u64);

impl Parameter {
    /// The parameter with this value.
    pub fn new(value: f64) -> Parameter {
        Parameter(value.to_bits())
    }

    /// Its value.
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// The last axis of an array, which must have one.
fn last_axis(x: &Array) -> Axes {
    Axes::one(x.ndim() - 1)
}

/// `x` without its last axis, which has length one.
fn drop_last(x: &Array) -> Result<Array> {
    reshape(x, &x.shape()[..x.ndim() - 1])
}

/// The dtype that computations on `dtype` use: float32 for 16-bit floats.
fn work(dtype: DType) -> DType {
    if dtype.is_half() { DType::Float32 } else { dtype }
}

/// Sum over the last axis, broadcast to the shape of `x`.
fn sum_last(x: &Array) -> Result<Array> {
    broadcast(&reduce::sum(x, &last_axis(x))?, x.shape())
}

/// Mean over the last axis, broadcast to the shape of `x`.
fn mean_last(x: &Array) -> Result<Array> {
    broadcast(&reduce::mean(x, &last_axis(x))?, x.shape())
}

/// `x - mean(x)` over adjacent axes, in the dtype that `x` computes in. The mean is subtracted as a rounded value and its
/// rounding error: for elements far from zero the rounding error of the mean may be as large as their differences.
fn centred(x: &Array, axes: &Axes) -> Result<Array> {
    let first = axes.first().map_or(0, |&first| first as u32);
    let parts = Composite::MeanParts(MeanParts { first, count: axes.len() as u32 });
    let parts = Array::record(parts, smallvec![x.clone()])?;
    parts.iter().try_fold(widened(x)?, |difference, part| sub(&difference, &broadcast(part, x.shape())?))
}

/// The standard deviation along the last axis, which keeps length one.
fn deviation_last(x: &Array) -> Result<Array> {
    let first = x.ndim() as u32 - 1;
    let dispersion = Dispersion { first, count: 1, ddof: Parameter::new(0.0), measure: Measure::Deviation };
    Array::record_one(Composite::Dispersion(dispersion), &[x])
}

/// `1 / sqrt(length² + eps)` without computing the square, which may overflow or underflow.
fn inverse_length(length: &Array, epsilon: f64) -> Result<Array> {
    let root = if epsilon == 0.0 {
        length.clone()
    } else {
        binary(BinaryKind::Hypot, length, &constant(length, epsilon.sqrt()))?
    };
    unary(UnaryKind::Reciprocal, &root)
}

/// A vector of weights cast to the dtype of `x` and repeated along its batch axes.
fn broadcast_parameter(weight: &Array, x: &Array) -> Result<Array> {
    let length = x.shape()[x.ndim() - 1];
    let row: Shape = std::iter::repeat_n(1, x.ndim() - 1).chain([length]).collect();
    broadcast(&reshape(&cast(weight, x.dtype())?, row)?, x.shape())
}

/// Check that `weight` is a vector as long as the last axis of `x`.
fn check_weight(op: &str, name: &str, x: &ArraySpec, weight: &ArraySpec) -> Result<()> {
    let length = x.shape.last().copied();
    ensure!(
        weight.shape.ndim() == 1 && weight.shape.first().copied() == length,
        Value(op),
        "{name} must be one-dimensional and match the last axis of x, got shapes {} and {}",
        weight.shape,
        x.shape
    );
    Ok(())
}
