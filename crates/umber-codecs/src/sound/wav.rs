//! WAV: chunks behind the signature RIFF, RF64 or BW64.
//!
//! Sources: Microsoft, "Multimedia Programming Interface and Data Specifications 1.0" and `WAVEFORMATEXTENSIBLE`; ITU-R BS.2088
//! (RF64 and BW64); ITU-T G.711 (A-law and µ-law).

use super::{SoundError, SoundInfo};

/// How samples are stored, always in little-endian order. Integers narrower than their bytes are left-justified in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    /// Integers of 1 to 4 bytes; those of one byte are unsigned.
    Integer(usize),
    Float32,
    Float64,
    ALaw,
    MuLaw,
}

impl Encoding {
    fn bytes(self) -> usize {
        match self {
            Encoding::Integer(bytes) => bytes,
            Encoding::Float32 => 4,
            Encoding::Float64 => 8,
            Encoding::ALaw | Encoding::MuLaw => 1,
        }
    }
}

/// The chunk `fmt `.
#[derive(Clone, Copy)]
struct Description {
    encoding: Encoding,
    channels: u16,
    rate: u32,
}

/// A file whose header has been read.
pub(super) struct File<'a> {
    description: Description,
    /// Whole frames.
    data: &'a [u8],
}

/// The size in headers of streams, and in those whose sizes are in the chunk `ds64`.
const UNKNOWN_SIZE: u32 = u32::MAX;
/// The GUIDs of known encodings differ in their first two bytes only, which are the tags of plain formats.
const GUID_TAIL: [u8; 14] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];
const EXTENSIBLE: u16 = 0xfffe;

impl<'a> File<'a> {
    /// Read the chunks up to the data.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<File<'a>, SoundError> {
        if bytes.get(8..12) != Some(b"WAVE") {
            return Err(damaged("the form WAVE is missing"));
        }
        let (mut description, mut long_size) = (None, None);
        let mut rest = &bytes[12..];
        loop {
            let Some((header, body)) = rest.split_first_chunk::<8>() else {
                let missing = if description.is_some() { "data" } else { "fmt" };
                return Err(damaged(format!("it has no chunk '{missing}'")));
            };
            let size = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
            let content = &body[..body.len().min(size as usize)];
            match &header[..4] {
                b"fmt " => description = Some(Description::parse(content)?),
                b"ds64" => {
                    let Some(field) = content.get(8..16) else {
                        return Err(damaged("its chunk 'ds64' is too short"));
                    };
                    long_size = field.try_into().map(u64::from_le_bytes).ok();
                }
                b"data" => {
                    let Some(description) = description else {
                        return Err(damaged("its data come before its format"));
                    };
                    let size = match long_size {
                        Some(long) if size == UNKNOWN_SIZE => usize::try_from(long).unwrap_or(usize::MAX),
                        _ => size as usize,
                    };
                    let data = &body[..body.len().min(size)];
                    let whole = data.len() - data.len() % description.frame_bytes();
                    return Ok(File { description, data: &data[..whole] });
                }
                _ => {}
            }
            // A chunk of odd size is followed by a byte that its size does not count.
            rest = body.get(size as usize + (size as usize & 1)..).unwrap_or_default();
        }
    }

    pub(super) fn info(&self) -> SoundInfo {
        SoundInfo {
            frames: (self.data.len() / self.description.frame_bytes()) as u64,
            channels: self.description.channels.into(),
            rate: self.description.rate,
        }
    }

    /// Decode all samples to `out`, which has their number.
    pub(super) fn decode(&self, out: &mut [f32]) {
        const SCALE_16: f32 = 1.0 / 32768.0;
        const SCALE_32: f32 = 1.0 / 2147483648.0;
        let data = self.data;
        match self.description.encoding {
            Encoding::Integer(1) => convert(data, out, |[byte]: [u8; 1]| (f32::from(byte) - 128.0) / 128.0),
            Encoding::Integer(2) => {
                convert(data, out, |bytes| f32::from(i16::from_le_bytes(bytes)) * SCALE_16);
            }
            Encoding::Integer(3) => {
                convert(data, out, |[a, b, c]| i32::from_le_bytes([0, a, b, c]) as f32 * SCALE_32);
            }
            Encoding::Integer(_) => convert(data, out, |bytes| i32::from_le_bytes(bytes) as f32 * SCALE_32),
            Encoding::Float32 => convert(data, out, f32::from_le_bytes),
            Encoding::Float64 => convert(data, out, |bytes| f64::from_le_bytes(bytes) as f32),
            Encoding::ALaw => convert(data, out, |[byte]: [u8; 1]| A_LAW[usize::from(byte)]),
            Encoding::MuLaw => convert(data, out, |[byte]: [u8; 1]| MU_LAW[usize::from(byte)]),
        }
    }
}

