//! SVD: a matrix as `U diag(s) Vᴴ` with orthonormal columns in `U` and `V`.

use faer::diag::DiagMut;
use faer::linalg::svd::{ComputeSvdVectors, svd as decompose, svd_scratch};
use faer::{MatMut, MatRef, Par, Spec};
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, each, filled};
use super::field::{Field, are_numbers, centre, nan};
use umber_kernels::{View, ViewMut};

/// The singular values of each matrix, greatest first, and `U` and `Vᴴ` where asked for: with as many vectors as there
/// are singular values, or with all. Matrices with infinities or NaN have NaN everywhere.
///
/// # Panics
/// If dtypes and shapes do not fit together.
pub fn svd(a: View, values: &ViewMut, vectors: Option<[&ViewMut; 2]>) -> Result<(), Failure> {
    match_dtype!(field a.dtype(), T => factor::<T>(a, values, vectors), else => panic!("matrices of {}", a.dtype()))
}

fn factor<T: Field>(a: View, values: &ViewMut, vectors: Option<[&ViewMut; 2]>) -> Result<(), Failure> {
    let from = Matrices::<T>::of(a);
    let (rows, columns) = (from.rows(), from.columns());
    let values = Results::<T::Magnitude>::of(values, 1);
    let to = vectors.map(|[u, v]| (Results::<T>::of(u, 2), Results::<T>::of(v, 2)));
    let all = vectors.is_some_and(|[u, v]| {
        let widths = (u.shape()[u.shape().len() - 1], v.shape()[v.shape().len() - 2]);
        widths == (rows, columns)
    });
    let wanted = match (vectors, all) {
        (None, _) => ComputeSvdVectors::No,
        (Some(_), true) => ComputeSvdVectors::Full,
        (Some(_), false) => ComputeSvdVectors::Thin,
    };
    let scratch = || Decomposer::<T>::new(rows, columns, wanted);
    each(from.count(), cost(rows, columns, rows.min(columns)).saturating_mul(8), scratch, |index, svd| {
        from.load(index, &mut svd.matrix);
        let done = svd.decompose();
        values.write(index, |part| {
            for (value, found) in part.iter_mut().zip(&svd.values) {
                *value = found.real_part();
            }
        });
        if let Some((u, v)) = to {
            u.store(index, &svd.u, rows, svd.u_width);
            // V column by column is its transpose row by row.
            v.write(index, |part| {
                for (to, from) in part.iter_mut().zip(&svd.v) {
                    *to = from.conjugate();
                }
            });
        }
        done
    })
}

/// Room for the decomposition of one matrix.
pub(super) struct Decomposer<T> {
    rows: usize,
    columns: usize,
    vectors: ComputeSvdVectors,
    /// The matrix, column by column.
    pub(super) matrix: Vec<T>,
    /// Singular values.
    pub(super) values: Vec<T>,
    /// Left singular vectors, if asked for.
    pub(super) u: Vec<T>,
    /// Right singular vectors, if asked for.
    pub(super) v: Vec<T>,
    u_width: usize,
    v_width: usize,
    workspace: Workspace,
}

impl<T: Field> Decomposer<T> {
    pub(super) fn new(rows: usize, columns: usize, vectors: ComputeSvdVectors) -> Result<Self, Failure> {
        let size = rows.min(columns);
        let (u_width, v_width) = match vectors {
            ComputeSvdVectors::No => (0, 0),
            ComputeSvdVectors::Thin => (size, size),
            ComputeSvdVectors::Full => (rows, columns),
        };
        Ok(Decomposer {
            rows,
            columns,
            vectors,
            matrix: filled(T::zero(), rows * columns)?,
            values: filled(T::zero(), size)?,
            u: filled(T::zero(), rows * u_width)?,
            v: filled(T::zero(), columns * v_width)?,
            u_width,
            v_width,
            workspace: Workspace::new(svd_scratch::<T>(
                rows,
                columns,
                vectors,
                vectors,
                Par::Seq,
                Spec::default(),
            ))?,
        })
    }

    /// Decompose the matrix; does it come to an end?
    pub(super) fn decompose(&mut self) -> bool {
        if !are_numbers(&self.matrix) {
            for part in [&mut self.values, &mut self.u, &mut self.v] {
                part.fill(nan());
            }
            return true;
        }
        let scale = T::of_real(centre(&mut self.matrix));
        // faer leaves parts of a whole basis alone, as if they were zero.
        self.u.fill(T::zero());
        self.v.fill(T::zero());
        let (rows, columns) = (self.rows, self.columns);
        let has_vectors = self.vectors != ComputeSvdVectors::No;
        let u = MatMut::from_column_major_slice_mut(&mut self.u, rows, self.u_width);
        let v = MatMut::from_column_major_slice_mut(&mut self.v, columns, self.v_width);
        let done = decompose(
            MatRef::from_column_major_slice(&self.matrix, rows, columns),
            DiagMut::from_slice_mut(&mut self.values),
            has_vectors.then_some(u),
            has_vectors.then_some(v),
            Par::Seq,
            self.workspace.stack(),
            Spec::default(),
        )
        .is_ok();
        for value in &mut self.values {
            *value *= scale;
        }
        done
    }
}
