"""NumPy's ufuncs and functions on umber arrays: NEP 13 and NEP 18."""

import numpy as np
import pytest
import umber.core as mx

X = np.array([[0.5, 1.5, 2.5], [3.0, 2.0, 1.0]], np.float32)


def assert_ours(result, want, dtype=None):
    """An umber array with these values."""
    assert isinstance(result, mx.array), type(result)
    np.testing.assert_allclose(np.asarray(result), np.asarray(want), rtol=1e-5, atol=1e-6)
    if dtype is not None:
        assert result.dtype == dtype


UFUNCS = """
exp expm1 log log2 log10 log1p sin cos tan arctan sinh cosh tanh sqrt square cbrt exp2 absolute fabs
negative positive sign floor ceil rint trunc reciprocal deg2rad rad2deg degrees radians isnan isinf
isfinite signbit logical_not spacing
""".split()
BINARY_UFUNCS = """
add subtract multiply divide true_divide floor_divide remainder mod fmod power float_power maximum
minimum fmax fmin arctan2 hypot copysign nextafter logaddexp logaddexp2 heaviside equal not_equal
less less_equal greater greater_equal logical_and logical_or logical_xor
""".split()


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_answer_with_our_arrays(name):
    function = getattr(np, name)
    assert_ours(function(mx.array(X)), function(X))


@pytest.mark.parametrize("name", BINARY_UFUNCS)
def test_ufuncs_of_two(name):
    function = getattr(np, name)
    x, y = mx.array(X), X[::-1]
    want = function(X, y)
    assert_ours(function(x, mx.array(y)), want)
    assert_ours(function(x, y), want)
    assert_ours(function(X, mx.array(y)), want)
    assert_ours(function(x, 2), function(X, 2))


def test_ufuncs_of_integers():
    x, y = np.array([12, 18, 7]), np.array([8, 27, 2])
    for name in "bitwise_and bitwise_or bitwise_xor left_shift right_shift gcd lcm".split():
        assert_ours(getattr(np, name)(mx.array(x), y), getattr(np, name)(x, y))
    assert_ours(np.invert(mx.array(x)), ~x)
    assert_ours(np.bitwise_count(mx.array(x)), np.bitwise_count(x), mx.uint8)


