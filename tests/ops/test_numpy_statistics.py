"""NumPy's statistics, interpolation, polynomials, windows: errors and special cases."""

import warnings

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, name_of, to_numpy

NAN, INF = float("nan"), float("inf")
AXIS = (IndexError, ValueError)


def a(*shape, dtype=None):
    return mx.zeros(shape, dtype or mx.float32)


# The call, the class (a tuple: an instance of all of them), and how the text begins.
BAD_INPUT = [
    # Windows and spacing.
    (lambda: mx.hanning(1 << 62), mx.RangeError, "[hanning]"),
    (lambda: mx.bartlett(1 << 62), mx.RangeError, "[bartlett]"),
    (lambda: mx.hamming(1 << 62), mx.RangeError, "[hamming]"),
    (lambda: mx.blackman(1 << 62), mx.RangeError, "[blackman]"),
    (lambda: mx.logspace(0, 1, -1), ValueError, "[logspace]"),
    (lambda: mx.logspace(0, "1"), TypeError, "[logspace]"),
    (lambda: mx.geomspace(0, 1), ValueError, "[geomspace]"),
    (lambda: mx.geomspace(-1, 1), ValueError, "[geomspace]"),
    (lambda: mx.geomspace(1, INF), ValueError, "[geomspace]"),
    (lambda: mx.geomspace(1, 2, -3), ValueError, "[geomspace]"),
    # Reductions that pass over NaN.
    (lambda: mx.nansum(a(2), axis=1), AXIS, "[nansum]"),
    (lambda: mx.nanprod(a(2), axis=1), AXIS, "[nanprod]"),
    (lambda: mx.nanmean(a(2), axis=1), AXIS, "[nanmean]"),
    (lambda: mx.nanvar(a(2), axis=1), AXIS, "[nanvar]"),
    (lambda: mx.nanstd(a(2), axis=1), AXIS, "[nanstd]"),
    (lambda: mx.nanmin(a(0)), ValueError, "[nanmin]"),
    (lambda: mx.nanmax(a(2, 0), axis=1), ValueError, "[nanmax]"),
    (lambda: mx.nanmax(a(2), axis=1), AXIS, "[nanmax]"),
    (lambda: mx.nanargmin(a(0)), ValueError, "[nanargmin]"),
    (lambda: mx.nanargmax(a(2), axis=1), AXIS, "[nanargmax]"),
    (lambda: mx.nanmedian(a(2), axis=1), AXIS, "[nanmedian]"),
    (
        lambda: mx.nanmean(a(2), dtype=mx.int32),
        TypeError,
        "[nanmean] dtype must be floating-point or complex for",
    ),
    *(
        (lambda name=name: getattr(mx, name)(a(2), where=a(3)), ValueError, f"[{name}]")
        for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd")
    ),
    (
        lambda: mx.nansum(a(2), initial=a(3)),
        ValueError,
        "[nansum] cannot broadcast initial value of shape (3,)",
    ),
    (
        lambda: mx.nanmin(a(2), where=a(2)),
        ValueError,
        "[nanmin] an initial value is required with a condition (where)",
    ),
    (
        lambda: mx.nanmax(mx.array([1, 2]), where=a(2)),
        ValueError,
        "[nanmax] an initial value is required with a condition (where)",
    ),
    (lambda: mx.nanmax(a(2), where=a(3), initial=0), ValueError, "[nanmax]"),
    *(
        (
            lambda name=name: getattr(mx, name)(a(2, 3), mean=a(2)),
            ValueError,
            f"[{name}] cannot broadcast mean of shape (2,) to (2, 3)",
        )
        for name in ("var", "std", "nanvar", "nanstd")
    ),
    (lambda: mx.linspace([0, 1], [1, 2, 3], 3), ValueError, "[linspace] shapes"),
    (lambda: mx.linspace([0, 1], 5, 3, axis=2), AXIS, "[linspace]"),
    (lambda: mx.linspace(0, 5, 3, axis=1), AXIS, "[linspace]"),
    (
        lambda: mx.linspace([0, 1], 5, -1),
        ValueError,
        "[linspace] number of samples must not be negative",
    ),
    (
        lambda: mx.linspace([0, 1j], 5, dtype=mx.float32),
        TypeError,
        "[linspace] dtype float32 cannot hold complex",
    ),
    (
        lambda: mx.logspace([0, 1], 1j, dtype=mx.float32),
        TypeError,
        "[logspace] dtype float32 cannot hold complex",
    ),
    (lambda: mx.logspace(0, 1, base="2"), TypeError, "[logspace] base: got str"),
    (lambda: mx.logspace([0, 1], 5, 3, axis=-3), AXIS, "[logspace]"),
    (
        lambda: mx.geomspace(1, 4j, dtype=mx.float32),
        TypeError,
        "[geomspace] dtype float32 cannot hold complex",
    ),
    (
        lambda: mx.geomspace([0, 1], 4),
        ValueError,
        "[geomspace] start and stop must be finite, non-zero",
    ),
    (
        lambda: mx.geomspace([1, 1], [4, -4]),
        ValueError,
        "[geomspace] start and stop must be finite, non-zero",
    ),
    (
        lambda: mx.geomspace(0j, 4),
        ValueError,
        "[geomspace] start and stop must be finite, non-zero",
    ),
    (lambda: mx.geomspace([1, 1], 4, axis=2), AXIS, "[geomspace]"),
    (lambda: mx.take(a(3), mx.array([0]), mode="x"), ValueError, "[take] got mode 'x'"),
    (lambda: mx.take(a(0), mx.array([0]), mode="wrap"), IndexError, "[take]"),
    (lambda: mx.zeros_like(a(3), shape=-1), ValueError, "[zeros_like]"),
    (lambda: mx.full_like(a(3), a(2), shape=(4, 3)), ValueError, "[full_like]"),
    (
        lambda: mx.nanvar(a(2), dtype=mx.int32),
        TypeError,
        "[nanvar] dtype must be floating-point or complex for",
    ),
    (
        lambda: mx.nanstd(a(2), dtype=mx.bool_),
        TypeError,
        "[nanstd] dtype must be floating-point or complex for",
    ),
    (lambda: mx.nancumsum(a(2), axis=1), AXIS, "[nancumsum]"),
    (lambda: mx.nancumprod(a(2), axis=1), AXIS, "[nancumprod]"),
    # Quantiles.
    (lambda: mx.quantile(a(2), 1.5), ValueError, "[quantile]"),
    (lambda: mx.quantile(a(2), [0.5, -0.1]), ValueError, "[quantile]"),
    (lambda: mx.quantile(a(2), NAN), ValueError, "[quantile]"),
    (lambda: mx.quantile(a(2), mx.array([2.0])), ValueError, "[quantile]"),
    (lambda: mx.quantile(a(0), 0.5), ValueError, "[quantile]"),
    (lambda: mx.quantile(a(2), 0.5, axis=1), AXIS, "[quantile]"),
    (lambda: mx.quantile(a(2), 0.5, method="best"), ValueError, "[quantile]"),
    (lambda: mx.quantile(a(2), mx.array([0])), (TypeError, ValueError), "[quantile]"),
    (lambda: mx.quantile(a(2), "half"), TypeError, "[quantile]"),
    (lambda: mx.quantile(a(2, dtype=mx.complex64), 0.5), (TypeError, ValueError), "[quantile]"),
    (lambda: mx.percentile(a(2), 101), ValueError, "[percentile]"),
    (lambda: mx.percentile(a(2), mx.array([-1])), ValueError, "[percentile]"),
    (lambda: mx.percentile(a(2), 1j), TypeError, "[percentile]"),
    (lambda: mx.quantile(a(2), mx.array(1j)), (TypeError, ValueError), "[quantile]"),
    (lambda: mx.nanquantile(a(2), 2.0), ValueError, "[nanquantile]"),
    (lambda: mx.nanpercentile(a(2), 200), ValueError, "[nanpercentile]"),
    # Selected elements.
    (lambda: mx.sum(a(2), where=mx.array([True, False, True])), ValueError, "[sum]"),
    (lambda: mx.sum(a(2, 2), axis=0, initial=mx.zeros((3,))), ValueError, "[sum]"),
    (lambda: mx.prod(a(2), where=a(2, 2)), ValueError, "[prod]"),
    (lambda: mx.min(a(2), where=mx.array([True, False])), ValueError, "[min]"),
    (lambda: mx.max(a(2), where=mx.array([True, False])), ValueError, "[max]"),
    (lambda: mx.max(a(0), dtype=mx.float64), ValueError, "[max]"),
    (lambda: mx.all(a(2), where=a(3)), ValueError, "[all]"),
    (lambda: mx.any(a(2), where=a(3)), ValueError, "[any]"),
    (lambda: mx.mean(a(2), where=a(3)), ValueError, "[mean]"),
    (lambda: mx.var(a(2), where=a(3)), ValueError, "[var]"),
    (lambda: mx.std(a(2), axis=1, where=a(2)), AXIS, "[std]"),
    # Statistics.
    (lambda: mx.ptp(a(0)), ValueError, "[ptp]"),
    (lambda: mx.ptp(a(2), axis=2), AXIS, "[ptp]"),
    (lambda: mx.ptp(a(2, dtype=mx.bool_)), (TypeError, ValueError), "[ptp]"),
    (lambda: mx.average(a(2, 3), weights=a(3)), ValueError, "[average]"),
    (lambda: mx.average(a(2, 3), axis=0, weights=a(3)), ValueError, "[average]"),
    (lambda: mx.average(a(2, 3), axis=2), AXIS, "[average]"),
    (lambda: mx.cov(a(2, 2, 2)), ValueError, "[cov]"),
    (lambda: mx.cov(a(2, 3), a(4)), ValueError, "[cov]"),
    (lambda: mx.cov(a(2, 3), aweights=a(2)), ValueError, "[cov]"),
    (lambda: mx.cov(a(2, 3), fweights=a(3)), (TypeError, ValueError), "[cov]"),
    (lambda: mx.corrcoef(a(2, 2, 2)), ValueError, "[corrcoef]"),
    # Stacking.
    (lambda: mx.hstack([]), ValueError, "[hstack]"),
    (lambda: mx.hstack(a()), TypeError, "[hstack]"),
    (lambda: mx.hstack([a(2, 2), a(3, 2)]), ValueError, "[hstack]"),
    (lambda: mx.vstack([a(2), a(3)]), ValueError, "[vstack]"),
    (lambda: mx.dstack([a(2), a(3)]), ValueError, "[dstack]"),
    (lambda: mx.column_stack([a(2), a(3)]), ValueError, "[column_stack]"),
    (lambda: mx.block([]), ValueError, "[block]"),
    (lambda: mx.block([a(2), [a(2)]]), ValueError, "[block]"),
    (lambda: mx.block([[a(2, 2)], [a(2, 3)]]), ValueError, "[block]"),
    (lambda: mx.array_split(a(3), 0), ValueError, "[array_split]"),
    (lambda: mx.array_split(a(3), 1 << 60), ValueError, "[array_split]"),
    (lambda: mx.array_split(a(3), 2, axis=1), AXIS, "[array_split]"),
    (lambda: mx.array_split(a(3), [1], axis=1), AXIS, "[array_split]"),
    (lambda: mx.hsplit(a(), 1), ValueError, "[hsplit]"),
    (lambda: mx.hsplit(a(2, 3), 2), ValueError, "[hsplit]"),
    (lambda: mx.vsplit(a(2), 2), ValueError, "[vsplit]"),
    (lambda: mx.dsplit(a(2, 2), 2), ValueError, "[dsplit]"),
    (lambda: mx.ravel(a(2), order="K"), ValueError, "[ravel]"),
    (lambda: mx.fliplr(a(2)), ValueError, "[fliplr]"),
    (lambda: mx.flipud(a()), ValueError, "[flipud]"),
    (lambda: mx.rot90(a(2, 2), axes=(0, 0)), ValueError, "[rot90]"),
    (lambda: mx.rot90(a(2, 2), axes=(0, -2)), ValueError, "[rot90]"),
    (lambda: mx.rot90(a(2)), AXIS, "[rot90]"),
    (lambda: mx.rollaxis(a(2, 2), 2), AXIS, "[rollaxis]"),
    (lambda: mx.rollaxis(a(2, 2), 0, 3), AXIS, "[rollaxis]"),
    (lambda: mx.size(a(2), axis=1), AXIS, "[size]"),
    # Interpolation.
    (lambda: mx.interp(a(2), a(3), a(4)), ValueError, "[interp]"),
    (lambda: mx.interp(a(2), a(0), a(0)), ValueError, "[interp]"),
    (lambda: mx.interp(a(2), a(3), a(3), period=0.0), ValueError, "[interp]"),
    (lambda: mx.interp(mx.array([1j]), a(3), a(3)), (TypeError, ValueError), "[interp]"),
    (lambda: mx.gradient(a(1)), ValueError, "[gradient]"),
    (lambda: mx.gradient(a(2), edge_order=2), ValueError, "[gradient]"),
    (lambda: mx.gradient(a(3), edge_order=3), ValueError, "[gradient]"),
    (lambda: mx.gradient(a(3), 1.0, 2.0), ValueError, "[gradient]"),
    (lambda: mx.gradient(a(3), a(2)), ValueError, "[gradient]"),
    (lambda: mx.gradient(a(3), axis=1), AXIS, "[gradient]"),
    (lambda: mx.gradient(a(3, 3), axis=(0, 0)), ValueError, "[gradient]"),
    (lambda: mx.trapezoid(a(3), a(2)), ValueError, "[trapezoid]"),
    (lambda: mx.trapezoid(a()), AXIS, "[trapezoid]"),
    (lambda: mx.ediff1d(mx.array([1, 2]), to_end=mx.array([1.5])), TypeError, "[ediff1d]"),
    # Polynomials.
    (lambda: mx.polyval(a(2, 2), a(2)), ValueError, "[polyval]"),
    (lambda: mx.polyval(a(5000), a(2)), ValueError, "[polyval]"),
    (lambda: mx.polyadd(a(2, 2), a(2)), ValueError, "[polyadd]"),
    (lambda: mx.polysub(a(2), a(2, 2)), ValueError, "[polysub]"),
    (lambda: mx.polymul(a(0), a(2)), ValueError, "[polymul]"),
    (lambda: mx.polyder(a(2), -1), ValueError, "[polyder]"),
    (lambda: mx.polyint(a(2), -1), ValueError, "[polyint]"),
    (lambda: mx.polyint(a(2), 1 << 40), ValueError, "[polyint]"),
    (
        lambda: mx.polyint(a(2), 3, [1.0, 2.0]),
        ValueError,
        "[polyint] k must be a number or a one-dim",
    ),
    (lambda: mx.polyint(a(2), 1, a(1, 1)), ValueError, "[polyint] k must be a number or a one-dim"),
    (lambda: mx.polyfit(a(3), a(2), 1), ValueError, "[polyfit]"),
    (
        lambda: mx.polyfit(a(2), a(2), 1, cov=True),
        ValueError,
        "[polyfit] cov needs more points than coefficients, got 2",
    ),
    (lambda: mx.polyfit(a(3), a(3), 1, cov="scaled"), ValueError, "[polyfit] cov: got 'scaled'"),
    (lambda: mx.polyfit(a(3), a(3), 1, cov=3), TypeError, "[polyfit] cov: got int, expected True"),
    (lambda: mx.polyfit(a(0), a(0), 1), ValueError, "[polyfit]"),
    (lambda: mx.polyfit(a(3), a(3), -1), ValueError, "[polyfit]"),
    (lambda: mx.polyfit(a(3), a(3), 1, w=a(2)), ValueError, "[polyfit]"),
    (lambda: mx.polyfit(a(3), a(3, dtype=mx.complex64), 1), TypeError, "[polyfit]"),
    (lambda: mx.vander(a(2, 2)), ValueError, "[vander]"),
    (lambda: mx.vander(a(2), -1), ValueError, "[vander]"),
    # Bits.
    (lambda: mx.packbits(a(2)), (TypeError, ValueError), "[packbits]"),
    (lambda: mx.packbits(mx.array([1]), axis=1), AXIS, "[packbits]"),
    (lambda: mx.packbits(mx.array([1]), bitorder="middle"), ValueError, "[packbits]"),
    (lambda: mx.unpackbits(mx.array([1])), (TypeError, ValueError), "[unpackbits]"),
    (lambda: mx.unpackbits(mx.array([1], mx.uint8), count=-9), ValueError, "[unpackbits]"),
    # Weights that count or matter less than nothing.
    (lambda: mx.cov(a(2, 3), fweights=[1, -2, 3]), ValueError, "[cov] fweights must not be neg"),
    (lambda: mx.cov(a(2, 3), aweights=[1.0, -2.0, 3.0]), ValueError, "[cov] aweights must not be"),
    (
        lambda: mx.max(a(2, 2), axis=0, initial=a(2), where=a(2, 2) > 0),
        ValueError,
        "[max] with a condition (where), the initial value must be a number, got shape (2,)",
    ),
    (
        lambda: mx.max(a(2, 2), where=a(2, 2) > 0),
        ValueError,
        "[max] an initial value is required with a condition (where)",
    ),
    # Functions of functions.
    (lambda: mx.apply_along_axis(mx.sum, 1, a(3)), AXIS, "[apply_along_axis]"),
    (lambda: mx.apply_along_axis(mx.sum, 0, a(0)), ValueError, "[apply_along_axis]"),
    (lambda: mx.apply_along_axis(lambda row: "?", 0, a(2)), TypeError, "[apply_along_axis]"),
    (lambda: mx.fromfunction(lambda i: i, (-1,)), ValueError, "[fromfunction]"),
    # Orders.
    (lambda: mx.sort(a(2), axis=1, descending=True), AXIS, "[sort]"),
    (lambda: mx.argsort(a(2), axis=1, descending=True), AXIS, "[argsort]"),
]


