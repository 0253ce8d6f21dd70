"""Loss functions.

Each computes a loss for every element or sample and reduces them: `reduction` is ``"none"`` for all
values, ``"mean"`` or ``"sum"``. Losses of float16 and bfloat16 are computed and reduced in float32
and rounded once, to the promoted dtype of the arguments. The product of a probability or weight 0
with an infinite term counts as 0, as in ``p * log(p)`` for `p` towards 0.

Under the import hook of `umber.mlx`, negative class indices of `cross_entropy` and `nll_loss` count
from the end. Indices below ``-classes``, for which MLX reads out of bounds, have the loss 0 before
label smoothing and count in the mean, so that a program can mask them afterwards.
"""

# One subject: the loss functions, which are short; most lines are their documentation.

from __future__ import annotations

import math

import umber.core as mx
from umber import _layout
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
    """Cross entropy between targets and the softmax of logits.

    Parameters
    ----------
    logits : array
        Unnormalised scores of the classes, of any shape.
    targets : array
        Class indices of the shape of `logits` without `axis`, or probabilities of the shape of
        `logits`.
    weights : array, optional
        Factors of the losses, of their shape. Default: none.
    axis : int, optional
        The class axis. Default: -1.
    label_smoothing : float, optional
        Smoothing `s` in ``[0, 1)``. Default: 0.0.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"none"``.
    ignore_index : int, optional
        Class index to ignore: such targets have the loss 0 and no gradient, and the mean does not
        count them. Default: none.

    Returns
    -------
    array
        Losses of the shape of `logits` without `axis`, or a scalar for the reductions ``"mean"``
        and ``"sum"``.

    Raises
    ------
    ValueError
        If shapes do not fit, if `label_smoothing` or `reduction` is invalid, or if `ignore_index`
        is given with probabilities as targets.
    IndexError
        On evaluation, if a class index is outside of ``[0, classes)``.

    See Also
    --------
    nll_loss, binary_cross_entropy, mx.fast.cross_entropy

    Notes
    -----
    The loss is ``-sum(p * log_softmax(logits))`` along the class axis, where `p` is the probability
    distribution of the targets, or 1 at the class index and 0 elsewhere. Label smoothing [1]_
    replaces it by ``(1 - s) * p + s / classes``.

    The mean divides by the number of targets that are not ignored. Under the import hook of
    `umber.mlx`, negative class indices count from the end.

    References
    ----------
    .. [1] Szegedy et al., "Rethinking the Inception Architecture for Computer Vision", 2015.

    Examples
    --------
    >>> logits = mx.array([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> nn.losses.cross_entropy(logits, mx.array([0, 2]))
    array([0.239545, 1.09861], dtype=float32)
    >>> nn.losses.cross_entropy(logits, mx.array([0, -1]), ignore_index=-1, reduction="mean")
    array(0.239545, dtype=float32)
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
        # Subtracting the maximum avoids overflow. It changes the result only if the probabilities
        # do not sum to 1, and then as in MLX.
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
    """Cross entropy between targets and probabilities of a binary class.

    Parameters
    ----------
    inputs : array
        Logits, or probabilities if `with_logits` is false.
    targets : array
        Probabilities of the shape of `inputs`.
    weights : array, optional
        Factors of the losses, of their shape. Default: none.
    with_logits : bool, optional
        Whether `inputs` are logits. Default: True.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"mean"``.

    Returns
    -------
    array
        Losses of the shape of `inputs`, or a scalar for the reductions ``"mean"`` and ``"sum"``.

    Raises
    ------
    ValueError
        If shapes differ or `reduction` is invalid.

    See Also
    --------
    cross_entropy

    Notes
    -----
    The loss is ``-(t * log(p) + (1 - t) * log(1 - p))`` with ``p = sigmoid(inputs)`` for logits.
    Logarithms of given probabilities are cut off at -100, where their gradient is 0.

    Examples
    --------
    >>> logits, targets = mx.array([0.0, 1.0]), mx.array([1.0, 1.0])
    >>> nn.losses.binary_cross_entropy(logits, targets, reduction="none")
    array([0.693147, 0.313262], dtype=float32)
    """
    _check_shape("binary_cross_entropy", "targets", targets, inputs.shape)
    arguments = (inputs, targets) if weights is None else (inputs, targets, weights)
    dtype, input_dtype = mx.result_type(*arguments), inputs.dtype
    inputs, targets = _widened(inputs), _widened(targets)
    if with_logits:
        # With p = sigmoid(x): -log p = log(1 + exp(-x)), and -log(1 - p) = -log p + x. Starting
        # from the likelier class avoids cancellation.
        is_likely = targets >= 0.5
        residual = mx.where(is_likely, 1 - targets, 0 - targets)
        values = mx.logaddexp(mx.where(is_likely, -inputs, inputs), 0) + _weighted(residual, inputs)
    else:
        is_float = mx.issubdtype(input_dtype, mx.floating)
        largest = mx.finfo(input_dtype if is_float else mx.float32).max
        values = -(
            targets * _clipped_log(inputs, largest)
            + (1 - targets) * _clipped_log(1 - inputs, largest)
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
    """Negative log-likelihood of target classes: ``-inputs[..., target]``.

    Parameters
    ----------
    inputs : array
        Log-probabilities of the classes.
    targets : array
        Class indices of the shape of `inputs` without `axis`.
    axis : int, optional
        The class axis. Default: -1.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"none"``.
    ignore_index : int, optional
        Class index to ignore: such targets have the loss 0 and no gradient, and the mean does not
        count them. Default: none.

    Returns
    -------
    array
        Losses of the shape of `inputs` without `axis`, or a scalar for the reductions ``"mean"``
        and ``"sum"``.

    Raises
    ------
    ValueError
        If shapes do not fit or `reduction` is invalid.
    IndexError
        On evaluation, if a class index is outside of ``[0, classes)``.

    See Also
    --------
    cross_entropy, mx.fast.nll_loss

    Notes
    -----
    The mean divides by the number of targets that are not ignored. Under the import hook of
    `umber.mlx`, negative class indices count from the end.

    Examples
    --------
    >>> log_p = mx.log(mx.array([[0.25, 0.75], [0.5, 0.5]]))
    >>> nn.losses.nll_loss(log_p, mx.array([1, 0]))
    array([0.287682, 0.693147], dtype=float32)
    """
    rows = _rows("nll_loss", inputs, targets, axis)
    classes, ignored = _classes(targets, rows.shape[-1], ignore_index)
    values = mx.fast.nll_loss(rows, classes, ignore_index=ignored)
    is_counted = None if ignore_index is None else targets.astype(mx.int64) != ignore_index
    return reduce("nll_loss", _widened(values), reduction, inputs.dtype, is_counted)


def kl_div_loss(
    inputs: mx.array, targets: mx.array, axis: int = -1, reduction: Reduction = "none"
) -> mx.array:
    """Kullback-Leibler divergence of the true distribution from a prediction.

    Parameters
    ----------
    inputs : array
        Log-probabilities of the prediction.
    targets : array
        Log-probabilities of the true distribution.
    axis : int, optional
        The class axis. Default: -1.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"none"``.

    Returns
    -------
    array
        Losses of the shape of `inputs` without `axis`, or a scalar for the reductions ``"mean"``
        and ``"sum"``.

    Raises
    ------
    ValueError
        If shapes do not broadcast or `reduction` is invalid.

    See Also
    --------
    cross_entropy

    Notes
    -----
    The loss is ``sum(exp(targets) * (targets - inputs))`` along `axis`. Classes of probability 0
    add 0.

    Examples
    --------
    >>> q, p = mx.array([[0.5, 0.5]]), mx.array([[0.25, 0.75]])
    >>> nn.losses.kl_div_loss(mx.log(q), mx.log(p))
    array([0.130812], dtype=float32)
    """
    dtype = mx.result_type(inputs, targets)
    inputs, targets = _widened(inputs), _widened(targets)
    # Avoid inf - inf where the probability is 0.
    logs = mx.where(targets == -math.inf, 0, targets)
    values = mx.sum(_weighted(mx.exp(targets), logs - inputs), axis=axis)
    return reduce("kl_div_loss", values, reduction, dtype)


def mse_loss(predictions: mx.array, targets: mx.array, reduction: Reduction = "mean") -> mx.array:
    """Squared error ``(predictions - targets)**2``.

    Parameters
    ----------
    predictions : array
        Predicted values.
    targets : array
        True values, of the same shape.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"mean"``.

    Returns
    -------
    array
        Losses of the shape of `predictions`, or a scalar for the reductions ``"mean"`` and
        ``"sum"``.

    Raises
    ------
    ValueError
        If shapes differ or `reduction` is invalid.

    See Also
    --------
    l1_loss, huber_loss

    Examples
    --------
    >>> nn.losses.mse_loss(mx.array([1.0, 2.0]), mx.array([1.0, 4.0]))
    array(2, dtype=float32)
    """
    _check_shape("mse_loss", "targets", targets, predictions.shape)
    dtype = mx.result_type(predictions, targets)
    values = mx.square(_widened(predictions) - _widened(targets))
    return reduce("mse_loss", values, reduction, dtype)


def l1_loss(predictions: mx.array, targets: mx.array, reduction: Reduction = "mean") -> mx.array:
    """Absolute error ``abs(predictions - targets)``.

    Parameters
    ----------
    predictions : array
        Predicted values.
    targets : array
        True values, of the same shape.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"mean"``.

    Returns
    -------
    array
        Losses of the shape of `predictions`, or a scalar for the reductions ``"mean"`` and
        ``"sum"``.

    Raises
    ------
    ValueError
        If shapes differ or `reduction` is invalid.

    See Also
    --------
    mse_loss, smooth_l1_loss

    Examples
    --------
    >>> nn.losses.l1_loss(mx.array([1.0, 2.0]), mx.array([1.0, 4.0]))
    array(1, dtype=float32)
    """
    _check_shape("l1_loss", "targets", targets, predictions.shape)
    dtype = mx.result_type(predictions, targets)
    values = mx.abs(_widened(predictions) - _widened(targets))
    return reduce("l1_loss", values, reduction, dtype)


def smooth_l1_loss(
    predictions: mx.array, targets: mx.array, beta: float = 1.0, reduction: Reduction = "mean"
) -> mx.array:
    """Smooth L1 loss: quadratic for errors below `beta`, linear above.

    Parameters
    ----------
    predictions : array
        Predicted values.
    targets : array
        True values, of the same shape.
    beta : float, optional
        Error below which the loss is quadratic, at least 0. Default: 1.0.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"mean"``.

    Returns
    -------
    array
        Losses of the shape of `predictions`, or a scalar for the reductions ``"mean"`` and
        ``"sum"``.

    Raises
    ------
    ValueError
        If shapes differ, `beta` is negative or `reduction` is invalid.

    See Also
    --------
    huber_loss, l1_loss

    Notes
    -----
    With ``d = abs(predictions - targets)`` the loss [1]_ is ``d**2 / (2 * beta)`` where ``d <
    beta``, else ``d - beta / 2``.

    References
    ----------
    .. [1] Girshick, "Fast R-CNN", 2015.

    Examples
    --------
    >>> nn.losses.smooth_l1_loss(mx.array([0.5, 3.0]), mx.array([0.0, 0.0]), reduction="none")
    array([0.125, 2.5], dtype=float32)
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
    """Huber loss: quadratic for errors up to `delta`, linear above.

    Parameters
    ----------
    inputs : array
        Predicted values.
    targets : array
        True values, of a shape that broadcasts.
    delta : float, optional
        Error up to which the loss is quadratic. Default: 1.0.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"none"``.

    Returns
    -------
    array
        Losses of the broadcast shape, or a scalar for the reductions ``"mean"`` and ``"sum"``.

    Raises
    ------
    ValueError
        If shapes do not broadcast or `reduction` is invalid.

    See Also
    --------
    smooth_l1_loss, mse_loss

    Notes
    -----
    With ``d = abs(inputs - targets)`` the loss [1]_ is ``d**2 / 2`` where ``d <= delta``, else
    ``delta * (d - delta / 2)``.

    References
    ----------
    .. [1] Huber, "Robust Estimation of a Location Parameter", 1964.

    Examples
    --------
    >>> nn.losses.huber_loss(mx.array([0.5, 3.0]), mx.array([0.0, 0.0]))
    array([0.125, 2.5], dtype=float32)
    """
    dtype = mx.result_type(inputs, targets)
    difference = mx.abs(_widened(inputs) - _widened(targets))
    is_near = difference <= delta
    near = mx.where(is_near, difference, 0)
    values = mx.where(is_near, 0.5 * mx.square(near), delta * (difference - 0.5 * delta))
    return reduce("huber_loss", values, reduction, dtype)


