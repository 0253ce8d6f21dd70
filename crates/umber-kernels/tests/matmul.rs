//! Matrix products against their definition.

use proptest::prelude::*;
use umber_kernels::matmul::matmul_program;
use umber_kernels::tape::Program;
use umber_kernels::{View, ViewMut, addmm, matmul};
use umber_types::tape::{Step, Tape};
use umber_types::{BinaryKind, Bool, Complex32, Complex64, Element, Layout, Shape, UnaryKind, bf16, f16};

mod instruction_sets;
use instruction_sets::repeat_under;

/// Element types with an exact or much wider accumulator type for comparison.
trait Number: Element {
    type Acc: Copy + std::fmt::Debug;
    const ZERO: Self;
    fn of(seed: u64) -> Self;
    fn wide(self) -> Self::Acc;
    fn sum(sum: Self::Acc, x: Self::Acc, y: Self::Acc) -> Self::Acc;
    fn factor(value: f64) -> Self::Acc;
    /// True if `self` equals the value up to the rounding of a sum of `terms`.
    fn is(self, value: Self::Acc, terms: usize) -> bool;
}

macro_rules! integers {
    ($($ty:ty),*) => {$(impl Number for $ty {
        type Acc = i128;
        const ZERO: $ty = 0;
        fn of(seed: u64) -> $ty { seed as $ty }
        fn wide(self) -> i128 { self as i128 }
        fn sum(sum: i128, x: i128, y: i128) -> i128 { sum.wrapping_add(x.wrapping_mul(y)) }
        fn factor(value: f64) -> i128 { value as i128 }
        fn is(self, value: i128, _: usize) -> bool { self == value as $ty }
    })*};
}
integers!(u8, u16, u32, u64, i8, i16, i32, i64);

macro_rules! floats {
    ($($ty:ty, $zero:expr, $make:expr, $eps:expr);*) => {$(impl Number for $ty {
        type Acc = f64;
        const ZERO: $ty = $zero;
        fn of(seed: u64) -> $ty { $make((seed % 257) as f64 / 128.0 - 1.0) }
        fn wide(self) -> f64 { f64::from(self) }
        fn sum(sum: f64, x: f64, y: f64) -> f64 { sum + x * y }
        fn factor(value: f64) -> f64 { value }
        fn is(self, value: f64, terms: usize) -> bool {
            // Terms are below four; float16 and bfloat16 accumulate in float32.
            let sums = 4.0 * (terms + 2) as f64 * f64::min($eps, f32::EPSILON.into());
            (self.wide() - value).abs() <= value.abs() * $eps + sums
        }
    })*};
}
floats! {
    f32, 0.0, |x| x as f32, f64::from(f32::EPSILON);
    f64, 0.0, |x| x, f64::EPSILON;
    f16, f16::ZERO, f16::from_f64, 4.9e-4;
    bf16, bf16::ZERO, bf16::from_f64, 3.92e-3
}

macro_rules! complexes {
    ($($ty:ty, $part:ty);*) => {$(impl Number for $ty {
        type Acc = Complex64;
        const ZERO: $ty = <$ty>::new(0.0, 0.0);
        fn of(seed: u64) -> $ty { <$ty>::new(<$part>::of(seed), <$part>::of(seed / 257)) }
        fn wide(self) -> Complex64 { Complex64::new(self.re.into(), self.im.into()) }
        fn sum(sum: Complex64, x: Complex64, y: Complex64) -> Complex64 { sum + x * y }
        fn factor(value: f64) -> Complex64 { value.into() }
        fn is(self, value: Complex64, terms: usize) -> bool {
            self.re.is(value.re, 2 * terms) && self.im.is(value.im, 2 * terms)
        }
    })*};
}
complexes! { Complex32, f32; Complex64, f64 }