def test_ufuncs_with_two_results():
    quotient, rest = np.divmod(mx.array(X), 2)
    assert_ours(quotient, X // 2)
    assert_ours(rest, X % 2)
    mantissa, exponent = np.frexp(mx.array(X))
    assert_ours(mantissa, np.frexp(X)[0])
    assert_ours(exponent, np.frexp(X)[1], mx.int32)


def test_operators_with_arrays_of_numpy_on_either_side():
    """The left operand does not decide: the result is ours, in the promoted dtype."""
    double = np.ones((2, 3))
    for result in (double + mx.array(X), mx.array(X) + double):
        assert_ours(result, X + double, mx.float64)
    assert_ours(np.float32(2) * mx.array(X), X * 2, mx.float32)
    assert_ours(X @ mx.array(X.T), X @ X.T)
    assert_ours(np.equal(X, mx.array(X)), np.ones((2, 3), bool))


def test_reductions_scans_and_outer_products():
    x = mx.array(X)
    for ufunc in (np.add, np.multiply, np.maximum, np.minimum, np.logaddexp):
        assert_ours(ufunc.reduce(x), ufunc.reduce(X))
        assert_ours(ufunc.reduce(x, axis=1, keepdims=True), ufunc.reduce(X, axis=1, keepdims=True))
        assert_ours(ufunc.reduce(x, axis=None), ufunc.reduce(X, axis=None))
        assert_ours(ufunc.accumulate(x), ufunc.accumulate(X))
        assert_ours(ufunc.accumulate(x, axis=1), ufunc.accumulate(X, axis=1))
        assert_ours(ufunc.outer(x, X[0]), ufunc.outer(X, X[0]))
    assert_ours(np.logical_and.reduce(x > 1), np.logical_and.reduce(X > 1))
    assert_ours(np.add.reduce(mx.array([1, 2]), dtype=np.float64), 3.0, mx.float64)


FUNCTIONS = {
    "sum": lambda np_, x: np_.sum(x, axis=0),
    "sum keepdims": lambda np_, x: np_.sum(x, 1, keepdims=True),
    "sum dtype": lambda np_, x: np_.sum(x, dtype="float64"),
    "mean": lambda np_, x: np_.mean(x),
    "std": lambda np_, x: np_.std(x, axis=1, ddof=1),
    "max": lambda np_, x: np_.max(x, axis=1),
    "amax": lambda np_, x: np_.amax(x),
    "argmax": lambda np_, x: np_.argmax(x, axis=1),
    "all": lambda np_, x: np_.all(x > 0),
    "cumsum": lambda np_, x: np_.cumsum(x, axis=1),
    "clip": lambda np_, x: np_.clip(x, 1, 2),
    "concatenate": lambda np_, x: np_.concatenate([x, x], axis=1),
    "stack": lambda np_, x: np_.stack([x, x], axis=-1),
    "where": lambda np_, x: np_.where(x > 1, x, 0),
    "take": lambda np_, x: np_.take(x, np.array([1, 0]), axis=1),
    "sort": lambda np_, x: np_.sort(x, axis=1),
    "median": lambda np_, x: np_.median(x, axis=0),
    "tile": lambda np_, x: np_.tile(x, (2, 1)),
    "repeat": lambda np_, x: np_.repeat(x, 2, axis=0),
    "tril": lambda np_, x: np_.tril(x, -1),
    "diag": lambda np_, x: np_.diag(x),
    "round": lambda np_, x: np_.round(x, 1),
    "nan_to_num": lambda np_, x: np_.nan_to_num(x, nan=1.0),
    "isclose": lambda np_, x: np_.isclose(x, x + 1, rtol=0.5),
    "einsum": lambda np_, x: np_.einsum("ij,kj->ik", x, x),
    "tensordot": lambda np_, x: np_.tensordot(x, x, axes=((1,), (1,))),
    "angle": lambda np_, x: np_.angle(x, deg=True),
    "astype": lambda np_, x: np_.astype(x, np.float64),
    "array_equal": lambda np_, x: np_.array_equal(x, X),
    "sinc": lambda np_, x: np_.sinc(x),
    "i0": lambda np_, x: np_.i0(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_answer_with_our_arrays(name):
    assert_ours(FUNCTIONS[name](np, mx.array(X)), FUNCTIONS[name](np, X))


def test_what_is_made_to_be_written_is_numpys():
    """Writes through views of it arrive, as programs written for NumPy expect."""
    x = mx.array(X)
    for made in (np.zeros_like(x), np.ones_like(x), np.full_like(x, 3), np.empty_like(x)):
        assert type(made) is np.ndarray
        assert made.shape == x.shape
        assert made.dtype == np.float32
        made[0][1:] = 7
        assert made[0, 1] == 7
    assert np.zeros_like(x, dtype=np.int8).dtype == np.int8
    assert mx.grad(lambda x: (x * np.ones_like(x)).sum())(x).tolist() == [[1.0] * 3] * 2


def test_what_umber_does_not_take_numpy_does():
    np.testing.assert_array_equal(
        np.pad(mx.array(X[0]), (1, 2), constant_values=(5, 6)),
        np.pad(X[0], (1, 2), constant_values=(5, 6)),
    )
    ends = mx.array(X[0]), mx.array(X[1])
    np.testing.assert_array_equal(np.linspace(*ends, 3), np.linspace(X[0], X[1], 3))
    rows = np.array([[1.0, 1.0], [2.0, 3.0]])[:1]
    np.testing.assert_array_equal(np.apply_along_axis(np.unique, 1, mx.array(rows)), [[1.0]])
    with pytest.raises(ValueError, match="pad"):
        mx.grad(lambda x: np.pad(x, (1, 2), constant_values=(5, 6)).sum())(mx.array(X[0]))


def test_functions_of_several_arrays():
    grids = np.meshgrid(mx.array(X[0]), X[1], indexing="ij")
    for got, want in zip(grids, np.meshgrid(X[0], X[1], indexing="ij"), strict=True):
        assert_ours(got, want)
    parts = np.split(mx.array(X), 3, axis=1)
    assert [part.shape for part in parts] == [(2, 1)] * 3


def test_what_is_no_array_stays_python():
    x = mx.array(X)
    assert (np.shape(x), np.ndim(x), np.size(x)) == ((2, 3), 2, 6)


def test_what_umber_lacks_is_left_to_numpy():
    """NumPy gets views and answers with its own arrays."""
    result = np.apply_over_axes(np.sum, mx.array(X), [0])
    np.testing.assert_allclose(np.asarray(result), X.sum(0, keepdims=True))
    folded = np.add.reduceat(mx.array([1.0, 2.0, 3.0, 4.0]), [0, 2])
    assert isinstance(folded, np.ndarray)
    assert folded.tolist() == [3.0, 7.0]
    masked = np.sum(mx.array(X), where=X > 1)
    assert float(masked) == X[X > 1].sum()


def test_scipy_functions_of_the_same_name():
    special = pytest.importorskip("scipy.special")
    assert_ours(special.erf(mx.array(X)), special.erf(X))
    assert_ours(special.digamma(mx.array(X)), special.digamma(X))
    assert_ours(special.gamma(mx.array(X)), special.gamma(X))
    assert_ours(special.gammainc(mx.array(X), 2.0), special.gammainc(X, 2.0))
    assert isinstance(special.airy(mx.array(X))[0], np.ndarray)


def test_gradients_flow_through_numpy_functions():
    def loss(x):
        return np.sum(np.exp(x) * np.array([1.0, 2.0], np.float32))

    assert_ours(mx.grad(loss)(mx.array([0.0, 1.0])), [1.0, 2 * np.e])


def test_no_gradient_is_lost_in_silence_where_numpy_computes():
    with pytest.warns(RuntimeWarning, match=r"^\[grad\] "):
        mx.grad(lambda x: mx.array(np.add.reduceat(x, [0])).sum())(mx.array([0.0, 1.0]))


def test_in_place_operators_of_numpy_arrays():
    """`ndarray += array` writes into the NumPy array, under NumPy's casting rule."""
    target = np.ones(3, np.float32)
    alias = target
    target += mx.array([1.0, 2.0, 3.0])
    assert target is alias
    assert target.tolist() == [2.0, 3.0, 4.0]
    counts = np.ones(3, np.int32)
    with pytest.raises(TypeError):
        counts += mx.array([0.5, 0.5, 0.5])


def test_out_may_be_ours_or_numpys():
    x, ours, theirs = mx.array(X), mx.zeros((2, 3)), np.zeros((2, 3))
    assert np.exp(x, out=ours) is ours
    assert_ours(ours, np.exp(X))
    assert np.exp(x, out=theirs) is theirs
    np.testing.assert_allclose(theirs, np.exp(X), rtol=1e-6)
    total = mx.zeros((3,))
    np.sum(x, axis=0, out=total)
    assert_ours(total, X.sum(0))
    with pytest.raises(ValueError, match="shape"):
        np.exp(x, out=mx.zeros((3,)))
    with pytest.raises(TypeError, match=r"\[out\]"):
        np.exp(x, out=mx.zeros((2, 3), dtype=mx.int32))
    assert_ours(ours, np.exp(X))


def test_dtype_is_computed_in():
    big = mx.array([2**31 - 1], dtype=mx.int32)
    assert np.add(big, 1, dtype=np.int64).tolist() == [2**31]


def test_repeated_indices_all_count():
    x = mx.zeros((3,))
    np.add.at(x, mx.array([0, 0, 2]), 1.0)
    theirs = np.zeros(3)
    np.add.at(theirs, [0, 0, 2], mx.array([1.0, 2.0, 4.0]))
    assert theirs.tolist() == [3.0, 0.0, 4.0]
    assert x.tolist() == [2.0, 0.0, 1.0]
    with pytest.raises(TypeError, match=r"\[np.hypot.at\]"):
        np.hypot.at(x, [0], 1.0)


@pytest.mark.parametrize("name", ["copyto", "place", "putmask", "fill_diagonal"])
def test_writers_are_refused(name):
    x = mx.zeros((2, 2))
    arguments = {"copyto": (1,), "fill_diagonal": (1,)}.get(name, (np.eye(2) > 0, [1.0]))
    with pytest.raises(TypeError, match="cannot be written by NumPy"):
        getattr(np, name)(x, *arguments)
    target = np.zeros(2, np.float32)
    np.copyto(target, mx.array([1.0, 2.0]))
    assert target.tolist() == [1.0, 2.0]


def test_others_with_their_own_protocol_go_first():
    class Other:
        def __array_ufunc__(self, *_args, **_kwargs):
            return "theirs"

        def __array_function__(self, *_args, **_kwargs):
            return "theirs"

    assert np.add(mx.array(1.0), Other()) == "theirs"
    assert np.concatenate([mx.array([1.0]), Other()]) == "theirs"


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "int64", "int8", "uint16"])
def test_scalars_of_numpy_are_like_numbers_of_python(kind):
    """They raise the kind of an array where they have to, and never its precision."""
    scalar = np.dtype(kind).type(2)
    for dtype in (mx.float16, mx.bfloat16, mx.float32):
        x = mx.array([1.5, -3.0], dtype=dtype)
        for result in (x * scalar, scalar * x, mx.multiply(x, scalar), mx.maximum(scalar, x) * 1):
            assert result.dtype == dtype
        assert (x * scalar).tolist() == [3.0, -6.0]
    whole = mx.array([1, -3], dtype=mx.int16)
    expected = mx.float32 if kind.startswith("float") else mx.int16
    assert (whole * scalar).dtype == expected
    assert (scalar * whole).dtype == expected
    assert (whole + np.complex64(1j)).dtype == mx.complex64
    assert (mx.array([True]) + scalar).dtype == (mx.array([True]) + scalar.item()).dtype
    if kind != "float64":
        # An array made of one keeps its dtype; float64 is Python's float.
        assert mx.array(scalar).dtype == mx.array(np.array(scalar)).dtype


def test_equality_with_what_umber_has_no_dtype_for():
    x = mx.array([1.0, 2.0, 3.0])
    for other in (
        np.array(["a"]),
        np.array([None] * 3),
        np.datetime64("2020"),
        np.timedelta64(1),
        np.datetime64("2020", "ns"),
        np.array(["2020"], "datetime64[Y]"),
        np.str_("a"),
    ):
        assert (x == other) is False
        assert (other == x) is False
        assert (x != other) is True
        assert (other != x) is True
        with pytest.raises(TypeError):
            x < other  # noqa: B015
        with pytest.raises(TypeError):
            x + other
    with pytest.raises(ValueError, match="broadcast"):
        x == np.ones(2)  # noqa: B015
    assert_ours(np.array([1, 5, 3]) == x, [True, False, True])
