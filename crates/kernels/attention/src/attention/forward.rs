//! The forward pass of attention, by blocks of queries and keys.

use std::ops::Range;

use umber_kernels_base::ViewMut;
use umber_kernels_base::isa::vectorised;
use umber_kernels_base::row::{LANES, Real, exp_in_place, max_of, maximum};
use umber_kernels_base::scratch;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_for};
use umber_kernels_matmul::product::{Beta, Matrix, Product};
use umber_kernels_matmul::{dot, gemv};
use umber_types::match_dtype;

use super::operand::{AttentionFloat, Rows};
use super::problem::{AttentionInputs, AttentionOptions, Problem, Stack};

/// Keys per block: their scores stay in L2.
const KEYS: usize = 512;
/// Up to this many queries read keys and values in place, without packing.
pub(super) const MAX_IN_PLACE_QUERIES: usize = 16;
/// Minimum keys per chunk when the keys of a few queries are split between threads.
const MIN_CHUNK_KEYS: usize = 1024;

/// `out[..., h, l, :] = sum over s of softmax(scale * q[h, l] . k[h / g, s] + mask) v[h / g, s]` for `g` heads a head of keys.
///
/// `out` is dense and has the dtype of the queries. float16 and bfloat16 compute in float32 and are rounded once. A key is hidden
/// from a query by false in a bool mask, by the causal order, or by an additive mask element that is the lowest finite number of
/// its dtype or -infinity. A query with all keys hidden attends to all values equally. Without keys, the result is zero. Scores
/// that are all -infinity give NaN. Each thread allocates a few blocks.
///
/// # Panics
/// If dtypes or shapes do not match.
pub fn attention(inputs: &AttentionInputs, options: AttentionOptions, out: ViewMut) {
    assert!(out.layout().is_contiguous() && out.dtype() == inputs.queries.dtype(), "the result is dense");
    match_dtype!(float out.dtype(), T => {
        let problem = Problem::new::<T>(inputs, options);
        let size = problem.stacks() * problem.rows() * problem.values;
        assert_eq!(size, out.size(), "a row of values for each query");
        if size > 0 {
            run(&problem, &Out { start: Target::of(&out), store: store::<T> });
        }
    }, else => panic!("attention needs a real floating-point dtype, not {}", out.dtype()));
}

/// The output and the function that rounds to its dtype.
struct Out<W> {
    start: Target<u8>,
    store: fn(from: &[W], to: Target<u8>, offset: usize),
}

fn store<T: Real>(from: &[T::Compute], to: Target<u8>, offset: usize) {
    let to = to.cast::<T>().shifted(offset as isize);
    for (i, &value) in from.iter().enumerate() {
        // SAFETY: a row of the result, which only this task writes.
        unsafe { *to.at(i as isize) = T::narrow(value) };
    }
}

/// The number of queries per block.
fn rows_of_block(rows: usize) -> usize {
    match rows {
        768.. => 256,
        192.. => 64,
        _ => 32,
    }
}

fn run<W: AttentionFloat>(problem: &Problem<W>, out: &Out<W>) {
    let (stacks, rows) = (problem.stacks(), problem.rows());
    let height = rows_of_block(rows);
    let blocks = rows.div_ceil(height);
    let tasks = stacks * blocks;
    let chunks = match num_threads() {
        threads if tasks < threads => threads.div_ceil(tasks).min(problem.keys / MIN_CHUNK_KEYS).max(1),
        _ => 1,
    };
    let width = problem.values + 2;
    let block_of = |task: usize| {
        let stack = problem.stack(task / blocks);
        // The last blocks of a causal attention are the longest, so they are scheduled first.
        let block = blocks - 1 - task % blocks;
        (stack, block * height..rows.min((block + 1) * height))
    };
    if chunks == 1 {
        parallel_for(tasks, |task| {
            let (stack, rows) = block_of(task);
            let keys = 0..problem.needed_keys(rows.clone());
            scratch::with(rows.len() * width, |scratch: &mut [W]| {
                let mut state = State::begin(scratch, problem.values, rows.len());
                Block { problem, stack: &stack, rows: rows.clone() }.attend(keys, &mut state);
                finish(problem, &stack, rows, &mut [state], out);
            });
        });
        return;
    }
    // Few queries and many keys: several threads process chunks of the keys of one stack, and their states are combined.
    for task in 0..tasks {
        let (stack, rows) = block_of(task);
        let (keys, size) = (problem.needed_keys(rows.clone()), rows.len() * width);
        let mut scratch = vec![W::ZERO; chunks * size];
        let shared = Target::over(&mut scratch);
        parallel_for(chunks, |chunk| {
            // SAFETY: each chunk has its own buffer in the scratch.
            let scratch = unsafe { std::slice::from_raw_parts_mut(shared.at((chunk * size) as isize), size) };
            let keys = keys * chunk / chunks..keys * (chunk + 1) / chunks;
            let mut state = State::begin(scratch, problem.values, rows.len());
            Block { problem, stack: &stack, rows: rows.clone() }.attend(keys, &mut state);
        });
        let mut states: Vec<State<W>> = scratch
            .chunks_exact_mut(size)
            .map(|scratch| State::of(scratch, problem.values, rows.len()))
            .collect();
        finish(problem, &stack, rows, &mut states, out);
    }
}

