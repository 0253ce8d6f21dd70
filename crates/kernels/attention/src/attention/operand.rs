//! Operands of attention: their rows, converted to the computing type.

use std::ops::Range;

use umber_kernels_base::View;
use umber_kernels_base::isa::vectorised;
use umber_kernels_base::lanes::Ring;
use umber_kernels_base::row::{Compute, Real};
use umber_kernels_matmul::multiply::Multiply;
use umber_kernels_matmul::product::Matrix;
use umber_types::{Bool, DType, Element};

/// A computing type of attention.
pub(super) trait AttentionFloat: Compute + Ring + Real<Compute = Self> + Multiply<Acc = Self> {
    /// The score of a hidden key: the lowest finite number, so that a query with all keys hidden weights them equally.
    const MASKED: Self = Self::LOWEST;
}

impl AttentionFloat for f32 {}
impl AttentionFloat for f64 {}

/// Reads `to.len()` elements with a stride, converted to the computing type.
type Fetch<W> = unsafe fn(from: *const u8, stride: isize, to: &mut [W]);
/// Applies a row of a mask to scores.
type Blend<W> = unsafe fn(from: *const u8, stride: isize, scores: &mut [W]);

/// # Safety
/// `to.len()` elements are readable at `from`.
unsafe fn fetch<T: Real>(from: *const u8, stride: isize, to: &mut [T::Compute]) {
    let from = from.cast::<T>();
    if stride == 1 {
        // SAFETY: guaranteed by the caller of this function.
        let from = unsafe { std::slice::from_raw_parts(from, to.len()) };
        for (to, &from) in to.iter_mut().zip(from) {
            *to = from.widen();
        }
        return;
    }
    for (i, to) in to.iter_mut().enumerate() {
        // SAFETY: guaranteed by the caller of this function.
        *to = unsafe { *from.wrapping_offset(i as isize * stride) }.widen();
    }
}

/// `score + term`; the score of a hidden key if the term is at most the lowest finite number of its dtype, or if the sum is below
/// that of the score. NaN is preserved.
#[inline(always)]
fn masked<T: Real>(score: T::Compute, term: T) -> T::Compute
where
    T::Compute: AttentionFloat,
{
    let (hidden, term) = (<T::Compute as AttentionFloat>::MASKED, term.widen());
    let sum = score + term;
    if term <= T::LOWEST || sum < hidden { hidden } else { sum }
}

/// # Safety
/// `scores.len()` elements are readable at `from`.
unsafe fn add_terms<T: Real>(from: *const u8, stride: isize, scores: &mut [T::Compute])
where
    T::Compute: AttentionFloat,
{
    let from = from.cast::<T>();
    vectorised(
        #[inline(always)]
        || {
            if stride == 1 {
                // SAFETY: guaranteed by the caller of this function.
                let terms = unsafe { std::slice::from_raw_parts(from, scores.len()) };
                for (score, &term) in scores.iter_mut().zip(terms) {
                    *score = masked(*score, term);
                }
                return;
            }
            for (i, score) in scores.iter_mut().enumerate() {
                // SAFETY: guaranteed by the caller of this function.
                *score = masked(*score, unsafe { *from.wrapping_offset(i as isize * stride) });
            }
        },
    );
}

/// # Safety
/// `scores.len()` elements are readable at `from`.
unsafe fn mask_scores<W: AttentionFloat>(from: *const u8, stride: isize, scores: &mut [W]) {
    let from = from.cast::<Bool>();
    for (i, score) in scores.iter_mut().enumerate() {
        // SAFETY: guaranteed by the caller of this function.
        let is_visible = unsafe { *from.wrapping_offset(i as isize * stride) }.0 != 0;
        *score = if is_visible { *score } else { W::MASKED };
    }
}

/// One operand: the addresses of its rows and the function that reads them.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, W> {
    start: *const u8,
    size: usize,
    /// Strides of all axes; the last two are those of rows and columns.
    strides: &'a [isize],
    fetch: Fetch<W>,
    /// True if the elements have the computing type.
    is_direct: bool,
}

// SAFETY: the pointer is that of a view, which is valid on all threads; it is only read.
unsafe impl<W> Sync for Rows<'_, W> {}

