//! Shaping functions against references that compute the source index of each element.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;

use common::{array, values};
use umber_core::graph::ArrayInternals;
use umber_core::ops::{
    MeshIndexing, MeshKind, PadMode, Split, as_strided, atleast, broadcast_arrays, broadcast_shapes,
    broadcast_to, concatenate, contiguous, diag, diagonal, expand_dims, flatten, flip, matrix_transpose,
    meshgrid, moveaxis, pad, repeat, reshape, roll, split, squeeze, stack, swapaxes, tile, trace, transpose,
    tril, triu, unflatten, unstack,
};
use umber_core::{Array, DType, Error, Result, Shape};
use umber_types::ErrorKind;

/// An array of this shape with the elements 0, 1, 2, …
fn numbers(shape: &[usize]) -> Array {
    let count = shape.iter().product::<usize>() as i32;
    array(&(0..count).collect::<Vec<i32>>(), shape)
}

/// The same array in column-major memory order.
fn transposed(shape: &[usize]) -> Array {
    let reversed: Vec<usize> = shape.iter().rev().copied().collect();
    let order: Vec<i64> = (0..shape.len() as i64).rev().collect();
    let a = transpose(
        &contiguous(&transpose(&numbers(shape), None).expect("transposes")).expect("copies"),
        Some(&order),
    );
    let a = a.expect("transposes");
    a.eval().expect("evaluates");
    assert_eq!(a.shape()[..], *shape, "{reversed:?}");
    a
}

/// An array whose element at an index is `element(index)`.
fn tabulate(shape: &[usize], element: impl Fn(&[usize]) -> i32) -> (Vec<usize>, Vec<i32>) {
    let mut index = vec![0; shape.len()];
    let mut elements = Vec::new();
    for flat in 0..shape.iter().product::<usize>() {
        let mut remainder = flat;
        for axis in (0..shape.len()).rev() {
            index[axis] = remainder % shape[axis];
            remainder /= shape[axis];
        }
        elements.push(element(&index));
    }
    (shape.to_vec(), elements)
}

fn actual(a: Result<Array>) -> (Vec<usize>, Vec<i32>) {
    let a = a.expect("valid arguments");
    (a.shape().to_vec(), values(&a))
}

fn flat_index(shape: &[usize], index: &[usize]) -> i32 {
    shape.iter().zip(index).fold(0, |flat, (length, i)| flat * length + i) as i32
}

fn rejected(result: Result<Array>, op: &str) -> Error {
    let error = result.expect_err("invalid arguments");
    assert!(error.to_string().starts_with(&format!("[{op}]")), "{error}");
    error
}

#[test]
fn reshape_keeps_the_order_of_elements() {
    for a in [numbers(&[2, 3, 4]), transposed(&[2, 3, 4])] {
        for shape in [&[24i64][..], &[4, -1], &[-1, 2, 1, 3], &[2, 3, 4]] {
            let b = reshape(&a, shape).expect("fits");
            assert_eq!(values::<i32>(&b), (0..24).collect::<Vec<i32>>());
            assert_eq!(b.ndim(), shape.len());
        }
        assert_eq!(flatten(&a, 0, -1).expect("flattens").shape()[..], [24]);
        assert_eq!(flatten(&a, 1, 9).expect("flattens").shape()[..], [2, 12]);
        assert_eq!(flatten(&a, -9, 1).expect("flattens").shape()[..], [6, 4]);
        assert_eq!(unflatten(&a, -1, [2, -1]).expect("unflattens").shape()[..], [2, 3, 2, 2]);
    }
    assert_eq!(reshape(&numbers(&[0, 3]), [-1, 2]).expect("fits").shape()[..], [0, 2]);
    assert_eq!(flatten(&numbers(&[]), 0, -1).expect("flattens").shape()[..], [1]);
    let a = numbers(&[2, 3]);
    for shape in [&[4i64][..], &[-1, -1], &[-1, 4], &[-2, 3], &[-1, 0]] {
        assert!(rejected(reshape(&a, shape), "reshape").kind() == ErrorKind::Value, "{shape:?}");
    }
    rejected(reshape(&numbers(&[0, 3]), [0, -1]), "reshape");
    rejected(flatten(&a, 1, 0), "flatten");
    rejected(unflatten(&a, 1, [2, 2]), "unflatten");
    rejected(unflatten(&a, 1, ()), "unflatten");
    rejected(unflatten(&a, 2, [3]), "unflatten");
}

