//! Conversion between floats of eight bits and those that are computed in.

use umber_kernels_base::dense::dense;
use umber_kernels_base::isa::vectorised;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::{DType, Float8};

/// Elements worth another thread.
const GRAIN: usize = 1 << 14;

/// Is this conversion one of [`convert`]'s?
pub fn converts(from: DType, to: DType) -> bool {
    let is_source = matches!(from, DType::Float32 | DType::Float64);
    is_source && to.is_float8() || from.is_float8() && to == DType::Float32
}

/// The nearest floats of eight bits to floats of four or eight bytes, or the float32 equal to floats of eight bits.
///
/// # Panics
/// If the dtypes are no such pair, shapes differ or `dst` is not dense.
pub fn convert(src: View, mut dst: ViewMut) {
    match (Float8::of(src.dtype()), Float8::of(dst.dtype()), src.dtype()) {
        (None, Some(format), DType::Float32) => {
            let values = dense::<f32>(src);
            each(dst.as_mut_slice::<u8>(), |i| format.encode(f64::from(values[i])));
        }
        (None, Some(format), DType::Float64) => {
            let values = dense::<f64>(src);
            each(dst.as_mut_slice::<u8>(), |i| format.encode(values[i]));
        }
        (Some(format), None, _) => {
            let table: [f32; 256] = std::array::from_fn(|code| format.decode(code as u8));
            let codes = dense::<u8>(src);
            each(dst.as_mut_slice::<f32>(), |i| table[usize::from(codes[i])]);
        }
        (from, to, _) => panic!("a conversion of eight bits and more: {from:?} to {to:?}"),
    }
}

/// Write `value(i)` to every place `i`.
fn each<T: umber_types::Element>(out: Option<&mut [T]>, value: impl Fn(usize) -> T + Sync) {
    let out = out.expect("the output is dense and of the dtype that was matched");
    let count = out.len();
    let target = Target::over(out);
    parallel_ranges(count, GRAIN, |range| {
        vectorised(
            #[inline(always)]
            || {
                for i in range {
                    // SAFETY: inside the output; every element is written once.
                    unsafe { *target.at(i as isize) = value(i) };
                }
            },
        );
    });
}
