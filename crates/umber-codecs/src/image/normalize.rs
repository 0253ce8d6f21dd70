//! Bytes to normalised floating-point numbers, in one pass.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};

use super::error::Result;
use super::{Extent, ImageError};

/// The order of the axes of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Height, width, channels: as images are read.
    Hwc,
    /// Channels, height, width.
    Chw,
}

/// (x · scale − mean) / std for each channel, as x · factor + offset.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalization {
    factors: Vec<f32>,
    offsets: Vec<f32>,
}

/// Numbers of a tile, a multiple of every usual number of channels and of the width of vectors.
const TILE: usize = 192;

/// An element that normalisation writes.
pub trait Normalized: Copy + Default {
    /// Convert from single precision, rounded to nearest.
    fn convert(source: &[f32], target: &mut [Self]);
}

impl Normalized for f32 {
    fn convert(source: &[f32], target: &mut [Self]) {
        target.copy_from_slice(source);
    }
}

impl Normalized for f16 {
    fn convert(source: &[f32], target: &mut [Self]) {
        target.convert_from_f32_slice(source);
    }
}

impl Normalized for bf16 {
    fn convert(source: &[f32], target: &mut [Self]) {
        target.convert_from_f32_slice(source);
    }
}

impl Normalization {
    /// The normalisation of images of `channels` channels; `mean` and `std` have one value, or one a channel.
    pub fn new(channels: usize, scale: f64, mean: &[f64], std: &[f64]) -> Result<Self> {
        for (name, values) in [("mean", mean), ("std", std)] {
            if values.len() != 1 && values.len() != channels {
                return Err(ImageError::Argument(format!(
                    "{name} must have 1 value or {channels}, one a channel, got {}",
                    values.len()
                )));
            }
        }
        if std.contains(&0.0) {
            return Err(ImageError::Argument("std must not be zero".to_owned()));
        }
        let of_channel = |values: &[f64], channel: usize| values[if values.len() == 1 { 0 } else { channel }];
        let factor = |channel| (scale / of_channel(std, channel)) as f32;
        let offset = |channel| (-of_channel(mean, channel) / of_channel(std, channel)) as f32;
        Ok(Self {
            factors: (0..channels).map(factor).collect(),
            offsets: (0..channels).map(offset).collect(),
        })
    }

    /// Write the normalised image to `target`.
    pub fn apply<T: Normalized>(
        &self,
        source: &[u8],
        extent: Extent,
        layout: Layout,
        target: &mut [T],
    ) -> Result<()> {
        extent.check("source", source.len())?;
        extent.check("target", target.len())?;
        if extent.channels != self.factors.len() {
            let expected = "as many channels as the normalisation has:";
            return Err(ImageError::Argument(format!(
                "expected {expected} {}, got {}",
                self.factors.len(),
                extent.channels
            )));
        }
        match (layout, extent.channels) {
            _ if extent.is_empty() => {}
            // One channel has the same order in both.
            (Layout::Hwc, _) | (_, 1) => self.interleaved(source, target),
            (Layout::Chw, 3) => self.planes::<T, 3>(source, target),
            (Layout::Chw, 4) => self.planes::<T, 4>(source, target),
            (Layout::Chw, _) => self.planes_of_any(source, target),
        }
        Ok(())
    }

    /// Tiles of the same length for all pixels, so that the loop has no index of a channel in it.
    fn interleaved<T: Normalized>(&self, source: &[u8], target: &mut [T]) {
        let channels = self.factors.len();
        // A tile ends with a whole pixel.
        let length = if channels <= TILE { TILE / channels * channels } else { channels };
        let factors = self.factors.repeat(length / channels);
        let offsets = self.offsets.repeat(length / channels);
        let mut tile = vec![0.0; length];
        for (source, target) in source.chunks(length).zip(target.chunks_mut(length)) {
            let tile = &mut tile[..source.len()];
            for (((value, &x), factor), offset) in tile.iter_mut().zip(source).zip(&factors).zip(&offsets) {
                *value = f32::from(x) * factor + offset;
            }
            T::convert(tile, target);
        }
    }

