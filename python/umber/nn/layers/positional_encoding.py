"""Positional encodings: `RoPE`, `SinusoidalPositionalEncoding`, `ALiBi`."""

from __future__ import annotations

import math

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module

__all__ = ["ALiBi", "RoPE", "SinusoidalPositionalEncoding"]


class RoPE(Module):
    """Rotary position embedding: rotate pairs of features by angles proportional to the position.

    Parameters
    ----------
    dims : int
        Number of features to rotate, even and positive. The others are unchanged.
    traditional : bool, optional
        If True, a pair consists of neighbouring features, as in the paper; if False, of features
        `dims / 2` apart. Default: False.
    base : float, optional
        Base of the frequencies. Default: 10000.
    scale : float, optional
        Factor for the positions. Default: 1.0.

    Attributes
    ----------
    dims : int
        Number of rotated features.
    traditional : bool
        Whether pairs are neighbours.
    base, scale : float
        Base of the frequencies and factor for the positions.

    See Also
    --------
    ALiBi, mx.fast.rope, SinusoidalPositionalEncoding

    Notes
    -----
    Pair `i` at position `p` is rotated by the angle ``scale · p · base^(-2i / dims)``.

    Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021.

    Shapes: `(..., L, D)` with `D >= dims`, kept. `L` is the axis of positions.

    Examples
    --------
    >>> rope = nn.RoPE(2)
    >>> x = mx.array([[1.0, 0.0], [1.0, 0.0]])
    >>> rope(x)
    array([[1, 0],
           [0.540302, 0.841471]], dtype=float32)
    >>> rope(x[1:], offset=1)
    array([[0.540302, 0.841471]], dtype=float32)
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
        """Rotate the features of `x`.

        Parameters
        ----------
        x : array
            Floating-point input of shape `(..., L, D)`.
        offset : int or array, optional
            Position of the first element: one integer, or one per entry of the first axis. Default:
            0.

        Returns
        -------
        array
            Same shape and dtype as `x`.

        Raises
        ------
        ValueError
            If `x` is not floating-point, has fewer than 2 axes or fewer features than `dims`, if
            `dims` is odd or not positive, or if `offset` is not an integer or has another shape.
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
    """Sines and cosines of positions at geometrically spaced frequencies.

    Parameters
    ----------
    dims : int
        Size of the encoding, even and positive.
    min_freq : float, optional
        Lowest frequency. Default: 0.0001.
    max_freq : float, optional
        Highest frequency. Default: 1.
    scale : float, optional
        Factor for the encoding. Default: `√(2 / dims)`.
    cos_first : bool, optional
        Whether the cosines come before the sines. Default: False.
    full_turns : bool, optional
        Whether to multiply the frequencies by `2π`, so that they count cycles. Default: False.

    Attributes
    ----------
    scale : float
        Factor for the encoding.
    cos_first : bool
        Whether the cosines come first.

    Raises
    ------
    ValueError
        If `dims` is odd or not positive, or if a frequency is not positive.

    See Also
    --------
    ALiBi, RoPE

    Notes
    -----
    Computes ``scale · [sin(p σ), cos(p σ)]`` for positions `p` and `dims / 2` frequencies `σ`,
    which fall from `max_freq` to `min_freq`. The frequencies are not parameters.

    Vaswani et al., "Attention Is All You Need", 2017.

    Shapes: `(...)` → `(..., dims)`; integers, float16 and bfloat16 give float32.

    Examples
    --------
    >>> nn.SinusoidalPositionalEncoding(4)(mx.arange(2))
    array([[0, 0, 0.707107, 0.707107],
           [0.59501, 7.07107e-05, 0.382051, 0.707107]], dtype=float32)
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
        factor = 2 * math.pi if full_turns else 1.0
        low, high = math.log(min_freq), math.log(max_freq)
        fractions = [1 - i / (half - 1) for i in range(half)] if half > 1 else [1.0]
        # Attributes that begin with an underscore are no parameters.
        self._sigmas = mx.array([factor * math.exp(low + (high - low) * t) for t in fractions])
        self.scale = math.sqrt(2 / dims) if scale is None else scale
        self.cos_first = cos_first

    def __call__(self, x: mx.array) -> mx.array:
        angles = x[..., None] * self._sigmas
        features = [mx.sin(angles), mx.cos(angles)]
        y = mx.concatenate(features[::-1] if self.cos_first else features, axis=-1)
        return y if self.scale == 1 else y * self.scale


class ALiBi(Module):
    """Attention with linear biases: add `-slope · |distance|` between query and key to the scores.

    Notes
    -----
    Every head has its own slope, see `create_alibi_slope`.

    Press, Smith, Lewis, "Train Short, Test Long: Attention with Linear Biases Enables Input Length
    Extrapolation", 2021.

    Shapes: `(N, heads, L, S)`, kept.

    Examples
    --------
    >>> nn.ALiBi()(mx.zeros((1, 1, 2, 3)))
    array([[[[0, -0.00390625, -0.0078125],
             [-0.00390625, 0, -0.00390625]]]], dtype=float32)
    """

    def __call__(
        self, attention_scores: mx.array, offset: int = 0, mask: mx.array | None = None
    ) -> mx.array:
        """Add the biases to attention scores.

        Parameters
        ----------
        attention_scores : array
            Scores of shape `(N, heads, L, S)`.
        offset : int, optional
            Position of the first query. Default: 0.
        mask : array, optional
            Additive mask that broadcasts to the scores. Default: None.

        Returns
        -------
        array
            Same shape as `attention_scores`.

        Raises
        ------
        ValueError
            If the scores do not have 4 axes.
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
        """Biases of all heads for the queries from `offset` on.

        Parameters
        ----------
        q_sequence_length : int
            Position after the last query.
        k_sequence_length : int
            Number of keys.
        num_heads : int
            Number of heads.
        offset : int, optional
            Position of the first query. Default: 0.
        dtype : Dtype, optional
            Dtype of the result. Default: float32.

        Returns
        -------
        array
            ``-slope[h] · |q - k|`` with shape
            `(1, num_heads, q_sequence_length - offset, k_sequence_length)`.

        Raises
        ------
        ValueError
            If `num_heads` is not positive.

        Examples
        --------
        >>> nn.ALiBi.create_alibi_matrix(3, 3, num_heads=2, offset=2)
        array([[[[-0.125, -0.0625, -0]],
                [[-0.0078125, -0.00390625, -0]]]], dtype=float32)
        """
        queries = mx.arange(offset, q_sequence_length)[:, None]
        keys = mx.arange(k_sequence_length)
        distances = mx.abs(queries - keys).astype(dtype)
        return -distances * ALiBi.create_alibi_slope(num_heads, dtype)[None]

    @staticmethod
    def create_alibi_slope(num_heads: int, dtype: mx.Dtype = mx.float32) -> mx.array:
        """Slopes of the heads.

        Parameters
        ----------
        num_heads : int
            Number of heads.
        dtype : Dtype, optional
            Dtype of the result. Default: float32.

        Returns
        -------
        array
            Slopes of shape `(num_heads, 1, 1)`.

        Raises
        ------
        ValueError
            If `num_heads` is not positive.

        Notes
        -----
        If `n`, the number of heads, is a power of two, the slopes are `2^(-8/n)`, `2^(-16/n)`, …,
        `2^-8`. Other numbers of heads take the slopes of the next lower power of two, followed by
        every second slope of twice that power.

        Examples
        --------
        >>> nn.ALiBi.create_alibi_slope(4).reshape(-1)
        array([0.25, 0.0625, 0.015625, 0.00390625], dtype=float32)
        """

        if num_heads < 1:
            raise ValueError(f"[ALiBi] got {num_heads} heads, expected at least 1")

        def slopes(count: int) -> list[float]:
            return [2.0 ** (-8 * (i + 1) / count) for i in range(count)]

        power = 2 ** math.floor(math.log2(num_heads))
        values = slopes(power) + slopes(2 * power)[::2][: num_heads - power]
        return mx.array(values, dtype)[:, None, None]


_layout.complete(globals())
