//! How groups of numbers are stored in few bits each.

use crate::kinds::QuantizationMode;
use crate::{Result, bail, ensure};

/// Groups of neighbours in rows, stored as codes of a few bits with a scale (and in affine mode a bias) a group.
///
/// Code `i` of a row takes the bits from `i * bits` on of a string of uint32 words, lowest bits first. Only combinations that
/// exist can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Quantization {
    mode: QuantizationMode,
    group_size: u16,
    bits: u8,
}

/// The same before it is checked.
#[derive(serde::Serialize, serde::Deserialize)]
struct Parts {
    mode: QuantizationMode,
    group_size: i64,
    bits: i64,
}

impl QuantizationMode {
    /// Group sizes and numbers of bits that exist.
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

/// `1, 2 or 3`.
fn listed<T: std::fmt::Display>(choices: &[T]) -> String {
    let texts: Vec<String> = choices.iter().map(ToString::to_string).collect();
    match texts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => texts.concat(),
    }
}

impl Quantization {
    /// A way of storing; what is not given is the mode's usual value.
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
        // Of several the second, but four bits, are usual.
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

    /// Which codes and scales.
    pub fn mode(self) -> QuantizationMode {
        self.mode
    }

    /// Neighbours with one scale.
    pub fn group_size(self) -> usize {
        usize::from(self.group_size)
    }

    /// Bits of a code.
    pub fn bits(self) -> usize {
        usize::from(self.bits)
    }

    /// Do groups have biases? Then their scales are numbers, else codes of eight bits.
    pub fn has_biases(self) -> bool {
        self.mode == QuantizationMode::Affine
    }

    /// Words that hold whole groups of so many elements together.
    pub fn words(self, elements: usize) -> usize {
        elements / self.group_size() * self.words_of_group()
    }

    /// Words that hold a group: always whole ones.
    pub fn words_of_group(self) -> usize {
        self.group_size() * self.bits() / 32
    }
}

impl From<Quantization> for Parts {
    fn from(of: Quantization) -> Parts {
        Parts { mode: of.mode, group_size: i64::from(of.group_size), bits: i64::from(of.bits) }
    }
}

impl TryFrom<Parts> for Quantization {
    type Error = crate::Error;

    fn try_from(parts: Parts) -> Result<Quantization> {
        Quantization::new("quantize", parts.mode, Some(parts.group_size), Some(parts.bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_values() {
        for (mode, group_size, bits) in [
            (QuantizationMode::Affine, 64, 4),
            (QuantizationMode::Mxfp4, 32, 4),
            (QuantizationMode::Mxfp8, 32, 8),
            (QuantizationMode::Nvfp4, 16, 4),
        ] {
            let found = Quantization::new("f", mode, None, None).expect("usual");
            assert_eq!((found.group_size(), found.bits()), (group_size, bits));
            assert_eq!(found.words(group_size * 3) * 32, group_size * bits * 3);
        }
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        let text = |group_size, bits| {
            let found = Quantization::new("f", QuantizationMode::Affine, group_size, bits);
            found.expect_err("refused").to_string()
        };
        assert_eq!(text(Some(16), None), "[f] got group_size 16, expected 32, 64 or 128 for mode 'affine'");
        assert_eq!(text(None, Some(7)), "[f] got bits 7, expected 1, 2, 3, 4, 5, 6 or 8 for mode 'affine'");
    }
}
