//! Operations on images: every frame of a stack, any dtype where nothing is computed, any order in memory.

use proptest::prelude::*;
use umber_core::{DType, Shape};
use umber_data::decode::ImageOptions;
use umber_data::image::Layout;
use umber_data::ops::*;
use umber_data::{Operation, Value};
use umber_types::ErrorKind;

use super::files::Folder;
use super::{
    any_value, apply, apply_to, assert_elements, draw, elements, indices, part_of, place, sample, text,
};

/// An image, or a stack of two, of any dtype in any order.
fn any_image() -> impl Strategy<Value = Value> {
    any_value(3, 4)
}

/// Bytes of an image, or a stack of two.
fn any_pixels() -> impl Strategy<Value = Value> {
    let bytes = prop::collection::vec(any::<u8>(), 1..50);
    (1usize..7, 1usize..7, 1usize..6, any::<bool>(), bytes, 0u64..12).prop_map(
        |(height, width, channels, is_stack, bytes, order)| {
            let shape =
                if is_stack { vec![2, height, width, channels] } else { vec![height, width, channels] };
            super::value(shape, DType::UInt8, bytes, order, vec![true; 4])
        },
    )
}

/// The frame of a stack, or the image.
fn frame(value: &Value, index: usize) -> Value {
    if value.ndim() == 3 {
        return value.clone();
    }
    let mut lengths = value.shape().to_vec();
    lengths[0] = 1;
    part_of(value, &[index, 0, 0, 0], &lengths).reshaped(&lengths[1..].iter().copied().collect()).unwrap()
}

/// Assert that an operation does to each frame of a stack what it does to an image.
fn assert_frames_alike(operation: &dyn Operation, value: &Value, result: &Value) {
    for index in 0..if value.ndim() == 4 { value.shape()[0] } else { 0 } {
        assert_eq!(frame(result, index), apply(operation, &frame(value, index)).unwrap());
    }
}

