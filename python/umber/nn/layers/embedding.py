"""`Embedding`, a table of vectors."""

from __future__ import annotations

import math

import umber.core as mx
from umber.nn.layers.base import Module
from umber.nn.layers.quantized import QuantizedEmbedding

__all__ = ["Embedding"]


class Embedding(Module):
    """Maps integers to learned vectors: `y = W[x]`.

    `W` with shape `(num_embeddings, dims)` is float32, normal with standard deviation `1/√dims`.

    Shapes: integers `(...)` → `(..., dims)`.

    Args:
        num_embeddings: number of vectors.
        dims: size of each vector.
        padding_idx: a vector that begins as zeros and, having no gradient, stays so; it stands for
            places that hold nothing. Negative numbers count from the end. Default: none.
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
        y = self.weight[x]
        if self.padding_idx is None:
            return y
        # A negative index may mean the same vector.
        is_padding = (x == self.padding_idx) | (x == self.padding_idx - self.weight.shape[0])
        return mx.where(mx.expand_dims(is_padding, -1), mx.stop_gradient(y), y)

    def as_linear(self, x: mx.array) -> mx.array:
        """The table as a linear map, `y = x Wᵀ`, for tied input and output layers.

        Shapes: `(..., dims)` → `(..., num_embeddings)`.
        """
        return x @ self.weight.T

    def to_quantized(
        self,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
        quantize_input: bool = False,
    ) -> QuantizedEmbedding:
        """The layer with its vectors stored in few bits, see `umber.core.quantize`."""
        if quantize_input:
            raise ValueError(
                "[to_quantized] got quantize_input, expected it for Linear layers only: the inputs "
                "of an Embedding are indices"
            )
        return QuantizedEmbedding.from_embedding(self, group_size, bits, mode)
