"""Loss functions. All reduce the values they give for each element or sample.

`reduction` is `"none"` (an array of all values), `"mean"` or `"sum"`. Losses of float16 and
bfloat16 are computed and reduced in float32 and rounded once, to the promoted dtype of the arrays.
A product of the probability or weight 0 with an infinite term counts as 0, as in `p log p → 0`.

Under MLX's name, with the hook of `umber.mlx`, negative class indices of `cross_entropy` and
`nll_loss` count from the end. Those below `-classes`, where MLX reads foreign memory, have the loss
0 before label smoothing and count in the mean, so that programs can mask them afterwards.
"""

from __future__ import annotations

import math

import umber.core as mx
from umber._mlx_rules import mlx_rules_hold
from umber.nn.ctc import ctc_loss
from umber.nn.reduction import Reduction, reduce
from umber.nn.reduction import widened as _widened

__all__ = [
    "Reduction",
    "binary_cross_entropy",
    "cosine_similarity_loss",
    "cross_entropy",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_loss",
    "huber_loss",
    "kl_div_loss",
    "l1_loss",
    "log_cosh_loss",
    "margin_ranking_loss",
    "mse_loss",
    "nll_loss",
    "smooth_l1_loss",
    "triplet_loss",
]


def cross_entropy(
    logits: mx.array,
    targets: mx.array,
    weights: mx.array | None = None,
    axis: int = -1,
    label_smoothing: float = 0.0,
    reduction: Reduction = "none",
    *,
    ignore_index: int | None = None,
) -> mx.array:
    """`-Σ p log softmax(logits)` along the class axis.

    `p` is 1 for the target class and 0 for the others, or `targets` itself; label smoothing `s`
    makes it `(1 - s) p + s / classes` (Szegedy et al., "Rethinking the Inception Architecture for
    Computer Vision", 2015).

    Args:
        logits: unnormalised scores of the classes.
        targets: class indices with the shape of `logits` without `axis`, or probabilities with the
            shape of `logits`. Evaluation raises IndexError for indices outside of `[0, classes)`;
            under MLX's name negative ones count from the end.
        weights: factors of the values, with their shape. Default: none.
        axis: the class axis. Default: -1.
        label_smoothing: `s`, in `[0, 1)`. Default: 0.0.
        reduction: Default: `"none"`, values with the shape of `logits` without `axis`. The mean
            divides by the number of targets that are not ignored.
        ignore_index: class indices that do not count: their loss is 0, and they have no gradient.
            Default: none.
    """
    if not 0 <= label_smoothing < 1:
        raise ValueError(
            f"[cross_entropy] got the label smoothing {label_smoothing}, expected [0, 1)"
        )
    dtype = logits.dtype if weights is None else mx.result_type(logits, weights)
    is_counted = None
    if targets.ndim == logits.ndim:
        _check_shape("cross_entropy", "targets", targets, logits.shape)
        if ignore_index is not None:
            raise ValueError(
                "[cross_entropy] ignore_index requires class indices, got probabilities; exclude "
                "samples with weights of 0"
            )
        dtype = mx.result_type(dtype, targets)
        logits, targets = _widened(logits), _widened(targets)
        # Nothing but rounding changes, unless the probabilities do not add up to 1: as in MLX the
        # greatest logit counts as 0 then.
        logits = logits - mx.stop_gradient(logits.max(axis=axis, keepdims=True))
        score = mx.sum(_weighted(targets, logits), axis=axis)
        if label_smoothing > 0:
            score = (1 - label_smoothing) * score + label_smoothing * logits.mean(axis=axis)
        values = mx.logsumexp(logits, axis=axis) - score
    else:
        rows = _rows("cross_entropy", logits, targets, axis)
        if not mx.issubdtype(rows.dtype, mx.inexact):
            rows = rows.astype(mx.float32)
        classes, ignored = _classes(targets, rows.shape[-1], ignore_index)
        values = mx.fast.cross_entropy(rows, classes, ignore_index=ignored)
        if label_smoothing > 0:
            uniform = -mx.log_softmax(_widened(rows), axis=-1).mean(axis=-1)
            values = (1 - label_smoothing) * values + label_smoothing * uniform
        if ignore_index is not None:
            is_counted = targets.astype(mx.int64) != ignore_index
    if weights is not None:
        _check_shape("cross_entropy", "weights", weights, values.shape)
        values = _weighted(_widened(weights), values)
    if is_counted is not None:
        values = mx.where(is_counted, values, 0)
    return reduce("cross_entropy", values, reduction, dtype, is_counted)


