//! What is written is read again, mapped where it may be; what is damaged is an error, never a crash.

use std::fs;
use std::path::PathBuf;
use umber_types::ErrorKind;

use proptest::prelude::*;
use umber_core::graph::ArrayInternals;
use umber_core::{Array, DType, Error, ops};
use umber_io::{Format, Loaded, Mapping, Source, Target, Value, gguf, npy, npz, read, safetensors};

/// A file of this test's own that goes when it ends.
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

/// Write the array in each way.
fn write(way: usize, target: Target<'_>, array: &Array) -> Format {
    let named = [("a".to_owned(), array.clone())];
    let format = match way {
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

const WAYS: usize = 5;

fn bytes_of(way: usize, array: &Array) -> (Vec<u8>, Format) {
    let mut bytes = Vec::new();
    let mut put = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    let format = write(way, Target::stream(&mut put), array);
    (bytes, format)
}

#[test]
fn what_is_written_is_read() {
    let transposed = ops::transpose(&sample(), None).expect("a matrix");
    for way in 0..WAYS {
        for array in [&sample(), &transposed] {
            let path = Temporary::new(&format!("written-{way}"));
            write(way, path.0.as_path().into(), array);
            for mapping in [Mapping::Share, Mapping::Copy] {
                let source = Source::open(&path.0, mapping).expect("there");
                let actual = arrays_of(read(&source, None).expect("whole"));
                assert_eq!(actual.len(), 1, "{way}");
                assert!(actual[0].equals(array).expect("one shape"), "{way}");
                let owned = actual[0].to_dense().expect("read").storage().expect("there").buffer().is_owned();
                let is_shared = mapping == Mapping::Share && way != 2;
                assert!(owned || is_shared, "{way}");
            }
        }
    }
}

#[test]
fn arrays_are_the_file() {
    for way in [0, 1, 3, 4] {
        let path = Temporary::new(&format!("mapped-{way}"));
        write(way, path.0.as_path().into(), &sample());
        let actual = arrays_of(
            umber_io::read(&Source::open(&path.0, Mapping::Share).expect("there"), None).expect("whole"),
        );
        let storage = actual[0].storage().expect("no evaluation is needed");
        assert!(!storage.buffer().is_owned(), "{way}");
        // Saving over it leaves what is mapped.
        write(way, path.0.as_path().into(), &Array::from([9.0f32]));
        assert!(actual[0].equals(&sample()).expect("one shape"), "{way}");
    }
}

#[test]
fn every_cut_is_an_error() {
    for way in 0..WAYS {
        let (bytes, format) = bytes_of(way, &sample());
        // What is behind the data of a GGUF file is only filling.
        let end = if format == Format::Gguf { bytes.len() - 8 } else { bytes.len() };
        for length in 0..end {
            let source = Source::from_bytes(&bytes[..length], "cut").expect("memory");
            let error = read(&source, Some(format)).expect_err("it is cut short");
            assert!(error.to_string().starts_with("[load] cut: "), "{error}");
        }
    }
}

#[test]
fn a_failed_writing_leaves_the_old_file() {
    let path = Temporary::new("failed.npy");
    npy::save(&path.0, &sample()).expect("written");
    let mut stop = |_: u64, _: u64| Err(Error::interrupted());
    let target = Target::from(&path.0).reporting(&mut stop);
    assert_eq!(npy::save(target, &Array::from([1])), Err(Error::interrupted()));
    assert!(npy::load(&path.0).expect("whole").equals(&sample()).expect("one shape"));
    let absent = npy::load(&path.0.with_extension("absent")).expect_err("it is not there");
    assert!(absent.kind() == ErrorKind::NotFound, "{absent}");
}

#[test]
fn a_claimed_size_costs_no_memory() {
    let mut bytes = bytes_of(0, &Array::from(vec![0.0f64; 8])).0;
    let text = String::from_utf8_lossy(&bytes[10..128]).replace("(8,)", "(99999999999,)");
    bytes.splice(10..128, text.bytes().take(118));
    let error = npy::read(&Source::from_bytes(&bytes, "x").expect("memory")).expect_err("too little data");
    assert!(error.kind() == ErrorKind::Value, "{error}");
    let header = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
    let mut twice = (header.len() as u64).to_le_bytes().to_vec();
    twice.extend_from_slice(header.as_bytes());
    twice.push(1);
    let error = safetensors::read(&Source::from_bytes(&twice, "x").expect("memory")).expect_err("twice");
    assert!(error.to_string().contains("duplicate name 'a'"), "{error}");
}

#[test]
fn blocks_of_eight_bits_keep_their_integers() {
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
    let contents = gguf::read(&Source::from_bytes(&bytes, "x").expect("memory")).expect("whole");
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
        way in 0..WAYS,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..8usize), 1..5),
    ) {
        let (mut bytes, format) = bytes_of(way, &sample());
        for (at, value, width) in changes {
            let at = at.index(bytes.len());
            let end = bytes.len().min(at + width + 1);
            bytes[at..end].fill(value);
        }
        let source = Source::from_bytes(&bytes, "damaged").expect("memory");
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
