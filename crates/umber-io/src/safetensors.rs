//! The safetensors format: a JSON header and raw little-endian tensors.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, View};
use umber_core::graph::Storage;
use umber_core::{Array, DType, Layout, Shape};
use umber_types::{Error, Result, bail, ensure};

use crate::{io_error, whole};

/// What a file holds.
#[derive(Debug)]
pub struct Contents {
    /// Arrays by name, in the order of the names.
    pub arrays: Vec<(String, Array)>,
    /// Texts by name.
    pub metadata: HashMap<String, String>,
}

const OP: &str = "load_safetensors";

fn dtype_of(dtype: Dtype) -> Option<DType> {
    Some(match dtype {
        Dtype::BOOL => DType::Bool,
        Dtype::U8 => DType::UInt8,
        Dtype::I8 => DType::Int8,
        Dtype::I16 => DType::Int16,
        Dtype::U16 => DType::UInt16,
        Dtype::F16 => DType::Float16,
        Dtype::BF16 => DType::BFloat16,
        Dtype::I32 => DType::Int32,
        Dtype::U32 => DType::UInt32,
        Dtype::F32 => DType::Float32,
        Dtype::C64 => DType::Complex64,
        Dtype::F64 => DType::Float64,
        Dtype::I64 => DType::Int64,
        Dtype::U64 => DType::UInt64,
        _ => return None,
    })
}

fn name_of(dtype: DType) -> Result<Dtype> {
    Ok(match dtype {
        DType::Bool => Dtype::BOOL,
        DType::UInt8 => Dtype::U8,
        DType::UInt16 => Dtype::U16,
        DType::UInt32 => Dtype::U32,
        DType::UInt64 => Dtype::U64,
        DType::Int8 => Dtype::I8,
        DType::Int16 => Dtype::I16,
        DType::Int32 => Dtype::I32,
        DType::Int64 => Dtype::I64,
        DType::Float16 => Dtype::F16,
        DType::BFloat16 => Dtype::BF16,
        DType::Float32 => Dtype::F32,
        DType::Float64 => Dtype::F64,
        DType::Complex64 => Dtype::C64,
        DType::Complex128 => {
            bail!(
                Type,
                "[save_safetensors] got complex128, for which the format has no word, expected another dtype"
            )
        }
    })
}

fn damaged(path: &str, error: &SafeTensorError) -> Error {
    Error::Value(format!("[{OP}] {path} is not a safetensors file, or damaged: {error}"))
}

/// Read a file. The arrays share one buffer with its bytes.
pub fn load(path: &Path) -> Result<Contents> {
    let failed = |error: &std::io::Error| io_error(OP, path, error);
    let mut file = File::open(path).map_err(|error| failed(&error))?;
    let metadata = file.metadata().map_err(|error| failed(&error))?;
    ensure!(metadata.is_file(), Io, "[{OP}] {} is not a file", path.display());
    let length = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    let storage = filled(length, |bytes| file.read_exact(bytes).map_err(|error| failed(&error)))?;
    arrays_of(&storage, &path.display().to_string())
}

/// Read from bytes in memory, which are copied.
pub fn from_bytes(bytes: &[u8]) -> Result<Contents> {
    let storage = filled(bytes.len(), |into| {
        into.copy_from_slice(bytes);
        Ok(())
    })?;
    arrays_of(&storage, "the data")
}

/// A buffer of bytes filled by `fill`.
fn filled(length: usize, fill: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<Storage> {
    let mut storage = Storage::allocate(&Shape::from([length]), DType::UInt8)?;
    if let Some(mut view) = storage.view_mut(DType::UInt8)
        && let Some(bytes) = view.as_mut_slice::<u8>()
    {
        fill(bytes)?;
    }
    Ok(storage)
}

/// The arrays in the bytes of a file.
fn arrays_of(file: &Storage, shown: &str) -> Result<Contents> {
    let Some(bytes) = file.dense_bytes(DType::UInt8) else { bail!(Runtime, "[{OP}] the bytes are gone") };
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| damaged(shown, &error))?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| damaged(shown, &error))?;
    let mut arrays = Vec::with_capacity(tensors.len());
    for (name, view) in tensors.iter() {
        arrays.push((name.to_owned(), array_of(file, bytes, name, view.dtype(), view.shape(), view.data())?));
    }
    arrays.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(Contents { arrays, metadata: metadata.metadata().clone().unwrap_or_default() })
}

