//! Sound files, what is told about them, and other rates.

use umber_core::{DType, Shape};
use umber_data::ops::*;
use umber_data::sound::Quality;
use umber_data::{Name, Operation, Value};
use umber_types::ErrorKind;

use super::files::Folder;
use super::{apply, apply_to, sample, text};

/// A WAV file of 16 bits.
fn wav(rate: u32, channels: u16, samples: &[i16]) -> Vec<u8> {
    let data: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + data.len() as u32).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16u32.to_le_bytes());
    bytes.extend([1u16, channels].iter().flat_map(|field| field.to_le_bytes()));
    bytes.extend([rate, rate * 2 * u32::from(channels)].iter().flat_map(|field| field.to_le_bytes()));
    bytes.extend([2 * channels, 16].iter().flat_map(|field| field.to_le_bytes()));
    bytes.extend(b"data");
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes
}

fn load(input: FileInput, content: AudioContent, info: AudioInfo, rate: i64, info_key: &str) -> LoadAudio {
    LoadAudio::new("x", input, content, info, rate, Quality::Linear, info_key).unwrap()
}

#[test]
fn samples_and_info() {
    let folder = Folder::new("load-audio");
    let bytes = wav(8000, 2, &[16384, -16384, 0, 8192]);
    let name = folder.write("a.wav", &bytes);
    let expected = Value::from_slice(&[0.5f32, -0.5, 0.0, 0.25], (2, 2)).unwrap();
    let named = || FileInput::new(&folder.0, false);
    let samples = load(named(), AudioContent::Samples, AudioInfo::All, 0, "i");
    let result = apply_to(&samples, sample(&[("x", name.clone())])).unwrap();
    assert_eq!(result.require("x").unwrap(), &expected);
    assert_eq!(result.require("i").unwrap(), &Value::from_slice(&[2i64, 2, 8000], 3).unwrap());
    for (info, expected) in [
        (AudioInfo::All, Value::from_slice(&[2i64, 2, 8000], 3).unwrap()),
        (AudioInfo::Frames, Value::scalar(2i64).unwrap()),
        (AudioInfo::Channels, Value::scalar(2i32).unwrap()),
        (AudioInfo::Rate, Value::scalar(8000i32).unwrap()),
        (AudioInfo::Seconds, Value::scalar(0.00025f64).unwrap()),
    ] {
        let told = load(FileInput::Content, AudioContent::Info, info, -1, "");
        assert_eq!(apply(&told, &text(&bytes)).unwrap(), expected);
    }
    // The info is that of the file, the samples have the rate that is asked for.
    let doubled = load(FileInput::Content, AudioContent::Samples, AudioInfo::Rate, 16000, "i");
    let result = apply_to(&doubled, sample(&[("x", Value::from_bytes(&bytes).unwrap())])).unwrap();
    assert_eq!(result.require("x").unwrap().shape()[..], [4, 2]);
    assert_eq!(result.require("i").unwrap(), &Value::scalar(8000i32).unwrap());
    for content in [AudioContent::Samples, AudioContent::Info] {
        for (bytes, kind) in
            [(&b"text"[..], ErrorKind::Io), (b"", ErrorKind::Io), (&bytes[..20], ErrorKind::Io)]
        {
            let name = folder.write("b.wav", bytes);
            let error = apply(&load(named(), content, AudioInfo::All, 0, ""), &name).unwrap_err();
            assert_eq!((error.kind(), error.path()), (kind, Some(&*folder.0.join("b.wav"))), "{error}");
            let error =
                apply(&load(FileInput::Content, content, AudioInfo::All, 0, ""), &text(bytes)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Value, "{error}");
        }
    }
}

#[test]
fn resample() {
    let sound = Value::from_slice(&[0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0], (6, 1)).unwrap();
    let halved = Value::from_slice(&[0.0f32, 2.0, 4.0], (3, 1)).unwrap();
    let resample = |to, from, key| ResampleAudio::new("x", to, from, key, Quality::Linear);
    assert_eq!(apply(&resample(8000, 16000, "").unwrap(), &sound).unwrap(), halved);
    let mono = sound.clone().reshaped(&Shape::from([6])).unwrap();
    assert_eq!(apply(&resample(8000, 16000, "").unwrap(), &mono).unwrap().shape()[..], [3]);
    for to in [0, -1, 16000] {
        assert_eq!(apply(&resample(to, 16000, "").unwrap(), &sound).unwrap(), sound);
    }
    for told in [
        Value::from_slice(&[6i64, 1, 16000], 3).unwrap(),
        Value::scalar(16000i32).unwrap(),
        Value::from_slice(&[16000u32], 1).unwrap(),
    ] {
        let given = sample(&[("x", sound.clone()), ("i", told)]);
        let result = apply_to(&resample(8000, 0, "i").unwrap(), given).unwrap();
        assert_eq!(result.require("x").unwrap(), &halved);
    }
    for told in [
        Value::scalar(0i64).unwrap(),
        Value::scalar(-5i64).unwrap(),
        Value::scalar(1i64 << 40).unwrap(),
        Value::scalar(16000.0f64).unwrap(),
        Value::from_slice(&[1i64, 2], 2).unwrap(),
    ] {
        let given = sample(&[("x", sound.clone()), ("i", told)]);
        let error = apply_to(&resample(8000, 0, "i").unwrap(), given).unwrap_err();
        assert_eq!((error.kind(), error.key()), (ErrorKind::Value, Some("i")), "{error}");
    }
    assert!(resample(8000, 0, "").is_err());
    assert!(resample(1 << 32, 8000, "").is_err());
    for (value, kind) in [
        (Value::from_slice(&[1i32; 6], (6, 1)).unwrap(), ErrorKind::Type),
        (Value::scalar(1.0f32).unwrap(), ErrorKind::Value),
        (Value::allocate(&Shape::from([2, 0]), DType::Float32).unwrap(), ErrorKind::Value),
    ] {
        assert_eq!(apply(&resample(8000, 16000, "").unwrap(), &value).unwrap_err().kind(), kind);
    }
    // Rates as far apart as can be are refused, not computed for ever.
    for (to, from) in [(1, i64::from(u32::MAX)), (i64::from(u32::MAX), 1)] {
        assert!(apply(&resample(to, from, "").unwrap(), &sound).is_err());
    }
    let unchanged: Box<dyn Operation> = Box::new(resample(16000, 16000, "").unwrap());
    let before = sound.view().start().addr();
    let given = [(Name::new("x"), sound)].into_iter().collect();
    assert_eq!(apply_to(&*unchanged, given).unwrap().require("x").unwrap().view().start().addr(), before);
}