def log_cosh_loss(inputs: mx.array, targets: mx.array, reduction: Reduction = "none") -> mx.array:
    """Logarithm of the hyperbolic cosine of the error.

    Parameters
    ----------
    inputs : array
        Predicted values.
    targets : array
        True values, of a shape that broadcasts.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"none"``.

    Returns
    -------
    array
        Losses of the broadcast shape, or a scalar for the reductions ``"mean"`` and ``"sum"``.

    Raises
    ------
    ValueError
        If shapes do not broadcast or `reduction` is invalid.

    See Also
    --------
    huber_loss

    Notes
    -----
    The loss is ``log(cosh(inputs - targets))``: about ``d**2 / 2`` for small errors `d`, and
    ``abs(d) - log(2)`` for large ones. It does not overflow.

    Examples
    --------
    >>> nn.losses.log_cosh_loss(mx.array([0.0, 2.0]), mx.array([0.0, 0.0]))
    array([0, 1.325], dtype=float32)
    """
    dtype = mx.result_type(inputs, targets)
    error = _widened(inputs) - _widened(targets)
    # cosh(x) = 1 + 2 sinh²(x / 2), which avoids the cancellation against log 2 for small errors.
    is_small = mx.abs(error) < 1
    small = mx.log1p(2 * mx.square(mx.sinh(mx.where(is_small, error, 0) / 2)))
    values = mx.where(is_small, small, mx.logaddexp(error, -error) - math.log(2))
    return reduce("log_cosh_loss", values, reduction, dtype)


