//! Recognition of files by their first bytes, to select a reader and for errors about foreign formats.

use std::borrow::Cow;

use umber_types::Result;

use crate::{Format, Source};

/// Number of bytes needed: the signature of a tar archive follows 257 bytes of its header.
const MAX_HEADER: usize = 262;
/// Maximum length of a safetensors header, by the format's definition.
const MAX_SAFETENSORS_HEADER: u64 = 100_000_000;

/// Advice for files in foreign formats.
const SAVE_FROM_PYTORCH: &str =
    "load it with torch.load and write its tensors with safetensors.torch.save_file";
const DOWNLOAD: &str = "download the file itself";
const UNPACK: &str = "unpack it first";
const CONVERT: &str = "read it with its own library and hand the arrays to umber";

/// The format of some content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A format with a reader.
    Known(Format),
    /// A foreign format: its name, and advice.
    Foreign(&'static str, &'static str),
    /// No known signature.
    Unknown,
}

/// Recognise the first bytes of `source`.
pub(crate) fn content(source: &Source) -> Result<Content> {
    let start: Cow<'_, [u8]> = source.bytes(0..source.length().min(MAX_HEADER))?;
    Ok(match &*start {
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Content::Known(Format::Npy),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Content::Known(Format::Npz),
        [b'G', b'G', b'U', b'F', ..] => Content::Known(Format::Gguf),
        start if is_safetensors(start) => Content::Known(Format::Safetensors),
        start => foreign(start),
    })
}

/// A safetensors file begins with the length of the header in eight bytes, and the header, a JSON object.
fn is_safetensors(start: &[u8]) -> bool {
    let Some((length, [b'{', ..])) = start.split_first_chunk() else { return false };
    u64::from_le_bytes(*length) <= MAX_SAFETENSORS_HEADER
}

fn foreign(start: &[u8]) -> Content {
    let text = start.trim_ascii_start();
    let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    let (name, advice) = match start {
        // Protocols 2 to 5; the first opcode of a checkpoint pushes the magic number (LONG1) or a collection.
        [0x80, 2..=5, ..] => ("a pickle, perhaps an old PyTorch checkpoint", SAVE_FROM_PYTORCH),
        [0x89, b'H', b'D', b'F', ..] => ("an HDF5 file", CONVERT),
        [b'P', b'A', b'R', b'1', ..] => ("a Parquet file", CONVERT),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => ("an Arrow file", CONVERT),
        [b'M', b'A', b'T', b'L', b'A', b'B', ..] => ("a MATLAB file", CONVERT),
        [b'l' | b'f', b'm', b'g', b'g', ..] | [b't', b'j', b'g', b'g', ..] => {
            ("a GGML file, the format before GGUF", "convert it to GGUF")
        }
        [0x89, b'P', b'N', b'G', ..] => ("a PNG image", CONVERT),
        [0xff, 0xd8, 0xff, ..] => ("a JPEG image", CONVERT),
        [0x1f, 0x8b, ..] => ("a gzip file", UNPACK),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => ("a zstd file", UNPACK),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => ("an xz file", UNPACK),
        [b'B', b'Z', b'h', ..] => ("a bzip2 file", UNPACK),
        [b'7', b'z', 0xbc, 0xaf, ..] => ("a 7z archive", UNPACK),
        _ if start.get(257..262) == Some(b"ustar") => ("a tar archive", UNPACK),
        _ if begins(b"version https://git-lfs") => {
            ("a Git LFS pointer, which stands for a file that was not downloaded", "run git lfs pull")
        }
        _ if begins(b"<!doctype html") || begins(b"<html") => ("an HTML page", DOWNLOAD),
        _ if begins(b"{") || begins(b"[") => ("a JSON text", CONVERT),
        _ => return Content::Unknown,
    };
    Content::Foreign(name, advice)
}

/// The kind of an archive and advice, if the names of its members reveal it.
pub(crate) fn archive<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<(&'static str, &'static str)> {
    names.find_map(|name| {
        let file = name.rsplit('/').next().unwrap_or(name);
        Some(match file {
            "data.pkl" => ("a PyTorch checkpoint", SAVE_FROM_PYTORCH),
            "constants.pkl" => ("a TorchScript archive", SAVE_FROM_PYTORCH),
            "model.weights.h5" => ("a Keras model", CONVERT),
            "[Content_Types].xml" => ("an Office document", CONVERT),
            "MANIFEST.MF" => ("a Java archive", CONVERT),
            _ => return None,
        })
    })
}