proptest! {
    #[test]
    fn center_crop(value in any_image(), w in 1i64..6, h in 1i64..6) {
        let axis = value.ndim() - 3;
        let (height, width) = (value.shape()[axis], value.shape()[axis + 1]);
        let result = apply(&ImageCenterCrop::new("x", w, h).unwrap(), &value);
        let (w, h) = (w as usize, h as usize);
        if w > width || h > height {
            prop_assert_eq!(result.unwrap_err().kind(), ErrorKind::Value);
            return Ok(());
        }
        let shape = value.shape().with(axis, h).with(axis + 1, w);
        assert_elements(&result.unwrap(), &value, &shape, &[], |index| {
            let mut full = index.to_vec();
            full[axis] += (height - h) / 2;
            full[axis + 1] += (width - w) / 2;
            Some(full)
        });
    }

    #[test]
    fn random_crops(value in any_image(), w in 1i64..4, h in 1i64..4, index in 0u64..100) {
        let axis = value.ndim() - 3;
        let (height, width) = (value.shape()[axis], value.shape()[axis + 1]);
        let is_window = |result: &Value| {
            let (h, w) = (result.shape()[axis], result.shape()[axis + 1]);
            (0..=height - h).any(|y| (0..=width - w).any(|x| {
                let mut starts = vec![0; value.ndim()];
                (starts[axis], starts[axis + 1]) = (y, x);
                part_of(&value, &starts, result.shape()) == *result
            }))
        };
        let crop = ImageRandomCrop::new("x", w, h).unwrap();
        match crop.change(value.clone(), &draw(index)) {
            Ok(result) => {
                prop_assert_eq!(&result.shape()[axis..axis + 2], [h as usize, w as usize]);
                prop_assert!(is_window(&result));
            }
            Err(error) => prop_assert!(h as usize > height || w as usize > width, "{error}"),
        }
        let crop = ImageRandomAreaCrop::new("x", (0.2, 0.9), (0.5, 2.0), 10).unwrap();
        match crop.change(value.clone(), &draw(index)) {
            Ok(result) => prop_assert!(is_window(&result)),
            Err(error) => prop_assert!(height == 0 || width == 0, "{error}"),
        }
    }

    #[test]
    fn flip(value in any_image()) {
        let axis = value.ndim() - 2;
        let width = value.shape()[axis];
        let result = apply(&ImageRandomHFlip::new("x", 1.0).unwrap(), &value).unwrap();
        assert_elements(&result, &value, value.shape(), &[], |index| {
            let mut full = index.to_vec();
            full[axis] = width - 1 - full[axis];
            Some(full)
        });
        prop_assert_eq!(apply(&ImageRandomHFlip::new("x", 0.0).unwrap(), &value).unwrap(), value);
    }

    #[test]
    fn rotate(value in any_image(), turns in 0i32..4, angle in -400.0f64..400.0) {
        // Quarter turns by definition.
        let result = apply(&ImageRotate::new("x", 90.0 * f64::from(turns), false).unwrap(), &value).unwrap();
        let axis = value.ndim() - 3;
        let (height, width) = (value.shape()[axis], value.shape()[axis + 1]);
        if height > 0 && width > 0 {
            let (h, w) = if turns % 2 == 0 { (height, width) } else { (width, height) };
            let shape = value.shape().with(axis, h).with(axis + 1, w);
            assert_elements(&result, &value, &shape, &[], |index| {
                let mut full = index.to_vec();
                let (y, x) = (index[axis], index[axis + 1]);
                (full[axis], full[axis + 1]) = match turns {
                    0 => (y, x),
                    1 => (height - 1 - x, y),
                    2 => (height - 1 - y, width - 1 - x),
                    _ => (x, width - 1 - y),
                };
                Some(full)
            });
        }
        for crop in [false, true] {
            let operation = ImageRotate::new("x", angle, crop).unwrap();
            let result = apply(&operation, &value).unwrap();
            prop_assert!(!crop || result.shape() == value.shape());
            assert_frames_alike(&operation, &value, &result);
        }
    }

    #[test]
    fn resize(value in any_pixels(), w in 1i64..9, h in 1i64..9) {
        let axis = value.ndim() - 3;
        let (height, width) = (value.shape()[axis], value.shape()[axis + 1]);
        let operation = ImageResize::new("x", w, h).unwrap();
        let result = apply(&operation, &value).unwrap();
        prop_assert_eq!(result.shape(), &value.shape().with(axis, h as usize).with(axis + 1, w as usize));
        assert_frames_alike(&operation, &value, &result);
        let low = *value.bytes().unwrap().iter().min().unwrap();
        let high = *value.bytes().unwrap().iter().max().unwrap();
        prop_assert!(result.bytes().unwrap().iter().all(|byte| (low..=high).contains(byte)), "means are within");
        if (height, width) == (h as usize, w as usize) {
            prop_assert_eq!(&result, &value);
        }
        let operation = ImageResizeSmallestSide::new("x", w).unwrap();
        let result = apply(&operation, &value).unwrap();
        prop_assert_eq!(result.shape()[axis].min(result.shape()[axis + 1]), w as usize);
        assert_frames_alike(&operation, &value, &result);
    }

    #[test]
    fn luminance(value in any_pixels()) {
        let operation = ImageChannelReduction::new("x", "rec601").unwrap();
        let result = apply(&operation, &value);
        if value.shape().last() != Some(&3) {
            prop_assert_eq!(result.unwrap_err().kind(), ErrorKind::Value);
            return Ok(());
        }
        let (result, from) = (result.unwrap(), elements(&value).concat());
        prop_assert_eq!(result.shape(), &value.shape().with(value.ndim() - 1, 1));
        for (grey, color) in elements(&result).concat().iter().zip(from.chunks_exact(3)) {
            let expected = 0.299 * f64::from(color[0]) + 0.587 * f64::from(color[1]) + 0.114 * f64::from(color[2]);
            prop_assert!((f64::from(*grey) - expected).abs() < 0.51);
        }
    }

    #[test]
    fn normalize(
        value in any_pixels(),
        is_chw in any::<bool>(),
        has_channels in any::<bool>(),
        from in prop::sample::select(vec![DType::UInt8, DType::Int32, DType::Float32, DType::Float64]),
        dtype in prop::sample::select(vec![DType::Float16, DType::BFloat16, DType::Float32, DType::Float64]),
    ) {
        let channels = *value.shape().last().unwrap();
        let count = if has_channels { channels } else { 1 };
        let mean: Vec<f64> = (0..count).map(|channel| 0.1 + 0.05 * channel as f64).collect();
        let std: Vec<f64> = (0..count).map(|channel| 0.5 + 0.1 * channel as f64).collect();
        let value = apply(&Cast::new("x", from), &value).unwrap();
        let layout = if is_chw { Layout::Chw } else { Layout::Hwc };
        let operation =
            ImageNormalize::new("x", mean.clone(), std.clone(), 1.0 / 255.0, layout, dtype).unwrap();
        // Shared, and in memory of its own.
        let shared = apply(&operation, &value).unwrap();
        let own = operation.change(value.copied().unwrap(), &draw(0)).unwrap();
        prop_assert_eq!(&own, &shared);
        prop_assert_eq!(shared.dtype(), dtype);
        let as_double = |value: &Value| {
            let double = apply(&Cast::new("x", DType::Float64), value).unwrap().into_contiguous().unwrap();
            double.as_slice::<f64>().unwrap().to_vec()
        };
        let (source, result) = (as_double(&value), as_double(&shared));
        let first = value.ndim() - 3;
        for index in indices(value.shape()) {
            let (y, x, c) = (index[first], index[first + 1], index[first + 2]);
            let to: Vec<usize> =
                index[..first].iter().copied().chain(if is_chw { [c, y, x] } else { [y, x, c] }).collect();
            let channel = if has_channels { c } else { 0 };
            let expected = (source[place(value.shape(), &index)] / 255.0 - mean[channel]) / std[channel];
            let got = result[place(shared.shape(), &to)];
            let tolerance = match dtype {
                DType::BFloat16 => 1e-2,
                DType::Float16 => 2e-3,
                _ => 1e-5,
            };
            prop_assert!((got - expected).abs() < tolerance, "{got} {expected}");
        }
    }
}

