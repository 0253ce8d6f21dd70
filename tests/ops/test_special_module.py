"""`umber.core.special` where the table of records does not reach: edges, derivatives, errors."""

import math

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, to_numpy
from scipy import special
from tolerances import Tolerance

INF, NAN = math.inf, math.nan
CLOSE = Tolerance(1e-13, 0.0)
SHARED = """
digamma erf erfc erfinv expm1 gammaln i0 i0e i1 i1e log1p log_softmax logsumexp softmax
"""


def at(name, *arguments, dtype=mx.float64):
    function = getattr(mx.special, name)
    return to_numpy(function(*(mx.array(argument, dtype=dtype) for argument in arguments)))


def slope(name, *arguments, argnums=0):
    """The derivatives of the function at each element."""
    function = getattr(mx.special, name)
    arrays = [mx.array(argument, dtype=mx.float64) for argument in arguments]
    return to_numpy(mx.grad(lambda *xs: function(*xs).sum(), argnums=argnums)(*arrays))


@pytest.mark.covers(
    "special.digamma",
    "special.erf",
    "special.erfc",
    "special.erfinv",
    "special.expit",
    "special.expm1",
    "special.gammaln",
    "special.i0",
    "special.i0e",
    "special.i1",
    "special.i1e",
    "special.log1p",
    "special.log_softmax",
    "special.logsumexp",
    "special.softmax",
)
def test_functions_of_core_are_shared():
    for name in SHARED.split():
        assert getattr(mx.special, name) is getattr(mx, name)
    assert mx.special.expit is mx.sigmoid


EDGES = {
    "gamma": ([0.0, -0.0, -1.0, INF, -INF, NAN, 171.0, 172.0], [INF, -INF, NAN, INF, NAN, NAN]),
    "gammasgn": ([0.0, -0.0, -1.0, INF, -INF, NAN, -0.5], [1, -1, NAN, 1, NAN, NAN, -1]),
    "loggamma": ([0.0, -0.5, -1.0, INF, NAN], [INF, NAN, NAN, INF, NAN]),
    "factorial": ([0.0, -0.5, -1.0, INF, NAN], [1, 0, 0, INF, NAN]),
    "erfcx": ([0.0, INF, -INF, NAN, -30.0], [1, 0, INF, NAN, INF]),
    "erfcinv": ([0.0, 1.0, 2.0, -1.0, 2.5, NAN], [INF, 0, -INF, NAN, NAN, NAN]),
    "ndtr": ([0.0, INF, -INF, NAN, 50.0, -50.0], [0.5, 1, 0, NAN, 1, 0]),
    "log_ndtr": ([INF, -INF, NAN], [0, -INF, NAN]),
    "ndtri": ([0.0, 0.5, 1.0, -1.0, 2.0, NAN], [-INF, 0, INF, NAN, NAN, NAN]),
    "logit": ([0.0, 0.5, 1.0, -1.0, 2.0, INF, NAN], [-INF, 0, INF, NAN, NAN, NAN, NAN]),
    "log_expit": ([INF, -INF, NAN, -1024.0], [0, -INF, NAN, -1024]),
    "entr": ([0.0, -0.0, 1.0, -1.0, INF, NAN], [0, 0, 0, -INF, -INF, NAN]),
    "expi": ([0.0, INF, -INF, NAN], [-INF, INF, 0, NAN]),
    "exp1": ([0.0, INF, -1.0, NAN], [INF, 0, NAN, NAN]),
    "spence": ([1.0, INF, -1.0, NAN], [0, -INF, NAN, NAN]),
    "zeta": ([0.0, 1.0, -2.0, -4.0, INF, NAN], [-0.5, INF, 0, 0, 1, NAN]),
}


@pytest.mark.parametrize("dtype", [mx.float32, mx.float64])
@pytest.mark.parametrize("name", EDGES)
def test_values_at_the_edges(name, dtype):
    arguments, want = EDGES[name]
    got = at(name, arguments, dtype=dtype)[: len(want)]
    assert np.array_equal(got, np.array(want, float), equal_nan=True), got


