"""Optimizers, learning rate schedules and gradient clipping."""

from umber import _errors
from umber.optimizers.adam import Adam, Adamax, AdamW
from umber.optimizers.adaptive import AdaDelta, Adagrad, RMSprop
from umber.optimizers.base import MultiOptimizer, Optimizer
from umber.optimizers.clip import clip_grad_norm
from umber.optimizers.lion import Lion
from umber.optimizers.schedules import (
    cosine_decay,
    exponential_decay,
    join_schedules,
    linear_schedule,
    step_decay,
)
from umber.optimizers.sgd import SGD

__all__ = [
    "SGD",
    "AdaDelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "MultiOptimizer",
    "Optimizer",
    "RMSprop",
    "clip_grad_norm",
    "cosine_decay",
    "exponential_decay",
    "join_schedules",
    "linear_schedule",
    "step_decay",
]

_errors.guard(globals())
