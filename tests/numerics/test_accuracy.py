"""Errors in units of the last place, against 80-bit floats and SciPy; docs/usage/accuracy.md."""

import numpy as np
import pytest
import umber.core as mx
from scipy import special

LONG = np.longdouble
COUNT = 4000
pytestmark = pytest.mark.skipif(
    np.finfo(LONG).nmant < 60, reason="the references need floats longer than 64 bits"
)
PI = LONG("3.14159265358979323846264338327950288")


def ulps(found, exact, dtype):
    """Distances in ulp of the nearest value; infinite where NaN or infinity differ."""
    with np.errstate(all="ignore"):
        nearest = exact.astype(dtype)
        unit = np.maximum(np.abs(np.spacing(nearest)), np.finfo(dtype).smallest_subnormal)
        error = np.abs(found.astype(LONG) - exact) / unit
    same = (nearest == found) | (np.isnan(nearest) & np.isnan(found))
    # Either side of the threshold of overflow will do.
    edge = np.isinf(nearest) & (np.abs(found) >= np.finfo(dtype).max)
    error = np.where(np.isfinite(nearest) & np.isfinite(found), error, np.where(edge, 1, np.inf))
    return np.where(same, np.where(np.isfinite(nearest), error, 0), error)


def anything(rng):
    parts = [rng.uniform(-s, s, COUNT) for s in (1, 12, 700, 1e-3)]
    return np.concatenate([*parts, [0.0, -0.0, 1.0, -1.0, 5e-324, np.inf, -np.inf, np.nan]])


def positive(rng):
    wide = np.exp(rng.uniform(-300, 300, COUNT))
    return np.concatenate([rng.uniform(0, 2, COUNT), rng.uniform(0, 100, COUNT), wide, [np.inf, 0]])


def within_one(rng):
    near = 1 - 10 ** rng.uniform(-15, -1, COUNT)
    return np.concatenate(
        [rng.uniform(-1, 1, COUNT), near, -near, 10 ** rng.uniform(-20, 0, COUNT)]
    )


def above_one(rng):
    return np.concatenate(
        [1 + 10 ** rng.uniform(-10, 2, COUNT), np.exp(rng.uniform(0, 709.7, COUNT))]
    )


def anything_and_huge(rng):
    return np.concatenate([anything(rng), np.exp(rng.uniform(-300, 709.7, COUNT)), [1e308, -1e308]])


def angles(rng):
    return np.concatenate([rng.uniform(-s, s, COUNT) for s in (1, 100, 1e5, 1e10)])


UNARY = {
    "exp": (anything, np.exp),
    "expm1": (anything, np.expm1),
    "exp2": (anything, np.exp2),
    "log": (positive, np.log),
    "log2": (positive, np.log2),
    "log10": (positive, np.log10),
    "log1p": (positive, np.log1p),
    "sin": (angles, np.sin),
    "cos": (angles, np.cos),
    "tan": (angles, np.tan),
    "arcsin": (within_one, np.arcsin),
    "arccos": (within_one, np.arccos),
    "arctan": (anything, np.arctan),
    "sinh": (anything, np.sinh),
    "cosh": (anything, np.cosh),
    "tanh": (anything, np.tanh),
    "arcsinh": (anything_and_huge, np.arcsinh),
    "arccosh": (above_one, np.arccosh),
    "arctanh": (within_one, np.arctanh),
    "sqrt": (positive, np.sqrt),
    "rsqrt": (positive, lambda x: 1 / np.sqrt(x)),
    "reciprocal": (anything, lambda x: 1 / x),
    "square": (anything, np.square),
    "cbrt": (anything, np.cbrt),
    "sigmoid": (anything, lambda x: 1 / (1 + np.exp(-x))),
    "degrees": (anything, lambda x: x * (180 / PI)),
    "radians": (anything, lambda x: x * (PI / 180)),
}
BINARY = {
    "power": (positive, anything, np.power),
    "arctan2": (anything, anything, np.arctan2),
    "hypot": (anything, anything, np.hypot),
    "divide": (anything, anything, np.divide),
}
SPECIAL = {
    "erf": (lambda rng: rng.uniform(-6, 6, COUNT), special.erf),
    "erfc": (lambda rng: rng.uniform(-6, 26, COUNT), special.erfc),
    "erfinv": (within_one, special.erfinv),
    "gammaln": (positive, special.gammaln),
    "digamma": (positive, special.digamma),
    "i0": (lambda rng: rng.uniform(-80, 80, COUNT), special.i0),
    "i0e": (lambda rng: rng.uniform(-700, 700, COUNT), special.i0e),
    "i1": (lambda rng: rng.uniform(-80, 80, COUNT), special.i1),
    "i1e": (lambda rng: rng.uniform(-700, 700, COUNT), special.i1e),
    "sinc": (lambda rng: rng.uniform(-0.9, 0.9, COUNT), np.sinc),
}
BEYOND_TWO = {("tanh", "float64"): 3, ("sinc", "float32"): 3}


def worst(name, dtype, arguments, exact):
    found = np.asarray(getattr(mx, name)(*(mx.array(a) for a in arguments)))
    assert found.dtype == dtype
    errors = ulps(found, exact, dtype)
    place = int(np.argmax(errors))
    return errors[place], [a[place] for a in arguments], found[place]


