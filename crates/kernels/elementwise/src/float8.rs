//! Conversions between float8 and the dtypes of computation.

use umber_kernels_base::dense::dense;
use umber_kernels_base::isa::vectorised;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::{DType, Float8};

/// Elements worth another thread.
const GRAIN: usize = 1 << 14;

/// True if [`convert`] supports this conversion.
pub fn converts(from: DType, to: DType) -> bool {
    let is_source = matches!(from, DType::Float32 | DType::Float64);
    is_source && to.is_float8() || from.is_float8() && to == DType::Float32
}

/// Round float32 or float64 to float8, or widen float8 to float32.
///
/// # Panics
/// If the pair of dtypes is not supported, shapes differ or `dst` is not dense.
pub fn convert(src: View, mut dst: ViewMut) {
    match (Float8::of(src.dtype()), Float8::of(dst.dtype()), src.dtype()) {
        (None, Some(format), DType::Float32) => {
            let values = dense::<f32>(src);
            fill(dst.as_mut_slice::<u8>(), |i| format.encode(f64::from(values[i])));
        }
        (None, Some(format), DType::Float64) => {
            let values = dense::<f64>(src);
            fill(dst.as_mut_slice::<u8>(), |i| format.encode(values[i]));
        }
        (Some(format), None, _) => {
            let table: [f32; 256] = std::array::from_fn(|code| format.decode(code as u8));
            let codes = dense::<u8>(src);
            fill(dst.as_mut_slice::<f32>(), |i| table[usize::from(codes[i])]);
        }
        (from, to, _) => panic!("unsupported float8 conversion: {from:?} to {to:?}"),
    }
}

/// Set element `i` of the output to `value(i)`, for all `i`.
fn fill<T: umber_types::Element>(out: Option<&mut [T]>, value: impl Fn(usize) -> T + Sync) {
    let out = out.expect("the output is dense and of the dtype that was matched");
    let count = out.len();
    let target = Target::over(out);
    parallel_ranges(count, GRAIN, |range| {
        vectorised(
            #[inline(always)]
            || {
                for i in range {
                    // SAFETY: the index is inside the output, and each element is written once.
                    unsafe { *target.at(i as isize) = value(i) };
                }
            },
        );
    });
}
