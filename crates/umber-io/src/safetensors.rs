//! The safetensors format: a JSON header and raw little-endian tensors.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::Path;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use umber_core::{Array, DType, eval, frontend};
use umber_types::{Result, bail, ensure, error};

use crate::{MAX_AXES, Mapping, Source, Target, bytes_of, named, shape_of};

/// The content of a file.
#[derive(Debug)]
pub struct Contents {
    /// Arrays by name, in the order of the names.
    pub arrays: Vec<(String, Array)>,
    /// Strings by name.
    pub metadata: HashMap<String, String>,
}

impl Contents {
    /// The array with this name.
    ///
    /// # Errors
    /// If there is none.
    ///
    /// ```
    /// # use umber_io as io;
    /// use umber_core::Array;
    ///
    /// let path = std::env::temp_dir().join(format!("umber-array-{}.safetensors", std::process::id()));
    /// io::safetensors::save(&path, &[("weight".into(), Array::from([1.0f32, 2.0]))], None)?;
    /// let contents = io::safetensors::load(&path)?;
    /// assert_eq!(contents.array("weight")?.to_vec::<f32>()?, [1.0, 2.0]);
    /// let error = contents.array("bias").expect_err("the file has no such array");
    /// assert_eq!(error.to_string(), "[load] no array is named 'bias'; the file has 'weight'");
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), umber_types::Error>(())
    /// ```
    pub fn array(&self, name: &str) -> Result<&Array> {
        named(&self.arrays, name)
    }
}

const METADATA: &str = "__metadata__";
/// The maximum length of a header, by the format's definition.
const MAX_SAFETENSORS_HEADER: usize = 100_000_000;
/// Alignment of the data.
const ALIGNMENT: usize = 64;

/// The dtype with this name in the format.
fn dtype_of(name: &str) -> Option<DType> {
    DType::ALL.into_iter().find(|&dtype| name_of(dtype) == Some(name))
}

fn name_of(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::Bool => "BOOL",
        DType::UInt8 => "U8",
        DType::UInt16 => "U16",
        DType::UInt32 => "U32",
        DType::UInt64 => "U64",
        DType::Int8 => "I8",
        DType::Int16 => "I16",
        DType::Int32 => "I32",
        DType::Int64 => "I64",
        DType::Float16 => "F16",
        DType::BFloat16 => "BF16",
        DType::Float32 => "F32",
        DType::Float64 => "F64",
        DType::Complex64 => "C64",
        DType::Float8E4M3Fn => "F8_E4M3",
        DType::Float8E4M3Fnuz => "F8_E4M3FNUZ",
        DType::Float8E5M2 => "F8_E5M2",
        DType::Float8E5M2Fnuz => "F8_E5M2FNUZ",
        DType::Float8E8M0Fnu => "F8_E8M0",
        DType::Complex128 | DType::Float8E3M4 | DType::Float8E4M3 | DType::Float8E4M3B11Fnuz => return None,
    })
}

/// The description of a tensor in the header.
#[derive(Serialize, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: (u64, u64),
}

/// The header, with unique names.
struct Header {
    metadata: HashMap<String, String>,
    entries: Vec<(String, Entry)>,
}

