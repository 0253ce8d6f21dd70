"""`Embedding`, a table of learned vectors."""

from __future__ import annotations

import math

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module
from umber.nn.layers.input_errors import check_indices, check_last_axis
from umber.nn.layers.quantized import QuantizedEmbedding

__all__ = ["Embedding"]


class Embedding(Module):
    """Table of learned vectors, looked up by integers: `y = weight[x]`.

    Parameters
    ----------
    num_embeddings : int
        Number of vectors.
    dims : int
        Size of each vector.
    padding_idx : int, optional
        Index of a vector that is initially zero and receives no gradient, for padding. Negative
        numbers count from the end. Default: None.

    Attributes
    ----------
    weight : array of shape (num_embeddings, dims)
        The vectors, float32, drawn from a normal distribution with standard deviation `1/√dims`.
    padding_idx : int or None
        Index of the padding vector, not negative.

    Raises
    ------
    ValueError
        If `padding_idx` is not the index of a vector.

    See Also
    --------
    QuantizedEmbedding

    Notes
    -----
    Shapes: integers `(...)` → `(..., dims)`.

    Examples
    --------
    >>> layer = nn.Embedding(100, 16, padding_idx=0)
    >>> layer(mx.array([[3, 7, 0]])).shape
    (1, 3, 16)
    >>> float(mx.abs(layer(mx.array(0))).max())
    0.0
    """

    padding_idx: int | None = None

    def __init__(self, num_embeddings: int, dims: int, *, padding_idx: int | None = None) -> None:
        super().__init__()
        scale = 1 / math.sqrt(dims) if dims > 0 else 0.0
        self.weight = mx.random.normal((num_embeddings, dims), scale=scale)
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise ValueError(
                    f"[Embedding] padding_idx {padding_idx} is out of bounds for "
                    f"{num_embeddings} embeddings"
                )
            padding_idx %= num_embeddings
            self.weight[padding_idx] = 0.0
        self.padding_idx = padding_idx

    def _extra_repr(self) -> str:
        num_embeddings, dims = self.weight.shape
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{num_embeddings}, {dims}{padding}"

    def __call__(self, x: mx.array) -> mx.array:
        try:
            y = self.weight[x]
        except IndexError:
            check_indices(type(self).__name__, x)
            raise
        if self.padding_idx is None:
            return y
        # A negative index may mean the same vector.
        is_padding = (x == self.padding_idx) | (x == self.padding_idx - self.weight.shape[0])
        return mx.where(mx.expand_dims(is_padding, -1), mx.stop_gradient(y), y)

    def as_linear(self, x: mx.array) -> mx.array:
        """Apply the table as a linear layer, `y = x @ weight.T`, to tie input and output layers.

        Parameters
        ----------
        x : array
            Input of shape `(..., dims)`.

        Returns
        -------
        array
            Shape `(..., num_embeddings)`.

        Raises
        ------
        ValueError
            If the last axis of `x` has another size than `dims`.

        Examples
        --------
        >>> layer = nn.Embedding(100, 16)
        >>> layer.as_linear(mx.zeros((2, 16))).shape
        (2, 100)
        """
        try:
            return x @ self.weight.T
        except ValueError:
            check_last_axis("as_linear", x, self.weight.shape[-1])
            raise

    def to_quantized(
        self,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
        quantize_input: bool = False,
    ) -> QuantizedEmbedding:
        """Quantise the vectors.

        Parameters
        ----------
        group_size : int, optional
            Number of neighbouring elements that share a scale; divides `dims`. Default: that of the
            mode.
        bits : int, optional
            Bits per element. Default: that of the mode.
        mode : str, optional
            Quantisation mode, see `mx.quantize`. Default: `"affine"`.
        quantize_input : bool, optional
            Must be False: the inputs are indices. Default: False.

        Returns
        -------
        QuantizedEmbedding
            A new layer.

        Raises
        ------
        ValueError
            If the mode, group size or bits do not exist, if the group size does not divide `dims`,
            or if `quantize_input` is True.

        See Also
        --------
        nn.quantize, QuantizedEmbedding.from_embedding

        Examples
        --------
        >>> nn.Embedding(100, 64).to_quantized(bits=8)
        QuantizedEmbedding(100, 64, group_size=64, bits=8, mode=affine)
        """
        if quantize_input:
            raise ValueError(
                "[to_quantized] quantize_input requires a Linear layer: the inputs of an Embedding "
                "are indices"
            )
        return QuantizedEmbedding.from_embedding(self, group_size, bits, mode)


_layout.complete(globals())
