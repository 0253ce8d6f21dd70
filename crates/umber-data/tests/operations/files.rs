//! Files: contents, arrays, and faults that name the file.

use std::path::{Path, PathBuf};

use umber_core::{Array, DType, Shape};
use umber_data::ops::*;
use umber_data::{Operation, Value};
use umber_types::ErrorKind;

use super::{apply, text};

/// A folder that is removed at the end.
pub(super) struct Folder(pub PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("umber-data-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Value {
        std::fs::write(self.0.join(name), bytes).unwrap();
        text(name.as_bytes())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

#[test]
fn load_file() {
    let folder = Folder::new("load-file");
    let load = LoadFile::new("x", &folder.0);
    assert_eq!(apply(&load, &folder.write("a", b"hello")).unwrap(), text(b"hello"));
    assert_eq!(apply(&load, &folder.write("empty", b"")).unwrap(), text(b""));
    // A path from the root needs no folder, and an empty folder is the current one.
    let path = text(folder.0.join("a").to_str().unwrap().as_bytes());
    assert_eq!(apply(&load, &path).unwrap(), text(b"hello"));
    assert_eq!(apply(&LoadFile::new("x", ""), &path).unwrap(), text(b"hello"));
    let content = apply(&load, &folder.write("a", b"hello")).unwrap();
    assert!(content.is_alone());
}

#[test]
fn faults_name_the_file() {
    let folder = Folder::new("faults");
    folder.write("damaged.npy", b"\x93NUMPY\x01\x00\xff\xff");
    folder.write("text.npy", b"hello");
    folder.write("empty.npy", b"");
    let input = FileInput::new(&folder.0, false);
    let operations: [Box<dyn Operation>; 2] =
        [Box::new(LoadFile::new("x", &folder.0)), Box::new(LoadNumpy::new("x", input))];
    for operation in &operations {
        for (name, kind) in [
            ("missing", Some(ErrorKind::NotFound)),
            (".", Some(ErrorKind::Io)),
            ("a\0b", Some(ErrorKind::Io)),
            ("", None),
        ] {
            let error = apply(&**operation, &text(name.as_bytes())).unwrap_err();
            assert_eq!(error.key(), Some("x"));
            match kind {
                Some(kind) => {
                    assert_eq!((error.kind(), error.path()), (kind, Some(&*folder.0.join(name))), "{error}");
                }
                None => assert_eq!(error.detail(), "the name of a file is empty"),
            }
        }
    }
    for name in ["damaged.npy", "text.npy", "empty.npy"] {
        let error = apply(&*operations[1], &text(name.as_bytes())).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Value, Some(&*folder.0.join(name))), "{error}");
        assert!(!error.detail().contains(name), "the file is named once: {error}");
    }
}

/// An npy file of version 1.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    // The elements are aligned.
    let header = format!("{header:117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn load_both_ways(folder: &Path, bytes: &[u8]) -> Value {
    std::fs::write(folder.join("a.npy"), bytes).unwrap();
    let from_file = apply(&LoadNumpy::new("x", FileInput::new(folder, false)), &text(b"a.npy")).unwrap();
    let from_memory = apply(&LoadNumpy::new("x", FileInput::Content), &text(bytes)).unwrap();
    assert_eq!(from_file, from_memory);
    let unsigned = Value::from_bytes(bytes).unwrap();
    assert_eq!(apply(&LoadNumpy::new("x", FileInput::Content), &unsigned).unwrap(), from_file);
    from_file
}

/// Both byte orders and both orders of axes of every dtype that npy files have.
#[test]
fn load_numpy() {
    let folder = Folder::new("load-numpy");
    for (descr, dtype) in [
        ("b1", DType::Bool),
        ("i1", DType::Int8),
        ("i2", DType::Int16),
        ("i4", DType::Int32),
        ("i8", DType::Int64),
        ("u1", DType::UInt8),
        ("u2", DType::UInt16),
        ("u4", DType::UInt32),
        ("u8", DType::UInt64),
        ("f2", DType::Float16),
        ("f4", DType::Float32),
        ("f8", DType::Float64),
        ("c8", DType::Complex64),
        ("c16", DType::Complex128),
    ] {
        let numbers = Array::from_slice(&[0i32, 1, 2, 3, 4, 5], Shape::from([2, 3]));
        let array = numbers.unwrap().astype(dtype).unwrap();
        let expected = Value::from_array(&array).unwrap();
        let transposed = Value::from_array(&umber_core::ops::transpose(&array, None).unwrap()).unwrap();
        let mark = if dtype.size() == 1 { '|' } else { '<' };
        let little = npy(&format!("{mark}{descr}"), false, "(2, 3)", &expected.bytes().unwrap());
        assert_eq!(load_both_ways(&folder.0, &little), expected, "{dtype}");
        let fortran = npy(&format!("{mark}{descr}"), true, "(2, 3)", &transposed.bytes().unwrap());
        assert_eq!(load_both_ways(&folder.0, &fortran), expected, "{dtype}");
        let mut reversed = expected.bytes().unwrap().into_owned();
        reversed.chunks_exact_mut(dtype.alignment()).for_each(<[u8]>::reverse);
        let mark = if dtype.size() == 1 { '|' } else { '>' };
        let big = npy(&format!("{mark}{descr}"), false, "(2, 3)", &reversed);
        assert_eq!(load_both_ways(&folder.0, &big), expected, "{dtype}");
    }
    let scalar = load_both_ways(&folder.0, &npy("<f8", false, "()", &3.5f64.to_le_bytes()));
    assert_eq!(scalar, Value::scalar(3.5f64).unwrap());
    assert_eq!(load_both_ways(&folder.0, &npy("<f4", false, "(0, 3)", &[])).shape()[..], [0, 3]);
    // A large file is mapped, and a write to its array does not reach it.
    let zeros = npy("<f4", false, "(1000000,)", &vec![0; 4_000_000]);
    std::fs::write(folder.0.join("large.npy"), &zeros).unwrap();
    let mut large =
        apply(&LoadNumpy::new("x", FileInput::new(&folder.0, false)), &text(b"large.npy")).unwrap();
    assert!(!large.is_alone());
    large.bytes_mut().unwrap().fill(1);
    assert!(std::fs::read(folder.0.join("large.npy")).unwrap() == zeros);
    // Truncated.
    let error = apply(&LoadNumpy::new("x", FileInput::Content), &text(&zeros[..100])).unwrap_err();
    assert!(error.detail().contains("truncated"), "{error}");
}
