"""Floats of eight bits: kept, moved and converted as themselves, computed with in float32."""

import ml_dtypes
import numpy as np
import pytest
import umber.core as mx
from umber import nn

NAMES = (
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
)
CODES = np.arange(256, dtype=np.uint8)


def codes_of(array):
    return np.array(array.view(mx.uint8))


def every(name):
    """All 256 numbers of a format, by umber and by ml_dtypes."""
    return mx.array(CODES).view(getattr(mx, name)), CODES.view(getattr(ml_dtypes, name))


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def test_every_number_is_what_ml_dtypes_reads(name):
    ours, theirs = every(name)
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        with np.errstate(over="ignore"):
            wide = theirs.astype(np.float32).astype(getattr(ml_dtypes, dtype, dtype))
        assert np.array_equal(
            np.array(ours.astype(dtype)).astype(np.float64), wide.astype(np.float64), equal_nan=True
        )
    assert np.array_equal(ours.tolist(), theirs.astype(np.float64), equal_nan=True)


@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32", "float64"])
def test_conversions_are_those_of_ml_dtypes(name, source):
    rng = np.random.default_rng(7)
    exponents = rng.uniform(-140, 130, 4000)
    values = np.concatenate(
        [
            np.exp2(exponents) * rng.choice([-1, 1], 4000),
            rng.normal(size=4000) * 100,
            np.arange(-520, 520) / 8,
            [
                0.0,
                -0.0,
                np.inf,
                -np.inf,
                np.nan,
                -np.nan,
                1e-300,
                -1e-300,
                1e300,
                464,
                464.1,
                61440,
            ],
        ]
    )
    with np.errstate(all="ignore"):
        values = values.astype(getattr(ml_dtypes, source, source))
        expected = values.astype(np.float64).astype(getattr(ml_dtypes, name))
    ours = mx.asarray(values).astype(getattr(mx, name))
    assert ours.dtype == getattr(mx, name)
    found, wanted = codes_of(ours), expected.view(np.uint8)
    differ = found != wanted
    both_nan = np.isnan(np.array(ours.astype(mx.float32))) & np.isnan(expected.astype(np.float32))
    if name == "float8_e8m0fnu":
        # Between the two least powers of two ml_dtypes does not take the nearest.
        wide = values.astype(np.float64)
        smallest = (wide > 0) & (wide < 2.0**-126)
        assert np.array_equal(found[smallest], wide[smallest] >= 1.5 * 2.0**-127)
        differ &= ~smallest
    assert not np.any(differ & ~both_nan)


def test_integers_truth_values_and_complex_numbers(name):
    dtype = getattr(mx, name)
    for source in (
        mx.array([1, 2, 4]),
        mx.array([True]),
        mx.array([2 + 3j]),
        mx.array([1], mx.uint64),
    ):
        wide = np.real(np.array(source)).astype(np.float64)
        assert source.astype(dtype).tolist() == wide.tolist()
        back = source.astype(dtype).astype(source.dtype)
        assert back.dtype == source.dtype
        assert np.array_equal(np.real(np.array(back)).astype(np.float64), wide)


def test_made_of_numbers_and_lists(name):
    dtype = getattr(mx, name)
    assert mx.array([1.0, 0.5], dtype=dtype).tolist() == [1.0, 0.5]
    assert mx.array(2, dtype=name).item() == 2
    assert mx.full((2, 2), 4.0, dtype=dtype).tolist() == [[4, 4], [4, 4]]
    assert mx.ones((3,), dtype=dtype).tolist() == [1, 1, 1]
    assert mx.eye(2, dtype=dtype)[0, 0].item() == 1
    assert mx.array(np.float32(2), dtype=dtype).dtype == dtype
    assert repr(mx.array([0.5, 2.0], dtype=dtype)) == f"array([0.5, 2], dtype={name})"
    assert mx.zeros((0, 3), dtype=dtype).shape == (0, 3)


@pytest.mark.covers("Dtype")
def test_dtype(name):
    dtype = getattr(mx, name)
    assert (dtype.name, dtype.size, dtype.itemsize, dtype.kind) == (name, 1, 1, "f")
    assert dtype == name
    assert dtype == np.dtype(getattr(ml_dtypes, name))
    assert mx.Dtype(getattr(ml_dtypes, name)) == dtype
    assert np.dtype(dtype) == np.dtype(getattr(ml_dtypes, name))
    assert mx.issubdtype(dtype, mx.floating)
    limits, known = mx.finfo(dtype), ml_dtypes.finfo(getattr(ml_dtypes, name))
    assert limits.bits == 8
    for entry in ("max", "min", "eps", "smallest_normal"):
        assert getattr(limits, entry) == float(getattr(known, entry)), entry


def test_promotion(name):
    dtype = getattr(mx, name)
    assert mx.result_type(dtype, dtype) == dtype
    assert mx.result_type(dtype, mx.float16) == mx.float16
    assert mx.result_type(dtype, mx.bfloat16) == mx.bfloat16
    assert mx.result_type(dtype, mx.complex64) == mx.complex64
    assert mx.result_type(dtype, mx.int64) == mx.float32
    other = mx.float8_e5m2 if name != "float8_e5m2" else mx.float8_e4m3fn
    assert mx.result_type(dtype, other) == mx.float32


