//! Groups of lines, transformed with one line per SIMD lane.

use std::ops::Range;

use super::load_store::{CACHED, Group, INTERLEAVE, OutputScaling, Strides, load_rows, store_rows};
use super::passes::{Passes, with_capacity};
use super::real_packing::{pack_real, unpack_real};
use crate::vector::{Lane, Vector, WithSimd};

/// Real or complex lines, with what real lines need beyond the complex transform.
#[derive(Clone, Copy)]
pub(super) enum Kind<'a, T> {
    Complex,
    /// With half the twiddle factors (see [`half_twiddles`](super::real_packing::half_twiddles)).
    RealForward(&'a [[T; 2]]),
    RealInverse(&'a [[T; 2]]),
}

/// Groups of lines to be transformed.
pub(super) struct BatchedTransform<'a, T, P> {
    pub(super) passes: &'a Passes<T>,
    pub(super) kind: Kind<'a, T>,
    pub(super) from: *const T,
    pub(super) to: *mut T,
    pub(super) strides: [Strides; 2],
    pub(super) scaling: OutputScaling<T>,
    pub(super) groups: Range<usize>,
    /// Returns the offsets of a group's lines in the source and the destination.
    pub(super) locate: P,
}

impl<T: Lane, P: FnMut(usize) -> [Group; 2]> WithSimd<T> for BatchedTransform<'_, T, P> {
    /// Whether there is enough memory for the buffer.
    type Output = bool;

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(mut self) -> bool {
        let length = self.passes.length;
        let row_stride = 2 * (length + 1);
        let block = (CACHED / (row_stride * size_of::<V>())).clamp(1, INTERLEAVE).min(self.groups.len());
        let Some(mut buffer) = with_capacity::<V>(block * row_stride) else { return false };
        let rows = buffer.as_mut_ptr();
        let digit_reversed = &self.passes.digit_reversed;
        let mut next = self.groups.start;
        while next < self.groups.end {
            let count = block.min(self.groups.end - next);
            let mut sides = [[Group::NONE; INTERLEAVE]; 2];
            let [sources, targets] = &mut sides;
            for (i, (from, to)) in sources.iter_mut().zip(targets).enumerate().take(count) {
                [*from, *to] = (self.locate)(next + i);
            }
            next += count;
            let (from, to) = (&sides[0][..count], &sides[1][..count]);
            // SAFETY: guaranteed by the caller of this function; the buffer has one more row than a line has pairs.
            unsafe {
                if let Kind::RealInverse(_) = self.kind {
                    load_rows(self.from, from, self.strides[0], length + 1, 0, rows, row_stride);
                } else {
                    load_rows(
                        self.from,
                        from,
                        self.strides[0],
                        length,
                        self.scaling.exchange,
                        rows,
                        row_stride,
                    );
                }
                for i in 0..count {
                    let rows = rows.add(i * row_stride);
                    if let Kind::RealInverse(twiddles) = self.kind {
                        pack_real(rows, length, twiddles);
                    }
                    self.passes.run(rows);
                    if let Kind::RealForward(twiddles) = self.kind {
                        unpack_real(rows, digit_reversed, twiddles);
                    }
                }
                let count = if let Kind::RealForward(_) = self.kind { length + 1 } else { length };
                store_rows(
                    rows,
                    &digit_reversed[..count],
                    self.scaling,
                    self.to,
                    to,
                    self.strides[1],
                    row_stride,
                );
            }
        }
        true
    }
}
