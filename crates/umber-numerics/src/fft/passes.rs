//! Passes of batched transforms over rows of lanes, in place.
//!
//! A row holds one element of every line: a vector of the real parts, then one of the imaginary parts. Each pass decimates in
//! frequency: it combines `radix` rows at the maximum distance, and leaves blocks that are separate transforms. So the
//! results end in digit-reversed order, which is undone when they are read.
#![expect(clippy::needless_range_loop, reason = "indices select rows of a tile and lines together")]

use crate::vector::{Lane, Vector};

/// Rows of a block that stays in L1.
const L1_ROWS: usize = 128;

/// One pass over blocks of rows.
struct Pass {
    /// Rows of a block.
    rows: usize,
    radix: usize,
    /// Offset of its twiddle factors, which are stored element by element.
    factors: usize,
}

/// The plan for lines whose length is a power of two.
pub(super) struct Passes<T> {
    pub(super) length: usize,
    steps: Vec<Pass>,
    factors: Vec<T>,
    /// The row of each result, and one more for the row after the last.
    pub(super) digit_reversed: Vec<u32>,
}

/// The twiddle factor `exp(-2πi k / n)`.
pub(super) fn twiddle(k: usize, n: usize) -> [f64; 2] {
    let k = k % n;
    // The angle is reduced to an eighth of a turn, so that equal factors are equal in floating point and right angles exact.
    let eighth = 8 * k / n;
    let quarters = eighth.div_ceil(2);
    let remainder = (4 * k) as f64 - (quarters * n) as f64;
    let (sin, cos) = (remainder / (4 * n) as f64 * std::f64::consts::TAU).sin_cos();
    match quarters % 4 {
        0 => [cos, -sin],
        1 => [-sin, -cos],
        2 => [-cos, sin],
        _ => [sin, cos],
    }
}

/// An empty vector with a capacity; `None` if there is not enough memory.
pub(super) fn with_capacity<T>(length: usize) -> Option<Vec<T>> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(length).ok()?;
    Some(elements)
}

impl<T: Lane> Passes<T> {
    /// `None` if there is not enough memory.
    pub(super) fn new(length: usize) -> Option<Passes<T>> {
        debug_assert!(length.is_power_of_two());
        let mut bits = length.trailing_zeros();
        let mut passes = Vec::new();
        let (mut rows, mut count) = (length, 0);
        while bits > 0 {
            let step = match bits {
                1 => 1,
                2 | 4 => 2,
                _ => 3,
            };
            let radix = 1 << step;
            passes.push(Pass { rows, radix, factors: count });
            if rows > radix {
                count += 2 * (radix - 1) * (rows / radix);
            }
            rows /= radix;
            bits -= step;
        }
        let mut factors = with_capacity(count)?;
        for pass in &passes {
            if pass.rows > pass.radix {
                for j in 0..pass.rows / pass.radix {
                    factors.extend((1..pass.radix).flat_map(|q| twiddle(j * q, pass.rows).map(T::of)));
                }
            }
        }
        let mut digit_reversed = with_capacity(length + 1)?;
        digit_reversed.extend((0..length).map(|mut k| {
            let mut row = 0;
            for pass in &passes {
                row += k % pass.radix * (pass.rows / pass.radix);
                k /= pass.radix;
            }
            row as u32
        }));
        digit_reversed.push(length as u32);
        Some(Passes { length, steps: passes, factors, digit_reversed })
    }