def binary_cross_entropy(
    inputs: mx.array,
    targets: mx.array,
    weights: mx.array | None = None,
    with_logits: bool = True,
    reduction: Reduction = "mean",
) -> mx.array:
    """`-(t log p + (1 - t) log(1 - p))` elementwise, with `p = sigmoid(inputs)` or `inputs`.

    Args:
        inputs: logits or probabilities. Logarithms of probabilities are cut off at -100, and have
            the gradient 0 where they are.
        targets: probabilities with the shape of `inputs`.
        weights: factors of the values, with their shape. Default: none.
        with_logits: whether `inputs` are logits. Default: `True`.
        reduction: Default: `"mean"`.
    """
    _check_shape("binary_cross_entropy", "targets", targets, inputs.shape)
    given = (inputs, targets) if weights is None else (inputs, targets, weights)
    dtype, given_dtype = mx.result_type(*given), inputs.dtype
    inputs, targets = _widened(inputs), _widened(targets)
    if with_logits:
        # With p = sigmoid(x): -log p = log(1 + exp(-x)), and -log(1 - p) = -log p + x. The terms of
        # the likelier class are taken, so that nothing is subtracted from a large logarithm.
        is_likely = targets >= 0.5
        rest = mx.where(is_likely, 1 - targets, 0 - targets)
        values = mx.logaddexp(mx.where(is_likely, -inputs, inputs), 0) + _weighted(rest, inputs)
    else:
        is_float = mx.issubdtype(given_dtype, mx.floating)
        largest = mx.finfo(given_dtype if is_float else mx.float32).max
        values = -(
            targets * _cut_log(inputs, largest) + (1 - targets) * _cut_log(1 - inputs, largest)
        )
    if weights is not None:
        _check_shape("binary_cross_entropy", "weights", weights, values.shape)
        values = _weighted(_widened(weights), values)
    return reduce("binary_cross_entropy", values, reduction, dtype)


def nll_loss(
    inputs: mx.array,
    targets: mx.array,
    axis: int = -1,
    reduction: Reduction = "none",
    *,
    ignore_index: int | None = None,
) -> mx.array:
    """Minus the log-probability of the target class: `-inputs[…, target]`.

    Args:
        inputs: log-probabilities of the classes.
        targets: class indices with the shape of `inputs` without `axis`. Evaluation raises
            IndexError for indices outside of `[0, classes)`; under MLX's name negative ones count
            from the end.
        axis: the class axis. Default: -1.
        reduction: Default: `"none"`, values with the shape of `inputs` without `axis`. The mean
            divides by the number of targets that are not ignored.
        ignore_index: class indices that do not count: their loss is 0, and they have no gradient.
            Default: none.
    """
    rows = _rows("nll_loss", inputs, targets, axis)
    classes, ignored = _classes(targets, rows.shape[-1], ignore_index)
    values = mx.fast.nll_loss(rows, classes, ignore_index=ignored)
    is_counted = None if ignore_index is None else targets.astype(mx.int64) != ignore_index
    return reduce("nll_loss", _widened(values), reduction, inputs.dtype, is_counted)


def kl_div_loss(
    inputs: mx.array, targets: mx.array, axis: int = -1, reduction: Reduction = "none"
) -> mx.array:
    """The Kullback-Leibler divergence `Σ exp(targets) (targets - inputs)` along `axis`.

    Args:
        inputs: log-probabilities of the prediction.
        targets: log-probabilities that are true.
        axis: the class axis. Default: -1.
        reduction: Default: `"none"`, values with the shape of `inputs` without `axis`.
    """
    dtype = mx.result_type(inputs, targets)
    inputs, targets = _widened(inputs), _widened(targets)
    # Where the probability is 0 its logarithm must not meet another infinity.
    logs = mx.where(targets == -math.inf, 0, targets)
    values = mx.sum(_weighted(mx.exp(targets), logs - inputs), axis=axis)
    return reduce("kl_div_loss", values, reduction, dtype)


def mse_loss(predictions: mx.array, targets: mx.array, reduction: Reduction = "mean") -> mx.array:
    """`(predictions - targets)²`, of equal shapes. Default reduction: `"mean"`."""
    _check_shape("mse_loss", "targets", targets, predictions.shape)
    dtype = mx.result_type(predictions, targets)
    values = mx.square(_widened(predictions) - _widened(targets))
    return reduce("mse_loss", values, reduction, dtype)


def l1_loss(predictions: mx.array, targets: mx.array, reduction: Reduction = "mean") -> mx.array:
    """`|predictions - targets|`, of equal shapes. Default reduction: `"mean"`."""
    _check_shape("l1_loss", "targets", targets, predictions.shape)
    dtype = mx.result_type(predictions, targets)
    values = mx.abs(_widened(predictions) - _widened(targets))
    return reduce("l1_loss", values, reduction, dtype)