PAIRS = {
    "polygamma": ([1, 1, 2, 1, -1, 1.5, 1], [0, -3, -1, INF, 1, 1, NAN], [INF, INF, -INF, 0]),
    "gammainc": (
        [1, 1, 0, 0, INF, INF, -1, 1, NAN, 1],
        [0, INF, 1, 0, 1, INF, 1, -1, 1, NAN],
        [0, 1, 1, NAN, 0, NAN, NAN, NAN, NAN, NAN],
    ),
    "gammaincc": ([1, 1, 0, 0, INF, -1], [0, INF, 1, 0, 1, 1], [1, 0, 0, NAN, 1, NAN]),
    "beta": ([0, 1, INF, 1, -1, -2, NAN], [1, 0, 1, 1, 0.5, 1, 1], [INF, INF, 0, 1, INF, -0.5]),
    "betaln": ([0, 1, INF, 1, NAN], [1, 0, 1, 1, 1], [INF, INF, -INF, 0, NAN]),
    "zeta": ([1, 2, 2, 2.5, 0.5, NAN], [2, 0, -1, -0.5, 2, 1], [INF, INF, INF, NAN, NAN, NAN]),
    "comb": ([5, 5, -1, 5, 3, NAN], [0, 6, 1, -1, 1.5, 1], [1, 0, 0, 0]),
    "rel_entr": ([0, 0, 1, -1, NAN, 1], [1, 0, 0, 1, 1, 1], [0, 0, INF, INF, NAN, 0]),
    "kl_div": ([0, 0, 1, -1, NAN, 1], [1, 0, 0, 1, 1, 1], [1, 0, INF, INF, NAN, 0]),
    "xlogy": ([0, 0, 0, 1, 0, NAN], [0, -1, INF, 0, NAN, 1], [0, 0, 0, -INF, NAN, NAN]),
    "xlog1py": ([0, 0, 0, 1, 0], [-1, -2, INF, -1, NAN], [0, 0, 0, -INF, NAN]),
    "expn": ([0, 1, 2, 2, 1, 1.5, 3], [0, 0, 0, -1, INF, 1, NAN], [INF, INF, 1, NAN, 0, NAN, NAN]),
}


@pytest.mark.parametrize("dtype", [mx.float32, mx.float64])
@pytest.mark.parametrize("name", PAIRS)
def test_pairs_at_the_edges(name, dtype):
    first, second, want = PAIRS[name]
    got = at(name, first, second, dtype=dtype)[: len(want)]
    assert np.array_equal(got, np.array(want, float), equal_nan=True), got


def test_below_zero():
    x = np.array([-0.5, -1.25, -7.9, -33.3, -1000.25])
    for order in range(5):
        got = at("polygamma", np.full(x.shape, order), x)
        assert_close(got, special.polygamma(order, x), Tolerance(1e-12, 1e-14), f"order {order}")
    a, b = (v.ravel() for v in np.meshgrid([-0.5, -2.25, 1.5, 3.0], [-1.75, -0.3, 2.0, 6.5]))
    assert_close(at("beta", a, b), special.beta(a, b), Tolerance(1e-13, 1e-15))
    assert_close(at("gamma", x), special.gamma(x), Tolerance(2e-14, 0.0))
    s = np.array([-0.5, -1.0, -3.0, -20.5, -151.5])
    assert_close(at("zeta", s), special.zeta(s), Tolerance(1e-12, 0.0))


def test_combinations_of_whole_numbers_are_exact():
    for n in (1, 2, 10, 29, 40):
        got = at("comb", np.full(n + 1, n), np.arange(n + 1))
        assert got.tolist() == [math.comb(n, k) for k in range(n + 1)]


def test_derivatives_at_the_edges():
    assert slope("entr", [0.0, 1.0]).tolist() == [INF, -1]
    assert slope("xlogy", [0.0, 0.0], [0.0, 2.0]).tolist() == [0, math.log(2)]
    assert slope("xlogy", [0.0, 2.0], [0.0, 4.0], argnums=1).tolist() == [0, 0.5]
    assert slope("spence", [1.0]).tolist() == [-1]
    assert slope("log_ndtr", [INF, 50.0]).tolist() == [0, 0]
    assert slope("gammainc", [1.0], [0.0], argnums=1).tolist() == [1]
    assert slope("logit", [0.5]).tolist() == [4]
    assert slope("factorial", [-2.0]).tolist() == [0]
    assert slope("comb", [3.0], [5.0]).tolist() == [0]


def test_derivatives_far_out():
    """Where the terms of a formula cancel or overflow, its asymptotic form takes over."""
    x = np.array([9.0, 11.0, 1e3, 1e8])
    want = -1 / np.sqrt(np.pi) / x**2 * (1 - 1.5 / x**2 + 3.75 / x**4 - 13.125 / x**6)
    assert_close(slope("erfcx", x), want, Tolerance(3e-6, 0.0))
    assert_close(slope("erfcx", x[2:]), want[2:], Tolerance(1e-14, 0.0))
    x = np.array([-40.0, -1e4])
    assert_close(slope("log_ndtr", x), -x - 1 / x + 2 / x**3, Tolerance(1e-7, 0.0))
    # The density of the gamma distribution with many degrees of freedom.
    a, x = np.array([1e8, 1e8]), np.array([1e8, 1.0002e8])
    want = np.exp(-0.5 * ((x - a) / 1e4) ** 2) / np.sqrt(2e8 * np.pi)
    assert_close(slope("gammainc", a, x, argnums=1), want, Tolerance(5e-4, 0.0))


def test_second_derivatives_of_spence_near_one():
    second = mx.grad(mx.grad(mx.special.spence))
    for x in (1.0, 1.05, 0.95):
        h = 1e-3
        want = (slope("spence", [x + h])[0] - slope("spence", [x - h])[0]) / (2 * h)
        assert abs(second(mx.array(x, dtype=mx.float64)).item() - want) < 1e-6


