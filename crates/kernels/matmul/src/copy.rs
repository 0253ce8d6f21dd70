//! Copies of matrices to dense rows.

use umber_kernels_base::transpose::{self, TILE};

use super::product::Matrix;

/// Copy a matrix of `rows` by `columns` to rows `stride` apart, converting each element.
#[inline(always)]
pub fn pack<T: Copy, W>(
    from: Matrix<T>,
    rows: usize,
    columns: usize,
    to: &mut [W],
    stride: usize,
    convert: impl Fn(T) -> W,
) {
    if from.columns == 1 {
        for (row, line) in to.chunks_mut(stride).enumerate().take(rows) {
            // SAFETY: the row is inside the matrix and contiguous.
            let from = unsafe { std::slice::from_raw_parts(from.at(row, 0), columns) };
            line.iter_mut().zip(from).for_each(|(to, &from)| *to = convert(from));
        }
        return;
    }
    for top in (0..rows).step_by(TILE) {
        for left in (0..columns).step_by(TILE) {
            for row in top..rows.min(top + TILE) {
                let line = &mut to[row * stride..][..columns];
                for (column, line) in line.iter_mut().enumerate().skip(left).take(TILE) {
                    // SAFETY: the element is inside the matrix.
                    *line = convert(unsafe { *from.at(row, column) });
                }
            }
        }
    }
}

/// Copy a matrix of any strides to dense rows `stride` apart.
pub fn copy<T: Copy>(from: Matrix<T>, rows: usize, columns: usize, to: &mut [T], stride: usize) {
    if from.rows == 1 {
        transpose_block(from, rows, columns, to, stride);
    } else {
        pack(from, rows, columns, to, stride, |x| x);
    }
}

/// Copy a matrix with dense columns to dense rows `stride` apart.
fn transpose_block<T: Copy>(from: Matrix<T>, rows: usize, columns: usize, to: &mut [T], stride: usize) {
    debug_assert!(from.rows == 1 && stride >= columns && to.len() + stride >= rows * stride + columns);
    let Some(tile) = transpose::tile(size_of::<T>(), transpose::Stores::Cached) else {
        return pack(from, rows, columns, to, stride, |x| x);
    };
    let (full_rows, full_columns) = (rows / TILE * TILE, columns / TILE * TILE);
    for left in (0..full_columns).step_by(TILE) {
        for top in (0..full_rows).step_by(TILE) {
            // SAFETY: full tiles inside the matrix and inside `to`, as asserted.
            unsafe {
                let target = to.as_mut_ptr().add(top * stride + left);
                tile(from.at(top, left).cast(), from.columns, target.cast(), stride as isize);
            }
        }
    }
    if full_rows < rows {
        pack(
            from.from(full_rows, 0),
            rows - full_rows,
            columns,
            &mut to[full_rows * stride..],
            stride,
            |x| x,
        );
    }
    pack(
        from.from(0, full_columns),
        full_rows,
        columns - full_columns,
        &mut to[full_columns..],
        stride,
        |x| x,
    );
}
