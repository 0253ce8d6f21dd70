"""Neural networks: modules, layers, activation functions, losses and initialisers."""

from typing import TYPE_CHECKING

from umber import _errors, _layout
from umber.nn import init as init
from umber.nn import layers as layers
from umber.nn import losses as losses
from umber.nn import utils as utils
from umber.nn.layers import *
from umber.nn.utils import ModelSummary as ModelSummary
from umber.nn.utils import SummaryRow as SummaryRow
from umber.nn.utils import average_gradients as average_gradients
from umber.nn.utils import functional_call as functional_call
from umber.nn.utils import summary as summary
from umber.nn.utils import value_and_grad as value_and_grad

# Type checkers follow the imports, but not a list made of lists.
if not TYPE_CHECKING:
    __all__ = [
        *layers.__all__,
        *("ModelSummary", "SummaryRow", "average_gradients", "functional_call", "init", "layers"),
        *("losses", "summary", "utils", "value_and_grad"),
    ]

for _namespace in (globals(), vars(losses), vars(init)):
    _errors.guard(_namespace)
_layout.complete("umber.nn")
