"""Arrays where programs expect NumPy's: SciPy, Matplotlib, coercions, members of `ndarray`."""

import io
import warnings

import numpy as np
import pytest
import umber.core as mx
from numpy_clients import MATPLOTLIB, SCIPY, arguments, canvas

# Algorithms that iterate are compared as closely as they converge.
CLOSE = 1e-5


def plain(result):
    """A result as an array of NumPy's."""
    return np.asarray(result.toarray() if hasattr(result, "toarray") else result)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", SCIPY)
def test_scipy(call):
    """What SciPy computes of NumPy's arrays it computes of umber's, too."""
    found = []
    for make in (np.array, lambda values: mx.asarray(np.array(values))):
        np.random.seed(0)
        found.append(plain(eval(call, arguments(make))))
    want, got = found
    assert got.shape == want.shape
    if want.dtype.kind in "biufc":
        scale = np.abs(want[np.isfinite(want)]).max(initial=1)
        np.testing.assert_allclose(got, want, rtol=CLOSE, atol=CLOSE * scale)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", MATPLOTLIB)
def test_matplotlib(call):
    drawn = canvas(call)
    try:
        eval(call, arguments(lambda values: mx.array(np.array(values)), "float32") | drawn)
        drawn["figure"].canvas.draw()
    finally:
        drawn["plt"].close("all")


def test_minimising_by_a_gradient_of_umbers():
    from scipy import optimize

    target = mx.array([1.0, 2.0, 3.0])
    value_and_grad = mx.value_and_grad(lambda w: ((mx.array(w) - target) ** 2).sum())
    for method in ("L-BFGS-B", "BFGS", "CG", "TNC", "SLSQP"):
        found = optimize.minimize(
            lambda w: value_and_grad(mx.array(w)), np.zeros(3), jac=True, method=method
        )
        np.testing.assert_allclose(found.x, [1, 2, 3], atol=1e-3)


# Functions of NumPy's that compute nothing.
COERCIONS = {
    "atleast_1d": lambda x: np.atleast_1d(x),
    "atleast_2d": lambda x: np.atleast_2d(x),
    "atleast_3d": lambda x: np.atleast_3d(x),
    "ravel": lambda x: np.ravel(x),
    "reshape": lambda x: np.reshape(x, (3, 2)),
    "squeeze": lambda x: np.squeeze(x),
    "swapaxes": lambda x: np.swapaxes(x, 0, 1),
    "moveaxis": lambda x: np.moveaxis(x, 0, 1),
    "rollaxis": lambda x: np.rollaxis(x, 1),
    "expand_dims": lambda x: np.expand_dims(x, 0),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 2, 3)),
    "broadcast_arrays": lambda x: np.broadcast_arrays(x, 1.0)[0],
    "conjugate": lambda x: np.conjugate(x),
    "conj": lambda x: np.conj(x),
    "real": lambda x: np.real(x),
    "imag": lambda x: np.imag(x),
    "real_if_close": lambda x: np.real_if_close(x),
    "copy": lambda x: np.copy(x),
}


@pytest.mark.parametrize("name", COERCIONS)
def test_coercions_give_arrays_of_numpys(name):
    coerced = COERCIONS[name]
    for values in (np.arange(6.0).reshape(2, 3), np.arange(6).reshape(2, 3) + 1j):
        got = coerced(mx.asarray(values.copy()))
        assert type(got) is np.ndarray
        np.testing.assert_array_equal(got, coerced(values))
        assert got.dtype == coerced(values).dtype


@pytest.mark.parametrize("name", [name for name in COERCIONS if name != "imag"])
def test_coercions_pass_derivatives(name):
    x = mx.arange(6.0).reshape(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient = mx.grad(lambda x: (mx.array(COERCIONS[name](x)) ** 2).sum())(x)
    copies = 2.0 if name == "broadcast_to" else 1.0
    assert gradient.tolist() == (2 * copies * x).tolist()


LAYOUTS = {
    "dense": lambda x: x,
    "transposed": lambda x: x.T,
    "every second": lambda x: x[::2],
    "reversed": lambda x: x[:, ::-1],
    "with a new axis": lambda x: x[:, None],
    "scalar": lambda x: x[0, 0],
    "vector": lambda x: x[1],
}


@pytest.mark.covers("ArrayFlags")
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "complex64", "bool"])
def test_memory(layout, dtype):
    values = np.arange(12).reshape(4, 3).astype(dtype)
    own, theirs = LAYOUTS[layout](mx.array(values)), LAYOUTS[layout](values)
    viewed = np.asarray(own)
    assert own.strides == viewed.strides
    assert type(own.flags) is mx.ArrayFlags
    for flag in ("C_CONTIGUOUS", "F_CONTIGUOUS", "C", "F", "FORC", "FNC", "ALIGNED"):
        assert own.flags[flag] == viewed.flags[flag], flag
    for flag in ("c_contiguous", "f_contiguous", "contiguous", "forc", "fnc", "aligned"):
        assert getattr(own.flags, flag) == getattr(viewed.flags, flag), flag
    for order in "CF":
        assert own.tobytes(order) == theirs.tobytes(order)
    assert own.tobytes() == theirs.tobytes()
    kept = io.BytesIO()
    own.tofile(kept)
    assert kept.getvalue() == theirs.tobytes()


def test_memory_of_nothing_yet():
    """A traced array is told as dense."""
    seen = []
    mx.compile(lambda x: seen.append((x.strides, x.flags.c_contiguous)) or x)(mx.ones((2, 3)))
    assert seen == [((12, 4), True)]


