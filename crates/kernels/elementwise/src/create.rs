//! Array creation: constants, ranges, diagonal and triangular matrices.
//!
//! MLX's `linspace(start, stop, num)` is, for element `i` in float32, `(1 - t) * start + t * stop` with `t = i / d`,
//! where `d` is `max(num - 1, 1)` (`num` without the end point), cast to the dtype at the end.

use std::ops::Range;

use umber_kernels_base::ViewMut;
use umber_kernels_base::isa::vectorised;
use umber_kernels_base::threads::parallel_ranges;
use umber_types::{Complex, DType, Element, Scalar, bf16, f16, match_dtype};

/// Bytes worth another thread.
const GRAIN: usize = 1 << 19;

/// Set every element of `out` (dense) to `value`, cast to its dtype.
///
/// # Panics
/// If `out` is not dense.
pub fn fill(value: Scalar, mut out: ViewMut) {
    let bytes = value.to_bytes(out.dtype());
    match_dtype!(out.dtype(), T => {
        // SAFETY: `bytes` holds an element of this dtype, and every bit pattern is valid.
        let value = unsafe { bytes.as_ptr().cast::<T>().read_unaligned() };
        for_ranges(dense::<T>(&mut out), |_, chunk: &mut [T]| chunk.fill(value));
    });
}

/// Element `i` in row-major order is `start + i * step`.
///
/// Integers wrap; floats are computed in float64 and rounded once; bool is `start + i * step != 0`.
///
/// # Panics
/// If `out` is not dense.
pub fn arange(start: Scalar, step: Scalar, mut out: ViewMut) {
    match out.dtype() {
        DType::Bool => {
            let (start, step) = (start.as_f64(), step.as_f64());
            ramp(&mut out, move |i| umber_types::Bool::from(start + i as f64 * step != 0.0));
        }
        DType::Float16 => ramp_float(start, step, &mut out, f16::from_f64),
        DType::BFloat16 => ramp_float(start, step, &mut out, bf16::from_f64),
        DType::Float32 => ramp_float(start, step, &mut out, |x| x as f32),
        DType::Float64 => ramp_float(start, step, &mut out, |x| x),
        DType::Complex64 => {
            let ((a, b), (c, d)) = (start.as_complex(), step.as_complex());
            ramp(&mut out, move |i| Complex::new((a + i as f64 * c) as f32, (b + i as f64 * d) as f32));
        }
        DType::Complex128 => {
            let ((a, b), (c, d)) = (start.as_complex(), step.as_complex());
            ramp(&mut out, move |i| Complex::new(a + i as f64 * c, b + i as f64 * d));
        }
        dtype => {
            let (start, step) = (start.as_u64(), step.as_u64());
            match_dtype!(integer dtype, T => ramp(&mut out, move |i| {
                start.wrapping_add(step.wrapping_mul(i as u64)) as T
            }), else => unreachable!("every other dtype is listed above"));
        }
    }
}

/// Ones where the column is the row plus `k`, zeros elsewhere, in the last two axes of `out` (dense).
///
/// # Panics
/// If `out` is not dense or has fewer than two axes.
pub fn eye(k: isize, out: ViewMut) {
    matrix(out, |row| {
        let one = row.checked_add_signed(k);
        one.map_or(0..0, |at| at..at.saturating_add(1))
    });
}

/// Ones where the column is at most the row plus `k`, zeros elsewhere, in the last two axes of `out` (dense).
///
/// # Panics
/// If `out` is not dense or has fewer than two axes.
pub fn tri(k: isize, out: ViewMut) {
    matrix(out, |row| 0..(row as isize).saturating_add(k).saturating_add(1).max(0) as usize);
}

/// Set the columns in `ones(row)` of each row to one and the others to zero.
fn matrix(mut out: ViewMut, ones: impl Fn(usize) -> Range<usize> + Sync) {
    let [.., rows, columns] = *out.shape() else { panic!("a matrix has two axes") };
    let one = Scalar::Int(1).to_bytes(out.dtype());
    let zero = Scalar::Int(0).to_bytes(out.dtype());
    match_dtype!(out.dtype(), T => {
        // SAFETY: the bytes hold elements of this dtype, and every bit pattern is valid.
        let (zero, one) =
            unsafe { (zero.as_ptr().cast::<T>().read_unaligned(), one.as_ptr().cast::<T>().read_unaligned()) };
        for_ranges(dense::<T>(&mut out), |first, chunk: &mut [T]| {
            chunk.fill(zero);
            let mut at = 0;
            while at < chunk.len() {
                let (row, column) = ((first + at) / columns % rows, (first + at) % columns);
                let length = (columns - column).min(chunk.len() - at);
                let Range { start, end } = ones(row);
                let (start, end) = (start.max(column), end.min(column + length));
                if start < end {
                    chunk[at + start - column..at + end - column].fill(one);
                }
                at += length;
            }
        });
    });
}

#[inline(always)]
fn ramp_float<T: Element>(
    start: Scalar,
    step: Scalar,
    out: &mut ViewMut,
    round: impl Fn(f64) -> T + Sync + Copy,
) {
    let (start, step) = (start.as_f64(), step.as_f64());
    ramp(out, move |i| round(start + i as f64 * step));
}

#[inline(always)]
fn ramp<T: Element>(out: &mut ViewMut, value: impl Fn(usize) -> T + Sync + Copy) {
    for_ranges(dense(out), |first, chunk: &mut [T]| {
        vectorised(
            #[inline(always)]
            move || {
                for (i, slot) in chunk.iter_mut().enumerate() {
                    *slot = value(first + i);
                }
            },
        );
    });
}

fn dense<'a, T: Element>(out: &'a mut ViewMut) -> &'a mut [T] {
    out.as_mut_slice().expect("the output is dense and of the dtype that was matched")
}

/// Run `body` with the start index and the elements of each chunk, in parallel if there are many.
#[inline(always)]
fn for_ranges<T: Element>(out: &mut [T], body: impl Fn(usize, &mut [T]) + Sync) {
    struct Start<T>(*mut T);
    // SAFETY: the pointer is used for disjoint chunks only.
    unsafe impl<T> Sync for Start<T> {}
    impl<T> Start<T> {
        fn get(&self) -> *mut T {
            self.0
        }
    }
    let start = Start(out.as_mut_ptr());
    parallel_ranges(out.len(), GRAIN / size_of::<T>(), |range| {
        // SAFETY: the ranges are disjoint and inside `out`, which is mutably borrowed for the whole call.
        let chunk = unsafe { std::slice::from_raw_parts_mut(start.get().add(range.start), range.len()) };
        body(range.start, chunk);
    });
}
