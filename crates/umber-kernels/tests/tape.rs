//! Tapes against naive loops: every kind and dtype, random layouts, several outputs, donation.

use proptest::prelude::*;
use umber_kernels::tape::{Program, copy, supports_binary, supports_ternary, supports_unary};
use umber_kernels::{View, ViewMut};
use umber_types::tape::{Step, Tape};
use umber_types::{
    BinaryKind, Bool, Complex32, Complex64, DType, Element, ErrorKind, Layout, Scalar, Shape, TernaryKind,
    UnaryKind, bf16, f16, match_dtype,
};

mod operands;
use operands::{Operand, Random, Value, indices, position, scrambled, shapes};

/// Run a tape over dense vectors.
fn run<A: Element, D: Element + Default>(steps: Vec<Step>, inputs: &[Vec<A>]) -> Vec<D> {
    let outputs = vec![(inputs.len() + steps.len() - 1) as u32];
    let tape = Tape { inputs: vec![A::DTYPE; inputs.len()], steps, outputs };
    let layout = Layout::contiguous(Shape::from([inputs[0].len()]));
    let mut out = vec![D::default(); inputs[0].len()];
    let views: Vec<View> = inputs.iter().map(|input| View::of(input, &layout)).collect();
    Program::new(&tape).expect("the tape is valid").run(&views, &mut [ViewMut::of(&mut out, &layout)]);
    out
}

fn unary<A: Element, D: Element + Default>(kind: UnaryKind, x: &[A]) -> Vec<D> {
    run(vec![Step::Unary { kind, x: 0 }], &[x.to_vec()])
}

fn binary<A: Element, D: Element + Default>(kind: BinaryKind, a: &[A], b: &[A]) -> Vec<D> {
    run(vec![Step::Binary { kind, a: 0, b: 1 }], &[a.to_vec(), b.to_vec()])
}

fn cast<A: Element, D: Element + Default>(x: &[A]) -> Vec<D> {
    run(vec![Step::Cast { x: 0, to: D::DTYPE }], &[x.to_vec()])
}

#[test]
fn supported_dtypes_are_as_documented() {
    use BinaryKind::*;
    for dtype in DType::COMPUTE {
        for &kind in BinaryKind::ALL {
            let expected = match kind {
                Divide | LogAddExp | MultiplyAbsorbing => dtype.is_inexact(),
                Arctan2 | LogAddExp2 | Hypot | CopySign | Ldexp | Zeta | Polygamma | GammaInc | GammaIncC
                | Beta | BetaLn | Expn | RelEntr | GammaDensity | GammaIncInv | GammaIncCInv
                | GammaIncSlope | ZetaSlope => dtype.is_floating(),
                Fmod => dtype.is_integer() || dtype.is_floating(),
                Gcd => dtype.is_integer(),
                FloorDivide | Remainder => !dtype.is_complex(),
                BitwiseAnd | BitwiseOr | BitwiseXor => dtype.is_integer() || dtype == DType::Bool,
                LeftShift | RightShift => dtype.is_integer(),
                _ => true,
            };
            assert_eq!(supports_binary(kind, dtype), expected, "{} of {dtype}", kind.name());
        }
        use UnaryKind::*;
        for &kind in UnaryKind::ALL {
            let expected = match kind {
                Negative => dtype != DType::Bool,
                BitwiseInvert => dtype.is_integer() || dtype == DType::Bool,
                Floor | Ceil | Trunc | SignBit => !dtype.is_complex(),
                BitCount => dtype.is_integer(),
                Erf | ErfInv | Erfc | LogGamma | Digamma | I0 | I0e | I1 | I1e | Cbrt | Exponent | Gamma
                | Erfcx | ErfcInv | Ndtr | LogNdtr | Logit | Entr | Expi | Exp1 | Spence | J0 | J1 | Y0
                | Y1 | K0 | K0e | K1 | K1e => dtype.is_floating(),
                Abs | Sign | Square | Round | LogicalNot | Conjugate | Real | Imag | IsNan | IsInf
                | IsFinite => true,
                _ => dtype.is_inexact(),
            };
            assert_eq!(supports_unary(kind, dtype), expected, "{} of {dtype}", kind.name());
        }
        for &kind in TernaryKind::ALL {
            assert_eq!(supports_ternary(kind, dtype), dtype.is_floating(), "{} of {dtype}", kind.name());
        }
    }
}

