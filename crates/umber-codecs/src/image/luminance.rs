//! Colour to one channel.

use super::error::Result;
use super::{Extent, ImageError};

/// Weights of red, green and blue in what is left of a colour, on the full range of 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Luminance {
    /// Standard television, JFIF and most libraries: 0.299, 0.587, 0.114.
    Rec601,
    /// High definition and sRGB: 0.2126, 0.7152, 0.0722.
    Rec709,
    /// Ultra high definition: 0.2627, 0.678, 0.0593.
    Rec2020,
    /// Green alone.
    Green,
}

impl Luminance {
    /// The preset of a name: `"default"`, which is rec601, `"rec601"`, `"rec709"`, `"rec2020"` or `"green"`.
    pub fn of_name(name: &str) -> Result<Self> {
        match name {
            "default" | "rec601" => Ok(Self::Rec601),
            "rec709" => Ok(Self::Rec709),
            "rec2020" => Ok(Self::Rec2020),
            "green" => Ok(Self::Green),
            _ => Err(ImageError::Argument(format!(
                "preset must be default, rec601, rec709, rec2020 or green, got '{name}'"
            ))),
        }
    }

    /// Weights of 16 bits; their sum is 65,536, so that white stays white.
    const fn weights(self) -> [u32; 3] {
        match self {
            Self::Rec601 => [19595, 38470, 7471],
            Self::Rec709 => [13933, 46871, 4732],
            Self::Rec2020 => [17216, 44434, 3886],
            Self::Green => [0, 65536, 0],
        }
    }

    /// Luminance of one pixel, rounded.
    pub(crate) fn of(self, color: [u8; 3]) -> u8 {
        let [red, green, blue] = self.weights();
        let [r, g, b] = color.map(u32::from);
        ((r * red + g * green + b * blue + 0x8000) >> 16) as u8
    }
}

/// Write the luminance of an image of three channels to `target`, an image of one.
pub fn reduce_channels(source: &[u8], extent: Extent, preset: Luminance, target: &mut [u8]) -> Result<()> {
    if extent.channels != 3 {
        return Err(ImageError::Channels { expected: "3", got: extent.channels });
    }
    extent.check("source", source.len())?;
    Extent { channels: 1, ..extent }.check("target", target.len())?;
    for (target, &color) in target.iter_mut().zip(source.as_chunks::<3>().0) {
        *target = preset.of(color);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRESETS: [(&str, [f64; 3]); 5] = [
        ("default", [0.299, 0.587, 0.114]),
        ("rec601", [0.299, 0.587, 0.114]),
        ("rec709", [0.2126, 0.7152, 0.0722]),
        ("rec2020", [0.2627, 0.678, 0.0593]),
        ("green", [0.0, 1.0, 0.0]),
    ];

    #[test]
    fn within_half_a_level_of_the_formula() {
        let source: Vec<u8> =
            (0..3 * 500u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for (name, weights) in PRESETS {
            let preset = Luminance::of_name(name).unwrap();
            assert_eq!(preset.weights().iter().sum::<u32>(), 65536);
            assert_eq!(preset.of([255; 3]), 255);
            let mut target = [0; 500];
            reduce_channels(&source, Extent { width: 50, height: 10, channels: 3 }, preset, &mut target)
                .unwrap();
            for (color, grey) in source.chunks_exact(3).zip(target) {
                let expected: f64 = color.iter().zip(weights).map(|(&c, weight)| f64::from(c) * weight).sum();
                assert!((f64::from(grey) - expected).abs() < 0.51, "{name}: {grey} for {expected}");
            }
        }
    }

    #[test]
    fn arguments() {
        let error = Luminance::of_name("rec2100").unwrap_err().to_string();
        assert_eq!(error, "preset must be default, rec601, rec709, rec2020 or green, got 'rec2100'");
        let extent = Extent { width: 1, height: 1, channels: 4 };
        let error = reduce_channels(&[0; 4], extent, Luminance::Green, &mut [0]).unwrap_err();
        assert_eq!(error.to_string(), "expected 3 channels, got 4");
    }
}