    /// Planes of a number of channels that is known to the compiler.
    fn planes<T: Normalized, const CHANNELS: usize>(&self, source: &[u8], target: &mut [T]) {
        let (pixels, _) = source.as_chunks::<CHANNELS>();
        let plane_length = pixels.len();
        let mut tile = [0.0; TILE];
        // Tile by tile, so that the source is read from memory once.
        for (index, pixels) in pixels.chunks(TILE).enumerate() {
            for (channel, plane) in target.chunks_exact_mut(plane_length).enumerate() {
                let (factor, offset) = (self.factors[channel], self.offsets[channel]);
                let tile = &mut tile[..pixels.len()];
                for (value, pixel) in tile.iter_mut().zip(pixels) {
                    *value = f32::from(pixel[channel]) * factor + offset;
                }
                T::convert(tile, &mut plane[index * TILE..][..pixels.len()]);
            }
        }
    }

    fn planes_of_any<T: Normalized>(&self, source: &[u8], target: &mut [T]) {
        let channels = self.factors.len();
        let plane_length = source.len() / channels;
        for (channel, plane) in target.chunks_exact_mut(plane_length).enumerate() {
            let (factor, offset) = (self.factors[channel], self.offsets[channel]);
            for (value, &x) in plane.iter_mut().zip(source[channel..].iter().step_by(channels)) {
                T::convert(&[f32::from(x) * factor + offset], std::slice::from_mut(value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEAN: [f64; 6] = [0.485, 0.456, 0.406, 0.5, 0.0, 0.1];
    const STD: [f64; 6] = [0.229, 0.224, 0.225, 0.5, 1.0, 2.0];

    fn compare<T: Normalized + Into<f64>>(tolerance: f64) {
        for channels in 1..=6 {
            let extent = Extent { width: 67, height: 5, channels };
            let source: Vec<u8> = (0..extent.len().unwrap()).map(|index| (index * 37 % 256) as u8).collect();
            let normalization =
                Normalization::new(channels, 1.0 / 255.0, &MEAN[..channels], &STD[..channels]).unwrap();
            let mut target = vec![T::default(); source.len()];
            for layout in [Layout::Hwc, Layout::Chw] {
                normalization.apply(&source, extent, layout, &mut target).unwrap();
                for (index, &x) in source.iter().enumerate() {
                    let (pixel, channel) = (index / channels, index % channels);
                    let at = if layout == Layout::Hwc { index } else { channel * 67 * 5 + pixel };
                    let expected = (f64::from(x) / 255.0 - MEAN[channel]) / STD[channel];
                    let got: f64 = target[at].into();
                    assert!(
                        (got - expected).abs() <= tolerance,
                        "{layout:?} {channels}: {got} for {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn values() {
        compare::<f32>(5e-7);
        compare::<f16>(2e-3);
        compare::<bf16>(1.6e-2);
    }

    #[test]
    fn one_value_for_all_channels_and_arguments() {
        let extent = Extent { width: 1, height: 1, channels: 3 };
        let normalization = Normalization::new(3, 1.0, &[1.0], &[2.0]).unwrap();
        let mut target = [0.0f32; 3];
        normalization.apply(&[1, 3, 255], extent, Layout::Chw, &mut target).unwrap();
        assert_eq!(target, [0.0, 1.0, 127.0]);
        let error = Normalization::new(3, 1.0, &[1.0, 2.0], &[1.0]).unwrap_err();
        assert_eq!(error.to_string(), "mean must have 1 value or 3, one a channel, got 2");
        assert_eq!(
            Normalization::new(1, 1.0, &[1.0], &[0.0]).unwrap_err().to_string(),
            "std must not be zero"
        );
        let grey = Extent { channels: 1, ..extent };
        assert!(normalization.apply(&[1], grey, Layout::Hwc, &mut target[..1]).is_err());
        let empty = Extent { width: 0, ..extent };
        normalization.apply::<f32>(&[], empty, Layout::Chw, &mut []).unwrap();
    }
}
