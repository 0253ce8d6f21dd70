//! The GGUF format (versions 2 and 3): typed metadata, and tensors, some of them quantised in blocks.
//!
//! Block types with a scale and a bias for 32 integers (Q4_0, Q4_1, Q8_0) become the three arrays of an affine
//! quantised weight: packed integers under the tensor's name, and `scales` and `biases`. Other blocks are dequantised to
//! float16. Plain tensors are mapped.

mod affine;
mod blocks;
mod read;
mod write;

pub use read::{Contents, load, read};
pub use write::save;

use umber_core::DType;

const MAGIC: &[u8; 4] = b"GGUF";
/// Default alignment of tensors, unless the metadata sets another one.
const ALIGNMENT: u64 = 32;
const ALIGNMENT_KEY: &str = "general.alignment";

/// The types of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Plain elements.
    Plain(DType),
    /// Blocks that stay quantised.
    Affine(affine::Affine),
    /// Blocks that are dequantised to float16.
    Blocks(blocks::Block),
}

impl Kind {
    /// The type with this number; `Err` describes an unsupported one.
    fn of(number: u32) -> Result<Kind, &'static str> {
        use affine::Affine::{Q4_0, Q4_1, Q8_0};
        use blocks::Block::{Q2K, Q3K, Q4K, Q5_0, Q5_1, Q5K, Q6K, Q8_1, Q8K};
        Ok(match number {
            0 => Kind::Plain(DType::Float32),
            1 => Kind::Plain(DType::Float16),
            2 => Kind::Affine(Q4_0),
            3 => Kind::Affine(Q4_1),
            6 => Kind::Blocks(Q5_0),
            7 => Kind::Blocks(Q5_1),
            8 => Kind::Affine(Q8_0),
            9 => Kind::Blocks(Q8_1),
            10 => Kind::Blocks(Q2K),
            11 => Kind::Blocks(Q3K),
            12 => Kind::Blocks(Q4K),
            13 => Kind::Blocks(Q5K),
            14 => Kind::Blocks(Q6K),
            15 => Kind::Blocks(Q8K),
            16..=23 | 29 => return Err("of the IQ family"),
            24 => Kind::Plain(DType::Int8),
            25 => Kind::Plain(DType::Int16),
            26 => Kind::Plain(DType::Int32),
            27 => Kind::Plain(DType::Int64),
            28 => Kind::Plain(DType::Float64),
            30 => Kind::Plain(DType::BFloat16),
            34 | 35 => return Err("of the TQ family"),
            39 => return Err("MXFP4"),
            _ => return Err("that is none of the format"),
        })
    }

    /// The number of the type of plain elements of this dtype.
    fn number_of(dtype: DType) -> Option<u32> {
        (0..64).find(|&number| Kind::of(number) == Ok(Kind::Plain(dtype)))
    }

    /// Number of elements and of bytes of a block.
    fn block(self) -> (usize, usize) {
        match self {
            Kind::Plain(dtype) => (1, dtype.size()),
            Kind::Affine(affine) => (32, affine.bytes()),
            Kind::Blocks(block) => (block.elements(), block.bytes()),
        }
    }
}

/// The numeric types of metadata, with their numbers.
const NUMBERS: [(u32, DType); 11] = [
    (0, DType::UInt8),
    (1, DType::Int8),
    (2, DType::UInt16),
    (3, DType::Int16),
    (4, DType::UInt32),
    (5, DType::Int32),
    (6, DType::Float32),
    (7, DType::Bool),
    (10, DType::UInt64),
    (11, DType::Int64),
    (12, DType::Float64),
];
const TEXT: u32 = 8;
const LIST: u32 = 9;
