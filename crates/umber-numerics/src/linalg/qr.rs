//! QR: a matrix as one with orthonormal columns times an upper triangular one.

use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, cost, filled, for_each_matrix};
use super::field::{Field, all_finite, nan, scale_to_unit};
use super::householder::Householder;
use umber_kernels_base::{View, ViewMut};

/// The factors of each matrix. The common size, columns of `q` and rows of `r`, is the smaller of the matrix's rows and
/// columns, or the number of its rows. The diagonal of `r` is real. Matrices with infinities or NaN have NaN everywhere.
///
/// # Panics
/// If dtypes and shapes do not fit together.
pub fn qr(a: View, q: &ViewMut, r: &ViewMut) -> Result<(), Failure> {
    match_dtype!(field a.dtype(), T => factor::<T>(a, q, r), else => panic!("matrices of {}", a.dtype()))
}

fn factor<T: Field>(a: View, q: &ViewMut, r: &ViewMut) -> Result<(), Failure> {
    let (from, r_to) = (Matrices::<T>::of(a), Results::<T>::of(r, 2));
    let (rows, columns) = (from.rows(), from.columns());
    let (size, width) = (rows.min(columns), r.shape()[r.shape().len() - 2]);
    let q_to = Results::<T>::of(q, 2);
    let scratch = || {
        Ok(Scratch {
            rows,
            reflections: Householder::new(rows, columns, width)?,
            basis: filled(T::zero(), rows * width)?,
            phases: filled(T::one(), size)?,
        })
    };
    for_each_matrix(from.count(), cost(rows, columns, size), scratch, |index, scratch| {
        let reflections = &mut scratch.reflections;
        from.load(index, &mut reflections.matrix);
        if !all_finite(&reflections.matrix) {
            r_to.write(index, |out| out.fill(nan()));
            q_to.write(index, |out| out.fill(nan()));
            return true;
        }
        let scale = scale_to_unit(&mut reflections.matrix);
        reflections.factor(|matrix| {
            from.load(index, matrix);
            scale_to_unit(matrix);
        });
        scratch.compute_phases();
        r_to.write(index, |out| scratch.write_upper(out, columns, scale));
        scratch.compute_basis(width);
        q_to.store(index, &scratch.basis, rows, width);
        true
    })
}

struct Scratch<T> {
    rows: usize,
    reflections: Householder<T>,
    basis: Vec<T>,
    /// Factors that make the diagonal of `R` real.
    phases: Vec<T>,
}

impl<T: Field> Scratch<T> {
    fn compute_phases(&mut self) {
        if T::IS_REAL {
            return;
        }
        let rows = self.rows;
        for (i, phase) in self.phases.iter_mut().enumerate() {
            let element = self.reflections.matrix[i * rows + i];
            let size = element.magnitude();
            *phase = if size > num_traits::zero() {
                // LAPACK's sign convention: opposite to the sign of the original element. faer does not reflect the last row
                // of a square matrix, so its element still has the original sign.
                let is_unreflected = i + 1 == rows && T::of_real(element.real_part()) != element;
                let is_negative = (element.real_part() < num_traits::zero()) != is_unreflected;
                // Not divided by the element itself, whose square may underflow.
                let phase = element.divided_by(size).conjugate();
                if is_negative { -phase } else { phase }
            } else {
                T::one()
            };
        }
    }

    fn write_upper(&self, out: &mut [T], columns: usize, scale: T::Magnitude) {
        out.fill(T::zero());
        for (i, row) in out.chunks_exact_mut(columns.max(1)).enumerate().take(self.phases.len()) {
            for (j, element) in row.iter_mut().enumerate().skip(i) {
                *element = self.reflections.matrix[j * self.rows + i] * self.phases[i] * T::of_real(scale);
            }
            if !T::IS_REAL {
                row[i] = T::of_real(row[i].real_part());
            }
        }
    }

    fn compute_basis(&mut self, width: usize) {
        self.basis.fill(T::zero());
        for i in 0..width {
            self.basis[i * self.rows + i] = self.phases.get(i).map_or(T::one(), |phase| phase.conjugate());
        }
        self.reflections.apply(&mut self.basis, true);
    }
}
