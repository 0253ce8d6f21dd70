//! LU decomposition with partial pivoting, and determinants computed from it.

use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::perm::PermRef;
use faer::{MatMut, MatRef, Par, Spec};
use num_traits::{Float, One};
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, filled, for_each_matrix};
use super::equilibrate::Equilibration;
use super::field::{Field, all_finite};
use super::panels;
use umber_kernels_base::{View, ViewMut};

/// Both factors of each matrix packed into one, with the diagonal of `U`. `pivots[i]` is the row that was exchanged with row
/// `i` in step `i`; `row_positions[i]` is the position to which row `i` of the matrix moved. Both are uint32.
///
/// # Panics
/// If dtypes and shapes do not fit together.
pub fn lu(a: View, packed: &ViewMut, pivots: &ViewMut, row_positions: &ViewMut) -> Result<(), Failure> {
    match_dtype!(field a.dtype(), T => factor_all::<T>(a, packed, pivots, row_positions), else => panic!("matrices of {}", a.dtype()))
}

fn factor_all<T: Field>(
    a: View,
    packed: &ViewMut,
    pivots: &ViewMut,
    row_positions: &ViewMut,
) -> Result<(), Failure> {
    let from = Matrices::<T>::of(a);
    let (rows, columns) = (from.rows(), from.columns());
    let to = Results::<T>::of(packed, 2);
    let (pivots, row_positions) = (Results::<u32>::of(pivots, 1), Results::<u32>::of(row_positions, 1));
    let work = cost(rows, columns, rows.min(columns));
    for_each_matrix(
        from.count(),
        work,
        || Ok((Factors::<T>::new(rows, columns)?, [filled(0, rows)?, filled(0, rows)?])),
        |index, (factors, orders)| {
            factors.factor(&from, index);
            to.store(index, &factors.packed, rows, columns);
            pivots.write(index, |pivots| factors.write_pivots(pivots, orders));
            row_positions.write(index, |row_positions| {
                for (position, &new) in row_positions.iter_mut().zip(&factors.new_rows) {
                    *position = new as u32;
                }
            });
            true
        },
    )
}

/// The determinant of each matrix.
///
/// # Panics
/// If matrices are not square, or dtypes and shapes do not fit together.
pub fn determinant(a: View, value: &ViewMut) -> Result<(), Failure> {
    match_dtype!(field a.dtype(), T => determinants::<T>(a, value), else => panic!("matrices of {}", a.dtype()))
}

fn determinants<T: Field>(a: View, value: &ViewMut) -> Result<(), Failure> {
    let (from, to) = (Matrices::<T>::of(a), Results::<T>::of(value, 0));
    let n = from.rows();
    for_each_matrix(
        from.count(),
        cost(n, n, n),
        || Factors::<T>::new(n, n),
        |index, factors| {
            factors.factor_equilibrated(&from, index);
            to.write(index, |out| out[0] = factors.determinant());
            true
        },
    )
}

/// The sign of each determinant (the determinant divided by its absolute value, or 0), and the logarithm of its absolute
/// value.
///
/// # Panics
/// If matrices are not square, or dtypes and shapes do not fit together.
pub fn sign_and_log_determinant(a: View, sign: &ViewMut, log: &ViewMut) -> Result<(), Failure> {
    match_dtype!(field a.dtype(), T => signs_and_logs::<T>(a, sign, log), else => panic!("matrices of {}", a.dtype()))
}

fn signs_and_logs<T: Field>(a: View, sign: &ViewMut, log: &ViewMut) -> Result<(), Failure> {
    let from = Matrices::<T>::of(a);
    let (signs, logs) = (Results::<T>::of(sign, 0), Results::<T::Magnitude>::of(log, 0));
    let n = from.rows();
    for_each_matrix(
        from.count(),
        cost(n, n, n),
        || Factors::<T>::new(n, n),
        |index, factors| {
            factors.factor_equilibrated(&from, index);
            let (mut sign, mut log) = (T::of_real(factors.sign()), factors.equilibration.log_determinant());
            for pivot in factors.diagonal() {
                let size = pivot.magnitude();
                log += Float::ln(size);
                sign *= pivot.divided_by(size);
            }
            if factors.is_singular() {
                (sign, log) = (T::zero(), T::Magnitude::neg_infinity());
            }
            signs.write(index, |out| out[0] = sign);
            logs.write(index, |out| out[0] = log);
            true
        },
    )
}

/// Scratch for the factors of one matrix.
pub(super) struct Factors<T> {
    rows: usize,
    columns: usize,
    /// Both factors, column-major.
    pub(super) packed: Vec<T>,
    /// For each row of the factors, the row of the matrix.
    old_rows: Vec<usize>,
    /// The inverse permutation.
    new_rows: Vec<usize>,
    /// Scratch for the row order of a panel.
    order: Vec<usize>,
    /// Number of row exchanges.
    exchanges: usize,
    /// The scaling that was applied to the matrix.
    pub(super) equilibration: Equilibration,
    workspace: Workspace,
}

impl<T: Field> Factors<T> {
    pub(super) fn new(rows: usize, columns: usize) -> Result<Factors<T>, Failure> {
        let need = lu_in_place_scratch::<usize, T>(rows, columns, Par::Seq, Spec::default());
        Ok(Factors {
            rows,
            columns,
            packed: filled(T::zero(), rows * columns)?,
            old_rows: filled(0, rows)?,
            new_rows: filled(0, rows)?,
            order: filled(0, rows)?,
            exchanges: 0,
            equilibration: Equilibration::new(rows, columns)?,
            workspace: Workspace::new(need)?,
        })
    }

