//! Zip archives (PKWARE's APPNOTE 6.3), as far as npz files need them: members stored or deflated, of any size.
//!
//! Members that are stored begin at a multiple of 64 bytes, by an extra field as wide as that needs, so that they can
//! be mapped. Their sizes stand before them, so that an archive can be written to what cannot seek.

mod read;
mod write;

pub(crate) use read::{Member, members};
pub(crate) use write::Archive;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;
/// The extra field of sizes and offsets that do not fit 32 bits.
const EXTRA_64: u16 = 1;
/// An extra field whose only use is to be as wide as it is.
const EXTRA_ALIGNMENT: u16 = 0xd935;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// What stands for a number that is in the extra field.
const ELSEWHERE: u32 = u32::MAX;
