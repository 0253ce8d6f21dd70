"""NumPy's padding, histograms, sets, joins, piecewise functions: errors and special cases."""

import numpy as np
import pytest
import umber.core as mx
from arrays import to_numpy

NAN, INF = float("nan"), float("inf")
VALUE = ValueError
TYPE = (TypeError, ValueError)


def a(*shape, dtype=None):
    return mx.zeros(shape, dtype or mx.float32)


COMPLEX = a(2, dtype=mx.complex64)

BAD_INPUT = [
    (lambda: mx.dot(a(2), a(3)), VALUE, "[dot]"),
    (lambda: mx.dot(a(2, 3), a(2, 3)), VALUE, "[dot]"),
    (lambda: mx.vdot(a(2, 3), a(5)), VALUE, "[vdot]"),
    (lambda: mx.cross(a(4), a(4)), VALUE, "[linalg.cross]"),
    (lambda: mx.cross(a(3), a(3), axisa=1), (IndexError, ValueError), "[linalg.cross]"),
    (lambda: mx.cross(a(3), a(3), axisc=1), (IndexError, ValueError), "[linalg.cross]"),
    (lambda: mx.unravel_index(mx.array([1]), (2,), "K"), VALUE, "[unravel_index] order: got 'K'"),
    (
        lambda: mx.ravel_multi_index((mx.array([1]),), (2,), order="A"),
        VALUE,
        "[ravel_multi_index] order: got 'A', expected 'C' or 'F'",
    ),
    (
        lambda: mx.ravel_multi_index((mx.array([1]),), (2,), ("wrap", "clip")),
        VALUE,
        "[ravel_multi_index] got 2 modes for a shape of 1 dimension",
    ),
    (lambda: mx.modf(COMPLEX), TYPE, "[modf]"),
    (lambda: mx.fix(COMPLEX), TYPE, "[trunc]"),
    (lambda: mx.invert(a(2)), TYPE, "[bitwise_invert]"),
    (lambda: mx.diagflat(a(2), 1 << 62), (OverflowError, ValueError, MemoryError), "[diag"),
    (lambda: mx.fill_diagonal(a(3), 1), VALUE, "[fill_diagonal]"),
    (lambda: mx.fill_diagonal(a(3, 3, 4), 1), VALUE, "[fill_diagonal]"),
    (lambda: mx.fill_diagonal(a(3, 3), a(0)), VALUE, "[fill_diagonal]"),
    (lambda: mx.trim_zeros(a(3), "x"), VALUE, "[trim_zeros]"),
    (lambda: mx.trim_zeros(a(3), axis=1), (IndexError, ValueError), "[trim_zeros]"),
    (lambda: mx.vmap(mx.trim_zeros)(a(3, 2)), VALUE, "[trim_zeros]"),
    (lambda: mx.vmap(mx.real_if_close)(COMPLEX), VALUE, "[real_if_close]"),
    (lambda: mx.vmap(mx.roots)(a(3, 2)), VALUE, "[roots]"),
    (lambda: mx.roots(a(2, 2)), VALUE, "[roots]"),
    (lambda: mx.poly(a(2, 3)), VALUE, "[poly]"),
    (lambda: mx.poly(a(2, 2, 2)), VALUE, "[poly]"),
    (lambda: mx.polydiv(a(0), a(2)), VALUE, "[polydiv]"),
    (lambda: mx.polydiv(a(2, 2), a(2)), VALUE, "[polydiv]"),
    (lambda: mx.unwrap(COMPLEX), TYPE, "[unwrap]"),
    (lambda: mx.unwrap(a(3), period=0), VALUE, "[unwrap]"),
    (lambda: mx.unwrap(a(3), axis=1), (IndexError, ValueError), "[unwrap]"),
    (lambda: mx.unwrap(a(3), period="day"), TypeError, "[unwrap]"),
    (lambda: mx.kaiser(1 << 62, 1.0), mx.RangeError, "[kaiser]"),
    (lambda: mx.diff(a(3), prepend=a(2, 2)), VALUE, "[diff]"),
    (lambda: mx.diff(a(3, 2), append=a(2, 2), axis=1), VALUE, "[diff]"),
    (lambda: mx.pad(a(3), 1, "round"), VALUE, "[pad] got mode 'round'"),
    (lambda: mx.pad(a(0), 1, "wrap"), VALUE, "[pad]"),
    (lambda: mx.pad(a(2, 0), 1, "mean"), VALUE, "[pad]"),
    *(
        (
            lambda mode=mode: mx.pad(a(2, 0), 1, mode),
            VALUE,
            "[pad] cannot pad empty axis 1 of shape (2, 0)",
        )
        for mode in ("edge", "reflect", "symmetric", "wrap", "linear_ramp", "mean")
    ),
    (lambda: mx.pad(a(3), []), VALUE, "[pad] got 0 widths"),
    (lambda: mx.pad(a(3), 1, "mean", stat_length=0), VALUE, "[pad]"),
    (lambda: mx.pad(a(3), 1, "linear_ramp", end_values=a(2)), VALUE, "[pad]"),
    (lambda: mx.unique(a(3), axis=1), (IndexError, ValueError), "[unique]"),
    (lambda: mx.histogram(a(3), "best"), VALUE, "[histogram] got bins 'best'"),
    (lambda: mx.histogram_bin_edges(a(3), "best"), VALUE, "[histogram_bin_edges]"),
    (lambda: mx.histogram(a(3), "auto", weights=a(3)), TypeError, "[histogram]"),
    (lambda: mx.histogramdd(a(3, 2), (3, 3, 3)), VALUE, "[histogramdd] bins must have an entry"),
    (lambda: mx.histogramdd(a(3, 2), range=[(0, 1)]), VALUE, "[histogramdd] range must have"),
    (lambda: mx.histogramdd(a(3, 2), range=[(1, 0), None]), VALUE, "[histogramdd] range must not"),
    (lambda: mx.histogramdd(a(3, 2), 0), VALUE, "[histogramdd] number of bins must be"),
    (lambda: mx.histogramdd(a(3, 2), [[1, 0], [0, 1]]), VALUE, "[histogramdd] bin edges must"),
    (lambda: mx.histogramdd(a(3, 2), "auto"), (TypeError, VALUE), "[histogramdd]"),
    (lambda: mx.histogramdd(a(3, 2), weights=a(2)), VALUE, "[histogramdd] weights of shape (2,)"),
    (lambda: mx.histogramdd(a(3, 0)), VALUE, "[histogramdd] sample must have at least one"),
    (lambda: mx.histogramdd(a(2, 3, 4)), VALUE, "[histogramdd] sample must be a matrix"),
    (lambda: mx.histogramdd([a(3), a(2)]), VALUE, "[histogramdd] the columns"),
    (lambda: mx.histogramdd(mx.array([[NAN, 1.0]])), VALUE, "[histogramdd] the range"),
    (lambda: mx.histogramdd(a(3, 2).astype(mx.complex64)), TypeError, "[histogramdd]"),
    (lambda: mx.histogramdd(a(2, 20), 1000), (OverflowError, MemoryError), "[histogramdd]"),
    (lambda: mx.histogram2d(a(3), a(2)), VALUE, "[histogram2d] the columns"),
    (lambda: mx.histogram2d(a(3), a(3), [5]), VALUE, "[histogram2d] bins must have an entry"),
    (lambda: mx.histogram(mx.array([NAN, 1.0]), "auto"), VALUE, "[histogram]"),
    (lambda: mx.quantile(a(3), 0.5, weights=a(3)), VALUE, "[quantile]"),
    (
        lambda: mx.percentile(a(3), 5, weights=a(2) + 1, method="inverted_cdf"),
        VALUE,
        "[percentile] weights must have shape (3,), got (2,)",
    ),
    (
        lambda: mx.quantile(a(3), 0.5, weights=a(3), method="inverted_cdf"),
        VALUE,
        "[quantile] weights must not all be zero",
    ),
    (
        lambda: mx.nanquantile(a(3), 0.5, weights=a(3) - 1, method="inverted_cdf"),
        VALUE,
        "[nanquantile] weights must be finite and non-negative, got -1",
    ),
    (
        lambda: mx.quantile(a(3), 2.0, weights=a(3) + 1, method="inverted_cdf"),
        VALUE,
        "[quantile] q must be between 0 and 1, got 2",
    ),
    (
        lambda: mx.einsum(a(2, 2), [0, 52]),
        VALUE,
        "[einsum] index 52 is out of range, expected 0 to 51",
    ),
    (lambda: mx.einsum(a(2, 2), [0, 1], [0, 3]), VALUE, "[einsum]"),
    (lambda: mx.einsum(a(2, 2), 3), TypeError, ""),
    (lambda: mx.random.choice(5, (2,), size=(2,)), TypeError, "[choice]"),
    (lambda: mx.piecewise(a(3), [a(3) > 0], []), VALUE, "[piecewise]"),
    (lambda: mx.piecewise(a(3), [a(3) > 0], [1, 2, 3]), VALUE, "[piecewise]"),
    (lambda: mx.piecewise(a(3), [a(2) > 0], [1]), VALUE, "[piecewise]"),
    (lambda: mx.piecewise(a(3), [a(3)], [1]), VALUE, "[piecewise]"),
    (lambda: mx.piecewise(a(3), [a(3) > 0], [lambda x: None]), TypeError, "[piecewise]"),
    (lambda: mx.piecewise(a(3), [a(3) > 0], [lambda x: x[:2]]), VALUE, "[piecewise]"),
    *(
        (lambda name=name, args=args: getattr(mx.fft, name)(*args), error, f"[{name}]")
        for name in ("dct", "idct", "dst", "idst")
        for args, error in (
            ((a(3), 5), VALUE),
            ((a(3), 2, 0), VALUE),
            ((a(3), 2, None, 1), (IndexError, ValueError)),
            ((a(3), 2, None, -1, "best"), VALUE),
        )
    ),
    (lambda: mx.fft.dct(a(1), 1), VALUE, "[dct]"),
]


