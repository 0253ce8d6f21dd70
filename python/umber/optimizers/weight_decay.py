"""Weight decay of update rules that have both kinds: in the gradient, and decoupled from it."""

from __future__ import annotations

from typing import Any

import umber.core as mx


def decayed(rule: Any, gradient: mx.array, parameter: mx.array) -> tuple[mx.array, mx.array]:
    """Gradient and parameter after the weight decay of a rule.

    The rule's `decoupled_weight_decay` decides whether the parameter decays, as in `AdamW`, or the
    gradient is that of a loss with the penalty ``weight_decay * w**2 / 2``.
    """
    if rule.weight_decay == 0:
        return gradient, parameter
    if not rule.decoupled_weight_decay:
        return gradient + rule.weight_decay * parameter, parameter
    rate = rule.learning_rate.astype(gradient.dtype)
    return gradient, parameter * (1 - rate * rule.weight_decay)


def decayed_dtype(rule: Any, gradient: mx.array, parameter: mx.array) -> mx.Dtype:
    """The dtype of the gradient after `decayed`."""
    has_parameter = rule.weight_decay != 0 and not rule.decoupled_weight_decay
    return mx.result_type(gradient, parameter) if has_parameter else gradient.dtype