impl Number for Bool {
    type Acc = bool;
    const ZERO: Bool = Bool(0);
    // Any nonzero byte is true. True is rare, since otherwise every sum would be true.
    fn of(seed: u64) -> Bool {
        Bool(if seed.is_multiple_of(7) { seed as u8 } else { 0 })
    }
    fn wide(self) -> bool {
        self.get()
    }
    fn sum(sum: bool, x: bool, y: bool) -> bool {
        sum || (x && y)
    }
    fn factor(value: f64) -> bool {
        value != 0.0
    }
    fn is(self, value: bool, _: usize) -> bool {
        self.0 == u8::from(value)
    }
}

/// Deterministic pseudo-random numbers.
fn noise(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 24
}

/// The memory layout of an operand.
#[derive(Clone, Copy, Debug)]
enum MatrixLayout {
    Dense,
    Transposed,
    Every,
    Backwards,
    Padded,
    Shared,
}
const LAYOUTS: [MatrixLayout; 6] = [
    MatrixLayout::Dense,
    MatrixLayout::Transposed,
    MatrixLayout::Every,
    MatrixLayout::Backwards,
    MatrixLayout::Padded,
    MatrixLayout::Shared,
];

struct Operand<T> {
    data: Vec<T>,
    layout: Layout,
}

impl<T: Number> Operand<T> {
    fn new(
        batch: &[usize],
        rows: usize,
        columns: usize,
        matrix_layout: MatrixLayout,
        seed: u64,
    ) -> Operand<T> {
        let d = batch.len();
        let shape: Shape = batch.iter().copied().chain([rows, columns]).collect();
        let zeros = vec![0; d + 2];
        let layout = match matrix_layout {
            MatrixLayout::Dense => Layout::contiguous(shape),
            MatrixLayout::Transposed => {
                let stored: Shape = batch.iter().copied().chain([columns, rows]).collect();
                let order: Vec<usize> = (0..d).chain([d + 1, d]).collect();
                Layout::contiguous(stored).permute(&order)
            }
            MatrixLayout::Every => {
                let twice: Shape = shape.iter().map(|&length| length * 2).collect();
                Layout::contiguous(twice).slice(&zeros, &vec![2; d + 2], &shape)
            }
            MatrixLayout::Backwards => {
                let last: Vec<usize> = shape.iter().map(|&length| length.max(1) - 1).collect();
                Layout::contiguous(shape.clone()).slice(&last, &vec![-1; d + 2], &shape)
            }
            MatrixLayout::Padded => {
                let wider: Shape = batch.iter().copied().chain([rows + 1, columns + 3]).collect();
                Layout::contiguous(wider).slice(&zeros, &vec![1; d + 2], &shape)
            }
            MatrixLayout::Shared => Layout::contiguous(Shape::from([rows, columns])).broadcast_to(&shape),
        };
        let length = layout.extent().map_or(0, |(_, high)| high as usize);
        let mut state = seed;
        let data = (0..length).map(|_| T::of(noise(&mut state))).collect();
        Operand { data, layout }
    }

    fn view(&self) -> View<'_> {
        View::of(&self.data, &self.layout)
    }

    /// The element of batch index `index` (in row-major order), at a row and a column.
    fn at(&self, index: usize, row: usize, column: usize) -> T {
        let d = self.layout.ndim() - 2;
        let mut at = self.layout.offset as isize
            + row as isize * self.layout.strides[d]
            + column as isize * self.layout.strides[d + 1];
        let mut remaining = index;
        for axis in (0..d).rev() {
            at += (remaining % self.layout.shape[axis]) as isize * self.layout.strides[axis];
            remaining /= self.layout.shape[axis];
        }
        self.data[at as usize]
    }
}

#[derive(Clone, Debug)]
struct Case {
    batch: Vec<usize>,
    m: usize,
    n: usize,
    k: usize,
    layouts: [MatrixLayout; 3],
    sum: Option<(f64, f64)>,
    seed: u64,
}