@pytest.mark.parametrize(("call", "error", "text"), BAD_INPUT)
def test_bad_input_raises(call, error, text):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(text)


def test_other_names_are_the_same_functions():
    pairs = "absolute abs, amax max, amin min, around round, bitwise_not bitwise_invert, fix trunc"
    pairs += ", invert bitwise_invert, mod remainder, row_stack vstack, true_divide divide"
    for pair in pairs.split(", "):
        alias, name = pair.split()
        assert getattr(mx, alias) is getattr(mx, name)
    assert mx.cross is mx.linalg.cross


def test_parts_keep_signs():
    values = [1.5, -2.5, INF, -INF, -0.0, -2.0, NAN]
    for got, want in zip(mx.modf(mx.array(values)), np.modf(np.float32(values)), strict=True):
        np.testing.assert_array_equal(to_numpy(got), want)
        np.testing.assert_array_equal(np.signbit(to_numpy(got))[:-1], np.signbit(want)[:-1])
    slopes = mx.grad(lambda x: mx.modf(x)[0].sum())(mx.array([1.5, -2.0]))
    assert slopes.tolist() == [1.0, 1.0]


def test_real_if_close_looks_at_values():
    x = mx.array([1 + 1e-7j, 2])
    assert mx.real_if_close(x).dtype == mx.float32
    assert mx.real_if_close(x, tol=1e-9).dtype == mx.complex64
    assert mx.real_if_close(mx.array([1, 2])).dtype == mx.int32


