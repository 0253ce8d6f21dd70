"""Arrays large enough for threads and wide accumulation: accuracy, splitting, 64-bit sizes."""

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, dtype_of, round_to_bfloat16, to_numpy, to_umber
from tolerances import tolerance_of

ROWS, COLUMNS = 611, 1237


@pytest.fixture(scope="module")
def matrix():
    return np.random.default_rng(3).uniform(0.1, 2.0, (ROWS, COLUMNS)).astype(np.float32)


ELEMENTWISE = {
    "exp": (mx.exp, np.exp),
    "log": (mx.log, np.log),
    "sin": (mx.sin, np.sin),
    "tanh": (mx.tanh, np.tanh),
    "sqrt": (mx.sqrt, np.sqrt),
    "chain": (
        lambda x: mx.exp(-x * x) * x + mx.where(x > 1, x, 2) / (x + 1),
        lambda x: np.exp(-x * x) * x + np.where(x > 1, x, 2) / (x + 1),
    ),
    "rows": (lambda x: x * x[0] - x[:, :1], lambda x: x * x[0] - x[:, :1]),
    "turned": (lambda x: (x + 1).T * 2, lambda x: (x + 1).T * 2),
    "cast": (lambda x: (x * 100).astype(mx.int32), lambda x: (x * np.float32(100)).astype("i4")),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name, matrix):
    ours, reference = ELEMENTWISE[name]
    source = matrix if name == "cast" else matrix.astype(np.float64)
    got = to_numpy(ours(to_umber(matrix, "float32")))
    tolerance = tolerance_of("int32" if name == "cast" else "float32", 2)
    assert_close(got, reference(source), tolerance, name)


REDUCTIONS = {
    "sum": np.sum,
    "mean": np.mean,
    "max": np.max,
    "min": np.min,
    "var": np.var,
    "argmax": np.argmax,
    "any": np.any,
}


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, axis, matrix):
    got = to_numpy(getattr(mx, name)(to_umber(matrix, "float32"), axis=axis))
    want = REDUCTIONS[name](matrix.astype(np.float64), axis=axis)
    assert_close(got.astype(np.float64), want, tolerance_of("float32", 2), name)


def test_matmul(matrix):
    a, b = matrix[:, :301], matrix[:301, :]
    got = to_numpy(to_umber(a, "float32") @ to_umber(b, "float32"))
    assert_close(got, a.astype(np.float64) @ b.astype(np.float64), tolerance_of("float32", 10))


def test_gather_and_scatter(matrix):
    places = np.random.default_rng(4).integers(-ROWS, ROWS, 5000).astype(np.int32)
    x = to_umber(matrix, "float32")
    assert_close(to_numpy(x[mx.array(places)]), matrix[places])
    want = np.zeros((ROWS, 3))
    np.add.at(want, places, 1)
    added = mx.zeros((ROWS, 3)).at[mx.array(places)].add(mx.ones((5000, 3)))
    assert_close(to_numpy(added), want)


def test_float32_sums_are_accurate():
    """Ten million numbers: as near as pairwise summation, not as far as a running sum."""
    values = np.random.default_rng(1).uniform(0, 1, 10_000_000).astype(np.float32)
    exact = values.sum(dtype=np.float64)
    assert abs(mx.sum(mx.array(values)).item() / exact - 1) < 5e-7
    assert abs(mx.mean(mx.array(values)).item() * len(values) / exact - 1) < 5e-7


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_sums_are_accumulated_wider(name):
    """The mean of many tens is ten, though their sum is beyond float16."""
    tens = mx.full((100_000,), 10.0, dtype=dtype_of(name))
    assert mx.mean(tens).item() == 10.0
    ones = mx.ones((3000,), dtype=dtype_of(name))
    assert mx.sum(ones).item() == float(round_to_bfloat16(3000) if name == "bfloat16" else 3000)
    product = mx.ones((1, 4096), dtype=dtype_of(name)) @ mx.ones((4096, 1), dtype=dtype_of(name))
    assert product.item() == 4096.0


