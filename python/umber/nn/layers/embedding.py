"""`Embedding`, a table of vectors."""

from __future__ import annotations

import math

import umber.core as mx
from umber.nn.layers.base import Module


class Embedding(Module):
    """Maps integers to learned vectors: `y = W[x]`.

    `W` with shape `(num_embeddings, dims)` is float32, normal with standard deviation `1/√dims`.

    Shapes: integers `(...)` → `(..., dims)`.

    Args:
        num_embeddings: number of vectors.
        dims: size of each vector.
    """

    def __init__(self, num_embeddings: int, dims: int) -> None:
        super().__init__()
        scale = 1 / math.sqrt(dims) if dims > 0 else 0.0
        self.weight = mx.random.normal((num_embeddings, dims), scale=scale)

    def _extra_repr(self) -> str:
        num_embeddings, dims = self.weight.shape
        return f"{num_embeddings}, {dims}"

    def __call__(self, x: mx.array) -> mx.array:
        return self.weight[x]

    def as_linear(self, x: mx.array) -> mx.array:
        """The table as a linear map, `y = x Wᵀ`, for tied input and output layers.

        Shapes: `(..., dims)` → `(..., num_embeddings)`.
        """
        return x @ self.weight.T
