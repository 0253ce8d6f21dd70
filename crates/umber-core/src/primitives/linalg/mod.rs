//! Linear algebra: factorisations of the matrices along the last two axes, and what has no short formula in them.
//!
//! Inputs are float32, float64, complex64 or complex128. A matrix that has no answer is an error when the node is
//! evaluated, and the error says which matrix. Derivatives are those at regular points; where a factorisation may be
//! turned by a phase or a rotation, derivatives do not turn it, which is right for whatever does not depend on it.

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

/// A kernel's failure as the error of the function `name`; `what` says what is wrong with the matrix, `batch` how the
/// matrices are counted.
fn explained(
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
            let mut rest = index;
            let mut place: Vec<usize> = batch
                .iter()
                .rev()
                .map(|&length| {
                    let i = rest % length;
                    rest /= length;
                    i
                })
                .collect();
            place.reverse();
            format!("matrix {} of the batch", umber_types::Shape::from(place))
        }
    };
    Err(error!(Runtime(format_args!("linalg.{name}")), "{which} {what}"))
}

/// The axes that count the matrices.
fn batch_of(shape: &[usize]) -> &[usize] {
    &shape[..shape.len() - 2]
}

/// Vmap of an operation on one stack of matrices: the same on a taller stack.
macro_rules! taller_stack {
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
use taller_stack;
