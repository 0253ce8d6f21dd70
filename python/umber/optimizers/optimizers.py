"""All optimizers in one module, as in MLX."""

from umber import _errors
from umber.optimizers.adafactor import Adafactor
from umber.optimizers.adam import Adam, Adamax, AdamW
from umber.optimizers.adaptive import AdaDelta, Adagrad, RMSprop
from umber.optimizers.base import MultiOptimizer, Optimizer
from umber.optimizers.clip import clip_grad_norm
from umber.optimizers.lamb import LAMB
from umber.optimizers.lbfgs import LBFGS
from umber.optimizers.lion import Lion
from umber.optimizers.multi_steps import MultiSteps
from umber.optimizers.muon import Muon
from umber.optimizers.nadam import NAdam
from umber.optimizers.radam import RAdam
from umber.optimizers.sgd import SGD

__all__ = [
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
    "MultiOptimizer",
    "MultiSteps",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "clip_grad_norm",
]

_errors.guard(globals())
