"""All layers, one file per kind; also available in `umber.nn`.

The less common ones are imported when they are first used.
"""

from typing import TYPE_CHECKING

from umber import _layout
from umber.nn.layers import (
    activations,
    base,
    containers,
    convolution,
    dropout,
    embedding,
    linear,
    normalization,
    pooling,
    quantized,
    reshaping,
)
from umber.nn.layers.activations import *
from umber.nn.layers.base import *
from umber.nn.layers.containers import *
from umber.nn.layers.convolution import *
from umber.nn.layers.dropout import *
from umber.nn.layers.embedding import *
from umber.nn.layers.linear import *
from umber.nn.layers.normalization import *
from umber.nn.layers.pooling import *
from umber.nn.layers.quantized import *
from umber.nn.layers.reshaping import *

_LATER = {
    "umber.nn.layers.adaptive_pooling": [
        *("AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d"),
        *("AdaptiveMaxPool1d", "AdaptiveMaxPool2d", "AdaptiveMaxPool3d"),
    ],
    "umber.nn.layers.convolution_transpose": [
        *("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"),
    ],
    "umber.nn.layers.distributed": [
        *("AllToShardedLinear", "FullyShardedModule", "QuantizedAllToShardedLinear"),
        *("QuantizedShardedToAllLinear", "ShardedToAllLinear", "fully_shard"),
    ],
    "umber.nn.layers.positional_encoding": ["ALiBi", "RoPE", "SinusoidalPositionalEncoding"],
    "umber.nn.layers.recurrent": ["GRU", "LSTM", "RNN"],
    "umber.nn.layers.transformer": [
        *("MultiHeadAttention", "Transformer", "TransformerDecoder", "TransformerDecoderLayer"),
        *("TransformerEncoder", "TransformerEncoderLayer"),
    ],
    "umber.nn.layers.upsample": ["Upsample"],
}

# Type checkers follow the imports, but do not evaluate a list built from lists.
if TYPE_CHECKING:
    from umber.nn.layers.adaptive_pooling import *
    from umber.nn.layers.convolution_transpose import *
    from umber.nn.layers.distributed import *
    from umber.nn.layers.positional_encoding import *
    from umber.nn.layers.recurrent import *
    from umber.nn.layers.transformer import *
    from umber.nn.layers.upsample import *
else:
    __all__ = [
        *activations.__all__,
        *base.__all__,
        *containers.__all__,
        *convolution.__all__,
        *dropout.__all__,
        *embedding.__all__,
        *linear.__all__,
        *normalization.__all__,
        *pooling.__all__,
        *quantized.__all__,
        *reshaping.__all__,
        *(name for names in _LATER.values() for name in names),
    ]

_layout.complete(globals(), _LATER)
