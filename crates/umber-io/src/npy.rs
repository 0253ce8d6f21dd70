//! NumPy's npy format (NEP 1, versions 1 to 3): a header and raw elements.

use std::fs;
use std::path::Path;

use umber_core::{Array, DType, Layout, Shape, ops};
use umber_types::{Result, bail, ensure};

use crate::safetensors::bytes_of;
use crate::{io_error, whole};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Read an array from a file.
pub fn load(path: &Path) -> Result<Array> {
    let bytes = fs::read(path).map_err(|error| io_error("load", path, &error))?;
    from_bytes(&bytes).map_err(|error| error.map_message(|text| format!("{text} (in {})", path.display())))
}

/// Read an array from the bytes of a file.
pub fn from_bytes(bytes: &[u8]) -> Result<Array> {
    ensure!(
        bytes.len() >= 10 && bytes.starts_with(MAGIC),
        Value,
        "[load] got bytes that are not an npy file, \
     expected its magic word"
    );
    let (start, length) = match bytes[6] {
        1 => (10, usize::from(u16::from_le_bytes([bytes[8], bytes[9]]))),
        2 | 3 if bytes.len() >= 12 => {
            (12, u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize)
        }
        version => bail!(Value, "[load] got npy version {version}, expected 1, 2 or 3"),
    };
    let Some(header) = bytes.get(start..length.saturating_add(start)) else {
        bail!(Value, "[load] got an npy file that is damaged, expected it to go on after its header");
    };
    let header = String::from_utf8_lossy(header);
    let Header { dtype, swapped, fortran, shape } = parse(&header)?;
    let data = &bytes[start + length..];
    let size = shape.size() * dtype.size();
    ensure!(
        data.len() == size,
        Value,
        "[load] got an npy file of {} bytes of data, expected {size}",
        data.len()
    );
    let mut data = data.to_vec();
    if swapped {
        let unit = if dtype.is_complex() { dtype.size() / 2 } else { dtype.size() };
        data.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
    }
    let flat = Array::from_slice(&data, [size])?;
    let Some(storage) = flat.storage() else {
        bail!(
            Runtime,
            "[load] got a file whose data is gone, expected it to \
     stay until it is read"
        )
    };
    if !fortran {
        return Array::from_storage(storage.with_layout(Layout::contiguous(shape)), dtype);
    }
    let reversed: Shape = shape.iter().rev().copied().collect();
    let array = Array::from_storage(storage.with_layout(Layout::contiguous(reversed)), dtype)?;
    ops::transpose(&array, None)
}

struct Header {
    dtype: DType,
    swapped: bool,
    fortran: bool,
    shape: Shape,
}

/// The header is a Python literal of a dict with three known keys.
fn parse(header: &str) -> Result<Header> {
    let value = |key: &str| -> Result<&str> {
        let Some(at) = header.find(&format!("'{key}':")) else {
            bail!(Value, "[load] got an npy header without '{key}', expected it: {header:?}");
        };
        Ok(header[at + key.len() + 3..].trim_start())
    };
    let descr = value("descr")?;
    let Some(typestr) = descr.strip_prefix('\'').and_then(|rest| rest.split('\'').next()) else {
        bail!(Type, "[load] got an npy file of records, expected elements that umber has a dtype for");
    };
    let Some(dtype) = from_typestr(typestr) else {
        bail!(
            Type,
            "[load] got an npy file of elements of type '{typestr}', expected one that umber has a dtype for"
        );
    };
    let fortran = value("fortran_order")?.starts_with("True");
    let shape = value("shape")?;
    let Some(inner) = shape.strip_prefix('(').and_then(|rest| rest.split(')').next()) else {
        bail!(Value, "[load] got an npy header without a shape, expected one: {header:?}");
    };
    let mut lengths = Vec::new();
    for part in inner.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let Ok(length) = part.parse::<i64>() else {
            bail!(Value, "[load] got an npy header with the shape {inner:?}, expected lengths");
        };
        lengths.push(length);
    }
    Ok(Header { dtype, swapped: typestr.starts_with('>'), fortran, shape: Shape::checked("load", &lengths)? })
}

fn kind_of(dtype: DType) -> Option<char> {
    Some(match dtype.kind() {
        umber_types::Kind::Bool => 'b',
        umber_types::Kind::Unsigned => 'u',
        umber_types::Kind::Signed => 'i',
        umber_types::Kind::Float if dtype == DType::BFloat16 => return None,
        umber_types::Kind::Float => 'f',
        umber_types::Kind::Complex => 'c',
    })
}

fn from_typestr(typestr: &str) -> Option<DType> {
    let rest = typestr.trim_start_matches(['<', '>', '|', '=']);
    DType::ALL
        .into_iter()
        .find(|&dtype| kind_of(dtype).is_some_and(|kind| format!("{kind}{}", dtype.size()) == rest))
}

/// The bytes of an npy file with this array.
pub fn to_bytes(array: &Array) -> Result<Vec<u8>> {
    let dense = array.to_dense()?;
    let dtype = dense.dtype();
    let Some(kind) = kind_of(dtype) else {
        bail!(Type, "[save] got {dtype}, for which the npy format has no word, expected another dtype");
    };
    let order = if dtype.size() == 1 { '|' } else { '<' };
    let mut header = format!(
        "{{'descr': '{order}{kind}{}', 'fortran_order': False, 'shape': {}, }}",
        dtype.size(),
        dense.shape()
    );
    // Data starts at a multiple of 64 bytes; the header ends with a newline.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = Vec::with_capacity(10 + header.len() + dense.nbytes());
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(bytes_of(&dense));
    Ok(bytes)
}

/// Write an array into a file, whole or not at all.
pub fn save(path: &Path, array: &Array) -> Result<()> {
    let bytes = to_bytes(array)?;
    whole::write("save", path, |writer| writer.write_all(&bytes))
}
