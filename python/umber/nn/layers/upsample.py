"""`Upsample`, and its modes as functions: interpolation along the spatial axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Literal, NamedTuple, get_args

import umber.core as mx
from umber.nn.layers.base import Module

__all__ = ["Upsample"]

Mode = Literal["nearest", "linear", "cubic"]
# One for all spatial axes, or one for each.
Factors = float | tuple[float, ...]
Way = Callable[[mx.array, int, float], mx.array]


class Upsample(Module):
    """Enlarges, or reduces, the spatial axes by interpolation.

    An output of the size `⌊scale · L⌋` takes each element at a place between two of the input. The
    middle of the output lies on the middle of the input and neighbours are `1 / scale` apart; with
    `align_corners` the first and last elements of both coincide instead.

    `"nearest"` takes the nearest element, `"linear"` goes along a line between two, `"cubic"` along
    a cubic through four (Keys, "Cubic Convolution Interpolation for Digital Image Processing",
    1981, with `a = -0.75`). Axes follow one after the other.

    Shapes: `(N, *spatial, C)` → `(N, *enlarged, C)`; linear and cubic at least float32.

    Args:
        scale_factor: one number above 0, or one for each spatial axis.
        mode: `"nearest"`, `"linear"` or `"cubic"`. Default: `"nearest"`.
        align_corners: for linear and cubic. Default: `False`.
        antialias: for linear and cubic without `align_corners`: where the output is smaller, the
            kernel becomes as wide as the output's steps, and `a = -0.5`. Default: `False`.
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
        # As attributes lists and dicts would be entries of the module.
        self.align_corners = bool(align_corners)
        self.antialias = bool(antialias)
        _way("Upsample", mode, self.align_corners, self.antialias)

    def _extra_repr(self) -> str:
        text = (
            f"scale_factor={self.scale_factor}, mode={self.mode!r}, "
            f"align_corners={self.align_corners}"
        )
        return text + ", antialias=True" if self.antialias else text

    def __call__(self, x: mx.array) -> mx.array:
        way = _way("Upsample", self.mode, self.align_corners, self.antialias)
        return _enlarged("Upsample", x, self.scale_factor, way)


def upsample_nearest(x: mx.array, scale_factor: Factors) -> mx.array:
    """`Upsample` with `mode="nearest"`, as a function.

    Shapes: `(N, *spatial, C)` → `(N, *enlarged, C)`, same dtype.
    """
    return _function("upsample_nearest", x, scale_factor, "nearest")


def upsample_linear(
    x: mx.array, scale_factor: Factors, align_corners: bool = False, antialias: bool = False
) -> mx.array:
    """`Upsample` with `mode="linear"`, as a function.

    Shapes: `(N, *spatial, C)` → `(N, *enlarged, C)`; at least float32.
    """
    return _function("upsample_linear", x, scale_factor, "linear", align_corners, antialias)


def upsample_cubic(
    x: mx.array, scale_factor: Factors, align_corners: bool = False, antialias: bool = False
) -> mx.array:
    """`Upsample` with `mode="cubic"`, as a function.

    Shapes: `(N, *spatial, C)` → `(N, *enlarged, C)`; at least float32.
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
    return _enlarged(name, x, factors, _way(name, mode, align_corners, antialias))


def _checked(name: str, scale_factor: Factors) -> Factors:
    if isinstance(scale_factor, (list, tuple)):
        factors = tuple(map(float, scale_factor))
        answer: Factors = factors
    else:
        answer = float(scale_factor)
        factors = (answer,)
    if not all(0 < factor < math.inf for factor in factors):
        raise ValueError(f"[{name}] got the scale factor {scale_factor}, expected more than 0")
    return answer


def _way(name: str, mode: Mode, align_corners: bool, antialias: bool) -> Way:
    """How one axis is interpolated."""
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


def _enlarged(name: str, x: mx.array, factors: Factors, way: Way) -> mx.array:
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
        x = way(x, axis, factor)
    return x


class Kernel(NamedTuple):
    """How much an element counts at a distance, and from which distance on not at all."""

    weight: Callable[[float], float]
    support: int


def _cubic(a: float) -> Callable[[float], float]:
    """Keys' kernel: two cubics that meet at the distance 1 and end at 2."""

    def weight(t: float) -> float:
        t = abs(t)
        if t <= 1:
            return ((a + 2) * t - (a + 3)) * t * t + 1
        return (((t - 5) * t + 8) * t - 4) * a if t < 2 else 0.0

    return weight


LINEAR = Kernel(lambda t: max(0.0, 1 - abs(t)), support=1)
# Keys' own value, which Pillow has too, and OpenCV's.
KEYS = Kernel(_cubic(-0.5), support=2)
KEYS_OPENCV = Kernel(_cubic(-0.75), support=2)


def _length(size: int, factor: float) -> int:
    return int(size * factor)


def _nearest(x: mx.array, axis: int, factor: float) -> mx.array:
    size = x.shape[axis]
    length = _length(size, factor)
    if length == size:
        return x
    # In float32, whose rounding decides which of two equally near elements is taken.
    step = size / length if length > 0 else 0.0
    places = mx.arange(length).astype(mx.float32)
    places = mx.round((places + 0.5) * step - 0.5) if length > size else mx.floor(places * step)
    return mx.take(x, mx.clip(places, 0, max(size - 1, 0)).astype(mx.int32), axis=axis)


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
    reach = max(1.0, 1 / factor) if antialias else 1.0
    places, weights = _taps(size, factor, kernel, reach, align_corners, antialias)
    dtype = mx.result_type(x, mx.float32)
    weights_dtype = mx.float64 if dtype in (mx.float64, mx.complex128) else mx.float32
    rest = (1,) * (x.ndim - 1 - axis)
    if not places:
        return mx.zeros((*x.shape[:axis], _length(size, factor), *x.shape[axis + 1 :]), dtype)
    taps = (
        mx.take(x, mx.array(taken, mx.int32), axis=axis)
        * mx.array(factors, weights_dtype).reshape(-1, *rest)
        for taken, factors in zip(places, weights, strict=True)
    )
    return sum(taps, start=mx.array(0, dtype))


@lru_cache(maxsize=256)
def _taps(
    size: int, factor: float, kernel: Kernel, reach: float, align_corners: bool, inside_only: bool
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[float, ...], ...]]:
    """The elements that make up each place of the output and their weights, tap after tap.

    Elements outside do not count if `inside_only`, else the outermost stand for them.
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
    support = math.ceil(kernel.support * reach)
    rows = []
    for i in range(length):
        place = start + i * step
        first = math.floor(place) - support + 1
        taken = range(first, first + 2 * support)
        weights = [kernel.weight((place - j) / reach) for j in taken]
        if inside_only:
            weights = [w if 0 <= j < size else 0.0 for j, w in zip(taken, weights, strict=True)]
        total = sum(weights)
        clipped = (min(max(j, 0), size - 1) for j in taken)
        rows.append([(j, w / total) for j, w in zip(clipped, weights, strict=True)])
    taps = list(zip(*rows, strict=True))
    return (
        tuple(tuple(j for j, _ in tap) for tap in taps),
        tuple(tuple(w for _, w in tap) for tap in taps),
    )