#[test]
fn unsupported_dtypes_are_type_errors() {
    let steps = vec![Step::Binary { kind: BinaryKind::BitwiseAnd, a: 0, b: 0 }];
    let tape = Tape { inputs: vec![DType::Float32], steps, outputs: vec![1] };
    let error = Program::new(&tape).expect_err("bitwise_and does not support floats");
    assert!(error.kind() == ErrorKind::Type);
    assert!(
        error.to_string().starts_with("[bitwise_and] ") && error.to_string().contains("float32"),
        "{error}"
    );
    let steps = vec![Step::Binary { kind: BinaryKind::Add, a: 0, b: 1 }];
    let tape = Tape { inputs: vec![DType::Float32, DType::Int32], steps, outputs: vec![2] };
    assert!(matches!(Program::new(&tape), Err(error) if error.kind() == ErrorKind::Type));
    let tape =
        Tape { inputs: vec![], steps: vec![Step::Unary { kind: UnaryKind::Abs, x: 3 }], outputs: vec![0] };
    assert!(matches!(Program::new(&tape), Err(error) if error.kind() == ErrorKind::Value));
}

/// Every pair of edge-case integers, truncated to the type.
macro_rules! integer_pairs {
    ($ty:ty) => {{
        let edge_cases: Vec<$ty> = [0i64, 1, 2, 3, 5, 7, 8, 31, 32, 63, 64, 65, 100, -1, -2, -3, -7, -8, -64]
            .iter()
            .map(|&v| v as $ty)
            .chain([<$ty>::MIN, <$ty>::MAX, <$ty>::MAX - 1])
            .collect();
        let pairs = edge_cases.iter().flat_map(|&a| edge_cases.iter().map(move |&b| (a, b)));
        pairs.unzip::<$ty, $ty, Vec<_>, Vec<_>>()
    }};
}

macro_rules! check_integers {
    ($($ty:ident)*) => {$({
        let (a, b) = integer_pairs!($ty);
        // 128-bit arithmetic does not overflow; `as` wraps to the type.
        let wide = |kind: BinaryKind, exact: fn(i128, i128) -> i128| {
            for ((&x, &y), actual) in a.iter().zip(&b).zip(binary::<$ty, $ty>(kind, &a, &b)) {
                let expected = exact(x as i128, y as i128) as $ty;
                assert_eq!(actual, expected, "{}({x}, {y}) of {}", kind.name(), stringify!($ty));
            }
        };
        use BinaryKind::*;
        wide(Add, |x, y| x + y);
        wide(Subtract, |x, y| x - y);
        wide(Multiply, |x, y| x.wrapping_mul(y));
        wide(FloorDivide, |x, y| if y == 0 { 0 } else { (x - x.rem_euclid(y.abs()) - if y < 0 && x.rem_euclid(-y) != 0 { y } else { 0 }) / y });
        wide(Remainder, |x, y| if y == 0 { x } else { let r = x % y; if r != 0 && (r < 0) != (y < 0) { r + y } else { r } });
        wide(Maximum, |x, y| x.max(y));
        wide(Minimum, |x, y| x.min(y));
        wide(BitwiseAnd, |x, y| x & y);
        wide(BitwiseOr, |x, y| x | y);
        wide(BitwiseXor, |x, y| x ^ y);
        wide(LeftShift, |x, y| if (0..$ty::BITS as i128).contains(&y) { x << y } else { 0 });
        wide(RightShift, |x, y| if (0..$ty::BITS as i128).contains(&y) { x >> y } else { x >> 127 });
        wide(Power, |x, y| {
            if y < 0 { return 0; }
            let mut result: i128 = 1;
            // Only the low 64 bits of the power matter.
            let (mut base, mut exponent) = (x, y);
            while exponent > 0 {
                if exponent & 1 == 1 { result = result.wrapping_mul(base); }
                base = base.wrapping_mul(base);
                exponent >>= 1;
            }
            result
        });
        let test = |kind: BinaryKind, exact: fn($ty, $ty) -> bool| {
            for ((&x, &y), actual) in a.iter().zip(&b).zip(binary::<$ty, Bool>(kind, &a, &b)) {
                assert_eq!(actual, exact(x, y).into(), "{}({x}, {y})", kind.name());
            }
        };
        test(Equal, |x, y| x == y);
        test(NotEqual, |x, y| x != y);
        test(Less, |x, y| x < y);
        test(LessEqual, |x, y| x <= y);
        test(Greater, |x, y| x > y);
        test(GreaterEqual, |x, y| x >= y);
        test(LogicalAnd, |x, y| x != 0 && y != 0);
        test(LogicalOr, |x, y| x != 0 || y != 0);
        let one = |kind: UnaryKind, exact: fn(i128) -> i128| {
            for (&x, actual) in a.iter().zip(unary::<$ty, $ty>(kind, &a)) {
                assert_eq!(actual, exact(x as i128) as $ty, "{}({x})", kind.name());
            }
        };
        one(UnaryKind::Abs, i128::abs);
        one(UnaryKind::Negative, |x| -x);
        one(UnaryKind::Sign, i128::signum);
        one(UnaryKind::Square, |x| x.wrapping_mul(x));
        one(UnaryKind::BitwiseInvert, |x| !x);
        one(UnaryKind::Round, |x| x);
        one(UnaryKind::Imag, |_| 0);
    })*};
}

