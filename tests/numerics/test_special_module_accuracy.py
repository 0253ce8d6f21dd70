"""Errors of `umber.core.special` in ulp, against 80-bit floats; docs/usage/accuracy.md.

References are series and identities, because SciPy itself loses digits in the tails.
"""

import numpy as np
import pytest
import umber.core as mx
from scipy import special

LONG = np.longdouble
COUNT = 1000
PI = LONG("3.14159265358979323846264338327950288")
EULER = LONG("0.57721566490153286060651209008240243")
pytestmark = pytest.mark.skipif(
    np.finfo(LONG).nmant < 60, reason="the references need floats longer than 64 bits"
)


def longs(*arguments):
    """Broadcast to one shape in extended precision."""
    return np.broadcast_arrays(*(np.asarray(a, LONG) for a in arguments))


def scaled_erfc(x):
    """`1 - erf(x)` loses nothing near zero; below, `2 exp(x²)` less the reflection."""
    a = np.abs(np.asarray(x, LONG))
    double = a.astype(np.float64)
    near = np.exp(np.minimum(a, 1) ** 2) * (1 - special.erf(double).astype(LONG))
    scaled = np.where(a < 0.5, near, special.erfcx(double).astype(LONG))
    return np.where(np.asarray(x) < 0, 2 * np.exp(a * a) - scaled, scaled)


def normal_distribution(x):
    x = np.asarray(x, LONG)
    t = np.abs(x) / np.sqrt(LONG(2))
    near = t.astype(np.float64)
    # One Taylor step from the double next to t.
    slope = 2 * near * special.erfcx(near) - 2 / np.sqrt(PI)
    tail = (special.erfcx(near) + (t - near) * slope) * np.exp(-x * x / 2) / 2
    return np.where(x < 0, tail, 1 - tail)


def upper_gamma(a, x):
    """For whole `a`: the sum of the probabilities of a Poisson distribution below `a`."""
    a, x = longs(a, x)
    term, total = np.exp(-x), np.zeros(a.shape, LONG)
    for k in range(int(a.max())):
        total += np.where(k < a, term, 0)
        term = term * x / (k + 1)
    return total


def lower_gamma(a, x):
    """For whole `a`: the same sum from `a` on."""
    a, x = longs(a, x)
    term, total = np.exp(-x), np.zeros(a.shape, LONG)
    for k in range(2000):
        total += np.where(k >= a, term, 0)
        term = term * x / (k + 1)
    return total


def beta_of_whole(a, b):
    """For whole `a`: `(a - 1)! / (b (b + 1) … (b + a - 1))`."""
    a, b = longs(a, b)
    product = 1 / b
    for k in range(1, int(a.max())):
        product = np.where(k < a, product * k / (b + k), product)
    return product


def incomplete_beta(a, b, x):
    """For whole `b`: a power of `x` times a sum of `b` positive terms."""
    a, b, x = longs(a, b, x)
    term, total = x**a, np.zeros(a.shape, LONG)
    for k in range(int(b.max())):
        total += np.where(k < b, term, 0)
        term = term * (1 - x) * (a + k) / (k + 1)
    return total


def entire_integral(x, sign):
    """The series of the exponential integral, with terms of alternating signs for E1."""
    x = np.asarray(x, LONG)
    term, total = np.ones(x.shape, LONG), np.zeros(x.shape, LONG)
    for k in range(1, 220):
        term = sign * term * x / k
        total += term / k
    return total


def ei(x):
    return EULER + np.log(np.asarray(x, LONG)) + entire_integral(x, 1)


def e1(x):
    x = np.asarray(x, LONG)
    fraction = np.zeros(x.shape, LONG)
    for k in range(400, 0, -1):
        fraction = k * k / (x + 2 * k + 1 - fraction)
    small = np.minimum(x, 2)
    series = -EULER - np.log(small) - entire_integral(small, -1)
    return np.where(x < 2, series, np.exp(-x) / (x + 1 - fraction))


def dilogarithm(z):
    """`Li₂(1 - z)` by its power series for `1 - z` in `[-1/2, 1/2]`, by identities elsewhere."""
    z = np.asarray(z, LONG)
    near = np.where(z > 1.5, 1 / z, z)
    y = np.where(near < 0.5, near, 1 - near)
    power, total = np.ones(y.shape, LONG), np.zeros(y.shape, LONG)
    for k in range(1, 90):
        power = power * y
        total += power / k / k
    reflected = PI**2 / 6 - np.log(near) * np.log1p(-near) - total
    value = np.where(near < 0.5, reflected, total)
    return np.where(z > 1.5, -(np.log(z) ** 2) / 2 - value, value)


