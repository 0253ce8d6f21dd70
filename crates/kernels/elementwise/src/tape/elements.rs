//! The results of a program, passed on block by block instead of being stored.

use smallvec::SmallVec;
use umber_kernels_base::view::View;
use umber_types::DType;

use super::plan::Plan;
use super::program::Program;
use super::run::{Rows, Run, with_scratch};
use super::walk::Walk;
use crate::elementwise::LANES;

/// The single output of a program, in row-major order of the axes in a chosen order.
pub struct Elements<'p> {
    run: Run<'p>,
}

/// One thread's iterator over the elements.
pub struct Producer<'r> {
    walk: Walk<'r>,
    row_length: usize,
    current_row: Option<usize>,
}

impl<'p> Elements<'p> {
    /// The elements over `axes` of the views, which have the same shape, without zeros.
    pub fn new(
        program: &'p Program,
        inputs: &[View],
        shape: &[usize],
        axes: &[usize],
        rows: Rows,
    ) -> Elements<'p> {
        assert!(
            inputs.iter().map(View::dtype).eq(program.inputs.iter().copied()) && program.outputs.len() == 1,
            "views have the dtypes of the tape, which has one output"
        );
        let strides: SmallVec<[&[isize]; 6]> = inputs.iter().map(View::strides).collect();
        let plan = Plan::in_order(shape, &strides, axes);
        Elements { run: Run::without_outputs(program, plan, inputs, rows) }
    }

    /// Maximum number of elements per call of a producer's body.
    pub fn block(&self) -> usize {
        self.run.block
    }

    /// Approximate cost per element, in units of an addition.
    pub fn cost(&self) -> usize {
        self.run.program.cost
    }

    /// Call `body` with a producer, which uses this thread's scratch.
    pub fn enter<'a>(&'a self, body: impl FnOnce(&mut Producer<'a>)) {
        with_scratch(self.run.scratch(), |scratch| {
            let mut walk = Walk::new(&self.run, scratch);
            walk.constants();
            body(&mut Producer { walk, row_length: self.run.row, current_row: None });
        });
    }
}

impl Program {
    /// Maximum number of elements of a block.
    pub fn block_length(&self) -> usize {
        self.block
    }

    /// True if the program computes `cast(x) * cast(x)` of its only input.
    pub fn is_square(&self) -> bool {
        self.is_square
    }

    /// True if the program is a single cast.
    pub fn is_cast(&self) -> bool {
        self.is_cast
    }

    /// The dtype of the single output.
    pub fn output_dtype(&self) -> DType {
        self.outputs[0].dtype
    }
}

impl Producer<'_> {
    /// Call `body(elements, offset, count)` for consecutive chunks of the elements `start..start + count`, in order. With
    /// [`Rows::One`], what fits a block is a single chunk.
    #[inline]
    pub fn produce(&mut self, start: usize, count: usize, mut body: impl FnMut(*const u8, usize, usize)) {
        let block = self.walk.block_length();
        let (mut row, mut first) = (start / self.row_length, start % self.row_length);
        let mut done = 0;
        while done < count {
            if first == self.row_length {
                (row, first) = (row + 1, 0);
            }
            if self.current_row != Some(row) {
                self.walk.enter_row(row, self.current_row.is_none());
                self.current_row = Some(row);
            }
            let length = (count - done).min(block).min(self.row_length - first);
            // Incomplete lanes force copies to registers, so the last few elements are split off.
            let needs_no_split = length == count || length.is_multiple_of(LANES) || length < LANES;
            let length = if needs_no_split { length } else { length / LANES * LANES };
            // SAFETY: the elements are inside the row; nothing is stored to memory that other threads read.
            let chunk = unsafe { self.walk.compute_block(first, length) };
            body(chunk, done, length);
            done += length;
            first += length;
        }
    }
}
