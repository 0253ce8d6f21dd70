//! Create: arrays computed from parameters, without inputs.

use smallvec::SmallVec;
use umber_types::{DType, Result, Scalar, Shape};

use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, FusionRole, Point, Primitive, Rule};
use crate::validation::Site;

/// An array filled with one value. It becomes a constant in fused kernels. `infer` does not know its shape: the node is built
/// with its spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Full {
    /// The value, already of the array's dtype.
    pub value: Scalar,
}

/// `start + i * step` for `i` in `0..length`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Arange(pub Box<ArangeParameters>);

/// The parameters of [`Arange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ArangeParameters {
    /// First element.
    pub start: Scalar,
    /// Difference between adjacent elements.
    pub step: Scalar,
    /// Number of elements.
    pub length: u64,
    /// Their dtype.
    pub dtype: DType,
}

/// A matrix with ones on (or on and below) a diagonal, zeros elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Eye(pub Box<EyeParameters>);

/// The parameters of [`Eye`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct EyeParameters {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Offset of the diagonal: above the main diagonal if positive.
    pub diagonal: i64,
    /// Ones below the diagonal too?
    pub fill_below: bool,
    /// The dtype.
    pub dtype: DType,
}

/// Rules of an operation without inputs: transforms never call them.
macro_rules! no_inputs {
    () => {
        fn vjp(&self, _at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
            Some(Ok(SmallVec::new()))
        }
        fn vmap(&self, _inputs: &[Batched]) -> Rule<Vec<Batched>> {
            None
        }
    };
}

impl Primitive for Full {
    fn name(&self) -> &'static str {
        "full"
    }

    fn infer(&self, _inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec { shape: Shape::scalar(), dtype: self.value.default_dtype() }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.is_no_step()
    }

    any_lengths!();

    no_inputs!();

    fn fusion_role(&self) -> FusionRole {
        FusionRole::Constant
    }

    fn takes_float8(&self) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|_, output| {
            umber_kernels::create::fill(self.value, output);
            Ok(())
        })
    }
}

impl Primitive for Arange {
    fn name(&self) -> &'static str {
        "arange"
    }

    fn infer(&self, _inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec::new([self.0.length as usize], self.0.dtype).into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.is_no_step()
    }

    any_lengths!();

    no_inputs!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|_, output| {
            umber_kernels::create::arange(self.0.start, self.0.step, output);
            Ok(())
        })
    }
}

impl Primitive for Eye {
    fn name(&self) -> &'static str {
        if self.0.fill_below { "tri" } else { "eye" }
    }

    fn infer(&self, _inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec::new([self.0.rows, self.0.columns], self.0.dtype).into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.is_no_step()
    }

    any_lengths!();

    no_inputs!();

    fn takes_float8(&self) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let EyeParameters { diagonal, fill_below, .. } = *self.0;
        task.run_one(|_, output| {
            if fill_below {
                umber_kernels::create::tri(diagonal as isize, output);
            } else {
                umber_kernels::create::eye(diagonal as isize, output);
            }
            Ok(())
        })
    }
}
