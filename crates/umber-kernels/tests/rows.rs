//! Softmax, logsumexp, normalisations and arg-reductions against plain loops.

mod instruction_sets;
mod operands;

use instruction_sets::repeat_under;
use operands::{Operand, Random, Value, indices, scrambled, shapes};
use proptest::prelude::*;
use umber_kernels::{arg_reduce, layer_norm, logsumexp, rms_norm, shifted_logsumexp, softmax};
use umber_types::{ArgReduceKind, DType, Layout, Shape, bf16, f16, match_dtype};

/// A floating-point type with conversions to and from float64.
trait Float: Value {
    /// Maximum error, relative to the scale of a row.
    const TOLERANCE: f64;
    /// The computing type.
    type Compute: Float;
    fn wide(self) -> f64;
    fn nearest(value: f64) -> Self;
}

macro_rules! floats {
    ($($ty:ty, $work:ty, $tolerance:expr, $wide:expr, $nearest:expr;)*) => { $(
        impl Float for $ty {
            const TOLERANCE: f64 = $tolerance;
            type Compute = $work;
            fn wide(self) -> f64 {
                $wide(self)
            }
            fn nearest(value: f64) -> $ty {
                $nearest(value)
            }
        }
    )* };
}
floats! {
    f16, f32, 1e-3, f16::to_f64, f16::from_f64;
    bf16, f32, 8e-3, bf16::to_f64, bf16::from_f64;
    f32, f32, 4e-7, f64::from, |value| value as f32;
    f64, f64, 1e-14, std::convert::identity, std::convert::identity;
}

/// The values of each row along the last axis.
fn rows<T: Float>(src: &Operand<T>) -> Vec<Vec<f64>> {
    let length = *src.layout.shape.last().expect("a row has an axis");
    let values: Vec<f64> = src.values().into_iter().map(Float::wide).collect();
    if length == 0 { vec![] } else { values.chunks(length).map(<[f64]>::to_vec).collect() }
}

fn assert_close<T: Float>(actual: T, expected: f64, scale: f64, what: &str) {
    let actual = actual.wide();
    let expected = T::nearest(expected).wide();
    let close = actual == expected
        || actual.is_nan() && expected.is_nan()
        || (actual - expected).abs() <= T::TOLERANCE * scale.max(expected.abs());
    assert!(close, "{what} {:?}: {actual} is not {expected}", T::DTYPE);
}

fn draw<T: Float>(random: &mut Random, odd: bool) -> T {
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
    if odd && random.below(20) == 0 {
        return T::nearest(special[random.below(4) as usize]);
    }
    T::nearest((random.uniform() - 0.5) * 12.0)
}

fn exact_softmax(row: &[f64]) -> Vec<f64> {
    let max = if row.iter().any(|x| x.is_nan()) {
        f64::NAN
    } else {
        row.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    };
    let exponentials: Vec<f64> = row.iter().map(|x| (x - max).exp()).collect();
    let total: f64 = exponentials.iter().sum();
    exponentials.iter().map(|exponential| exponential / total).collect()
}

fn exact_logsumexp(row: &[f64]) -> f64 {
    let max = if row.iter().any(|x| x.is_nan()) {
        f64::NAN
    } else {
        row.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    };
    if max.is_finite() { max + row.iter().map(|x| (x - max).exp()).sum::<f64>().ln() } else { max }
}

fn check_exponentials<T: Float>(layout: &Layout, seed: u64, odd: bool) {
    let mut random = Random(seed);
    let src: Operand<T> = Operand::under(layout, || draw(&mut random, odd));
    let shape = &layout.shape;
    let length = shape[shape.ndim() - 1];
    let rows = rows(&src);
    let mut dst = Operand::dense(vec![T::from_i64(5); shape.size()], shape);
    softmax(src.view(), dst.view_mut());
    for (actual, row) in dst.data.chunks(length.max(1)).zip(&rows) {
        for (&actual, expected) in actual.iter().zip(exact_softmax(row)) {
            // The difference from the maximum, up to 12, is rounded before the exponential.
            assert_close(actual, expected, 3.0 * expected, "softmax");
        }
    }
    let leading = &shape[..shape.ndim() - 1];
    let mut dst = Operand::dense(vec![T::from_i64(5); leading.iter().product()], leading);
    logsumexp(src.view(), dst.view_mut());
    for (i, &actual) in dst.data.iter().enumerate() {
        let expected = rows.get(i).map_or(f64::NEG_INFINITY, |row| exact_logsumexp(row));
        assert_close(actual, expected, 1.0, "logsumexp");
    }
    let empty =
        || Operand::dense(vec![<T::Compute as Value>::from_i64(5); leading.iter().product()], leading);
    let (mut maxima, mut logs) = (empty(), empty());
    shifted_logsumexp(src.view(), maxima.view_mut(), logs.view_mut());
    for (i, (&max, &log)) in maxima.data.iter().zip(&logs.data).enumerate() {
        let Some(row) = rows.get(i) else { continue };
        let expected =
            row.iter().copied().fold(f64::NEG_INFINITY, |a, b| if a.is_nan() || a > b { a } else { b });
        assert_close(max, expected, 0.0, "max");
        let shifted: Vec<f64> = row.iter().map(|x| x - expected).collect();
        let expected = if expected.is_finite() { exact_logsumexp(&shifted) } else { 0.0 };
        assert_close(log, expected, 1.0, "logsumexp below the maximum");
    }
}

