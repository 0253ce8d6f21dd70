"""NumPy's own arrays, whose structure is read, come in as by the protocols that they speak."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import umber.core as mx

pytestmark = pytest.mark.host

DTYPES = [
    "bool",
    *(f"uint{bits}" for bits in (8, 16, 32, 64)),
    *(f"int{bits}" for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
    *(f"complex{bits}" for bits in (64, 128)),
]
LAYOUTS = {
    "dense": lambda values: values,
    "columns": lambda values: values.T,
    "part": lambda values: values[1:, ::2],
    "backwards": lambda values: values[::-1, ::-1],
    "one by one": lambda values: values[:, None, 1:2, None],
    "number": lambda values: values[1:2, 1:2].reshape(()),
    "nothing": lambda values: values[:, :0],
    "many axes": lambda values: values.reshape(2, 1, 3, 1, 2, 1, 2, 1),
}

COPIES = (
    mx.array,
    lambda source: mx.asarray(source, copy=True),
    lambda source: mx.from_dlpack(source, copy=True),
)


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", DTYPES)
def test_as_by_the_buffer_protocol(name, layout):
    owner = np.arange(24).reshape(4, 6).astype(name)
    source = LAYOUTS[layout](owner)
    assert type(source) is np.ndarray
    by_protocol = mx.asarray(memoryview(source))
    for array in (
        mx.asarray(source),
        mx.asarray(source, copy=False),
        mx.from_dlpack(source),
        mx.from_dlpack(source, copy=False),
    ):
        assert array.dtype == by_protocol.dtype == getattr(mx, "bool_" if name == "bool" else name)
        assert array.shape == by_protocol.shape == source.shape
        assert array.tolist() == by_protocol.tolist() == source.tolist()
        assert np.asarray(array).strides == np.asarray(by_protocol).strides
        if source.size:
            assert address(array) == source.ctypes.data
    for make in COPIES:
        copy = make(source)
        assert (copy.dtype, copy.shape) == (by_protocol.dtype, source.shape)
        assert copy.tolist() == source.tolist()
        assert not np.shares_memory(np.asarray(copy), owner)
        assert np.asarray(copy).flags.writeable


def test_writes_are_seen_and_shown():
    source = np.zeros(4, np.float32)
    array = mx.asarray(source)
    source[1] = 5
    assert array.tolist() == [0, 5, 0, 0]
    np.asarray(array)[2] = 7
    assert source.tolist() == [0, 5, 7, 0]


def frozen():
    source = np.arange(6, dtype=np.float32)
    source.flags.writeable = False
    return source


def part_of_frozen():
    return frozen()[1:]


def frozen_part():
    source = np.arange(6, dtype=np.float32)[1:]
    source.flags.writeable = False
    return source


def warned():
    column = np.arange(6, dtype=np.float32).reshape(6, 1)
    source = np.broadcast_arrays(column, np.zeros((6, 1, 1)))[0][0]
    assert type(source) is np.ndarray
    assert source.flags.writeable
    return source


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("make", [frozen, part_of_frozen, frozen_part, warned])
def test_what_must_not_be_written(make):
    source = make()
    array = mx.asarray(source)
    assert address(array) == source.ctypes.data
    assert memoryview(array).readonly
    assert memoryview(mx.from_dlpack(source)).readonly == (make is not warned)
    copy = mx.array(source)
    assert not memoryview(copy).readonly
    before = source.tolist()
    array += 1
    assert source.tolist() == before
    assert copy.tolist() == before


def test_what_is_made_of_it_is_made_of_its_values_at_the_call():
    source = np.ones(3, np.float32)
    doubled = mx.asarray(source) * 2
    source[:] = 9
    assert doubled.tolist() == [2, 2, 2]


class Subclass(np.ndarray):
    """An array that is not exactly NumPy's."""


def not_aligned(values):
    return np.frombuffer(bytearray(b"\0" + values.tobytes()), np.uint8)[1:].view(values.dtype)


OTHERS = {
    "subclass": np.arange(3, dtype=np.float32).view(Subclass),
    "swapped": np.arange(3, dtype=">f4"),
    "long long": np.arange(3, dtype=np.longlong),
    "dtype of its own": pickle.loads(pickle.dumps(np.arange(3, dtype=np.int16))),
    "dtype with metadata": np.arange(3, dtype=np.dtype("f8", metadata={"unit": "m"})),
    "not aligned": not_aligned(np.arange(3.0)),
    "field of records": np.array([(0, 0), (1, 1), (2, 2)], dtype="i1, f4")["f1"],
    "of Fortran's order": np.asfortranarray(np.arange(6.0).reshape(2, 3))[0],
}


@pytest.mark.parametrize("kind", OTHERS)
def test_other_arrays(kind):
    source = OTHERS[kind]
    dtype = getattr(mx, np.dtype(source.dtype.str.replace(">", "<")).name)
    for array in (mx.array(source), mx.asarray(source)):
        assert array.dtype == dtype
        assert array.tolist() == source.tolist()


def test_another_shape_or_step_afterwards():
    """The array's own lengths and strides may change; what was read of them stays."""
    source = np.arange(6, dtype=np.float32)
    array = mx.asarray(source)
    part = mx.from_dlpack(source)
    source.shape = (2, 3)
    assert array.shape == part.shape == (6,)
    assert array.tolist() == part.tolist() == [0, 1, 2, 3, 4, 5]
    assert mx.asarray(source).tolist() == [[0, 1, 2], [3, 4, 5]]
    source.dtype = np.uint32
    assert mx.asarray(source).dtype == mx.uint32
    assert array.dtype == mx.float32


@pytest.mark.parametrize("make", [mx.asarray, mx.from_dlpack])
def test_memory_that_is_seen_is_not_resized(make):
    source = np.arange(6, dtype=np.float32)
    array = make(source)
    with pytest.raises(ValueError, match="cannot resize"):
        source.resize(100_000)
    del array
    source.resize(8)
    assert source.shape == (8,)


def test_references_are_given_back():
    source = np.arange(6, dtype=np.float32)
    mx.asarray(source)
    before = sys.getrefcount(source)
    arrays = [make(source) for make in (mx.asarray, mx.from_dlpack) for _ in range(10)]
    assert sys.getrefcount(source) == before + 20
    for make in COPIES:
        make(source)
    assert sys.getrefcount(source) == before + 20
    del arrays
    assert sys.getrefcount(source) == before


FIRST = """
import sys
import umber.core as mx
assert "numpy" not in sys.modules
assert mx.array([1, 2]).tolist() == mx.asarray(bytearray(b"\\1\\2")).tolist() == [1, 2]

class ndarray(bytearray):
    pass

assert mx.asarray(ndarray(b"\\1\\2")).tolist() == [1, 2]
ndarray.__module__ = "numpy"
{imported}
assert mx.asarray(ndarray(b"\\1\\2")).tolist() == [1, 2]
import numpy as np
for _ in range(2):
    source = np.arange(3.0)
    for make in (mx.from_dlpack, mx.asarray, mx.array):
        assert make(source).tolist() == [0, 1, 2]
    assert mx.asarray(ndarray(b"\\1\\2")).tolist() == [1, 2]
"""


@pytest.mark.parametrize("imported", ["", "import numpy"])
def test_the_first_array(imported):
    """NumPy may come later than umber, and a class may only be called as NumPy's is."""
    subprocess.run([sys.executable, "-c", FIRST.format(imported=imported)], check=True)