impl<'a, W: AttentionFloat> Rows<'a, W> {
    /// The rows of a view of floats with computing type `W`.
    pub(super) fn of<T: Real<Compute = W>>(view: &View<'a>) -> Rows<'a, W> {
        Rows {
            start: view.start(),
            size: size_of::<T>(),
            strides: view.strides(),
            fetch: fetch::<T>,
            is_direct: T::IS_COMPUTE,
        }
    }

    /// The matrix of a head, at an index of the batch.
    pub(super) fn head(&self, batch: &[usize], head: usize) -> Head<W> {
        let (leading, matrix) = self.strides.split_at(self.strides.len() - 2);
        let batch_offset =
            batch.iter().zip(leading).map(|(&at, &stride)| at as isize * stride).sum::<isize>();
        let offset = batch_offset + head as isize * leading[leading.len() - 1];
        Head {
            start: self.start.wrapping_offset(offset * self.size as isize),
            size: self.size,
            rows: matrix[0],
            columns: matrix[1],
            fetch: self.fetch,
            is_direct: self.is_direct,
        }
    }
}

/// One matrix of an operand: the rows of one head.
#[derive(Clone, Copy)]
pub(super) struct Head<W> {
    start: *const u8,
    size: usize,
    pub(super) rows: isize,
    pub(super) columns: isize,
    fetch: Fetch<W>,
    is_direct: bool,
}

impl<W: AttentionFloat> Head<W> {
    /// Read a row.
    ///
    /// # Safety
    /// The row is inside the matrix, and `to` has at most as many elements as it has columns.
    pub(super) unsafe fn row(&self, index: usize, to: &mut [W]) {
        let from = self.start.wrapping_offset(index as isize * self.rows * self.size as isize);
        // SAFETY: the elements are inside the view, by the caller's contract.
        unsafe { (self.fetch)(from, self.columns, to) };
    }

    /// A block of rows as a matrix: in place if the elements have the computing type, else copied to `scratch`.
    ///
    /// # Safety
    /// The rows and columns are inside the matrix.
    pub(super) unsafe fn block(&self, rows: Range<usize>, columns: usize, scratch: &mut [W]) -> Matrix<W> {
        if self.is_direct {
            let start = self.start.wrapping_offset(rows.start as isize * self.rows * self.size as isize);
            return Matrix { start: start.cast(), rows: self.rows, columns: self.columns };
        }
        for (i, line) in rows.zip(scratch.chunks_exact_mut(columns.max(1))) {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { self.row(i, &mut line[..columns]) };
        }
        Matrix { start: scratch.as_ptr(), rows: columns as isize, columns: 1 }
    }
}

/// A mask given as an array.
#[derive(Clone, Copy)]
pub(super) struct Mask<'a, W> {
    start: *const u8,
    size: usize,
    strides: &'a [isize],
    blend: Blend<W>,
}

impl<'a, W: AttentionFloat> Mask<'a, W> {
    /// The mask for operands of type `T`.
    pub(super) fn of<T: Real<Compute = W>>(view: &View<'a>) -> Mask<'a, W> {
        Mask {
            start: view.start(),
            size: view.dtype().size(),
            strides: view.strides(),
            blend: blend_of::<T>(view.dtype()),
        }
    }

    /// Apply the mask elements from an index on, along the last axis, to the scores.
    ///
    /// # Safety
    /// The mask has `scores.len()` elements from there.
    pub(super) unsafe fn apply(&self, index: impl Iterator<Item = usize>, scores: &mut [W]) {
        let offset = index.zip(self.strides).map(|(at, &stride)| at as isize * stride).sum::<isize>();
        let from = self.start.wrapping_offset(offset * self.size as isize);
        // SAFETY: guaranteed by the caller of this function.
        unsafe { (self.blend)(from, self.strides[self.strides.len() - 1], scores) };
    }
}

/// The function that applies a mask of this dtype.
fn blend_of<T: Real>(dtype: DType) -> Blend<T::Compute>
where
    T::Compute: AttentionFloat,
{
    if dtype == DType::Bool {
        mask_scores::<T::Compute>
    } else if dtype == T::DTYPE {
        add_terms::<T>
    } else {
        assert_eq!(dtype, T::Compute::DTYPE, "the dtype of a mask");
        add_terms::<T::Compute>
    }
}
