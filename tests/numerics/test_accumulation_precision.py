"""Means, variances and norms round once, at the end, and leave the range only where results do.

Elements far from zero beside what they differ by, near the greatest and the least number of their
dtype, and more of them than 16-bit floats count.
"""

from __future__ import annotations

import numpy as np
import pytest
import umber.core as mx
from umber import nn

HALVES = [mx.float16, mx.bfloat16]
FAR = {mx.float16: 1000.1, mx.bfloat16: 1e5, mx.float32: 1000000.1, mx.float64: 0.1}
SHAPES = [
    ((3,), None),
    ((1155,), None),
    ((4, 7), 0),
    ((4, 7), 1),
    ((40, 100), 0),
    ((3, 5, 7), (0, 2)),
    ((2, 300, 3), 1),
    ((6, 70, 80), (0, 2)),
    ((5, 90, 3), (0, 1)),
    ((3, 4, 5), -2),
]


def run_in_all_ways(f, x):
    """The values of `f`: the same in compiled code and for each lane, but for how sums are cut."""
    value = f(x)
    compiled = mx.compile(f)(x)
    lanes = mx.vmap(f)(mx.stack([x, x]))
    for other in (compiled, lanes[0], lanes[1]):
        np.testing.assert_allclose(
            float64_of(other), float64_of(value), rtol=32 * float(mx.finfo(value.dtype).eps)
        )
    return value


def float64_of(x):
    return np.array(x.astype(mx.float64))


