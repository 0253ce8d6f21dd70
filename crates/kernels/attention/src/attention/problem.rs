//! What an attention computes: its operands and their shapes, and what its queries see.

use std::ops::Range;

use umber_kernels_base::View;
use umber_kernels_base::row::Real;
use umber_types::Masking;

use super::operand::{AttentionFloat, Mask, Rows};

/// How scores come about.
#[derive(Clone, Copy, Debug)]
pub struct AttentionOptions {
    /// Factor of the products of queries and keys.
    pub scale: f64,
    /// What queries see.
    pub masking: Masking,
}

/// The operands of an attention; batch axes and number of axes are those of the queries.
#[derive(Clone, Copy, Debug)]
pub struct AttentionInputs<'a> {
    /// `[..., heads, queries, features]`.
    pub queries: View<'a>,
    /// `[..., key heads, keys, features]`; the number of key heads divides that of heads.
    pub keys: View<'a>,
    /// `[..., key heads, keys, values]`.
    pub values: View<'a>,
    /// `[..., heads, queries, keys]`: bool, the dtype of the queries or the one that computes.
    pub mask: Option<View<'a>>,
    /// `[..., heads]`, of the dtype that computes: scores that take a part of the weights and have no value.
    pub sinks: Option<View<'a>>,
}

/// All that is known of an attention.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a, W> {
    /// Lengths of the batch axes.
    pub(super) batch: &'a [usize],
    pub(super) key_heads: usize,
    /// Heads that share one of the keys.
    pub(super) group: usize,
    pub(super) queries: usize,
    pub(super) keys: usize,
    pub(super) features: usize,
    pub(super) values: usize,
    pub(super) scale: W,
    masking: Masking,
    pub(super) q: Rows<'a, W>,
    pub(super) k: Rows<'a, W>,
    pub(super) v: Rows<'a, W>,
    mask: Option<Mask<'a, W>>,
    sinks: Option<(*const W, &'a [isize])>,
}

// SAFETY: the pointers are those of views, valid on every thread, and nobody writes them.
unsafe impl<W> Sync for Problem<'_, W> {}