    /// Transform lines of `length` rows in place.
    ///
    /// # Safety
    ///
    /// There are `length` rows, and the processor has the instruction set of `V`.
    #[inline(always)]
    pub(super) unsafe fn run<V: Vector<Lane = T>>(&self, rows: *mut V) {
        let outer_passes = self.steps.iter().take_while(|pass| pass.rows > L1_ROWS).count();
        // SAFETY: guaranteed by the caller of this function; the blocks cover the rows.
        unsafe {
            for pass in &self.steps[..outer_passes] {
                self.pass(pass, rows, self.length);
            }
            let Some(first) = self.steps.get(outer_passes) else { return };
            for block in 0..self.length / first.rows {
                for pass in &self.steps[outer_passes..] {
                    self.pass(pass, rows.add(2 * block * first.rows), first.rows);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn pass<V: Vector<Lane = T>>(&self, pass: &Pass, rows: *mut V, count: usize) {
        let row_stride = pass.rows / pass.radix;
        // SAFETY: guaranteed by the caller of this function; blocks of `pass.rows` rows cover the `count` rows, and the
        // factors belong to the pass.
        unsafe {
            let factors = self.factors.as_ptr().add(pass.factors);
            match (pass.radix, row_stride) {
                (2, 1) => each_block::<V, Radix2, 2>(rows, count),
                (4, 1) => each_block::<V, Radix4, 4>(rows, count),
                (8, 1) => each_block::<V, Radix8, 8>(rows, count),
                (4, _) => each_row::<V, Radix4, 4>(rows, count, row_stride, factors),
                _ => each_row::<V, Radix8, 8>(rows, count, row_stride, factors),
            }
        }
    }
}

/// A complex number of every line.
pub(super) type Row<V> = [V; 2];

#[inline(always)]
unsafe fn add<V: Vector>(a: Row<V>, b: Row<V>) -> Row<V> {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { [a[0].add(b[0]), a[1].add(b[1])] }
}

#[inline(always)]
unsafe fn sub<V: Vector>(a: Row<V>, b: Row<V>) -> Row<V> {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { [a[0].sub(b[0]), a[1].sub(b[1])] }
}

/// `a - ib`
#[inline(always)]
unsafe fn sub_i_times<V: Vector>(a: Row<V>, b: Row<V>) -> Row<V> {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { [a[0].add(b[1]), a[1].sub(b[0])] }
}

/// `a + ib`
#[inline(always)]
unsafe fn add_i_times<V: Vector>(a: Row<V>, b: Row<V>) -> Row<V> {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { [a[0].sub(b[1]), a[1].add(b[0])] }
}

#[inline(always)]
pub(super) unsafe fn times<V: Vector>(a: Row<V>, b: Row<V>) -> Row<V> {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { [a[0].mul_sub(b[0], a[1].mul(b[1])), a[0].mul_add(b[1], a[1].mul(b[0]))] }
}

/// The transform of `R` rows.
trait Butterfly<const R: usize> {
    unsafe fn transform<V: Vector<Lane: Lane>>(x: &mut [Row<V>; R]);
}

struct Radix2;
impl Butterfly<2> for Radix2 {
    #[inline(always)]
    unsafe fn transform<V: Vector<Lane: Lane>>(x: &mut [Row<V>; 2]) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { *x = [add(x[0], x[1]), sub(x[0], x[1])] }
    }
}

struct Radix4;
impl Butterfly<4> for Radix4 {
    #[inline(always)]
    unsafe fn transform<V: Vector<Lane: Lane>>(x: &mut [Row<V>; 4]) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let (a, b) = (add(x[0], x[2]), sub(x[0], x[2]));
            let (c, d) = (add(x[1], x[3]), sub(x[1], x[3]));
            *x = [add(a, c), sub_i_times(b, d), sub(a, c), add_i_times(b, d)];
        }
    }
}

struct Radix8;
impl Butterfly<8> for Radix8 {
    #[inline(always)]
    unsafe fn transform<V: Vector<Lane: Lane>>(x: &mut [Row<V>; 8]) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let mut even = [x[0], x[2], x[4], x[6]];
            let mut odd = [x[1], x[3], x[5], x[7]];
            Radix4::transform(&mut even);
            Radix4::transform(&mut odd);
            let twiddle = V::splat(V::Lane::of(std::f64::consts::FRAC_1_SQRT_2));
            // (1 - i) / √2 and (-1 - i) / √2; the multiplication is fused with the additions.
            let [a, b] = odd[1];
            let (p, q) = (a.add(b), b.sub(a));
            let [a, b] = odd[3];
            let (r, s) = (b.sub(a), a.add(b));
            *x = [
                add(even[0], odd[0]),
                [p.mul_add(twiddle, even[1][0]), q.mul_add(twiddle, even[1][1])],
                sub_i_times(even[2], odd[2]),
                [r.mul_add(twiddle, even[3][0]), s.neg_mul_add(twiddle, even[3][1])],
                sub(even[0], odd[0]),
                [p.neg_mul_add(twiddle, even[1][0]), q.neg_mul_add(twiddle, even[1][1])],
                add_i_times(even[2], odd[2]),
                [r.neg_mul_add(twiddle, even[3][0]), s.mul_add(twiddle, even[3][1])],
            ];
        }
    }
}

/// Transform blocks of `R` rows, without twiddle factors.
#[inline(always)]
unsafe fn each_block<V: Vector<Lane: Lane>, F: Butterfly<R>, const R: usize>(rows: *mut V, count: usize) {
    for block in 0..count / R {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let at = rows.add(2 * block * R).cast::<[Row<V>; R]>();
            let mut x = *at;
            F::transform(&mut x);
            *at = x;
        }
    }
}

/// Transform groups of `R` rows that are `row_stride` apart, and multiply the results by the twiddle factors.
#[inline(always)]
unsafe fn each_row<V: Vector<Lane: Lane>, F: Butterfly<R>, const R: usize>(
    rows: *mut V,
    count: usize,
    row_stride: usize,
    factors: *const V::Lane,
) {
    for block in 0..count / (R * row_stride) {
        // SAFETY: guaranteed by the caller of this function.
        unsafe {
            let rows = rows.cast::<Row<V>>().add(block * R * row_stride);
            for j in 0..row_stride {
                let mut x = [*rows.add(j); R];
                for q in 1..R {
                    x[q] = *rows.add(j + q * row_stride);
                }
                F::transform(&mut x);
                *rows.add(j) = x[0];
                let factors = factors.add(2 * (R - 1) * j);
                for q in 1..R {
                    let factor = [V::splat(*factors.add(2 * q - 2)), V::splat(*factors.add(2 * q - 1))];
                    *rows.add(j + q * row_stride) = times(x[q], factor);
                }
            }
        }
    }
}