fn check<T: Number>(case: &Case) {
    let Case { batch, m, n, k, layouts, sum, seed } = case.clone();
    let a = Operand::<T>::new(&batch, m, k, layouts[0], seed);
    let b = Operand::<T>::new(&batch, k, n, layouts[1], seed ^ 0x5555);
    let c = Operand::<T>::new(&batch, m, n, layouts[2], seed ^ 0xAAAA);
    let layout = Layout::contiguous(batch.iter().copied().chain([m, n]).collect());
    // The previous contents of the output must not matter. It is cache-line aligned, as buffers are.
    let mut memory = vec![T::of(77); layout.size() + 64];
    let begin = memory.as_ptr().align_offset(64);
    let out = &mut memory[begin..begin + layout.size()];
    match sum {
        None => matmul(a.view(), b.view(), ViewMut::of(out, &layout)),
        Some((alpha, beta)) => {
            addmm(a.view(), b.view(), c.view(), alpha, beta, ViewMut::of(out, &layout));
        }
    }
    let zero = T::ZERO.wide();
    // Sample large results; the step is prime, so that it covers all positions in blocks.
    let step = if out.len() > 5000 { 61 } else { 1 };
    for (i, &actual) in out.iter().enumerate().step_by(step) {
        let (index, row, column) = (i / (m * n), i / n % m, i % n);
        let mut expected = zero;
        for u in 0..k {
            expected = T::sum(expected, a.at(index, row, u).wide(), b.at(index, u, column).wide());
        }
        let mut terms = k;
        if let Some((alpha, beta)) = sum {
            expected = T::sum(zero, T::factor(alpha), expected);
            expected = T::sum(expected, T::factor(beta), c.at(index, row, column).wide());
            terms = (k + 2) * (1 + alpha.abs() as usize + beta.abs() as usize);
        }
        assert!(
            actual.is(expected, terms),
            "{actual:?} is not {expected:?} at {index} {row} {column} of {case:?}"
        );
    }
}

fn check_all(case: &Case) {
    check::<f32>(case);
    check::<f64>(case);
    check::<f16>(case);
    check::<bf16>(case);
    check::<Complex32>(case);
    check::<Complex64>(case);
    check::<Bool>(case);
    check::<u8>(case);
    check::<u16>(case);
    check::<u32>(case);
    check::<u64>(case);
    check::<i8>(case);
    check::<i16>(case);
    check::<i32>(case);
    check::<i64>(case);
}

fn matrix_layout() -> impl Strategy<Value = MatrixLayout> {
    prop::sample::select(LAYOUTS.to_vec())
}

fn sums() -> impl Strategy<Value = Option<(f64, f64)>> {
    prop_oneof![
        Just(None),
        prop::sample::select(vec![(1.0, 1.0), (2.0, -3.0), (0.0, 1.0), (1.0, 0.0)]).prop_map(Some)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]
    #[test]
    fn small_products(
        batch in prop::collection::vec(0usize..4, 0..3),
        m in 0usize..12, n in 0usize..40, k in 0usize..24,
        layouts in [matrix_layout(), matrix_layout(), matrix_layout()], sum in sums(), seed: u64,
    ) {
        check_all(&Case { batch, m, n, k, layouts, sum, seed });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn medium_products(
        batch in prop::collection::vec(1usize..3, 0..2),
        m in prop_oneof![Just(1usize), 2usize..20, 60usize..80],
        n in prop_oneof![Just(1usize), 2usize..20, 60usize..140],
        k in prop_oneof![60usize..80, 250usize..270],
        layouts in [matrix_layout(), matrix_layout(), matrix_layout()], sum in sums(), seed: u64,
    ) {
        check_all(&Case { batch, m, n, k, layouts, sum, seed });
    }
}

/// Shapes that are split between threads in different ways.
#[test]
fn large_products() {
    let shapes: [(&[usize], usize, usize, usize); 11] = [
        (&[], 300, 520, 270),
        (&[], 1, 3000, 700),
        (&[], 2000, 1, 900),
        (&[], 7, 1500, 600),
        (&[], 700, 6, 500),
        (&[], 3, 5, 300_000),
        (&[], 1, 1, 1_000_003),
        (&[40], 64, 64, 64),
        (&[5], 17, 29, 205),
        (&[40], 30, 32, 48),
        (&[3, 2], 150, 90, 310),
    ];
    for (seed, (batch, m, n, k)) in shapes.into_iter().enumerate() {
        for (first, second) in [
            (MatrixLayout::Dense, MatrixLayout::Dense),
            (MatrixLayout::Dense, MatrixLayout::Transposed),
            (MatrixLayout::Transposed, MatrixLayout::Shared),
        ] {
            let layouts = [first, second, MatrixLayout::Padded];
            let sum = (seed % 2 == 1).then_some((2.0, -1.0));
            let case = Case { batch: batch.to_vec(), m, n, k, layouts, sum, seed: seed as u64 };
            check::<f32>(&case);
            check::<bf16>(&case);
            check::<i32>(&case);
        }
    }
}

/// The batch, rows, columns and depth of products.
type Sizes<'a> = (&'a [usize], usize, usize, usize);
/// The layouts of the operands and of `c`, and the factors of `addmm`.
type Variant = ([MatrixLayout; 3], Option<(f64, f64)>);