fn check_norms<T: Float>(layout: &Layout, seed: u64) {
    let mut random = Random(seed);
    let shape = &layout.shape;
    let length = shape[shape.ndim() - 1];
    let src: Operand<T> = Operand::under(layout, || draw(&mut random, false));
    let mut parameter =
        || Operand::<T>::under(&scrambled(&[length], seed / 7, true), || draw(&mut random, false));
    let (weight, bias) = (parameter(), parameter());
    let (weights, biases) = (weight.values(), bias.values());
    let eps = 1e-3;
    for (has_weight, has_bias) in [(false, false), (true, false), (true, true), (false, true)] {
        let mut dst = Operand::dense(vec![T::from_i64(5); shape.size()], shape);
        let (w, b) = (has_weight.then(|| weight.view()), has_bias.then(|| bias.view()));
        layer_norm(src.view(), w, b, eps, dst.view_mut());
        let mut rms = Operand::dense(vec![T::from_i64(5); shape.size()], shape);
        rms_norm(src.view(), w, eps, rms.view_mut());
        for (i, row) in rows(&src).iter().enumerate() {
            let mean = row.iter().sum::<f64>() / length as f64;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / length as f64;
            let square = row.iter().map(|x| x * x).sum::<f64>() / length as f64;
            for (j, x) in row.iter().enumerate() {
                let factor = if has_weight { weights[j].wide() } else { 1.0 };
                let shift = if has_bias { biases[j].wide() } else { 0.0 };
                let expected = (x - mean) / (variance + eps).sqrt() * factor + shift;
                // A small variance amplifies the rounding error of the mean.
                let scale = 12.0 / (variance + eps).sqrt() * factor.abs().max(1.0) + shift.abs();
                assert_close(dst.data[i * length + j], expected, scale, "layer_norm");
                let expected = x / (square + eps).sqrt() * factor;
                assert_close(rms.data[i * length + j], expected, factor.abs(), "rms_norm");
            }
        }
    }
}

