//! The gated delta rule: a linear recurrence whose state decays and is corrected towards each value, step by step.
//!
//! S. Yang, J. Kautz and A. Hatamizadeh, Gated Delta Networks, 2024.

use std::ops::Range;

use umber_kernels_base::isa::vectorised;
use umber_kernels_base::row::{Compute, LANES};
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::parallel_for;
use umber_kernels_base::{View, ViewMut};
use umber_types::{Bool, DType};

/// Rows of a state per task, which runs all steps on them.
const ROWS: usize = 16;

/// The operands; batch axes are equal, and all but the mask are of one dtype.
#[derive(Clone, Copy, Debug)]
pub struct GatedDelta<'a> {
    /// `[..., steps, key heads, features]`; the number of key heads divides that of heads.
    pub queries: View<'a>,
    /// Shaped like the queries.
    pub keys: View<'a>,
    /// `[..., steps, heads, values]`.
    pub values: View<'a>,
    /// Decay factors of the state: `[..., steps, heads, features]`.
    pub decay: View<'a>,
    /// Learning rates: `[..., steps, heads]`.
    pub rate: View<'a>,
    /// The initial state: `[..., heads, values, features]`.
    pub state: View<'a>,
    /// Steps with false are skipped: bool, `[..., steps]`.
    pub mask: View<'a>,
}

/// Each step updates the state `S` of a head to `S' = g S + b (v - g S k) k^T` and outputs `S' q`. A skipped step keeps the state
/// and outputs zeros.
///
/// `outputs`, shaped like the values, and `final_state`, shaped like the state, are dense.
///
/// # Panics
/// If the dtype is not float32 or float64, or shapes and dtypes do not match.
pub fn gated_delta(inputs: &GatedDelta, outputs: ViewMut, final_state: ViewMut) {
    match outputs.dtype() {
        DType::Float32 => run::<f32>(inputs, &outputs, &final_state),
        DType::Float64 => run::<f64>(inputs, &outputs, &final_state),
        dtype => panic!("the state must be float32 or float64, not {dtype}"),
    }
}

/// The elements of an operand.
#[derive(Clone, Copy)]
struct Operand<'a, T> {
    start: Source<T>,
    strides: &'a [isize],
}

impl<'a, T: Copy> Operand<'a, T> {
    fn of(view: &View<'a>) -> Operand<'a, T> {
        Operand { start: Source::of(view), strides: view.strides() }
    }

    /// The operand at an index, which may have more entries than the operand has axes.
    #[inline(always)]
    fn at(&self, index: impl IntoIterator<Item = usize>) -> Source<T> {
        let offsets = index.into_iter().zip(self.strides).map(|(at, &stride)| at as isize * stride);
        self.start.shifted(offsets.sum::<isize>())
    }

    /// Copy the elements along the last axis at an index of the others.
    #[inline(always)]
    fn row(&self, index: impl IntoIterator<Item = usize>, to: &mut [T]) {
        let (from, stride) = (self.at(index), self.strides[self.strides.len() - 1]);
        for (i, to) in to.iter_mut().enumerate() {
            // SAFETY: the index is inside the operand.
            *to = unsafe { *from.at(i as isize * stride) };
        }
    }
}

struct GatedDeltaTask<'a, W> {
    batch: &'a [usize],
    steps: usize,
    heads: usize,
    group: usize,
    values_length: usize,
    features: usize,
    queries: Operand<'a, W>,
    keys: Operand<'a, W>,
    values: Operand<'a, W>,
    decay: Operand<'a, W>,
    rate: Operand<'a, W>,
    state: Operand<'a, W>,
    mask: Operand<'a, Bool>,
    outputs: Target<W>,
    final_state: Target<W>,
}

