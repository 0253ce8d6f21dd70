"""Methods, properties and operators of `array` against the functions that they stand for."""

import operator
import warnings

import numpy as np
import pytest
import umber.core as mx
from arrays import ALL, INTEGERS, assert_close, assert_dtype, dtype_of, flatten, name_of, to_numpy

# The method, and calls to compare: arguments of the method, and the same through the function.
METHODS = {
    "abs": [()],
    "all": [(), (0,), (1, True)],
    "any": [(), (0,), (1, True)],
    "argmax": [(), (1,), (0, True)],
    "argmin": [(), (1,), (0, True)],
    "argpartition": [(1,), (1, 0), ([0, 1],)],
    "argsort": [(), (0,)],
    "clip": [(1, 2), (None, 2)],
    "compress": None,
    "conjugate": [()],
    "dot": None,
    "fill": None,
    "nonzero": [()],
    "partition": None,
    "ptp": [(), (0,)],
    "put": None,
    "repeat": [(2,), (2, 1)],
    "searchsorted": None,
    "sort": None,
    "tobytes": None,
    "tofile": None,
    "trace": [(), (1,)],
    "astype": [(mx.float16,), (mx.int32,)],
    "conj": [()],
    "copy": None,
    "cos": [()],
    "cummax": [(1,)],
    "cummin": [(1,)],
    "cumprod": [(1,)],
    "cumsum": [(1,)],
    "ravel": [()],
    "take": [(mx.array([5, 0, -1]),), (mx.array([[1, 0]]), 1)],
    "diag": [(), (1,)],
    "diagonal": [(), (1,)],
    "exp": [()],
    "flatten": [(), (0, 1)],
    "item": None,
    "log": [()],
    "log10": [()],
    "log1p": [()],
    "log2": [()],
    "logcumsumexp": [(1,)],
    "logsumexp": [(), (0,), (1, True)],
    "max": [(), (0,), ([0, 1], True)],
    "mean": [(), (0,), (-1, True)],
    "min": [(), (0,), ([0, 1], True)],
    "moveaxis": [(0, 1)],
    "prod": [(), (0,), (-1, True)],
    "reciprocal": [()],
    "reshape": None,
    "round": [(), (1,)],
    "rsqrt": [()],
    "sin": [()],
    "split": [(2, 1), ([1, 3], 1)],
    "sqrt": [()],
    "square": [()],
    "squeeze": [()],
    "std": [(), (0,), (1, True, 1)],
    "sum": [(), (0,), ((0, 1), True)],
    "swapaxes": [(0, 1)],
    "to_device": None,
    "tolist": None,
    "transpose": None,
    "var": [(), (0,), (1, True, 1)],
    "view": [(mx.int32,)],
}
OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "power": operator.pow,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
BITWISE = {
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
}
INPLACE = {
    "add": operator.iadd,
    "subtract": operator.isub,
    "multiply": operator.imul,
    "divide": operator.itruediv,
    "floor_divide": operator.ifloordiv,
    "remainder": operator.imod,
    "power": operator.ipow,
    "matmul": operator.imatmul,
}


def sample():
    return mx.array([[0.5, 1.25, 2.0, 3.5], [1.0, 0.25, 4.0, 2.5], [3.0, 1.5, 0.75, 1.75]])


def same(left, right, note=""):
    for a, b in zip(flatten(left), flatten(right), strict=True):
        assert_dtype(a, name_of(b.dtype), note)
        assert_close(to_numpy(a), to_numpy(b), note=note)


@pytest.mark.parametrize(
    "name", [n for n in dir(mx.array) if not n.startswith("_") and callable(getattr(mx.array, n))]
)
def test_method_has_a_row(name):
    """Every public method of `array` is compared with its function."""
    assert name in METHODS, f"add {name} to METHODS"


@pytest.mark.parametrize(
    ("name", "arguments"), [(n, args) for n, calls in METHODS.items() for args in calls or ()]
)
def test_method_is_the_function(name, arguments):
    x = sample()
    same(getattr(x, name)(*arguments), getattr(mx, name)(x, *arguments), name)


@pytest.mark.parametrize(
    "name",
    "abs all any argmax argmin astype cos exp flatten item log max mean min "
    "prod reciprocal reshape rsqrt sin split sqrt square squeeze std sum swapaxes "
    "tolist transpose var logsumexp moveaxis round".split(),
)
def test_method_is_there(name):
    assert callable(getattr(mx.array, name))