@pytest.mark.parametrize("dtype", list(FAR), ids=str)
@pytest.mark.parametrize(("shape", "axis"), SHAPES, ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_equal_elements_have_their_mean_and_no_spread(dtype, shape, axis, keepdims):
    x = mx.full(shape, FAR[dtype], dtype=dtype)
    options = {"axis": axis, "keepdims": keepdims}
    value = x.reshape(-1)[0]
    wide = mx.ones(shape, dtype=mx.float32)
    for f in (
        lambda x: mx.mean(x, **options),
        lambda x: mx.nanmean(x, **options),
        lambda x: mx.mean(x, where=mx.array(True), **options),
        lambda x: mx.average(x, **options),
        lambda x: mx.average(x, weights=wide, **options).astype(dtype),
        lambda x: mx.median(x, **options),
        lambda x: mx.mean(x * 1, **options),
    ):
        mean = run_in_all_ways(f, x)
        assert mean.dtype == dtype
        # Of float64 there is no wider dtype.
        bound = 1e-13 if dtype == mx.float64 else 0
        np.testing.assert_allclose(float64_of(mean), float64_of(value), rtol=bound)
    for f in (
        lambda x: mx.var(x, **options),
        lambda x: mx.std(x, **options),
        lambda x: mx.std(x, ddof=1, **options),
        lambda x: mx.nanvar(x, **options),
        lambda x: mx.nanstd(x, **options),
        lambda x: mx.std(x, where=mx.array(True), **options),
    ):
        spread = run_in_all_ways(f, x)
        assert mx.all(spread == 0).item()


@pytest.mark.parametrize("dtype", [mx.float32, mx.float64], ids=str)
def test_equal_observations_do_not_vary(dtype):
    x = mx.full((2, 3), FAR[dtype], dtype=dtype)
    assert mx.all(mx.cov(x) == 0).item()
    weights = mx.array([1, 2, 3])
    assert mx.all(mx.cov(x, fweights=weights) == 0).item()


NEAR_GREATEST = {
    mx.float16: 65000.0,
    mx.bfloat16: 3e38,
    mx.float32: 3e38,
    mx.float64: 1.7e308,
    mx.complex64: 3e38,
    mx.complex128: 1.7e308,
}


@pytest.mark.parametrize("dtype", list(NEAR_GREATEST), ids=str)
@pytest.mark.parametrize("count", [2, 3, 16, 100, 5000])
@pytest.mark.parametrize("layout", ["row", "column", "all", "computed"])
def test_means_of_great_elements_do_not_overflow(dtype, count, layout):
    x = mx.full((3, count), NEAR_GREATEST[dtype], dtype=dtype)
    value = x[0, 0]
    f = {
        "row": lambda x: x.mean(axis=1),
        "column": lambda x: x.T.mean(axis=0),
        "all": mx.mean,
        "computed": lambda x: (-x).mean(axis=1, keepdims=True) * -1,
    }[layout]
    for mean in (f(x), mx.compile(f)(x), mx.vmap(f)(mx.stack([x]))[0]):
        np.testing.assert_allclose(np.array(mean.astype(mx.complex128) / value), 1, rtol=1e-2)
        if dtype not in HALVES:
            np.testing.assert_allclose(np.array(mean.astype(mx.complex128) / value), 1, rtol=1e-6)


@pytest.mark.parametrize("dtype", [mx.float32, mx.float64], ids=str)
def test_other_means_of_great_elements_do_not_overflow(dtype):
    great = NEAR_GREATEST[dtype]
    x = mx.array([great, great, great, great], dtype=dtype)
    gappy = mx.concatenate([x, mx.array([mx.nan], dtype=dtype)])
    weights = mx.array([1.0, 2, 3, 4], dtype=dtype)
    for mean in (
        mx.nanmean(gappy),
        mx.mean(gappy, where=~mx.isnan(gappy)),
        mx.average(x, weights=weights),
        mx.median(x),
        mx.nanmedian(gappy),
        nn.AvgPool1d(4)(x[:, None])[0, 0],
        nn.losses.l1_loss(x, mx.zeros_like(x), reduction="mean"),
    ):
        assert mean.dtype == dtype
        np.testing.assert_allclose(float64_of(mean), great, rtol=1e-6)


def test_means_of_what_is_not_finite_are_not():
    x = mx.array([[1, mx.inf, 2], [1, -mx.inf, mx.inf], [1, mx.nan, 2], [3e38, 3e38, 3e38]])
    found = np.array(mx.mean(x, axis=1))
    np.testing.assert_array_equal(found, np.float32([np.inf, np.nan, np.nan, 3e38]))
    assert mx.isnan(mx.mean(mx.zeros((0,)))).item()
    assert mx.isnan(mx.std(mx.array([1, mx.inf]))).item()


SCALES = {
    mx.float32: [1e-38, 1e-25, 1e-15, 1.0, 1e15, 1e25, 1e38],
    mx.bfloat16: [1e-25, 1.0, 1e25],
    mx.float64: [1e-300, 1e-200, 1.0, 1e200, 1e300],
    mx.complex64: [1e-25, 1.0, 1e25],
    mx.complex128: [1e-200, 1.0, 1e200],
}
CASES = [(dtype, scale) for dtype, scales in SCALES.items() for scale in scales]


def pattern(shape, dtype):
    values = np.sin(np.arange(np.prod(shape)) * 1.7).reshape(shape)
    if dtype in (mx.complex64, mx.complex128):
        values = values + 1j * np.cos(np.arange(values.size) * 0.7).reshape(shape)
    return values


def tolerance(dtype):
    if dtype in HALVES:
        return 2e-2
    return 1e-12 if dtype in (mx.float64, mx.complex128) else 2e-6


@pytest.mark.parametrize(("dtype", "scale"), CASES, ids=str)
@pytest.mark.parametrize(("shape", "axis"), SHAPES, ids=str)
def test_deviations_leave_the_range_only_where_results_do(dtype, scale, shape, axis):
    values = pattern(shape, dtype)
    x = mx.array(values * scale, dtype=dtype)
    for ddof in (0, 1):
        expected = np.std(values, axis=axis, ddof=ddof)
        for f in (mx.std, mx.nanstd, lambda x, **o: mx.std(x, where=mx.array(True), **o)):
            found = run_in_all_ways(lambda x, f=f, ddof=ddof: f(x, axis=axis, ddof=ddof), x)
            np.testing.assert_allclose(
                float64_of(found) / scale, expected, rtol=tolerance(dtype) * 2
            )


@pytest.mark.parametrize("scale", [1e-18, 1e-10, 1e10, 1e18])
def test_variances_leave_the_range_only_where_results_do(scale):
    values = pattern((4, 300), mx.float32)
    x = mx.array(values * scale, dtype=mx.float32)
    expected = np.var(float64_of(x), axis=1)
    for f in (mx.var, mx.nanvar):
        np.testing.assert_allclose(float64_of(f(x, axis=1)), expected, rtol=2e-6)
    assert mx.var(mx.array([1e30, -1e30])).item() == mx.inf
    assert mx.var(mx.array([1e-30, -1e-30])).item() == 0


# Distances are subnormal where float32 is smallest.
NORMAL = [case for case in CASES[:14] if case != (mx.float32, 1e-38)]


@pytest.mark.parametrize(("dtype", "scale"), NORMAL, ids=str)
@pytest.mark.parametrize("f", [mx.std, mx.nanstd])
def test_gradients_of_deviations_do_not_depend_on_units(dtype, scale, f):
    values = pattern((5, 6), dtype)
    x = mx.array(values * scale, dtype=dtype)
    centred = values - values.mean(1, keepdims=True)
    expected = centred / (6 * values.std(1, keepdims=True))
    found = mx.grad(lambda x: f(x, axis=1).sum())(x)
    assert found.dtype == dtype
    np.testing.assert_allclose(float64_of(found), expected, atol=tolerance(dtype))
    if f is mx.std:
        _, pushed = mx.jvp(lambda x: f(x, axis=1), [x], [mx.ones_like(x).at[:, 0].add(1)])
        np.testing.assert_allclose(float64_of(pushed[0]), expected[:, 0], atol=tolerance(dtype))


def normalised(values, eps=0.0):
    centred = values - values.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps)


