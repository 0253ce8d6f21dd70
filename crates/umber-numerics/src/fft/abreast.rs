//! Groups of lines, transformed side by side.

use std::ops::Range;

use super::ends::{ABREAST, CACHED, Change, Group, Strides, bring, take};
use super::halves::{join_rows, split_rows};
use super::passes::{Passes, room};
use crate::vector::{Lane, Vector, Work};

/// What a real line needs beyond the transform of a complex one.
#[derive(Clone, Copy)]
pub(super) enum Kind<'a, T> {
    Complex,
    /// With halved roots.
    RealForward(&'a [[T; 2]]),
    RealInverse(&'a [[T; 2]]),
}

/// Groups of lines to be transformed.
pub(super) struct Abreast<'a, T, P> {
    pub(super) passes: &'a Passes<T>,
    pub(super) kind: Kind<'a, T>,
    pub(super) from: *const T,
    pub(super) to: *mut T,
    pub(super) strides: [Strides; 2],
    pub(super) change: Change<T>,
    pub(super) groups: Range<usize>,
    /// Where the lines of a group are in both.
    pub(super) place: P,
}

impl<T: Lane, P: FnMut(usize) -> [Group; 2]> Work<T> for Abreast<'_, T, P> {
    /// Is there memory for it?
    type Output = bool;

    #[inline(always)]
    unsafe fn run<V: Vector<Lane = T>>(mut self) -> bool {
        let length = self.passes.length;
        let apart = 2 * (length + 1);
        let block = (CACHED / (apart * size_of::<V>())).clamp(1, ABREAST).min(self.groups.len());
        let Some(mut buffer) = scratch_vec::<V>(block * apart) else { return false };
        let rows = buffer.as_mut_ptr();
        let places = &self.passes.places;
        let mut next = self.groups.start;
        while next < self.groups.end {
            let count = block.min(self.groups.end - next);
            let mut ends = [[Group::NONE; ABREAST]; 2];
            let [sources, targets] = &mut ends;
            for (i, (from, to)) in sources.iter_mut().zip(targets).enumerate().take(count) {
                [*from, *to] = (self.place)(next + i);
            }
            next += count;
            let (from, to) = (&ends[0][..count], &ends[1][..count]);
            // SAFETY: the caller's; rows are as many as a line has pairs, and one more.
            unsafe {
                if let Kind::RealInverse(_) = self.kind {
                    bring(self.from, from, self.strides[0], length + 1, 0, rows, apart);
                } else {
                    bring(self.from, from, self.strides[0], length, self.change.exchange, rows, apart);
                }
                for i in 0..count {
                    let rows = rows.add(i * apart);
                    if let Kind::RealInverse(roots) = self.kind {
                        join_rows(rows, length, roots);
                    }
                    self.passes.run(rows);
                    if let Kind::RealForward(roots) = self.kind {
                        split_rows(rows, places, roots);
                    }
                }
                let count = if let Kind::RealForward(_) = self.kind { length + 1 } else { length };
                take(rows, &places[..count], self.change, self.to, to, self.strides[1], apart);
            }
        }
        true
    }
}
