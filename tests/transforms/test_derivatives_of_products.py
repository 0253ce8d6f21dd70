"""Derivatives of products of every order, at points where no, one or several factors are zero."""

import itertools
import math

import numpy as np
import pytest
import umber.core as mx
from arrays import to_numpy
from finite_differences import directional

FACTORS = {
    0: [1.5, -0.5, 2.0, 0.75, -1.25],
    1: [1.5, 0.0, 2.0, 0.75, -1.25],
    2: [0.0, -0.5, 2.0, 0.0, -1.25],
    3: [0.0, 0.0, 2.0, 0.75, 0.0],
}
PLACES = [0, 1, 0, 0, 1]
WAYS = [(reverse, inclusive) for reverse in (False, True) for inclusive in (False, True)]


def wide(values):
    return mx.array(values, dtype=mx.float64)


def product_of_others(x, *places):
    """The product of all but the elements at these places: zero if one is named twice."""
    if len(set(places)) < len(places):
        return 0.0
    return math.prod(value for at, value in enumerate(x) if at not in places)


def weighted(function, count=5):
    """A sum with weights, so that all outputs count."""
    weights = wide(np.linspace(0.5, 1.7, count))
    return lambda x: (weights * function(x)).sum()


FUNCTIONS = {
    "prod": lambda x: x.prod(),
    "prod[columns]": lambda x: weighted(lambda y: mx.prod(y.reshape(5, 1) * mx.ones((5, 5)), 0))(x),
    "prod[axes]": lambda x: mx.prod(
        mx.concatenate([x, x * 0.5 + 1]).reshape(2, 1, 5), (0, 2)
    ).sum(),
    "prod[where]": lambda x: mx.prod(x, where=mx.array([True, True, False, True, True])),
    "nanprod": lambda x: mx.nanprod(mx.concatenate([x, wide([np.nan])])),
    **{
        f"cumprod[reverse={reverse},inclusive={inclusive}]": weighted(
            lambda x, r=reverse, i=inclusive: mx.cumprod(x, 0, reverse=r, inclusive=i)
        )
        for reverse, inclusive in WAYS
    },
    "nancumprod": weighted(lambda x: mx.nancumprod(x, 0)),
    "at.multiply": lambda x: weighted(
        lambda u: wide([2.0, 3.0, 5.0]).at[mx.array(PLACES)].multiply(u), 3
    )(x),
    "at.multiply[rows]": lambda x: weighted(lambda u: u.reshape(-1), 6)(
        wide([[2.0, 3.0], [5.0, 0.0], [1.0, 1.0]])
        .at[mx.array(PLACES)]
        .multiply(mx.stack([x, x[::-1]], 1))
    ),
    "at.multiply[slice]": lambda x: weighted(lambda u: u, 6)(
        wide([2.0, 0.0, 5.0, 0.0, 1.0, 3.0]).at[1:].multiply(x)
    ),
}


