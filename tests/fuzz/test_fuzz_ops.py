"""One op at a time, in any shape, dtype and layout, against NumPy."""

import warnings

import numpy as np
import pytest
import umber.core as mx
from arrays import FLOATS, INTEGERS, assert_close, name_of, to_numpy, widen
from fuzz_strategies import axes_of, axis_of, fuzzed, shapes, twins
from hypothesis import given
from hypothesis import strategies as st
from tolerances import EXACT, tolerance_of

REAL = INTEGERS + FLOATS
COMPLEX = ("complex64", "complex128")


def compare(ours, theirs, factor=4.0, note=""):
    """Values within the tolerance of umber's dtype, scaled to the largest."""
    name = name_of(ours.dtype)
    tolerance, got = tolerance_of(name, factor), to_numpy(ours)
    theirs = np.asarray(theirs)
    if tolerance == EXACT:
        assert_close(got, theirs.astype(got.dtype), note=note)
        return
    finite = np.abs(theirs[np.isfinite(theirs)]) if theirs.size else theirs
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    assert got.shape == theirs.shape, f"{note}: shape {got.shape}, expected {theirs.shape}"
    np.testing.assert_allclose(
        widen(got), theirs, rtol=tolerance.relative, atol=tolerance.absolute * scale, err_msg=note
    )


def wide(twin):
    """NumPy's values, floats in double precision."""
    return widen(np.asarray(twin.theirs))


UNARY = {
    "abs": (np.abs, REAL + COMPLEX, -4, 4),
    "negative": (np.negative, REAL + COMPLEX, -4, 4),
    "square": (np.square, REAL + COMPLEX, -4, 4),
    "sign": (np.sign, REAL, -4, 4),
    "exp": (np.exp, FLOATS + COMPLEX, -3, 3),
    "expm1": (np.expm1, FLOATS, -3, 3),
    "log": (np.log, FLOATS, 0.1, 9),
    "log1p": (np.log1p, FLOATS, -0.9, 9),
    "sqrt": (np.sqrt, FLOATS + COMPLEX, 0, 9),
    "sin": (np.sin, FLOATS + COMPLEX, -3, 3),
    "cos": (np.cos, FLOATS + COMPLEX, -3, 3),
    "tanh": (np.tanh, FLOATS, -3, 3),
    "arcsinh": (np.arcsinh, FLOATS, -3, 3),
    "floor": (np.floor, REAL, -4, 4),
    "ceil": (np.ceil, REAL, -4, 4),
    "round": (np.round, FLOATS, -4, 4),
    "isnan": (np.isnan, FLOATS + COMPLEX, -4, 4),
    "isinf": (np.isinf, FLOATS, -4, 4),
    "logical_not": (np.logical_not, REAL, -2, 2),
    "conjugate": (np.conjugate, REAL + COMPLEX, -4, 4),
}


@fuzzed(300)
@given(st.data())
def test_unary(data):
    name = data.draw(st.sampled_from(sorted(UNARY)))
    oracle, dtypes, low, high = UNARY[name]
    twin = data.draw(twins(dtypes, low=low, high=high, special=low < 0))
    with np.errstate(all="ignore"):
        want = oracle(wide(twin))
    compare(getattr(mx, name)(twin.ours), want, note=name)


BINARY = {
    "add": (np.add, REAL + COMPLEX),
    "subtract": (np.subtract, REAL + COMPLEX),
    "multiply": (np.multiply, REAL + COMPLEX),
    "maximum": (np.maximum, REAL),
    "minimum": (np.minimum, REAL),
    "less": (np.less, REAL),
    "greater_equal": (np.greater_equal, REAL),
    "equal": (np.equal, REAL),
    "not_equal": (np.not_equal, REAL),
    "arctan2": (np.arctan2, FLOATS),
    "logaddexp": (np.logaddexp, FLOATS),
    "logical_and": (np.logical_and, REAL),
    "bitwise_xor": (np.bitwise_xor, INTEGERS),
    "left_shift": (np.left_shift, INTEGERS),
}


