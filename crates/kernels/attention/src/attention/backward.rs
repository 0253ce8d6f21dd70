//! The derivative of an attention: weights are computed again, for some queries and all keys at a time.

use std::ops::Range;

use umber_kernels_base::isa::vectorised;
use umber_kernels_base::row::{LANES, Real, exp_in_place, max_of, maximum, sum_of};
use umber_kernels_base::scratch;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_for};
use umber_kernels_base::{View, ViewMut};
use umber_kernels_matmul::product::{Beta, Matrix, Product};
use umber_types::match_dtype;

use super::operand::{AttentionFloat, Rows};
use super::problem::{AttentionInputs, AttentionOptions, Problem, Stack};

/// Where the cotangents of the operands go, all dense and shaped like these.
#[derive(Debug)]
pub struct Gradients<'a> {
    /// Of the queries.
    pub queries: ViewMut<'a>,
    /// Of the keys.
    pub keys: ViewMut<'a>,
    /// Of the values.
    pub values: ViewMut<'a>,
    /// Of the sinks, if there are any, in the dtype that computes.
    pub sinks: Option<ViewMut<'a>>,
}

/// The cotangents of queries, keys, values and sinks that belong to `cotangent` of [`attention`](super::attention).
///
/// Memory beyond the operands is that of the weights of some queries a thread.
///
/// # Panics
/// If dtypes or shapes do not fit together.
pub fn attention_gradient(
    inputs: &AttentionInputs,
    options: AttentionOptions,
    cotangent: View,
    into: &Gradients,
) {
    let dtype = inputs.queries.dtype();
    for out in [&into.queries, &into.keys, &into.values] {
        assert!(out.layout().is_contiguous() && out.dtype() == dtype, "cotangents are dense");
    }
    assert!(into.queries.shape() == inputs.queries.shape() && cotangent.dtype() == dtype, "cotangents fit");
    assert!(into.keys.shape() == inputs.keys.shape() && into.values.shape() == inputs.values.shape());
    assert_eq!(into.sinks.is_some(), inputs.sinks.is_some(), "a cotangent of sinks that there are");
    match_dtype!(float dtype, T => {
        let problem = Problem::new::<T>(inputs, options);
        let size = problem.stacks() * problem.rows() * problem.values;
        assert_eq!(size, cotangent.size(), "a cotangent for each value");
        let task = Task {
            problem: &problem,
            cotangent: Rows::of::<T>(&cotangent),
            queries: Target::of(&into.queries),
            keys: Target::of(&into.keys),
            values: Target::of(&into.values),
            sinks: into.sinks.as_ref().map(Target::of),
            store: store::<T>,
        };
        task.run();
    }, else => panic!("attention to {dtype} is not to real floats"));
}

fn store<T: Real>(from: &[T::Compute], to: Target<u8>, place: usize) {
    let to = to.cast::<T>().shifted(place as isize);
    for (i, &value) in from.iter().enumerate() {
        // SAFETY: a part of a result that one task alone writes.
        unsafe { *to.at(i as isize) = T::narrow(value) };
    }
}

struct Task<'a, W> {
    problem: &'a Problem<'a, W>,
    cotangent: Rows<'a, W>,
    queries: Target<u8>,
    keys: Target<u8>,
    values: Target<u8>,
    sinks: Option<Target<W>>,
    store: fn(from: &[W], to: Target<u8>, place: usize),
}

/// Sums over the queries of a stack: cotangents of its keys, of its values, and of the sinks of its heads.
struct Sums<'a, W> {
    keys: &'a mut [W],
    values: &'a mut [W],
    sinks: &'a mut [W],
}

