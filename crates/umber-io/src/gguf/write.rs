//! Writing, version 3.

use std::collections::HashSet;

use umber_core::{Array, eval};
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

/// A value with its type, or without it as a list holds it.
fn value(into: &mut Vec<u8>, value: &Value) -> Result<()> {
    match value {
        Value::Array(array) => {
            let Some(&(kind, _)) = NUMBERS.iter().find(|(_, dtype)| *dtype == array.dtype()) else {
                bail!(
                    Type,
                    "got an array of {}, for which the metadata of the format has no word, expected another dtype",
                    array.dtype()
                );
            };
            ensure!(
                array.ndim() <= 1,
                Value,
                "got an array of shape {}, expected a scalar or one axis",
                array.shape()
            );
            if array.ndim() == 1 {
                number(into, LIST);
            }
            number(into, kind);
            if array.ndim() == 1 {
                into.extend_from_slice(&(array.size() as u64).to_le_bytes());
            }
            into.extend_from_slice(bytes_of(&array.to_dense()?));
        }
        Value::Text(words) => {
            number(into, TEXT);
            text(into, words);
        }
        Value::Texts(texts) => {
            number(into, LIST);
            number(into, TEXT);
            into.extend_from_slice(&(texts.len() as u64).to_le_bytes());
            for words in texts {
                text(into, words);
            }
        }
        Value::List(_) => bail!(Type, "got a list of lists, expected an array, a text or a list of texts"),
    }
    Ok(())
}

/// The header of a file with these arrays; they follow at multiples of the alignment, which is answered too.
fn prepare(arrays: &[(String, Array)], metadata: &[(String, Value)]) -> Result<(Vec<u8>, u64)> {
    let mut header = MAGIC.to_vec();
    number(&mut header, 3);
    header.extend_from_slice(&(arrays.len() as u64).to_le_bytes());
    header.extend_from_slice(&(metadata.len() as u64).to_le_bytes());
    for (key, entry) in metadata {
        text(&mut header, key);
        value(&mut header, entry)
            .map_err(|error| error.map_message(|text| format!("[save_gguf] metadata '{key}': {text}")))?;
    }
    let alignment =
        read::alignment(metadata).map_err(|error| error.map_message(|text| format!("[save_gguf] {text}")))?;
    let (mut names, mut offset) = (HashSet::new(), 0);
    for (name, array) in arrays {
        ensure!(names.insert(name), Value, "[save_gguf] got the name '{name}' twice, expected it once");
        ensure!(
            array.ndim() <= crate::MOST_AXES,
            Value,
            "[save_gguf] '{name}': got an array of {} axes, expected at most {}",
            array.ndim(),
            crate::MOST_AXES
        );
        let Some(kind) = Kind::number_of(array.dtype()) else {
            bail!(
                Type,
                "[save_gguf] '{name}': got {}, for which the format has no word, expected another dtype",
                array.dtype()
            );
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

/// Write arrays and metadata into a file, whole or not at all.
///
/// Metadata may be scalars and arrays of one axis, texts and lists of texts; an entry `general.alignment` says what
/// the places of the arrays are multiples of (32 otherwise).
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
    eval::eval(&all)?;
    let total = all.iter().map(|array| array.nbytes() as u64).sum();
    target.into().write("save_gguf", total, |output| {
        output.plain(&header)?;
        for array in &all {
            output.pad(alignment)?;
            output.data(bytes_of(&array.to_dense()?))?;
        }
        // The last one too ends at a multiple, as other writers have it.
        output.pad(alignment)
    })
}
