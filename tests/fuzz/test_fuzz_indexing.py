"""Random index expressions read and write what NumPy's do."""

import numpy as np
import umber.core as mx
from arrays import assert_close, to_numpy, to_umber
from fuzz_strategies import Twin, axis_of, fuzzed, indices, rearranged, shapes, twins, values
from hypothesis import given
from hypothesis import strategies as st

DTYPES = ("float32", "int32", "bool_", "complex64", "int8", "float16", "float64", "bfloat16")
OF_WRITES = ("float32", "int32", "int8", "float64", "uint16", "complex64")


def read(theirs, key):
    """NumPy's answer; `None` where NumPy has none."""
    try:
        return theirs[key]
    except (IndexError, ValueError):
        return None


@fuzzed(400)
@given(st.data())
def test_read(data):
    twin = data.draw(twins(DTYPES))
    ours, theirs = data.draw(indices(twin.theirs.shape))
    want = read(twin.theirs, theirs)
    if want is not None:
        assert_close(to_numpy(twin.ours[ours]), want, note=f"{theirs}")


@fuzzed(300)
@given(st.data())
def test_write(data):
    twin = data.draw(twins(OF_WRITES))
    with_value = data.draw(st.booleans())
    ours, theirs = data.draw(indices(twin.theirs.shape, unique=with_value))
    target = read(twin.theirs, theirs)
    if target is None:
        return
    want, array, before = twin.theirs.copy(), mx.array(twin.ours), twin.theirs.copy()
    kept = twin.ours * 1 if twin.dtype != "bool_" else twin.ours
    if with_value:
        shape = np.shape(target)[data.draw(st.integers(0, np.ndim(target))) :]
        value = data.draw(values(shape, twin.dtype))
        want[theirs] = value
        array[ours] = to_umber(value, twin.dtype)
    else:
        want[theirs] = 3
        array[ours] = 3
    assert_close(to_numpy(array), want, note=f"{theirs}")
    assert_close(to_numpy(twin.ours), before, note="the array that was copied")
    assert_close(to_numpy(kept), before, note="a result from before")


@fuzzed(200)
@given(st.data())
def test_add_at_repeated_places(data):
    twin = data.draw(twins(("float32", "int32"), st.just((5, 3))))
    if not twin.theirs.shape or not twin.theirs.shape[0]:
        return
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    places = rng.integers(-twin.theirs.shape[0], twin.theirs.shape[0], data.draw(shapes(1, 1)))
    value = data.draw(values((len(places), *twin.theirs.shape[1:]), twin.dtype))
    want = twin.theirs.copy()
    np.add.at(want, places, value)
    got = twin.ours.at[mx.array(places.astype("int32"))].add(to_umber(value, twin.dtype))
    np.testing.assert_allclose(to_numpy(got), want, rtol=1e-5, atol=1e-5)


@fuzzed(200)
@given(st.data())
def test_take_and_along_axis(data):
    twin = data.draw(twins(DTYPES, shapes(1, 3, 4, zero=False), layouts=False))
    axis = data.draw(axis_of(twin.theirs.shape))
    size = twin.theirs.shape[axis]
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    some = rng.integers(-size, size, data.draw(shapes(0, 2, 3))).astype("int32")
    got = mx.take(twin.ours, mx.array(some), axis)
    assert_close(to_numpy(got), np.take(twin.theirs, some, axis, mode="wrap"))
    shape = list(twin.theirs.shape)
    shape[axis] = data.draw(st.integers(0, 4))
    along = rng.integers(-size, size, shape).astype("int32")
    places = data.draw(rearranged_like(along))
    got = mx.take_along_axis(twin.ours, places, axis)
    assert_close(to_numpy(got), np.take_along_axis(twin.theirs, along, axis))
    unique = np.argsort(rng.random(twin.theirs.shape), axis).astype("int32")
    value = data.draw(values(unique.shape, twin.dtype))
    want = twin.theirs.copy()
    np.put_along_axis(want, unique, value, axis)
    got = mx.put_along_axis(twin.ours, mx.array(unique), to_umber(value, twin.dtype), axis)
    assert_close(to_numpy(got), want)


@st.composite
def rearranged_like(draw, theirs):
    """These indices as a transposed or a plain array."""
    if draw(st.booleans()):
        axes = tuple(reversed(range(theirs.ndim)))
        return mx.transpose(mx.array(np.ascontiguousarray(theirs.transpose(axes))), axes)
    return mx.array(theirs)


@fuzzed(150)
@given(st.data())
def test_update_of_a_view_of_itself(data):
    """`a[i] = a[j]`: what is written was read before."""
    start = np.arange(24).reshape(4, 6)
    ours, theirs = mx.array(start), start.copy()
    for _ in range(data.draw(st.integers(1, 3))):
        step = data.draw(st.sampled_from([1, -1]))
        key, other = data.draw(st.permutations([slice(0, 3), slice(1, 4)]))
        flipped = slice(None, None, step)
        theirs[key] = theirs[other][:, flipped].copy()
        ours[key] = ours[other][:, flipped]
    assert_close(to_numpy(ours), theirs)
    twin = data.draw(rearranged(Twin(ours, theirs, "int64")))
    assert_close(to_numpy(twin.ours), twin.theirs)
