//! QR: a matrix as one with orthonormal columns times an upper triangular one.

use std::sync::Mutex;

use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as apply_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply,
};
use faer::linalg::qr::no_pivoting::factor::{qr_in_place, qr_in_place_scratch, recommended_block_size};
use faer::{Conj, MatMut, MatRef, Par, Spec};
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, each, filled};
use super::field::{Field, are_numbers, centre, nan};
use super::panels::{self, PanelRoom};
use umber_kernels::{View, ViewMut};

/// The factors of each matrix. `r` has as many rows as `q` columns: as few as the matrix has rows or columns, or as
/// many as it has rows. The diagonal of `r` is real. Matrices with infinities or NaN have NaN everywhere.
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
    let block = recommended_block_size::<T>(rows, columns).max(1);
    // faer may leave a column out and take one from behind, where there are more of them than rows.
    let by_panels = size >= panels::LEAST_QR || columns > rows;
    let scratch = || {
        let need = qr_in_place_scratch::<T>(rows, columns, block, Par::Seq, Spec::default())
            .or(apply_scratch::<T>(rows, block, width));
        let part = apply_scratch::<T>(rows, block, panels::width(columns.max(width)));
        let parts = panels::parts(columns.max(width));
        Ok(Scratch {
            matrix: filled(T::zero(), rows * columns)?,
            reflections: filled(T::zero(), block * size)?,
            basis: filled(T::zero(), rows * width)?,
            phases: filled(T::one(), size)?,
            room: PanelRoom::new(rows * block.min(size), Workspace::new(need)?)?,
            parts: (0..parts).map(|_| Ok(Mutex::new(Workspace::new(part)?))).collect::<Result<_, _>>()?,
        })
    };
    each(from.count(), cost(rows, columns, size), scratch, |index, scratch| {
        from.load(index, &mut scratch.matrix);
        if !are_numbers(&scratch.matrix) {
            r_to.write(index, |part| part.fill(nan()));
            q_to.write(index, |part| part.fill(nan()));
            return true;
        }
        let mut scale = centre(&mut scratch.matrix);
        let is_done = size == 0 || !by_panels && scratch.factor_whole(rows, columns, block);
        if !is_done {
            if !by_panels {
                from.load(index, &mut scratch.matrix);
                scale = centre(&mut scratch.matrix);
            }
            let Scratch { matrix, reflections, room, parts, .. } = &mut *scratch;
            panels::qr(matrix, rows, reflections, block, room, parts);
        }
        scratch.find_phases(rows);
        r_to.write(index, |part| scratch.write_upper(part, rows, columns, scale));
        scratch.make_basis(rows, columns, block, width);
        q_to.store(index, &scratch.basis, rows, width);
        true
    })
}

struct Scratch<T> {
    /// The reflections' vectors below the diagonal, and `R`.
    matrix: Vec<T>,
    reflections: Vec<T>,
    basis: Vec<T>,
    /// Factors that make the diagonal of `R` real.
    phases: Vec<T>,
    room: PanelRoom<T>,
    /// For each part of the columns.
    parts: Vec<Mutex<Workspace>>,
}

impl<T: Field> Scratch<T> {
    /// Answers whether all columns were taken, or the matrix is lost.
    fn factor_whole(&mut self, rows: usize, columns: usize, block: usize) -> bool {
        let info = qr_in_place(
            MatMut::from_column_major_slice_mut(&mut self.matrix, rows, columns),
            MatMut::from_column_major_slice_mut(&mut self.reflections, block, columns),
            Par::Seq,
            self.room.workspace.stack(),
            Spec::default(),
        );
        info.rank == columns
    }

    fn find_phases(&mut self, rows: usize) {
        if T::IS_REAL {
            return;
        }
        for (i, phase) in self.phases.iter_mut().enumerate() {
            let element = self.matrix[i * rows + i];
            let size = element.magnitude();
            *phase = if size > num_traits::zero() {
                // As LAPACK chooses signs: against that of the element that was there, which faer's last row keeps.
                let is_kept = i + 1 == rows && T::of_real(element.real_part()) != element;
                let is_negative = (element.real_part() < num_traits::zero()) != is_kept;
                // Not divided by the element, whose square may vanish.
                let phase = element.divided_by(size).conjugate();
                if is_negative { -phase } else { phase }
            } else {
                T::one()
            };
        }
    }

    fn write_upper(&self, part: &mut [T], rows: usize, columns: usize, scale: T::Magnitude) {
        part.fill(T::zero());
        for (i, row) in part.chunks_exact_mut(columns.max(1)).enumerate().take(self.phases.len()) {
            for (j, element) in row.iter_mut().enumerate().skip(i) {
                *element = self.matrix[j * rows + i] * self.phases[i] * T::of_real(scale);
            }
            if !T::IS_REAL {
                row[i] = T::of_real(row[i].real_part());
            }
        }
    }

    fn make_basis(&mut self, rows: usize, columns: usize, block: usize, width: usize) {
        self.basis.fill(T::zero());
        for i in 0..width {
            self.basis[i * rows + i] = self.phases.get(i).map_or(T::one(), |phase| phase.conjugate());
        }
        if self.phases.is_empty() {
            return;
        }
        let size = self.phases.len();
        let basis = MatRef::from_column_major_slice(&self.matrix, rows, columns).get(.., ..size);
        let reflections = MatRef::from_column_major_slice(&self.reflections, block, size);
        if self.parts.len() > 1 {
            return panels::reflect(basis, reflections, &mut self.basis, &self.parts);
        }
        apply(
            basis,
            reflections,
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut self.basis, rows, width),
            Par::Seq,
            self.room.workspace.stack(),
        );
    }
}
