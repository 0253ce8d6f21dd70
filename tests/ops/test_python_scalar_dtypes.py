"""`int`, `float` and `complex` as dtypes: they keep what the array beside them holds."""

import numpy as np
import pytest
import umber.core as mx
from arrays import ALL, FLOATS, INTEGERS, SIGNED, name_of

INT = {
    **dict(zip(SIGNED, SIGNED, strict=True)),
    "bool_": "int32",
    "uint8": "int32",
    "uint16": "int32",
    "uint32": "int64",
    "uint64": "uint64",
    "float16": "int32",
    "bfloat16": "int64",
    "float32": "int64",
    "float64": "int64",
    "complex64": "int64",
    "complex128": "int64",
}
FLOAT = {
    **dict(zip(FLOATS, FLOATS, strict=True)),
    **dict.fromkeys(("bool_", "int8", "uint8", "int16", "uint16"), "float32"),
    **dict.fromkeys(("int32", "uint32", "int64", "uint64"), "float64"),
    "complex64": "float32",
    "complex128": "float64",
}
COMPLEX = {
    "complex64": "complex64",
    "complex128": "complex128",
    "float64": "complex128",
    **dict.fromkeys(("float16", "bfloat16", "float32"), "complex64"),
    **dict.fromkeys(("bool_", "int8", "uint8", "int16", "uint16"), "complex64"),
    **dict.fromkeys(("int32", "uint32", "int64", "uint64"), "complex128"),
}
BESIDE = {int: INT, float: FLOAT, complex: COMPLEX}

# What takes a dtype beside an array of it.
CALLS = {
    "astype": lambda x, t: x.astype(t),
    "function astype": lambda x, t: mx.astype(x, t),
    "array": lambda x, t: mx.array(x, t),
    "array of a list": lambda x, t: mx.array([x, x], t),
    "asarray": lambda x, t: mx.asarray(x, dtype=t),
    "zeros_like": lambda x, t: mx.zeros_like(x, t),
    "ones_like": lambda x, t: mx.ones_like(x, t),
    "empty_like": lambda x, t: mx.empty_like(x, t),
    "full_like": lambda x, t: mx.full_like(x, 1, t),
    "full": lambda x, t: mx.full((2, 2), x, t),
    "astype in compile": lambda x, t: mx.compile(lambda x: x.astype(t))(x),
    "astype in vmap": lambda x, t: mx.vmap(lambda x: x.astype(t))(x),
}


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("call", CALLS)
def test_widths(call, name):
    x = mx.zeros((2, 2), dtype=getattr(mx, name))
    assert mx.bool_ == CALLS[call](x, bool).dtype
    for number, table in BESIDE.items():
        assert name_of(CALLS[call](x, number).dtype) == table[name], number


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("number", [int, float, complex])
def test_values_that_fit_are_kept(number, name):
    """Of a float of 64 bits only what it can hold."""
    info = np.iinfo(name)
    ends = [info.min, info.max] if info.bits < 64 else [info.min, 2**53, 2 ** (info.bits - 2)]
    x = mx.asarray(np.array(ends, name))
    assert x.astype(number).tolist() == ends
    assert mx.asarray(np.array(ends, name), number).tolist() == ends
    assert mx.array(np.array(ends, name), number).tolist() == ends


def test_large_numbers():
    assert mx.asarray(np.array([2**40])).astype(int).tolist() == [2**40]
    assert mx.asarray(np.array([2**63], np.uint64)).astype(int).tolist() == [2**63]
    assert mx.asarray(np.array([2.0**40])).astype(int).tolist() == [2**40]
    assert mx.array(2.0**40).astype(int).item() == 2**40
    assert mx.asarray(np.array([1 + 2**-40])).astype(float).tolist() == [1 + 2**-40]
    assert mx.asarray(np.array([1e300])).astype(complex).tolist() == [1e300 + 0j]
    assert mx.array([2**24 + 1]).astype(float).tolist() == [2**24 + 1]
    assert mx.full((1,), 2**40, int).tolist() == [2**40]
    assert mx.array([2**40, 1], int).tolist() == [2**40, 1]
    assert mx.arange(2**40, 2**40 + 2, dtype=int).tolist() == [2**40, 2**40 + 1]


def test_without_an_array():
    """The defaults: int32, float32, complex64."""
    for number, dtype in ((int, mx.int32), (float, mx.float32), (complex, mx.complex64)):
        made = [
            mx.zeros(2, number),
            mx.ones(2, number),
            mx.empty(2, number),
            mx.eye(2, dtype=number),
            mx.full((2,), 1, number),
            mx.array(1, number),
            mx.array([1, 0], number),
            mx.array([], number),
            mx.asarray([1, 0], dtype=number),
            mx.linspace(0, 1, 2, dtype=number),
        ]
        assert {x.dtype for x in made} == {dtype}
        assert mx.Dtype(number) == dtype == number
    assert mx.random.normal((2,), float).dtype == mx.float32
    assert mx.random.randint(0, 9, (2,), int).dtype == mx.int32
    assert mx.arange(3, dtype=float).dtype == mx.float32


# The name of a reduction, and what it is for `int` and `float` of int8, int64, float32 and float64.
REDUCTIONS = {
    "sum prod nansum nanprod cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod": (
        ("int32", "int64", "int64", "int64"),
        ("float32", "float64", "float32", "float64"),
    ),
    "mean var std nanmean nanvar nanstd": (
        None,
        ("float32", "float64", "float32", "float64"),
    ),
}
SOURCES = ("int8", "int64", "float32", "float64")
# The reductions that are methods, too.
METHODS = {"sum", "prod", "mean", "var", "std"}


