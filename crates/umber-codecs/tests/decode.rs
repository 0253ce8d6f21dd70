//! Files that other programs wrote, whole and damaged.

use std::path::PathBuf;
use std::sync::LazyLock;

use proptest::prelude::*;
use umber_codecs::decode::{DecodeError, Image, ImageOptions, decode, dimensions};

/// What `fixtures/make.py` says of a file.
struct Fixture {
    name: String,
    bytes: Vec<u8>,
    width: usize,
    height: usize,
    channels: usize,
    expected: Expected,
}

enum Expected {
    /// The CRC-32 of the pixels.
    Exact(u32),
    /// Pixels of another decoder.
    Near(Vec<u8>),
}

fn read(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What follows the dot of a file's name.
fn kind(name: &str) -> &str {
    name.split_once('.').map_or("", |(_, kind)| kind)
}

static FIXTURES: LazyLock<Vec<Fixture>> = LazyLock::new(|| {
    let table = String::from_utf8(read("expected.txt")).expect("ASCII");
    let fixture = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let number = |index: usize| fields[index].parse().expect("a number");
        Fixture {
            name: fields[0].to_owned(),
            bytes: read(fields[0]),
            width: number(1),
            height: number(2),
            channels: number(3),
            expected: match fields[4] {
                "exact" => Expected::Exact(fields[5].parse().expect("a digest")),
                "near" => Expected::Near(read(fields[5])),
                other => panic!("{other}"),
            },
        }
    };
    table.lines().map(fixture).collect()
});

fn default() -> ImageOptions {
    ImageOptions::default()
}

fn assert_near(name: &str, got: &[u8], expected: &[u8]) {
    assert_eq!(got.len(), expected.len(), "{name}");
    let differences = got.iter().zip(expected).map(|(a, b)| usize::from(a.abs_diff(*b)));
    let (sum, max) = differences.fold((0, 0), |(sum, max), d| (sum + d, max.max(d)));
    let mean = sum as f64 / got.len() as f64;
    assert!(mean <= 1.0 && max <= 20, "{name}: mean difference {mean}, largest {max}");
}

