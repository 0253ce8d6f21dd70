//! Floating-point operations per second of Fourier transforms, with data in L2 and in memory.
//!
//! `cargo bench -p umber-numerics --bench fft [FILTER]`

#[path = "../../umber-kernels/benches/common/mod.rs"]
mod common;

use common::{Operand, Work, case};
use num_traits::FromPrimitive;
use umber_numerics::fft::{Scaling, Transform, fft};
use umber_types::{Complex32, Complex64, Element};

/// Transform lines of `length` along an axis of `[lines, length]`, or of `[length, lines]`.
fn transforms<S, D>(transform: Transform, axis: usize, lines: usize, length: usize)
where
    S: Element + FromPrimitive,
    D: Element + FromPrimitive,
{
    let shape = |length: usize| if axis == 1 { [lines, length] } else { [length, lines] };
    let [input_length, output_length] = transform.lengths(length);
    let (src, mut dst) =
        (Operand::<S>::values(&shape(input_length)), Operand::<D>::zeros(&shape(output_length)));
    // The conventional count, independent of the algorithm: 5 n log2 n for complex lines, and half of that for real ones.
    let complex_flops = 5.0 * (lines * length) as f64 * (length as f64).log2();
    let flops = match transform {
        Transform::Forward | Transform::Inverse => complex_flops,
        Transform::RealForward | Transform::RealInverse => complex_flops / 2.0,
    };
    let along = if axis == 1 { "rows" } else { "columns" };
    let name = format!("{transform:?}/{}/{lines} {along} of {length}", S::DTYPE);
    case(&name, Work::Flops(flops as usize), || {
        fft(transform, Scaling::One, length, axis, src.view(), dst.view_mut()).expect("there is memory");
    });
}

fn main() {
    let complex = transforms::<Complex32, Complex32>;
    for length in [1 << 16, 1 << 22] {
        complex(Transform::Forward, 1, 1, length);
    }
    for lines in [64, 1 << 13] {
        complex(Transform::Forward, 1, lines, 1024);
        complex(Transform::Inverse, 1, lines, 1024);
        complex(Transform::Forward, 0, lines, 1024);
        complex(Transform::Forward, 1, lines, 1000);
        transforms::<Complex64, Complex64>(Transform::Forward, 1, lines, 1024);
        transforms::<f32, Complex32>(Transform::RealForward, 1, lines, 1024);
        transforms::<f32, Complex32>(Transform::RealForward, 1, lines, 1000);
        transforms::<Complex32, f32>(Transform::RealInverse, 1, lines, 1024);
    }
    transforms::<f32, Complex32>(Transform::RealForward, 1, 4096, 64);
    // Prime lengths.
    complex(Transform::Forward, 1, 64, 1009);
    complex(Transform::Forward, 1, 1, 1000003);
}
