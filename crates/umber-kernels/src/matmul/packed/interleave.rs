//! Dense rows are interleaved: the elements of one column become neighbours.

use umber_types::Element;

/// Elements that may be written after the last one.
pub(super) const SLACK: usize = 8;

/// Interleave `H` rows of `length` elements, which are `line` apart.
///
/// # Panics
/// If there is no room for them, with [`SLACK`].
///
/// # Safety
/// The rows can be read.
pub(super) unsafe fn interleave<T: Element, const H: usize>(
    rows: *const T,
    line: usize,
    length: usize,
    to: &mut [T],
) {
    assert!(H <= 2 * SLACK && to.len() >= H * length + SLACK, "room for the rows");
    // SAFETY: the caller's, and as asserted.
    let done = unsafe { with_registers::<T, H>(rows, line, length, to) };
    for column in done..length {
        for row in 0..H {
            // SAFETY: the caller's.
            to[column * H + row] = unsafe { *rows.add(row * line + column) };
        }
    }
}

/// [`interleave`] the first columns; answers how many.
///
/// # Safety
/// Of [`interleave`], and there is as much room as it asks for.
unsafe fn with_registers<T: Element, const H: usize>(
    rows: *const T,
    line: usize,
    length: usize,
    to: &mut [T],
) -> usize {
    #[cfg(target_arch = "x86_64")]
    if crate::isa::level() >= 1 {
        let to = to.as_mut_ptr();
        // SAFETY: the caller's; the level says that the processor has the instructions.
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

    use crate::turn::avx as turned;

    // Registers hold more columns than there are rows: what they write beyond is overwritten by what comes next.

    /// [`interleave`](super::interleave) 32-bit elements.
    ///
    /// # Safety
    /// As there.
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn words<const H: usize>(
        rows: *const f32,
        line: usize,
        length: usize,
        to: *mut f32,
    ) -> usize {
        let whole = length / 8 * 8;
        for column in (0..whole).step_by(8) {
            let (mut x, mut y) = ([_mm256_setzero_ps(); 8], [_mm256_setzero_ps(); 8]);
            // SAFETY: the caller's.
            unsafe {
                for row in 0..H {
                    let half = if row < 8 { &mut x } else { &mut y };
                    half[row % 8] = _mm256_loadu_ps(rows.add(row * line + column));
                }
                for (i, (first, second)) in turned::words(x).into_iter().zip(turned::words(y)).enumerate() {
                    let to = to.add((column + i) * H);
                    _mm256_storeu_ps(to, first);
                    if H > 8 {
                        _mm256_storeu_ps(to.add(8), second);
                    }
                }
            }
        }
        whole
    }

    /// [`interleave`](super::interleave) 64-bit elements.
    ///
    /// # Safety
    /// As there.
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn doubles<const H: usize>(
        rows: *const f64,
        line: usize,
        length: usize,
        to: *mut f64,
    ) -> usize {
        let whole = length / 4 * 4;
        for column in (0..whole).step_by(4) {
            // SAFETY: the caller's.
            unsafe {
                let mut columns = [[_mm256_setzero_pd(); 4]; 3];
                for row in 0..H {
                    columns[row / 4][row % 4] = _mm256_loadu_pd(rows.add(row * line + column));
                }
                let parts = columns.map(|part| turned::doubles(part));
                for i in 0..4 {
                    let to = to.add((column + i) * H);
                    for (part, from) in parts.iter().enumerate().take(H.div_ceil(4)) {
                        _mm256_storeu_pd(to.add(4 * part), from[i]);
                    }
                }
            }
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matmul::packed::kernel::{FEWEST, with_height};

    #[test]
    fn columns_of_any_tile_become_neighbours() {
        for (height, length) in (FEWEST..=12).flat_map(|height| [1, 7, 8, 21].map(|length| (height, length)))
        {
            let line = length + 3;
            let rows: Vec<f32> = (0..height * line).map(|i| i as f32).collect();
            let wide: Vec<f64> = rows.iter().copied().map(f64::from).collect();
            let mut to = vec![-1.0f32; height * length + SLACK];
            let mut wide_to = vec![-1.0f64; height * length + SLACK];
            // SAFETY: so many rows can be read.
            unsafe {
                with_height!(height, H => interleave::<f32, H>(rows.as_ptr(), line, length, &mut to));
                with_height!(height, H => interleave::<f64, H>(wide.as_ptr(), line, length, &mut wide_to));
            }
            for (column, row) in (0..length).flat_map(|column| (0..height).map(move |row| (column, row))) {
                assert_eq!(to[column * height + row], rows[row * line + column], "{height} by {length}");
                assert_eq!(wide_to[column * height + row], wide[row * line + column], "{height} by {length}");
            }
        }
    }
}
