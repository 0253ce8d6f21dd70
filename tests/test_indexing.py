"""Indexing and assignment against NumPy, on random arrays and random indices."""

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, to_numpy
from hypothesis import given
from hypothesis import strategies as st

SHAPES = st.lists(st.integers(0, 5), min_size=1, max_size=4).map(tuple)


def filled(shape):
    return np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)


@st.composite
def slices(draw, size):
    """Any slice, inside or outside of the axis, forwards or backwards."""
    place = st.none() | st.integers(-size - 2, size + 2)
    step = st.none() | st.sampled_from([1, 2, 3, -1, -2, -4])
    return slice(draw(place), draw(place), draw(step))


def places(size):
    return st.integers(-size, size - 1)


@st.composite
def basic_indices(draw, shape):
    """Integers, slices, None and one ellipsis, for a shape."""
    used = draw(st.integers(0, len(shape)))
    parts = []
    for size in shape[:used]:
        integers = [places(size)] if size else []
        parts.append(draw(st.one_of(slices(size), *integers)))
    if used == len(shape) or draw(st.booleans()):
        spot = draw(st.integers(0, len(parts)))
        # What stands after the ellipsis counts from the last axis.
        parts = [*parts[:spot], ...] if spot < len(parts) else [*parts, ...]
    for _ in range(draw(st.integers(0, 2))):
        parts.insert(draw(st.integers(0, len(parts))), None)
    return tuple(parts)


@st.composite
def basic_cases(draw):
    shape = draw(SHAPES)
    return shape, draw(basic_indices(shape))


@st.composite
def gather_cases(draw):
    """Index arrays on some axes (they broadcast together), slices or integers on the others."""
    shape = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple))
    lengths = draw(
        st.sampled_from([((2,),), ((3, 1), (1, 2)), ((1,), (3,)), ((0,),), ((2, 2), (2,), (1, 2))])
    )
    kinds = [draw(st.sampled_from("asi")) for _ in shape]
    kinds[draw(st.integers(0, len(shape) - 1))] = "a"
    parts, count = [], 0
    for size, kind in zip(shape, kinds, strict=True):
        if kind == "a":
            dims = lengths[count % len(lengths)]
            count += 1
            total = int(np.prod(dims))
            drawn = draw(st.lists(places(size), min_size=total, max_size=total))
            parts.append(np.array(drawn, dtype=np.int32).reshape(dims))
        else:
            parts.append(draw(slices(size) if kind == "s" else places(size)))
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), None)
    if draw(st.booleans()):
        parts.append(...)
    return shape, tuple(parts)


def for_umber(index):
    """NumPy index arrays as umber arrays."""
    if isinstance(index, tuple):
        return tuple(for_umber(part) for part in index)
    return mx.array(index) if isinstance(index, np.ndarray) else index


def compare_read(shape, index):
    values = filled(shape)
    want = values[index]
    assert_close(to_numpy(mx.array(values)[for_umber(index)]), want, note=f"{shape}[{index}]")


def compare_write(shape, index, number):
    """The selected places take an array of their shape, then its last row, then a number."""
    start = filled(shape)
    selected = start[index].shape
    values = -1 - filled(selected)
    for value in (values, values[..., :1] if values.ndim else values, number):
        want, array = start.copy(), mx.array(start)
        want[index] = value
        given_value = mx.array(value) if isinstance(value, np.ndarray) else value
        array[for_umber(index)] = given_value
        assert_close(to_numpy(array), want, note=f"{shape}[{index}] = …")


@given(basic_cases())
def test_basic_read(case):
    compare_read(*case)


@given(basic_cases(), st.integers(-9, -1))
def test_basic_write(case, number):
    compare_write(*case, number)


@given(gather_cases())
def test_array_read(case):
    compare_read(*case)


@given(gather_cases(), st.integers(-9, -1))
def test_array_write(case, number):
    shape, index = case
    # A place that is named twice takes either value; NumPy takes the last. Only clear cases here.
    hits = np.zeros(shape, int)
    np.add.at(hits, index, 1)
    if hits.max(initial=0) <= 1:
        compare_write(shape, index, number)


UPDATES = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}


@pytest.mark.parametrize("name", UPDATES)
@given(case=basic_cases() | gather_cases())
def test_at_counts_every_place(name, case):
    """`x.at[i].add(v)`: a place that is named twice changes twice; `x` itself does not change."""
    shape, index = case
    start = filled(shape)
    array = mx.array(start)
    values = 2 + filled(start[index].shape) % 3
    want = start.copy()
    UPDATES[name].at(want, index, values)
    got = getattr(array.at[for_umber(index)], name)(mx.array(values))
    assert_close(to_numpy(got), want, note=f"{shape}.at[{index}].{name}")
    assert_close(to_numpy(array), start)


def test_at_divide():
    x = mx.array([8.0, 8.0, 8.0])
    assert x.at[mx.array([0, 0, 2])].divide(mx.array([2.0, 2.0, 4.0])).tolist() == [2.0, 8.0, 2.0]