#[test]
fn squeeze_and_expand_dims() {
    let a = numbers(&[1, 2, 1]);
    assert_eq!(squeeze(&a, None).expect("squeezes").shape()[..], [2]);
    assert_eq!(squeeze(&a, Some(&[-1])).expect("squeezes").shape()[..], [1, 2]);
    assert_eq!(squeeze(&a, Some(&[0, -1])).expect("squeezes").shape()[..], [2]);
    assert!(rejected(squeeze(&a, Some(&[1])), "squeeze").kind() == ErrorKind::Value);
    assert!(rejected(squeeze(&a, Some(&[0, 0])), "squeeze").kind() == ErrorKind::Value);
    assert!(rejected(squeeze(&a, Some(&[5])), "squeeze").kind() == ErrorKind::Axis);
    let b = numbers(&[2, 3]);
    assert_eq!(expand_dims(&b, &[0, -1]).expect("expands").shape()[..], [1, 2, 3, 1]);
    assert_eq!(expand_dims(&b, &[0, 2, -1]).expect("expands").shape()[..], [1, 2, 1, 3, 1]);
    assert!(rejected(expand_dims(&b, &[0, 0]), "expand_dims").kind() == ErrorKind::Value);
    assert!(rejected(expand_dims(&b, &[4]), "expand_dims").kind() == ErrorKind::Axis);
    for (shape, ndim, expected) in [
        (&[][..], 1, &[1][..]),
        (&[], 3, &[1, 1, 1]),
        (&[2], 2, &[1, 2]),
        (&[2], 3, &[1, 2, 1]),
        (&[2, 3], 3, &[2, 3, 1]),
        (&[2, 3], 1, &[2, 3]),
    ] {
        assert_eq!(atleast(&numbers(shape), ndim).expect("fits").shape()[..], *expected);
    }
}

#[test]
fn transpose_and_moveaxis() {
    let shape = [2, 3, 4];
    let a = numbers(&shape);
    let reordered = |order: [usize; 3]| {
        let lengths: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
        tabulate(&lengths, |index| {
            let mut source = [0; 3];
            (0..3).for_each(|i| source[order[i]] = index[i]);
            flat_index(&shape, &source)
        })
    };
    assert_eq!(actual(transpose(&a, None)), reordered([2, 1, 0]));
    assert_eq!(actual(transpose(&a, Some(&[0, -1, 1]))), reordered([0, 2, 1]));
    assert_eq!(actual(swapaxes(&a, 0, -1)), reordered([2, 1, 0]));
    assert_eq!(actual(moveaxis(&a, 0, -1)), reordered([1, 2, 0]));
    assert_eq!(actual(moveaxis(&a, 2, 0)), reordered([2, 0, 1]));
    assert_eq!(actual(matrix_transpose(&a)), reordered([0, 2, 1]));
    rejected(transpose(&a, Some(&[0, 1])), "transpose");
    rejected(transpose(&a, Some(&[0, 1, 1])), "transpose");
    rejected(swapaxes(&a, 0, 5), "swapaxes");
    rejected(moveaxis(&a, -4, 0), "moveaxis");
    rejected(matrix_transpose(&numbers(&[3])), "matrix_transpose");
}

