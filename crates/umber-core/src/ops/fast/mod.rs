//! Fused operations: a single kernel where the backend has one.

mod attention;
mod cross_entropy;
mod gated_delta;
mod norms;
mod rope;

pub use attention::{Attend, Mask, scaled_dot_product_attention};
pub use cross_entropy::{cross_entropy, nll_loss};
pub use gated_delta::{GatedDeltaUpdate, gated_delta_update};
pub use norms::{layer_norm, rms_norm};
pub use rope::{Frequencies, Rotation, rope};

use umber_types::Result;

use crate::graph::{Array, Inputs};
use crate::primitives::composite::Composite;

/// The one output of a composite.
fn record(composite: Composite, inputs: Inputs) -> Result<Array> {
    let mut outputs = Array::record(composite, inputs)?;
    Ok(outputs.pop().expect("one output"))
}
