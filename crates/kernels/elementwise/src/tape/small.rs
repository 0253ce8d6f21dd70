//! Programs over at most a few blocks, for which the setup of a run would cost more than the computation.

use smallvec::SmallVec;
use umber_kernels_base::isa::level;
use umber_kernels_base::strided_loops::StridedLoops;
use umber_kernels_base::view::{View, ViewMut};

use super::blocks::{gather, splat};
use super::program::{Program, REGISTER};
use super::run::with_scratch;
use crate::elementwise::{LANES, cast};

/// Maximum number of blocks; larger programs use a run, and several threads.
const MAX_BLOCKS: usize = 4;
/// Bytes of scratch that stay in L1.
const MAX_SCRATCH: usize = 24 << 10;

#[inline]
fn is_splat(view: &View) -> bool {
    view.strides().iter().all(|&stride| stride == 0)
}

/// Copy the `count` elements of a view to `to`, in row-major order. Returns the number of elements copied: 1 for a broadcast
/// element.
///
/// # Safety
/// The view's elements are readable; `to` has memory for all of them and does not overlap the view.
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
        // SAFETY: the segment is inside the view, and `to` has memory for all its elements.
        unsafe { gather(size, view.start().wrapping_offset(offset * size as isize), stride, to, length) };
        to = to.wrapping_add(length * size);
    });
    count
}

/// Copy bytes, without a call for a single 4-byte or 8-byte element.
///
/// # Safety
/// `bytes` bytes are readable at `from` and writable at `to`, and the two do not overlap.
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
    /// Compute the outputs if all elements fit a register, or a few of them, and the outputs are contiguous; returns whether it
    /// did.
    ///
    /// The views have been checked by [`Program::run`] and are not empty.
    pub(super) fn run_small(&self, inputs: &[View], outputs: &[ViewMut]) -> bool {
        let count = outputs[0].size();
        let blocks = count.div_ceil(self.block);
        let register = blocks * REGISTER;
        let fits_scratch = || blocks <= MAX_BLOCKS && self.scratch(register) <= MAX_SCRATCH;
        let fits =
            (blocks == 1 || fits_scratch()) && outputs.iter().all(|view| view.layout().is_contiguous());
        if fits {
            // SAFETY: the scratch is sized for such registers; the views' elements are accessible.
            with_scratch(self.scratch(register), |scratch| unsafe {
                self.one_block(inputs, outputs, count, scratch, register);
            });
        }
        fits
    }

    /// Load all inputs, compute, then store all outputs, so that any output may share the memory of any input.
    ///
    /// # Safety
    /// The scratch has registers of `register` bytes, each with memory for `count` elements; each view has `count` elements.
    unsafe fn one_block(
        &self,
        inputs: &[View],
        outputs: &[ViewMut],
        count: usize,
        scratch: *mut u8,
        register: usize,
    ) {
        let padded = count.next_multiple_of(LANES);
        let stage = scratch.wrapping_add(self.register_count * register);
        let values: SmallVec<[*mut u8; 16]> = self.addresses(scratch, register).collect();
        let register_of = |value: u32| values[value as usize];
        // SAFETY: registers have memory for `padded` elements of any value; views have `count` elements.
        unsafe {
            for constant in &self.constants {
                splat(constant.size, constant.bytes.as_ptr(), register_of(constant.value), padded);
            }
            for (i, view) in inputs.iter().enumerate() {
                let (size, is_widened) = (view.dtype().size(), self.widened[i]);
                let target = if is_widened { stage } else { register_of(i as u32) };
                let copied = load(view, target, count);
                splat(size, target, target.add(copied * size), padded - copied);
                if is_widened {
                    let load = cast::load_float16(view.dtype()).kernels[level()];
                    load(register_of(i as u32), stage, stage, stage, padded);
                }
            }
            for instruction in &self.instructions {
                instruction.run(self, &values, count, false);
            }
            for (output, view) in self.outputs.iter().zip(outputs) {
                let mut source = register_of(output.value);
                if output.is_rounded() {
                    let store = cast::store_float16(output.dtype).kernels[level()];
                    store(stage, source, source, source, padded);
                    source = stage;
                }
                std::ptr::copy_nonoverlapping(source, view.start(), count * view.dtype().size());
            }
        }
    }
}
