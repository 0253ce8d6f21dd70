"""Memory shared with NumPy and others: who may write, who keeps it alive, what a queued op sees."""

import gc
import sys
import weakref

import numpy as np
import pytest
import umber.core as mx
from arrays import ALL, assert_close, dtype_of, to_numpy

pytestmark = pytest.mark.host

SHARED = [name for name in ALL if name != "bfloat16"]
LAYOUTS = {
    "dense": lambda x: x,
    "transposed": lambda x: x.T,
    "stepped": lambda x: x[1::2, ::3],
    "backwards": lambda x: x[::-1, ::-1],
    "one row": lambda x: x[2],
    "broadcast": lambda x: x[:1, :1],
}


def address(view) -> int:
    return view.__array_interface__["data"][0]


def numpy_array(name):
    return np.arange(30).reshape(5, 6).astype(name.rstrip("_"))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SHARED)
def test_import_and_export_are_zero_copy(name, layout):
    source = LAYOUTS[layout](numpy_array(name))
    array = mx.asarray(source)
    assert array.dtype == dtype_of(name)
    view = np.asarray(array)
    assert (view.shape, view.dtype) == (source.shape, source.dtype)
    assert address(view) == address(source)
    assert view.strides == source.strides or source.size <= 1
    assert_close(view, source)


@pytest.mark.parametrize("name", SHARED)
def test_memoryview(name):
    array = mx.array(numpy_array(name))
    view = memoryview(array)
    assert (view.shape, view.nbytes) == ((5, 6), array.nbytes)
    assert view.itemsize == array.itemsize
    assert np.asarray(view).tolist() == numpy_array(name).tolist()


@pytest.mark.parametrize("name", SHARED)
def test_dlpack_both_ways(name):
    array = mx.array(numpy_array(name))
    assert tuple(array.__dlpack_device__()) == (1, 0)
    view = np.from_dlpack(array)
    assert_close(view, numpy_array(name))
    back = mx.from_dlpack(numpy_array(name))
    assert back.dtype == dtype_of(name)
    assert_close(to_numpy(back), numpy_array(name))
    assert np.from_dlpack(mx.from_dlpack(view)).tolist() == view.tolist()


def test_odd_shapes():
    for shape in ((), (0,), (2, 0, 3), (1,)):
        source = np.ones(shape, np.float32)
        array = mx.asarray(source)
        assert array.shape == shape
        assert np.asarray(array).tolist() == source.tolist()
        assert np.from_dlpack(array).shape == shape
        assert memoryview(array).shape == shape


def test_float64_and_complex128_are_not_narrowed():
    for name in ("float64", "complex128"):
        source = np.array([1 / 3, 2 / 3]).astype(name)
        for array in (mx.asarray(source), mx.from_dlpack(source), mx.array(source)):
            assert np.asarray(array).tolist() == source.tolist()


def test_a_copy_is_a_copy():
    source = np.zeros(4, np.float32)
    for array in (mx.array(source), mx.asarray(source, copy=True)):
        assert address(np.asarray(array)) != address(source)
        source[0] = 5
        assert array[0].item() == 0.0
        source[0] = 0
    assert address(np.asarray(mx.asarray(source, copy=False))) == address(source)
    with pytest.raises(ValueError, match=r"^\["):
        mx.asarray(source, dtype=mx.float16, copy=False)
    owned = np.array(mx.zeros(3))
    owned[0] = 1


# Who may write.


def test_the_only_reference_is_writable():
    array = mx.zeros(4)
    mx.eval(array)
    view = np.asarray(array)
    assert view.flags.writeable
    view[1] = 7
    assert array.tolist() == [0.0, 7.0, 0.0, 0.0]


def test_shared_memory_is_exported_read_only():
    """Another array, or a pending op, can see the memory: the view may not be written."""
    array = mx.arange(4.0)
    mx.eval(array)
    other = array[1:3]
    mx.eval(other)
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(array)[0] = 1
    # Operations on fewer elements are computed as they are written.
    pending = mx.arange(2000.0)
    mx.eval(pending)
    doubled = pending * 2
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(pending)[0] = 1
    assert doubled[:3].tolist() == [0.0, 2.0, 4.0]


def test_read_only_stays_read_only():
    source = np.zeros(4, np.float32)
    source.flags.writeable = False
    array = mx.asarray(source)
    assert not np.asarray(array).flags.writeable
    array[0] = 1
    array += 1
    assert array.tolist() == [2.0, 1.0, 1.0, 1.0]
    assert source.tolist() == [0.0] * 4


@pytest.mark.filterwarnings(r"ignore:\[grad\]")
@pytest.mark.parametrize("transform", ["grad", "vjp", "jvp", "vmap", "compile"])
def test_no_writing_behind_a_transform(transform):
    def function(x):
        np.asarray(x)[...] *= 2
        return x.sum()

    x = mx.ones((3,))
    calls = {
        "grad": lambda: mx.grad(function)(x),
        "vjp": lambda: mx.vjp(function, [x], [mx.array(1.0)]),
        "jvp": lambda: mx.jvp(function, [x], [x]),
        "vmap": lambda: mx.vmap(function)(mx.ones((2, 3))),
        "compile": lambda: mx.compile(function)(x),
    }
    with pytest.raises((ValueError, BufferError, TypeError)):
        calls[transform]()
    assert x.tolist() == [1.0, 1.0, 1.0]


# Program order.


def test_a_later_write_is_not_seen_by_an_earlier_op():
    source = np.array([1.0, 2.0], np.float32)
    array = mx.asarray(source)
    doubled = array * 2
    source[:] = 100
    assert doubled.tolist() == [2.0, 4.0]
    assert (array * 2).tolist() == [200.0, 200.0]


