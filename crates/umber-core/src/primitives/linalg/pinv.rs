//! Pinv: the Moore-Penrose pseudo-inverse.

use smallvec::smallvec;
use umber_types::{Result, Shape};

use super::{adjoint, batch_of, described, product, vmap_stack};
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Cotangents, CpuTask, Point, Primitive, Rule, rule};
use crate::primitives::rules::{add, sub};
use crate::validation::Site;

/// The pseudo-inverse. Singular values up to `tolerance` times the largest count as zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Pinv {
    /// The bits of the tolerance, an `f64`.
    tolerance: u64,
}

impl Pinv {
    /// A pseudo-inverse with this relative tolerance.
    pub fn new(tolerance: f64) -> Pinv {
        Pinv { tolerance: tolerance.to_bits() }
    }
}

impl Primitive for Pinv {
    fn name(&self) -> &'static str {
        "linalg.pinv"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let shape = &inputs[0].shape;
        let (m, n) = (shape[shape.ndim() - 2], shape[shape.ndim() - 1]);
        let shape: Shape = batch_of(shape).iter().copied().chain([n, m]).collect();
        Ok(ArraySpec { shape, dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)?;
        site.matrices(0)
    }

    any_lengths!();

    // G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
    // variables separate", SIAM J. Numer. Anal. 10 (1973), for constant rank:
    // dP = -P dA P + P Pᴴ dAᴴ (I - A P) + (I - P A) dAᴴ Pᴴ P.
    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let (a, p, ct) = (&at.inputs[0], &at.outputs[0], &cotangents[0]);
            let (ph, cth) = (adjoint(p)?, adjoint(ct)?);
            let inner = product(&ph, ct, &ph)?;
            let left = product(&cth, p, &ph)?;
            let left = sub(&left, &product(a, p, &left)?)?;
            let right = product(&ph, p, &cth)?;
            let right = sub(&right, &product(&right, p, a)?)?;
            Ok(smallvec![Some(sub(&add(&left, &right)?, &inner)?)])
        })
    }

    vmap_stack!();

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        task.run_one(|inputs, output| {
            let outcome = umber_numerics::linalg::pinv(f64::from_bits(self.tolerance), inputs[0], &output);
            described(
                outcome,
                "pinv",
                "has singular values that do not converge",
                batch_of(inputs[0].shape()),
            )
        })
    }
}
