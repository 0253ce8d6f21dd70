//! Interleaves dense rows: the elements of one column become contiguous.

use umber_types::Element;

use super::kernel::MAX_ROWS;

/// Elements that may be written after the last one.
pub(super) const SLACK: usize = 8;

/// Interleave `H` rows of `length` elements with row stride `line`.
///
/// # Panics
/// If `to` is shorter than the result plus [`SLACK`].
///
/// # Safety
/// The rows are readable.
pub(super) unsafe fn interleave<T: Element, const H: usize>(
    rows: *const T,
    line: isize,
    length: usize,
    to: &mut [T],
) {
    assert!(H <= MAX_ROWS && to.len() >= H * length + SLACK, "the result and the slack fit");
    // SAFETY: the rows are readable by this function's contract; the length of `to` is asserted.
    let done = unsafe { with_registers::<T, H>(rows, line, length, to) };
    for column in done..length {
        for row in 0..H {
            // SAFETY: the row is readable by this function's contract.
            to[column * H + row] = unsafe { *rows.offset(row as isize * line).add(column) };
        }
    }
}

/// [`interleave`] the first columns; returns the number of columns.
///
/// # Safety
/// As for [`interleave`], and `to` has the length that it asserts.
unsafe fn with_registers<T: Element, const H: usize>(
    rows: *const T,
    line: isize,
    length: usize,
    to: &mut [T],
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if umber_kernels_base::isa::level() >= 1 {
        let to = to.as_mut_ptr();
        // SAFETY: guaranteed by this function's contract; the level guarantees the instructions.
        return unsafe {
            match size_of::<T>() {
                4 => avx::words::<H>(rows.cast(), line, length, to.cast()),
                8 => avx::doubles::<H>(rows.cast(), line, length, to.cast()),
                _ => 0,
            }
        };
    }
    let _ = (rows, line, length, to);
    0
}

#[cfg(target_arch = "x86_64")]
mod avx {
    use std::arch::x86_64::*;

    use umber_kernels_base::transpose::avx as transposed;

    // Registers hold more columns than there are rows: the excess is overwritten by the next store.

    /// [`interleave`](super::interleave) 32-bit elements.
    ///
    /// # Safety
    /// As of [`interleave`](super::interleave); the processor has AVX.
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn words<const H: usize>(
        rows: *const f32,
        line: isize,
        length: usize,
        to: *mut f32,
    ) -> usize {
        let full = length / 8 * 8;
        for column in (0..full).step_by(8) {
            let (mut x, mut y) = ([_mm256_setzero_ps(); 8], [_mm256_setzero_ps(); 8]);
            // SAFETY: the vectors lie inside the rows and `to`, as this function requires.
            unsafe {
                for row in 0..H {
                    let block = if row < 8 { &mut x } else { &mut y };
                    block[row % 8] = _mm256_loadu_ps(rows.offset(row as isize * line).add(column));
                }
                for (i, (first, second)) in
                    transposed::words(x).into_iter().zip(transposed::words(y)).enumerate()
                {
                    let to = to.add((column + i) * H);
                    _mm256_storeu_ps(to, first);
                    if H > 8 {
                        _mm256_storeu_ps(to.add(8), second);
                    }
                }
            }
        }
        full
    }

    /// [`interleave`](super::interleave) 64-bit elements.
    ///
    /// # Safety
    /// As of [`interleave`](super::interleave); the processor has AVX.
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn doubles<const H: usize>(
        rows: *const f64,
        line: isize,
        length: usize,
        to: *mut f64,
    ) -> usize {
        let full = length / 4 * 4;
        for column in (0..full).step_by(4) {
            // SAFETY: the vectors lie inside the rows and `to`, as this function requires.
            unsafe {
                let mut columns = [[_mm256_setzero_pd(); 4]; 3];
                for row in 0..H {
                    columns[row / 4][row % 4] = _mm256_loadu_pd(rows.offset(row as isize * line).add(column));
                }
                for block in &mut columns {
                    *block = transposed::doubles(*block);
                }
                for i in 0..4 {
                    let to = to.add((column + i) * H);
                    for (block, from) in columns.iter().enumerate().take(H.div_ceil(4)) {
                        _mm256_storeu_pd(to.add(4 * block), from[i]);
                    }
                }
            }
        }
        full
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::kernel::{MIN_ROWS, with_height};

    /// Interleave rows with a positive or a negative stride.
    fn check(height: usize, length: usize, is_backward: bool) {
        let line = length + 3;
        let narrow: Vec<f32> = (0..height * line).map(|i| i as f32).collect();
        let wide: Vec<f64> = narrow.iter().copied().map(f64::from).collect();
        let (first, step) = if is_backward { ((height - 1) * line, -1) } else { (0, 1) };
        let stride = step * line as isize;
        let mut narrow_to = vec![-1.0f32; height * length + SLACK];
        let mut wide_to = vec![-1.0f64; height * length + SLACK];
        // SAFETY: the vectors have `height` rows.
        unsafe {
            let (narrow, wide) = (narrow.as_ptr().add(first), wide.as_ptr().add(first));
            with_height!(height, H => interleave::<f32, H>(narrow, stride, length, &mut narrow_to));
            with_height!(height, H => interleave::<f64, H>(wide, stride, length, &mut wide_to));
        }
        for (column, row) in (0..length).flat_map(|column| (0..height).map(move |row| (column, row))) {
            let expected = narrow[first.wrapping_add_signed(row as isize * stride) + column];
            let at = column * height + row;
            assert_eq!(narrow_to[at], expected, "{height} by {length}");
            assert_eq!(wide_to[at], f64::from(expected), "{height} by {length}");
        }
    }

    #[test]
    fn columns_become_contiguous() {
        for height in MIN_ROWS..=MAX_ROWS {
            for length in [1, 7, 8, 21] {
                check(height, length, false);
                check(height, length, true);
            }
        }
    }
}
