//! Compressed files as streams of what they contain.
//!
//! gzip (with several members) and zstd (with several frames) are read always, xz with the feature `xz`. bzip2 is refused: the
//! decoders have licences with further duties.

use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::position::fill;
use super::{Format, RecordError};

/// The size of buffers.
const BUFFER: usize = 1 << 16;
/// The number of bytes that tell compressions apart.
const MAGIC: usize = 6;
/// The memory for the dictionary of an xz file in KiB, as much as `xz -9` needs for decompression and half again.
#[cfg(feature = "xz")]
const XZ_MEMORY: u32 = 96 << 10;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// It is not.
    None,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
    /// bzip2.
    Bzip2,
    /// xz.
    Xz,
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.format().fmt(f)
    }
}

impl Compression {
    /// The compression that the first bytes of a file show.
    pub fn of_bytes(bytes: &[u8]) -> Compression {
        match bytes {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // A frame, or one that is to be skipped.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Compression::Bzip2,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
            _ => Compression::None,
        }
    }

    /// The compression that the suffix of a name promises.
    pub fn of_name(name: &Path) -> Compression {
        let suffix = name.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
        match suffix.to_ascii_lowercase().as_str() {
            "gz" | "tgz" => Compression::Gzip,
            "zst" | "zstd" | "tzst" => Compression::Zstd,
            "bz2" | "tbz2" | "tbz" => Compression::Bzip2,
            "xz" | "txz" => Compression::Xz,
            _ => Compression::None,
        }
    }

    fn format(self) -> Format {
        match self {
            Compression::None => Format::Lines,
            Compression::Gzip => Format::Gzip,
            Compression::Zstd => Format::Zstd,
            Compression::Bzip2 => Format::Bzip2,
            Compression::Xz => Format::Xz,
        }
    }
}

/// Open a file as a stream of its content.
///
/// The first bytes decide how it is compressed. A name that promises a compression which they do not show is an error.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>, RecordError> {
    let promised = Compression::of_name(path);
    let (shown, reader) = detect(BufReader::with_capacity(BUFFER, File::open(path)?))?;
    if shown == Compression::None && promised != Compression::None {
        let detail = "the first bytes are those of another format, though the name has its suffix";
        return Err(RecordError::damaged(promised.format(), 0, detail));
    }
    decompress(reader, shown)
}

/// A stream whose first bytes were read.
pub type Peeked<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// The compression that the first bytes of a stream show, and the stream with these bytes.
pub fn detect<R: BufRead>(mut reader: R) -> Result<(Compression, Peeked<R>), RecordError> {
    let mut first = Vec::with_capacity(MAGIC);
    while first.len() < MAGIC {
        let bytes = fill(&mut reader)?;
        if bytes.is_empty() {
            break;
        }
        let count = bytes.len().min(MAGIC - first.len());
        first.extend_from_slice(&bytes[..count]);
        reader.consume(count);
    }
    Ok((Compression::of_bytes(&first), Cursor::new(first).chain(reader)))
}

/// The content of a compressed stream.
///
/// Errors of the returned reader contain a [`RecordError`].
pub fn decompress<'a, R: BufRead + Send + 'a>(
    reader: R,
    compression: Compression,
) -> Result<Box<dyn BufRead + Send + 'a>, RecordError> {
    let decoder: Box<dyn Read + Send + 'a> = match compression {
        Compression::None => return Ok(Box::new(reader)),
        Compression::Gzip => Box::new(MultiGzDecoder::new(reader)),
        Compression::Zstd => Box::new(Zstd::new(reader)),
        Compression::Bzip2 => {
            let detail = "this format is not supported; decompress it with bunzip2, or compress it with zstd";
            return Err(RecordError::refused(Format::Bzip2, 0, detail));
        }
        #[cfg(feature = "xz")]
        Compression::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(reader, true, XZ_MEMORY)),
        #[cfg(not(feature = "xz"))]
        Compression::Xz => {
            let detail =
                "this build lacks the feature `xz`; decompress it with unxz, or compress it with zstd";
            return Err(RecordError::refused(Format::Xz, 0, detail));
        }
    };
    let content = Content { decoder, format: compression.format(), length: 0, failure: None };
    Ok(Box::new(BufReader::with_capacity(BUFFER, content)))
}

