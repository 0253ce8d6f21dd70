//! Storage formats of quantised weights.

use crate::kinds::QuantizationMode;
use crate::{Result, bail, ensure};

/// Groups of adjacent elements of a row, stored as codes of a few bits with a scale (and in affine mode a bias) for each group.
///
/// Code `i` of a row occupies the bits from `i * bits` on of a sequence of uint32 words, lowest bits first. Only supported
/// combinations can be constructed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "UncheckedQuantization", into = "UncheckedQuantization")]
pub struct Quantization {
    mode: QuantizationMode,
    group_size: u16,
    bits: u8,
}

/// The fields before they are checked.
#[derive(serde::Serialize, serde::Deserialize)]
struct UncheckedQuantization {
    mode: QuantizationMode,
    group_size: i64,
    bits: i64,
}

impl QuantizationMode {
    /// Supported group sizes and numbers of bits.
    fn choices(self) -> (&'static [u16], &'static [u8]) {
        match self {
            QuantizationMode::Affine => (&[32, 64, 128], &[1, 2, 3, 4, 5, 6, 8]),
            QuantizationMode::Mxfp4 => (&[32], &[4]),
            QuantizationMode::Mxfp8 => (&[32], &[8]),
            QuantizationMode::Nvfp4 => (&[16], &[4]),
        }
    }

    /// The mode of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(op: &str, name: &str) -> Result<QuantizationMode> {
        match QuantizationMode::ALL.iter().find(|mode| mode.name() == name) {
            Some(&mode) => Ok(mode),
            None => {
                let names: Vec<_> =
                    QuantizationMode::ALL.iter().map(|mode| format!("'{}'", mode.name())).collect();
                bail!(Value(op), "got mode '{name}', expected one of {}", names.join(", "))
            }
        }
    }
}

/// Join choices as `1, 2 or 3`.
fn listed<T: std::fmt::Display>(choices: &[T]) -> String {
    let texts: Vec<String> = choices.iter().map(ToString::to_string).collect();
    match texts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => texts.concat(),
    }
}

impl Quantization {
    /// A format; omitted parameters have the mode's default.
    ///
    /// # Errors
    /// If the mode has no such group size or number of bits; `op` is named.
    pub fn new(
        op: &str,
        mode: QuantizationMode,
        group_size: Option<i64>,
        bits: Option<i64>,
    ) -> Result<Quantization> {
        let (sizes, widths) = mode.choices();
        // The default is the middle choice.
        let group_size = group_size.unwrap_or_else(|| i64::from(sizes[sizes.len() / 2]));
        let bits = bits.unwrap_or_else(|| i64::from(widths[widths.len() / 2]));
        let found = (
            sizes.iter().find(|&&size| i64::from(size) == group_size),
            widths.iter().find(|&&width| i64::from(width) == bits),
        );
        ensure!(
            found.0.is_some(),
            Value(op),
            "got group_size {group_size}, expected {} for mode '{}'",
            listed(sizes),
            mode.name()
        );
        let (Some(&group_size), Some(&bits)) = found else {
            bail!(Value(op), "got bits {bits}, expected {} for mode '{}'", listed(widths), mode.name())
        };
        Ok(Quantization { mode, group_size, bits })
    }

    /// The mode.
    pub fn mode(self) -> QuantizationMode {
        self.mode
    }

    /// Number of elements with a common scale.
    pub fn group_size(self) -> usize {
        usize::from(self.group_size)
    }

    /// Number of bits of a code.
    pub fn bits(self) -> usize {
        usize::from(self.bits)
    }

    /// Whether groups have biases. Then their scales are floating-point elements, otherwise 8-bit codes.
    pub fn has_biases(self) -> bool {
        self.mode == QuantizationMode::Affine
    }

    /// Number of words of this many elements, in full groups.
    pub fn words(self, elements: usize) -> usize {
        elements / self.group_size() * self.words_of_group()
    }

    /// Number of words of a group, always an integer.
    pub fn words_of_group(self) -> usize {
        self.group_size() * self.bits() / 32
    }
}

impl From<Quantization> for UncheckedQuantization {
    fn from(quantization: Quantization) -> UncheckedQuantization {
        UncheckedQuantization {
            mode: quantization.mode,
            group_size: i64::from(quantization.group_size),
            bits: i64::from(quantization.bits),
        }
    }
}

impl TryFrom<UncheckedQuantization> for Quantization {
    type Error = crate::Error;

    fn try_from(unchecked: UncheckedQuantization) -> Result<Quantization> {
        Quantization::new("quantize", unchecked.mode, Some(unchecked.group_size), Some(unchecked.bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_values() {
        for (mode, group_size, bits) in [
            (QuantizationMode::Affine, 64, 4),
            (QuantizationMode::Mxfp4, 32, 4),
            (QuantizationMode::Mxfp8, 32, 8),
            (QuantizationMode::Nvfp4, 16, 4),
        ] {
            let format = Quantization::new("f", mode, None, None).expect("defaults are supported");
            assert_eq!((format.group_size(), format.bits()), (group_size, bits));
            assert_eq!(format.words(group_size * 3) * 32, group_size * bits * 3);
        }
    }

    #[test]
    fn unsupported_combinations_are_errors() {
        let text = |group_size, bits| {
            let format = Quantization::new("f", QuantizationMode::Affine, group_size, bits);
            format.expect_err("refused").to_string()
        };
        assert_eq!(text(Some(16), None), "[f] got group_size 16, expected 32, 64 or 128 for mode 'affine'");
        assert_eq!(text(None, Some(7)), "[f] got bits 7, expected 1, 2, 3, 4, 5, 6 or 8 for mode 'affine'");
    }
}
