"""Functions of `umber.core.fast`, composed of plain operations, with its signatures.

Layers call them as `fast.rope` and so on, so that a kernel takes over by another import.
"""

from __future__ import annotations

import math

import umber.core as mx


def rope(
    a: mx.array,
    dims: int,
    *,
    traditional: bool,
    base: float,
    scale: float,
    offset: int | mx.array,
) -> mx.array:
    """Rotate pairs of features by angles that grow with the position.

    The pair `i` at position `p` turns by `scale · (p + offset) · base^(-2i / dims)`; see `nn.RoPE`.

    Args:
        a: `(..., L, D)` with `D >= dims`, floating.
        dims: how many features turn; the others stay.
        traditional: whether pairs are neighbours, else they are `dims / 2` apart.
        base: of the frequencies.
        scale: of the positions.
        offset: the first position, a number or one for each entry of the first axis.
    """
    wide = mx.float64 if a.dtype == mx.float64 else mx.float32
    half = dims // 2
    if isinstance(offset, mx.array) and offset.ndim == 1:
        offset = offset.reshape(-1, *[1] * (a.ndim - 2))
    positions = (mx.arange(a.shape[-2]).astype(wide) + offset) * scale
    frequencies = mx.exp(mx.arange(half).astype(wide) * (-math.log(base) / half))
    angles = positions[..., None] * frequencies
    cos, sin = mx.cos(angles), mx.sin(angles)

    turning = a[..., :dims].astype(wide)
    if traditional:
        x, y = turning[..., 0::2], turning[..., 1::2]
        turned = mx.stack([x * cos - y * sin, x * sin + y * cos], axis=-1)
        turned = turned.reshape(*a.shape[:-1], dims)
    else:
        x, y = turning[..., :half], turning[..., half:]
        turned = mx.concatenate([x * cos - y * sin, x * sin + y * cos], axis=-1)
    turned = turned.astype(a.dtype)
    return turned if dims == a.shape[-1] else mx.concatenate([turned, a[..., dims:]], axis=-1)


def scaled_dot_product_attention(
    q: mx.array, k: mx.array, v: mx.array, *, scale: float, mask: str | mx.array | None = None
) -> mx.array:
    """`softmax(scale · q kᵀ + mask) v`; see `nn.MultiHeadAttention`.

    Args:
        q: queries, `(..., L, D)`.
        k: keys, `(..., S, D)`.
        v: values, `(..., S, E)`.
        scale: of the scores.
        mask: `(..., L, S)`: added to the scores, or booleans that keep the scores where they are
            true; or `"causal"`, where the last query sees all keys, the one before all but the last
            and so on.
    """
    dtype = mx.result_type(q, k, v)
    if dtype in (mx.float16, mx.bfloat16):
        q, k, v = (x.astype(mx.float32) for x in (q, k, v))
    scores = (q * scale) @ mx.swapaxes(k, -1, -2)
    if isinstance(mask, str):
        if mask != "causal":
            raise ValueError(
                f"[scaled_dot_product_attention] got the mask {mask!r}, expected 'causal'"
            )
        queries, keys = scores.shape[-2:]
        mask = mx.tri(queries, keys, keys - queries, dtype=mx.bool_)
    if mask is not None:
        if mask.dtype == mx.bool_:
            scores = mx.where(mask, scores, mx.finfo(scores.dtype).min)
        else:
            scores = scores + mask
    return (mx.softmax(scores, axis=-1) @ v).astype(dtype)