/// A map with unique keys, which JSON does not require.
struct Unique<V>(Vec<(String, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Unique<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Entries<V>(std::marker::PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Entries<V> {
            type Value = Unique<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Unique<V>, A::Error> {
                let (mut entries, mut names) = (Vec::new(), HashSet::new());
                while let Some(name) = map.next_key::<String>()? {
                    if !names.insert(name.clone()) {
                        return Err(de::Error::custom(format!("duplicate name '{name}'")));
                    }
                    entries.push((name, map.next_value()?));
                }
                Ok(Unique(entries))
            }
        }
        deserializer.deserialize_map(Entries(std::marker::PhantomData))
    }
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Header, A::Error> {
                let mut header = Header { metadata: HashMap::new(), entries: Vec::new() };
                let mut names = HashSet::new();
                while let Some(name) = map.next_key::<String>()? {
                    if !names.insert(name.clone()) {
                        return Err(de::Error::custom(format!("duplicate name '{name}'")));
                    }
                    if name == METADATA {
                        let texts: Option<Unique<String>> = map.next_value()?;
                        header.metadata =
                            texts.map(|texts| texts.0.into_iter().collect()).unwrap_or_default();
                    } else {
                        header.entries.push((name, map.next_value()?));
                    }
                }
                Ok(header)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// Map the arrays in a file.
pub fn load(path: impl AsRef<Path>) -> Result<Contents> {
    read(&Source::open(path, Mapping::Share)?)
}

/// The arrays in the bytes of a file.
pub fn read(source: &Source) -> Result<Contents> {
    source.named(|| {
        let header = header(source)?;
        let mut entries = header.entries;
        let begin = header_end(source)?;
        check_offsets(&mut entries, source.length() - begin)?;
        let mut arrays = Vec::with_capacity(entries.len());
        for (name, entry) in entries {
            frontend::check_interrupted()?;
            let array =
                tensor(source, begin, &entry).map_err(|error| error.about(format_args!("'{name}'")))?;
            arrays.push((name, array));
        }
        arrays.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Contents { arrays, metadata: header.metadata })
    })
}

/// The offset at which the header ends and the tensors begin.
fn header_end(source: &Source) -> Result<usize> {
    let Ok(start) = <[u8; 8]>::try_from(&*source.bytes(0..source.length().min(8))?) else {
        bail!(Value, "{} bytes are too few for a safetensors file, expected at least 8", source.length());
    };
    let length = usize::try_from(u64::from_le_bytes(start)).unwrap_or(usize::MAX);
    ensure!(
        length <= MAX_SAFETENSORS_HEADER || length > source.length() - 8,
        Value,
        "a header of {length} bytes exceeds the format's maximum of {MAX_SAFETENSORS_HEADER}"
    );
    ensure!(
        length <= source.length() - 8,
        Value,
        "not a safetensors file, or truncated: a header of {length} bytes does not fit in a file of {} bytes",
        source.length()
    );
    Ok(8 + length)
}

fn header(source: &Source) -> Result<Header> {
    let bytes = source.bytes(8..header_end(source)?)?;
    serde_json::from_slice(&bytes).map_err(|error| error!(Value, "invalid safetensors header: {error}"))
}

/// Check that tensors are contiguous and fill the file; sorts them in this order.
fn check_offsets(entries: &mut [(String, Entry)], length: usize) -> Result<()> {
    entries.sort_by_key(|(_, entry)| entry.data_offsets);
    let mut at = 0;
    for (name, entry) in entries.iter() {
        let (begin, end) = entry.data_offsets;
        ensure!(
            begin == at && end >= begin,
            Value,
            "'{name}': bytes {begin} to {end} do not start at {at}, the end of the previous array"
        );
        at = end;
    }
    ensure!(at == length as u64, Value, "got {length} bytes of data, expected {at} by the header");
    Ok(())
}

fn tensor(source: &Source, begin: usize, entry: &Entry) -> Result<Array> {
    let Some(dtype) = dtype_of(&entry.dtype) else {
        bail!(
            Type,
            "elements of type {:?} are not supported",
            entry.dtype.chars().take(40).collect::<String>()
        );
    };
    let shape = shape_of(&entry.shape)?;
    let (from, to) = entry.data_offsets;
    ensure!(
        (shape.size() as u64).checked_mul(dtype.size() as u64) == Some(to - from),
        Value,
        "got {} bytes for shape {shape} and dtype {dtype}, expected {}",
        to - from,
        shape.size().saturating_mul(dtype.size())
    );
    source.array(begin + from as usize, dtype, &shape)
}

/// The header of a file with these arrays, and the arrays in file order.
fn prepare<'a>(
    arrays: &'a [(String, Array)],
    metadata: Option<&HashMap<String, String>>,
) -> Result<(Vec<u8>, Vec<&'a Array>)> {
    let mut order: Vec<(&str, &Array, &str)> = Vec::with_capacity(arrays.len());
    let mut names = HashSet::new();
    for (name, array) in arrays {
        ensure!(
            name != METADATA,
            Value("save_safetensors"),
            "'{METADATA}' is reserved for the file's metadata"
        );
        ensure!(names.insert(name), Value("save_safetensors"), "duplicate name '{name}'");
        ensure!(
            array.ndim() <= MAX_AXES,
            Value("save_safetensors"),
            "'{name}': array of {} axes; the maximum is {MAX_AXES}",
            array.ndim()
        );
        let Some(dtype_name) = name_of(array.dtype()) else {
            bail!(
                Type("save_safetensors"),
                "'{name}': dtype {} is not supported by the safetensors format; save view(uint8)",
                array.dtype()
            );
        };
        order.push((name, array, dtype_name));
    }
    // Sorted by descending element size, so that every tensor is aligned to its element size.
    order.sort_by(|a, b| b.1.dtype().size().cmp(&a.1.dtype().size()).then_with(|| a.0.cmp(b.0)));
    let mut map = serde_json::Map::new();
    let failed = |error: serde_json::Error| error!(Runtime("save_safetensors"), "{error}");
    if let Some(metadata) = metadata {
        let sorted: BTreeMap<_, _> = metadata.iter().collect();
        map.insert(METADATA.to_owned(), serde_json::to_value(sorted).map_err(failed)?);
    }
    let mut at = 0;
    for (name, array, dtype_name) in &order {
        let end = at + array.nbytes() as u64;
        let shape = array.shape().iter().map(|&length| length as u64).collect();
        let entry = Entry { dtype: (*dtype_name).to_owned(), shape, data_offsets: (at, end) };
        map.insert((*name).to_owned(), serde_json::to_value(entry).map_err(failed)?);
        at = end;
    }
    let mut text = serde_json::to_vec(&map).map_err(failed)?;
    text.resize((text.len() + 8).next_multiple_of(ALIGNMENT) - 8, b' ');
    ensure!(
        text.len() <= MAX_SAFETENSORS_HEADER,
        Value("save_safetensors"),
        "names, shapes and metadata take {} bytes; the format's maximum is {MAX_SAFETENSORS_HEADER}",
        text.len()
    );
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.append(&mut text);
    Ok((bytes, order.into_iter().map(|(_, array, _)| array).collect()))
}

/// Write arrays and strings to a file atomically.
pub fn save<'a>(
    target: impl Into<Target<'a>>,
    arrays: &[(String, Array)],
    metadata: Option<HashMap<String, String>>,
) -> Result<()> {
    let (header, order) = prepare(arrays, metadata.as_ref())?;
    eval(&order.iter().map(|&array| array.clone()).collect::<Vec<_>>())?;
    let total = order.iter().map(|array| array.nbytes() as u64).sum();
    target.into().write("save_safetensors", total, |output| {
        output.plain(&header)?;
        order.iter().try_for_each(|array| output.data(bytes_of(&array.to_dense()?)))
    })
}
