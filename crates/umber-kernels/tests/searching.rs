//! `nonzero`, `searchsorted` and partitions against plain loops.
#![allow(clippy::unwrap_used, reason = "a failure is a failed test")]

mod operands;

use std::cmp::Ordering;

use operands::{Operand, Random, Value, indices, scrambled, shapes};
use proptest::prelude::*;
use umber_kernels::{argpartition, argsort, nonzero, partition, searchsorted};
use umber_types::{Bool, Complex32, Side, SortOrder, bf16, f16};

fn check_nonzero(shape: &[usize], capacity: usize, odds: u64, seed: u64) {
    let mut random = Random(seed);
    let src: Operand<Bool> =
        Operand::under(&scrambled(shape, seed, true), || Bool(u8::from(random.below(odds) == 0) * 3));
    let mut target = shape.to_vec();
    let last = target.len() - 1;
    target[last] = capacity;
    let mut dst = Operand::under(&scrambled(&target, seed / 7, false), || -1i64);
    nonzero(src.view(), dst.view_mut());
    let mut narrow = Operand::under(&scrambled(&target, seed / 3, false), || 7u32);
    nonzero(src.view(), narrow.view_mut());
    for row in indices(&shape[..last]) {
        let index = |i: usize| row.iter().copied().chain([i]).collect::<Vec<_>>();
        let mut expected: Vec<i64> =
            (0..shape[last]).filter(|&i| src.at(&index(i)).get()).map(|i| i as i64).collect();
        expected.resize(capacity, shape[last] as i64);
        let actual: Vec<i64> = (0..capacity).map(|i| dst.at(&index(i))).collect();
        assert_eq!(actual, expected, "{shape:?}, {capacity} slots");
        let actual: Vec<i64> = (0..capacity).map(|i| narrow.at(&index(i)).into()).collect();
        assert_eq!(actual, expected, "{shape:?}, {capacity} slots of uint32");
    }
}

fn order<T: Value>(a: T, b: T) -> Ordering {
    a.order(b).unwrap_or_else(|| a.is_nan_value().cmp(&b.is_nan_value()))
}

fn drawn<T: Value>(random: &mut Random, range: u64) -> T {
    match T::NAN {
        Some(nan) if random.below(9) == 0 => nan,
        _ => T::from_i64(random.below(range) as i64),
    }
}

fn check_search<T: Value>(rows: usize, length: usize, count: usize, seed: u64) {
    let mut random = Random(seed);
    let mut lines: Vec<T> = Vec::new();
    for _ in 0..rows {
        let mut line: Vec<T> = (0..length).map(|_| drawn(&mut random, 9)).collect();
        line.sort_by(|&a, &b| order(a, b));
        lines.extend(line);
    }
    let sorted = Operand::dense(lines, &[rows, length]);
    let layout = scrambled(&[rows, count, 2], seed, true);
    let values: Operand<T> = Operand::under(&layout, || drawn(&mut random, 11));
    for side in [Side::Left, Side::Right] {
        let mut dst = Operand::under(&scrambled(&[rows, count, 2], seed / 5, false), || 99u32);
        searchsorted(side, sorted.view(), values.view(), dst.view_mut());
        for index in indices(&[rows, count, 2]) {
            let value = values.at(&index);
            let before = (0..length).filter(|&i| match order(sorted.at(&[index[0], i]), value) {
                Ordering::Less => true,
                Ordering::Equal => side == Side::Right,
                Ordering::Greater => false,
            });
            assert_eq!(dst.at(&index) as usize, before.count(), "{:?}", T::DTYPE);
        }
    }
}

