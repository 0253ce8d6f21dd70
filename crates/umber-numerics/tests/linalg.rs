//! Linear algebra against the definitions, written as plain loops.

use umber_kernels_base::threads::set_num_threads;
use umber_kernels_base::{View, ViewMut};
use umber_numerics::linalg::{self, Failure, Form, OnSingular};
use umber_types::{Complex64, Element, Layout, Shape};

type C = Complex64;

/// A random number generator with a fixed seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
    }

    fn complex(&mut self, count: usize) -> Vec<C> {
        (0..count).map(|_| C::new(self.next(), self.next())).collect()
    }
}

fn layout(shape: &[usize]) -> Layout {
    Layout::contiguous(Shape::from(shape))
}

fn multiply(a: &[C], b: &[C], [m, k, n]: [usize; 3]) -> Vec<C> {
    let element = |i: usize, j: usize| (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
    (0..m * n).map(|at| element(at / n, at % n)).collect()
}

fn adjoint(a: &[C], m: usize, n: usize) -> Vec<C> {
    (0..m * n).map(|at| a[(at % m) * n + at / m].conj()).collect()
}

fn identity(n: usize) -> Vec<C> {
    (0..n * n).map(|at| C::new(f64::from(u8::from(at / n == at % n)), 0.0)).collect()
}

fn assert_near(actual: &[C], expected: &[C]) {
    assert_eq!(actual.len(), expected.len());
    for (a, b) in actual.iter().zip(expected) {
        assert!((a - b).norm() < 1e-10, "{a} instead of {b}");
    }
}

/// Run a kernel with one stack as input and one as output.
fn run_on_stack(a: &[C], shape: &[usize], out: &[usize], run: impl FnOnce(View, &ViewMut)) -> Vec<C> {
    let mut result = vec![C::default(); out.iter().product()];
    let (from, to) = (layout(shape), layout(out));
    run(View::of(a, &from), &ViewMut::of(&mut result, &to));
    result
}

#[test]
fn inverses_and_solutions_satisfy_their_equations() {
    for n in [1, 2, 5, 33] {
        let count = 3;
        let a = Random(n as u64).complex(count * n * n);
        let shape = [count, n, n];
        let x = run_on_stack(&a, &shape, &shape, |a, x| {
            assert_eq!(linalg::inverse(OnSingular::Fail, a, x), Ok(()));
        });
        let b = Random(7).complex(count * n * 2);
        let b_layout = layout(&[count, n, 2]);
        let y = run_on_stack(&a, &shape, &[count, n, 2], |a, y| {
            assert_eq!(linalg::solve(Form::General, a, View::of(&b, &b_layout), y), Ok(()));
        });
        for i in 0..count {
            let a = &a[i * n * n..(i + 1) * n * n];
            assert_near(&multiply(a, &x[i * n * n..(i + 1) * n * n], [n, n, n]), &identity(n));
            assert_near(
                &multiply(a, &y[i * n * 2..(i + 1) * n * 2], [n, n, 2]),
                &b[i * n * 2..(i + 1) * n * 2],
            );
        }
    }
}

/// Stacks of small systems are batched, except for badly scaled ones; a single system is not, so both paths are compared.
macro_rules! stacks_are_solved_as_single_systems {
    ($name:ident, $t:ident, $tolerance:literal) => {
        #[test]
        fn $name() {
            for (n, columns, count) in
                [(1, 1, 40), (2, 3, 17), (3, 1, 5), (5, 2, 33), (16, 4, 20), (17, 9, 16)]
            {
                let mut numbers = Random(n as u64);
                let mut next = || numbers.next() as $t;
                let row = n + 1;
                let mut a: Vec<$t> = (0..count * n * row).map(|_| next()).collect();
                // Large pivots on the diagonal of one system, so that its rows are not exchanged.
                (0..n).for_each(|i| a[2 * n * row + i * row + i] += 9.0);
                // Badly scaled systems: very large, very small, infinite and NaN.
                a[0] = $t::MAX;
                a[n * row..2 * n * row].iter_mut().for_each(|x| *x *= $t::MIN_POSITIVE);
                a[3 * n * row + n - 1] = $t::INFINITY;
                a[4 * n * row] = $t::NAN;
                let mut b: Vec<$t> = (0..count * n * columns).map(|_| next()).collect();
                b[2 * n * columns] = $t::MAX;
                // Row-major, column-major, and neither.
                let (matrix, area) = (n as isize, (n * n) as isize);
                for strides in [[area, matrix, 1], [area, 1, matrix], [(n * row) as isize, row as isize, 1]] {
                    let mut a_layout = layout(&[count, n, n]);
                    a_layout.strides = strides.into_iter().collect();
                    let b_layout = layout(&[count, n, columns]);
                    let mut x: Vec<$t> = vec![0.0; b.len()];
                    let (left, right) = (View::of(&a, &a_layout), View::of(&b, &b_layout));
                    let solved = linalg::solve(Form::General, left, right, &ViewMut::of(&mut x, &b_layout));
                    let mut first = None;
                    for i in 0..count {
                        let mut one_a = layout(&[1, n, n]);
                        one_a.strides = a_layout.strides.clone();
                        let one_b = layout(&[1, n, columns]);
                        let range = i * n * columns..(i + 1) * n * columns;
                        let mut expected: Vec<$t> = vec![0.0; n * columns];
                        let (left, right) = (
                            View::of(&a[i * strides[0] as usize..], &one_a),
                            View::of(&b[range.clone()], &one_b),
                        );
                        let single =
                            linalg::solve(Form::General, left, right, &ViewMut::of(&mut expected, &one_b));
                        if single.is_err() {
                            first = first.or(Some(Failure::Matrix(i)));
                        }
                        let size = expected
                            .iter()
                            .fold(1.0, |size: $t, x| if x.is_finite() { size.max(x.abs()) } else { size });
                        for (actual, expected) in x[range].iter().zip(&expected) {
                            let same = actual == expected || (actual.is_nan() && expected.is_nan());
                            assert!(
                                same || (actual - expected).abs() <= size * size * $tolerance,
                                "{n}: {actual} instead of {expected}"
                            );
                        }
                    }
                    assert_eq!(solved.err(), first);
                }
            }
        }
    };
}
stacks_are_solved_as_single_systems!(stacks_of_small_systems_in_float32, f32, 1e-4);
stacks_are_solved_as_single_systems!(stacks_of_small_systems_in_float64, f64, 1e-12);

#[test]
fn solve_reports_the_first_singular_system() {
    let (n, count) = (4, 50);
    let mut numbers = Random(11);
    let mut a: Vec<f64> = (0..count * n * n).map(|_| numbers.next()).collect();
    let b = vec![1.0; count * n];
    let (a_layout, b_layout) = (layout(&[count, n, n]), layout(&[count, n, 1]));
    let solve = |a: &[f64]| {
        let mut x = vec![0.0; count * n];
        linalg::solve(
            Form::General,
            View::of(a, &a_layout),
            View::of(&b, &b_layout),
            &ViewMut::of(&mut x, &b_layout),
        )
    };
    assert_eq!(solve(&a), Ok(()));
    for singular in [49, 30, 9] {
        a[singular * n * n..][..n].fill(0.0);
        assert_eq!(solve(&a), Err(Failure::Matrix(singular)));
    }
}

#[test]
fn cholesky_factors_multiply_back() {
    for n in [1, 2, 5, 33] {
        let root = Random(3).complex(n * n);
        let mut a = multiply(&root, &adjoint(&root, n, n), [n, n, n]);
        (0..n).for_each(|i| a[i * n + i] += 1.0);
        let l = run_on_stack(&a, &[n, n], &[n, n], |a, l| assert_eq!(linalg::cholesky(a, l), Ok(())));
        assert_near(&multiply(&l, &adjoint(&l, n, n), [n, n, n]), &a);
        assert!((0..n * n).all(|at| at % n <= at / n || l[at] == C::default()));
    }
}

#[test]
fn triangular_forms_only_read_their_triangle() {
    let n = 4;
    let mut a = Random(5).complex(n * n);
    (0..n).for_each(|i| a[i * n + i] += 3.0);
    let b = Random(6).complex(n);
    let b_layout = layout(&[n, 1]);
    for form in [Form::Lower, Form::Upper, Form::UnitLower, Form::UnitUpper] {
        let is_read = |i: usize, j: usize| match form {
            Form::General => true,
            Form::Lower => i >= j,
            Form::Upper => i <= j,
            Form::UnitLower => i > j,
            Form::UnitUpper => i < j,
        };
        let is_unit = matches!(form, Form::UnitLower | Form::UnitUpper);
        let triangle: Vec<C> = (0..n * n)
            .map(|at| match (at / n, at % n) {
                (i, j) if is_read(i, j) => a[at],
                (i, j) if i == j && is_unit => C::new(1.0, 0.0),
                _ => C::default(),
            })
            .collect();
        let x = run_on_stack(&a, &[n, n], &[n, 1], |a, x| {
            assert_eq!(linalg::solve(form, a, View::of(&b, &b_layout), x), Ok(()));
        });
        assert_near(&multiply(&triangle, &x, [n, n, 1]), &b);
    }
}

#[test]
fn determinants_by_expansion() {
    fn expand(a: &[C], n: usize) -> C {
        if n == 0 {
            return C::new(1.0, 0.0);
        }
        let minor =
            |column: usize| -> Vec<C> { (n..n * n).filter(|at| at % n != column).map(|at| a[at]).collect() };
        let sign = |column: usize| if column.is_multiple_of(2) { 1.0 } else { -1.0 };
        (0..n).map(|column| a[column] * expand(&minor(column), n - 1) * sign(column)).sum()
    }
    for n in 0..6 {
        let a = Random(n as u64).complex(n * n);
        let value =
            run_on_stack(&a, &[n, n], &[], |a, value| assert_eq!(linalg::determinant(a, value), Ok(())));
        assert_near(&value, &[expand(&a, n)]);
    }
}

#[test]
fn bases_are_orthonormal() {
    for (m, n) in [(4, 4), (7, 3), (3, 7), (40, 2)] {
        let size = m.min(n);
        let a = Random(9).complex(2 * m * n);
        let (from, q_layout, r_layout) = (layout(&[2, m, n]), layout(&[2, m, m]), layout(&[2, m, n]));
        let (mut q, mut r) = (vec![C::default(); 2 * m * m], vec![C::default(); 2 * m * n]);
        let outcome =
            linalg::qr(View::of(&a, &from), &ViewMut::of(&mut q, &q_layout), &ViewMut::of(&mut r, &r_layout));
        assert_eq!(outcome, Ok(()));
        let (u_layout, v_layout, s_layout) = (layout(&[2, m, m]), layout(&[2, n, n]), layout(&[2, size]));
        let (mut u, mut v) = (vec![C::default(); 2 * m * m], vec![C::default(); 2 * n * n]);
        let mut s = vec![0.0f64; 2 * size];
        let outcome = linalg::svd(
            View::of(&a, &from),
            &ViewMut::of(&mut s, &s_layout),
            Some([&ViewMut::of(&mut u, &u_layout), &ViewMut::of(&mut v, &v_layout)]),
        );
        assert_eq!(outcome, Ok(()));
        for i in 0..2 {
            let a = &a[i * m * n..(i + 1) * m * n];
            let (q, u, v) = (
                &q[i * m * m..(i + 1) * m * m],
                &u[i * m * m..(i + 1) * m * m],
                &v[i * n * n..(i + 1) * n * n],
            );
            assert_near(&multiply(q, &r[i * m * n..(i + 1) * m * n], [m, m, n]), a);
            for (basis, n) in [(q, m), (u, m), (v, n)] {
                assert_near(&multiply(&adjoint(basis, n, n), basis, [n, n, n]), &identity(n));
            }
            let mut scaled = vec![C::default(); m * n];
            (0..size).for_each(|j| scaled[j * n + j] = C::new(s[i * size + j], 0.0));
            assert_near(&multiply(&multiply(u, &scaled, [m, m, n]), v, [m, n, n]), a);
        }
    }
}

#[test]
fn failures_report_the_first_singular_matrix() {
    let n = 2;
    let mut a: Vec<C> = (0..50).flat_map(|_| identity(n)).collect();
    for singular in [41, 17] {
        a[singular * 4..singular * 4 + 4].fill(C::default());
    }
    let shape = [5, 10, n, n];
    run_on_stack(&a, &shape, &shape, |a, x| {
        assert_eq!(linalg::inverse(OnSingular::Fail, a, x), Err(Failure::Matrix(17)));
        assert_eq!(linalg::inverse(OnSingular::Infinity, a, x), Ok(()));
        assert_eq!(linalg::cholesky(a, x), Err(Failure::Matrix(17)));
    });
}

/// The maximum distance of `a b` from `c`, for square matrices of `n` rows.
fn distance(a: &[f64], b: &[f64], c: &[f64], n: usize) -> f64 {
    let mut actual = 0.0f64;
    for i in 0..n {
        let mut row = vec![0.0; n];
        for k in 0..n {
            let factor = a[i * n + k];
            row.iter_mut().zip(&b[k * n..(k + 1) * n]).for_each(|(sum, b)| *sum += factor * b);
        }
        let gaps = row.iter().zip(&c[i * n..(i + 1) * n]).map(|(x, y)| (x - y).abs());
        actual = gaps.fold(actual, f64::max);
    }
    actual
}

#[test]
fn large_matrices_on_several_threads() {
    for n in [256, 300, 517] {
        let mut numbers = Random(n as u64);
        let general: Vec<f64> = (0..n * n).map(|_| numbers.next()).collect();
        let (square, line) = (layout(&[n, n]), layout(&[n]));
        let unit: Vec<f64> = (0..n * n).map(|at| f64::from(u8::from(at / n == at % n))).collect();

        let mut x = vec![0.0; n * n];
        let outcome =
            linalg::inverse(OnSingular::Fail, View::of(&general, &square), &ViewMut::of(&mut x, &square));
        assert_eq!(outcome, Ok(()));
        assert!(distance(&general, &x, &unit, n) < 1e-9);

        let transpose = |a: &[f64]| -> Vec<f64> { (0..n * n).map(|at| a[at % n * n + at / n]).collect() };
        let symmetric: Vec<f64> = general.iter().zip(transpose(&general)).map(|(x, y)| x + y).collect();
        // A diagonal matrix with two corner elements, most of whose reflections are trivial.
        let mut sparse: Vec<f64> = unit.iter().enumerate().map(|(at, x)| x * (at % n % 7) as f64).collect();
        (sparse[n - 1], sparse[(n - 1) * n]) = (0.5, 0.5);
        for a in [symmetric, sparse, vec![0.0; n * n]] {
            let (mut w, mut v) = (vec![0.0; n], vec![0.0; n * n]);
            let outcome = linalg::eigh(
                View::of(&a, &square),
                &ViewMut::of(&mut w, &line),
                Some(&ViewMut::of(&mut v, &square)),
            );
            assert_eq!(outcome, Ok(()));
            assert!(w.windows(2).all(|pair| pair[0] <= pair[1]));
            let scaled: Vec<f64> = v.iter().enumerate().map(|(at, x)| x * w[at % n]).collect();
            assert!(distance(&a, &v, &scaled, n) < 1e-9);
            assert!(distance(&transpose(&v), &v, &unit, n) < 1e-10);
        }
    }
}

#[test]
fn eigh_does_not_depend_on_the_number_of_threads() {
    for n in [128, 201, 263, 540] {
        let numbers = Random(n as u64).complex(n * n);
        let a: Vec<f32> =
            (0..n * n).map(|at| (numbers[at].re + numbers[at % n * n + at / n].re) as f32).collect();
        let (square, line) = (layout(&[n, n]), layout(&[n]));
        let decompose = |threads: usize| {
            let previous_threads = set_num_threads(threads);
            let (mut w, mut v, mut values_only) = (vec![0f32; n], vec![0f32; n * n], vec![0f32; n]);
            let a = View::of(&a, &square);
            let vectors = Some(&ViewMut::of(&mut v, &square));
            assert_eq!(linalg::eigh(a, &ViewMut::of(&mut w, &line), vectors), Ok(()));
            assert_eq!(linalg::eigh(a, &ViewMut::of(&mut values_only, &line), None), Ok(()));
            set_num_threads(previous_threads);
            [w, v, values_only].map(|actual| actual.into_iter().map(f64::from).collect::<Vec<f64>>())
        };
        let actual = decompose(1);
        assert_eq!(actual, decompose(3));
        let [w, v, values_only] = actual;
        assert!(w.iter().zip(&values_only).all(|(x, y)| (x - y).abs() < 2e-4 * w[n - 1]));
        let a: Vec<f64> = a.into_iter().map(f64::from).collect();
        let scaled: Vec<f64> = v.iter().enumerate().map(|(at, x)| x * w[at % n]).collect();
        assert!(distance(&a, &v, &scaled, n) < 2e-6 * n as f64);
    }
}

/// The errors of eigenvectors and eigenvalues of a symmetric matrix, relative to its maximum eigenvalue, and the deviation of
/// the eigenvectors from orthonormality.
fn eigen_errors<T: Element + Into<f64>>(a: &[T], n: usize) -> [f64; 2] {
    let (square, line) = (layout(&[n, n]), layout(&[n]));
    let (mut w, mut v) = (vec![a[0]; n], vec![a[0]; n * n]);
    let (values, vectors) = (ViewMut::of(&mut w, &line), ViewMut::of(&mut v, &square));
    assert_eq!(linalg::eigh(View::of(a, &square), &values, Some(&vectors)), Ok(()));
    let wide = |from: &[T]| -> Vec<f64> { from.iter().map(|&x| x.into()).collect() };
    let (a, w, v) = (wide(a), wide(&w), wide(&v));
    let scaled: Vec<f64> = v.iter().enumerate().map(|(at, x)| x * w[at % n]).collect();
    let transposed: Vec<f64> = (0..n * n).map(|at| v[at % n * n + at / n]).collect();
    let unit: Vec<f64> = (0..n * n).map(|at| f64::from(u8::from(at / n == at % n))).collect();
    let norm = w.iter().fold(0.0f64, |norm, x| norm.max(x.abs()));
    [distance(&a, &v, &scaled, n) / norm, distance(&transposed, &v, &unit, n)]
}

#[test]
fn eigenvectors_are_accurate_at_every_scale() {
    for n in [129, 200, 330] {
        let numbers = Random(n as u64).complex(n * n);
        let symmetric = |at: usize| numbers[at].re + numbers[at % n * n + at / n].re;
        for power in [-100, -60, -40, -12, -3, 0, 3, 6, 10, 20, 40, 60] {
            let scale = 2f64.powi(power);
            let single: Vec<f32> = (0..n * n).map(|at| (symmetric(at) * scale) as f32).collect();
            let double: Vec<f64> = (0..n * n).map(|at| symmetric(at) * scale).collect();
            for (errors, epsilon) in [
                (eigen_errors(&single, n), f64::from(f32::EPSILON)),
                (eigen_errors(&double, n), f64::EPSILON),
            ] {
                assert!(errors.iter().all(|&error| error < 200.0 * epsilon), "{n}, 2^{power}: {errors:?}");
            }
        }
    }
}

#[test]
fn large_low_rank_and_block_matrices_have_eigenvectors() {
    for n in [128, 192, 196, 201, 400, 700] {
        let matrices: [&dyn Fn(usize, usize) -> f32; 7] = [
            &|_, _| 1.0,
            &|_, _| -0.1,
            &|i, j| if (i * j) % 2 == 0 { 1.0 } else { -1.0 },
            &|i, j| ((i % 5) * (j % 5)) as f32,
            &|i, j| if i / (n / 2) == j / (n / 2) { 1.0 } else { 0.0 },
            &|i, j| 0.9f32.powi((i + j) as i32) * (((i * j + i + j) % 97) as f32 - 48.0),
            &|i, j| if i.abs_diff(j) == 1 { -1.0 } else { f32::from(u8::from(i == j)) * 2.0 },
        ];
        for (index, element) in matrices.into_iter().enumerate() {
            let a: Vec<f32> = (0..n * n).map(|at| element(at / n, at % n)).collect();
            let errors = eigen_errors(&a, n);
            let bound = 200.0 * f64::from(f32::EPSILON);
            assert!(errors.iter().all(|&error| error < bound), "{n}, matrix {index}: {errors:?}");
        }
    }
}

#[test]
fn factors_of_matrices_whose_squares_overflow_or_underflow() {
    let (rows, columns) = (4, 3);
    let numbers: Vec<f32> = Random(7).complex(rows * columns).iter().map(|z| z.re as f32).collect();
    let shapes = [layout(&[rows, columns]), layout(&[rows, rows]), layout(&[columns, columns])];
    let long = layout(&[columns]);
    let factors = |scale: f32| {
        let a: Vec<f32> = numbers.iter().map(|x| x * scale).collect();
        let (mut q, mut r) = (vec![0f32; rows * columns], vec![0f32; columns * columns]);
        linalg::qr(
            View::of(&a, &shapes[0]),
            &ViewMut::of(&mut q, &shapes[0]),
            &ViewMut::of(&mut r, &shapes[2]),
        )
        .expect("memory suffices");
        let (mut u, mut s, mut v) =
            (vec![0f32; rows * rows], vec![0f32; columns], vec![0f32; columns * columns]);
        linalg::svd(
            View::of(&a, &shapes[0]),
            &ViewMut::of(&mut s, &long),
            Some([&ViewMut::of(&mut u, &shapes[1]), &ViewMut::of(&mut v, &shapes[2])]),
        )
        .expect("the singular values converge");
        // By powers of two, so that only the scale differs.
        let scaled = r.into_iter().chain(s).map(|x| x / scale).collect::<Vec<f32>>();
        (scaled, [q, u, v].concat())
    };
    let (sizes, vectors) = factors(1.0);
    for power in [-100, -64, 60, 64, 100] {
        let (actual, actual_vectors) = factors(2f32.powi(power));
        for (a, b) in actual.iter().zip(&sizes).chain(actual_vectors.iter().zip(&vectors)) {
            assert!((a - b).abs() <= 1e-5, "{a} instead of {b} at 2^{power}");
        }
    }
}
