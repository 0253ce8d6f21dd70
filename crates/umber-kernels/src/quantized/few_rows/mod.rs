//! Products of few rows with a quantised matrix, turned: each weight is read once, as it is packed.
//!
//! A vector of words holds a code at every step of a shift; the left rows are laid out beforehand so that what meets those codes
//! is a vector too. Sums of a group are scaled once; biases meet the sums of the left rows over groups. Where that would cost
//! digits, codes are made weights before they are multiplied.

mod kinds;

use std::ops::Range;

use self::kinds::{FP4, FP8, INT1, INT2, INT4, INT8, bits_of, is_whole, kind_of};
use super::fp8::{from_fp4, from_fp8};
use super::turned_product::{TurnedProduct, largest};
use crate::caches::fills_line;
#[cfg(target_arch = "x86_64")]
use crate::isa::level;
use crate::isa::{prefetch, vectorised};
use crate::matmul::lanes::Lanes;
use crate::matmul::scratch;
use crate::threads::parallel_ranges;

/// More rows than this are better off with blocks of floats.
pub(super) const MOST: usize = 12;
/// Numbers of the left rows from this size on are multiplied by weights only.
const LARGE: f32 = 1e18;
/// Rows whose largest number is less than this, and not zero, would lose digits if they were divided by what places in a word are worth.
const SMALL: f32 = 1e-18;
/// Rows worked on together.
const TOGETHER: usize = 4;
/// Columns worked on together of a row by itself: what is read of it is shared, and memory brings what lies at places far apart
/// faster than one place after the other.
const APART: usize = 4;
/// Elements that may be read behind the last scale.
const PADDING: usize = 16;
/// Bytes of packed words worth a job of its own.
const JOB: usize = 1 << 16;

/// Does this suit a product?
pub(super) fn suits(product: &TurnedProduct) -> bool {
    product.rows <= MOST && kind_of(product.packed.how).is_some()
}

/// Must the left rows meet weights, not codes and biases apart?
///
/// An infinity times a code of zero is not what it is times the weight; of very large numbers the sums of codes and those of
/// biases may be infinite where their difference is not; and a number far above its neighbours may meet a weight near zero, whose
/// parts are not, and of which they would leave more than the neighbours are.
fn needs_weights(product: &TurnedProduct) -> bool {
    product.x.iter().any(|x| x.abs() >= LARGE || x.is_nan())
        || product.packed.how.has_biases() && !product.is_close()
}

/// Is the largest number of a row very small, but not zero?
fn has_small_rows(product: &TurnedProduct) -> bool {
    vectorised(
        #[inline(always)]
        || product.x.chunks_exact(product.depth()).map(largest).any(|most| most < SMALL && most > 0.0),
    )
}

/// Compute what [`suits`].
pub(super) fn compute(product: &TurnedProduct) {
    let kind = kind_of(product.packed.how).expect("asked before");
    #[cfg(target_arch = "x86_64")]
    match level() {
        // SAFETY: the processor has these features.
        2 => return unsafe { avx512::run(product, kind) },
        // SAFETY: as above.
        1 => return unsafe { avx2::run(product, kind) },
        _ => {}
    }
    // SAFETY: nothing is asked of the processor.
    unsafe { prepared::<Plain>(product, kind, |job, part, room| job.dispatch::<Plain>(kind, part, room)) };
}

/// A vector of floats, and the words whose codes it can hold.
trait Codes: Lanes<f32> {
    type Words: Copy;
    /// Are codes that stand for whole numbers worth taking where they lie in their words, at each step but the last without a shift? The
    /// left rows are laid out divided by what the places are worth.
    const IN_PLACE: bool = false;
    /// Read words.
    ///
    /// # Safety
    /// There are so many.
    unsafe fn words(from: *const u32) -> Self::Words;
    /// What the lowest codes of the words stand for.
    fn level<const KIND: u8>(words: Self::Words) -> Self;
    /// What the codes are at a step, at their places in the words, but for the last ones.
    fn in_place<const KIND: u8>(_words: Self::Words, _step: usize) -> Self {
        unreachable!("codes are not taken in their places")
    }
    /// The words without their lowest codes.
    fn next<const KIND: u8>(words: Self::Words) -> Self::Words;
    /// For each lane the float at its place.
    ///
    /// # Safety
    /// As many floats as lanes can be read, and places are below that.
    unsafe fn pick(from: *const f32, places: Self::Words) -> Self;
}

