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


@pytest.mark.parametrize(
    ("call", "values", "dtype"),
    [
        (lambda: mx.arange(stop=3), [0, 1, 2], mx.int32),
        (lambda: mx.arange(stop=6, step=2), [0, 2, 4], mx.int32),
        (lambda: mx.arange(stop=2.0), [0.0, 1.0], mx.float32),
        (lambda: mx.arange(stop=5, start=3), [3, 4], mx.int32),
        (lambda: mx.arange(3, step=2), [0, 2], mx.int32),
    ],
)
def test_ranges_whose_ends_are_named(call, values, dtype):
    assert call().tolist() == values
    assert call().dtype == dtype


def test_a_range_needs_an_end():
    with pytest.raises(TypeError, match=r"^\[arange\] got no end, expected"):
        mx.arange(step=2)


SPACED = {
    "linspace": mx.linspace,
    "linspace open": lambda a, b, n, **more: mx.linspace(a, b, n, endpoint=False, **more),
    "logspace": lambda a, b, n, **more: mx.logspace(a, b, n, base=2.0, **more),
    "geomspace": mx.geomspace,
    "geomspace open": lambda a, b, n, **more: mx.geomspace(a, b, n, endpoint=False, **more),
}


@pytest.mark.parametrize("name", SPACED)
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_what_is_spaced_between_arrays_follows_its_ends(name, count):
    """The values of numbers, with the gradients of central differences."""
    spaced, weights = SPACED[name], mx.arange(1.0, count + 1.0)
    start, stop, step = 1.25, 3.5, 1e-6

    def value(a, b):
        return (weights * spaced(a, b, count)).sum()

    ends = [mx.array(end) for end in (start, stop)]
    found, gradients = mx.value_and_grad(value, argnums=(0, 1))(*ends)
    assert found.item() == value(start, stop).item()

    def exact(a, b):
        return float(np.dot(np.array(weights), np.array(spaced(a, b, count, dtype=mx.float64))))

    wanted = [
        (exact(start + step, stop) - exact(start - step, stop)) / (2 * step),
        (exact(start, stop + step) - exact(start, stop - step)) / (2 * step),
    ]
    np.testing.assert_allclose([g.item() for g in gradients], wanted, rtol=1e-4, atol=1e-4)
    one = mx.grad(lambda a: value(a, stop))(ends[0]).item()
    np.testing.assert_allclose(one, wanted[0], rtol=1e-4, atol=1e-4)


def test_lines_between_arrays_inside_other_transforms():
    starts = mx.array([0.0, 1.0])
    lines = mx.vmap(lambda a: mx.linspace(a, 4.0, 3))(starts)
    assert lines.tolist() == [[0.0, 2.0, 4.0], [1.0, 2.5, 4.0]]
    whole = mx.vmap(lambda a: mx.linspace(a, 29, 30, dtype=mx.int32))(starts * 0)
    assert whole.tolist() == [list(range(30))] * 2
    complexes = mx.grad(lambda a: mx.linspace(a, 1j, 3).real.sum())(mx.array(1.0))
    assert complexes.item() == 1.5
    several = mx.grad(lambda a: mx.linspace(a, 1.0, 3).sum())(starts)
    assert several.tolist() == [1.5, 1.5]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: mx.arange(x),
        lambda x: mx.arange(0.0, 8.0, x),
        lambda x: mx.linspace(0.0, 1.0, x.astype(mx.int32)),
        lambda x: mx.array(int(x) + complex(x).real),
    ],
)
def test_a_value_that_leaves_a_derivative_is_warned_of(call):
    with pytest.warns(RuntimeWarning, match=r"^\[grad\] a value was read out"):
        mx.grad(lambda x: call(x).sum() + x)(mx.array(4.0))
