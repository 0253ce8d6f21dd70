//! Stacks of matrices in memory, and the loop over them.
//!
//! Invariant: [`for_each_matrix`] passes each index to one task, and its body only writes the [`Results`] of that index.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use umber_types::{Element, Layout, Shape};

use super::Failure;
use super::field::Field;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_kernels_elementwise::tape::copy;

/// Minimum multiplications per task.
const GRAIN: usize = 1 << 15;

/// Side of the tiles in which matrices are transposed.
const TILE: usize = 16;
/// Minimum elements for copying a matrix on several threads.
const MIN_PARALLEL_COPY: usize = 1 << 14;

/// Memory order of a dense matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    RowMajor,
    ColumnMajor,
}

/// Matrices to read, in any layout.
#[derive(Clone, Copy)]
pub(super) struct Matrices<'a, T> {
    source: Source<T>,
    view: View<'a>,
}

impl<'a, T: Field> Matrices<'a, T> {
    /// The matrices along the last two axes of a view.
    pub(super) fn of(view: View<'a>) -> Matrices<'a, T> {
        assert!(view.dtype() == T::DTYPE && view.shape().len() >= 2, "a stack of matrices of one dtype");
        Matrices { source: Source::of(&view), view }
    }

    /// Number of rows of each matrix.
    pub(super) fn rows(&self) -> usize {
        self.view.shape()[self.view.shape().len() - 2]
    }

    /// Number of columns of each matrix.
    pub(super) fn columns(&self) -> usize {
        self.view.shape()[self.view.shape().len() - 1]
    }

    /// Number of matrices.
    pub(super) fn count(&self) -> usize {
        self.view.shape()[..self.view.shape().len() - 2].iter().product()
    }

    /// The memory order of each matrix, if they are dense.
    pub(super) fn order(&self) -> Option<Order> {
        let strides = self.view.strides();
        let (rows, columns) = (self.rows() as isize, self.columns() as isize);
        match strides[strides.len() - 2..] {
            [row, 1] if row == columns => Some(Order::RowMajor),
            [1, column] if column == rows => Some(Order::ColumnMajor),
            _ => None,
        }
    }

    /// The elements of a matrix.
    ///
    /// # Panics
    ///
    /// If the matrices are not dense (see [`order`](Matrices::order)).
    pub(super) fn elements(&self, index: usize) -> &'a [T] {
        assert!(self.order().is_some() && index < self.count(), "a dense matrix of the stack");
        // SAFETY: the view, which has the lifetime of the result, holds the matrix.
        unsafe { std::slice::from_raw_parts(self.start(index), self.rows() * self.columns()) }
    }

    /// Pointer to the first element of a matrix.
    fn start(&self, index: usize) -> *const T {
        let (shape, strides) = (self.view.shape(), self.view.strides());
        let (mut remaining, mut offset) = (index, 0);
        for axis in (0..shape.len() - 2).rev() {
            offset += (remaining % shape[axis]) as isize * strides[axis];
            remaining /= shape[axis];
        }
        self.source.at(offset)
    }

    /// Copy a matrix to column-major order.
    pub(super) fn load(&self, index: usize, column_major: &mut [T]) {
        let (rows, columns) = (self.rows(), self.columns());
        assert_eq!(column_major.len(), rows * columns);
        let strides = self.view.strides();
        let batch = strides.len() - 2;
        let from = self.start(index);
        // SAFETY: the view holds the matrix, and the slice has as many elements.
        unsafe {
            transfer(
                [columns, rows],
                (from, [strides[batch + 1], strides[batch]]),
                (column_major.as_mut_ptr(), [rows as isize, 1]),
            );
        }
    }
}

/// Equal slices of memory to write, one for each matrix of a stack.
#[derive(Clone, Copy)]
pub(super) struct Results<'a, T> {
    target: Target<T>,
    length: usize,
    memory: PhantomData<&'a mut T>,
}