#[test]
fn integers_wrap_and_never_trap() {
    check_integers!(u8 u16 u32 u64 i8 i16 i32 i64);
}

#[test]
fn bool_arithmetic() {
    // Any nonzero byte is true; results are 0 or 1.
    let a = [Bool(1), Bool(255), Bool(0), Bool(0)];
    let b = [Bool(2), Bool(0), Bool(7), Bool(0)];
    use BinaryKind::*;
    let table: [(BinaryKind, [u8; 4]); 12] = [
        (Add, [1, 1, 1, 0]),
        (Subtract, [0, 1, 1, 0]),
        (Multiply, [1, 0, 0, 0]),
        (Maximum, [1, 1, 1, 0]),
        (Minimum, [1, 0, 0, 0]),
        (Power, [1, 1, 0, 1]),
        (Remainder, [0, 1, 0, 0]),
        (FloorDivide, [1, 0, 0, 0]),
        (Equal, [1, 0, 0, 1]),
        (Less, [0, 0, 1, 0]),
        (LogicalAnd, [1, 0, 0, 0]),
        (BitwiseXor, [0, 1, 1, 0]),
    ];
    for (kind, expected) in table {
        assert_eq!(binary::<Bool, Bool>(kind, &a, &b), expected.map(Bool), "{}", kind.name());
    }
    assert_eq!(unary::<Bool, Bool>(UnaryKind::LogicalNot, &a), [0, 0, 1, 1].map(Bool));
    assert_eq!(cast::<Bool, i32>(&a), [1, 1, 0, 0]);
    assert_eq!(cast::<Bool, f16>(&a).iter().map(|x| x.to_f32()).collect::<Vec<_>>(), [1.0, 1.0, 0.0, 0.0]);
}

/// Casts between all pairs of dtypes agree with [`Scalar::cast`].
#[test]
fn casts_agree_with_scalars() {
    let numbers = [
        Scalar::Float(0.0),
        Scalar::Float(-1.0),
        Scalar::Float(2.75),
        Scalar::Float(-3.9),
        Scalar::Float(300.0),
        Scalar::Float(-129.0),
        Scalar::Float(65519.9),
        Scalar::Float(70000.0),
        Scalar::Float(1e10),
        Scalar::Float(-1e10),
        Scalar::Float(1e300),
        Scalar::Float(f64::NAN),
        Scalar::Float(f64::NEG_INFINITY),
        // Ties of float16 and bfloat16, and values just above them, which rounding through f32 gets wrong.
        Scalar::Float(1.0 + 2f64.powi(-11)),
        Scalar::Float(1.0 + 2f64.powi(-11) + 2f64.powi(-40)),
        Scalar::Float(1.0 + 2f64.powi(-8) + 2f64.powi(-40)),
        Scalar::Int(i64::MIN),
        Scalar::Int(i64::MAX),
        Scalar::Int(16_842_753),
        Scalar::UInt(u64::MAX),
        Scalar::Complex(1.5, -2.5),
        Scalar::Complex(0.0, 1.0),
    ];
    for from in DType::COMPUTE {
        for to in DType::COMPUTE {
            for number in numbers {
                let source = number.cast(from);
                let actual = match_dtype!(from, S => match_dtype!(to, D => {
                    let value = S::read(source);
                    let tape = Tape { inputs: vec![from], steps: vec![Step::Cast { x: 0, to }], outputs: vec![1] };
                    let layout = Layout::contiguous(Shape::from([1]));
                    let mut out = [D::read(Scalar::Bool(false))];
                    let program = Program::new(&tape).expect("every cast exists");
                    program.run(&[View::of(&[value], &layout)], &mut [ViewMut::of(&mut out, &layout)]);
                    out[0].write()
                }));
                if to.is_half() {
                    assert!(
                        is_nearest(actual.as_f64(), source.as_f64(), to),
                        "{source:?} {from} to {to}: {actual:?}"
                    );
                    continue;
                }
                let expected = source.cast(to);
                let nan = |s: Scalar| s.as_complex().0.is_nan();
                assert!(
                    actual == expected || nan(actual) && nan(expected),
                    "{source:?} {from} to {to}: {actual:?}, expected {expected:?}"
                );
            }
        }
    }
}

