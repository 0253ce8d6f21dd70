//! Batched hashes in AVX-512 or AVX2 registers. The compiler would spill the arrays of a portable loop.
//!
//! Invariant: vector types are used only in functions compiled for their instruction set; all trait methods are inlined there.

use std::arch::x86_64::*;

use super::PARITY;

/// Independent vectors in flight, since the rounds of one hash are a dependency chain.
const INTERLEAVE: usize = 4;

/// A vector of 32-bit words.
trait Words: Copy {
    const COUNT: usize;
    fn splat(word: u32) -> Self;
    /// 0, 1, 2 and so on.
    fn ascending() -> Self;
    fn plus(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// Rotate each word left by `LEFT` bits; `RIGHT` is `32 - LEFT`.
    fn rotate_left<const LEFT: i32, const RIGHT: i32>(self) -> Self;
    /// # Safety
    /// `COUNT` words at `to` are writable.
    unsafe fn store(self, to: *mut u32);
}

macro_rules! words {
    ($($vector:ty: $count:literal $splat:ident $set:ident($($index:literal)*) $add:ident $xor:ident $store:ident,
        |$x:ident, $left:ident, $right:ident| $rotate_left:expr;)*) => { $(
        impl Words for $vector {
            const COUNT: usize = $count;
            #[inline(always)]
            fn splat(word: u32) -> Self {
                // SAFETY: the module's invariant: the caller is compiled for these instructions.
                unsafe { $splat(word as i32) }
            }
            #[inline(always)]
            fn ascending() -> Self {
                // SAFETY: as above.
                unsafe { $set($($index),*) }
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                // SAFETY: as above.
                unsafe { $add(self, other) }
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                // SAFETY: as above.
                unsafe { $xor(self, other) }
            }
            #[inline(always)]
            fn rotate_left<const $left: i32, const $right: i32>(self) -> Self {
                let $x = self;
                // SAFETY: as above.
                unsafe { $rotate_left }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut u32) {
                // SAFETY: `COUNT` words are writable by the caller's contract, and as above.
                unsafe { $store(to.cast(), self) }
            }
        }
    )* };
}
words! {
    __m256i: 8 _mm256_set1_epi32 _mm256_setr_epi32(0 1 2 3 4 5 6 7) _mm256_add_epi32 _mm256_xor_si256 _mm256_storeu_si256,
        |x, LEFT, RIGHT| _mm256_or_si256(_mm256_slli_epi32::<LEFT>(x), _mm256_srli_epi32::<RIGHT>(x));
    __m512i: 16 _mm512_set1_epi32 _mm512_setr_epi32(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15) _mm512_add_epi32 _mm512_xor_si512
        _mm512_storeu_si512,
        |x, LEFT, RIGHT| _mm512_rol_epi32::<LEFT>(x);
}

/// The maximum number of counters in a group.
const MAX_GROUP: usize = INTERLEAVE * 16;
/// Tails of fewer counters are left to the scalar loop.
const MIN_GROUP: usize = 8;

/// Hash consecutive counters from `counter` on; returns how many are done. A short tail may remain.
pub(super) fn hash(
    level: usize,
    key: [u32; 2],
    counter: [u32; 2],
    first: &mut [u32],
    second: &mut [u32],
) -> usize {
    // SAFETY: the processor has the instructions of its level.
    unsafe {
        match level {
            2 => with_avx512(key, counter, first, second),
            1 => with_avx2(key, counter, first, second),
            _ => 0,
        }
    }
}

#[target_feature(enable = "avx512f")]
fn with_avx512(key: [u32; 2], counter: [u32; 2], first: &mut [u32], second: &mut [u32]) -> usize {
    groups::<__m512i>(key, counter, first, second)
}

#[target_feature(enable = "avx2")]
fn with_avx2(key: [u32; 2], counter: [u32; 2], first: &mut [u32], second: &mut [u32]) -> usize {
    groups::<__m256i>(key, counter, first, second)
}

#[inline(always)]
fn groups<W: Words>(key: [u32; 2], counter: [u32; 2], first: &mut [u32], second: &mut [u32]) -> usize {
    let group = INTERLEAVE * W::COUNT;
    let count = first.len().min(second.len());
    for at in (0..count).step_by(group) {
        let (x, y) = hash_group::<W>(key, super::from(counter, at));
        let length = group.min(count - at);
        let (first, second) = (&mut first[at..at + length], &mut second[at..at + length]);
        if length == group {
            store(x, first);
            store(y, second);
        } else if length < MIN_GROUP {
            return at;
        } else {
            let (mut firsts, mut seconds) = ([0; MAX_GROUP], [0; MAX_GROUP]);
            store(x, &mut firsts[..group]);
            store(y, &mut seconds[..group]);
            first.copy_from_slice(&firsts[..length]);
            second.copy_from_slice(&seconds[..length]);
        }
    }
    count
}

#[inline(always)]
fn store<W: Words>(words: [W; INTERLEAVE], to: &mut [u32]) {
    debug_assert_eq!(to.len(), INTERLEAVE * W::COUNT);
    for (i, words) in words.into_iter().enumerate() {
        // SAFETY: `to` has `INTERLEAVE * COUNT` words.
        unsafe { words.store(to.as_mut_ptr().add(i * W::COUNT)) };
    }
}

/// [`threefry2x32`](super::threefry2x32) of `INTERLEAVE` vectors of counters.
#[inline(always)]
fn hash_group<W: Words>(key: [u32; 2], counter: [u32; 2]) -> ([W; INTERLEAVE], [W; INTERLEAVE]) {
    let schedule = [key[0], key[1], key[0] ^ key[1] ^ PARITY];
    let begin = [0, 1].map(|word| counter[word].wrapping_add(schedule[word]));
    let (mut x, mut y) = ([W::ascending(); INTERLEAVE], [W::ascending(); INTERLEAVE]);
    for i in 0..INTERLEAVE {
        let step = (i * W::COUNT) as u32;
        x[i] = x[i].plus(W::splat(begin[0].wrapping_add(step)));
        y[i] = y[i].plus(W::splat(begin[1].wrapping_add(step)));
    }
    macro_rules! rounds {
        ($($number:literal: $($left:literal $right:literal),*;)*) => { $(
            $(
                for i in 0..INTERLEAVE {
                    x[i] = x[i].plus(y[i]);
                    y[i] = y[i].rotate_left::<$left, $right>().xor(x[i]);
                }
            )*
            let (a, b) = (schedule[$number % 3], schedule[($number + 1) % 3].wrapping_add($number));
            for i in 0..INTERLEAVE {
                x[i] = x[i].plus(W::splat(a));
                y[i] = y[i].plus(W::splat(b));
            }
        )* };
    }
    rounds! {
        1: 13 19, 15 17, 26 6, 6 26;
        2: 17 15, 29 3, 16 16, 24 8;
        3: 13 19, 15 17, 26 6, 6 26;
        4: 17 15, 29 3, 16 16, 24 8;
        5: 13 19, 15 17, 26 6, 6 26;
    }
    (x, y)
}