impl<'a, T: Element> Results<'a, T> {
    /// The slices of a dense view; each holds the elements of the last `axes` axes.
    pub(super) fn of(view: &'a ViewMut, axes: usize) -> Results<'a, T> {
        assert!(view.dtype() == T::DTYPE && view.layout().is_contiguous(), "dense results of one dtype");
        let shape = view.shape();
        let length = shape[shape.len() - axes..].iter().product();
        Results { target: Target::of(view), length, memory: PhantomData }
    }

    /// Call `write` with the slice of a matrix.
    pub(super) fn write<R>(&self, index: usize, write: impl FnOnce(&mut [T]) -> R) -> R {
        let start = self.target.at((index * self.length) as isize);
        // SAFETY: the view holds the slice, and only the task of this index accesses it (module invariant).
        write(unsafe { std::slice::from_raw_parts_mut(start, self.length) })
    }

    /// Store a column-major matrix.
    pub(super) fn store(&self, index: usize, column_major: &[T], rows: usize, columns: usize) {
        self.write(index, |out| {
            assert!(out.len() == rows * columns && column_major.len() >= out.len());
            // SAFETY: both slices hold the matrix.
            unsafe {
                transfer(
                    [rows, columns],
                    (column_major.as_ptr(), [1, rows as isize]),
                    (out.as_mut_ptr(), [columns as isize, 1]),
                );
            }
        });
    }
}

/// Copy a matrix between two layouts, tile by tile.
///
/// # Safety
///
/// All elements of the shape are readable at the source strides and writable at the target strides.
unsafe fn transfer<T: Element>(
    [rows, columns]: [usize; 2],
    (from, from_strides): (*const T, [isize; 2]),
    (to, to_strides): (*mut T, [isize; 2]),
) {
    if rows * columns >= MIN_PARALLEL_COPY {
        let layout = |strides: [isize; 2]| Layout {
            shape: Shape::from([rows, columns]),
            strides: strides.as_slice().into(),
            offset: 0,
        };
        let (source, target) = (layout(from_strides), layout(to_strides));
        // SAFETY: guaranteed by the caller of this function; no other thread accesses the target.
        unsafe {
            let from = View::new(from.cast(), T::DTYPE, &source);
            copy(from, ViewMut::new(to.cast(), T::DTYPE, &target));
        }
        return;
    }
    for i_tile in (0..rows).step_by(TILE) {
        for j_tile in (0..columns).step_by(TILE) {
            for i in i_tile..rows.min(i_tile + TILE) {
                let source = from.wrapping_offset(i as isize * from_strides[0]);
                let target = to.wrapping_offset(i as isize * to_strides[0]);
                for j in j_tile as isize..columns.min(j_tile + TILE) as isize {
                    // SAFETY: guaranteed by the caller of this function.
                    unsafe { *target.offset(j * to_strides[1]) = *source.offset(j * from_strides[1]) };
                }
            }
        }
    }
}

/// Scratch memory for faer.
pub(super) struct Workspace(MemBuffer);

impl Workspace {
    /// Allocate the requested size.
    pub(super) fn new(need: StackReq) -> Result<Workspace, Failure> {
        MemBuffer::try_new(need).map(Workspace).map_err(|_| Failure::Memory(need.unaligned_bytes_required()))
    }

    /// The whole scratch memory as a stack.
    pub(super) fn stack(&mut self) -> &mut MemStack {
        MemStack::new(&mut self.0)
    }
}

/// Allocate a vector of equal elements.
pub(super) fn filled<T: Copy>(value: T, count: usize) -> Result<Vec<T>, Failure> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(count).map_err(|_| Failure::Memory(count.saturating_mul(size_of::<T>())))?;
    elements.resize(count, value);
    Ok(elements)
}

/// Run `body(index, scratch)` for every matrix of a stack, with one `scratch` per task. A matrix costs about `cost`
/// multiplications. If `body` returns false, the error names the first such matrix.
pub(super) fn for_each_matrix<S>(
    count: usize,
    cost: usize,
    scratch: impl Fn() -> Result<S, Failure> + Sync,
    body: impl Fn(usize, &mut S) -> bool + Sync,
) -> Result<(), Failure> {
    let (failed, memory) = (AtomicUsize::new(usize::MAX), AtomicUsize::new(0));
    parallel_ranges(count, GRAIN / cost.max(1), |range| {
        let mut scratch = match scratch() {
            Ok(scratch) => scratch,
            Err(Failure::Memory(bytes)) => {
                memory.fetch_max(bytes.max(1), Ordering::Relaxed);
                return;
            }
            Err(Failure::Matrix(index)) => {
                failed.fetch_min(index, Ordering::Relaxed);
                return;
            }
        };
        for index in range {
            if !body(index, &mut scratch) {
                failed.fetch_min(index, Ordering::Relaxed);
            }
        }
    });
    match (memory.into_inner(), failed.into_inner()) {
        (0, usize::MAX) => Ok(()),
        (0, index) => Err(Failure::Matrix(index)),
        (bytes, _) => Err(Failure::Memory(bytes)),
    }
}

/// Approximate number of multiplications of an `n`-by-`m` times an `m`-by-`k` matrix.
pub(super) fn cost(n: usize, m: usize, k: usize) -> usize {
    n.saturating_mul(m).saturating_mul(k)
}
