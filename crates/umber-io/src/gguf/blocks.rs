//! Blocks that are dequantised to float16, with the layouts of the GGUF specification. They are computed in float32 and rounded
//! once.

use half::f16;

/// The block types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// 5-bit codes with zero point 16.
    Q5_0,
    /// 5-bit codes with a bias.
    Q5_1,
    /// Signed 8-bit codes, and a sum for dot products.
    Q8_1,
    /// 2-bit codes, 16 groups.
    Q2K,
    /// 3-bit codes, 16 groups.
    Q3K,
    /// 4-bit codes, 8 groups.
    Q4K,
    /// 5-bit codes, 8 groups.
    Q5K,
    /// 6-bit codes, 16 groups.
    Q6K,
    /// 8-bit codes with a float32 scale.
    Q8K,
}

/// Elements of the largest block.
pub(super) const MAX_BLOCK: usize = 256;

impl Block {
    /// Number of elements of a block.
    pub(super) const fn elements(self) -> usize {
        match self {
            Block::Q5_0 | Block::Q5_1 | Block::Q8_1 => 32,
            Block::Q2K | Block::Q3K | Block::Q4K | Block::Q5K | Block::Q6K | Block::Q8K => MAX_BLOCK,
        }
    }

    /// Bytes of a block.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Block::Q5_0 => 22,
            Block::Q5_1 => 24,
            Block::Q8_1 => 36,
            Block::Q2K => 84,
            Block::Q3K => 110,
            Block::Q4K => 144,
            Block::Q5K => 176,
            Block::Q6K => 210,
            Block::Q8K => 292,
        }
    }

    /// Dequantise blocks to the bytes of float16 elements.
    pub(super) fn dequantise(self, blocks: &[u8], into: &mut [u8]) {
        let mut elements = [0.0f32; MAX_BLOCK];
        let elements = &mut elements[..self.elements()];
        for (block, half) in blocks.chunks_exact(self.bytes()).zip(into.chunks_exact_mut(2 * self.elements()))
        {
            self.expand(block, elements);
            for (bytes, &element) in half.chunks_exact_mut(2).zip(&*elements) {
                bytes.copy_from_slice(&f16::from_f32(element).to_le_bytes());
            }
        }
    }

    fn expand(self, block: &[u8], into: &mut [f32]) {
        match self {
            Block::Q5_0 => five_bits(half(block, 0), -16.0 * half(block, 0), &block[2..], into),
            Block::Q5_1 => five_bits(half(block, 0), half(block, 2), &block[4..], into),
            Block::Q8_1 => signed(half(block, 0), &block[4..], into),
            Block::Q2K => two_bits(block, into),
            Block::Q3K => three_bits(block, into),
            Block::Q4K => eight_groups(block, None, &block[16..], into),
            Block::Q5K => eight_groups(block, Some(&block[16..48]), &block[48..], into),
            Block::Q6K => six_bits(block, into),
            Block::Q8K => {
                signed(f32::from_le_bytes([block[0], block[1], block[2], block[3]]), &block[4..260], into);
            }
        }
    }
}

fn half(block: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([block[at], block[at + 1]]).to_f32()
}

fn signed(scale: f32, integers: &[u8], into: &mut [f32]) {
    for (element, &integer) in into.iter_mut().zip(integers) {
        *element = scale * f32::from(integer as i8);
    }
}

/// The fifth bits of all 32 codes, then their low four bits: those of the first sixteen in the low nibbles of the bytes.
fn five_bits(scale: f32, bias: f32, codes: &[u8], into: &mut [f32]) {
    let high = u32::from_le_bytes([codes[0], codes[1], codes[2], codes[3]]);
    for (i, &byte) in codes[4..20].iter().enumerate() {
        let first = byte & 15 | ((high >> i & 1) << 4) as u8;
        let second = byte >> 4 | ((high >> (i + 16) & 1) << 4) as u8;
        into[i] = scale * f32::from(first) + bias;
        into[i + 16] = scale * f32::from(second) + bias;
    }
}

