//! Resampled sound is that of the same function at other times.

use std::f64::consts::PI;

use umber_codecs::sound::{Quality, SoundError, resample};

const SINC: [Quality; 3] = [Quality::SincBest, Quality::SincMedium, Quality::SincFastest];
const RATES: [(u32, u32); 9] = [
    (16000, 8000),
    (8000, 16000),
    (44100, 16000),
    (44100, 48000),
    (48000, 44100),
    (22050, 16000),
    (16000, 48000),
    (8000, 8001),
    (96000, 8000),
];

/// `function` at the times of frames.
fn sampled(function: impl Fn(f64) -> f64, rate: u32, frames: usize) -> Vec<f32> {
    (0..frames).map(|frame| function(frame as f64 / f64::from(rate)) as f32).collect()
}

fn largest_difference(left: &[f32], right: &[f32]) -> f32 {
    assert_eq!(left.len(), right.len());
    left.iter().zip(right).map(|(left, right)| (left - right).abs()).fold(0.0, f32::max)
}

#[test]
fn a_pulse_keeps_its_shape_and_its_time() {
    for (from, to) in RATES {
        // A Gaussian pulse a third into a second, whose spectrum is 10^-9 at 0.7 of the lower Nyquist frequency.
        let limit = f64::from(from.min(to)) / 2.0;
        let width = 6.5 / (2.0 * PI * 0.7 * limit);
        let pulse = |time: f64| (-((time - 0.3377) / width).powi(2) / 2.0).exp();
        let expected = sampled(pulse, to, to as usize);
        for quality in SINC {
            let found = resample(&sampled(pulse, from, from as usize), 1, from, to, quality).unwrap();
            let difference = largest_difference(&found, &expected);
            assert!(difference < 1e-4, "{from} to {to}, {quality:?}: {difference}");
        }
    }
}

#[test]
fn tones_below_the_limit_pass_and_those_above_are_removed() {
    for (from, to) in RATES {
        let limit = f64::from(from.min(to)) / 2.0;
        for (quality, share) in
            [(Quality::SincFastest, 0.8), (Quality::SincMedium, 0.93), (Quality::SincBest, 0.97)]
        {
            let tone = |time: f64| 0.9 * (2.0 * PI * share * limit * time + 0.3).sin();
            let expected = sampled(tone, to, to as usize);
            let found = resample(&sampled(tone, from, from as usize), 1, from, to, quality).unwrap();
            // Away from both ends, where the tone begins and stops.
            let inner = to as usize / 3..to as usize * 2 / 3;
            let difference = largest_difference(&found[inner.clone()], &expected[inner]);
            assert!(difference < 1e-3, "{from} to {to}, {quality:?}: {difference}");
        }
        let above = 1.2 * limit;
        if above < f64::from(from) / 2.0 {
            let tone = sampled(|time| (2.0 * PI * above * time).sin(), from, from as usize);
            let found = resample(&tone, 1, from, to, Quality::SincFastest).unwrap();
            let inner = to as usize / 3..to as usize * 2 / 3;
            let rest = found[inner].iter().fold(0.0f32, |most, value| most.max(value.abs()));
            assert!(rest < 1e-3, "{from} to {to}: {rest}");
        }
    }
}

#[test]
fn lengths_are_rounded_up() {
    for quality in [Quality::SincFastest, Quality::Linear, Quality::ZeroOrderHold] {
        for (frames, from, to, expected) in [
            (0, 16000, 8000, 0),
            (1, 16000, 8000, 1),
            (3, 16000, 8000, 2),
            (5, 8000, 16000, 10),
            (44101, 44100, 16000, 16001),
            (1, 1, 256, 256),
            (1000, 256, 1, 4),
            (7, 1000, 1000, 7),
        ] {
            let found = resample(&vec![0.5; frames * 2], 2, from, to, quality).unwrap();
            assert_eq!(found.len(), expected * 2, "{frames} frames from {from} to {to}, {quality:?}");
        }
    }
}

