"""Attention and transformer layers.

One subject: attention, and the encoder and decoder that consist of it and share their parameters.

Vaswani et al., "Attention Is All You Need", 2017; pre-norm: Xiong et al., "On Layer Normalization
in the Transformer Architecture", 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import umber.core as mx
from umber import _layout
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
    """Multi-head attention: `softmax(q kᵀ / √d + mask) v` for each head.

    Parameters
    ----------
    dims : int
        Size of the queries of all heads together, and the default of the other sizes.
    num_heads : int
        Number of heads, a divisor of `dims` and `value_dims`.
    query_input_dims : int, optional
        Size of the last axis of the queries. Default: `dims`.
    key_input_dims : int, optional
        Size of the last axis of the keys. Default: `dims`.
    value_input_dims : int, optional
        Size of the last axis of the values. Default: `key_input_dims`.
    value_dims : int, optional
        Size of the projected values of all heads together. Default: `dims`.
    value_output_dims : int, optional
        Size of the output's last axis. Default: `dims`.
    bias : bool, optional
        Whether the projections have biases. Default: False.

    Attributes
    ----------
    query_proj, key_proj, value_proj : Linear
        Projections of the inputs to `q`, `k` and `v` of all heads.
    out_proj : Linear
        Projection of the concatenated outputs of the heads.
    num_heads : int
        Number of heads.

    Raises
    ------
    ValueError
        If `num_heads` does not divide `dims` and `value_dims`.

    See Also
    --------
    mx.fast.scaled_dot_product_attention, TransformerEncoderLayer

    Notes
    -----
    `d` is `dims / num_heads`.

    Vaswani et al., "Attention Is All You Need", 2017.

    Shapes: `(..., L, query_input_dims)`, `(..., S, key_input_dims)` and
    `(..., S, value_input_dims)` → `(..., L, value_output_dims)`.

    Examples
    --------
    >>> layer = nn.MultiHeadAttention(16, num_heads=4)
    >>> x = mx.zeros((2, 5, 16))
    >>> layer(x, x, x, mask="causal").shape
    (2, 5, 16)
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
        """Attend from queries to keys and values.

        Parameters
        ----------
        queries : array
            Shape `(..., L, query_input_dims)`.
        keys : array
            Shape `(..., S, key_input_dims)`.
        values : array
            Shape `(..., S, value_input_dims)`.
        mask : array or "causal", optional
            Mask: numbers are added to the scores `(..., heads, L, S)`, booleans are True where a
            query may attend to a key, `"causal"` hides later positions. Default: None.

        Returns
        -------
        array
            Shape `(..., L, value_output_dims)`.

        Raises
        ------
        ValueError
            If the shapes do not fit, or if `mask` is another string than `"causal"`.
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
        """Additive mask that hides later positions.

        Parameters
        ----------
        N : int
            Number of positions.
        dtype : Dtype, optional
            Floating dtype of the mask. Default: float32.

        Returns
        -------
        array
            Shape `(N, N)`: 0 on and below the diagonal, the lowest finite number of `dtype` above
            it.

        Notes
        -----
        The lowest finite number is used because the softmax of a row of `-∞` is NaN.

        Examples
        --------
        >>> nn.MultiHeadAttention.create_additive_causal_mask(3, mx.float16)
        array([[0, -65504, -65504],
               [0, 0, -65504],
               [0, 0, 0]], dtype=float16)
        """
        positions = mx.arange(N)
        is_later = positions[:, None] < positions
        return mx.where(is_later, mx.array(mx.finfo(dtype).min, dtype), mx.array(0, dtype))


class TransformerEncoderLayer(Module):
    """Encoder layer: self-attention and a feed-forward network with residual connections.

    Parameters
    ----------
    dims : int
        Size of the last axis of inputs and outputs.
    num_heads : int
        Number of attention heads, a divisor of `dims`.
    mlp_dims : int, optional
        Size of the hidden layer of the feed-forward network. Default: `4 · dims`.
    dropout : float, optional
        Dropout probability after attention and activation. Default: 0.0.
    activation : callable, optional
        Activation function of the feed-forward network. Default: `relu`.
    norm_first : bool, optional
        If True, attention and feed-forward network get normalised inputs (pre-norm); if False, the
        residual sums are normalised (post-norm). Default: True.

    Attributes
    ----------
    attention : MultiHeadAttention
        Self-attention, without biases.
    ln1, ln2 : LayerNorm
        Normalisations of attention and feed-forward network.
    linear1, linear2 : Linear
        Feed-forward network: `dims` → `mlp_dims` → `dims`.
    dropout1, dropout2 : Dropout
        Dropout after the attention and after the activation.
    activation : callable
        Activation function.
    norm_first : bool
        Whether the layer is pre-norm.

    Raises
    ------
    ValueError
        If `num_heads` does not divide `dims`, or if `dropout` is not in `[0, 1)`.

    See Also
    --------
    MultiHeadAttention, TransformerDecoderLayer, TransformerEncoder

    Notes
    -----
    Pre-norm: Xiong et al., "On Layer Normalization in the Transformer Architecture", 2020.

    Shapes: `(..., L, dims)`, kept.

    Examples
    --------
    >>> layer = nn.TransformerEncoderLayer(16, num_heads=4)
    >>> layer(mx.zeros((2, 5, 16)), mask="causal").shape
    (2, 5, 16)
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
        """Apply the layer.

        Parameters
        ----------
        x : array
            Input of shape `(..., L, dims)`.
        mask : array or "causal", optional
            Mask: numbers are added to the scores `(..., heads, L, L)`, booleans are True where a
            query may attend to a key, `"causal"` hides later positions. Default: None.

        Returns
        -------
        array
            Same shape as `x`.
        """
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
    """Layers of one class applied in sequence, followed by a `LayerNorm`."""

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

    def _run(self, x: mx.array, *rest: mx.array | Mask) -> mx.array:
        for layer in self.layers:
            x = (checkpointed(layer) if self.checkpoint else layer)(x, *rest)
        return self.ln(x)