def hinge_loss(inputs: mx.array, targets: mx.array, reduction: Reduction = "none") -> mx.array:
    """Hinge loss ``max(1 - inputs * targets, 0)``.

    Parameters
    ----------
    inputs : array
        Scores.
    targets : array
        Classes -1 and 1, of a shape that broadcasts.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"none"``.

    Returns
    -------
    array
        Losses of the broadcast shape, or a scalar for the reductions ``"mean"`` and ``"sum"``.

    Raises
    ------
    ValueError
        If shapes do not broadcast or `reduction` is invalid.

    See Also
    --------
    margin_ranking_loss

    Examples
    --------
    >>> nn.losses.hinge_loss(mx.array([2.0, 0.5]), mx.array([1, -1]))
    array([0, 1.5], dtype=float32)
    """
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
    """Negative log-likelihood of samples from normal distributions.

    Parameters
    ----------
    inputs : array
        Means.
    targets : array
        Samples, of the shape of `inputs`.
    vars : array
        Variances, of the shape of `inputs`.
    full : bool, optional
        Whether to add the constant ``log(2 * pi) / 2``. Default: False.
    eps : float, optional
        Minimum of the variances. Default: 1e-6.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"mean"``.

    Returns
    -------
    array
        Losses of the shape of `inputs`, or a scalar for the reductions ``"mean"`` and ``"sum"``.

    Raises
    ------
    ValueError
        If shapes differ or `reduction` is invalid.

    See Also
    --------
    mse_loss

    Notes
    -----
    With ``v = max(vars, eps)`` the loss [1]_ is ``(log(v) + (targets - inputs)**2 / v) / 2``.

    References
    ----------
    .. [1] Nix, Weigend, "Estimating the Mean and Variance of the Target Probability Distribution",
       1994.

    Examples
    --------
    >>> mean, sample, variance = mx.array([0.0]), mx.array([1.0]), mx.array([1.0])
    >>> nn.losses.gaussian_nll_loss(mean, sample, variance)
    array(0.5, dtype=float32)
    """
    _check_shape("gaussian_nll_loss", "targets", targets, inputs.shape)
    _check_shape("gaussian_nll_loss", "vars", vars, inputs.shape)
    dtype = mx.result_type(inputs, targets, vars)
    error = _widened(targets) - _widened(inputs)
    v = mx.maximum(_widened(vars), eps)
    # error**2 may overflow where error**2 / v does not.
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
    """Cosine of the angle between vectors.

    Parameters
    ----------
    x1, x2 : array
        Vectors along `axis`; the other axes broadcast.
    axis : int, optional
        The axis of the vectors. Default: 1.
    eps : float, optional
        Minimum of the product of the norms. Default: 1e-8.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"none"``.

    Returns
    -------
    array
        Cosines of the broadcast shape without `axis`, or a scalar for the reductions ``"mean"`` and
        ``"sum"``.

    Raises
    ------
    ValueError
        If shapes do not broadcast or `reduction` is invalid.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    triplet_loss

    Notes
    -----
    The result is ``sum(x1 * x2) / max(norm(x1) * norm(x2), eps)``: 1 for parallel vectors, so
    training minimises its negative. The gradient of the norm of a zero vector is 0. The product of
    the norms is not formed, so it cannot overflow.

    Examples
    --------
    >>> nn.losses.cosine_similarity_loss(mx.array([[1.0, 0.0]]), mx.array([[1.0, 1.0]]))
    array([0.707107], dtype=float32)
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
    """Margin ranking loss: penalises pairs of scores in the wrong order.

    Parameters
    ----------
    inputs1, inputs2 : array
        Scores of equal shapes.
    targets : array
        1 where the first score should be larger, -1 where the second should, of the same shape.
    margin : float, optional
        By how much the larger score must exceed the other. Default: 0.0.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"none"``.

    Returns
    -------
    array
        Losses of the shape of `inputs1`, or a scalar for the reductions ``"mean"`` and ``"sum"``.

    Raises
    ------
    ValueError
        If shapes differ or `reduction` is invalid.

    See Also
    --------
    hinge_loss, triplet_loss

    Notes
    -----
    The loss is ``max(-targets * (inputs1 - inputs2) + margin, 0)``.

    Examples
    --------
    >>> first, second = mx.array([1.0, 2.0]), mx.array([2.0, 1.0])
    >>> nn.losses.margin_ranking_loss(first, second, mx.array([1, 1]))
    array([1, 0], dtype=float32)
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
    """Triplet loss: anchors should be nearer to positives than to negatives.

    Parameters
    ----------
    anchors, positives, negatives : array
        Vectors along `axis`; the other axes broadcast.
    axis : int, optional
        The axis of the vectors. Default: -1.
    p : int, optional
        Order of the norm. Default: 2.
    margin : float, optional
        By how much negatives should be farther from the anchors than positives. Default: 1.0.
    eps : float, optional
        Added to the sum of powers before the root. Default: 1e-6.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"none"``.

    Returns
    -------
    array
        Losses of the broadcast shape without `axis`, or a scalar for the reductions ``"mean"`` and
        ``"sum"``.

    Raises
    ------
    ValueError
        If shapes do not broadcast or `reduction` is invalid.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    margin_ranking_loss, cosine_similarity_loss

    Notes
    -----
    The loss is ``max(d(anchors, positives) - d(anchors, negatives) + margin, 0)`` with the distance
    ``d(x, y) = (sum(abs(x - y)**p) + eps)**(1 / p)``. `eps` keeps the gradient at distance 0
    finite.

    Examples
    --------
    >>> anchor, positive, negative = mx.array([[0.0, 0.0], [0.0, 1.0], [3.0, 4.0]])[:, None]
    >>> nn.losses.triplet_loss(anchor, positive, negative, margin=5.0)
    array([1], dtype=float32)
    """

    def distance(others: mx.array) -> mx.array:
        differences = mx.abs(_widened(anchors) - _widened(others))
        scale = _scale_of_powers(differences, axis)
        powers = mx.power(differences / scale, p)
        scale = mx.squeeze(scale, axis)
        return scale * mx.power(mx.sum(powers, axis=axis) + eps / scale**p, 1 / p)

    dtype = mx.result_type(anchors, positives, negatives)
    values = mx.maximum(distance(positives) - distance(negatives) + margin, 0)
    return reduce("triplet_loss", values, reduction, dtype)


