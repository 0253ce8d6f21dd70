"""The array object: Python's protocols, copies, pickles, comparisons, and evaluation."""

import copy
import pickle

import numpy as np
import pytest
import umber.core as mx
from arrays import ALL, assert_close, assert_dtype, dtype_of, to_numpy


@pytest.mark.covers("array")
def test_lists_of_floats_and_others():
    assert mx.array([1.5, 2, True]).tolist() == [1.5, 2.0, 1.0]
    assert mx.array([[1, 2], [3.5, 4]]).dtype == mx.float32
    assert mx.array([1.0, 2.0], dtype=mx.int32).tolist() == [1, 2]
    assert mx.array([1.0, 1e300]).tolist() == [1.0, float("inf")]
    assert mx.array([0.1], dtype=mx.float64).tolist() == [0.1]
    assert mx.array([1.0, 2j]).dtype == mx.complex64
    assert mx.array([1.0, mx.array(2.0), 3.0]).tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match=r"^\[array\] nested lists"):
        mx.array([[1.0, 2.0], 3.0])
    with pytest.raises(ValueError, match=r"^\[array\] nested lists"):
        mx.array([1.0, [2.0]])


def test_item_and_tolist_give_python_values():
    assert mx.array(3).item() == 3
    assert isinstance(mx.array(3).item(), int)
    assert isinstance(mx.array(2.0).item(), float)
    assert mx.array(True).item() is True
    assert mx.array(1 + 2j).item() == 1 + 2j
    assert mx.array([[5]]).item() == 5
    assert mx.array([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert mx.array(7).tolist() == 7
    assert mx.zeros((2, 0)).tolist() == [[], []]
    assert mx.array([1.5, -2.0], dtype=mx.bfloat16).tolist() == [1.5, -2.0]
    assert mx.array([2**63 - 1, -(2**63)]).tolist() == [2**63 - 1, -(2**63)]
    assert mx.array(np.array([2**64 - 1], np.uint64)).tolist() == [2**64 - 1]


@pytest.mark.parametrize(
    "numbers", [[0, 2**64 - 1], [2, 2**63], [[2**63, 1], [True, 2**40]], (2**64 - 1,)]
)
def test_integers_beyond_int64_are_exact(numbers):
    x = mx.array(numbers)
    assert x.dtype == mx.uint64
    np.testing.assert_array_equal(to_numpy(x), np.array(numbers, np.uint64))


def test_integers_beyond_int64_beside_other_numbers():
    for numbers, negative in (
        ([-1, 2**63], -1),
        ([2**63, 5, -1], -1),
        ([[2**64 - 1], [-(2**40)]], -(2**40)),
    ):
        message = rf"^\[array\] negative integer {negative} and an integer beyond int64"
        with pytest.raises(mx.RangeError, match=message):
            mx.array(numbers)
    assert mx.array([-1, 2**63], dtype=mx.float32).tolist() == [-1, 2.0**63]
    assert mx.array([0.5, 2**63]).dtype == mx.float32


def test_conversions_to_python_numbers():
    assert int(mx.array(2.7)) == 2
    assert float(mx.array([2])) == 2.0
    assert complex(mx.array(1j)) == 1j
    assert bool(mx.array(0.0)) is False
    assert bool(mx.array([[1]])) is True
    assert [10, 20, 30][mx.array(1)] == 20
    assert f"{mx.array(2.5):.3f}" == "2.500"


@pytest.mark.covers("ArrayIterator")
def test_iteration_and_length():
    x = mx.array([[1, 2], [3, 4], [5, 6]])
    assert len(x) == 3
    assert [row.tolist() for row in x] == [[1, 2], [3, 4], [5, 6]]
    assert type(iter(x)) is mx.ArrayIterator
    assert list(mx.zeros((0, 2))) == []
    first, second = mx.array([1.0, 2.0])
    assert (first.item(), second.item()) == (1.0, 2.0)


def test_arrays_are_hashable_by_identity():
    x, y = mx.array(1), mx.array(1)
    assert len({x, y, x}) == 2
    assert {x: "x"}[x] == "x"


def test_comparison_with_other_things():
    x = mx.array([1, 2])
    assert (x == "text") is False
    assert (x != "text") is True
    assert (x == None) is False  # noqa: E711
    assert (x == mx.array([1, 3])).tolist() == [True, False]


@pytest.mark.parametrize("name", ALL)
def test_copies_and_pickles(name):
    x = mx.array([[0, 1, 1], [1, 0, 1]], dtype=dtype_of(name)).T
    for twin in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), mx.array(x)):
        assert twin is not x
        assert_dtype(twin, name)
        assert_close(to_numpy(twin), to_numpy(x))
    twin = copy.copy(x)
    twin[0] = 1
    assert to_numpy(x).tolist() == [[0, 1], [1, 0], [1, 1]]