def test_array_equiv_of_shapes_that_do_not_broadcast():
    assert not mx.array_equiv(a(3), a(2)).item()
    assert mx.array_equiv(a(3), a(2, 3)).item()


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5), (8, 3), (0, 3), (2, 2, 2)])
@pytest.mark.parametrize("wrap", [False, True])
def test_fill_diagonal_in_place(shape, wrap):
    ours, theirs = mx.zeros(shape, mx.int32), np.zeros(shape, np.int32)
    assert mx.fill_diagonal(ours, [1, 2], wrap) is None
    np.fill_diagonal(theirs, [1, 2], wrap)
    assert ours.tolist() == theirs.tolist()


def test_trim_zeros_of_several_axes():
    x = np.zeros((4, 5, 3), int)
    x[1, 2:4, 1] = 7
    for axis in (None, 0, (0, 1), -1):
        for trim in ("fb", "f", "B"):
            got = mx.trim_zeros(mx.array(x), trim, axis)
            np.testing.assert_array_equal(to_numpy(got), np.trim_zeros(x, trim, axis))
    assert mx.trim_zeros(a(3)).shape == (0,)


def test_roots_as_numpy_finds_them():
    for p in ([1, -3, 2], [0, 0, 2, -3, 1, 0, 0], [1, 0, 1], [5], [0], [], [2, 0], [1, 2j, -1]):
        got = mx.roots(mx.array(p, dtype=mx.complex128))
        want = np.roots(np.array(p, dtype=complex))
        assert got.shape == want.shape
        np.testing.assert_allclose(
            np.sort_complex(np.round(to_numpy(got), 9)),
            np.sort_complex(np.round(want, 9)),
            atol=1e-6,
        )
    assert mx.roots(mx.array([1, 2, 3])).dtype == mx.complex64
    slope = mx.grad(lambda p: mx.real(mx.roots(p)).max())(mx.array([1.0, -3.0, 2.0]))
    # The root x of p changes by -x**k / p'(x).
    np.testing.assert_allclose(to_numpy(slope), [-4.0, -2.0, -1.0], rtol=1e-5)


