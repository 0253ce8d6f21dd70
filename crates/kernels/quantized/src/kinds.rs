//! Kinds of codes that kernels are compiled for.

use umber_types::{Quantization, QuantizationMode};

/// Kinds of codes: the number of bits, plus ten for floats.
pub(super) const INT1: u8 = 1;
pub(super) const INT2: u8 = 2;
pub(super) const INT3: u8 = 3;
pub(super) const INT4: u8 = 4;
pub(super) const INT5: u8 = 5;
pub(super) const INT6: u8 = 6;
pub(super) const INT8: u8 = 8;
pub(super) const FP4: u8 = 14;
pub(super) const FP8: u8 = 18;

/// Whether codes are integers.
pub(super) const fn is_integer(kind: u8) -> bool {
    kind < 10
}

pub(super) const fn bits_of(kind: u8) -> usize {
    (kind % 10) as usize
}

/// Bits of packed codes that are expanded to one 32-bit lane: a word of the matrix, or the bits of four or eight codes if a
/// word does not hold a whole number of codes.
pub(super) const fn unit_of(kind: u8) -> usize {
    match kind {
        INT3 | INT6 => 24,
        INT5 => 20,
        _ => 32,
    }
}

/// Codes in a lane.
pub(super) const fn per_unit(kind: u8) -> usize {
    unit_of(kind) / bits_of(kind)
}

/// The kind of a format, if kernels are compiled for it.
pub(super) fn kind_of(format: Quantization) -> Option<u8> {
    match (format.mode(), format.bits()) {
        (QuantizationMode::Mxfp4 | QuantizationMode::Nvfp4, _) => Some(FP4),
        (QuantizationMode::Mxfp8, _) => Some(FP8),
        (QuantizationMode::Affine, 1) => Some(INT1),
        (QuantizationMode::Affine, 2) => Some(INT2),
        (QuantizationMode::Affine, 3) => Some(INT3),
        (QuantizationMode::Affine, 4) => Some(INT4),
        (QuantizationMode::Affine, 5) => Some(INT5),
        (QuantizationMode::Affine, 6) => Some(INT6),
        (QuantizationMode::Affine, 8) => Some(INT8),
        (QuantizationMode::Affine, _) => None,
    }
}

/// The values of sixteen codes from `first` on: a lookup table for codes of up to four bits, or half of one for five bits.
#[cfg(target_arch = "x86_64")]
pub(super) const fn table<const KIND: u8>(first: usize) -> [f32; 16] {
    let mut levels = [0.0; 16];
    let mut i = 0;
    while i < 16 {
        let code = first + i;
        levels[i] = match KIND {
            FP4 => [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][code % 8] * if code < 8 { 1.0 } else { -1.0 },
            INT1 => (code % 2) as f32,
            INT2 => (code % 4) as f32,
            INT3 => (code % 8) as f32,
            _ => code as f32,
        };
        i += 1;
    }
    levels
}