def test_pickle_keeps_shape():
    for shape in ((), (0,), (2, 0, 3), (1, 2, 3)):
        assert pickle.loads(pickle.dumps(mx.zeros(shape))).shape == shape


def out_of_band(value):
    buffers = []
    data = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return data, buffers


@pytest.mark.parametrize("name", ALL)
def test_pickles_with_buffers_out_of_band(name):
    x = mx.array([[0, 1, 1], [1, 0, 1]], dtype=dtype_of(name))
    for value in (x, x.T, x[:, 1:], x[0, 1], x[:0], mx.broadcast_to(x[:1], (3, 3))):
        data, buffers = out_of_band(value)
        assert [memoryview(buffer).nbytes for buffer in buffers] == [value.nbytes]
        raw = [bytes(buffer.raw()) for buffer in buffers]
        odd = [memoryview(b"." + memory)[1:] for memory in raw]
        for given in (buffers, raw, [bytearray(memory) for memory in raw], odd):
            twin = pickle.loads(data, buffers=given)
            assert_dtype(twin, name)
            assert twin.shape == value.shape
            assert_close(to_numpy(twin), to_numpy(value))
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert_close(to_numpy(pickle.loads(pickle.dumps(value, protocol))), to_numpy(value))


@pytest.mark.host
def test_buffers_out_of_band_are_not_copied():
    x = mx.arange(100_000, dtype=mx.float32)
    data, buffers = out_of_band([x, {"x": x}])
    assert len(data) < 1000
    assert len(buffers) == 1
    assert memoryview(buffers[0]).readonly
    first, second = (lambda twins: (twins[0], twins[1]["x"]))(pickle.loads(data, buffers=buffers))
    assert first is second
    assert np.shares_memory(np.asarray(first), np.asarray(x))
    first[0] = 7.0
    assert x[0].item() == 0.0
    writable = bytearray(buffers[0].raw())
    twin = mx.array(0)
    twin.__setstate__((writable, [100_000], "float32"))
    writable[:4] = b"\xff" * 4
    assert twin[0].item() == 0.0


def test_subclasses_that_reduce_themselves_do():
    class Named(mx.array):
        def __reduce__(self):
            return (str, ("reduced",))

    assert pickle.loads(pickle.dumps(Named([1]), protocol=5)) == "reduced"


@pytest.mark.parametrize("memory", [b"123", [1, 2], "1234", memoryview(bytes(8))[::2]])
def test_states_that_do_not_fit_are_refused(memory):
    with pytest.raises((TypeError, ValueError), match=r"^\[(array|__setstate__)\]"):
        mx.array(0).__setstate__((memory, [1], "float32"))


def test_array_from_arrays():
    rows = [mx.array([1, 2]), mx.array([3.5, 4])]
    assert mx.array(rows).tolist() == [[1.0, 2.0], [3.5, 4.0]]
    assert mx.array([mx.array(1), 2]).tolist() == [1, 2]
    assert mx.array(([1, 2], (3, 4))).tolist() == [[1, 2], [3, 4]]
    assert mx.array(np.arange(6).reshape(2, 3)[:, ::-1]).tolist() == [[2, 1, 0], [5, 4, 3]]
    assert mx.array(range(3)).tolist() == [0, 1, 2] if hasattr(range, "__array__") else True