@fuzzed(300)
@given(st.data())
def test_binary(data):
    """Two operands of one dtype; the second broadcasts in some way."""
    name = data.draw(st.sampled_from(sorted(BINARY)))
    oracle, dtypes = BINARY[name]
    low = 0 if name == "left_shift" else -4
    a = data.draw(twins(dtypes, low=low, special=name in ("maximum", "less")))
    full = a.theirs.shape
    shape = full[data.draw(st.integers(0, len(full))) :]
    shape = tuple(1 if data.draw(st.booleans()) else size for size in shape)
    b = data.draw(twins((a.dtype,), st.just(shape), low=low, layouts=False))
    if data.draw(st.booleans()):
        a, b = b, a
    with np.errstate(all="ignore"):
        want = oracle(wide(a), wide(b))
    if name in ("add", "subtract", "multiply") and a.dtype in INTEGERS:
        want = oracle(a.theirs, b.theirs)
    compare(getattr(mx, name)(a.ours, b.ours), want, note=f"{name} {a} {b}")


def quiet(function):
    """NumPy's function without its warnings on empty slices."""

    def call(*args, **kwargs):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*args, **kwargs)

    return call


REDUCTIONS = {
    "sum": (np.sum, REAL + COMPLEX, True),
    "prod": (np.prod, REAL, True),
    "mean": (np.mean, REAL + COMPLEX, True),
    "var": (np.var, REAL, True),
    "std": (np.std, REAL, True),
    "max": (np.max, REAL, False),
    "min": (np.min, REAL, False),
    "all": (np.all, REAL, True),
    "any": (np.any, REAL, True),
    "count_nonzero": (np.count_nonzero, REAL, True),
    "median": (np.median, FLOATS, False),
}


@fuzzed(400)
@given(st.data())
def test_reduction(data):
    name = data.draw(st.sampled_from(sorted(REDUCTIONS)))
    oracle, dtypes, takes_empty = REDUCTIONS[name]
    twin = data.draw(twins(dtypes, special=name in ("max", "min"), low=-2, high=2))
    axes, keep = data.draw(axes_of(twin.theirs.shape)), data.draw(st.booleans())
    if twin.theirs.size == 0 and not takes_empty:
        return
    want = quiet(oracle)(wide(twin), axis=axes, keepdims=keep)
    got = getattr(mx, name)(twin.ours, axis=axes, keepdims=keep)
    if name in ("sum", "prod"):
        want = np.asarray(want).astype(np.array(got).dtype) if twin.dtype in INTEGERS else want
    compare(got, want, 20.0 if name == "prod" else 8.0, note=f"{name} axis={axes} {twin}")


@fuzzed(300)
@given(st.data())
def test_along_one_axis(data):
    """Scans, sorts and searches."""
    special = data.draw(st.booleans())
    twin = data.draw(twins(REAL, shapes(1, 3, 6), special=special, low=-3, high=3))
    axis = data.draw(axis_of(twin.theirs.shape) | st.none())
    x = wide(twin)
    note = f"axis={axis} {twin}"
    compare(mx.sort(twin.ours, axis), np.sort(x, axis), note="sort " + note)
    order = np.argsort(x, axis, kind="stable")
    assert_close(to_numpy(mx.argsort(twin.ours, axis)), order.astype("uint32"), note=note)
    for name, oracle in (("cummax", np.maximum), ("cummin", np.minimum)):
        flat, at = (x.ravel(), 0) if axis is None else (x, axis)
        compare(getattr(mx, name)(twin.ours, axis), oracle.accumulate(flat, at), note=name + note)
    if not special:
        compare(mx.cumsum(twin.ours, axis), np.cumsum(x, axis), 16.0, note="cumsum " + note)
        end = np.flip(np.cumsum(np.flip(x, axis), axis), axis)
        if axis is not None:
            got = mx.cumsum(twin.ours, axis, reverse=True)
            compare(got, end, 16.0, note="reverse " + note)
            got = mx.cumsum(twin.ours, axis, reverse=True, inclusive=False)
            compare(got, end - x, 16.0, note="exclusive " + note)
    if x.size and (axis is None or x.shape[axis]):
        for name in ("argmax", "argmin"):
            want = getattr(np, name)(x, axis)
            assert_close(to_numpy(getattr(mx, name)(twin.ours, axis)), np.uint32(want), note=note)


