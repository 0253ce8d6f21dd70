//! Launch: fused regions and single elementwise operations on storage.

use std::borrow::Cow;

use smallvec::SmallVec;
use umber_kernels::tape::Program;
use umber_kernels::{View, ViewMut};
use umber_types::{Layout, Result, Shape};

use crate::graph::Storage;
use crate::primitive::CpuTask;
use crate::primitives::region::{self, Region};

/// Run a region, in the buffer of an input without other references if there is one.
pub(crate) fn region(region: &Region, task: &mut CpuTask<'_>) -> Result<()> {
    region.prepare()?;
    launch(Kernel::Region(region), task)
}

/// Run an elementwise operation, in the buffer of an input without other references if there is one.
pub(crate) fn program(program: &Program, task: &mut CpuTask<'_>) -> Result<()> {
    launch(Kernel::Program(program), task)
}

#[derive(Clone, Copy)]
enum Kernel<'a> {
    Region(&'a Region),
    Program(&'a Program),
}

impl Kernel<'_> {
    fn may_overwrite(self) -> bool {
        match self {
            Kernel::Region(region) => region.may_overwrite(),
            Kernel::Program(_) => true,
        }
    }

    /// The layout with which the kernel reads an input for outputs of `shape`.
    fn broadcast_layout<'l>(self, input: usize, layout: &'l Layout, shape: &Shape) -> Cow<'l, Layout> {
        match self {
            Kernel::Region(region) => region.broadcast_layout(input, layout),
            Kernel::Program(_) => region::broadcast_layout(layout, shape),
        }
    }

    fn run(self, inputs: &[View<'_>], outputs: &mut [ViewMut<'_>]) -> Result<()> {
        match self {
            Kernel::Region(region) => region.run(inputs, outputs),
            Kernel::Program(program) => {
                program.run(inputs, outputs);
                Ok(())
            }
        }
    }
}

fn launch(kernel: Kernel<'_>, task: &mut CpuTask<'_>) -> Result<()> {
    let mut used: SmallVec<[usize; 4]> = SmallVec::new();
    let mut outputs: SmallVec<[Storage; 1]> = SmallVec::new();
    for spec in &task.specs {
        let donor = if kernel.may_overwrite() { task.donor(outputs.len(), &used) } else { None };
        outputs.push(match donor {
            Some(i) => {
                used.push(i);
                task.inputs[i].clone()
            }
            None => Storage::allocate(&spec.shape, spec.dtype)?,
        });
    }
    {
        let shape = &task.specs[0].shape;
        let inputs = task.inputs.iter().enumerate();
        let layouts: SmallVec<[Cow<'_, Layout>; 4]> =
            inputs.map(|(i, input)| kernel.broadcast_layout(i, &input.layout, shape)).collect();
        let inputs: SmallVec<[View<'_>; 4]> = task
            .inputs
            .iter()
            .zip(&task.dtypes)
            .zip(&layouts)
            .map(|((input, &dtype), layout)| {
                assert!(input.fits(dtype), "an input's layout exceeds its buffer");
                // SAFETY: the assertion checks that the storage's own layout lies inside its buffer, and a broadcast layout
                // reaches the same elements. During the run the buffer is written only if it is also an output, and then each
                // block is read before it is written.
                unsafe { View::new(input.on_host().start().as_ptr(), dtype, layout) }
            })
            .collect();
        let mut views: SmallVec<[ViewMut<'_>; 2]> = outputs
            .iter()
            .zip(&task.specs)
            .map(|(storage, spec)| {
                // SAFETY: the storage is new, or that of an input to which only this task refers (`Task::donor`).
                unsafe { ViewMut::new(storage.on_host().start().as_ptr(), spec.dtype, &storage.layout) }
            })
            .collect();
        kernel.run(&inputs, &mut views)?;
    }
    task.inputs.clear();
    task.outputs = outputs.into_iter().map(Some).collect();
    Ok(())
}
