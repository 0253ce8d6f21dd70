//! Linear algebra on stacks of matrices: the last two axes are a matrix, the others count them.
//!
//! faer does the arithmetic, on column-major copies, but for stacks of small systems (`batched_solve`) and the reduction of
//! large symmetric matrices (`tridiagonal`); threads share the stack, the columns of inverses, and what a panel of a large
//! matrix does to the others (`panels`).
//! Results are dense. A matrix that has no answer does not stop the others: the first such one is named at the end.

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

/// Why a stack of matrices was not worked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The first matrix, counted through the whole stack, that has no answer.
    Matrix(usize),
    /// So many bytes of scratch could not be had.
    Memory(usize),
}