impl Description {
    fn parse(chunk: &[u8]) -> Result<Description, SoundError> {
        let field = |at: usize| chunk.get(at..at + 2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
        let (Some(mut tag), Some(channels), Some(low), Some(high), Some(frame_bytes), Some(bits)) =
            (field(0), field(2), field(4), field(6), field(12), field(14))
        else {
            return Err(damaged("its chunk 'fmt ' is too short"));
        };
        let rate = u32::from(high) << 16 | u32::from(low);
        if tag == EXTENSIBLE {
            tag = match (field(24), chunk.get(26..40)) {
                (Some(tag), Some(tail)) if tail == GUID_TAIL => tag,
                (Some(_), Some(_)) => return Err(SoundError::unsupported("WAV with an unknown sub-format")),
                _ => return Err(damaged("its extended format is too short")),
            };
        }
        if channels == 0 || rate == 0 {
            return Err(damaged(format!("it has {channels} channels at {rate} Hz")));
        }
        let bytes = usize::from(frame_bytes) / usize::from(channels);
        let encoding = match (tag, bits, bytes) {
            (1, 1..=32, 1..=4) if usize::from(bits) <= 8 * bytes => Encoding::Integer(bytes),
            (3, 32, 4) => Encoding::Float32,
            (3, 64, 8) => Encoding::Float64,
            (6, 8, 1) => Encoding::ALaw,
            (7, 8, 1) => Encoding::MuLaw,
            (1 | 3 | 6 | 7, ..) => {
                return Err(damaged(format!(
                    "its format {tag} has {bits} bits a sample and {frame_bytes} bytes a frame of {channels} channels"
                )));
            }
            _ => return Err(SoundError::unsupported(format!("WAV with {}", encoding_name(tag)))),
        };
        if usize::from(frame_bytes) != encoding.bytes() * usize::from(channels) {
            return Err(damaged(format!(
                "its frames of {frame_bytes} bytes do not hold {channels} channels"
            )));
        }
        Ok(Description { encoding, channels, rate })
    }

    fn frame_bytes(&self) -> usize {
        self.encoding.bytes() * usize::from(self.channels)
    }
}

fn damaged(detail: impl Into<String>) -> SoundError {
    SoundError::Damaged { format: "WAV", detail: detail.into() }
}

/// The name of an encoding that is not read.
fn encoding_name(tag: u16) -> String {
    match tag {
        2 => "Microsoft ADPCM".into(),
        0x11 => "IMA ADPCM".into(),
        0x31 => "GSM 6.10".into(),
        0x40 | 0x45 | 0x64 | 0x65 => "G.72x ADPCM".into(),
        0x50 => "MPEG layer 1 or 2".into(),
        0x55 => "MP3".into(),
        0xff | 0x1600 => "AAC".into(),
        0x160..=0x163 => "Windows Media Audio".into(),
        0x674f..=0x6771 => "Vorbis".into(),
        0xf1ac => "FLAC".into(),
        _ => format!("the unknown encoding {tag:#06x}"),
    }
}

/// One pass over samples of `N` bytes, which compilers vectorise.
fn convert<const N: usize>(data: &[u8], out: &mut [f32], sample: impl Fn([u8; N]) -> f32) {
    let (chunks, _) = data.as_chunks::<N>();
    for (value, bytes) in out.iter_mut().zip(chunks) {
        *value = sample(*bytes);
    }
}

/// The two codes of G.711.
#[derive(Clone, Copy)]
enum Law {
    A,
    Mu,
}

const A_LAW: [f32; 256] = table(Law::A);
const MU_LAW: [f32; 256] = table(Law::Mu);

/// The values of all codes: a sign, an exponent of three bits and a mantissa of four.
const fn table(law: Law) -> [f32; 256] {
    let mut values = [0.0; 256];
    let mut code = 0;
    while code < 256 {
        // A-law stores every second bit inverted, and a sign bit of 1 means positive; µ-law inverts all bits.
        let (bits, sign_when_negative) = match law {
            Law::A => (code ^ 0x55, 0),
            Law::Mu => (code ^ 0xff, 0x80),
        };
        let (exponent, mantissa) = (bits >> 4 & 7, (bits & 15) as i32);
        let magnitude = match (law, exponent) {
            (Law::A, 0) => (mantissa << 4) + 8,
            (Law::A, _) => ((mantissa << 4) + 0x108) << (exponent - 1),
            (Law::Mu, _) => (((mantissa << 3) + 0x84) << exponent) - 0x84,
        };
        let sign = if bits & 0x80 == sign_when_negative { -1 } else { 1 };
        values[code] = (sign * magnitude) as f32 / 32768.0;
        code += 1;
    }
    values
}
