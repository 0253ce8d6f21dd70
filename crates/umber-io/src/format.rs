//! File formats, and their recognition.

use std::path::Path;

use umber_core::Array;
use umber_types::{Error, Result, bail, error};

use crate::signature::{Content, content};
use crate::{Mapping, Source, gguf, npy, npz, safetensors};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// NumPy's format of one array.
    Npy,
    /// A zip archive of npy files.
    Npz,
    /// Named arrays and strings.
    Safetensors,
    /// Named arrays, some of them quantised, and typed metadata.
    Gguf,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] = [Format::Npy, Format::Npz, Format::Safetensors, Format::Gguf];

    /// Its name, which is the extension of its files.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Safetensors => "safetensors",
            Format::Gguf => "gguf",
        }
    }

    /// The format of this name, if there is one.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format whose extension a path has.
    pub fn of_path(path: &Path) -> Option<Format> {
        Format::from_name(&path.extension()?.to_str()?.to_ascii_lowercase())
    }

    /// The format with the signature of the content.
    ///
    /// Fails with [`ErrorKind::Value`](umber_types::ErrorKind) for other content, with the name of a known foreign format.
    pub fn of_content(source: &Source) -> Result<Format> {
        source.named(|| match content(source)? {
            Content::Known(format) => Ok(format),
            Content::Foreign(what, advice) => {
                Err(foreign(what, "an npy, npz, safetensors or gguf file", advice))
            }
            Content::Unknown => {
                bail!(Value, "unknown file format, expected npy, npz, safetensors or gguf; or pass format=")
            }
        })
    }

    /// Return an error if the content has the signature of another format.
    fn check_content(self, source: &Source) -> Result<()> {
        let expected = self.described();
        source.named(|| match content(source)? {
            Content::Known(format) if format == self => Ok(()),
            Content::Known(format) => {
                if format == Format::Npz
                    && let Some((what, advice)) = npz::foreign_archive(source)
                {
                    return Err(foreign(what, expected, advice));
                }
                bail!(
                    Value,
                    "the file is {}, expected {expected}: pass format={:?}",
                    format.described(),
                    format.name()
                )
            }
            Content::Foreign(what, advice) => Err(foreign(what, expected, advice)),
            // The reader reports the fault.
            Content::Unknown => Ok(()),
        })
    }

    /// Its name with an article.
    const fn described(self) -> &'static str {
        match self {
            Format::Npy => "an npy file",
            Format::Npz => "an npz file (a zip archive)",
            Format::Safetensors => "a safetensors file",
            Format::Gguf => "a gguf file",
        }
    }
}

/// The error for a file in a format without a reader.
pub(crate) fn foreign(what: &str, expected: &str, advice: &str) -> Error {
    error!(Value, "the file is {what}, expected {expected}: {advice}")
}

/// A value of a file's metadata.
#[derive(Clone, Debug)]
pub enum Value {
    /// A scalar or an array.
    Array(Array),
    /// A string.
    Text(String),
    /// A list of strings.
    Texts(Vec<String>),
    /// A list of values.
    List(Vec<Value>),
}

/// The content of a file.
#[derive(Debug)]
pub enum Loaded {
    /// One array.
    Npy(Array),
    /// Arrays by name.
    Npz(npz::Contents),
    /// Arrays and strings by name.
    Safetensors(safetensors::Contents),
    /// Arrays and metadata by name.
    Gguf(gguf::Contents),
}

/// Map the file at `path`, in the format of its extension, or else of its content.
///
/// ```
/// # use umber_io as io;
/// use umber_core::Array;
///
/// let path = std::env::temp_dir().join(format!("umber-load-{}.npy", std::process::id()));
/// io::npy::save(path.as_path(), &Array::from([1.0f32, 2.0]))?;
/// let io::Loaded::Npy(array) = io::load(&path)? else { unreachable!() };
/// assert_eq!(array.to_vec::<f32>()?, [1.0, 2.0]);
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), umber_types::Error>(())
/// ```
pub fn load(path: impl AsRef<Path>) -> Result<Loaded> {
    let path = path.as_ref();
    read(&Source::open(path, Mapping::Share)?, Format::of_path(path))
}

/// The arrays in `source`, in the given format or that of its signature.
pub fn read(source: &Source, format: Option<Format>) -> Result<Loaded> {
    let format = match format {
        Some(format) => {
            format.check_content(source)?;
            format
        }
        None => Format::of_content(source)?,
    };
    Ok(match format {
        Format::Npy => Loaded::Npy(npy::read(source)?),
        Format::Npz => Loaded::Npz(npz::read(source)?),
        Format::Safetensors => Loaded::Safetensors(safetensors::read(source)?),
        Format::Gguf => Loaded::Gguf(gguf::read(source)?),
    })
}
