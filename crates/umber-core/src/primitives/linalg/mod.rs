//! Linear algebra on the last two axes: factorisations, and operations that are not simple formulas of factorisations.
//!
//! Inputs are float32, float64, complex64 or complex128. A matrix for which an operation fails (a singular matrix, for example)
//! is an error when the node is evaluated; the error names the index of the matrix. Derivatives assume regular points. Where
//! a factorisation is unique only up to a phase or rotation, derivatives keep the phase or rotation fixed: they are right for
//! functions that do not depend on it.

mod algebra;
mod cholesky;
mod determinant;
mod eig;
mod eigh;
mod expm;
mod inverse;
mod lu;
mod pinv;
mod qr;
mod solve;
mod svd;

use umber_numerics::linalg::Failure;
use umber_types::{Result, error};

pub(crate) use self::algebra::*;
pub use self::cholesky::Cholesky;
pub use self::determinant::{Adjugate, Determinant, SignedLog};
pub use self::eig::Eig;
pub use self::eigh::Eigh;
pub use self::expm::Expm;
pub use self::inverse::Inverse;
pub use self::lu::Lu;
pub(crate) use self::lu::{unpack_lower, unpack_upper};
pub use self::pinv::Pinv;
pub use self::qr::{Basis, Qr};
pub use self::solve::Solve;
pub(crate) use self::solve::{solve, solve_shared};
pub use self::svd::{Svd, Vectors};

/// A kernel's failure as the error of the function `name`. `what` describes the defect of the matrix; `batch` are the lengths of
/// the batch axes.
fn described(
    outcome: std::result::Result<(), Failure>,
    name: &str,
    what: &str,
    batch: &[usize],
) -> Result<()> {
    let index = match outcome {
        Ok(()) => return Ok(()),
        Err(Failure::Memory(bytes)) => {
            return Err(error!(
                Memory(format_args!("linalg.{name}")),
                "out of memory: cannot allocate {bytes} bytes of scratch"
            ));
        }
        Err(Failure::Matrix(index)) => index,
    };
    let which = match batch {
        [] => "the matrix".to_owned(),
        [_] => format!("matrix {index} of the batch"),
        _ => {
            let mut remainder = index;
            let mut indices: Vec<usize> = batch
                .iter()
                .rev()
                .map(|&length| {
                    let i = remainder % length;
                    remainder /= length;
                    i
                })
                .collect();
            indices.reverse();
            format!("matrix {} of the batch", umber_types::Shape::from(indices))
        }
    };
    Err(error!(Runtime(format_args!("linalg.{name}")), "{which} {what}"))
}

/// The batch axes: all but the last two.
fn batch_of(shape: &[usize]) -> &[usize] {
    &shape[..shape.len() - 2]
}

/// Vmap of an operation with one input: every leading axis is a batch axis, so that the operation is recorded unchanged.
macro_rules! vmap_stack {
    () => {
        fn vmap(
            &self,
            inputs: &[crate::primitive::Batched],
        ) -> crate::primitive::Rule<Vec<crate::primitive::Batched>> {
            crate::primitive::rule(|| {
                let input = smallvec::smallvec![inputs[0].array.clone()];
                Ok(crate::primitive::Batched::all(Array::record(self.clone(), input)?))
            })
        }
    };
}
use vmap_stack;
