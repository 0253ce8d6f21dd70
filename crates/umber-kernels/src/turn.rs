//! Square tiles of matrices, turned: columns become rows. Only bits move.

/// Side of a tile: both sides use whole cache lines.
pub(crate) const TILE: usize = 16;

/// `turn(from, line, to, stride)`: `TILE` dense columns, `line` elements apart, become rows `stride` elements apart.
///
/// Unsafe: the tile is readable and writable there.
pub(crate) type Turn = unsafe fn(*const u8, isize, *mut u8, isize);

/// How this processor turns tiles of elements of a size with vectors, if it does.
pub(crate) fn tile(size: usize) -> Option<Turn> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx") {
        return match size {
            // SAFETY: the processor has AVX; the caller's for the memory.
            4 => Some(|from, line, to, stride| unsafe {
                avx::turn_words(from.cast(), line, to.cast(), stride);
            }),
            // SAFETY: as above.
            8 => Some(|from, line, to, stride| unsafe {
                avx::turn_doubles(from.cast(), line, to.cast(), stride);
            }),
            _ => None,
        };
    }
    let _ = size;
    None
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
    pub(super) unsafe fn turn_words(from: *const f32, line: isize, to: *mut f32, stride: isize) {
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
                    let corner = to.offset(top as isize * stride).add(left);
                    for i in 0..4 {
                        let low = _mm256_permute2f128_ps::<0x20>(x[2 * i], x[2 * i + 1]);
                        let high = _mm256_permute2f128_ps::<0x31>(x[2 * i], x[2 * i + 1]);
                        _mm256_storeu_ps(corner.offset(i as isize * stride), low);
                        _mm256_storeu_ps(corner.offset((i as isize + 4) * stride), high);
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
    pub(super) unsafe fn turn_doubles(from: *const f64, line: isize, to: *mut f64, stride: isize) {
        for left in (0..TILE).step_by(4) {
            for top in (0..TILE).step_by(4) {
                // SAFETY: the caller's.
                unsafe {
                    let corner = from.offset(left as isize * line).add(top);
                    let mut x = [_mm256_setzero_pd(); 4];
                    for (i, x) in x.iter_mut().enumerate() {
                        *x = _mm256_loadu_pd(corner.offset(i as isize * line));
                    }
                    let corner = to.offset(top as isize * stride).add(left);
                    for i in 0..2 {
                        let (even, odd) = if i == 0 {
                            (_mm256_unpacklo_pd(x[0], x[1]), _mm256_unpacklo_pd(x[2], x[3]))
                        } else {
                            (_mm256_unpackhi_pd(x[0], x[1]), _mm256_unpackhi_pd(x[2], x[3]))
                        };
                        _mm256_storeu_pd(
                            corner.offset(i as isize * stride),
                            _mm256_permute2f128_pd::<0x20>(even, odd),
                        );
                        _mm256_storeu_pd(
                            corner.offset((i as isize + 2) * stride),
                            _mm256_permute2f128_pd::<0x31>(even, odd),
                        );
                    }
                }
            }
        }
    }
}
