"""Copies and `take` of arrays with any strides: short rows, repeated rows, inner axes."""

import numpy as np
import pytest
import umber.core as mx
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import examples

DTYPES = ["uint8", "int16", "float32", "float64", "complex64", "complex128"]


def counting(shape, dtype):
    # Small enough for every dtype to tell neighbours apart.
    return (np.arange(np.prod(shape, dtype=int)) % 101).astype(dtype).reshape(shape)


@st.composite
def views(draw):
    """A way to look at an array whose rows are short: shape, slices, and the order of its axes."""
    rows = draw(st.sampled_from([1, 2, 7, 90, 700]))
    shape = (*draw(st.sampled_from([(), (1,), (3,), (5,)])), rows, draw(st.integers(1, 17)))

    def step(length):
        start = draw(st.integers(0, length - 1))
        return draw(st.sampled_from([slice(start, None), slice(None), slice(start, None, -1)]))

    axes = list(range(len(shape)))
    if draw(st.booleans()):
        axes[-2:] = axes[:-3:-1]
    return shape, tuple(step(length) for length in shape), axes


@settings(max_examples=examples(150))
@given(views(), st.sampled_from(DTYPES), st.sampled_from([None, 2, 3, 4, 9]))
def test_short_rows_are_copied_as_they_are_seen(view, dtype, repeated):
    shape, slices, axes = view
    own = counting(shape, dtype)
    expected = own[slices].transpose(axes)
    x = mx.array(own, dtype=getattr(mx, dtype))[slices].transpose(axes)
    if repeated:
        spread = (*expected.shape, repeated)
        expected = np.broadcast_to(expected[..., None], spread)
        x = mx.broadcast_to(x[..., None], spread)
    np.testing.assert_array_equal(np.array(mx.contiguous(x)), expected)
    # Of an operation, which reads a block of elements at a time, wherever that begins.
    np.testing.assert_array_equal(np.array(x + x), expected + expected)


@settings(max_examples=examples(100))
@given(st.integers(1, 17), st.integers(1, 900), st.sampled_from(["row", "column", "both", "part"]))
def test_short_rows_meet_what_repeats(length, rows, other):
    own = counting((3, rows, length), "float32")
    beside = {
        "row": own[:, :1],
        "column": own[:, :, :1],
        "both": own[:1, :, :1],
        "part": np.concatenate([own, own + 1], -1)[:, :, 1 : 1 + length],
    }[other]
    x, y = mx.array(own), mx.array(np.concatenate([own, own + 1], -1))
    y = {
        "row": x[:, :1],
        "column": x[:, :, :1],
        "both": x[:1, :, :1],
        "part": y[:, :, 1 : 1 + length],
    }[other]
    np.testing.assert_array_equal(np.array(x * y + 1), own * beside + 1)
    np.testing.assert_array_equal(np.array((y - x).astype(mx.float16)), (beside - own).astype("f2"))


