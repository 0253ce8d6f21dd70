//! Kinds of codes, which kernels are compiled for.

use umber_types::{Quantization, QuantizationMode};

/// Kinds of codes: their bits, and ten more for floats.
pub(super) const INT1: u8 = 1;
pub(super) const INT2: u8 = 2;
pub(super) const INT3: u8 = 3;
pub(super) const INT4: u8 = 4;
pub(super) const INT5: u8 = 5;
pub(super) const INT6: u8 = 6;
pub(super) const INT8: u8 = 8;
pub(super) const FP4: u8 = 14;
pub(super) const FP8: u8 = 18;

/// Do codes stand for whole numbers?
pub(super) const fn is_whole(kind: u8) -> bool {
    kind < 10
}

pub(super) const fn bits_of(kind: u8) -> usize {
    (kind % 10) as usize
}

/// Bits that a vector's word holds: a word of the matrix, or where codes do not fill that, as many bits as hold four or eight of
/// them.
pub(super) const fn unit_of(kind: u8) -> usize {
    match kind {
        INT3 | INT6 => 24,
        INT5 => 20,
        _ => 32,
    }
}

/// Codes in a vector's word.
pub(super) const fn per_unit(kind: u8) -> usize {
    unit_of(kind) / bits_of(kind)
}

/// The kind, if kernels are compiled for it.
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

/// The levels of sixteen codes from one on: what a vector's worth of codes of up to four bits stands for, or of half of five
/// bits'.
#[cfg(target_arch = "x86_64")]
pub(super) const fn table<const KIND: u8>(first: usize) -> [f32; 16] {
    let mut dequantize_codes = [0.0; 16];
    let mut place = 0;
    while place < 16 {
        let code = first + place;
        dequantize_codes[place] = match KIND {
            FP4 => [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][code % 8] * if code < 8 { 1.0 } else { -1.0 },
            INT1 => (code % 2) as f32,
            INT2 => (code % 4) as f32,
            INT3 => (code % 8) as f32,
            _ => code as f32,
        };
        place += 1;
    }
    dequantize_codes
}
