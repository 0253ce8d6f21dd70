//! Sound: bytes to samples, samples to other rates and to features, all on plain memory.
//!
//! [`decode`] recognises a file by its signature. It reads WAV (`wav`) and FLAC (`flac`) and refuses other formats by their
//! names. Nothing here panics on any input, and no memory is allocated before its size was checked.
//!
//! ```
//! use umber_codecs::sound::{SoundOptions, decode, info};
//!
//! # let mut file = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x04\0\0\0".to_vec();
//! # file.extend([0, 64, 0, 192]);
//! let sound = decode(&file, &SoundOptions::default())?;
//! assert_eq!((sound.frames, sound.channels, sound.rate), (2, 1, 8000));
//! assert_eq!(sound.samples, [0.5, -0.5]);
//! assert_eq!(info(&file)?.frames, 2);
//! # Ok::<(), umber_codecs::sound::SoundError>(())
//! ```

mod error;
mod flac;
pub mod mel;
mod resample;
mod signature;
mod wav;

pub use error::SoundError;
pub use resample::{Quality, resample, resampled_frames};

use error::SoundError::{TooLarge, WrongSize};
use signature::Format;

/// A decoded sound.
#[derive(Clone, Debug, PartialEq)]
pub struct Sound {
    /// The number of frames: samples of one channel.
    pub frames: usize,
    /// The number of channels.
    pub channels: usize,
    /// Frames per second.
    pub rate: u32,
    /// Frames × channels, interleaved. Integers are scaled to [-1, 1]; floating-point samples are as in the file.
    pub samples: Vec<f32>,
}

/// What the header of a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoundInfo {
    /// The number of frames: samples of one channel.
    pub frames: u64,
    /// The number of channels.
    pub channels: usize,
    /// Frames per second.
    pub rate: u32,
}

impl SoundInfo {
    /// The number of samples of all channels.
    fn samples(&self) -> Option<u64> {
        self.frames.checked_mul(self.channels as u64)
    }

    /// The number of samples, if they fit the limit.
    fn samples_within(&self, options: &SoundOptions) -> Result<usize, SoundError> {
        let needed = self.samples().and_then(|samples| samples.checked_mul(size_of::<f32>() as u64));
        match needed {
            Some(bytes) if bytes <= options.max_bytes => Ok(bytes as usize / size_of::<f32>()),
            _ => Err(TooLarge { needed: needed.unwrap_or(u64::MAX), limit: options.max_bytes }),
        }
    }
}

/// How to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoundOptions {
    /// The rate to resample to; `None` keeps the rate of the file.
    pub rate: Option<u32>,
    /// How to resample.
    pub quality: Quality,
    /// The most bytes that the samples of a sound may occupy.
    pub max_bytes: u64,
}

impl Default for SoundOptions {
    fn default() -> SoundOptions {
        SoundOptions { rate: None, quality: Quality::SincFastest, max_bytes: 1 << 31 }
    }
}

/// Decode a WAV or FLAC file.
///
/// A WAV file whose data end early gives the frames that are there, as recorders that were interrupted leave such files. A FLAC
/// file that ends early is an error.
pub fn decode(bytes: &[u8], options: &SoundOptions) -> Result<Sound, SoundError> {
    let (info, samples) = match Format::of(bytes)? {
        Format::Wav => {
            let file = wav::File::parse(bytes)?;
            let info = file.info();
            let mut samples = zeros(info.samples_within(options)?)?;
            file.decode(&mut samples);
            (info, samples)
        }
        Format::Flac(start) => flac::File::parse(&bytes[start..])?.decode(options)?,
    };
    let (rate, samples) = match options.rate {
        Some(rate) if rate != info.rate => {
            resampled_info(&info, rate)?.samples_within(options)?;
            (rate, resample(&samples, info.channels, info.rate, rate, options.quality)?)
        }
        _ => (info.rate, samples),
    };
    Ok(Sound { frames: samples.len() / info.channels, channels: info.channels, rate, samples })
}

/// Decode a file to the start of a slice, for instance a row of a batch, and return what was written.
///
/// The slice must have space for frames × channels samples of the (resampled) sound; what lies behind them is not changed.
pub fn decode_into(bytes: &[u8], options: &SoundOptions, out: &mut [f32]) -> Result<SoundInfo, SoundError> {
    if options.rate.is_none()
        && let Format::Wav = Format::of(bytes)?
    {
        let file = wav::File::parse(bytes)?;
        let info = file.info();
        let samples = info.samples_within(options)?;
        let size = out.len();
        file.decode(out.get_mut(..samples).ok_or(WrongSize { needed: samples, size })?);
        return Ok(info);
    }
    // Blocks of FLAC and of the resampler do not end where the sound does, so they are decoded to memory of their own.
    let sound = decode(bytes, options)?;
    let (needed, size) = (sound.samples.len(), out.len());
    out.get_mut(..needed).ok_or(WrongSize { needed, size })?.copy_from_slice(&sound.samples);
    Ok(SoundInfo { frames: sound.frames as u64, channels: sound.channels, rate: sound.rate })
}

/// Read the header of a file.
///
/// The frames of a WAV file are those that `bytes` contain, of which there may be fewer than the header says. A FLAC file whose
/// header does not tell its length is decoded to count its frames.
pub fn info(bytes: &[u8]) -> Result<SoundInfo, SoundError> {
    match Format::of(bytes)? {
        Format::Wav => Ok(wav::File::parse(bytes)?.info()),
        Format::Flac(start) => flac::File::parse(&bytes[start..])?.info(),
    }
}

fn resampled_info(info: &SoundInfo, rate: u32) -> Result<SoundInfo, SoundError> {
    Ok(SoundInfo { frames: resampled_frames(info.frames, info.rate, rate)?, rate, ..*info })
}

/// Zeros, or an error where there is no memory for them.
fn zeros(length: usize) -> Result<Vec<f32>, SoundError> {
    let mut values = Vec::new();
    values.try_reserve_exact(length).map_err(|_| SoundError::Memory { bytes: length * size_of::<f32>() })?;
    values.resize(length, 0.0);
    Ok(values)
}