/// A product whose left rows are laid out.
struct Job<'a> {
    product: &'a TurnedProduct<'a>,
    /// For each row, block and step, what meets the codes in a vector of words.
    x: &'a [f32],
    /// For each row, the sums over groups, padded.
    sums: &'a [f32],
    /// Vectors of words in a row, the last one perhaps not full.
    blocks: usize,
    /// Floats for the sums of a row, and for scales.
    groups: usize,
    /// For each lane, its group counted from the first of its block.
    places: [u32; 16],
    needs_weights: bool,
}

/// Lay out the left rows for vectors `V`, and call `run` with parts of the columns and room for their scales and biases, on all threads.
fn prepared<V: Codes>(
    product: &TurnedProduct,
    kind: u8,
    run: impl Fn(&Job, Range<usize>, &mut [f32]) + Sync,
) {
    let TurnedProduct { packed, x, rows, columns, .. } = *product;
    let (how, length) = (packed.how, product.depth());
    let (per_word, size) = (32 / bits_of(kind), how.group_size());
    let block = V::COUNT * per_word;
    let blocks = length.div_ceil(block);
    let groups = packed.groups.next_multiple_of(PADDING) + PADDING;
    scratch::with(rows * (blocks * block + groups), |memory: &mut [f32]| {
        memory.fill(0.0);
        let (turned, sums) = memory.split_at_mut(rows * blocks * block);
        let in_place = V::IN_PLACE && is_whole(kind);
        let needs_weights = needs_weights(product) || in_place && has_small_rows(product);
        let divides = in_place && !needs_weights;
        let per_code = 1.0 / (1 << bits_of(kind)) as f32;
        for (r, row) in x.chunks_exact(length).enumerate() {
            let turned = &mut turned[r * blocks * block..][..blocks * block];
            for (turned, row) in turned.chunks_exact_mut(block).zip(row.chunks(block)) {
                for (lane, word) in row.chunks(per_word).enumerate() {
                    let mut unit = 1.0;
                    for (step, &x) in word.iter().enumerate() {
                        // The last codes of words are shifted.
                        let is_divided = divides && step + 1 < per_word;
                        turned[step * V::COUNT + lane] = if is_divided { x * unit } else { x };
                        unit *= per_code;
                    }
                }
            }
            for (sum, group) in sums[r * groups..].iter_mut().zip(row.chunks_exact(size)) {
                *sum = group.iter().sum();
            }
        }
        let mut places = [0; 16];
        for (lane, place) in places.iter_mut().enumerate().take(V::COUNT) {
            *place = if block > size { (lane * per_word / size) as u32 } else { 0 };
        }
        let job = Job { product, x: turned, sums, blocks, groups, places, needs_weights };
        let row_bytes = how.words(length) * 4;
        parallel_ranges(columns, JOB / row_bytes + 1, |part| {
            scratch::with(2 * APART * groups, |room: &mut [f32]| run(&job, part, room));
        });
    });
}

