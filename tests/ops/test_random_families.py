"""Distributions computed from others: against SciPy's, at the ends of their parameters, errors."""

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_dtype, to_numpy
from scipy import stats

N = 20_000
NAN, INF = np.nan, np.inf
KEY = mx.random.key(2024)

CONTINUOUS = {
    "lognormal": (lambda **k: mx.random.lognormal(0.7, (N,), **k), stats.lognorm(0.7)),
    "lognormal moved": (
        lambda **k: mx.random.lognormal(0.3, (N,), mean=-1.0, **k),
        stats.lognorm(0.3, scale=np.exp(-1)),
    ),
    "chisquare": (lambda **k: mx.random.chisquare(3.0, (N,), **k), stats.chi2(3)),
    "chisquare below one": (lambda **k: mx.random.chisquare(0.4, (N,), **k), stats.chi2(0.4)),
    "f": (lambda **k: mx.random.f(3.0, 12.0, (N,), **k), stats.f(3, 12)),
    "f small": (lambda **k: mx.random.f(0.5, 0.8, (N,), **k), stats.f(0.5, 0.8)),
    "t": (lambda **k: mx.random.t(5.0, (N,), **k), stats.t(5)),
    "t small": (lambda **k: mx.random.t(0.5, (N,), **k), stats.t(0.5)),
    "t large": (lambda **k: mx.random.t(1e9, (N,), **k), stats.norm()),
    "vonmises": (lambda **k: mx.random.vonmises(0.0, 4.0, (N,), **k), stats.vonmises(4)),
    "vonmises weak": (lambda **k: mx.random.vonmises(0.0, 0.01, (N,), **k), stats.vonmises(0.01)),
    "vonmises strong": (
        lambda **k: mx.random.vonmises(0.0, 1e7, (N,), **k),
        stats.norm(0, 1e7**-0.5),
    ),
    "vonmises uniform": (
        lambda **k: mx.random.vonmises(0.0, 0.0, (N,), **k),
        stats.uniform(-np.pi, 2 * np.pi),
    ),
}


@pytest.mark.covers(
    "random.lognormal", "random.chisquare", "random.f", "random.t", "random.vonmises"
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name, dtype):
    """Kolmogorov-Smirnov with a fixed key."""
    draw, distribution = CONTINUOUS[name]
    sample = draw(key=KEY, dtype=getattr(mx, dtype))
    assert_dtype(sample, dtype)
    assert stats.kstest(to_numpy(sample).astype(np.float64), distribution.cdf).pvalue > 1e-3


def test_angles_are_wrapped():
    """About a direction near the end, half of the angles come out at the other end."""
    angles = to_numpy(mx.random.vonmises(np.pi, 10.0, (N,), mx.float64, KEY))
    assert (np.abs(angles) <= np.pi).all()
    assert abs((angles > 0).mean() - 0.5) < 0.02
    assert (
        stats.kstest((angles + 2 * np.pi) % (2 * np.pi) - np.pi, stats.vonmises(10).cdf).pvalue
        > 1e-3
    )


COUNTS = {
    "binomial 1": (lambda **k: mx.random.binomial(1, 0.3, (N,), **k), stats.binom(1, 0.3)),
    "binomial small": (lambda **k: mx.random.binomial(12, 0.5, (N,), **k), stats.binom(12, 0.5)),
    "binomial mirrored": (lambda **k: mx.random.binomial(30, 0.9, (N,), **k), stats.binom(30, 0.9)),
    "binomial rare": (
        lambda **k: mx.random.binomial(10**6, 3e-6, (N,), **k),
        stats.binom(10**6, 3e-6),
    ),
    "binomial": (lambda **k: mx.random.binomial(60, 0.25, (N,), **k), stats.binom(60, 0.25)),
    "binomial even": (lambda **k: mx.random.binomial(20, 0.5, (N,), **k), stats.binom(20, 0.5)),
    "binomial large": (
        lambda **k: mx.random.binomial(10**6, 0.7, (N,), **k),
        stats.binom(10**6, 0.7),
    ),
    "geometric": (lambda **k: mx.random.geometric(0.25, (N,), **k), stats.geom(0.25)),
    "geometric likely": (lambda **k: mx.random.geometric(0.9, (N,), **k), stats.geom(0.9)),
    "geometric rare": (lambda **k: mx.random.geometric(1e-4, (N,), **k), stats.geom(1e-4)),
    "multinomial": (
        lambda **k: mx.random.multinomial(40, mx.array([0.2, 0.1, 0.4, 0.3, 0.0]), (N,), **k)[:, 2],
        stats.binom(40, 0.4),
    ),
}