/// The online-softmax state of a block of queries: the maximum score so far, the sum of the exponentials relative to it, and the
/// sum of the values weighted by these exponentials.
struct State<'a, W> {
    maxima: &'a mut [W],
    totals: &'a mut [W],
    sums: &'a mut [W],
}

impl<'a, W: AttentionFloat> State<'a, W> {
    fn of(scratch: &'a mut [W], values: usize, rows: usize) -> State<'a, W> {
        let (sums, scratch) = scratch.split_at_mut(rows * values);
        let (maxima, totals) = scratch.split_at_mut(rows);
        State { maxima, totals, sums }
    }

    /// The initial state, before any keys.
    fn begin(scratch: &'a mut [W], values: usize, rows: usize) -> State<'a, W> {
        let state = State::of(scratch, values, rows);
        state.maxima.fill(W::neg_infinity());
        state.totals.fill(W::ZERO);
        state.sums.fill(W::ZERO);
        state
    }
}

/// The factor that rescales sums of exponentials relative to the maximum `from` to the maximum `to`.
#[inline(always)]
fn factor<W: AttentionFloat>(from: W, to: W) -> W {
    // Also for two equal infinities, whose difference is NaN.
    if from == to { W::one() } else { (from - to).exp_of_nonpositive() }
}

/// A block of queries of a stack.
struct Block<'a, W> {
    problem: &'a Problem<'a, W>,
    stack: &'a Stack,
    rows: Range<usize>,
}

impl<W: AttentionFloat> Block<'_, W> {
    /// Update the state with a range of keys.
    fn attend(&self, keys: Range<usize>, state: &mut State<W>) {
        let Problem { features, values, .. } = *self.problem;
        let (count, width) = (self.rows.len(), KEYS.min(keys.len().next_multiple_of(LANES)));
        let head = |rows: &Rows<W>| rows.head(&self.stack.at, self.stack.key_head);
        let (k, v) = (head(&self.problem.k), head(&self.problem.v));
        scratch::with(count * (features + width), |scratch: &mut [W]| {
            let (queries, scores) = scratch.split_at_mut(count * features);
            if features > 0 {
                for (row, to) in self.rows.clone().zip(queries.chunks_exact_mut(features)) {
                    self.problem.query(self.stack, row, to);
                }
            }
            let queries = Matrix { start: queries.as_ptr(), rows: features as isize, columns: 1 };
            scratch::with(width * features.max(values), |scratch: &mut [W]| {
                for first in keys.clone().step_by(KEYS) {
                    let block = first..keys.end.min(first + KEYS);
                    let score_block = ScoreBlock { block: block.clone(), count, width };
                    // SAFETY: the block is inside the keys and the values.
                    unsafe {
                        score_block.score(
                            queries,
                            k.block(block.clone(), features, scratch),
                            features,
                            scores,
                        );
                        self.softmax_row(&score_block, scores, state);
                        score_block.accumulate_values(
                            scores,
                            v.block(block, values, scratch),
                            values,
                            state.sums,
                        );
                    }
                }
            });
        });
    }