impl<W: AttentionFloat> Task<'_, W> {
    fn run(&self) {
        let Problem { keys, features, values, group, .. } = *self.problem;
        let (stacks, rows) = (self.problem.stacks(), self.problem.rows());
        let height = rows_of_weights(keys);
        let blocks = rows.div_ceil(height);
        let size = keys * (features + values) + group;
        let parts = num_threads().div_ceil(stacks.max(1)).min(blocks).max(1);
        let part_of = |stack: &Stack, part: usize, scratch: &mut [W]| {
            scratch.fill(W::ZERO);
            let mut sums = self.sums(scratch);
            for block in blocks * part / parts..blocks * (part + 1) / parts {
                self.block(stack, block * height..rows.min((block + 1) * height), &mut sums);
            }
        };
        if parts == 1 {
            parallel_for(stacks, |index| {
                let stack = self.problem.stack(index);
                scratch::with(size, |scratch: &mut [W]| {
                    part_of(&stack, 0, scratch);
                    self.finish(index, scratch);
                });
            });
            return;
        }
        scratch::with(parts * size, |scratch: &mut [W]| {
            for index in 0..stacks {
                let stack = self.problem.stack(index);
                let shared = Target::over(scratch);
                parallel_for(parts, |part| {
                    // SAFETY: each part has its own room.
                    let scratch =
                        unsafe { std::slice::from_raw_parts_mut(shared.at((part * size) as isize), size) };
                    part_of(&stack, part, scratch);
                });
                let (first, rest) = scratch.split_at_mut(size);
                for other in rest.chunks_exact(size.max(1)) {
                    for (sum, &term) in first.iter_mut().zip(other) {
                        *sum = *sum + term;
                    }
                }
                self.finish(index, first);
            }
        });
    }

    fn sums<'r>(&self, scratch: &'r mut [W]) -> Sums<'r, W> {
        let Problem { keys, features, values, .. } = *self.problem;
        let (k, scratch) = scratch.split_at_mut(keys * features);
        let (v, sinks) = scratch.split_at_mut(keys * values);
        Sums { keys: k, values: v, sinks }
    }

    /// Write what one stack has summed up.
    fn finish(&self, index: usize, scratch: &mut [W]) {
        let sums = self.sums(scratch);
        (self.store)(sums.keys, self.keys, index * sums.keys.len());
        (self.store)(sums.values, self.values, index * sums.values.len());
        let Some(to) = self.sinks else { return };
        for (i, &sum) in sums.sinks.iter().enumerate() {
            // SAFETY: the heads of a stack, which one task alone writes.
            unsafe { *to.at((index * sums.sinks.len() + i) as isize) = sum };
        }
    }

    /// Some queries of a stack.
    fn block(&self, stack: &Stack, rows: Range<usize>, sums: &mut Sums<W>) {
        let Problem { features, values, .. } = *self.problem;
        let (count, keys) = (rows.len(), self.problem.needed(rows.clone()));
        let width = keys.next_multiple_of(LANES);
        scratch::with(count * (2 * width + 2 * features + values), |scratch: &mut [W]| {
            let (weights, scratch) = scratch.split_at_mut(count * width);
            let (gradients, scratch) = scratch.split_at_mut(count * width);
            let (queries, scratch) = scratch.split_at_mut(count * features);
            let (results, cotangents) = scratch.split_at_mut(count * features);
            for (i, row) in rows.clone().enumerate() {
                let (head, query) = self.problem.place(stack, row);
                self.problem.query(stack, row, &mut queries[i * features..][..features]);
                // SAFETY: inside the cotangent.
                unsafe {
                    self.cotangent.head(&stack.at, head).row(query, &mut cotangents[i * values..][..values]);
                }
            }
            let dense = |elements: &[W], columns: usize| Matrix {
                start: elements.as_ptr(),
                rows: columns as isize,
                columns: 1,
            };
            let multiply =
                |a: Matrix<W>, b: Matrix<W>, shape: [usize; 3], out: &mut [W], row: usize, into| {
                    let [m, n, k] = shape;
                    let product = Product { m, n, k, a, b, out: out.as_mut_ptr(), out_row: row as isize };
                    if k > 0 {
                        W::multiply_acc(&product, into);
                    } else if into == Beta::Zero {
                        product.fill_out(W::ZERO);
                    }
                };
            let head = |rows: &Rows<W>| rows.head(&stack.at, stack.key_head);
            let (q, ct) = (dense(queries, features), dense(cotangents, values));
            scratch::with(keys * features.max(values), |scratch: &mut [W]| {
                // SAFETY: as many keys and values as there are at most.
                let v = unsafe { head(&self.problem.v).block(0..keys, values, scratch) };
                multiply(ct, v.transposed(), [count, keys, values], gradients, width, Beta::Zero);
                // SAFETY: as above.
                let k = unsafe { head(&self.problem.k).block(0..keys, features, scratch) };
                multiply(q, k.transposed(), [count, keys, features], weights, width, Beta::Zero);
                self.differentiate(stack, rows.clone(), keys, [weights, gradients], sums.sinks);
                let (weights, gradients) = (dense(weights, width), dense(gradients, width));
                multiply(weights.transposed(), ct, [keys, values, count], sums.values, values, Beta::One);
                multiply(gradients.transposed(), q, [keys, features, count], sums.keys, features, Beta::One);
                multiply(gradients, k, [count, features, keys], results, features, Beta::Zero);
            });
            for result in &mut *results {
                *result = *result * self.problem.scale;
            }
            (self.store)(results, self.queries, (stack.first + rows.start) * features);
        });
    }

    /// Make scores weights, and cotangents of weights those of scores.
    fn differentiate(
        &self,
        stack: &Stack,
        rows: Range<usize>,
        keys: usize,
        [weights, gradients]: [&mut [W]; 2],
        sinks: &mut [W],
    ) {
        let width = keys.next_multiple_of(LANES);
        for (i, row) in rows.enumerate() {
            let weights = &mut weights[i * width..][..width];
            let gradients = &mut gradients[i * width..][..width];
            self.problem.apply_mask(stack, row, 0, &mut weights[..keys]);
            let sink = self.problem.sink(stack, row);
            let SoftmaxRow { max, sink: share, mean } = vectorised(
                #[inline(always)]
                || softmax_row(weights, gradients, keys, sink),
            );
            if self.problem.is_fully_masked(max) {
                gradients.fill(W::ZERO);
            }
            if sink.is_some() {
                let sum = &mut sinks[row / self.problem.queries];
                *sum = *sum - share * mean;
            }
        }
    }
}