def test_a_write_through_a_view_is_seen_by_later_ops_only():
    array = mx.array([1.0, 2.0])
    mx.eval(array)
    view = np.asarray(array)
    before = array + 1
    mx.eval(before)
    if view.flags.writeable:
        view[0] = 10
        assert before.tolist() == [2.0, 3.0]
        assert (array + 1).tolist() == [11.0, 3.0]


# Lifetime.


def test_views_keep_their_values():
    """Deleting, updating in place, donating: a view that is out keeps what it showed."""
    array = mx.full((1000,), 7.0)
    mx.eval(array)
    view = np.asarray(array)
    array[:] = mx.arange(1000.0)
    mx.eval(array)
    array += 1
    mx.eval(array)
    del array
    gc.collect()
    others = [mx.full((1000,), float(k)) for k in range(200)]
    mx.eval(others)
    assert (view == 7.0).all()


def test_exported_memory_is_not_donated():
    array = mx.ones((1000,))
    mx.eval(array)
    view = np.asarray(array)
    chain = array
    del array
    for _ in range(5):
        chain = chain * 2 + 1
    mx.eval(chain)
    assert (view == 1.0).all()


class Owner(np.ndarray):
    """A NumPy array that can be watched."""


def test_the_source_lives_as_long_as_arrays_over_it():
    source = np.arange(6, dtype=np.float32).view(Owner)
    gone = weakref.ref(source)
    array = mx.asarray(source)
    part = array[2:4]
    pending = part * 2
    del source, array
    gc.collect()
    assert pending.tolist() == [4.0, 6.0]
    assert part.tolist() == [2.0, 3.0]
    del part, pending
    gc.collect()
    assert gone() is None


def test_umber_never_writes_into_foreign_memory():
    source = np.ones(1000, np.float32)
    array = mx.asarray(source)
    for _ in range(3):
        array += 1
        array[0] = 5
        array = mx.exp(array * 0)
    mx.eval(array)
    assert (source == 1).all()


def test_unconsumed_capsules_are_freed():
    array = mx.ones((1 << 18,))
    mx.eval(array)
    base = mx.get_active_memory()
    for _ in range(20):
        array.__dlpack__()
    assert np.from_dlpack(array)[0] == 1
    del array
    gc.collect()
    assert mx.get_active_memory() < base


def test_policy():
    before = mx.set_view_policy("readonly")
    try:
        array = mx.zeros(2)
        mx.eval(array)
        assert not np.asarray(array).flags.writeable
        mx.set_view_policy("writable")
        other = array[:1]
        mx.eval(other)
        assert np.asarray(array).flags.writeable
        with pytest.raises(ValueError, match="set_view_policy"):
            mx.set_view_policy("sometimes")
    finally:
        mx.set_view_policy(before or "checked")


# Others.


def test_bfloat16_goes_to_ml_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = mx.array([1.5, -2.0], dtype=mx.bfloat16)
    view = np.asarray(array)
    assert view.dtype == ml_dtypes.bfloat16
    assert view.astype(np.float32).tolist() == [1.5, -2.0]
    back = mx.array(np.array([0.5, 3.0], ml_dtypes.bfloat16))
    assert (back.dtype, back.tolist()) == (mx.bfloat16, [0.5, 3.0])


def test_torch_reads_and_writes():
    torch = pytest.importorskip("torch")
    array = mx.array([[1.0, 2.0], [3.0, 4.0]])
    assert torch.from_dlpack(array).tolist() == array.tolist()
    tensor = torch.arange(6).reshape(2, 3).T
    assert mx.from_dlpack(tensor).tolist() == tensor.tolist()


@pytest.mark.parametrize(
    "source",
    [
        np.array(["a"]),
        np.array([object()]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.zeros(2, dtype=[("a", int)]),
    ],
    ids=["str", "object", "date", "record"],
)
def test_foreign_dtypes_are_refused(source):
    with pytest.raises((TypeError, ValueError)):
        mx.asarray(source)


def test_buffers_of_python():
    assert mx.asarray(bytearray(b"\x01\x02\x03")).tolist() == [1, 2, 3]
    assert mx.asarray(memoryview(b"\x04\x05")).tolist() == [4, 5]
    big = np.array([1, 2, 3], ">i4")
    assert mx.asarray(big).tolist() == [1, 2, 3]
    assert memoryview(mx.array([1.0], dtype=mx.bfloat16)).tobytes() == b"\x80\x3f"


def test_references_are_balanced():
    """No count creeps up by exporting and importing."""
    source = np.ones(8, np.float32)
    array = mx.array([1.0, 2.0])
    mx.eval(array)
    before = sys.getrefcount(source), sys.getrefcount(array)
    for _ in range(50):
        mx.asarray(source)
        np.asarray(array)
        np.from_dlpack(array)
        mx.from_dlpack(source)
    gc.collect()
    assert (sys.getrefcount(source), sys.getrefcount(array)) == before


def test_complex_memory_aligned_for_its_parts_only():
    """NumPy calls complex64 aligned at multiples of 4: no copy may read it in words of 8 bytes."""
    memory = np.zeros(808, np.uint8)
    start = 4 if memory.ctypes.data % 8 == 0 else 0
    values = memory[start : start + 800].view(np.complex64)
    values[:] = np.arange(100)
    shared = mx.asarray(values)
    assert mx.take(shared, mx.array([3, -1])).tolist() == [3, 99]
    assert mx.zeros(2, mx.complex64).at[mx.array([1])].add(shared[:1]).tolist() == [0, 0]
    assert mx.put_along_axis(mx.zeros(100, mx.complex64), mx.arange(100), shared, 0)[7].item() == 7
    assert shared[::7].sum().item() == np.arange(0, 100, 7).sum()
