"""Loss functions. All reduce the values they give for each element or sample.

`reduction` is `"none"` (an array of all values), `"mean"` or `"sum"`.
"""

from __future__ import annotations

import math

import umber.core as mx
from umber.nn.ctc import ctc_loss
from umber.nn.reduction import Reduction, reduce

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
) -> mx.array:
    """`-Σ p log softmax(logits)` along the class axis.

    `p` is 1 for the target class and 0 for the others, or `targets` itself; label smoothing `s`
    makes it `(1 - s) p + s / classes` (Szegedy et al., "Rethinking the Inception Architecture for
    Computer Vision", 2015).

    Args:
        logits: unnormalised scores of the classes.
        targets: class indices with the shape of `logits` without `axis`, or probabilities with the
            shape of `logits`.
        weights: factors of the values, with their shape. Default: none.
        axis: the class axis. Default: -1.
        label_smoothing: `s`, in `[0, 1)`. Default: 0.0.
        reduction: Default: `"none"`, values with the shape of `logits` without `axis`.
    """
    if not 0 <= label_smoothing < 1:
        raise ValueError(
            f"[cross_entropy] got the label smoothing {label_smoothing}, expected [0, 1)"
        )
    if targets.ndim == logits.ndim:
        _check_shape("cross_entropy", "targets", targets, logits.shape)
        # Nothing but rounding changes, unless the probabilities do not add up to 1: as in MLX the
        # greatest logit counts as 0 then.
        logits = logits - mx.stop_gradient(logits.max(axis=axis, keepdims=True))
        score = mx.sum(logits * targets, axis=axis)
    else:
        score = _of_targets("cross_entropy", logits, targets, axis)
    if label_smoothing > 0:
        score = (1 - label_smoothing) * score + label_smoothing * logits.mean(axis=axis)
    values = mx.logsumexp(logits, axis=axis) - score
    if weights is not None:
        _check_shape("cross_entropy", "weights", weights, values.shape)
        values = values * weights
    return reduce("cross_entropy", values, reduction)


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
    if with_logits:
        # -log sigmoid(x) = log(1 + exp(x)) - x, and -log(1 - sigmoid(x)) = log(1 + exp(x))
        values = mx.logaddexp(0, inputs) - inputs * targets
    else:
        values = -(targets * _cut_log(inputs) + (1 - targets) * _cut_log(1 - inputs))
    if weights is not None:
        _check_shape("binary_cross_entropy", "weights", weights, values.shape)
        values = values * weights
    return reduce("binary_cross_entropy", values, reduction)


def nll_loss(
    inputs: mx.array, targets: mx.array, axis: int = -1, reduction: Reduction = "none"
) -> mx.array:
    """Minus the log-probability of the target class: `-inputs[…, target]`.

    Args:
        inputs: log-probabilities of the classes.
        targets: class indices with the shape of `inputs` without `axis`.
        axis: the class axis. Default: -1.
        reduction: Default: `"none"`, values with the shape of `inputs` without `axis`.
    """
    return reduce("nll_loss", -_of_targets("nll_loss", inputs, targets, axis), reduction)


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
    values = mx.sum(mx.exp(targets) * (targets - inputs), axis=axis)
    return reduce("kl_div_loss", values, reduction)


def mse_loss(predictions: mx.array, targets: mx.array, reduction: Reduction = "mean") -> mx.array:
    """`(predictions - targets)²`, of equal shapes. Default reduction: `"mean"`."""
    _check_shape("mse_loss", "targets", targets, predictions.shape)
    return reduce("mse_loss", mx.square(predictions - targets), reduction)


def l1_loss(predictions: mx.array, targets: mx.array, reduction: Reduction = "mean") -> mx.array:
    """`|predictions - targets|`, of equal shapes. Default reduction: `"mean"`."""
    _check_shape("l1_loss", "targets", targets, predictions.shape)
    return reduce("l1_loss", mx.abs(predictions - targets), reduction)