@pytest.mark.parametrize("name", [name for names in REDUCTIONS for name in names.split()])
def test_reductions(name):
    (wanted,) = (table for names, table in REDUCTIONS.items() if name in names.split())
    for number, dtypes in zip((int, float), wanted, strict=True):
        for source, dtype in zip(SOURCES, dtypes or (), strict=False):
            x = mx.ones(3, dtype=getattr(mx, source))
            axis = {"axis": 0} if "cum" in name else {}
            assert name_of(getattr(mx, name)(x, **axis, dtype=number).dtype) == dtype
            if name in METHODS:
                assert name_of(getattr(x, name)(dtype=number).dtype) == dtype


def test_sums_of_small_integers_do_not_wrap():
    x = mx.full((100,), 100, dtype=mx.int8)
    assert mx.sum(x, dtype=int).item() == x.sum(dtype=int).item() == 10_000
    assert mx.cumsum(x, axis=0, dtype=int)[-1].item() == 10_000
    large = mx.asarray(np.array([2**40, 1]))
    assert mx.sum(large, dtype=int).item() == large.sum(dtype=int).item() == 2**40 + 1
    assert np.sum(large, dtype=float).item() == 2**40 + 1
    square = mx.asarray(np.diag([2**40, 1]))
    assert mx.trace(square, dtype=int).item() == square.trace(dtype=int).item() == 2**40 + 1


def test_random_numbers_take_the_width_of_their_parameters():
    wide = mx.array([1.0, 2.0], dtype=mx.float64)
    assert mx.random.normal((2,), float, wide).dtype == mx.float64
    assert mx.random.uniform(0, wide, (2,), float).dtype == mx.float64
    low = mx.asarray(np.array(2**40))
    drawn = mx.random.randint(low, low + 5, (50,), int)
    assert drawn.dtype == mx.int64
    assert min(drawn.tolist()) >= 2**40


# The source, the type, and the dtype that its bytes are read as; `None`: refused.
VIEWS = [
    ("int64", float, "float64"),
    ("int32", float, "float32"),
    ("uint16", float, "float16"),
    ("int8", float, None),
    ("bool_", float, None),
    ("float64", float, "float64"),
    ("bfloat16", float, "bfloat16"),
    ("complex128", float, "float64"),
    ("float64", int, "int64"),
    ("float32", int, "int32"),
    ("float16", int, "int16"),
    ("uint8", int, "int8"),
    ("complex64", int, "int32"),
    ("float64", complex, "complex128"),
    ("float32", complex, "complex64"),
    ("float16", complex, None),
    ("int64", complex, None),
]


@pytest.mark.parametrize(("source", "number", "dtype"), VIEWS)
def test_views_keep_the_width(source, number, dtype):
    x = mx.zeros(4, dtype=getattr(mx, source))
    for call in (lambda: x.view(number), lambda: mx.view(x, number)):
        if dtype is None:
            with pytest.raises(TypeError, match=r"^\[view\] no dtype of kind"):
                call()
        else:
            assert name_of(call().dtype) == dtype


def test_promotion():
    assert mx.result_type(mx.zeros(2, dtype=mx.float64), float) == mx.float64
    assert mx.result_type(mx.zeros(2, dtype=mx.float16), float) == mx.float16
    assert mx.result_type(mx.zeros(2, dtype=mx.int64), int) == mx.int64
    assert mx.can_cast(mx.float64, float)
    assert mx.can_cast(mx.int64, int)
    assert not mx.can_cast(mx.float64, int)


BEYOND = (300, -1, 2**40, -(2**40), 2**63)


@pytest.mark.parametrize("dtype", ["bool_", "uint8", "int8", "int32", "uint64", "float16"])
@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logical_functions_of_numbers_beyond_the_dtype(name, dtype):
    x = mx.array([0, 1, 1], getattr(mx, dtype))
    for number in (*BEYOND, 0):
        expected = getattr(np, name)(np.array([0, 1, 1]), bool(number))
        assert getattr(mx, name)(x, number).tolist() == expected.tolist()
        assert getattr(mx, name)(number, x).tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "float16", "float32"])
@pytest.mark.parametrize("number", [300, -1, 2**40, 0.1, 1.5])
def test_float_power_does_not_round_numbers(dtype, number):
    x = np.array([1, 2, 3], getattr(np, dtype))
    for ours, theirs in (
        (mx.float_power(mx.array(x), number), np.float_power(x, number)),
        (mx.float_power(number, mx.array(x)), np.float_power(number, x)),
        (mx.float_power(number, 2), np.float_power(number, 2)),
    ):
        assert ours.dtype == mx.float64
        np.testing.assert_allclose(np.array(ours), theirs, rtol=1e-15)
    assert mx.float_power(mx.array(x), 1j).dtype == mx.complex128


def test_interp_of_numbers_beyond_the_dtype():
    points, values = np.array([1, 2], np.uint8), np.array([10, 20], np.uint8)
    ours = mx.array(points), mx.array(values)
    for x in (300, -1, 2**40):
        assert mx.interp(x, *ours).item() == np.interp(x, points, values)
    x = np.array([0, 1, 3], np.uint8)
    for ends in ({"left": -7}, {"right": 300}, {"left": 300, "right": 2**20}):
        expected = np.interp(x, points, values, **ends)
        assert mx.interp(mx.array(x), *ours, **ends).tolist() == expected.tolist()
