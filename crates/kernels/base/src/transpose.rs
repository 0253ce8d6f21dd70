//! Transposes of square tiles, by element size only.

/// Side of a tile: both sides use whole cache lines.
pub const TILE: usize = 16;

/// `transpose(from, line, to, stride)`: `TILE` dense columns, `line` elements apart, become rows `stride` elements apart.
///
/// Unsafe: the tile must be readable at `from` and writable at `to`.
pub type TransposeFn = unsafe fn(*const u8, isize, *mut u8, isize);

/// How the rows of a transposed tile are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// Regular stores.
    Cached,
    /// Non-temporal stores: the rows are whole cache lines, and [`finish_streaming`](crate::caches::finish_streaming) must
    /// follow.
    NonTemporal,
}

/// The vectorised transpose of tiles with this element size, if this processor has one.
pub fn tile(size: usize, stores: Stores) -> Option<TransposeFn> {
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! transpose {
            ($transpose:path) => {
                // SAFETY: the level guarantees the instructions; the caller of the pointer guarantees the memory.
                Some(|from, line, to, stride| unsafe { $transpose(from.cast(), line, to.cast(), stride) })
            };
        }
        match (stores, size, crate::isa::level()) {
            (Stores::Cached, 4, 1..) => transpose!(avx::transpose_words),
            (Stores::Cached, 8, 1..) => transpose!(avx::transpose_doubles),
            (Stores::NonTemporal, 4, 2) => transpose!(avx512::transpose_words),
            (Stores::NonTemporal, 8, 2) => transpose!(avx512::transpose_doubles),
            (Stores::NonTemporal, 4, 1) => transpose!(avx::stream_words),
            (Stores::NonTemporal, 8, 1) => transpose!(avx::stream_doubles),
            _ => None,
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (size, stores);
        None
    }
}

#[cfg(target_arch = "x86_64")]
/// Vectors of AVX2.
pub mod avx {
    use std::arch::x86_64::*;

    use super::TILE;

    // Plain loops: a closure would not inherit the enclosing function's target features.

    macro_rules! tiles {
        ($($element:ty, $vector:ty, $side:literal: $square:ident $transposed:ident $transpose:ident $stream:ident,
            $zero:ident $load:ident $store:ident $stream_store:ident;)*) => {$(
            /// Load as many dense columns, `line` apart, as a vector has lanes, and transpose them.
            ///
            /// # Safety
            /// The columns are readable.
            #[target_feature(enable = "avx")]
            #[inline]
            unsafe fn $square(from: *const $element, line: isize) -> [$vector; $side] {
                let mut x = [$zero(); $side];
                for (i, x) in x.iter_mut().enumerate() {
                    // SAFETY: the columns are readable by this function's contract.
                    *x = unsafe { $load(from.offset(i as isize * line)) };
                }
                $transposed(x)
            }

            /// Transpose a tile: `TILE` dense columns `line` apart into rows `stride` apart.
            ///
            /// # Safety
            /// The columns are readable, and the rows writable.
            #[target_feature(enable = "avx")]
            pub(super) unsafe fn $transpose(from: *const $element, line: isize, to: *mut $element, stride: isize) {
                for left in (0..TILE).step_by($side) {
                    for top in (0..TILE).step_by($side) {
                        // SAFETY: the vectors lie inside the tile, which the caller guarantees.
                        unsafe {
                            let corner = to.offset(top as isize * stride).add(left);
                            let rows = $square(from.offset(left as isize * line).add(top), line);
                            for (i, row) in rows.into_iter().enumerate() {
                                $store(corner.offset(i as isize * stride), row);
                            }
                        }
                    }
                }
            }

            /// As above with non-temporal stores; both halves of a cache line are written in sequence.
            ///
            /// # Safety
            /// As above, and the rows are aligned cache lines.
            #[target_feature(enable = "avx")]
            pub(super) unsafe fn $stream(from: *const $element, line: isize, to: *mut $element, stride: isize) {
                for left in (0..TILE).step_by(2 * $side) {
                    for top in (0..TILE).step_by($side) {
                        // SAFETY: the vectors lie inside the tile, which the caller guarantees.
                        unsafe {
                            let corner = to.offset(top as isize * stride).add(left);
                            let first = $square(from.offset(left as isize * line).add(top), line);
                            let second = $square(from.offset((left + $side) as isize * line).add(top), line);
                            for (i, (first, second)) in first.into_iter().zip(second).enumerate() {
                                let row = corner.offset(i as isize * stride);
                                $stream_store(row, first);
                                $stream_store(row.add($side), second);
                            }
                        }
                    }
                }
            }
        )*};
    }
    tiles! {
        f32, __m256, 8: square_of_words words transpose_words stream_words,
            _mm256_setzero_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_stream_ps;
        f64, __m256d, 4: square_of_doubles doubles transpose_doubles stream_doubles,
            _mm256_setzero_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_stream_pd;
    }

    /// Transpose eight by eight 32-bit elements.
    ///
    /// # Safety
    /// The processor has AVX.
    #[target_feature(enable = "avx")]
    #[inline]
    pub fn words(mut x: [__m256; 8]) -> [__m256; 8] {
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
        for i in 0..4 {
            y[i] = _mm256_permute2f128_ps::<0x20>(x[2 * i], x[2 * i + 1]);
            y[i + 4] = _mm256_permute2f128_ps::<0x31>(x[2 * i], x[2 * i + 1]);
        }
        y
    }