def _scale_of_powers(x: mx.array, axis: int) -> mx.array:
    """A power of two near the maximum along `axis` where powers of it may overflow, else 1."""
    largest = mx.stop_gradient(mx.max(x, axis=axis, keepdims=True, initial=0))
    is_large = (largest > 2.0**30) & mx.isfinite(largest)
    return mx.where(is_large, mx.exp2(mx.floor(mx.log2(mx.where(is_large, largest, 1)))), 1)


def _check_shape(op: str, name: str, value: mx.array, expected: tuple[int, ...]) -> None:
    if value.shape != expected:
        raise ValueError(f"[{op}] got {name} of shape {value.shape}, expected {expected}")


def _weighted(weights: mx.array, values: mx.array) -> mx.array:
    """`weights * values`; 0, with gradient 0, where the weight is 0 and the value infinite."""
    is_indeterminate = (weights == 0) & mx.isinf(values)
    return weights * mx.where(is_indeterminate, 0, values)


def _clipped_log(p: mx.array, largest: float) -> mx.array:
    """`max(log(p), -100)`, with gradient 0 where it is clipped or the slope exceeds `largest`."""
    is_clipped = p < max(2 / largest, math.exp(-100))
    constant = mx.maximum(mx.log(mx.stop_gradient(p)), -100)
    return mx.where(is_clipped, constant, mx.log(mx.where(is_clipped, 1, p)))


def _classes(
    targets: mx.array, count: int, ignore_index: int | None
) -> tuple[mx.array, int | None]:
    """Class indices and the ignored one; under MLX's rules negative indices count from the end."""
    if not (mlx_rules_hold() and mx.issubdtype(targets.dtype, mx.signedinteger)):
        return targets, ignore_index
    indices = targets.astype(mx.int64)
    is_invalid = indices < -count
    if ignore_index is not None:
        is_invalid = is_invalid | (indices == ignore_index)
    return mx.where(is_invalid, -1, mx.where(indices < 0, indices + count, indices)), -1


def _rows(op: str, scores: mx.array, targets: mx.array, axis: int) -> mx.array:
    """The scores with the class axis last; targets must have their shape without it."""
    rows = scores if axis in (-1, scores.ndim - 1) else mx.moveaxis(scores, axis, -1)
    if targets.shape != rows.shape[:-1]:
        raise ValueError(
            f"[{op}] shape of targets, {targets.shape}, does not match scores of shape "
            f"{scores.shape} without axis {axis}"
        )
    return rows


_layout.complete(globals())
