"""Initialisers: each returns a function that makes an array with the shape of the one it is given.

That function refuses what the initialiser was given, if it cannot do with it.

Example:
    >>> model.apply(nn.init.normal(std=0.02))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import umber.core as mx

Initializer = Callable[..., mx.array]


def constant(value: float, dtype: mx.Dtype | None = mx.float32) -> Initializer:
    """All elements are `value`."""
    return lambda a: mx.full(a.shape, value, dtype=dtype)


def normal(
    mean: float | None = 0.0, std: float | None = 1.0, dtype: mx.Dtype | None = mx.float32
) -> Initializer:
    """Normal with the given mean and standard deviation; `None` stands for the default."""
    return lambda a: mx.random.normal(a.shape, dtype=dtype, loc=mean, scale=std)


def uniform(
    low: float = 0.0, high: float = 1.0, dtype: mx.Dtype | None = mx.float32
) -> Initializer:
    """Uniform in `[low, high)`."""
    return lambda a: mx.random.uniform(low, high, a.shape, dtype=dtype)


def identity(dtype: mx.Dtype | None = mx.float32) -> Initializer:
    """The identity matrix, for square matrices."""

    def initializer(a: mx.array) -> mx.array:
        if a.ndim != 2 or a.shape[0] != a.shape[1]:
            raise ValueError(f"[init.identity] got the shape {a.shape}, expected a square matrix")
        return mx.eye(a.shape[0], dtype=dtype)

    return initializer


def orthogonal(gain: float = 1.0, dtype: mx.Dtype = mx.float32) -> Initializer:
    """`gain` times a matrix with orthonormal rows or columns, for matrices.

    Saxe, McClelland, Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep linear
    neural networks", 2014. All such matrices are equally likely: Mezzadri, "How to generate random
    matrices from the classical compact groups", 2007.
    """

    def initializer(a: mx.array) -> mx.array:
        if a.ndim != 2:
            raise ValueError(f"[init.orthogonal] got an array with {a.ndim} axes, expected 2")
        rows, columns = a.shape
        size = max(rows, columns)
        q, r = mx.linalg.qr(mx.random.normal((size, size)))
        # The signs make the decomposition unique, without which `q` is not uniform.
        q = q * mx.sign(mx.diag(r))
        return (gain * q[:rows, :columns]).astype(dtype)

    return initializer


def sparse(
    sparsity: float,
    mean: float | None = 0.0,
    std: float | None = 1.0,
    dtype: mx.Dtype | None = mx.float32,
) -> Initializer:
    """Normal, but for `⌈sparsity · columns⌉` zeros at random places of each row, for matrices.

    Martens, "Deep learning via Hessian-free optimization", 2010.
    """

    def initializer(a: mx.array) -> mx.array:
        if isinstance(sparsity, mx.array) and sparsity.ndim > 0:
            raise TypeError(
                f"[init.sparse] sparsity: got an array of shape {sparsity.shape}, expected a number"
            )
        if not 0 <= sparsity <= 1:
            raise ValueError(f"[init.sparse] got the sparsity {sparsity}, expected [0, 1]")
        if a.ndim != 2:
            raise ValueError(f"[init.sparse] got an array with {a.ndim} axes, expected 2")
        zeros = math.ceil(sparsity * a.shape[1])
        places = mx.argsort(mx.random.uniform(shape=a.shape), axis=1)[:, :zeros]
        values = mx.random.normal(a.shape, dtype=dtype, loc=mean, scale=std)
        return mx.put_along_axis(values, places, mx.zeros(places.shape, dtype=dtype), axis=1)

    return initializer


def glorot_normal(dtype: mx.Dtype | None = mx.float32) -> Initializer:
    """Normal with standard deviation `gain · √(2 / (fan_in + fan_out))`.

    Glorot, Bengio, "Understanding the difficulty of training deep feedforward neural networks",
    2010. The function takes the array and `gain` (default 1.0).
    """

    def initializer(a: mx.array, gain: float = 1.0) -> mx.array:
        std = gain * math.sqrt(2 / sum(_fans("glorot_normal", a)))
        return mx.random.normal(a.shape, dtype=dtype, scale=std)

    return initializer


def glorot_uniform(dtype: mx.Dtype | None = mx.float32) -> Initializer:
    """Uniform in `[-s, s)` with `s = gain · √(6 / (fan_in + fan_out))`; see `glorot_normal`."""

    def initializer(a: mx.array, gain: float = 1.0) -> mx.array:
        s = gain * math.sqrt(6 / sum(_fans("glorot_uniform", a)))
        return mx.random.uniform(-s, s, a.shape, dtype=dtype)

    return initializer


def he_normal(dtype: mx.Dtype | None = mx.float32) -> Initializer:
    """Normal with standard deviation `gain / √fan`.

    He et al., "Delving Deep into Rectifiers", 2015. The function takes the array, `mode`
    (`"fan_in"`, the default, or `"fan_out"`) and `gain` (default 1.0).
    """

    def initializer(
        a: mx.array, mode: Literal["fan_in", "fan_out"] = "fan_in", gain: float = 1.0
    ) -> mx.array:
        std = gain / math.sqrt(_fan("he_normal", a, mode))
        return mx.random.normal(a.shape, dtype=dtype, scale=std)

    return initializer


def he_uniform(dtype: mx.Dtype | None = mx.float32) -> Initializer:
    """Uniform in `[-s, s)` with `s = gain · √(3 / fan)`; see `he_normal`."""

    def initializer(
        a: mx.array, mode: Literal["fan_in", "fan_out"] = "fan_in", gain: float = 1.0
    ) -> mx.array:
        s = gain * math.sqrt(3 / _fan("he_uniform", a, mode))
        return mx.random.uniform(-s, s, a.shape, dtype=dtype)

    return initializer


def _fan(op: str, a: mx.array, mode: str) -> int:
    fan_in, fan_out = _fans(op, a)
    fans = {"fan_in": fan_in, "fan_out": fan_out}
    if mode not in fans:
        raise ValueError(f"[init.{op}] got the mode {mode!r}, expected one of {list(fans)}")
    return fans[mode]


def _fans(op: str, a: mx.array) -> tuple[int, int]:
    """How many inputs an output has and outputs an input, for weights `(out, *kernel, in)`."""
    if a.ndim < 2:
        raise ValueError(f"[init.{op}] got an array with {a.ndim} axes, expected at least 2")
    kernel = math.prod(a.shape[1:-1])
    return a.shape[-1] * kernel, a.shape[0] * kernel