/// True if no value of the 16-bit dtype is nearer to `exact` than `actual`.
fn is_nearest(actual: f64, exact: f64, dtype: DType) -> bool {
    if actual.is_nan() || exact.is_nan() {
        return actual.is_nan() && exact.is_nan();
    }
    let neighbours = match dtype {
        DType::Float16 => [-1, 1]
            .map(|d: i16| f16::from_bits(f16::from_f64(actual).to_bits().wrapping_add_signed(d)).to_f64()),
        _ => [-1, 1]
            .map(|d: i16| bf16::from_bits(bf16::from_f64(actual).to_bits().wrapping_add_signed(d)).to_f64()),
    };
    // For rounding, infinity counts as the next value after the largest finite one.
    let extended = |x: f64| {
        if x.is_infinite() {
            x.signum() * if dtype == DType::Float16 { 65536.0 } else { 2f64.powi(128) }
        } else {
            x
        }
    };
    if actual.is_infinite() && exact.abs() >= extended(actual).abs() {
        return true;
    }
    neighbours
        .iter()
        .all(|&other| other.is_nan() || (extended(actual) - exact).abs() <= (extended(other) - exact).abs())
}

/// Conversions of elements from and to [`Scalar`].
trait Constant: Element {
    fn read(value: Scalar) -> Self;
    fn write(self) -> Scalar;
}

impl<T: Element> Constant for T {
    fn read(value: Scalar) -> T {
        let bytes = value.to_bytes(T::DTYPE);
        // SAFETY: the bytes are those of an element, and every bit pattern is valid.
        unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
    }
    fn write(self) -> Scalar {
        let mut bytes = [0u8; 16];
        // SAFETY: an element is at most 16 bytes.
        unsafe { bytes.as_mut_ptr().cast::<T>().write_unaligned(self) };
        Scalar::from_bytes(T::DTYPE, &bytes)
    }
}

#[test]
fn signs_and_classes_of_floats() {
    let x = [f32::NAN, -0.0, 0.0, 3.0, -2.0, f32::INFINITY];
    let signs: Vec<f32> = unary(UnaryKind::Sign, &x);
    assert!(signs[0].is_nan());
    assert_eq!(signs[1..], [0.0, 0.0, 1.0, -1.0, 1.0]);
    assert_eq!(unary::<f32, Bool>(UnaryKind::IsNan, &x), [1, 0, 0, 0, 0, 0].map(Bool));
    assert_eq!(unary::<f32, Bool>(UnaryKind::IsInf, &x), [0, 0, 0, 0, 0, 1].map(Bool));
    assert_eq!(unary::<f32, Bool>(UnaryKind::IsFinite, &x), [0, 1, 1, 1, 1, 0].map(Bool));
    assert_eq!(unary::<f32, f32>(UnaryKind::Round, &[0.5, 1.5, 2.5, -0.5]), [0.0, 2.0, 2.0, 0.0]);
}

/// Steps on scrambled layouts give the same results as on dense ones.
fn check_layouts<T: Value>(shape: &[usize], seed: u64) -> std::result::Result<(), TestCaseError> {
    let mut random = Random(seed);
    let mut draw = || T::from_i64(random.below(23) as i64 - 9);
    let a = Operand::under(&scrambled(shape, seed, true), &mut draw);
    let b = Operand::under(&scrambled(shape, seed + 1, true), &mut draw);
    let condition = Operand::under(&scrambled(shape, seed + 2, true), || Bool((seed >> 3) as u8 & 1));
    // where(c, a, b) * a, and a + b.
    let steps = vec![
        Step::Select { condition: 0, a: 1, b: 2 },
        Step::Binary { kind: BinaryKind::Multiply, a: 3, b: 1 },
        Step::Binary { kind: BinaryKind::Add, a: 1, b: 2 },
    ];
    let tape = Tape { inputs: vec![DType::Bool, T::DTYPE, T::DTYPE], steps, outputs: vec![4, 5, 2] };
    let mut outs: Vec<Operand<T>> =
        (3..6).map(|i| Operand::under(&scrambled(shape, seed + i, false), || T::from_i64(0))).collect();
    let program = Program::new(&tape).expect("numbers multiply and add");
    let mut views: Vec<ViewMut> = outs.iter_mut().map(Operand::view_mut).collect();
    program.run(&[condition.view(), a.view(), b.view()], &mut views);
    for index in indices(shape) {
        let (c, x, y) = (condition.at(&index), a.at(&index), b.at(&index));
        let selected = if c.get() { x } else { y };
        prop_assert!(outs[0].at(&index).same(selected.times(x)), "{:?} at {index:?}", T::DTYPE);
        prop_assert!(outs[1].at(&index).same(x.plus(y)), "{:?} at {index:?}", T::DTYPE);
        prop_assert!(outs[2].at(&index) == y, "{:?} at {index:?}", T::DTYPE);
    }
    Ok(())
}