/// Pixels, sizes, channels and faults, from files and from memory.
#[test]
fn load() {
    let folder = Folder::new("load-image");
    let grey = b"P2 3 2 255 1 2 3 4 5 6";
    let name = folder.write("grey.pgm", grey);
    let expected = Value::from_slice(&[1u8, 2, 3, 4, 5, 6], Shape::from([2, 3, 1])).unwrap();
    let load = |input: FileInput, content, channels| {
        LoadImage::new("x", input, content, ImageOptions { channels, ..ImageOptions::default() }).unwrap()
    };
    let named = || FileInput::new(&folder.0, false);
    let result = apply(&load(named(), ImageContent::Pixels, None), &name).unwrap();
    assert_eq!(result, expected);
    assert!(result.is_alone(), "a decoded image may be edited in place");
    let result = apply(&load(FileInput::Content, ImageContent::Pixels, Some(3)), &text(grey)).unwrap();
    assert_eq!(result.shape()[..], [2, 3, 3]);
    let unsigned = Value::from_bytes(grey).unwrap();
    let size = apply(&load(FileInput::Content, ImageContent::Size, None), &unsigned).unwrap();
    assert_eq!(size, Value::from_slice(&[3i64, 2], 2).unwrap());
    for content in [ImageContent::Pixels, ImageContent::Size] {
        let error = apply(&load(named(), content, None), &folder.write("a.png", b"no image")).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Io, Some(&*folder.0.join("a.png"))), "{error}");
        let error = apply(&load(named(), content, None), &text(b"missing.png")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        let error = apply(&load(FileInput::Content, content, None), &text(b"")).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Value, None), "{error}");
        assert_eq!(error.to_string(), "key 'x': cannot decode: the file is empty");
    }
    for options in [
        ImageOptions { channels: Some(0), ..ImageOptions::default() },
        ImageOptions { channels: Some(5), ..ImageOptions::default() },
        ImageOptions { at_least: Some((0, 4)), ..ImageOptions::default() },
    ] {
        assert!(LoadImage::new("x", FileInput::Content, ImageContent::Pixels, options).is_err());
    }
}