class Shared:
    """An array that another library shares by one protocol."""

    def __init__(self, values, protocol):
        values = np.asarray(values)
        if protocol == "dlpack":
            self.__class__ = type(
                "ByDlpack",
                (Shared,),
                {
                    "__dlpack__": lambda self, **kwargs: values.__dlpack__(**kwargs),
                    "__dlpack_device__": lambda self: values.__dlpack_device__(),
                },
            )
        elif protocol == "array":
            self.__class__ = type(
                "ByArray", (Shared,), {"__array__": lambda self, dtype=None, copy=None: values}
            )
        else:
            self.__class__ = type(
                "ByInterface",
                (Shared,),
                {"kept": values, "__array_interface__": values.__array_interface__},
            )


# Lists, and what they are as arrays.
LISTS = {
    "of NumPy": lambda: [np.ones(2), np.zeros(2)],
    "of rows of NumPy": lambda: [[np.ones(2), np.zeros(2)], (np.ones(2), np.ones(2))],
    "of matrices of NumPy": lambda: [np.eye(2), np.ones((2, 2))],
    "of NumPy beside umber": lambda: [np.ones(2), mx.zeros(2), np.zeros(2)],
    "of NumPy beside numbers": lambda: [np.ones(2), [3, 4.5]],
    "of numbers beside NumPy": lambda: [[3, 4.5], np.ones(2)],
    "of vectors without elements": lambda: [np.ones(0), np.zeros(0)],
    "of scalars": lambda: [mx.array(1.0), 2.0, np.float32(3), np.array(4.0), 5],
    "of scalars of NumPy first": lambda: [np.float64(3), mx.array(1.0), np.array(4)],
    "of scalars in rows": lambda: [[mx.array(1.0), 2], [3, np.array(4)]],
    "of DLPack": lambda: [Shared([1.0, 2.0], "dlpack"), Shared([3.0, 4.0], "dlpack")],
    "of the array interface": lambda: [Shared([1.0, 2.0], "interface"), np.ones(2)],
    "of __array__": lambda: [Shared([1.0, 2.0], "array"), mx.ones(2)],
    "of buffers": lambda: [memoryview(np.ones(2)), memoryview(np.zeros(2))],
    "of integers": lambda: [np.array([2**40, 1]), np.array([3, 4])],
}


def as_numpy(value):
    if isinstance(value, (list, tuple)):
        return np.array([as_numpy(item) for item in value])
    return np.array(mx.array(value))


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_arrays(name):
    """They are arrays wherever one is an argument."""
    values, want = LISTS[name](), as_numpy(LISTS[name]())
    for made in (mx.array(values), mx.asarray(values), mx.array(tuple(values))):
        assert made.shape == want.shape
        np.testing.assert_allclose(np.array(made), want)
    for function in ("sum", "sqrt", "abs", "negative", "ravel", "transpose", "zeros_like"):
        np.testing.assert_allclose(
            np.array(getattr(mx, function)(values)), getattr(np, function)(want), rtol=1e-6
        )
    np.testing.assert_allclose(np.array(mx.add(values, 1)), want + 1)
    np.testing.assert_allclose(np.array(mx.maximum(0.5, values)), np.maximum(0.5, want))
    if want.dtype.kind == "f" and want.size:
        assert mx.array(values, mx.float16).dtype == mx.float16
        np.testing.assert_allclose(np.array(mx.mean(values, axis=0)), want.mean(0), rtol=1e-6)


def test_lists_of_arrays_pass_derivatives():
    def function(x):
        return mx.mean([x[0] * 2, x[1] ** 2]) + mx.max([[x[0], 1.0], [0.5, x[1]]])

    x = mx.array([1.0, 3.0])
    assert mx.grad(function)(x).tolist() == [1.0, 4.0]
    assert mx.compile(function)(x).item() == function(x).item() == 8.5
    assert mx.vmap(function)(x[None]).tolist() == [8.5]