def test_unwrap_as_numpy_does():
    assert mx.unwrap(mx.array([0, 1, 2, -1, 0]), period=4).dtype == mx.int32
    assert mx.unwrap(mx.array([0, 1, 2])).dtype == mx.float32
    assert mx.unwrap(a(0)).shape == (0,)
    half = [0.0, np.pi, 0.0, -np.pi, 2 * np.pi, 7.0]
    np.testing.assert_allclose(
        to_numpy(mx.unwrap(mx.array(half, dtype=mx.float64))), np.unwrap(half)
    )


@pytest.mark.parametrize("mode", ["wrap", "linear_ramp", "maximum", "mean", "median", "minimum"])
@pytest.mark.parametrize("width", [0, 1, 7, (3, 0), ((1, 2), (9, 4))])
@pytest.mark.parametrize("dtype", ["int8", "uint32", "float64"])
def test_pad_as_numpy_does(mode, width, dtype):
    x = np.random.default_rng(2).integers(0, 50, (3, 4)).astype(dtype)
    np.testing.assert_allclose(to_numpy(mx.pad(mx.array(x), width, mode)), np.pad(x, width, mode))
    for length in (1, 2, 9):
        if mode in ("maximum", "mean", "median", "minimum"):
            got = mx.pad(mx.array(x), width, mode, stat_length=length)
            want = np.pad(x, width, mode, stat_length=length)
            np.testing.assert_allclose(to_numpy(got), want)


def test_pad_of_nothing():
    assert mx.pad(a(0, 2), ((0, 0), (1, 1)), "wrap").shape == (0, 4)
    assert mx.pad(a(0), 2, "empty").shape == (4,)
    for mode in ("constant", "edge"):
        assert mx.pad(mx.array(5), [], mode).item() == 5


def test_unique_parts():
    """Rows, of what has none, with counts of all kinds, and of a size."""
    for shape, axis in (((0, 3), 0), ((3, 0), 0), ((3, 0), 1), ((2, 3), 1)):
        assert mx.unique(a(*shape), axis=axis).shape == np.unique(np.zeros(shape), axis=axis).shape
    x = mx.array([[2, 1], [1, 3], [2, 1], [1, 2]])
    values, inverse, counts = mx.unique(x, axis=0, return_inverse=True, return_counts=True)
    assert values.tolist() == [[1, 2], [1, 3], [2, 1]]
    assert inverse.tolist() == [2, 1, 2, 0]
    assert counts.tolist() == [1, 1, 2]
    assert mx.unique(x, 2, axis=0).tolist() == [[1, 2], [1, 3]]
    assert mx.unique(x, 4, axis=0, fill_value=0).tolist() == [[1, 2], [1, 3], [2, 1], [0, 0]]
    assert mx.vmap(lambda x: mx.unique(x, 1, axis=0))(mx.stack([x, x + 1])).tolist() == [
        [[1, 2]],
        [[2, 3]],
    ]
    # Not-a-number equals itself, unless it is told not to.
    y = mx.array([[NAN, 1.0], [NAN, 1.0], [0.0, NAN]])
    assert mx.unique(y, axis=0).shape == (2, 2)
    assert mx.unique(y, axis=0, equal_nan=False).shape == (3, 2)


