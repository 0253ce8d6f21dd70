//! Pipelines of samples: sources, operations, batches, threads that prefetch, and states to resume from.
//!
//! A [`Sample`] is a row of named [`Value`]s. A [`Buffer`] is a sequence of samples with a length and random access, a [`Stream`] is
//! read once, from its start to its end, and can be reset. Both are lazy: what an operation does is described when it is added, and
//! done when a sample is read.
//!
//! Every stage of a pipeline separates two things. To **draw** is cheap and happens in order: it decides what comes next, an index or
//! a position in a file, and returns a [`Ticket`]. To **run** a ticket is the work, loading and decoding and transforming, and depends
//! on the ticket alone. So threads can run tickets in any order while their results arrive in the order of drawing, the same for every
//! number of threads; random numbers depend on the sample's position; and a state is a position.
//!
//! Read in this order: [`value`], [`sample`], [`ticket`], [`operation`], [`buffer`], [`stream`], [`stage`], [`run`].

pub mod buffer;
pub mod error;
pub mod operation;
pub mod ops;
pub mod random;
pub mod run;
pub mod sample;
pub mod source;
pub mod stage;
pub mod state;
pub mod stream;
pub mod ticket;
pub mod value;

pub use umber_codecs::{decode, image, records, sound, text};

pub use buffer::Buffer;
pub use error::{DataError, Result};
pub use operation::Operation;
pub use random::{Draw, Key, Position};
pub use sample::{Name, Sample};
pub use state::State;
pub use stream::Stream;
pub use ticket::Ticket;
pub use value::Value;
