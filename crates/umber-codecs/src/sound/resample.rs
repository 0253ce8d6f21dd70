//! Change the rate of samples.
//!
//! The sinc qualities filter in the frequency domain, block by block, with the resampler of rubato. Its delay is removed, so that
//! output frame `i` is the sound at the time of input frame `i · from / to`.

use std::cell::RefCell;
use std::str::FromStr;

use rubato::audioadapter_buffers::direct::InterleavedSlice;
use rubato::{Fft, FixedSync, Resampler, WindowFunction};

use super::{SoundError, zeros};

/// How to resample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Quality {
    /// A filter of at least 4096 taps at the lower rate.
    SincBest,
    /// A filter of at least 1024 taps.
    SincMedium,
    /// A filter of at least 256 taps.
    #[default]
    SincFastest,
    /// The input frame at or before the time of each output frame.
    ZeroOrderHold,
    /// A straight line between the input frames on both sides.
    Linear,
}

const NAMES: [(&str, Quality); 5] = [
    ("sinc-best", Quality::SincBest),
    ("sinc-medium", Quality::SincMedium),
    ("sinc-fastest", Quality::SincFastest),
    ("zero-order-hold", Quality::ZeroOrderHold),
    ("linear", Quality::Linear),
];

impl FromStr for Quality {
    type Err = SoundError;

    fn from_str(name: &str) -> Result<Quality, SoundError> {
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, quality)| *quality).ok_or_else(|| {
            let names = NAMES.map(|(known, _)| format!("\"{known}\"")).join(", ");
            SoundError::argument("resampling_quality", format!("must be one of {names}, got \"{name}\""))
        })
    }
}

/// Rates may differ by this factor.
const MAX_RATIO: u32 = 256;
/// The terms of the reduced ratio determine the block of the filter, and so its memory.
const MAX_TERM: u32 = 1 << 19;
/// Resamplers that a thread keeps, and the largest that it keeps, in frames of a block.
const KEPT: usize = 4;
const MAX_KEPT_FRAMES: usize = 1 << 17;

/// The number of frames after resampling: `frames · to / from`, rounded up.
pub fn resampled_frames(frames: u64, from: u32, to: u32) -> Result<u64, SoundError> {
    for (name, rate) in [("input_sample_rate", from), ("sample_rate", to)] {
        if rate == 0 {
            return Err(SoundError::argument(name, "must be positive, got 0"));
        }
    }
    if from.div_ceil(MAX_RATIO) > to || to.div_ceil(MAX_RATIO) > from {
        let detail = format!("must be within a factor of {MAX_RATIO} of {from} Hz, got {to} Hz");
        return Err(SoundError::argument("sample_rate", detail));
    }
    let product = u128::from(frames) * u128::from(to);
    u64::try_from(product.div_ceil(u128::from(from)))
        .map_err(|_| SoundError::TooLarge { needed: u64::MAX, limit: u64::MAX })
}

/// Resample interleaved samples from one rate to another.
///
/// The result has `ceil(frames · to / from)` frames and is aligned with the input. Before its start and after its end the sound
/// counts as silence, or for [`Quality::Linear`] and [`Quality::ZeroOrderHold`] as its last frame.
pub fn resample(
    samples: &[f32],
    channels: usize,
    from: u32,
    to: u32,
    quality: Quality,
) -> Result<Vec<f32>, SoundError> {
    if channels == 0 || !samples.len().is_multiple_of(channels) {
        let detail =
            format!("must divide the number of samples, got {channels} for {} samples", samples.len());
        return Err(SoundError::argument("channels", detail));
    }
    let frames = resampled_frames((samples.len() / channels) as u64, from, to)?;
    let too_large = || SoundError::TooLarge { needed: u64::MAX, limit: isize::MAX as u64 };
    let length =
        usize::try_from(frames).ok().and_then(|frames| frames.checked_mul(channels)).ok_or_else(too_large)?;
    if from == to {
        return Ok(samples.to_vec());
    }
    let mut out = zeros(length)?;
    let divisor = gcd(from, to);
    let (from, to) = (from / divisor, to / divisor);
    match quality {
        Quality::ZeroOrderHold => hold(samples, channels, from, to, &mut out),
        Quality::Linear => interpolate(samples, channels, from, to, &mut out),
        Quality::SincBest | Quality::SincMedium | Quality::SincFastest => {
            if from.max(to) > MAX_TERM {
                let detail =
                    format!("has too small a common divisor with the input's: their ratio is {to} : {from}");
                return Err(SoundError::argument("sample_rate", detail));
            }
            let key = Key { from, to, quality };
            let mut filter = take_or_new(key);
            filter.run(samples, channels, &mut out);
            keep(filter);
        }
    }
    Ok(out)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The input frame at or before each output frame, and how far beyond it the output frame is, in `to`-ths.
fn positions(from: u32, to: u32) -> impl Iterator<Item = (usize, u32)> {
    let (whole, part) = (from / to, from % to);
    std::iter::successors(Some((0, 0)), move |&(index, rest): &(usize, u32)| {
        let carry = rest >= to - part;
        let rest = if carry { rest - (to - part) } else { rest + part };
        Some((index + whole as usize + usize::from(carry), rest))
    })
}

fn hold(samples: &[f32], channels: usize, from: u32, to: u32, out: &mut [f32]) {
    for (frame, (index, _)) in out.chunks_exact_mut(channels).zip(positions(from, to)) {
        frame.copy_from_slice(&samples[index * channels..][..channels]);
    }
}

fn interpolate(samples: &[f32], channels: usize, from: u32, to: u32, out: &mut [f32]) {
    for (frame, (index, part)) in out.chunks_exact_mut(channels).zip(positions(from, to)) {
        let left = &samples[index * channels..][..channels];
        let right =
            samples.get((index + 1) * channels..).and_then(|rest| rest.get(..channels)).unwrap_or(left);
        let weight = part as f32 / to as f32;
        for ((value, left), right) in frame.iter_mut().zip(left).zip(right) {
            *value = left + (right - left) * weight;
        }
    }
}

/// What a filter depends on: the reduced ratio and the quality.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    from: u32,
    to: u32,
    quality: Quality,
}

