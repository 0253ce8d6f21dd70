//! Transforms: what is computed from a recorded graph besides its value.
//!
//! Each runs the user's function once on traced arrays, then walks what was recorded and asks every node's rule:
//! [`vjp`] backwards for gradients, [`jvp`] forwards for directional derivatives, [`vmap`] forwards for a batch of
//! arguments. Rules build ordinary arrays, so transforms nest in any order. A front end that must return to its own
//! language to run the function uses the two halves ([`Trace`], then [`pull_back`], [`push_forward`] or
//! [`Mapped::end`]); Rust programs use the functions on closures.

pub mod control_flow;
mod grad;
mod jvp;
mod trace;
mod vjp;
mod vmap;

pub use grad::{check_scalar, grad, value_and_grad};
pub use jvp::{jvp, push_forward};
pub use trace::Trace;
pub use vjp::{pull_back, vjp};
pub use vmap::{Mapped, batch, from_front, to_front, vmap};
