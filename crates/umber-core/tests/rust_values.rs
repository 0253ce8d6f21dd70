//! The Rust interface: array literals, indices, operators, printing.
#![allow(clippy::unwrap_used, reason = "tests")]

use umber_core::graph::ArrayInternals;
use umber_core::ops::Index;
use umber_core::transforms::vmap;
use umber_core::{Array, DType, Scalar, Shape, ops, s};
use umber_types::{Bool, f16};

fn count(length: i32) -> Array {
    (0..length).collect()
}

/// The elements of `[0, 1, 2, 3, 4, 5]` at an index.
fn selected(index: impl AsRef<[Index]>) -> Vec<i32> {
    count(6).get(index).unwrap().to_vec().unwrap()
}

#[test]
fn ranges_index_like_python_slices() {
    assert_eq!(selected(s![..]), [0, 1, 2, 3, 4, 5]);
    assert_eq!(selected(s![-2..]), [4, 5]);
    assert_eq!(selected(s![..-4]), [0, 1]);
    assert_eq!(selected(s![1..-1]), [1, 2, 3, 4]);
    assert_eq!(selected(s![4..2]), [0; 0]);
    assert_eq!(selected(s![-100..100]), [0, 1, 2, 3, 4, 5]);
    assert_eq!(selected(s![1..5; 2]), [1, 3]);
    assert_eq!(selected(s![..; -2]), [5, 3, 1]);
    assert_eq!(selected(s![4..1; -1]), [4, 3, 2]);
    assert_eq!(selected(s![..2usize]), [0, 1]);
    assert_eq!(selected(s![1u64..; 3,]), [1, 4]);
}

#[test]
fn inclusive_ranges_include_their_last_element() {
    assert_eq!(selected(s![2..=3]), [2, 3]);
    assert_eq!(selected(s![..=-1]), [0, 1, 2, 3, 4, 5]);
    assert_eq!(selected(s![..=-2]), [0, 1, 2, 3, 4]);
    assert_eq!(selected(s![3..=0; -1]), [3, 2, 1, 0]);
    assert_eq!(selected(s![..=4; -1]), [5, 4]);
    assert_eq!(selected(s![..=i64::MAX]), [0, 1, 2, 3, 4, 5]);
    assert_eq!(selected(s![..=i64::MIN; -1]), [5, 4, 3, 2, 1, 0]);
}

#[test]
fn kinds_of_indices_combine() {
    let a = ops::reshape(&count(24), [2, 3, 4]).unwrap();
    let shape = |index: &[Index]| a.get(index).unwrap().shape().clone();
    assert_eq!(shape(&s![]), Shape::from([2, 3, 4]));
    assert_eq!(shape(&s![0, -1]), Shape::from([4]));
    assert_eq!(shape(&s![..., 1]), Shape::from([2, 3]));
    assert_eq!(shape(&s![1, ..., NewAxis]), Shape::from([3, 4, 1]));
    assert_eq!(shape(&s![NewAxis, .., [0, 2, 1, 0], 1..]), Shape::from([1, 2, 4, 3]));
    assert_eq!(shape(&s![[true, false], ..]), Shape::from([1, 3, 4]));
    assert_eq!(shape(&s![true]), Shape::from([1, 2, 3, 4]));
    assert_eq!(shape(&s![&Array::from([[0u8], [1]]), ..2]), Shape::from([2, 1, 2, 4]));
    assert_eq!(shape(&s![Index::Ellipsis, 0usize]), Shape::from([2, 3]));
    let mask = ops::greater(&a, &Array::from(20)).unwrap();
    assert_eq!(a.get(s![&mask]).unwrap().to_vec::<i32>().unwrap(), [21, 22, 23]);
    assert_eq!(a.get(s![mask]).unwrap().shape(), &Shape::from([3]));
    let row = 1;
    assert_eq!(a.get(s![0, row, row + 1]).unwrap().item().unwrap(), Scalar::Int(6));
}

