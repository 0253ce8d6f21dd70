"""Private parts of MLX's `Upsample` that programs call.

An interpolation along one axis is a sum of taps: pairs of source indices and weights.
`(N, scale, align_corners, dim, ndims)` describes the axis `dim`, of length `N`, of `ndims` spatial
axes. Indices and weights broadcast along the other axes; weights have a last axis for channels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from itertools import product
from operator import mul
from typing import Any

import umber.core as mx
from umber.nn.layers.upsample import _length

Taps = tuple[tuple[mx.array, mx.array], ...]


def _along_axis(values: mx.array, dim: int, ndims: int) -> mx.array:
    return values.reshape([-1 if axis == dim else 1 for axis in range(ndims)])


def _scaled_indices(N: int, scale: float, align_corners: bool, dim: int, ndims: int) -> mx.array:
    """Positions of the elements of the output in the input."""
    length = _length(N, scale)
    if align_corners:
        step, start = ((N - 1) / (length - 1) if length > 1 else 0.0), 0.0
    else:
        step = 1 / scale
        start = ((N - 1) - (length - 1) * step) / 2
    return _along_axis(mx.arange(length).astype(mx.float32) * step + start, dim, ndims)


def _nearest_indices(N: int, scale: float, dim: int, ndims: int) -> mx.array:
    """Indices of the nearest elements."""
    length = _length(N, scale)
    step = N / length if length > 0 else 0.0
    positions = mx.arange(length).astype(mx.float32)
    positions = (
        mx.round((positions + 0.5) * step - 0.5) if length > N else mx.floor(positions * step)
    )
    return _along_axis(mx.clip(positions, 0, N - 1).astype(mx.uint32), dim, ndims)


def _linear_indices(N: int, scale: float, align_corners: bool, dim: int, ndims: int) -> Taps:
    """The two neighbours of each position."""
    positions = mx.clip(_scaled_indices(N, scale, align_corners, dim, ndims), 0, N - 1)
    below, above = mx.floor(positions), mx.ceil(positions)
    weight = (positions - below)[..., None]
    return (below.astype(mx.uint32), 1 - weight), (above.astype(mx.uint32), weight)


def _cubic_indices(N: int, scale: float, align_corners: bool, dim: int, ndims: int) -> Taps:
    """The four neighbours of each position, weighted by Keys' kernel with `a = -0.75`."""
    positions = _scaled_indices(N, scale, align_corners, dim, ndims)
    weight = partial(_keys, a=-0.75)
    return tuple(
        (_clipped(below, N), weight(mx.abs(positions - below))[..., None])
        for below in (mx.floor(positions) + tap for tap in (0, 1, -1, 2))
    )


def _clipped(indices: mx.array, N: int) -> mx.array:
    return mx.clip(indices, 0, N - 1).astype(mx.uint32)


def _keys(distance: mx.array, a: float) -> mx.array:
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = (((distance - 5) * distance + 8) * distance - 4) * a
    return mx.where(distance <= 1, near, mx.where(distance < 2, far, 0.0))


def _triangle_kernel(x: mx.array) -> mx.array:
    """`max(0, 1 − |x|)`."""
    return mx.maximum(1 - mx.abs(x), 0)


def _cubic_kernel(x: mx.array) -> mx.array:
    """Keys' kernel with `a = -0.5`."""
    return _keys(mx.abs(x), a=-0.5)


def _aa_indices(
    N: int,
    scale: float,
    align_corners: bool,
    dim: int,
    ndims: int,
    kernel_fn: Callable[[mx.array], mx.array],
    kernel_radius: float,
) -> Taps:
    """The neighbours of each position under a kernel that is scaled to the output's spacing."""
    positions = _scaled_indices(N, scale, align_corners, dim, ndims)
    stretch = max(1.0, 1 / scale)
    support = math.ceil(kernel_radius * stretch)
    neighbours = [mx.floor(positions) + tap for tap in range(-support, support + 1)]
    weights = [
        mx.where((tap >= 0) & (tap < N), kernel_fn(mx.abs(positions - tap) / stretch), 0.0)
        for tap in neighbours
    ]
    total = sum(weights[1:], weights[0])
    return tuple(
        (_clipped(tap, N), (weight / total)[..., None])
        for tap, weight in zip(neighbours, weights, strict=True)
    )


_linear_aa_indices = partial(_aa_indices, kernel_fn=_triangle_kernel, kernel_radius=1.0)
_cubic_aa_indices = partial(_aa_indices, kernel_fn=_cubic_kernel, kernel_radius=2.0)


def _interpolate(
    x: mx.array,
    scale_factor: Sequence[float],
    indices_fn: Callable[..., Taps],
    align_corners: bool = False,
) -> mx.array:
    """Interpolate along all spatial axes together.

    Shapes: `(N, *spatial, C)` → `(N, *enlarged, C)`.
    """
    spatial = x.shape[1:-1]
    taps = [
        indices_fn(length, scale, align_corners, dim, len(spatial))
        for dim, (length, scale) in enumerate(zip(spatial, scale_factor, strict=True))
    ]
    terms: list[Any] = []
    for corner in product(*taps):
        indices, weights = zip(*corner, strict=True)
        terms.append(x[(slice(None), *indices)] * reduce(mul, weights))
    return sum(terms[1:], terms[0])


def _interpolate_separable(
    x: mx.array,
    scale_factor: Sequence[float],
    indices_fn: Callable[..., Taps],
    align_corners: bool = False,
) -> mx.array:
    """`_interpolate`, one spatial axis after another."""
    for axis, scale in enumerate(scale_factor, start=1):
        taps = indices_fn(x.shape[axis], scale, align_corners, 0, 1)
        trailing = [1] * (x.ndim - 1 - axis)
        terms = [
            mx.take(x, indices, axis=axis) * weights.reshape(-1, *trailing)
            for indices, weights in taps
        ]
        x = sum(terms[1:], terms[0])
    return x


def _validate_antialias_align_corners(align_corners: bool, antialias: bool) -> None:
    if align_corners and antialias:
        raise ValueError("[Upsample] antialias and align_corners are mutually exclusive")