#[test]
fn broadcasting() {
    let a = numbers(&[2, 1]);
    assert_eq!(actual(broadcast_to(&a, [3, 2, 2])), tabulate(&[3, 2, 2], |index| index[1] as i32));
    rejected(broadcast_to(&a, [2]), "broadcast_to");
    rejected(broadcast_to(&a, [-1, 2]), "broadcast_to");
    let both = broadcast_arrays(&[&a, &numbers(&[3])]).expect("broadcast");
    assert!(both.iter().all(|array| array.shape()[..] == [2, 3]));
    let shape = broadcast_shapes(&[Shape::from([2, 1]), Shape::from([3])]);
    assert_eq!(shape, Ok(Shape::from([2, 3])));
    assert_eq!(broadcast_shapes(&[]), Ok(Shape::from([])));
    assert!(broadcast_shapes(&[[2].into(), [3].into()]).is_err());
}

#[test]
fn concatenation_and_stacks() {
    let (a, b) = (numbers(&[2, 3]), transposed(&[2, 2]));
    let expected =
        tabulate(&[2, 5], |i| if i[1] < 3 { flat_index(&[2, 3], i) } else { (i[0] * 2 + i[1] - 3) as i32 });
    assert_eq!(actual(concatenate(&[&a, &b], Some(-1))), expected);
    assert_eq!(actual(concatenate(&[&b, &b], None)), (vec![8], vec![0, 1, 2, 3, 0, 1, 2, 3]));
    assert_eq!(actual(concatenate(&[&a, &numbers(&[0, 3])], Some(0))), actual(Ok(a.clone())));
    let floats = array(&[0.5f32], [1]);
    let mixed = concatenate(&[&numbers(&[1]), &floats], Some(0)).expect("promotes");
    assert_eq!(values::<f32>(&mixed), [0.0, 0.5]);
    assert_eq!(actual(stack(&[&b, &b], 1)), tabulate(&[2, 2, 2], |i| (i[0] * 2 + i[2]) as i32));
    assert_eq!(actual(stack(&[&b, &b], -1)), tabulate(&[2, 2, 2], |i| (i[0] * 2 + i[1]) as i32));
    rejected(concatenate(&[], Some(0)), "concatenate");
    rejected(concatenate(&[&a, &floats], Some(0)), "concatenate");
    rejected(concatenate(&[&a, &numbers(&[2, 4])], Some(0)), "concatenate");
    rejected(concatenate(&[&numbers(&[])], Some(0)), "concatenate");
    rejected(concatenate(&[&a], Some(2)), "concatenate");
    rejected(stack(&[], 0), "stack");
    rejected(stack(&[&a, &b], 0), "stack");
    rejected(stack(&[&a], 3), "stack");
}

#[test]
fn splits_concatenate_to_the_original() {
    let a = transposed(&[2, 6]);
    for at in [Split::Sections(3), Split::Indices(&[1, 4]), Split::Indices(&[]), Split::Indices(&[-2])] {
        let sections = split(&a, at, 1).expect("splits");
        assert_eq!(actual(concatenate(&sections.iter().collect::<Vec<_>>(), Some(1))), actual(Ok(a.clone())));
    }
    let lengths = |indices: &[i64]| -> Vec<usize> {
        let sections = split(&a, Split::Indices(indices), 1).expect("splits");
        sections.iter().map(|section| section.shape()[1]).collect()
    };
    assert_eq!(lengths(&[1, 50]), [1, 5, 0]);
    assert_eq!(lengths(&[4, 1]), [4, 0, 5]);
    let sections = split(&a, Split::Indices(&[4, 1]), 1).expect("splits");
    assert_eq!(values::<i32>(&sections[2])[0], 1);
    assert!(split(&a, Split::Sections(4), 1).is_err() && split(&a, Split::Sections(0), 1).is_err());
    assert!(matches!(split(&a, Split::Sections(1), 7), Err(error) if error.kind() == ErrorKind::Axis));
    let rows = unstack(&a, 0).expect("splits");
    assert_eq!((rows.len(), values::<i32>(&rows[1])), (2, vec![6, 7, 8, 9, 10, 11]));
    assert_eq!(unstack(&numbers(&[0, 2]), 0).expect("splits").len(), 0);
}

