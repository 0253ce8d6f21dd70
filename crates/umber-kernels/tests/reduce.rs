//! Reductions against plain loops.

mod operands;

use operands::{Operand, Random, Value, indices, scrambled, shapes};
use proptest::prelude::*;
use umber_kernels::reduce;
use umber_kernels::reduce::reduce_program;
use umber_kernels::tape::Program;
use umber_types::tape::{Step, Tape};
use umber_types::{
    Axes, BinaryKind, Bool, Complex32, DType, Element, KeepAxes, Layout, ReduceKind, Shape, UnaryKind, bf16,
    f16, match_dtype,
};

/// The reduction by its definition, element by element; `None` for the extremum of no elements.
fn naive<T: Value>(kind: ReduceKind, values: &[T]) -> Option<T> {
    let extremum = |expected| {
        values.iter().copied().reduce(|a, b| match b.order(a) {
            _ if a.is_nan_value() => a,
            None => b,
            Some(order) if order == expected => b,
            Some(_) => a,
        })
    };
    match kind {
        ReduceKind::Sum => Some(T::sum(values)),
        ReduceKind::Prod => Some(values.iter().fold(one(), |a, &b| a.times(b))),
        ReduceKind::Min => extremum(std::cmp::Ordering::Less),
        ReduceKind::Max => extremum(std::cmp::Ordering::Greater),
        ReduceKind::All | ReduceKind::Any | ReduceKind::Mean => None,
    }
}

/// Means are defined for floating-point and complex dtypes.
fn supports(kind: ReduceKind, dtype: DType) -> bool {
    kind != ReduceKind::Mean || dtype.is_inexact()
}

fn one<T: Value>() -> T {
    if T::DTYPE.is_complex() { T::from_i64(2) } else { T::from_i64(1) }
}

/// Values whose sums and products are exact in every dtype.
fn draw<T: Value>(kind: ReduceKind, random: &mut Random, nan_odds: u64) -> T {
    if let Some(nan) = T::NAN.filter(|_| nan_odds > 0 && random.below(nan_odds) == 0) {
        return nan;
    }
    match kind {
        ReduceKind::Prod if T::DTYPE.is_complex() => T::from_i64(random.below(3) as i64),
        ReduceKind::Prod if random.below(64) == 0 => T::from_i64(2),
        ReduceKind::Prod => T::from_i64(random.below(2) as i64 * 2 - 1),
        ReduceKind::All => T::from_i64(i64::from(random.below(40) != 0)),
        ReduceKind::Any => T::from_i64(i64::from(random.below(40) == 0)),
        _ => T::from_i64(random.below(5) as i64 - 2),
    }
}

/// The elements that each result reduces.
fn groups<T: Element>(src: &Operand<T>, axes: &Axes) -> Vec<Vec<T>> {
    let shape = src.layout.shape.reduced(axes, KeepAxes::Yes);
    let reduced: Vec<usize> =
        (0..shape.ndim()).map(|axis| if axes.contains(&axis) { src.layout.shape[axis] } else { 1 }).collect();
    let inner = indices(&reduced);
    let value =
        |a: &Vec<usize>, b: &Vec<usize>| src.at(&a.iter().zip(b).map(|(i, j)| i + j).collect::<Vec<_>>());
    indices(&shape).iter().map(|outer| inner.iter().map(|index| value(outer, index)).collect()).collect()
}

