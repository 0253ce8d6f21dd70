"""Optimizers, learning rate schedules, gradient clipping and averages of parameters."""

from umber import _errors, _layout
from umber.optimizers import optimizers as optimizers
from umber.optimizers.averaging import EMA
from umber.optimizers.clip import clip_grad_value
from umber.optimizers.lbfgs import MinimizeInfo
from umber.optimizers.optimizers import (
    LAMB,
    LBFGS,
    SGD,
    AdaDelta,
    Adafactor,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Lion,
    MultiOptimizer,
    MultiSteps,
    Muon,
    NAdam,
    Optimizer,
    RAdam,
    RMSprop,
    clip_grad_norm,
)
from umber.optimizers.plateau import ReduceLROnPlateau
from umber.optimizers.schedulers import (
    cosine_decay,
    cyclic,
    exponential_decay,
    join_schedules,
    linear_schedule,
    one_cycle,
    step_decay,
)

__all__ = [
    "EMA",
    "LAMB",
    "LBFGS",
    "SGD",
    "AdaDelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lion",
    "MinimizeInfo",
    "MultiOptimizer",
    "MultiSteps",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "ReduceLROnPlateau",
    "clip_grad_norm",
    "clip_grad_value",
    "cosine_decay",
    "cyclic",
    "exponential_decay",
    "join_schedules",
    "linear_schedule",
    "one_cycle",
    "step_decay",
]

_errors.guard(globals())
_layout.complete("umber.optimizers")