    /// Replace scores by weights (exponentials relative to the maximum so far), and update the state.
    fn softmax_row(&self, score_block: &ScoreBlock, scores: &mut [W], state: &mut State<W>) {
        let (keys, values) = (score_block.block.len(), self.problem.values);
        for (i, row) in self.rows.clone().enumerate() {
            let scores = &mut scores[i * score_block.width..][..keys];
            self.problem.apply_mask(self.stack, row, score_block.block.start, scores);
        }
        vectorised(
            #[inline(always)]
            || {
                for i in 0..self.rows.len() {
                    let scores = &mut scores[i * score_block.width..][..keys.next_multiple_of(LANES)];
                    let before = state.maxima[i];
                    let max = maximum(before, max_of(&scores[..keys]));
                    scores[keys..].fill(W::neg_infinity());
                    // If all scores are -infinity, shift by zero, so that the exponentials are zero and not NaN.
                    let shift = if max == W::neg_infinity() { W::ZERO } else { max };
                    let total = W::nearest(exp_in_place(scores, shift));
                    let correction = factor(before, max);
                    state.maxima[i] = max;
                    state.totals[i] = state.totals[i] * correction + total;
                    if correction != W::one() {
                        for sum in &mut state.sums[i * values..][..values] {
                            *sum = *sum * correction;
                        }
                    }
                }
            },
        );
    }
}

/// The shape of a block of scores: its keys, the number of queries, and the row stride.
struct ScoreBlock {
    block: Range<usize>,
    count: usize,
    width: usize,
}

impl ScoreBlock {
    /// `scores = queries @ keys^T`.
    ///
    /// # Safety
    /// The matrices are readable, and `scores` has `count` rows of `width` elements.
    unsafe fn score<W: AttentionFloat>(
        &self,
        a: Matrix<W>,
        keys: Matrix<W>,
        features: usize,
        scores: &mut [W],
    ) {
        let product = Product {
            m: self.count,
            n: self.block.len(),
            k: features,
            a,
            b: keys.transposed(),
            out: scores.as_mut_ptr(),
            out_row: self.width as isize,
        };
        if features == 0 {
            product.fill_out(W::ZERO);
        } else if self.count <= MAX_IN_PLACE_QUERIES && keys.columns == 1 {
            dot::product(&product, Beta::Zero);
        } else {
            W::multiply_acc(&product, Beta::Zero);
        }
    }

    /// `sums += weights @ values`.
    ///
    /// # Safety
    /// The matrices are readable, and `sums` has `count` rows of `width` elements.
    unsafe fn accumulate_values<W: AttentionFloat>(
        &self,
        weights: &[W],
        values: Matrix<W>,
        width: usize,
        sums: &mut [W],
    ) {
        let product = Product {
            m: self.count,
            n: width,
            k: self.block.len(),
            a: Matrix { start: weights.as_ptr(), rows: self.width as isize, columns: 1 },
            b: values,
            out: sums.as_mut_ptr(),
            out_row: width as isize,
        };
        if self.count <= MAX_IN_PLACE_QUERIES && values.columns == 1 {
            gemv::product(&product, Beta::One);
        } else {
            W::multiply_acc(&product, Beta::One);
        }
    }
}

/// Combine the states of all chunks of the keys, normalise and write the result.
fn finish<W: AttentionFloat>(
    problem: &Problem<W>,
    stack: &Stack,
    rows: Range<usize>,
    states: &mut [State<W>],
    out: &Out<W>,
) {
    let values = problem.values;
    let mut combined = vec![W::ZERO; values];
    for (i, row) in rows.enumerate() {
        let sink = problem.sink(stack, row);
        let max =
            states.iter().fold(sink.unwrap_or(W::neg_infinity()), |max, state| maximum(max, state.maxima[i]));
        let mut total = sink.map_or(W::ZERO, |sink| exp_below(sink, max));
        combined.fill(W::ZERO);
        for state in &*states {
            let correction = exp_below(state.maxima[i], max);
            total = total + state.totals[i] * correction;
            for (combined, &sum) in combined.iter_mut().zip(&state.sums[i * values..][..values]) {
                *combined = *combined + sum * correction;
            }
        }
        // Without keys the total is zero; the result is zero.
        let inverse_total = if problem.keys == 0 { W::ZERO } else { W::one() / total };
        for combined in &mut combined {
            *combined = *combined * inverse_total;
        }
        (out.store)(&combined, out.start, (stack.first + row) * values);
    }
}

/// `exp(score - max)`, and zero for a score of -infinity.
fn exp_below<W: AttentionFloat>(score: W, max: W) -> W {
    if score == W::neg_infinity() { W::ZERO } else { (score - max).exp_of_nonpositive() }
}
