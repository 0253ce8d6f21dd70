//! Pipelines that feed arrays.
//!
//! [`decode`] turns bytes of image files into pixels, [`image`] operates on pixels. Both work on plain memory.

pub mod decode;
pub mod image;