def test_a_copy_is_an_array_of_its_own():
    x = sample()
    y = x.copy()
    y[0] = 0
    same(x, sample())


def test_reshape_and_transpose_take_axes_either_way():
    x = mx.arange(24).reshape(2, 3, 4)
    assert x.shape == (2, 3, 4)
    for shaped in (x.reshape(4, 6), x.reshape((4, 6)), x.reshape([4, -1]), x.reshape(-1, 6)):
        assert shaped.tolist() == np.arange(24).reshape(4, 6).tolist()
    for turned in (x.transpose(), x.T, x.transpose(2, 1, 0), x.transpose((2, 1, 0))):
        assert turned.tolist() == np.arange(24).reshape(2, 3, 4).T.tolist()
    assert x.mT.shape == (2, 4, 3)


def test_properties():
    x = mx.zeros((2, 3, 4), dtype=mx.float16)
    assert (x.shape, x.ndim, x.size, x.itemsize, x.nbytes) == ((2, 3, 4), 3, 24, 2, 48)
    assert x.dtype == mx.float16
    z = mx.array([1 + 2j, 3 - 4j])
    assert z.real.tolist() == [1.0, 3.0]
    assert z.imag.tolist() == [2.0, -4.0]
    empty = mx.array(3)
    assert (empty.shape, empty.ndim, empty.size) == ((), 0, 1)


@pytest.mark.parametrize("name", OPERATORS | BITWISE)
@pytest.mark.parametrize("dtype", ALL)
def test_operators_with_numbers_are_the_functions(name, dtype):
    """Operators take numbers as they are, and functions make arrays of them first."""
    values = np.random.default_rng(4).integers(0, 2 if dtype == "bool" else 4, (2, 600))
    x = mx.array(values).astype(dtype_of(dtype))
    mx.eval(x)

    def outcome(function, *operands):
        try:
            result = function(*operands)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return result.dtype, result.shape, np.array(result.astype(mx.complex64)).tolist()
        except (TypeError, ValueError, OverflowError) as error:
            return type(error)

    for number in (True, 2, 0, -3, 300, 1 << 40, 1.5, float("inf"), float("nan"), 1 + 2j):
        for operands in ((x, number), (number, x)):
            found = outcome((OPERATORS | BITWISE)[name], *operands)
            expected = outcome(getattr(mx, name), *operands)
            assert str(found) == str(expected), (name, dtype, operands)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name):
    x, y = sample(), sample().transpose().reshape(3, 4)
    call, function = OPERATORS[name], getattr(mx, name)
    same(call(x, y), function(x, y), name)
    same(call(x, 2), function(x, 2), f"{name} with a number")
    same(call(2.5, x), function(2.5, x), f"a number with {name}")


@pytest.mark.parametrize("name", BITWISE)
def test_bitwise_operators(name):
    x, y = mx.array([1, 2, 3, 12]), mx.array([3, 1, 2, 2])
    call, function = BITWISE[name], getattr(mx, name)
    same(call(x, y), function(x, y), name)
    same(call(x, 2), function(x, 2), f"{name} with a number")


def test_unary_operators():
    x = sample()
    same(-x, mx.negative(x))
    same(+x, x)
    same(abs(-x), x)
    same(~mx.array([True, False]), mx.array([False, True]))
    same(~mx.array([0, 5]), mx.array([-1, -6]))
    same(x @ x.T, mx.matmul(x, x.T))
    quotient, remainder = divmod(x, 2)
    same(quotient * 2 + remainder, x)


@pytest.mark.parametrize("name", INPLACE)
def test_inplace_operators(name):
    """`x += y` changes what every name of this object sees, and no other array."""
    start = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    x = mx.array(start)
    alias, copy, derived = x, mx.array(x), x * 1
    step = mx.array([[2.0, 1.0], [1.0, 3.0]])
    wanted = to_numpy(getattr(mx, name)(mx.array(start), step))
    x = INPLACE[name](x, step)
    assert x is alias
    assert_close(to_numpy(alias), wanted)
    assert_close(to_numpy(copy), start)
    assert_close(to_numpy(derived), start)


WHOLE = ("bool_", *INTEGERS)


