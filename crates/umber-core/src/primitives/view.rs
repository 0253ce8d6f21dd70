//! View: the same bytes reinterpreted as another dtype. Copies only if the memory is not contiguous or not aligned.

use umber_types::{DType, Layout, Result, Shape, bail, ensure};

use crate::generalization::any_lengths;
use crate::graph::{Array, ArraySpec, Specs, Storage};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// The bytes reinterpreted as another dtype; the length of the last axis scales with the item sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct View(pub DType);

impl View {
    fn shape(self, from: &ArraySpec) -> Result<Shape> {
        let (old, new) = (from.dtype.size(), self.0.size());
        if old == new {
            return Ok(from.shape.clone());
        }
        let Some((&last, leading)) = from.shape.split_last() else {
            bail!(
                Value("view"),
                "cannot view a 0-d array of {} as {}, expected a dtype of {old} bytes",
                from.dtype,
                self.0
            );
        };
        let bytes = last.checked_mul(old).filter(|bytes| bytes % new == 0);
        ensure!(
            bytes.is_some(),
            Value("view"),
            "cannot view shape {} of {} as {}: its last axis is not a multiple of the item size",
            from.shape,
            from.dtype,
            self.0
        );
        let last = bytes.unwrap_or(0) / new;
        Ok(leading.iter().copied().chain(std::iter::once(last)).collect())
    }

    /// The storage of the result without a copy; `None` if the memory is misaligned, or not contiguous while item sizes differ.
    fn reinterpret(self, storage: &Storage, from: DType, shape: &Shape) -> Option<Storage> {
        let (old, new) = (from.size(), self.0.size());
        let start = storage.buffer.host_start()?.as_ptr() as usize + storage.layout.offset * old;
        let unit = if self.0.is_complex() { new / 2 } else { new };
        if !start.is_multiple_of(unit) {
            return None;
        }
        if old == new {
            return Some(storage.clone());
        }
        if !storage.layout.is_contiguous() || !(storage.layout.offset * old).is_multiple_of(new) {
            return None;
        }
        let mut layout = Layout::contiguous(shape.clone());
        layout.offset = storage.layout.offset * old / new;
        Some(storage.with_layout(layout))
    }
}

impl Primitive for View {
    fn name(&self) -> &'static str {
        "view"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(ArraySpec { shape: self.shape(inputs[0])?, dtype: self.0 }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(1)
    }

    any_lengths!();

    fn vjp(&self, _at: &Point<'_>, _cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| bail!(Value("view"), "bit patterns have no derivative; astype converts values"))
    }

    fn jvp(&self, _at: &Point<'_>, _tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| bail!(Value("view"), "bit patterns have no derivative; astype converts values"))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| Ok(vec![Batched::yes(Array::record_one(*self, &[&inputs[0].array])?)]))
    }

    fn takes_float8(&self) -> bool {
        true
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let (from, shape) = (task.dtypes[0], &task.specs[0].shape);
        if shape.size() == 0 {
            task.answer(Storage::allocate(shape, self.0)?);
            return Ok(());
        }
        let storage = match self.reinterpret(&task.inputs[0], from, shape) {
            Some(storage) => storage,
            None => {
                let dense = task.host(0).to_dense(from)?;
                self.reinterpret(&dense, from, shape)
                    .expect("fresh memory is dense and aligned for every dtype")
            }
        };
        task.answer(storage);
        Ok(())
    }
}