/// A resampler of one channel and its blocks.
struct Filter {
    key: Key,
    fft: Fft<f32>,
    input: Vec<f32>,
    output: Vec<f32>,
}

impl Filter {
    fn new(key: Key) -> Filter {
        let taps = match key.quality {
            Quality::SincBest => 4096,
            Quality::SincMedium => 1024,
            _ => 256,
        };
        // An even multiple of the ratio's terms, so that the delay of half a block is a whole number of frames at both rates.
        let multiple = (taps as u32).div_ceil(key.from.min(key.to)).next_multiple_of(2);
        let (from, to) = (key.from as usize, key.to as usize);
        let (input, output) = (from * multiple as usize, to * multiple as usize);
        let fft = Fft::new_custom(from, to, input, 1, 1, WindowFunction::BlackmanHarris2, FixedSync::Both)
            .expect("rates and block are positive");
        Filter { key, fft, input: vec![0.0; input], output: vec![0.0; output] }
    }

    /// Resample each channel in turn.
    fn run(&mut self, samples: &[f32], channels: usize, out: &mut [f32]) {
        let frames = out.len() / channels;
        for channel in 0..channels {
            self.fft.reset();
            let mut values = samples.iter().skip(channel).step_by(channels);
            // The first half block of the output precedes the sound.
            let mut skipped = self.output.len() / 2;
            let mut written = 0;
            while written < frames {
                for input in &mut self.input {
                    *input = values.next().copied().unwrap_or_default();
                }
                self.process();
                let block = &self.output[skipped..];
                let places = out[written * channels + channel..].iter_mut().step_by(channels);
                for (place, value) in places.zip(block) {
                    *place = *value;
                }
                written += block.len();
                skipped = 0;
            }
        }
    }

    fn process(&mut self) {
        const SIZES: &str = "the blocks have the sizes that the resampler was made for";
        let (inputs, outputs) = (self.input.len(), self.output.len());
        let input = InterleavedSlice::new(self.input.as_slice(), 1, inputs).expect(SIZES);
        let mut output = InterleavedSlice::new_mut(self.output.as_mut_slice(), 1, outputs).expect(SIZES);
        self.fft.process_into_buffer(&input, &mut output, None).expect(SIZES);
    }
}

thread_local! {
    /// In the order of their last use.
    static FILTERS: RefCell<Vec<Filter>> = const { RefCell::new(Vec::new()) };
}

/// Take a filter from those that this thread used last, or make it, which takes longer than to resample a second of sound.
fn take_or_new(key: Key) -> Filter {
    let kept = FILTERS.with_borrow_mut(|filters| {
        let index = filters.iter().position(|filter| filter.key == key)?;
        Some(filters.remove(index))
    });
    kept.unwrap_or_else(|| Filter::new(key))
}

/// Keep a filter for the thread's next call, instead of the one that was used least recently.
fn keep(filter: Filter) {
    if filter.input.len() + filter.output.len() > MAX_KEPT_FRAMES {
        return;
    }
    FILTERS.with_borrow_mut(|filters| {
        if filters.len() == KEPT {
            filters.remove(0);
        }
        filters.push(filter);
    });
}
