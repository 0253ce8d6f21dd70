"""Connectionist temporal classification: a loss for label sequences without alignment.

Graves, Fernández, Gomez, Schmidhuber, "Connectionist Temporal Classification: Labelling Unsegmented
Sequence Data with Recurrent Neural Networks", 2006.
"""

from __future__ import annotations

import umber.core as mx
from umber import _layout
from umber.nn.reduction import Reduction, reduce
from umber.nn.sequence_steps import split_steps

# The logarithm of probability 0: finite, since the derivative of `log(exp(-∞) + exp(-∞))` is NaN.
LOG_ZERO = -1e30


def ctc_loss(
    log_probs: mx.array,
    targets: mx.array,
    input_lengths: mx.array | None = None,
    target_lengths: mx.array | None = None,
    blank: int = 0,
    reduction: Reduction = "none",
) -> mx.array:
    """Connectionist temporal classification: minus the log-probability of label sequences.

    Parameters
    ----------
    log_probs : array
        Log-probabilities of the labels in each frame, ``(N, T, C)`` or ``(T, C)``, such as
        `mx.log_softmax` returns.
    targets : array
        Labels other than the blank, integers, ``(N, S)`` or ``(S,)``.
    input_lengths : array, optional
        Number of frames of each sample, integers, ``(N,)`` or ``()``. Default: `T`.
    target_lengths : array, optional
        Number of targets of each sample, integers, ``(N,)`` or ``()``; those that follow are
        ignored. Default: `S`.
    blank : int, optional
        The label that stands for no label. Default: 0.
    reduction : {"none", "mean", "sum"}, optional
        ``"none"`` returns all losses, ``"mean"`` and ``"sum"`` a scalar. Default: ``"none"``.

    Returns
    -------
    array
        Losses of the shape ``(N,)`` or ``()``, or a scalar for the reductions ``"mean"`` and
        ``"sum"``.

    Raises
    ------
    ValueError
        If shapes or dtypes do not fit, a length is out of range, a target is the blank, or
        `reduction` is invalid.
    IndexError
        If a target is outside of ``[0, C)``.

    See Also
    --------
    cross_entropy

    Notes
    -----
    An alignment assigns a label or the blank to every frame; joining equal neighbours and dropping
    blanks must give the targets. The loss is ``-log`` of the summed probability of all alignments
    [1]_. If no alignment of `T` frames gives the targets, the loss is `inf` and the gradient 0.

    Targets and lengths are evaluated to check them. Inside `mx.compile` and `mx.vmap` they have no
    values and are not checked. float16 and bfloat16 are computed in float32.

    ``"mean"`` is the plain mean over samples; PyTorch divides each loss by the length of its target
    first.

    References
    ----------
    .. [1] Graves et al., "Connectionist Temporal Classification: Labelling Unsegmented Sequence
       Data with Recurrent Neural Networks", 2006.

    Examples
    --------
    >>> log_probs = mx.log(mx.full((2, 3), 1 / 3))
    >>> nn.losses.ctc_loss(log_probs, mx.array([1]))
    array(1.09861, dtype=float32)
    """
    _check_shapes(log_probs, targets, input_lengths, target_lengths, blank)
    if log_probs.ndim == 2:
        one = ctc_loss(
            log_probs[None],
            targets[None],
            None if input_lengths is None else input_lengths[None],
            None if target_lengths is None else target_lengths[None],
            blank,
        )
        return reduce("ctc_loss", one.squeeze(0), reduction)
    batch, frames, _ = log_probs.shape
    if input_lengths is None:
        input_lengths = mx.full((batch,), frames, mx.int32)
    if target_lengths is None:
        target_lengths = mx.full((batch,), targets.shape[1], mx.int32)

    _check_lengths("input_lengths", input_lengths, frames)
    _check_lengths("target_lengths", target_lengths, targets.shape[1])
    _check_labels(targets, target_lengths, log_probs.shape[2], blank)

    path, may_skip = _path(targets, target_lengths, blank)
    if log_probs.dtype in (mx.float16, mx.bfloat16):
        log_probs = log_probs.astype(mx.float32)
    labels = mx.broadcast_to(path[:, None, :], (batch, frames, path.shape[1]))
    scores = mx.maximum(mx.take_along_axis(log_probs, labels, axis=2), LOG_ZERO)

    # `alpha[s]` is the log-probability of all alignments up to this frame that end at position `s`.
    at_start = mx.arange(path.shape[1]) == 0
    alpha = mx.broadcast_to(mx.where(at_start, 0.0, LOG_ZERO), path.shape).astype(scores.dtype)
    for frame, score in enumerate(split_steps(scores, axis=1)):
        extended = mx.logaddexp(alpha, _shifted(alpha, 1))
        if frame > 0:
            extended = mx.logaddexp(extended, mx.where(may_skip, _shifted(alpha, 2), LOG_ZERO))
        alpha = mx.where((frame < input_lengths)[:, None], extended + score, alpha)

    last = mx.expand_dims(2 * target_lengths, 1)
    at_label = mx.take_along_axis(alpha, mx.maximum(last - 1, 0), axis=1)
    at_blank = mx.take_along_axis(alpha, last, axis=1)
    total = mx.logaddexp(at_blank, mx.where(last > 0, at_label, LOG_ZERO)).squeeze(1)
    return reduce("ctc_loss", mx.where(total < LOG_ZERO / 2, float("inf"), -total), reduction)


