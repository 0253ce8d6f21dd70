//! NumPy's npy format (NEP 1, versions 1 to 3): a header and raw elements.

use std::path::Path;

use umber_core::graph::ArrayInternals;
use umber_core::{Array, DType, Layout, Shape, ops};
use umber_types::{Result, bail, ensure};

use crate::npy_header::{self, Element, Header};
use crate::source::made;
use crate::{MAX_AXES, Mapping, Source, Target, Value, about, bytes_of, shape_of};

/// Map the array in a file.
pub fn load(path: &Path) -> Result<Array> {
    read(&Source::open(path, Mapping::Share)?)
}

/// The array in the bytes of a file; what follows it is not looked at.
pub fn read(source: &Source) -> Result<Array> {
    source.named(|| match element(source)? {
        Held::Array(array) => Ok(array),
        Held::Text(_) => {
            bail!(Type, "npy files with strings are not supported")
        }
        Held::Foreign(what) => {
            bail!(Type, "npy files with {what} are not supported")
        }
    })
}

/// How many bytes of the source its array takes, header and all; those that are there, if it is cut short.
pub fn extent(source: &Source) -> Result<usize> {
    let mut at = 0;
    let taken = bytes_needed(source.name(), &mut |count| {
        let end = source.length().min(at + count);
        let bytes = source.named(|| source.bytes(at..end))?.into_owned();
        at = end;
        Ok(bytes)
    })?;
    Ok(taken.1.min(source.length()))
}

/// What is in one npy file.
pub(crate) enum Held {
    Array(Array),
    Text(Value),
    /// What umber has no word for.
    Foreign(String),
}

/// What is in an npy file.
pub(crate) fn element(source: &Source) -> Result<Held> {
    let start = source.bytes(0..source.length().min(12))?;
    let Some(place) = npy_header::place(&start)? else {
        bail!(Value, "{} bytes are too few for an npy file", source.length());
    };
    let begin = place.end;
    let header = npy_header::parse(&source.bytes(place)?)?;
    let shape = shape_of(&header.shape)?;
    match &header.element {
        Element::Number(dtype) => numbers(source, begin, *dtype, &header, shape).map(Held::Array),
        Element::Text { characters, width } => texts(source, begin, *characters, *width, &header, &shape),
        Element::Foreign(what) => Ok(Held::Foreign(what.clone())),
    }
}

fn numbers(source: &Source, begin: usize, dtype: DType, header: &Header, shape: Shape) -> Result<Array> {
    let lies: Shape = if header.is_fortran { shape.iter().rev().copied().collect() } else { shape };
    let array = if header.is_big_endian && dtype.size() > 1 {
        let bytes = source.bytes(begin..begin.saturating_add(lies.size().saturating_mul(dtype.size())))?;
        let unit = dtype.alignment();
        made(dtype, &lies, |into| {
            into.copy_from_slice(&bytes);
            into.chunks_exact_mut(unit).for_each(<[u8]>::reverse);
            Ok(())
        })?
    } else {
        source.array(begin, dtype, &lies)?
    };
    if header.is_fortran { ops::transpose(&array, None) } else { Ok(array) }
}

/// Texts: one or a list of them.
fn texts(
    source: &Source,
    begin: usize,
    characters: usize,
    width: usize,
    header: &Header,
    shape: &Shape,
) -> Result<Held> {
    if shape.ndim() > 1 {
        return Ok(Held::Foreign(format!("texts in {} axes", shape.ndim())));
    }
    let each = characters.saturating_mul(width);
    let bytes = source.bytes(begin..begin.saturating_add(shape.size().saturating_mul(each)))?;
    // Texts of no characters take no bytes, so nothing limits how many a file claims.
    ensure!(
        each > 0 || shape.size() <= 1 << 20,
        Value,
        "{} empty strings exceed the maximum of one million",
        shape.size()
    );
    let mut found = (0..shape.size()).map(|i| text(&bytes[i * each..(i + 1) * each], width, header));
    let value = if shape.ndim() == 0 {
        found.next().unwrap_or_else(|| Some(String::new())).map(Value::Text)
    } else {
        found.collect::<Option<_>>().map(Value::Texts)
    };
    Ok(value.map_or_else(|| Held::Foreign("strings that are not valid Unicode".to_owned()), Held::Text))
}

