//! Stacks of matrices in memory, and the loop over them.
//!
//! Invariant: [`for_each_matrix`] gives every index to one task, and its body writes only the [`Results`] of its own index.

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

/// Multiplications worth a task of their own.
const GRAIN: usize = 1 << 15;

/// Edge of the squares in which matrices are transposed.
const TILE: usize = 16;
/// From this many elements on, threads share the copy of a matrix.
const MIN_PARALLEL_COPY: usize = 1 << 14;

/// In which order the elements of a matrix lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    RowsFirst,
    ColumnsFirst,
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

    /// Number of rows of each.
    pub(super) fn rows(&self) -> usize {
        self.view.shape()[self.view.shape().len() - 2]
    }

    /// Number of columns of each.
    pub(super) fn columns(&self) -> usize {
        self.view.shape()[self.view.shape().len() - 1]
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.view.shape()[..self.view.shape().len() - 2].iter().product()
    }

    /// The order in which the elements of each lie side by side, if they do.
    pub(super) fn order(&self) -> Option<Order> {
        let strides = self.view.strides();
        let (rows, columns) = (self.rows() as isize, self.columns() as isize);
        match strides[strides.len() - 2..] {
            [row, 1] if row == columns => Some(Order::RowsFirst),
            [1, column] if column == rows => Some(Order::ColumnsFirst),
            _ => None,
        }
    }

    /// The elements of a matrix.
    ///
    /// # Panics
    /// If they do not lie side by side, in some [`order`](Matrices::order).
    pub(super) fn elements(&self, index: usize) -> &'a [T] {
        assert!(self.order().is_some() && index < self.count(), "a dense matrix of the stack");
        // SAFETY: the view, which lives as long, holds the matrix.
        unsafe { std::slice::from_raw_parts(self.start(index), self.rows() * self.columns()) }
    }

    /// Where the first element of a matrix is.
    fn start(&self, index: usize) -> *const T {
        let (shape, strides) = (self.view.shape(), self.view.strides());
        let (mut rest, mut offset) = (index, 0);
        for axis in (0..shape.len() - 2).rev() {
            offset += (rest % shape[axis]) as isize * strides[axis];
            rest /= shape[axis];
        }
        self.source.at(offset)
    }

    /// Copy a matrix column by column.
    pub(super) fn load(&self, index: usize, columns_first: &mut [T]) {
        let (rows, columns) = (self.rows(), self.columns());
        assert_eq!(columns_first.len(), rows * columns);
        let strides = self.view.strides();
        let batch = strides.len() - 2;
        let from = self.start(index);
        // SAFETY: the view holds the matrix, and the slice has a place for each of its elements.
        unsafe {
            transfer(
                [columns, rows],
                (from, [strides[batch + 1], strides[batch]]),
                (columns_first.as_mut_ptr(), [rows as isize, 1]),
            );
        }
    }
}

/// Equal parts of memory to write, one for each matrix of a stack.
#[derive(Clone, Copy)]
pub(super) struct Results<'a, T> {
    target: Target<T>,
    length: usize,
    memory: PhantomData<&'a mut T>,
}

impl<'a, T: Element> Results<'a, T> {
    /// The parts of a dense view, in each of which are the elements of the last `axes` axes.
    pub(super) fn of(view: &'a ViewMut, axes: usize) -> Results<'a, T> {
        assert!(view.dtype() == T::DTYPE && view.layout().is_contiguous(), "dense results of one dtype");
        let shape = view.shape();
        let length = shape[shape.len() - axes..].iter().product();
        Results { target: Target::of(view), length, memory: PhantomData }
    }

    /// Let `write` fill the part of a matrix.
    pub(super) fn write<R>(&self, index: usize, write: impl FnOnce(&mut [T]) -> R) -> R {
        let start = self.target.at((index * self.length) as isize);
        // SAFETY: the view holds the part, and only the task of this index touches it (module invariant).
        write(unsafe { std::slice::from_raw_parts_mut(start, self.length) })
    }

    /// Copy a matrix that is stored column by column.
    pub(super) fn store(&self, index: usize, columns_first: &[T], rows: usize, columns: usize) {
        self.write(index, |part| {
            assert!(part.len() == rows * columns && columns_first.len() >= part.len());
            // SAFETY: both slices hold the matrix.
            unsafe {
                transfer(
                    [rows, columns],
                    (columns_first.as_ptr(), [1, rows as isize]),
                    (part.as_mut_ptr(), [columns as isize, 1]),
                );
            }
        });
    }
}

/// Copy a matrix between two layouts, tile by tile.
///
/// # Safety
/// Every element that the shape and strides reach lies in memory that may be read, or written.
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
        // SAFETY: by this function's contract; the memory to write is nobody else's.
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
                    // SAFETY: by this function's contract.
                    unsafe { *target.offset(j * to_strides[1]) = *source.offset(j * from_strides[1]) };
                }
            }
        }
    }
}

/// faer's scratch.
pub(super) struct Workspace(MemBuffer);

impl Workspace {
    /// As much as asked for.
    pub(super) fn new(need: StackReq) -> Result<Workspace, Failure> {
        MemBuffer::try_new(need).map(Workspace).map_err(|_| Failure::Memory(need.unaligned_bytes_required()))
    }

    /// All of it.
    pub(super) fn stack(&mut self) -> &mut MemStack {
        MemStack::new(&mut self.0)
    }
}

/// Elements of scratch, all alike.
pub(super) fn filled<T: Copy>(value: T, count: usize) -> Result<Vec<T>, Failure> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(count).map_err(|_| Failure::Memory(count.saturating_mul(size_of::<T>())))?;
    elements.resize(count, value);
    Ok(elements)
}

/// Run `body(index, scratch)` for every matrix of a stack; `scratch` is made once a task. A matrix costs about `cost`
/// multiplications. Answers the first for which `body` says that it has no answer.
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

/// About how many multiplications `n`-by-`m` by `m`-by-`k` takes.
pub(super) fn cost(n: usize, m: usize, k: usize) -> usize {
    n.saturating_mul(m).saturating_mul(k)
}
