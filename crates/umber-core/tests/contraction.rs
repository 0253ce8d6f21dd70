//! Matrix products and einsum: values against naive loops, rules against numerical derivatives.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;
#[path = "common/rules.rs"]
mod rules;

use common::{array, values};
use rules::{check_jvp, check_vjp, check_vmap, sample_values};
use umber_core::graph::ArrayInternals;
use umber_core::primitives::matmul::MatMul;
use umber_core::{Array, DType, Shape, ops};
use umber_types::{Bool, Complex32, ErrorKind};

/// `[m, k] @ [k, n]` by the definition.
fn naive(a: &[f64], b: &[f64], [m, k, n]: [usize; 3]) -> Vec<f64> {
    let mut out = vec![0.0; m * n];
    for i in 0..m {
        for j in 0..n {
            out[i * n + j] = (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
        }
    }
    out
}

fn assert_close(actual: &[f64], expected: &[f64]) {
    assert_eq!(actual.len(), expected.len());
    for (a, e) in actual.iter().zip(expected) {
        assert!((a - e).abs() <= 1e-9 * (1.0 + e.abs()), "{actual:?} is not {expected:?}");
    }
}

#[test]
fn matmul_matches_naive_products() {
    for [m, k, n] in [[1, 1, 1], [3, 4, 5], [7, 1, 2], [33, 65, 17], [2, 0, 3], [0, 3, 2]] {
        let (a, b) = (sample_values([m, k], 1.0), sample_values([k, n], 2.0));
        let c = ops::matmul(&a, &b).unwrap();
        assert_eq!(*c.shape(), Shape::from([m, n]));
        assert_close(&values(&c), &naive(&values(&a), &values(&b), [m, k, n]));
    }
}

#[test]
fn batch_axes_broadcast() {
    let (a, b) = (sample_values([2, 1, 3, 4], 1.0), sample_values([5, 4, 2], 1.0));
    let c = ops::matmul(&a, &b).unwrap();
    assert_eq!(*c.shape(), Shape::from([2, 5, 3, 2]));
    let (a, b, c) = (values::<f64>(&a), values::<f64>(&b), values::<f64>(&c));
    for i in 0..2 {
        for j in 0..5 {
            let expected = naive(&a[i * 12..][..12], &b[j * 8..][..8], [3, 4, 2]);
            assert_close(&c[(i * 5 + j) * 6..][..6], &expected);
        }
    }
}

#[test]
fn a_right_matrix_broadcasts_over_a_stack() {
    let (a, b) = (sample_values([2, 3, 4], 1.0), sample_values([4, 2], 1.0));
    let c = ops::matmul(&a, &b).unwrap();
    assert_eq!(*c.shape(), Shape::from([2, 3, 2]));
    assert_close(&values(&c), &naive(&values(&a), &values(&b), [6, 4, 2]));
}

#[test]
fn vector_operands_drop_their_axis() {
    let (v, m) = (sample_values([4], 1.0), sample_values([4, 3], 1.0));
    assert_eq!(*ops::matmul(&v, &v).unwrap().shape(), Shape::scalar());
    assert_eq!(*ops::matmul(&v, &m).unwrap().shape(), Shape::from([3]));
    assert_eq!(*ops::matmul(&sample_values([2, 3, 4], 1.0), &v).unwrap().shape(), Shape::from([2, 3]));
    assert_eq!(*ops::matmul(&v, &sample_values([2, 4, 3], 1.0)).unwrap().shape(), Shape::from([2, 3]));
    let expected = naive(&values(&v), &values(&m), [1, 4, 3]);
    assert_close(&values(&ops::matmul(&v, &m).unwrap()), &expected);
}

#[test]
fn integer_bool_and_complex_products() {
    let a = array(&[1i32, 2, 3, 4], [2, 2]);
    let b = array(&[5u8, 6, 7, 8], [2, 2]);
    let c = ops::matmul(&a, &b).unwrap();
    assert_eq!(c.dtype(), DType::Int32);
    assert_eq!(values::<i32>(&c), [19, 22, 43, 50]);

    let t = array(&[Bool(1), Bool(0), Bool(1), Bool(1)], [2, 2]);
    let c = ops::matmul(&t, &t).unwrap();
    assert_eq!(values::<Bool>(&c), [Bool(1), Bool(0), Bool(1), Bool(1)]);

    let z = array(&[Complex32::new(1.0, 2.0), Complex32::new(0.0, -1.0)], [2]);
    assert_eq!(values::<Complex32>(&ops::matmul(&z, &z).unwrap()), [Complex32::new(-4.0, 4.0)]);
    // The left operand of vecdot is conjugated.
    assert_eq!(values::<Complex32>(&ops::vecdot(&z, &z, -1).unwrap()), [Complex32::new(6.0, 0.0)]);
}

#[test]
fn errors_name_the_shapes_of_both_operands() {
    let error = ops::matmul(&sample_values([2, 3], 1.0), &sample_values([2, 3], 1.0)).unwrap_err();
    assert!(error.kind() == ErrorKind::Value);
    assert!(
        error.to_string().starts_with("[matmul]") && error.to_string().contains("(2, 3) @ (2, 3)"),
        "{error}"
    );
    let error = ops::matmul(&sample_values([2, 3, 4], 1.0), &sample_values([3, 4, 5], 1.0)).unwrap_err();
    assert!(error.to_string().contains("(2, 3, 4) and (3, 4, 5)"), "{error}");
    assert!(ops::matmul(&sample_values(Shape::scalar(), 1.0), &sample_values([1], 1.0)).is_err());
    assert!(
        ops::addmm(
            &sample_values([3], 1.0),
            &sample_values([2, 2], 1.0),
            &sample_values([2, 2], 1.0),
            1.0,
            1.0
        )
        .is_err()
    );
    assert!(ops::tensordot(&sample_values([2, 3], 1.0), &sample_values([2, 3], 1.0), &[0], &[1]).is_err());
    assert!(
        ops::tensordot(&sample_values([2, 3], 1.0), &sample_values([2, 3], 1.0), &[0, 0], &[0, 1]).is_err()
    );
    assert!(ops::tensordot_count(&sample_values([2], 1.0), &sample_values([2], 1.0), 2).is_err());
    assert!(ops::vecdot(&sample_values([2], 1.0), &sample_values([3], 1.0), -1).is_err());
}

#[test]
fn addmm_scales_and_adds() {
    let (a, b, c) = (sample_values([2, 3], 1.0), sample_values([3, 2], 1.0), sample_values([2], 1.0));
    let actual: Vec<f64> = values(&ops::addmm(&c, &a, &b, 0.5, -2.0).unwrap());
    let product = naive(&values(&a), &values(&b), [2, 3, 2]);
    let c = values::<f64>(&c);
    let expected: Vec<f64> = product.iter().enumerate().map(|(i, p)| 0.5 * p - 2.0 * c[i % 2]).collect();
    assert_close(&actual, &expected);
}

#[test]
fn tensordot_inner_outer_and_kron() {
    let (a, b) = (sample_values([2, 3, 4], 1.0), sample_values([4, 3, 5], 1.0));
    let actual = ops::tensordot(&a, &b, &[1, -1], &[1, 0]).unwrap();
    assert_eq!(*actual.shape(), Shape::from([2, 5]));
    let (x, y) = (values::<f64>(&a), values::<f64>(&b));
    let sum = |i: usize, j: usize| -> f64 {
        (0..12).map(|k| x[i * 12 + k] * y[(k % 4) * 15 + (k / 4) * 5 + j]).sum()
    };
    let expected: Vec<f64> = (0..10).map(|flat| sum(flat / 5, flat % 5)).collect();
    assert_close(&values(&actual), &expected);

    assert_eq!(*ops::tensordot_count(&a, &b, 1).unwrap().shape(), Shape::from([2, 3, 3, 5]));
    assert_eq!(*ops::tensordot_count(&a, &b, 0).unwrap().shape(), Shape::from([2, 3, 4, 4, 3, 5]));
    let (v, w) = (array(&[1i32, 2], [2]), array(&[3i32, 4], [2]));
    assert_eq!(values::<i32>(&ops::inner(&v, &w).unwrap()), [11]);
    assert_eq!(values::<i32>(&ops::outer(&v, &w).unwrap()), [3, 4, 6, 8]);
    assert_eq!(values::<i32>(&ops::kron(&v, &array(&[1i32, 10], [1, 2])).unwrap()), [1, 10, 2, 20]);
    let scalar = array(&[2i32], Shape::scalar());
    assert_eq!(values::<i32>(&ops::inner(&scalar, &w).unwrap()), [6, 8]);
}

#[test]
fn products_of_transposed_views() {
    let a = sample_values([4, 3], 1.0);
    let transposed = Array::record_one(
        umber_core::primitives::transpose::Transpose { permutation: Shape::from([1, 0]) },
        &[&a],
    )
    .unwrap();
    let actual: Vec<f64> = values(&ops::matmul(&transposed, &a).unwrap());
    let x = values::<f64>(&a);
    let expected: Vec<f64> =
        (0..9).map(|flat| (0..4).map(|k| x[k * 3 + flat / 3] * x[k * 3 + flat % 3]).sum()).collect();
    assert_close(&actual, &expected);
}

#[test]
fn derivative_and_vmap_rules() {
    let (a, b) = (sample_values([3, 4], 1.0), sample_values([4, 2], 1.0));
    check_vjp(MatMul, &[&a, &b]);
    check_jvp(MatMul, &[&a, &b]);
    let (stack_a, stack_b) = (sample_values([5, 3, 4], 1.0), sample_values([5, 4, 2], 1.0));
    check_vjp(MatMul, &[&stack_a, &stack_b]);
    check_vmap(MatMul, &[&stack_a, &stack_b], &[true, true]);
    check_vmap(MatMul, &[&stack_a, &b], &[true, false]);
    check_vmap(MatMul, &[&a, &stack_b], &[false, true]);
    check_vmap(MatMul, &[&sample_values([2, 5, 3, 4], 1.0), &sample_values([5, 4, 2], 1.0)], &[true, false]);
}

/// Einsum by its definition: the sum over all values of all indices.
fn naive_einsum(terms: &[&str], output: &str, lengths: &[(char, usize)], operands: &[&Array]) -> Vec<f64> {
    let data: Vec<Vec<f64>> = operands.iter().map(|x| values(x)).collect();
    let length = |c: char| lengths.iter().find(|(name, _)| *name == c).map_or(0, |&(_, n)| n);
    let mut out = vec![0.0; output.chars().map(length).product()];
    let total: usize = lengths.iter().map(|&(_, n)| n).product();
    for mut flat in 0..total {
        let indices: Vec<(char, usize)> = lengths
            .iter()
            .map(|&(c, n)| {
                let index = flat % n;
                flat /= n;
                (c, index)
            })
            .collect();
        let offset = |term: &str| {
            term.chars().fold(0, |offset, c| {
                offset * length(c) + indices.iter().find(|(name, _)| *name == c).map_or(0, |&(_, i)| i)
            })
        };
        out[offset(output)] +=
            terms.iter().zip(&data).map(|(term, data)| data[offset(term)]).product::<f64>();
    }
    out
}

#[test]
fn einsum_matches_naive_einsum() {
    let lengths = [('a', 2), ('b', 3), ('c', 4), ('d', 5)];
    let length = |c: char| lengths.iter().find(|(name, _)| *name == c).map_or(0, |&(_, n)| n);
    let formulas = [
        "ab,bc->ac",
        "ab,bc->ca",
        "ab,cb->abc",
        "ab,ab->",
        "ab,ab->ab",
        "a,b->ba",
        "abc->b",
        "abc->cab",
        "aa->a",
        "aab->b",
        "aba,bc->ac",
        "abc,abd->acd",
        "ab,bc,cd->ad",
        "ab,bc,cd,da->",
        "a,a,a->a",
        "ab,c->b",
        ",ab->ab",
    ];
    for formula in formulas {
        let (left, output) = formula.split_once("->").unwrap();
        let terms: Vec<&str> = left.split(',').collect();
        let used: Vec<(char, usize)> = lengths.into_iter().filter(|(c, _)| left.contains(*c)).collect();
        let arrays: Vec<Array> = terms
            .iter()
            .map(|term| sample_values(term.chars().map(length).collect::<Shape>(), 1.5))
            .collect();
        let operands: Vec<&Array> = arrays.iter().collect();
        let actual = ops::einsum(formula, &operands).unwrap();
        assert_eq!(*actual.shape(), output.chars().map(length).collect::<Shape>(), "{formula}");
        assert_close(&values(&actual), &naive_einsum(&terms, output, &used, &operands));
        assert_eq!(ops::einsum_path(formula, &operands).unwrap().path.len(), terms.len().max(2) - 1);
    }
}

#[test]
fn implicit_outputs_and_ellipses_of_einsum() {
    let (a, b) = (sample_values([2, 3], 1.0), sample_values([3, 4], 1.0));
    let product = values::<f64>(&ops::matmul(&a, &b).unwrap());
    assert_close(&values(&ops::einsum("ij, jk", &[&a, &b]).unwrap()), &product);
    let transposed = ops::einsum("ki,kj", &[&sample_values([3, 2], 1.0), &b]).unwrap();
    assert_eq!(*transposed.shape(), Shape::from([2, 4]));
    let stack = sample_values([5, 1, 2, 3], 1.0);
    let other = sample_values([6, 3, 4], 1.0);
    let actual = ops::einsum("...ij,...jk->...ik", &[&stack, &other]).unwrap();
    assert_eq!(*actual.shape(), Shape::from([5, 6, 2, 4]));
    assert_close(&values(&actual), &values(&ops::matmul(&stack, &other).unwrap()));
    assert_eq!(*ops::einsum("...i->...", &[&stack]).unwrap().shape(), Shape::from([5, 1, 2]));
    for invalid in ["ij,jk->il", "ij,jk->ii", "ij", "i,jk", "i1,jk", "ij,kj->ik"] {
        let error = ops::einsum(invalid, &[&a, &b]).unwrap_err();
        assert!(error.to_string().starts_with("[einsum]"), "{invalid}: {error}");
    }
    assert!(ops::einsum("", &[]).is_err());
}