#[test]
fn bad_indices_are_errors() {
    let a = count(6);
    for (index, text) in [
        (vec![Index::from(6)], "[index] index 6 is out of bounds for axis 0 of length 6"),
        (vec![Index::from(u64::MAX)], "[index] index 9223372036854775807 is out of bounds"),
        (s![..; 0].to_vec(), "[index] slice step must be non-zero"),
        (s![0, 0].to_vec(), "[index] too many indices"),
        (s![&Array::from([0.5f32])].to_vec(), "[index] indices must be integers, not float32"),
    ] {
        let message = a.get(&index).unwrap_err().to_string();
        assert!(message.starts_with(text), "{message}");
    }
}

#[test]
fn set_changes_only_this_handle_and_nothing_on_failure() {
    let mut a = count(4);
    let before = a.clone();
    a.set(s![1..3], [7, 8]).unwrap();
    let nine = Array::from(9);
    a.set(s![-1], &nine).unwrap();
    assert_eq!(a.to_vec::<i32>().unwrap(), [0, 7, 8, 9]);
    assert_eq!(before.to_vec::<i32>().unwrap(), [0, 1, 2, 3]);
    assert!(a.set(s![..2], [1, 2, 3]).is_err());
    assert_eq!(a.to_vec::<i32>().unwrap(), [0, 7, 8, 9]);
}

#[test]
fn rust_values_convert_to_arrays() {
    let check = |array: Array, shape: &[usize], dtype: DType| {
        assert_eq!((&array.shape()[..], array.dtype()), (shape, dtype));
    };
    check(Array::from(1.0), &[], DType::Float64);
    check(Array::from(true), &[], DType::Bool);
    check(Array::from(f16::ONE), &[], DType::Float16);
    check(Array::from([[[1i8; 2]; 0]; 3]), &[3, 0, 2], DType::Int8);
    check(Array::from(Vec::<f32>::new()), &[0], DType::Float32);
    check(Array::from(vec![[1u16, 2, 3]]), &[1, 3], DType::UInt16);
    check(Array::from(&[[true; 2]][..]), &[1, 2], DType::Bool);
    check(Array::from(&count(2)), &[2], DType::Int32);
    assert_eq!(Array::from(2.5f32).constant(), Some(Scalar::Float(2.5)));
    let flags = Array::from([true, false]);
    assert_eq!(flags.to_vec::<bool>().unwrap(), [true, false]);
    assert_eq!(flags.to_vec::<Bool>().unwrap(), [Bool(1), Bool(0)]);
    assert!(flags.to_vec::<u8>().is_err());
}

#[test]
fn numbers_take_the_dtype_of_the_array_operand() {
    let x = Array::from([1u8, 4]);
    for y in [&x + 2, 2 + &x, x.clone() + 2i64, 2i64 + x.clone(), &x + 2u32, &x + true + true] {
        if y.dtype() == DType::UInt8 {
            assert!(y.get(s![0]).unwrap().item().unwrap().as_i64() >= 3);
        }
        assert_eq!(y.dtype(), DType::UInt8);
    }
    for y in [&x * 0.5, 0.5 * &x, &x * 0.5f32, 0.5f32 * &x, f16::from_f32(0.5) * x.clone(), (0.5f64 * &x) / 1]
    {
        assert_eq!(y.to_vec::<f32>().unwrap(), [0.5, 2.0]);
    }
    let half = ops::astype(&x, DType::Float16).unwrap();
    assert_eq!((1.0f64 - &half % 3).dtype(), DType::Float16);
    for y in [1u8 - &x, 1i8 - &x, 1u16 - &x, 1i32 - &x, 1i64 - x.clone(), 1u64 - &x] {
        assert_eq!(y.to_vec::<u8>().unwrap(), [0, 253]);
    }
    let mut z = half.clone();
    z += 1.0;
    z -= 2i64;
    z *= 0.5f32;
    z /= &half;
    assert_eq!(ops::astype(&-z, DType::Float32).unwrap().to_vec::<f32>().unwrap(), [0.0, -0.375]);
}