/// The characters, if they are some.
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

/// The next so many bytes of a stream, or fewer at its end.
type Take<'a> = &'a mut dyn FnMut(usize) -> Result<Vec<u8>>;

/// Take bytes until there are `length`, or no more.
fn more(bytes: &mut Vec<u8>, length: usize, take: Take<'_>) -> Result<()> {
    const PIECE: usize = 16 << 20;
    while bytes.len() < length {
        let asked = (length - bytes.len()).min(PIECE);
        let piece = take(asked)?;
        if piece.is_empty() || piece.len() > asked {
            break;
        }
        if bytes.try_reserve(piece.len()).is_err() {
            bail!(Memory("load"), "out of memory reading a file: more than {} bytes", bytes.len());
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(())
}

/// The header at the beginning of a stream, and the length of the npy file that it begins.
fn bytes_needed(name: &str, take: Take<'_>) -> Result<(Vec<u8>, usize)> {
    let fail = |error| about("load", name, error);
    let mut bytes = Vec::new();
    more(&mut bytes, 10, take)?;
    let mut place = npy_header::place(&bytes).map_err(fail)?;
    if place.is_none() {
        more(&mut bytes, 12, take)?;
        place = npy_header::place(&bytes).map_err(fail)?;
    }
    // What is no npy file, or ends in its header, is not read on: whoever reads the bytes says so.
    let Some(place) = place else { return Ok((bytes, 0)) };
    more(&mut bytes, place.end, take)?;
    let Some(text) = bytes.get(place.clone()) else { return Ok((bytes, 0)) };
    let header = npy_header::parse(text).map_err(fail)?;
    let each = match header.element {
        Element::Number(dtype) => dtype.size(),
        Element::Text { characters, width } => characters.saturating_mul(width),
        Element::Foreign(_) => 0,
    };
    let size = shape_of(&header.shape).map_err(fail)?.size().saturating_mul(each);
    Ok((bytes, place.end.saturating_add(size)))
}

/// The bytes of one npy file out of a stream, of which `take` gives the next so many, or fewer at its end.
///
/// Memory grows with what the stream gives, not with what the header claims.
pub fn bytes_from(name: &str, take: Take<'_>) -> Result<Vec<u8>> {
    let (mut bytes, length) = bytes_needed(name, take)?;
    more(&mut bytes, length, take)?;
    Ok(bytes)
}

/// An array as it goes into a file: the bytes before its elements, and where these are.
pub(crate) struct Prepared {
    pub(crate) header: Vec<u8>,
    dense: Array,
}

impl Prepared {
    pub(crate) fn new(array: &Array) -> Result<Prepared> {
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
        let (dense, is_fortran) = match reversed(array)? {
            Some(reversed) => (reversed, true),
            None => (array.to_dense()?, false),
        };
        let header = npy_header::written(array.dtype(), array.shape(), is_fortran);
        Ok(Prepared { header, dense })
    }

    pub(crate) fn data(&self) -> &[u8] {
        bytes_of(&self.dense)
    }
}

/// The transpose, if that lies densely and the array does not: the format has a word for it.
fn reversed(array: &Array) -> Result<Option<Array>> {
    let Some(storage) = array.storage() else { return Ok(None) };
    let layout = storage.layout();
    let transposed = Layout {
        shape: layout.shape.iter().rev().copied().collect(),
        strides: layout.strides.iter().rev().copied().collect(),
        offset: layout.offset,
    };
    if layout.is_contiguous() || !transposed.is_contiguous() {
        return Ok(None);
    }
    Array::from_storage(storage.with_layout(transposed), array.dtype()).map(Some)
}

/// Write an array into a file, whole or not at all.
pub fn save<'a>(target: impl Into<Target<'a>>, array: &Array) -> Result<()> {
    let prepared = Prepared::new(array)?;
    target.into().write("save", prepared.data().len() as u64, |output| {
        output.plain(&prepared.header)?;
        output.data(prepared.data())
    })
}
