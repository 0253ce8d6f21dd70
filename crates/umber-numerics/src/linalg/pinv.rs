//! Moore-Penrose pseudo-inverses.

use faer::linalg::matmul::matmul;
use faer::linalg::svd::ComputeSvdVectors;
use faer::{Accum, MatMut, MatRef, Par};
use num_traits::Float;
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, cost, filled, for_each_matrix};
use super::field::{Field, nan};
use super::svd::Decomposer;
use umber_kernels_base::{View, ViewMut};

/// The pseudo-inverse of each matrix. Singular values below `tolerance` times the largest count as zero. Matrices with
/// infinities or NaN have NaN everywhere.
///
/// # Panics
/// If dtypes and shapes do not fit together.
pub fn pinv(tolerance: f64, a: View, x: &ViewMut) -> Result<(), Failure> {
    match_dtype!(field a.dtype(), T => pseudo_inverses::<T>(tolerance, a, x), else => panic!("matrices of {}", a.dtype()))
}

fn pseudo_inverses<T: Field>(tolerance: f64, a: View, x: &ViewMut) -> Result<(), Failure> {
    let (from, to) = (Matrices::<T>::of(a), Results::<T>::of(x, 2));
    let (rows, columns) = (from.rows(), from.columns());
    let size = rows.min(columns);
    let scratch = || {
        let svd = Decomposer::<T>::new(rows, columns, ComputeSvdVectors::Thin)?;
        Ok((svd, filled(T::zero(), rows * columns)?))
    };
    let work = cost(rows, columns, size).saturating_mul(8);
    for_each_matrix(from.count(), work, scratch, |index, (svd, values)| {
        from.load(index, &mut svd.matrix);
        let done = svd.decompose();
        if size > 0 && !svd.values[0].is_finite_number() {
            values.fill(nan());
        } else if size > 0 {
            invert_values::<T>(svd, tolerance, columns);
            matmul(
                MatMut::from_column_major_slice_mut(values, columns, rows),
                Accum::Replace,
                MatRef::from_column_major_slice(&svd.v, columns, size),
                MatRef::from_column_major_slice(&svd.u, rows, size).adjoint(),
                T::one(),
                Par::Seq,
            );
        }
        to.store(index, values, columns, rows);
        done
    })
}

/// Divide the right singular vectors by their singular values; those of negligible values become zero.
pub(super) fn invert_values<T: Field>(svd: &mut Decomposer<T>, tolerance: f64, columns: usize) {
    let tolerance: T::Magnitude = num_traits::cast(tolerance).unwrap_or_else(Float::max_value);
    let threshold = svd.values[0].real_part() * tolerance;
    for (vector, &value) in svd.v.chunks_exact_mut(columns).zip(&svd.values) {
        if value.real_part() > threshold {
            for element in vector {
                *element = element.divided_by(value.real_part());
            }
        } else {
            vector.fill(T::zero());
        }
    }
}
