"""All layers, one file per kind; also available in `umber.nn`."""

from typing import TYPE_CHECKING

from umber.nn.layers import (
    activations,
    adaptive_pooling,
    base,
    containers,
    convolution,
    convolution_transpose,
    distributed,
    dropout,
    embedding,
    linear,
    normalization,
    pooling,
    positional_encoding,
    quantized,
    recurrent,
    reshaping,
    transformer,
    upsample,
)
from umber.nn.layers.activations import *
from umber.nn.layers.adaptive_pooling import *
from umber.nn.layers.base import *
from umber.nn.layers.containers import *
from umber.nn.layers.convolution import *
from umber.nn.layers.convolution_transpose import *
from umber.nn.layers.distributed import *
from umber.nn.layers.dropout import *
from umber.nn.layers.embedding import *
from umber.nn.layers.linear import *
from umber.nn.layers.normalization import *
from umber.nn.layers.pooling import *
from umber.nn.layers.positional_encoding import *
from umber.nn.layers.quantized import *
from umber.nn.layers.recurrent import *
from umber.nn.layers.reshaping import *
from umber.nn.layers.transformer import *
from umber.nn.layers.upsample import *

# Type checkers follow the imports, but do not evaluate a list built from lists.
if not TYPE_CHECKING:
    __all__ = [
        *activations.__all__,
        *adaptive_pooling.__all__,
        *base.__all__,
        *containers.__all__,
        *convolution.__all__,
        *convolution_transpose.__all__,
        *distributed.__all__,
        *dropout.__all__,
        *embedding.__all__,
        *linear.__all__,
        *normalization.__all__,
        *pooling.__all__,
        *positional_encoding.__all__,
        *quantized.__all__,
        *recurrent.__all__,
        *reshaping.__all__,
        *transformer.__all__,
        *upsample.__all__,
    ]
