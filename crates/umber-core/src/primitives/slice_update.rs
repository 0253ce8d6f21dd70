//! SliceUpdate: an array whose elements inside a window are combined with an update (set, add, multiply, maximum, minimum).

use umber_kernels::tape::{Program, copy};
use umber_types::tape::{Step, Tape};
use umber_types::{BinaryKind, DType, Result, ScatterKind, Shape, ensure};

use super::rules::{add, batch, binary, cast, conj, mul, mul_absorbing, tangent_or_zero, zeros_like};
use super::slice::{Window, slice};
use crate::generalization::{Change, Generalized, cut};
use crate::graph::{Array, ArraySpec, Specs, Storage};
use crate::op::Op;
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

/// Inputs: the source, and an update with the shape of the window.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct SliceUpdate {
    /// The window that is updated.
    pub window: Box<Window>,
    /// How source and update combine.
    pub kind: ScatterKind,
}

/// `source` with the elements inside the window updated.
pub(crate) fn slice_update(
    kind: ScatterKind,
    source: &Array,
    window: Window,
    update: &Array,
) -> Result<Array> {
    Array::record_one(SliceUpdate { window: Box::new(window), kind }, &[source, update])
}

/// The elementwise function that combines the old and the new element; `None` if the new element replaces the old one.
pub(crate) fn combining(kind: ScatterKind) -> Option<BinaryKind> {
    match kind {
        ScatterKind::Set => None,
        ScatterKind::Add => Some(BinaryKind::Add),
        ScatterKind::Multiply => Some(BinaryKind::Multiply),
        ScatterKind::Maximum => Some(BinaryKind::Maximum),
        ScatterKind::Minimum => Some(BinaryKind::Minimum),
    }
}

/// Make input 0, updated by `write`, the output: in its own memory if the task holds the only reference, else in a dense copy.
/// `write` receives the other inputs. It must not have changed the target if it fails.
pub(crate) fn update(
    task: &mut CpuTask<'_>,
    write: impl FnOnce(&mut Storage, &[Storage], &[DType]) -> Result<()>,
) -> Result<()> {
    update_copy(task, |source, _, dtype| source.on_host().to_dense(dtype), write)
}

/// As [`update`], with a `copy` that need not contain the elements that `write` overwrites. Its arguments are input 0, its
/// shape and its dtype.
fn update_copy(
    task: &mut CpuTask<'_>,
    copy: impl FnOnce(&Storage, &Shape, DType) -> Result<Storage>,
    write: impl FnOnce(&mut Storage, &[Storage], &[DType]) -> Result<()>,
) -> Result<()> {
    let (dtype, shape) = (task.dtypes[0], task.specs[0].shape.clone());
    if task.inputs[0].is_donatable(&shape, dtype.size()) {
        let mut target = task.inputs.remove(0);
        let written = write(&mut target, &task.inputs, &task.dtypes[1..]);
        if written.is_err() {
            task.inputs.insert(0, target);
            return written;
        }
        task.answer(target);
        return Ok(());
    }
    let mut target = copy(&task.inputs[0], &shape, dtype)?;
    write(&mut target, &task.inputs[1..], &task.dtypes[1..])?;
    task.answer(target);
    Ok(())
}

/// Write `values` over the elements of `target` inside the window.
pub(crate) fn write_window(target: &mut Storage, window: &Window, values: &Storage, dtype: DType) {
    let inside = window.of(&target.layout);
    let full_layout = std::mem::replace(&mut target.layout, inside);
    let view = target.view_mut(dtype).expect("targets are unique");
    copy(values.on_host().view(dtype), view);
    target.layout = full_layout;
}

/// With a smaller window, one copy of the full array is faster than several copies of its surroundings.
const MIN_WINDOW_SIZE: usize = 1 << 13;

/// A dense copy of `source` in which the elements inside the window are unspecified.
fn copy_outside(window: &Window, source: &Storage, shape: &Shape, dtype: DType) -> Result<Storage> {
    let Some(surroundings) = window.outside(shape).filter(|_| window.lengths.size() >= MIN_WINDOW_SIZE)
    else {
        return source.on_host().to_dense(dtype);
    };
    let mut target = Storage::allocate(shape, dtype)?;
    for window in surroundings {
        let values = source.with_layout(window.of(&source.layout));
        write_window(&mut target, &window, &values, dtype);
    }
    Ok(target)
}

impl SliceUpdate {
    fn inside(&self, x: &Array) -> Result<Array> {
        slice(x, (*self.window).clone())
    }

    fn write(&self, kind: ScatterKind, x: &Array, update: &Array) -> Result<Array> {
        slice_update(kind, x, (*self.window).clone(), update)
    }

    /// Mask of the elements inside the window that come from the source. At ties the update wins, as in `maximum(a, b)`.
    fn source_wins(&self, at: &Point<'_>) -> Result<Array> {
        let kind = if self.kind == ScatterKind::Maximum { BinaryKind::Greater } else { BinaryKind::Less };
        binary(kind, &self.inside(&at.inputs[0])?, &at.inputs[1])
    }