@pytest.mark.parametrize("zeros", FACTORS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_and_third_derivatives(name, zeros):
    """Each derivative is the finite difference of the one before."""
    function, point = FUNCTIONS[name], np.array(FACTORS[zeros])
    way = np.array([0.3, -0.8, 0.5, 0.9, -0.4])
    gradient = mx.grad(function)

    def along(slope):
        return mx.grad(lambda x: (slope(x) * wide(way)).sum())

    def differences(lower):
        return directional(lambda x: [to_numpy(lower(wide(x)))], [point], [way])[0]

    second = along(gradient)
    first = (gradient(wide(point)) * wide(way)).sum()
    for got, lower in (
        (first, function),
        (second(wide(point)), gradient),
        (along(second)(wide(point)), second),
    ):
        np.testing.assert_allclose(to_numpy(got), differences(lower), rtol=1e-7, atol=1e-9)
    # Forward over reverse is the same.
    _, pushed = mx.jvp(lambda x: [gradient(x)], [wide(point)], [wide(way)])
    np.testing.assert_allclose(to_numpy(pushed[0]), to_numpy(second(wide(point))), atol=1e-12)


@pytest.mark.parametrize("zeros", FACTORS)
def test_closed_form_of_the_second_derivative(zeros):
    """`∂²p / ∂x_i ∂x_j` is the product of all others."""
    x = FACTORS[zeros]
    rows = [
        mx.grad(lambda v, i=i: mx.grad(lambda u: u.prod())(v)[i])(wide(x)).tolist()
        for i in range(5)
    ]
    want = [[product_of_others(x, i, j) for j in range(5)] for i in range(5)]
    np.testing.assert_allclose(rows, want, rtol=1e-14)


@pytest.mark.parametrize("zeros", FACTORS)
def test_closed_form_of_the_third_derivative(zeros):
    x = FACTORS[zeros]

    def slope(v, *places):
        value = v.prod()
        for order in range(len(places)):
            inner = places[:order]
            value = mx.grad(lambda u, inner=inner: slope(u, *inner))(v)[places[order]]
        return value

    for places in itertools.islice(itertools.product(range(5), repeat=3), 0, 125, 7):
        got = slope(wide(x), *places).item()
        assert got == pytest.approx(product_of_others(x, *places), abs=1e-12)


def test_long_rows():
    """What is left over at each halving is not forgotten."""
    for length in (*range(1, 18), 63, 64, 65, 1000):
        values = np.random.default_rng(length).uniform(0.9, 1.1, length)
        values[length // 3] = 0.0
        ct = np.random.default_rng(1).uniform(-1, 1, length)
        _, (pulled,) = mx.vjp(lambda x: [mx.cumprod(x, 0)], [wide(values)], [wide(ct)])
        want = [
            sum(
                ct[m] * np.prod(np.delete(values[: m + 1], k))
                for m in range(k, min(length, k + 400))
            )
            for k in range(min(length, 20))
        ]
        if length <= 400:
            np.testing.assert_allclose(to_numpy(pulled)[:20], want, rtol=1e-10, atol=1e-12)


def test_half_precision_is_computed_in_single():
    x = mx.array(np.linspace(0.9, 1.1, 64), dtype=mx.float16)
    single = mx.grad(lambda x: mx.cumprod(x, 0).sum())(x.astype(mx.float32))
    half = mx.grad(lambda x: mx.cumprod(x, 0).astype(mx.float32).sum())(x)
    assert half.dtype == mx.float16
    np.testing.assert_allclose(to_numpy(half), to_numpy(single), rtol=1e-3)


def test_complex_products():
    z = mx.array([1 + 2j, 0, 0, 0.5 - 1j], dtype=mx.complex128)
    first = mx.grad(lambda z: mx.real(mx.prod(z)).sum())
    second = mx.grad(lambda z: mx.real(first(z)[1]))(z)
    # The derivative by z[1] and z[2] is the product of the others; gradients are its conjugate.
    assert complex(second[2].item()) == pytest.approx(complex((1 + 2j) * (0.5 - 1j)).conjugate())


def test_batched():
    rows = wide([FACTORS[zeros] for zeros in FACTORS])
    hessian = mx.grad(lambda v: (mx.grad(lambda u: u.prod())(v) * wide([0, 1, 2, 3, 4])).sum())
    both = mx.vmap(hessian)(rows)
    for row, values in zip(both, rows, strict=True):
        np.testing.assert_allclose(to_numpy(row), to_numpy(hessian(values)), rtol=1e-14)


# Parts of these products leave the range of their dtype before a zero makes them zero.
OVERFLOWING = {
    "float16": [6e4] * 4,
    "bfloat16": [1e38] * 12,
    "float32": [1e30] * 12,
    "float64": [1e200] * 4,
    "complex64": [1e30] * 4,
}


def gradient_of(function, x):
    return to_numpy(mx.grad(lambda x: function(x).real)(x))


@pytest.mark.parametrize("dtype", OVERFLOWING)
@pytest.mark.parametrize("name", ["prod", "nanprod", "cumprod", "at.multiply", "where"])
def test_two_zeros_beside_huge_factors(dtype, name):
    """Every product of all factors but one is zero, wherever the zeros are."""
    huge = OVERFLOWING[dtype]
    functions = {
        "prod": lambda x: x.prod(),
        "nanprod": mx.nanprod,
        "cumprod": lambda x: mx.cumprod(x)[-1],
        "at.multiply": lambda x: (
            mx.ones(1, dtype=x.dtype).at[mx.zeros(x.size, dtype=mx.int32)].multiply(x)[0]
        ),
        "where": lambda x: mx.prod(x, where=mx.ones(x.shape, dtype=mx.bool_)),
    }
    for places in ([0, 0], [0, len(huge)], [len(huge), len(huge)], [2, 3]):
        values = np.insert(np.array(huge), places, 0.0)
        x = mx.array(values).astype(getattr(mx, dtype))
        assert gradient_of(functions[name], x).tolist() == [0] * x.size
        rows = mx.stack([x, x])
        each = mx.vmap(mx.grad(lambda x: functions[name](x).real))(rows)
        assert to_numpy(each).tolist() == [[0] * x.size] * 2


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_what_nobody_asks_for_adds_nothing(dtype):
    """Cotangents and tangents of zero beside slopes that are infinite."""
    largest = mx.finfo(getattr(mx, dtype)).max
    x = mx.array([[2.0, 3.0, 1.0], [largest] * 3], dtype=getattr(mx, dtype))
    first = mx.grad(lambda x: x.prod(1)[0])(x)
    assert to_numpy(first).tolist() == [[3, 2, 6], [0, 0, 0]]
    way = mx.array([[1.0, 0, 0], [0, 0, 0]], dtype=x.dtype)
    _, pushed = mx.jvp(lambda x: x.prod(1), [x], [way])
    assert to_numpy(pushed[0]).tolist() == [3, 0]
    for reverse, inclusive in WAYS:
        scan = lambda x, r=reverse, i=inclusive: mx.cumprod(x, 1, reverse=r, inclusive=i)  # noqa: E731
        place = (0 if inclusive else 1) if not reverse else (2 if inclusive else 1)
        wanted = to_numpy(mx.grad(lambda x, p=place, s=scan: s(x)[:, p].sum())(x))
        assert np.isfinite(wanted).all()
        _, pushed = mx.jvp(scan, [x], [mx.zeros_like(x)])
        assert to_numpy(pushed[0]).tolist() == [[0, 0, 0]] * 2


def test_products_in_range_though_their_parts_are_not():
    huge = mx.array([1e30, 1e30, 1e-30, 1e-30])
    np.testing.assert_allclose(to_numpy(mx.grad(mx.prod)(huge)), 1 / to_numpy(huge), rtol=1e-5)
    half = mx.array([300.0, 300.0, 1e-3], dtype=mx.float16)
    wanted = [0.01 * 300 * 1e-3, 0.01 * 300 * 1e-3, 900]
    got = to_numpy(mx.grad(lambda x: 0.01 * x.prod())(half))
    np.testing.assert_allclose(got, wanted, rtol=5e-3)
    slope = to_numpy(mx.grad(lambda x: (mx.cumprod(x) * mx.array([0, 0, 0.01])).sum())(half))
    np.testing.assert_allclose(slope, wanted, rtol=5e-3)


def test_second_derivatives_beside_huge_factors():
    """Of four factors, two of them zero, only the slope between those two is not zero."""
    hessian = to_numpy(mx.hessian(mx.prod)(mx.array([1e200, 0.0, 1e200, 0.0], dtype=mx.float64)))
    wanted = np.zeros((4, 4))
    wanted[1, 3] = wanted[3, 1] = np.inf
    assert hessian.tolist() == wanted.tolist()
    three = mx.hessian(mx.prod)(wide([1e200, 1e200, 0.0, 0.0, 0.0]))
    assert to_numpy(three).tolist() == np.zeros((5, 5)).tolist()


def test_logcumsumexp_at_the_ends_of_the_range():
    x = mx.array([-mx.inf, 0.0, -mx.inf, 3e38])
    for reverse, inclusive in WAYS:
        scan = lambda x, r=reverse, i=inclusive: mx.logcumsumexp(x, reverse=r, inclusive=i)  # noqa: E731
        got = to_numpy(mx.grad(lambda x, s=scan: s(x)[2])(x))
        assert np.isfinite(got).all(), (reverse, inclusive)
