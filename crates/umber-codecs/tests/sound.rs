//! Sound files of other programs are read as they are; damaged ones give errors, never crashes.

use std::path::PathBuf;

use proptest::prelude::*;
use umber_codecs::sound::{Quality, Sound, SoundError, SoundInfo, SoundOptions, decode, decode_into, info};

const LOSSLESS: [&str; 12] = [
    "u8.wav",
    "s16.wav",
    "s24.wav",
    "s32.wav",
    "f32.wav",
    "f64.wav",
    "extensible.wav",
    "rf64.wav",
    "list.wav",
    "s8.flac",
    "s16.flac",
    "s24.flac",
];
const COMPARED: [&str; 4] = ["alaw.wav", "mulaw.wav", "smooth16.flac", "smooth24.flac"];

fn file(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sound");
    std::fs::read(folder.join(name)).expect("the fixtures are in the repository")
}

fn read(bytes: &[u8]) -> Result<Sound, SoundError> {
    decode(bytes, &SoundOptions::default())
}

/// The samples of all lossless files, by the formula of `make.py`.
fn exact() -> Vec<f32> {
    let samples = (0..50).flat_map(|frame| [0, 101].map(|offset| (frame * 37 + offset) % 256 - 128));
    samples.map(|sample: i32| sample as f32 / 128.0).collect()
}

/// A WAV file with these fields and data.
fn wav(tag: u16, channels: u16, rate: u32, frame_bytes: u16, bits: u16, data: &[u8]) -> Vec<u8> {
    let mut file = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0".to_vec();
    file.extend(tag.to_le_bytes());
    file.extend(channels.to_le_bytes());
    file.extend(rate.to_le_bytes());
    file.extend((rate.wrapping_mul(frame_bytes.into())).to_le_bytes());
    file.extend(frame_bytes.to_le_bytes());
    file.extend(bits.to_le_bytes());
    file.extend(b"data");
    file.extend((data.len() as u32).to_le_bytes());
    file.extend(data);
    file
}

#[test]
fn lossless_files_have_the_samples_that_were_written() {
    for name in LOSSLESS {
        let bytes = file(name);
        let sound = read(&bytes).unwrap();
        assert_eq!((sound.frames, sound.channels, sound.rate), (50, 2, 8000), "{name}");
        assert_eq!(sound.samples, exact(), "{name}");
        assert_eq!(info(&bytes), Ok(SoundInfo { frames: 50, channels: 2, rate: 8000 }), "{name}");
    }
}

#[test]
fn other_files_have_the_samples_that_libsndfile_reads() {
    for name in COMPARED {
        let expected = file(&format!("{}.f32", name.split('.').next().unwrap()));
        let (expected, _) = expected.as_chunks::<4>();
        let expected: Vec<f32> = expected.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        assert_eq!(read(&file(name)).unwrap().samples, expected, "{name}");
    }
}

#[test]
fn integers_are_left_justified_in_their_bytes() {
    // 12 bits in two bytes and 20 bits in three, with the low bits that encoders leave zero.
    assert_eq!(read(&wav(1, 1, 8000, 2, 12, &[0, 64, 0xf0, 0xff])).unwrap().samples, [0.5, -1.0 / 2048.0]);
    assert_eq!(read(&wav(1, 1, 8000, 3, 20, &[0, 0, 0xc0])).unwrap().samples, [-0.5]);
    assert_eq!(read(&wav(1, 1, 8000, 4, 24, &[0, 0, 0, 0x40])).unwrap().samples, [0.5]);
}

#[test]
fn floating_point_samples_may_exceed_one() {
    let data: Vec<u8> = [1.5f64, f64::NAN].iter().flat_map(|value| value.to_le_bytes()).collect();
    let samples = read(&wav(3, 2, 8000, 16, 64, &data)).unwrap().samples;
    assert_eq!(samples[0], 1.5);
    assert!(samples[1].is_nan());
}

