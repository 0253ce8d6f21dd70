//! Floating-point functions against the standard library in double precision, in units in the last place (ulp).

use umber_kernels::tape::Program;
use umber_kernels::{View, ViewMut};
use umber_types::tape::{Step, Tape};
use umber_types::{BinaryKind, DType, Element, Layout, Shape, UnaryKind};

mod instruction_sets;
mod operands;
use instruction_sets::repeat_under;
use operands::Random;

fn unary<T: Element + Default>(kind: UnaryKind, x: &[T]) -> Vec<T> {
    let tape = Tape { inputs: vec![T::DTYPE], steps: vec![Step::Unary { kind, x: 0 }], outputs: vec![1] };
    let layout = Layout::contiguous(Shape::from([x.len()]));
    let mut out = vec![T::default(); x.len()];
    let program = Program::new(&tape).expect("floating-point dtypes are supported");
    program.run(&[View::of(x, &layout)], &mut [ViewMut::of(&mut out, &layout)]);
    out
}

fn binary<T: Element + Default>(kind: BinaryKind, a: &[T], b: &[T]) -> Vec<T> {
    let steps = vec![Step::Binary { kind, a: 0, b: 1 }];
    let tape = Tape { inputs: vec![T::DTYPE; 2], steps, outputs: vec![2] };
    let layout = Layout::contiguous(Shape::from([a.len()]));
    let mut out = vec![T::default(); a.len()];
    let program = Program::new(&tape).expect("floating-point dtypes are supported");
    program.run(&[View::of(a, &layout), View::of(b, &layout)], &mut [ViewMut::of(&mut out, &layout)]);
    out
}

/// Distance from the exact value in ulp of the nearest f32.
fn ulps(actual: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if actual.is_nan() || exact.is_nan() {
        return if actual.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if actual == nearest {
        let same_zero = actual != 0.0 || actual.is_sign_positive() == nearest.is_sign_positive();
        return if same_zero { 0.0 } else { f64::INFINITY };
    }
    if actual.is_infinite() || nearest.is_infinite() {
        // Rounding to infinity instead of the largest finite value, or vice versa, counts as one ulp.
        return if actual.abs() >= f32::MAX && nearest.abs() >= f32::MAX { 1.0 } else { f64::INFINITY };
    }
    let exponent = nearest.abs().max(f32::MIN_POSITIVE).log2().floor();
    (f64::from(actual) - exact).abs() / f64::from(exponent - 23.0).exp2()
}

const SPECIAL: [f32; 27] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    1e-45,
    -1e-45,
    1e-40,
    88.72,
    88.73,
    -87.34,
    -103.9,
    -104.1,
    16777216.0,
    0.99999994,
    1.0000001,
];

/// Arguments of every magnitude, dense in the intervals where the approximations change.
fn arguments() -> Vec<f32> {
    let mut random = Random(7);
    let mut all = SPECIAL.to_vec();
    all.extend((0..200_000).map(|_| f32::from_bits(random.next() as u32)));
    all.extend((0..100_000).map(|_| (random.uniform() * 2.0 - 1.0) as f32));
    all.extend((0..100_000).map(|_| (random.uniform() * 2.0 - 1.0) as f32 * 12.0));
    all.extend((0..100_000).map(|_| (random.uniform() * 2.0 - 1.0) as f32 * 105.0));
    all.extend((0..20_000).map(|_| 1.0 + (random.uniform() * 2.0 - 1.0) as f32 * 0.001));
    all.extend([-1.9583414, -3.4624777]);
    all
}

/// Arguments of moderate size: a block with larger ones takes the slow path of the trigonometric functions.
fn moderate() -> Vec<f32> {
    arguments().into_iter().filter(|x| x.is_nan() || x.abs() < 9e4).collect()
}

