//! Losses of logits or log-probabilities and target classes.

use umber_types::{BinaryKind, DType, Kind, Result, Shape, bail, ensure};

use crate::graph::Array;
use crate::primitives::composite::{Shifted, shifted_logsumexp};
use crate::primitives::control::Control;
use crate::primitives::gather::Places;
use crate::primitives::rules::{
    add, binary, broadcast, cast, constant, neg, reshape, sub, widened, zeros_like,
};
use crate::primitives::select::Select;

/// Cross entropy of logits and target classes: `logsumexp(x) - x[target]` for every row `x` of the logits.
///
/// Computed as `log(sum(exp(x - m))) + (m - x[target])` with the maximum `m`. `logits` is `[..., classes]`, real
/// floating point; `targets` are integers of the shape before the last axis. The result has the shape of `targets`, in
/// float64 for float64 and else in float32. Targets equal to `ignored` have the loss 0 and no gradient. Fails for other
/// shapes and dtypes; evaluation fails for targets outside `[0, classes)`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let logits = Array::from([[0.0f32, 0.0], [0.0, f32::NEG_INFINITY]]);
/// let loss = ops::fast::cross_entropy(&logits, &Array::from([1, 0]), None)?;
/// assert_eq!(loss.to_vec::<f32>()?, [2f32.ln(), 0.0]);
/// assert!(ops::fast::cross_entropy(&logits, &Array::from([1, -1]), None)?.to_vec::<f32>().is_err());
/// let loss = ops::fast::cross_entropy(&logits, &Array::from([1, -1]), Some(-1))?;
/// assert_eq!(loss.to_vec::<f32>()?, [2f32.ln(), 0.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn cross_entropy(logits: &Array, targets: &Array, ignored: Option<i64>) -> Result<Array> {
    const OP: &str = "cross_entropy";
    ensure!(
        logits.dtype().is_floating(),
        Type(OP),
        "logits must be real floating-point, not {}",
        logits.dtype()
    );
    check_targets(OP, "logits", logits, targets)?;
    let logits = cast(logits, logits.dtype().compute_dtype())?;
    if targets.size() == 0 {
        let dtype = if logits.dtype() == DType::Float64 { DType::Float64 } else { DType::Float32 };
        return Ok(Array::full(targets.shape().clone(), 0.0, dtype));
    }
    let classes = Classes::of(OP, targets, ignored)?;
    let logits = classes.clear_ignored(&logits)?;
    let Shifted { max, log } = shifted_logsumexp(&logits)?;
    let TargetScores { scores, is_ignored } = classes.target_scores(OP, &logits)?;
    without_ignored(&add(&log, &sub(&max, &widened(&scores)?)?)?, is_ignored)
}

/// Negative log-likelihood of target classes: `-log_probs[i, targets[i]]` for every row `i`.
///
/// `log_probs` is `[..., classes]`; `targets` are integers of the shape before the last axis. The result has their
/// shape and the dtype of `log_probs`. Targets equal to `ignored` have the loss 0 and no gradient. Fails for other
/// shapes and dtypes; evaluation fails for targets outside `[0, classes)`.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let log_probs = Array::from([[-1.0f32, -2.0], [-3.0, -4.0]]);
/// let loss = ops::fast::nll_loss(&log_probs, &Array::from([1, -100]), Some(-100))?;
/// assert_eq!(loss.to_vec::<f32>()?, [2.0, 0.0]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn nll_loss(log_probs: &Array, targets: &Array, ignored: Option<i64>) -> Result<Array> {
    const OP: &str = "nll_loss";
    ensure!(log_probs.dtype() != DType::Bool, Type(OP), "log-probabilities must be numeric, not bool");
    check_targets(OP, "log-probabilities", log_probs, targets)?;
    if targets.size() == 0 {
        return Ok(Array::full(targets.shape().clone(), 0.0, log_probs.dtype()));
    }
    let classes = Classes::of(OP, targets, ignored)?;
    let scores = classes.clear_ignored(log_probs)?;
    let TargetScores { scores, is_ignored } = classes.target_scores(OP, &scores)?;
    without_ignored(&neg(&scores)?, is_ignored)
}

