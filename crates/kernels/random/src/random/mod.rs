//! Random bits: a counter hashed under a key (threefry2x32 with 20 rounds), bit for bit what MLX draws.
//!
//! # From a key to bits
//! `key(seed)` is the two words `[seed >> 32, seed & 0xffff_ffff]`. A draw of `n` elements of `w` bytes fills
//! `W = ceil(n w / 4)` words. With `H = W / 2` and `odd = W % 2`, the hash of the counter `(i, i + H + odd)` gives
//! words `i` and `i + H + odd`, for `i < H`; if `W` is odd the middle word `H` is the first half of the hash of
//! `(H, 0)`. The words are stored in memory order and the last one is truncated. Each of several keys draws independently.
//!
//! `split(key, count)` is a draw of shape `(count, 2)`, four bytes wide. The global state is one key: `seed(s)` sets
//! it to `key(s)`, and each call without a key splits it in two, keeps the first as the new state and uses the second
//! for one draw. Every function below makes exactly one draw, always four bytes wide, whatever the dtype.
//!
//! # From bits to numbers
//! Operations are done in the dtype written, with one rounding each. `f32` is float32, `T` the requested dtype.
//! * unit sample in T: `min(f32(bits) / f32(2³² - 1), largest T below one)`, the division in f32, then cast to T.
//! * `uniform(low, high)`: `(high - low) * unit + low`, all in T; low and high are cast to T first.
//! * `normal`: `e = erfinv(uniform(nextafter(-1, 0), 1))` in f32 whatever T is, cast to T; then `(√2 scale) e + loc` in T,
//!   where `√2 scale` is rounded to T before the multiplication (√2 alone without a scale, and no addition without loc).
//!   complex64: `e` of shape `shape + (2,)` read as real and imaginary part, without the √2; `scale e + loc`.
//! * `bernoulli(p)`: `uniform(0, 1) < p` in f32; the shape of `p` is the default shape.
//! * `truncated_normal(lower, upper)`: `max(min(√2 erfinv(uniform(erf(lower / √2), erf(upper / √2))), upper), lower)`,
//!   all in T; the default shape is that of lower and upper broadcast.
//! * `gumbel`: `-log(-log(uniform(0, 1)))` in T.
//! * `laplace`: `u = uniform(nextafter(-1, 0), 1)` in f32, `sign(u) log1p(-|u|)` in f32, cast to T; times scale unless it is
//!   one, plus loc unless it is zero, in T.
//! * `randint(low, high)` in T, for bounds up to 2^24: `u = uniform(low, high)` in f32 (low and high go to f32 directly);
//!   `max(min(T(floor(u)), T(high - 1)), T(low))`. Beyond, umber's own: `low + floor(word (high - low) / 2^64)`, where the
//!   64-bit word is a draw of `shape + (2,)`, high half first.
//! * `categorical(logits, axis)`: argmax along `axis` of `gumbel + logits`, the gumbel in f32 of the shape of logits. With
//!   `shape`: the gumbel has `shape` with the length of `axis` inserted at `axis + len(shape) - (ndim - 1)`, the argmax is
//!   along that axis. With `num_samples`: the gumbel has `logits.shape + (num_samples,)`, the logits get a last axis of one.
//!   But if there is one row of logits and the result has axes: `uniform(0, 1)` of the shape of the result times the sum of
//!   `w = exp(logits - max)`, in f32, is searched from the right in the exclusive running sum of `w`, one is subtracted. Where
//!   `max` is infinite, `w = (logits == max)`.
//! * `permutation(n)`: argsort (uint32) of a draw of `n` words; of an array: `take` along the axis by that order.
//! * `multivariate_normal(mean, cov)`: with `u, s, v = svd(cov)`: `normal(shape + (d,)) @ ((u * sqrt(s)) @ v) + mean`.

#[cfg(target_arch = "x86_64")]
mod vectors;

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use umber_kernels_base::isa::level;
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::DType;

/// Hashes per block: two stack buffers of this many words.
const BLOCK: usize = 256;
/// Hashes per task, some tens of microseconds.
const GRAIN: usize = 1 << 15;

/// Rotation counts of the rounds between two additions of the key.
const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];

/// Parity constant of the Skein key schedule: the third key word is the XOR of the other two and this.
const PARITY: u32 = 0x1bd1_1bda;

/// The threefry2x32 hash, 20 rounds, of a counter under a key (Salmon and others, SC 2011).
#[inline(always)]
pub fn threefry2x32(key: [u32; 2], counter: [u32; 2]) -> [u32; 2] {
    let schedule = [key[0], key[1], key[0] ^ key[1] ^ PARITY];
    let mut x = counter[0].wrapping_add(schedule[0]);
    let mut y = counter[1].wrapping_add(schedule[1]);
    for round in 1..=5 {
        for rotation in ROTATIONS[(round - 1) % 2] {
            x = x.wrapping_add(y);
            y = y.rotate_left(rotation) ^ x;
        }
        x = x.wrapping_add(schedule[round % 3]);
        y = y.wrapping_add(schedule[(round + 1) % 3]).wrapping_add(round as u32);
    }
    [x, y]
}