#[test]
fn save() {
    let folder = Folder::new("save-image");
    let image = Value::from_slice(&[120u8; 16 * 8 * 3], Shape::from([8, 16, 3])).unwrap();
    let given = |name: &str| sample(&[("x", image.clone()), ("n", text(name.as_bytes()))]);
    for (name, prefix, file) in
        [("a.png", "", "a.jpg"), ("a", "p_", "p_a.jpg"), ("a.b.c", "p_", "p_a.b.jpg"), ("d.jpg", "", "d.jpg")]
    {
        let save = SaveImage::new("x", "n", &folder.0, prefix);
        assert_eq!(apply_to(&save, given(name)).unwrap(), given(name));
        let load = LoadImage::new(
            "x",
            FileInput::new(&folder.0, false),
            ImageContent::Pixels,
            ImageOptions::default(),
        );
        let loaded = apply(&load.unwrap(), &text(file.as_bytes())).unwrap();
        assert_eq!(loaded.shape(), image.shape());
        assert!(loaded.bytes().unwrap().iter().all(|byte| byte.abs_diff(120) < 3));
    }
    let save = SaveImage::new("x", "n", &folder.0, "");
    let error = apply_to(&save, given("missing/a")).unwrap_err();
    assert_eq!((error.kind(), error.key()), (ErrorKind::NotFound, Some("n")));
    assert_eq!(error.path(), Some(&*folder.0.join("missing/a.jpg")));
    assert_eq!(apply_to(&save, given("")).unwrap_err().kind(), ErrorKind::Value);
    for (value, kind) in [
        (Value::from_slice(&[1.0f32; 6], Shape::from([1, 2, 3])).unwrap(), ErrorKind::Type),
        (Value::from_slice(&[1u8; 6], (2, 3)).unwrap(), ErrorKind::Value),
        (Value::from_slice::<u8>(&[], Shape::from([0, 2, 3])).unwrap(), ErrorKind::Value),
    ] {
        let error = apply_to(&save, sample(&[("x", value), ("n", text(b"a"))])).unwrap_err();
        assert_eq!((error.kind(), error.key()), (kind, Some("x")), "{error}");
    }
}

