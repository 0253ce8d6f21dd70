//! Programs over no more than one block of plain elements, where finding the way would cost more than the work.

use super::blocks::splat;
use super::program::{Program, REGISTER};
use super::run::with_scratch;
use crate::elementwise::{LANES, cast};
use crate::isa::level;
use crate::view::{View, ViewMut};

/// Does the view's memory hold its elements in order, or one for all of them?
fn is_plain(view: &View) -> bool {
    view.layout().is_contiguous() || is_splat(view)
}

fn is_splat(view: &View) -> bool {
    view.strides().iter().all(|&stride| stride == 0)
}

impl Program {
    /// Compute the outputs if everything fits one block and lies in order; says whether it did.
    ///
    /// The views are those that [`Program::run`] has checked, and not empty.
    pub(super) fn run_small(&self, inputs: &[View], outputs: &[ViewMut]) -> bool {
        let count = outputs[0].size();
        let plain = count <= self.block
            && inputs.iter().all(is_plain)
            && outputs.iter().all(|view| view.layout().is_contiguous());
        if plain {
            let registers = (self.register_count + 1) * REGISTER;
            // SAFETY: the scratch has the registers and a stage; views promise their elements.
            with_scratch(registers, |scratch| unsafe { self.one_block(inputs, outputs, count, scratch) });
        }
        plain
    }

    /// Load everything, compute, store everything: in this order any output may be any input.
    ///
    /// # Safety
    /// The scratch holds one register more than the program has, and the plain views `count` elements each.
    unsafe fn one_block(&self, inputs: &[View], outputs: &[ViewMut], count: usize, scratch: *mut u8) {
        let filled = count.next_multiple_of(LANES);
        let stage = scratch.wrapping_add(self.register_count * REGISTER);
        let register = |value: u32| scratch.wrapping_add(self.registers[value as usize] as usize * REGISTER);
        // SAFETY: registers have room for `filled` elements of any value; views reach `count` elements.
        unsafe {
            for constant in &self.constants {
                splat(constant.size, constant.bytes.as_ptr(), register(constant.value), filled);
            }
            for (i, view) in inputs.iter().enumerate() {
                let (size, half) = (view.dtype().size(), view.dtype().is_half());
                let target = if half { stage } else { register(i as u32) };
                let copied = if is_splat(view) { 1 } else { count };
                std::ptr::copy_nonoverlapping(view.start(), target, copied * size);
                splat(size, target, target.add(copied * size), filled - copied);
                if half {
                    let load = cast::load_half(view.dtype()).kernels[level()];
                    load(register(i as u32), stage, stage, stage, filled);
                }
            }
            for instruction in &self.instructions {
                let [a, b, c] = instruction.arguments.map(|value| register(value).cast_const());
                let n = if instruction.exact { count } else { filled };
                (instruction.kernel)(register(instruction.value), a, b, c, n);
            }
            for (output, view) in self.outputs.iter().zip(outputs) {
                let mut source = register(output.value);
                if output.dtype.is_half() {
                    let store = cast::store_half(output.dtype).kernels[level()];
                    store(stage, source, source, source, filled);
                    source = stage;
                }
                std::ptr::copy_nonoverlapping(source, view.start(), count * view.dtype().size());
            }
        }
    }
}
