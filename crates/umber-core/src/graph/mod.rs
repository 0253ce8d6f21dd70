//! What an array is: a handle to one output of a node in a graph of recorded operations.

mod array;
mod conversions;
pub(crate) mod few;
mod node;
pub mod program;
mod storage;
mod tape;
pub mod tracing;
pub mod walk;

pub use array::{Array, ArraySpec, Specs};
pub(crate) use node::{Claim, OnLine, Output, on_line, set_due_hook, set_origin_hook, users_line};
pub use node::{Inputs, Node};
pub use program::Program;
pub use storage::Storage;
pub(crate) use tape::Tape;