/// Check products of each shape in each variant.
fn check_each(shapes: &[Sizes], variants: &[Variant], check: impl Fn(&Case)) {
    for (seed, &(batch, m, n, k)) in shapes.iter().enumerate() {
        for &(layouts, sum) in variants {
            check(&Case { batch: batch.to_vec(), m, n, k, layouts, sum, seed: seed as u64 });
        }
    }
}

/// Packed operands, with sizes at and around the ends of blocks, strips and panels.
#[test]
fn packed_products() {
    let shapes: [Sizes; 12] = [
        (&[], 192, 192, 16),
        (&[], 193, 1030, 700),
        (&[], 400, 207, 311),
        (&[], 215, 1100, 2100),
        (&[], 1100, 1030, 40),
        (&[], 12, 2000, 900),
        (&[], 7, 2500, 700),
        (&[], 5, 1700, 1100),
        (&[2], 4, 1601, 1030),
        (&[3], 101, 530, 90),
        (&[4], 97, 2060, 30),
        (&[2], 64, 129, 395),
    ];
    let variants = [
        ([MatrixLayout::Dense, MatrixLayout::Dense, MatrixLayout::Dense], None),
        ([MatrixLayout::Transposed, MatrixLayout::Transposed, MatrixLayout::Dense], None),
        ([MatrixLayout::Padded, MatrixLayout::Shared, MatrixLayout::Transposed], Some((2.0, -1.0))),
        ([MatrixLayout::Every, MatrixLayout::Backwards, MatrixLayout::Padded], Some((1.0, 1.0))),
    ];
    check_each(&shapes, &variants, |case| {
        check::<f32>(case);
        check::<f64>(case);
        check::<f16>(case);
        check::<bf16>(case);
    });
}

/// A few rows by a large matrix, and products of small depth with a transposed one.
#[test]
fn skinny_products_with_large_matrices() {
    let shapes: [Sizes; 5] = [
        (&[], 16, 2050, 530),
        (&[], 33, 700, 800),
        (&[], 128, 1100, 515),
        (&[2], 64, 512, 64),
        (&[], 96, 200, 17),
    ];
    let variants = [
        ([MatrixLayout::Dense, MatrixLayout::Dense, MatrixLayout::Dense], None),
        ([MatrixLayout::Dense, MatrixLayout::Transposed, MatrixLayout::Dense], None),
        ([MatrixLayout::Backwards, MatrixLayout::Dense, MatrixLayout::Dense], None),
        ([MatrixLayout::Transposed, MatrixLayout::Every, MatrixLayout::Padded], Some((2.0, -1.0))),
    ];
    check_each(&shapes, &variants, |case| {
        check::<f32>(case);
        check::<f64>(case);
    });
}

/// Results that are written with non-temporal stores, on processors where these pay.
#[test]
fn large_products_of_small_depth() {
    let shapes: [Sizes; 4] =
        [(&[3], 1000, 720, 64), (&[], 1105, 2000, 1), (&[2, 2], 600, 912, 192), (&[], 1500, 1500, 7)];
    let variants = [
        ([MatrixLayout::Dense, MatrixLayout::Dense, MatrixLayout::Dense], None),
        ([MatrixLayout::Dense, MatrixLayout::Transposed, MatrixLayout::Dense], None),
        ([MatrixLayout::Transposed, MatrixLayout::Padded, MatrixLayout::Dense], None),
        ([MatrixLayout::Backwards, MatrixLayout::Every, MatrixLayout::Dense], None),
        ([MatrixLayout::Dense, MatrixLayout::Dense, MatrixLayout::Padded], Some((2.0, -1.0))),
    ];
    check_each(&shapes, &variants, |case| {
        check::<f32>(case);
        check::<f64>(case);
    });
}

