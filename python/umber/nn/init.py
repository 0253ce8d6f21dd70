"""Initialisers of parameters.

Each function returns an initialiser: a function that takes an array and returns a new one of its
shape. Arguments of the wrong type are reported when the initialiser is called.

Examples
--------
>>> layer = nn.Linear(4, 8)
>>> _ = layer.apply(nn.init.normal(std=0.02))
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import umber.core as mx
from umber import _layout

Initializer = Callable[..., mx.array]


def constant(value: float, dtype: mx.Dtype | None = mx.float32) -> Initializer:
    """Initialiser that fills an array with one value.

    Parameters
    ----------
    value : float
        The value of all elements.
    dtype : Dtype, optional
        Dtype of the result. Default: float32.

    Returns
    -------
    callable
        ``initializer(a)`` returns a constant array of the shape of `a`.

    Examples
    --------
    >>> nn.init.constant(0.5)(mx.zeros((2, 2)))
    array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    """
    return lambda a: mx.full(a.shape, value, dtype=dtype)


def normal(
    mean: float | None = 0.0, std: float | None = 1.0, dtype: mx.Dtype | None = mx.float32
) -> Initializer:
    """Initialiser that draws from a normal distribution.

    Parameters
    ----------
    mean : float, optional
        Mean. Default: 0.0, also for `None`.
    std : float, optional
        Standard deviation. Default: 1.0, also for `None`.
    dtype : Dtype, optional
        Dtype of the result. Default: float32.

    Returns
    -------
    callable
        ``initializer(a)`` returns samples in the shape of `a`.

    See Also
    --------
    uniform, mx.random.normal

    Examples
    --------
    >>> nn.init.normal(std=0.02)(mx.zeros((2, 3))).shape
    (2, 3)
    """
    return lambda a: mx.random.normal(a.shape, dtype=dtype, loc=mean, scale=std)


def uniform(
    low: float = 0.0, high: float = 1.0, dtype: mx.Dtype | None = mx.float32
) -> Initializer:
    """Initialiser that draws from a uniform distribution over ``[low, high)``.

    Parameters
    ----------
    low : float, optional
        Lower bound. Default: 0.0.
    high : float, optional
        Upper bound, excluded. Default: 1.0.
    dtype : Dtype, optional
        Dtype of the result. Default: float32.

    Returns
    -------
    callable
        ``initializer(a)`` returns samples in the shape of `a`.

    See Also
    --------
    normal, mx.random.uniform

    Examples
    --------
    >>> w = nn.init.uniform(-0.1, 0.1)(mx.zeros((2, 3)))
    >>> bool(mx.all(mx.abs(w) <= 0.1))
    True
    """
    return lambda a: mx.random.uniform(low, high, a.shape, dtype=dtype)


def identity(dtype: mx.Dtype | None = mx.float32) -> Initializer:
    """Initialiser that makes an identity matrix.

    Parameters
    ----------
    dtype : Dtype, optional
        Dtype of the result. Default: float32.

    Returns
    -------
    callable
        ``initializer(a)`` returns the identity matrix of the shape of `a`. It raises ValueError
        unless `a` is a square matrix.

    Examples
    --------
    >>> nn.init.identity()(mx.zeros((2, 2)))
    array([[1, 0],
           [0, 1]], dtype=float32)
    """

    def initializer(a: mx.array) -> mx.array:
        if a.ndim != 2 or a.shape[0] != a.shape[1]:
            raise ValueError(f"[init.identity] got the shape {a.shape}, expected a square matrix")
        return mx.eye(a.shape[0], dtype=dtype)

    return initializer


def orthogonal(gain: float = 1.0, dtype: mx.Dtype = mx.float32) -> Initializer:
    """Initialiser that makes a random matrix with orthonormal rows or columns.

    Parameters
    ----------
    gain : float, optional
        Factor of the matrix. Default: 1.0.
    dtype : Dtype, optional
        Dtype of the result. Default: float32.

    Returns
    -------
    callable
        ``initializer(a)`` returns a matrix of the shape of `a`: with orthogonal columns if it is
        tall, else with orthogonal rows, all of norm `gain`. It raises ValueError unless `a` has two
        axes.

    Notes
    -----
    The matrices are part of a square one, drawn uniformly (by the Haar measure) from all orthogonal
    matrices [2]_.

    References
    ----------
    .. [1] Saxe, McClelland, Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep
       linear neural networks", 2014.
    .. [2] Mezzadri, "How to generate random matrices from the classical compact groups", 2007.

    Examples
    --------
    >>> q = nn.init.orthogonal()(mx.zeros((4, 2)))
    >>> bool(mx.allclose(q.T @ q, mx.eye(2), atol=1e-5))
    True
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
    """Initialiser that draws from a normal distribution and sets part of each row to zero.

    Parameters
    ----------
    sparsity : float
        Fraction of zeros in each row, in ``[0, 1]``.
    mean : float, optional
        Mean of the other elements. Default: 0.0, also for `None`.
    std : float, optional
        Standard deviation of the other elements. Default: 1.0, also for `None`.
    dtype : Dtype, optional
        Dtype of the result. Default: float32.

    Returns
    -------
    callable
        ``initializer(a)`` returns a matrix of the shape of `a` with ``ceil(sparsity * columns)``
        zeros at random places of each row. It raises ValueError unless `a` has two axes and
        `sparsity` is in ``[0, 1]``.

    References
    ----------
    .. [1] Martens, "Deep learning via Hessian-free optimization", 2010.

    Examples
    --------
    >>> w = nn.init.sparse(0.5)(mx.zeros((3, 4)))
    >>> mx.sum(w == 0, axis=1).tolist()
    [2, 2, 2]
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
        indices = mx.argsort(mx.random.uniform(shape=a.shape), axis=1)[:, :zeros]
        values = mx.random.normal(a.shape, dtype=dtype, loc=mean, scale=std)
        return mx.put_along_axis(values, indices, mx.zeros(indices.shape, dtype=dtype), axis=1)

    return initializer


def glorot_normal(dtype: mx.Dtype | None = mx.float32) -> Initializer:
    """Initialiser of Glorot and Bengio: normal, scaled by the sum of fan-in and fan-out.

    Parameters
    ----------
    dtype : Dtype, optional
        Dtype of the result. Default: float32.

    Returns
    -------
    callable
        ``initializer(a, gain=1.0)`` returns samples in the shape of `a` with the standard deviation
        ``gain * sqrt(2 / (fan_in + fan_out))``. It raises ValueError if `a` has fewer than two
        axes.

    See Also
    --------
    glorot_uniform, he_normal

    Notes
    -----
    Weights have the shape ``(out, *kernel, in)``: `fan_in` is ``in * prod(kernel)`` and `fan_out`
    is ``out * prod(kernel)``.

    References
    ----------
    .. [1] Glorot, Bengio, "Understanding the difficulty of training deep feedforward neural
       networks", 2010.

    Examples
    --------
    >>> nn.init.glorot_normal()(mx.zeros((8, 4)), gain=2.0).shape
    (8, 4)
    """

    def initializer(a: mx.array, gain: float = 1.0) -> mx.array:
        std = gain * math.sqrt(2 / sum(_fans("glorot_normal", a)))
        return mx.random.normal(a.shape, dtype=dtype, scale=std)

    return initializer


def glorot_uniform(dtype: mx.Dtype | None = mx.float32) -> Initializer:
    """Initialiser of Glorot and Bengio: uniform, scaled by the sum of fan-in and fan-out.

    Parameters
    ----------
    dtype : Dtype, optional
        Dtype of the result. Default: float32.

    Returns
    -------
    callable
        ``initializer(a, gain=1.0)`` returns samples from ``[-s, s)`` in the shape of `a`, with
        ``s = gain * sqrt(6 / (fan_in + fan_out))``. It raises ValueError if `a` has fewer than two
        axes.

    See Also
    --------
    glorot_normal, he_uniform

    Notes
    -----
    Weights have the shape ``(out, *kernel, in)``: `fan_in` is ``in * prod(kernel)`` and `fan_out`
    is ``out * prod(kernel)``.

    References
    ----------
    .. [1] Glorot, Bengio, "Understanding the difficulty of training deep feedforward neural
       networks", 2010.

    Examples
    --------
    >>> w = nn.init.glorot_uniform()(mx.zeros((2, 4)))
    >>> bool(mx.all(mx.abs(w) <= 1))
    True
    """

    def initializer(a: mx.array, gain: float = 1.0) -> mx.array:
        s = gain * math.sqrt(6 / sum(_fans("glorot_uniform", a)))
        return mx.random.uniform(-s, s, a.shape, dtype=dtype)

    return initializer


def he_normal(dtype: mx.Dtype | None = mx.float32) -> Initializer:
    """Initialiser of He et al.: normal, scaled by fan-in or fan-out.

    Parameters
    ----------
    dtype : Dtype, optional
        Dtype of the result. Default: float32.

    Returns
    -------
    callable
        ``initializer(a, mode="fan_in", gain=1.0)`` returns samples in the shape of `a` with the
        standard deviation ``gain / sqrt(fan)``. `mode` is ``"fan_in"`` or ``"fan_out"``. It raises
        ValueError for another mode, or if `a` has fewer than two axes.

    See Also
    --------
    he_uniform, glorot_normal

    Notes
    -----
    Weights have the shape ``(out, *kernel, in)``: `fan_in` is ``in * prod(kernel)`` and `fan_out`
    is ``out * prod(kernel)``. The gain for layers that ReLU follows is ``sqrt(2)``.

    References
    ----------
    .. [1] He et al., "Delving Deep into Rectifiers", 2015.

    Examples
    --------
    >>> nn.init.he_normal()(mx.zeros((8, 3, 3, 4)), mode="fan_out", gain=2**0.5).shape
    (8, 3, 3, 4)
    """

    def initializer(
        a: mx.array, mode: Literal["fan_in", "fan_out"] = "fan_in", gain: float = 1.0
    ) -> mx.array:
        std = gain / math.sqrt(_fan("he_normal", a, mode))
        return mx.random.normal(a.shape, dtype=dtype, scale=std)

    return initializer


def he_uniform(dtype: mx.Dtype | None = mx.float32) -> Initializer:
    """Initialiser of He et al.: uniform, scaled by fan-in or fan-out.

    Parameters
    ----------
    dtype : Dtype, optional
        Dtype of the result. Default: float32.

    Returns
    -------
    callable
        ``initializer(a, mode="fan_in", gain=1.0)`` returns samples from ``[-s, s)`` in the shape of
        `a`, with ``s = gain * sqrt(3 / fan)``. `mode` is ``"fan_in"`` or ``"fan_out"``. It raises
        ValueError for another mode, or if `a` has fewer than two axes.

    See Also
    --------
    he_normal, glorot_uniform

    Notes
    -----
    Weights have the shape ``(out, *kernel, in)``: `fan_in` is ``in * prod(kernel)`` and `fan_out`
    is ``out * prod(kernel)``. The gain for layers that ReLU follows is ``sqrt(2)``.

    References
    ----------
    .. [1] He et al., "Delving Deep into Rectifiers", 2015.

    Examples
    --------
    >>> w = nn.init.he_uniform()(mx.zeros((2, 12)))
    >>> bool(mx.all(mx.abs(w) <= 0.5))
    True
    """

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
    """Fan-in and fan-out of a weight of the shape ``(out, *kernel, in)``."""
    if a.ndim < 2:
        raise ValueError(f"[init.{op}] got an array with {a.ndim} axes, expected at least 2")
    kernel = math.prod(a.shape[1:-1])
    return a.shape[-1] * kernel, a.shape[0] * kernel


_layout.complete(globals())