def cast(values, dtype):
    with np.errstate(all="ignore"):
        return values.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one(name, dtype, rng):
    domain, oracle = UNARY[name]
    x = cast(domain(rng), dtype)
    with np.errstate(all="ignore"):
        exact = oracle(x.astype(LONG))
    error, at, found = worst(name, dtype, [x], exact)
    assert error <= BEYOND_TWO.get((name, dtype), 2), f"{name}({at}) = {found}: {error} ulp"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_arccosh_below_one(dtype, rng):
    x = np.concatenate([-np.exp(rng.uniform(-300, 709, COUNT)), rng.uniform(-40, 0.999, COUNT)])
    x = np.concatenate([x, [-1e5, -1e9, -1.0, 0.0]]).clip(float(np.finfo(dtype).min))
    x = np.append(x, -np.inf)
    assert np.isnan(np.asarray(mx.arccosh(mx.array(x.astype(dtype))))).all()


@pytest.mark.parametrize("name", ["arcsinh", "arccosh", "arcsin", "arccos"])
def test_inverses_of_huge_complex_numbers(name):
    z = np.array([1e308, -1e308, 1e308j, 1e308 + 1e308j, 1.7e308 - 1e300j])
    got = np.asarray(getattr(mx, name)(mx.array(z)))
    want = getattr(np, name)(z)
    np.testing.assert_allclose(got.real, want.real, rtol=1e-14)
    np.testing.assert_allclose(got.imag, want.imag, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two(name, dtype, rng):
    first, second, oracle = BINARY[name]
    a, b = cast(first(rng), dtype), cast(second(rng), dtype)
    length = min(len(a), len(b))
    a, b = a[:length], rng.permutation(b)[:length]
    with np.errstate(all="ignore"):
        exact = oracle(a.astype(LONG), b.astype(LONG))
    error, at, found = worst(name, dtype, [a, b], exact)
    assert error <= 2, f"{name}({at}) = {found}: {error} ulp"


def among(values, others):
    """`values` at even places, `others` in turn at odd ones."""
    found = np.empty(2 * len(values), values.dtype)
    found[::2], found[1::2] = values, np.resize(others, len(values))
    return mx.array(found)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", [*UNARY, *SPECIAL, *BINARY, "remainder", "fmod", "floor_divide"])
def test_elements_do_not_depend_on_their_neighbours(name, dtype, rng):
    f, count = getattr(mx, name), 1 if name in UNARY or name in SPECIAL else 2
    domain = {**UNARY, **SPECIAL, **BINARY}.get(name, (angles,))[0]
    usual = lambda x: rng.permutation(x[np.abs(x) < 1e3])[:1000]  # noqa: E731
    arguments = [cast(usual(domain(rng)), dtype) for _ in range(count)]
    alone = np.asarray(f(*(mx.array(a) for a in arguments)))
    others = cast(np.array([6e4, 1e30, -1e300, np.inf, np.nan, 1e-40, 0.0]), dtype)
    beside = np.asarray(f(*(among(a, others) for a in arguments)))[::2]
    np.testing.assert_array_equal(alone, beside)


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_in_single_precision(name, rng):
    """Against SciPy's double precision."""
    domain, oracle = SPECIAL[name]
    x = cast(domain(rng), np.float32)
    with np.errstate(all="ignore"):
        exact = oracle(x.astype(np.float64)).astype(LONG)
    error, at, found = worst(name, "float32", [x], exact)
    assert error <= BEYOND_TWO.get((name, "float32"), 2), f"{name}({at}) = {found}: {error} ulp"


@pytest.mark.parametrize("name", SPECIAL)
def test_special_functions_in_double_precision(name, rng):
    """SciPy's own errors are of the same size, and larger near zeros of a function."""
    domain, oracle = SPECIAL[name]
    x = domain(rng)
    with np.errstate(all="ignore"):
        want = oracle(x)
    found = np.asarray(getattr(mx, name)(mx.array(x)))
    np.testing.assert_allclose(found, want, rtol=4e-15, atol=1e-15, equal_nan=True)


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_sums_of_exponentials(name, rng):
    """Relative to the larger of result and operands: the result may cancel."""
    a, b = anything(rng), rng.permutation(anything(rng))
    with np.errstate(all="ignore"):
        exact = getattr(np, name)(a.astype(LONG), b.astype(LONG))
    found = np.asarray(getattr(mx, name)(mx.array(a), mx.array(b)))
    with np.errstate(all="ignore"):
        size = np.fmax(np.abs(exact), np.fmax(np.abs(a), np.abs(b))).astype(np.float64)
        error = np.abs(found.astype(LONG) - exact) / np.spacing(size)
    finite = np.isfinite(exact.astype(np.float64))
    assert error[finite & np.isfinite(size)].max() <= 2
    assert np.array_equal(found[~finite], exact[~finite].astype(np.float64), equal_nan=True)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_means_of_integers_that_float32_cannot_hold(dtype):
    big = 20_000_001
    pair = mx.array([big, big + 2], getattr(mx, dtype))
    for function in (mx.mean, mx.median, mx.nanmean, mx.nanmedian):
        assert function(pair).item() == np.float32(big + 1)
        assert function(pair).dtype == mx.float32
    for function in (mx.var, mx.nanvar, mx.std, mx.nanstd):
        assert function(pair).item() == 1
    assert mx.average(pair, weights=mx.array([1.0, 3.0])).item() == np.float32(big + 1.5)
    if dtype.startswith("int"):
        apart = mx.array([big, 1 - big], getattr(mx, dtype))
        for function in (mx.mean, mx.median, mx.average, mx.nanmean):
            assert function(apart).item() == 0.5
