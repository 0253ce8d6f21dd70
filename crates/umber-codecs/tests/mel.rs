//! Features equal their definition, computed with a discrete Fourier transform in double precision.

use std::f64::consts::{PI, TAU};

use umber_codecs::sound::SoundError;
use umber_codecs::sound::mel::{FrequencyScale, Mfsc, MfscOptions, Window};

/// Noise and a tone at 8 kHz.
fn sound(frames: usize) -> Vec<f32> {
    let mut state = 1u32;
    let mut noise = move || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        f64::from(state >> 8) / f64::from(1 << 24) - 0.5
    };
    (0..frames).map(|n| (0.3 * noise() + 0.4 * (2.0 * PI * 440.0 * n as f64 / 8000.0).sin()) as f32).collect()
}

/// The features by their formulas.
fn defined(options: &MfscOptions, sound: &[f32]) -> Vec<f64> {
    let rate = f64::from(options.sampling_freq);
    let size = (rate * options.frame_size_ms / 1000.0).round_ties_even() as usize;
    let stride = (rate * options.frame_stride_ms / 1000.0).round_ties_even() as usize;
    let length = size.next_power_of_two();
    let window = |n: usize| match options.window_type {
        Window::Hamming => 0.54 - 0.46 * (TAU * n as f64 / (size - 1) as f64).cos(),
        Window::Hanning => 0.5 - 0.5 * (TAU * n as f64 / (size - 1) as f64).cos(),
    };
    let window = |n| f64::from(window(n) as f32);
    let high = if options.high_freq > 0.0 { options.high_freq } else { f64::from(options.sampling_freq / 2) };
    let points = options.n_filterbank + 1;
    let between = |from: f64, to: f64, k: usize| from + (to - from) * k as f64 / points as f64;
    let hertz = |k: usize| match options.freq_scale {
        FrequencyScale::Linear => between(options.low_freq, high, k),
        FrequencyScale::Log10 => 10f64.powf(between(options.low_freq.log10(), high.log10(), k)),
        FrequencyScale::Mel => {
            let mel = |f: f64| 2595.0 * (1.0 + f / 700.0).log10();
            700.0 * (10f64.powf(between(mel(options.low_freq), mel(high), k) / 2595.0) - 1.0)
        }
    };
    let mut features = Vec::new();
    for frame in sound.windows(size).step_by(stride) {
        let x = |n: usize| 32768.0 * f64::from(frame[n]);
        let coefficient = f64::from(options.pre_emphasis_coeff);
        let y: Vec<f64> =
            (0..size).map(|n| (x(n) - coefficient * x(n.saturating_sub(1))) * window(n)).collect();
        let magnitude = |k: usize| {
            let angle = |n: usize| TAU * (k * n % length) as f64 / length as f64;
            let real: f64 = y.iter().enumerate().map(|(n, y)| y * angle(n).cos()).sum();
            let imaginary: f64 = y.iter().enumerate().map(|(n, y)| y * angle(n).sin()).sum();
            real.hypot(imaginary)
        };
        let spectrum: Vec<f64> = (0..=length / 2).map(magnitude).collect();
        for band in 0..options.n_filterbank {
            let [left, centre, right] = [0, 1, 2].map(|k| hertz(band + k));
            let weight = |k: usize| {
                let f = k as f64 * rate / length as f64;
                ((f - left) / (centre - left)).min((right - f) / (right - centre)).max(0.0)
            };
            let energy: f64 = spectrum.iter().enumerate().map(|(k, value)| value * weight(k)).sum();
            features.push(energy.max(f64::from(options.mel_floor)).ln());
        }
    }
    features
}