/// A decoder whose errors say what is wrong, and where.
struct Content<'a> {
    decoder: Box<dyn Read + Send + 'a>,
    format: Format,
    /// The number of bytes so far.
    length: u64,
    /// What a failed decoder failed with: it is not asked again.
    failure: Option<(io::ErrorKind, String)>,
}

impl Read for Content<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some((kind, text)) = &self.failure {
            return Err(io::Error::new(*kind, text.clone()));
        }
        match self.decoder.read(buffer) {
            Ok(count) => {
                self.length += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let error = self.explain(error);
                self.failure = Some((error.kind(), error.to_string()));
                Err(error.into())
            }
        }
    }
}

impl Content<'_> {
    /// Tell errors of the decoder from those of the file.
    fn explain(&self, error: io::Error) -> RecordError {
        let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(inner) = cause {
            match inner.downcast_ref::<io::Error>() {
                Some(inner) if inner.raw_os_error().is_some() => return RecordError::Io(error),
                Some(inner) if inner.kind() == io::ErrorKind::UnexpectedEof => {
                    let detail = "the compressed data are cut off; are they complete?";
                    return RecordError::truncated(self.format, self.length, detail);
                }
                _ => cause = inner.source(),
            }
        }
        RecordError::damaged(self.format, self.length, error.to_string())
    }
}

/// The frames of a zstd file. Their checksums are verified, which the decoder leaves to its user.
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    is_in_frame: bool,
}

impl<R: BufRead> Zstd<R> {
    fn new(source: R) -> Zstd<R> {
        Zstd { source, decoder: FrameDecoder::new(), is_in_frame: false }
    }

