//! The straight-line program of a fused region: plain data that each backend interprets or compiles.
//!
//! Values have ids: first the inputs, in order, then the result of each step. All values have the region's shape;
//! inputs are broadcast to it by their strides. Outputs are the ids of the values to store.

use std::fmt;

use crate::{BinaryKind, DType, Scalar, TernaryKind, UnaryKind};

/// The id of a value: `0..inputs.len()` are inputs, followed by one for each step.
pub type ValueId = u32;

/// One step of a tape, which defines the next value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A constant.
    Constant {
        /// The constant.
        value: Scalar,
        /// Its dtype.
        dtype: DType,
    },
    /// A function of one value.
    Unary {
        /// The function.
        kind: UnaryKind,
        /// Its argument.
        x: ValueId,
    },
    /// A function of two values of the same dtype.
    Binary {
        /// The function.
        kind: BinaryKind,
        /// First argument.
        a: ValueId,
        /// Second argument.
        b: ValueId,
    },
    /// A function of three values of the same floating dtype.
    Ternary {
        /// The function.
        kind: TernaryKind,
        /// First argument.
        a: ValueId,
        /// Second argument.
        b: ValueId,
        /// Third argument.
        c: ValueId,
    },
    /// `a` where `condition` (a bool) is true, otherwise `b`.
    Select {
        /// Bool value.
        condition: ValueId,
        /// Result where it is true.
        a: ValueId,
        /// Result elsewhere.
        b: ValueId,
    },
    /// The value converted to another dtype.
    Cast {
        /// Its argument.
        x: ValueId,
        /// The dtype to convert to.
        to: DType,
    },
}

/// A straight-line elementwise program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Tape {
    /// Dtypes of the inputs.
    pub inputs: Vec<DType>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Values to store, in the order of the outputs.
    pub outputs: Vec<ValueId>,
}

/// The dtype of a unary function's result.
pub const fn unary_dtype(kind: UnaryKind, x: DType) -> DType {
    match kind {
        UnaryKind::Abs | UnaryKind::Real | UnaryKind::Imag => x.real(),
        _ if kind.returns_bool() => DType::Bool,
        _ => x,
    }
}

/// The dtype of a binary function's result.
pub const fn binary_dtype(kind: BinaryKind, a: DType) -> DType {
    if kind.returns_bool() { DType::Bool } else { a }
}

/// The steps as text: `exp v0, multiply v1 v0` defines the values v1 and v2.
impl fmt::Display for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            match step {
                Step::Constant { value, .. } => write!(f, "{value}")?,
                Step::Unary { kind, x } => write!(f, "{} v{x}", kind.name())?,
                Step::Binary { kind, a, b } => write!(f, "{} v{a} v{b}", kind.name())?,
                Step::Ternary { kind, a, b, c } => write!(f, "{} v{a} v{b} v{c}", kind.name())?,
                Step::Select { condition, a, b } => write!(f, "where v{condition} v{a} v{b}")?,
                Step::Cast { x, to } => write!(f, "{to} v{x}")?,
            }
        }
        Ok(())
    }
}

impl Tape {
    /// The dtype of every value, inputs first.
    pub fn dtypes(&self) -> Vec<DType> {
        let mut dtypes = self.inputs.clone();
        for step in &self.steps {
            let dtype = match *step {
                Step::Constant { dtype, .. } => dtype,
                Step::Unary { kind, x } => unary_dtype(kind, dtypes[x as usize]),
                Step::Binary { kind, a, .. } => binary_dtype(kind, dtypes[a as usize]),
                Step::Ternary { a, .. } | Step::Select { a, .. } => dtypes[a as usize],
                Step::Cast { to, .. } => to,
            };
            dtypes.push(dtype);
        }
        dtypes
    }
}

impl Step {
    /// The values this step reads.
    pub fn operands(&self) -> smallvec::SmallVec<[ValueId; 3]> {
        match *self {
            Step::Constant { .. } => smallvec::smallvec![],
            Step::Unary { x, .. } | Step::Cast { x, .. } => smallvec::smallvec![x],
            Step::Binary { a, b, .. } => smallvec::smallvec![a, b],
            Step::Ternary { a, b, c, .. } => smallvec::smallvec![a, b, c],
            Step::Select { condition, a, b } => smallvec::smallvec![condition, a, b],
        }
    }
}
