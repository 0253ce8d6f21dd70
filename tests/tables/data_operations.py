"""Every operation of `umber.data` that has a reference in NumPy: a record each.

A record draws an input and arguments from a NumPy generator, and computes the expected sample from
the input. Files, sound and text have tests of their own.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

DTYPES = (
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
REAL = tuple(name for name in DTYPES if "complex" not in name)
RANDOM = ("random_slice", "image_random_crop", "image_random_area_crop", "image_random_h_flip")
NO_REFERENCE = (
    *("load_file", "load_numpy", "load_image", "load_audio", "load_video", "save_image"),
    *("resample_audio", "read_from_tar", "tokenize", "tokenize_bpe"),
    *("image_resize", "image_resize_smallest_side", "image_rotate", "image_random_area_crop"),
)
"""Operations of files, sound, tokens and images whose pixels are computed, tested elsewhere."""


@dataclass(frozen=True)
class DataRecord:
    """An operation and its reference."""

    name: str
    sample: Callable
    """From a generator and a dtype to a sample whose key `x` is the input."""
    arguments: Callable
    """From a generator and the input to the arguments behind the key."""
    expected: Callable
    """From the input and the arguments to the value, or to a sample if `is_sample`."""
    parameters: tuple[str, ...]
    """The names of the arguments behind the key, in order."""
    dtypes: tuple[str, ...] = DTYPES
    key: str = "key"
    """The name of the parameter for the key."""
    is_sample: bool = False
    has_output: bool = True


def values(rng, dtype, shape):
    """Random elements; strided or read-only now and then."""
    shape = tuple(shape)
    wide = tuple(2 * n for n in shape)
    kind = rng.integers(3)
    made = rng.integers(0, 9, wide if kind == 1 else shape)
    made = made % 2 == 1 if dtype == "bool" else made.astype(dtype)
    if kind == 1:
        made = made[tuple(slice(None, None, int(rng.choice([-2, 2]))) for _ in shape)]
    made = np.asarray(made)
    if kind == 2:
        made.flags.writeable = False
    return made


def some(rng, dtype):
    shape = rng.integers(0, 5, rng.integers(1, 4)) if rng.integers(5) == 0 else None
    return {
        "x": values(rng, dtype, rng.integers(1, 5, rng.integers(1, 4)) if shape is None else shape)
    }


def axis_of(rng, x):
    return int(rng.integers(-x.ndim, x.ndim))


def image(rng, dtype):
    frames = [int(rng.integers(1, 3))] if rng.integers(3) == 0 else []
    height, width = rng.integers(2, 9, 2)
    return {"x": values(rng, dtype, [*frames, int(height), int(width), int(rng.choice([1, 3]))])}


def text(rng, dtype):
    return {"x": rng.integers(97, 101, rng.integers(1, 30)).astype(dtype)}


def padded(x, dim, left, right, value):
    widths = [(0, 0)] * x.ndim
    widths[dim] = (left, right)
    return np.pad(x, widths, constant_values=np.asarray(value).astype(x.dtype))


def pad_to(x, dim, size, value):
    return padded(x, dim, 0, max(0, size - x.shape[dim]), value)


def with_ones(rng, dtype):
    return {"x": values(rng, dtype, [1, int(rng.integers(1, 4)), 1])}


def squeezed(x, dim):
    return (
        np.squeeze(x) if dim is None else np.squeeze(x, dim if isinstance(dim, int) else tuple(dim))
    )


def slices(rng, x):
    dims = list(rng.permutation(x.ndim)[: int(rng.integers(1, x.ndim + 1))])
    starts = [int(rng.integers(0, x.shape[d] + 1)) for d in dims]
    ends = [start + int(rng.integers(0, 4)) for start in starts]
    return [int(d) - x.ndim * int(rng.integers(2)) for d in dims], starts, ends


def sliced(x, dims, starts, ends):
    index = [slice(None)] * x.ndim
    for dim, start, end in zip(dims, starts, ends, strict=True):
        index[dim] = slice(start, end)
    return x[tuple(index)]


def split(rng, dtype):
    return {"x": values(rng, dtype, [6, *rng.integers(1, 4, rng.integers(0, 3))])}


def shape_of(x, dim):
    return np.array(x.shape if dim is None else x.shape[dim], np.int64)


def center(x, w, h):
    top, left = (x.shape[-3] - h) // 2, (x.shape[-2] - w) // 2
    return x[..., top : top + h, left : left + w, :]


def replaced(x, old, new, count):
    return np.frombuffer(x.tobytes().replace(old, new, count), x.dtype)


def mapped(x, byte_map):
    return np.frombuffer(b"".join(byte_map[b] for b in x.tobytes()), np.int8)


def normalised(x, mean, std):
    return ((x * (1 / 255) - np.array(mean)) / np.array(std)).astype(np.float32)


LUMINANCE = {
    "rec601": (0.299, 0.587, 0.114),
    "rec709": (0.2126, 0.7152, 0.0722),
    "rec2020": (0.2627, 0.678, 0.0593),
    "green": (0.0, 1.0, 0.0),
}


def within(x, low, high, dim):
    length = x.shape[dim]
    return (low < 0 or length >= low) and (high < 0 or length <= high)


def byte_maps(rng, x):
    return ([bytes(rng.integers(65, 70, rng.integers(0, 3)).astype(np.uint8)) for _ in range(256)],)


RECORDS = (
    DataRecord(
        "filter_by_shape",
        some,
        lambda rng, x: (axis_of(rng, x), int(rng.integers(-1, 4)), int(rng.integers(-1, 5))),
        lambda s, dim, low, high: s if within(s["x"], low, high, dim) else {},
        ("dim", "low", "high"),
        is_sample=True,
    ),
    DataRecord(
        "filter_key",
        lambda rng, dtype: {**some(rng, dtype), "y": np.arange(2)},
        lambda rng, x: (bool(rng.integers(2)),),
        lambda s, remove: {k: v for k, v in s.items() if (k == "x") != remove},
        ("remove",),
        is_sample=True,
    ),
    DataRecord(
        "rename_key",
        some,
        lambda rng, x: ("z",),
        lambda s, output_key: {output_key: s["x"]},
        ("output_key",),
        is_sample=True,
    ),
    DataRecord(
        "shape",
        some,
        lambda rng, x: ("size", None if rng.integers(2) else axis_of(rng, x)),
        lambda s, output, dim: {"x": s["x"], output: shape_of(s["x"], dim)},
        ("output_key", "dim"),
        is_sample=True,
    ),
    DataRecord(
        "shard",
        split,
        lambda rng, x: (int(rng.choice([1, 2, 3, 6])),),
        lambda x, n: x.reshape(n, len(x) // n, *x.shape[1:]),
        ("num_shards",),
    ),
    DataRecord(
        "squeeze",
        with_ones,
        lambda rng, x: ([None, 0, -1, [0, -1], [2]][rng.integers(5)],),
        squeezed,
        ("dim",),
    ),
    DataRecord("slice", some, slices, sliced, ("dims", "starts", "ends"), key="ikey"),
    DataRecord(
        "pad",
        some,
        lambda rng, x: (axis_of(rng, x), int(rng.integers(4)), int(rng.integers(4)), 1),
        padded,
        ("dim", "lpad", "rpad", "pad_value"),
    ),
    DataRecord(
        "pad_to_size",
        some,
        lambda rng, x: (axis_of(rng, x), int(rng.integers(0, 8)), 1),
        pad_to,
        ("dim", "size", "pad_value"),
    ),
    DataRecord(
        "pad_to_multiple",
        some,
        lambda rng, x: (axis_of(rng, x), int(rng.integers(1, 5)), 0),
        lambda x, dim, multiple, value: pad_to(
            x, dim, -(-x.shape[dim] // multiple) * multiple, value
        ),
        ("dim", "pad_multiple", "pad_value"),
    ),
    DataRecord(
        "replace",
        text,
        lambda rng, x: (
            b"ab"[: rng.integers(1, 3)],
            b"xyz"[: rng.integers(4)],
            int(rng.integers(-1, 3)),
        ),
        replaced,
        ("old", "replacement", "count"),
        ("int8", "uint8"),
        has_output=False,
    ),
    DataRecord(
        "replace_bytes", text, byte_maps, mapped, ("byte_map",), ("int8", "uint8"), key="ikey"
    ),
    DataRecord(
        "cast",
        some,
        lambda rng, x: (str(rng.choice(["float32", "int32", "uint8", "float64", "float16"])),),
        lambda x, dtype: x.astype(dtype),
        ("dtype",),
        REAL,
    ),
    DataRecord(
        "scale",
        some,
        lambda rng, x: (
            [0.5 * n for n in range(x.shape[-1])] if x.shape[-1] and rng.integers(2) else 0.5,
            float(rng.integers(3)),
            "float32",
        ),
        lambda x, scale, bias, dtype: (x * np.array(scale) + bias).astype(dtype),
        ("scale", "bias", "dtype"),
        REAL,
    ),
    DataRecord(
        "image_center_crop",
        image,
        lambda rng, x: (
            int(rng.integers(1, x.shape[-2] + 1)),
            int(rng.integers(1, x.shape[-3] + 1)),
        ),
        center,
        ("w", "h"),
        ("uint8",),
    ),
    DataRecord(
        "image_channel_reduction",
        lambda rng, dtype: {"x": rng.integers(0, 256, (*rng.integers(1, 6, 2), 3)).astype(dtype)},
        lambda rng, x: (str(rng.choice(list(LUMINANCE))),),
        lambda x, preset: (x @ np.array(LUMINANCE[preset]))[..., None],
        ("preset",),
        ("uint8",),
    ),
    DataRecord(
        "image_normalize",
        image,
        lambda rng, x: ([0.5] * x.shape[-1], [0.25] * x.shape[-1]),
        normalised,
        ("mean", "std"),
        ("uint8", "float32"),
    ),
)