#[test]
fn tile_and_repeat() {
    let a = numbers(&[2, 3]);
    let tiled = |shape: &[usize]| {
        tabulate(shape, |i| flat_index(&[2, 3], &[i[shape.len() - 2] % 2, i[shape.len() - 1] % 3]))
    };
    assert_eq!(actual(tile(&a, &[2])), tiled(&[2, 6]));
    assert_eq!(actual(tile(&a, &[2, 3, 1])), tiled(&[2, 6, 3]));
    assert_eq!(actual(tile(&a, &[])), tiled(&[2, 3]));
    assert_eq!(actual(tile(&a, &[0, 1])), (vec![0, 3], vec![]));
    assert_eq!(actual(tile(&numbers(&[]), &[3])), (vec![3], vec![0, 0, 0]));
    rejected(tile(&a, &[-1, 1]), "tile");
    rejected(tile(&a, &[i64::MAX]), "tile");
    assert_eq!(actual(repeat(&a, 2, Some(0))), tabulate(&[4, 3], |i| flat_index(&[2, 3], &[i[0] / 2, i[1]])));
    assert_eq!(
        actual(repeat(&a, 2, Some(-1))),
        tabulate(&[2, 6], |i| flat_index(&[2, 3], &[i[0], i[1] / 2]))
    );
    assert_eq!(actual(repeat(&a, 2, None)), tabulate(&[12], |i| (i[0] / 2) as i32));
    assert_eq!(actual(repeat(&a, 0, Some(0))), (vec![0, 3], vec![]));
    rejected(repeat(&a, -1, None), "repeat");
    rejected(repeat(&a, i64::MAX, None), "repeat");
}

#[test]
fn pad_modes() {
    let a = transposed(&[2, 3]);
    let nine = Array::scalar(9.7, DType::Float32);
    let inside = |i: &[usize], low: [usize; 2]| {
        let (row, column) = (i[0].wrapping_sub(low[0]), i[1].wrapping_sub(low[1]));
        if row < 2 && column < 3 { flat_index(&[2, 3], &[row, column]) } else { 9 }
    };
    let constant = |widths: &[(i64, i64)]| actual(pad(&a, widths, PadMode::Constant, &nine));
    assert_eq!(constant(&[(1, 2)]), tabulate(&[5, 6], |i| inside(i, [1, 1])));
    assert_eq!(constant(&[(1, 0), (0, 1)]), tabulate(&[3, 4], |i| inside(i, [1, 0])));
    assert_eq!(constant(&[(0, 0)]), actual(Ok(a.clone())));
    // Padding wider than the axis reflects repeatedly.
    let rows = |mode, low: i64, high: i64| {
        let padded = pad(&numbers(&[3]), &[(low, high)], mode, &nine).expect("pads");
        values::<i32>(&padded)
    };
    assert_eq!(rows(PadMode::Edge, 2, 1), [0, 0, 0, 1, 2, 2]);
    assert_eq!(rows(PadMode::Reflect, 5, 4), [1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2]);
    assert_eq!(rows(PadMode::Symmetric, 5, 4), [1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0]);
    for mode in [PadMode::Edge, PadMode::Reflect, PadMode::Symmetric] {
        let one = pad(&numbers(&[1]), &[(2, 1)], mode, &nine);
        assert_eq!(actual(one), (vec![4], vec![0; 4]));
        rejected(pad(&numbers(&[0, 3]), &[(1, 1)], mode, &nine), "pad");
        let empty = pad(&numbers(&[0, 3]), &[(0, 0), (1, 1)], mode, &nine);
        assert_eq!(actual(empty), (vec![0, 5], vec![]));
        let both = actual(pad(&a, &[(1, 2)], mode, &nine));
        let column = |i: usize| values::<i32>(&pad(&numbers(&[3]), &[(1, 2)], mode, &nine).expect("pads"))[i];
        let row = |i: usize| values::<i32>(&pad(&numbers(&[2]), &[(1, 2)], mode, &nine).expect("pads"))[i];
        assert_eq!(both, tabulate(&[5, 6], |i| row(i[0]) * 3 + column(i[1])));
    }
    rejected(pad(&a, &[(-1, 0)], PadMode::Edge, &nine), "pad");
    rejected(pad(&a, &[(1, 1); 3], PadMode::Edge, &nine), "pad");
    rejected(pad(&a, &[(i64::MAX, i64::MAX)], PadMode::Edge, &nine), "pad");
}