class TransformerEncoder(_Layers):
    """Stack of `TransformerEncoderLayer`, followed by a `LayerNorm`.

    Parameters
    ----------
    num_layers : int
        Number of layers.
    dims : int
        Size of the last axis of inputs and outputs.
    num_heads : int
        Number of attention heads, a divisor of `dims`.
    mlp_dims : int, optional
        Size of the hidden layer of the feed-forward network. Default: `4 · dims`.
    dropout : float, optional
        Dropout probability. Default: 0.0.
    activation : callable, optional
        Activation function of the feed-forward network. Default: `relu`.
    norm_first : bool, optional
        If True, attention and feed-forward network get normalised inputs (pre-norm); if False, the
        residual sums are normalised (post-norm). Default: True.
    checkpoint : bool, optional
        Whether to recompute the layers in the backward pass, which saves memory; see
        `nn.utils.checkpoint`. Default: False.

    Attributes
    ----------
    layers : list of TransformerEncoderLayer
        The layers.
    ln : LayerNorm
        Final normalisation.
    checkpoint : bool
        Whether layers are recomputed in the backward pass.

    Raises
    ------
    ValueError
        If `num_heads` does not divide `dims`, or if `dropout` is not in `[0, 1)`.

    See Also
    --------
    Transformer, TransformerDecoder, TransformerEncoderLayer

    Notes
    -----
    Shapes: `(..., L, dims)`, kept.

    Examples
    --------
    >>> model = nn.TransformerEncoder(2, dims=16, num_heads=4)
    >>> model(mx.zeros((2, 5, 16)), mask="causal").shape
    (2, 5, 16)
    """

    layer = TransformerEncoderLayer

    def __call__(self, x: mx.array, mask: Mask = None) -> mx.array:
        """Apply all layers.

        Parameters
        ----------
        x : array
            Input of shape `(..., L, dims)`.
        mask : array or "causal", optional
            Mask of every layer: numbers are added to the scores `(..., heads, L, L)`, booleans are
            True where a query may attend to a key, `"causal"` hides later positions. Default: None.

        Returns
        -------
        array
            Same shape as `x`.
        """
        return self._run(x, mask)


