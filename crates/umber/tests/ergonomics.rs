//! Methods, arguments and conversions of Rust programs.
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(
    clippy::useless_vec,
    clippy::needless_borrows_for_generic_args,
    reason = "vectors and references are tested"
)]

use std::panic::catch_unwind;

use umber::ndarray::{from_ndarray, to_ndarray};
use umber::ops::{self, Closeness, Split};
use umber::transforms::value_and_grad;
use umber::{
    Array, Complex32, DType, ErrorKind, KeepAxes, Result, Shape, assert_allclose, assert_array_eq, f16, io,
    keep, s,
};

fn matrix() -> Array {
    Array::from([[1.0f32, -2.0, 3.0], [4.0, 5.0, -6.0]])
}

#[test]
fn methods_are_the_functions_of_their_names() -> Result<()> {
    let x = matrix();
    let rows: [(Result<Array>, Result<Array>); 28] = [
        (x.exp(), ops::exp(&x)),
        (x.abs(), ops::abs(&x)),
        (x.sign(), ops::sign(&x)),
        (x.isnan(), ops::isnan(&x)),
        (x.power(2), ops::square(&x)),
        (x.maximum(0.0), ops::maximum(&x, &Array::from(0.0f32))),
        (x.less(&x.square()?), ops::less(&x, &ops::square(&x)?)),
        (x.clip(-1, 4), ops::clip(&x, Some(&Array::from(-1.0f32)), Some(&Array::from(4.0f32)))),
        (x.astype(DType::Int32), ops::astype(&x, DType::Int32)),
        (x.sum(..), ops::sum(&x, None, KeepAxes::No)),
        (x.prod(0), ops::prod(&x, Some(&[0]), KeepAxes::No)),
        (x.mean(keep(-1)), ops::mean(&x, Some(&[-1]), KeepAxes::Yes)),
        (x.max([0, 1]), ops::max(&x, None, KeepAxes::No)),
        (x.min(keep(..)), ops::min(&x, None, KeepAxes::Yes)),
        (x.std(1, 1), ops::std(&x, Some(&[1]), KeepAxes::No, 1)),
        (x.argmax(1), ops::argmax(&x, Some(1), KeepAxes::No)),
        (x.argmin(..), ops::argmin(&x, None, KeepAxes::No)),
        (x.softmax(-1), ops::softmax(&x, Some(&[-1]), ops::Precision::Native)),
        (x.cumsum(1), ops::cumsum(&x, ops::ScanOrder { axis: Some(1), ..Default::default() }, None)),
        (x.cummax(..), ops::cummax(&x, ops::ScanOrder::default())),
        (x.transpose(..), ops::transpose(&x, None)),
        (x.transpose((1, 0)), ops::transpose(&x, Some(&[1, 0]))),
        (x.expand_dims([0, 3]), ops::expand_dims(&x, &[0, 3])),
        (x.flip(0), ops::flip(&x, Some(&[0]))),
        (x.repeat(2, ..), ops::repeat(&x, 2, None)),
        (x.tile((2, 1)), ops::tile(&x, &[2, 1])),
        (x.matmul(&x.transpose(..)?), ops::matmul(&x, &ops::transpose(&x, None)?)),
        (x.take(&Array::from([2, 0]), 1), ops::take(&x, &Array::from([2, 0]), Some(1))),
    ];
    for (row, (method, function)) in rows.into_iter().enumerate() {
        assert_array_eq!(method?, function?, "row {row}");
    }
    let parts = x.split(Split::Sections(3), 1)?;
    assert_eq!((parts.len(), parts[1].to_vec::<f32>()?), (3, vec![-2.0, 5.0]));
    assert!(x.allclose(&x + 1e-7, Closeness::default())?.item()?.as_bool());
    Ok(())
}

#[test]
fn bad_arguments_of_methods_are_errors() {
    let x = matrix();
    let bytes = Array::from([1u8, 2]);
    for (error, kind, text) in [
        (x.sum(2).unwrap_err(), ErrorKind::Axis, "[sum] axis 2 is out of bounds for 2 dimensions"),
        (x.max([0, -2]).unwrap_err(), ErrorKind::Value, "[max] duplicate axis"),
        (x.sum(u64::MAX).unwrap_err(), ErrorKind::Axis, "[sum] axis 9223372036854775807 is out of bounds"),
        (
            x.reshape((4, -1)).unwrap_err(),
            ErrorKind::Value,
            "[reshape] cannot reshape 6 elements into (4, -1)",
        ),
        (x.reshape([usize::MAX, 2]).unwrap_err(), ErrorKind::Overflow, "[reshape] shape"),
        (x.broadcast_to([-1]).unwrap_err(), ErrorKind::Value, "[broadcast_to] lengths must not be negative"),
        (bytes.maximum(300).unwrap_err(), ErrorKind::Overflow, "[maximum] 300 does not fit uint8 (0..255)"),
        (bytes.clip(-1, 3).unwrap_err(), ErrorKind::Overflow, "[clip] -1 does not fit uint8 (0..255)"),
        (Array::from(1).rows().unwrap_err(), ErrorKind::Type, "[rows] a 0-d array has no axis"),
        ("single".parse::<DType>().unwrap_err(), ErrorKind::Value, "[dtype] no dtype is named 'single'"),
    ] {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().starts_with(text), "{error}");
    }
}

