//! Transforms: derivatives and batches of functions, computed from recorded graphs.
//!
//! Each runs the user's function once on traced arrays, then traverses the recorded tape and applies the rule of each node:
//! [`vjp`] backwards for gradients, [`jvp`] forwards for directional derivatives, [`vmap`] forwards for a batch of
//! arguments. Rules build ordinary arrays, so transforms nest in any order. A front end that must return to its own
//! language to run the function uses the two halves ([`Trace`], then [`pull_back`], [`push_forward`] or
//! [`Mapped::end`]); Rust programs use the functions on closures.

mod accumulate;
mod callback;
mod checkpoint;
pub mod control_flow;
mod custom;
mod expand;
mod grad;
mod implicit;
mod jacobian;
mod jvp;
mod trace;
mod vjp;
mod vmap;

pub use crate::primitive::Batched;
pub use crate::primitives::callback::{CallbackBatches, HostFunction};
pub use crate::primitives::custom::{RuleSet, Rules};
pub use callback::{call_host, pure_callback};
pub use checkpoint::{checkpoint, end_checkpoint};
pub use custom::{CustomFunction, custom_function, with_rules};
pub(crate) use expand::expanded;
pub use grad::{check_scalar, grad, pull_holomorphic, value_and_grad};
pub use implicit::{
    Equations, LinearSolver, TracedEquations, TransposeSolve, custom_linear_solve, custom_root,
    record_linear_solution, record_root, run_solver,
};
pub use jacobian::{
    Jacobians, Linear, eval_shape, hessian, jacfwd, jacrev, linearize, pull_jacobians, push_jacobians,
};
pub use jvp::{jvp, push_forward};
pub use trace::Trace;
pub use vjp::{pull_back, vjp};
pub use vmap::{Mapped, batch, from_front, to_front, vmap};

/// The rules of nodes that hold functions, which have to be transformed themselves; other nodes use their own rules.
mod holders {
    use super::{callback, checkpoint, custom};
    use crate::graph::Array;
    use crate::op::Op;
    use crate::primitive::{Batched, Cotangents, Point, Primitive, Rule};

    pub(super) fn vjp(op: &Op, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        if let Op::Checkpoint(checkpoint_op) = op {
            return Some(checkpoint::vjp(checkpoint_op, at, cotangents));
        }
        op.vjp(at, cotangents)
    }

    pub(super) fn vmap(op: &Op, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        if let Op::Checkpoint(checkpoint_op) = op {
            return Some(checkpoint::batch(checkpoint_op, inputs));
        }
        if let Op::Custom(custom_op) = op {
            return Some(custom::batch(custom_op, inputs));
        }
        if let Op::Callback(callback_op) = op {
            return callback::batch(callback_op, inputs);
        }
        op.vmap(inputs)
    }
}
