"""All optimizers in one module, as in MLX. Each is imported when it is first used."""

from typing import TYPE_CHECKING

from umber import _layout

_LATER = {
    "umber.optimizers.adafactor": ["Adafactor"],
    "umber.optimizers.adam": ["Adam", "AdamW", "Adamax"],
    "umber.optimizers.adaptive": ["AdaDelta", "Adagrad", "RMSprop"],
    "umber.optimizers.base": ["MultiOptimizer", "Optimizer"],
    "umber.optimizers.clip": ["clip_grad_norm"],
    "umber.optimizers.lamb": ["LAMB"],
    "umber.optimizers.lbfgs": ["LBFGS"],
    "umber.optimizers.lion": ["Lion"],
    "umber.optimizers.multi_steps": ["MultiSteps"],
    "umber.optimizers.muon": ["Muon"],
    "umber.optimizers.nadam": ["NAdam"],
    "umber.optimizers.radam": ["RAdam"],
    "umber.optimizers.sgd": ["SGD"],
}

# Type checkers follow the imports, but do not evaluate a list made of lists.
if TYPE_CHECKING:
    from umber.optimizers.adafactor import Adafactor as Adafactor
    from umber.optimizers.adam import Adam as Adam
    from umber.optimizers.adam import Adamax as Adamax
    from umber.optimizers.adam import AdamW as AdamW
    from umber.optimizers.adaptive import AdaDelta as AdaDelta
    from umber.optimizers.adaptive import Adagrad as Adagrad
    from umber.optimizers.adaptive import RMSprop as RMSprop
    from umber.optimizers.base import MultiOptimizer as MultiOptimizer
    from umber.optimizers.base import Optimizer as Optimizer
    from umber.optimizers.clip import clip_grad_norm as clip_grad_norm
    from umber.optimizers.lamb import LAMB as LAMB
    from umber.optimizers.lbfgs import LBFGS as LBFGS
    from umber.optimizers.lion import Lion as Lion
    from umber.optimizers.multi_steps import MultiSteps as MultiSteps
    from umber.optimizers.muon import Muon as Muon
    from umber.optimizers.nadam import NAdam as NAdam
    from umber.optimizers.radam import RAdam as RAdam
    from umber.optimizers.sgd import SGD as SGD
else:
    __all__ = sorted(name for names in _LATER.values() for name in names)

_layout.complete(globals(), _LATER)
