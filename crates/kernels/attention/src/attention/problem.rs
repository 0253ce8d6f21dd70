//! The definition of an attention: operands, shapes and masking.

use std::ops::Range;

use umber_kernels_base::View;
use umber_kernels_base::row::Real;
use umber_types::Masking;

use super::operand::{AttentionFloat, Mask, Rows};

/// The options of an attention.
#[derive(Clone, Copy, Debug)]
pub struct AttentionOptions {
    /// Factor of the scores.
    pub scale: f64,
    /// The keys that are visible to a query.
    pub masking: Masking,
}

/// The operands of an attention; all have the batch axes and the number of axes of the queries.
#[derive(Clone, Copy, Debug)]
pub struct AttentionInputs<'a> {
    /// `[..., heads, queries, features]`.
    pub queries: View<'a>,
    /// `[..., key heads, keys, features]`; the number of key heads divides that of heads.
    pub keys: View<'a>,
    /// `[..., key heads, keys, values]`.
    pub values: View<'a>,
    /// `[..., heads, queries, keys]`: bool, the dtype of the queries or the computing dtype.
    pub mask: Option<View<'a>>,
    /// `[..., heads]`, of the computing dtype: scores that take part in the softmax without a value.
    pub sinks: Option<View<'a>>,
}

/// Operands, shapes and options, as used by both passes.
#[derive(Clone, Copy)]
pub(super) struct Problem<'a, W> {
    /// Lengths of the batch axes.
    pub(super) batch: &'a [usize],
    pub(super) key_heads: usize,
    /// Heads per key head.
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

// SAFETY: the pointers are those of views, which are valid on all threads; they are only read.
unsafe impl<W> Sync for Problem<'_, W> {}

impl<'a, W: AttentionFloat> Problem<'a, W> {
    /// The problem for operands of one dtype with computing type `W`.
    ///
    /// # Panics
    /// If dtypes or shapes do not match.
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
        assert!(fits, "shapes and dtypes of queries, keys and values match");
        let mask_fits = inputs.mask.is_none_or(|mask| {
            mask.shape()[..mask.shape().len() - 1] == q.shape()[..q.shape().len() - 1]
                && mask.shape().last() == Some(&keys)
        });
        let sinks_fit = inputs
            .sinks
            .is_none_or(|sinks| *sinks.shape() == q.shape()[..=batch.len()] && sinks.dtype() == W::DTYPE);
        assert!(mask_fits && sinks_fit, "shapes and dtypes of mask and sinks match");
        assert_eq!(
            options.masking == Masking::Array,
            inputs.mask.is_some(),
            "a mask exactly if the options say so"
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

    /// The number of stacks: key heads of all batch elements.
    pub(super) fn stacks(&self) -> usize {
        self.batch.iter().product::<usize>() * self.key_heads
    }

    /// The number of queries per stack, over all its heads.
    pub(super) fn rows(&self) -> usize {
        self.group * self.queries
    }

    /// The stack with this index.
    pub(super) fn stack(&self, index: usize) -> Stack {
        let (mut rest, mut at) = (index / self.key_heads, vec![0; self.batch.len()]);
        for (at, &length) in at.iter_mut().zip(self.batch).rev() {
            *at = rest % length;
            rest /= length;
        }
        Stack { at, key_head: index % self.key_heads, first: index * self.rows() }
    }

    /// The head and the query of a row of a stack.
    pub(super) fn head_and_query(&self, stack: &Stack, row: usize) -> (usize, usize) {
        (stack.key_head * self.group + row / self.queries, row % self.queries)
    }

    /// Read a row of queries, multiplied by the scale.
    pub(super) fn query(&self, stack: &Stack, row: usize, to: &mut [W]) {
        let (head, query) = self.head_and_query(stack, row);
        // SAFETY: the row is inside the queries.
        unsafe { self.q.head(&stack.at, head).row(query, to) };
        for value in to {
            *value = *value * self.scale;
        }
    }

    /// The score of the sink of a row, if there is one.
    pub(super) fn sink(&self, stack: &Stack, row: usize) -> Option<W> {
        let (start, strides) = self.sinks?;
        let (head, _) = self.head_and_query(stack, row);
        let (&last, leading) = strides.split_last()?;
        let batch_offset =
            stack.at.iter().zip(leading).map(|(&at, &stride)| at as isize * stride).sum::<isize>();
        // SAFETY: the offset is inside the sinks.
        Some(unsafe { *start.wrapping_offset(batch_offset + head as isize * last) })
    }

    /// The number of keys visible to a row; these are the first ones.
    fn visible_keys(&self, row: usize) -> usize {
        match self.masking {
            Masking::Causal => {
                (row % self.queries + 1 + self.keys).saturating_sub(self.queries).min(self.keys)
            }
            Masking::Nothing | Masking::Array => self.keys,
        }
    }

    /// The number of keys that rows in a range need. A row with no visible keys needs all, since it attends to all equally.
    pub(super) fn needed_keys(&self, rows: Range<usize>) -> usize {
        let needed = |row| if self.visible_keys(row) == 0 { self.keys } else { self.visible_keys(row) };
        rows.map(needed).max().unwrap_or(0)
    }

    /// True if a row with this maximum score has all keys hidden. Its weights do not depend on its scores.
    pub(super) fn is_fully_masked(&self, max: W) -> bool {
        self.masking != Masking::Nothing && max == W::MASKED
    }

    /// Apply the mask of a row to its scores with the keys from `first` on.
    pub(super) fn apply_mask(&self, stack: &Stack, row: usize, first: usize, scores: &mut [W]) {
        match self.masking {
            Masking::Nothing => {}
            Masking::Causal => {
                let visible_keys = self.visible_keys(row).saturating_sub(first).min(scores.len());
                scores[visible_keys..].fill(W::MASKED);
            }
            Masking::Array => {
                let Some(mask) = self.mask else { return };
                let (head, query) = self.head_and_query(stack, row);
                let index = stack.at.iter().copied().chain([head, query, first]);
                // SAFETY: the scores are those of existing keys, so the mask has an element for each.
                unsafe { mask.apply(index, scores) };
            }
        }
    }
}

/// A key head of one batch element, with the query heads that share it.
pub(super) struct Stack {
    /// Index in the batch.
    pub(super) at: Vec<usize>,
    pub(super) key_head: usize,
    /// Index of its first row of queries among those of all stacks.
    pub(super) first: usize,
}