#[test]
fn every_format_has_the_pixels_of_its_writer() {
    assert!(FIXTURES.len() > 80);
    for &Fixture { ref name, ref bytes, width, height, channels, ref expected } in &*FIXTURES {
        let image = decode(bytes, &default()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((image.width, image.height, image.channels), (width, height, channels), "{name}");
        assert_eq!(dimensions(bytes), Ok((width, height)), "{name}");
        match expected {
            Expected::Exact(digest) => assert_eq!(crc32fast::hash(&image.pixels), *digest, "{name}"),
            Expected::Near(pixels) => assert_near(name, &image.pixels, pixels),
        }
    }
}

#[test]
fn channels_are_those_asked_for() {
    for &Fixture { ref name, ref bytes, width, height, .. } in &*FIXTURES {
        for channels in 1..=4 {
            let image = decode(bytes, &ImageOptions { channels: Some(channels), ..default() }).unwrap();
            assert_eq!(image.channels, channels, "{name}");
            assert_eq!(image.pixels.len(), width * height * channels, "{name}");
        }
    }
    let alpha = decode(&read("rgba8.png"), &ImageOptions { channels: Some(4), ..default() }).unwrap();
    assert!(alpha.pixels.iter().skip(3).step_by(4).any(|&alpha| alpha != 255));
}

#[test]
fn orientation_is_obeyed_where_asked_for() {
    let upright = decode(&read("orientation1.jpg"), &default()).unwrap();
    let Image { width, height, .. } = upright;
    let pixel = |image: &Image, x: usize, y: usize| image.pixels[(y * image.width + x) * 3..][..3].to_vec();
    for orientation in 1..=8 {
        let bytes = read(&format!("orientation{orientation}.jpg"));
        assert_eq!(decode(&bytes, &default()).unwrap(), upright);
        let oriented = decode(&bytes, &ImageOptions { orient: true, ..default() }).unwrap();
        let expected = if orientation >= 5 { (height, width) } else { (width, height) };
        assert_eq!((oriented.width, oriented.height), expected);
        // Where Exif says that the stored first row and first column are.
        for (x, y) in [(0, 0), (5, 2), (width - 1, 0), (3, height - 1)] {
            let (right, bottom) = (width - 1 - x, height - 1 - y);
            let (at_x, at_y) = match orientation {
                1 => (x, y),
                2 => (right, y),
                3 => (right, bottom),
                4 => (x, bottom),
                5 => (y, x),
                6 => (bottom, x),
                7 => (bottom, right),
                _ => (y, right),
            };
            assert_eq!(pixel(&oriented, at_x, at_y), pixel(&upright, x, y), "orientation {orientation}");
        }
    }
    let png = decode(&read("oriented.png"), &ImageOptions { orient: true, ..default() }).unwrap();
    assert_eq!((png.width, png.height), (17, 23));
}

#[test]
fn a_file_that_ends_early_is_an_error() {
    for Fixture { name, bytes, .. } in &*FIXTURES {
        let whole = decode(bytes, &default()).unwrap();
        let mut errors = 0;
        for length in 0..bytes.len() {
            match decode(&bytes[..length], &default()) {
                // Some formats end with bytes that hold no pixel.
                Ok(image) => assert_eq!(image, whole, "{name} of {length} bytes"),
                Err(DecodeError::Truncated { missing: Some(missing), available }) => {
                    assert_eq!(available, length as u64, "{name}");
                    assert!(missing + available <= bytes.len() as u64, "{name} of {length} bytes");
                    errors += 1;
                }
                Err(_) => errors += 1,
            }
        }
        // The footer of a TGA has 26 bytes; what follows the first frame of a GIF is not read.
        let count = bytes.len();
        assert!(errors + 26 >= count || name == "frames.gif", "{name}: {errors} errors of {count}");
        if matches!(kind(name), "jpg" | "png") {
            assert_eq!(errors, bytes.len(), "{name}");
        }
    }
}

#[test]
fn without_strict_a_file_that_ends_early_gives_what_there_is() {
    let lenient = ImageOptions { strict: false, ..default() };
    for name in [
        "444.jpg",
        "420.jpg",
        "progressive420.jpg",
        "grey.jpg",
        "filters.png",
        "bits24.bmp",
        "rgb.tga",
        "plain.ppm",
        "plain.gif",
    ] {
        let bytes = read(name);
        let whole = decode(&bytes, &lenient).unwrap();
        let part =
            decode(&bytes[..bytes.len() - 40], &lenient).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(part.pixels.len(), whole.pixels.len(), "{name}");
    }
    // The first rows are complete.
    let bytes = read("rgb8.png");
    let part = decode(&bytes[..bytes.len() - 300], &lenient).unwrap();
    assert_eq!(part.pixels[..69 * 4], decode(&bytes, &lenient).unwrap().pixels[..69 * 4]);
}

#[test]
fn checksums_are_verified() {
    let mut bytes = read("filters.png");
    let data = bytes.windows(4).position(|name| name == b"IDAT").unwrap() + 4;
    let length = usize::try_from(u32::from_be_bytes(bytes[data - 8..data - 4].try_into().unwrap())).unwrap();
    // The checksum of the chunk.
    bytes[data + length] ^= 1;
    assert!(matches!(decode(&bytes, &default()), Err(DecodeError::Damaged(_))));
    let whole = decode(&read("filters.png"), &default()).unwrap();
    assert_eq!(decode(&bytes, &ImageOptions { strict: false, ..default() }).unwrap(), whole);
    // The checksum of what is compressed, in a chunk whose own is right.
    let mut bytes = read("filters.png");
    bytes[data + length - 1] ^= 1;
    let crc = crc32fast::hash(&bytes[data - 4..data + length]).to_be_bytes();
    bytes[data + length..data + length + 4].copy_from_slice(&crc);
    assert!(matches!(decode(&bytes, &default()), Err(DecodeError::Damaged(_))));
}

/// The PNG with other data in the chunk of a name.
fn with_chunk(png: &[u8], name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let start = png.windows(4).position(|window| window == name).expect("the chunk is there");
    let length = u32::from_be_bytes(png[start - 4..start].try_into().expect("four bytes")) as usize;
    let named = [name, data].concat();
    let crc = crc32fast::hash(&named).to_be_bytes();
    let count = (data.len() as u32).to_be_bytes();
    [&png[..start - 4], &count, &named, &crc, &png[start + 4 + length + 4..]].concat()
}

#[test]
fn palettes_that_contradict_themselves() {
    let png = read("palette_transparent.png");
    assert!(decode(&with_chunk(&png, b"PLTE", &[7; 48]), &default()).is_ok());
    for palette in [1, 2, 4, 47, 3 * 256 + 3, 9] {
        let changed = with_chunk(&png, b"PLTE", &vec![7; palette]);
        for strict in [true, false] {
            let error = decode(&changed, &ImageOptions { strict, ..default() }).unwrap_err();
            assert!(matches!(error, DecodeError::Damaged(_)), "{palette}: {error}");
            assert!(!error.to_string().contains("gave up"), "{palette}");
        }
    }
    for alphas in [17, 256, 300] {
        check_survives(&with_chunk(&png, b"tRNS", &vec![7; alphas]));
    }
}

#[test]
fn sizes_are_limited_before_memory_is_allocated() {
    let mut png = read("rgb8.png");
    png[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    let crc = crc32fast::hash(&png[12..29]).to_be_bytes();
    png[29..33].copy_from_slice(&crc);
    let mut jpeg = read("444.jpg");
    let frame = jpeg.windows(2).position(|marker| marker == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5..frame + 9].fill(0xff);
    let mut gif = read("plain.gif");
    gif[6..10].fill(0xff);
    let mut bmp = read("bits24.bmp");
    bmp[18..26].copy_from_slice(&[0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f]);
    let mut tga = read("rgb.tga");
    tga[12..16].fill(0xff);
    for bytes in [png, jpeg, gif, bmp, tga, b"P6 4294967295 4294967295 255\n".to_vec()] {
        let error = decode(&bytes, &default()).unwrap_err();
        assert!(matches!(error, DecodeError::TooLarge { .. }), "{error}");
    }
    let small = ImageOptions { max_pixels: 23 * 17 - 1, ..default() };
    for &Fixture { ref name, ref bytes, width, .. } in &*FIXTURES {
        if width == 23 {
            let error = decode(bytes, &small).unwrap_err();
            assert!(matches!(error, DecodeError::TooLarge { width: 23, height: 17, .. }), "{name}: {error}");
        }
    }
}

#[test]
fn at_least_never_goes_below_its_size() {
    for bytes in FIXTURES.iter().filter(|fixture| kind(&fixture.name) == "jpg").map(|fixture| &fixture.bytes)
    {
        for at_least in [(1, 1), (3, 3), (6, 5), (12, 9), (23, 17), (100, 100)] {
            let image = decode(bytes, &ImageOptions { at_least: Some(at_least), ..default() }).unwrap();
            assert!(image.width >= at_least.0.min(23) && image.height >= at_least.1.min(17));
        }
    }
}

#[test]
fn dimensions_need_the_header_alone() {
    for (name, length) in
        [("filters.png", 33), ("plain.gif", 13), ("bits24.bmp", 26), ("rgb.tga", 18), ("plain.ppm", 12)]
    {
        assert_eq!(dimensions(&read(name)[..length]), Ok((23, 17)), "{name}");
    }
    let jpeg = read("444.jpg");
    let frame = jpeg.windows(2).position(|marker| marker == [0xff, 0xc0]).unwrap();
    assert_eq!(dimensions(&jpeg[..frame + 19]), Ok((23, 17)));
    assert!(matches!(dimensions(&jpeg[..frame]), Err(DecodeError::Truncated { .. })));
}

/// No result but an error or a whole image, and no decoder that panics.
fn check_survives(bytes: &[u8]) {
    for strict in [true, false] {
        let options = ImageOptions { strict, orient: true, max_pixels: 1 << 16, ..default() };
        match decode(bytes, &options) {
            Ok(image) => assert_eq!(image.pixels.len(), image.width * image.height * image.channels),
            Err(error) => assert!(!error.to_string().contains("gave up"), "a decoder panicked"),
        }
    }
    let _ = dimensions(bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_never_panic(
        file in 0..FIXTURES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        length in any::<prop::sample::Index>(),
        cut in prop::bool::weighted(0.3),
    ) {
        let mut bytes = FIXTURES[file].bytes.clone();
        for (position, value) in changes {
            let position = position.index(bytes.len());
            bytes[position] = value;
        }
        if cut {
            bytes.truncate(length.index(bytes.len()));
        }
        check_survives(&bytes);
    }

    #[test]
    fn any_bytes_never_panic(
        signature in 0..7usize,
        rest in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let signatures: [&[u8]; 7] = [b"", b"\xff\xd8", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"GIF89a", b"BM", b"P6 4 4 255\n", b"\0\0\x0a\0\0\0\0\0"];
        check_survives(&[signatures[signature], &rest].concat());
    }
}