fn check(kind: UnaryKind, bound: f64, exact: impl Fn(f64) -> f64) {
    for x in [arguments(), moderate()] {
        let mut worst = (0.0, 0.0, 0.0);
        for (&x, actual) in x.iter().zip(unary(kind, &x)) {
            let error = ulps(actual, exact(f64::from(x)));
            if error > worst.0 {
                worst = (error, x, actual);
            }
        }
        println!("{:10} {:.3} ulp at {:e}", kind.name(), worst.0, worst.1);
        let (error, x, actual) = worst;
        let exact = exact(f64::from(x));
        assert!(error <= bound, "{} of {x:e}: got {actual:e}, expected {exact:e}: {error} ulp", kind.name());
    }
}

/// `erfc` by its continued fraction, independent of the kernels.
fn erfc(x: f64) -> f64 {
    if x < 1.0 {
        return 1.0 - erf(x);
    }
    let mut tail = 0.0;
    for k in (1..600).rev() {
        tail = k as f64 * 0.5 / (x + tail);
    }
    (-x * x).exp() / (x + tail) / std::f64::consts::PI.sqrt()
}

/// `erf` by its series.
fn erf(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x.abs() >= 1.0 {
        return (1.0 - erfc(x.abs())).copysign(x);
    }
    // e^(-x²) Σ 2^n x^(2n+1) / (2n+1)!!, where all terms have the same sign.
    let (mut term, mut sum) = (x, x);
    for n in 1..100 {
        term *= 2.0 * x * x / (2 * n + 1) as f64;
        sum += term;
    }
    sum * (-x * x).exp() * std::f64::consts::FRAC_2_SQRT_PI
}

#[test]
fn float32_functions_are_accurate() {
    use UnaryKind::*;
    check(Exp, 2.0, f64::exp);
    check(Expm1, 2.0, f64::exp_m1);
    check(Log, 2.0, f64::ln);
    check(Log2, 2.0, f64::log2);
    check(Log10, 2.0, f64::log10);
    check(Log1p, 2.0, f64::ln_1p);
    check(Sin, 2.0, f64::sin);
    check(Cos, 2.0, f64::cos);
    check(Tan, 1.0, f64::tan);
    check(Arcsin, 2.0, f64::asin);
    check(Arccos, 2.0, f64::acos);
    check(Arctan, 2.0, f64::atan);
    check(Sinh, 2.0, f64::sinh);
    check(Cosh, 2.0, f64::cosh);
    check(Tanh, 2.0, f64::tanh);
    check(Arcsinh, 1.0, asinh);
    check(
        Arccosh,
        1.0,
        |x| if x < 1.0 { f64::NAN } else { (x - 1.0 + ((x - 1.0) * (x + 1.0)).sqrt()).ln_1p() },
    );
    check(Arctanh, 1.0, |x| 0.5 * (x.ln_1p() - (-x).ln_1p()));
    check(Sigmoid, 2.0, |x| if x > 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) });
    check(Erf, 2.0, erf);
    check(Sqrt, 0.5, f64::sqrt);
    check(Rsqrt, 2.0, |x| 1.0 / x.sqrt());
    check(Reciprocal, 0.5, |x| 1.0 / x);
    check(Round, 0.5, f64::round_ties_even);
    check(Floor, 0.5, f64::floor);
    check(Ceil, 0.5, f64::ceil);
    check(Trunc, 0.5, f64::trunc);
    check(Cbrt, 0.6, f64::cbrt);
    check(Exp2, 0.6, f64::exp2);
    check(Erfc, 1.0, libm::erfc);
    // Near its negative zeros the relative error of `lgamma` is dominated by the rounding of the argument.
    check(LogGamma, 1.0, libm::lgamma);
    check(Exponent, 0.0, |x| f64::from(libm::frexp(x).1) * f64::from(u8::from(x.is_finite())));
}

fn asinh(x: f64) -> f64 {
    let a = x.abs();
    if a > 1e150 {
        return (a.ln() + std::f64::consts::LN_2).copysign(x);
    }
    (a + a * a / (1.0 + (1.0 + a * a).sqrt())).ln_1p().copysign(x)
}

