//! The processing of a run's blocks by one thread.

use smallvec::SmallVec;
use umber_kernels_base::caches::{LINE, stream};
use umber_kernels_base::isa::{level, prefetch_lines};

use super::blocks::{MAX_SHORT_ROW, copy_short, gather, scatter, splat};
use super::program::Output;
use super::run::{Access, Operand, Prefetch, Run};
use crate::elementwise::{LANES, cast};

/// Bytes written with non-temporal stores between two prefetches of the next block.
const STREAM_BYTES: usize = 256;

/// The addresses of operands while blocks are computed.
pub(super) struct Walk<'r> {
    run: &'r Run<'r>,
    /// The address of each value: its register, or the memory of an input or output.
    values: SmallVec<[*mut u8; 8]>,
    /// The register of each value.
    registers: SmallVec<[*mut u8; 8]>,
    /// A spare register for elements in another format.
    stage: *mut u8,
    /// The start of the row in each operand: inputs, then outputs.
    offsets: SmallVec<[isize; 8]>,
    /// For each periodic input, the phase of the first element in its register.
    phases: SmallVec<[Option<usize>; 8]>,
}

/// `count` rounded up to full lanes.
fn lanes(count: usize) -> usize {
    count.next_multiple_of(LANES)
}

impl<'r> Walk<'r> {
    /// `scratch` has one register more than the program.
    pub(super) fn new(run: &'r Run<'r>, scratch: *mut u8) -> Walk<'r> {
        let program = run.program;
        let register = |i: u32| scratch.wrapping_add(i as usize * run.register());
        let stage = register(program.register_count as u32);
        let registers: SmallVec<[*mut u8; 8]> = program.addresses(scratch, run.register()).collect();
        Walk {
            run,
            values: registers.clone(),
            registers,
            stage,
            offsets: SmallVec::from_elem(0, run.inputs.len() + run.outputs.len()),
            phases: SmallVec::from_elem(None, run.inputs.len()),
        }
    }

    /// Fill the registers of constants.
    pub(super) fn constants(&mut self) {
        let padded = self.padded_row_length();
        for constant in &self.run.program.constants {
            let register = self.registers[constant.value as usize];
            // SAFETY: a register has memory for a block of any value.
            unsafe { splat(constant.size, constant.bytes.as_ptr(), register, padded) };
        }
    }

    fn padded_row_length(&self) -> usize {
        lanes(self.run.row.min(self.run.block))
    }

    /// Set the offsets to the start of a row, and broadcast inputs that are constant along it.
    pub(super) fn enter_row(&mut self, row: usize, first: bool) {
        let run = self.run;
        let one_row = run.row == run.plan.size();
        for operand in 0..self.offsets.len() {
            let offset = if one_row { 0 } else { run.plan.outer_offset(operand, row) };
            let moved = first || offset != self.offsets[operand];
            self.offsets[operand] = offset;
            if moved && operand < run.inputs.len() && run.inputs[operand].access == Access::Splat {
                self.splat_input(operand);
            }
        }
    }

    /// Broadcast the element at the start of the row to an input's register.
    fn splat_input(&mut self, input: usize) {
        let from = self.address(input, 0);
        let padded = self.padded_row_length();
        let (size, dtype) = (self.run.inputs[input].size, self.run.program.inputs[input]);
        let register = self.registers[input];
        // SAFETY: the element is inside the view; registers have memory for a block.
        unsafe {
            if self.run.program.widened[input] {
                splat(size, from, self.stage, padded);
                let load = cast::load_float16(dtype).kernels[level()];
                load(register, self.stage, self.stage, self.stage, padded);
            } else {
                splat(size, from, register, padded);
            }
        }
    }

    /// Operands by index: inputs first, then outputs.
    fn operand(&self, operand: usize) -> &'r Operand {
        let inputs = self.run.inputs.len();
        if operand < inputs { &self.run.inputs[operand] } else { &self.run.outputs[operand - inputs] }
    }

    /// The address of the element at `distance` elements in memory from the start of the row.
    fn address(&self, operand: usize, distance: isize) -> *mut u8 {
        let Operand { start, size, .. } = *self.operand(operand);
        start.wrapping_offset((self.offsets[operand] + distance) * size as isize)
    }

    /// Compute elements `start..start + count` of the row.
    ///
    /// # Safety
    /// The elements are inside the row, `count` is at most a block, and no other thread computes them.
    pub(super) unsafe fn block(&mut self, start: usize, count: usize) {
        let run = self.run;
        for input in 0..run.inputs.len() {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { self.load(input, start, count) };
        }
        let nontemporal = self.place_outputs(start, count);
        let instructions = match &run.program.nontemporal {
            Some(instruction) if nontemporal => std::slice::from_ref(instruction),
            _ => &run.program.instructions[..],
        };
        for (i, instruction) in instructions.iter().enumerate() {
            if run.prefetch == Prefetch::WithSteps {
                self.prefetch(start + count, i, instructions.len());
            }
            // SAFETY: every value has an address with memory for `lanes(count)` elements of its type (an operand's own memory
            // only if `count` is a multiple of LANES), and a block function's output never overlaps its inputs.
            unsafe { instruction.run(run.program, &self.values, count, nontemporal) };
        }
        for output in 0..run.outputs.len() {
            // SAFETY: guaranteed by the caller of this function.
            unsafe { self.store(output, start, count) };
        }
    }

    /// Choose the address of each output for this block: its own memory, if it is dense and instructions may write there, else a
    /// register. Returns whether instructions use non-temporal stores.
    fn place_outputs(&mut self, start: usize, count: usize) -> bool {
        let run = self.run;
        let is_full = count.is_multiple_of(LANES);
        let address = |walk: &Walk, i: usize| walk.address(run.inputs.len() + i, start as isize);
        let outputs = || run.program.outputs.iter().zip(&run.outputs).enumerate();
        let nontemporal = run.direct
            && run.stream
            && is_full
            && outputs().filter(|(_, (output, _))| output.streams).all(|(i, (_, operand))| {
                operand.access == Access::InPlace && address(self, i).addr().is_multiple_of(LINE)
            });
        for (i, (output, operand)) in outputs() {
            if output.direct {
                let writes_directly =
                    if run.stream { nontemporal && output.streams } else { run.direct && is_full };
                let value = output.value as usize;
                self.values[value] = if writes_directly && operand.access == Access::InPlace {
                    address(self, i)
                } else {
                    self.registers[value]
                };
            }
        }
        nontemporal
    }

    /// Elements of a block.
    pub(super) fn block_length(&self) -> usize {
        self.run.block
    }

    /// Copy elements of an input with short rows to `to`, several rows per call.
    ///
    /// # Safety
    /// The elements are inside the view, and `to` has memory for them.
    unsafe fn load_short_rows(&self, input: usize, start: usize, count: usize, mut to: *mut u8) {
        let plan = &self.run.plan;
        let (size, length) = (self.run.inputs[input].size, plan.inner());
        let last = plan.lengths().len() - 1;
        // With a single loop there is one row.
        let rows = if last > 0 { plan.lengths()[last - 1] } else { 1 };
        let (row_stride, stride) = (plan.strides(input)[last.saturating_sub(1)], plan.strides(input)[last]);
        let mut done = 0;
        while done < count {
            let (row, first) = ((start + done) / length, (start + done) % length);
            let from = self.address(input, plan.outer_offset(input, row) + first as isize * stride);
            let left = count - done;
            // SAFETY: guaranteed by the caller of this function.
            let copied = unsafe {
                if first > 0 || left < length {
                    let in_row = left.min(length - first);
                    gather(size, from, stride, to, in_row);
                    in_row
                } else {
                    let rows = (left / length).min(rows - row % rows);
                    copy_short(size, from, to, [(row_stride, stride), (length as isize, 1)], [rows, length]);
                    rows * length
                }
            };
            to = to.wrapping_add(copied * size);
            done += copied;
        }
    }

    /// Compute elements `start..start + count` of the row; returns those of the single output, valid until the next call.
    ///
    /// # Safety
    /// As [`Walk::block`].
    pub(super) unsafe fn compute_block(&mut self, start: usize, count: usize) -> *const u8 {
        // SAFETY: guaranteed by the caller of this function.
        unsafe { self.block(start, count) };
        let output = &self.run.program.outputs[0];
        let source = self.values[output.value as usize];
        if !output.is_rounded() {
            return source;
        }
        let store = cast::store_float16(output.dtype).kernels[level()];
        // SAFETY: registers have memory for a block.
        unsafe { store(self.stage, source, source, source, lanes(count)) };
        self.stage
    }

    /// Make a block of an input available to instructions: in place, or copied to a register.
    ///
    /// # Safety
    /// As [`Walk::block`].
    unsafe fn load(&mut self, input: usize, start: usize, count: usize) {
        let run = self.run;
        let Operand { size, access, .. } = run.inputs[input];
        let dtype = run.program.inputs[input];
        let register = self.registers[input];
        let is_widened = run.program.widened[input];
        let target = if is_widened { self.stage } else { register };
        // A register with a full block of a periodic input also serves the next blocks.
        let (start, count) = match access {
            Access::Periodic(period) => {
                if self.phases[input].replace(start % period) == Some(start % period) {
                    return;
                }
                (start % period, run.block)
            }
            Access::InPlace | Access::Splat | Access::Strided(_) | Access::Segments => (start, count),
        };
        let padded = lanes(count);
        // SAFETY: the elements are inside the view; registers have memory for a block.
        let source = unsafe {
            match access {
                Access::Splat => return,
                Access::InPlace if padded == count && !run.copy_inputs => self.address(input, start as isize),
                Access::InPlace => {
                    gather(size, self.address(input, start as isize), 1, target, count);
                    target
                }
                Access::Strided(stride) => {
                    gather(size, self.address(input, start as isize * stride), stride, target, count);
                    target
                }
                Access::Segments | Access::Periodic(_) if run.plan.inner() < MAX_SHORT_ROW => {
                    self.load_short_rows(input, start, count, target);
                    target
                }
                Access::Segments | Access::Periodic(_) => {
                    let mut to = target;
                    run.plan.segments(input, start, count, |distance, length, stride| {
                        gather(size, self.address(input, distance), stride, to, length);
                        to = to.add(length * size);
                    });
                    target
                }
            }
        };
        // SAFETY: as above; incomplete lanes are padded with the first element.
        unsafe {
            if source == target {
                splat(size, target, target.add(count * size), padded - count);
            }
            if is_widened {
                let load = cast::load_float16(dtype).kernels[level()];
                load(register, source, source, source, padded);
            }
        }
        self.values[input] = if is_widened { register } else { source };
    }

    /// Store a block of an output.
    ///
    /// # Safety
    /// As [`Walk::block`].
    unsafe fn store(&self, output: usize, start: usize, count: usize) {
        let run = self.run;
        let operand = run.inputs.len() + output;
        let Operand { size, access, .. } = run.outputs[output];
        let Output { value, dtype, .. } = run.program.outputs[output];
        let mut source = self.values[value as usize];
        // SAFETY: the elements are inside the view; registers have memory for a block.
        unsafe {
            let to = self.address(operand, start as isize);
            if run.program.outputs[output].is_rounded() {
                let store = cast::store_float16(dtype).kernels[level()];
                if access == Access::InPlace && !run.stream && count.is_multiple_of(LANES) {
                    return store(to, source, source, source, count);
                }
                store(self.stage, source, source, source, lanes(count));
                source = self.stage;
            }
            match access {
                Access::InPlace => {
                    // If they are equal, an instruction has written there, or an input is its own output.
                    if source != to && run.stream {
                        self.stream(source, to, count * size, start + count);
                    } else if source != to {
                        scatter(size, source, to, 1, count);
                    }
                }
                Access::Segments | Access::Periodic(_) => {
                    run.plan.segments(operand, start, count, |distance, length, stride| {
                        scatter(size, source, self.address(operand, distance), stride, length);
                        source = source.add(length * size);
                    });
                }
                Access::Splat => scatter(size, source, self.address(operand, 0), 0, count),
                Access::Strided(stride) => {
                    scatter(size, source, self.address(operand, start as isize * stride), stride, count);
                }
            }
        }
    }

    /// Write a block with non-temporal stores, interleaved with prefetches of the next block, which starts at `next`.
    ///
    /// # Safety
    /// As [`stream`].
    unsafe fn stream(&self, from: *const u8, to: *mut u8, bytes: usize, next: usize) {
        if self.run.prefetch != Prefetch::WithStores {
            // SAFETY: guaranteed by the caller of this function.
            return unsafe { stream(from, to, bytes) };
        }
        let chunks = bytes.div_ceil(STREAM_BYTES);
        for chunk in 0..chunks {
            let begin = chunk * STREAM_BYTES;
            // SAFETY: guaranteed by the caller of this function; the chunks are inside the block.
            unsafe { stream(from.add(begin), to.add(begin), STREAM_BYTES.min(bytes - begin)) };
            self.prefetch(next, chunk, chunks);
        }
    }

    /// Prefetch one of `chunks` chunks of the inputs of the block that starts at `next`; addresses beyond the row are harmless.
    fn prefetch(&self, next: usize, chunk: usize, chunks: usize) {
        let run = self.run;
        let count = run.block;
        for (i, input) in run.inputs.iter().enumerate() {
            if input.access == Access::InPlace {
                let bytes = count * input.size;
                let begin = (bytes * chunk / chunks) & !63;
                let end = bytes * (chunk + 1) / chunks;
                let from = self.address(i, next as isize).wrapping_add(begin);
                prefetch_lines(from, end - begin, run.prefetch_cache);
            }
        }
    }
}