RULES = "auto fd doane scott stone rice sturges sqrt".split()


@pytest.mark.parametrize("rule", RULES)
def test_bins_as_numpy_chooses_them(rule):
    rng = np.random.default_rng(5)
    samples = [rng.normal(size=n) * 3 + 1 for n in (1, 2, 3, 10, 200)] + [
        np.array([]),
        np.full(5, 2.0),
        np.array([0] * 20 + [1] * 30 + [1000]),
        np.array([1] * 95 + [2, 3, 4, 5, 100]),
        rng.integers(0, 9, 50),
        np.array([0.0] * 20 + [1] * 30 + [1000]),
    ]
    for x in samples:
        for limits in (None, (-2.0, 1.5)):
            with np.errstate(all="ignore"):
                want = np.histogram(x, rule, limits)
            got = mx.histogram(mx.array(x), rule, limits)
            assert got[1].shape == want[1].shape, (rule, x, limits)
            np.testing.assert_allclose(to_numpy(got[1]), want[1], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("dtype", "scale"), [("float32", 3e38), ("float64", 1.7e308)])
@pytest.mark.parametrize("part", [1.0, 1e-30])
def test_bins_of_wide_and_narrow_ranges(rule, dtype, scale, part):
    x = np.random.default_rng(5).normal(size=100)
    x /= np.abs(x).max()
    got = to_numpy(mx.histogram(mx.array((x * (scale * part)).astype(dtype)), rule)[1])
    want = np.histogram(x.astype(dtype), rule)[1]
    np.testing.assert_allclose(got / (scale * part), want, rtol=1e-5, atol=1e-6)


