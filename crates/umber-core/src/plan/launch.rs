//! Launch: a fused region on memory.

use std::borrow::Cow;

use smallvec::SmallVec;
use umber_kernels::{View, ViewMut};
use umber_types::{Layout, Result};

use super::region::Region;
use crate::graph::Storage;
use crate::primitive::CpuTask;

/// Run a region, over an input's memory where nothing else holds it.
pub(super) fn region(region: &Region, task: &mut CpuTask<'_>) -> Result<()> {
    region.prepare()?;
    let mut used: SmallVec<[usize; 4]> = SmallVec::new();
    let mut outputs: SmallVec<[Storage; 2]> = SmallVec::new();
    for spec in &task.specs {
        let size = spec.dtype.size();
        let free = (0..task.inputs.len()).find(|i| {
            region.may_overwrite()
                && !used.contains(i)
                && task.dtypes[*i].size() == size
                && task.inputs[*i].is_donatable(&spec.shape, size)
        });
        outputs.push(match free {
            Some(i) => {
                used.push(i);
                task.inputs[i].clone()
            }
            None => Storage::allocate(&spec.shape, spec.dtype)?,
        });
    }
    {
        let layouts: SmallVec<[Cow<'_, Layout>; 4]> =
            task.inputs.iter().enumerate().map(|(i, input)| region.spread(i, &input.layout)).collect();
        let inputs: SmallVec<[View<'_>; 4]> = task
            .inputs
            .iter()
            .zip(&task.dtypes)
            .zip(&layouts)
            .map(|((input, &dtype), layout)| {
                // SAFETY: a broadcast layout reaches the same elements as the storage's own, which its buffer holds;
                // the buffer is written during the run only where it is also an output, block by block after being
                // read.
                unsafe { View::new(input.buffer.start().as_ptr(), dtype, layout) }
            })
            .collect();
        let mut views: SmallVec<[ViewMut<'_>; 2]> = outputs
            .iter()
            .zip(&task.specs)
            .map(|(storage, spec)| {
                // SAFETY: the storage is new, or an input's that only this task holds (`is_donatable`).
                unsafe { ViewMut::new(storage.buffer.start().as_ptr(), spec.dtype, &storage.layout) }
            })
            .collect();
        region.run(&inputs, &mut views)?;
    }
    task.inputs.clear();
    task.outputs = outputs.into_iter().map(Some).collect();
    Ok(())
}
