//! Adjugate: the transposed matrix of cofactors, `det(a) a⁻¹` for regular matrices and its limit for singular ones.

use faer::linalg::matmul::matmul;
use faer::linalg::svd::ComputeSvdVectors;
use faer::{Accum, MatMut, MatRef, Par};
use num_traits::{Float, Zero};
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, cost, filled, for_each_matrix};
use super::field::{Field, all_finite};
use super::inverse::Inverter;
use super::lu::Factors;
use super::svd::Decomposer;
use umber_kernels_base::{View, ViewMut};

/// The adjugate of each matrix.
///
/// # Panics
/// If matrices are not square, or dtypes and shapes do not fit together.
pub fn adjugate(a: View, x: &ViewMut) -> Result<(), Failure> {
    match_dtype!(field a.dtype(), T => adjugates::<T>(a, x), else => panic!("matrices of {}", a.dtype()))
}

fn adjugates<T: Field>(a: View, x: &ViewMut) -> Result<(), Failure> {
    let (from, to) = (Matrices::<T>::of(a), Results::<T>::of(x, 2));
    let n = from.rows();
    let scratch = || Ok((Inverter::<T>::new(n)?, filled(T::zero(), n * n)?));
    for_each_matrix(from.count(), cost(n, n, n), scratch, |index, (inverter, values)| {
        inverter.factors.factor(&from, index);
        if is_far_from_singular(&inverter.factors) {
            let determinant = inverter.factors.determinant();
            for (value, &element) in values.iter_mut().zip(inverter.invert()) {
                *value = element * determinant;
            }
            to.store(index, values, n, n);
            return true;
        }
        // Rare, so its scratch is allocated here.
        let outcome = limit(&from, index, values);
        to.store(index, values, n, n);
        outcome.is_ok()
    })
}

/// Whether the inverse is accurate enough to be multiplied by the determinant. NaN also returns true, since it propagates.
fn is_far_from_singular<T: Field>(factors: &Factors<T>) -> bool {
    let (mut min, mut max) = (T::Magnitude::infinity(), T::Magnitude::zero());
    for pivot in factors.diagonal() {
        let size = pivot.magnitude();
        if Float::is_nan(size) {
            return true;
        }
        min = Float::min(min, size);
        max = Float::max(max, size);
    }
    min > max * Float::sqrt(T::Magnitude::epsilon())
}

/// Computed from the singular value decomposition: `det(U Vᴴ) V diag(products of the other singular values) Uᴴ`.
fn limit<T: Field>(from: &Matrices<'_, T>, index: usize, values: &mut [T]) -> Result<(), Failure> {
    let n = from.rows();
    let mut svd = Decomposer::<T>::new(n, n, ComputeSvdVectors::Full)?;
    from.load(index, &mut svd.matrix);
    if !all_finite(&svd.matrix) {
        values.fill(super::field::nan());
        return Ok(());
    }
    if !svd.decompose() {
        return Err(Failure::Matrix(index));
    }
    let phase = unitary_determinant(&svd.u, n)? * unitary_determinant(&svd.v, n)?.conjugate();
    let product_without = |i: usize| {
        let factors = svd.values.iter().enumerate().filter(|&(j, _)| j != i);
        factors.fold(phase, |product, (_, &value)| product * value)
    };
    let products: Vec<T> = (0..n).map(product_without).collect();
    for (vector, product) in svd.v.chunks_exact_mut(n).zip(products) {
        for element in vector {
            *element *= product;
        }
    }
    matmul(
        MatMut::from_column_major_slice_mut(values, n, n),
        Accum::Replace,
        MatRef::from_column_major_slice(&svd.v, n, n),
        MatRef::from_column_major_slice(&svd.u, n, n).adjoint(),
        T::one(),
        Par::Seq,
    );
    Ok(())
}

fn unitary_determinant<T: Field>(column_major: &[T], n: usize) -> Result<T, Failure> {
    let mut factors = Factors::<T>::new(n, n)?;
    factors.factor_columns(column_major);
    Ok(factors.determinant())
}
