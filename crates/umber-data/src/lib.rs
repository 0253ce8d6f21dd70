//! Pipelines that feed arrays: text and records on plain memory.

pub mod records;
pub mod text;