def smooth_l1_loss(
    predictions: mx.array, targets: mx.array, beta: float = 1.0, reduction: Reduction = "mean"
) -> mx.array:
    """With `d = |predictions - targets|`: `d² / (2 beta)` where `d < beta`, else `d - beta / 2`.

    Girshick, "Fast R-CNN", 2015. The shapes are equal. Default reduction: `"mean"`.
    """
    _check_shape("smooth_l1_loss", "targets", targets, predictions.shape)
    if beta < 0:
        raise ValueError(f"[smooth_l1_loss] got beta {beta}, expected at least 0")
    difference = mx.abs(predictions - targets)
    if beta > 0:
        parabola = mx.square(difference) / (2 * beta)
        difference = mx.where(difference < beta, parabola, difference - beta / 2)
    return reduce("smooth_l1_loss", difference, reduction)


def huber_loss(
    inputs: mx.array, targets: mx.array, delta: float = 1.0, reduction: Reduction = "none"
) -> mx.array:
    """With `d = |inputs - targets|`: `d² / 2` where `d <= delta`, else `delta (d - delta / 2)`.

    Huber, "Robust Estimation of a Location Parameter", 1964. Default reduction: `"none"`.
    """
    difference = mx.abs(inputs - targets)
    values = mx.where(
        difference <= delta,
        0.5 * mx.square(difference),
        delta * (difference - 0.5 * delta),
    )
    return reduce("huber_loss", values, reduction)


def log_cosh_loss(inputs: mx.array, targets: mx.array, reduction: Reduction = "none") -> mx.array:
    """`log cosh(inputs - targets)`. Default reduction: `"none"`."""
    error = inputs - targets
    return reduce("log_cosh_loss", mx.logaddexp(error, -error) - math.log(2), reduction)


def hinge_loss(inputs: mx.array, targets: mx.array, reduction: Reduction = "none") -> mx.array:
    """`max(1 - inputs · targets, 0)`, targets being -1 or 1. Default reduction: `"none"`."""
    return reduce("hinge_loss", mx.maximum(1 - inputs * targets, 0), reduction)


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
    v = mx.maximum(vars, eps)
    values = 0.5 * (mx.log(v) + mx.square(targets - inputs) / v)
    if full:
        values = values + 0.5 * math.log(2 * math.pi)
    return reduce("gaussian_nll_loss", values, reduction)


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
    norms = mx.linalg.norm(x1, axis=axis) * mx.linalg.norm(x2, axis=axis)
    values = mx.sum(x1 * x2, axis=axis) / mx.maximum(norms, eps)
    return reduce("cosine_similarity_loss", values, reduction)


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
    values = mx.maximum(margin - targets * (inputs1 - inputs2), 0)
    return reduce("margin_ranking_loss", values, reduction)


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
        powers = mx.power(mx.abs(anchors - others), p)
        return mx.power(mx.sum(powers, axis=axis) + eps, 1 / p)

    values = mx.maximum(distance(positives) - distance(negatives) + margin, 0)
    return reduce("triplet_loss", values, reduction)


def _check_shape(op: str, name: str, value: mx.array, expected: tuple[int, ...]) -> None:
    if value.shape != expected:
        raise ValueError(f"[{op}] got {name} of shape {value.shape}, expected {expected}")


def _cut_log(p: mx.array) -> mx.array:
    """`max(log p, -100)`; its gradient is 0 where that is cut off or has no finite slope."""
    limits = mx.finfo(mx.log(p).dtype)
    is_cut = p < max(2 / limits.max, math.exp(-100))
    constant = mx.maximum(mx.log(mx.stop_gradient(p)), -100)
    return mx.where(is_cut, constant, mx.log(mx.where(is_cut, 1, p)))


def _of_targets(op: str, scores: mx.array, targets: mx.array, axis: int) -> mx.array:
    """`scores[…, target]`: the score of each sample's target class."""
    if targets.ndim + 1 == scores.ndim:
        indices = mx.expand_dims(targets, axis)
        expected = list(scores.shape)
        expected[axis] = 1
        if list(indices.shape) == expected:
            return mx.take_along_axis(scores, indices, axis).squeeze(axis)
    raise ValueError(
        f"[{op}] got targets of shape {targets.shape}, "
        f"expected that of the scores, {scores.shape}, without axis {axis}"
    )