impl<'a, W: AttentionFloat> Problem<'a, W> {
    /// Operands of one dtype whose work type is `W`.
    ///
    /// # Panics
    /// If dtypes or shapes do not fit together.
    pub(super) fn new<T: Real<Compute = W>>(
        inputs: &AttentionInputs<'a>,
        options: AttentionOptions,
    ) -> Problem<'a, W> {
        let AttentionInputs { queries: q, keys: k, values: v, .. } = inputs;
        let &[ref batch @ .., heads, queries, features] = q.shape() else {
            panic!("queries have three axes")
        };
        let &[ref others @ .., key_heads, keys, depth] = k.shape() else { panic!("keys have three axes") };
        let values = v.shape().last().copied().unwrap_or(0);
        let fits = batch == others
            && depth == features
            && v.shape()[..v.shape().len() - 1] == k.shape()[..k.shape().len() - 1]
            && (heads == 0 || key_heads > 0 && heads.is_multiple_of(key_heads))
            && [q, k, v].iter().all(|view| view.dtype() == T::DTYPE);
        assert!(fits, "queries, keys and values fit together");
        let of_scores = inputs.mask.is_none_or(|mask| {
            mask.shape()[..mask.shape().len() - 1] == q.shape()[..q.shape().len() - 1]
                && mask.shape().last() == Some(&keys)
        });
        let of_heads = inputs
            .sinks
            .is_none_or(|sinks| *sinks.shape() == q.shape()[..=batch.len()] && sinks.dtype() == W::DTYPE);
        assert!(of_scores && of_heads, "mask and sinks fit");
        assert_eq!(
            options.masking == Masking::Array,
            inputs.mask.is_some(),
            "a mask where one is said to be"
        );
        Problem {
            batch,
            key_heads,
            group: heads.checked_div(key_heads).unwrap_or(0),
            queries,
            keys,
            features,
            values,
            scale: W::nearest(options.scale),
            masking: options.masking,
            q: Rows::of::<T>(q),
            k: Rows::of::<T>(k),
            v: Rows::of::<T>(v),
            mask: inputs.mask.map(|mask| Mask::of::<T>(&mask)),
            sinks: inputs.sinks.map(|sinks| (sinks.start_as::<W>(), sinks.strides())),
        }
    }

    /// How many stacks of keys there are.
    pub(super) fn stacks(&self) -> usize {
        self.batch.iter().product::<usize>() * self.key_heads
    }

    /// How many queries a stack of keys has, those of all its heads.
    pub(super) fn rows(&self) -> usize {
        self.group * self.queries
    }

    /// Where a stack of keys is.
    pub(super) fn stack(&self, index: usize) -> Stack {
        let (mut rest, mut at) = (index / self.key_heads, vec![0; self.batch.len()]);
        for (at, &length) in at.iter_mut().zip(self.batch).rev() {
            *at = rest % length;
            rest /= length;
        }
        Stack { at, key_head: index % self.key_heads, first: index * self.rows() }
    }

    /// The head of a row of a stack, and its query.
    pub(super) fn place(&self, stack: &Stack, row: usize) -> (usize, usize) {
        (stack.key_head * self.group + row / self.queries, row % self.queries)
    }

    /// Read a row of queries, times the scale.
    pub(super) fn query(&self, stack: &Stack, row: usize, to: &mut [W]) {
        let (head, query) = self.place(stack, row);
        // SAFETY: inside the queries.
        unsafe { self.q.head(&stack.at, head).row(query, to) };
        for value in to {
            *value = *value * self.scale;
        }
    }

    /// The score of the sink of a row, if there is one.
    pub(super) fn sink(&self, stack: &Stack, row: usize) -> Option<W> {
        let (start, strides) = self.sinks?;
        let (head, _) = self.place(stack, row);
        let (&last, leading) = strides.split_last()?;
        let along = stack.at.iter().zip(leading).map(|(&at, &stride)| at as isize * stride).sum::<isize>();
        // SAFETY: inside the sinks.
        Some(unsafe { *start.wrapping_offset(along + head as isize * last) })
    }

    /// How many keys a row sees, those from the first on.
    fn visible_keys(&self, row: usize) -> usize {
        match self.masking {
            Masking::Causal => {
                (row % self.queries + 1 + self.keys).saturating_sub(self.queries).min(self.keys)
            }
            Masking::Nothing | Masking::Array => self.keys,
        }
    }

    /// How many keys the rows in a range need: those that see none need all.
    pub(super) fn needed(&self, rows: Range<usize>) -> usize {
        let needed = |row| if self.visible_keys(row) == 0 { self.keys } else { self.visible_keys(row) };
        rows.map(needed).max().unwrap_or(0)
    }

    /// Is a row with this greatest score one that sees nothing? Its weights do not depend on its scores.
    pub(super) fn is_fully_masked(&self, max: W) -> bool {
        self.masking != Masking::Nothing && max == W::MASKED
    }

    /// Apply what a row does not see to its scores with the keys from `first` on.
    pub(super) fn apply_mask(&self, stack: &Stack, row: usize, first: usize, scores: &mut [W]) {
        match self.masking {
            Masking::Nothing => {}
            Masking::Causal => {
                let visible_keys = self.visible_keys(row).saturating_sub(first).min(scores.len());
                scores[visible_keys..].fill(W::MASKED);
            }
            Masking::Array => {
                let Some(mask) = self.mask else { return };
                let (head, query) = self.place(stack, row);
                let index = stack.at.iter().copied().chain([head, query, first]);
                // SAFETY: the scores are those of keys that there are.
                unsafe { mask.apply(index, scores) };
            }
        }
    }
}

/// One of the stacks of keys that queries attend to.
pub(super) struct Stack {
    /// Where in the batch.
    pub(super) at: Vec<usize>,
    pub(super) key_head: usize,
    /// The number of its first row of queries, among those of all.
    pub(super) first: usize,
}