/// Too few rows for packing the right matrix to pay, with arbitrary columns and depths.
#[test]
fn skinny_products() {
    let shapes = [
        (17, 37, 40),
        (24, 520, 129),
        (33, 600, 513),
        (40, 513, 1030),
        (96, 100, 600),
        (12, 512, 33),
        (64, 33, 2000),
        (31, 515, 70),
    ];
    for (seed, (m, n, k)) in shapes.into_iter().enumerate() {
        for layouts in [
            [MatrixLayout::Dense, MatrixLayout::Dense, MatrixLayout::Dense],
            [MatrixLayout::Dense, MatrixLayout::Transposed, MatrixLayout::Padded],
            [MatrixLayout::Transposed, MatrixLayout::Transposed, MatrixLayout::Dense],
            [MatrixLayout::Every, MatrixLayout::Padded, MatrixLayout::Shared],
        ] {
            for sum in [None, Some((2.0, -1.0))] {
                let case = Case { batch: vec![], m, n, k, layouts, sum, seed: seed as u64 };
                check::<f32>(&case);
                check::<f64>(&case);
                check::<bf16>(&case);
            }
        }
    }
}

#[test]
fn float16_products_round_once() {
    // In float16 the running sum would stop at 2048; in float32 it does not.
    let k = 5000;
    let (a, b) = (vec![f16::ONE; k], vec![f16::ONE; k]);
    let (row, column) = (Layout::contiguous(Shape::from([1, k])), Layout::contiguous(Shape::from([k, 1])));
    let layout = Layout::contiguous(Shape::from([1, 1]));
    let mut out = [f16::ZERO];
    matmul(View::of(&a, &row), View::of(&b, &column), ViewMut::of(&mut out, &layout));
    assert_eq!(out[0], f16::from_f64(5000.0));
    // 5000 - 4999 is exact only if the product was not rounded before the sum.
    let c = [f16::from_f64(-4999.0)];
    let c_exact = c[0].to_f64();
    addmm(
        View::of(&a, &row),
        View::of(&b, &column),
        View::of(&c, &layout),
        1.0,
        1.0,
        ViewMut::of(&mut out, &layout),
    );
    assert_eq!(out[0].to_f64(), 5000.0 + c_exact);
}

#[test]
fn infinities_and_nans_pass_through() {
    let a = [f32::INFINITY, 1.0, f32::NAN, 1.0];
    let b = [1.0, 0.0, 2.0, 3.0f32];
    let layout = Layout::contiguous(Shape::from([2, 2]));
    let mut out = [0f32; 4];
    matmul(View::of(&a, &layout), View::of(&b, &layout), ViewMut::of(&mut out, &layout));
    assert_eq!(out[0], f32::INFINITY);
    assert!(out[1].is_nan() && out[2].is_nan() && out[3].is_nan());
}

/// Sizes at the edges of tiles, panels and blocks.
#[test]
fn float16_products_of_any_size() {
    let sizes = [0, 1, 2, 15, 16, 17, 31, 32, 33, 65];
    let mut seed = 0;
    for (m, n) in sizes.into_iter().flat_map(|m| sizes.map(|n| (m, n))) {
        for k in sizes {
            seed += 1;
            let layouts = [0, 1, 2].map(|operand| LAYOUTS[(seed as usize >> (2 * operand)) % LAYOUTS.len()]);
            let batch = if seed % 3 == 0 { vec![2] } else { vec![] };
            let sum = (seed % 5 == 0).then_some((2.0, -1.0));
            let case = Case { batch, m, n, k, layouts, sum, seed };
            check::<bf16>(&case);
            check::<f16>(&case);
        }
    }
    let sizes = [
        (1000, 1000, 100),
        (40, 33, 1000),
        (17, 1100, 513),
        (520, 600, 290),
        (8, 600, 290),
        (7, 150, 1030),
        (3, 70, 9000),
        (600, 5, 290),
    ];
    let seconds = [MatrixLayout::Dense, MatrixLayout::Transposed, MatrixLayout::Every];
    for (m, n, k) in sizes {
        for (first, second) in LAYOUTS.into_iter().flat_map(|first| seconds.map(|second| (first, second))) {
            let case = Case { batch: vec![], m, n, k, layouts: [first, second, first], sum: None, seed: 7 };
            check::<bf16>(&case);
            if m.min(n) <= 8 {
                check::<f16>(&case);
            }
        }
    }
}