    /// Factor a matrix of a stack.
    pub(super) fn factor(&mut self, from: &Matrices<'_, T>, index: usize) {
        self.factor_loaded(|packed| from.load(index, packed));
    }

    /// Factor a matrix of a stack after [`Equilibration`].
    pub(super) fn factor_equilibrated(&mut self, from: &Matrices<'_, T>, index: usize) {
        let mut equilibration = std::mem::take(&mut self.equilibration);
        self.factor_loaded(|packed| {
            from.load(index, packed);
            equilibration.scale(packed);
        });
        self.equilibration = equilibration;
    }

    /// Factor a column-major matrix.
    pub(super) fn factor_columns(&mut self, column_major: &[T]) {
        self.factor_loaded(|packed| packed.copy_from_slice(column_major));
    }

    fn factor_loaded(&mut self, mut load: impl FnMut(&mut [T])) {
        load(&mut self.packed);
        let (old_rows, new_rows) = (&mut self.old_rows, &mut self.new_rows);
        self.exchanges = if self.rows.min(self.columns) >= panels::MIN_LU {
            panels::lu(&mut self.packed, [old_rows, new_rows, &mut self.order], &mut self.workspace)
        } else {
            let matrix = MatMut::from_column_major_slice_mut(&mut self.packed, self.rows, self.columns);
            let stack = self.workspace.stack();
            lu_in_place(matrix, old_rows, new_rows, Par::Seq, stack, Spec::default()).0.transposition_count
        };
        // faer divides by every pivot, even if it is zero.
        if !all_finite(&self.packed) {
            load(&mut self.packed);
            self.factor_plainly();
        }
    }

    /// Textbook elimination, which skips columns that are zero from the diagonal down.
    fn factor_plainly(&mut self) {
        let (rows, columns) = (self.rows, self.columns);
        self.exchanges = 0;
        for (i, row) in self.old_rows.iter_mut().enumerate() {
            *row = i;
        }
        for k in 0..rows.min(columns) {
            let size = |i: usize| self.packed[k * rows + i].magnitude();
            let mut best = k;
            for i in k + 1..rows {
                if size(i) > size(best) {
                    best = i;
                }
            }
            if best != k {
                self.exchanges += 1;
                self.old_rows.swap(k, best);
                for column in 0..columns {
                    self.packed.swap(column * rows + k, column * rows + best);
                }
            }
            let pivot = self.packed[k * rows + k];
            if pivot == T::zero() {
                continue;
            }
            let (left, right) = self.packed.split_at_mut((k + 1) * rows);
            let factors = &mut left[k * rows + k + 1..];
            for factor in &mut *factors {
                *factor /= pivot;
            }
            for column in right.chunks_exact_mut(rows) {
                let top = column[k];
                if top != T::zero() {
                    for (element, &factor) in column[k + 1..].iter_mut().zip(&*factors) {
                        *element -= factor * top;
                    }
                }
            }
        }
        for (new, &old) in self.old_rows.iter().enumerate() {
            self.new_rows[old] = new;
        }
    }

    /// The diagonal of `U`.
    pub(super) fn diagonal(&self) -> impl Iterator<Item = T> + '_ {
        (0..self.rows.min(self.columns)).map(|i| self.packed[i * self.rows + i])
    }

    /// The determinant; positive zero for singular matrices.
    pub(super) fn determinant(&self) -> T {
        if self.is_singular() {
            return T::zero();
        }
        let product = self.diagonal().fold(T::of_real(self.sign()), |product, pivot| product * pivot);
        self.equilibration.unscale_determinant(product)
    }

    /// Whether there is no inverse.
    pub(super) fn is_singular(&self) -> bool {
        self.diagonal().any(|pivot| pivot == T::zero())
    }

    /// The sign of the row permutation.
    pub(super) fn sign(&self) -> T::Magnitude {
        let one = T::Magnitude::one();
        if self.exchanges.is_multiple_of(2) { one } else { -one }
    }

    /// Both factors, as faer expects them.
    pub(super) fn matrix(&self) -> MatRef<'_, T> {
        MatRef::from_column_major_slice(&self.packed, self.rows, self.columns)
    }

    /// The row of the matrix that a row of the factors comes from.
    pub(super) fn old_row(&self, row: usize) -> usize {
        self.old_rows[row]
    }

    /// The row permutation, as faer expects it.
    pub(super) fn order(&self) -> PermRef<'_, usize> {
        PermRef::new_checked(&self.old_rows, &self.new_rows, self.rows)
    }

    /// Write the sequence of row exchanges that produces the permutation.
    fn write_pivots(&self, pivots: &mut [u32], [position_of, row_of]: &mut [Vec<usize>; 2]) {
        // The position of each row, and the row at each position, after the exchanges so far.
        for i in 0..self.rows {
            (position_of[i], row_of[i]) = (i, i);
        }
        for (i, pivot) in pivots.iter_mut().enumerate() {
            let (target, current) = (self.old_rows[i], row_of[i]);
            let position = position_of[target];
            *pivot = position as u32;
            row_of.swap(i, position);
            position_of[current] = position;
            position_of[target] = i;
        }
    }
}