#[test]
fn shapes_are_given_in_many_forms() -> Result<()> {
    let (expected, vector) = (Shape::from([2, 3]), vec![2usize, 3]);
    for array in [
        ops::zeros([2, 3], DType::Int8),
        ops::ones((2, 3), DType::Int8),
        ops::full(&vector, &Array::from(1u8), None)?,
        Array::full(&vector[..], 0, DType::Bool),
        Array::full(&expected, 0, DType::Bool),
        Array::from_slice(&[0.0; 6], vector.clone())?,
        ops::random::normal((2, 3), DType::Float32, None, None, None)?,
        ops::random::gumbel(&expected, DType::Float32, None)?,
        ops::broadcast_to(&Array::from(1), &vector)?,
    ] {
        assert_eq!(array.shape(), &expected);
    }
    assert_eq!(Array::full((), 1, DType::Int8).ndim(), 0);
    assert_eq!(ops::zeros(4, DType::Int8).shape(), &Shape::from([4]));
    Ok(())
}

#[test]
fn numbers_of_all_types_are_operands() {
    let x = Array::from([2.0f32, 4.0]);
    for sum in [
        1u8 + &x,
        &x + 1u16,
        1i8 + &x,
        &x + 1i16,
        1usize + &x,
        &x + 1isize,
        f16::ONE + &x,
        &x + f16::ONE,
        x.clone() + 1u64,
    ] {
        assert_array_eq!(sum, [3.0f32, 5.0]);
    }
    let i = Complex32::new(0.0, 1.0);
    assert_array_eq!(i * &x, [Complex32::new(0.0, 2.0), Complex32::new(0.0, 4.0)]);
    assert_array_eq!(&x * i, i * &x);
    let mut y = x.clone();
    y += x.shape()[0];
    y *= 3u8;
    y -= f16::ONE;
    assert_array_eq!(y, [11.0f32, 17.0]);
}

#[test]
fn rows_are_iterated_in_both_directions() -> Result<()> {
    let x = matrix();
    let sums: Vec<f64> =
        x.into_iter().map(|row| row.sum(..)?.item().map(umber::Scalar::as_f64)).collect::<Result<_>>()?;
    assert_eq!(sums, [2.0, 3.0]);
    let mut rows = x.rows()?;
    assert_eq!(rows.len(), 2);
    assert_array_eq!(rows.next_back().unwrap(), [4.0f32, 5.0, -6.0]);
    assert_array_eq!(rows.next().unwrap().rows()?.nth(1).unwrap(), -2.0f32);
    assert!(rows.next().is_none() && rows.next_back().is_none());
    assert_eq!(Array::from([[0u8; 3]; 0]).rows()?.count(), 0);
    assert!(catch_unwind(|| Array::from(1).into_iter().count()).is_err());
    Ok(())
}

#[test]
fn nested_vectors_become_arrays() -> Result<()> {
    assert_array_eq!(Array::from_nested(&vec![vec![1u8, 2], vec![3, 4]])?, [[1u8, 2], [3, 4]]);
    assert_array_eq!(
        Array::from_nested(&[vec![[true, false]], vec![[true, true]]])?,
        [[[true, false]], [[true, true]]]
    );
    assert_eq!(Array::from_nested(&Vec::<Vec<f32>>::new())?.shape(), &Shape::from([0, 0]));
    assert_eq!(Array::from_nested(&vec![Vec::<i64>::new(); 3])?.shape(), &Shape::from([3, 0]));
    let error = Array::from_nested(&vec![vec![], vec![1]]).unwrap_err();
    assert_eq!(error.to_string(), "[array] lists at the same depth differ in length: 0 and 1");
    Ok(())
}

#[test]
fn ndarrays_convert_in_any_layout() -> Result<()> {
    let source = ndarray::Array3::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 12 + j * 4 + k) as i32);
    let expected: Array = (0..24).collect();
    assert_array_eq!(from_ndarray(&source)?, expected.reshape([2, 3, 4])?);
    let view = source.slice(ndarray::s![.., ..;-2, 1..3]);
    let x = from_ndarray(&view)?;
    assert_array_eq!(&x, expected.reshape([2, 3, 4])?.get(s![.., ..; -2, 1..3])?);
    assert_eq!(to_ndarray::<i32>(&x)?, view.into_dyn());
    assert_eq!(to_ndarray::<bool>(&Array::from(true))?, ndarray::arr0(true).into_dyn());
    assert_eq!(to_ndarray::<f32>(&x).unwrap_err().kind(), ErrorKind::Type);
    Ok(())
}