#[test]
fn channels_are_independent() {
    let left = sampled(|time| (2.0 * PI * 440.0 * time).sin(), 16000, 3000);
    let right = sampled(|time| (2.0 * PI * 1000.0 * time).cos(), 16000, 3000);
    let both: Vec<f32> = left.iter().zip(&right).flat_map(|(left, right)| [*left, *right]).collect();
    for quality in [Quality::SincMedium, Quality::Linear, Quality::ZeroOrderHold] {
        let found = resample(&both, 2, 16000, 11025, quality).unwrap();
        for (channel, alone) in [left.as_slice(), &right].into_iter().enumerate() {
            let of_channel: Vec<f32> = found.iter().skip(channel).step_by(2).copied().collect();
            assert_eq!(of_channel, resample(alone, 1, 16000, 11025, quality).unwrap());
        }
    }
}

#[test]
fn calls_do_not_depend_on_earlier_calls() {
    let sound = sampled(|time| (2.0 * PI * 440.0 * time).sin(), 8000, 900);
    let first = resample(&sound, 1, 8000, 16000, Quality::SincFastest).unwrap();
    for to in [4000, 6000, 10000, 12000, 14000, 16000] {
        resample(&[1.0; 50], 1, 8000, to, Quality::SincFastest).unwrap();
    }
    assert_eq!(resample(&sound, 1, 8000, 16000, Quality::SincFastest).unwrap(), first);
    let elsewhere =
        std::thread::spawn(move || resample(&sound, 1, 8000, 16000, Quality::SincFastest).unwrap());
    assert_eq!(elsewhere.join().unwrap(), first);
}

#[test]
fn lines_and_steps() {
    let sound = [0.0, 1.0, 4.0];
    let linear = resample(&sound, 1, 2, 4, Quality::Linear).unwrap();
    assert_eq!(linear, [0.0, 0.5, 1.0, 2.5, 4.0, 4.0]);
    assert_eq!(resample(&sound, 1, 2, 4, Quality::ZeroOrderHold).unwrap(), [0.0, 0.0, 1.0, 1.0, 4.0, 4.0]);
    assert_eq!(resample(&sound, 1, 3, 2, Quality::Linear).unwrap(), [0.0, 2.5]);
    assert_eq!(resample(&sound, 1, 3, 2, Quality::ZeroOrderHold).unwrap(), [0.0, 1.0]);
    // Rates whose sum does not fit 32 bits.
    let (from, to) = (u32::MAX, u32::MAX - 1);
    assert_eq!(resample(&sound, 1, from, to, Quality::ZeroOrderHold).unwrap(), [0.0, 1.0, 4.0]);
}

#[test]
fn bad_arguments_are_named() {
    let name_of = |result| match result {
        Err(SoundError::Argument { name, detail }) => format!("{name} {detail}"),
        other => panic!("{other:?}"),
    };
    let quality = Quality::SincFastest;
    for (result, text) in [
        (resample(&[0.0], 1, 0, 8000, quality), "input_sample_rate must be positive, got 0"),
        (resample(&[0.0], 1, 8000, 0, quality), "sample_rate must be positive, got 0"),
        (
            resample(&[0.0], 1, 1, 257, quality),
            "sample_rate must be within a factor of 256 of 1 Hz, got 257 Hz",
        ),
        (
            resample(&[0.0], 1, 257, 1, quality),
            "sample_rate must be within a factor of 256 of 257 Hz, got 1 Hz",
        ),
        (
            resample(&[0.0; 3], 2, 1, 2, quality),
            "channels must divide the number of samples, got 2 for 3 samples",
        ),
        (resample(&[], 0, 1, 2, quality), "channels must divide the number of samples, got 0 for 0 samples"),
        (
            resample(&[0.0], 1, 1_000_000, 1_000_001, quality),
            "sample_rate has too small a common divisor with the input's: their ratio is 1000001 : 1000000",
        ),
    ] {
        assert_eq!(name_of(result), text);
    }
}

#[test]
fn qualities_have_names() {
    assert_eq!("sinc-fastest".parse(), Ok(Quality::SincFastest));
    assert_eq!("zero-order-hold".parse(), Ok(Quality::ZeroOrderHold));
    let text = "sinc".parse::<Quality>().unwrap_err().to_string();
    let names = r#""sinc-best", "sinc-medium", "sinc-fastest", "zero-order-hold", "linear""#;
    assert_eq!(text, format!("resampling_quality must be one of {names}, got \"sinc\""));
}
