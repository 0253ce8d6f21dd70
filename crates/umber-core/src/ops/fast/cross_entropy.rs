//! Cross entropy of logits and classes.

use umber_types::{Result, Shape, ensure};

use crate::graph::Array;
use crate::primitives::composite::logsumexp;
use crate::primitives::gather::Places;
use crate::primitives::rules::{reshape, sub, widened};

/// `logsumexp(logits[i]) - logits[i, targets[i]]` for every row `i`: minus the logarithm of the softmax at the target.
///
/// `logits` is `[..., classes]`, real floating point; `targets` are integers of the shape before the last axis. Computed and
/// answered in float32, for float64 in float64, with the shape of `targets`. Fails for other shapes and dtypes; evaluation fails
/// for targets that are no classes.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let logits = Array::from([[0.0f32, 0.0], [0.0, f32::NEG_INFINITY]]);
/// let loss = ops::fast::cross_entropy(&logits, &Array::from([1, 0]))?;
/// assert_eq!(loss.to_vec::<f32>()?, [2f32.ln(), 0.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn cross_entropy(logits: &Array, targets: &Array) -> Result<Array> {
    ensure!(
        logits.ndim() > 0 && logits.dtype().is_floating(),
        Value,
        "[cross_entropy] got logits of shape {} and dtype {}, expected real floating point with an axis of classes",
        logits.shape(),
        logits.dtype()
    );
    let (&classes, rows) = logits.shape().split_last().expect("at least one axis");
    ensure!(
        targets.dtype().is_integer(),
        Value,
        "[cross_entropy] got targets of dtype {}, expected integers, the numbers of classes",
        targets.dtype()
    );
    ensure!(
        targets.shape()[..] == *rows,
        Value,
        "[cross_entropy] got targets of shape {} for logits of shape {}, expected this without its last axis",
        targets.shape(),
        logits.shape()
    );
    ensure!(
        classes > 0 || targets.size() == 0,
        Value,
        "[cross_entropy] got logits of shape {}, expected at least one class",
        logits.shape()
    );
    let logits = widened(logits)?;
    if targets.size() == 0 {
        return Ok(Array::full(targets.shape().clone(), 0.0, logits.dtype()));
    }
    let column: Shape = rows.iter().copied().chain([1]).collect();
    let own = Places::along("cross_entropy", rows.len(), reshape(targets, column)?).read(&logits)?;
    sub(&logsumexp(&logits)?, &reshape(&own, targets.shape().clone())?)
}
