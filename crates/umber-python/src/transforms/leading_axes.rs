//! Calls of a function of the last axes of arrays for every element of their leading axes.

use pyo3::prelude::*;
use umber_core::transforms::Mapped;
use umber_core::{Array, Result, Shape, ops};

use crate::enter::OrRaise;
use crate::pytree::Pytree;

/// A function of arrays that returns the structure of its result, and the arrays in it.
pub(super) type Call<'a> = &'a mut dyn FnMut(&[Array]) -> PyResult<(Pytree, Vec<Array>)>;

/// Call a function of the last `core_axes` axes of each array for every element of the leading axes, which broadcast.
///
/// The arrays of the result have the leading axes in front.
pub(super) fn map_leading_axes(
    op: &str,
    arrays: &[Array],
    core_axes: &[usize],
    call: Call<'_>,
) -> PyResult<(Pytree, Vec<Array>)> {
    let split = |array: &Array, core_axes: usize| {
        let (leading, core) = array.shape().split_at(array.ndim() - core_axes);
        (Shape::new(leading.iter().copied()), Shape::new(core.iter().copied()))
    };
    let (leading, core): (Vec<Shape>, Vec<Shape>) =
        arrays.iter().zip(core_axes).map(|(array, &core_axes)| split(array, core_axes)).unzip();
    let shape = ops::broadcast_shapes(&leading).map_err(|error| error.with_op(op)).or_raise()?;
    // Merge the axes where possible: fewer nested traces, and the same elements.
    let is_merged = shape.ndim() > 1 && leading.iter().all(|leading| *leading == shape);
    let aligned = arrays.iter().zip(&leading).zip(&core).map(|((array, leading), core)| {
        let lengths: Vec<usize> = if is_merged {
            std::iter::once(shape.size()).chain(core.iter().copied()).collect()
        } else {
            let missing = std::iter::repeat_n(1, shape.ndim() - leading.ndim());
            missing.chain(array.shape().iter().copied()).collect()
        };
        ops::reshape(array, lengths)
    });
    let aligned = aligned.collect::<Result<Vec<_>>>().or_raise()?;
    if !is_merged {
        return map_axes(&aligned, &shape, call);
    }
    let (tree, outputs) = map_axes(&aligned, &[shape.size()], call)?;
    let split = outputs.iter().map(|output| {
        let lengths: Vec<usize> = shape.iter().chain(&output.shape()[1..]).copied().collect();
        ops::reshape(output, lengths)
    });
    Ok((tree, split.collect::<Result<Vec<_>>>().or_raise()?))
}

/// The same for arrays that all have the leading axes, of the lengths in `shape` or of length one.
fn map_axes(arrays: &[Array], shape: &[usize], call: Call<'_>) -> PyResult<(Pytree, Vec<Array>)> {
    let Some((&length, inner)) = shape.split_first() else { return call(arrays) };
    let mut axes = Vec::with_capacity(arrays.len());
    let mut inputs = Vec::with_capacity(arrays.len());
    for array in arrays {
        let is_mapped = array.shape()[0] == length;
        let input = if is_mapped { Ok(array.clone()) } else { ops::squeeze(array, Some(&[0])) };
        inputs.push(input.or_raise()?);
        axes.push(is_mapped.then_some(0));
    }
    let mapped = Mapped::begin(&inputs, &axes).or_raise()?;
    let (tree, outputs) = map_axes(&mapped.trace.inputs, inner, call)?;
    let stacked = mapped.end(&outputs, &vec![Some(0); outputs.len()]).or_raise()?;
    Ok((tree, stacked))
}