/// 16 groups of 16: 4-bit scales and minima, 64 bytes of 2-bit codes, and two float16 factors.
fn two_bits(block: &[u8], into: &mut [f32]) {
    let (scale, minimum) = (half(block, 80), half(block, 82));
    for (group, elements) in into.chunks_exact_mut(16).enumerate() {
        let scales = block[group];
        let (step, offset) = (scale * f32::from(scales & 15), minimum * f32::from(scales >> 4));
        let (integers, shift) = quarter(&block[16..80], group);
        for (element, &byte) in elements.iter_mut().zip(integers) {
            *element = step * f32::from(byte >> shift & 3) - offset;
        }
    }
}

/// For groups of 16 two-bit codes, which share 16 bytes with other groups: the bytes, and the shift of the bits. A half of the
/// block is 32 bytes, whose lowest bits are its first two groups.
fn quarter(integers: &[u8], group: usize) -> (&[u8], u32) {
    let begin = group / 8 * 32 + group % 2 * 16;
    (&integers[begin..begin + 16], (group % 8 / 2 * 2) as u32)
}

/// 16 groups with 6-bit scales. The third bits of all codes are in 32 bytes, one bit position for each 32 elements.
fn three_bits(block: &[u8], into: &mut [f32]) {
    let (high, packed, scale) = (&block[..32], &block[96..108], half(block, 108));
    for (group, elements) in into.chunks_exact_mut(16).enumerate() {
        let low = packed[group % 8] >> (group / 8 * 4) & 15;
        let upper = packed[8 + group % 4] >> (group / 4 * 2) & 3;
        let step = scale * (f32::from(low | upper << 4) - 32.0);
        let (integers, shift) = quarter(&block[32..96], group);
        let thirds = &high[group % 2 * 16..][..16];
        for ((element, &byte), &third) in elements.iter_mut().zip(integers).zip(thirds) {
            let missing = if third >> (group / 2) & 1 == 0 { 4.0 } else { 0.0 };
            *element = step * (f32::from(byte >> shift & 3) - missing);
        }
    }
}

/// 8 groups of 32 codes of four bits, or five with the bits in `fifths`, with 6-bit scales and minima.
fn eight_groups(block: &[u8], fifths: Option<&[u8]>, integers: &[u8], into: &mut [f32]) {
    let (scale, minimum, packed) = (half(block, 0), half(block, 2), &block[4..16]);
    for (group, elements) in into.chunks_exact_mut(32).enumerate() {
        let (group_scale, group_minimum) = if group < 4 {
            (packed[group] & 63, packed[group + 4] & 63)
        } else {
            (
                packed[group + 4] & 15 | packed[group - 4] >> 6 << 4,
                packed[group + 4] >> 4 | packed[group] >> 6 << 4,
            )
        };
        let (step, offset) = (scale * f32::from(group_scale), minimum * f32::from(group_minimum));
        let bytes = &integers[group / 2 * 32..][..32];
        for (i, (element, &byte)) in elements.iter_mut().zip(bytes).enumerate() {
            let fifth = fifths.map_or(0, |fifths| fifths[i] >> group & 1);
            let integer = byte >> (group % 2 * 4) & 15 | fifth << 4;
            *element = step * f32::from(integer) - offset;
        }
    }
}

/// Two halves of 128 codes: the low four bits in 64 bytes, the upper two bits in 32 bytes; 16 scales of 8 bits.
fn six_bits(block: &[u8], into: &mut [f32]) {
    let (low, high, scales, scale) = (&block[..128], &block[128..192], &block[192..208], half(block, 208));
    for (quarter, elements) in into.chunks_exact_mut(32).enumerate() {
        // The half of the block, and the quarter of that half.
        let (half_index, quarter) = (quarter / 4, quarter % 4);
        for (i, element) in elements.iter_mut().enumerate() {
            let lower = low[half_index * 64 + quarter % 2 * 32 + i] >> (quarter / 2 * 4) & 15;
            let upper = high[half_index * 32 + i] >> (quarter * 2) & 3;
            let group_scale = f32::from(scales[half_index * 8 + quarter * 2 + i / 16] as i8);
            *element = scale * group_scale * (f32::from(lower | upper << 4) - 32.0);
        }
    }
}
