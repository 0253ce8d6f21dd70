//! Boolean masks become integer indices: the mask is evaluated where it stands.

use smallvec::SmallVec;
use umber_types::{BinaryKind, DType, Result, ScatterKind, Shape};

use super::Index;
use super::plan::axes_used;
use crate::graph::{Array, Inputs};
use crate::ops::data_dependent;
use crate::ops::index_grids::unravelled;
use crate::ops::scans::{ScanOrder, cumsum};
use crate::primitives::control::{Control, Surplus};
use crate::primitives::select::Select;
use crate::primitives::slice::{Window, slice};
use crate::primitives::{gather, rules};

/// Where a mask holds.
pub(super) struct MaskIndices {
    /// How often.
    pub(super) count: usize,
    /// Row-major places.
    pub(super) flat: Array,
}

/// The places where `mask` holds, in row-major order.
pub(super) fn places(mask: &Array) -> Result<MaskIndices> {
    let flat = data_dependent::places_of("index", mask)?;
    Ok(MaskIndices { count: flat.size(), flat })
}

impl MaskIndices {
    /// An index array an axis of the mask.
    pub(super) fn indices(&self, mask: &Array) -> Result<Inputs> {
        unravelled(&self.flat, mask.shape())
    }
}

/// The index with masks of the shape of their axes, holding nowhere, for those without elements: in NumPy and in the array
/// API standard a mask may be 0 long where the array is not. `None` if there are none.
pub(super) fn fill_empty(shape: &Shape, index: &[Index]) -> Option<SmallVec<[Index; 4]>> {
    let used: usize = index.iter().map(axes_used).sum();
    let mut axis = 0;
    let mut filled = None;
    for (i, entry) in index.iter().enumerate() {
        if let Index::Mask(mask) = entry
            && mask.size() == 0
            && mask.dtype() == DType::Bool
            && let Some(axes) = shape.get(axis..axis + mask.ndim())
            && **mask.shape() != *axes
            && mask.shape().iter().zip(axes).all(|(&length, &whole)| length == 0 || length == whole)
        {
            let nowhere = Array::full(Shape::from(axes), false, DType::Bool);
            filled.get_or_insert_with(|| SmallVec::from(index))[i] = Index::Mask(nowhere);
        }
        let is_rest = matches!(entry, Index::Ellipsis);
        axis += if is_rest { shape.ndim().saturating_sub(used) } else { axes_used(entry) };
    }
    filled
}

/// `a` updated where a mask of its first axes holds, under a transformation that hides the mask's value: the `i`-th place
/// where it holds takes `values[i]`. The number of places is compared with that of the values when it is evaluated.
/// `None` if the mask has a value, so that there is a better way.
pub(super) fn masked_scatter(
    kind: ScatterKind,
    a: &Array,
    mask: &Array,
    values: &Array,
    surplus: Surplus,
) -> Result<Option<Array>> {
    super::plan::check_mask(mask, a.shape(), 0)?;
    if data_dependent::has_value(mask)? {
        return Ok(None);
    }
    let tail_shape = Shape::from(&a.shape()[mask.ndim()..]);
    let value_count = values.shape()[values.ndim() - tail_shape.ndim() - 1];
    let rows: Shape = std::iter::once(value_count).chain(tail_shape.iter().copied()).collect();
    let values = super::fit(values, &rows)?;
    let flat = rules::reshape(mask, [mask.size()])?;
    let held = data_dependent::count_lazily(mask)?;
    let value_index = cumsum(&rules::cast(&flat, DType::Int64)?, ScanOrder::along(0), None)?;
    let value_index = rules::sub(&value_index, &rules::constant(&value_index, 1))?;
    let counted = |updated: &Array| {
        Array::record_one(Control::Counted { values: value_count as u64, surplus }, &[updated, &held])
            .map(Some)
    };
    if value_count == 0 {
        return counted(a);
    }
    let is_masked = if value_count == 1 { rules::zeros_like(&flat) } else { flat };
    let value_index =
        Array::record_one(Select, &[&is_masked, &value_index, &rules::zeros_like(&value_index)])?;
    // Places without a value of their own read the last one; the check of their number follows.
    let value_index = rules::binary(
        BinaryKind::Minimum,
        &value_index,
        &rules::constant(&value_index, value_count as i64 - 1),
    )?;
    let picked = gather::Places::grid("index", &[0], smallvec::smallvec![value_index]).read(&values)?;
    let picked = rules::reshape(&picked, a.shape().clone())?;
    let aligned: Shape =
        mask.shape().iter().copied().chain(std::iter::repeat_n(1, tail_shape.ndim())).collect();
    let mask = rules::broadcast(&rules::reshape(mask, aligned)?, a.shape())?;
    let updated = super::choose(kind, a, &mask, &picked)?;
    // A single value goes to every place.
    if value_count == 1 { Ok(Some(updated)) } else { counted(&updated) }
}

/// The first of `values`, as many as `mask` has places in `a`: what MLX assigns where there are more.
pub(super) fn first_values(a: &Array, mask: &Array, values: &Array) -> Result<Array> {
    let trailing = a.ndim().saturating_sub(mask.ndim());
    let Some(axis) = values.ndim().checked_sub(trailing + 1) else { return Ok(values.clone()) };
    // One value goes to every place, however many there are.
    if values.shape()[axis] <= 1 {
        return Ok(values.clone());
    }
    let count = data_dependent::count_of("index", mask)?;
    if values.shape()[axis] <= count {
        return Ok(values.clone());
    }
    let mut window = Window::whole(values.shape());
    window.lengths.as_mut_slice()[axis] = count;
    slice(values, window)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ArraySpec;
    use crate::ops::indexing::{Index, get, update};
    use crate::primitives::leaf::Leaf;

    #[test]
    fn masks_without_a_value_can_choose_but_not_pick() {
        let tracing = crate::graph::tracing::enter();
        let mask =
            Array::placeholder(Leaf::Vmap, ArraySpec::new([3], DType::Bool), Some(tracing.trace_scope()));
        let a = Array::full(Shape::from([3]), 1.0, DType::Float32);
        let error = get(&a, &[Index::Mask(mask.clone())]).expect_err("the mask has no value");
        assert!(
            error.to_string().starts_with("[index] the number of elements")
                && error.to_string().contains("vmap"),
            "{error}"
        );
        for values in [Array::scalar(0.0, DType::Float32), Array::full(Shape::from([2]), 0.0, DType::Float32)]
        {
            let updated =
                update(ScatterKind::Set, &a, &[Index::Mask(mask.clone())], &values).expect("chooses");
            assert_eq!(updated.shape(), a.shape());
        }
    }
}