@pytest.mark.parametrize("name", WHOLE)
def test_division_in_place_of_integers(name):
    """Its quotient is no integer: both forms raise, and nothing changes."""
    for divisor in (2, 2.0, mx.array(2.0), mx.array([2]), np.ones(1)):
        x = mx.array([1, 0, 1], dtype=dtype_of(name))
        with pytest.raises(TypeError, match=r"^\[divide\] cannot store floats in place in an"):
            x /= divisor
        with pytest.raises(TypeError, match=r"^\[divide\]"):
            x[1:] /= divisor
        with pytest.raises(TypeError, match=r"^\[divide\]"):
            x[mx.array([0, 2])] /= divisor
        assert x.tolist() == [1, 0, 1]
        assert_dtype(x, name)
    whole = mx.array([4, 5, 6])
    whole[1:] //= 2
    assert whole.tolist() == [4, 2, 3]
    real = mx.array([4.0, 5.0])
    real[1:] /= 2
    assert real.tolist() == [4.0, 2.5]


# An array, and statements that change a part of it to a higher kind of number.
LOSSES = [
    ([4, 5, 6], "a[1:] *= 1.5"),
    ([4, 5, 6], "a[1:] += 0.5"),
    ([4, 5, 6], "a[1:] -= mx.array([0.5, 1.5])"),
    ([4, 5, 6], "a[1:] **= 0.5"),
    ([4, 5, 6], "a[1:] //= 2.0"),
    ([4, 5, 6], "a[1:] %= 2.5"),
    ([4, 5, 6], "a[0] += 0.5"),
    ([4, 5, 6], "a[mx.array([0, 2])] *= 1.5"),
    ([4, 5, 6], "a[mx.array([True, False, True])] *= 1.5"),
    ([4, 5, 6], "a[1:] += 1j"),
    ([4.5, 5, 6], "a[1:] *= 1j"),
    ([True, False, True], "a[1:] += 1"),
    ([True, False, True], "a[1:] *= 0.5"),
]


@pytest.mark.parametrize(("values", "statement"), LOSSES)
def test_parts_are_not_cut_off_in_silence(values, statement):
    a = mx.array(values)
    with pytest.raises(TypeError, match=r"^\[index\] cannot store "):
        exec(statement, {"a": a, "mx": mx})
    assert a.tolist() == values


def test_parts_that_keep_their_kind():
    a = mx.array([4, 5, 6])
    a[1:] *= 2
    a[:1] -= mx.array([1])
    a[mx.array([0])] += True
    assert a.tolist() == [4, 10, 12]
    # A conversion that is written out.
    part = a[1:]
    part *= 1.5
    a[1:] = part
    a[0] = 2.7
    assert a.tolist() == [2, 15, 18]
    small = mx.array([1, 2], dtype=mx.uint8)
    small[1:] += mx.array([1])
    assert small.tolist() == [1, 3]


# What is compared with an array of three integers, and whether `==` is one truth value.
SEQUENCES = [
    ([1, 2, 3], False),
    ((1, 5, 3), False),
    ([[1, 2, 3], [3, 2, 1]], False),
    ([1], False),
    ([], True),
    ((), True),
    ([1, 2], True),
    ((1, 2, 3, 4), True),
    ([[1], [2, 3]], True),
    (["a", "b", "c"], True),
    ([None] * 3, True),
    ("x", True),
    ("", True),
    (None, True),
    (object(), True),
    ({}, True),
    ({1}, True),
    (int, True),
]


@pytest.mark.parametrize(("other", "is_one"), SEQUENCES)
def test_equality_with_other_objects(other, is_one):
    a = mx.array([1, 2, 3])
    if is_one:
        assert (a == other) is (other == a) is False
        assert (a != other) is (other != a) is True
    else:
        want = np.array([1, 2, 3]) == np.array(other)
        assert (a == other).tolist() == (other == a).tolist() == want.tolist()
        assert (a != other).tolist() == (other != a).tolist() == (~want).tolist()


def test_equality_with_nothing():
    assert (mx.array([1]) == []) is (mx.array(1) == []) is (mx.zeros((2, 0)) == []) is False
    assert (mx.array([]) == []).shape == (0,)
    assert (mx.array([1]) != []) is True


def test_inplace_bitwise():
    x = mx.array([1, 2, 12])
    x |= 1
    x &= mx.array([3, 3, 9])
    x ^= 2
    x <<= 2
    x >>= 1
    assert x.tolist() == [
        ((((v | 1) & m) ^ 2) << 2) >> 1 for v, m in zip((1, 2, 12), (3, 3, 9), strict=True)
    ]
