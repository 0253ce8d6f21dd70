//! Products followed by a program, which runs block by block while the block is in the caches.
//!
//! The product is bitwise the same as without a program, since its blocks do not depend on whether there is one.

use std::ops::Range;

use smallvec::{SmallVec, smallvec};
use umber_kernels_base::{View, ViewMut};
use umber_kernels_elementwise::tape::Program;
use umber_types::{DType, Layout, Shape};

use super::run;
use super::split::OnBlock;
use crate::match_multiply;

/// `outputs = program(a @ b, inputs…)`: the program's first input is the product, as computed by [`matmul`](super::matmul).
///
/// `inputs` and `outputs` have the same shape: that of the product, or another of equal size and with the same last axis.
/// Outputs are dense and do not overlap other operands. The product is stored in the memory of the first output of
/// its dtype.
///
/// # Panics
/// If dtypes or shapes do not match, or no output has the dtype of the product.
pub fn matmul_program(a: View, b: View, program: &Program, inputs: &[View], outputs: &mut [ViewMut]) {
    let dtype = a.dtype();
    let first_output =
        outputs.iter().find(|output| output.dtype() == dtype).expect("an output has the product's dtype");
    let (start, layout) = (first_output.start(), Layout::contiguous(first_output.shape().into()));
    let (rows, columns) = (&a.shape()[..a.shape().len() - 1], b.shape()[b.shape().len() - 1]);
    let product = Layout::contiguous(rows.iter().copied().chain([columns]).collect());
    assert!(
        product.size() == layout.size() && layout.shape.last() == Some(&columns),
        "the outputs have the size and the last axis of the product"
    );
    // SAFETY: the memory of a dense output; the program writes it only after it has read the product.
    let target = unsafe { ViewMut::new(start, dtype, &product) };
    let flat = Flat::new(program, (start, &layout, dtype), inputs, outputs);
    let block = |rows: Range<usize>, columns: Range<usize>| {
        flat.as_ref().expect("the callback is passed only if `flat` is Some").block(rows, columns);
    };
    let on_block: Option<OnBlock<'_>> = if flat.is_some() { Some(&block) } else { None };
    let is_done = match_multiply!(a, b, target; T => run::<T>(a, b, None, target, on_block));
    if !is_done {
        // SAFETY: as above; the program may overwrite an input elementwise.
        let product = unsafe { View::new(start, dtype, &layout) };
        let program_inputs: SmallVec<[View; 4]> =
            std::iter::once(product).chain(inputs.iter().copied()).collect();
        program.run(&program_inputs, outputs);
    }
}

/// The operands of a program as matrices with the rows of the whole batch.
struct Flat<'p> {
    program: &'p Program,
    inputs: SmallVec<[Operand; 4]>,
    outputs: SmallVec<[Operand; 2]>,
}

struct Operand {
    start: *mut u8,
    dtype: DType,
    rows: isize,
    columns: isize,
}

// SAFETY: the pointers are those of views, valid on all threads; tasks access disjoint blocks.
unsafe impl Sync for Flat<'_> {}

impl<'p> Flat<'p> {
    /// `None` if strides cannot express an operand as a matrix.
    fn new(
        program: &'p Program,
        product: (*mut u8, &Layout, DType),
        inputs: &[View],
        outputs: &[ViewMut],
    ) -> Option<Flat<'p>> {
        let columns = *product.1.shape.last()?;
        let shape = Shape::from([product.1.size().checked_div(columns)?, columns]);
        let matrix = |start: *mut u8, layout: &Layout, dtype: DType| {
            let strides = layout.reshape(&shape)?.strides;
            Some(Operand { start, dtype, rows: strides[0], columns: strides[1] })
        };
        let read = |view: &View| matrix(view.start().cast_mut(), view.layout(), view.dtype());
        let written = |view: &ViewMut| matrix(view.start(), view.layout(), view.dtype());
        let first = matrix(product.0, product.1, product.2);
        let inputs = std::iter::once(first).chain(inputs.iter().map(read)).collect::<Option<_>>()?;
        Some(Flat { program, inputs, outputs: outputs.iter().map(written).collect::<Option<_>>()? })
    }

    /// Run the program on a block.
    fn block(&self, rows: Range<usize>, columns: Range<usize>) {
        let block_of = |operand: &Operand| {
            let offset = rows.start as isize * operand.rows + columns.start as isize * operand.columns;
            let start = operand.start.wrapping_offset(offset * operand.dtype.size() as isize);
            let strides = smallvec![operand.rows, operand.columns];
            (start, operand.dtype, Layout { shape: [rows.len(), columns.len()].into(), strides, offset: 0 })
        };
        let inputs: SmallVec<[_; 4]> = self.inputs.iter().map(block_of).collect();
        let outputs: SmallVec<[_; 2]> = self.outputs.iter().map(block_of).collect();
        // SAFETY: blocks of views that the caller of `matmul_program` guarantees; this task has exclusive access to the block.
        let inputs: SmallVec<[View; 4]> = inputs
            .iter()
            .map(|(start, dtype, layout)| unsafe { View::new(*start, *dtype, layout) })
            .collect();
        let mut outputs: SmallVec<[ViewMut; 2]> = outputs
            .iter()
            // SAFETY: as above.
            .map(|(start, dtype, layout)| unsafe { ViewMut::new(*start, *dtype, layout) })
            .collect();
        self.program.run(&inputs, &mut outputs);
    }
}
