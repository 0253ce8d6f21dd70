"""Neural networks: modules, layers, activation functions, losses, initialisers."""

from umber import _errors
from umber.nn import init, layers, losses, utils
from umber.nn.layers import *
from umber.nn.utils import value_and_grad

__all__ = [*layers.__all__, "init", "layers", "losses", "utils", "value_and_grad"]

for _namespace in (globals(), vars(losses), vars(init)):
    _errors.guard(_namespace)