    /// Begin the next frame; false at the end.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => {
                    self.is_in_frame = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(false)
    }

    fn end(&mut self) -> io::Result<()> {
        self.is_in_frame = false;
        let stored = self.decoder.get_checksum_from_data();
        if stored.is_some() && stored != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the checksum of a frame is wrong"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if !self.is_in_frame && !self.begin()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let blocks = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, blocks).map_err(io::Error::other)?;
            }
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            self.end()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        compress_to_vec(bytes, CompressionLevel::Fastest)
    }

    fn content(bytes: &[u8]) -> Result<Vec<u8>, RecordError> {
        let (compression, reader) = detect(BufReader::with_capacity(3, bytes))?;
        let mut content = Vec::new();
        decompress(reader, compression)?.read_to_end(&mut content)?;
        Ok(content)
    }

    fn fails(bytes: &[u8]) -> String {
        content(bytes).unwrap_err().to_string()
    }

    fn text() -> Vec<u8> {
        (0..40_000u32).flat_map(|number| (number % 1000).to_string().into_bytes()).collect()
    }

    #[test]
    fn several_parts_are_one_stream() {
        let text = text();
        for compress in [gzip, zstd] {
            assert_eq!(content(&compress(&text)).unwrap(), text);
            let parts = [compress(b"one"), compress(b""), compress(b"two")].concat();
            assert_eq!(content(&parts).unwrap(), b"onetwo");
        }
        let skipped = [&[0x51, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(b"one")].concat();
        assert_eq!(content(&skipped).unwrap(), b"one");
        assert_eq!(content(b"plain").unwrap(), b"plain");
        assert_eq!(content(b"").unwrap(), b"");
    }

    #[test]
    fn faults_are_named() {
        let text = text();
        for (name, compress) in [("gzip", gzip as fn(&[u8]) -> Vec<u8>), ("zstd", zstd)] {
            let whole = compress(&text);
            let cut = fails(&whole[..whole.len() / 2]);
            assert!(cut.starts_with(&format!("the {name} data end at byte ")), "{cut}");
            assert!(cut.ends_with("the compressed data are cut off; are they complete?"), "{cut}");
            let mut damaged = whole;
            let length = damaged.len();
            damaged[length - 2] ^= 1;
            let text = fails(&damaged);
            assert!(text.starts_with(&format!("the {name} data are damaged at byte ")), "{text}");
            assert!(text.contains("checksum") || text.contains("gzip"), "{text}");
        }
        assert_eq!(
            fails(b"BZh91AY&SY"),
            "cannot read bzip2 data: this format is not supported; decompress it with bunzip2, or compress it with zstd"
        );
        #[cfg(not(feature = "xz"))]
        assert!(fails(b"\xfd7zXZ\0").starts_with("cannot read xz data: this build lacks the feature `xz`"));
        let skipped = [0x51, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1];
        assert!(fails(&skipped).starts_with("the zstd data end at byte 0"));
    }

    #[test]
    fn frames_of_another_program_are_read() {
        // Written by `zstd -19 --check`.
        let whole: &[u8] = &[
            0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x68, 0x55, 0x01, 0x00, 0x92, 0x42, 0x08, 0x0c, 0xc0, 0x3d, 0x24,
            0x87, 0x60, 0x8a, 0xff, 0xaf, 0xcc, 0xf1, 0x25, 0x04, 0x70, 0x68, 0xbc, 0xd4, 0x79, 0x2a, 0xfe,
            0xda, 0x59, 0x8a, 0x1f, 0x34, 0x47, 0x3e, 0xe3, 0x5d, 0xf1, 0x34, 0x47, 0x0e, 0x01, 0x00, 0xc1,
            0x2c, 0x55, 0x65, 0x8c, 0x4a, 0xa6, 0xf3,
        ];
        let text = b"to be or not to be, that is the question\n".repeat(4);
        assert_eq!(content(whole).unwrap(), text);
        for end in 5..whole.len() {
            assert!(fails(&whole[..end]).starts_with("the zstd data end at byte "), "{end}");
        }
        let mut damaged = whole.to_vec();
        damaged[whole.len() - 1] ^= 1;
        assert_eq!(
            fails(&damaged),
            "the zstd data are damaged at byte 164: the checksum of a frame is wrong"
        );
    }

    #[test]
    fn a_failed_reader_fails_again() {
        let whole = gzip(&text());
        let mut reader = decompress(&whole[..1000], Compression::Gzip).unwrap();
        let first = io::copy(&mut reader, &mut io::sink()).unwrap_err();
        let second = io::copy(&mut reader, &mut io::sink()).unwrap_err();
        assert_eq!((first.kind(), first.to_string()), (second.kind(), second.to_string()));
        assert!(matches!(RecordError::from(first), RecordError::Truncated { format: Format::Gzip, .. }));
    }

    #[test]
    fn files_are_opened_by_their_first_bytes() {
        let folder = std::env::temp_dir().join(format!("umber-compression-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let read = |path: &Path| -> Result<String, RecordError> { Ok(io::read_to_string(open(path)?)?) };
        assert_eq!(read(&write("a.txt", &gzip(b"one"))).unwrap(), "one");
        assert_eq!(read(&write("a.txt.ZST", &zstd(b"two"))).unwrap(), "two");
        assert_eq!(read(&write("b.txt", b"three")).unwrap(), "three");
        let error = read(&write("b.gz", b"three")).unwrap_err();
        assert!(error.to_string().starts_with("the gzip data are damaged at byte 0: the first bytes"));
        let missing = read(&folder.join("missing")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(feature = "xz")]
    #[test]
    fn xz_files_are_read() {
        // Written by `printf 'one\n' | xz`.
        let whole: &[u8] = &[
            0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21, 0x01,
            0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0x01, 0x00, 0x03, 0x6f, 0x6e, 0x65, 0x0a, 0x00,
            0xf5, 0x5c, 0xbb, 0x56, 0x1f, 0xc6, 0xfd, 0x86, 0x00, 0x01, 0x1c, 0x04, 0x6f, 0x2c, 0x9c, 0xc1,
            0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
        ];
        assert_eq!(content(whole).unwrap(), b"one\n");
        assert_eq!(content(&[whole, whole].concat()).unwrap(), b"one\none\n");
        for end in 6..whole.len() {
            let text = fails(&whole[..end]);
            assert!(text.starts_with("the xz data end at byte "), "{end}: {text}");
        }
        for at in 6..whole.len() {
            let mut damaged = whole.to_vec();
            damaged[at] ^= 0x10;
            assert!(content(&damaged).is_err(), "{at}");
        }
    }

    proptest! {
        #[test]
        fn damaged_data_are_read_or_refused(
            change in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            end in any::<prop::sample::Index>(),
            frames in 1usize..3,
            which in any::<bool>(),
        ) {
            let text = b"to be or not to be, that is the question".repeat(8);
            let mut bytes = if which { gzip(&text) } else { zstd(&text) }.repeat(frames);
            let change = change.index(bytes.len());
            bytes[change] = byte;
            bytes.truncate(end.index(bytes.len()) + 1);
            let _ = content(&bytes);
        }
    }
}