fn check<T: Value>(kind: ReduceKind, layout: &Layout, axes: &Axes, keep: KeepAxes, seed: u64) {
    let mut random = Random(seed);
    let nan_odds = random.below(3) * 50;
    let src: Operand<T> = Operand::under(layout, || draw(kind, &mut random, nan_odds));
    let shape = layout.shape.reduced(axes, keep);
    let groups = groups(&src, axes);
    if matches!(kind, ReduceKind::All | ReduceKind::Any) {
        let mut dst = Operand::dense(vec![Bool(7); shape.size()], &shape);
        reduce(kind, src.view(), axes, dst.view_mut());
        for (actual, group) in dst.data.iter().zip(&groups) {
            let mut truths = group.iter().map(|&value| value.is_true());
            let expected = if kind == ReduceKind::All { truths.all(|t| t) } else { truths.any(|t| t) };
            assert_eq!(actual.0, expected as u8, "{kind:?} {layout:?} {axes:?}");
        }
        return;
    }
    let mut dst = Operand::dense(vec![T::from_i64(3); shape.size()], &shape);
    reduce(kind, src.view(), axes, dst.view_mut());
    for (&actual, group) in dst.data.iter().zip(&groups) {
        if let Some(expected) = naive(kind, group) {
            assert!(
                actual.same(expected),
                "{kind:?} {:?} {layout:?} {axes:?}: {actual:?} {expected:?}",
                T::DTYPE
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_kind_and_dtype(shape in shapes(), seed: u64, mask: u8, keep: bool) {
        let layout = scrambled(&shape, seed, true);
        let axes = Axes::sorted((0..shape.len()).filter(|axis| mask >> axis & 1 == 1));
        let keep = if keep { KeepAxes::Yes } else { KeepAxes::No };
        for &kind in ReduceKind::ALL {
            for dtype in DType::COMPUTE.into_iter().filter(|dtype| supports(kind, *dtype)) {
                match_dtype!(dtype, T => check::<T>(kind, &layout, &axes, keep, seed));
            }
        }
    }
}

/// Shapes and reduced axes: long rows, long columns, middle axes, windows of images.
const LONG_AND_WIDE: [(&[usize], &[usize]); 17] = [
    (&[300_007], &[0]),
    (&[3, 70_001], &[1]),
    (&[70_001, 3], &[0]),
    (&[70_001, 3], &[1]),
    (&[900, 200], &[1]),
    (&[900, 1000], &[1]),
    (&[2500, 1100], &[0]),
    (&[5000, 64], &[0]),
    (&[90, 40, 30], &[0, 2]),
    (&[90, 40, 30], &[1]),
    (&[3, 20_000, 4], &[1]),
    (&[200_000, 2, 2], &[0, 2]),
    (&[2, 20, 2, 30, 2, 19], &[2, 4]),
    (&[17, 3, 6, 3, 5], &[1, 3]),
    (&[300, 3, 130], &[1]),
    (&[40, 32, 300], &[1]),
    (&[5, 2, 1, 2, 9000], &[1, 3]),
];

/// A contiguous layout, and one with its axes in the reverse order in memory.
fn dense_and_transposed(shape: &[usize]) -> [Layout; 2] {
    let order: Vec<usize> = (0..shape.len()).rev().collect();
    let transposed = Layout::contiguous(order.iter().map(|&axis| shape[axis]).collect()).permute(&order);
    [Layout::contiguous(Shape::from(shape)), transposed]
}

#[test]
fn long_and_wide_arrays() {
    for (shape, axes) in LONG_AND_WIDE {
        let axes = Axes::sorted(axes.iter().copied());
        for layout in &dense_and_transposed(shape) {
            for kind in [ReduceKind::Sum, ReduceKind::Max, ReduceKind::Any] {
                check::<f32>(kind, layout, &axes, KeepAxes::No, 5);
                check::<i64>(kind, layout, &axes, KeepAxes::No, 6);
                check::<u8>(kind, layout, &axes, KeepAxes::No, 7);
                check::<f16>(kind, layout, &axes, KeepAxes::No, 8);
                check::<bf16>(kind, layout, &axes, KeepAxes::No, 9);
            }
        }
    }
}

#[test]
fn interleaved_long_rows() {
    // Some rows are read interleaved; the remaining ones are not.
    for count in 1..=9 {
        for length in [1024, 1155, 4099] {
            let layout = Layout::contiguous(Shape::from([count, length]));
            for &kind in ReduceKind::ALL {
                check::<f32>(kind, &layout, &Axes::one(1), KeepAxes::No, 5);
                if supports(kind, DType::Int32) {
                    check::<i32>(kind, &layout, &Axes::one(1), KeepAxes::No, 6);
                }
                check::<f64>(kind, &layout, &Axes::one(1), KeepAxes::No, 7);
                check::<Complex32>(kind, &layout, &Axes::one(1), KeepAxes::No, 8);
            }
        }
    }
}

/// Check that the sum of each row is bitwise the same whatever other rows are reduced with it, so that any split between threads
/// gives the same results.
fn check_single_rows<T: Value>(length: usize, of: fn(f64) -> T) {
    let mut random = Random(11);
    let rows: Vec<T> = (0..9 * length).map(|_| of(random.uniform() - 0.4)).collect();
    let sums = |first: usize, count: usize| {
        let src = Operand::dense(rows[first * length..(first + count) * length].to_vec(), &[count, length]);
        let mut sums = Operand::dense(vec![T::from_i64(0); count], &[count]);
        reduce(ReduceKind::Sum, src.view(), &[1], sums.view_mut());
        sums.data
    };
    let single: Vec<T> = (0..9).flat_map(|row| sums(row, 1)).collect();
    for count in 2..=9 {
        assert!(sums(0, count) == single[..count], "{} {length} {count}", T::DTYPE);
    }
}

#[test]
fn sums_of_rows_do_not_depend_on_other_rows() {
    for length in [100, 1025, 5000, 12_000] {
        check_single_rows::<f64>(length, |x| x);
        check_single_rows::<f32>(length, |x| x as f32);
        check_single_rows::<f16>(length, f16::from_f64);
        check_single_rows::<bf16>(length, bf16::from_f64);
    }
    // Longer rows are split.
    check_single_rows::<f64>(40_000, |x| x);
    check_single_rows::<f32>(40_000, |x| x as f32);
    check_single_rows::<f16>(40_000, f16::from_f64);
}

#[test]
fn sums_of_ten_million_are_accurate() {
    let mut random = Random(1);
    let count = 10_000_000;
    let uniform: Vec<f32> = (0..count).map(|_| random.uniform() as f32).collect();
    let tenth = vec![0.1f32; count];
    for values in [uniform, tenth] {
        let exact: f64 = values.iter().map(|&value| value as f64).sum();
        for shape in [vec![count], vec![count / 10, 10], vec![10, count / 10], vec![1000, count / 1000]] {
            let src = Operand::dense(values.clone(), &shape);
            let mut total = Operand::dense(vec![0f32], &[]);
            let axes: Vec<usize> = (0..shape.len()).collect();
            reduce(ReduceKind::Sum, src.view(), &axes, total.view_mut());
            let error = (total.data[0] as f64 - exact).abs() / exact;
            assert!(error <= 1e-7, "{shape:?}: {error}");
            if shape.len() == 2 {
                let mut columns = Operand::dense(vec![0f32; shape[1]], &[shape[1]]);
                reduce(ReduceKind::Sum, src.view(), &[0], columns.view_mut());
                let expected: f64 = src.data.iter().step_by(shape[1]).map(|&value| value as f64).sum();
                let error = (columns.data[0] as f64 - expected).abs() / expected;
                assert!(error <= 1e-7, "{shape:?} columns: {error}");
            }
        }
    }
}

#[test]
fn double_sums_are_blocked() {
    let values = vec![0.1f64; 10_000_000];
    let src = Operand::dense(values, &[10_000_000]);
    let mut total = Operand::dense(vec![0f64], &[]);
    reduce(ReduceKind::Sum, src.view(), &[0], total.view_mut());
    assert!((total.data[0] - 1e6).abs() / 1e6 < 1e-14, "{}", total.data[0]);
}

#[test]
fn float16_and_bfloat16_round_once() {
    // Added one by one, 1 would not change 2048 in float16, nor 256 in bfloat16.
    let src = Operand::dense(vec![f16::ONE; 60_000], &[60_000]);
    let mut total = Operand::dense(vec![f16::ZERO], &[]);
    reduce(ReduceKind::Sum, src.view(), &[0], total.view_mut());
    assert_eq!(total.data[0], f16::from_f32(60_000.0));
    let src = Operand::dense(vec![bf16::ONE; 3000 * 7], &[3000, 7]);
    let mut totals = Operand::dense(vec![bf16::ZERO; 7], &[7]);
    reduce(ReduceKind::Sum, src.view(), &[0], totals.view_mut());
    assert_eq!(totals.data, [bf16::from_f32(3000.0); 7]);
}

#[test]
fn narrow_integers_accumulate_in_32_bits() {
    let layout = scrambled(&[6, 50, 3], 9, true);
    let mut random = Random(3);
    macro_rules! narrow {
        ($($ty:ty, $wide:expr;)*) => { $(
            let src: Operand<$ty> = Operand::under(&layout, || <$ty>::from_i64(random.next() as i64));
            for axes in [vec![0], vec![1], vec![0, 1, 2], vec![1, 2]] {
                let axes = Axes::sorted(axes);
                let shape = layout.shape.reduced(&axes, KeepAxes::No);
                let groups = groups(&src, &axes);
                let mut dst = Operand::dense(vec![0i32; shape.size()], &shape);
                reduce(ReduceKind::Sum, src.view(), &axes, dst.view_mut());
                for (&actual, group) in dst.data.iter().zip(&groups) {
                    assert_eq!(actual, group.iter().fold(0i32, |a, &b| a.wrapping_add($wide(b))));
                }
                let mut unsigned = Operand::dense(vec![0u32; shape.size()], &shape);
                reduce(ReduceKind::Sum, src.view(), &axes, unsigned.view_mut());
                assert!(unsigned.data.iter().zip(&dst.data).all(|(&a, &b)| a == b as u32));
                reduce(ReduceKind::Prod, src.view(), &axes, dst.view_mut());
                for (&actual, group) in dst.data.iter().zip(&groups) {
                    assert_eq!(actual, group.iter().fold(1i32, |a, &b| a.wrapping_mul($wide(b))));
                }
            }
        )* };
    }
    narrow! {
        Bool, |b: Bool| b.get() as i32;
        u8, i32::from;
        i8, i32::from;
        u16, i32::from;
        i16, i32::from;
    }
}

#[test]
fn empty_reductions_give_the_identity() {
    let src = Operand::<f32>::dense(vec![], &[0, 3]);
    let mut dst = Operand::dense(vec![9f32; 3], &[3]);
    reduce(ReduceKind::Sum, src.view(), &[0], dst.view_mut());
    assert_eq!(dst.data, [0.0; 3]);
    reduce(ReduceKind::Prod, src.view(), &[0], dst.view_mut());
    assert_eq!(dst.data, [1.0; 3]);
    reduce(ReduceKind::Max, src.view(), &[0], dst.view_mut());
    assert_eq!(dst.data, [f32::NEG_INFINITY; 3]);
    let mut truth = Operand::dense(vec![Bool(0)], &[]);
    reduce(ReduceKind::All, src.view(), &[0, 1], truth.view_mut());
    assert_eq!(truth.data, [Bool(1)]);
    let mut none = Operand::<f32>::dense(vec![], &[0]);
    reduce(ReduceKind::Sum, src.view(), &[1], none.view_mut());
}

/// A reduction fused with a program of two operands, against the program and the reduction run separately.
fn check_fused<T: Value>(kind: ReduceKind, layouts: [&Layout; 2], axes: &Axes, seed: u64) {
    let mut random = Random(seed);
    let nan_odds = random.below(3) * 50;
    let [a, b] = layouts.map(|layout| Operand::<T>::under(layout, || draw(kind, &mut random, nan_odds)));
    let step = Step::Binary { kind: BinaryKind::Maximum, a: 0, b: 1 };
    let tape = Tape { inputs: vec![T::DTYPE; 2], steps: vec![step], outputs: vec![2] };
    let program = Program::new(&tape).expect("maximum supports every dtype");
    let shape = &layouts[0].shape;
    let mut stored = Operand::dense(vec![T::from_i64(0); shape.size()], shape);
    program.run(&[a.view(), b.view()], &mut [stored.view_mut()]);
    for keep in [KeepAxes::Yes, KeepAxes::No] {
        let results = shape.reduced(axes, keep);
        macro_rules! compare {
            ($ty:ty, $filler:expr) => {{
                let mut expected: Operand<$ty> = Operand::dense(vec![$filler; results.size()], &results);
                reduce(kind, stored.view(), axes, expected.view_mut());
                let mut actual: Operand<$ty> = Operand::dense(vec![$filler; results.size()], &results);
                reduce_program(kind, &program, &[a.view(), b.view()], shape, axes, actual.view_mut());
                for (actual, expected) in actual.data.iter().zip(&expected.data) {
                    assert!(actual.same(*expected), "{kind:?} {:?} {layouts:?} {axes:?}", T::DTYPE);
                }
            }};
        }
        match kind {
            ReduceKind::All | ReduceKind::Any => compare!(Bool, Bool(7)),
            _ => compare!(T, T::from_i64(3)),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn fused_reductions_of_every_kind_and_dtype(shape in shapes(), seed: u64, mask: u8) {
        let layouts = [&scrambled(&shape, seed, true), &scrambled(&shape, seed.wrapping_add(77), true)];
        let axes = Axes::sorted((0..shape.len()).filter(|axis| mask >> axis & 1 == 1));
        for &kind in ReduceKind::ALL {
            for dtype in DType::COMPUTE.into_iter().filter(|dtype| supports(kind, *dtype)) {
                match_dtype!(dtype, T => check_fused::<T>(kind, layouts, &axes, seed));
            }
        }
    }
}

/// The sum of squares, possibly after a cast, against loops over values whose squares are exact.
fn check_squares<T: Value, R: Value>(shape: &Layout, axes: &Axes, seed: u64) {
    let mut random = Random(seed);
    let src = Operand::<T>::under(shape, || T::from_i64(random.below(7) as i64 - 3));
    let mut steps = vec![];
    if T::DTYPE != R::DTYPE {
        steps.push(Step::Cast { x: 0, to: R::DTYPE });
    }
    let x = steps.len() as u32;
    steps.push(match seed % 2 {
        0 => Step::Unary { kind: UnaryKind::Square, x },
        _ => Step::Binary { kind: BinaryKind::Multiply, a: x, b: x },
    });
    let program =
        Program::new(&Tape { inputs: vec![T::DTYPE], steps, outputs: vec![x + 1] }).expect("a square");
    let results = shape.shape.reduced(axes, KeepAxes::No);
    let mut actual = Operand::dense(vec![R::from_i64(-1); results.size()], &results);
    reduce_program(ReduceKind::Sum, &program, &[src.view()], &shape.shape, axes, actual.view_mut());
    for (actual, group) in actual.data.iter().zip(groups(&src, axes)) {
        let root = |value: T| (0..4).find(|&root| T::from_i64(root * root).same(value.times(value)));
        let squares: Vec<R> =
            group.iter().filter_map(|&value| root(value)).map(|root| R::from_i64(root * root)).collect();
        assert!(actual.same(R::sum(&squares)), "{shape:?} {axes:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn sums_of_squares(shape in shapes(), seed: u64, mask: u8) {
        let layout = scrambled(&shape, seed, true);
        let axes = Axes::sorted((0..shape.len()).filter(|axis| mask >> axis & 1 == 1));
        check_squares::<f32, f32>(&layout, &axes, seed);
        check_squares::<f32, f64>(&layout, &axes, seed);
        check_squares::<f64, f64>(&layout, &axes, seed);
        check_squares::<f64, f32>(&layout, &axes, seed);
        check_squares::<i32, f32>(&layout, &axes, seed);
    }
}

#[test]
fn fused_reductions_of_long_and_wide_arrays() {
    for (shape, axes) in LONG_AND_WIDE {
        let axes = Axes::sorted(axes.iter().copied());
        let [dense, transposed] = dense_and_transposed(shape);
        let repeated =
            Layout::contiguous(dense.shape.reduced(&axes, KeepAxes::Yes)).broadcast_to(&dense.shape);
        for layouts in [[&dense, &repeated], [&transposed, &dense], [&repeated, &transposed]] {
            for kind in [ReduceKind::Sum, ReduceKind::Max, ReduceKind::Any] {
                check_fused::<f32>(kind, layouts, &axes, 5);
                check_fused::<f64>(kind, layouts, &axes, 6);
                check_fused::<f16>(kind, layouts, &axes, 7);
                check_fused::<u8>(kind, layouts, &axes, 8);
            }
        }
    }
}

#[test]
fn fused_sums_of_ten_million_are_accurate() {
    let mut random = Random(1);
    let count = 10_000_000;
    let values: Vec<f32> = (0..count).map(|_| random.uniform() as f32).collect();
    let exact: f64 = values.iter().map(|&value| (value * value) as f64).sum();
    let steps = vec![Step::Unary { kind: UnaryKind::Square, x: 0 }];
    let program =
        Program::new(&Tape { inputs: vec![DType::Float32], steps, outputs: vec![1] }).expect("a square");
    for shape in [vec![count], vec![count / 10, 10], vec![10, count / 10], vec![1000, count / 1000]] {
        let src = Operand::dense(values.clone(), &shape);
        let mut total = Operand::dense(vec![0f32], &[]);
        let axes: Vec<usize> = (0..shape.len()).collect();
        reduce_program(ReduceKind::Sum, &program, &[src.view()], &shape, &axes, total.view_mut());
        let error = (total.data[0] as f64 - exact).abs() / exact;
        assert!(error <= 1e-7, "{shape:?}: {error}");
        if shape.len() == 2 {
            let mut columns = Operand::dense(vec![0f32; shape[1]], &[shape[1]]);
            reduce_program(ReduceKind::Sum, &program, &[src.view()], &shape, &[0], columns.view_mut());
            let column = values.iter().step_by(shape[1]);
            let expected: f64 = column.map(|&value| (value * value) as f64).sum();
            let error = (columns.data[0] as f64 - expected).abs() / expected;
            assert!(error <= 1e-7, "{shape:?} columns: {error}");
        }
    }
}

#[test]
fn means_of_finite_elements_do_not_overflow() {
    for count in [3, 100, 70_001] {
        let src = Operand::dense(vec![3e38f32; 2 * count], &[2, count]);
        let mut rows = Operand::<f32>::dense(vec![0.0; 2], &[2]);
        reduce(ReduceKind::Mean, src.view(), &[1], rows.view_mut());
        assert_eq!(rows.data, [3e38; 2]);
        let mut columns = Operand::<f32>::dense(vec![0.0; count], &[count]);
        reduce(ReduceKind::Mean, src.view(), &[0], columns.view_mut());
        assert!(columns.data.iter().all(|&mean| mean == 3e38));
    }
    let src = Operand::dense(vec![1.7e308f64, 1.7e308, 1.0, f64::INFINITY, 1.0, f64::NAN], &[3, 2]);
    let mut means = Operand::<f64>::dense(vec![0.0; 3], &[3]);
    reduce(ReduceKind::Mean, src.view(), &[1], means.view_mut());
    assert_eq!(means.data[..2], [1.7e308, f64::INFINITY]);
    assert!(means.data[2].is_nan());
}