/// No argument and no shape panics or hangs, and no result is larger than the limit.
#[test]
fn hostile() {
    let extremes = [i64::MIN, -1, 0, 1, 2, 1 << 31, i64::MAX];
    let values: Vec<Value> = [
        vec![],
        vec![3],
        vec![2, 3],
        vec![0, 2, 3],
        vec![2, 0, 3],
        vec![2, 3, 0],
        vec![2, 3, 3],
        vec![0, 2, 3, 3],
        vec![2, 2, 3, 5],
    ]
    .into_iter()
    .map(|shape: Vec<usize>| Value::allocate(&shape.into_iter().collect(), DType::UInt8).unwrap())
    .collect();
    let mut operations: Vec<Box<dyn Operation>> = Vec::new();
    let mut add = |operation: umber_data::Result<Box<dyn Operation>>| operations.extend(operation);
    for w in extremes {
        for h in extremes {
            let is_size = w > 0 && h > 0;
            assert_eq!(ImageResize::new("x", w, h).is_ok(), is_size);
            add(ImageResize::new("x", w, h).map(|o| Box::new(o) as _));
            add(ImageCenterCrop::new("x", w, h).map(|o| Box::new(o) as _));
            add(ImageRandomCrop::new("x", w, h).map(|o| Box::new(o) as _));
        }
        add(ImageResizeSmallestSide::new("x", w).map(|o| Box::new(o) as _));
        add(ImageRandomAreaCrop::new("x", (0.1, 1.0), (0.5, 2.0), w).map(|o| Box::new(o) as _));
    }
    for number in [f64::NAN, f64::NEG_INFINITY, -1.0, 0.0, 1e-300, 0.3, 1.0, 1e300, f64::INFINITY] {
        add(ImageRandomHFlip::new("x", number).map(|o| Box::new(o) as _));
        add(ImageRotate::new("x", number, false).map(|o| Box::new(o) as _));
        add(ImageRandomAreaCrop::new("x", (number, 1.0), (0.5, 2.0), 10).map(|o| Box::new(o) as _));
        add(ImageRandomAreaCrop::new("x", (0.5, 1.0), (number, 2.0), 10).map(|o| Box::new(o) as _));
        let numbers = || vec![number];
        add(ImageNormalize::new("x", numbers(), numbers(), number, Layout::Chw, DType::Float32)
            .map(|o| Box::new(o) as _));
    }
    assert!(ImageRotate::new("x", f64::NAN, false).is_err());
    assert!(ImageRandomHFlip::new("x", f64::NAN).is_err());
    assert!(ImageRandomAreaCrop::new("x", (0.5, 1.0), (1.0, 1.0), 0).is_err());
    assert!(ImageRandomAreaCrop::new("x", (0.5, 2.0), (1.0, 1.0), 1).is_err());
    assert!(ImageNormalize::new("x", vec![0.0; 2], vec![1.0; 3], 1.0, Layout::Hwc, DType::Float32).is_err());
    assert!(ImageNormalize::new("x", vec![], vec![1.0], 1.0, Layout::Hwc, DType::Float32).is_err());
    assert!(ImageNormalize::new("x", vec![0.0], vec![1.0], 1.0, Layout::Hwc, DType::Int32).is_err());
    assert!(ImageChannelReduction::new("x", "grey").is_err());
    for value in &values {
        for operation in &operations {
            let result = operation.apply(sample(&[("x", value.clone())]), &draw(3));
            if value.ndim() < 3 {
                assert_eq!(result.unwrap_err().kind(), ErrorKind::Value);
            }
        }
    }
    let error = apply(&ImageResize::new("x", 1 << 15, 1 << 15).unwrap(), &values[6]).unwrap_err();
    assert!(error.detail().contains("more than the limit"), "{error}");
    let floats = Value::from_slice(&[1.0f32; 18], Shape::from([2, 3, 3])).unwrap();
    for operation in [
        Box::new(ImageResize::new("x", 2, 2).unwrap()) as Box<dyn Operation>,
        Box::new(ImageResizeSmallestSide::new("x", 2).unwrap()),
        Box::new(ImageChannelReduction::new("x", "green").unwrap()),
    ] {
        let error = apply(&*operation, &floats).unwrap_err();
        assert_eq!(error.to_string(), "key 'x': the pixels are uint8, got float32; use cast");
    }
}

/// Crops share memory, a flip writes to it where it is the sample's alone.
#[test]
fn memory() {
    let pixels = || Value::from_slice(&(0..24).collect::<Vec<u8>>(), Shape::from([2, 4, 3])).unwrap();
    let alone = |operation: &dyn Operation, value: Value| {
        let given = [(umber_data::Name::new("x"), value)].into_iter().collect();
        apply_to(operation, given).unwrap().take("x").unwrap()
    };
    let address = |value: &Value| value.view().start().addr();
    let flip = ImageRandomHFlip::new("x", 1.0).unwrap();
    let value = pixels();
    let before = address(&value);
    let flipped = alone(&flip, value);
    assert_eq!(address(&flipped), before);
    let source = pixels();
    let shared = alone(&flip, source.clone());
    assert_eq!((&shared, &source), (&flipped, &pixels()));
    let before = address(&source);
    let cropped = alone(&ImageCenterCrop::new("x", 2, 1).unwrap(), source);
    assert_eq!(address(&cropped), before + 3);
    let value = pixels();
    let before = address(&value);
    assert_eq!(address(&alone(&ImageResize::new("x", 4, 2).unwrap(), value)), before);
}