#[test]
fn erfinv_inverts_erf() {
    let x: Vec<f32> = moderate().into_iter().filter(|x| x.abs() < 1.0).collect();
    for (&x, y) in x.iter().zip(unary(UnaryKind::ErfInv, &x)) {
        // Newton's step from the result, in double precision, estimates its error.
        let (x, y) = (f64::from(x), f64::from(y));
        let derivative = std::f64::consts::FRAC_2_SQRT_PI * (-y * y).exp();
        let excess = if y.abs() < 1.0 { erf(y) - x } else { x.signum() * ((1.0 - x.abs()) - erfc(y.abs())) };
        let error = ulps(y as f32, y - excess / derivative);
        assert!(error <= 2.0, "erfinv({x:e}) = {y:e}: {error} ulp");
    }
    let edges = unary(UnaryKind::ErfInv, &[1.0f32, -1.0, 0.0, -0.0, 1.5, f32::NAN]);
    assert_eq!(edges[..2], [f32::INFINITY, f32::NEG_INFINITY]);
    assert!(edges[2].is_sign_positive() && edges[3].is_sign_negative() && edges[3] == 0.0);
    assert!(edges[4].is_nan() && edges[5].is_nan());
}

#[test]
fn float64_functions_are_accurate() {
    let mut random = Random(11);
    let x: Vec<f64> = (0..100_000)
        .map(|i| (random.uniform() * 2.0 - 1.0) * [1.0, 12.0, 700.0, 1e-3][i % 4])
        .chain([0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-310, 710.0, -745.0, -746.0, 1e300])
        .chain([1e308, -1e308, f64::MAX, -1e5, -1e9])
        .collect();
    let near = |actual: f64, exact: f64, bound: f64| {
        actual == exact
            || actual.is_nan() && exact.is_nan()
            || (actual - exact).abs() <= bound * f64::EPSILON * exact.abs().max(f64::MIN_POSITIVE)
    };
    use UnaryKind::*;
    type Row = (UnaryKind, f64, fn(f64) -> f64);
    let table: [Row; 23] = [
        (Exp, 1.5, f64::exp),
        (Log, 1.5, f64::ln),
        (Expm1, 2.0, f64::exp_m1),
        (Log1p, 2.0, f64::ln_1p),
        (Sin, 2.0, f64::sin),
        (Cos, 2.0, f64::cos),
        (Tanh, 2.5, f64::tanh),
        (Exp2, 1.5, f64::exp2),
        (Log2, 1.5, f64::log2),
        (Log10, 1.5, f64::log10),
        (Tan, 1.5, f64::tan),
        (Arcsin, 1.5, f64::asin),
        (Arccos, 1.5, f64::acos),
        (Arctan, 1.5, f64::atan),
        (Sinh, 2.5, f64::sinh),
        (Cosh, 2.5, f64::cosh),
        (Arcsinh, 3.0, asinh),
        (Arccosh, 3.0, |x| match x {
            ..1.0 => f64::NAN,
            1e150.. => x.ln() + std::f64::consts::LN_2,
            _ => (x - 1.0 + ((x - 1.0) * (x + 1.0)).sqrt()).ln_1p(),
        }),
        (Cbrt, 1.5, f64::cbrt),
        (Sqrt, 0.5, f64::sqrt),
        (Erfc, 1.5, libm::erfc),
        // The reference series itself has rounding errors.
        (Erf, 8.0, erf),
        (Sigmoid, 3.0, |x| if x > 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }),
    ];
    for (kind, bound, exact) in table {
        for (&x, actual) in x.iter().zip(unary(kind, &x)) {
            let exact = exact(x);
            assert!(near(actual, exact, bound), "{}({x:e}) = {actual:e}, expected {exact:e}", kind.name());
        }
    }
    let inside: Vec<f64> = (0..100_000)
        .map(|_| random.uniform() * 2.0 - 1.0)
        .chain((1..50).map(|i| 1.0 - 0.5f64.powi(i)))
        .chain((1..300).map(|i| 0.1f64.powi(i)))
        .collect();
    for (&x, y) in inside.iter().zip(unary(ErfInv, &inside)) {
        let derivative = std::f64::consts::FRAC_2_SQRT_PI * (-y * y).exp();
        let excess = if y.abs() < 1.0 { erf(y) - x } else { x.signum() * ((1.0 - x.abs()) - erfc(y.abs())) };
        assert!((excess / derivative).abs() <= 1e-14 * y.abs().max(1e-300), "erfinv({x:e}) = {y:e}");
    }
}

