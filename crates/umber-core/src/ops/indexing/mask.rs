//! Boolean masks become integer indices: the mask is evaluated where it stands.

use smallvec::SmallVec;
use umber_types::{BinaryKind, DType, Result, ScatterKind, Shape};

use super::Index;
use super::plan::axes_used;
use crate::graph::{Array, Inputs};
use crate::ops::dependent;
use crate::ops::index_grids::unravelled;
use crate::ops::scans::{ScanOrder, cumsum};
use crate::primitives::control::{Control, Surplus};
use crate::primitives::select::Select;
use crate::primitives::slice::{Window, slice};
use crate::primitives::{gather, rules};

/// Where a mask holds.
pub(super) struct Places {
    /// How often.
    pub(super) count: usize,
    /// Row-major places.
    pub(super) flat: Array,
}

/// The places where `mask` holds, in row-major order.
pub(super) fn places(mask: &Array) -> Result<Places> {
    let flat = dependent::places_of("index", mask)?;
    Ok(Places { count: flat.size(), flat })
}

impl Places {
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
pub(super) fn update_in_turn(
    kind: ScatterKind,
    a: &Array,
    mask: &Array,
    values: &Array,
    surplus: Surplus,
) -> Result<Option<Array>> {
    super::plan::check_mask(mask, a.shape(), 0)?;
    if dependent::has_value(mask)? {
        return Ok(None);
    }
    let under = Shape::from(&a.shape()[mask.ndim()..]);
    let room = values.shape()[values.ndim() - under.ndim() - 1];
    let rows: Shape = std::iter::once(room).chain(under.iter().copied()).collect();
    let values = super::fit(values, &rows)?;
    let flat = rules::reshape(mask, [mask.size()])?;
    let held = dependent::count_lazily(mask)?;
    let turn = cumsum(&rules::cast(&flat, DType::Int64)?, ScanOrder::along(0), None)?;
    let turn = rules::sub(&turn, &rules::constant(&turn, 1))?;
    let counted = |updated: &Array| {
        Array::record_one(Control::Counted { values: room as u64, surplus }, &[updated, &held]).map(Some)
    };
    if room == 0 {
        return counted(a);
    }
    let is_in_turn = if room == 1 { rules::zeros_like(&flat) } else { flat };
    let turn = Array::record_one(Select, &[&is_in_turn, &turn, &rules::zeros_like(&turn)])?;
    // Places without a value of their own read the last one; the check of their number follows.
    let turn = rules::binary(BinaryKind::Minimum, &turn, &rules::constant(&turn, room as i64 - 1))?;
    let picked = gather::Places::grid("index", &[0], smallvec::smallvec![turn]).read(&values)?;
    let picked = rules::reshape(&picked, a.shape().clone())?;
    let aligned: Shape = mask.shape().iter().copied().chain(std::iter::repeat_n(1, under.ndim())).collect();
    let mask = rules::broadcast(&rules::reshape(mask, aligned)?, a.shape())?;
    let updated = super::choose(kind, a, &mask, &picked)?;
    // A single value goes to every place.
    if room == 1 { Ok(Some(updated)) } else { counted(&updated) }
}

/// The first of `values`, as many as `mask` has places in `a`: what MLX assigns where there are more.
pub(super) fn first_values(a: &Array, mask: &Array, values: &Array) -> Result<Array> {
    let trailing = a.ndim().saturating_sub(mask.ndim());
    let Some(axis) = values.ndim().checked_sub(trailing + 1) else { return Ok(values.clone()) };
    // One value goes to every place, however many there are.
    if values.shape()[axis] <= 1 {
        return Ok(values.clone());
    }
    let count = dependent::count_of("index", mask)?;
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
        let mask = Array::placeholder(Leaf::Vmap, ArraySpec::new([3], DType::Bool), Some(tracing.follower()));
        let a = Array::full(Shape::from([3]), 1.0, DType::Float32);
        let error = get(&a, &[Index::Mask(mask.clone())]).expect_err("the mask has no value");
        assert!(
            error.to_string().starts_with("[index] a boolean mask") && error.to_string().contains("vmap"),
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