def zeta_sum(s, q):
    """Sixty terms and four of the Euler-Maclaurin formula."""
    s, q = longs(s, q)
    total = sum((q + k) ** -s for k in range(60))
    far = q + 60
    last = far**-s
    tail = last * (far / (s - 1) + LONG(0.5)) + s * last / far / 12
    tail -= s * (s + 1) * (s + 2) * last / far**3 / 720
    tail += s * (s + 1) * (s + 2) * (s + 3) * (s + 4) * last / far**5 / 30240
    return total + tail


def second_kind(order, x):
    """`exp(x) K(x)` by the trapezoidal rule for an integral (DLMF 10.32.9)."""
    step = LONG(1) / 128
    t = step * np.arange(0, 3200, dtype=LONG)
    x = np.asarray(x, LONG)[:, None]
    # cosh t - 1 as 2 sinh² (t / 2), which does not cancel.
    with np.errstate(under="ignore"):
        terms = np.exp(-2 * x * np.sinh(t / 2) ** 2) * np.cosh(order * t)
    terms[:, 0] /= 2
    return step * terms.sum(axis=1)


def uniform(low, high):
    return lambda rng: rng.uniform(low, high, COUNT)


def magnitudes(low, high):
    return lambda rng: 10 ** rng.uniform(low, high, COUNT)


def whole(low, high):
    return lambda rng: rng.integers(low, high, COUNT).astype(np.float64)


# Arguments, reference, and the bound in ulp of float64.
TABLE = {
    "gamma": ([uniform(1, 171)], lambda x: special.gamma(x.astype(np.float64)), 10),
    "erfcx[positive]": ([magnitudes(-3, 8)], scaled_erfc, 6),
    "erfcx[negative]": ([uniform(-26, 0)], scaled_erfc, 6),
    "ndtr": ([uniform(-37, 8)], normal_distribution, 12),
    "log_ndtr[tail]": ([uniform(-37, -1)], lambda x: np.log(normal_distribution(x)), 6),
    "log_ndtr": ([uniform(-1, 8)], lambda x: np.log1p(-normal_distribution(-x)), 12),
    "logit": ([uniform(0, 1)], lambda p: np.log(p) - np.log1p(-p), 4),
    "logit[small]": ([magnitudes(-300, -1)], lambda p: np.log(p) - np.log1p(-p), 2),
    "entr": ([magnitudes(-300, 0)], lambda x: -x * np.log(x), 2),
    "rel_entr": ([uniform(0, 3), uniform(0, 3)], lambda x, y: x * (np.log(x) - np.log(y)), 4),
    "expi": ([uniform(0.5, 39)], ei, 20),
    "exp1": ([magnitudes(-10, 0.3)], e1, 20),
    "exp1[large]": ([uniform(2, 80)], e1, 20),
    "spence": ([uniform(0.01, 3)], dilogarithm, 12),
    "spence[large]": ([magnitudes(0, 30)], dilogarithm, 12),
    "zeta": ([uniform(1.1, 20), uniform(0.1, 40)], zeta_sum, 40),
    "k0": ([magnitudes(-8, 2.8)], lambda x: np.exp(-x) * second_kind(0, x), 6),
    "k0e": ([magnitudes(-8, 1.5)], lambda x: second_kind(0, x), 6),
    "k1": ([magnitudes(-8, 2.8)], lambda x: np.exp(-x) * second_kind(1, x), 6),
    "k1e": ([magnitudes(-8, 1.5)], lambda x: second_kind(1, x), 6),
    "gammaincc": ([whole(1, 150), uniform(0.1, 170)], upper_gamma, None),
    "gammainc": ([whole(1, 150), uniform(0.1, 170)], lower_gamma, None),
    "gammaincc[large]": ([whole(900, 1200), uniform(900, 1200)], upper_gamma, None),
    "betainc": ([uniform(0.1, 90), whole(1, 90), uniform(0, 1)], incomplete_beta, None),
    "betainc[large]": (
        [uniform(9e3, 1e4), whole(900, 1000), uniform(0.9, 0.92)],
        incomplete_beta,
        None,
    ),
    "beta": ([whole(1, 30), magnitudes(-2, 6)], beta_of_whole, None),
    "betaln": ([whole(1, 30), magnitudes(-2, 6)], lambda a, b: np.log(beta_of_whole(a, b)), 0),
}


