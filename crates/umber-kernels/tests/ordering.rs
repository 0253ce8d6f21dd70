//! Sorts and scans against plain loops.
#![allow(clippy::unwrap_used, reason = "a failure is a failed test")]

mod operands;

use std::cmp::Ordering;

use operands::{Operand, Random, Value, indices, scrambled, shapes};
use proptest::prelude::*;
use umber_kernels::{argsort, scan, sort};
use umber_types::{
    DType, Layout, ScanDirection, ScanExtent, ScanKind, Shape, SortOrder, bf16, f16, match_dtype,
};

/// Ascending order with NaN last and equal to each other.
fn compare<T: Value>(a: T, b: T) -> Ordering {
    a.order(b).unwrap_or_else(|| a.is_nan_value().cmp(&b.is_nan_value()))
}

/// The lines along an axis.
fn lines<T: Value>(operand: &Operand<T>, axis: usize) -> Vec<Vec<T>> {
    let mut shape = operand.layout.shape.clone();
    let length = shape.remove(axis);
    let line = |index: &Vec<usize>| {
        (0..length)
            .map(|i| {
                let mut element = index.clone();
                element.insert(axis, i);
                operand.at(&element)
            })
            .collect()
    };
    indices(&shape).iter().map(line).collect()
}

fn check_sort<T: Value>(layout: &Layout, axis: usize, range: i64, seed: u64) {
    let mut random = Random(seed);
    let nan_odds = random.below(3) * 20;
    let src: Operand<T> = Operand::under(layout, || match T::NAN {
        Some(nan) if nan_odds > 0 && random.below(nan_odds) == 0 => nan,
        _ => T::from_i64(random.below(range as u64) as i64 - range / 2),
    });
    let target = scrambled(&layout.shape, seed / 3, false);
    let mut dst = Operand::under(&target, || T::from_i64(1));
    sort(src.view(), axis, dst.view_mut()).unwrap();
    let mut permutation = Operand::under(&target, || 77u32);
    argsort(src.view(), axis, SortOrder::Ascending, permutation.view_mut()).unwrap();
    let actual = lines(&dst, axis);
    let actual_order = lines(&permutation, axis);
    for ((line, actual), actual_order) in lines(&src, axis).into_iter().zip(actual).zip(actual_order) {
        let mut expected: Vec<u32> = (0..line.len() as u32).collect();
        expected.sort_by(|&a, &b| compare(line[a as usize], line[b as usize]));
        assert_eq!(actual_order, expected, "{:?} {layout:?} {axis}", T::DTYPE);
        for (&actual, &i) in actual.iter().zip(&expected) {
            assert!(actual.same(line[i as usize]), "{:?} {layout:?} {axis}", T::DTYPE);
        }
    }
}

