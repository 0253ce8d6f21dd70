"""Normalisation layers: `LayerNorm`, `RMSNorm`, `BatchNorm`, `GroupNorm`, `InstanceNorm`.

float16 and bfloat16 are normalised in float32 and rounded once, at the end.
"""

from __future__ import annotations

import math

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module

__all__ = [
    "BatchNorm",
    "GroupNorm",
    "InstanceNorm",
    "LayerNorm",
    "RMSNorm",
]


class LayerNorm(Module):
    """Layer normalisation: `y = (x - mean) / √(var + eps) · weight + bias` over the last axis.

    Parameters
    ----------
    dims : int
        Size of the last axis.
    eps : float, optional
        Positive number added to the variance. Default: 1e-5.
    affine : bool, optional
        Whether to multiply by `weight` and add `bias`. Default: True.
    bias : bool, optional
        Whether there is a `bias`; read only if `affine` is True. Default: True.

    Attributes
    ----------
    weight : array of shape (dims,)
        Scale, float32, initially ones; absent if `affine` is False.
    bias : array of shape (dims,)
        Bias, float32, initially zeros; absent if `affine` or `bias` is False.

    Raises
    ------
    ValueError
        If `eps` is not positive.

    See Also
    --------
    mx.fast.layer_norm, RMSNorm

    Notes
    -----
    Mean and variance are taken over the last axis; the variance is the biased one.
    The result has the dtype that the input, `weight` and `bias` promote to; integers give float32.

    Ba, Kiros, Hinton, "Layer Normalization", 2016.

    Shapes: `(..., dims)`, kept.

    Examples
    --------
    >>> nn.LayerNorm(3)(mx.array([1.0, 2.0, 3.0]))
    array([-1.22474, 0, 1.22474], dtype=float32)
    """

    def __init__(
        self, dims: int, eps: float = 1e-5, affine: bool = True, bias: bool = True
    ) -> None:
        super().__init__()
        _check_eps("LayerNorm", eps)
        if affine:
            self.weight = mx.ones((dims,))
            if bias:
                self.bias = mx.zeros((dims,))
        self.dims = dims
        self.eps = eps

    def _extra_repr(self) -> str:
        return f"{self.dims}, eps={self.eps}, affine={'weight' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        _check_last_axis(type(self).__name__, x, dict.get(self, "weight"))
        return mx.fast.layer_norm(
            _floating(x), dict.get(self, "weight"), dict.get(self, "bias"), self.eps
        )


class RMSNorm(Module):
    """Root mean square normalisation: `y = x / √(mean(x²) + eps) · weight` over the last axis.

    Parameters
    ----------
    dims : int
        Size of the last axis.
    eps : float, optional
        Positive number added to the mean square. Default: 1e-5.

    Attributes
    ----------
    weight : array of shape (dims,)
        Scale, float32, initially ones.

    Raises
    ------
    ValueError
        If `eps` is not positive.

    See Also
    --------
    LayerNorm, mx.fast.rms_norm

    Notes
    -----
    The result has the dtype that the input and `weight` promote to; integers give float32.

    Zhang, Sennrich, "Root Mean Square Layer Normalization", 2019.

    Shapes: `(..., dims)`, kept.

    Examples
    --------
    >>> nn.RMSNorm(2)(mx.array([3.0, 4.0]))
    array([0.848528, 1.13137], dtype=float32)
    """

    def __init__(self, dims: int, eps: float = 1e-5) -> None:
        super().__init__()
        _check_eps("RMSNorm", eps)
        self.weight = mx.ones((dims,))
        self.eps = eps

    def _extra_repr(self) -> str:
        return f"{self.weight.shape[0]}, eps={self.eps}"

    def __call__(self, x: mx.array) -> mx.array:
        _check_last_axis(type(self).__name__, x, self.weight)
        return mx.fast.rms_norm(_floating(x), self.weight, self.eps)


