"""Integers are compared exactly, whatever their dtypes; so is what decides by comparing them."""

import itertools
import operator

import numpy as np
import pytest
import umber.core as mx
from arrays import INTEGERS, carrier_of, dtype_of

COMPARISONS = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
# Neighbours that float32 and float64 round to one number, and the ends of every dtype.
NUMBERS = sorted(
    {
        sign * (2**power + step)
        for power in (0, 7, 8, 15, 16, 24, 31, 32, 53, 62, 63, 64)
        for step in (-1, 0, 1)
        for sign in (1, -1)
    }
)


def held(name):
    """Those of the numbers that this dtype holds."""
    ends = np.iinfo(carrier_of(name))
    return [number for number in NUMBERS if ends.min <= number <= ends.max]


def array_of(numbers, name):
    return mx.array(np.array(numbers, dtype=carrier_of(name)), dtype_of(name))


PAIRS = [(a, "uint64") for a in INTEGERS] + [("uint64", a) for a in INTEGERS] + [("int64", "int8")]


@pytest.mark.parametrize("names", PAIRS, ids="-".join)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_of_integers(name, names):
    numbers = [held(dtype) for dtype in names]
    a, b = (array_of(part, dtype) for part, dtype in zip(numbers, names, strict=True))
    want = [[COMPARISONS[name](x, y) for y in numbers[1]] for x in numbers[0]]
    grid = a[:, None]
    compiled = mx.compile(lambda x, y: COMPARISONS[name](x, y))
    lanes = mx.vmap(COMPARISONS[name], in_axes=(0, None))
    for got in (
        COMPARISONS[name](grid, b),
        getattr(mx, name)(grid, b),
        compiled(grid, b),
        lanes(a, b),
    ):
        assert got.dtype == mx.bool_
        assert got.tolist() == want
    # Few elements are compared in another way than many.
    few = [COMPARISONS[name](a[i], b[-1]).item() for i in range(a.size)]
    assert few == [row[-1] for row in want]


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_comparisons_with_python_numbers(name, dtype):
    compare, numbers = COMPARISONS[name], held(dtype)
    a = array_of(numbers, dtype)
    for number in [*NUMBERS, 2**70, -(2**70)]:
        assert compare(a, number).tolist() == [compare(x, number) for x in numbers]
        assert compare(number, a).tolist() == [compare(number, x) for x in numbers]
        assert getattr(mx, name)(a, number).tolist() == [compare(x, number) for x in numbers]
        assert getattr(mx, name)(number, a).tolist() == [compare(number, x) for x in numbers]


SIGNED_AND_UNSIGNED = [("int64", "uint64"), ("uint64", "int64"), ("int8", "uint64")]


@pytest.mark.parametrize("names", SIGNED_AND_UNSIGNED, ids="-".join)
def test_places_among_sorted_integers(names):
    below, values = (held(name) for name in names)
    sorted_, looked_for = (array_of(held(name), name) for name in names)
    for side, passes in (("left", operator.lt), ("right", operator.le)):
        want = [sum(passes(x, value) for x in below) for value in values]
        search = lambda s, v, side=side: mx.searchsorted(s, v, side=side)  # noqa: E731
        assert search(sorted_, looked_for).tolist() == want
        assert mx.compile(search)(sorted_, looked_for).tolist() == want
        assert mx.vmap(search, in_axes=(None, 0))(sorted_, looked_for).tolist() == want
    bins = [sum(edge <= value for edge in below) for value in values]
    assert mx.digitize(looked_for, sorted_).tolist() == bins


@pytest.mark.parametrize("names", SIGNED_AND_UNSIGNED, ids="-".join)
def test_sets_of_integers(names):
    numbers = [held(name) for name in names]
    # Every other one, so that neighbours are missing.
    numbers[1] = numbers[1][::2]
    a, b = (array_of(part, name) for part, name in zip(numbers, names, strict=True))
    in_both = [number in numbers[1] for number in numbers[0]]
    assert mx.isin(a, b).tolist() == in_both
    assert mx.setdiff1d(a, b).tolist() == [
        number for number, is_common in zip(numbers[0], in_both, strict=True) if not is_common
    ]
    _, in_a, in_b = mx.intersect1d(a, b, return_indices=True)
    assert a[in_a].tolist() == b[in_b].tolist() == sorted(set(numbers[0]) & set(numbers[1]))
    assert mx.setxor1d(a, b).size == len(set(numbers[0]) ^ set(numbers[1]))


def test_whole_arrays_of_integers():
    signed = mx.array([2**24 + 1, -1], dtype=mx.int64)
    for other in (2**24, 2**24 + 1):
        unsigned = mx.array([other, 2**64 - 1], dtype=mx.uint64)
        assert not mx.array_equal(signed, unsigned).item()
        assert mx.array_equal(signed[:1], unsigned[:1]).item() == (other == 2**24 + 1)
        assert mx.array_equiv(signed[:1], unsigned[:1]).item() == (other == 2**24 + 1)
        close = mx.isclose(signed[:1], unsigned[:1], rtol=0, atol=0)
        assert close.item() == (other == 2**24 + 1)
    for dtype in (mx.int32, mx.uint32, mx.int64, mx.uint64):
        near = mx.isclose(mx.array(2**24 + 1, dtype=dtype), mx.array(2**24, dtype=dtype), 0, 0)
        assert not near.item()
    assert 2**24 + 1 in signed
    assert 2**24 not in signed


def test_numbers_that_the_dtype_does_not_hold():
    """They are found nowhere, and they limit nothing."""
    small = mx.array([0, 200, 255], dtype=mx.uint8)
    assert mx.isin(small, 300).tolist() == [False] * 3
    assert mx.isin(small, -1).tolist() == [False] * 3
    assert not mx.array_equal(small, 300).item()
    assert mx.isclose(small, 300).tolist() == [False] * 3
    assert mx.searchsorted(small, 300).item() == small.searchsorted(300).item() == 3
    assert mx.searchsorted(small, -1).item() == small.searchsorted(-1).item() == 0
    large = mx.array([0, 2**64 - 1], dtype=mx.uint64)
    assert mx.searchsorted(large, -5).item() == 0
    assert mx.clip(small, -1, 300).tolist() == [0, 200, 255]
    assert mx.clip(small, -1, 100).tolist() == [0, 100, 100]
    assert mx.clip(small, 100, 300).tolist() == [100, 200, 255]
    assert mx.clip(large, -1, 2**64 - 1).tolist() == large.tolist()
    for limits in ((300, None), (None, -1)):
        with pytest.raises(mx.RangeError, match=r"^\[clip\]"):
            mx.clip(small, *limits)


def test_extremes_are_the_rounded_exact_ones():
    """The common dtype, float32, rounds the greater one as it is."""
    for x, y in itertools.product(held("int64"), held("uint64")):
        a, b = mx.array(x, dtype=mx.int64), mx.array(y, dtype=mx.uint64)
        assert mx.maximum(a, b).item() == np.float32(max(x, y))
        assert mx.minimum(a, b).item() == np.float32(min(x, y))
