//! Arrays and the graph: an array is a handle to one output of a node, a recorded operation.

mod array;
mod conversions;
mod internals;
mod node;
pub mod program;
mod storage;
mod tape;
pub mod tracing;
pub mod walk;

pub use array::{Array, ArraySpec, Specs};
pub use internals::ArrayInternals;
pub(crate) use node::{Claim, InputPair, Output, RecordContext, trace_scope_of};
pub use node::{Inputs, Node};
pub use program::Program;
pub use storage::{HostStorage, Storage};
pub(crate) use tape::Tape;
