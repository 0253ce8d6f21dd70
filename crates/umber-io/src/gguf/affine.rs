//! Blocks of 32 integers with one scale, and a bias or zero point: the same quantisation as umber's with groups of 32, with
//! another order of the bits.

use half::f16;

/// The block types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Affine {
    /// 4-bit codes with zero point 8.
    Q4_0,
    /// 4-bit codes with a bias.
    Q4_1,
    /// Signed 8-bit codes.
    Q8_0,
}

/// Number of integers in a block.
pub(super) const GROUP: usize = 32;

impl Affine {
    /// Bytes of a block.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Affine::Q4_0 => 2 + 16,
            Affine::Q4_1 => 4 + 16,
            Affine::Q8_0 => 2 + 32,
        }
    }

    /// Bits of a code.
    pub(super) const fn bits(self) -> usize {
        match self {
            Affine::Q4_0 | Affine::Q4_1 => 4,
            Affine::Q8_0 => 8,
        }
    }

    /// Scale and bias of a block, so that elements are `scale * integer + bias` with unsigned integers.
    pub(super) fn scale_and_bias(self, block: &[u8]) -> (f16, f16) {
        let half = |at: usize| f16::from_le_bytes([block[at], block[at + 1]]);
        let scale = half(0);
        let bias_for = |zero_point: f32| f16::from_f32(-zero_point * scale.to_f32());
        match self {
            Affine::Q4_0 => (scale, bias_for(8.0)),
            Affine::Q4_1 => (scale, half(2)),
            Affine::Q8_0 => (scale, bias_for(128.0)),
        }
    }

    /// Repack the integers of a block, the first in the lowest bits.
    pub(super) fn pack(self, block: &[u8], into: &mut [u8]) {
        let integers = &block[self.bytes() - GROUP * self.bits() / 8..];
        match self {
            // The low nibbles of the bytes are the first sixteen integers, the high nibbles the last sixteen.
            Affine::Q4_0 | Affine::Q4_1 => {
                for (i, pair) in integers.chunks_exact(2).enumerate() {
                    into[i] = pair[0] & 15 | pair[1] << 4;
                    into[i + 8] = pair[0] >> 4 | pair[1] & 0xf0;
                }
            }
            Affine::Q8_0 => {
                for (packed, integer) in into.iter_mut().zip(integers) {
                    *packed = integer ^ 0x80;
                }
            }
        }
    }
}