/// One tensor: a view of the file's buffer where its place is a multiple of the element size, else a copy.
fn array_of(
    file: &Storage,
    bytes: &[u8],
    name: &str,
    dtype: Dtype,
    shape: &[usize],
    data: &[u8],
) -> Result<Array> {
    let Some(dtype) = dtype_of(dtype) else {
        bail!(Type, "[{OP}] '{name}' holds elements of {dtype:?}, for which umber has no dtype");
    };
    let lengths: Vec<i64> = shape.iter().map(|&length| i64::try_from(length).unwrap_or(-1)).collect();
    let shape = Shape::checked(OP, &lengths)?;
    ensure!(
        shape.size() * dtype.size() == data.len(),
        Value,
        "[{OP}] '{name}' of shape {shape} and dtype {dtype} got {} bytes, expected {}",
        data.len(),
        shape.size() * dtype.size()
    );
    // The format is little-endian, as is every supported host.
    let begin = data.as_ptr() as usize - bytes.as_ptr() as usize;
    let mut layout = Layout::contiguous(shape);
    if data.is_empty() {
        return Array::from_storage(Storage::allocate(&layout.shape, dtype)?, dtype);
    }
    if begin.is_multiple_of(dtype.size()) {
        layout.offset = begin / dtype.size();
        return Array::from_storage(file.with_layout(layout), dtype);
    }
    let copy = filled(data.len(), |into| {
        into.copy_from_slice(data);
        Ok(())
    })?;
    Array::from_storage(copy.with_layout(layout), dtype)
}

/// A dense evaluated array on its way into a file.
struct Tensor {
    array: Array,
    dtype: Dtype,
}

impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        self.array.shape()
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(bytes_of(&self.array))
    }
    fn data_len(&self) -> usize {
        self.array.nbytes()
    }
}

/// The bytes of a dense evaluated array.
pub(crate) fn bytes_of(dense: &Array) -> &[u8] {
    dense.storage().map_or(&[], |storage| storage.dense_bytes(dense.dtype()).unwrap_or(&[]))
}

fn prepare(arrays: &[(String, Array)]) -> Result<Vec<(String, Tensor)>> {
    arrays
        .iter()
        .map(|(name, array)| {
            ensure!(
                name != "__metadata__",
                Value,
                "[save_safetensors] got '__metadata__', which names the file's metadata, expected another name for \
                 an array"
            );
            let dtype = name_of(array.dtype())
                .map_err(|error| error.map_message(|text| format!("{text} (array '{name}')")))?;
            Ok((name.clone(), Tensor { array: array.to_dense()?, dtype }))
        })
        .collect()
}

fn failed(error: &SafeTensorError) -> Error {
    Error::Io(format!("[save_safetensors] {error}"))
}

/// Write arrays and texts into a file, whole or not at all.
pub fn save(
    path: &Path,
    arrays: &[(String, Array)],
    metadata: Option<HashMap<String, String>>,
) -> Result<()> {
    let bytes = to_bytes(arrays, metadata)?;
    whole::write("save_safetensors", path, |writer| writer.write_all(&bytes))
}

/// Arrays and texts as the bytes of a file.
pub fn to_bytes(arrays: &[(String, Array)], metadata: Option<HashMap<String, String>>) -> Result<Vec<u8>> {
    let tensors = prepare(arrays)?;
    let views = tensors.iter().map(|(name, tensor)| (name, tensor));
    safetensors::serialize(views, metadata).map_err(|error| failed(&error))
}