@pytest.mark.covers("random.binomial", "random.geometric", "random.multinomial")
@pytest.mark.parametrize("dtype", ["int32", "float64"])
@pytest.mark.parametrize("name", COUNTS)
def test_counts(name, dtype):
    """Chi-square over bins of quantiles, and the first two moments."""
    draw, distribution = COUNTS[name]
    sample = draw(key=KEY, dtype=getattr(mx, dtype))
    assert_dtype(sample, dtype)
    values = to_numpy(sample).astype(np.float64)
    assert (values == np.floor(values)).all()
    inner = np.unique(distribution.ppf([0.1, 0.3, 0.5, 0.7, 0.9]))
    inner = inner[distribution.sf(inner) > 0]
    ends = np.array([-1, *inner, np.inf])
    counts = np.histogram(values, ends + 0.5)[0]
    assert stats.chisquare(counts, np.diff(distribution.cdf(ends)) * N).pvalue > 1e-3
    error = distribution.std() / N**0.5
    assert abs(values.mean() - distribution.mean()) < 4 * error
    np.testing.assert_allclose(values.var(), distribution.var(), rtol=0.06)


def test_categories_are_correlated_as_in_the_multinomial():
    p = np.array([0.1, 0.2, 0.3, 0.4])
    for n, categories in ((50, p), (7, np.full(37, 1 / 37))):
        drawn = to_numpy(mx.random.multinomial(n, mx.array(categories), (N,), mx.float64, KEY))
        assert (drawn.sum(-1) == n).all()
        assert (drawn >= 0).all()
        want = n * (np.diag(categories) - np.outer(categories, categories))
        error = (want.max() * (1 + 2 * want.max()) / N) ** 0.5
        np.testing.assert_allclose(np.cov(drawn.T), want, atol=5 * error)
        np.testing.assert_allclose(
            drawn.mean(0), n * categories, atol=5 * (want.diagonal().max() / N) ** 0.5
        )


@pytest.mark.parametrize("categories", [1, 2, 3, 5, 8, 31])
def test_categories_that_are_impossible_are_never_drawn(categories):
    for chosen in range(categories):
        p = np.zeros(categories)
        p[chosen] = 1
        counts = mx.random.multinomial(mx.array([0, 9]), mx.array(p), key=KEY)
        assert counts.tolist() == [[0] * categories, (9 * p).tolist()]


def test_shapes():
    n, p = mx.array([[3], [5]]), mx.array([0.1, 0.2, 0.3])
    assert mx.random.binomial(n, p).shape == (2, 3)
    assert mx.random.binomial(n, p, (4, 2, 3)).shape == (4, 2, 3)
    assert mx.random.multinomial(n, mx.array([0.5, 0.5])).shape == (2, 1, 2)
    assert mx.random.multinomial(4, mx.ones((3, 2)) / 2, (5, 3)).shape == (5, 3, 2)
    assert mx.random.multinomial(4, mx.ones((0, 2)) / 2).shape == (0, 2)
    assert mx.random.geometric(p).shape == (3,)
    assert mx.random.chisquare(n).shape == (2, 1)
    assert mx.random.f(n, p).shape == (2, 3)
    assert mx.random.t(p).shape == (3,)
    assert mx.random.lognormal().shape == ()
    assert mx.random.lognormal(p, mean=n).shape == (2, 3)
    assert mx.random.vonmises(n, p).shape == (2, 3)
    assert mx.random.t(1.0, (0, 3)).shape == (0, 3)
    assert mx.random.exponential(scale=p).shape == (3,)
    assert mx.random.exponential().shape == ()
    assert mx.random.exponential(4, scale=2.0).shape == (4,)
    for dtype in (mx.float16, mx.bfloat16):
        assert mx.random.t(p, dtype=dtype).dtype == dtype
        assert mx.random.lognormal(p, dtype=dtype).dtype == dtype


