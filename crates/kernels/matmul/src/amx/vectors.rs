//! Sums of products of packed panels in AVX-512 BF16 registers, for processors without AMX. The panels are those of
//! [`kernel`](super::kernel).

use std::arch::x86_64::*;

use umber_kernels_base::amx::SIDE;

use super::kernel::{STEP, Sums, TILE};

/// Rows of accumulators. With two vectors per row there are more accumulators than the instruction has cycles of latency, and
/// each vector of the right operand is used for as many rows as registers allow.
const HEIGHT: usize = 8;

/// Add the products of two panels of `LEFT` and `RIGHT` tiles, `steps` tiles deep, for the first `rows` rows.
///
/// # Safety
/// The processor has AVX-512 with BF16. The panels are readable and the sums writable; all have as many tiles as stated.
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
        // SAFETY: guaranteed by the caller; HEIGHT divides the rows of a tile.
        unsafe { sum_rows::<LEFT, RIGHT>(a, b, steps, sums) };
    }
}

/// Reinterpret the bits as pairs of bfloat16.
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn pairs(bits: __m512i) -> __m512bh {
    // SAFETY: both types have 64 bytes, and every bit pattern is valid.
    unsafe { std::mem::transmute::<__m512i, __m512bh>(bits) }
}

/// Add the products of [`HEIGHT`] rows.
///
/// # Safety
/// As for [`add_products`].
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
unsafe fn sum_rows<const LEFT: usize, const RIGHT: usize>(
    a: *const u16,
    b: *const u16,
    steps: usize,
    sums: Sums,
) {
    let address = |row: usize, column: usize| sums.start.wrapping_add(row * sums.row + column * SIDE);
    let mut accumulators = [[_mm512_setzero_ps(); RIGHT]; HEIGHT];
    if sums.accumulate {
        for (row, accumulators) in accumulators.iter_mut().enumerate() {
            for (column, accumulators) in accumulators.iter_mut().enumerate() {
                // SAFETY: guaranteed by the caller of this function.
                *accumulators = unsafe { _mm512_loadu_ps(address(row, column)) };
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
            for (row, accumulators) in accumulators.iter_mut().enumerate() {
                // SAFETY: a tile has 16 rows of 64 bytes, and the rows are inside the panel.
                let terms = unsafe { a.add(row * STEP + 2 * pair).cast::<i32>().read_unaligned() };
                let left = _mm512_set1_epi32(terms);
                for (accumulators, right) in accumulators.iter_mut().zip(right) {
                    // SAFETY: the caller is compiled for AVX-512 BF16.
                    *accumulators = unsafe { _mm512_dpbf16_ps(*accumulators, pairs(left), pairs(right)) };
                }
            }
        }
    }
    for (row, accumulators) in accumulators.iter().enumerate() {
        for (column, &accumulators) in accumulators.iter().enumerate() {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { _mm512_storeu_ps(address(row, column), accumulators) };
        }
    }
}
