//! NumPy's npz format: a zip archive with one npy file for each array.

use std::path::Path;

use umber_core::{Array, eval, frontend};
use umber_types::{Error, Result, error};

use crate::format::foreign;
use crate::npy::{self, EncodedArray, NpyContent};
use crate::zip::{Archive, Member, members};
use crate::{Mapping, Source, Target, Value, named, npy_header, signature};

/// The suffix that NumPy appends to the names of arrays.
const SUFFIX: &str = ".npy";
/// The comment of an archive without arrays, to distinguish it from other zip archives.
const NO_ARRAYS: &[u8] = b"npz without arrays";

/// The content of a file.
#[derive(Debug, Default)]
pub struct Contents {
    /// Arrays by name, in the order of the file.
    pub arrays: Vec<(String, Array)>,
    /// Strings and lists of strings by name.
    pub texts: Vec<(String, Value)>,
    /// Names of other members, and what they are.
    pub others: Vec<(String, String)>,
}

impl Contents {
    /// The array with this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn array(&self, name: &str) -> Result<&Array> {
        named(&self.arrays, name)
    }
}

/// Whether the arrays of an archive are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Compression {
    /// Stored uncompressed, so that they can be mapped.
    #[default]
    None,
    /// Compressed with deflate.
    Deflate,
}

/// Map the arrays in a file; compressed ones are read.
pub fn load(path: impl AsRef<Path>) -> Result<Contents> {
    read(&Source::open(path, Mapping::Share)?)
}

/// The arrays in the bytes of a file.
///
/// Members are recognised by their content. The name of an array omits the suffix `.npy`, unless another member has that name.
///
/// Fails with [`ErrorKind::Value`](umber_types::ErrorKind) for an archive without arrays and strings, with the name of a known
/// foreign format.
pub fn read(source: &Source) -> Result<Contents> {
    source.named(|| {
        let archive = members(source)?;
        let mut contents = Contents::default();
        for member in &archive.members {
            frontend::check_interrupted()?;
            read_member(source, member, &archive.members, &mut contents)
                .map_err(|error| error.about(format_args!("'{}'", member.name)))?;
        }
        let is_empty = contents.arrays.is_empty() && contents.texts.is_empty();
        if is_empty && archive.comment != NO_ARRAYS {
            return Err(without_arrays(&archive.members, &contents.others));
        }
        Ok(contents)
    })
}

fn read_member(source: &Source, member: &Member, all: &[Member], contents: &mut Contents) -> Result<()> {
    let short = member.name.strip_suffix(SUFFIX);
    if short.is_none() && !member.begins_with(source, npy_header::MAGIC)? {
        contents.others.push((member.name.clone(), "not an npy file".to_owned()));
        return Ok(());
    }
    let name = short.filter(|short| all.iter().all(|other| other.name != *short)).unwrap_or(&member.name);
    let name = name.to_owned();
    match npy::content(&member.bytes(source)?)? {
        NpyContent::Array(array) => contents.arrays.push((name, array)),
        NpyContent::Text(value) => contents.texts.push((name, value)),
        NpyContent::Foreign(what) => contents.others.push((name, what)),
    }
    Ok(())
}

/// The kind of a zip archive and advice, if the names of its members reveal it.
pub(crate) fn foreign_archive(source: &Source) -> Option<(&'static str, &'static str)> {
    signature::archive(members(source).ok()?.members.iter().map(|member| &*member.name))
}

/// The error for an archive without arrays.
fn without_arrays(members: &[Member], others: &[(String, String)]) -> Error {
    const MAX_SHOWN: usize = 3;
    if let Some((what, advice)) = signature::archive(members.iter().map(|member| &*member.name)) {
        return foreign(what, "an npz file", advice);
    }
    if members.is_empty() {
        return error!(Value, "zip archive is empty, expected an npz file with an array");
    }
    let shown: Vec<_> =
        others.iter().take(MAX_SHOWN).map(|(name, what)| format!("'{name}' ({what})")).collect();
    let more =
        if others.len() > MAX_SHOWN { format!(", … ({} members)", members.len()) } else { String::new() };
    error!(Value, "no member of the zip archive is an array: {}{more}", shown.join(", "))
}

/// Write arrays to a file atomically.
///
/// ```
/// # use umber_io as io;
/// use umber_core::Array;
///
/// let path = std::env::temp_dir().join(format!("umber-npz-{}.npz", std::process::id()));
/// io::npz::save(path.as_path(), &[("a".into(), Array::from([1, 2]))], io::npz::Compression::Deflate)?;
/// let contents = io::npz::load(&path)?;
/// assert_eq!(contents.arrays[0].1.to_vec::<i32>()?, [1, 2]);
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), umber_types::Error>(())
/// ```
pub fn save<'a>(
    target: impl Into<Target<'a>>,
    arrays: &[(String, Array)],
    compression: Compression,
) -> Result<()> {
    let all: Vec<Array> = arrays.iter().map(|(_, array)| array.clone()).collect();
    eval(&all)?;
    let total = all.iter().map(|array| array.nbytes() as u64).sum();
    let op = match compression {
        Compression::None => "savez",
        Compression::Deflate => "savez_compressed",
    };
    target.into().write(op, total, |output| {
        let mut archive = Archive::default();
        for (name, array) in arrays {
            let encoded = EncodedArray::new(array)?;
            archive.add(output, &format!("{name}{SUFFIX}"), &encoded.header, encoded.data(), compression)?;
        }
        archive.finish(output, if arrays.is_empty() { NO_ARRAYS } else { b"" })
    })
}
