//! The location of each element of an array in its buffer.

use smallvec::SmallVec;

use crate::Shape;
use crate::shape::copied;

/// Distances between adjacent elements along each axis, in elements; may be zero or negative.
pub type Strides = SmallVec<[isize; 4]>;

/// Shape, strides and offset of an array in its buffer, all in elements.
#[derive(Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Layout {
    /// Length of each axis.
    pub shape: Shape,
    /// Elements between adjacent indices along each axis.
    pub strides: Strides,
    /// Elements between the start of the buffer and the element at index zero.
    pub offset: usize,
}

/// The strides of a contiguous row-major array.
#[inline]
pub fn row_major_strides(shape: &[usize]) -> Strides {
    // The most common numbers of axes, without a loop.
    match *shape {
        [_] => return SmallVec::from_buf_and_len([1, 0, 0, 0], 1),
        [_, columns] => return SmallVec::from_buf_and_len([columns.max(1) as isize, 1, 0, 0], 2),
        _ => {}
    }
    let mut strides: Strides = SmallVec::from_elem(0, shape.len());
    let mut step = 1isize;
    for (stride, &length) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step.wrapping_mul(length.max(1) as isize);
    }
    strides
}

impl Clone for Layout {
    #[inline]
    fn clone(&self) -> Layout {
        Layout { shape: self.shape.clone(), strides: copied(&self.strides), offset: self.offset }
    }
}

impl Layout {
    /// A contiguous row-major layout from offset zero.
    #[inline]
    pub fn contiguous(shape: Shape) -> Layout {
        let strides = row_major_strides(&shape);
        Layout { shape, strides, offset: 0 }
    }

    /// A layout that maps every index to one element.
    pub fn splat(shape: Shape) -> Layout {
        let strides = SmallVec::from_elem(0, shape.ndim());
        Layout { shape, strides, offset: 0 }
    }

    /// Number of elements.
    #[inline]
    pub fn size(&self) -> usize {
        self.shape.size()
    }

    /// Number of axes.
    #[inline]
    pub fn ndim(&self) -> usize {
        self.shape.ndim()
    }