/// Fill `out` with random bits, the draws of `keys` one after another.
///
/// `keys` is uint32 of shape `[..., 2]`; `out` is dense, of unsigned integers `width` bytes wide, of shape
/// `keys.shape[..-1]` followed by the shape of one draw.
///
/// # Panics
/// If dtypes, shapes or width differ from these.
pub fn random_bits(keys: View, width: usize, out: ViewMut) {
    assert_eq!(keys.dtype(), DType::UInt32, "keys are uint32");
    assert_eq!(keys.shape().last(), Some(&2), "a key is two words");
    assert_eq!(out.dtype().size(), width, "the elements of the output are `width` bytes wide");
    assert!(out.layout().is_contiguous(), "the output is dense");
    let count = keys.size() / 2;
    if out.size() == 0 {
        return;
    }
    assert!(count > 0 && out.size().is_multiple_of(count), "every key draws the same number of elements");
    let bytes = out.size() / count * width;
    let hashes = bytes.div_ceil(4).div_ceil(2);
    let target = Target(out.start());
    parallel_ranges(count * hashes, GRAIN, |range| {
        let mut at = range.start;
        while at < range.end {
            let (index, first) = (at / hashes, at % hashes);
            let length = (hashes - first).min(range.end - at);
            // SAFETY: the draw of key `index` is `bytes` long and inside `out`, which is dense; each hash is computed
            // in one range only, so no two threads write the same words.
            let start = unsafe { target.get().add(index * bytes) };
            let draw = Draw { key: key_at(&keys, index), start, bytes };
            draw.fill(first..first + length);
            at += length;
        }
    });
}

struct Target(*mut u8);
// SAFETY: threads write disjoint words of the output; see the use of the pointer.
unsafe impl Sync for Target {}

impl Target {
    fn get(&self) -> *mut u8 {
        self.0
    }
}

/// Key number `index` of `keys` in row-major order.
pub(crate) fn key_at(keys: &View, index: usize) -> [u32; 2] {
    let (shape, strides) = (keys.shape(), keys.strides());
    let last = shape.len() - 1;
    let mut rest = index;
    let mut offset = 0isize;
    for axis in (0..last).rev() {
        offset += (rest % shape[axis]) as isize * strides[axis];
        rest /= shape[axis];
    }
    let start = keys.start_as::<u32>();
    // SAFETY: `offset` is that of a key of the view, whose last axis has two elements.
    unsafe { [*start.offset(offset), *start.offset(offset + strides[last])] }
}

/// The draw of one key.
struct Draw {
    key: [u32; 2],
    start: *mut u8,
    bytes: usize,
}

impl Draw {
    /// Compute the hashes of `range` and store their words.
    fn fill(&self, range: Range<usize>) {
        let words = self.bytes.div_ceil(4);
        let (half, upper) = (words / 2, words.div_ceil(2));
        let (mut first, mut second) = ([0u32; BLOCK], [0u32; BLOCK]);
        let paired = range.start..range.end.min(half);
        let mut at = paired.start;
        while at < paired.end {
            let length = BLOCK.min(paired.end - at);
            hash_block(
                self.key,
                [at as u32, (at + upper) as u32],
                &mut first[..length],
                &mut second[..length],
            );
            self.put(at, &first[..length]);
            self.put(at + upper, &second[..length]);
            at += length;
        }
        if range.end > half {
            self.put(half, &[threefry2x32(self.key, [half as u32, 0])[0]]);
        }
    }

    /// Store words from word index `at` on; bytes beyond the end are dropped.
    fn put(&self, at: usize, words: &[u32]) {
        let length = (words.len() * 4).min(self.bytes - at * 4);
        // SAFETY: `at * 4 + length` is at most `bytes`, and `words` holds `length` bytes.
        unsafe { std::ptr::copy_nonoverlapping(words.as_ptr().cast(), self.start.add(at * 4), length) }
    }
}

/// Hash consecutive counters: both words of `counter` increase by one per hash and wrap at 32 bits.
fn hash_block(key: [u32; 2], counter: [u32; 2], first: &mut [u32], second: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    let done = vectors::hash(level(), key, counter, first, second);
    #[cfg(not(target_arch = "x86_64"))]
    let done = 0;
    for (i, (first, second)) in first.iter_mut().zip(second).enumerate().skip(done) {
        [*first, *second] = threefry2x32(key, from(counter, i));
    }
}

/// The counter `steps` hashes later.
#[inline(always)]
fn from(counter: [u32; 2], steps: usize) -> [u32; 2] {
    counter.map(|word| word.wrapping_add(steps as u32))
}
