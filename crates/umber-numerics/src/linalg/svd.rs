//! Singular value decomposition: a matrix as `U diag(s) Vᴴ` with orthonormal columns in `U` and `V`.

use faer::diag::DiagMut;
use faer::linalg::svd::{ComputeSvdVectors, svd as decompose, svd_scratch};
use faer::{MatMut, MatRef, Par, Spec};
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, filled, for_each_matrix};
use super::field::{Field, all_finite, nan, scale_to_unit};
use super::householder::Householder;
use umber_kernels_base::{View, ViewMut};

/// The singular values of each matrix in descending order, and optionally `U` and `Vᴴ`, either with as many vectors as there
/// are singular values or with full bases. Matrices with infinities or NaN have NaN everywhere.
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
    let compute_vectors = match (vectors, all) {
        (None, _) => ComputeSvdVectors::No,
        (Some(_), true) => ComputeSvdVectors::Full,
        (Some(_), false) => ComputeSvdVectors::Thin,
    };
    let scratch = || Decomposer::<T>::new(rows, columns, compute_vectors);
    for_each_matrix(
        from.count(),
        cost(rows, columns, rows.min(columns)).saturating_mul(8),
        scratch,
        |index, svd| {
            from.load(index, &mut svd.matrix);
            let done = svd.decompose();
            values.write(index, |out| {
                for (value, singular_value) in out.iter_mut().zip(&svd.values) {
                    *value = singular_value.real_part();
                }
            });
            if let Some((u, v)) = to {
                u.store(index, &svd.u, rows, svd.u_width);
                // The column-major `V` is the row-major transpose.
                v.write(index, |out| {
                    for (to, from) in out.iter_mut().zip(&svd.v) {
                        *to = from.conjugate();
                    }
                });
            }
            done
        },
    )
}

/// Scratch for the decomposition of one matrix.
pub(super) struct Decomposer<T> {
    rows: usize,
    columns: usize,
    vectors: ComputeSvdVectors,
    /// The matrix, column-major.
    pub(super) matrix: Vec<T>,
    /// Singular values.
    pub(super) values: Vec<T>,
    /// Left singular vectors, if requested.
    pub(super) u: Vec<T>,
    /// Right singular vectors, if requested.
    pub(super) v: Vec<T>,
    u_width: usize,
    v_width: usize,
    /// For matrices with many more rows than columns, or vice versa.
    qr_first: Option<QrFirst<T>>,
    workspace: Workspace,
}

/// A QR decomposition that reduces the matrix to a square one first. faer would do the same, but drops small remainders of
/// columns.
struct QrFirst<T> {
    /// Of the matrix, or of its adjoint if that has more rows.
    reflections: Householder<T>,
    /// The upper triangular factor.
    square: Vec<T>,
}

impl<T: Field> QrFirst<T> {
    /// For matrices of a size, if it pays; the reflections are applied to at most `width` vectors.
    fn new(rows: usize, columns: usize, width: usize) -> Result<Option<QrFirst<T>>, Failure> {
        let (short, long) = (rows.min(columns), rows.max(columns));
        // faer's criterion.
        if short == 0 || 6 * long <= 11 * short {
            return Ok(None);
        }
        let (reflections, square) =
            (Householder::new(long, short, width)?, filled(T::zero(), short * short)?);
        Ok(Some(QrFirst { reflections, square }))
    }

    /// Reduce a matrix to a square one.
    fn reduce_to_square(&mut self, matrix: MatRef<'_, T>) {
        let (long, short) = (matrix.nrows().max(matrix.ncols()), matrix.nrows().min(matrix.ncols()));
        let load = |to: &mut [T]| {
            let mut to = MatMut::from_column_major_slice_mut(to, long, short);
            if matrix.nrows() == long { to.copy_from(matrix) } else { to.copy_from(matrix.adjoint()) }
        };
        load(&mut self.reflections.matrix);
        self.reflections.factor(load);
        let columns = self.square.chunks_exact_mut(short).zip(self.reflections.matrix.chunks_exact(long));
        for (j, (to, from)) in columns.enumerate() {
            to[..=j].copy_from_slice(&from[..=j]);
        }
    }
}

impl<T: Field> Decomposer<T> {
    pub(super) fn new(rows: usize, columns: usize, vectors: ComputeSvdVectors) -> Result<Self, Failure> {
        let size = rows.min(columns);
        let (u_width, v_width) = match vectors {
            ComputeSvdVectors::No => (0, 0),
            ComputeSvdVectors::Thin => (size, size),
            ComputeSvdVectors::Full => (rows, columns),
        };
        let qr_first = QrFirst::new(rows, columns, u_width.max(v_width))?;
        let (height, width) = if qr_first.is_some() { (size, size) } else { (rows, columns) };
        let need = svd_scratch::<T>(height, width, vectors, vectors, Par::Seq, Spec::default());
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
            qr_first,
            workspace: Workspace::new(need)?,
        })
    }

    /// Decompose the matrix; returns whether the iteration converged.
    pub(super) fn decompose(&mut self) -> bool {
        if !all_finite(&self.matrix) {
            for output in [&mut self.values, &mut self.u, &mut self.v] {
                output.fill(nan());
            }
            return true;
        }
        let scale = T::of_real(scale_to_unit(&mut self.matrix));
        // faer assumes that parts of a full basis are already zero.
        self.u.fill(T::zero());
        self.v.fill(T::zero());
        let (rows, columns, size) = (self.rows, self.columns, self.values.len());
        let mut matrix = MatRef::from_column_major_slice(&self.matrix, rows, columns);
        let mut left = MatMut::from_column_major_slice_mut(&mut self.u, rows, self.u_width);
        let mut right = MatMut::from_column_major_slice_mut(&mut self.v, columns, self.v_width);
        if let Some(qr_first) = &mut self.qr_first {
            qr_first.reduce_to_square(matrix);
            matrix = MatRef::from_column_major_slice(&qr_first.square, size, size);
            if columns > rows {
                // The adjoint's left vectors are the matrix's right ones.
                std::mem::swap(&mut left, &mut right);
            }
            let width = size.min(left.ncols());
            left = left.get_mut(..size, ..width);
        }
        let has_vectors = self.vectors != ComputeSvdVectors::No;
        let done = decompose(
            matrix,
            DiagMut::from_slice_mut(&mut self.values),
            has_vectors.then_some(left),
            has_vectors.then_some(right),
            Par::Seq,
            self.workspace.stack(),
            Spec::default(),
        )
        .is_ok();
        if let (Some(qr_first), true) = (&mut self.qr_first, has_vectors) {
            let (vectors, length) = if columns > rows { (&mut self.v, columns) } else { (&mut self.u, rows) };
            for (i, vector) in vectors.chunks_exact_mut(length).enumerate().skip(size) {
                vector[i] = T::one();
            }
            qr_first.reflections.apply(vectors, false);
        }
        for value in &mut self.values {
            *value *= scale;
        }
        done
    }
}
