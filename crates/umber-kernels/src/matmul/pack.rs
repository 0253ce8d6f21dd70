//! Copies of matrices into dense rows.

use super::product::Matrix;

/// Side of the tiles in which a matrix is turned: both sides use whole cache lines.
const TILE: usize = 16;

/// Copy a matrix of `rows` by `columns` into rows `stride` apart, each element through `convert`.
#[inline(always)]
pub(crate) fn pack<T: Copy, W>(
    from: Matrix<T>,
    rows: usize,
    columns: usize,
    to: &mut [W],
    stride: usize,
    convert: impl Fn(T) -> W,
) {
    if from.columns == 1 {
        for (row, line) in to.chunks_mut(stride).enumerate().take(rows) {
            // SAFETY: a row of the matrix, which is dense.
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
                    // SAFETY: inside the matrix.
                    *line = convert(unsafe { *from.at(row, column) });
                }
            }
        }
    }
}

/// Copy a matrix of any strides into dense rows `stride` apart.
pub(crate) fn copy<T: Copy>(from: Matrix<T>, rows: usize, columns: usize, to: &mut [T], stride: usize) {
    if from.rows == 1 {
        turn(from, rows, columns, to, stride);
    } else {
        pack(from, rows, columns, to, stride, |x| x);
    }
}

/// Copy a matrix whose columns are dense into dense rows `stride` apart.
fn turn<T: Copy>(from: Matrix<T>, rows: usize, columns: usize, to: &mut [T], stride: usize) {
    debug_assert!(from.rows == 1 && stride >= columns && to.len() >= rows * stride);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx") {
        let (down, across) = (rows / TILE * TILE, columns / TILE * TILE);
        let tiles: Option<unsafe fn(*const T, isize, *mut T, usize)> = match size_of::<T>() {
            4 => Some(|from, line, to, stride| {
                // SAFETY: the processor has AVX; the caller's for the memory.
                unsafe { avx::turn_words(from.cast(), line, to.cast(), stride) }
            }),
            8 => Some(|from, line, to, stride| {
                // SAFETY: as above.
                unsafe { avx::turn_doubles(from.cast(), line, to.cast(), stride) }
            }),
            _ => None,
        };
        if let Some(tile) = tiles {
            for left in (0..across).step_by(TILE) {
                for top in (0..down).step_by(TILE) {
                    // SAFETY: whole tiles inside the matrix and inside `to`, as asserted.
                    unsafe {
                        let target = to.as_mut_ptr().add(top * stride + left);
                        tile(from.at(top, left), from.columns, target, stride);
                    }
                }
            }
            pack(from.from(down, 0), rows - down, columns, &mut to[down * stride..], stride, |x| x);
            pack(from.from(0, across), down, columns - across, &mut to[across..], stride, |x| x);
            return;
        }
    }
    pack(from, rows, columns, to, stride, |x| x);
}

#[cfg(target_arch = "x86_64")]
mod avx {
    use std::arch::x86_64::*;

    use super::TILE;

    // Plain loops: a closure would not be compiled for the instructions that vectors need.

    /// Turn a tile of 32-bit elements: `TILE` dense columns `line` apart into rows `stride` apart.
    ///
    /// # Safety
    /// The tile is readable and writable there.
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn turn_words(from: *const f32, line: isize, to: *mut f32, stride: usize) {
        for left in (0..TILE).step_by(8) {
            for top in (0..TILE).step_by(8) {
                // SAFETY: the caller's.
                unsafe {
                    let corner = from.offset(left as isize * line).add(top);
                    let mut x = [_mm256_setzero_ps(); 8];
                    for (i, x) in x.iter_mut().enumerate() {
                        *x = _mm256_loadu_ps(corner.offset(i as isize * line));
                    }
                    let mut y = x;
                    for i in 0..4 {
                        y[i] = _mm256_unpacklo_ps(x[2 * i], x[2 * i + 1]);
                        y[i + 4] = _mm256_unpackhi_ps(x[2 * i], x[2 * i + 1]);
                    }
                    for i in 0..2 {
                        x[i] = _mm256_shuffle_ps::<0x44>(y[2 * i], y[2 * i + 1]);
                        x[i + 2] = _mm256_shuffle_ps::<0xee>(y[2 * i], y[2 * i + 1]);
                        x[i + 4] = _mm256_shuffle_ps::<0x44>(y[2 * i + 4], y[2 * i + 5]);
                        x[i + 6] = _mm256_shuffle_ps::<0xee>(y[2 * i + 4], y[2 * i + 5]);
                    }
                    let corner = to.add(top * stride + left);
                    for i in 0..4 {
                        let low = _mm256_permute2f128_ps::<0x20>(x[2 * i], x[2 * i + 1]);
                        let high = _mm256_permute2f128_ps::<0x31>(x[2 * i], x[2 * i + 1]);
                        _mm256_storeu_ps(corner.add(i * stride), low);
                        _mm256_storeu_ps(corner.add((i + 4) * stride), high);
                    }
                }
            }
        }
    }

    /// Turn a tile of 64-bit elements, like [`turn_words`].
    ///
    /// # Safety
    /// The tile is readable and writable there.
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn turn_doubles(from: *const f64, line: isize, to: *mut f64, stride: usize) {
        for left in (0..TILE).step_by(4) {
            for top in (0..TILE).step_by(4) {
                // SAFETY: the caller's.
                unsafe {
                    let corner = from.offset(left as isize * line).add(top);
                    let mut x = [_mm256_setzero_pd(); 4];
                    for (i, x) in x.iter_mut().enumerate() {
                        *x = _mm256_loadu_pd(corner.offset(i as isize * line));
                    }
                    let corner = to.add(top * stride + left);
                    for i in 0..2 {
                        let (even, odd) = if i == 0 {
                            (_mm256_unpacklo_pd(x[0], x[1]), _mm256_unpacklo_pd(x[2], x[3]))
                        } else {
                            (_mm256_unpackhi_pd(x[0], x[1]), _mm256_unpackhi_pd(x[2], x[3]))
                        };
                        _mm256_storeu_pd(corner.add(i * stride), _mm256_permute2f128_pd::<0x20>(even, odd));
                        _mm256_storeu_pd(
                            corner.add((i + 2) * stride),
                            _mm256_permute2f128_pd::<0x31>(even, odd),
                        );
                    }
                }
            }
        }
    }
}
