//! Blocks of 32 integers with one scale, and a bias or a middle: the same quantisation as umber's own with groups of
//! 32, under another order of the bits.

use half::f16;

/// Which blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Affine {
    /// Four bits around 8.
    Q4_0,
    /// Four bits and a bias.
    Q4_1,
    /// Eight bits with a sign.
    Q8_0,
}

/// The number of integers in a block.
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

    /// Bits of an integer.
    pub(super) const fn bits(self) -> usize {
        match self {
            Affine::Q4_0 | Affine::Q4_1 => 4,
            Affine::Q8_0 => 8,
        }
    }

    /// Scale and bias of a block, so that elements are `scale * integer + bias` with integers from 0.
    pub(super) fn scale_and_bias(self, block: &[u8]) -> (f16, f16) {
        let half = |at: usize| f16::from_le_bytes([block[at], block[at + 1]]);
        let scale = half(0);
        let around = |middle: f32| f16::from_f32(-middle * scale.to_f32());
        match self {
            Affine::Q4_0 => (scale, around(8.0)),
            Affine::Q4_1 => (scale, half(2)),
            Affine::Q8_0 => (scale, around(128.0)),
        }
    }

    /// The integers of a block, the first in the lowest bits.
    pub(super) fn pack(self, block: &[u8], into: &mut [u8]) {
        let integers = &block[self.bytes() - GROUP * self.bits() / 8..];
        match self {
            // The lower halves of the bytes are the first sixteen, the upper ones the others.
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
