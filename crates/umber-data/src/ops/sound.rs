//! Sound from files, and other rates.

use std::cell::Cell;

use umber_core::DType;
use umber_types::ErrorKind;

use crate::error::{DataError, Result};
use crate::fault;
use crate::operation::Operation;
use crate::ops::{Cast, FileInput, Keys};
use crate::random::Draw;
use crate::sample::{Name, Sample};
use crate::sound::{Quality, SoundError, SoundInfo, SoundOptions, decode, info, resample};
use crate::value::Value;

fn fault_of(error: &SoundError, otherwise: ErrorKind) -> DataError {
    let kind = match error {
        SoundError::Argument { .. } | SoundError::TooLarge { .. } | SoundError::WrongSize { .. } => {
            ErrorKind::Value
        }
        SoundError::Memory { .. } => ErrorKind::Memory,
        _ => otherwise,
    };
    DataError::new(kind, error.to_string())
}

/// A rate from an argument; `None` for zero and negative ones.
fn rate(op: &str, argument: &str, rate: i64) -> Result<Option<u32>> {
    match u32::try_from(rate) {
        Ok(0) => Ok(None),
        Ok(rate) => Ok(Some(rate)),
        Err(_) if rate < 0 => Ok(None),
        Err(_) => Err(fault!(Value, "{argument} must be below 2^32, got {rate}").at_stage(op)),
    }
}

/// What is told about a sound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AudioInfo {
    /// Frames, channels and rate, as `int64`.
    #[default]
    All,
    /// The number of frames, as `int64`.
    Frames,
    /// The number of channels, as `int32`.
    Channels,
    /// Frames a second, as `int32`.
    Rate,
    /// The length in seconds, as `float64`.
    Seconds,
}

impl AudioInfo {
    fn value(self, info: &SoundInfo) -> Result<Value> {
        let (frames, channels, rate) = (info.frames as i64, info.channels as i64, i64::from(info.rate));
        match self {
            AudioInfo::All => Value::from_slice(&[frames, channels, rate], 3),
            AudioInfo::Frames => Value::scalar(frames),
            AudioInfo::Channels => Value::scalar(channels as i32),
            AudioInfo::Rate => Value::scalar(rate as i32),
            AudioInfo::Seconds => Value::scalar(frames as f64 / rate as f64),
        }
    }
}

/// What [`LoadAudio`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AudioContent {
    /// The samples: `float32` of shape (frames, channels).
    Samples,
    /// What is told about the sound, from the file's header.
    Info,
}

/// The samples of a sound file, or what its header tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadAudio {
    /// The name or content, and where the sound goes.
    pub keys: Keys,
    /// Which of both.
    pub input: FileInput,
    /// What is read.
    pub content: AudioContent,
    /// What is told about the sound.
    pub info: AudioInfo,
    /// Where that goes besides.
    pub info_key: Option<Name>,
    /// The rate to resample to, and how.
    pub options: SoundOptions,
}

impl LoadAudio {
    /// The sound in the file that the value names or is, at its own rate unless `sample_rate` is positive. An empty `info_key` is
    /// none.
    ///
    /// # Errors
    /// If the rate is 2^32 or more.
    pub fn new(
        keys: impl Into<Keys>,
        input: FileInput,
        content: AudioContent,
        info: AudioInfo,
        sample_rate: i64,
        quality: Quality,
        info_key: &str,
    ) -> Result<LoadAudio> {
        let rate = rate("load_audio", "sample_rate", sample_rate)?;
        let info_key = (!info_key.is_empty()).then(|| Name::new(info_key));
        let options = SoundOptions { rate, quality, ..SoundOptions::default() };
        Ok(LoadAudio { keys: keys.into(), input, content, info, info_key, options })
    }
}

impl Operation for LoadAudio {
    fn name(&self) -> &str {
        "load_audio"
    }

    fn arguments(&self) -> String {
        format!("{self:?}")
    }

