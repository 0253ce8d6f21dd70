//! Sums of products of packed panels in vector registers, for processors that multiply pairs of bfloat16 there (AVX-512
//! BF16) and have no tiles. Panels are those of [`kernel`](super::kernel).

use std::arch::x86_64::*;

use umber_kernels_base::amx::SIDE;

use super::kernel::{STEP, Sums, TILE};

/// Rows of sums held at once. With two vectors of columns that is more sums than the instruction takes cycles, and each
/// vector of the right operand meets as many terms of the left one as registers allow.
const HEIGHT: usize = 8;

/// Add the products of two panels of `LEFT` and `RIGHT` tiles, `steps` tiles deep, for the first `rows` rows.
///
/// # Safety
/// The processor has AVX-512 with BF16. The panels are readable and the sums writable; all have as many tiles as said.
#[target_feature(enable = "avx512f,avx512bf16")]
pub(super) unsafe fn add_products<const LEFT: usize, const RIGHT: usize>(
    rows: usize,
    a: *const u16,
    b: *const u16,
    steps: usize,
    sums: Sums,
) {
    for row in (0..rows).step_by(HEIGHT) {
        let a = a.wrapping_add(row / SIDE * TILE + row % SIDE * STEP);
        let sums = Sums { start: sums.start.wrapping_add(row * sums.row), ..sums };
        // SAFETY: the caller's; a tile's rows are a multiple of those held at once.
        unsafe { skinny_rows::<LEFT, RIGHT>(a, b, steps, sums) };
    }
}

/// The bits as pairs of bfloat16.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn pairs(bits: __m512i) -> __m512bh {
    // SAFETY: both are 64 bytes, of which every pattern is a value.
    unsafe { std::mem::transmute::<__m512i, __m512bh>(bits) }
}

/// The sums of [`HEIGHT`] rows.
///
/// # Safety
/// As for [`add_products`].
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn skinny_rows<const LEFT: usize, const RIGHT: usize>(
    a: *const u16,
    b: *const u16,
    steps: usize,
    sums: Sums,
) {
    let place = |row: usize, column: usize| sums.start.wrapping_add(row * sums.row + column * SIDE);
    let mut live_rows = [[_mm512_setzero_ps(); RIGHT]; HEIGHT];
    if sums.is_begun {
        for (row, live_rows) in live_rows.iter_mut().enumerate() {
            for (column, live_rows) in live_rows.iter_mut().enumerate() {
                // SAFETY: guaranteed by the caller of this function.
                *live_rows = unsafe { _mm512_loadu_ps(place(row, column)) };
            }
        }
    }
    for step in 0..steps {
        let (a, b) = (a.wrapping_add(step * LEFT * TILE), b.wrapping_add(step * RIGHT * TILE));
        for pair in 0..STEP / 2 {
            let mut right = [_mm512_setzero_si512(); RIGHT];
            for (column, right) in right.iter_mut().enumerate() {
                // SAFETY: a tile has 16 rows of 64 bytes.
                *right = unsafe { _mm512_loadu_si512(b.add(column * TILE + pair * STEP).cast()) };
            }
            for (row, live_rows) in live_rows.iter_mut().enumerate() {
                // SAFETY: as above.
                let terms = unsafe { a.add(row * STEP + 2 * pair).cast::<i32>().read_unaligned() };
                let left = _mm512_set1_epi32(terms);
                for (live_rows, right) in live_rows.iter_mut().zip(right) {
                    // SAFETY: the processor has the instruction.
                    *live_rows = unsafe { _mm512_dpbf16_ps(*live_rows, pairs(left), pairs(right)) };
                }
            }
        }
    }
    for (row, live_rows) in live_rows.iter().enumerate() {
        for (column, &live_rows) in live_rows.iter().enumerate() {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { _mm512_storeu_ps(place(row, column), live_rows) };
        }
    }
}
