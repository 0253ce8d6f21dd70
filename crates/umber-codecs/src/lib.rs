//! Images, sound, text and records: bytes to plain memory and back. No arrays, no samples, no threads.
//!
//! `umber-data` makes operations and sources of them. The crate stands alone, so that it compiles beside the framework.

pub mod decode;
pub mod image;
pub mod records;
pub mod sound;
pub mod text;