@fuzzed(300)
@given(st.data())
def test_moving(data):
    """Ops that only move elements."""
    twin = data.draw(twins(("float32", "int8", "complex64", "bool_", "float64"), shapes(1, 4)))
    x, a = twin.theirs, twin.ours
    if not x.ndim:
        return
    axis, other = data.draw(axis_of(x.shape)), data.draw(axis_of(x.shape))
    count = data.draw(st.integers(-7, 7))
    widths = [(data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))) for _ in x.shape]
    reps = data.draw(st.lists(st.integers(0, 2), min_size=1, max_size=4))
    pairs = {
        "roll": (lambda m, y: m.roll(y, count, axis)),
        "roll flat": (lambda m, y: m.roll(y, count)),
        "flip": (lambda m, y: m.flip(y, axis)),
        "moveaxis": (lambda m, y: m.moveaxis(y, axis, other)),
        "swapaxes": (lambda m, y: m.swapaxes(y, axis, other)),
        "repeat": (lambda m, y: m.repeat(y, abs(count) % 4, axis)),
        "repeat flat": (lambda m, y: m.repeat(y, abs(count) % 4)),
        "tile": (lambda m, y: m.tile(y, reps)),
        "pad": (lambda m, y: m.pad(y, widths)),
        "concatenate": (lambda m, y: m.concatenate([y, y], axis)),
        "stack": (lambda m, y: m.stack([y, y, y], axis)),
        "expand_dims": (lambda m, y: m.expand_dims(y, axis)),
        "flat": (lambda m, y: m.reshape(y, (-1,))) if x.size else (lambda m, y: y),
        "ends": (lambda m, y: m.reshape(y, (*y.shape[::-1],))),
    }
    if x.ndim > 1:
        pairs["tril"] = lambda m, y: m.tril(y, count)
        pairs["triu"] = lambda m, y: m.triu(y, count)
        if axis % x.ndim != other % x.ndim:
            pairs["diagonal"] = lambda m, y: m.diagonal(y, count, axis, other)
    for name, call in pairs.items():
        assert_close(to_numpy(call(mx, a)), call(np, x), note=f"{name} {axis} {other} {count}")


EINSUMS = "ij,jk->ik ij,kj->ik bij,bjk->bik ij->ji ij->j ij,ij->i i,j->ij ii->i ijk,kj->i".split()


@fuzzed(300)
@given(st.data())
def test_contraction(data):
    subscripts = data.draw(st.sampled_from(EINSUMS))
    sizes = {letter: data.draw(st.integers(0, 5)) for letter in "bijk"}
    dtype = data.draw(st.sampled_from(FLOATS + COMPLEX))
    operands = []
    for term in subscripts.split("->")[0].split(","):
        shape = tuple(sizes[letter] for letter in term)
        backwards = data.draw(st.booleans())
        twin = data.draw(
            twins((dtype,), st.just(shape[::-1] if backwards else shape), layouts=False)
        )
        if backwards:
            twin.ours, twin.theirs = mx.transpose(twin.ours), twin.theirs.T
        operands.append(twin)
    want = np.einsum(subscripts, *(wide(twin) for twin in operands))
    got = mx.einsum(subscripts, *(twin.ours for twin in operands))
    compare(got, want, 16.0, note=subscripts)
    if subscripts in ("ij,jk->ik", "bij,bjk->bik"):
        compare(operands[0].ours @ operands[1].ours, want, 16.0, note="matmul")


@pytest.mark.parametrize("name", ["softmax", "logsumexp"])
@fuzzed(80)
@given(data=st.data())
def test_exponential_reductions(name, data):
    twin = data.draw(twins(FLOATS, shapes(1, 3, 5, zero=False), layouts=False))
    axes, x = data.draw(axes_of(twin.theirs.shape)), wide(twin)
    keep = {} if name == "softmax" else {"keepdims": True}
    sums = np.log(np.sum(np.exp(x), axis=axes, keepdims=True))
    want = np.exp(x - sums) if name == "softmax" else sums
    compare(getattr(mx, name)(twin.ours, axis=axes, **keep), want, 8.0, note=f"{name} {axes}")
