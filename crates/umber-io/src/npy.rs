//! NumPy's npy format (NEP 1, versions 1 to 3): a header and raw elements.

use std::path::Path;

use umber_core::graph::ArrayInternals;
use umber_core::{Array, DType, Layout, Shape, ops};
use umber_types::{Result, bail, ensure};

use crate::npy_header::{self, Element, Header};
use crate::source::filled_array;
use crate::{MAX_AXES, Mapping, Source, Target, Value, about, bytes_of, shape_of};

/// Map the array in a file.
pub fn load(path: impl AsRef<Path>) -> Result<Array> {
    read(&Source::open(path, Mapping::Share)?)
}

/// The array in the bytes of a file; bytes after it are ignored.
pub fn read(source: &Source) -> Result<Array> {
    source.named(|| match content(source)? {
        NpyContent::Array(array) => Ok(array),
        NpyContent::Text(_) => {
            bail!(Type, "npy files with strings are not supported")
        }
        NpyContent::Foreign(what) => {
            bail!(Type, "npy files with {what} are not supported")
        }
    })
}

/// Number of bytes of the source's array with its header, or the available ones if the file is truncated.
pub fn extent(source: &Source) -> Result<usize> {
    let mut end_of_read = 0;
    let needed = bytes_needed(source.name(), &mut |count| {
        let end = source.length().min(end_of_read + count);
        let bytes = source.named(|| source.bytes(end_of_read..end))?.into_owned();
        end_of_read = end;
        Ok(bytes)
    })?;
    Ok(needed.1.min(source.length()))
}

/// The content of an npy file.
pub(crate) enum NpyContent {
    Array(Array),
    Text(Value),
    /// A description of an unsupported type.
    Foreign(String),
}

/// The content of an npy file.
pub(crate) fn content(source: &Source) -> Result<NpyContent> {
    let start = source.bytes(0..source.length().min(12))?;
    let Some(range) = npy_header::text_range(&start)? else {
        bail!(Value, "{} bytes are too few for an npy file", source.length());
    };
    let begin = range.end;
    let header = npy_header::parse(&source.bytes(range)?)?;
    let shape = shape_of(&header.shape)?;
    match &header.element {
        Element::Number(dtype) => numbers(source, begin, *dtype, &header, shape).map(NpyContent::Array),
        Element::Text { characters, width } => texts(source, begin, *characters, *width, &header, &shape),
        Element::Foreign(what) => Ok(NpyContent::Foreign(what.clone())),
    }
}

fn numbers(source: &Source, begin: usize, dtype: DType, header: &Header, shape: Shape) -> Result<Array> {
    let stored_shape: Shape = if header.is_fortran { shape.iter().rev().copied().collect() } else { shape };
    let array = if header.is_big_endian && dtype.size() > 1 {
        let bytes =
            source.bytes(begin..begin.saturating_add(stored_shape.size().saturating_mul(dtype.size())))?;
        let unit = dtype.alignment();
        filled_array(dtype, &stored_shape, |into| {
            into.copy_from_slice(&bytes);
            into.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
            Ok(())
        })?
    } else {
        source.array(begin, dtype, &stored_shape)?
    };
    if header.is_fortran { ops::transpose(&array, None) } else { Ok(array) }
}

/// A string or a list of strings.
fn texts(
    source: &Source,
    begin: usize,
    characters: usize,
    width: usize,
    header: &Header,
    shape: &Shape,
) -> Result<NpyContent> {
    if shape.ndim() > 1 {
        return Ok(NpyContent::Foreign(format!("texts in {} axes", shape.ndim())));
    }
    let item_size = characters.saturating_mul(width);
    let bytes = source.bytes(begin..begin.saturating_add(shape.size().saturating_mul(item_size)))?;
    // Empty strings take no bytes, so the file's size does not limit their number.
    ensure!(
        item_size > 0 || shape.size() <= 1 << 20,
        Value,
        "{} empty strings exceed the maximum of one million",
        shape.size()
    );
    let mut texts =
        (0..shape.size()).map(|i| text(&bytes[i * item_size..(i + 1) * item_size], width, header));
    let value = if shape.ndim() == 0 {
        texts.next().unwrap_or_else(|| Some(String::new())).map(Value::Text)
    } else {
        texts.collect::<Option<_>>().map(Value::Texts)
    };
    Ok(value.map_or_else(
        || NpyContent::Foreign("strings that are not valid Unicode".to_owned()),
        NpyContent::Text,
    ))
}

