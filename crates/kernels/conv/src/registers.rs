//! Inner loops with accumulators in registers: a few outputs, or a few terms of the kernel, by a few vectors of channels.
//!
//! Vectors appear in plain loops only, since a closure would not inherit the target features of its function.

use umber_kernels_base::lanes::{Lanes, Ring, VectorLoop, with_widest};

/// SIMD lanes of a vector, and the maximum number of vectors in a panel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Width {
    pub(super) lanes: usize,
    pub(super) vectors: usize,
}

impl Width {
    pub(super) fn of<W: Ring>() -> Width {
        with_widest::<W, Probe>(Probe)
    }
}

struct Probe;

impl<W: Ring> VectorLoop<W> for Probe {
    type Output = Width;

    #[inline(always)]
    fn run<V: Lanes<W>, const FUSED: bool>(self) -> Width {
        Width { lanes: V::COUNT, vectors: most_vectors::<W, V>() }
    }
}

/// Maximum vectors of a panel, chosen to leave registers for several rows of accumulators.
pub(super) const fn most_vectors<W: Ring, V: Lanes<W>>() -> usize {
    // AVX-512 has 32 registers.
    if size_of::<V>() == 64 { 4 } else { 2 }
}

/// Evaluate an expression for a panel of `$vectors` vectors, with constants `$rows` (rows of accumulators that fit the
/// registers) and `$columns` (vectors in a row). `$most` is the maximum of `$vectors`; as a constant it keeps the compiler
/// from instantiating larger cases.
macro_rules! with_rows {
    ($vectors:expr, $most:expr, |$rows:ident, $columns:ident| $body:expr) => {
        match $vectors {
            4 if const { $most >= 4 } => with_rows!(6, 4, $rows, $columns, $body),
            3 if const { $most >= 4 } => with_rows!(8, 3, $rows, $columns, $body),
            2 if const { $most >= 4 } => with_rows!(8, 2, $rows, $columns, $body),
            2 if const { $most >= 2 } => with_rows!(6, 2, $rows, $columns, $body),
            _ => with_rows!(8, 1, $rows, $columns, $body),
        }
    };
    ($r:literal, $c:literal, $rows:ident, $columns:ident, $body:expr) => {{
        const $rows: usize = $r;
        const $columns: usize = $c;
        $body
    }};
}
pub(super) use with_rows;

/// Load a term of a position in the copy: one element broadcast to all lanes, or, if `OWN`, a vector with an element for each
/// channel.
///
/// # Safety
///
/// `from` points to an element of the copy, or to `c + 1` vectors of it if `OWN`.
#[inline(always)]
unsafe fn left<W: Ring, V: Lanes<W>, const OWN: bool>(from: *const W, c: usize) -> V {
    // SAFETY: guaranteed by the caller of this function.
    unsafe { if OWN { V::load(from.add(c * V::COUNT)) } else { V::splat(*from) } }
}

/// Load `C` consecutive vectors.
///
/// # Safety
///
/// `C` vectors are readable from `from`.
#[inline(always)]
unsafe fn vectors<W: Ring, V: Lanes<W>, const C: usize>(from: *const W) -> [V; C] {
    let mut loaded = [V::splat(W::ZERO); C];
    for (c, vector) in loaded.iter_mut().enumerate() {
        // SAFETY: guaranteed by the caller of this function.
        *vector = unsafe { V::load(from.add(c * V::COUNT)) };
    }
    loaded
}

/// Add to `R` outputs (or set them, if `fresh`) the products of their inputs with `C` vectors of weights, over `run` terms of
/// each tap.
///
/// # Safety
///
/// All terms of all taps are readable from each row, the weights hold as many terms, and the sums are writable.
#[inline(always)]
pub(super) unsafe fn outputs<
    W: Ring,
    V: Lanes<W>,
    const FUSED: bool,
    const OWN: bool,
    const R: usize,
    const C: usize,
>(
    rows: [*const W; R],
    taps: &[usize],
    run: usize,
    weights: *const W,
    to: [*mut W; R],
    fresh: bool,
) {
    let stride = if OWN { C * V::COUNT } else { 1 };
    let mut weights = weights;
    let mut sums = [[V::splat(W::ZERO); C]; R];
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        if !fresh {
            for (sums, to) in sums.iter_mut().zip(to) {
                *sums = vectors::<W, V, C>(to);
            }
        }
        for &tap in taps {
            let mut rows = rows;
            for row in &mut rows {
                *row = row.add(tap);
            }
            for i in 0..run {
                let right = vectors::<W, V, C>(weights);
                for r in 0..R {
                    for c in 0..C {
                        let left = left::<W, V, OWN>(rows[r].add(i * stride), c);
                        sums[r][c] = sums[r][c].add_product::<FUSED>(left, right[c]);
                    }
                }
                weights = weights.add(C * V::COUNT);
            }
        }
        for (sums, to) in sums.iter().zip(to) {
            for (c, sum) in sums.iter().enumerate() {
                sum.store(to.add(c * V::COUNT));
            }
        }
    }
}

/// Add to the sums of `R` terms of the kernel, in `C` vectors of channels, the products of inputs and cotangents over some
/// outputs. Each output is a pair of pointers: to its first tap in the copy, and to its cotangent.
///
/// # Safety
///
/// Each output's terms and cotangent are readable, and the sums are writable.
#[inline(always)]
pub(super) unsafe fn terms<
    W: Ring,
    V: Lanes<W>,
    const FUSED: bool,
    const OWN: bool,
    const R: usize,
    const C: usize,
>(
    outputs: impl Iterator<Item = (*const W, *const W)>,
    terms: [usize; R],
    to: *mut W,
) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let mut sums = [[V::splat(W::ZERO); C]; R];
        for (r, sums) in sums.iter_mut().enumerate() {
            *sums = vectors::<W, V, C>(to.add(r * C * V::COUNT));
        }
        for (row, cotangent) in outputs {
            let right = vectors::<W, V, C>(cotangent);
            for r in 0..R {
                for c in 0..C {
                    let left = left::<W, V, OWN>(row.add(terms[r]), c);
                    sums[r][c] = sums[r][c].add_product::<FUSED>(left, right[c]);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            for (c, sum) in sums.iter().enumerate() {
                sum.store(to.add((r * C + c) * V::COUNT));
            }
        }
    }
}
