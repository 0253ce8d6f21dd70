"""Neural networks: modules, layers, activation functions, losses and initialisers."""

from typing import TYPE_CHECKING

from umber import _layout
from umber.nn import init as init
from umber.nn import layers as layers
from umber.nn import utils as utils

_UTILITIES = [
    *("ModelSummary", "SummaryRow", "average_gradients", "functional_call", "summary"),
    "value_and_grad",
]

if TYPE_CHECKING:
    from umber.nn import losses as losses
    from umber.nn.layers import *
    from umber.nn.utils import ModelSummary as ModelSummary
    from umber.nn.utils import SummaryRow as SummaryRow
    from umber.nn.utils import average_gradients as average_gradients
    from umber.nn.utils import functional_call as functional_call
    from umber.nn.utils import summary as summary
    from umber.nn.utils import value_and_grad as value_and_grad
else:
    __all__ = [*layers.__all__, *_UTILITIES, "init", "layers", "losses", "utils"]
    _layout.complete(
        globals(),
        {"umber.nn.layers": layers.__all__, "umber.nn.utils": _UTILITIES, "umber.nn": ["losses"]},
    )