class TransformerDecoderLayer(Module):
    """Decoder layer: self-attention, attention to a memory, and a feed-forward network.

    Parameters
    ----------
    dims : int
        Size of the last axis of inputs and outputs.
    num_heads : int
        Number of attention heads, a divisor of `dims`.
    mlp_dims : int, optional
        Size of the hidden layer of the feed-forward network. Default: `4 · dims`.
    dropout : float, optional
        Dropout probability after both attentions and the activation. Default: 0.0.
    activation : callable, optional
        Activation function of the feed-forward network. Default: `relu`.
    norm_first : bool, optional
        If True, attention and feed-forward network get normalised inputs (pre-norm); if False, the
        residual sums are normalised (post-norm). Default: True.

    Attributes
    ----------
    self_attention : MultiHeadAttention
        Attention of the input to itself, without biases.
    cross_attention : MultiHeadAttention
        Attention of the input to the memory, without biases.
    ln1, ln2, ln3 : LayerNorm
        Normalisations of both attentions and the feed-forward network.
    linear1, linear2 : Linear
        Feed-forward network: `dims` → `mlp_dims` → `dims`.
    dropout1, dropout2, dropout3 : Dropout
        Dropout after both attentions and after the activation.
    activation : callable
        Activation function.
    norm_first : bool
        Whether the layer is pre-norm.

    Raises
    ------
    ValueError
        If `num_heads` does not divide `dims`, or if `dropout` is not in `[0, 1)`.

    See Also
    --------
    TransformerDecoder, TransformerEncoderLayer

    Notes
    -----
    The memory is the output of an encoder. All three parts have residual connections.

    Shapes: `(..., L, dims)`, kept, and `(..., S, dims)` for the memory.

    Examples
    --------
    >>> layer = nn.TransformerDecoderLayer(16, num_heads=4)
    >>> layer(mx.zeros((2, 5, 16)), mx.zeros((2, 7, 16)), x_mask="causal").shape
    (2, 5, 16)
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
        """Apply the layer.

        Parameters
        ----------
        x : array
            Input of shape `(..., L, dims)`.
        memory : array
            Output of the encoder, of shape `(..., S, dims)`.
        x_mask : array or "causal", optional
            Mask of the self-attention: numbers are added to the scores `(..., heads, L, L)`,
            booleans are True where a query may attend to a key, `"causal"` hides later positions.
            Default: None.
        memory_mask : array or "causal", optional
            Mask of the attention to the memory, for scores `(..., heads, L, S)`. Default: None.

        Returns
        -------
        array
            Same shape as `x`.
        """
        if self.norm_first:
            x = x + self._attend(self.ln1(x), x_mask)
            x = x + self._cross_attend(self.ln2(x), memory, memory_mask)
            return x + self._network(self.ln3(x))
        x = self.ln1(x + self._attend(x, x_mask))
        x = self.ln2(x + self._cross_attend(x, memory, memory_mask))
        return self.ln3(x + self._network(x))

    def _attend(self, x: mx.array, mask: Mask) -> mx.array:
        return self.dropout1(self.self_attention(x, x, x, mask))

    def _cross_attend(self, x: mx.array, memory: mx.array, mask: Mask) -> mx.array:
        return self.dropout2(self.cross_attention(x, memory, memory, mask))

    def _network(self, x: mx.array) -> mx.array:
        return self.linear2(self.dropout3(self.activation(self.linear1(x))))


class TransformerDecoder(_Layers):
    """Stack of `TransformerDecoderLayer`, followed by a `LayerNorm`.

    Parameters
    ----------
    num_layers : int
        Number of layers.
    dims : int
        Size of the last axis of inputs and outputs.
    num_heads : int
        Number of attention heads, a divisor of `dims`.
    mlp_dims : int, optional
        Size of the hidden layer of the feed-forward network. Default: `4 · dims`.
    dropout : float, optional
        Dropout probability. Default: 0.0.
    activation : callable, optional
        Activation function of the feed-forward network. Default: `relu`.
    norm_first : bool, optional
        If True, attention and feed-forward network get normalised inputs (pre-norm); if False, the
        residual sums are normalised (post-norm). Default: True.
    checkpoint : bool, optional
        Whether to recompute the layers in the backward pass, which saves memory; see
        `nn.utils.checkpoint`. Default: False.

    Attributes
    ----------
    layers : list of TransformerDecoderLayer
        The layers.
    ln : LayerNorm
        Final normalisation.
    checkpoint : bool
        Whether layers are recomputed in the backward pass.

    Raises
    ------
    ValueError
        If `num_heads` does not divide `dims`, or if `dropout` is not in `[0, 1)`.

    See Also
    --------
    Transformer, TransformerDecoderLayer, TransformerEncoder

    Notes
    -----
    Shapes: `(..., L, dims)`, kept, and `(..., S, dims)` for the memory.

    Examples
    --------
    >>> model = nn.TransformerDecoder(2, dims=16, num_heads=4)
    >>> model(mx.zeros((2, 5, 16)), mx.zeros((2, 7, 16)), x_mask="causal").shape
    (2, 5, 16)
    """

    layer = TransformerDecoderLayer

    def __call__(
        self, x: mx.array, memory: mx.array, x_mask: Mask = None, memory_mask: Mask = None
    ) -> mx.array:
        """Apply all layers.

        Parameters
        ----------
        x : array
            Input of shape `(..., L, dims)`.
        memory : array
            Output of the encoder, of shape `(..., S, dims)`.
        x_mask : array or "causal", optional
            Mask of the self-attentions: numbers are added to the scores `(..., heads, L, L)`,
            booleans are True where a query may attend to a key, `"causal"` hides later positions.
            Default: None.
        memory_mask : array or "causal", optional
            Mask of the attentions to the memory, for scores `(..., heads, L, S)`. Default: None.

        Returns
        -------
        array
            Same shape as `x`.
        """
        return self._run(x, memory, x_mask, memory_mask)


class Transformer(Module):
    """Encoder-decoder transformer.

    Parameters
    ----------
    dims : int, optional
        Size of the last axis of inputs and outputs. Default: 512.
    num_heads : int, optional
        Number of attention heads, a divisor of `dims`. Default: 8.
    num_encoder_layers : int, optional
        Number of layers of the encoder. Default: 6.
    num_decoder_layers : int, optional
        Number of layers of the decoder. Default: 6.
    mlp_dims : int, optional
        Size of the hidden layer of the feed-forward network. Default: `4 · dims`.
    dropout : float, optional
        Dropout probability. Default: 0.0.
    activation : callable, optional
        Activation function of the feed-forward network. Default: `relu`.
    custom_encoder : Module, optional
        Encoder to use instead, called as `custom_encoder(src, src_mask)`. Default: None.
    custom_decoder : Module, optional
        Decoder to use instead, called as `custom_decoder(tgt, memory, tgt_mask, memory_mask)`.
        Default: None.
    norm_first : bool, optional
        If True, attention and feed-forward network get normalised inputs (pre-norm); if False, the
        residual sums are normalised (post-norm). Default: True.
    checkpoint : bool, optional
        Whether to recompute the layers in the backward pass, which saves memory; see
        `nn.utils.checkpoint`. Default: False.

    Attributes
    ----------
    encoder : TransformerEncoder
        The encoder, or `custom_encoder`.
    decoder : TransformerDecoder
        The decoder, or `custom_decoder`.

    Raises
    ------
    ValueError
        If `num_heads` does not divide `dims`, or if `dropout` is not in `[0, 1)`.

    See Also
    --------
    TransformerDecoder, TransformerEncoder

    Notes
    -----
    Vaswani et al., "Attention Is All You Need", 2017.

    Shapes: `(..., S, dims)` and `(..., L, dims)` → `(..., L, dims)`.

    Examples
    --------
    >>> model = nn.Transformer(16, num_heads=4, num_encoder_layers=1, num_decoder_layers=1)
    >>> model(mx.zeros((2, 7, 16)), mx.zeros((2, 5, 16)), tgt_mask="causal").shape
    (2, 5, 16)
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
        """Encode the source and decode the target.

        Parameters
        ----------
        src : array
            Source of shape `(..., S, dims)`.
        tgt : array
            Target of shape `(..., L, dims)`.
        src_mask : array or "causal", optional
            Mask of the encoder, for scores `(..., heads, S, S)`. Default: None.
        tgt_mask : array or "causal", optional
            Mask of the decoder's self-attention, for scores `(..., heads, L, L)`. Default: None.
        memory_mask : array or "causal", optional
            Mask of the decoder's attention to the memory, for scores `(..., heads, L, S)`. Default:
            None.

        Returns
        -------
        array
            Same shape as `tgt`.
        """
        memory = self.encoder(src, src_mask)
        return self.decoder(tgt, memory, tgt_mask, memory_mask)


_layout.complete(globals())