def test_counts_at_the_ends_of_the_parameters():
    def binomial(n, p, dtype=mx.float64):
        return mx.random.binomial(
            mx.array(n, mx.float64), mx.array(p, mx.float64), None, dtype, KEY
        )

    assert binomial([0, 7, 7, 7.9], [0.5, 0, 1, 1]).tolist() == [0, 0, 7, 7]
    invalid = ([-1, NAN, 5, 5, 5], [0.5, 0.5, -0.1, 1.1, NAN])
    assert binomial(*invalid).tolist() == [-1] * 5
    assert binomial(*invalid, mx.int8).tolist() == [-1] * 5
    assert binomial([INF, INF], [0.0, 0.1]).tolist() == [0, INF]
    huge = to_numpy(binomial([1e15] * 1000, [0.3] * 1000))
    assert abs(huge.mean() - 3e14) < 5 * (2.1e14 / 1000) ** 0.5
    np.testing.assert_allclose(huge.var(), 2.1e14, rtol=0.2)
    assert abs(binomial([1e300], [0.25]).item() / 1e300 - 0.25) < 1e-9
    # Integers saturate where an array of trials exceeds them.
    assert binomial([1e12, 300.0], [1.0, 1.0], mx.uint8).tolist() == [255, 255]
    assert mx.random.geometric(mx.array([1.0, 0.0, -0.5, 1.5, NAN])).tolist() == [1, -1, -1, -1, -1]
    assert mx.random.geometric(mx.array([1e-30]), dtype=mx.int16).item() == 2**15 - 1
    rows = mx.random.multinomial(mx.array([-1.0, NAN, 3.0]), mx.array([0.5, 0.5])).tolist()
    assert rows[:2] == [[-1, -1], [-1, -1]]
    assert sum(rows[2]) == 3


def test_reals_at_the_ends_of_the_parameters():
    bad = mx.array([0.0, -1.0, NAN])
    for draw in (
        lambda x: mx.random.chisquare(x),
        lambda x: mx.random.t(x),
        lambda x: mx.random.f(x, 2.0),
        lambda x: mx.random.f(2.0, x),
    ):
        assert np.isnan(to_numpy(draw(bad))).all()
    negative = mx.array([-1.0, NAN])
    for draw in (
        lambda x: mx.random.lognormal(x),
        lambda x: mx.random.vonmises(0.0, x),
        lambda x: mx.random.exponential(scale=x),
        lambda x: mx.random.gamma(2.0, scale=x),
    ):
        assert np.isnan(to_numpy(draw(negative))).all()
    assert (
        mx.random.lognormal(mx.array([0.0, -0.0]), mean=2.0, dtype=mx.float64).tolist()
        == [np.exp(2.0)] * 2
    )
    assert mx.random.exponential(scale=mx.array([0.0])).item() == 0
    assert mx.random.vonmises(1.5, mx.array([INF])).item() == 1.5
    # Few degrees of freedom underflow nowhere.
    assert np.isfinite(to_numpy(mx.random.t(0.01, (1000,), mx.float64, KEY))).mean() > 0.99
    assert not np.isnan(to_numpy(mx.random.f(0.001, 0.001, (1000,), mx.float64, KEY))).any()


def test_probabilities_without_values_are_normalised():
    p = mx.array([[3.0, 1.0], [0.0, 5.0], [NAN, 1.0], [-1.0, 2.0], [0.0, 0.0]])

    def draw(row):
        return mx.random.multinomial(8, row, key=KEY)

    for rows in (mx.vmap(draw)(p).tolist(), [mx.compile(draw)(row).tolist() for row in p]):
        assert sum(rows[0]) == 8
        assert min(rows[0]) >= 0
        assert rows[1:] == [[0, 8], [-1, -1], [-1, -1], [-1, -1]]


