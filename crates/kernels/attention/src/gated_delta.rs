//! The gated delta rule: a state that forgets, and learns what it does not know yet, step by step.
//!
//! S. Yang, J. Kautz and A. Hatamizadeh, Gated Delta Networks, 2024.

use std::ops::Range;

use umber_kernels_base::isa::vectorised;
use umber_kernels_base::row::{Compute, LANES};
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::parallel_for;
use umber_kernels_base::{View, ViewMut};
use umber_types::{Bool, DType};

/// Rows of a state that one task takes through all steps.
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
    /// What is left of the state: `[..., steps, heads, features]`.
    pub decay: View<'a>,
    /// How much is learnt: `[..., steps, heads]`.
    pub rate: View<'a>,
    /// What the state begins with: `[..., heads, values, features]`.
    pub state: View<'a>,
    /// Which steps are taken: bool, `[..., steps]`.
    pub mask: View<'a>,
}

/// Each step makes the state `S` of a head `S' = g S + b (v - g S k) k^T` and answers `S' q`; a step that is not taken leaves the
/// state and answers zeros.
///
/// `outputs`, shaped like the values, and `last`, shaped like the state, are dense.
///
/// # Panics
/// If the dtype is not float32 or float64, or shapes and dtypes do not fit together.
pub fn gated_delta(inputs: &GatedDelta, outputs: ViewMut, last: ViewMut) {
    match outputs.dtype() {
        DType::Float32 => run::<f32>(inputs, &outputs, &last),
        DType::Float64 => run::<f64>(inputs, &outputs, &last),
        dtype => panic!("states of {dtype} are not of float32 or float64"),
    }
}

/// Where the elements of an operand are.
#[derive(Clone, Copy)]
struct Operand<'a, T> {
    start: Source<T>,
    strides: &'a [isize],
}

impl<'a, T: Copy> Operand<'a, T> {
    fn of(view: &View<'a>) -> Operand<'a, T> {
        Operand { start: Source::of(view), strides: view.strides() }
    }

    /// The operand at an index, of which there may be more than it has axes.
    #[inline(always)]
    fn at(&self, index: impl IntoIterator<Item = usize>) -> Source<T> {
        let along = index.into_iter().zip(self.strides).map(|(at, &stride)| at as isize * stride);
        self.start.shifted(along.sum::<isize>())
    }

    /// Copy the elements along the last axis at an index of the others.
    #[inline(always)]
    fn row(&self, index: impl IntoIterator<Item = usize>, to: &mut [T]) {
        let (from, stride) = (self.at(index), self.strides[self.strides.len() - 1]);
        for (i, to) in to.iter_mut().enumerate() {
            // SAFETY: inside the operand.
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
    last: Target<W>,
}

fn run<W: Compute>(inputs: &GatedDelta, outputs: &ViewMut, last: &ViewMut) {
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
    assert!(fits && mask.dtype() == DType::Bool, "operands fit together");
    assert!(
        [queries, keys, values, decay, rate, state].iter().all(|view| view.dtype() == W::DTYPE),
        "operands have one dtype"
    );
    assert!(outputs.shape() == values.shape() && outputs.layout().is_contiguous(), "dense answers");
    assert!(last.shape() == state.shape() && last.layout().is_contiguous(), "a dense state");
    assert!(
        outputs.dtype() == W::DTYPE && last.dtype() == W::DTYPE,
        "results have the dtype of the operands"
    );
    let whole = GatedDeltaTask::<W> {
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
        last: Target::of(last),
    };
    let (states, blocks) = (batch.iter().product::<usize>() * heads, values_length.div_ceil(ROWS));
    parallel_for(states * blocks, |task| {
        let (index, block) = (task / blocks, task % blocks * ROWS);
        vectorised(
            #[inline(always)]
            || whole.take(index, block..values_length.min(block + ROWS)),
        );
    });
}

impl<W: Compute> GatedDeltaTask<'_, W> {
    /// Take some rows of a state through all steps.
    #[inline(always)]
    fn take(&self, index: usize, rows: Range<usize>) {
        let (sample, head) = (index / self.heads, index % self.heads);
        let (mut rest, mut at) = (sample, vec![0; self.batch.len()]);
        for (at, &length) in at.iter_mut().zip(self.batch).rev() {
            *at = rest % length;
            rest /= length;
        }
        let place = |tail: [usize; 3]| at.iter().copied().chain(tail);
        // Padded with zeros to whole vectors, which change no sum.
        let width = self.features.next_multiple_of(LANES);
        let zero = W::default();
        let mut state = vec![zero; rows.len() * width];
        let mut operands = vec![zero; 3 * width];
        for (i, row) in rows.clone().enumerate() {
            self.state.row(place([head, row, 0]), &mut state[i * width..][..self.features]);
        }
        for step in 0..self.steps {
            let outputs = ((sample * self.steps + step) * self.heads + head) * self.values_length;
            let answer = |row: usize, value: W| {
                // SAFETY: a row of the dense answers that this task alone writes.
                unsafe { *self.outputs.at((outputs + row) as isize) = value };
            };
            // SAFETY: inside the mask.
            if unsafe { *self.mask.at(place([step, 0, 0])).at(0) }.0 == 0 {
                rows.clone().for_each(|row| answer(row, zero));
                continue;
            }
            let (queries, others) = operands.split_at_mut(width);
            let (keys, decay) = others.split_at_mut(width);
            self.queries.row(place([step, head / self.group, 0]), &mut queries[..self.features]);
            self.keys.row(place([step, head / self.group, 0]), &mut keys[..self.features]);
            self.decay.row(place([step, head, 0]), &mut decay[..self.features]);
            // SAFETY: inside the rates.
            let rate = unsafe { *self.rate.at(place([step, head, 0])).at(0) };
            for (i, row) in rows.clone().enumerate() {
                let state = &mut state[i * width..][..width];
                for (state, &decay) in state.iter_mut().zip(&*decay) {
                    *state = *state * decay;
                }
                // SAFETY: inside the values.
                let value = unsafe { *self.values.at(place([step, head, row])).at(0) };
                let learnt = (value - dot(state, keys)) * rate;
                for (state, &key) in state.iter_mut().zip(&*keys) {
                    *state = *state + learnt * key;
                }
                answer(row, dot(state, queries));
            }
        }
        for (i, row) in rows.enumerate() {
            let to = self.last.shifted(((index * self.values_length + row) * self.features) as isize);
            for (j, &value) in state[i * width..][..self.features].iter().enumerate() {
                // SAFETY: a row of the dense state that this task alone writes.
                unsafe { *to.at(j as isize) = value };
            }
        }
    }
}

/// The sum of products of padded rows.
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