@pytest.mark.parametrize("repeats", [1, 2, 3, 4, 5, 16, 17])
@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "float16"])
def test_repeats(dtype, repeats):
    own = counting((7, 1003), dtype)
    x = mx.array(own, dtype=getattr(mx, dtype if dtype != "bool" else "bool_"))
    for axis in (None, 0, 1):
        expected = np.repeat(own, repeats, axis)
        np.testing.assert_array_equal(np.array(mx.repeat(x, repeats, axis)), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "axis", "count"),
    [
        ((16, 5), 1, 3),
        ((15, 5), 1, 3),
        ((300, 40), 1, 5000),
        ((40, 300), 1, 1),
        ((20, 6, 7), 1, 9),
        ((4, 5, 6, 7), 2, 700),
        ((4, 5, 6, 130), 2, 4100),
        ((17, 3, 0), 1, 4),
        ((17, 3), 1, 0),
    ],
)
def test_what_is_taken_along_an_inner_axis(dtype, shape, axis, count):
    generator = np.random.default_rng(count)
    own = generator.integers(0, 100, shape).astype(dtype)
    places = generator.integers(-shape[axis], shape[axis], count).astype("int32")
    x = mx.array(own, dtype=getattr(mx, dtype))
    taken = mx.take(x, mx.array(places), axis)
    np.testing.assert_array_equal(np.array(taken), own.take(places, axis))
    at = (slice(None),) * axis
    np.testing.assert_array_equal(np.array(x[(*at, mx.array(places))]), own[(*at, places)])
    # Of a source in another order.
    back = mx.array(own.T.copy(), dtype=x.dtype).T
    np.testing.assert_array_equal(np.array(mx.take(back, mx.array(places), axis)), np.array(taken))
    if count > 1 and 0 not in shape:
        square = mx.array(places[: count // 2 * 2].reshape(2, -1))
        expected = own.take(np.array(square), axis)
        np.testing.assert_array_equal(np.array(mx.take(x, square, axis)), expected)


def test_what_is_taken_with_neighbouring_and_distant_axes():
    own = counting((17, 6, 5, 4), "float32")
    x = mx.array(own)
    generator = np.random.default_rng(0)
    i, j = generator.integers(0, 4, (2, 3, 7))
    mi, mj = mx.array(i), mx.array(j)
    for index, indices in [
        ((slice(None), i, j), (slice(None), mi, mj)),
        ((slice(None), slice(None), i, j), (slice(None), slice(None), mi, mj)),
        ((slice(None), i, slice(None), j), (slice(None), mi, slice(None), mj)),
        ((i, slice(None), j), (mi, slice(None), mj)),
        ((slice(None), i[0], slice(1, 3), j[0]), (slice(None), mi[0], slice(1, 3), mj[0])),
        ((slice(None), i[:, :1], j), (slice(None), mi[:, :1], mj)),
    ]:
        np.testing.assert_array_equal(np.array(x[indices]), own[index])


def test_what_is_taken_lies_as_it_is_seen():
    x = mx.array(counting((64, 50), "float32"))
    taken = x[:, mx.array([3, 1, 2])]
    mx.eval(taken)
    assert memoryview(taken).c_contiguous


@pytest.mark.parametrize(("bad", "place"), [(50, 4097), (-51, 3)])
def test_indices_outside_of_an_inner_axis_are_named(bad, place):
    x = mx.array(counting((64, 50), "float32"))
    places = np.zeros(5000, "int32")
    places[place] = bad
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 1 of length 50"):
        mx.eval(mx.take(x, mx.array(places), 1))


def test_derivatives_of_what_is_taken_along_an_inner_axis():
    own = counting((20, 9), "float32")
    places = mx.array([1, 8, 1])
    weights = mx.array(counting((20, 3), "float32"))
    found = mx.grad(lambda x: (mx.take(x, places, 1) * weights).sum())(mx.array(own))
    expected = np.zeros_like(own)
    for k, place in enumerate([1, 8, 1]):
        expected[:, place] += np.array(weights)[:, k]
    np.testing.assert_array_equal(np.array(found), expected)
    lanes = mx.vmap(lambda row: mx.take(row, places))(mx.array(own))
    np.testing.assert_array_equal(np.array(lanes), own[:, [1, 8, 1]])


@pytest.mark.parametrize("width", [127, 128, 129, 513, 2000])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
def test_rows_that_are_picked_past_the_caches(dtype, width):
    # More than eight megabytes of rows, in an order of their own.
    count = (9 << 20) // (width * np.dtype(dtype).itemsize)
    own = counting((500, width + 1), dtype)
    places = np.random.default_rng(width).integers(-500, 500, count)
    x, i = mx.array(own, dtype=getattr(mx, dtype)), mx.array(places)
    np.testing.assert_array_equal(np.array(x[i]), own[places])
    np.testing.assert_array_equal(np.array(x[:, 1:][i]), own[:, 1:][places])