fn check_partition<T: Value>(length: usize, kth: usize, seed: u64) {
    let mut random = Random(seed);
    let src: Operand<T> = Operand::under(&scrambled(&[3, length], seed, true), || drawn(&mut random, 7));
    let mut permutation = Operand::under(&scrambled(&[3, length], seed / 3, false), || 0u32);
    argpartition(src.view(), 1, kth, permutation.view_mut()).unwrap();
    let mut values = Operand::under(&scrambled(&[3, length], seed / 11, false), || T::from_i64(1));
    partition(src.view(), 1, kth, values.view_mut()).unwrap();
    for row in 0..3 {
        let mut sorted: Vec<T> = (0..length).map(|i| src.at(&[row, i])).collect();
        sorted.sort_by(|&a, &b| order(a, b));
        let selected: Vec<T> =
            (0..length).map(|i| src.at(&[row, permutation.at(&[row, i]) as usize])).collect();
        assert_eq!(order(selected[kth], sorted[kth]), Ordering::Equal);
        let line: Vec<T> = (0..length).map(|i| values.at(&[row, i])).collect();
        assert_eq!(order(line[kth], sorted[kth]), Ordering::Equal);
        assert!(line[..kth].iter().all(|&a| order(a, line[kth]) != Ordering::Greater));
        let mut line = line;
        line.sort_by(|&a, &b| order(a, b));
        assert!(line.iter().zip(&sorted).all(|(&a, &b)| order(a, b) == Ordering::Equal));
        assert!(selected[..kth].iter().all(|&a| order(a, selected[kth]) != Ordering::Greater));
        assert!(selected[kth..].iter().all(|&a| order(a, selected[kth]) != Ordering::Less));
        let mut all: Vec<u32> = (0..length).map(|i| permutation.at(&[row, i])).collect();
        all.sort_unstable();
        assert!(all.iter().enumerate().all(|(i, &index)| i == index as usize));
    }
}

fn check_descending<T: Value>(length: usize, seed: u64) {
    let mut random = Random(seed);
    let src: Operand<T> = Operand::under(&scrambled(&[length], seed, true), || drawn(&mut random, 5));
    let mut permutation = Operand::dense(vec![0u32; length], &[length]);
    argsort(src.view(), 0, SortOrder::Descending, permutation.view_mut()).unwrap();
    let mut expected: Vec<u32> = (0..length as u32).collect();
    // NaN last, equal elements in their original order.
    expected.sort_by(|&a, &b| {
        let (x, y) = (src.at(&[a as usize]), src.at(&[b as usize]));
        x.is_nan_value().cmp(&y.is_nan_value()).then(order(y, x))
    });
    assert_eq!(permutation.values(), expected, "{:?}", T::DTYPE);
}

proptest! {
    #[test]
    fn indices_of_true_elements(shape in shapes(), capacity in 0usize..9, odds in 1u64..5, seed in any::<u64>()) {
        if !shape.is_empty() {
            check_nonzero(&shape, capacity, odds, seed);
        }
    }

    #[test]
    fn searches_in_sorted_rows(rows in 0usize..4, length in 0usize..20, count in 0usize..6, seed in any::<u64>()) {
        check_search::<f32>(rows, length, count, seed);
        check_search::<f16>(rows, length, count, seed);
        check_search::<bf16>(rows, length, count, seed);
        check_search::<u64>(rows, length, count, seed);
        check_search::<i8>(rows, length, count, seed);
        check_search::<Complex32>(rows, length, count, seed);
    }

    #[test]
    fn partitions(length in 1usize..60, at in any::<usize>(), seed in any::<u64>()) {
        check_partition::<f32>(length, at % length, seed);
        check_partition::<i64>(length, at % length, seed);
        check_partition::<f16>(length, at % length, seed);
    }

    #[test]
    fn descending_order(length in 0usize..60, seed in any::<u64>()) {
        check_descending::<f32>(length, seed);
        check_descending::<u8>(length, seed);
        check_descending::<f64>(length, seed);
    }
}

#[test]
fn searches_for_many_values() {
    for (length, count) in [(1, 1000), (2, 33), (3, 64), (100, 4001), (1000, 999), (1000, 1001)] {
        check_search::<f32>(1, length, count, 3);
        check_search::<u8>(2, length, count, 4);
        check_search::<f64>(1, length, count, 5);
    }
}

#[test]
fn long_rows_run_in_parallel() {
    check_nonzero(&[200_000], 200_000, 1, 4);
    check_nonzero(&[200_000], 100_000, 2, 5);
    check_nonzero(&[1, 150_001], 150_001, 3, 6);
    check_nonzero(&[2, 100_001], 10, 1, 7);
    check_descending::<f32>(5000, 8);
    check_partition::<f64>(5000, 2500, 9);
}
