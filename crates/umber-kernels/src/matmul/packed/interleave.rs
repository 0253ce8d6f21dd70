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
    assert!(H <= SLACK && to.len() >= H * length + SLACK, "room for the rows");
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
            let mut x = [_mm256_setzero_ps(); 8];
            // SAFETY: the caller's.
            unsafe {
                for (row, x) in x.iter_mut().enumerate().take(H) {
                    *x = _mm256_loadu_ps(rows.add(row * line + column));
                }
                for (i, together) in turned::words(x).into_iter().enumerate() {
                    _mm256_storeu_ps(to.add((column + i) * H), together);
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
            let (mut x, mut y) = ([_mm256_setzero_pd(); 4], [_mm256_setzero_pd(); 4]);
            // SAFETY: the caller's.
            unsafe {
                for row in 0..H {
                    let half = if row < 4 { &mut x } else { &mut y };
                    half[row % 4] = _mm256_loadu_pd(rows.add(row * line + column));
                }
                for (i, (first, second)) in turned::doubles(x).into_iter().zip(turned::doubles(y)).enumerate()
                {
                    let to = to.add((column + i) * H);
                    _mm256_storeu_pd(to, first);
                    if H > 4 {
                        _mm256_storeu_pd(to.add(4), second);
                    }
                }
            }
        }
        whole
    }
}