NORM_SCALES = [
    (mx.float32, 1e-30),
    (mx.float32, 1e-25),
    (mx.float32, 1e25),
    (mx.float32, 1e30),
    (mx.bfloat16, 1e-25),
    (mx.bfloat16, 1e30),
    (mx.float64, 1e-200),
    (mx.float64, 1e200),
]


@pytest.mark.parametrize(("dtype", "scale"), NORM_SCALES, ids=str)
@pytest.mark.parametrize("length", [6, 48, 3000])
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_norms_of_rows_do_not_depend_on_units(dtype, scale, length, norm):
    values = pattern((3, length), dtype)
    near, x = mx.array(values, dtype=dtype), mx.array(values * scale, dtype=dtype)
    eps = 0.0 if scale < 1 else 1e-5
    weight = mx.array(np.linspace(1, 2, length), dtype=dtype)
    if norm == "layer":
        f = lambda x, eps=eps: mx.fast.layer_norm(x, weight, None, eps)  # noqa: E731
        expected = normalised(float64_of(near)) * float64_of(weight)
    else:
        f = lambda x, eps=eps: mx.fast.rms_norm(x, weight, eps)  # noqa: E731
        wide = float64_of(near)
        expected = wide / np.sqrt((wide**2).mean(-1, keepdims=True)) * float64_of(weight)
    found = run_in_all_ways(f, x)
    bound = tolerance(dtype) * 4
    np.testing.assert_allclose(float64_of(found), expected, atol=bound)
    ct = mx.array(np.cos(np.arange(values.size) * 0.9).reshape(values.shape), dtype=dtype)
    expected = float64_of(mx.vjp(lambda x: f(x, 0.0), [near], [ct])[1][0])
    pulled = float64_of(mx.vjp(f, [x], [ct])[1][0])
    np.testing.assert_allclose(pulled * scale, expected, atol=bound * 4)


def far_from_zero(shape, dtype=mx.float32):
    """Sixteenths beside 2^19 and the sixteenths themselves, exactly."""
    steps = np.random.default_rng(4).integers(-40, 40, shape) / 16
    x = mx.array(steps + 2.0**19, dtype=mx.float64).astype(dtype)
    return steps, x


@pytest.mark.parametrize("length", [5, 64, 1000, 3000])
def test_layer_norm_far_from_zero(length):
    steps, x = far_from_zero((4, length))
    f = lambda x: mx.fast.layer_norm(x, None, None, 1e-5)  # noqa: E731
    found = float64_of(run_in_all_ways(f, x))
    np.testing.assert_allclose(found, normalised(steps, 1e-5), atol=2e-6)
    ct = mx.array(np.cos(np.arange(steps.size)).reshape(steps.shape), dtype=mx.float32)
    pulled = float64_of(mx.vjp(f, [x], [ct])[1][0])
    near = mx.array(steps, dtype=mx.float64)
    expected = float64_of(mx.vjp(f, [near], [ct.astype(mx.float64)])[1][0])
    np.testing.assert_allclose(pulled, expected, atol=2e-6)
    np.testing.assert_allclose(pulled.sum(-1), 0, atol=2e-6 * np.sqrt(length))


def test_the_gradient_of_layer_norm_between_equal_elements_adds_up_to_nothing():
    x = mx.full((3,), 1000000.1)
    ct = mx.array([1.0, 2.0, 4.0])
    pulled = mx.grad(lambda x: (mx.fast.layer_norm(x, None, None, 1e-5) * ct).sum())(x)
    expected = (np.array(ct) - np.mean(np.array(ct))) / np.sqrt(1e-5)
    np.testing.assert_allclose(np.array(pulled), expected, rtol=1e-6)
    assert abs(mx.sum(pulled).item()) <= 1e-4


