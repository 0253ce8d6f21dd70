//! FLAC: our own reader of the metadata, and claxon for the frames.
//!
//! claxon reads comments, too, and refuses files whose comments it does not like, so it is given frames only. Source: RFC 9639.

use std::panic::{AssertUnwindSafe, catch_unwind};

use claxon::frame::FrameReader;
use claxon::input::BufferedReader;
use claxon::{Block, Error};

use super::{SoundError, SoundInfo, SoundOptions};

/// The most samples for which memory is reserved by the claim of a header alone, a byte of file.
const RESERVED_PER_BYTE: u64 = 4;

/// A file whose metadata have been read.
pub(super) struct File<'a> {
    /// The frames that the header says, 0 if unknown.
    frames: u64,
    channels: usize,
    rate: u32,
    bits: u32,
    /// What follows the metadata.
    audio: &'a [u8],
}

impl<'a> File<'a> {
    /// Read the blocks of metadata, of which only the first matters.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<File<'a>, SoundError> {
        let mut rest = bytes.strip_prefix(b"fLaC").ok_or_else(|| damaged("its signature is missing"))?;
        let mut first = None;
        loop {
            let Some((&[flags, a, b, c], body)) = rest.split_first_chunk::<4>() else {
                return Err(truncated("it ends in its metadata"));
            };
            let size = u32::from_be_bytes([0, a, b, c]) as usize;
            let Some((block, after)) = body.split_at_checked(size) else {
                return Err(truncated("it ends in its metadata"));
            };
            if first.is_none() {
                match (flags & 0x7f, block.first_chunk::<34>()) {
                    (0, Some(info)) => first = Some(info),
                    _ => return Err(damaged("its first block is not STREAMINFO")),
                }
            }
            rest = after;
            if flags & 0x80 != 0 {
                break;
            }
        }
        let info = first.ok_or_else(|| damaged("it has no block STREAMINFO"))?;
        // 20 bits of the rate, 3 of the channels less one, 5 of the bits less one, 36 of the frames.
        let packed = u64::from_be_bytes([
            info[10], info[11], info[12], info[13], info[14], info[15], info[16], info[17],
        ]);
        let file = File {
            frames: packed & 0xf_ffff_ffff,
            channels: (packed >> 41 & 7) as usize + 1,
            rate: (packed >> 44) as u32,
            bits: (packed >> 36 & 31) as u32 + 1,
            audio: rest,
        };
        match (file.rate, file.bits) {
            (0, _) => Err(damaged("its rate is 0 Hz")),
            (_, 4..=24) => Ok(file),
            (_, bits) => Err(SoundError::unsupported(format!("FLAC of {bits} bits"))),
        }
    }

    pub(super) fn info(&self) -> Result<SoundInfo, SoundError> {
        let mut frames = self.frames;
        if frames == 0 {
            self.for_each_block(|block| {
                frames += u64::from(block.duration());
                Ok(())
            })?;
        }
        Ok(self.info_of(frames))
    }

    fn info_of(&self, frames: u64) -> SoundInfo {
        SoundInfo { frames, channels: self.channels, rate: self.rate }
    }

    /// Decode all samples.
    pub(super) fn decode(&self, options: &SoundOptions) -> Result<(SoundInfo, Vec<f32>), SoundError> {
        self.info_of(self.frames).samples_within(options)?;
        let claimed = self.frames.saturating_mul(self.channels as u64);
        let mut samples: Vec<f32> = Vec::new();
        reserve(&mut samples, claimed.min(self.audio.len() as u64 * RESERVED_PER_BYTE) as usize)?;
        let scale = 1.0 / (1u32 << (self.bits - 1)) as f32;
        let mut frames = 0;
        self.for_each_block(|block| {
            let space = if self.frames == 0 { u64::MAX } else { self.frames - frames };
            let taken = u64::from(block.duration()).min(space) as usize;
            frames += taken as u64;
            self.info_of(frames).samples_within(options)?;
            let start = samples.len();
            reserve(&mut samples, taken * self.channels)?;
            samples.resize(start + taken * self.channels, 0.0);
            for channel in 0..self.channels {
                let out = samples[start + channel..].iter_mut().step_by(self.channels);
                for (out, &value) in out.zip(&block.channel(channel as u32)[..taken]) {
                    *out = value as f32 * scale;
                }
            }
            Ok(())
        })?;
        Ok((self.info_of(frames), samples))
    }

    /// Call a function with each block, until there are as many frames as the header says.
    fn for_each_block(
        &self,
        mut each: impl FnMut(&Block) -> Result<(), SoundError>,
    ) -> Result<(), SoundError> {
        let mut reader = FrameReader::new(BufferedReader::new(self.audio));
        let (mut frames, mut buffer) = (0, Vec::new());
        while self.frames == 0 || frames < self.frames {
            // claxon panics on no file that we know of, but it is not ours.
            let next = catch_unwind(AssertUnwindSafe(|| reader.read_next_or_eof(buffer)));
            let block = match next {
                Ok(Ok(Some(block))) => block,
                Ok(Ok(None)) if self.frames == 0 => return Ok(()),
                Ok(Ok(None) | Err(Error::IoError(_))) => {
                    let expected = match self.frames {
                        0 => "an unknown number of".to_string(),
                        frames => frames.to_string(),
                    };
                    return Err(truncated(format!("it ends after {frames} of {expected} frames")));
                }
                Ok(Err(Error::FormatError(detail))) => {
                    return Err(damaged(format!("{detail} after {frames} frames")));
                }
                Ok(Err(Error::Unsupported(detail))) => {
                    return Err(SoundError::unsupported(format!("FLAC with {detail}")));
                }
                Err(_) => return Err(damaged(format!("a block after {frames} frames contradicts itself"))),
            };
            if block.channels() as usize != self.channels {
                let channels = block.channels();
                return Err(damaged(format!(
                    "a block has {channels} channels, its header {}",
                    self.channels
                )));
            }
            frames += u64::from(block.duration());
            each(&block)?;
            buffer = block.into_buffer();
        }
        Ok(())
    }
}

fn damaged(detail: impl Into<String>) -> SoundError {
    SoundError::Damaged { format: "FLAC", detail: detail.into() }
}

fn truncated(detail: impl Into<String>) -> SoundError {
    SoundError::Truncated { format: "FLAC", detail: detail.into() }
}

fn reserve(samples: &mut Vec<f32>, additional: usize) -> Result<(), SoundError> {
    samples.try_reserve(additional).map_err(|_| SoundError::Memory { bytes: additional * size_of::<f32>() })
}
