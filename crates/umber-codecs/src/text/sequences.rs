//! Padded sequences along an axis, without repetitions or without a value.

use super::TextError;

/// Sequences of the shape they were made from, shortened and padded, and their lengths.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequences<T> {
    /// The elements in row-major order.
    pub elements: Vec<T>,
    /// The number of elements of each sequence that count, in row-major order of the other axes.
    pub lengths: Vec<i64>,
}

/// Leave out elements that equal the one before, as the collapse of connectionist temporal classification does.
///
/// `elements` has `shape` in row-major order, and `lengths` one length for each sequence along `axis`.
pub fn uniq<T: Copy + PartialEq>(
    elements: &[T],
    shape: &[usize],
    axis: usize,
    lengths: &[i64],
    pad: T,
) -> Result<Sequences<T>, TextError> {
    shorten(elements, shape, axis, lengths, pad, |last, element| last != Some(element))
}

/// Leave out elements that equal `value`.
///
/// The arguments are those of [`uniq`].
pub fn remove<T: Copy + PartialEq>(
    elements: &[T],
    shape: &[usize],
    axis: usize,
    lengths: &[i64],
    value: T,
    pad: T,
) -> Result<Sequences<T>, TextError> {
    shorten(elements, shape, axis, lengths, pad, |_, element| element != value)
}

/// Keep the elements for which `keeps` holds, given the element before.
fn shorten<T: Copy + PartialEq>(
    elements: &[T],
    shape: &[usize],
    axis: usize,
    lengths: &[i64],
    pad: T,
    keeps: impl Fn(Option<T>, T) -> bool,
) -> Result<Sequences<T>, TextError> {
    let Some(&size) = shape.get(axis) else {
        return Err(TextError::Axis { axis, ndim: shape.len() });
    };
    let product = |dims: &[usize]| dims.iter().fold(1usize, |product, dim| product.saturating_mul(*dim));
    let (outer, inner) = (product(&shape[..axis]), product(&shape[axis + 1..]));
    if elements.len() != product(shape) {
        return Err(TextError::Size { argument: "elements", got: elements.len(), expected: product(shape) });
    }
    if lengths.len() != outer.saturating_mul(inner) {
        let expected = outer.saturating_mul(inner);
        return Err(TextError::Size { argument: "lengths", got: lengths.len(), expected });
    }
    let mut result =
        Sequences { elements: vec![pad; elements.len()], lengths: Vec::with_capacity(lengths.len()) };
    for (row, &length) in lengths.iter().enumerate() {
        let count = usize::try_from(length).ok().filter(|count| *count <= size);
        let count = count.ok_or(TextError::Length { argument: "lengths", row, length, size })?;
        let first = row / inner * size * inner + row % inner;
        let (mut last, mut kept) = (None, 0);
        for index in 0..count {
            let element = elements[first + index * inner];
            if keeps(last, element) {
                result.elements[first + kept * inner] = element;
                kept += 1;
            }
            last = Some(element);
        }
        result.lengths.push(kept as i64);
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn repetitions_are_left_out() {
        let Sequences { elements, lengths } =
            uniq(&[1, 1, 2, 2, 1, 3, 3, 3, 3, 3], &[2, 5], 1, &[5, 2], -1).unwrap();
        assert_eq!(elements, [1, 2, 1, -1, -1, 3, -1, -1, -1, -1]);
        assert_eq!(lengths, [3, 1]);
        assert_eq!(uniq(&[1.0, f64::NAN, f64::NAN], &[3], 0, &[3], 0.0).unwrap().lengths, [3]);
        assert_eq!(uniq(&[0u8; 0], &[0, 3], 0, &[0; 3], 0).unwrap().lengths, [0; 3]);
        assert_eq!(uniq(&[0u8; 0], &[3, 0], 0, &[], 0).unwrap().lengths, [] as [i64; 0]);
    }

    #[test]
    fn a_value_is_left_out() {
        let removed = remove(&[0, 1, 0, 2, 0], &[5], 0, &[4], 0, 9).unwrap();
        assert_eq!(removed, Sequences { elements: vec![1, 2, 9, 9, 9], lengths: vec![2] });
    }

    #[test]
    fn arguments_must_fit_together() {
        let fails = |shape: &[usize], axis, lengths: &[i64]| {
            uniq(&[1, 2, 3, 4, 5, 6], shape, axis, lengths, 0).unwrap_err().to_string()
        };
        assert_eq!(fails(&[2, 3], 2, &[1, 1]), "axis 2 is out of bounds for an array of dimension 2");
        assert_eq!(fails(&[2, 4], 1, &[1, 1]), "elements has 6 elements, expected 8");
        assert_eq!(fails(&[2, 3], 1, &[1]), "lengths has 1 elements, expected 2");
        assert_eq!(fails(&[2, 3], 1, &[3, 4]), "lengths[1] is 4; a row has 3 elements");
        assert_eq!(fails(&[2, 3], 1, &[-1, 0]), "lengths[0] is -1; a row has 3 elements");
        assert_eq!(
            fails(&[usize::MAX, usize::MAX], 0, &[1]),
            format!("elements has 6 elements, expected {}", usize::MAX)
        );
    }

    proptest! {
        #[test]
        fn every_axis_is_shortened_like_a_list(
            shape in prop::collection::vec(1usize..4, 1..4),
            pick in any::<prop::sample::Index>(),
            bytes in prop::collection::vec(0u8..3, 27),
            limits in prop::collection::vec(any::<prop::sample::Index>(), 27),
        ) {
            let axis = pick.index(shape.len());
            let total: usize = shape.iter().product();
            let elements = &bytes[..total];
            let rows = total / shape[axis];
            let lengths: Vec<i64> = limits[..rows].iter().map(|limit| limit.index(shape[axis] + 1) as i64).collect();
            let found = uniq(elements, &shape, axis, &lengths, 7).unwrap();
            let without = remove(elements, &shape, axis, &lengths, 1, 7).unwrap();
            let inner: usize = shape[axis + 1..].iter().product();
            let row_of = |elements: &[u8], row: usize| -> Vec<u8> {
                let first = row / inner * inner * shape[axis] + row % inner;
                (0..shape[axis]).map(|index| elements[first + index * inner]).collect()
            };
            for (row, length) in lengths.iter().enumerate() {
                let valid = row_of(elements, row)[..*length as usize].to_vec();
                let mut unique = valid.clone();
                unique.dedup();
                let kept: Vec<u8> = valid.into_iter().filter(|element| *element != 1).collect();
                for (sequences, mut expected) in [(&found, unique), (&without, kept)] {
                    prop_assert_eq!(sequences.lengths[row], expected.len() as i64);
                    expected.resize(shape[axis], 7);
                    prop_assert_eq!(row_of(&sequences.elements, row), expected);
                }
            }
        }
    }
}