@pytest.mark.parametrize("kind", ["batch", "group", "neighbours", "instance"])
@pytest.mark.parametrize("scale", [None, 1e25])
def test_layers_far_from_zero_and_out_of_range(kind, scale):
    steps, x = far_from_zero((3, 9, 8))
    if scale is not None:
        x = mx.array(steps * scale, dtype=mx.float32)
    layer, axes, shape = {
        "batch": (nn.BatchNorm(8), (0, 1), (3, 9, 8)),
        "group": (nn.GroupNorm(4, 8), (1, 2), (3, 9, 2, 4)),
        "neighbours": (nn.GroupNorm(4, 8, pytorch_compatible=True), (1, 3), (3, 9, 4, 2)),
        "instance": (nn.InstanceNorm(8), (1,), (3, 9, 8)),
    }[kind]
    grouped = steps.reshape(shape)
    centred = grouped - grouped.mean(axes, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(axes, keepdims=True) + (0 if scale else 1e-5))
    np.testing.assert_allclose(float64_of(layer(x)), expected.reshape(steps.shape), atol=4e-6)
    ct = mx.array(np.cos(np.arange(steps.size)).reshape(steps.shape), dtype=mx.float32)
    pulled = float64_of(mx.vjp(layer, [x], [ct])[1][0]) * (scale or 1)
    sums = pulled.reshape(shape).sum(axes)
    np.testing.assert_allclose(sums, 0, atol=1e-4)


SHARED = {
    "max": lambda x: x.max(),
    "min": lambda x: x.min(),
    "max of columns": lambda x: x.reshape(-1, 2).max(axis=0).sum(),
    "nanmax": mx.nanmax,
    "nanmin": mx.nanmin,
    "logsumexp": lambda x: mx.logsumexp(x),
    "mean": lambda x: x.mean(),
    "nanmean": mx.nanmean,
    "average": lambda x: mx.average(x),
    "weighted": lambda x: mx.average(x, weights=mx.ones_like(x)),
    "norm": lambda x: mx.linalg.norm(x, ord=mx.inf),
    "l1_loss": lambda x: nn.losses.l1_loss(x, mx.zeros_like(x), reduction="mean"),
}


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("count", [300, 4098, 70000])
@pytest.mark.parametrize("name", list(SHARED))
def test_shares_of_many_halves(dtype, count, name):
    x = mx.ones(count, dtype=dtype)
    part = 2 / count if name == "max of columns" else 1 / count
    found = mx.grad(SHARED[name])(x)
    assert found.dtype == dtype
    expected = mx.array(part, dtype=mx.float32).astype(dtype).astype(mx.float64).item()
    step = 6e-8 if dtype == mx.float16 else 0
    np.testing.assert_allclose(float64_of(found), expected, rtol=1e-2, atol=step)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_derivatives_of_extremes_of_many_halves(dtype):
    x = mx.ones(70000, dtype=dtype)
    _, (pushed,) = mx.jvp(lambda x: x.max(), [x], [x])
    assert pushed.item() == pytest.approx(1, rel=1e-2)
    _, (pushed,) = mx.jvp(lambda x: x.mean(), [x], [x])
    assert pushed.item() == pytest.approx(1, rel=1e-2)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_statistics_of_many_halves(dtype):
    x = mx.array(np.tile([1.0, 3.0], 40000), dtype=dtype)
    for value, expected in (
        (mx.mean(x), 2),
        (mx.var(x), 1),
        (mx.std(x), 1),
        (mx.nanmean(x), 2),
        (mx.nanstd(x), 1),
        (mx.average(x, weights=x), 2.5),
        (mx.cov(x, ddof=0), 1),
        (mx.mean(mx.full((70000,), 60000, dtype=dtype)), 60000),
    ):
        assert value.dtype == dtype
        assert value.item() == pytest.approx(expected, rel=4e-3)


@pytest.mark.parametrize(
    ("dtype", "offset"),
    [
        (mx.bfloat16, 512.0),
        (mx.float16, 2048.0),
        (mx.float16, 30000.0),
        (mx.float32, 1e7),
        (mx.float32, -1e7),
        (mx.float64, 1e15),
    ],
)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("inclusive", [False, True])
def test_gradients_of_running_log_sums_have_no_offset(dtype, offset, reverse, inclusive):
    given = mx.array(np.array([0.0, 4.0, 0.0, 8.0, 8.0]) + offset, dtype=dtype)
    x = np.array(given.astype(mx.float64)) - offset

    def total(x):
        y = mx.logcumsumexp(x, reverse=reverse, inclusive=inclusive)
        return mx.where(mx.isinf(y), 0, y).sum()

    gradient = mx.grad(total)(given)
    order = x[::-1] if reverse else x
    sums = np.cumsum(np.exp(order))
    shares = np.exp(order)[:, None] / sums[None, :]
    counts = np.triu(np.ones((5, 5)))
    if not inclusive:
        counts[:, -1] = 0
    want = (shares * counts).sum(axis=1)
    want = want[::-1] if reverse else want
    got = np.array(gradient.astype(mx.float32))
    np.testing.assert_allclose(got, want, rtol=1e-2, atol=1e-6)