def test_incomplete_beta_at_the_edges():
    a = [1, 1, 0, 0, 2, INF, 2, INF, -1, 1, 1, NAN, 1]
    b = [1, 1, 1, 0, 0, 2, INF, INF, 1, 1, 1, 1, 1]
    x = [0, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, -1, 2, 0.5, NAN]
    want = [0, 1, 1, NAN, 0, 0, 1, NAN, NAN, NAN, NAN, NAN, NAN]
    assert np.array_equal(at("betainc", a, b, x), np.array(want, float), equal_nan=True)
    # Where the continued fraction converges slowly, the complement is computed; both add up to one.
    a, b = np.array([1e-3, 7.0, 2e5, 9.0]), np.array([8.0, 2e-3, 3e5, 1e-9])
    x = np.array([1e-3, 0.905, 0.4, 0.999])
    assert_close(at("betainc", a, b, x), special.betainc(a, b, x), Tolerance(1e-11, 0.0))


def test_derivatives_of_the_incomplete_beta_function():
    x = [0.0, 0.25, 1.0]
    assert slope("betainc", [1.0] * 3, [2.0] * 3, x, argnums=2).tolist() == [2, 1.5, 0]
    ones = mx.ones(3, dtype=mx.float64)

    def density(x):
        return mx.grad(lambda x: mx.special.betainc(3 * ones, 2 * ones, x).sum())(x)

    second = mx.grad(lambda x: density(x).sum())(mx.array(x, dtype=mx.float64))
    assert_close(
        to_numpy(second), 24 * np.array(x) - 36 * np.array(x) ** 2, Tolerance(1e-13, 1e-13)
    )
    two, half = mx.array([2.0]), mx.array([0.5])
    for argnums in (0, 1):
        with pytest.raises(
            ValueError, match=r"^\[betainc\] the derivatives of betainc with respect"
        ):
            mx.grad(lambda *xs: mx.special.betainc(*xs).sum(), argnums=argnums)(two, two, half)
    with pytest.raises(ValueError, match="the derivatives of betainc with respect"):
        mx.jvp(lambda a: mx.special.betainc(a, two, half), [two], [two])


def test_numbers_take_the_dtype_of_arrays():
    half = mx.array([0.5], dtype=mx.float16)
    assert mx.special.betainc(2, 3.0, half).dtype == mx.float16
    assert mx.special.betainc(2, mx.array(3), 0.5).dtype == mx.float32
    assert mx.special.gammainc(2, half).dtype == mx.float16
    assert mx.special.zeta(2.0, half).dtype == mx.float16
    assert mx.special.betainc(mx.array(2.0, dtype=mx.float64), 3, half).dtype == mx.float64


@pytest.mark.parametrize("name", ["zeta", "polygamma", "gammainc", "gammaincc", "expn"])
def test_first_arguments_without_derivative(name):
    function = getattr(mx.special, name)
    two = mx.array([2.0])
    message = rf"the derivative of {name} with respect to its first argument is not available"
    with pytest.raises(ValueError, match=rf"^\[{name}\] {message}"):
        mx.grad(lambda a: function(a, two).sum())(two)
    with pytest.raises(ValueError, match=message):
        mx.jvp(lambda a: function(a, two), [two], [two])
    frozen = mx.grad(lambda a: function(mx.stop_gradient(a), two * a).sum())
    assert np.isfinite(to_numpy(frozen(two))).all()
    assert np.isfinite(to_numpy(mx.grad(lambda a: frozen(a).sum())(two))).all()
    pushed = mx.jvp(lambda a: function(mx.stop_gradient(a), two * a), [two], [two])[1][0]
    assert pushed.item() == 2 * frozen(two).item()


def test_float32_is_rounded_once():
    """Kernels compute float32 in double precision."""
    rng = np.random.default_rng(0)
    a, x = rng.uniform(1.1, 60, (2, 500)).astype(np.float32)
    for name in ("gammainc", "gammaincc", "betaln", "beta", "zeta"):
        narrow = at(name, a, x, dtype=mx.float32)
        wide = at(name, a.astype(np.float64), x.astype(np.float64))
        assert np.array_equal(narrow, wide.astype(np.float32)), name


def test_bad_arguments():
    with pytest.raises(TypeError, match=r"^\[gammainc\] dtype complex64 is not supported"):
        mx.special.gammainc(mx.array(1j), 1.0)
    with pytest.raises(TypeError, match=r"^\[xlogy\] dtype complex64 is not supported"):
        mx.special.xlogy(1.0, mx.array(1j))
    with pytest.raises(ValueError, match=r"^\[beta\] shapes \(2,\) and \(3,\) cannot be broadcast"):
        mx.special.beta(mx.ones(2), mx.ones(3))
    with pytest.raises(ValueError, match=r"^\[multigammaln\] d must be positive, got 0"):
        mx.special.multigammaln(mx.array(3.0), 0)
    assert math.isnan(mx.special.multigammaln(mx.array(0.5), 2).item())
