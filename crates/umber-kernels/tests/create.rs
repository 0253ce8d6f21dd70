//! Created arrays against their definitions.

use proptest::prelude::*;
use umber_kernels::ViewMut;
use umber_kernels::create::{arange, eye, fill, tri};
use umber_types::{Bool, Complex32, DType, Element, Layout, Scalar, Shape, bf16, f16, match_dtype};

fn created<T: Element>(zero: T, shape: &[usize], make: impl FnOnce(ViewMut)) -> Vec<T> {
    let layout = Layout::contiguous(shape.iter().copied().collect());
    let mut out = vec![zero; layout.size()];
    make(ViewMut::of(&mut out, &layout));
    out
}

#[test]
fn fill_every_dtype() {
    for dtype in DType::COMPUTE {
        for size in [0, 1, 5, 300_000] {
            let value = Scalar::Int(3).cast(dtype);
            match_dtype!(dtype, T => {
                let zero = [0u8; 16];
                // SAFETY: zero bytes are a valid element of every dtype.
                let zero = unsafe { zero.as_ptr().cast::<T>().read_unaligned() };
                let out = created(zero, &[size], |out| fill(value, out));
                for element in [out.first(), out.last()].into_iter().flatten() {
                    // SAFETY: an element has `size_of` initialised bytes.
                    let bytes = unsafe {
                        std::slice::from_raw_parts(std::ptr::from_ref(element).cast::<u8>(), size_of::<T>())
                    };
                    assert_eq!(Scalar::from_bytes(dtype, bytes), value);
                }
                assert!(out.windows(2).all(|pair| pair[0] == pair[1]));
            });
        }
    }
}

#[test]
fn integer_ranges_wrap() {
    let out = created(0u8, &[6], |out| arange(Scalar::Int(253), Scalar::Int(1), out));
    assert_eq!(out, [253, 254, 255, 0, 1, 2]);
    let out = created(0i8, &[4], |out| arange(Scalar::Int(10), Scalar::Int(-3), out));
    assert_eq!(out, [10, 7, 4, 1]);
    let out = created(0i64, &[3], |out| arange(Scalar::Int(i64::MAX - 1), Scalar::Int(1), out));
    assert_eq!(out, [i64::MAX - 1, i64::MAX, i64::MIN]);
    let out = created(0u64, &[2], |out| arange(Scalar::UInt(u64::MAX), Scalar::Int(-1), out));
    assert_eq!(out, [u64::MAX, u64::MAX - 1]);
    // An integer range with float arguments truncates start and step.
    let out = created(0i32, &[4], |out| arange(Scalar::Float(-0.5), Scalar::Float(2.7), out));
    assert_eq!(out, [0, 2, 4, 6]);
}

#[test]
fn float_ranges_round_once() {
    let count = 200_000;
    let (start, step) = (0.1, 0.3);
    let exact = |i: usize| start + i as f64 * step;
    let run = |out: ViewMut| arange(Scalar::Float(start), Scalar::Float(step), out);
    assert!(created(0f32, &[count], run).iter().enumerate().all(|(i, &x)| x == exact(i) as f32));
    assert!(created(0f64, &[count], run).iter().enumerate().all(|(i, &x)| x == exact(i)));
    assert!(created(f16::ZERO, &[1000], run).iter().enumerate().all(|(i, &x)| x == f16::from_f64(exact(i))));
    assert!(
        created(bf16::ZERO, &[1000], run).iter().enumerate().all(|(i, &x)| x == bf16::from_f64(exact(i)))
    );
    let complex = created(Complex32::new(9.0, 9.0), &[3], |out| {
        arange(Scalar::Complex(1.0, 2.0), Scalar::Complex(0.5, -1.0), out);
    });
    assert_eq!(complex, [Complex32::new(1.0, 2.0), Complex32::new(1.5, 1.0), Complex32::new(2.0, 0.0)]);
    assert_eq!(
        created(Bool(7), &[3], |out| arange(Scalar::Int(0), Scalar::Int(1), out)),
        [Bool(0), Bool(1), Bool(1)]
    );
}

proptest! {
    #[test]
    fn diagonals_and_triangles(
        batch in 0usize..3, rows in 0usize..7, columns in 0usize..7,
        k in prop_oneof![-8isize..9, Just(isize::MIN), Just(isize::MAX)],
    ) {
        let shape = [batch, rows, columns];
        let diagonal = created(9i16, &shape, |out| eye(k, out));
        let triangle = created(9f32, &shape, |out| tri(k, out));
        for (i, (&on, &under)) in diagonal.iter().zip(&triangle).enumerate() {
            let (row, column) = ((i / columns % rows) as i128, (i % columns) as i128);
            prop_assert_eq!(on, i16::from(column == row + k as i128));
            prop_assert_eq!(under, f32::from(u8::from(column <= row + k as i128)));
        }
    }
}

#[test]
fn large_matrices_are_filled_in_parallel() {
    let n = 1500;
    let out = created(0f32, &[n, n], |out| eye(3, out));
    assert!(out.iter().enumerate().all(|(i, &x)| x == f32::from(u8::from(i % n == i / n + 3))));
    assert_eq!(Shape::from([n, n]).size(), out.len());
}
