"""Quantised numbers in NumPy, written from the formats' definitions alone."""

import numpy as np

USUAL = {"affine": (64, 4), "mxfp4": (32, 4), "mxfp8": (32, 8), "nvfp4": (16, 4)}
FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
FP8 = np.array(
    [m / 512 if e == 0 else (1 + m / 8) * 2.0 ** (e - 7) for e in range(16) for m in range(8)]
)
FP8[127] = np.nan
# Every affine format, and the others.
FORMATS = [("affine", size, bits) for size in (32, 64, 128) for bits in (1, 2, 3, 4, 5, 6, 8)] + [
    (mode, *USUAL[mode]) for mode in ("mxfp4", "mxfp8", "nvfp4")
]


def pack(codes, bits):
    """Codes in the last axis as words."""
    string = (codes[..., None] >> np.arange(bits)) & 1
    string = string.reshape(*codes.shape[:-1], codes.shape[-1] * bits).astype(np.uint8)
    return np.packbits(string, axis=-1, bitorder="little").view("<u4")


def unpack(words, bits):
    """The codes in words."""
    bytes_ = np.ascontiguousarray(words, "<u4").view(np.uint8)
    string = np.unpackbits(bytes_, axis=-1, bitorder="little")
    string = string.reshape(*words.shape[:-1], words.shape[-1] * 32 // bits, bits)
    return (string.astype(np.uint32) << np.arange(bits, dtype=np.uint32)).sum(-1)


def groups_of(x, size):
    return x.reshape(*x.shape[:-1], -1, size)


def to_fp8(x):
    """Codes of the nearest E4M3: ties to even, the largest for what is larger."""
    magnitude = np.abs(np.asarray(x, np.float64))
    middles = (FP8[:126] + FP8[1:127]) / 2
    code = np.searchsorted(middles, magnitude)
    is_tie = (code < 126) & (magnitude == middles[np.minimum(code, 125)])
    code = code + (is_tie & (code % 2 == 1))
    return np.where(np.isnan(x), 127, code).astype(np.uint8) | (np.signbit(x) * np.uint8(128))


def from_fp8(codes):
    return np.where(codes & 128, -1.0, 1.0) * FP8[codes & 127]


def to_fp4(x):
    """Codes of the nearest E2M1: ties towards zero, no negative zero."""
    code = np.searchsorted((FP4[:-1] + FP4[1:]) / 2, np.abs(x))
    code = np.where(np.isnan(x), 0, code)
    return code | np.where((x < 0) & (code > 0), 8, 0)


def levels(words, mode, bits):
    """What codes stand for before they are scaled."""
    codes = unpack(words, bits)
    if mode == "affine":
        return codes.astype(np.float64)
    if mode == "mxfp8":
        return from_fp8(codes)
    return np.where(codes & 8, -1.0, 1.0) * FP4[codes & 7]


def dequantize(words, scales, biases, mode, size, bits):
    """What words stand for, in float64."""
    if mode != "affine":
        scales = from_fp8(scales) if mode == "nvfp4" else 2.0 ** (scales.astype(np.float64) - 127)
    values = groups_of(levels(words, mode, bits), size) * np.asarray(scales, np.float64)[..., None]
    if biases is not None:
        values = values + np.asarray(biases, np.float64)[..., None]
    return values.reshape(*words.shape[:-1], -1)


def quantize(x, mode, size, bits, largest=None, rounded=lambda x: x):
    """Words, scales and biases for float32 values; `rounded` rounds to their dtype."""
    with np.errstate(all="ignore"):
        if mode == "affine":
            return _affine(x, size, bits, rounded)
        return _floats(x, mode, size, bits, largest, rounded)


def _ends(groups):
    """The least and the greatest of each group, infinities the wrong way around if all are NaN."""
    low = np.min(np.where(np.isnan(groups), np.inf, groups), -1)
    return low, np.max(np.where(np.isnan(groups), -np.inf, groups), -1)


def _affine(x, size, bits, rounded):
    real = np.float32
    groups = groups_of(x, size)
    low, high = _ends(groups)
    top = real(2**bits - 1)
    scale = np.maximum((high - low) / top, real(1e-7))
    if bits == 1:
        bias = low
    else:
        below = np.abs(low) > np.abs(high)
        scale, edge = np.where(below, scale, -scale), np.where(below, low, high)
        steps = np.rint(edge / scale)
        met = steps != 0
        scale = np.where(met, edge / np.where(met, steps, 1), scale)
        bias = np.where(met, edge, real(0))
    codes = np.rint((groups - bias[..., None]) / scale[..., None])
    codes = np.where(np.isnan(codes), 0, np.clip(codes, 0, top)).astype(np.uint32)
    return pack(codes.reshape(x.shape), bits), rounded(scale), rounded(bias)


def _floats(x, mode, size, bits, largest, rounded):
    real = np.float32
    groups = groups_of(x, size)
    low, high = _ends(groups)
    magnitude = np.where(high < low, 0, np.maximum(np.abs(low), np.abs(high))).astype(real)
    top = real(448 if mode == "mxfp8" else 6)
    factor = real(1) if largest is None else real(2688) / real(largest)
    ratio = rounded(magnitude / top) * factor
    if mode == "nvfp4":
        codes = to_fp8(ratio)
        scale = from_fp8(codes).astype(real)
    else:
        exponent = np.ceil(np.log2(np.where(ratio > 0, ratio, 1), dtype=np.longdouble))
        exponent = np.clip(np.where(np.isnan(exponent), 0, exponent), -127, 127)
        codes = (exponent + 127).astype(np.uint8)
        scale = np.ldexp(real(1), exponent.astype(int)).astype(real)
    values = rounded(groups / scale[..., None]) * factor
    values = np.where(scale[..., None] == 0, 0, values)
    values = (to_fp8(values) if mode == "mxfp8" else to_fp4(values)).astype(np.uint32)
    return pack(values.reshape(x.shape), bits), codes


def hard_rows(size):
    """Rows of one group that try a format's edges."""
    normal = np.random.default_rng(7).standard_normal(size)
    zeros = np.zeros(size)
    outlier = zeros.copy()
    outlier[5] = 100
    some_nan, some_inf, only_nan = normal.copy(), normal.copy(), zeros + np.nan
    some_nan[[0, 3]] = np.nan
    some_inf[3] = np.inf
    return np.stack([
        normal, zeros, -zeros, zeros + 3, zeros - 3, zeros + 1e-8, outlier, -outlier,
        -np.abs(normal) - 1, np.abs(normal) + 1, normal * 0.01 + 1000, normal * 1e-3,
        normal * 1e-6, normal * 1e-8, normal * 60, np.where(np.arange(size) % 2, 1, -1),
        np.arange(size) / 2, some_nan, some_inf, -some_inf, only_nan,
    ]).astype(np.float32)  # fmt: skip


def same_bits(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    equal = (found == expected) | ((found != found) & (expected != expected))
    assert equal.all(), (found[~equal][:5], expected[~equal][:5])
