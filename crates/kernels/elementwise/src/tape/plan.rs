//! Loops over operands: adjacent axes are merged where the layouts allow it.

use smallvec::{SmallVec, smallvec};

/// Loops over all operands, outermost first. There is at least one.
#[derive(Debug)]
pub(super) struct Plan {
    lengths: SmallVec<[usize; 6]>,
    /// Strides in elements: those of operand `i` start at `i * lengths.len()`.
    strides: SmallVec<[isize; 24]>,
}

impl Plan {
    /// Loops over `shape` without axes of length one, ordered by the strides of operand `leader`. Adjacent axes are merged if
    /// they are contiguous in every operand. No length may be zero.
    pub(super) fn new(shape: &[usize], operands: &[&[isize]], leader: usize) -> Plan {
        if let &[length] = shape {
            let stride = |strides: &&[isize]| if length == 1 { 1 } else { strides[0] };
            return Plan { lengths: smallvec![length], strides: operands.iter().map(stride).collect() };
        }
        let mut axes: SmallVec<[usize; 6]> = (0..shape.len()).collect();
        let key = |axis: usize| operands[leader][axis].unsigned_abs();
        axes.sort_by_key(|&axis| std::cmp::Reverse(key(axis)));
        Plan::in_order(shape, operands, &axes)
    }

    /// Loops over the axes in the given order, otherwise like [`Plan::new`].
    pub(super) fn in_order(shape: &[usize], operands: &[&[isize]], axes: &[usize]) -> Plan {
        let mut lengths: SmallVec<[usize; 6]> = SmallVec::new();
        // While building: the axis from which each loop takes its strides.
        let mut loop_axes: SmallVec<[usize; 6]> = SmallVec::new();
        for &axis in axes.iter().filter(|&&axis| shape[axis] != 1) {
            if let (Some(length), Some(outer)) = (lengths.last_mut(), loop_axes.last_mut()) {
                let inner = shape[axis] as isize;
                if operands.iter().all(|strides| strides[*outer] == strides[axis] * inner) {
                    *length *= shape[axis];
                    *outer = axis;
                    continue;
                }
            }
            lengths.push(shape[axis]);
            loop_axes.push(axis);
        }
        let mut strides = SmallVec::new();
        for operand in operands {
            strides.extend(loop_axes.iter().map(|&axis| operand[axis]));
        }
        if lengths.is_empty() {
            lengths.push(1);
            strides.resize(operands.len(), 1);
        }
        Plan { lengths, strides }
    }

    pub(super) fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// The strides of an operand, one per loop.
    pub(super) fn strides(&self, operand: usize) -> &[isize] {
        let n = self.lengths.len();
        &self.strides[operand * n..(operand + 1) * n]
    }

    /// Length of the innermost loop.
    pub(super) fn inner(&self) -> usize {
        self.lengths[self.lengths.len() - 1]
    }

    pub(super) fn size(&self) -> usize {
        self.lengths.iter().product()
    }

    /// The constant stride of an operand over all loops, if it has one.
    pub(super) fn even_stride(&self, operand: usize) -> Option<isize> {
        let strides = self.strides(operand);
        let even = (1..strides.len()).all(|i| strides[i - 1] == strides[i] * self.lengths[i] as isize);
        even.then(|| strides[strides.len() - 1])
    }

    /// The number of elements after which an operand repeats, if its outermost strides are zero.
    pub(super) fn period(&self, operand: usize) -> Option<usize> {
        let repeated = self.strides(operand).iter().take_while(|&&stride| stride == 0).count();
        (repeated > 0).then(|| self.lengths[repeated..].iter().product())
    }

    /// The offset of an operand at iteration `index` of the loops outside the innermost one.
    pub(super) fn outer_offset(&self, operand: usize, mut index: usize) -> isize {
        let strides = self.strides(operand);
        let mut offset = 0;
        for axis in (0..self.lengths.len() - 1).rev() {
            let length = self.lengths[axis];
            offset += (index % length) as isize * strides[axis];
            index /= length;
        }
        offset
    }

    /// Call `body(offset, length, stride)` for the segments of the innermost loop that cover elements
    /// `start..start + count` of the operand, in row-major order.
    #[inline]
    pub(super) fn segments(
        &self,
        operand: usize,
        start: usize,
        count: usize,
        mut body: impl FnMut(isize, usize, isize),
    ) {
        let strides = self.strides(operand);
        let last = self.lengths.len() - 1;
        let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, last + 1);
        let (mut index_in_outer, mut offset) = (start, 0);
        for axis in (0..=last).rev() {
            index[axis] = index_in_outer % self.lengths[axis];
            index_in_outer /= self.lengths[axis];
            offset += index[axis] as isize * strides[axis];
        }
        let mut left = count;
        while left > 0 {
            let length = left.min(self.lengths[last] - index[last]);
            body(offset, length, strides[last]);
            left -= length;
            index[last] += length;
            offset += length as isize * strides[last];
            for axis in (1..=last).rev() {
                if index[axis] < self.lengths[axis] {
                    break;
                }
                offset -= index[axis] as isize * strides[axis];
                index[axis] = 0;
                index[axis - 1] += 1;
                offset += strides[axis - 1];
            }
        }
    }
}