def smooth_l1_loss(
    predictions: mx.array, targets: mx.array, beta: float = 1.0, reduction: Reduction = "mean"
) -> mx.array:
    """With `d = |predictions - targets|`: `d² / (2 beta)` where `d < beta`, else `d - beta / 2`.

    Girshick, "Fast R-CNN", 2015. The shapes are equal. Default reduction: `"mean"`.
    """
    _check_shape("smooth_l1_loss", "targets", targets, predictions.shape)
    if beta < 0:
        raise ValueError(f"[smooth_l1_loss] got beta {beta}, expected at least 0")
    dtype = mx.result_type(predictions, targets)
    values = mx.abs(_widened(predictions) - _widened(targets))
    values = values.astype(mx.result_type(values, mx.float32))
    if beta > 0:
        is_near = values < beta
        near = mx.where(is_near, values, 0)
        values = mx.where(is_near, near * (near / (2 * beta)), values - beta / 2)
    return reduce("smooth_l1_loss", values, reduction, dtype)


def huber_loss(
    inputs: mx.array, targets: mx.array, delta: float = 1.0, reduction: Reduction = "none"
) -> mx.array:
    """With `d = |inputs - targets|`: `d² / 2` where `d <= delta`, else `delta (d - delta / 2)`.

    Huber, "Robust Estimation of a Location Parameter", 1964. Default reduction: `"none"`.
    """
    dtype = mx.result_type(inputs, targets)
    difference = mx.abs(_widened(inputs) - _widened(targets))
    is_near = difference <= delta
    near = mx.where(is_near, difference, 0)
    values = mx.where(is_near, 0.5 * mx.square(near), delta * (difference - 0.5 * delta))
    return reduce("huber_loss", values, reduction, dtype)


def log_cosh_loss(inputs: mx.array, targets: mx.array, reduction: Reduction = "none") -> mx.array:
    """`log cosh(inputs - targets)`. Default reduction: `"none"`."""
    dtype = mx.result_type(inputs, targets)
    error = _widened(inputs) - _widened(targets)
    # cosh(x) = 1 + 2 sinh²(x / 2): small errors would be lost beside log 2.
    is_small = mx.abs(error) < 1
    small = mx.log1p(2 * mx.square(mx.sinh(mx.where(is_small, error, 0) / 2)))
    values = mx.where(is_small, small, mx.logaddexp(error, -error) - math.log(2))
    return reduce("log_cosh_loss", values, reduction, dtype)


def hinge_loss(inputs: mx.array, targets: mx.array, reduction: Reduction = "none") -> mx.array:
    """`max(1 - inputs · targets, 0)`, targets being -1 or 1. Default reduction: `"none"`."""
    dtype = mx.result_type(inputs, targets)
    values = mx.maximum(1 - _widened(inputs) * _widened(targets), 0)
    return reduce("hinge_loss", values, reduction, dtype)


