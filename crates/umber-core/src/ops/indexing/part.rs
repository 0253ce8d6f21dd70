//! Part: some places and whole axes of an evaluated array, which need no operation.

use std::sync::Arc;

use umber_types::shape::from_start;

use crate::graph::Array;

/// What a part has of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// One element, counted from the end if negative; the axis vanishes.
    Index(i64),
    /// All of it.
    All,
}

/// The part of an array at some places and whole axes, all of those that are not named, if it is evaluated and no transformation sees it: programs
/// that go through an array in a loop ask for nothing else.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops::indexing::{Entry, part};
/// use umber::Array;
/// let x = Array::from([[1, 2], [3, 4]]);
/// let column = part(&x, &[Entry::All, Entry::Index(-1)]).unwrap();
/// assert_eq!(column.to_vec::<i32>()?, [2, 4]);
/// assert!(part(&x, &[Entry::Index(2)]).is_none());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn part(array: &Array, entries: &[Entry]) -> Option<Array> {
    let storage = array.seen()?;
    let layout = &storage.layout;
    if entries.len() > layout.shape.ndim() || !entries.iter().any(|entry| matches!(entry, Entry::Index(_))) {
        return None;
    }
    let mut offset = layout.offset;
    for (axis, (&length, &stride)) in layout.shape.iter().zip(&layout.strides).enumerate() {
        match entries.get(axis) {
            Some(&Entry::Index(place)) => {
                let place =
                    usize::try_from(from_start(place, length)).ok().filter(|&place| place < length)?;
                offset = offset.checked_add_signed(place as isize * stride)?;
            }
            None | Some(Entry::All) if length > 0 => {}
            None | Some(Entry::All) => return None,
        }
    }
    Some(Array::placed(Arc::clone(&storage.buffer), array.dtype(), |shape, shown| {
        shown.offset = offset;
        for (axis, (&length, &stride)) in layout.shape.iter().zip(&layout.strides).enumerate() {
            if !matches!(entries.get(axis), Some(Entry::Index(_))) {
                shape.push(length);
                shown.shape.push(length);
                shown.strides.push(stride);
            }
        }
    }))
}