MOVES = {
    "reshape": lambda x: x.reshape(4, -1),
    "transpose": lambda x: x.T,
    "turned copy": lambda x: mx.contiguous(x.T),
    "slice": lambda x: x[3:11, ::-2],
    "step": lambda x: mx.contiguous(x[::3]),
    "index": lambda x: x[mx.array([3, 0, 15, 3])],
    "mask": lambda x: x[mx.array([True, False] * 8)],
    "take_along_axis": lambda x: mx.take_along_axis(x, mx.array([[1], [0]] * 8), 1),
    "broadcast": lambda x: mx.broadcast_to(x[:1], (5, 16)),
    "concatenate": lambda x: mx.concatenate([x, x[::-1]], axis=1),
    "stack": lambda x: mx.stack([x, x]),
    "where": lambda x: mx.where(mx.array([True, False] * 8), x, x[::-1]),
    "pad": lambda x: mx.pad(x, 1),
    "roll": lambda x: mx.roll(x, 5, 0),
    "repeat": lambda x: mx.repeat(x, 2, 0),
    "tile": lambda x: mx.tile(x, (2, 1)),
    "copy": lambda x: mx.array(x),
    "view": lambda x: x.view(mx.uint16).view(x.dtype),
    "stop_gradient": mx.stop_gradient,
    "vmap": lambda x: mx.vmap(lambda row: row[::-1])(x),
    "compile": lambda x: mx.compile(lambda x: mx.concatenate([x.T, x])[1:])(x),
    "put": lambda x: _put(x),
}


def _put(x):
    x = mx.array(x)
    x[2:4] = x[:2]
    x[mx.array([9, 8])] = x[mx.array([0, 1])]
    x[mx.array([True] + [False] * 15)] = x[5]
    return x


@pytest.mark.parametrize("move", MOVES)
def test_moves_keep_the_bits(name, move):
    ours = every(name)[0].reshape(16, 16)
    bits = mx.array(CODES).reshape(16, 16)
    moved, expected = MOVES[move](ours), MOVES[move](bits)
    assert moved.dtype == ours.dtype
    if move == "pad":
        # Of a format without a zero the nearest to it is NaN.
        inner = (slice(1, -1), slice(1, -1))
        moved, expected = moved[inner], expected[inner]
    assert np.array_equal(codes_of(moved), np.array(expected))


COMPUTED = {
    "add": lambda x: x + x,
    "number": lambda x: x * 2,
    "less": lambda x: x < 1,
    "equal": lambda x: x == x,
    "exp": mx.exp,
    "sum": mx.sum,
    "max": lambda x: mx.max(x, axis=-1),
    "sort": mx.sort,
    "argmax": mx.argmax,
    "matmul": lambda x: x.reshape(4, -1) @ x.reshape(4, -1).T,
    "softmax": lambda x: mx.softmax(x, -1),
    "cumsum": mx.cumsum,
    "var": mx.var,
    "isnan": mx.isnan,
    "clip": lambda x: mx.clip(x, 0.25, 1.0),
    "einsum": lambda x: mx.einsum("i,i->", x, x),
    "at_add": lambda x: x.at[mx.array([0, 0])].add(mx.array([1.0, 2.0])),
    "norm": mx.linalg.norm,
    "floor": mx.floor,
    "round": mx.round,
    "abs": mx.abs,
    "sign": mx.sign,
    "divide": lambda x: x / 3,
    "power": lambda x: x**2,
    "compile": lambda x: mx.compile(lambda x: mx.sum(mx.exp(x) * x))(x),
    "vmap": lambda x: mx.vmap(lambda x: x * x + 1)(x),
}


@pytest.mark.parametrize("function", COMPUTED)
def test_computes_as_float32_does(name, function):
    x = mx.array([1.0, 0.5, 2.0, 0.25, 4.0, 1.0, 0.5, 2.0], dtype=getattr(mx, name))
    found, expected = COMPUTED[function](x), COMPUTED[function](x.astype(mx.float32))
    assert found.dtype == expected.dtype
    assert np.array_equal(np.array(found), np.array(expected))


def test_beside_other_floats(name):
    x = mx.array([1.0, 0.5], dtype=getattr(mx, name))
    assert (x + mx.array([1.0, 2.0], mx.bfloat16)).dtype == mx.bfloat16
    assert (x * mx.array([1j, 2.0])).tolist() == [1j, 1]
    assert (mx.array([[1.0, 2.0]], mx.float16) @ x).dtype == mx.float16