impl Job<'_> {
    /// Compute some columns.
    ///
    /// # Safety
    /// The processor has what `V` asks for.
    #[inline(always)]
    unsafe fn dispatch<V: Codes>(&self, kind: u8, part: Range<usize>, room: &mut [f32]) {
        match kind {
            INT1 => self.kind::<V, INT1>(part, room),
            INT2 => self.kind::<V, INT2>(part, room),
            INT4 => self.kind::<V, INT4>(part, room),
            INT8 => self.kind::<V, INT8>(part, room),
            FP4 => self.kind::<V, FP4>(part, room),
            _ => self.kind::<V, FP8>(part, room),
        }
    }

    #[inline(always)]
    fn kind<V: Codes, const KIND: u8>(&self, part: Range<usize>, room: &mut [f32]) {
        if self.needs_weights {
            self.columns::<V, KIND, true>(part, room);
        } else {
            self.columns::<V, KIND, false>(part, room);
        }
    }

    /// Compute some columns, in the room for their scales and biases.
    #[inline(always)]
    fn columns<V: Codes, const KIND: u8, const WEIGHTS: bool>(&self, part: Range<usize>, room: &mut [f32]) {
        let rows = self.product.rows;
        room.fill(0.0);
        let (scales, biases) = room.split_at_mut(APART * self.groups);
        let mut rest = part.clone();
        if rows == 1 && is_whole(KIND) && !WEIGHTS {
            let each = part.len() / APART;
            for column in part.start..part.start + each {
                let columns = std::array::from_fn(|c| column + c * each);
                self.read(columns, scales, biases);
                self.column::<V, KIND, 1, APART, WEIGHTS>(0, columns, scales, biases);
            }
            rest.start += each * APART;
        }
        for column in rest {
            self.read([column], scales, biases);
            let mut r = 0;
            while r + TOGETHER <= rows {
                self.column::<V, KIND, TOGETHER, 1, WEIGHTS>(r, [column], scales, biases);
                r += TOGETHER;
            }
            while r < rows {
                self.column::<V, KIND, 1, 1, WEIGHTS>(r, [column], scales, biases);
                r += 1;
            }
        }
    }

    /// Read scales and biases of some columns, one column's after the other's.
    #[inline(always)]
    fn read<const C: usize>(&self, columns: [usize; C], scales: &mut [f32], biases: &mut [f32]) {
        let TurnedProduct { packed, first, .. } = *self.product;
        for (c, column) in columns.into_iter().enumerate() {
            let place = c * self.groups..c * self.groups + packed.groups;
            packed.scales(first + column, 0, &mut scales[place.clone()]);
            packed.biases(first + column, 0, &mut biases[place]);
        }
    }

    /// `R` rows of `C` columns.
    #[inline(always)]
    fn column<V: Codes, const KIND: u8, const R: usize, const C: usize, const WEIGHTS: bool>(
        &self,
        r: usize,
        columns: [usize; C],
        scales: &[f32],
        biases: &[f32],
    ) {
        let words = columns.map(|column| self.product.words(column));
        let length = words[0].len();
        let mut sums = [[V::splat(0.0); R]; C];
        let (whole, rest) = (length / V::COUNT, length % V::COUNT);
        for block in 0..whole {
            let mut starts = [std::ptr::null(); C];
            for (start, words) in starts.iter_mut().zip(words) {
                *start = words.as_ptr().wrapping_add(block * V::COUNT);
                // Memory that is read at several places is foreseen by itself, unless vectors are whole lines.
                if C == 1 || fills_line::<V>() {
                    prefetch(start.wrapping_add(length));
                }
            }
            // SAFETY: a vector of words of each column.
            unsafe { self.block::<V, KIND, R, C, WEIGHTS>(r, block, starts, scales, biases, &mut sums) };
        }
        // Apart from the loop, which would have to leave its registers to a copy.
        if rest > 0 {
            let mut last = [[0; 16]; C];
            for (last, words) in last.iter_mut().zip(words) {
                last[..rest].copy_from_slice(&words[whole * V::COUNT..]);
            }
            let starts = last.each_ref().map(|last| last.as_ptr());
            // SAFETY: a vector of words for each column.
            unsafe { self.block::<V, KIND, R, C, WEIGHTS>(r, whole, starts, scales, biases, &mut sums) };
        }
        for ((c, sums), column) in sums.iter_mut().enumerate().zip(columns) {
            for (i, sum) in sums.iter_mut().enumerate() {
                if !WEIGHTS && self.product.packed.how.has_biases() {
                    let biases = &biases[c * self.groups..][..self.groups];
                    let of_x = &self.sums[(r + i) * self.groups..][..self.groups];
                    for (bias, x) in biases.chunks_exact(V::COUNT).zip(of_x.chunks_exact(V::COUNT)) {
                        // SAFETY: whole vectors.
                        *sum =
                            unsafe { sum.add_product::<true>(V::load(bias.as_ptr()), V::load(x.as_ptr())) };
                    }
                }
                let place = (r + i) * self.product.columns + column;
                // SAFETY: inside the output, in a column that this job alone writes.
                unsafe { *self.product.out.at(place as isize) = sum.total() };
            }
        }
    }

    /// For each lane of a vector of words of each of `C` columns, what its group is scaled or shifted by.
    ///
    /// # Safety
    /// Of each column so many numbers lie from that of the first group on as places reach.
    #[inline(always)]
    unsafe fn picked<V: Codes, const C: usize>(&self, of: &[f32], group: usize, at: V::Words) -> [V; C] {
        let mut picked = [V::splat(0.0); C];
        for (c, picked) in picked.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *picked = unsafe { V::pick(of.as_ptr().wrapping_add(c * self.groups + group), at) };
        }
        picked
    }

    /// Add what a vector of words of each of `C` columns holds to the sums of `R` rows.
    ///
    /// # Safety
    /// There are so many words at each start, those of the block or zeros.
    #[inline(always)]
    unsafe fn block<V: Codes, const KIND: u8, const R: usize, const C: usize, const WEIGHTS: bool>(
        &self,
        r: usize,
        block: usize,
        starts: [*const u32; C],
        scales: &[f32],
        biases: &[f32],
        sums: &mut [[V; R]; C],
    ) {
        let steps = 32 / bits_of(KIND);
        let row_length = self.blocks * steps * V::COUNT;
        // Groups have a power of two of codes, and a division would take as long as all else here.
        let log_size = self.product.packed.how.group_size().trailing_zeros();
        // SAFETY: sixteen places are there.
        let places = unsafe { V::words(self.places.as_ptr()) };
        // Loops, since closures that iterators call need not be inlined.
        let mut words = [places; C];
        for (words, start) in words.iter_mut().zip(starts) {
            // SAFETY: the caller's promise.
            *words = unsafe { V::words(start) };
        }
        let group = (block * steps * V::COUNT) >> log_size;
        debug_assert!(group + V::COUNT <= self.groups && C * self.groups <= scales.len());
        // What is summed up meets its scales at the end, and no register holds these before.
        let weights = if WEIGHTS {
            // SAFETY: the padding of a column is as long as a vector; places are below its length.
            Some(unsafe {
                (self.picked::<V, C>(scales, group, places), self.picked::<V, C>(biases, group, places))
            })
        } else {
            None
        };
        let in_place = V::IN_PLACE && is_whole(KIND) && !WEIGHTS;
        let mut inner = if WEIGHTS { *sums } else { [[V::splat(0.0); R]; C] };
        for step in 0..steps {
            let mut levels = [V::splat(0.0); C];
            for (c, level) in levels.iter_mut().enumerate() {
                *level =
                    if in_place { V::in_place::<KIND>(words[c], step) } else { V::level::<KIND>(words[c]) };
                if let Some((scale, bias)) = &weights {
                    // Rounded twice, as weights are read elsewhere, so that codes that stand for zero become zero.
                    *level = bias[c].add_product::<false>(*level, scale[c]);
                }
                if !in_place {
                    words[c] = V::next::<KIND>(words[c]);
                }
            }
            for i in 0..R {
                let place = (r + i) * row_length + (block * steps + step) * V::COUNT;
                debug_assert!(place + V::COUNT <= self.x.len());
                // SAFETY: inside the rows as they were laid out, which end with whole blocks.
                let x = unsafe { V::load(self.x.as_ptr().add(place)) };
                for (inner, &level) in inner.iter_mut().zip(&levels) {
                    inner[i] = inner[i].add_product::<true>(level, x);
                }
            }
        }
        if WEIGHTS {
            *sums = inner;
            return;
        }
        // SAFETY: as above.
        let scales = unsafe { self.picked::<V, C>(scales, group, places) };
        for ((sums, inner), scale) in sums.iter_mut().zip(inner).zip(scales) {
            for (sum, inner) in sums.iter_mut().zip(inner) {
                *sum = sum.add_product::<true>(inner, scale);
            }
        }
    }
}