/// Non-finite results appear exactly where the definition has them, whatever is adjacent in a tile.
#[test]
fn infinities_and_nans_do_not_spread() {
    fn check_sizes<T: Number>(of: fn(f32) -> T, to: fn(T) -> f32) {
        for (m, n, k) in [(40, 37, 45), (1, 50, 70), (5, 600, 33), (600, 5, 33), (70, 1, 50), (3, 40, 1)] {
            let special = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.0];
            let value = |i: usize, every: usize| {
                if i.is_multiple_of(every) { special[i / every % 4] } else { 1.0 + (i % 5) as f32 }
            };
            let a: Vec<T> = (0..m * k).map(|i| of(value(i, 113))).collect();
            let b: Vec<T> = (0..k * n).map(|i| of(value(i, 131))).collect();
            let mut out = vec![of(77.0); m * n];
            let layout = |rows, columns| Layout::contiguous(Shape::from([rows, columns]));
            for transposed in [false, true] {
                let right = if transposed { layout(n, k).permute(&[1, 0]) } else { layout(k, n) };
                matmul(
                    View::of(&a, &layout(m, k)),
                    View::of(&b, &right),
                    ViewMut::of(&mut out, &layout(m, n)),
                );
                for (i, &actual) in out.iter().enumerate() {
                    let (row, column) = (i / n, i % n);
                    let at = |u: usize| if transposed { column * k + u } else { u * n + column };
                    let sum: f32 = (0..k).map(|u| to(a[row * k + u]) * to(b[at(u)])).sum();
                    let (actual, sum) = (to(actual), to(of(sum)));
                    assert!(
                        actual == sum
                            || actual.is_nan() && sum.is_nan()
                            || (actual - sum).abs() <= sum.abs() * 0.01,
                        "{actual} is not {sum} at {row} {column} of {m} {n} {k}"
                    );
                }
            }
        }
    }
    check_sizes(bf16::from_f32, bf16::to_f32);
    check_sizes(f16::from_f32, f16::to_f32);
}

/// AMX state is per thread, and permission to use it per process.
#[test]
#[cfg(unix)]
fn threads_and_children_multiply() {
    let case =
        Case { batch: vec![], m: 65, n: 70, k: 130, layouts: [MatrixLayout::Dense; 3], sum: None, seed: 3 };
    check::<bf16>(&case);
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let case = case.clone();
            std::thread::spawn(move || check::<bf16>(&case))
        })
        .collect();
    for thread in threads {
        thread.join().expect("the product is correct");
    }
    // SAFETY: the child only computes and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let is_correct = std::panic::catch_unwind(|| check::<bf16>(&case)).is_ok();
        // SAFETY: exits the child without running the parent's exit handlers.
        unsafe { libc::_exit(i32::from(!is_correct)) };
    }
    let mut status = 0;
    // SAFETY: waits for the child forked above.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0, "the product in a child process is correct");
}

/// All smaller instruction sets give the same results.
#[test]
fn every_instruction_set_multiplies() {
    let tests = ["float16_products", "infinities", "large_products", "skinny", "program", "packed"];
    repeat_under(&["scalar", "avx2", "avx512"], &tests, 10);
}