def gaussian_nll_loss(
    inputs: mx.array,
    targets: mx.array,
    vars: mx.array,
    full: bool = False,
    eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> mx.array:
    """Minus the log-likelihood of a normal distribution: `(log v + (targets - inputs)² / v) / 2`.

    Nix, Weigend, "Estimating the Mean and Variance of the Target Probability Distribution", 1994.

    Args:
        inputs: the means.
        targets: the samples, with the shape of `inputs`.
        vars: the variances, with the shape of `inputs`; `v = max(vars, eps)`.
        full: whether to add the constant `log(2π) / 2`. Default: `False`.
        eps: the least variance. Default: 1e-6.
        reduction: Default: `"mean"`.
    """
    _check_shape("gaussian_nll_loss", "targets", targets, inputs.shape)
    _check_shape("gaussian_nll_loss", "vars", vars, inputs.shape)
    dtype = mx.result_type(inputs, targets, vars)
    error = _widened(targets) - _widened(inputs)
    v = mx.maximum(_widened(vars), eps)
    # The square of the error may overflow where its ratio to the variance does not.
    values = 0.5 * (mx.log(v) + error * (error / v))
    if full:
        values = values + 0.5 * math.log(2 * math.pi)
    return reduce("gaussian_nll_loss", values, reduction, dtype)


def cosine_similarity_loss(
    x1: mx.array,
    x2: mx.array,
    axis: int = 1,
    eps: float = 1e-8,
    reduction: Reduction = "none",
) -> mx.array:
    """The cosine of the angle between vectors: `x1 · x2 / max(|x1| |x2|, eps)` along `axis`.

    The norm of a zero vector has the gradient 0. Default: axis 1, reduction `"none"`.
    """
    dtype = mx.result_type(x1, x2)
    x1, x2 = _widened(x1), _widened(x2)
    norm1, norm2 = (mx.linalg.norm(x, axis=axis, keepdims=True) for x in (x1, x2))
    # Each vector is divided by its own norm, since products of the norms may overflow.
    is_short = norm1 <= eps / norm2
    x1 = x1 / mx.where(is_short, 1, norm1)
    x2 = x2 / mx.where(is_short, eps, norm2)
    return reduce("cosine_similarity_loss", mx.sum(x1 * x2, axis=axis), reduction, dtype)


def margin_ranking_loss(
    inputs1: mx.array,
    inputs2: mx.array,
    targets: mx.array,
    margin: float = 0.0,
    reduction: Reduction = "none",
) -> mx.array:
    """`max(-targets (inputs1 - inputs2) + margin, 0)`, of equal shapes.

    A target of 1 asks that the first score be larger, -1 the second. Default reduction: `"none"`.
    """
    _check_shape("margin_ranking_loss", "inputs2", inputs2, inputs1.shape)
    _check_shape("margin_ranking_loss", "targets", targets, inputs1.shape)
    dtype = mx.result_type(inputs1, inputs2, targets)
    difference = _widened(inputs1) - _widened(inputs2)
    values = mx.maximum(margin - _widened(targets) * difference, 0)
    return reduce("margin_ranking_loss", values, reduction, dtype)


def triplet_loss(
    anchors: mx.array,
    positives: mx.array,
    negatives: mx.array,
    axis: int = -1,
    p: int = 2,
    margin: float = 1.0,
    eps: float = 1e-6,
    reduction: Reduction = "none",
) -> mx.array:
    """`max(|anchors - positives| - |anchors - negatives| + margin, 0)`, p-norms along `axis`.

    Args:
        anchors: vectors along `axis`.
        positives: vectors that should be near the anchors.
        negatives: vectors that should be farther by `margin`.
        axis: Default: -1.
        p: degree of the norm `(Σ |d|^p + eps)^(1/p)`. Default: 2.
        margin: Default: 1.0.
        eps: keeps the gradient at distance 0 finite. Default: 1e-6.
        reduction: Default: `"none"`.
    """

    def distance(others: mx.array) -> mx.array:
        parts = mx.abs(_widened(anchors) - _widened(others))
        scale = _scale_of_powers(parts, axis)
        powers = mx.power(parts / scale, p)
        scale = mx.squeeze(scale, axis)
        return scale * mx.power(mx.sum(powers, axis=axis) + eps / scale**p, 1 / p)

    dtype = mx.result_type(anchors, positives, negatives)
    values = mx.maximum(distance(positives) - distance(negatives) + margin, 0)
    return reduce("triplet_loss", values, reduction, dtype)


def _scale_of_powers(x: mx.array, axis: int) -> mx.array:
    """A power of two near the largest part along `axis` where its powers may overflow, else 1."""
    largest = mx.stop_gradient(mx.max(x, axis=axis, keepdims=True, initial=0))
    is_large = (largest > 2.0**30) & mx.isfinite(largest)
    return mx.where(is_large, mx.exp2(mx.floor(mx.log2(mx.where(is_large, largest, 1)))), 1)


def _check_shape(op: str, name: str, value: mx.array, expected: tuple[int, ...]) -> None:
    if value.shape != expected:
        raise ValueError(f"[{op}] got {name} of shape {value.shape}, expected {expected}")


def _weighted(weights: mx.array, values: mx.array) -> mx.array:
    """`weights · values`, 0 and without a gradient where a weight of 0 meets an infinite value."""
    is_nothing = (weights == 0) & mx.isinf(values)
    return weights * mx.where(is_nothing, 0, values)


def _cut_log(p: mx.array, largest: float) -> mx.array:
    """`max(log p, -100)`; its gradient is 0 where that is cut off or its slope beyond `largest`."""
    is_cut = p < max(2 / largest, math.exp(-100))
    constant = mx.maximum(mx.log(mx.stop_gradient(p)), -100)
    return mx.where(is_cut, constant, mx.log(mx.where(is_cut, 1, p)))


def _classes(
    targets: mx.array, count: int, ignore_index: int | None
) -> tuple[mx.array, int | None]:
    """Class indices and the one to ignore, with negative ones counted from the end as in MLX."""
    if not (mlx_rules_hold() and mx.issubdtype(targets.dtype, mx.signedinteger)):
        return targets, ignore_index
    wide = targets.astype(mx.int64)
    is_beyond = wide < -count
    if ignore_index is not None:
        is_beyond = is_beyond | (wide == ignore_index)
    return mx.where(is_beyond, -1, mx.where(wide < 0, wide + count, wide)), -1


def _rows(op: str, scores: mx.array, targets: mx.array, axis: int) -> mx.array:
    """The scores with the class axis last; the targets must have their shape without it."""
    rows = scores if axis in (-1, scores.ndim - 1) else mx.moveaxis(scores, axis, -1)
    if targets.shape != rows.shape[:-1]:
        raise ValueError(
            f"[{op}] shape of targets, {targets.shape}, does not match scores of shape "
            f"{scores.shape} without axis {axis}"
        )
    return rows
