"""Result dtypes against the promotion table: every op, every pair of dtypes, Python scalars."""

import itertools
import operator

import numpy as np
import pytest
import umber.core as mx
from arrays import (
    ALL,
    COMPLEX,
    FLOATS,
    INEXACT,
    INTEGERS,
    REAL,
    assert_close,
    assert_dtype,
    dtype_of,
    flatten,
    name_of,
    to_numpy,
)
from op_table import gather_records
from promotion_table import promote, promote_scalar, result_dtype

RECORDS = gather_records()

# How two dtypes meet: the op, the rule for the result, the dtypes it takes.
PAIRS = {
    "add": ("same", ALL),
    "subtract": ("same", ALL),
    "multiply": ("same", ALL),
    "divide": ("inexact", ALL),
    "floor_divide": ("same", REAL),
    "remainder": ("same", REAL),
    "power": ("same", ALL),
    "maximum": ("same", ALL),
    "minimum": ("same", ALL),
    "logaddexp": ("inexact", REAL),
    "arctan2": ("inexact", REAL),
    "equal": ("bool", ALL),
    "not_equal": ("bool", ALL),
    "less": ("bool", REAL),
    "less_equal": ("bool", REAL),
    "greater": ("bool", REAL),
    "greater_equal": ("bool", REAL),
    "logical_and": ("bool", ALL),
    "logical_or": ("bool", ALL),
    "logical_xor": ("bool", ALL),
    "isclose": ("bool", ALL),
}
INTEGER_PAIRS = {
    "bitwise_and": "same",
    "bitwise_or": "same",
    "bitwise_xor": "same",
    "left_shift": "shift",
    "right_shift": "shift",
}
PYTHON_VALUES = (True, 3, 2.5, 1 + 2j)


def ones(name, shape=(2, 2)):
    return mx.ones(shape, dtype=dtype_of(name))


@pytest.mark.parametrize("record", [pytest.param(r, id=r.name) for r in RECORDS if r.shapes])
def test_lazy_dtype_and_shape(record, rng):
    """Dtype and shape are known, and right, before anything is computed."""
    for dtype in record.dtypes:
        inputs = [ones(record.dtype_of_input(i, dtype), s) for i, s in enumerate(record.shapes)]
        inputs = [x * 0 if i in record.fixed else x for i, x in enumerate(inputs)]
        wanted = record.expected([to_numpy(x) for x in inputs], dtype)
        for result, want in zip(flatten(record.call(*inputs)), wanted, strict=True):
            assert_dtype(result, record.result_of(dtype), dtype)
            assert tuple(result.shape) == want.shape


@pytest.mark.parametrize("record", [pytest.param(r, id=r.name) for r in RECORDS if r.refuses])
def test_refused_dtypes(record):
    """A dtype that an op cannot take is a typed error that names the op."""
    for dtype in record.refuses:
        inputs = [ones(dtype, shape) for shape in record.shapes]
        with pytest.raises((ValueError, TypeError), match=r"^\[\w+\] "):
            mx.eval(record.call(*inputs))


@pytest.mark.parametrize("left", ALL)
def test_pairs(left):
    """Every binary op on every pair of dtypes."""
    for right in ALL:
        for name, (rule, dtypes) in PAIRS.items():
            if left in dtypes and right in dtypes:
                result = getattr(mx, name)(ones(left), ones(right))
                assert_dtype(result, result_dtype(rule, left, right), f"{name}({left}, {right})")
                mx.eval(result)


@pytest.mark.parametrize("name", INTEGER_PAIRS)
def test_integer_pairs(name):
    """Bitwise ops take what meets in an integer or a boolean; the rest is refused."""
    for left, right in itertools.product(ALL, ALL):
        meeting = promote(left, right)
        call = getattr(mx, name)
        if meeting in (*INTEGERS, "bool_"):
            wanted = result_dtype(INTEGER_PAIRS[name], left, right)
            assert_dtype(call(ones(left), ones(right)), wanted, f"{name}({left}, {right})")
        else:
            with pytest.raises((ValueError, TypeError)):
                mx.eval(call(ones(left), ones(right)))


@pytest.mark.parametrize("left", ALL)
def test_several_inputs(left):
    """Functions that join or choose promote too."""
    for right in ALL:
        wanted = promote(left, right)
        a, b = ones(left), ones(right)
        note = f"{left}, {right}"
        assert_dtype(mx.where(mx.array(True), a, b), wanted, note)
        assert_dtype(mx.concatenate([a, b]), wanted, note)
        assert_dtype(mx.stack([a, b]), wanted, note)
        assert mx.result_type(a, b) == dtype_of(wanted), note
        if wanted != "bool_":
            assert_dtype(a @ b, wanted, note)
            assert to_numpy(a @ b).tolist() == [[2, 2], [2, 2]]


@pytest.mark.parametrize("value", PYTHON_VALUES, ids=lambda v: type(v).__name__)
@pytest.mark.parametrize("name", ALL)
def test_python_scalars(name, value):
    """A Python number is weak: it does not widen an array of its own kind, on either side."""
    wanted = promote_scalar(name, type(value))
    array = ones(name)
    for call in (operator.add, operator.mul):
        assert_dtype(call(array, value), wanted, f"{name} {call.__name__} {value}")
        assert_dtype(call(value, array), wanted, f"{value} {call.__name__} {name}")
        assert_dtype(call(ones(name, ()), value), wanted, f"0-d {name} {call.__name__} {value}")
    assert_dtype(array / value, result_dtype("inexact", wanted), f"{name} / {value}")
    assert_dtype(mx.where(mx.array(True), array, value), wanted, f"where {name}")
    if name in REAL and not isinstance(value, complex):
        assert_dtype(mx.maximum(array, value), wanted, f"maximum {name}")


