"""Where digits get lost: large ranges, numbers that fill an array, rounding to places."""

import math

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
    with pytest.raises(ValueError, match=r"\[arange\] step must be non-zero"):
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
    with pytest.raises(TypeError, match=r"^\[arange\] missing stop: call arange\(stop\)"):
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


WHOLE = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (3, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (7, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (1, 2**64 - 1),
}


def whole_line(start, stop, count, steps):
    """Exactly evenly spaced integers, cut off towards zero."""
    values = []
    for i in range(count):
        numerator = start * steps + (stop - start) * i
        quotient = abs(numerator) // steps
        values.append(quotient if numerator >= 0 else -quotient)
    return values


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("count", [2, 3, 7, 10])
@pytest.mark.parametrize("endpoint", [True, False])
def test_lines_between_integers_are_exact(name, count, endpoint):
    dtype, (low, high) = getattr(mx, name), WHOLE[name]
    for start, stop in ((low, high), (high, low), (high - 5, high), (low, low + 4), (high, high)):
        want = whole_line(start, stop, count, count - 1 if endpoint else count)
        line = mx.linspace(start, stop, count, endpoint, dtype)
        assert line.dtype == dtype
        assert line.tolist() == want
        ends = mx.array([start, low], dtype=dtype), mx.array([stop, high], dtype=dtype)
        columns = mx.linspace(*ends, count, endpoint, dtype, axis=1)
        assert columns[0].tolist() == want
        lanes = mx.vmap(lambda a, b: mx.linspace(a, b, count, endpoint, dtype))
        assert lanes(*ends)[0].tolist() == want
        scalars = mx.linspace(
            *(mx.array(end, dtype=dtype) for end in (start, stop)), count, endpoint, dtype
        )
        assert scalars.tolist() == want


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 2**53 + 1), (2**53 + 1, 0), (-(2**53) - 1, 2**62 + 1), (1, 2**63 - 1)]
)
def test_ends_of_integers_are_exact(start, stop):
    for spaced in (mx.linspace, mx.geomspace) if start * stop > 0 else (mx.linspace,):
        for count in (2, 3, 50):
            line = spaced(start, stop, count, dtype=mx.int64)
            assert (line[0].item(), line[-1].item()) == (start, stop)
            listed = spaced([start, start], [stop, stop], count, dtype=mx.int64)
            assert (listed[0].tolist(), listed[-1].tolist()) == ([start] * 2, [stop] * 2)
    assert mx.linspace(start, stop, 1, dtype=mx.int64).tolist() == [start]


def test_fractional_ends_of_integers():
    assert mx.linspace(0.3, 29.0, 30, dtype=mx.int32)[-1].item() == 29
    assert mx.linspace(0.5, 3.5, 4, dtype=mx.int32).tolist() == [0, 1, 2, 3]
    assert mx.linspace(-1.5, 1.5, 4, dtype=mx.int32).tolist() == [-1, 0, 0, 1]


@pytest.mark.parametrize("dtype", [None, mx.int32, mx.int64, mx.float16, mx.float64])
def test_an_infinite_step_reaches_no_second_element(dtype):
    for bounds, want in (
        ((0, 10, mx.inf), [0]),
        ((5, 0, -mx.inf), [5]),
        ((0, 10, -mx.inf), []),
        ((10, 10, mx.inf), []),
        ((5, 0, mx.inf), []),
    ):
        line = mx.arange(*bounds, dtype=dtype)
        assert line.tolist() == want
        assert line.dtype == (dtype or mx.float32)
    for bounds in ((0, mx.inf), (0, mx.inf, mx.inf), (0, 1, mx.nan), (mx.nan, 1)):
        with pytest.raises(
            ValueError, match=r"^\[arange\] start and stop must be finite, and step a number, got"
        ):
            mx.arange(*bounds)


@pytest.mark.parametrize(
    "options", [{"start": 5}, {"start": 5, "step": 2}, {"start": 5, "stop": None}]
)
def test_a_start_alone_is_no_range(options):
    with pytest.raises(TypeError, match=r"^\[arange\] missing stop: call arange\(stop\)"):
        mx.arange(**options)


def test_arguments_of_arange():
    assert mx.arange(5, None, 2).tolist() == [0, 2, 4]
    assert mx.arange(2, 5, 1, mx.float32).dtype == mx.float32
    assert mx.arange(2, stop=5, dtype=mx.int8).tolist() == [2, 3, 4]
    for call in (
        lambda: mx.arange(1, 2, 3, mx.int32, mx.cpu),
        lambda: mx.arange(1, 2, 3, mx.int32, dtype=mx.int32),
        lambda: mx.arange(1, start=2),
        lambda: mx.arange(1, end=2),
    ):
        with pytest.raises(
            TypeError, match=r"^\[arange\] (got .*expected arange\(|dtype is given twice)"
        ):
            call()


@pytest.mark.parametrize("ends", [(1, 0), (0, 1), (-1, 0), (1.0, -0.0), ([1, 2], [0, 4]), (1, 0j)])
def test_a_geometric_line_cannot_include_zero(ends):
    with pytest.raises(
        ValueError, match=r"^\[geomspace\] start and stop must be finite, non-zero and of"
    ):
        mx.geomspace(*ends, 3)


def test_rounding_as_python_writes_it():
    x = mx.array([1.25, -2.5, 3.5])
    assert round(x).tolist() == [1, -2, 4]
    assert round(x, 1).tolist() == mx.round(x, 1).tolist()
    assert round(mx.array([123, -7]), -1).tolist() == [120, -10]
    for array in (x, x.astype(mx.float16), mx.array(2.5), mx.array([1, 2], dtype=mx.uint8)):
        assert round(array).dtype == array.dtype
        assert round(array).shape == array.shape
    assert mx.grad(lambda x: round(x).sum())(x).tolist() == [0, 0, 0]
    assert mx.compile(round)(x).tolist() == [1, -2, 4]
    assert mx.vmap(round)(x).tolist() == [1, -2, 4]


@pytest.mark.parametrize("name", ["trunc", "floor", "ceil"])
def test_whole_numbers_of_one_element(name):
    function = getattr(math, name)
    for value in (1.5, -1.5, 7, 2**53 + 1, True):
        for shape in ((), (1,), (1, 1)):
            got = function(mx.array(value).reshape(shape))
            assert type(got) is int
            assert got == function(value)
    large = mx.array([2**64 - 1], dtype=mx.uint64)
    assert function(large) == 2**64 - 1
    with pytest.raises(ValueError, match=rf"^\[{name}\] array must have exactly one element, got"):
        function(mx.array([1.5, 2.5]))
    with pytest.raises(TypeError):
        function(mx.array(1j))
    with pytest.raises(OverflowError):
        function(mx.array(mx.inf))


def test_linspace_of_int_is_as_wide_as_its_ends():
    line = mx.linspace(0, 2**40, 3, dtype=int)
    assert line.dtype == mx.int64
    assert line.tolist() == [0, 2**39, 2**40]
    assert mx.linspace(0, 4, 3, dtype=int).dtype == mx.int32