#[test]
fn arrays_survive_serde_in_every_dtype() -> Result<()> {
    for dtype in DType::ALL {
        for x in [matrix(), matrix().transpose(..)?, Array::from(2.0f32), Array::from([[0.0f32; 2]; 0])] {
            let x = x.abs()?.astype(dtype)?;
            let text = serde_json::to_string(&x).unwrap();
            let back: Array = serde_json::from_str(&text).unwrap();
            assert_eq!((back.shape(), back.dtype()), (x.shape(), dtype));
            assert!(back.equals(&x)?, "{text}");
        }
    }
    let text = serde_json::to_string(&Array::from([1u16, 258])).unwrap();
    assert_eq!(text, r#"{"dtype":"uint16","shape":[2],"data":[1,0,2,1]}"#);
    for (bad, reason) in [
        (r#"{"dtype":"uint16","shape":[3],"data":[1,0,2,1]}"#, "4 bytes are not an array of shape (3,)"),
        (r#"{"dtype":"uint1","shape":[1],"data":[1]}"#, "no dtype is named 'uint1'"),
        (r#"{"dtype":"uint8","shape":[-1],"data":[]}"#, "lengths must not be negative"),
        (r#"{"dtype":"uint8","shape":[0,9223372036854775807,9],"data":[]}"#, "too large to address"),
        (r#"{"dtype":"uint8","shape":[1]}"#, "missing field `data`"),
    ] {
        let error = serde_json::from_str::<Array>(bad).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    Ok(())
}

#[test]
fn files_are_named_by_any_path() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("umber-paths-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("x.safetensors");
    let text: String = path.to_str().unwrap().to_owned();
    let arrays = |value: f32| vec![("a".to_owned(), Array::from([value]))];

    io::safetensors::save(&path, &arrays(1.0), None)?;
    assert_array_eq!(io::safetensors::load(&text)?.array("a")?, [1.0f32]);
    io::safetensors::save(text.as_str(), &arrays(2.0), None)?;
    assert_array_eq!(io::safetensors::load(text.as_str())?.array("a")?, [2.0f32]);
    io::safetensors::save(&text, &arrays(3.0), None)?;
    assert_array_eq!(io::safetensors::load(path.as_path())?.array("a")?, [3.0f32]);
    assert_array_eq!(io::safetensors::load(path.clone())?.array("a")?, [3.0f32]);
    assert!(matches!(io::load(text.as_str())?, io::Loaded::Safetensors(_)));
    std::fs::remove_dir_all(&folder).unwrap();

    let missing = io::safetensors::load("no-such-folder/x.safetensors").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    Ok(())
}

#[test]
fn files_name_their_arrays_in_errors() -> Result<()> {
    let path = std::env::temp_dir().join(format!("umber-names-{}.npz", std::process::id()));
    let arrays: Vec<(String, Array)> = (0..9).map(|i| (format!("layer{i}"), Array::from(i))).collect();
    io::npz::save(&path, &arrays, io::npz::Compression::None)?;
    let contents = io::npz::load(&path)?;
    assert_array_eq!(contents.array("layer8")?, 8);
    let error = contents.array("layer9").unwrap_err();
    assert_eq!((error.kind(), error.op()), (ErrorKind::Value, Some("load")));
    assert!(
        error.to_string().starts_with("[load] no array is named 'layer9'; the file has 'layer0', "),
        "{error}"
    );
    assert!(error.to_string().ends_with("'layer7', … (9 arrays)"), "{error}");
    std::fs::remove_file(&path).unwrap();
    Ok(())
}

#[test]
fn a_gradient_of_a_missing_argument_is_an_error() {
    let product = |x: &[Array]| Ok(&x[0] * &x[1]);
    let error = value_and_grad(product, &[2])(&[Array::from(1.0f32), Array::from(2.0f32)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "[value_and_grad] argnums names argument 2, but the function was called with 2 arguments"
    );
}

#[test]
fn assertions_fail_for_arrays_that_differ() {
    fn text(assertion: fn()) -> String {
        *catch_unwind(assertion).unwrap_err().downcast::<String>().unwrap()
    }
    assert_array_eq!([f32::NAN], Array::from([f32::NAN]));
    assert_allclose!([1.0f32, f32::NAN], [1.000001f32, f32::NAN]);
    let shapes = text(|| assert_array_eq!([1, 2], [[1, 2]]));
    assert!(shapes.ends_with("shapes: (2,) and (1, 2)"), "{shapes}");
    let dtypes = text(|| assert_array_eq!([1, 2], [1i64, 2]));
    assert!(dtypes.ends_with("dtypes: int32 and int64"), "{dtypes}");
    let elements = text(|| assert_array_eq!([1, 2], [1, 3], "step {}", 7));
    assert!(elements.starts_with("arrays differ: step 7\n left: array([1, 2]"), "{elements}");
    assert!(elements.ends_with("1 of 2 elements are not equal"), "{elements}");
    let close = text(|| assert_allclose!([1.0f32, 2.0], [1.0f32, 2.1], rtol = 1e-3));
    assert!(close.starts_with("arrays are not close with rtol=0.001 and atol=0.00000001"), "{close}");
    let broadcast = text(|| assert_allclose!([1.0f32, 1.0], 1.0f32));
    assert!(broadcast.ends_with("shapes: (2,) and ()"), "{broadcast}");
}