#[test]
fn bitwise_and_compound_assignment_operators() {
    let x = Array::from([0b1100, 0b0110]);
    let values = |array: Array| array.to_vec::<i32>().unwrap();
    assert_eq!(values(&x & 0b0100), [0b0100, 0b0100]);
    assert_eq!(values(1 | &x), [0b1101, 0b0111]);
    assert_eq!(values(&x ^ &x), [0, 0]);
    assert_eq!(values(!&x), [!0b1100, !0b0110]);
    assert_eq!(values((&x << 1) >> 2), [0b0110, 0b0011]);
    let mut y = x.clone();
    y += 1;
    y *= &x;
    y -= Array::from(6);
    y %= 100;
    y |= 1;
    assert_eq!(values(y), [51, 37]);
    let flags = !Array::from([true, false]) & true;
    assert_eq!(flags.to_vec::<bool>().unwrap(), [false, true]);
}

#[test]
#[should_panic(expected = "[add] shapes (2,) and (3,) cannot be broadcast")]
fn operators_panic_if_shapes_do_not_broadcast() {
    let _ = Array::from([1, 2]) + Array::from([1, 2, 3]);
}

#[test]
#[should_panic(expected = "300 does not fit uint8 (0..255)")]
fn operators_panic_if_a_number_does_not_fit_the_dtype() {
    let _ = Array::from([1u8]) + 300;
}

#[test]
fn panics_of_operators_have_the_location_of_the_caller() {
    let files = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let hook = std::panic::take_hook();
    let recorded = std::sync::Arc::clone(&files);
    let test_thread = std::thread::current().id();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() == test_thread {
            recorded.lock().unwrap().extend(panic.location().map(|location| location.file().to_owned()));
        }
    }));
    let (x, y) = (Array::from([1, 2]), Array::from([1, 2, 3]));
    let failing: [fn(&Array, &Array); 6] = [
        |x, y| drop(x + y),
        |x, y| drop(x.clone() * y.clone()),
        |x, y| drop(x - y.clone()),
        |x, _| drop(300u32 + &ops::astype(x, DType::UInt8).unwrap()),
        |x, _| drop(ops::astype(x, DType::UInt8).unwrap() + 300),
        |x, y| {
            let mut z = x.clone();
            z += y;
        },
    ];
    let count = failing
        .iter()
        .filter(|f| std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f(&x, &y))).is_err())
        .count();
    std::panic::set_hook(hook);
    assert_eq!(count, failing.len());
    let files = files.lock().unwrap();
    assert!(files.iter().all(|file| file.ends_with("rust_values.rs")), "{files:?}");
}

#[test]
fn equals_compares_shapes_and_elements() {
    let x = Array::from([1.0f32, 2.0]);
    assert!(x.equals(&Array::from([1, 2])).unwrap());
    assert!(!x.equals(&Array::from([[1.0f32, 2.0]])).unwrap());
    let nan = Array::from([f32::NAN]);
    assert!(!nan.equals(&nan).unwrap());
}

#[test]
fn arrays_print_as_in_python() {
    let print = |array: Array| array.to_string();
    assert_eq!(print(Array::from(1.5f32)), "array(1.5, dtype=float32)");
    assert_eq!(print(Array::from([true, false])), "array([True, False], dtype=bool)");
    assert_eq!(print(Array::from([0i32; 0])), "array([], dtype=int32)");
    assert_eq!(print(count(1000)), "array([0, 1, 2, ..., 997, 998, 999], dtype=int32)");
    let transposed = ops::transpose(&Array::from([[1.0, f64::NAN], [-0.0, 1e10]]), None).unwrap();
    assert_eq!(print(transposed.clone()), "array([[1, -0],\n       [nan, 1e+10]], dtype=float64)");
    assert_eq!(
        format!("{transposed:.2}"),
        "array([[1.00, -0.00],\n       [nan, 10000000000.00]], dtype=float64)"
    );
    assert_eq!(format!("{:?}", Array::from([1, 2])), "Array((2,) int32, array)");
    // A placeholder prints its spec and the error.
    let print_placeholder = |inputs: &[Array]| {
        assert!(inputs[0].to_string().starts_with("array(<() int32: [eval] this array has no value"));
        Ok(inputs.to_vec())
    };
    vmap(print_placeholder, &[Some(0)], &[Some(0)])(&[count(2)]).unwrap();
}