fn check_copies<T: Value>(shape: &[usize], seed: u64) -> std::result::Result<(), TestCaseError> {
    let mut random = Random(seed);
    let from = Operand::under(&scrambled(shape, seed, true), || T::from_i64(random.below(100) as i64));
    let mut to = Operand::under(&scrambled(shape, seed + 1, false), || T::from_i64(101));
    let before = to.data.clone();
    copy(from.view(), to.view_mut());
    let mut written = vec![false; to.data.len()];
    for index in indices(shape) {
        prop_assert_eq!(to.at(&index), from.at(&index));
        written[position(&to.layout, &index)] = true;
    }
    for ((now, before), written) in to.data.iter().zip(&before).zip(written) {
        prop_assert!(written || now == before, "an element outside the view changed");
    }
    Ok(())
}

proptest! {
    #[test]
    fn tapes_run_over_any_layout(shape in shapes(), seed in any::<u64>(), dtype in 0usize..15) {
        match_dtype!(DType::COMPUTE[dtype], T => check_layouts::<T>(&shape, seed >> 8)?);
    }

    #[test]
    fn copies_between_any_layouts(shape in shapes(), seed in any::<u64>(), dtype in 0usize..15) {
        match_dtype!(DType::COMPUTE[dtype], T => check_copies::<T>(&shape, seed >> 8)?);
    }
}

#[test]
fn large_and_odd_sizes() {
    for count in [0usize, 1, 63, 64, 65, 511, 512, 513, 1000, 100_003, 3_000_001] {
        let x: Vec<f32> = (0..count).map(|i| i as f32).collect();
        let y: Vec<f32> = run(
            vec![
                Step::Constant { value: Scalar::Float(0.5), dtype: DType::Float32 },
                Step::Binary { kind: BinaryKind::Multiply, a: 0, b: 1 },
                Step::Binary { kind: BinaryKind::Add, a: 2, b: 0 },
            ],
            &[x],
        );
        assert!(y.iter().enumerate().all(|(i, &y)| y == i as f32 * 0.5 + i as f32), "{count}");
    }
}

/// Outputs of more than 8 MB are written with non-temporal stores, if their alignment allows it.
#[test]
fn bool_results_of_large_operands() {
    let count = (8 << 20) + 64 * 3 + 5;
    let value = |i: usize| (i * 7919 % 1009) as f32;
    let x: Vec<f32> = (0..count).map(value).collect();
    let y: Vec<f32> = (0..count).map(|i| value(i + 1)).collect();
    let layout = Layout::contiguous(Shape::from([count]));
    let mut memory = vec![Bool::default(); count + 128];
    let line = memory.as_ptr().align_offset(64);
    let compare = |kind| vec![Step::Binary { kind, a: 0, b: 1 }];
    let is_zero = Step::Unary { kind: UnaryKind::LogicalNot, x: 0 };
    type Expected = fn(f32, f32) -> bool;
    let cases: [(Vec<Step>, Expected); 4] = [
        (compare(BinaryKind::Less), |x, y| x < y),
        (compare(BinaryKind::GreaterEqual), |x, y| x >= y),
        (vec![is_zero.clone()], |x, _| x == 0.0),
        (vec![is_zero, Step::Unary { kind: UnaryKind::LogicalNot, x: 2 }], |x, _| x != 0.0),
    ];
    for (steps, expected) in cases {
        let outputs = vec![steps.len() as u32 + 1];
        let tape = Tape { inputs: vec![DType::Float32; 2], steps, outputs };
        let program = Program::new(&tape).unwrap();
        for begin in [line, line + 1] {
            memory.fill(Bool::default());
            let out = &mut memory[begin..begin + count];
            program.run(&[View::of(&x, &layout), View::of(&y, &layout)], &mut [ViewMut::of(out, &layout)]);
            assert!(out.iter().zip(x.iter().zip(&y)).all(|(out, (&x, &y))| out.get() == expected(x, y)));
            assert!(memory[begin + count..].iter().all(|beyond| !beyond.get()));
        }
    }
}