#[test]
fn a_truncated_wav_file_gives_whole_frames_that_are_there() {
    let bytes = file("s16.wav");
    let start = bytes.len() - 200;
    for kept in [0, 3, 4, 101] {
        let sound = read(&bytes[..start + kept]).unwrap();
        assert_eq!(sound.samples, exact()[..kept / 4 * 2]);
        assert_eq!(info(&bytes[..start + kept]).unwrap().frames, kept as u64 / 4);
    }
}

#[test]
fn a_stream_without_a_size_is_read_to_its_end() {
    let mut bytes = wav(1, 1, 8000, 2, 16, &[0, 64, 0, 32]);
    bytes[40..44].fill(0xff);
    assert_eq!(read(&bytes).unwrap().samples, [0.5, 0.25]);
}

#[test]
fn empty_sounds_have_no_frames() {
    let sound = read(&wav(1, 3, 8000, 6, 16, &[])).unwrap();
    assert_eq!((sound.frames, sound.channels), (0, 3));
}

#[test]
fn broken_headers_are_errors() {
    let good = wav(1, 1, 8000, 2, 16, &[0, 0]);
    let mut without_format = b"RIFF\0\0\0\0WAVE".to_vec();
    without_format.extend(&good[36..]);
    let cases = [
        (good[..12].to_vec(), "it has no chunk 'fmt'"),
        (good[..36].to_vec(), "it has no chunk 'data'"),
        (good[..30].to_vec(), "its chunk 'fmt ' is too short"),
        (without_format, "its data come before its format"),
        (wav(1, 0, 8000, 0, 16, &[]), "it has 0 channels at 8000 Hz"),
        (wav(1, 1, 0, 2, 16, &[]), "it has 1 channels at 0 Hz"),
        (wav(1, 1, 8000, 0, 16, &[]), "its format 1 has 16 bits a sample and 0 bytes a frame of 1 channels"),
        (wav(1, 1, 8000, 1, 16, &[]), "its format 1 has 16 bits a sample and 1 bytes a frame of 1 channels"),
        (wav(1, 1, 8000, 8, 64, &[]), "its format 1 has 64 bits a sample and 8 bytes a frame of 1 channels"),
        (wav(3, 1, 8000, 2, 16, &[]), "its format 3 has 16 bits a sample and 2 bytes a frame of 1 channels"),
        (wav(1, 2, 8000, 5, 16, &[]), "its frames of 5 bytes do not hold 2 channels"),
        (wav(0xfffe, 1, 8000, 2, 16, &[]), "its extended format is too short"),
        (b"RIFF\0\0".to_vec(), "the form WAVE is missing"),
    ];
    for (bytes, detail) in cases {
        let error = read(&bytes).unwrap_err();
        assert_eq!(error, SoundError::Damaged { format: "WAV", detail: detail.into() });
        assert_eq!(info(&bytes), Err(error));
    }
}

#[test]
fn encodings_that_are_not_read_are_named() {
    for (bytes, name) in [
        (file("ms_adpcm.wav"), "WAV with Microsoft ADPCM"),
        (file("ima_adpcm.wav"), "WAV with IMA ADPCM"),
        (wav(0x55, 2, 44100, 1, 0, &[]), "WAV with MP3"),
        (wav(0x1234, 1, 8000, 1, 8, &[]), "WAV with the unknown encoding 0x1234"),
    ] {
        assert_eq!(read(&bytes), Err(SoundError::Unsupported { format: name.into() }));
    }
    let text = read(&file("ms_adpcm.wav")).unwrap_err().to_string();
    assert!(text.starts_with("WAV with Microsoft ADPCM is not supported; convert it"), "{text}");
}

#[test]
fn a_truncated_or_damaged_flac_file_is_an_error() {
    let bytes = file("smooth16.flac");
    for kept in [4, 20, 42, 60, bytes.len() - 1] {
        assert!(matches!(read(&bytes[..kept]), Err(SoundError::Truncated { .. })), "{kept}");
    }
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let detail = "frame CRC mismatch after 1152 frames".into();
    assert_eq!(read(&damaged), Err(SoundError::Damaged { format: "FLAC", detail }));
}

