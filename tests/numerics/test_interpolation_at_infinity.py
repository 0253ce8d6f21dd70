"""Values between others, some of which are infinite: the limit where there is one, else NaN."""

import numpy as np
import pytest
import umber.core as mx
from arrays import to_numpy

INF, NAN = np.inf, np.nan
ENDS = [
    ((INF, INF), INF),
    ((-INF, -INF), -INF),
    ((INF, 3.0), INF),
    ((3.0, INF), INF),
    ((-INF, 3.0), -INF),
    ((3.0, -INF), -INF),
    ((INF, -INF), NAN),
    ((-INF, INF), NAN),
    ((NAN, 1.0), NAN),
    ((INF, NAN), NAN),
]
DTYPES = ["float16", "bfloat16", "float32", "float64"]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize(("values", "between"), ENDS)
def test_interpolation(values, between, name):
    dtype = getattr(mx, name)
    xp, fp = mx.array([0.0, 1.0], dtype=dtype), mx.array(values, dtype=dtype)
    places = mx.array([-1.0, 0.0, 0.25, 0.5, 1.0, 2.0], dtype=dtype)
    want = [values[0], values[0], between, between, values[1], values[1]]
    interp = lambda x: mx.interp(x, xp, fp)  # noqa: E731
    for got in (interp(places), mx.compile(interp)(places), mx.vmap(interp)(places)):
        np.testing.assert_array_equal(to_numpy(got), want)
    np.testing.assert_array_equal(to_numpy(mx.interp(mx.array(0.5, dtype=dtype), xp, fp)), between)
    wrapped = mx.interp(mx.array([0.5, 1.5], dtype=dtype), xp, fp, period=2.0)
    np.testing.assert_array_equal(to_numpy(wrapped), [between, between])


def test_gradients_of_interpolation_beside_infinite_values():
    xp, fp = mx.array([0.0, 1.0, 2.0, 3.0]), mx.array([mx.inf, mx.inf, 1.0, 3.0])
    places = mx.array([0.5, 2.5, 2.75])
    of_places = mx.grad(lambda x: mx.interp(x, xp, fp).sum())(places)
    assert of_places.tolist() == [0, 2, 2]
    of_values = mx.grad(lambda f: mx.interp(places[1:], xp, f).sum())(fp)
    assert of_values.tolist() == [0, 0, 0.75, 1.25]


METHODS = ["linear", "midpoint", "hazen", "weibull", "median_unbiased", "normal_unbiased"]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("values", "between"), ENDS)
def test_quantiles(values, between, method, name):
    if np.isnan(values).any():
        return
    x = mx.array(values, dtype=getattr(mx, name))
    for got in (
        mx.quantile(x, 0.5, method=method),
        mx.nanquantile(x, 0.5, method=method),
        mx.percentile(x, 50.0, method=method),
        mx.median(x),
        mx.nanmedian(x),
        mx.nanmedian(mx.concatenate([x, mx.array([mx.nan], dtype=x.dtype)])),
    ):
        np.testing.assert_array_equal(to_numpy(got), between)
    for part, end in ((0.0, min(values)), (1.0, max(values))):
        assert mx.quantile(x, part, method=method).item() == end


def test_gradients_of_quantiles_beside_infinite_values():
    x = mx.array([1.0, 2.0, mx.inf, mx.inf])
    assert mx.grad(lambda x: mx.quantile(x, 0.25))(x).tolist() == [0.25, 0.75, 0, 0]
    assert np.isfinite(to_numpy(mx.grad(lambda x: mx.quantile(x, 0.9))(x))).all()
    assert mx.grad(mx.median)(mx.array([1.0, 2.0, 3.0, mx.inf])).tolist() == [0, 0.5, 0.5, 0]