def _path(targets: mx.array, target_lengths: mx.array, blank: int) -> tuple[mx.array, mx.array]:
    """The labels with blanks in between, and whether the blank before each label may be skipped."""
    batch, length = targets.shape
    is_label = mx.arange(length) < target_lengths[:, None]
    labels = mx.where(is_label, targets, blank).astype(mx.int32)
    blanks = mx.full((batch, length), blank, mx.int32)
    pairs = mx.stack([blanks, labels], axis=2).reshape(batch, 2 * length)
    path = mx.concatenate([pairs, mx.full((batch, 1), blank, mx.int32)], axis=1)
    two_before = mx.pad(path, [(0, 0), (2, 0)], constant_values=blank)[:, : path.shape[1]]
    return path, (path != blank) & (path != two_before)


def _shifted(alpha: mx.array, count: int) -> mx.array:
    """`alpha` shifted by `count` positions towards the end of the path."""
    remaining = alpha[:, : max(alpha.shape[1] - count, 0)]
    return mx.pad(
        remaining, [(0, 0), (alpha.shape[1] - remaining.shape[1], 0)], constant_values=LOG_ZERO
    )


def _check_shapes(
    log_probs: mx.array,
    targets: mx.array,
    input_lengths: mx.array | None,
    target_lengths: mx.array | None,
    blank: int,
) -> None:
    if log_probs.ndim not in (2, 3):
        raise ValueError(
            f"[ctc_loss] got log_probs of shape {log_probs.shape}, expected (N, T, C) or (T, C)"
        )
    batch = log_probs.shape[:-2]
    if targets.ndim != len(batch) + 1 or targets.shape[:-1] != batch:
        expected = f"({batch[0]}, S)" if batch else "(S,)"
        raise ValueError(f"[ctc_loss] got targets of shape {targets.shape}, expected {expected}")
    if not mx.issubdtype(targets.dtype, mx.integer) and targets.size > 0:
        raise ValueError(f"[ctc_loss] got targets of dtype {targets.dtype}, expected integers")
    lengths = {"input_lengths": input_lengths, "target_lengths": target_lengths}
    for name, value in lengths.items():
        if value is not None and not mx.issubdtype(value.dtype, mx.integer):
            raise ValueError(f"[ctc_loss] got {name} of dtype {value.dtype}, expected integers")
        if value is not None and value.shape != batch:
            raise ValueError(f"[ctc_loss] got {name} of shape {value.shape}, expected {batch}")
    if not 0 <= blank < log_probs.shape[-1]:
        raise ValueError(
            f"[ctc_loss] got the blank {blank}, expected a label from 0 to "
            f"{log_probs.shape[-1] - 1}"
        )


def _any_known(condition: mx.array) -> bool:
    """Whether the condition is true anywhere; `False` while it is traced and has no value."""
    try:
        return bool(condition.any())
    except ValueError:
        return False


def _check_lengths(name: str, lengths: mx.array, maximum: int) -> None:
    is_wrong = (lengths < 0) | (lengths > maximum)
    if _any_known(is_wrong):
        sample = is_wrong.tolist().index(True)
        raise ValueError(
            f"[ctc_loss] {name} of sample {sample} must be between 0 and {maximum}, got "
            f"{lengths[sample].item()}"
        )


def _check_labels(targets: mx.array, target_lengths: mx.array, labels: int, blank: int) -> None:
    is_label = mx.arange(targets.shape[1]) < target_lengths[:, None]
    is_wrong = is_label & ((targets < 0) | (targets >= labels) | (targets == blank))
    if _any_known(is_wrong):
        sample, position = divmod(is_wrong.flatten().tolist().index(True), targets.shape[1])
        label = targets[sample, position].item()
        raise (ValueError if label == blank else IndexError)(
            f"[ctc_loss] label {label} of sample {sample} is invalid, expected 0 to {labels - 1} "
            f"except the blank {blank}"
        )


_layout.complete(globals())