/// Overwrite the number of frames in STREAMINFO.
fn with_frames(mut bytes: Vec<u8>, frames: u32) -> Vec<u8> {
    bytes[21] &= 0xf0;
    bytes[22..26].copy_from_slice(&frames.to_be_bytes());
    bytes
}

#[test]
fn flac_files_of_unknown_length_are_read_to_their_end() {
    let bytes = with_frames(file("smooth16.flac"), 0);
    assert_eq!(read(&bytes), read(&file("smooth16.flac")));
    assert_eq!(info(&bytes).unwrap().frames, 1500);
    // Bytes behind the last frame, such as a tag of ID3v1, are not looked at.
    let tagged = [file("smooth16.flac"), b"TAG".to_vec()].concat();
    assert_eq!(read(&tagged).unwrap().frames, 1500);
}

#[test]
fn a_flac_file_may_follow_a_tag_and_have_odd_comments() {
    let tagged = [b"ID3\x04\0\0\0\0\0\x02xx".to_vec(), file("s16.flac")].concat();
    assert_eq!(read(&tagged).unwrap().samples, exact());
    // A block of comments whose lengths are nonsense, between the header and the rest.
    let mut bytes = file("s16.flac");
    bytes.splice(42..42, [&[4, 0, 0, 9][..], &[0xff; 9]].concat());
    assert_eq!(read(&bytes).unwrap().samples, exact());
}

/// The remainder of bytes by a polynomial of `bits` bits, as FLAC has them in its frames.
fn checksum(bytes: &[u8], bits: u32, polynomial: u32) -> u32 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(sum ^ (u32::from(*byte) << (bits - 8)), |sum, _| {
            let carry = sum >> (bits - 1) & 1;
            ((sum << 1) ^ (carry * polynomial)) & ((1 << bits) - 1)
        })
    })
}

/// A FLAC file of 16 equal samples: the code of their width, the width, the sample left-justified in bytes.
fn constant_flac(code: u8, bits: u64, sample: &[u8]) -> Vec<u8> {
    let mut file = b"fLaC\x80\0\0\x22\0\x10\0\x10\0\0\0\0\0\0".to_vec();
    file.extend((8000 << 44 | (bits - 1) << 36 | 16u64).to_be_bytes());
    file.extend([0; 16]);
    let start = file.len();
    // A block whose size, less one, follows in a byte; the rate of the header; one channel.
    file.extend([0xff, 0xf8, 0x60, code << 1, 0, 15]);
    file.push(checksum(&file[start..], 8, 0x07) as u8);
    file.push(0);
    file.extend(sample);
    let sum = checksum(&file[start..], 16, 0x8005) as u16;
    file.extend(sum.to_be_bytes());
    file
}

#[test]
fn all_widths_of_flac_are_scaled() {
    for (code, bits, sample) in [
        (1, 8, &[0xc0][..]),
        (2, 12, &[0xc0, 0]),
        (4, 16, &[0xc0, 0]),
        (5, 20, &[0xc0, 0, 0]),
        (6, 24, &[0xc0, 0, 0]),
    ] {
        assert_eq!(read(&constant_flac(code, bits, sample)).unwrap().samples, [-0.5; 16], "{bits} bits");
    }
    // claxon reads the width in each block, where widths that it has no code for are missing.
    let format = "FLAC with header without bits per sample info".into();
    assert_eq!(read(&constant_flac(0, 16, &[0xc0, 0])), Err(SoundError::Unsupported { format }));
}

#[test]
fn flac_of_32_bits_is_refused() {
    let mut bytes = file("s24.flac");
    bytes[20] |= 1;
    bytes[21] |= 0xf0;
    assert_eq!(read(&bytes), Err(SoundError::Unsupported { format: "FLAC of 32 bits".into() }));
}