def test_rounding_is_the_identity_to_derivatives(name):
    dtype = getattr(mx, name)

    def rounded(x):
        return mx.sum(x.astype(dtype).astype(mx.float32) ** 2)

    x = mx.array([1.1, 2.3])
    kept = x.astype(dtype).astype(mx.float32)
    assert np.array_equal(np.array(mx.grad(rounded)(x)), np.array(2 * kept))
    (value,), (slope,) = mx.jvp(rounded, [x], [mx.ones(2)])
    assert value.item() == rounded(x).item()
    assert slope.item() == mx.sum(2 * kept).item()

    def moved(x):
        small = mx.concatenate([x.astype(dtype)[::-1], x.astype(dtype)])
        return mx.sum(small[1:3].astype(mx.float32) * mx.array([1.0, 10.0]))

    assert mx.grad(moved)(x).tolist() == [11, 0]
    assert mx.vmap(mx.grad(rounded))(mx.stack([x, x])).shape == (2, 2)


def test_control_flow_and_export(name, tmp_path):
    dtype = getattr(mx, name)
    x = mx.array([1.0, 2.0], dtype=dtype)
    assert mx.cond(mx.array(True), lambda x: x[::-1], lambda x: x, x).tolist() == [2, 1]
    carried, kept = mx.scan(lambda c, _: (c[::-1], c), x, None, length=3)
    assert carried.dtype == kept.dtype == dtype
    if name in ("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz"):
        return
    constant = mx.array([0.5, 4.0], dtype=dtype)
    path = str(tmp_path / "f.umber")
    mx.export_function(path, lambda x: mx.concatenate([x, constant]).astype(mx.float32) * 2, x)
    assert mx.import_function(path)(x)[0].tolist() == [2, 4, 1, 8]


def test_what_cannot_answer_in_eight_bits():
    with pytest.raises(TypeError, match=r"\[arange\] dtype float8_e5m2 is for storage only;"):
        mx.arange(3, dtype=mx.float8_e5m2)
    assert mx.random.normal((2,)).astype(mx.float8_e5m2).dtype == mx.float8_e5m2


def test_fp8_functions_of_mlx():
    x = mx.array([1.0, -2.0, 300.0])
    assert mx.from_fp8(x.astype(mx.float8_e4m3fn), dtype=mx.float32).tolist() == [1, -2, 288]
    assert mx.array_equal(
        mx.to_fp8(x).view(mx.float8_e4m3fn).astype(mx.float32), mx.array([1, -2, 288.0])
    )


def test_files(name, tmp_path):
    x = every(name)[0]
    path = str(tmp_path / "x.safetensors")
    if name in ("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz"):
        with pytest.raises(TypeError, match=f"{name} is not supported by the safetensors format"):
            mx.save_safetensors(path, {"x": x})
    else:
        mx.save_safetensors(path, {"x": x})
        back = mx.load(path, float8=True)["x"]
        assert back.dtype == x.dtype
        assert np.array_equal(codes_of(back), CODES)
        as_mlx = mx.load(path)["x"]
        kept = mx.uint8 if name in ("float8_e4m3fn", "float8_e8m0fnu") else x.dtype
        assert as_mlx.dtype == kept
        assert np.array_equal(codes_of(as_mlx), CODES)
    for save in (mx.save, mx.savez):
        with pytest.raises(
            TypeError, match=rf"{name} is not supported by the npy format; use save_safetensors"
        ):
            save(str(tmp_path / "x"), x)
    with pytest.raises(TypeError, match=rf"{name} is not supported by the gguf format"):
        mx.save_gguf(str(tmp_path / "x.gguf"), {"x": x})
    assert list(tmp_path.iterdir()) == (
        [] if not (tmp_path / "x.safetensors").exists() else [tmp_path / "x.safetensors"]
    )


def test_npy_of_ml_dtypes(tmp_path):
    np.save(tmp_path / "x.npy", np.array([0.5, -2], ml_dtypes.float8_e5m2))
    assert mx.load(str(tmp_path / "x.npy")).tolist() == [0.5, -2]


def test_weights(tmp_path):
    layer = nn.Linear(3, 2)
    layer.apply(lambda x: x.astype(mx.float8_e4m3fn))
    layer.save_weights(str(tmp_path / "w.safetensors"))
    fresh = nn.Linear(3, 2)
    fresh.apply(lambda x: x.astype(mx.float8_e4m3fn))
    fresh.load_weights(str(tmp_path / "w.safetensors"))
    assert fresh.weight.dtype == mx.float8_e4m3fn
    assert np.array_equal(codes_of(fresh.weight), codes_of(layer.weight))
    assert fresh(mx.ones((1, 3))).dtype == mx.float32


def test_weights_of_other_dtypes(tmp_path):
    layer = nn.Linear(3, 2)
    layer.weight = layer.weight.astype(mx.float8_e4m3fn)
    layer.save_weights(str(tmp_path / "w.safetensors"))
    fresh = nn.Linear(3, 2)
    fresh.load_weights(str(tmp_path / "w.safetensors"))
    x = mx.array([[1.0, 2.0, 3.0]])
    assert fresh(x).tolist() == layer(x).tolist()
    codes = nn.Linear(3, 2)
    codes.weight = mx.zeros((2, 3), dtype=mx.uint8)
    codes.load_weights(str(tmp_path / "w.safetensors"))
    assert codes.weight.dtype == mx.uint8
    assert np.array_equal(codes_of(codes.weight), codes_of(layer.weight))