fn pairs() -> (Vec<f32>, Vec<f32>) {
    let mut random = Random(3);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for x in SPECIAL {
        for y in SPECIAL {
            a.push(x);
            b.push(y);
        }
    }
    for i in 0..200_000 {
        let scale = [1.0, 10.0, 100.0][i % 3];
        a.push(((random.uniform() * 2.0 - 0.5) * scale) as f32);
        b.push(((random.uniform() * 2.0 - 1.0) * scale) as f32);
        a.push(f32::from_bits(random.next() as u32));
        b.push(f32::from_bits(random.next() as u32));
        a.push((random.uniform() * 6.0) as f32 - 3.0);
        b.push((random.below(21) as f32) - 10.0);
    }
    (a, b)
}

fn check_binary(kind: BinaryKind, bound: f64, exact: impl Fn(f64, f64) -> f64) {
    let (a, b) = pairs();
    for ((&a, &b), actual) in a.iter().zip(&b).zip(binary(kind, &a, &b)) {
        let exact = exact(f64::from(a), f64::from(b));
        let error = ulps(actual, exact);
        assert!(
            error <= bound,
            "{}({a:e}, {b:e}) = {actual:e}, expected {exact:e}: {error} ulp",
            kind.name()
        );
    }
}

#[test]
fn float32_functions_of_two_arguments_are_accurate() {
    use BinaryKind::*;
    check_binary(Power, 1.0, f64::powf);
    check_binary(Arctan2, 1.0, f64::atan2);
    check_binary(LogAddExp, 1.0, |a, b| {
        let high = if a.is_nan() { a } else { b.max(a) };
        let high = if b.is_nan() { b } else { high };
        if a == b { a + std::f64::consts::LN_2 } else { high + (-(a - b).abs()).exp().ln_1p() }
    });
    check_binary(Divide, 0.5, |a, b| a / b);
    check_binary(FloorDivide, 0.5, |a, b| f64::from((a as f32 / b as f32).floor()));
    check_binary(Remainder, 0.5, |a, b| {
        let (a, b) = (a as f32, b as f32);
        let remainder = a % b;
        let remainder =
            if remainder != 0.0 && (remainder < 0.0) != (b < 0.0) { remainder + b } else { remainder };
        f64::from(if remainder == 0.0 { remainder.copysign(b) } else { remainder })
    });
    check_binary(Hypot, 0.6, f64::hypot);
    check_binary(Fmod, 0.0, |a, b| f64::from(a as f32 % b as f32));
    check_binary(CopySign, 0.0, f64::copysign);
    check_binary(LogAddExp2, 1.0, |a, b| {
        let high = if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) };
        let distance = if a == b { 0.0 } else { (a - b).abs() };
        high + (-distance).exp2().ln_1p() * std::f64::consts::LOG2_E
    });
    check_binary(Maximum, 0.0, |a, b| if a.is_nan() || a > b { a } else { b });
    check_binary(Minimum, 0.0, |a, b| if a.is_nan() || a < b { a } else { b });
}