DRAWS = {
    "lognormal": lambda k: mx.random.lognormal(mx.arange(1.0, 8.0), key=k),
    "chisquare": lambda k: mx.random.chisquare(mx.arange(1.0, 8.0), key=k),
    "f": lambda k: mx.random.f(mx.arange(1.0, 8.0), 3.0, key=k),
    "t": lambda k: mx.random.t(mx.arange(1.0, 8.0), key=k),
    "vonmises": lambda k: mx.random.vonmises(1.0, mx.arange(8.0), key=k),
    "binomial": lambda k: mx.random.binomial(mx.arange(1, 60), 0.4, key=k),
    "geometric": lambda k: mx.random.geometric(mx.arange(1.0, 8.0) / 10, key=k),
    "multinomial": lambda k: mx.random.multinomial(50, mx.full((3, 5), 0.2), key=k),
}


@pytest.mark.parametrize("name", DRAWS)
def test_keys_decide_and_may_be_mapped(name):
    draw = DRAWS[name]
    keys = mx.random.split(mx.random.key(9), 4)
    lanes = to_numpy(mx.vmap(draw)(keys))
    np.testing.assert_array_equal(lanes, np.stack([to_numpy(draw(k)) for k in keys]))
    assert (lanes[0] != lanes[1]).any()
    assert (to_numpy(draw(keys[0])) == to_numpy(mx.compile(draw)(keys[0]))).all()
    stream = mx.new_stream(mx.default_device())
    with mx.stream(stream):
        np.testing.assert_array_equal(lanes[0], to_numpy(draw(keys[0])))


def test_parameters_may_be_mapped():
    n, p = mx.arange(1, 60), mx.linspace(0.0, 1.0, 59)
    lanes = mx.vmap(lambda n, p: mx.random.binomial(n, p, (3,), key=KEY))(n, p)
    loop = [mx.random.binomial(n, p, (3,), key=KEY).tolist() for n, p in zip(n, p, strict=True)]
    assert lanes.tolist() == loop
    lanes = mx.vmap(lambda k: mx.random.vonmises(0.0, k, (3,), key=KEY))(n)
    assert lanes.tolist() == [mx.random.vonmises(0.0, k, (3,), key=KEY).tolist() for k in n]


def test_an_element_has_numbers_of_its_own():
    long = to_numpy(mx.random.binomial(mx.full((5000,), 40), 0.4, key=KEY))
    np.testing.assert_array_equal(long[:11], to_numpy(mx.random.binomial(40, 0.4, (11,), key=KEY)))


def test_a_lognormal_is_the_exponential_of_a_normal():
    z = mx.random.normal((50,), key=KEY)
    got = mx.random.lognormal(0.5, (50,), mean=2.0, key=KEY)
    np.testing.assert_allclose(to_numpy(got), np.exp(2 + 0.5 * to_numpy(z)), rtol=1e-5)


def test_gradients():
    def total(sigma, mean):
        return mx.random.lognormal(sigma, (9,), mx.float64, mean, KEY).sum()

    at = [mx.array(0.7, mx.float64), mx.array(-0.2, mx.float64)]
    slopes = mx.grad(total, argnums=(0, 1))(*at)
    for i, slope in enumerate(slopes):
        way = [np.float64(i == 0), np.float64(i == 1)]
        step = 1e-6
        ahead, behind = (
            total(*(mx.array(a.item() + s * w, mx.float64) for a, w in zip(at, way, strict=True)))
            for s in (step, -step)
        )
        np.testing.assert_allclose(
            slope.item(), (ahead.item() - behind.item()) / (2 * step), rtol=1e-6
        )
    gradient = mx.grad(lambda mu: mx.random.vonmises(mu, 2.0, (9,), key=KEY).sum())(mx.array(3.0))
    assert gradient.item() == 9
    scaled = mx.grad(lambda s: mx.random.exponential((9,), scale=s, key=KEY).sum())(mx.array(3.0))
    np.testing.assert_allclose(
        scaled.item(), mx.random.exponential((9,), key=KEY).sum().item(), rtol=1e-6
    )
    for draw, op in (
        (lambda x: mx.random.vonmises(0.0, x), "vonmises"),
        (lambda x: mx.random.chisquare(x), "gamma"),
        (lambda x: mx.random.t(x), "gamma"),
        (lambda x: mx.random.f(x, 1.0), "gamma"),
    ):
        with pytest.raises(ValueError, match=rf"\[{op}\] rejection sampling has no derivative"):
            mx.grad(lambda x, draw=draw: draw(x).sum())(mx.array([3.0]))
    for draw in (
        lambda p: mx.random.binomial(9, p, (5,), mx.float32, KEY),
        lambda p: mx.random.geometric(p, (5,), mx.float32, KEY),
        lambda p: mx.random.multinomial(9, mx.stack([p, 1 - p]), (5,), mx.float32, KEY),
    ):
        assert mx.grad(lambda p, draw=draw: draw(p).sum())(mx.array(0.3)).item() == 0