POINTS = np.random.default_rng(5).normal(size=(300, 3))
GRIDS = {
    "default": {},
    "numbers": {"bins": (4, 1, 7)},
    "number": {"bins": 5},
    "edges": {"bins": ([-1, 0, 0, 2], [-3, 3], np.linspace(-1, 1, 4))},
    "mixed": {"bins": (3, [-1, 0.5, 2], 2), "range": ((-1, 1), None, (0, 0))},
    "ranges": {"bins": 3, "range": [[-1, 1], [0, 2], (-9, 9)]},
    "density": {"bins": ([-1, -0.5, 2], 3, 2), "density": True},
    "weights": {"bins": 2, "weights": np.arange(300.0)},
    "weighted density": {"bins": 2, "weights": np.arange(300.0), "density": True},
}


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("sample", ["matrix", "columns", "lists"])
def test_histograms_over_several_axes(name, sample):
    options = GRIDS[name]
    x = {
        "matrix": mx.array(POINTS, mx.float64),
        "columns": [mx.array(column, mx.float64) for column in POINTS.T],
        "lists": list(POINTS.T),
    }[sample]
    counts, edges = mx.histogramdd(x, **options)
    want, want_edges = np.histogramdd(POINTS, **options)
    assert isinstance(edges, tuple)
    np.testing.assert_allclose(to_numpy(counts), want, rtol=1e-12)
    for got, edge in zip(edges, want_edges, strict=True):
        np.testing.assert_allclose(to_numpy(got), edge, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("bins", [4, [3, 2], [-1, 0, 0.5, 2], ([-1, 0, 1], 3), (2, [-1, 0, 1])])
@pytest.mark.parametrize("density", [False, True])
def test_histograms_of_the_plane(bins, density):
    x, y = POINTS[:, 0], POINTS[:, 1]
    got = mx.histogram2d(mx.array(x, mx.float64), mx.array(y, mx.float64), bins, density=density)
    for result, want in zip(got, np.histogram2d(x, y, bins, density=density), strict=True):
        np.testing.assert_allclose(to_numpy(result), want, rtol=1e-12, atol=1e-12)


def test_points_outside_of_a_grid():
    nan, inf = np.nan, np.inf
    x = mx.array([[0.0, 0.0], [2.0, 2.0], [nan, 1.0], [1.0, inf], [-1.0, 1.0], [1.0, 2.0]])
    counts, _ = mx.histogramdd(x, [[0.0, 1.0, 2.0]] * 2)
    assert counts.tolist() == [[1, 0], [0, 2]]
    assert counts.dtype == mx.int32
    assert mx.histogramdd(mx.zeros((0, 2)), 3)[0].tolist() == [[0] * 3] * 3
    assert mx.histogramdd(x[:2], ([1.0], 2))[0].shape == (0, 2)
    # One axis, as a vector or as a list of numbers.
    for one in (mx.array([1, 2, 2]), [1, 2, 2], mx.array([[1], [2], [2]])):
        counts, (edges,) = mx.histogramdd(one, 2)
        assert (counts.tolist(), edges.tolist()) == ([1, 2], [1.0, 1.5, 2.0])
    # Columns may have different dtypes.
    counts, edges = mx.histogramdd([mx.array([1, 2]), mx.array([0.5, 0.5])], [2, [0.0, 1.0]])
    assert counts.tolist() == [[1], [1]]
    assert [edge.dtype for edge in edges] == [mx.float32, mx.float32]


def test_densities_of_wide_grids():
    x = np.array([[-1.0, 0.0], [0.2, 0.5], [1.0, 1.0]])
    got = mx.histogramdd(mx.array(x * [3e38, 1.0]), 1, density=True)[0]
    np.testing.assert_allclose(to_numpy(got) * 6e38, [[1.0]], rtol=1e-5)


def test_histogram_with_a_rule_and_density():
    x = np.random.default_rng(1).normal(size=100)
    got = mx.histogram(mx.array(x, dtype=mx.float64), "fd", density=True)
    np.testing.assert_allclose(to_numpy(got[0]), np.histogram(x, "fd", density=True)[0], rtol=1e-12)


def test_weighted_quantiles():
    x = np.random.default_rng(0).normal(size=(4, 6))
    w = np.random.default_rng(1).uniform(0, 1, (4, 6))
    w[:, :2] = 0
    q = [0.0, 0.2, 0.5, 0.93, 1.0]
    for axis in (0, 1, None):
        got = mx.quantile(
            mx.array(x, dtype=mx.float64),
            q,
            axis,
            method="inverted_cdf",
            weights=mx.array(w + (axis == 0)),
            keepdims=True,
        )
        want = np.quantile(
            x, q, axis, method="inverted_cdf", weights=w + (axis == 0), keepdims=True
        )
        np.testing.assert_array_equal(to_numpy(got), want)
    options = {"method": "inverted_cdf", "weights": mx.array([1.0, 1.0])}
    assert np.isnan(mx.quantile(mx.array([1.0, NAN]), 0.5, **options).item())
    assert mx.nanquantile(mx.array([1.0, NAN]), 0.5, **options).item() == 1.0
    assert np.isnan(mx.nanquantile(mx.array([NAN, NAN]), 0.5, **options).item())


def test_choice_by_size():
    key = mx.random.key(3)
    by_size = mx.random.choice(9, size=(2, 3), key=key)
    assert by_size.tolist() == mx.random.choice(9, (2, 3), key=key).tolist()


def test_einsum_takes_lists_of_numbers():
    x, y = mx.array([[1.0, 2.0], [3.0, 4.0]]), mx.array([[1.0, 0.0], [1.0, 1.0]])
    want = mx.einsum("ij,jk->ik", x, y).tolist()
    assert mx.einsum(x, [0, 1], y, [1, 2], [0, 2]).tolist() == want
    assert mx.einsum(x, [0, 1], y, [1, 2]).tolist() == want
    assert mx.einsum(x, [26, 0], [0, 26]).tolist() == x.T.tolist()
    assert mx.einsum("ij,jk", x, y, optimize="greedy").tolist() == want
    assert (
        mx.einsum_path(x, [0, 1], y, [1, 2], optimize=True)[0] == mx.einsum_path("ij,jk", x, y)[0]
    )


def test_piecewise_as_numpy_does():
    x = np.linspace(-2, 2, 9, dtype=np.float32)
    ours = mx.array(x)
    cases = [
        (lambda m, x: m.piecewise(x, [x < 0, x >= 1], [-1, 1])),
        (lambda m, x: m.piecewise(x, [x < 0, x > 1], [lambda v, k: v, lambda v, k: v * k, 9], 3)),
        (lambda m, x: m.piecewise(x, x > 0, [lambda v: v**2, lambda v: -v])),
        (lambda m, x: m.piecewise(x, [x > 9], [7])),
    ]
    for case in cases:
        np.testing.assert_allclose(to_numpy(case(mx, ours)), case(np, x), rtol=1e-6)

    # A function sees only what is its own: no NaN, and no NaN in the gradient either.
    def root(x):
        return mx.piecewise(x, [x > 0], [mx.sqrt, 0])

    assert root(mx.array([-1.0, 4.0])).tolist() == [0.0, 2.0]
    assert mx.grad(lambda x: root(x).sum())(mx.array([-1.0, 4.0])).tolist() == [0.0, 0.25]
    assert mx.compile(root)(mx.array([-1.0, 4.0])).tolist() == [0.0, 2.0]
    assert mx.vmap(root)(mx.array([[-1.0], [4.0]])).tolist() == [[0.0], [2.0]]
    assert mx.piecewise(mx.array([1, 2]), [mx.array([True, False])], [1.7]).tolist() == [1, 0]
    assert mx.piecewise(a(0), [a(0) > 0], [mx.sqrt]).shape == (0,)
    with pytest.raises(ZeroDivisionError):
        mx.piecewise(a(2), [a(2) == 0], [lambda x: 1 / 0])


def test_casts_to_integers_count_as_the_identity():
    """As in MLX: rounding to integers has the slope of what it rounds."""
    x = mx.array([1.5, 2.5])
    assert mx.grad(lambda x: x.astype(mx.int32).sum())(x).tolist() == [1.0, 1.0]
    assert mx.grad(lambda x: (x.astype(mx.int32) * x).sum())(x).tolist() == [2.5, 4.5]
    assert mx.grad(lambda x: mx.trunc(x).sum())(x).tolist() == [0.0, 0.0]


def test_integers_that_do_not_fit_are_not_drawn():
    for low, high, dtype in ((0, 300, mx.uint8), (-5, 5, mx.uint8), (0, 2**31 + 1, mx.int32)):
        message = rf"\[randint\] \[{low}, {high}\) does not fit {str(dtype).rpartition('.')[2]} \("
        with pytest.raises(ValueError, match=message):
            mx.random.randint(low, high, (5,), dtype=dtype)
    assert mx.random.randint(0, 256, (5,), dtype=mx.uint8).dtype == mx.uint8
    assert mx.random.randint(-128, 128, (5,), dtype=mx.int8).dtype == mx.int8
    assert mx.random.randint(0, 300, (0,), dtype=mx.uint8).shape == (0,)
    assert mx.random.randint(0, 2**64 - 1, (3,), dtype=mx.uint64).shape == (3,)
    for rate, dtype in ((3e9, mx.int32), (300.0, mx.uint8), (INF, mx.int64)):
        with pytest.raises(
            ValueError, match=r"\[poisson\] rate \w+ is too large for u?int\d+; the maximum"
        ):
            mx.random.poisson(rate, (3,), dtype=dtype)
    large = mx.random.poisson(mx.array([1e12, INF, 2.0]), dtype=mx.int32)
    assert large.tolist()[:2] == [2**31 - 1] * 2
    assert mx.random.poisson(mx.array([1e30]), dtype=mx.int64).item() == 2**63 - 1


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_casts_from_half_precision_round(dtype):
    """However its value was made, a 16-bit float has 16 bits where it is cast."""
    x = mx.array(np.linspace(0.1, 3.0, 1000), dtype=dtype)
    for function in (lambda x: x * x, lambda x: mx.exp(x) + x, lambda x: mx.where(x > 1, x / 3, x)):
        made = function(x)
        mx.eval(made)
        want = made.astype(mx.float32)
        got = function(x).astype(mx.float32)
        np.testing.assert_array_equal(to_numpy(got), to_numpy(want))
        compiled = mx.compile(lambda x, f=function: f(x).astype(mx.float32) * 1.5)(x)
        np.testing.assert_array_equal(to_numpy(compiled), to_numpy(want * 1.5))
        whole = function(x * 50).astype(mx.int32)
        made = function(x * 50)
        mx.eval(made)
        assert whole.tolist() == made.astype(mx.int32).tolist()
    back = (mx.array([2049.3]) * 1.0).astype(dtype).astype(mx.float32)
    assert back.item() == {mx.float16: 2050.0, mx.bfloat16: 2048.0}[dtype]


def test_cross_along_axes_of_each_operand(rng):
    x, y = rng.normal(size=(3, 4, 2)), rng.normal(size=(4, 2, 3))
    for options in ({"axisa": 0}, {"axisa": 0, "axisc": 1}, {"axisa": -3, "axisb": 2, "axisc": 0}):
        got = mx.cross(mx.array(x, mx.float64), mx.array(y, mx.float64), **options)
        want = np.cross(x, y, **options)
        assert got.shape == want.shape
        np.testing.assert_allclose(to_numpy(got), want, rtol=1e-12)
    # `axis` goes before the others.
    got = mx.cross(mx.array(x, mx.float64), mx.array(x[::-1], mx.float64), 0, axisa=1, axisc=2)
    np.testing.assert_allclose(to_numpy(got), np.cross(x, x[::-1], axis=0), rtol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
def test_places_and_coordinates_in_an_order(order):
    shape, places = (3, 4, 5), np.array([[0, 7], [33, 59]])
    got = mx.unravel_index(mx.array(places), shape, order)
    want = np.unravel_index(places, shape, order)
    assert [part.tolist() for part in got] == [part.tolist() for part in want]
    assert mx.ravel_multi_index(got, shape, order=order).tolist() == places.tolist()
    outside = (mx.array([-1, 3]), mx.array([4, 1]), mx.array([9, -9]))
    for mode in ("wrap", "clip", ("wrap", "clip", "wrap"), ("clip", "clip", "wrap")):
        want = np.ravel_multi_index(tuple(np.asarray(o) for o in outside), shape, mode, order)
        assert mx.ravel_multi_index(outside, shape, mode, order).tolist() == want.tolist()


JOINED = ("concatenate", "concat", "stack", "hstack", "vstack", "dstack", "column_stack")


@pytest.mark.parametrize("name", JOINED)
@pytest.mark.parametrize("shape", [(2, 2), (3, 2, 4)])
def test_joins_take_an_array_as_its_parts(name, shape):
    x = mx.arange(float(np.prod(shape))).reshape(shape)
    found, wanted = getattr(mx, name)(x), getattr(np, name)(np.array(x))
    assert found.tolist() == wanted.tolist()
    weights = mx.arange(1.0, found.size + 1).reshape(found.shape)
    gradients = [
        mx.grad(lambda x: (getattr(mx, name)(parts(x)) * weights).sum())(x)  # noqa: B023
        for parts in (lambda x: x, list)
    ]
    assert gradients[0].tolist() == gradients[1].tolist()


def test_an_array_of_vectors_is_a_sequence_of_them():
    x = mx.arange(4.0).reshape(2, 2)
    assert mx.concatenate(x, axis=None).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert mx.stack(mx.arange(3)).tolist() == [0, 1, 2]
    assert mx.stack(x, axis=1).tolist() == [[0.0, 2.0], [1.0, 3.0]]
    squares = mx.stack([x, x])
    assert mx.linalg.multi_dot(squares).tolist() == (x @ x).tolist()
    for join in (mx.stack, mx.vstack, mx.linalg.multi_dot):
        with pytest.raises(TypeError, match=r"^\[\w+\] got a 0-d array, expected"):
            join(mx.array(1.0))