/// Powers near overflow and underflow, where an error of the logarithm is amplified most, for all bases and for bases near one.
#[test]
fn float32_powers_are_accurate_near_overflow_and_underflow() {
    let mut random = Random(11);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for i in 0..600_000 {
        let x = match i % 3 {
            0 => f32::from_bits(1 + random.below(0x7f7f_ffff) as u32),
            1 => (random.uniform() + 0.5) as f32,
            _ => 1.0 + ((random.uniform() - 0.5) * (-20.0 * random.uniform()).exp2()) as f32,
        };
        let exponent =
            if i % 2 == 0 { 120.0 + 9.0 * random.uniform() } else { -110.0 - 42.0 * random.uniform() };
        a.push(x);
        b.push((exponent / f64::from(x).log2()) as f32);
    }
    for ((&a, &b), actual) in a.iter().zip(&b).zip(binary(BinaryKind::Power, &a, &b)) {
        let exact = f64::from(a).powf(f64::from(b));
        let error = ulps(actual, exact);
        assert!(error <= 1.3, "power({a:e}, {b:e}) = {actual:e}, expected {exact:e}: {error} ulp");
    }
}

/// Powers that float32 can represent are exact.
#[test]
fn float32_powers_are_exact_if_representable() {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for x in 1..4096 {
        for y in 1..24 {
            if f64::from(x).powi(y) <= 16777216.0 {
                a.extend([x as f32, -x as f32, (x * x) as f32]);
                b.extend([y as f32, y as f32, 0.5]);
            }
        }
    }
    for ((&a, &b), actual) in a.iter().zip(&b).zip(binary(BinaryKind::Power, &a, &b)) {
        assert_eq!(actual, f64::from(a).powf(f64::from(b)) as f32, "power({a:e}, {b:e})");
    }
}

/// Arguments that need the slow path do not change the results of others in the same block.
#[test]
fn float32_powers_do_not_depend_on_their_neighbours() {
    let (a, b) = pairs();
    let all = binary(BinaryKind::Power, &a, &b);
    for (i, (&a, &b)) in a.iter().zip(&b).enumerate().step_by(97) {
        let single = binary(BinaryKind::Power, &[a], &[b])[0];
        assert!(
            single.to_bits() == all[i].to_bits() || single.is_nan() && all[i].is_nan(),
            "power({a:e}, {b:e})"
        );
    }
    let usual: Vec<usize> = (0..a.len()).filter(|&i| a[i].is_normal() && b[i].is_finite()).collect();
    let [x, y] = [&a, &b].map(|values| usual.iter().map(|&i| values[i]).collect::<Vec<_>>());
    for (&i, actual) in usual.iter().zip(binary(BinaryKind::Power, &x, &y)) {
        assert!(actual.to_bits() == all[i].to_bits() || actual.is_nan() && all[i].is_nan());
    }
}

/// The portable and the AVX2 instances are as accurate as the widest one.
#[test]
fn every_instruction_set_is_accurate() {
    repeat_under(
        &["scalar", "avx2"],
        &["float32_functions", "float32_powers", "float64_functions", "erfinv"],
        7,
    );
}

#[test]
fn float16_and_bfloat16_round_once() {
    use umber_types::{bf16, f16};
    let all: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    for (&x, actual) in all.iter().zip(unary(UnaryKind::Exp, &all)) {
        let nearest = f16::from_f64(x.to_f64().exp());
        let error = (actual.to_f64() - nearest.to_f64()).abs();
        assert!(
            actual.is_nan() == x.is_nan()
                && (x.is_nan() || actual == nearest || error <= nearest.to_f64() * 2e-3)
        );
    }
    let all: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    for (&x, actual) in all.iter().zip(unary(UnaryKind::Square, &all)) {
        let exact = bf16::from_f32(x.to_f32() * x.to_f32());
        assert!(actual == exact || actual.is_nan() && exact.is_nan());
    }
    assert_eq!(DType::Float16.size(), 2);
}