#[test]
fn large_layouts_in_two_axes() {
    // Dense, transposed, broadcast along rows and along columns: 700 by 900 elements take several threads.
    let (rows, columns) = (700usize, 900usize);
    let shape = Shape::from([rows, columns]);
    let a: Vec<f32> = (0..rows * columns).map(|i| (i % 1009) as f32).collect();
    let line: Vec<f32> = (0..rows.max(columns)).map(|i| i as f32).collect();
    let dense = Layout::contiguous(shape.clone());
    let mut transposed = dense.clone();
    transposed.strides = smallvec(&[1, rows as isize]);
    let mut row = dense.clone();
    row.strides = smallvec(&[0, 1]);
    let mut column = dense.clone();
    column.strides = smallvec(&[1, 0]);
    let add = |a, b| Step::Binary { kind: BinaryKind::Add, a, b };
    let tape = Tape {
        inputs: vec![DType::Float32; 4],
        steps: vec![add(0, 1), add(4, 2), add(5, 3)],
        outputs: vec![6],
    };
    let program = Program::new(&tape).expect("floats add");
    let mut out = vec![0f32; rows * columns];
    let views =
        [View::of(&a, &dense), View::of(&a, &transposed), View::of(&line, &row), View::of(&line, &column)];
    program.run(&views, &mut [ViewMut::of(&mut out, &dense)]);
    for i in 0..rows {
        for j in 0..columns {
            let expected = a[i * columns + j] + a[j * rows + i] + j as f32 + i as f32;
            assert_eq!(out[i * columns + j], expected, "{i} {j}");
        }
    }
    let mut copied = vec![0f32; rows * columns];
    copy(View::of(&a, &transposed), ViewMut::of(&mut copied, &dense));
    assert!((0..rows * columns).all(|k| copied[k] == a[k % columns * rows + k / columns]));
}

fn smallvec(strides: &[isize]) -> umber_types::layout::Strides {
    strides.iter().copied().collect()
}

/// One output in the memory of one input, another in that of a second, for all block lengths.
#[test]
fn outputs_may_be_donated_inputs() {
    for count in [1usize, 64, 700, 50_000] {
        let layout = Layout::contiguous(Shape::from([count]));
        let mut a: Vec<f32> = (0..count).map(|i| i as f32).collect();
        let mut b: Vec<f32> = (0..count).map(|i| 1e6 - i as f32).collect();
        // a' = a - b, b' = a: the second output is an input.
        let steps = vec![Step::Binary { kind: BinaryKind::Subtract, a: 0, b: 1 }];
        let tape = Tape { inputs: vec![DType::Float32; 2], steps, outputs: vec![2, 0] };
        let (pa, pb) = (a.as_mut_ptr().cast::<u8>(), b.as_mut_ptr().cast::<u8>());
        // SAFETY: the vectors outlive the views and are not accessed while these exist.
        unsafe {
            let inputs = [View::new(pa, DType::Float32, &layout), View::new(pb, DType::Float32, &layout)];
            let outputs =
                [ViewMut::new(pa, DType::Float32, &layout), ViewMut::new(pb, DType::Float32, &layout)];
            let mut outputs = outputs;
            Program::new(&tape).expect("floats subtract").run(&inputs, &mut outputs);
        }
        assert!((0..count).all(|i| b[i] == i as f32 && a[i] == i as f32 - (1e6 - i as f32)), "{count}");
    }
}

/// A multiplication is fused into an addition only if nothing else uses the product.
#[test]
fn multiply_add_is_fused_only_if_the_product_has_one_use() {
    let count = 700;
    let layout = Layout::contiguous(Shape::from([count]));
    let x: Vec<f32> = (0..count).map(|i| 1.0 + i as f32 * 1e-3).collect();
    let y: Vec<f32> = (0..count).map(|i| 0.1 * i as f32 - 3.0).collect();
    let one = Step::Constant { value: Scalar::Float(1.0), dtype: DType::Float32 };
    let step = |kind, a, b| Step::Binary { kind, a, b };
    use BinaryKind::{Add, Multiply};
    // Values: x, y, 1, x y, 1 + x y, (x y) y, x y + x.
    let steps = vec![
        one.clone(),
        step(Multiply, 0, 1),
        step(Add, 2, 3),
        step(Multiply, 3, 1),
        step(Add, 3, 0),
        step(Add, 5, 5),
    ];
    for outputs in [vec![4u32], vec![4, 3], vec![4, 5], vec![6, 4], vec![7]] {
        let tape = Tape { inputs: vec![DType::Float32; 2], steps: steps.clone(), outputs: outputs.clone() };
        let mut out = vec![vec![0f32; count]; outputs.len()];
        let mut views: Vec<ViewMut> = out.iter_mut().map(|out| ViewMut::of(out, &layout)).collect();
        let program = Program::new(&tape).expect("floats multiply");
        program.run(&[View::of(&x, &layout), View::of(&y, &layout)], &mut views);
        for (out, id) in out.iter().zip(outputs) {
            for (i, (&x, &y)) in x.iter().zip(&y).enumerate() {
                let product = x * y;
                let expected =
                    [x, y, 1.0, product, 1.0 + product, product * y, product + x, product * y + product * y];
                assert_eq!(out[i], expected[id as usize], "value {id} at {i}");
            }
        }
    }
    let steps = vec![step(Multiply, 0, 1), one, step(Add, 3, 2)];
    let actual: Vec<f32> = run(steps, &[x.clone(), y.clone()]);
    assert!((0..count).all(|i| actual[i] == 1.0 + x[i] * y[i]));
}

