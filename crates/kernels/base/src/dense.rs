//! Views as slices.

use std::borrow::Cow;

use umber_types::Element;

use crate::View;
use crate::scratch_vec::vector_or_unwind;
use crate::shared::Source;
use crate::strided_loops::StridedLoops;

/// The elements of a view in row-major order: borrowed if they are contiguous, else copied.
pub fn dense<T: Element>(view: View<'_>) -> Cow<'_, [T]> {
    assert_eq!(view.dtype().storage_dtype(), T::DTYPE, "the view has the storage dtype of T");
    if let Some(slice) = view.as_slice() {
        return Cow::Borrowed(slice);
    }
    let source = Source::<T>::of(&view);
    let mut copy = vector_or_unwind(view.size());
    StridedLoops::new(view.shape(), [view.strides()]).walk(0..view.size(), |[offset]| {
        // SAFETY: the offset is that of an element of the view.
        copy.push(unsafe { *source.at(offset) });
    });
    Cow::Owned(copy)
}