/// Without instructions of its own.
type Plain = [f32; 8];

impl Codes for Plain {
    type Words = [u32; 8];

    #[inline(always)]
    unsafe fn words(from: *const u32) -> [u32; 8] {
        // SAFETY: the caller's.
        unsafe { from.cast::<[u32; 8]>().read_unaligned() }
    }

    #[inline(always)]
    fn level<const KIND: u8>(words: [u32; 8]) -> Plain {
        words.map(|word| match KIND {
            FP4 => from_fp4(word & 15),
            FP8 => from_fp8(word & 255),
            _ => (word & ((1 << bits_of(KIND)) - 1)) as f32,
        })
    }

    #[inline(always)]
    fn next<const KIND: u8>(words: [u32; 8]) -> [u32; 8] {
        words.map(|word| word >> bits_of(KIND))
    }

    #[inline(always)]
    unsafe fn pick(from: *const f32, places: [u32; 8]) -> Plain {
        // SAFETY: the caller's.
        places.map(|place| unsafe { *from.add(place as usize) })
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;
    use std::ops::Range;

    use super::kinds::{FP4, INT1, INT2, INT4, INT8, bits_of, table};
    use super::{Codes, Job, TurnedProduct, prepared};

    pub(super) unsafe fn run(product: &TurnedProduct, kind: u8) {
        // SAFETY: the caller's.
        prepared::<__m512>(product, kind, |job, part, room| unsafe { some(job, kind, part, room) });
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
    unsafe fn some(job: &Job, kind: u8, part: Range<usize>, room: &mut [f32]) {
        // SAFETY: the caller's.
        unsafe { job.dispatch::<__m512>(kind, part, room) };
    }

    // SAFETY of all: only used inside of `some`, whose caller knows that the processor has these instructions.
    impl Codes for __m512 {
        type Words = __m512i;

        #[inline(always)]
        unsafe fn words(from: *const u32) -> __m512i {
            // SAFETY: the caller's.
            unsafe { _mm512_loadu_si512(from.cast()) }
        }

        #[inline(always)]
        fn level<const KIND: u8>(words: __m512i) -> __m512 {
            // SAFETY: see above.
            unsafe {
                match KIND {
                    // A place in a table is the low four bits.
                    FP4 | INT1 | INT2 | INT4 => {
                        let table = const { table::<KIND>() };
                        _mm512_permutexvar_ps(words, _mm512_loadu_ps(table.as_ptr()))
                    }
                    INT8 => _mm512_cvtepi32_ps(_mm512_and_si512(words, _mm512_set1_epi32(255))),
                    _ => {
                        let magnitude = _mm512_and_si512(words, _mm512_set1_epi32(0x7f));
                        let normal = _mm512_add_epi32(
                            _mm512_slli_epi32::<20>(magnitude),
                            _mm512_set1_epi32(120 << 23),
                        );
                        let small = _mm512_mul_ps(_mm512_cvtepi32_ps(magnitude), _mm512_set1_ps(1.0 / 512.0));
                        let is_small = _mm512_cmplt_epi32_mask(magnitude, _mm512_set1_epi32(8));
                        let is_nan = _mm512_cmpeq_epi32_mask(magnitude, _mm512_set1_epi32(0x7f));
                        let value = _mm512_mask_blend_ps(is_small, _mm512_castsi512_ps(normal), small);
                        let value = _mm512_mask_blend_ps(is_nan, value, _mm512_set1_ps(f32::NAN));
                        let sign =
                            _mm512_and_si512(_mm512_slli_epi32::<24>(words), _mm512_set1_epi32(i32::MIN));
                        _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(value), sign))
                    }
                }
            }
        }

        #[inline(always)]
        fn next<const KIND: u8>(words: __m512i) -> __m512i {
            // SAFETY: see above.
            unsafe {
                match bits_of(KIND) {
                    1 => _mm512_srli_epi32::<1>(words),
                    2 => _mm512_srli_epi32::<2>(words),
                    4 => _mm512_srli_epi32::<4>(words),
                    _ => _mm512_srli_epi32::<8>(words),
                }
            }
        }

        #[inline(always)]
        unsafe fn pick(from: *const f32, places: __m512i) -> __m512 {
            // SAFETY: the caller's.
            unsafe { _mm512_permutexvar_ps(places, _mm512_loadu_ps(from)) }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;
    use std::ops::Range;

    use super::kinds::{FP4, FP8, INT1, INT2, INT4, bits_of, table};
    use super::{Codes, Job, TurnedProduct, prepared};

    pub(super) unsafe fn run(product: &TurnedProduct, kind: u8) {
        // SAFETY: the caller's.
        prepared::<__m256>(product, kind, |job, part, room| unsafe { some(job, kind, part, room) });
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn some(job: &Job, kind: u8, part: Range<usize>, room: &mut [f32]) {
        // SAFETY: the caller's.
        unsafe { job.dispatch::<__m256>(kind, part, room) };
    }

    // SAFETY of all: only used inside of `some`, whose caller knows that the processor has these instructions.
    impl Codes for __m256 {
        type Words = __m256i;
        const IN_PLACE: bool = true;

        #[inline(always)]
        unsafe fn words(from: *const u32) -> __m256i {
            // SAFETY: the caller's.
            unsafe { _mm256_loadu_si256(from.cast()) }
        }

        #[inline(always)]
        fn level<const KIND: u8>(words: __m256i) -> __m256 {
            // SAFETY: see above.
            unsafe {
                match KIND {
                    FP4 => {
                        // A place in a table is the low three bits; the fourth is the sign.
                        let table = const { table::<FP4>() };
                        let value = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table.as_ptr()), words);
                        let sign =
                            _mm256_and_si256(_mm256_slli_epi32::<28>(words), _mm256_set1_epi32(i32::MIN));
                        _mm256_or_ps(value, _mm256_castsi256_ps(sign))
                    }
                    FP8 => {
                        let magnitude = _mm256_and_si256(words, _mm256_set1_epi32(0x7f));
                        let normal = _mm256_add_epi32(
                            _mm256_slli_epi32::<20>(magnitude),
                            _mm256_set1_epi32(120 << 23),
                        );
                        let small = _mm256_mul_ps(_mm256_cvtepi32_ps(magnitude), _mm256_set1_ps(1.0 / 512.0));
                        let is_small = _mm256_cmpgt_epi32(_mm256_set1_epi32(8), magnitude);
                        let is_nan = _mm256_cmpeq_epi32(magnitude, _mm256_set1_epi32(0x7f));
                        let value = _mm256_blendv_ps(
                            _mm256_castsi256_ps(normal),
                            small,
                            _mm256_castsi256_ps(is_small),
                        );
                        let value =
                            _mm256_blendv_ps(value, _mm256_set1_ps(f32::NAN), _mm256_castsi256_ps(is_nan));
                        let sign =
                            _mm256_and_si256(_mm256_slli_epi32::<24>(words), _mm256_set1_epi32(i32::MIN));
                        _mm256_or_ps(value, _mm256_castsi256_ps(sign))
                    }
                    _ => {
                        let mask = _mm256_set1_epi32((1 << bits_of(KIND)) - 1);
                        _mm256_cvtepi32_ps(_mm256_and_si256(words, mask))
                    }
                }
            }
        }

        #[inline(always)]
        fn in_place<const KIND: u8>(words: __m256i, step: usize) -> __m256 {
            let bits = bits_of(KIND);
            // SAFETY: see above.
            unsafe {
                if (step + 1) * bits == 32 {
                    return _mm256_cvtepi32_ps(match KIND {
                        INT1 => _mm256_srli_epi32::<31>(words),
                        INT2 => _mm256_srli_epi32::<30>(words),
                        INT4 => _mm256_srli_epi32::<28>(words),
                        _ => _mm256_srli_epi32::<24>(words),
                    });
                }
                let mask = _mm256_set1_epi32(((1 << bits) - 1) << (step * bits));
                _mm256_cvtepi32_ps(_mm256_and_si256(words, mask))
            }
        }

        #[inline(always)]
        fn next<const KIND: u8>(words: __m256i) -> __m256i {
            // SAFETY: see above.
            unsafe {
                match bits_of(KIND) {
                    1 => _mm256_srli_epi32::<1>(words),
                    2 => _mm256_srli_epi32::<2>(words),
                    4 => _mm256_srli_epi32::<4>(words),
                    _ => _mm256_srli_epi32::<8>(words),
                }
            }
        }

        #[inline(always)]
        unsafe fn pick(from: *const f32, places: __m256i) -> __m256 {
            // SAFETY: the caller's.
            unsafe { _mm256_permutevar8x32_ps(_mm256_loadu_ps(from), places) }
        }
    }
}