@pytest.mark.parametrize(
    ("call", "error", "text"), BAD_INPUT, ids=[f"{i}-{row[2]}" for i, row in enumerate(BAD_INPUT)]
)
def test_bad_input(call, error, text):
    with pytest.raises(error if not isinstance(error, tuple) else error[0]) as caught:
        mx.eval(call())
    for kind in error if isinstance(error, tuple) else (error,):
        assert isinstance(caught.value, kind)
    assert str(caught.value).startswith(text)


@pytest.mark.covers("shape", "ndim", "size", "broadcast_shapes")
def test_shapes_and_sizes():
    x = mx.zeros((2, 3, 4))
    assert mx.shape(x) == (2, 3, 4)
    assert mx.ndim(x) == 3
    assert (mx.size(x), mx.size(x, 1), mx.size(x, (0, -1))) == (24, 3, 8)
    assert (mx.shape(1.5), mx.ndim([[1]]), mx.size([1, 2])) == ((), 2, 2)
    assert mx.broadcast_shapes((2, 1), (3,), (1, 1)) == (2, 3)


@pytest.mark.covers("apply_along_axis")
def test_apply_along_axis(rng):
    values = rng.normal(size=(2, 3, 4)).astype(np.float32)
    x = mx.array(values)
    for axis in (0, 1, -1):
        for ours, theirs in (
            (mx.sum, np.sum),
            (lambda r: mx.cumsum(r), np.cumsum),
            (lambda r: mx.outer(r, r[:2]), lambda r: np.outer(r, r[:2])),
            (lambda r: 7, lambda r: 7),
        ):
            got = mx.apply_along_axis(ours, axis, x)
            np.testing.assert_allclose(
                to_numpy(got), np.apply_along_axis(theirs, axis, values), rtol=1e-5, atol=1e-6
            )
    got = mx.apply_along_axis(lambda r, k, times=1: r[k] * times, 0, x, 1, times=3)
    np.testing.assert_allclose(to_numpy(got), values[1] * 3)


