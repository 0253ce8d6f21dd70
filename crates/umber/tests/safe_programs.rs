//! Programs without `unsafe`: all their arguments are checked.
#![forbid(unsafe_code)]

use std::slice::from_ref;

use umber::export::{self, Shapes};
use umber::{Array, DType, ErrorKind, KeepAxes, Shape, io, ops, s};

/// Sizes whose products and strides do not fit the address space.
const HUGE: [usize; 3] = [1 << 31, 1 << 32, usize::MAX / 2];

#[test]
fn sizes_beyond_the_address_space_are_errors() {
    for length in HUGE {
        let shape = Shape::from([length, length]);
        let full = ops::full(&shape, &Array::from(1.0f32), None);
        assert!(full.is_err_and(|error| error.kind() == ErrorKind::Overflow), "{length}");
        let panic =
            std::panic::catch_unwind(|| Array::full(Shape::from([length, length]), 1.0f32, DType::Float32));
        assert!(panic.is_err(), "{length}");
        assert!(Array::from_slice::<f32>(&[], [0, length, length]).is_err());
        assert!(Array::from_slice(&[1.0f32], [length, length]).is_err());
        let wide = ops::broadcast_to(&Array::from(1.0f32), [length as i64, length as i64]);
        let dense = wide.and_then(|wide| wide.to_vec::<f32>());
        assert!(dense.is_err(), "{length}");
    }
}

#[test]
fn strides_out_of_bounds_are_errors() {
    let x = Array::from([1.0f32, 2.0, 3.0, 4.0]);
    for stride in [i64::MAX, 1 << 62, i64::MIN, -(1 << 62), 4, -1] {
        for offset in [0, 3, 1 << 40, i64::MAX] {
            let strided = ops::as_strided(&x, Some(&[5]), Some(&[stride]), offset);
            let values = strided.and_then(|strided| strided.to_vec::<f32>());
            assert!(values.is_err(), "stride {stride}, offset {offset}: {values:?}");
        }
    }
    let backwards = ops::as_strided(&x, Some(&[4]), Some(&[-1]), 3).and_then(|array| array.to_vec::<f32>());
    assert_eq!(backwards, Ok(vec![4.0, 3.0, 2.0, 1.0]));
}

#[test]
fn indices_out_of_bounds_are_errors() {
    let x = Array::from([1.0f32, 2.0, 3.0]);
    for index in [3i64, -4, i64::MAX, i64::MIN] {
        let taken = ops::take(&x, &Array::from([index]), None).and_then(|taken| taken.to_vec::<f32>());
        assert!(matches!(taken, Err(ref error) if error.kind() == ErrorKind::Index), "{index}: {taken:?}");
        assert!(x.get(s![index]).and_then(|one| one.item()).is_err(), "{index}");
    }
}

#[test]
fn reading_as_another_type_is_an_error() {
    let x = Array::from([1u8, 2, 3]);
    assert!(matches!(x.to_vec::<f64>(), Err(error) if error.kind() == ErrorKind::Type));
    assert!(ops::view(&x, DType::Float64).and_then(|view| view.to_vec::<f64>()).is_err());
}

#[test]
fn exported_functions_round_trip() -> umber::Result<()> {
    let path = std::env::temp_dir().join(format!("umber-exported-{}", std::process::id()));
    let scale = Array::from([2.0f32]);
    let f = |inputs: &[Array]| Ok(vec![&inputs[0] * &scale, ops::sum(&inputs[0], None, KeepAxes::No)?]);
    let x = Array::from([1.0f32, 2.0, 3.0]);

    export::save(&path, f, from_ref(&x), Shapes::Fixed)?;
    let fixed = export::load(&path)?;
    assert_eq!(fixed.call(from_ref(&x))?[0].to_vec::<f32>()?, [2.0, 4.0, 6.0]);
    let longer = Array::from([1.0f32; 5]);
    assert!(matches!(fixed.call(from_ref(&longer)), Err(error) if error.kind() == ErrorKind::Value));
    assert!(matches!(fixed.call(&[Array::from([1, 2, 3])]), Err(error) if error.kind() == ErrorKind::Value));
    assert!(matches!(fixed.call(&[]), Err(error) if error.kind() == ErrorKind::Value));

    export::save(&path, f, &[x], Shapes::Free)?;
    assert_eq!(export::load(&path)?.call(&[longer])?[1].item()?.as_f64(), 5.0);

    io::npy::save(&path, &scale)?;
    assert!(export::load(&path).is_err());
    std::fs::remove_file(&path).ok();
    Ok(())
}