    /// Whether the elements are contiguous in row-major order. (Strides of axes of length one do not matter.)
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        let mut step = 1isize;
        for (&length, &stride) in self.shape.iter().zip(&self.strides).rev() {
            if length == 0 {
                return true;
            }
            if length != 1 && stride != step {
                return false;
            }
            step = step.wrapping_mul(length as isize);
        }
        true
    }

    /// The lowest element reached and one past the highest, relative to the buffer's start; `None` without elements.
    ///
    /// Values beyond the range of `isize` are clamped to it, which no buffer contains.
    #[inline]
    pub fn extent(&self) -> Option<(isize, isize)> {
        let start = isize::try_from(self.offset).unwrap_or(isize::MAX);
        let (mut low, mut high) = (start, start);
        for (&length, &stride) in self.shape.iter().zip(&self.strides) {
            if length == 0 {
                return None;
            }
            let span = isize::try_from(length - 1).unwrap_or(isize::MAX).saturating_mul(stride);
            if span < 0 { low = low.saturating_add(span) } else { high = high.saturating_add(span) }
        }
        Some((low, high.saturating_add(1)))
    }

    /// Whether several indices map to one element.
    pub fn is_overlapping(&self) -> bool {
        let mut axes: SmallVec<[(usize, usize); 4]> = SmallVec::new();
        for (&length, &stride) in self.shape.iter().zip(&self.strides) {
            if length == 0 {
                return false;
            }
            if length > 1 {
                axes.push((stride.unsigned_abs(), length));
            }
        }
        axes.sort_unstable();
        let mut span = 0;
        for (stride, length) in axes {
            if stride <= span {
                return true;
            }
            span += stride * (length - 1);
        }
        false
    }

    /// The view broadcast to `shape`, to which this shape must broadcast.
    #[must_use]
    pub fn broadcast_to(&self, shape: &Shape) -> Layout {
        let missing = shape.ndim() - self.ndim();
        let mut strides: Strides = SmallVec::from_elem(0, shape.ndim());
        for axis in 0..self.ndim() {
            if self.shape[axis] == shape[axis + missing] {
                strides[axis + missing] = self.strides[axis];
            }
        }
        Layout { shape: shape.clone(), strides, offset: self.offset }
    }

    /// The view with permuted axes.
    #[must_use]
    pub fn permute(&self, permutation: &[usize]) -> Layout {
        Layout {
            shape: permutation.iter().map(|&axis| self.shape[axis]).collect(),
            strides: permutation.iter().map(|&axis| self.strides[axis]).collect(),
            offset: self.offset,
        }
    }

    /// The view of `lengths` elements along each axis from `starts` by `steps` (in elements of this view).
    #[must_use]
    pub fn slice(&self, starts: &[usize], steps: &[isize], lengths: &Shape) -> Layout {
        let empty = lengths.size() == 0;
        let mut offset = self.offset as isize;
        if !empty {
            for (&start, &stride) in starts.iter().zip(&self.strides) {
                offset += start as isize * stride;
            }
        }
        // The step of a single element has no meaning and may be of any size.
        let stride = |axis: usize, step: isize| {
            if lengths[axis] > 1 { step * self.strides[axis] } else { self.strides[axis] }
        };
        Layout {
            shape: lengths.clone(),
            strides: steps.iter().enumerate().map(|(axis, &step)| stride(axis, step)).collect(),
            offset: offset as usize,
        }
    }

    /// The same elements in row-major order under another shape of equal size, if strides can represent it.
    pub fn reshape(&self, shape: &Shape) -> Option<Layout> {
        debug_assert_eq!(self.size(), shape.size());
        if self.is_contiguous() || self.size() == 0 {
            return Some(Layout { offset: self.offset, ..Layout::contiguous(shape.clone()) });
        }
        let old: SmallVec<[(usize, isize); 4]> =
            (self.shape.iter().copied().zip(self.strides.iter().copied()))
                .filter(|&(length, _)| length != 1)
                .collect();
        let mut strides: Strides = SmallVec::from_elem(0, shape.ndim());
        let (mut from, mut to) = (0, 0);
        while from < old.len() {
            // Match the smallest group of old axes whose product is a product of new axes.
            let (first, begin) = (from, to);
            let (mut old_size, mut new_size) = (old[from].0, 1);
            from += 1;
            while to < shape.ndim() && (new_size < old_size || new_size == 1) {
                new_size *= shape[to];
                to += 1;
                while new_size > old_size && from < old.len() {
                    old_size *= old[from].0;
                    from += 1;
                }
            }
            if old_size != new_size {
                return None;
            }
            for pair in old[first..from].windows(2) {
                if pair[0].1 != pair[1].1 * pair[1].0 as isize {
                    return None;
                }
            }
            let mut step = old[from - 1].1;
            for axis in (begin..to).rev() {
                strides[axis] = step;
                step *= shape[axis] as isize;
            }
        }
        Some(Layout { shape: shape.clone(), strides, offset: self.offset })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Buffer offsets in row-major index order, by definition.
    fn offsets(layout: &Layout) -> Vec<isize> {
        let mut offsets = vec![layout.offset as isize];
        for (&length, &stride) in layout.shape.iter().zip(&layout.strides) {
            offsets = offsets
                .iter()
                .flat_map(|&offset| (0..length as isize).map(move |i| offset + i * stride))
                .collect();
        }
        offsets
    }

    fn layouts() -> impl Strategy<Value = Layout> {
        prop::collection::vec((1usize..5, 0usize..3), 1..5).prop_map(|axes| {
            let base = Layout::contiguous(axes.iter().map(|&(length, _)| length * 2).collect());
            let lengths: Shape = axes.iter().map(|&(length, _)| length).collect();
            let starts: Vec<usize> =
                axes.iter().map(|&(length, kind)| if kind == 1 { length - 1 } else { 0 }).collect();
            let steps: Vec<isize> = axes.iter().map(|&(_, kind)| [1, -1, 2][kind]).collect();
            base.slice(&starts, &steps, &lengths)
        })
    }

    proptest! {
        #[test]
        fn reshape_keeps_the_order_of_elements(layout in layouts(), split in 1usize..4) {
            let size = layout.size();
            for shape in [Shape::from([size]), Shape::from([1, size, 1]), Shape::from([split, size / split])] {
                if shape.size() == size
                    && let Some(view) = layout.reshape(&shape) {
                        prop_assert_eq!(offsets(&view), offsets(&layout));
                    }
            }
            let same = layout.reshape(&layout.shape).expect("a layout has its own shape");
            prop_assert_eq!(offsets(&same), offsets(&layout));
        }

        #[test]
        fn extent_bounds_every_offset(layout in layouts()) {
            let (low, high) = layout.extent().expect("not empty");
            let all = offsets(&layout);
            prop_assert_eq!(all.iter().min(), Some(&low));
            prop_assert_eq!(all.iter().max(), Some(&(high - 1)));
            prop_assert!(!layout.is_overlapping());
        }

        #[test]
        fn permute_and_back(layout in layouts()) {
            let reversed: Vec<usize> = (0..layout.ndim()).rev().collect();
            prop_assert_eq!(&layout.permute(&reversed).permute(&reversed), &layout);
        }
    }

    #[test]
    fn extents_beyond_the_address_space_do_not_wrap() {
        let layout = |shape: &[usize], strides: &[isize], offset| Layout {
            shape: shape.iter().copied().collect(),
            strides: strides.into(),
            offset,
        };
        assert_eq!(layout(&[5], &[1 << 62], 0).extent(), Some((0, isize::MAX)));
        assert_eq!(layout(&[5], &[-(1 << 62)], 0).extent(), Some((isize::MIN, 1)));
        assert_eq!(layout(&[3, 3], &[isize::MAX / 2; 2], 7).extent(), Some((7, isize::MAX)));
        assert_eq!(layout(&[2], &[1], usize::MAX).extent(), Some((isize::MAX, isize::MAX)));
        assert_eq!(layout(&[usize::MAX], &[1], 0).extent(), Some((0, isize::MAX)));
        assert_eq!(layout(&[usize::MAX, 0], &[1, 1], 0).extent(), None);
    }

    #[test]
    fn contiguity_ignores_axes_of_length_one() {
        let mut layout = Layout::contiguous(Shape::from([2, 1, 3]));
        layout.strides[1] = 77;
        assert!(layout.is_contiguous());
        assert!(!Layout::splat(Shape::from([2])).is_contiguous());
        assert!(Layout::splat(Shape::from([2])).is_overlapping());
    }
}