def test_apply_along_axis_is_transformable():
    x = mx.array([[1.0, 2.0], [3.0, 4.0]])

    def total(x):
        return mx.apply_along_axis(lambda row: mx.square(row).sum(), 1, x).sum()

    assert mx.grad(total)(x).tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert mx.compile(total)(x).item() == 30.0
    lanes = mx.vmap(lambda row: mx.apply_along_axis(mx.sum, 0, row))(x)
    assert lanes.tolist() == [3.0, 7.0]


def test_apply_along_axis_passes_errors_on():
    def fails(row):
        raise KeyError("row")

    with pytest.raises(KeyError):
        mx.apply_along_axis(fails, 0, mx.zeros((3,)))
    assert mx.sum(mx.ones((3,))).item() == 3.0


@pytest.mark.covers("fromfunction")
def test_fromfunction():
    got = mx.fromfunction(lambda i, j, plus: i * 10 + j + plus, (2, 3), dtype=mx.int32, plus=1)
    assert name_of(got.dtype) == "int32"
    assert got.tolist() == [[1, 2, 3], [11, 12, 13]]
    assert name_of(mx.fromfunction(lambda i: i, (2,)).dtype) == "float32"
    assert mx.fromfunction(lambda i: (i, 5), 3)[1] == 5


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean", "nanmin", "nanmax", "nanmedian"])
def test_rows_without_a_number(name):
    values = np.array([[NAN, NAN], [1.0, NAN]], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = getattr(np, name)(values, axis=1)
    assert_close(to_numpy(getattr(mx, name)(mx.array(values), axis=1)), want)


# Integers hold no NaN, and NumPy rounds a variance in a dtype of integers before it is done.
NAN_DTYPES = [
    *((name, d) for name in ("nansum", "nanprod") for d in ("float64", "complex64", "int64")),
    *((name, d) for name in ("nanmean", "nanvar", "nanstd") for d in ("float32", "float64")),
    ("nanmean", "complex64"),
]


@pytest.mark.parametrize(("name", "dtype"), NAN_DTYPES)
@pytest.mark.parametrize("kind", ["float16", "float32", "int16"])
def test_nan_reductions_in_a_dtype(name, dtype, kind):
    values = np.arange(1, 13).reshape(3, 4).astype(kind)
    if kind != "int16":
        values[1, 1:] = NAN
    got = getattr(mx, name)(mx.array(values), axis=1, dtype=getattr(mx, dtype))
    want = getattr(np, name)(values, axis=1, dtype=dtype)
    assert name_of(got.dtype) == want.dtype.name
    np.testing.assert_allclose(to_numpy(got), want, rtol=1e-6)


def test_nan_sums_are_computed_in_the_dtype():
    x = mx.full((70000,), 1.0, mx.float16)
    assert mx.nansum(x, dtype=mx.float32).item() == 70000.0
    assert mx.nansum(mx.array([NAN, 2.0]), dtype=mx.int32).item() == 2
    assert mx.nanmean(mx.array([1, 4]), dtype=mx.int64).item() == 2


@pytest.mark.parametrize("name", ["median", "nanmedian"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
def test_median_of_nothing_is_nan(name, dtype):
    for shape, axis in (((0,), None), ((2, 0), 1), ((2, 0, 3), (0, 1)), ((2, 0), 0)):
        values = np.zeros(shape, dtype)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = getattr(np, name)(values, axis=axis)
        for keepdims in (False, True):
            got = getattr(mx, name)(mx.array(values), axis=axis, keepdims=keepdims)
            assert keepdims or got.shape == want.shape
            assert np.isnan(to_numpy(got)).all()
            assert name_of(got.dtype) == (dtype if "float" in dtype else "float32")


def test_dispersion_without_freedom():
    x = mx.array([[NAN, 2.0], [1.0, 2.0]])
    got = to_numpy(mx.nanvar(x, axis=1, ddof=1))
    assert np.isnan(got[0])
    assert got[1] == 0.5
    assert np.isnan(mx.nanstd(mx.array([NAN])).item())
    assert np.isnan(mx.nanvar(mx.array([INF, 1.0])).item())


@pytest.mark.parametrize("name", ["nanargmin", "nanargmax"])
def test_places_in_slices_of_nothing_but_nan(name):
    find = getattr(mx, name)
    text = rf"^\[{name}\] slice contains only NaN$"
    x = mx.array([[NAN, 1.0, 3.0], [NAN, NAN, NAN]])
    bad = [
        find(x, axis=1),
        find(x, axis=0),
        find(x.T, axis=0, keepdims=True),
        find(mx.array(NAN)),
        find(x[1]) + 1,
        mx.vmap(find)(x),
        mx.compile(find)(x[1]),
    ]
    for result in bad:
        for _ in range(2):
            with pytest.raises(ValueError, match=text):
                mx.eval(result)
    want = getattr(np, name)([NAN, 1.0, 3.0])
    assert find(x).item() == find(x[0]).item() == mx.vmap(find)(x[:1]).item() == want
    assert mx.compile(find)(x[0]).item() == want
    assert find(x[:, :0].reshape(0, 2), axis=1).shape == (0,)
    slope = mx.grad(lambda v: v[find(v)])(x[0])
    assert slope.tolist() == [float(i == want) for i in range(3)]


def test_infinities_are_numbers():
    x = mx.array([INF, NAN, 1.0])
    assert mx.nanmax(x).item() == INF
    assert mx.nanmin(mx.array([INF, NAN])).item() == INF
    assert mx.nanmax(mx.array([-INF, NAN])).item() == -INF
    assert mx.nansum(x).item() == INF
    assert mx.nanmedian(x).item() == INF


def test_gradients_pass_over_nan():
    x = mx.array([1.0, NAN, 3.0])
    assert mx.grad(mx.nansum)(x).tolist() == [1.0, 0.0, 1.0]
    assert mx.grad(mx.nanmean)(x).tolist() == [0.5, 0.0, 0.5]
    assert mx.grad(mx.nanvar)(x).tolist() == [-1.0, 0.0, 1.0]
    assert mx.grad(mx.nanmax)(x).tolist() == [0.0, 0.0, 1.0]
    assert mx.grad(mx.nanmedian)(x).tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles_beside_infinities(name):
    quantile = getattr(mx, name)
    x = mx.array([-INF, 1.0, 2.0, INF])
    parts = [0.0, 0.1, 1 / 3, 0.5, 2 / 3, 0.9, 1.0]
    # Between a number and an infinity lies the infinity.
    want = [-INF, -INF, 1.0, 1.5, 2.0, INF, INF]
    np.testing.assert_allclose(to_numpy(quantile(x, parts)), np.array(want, np.float32))
    assert quantile(mx.array([INF, INF, 1.0]), 0.75).item() == INF
    assert np.isnan(quantile(mx.array([-INF, INF]), 0.5).item())


def test_quantile_of_nan():
    x = mx.array([[1.0, NAN, 3.0], [4.0, 5.0, 6.0]])
    for method in ("linear", "nearest", "inverted_cdf"):
        got = to_numpy(mx.quantile(x, 0.5, axis=1, method=method))
        assert np.isnan(got[0])
        assert got[1] == 5.0


def test_quantiles_of_halves_do_not_overflow():
    x = mx.array([-60000.0, 60000.0], mx.float16)
    assert mx.quantile(x, 0.5).item() == 0.0
    assert mx.quantile(x, 0.75).item() == 30000.0
    assert mx.nanmean(mx.full((1000,), 60000.0, mx.float16)).item() == 60000.0


def test_quantile_keeps_integers_where_it_picks_one():
    x = mx.array([1, 2, 4], mx.int16)
    assert name_of(mx.quantile(x, 0.5, method="lower").dtype) == "int16"
    assert name_of(mx.quantile(x, 0.5).dtype) == "float32"
    assert mx.percentile(x, 50, method="nearest").item() == 2


def test_python_parts_are_exact():
    """0.1 of ten steps is one step, also from a list."""
    x = mx.arange(11)
    assert mx.quantile(x, [0.1, 0.7], method="higher").tolist() == [1, 7]
    assert mx.percentile(x, [10, 70], method="lower").tolist() == [1, 7]


def test_quantile_of_parts_not_computed_yet():
    x = mx.array([1.0, 2.0, 3.0])
    q = mx.array([0.0, 0.5]) * 1.0
    assert mx.quantile(x, q).tolist() == [1.0, 2.0]
    compiled = mx.compile(lambda x, q: mx.quantile(x, q, method="higher"))
    assert compiled(x, mx.array([0.4])).tolist() == [2.0]


def test_interp_at_and_between_points():
    xp, fp = mx.array([0.0, 1.0, 1.0, 3.0]), mx.array([0.0, 1.0, 5.0, 7.0])
    got = mx.interp(mx.array([-1.0, 0.5, 1.0, 2.0, 3.0, 4.0, NAN]), xp, fp)
    want = np.interp([-1.0, 0.5, 1.0, 2.0, 3.0, 4.0, NAN], [0, 1, 1, 3], [0, 1, 5, 7])
    np.testing.assert_allclose(to_numpy(got), want)
    assert mx.interp(2.0, mx.array([1.0]), mx.array([4.0])).item() == 4.0
    ends = mx.interp(mx.array([0.0, 2.0, 1.0]), mx.array([1.0]), mx.array([4.0]), -1, 9)
    assert ends.tolist() == [-1.0, 9.0, 4.0]


@pytest.mark.parametrize(("dtype", "scale"), [("float32", 3e38), ("float64", 1.7e308)])
def test_interp_over_wide_spans(dtype, scale):
    """Points or values whose distance is no number."""
    x = np.array([-1, -0.3, 0, 0.2, 1])
    for xp, fp, wide in (
        ([-1, 1], [1, 3], "x"),
        ([-1, 1], [-1, 1], "f"),
        ([-1, 0, 1], [-1, 1, -1], "xf"),
    ):
        factors = [scale if name in wide else 1.0 for name in "xxf"]
        operands = [np.array(v) * f for v, f in zip((x, xp, fp), factors, strict=True)]
        got = to_numpy(mx.interp(*(mx.array(operand.astype(dtype)) for operand in operands)))
        np.testing.assert_allclose(got / factors[2], np.interp(x, xp, fp), rtol=1e-6, atol=1e-6)
    lines = mx.vmap(lambda f: mx.interp(mx.array([1e38]), mx.array([-3e38, 3e38]), f))
    got = lines(mx.array([[-3e38, 3e38], [0.0, 1.0]]))
    np.testing.assert_allclose(to_numpy(got), [[1e38], [2 / 3]], rtol=1e-6)
    slope = mx.grad(lambda f: mx.interp(mx.array([0.0]), mx.array([-3e38, 3e38]), f).sum())
    assert slope(mx.array([-3e38, 3e38])).tolist() == [0.5, 0.5]
    # What lies far outside moves no point.
    places = mx.grad(lambda xp: mx.interp(mx.array([3e38]), xp, mx.array([1.0, 2.0])).sum())
    assert places(mx.array([-3e38, -2e38])).tolist() == [0.0, 0.0]


def test_interp_with_a_period(rng):
    angles = np.array([-180.0, 10.0, 190.0, 350.0], np.float32)
    values = np.array([1.0, 2.0, 5.0, -1.0], np.float32)
    places = rng.uniform(-720, 720, 50).astype(np.float32)
    got = mx.interp(mx.array(places), mx.array(angles), mx.array(values), period=360.0)
    want = np.interp(places, angles, values, period=360.0)
    np.testing.assert_allclose(to_numpy(got), want, rtol=1e-4, atol=1e-4)


def test_gradient_of_several_axes():
    x = mx.ones((3, 4))
    assert isinstance(mx.gradient(x), list)
    assert len(mx.gradient(x)) == 2
    assert isinstance(mx.gradient(x, axis=0), mx.array)
    assert mx.gradient(mx.array(1.0)) == []


def test_average_returns_the_weights():
    mean, weight = mx.average(mx.array([1, 2, 6]), weights=mx.array([1, 1, 2]), returned=True)
    assert (mean.item(), weight.item()) == (3.75, 4.0)
    assert mx.average(mx.array([1.0, 2.0]), weights=mx.array([1.0, -1.0])).item() == -INF


def test_cov_without_freedom():
    """One observation tells nothing about spread."""
    assert np.isnan(mx.cov(mx.array([3.0])).item())
    assert mx.cov(mx.zeros((0, 3))).shape == (0, 0)


def test_corrcoef_stays_within_one(rng):
    x = rng.normal(size=(4, 3)).astype(np.float32)
    got = to_numpy(mx.corrcoef(mx.array(np.concatenate([x, x * 3, -x]))))
    assert np.abs(got).max() <= 1.0


def test_polyfit_is_accurate():
    """A badly conditioned fit in single precision, against NumPy's in double."""
    x = np.linspace(0, 10, 60).astype(np.float32)
    y = np.sin(x).astype(np.float32)
    got = to_numpy(mx.polyfit(mx.array(x), mx.array(y), 9))
    want = np.polyfit(x.astype(np.float64), y.astype(np.float64), 9)
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("k", [None, 2.5, [1.0], [1.0, 2.0, 3.0]])
@pytest.mark.parametrize("m", [0, 1, 3])
def test_polyint_from_constants(k, m):
    p = [3.0, 1.0, 2.0]
    if m == 0 and k is not None:
        k = 1.0
    got = to_numpy(mx.polyint(mx.array(p), m, k))
    np.testing.assert_allclose(got, np.polyint(p, m, k), rtol=1e-6)
    assert name_of(mx.polyint(mx.array([1, 2]), 1, mx.array([1.0], mx.float64)).dtype) == "float64"


def points(rng, *columns):
    x = np.linspace(-1, 3, 9)
    y = (1 - x + x**2)[(slice(None), *(None for _ in columns))] + rng.normal(size=(9, *columns))
    return x, y


@pytest.mark.parametrize("columns", [(), (2,)])
@pytest.mark.parametrize("weighted", [False, True])
def test_polyfit_in_full(rng, columns, weighted):
    x, y = points(rng, *columns)
    w = np.linspace(1, 2, 9) if weighted else None
    inputs = [mx.array(v, mx.float64) for v in (x, y)]
    options = {"w": None if w is None else mx.array(w, mx.float64)}
    got = mx.polyfit(*inputs, 2, full=True, **options)
    want = np.polyfit(x, y, 2, full=True, w=w)
    assert len(got) == 5
    for left, right in zip(got[:4], want[:4], strict=True):
        assert left.shape == np.shape(right)
        np.testing.assert_allclose(to_numpy(left), right, rtol=1e-9)
    assert got[4] == want[4]
    for cov in (True, "unscaled"):
        got = mx.polyfit(*inputs, 2, cov=cov, **options)
        want = np.polyfit(x, y, 2, cov=cov, w=w)
        for left, right in zip(got, want, strict=True):
            assert left.shape == right.shape
            np.testing.assert_allclose(to_numpy(left), right, rtol=1e-9)


def test_polyfit_leaves_out_small_singular_values():
    x, y = np.array([1.0, 1.0, 2.0]), np.array([2.0, 4.0, 5.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fits = [(np.polyfit(x, y, 3, full=True), np.polyfit(x, y, 3, 0.1))]
        fits += [(np.polyfit(x, y, 1, 0.9, True), np.polyfit(x, y, 1, 0.9))]
    inputs = mx.array(x, mx.float64), mx.array(y, mx.float64)
    for degree, rcond, (full, plain) in zip((3, 1), (0.1, 0.9), fits, strict=True):
        got = mx.polyfit(*inputs, degree, None if degree == 3 else rcond, True)
        for left, right in zip(got[:4], full[:4], strict=True):
            assert left.shape == np.shape(right)
            np.testing.assert_allclose(to_numpy(left), right, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(to_numpy(mx.polyfit(*inputs, degree, rcond)), plain, rtol=1e-9)
    single = mx.polyfit(mx.array(x, mx.float32), mx.array(y, mx.float32), 1, full=True)
    assert {name_of(part.dtype) for part in single[:4]} == {"float32", "int32"}
    assert single[4] == 3 * np.finfo(np.float32).eps


def test_polyfit_of_too_few_places():
    """Powers that the points do not tell apart are zero; the points are met all the same."""
    x, y = mx.array([1.0, 1.0, 2.0]), mx.array([2.0, 4.0, 5.0])
    fitted = mx.polyfit(x, y, 3)
    assert np.isfinite(to_numpy(fitted)).all()
    np.testing.assert_allclose(to_numpy(mx.polyval(fitted, x)), [3.0, 3.0, 5.0], rtol=1e-5)


def test_bits_there_and_back(rng):
    bits = rng.integers(0, 2, (3, 21)).astype(bool)
    for order in ("big", "little"):
        for axis in (0, 1):
            packed = mx.packbits(mx.array(bits), axis=axis, bitorder=order)
            back = mx.unpackbits(packed, axis=axis, count=bits.shape[axis], bitorder=order)
            assert np.array_equal(to_numpy(back), bits)


def test_descending_order(rng):
    values = rng.integers(0, 5, (4, 9)).astype(np.float32)
    values[0, 3] = NAN
    x = mx.array(values)
    for axis in (0, 1, -1, None):
        got = to_numpy(mx.sort(x, axis=axis, descending=True))
        # Not-a-number comes last in either order.
        want = -np.sort(-values, axis=axis)
        assert np.array_equal(got, want, equal_nan=True)
        order = to_numpy(mx.argsort(x, axis=axis, descending=True))
        flat = values.ravel() if axis is None else values
        picked = np.take_along_axis(flat, order.astype(int), 0 if axis is None else axis)
        assert np.array_equal(picked, want, equal_nan=True)
    assert mx.argsort(mx.array([1, 2, 1, 2]), descending=True).tolist() == [1, 3, 0, 2]
    assert mx.argsort(mx.zeros((0,)), descending=True).shape == (0,)
    assert mx.sort(mx.array([2, 1]), stable=True).tolist() == [1, 2]


def test_selected_elements():
    x = mx.array([[1, 2], [3, 4]], mx.int8)
    mask = mx.array([True, False])
    assert mx.sum(x, where=mask).item() == 4
    assert mx.sum(x, where=True).item() == 10
    assert mx.sum(x, dtype=mx.int8).dtype == mx.int8
    assert mx.sum(x, axis=0, initial=10).tolist() == [14, 16]
    assert mx.max(mx.zeros((0,)), initial=-5).item() == -5
    assert mx.max(x, where=mask, initial=2).item() == 3
    assert mx.max(x, where=False, initial=2).item() == 2
    assert mx.prod(x, dtype=mx.float32).dtype == mx.float32
    assert mx.all(mx.array([0, 1]), where=mx.array([False, True])).item() is True
    assert mx.any(mx.array([1, 0]), where=mx.array([False, True])).item() is False
    assert np.isnan(mx.mean(x, where=False).item())
    assert mx.mean(x, dtype=mx.int32).item() == 2
    assert mx.mean(x, dtype=mx.float16).dtype == mx.float16
    assert mx.var(mx.array([1.0, 3.0, 100.0]), where=mx.array([1, 1, 0]), correction=1).item() == 2


def test_wide_sums_of_narrow_numbers():
    """Small integers add up in 32 bits, without a converted copy."""
    for dtype in (mx.bool_, mx.int8, mx.uint8, mx.int16, mx.uint16):
        x = mx.ones((70000,), dtype)
        assert mx.sum(x).item() == 70000
        assert mx.count_nonzero(x).item() == 70000
    assert mx.sum(mx.full((300,), 255, mx.uint8)).item() == 76500
    assert mx.sum(mx.full((2, 3), -100, mx.int8), axis=1).tolist() == [-300, -300]
    assert mx.prod(mx.full((4,), 100, mx.uint8)).item() == 10**8
    assert mx.vmap(mx.sum)(mx.full((2, 3), 100, mx.int8)).tolist() == [300, 300]


def test_sums_are_accurate(rng):
    values = rng.random(10**7, dtype=np.float32)
    exact = values.sum(dtype=np.float64)
    x = mx.array(values)
    assert abs(mx.sum(x).item() - exact) <= 1e-7 * exact
    assert abs(mx.mean(x).item() - exact / 1e7) <= 1e-7 * exact / 1e7
    assert abs(mx.nansum(x).item() - exact) <= 1e-7 * exact


def test_means_of_halves_do_not_overflow():
    x = mx.full((100_000,), 1000.0, mx.float16)
    for name in ("mean", "nanmean"):
        assert getattr(mx, name)(x).item() == 1000.0
    assert mx.var(x).item() == 0.0
    assert mx.cov(x).item() == 0.0
    assert mx.average(x, weights=x).item() == 1000.0


def test_windows_are_mlx_windows():
    mlx = pytest.importorskip("mlx.core")
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        for length in (-2, 0, 1, 2, 7, 100):
            ours, theirs = getattr(mx, name)(length), getattr(mlx, name)(length)
            assert ours.dtype == mx.float32
            np.testing.assert_allclose(to_numpy(ours), np.array(theirs), atol=1e-6)


def test_windows_are_symmetric():
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        values = to_numpy(getattr(mx, name)(1001))
        assert np.array_equal(values, values[::-1])
    assert mx.hanning(5)[0].item() == mx.hanning(5)[-1].item() == 0.0


def test_geomspace_ends_are_exact():
    got = to_numpy(mx.geomspace(3.0, 7.0, 33, dtype=mx.float64))
    assert (got[0], got[-1]) == (3.0, 7.0)
    assert mx.geomspace(1, 1000, 4, dtype=mx.int32).tolist() == [1, 10, 100, 1000]


def test_correlation_does_not_depend_on_units():
    rows = np.array([[1.0, 2, 4], [1, 3, 5], [-2, 7, 1]])
    for scale in (1e-30, 1e-24, 1e20, 1e37):
        scaled = (rows * [[scale], [1], [1 / scale]]).astype(np.float32)
        got = to_numpy(mx.corrcoef(mx.array(scaled)))
        np.testing.assert_allclose(got, np.corrcoef(rows), rtol=1e-5)


@pytest.mark.parametrize(
    "ends", [(1e-160, 1e160), (1e-300, 1e300), (1e300, 1e-300), (-1e-200, -1e200)]
)
def test_geomspace_over_more_than_a_factor_can_say(ends):
    got = to_numpy(mx.geomspace(*ends, 7, dtype=mx.float64))
    np.testing.assert_allclose(got, np.geomspace(*ends, 7), rtol=1e-12)


SPACES = [
    ("linspace", ([0, 1], [2, 3], 3), {}),
    ("linspace", ([0, 1], 5, 3), {"axis": -1}),
    ("linspace", ([0, 1], [[5], [6]], 3), {"axis": 1}),
    ("linspace", ([0, 1], [2, 3], 0), {}),
    ("linspace", ([0, 1], [2, 3], 1), {}),
    ("linspace", ([0.1], [0.7], 4), {"endpoint": False}),
    ("linspace", ([1j, 2], 3, 4), {}),
    ("logspace", ([0, 1], [2, 3], 3), {"axis": 1}),
    ("logspace", (0, 2, 3), {"base": [[2], [3]]}),
    ("logspace", (0, 1j, 3), {}),
    ("logspace", (0, 2, 3), {"base": 2j}),
    ("geomspace", ([1, -1], [4, -4], 3), {}),
    ("geomspace", (1j, 1000j, 4), {}),
    ("geomspace", (1, 1000j, 4), {}),
    ("geomspace", (1 + 1j, 4 + 2j, 3), {}),
    ("geomspace", (-1, 1, 5), {"dtype": complex}),
    ("geomspace", ([1, 2], [[4], [5]], 3), {"axis": 1}),
    ("geomspace", ([-1e-200, 1], [-1e200, 4], 5), {"endpoint": False}),
]


@pytest.mark.parametrize(("name", "ends", "options"), SPACES)
def test_numbers_between_arrays(name, ends, options):
    with np.errstate(all="ignore"):
        want = getattr(np, name)(*ends, **options)
    dtype = mx.complex128 if want.dtype.kind == "c" else mx.float64
    got = getattr(mx, name)(*ends, **options | {"dtype": dtype})
    np.testing.assert_allclose(np.array(got), want, rtol=1e-12, atol=1e-15)
    if "dtype" not in options:
        single = mx.complex64 if dtype == mx.complex128 else mx.float32
        assert getattr(mx, name)(*ends, **options).dtype == single


def test_linspace_with_its_step():
    for ends, options in (
        (([0, 1], [2, 3], 3), {}),
        ((0, 1, 1), {}),
        ((0, 1, 0), {}),
        ((0, 1, 1), {"endpoint": False}),
        ((0, 2j, 3), {}),
    ):
        got = mx.linspace(*ends, **options, retstep=True)
        want = np.linspace(*ends, **options, retstep=True)
        for ours, theirs in zip(got, want, strict=True):
            np.testing.assert_allclose(np.array(ours), theirs, rtol=1e-6)
    _, step = mx.linspace(0, 10, 4, dtype=mx.int32, retstep=True)
    assert (step.dtype, round(step.item(), 4)) == (mx.float32, 3.3333)
    _, step = mx.linspace(-1.7e308, 1.7e308, 3, dtype=mx.float64, retstep=True)
    assert step.item() == 1.7e308


def test_geomspace_between_ends_far_apart_has_a_gradient():
    ends = [mx.array([value], dtype=mx.float64) for value in (1e-200, 1e200)]
    slope = mx.grad(lambda x: mx.geomspace(x, ends[1], 3, dtype=mx.float64)[1].sum())(ends[0])
    np.testing.assert_allclose(slope.item(), 5e199, rtol=1e-12)


def test_nanmedian_of_complex_numbers(rng):
    x = rng.integers(-2, 3, (5, 6)) + 1j * rng.integers(-2, 3, (5, 6))
    x[rng.random((5, 6)) < 0.3] = NAN
    x[2], x[0, 0] = NAN, complex(1, NAN)
    for axis in (None, 0, 1, (0, 1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = np.nanmedian(x, axis=axis)
        np.testing.assert_allclose(np.array(mx.nanmedian(mx.array(x), axis=axis)), want)
    rows = mx.vmap(mx.nanmedian)(mx.array(x))
    np.testing.assert_array_equal(np.array(rows), np.array(mx.nanmedian(mx.array(x), axis=1)))
    slope = mx.grad(lambda x: mx.nanmedian(x).real)(mx.array([1 + 2j, NAN, 3, 2, 5j]))
    assert slope.tolist() == [0.5, 0, 0, 0.5, 0]


def test_quantiles_of_nothing():
    """Of what is a number, as NumPy has them: NaN. Others are refused."""
    for x, options in (
        (a(0), {}),
        (a(0, 3), {"axis": 0}),
        (mx.zeros((2, 0), mx.int32), {"axis": 1}),
    ):
        for weights in (None, mx.zeros_like(x)):
            method = "linear" if weights is None else "inverted_cdf"
            got = mx.nanquantile(x, [0.2, 0.5], method=method, weights=weights, **options)
            assert got.shape[0] == 2
            assert np.isnan(to_numpy(got)).all()
            assert np.isnan(to_numpy(mx.nanpercentile(x, 50, **options))).all()
        with pytest.raises(ValueError, match=r"^\[percentile\]"):
            mx.percentile(x, 50, **options)


def test_nan_extrema_from_a_start():
    assert mx.nanmin(a(0), initial=5.0).item() == 5.0
    assert mx.nanmax(mx.array([NAN, 2.0]), initial=NAN).item() == 2.0
    assert np.isnan(mx.nanmax(mx.array([NAN]), initial=NAN).item())
    x, mask = mx.array([[1.0, 9.0], [NAN, 7.0]]), mx.array([False, True])
    low = mx.nanmin(x, axis=1, initial=mx.array([3.0, 8.0]), where=mask)
    assert low.tolist() == [3.0, 7.0]


def test_take_beyond_the_ends():
    x = mx.array([1, 2, 3])
    beyond = mx.array([2**64 - 1, 5], dtype=mx.uint64)
    assert mx.take(x, beyond, mode="clip").tolist() == [3, 3]
    assert mx.take(x, beyond, mode="wrap").tolist() == [1, 3]
    assert mx.take(mx.arange(300), mx.array([255], mx.uint8), mode="wrap").tolist() == [255]
    assert mx.take(a(0, 3), mx.zeros((0,), mx.int32), axis=0, mode="wrap").shape == (0, 3)


def test_likenesses_of_another_shape():
    x = mx.zeros((2, 3), mx.int8)
    for function in (mx.zeros_like, mx.ones_like, mx.empty_like):
        assert (function(x, shape=5).shape, function(x, shape=()).dtype) == ((5,), mx.int8)
    assert mx.full_like(x, mx.array([1, 2]), shape=(2, 2)).tolist() == [[1, 2], [1, 2]]


@pytest.mark.parametrize("weights", ["fweights", "aweights"])
def test_cov_of_traced_weights_is_not_checked(weights):
    """Weights inside `vmap` have no values; zero weights are valid."""
    x, w = mx.array([[0.0, 1.0, 3.0], [2.0, 1.0, 5.0]]), mx.array([[1, 0, 2], [2, 1, 1]])
    batched = mx.vmap(lambda w: mx.cov(x, **{weights: w}))(w)
    for row, matrix in zip(np.array(w), np.array(batched), strict=True):
        np.testing.assert_allclose(matrix, np.cov(np.array(x), **{weights: row}), rtol=1e-5)


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
@pytest.mark.parametrize("correction", [0.5, 1.5, 3.0, 3.5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fractional_corrections(name, correction, dtype):
    x = np.array([[1.0, np.nan, 2.0, 4.0], [np.nan, np.nan, 1.0, 3.0]], dtype)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = getattr(np, name)(x, axis=1, ddof=correction)
    # NumPy gives infinity, or the root of a negative number, where nothing is left.
    expected[np.sum(~np.isnan(x), axis=1) <= correction] = np.nan
    actual = getattr(mx, name)(mx.array(x), axis=1, correction=correction)
    np.testing.assert_allclose(np.array(actual), expected, rtol=1e-6)