def test_index_kinds():
    """Integers may be Python's, NumPy's or umber's; index arrays any integer dtype."""
    x = mx.arange(12).reshape(3, 4)
    assert x[np.int64(1), np.int32(-1)].item() == 7
    assert x[mx.array(2)].tolist() == [8, 9, 10, 11]
    assert x[mx.array(2), 1].item() == 9
    for name in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"):
        assert x[mx.array([2, 0], dtype=getattr(mx, name))].tolist() == [
            [8, 9, 10, 11],
            [0, 1, 2, 3],
        ]
    assert x[[2, 0]].tolist() == [[8, 9, 10, 11], [0, 1, 2, 3]]
    assert x[np.array([2, 0])].tolist() == [[8, 9, 10, 11], [0, 1, 2, 3]]
    assert x[()].tolist() == x.tolist()
    assert x[...].tolist() == x.tolist()
    assert x[None].shape == (1, 3, 4)
    assert x[:, mx.newaxis].shape == (3, 1, 4)


def test_names_of_one_array_see_an_update():
    a = mx.array([1, 2, 3])
    b, taken = a, a[:2]
    b[2] = 0
    assert a.tolist() == [1, 2, 0]
    b[0] += 10
    assert a.tolist() == [11, 2, 0]
    assert taken.tolist() == [1, 2]


def test_updates_keep_the_dtype():
    x = mx.zeros((3,), dtype=mx.float16)
    x[0] = 1
    x[1] = 2.5
    x[2] = mx.array(3.0, dtype=mx.float32)
    assert x.dtype == mx.float16
    assert x.tolist() == [1.0, 2.5, 3.0]
    whole = mx.array([1, 2])
    whole[0] = 7.9
    assert (whole.dtype, whole.tolist()) == (mx.int32, [7, 2])
    x[...] = 4
    assert x.tolist() == [4.0, 4.0, 4.0]
    assert x.at[0].add(0.5).dtype == mx.float16


def test_updates_from_lists_and_numpy():
    x = mx.zeros((2, 3), dtype=mx.int32)
    x[0] = mx.array([1, 2, 3])
    x[1] = np.array([4, 5, 6])
    x[:, 0] = [7, 8]
    assert x.tolist() == [[7, 2, 3], [8, 5, 6]]


def test_gradient_through_updates():
    """What is overwritten has no gradient; what is written has."""

    def function(x, value):
        x = x * 1
        x[mx.array([1])] = 2.0 * value
        x[0:1] += x[2:3]
        return (x * mx.array([1.0, 10.0, 100.0])).sum()

    at = (mx.array([1.0, 2.0, 3.0]), mx.array(4.0))
    gradients = mx.grad(function, argnums=(0, 1))(*at)
    assert gradients[0].tolist() == [1.0, 0.0, 101.0]
    assert gradients[1].item() == 20.0


def test_update_of_the_argument_itself():
    def function(x, places):
        x[places] = 2.0
        return x.sum()

    x = mx.array([1.0, 2.0, 3.0])
    assert mx.grad(function)(x, mx.array([1])).tolist() == [1.0, 0.0, 1.0]


def test_gradient_of_repeated_reads():
    gradient = mx.grad(lambda x: (x[mx.array([0, 0, 2])] * mx.array([1.0, 2.0, 4.0])).sum())
    assert gradient(mx.array([5.0, 6.0, 7.0])).tolist() == [3.0, 0.0, 4.0]


# Reads and writes outside of an array of shape (3, 4).
OUTSIDE = [
    3,
    -4,
    (0, 4),
    (0, -5),
    (slice(None), 4),
    (..., 9),
    np.array([0, 3]),
    np.array([-4]),
    (slice(None), np.array([[0], [4]])),
    (np.array([0, 1]), np.array([0, 4])),
    (1, np.array([-5])),
    np.array([100_000_000]),
    (0, 0, 0),
    (slice(None), slice(None), 0),
]


def write(array, index, value):
    array[index] = value
    mx.eval(array)


@pytest.mark.parametrize("index", OUTSIDE, ids=str)
def test_outside_raises(index):
    x = mx.array(filled((3, 4)))
    with pytest.raises(IndexError, match=r"^\["):
        mx.eval(x[for_umber(index)])
    with pytest.raises(IndexError, match=r"^\["):
        write(x, for_umber(index), 1)


@pytest.mark.parametrize("index", OUTSIDE[:12], ids=str)
def test_outside_raises_in_at(index):
    x = mx.array(filled((3, 4)))
    with pytest.raises(IndexError, match=r"^\["):
        mx.eval(x.at[for_umber(index)].add(1))


def test_outside_raises_under_compile_and_vmap():
    x, bad = mx.array([1.0, 2.0, 3.0]), mx.array([0, 3])
    with pytest.raises(IndexError):
        mx.eval(mx.compile(lambda x, i: x[i] * 2)(x, bad))
    with pytest.raises(IndexError):
        mx.eval(mx.vmap(lambda i: x[i])(bad))


def test_text_names_op_axis_index_and_size():
    x = mx.zeros((3, 4))
    with pytest.raises(IndexError) as caught:
        mx.eval(mx.take(x, mx.array([0, 7]), axis=1))
    text = str(caught.value)
    assert text.startswith("[take]")
    for word in ("axis 1", "7", "4"):
        assert word in text


def test_wrong_shapes_of_values():
    x = mx.zeros((3, 4))
    for index, value in (
        (0, mx.zeros(3)),
        (slice(0, 2), mx.zeros((3, 4))),
        (mx.array([0, 1]), mx.zeros((3, 4))),
    ):
        with pytest.raises(ValueError, match=r"^\["):
            x[index] = value
    assert x.sum().item() == 0.0


def test_large_step_and_bounds():
    x = mx.arange(10)
    big = 2**62
    assert x[::big].tolist() == [0]
    assert x[-big:big].tolist() == list(range(10))
    assert x[big:].tolist() == []
    assert x[::-big].tolist() == [9]