#[test]
fn flips_and_rolls() {
    let a = transposed(&[2, 3]);
    assert_eq!(actual(flip(&a, None)), tabulate(&[2, 3], |i| 5 - flat_index(&[2, 3], i)));
    assert_eq!(actual(flip(&a, Some(&[0]))), tabulate(&[2, 3], |i| flat_index(&[2, 3], &[1 - i[0], i[1]])));
    assert_eq!(actual(flip(&numbers(&[]), None)), (vec![], vec![0]));
    assert_eq!(actual(flip(&numbers(&[0, 2]), None)), (vec![0, 2], vec![]));
    rejected(flip(&a, Some(&[2])), "flip");
    rejected(flip(&a, Some(&[0, 0])), "flip");
    let rolled = |rows: usize, columns: usize| {
        tabulate(&[2, 3], |i| flat_index(&[2, 3], &[(i[0] + 2 - rows) % 2, (i[1] + 3 - columns) % 3]))
    };
    assert_eq!(actual(roll(&a, &[1], None)), (vec![2, 3], vec![5, 0, 1, 2, 3, 4]));
    assert_eq!(actual(roll(&a, &[1, 2], None)), (vec![2, 3], vec![3, 4, 5, 0, 1, 2]));
    assert_eq!(actual(roll(&a, &[1], Some(&[0]))), rolled(1, 0));
    assert_eq!(actual(roll(&a, &[7], Some(&[-1]))), rolled(0, 1));
    assert_eq!(actual(roll(&a, &[-1], Some(&[-1]))), rolled(0, 2));
    assert_eq!(actual(roll(&a, &[1, 1], Some(&[0, 1]))), rolled(1, 1));
    assert_eq!(actual(roll(&a, &[1], Some(&[0, 1]))), rolled(1, 1));
    assert_eq!(actual(roll(&a, &[1, 2], Some(&[0]))), rolled(1, 0));
    assert_eq!(actual(roll(&numbers(&[0, 2]), &[1], Some(&[0]))), (vec![0, 2], vec![]));
    rejected(roll(&a, &[1, 2], Some(&[0, 1, 1])), "roll");
}

#[test]
fn meshgrids() {
    let (x, y) = (numbers(&[2]), numbers(&[3]));
    let grids = |kind, indexing| -> Vec<(Vec<usize>, Vec<i32>)> {
        meshgrid(&[&x, &y], kind, indexing)
            .expect("vectors")
            .into_iter()
            .map(|grid| actual(Ok(grid)))
            .collect()
    };
    let by = |shape: &[usize], axis: usize| tabulate(shape, |i| i[axis] as i32);
    assert_eq!(grids(MeshKind::Full, MeshIndexing::Xy), [by(&[3, 2], 1), by(&[3, 2], 0)]);
    assert_eq!(grids(MeshKind::Full, MeshIndexing::Ij), [by(&[2, 3], 0), by(&[2, 3], 1)]);
    assert_eq!(grids(MeshKind::Sparse, MeshIndexing::Xy), [by(&[1, 2], 1), by(&[3, 1], 0)]);
    assert!(meshgrid(&[], MeshKind::Full, MeshIndexing::Xy).expect("nothing").is_empty());
    let one = meshgrid(&[&x], MeshKind::Full, MeshIndexing::Xy).expect("one vector");
    assert_eq!(one[0].shape()[..], [2]);
    let flat = meshgrid(&[&numbers(&[2, 2])], MeshKind::Full, MeshIndexing::Xy).expect("a matrix");
    assert_eq!(actual(Ok(flat[0].clone())), (vec![4], vec![0, 1, 2, 3]));
}