fn check_arg_reductions<T: Value>(layout: &Layout, axis: usize, keep: bool, seed: u64) {
    use std::cmp::Ordering;
    let mut random = Random(seed);
    let nan_odds = random.below(3) * 30;
    let src: Operand<T> = Operand::under(layout, || match T::NAN {
        Some(nan) if nan_odds > 0 && random.below(nan_odds) == 0 => nan,
        _ => T::from_i64(random.below(9) as i64 - 4),
    });
    let mut shape = layout.shape.clone();
    let length = shape.remove(axis);
    for (kind, expected) in
        [(ArgReduceKind::ArgMax, Ordering::Greater), (ArgReduceKind::ArgMin, Ordering::Less)]
    {
        let result_shape = if keep { layout.shape.with(axis, 1) } else { shape.clone() };
        let mut dst = Operand::dense(vec![77u32; result_shape.size()], &result_shape);
        arg_reduce(kind, src.view(), axis, dst.view_mut());
        for (index, &actual) in indices(&shape).iter().zip(&dst.data) {
            let at = |i: usize| {
                let mut element = index.clone();
                element.insert(axis, i);
                src.at(&element)
            };
            let best = (1..length).fold(0, |best, i| match at(i).order(at(best)) {
                _ if at(best).is_nan_value() => best,
                None => i,
                Some(order) if order == expected => i,
                Some(_) => best,
            });
            assert_eq!(actual as usize, best, "{kind:?} {:?} {layout:?} {axis}", T::DTYPE);
        }
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn exponentials(shape in shapes(), seed: u64, odd: bool) {
        if !shape.is_empty() {
            let layout = scrambled(&shape, seed, true);
            for_each_float(|visit| visit.exponentials(&layout, seed, odd));
        }
    }

    #[test]
    fn norms(shape in shapes(), seed: u64) {
        if !shape.is_empty() {
            let layout = scrambled(&shape, seed, true);
            for_each_float(|visit| visit.norms(&layout, seed));
        }
    }

    #[test]
    fn arg_reductions(shape in shapes(), axis: usize, keep: bool, seed: u64) {
        if !shape.is_empty() {
            let layout = scrambled(&shape, seed, true);
            for dtype in DType::COMPUTE {
                match_dtype!(dtype, T => check_arg_reductions::<T>(&layout, axis % shape.len(), keep, seed));
            }
        }
    }
}

/// The checks of one float dtype.
struct Checks {
    exponentials: fn(&Layout, u64, bool),
    norms: fn(&Layout, u64),
}

impl Checks {
    fn exponentials(&self, layout: &Layout, seed: u64, odd: bool) {
        (self.exponentials)(layout, seed, odd);
    }
    fn norms(&self, layout: &Layout, seed: u64) {
        (self.norms)(layout, seed);
    }
}

fn for_each_float(visit: impl Fn(Checks)) {
    visit(Checks { exponentials: check_exponentials::<f16>, norms: check_norms::<f16> });
    visit(Checks { exponentials: check_exponentials::<bf16>, norms: check_norms::<bf16> });
    visit(Checks { exponentials: check_exponentials::<f32>, norms: check_norms::<f32> });
    visit(Checks { exponentials: check_exponentials::<f64>, norms: check_norms::<f64> });
}

#[test]
fn long_rows() {
    for shape in [vec![3, 5000], vec![1, 200_003], vec![70, 2049], vec![140_000]] {
        let dense = Layout::contiguous(Shape::from(shape.clone()));
        let order: Vec<usize> = (0..shape.len()).rev().collect();
        let transposed = Layout::contiguous(order.iter().map(|&axis| shape[axis]).collect()).permute(&order);
        for layout in [&dense, &transposed] {
            for_each_float(|visit| {
                visit.exponentials(layout, 3, false);
                visit.norms(layout, 4);
            });
            for axis in 0..shape.len() {
                check_arg_reductions::<f32>(layout, axis, false, 5);
                check_arg_reductions::<u8>(layout, axis, true, 6);
                check_arg_reductions::<f16>(layout, axis, false, 7);
            }
        }
    }
}

/// Rows of 600 with `special` at two indices among equal values, or everywhere.
fn check_special_values<T: Float>() {
    const LENGTH: usize = 600;
    let values = [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0];
    let mut rows: Vec<T> = Vec::new();
    let mut expected = [Vec::new(), Vec::new()];
    for special in values.map(T::nearest) {
        for usual in [T::from_i64(3), T::from_i64(-3), special] {
            for first in [0, 33, 511, 512, 598] {
                let at = |i| if i == first || i == LENGTH - 1 { special } else { usual };
                rows.extend((0..LENGTH).map(at));
                let is_extremum = |order| special.wide().is_nan() || special.order(usual) == Some(order);
                let index = |order| match special.order(usual) {
                    Some(std::cmp::Ordering::Equal) => 0,
                    None if usual.wide().is_nan() => 0,
                    _ if is_extremum(order) => first,
                    _ => usize::from(first == 0),
                };
                expected[0].push(index(std::cmp::Ordering::Greater) as u32);
                expected[1].push(index(std::cmp::Ordering::Less) as u32);
            }
        }
    }
    let count = expected[0].len();
    let src = Operand::dense(rows, &[count, LENGTH]);
    for (kind, expected) in [ArgReduceKind::ArgMax, ArgReduceKind::ArgMin].into_iter().zip(expected) {
        let mut dst = Operand::dense(vec![77u32; count], &[count]);
        arg_reduce(kind, src.view(), 1, dst.view_mut());
        assert_eq!(dst.data, expected, "{kind:?} {:?}", T::DTYPE);
    }
}

#[test]
fn smaller_instruction_sets() {
    let tests = ["exponentials", "long_rows", "infinities_behave_as_documented"];
    repeat_under(&["scalar", "avx2", "avx512"], &tests, 3);
}

#[test]
fn arg_reductions_of_special_values() {
    check_special_values::<f16>();
    check_special_values::<bf16>();
    check_special_values::<f32>();
    check_special_values::<f64>();
}

#[test]
fn infinities_behave_as_documented() {
    let inf = f32::INFINITY;
    let src = Operand::dense(vec![-inf, -inf, inf, 1.0, f32::NAN, 1.0, 0.0, -inf], &[4, 2]);
    let mut dst = Operand::dense(vec![0f32; 8], &[4, 2]);
    softmax(src.view(), dst.view_mut());
    assert!(dst.data[..6].iter().all(|x| x.is_nan()));
    assert_eq!(dst.data[6..], [1.0, 0.0]);
    let mut dst = Operand::dense(vec![0f32; 4], &[4]);
    logsumexp(src.view(), dst.view_mut());
    assert_eq!(dst.data[..2], [-inf, inf]);
    assert!(dst.data[2].is_nan());
    assert_eq!(dst.data[3], 0.0);
    let (mut maxima, mut logs) = (dst, Operand::dense(vec![5f32; 4], &[4]));
    shifted_logsumexp(src.view(), maxima.view_mut(), logs.view_mut());
    assert_eq!(maxima.data[..2], [-inf, inf]);
    assert!(maxima.data[2].is_nan());
    assert_eq!(logs.data, [0.0; 4]);
}

#[test]
fn shifted_logsumexp_is_accurate() {
    let src = Operand::dense(vec![1e8f32, 1e8, 0.0, 20.0, 0.0, 0.0], &[2, 3]);
    let [mut maxima, mut logs] = [0, 1].map(|_| Operand::dense(vec![5f32; 2], &[2]));
    shifted_logsumexp(src.view(), maxima.view_mut(), logs.view_mut());
    assert_eq!(maxima.data, [1e8, 20.0]);
    assert_eq!(logs.data[0], 2f32.ln());
    let expected = (2.0 * f64::exp(-20.0)).ln_1p();
    assert!((f64::from(logs.data[1]) - expected).abs() < 1e-6 * expected);
}