fn check_targets(op: &str, name: &str, scores: &Array, targets: &Array) -> Result<()> {
    let Some((&classes, rows)) = scores.shape().split_last() else {
        bail!(Value(op), "{name} must have a class axis, got shape ()")
    };
    ensure!(
        targets.dtype().is_integer(),
        Type(op),
        "targets must be integer class indices, not {}",
        targets.dtype()
    );
    ensure!(
        targets.shape()[..] == *rows,
        Value(op),
        "shape of targets, {}, does not match {name} of shape {}",
        targets.shape(),
        scores.shape()
    );
    ensure!(
        classes > 0 || targets.size() == 0,
        Value(op),
        "{name} must have at least one class, got shape {}",
        scores.shape()
    );
    Ok(())
}

/// The scores at the targets.
struct TargetScores {
    /// The scores at the targets, at class 0 for ignored targets.
    scores: Array,
    /// A mask of ignored targets, if any can be.
    is_ignored: Option<Array>,
}

/// The targets, class 0 for ignored ones.
struct Classes {
    classes: Array,
    is_ignored: Option<Array>,
}

impl Classes {
    /// Evaluation fails for targets that are neither classes nor ignored.
    fn of(op: &'static str, targets: &Array, ignored: Option<i64>) -> Result<Classes> {
        let (mut classes, mut is_ignored) = (targets.clone(), None);
        if let Some(index) = ignored.filter(|&index| represents(targets.dtype(), index)) {
            let is_same = binary(BinaryKind::Equal, targets, &constant(targets, index))?;
            classes = Array::record_one(Select, &[&is_same, &zeros_like(targets), targets])?;
            is_ignored = Some(is_same);
        }
        if matches!(targets.dtype(), DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64) {
            classes = Array::record_one(Control::Classes { op }, &[&classes])?;
        }
        Ok(Classes { classes, is_ignored })
    }

    fn column(&self, array: &Array) -> Result<Array> {
        reshape(array, self.classes.shape().iter().copied().chain([1]).collect::<Shape>())
    }

    /// The scores with zeros in ignored rows: non-finite scores there would make the gradient NaN.
    fn clear_ignored(&self, scores: &Array) -> Result<Array> {
        let Some(is_ignored) = &self.is_ignored else { return Ok(scores.clone()) };
        let is_ignored = broadcast(&self.column(is_ignored)?, scores.shape())?;
        Array::record_one(Select, &[&is_ignored, &zeros_like(scores), scores])
    }

    /// The scores at the targets.
    fn target_scores(self, op: &'static str, scores: &Array) -> Result<TargetScores> {
        let rows = self.classes.shape();
        let scores = Places::along(op, rows.ndim(), self.column(&self.classes)?).read(scores)?;
        Ok(TargetScores { scores: reshape(&scores, rows.clone())?, is_ignored: self.is_ignored })
    }
}

/// Whether an integer dtype represents a number.
fn represents(dtype: DType, number: i64) -> bool {
    let high_bits = |bits: usize| number >> (bits - 1);
    match dtype.kind() {
        Kind::Signed => matches!(high_bits(8 * dtype.size()), 0 | -1),
        Kind::Unsigned => high_bits(8 * dtype.size()) >> 1 == 0,
        Kind::Bool | Kind::Float | Kind::Complex => true,
    }
}

fn without_ignored(losses: &Array, is_ignored: Option<Array>) -> Result<Array> {
    match is_ignored {
        Some(is_ignored) => Array::record_one(Select, &[&is_ignored, &zeros_like(losses), losses]),
        None => Ok(losses.clone()),
    }
}