/// Decode a string, if it is valid.
fn text(bytes: &[u8], width: usize, header: &Header) -> Option<String> {
    let text = if width == 1 {
        std::str::from_utf8(bytes).ok().map(str::to_owned)
    } else {
        let number = |unit: &[u8]| {
            let unit = [unit[0], unit[1], unit[2], unit[3]];
            if header.is_big_endian { u32::from_be_bytes(unit) } else { u32::from_le_bytes(unit) }
        };
        bytes.chunks_exact(4).map(|unit| char::from_u32(number(unit))).collect()
    };
    text.map(|text| text.trim_end_matches('\0').to_owned())
}

/// Returns the next bytes of a stream: the requested number, or fewer at its end.
type Take<'a> = &'a mut dyn FnMut(usize) -> Result<Vec<u8>>;

/// Read until there are `length` bytes, or until the end.
fn read_until(bytes: &mut Vec<u8>, length: usize, take: Take<'_>) -> Result<()> {
    const CHUNK: usize = 16 << 20;
    while bytes.len() < length {
        let request = (length - bytes.len()).min(CHUNK);
        let chunk = take(request)?;
        if chunk.is_empty() || chunk.len() > request {
            break;
        }
        if bytes.try_reserve(chunk.len()).is_err() {
            bail!(Memory("load"), "out of memory reading a file: more than {} bytes", bytes.len());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(())
}

/// Read the header at the beginning of a stream; returns the bytes read and the length of the npy file.
fn bytes_needed(name: &str, take: Take<'_>) -> Result<(Vec<u8>, usize)> {
    let fail = |error| about("load", name, error);
    let mut bytes = Vec::new();
    read_until(&mut bytes, 10, take)?;
    let mut range = npy_header::text_range(&bytes).map_err(fail)?;
    if range.is_none() {
        read_until(&mut bytes, 12, take)?;
        range = npy_header::text_range(&bytes).map_err(fail)?;
    }
    // Content that is not an npy file, or truncated in its header, is not read further: parsing the bytes reports the error.
    let Some(range) = range else { return Ok((bytes, 0)) };
    read_until(&mut bytes, range.end, take)?;
    let Some(text) = bytes.get(range.clone()) else { return Ok((bytes, 0)) };
    let header = npy_header::parse(text).map_err(fail)?;
    let item_size = match header.element {
        Element::Number(dtype) => dtype.size(),
        Element::Text { characters, width } => characters.saturating_mul(width),
        Element::Foreign(_) => 0,
    };
    let size = shape_of(&header.shape).map_err(fail)?.size().saturating_mul(item_size);
    Ok((bytes, range.end.saturating_add(size)))
}

/// The bytes of one npy file from a stream. `take` returns the next bytes: the requested number, or fewer at the end.
///
/// Memory use is limited by the data in the stream, not by sizes in the header.
pub fn bytes_from(name: &str, take: Take<'_>) -> Result<Vec<u8>> {
    let (mut bytes, length) = bytes_needed(name, take)?;
    read_until(&mut bytes, length, take)?;
    Ok(bytes)
}

/// An array in npy format: the header, and its elements.
pub(crate) struct EncodedArray {
    pub(crate) header: Vec<u8>,
    dense: Array,
}

impl EncodedArray {
    pub(crate) fn new(array: &Array) -> Result<EncodedArray> {
        ensure!(
            array.ndim() <= MAX_AXES,
            Value("save"),
            "array of {} axes; the maximum is {MAX_AXES}",
            array.ndim()
        );
        ensure!(
            !array.dtype().is_float8(),
            Type("save"),
            "dtype {} is not supported by the npy format; use save_safetensors, or save view(uint8)",
            array.dtype()
        );
        let array = &array.to_host()?;
        let (dense, is_fortran) = match transposed(array)? {
            Some(transposed) => (transposed, true),
            None => (array.to_dense()?, false),
        };
        let header = npy_header::encode(array.dtype(), array.shape(), is_fortran);
        Ok(EncodedArray { header, dense })
    }

    pub(crate) fn data(&self) -> &[u8] {
        bytes_of(&self.dense)
    }
}

/// The transpose, if that is contiguous and the array is not: the format supports Fortran order.
fn transposed(array: &Array) -> Result<Option<Array>> {
    let Some(storage) = array.storage() else { return Ok(None) };
    let layout = storage.layout();
    let transposed_layout = Layout {
        shape: layout.shape.iter().rev().copied().collect(),
        strides: layout.strides.iter().rev().copied().collect(),
        offset: layout.offset,
    };
    if layout.is_contiguous() || !transposed_layout.is_contiguous() {
        return Ok(None);
    }
    Array::from_storage(storage.with_layout(transposed_layout), array.dtype()).map(Some)
}

/// Write an array to a file atomically.
pub fn save<'a>(target: impl Into<Target<'a>>, array: &Array) -> Result<()> {
    let encoded = EncodedArray::new(array)?;
    target.into().write("save", encoded.data().len() as u64, |output| {
        output.plain(&encoded.header)?;
        output.data(encoded.data())
    })
}
