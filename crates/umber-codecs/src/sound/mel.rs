//! Mel-frequency spectral coefficients: the logarithm of a spectrum in overlapping triangular bands.
//!
//! Equal to `umber.data.features.mfsc` in NumPy, in one pass over the frames. Sources: S. Davis and P. Mermelstein, "Comparison of
//! parametric representations for monosyllabic word recognition", IEEE Trans. ASSP 28 (1980); HTK's book for the scale.

use std::sync::Arc;

use realfft::num_complex::Complex;
use realfft::{RealFftPlanner, RealToComplex};

use super::{SoundError, zeros};

/// The window that each frame is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// `0.54 - 0.46 cos(2πn / (N - 1))`.
    Hamming,
    /// `0.5 - 0.5 cos(2πn / (N - 1))`.
    Hanning,
}

/// The scale on which the bands have equal widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrequencyScale {
    /// `2595 log10(1 + f / 700)`.
    Mel,
    /// `log10(f)`.
    Log10,
    /// `f`.
    Linear,
}

impl FrequencyScale {
    fn scaled(self, hertz: f64) -> f64 {
        match self {
            FrequencyScale::Mel => 2595.0 * (1.0 + hertz / 700.0).log10(),
            FrequencyScale::Log10 => hertz.log10(),
            FrequencyScale::Linear => hertz,
        }
    }

    fn hertz_at(self, value: f64) -> f64 {
        match self {
            FrequencyScale::Mel => 700.0 * (10f64.powf(value / 2595.0) - 1.0),
            FrequencyScale::Log10 => 10f64.powf(value),
            FrequencyScale::Linear => value,
        }
    }
}

/// The parameters of the features, with mlx-data's names and defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct MfscOptions {
    /// The number of bands.
    pub n_filterbank: usize,
    /// Frames of sound a second.
    pub sampling_freq: u32,
    /// The milliseconds that a column of features covers.
    pub frame_size_ms: f64,
    /// The milliseconds from one column to the next.
    pub frame_stride_ms: f64,
    /// The share of the sample before that is subtracted from each sample.
    pub pre_emphasis_coeff: f32,
    /// The window.
    pub window_type: Window,
    /// Where the lowest band begins, in hertz.
    pub low_freq: f64,
    /// Where the highest band ends, in hertz; half of `sampling_freq`, rounded down, unless positive.
    pub high_freq: f64,
    /// The least value of a band before the logarithm.
    pub mel_floor: f32,
    /// The scale of the bands.
    pub freq_scale: FrequencyScale,
}

impl MfscOptions {
    /// The defaults, which have a frame of 25 ms every 10 ms.
    pub fn new(n_filterbank: usize, sampling_freq: u32) -> MfscOptions {
        MfscOptions {
            n_filterbank,
            sampling_freq,
            frame_size_ms: 25.0,
            frame_stride_ms: 10.0,
            pre_emphasis_coeff: 0.97,
            window_type: Window::Hamming,
            low_freq: 0.0,
            high_freq: -1.0,
            mel_floor: 1.0,
            freq_scale: FrequencyScale::Mel,
        }
    }

    fn samples_of(&self, name: &'static str, milliseconds: f64, least: f64) -> Result<usize, SoundError> {
        // Python's `round`, which the NumPy version uses, rounds halves to even.
        let samples = (f64::from(self.sampling_freq) * milliseconds / 1000.0).round_ties_even();
        if (least..=MAX_FRAME as f64).contains(&samples) {
            return Ok(samples as usize);
        }
        let rate = self.sampling_freq;
        let detail = format!("must cover {least} to {MAX_FRAME} samples, got {milliseconds} ms at {rate} Hz");
        Err(SoundError::argument(name, detail))
    }
}

/// The longest frame in samples.
const MAX_FRAME: usize = 1 << 24;
/// The most weights of all bands.
const MAX_WEIGHTS: usize = 1 << 26;
/// Samples are scaled to the range of 16-bit integers, which `mel_floor` refers to.
const FULL_SCALE: f64 = 32768.0;

/// A band: the weights of consecutive frequencies.
struct Band {
    start: usize,
    weights: Vec<f32>,
}

/// A function from sound of one channel to features, with its tables.
///
/// Spectra are computed in double precision: a weak band beside a strong one is otherwise less than four digits of the logarithm.
pub struct Mfsc {
    frame: usize,
    stride: usize,
    pre_emphasis: f64,
    /// Rounded to single precision, as in the NumPy version: strong signals show the difference in weak bands.
    window: Vec<f64>,
    bands: Vec<Band>,
    floor: f32,
    fft: Arc<dyn RealToComplex<f64>>,
}

impl Mfsc {
    /// Compute the tables.
    pub fn new(options: &MfscOptions) -> Result<Mfsc, SoundError> {
        let frame = options.samples_of("frame_size_ms", options.frame_size_ms, 2.0)?;
        let stride = options.samples_of("frame_stride_ms", options.frame_stride_ms, 1.0)?;
        let length = frame.next_power_of_two();
        let slope = match options.window_type {
            Window::Hamming => 0.46,
            Window::Hanning => 0.5,
        };
        let angle = std::f64::consts::TAU / (frame - 1) as f64;
        let window = |n: usize| f64::from((1.0 - slope - slope * (angle * n as f64).cos()) as f32);
        Ok(Mfsc {
            frame,
            stride,
            pre_emphasis: options.pre_emphasis_coeff.into(),
            window: (0..frame).map(window).collect(),
            bands: bands(options, length / 2 + 1)?,
            floor: options.mel_floor,
            fft: RealFftPlanner::new().plan_fft_forward(length),
        })
    }

