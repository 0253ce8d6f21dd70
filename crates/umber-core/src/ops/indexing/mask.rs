//! Conversion of boolean masks to integer indices. Masks are evaluated eagerly.

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

/// The true elements of a mask.
pub(super) struct MaskIndices {
    /// The number of true elements.
    pub(super) count: usize,
    /// Their row-major indices.
    pub(super) flat: Array,
}

/// The true elements of `mask`, in row-major order.
pub(super) fn mask_indices(mask: &Array) -> Result<MaskIndices> {
    let flat = data_dependent::places_of("index", mask)?;
    Ok(MaskIndices { count: flat.size(), flat })
}

impl MaskIndices {
    /// One index array for each axis of the mask.
    pub(super) fn indices(&self, mask: &Array) -> Result<Inputs> {
        unravelled(&self.flat, mask.shape())
    }
}

/// Replace masks without elements by all-false masks of the shape of their axes: in NumPy and the array API standard a mask may
/// have length 0 along an axis where the array does not. `None` if there are no such masks.
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
            && mask
                .shape()
                .iter()
                .zip(axes)
                .all(|(&length, &axis_length)| length == 0 || length == axis_length)
        {
            let all_false = Array::full(Shape::from(axes), false, DType::Bool);
            filled.get_or_insert_with(|| SmallVec::from(index))[i] = Index::Mask(all_false);
        }
        let is_ellipsis = matches!(entry, Index::Ellipsis);
        axis += if is_ellipsis { shape.ndim().saturating_sub(used) } else { axes_used(entry) };
    }
    filled
}

/// Update `a` where a mask of its first axes is true, without the mask's values, which a transformation hides: the `i`-th true
/// element receives `values[i]`. Evaluation compares the numbers of true elements and values. `None` if the mask has values, so
/// that faster updates are possible.
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
    let mask_count = data_dependent::count_lazily(mask)?;
    let value_index = cumsum(&rules::cast(&flat, DType::Int64)?, ScanOrder::along(0), None)?;
    let value_index = rules::sub(&value_index, &rules::constant(&value_index, 1))?;
    let with_count_check = |updated: &Array| {
        Array::record_one(Control::Counted { values: value_count as u64, surplus }, &[updated, &mask_count])
            .map(Some)
    };
    if value_count == 0 {
        return with_count_check(a);
    }
    let is_masked = if value_count == 1 { rules::zeros_like(&flat) } else { flat };
    let value_index =
        Array::record_one(Select, &[&is_masked, &value_index, &rules::zeros_like(&value_index)])?;
    // Elements without a value read the last one; the check of the count follows.
    let value_index = rules::binary(
        BinaryKind::Minimum,
        &value_index,
        &rules::constant(&value_index, value_count as i64 - 1),
    )?;
    let gathered = gather::Places::grid("index", &[0], smallvec::smallvec![value_index]).read(&values)?;
    let gathered = rules::reshape(&gathered, a.shape().clone())?;
    let aligned: Shape =
        mask.shape().iter().copied().chain(std::iter::repeat_n(1, tail_shape.ndim())).collect();
    let mask = rules::broadcast(&rules::reshape(mask, aligned)?, a.shape())?;
    let updated = super::choose(kind, a, &mask, &gathered)?;
    // A single value is assigned to every true element.
    if value_count == 1 { Ok(Some(updated)) } else { with_count_check(&updated) }
}

/// The first of `values`, one for each true element of `mask`: MLX ignores surplus values.
pub(super) fn first_values(a: &Array, mask: &Array, values: &Array) -> Result<Array> {
    let trailing = a.ndim().saturating_sub(mask.ndim());
    let Some(axis) = values.ndim().checked_sub(trailing + 1) else { return Ok(values.clone()) };
    // A single value is assigned to every true element.
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
    fn traced_masks_can_update_but_not_select() {
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
            let updated = update(ScatterKind::Set, &a, &[Index::Mask(mask.clone())], &values)
                .expect("an update needs no values of the mask");
            assert_eq!(updated.shape(), a.shape());
        }
    }
}