#[test]
fn limits_hold_before_memory_is_allocated() {
    let options = SoundOptions { max_bytes: 399, ..SoundOptions::default() };
    for name in ["s16.wav", "s16.flac"] {
        assert_eq!(
            decode(&file(name), &options),
            Err(SoundError::TooLarge { needed: 400, limit: 399 }),
            "{name}"
        );
        let enough = SoundOptions { max_bytes: 400, ..options };
        assert!(decode(&file(name), &enough).is_ok());
        // The limit is that of the result, too.
        let resampled = SoundOptions { rate: Some(16000), ..enough };
        let expected = Err(SoundError::TooLarge { needed: 800, limit: 400 });
        assert_eq!(decode(&file(name), &resampled), expected, "{name}");
    }
    // A header that claims more than the limit, and one that claims more than there is.
    let claim = with_frames(file("s16.flac"), u32::MAX);
    assert!(matches!(read(&claim), Err(SoundError::TooLarge { .. })));
    assert!(matches!(read(&with_frames(claim, 1 << 27)), Err(SoundError::Truncated { .. })));
    let unknown = with_frames(file("smooth16.flac"), 0);
    assert!(matches!(decode(&unknown, &options), Err(SoundError::TooLarge { .. })));
}

#[test]
fn decoding_into_a_slice_changes_the_samples_only() {
    for name in ["s16.wav", "s16.flac"] {
        let bytes = file(name);
        let mut row = vec![7.0; 104];
        let written = decode_into(&bytes, &SoundOptions::default(), &mut row).unwrap();
        assert_eq!(written, SoundInfo { frames: 50, channels: 2, rate: 8000 });
        assert_eq!(row, [exact(), vec![7.0; 4]].concat(), "{name}");
        let mut short = vec![7.0; 99];
        let error = decode_into(&bytes, &SoundOptions::default(), &mut short).unwrap_err();
        assert_eq!(error, SoundError::WrongSize { needed: 100, size: 99 });
        assert_eq!(short, [7.0; 99]);
    }
}

#[test]
fn a_rate_resamples() {
    let options =
        SoundOptions { rate: Some(4000), quality: Quality::ZeroOrderHold, ..SoundOptions::default() };
    let sound = decode(&file("s16.wav"), &options).unwrap();
    assert_eq!((sound.frames, sound.channels, sound.rate), (25, 2, 4000));
    let every_second: Vec<f32> = exact().chunks(4).flat_map(|frames| frames[..2].to_vec()).collect();
    assert_eq!(sound.samples, every_second);
    let mut row = vec![0.0; 50];
    assert_eq!(decode_into(&file("s16.wav"), &options, &mut row).unwrap().rate, 4000);
    assert_eq!(row, every_second);
}

fn any_file() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select([LOSSLESS.as_slice(), &COMPARED, &["ima_adpcm.wav"]].concat()).prop_map(file)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Bytes changed, a part removed, a part repeated: a result or an error, whose size the limit bounds.
    #[test]
    fn mutated_files_never_panic(
        mut bytes in any_file(),
        changes in prop::collection::vec((0.0..1.0, any::<u8>()), 0..6),
        in_header in any::<bool>(),
        cut in prop::option::of((0.0..1.0, 0.0..1.0)),
        rate in prop::option::of(1u32..100_000),
    ) {
        for (at, value) in changes {
            let reach = if in_header { bytes.len().min(64) } else { bytes.len() };
            let index = (at * reach as f64) as usize;
            bytes[index] = value;
        }
        if let Some((start, end)) = cut {
            let (start, end) = ((start * bytes.len() as f64) as usize, (end * bytes.len() as f64) as usize);
            if start < end { bytes.drain(start..end); } else { bytes.extend_from_within(end..start); }
        }
        let options = SoundOptions { rate, max_bytes: 1 << 22, quality: Quality::Linear };
        let described = info(&bytes);
        if let Ok(sound) = decode(&bytes, &options) {
            prop_assert_eq!(sound.samples.len(), sound.frames * sound.channels);
            prop_assert!(sound.samples.len() <= 1 << 20);
            prop_assert_eq!(described.map(|info| info.channels), Ok(sound.channels));
        }
    }

    #[test]
    fn any_bytes_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..300), signature in 0usize..4) {
        let signature = [b"RIFF....WAVE".as_slice(), b"RF64....WAVE", b"fLaC", b"ID3"][signature];
        bytes.splice(..0, signature.iter().copied());
        let _ = read(&bytes);
        let _ = info(&bytes);
    }
}