    /// Transpose four by four 64-bit elements.
    ///
    /// # Safety
    /// The processor has AVX.
    #[target_feature(enable = "avx")]
    #[inline]
    pub fn doubles(x: [__m256d; 4]) -> [__m256d; 4] {
        let (even, odd) = (_mm256_unpacklo_pd(x[0], x[1]), _mm256_unpacklo_pd(x[2], x[3]));
        let (even_high, odd_high) = (_mm256_unpackhi_pd(x[0], x[1]), _mm256_unpackhi_pd(x[2], x[3]));
        [
            _mm256_permute2f128_pd::<0x20>(even, odd),
            _mm256_permute2f128_pd::<0x20>(even_high, odd_high),
            _mm256_permute2f128_pd::<0x31>(even, odd),
            _mm256_permute2f128_pd::<0x31>(even_high, odd_high),
        ]
    }
}

#[cfg(target_arch = "x86_64")]
/// Vectors of AVX-512.
pub mod avx512 {
    use std::arch::x86_64::*;

    use super::TILE;

    /// Transpose a tile of 32-bit elements: `TILE` dense columns `line` apart into rows `stride` apart, with non-temporal stores.
    ///
    /// Dense columns `line` apart are readable, and the rows writable and aligned to cache lines.
    /// The tile is readable and writable there, and its rows are lines of the caches.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn transpose_words(from: *const f32, line: isize, to: *mut f32, stride: isize) {
        // SAFETY: the vectors lie inside the tile, which the caller guarantees.
        unsafe {
            let mut x = [_mm512_setzero_si512(); TILE];
            for (i, x) in x.iter_mut().enumerate() {
                *x = _mm512_loadu_si512(from.offset(i as isize * line).cast());
            }
            for (i, row) in words(x).into_iter().enumerate() {
                _mm512_stream_si512(to.offset(i as isize * stride).cast(), row);
            }
        }
    }

    /// Transpose sixteen by sixteen 32-bit elements.
    ///
    /// # Safety
    /// The processor has AVX-512.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub fn words(mut x: [__m512i; TILE]) -> [__m512i; TILE] {
        // Interleave pairs of columns, then groups of four, within 128-bit lanes.
        let mut y = x;
        for i in 0..8 {
            y[2 * i] = _mm512_unpacklo_epi32(x[2 * i], x[2 * i + 1]);
            y[2 * i + 1] = _mm512_unpackhi_epi32(x[2 * i], x[2 * i + 1]);
        }
        for i in (0..TILE).step_by(4) {
            x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
            x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
            x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
            x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
        }
        // Vector j of each group of four has rows j, j + 4, j + 8 and j + 12.
        for j in 0..4 {
            let low = _mm512_shuffle_i32x4::<0x88>(x[j], x[4 + j]);
            let high = _mm512_shuffle_i32x4::<0x88>(x[8 + j], x[12 + j]);
            let low_odd = _mm512_shuffle_i32x4::<0xdd>(x[j], x[4 + j]);
            let high_odd = _mm512_shuffle_i32x4::<0xdd>(x[8 + j], x[12 + j]);
            y[j] = _mm512_shuffle_i32x4::<0x88>(low, high);
            y[j + 4] = _mm512_shuffle_i32x4::<0x88>(low_odd, high_odd);
            y[j + 8] = _mm512_shuffle_i32x4::<0xdd>(low, high);
            y[j + 12] = _mm512_shuffle_i32x4::<0xdd>(low_odd, high_odd);
        }
        y
    }

    /// Transpose a tile of 64-bit elements, like [`transpose_words`].
    ///
    /// # Safety
    /// As of [`transpose_words`].
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn transpose_doubles(from: *const f64, line: isize, to: *mut f64, stride: isize) {
        for left in (0..TILE).step_by(8) {
            for top in (0..TILE).step_by(8) {
                // SAFETY: the vectors lie inside the tile, which the caller guarantees.
                unsafe {
                    let corner = from.offset(left as isize * line).add(top);
                    let mut x = [_mm512_setzero_pd(); 8];
                    for (i, x) in x.iter_mut().enumerate() {
                        *x = _mm512_loadu_pd(corner.offset(i as isize * line));
                    }
                    let corner = to.offset(top as isize * stride).add(left);
                    // The even rows, then the odd ones.
                    for odd in 0..2 {
                        let pair = |i: usize| {
                            if odd == 0 {
                                _mm512_unpacklo_pd(x[2 * i], x[2 * i + 1])
                            } else {
                                _mm512_unpackhi_pd(x[2 * i], x[2 * i + 1])
                            }
                        };
                        let low = _mm512_shuffle_f64x2::<0x88>(pair(0), pair(1));
                        let high = _mm512_shuffle_f64x2::<0x88>(pair(2), pair(3));
                        let low_odd = _mm512_shuffle_f64x2::<0xdd>(pair(0), pair(1));
                        let high_odd = _mm512_shuffle_f64x2::<0xdd>(pair(2), pair(3));
                        let row = |k: usize| corner.offset((odd + 2 * k) as isize * stride);
                        _mm512_stream_pd(row(0), _mm512_shuffle_f64x2::<0x88>(low, high));
                        _mm512_stream_pd(row(1), _mm512_shuffle_f64x2::<0x88>(low_odd, high_odd));
                        _mm512_stream_pd(row(2), _mm512_shuffle_f64x2::<0xdd>(low, high));
                        _mm512_stream_pd(row(3), _mm512_shuffle_f64x2::<0xdd>(low_odd, high_odd));
                    }
                }
            }
        }
    }
}
