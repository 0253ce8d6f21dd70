//! The format of a file by its first bytes.

use super::SoundError;

/// A format that can be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Format {
    Wav,
    /// FLAC, and where its signature is: behind a tag of ID3, if there is one.
    Flac(usize),
}

impl Format {
    /// Recognise a format; others are refused by name.
    pub(super) fn of(bytes: &[u8]) -> Result<Format, SoundError> {
        let kind = bytes.get(8..12).unwrap_or_default();
        let name = match bytes {
            [b'R', b'I', b'F', b'F', ..] if matches!(kind, b"WAVE" | []) => return Ok(Format::Wav),
            [b'R', b'F', b'6', b'4', ..] | [b'B', b'W', b'6', b'4', ..] => return Ok(Format::Wav),
            [b'f', b'L', b'a', b'C', ..] => return Ok(Format::Flac(0)),
            [b'I', b'D', b'3', ..] => {
                let end = id3_length(bytes);
                if bytes.get(end..).is_some_and(|rest| rest.starts_with(b"fLaC")) {
                    return Ok(Format::Flac(end));
                }
                "MP3"
            }
            [b'O', b'g', b'g', b'S', ..] => ogg_codec(bytes),
            [b'R', b'I', b'F', b'X', ..] => "WAV in big-endian order (RIFX)",
            [b'F', b'O', b'R', b'M', ..] if matches!(kind, b"AIFF" | b"AIFC") => "AIFF",
            [b'.', b's', b'n', b'd', ..] => "AU",
            [b'c', b'a', b'f', b'f', ..] => "CAF",
            [b'w', b'v', b'p', b'k', ..] => "WavPack",
            [b'r', b'i', b'f', b'f', ..] => "Wave64",
            [0x1a, 0x45, 0xdf, 0xa3, ..] => "Matroska or WebM sound",
            [_, _, _, _, b'f', b't', b'y', b'p', ..] => "MP4 sound (AAC or ALAC)",
            // A frame of MPEG starts with eleven ones, two bits of the version and two of the layer: 01 for layer 3, 00 for AAC.
            [0xff, second, ..] if second & 0xf6 == 0xf0 => "AAC",
            [0xff, second, ..] if second & 0xe6 == 0xe2 => "MP3",
            _ => return Err(SoundError::Unknown),
        };
        Err(SoundError::unsupported(name))
    }
}

/// The length of a tag of ID3v2: four bytes of seven bits, and the header of ten.
fn id3_length(bytes: &[u8]) -> usize {
    let size = bytes.get(6..10).unwrap_or_default();
    10 + size.iter().fold(0, |sum, byte| sum << 7 | usize::from(byte & 0x7f))
}

/// The codec in the first packet of an Ogg stream, which follows the table of segments.
fn ogg_codec(bytes: &[u8]) -> &'static str {
    let segments = usize::from(bytes.get(26).copied().unwrap_or_default());
    let packet = bytes.get(27 + segments..).unwrap_or_default();
    match packet {
        [b'O', b'p', b'u', b's', ..] => "Opus",
        [1, b'v', b'o', b'r', b'b', b'i', b's', ..] => "Vorbis",
        [0x7f, b'F', b'L', b'A', b'C', ..] => "FLAC in an Ogg container",
        [b'S', b'p', b'e', b'e', b'x', ..] => "Speex",
        _ => "Ogg sound",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_that_are_not_read_are_named() {
        let ogg = |packet: &[u8]| [b"OggS".as_slice(), &[0; 22], &[1, 30], packet].concat();
        let cases: [(Vec<u8>, &str); 14] = [
            (b"ID3\x04\0\0\0\0\0\x02xx\xff\xfb".to_vec(), "MP3"),
            (b"\xff\xfb\x90\x64".to_vec(), "MP3"),
            (b"\xff\xf1\x50\x80".to_vec(), "AAC"),
            (ogg(b"OpusHead"), "Opus"),
            (ogg(b"\x01vorbis"), "Vorbis"),
            (ogg(b"\x7fFLAC"), "FLAC in an Ogg container"),
            (b"\0\0\0\x20ftypM4A ".to_vec(), "MP4 sound (AAC or ALAC)"),
            (b"FORM\0\0\0\0AIFF".to_vec(), "AIFF"),
            (b".snd\0\0\0\x18".to_vec(), "AU"),
            (b"caff\0\x01".to_vec(), "CAF"),
            (b"wvpk\0\0".to_vec(), "WavPack"),
            (b"riff\x2e\x91".to_vec(), "Wave64"),
            (b"RIFX\0\0\0\0WAVE".to_vec(), "WAV in big-endian order (RIFX)"),
            (b"\x1a\x45\xdf\xa3".to_vec(), "Matroska or WebM sound"),
        ];
        for (bytes, name) in cases {
            assert_eq!(Format::of(&bytes), Err(SoundError::unsupported(name)), "{bytes:?}");
        }
    }

    #[test]
    fn other_bytes_are_unknown() {
        for bytes in [
            b"".as_slice(),
            b"R",
            b"RIFF\0\0\0\0AVI ",
            b"\x89PNG",
            b"\0\0\0\0",
            b"\xff\xd8\xff\xe0",
            b"\xff\xfeR\0",
        ] {
            assert_eq!(Format::of(bytes), Err(SoundError::Unknown), "{bytes:?}");
        }
    }

    #[test]
    fn flac_may_follow_a_tag() {
        assert_eq!(Format::of(b"ID3\x04\0\0\0\0\0\x02xxfLaC"), Ok(Format::Flac(12)));
    }
}
