//! Round trips of every format, with and without mapping; damaged files give errors, never crashes.

use std::fs;
use std::path::PathBuf;
use umber_types::ErrorKind;

use proptest::prelude::*;
use umber_core::graph::ArrayInternals;
use umber_core::{Array, DType, Error, ops};
use umber_io::{Format, Loaded, Mapping, Source, Target, Value, gguf, npy, npz, read, safetensors};

/// A file that is deleted on drop.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Temporary {
        Temporary(std::env::temp_dir().join(format!("umber-io-{}-{name}", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn sample() -> Array {
    Array::from([[0.0f32, 1.0, 2.0], [3.0, 4.0, 5.0]])
}

fn arrays_of(loaded: Loaded) -> Vec<Array> {
    let named = match loaded {
        Loaded::Npy(array) => return vec![array],
        Loaded::Npz(contents) => contents.arrays,
        Loaded::Safetensors(contents) => contents.arrays,
        Loaded::Gguf(contents) => contents.arrays,
    };
    named.into_iter().map(|(_, array)| array).collect()
}

/// Write the array with one of the writers.
fn write(writer: usize, target: Target<'_>, array: &Array) -> Format {
    let named = [("a".to_owned(), array.clone())];
    let format = match writer {
        0 => npy::save(target, array).map(|()| Format::Npy),
        1 => npz::save(target, &named, npz::Compression::None).map(|()| Format::Npz),
        2 => npz::save(target, &named, npz::Compression::Deflate).map(|()| Format::Npz),
        3 => safetensors::save(target, &named, None).map(|()| Format::Safetensors),
        _ => {
            let metadata = [("k".to_owned(), Value::Texts(vec!["v".to_owned()]))];
            gguf::save(target, &named, &metadata).map(|()| Format::Gguf)
        }
    };
    format.expect("written")
}

const WRITERS: usize = 5;

fn bytes_of(writer: usize, array: &Array) -> (Vec<u8>, Format) {
    let mut bytes = Vec::new();
    let mut put = |chunk: &[u8]| {
        bytes.extend_from_slice(chunk);
        Ok(())
    };
    let format = write(writer, Target::stream(&mut put), array);
    (bytes, format)
}

#[test]
fn written_arrays_are_read_back() {
    let transposed = ops::transpose(&sample(), None).expect("a matrix");
    for writer in 0..WRITERS {
        for array in [&sample(), &transposed] {
            let path = Temporary::new(&format!("written-{writer}"));
            write(writer, path.0.as_path().into(), array);
            for mapping in [Mapping::Share, Mapping::Copy] {
                let source = Source::open(&path.0, mapping).expect("the file exists");
                let actual = arrays_of(read(&source, None).expect("the file is valid"));
                assert_eq!(actual.len(), 1, "{writer}");
                assert!(actual[0].equals(array).expect("the shapes match"), "{writer}");
                let owned = actual[0]
                    .to_dense()
                    .expect("the array is evaluated")
                    .storage()
                    .expect("the array is evaluated")
                    .buffer()
                    .is_owned();
                let is_shared = mapping == Mapping::Share && writer != 2;
                assert!(owned || is_shared, "{writer}");
            }
        }
    }
}

#[test]
fn arrays_share_the_mapped_file() {
    for writer in [0, 1, 3, 4] {
        let path = Temporary::new(&format!("mapped-{writer}"));
        write(writer, path.0.as_path().into(), &sample());
        let actual = arrays_of(
            umber_io::read(&Source::open(&path.0, Mapping::Share).expect("the file exists"), None)
                .expect("the file is valid"),
        );
        let storage = actual[0].storage().expect("loaded arrays are evaluated");
        assert!(!storage.buffer().is_owned(), "{writer}");
        // Saving to the same path does not affect mapped arrays.
        write(writer, path.0.as_path().into(), &Array::from([9.0f32]));
        assert!(actual[0].equals(&sample()).expect("the shapes match"), "{writer}");
    }
}

#[test]
fn every_truncation_is_an_error() {
    for writer in 0..WRITERS {
        let (bytes, format) = bytes_of(writer, &sample());
        // A GGUF file ends with padding after the data.
        let end = if format == Format::Gguf { bytes.len() - 8 } else { bytes.len() };
        for length in 0..end {
            let source = Source::from_bytes(&bytes[..length], "cut").expect("enough memory");
            let error = read(&source, Some(format)).expect_err("the file is truncated");
            assert!(error.to_string().starts_with("[load] cut: "), "{error}");
        }
    }
}

#[test]
fn a_failed_write_keeps_the_old_file() {
    let path = Temporary::new("failed.npy");
    npy::save(&path.0, &sample()).expect("written");
    let mut stop = |_: u64, _: u64| Err(Error::interrupted());
    let target = Target::from(&path.0).reporting(&mut stop);
    assert_eq!(npy::save(target, &Array::from([1])), Err(Error::interrupted()));
    assert!(npy::load(&path.0).expect("the file is valid").equals(&sample()).expect("the shapes match"));
    let absent = npy::load(path.0.with_extension("absent")).expect_err("the file does not exist");
    assert!(absent.kind() == ErrorKind::NotFound, "{absent}");
}

#[test]
fn a_claimed_size_allocates_no_memory() {
    let mut bytes = bytes_of(0, &Array::from(vec![0.0f64; 8])).0;
    let text = String::from_utf8_lossy(&bytes[10..128]).replace("(8,)", "(99999999999,)");
    bytes.splice(10..128, text.bytes().take(118));
    let error =
        npy::read(&Source::from_bytes(&bytes, "x").expect("enough memory")).expect_err("too little data");
    assert!(error.kind() == ErrorKind::Value, "{error}");
    let header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    let mut duplicate = (header.len() as u64).to_le_bytes().to_vec();
    duplicate.extend_from_slice(header.as_bytes());
    duplicate.push(1);
    let error = safetensors::read(&Source::from_bytes(&duplicate, "x").expect("enough memory"))
        .expect_err("a duplicate name");
    assert!(error.to_string().contains("duplicate name 'a'"), "{error}");
}

#[test]
fn q8_0_blocks_keep_their_integers() {
    let mut bytes = b"GGUF\x03\0\0\0".to_vec();
    for count in [1u64, 0, 8] {
        bytes.extend_from_slice(&count.to_le_bytes());
    }
    bytes.extend_from_slice(b"a.weight");
    bytes.extend_from_slice(&1u32.to_le_bytes());
    bytes.extend_from_slice(&32u64.to_le_bytes());
    bytes.extend_from_slice(&8u32.to_le_bytes());
    bytes.extend_from_slice(&0u64.to_le_bytes());
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    bytes.extend_from_slice(&half::f16::from_f32(0.5).to_le_bytes());
    bytes.extend((0..32).map(|i| (i - 16) as u8));
    let contents =
        gguf::read(&Source::from_bytes(&bytes, "x").expect("enough memory")).expect("the file is valid");
    let names: Vec<&str> = contents.arrays.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a.weight", "a.scales", "a.biases"]);
    let packed = contents.arrays[0].1.to_vec::<u32>().expect("uint32");
    assert_eq!((packed.len(), packed[0]), (8, u32::from_le_bytes([112, 113, 114, 115])));
    assert_eq!(contents.arrays[1].1.dtype(), DType::Float16);
    assert_eq!(contents.arrays[2].1.to_vec::<half::f16>().expect("float16"), [half::f16::from_f32(-64.0)]);
}

proptest! {
    #[test]
    fn damage_is_an_error_or_arrays(
        writer in 0..WRITERS,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..8usize), 1..5),
    ) {
        let (mut bytes, format) = bytes_of(writer, &sample());
        for (index, value, width) in changes {
            let index = index.index(bytes.len());
            let end = bytes.len().min(index + width + 1);
            bytes[index..end].fill(value);
        }
        let source = Source::from_bytes(&bytes, "damaged").expect("enough memory");
        match read(&source, Some(format)) {
            Ok(loaded) => {
                for array in arrays_of(loaded) {
                    prop_assert!(array.to_dense().is_ok());
                }
            }
            Err(error) => prop_assert!(error.to_string().starts_with("[load] damaged: "), "{}", error),
        }
    }
}
