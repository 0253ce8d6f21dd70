"""Programs that differ only in their numbers share a plan, and never see each other's numbers."""

import itertools

import numpy as np
import pytest
import umber.core as mx

DTYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "int32",
    "int64",
    "uint16",
    "complex64",
)


def elementwise(x, c, d):
    return (x * c + d) * c - d


def chosen(x, c, d):
    return mx.where(x == c, x * d, c) + mx.where(x != d, d, x)


def reduced(x, c, d):
    return mx.sum(x * c + d, axis=1) * d


def product(x, c, d):
    return (x @ x.T) * c + d


def forwarded(x, c, d):
    return x + c, mx.full((70, 40), d, dtype=x.dtype) * c


def several(x, c, d):
    y = x * c
    return y, y + d, mx.cumsum(y + d, axis=0)


FUNCTIONS = (elementwise, chosen, reduced, product, forwarded, several)


def values(result):
    results = result if isinstance(result, tuple) else (result,)
    mx.eval(*results)
    return [np.array(r.astype(mx.float32) if r.dtype == mx.bfloat16 else r) for r in results]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_are_those_of_the_call(dtype, function):
    rng = np.random.default_rng(0)
    x = mx.array(rng.integers(0, 4, (70, 40)).astype(np.float32)).astype(getattr(mx, dtype))
    mx.eval(x)
    # The same numbers as arrays, of which no plan knows the values.
    given = {n: mx.array([n, n]).astype(x.dtype)[:1] for n in (1, 2, 3)}
    mx.eval(*given.values())
    # Equal ones make another program than different ones.
    for c, d in itertools.chain(itertools.product((1, 2, 3), repeat=2), [(1, 2), (2, 1)]):
        found = values(function(x, c, d))
        expected = values(function(x, given[c], mx.array(d, dtype=x.dtype)))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-2 if "16" in dtype else 1e-6)


def test_not_a_number_infinities_and_zeros_are_told_apart():
    x = mx.ones((2000,))
    for number in (1.0, float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-45, 5.0):
        (found,) = values(mx.minimum(x * number, 1.0) / number)
        with np.errstate(all="ignore"):
            one = np.float32(number)
            expected = np.minimum(np.ones(2000, np.float32) * one, np.float32(1)) / one
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_numbers_of_compiled_parts_stay():
    x = mx.arange(2000.0)
    half = mx.compile(lambda x: x * 0.5 + 0.25)
    for c in (0.5, 0.25, 3.0, 0.5):
        (found,) = values(half(x) * c + 0.5)
        np.testing.assert_allclose(found, (np.arange(2000.0) * 0.5 + 0.25) * c + 0.5, rtol=1e-6)
