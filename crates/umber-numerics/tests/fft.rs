//! Transforms against the definition.

use std::f64::consts::TAU;

use umber_kernels_base::{View, ViewMut};
use umber_numerics::fft::{Scaling, Transform, fft};
use umber_types::{Complex32, Complex64, Layout, Shape};

fn values(count: usize) -> Vec<Complex64> {
    let part = |i: usize| (i as f64 * 0.7391).sin();
    (0..count).map(|i| Complex64::new(part(i), part(3 * i + 1))).collect()
}

/// `Σ x[j] exp(sign 2πi jk / n)`.
fn naive(line: &[Complex64], sign: f64) -> Vec<Complex64> {
    let n = line.len();
    let twiddle = |jk: usize| Complex64::from_polar(1.0, sign * TAU * (jk % n) as f64 / n as f64);
    (0..n).map(|k| line.iter().enumerate().map(|(j, x)| x * twiddle(j * k)).sum()).collect()
}

fn close(a: Complex64, b: Complex64, size: f64) -> bool {
    (a - b).norm() <= 1e-13 * size
}

const LENGTHS: [usize; 10] = [1, 2, 3, 4, 5, 16, 17, 60, 101, 256];

#[test]
fn complex_lines_with_any_stride() {
    for n in LENGTHS {
        let data = values(7 * n);
        for (shape, axis) in [([7, n], 1), ([n, 7], 0)] {
            let layout = Layout::contiguous(Shape::new(shape));
            let stride = if axis == 1 { 1 } else { 7 };
            let start = |line: usize| if axis == 1 { line * n } else { line };
            for (transform, sign) in [(Transform::Forward, -1.0), (Transform::Inverse, 1.0)] {
                let mut out = vec![Complex64::default(); 7 * n];
                let (src, dst) = (View::of(&data, &layout), ViewMut::of(&mut out, &layout));
                fft(transform, Scaling::Length, n, axis, src, dst).expect("there is memory");
                for line in 0..7 {
                    let line_elements: Vec<_> = (0..n).map(|j| data[start(line) + j * stride]).collect();
                    for (k, expected) in naive(&line_elements, sign).into_iter().enumerate() {
                        let actual = out[start(line) + k * stride] * n as f64;
                        assert!(
                            close(actual, expected, n as f64),
                            "{n} {axis} {line} {k}: {actual} {expected}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn real_lines_round_trip() {
    for n in LENGTHS {
        let half = n / 2 + 1;
        let data: Vec<f64> = values(5 * n).iter().map(|x| x.re).collect();
        let (real, complex) =
            (Layout::contiguous(Shape::new([5, n])), Layout::contiguous(Shape::new([5, half])));
        let mut spectrum = vec![Complex64::default(); 5 * half];
        let (src, dst) = (View::of(&data, &real), ViewMut::of(&mut spectrum, &complex));
        fft(Transform::RealForward, Scaling::One, n, 1, src, dst).expect("there is memory");
        for line in 0..5 {
            let line_elements: Vec<_> = data[line * n..(line + 1) * n].iter().map(|&x| x.into()).collect();
            for (k, expected) in naive(&line_elements, -1.0).into_iter().take(half).enumerate() {
                assert!(close(spectrum[line * half + k], expected, n as f64), "{n} {line} {k}");
            }
        }
        // Imaginary parts that a Hermitian line cannot have are ignored.
        spectrum[0].im = 5.0;
        let mut back = vec![0.0f64; 5 * n];
        let (src, dst) = (View::of(&spectrum, &complex), ViewMut::of(&mut back, &real));
        fft(Transform::RealInverse, Scaling::Length, n, 1, src, dst).expect("there is memory");
        assert!(back.iter().zip(&data).all(|(a, b)| (a - b).abs() < 1e-13), "{n}");
    }
}

#[test]
fn many_lines_round_trip_on_several_threads() {
    let (lines, n) = (1000, 48);
    let data: Vec<Complex32> =
        values(lines * n).iter().map(|x| Complex32::new(x.re as f32, x.im as f32)).collect();
    let layout = Layout::contiguous(Shape::new([lines, n]));
    let (mut middle, mut back) =
        (vec![Complex32::default(); lines * n], vec![Complex32::default(); lines * n]);
    let middle_view = ViewMut::of(&mut middle, &layout);
    fft(Transform::Forward, Scaling::Root, n, 1, View::of(&data, &layout), middle_view)
        .expect("there is memory");
    let back_view = ViewMut::of(&mut back, &layout);
    fft(Transform::Inverse, Scaling::Root, n, 1, View::of(&middle, &layout), back_view)
        .expect("there is memory");
    assert!(back.iter().zip(&data).all(|(a, b)| (a - b).norm() < 1e-5));
}