#[test]
fn zero_factors_ignore_their_operand() {
    let nan = [f32::NAN; 4];
    let one = [1f32; 4];
    let layout = Layout::contiguous(Shape::from([2, 2]));
    let mut out = [f32::NAN; 4];
    addmm(
        View::of(&one, &layout),
        View::of(&one, &layout),
        View::of(&nan, &layout),
        1.0,
        0.0,
        ViewMut::of(&mut out, &layout),
    );
    assert_eq!(out, [2.0; 4]);
    addmm(
        View::of(&nan, &layout),
        View::of(&nan, &layout),
        View::of(&one, &layout),
        0.0,
        1.0,
        ViewMut::of(&mut out, &layout),
    );
    assert_eq!(out, [1.0; 4]);
}

/// `tanh(a @ b + bias) * residual` and the sum inside, fused and in separate kernels: bitwise equal.
fn check_program<T: Number>(batch: &[usize], [m, k, n]: [usize; 3], is_shared: bool) {
    let random = |size: usize, seed: u64| -> Vec<T> {
        (0..size as u64).map(|i| T::of((i + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20)).collect()
    };
    let shape =
        |rows: usize, columns: usize| -> Shape { batch.iter().copied().chain([rows, columns]).collect() };
    let count: usize = batch.iter().product();
    let (a, b) = (random(count * m * k, 1), random(count * k * n, 2));
    let (bias, residual) = (random(n, 3), random(count * m * n, 4));
    let full = Layout::contiguous(shape(m, n));
    let (left, mut right) = (Layout::contiguous(shape(m, k)), Layout::contiguous(shape(k, n)));
    if is_shared {
        right.strides[..batch.len()].fill(0);
    }
    let bias_layout = Layout::contiguous(Shape::from([n])).broadcast_to(&full.shape);
    let steps = vec![
        Step::Binary { kind: BinaryKind::Add, a: 0, b: 1 },
        Step::Unary { kind: UnaryKind::Tanh, x: 3 },
        Step::Binary { kind: BinaryKind::Multiply, a: 4, b: 2 },
    ];
    let program =
        Program::new(&Tape { inputs: vec![T::DTYPE; 3], steps, outputs: vec![5, 3] }).expect("a tape");
    let views = [View::of(&a, &left), View::of(&b, &right)];
    let others = [View::of(&bias, &bias_layout), View::of(&residual, &full)];
    let zeros = || vec![T::ZERO; count * m * n];
    let (mut product, mut first, mut second) = (zeros(), zeros(), zeros());
    matmul(views[0], views[1], ViewMut::of(&mut product, &full));
    program.run(
        &[View::of(&product, &full), others[0], others[1]],
        &mut [ViewMut::of(&mut first, &full), ViewMut::of(&mut second, &full)],
    );
    let (mut fused_first, mut fused_second) = (zeros(), zeros());
    matmul_program(
        views[0],
        views[1],
        &program,
        &others,
        &mut [ViewMut::of(&mut fused_first, &full), ViewMut::of(&mut fused_second, &full)],
    );
    // Compared as text, zeros keep their sign and NaN equals itself.
    let text = |values: &[T]| format!("{values:?}");
    assert!(text(&fused_first) == text(&first), "{batch:?} {m} {k} {n}");
    assert!(text(&fused_second) == text(&second), "{batch:?} {m} {k} {n}");
}

#[test]
fn matmul_programs_match_separate_kernels() {
    let sizes = [
        [1, 1, 1],
        [3, 5, 7],
        [64, 64, 300],
        [300, 70, 513],
        [1, 900, 1100],
        [257, 3, 64],
        [8, 4000, 8],
        [260, 400, 1030],
    ];
    for size in sizes {
        for batch in [&[][..], &[3], &[2, 3]] {
            for is_shared in [false, true] {
                check_program::<f32>(batch, size, is_shared);
            }
        }
        check_program::<f64>(&[2], size, true);
        check_program::<f16>(&[], size, false);
        check_program::<bf16>(&[2], size, true);
        check_program::<Complex32>(&[], size, false);
    }
    check_program::<f32>(&[0], [3, 4, 5], false);
    check_program::<f32>(&[], [3, 0, 5], false);
    check_program::<f32>(&[64], [20, 30, 40], false);
}