ERRORS = [
    (lambda: mx.random.lognormal(-1.0), r"\[lognormal\] sigma must not be negative, got -1"),
    (lambda: mx.random.exponential(scale=-1.0), r"\[exponential\] scale must not be negative, got"),
    (lambda: mx.random.gamma(1.0, scale=-1.0), r"\[gamma\] scale must not be negative, got -1"),
    (lambda: mx.random.chisquare(0.0), r"\[chisquare\] df must be positive, got 0"),
    (lambda: mx.random.t(NAN), r"\[t\] df must be positive, got NaN"),
    (lambda: mx.random.f(0.0, 1.0), r"\[f\] dfnum must be positive, got 0"),
    (lambda: mx.random.f(1.0, -2.0), r"\[f\] dfden must be positive, got -2"),
    (lambda: mx.random.vonmises(0.0, -1.0), r"\[vonmises\] kappa must not be negative, got -1"),
    (lambda: mx.random.vonmises(1j, 1.0), r"\[vonmises\] mu must be real, not complex64"),
    (lambda: mx.random.binomial(-1, 0.5), r"\[binomial\] n must be non-negative, got -1"),
    (lambda: mx.random.binomial(NAN, 0.5), r"\[binomial\] n must be non-negative, got NaN"),
    (lambda: mx.random.binomial(3, 1.5), r"\[binomial\] p must be in \[0, 1\], got 1.5"),
    (
        lambda: mx.random.binomial(300, 0.5, dtype=mx.uint8),
        r"\[binomial\] n must be at most 255 for uint8, got 300",
    ),
    (
        lambda: mx.random.binomial(3, 0.5, dtype=mx.bool_),
        r"\[binomial\] dtype bool is not supported, expected integers or",
    ),
    (
        lambda: mx.random.binomial(mx.ones(3), 0.5, (2,)),
        r"\[binomial\] cannot broadcast n of shape \(3,\) to \(2,\)",
    ),
    (lambda: mx.random.binomial(mx.ones(3), mx.ones(2)), r"\[binomial\] shapes \(3,\), \(2,\)"),
    (lambda: mx.random.geometric(0.0), r"\[geometric\] p must be in \(0, 1\], got 0"),
    (lambda: mx.random.geometric(0.5, key=mx.zeros(3)), r"\[geometric\] key must have shape"),
    (lambda: mx.random.t(0.5, key=mx.zeros(3)), r"\[t\] key must have shape"),
    (lambda: mx.random.f(0.5, 1.0, key=mx.zeros(3)), r"\[f\] key must have shape"),
    (lambda: mx.random.beta(0.5, 1.0, key=mx.zeros(3)), r"\[beta\] key must have shape"),
    (lambda: mx.random.lognormal(key=mx.zeros(3)), r"\[lognormal\] key must have shape"),
    (lambda: mx.random.multinomial(3, mx.zeros(0)), r"\[multinomial\] p must have at least one"),
    (lambda: mx.random.multinomial(3, 0.5), r"\[multinomial\] p must have at least one"),
    (lambda: mx.random.multinomial(3, [0.5, 0.6]), r"\[multinomial\] p must sum to 1, got 1\.1"),
    (lambda: mx.random.multinomial(3, [1.5, -0.5]), r"\[multinomial\] p must be finite and non-"),
    (lambda: mx.random.multinomial(3, [[0.0, 0.0]]), r"\[multinomial\] p must not be all zeros"),
    (
        lambda: mx.random.multinomial(mx.ones(3), mx.ones((2, 1))),
        r"\[multinomial\] cannot broadcast n of shape \(3,\) with",
    ),
    *(
        (
            lambda name=name: getattr(mx.random, name)(1.0, dtype=mx.int32),
            rf"\[{name}\] dtype int32 is not supported",
        )
        for name in ("lognormal", "chisquare", "t")
    ),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