/// How many queries have all their weights in memory at a time.
fn rows_of_weights(keys: usize) -> usize {
    const WEIGHTS: usize = 1 << 18;
    (WEIGHTS / keys.max(1)).clamp(8, 128)
}

/// What became of a row.
struct SoftmaxRow<W> {
    /// The greatest score.
    max: W,
    /// The weight of the sink.
    sink: W,
    /// The mean of the cotangents of weights, by weight.
    mean: W,
}

/// Make the scores of a row weights `w`, and the cotangents `c` of these `w (c - mean)`; rows are padded to whole vectors.
#[inline(always)]
fn softmax_row<W: AttentionFloat>(
    weights: &mut [W],
    gradients: &mut [W],
    keys: usize,
    sink: Option<W>,
) -> SoftmaxRow<W> {
    weights[keys..].fill(W::neg_infinity());
    gradients[keys..].fill(W::ZERO);
    let max = max_of(&weights[..keys]);
    let shift = sink.map_or(max, |sink| maximum(max, sink));
    let total = exp_in_place(weights, shift);
    let own = sink.map_or(W::ZERO, |sink| (sink - shift).exp_of_nonpositive());
    let share = W::nearest(1.0 / (total + own.wide()));
    let mut sums = [W::ZERO; LANES];
    for (weights, gradients) in weights.chunks_exact_mut(LANES).zip(gradients.chunks_exact(LANES)) {
        for ((weight, &slope), sum) in weights.iter_mut().zip(gradients).zip(&mut sums) {
            *weight = *weight * share;
            *sum = *sum + *weight * slope;
        }
    }
    let mean = W::nearest(sum_of(&sums, |sum| sum));
    for (slope, &weight) in gradients.iter_mut().zip(&*weights) {
        *slope = weight * (*slope - mean);
    }
    SoftmaxRow { max, sink: own * share, mean }
}
