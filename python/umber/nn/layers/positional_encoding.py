"""Where in a sequence something stands: `RoPE`, `SinusoidalPositionalEncoding`, `ALiBi`."""

from __future__ import annotations

import math

import umber.core as mx
from umber.nn.layers.base import Module

__all__ = ["ALiBi", "RoPE", "SinusoidalPositionalEncoding"]


class RoPE(Module):
    """Rotates pairs of features, by angles that grow with the position.

    Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021. The pair `i`
    at the position `p` turns by `scale · p · base^(-2i / dims)`.

    Shapes: `(..., L, D)` with `D >= dims`, kept.

    Args:
        dims: how many features turn, an even number; the others stay as they are.
        traditional: whether a pair are neighbours, as in the paper, or stand `dims / 2` apart.
            Default: `False`.
        base: Default: 10000.
        scale: of the positions. Default: 1.0.
    """

    def __init__(
        self, dims: int, traditional: bool = False, base: float = 10000, scale: float = 1.0
    ) -> None:
        super().__init__()
        self.dims = dims
        self.traditional = traditional
        self.base = base
        self.scale = scale

    def _extra_repr(self) -> str:
        return f"{self.dims}, traditional={self.traditional}"

    def __call__(self, x: mx.array, offset: int | mx.array = 0) -> mx.array:
        """Rotate.

        Args:
            x: `(..., L, D)`, floating.
            offset: the position of the first element, an integer, or one for each entry of the
                first axis.
        """
        self._check(x, offset)
        return mx.fast.rope(
            x,
            self.dims,
            traditional=self.traditional,
            base=self.base,
            scale=self.scale,
            offset=offset,
        )

    def _check(self, x: mx.array, offset: int | mx.array) -> None:
        if x.ndim < 2 or not mx.issubdtype(x.dtype, mx.floating):
            raise ValueError(
                f"[RoPE] got an input with the shape {x.shape} and the dtype {x.dtype}, "
                "expected a floating-point array with at least 2 axes"
            )
        if self.dims <= 0 or self.dims % 2 or self.dims > x.shape[-1]:
            raise ValueError(
                f"[RoPE] got {self.dims} dims for {x.shape[-1]} features, "
                "expected an even number from 2 to the number of features"
            )
        if not isinstance(offset, mx.array):
            is_integer = hasattr(offset, "__index__")
            shape: tuple[int, ...] = ()
        else:
            is_integer = mx.issubdtype(offset.dtype, mx.integer)
            shape = offset.shape
        if not is_integer or shape not in ((), x.shape[:1] if x.ndim > 2 else ()):
            raise ValueError(
                f"[RoPE] got the offset {offset}, expected an integer or one per batch element"
            )


class SinusoidalPositionalEncoding(Module):
    """`scale · [sin(p σ), cos(p σ)]` for positions `p` and `dims / 2` frequencies `σ`.

    Vaswani et al., "Attention Is All You Need", 2017. The frequencies fall geometrically from
    `max_freq` to `min_freq`.

    Shapes: `(...)` → `(..., dims)`, float32 for integers and halves.

    Args:
        dims: size of the encoding, an even number.
        min_freq: Default: 0.0001.
        max_freq: Default: 1.
        scale: Default: `√(2 / dims)`.
        cos_first: whether the cosines stand first. Default: `False`.
        full_turns: whether the frequencies count full turns, that is, are multiplied by `2π`.
            Default: `False`.
    """

    def __init__(
        self,
        dims: float,
        min_freq: float = 0.0001,
        max_freq: float = 1,
        scale: float | None = None,
        cos_first: bool = False,
        full_turns: bool = False,
    ) -> None:
        super().__init__()
        if dims <= 0 or dims % 2 != 0:
            raise ValueError(
                f"[SinusoidalPositionalEncoding] got {dims} dims, expected an even number above 0"
            )
        if min(min_freq, max_freq) <= 0:
            raise ValueError(
                f"[SinusoidalPositionalEncoding] got the frequencies {min_freq} to {max_freq}, "
                "expected positive numbers"
            )
        half = int(dims) // 2
        turn = 2 * math.pi if full_turns else 1.0
        low, high = math.log(min_freq), math.log(max_freq)
        falling = [1 - i / (half - 1) for i in range(half)] if half > 1 else [1.0]
        # The underscore keeps them from being parameters.
        self._sigmas = mx.array([turn * math.exp(low + (high - low) * t) for t in falling])
        self.scale = math.sqrt(2 / dims) if scale is None else scale
        self.cos_first = cos_first

    def __call__(self, x: mx.array) -> mx.array:
        angles = x[..., None] * self._sigmas
        parts = [mx.sin(angles), mx.cos(angles)]
        y = mx.concatenate(parts[::-1] if self.cos_first else parts, axis=-1)
        return y if self.scale == 1 else y * self.scale


class ALiBi(Module):
    """Adds to the scores of attention `-slope · |distance|` between query and key.

    Press, Smith, Lewis, "Train Short, Test Long: Attention with Linear Biases Enables Input Length
    Extrapolation", 2021. Every head has a slope of its own, see `create_alibi_slope`.

    Shapes: `(N, heads, L, S)`, kept.
    """

    def __call__(
        self, attention_scores: mx.array, offset: int = 0, mask: mx.array | None = None
    ) -> mx.array:
        """Add the biases.

        Args:
            attention_scores: `(N, heads, L, S)`.
            offset: the position of the first query. Default: 0.
            mask: added too. Default: none.
        """
        if attention_scores.ndim != 4:
            raise ValueError(
                f"[ALiBi] got scores with the shape {attention_scores.shape}, "
                "expected (N, heads, L, S)"
            )
        biases = ALiBi.create_alibi_matrix(
            q_sequence_length=attention_scores.shape[2] + offset,
            k_sequence_length=attention_scores.shape[3],
            num_heads=attention_scores.shape[1],
            offset=offset,
            dtype=attention_scores.dtype,
        )
        if mask is not None:
            biases = biases + mask
        return attention_scores + biases

    @staticmethod
    def create_alibi_matrix(
        q_sequence_length: int,
        k_sequence_length: int,
        num_heads: int,
        offset: int = 0,
        dtype: mx.Dtype = mx.float32,
    ) -> mx.array:
        """The biases of the queries from `offset` on, `(1, heads, queries - offset, keys)`."""
        queries = mx.arange(offset, q_sequence_length)[:, None]
        keys = mx.arange(k_sequence_length)
        distances = mx.abs(queries - keys).astype(dtype)
        return -distances * ALiBi.create_alibi_slope(num_heads, dtype)[None]

    @staticmethod
    def create_alibi_slope(num_heads: int, dtype: mx.Dtype = mx.float32) -> mx.array:
        """The slopes of the heads, `(heads, 1, 1)`.

        For `n` heads, a power of two, `2^(-8/n)`, `2^(-16/n)` and so on to `2^-8`; other numbers
        take those of the power of two below and fill up with every second of twice as many.
        """

        if num_heads < 1:
            raise ValueError(f"[ALiBi] got {num_heads} heads, expected at least 1")

        def slopes(count: int) -> list[float]:
            return [2.0 ** (-8 * (i + 1) / count) for i in range(count)]

        power = 2 ** math.floor(math.log2(num_heads))
        values = slopes(power) + slopes(2 * power)[::2][: num_heads - power]
        return mx.array(values, dtype)[:, None, None]