#[test]
fn dtypes_mix_through_casts() {
    // float16(x) * 3 as int32, compared with a threshold, selected from two int32 values.
    let count = 1000;
    let x: Vec<f16> = (0..count).map(|i| f16::from_f32(i as f32 * 0.25)).collect();
    let layout = Layout::contiguous(Shape::from([count]));
    let steps = vec![
        Step::Constant { value: Scalar::Float(3.0), dtype: DType::Float16 },
        Step::Binary { kind: BinaryKind::Multiply, a: 0, b: 1 },
        Step::Cast { x: 2, to: DType::Int32 },
        Step::Constant { value: Scalar::Int(100), dtype: DType::Int32 },
        Step::Binary { kind: BinaryKind::Less, a: 3, b: 4 },
        Step::Select { condition: 5, a: 3, b: 4 },
        Step::Cast { x: 6, to: DType::BFloat16 },
        Step::Cast { x: 6, to: DType::Complex128 },
    ];
    let tape = Tape { inputs: vec![DType::Float16], steps, outputs: vec![7, 8, 5] };
    let mut bfloat16s = vec![bf16::ZERO; count];
    let mut complexes = vec![umber_types::Complex64::default(); count];
    let mut tests = vec![Bool(9); count];
    Program::new(&tape).expect("the tape is valid").run(
        &[View::of(&x, &layout)],
        &mut [
            ViewMut::of(&mut bfloat16s, &layout),
            ViewMut::of(&mut complexes, &layout),
            ViewMut::of(&mut tests, &layout),
        ],
    );
    for i in 0..count {
        let truncated = (i as f32 * 0.25 * 3.0) as i32;
        let selected = truncated.min(100);
        assert_eq!(bfloat16s[i], bf16::from_f32(selected as f32));
        assert_eq!(complexes[i], umber_types::Complex64::new(f64::from(selected), 0.0));
        assert_eq!(tests[i], Bool((truncated < 100) as u8));
    }
}

#[test]
fn a_cast_to_float16_rounds_immediately() {
    let x = [1.0f32 + 2f32.powi(-12), 3.3];
    let steps = vec![Step::Cast { x: 0, to: DType::Float16 }, Step::Cast { x: 1, to: DType::Float32 }];
    let actual: Vec<f32> = run(steps, &[x.to_vec()]);
    assert_eq!(actual, x.map(|x| f16::from_f32(x).to_f32()));
}

#[test]
fn complex_ordering_and_arithmetic() {
    let c = |re, im| Complex32 { re, im };
    let a = [c(1.0, 2.0), c(3.0, -1.0), c(0.0, 1.0), c(0.0, 0.0)];
    let b = [c(1.0, 3.0), c(3.0, -2.0), c(0.0, 1.0), c(1.0, 0.0)];
    assert_eq!(binary::<_, Bool>(BinaryKind::Less, &a, &b), [1, 0, 0, 1].map(Bool));
    assert_eq!(binary::<_, Bool>(BinaryKind::GreaterEqual, &a, &b), [0, 1, 1, 0].map(Bool));
    assert_eq!(binary::<_, Complex32>(BinaryKind::Maximum, &a, &b), [b[0], a[1], a[2], b[3]]);
    assert_eq!(
        binary::<_, Complex32>(BinaryKind::Multiply, &a, &b),
        [c(-5.0, 5.0), c(7.0, -9.0), c(-1.0, 0.0), a[3]]
    );
    let quotient = binary::<_, Complex32>(BinaryKind::Divide, &a, &b);
    assert_eq!(quotient[2..], [c(1.0, 0.0), c(0.0, 0.0)]);
    assert!((quotient[0].re - 0.7).abs() < 1e-7 && (quotient[0].im + 0.1).abs() < 1e-7);
    let big = [c(3e38, 4e37)];
    assert!(unary::<_, f32>(UnaryKind::Abs, &big)[0].is_finite());
    let root = unary::<_, Complex32>(UnaryKind::Sqrt, &[c(-4.0, 0.0), c(-4.0, -0.0)]);
    assert_eq!(root, [c(0.0, 2.0), c(0.0, -2.0)]);
}