def test_lists_that_are_no_arrays():
    for ragged in ([np.ones(2), np.ones(3)], [np.ones(2), 1.0], [1.0, np.ones(2)], [mx.ones(2), 1]):
        for call in (mx.array, mx.mean):
            with pytest.raises(ValueError, match="nested lists must have equal lengths"):
                call(ragged)
    with pytest.raises(TypeError, match="tuple of arrays"):
        mx.mean((mx.ones(2), mx.ones(2)))
    for wrong in ([np.ones(2), "x"], [object()], [b"ab"], [{}]):
        with pytest.raises(TypeError, match="as an element"):
            mx.array(wrong)


def test_numpy_reads_arrays():
    x = mx.arange(6).reshape(2, 3)
    assert np.array(x).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert np.asarray(x.T).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert np.array(mx.zeros((2, 0))).shape == (2, 0)
    assert np.array(mx.array(1.5)).shape == ()
    assert memoryview(x).shape == (2, 3)


@pytest.mark.covers("eval", "async_eval", "synchronize")
def test_evaluation_takes_trees():
    a, b = mx.array(1) + 1, mx.array(2) + 2
    mx.eval(a, [b, {"c": a * b, "d": None}], 3, "text")
    mx.async_eval({"a": a + b})
    mx.synchronize()
    assert (a.item(), b.item()) == (2, 4)
    mx.eval()


def test_unused_parts_are_not_computed():
    """What nobody asks for is never run: an index out of range stays unseen."""
    x = mx.zeros(3)
    bad = x[mx.array([9])]
    good = x + 1
    mx.eval(good)
    assert good.tolist() == [1.0, 1.0, 1.0]
    del bad


@pytest.mark.covers("allclose", "array_equal")
def test_allclose_and_array_equal():
    x = mx.array([1.0, 2.0, float("nan")])
    assert not mx.allclose(x, x).item()
    assert mx.allclose(x, x, equal_nan=True).item()
    assert mx.allclose(x[:2], x[:2] + 1e-7).item()
    assert not mx.allclose(x[:2], x[:2] + 0.1).item()
    assert mx.allclose(x[:2], x[:2] + 0.1, atol=0.2).item()
    assert mx.array_equal(x[:2], mx.array([1, 2])).item()
    assert not mx.array_equal(x, x).item()
    assert mx.array_equal(x, x, equal_nan=True).item()
    assert not mx.array_equal(mx.zeros(2), mx.zeros(3)).item()
    assert mx.isclose(x, x, equal_nan=True).tolist() == [True, True, True]
    assert mx.allclose(mx.array(float("inf")), mx.array(float("inf"))).item()


def test_zero_size_and_zero_dimensions_through_a_program():
    x = mx.zeros((0, 3))
    assert mx.sum(x * 2 + 1).item() == 0.0
    assert (x @ mx.zeros((3, 4))).shape == (0, 4)
    assert mx.concatenate([x, mx.ones((1, 3))]).tolist() == [[1.0, 1.0, 1.0]]
    s = mx.array(2.0)
    assert (s * s + 1).item() == 5.0
    assert mx.grad(lambda v: v.sum())(x).shape == (0, 3)


def test_many_dimensions():
    shape = (1, 2) * 5
    x = mx.arange(32).reshape(shape)
    assert x.ndim == 10
    assert (x.transpose() + 1).sum().item() == 31 * 16 + 32
    assert x.sum(axis=tuple(range(10))).item() == 31 * 16


@pytest.mark.covers("empty", "empty_like")
def test_empty_has_shape_and_dtype():
    assert (mx.empty((2, 3)).shape, mx.empty((2, 3)).dtype) == ((2, 3), mx.float32)
    like = mx.empty_like(mx.zeros((4,), dtype=mx.int8))
    assert (like.shape, like.dtype) == ((4,), mx.int8)


@pytest.mark.covers("view")
def test_view_reads_the_same_bits():
    x = mx.array([1.0, -2.0])
    assert (
        mx.view(x, mx.int32).tolist() == np.array([1.0, -2.0], np.float32).view(np.int32).tolist()
    )
    assert x.view(mx.uint8).shape == (8,)
    assert x.view(mx.uint8).view(mx.float32).tolist() == [1.0, -2.0]
