//! Linear algebra on stacks of matrices: the last two axes are a matrix, the others are batch axes.
//!
//! faer does the arithmetic on column-major copies, except for stacks of small systems (`batched_solve`) and the reduction of
//! large symmetric matrices (`tridiagonal`). Threads split the stack, the columns of inverses, and the panel updates of large
//! matrices (`panels`).
//! Results are dense. A matrix without a result does not stop the others; the index of the first one is reported at the end.

mod adjugate;
mod batch;
mod batched_solve;
mod cholesky;
mod eig;
mod eigh;
mod equilibrate;
mod expm;
mod field;
mod householder;
mod inverse;
mod inverse_iteration;
mod lu;
mod panels;
mod pinv;
mod qr;
mod solve;
mod svd;
mod tridiagonal;

pub use adjugate::adjugate;
pub use cholesky::cholesky;
pub use eig::eig;
pub use eigh::eigh;
pub use expm::expm;
pub use inverse::{OnSingular, inverse};
pub use lu::{determinant, lu, sign_and_log_determinant};
pub use pinv::pinv;
pub use qr::qr;
pub use solve::{Form, solve};
pub use svd::svd;

/// Why the computation of a stack of matrices failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Index in the stack of the first matrix without a result.
    Matrix(usize),
    /// An allocation of this many bytes of scratch failed.
    Memory(usize),
}
