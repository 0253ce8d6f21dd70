"""Where digits get lost: large ranges, numbers that fill an array, rounding to places."""

import numpy as np
import pytest
import umber.core as mx

FRACTIONAL = [(5.5, -2, -1.5), (0.5, 5, 1), (-2.5, 3, 1.2), (2.3, 8.2, 0.7), (0, 3, 0.5)]


@pytest.mark.parametrize("bounds", FRACTIONAL)
def test_fractional_steps_of_whole_numbers(bounds):
    """The step is the distance of the first two elements after truncation."""
    assert mx.arange(*bounds, dtype=mx.int32).tolist() == np.arange(*bounds, dtype="i4").tolist()


@pytest.mark.parametrize(
    "bounds", [(2**60, 2**60 + 3), (-(2**62), -(2**62) - 5, -2), (2**53, 2**53 + 5, 1)]
)
def test_ranges_of_large_whole_numbers(bounds):
    assert mx.arange(*bounds).tolist() == list(range(*bounds))
    assert mx.arange(*bounds).dtype == mx.int64


def test_range_of_large_unsigned_numbers():
    top = 2**64 - 1
    assert mx.arange(top - 2, top, dtype=mx.uint64).tolist() == [top - 2, top - 1]


def test_range_longer_than_memory():
    with pytest.raises((ValueError, OverflowError), match=r"\[arange\]"):
        mx.arange(-(2**63), 2**63 - 1)
    with pytest.raises(ValueError, match=r"\[arange\] got a step of zero"):
        mx.arange(0, 5, 0)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_numbers_fill_without_rounding(dtype):
    dtype = getattr(mx, dtype)
    for array in (mx.full(2, 0.1, dtype), mx.full_like(mx.zeros(2), 0.1, dtype)):
        assert array.tolist() == [0.1, 0.1]
    assert mx.full_like(mx.zeros(1, dtype), 1 / 3).tolist() == [1 / 3]


def test_grids_are_a_tuple():
    assert isinstance(mx.meshgrid(mx.arange(2), mx.arange(3)), tuple)


def test_whole_numbers_have_no_places_to_round():
    x = mx.array([123456789, -7], dtype=mx.int32)
    for decimals in (0, 2, 50, 2**31 - 1):
        assert mx.round(x, decimals).tolist() == [123456789, -7]
    assert mx.round(x, -2).tolist() == [123456800, 0]
    assert mx.round(mx.array([123456789012]), -3).tolist() == [123456789000]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("decimals", [39, 50, 309, 400, 2**31 - 1])
def test_rounding_to_more_places_than_there_are(dtype, decimals):
    x = mx.array([1.5, 1e30, -0.25], dtype=getattr(mx, dtype))
    assert mx.round(x, decimals).tolist() == x.tolist()


@pytest.mark.parametrize("decimals", [-40, -309, -(2**31) + 1, -(2**31)])
def test_rounding_to_more_than_there_is(decimals):
    x = mx.array([1.5, 1e30, -0.25, float("inf")])
    assert mx.round(x, decimals).tolist() == [0.0, 0.0, 0.0, float("inf")]


def test_half_types_round_in_float32():
    x = mx.array([1.23456, -0.5], dtype=mx.float16)
    assert mx.round(x, 5).tolist() == x.tolist()