fn run<W: Compute>(inputs: &GatedDelta, outputs: &ViewMut, final_state: &ViewMut) {
    let GatedDelta { queries, keys, values, decay, rate, state, mask } = inputs;
    let &[ref batch @ .., steps, heads, values_length] = values.shape() else {
        panic!("values have three axes")
    };
    let &[.., key_heads, features] = queries.shape() else { panic!("queries have three axes") };
    let with = |tail: &[usize]| [batch, tail].concat();
    let fits = queries.shape() == with(&[steps, key_heads, features])
        && keys.shape() == queries.shape()
        && decay.shape() == with(&[steps, heads, features])
        && rate.shape() == with(&[steps, heads])
        && state.shape() == with(&[heads, values_length, features])
        && mask.shape() == with(&[steps])
        && (heads == 0 || key_heads > 0 && heads.is_multiple_of(key_heads));
    assert!(fits && mask.dtype() == DType::Bool, "shapes of the operands match, and the mask is bool");
    assert!(
        [queries, keys, values, decay, rate, state].iter().all(|view| view.dtype() == W::DTYPE),
        "operands have one dtype"
    );
    assert!(outputs.shape() == values.shape() && outputs.layout().is_contiguous(), "dense outputs");
    assert!(
        final_state.shape() == state.shape() && final_state.layout().is_contiguous(),
        "a dense final state"
    );
    assert!(
        outputs.dtype() == W::DTYPE && final_state.dtype() == W::DTYPE,
        "results have the dtype of the operands"
    );
    let problem = GatedDeltaTask::<W> {
        batch,
        steps,
        heads,
        group: heads.checked_div(key_heads).unwrap_or(1),
        values_length,
        features,
        queries: Operand::of(queries),
        keys: Operand::of(keys),
        values: Operand::of(values),
        decay: Operand::of(decay),
        rate: Operand::of(rate),
        state: Operand::of(state),
        mask: Operand::of(mask),
        outputs: Target::of(outputs),
        final_state: Target::of(final_state),
    };
    let (states, blocks) = (batch.iter().product::<usize>() * heads, values_length.div_ceil(ROWS));
    parallel_for(states * blocks, |task| {
        let (index, block) = (task / blocks, task % blocks * ROWS);
        vectorised(
            #[inline(always)]
            || problem.run_rows(index, block..values_length.min(block + ROWS)),
        );
    });
}

impl<W: Compute> GatedDeltaTask<'_, W> {
    /// Run all steps on some rows of a state.
    #[inline(always)]
    fn run_rows(&self, index: usize, rows: Range<usize>) {
        let (sample, head) = (index / self.heads, index % self.heads);
        let (mut rest, mut at) = (sample, vec![0; self.batch.len()]);
        for (at, &length) in at.iter_mut().zip(self.batch).rev() {
            *at = rest % length;
            rest /= length;
        }
        let index_of = |tail: [usize; 3]| at.iter().copied().chain(tail);
        // Rows are padded with zeros to full vectors, which do not change sums.
        let width = self.features.next_multiple_of(LANES);
        let zero = W::default();
        let mut state = vec![zero; rows.len() * width];
        let mut operands = vec![zero; 3 * width];
        for (i, row) in rows.clone().enumerate() {
            self.state.row(index_of([head, row, 0]), &mut state[i * width..][..self.features]);
        }
        for step in 0..self.steps {
            let outputs = ((sample * self.steps + step) * self.heads + head) * self.values_length;
            let write_output = |row: usize, value: W| {
                // SAFETY: the element is inside the dense outputs, and only this task writes it.
                unsafe { *self.outputs.at((outputs + row) as isize) = value };
            };
            // SAFETY: the index is inside the mask.
            if unsafe { *self.mask.at(index_of([step, 0, 0])).at(0) }.0 == 0 {
                rows.clone().for_each(|row| write_output(row, zero));
                continue;
            }
            let (queries, others) = operands.split_at_mut(width);
            let (keys, decay) = others.split_at_mut(width);
            self.queries.row(index_of([step, head / self.group, 0]), &mut queries[..self.features]);
            self.keys.row(index_of([step, head / self.group, 0]), &mut keys[..self.features]);
            self.decay.row(index_of([step, head, 0]), &mut decay[..self.features]);
            // SAFETY: the index is inside the rates.
            let rate = unsafe { *self.rate.at(index_of([step, head, 0])).at(0) };
            for (i, row) in rows.clone().enumerate() {
                let state = &mut state[i * width..][..width];
                for (state, &decay) in state.iter_mut().zip(&*decay) {
                    *state = *state * decay;
                }
                // SAFETY: the index is inside the values.
                let value = unsafe { *self.values.at(index_of([step, head, row])).at(0) };
                let correction = (value - dot(state, keys)) * rate;
                for (state, &key) in state.iter_mut().zip(&*keys) {
                    *state = *state + correction * key;
                }
                write_output(row, dot(state, queries));
            }
        }
        for (i, row) in rows.enumerate() {
            let to = self.final_state.shifted(((index * self.values_length + row) * self.features) as isize);
            for (j, &value) in state[i * width..][..self.features].iter().enumerate() {
                // SAFETY: the element is inside the dense final state, and only this task writes it.
                unsafe { *to.at(j as isize) = value };
            }
        }
    }
}

/// The dot product of padded rows.
#[inline(always)]
fn dot<W: Compute>(a: &[W], b: &[W]) -> W {
    let mut sums = [W::default(); LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum = *sum + a * b;
        }
    }
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            sums[i] = sums[i] + sums[i + width];
        }
    }
    sums[0]
}
