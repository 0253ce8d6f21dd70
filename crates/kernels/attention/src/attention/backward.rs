//! The gradient of attention. The softmax weights are recomputed for blocks of queries, each with all its keys.

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

/// The outputs of [`attention_gradient`], contiguous and of the shapes of the operands.
#[derive(Debug)]
pub struct Gradients<'a> {
    /// Of the queries.
    pub queries: ViewMut<'a>,
    /// Of the keys.
    pub keys: ViewMut<'a>,
    /// Of the values.
    pub values: ViewMut<'a>,
    /// Of the sinks, if there are any, in the computing dtype.
    pub sinks: Option<ViewMut<'a>>,
}

/// The cotangents of queries, keys, values and sinks for the cotangent of the result of [`attention`](super::attention).
///
/// Each thread allocates the weights of one block of queries.
///
/// # Panics
/// If dtypes or shapes do not match.
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
    assert!(
        into.queries.shape() == inputs.queries.shape() && cotangent.dtype() == dtype,
        "cotangents have the shapes and the dtype of the operands"
    );
    assert!(into.keys.shape() == inputs.keys.shape() && into.values.shape() == inputs.values.shape());
    assert_eq!(
        into.sinks.is_some(),
        inputs.sinks.is_some(),
        "a cotangent of the sinks exactly if there are sinks"
    );
    match_dtype!(float dtype, T => {
        let problem = Problem::new::<T>(inputs, options);
        let size = problem.stacks() * problem.rows() * problem.values;
        assert_eq!(size, cotangent.size(), "a cotangent for each element of the result");
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
    }, else => panic!("attention needs a real floating-point dtype, not {dtype}"));
}

fn store<T: Real>(from: &[T::Compute], to: Target<u8>, offset: usize) {
    let to = to.cast::<T>().shifted(offset as isize);
    for (i, &value) in from.iter().enumerate() {
        // SAFETY: the elements are inside the result, and only this task writes them.
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
    store: fn(from: &[W], to: Target<u8>, offset: usize),
}

/// Sums over the queries of a stack: the cotangents of its keys, of its values, and of the sinks of its heads.
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
        let chunks = num_threads().div_ceil(stacks.max(1)).min(blocks).max(1);
        let accumulate_chunk = |stack: &Stack, chunk: usize, scratch: &mut [W]| {
            scratch.fill(W::ZERO);
            let mut sums = self.sums(scratch);
            for block in blocks * chunk / chunks..blocks * (chunk + 1) / chunks {
                self.block(stack, block * height..rows.min((block + 1) * height), &mut sums);
            }
        };
        if chunks == 1 {
            parallel_for(stacks, |index| {
                let stack = self.problem.stack(index);
                scratch::with(size, |scratch: &mut [W]| {
                    accumulate_chunk(&stack, 0, scratch);
                    self.finish(index, scratch);
                });
            });
            return;
        }
        scratch::with(chunks * size, |scratch: &mut [W]| {
            for index in 0..stacks {
                let stack = self.problem.stack(index);
                let shared = Target::over(scratch);
                parallel_for(chunks, |chunk| {
                    // SAFETY: each chunk has its own buffer in the scratch.
                    let scratch =
                        unsafe { std::slice::from_raw_parts_mut(shared.at((chunk * size) as isize), size) };
                    accumulate_chunk(&stack, chunk, scratch);
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

    /// Write the sums of one stack to the outputs.
    fn finish(&self, index: usize, scratch: &mut [W]) {
        let sums = self.sums(scratch);
        (self.store)(sums.keys, self.keys, index * sums.keys.len());
        (self.store)(sums.values, self.values, index * sums.values.len());
        let Some(to) = self.sinks else { return };
        for (i, &sum) in sums.sinks.iter().enumerate() {
            // SAFETY: the sinks are those of the stack's heads, which only this task writes.
            unsafe { *to.at((index * sums.sinks.len() + i) as isize) = sum };
        }
    }

    /// Process a block of queries of a stack.
    fn block(&self, stack: &Stack, rows: Range<usize>, sums: &mut Sums<W>) {
        let Problem { features, values, .. } = *self.problem;
        let (count, keys) = (rows.len(), self.problem.needed_keys(rows.clone()));
        let width = keys.next_multiple_of(LANES);
        scratch::with(count * (2 * width + 2 * features + values), |scratch: &mut [W]| {
            let (weights, scratch) = scratch.split_at_mut(count * width);
            let (gradients, scratch) = scratch.split_at_mut(count * width);
            let (queries, scratch) = scratch.split_at_mut(count * features);
            let (results, cotangents) = scratch.split_at_mut(count * features);
            for (i, row) in rows.clone().enumerate() {
                let (head, query) = self.problem.head_and_query(stack, row);
                self.problem.query(stack, row, &mut queries[i * features..][..features]);
                // SAFETY: the row is inside the cotangent.
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
                // SAFETY: `keys` is at most the number of keys and values.
                let v = unsafe { head(&self.problem.v).block(0..keys, values, scratch) };
                multiply(ct, v.transposed(), [count, keys, values], gradients, width, Beta::Zero);
                // SAFETY: `keys` is at most the number of keys and values.
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

    /// Turn scores into weights, and cotangents of weights into those of scores.
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
            let SoftmaxRow { max, sink: sink_weight, mean } = vectorised(
                #[inline(always)]
                || softmax_row(weights, gradients, keys, sink),
            );
            if self.problem.is_fully_masked(max) {
                gradients.fill(W::ZERO);
            }
            if sink.is_some() {
                let sum = &mut sinks[row / self.problem.queries];
                *sum = *sum - sink_weight * mean;
            }
        }
    }
}

/// The number of queries per block, whose weights are all in memory.
fn rows_of_weights(keys: usize) -> usize {
    const WEIGHTS: usize = 1 << 18;
    (WEIGHTS / keys.max(1)).clamp(8, 128)
}

/// Results of [`softmax_row`].
struct SoftmaxRow<W> {
    /// The maximum score.
    max: W,
    /// The weight of the sink.
    sink: W,
    /// The mean of the cotangents of the weights, weighted by the weights.
    mean: W,
}

/// Replace the scores of a row by weights `w`, and their cotangents `c` by `w (c - mean)`, the cotangents of the scores. Rows are
/// padded to full vectors.
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
    let sink_term = sink.map_or(W::ZERO, |sink| (sink - shift).exp_of_nonpositive());
    let inverse_total = W::nearest(1.0 / (total + sink_term.wide()));
    let mut sums = [W::ZERO; LANES];
    for (weights, gradients) in weights.chunks_exact_mut(LANES).zip(gradients.chunks_exact(LANES)) {
        for ((weight, &gradient), sum) in weights.iter_mut().zip(gradients).zip(&mut sums) {
            *weight = *weight * inverse_total;
            *sum = *sum + *weight * gradient;
        }
    }
    let mean = W::nearest(sum_of(&sums, |sum| sum));
    for (gradient, &weight) in gradients.iter_mut().zip(&*weights) {
        *gradient = weight * (*gradient - mean);
    }
    SoftmaxRow { max, sink: sink_term * inverse_total, mean }
}
