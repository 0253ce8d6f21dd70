//! Views of evaluated arrays by integer indices, made without recording an operation.

use std::sync::Arc;

use umber_types::shape::from_start;

use crate::graph::Array;

/// The selection along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// One element, counted from the end if negative; the axis vanishes.
    Index(i64),
    /// All elements.
    All,
}

/// The view of an evaluated array at integer indices, with all elements along the other axes: a fast path for loops over the
/// elements of an array. `None` if the array is not evaluated, a transformation traces it, or an index is out of bounds.
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
            Some(&Entry::Index(index)) => {
                let index =
                    usize::try_from(from_start(index, length)).ok().filter(|&index| index < length)?;
                offset = offset.checked_add_signed(index as isize * stride)?;
            }
            None | Some(Entry::All) if length > 0 => {}
            None | Some(Entry::All) => return None,
        }
    }
    Some(Array::placed(Arc::clone(&storage.buffer), array.dtype(), |shape, view| {
        view.offset = offset;
        for (axis, (&length, &stride)) in layout.shape.iter().zip(&layout.strides).enumerate() {
            if !matches!(entries.get(axis), Some(Entry::Index(_))) {
                shape.push(length);
                view.shape.push(length);
                view.strides.push(stride);
            }
        }
    }))
}
