//! Programs over no more than a few blocks of elements, where finding the way would cost more than the work.

use smallvec::SmallVec;
use umber_kernels_base::isa::level;
use umber_kernels_base::strided_loops::StridedLoops;
use umber_kernels_base::view::{View, ViewMut};

use super::blocks::{gather, splat};
use super::program::{Program, REGISTER};
use super::run::with_scratch;
use crate::elementwise::{LANES, cast};

/// Programs over more elements find their way, and share the work.
const MAX_BLOCKS: usize = 4;
/// Bytes of scratch that stay in L1.
const MAX_SCRATCH: usize = 24 << 10;

#[inline]
fn is_splat(view: &View) -> bool {
    view.strides().iter().all(|&stride| stride == 0)
}

/// Bring the `count` elements of a view, in their order, to where there is space for them; returns for how many they stand: of
/// a splat there is one.
///
/// # Safety
/// The view's elements are readable, and there is space for all of them, which is not part of the view.
pub(super) unsafe fn load(view: &View, to: *mut u8, count: usize) -> usize {
    let size = view.dtype().size();
    let copied = if is_splat(view) { 1 } else { count };
    if copied == 1 || view.layout().is_contiguous() {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { copy(view.start(), to, copied * size) };
        return copied;
    }
    let loops = StridedLoops::new(view.shape(), [view.strides()]);
    let ([stride], mut to) = (loops.inner().strides, to);
    loops.inner_runs(0..count, |[offset], length| {
        // SAFETY: a stretch of the view, and space for it.
        unsafe { gather(size, view.start().wrapping_offset(offset * size as isize), stride, to, length) };
        to = to.wrapping_add(length * size);
    });
    count
}

/// Copy some bytes: those of one element without a call.
///
/// # Safety
/// There are so many bytes at `from` and space for them at `to`, somewhere else.
#[inline(always)]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        match bytes {
            4 => std::ptr::copy_nonoverlapping(from, to, 4),
            8 => std::ptr::copy_nonoverlapping(from, to, 8),
            _ => std::ptr::copy_nonoverlapping(from, to, bytes),
        }
    }
}

impl Program {
    /// Compute the outputs if everything fits a register's room, or a few, and they lie in order; says whether it did.
    ///
    /// The views are those that [`Program::run`] has checked, and not empty.
    pub(super) fn run_small(&self, inputs: &[View], outputs: &[ViewMut]) -> bool {
        let count = outputs[0].size();
        let blocks = count.div_ceil(self.block);
        let register = blocks * REGISTER;
        let fits_scratch = || blocks <= MAX_BLOCKS && self.scratch(register) <= MAX_SCRATCH;
        let fits =
            (blocks == 1 || fits_scratch()) && outputs.iter().all(|view| view.layout().is_contiguous());
        if fits {
            // SAFETY: the scratch is laid out for such registers; views promise their elements.
            with_scratch(self.scratch(register), |scratch| unsafe {
                self.one_block(inputs, outputs, count, scratch, register);
            });
        }
        fits
    }

    /// Load everything, compute, store everything: in this order any output may be any input.
    ///
    /// # Safety
    /// The scratch is that of registers of so many bytes, which have space for `count` elements; the views hold as many each.
    unsafe fn one_block(
        &self,
        inputs: &[View],
        outputs: &[ViewMut],
        count: usize,
        scratch: *mut u8,
        register: usize,
    ) {
        let filled = count.next_multiple_of(LANES);
        let stage = scratch.wrapping_add(self.register_count * register);
        let values: SmallVec<[*mut u8; 16]> = self.addresses(scratch, register).collect();
        let place = |value: u32| values[value as usize];
        // SAFETY: registers have space for `filled` elements of any value; views reach `count` elements.
        unsafe {
            for constant in &self.constants {
                splat(constant.size, constant.bytes.as_ptr(), place(constant.value), filled);
            }
            for (i, view) in inputs.iter().enumerate() {
                let (size, is_widened) = (view.dtype().size(), self.widened[i]);
                let target = if is_widened { stage } else { place(i as u32) };
                let copied = load(view, target, count);
                splat(size, target, target.add(copied * size), filled - copied);
                if is_widened {
                    let load = cast::load_float16(view.dtype()).kernels[level()];
                    load(place(i as u32), stage, stage, stage, filled);
                }
            }
            for instruction in &self.instructions {
                instruction.run(self, &values, count, false);
            }
            for (output, view) in self.outputs.iter().zip(outputs) {
                let mut source = place(output.value);
                if output.is_rounded() {
                    let store = cast::store_float16(output.dtype).kernels[level()];
                    store(stage, source, source, source, filled);
                    source = stage;
                }
                std::ptr::copy_nonoverlapping(source, view.start(), count * view.dtype().size());
            }
        }
    }
}