class BatchNorm(Module):
    """Batch normalisation: `y = (x - mean) / √(var + eps) · weight + bias` for each feature.

    Parameters
    ----------
    num_features : int
        Size of the last axis.
    eps : float, optional
        Positive number added to the variance. Default: 1e-5.
    momentum : float, optional
        Weight of a batch in the running averages. None is valid if the layer is not trained.
        Default: 0.1.
    affine : bool, optional
        Whether to multiply by `weight` and add `bias`. Default: True.
    track_running_stats : bool, optional
        Whether to keep running averages. Without them evaluation mode uses the statistics of the
        batch, too. Default: True.

    Attributes
    ----------
    weight : array of shape (num_features,)
        Scale, initially ones; absent if `affine` is False.
    bias : array of shape (num_features,)
        Bias, initially zeros; absent if `affine` is False.
    running_mean : array of shape (num_features,)
        Running average of the means, initially zeros; absent if `track_running_stats` is False.
    running_var : array of shape (num_features,)
        Running average of the variances, initially ones; absent if `track_running_stats` is False.

    Raises
    ------
    ValueError
        If `eps` is not positive.

    See Also
    --------
    GroupNorm, InstanceNorm, LayerNorm, Module.train

    Notes
    -----
    In training mode mean and variance are those of the batch, over all axes but the last, and each
    call updates the running averages: ``running = (1 - momentum) · running + momentum · batch``,
    with the unbiased variance. Evaluation mode normalises by the running averages. These are
    parameters that stay frozen, so that they are saved but not trained.

    In training mode a batch with only one value per feature raises ValueError, and `momentum=None`
    raises TypeError.

    Ioffe, Szegedy, "Batch Normalization: Accelerating Deep Network Training by Reducing Internal
    Covariate Shift", 2015.

    Shapes: `(N, ..., num_features)`, kept. The running averages, `weight` and `bias` broadcast an
    input `(N, ..., 1)`.

    Examples
    --------
    >>> layer = nn.BatchNorm(2)
    >>> layer(mx.array([[1.0, 2.0], [3.0, 6.0]]))
    array([[-0.999995, -0.999999],
           [0.999995, 0.999999]], dtype=float32)
    >>> layer.running_mean
    array([0.2, 0.4], dtype=float32)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        super().__init__()
        _check_eps("BatchNorm", eps)
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = mx.ones((num_features,))
            self.bias = mx.zeros((num_features,))
        if track_running_stats:
            self.running_mean = mx.zeros((num_features,))
            self.running_var = mx.ones((num_features,))
            self._freeze_own(["running_mean", "running_var"])

    def _unfreeze_own(self, names: list[str] | None) -> None:
        super()._unfreeze_own(names)
        if self.track_running_stats:
            self._freeze_own(["running_mean", "running_var"])

    def _extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={'weight' in self}, track_running_stats={self.track_running_stats}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        if x.ndim < 2 or x.shape[-1] not in (1, self.num_features):
            raise ValueError(
                f"[BatchNorm] got an input with the shape {x.shape}, "
                f"expected (N, ..., {self.num_features})"
            )
        x32 = _widened(x)
        if self.track_running_stats and not self.training:
            y = (x32 - self.running_mean) * mx.rsqrt(self.running_var + self.eps)
        else:
            axes = tuple(range(x.ndim - 1))
            mean, rounding_error = _mean(x32, axes)
            std = x32.std(axis=axes)
            self._track(x, mean, std)
            y = (x32 - mean - rounding_error) * _scale(std, self.eps)
        return _scaled(y, x, dict.get(self, "weight"), dict.get(self, "bias"))

    def _track(self, x: mx.array, mean: mx.array, std: mx.array) -> None:
        if not (self.training and self.track_running_stats):
            return
        count = mx._number_of_elements(x, tuple(range(x.ndim - 1)), 2)  # type: ignore[attr-defined]
        if count is None:
            raise ValueError(
                f"[BatchNorm] got an input with the shape {x.shape}, "
                "expected more than one value for each feature while training"
            )
        count = count.astype(std.dtype)
        var = std.square() * (count / (count - 1))
        if self.momentum is None:
            raise TypeError("[BatchNorm] momentum must be a number while training, not None")
        batch = {"running_mean": mean, "running_var": var}
        for name, value in batch.items():
            old = getattr(self, name)
            new = (1 - self.momentum) * old + self.momentum * mx.stop_gradient(value)
            setattr(self, name, new.astype(old.dtype))


class GroupNorm(Module):
    """Group normalisation: `y = (x - mean) / √(var + eps) · weight + bias` for groups of features.

    Parameters
    ----------
    num_groups : int
        Number of groups, a divisor of `dims`.
    dims : int
        Size of the last axis.
    eps : float, optional
        Positive number added to the variance. Default: 1e-5.
    affine : bool, optional
        Whether to multiply by `weight` and add `bias`. Default: True.
    pytorch_compatible : bool, optional
        If True, a group consists of neighbouring features, as in the paper; if False, of features
        `num_groups` apart. Default: False.

    Attributes
    ----------
    weight : array of shape (dims,)
        Scale, float32, initially ones; absent if `affine` is False.
    bias : array of shape (dims,)
        Bias, float32, initially zeros; absent if `affine` is False.

    Raises
    ------
    ValueError
        If `eps` is not positive, or if `num_groups` does not divide `dims`.

    See Also
    --------
    BatchNorm, InstanceNorm, LayerNorm

    Notes
    -----
    Mean and variance are taken per sample, over all spatial axes and the features of a group.

    Wu, He, "Group Normalization", 2018.

    Shapes: `(N, ..., dims)`, kept. With one group `weight` and `bias` broadcast an input
    `(N, ..., 1)`.

    Examples
    --------
    >>> x = mx.array([[1.0, 2.0, 3.0, 6.0]])
    >>> nn.GroupNorm(2, 4)(x)  # groups (1, 3) and (2, 6)
    array([[-0.999995, -0.999999, 0.999995, 0.999999]], dtype=float32)
    >>> nn.GroupNorm(2, 4, pytorch_compatible=True)(x)  # groups (1, 2) and (3, 6)
    array([[-0.99998, 0.99998, -0.999998, 0.999998]], dtype=float32)
    """

    def __init__(
        self,
        num_groups: int,
        dims: int,
        eps: float = 1e-5,
        affine: bool = True,
        pytorch_compatible: bool = False,
    ) -> None:
        super().__init__()
        _check_eps("GroupNorm", eps)
        if num_groups < 1 or dims % num_groups:
            raise ValueError(
                f"[GroupNorm] dims {dims} must be divisible by num_groups {num_groups}"
            )
        if affine:
            self.bias = mx.zeros((dims,))
            self.weight = mx.ones((dims,))
        self.num_groups = num_groups
        self.dims = dims
        self.eps = eps
        self.pytorch_compatible = pytorch_compatible

    def _extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.dims}, eps={self.eps}, "
            f"affine={'weight' in self}, pytorch_compatible={self.pytorch_compatible}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        if x.ndim < 2 or not (x.shape[-1] == self.dims or x.shape[-1] == self.num_groups == 1):
            raise ValueError(
                f"[GroupNorm] got an input with the shape {x.shape}, expected (N, ..., {self.dims})"
            )
        size = x.shape[-1] // self.num_groups
        groups = (self.num_groups, size) if self.pytorch_compatible else (size, self.num_groups)
        y = mx.unflatten(_widened(x), -1, groups)
        group_axis = x.ndim if self.pytorch_compatible else x.ndim - 1
        y = mx.flatten(_normal(y, (*range(1, x.ndim - 1), group_axis), self.eps), -2, -1)
        return _scaled(y, x, dict.get(self, "weight"), dict.get(self, "bias"))


class InstanceNorm(Module):
    """Instance normalisation: `y = (x - mean) / √(var + eps)` for each sample and feature.

    Parameters
    ----------
    dims : int
        Size of the last axis; read only if `affine` is True.
    eps : float, optional
        Positive number added to the variance. Default: 1e-5.
    affine : bool, optional
        Whether to multiply by `weight` and add `bias` afterwards. Default: False.

    Attributes
    ----------
    weight : array of shape (dims,)
        Scale, initially ones; absent if `affine` is False.
    bias : array of shape (dims,)
        Bias, initially zeros; absent if `affine` is False.

    Raises
    ------
    ValueError
        If `eps` is not positive.

    See Also
    --------
    BatchNorm, GroupNorm, LayerNorm

    Notes
    -----
    Mean and variance are taken over the spatial axes, those between the first and the last.

    Ulyanov, Vedaldi, Lempitsky, "Instance Normalization: The Missing Ingredient for Fast
    Stylization", 2016.

    Shapes: `(N, ..., dims)` with at least one spatial axis, kept. `weight` and `bias` broadcast an
    input `(N, ..., 1)`.

    Examples
    --------
    >>> x = mx.array([[[1.0], [2.0], [3.0]]])
    >>> nn.InstanceNorm(1)(x).reshape(-1)
    array([-1.22474, 0, 1.22474], dtype=float32)
    """

    def __init__(self, dims: float | None, eps: float = 1e-5, affine: bool = False) -> None:
        super().__init__()
        _check_eps("InstanceNorm", eps)
        if affine:
            self.weight = mx.ones((dims,))
            self.bias = mx.zeros((dims,))
        self.dims = dims
        self.eps = eps

    def _extra_repr(self) -> str:
        return f"{self.dims}, eps={self.eps}, affine={'weight' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        if x.ndim < 3:
            raise ValueError(
                f"[InstanceNorm] got an input with the shape {x.shape}, "
                f"expected at least 3 axes, (N, ..., {self.dims})"
            )
        if x.shape[-1] != 1:
            _check_last_axis("InstanceNorm", x, dict.get(self, "weight"))
        y = _normal(_widened(x), tuple(range(1, x.ndim - 1)), self.eps)
        return _scaled(y, x, dict.get(self, "weight"), dict.get(self, "bias"))


def _check_eps(op: str, eps: float) -> None:
    if not eps > 0:
        raise ValueError(f"[{op}] got eps {eps}, expected a number above 0")


def _normal(x: mx.array, axes: tuple[int, ...], eps: float) -> mx.array:
    """Normalise to mean 0 and variance 1 over the axes."""
    mean, rounding_error = _mean(x, axes, keepdims=True)
    return (x - mean - rounding_error) * _scale(x.std(axis=axes, keepdims=True), eps)


def _mean(
    x: mx.array, axes: tuple[int, ...], keepdims: bool = False
) -> tuple[mx.array, mx.array | float]:
    """The mean rounded to the dtype of `x`, and the rounding error.

    The error matters for values far from 0, where it is as large as their differences.
    """
    if x.dtype != mx.float32:
        return x.mean(axis=axes, keepdims=keepdims), 0.0
    exact = x.mean(axis=axes, keepdims=keepdims, dtype=mx.float64)
    mean = exact.astype(x.dtype)
    return mean, mx.stop_gradient((exact - mean).astype(x.dtype))


def _scale(std: mx.array, eps: float) -> mx.array:
    """`1 / √(std² + eps)`, without a square that may overflow or underflow."""
    return mx.reciprocal(mx.hypot(std, math.sqrt(eps)) if eps > 0 else std)


def _check_last_axis(op: str, x: mx.array, weight: mx.array | None) -> None:
    if x.ndim == 0:
        raise ValueError(f"[{op}] input must have at least one axis")
    if weight is not None and x.shape[-1] != weight.shape[0]:
        raise ValueError(
            f"[{op}] the input's last axis: got size {x.shape[-1]}, expected {weight.shape[0]}"
        )


def _floating(x: mx.array) -> mx.array:
    return x if mx.issubdtype(x.dtype, mx.inexact) else x.astype(mx.float32)


def _widened(x: mx.array) -> mx.array:
    return x.astype(mx.float32) if x.dtype in (mx.float16, mx.bfloat16) else x


def _scaled(y: mx.array, x: mx.array, weight: mx.array | None, bias: mx.array | None) -> mx.array:
    """`y · weight + bias` in the dtype that `x`, `weight` and `bias` promote to."""
    y = y if weight is None else y * weight
    y = y if bias is None else y + bias
    if x.dtype not in (mx.float16, mx.bfloat16):
        return y
    return y.astype(mx.result_type(x, *(a for a in (weight, bias) if a is not None)))


_layout.complete(globals())
