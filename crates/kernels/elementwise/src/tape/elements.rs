//! Elements that a program computes, handed out block by block instead of being stored.

use smallvec::SmallVec;
use umber_kernels_base::view::View;
use umber_types::DType;

use super::plan::Plan;
use super::program::Program;
use super::run::{Rows, Run, with_scratch};
use super::walk::Walk;
use crate::elementwise::LANES;

/// The one output of a program at every index of a shape, in row-major order of axes in a chosen order.
pub struct Elements<'p> {
    run: Run<'p>,
}

/// One thread's way to the elements.
pub struct Producer<'r> {
    walk: Walk<'r>,
    row_length: usize,
    entered: Option<usize>,
}

impl<'p> Elements<'p> {
    /// Elements over `axes` of the views, which have one shape without zeros.
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

    /// The most elements that come in one piece.
    pub fn block(&self) -> usize {
        self.run.block
    }

    /// About how long an element takes, in units of an addition.
    pub fn cost(&self) -> usize {
        self.run.program.cost
    }

    /// Lend `body` a way to the elements.
    pub fn enter<'a>(&'a self, body: impl FnOnce(&mut Producer<'a>)) {
        with_scratch(self.run.scratch(), |scratch| {
            let mut walk = Walk::new(&self.run, scratch);
            walk.constants();
            body(&mut Producer { walk, row_length: self.run.row, entered: None });
        });
    }
}

impl Program {
    /// The most elements of a block.
    pub fn block_length(&self) -> usize {
        self.block
    }

    /// Is the one output the square of the one input, in whatever dtype it has?
    pub fn is_square(&self) -> bool {
        self.is_square
    }

    /// Is the one output the one input in another dtype?
    pub fn is_cast(&self) -> bool {
        self.is_cast
    }

    /// The dtype of the one output.
    pub fn output_dtype(&self) -> DType {
        self.outputs[0].dtype
    }
}

impl Producer<'_> {
    /// Call `body(elements, offset, count)` with pieces that make up the elements `start..start + count`, in order. With
    /// [`Rows::One`] what fits a block is one piece.
    #[inline]
    pub fn produce(&mut self, start: usize, count: usize, mut body: impl FnMut(*const u8, usize, usize)) {
        let block = self.walk.block_length();
        let (mut row, mut first) = (start / self.row_length, start % self.row_length);
        let mut done = 0;
        while done < count {
            if first == self.row_length {
                (row, first) = (row + 1, 0);
            }
            if self.entered != Some(row) {
                self.walk.enter_row(row, self.entered.is_none());
                self.entered = Some(row);
            }
            let length = (count - done).min(block).min(self.row_length - first);
            // What is not whole lanes is brought to registers first: rather the few last elements than all.
            let is_whole = length == count || length.is_multiple_of(LANES) || length < LANES;
            let length = if is_whole { length } else { length / LANES * LANES };
            // SAFETY: inside the row; nothing is stored.
            let piece = unsafe { self.walk.computed(first, length) };
            body(piece, done, length);
            done += length;
            first += length;
        }
    }
}
