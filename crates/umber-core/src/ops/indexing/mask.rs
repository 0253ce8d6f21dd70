//! Boolean masks become integer indices: the mask is evaluated where it stands.

use umber_types::{Bool, Error, Result};

use crate::graph::{Array, Inputs};

/// Where a mask holds.
pub(super) struct Nonzero {
    /// How often.
    pub(super) count: usize,
    /// An index array an axis.
    pub(super) indices: Inputs,
}

/// The places where `mask` holds, in row-major order.
pub(super) fn nonzero(mask: &Array) -> Result<Nonzero> {
    let elements = mask.to_vec::<Bool>().map_err(explain)?;
    let shape = mask.shape();
    let flat: Vec<usize> =
        elements.iter().enumerate().filter(|(_, held)| held.get()).map(|(i, _)| i).collect();
    let mut indices = Inputs::new();
    let mut step = elements.len();
    for &length in shape.iter() {
        // Some element holds only where no length is zero, so `step` never reaches zero before it is used.
        step = step.checked_div(length).unwrap_or(0);
        let along: Vec<i64> = flat.iter().map(|&place| (place / step % length) as i64).collect();
        indices.push(Array::from_slice(&along, [along.len()])?);
    }
    Ok(Nonzero { count: flat.len(), indices })
}

/// Say what to do instead where a mask has no value yet.
fn explain(error: Error) -> Error {
    match error {
        Error::Value(text) if text.starts_with("[eval] this array has no value") => Error::Value(format!(
            "[index] a boolean mask picks a number of elements that depends on its values, and inside vmap or \
             compile it has none; use mx.where. ({text})"
        )),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ArraySpec;
    use crate::ops::indexing::{Index, get, update};
    use crate::primitives::leaf::Leaf;
    use umber_types::{DType, ScatterKind, Shape};

    #[test]
    fn masks_without_a_value_can_choose_but_not_pick() {
        let mask = Array::placeholder(Leaf::Vmap, ArraySpec::new([3], DType::Bool));
        let a = Array::full(Shape::from([3]), 1.0, DType::Float32);
        let error = get(&a, &[Index::Mask(mask.clone())]).expect_err("the mask has no value");
        assert!(
            error.message().starts_with("[index] a boolean mask") && error.message().contains("vmap"),
            "{error}"
        );
        let zero = Array::scalar(0.0, DType::Float32);
        assert_eq!(
            update(ScatterKind::Set, &a, &[Index::Mask(mask)], &zero).expect("chooses").shape(),
            a.shape()
        );
    }
}