    fn apply(&self, mut sample: Sample, _draw: &Draw) -> Result<Option<Sample>> {
        let otherwise = if self.input == FileInput::Content { ErrorKind::Value } else { ErrorKind::Io };
        let told = Cell::new(None);
        let needs_info = self.content == AudioContent::Info || self.info_key.is_some();
        sample.update(&self.keys.key, self.keys.output.as_ref(), |value| {
            self.input.with_bytes(&value, |bytes| {
                if needs_info {
                    let info = info(bytes).map_err(|error| fault_of(&error, otherwise))?;
                    told.set(Some(info));
                    if self.content == AudioContent::Info {
                        return self.info.value(&info);
                    }
                }
                let sound = decode(bytes, &self.options).map_err(|error| fault_of(&error, otherwise))?;
                Value::from_slice(&sound.samples, (sound.frames, sound.channels))
            })
        })?;
        if let (Some(key), Some(info)) = (&self.info_key, told.take()) {
            sample.set(key.clone(), self.info.value(&info)?);
        }
        Ok(Some(sample))
    }
}

/// Resamples a sound: `float32` of shape (frames, channels), or (frames,).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResampleAudio {
    /// The sound, and where the result goes.
    pub keys: Keys,
    /// The rate of the result; `None` leaves the sound as it is.
    pub rate: Option<u32>,
    /// The rate of the sound.
    pub input_rate: Option<u32>,
    /// Where the rate is, if it is not given: what [`LoadAudio`] tells, or the rate.
    pub info_key: Option<Name>,
    /// How to resample.
    pub quality: Quality,
}

impl ResampleAudio {
    /// Resample to `sample_rate`; zero and negative rates, and an empty `info_key`, are none.
    ///
    /// # Errors
    /// If there is neither an input rate nor an `info_key`, or a rate is 2^32 or more.
    pub fn new(
        keys: impl Into<Keys>,
        sample_rate: i64,
        input_sample_rate: i64,
        info_key: &str,
        quality: Quality,
    ) -> Result<ResampleAudio> {
        const OP: &str = "resample_audio";
        let (to, from) =
            (rate(OP, "sample_rate", sample_rate)?, rate(OP, "input_sample_rate", input_sample_rate)?);
        if from.is_none() && info_key.is_empty() {
            return Err(fault!(Value, "input_sample_rate or info_key must be given").at_stage(OP));
        }
        let info_key = (!info_key.is_empty()).then(|| Name::new(info_key));
        Ok(ResampleAudio { keys: keys.into(), rate: to, input_rate: from, info_key, quality })
    }

    /// The rate of the sound of a sample.
    fn rate_of(&self, sample: &Sample) -> Result<u32> {
        let (None, Some(key)) = (self.input_rate, &self.info_key) else {
            return Ok(self.input_rate.unwrap_or(0));
        };
        let told = sample.require(key.as_str())?.clone();
        let shape = told.shape().clone();
        let numbers = if told.dtype().is_integer() {
            Cast::convert(told, DType::Int64)?.into_contiguous()?
        } else {
            told
        };
        let rate = match numbers.as_slice::<i64>() {
            Some(&[rate] | &[_, _, rate]) => u32::try_from(rate).ok().filter(|&rate| rate > 0),
            _ => None,
        };
        rate.ok_or_else(|| {
            let text = "a rate is a positive integer, or the last of frames, channels and rate";
            fault!(Value, "{text}, got {} of shape {shape}", numbers.dtype()).at_key(key.as_str())
        })
    }
}

impl Operation for ResampleAudio {
    fn name(&self) -> &str {
        "resample_audio"
    }

    fn arguments(&self) -> String {
        format!("{self:?}")
    }

    fn apply(&self, mut sample: Sample, _draw: &Draw) -> Result<Option<Sample>> {
        let from = self.rate_of(&sample)?;
        sample.update(&self.keys.key, self.keys.output.as_ref(), |value| {
            let channels = match value.shape()[..] {
                [_] => 1,
                [_, channels] => channels,
                _ => {
                    return Err(fault!(
                        Value,
                        "a sound has the shape (frames, channels), got {}",
                        value.shape()
                    ));
                }
            };
            if value.dtype() != DType::Float32 {
                return Err(fault!(Type, "a sound is float32, got {}; use cast", value.dtype()));
            }
            let Some(to) = self.rate.filter(|&to| to != from) else { return Ok(value) };
            let value = value.into_contiguous()?;
            let samples = value.as_slice::<f32>().unwrap_or_default();
            let resampled = resample(samples, channels, from, to, self.quality)
                .map_err(|error| fault_of(&error, ErrorKind::Value))?;
            let shape = value.shape().with(0, resampled.len() / channels.max(1));
            Value::from_slice(&resampled, shape)
        })?;
        Ok(Some(sample))
    }
}