def test_tofile_to_a_path(tmp_path):
    mx.arange(3).tofile(tmp_path / "bytes")
    assert np.fromfile(tmp_path / "bytes", np.int32).tolist() == [0, 1, 2]


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_bytes_in_an_order(order):
    """An array that is column-major in memory keeps its order with "A"."""
    base = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    x = mx.array(base)
    mx.eval(x)
    for ours, theirs in (
        (x, base),
        (x.T, base.T),
        (x[:, :, ::2], base[:, :, ::2]),
        (x[0, 0], base[0, 0]),
    ):
        assert ours.tobytes(order) == theirs.tobytes(order)


def test_errors_of_memory():
    x = mx.ones((2, 2))
    with pytest.raises(KeyError, match="flags"):
        x.flags["NONE"]
    with pytest.raises(ValueError, match=r"^\[tobytes\] got order 'Z'"):
        x.tobytes("Z")


@pytest.mark.parametrize(
    "name",
    "bool_ uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 complex64 "
    "complex128".split(),
)
def test_dtypes(name):
    own = getattr(mx, name)
    theirs = np.dtype(name.rstrip("_"))
    for attribute in (
        "char num str byteorder itemsize name kind alignment isnative hasobject fields names "
        "subdtype descr type"
    ).split():
        assert getattr(own, attribute) == getattr(theirs, attribute), attribute
    assert own.newbyteorder(">") == theirs.newbyteorder(">")


VALUES = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])

# Calls of methods, that return what NumPy's do.
METHODS = {
    "conjugate": lambda x: x.conjugate(),
    "conj": lambda x: x.conj(),
    "clip": lambda x: x.clip(1, 4),
    "clip below": lambda x: x.clip(2),
    "clip above": lambda x: x.clip(max=2),
    "clip by arrays": lambda x: x.clip(x[0] * 0 + 1, x[1]),
    "dot": lambda x: x.dot(x.T),
    "dot with a vector": lambda x: x.dot(x[0]),
    "dot with a number": lambda x: x.dot(2),
    "nonzero": lambda x: x.nonzero()[1],
    "compress": lambda x: x.compress([True, False, True], axis=1),
    "ptp": lambda x: np.ptp(x, axis=1) if isinstance(x, np.ndarray) else x.ptp(axis=1),
    "trace": lambda x: x.trace(),
    "trace beside": lambda x: x.trace(1),
    "repeat": lambda x: x.repeat(2),
    "repeat along": lambda x: x.repeat(2, axis=1),
    "repeat each": lambda x: x.repeat([1, 0, 2], axis=1),
    "searchsorted": lambda x: x[0].searchsorted([0.5, 2.0], sorter=x[0].argsort()),
    "searchsorted right": lambda x: (x[0] * 0 + 2).searchsorted(2, side="right"),
    "argsort": lambda x: x.argsort(),
    "argsort along": lambda x: x.argsort(axis=0, kind="stable"),
    "argsort flat": lambda x: x.argsort(axis=None),
    "argpartition": lambda x: x.argpartition(0)[:, 0],
    "take": lambda x: x.take([0, 1], axis=1),
    "take wrap": lambda x: x.take([4, -1], axis=1, mode="wrap"),
    "take clip": lambda x: x.take([4, -1], axis=1, mode="clip"),
    "ravel": lambda x: x.ravel(order="F"),
    "reshape": lambda x: x.reshape(3, 2, order="F"),
    "copy": lambda x: x.copy(order="C"),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    want = METHODS[name](VALUES)
    np.testing.assert_array_equal(np.asarray(METHODS[name](mx.array(VALUES))), want)


# Methods that write.
WRITERS = {
    "sort": lambda x: x.sort(),
    "sort along": lambda x: x.sort(axis=0, kind="stable"),
    "partition": lambda x: x.partition(1),
    "fill": lambda x: x.fill(7),
    "put": lambda x: x.put([0, 5], [9.0, 8.0]),
    "put clip": lambda x: x.put([9], 8.0, mode="clip"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_methods_that_write(name):
    theirs, own = VALUES.copy(), mx.array(VALUES)
    before = own + 0
    WRITERS[name](theirs)
    returned = WRITERS[name](own)
    assert returned is own
    np.testing.assert_array_equal(np.asarray(own), theirs)
    np.testing.assert_array_equal(np.asarray(before), VALUES)


def test_derivatives_of_methods():
    x = mx.array([3.0, 1.0, 2.0])

    def ordered(x):
        x = x * 1
        x.sort()
        return (x * mx.array([1.0, 10.0, 100.0])).sum()

    assert mx.grad(ordered)(x).tolist() == [100.0, 1.0, 10.0]
    assert mx.grad(lambda x: x.clip(1.5, 2.5).sum())(x).tolist() == [0.0, 0.0, 1.0]
    assert mx.grad(lambda x: x.dot(x))(x).tolist() == [6.0, 2.0, 4.0]
    assert mx.grad(lambda x: x.repeat(2).sum())(x).tolist() == [2.0, 2.0, 2.0]


def test_errors_of_methods():
    x = mx.array([3, 1, 2])
    for call, words in (
        (lambda: x.sort(kind="bogus"), r"^\[sort\] got kind 'bogus'"),
        (lambda: x.argsort(kind="bogus"), r"^\[argsort\] got kind 'bogus'"),
        (lambda: x.searchsorted(1, side="up"), r"^\[searchsorted\] got side 'up'"),
        (lambda: x.take([0], mode="x"), r"^\[take\] got mode 'x'"),
        (lambda: x.fill([1, 2]), r"^\[fill\]"),
        (lambda: x.reshape(3, order="Z"), r"^\[reshape\] got order 'Z'"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
    assert x.tolist() == [3, 1, 2]