#[test]
fn features_equal_their_definition() {
    let base = MfscOptions::new(20, 8000);
    let variants = [
        base.clone(),
        MfscOptions { window_type: Window::Hanning, ..base.clone() },
        MfscOptions {
            freq_scale: FrequencyScale::Linear,
            low_freq: 100.0,
            high_freq: 3000.0,
            ..base.clone()
        },
        MfscOptions { freq_scale: FrequencyScale::Log10, low_freq: 50.0, ..base.clone() },
        MfscOptions { pre_emphasis_coeff: 0.0, mel_floor: 1e4, ..base.clone() },
        // 12.5 and 6.5 samples round to the even 12 and 6.
        MfscOptions {
            sampling_freq: 1000,
            frame_size_ms: 12.5,
            frame_stride_ms: 6.5,
            n_filterbank: 3,
            ..base.clone()
        },
        MfscOptions { sampling_freq: 11025, frame_size_ms: 20.0, high_freq: 9000.0, ..base },
    ];
    let sound = sound(2000);
    for options in variants {
        let mfsc = Mfsc::new(&options).unwrap();
        let (found, expected) = (mfsc.apply(&sound).unwrap(), defined(&options, &sound));
        assert_eq!(found.len(), mfsc.rows(sound.len()) * mfsc.columns());
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-5, "{options:?}: {found} {expected}");
        }
    }
}

#[test]
fn short_sounds_have_no_rows() {
    let mfsc = Mfsc::new(&MfscOptions::new(10, 8000)).unwrap();
    assert_eq!(mfsc.rows(199), 0);
    assert_eq!(mfsc.rows(200), 1);
    assert_eq!(mfsc.rows(279), 1);
    assert_eq!(mfsc.rows(280), 2);
    assert!(mfsc.apply(&[]).unwrap().is_empty());
}

#[test]
fn silence_is_the_floor_and_nan_stays_nan() {
    let mfsc = Mfsc::new(&MfscOptions::new(10, 8000)).unwrap();
    assert_eq!(mfsc.apply(&[0.0; 200]).unwrap(), [0.0; 10]);
    assert!(mfsc.apply(&[f32::NAN; 200]).unwrap().iter().all(|value| value.is_nan()));
    let without_floor = MfscOptions { mel_floor: 0.0, ..MfscOptions::new(10, 8000) };
    let features = Mfsc::new(&without_floor).unwrap().apply(&[0.0; 200]).unwrap();
    assert_eq!(features, [f32::MIN_POSITIVE.ln(); 10]);
}

#[test]
fn the_slice_must_have_the_size_of_the_features() {
    let mfsc = Mfsc::new(&MfscOptions::new(10, 8000)).unwrap();
    let mut row = [0.0; 11];
    let error = mfsc.apply_into(&[0.0; 200], &mut row).unwrap_err();
    assert_eq!(error, SoundError::WrongSize { needed: 10, size: 11 });
    mfsc.apply_into(&[0.0; 200], &mut row[..10]).unwrap();
}

#[test]
fn bad_parameters_are_named() {
    let base = MfscOptions::new(10, 8000);
    for (options, text) in [
        (MfscOptions { n_filterbank: 0, ..base.clone() }, "n_filterbank must be positive, got 0"),
        (
            MfscOptions { n_filterbank: usize::MAX, ..base.clone() },
            "n_filterbank must be at most 520223 for this frame, got 18446744073709551615",
        ),
        (
            MfscOptions { frame_size_ms: 0.1, ..base.clone() },
            "frame_size_ms must cover 2 to 16777216 samples, got 0.1 ms at 8000 Hz",
        ),
        (
            MfscOptions { frame_stride_ms: f64::NAN, ..base.clone() },
            "frame_stride_ms must cover 1 to 16777216 samples, got NaN ms at 8000 Hz",
        ),
        (
            MfscOptions { low_freq: 4000.0, ..base.clone() },
            "low_freq must be at least 0 and below high_freq, got 4000 and 4000",
        ),
        (
            MfscOptions { low_freq: f64::NAN, ..base.clone() },
            "low_freq must be at least 0 and below high_freq, got NaN and 4000",
        ),
        (
            MfscOptions { freq_scale: FrequencyScale::Log10, ..base },
            "low_freq must be positive on the scale LOG10, got 0",
        ),
    ] {
        assert_eq!(Mfsc::new(&options).err().unwrap().to_string(), text);
    }
}
