"""`Upsample`, and its modes as functions: interpolation along the spatial axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Literal, NamedTuple, get_args

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module

__all__ = ["Upsample"]

Mode = Literal["nearest", "linear", "cubic"]
# One factor for all spatial axes, or one per axis.
Factors = float | tuple[float, ...]
Resampler = Callable[[mx.array, int, float], mx.array]


class Upsample(Module):
    """Resize the spatial axes by interpolation.

    Parameters
    ----------
    scale_factor : float or tuple of float
        Positive factor for all spatial axes, or one per axis.
    mode : {"nearest", "linear", "cubic"}, optional
        Interpolation. Default: `"nearest"`.
    align_corners : bool, optional
        If True, the first and last elements of input and output coincide; for linear and cubic.
        Default: False.
    antialias : bool, optional
        If True, the kernel is widened to the step of the output where that is smaller than the
        input; for linear and cubic without `align_corners`. Default: False.

    Attributes
    ----------
    scale_factor : float or tuple of float
        The factors.
    mode : str
        The interpolation.
    align_corners, antialias : bool
        Options as given.

    Raises
    ------
    ValueError
        If a factor is not positive and finite, if `mode` does not exist, or if `antialias` is True
        with `"nearest"` or `align_corners`.

    See Also
    --------
    ConvTranspose2d

    Notes
    -----
    An axis of size `L` gets size `⌊scale · L⌋`. Each output element corresponds to a position
    between two input elements: the centres of output and input coincide, and neighbouring output
    elements are `1 / scale` apart. With `align_corners` the ends coincide instead.

    `"nearest"` takes the nearest element, `"linear"` interpolates between two, and `"cubic"`
    between four, with Keys' kernel and `a = -0.75` (`a = -0.5` with `antialias`). Axes are
    interpolated one after the other. The number of factors must equal that of the spatial axes.

    Keys, "Cubic Convolution Interpolation for Digital Image Processing", 1981.

    Shapes: `(N, *spatial, C)` → `(N, *resized, C)`. `"nearest"` keeps the dtype; the others give at
    least float32.

    Examples
    --------
    >>> x = mx.array([[[1.0], [3.0]]])
    >>> nn.Upsample(2)(x).reshape(-1)
    array([1, 1, 3, 3], dtype=float32)
    >>> nn.Upsample(2, mode="linear")(x).reshape(-1)
    array([1, 1.5, 2.5, 3], dtype=float32)
    >>> nn.Upsample((2, 3))(mx.zeros((1, 4, 4, 8))).shape
    (1, 8, 12, 8)
    """

    def __init__(
        self,
        scale_factor: Factors,
        mode: Mode = "nearest",
        align_corners: bool = False,
        antialias: bool = False,
    ) -> None:
        super().__init__()
        if mode not in get_args(Mode):
            raise ValueError(
                f"[Upsample] got the mode {mode!r}, expected one of {list(get_args(Mode))}"
            )
        self.scale_factor = _checked("Upsample", scale_factor)
        self.mode = mode
        # Lists and dicts would become entries of the module.
        self.align_corners = bool(align_corners)
        self.antialias = bool(antialias)
        _resampler("Upsample", mode, self.align_corners, self.antialias)

    def _extra_repr(self) -> str:
        text = (
            f"scale_factor={self.scale_factor}, mode={self.mode!r}, "
            f"align_corners={self.align_corners}"
        )
        return text + ", antialias=True" if self.antialias else text

    def __call__(self, x: mx.array) -> mx.array:
        resample = _resampler("Upsample", self.mode, self.align_corners, self.antialias)
        return _resized("Upsample", x, self.scale_factor, resample)


def upsample_nearest(x: mx.array, scale_factor: Factors) -> mx.array:
    """Resize the spatial axes; each output element is the nearest input element.

    Parameters
    ----------
    x : array
        Input of shape `(N, *spatial, C)`.
    scale_factor : float or tuple of float
        Positive factor for all spatial axes, or one per axis.

    Returns
    -------
    array
        Shape `(N, *resized, C)` and the dtype of `x`.

    Raises
    ------
    ValueError
        If a factor is not positive and finite, if `x` has no spatial axis, or if the number of
        factors is not that of the spatial axes.

    See Also
    --------
    nn.Upsample, upsample_cubic, upsample_linear

    Examples
    --------
    >>> x = mx.array([[[1.0], [3.0]]])
    >>> nn.upsample.upsample_nearest(x, 2).reshape(-1)
    array([1, 1, 3, 3], dtype=float32)
    """
    return _function("upsample_nearest", x, scale_factor, "nearest")


def upsample_linear(
    x: mx.array, scale_factor: Factors, align_corners: bool = False, antialias: bool = False
) -> mx.array:
    """Resize the spatial axes by linear interpolation.

    Parameters
    ----------
    x : array
        Input of shape `(N, *spatial, C)`.
    scale_factor : float or tuple of float
        Positive factor for all spatial axes, or one per axis.
    align_corners : bool, optional
        If True, the first and last elements of input and output coincide. Default: False.
    antialias : bool, optional
        If True, the kernel is widened where the output is smaller than the input. Default: False.

    Returns
    -------
    array
        Shape `(N, *resized, C)`; the dtype that `x` and float32 promote to.

    Raises
    ------
    ValueError
        If a factor is not positive and finite, if `x` has no spatial axis, if the number of factors
        is not that of the spatial axes, or if both options are True.

    See Also
    --------
    nn.Upsample, upsample_cubic, upsample_nearest

    Examples
    --------
    >>> x = mx.array([[[1.0], [3.0]]])
    >>> nn.upsample.upsample_linear(x, 2).reshape(-1)
    array([1, 1.5, 2.5, 3], dtype=float32)
    """
    return _function("upsample_linear", x, scale_factor, "linear", align_corners, antialias)


def upsample_cubic(
    x: mx.array, scale_factor: Factors, align_corners: bool = False, antialias: bool = False
) -> mx.array:
    """Resize the spatial axes by cubic interpolation with Keys' kernel.

    Parameters
    ----------
    x : array
        Input of shape `(N, *spatial, C)`.
    scale_factor : float or tuple of float
        Positive factor for all spatial axes, or one per axis.
    align_corners : bool, optional
        If True, the first and last elements of input and output coincide. Default: False.
    antialias : bool, optional
        If True, the kernel is widened where the output is smaller than the input. Default: False.

    Returns
    -------
    array
        Shape `(N, *resized, C)`; the dtype that `x` and float32 promote to.

    Raises
    ------
    ValueError
        If a factor is not positive and finite, if `x` has no spatial axis, if the number of factors
        is not that of the spatial axes, or if both options are True.

    See Also
    --------
    nn.Upsample, upsample_linear, upsample_nearest

    Examples
    --------
    >>> x = mx.array([[[1.0], [3.0]]])
    >>> nn.upsample.upsample_cubic(x, 2).reshape(-1)
    array([0.789062, 1.45312, 2.54688, 3.21094], dtype=float32)
    """
    return _function("upsample_cubic", x, scale_factor, "cubic", align_corners, antialias)


def _function(
    name: str,
    x: mx.array,
    scale_factor: Factors,
    mode: Mode,
    align_corners: bool = False,
    antialias: bool = False,
) -> mx.array:
    factors = _checked(name, scale_factor)
    return _resized(name, x, factors, _resampler(name, mode, align_corners, antialias))


def _checked(name: str, scale_factor: Factors) -> Factors:
    if isinstance(scale_factor, (list, tuple)):
        factors = tuple(map(float, scale_factor))
        result: Factors = factors
    else:
        result = float(scale_factor)
        factors = (result,)
    if not all(0 < factor < math.inf for factor in factors):
        raise ValueError(f"[{name}] got the scale factor {scale_factor}, expected more than 0")
    return result


def _resampler(name: str, mode: Mode, align_corners: bool, antialias: bool) -> Resampler:
    """The function that interpolates one axis."""
    if antialias and (mode == "nearest" or align_corners):
        raise ValueError(
            f"[{name}] antialias requires mode 'linear' or 'cubic' without align_corners, got "
            f"mode={mode!r}, align_corners={align_corners}"
        )
    if mode == "nearest":
        return _nearest
    cubic = KEYS if antialias else KEYS_OPENCV
    kernel = LINEAR if mode == "linear" else cubic
    return partial(_interpolated, kernel=kernel, align_corners=align_corners, antialias=antialias)


def _resized(name: str, x: mx.array, factors: Factors, resample: Resampler) -> mx.array:
    spatial = x.ndim - 2
    if spatial < 1:
        raise ValueError(
            f"[{name}] got an input with the shape {x.shape}, "
            "expected at least one spatial axis, (N, *spatial, C)"
        )
    if not isinstance(factors, tuple):
        factors = (factors,) * spatial
    if len(factors) != spatial:
        raise ValueError(
            f"[{name}] got {len(factors)} scale factors for {spatial} spatial axes, "
            "expected one for each"
        )
    for axis, factor in enumerate(factors, start=1):
        x = resample(x, axis, factor)
    return x


class Kernel(NamedTuple):
    """Interpolation kernel: weight as a function of distance; it is 0 from `support` on."""

    weight: Callable[[float], float]
    support: int


def _cubic(a: float) -> Callable[[float], float]:
    """Cubic convolution kernel of Keys (1981): polynomials for distances in [0, 1] and [1, 2]."""

    def weight(t: float) -> float:
        t = abs(t)
        if t <= 1:
            return ((a + 2) * t - (a + 3)) * t * t + 1
        return (((t - 5) * t + 8) * t - 4) * a if t < 2 else 0.0

    return weight


LINEAR = Kernel(lambda t: max(0.0, 1 - abs(t)), support=1)
# Values of `a`: that of Keys, which Pillow uses, and that of OpenCV.
KEYS = Kernel(_cubic(-0.5), support=2)
KEYS_OPENCV = Kernel(_cubic(-0.75), support=2)


def _length(size: int, factor: float) -> int:
    return int(size * factor)


def _nearest(x: mx.array, axis: int, factor: float) -> mx.array:
    size = x.shape[axis]
    length = _length(size, factor)
    if length == size:
        return x
    # Computed in float32: its rounding decides between two equally near elements.
    step = size / length if length > 0 else 0.0
    positions = mx.arange(length).astype(mx.float32)
    positions = (
        mx.round((positions + 0.5) * step - 0.5) if length > size else mx.floor(positions * step)
    )
    return mx.take(x, mx.clip(positions, 0, max(size - 1, 0)).astype(mx.int32), axis=axis)


def _interpolated(
    x: mx.array,
    axis: int,
    factor: float,
    *,
    kernel: Kernel,
    align_corners: bool,
    antialias: bool,
) -> mx.array:
    size = x.shape[axis]
    stretch = max(1.0, 1 / factor) if antialias else 1.0
    indices_by_tap, weights = _taps(size, factor, kernel, stretch, align_corners, antialias)
    dtype = mx.result_type(x, mx.float32)
    weights_dtype = mx.float64 if dtype in (mx.float64, mx.complex128) else mx.float32
    trailing = (1,) * (x.ndim - 1 - axis)
    if not indices_by_tap:
        return mx.zeros((*x.shape[:axis], _length(size, factor), *x.shape[axis + 1 :]), dtype)
    taps = (
        mx.take(x, mx.array(indices, mx.int32), axis=axis)
        * mx.array(factors, weights_dtype).reshape(-1, *trailing)
        for indices, factors in zip(indices_by_tap, weights, strict=True)
    )
    return sum(taps, start=mx.array(0, dtype))


@lru_cache(maxsize=256)
def _taps(
    size: int, factor: float, kernel: Kernel, stretch: float, align_corners: bool, inside_only: bool
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[float, ...], ...]]:
    """Input indices and weights of each output element, tap by tap.

    Elements outside the input are left out if `inside_only`; otherwise they are replaced by
    the nearest element inside.
    """
    length = _length(size, factor)
    if size == 0 or length == 0:
        return (), ()
    if align_corners:
        step = (size - 1) / (length - 1) if length > 1 else 0.0
        start = 0.0
    else:
        step = 1 / factor
        start = ((size - 1) - (length - 1) * step) / 2
    support = math.ceil(kernel.support * stretch)
    rows = []
    for i in range(length):
        position = start + i * step
        first = math.floor(position) - support + 1
        neighbours = range(first, first + 2 * support)
        weights = [kernel.weight((position - j) / stretch) for j in neighbours]
        if inside_only:
            weights = [
                w if 0 <= j < size else 0.0 for j, w in zip(neighbours, weights, strict=True)
            ]
        total = sum(weights)
        clipped = (min(max(j, 0), size - 1) for j in neighbours)
        rows.append([(j, w / total) for j, w in zip(clipped, weights, strict=True)])
    taps = list(zip(*rows, strict=True))
    return (
        tuple(tuple(j for j, _ in tap) for tap in taps),
        tuple(tuple(w for _, w in tap) for tap in taps),
    )


_layout.complete(globals())