@pytest.mark.covers("result_type")
def test_promotion_is_a_lattice():
    """Promotion does not depend on order or grouping, except where `float` stands in between."""
    for a, b in itertools.product(ALL, ALL):
        assert promote(a, b) == promote(b, a)
        assert promote(a, a) == a
        assert dtype_of(promote(a, b)) == mx.result_type(dtype_of(a), dtype_of(b))


# What an array is when nobody says: Python values and NumPy's dtypes.
MADE_FROM = [
    (True, "bool_"),
    (1, "int32"),
    (-(2**31), "int32"),
    (2**31, "int64"),
    (2**40, "int64"),
    (-(2**63), "int64"),
    (2.5, "float32"),
    (1j, "complex64"),
    ([], "float32"),
    ([[]], "float32"),
    ([True, False], "bool_"),
    ([True, 2], "int32"),
    ([1, 2.5], "float32"),
    ([1, 2.5, 1j], "complex64"),
    ([2**40, 1], "int64"),
    ((1, (2,))[1], "int32"),
]


@pytest.mark.parametrize(("value", "name"), MADE_FROM, ids=lambda v: str(v)[:24])
def test_made_from_python(value, name):
    array = mx.array(value)
    assert_dtype(array, name)
    if name != "complex64":
        assert_close(to_numpy(array), np.array(value).astype(to_numpy(array).dtype))


@pytest.mark.parametrize("name", [name for name in ALL if name != "bfloat16"])
def test_made_from_numpy(name):
    """NumPy's dtype is kept, float64 and complex128 too."""
    source = np.array([[0, 1], [1, 0]]).astype(name.rstrip("_"))
    array = mx.array(source)
    assert_dtype(array, name)
    assert_close(to_numpy(array), source)
    if not isinstance(source[0, 0], float | complex):  # np.float64 is a Python float
        assert_dtype(mx.array(source[0, 0]), name, "NumPy scalar")


def test_float64_keeps_its_digits():
    third = np.array([1 / 3, 2 / 3])
    assert np.array(mx.array(third)).tolist() == third.tolist()
    assert mx.array(1 / 3, dtype=mx.float64).item() == 1 / 3
    assert (mx.array(third) * 3).tolist() == (third * 3).tolist()


@pytest.mark.parametrize("source", ALL)
def test_casts_between_all(source):
    """astype reaches every dtype; 0 and 1 are the same in all of them."""
    array = mx.array([0, 1, 1], dtype=dtype_of(source))
    for target in ALL:
        if source in COMPLEX and target not in COMPLEX:
            continue
        result = array.astype(dtype_of(target))
        assert_dtype(result, target, source)
        assert to_numpy(result).tolist() == [0, 1, 1], f"{source} → {target}"


def test_integer_casts_wrap_around():
    array = mx.array([300, -1, 70000], dtype=mx.int32)
    for target in ("uint8", "int8", "uint16", "int16", "uint32"):
        got = to_numpy(array.astype(dtype_of(target)))
        assert_close(got, np.array([300, -1, 70000]).astype(target))


def test_integer_arithmetic_wraps_around():
    for name in INTEGERS:
        info = np.iinfo(name)
        top = mx.array(np.array([info.max], dtype=name))
        assert to_numpy(top + 1).tolist() == [info.min], name
        assert to_numpy(top * 2).tolist() == [
            int(np.array(info.max * 2 % 2**info.bits).astype(name))
        ]


def test_dtype_objects():
    sizes = {"bool_": 1, "bfloat16": 2, "complex64": 8, "complex128": 16}
    for name in ALL:
        dtype = dtype_of(name)
        assert name_of(dtype) == name
        assert dtype == dtype_of(name)
        assert hash(dtype) == hash(dtype_of(name))
        assert dtype.size == sizes.get(name, 0) or dtype.size == int(name.lstrip("uintfloa")) // 8
        assert ones(name).itemsize == dtype.size
        assert ones(name).nbytes == 4 * dtype.size
    assert mx.float32 != mx.float64


KINDS = {
    "floating": FLOATS,
    "complexfloating": COMPLEX,
    "inexact": INEXACT,
    "integer": INTEGERS,
    "signedinteger": [n for n in INTEGERS if n.startswith("i")],
    "unsignedinteger": [n for n in INTEGERS if n.startswith("u")],
    "number": INTEGERS + INEXACT,
    "generic": ALL,
}


@pytest.mark.covers("issubdtype")
@pytest.mark.parametrize("category", KINDS)
def test_issubdtype(category):
    for name in ALL:
        answer = mx.issubdtype(dtype_of(name), getattr(mx, category))
        assert answer == (name in KINDS[category]), name


@pytest.mark.covers("finfo", "iinfo")
def test_finfo_and_iinfo():
    for name in ("float16", "float32", "float64"):
        ours, theirs = mx.finfo(dtype_of(name)), np.finfo(name)
        assert (ours.max, ours.min, ours.eps) == (theirs.max, theirs.min, theirs.eps)
        assert (ours.tiny, ours.smallest_normal) == (theirs.tiny, theirs.smallest_normal)
        assert ours.precision == theirs.precision
        assert ours.resolution == pytest.approx(float(theirs.resolution), rel=1e-3)
        assert {ours: 1}[mx.finfo(dtype_of(name))] == 1
    for name in INTEGERS:
        ours, theirs = mx.iinfo(dtype_of(name)), np.iinfo(name)
        assert (ours.max, ours.min) == (theirs.max, theirs.min)
        assert {ours: 1}[mx.iinfo(dtype_of(name))] == 1