/// Complex functions satisfy their defining identities, for arguments of moderate size.
#[test]
fn complex_functions_satisfy_their_identities() {
    use num_complex::Complex64 as C;
    let mut random = Random(5);
    let z: Vec<C> =
        (0..4000).map(|_| C::new(random.uniform() * 8.0 - 4.0, random.uniform() * 8.0 - 4.0)).collect();
    let f = |kind| unary::<C, C>(kind, &z);
    let g = |kind, w: &[C]| unary::<C, C>(kind, w);
    let near = |name: &str, actual: &[C], expected: &[C]| {
        for ((f, e), z) in actual.iter().zip(expected).zip(&z) {
            assert!((f - e).norm() <= 1e-11 * (1.0 + e.norm()), "{name} at {z}: {f}, expected {e}");
        }
    };
    use UnaryKind::*;
    near("exp log", &g(Exp, &f(Log)), &z);
    near("sqrt²", &g(Square, &f(Sqrt)), &z);
    let i = C::new(0.0, 1.0);
    let exponential: Vec<C> = z.iter().map(|z| C::from_polar(z.re.exp(), z.im)).collect();
    near("exp", &f(Exp), &exponential);
    let sine: Vec<C> = z.iter().map(|&z| ((i * z).exp() - (-i * z).exp()) / (2.0 * i)).collect();
    near("sin", &f(Sin), &sine);
    let cosine: Vec<C> = z.iter().map(|&z| ((i * z).exp() + (-i * z).exp()) / 2.0).collect();
    near("cos", &f(Cos), &cosine);
    near("tan", &f(Tan), &sine.iter().zip(&cosine).map(|(s, c)| s / c).collect::<Vec<_>>());
    let hyperbolic: Vec<C> = z.iter().map(|&z| (z.exp() - (-z).exp()) / 2.0).collect();
    near("sinh", &f(Sinh), &hyperbolic);
    for (function, inverse) in [
        (Sin, Arcsin),
        (Cos, Arccos),
        (Tan, Arctan),
        (Sinh, Arcsinh),
        (Cosh, Arccosh),
        (Tanh, Arctanh),
        (Expm1, Log1p),
    ] {
        near(inverse.name(), &g(function, &f(inverse)), &z);
    }
    // Principal values, by their ranges.
    assert!(f(Arcsin).iter().all(|w| w.re.abs() <= std::f64::consts::FRAC_PI_2));
    assert!(f(Arccos).iter().all(|w| (0.0..=std::f64::consts::PI).contains(&w.re)));
    assert!(f(Arccosh).iter().all(|w| w.re >= 0.0));
    assert!(f(Sqrt).iter().all(|w| w.re >= 0.0));
    let cube = binary::<C, C>(BinaryKind::Power, &z, &vec![C::new(3.0, 0.0); z.len()]);
    near("power", &cube, &z.iter().map(|z| z * z * z).collect::<Vec<_>>());
}

#[test]
fn multiply_absorbing_gives_zero_for_zero_times_infinity() {
    let (zero, infinity) = (0.0f32, f32::INFINITY);
    let a = [zero, infinity, zero, f32::NAN, 2.0, infinity];
    let b = [infinity, zero, f32::NAN, zero, 3.0, -2.0];
    let actual: Vec<f32> = binary(BinaryKind::MultiplyAbsorbing, &a, &b);
    assert_eq!(actual[..2], [0.0, 0.0]);
    assert!(actual[2].is_nan() && actual[3].is_nan());
    assert_eq!(actual[4..], [6.0, -infinity]);
    let a = [Complex64::new(0.0, 0.0), Complex64::new(1.0, 1.0)];
    let b = [Complex64::new(f64::INFINITY, 1.0), Complex64::new(0.0, 2.0)];
    let actual: Vec<Complex64> = binary(BinaryKind::MultiplyAbsorbing, &a, &b);
    assert_eq!(actual, [Complex64::new(0.0, 0.0), Complex64::new(-2.0, 2.0)]);
}