    /// The number of rows of features that sound of a length has.
    pub fn rows(&self, samples: usize) -> usize {
        samples.checked_sub(self.frame).map_or(0, |rest| rest / self.stride + 1)
    }

    /// The number of columns: the bands.
    pub fn columns(&self) -> usize {
        self.bands.len()
    }

    /// Compute the features of sound of one channel, rows × columns.
    pub fn apply(&self, samples: &[f32]) -> Result<Vec<f32>, SoundError> {
        let length = self.rows(samples.len()).checked_mul(self.columns());
        let mut out =
            zeros(length.ok_or(SoundError::TooLarge { needed: u64::MAX, limit: isize::MAX as u64 })?)?;
        self.apply_into(samples, &mut out)?;
        Ok(out)
    }

    /// The same to a slice of rows × columns values.
    pub fn apply_into(&self, samples: &[f32], out: &mut [f32]) -> Result<(), SoundError> {
        let needed = self.rows(samples.len()).saturating_mul(self.columns());
        if out.len() != needed {
            return Err(SoundError::WrongSize { needed, size: out.len() });
        }
        let mut padded = vec![0.0; self.fft.len()];
        let mut spectrum = vec![Complex::default(); self.fft.complex_len()];
        let mut magnitudes = vec![0.0; spectrum.len()];
        let mut scratch = self.fft.make_scratch_vec();
        let frames = samples.windows(self.frame).step_by(self.stride);
        for (frame, row) in frames.zip(out.chunks_exact_mut(self.columns())) {
            let (values, padding) = padded.split_at_mut(self.frame);
            // The sample before the first counts as equal to it.
            values[0] = FULL_SCALE * f64::from(frame[0]) * (1.0 - self.pre_emphasis) * self.window[0];
            for ((value, pair), window) in values[1..].iter_mut().zip(frame.windows(2)).zip(&self.window[1..])
            {
                let [before, sample] = [pair[0], pair[1]].map(f64::from);
                *value = FULL_SCALE * (sample - self.pre_emphasis * before) * window;
            }
            padding.fill(0.0);
            self.fft
                .process_with_scratch(&mut padded, &mut spectrum, &mut scratch)
                .expect("the buffers have the sizes that the transform was made for");
            for (magnitude, value) in magnitudes.iter_mut().zip(&spectrum) {
                *magnitude = value.norm_sqr().sqrt() as f32;
            }
            for (value, band) in row.iter_mut().zip(&self.bands) {
                let energies = &magnitudes[band.start..][..band.weights.len()];
                let sum = energies.iter().zip(&band.weights).map(|(energy, weight)| energy * weight).sum();
                *value = at_least(at_least(sum, self.floor), f32::MIN_POSITIVE).ln();
            }
        }
        Ok(())
    }
}

/// The larger of two values; NaN stays NaN.
fn at_least(value: f32, floor: f32) -> f32 {
    if value < floor { floor } else { value }
}

/// The triangles between every second of `n + 2` points at equal distances on the scale, as weights of the spectrum's frequencies.
fn bands(options: &MfscOptions, frequencies: usize) -> Result<Vec<Band>, SoundError> {
    let (count, scale, low) = (options.n_filterbank, options.freq_scale, options.low_freq);
    if count == 0 {
        return Err(SoundError::argument("n_filterbank", "must be positive, got 0"));
    }
    let half = f64::from(options.sampling_freq / 2);
    let high = if options.high_freq > 0.0 { options.high_freq } else { half };
    if scale == FrequencyScale::Log10 && low <= 0.0 {
        return Err(SoundError::argument(
            "low_freq",
            format!("must be positive on the scale LOG10, got {low}"),
        ));
    }
    if !(0.0..high).contains(&low) || !high.is_finite() {
        let detail = format!("must be at least 0 and below high_freq, got {low} and {high}");
        return Err(SoundError::argument("low_freq", detail));
    }
    if count.checked_mul(frequencies).is_none_or(|weights| weights > MAX_WEIGHTS) {
        let detail = format!("must be at most {} for this frame, got {count}", MAX_WEIGHTS / frequencies);
        return Err(SoundError::argument("n_filterbank", detail));
    }
    let (first, last) = (scale.scaled(low), scale.scaled(high));
    let step = (last - first) / (count + 1) as f64;
    let per_hertz = (frequencies - 1) as f64 * 2.0 / f64::from(options.sampling_freq);
    let point = |index: usize| scale.hertz_at(index as f64 * step + first) * per_hertz;
    let band = |index: usize| {
        let (left, centre, right) = (point(index), point(index + 1), point(index + 2));
        let weight = |at: usize| {
            let (rising, falling) =
                ((at as f64 - left) / (centre - left), (right - at as f64) / (right - centre));
            rising.min(falling).max(0.0) as f32
        };
        let start = (left.floor().max(0.0) as usize).min(frequencies);
        let end = ((right.ceil() + 1.0).max(0.0) as usize).clamp(start, frequencies);
        Band { start, weights: (start..end).map(weight).collect() }
    };
    Ok((0..count).map(band).collect())
}
