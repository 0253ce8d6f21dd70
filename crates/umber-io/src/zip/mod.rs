//! Zip archives (PKWARE's APPNOTE 6.3), as needed for npz files: stored or deflated members of any size.
//!
//! Stored members are aligned to 64 bytes by padding in an extra field, so that they can be mapped. The sizes precede stored
//! members, so that archives can be written to streams that cannot seek.

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
/// The extra field for sizes and offsets that do not fit 32 bits (Zip64).
const EXTRA_64: u16 = 1;
/// An extra field that is used as padding.
const EXTRA_ALIGNMENT: u16 = 0xd935;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// Marks a number that is stored in the extra field.
const ELSEWHERE: u32 = u32::MAX;
