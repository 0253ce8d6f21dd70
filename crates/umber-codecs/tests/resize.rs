//! The triangle filter against Pillow's.

use proptest::prelude::*;
use umber_codecs::image::{Extent, ImageError, Window, crop, resize, resize_crop, smallest_side_size};

const SOURCE: &[u8] = include_bytes!("fixtures/resized_source.raw");
const EXTENT: Extent = Extent { width: 23, height: 17, channels: 3 };

fn resized(source: &[u8], extent: Extent, width: usize, height: usize) -> Vec<u8> {
    let mut target = vec![0; width * height * extent.channels];
    resize(source, extent, width, height, &mut target).expect("the arguments of the tests fit");
    target
}

#[test]
fn values_are_those_of_pillow() {
    for (width, height) in [(10, 9), (46, 34), (23, 5), (7, 17), (3, 40), (1, 1)] {
        let path = format!("{}/tests/fixtures/resized_{width}x{height}.raw", env!("CARGO_MANIFEST_DIR"));
        let expected = std::fs::read(path).unwrap();
        let got = resized(SOURCE, EXTENT, width, height);
        for (index, (a, b)) in got.iter().zip(&expected).enumerate() {
            assert!(a.abs_diff(*b) <= 1, "{width} by {height}, value {index}: {a}, {b}");
        }
    }
    assert_eq!(resized(SOURCE, EXTENT, 23, 17), SOURCE);
}

#[test]
fn every_number_of_channels_is_resized_alike() {
    let three = resized(SOURCE, EXTENT, 9, 12);
    for channels in [1, 2, 4, 5, 7] {
        let repeated: Vec<u8> =
            SOURCE.chunks(3).flat_map(|pixel| (0..channels).map(|channel| pixel[channel % 3])).collect();
        let got = resized(&repeated, Extent { channels, ..EXTENT }, 9, 12);
        for (got, expected) in got.chunks(channels).zip(three.chunks(3)) {
            for (channel, value) in got.iter().enumerate() {
                assert!(value.abs_diff(expected[channel % 3]) <= 1, "{channels} channels");
            }
        }
    }
    assert!(resized(&[], Extent { channels: 0, ..EXTENT }, 9, 12).is_empty());
}

#[test]
fn smallest_side() {
    assert_eq!(smallest_side_size(640, 480, 256), Ok((341, 256)));
    assert_eq!(smallest_side_size(480, 640, 256), Ok((256, 341)));
    assert_eq!(smallest_side_size(3, 2, 1), Ok((2, 1)));
    assert_eq!(smallest_side_size(5, 5, 9), Ok((9, 9)));
    assert_eq!(smallest_side_size(0, 5, 9), Err(ImageError::Size { width: 0, height: 5 }));
    assert_eq!(smallest_side_size(5, 5, 0).unwrap_err().to_string(), "size must be positive, got 0");
}

#[test]
fn arguments() {
    let mut target = [0; 12];
    let error = resize(SOURCE, EXTENT, 0, 4, &mut []).unwrap_err();
    assert_eq!(error.to_string(), "an image cannot have 0 by 4 pixels (width by height)");
    assert!(matches!(
        resize(SOURCE, EXTENT, 3, 2, &mut target),
        Err(ImageError::Length { what: "target", .. })
    ));
    assert!(matches!(
        resize(&SOURCE[1..], EXTENT, 2, 2, &mut target),
        Err(ImageError::Length { what: "source", .. })
    ));
    let outside = Window { x: 1, y: 0, width: 2, height: 2 };
    assert!(matches!(
        resize_crop(SOURCE, EXTENT, 2, 2, outside, &mut target),
        Err(ImageError::Window { .. })
    ));
    assert!(resize(SOURCE, EXTENT, usize::MAX, usize::MAX, &mut target).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A window has the pixels of the whole.
    #[test]
    fn a_window_is_a_part_of_the_whole(
        width in 1..60usize,
        height in 1..60usize,
        corner in (0.0..1.0, 0.0..1.0),
        size in (0.0..1.0, 0.0..1.0),
    ) {
        let part = |all: usize, corner: f64, size: f64| {
            let start = (corner * all as f64) as usize;
            (start, 1 + (size * (all - start) as f64) as usize)
        };
        let (x, w) = part(width, corner.0, size.0);
        let (y, h) = part(height, corner.1, size.1);
        let window = Window { x, y, width: w.min(width - x), height: h.min(height - y) };
        let whole = resized(SOURCE, EXTENT, width, height);
        let mut expected = vec![0; window.width * window.height * 3];
        crop(&whole, EXTENT.with_size(width, height), window, &mut expected).unwrap();
        let mut got = vec![0; expected.len()];
        resize_crop(SOURCE, EXTENT, width, height, window, &mut got).unwrap();
        for (a, b) in got.iter().zip(&expected) {
            prop_assert!(a.abs_diff(*b) <= 1, "{a} {b}");
        }
    }
}