def test_wide_ranges_of_arguments():
    """Exponentials near overflow, logarithms of tiny numbers, sines of large angles."""
    limits = {
        "exp": (np.linspace(-100, 88.7, 4001), np.exp),
        "log": (np.logspace(-37, 38, 4001), np.log),
        "sin": (np.linspace(-1e4, 1e4, 4001), np.sin),
        "cos": (np.linspace(-1e4, 1e4, 4001), np.cos),
        "tanh": (np.linspace(-20, 20, 4001), np.tanh),
        "expm1": (np.linspace(-1e-3, 1e-3, 4001), np.expm1),
        "log1p": (np.linspace(-1e-3, 1e-3, 4001), np.log1p),
        "sigmoid": (np.linspace(-90, 90, 4001), lambda x: 1 / (1 + np.exp(-x))),
    }
    for name, (points, reference) in limits.items():
        single = points.astype(np.float32)
        got = to_numpy(getattr(mx, name)(mx.array(single))).astype(np.float64)
        want = reference(single.astype(np.float64))
        # Results below the smallest normal number may be flushed to zero.
        np.testing.assert_allclose(got, want, rtol=3e-6, atol=1e-7 if name in "sincos" else 2e-38)


def test_float64_functions_have_double_accuracy():
    points = np.linspace(0.01, 0.99, 2001)
    for name in "exp sin cos tanh log sqrt arcsin arctan sinh expm1 log1p".split():
        got = to_numpy(getattr(mx, name)(mx.array(points)))
        want = getattr(np, name)(points)
        np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-15, err_msg=name)


def test_sizes_beyond_32_bits():
    """Shapes are 64 bits wide: a view of one element that many times costs nothing."""
    size = 2**33 + 1
    wide = mx.broadcast_to(mx.array(3, dtype=mx.int8), (size,))
    assert wide.size == size
    assert wide.nbytes == size
    assert wide[size - 1].item() == 3
    assert wide[-1:].tolist() == [3]
    assert wide.reshape(3, -1).shape == (3, size // 3)
    with pytest.raises(IndexError):
        mx.eval(wide[size])


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("width", [1, 2, 3, 7, 31, 64, 100, 128, 255, 256, 257, 513, 1100])
def test_sums_of_what_is_computed(width, axis):
    """Rows and columns of every width in blocks, eight at once, and what is left over."""
    rng = np.random.default_rng(width)
    for height in (1, 7, 8, 9, 33, 130, 1031):
        shape = (height, width) if axis == 0 else (width, height)
        x = rng.normal(3, 1, shape).astype(np.float32)
        wide = x.astype(np.float64)
        mean = wide.mean(axis=axis, keepdims=True).astype(np.float32)
        y = mx.array(x)
        got = mx.sum(mx.square(y - mx.array(mean)), axis=axis)
        want = ((wide - mean) ** 2).sum(axis=axis)
        np.testing.assert_allclose(to_numpy(got), want, rtol=3e-6, atol=1e-10)
        np.testing.assert_allclose(to_numpy(mx.var(y, axis=axis)), wide.var(axis=axis), 2e-5, 1e-10)
        half = mx.max(y.astype(mx.float16) * 2, axis=axis)
        want = (x.astype(np.float16) * np.float16(2)).max(axis=axis)
        np.testing.assert_array_equal(to_numpy(half), want)


@pytest.mark.parametrize("size", [1, 1000, 100_000, 200_000, 600_000])
@pytest.mark.parametrize("dtype", ["float32", "int32", "float16"])
def test_many_single_updates(size, dtype):
    rng = np.random.default_rng(size)
    places = rng.integers(-size, size, 1_000_001)
    updates = rng.integers(-4, 5, 1_000_001)
    start = rng.integers(-9, 9, size)
    want = start + np.bincount(places % size, updates, size)
    x, u = to_umber(start, dtype), to_umber(updates, dtype)
    got = x.at[mx.array(places)].add(u)
    np.testing.assert_array_equal(to_numpy(got), want.astype(np.float64).astype(dtype))
    last = start.copy()
    last[places] = updates
    x[mx.array(places)] = u
    np.testing.assert_array_equal(to_numpy(x), last.astype(dtype))


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
def test_turned_copies(dtype):
    """Whole tiles, what is left of them on either side, and axes between and around."""
    for height in (1, 4, 15, 16, 17, 31, 33, 48, 100):
        for width in (1, 4, 16, 21, 32, 47, 130):
            values = np.arange(2 * height * width * 3).reshape(2, height, width, 3) % 97
            x = to_umber(values, dtype)
            for axes in ((0, 2, 1, 3), (3, 2, 1, 0), (0, 3, 1, 2), (2, 0, 3, 1)):
                got = mx.contiguous(x.transpose(*axes))
                np.testing.assert_array_equal(to_numpy(got), values.transpose(axes).astype(dtype))
            back = mx.contiguous(x[..., 0].T[:, ::-1])
            np.testing.assert_array_equal(
                to_numpy(back), values[..., 0].T[:, ::-1].astype(dtype), f"{height} {width}"
            )
