//! NumPy's npz format: a zip archive with one npy file for each array.

use std::path::Path;

use umber_core::{Array, eval};
use umber_types::Result;

use crate::npy::{self, Held, Prepared};
use crate::zip::{Archive, members};
use crate::{Mapping, Source, Target, Value};

/// What a file holds.
#[derive(Debug, Default)]
pub struct Contents {
    /// Arrays by name, in the order of the file.
    pub arrays: Vec<(String, Array)>,
    /// Texts and lists of texts by name.
    pub texts: Vec<(String, Value)>,
    /// Names of what is neither, and what it is.
    pub others: Vec<(String, String)>,
}

/// Are the arrays of an archive made smaller?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Compression {
    /// They lie in it as in memory, so that they can be mapped.
    #[default]
    None,
    /// With deflate.
    Deflate,
}

/// Map the arrays in a file; compressed ones are read.
pub fn load(path: &Path) -> Result<Contents> {
    read(&Source::open(path, Mapping::Share)?)
}

/// The arrays in the bytes of a file.
pub fn read(source: &Source) -> Result<Contents> {
    let mut contents = Contents::default();
    for member in source.named(|| members(source))? {
        eval::check_interrupted()?;
        let Some(name) = member.name.strip_suffix(".npy").map(str::to_owned) else {
            contents.others.push((member.name, "no npy file".to_owned()));
            continue;
        };
        let held = source.named(|| {
            let held = member.bytes(source).and_then(|bytes| npy::element(&bytes));
            held.map_err(|error| error.map_message(|text| format!("'{}': {text}", member.name)))
        })?;
        match held {
            Held::Array(array) => contents.arrays.push((name, array)),
            Held::Text(value) => contents.texts.push((name, value)),
            Held::Foreign(what) => contents.others.push((name, what)),
        }
    }
    Ok(contents)
}

/// Write arrays into a file, whole or not at all.
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
    eval::eval(&all)?;
    let total = all.iter().map(|array| array.nbytes() as u64).sum();
    let op = match compression {
        Compression::None => "savez",
        Compression::Deflate => "savez_compressed",
    };
    target.into().write(op, total, |output| {
        let mut archive = Archive::default();
        for (name, array) in arrays {
            let prepared = Prepared::new(array)?;
            archive.add(output, &format!("{name}.npy"), &prepared.header, prepared.data(), compression)?;
        }
        archive.finish(output)
    })
}
