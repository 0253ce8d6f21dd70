"""Corners of making, reading and keeping arrays."""

import pickle

import pytest
import umber.core as mx
import umber.utils as utils


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_every_protocol(protocol):
    for array in (
        mx.array([[1, 2], [3, 4]])[:, ::-1],
        mx.array(2.5, mx.bfloat16),
        mx.zeros((0, 3)),
    ):
        back = pickle.loads(pickle.dumps(array, protocol=protocol))
        assert back.dtype == array.dtype
        assert back.shape == array.shape
        assert back.tolist() == array.tolist()


@pytest.mark.parametrize(
    ("given", "expected", "dtype"),
    [
        (lambda: [mx.array([1, 2]), [3, 4]], [[1, 2], [3, 4]], mx.int32),
        (lambda: [[3, 4], mx.array([1.5, 2])], [[3, 4], [1.5, 2]], mx.float32),
        (lambda: [[1, mx.array(2.5)], [3, 4]], [[1, 2.5], [3, 4]], mx.float32),
        (lambda: [[mx.array([1, 2])], [[3, 4]]], [[[1, 2]], [[3, 4]]], mx.int32),
        (lambda: [mx.array([1, 2]), (3.5, 4)], [[1, 2], [3.5, 4]], mx.float32),
    ],
)
def test_rows_of_arrays_beside_rows_of_numbers(given, expected, dtype):
    made = mx.array(given())
    assert made.tolist() == expected
    assert made.dtype == dtype
    assert mx.array(given(), mx.float16).dtype == mx.float16


def test_rows_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match=r"^\[array\] nested lists"):
        mx.array([mx.array([1, 2]), [3]])
    with pytest.raises(ValueError, match=r"^\[array\] nested lists"):
        mx.array([[1, 2], mx.array([3])])


def test_numbers_that_a_dtype_cannot_hold():
    """Whichever function makes the array, an integer that does not fit is refused."""
    for make, number in (
        (lambda: mx.array(-1, mx.uint8), -1),
        (lambda: mx.full((2,), -1, mx.uint8), -1),
        (lambda: mx.full_like(mx.zeros(2, mx.uint8), 256), 256),
    ):
        with pytest.raises(ValueError, match=rf"{number} does not fit uint8 \(0\.\.255\)"):
            make()
    assert mx.full((2,), -1, mx.int8).tolist() == [-1, -1]
    assert mx.full((1,), 300, mx.float16).tolist() == [300]


def test_lists_without_end():
    with pytest.raises(ValueError, match=r"^\[tolist\] shape \(8589934592, 0\) makes more than"):
        mx.zeros((2**33, 0)).tolist()
    assert mx.zeros((0, 2**33)).tolist() == []
    assert mx.zeros((3, 0)).tolist() == [[], [], []]


def test_gaps_in_a_tree():
    assert utils.tree_unflatten([("2", "a")]) == [{}, {}, "a"]
    with pytest.raises(ValueError, match="index 10000000 is too large"):
        utils.tree_unflatten([("0", 1), ("10000000", 2)])


FLAT = {  # start, end: the shape of a (2, 3, 4) array flattened so, None where that is refused
    (0, -1): (24,),
    (1, 1): (2, 3, 4),
    (1, 9): (2, 12),
    (-9, 1): (6, 4),
    (-9, 9): (24,),
    (2, 2): (2, 3, 4),
    (3, -1): None,
    (5, 9): None,
    (0, -9): None,
    (-9, -9): None,
    (2, 1): None,
    (-1, -2): None,
}


@pytest.mark.parametrize("axes", FLAT)
def test_flatten_refuses_a_start_behind_its_end(axes):
    x, wanted = mx.ones((2, 3, 4)), FLAT[axes]
    if wanted:
        assert mx.flatten(x, *axes).shape == x.flatten(*axes).shape == wanted
    else:
        for call in (mx.flatten, type(x).flatten):
            with pytest.raises(ValueError, match=r"^\[flatten\] start_axis "):
                call(x, *axes)
    assert mx.flatten(mx.array(1.0), *axes).shape == (1,)


@pytest.mark.parametrize(
    "view",
    [
        lambda: mx.broadcast_to(mx.array(1.0), (2**20, 2**20)),
        lambda: mx.broadcast_arrays(mx.array(1.0), mx.broadcast_to(2.0, (2**20, 2**20)))[0],
        lambda: mx.compile(lambda: mx.broadcast_to(mx.array(1.0), (2**20, 2**20)))(),
    ],
)
def test_a_broadcast_constant_takes_no_memory(view):
    x = view()
    mx.eval(x)
    assert x.shape == (2**20, 2**20)
    assert x[3, 5].item() == 1.0
    assert x[0, :3].tolist() == [1.0, 1.0, 1.0]


def test_a_broadcast_constant_is_written_like_any_array():
    x = mx.broadcast_to(mx.array(1.0), (2, 2))
    mx.eval(x)
    other = mx.broadcast_to(x, (3, 2, 2))
    x[0, 0] = 5.0
    assert x.tolist() == [[5.0, 1.0], [1.0, 1.0]]
    assert other.tolist() == [[[1.0, 1.0]] * 2] * 3
    assert mx.full((2,), mx.array(2.0)).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("precise", [False, True])
def test_softmax_over_no_axes(precise):
    """One, but for what has no difference from itself."""
    numbers = mx.array([float("nan"), float("inf"), -float("inf"), 1.0, -3e38])
    assert str(mx.softmax(numbers, axis=(), precise=precise).tolist()).replace("-nan", "nan") == (
        "[nan, nan, nan, 1.0, 1.0]"
    )
    assert mx.softmax(mx.array(float("nan")), precise=precise).item() != 1
    assert mx.softmax(mx.array(3), precise=precise).item() == 1
    assert mx.grad(lambda x: mx.softmax(x).sum())(mx.array(3.0)).item() == 0
