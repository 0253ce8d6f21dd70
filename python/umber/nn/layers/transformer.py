"""Attention and what is built of it.

Vaswani et al., "Attention Is All You Need", 2017; normalisation first: Xiong et al., "On Layer
Normalization in the Transformer Architecture", 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import umber.core as mx
from umber.nn.layers.activations import relu
from umber.nn.layers.base import Module
from umber.nn.layers.checkpointing import checkpoint as checkpointed
from umber.nn.layers.dropout import Dropout
from umber.nn.layers.linear import Linear
from umber.nn.layers.normalization import LayerNorm

__all__ = [
    "MultiHeadAttention",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Mask = Literal["causal"] | mx.array | None


class MultiHeadAttention(Module):
    """`softmax(q kᵀ / √d + mask) v` for each head, with `q`, `k` and `v` linear in the inputs.

    `query_proj`, `key_proj`, `value_proj` make `q`, `k`, `v` for all heads; `out_proj` joins what
    the heads give.

    Shapes: `(..., L, query_input_dims)`, `(..., S, key_input_dims)` and
    `(..., S, value_input_dims)` → `(..., L, value_output_dims)`.

    Args:
        dims: the size of all queries of one place together, and what the other sizes default to.
        num_heads: how many heads share it.
        query_input_dims: Default: `dims`.
        key_input_dims: Default: `dims`.
        value_input_dims: Default: `key_input_dims`.
        value_dims: the size of all values of one place together. Default: `dims`.
        value_output_dims: Default: `dims`.
        bias: whether the linear maps have biases. Default: `False`.
    """

    def __init__(
        self,
        dims: int,
        num_heads: int,
        query_input_dims: int | None = None,
        key_input_dims: int | None = None,
        value_input_dims: int | None = None,
        value_dims: int | None = None,
        value_output_dims: int | None = None,
        bias: bool = False,
    ) -> None:
        super().__init__()
        value_dims = value_dims or dims
        if num_heads < 1 or dims % num_heads or value_dims % num_heads:
            raise ValueError(
                f"[MultiHeadAttention] dims {dims} and value_dims {value_dims} must be "
                f"divisible by num_heads {num_heads}"
            )
        query_input_dims = query_input_dims or dims
        key_input_dims = key_input_dims or dims
        value_input_dims = value_input_dims or key_input_dims
        value_output_dims = value_output_dims or dims

        self.num_heads = num_heads
        self.query_proj = Linear(query_input_dims, dims, bias=bias)
        self.key_proj = Linear(key_input_dims, dims, bias=bias)
        self.value_proj = Linear(value_input_dims, value_dims, bias=bias)
        self.out_proj = Linear(value_dims, value_output_dims, bias=bias)

    def __call__(
        self, queries: mx.array, keys: mx.array, values: mx.array, mask: Mask = None
    ) -> mx.array:
        """Attend.

        Args:
            queries: `(..., L, query_input_dims)`.
            keys: `(..., S, key_input_dims)`.
            values: `(..., S, value_input_dims)`.
            mask: added to the scores `(..., heads, L, S)`, or booleans that are true where a query
                sees a key, or `"causal"`. Default: all see all.
        """
        q = self._heads(self.query_proj(queries))
        k = self._heads(self.key_proj(keys))
        v = self._heads(self.value_proj(values))
        scale = 1 / math.sqrt(q.shape[-1])
        y = mx.fast.scaled_dot_product_attention(q, k, v, scale=scale, mask=mask)
        return self.out_proj(mx.flatten(mx.swapaxes(y, -2, -3), -2, -1))

    def _heads(self, x: mx.array) -> mx.array:
        """`(..., L, heads · d)` → `(..., heads, L, d)`."""
        return mx.swapaxes(mx.unflatten(x, -1, (self.num_heads, -1)), -2, -3)

    @staticmethod
    def create_additive_causal_mask(N: int, dtype: mx.Dtype = mx.float32) -> mx.array:
        """`(N, N)`: 0 for what stands at a place or before it, the lowest number for what follows.

        The lowest number and not `-∞`, because the softmax of a row of `-∞` is NaN.
        """
        places = mx.arange(N)
        follows = places[:, None] < places
        return mx.where(follows, mx.array(mx.finfo(dtype).min, dtype), mx.array(0, dtype))


class TransformerEncoderLayer(Module):
    """Attention of a sequence to itself and a network of two linear maps, added to what they see.

    Shapes: `(..., L, dims)`, kept.

    Args:
        dims: the size of each place.
        num_heads: of the attention.
        mlp_dims: the size between the two linear maps. Default: `4 · dims`.
        dropout: the probability after attention and activation. Default: 0.0.
        activation: between the two linear maps. Default: `relu`.
        norm_first: whether attention and network see normalised inputs, or what they are added to
            is normalised afterwards. Default: `True`.
    """

    def __init__(
        self,
        dims: int,
        num_heads: int,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Callable[[Any], Any] = relu,
        norm_first: bool = True,
    ) -> None:
        super().__init__()
        mlp_dims = mlp_dims or dims * 4
        self.attention = MultiHeadAttention(dims, num_heads)
        self.ln1 = LayerNorm(dims)
        self.ln2 = LayerNorm(dims)
        self.linear1 = Linear(dims, mlp_dims)
        self.linear2 = Linear(mlp_dims, dims)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = activation
        self.norm_first = norm_first

    def __call__(self, x: mx.array, mask: Mask = None) -> mx.array:
        if self.norm_first:
            x = x + self._attend(self.ln1(x), mask)
            return x + self._network(self.ln2(x))
        x = self.ln1(x + self._attend(x, mask))
        return self.ln2(x + self._network(x))

    def _attend(self, x: mx.array, mask: Mask) -> mx.array:
        return self.dropout1(self.attention(x, x, x, mask))

    def _network(self, x: mx.array) -> mx.array:
        return self.linear2(self.dropout2(self.activation(self.linear1(x))))


class _Layers(Module):
    """Layers of one kind, each called on what the one before gave, and a `LayerNorm` at the end."""

    layer: ClassVar[type[Any]]

    def __init__(
        self,
        num_layers: int,
        dims: int,
        num_heads: int,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Callable[[Any], Any] = relu,
        norm_first: bool = True,
        checkpoint: bool = False,
    ) -> None:
        super().__init__()
        shared = (dims, num_heads, mlp_dims, dropout, activation, norm_first)
        self.layers = [type(self).layer(*shared) for _ in range(num_layers)]
        self.ln = LayerNorm(dims)
        self.checkpoint = checkpoint

    def _run(self, x: mx.array, *others: mx.array | Mask) -> mx.array:
        for layer in self.layers:
            x = (checkpointed(layer) if self.checkpoint else layer)(x, *others)
        return self.ln(x)


class TransformerEncoder(_Layers):
    """Layers of the kind `TransformerEncoderLayer` and a `LayerNorm` at the end.

    Shapes: `(..., L, dims)`, kept.

    Args:
        num_layers: how many.
        dims: as for the layers.
        num_heads: as for the layers.
        mlp_dims: as for the layers.
        dropout: as for the layers.
        activation: as for the layers.
        norm_first: as for the layers.
        checkpoint: whether the layers are computed again for their gradients, which saves memory;
            see `umber.nn.utils.checkpoint`. Default: `False`.
    """

    layer = TransformerEncoderLayer

    def __call__(self, x: mx.array, mask: Mask = None) -> mx.array:
        return self._run(x, mask)


class TransformerDecoderLayer(Module):
    """`TransformerEncoderLayer` that also attends to a memory, the encoder's output.

    Shapes: `(..., L, dims)`, kept, and for the memory `(..., S, dims)`.

    The arguments are those of `TransformerEncoderLayer`.
    """

    def __init__(
        self,
        dims: int,
        num_heads: int,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Callable[[Any], Any] = relu,
        norm_first: bool = True,
    ) -> None:
        super().__init__()
        mlp_dims = mlp_dims or dims * 4
        self.self_attention = MultiHeadAttention(dims, num_heads)
        self.cross_attention = MultiHeadAttention(dims, num_heads)
        self.ln1 = LayerNorm(dims)
        self.ln2 = LayerNorm(dims)
        self.ln3 = LayerNorm(dims)
        self.linear1 = Linear(dims, mlp_dims)
        self.linear2 = Linear(mlp_dims, dims)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = activation
        self.norm_first = norm_first

    def __call__(
        self, x: mx.array, memory: mx.array, x_mask: Mask = None, memory_mask: Mask = None
    ) -> mx.array:
        if self.norm_first:
            x = x + self._attend(self.ln1(x), x_mask)
            x = x + self._recall(self.ln2(x), memory, memory_mask)
            return x + self._network(self.ln3(x))
        x = self.ln1(x + self._attend(x, x_mask))
        x = self.ln2(x + self._recall(x, memory, memory_mask))
        return self.ln3(x + self._network(x))

    def _attend(self, x: mx.array, mask: Mask) -> mx.array:
        return self.dropout1(self.self_attention(x, x, x, mask))

    def _recall(self, x: mx.array, memory: mx.array, mask: Mask) -> mx.array:
        return self.dropout2(self.cross_attention(x, memory, memory, mask))

    def _network(self, x: mx.array) -> mx.array:
        return self.linear2(self.dropout3(self.activation(self.linear1(x))))


class TransformerDecoder(_Layers):
    """Layers of the kind `TransformerDecoderLayer` and a `LayerNorm` at the end.

    Shapes: `(..., L, dims)`, kept, and for the memory `(..., S, dims)`.

    The arguments are those of `TransformerEncoder`.
    """

    layer = TransformerDecoderLayer

    def __call__(
        self, x: mx.array, memory: mx.array, x_mask: Mask = None, memory_mask: Mask = None
    ) -> mx.array:
        return self._run(x, memory, x_mask, memory_mask)


class Transformer(Module):
    """An encoder, which reads the source, and a decoder, which writes the target from it.

    Shapes: `(..., S, dims)` and `(..., L, dims)` → `(..., L, dims)`.

    Args:
        dims: the size of each place. Default: 512.
        num_heads: of all attentions. Default: 8.
        num_encoder_layers: Default: 6.
        num_decoder_layers: Default: 6.
        mlp_dims: as for the layers. Default: `4 · dims`.
        dropout: as for the layers. Default: 0.0.
        activation: as for the layers. Default: `relu`.
        custom_encoder: takes the encoder's place, called with source and mask. Default: none.
        custom_decoder: takes the decoder's place, called with target, memory and their masks.
            Default: none.
        norm_first: as for the layers. Default: `True`.
        checkpoint: as for `TransformerEncoder`. Default: `False`.
    """

    def __init__(
        self,
        dims: int = 512,
        num_heads: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        mlp_dims: int | None = None,
        dropout: float = 0.0,
        activation: Callable[[Any], Any] = relu,
        custom_encoder: Any | None = None,
        custom_decoder: Any | None = None,
        norm_first: bool = True,
        checkpoint: bool = False,
    ) -> None:
        super().__init__()
        shared = (dims, num_heads, mlp_dims, dropout, activation, norm_first, checkpoint)
        # A module without entries is an empty dict, and so false.
        if custom_encoder is None:
            custom_encoder = TransformerEncoder(num_encoder_layers, *shared)
        if custom_decoder is None:
            custom_decoder = TransformerDecoder(num_decoder_layers, *shared)
        self.encoder = custom_encoder
        self.decoder = custom_decoder

    def __call__(
        self,
        src: mx.array,
        tgt: mx.array,
        src_mask: Mask = None,
        tgt_mask: Mask = None,
        memory_mask: Mask = None,
    ) -> mx.array:
        memory = self.encoder(src, src_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask)
