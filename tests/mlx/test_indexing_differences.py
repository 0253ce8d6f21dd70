"""Indexing for which MLX crashes, returns wrong values or raises, and umber's results."""

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, to_numpy


def three():
    return mx.array([10, 20, 30])


def outside(call):
    """An IndexError at the call or at evaluation, with the name of the function in front."""
    with pytest.raises(
        IndexError, match=r"^\[\w+\] index -?\d+ is out of bounds for axis \d of length \d+"
    ):
        mx.eval(call())


def assign(a, index, value):
    a[index] = value
    return a


def test_reading_outside_raises():
    outside(lambda: three()[10])
    outside(lambda: three()[-10])
    outside(lambda: three()[mx.array([0, 100000])])
    outside(lambda: mx.take(three(), mx.array([3])))
    outside(lambda: mx.take(three(), 3))
    outside(lambda: mx.take_along_axis(three(), mx.array([-4]), axis=0))


def test_writing_outside_raises():
    outside(lambda: assign(three(), 5, 7))
    outside(lambda: assign(three(), mx.array([5]), 7))
    outside(lambda: three().at[mx.array([5])].add(7))


def test_steps_of_zero_raise():
    with pytest.raises(ValueError, match="slice step must be non-zero"):
        three()[::0]
    with pytest.raises(ValueError, match="slice step must be non-zero"):
        assign(three(), slice(None, None, 0), 1)


def test_integer_division_by_zero_and_overflow():
    for dtype in (mx.int8, mx.int32, mx.int64):
        least = mx.iinfo(dtype).min
        a = mx.array([7, least], dtype=dtype)
        quotient, remainder = mx.divmod(a, mx.array([0, -1], dtype=dtype))
        assert quotient.tolist() == [0, least]
        assert remainder.tolist()[1] == 0
        assert (a // mx.array([0, -1], dtype=dtype)).tolist() == [0, least]


def test_messages_of_two_indices():
    a = mx.zeros((4, 4))
    with pytest.raises(IndexError, match="index 6 is out of bounds for axis 1 of"):
        a[0, 6]


def test_slices_beyond_the_end_beside_arrays():
    x = np.arange(24).reshape(4, 6)
    a, places = mx.array(x), mx.array([0, 2])
    for index in (
        (slice(2, 100), places),
        (slice(-100, 2), places),
        (places, slice(4, 100)),
        (places, slice(100, 200)),
        (slice(9, None, -2), places),
    ):
        given = tuple(np.array(i) if isinstance(i, mx.array) else i for i in index)
        assert_close(to_numpy(a[index]), x[given])


def test_repeated_indices_are_defined():
    """The last value stays; `+=` adds once; `at[]` counts every time, in a fixed order."""
    a = mx.zeros(3)
    a[[0, 0, 0]] = mx.array([1.0, 2.0, 3.0])
    assert a.tolist() == [3.0, 0.0, 0.0]
    a[[0, 0]] += 1
    assert a.tolist() == [4.0, 0.0, 0.0]
    assert a.at[mx.array([0, 0])].add(1).tolist() == [6.0, 0.0, 0.0]
    places = mx.array(np.random.default_rng(1).integers(0, 50, 200_000))
    values = mx.arange(200_000)
    want = np.zeros(50, np.int32)
    want[np.array(places)] = np.arange(200_000)
    assert_close(to_numpy(assign(mx.zeros(50, mx.int32), places, values)), want)
    sums = [mx.zeros(50).at[places].add(mx.sin(values)).tolist() for _ in range(3)]
    assert sums[0] == sums[1] == sums[2]


def test_too_many_values_for_a_mask_raise():
    for count in (1, 3):
        a = three()
        with pytest.raises(ValueError, match=r"^\[index\]"):
            a[mx.array([True, True, False]), None] = mx.zeros((count + 3, 1))
        with pytest.raises(ValueError, match=r"^\[index\]"):
            a[mx.array([True, True, False])] = mx.zeros(4)
        assert a.tolist() == [10, 20, 30]


def test_a_slice_is_a_value():
    a = three()
    b, view = a[:], np.asarray(a)
    b[0] = 9
    assert a.tolist() == [10, 20, 30]
    a[0] = 5
    assert (a.tolist(), b.tolist(), view.tolist()) == ([5, 20, 30], [9, 20, 30], [10, 20, 30])


def test_masks_read():
    a = mx.arange(12).reshape(3, 4)
    assert a[a > 8].tolist() == [9, 10, 11]
    assert a[mx.array([True, False, True]), 1].tolist() == [1, 9]


def test_searching_by_value():
    a = mx.array([[0, 3], [4, 0]])
    assert [i.tolist() for i in mx.nonzero(a)] == [[0, 1], [1, 0]]
    assert [i.tolist() for i in mx.where(a)] == [[0, 1], [1, 0]]
    assert mx.argwhere(a).tolist() == [[0, 1], [1, 0]]
    assert mx.nonzero(a)[0].dtype == mx.argsort(a).dtype == mx.uint32


def test_unique_without_a_size():
    a = mx.array([3, 1, 3, 2])
    assert mx.unique(a).tolist() == [1, 2, 3]
    assert mx.unique_counts(a).counts.tolist() == [1, 1, 2]
    assert mx.unique(a, 5).tolist() == [1, 2, 3, 1, 1]


def test_numpy_arrays_are_indices():
    a = three()
    assert a[np.array([2, 0])].tolist() == [30, 10]
    assert a[np.array([True, False, True])].tolist() == [10, 30]
    assert a[np.int64(1)].item() == 20
    assert assign(three(), np.array([0]), 1).tolist() == [1, 20, 30]


def test_sizes_have_64_bits():
    """Without memory: zeros and what is broadcast have none of their own."""
    assert mx.zeros(2**31).shape == (2**31,)
    plane = mx.broadcast_to(mx.array(7, dtype=mx.uint8), (2**16, 2**16 + 1))
    assert mx.flatten(plane).size == 2**32 + 2**16
    far = 2**32 + 2**16 - 1
    assert plane[far // (2**16 + 1), far % (2**16 + 1)].item() == 7
    line = mx.broadcast_to(mx.array(7, dtype=mx.uint8), (far + 1,))
    assert line[far].item() == 7
    assert line[mx.array([far, 0, -1], dtype=mx.int64)].tolist() == [7, 7, 7]
    assert line[2**31 :: 2**30].shape == (3,)
    outside(lambda: line[mx.array([far + 1], dtype=mx.int64)])


def test_elements_come_and_go():
    a = three()
    assert mx.delete(a, 1).tolist() == [10, 30]
    assert mx.insert(a, 1, 15).tolist() == [10, 15, 20, 30]
    assert mx.append(a, [40]).tolist() == [10, 20, 30, 40]
    with pytest.raises(TypeError, match=r"umber\.core\.delete"):
        del a[0]
