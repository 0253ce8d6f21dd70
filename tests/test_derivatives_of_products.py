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
