//! Concatenate: arrays joined along an existing axis.

use smallvec::SmallVec;
use umber_types::{Result, Shape, ensure};

use super::rules::{batch, tangent_or_zero};
use super::slice::{Window, slice_along};
use super::slice_update::write_window;
use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Inputs, Specs, Storage};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

/// One or more inputs of equal dtype whose shapes differ only along the axis. The result is dense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Concatenate {
    /// Along which axis.
    pub axis: usize,
}

/// `arrays` joined along an axis; a single array is returned unchanged.
pub(crate) fn concatenate(arrays: Inputs, axis: usize) -> Result<Array> {
    if arrays.len() == 1 {
        return Ok(arrays[0].clone());
    }
    record(Concatenate { axis }, arrays)
}

fn record(op: Concatenate, arrays: Inputs) -> Result<Array> {
    let mut outputs = Array::record(op, arrays)?;
    Ok(outputs.pop().expect("one output"))
}

impl Primitive for Concatenate {
    fn name(&self) -> &'static str {
        "concatenate"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let first = inputs[0];
        let mut length: usize = 0;
        for input in inputs {
            ensure!(
                input.dtype == first.dtype
                    && input.shape.ndim() == first.shape.ndim()
                    && input.shape.with(self.axis, 0) == first.shape.with(self.axis, 0),
                Value("concatenate"),
                "shapes {} and {} differ in axes other than axis {}",
                first.shape,
                input.shape,
                self.axis
            );
            length = length.saturating_add(input.shape[self.axis]);
        }
        Ok(ArraySpec { shape: first.shape.with(self.axis, length), dtype: first.dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes_some()?;
        site.axis(self.axis)?;
        let have_equal_ndim = site.inputs.iter().all(|input| input.shape.ndim() == site.ndim(0));
        site.must(have_equal_ndim, "equal numbers of axes")
    }

    any_lengths!();

    fn constant_shape(&self, shape: &Shape, _old: &Shape, new: &Shape) -> Option<Shape> {
        Some(new.with(self.axis, shape[self.axis]))
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let mut end = 0;
            let mut starts: SmallVec<[usize; 8]> = SmallVec::new();
            for input in at.inputs {
                starts.push(end);
                end += input.shape()[self.axis];
            }
            at.pull(|i| {
                let length = at.inputs[i].shape()[self.axis];
                slice_along(&cotangents[0], self.axis, starts[i], length).map(Some)
            })
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let tangents =
                at.inputs.iter().zip(tangents).map(|(x, t)| tangent_or_zero(t.as_ref(), x)).collect();
            Ok(vec![record(*self, tangents)?])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let batch_size = batch_size(inputs);
            let arrays = inputs.iter().map(|input| batch(input, batch_size)).collect::<Result<Inputs>>()?;
            Ok(vec![Batched::yes(record(Concatenate { axis: self.axis + 1 }, arrays)?)])
        })
    }

    fn takes_float8(&self) -> bool {
        true
    }

    fn adds_lengths(&self) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        if let [only] = &task.inputs[..]
            && only.is_dense_alone(task.specs[0].dtype)
        {
            let storage = only.clone();
            task.answer(storage);
            return Ok(());
        }
        let spec = task.specs[0];
        let mut output = Storage::allocate(&spec.shape, spec.dtype)?;
        let mut start = 0;
        for input in &task.inputs {
            let length = input.layout.shape[self.axis];
            if input.layout.size() > 0 {
                let window = Window::along(&spec.shape, self.axis, start, length);
                write_window(&mut output, &window, input, spec.dtype);
            }
            start += length;
        }
        task.answer(output);
        Ok(())
    }
}
