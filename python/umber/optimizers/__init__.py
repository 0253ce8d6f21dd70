"""Optimizers, learning rate schedules, gradient clipping and averages of parameters.

Each is imported when it is first used.
"""

from typing import TYPE_CHECKING

from umber import _layout
from umber.optimizers import optimizers as optimizers

if TYPE_CHECKING:
    from umber.optimizers.averaging import EMA as EMA
    from umber.optimizers.clip import clip_grad_value as clip_grad_value
    from umber.optimizers.lbfgs import MinimizeInfo as MinimizeInfo
    from umber.optimizers.optimizers import *
    from umber.optimizers.plateau import ReduceLROnPlateau as ReduceLROnPlateau
    from umber.optimizers.schedulers import cosine_decay as cosine_decay
    from umber.optimizers.schedulers import cyclic as cyclic
    from umber.optimizers.schedulers import exponential_decay as exponential_decay
    from umber.optimizers.schedulers import join_schedules as join_schedules
    from umber.optimizers.schedulers import linear_schedule as linear_schedule
    from umber.optimizers.schedulers import one_cycle as one_cycle
    from umber.optimizers.schedulers import step_decay as step_decay
else:
    _LATER = {
        "umber.optimizers.averaging": ["EMA"],
        "umber.optimizers.clip": ["clip_grad_value"],
        "umber.optimizers.lbfgs": ["MinimizeInfo"],
        "umber.optimizers.optimizers": optimizers.__all__,
        "umber.optimizers.plateau": ["ReduceLROnPlateau"],
        "umber.optimizers.schedulers": [
            *("cosine_decay", "cyclic", "exponential_decay", "join_schedules", "linear_schedule"),
            *("one_cycle", "step_decay"),
        ],
    }
    __all__ = sorted(name for names in _LATER.values() for name in names)
    _layout.complete(globals(), _LATER)
