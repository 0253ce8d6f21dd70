//! LU: the rows of a matrix, reordered, as a unit lower times an upper triangular matrix; and determinants from it.

use faer::linalg::lu::partial_pivoting::factor::{lu_in_place, lu_in_place_scratch};
use faer::perm::PermRef;
use faer::{MatMut, MatRef, Par, Spec};
use num_traits::{Float, One};
use umber_types::match_dtype;

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, filled, for_each_matrix};
use super::equilibrate::Equilibration;
use super::field::{Field, are_numbers};
use super::panels;
use umber_kernels_base::{View, ViewMut};

/// Both triangles of the factors in one matrix, `U` with the diagonal. `pivots[i]` says which row was exchanged with
/// row `i`, one after the other; `row_positions[i]` where row `i` of the matrix went. Pivots and places are uint32.
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
                for (place, &new) in row_positions.iter_mut().zip(&factors.new_rows) {
                    *place = new as u32;
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
            to.write(index, |part| part[0] = factors.determinant());
            true
        },
    )
}

/// The determinant of each matrix divided by its absolute value (or 0), and the logarithm of that.
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
            let (mut sign, mut log) = (T::of_real(factors.sign()), factors.equilibrium.log_determinant());
            for pivot in factors.diagonal() {
                let size = pivot.magnitude();
                log += Float::ln(size);
                sign *= pivot.divided_by(size);
            }
            if factors.is_singular() {
                (sign, log) = (T::zero(), T::Magnitude::neg_infinity());
            }
            signs.write(index, |part| part[0] = sign);
            logs.write(index, |part| part[0] = log);
            true
        },
    )
}

/// Room for the factors of one matrix.
pub(super) struct Factors<T> {
    rows: usize,
    columns: usize,
    /// Both factors, column by column.
    pub(super) packed: Vec<T>,
    /// Which row of the matrix each row of the factors is.
    old_rows: Vec<usize>,
    /// The inverse of that.
    new_rows: Vec<usize>,
    /// Scratch for the order of the rows of a panel.
    order: Vec<usize>,
    /// How many exchanges of rows there were.
    exchanges: usize,
    /// What was done to the matrix before.
    pub(super) equilibrium: Equilibration,
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
            equilibrium: Equilibration::new(rows, columns)?,
            workspace: Workspace::new(need)?,
        })
    }

    /// Factor a matrix of a stack.
    pub(super) fn factor(&mut self, from: &Matrices<'_, T>, index: usize) {
        self.factor_loaded(|packed| from.load(index, packed));
    }

    /// Factor a matrix of a stack, brought into [`Equilibration`].
    pub(super) fn factor_equilibrated(&mut self, from: &Matrices<'_, T>, index: usize) {
        let mut equilibrium = std::mem::take(&mut self.equilibrium);
        self.factor_loaded(|packed| {
            from.load(index, packed);
            equilibrium.scale(packed);
        });
        self.equilibrium = equilibrium;
    }

    /// Factor a matrix that is stored column by column.
    pub(super) fn factor_columns(&mut self, columns_first: &[T]) {
        self.factor_loaded(|packed| packed.copy_from_slice(columns_first));
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
        // faer divides by every pivot, even by zero.
        if !are_numbers(&self.packed) {
            load(&mut self.packed);
            self.factor_plainly();
        }
    }

    /// The textbook's elimination, which leaves a column alone that is zero from the diagonal down.
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

    /// The determinant; zero without a sign for singular matrices.
    pub(super) fn determinant(&self) -> T {
        if self.is_singular() {
            return T::zero();
        }
        let product = self.diagonal().fold(T::of_real(self.sign()), |product, pivot| product * pivot);
        self.equilibrium.unscale_determinant(product)
    }

    /// Is there no inverse?
    pub(super) fn is_singular(&self) -> bool {
        self.diagonal().any(|pivot| pivot == T::zero())
    }

    /// The determinant of the order of rows.
    pub(super) fn sign(&self) -> T::Magnitude {
        let one = T::Magnitude::one();
        if self.exchanges.is_multiple_of(2) { one } else { -one }
    }

    /// Both factors, as faer wants them.
    pub(super) fn matrix(&self) -> MatRef<'_, T> {
        MatRef::from_column_major_slice(&self.packed, self.rows, self.columns)
    }

    /// Which row of the matrix a row of the factors is.
    pub(super) fn old_row(&self, row: usize) -> usize {
        self.old_rows[row]
    }

    /// The order of rows, as faer wants it.
    pub(super) fn order(&self) -> PermRef<'_, usize> {
        PermRef::new_checked(&self.old_rows, &self.new_rows, self.rows)
    }

    /// The exchanges of rows that lead to the order.
    fn write_pivots(&self, pivots: &mut [u32], [at, row_at]: &mut [Vec<usize>; 2]) {
        // Where each row is, and which row is at each place, after the exchanges so far.
        for i in 0..self.rows {
            (at[i], row_at[i]) = (i, i);
        }
        for (i, pivot) in pivots.iter_mut().enumerate() {
            let (wanted, present) = (self.old_rows[i], row_at[i]);
            let place = at[wanted];
            *pivot = place as u32;
            row_at.swap(i, place);
            at[present] = place;
            at[wanted] = i;
        }
    }
}