@pytest.mark.parametrize("name", TABLE)
def test_errors_in_double_precision(name, rng):
    domains, oracle, bound = TABLE[name]
    arguments = [domain(rng) for domain in domains]
    function = getattr(mx.special, name.partition("[")[0])
    got = np.asarray(function(*(mx.array(a) for a in arguments)))
    assert got.dtype == np.float64
    with np.errstate(all="ignore"):
        want = np.asarray(oracle(*(a.astype(LONG) for a in arguments)), LONG)
    error = np.abs(got.astype(LONG) - want)
    unit = np.spacing(np.abs(want.astype(np.float64)))
    if bound is None:
        # A relative error like the rounding error of the logarithm.
        allowed = unit * (40 + 4 * np.abs(np.log(np.maximum(want, 1e-300))))
    elif bound == 0:
        # Relative to the largest term of the logarithm.
        allowed = 20 * np.maximum(unit, np.spacing(np.maximum(1, np.abs(want)).astype(np.float64)))
    else:
        allowed = bound * unit
    worst = int(np.argmax(error / allowed))
    at = [a[worst] for a in arguments]
    assert error[worst] <= allowed[worst], f"{at}: {got[worst]}, expected {want[worst]}"


@pytest.mark.parametrize("name", ["erfcinv", "ndtri"])
def test_inverses_of_distributions(name, rng):
    """Back and forth, the logarithm of the probability returns to within a few ulp."""
    p = np.concatenate([10 ** rng.uniform(-300, -1, COUNT), rng.uniform(0.1, 0.9, COUNT)])
    x = np.asarray(getattr(mx.special, name)(mx.array(p)), LONG)
    tail = normal_distribution(x if name == "ndtri" else -x * np.sqrt(LONG(2)))
    back = tail if name == "ndtri" else 2 * tail
    error = np.abs(np.log(back / p.astype(LONG)))
    # The rounding of x alone changes the logarithm by x² ulp.
    assert (error <= 4e-16 * (4 + 4 * x * x)).all()


def test_incomplete_gamma_of_halves(rng):
    """`Q(1/2, x) = erfc(√x)`"""
    x = 10 ** rng.uniform(-8, 2.5, COUNT)
    got = np.asarray(mx.special.gammaincc(mx.array(0.5, dtype=mx.float64), mx.array(x)))
    want = 2 * normal_distribution(-np.sqrt(2 * x.astype(LONG)))
    assert (np.abs(got / want - 1) <= 1e-15 * (10 + x)).all()


def test_high_orders_of_polygamma_and_expn(rng):
    x = 10 ** rng.uniform(-1, 1, COUNT)
    for order in (1, 3, 10):
        got = np.asarray(mx.special.polygamma(mx.array(float(order), mx.float64), mx.array(x)))
        want = zeta_sum(order + 1, x) * special.gamma(order + 1) * (-1) ** (order + 1)
        np.testing.assert_allclose(got, want.astype(np.float64), rtol=1e-14)
        got = np.asarray(mx.special.expn(mx.array(float(order), mx.float64), mx.array(x)))
        want = e1(x)
        for n in range(1, order):
            want = (np.exp(-x.astype(LONG)) - x * want) / n
        np.testing.assert_allclose(got, want.astype(np.float64), rtol=1e-13)


def bessel_sums(x):
    """Miller's recurrence for J, Neumann's series for Y₀ (DLMF 10.8.3, 10.12.4)."""
    x = np.asarray(x, LONG)
    values = {}
    above, here = np.zeros(x.shape, LONG), np.full(x.shape, LONG(1e-300))
    for n in range(140, 0, -1):
        values[n] = here
        above, here = here, 2 * n / x * here - above
    values[0] = here
    norm = here + 2 * sum(values[n] for n in range(2, 140, 2))
    values = {n: value / norm for n, value in values.items()}
    series = sum((-1) ** (k + 1) * values[2 * k] / k for k in range(1, 70))
    logarithm = np.log(x / 2) + EULER
    y0 = 2 / PI * logarithm * values[0] + 4 / PI * series
    # The Wronskian (DLMF 10.5.2) gives the other order.
    y1 = (values[1] * y0 - 2 / (PI * x)) / values[0]
    return {"j0": values[0], "j1": values[1], "y0": y0, "y1": y1}


def test_bessel_functions(rng):
    x = rng.uniform(0.5, 60, COUNT)
    want = bessel_sums(x)
    # Where J₀ is small, the Wronskian loses digits.
    is_clear = np.abs(want["j0"]) > 0.02
    amplitude = np.sqrt(2 / np.pi / x)
    for name, value in want.items():
        got = np.asarray(getattr(mx.special, name)(mx.array(x)))
        unit = np.spacing(np.maximum(amplitude, np.abs(value)).astype(np.float64))
        error = np.abs(got - value) / unit
        assert error[is_clear].max() <= 4, name