    fn pull_to_source(&self, at: &Point<'_>, ct: &Array) -> Result<Array> {
        let update = &at.inputs[1];
        match self.kind {
            ScatterKind::Set => self.write(ScatterKind::Set, ct, &zeros_like(update)),
            ScatterKind::Add => Ok(ct.clone()),
            ScatterKind::Multiply => self.write(ScatterKind::Multiply, ct, &conj(update)?),
            ScatterKind::Maximum | ScatterKind::Minimum => {
                let mask = cast(&self.source_wins(at)?, ct.dtype())?;
                self.write(ScatterKind::Multiply, ct, &mask)
            }
        }
    }

    fn pull_to_update(&self, at: &Point<'_>, ct: &Array) -> Result<Array> {
        let inside = self.inside(ct)?;
        match self.kind {
            ScatterKind::Set | ScatterKind::Add => Ok(inside),
            ScatterKind::Multiply => mul_absorbing(&inside, &conj(&self.inside(&at.inputs[0])?)?),
            ScatterKind::Maximum | ScatterKind::Minimum => {
                let update_wins =
                    super::rules::unary(umber_types::UnaryKind::LogicalNot, &self.source_wins(at)?)?;
                mul(&inside, &cast(&update_wins, ct.dtype())?)
            }
        }
    }
}

impl Primitive for SliceUpdate {
    fn name(&self) -> &'static str {
        "slice_update"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let (shape, update) = (&inputs[0].shape, inputs[1]);
        ensure!(
            self.window.is_inside(shape),
            Value("slice_update"),
            "{:?} is out of bounds for shape {shape}",
            self.window
        );
        ensure!(
            update.shape == self.window.lengths && update.dtype == inputs[0].dtype,
            Value("slice_update"),
            "update has shape {} and dtype {}, expected {} and {}",
            update.shape,
            update.dtype,
            self.window.lengths,
            inputs[0].dtype
        );
        Ok(inputs[0].clone().into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.takes(2)
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        let other =
            if let Some(Op::SliceUpdate(other)) = change.other() { Some(&*other.window) } else { None };
        let window = Box::new(cut(&self.window, change, other)?);
        Some(Generalized::of(SliceUpdate { window, kind: self.kind }))
    }

    // The margins around the update (padding, for example) keep their width.
    fn constant_shape(&self, shape: &Shape, old: &Shape, new: &Shape) -> Option<Shape> {
        (0..shape.ndim()).map(|axis| (shape[axis] + new[axis]).checked_sub(old[axis])).collect()
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            at.pull(|i| {
                let ct = &cotangents[0];
                let pulled = if i == 0 { self.pull_to_source(at, ct) } else { self.pull_to_update(at, ct) };
                pulled.map(Some)
            })
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| {
            let source = tangent_or_zero(tangents[0].as_ref(), &at.inputs[0]);
            let update = tangent_or_zero(tangents[1].as_ref(), &at.inputs[1]);
            let pushed = match self.kind {
                ScatterKind::Set | ScatterKind::Add => self.write(self.kind, &source, &update)?,
                ScatterKind::Multiply => {
                    let from_source = mul_absorbing(&self.inside(&source)?, &at.inputs[1])?;
                    let from_update = mul_absorbing(&self.inside(&at.inputs[0])?, &update)?;
                    self.write(ScatterKind::Set, &source, &add(&from_source, &from_update)?)?
                }
                ScatterKind::Maximum | ScatterKind::Minimum => {
                    let wins = self.source_wins(at)?;
                    let inside =
                        Array::record_one(super::select::Select, &[&wins, &self.inside(&source)?, &update])?;
                    self.write(ScatterKind::Set, &source, &inside)?
                }
            };
            Ok(vec![pushed])
        })
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let batch_size = batch_size(inputs);
            let (source, update) = (batch(&inputs[0], batch_size)?, batch(&inputs[1], batch_size)?);
            Ok(vec![Batched::yes(slice_update(
                self.kind,
                &source,
                self.window.batched(batch_size),
                &update,
            )?)])
        })
    }

    fn takes_float8(&self) -> bool {
        self.kind == ScatterKind::Set
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        let dtype = task.dtypes[0];
        let Some(kind) = combining(self.kind) else {
            let copy =
                |source: &Storage, shape: &Shape, dtype| copy_outside(&self.window, source, shape, dtype);
            return update_copy(task, copy, |target, others, _| {
                write_window(target, &self.window, &others[0], dtype);
                Ok(())
            });
        };
        let tape = Tape {
            inputs: vec![dtype, dtype],
            steps: vec![Step::Binary { kind, a: 0, b: 1 }],
            outputs: vec![2],
        };
        let program = Program::new(&tape)?;
        update(task, |target, others, _| {
            let inside = self.window.of(&target.layout);
            let full_layout = std::mem::replace(&mut target.layout, inside);
            let (old, new) = target.view_in_place(dtype).expect("targets are unique");
            program.run(&[old, others[0].on_host().view(dtype)], &mut [new]);
            target.layout = full_layout;
            Ok(())
        })
    }
}