#[test]
fn diagonals_and_triangles() {
    let shape = [2, 3, 4];
    for a in [numbers(&shape), transposed(&shape)] {
        for offset in -4..5i64 {
            let (first_row, first_column) = ((-offset).max(0) as usize, offset.max(0) as usize);
            let length = 2usize.saturating_sub(first_row).min(4usize.saturating_sub(first_column));
            let expected = tabulate(&[3, length], |i| {
                flat_index(&shape, &[first_row + i[1], i[0], first_column + i[1]])
            });
            assert_eq!(actual(diagonal(&a, offset, 0, 2)), expected);
            assert_eq!(actual(diagonal(&a, -offset, -1, 0)), expected);
            let lower =
                tabulate(
                    &shape,
                    |i| if i[2] as i64 <= i[1] as i64 + offset { flat_index(&shape, i) } else { 0 },
                );
            assert_eq!(actual(tril(&a, offset)), lower);
            let upper =
                tabulate(
                    &shape,
                    |i| if i[2] as i64 >= i[1] as i64 + offset { flat_index(&shape, i) } else { 0 },
                );
            assert_eq!(actual(triu(&a, offset)), upper);
        }
    }
    assert_eq!(actual(trace(&numbers(&[2, 3]), 1, 0, 1, None)), (vec![], vec![6]));
    assert_eq!(actual(trace(&transposed(&shape), 0, 0, 2, None)), (vec![3], vec![13, 21, 29]));
    let bytes = umber_core::ops::astype(&numbers(&[2, 3]), DType::UInt8).expect("casts");
    assert_eq!(trace(&bytes, 0, 0, 1, None).expect("a matrix").dtype(), DType::UInt32);
    assert_eq!(trace(&bytes, 0, 0, 1, Some(DType::UInt8)).expect("a matrix").dtype(), DType::UInt8);
    let vector = numbers(&[3]);
    for k in -2..3i64 {
        let side = 3 + k.unsigned_abs() as usize;
        let matrix = diag(&vector, k).expect("a vector");
        let expected =
            tabulate(
                &[side, side],
                |i| {
                    if i[1] as i64 - i[0] as i64 == k { i[0].min(i[1]) as i32 } else { 0 }
                },
            );
        assert_eq!(actual(Ok(matrix.clone())), expected);
        assert_eq!(actual(diag(&matrix, k)), actual(Ok(vector.clone())));
    }
    assert_eq!(actual(diag(&numbers(&[0]), 1)), (vec![1, 1], vec![0]));
    rejected(diagonal(&numbers(&[3]), 0, 0, 1), "diagonal");
    rejected(diagonal(&numbers(&shape), 0, 1, -2), "diagonal");
    rejected(diag(&numbers(&shape), 0), "diag");
    rejected(diag(&vector, i64::MAX), "diag");
    rejected(tril(&vector, 0), "tril");
    rejected(triu(&vector, i64::MIN), "triu");
}

#[test]
fn overlapping_windows() {
    let a = transposed(&[2, 3]);
    assert_eq!(actual(as_strided(&a, Some(&[2, 2]), Some(&[1, 1]), 1)), (vec![2, 2], vec![1, 2, 2, 3]));
    assert_eq!(actual(as_strided(&a, Some(&[3]), Some(&[-2]), 5)), (vec![3], vec![5, 3, 1]));
    assert_eq!(actual(as_strided(&a, None, None, 0)), actual(Ok(a.clone())));
    assert_eq!(actual(as_strided(&a, Some(&[0, 2]), Some(&[1, 1]), 0)), (vec![0, 2], vec![]));
    rejected(as_strided(&a, Some(&[2]), Some(&[100]), 0), "as_strided");
    rejected(as_strided(&a, Some(&[2]), Some(&[-1]), 0), "as_strided");
    rejected(as_strided(&a, Some(&[2]), None, 5), "as_strided");
    rejected(as_strided(&a, Some(&[2]), Some(&[1, 1]), 0), "as_strided");
}

#[test]
fn contiguous_arrays_are_dense() {
    let a = contiguous(&transposed(&[2, 3, 2])).expect("copies");
    a.eval().expect("evaluates");
    assert!(a.storage().expect("evaluated").layout().is_contiguous());
    assert!(contiguous(&a).expect("copies").is_same(&a));
}