fn check_scan<T: Value>(layout: &Layout, axis: usize, seed: u64) {
    let mut random = Random(seed);
    let nan_odds = random.below(3) * 60;
    for kind in [ScanKind::Sum, ScanKind::Prod, ScanKind::Max, ScanKind::Min] {
        let src: Operand<T> = Operand::under(layout, || match (T::NAN, kind) {
            (Some(nan), _) if nan_odds > 0 && random.below(nan_odds) == 0 => nan,
            (_, ScanKind::Prod) if T::DTYPE.is_complex() => T::from_i64(2),
            (_, ScanKind::Prod) => {
                T::from_i64([1, -1, 1, -1, 1, 2][random.below(6).min(1 + random.below(9)) as usize])
            }
            _ => T::from_i64(random.below(5) as i64 - 2),
        });
        let step = |total: T, value: T| match kind {
            ScanKind::Sum => total.plus(value),
            ScanKind::Prod => total.times(value),
            _ if total.is_nan_value() => total,
            _ if value.is_nan_value() => value,
            ScanKind::Max => {
                if value.order(total) == Some(Ordering::Greater) {
                    value
                } else {
                    total
                }
            }
            _ => {
                if value.order(total) == Some(Ordering::Less) {
                    value
                } else {
                    total
                }
            }
        };
        for direction in [ScanDirection::Forward, ScanDirection::Reverse] {
            for extent in [ScanExtent::Inclusive, ScanExtent::Exclusive] {
                let target = scrambled(&layout.shape, seed / 3, false);
                let mut dst = Operand::under(&target, || T::from_i64(1));
                scan(kind, src.view(), axis, direction, extent, dst.view_mut());
                for (mut line, mut actual) in lines(&src, axis).into_iter().zip(lines(&dst, axis)) {
                    if direction == ScanDirection::Reverse {
                        line.reverse();
                        actual.reverse();
                    }
                    // The first element of an exclusive scan is the identity of the kind.
                    let skipped = usize::from(extent == ScanExtent::Exclusive);
                    let mut total: Option<T> = None;
                    for (value, actual) in line.iter().zip(actual.iter().skip(skipped)) {
                        let next = total.map_or(*value, |total| step(total, *value));
                        total = Some(next);
                        assert!(
                            actual.same(next),
                            "{kind:?} {direction:?} {extent:?} {:?}: {actual:?} {next:?}",
                            T::DTYPE
                        );
                    }
                }
            }
        }
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn sorting(shape in shapes(), axis: usize, seed: u64) {
        if !shape.is_empty() {
            let layout = scrambled(&shape, seed, true);
            for dtype in DType::COMPUTE {
                match_dtype!(dtype, T => check_sort::<T>(&layout, axis % shape.len(), 9, seed));
            }
        }
    }

    #[test]
    fn scanning(shape in shapes(), axis: usize, seed: u64) {
        if !shape.is_empty() {
            let layout = scrambled(&shape, seed, true);
            for dtype in DType::COMPUTE {
                match_dtype!(dtype, T => check_scan::<T>(&layout, axis % shape.len(), seed));
            }
        }
    }
}

#[test]
fn long_lines() {
    for (shape, axis) in [
        (vec![300_001], 0),
        (vec![3, 5000], 1),
        (vec![5000, 3], 0),
        (vec![100, 700], 0),
        (vec![70_000, 2], 0),
    ] {
        let layout = Layout::contiguous(Shape::from(shape));
        for range in [3, 1_000_000] {
            check_sort::<f32>(&layout, axis, range, 1);
            check_sort::<i64>(&layout, axis, range, 2);
            check_sort::<u16>(&layout, axis, range, 3);
            check_sort::<u8>(&layout, axis, range, 4);
            check_sort::<f16>(&layout, axis, range, 4);
        }
        // Sums of narrower floats would depend on the order.
        check_scan::<i64>(&layout, axis, 5);
        check_scan::<u8>(&layout, axis, 6);
    }
}

#[test]
fn special_values_sort_as_in_numpy() {
    let inf = f32::INFINITY;
    let src = Operand::dense(vec![3.0, f32::NAN, 1.0, -inf, inf, -0.0, 0.0, -f32::NAN, 1e-45, -1e-45], &[10]);
    let mut dst = Operand::dense(vec![9f32; 10], &[10]);
    sort(src.view(), 0, dst.view_mut()).unwrap();
    assert_eq!(dst.data[..8], [-inf, -1e-45, 0.0, 0.0, 1e-45, 1.0, 3.0, inf]);
    assert!(dst.data[8..].iter().all(|x| x.is_nan()));
    let mut permutation = Operand::dense(vec![9u32; 10], &[10]);
    argsort(src.view(), 0, SortOrder::Ascending, permutation.view_mut()).unwrap();
    assert_eq!(permutation.data, [3, 9, 5, 6, 8, 2, 0, 4, 1, 7]);
}

#[test]
fn exclusive_scans_begin_with_the_identity() {
    let src = Operand::dense(vec![3i32, 1, 5], &[3]);
    for (kind, expected) in [
        (ScanKind::Sum, [0, 3, 4]),
        (ScanKind::Prod, [1, 3, 3]),
        (ScanKind::Max, [i32::MIN, 3, 3]),
        (ScanKind::Min, [i32::MAX, 3, 1]),
    ] {
        let mut dst = Operand::dense(vec![9; 3], &[3]);
        scan(kind, src.view(), 0, ScanDirection::Forward, ScanExtent::Exclusive, dst.view_mut());
        assert_eq!(dst.data, expected);
    }
    let src = Operand::dense(vec![3f32, 1.0, 5.0], &[3]);
    let mut dst = Operand::dense(vec![9f32; 3], &[3]);
    scan(ScanKind::LogSumExp, src.view(), 0, ScanDirection::Forward, ScanExtent::Exclusive, dst.view_mut());
    assert_eq!(dst.data, [f32::NEG_INFINITY, 3.0, 3.126_928]);
}

#[test]
fn cumulative_sums_are_accurate() {
    let count = 1_000_000;
    let src = Operand::dense(vec![0.1f32; count], &[count]);
    let mut dst = Operand::dense(vec![0f32; count], &[count]);
    scan(ScanKind::Sum, src.view(), 0, ScanDirection::Forward, ScanExtent::Inclusive, dst.view_mut());
    for (i, &actual) in dst.data.iter().enumerate().step_by(997) {
        let exact = f64::from(0.1f32) * (i + 1) as f64;
        assert!((f64::from(actual) - exact).abs() <= exact * 6e-8, "{i}: {actual}");
    }
    let src = Operand::dense(vec![bf16::ONE; 600], &[600]);
    let mut dst = Operand::dense(vec![bf16::ZERO; 600], &[600]);
    scan(ScanKind::Sum, src.view(), 0, ScanDirection::Forward, ScanExtent::Inclusive, dst.view_mut());
    assert_eq!(dst.data[599], bf16::from_f32(600.0));
}

#[test]
fn cumulative_logsumexp() {
    let inf = f64::INFINITY;
    let values = vec![-inf, 1.0, 2.0, -3.0, 800.0, -800.0, inf, 1.0, f64::NAN, 0.0];
    let src = Operand::dense(values.clone(), &[10]);
    let mut dst = Operand::dense(vec![0f64; 10], &[10]);
    scan(ScanKind::LogSumExp, src.view(), 0, ScanDirection::Forward, ScanExtent::Inclusive, dst.view_mut());
    for (i, &actual) in dst.data.iter().enumerate() {
        let prefix = &values[..=i];
        let max = prefix.iter().copied().fold(-inf, f64::max);
        let exact = match max {
            _ if i >= 8 => f64::NAN,
            max if max.is_infinite() => max,
            max => max + prefix.iter().map(|x| (x - max).exp()).sum::<f64>().ln(),
        };
        assert!(
            actual == exact || (actual - exact).abs() < 1e-12 || actual.is_nan() && exact.is_nan(),
            "{i}: {actual}"
        );
    }
}
