//! Writing GGUF files, version 3.

use std::borrow::Cow;
use std::collections::HashSet;

use umber_core::{Array, DType, eval, ops};
use umber_types::{Result, bail, ensure};

use super::*;
use crate::{Target, Value, bytes_of};

fn text(into: &mut Vec<u8>, text: &str) {
    into.extend_from_slice(&(text.len() as u64).to_le_bytes());
    into.extend_from_slice(text.as_bytes());
}

fn number(into: &mut Vec<u8>, number: u32) {
    into.extend_from_slice(&number.to_le_bytes());
}

/// Write a value with its type.
fn value(into: &mut Vec<u8>, value: &Value) -> Result<()> {
    match value {
        Value::Text(words) => {
            number(into, TEXT);
            text(into, words);
            Ok(())
        }
        Value::Array(array) if array.ndim() == 0 => {
            number(into, kind_of(array)?);
            into.extend_from_slice(bytes_of(&array.to_dense()?));
            Ok(())
        }
        Value::Array(_) | Value::Texts(_) | Value::List(_) => {
            number(into, LIST);
            list(into, value, read::MAX_DEPTH)
        }
    }
}

/// Convert an entry to the type that readers of the format expect: the alignment is a uint32.
fn typed<'a>(key: &str, entry: &'a Value) -> Result<Cow<'a, Value>> {
    match entry {
        Value::Array(array) if key == ALIGNMENT_KEY && array.ndim() == 0 && array.dtype().is_integer() => {
            let number = array.item()?.as_f64();
            let fits = (0.0..=f64::from(u32::MAX)).contains(&number);
            Ok(if fits {
                Cow::Owned(Value::Array(ops::astype(array, DType::UInt32)?))
            } else {
                Cow::Borrowed(entry)
            })
        }
        _ => Ok(Cow::Borrowed(entry)),
    }
}

/// The number of the type of an array's elements.
fn kind_of(array: &Array) -> Result<u32> {
    match NUMBERS.iter().find(|(_, dtype)| *dtype == array.dtype()) {
        Some(&(kind, _)) => Ok(kind),
        None => bail!(Type, "metadata of dtype {} is not supported by the format", array.dtype()),
    }
}

/// Write a list as an item of another: with the type of its items, without its own type.
fn list(into: &mut Vec<u8>, value: &Value, depth: u32) -> Result<()> {
    ensure!(depth > 0, Value, "lists nested deeper than the maximum of {} levels", read::MAX_DEPTH);
    let mut begin = |kind: u32, count: usize| {
        number(into, kind);
        into.extend_from_slice(&(count as u64).to_le_bytes());
    };
    match value {
        Value::Array(array) if array.ndim() == 1 => {
            begin(kind_of(array)?, array.size());
            into.extend_from_slice(bytes_of(&array.to_dense()?));
        }
        Value::Array(array) => {
            bail!(Value, "metadata must be a scalar or one-dimensional, got shape {}", array.shape())
        }
        Value::Texts(texts) => {
            begin(TEXT, texts.len());
            for words in texts {
                text(into, words);
            }
        }
        Value::List(lists) => {
            begin(LIST, lists.len());
            for inner in lists {
                list(into, inner, depth - 1)?;
            }
        }
        Value::Text(_) => bail!(Type, "lists cannot contain both strings and lists"),
    }
    Ok(())
}

/// The header of a file with these arrays, and the alignment of the arrays.
fn prepare(arrays: &[(String, Array)], metadata: &[(String, Value)]) -> Result<(Vec<u8>, u64)> {
    let mut header = MAGIC.to_vec();
    number(&mut header, 3);
    header.extend_from_slice(&(arrays.len() as u64).to_le_bytes());
    header.extend_from_slice(&(metadata.len() as u64).to_le_bytes());
    for (key, entry) in metadata {
        text(&mut header, key);
        let entry = typed(key, entry)?;
        value(&mut header, &entry)
            .map_err(|error| error.with_op("save_gguf").about(format_args!("metadata '{key}'")))?;
    }
    let alignment = read::alignment(metadata).map_err(|error| error.with_op("save_gguf"))?;
    ensure!(
        alignment.is_multiple_of(8),
        Value("save_gguf"),
        "metadata '{ALIGNMENT_KEY}' must be a multiple of 8, got {alignment}"
    );
    let (mut names, mut offset) = (HashSet::new(), 0);
    for (name, array) in arrays {
        ensure!(names.insert(name), Value("save_gguf"), "duplicate name '{name}'");
        ensure!(
            array.ndim() <= crate::MAX_AXES,
            Value("save_gguf"),
            "'{name}': array of {} axes; the maximum is {}",
            array.ndim(),
            crate::MAX_AXES
        );
        let Some(kind) = Kind::number_of(array.dtype()) else {
            bail!(Type("save_gguf"), "'{name}': dtype {} is not supported by the format", array.dtype());
        };
        text(&mut header, name);
        number(&mut header, array.ndim() as u32);
        for &length in array.shape().iter().rev() {
            header.extend_from_slice(&(length as u64).to_le_bytes());
        }
        number(&mut header, kind);
        header.extend_from_slice(&u64::to_le_bytes(offset));
        offset = (offset + array.nbytes() as u64).next_multiple_of(alignment);
    }
    Ok((header, alignment))
}

/// Write arrays and metadata to a file atomically.
///
/// Metadata may be scalars, one-dimensional arrays, strings, lists of strings, and lists of such lists. An entry
/// `general.alignment` sets the alignment of the arrays (32 by default).
///
/// ```
/// # use umber_io as io;
/// use umber_core::Array;
///
/// let path = std::env::temp_dir().join(format!("umber-gguf-{}.gguf", std::process::id()));
/// let made_by = ("general.name".to_owned(), io::Value::Text("a test".to_owned()));
/// io::gguf::save(path.as_path(), &[("a".into(), Array::from([1, 2]))], &[made_by])?;
/// let contents = io::gguf::load(&path)?;
/// assert_eq!(contents.arrays[0].1.to_vec::<i32>()?, [1, 2]);
/// assert_eq!(contents.metadata[0].0, "general.name");
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), umber_types::Error>(())
/// ```
pub fn save<'a>(
    target: impl Into<Target<'a>>,
    arrays: &[(String, Array)],
    metadata: &[(String, Value)],
) -> Result<()> {
    let (header, alignment) = prepare(arrays, metadata)?;
    let all: Vec<Array> = arrays.iter().map(|(_, array)| array.clone()).collect();
    eval(&all)?;
    let total = all.iter().map(|array| array.nbytes() as u64).sum();
    target.into().write("save_gguf", total, |output| {
        output.plain(&header)?;
        for array in &all {
            output.pad(alignment)?;
            output.data(bytes_of(&array.to_dense()?))?;
        }
        // The last array is padded, too, as by other writers.
        output.pad(alignment)
    })
}
