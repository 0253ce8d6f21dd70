//! One matrix product in memory.

use std::ops::Range;

/// A matrix for reading.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<T> {
    /// The element at row and column zero.
    pub start: *const T,
    /// Row stride.
    pub rows: isize,
    /// Column stride.
    pub columns: isize,
}

/// The factor of the previous contents of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beta {
    /// They are overwritten.
    Zero,
    /// They are added to the product.
    One,
}

/// `out = a @ b`: shapes, operands, and the output, whose rows are contiguous.
///
/// Invariant kept by the creator: every element within the shapes is readable (for `out` exclusively writable) while the
/// product is used.
#[derive(Clone, Copy, Debug)]
pub struct Product<T, W = T, L = T> {
    /// Rows of `a` and `out`.
    pub m: usize,
    /// Columns of `b` and `out`.
    pub n: usize,
    /// Columns of `a`, rows of `b`.
    pub k: usize,
    /// The left operand; it may have been widened.
    pub a: Matrix<L>,
    /// The right operand.
    pub b: Matrix<T>,
    /// The element of the result at row and column zero.
    pub out: *mut W,
    /// Row stride of the result.
    pub out_row: isize,
}

// SAFETY: the invariant of `Product`; threads write disjoint parts of `out`.
unsafe impl<T, W, L> Sync for Product<T, W, L> {}

impl<T> Matrix<T> {
    /// Address of an element.
    #[inline(always)]
    pub fn at(&self, row: usize, column: usize) -> *const T {
        self.start.wrapping_offset(row as isize * self.rows + column as isize * self.columns)
    }

    /// The same matrix with rows and columns exchanged.
    pub fn transposed(&self) -> Matrix<T> {
        Matrix { start: self.start, rows: self.columns, columns: self.rows }
    }

    /// The submatrix that starts at an element.
    #[inline(always)]
    pub fn from(&self, row: usize, column: usize) -> Matrix<T> {
        Matrix { start: self.at(row, column), rows: self.rows, columns: self.columns }
    }
}

impl<T: Copy, W: Copy, L: Copy> Product<T, W, L> {
    /// The product for a range of columns.
    #[inline(always)]
    pub fn columns(&self, range: Range<usize>) -> Product<T, W, L> {
        Product {
            n: range.len(),
            b: self.b.from(0, range.start),
            out: self.out.wrapping_add(range.start),
            ..*self
        }
    }

    /// The product for a range of rows.
    #[inline(always)]
    pub fn rows(&self, range: Range<usize>) -> Product<T, W, L> {
        Product {
            m: range.len(),
            a: self.a.from(range.start, 0),
            out: self.out.wrapping_offset(range.start as isize * self.out_row),
            ..*self
        }
    }

    /// The partial product for a range of the depth.
    #[inline(always)]
    pub fn depths(&self, range: Range<usize>) -> Product<T, W, L> {
        Product { k: range.len(), a: self.a.from(0, range.start), b: self.b.from(range.start, 0), ..*self }
    }

    /// Set every element of the result to `value`.
    pub fn fill_out(&self, value: W) {
        for i in 0..self.m {
            let row = self.out.wrapping_offset(i as isize * self.out_row);
            // SAFETY: the invariant of `Product`: `n` elements of each row are exclusively writable.
            unsafe { std::slice::from_raw_parts_mut(row, self.n) }.fill(value);
        }
    }
}
