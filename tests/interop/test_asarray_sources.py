"""What `asarray`, `from_numpy` and `__array__` take and give, object by object."""

import array as arrays
import contextlib
import ctypes
import mmap
from multiprocessing import shared_memory
from typing import ClassVar

import capsules
import numpy as np
import pytest
import umber.core as mx

pytestmark = pytest.mark.host


def address(array):
    return array.__array_interface__["data"][0]


VALUES = np.arange(6, dtype=np.float32)


class Interface:
    """Tells of memory by the array interface."""

    def __init__(self, source, **changes):
        self.source = source
        self.__array_interface__ = {**source.__array_interface__, **changes}


class Method:
    """Gives its memory by `__array__` only."""

    def __init__(self, source):
        self.source = source

    def __array__(self, dtype=None, copy=None):
        return self.source.copy() if copy else self.source


class OldMethod:
    def __array__(self):
        return VALUES.copy()


class Capsule:
    """Speaks DLPack only."""

    def __init__(self, source):
        self.source = source

    def __dlpack__(self, **keywords):
        return self.source.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return (1, 0)


# Sources: made anew, with what they hold, and where.
def of_numpy(wrap=lambda values: values):
    def make():
        values = VALUES.copy()
        return wrap(values), [0, 1, 2, 3, 4, 5], values.ctypes.data

    return make


def of_array_module():
    source = arrays.array("i", [1, 2, 3])
    return source, [1, 2, 3], source.buffer_info()[0]


def of_ctypes():
    source = (ctypes.c_double * 3)(1, 2, 3)
    return source, [1, 2, 3], ctypes.addressof(source)


def of_bytes_like(make):
    def made():
        source = make(b"\x01\x02\xff")
        return source, [1, 2, 255], np.frombuffer(source, np.uint8).ctypes.data

    return made


SOURCES = {
    "ndarray": of_numpy(),
    "memoryview": of_numpy(memoryview),
    "read-only memoryview": of_numpy(lambda values: memoryview(values).toreadonly()),
    "array interface": of_numpy(Interface),
    "__array__": of_numpy(Method),
    "DLPack": of_numpy(Capsule),
    "array.array": of_array_module,
    "ctypes": of_ctypes,
    "bytes": of_bytes_like(bytes),
    "bytearray": of_bytes_like(bytearray),
}


@pytest.mark.covers("asarray")
@pytest.mark.parametrize("kind", SOURCES)
def test_sources(kind):
    source, values, place = SOURCES[kind]()
    for array in (mx.asarray(source), mx.asarray(source, copy=False)):
        assert array.tolist() == values
        assert address(array) == place
    copied = mx.asarray(source, copy=True)
    assert copied.tolist() == values
    assert address(copied) != place
    assert np.asarray(copied).flags.writeable
    cast = mx.asarray(source, mx.float16)
    assert (cast.dtype, cast.tolist()) == (mx.float16, values)
    assert mx.asarray(source, mx.float16, copy=True).tolist() == values
    with pytest.raises(
        ValueError, match="to another dtype requires a copy, but copy=False"
    ) as found:
        mx.asarray(source, mx.float16, copy=False)
    assert isinstance(found.value, BufferError)
    on_device = mx.asarray(source, device=mx.cpu)
    assert address(on_device) == place


def test_protocols_are_asked_in_order():
    class Everything:
        def __init__(self, said):
            self.said = said
            if "interface" in said:
                self.__array_interface__ = Interface(np.array([1.0])).__array_interface__
                self.keep = Interface(np.array([1.0]))
                self.__array_interface__ = self.keep.__array_interface__

        def __getattr__(self, name):
            if name == "__dlpack__" and "dlpack" in self.said:
                return np.array([2.0]).__dlpack__
            if name == "__array__" and "array" in self.said:
                return lambda *a, **k: np.array([3.0])
            raise AttributeError(name)

    assert mx.asarray(Everything(("interface", "dlpack", "array"))).tolist() == [1]
    assert mx.asarray(Everything(("dlpack", "array"))).tolist() == [2]
    assert mx.asarray(Everything(("array",))).tolist() == [3]
    with pytest.raises(TypeError, match=r"^\[asarray\] got Everything"):
        mx.asarray(Everything(()))


def test_copy_false_where_only_a_copy_would_do():
    for source in (
        [1, 2],
        (1, 2),
        3,
        2.5,
        OldMethod(),
        VALUES.astype(">f4"),
        np.frombuffer(bytes(9), np.uint8)[1:].view(np.float32),
    ):
        with pytest.raises(ValueError, match=r"^\[asarray\] .* a copy, but copy=False") as found:
            mx.asarray(source, copy=False)
        assert isinstance(found.value, BufferError)
    assert mx.asarray(OldMethod()).tolist() == VALUES.tolist()


def test_own_arrays():
    x = mx.arange(4.0)
    mx.eval(x)
    assert address(mx.asarray(x)) == address(mx.asarray(x, copy=False)) == address(x)
    assert address(mx.asarray(x, copy=True)) != address(x)
    assert mx.asarray(x, mx.int32).dtype == mx.int32
    with pytest.raises(ValueError, match="copy=False"):
        mx.asarray(x, mx.int32, copy=False)


def test_devices():
    with pytest.raises(ValueError, match="gpu"):
        mx.asarray(VALUES, device=mx.gpu)
    with pytest.raises(TypeError, match=r"^\[asarray\] device: got int, expected"):
        mx.asarray(VALUES, device=3)


NOT_NUMBERS = {
    "object": (np.array([object()]), "object"),
    "str": (np.array(["a"]), "<U1"),
    "bytes": (np.array([b"ab"]), r"\|S2"),
    "date": (np.array(["2020-01-01"], dtype="datetime64[D]"), r"datetime64\[D\]"),
    "duration": (np.array([1], dtype="timedelta64[s]"), r"timedelta64\[s\]"),
    "record": (np.zeros(2, dtype=[("a", "<i8")]), r"\('a', '<i8'\)"),
    "long double": (np.zeros(2, np.longdouble), "float128"),
    "void": (np.zeros(2, "V3"), "V3"),
}


@pytest.mark.parametrize("make", [mx.asarray, mx.array, mx.from_numpy])
@pytest.mark.parametrize("kind", NOT_NUMBERS)
def test_elements_without_a_dtype(kind, make):
    source, named = NOT_NUMBERS[kind]
    before = source.flags.writeable
    name = make.__name__
    with pytest.raises(
        TypeError, match=rf"^\[{name}\] elements of type .*{named}.* are not supported"
    ):
        make(source)
    assert source.flags.writeable == before


def test_other_small_floats():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    source = np.zeros(3, ml_dtypes.float4_e2m1fn)
    with pytest.raises(TypeError, match="elements of type float4_e2m1fn are not supported"):
        mx.asarray(source)
    with pytest.raises(TypeError, match="float4_e2m1fn are not supported"):
        mx.from_numpy(source)
    assert source.flags.writeable
    assert address(mx.asarray(source.view(np.uint8))) == source.ctypes.data


FLOAT8 = (
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
)


@pytest.mark.parametrize("name", FLOAT8)
def test_float8_goes_both_ways_without_a_copy(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    source = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, name))
    array = mx.asarray(source, copy=False)
    assert array.dtype == getattr(mx, name)
    assert address_of(array) == source.ctypes.data
    view = np.asarray(array)
    assert view.dtype == source.dtype
    assert view.flags.writeable
    assert view.ctypes.data == source.ctypes.data
    assert view.tobytes() == source.tobytes()
    turned = mx.asarray(source.reshape(16, 16).T)
    assert np.asarray(turned).tobytes() == source.reshape(16, 16).T.tobytes()
    copy = mx.array(source)
    source.view(np.uint8)[:] = 0
    assert np.asarray(copy).view(np.uint8).tolist() == list(range(256))
    frozen = np.zeros(2, source.dtype)
    frozen.flags.writeable = False
    assert not np.asarray(mx.asarray(frozen)).flags.writeable
    kept = mx.from_numpy(source)
    assert address_of(kept) == source.ctypes.data
    assert memoryview(copy).tobytes() == bytes(range(256))
    assert not hasattr(copy, "__array_interface__")


@pytest.mark.parametrize("name", FLOAT8)
def test_float8_in_capsules(name):
    code = 7 + FLOAT8.index(name)
    own = mx.arange(4).astype(mx.uint8).view(getattr(mx, name))
    tensor = capsules.tensor_of(own.__dlpack__(max_version=(1, 0)))
    assert (tensor.code, tensor.bits, tensor.lanes) == (code, 8, 1)
    back = mx.from_dlpack(own)
    assert back.dtype == own.dtype
    assert back.view(mx.uint8).tolist() == [0, 1, 2, 3]


def test_float8_without_ml_dtypes(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    with pytest.raises(TypeError, match=r"NumPy has no dtype float8_e5m2; install ml_dtypes"):
        np.asarray(mx.ones(2, dtype=mx.float8_e5m2))


def test_buffers_without_a_dtype():
    class Pair(ctypes.Structure):
        _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_double))

    for source in (arrays.array("u", "ab"), (Pair * 2)(), (ctypes.c_void_p * 2)()):
        with pytest.raises(TypeError, match=r"^\[asarray\] buffer format '.+ is not supported"):
            mx.asarray(source)
    released = memoryview(b"ab")
    released.release()
    with pytest.raises(ValueError, match="released"):
        mx.asarray(released)


def test_byte_order_and_steps():
    for name in (">i2", ">f4", ">f8", ">c8", ">c16", ">u8"):
        source = np.arange(6).reshape(2, 3).astype(name)
        array = mx.asarray(source)
        assert array.tolist() == source.tolist()
        assert address(array) != source.ctypes.data
    backwards = VALUES[::-2]
    assert address(mx.asarray(backwards)) == backwards.ctypes.data
    assert mx.asarray(backwards).tolist() == backwards.tolist()


def test_a_copy_that_memory_cannot_hold():
    """Elements that must be gathered one by one, of an array of one element everywhere."""
    for shape in ((2**60,), (2**40, 2**19)):
        huge = Interface(VALUES, shape=shape, strides=(0,) * len(shape), typestr=">f4")
        with pytest.raises((MemoryError, OverflowError, ValueError)):
            mx.asarray(huge)


def test_bad_interfaces():
    for changes, message in [
        ({"shape": (-1,)}, r"lengths must not be negative, got shape \(-1,\)"),
        ({"shape": (2**62, 8)}, "is too large to address"),
        ({"strides": (4, 4)}, "2 strides for 1 axes, expected one per axis"),
        ({"strides": (2**62,)}, r"strides .* are too large to address"),
        ({"typestr": "<f3"}, "elements of type <f3 are not supported"),
        ({"data": (8, True)}, "memory is not mapped"),
        ({"data": bytes(8)}, "reach outside the memory: 24 bytes"),
        ({"data": bytes(24), "offset": 4}, "reach outside"),
        ({"data": bytes(24), "strides": (-4,)}, "reach outside"),
    ]:
        with pytest.raises((ValueError, OverflowError, TypeError), match=message):
            mx.asarray(Interface(VALUES, **changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(({field: None}, f"lacks '{field}'") for field in ("typestr", "shape", "data")),
        ({"typestr": 4}, r"\['typestr'\]: got 4"),
        ({"shape": "ab"}, r"\['shape'\]: got 'ab'"),
        ({"strides": [4]}, r"\['strides'\]: got \[4\]"),
        ({"data": (8,)}, r"\['data'\]: got \(8,\)"),
        ({"data": (2**64, True)}, r"\['data'\]: got \(18446744073709551616, True\)"),
        ({"data": 8}, r"\['data'\]: got 8"),
        ({"data": bytes(24), "offset": -4}, r"\['offset'\]: got -4"),
    ],
)
def test_faults_of_interfaces_are_named(changes, message):
    with pytest.raises(ValueError, match=rf"^\[asarray\] __array_interface__.*{message}.*expected"):
        mx.asarray(Interface(VALUES, **changes))


def test_errors_of_properties_pass_through():
    class Failing:
        @property
        def __array_interface__(self):
            raise RuntimeError("the reason")

    for make in (mx.asarray, mx.array, lambda x: mx.ones(2) + x):
        with pytest.raises(RuntimeError, match=r"^the reason$"):
            make(Failing())


def test_an_interface_over_another_object():
    """As PIL's images have it: the bytes themselves instead of an address."""
    content = VALUES.tobytes()
    array = mx.asarray(Interface(VALUES, data=content))
    assert array.tolist() == VALUES.tolist()
    assert address(array) == np.frombuffer(content, np.uint8).ctypes.data
    tail = Interface(VALUES, data=bytearray(content), offset=8, shape=(4,))
    assert mx.asarray(tail).tolist() == [2, 3, 4, 5]


def test_images():
    image_module = pytest.importorskip("PIL.Image")
    image = image_module.new("RGB", (5, 3), (10, 20, 30))
    array = mx.asarray(image)
    assert (array.shape, array.dtype) == ((3, 5, 3), mx.uint8)
    assert array[2, 4].tolist() == [10, 20, 30]
    back = image_module.fromarray(np.asarray(array))
    assert back.tobytes() == image.tobytes()
    assert mx.asarray(image.convert("1")).shape == (3, 5)


def test_datasets(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "file.h5", "w") as file:
        dataset = file.create_dataset("x", data=VALUES)
        assert mx.asarray(dataset).tolist() == VALUES.tolist()
        assert mx.array(dataset).tolist() == VALUES.tolist()
        assert mx.asarray(dataset[2:4]).tolist() == [2, 3]
        with pytest.raises(ValueError, match="copy"):
            mx.asarray(dataset, copy=False)
        file["y"] = np.asarray(mx.arange(3))
        assert file["y"][...].tolist() == [0, 1, 2]


def test_columns():
    pa = pytest.importorskip("pyarrow")
    column = pa.array([1.0, 2.0, 3.0])
    values = column.buffers()[1]
    array = mx.asarray(values)
    assert address(array) == values.address
    assert np.asarray(array).flags.writeable is not memoryview(values).readonly
    assert array.view(mx.float64)[:3].tolist() == [1, 2, 3]
    assert mx.asarray(column.to_numpy()).tolist() == [1, 2, 3]
    assert pa.array(np.asarray(mx.arange(3))).to_pylist() == [0, 1, 2]
    assert mx.from_dlpack(pa.array([1, 2])).tolist() == [1, 2]


def test_memory_shared_between_processes():
    segment = shared_memory.SharedMemory(create=True, size=64)
    try:
        array = mx.asarray(segment.buf)
        assert array.size >= 64
        assert array.dtype == mx.uint8
        segment.buf[3] = 7
        assert array[3].item() == 7
        with pytest.raises(BufferError):
            segment.close()
        del array
    finally:
        segment.close()
        segment.unlink()


def test_bfloat16_goes_both_ways_without_a_copy():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    source = np.array([0.5, 3.0, np.nan, -0.0], ml_dtypes.bfloat16)
    array = mx.asarray(source)
    assert array.dtype == mx.bfloat16
    assert address_of(array) == source.ctypes.data
    view = np.asarray(array)
    assert view.dtype == ml_dtypes.bfloat16
    assert view.ctypes.data == source.ctypes.data
    assert view.tobytes() == source.tobytes()
    assert view.flags.writeable
    own = mx.ones((3,), dtype=mx.bfloat16)
    view = np.asarray(own)
    assert view.flags.writeable
    view[1] = 5
    assert own.tolist() == [1, 5, 1]
    other = own[:2]
    assert other.tolist() == [1, 5]
    shared = mx.arange(3).astype(mx.bfloat16)
    mx.eval(shared)
    part = shared[1:]
    mx.eval(part)
    assert not np.asarray(shared).flags.writeable
    frozen = np.zeros(2, ml_dtypes.bfloat16)
    frozen.flags.writeable = False
    assert not np.asarray(mx.asarray(frozen)).flags.writeable
    assert np.array(mx.array(1.5, dtype=mx.bfloat16)).item() == 1.5


def address_of(array):
    """Of arrays that the array interface has no type for."""
    return capsules.tensor_of(array.__dlpack__(max_version=(1, 0))).data


def test_bfloat16_of_the_other_byte_order():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    source = np.array([1.5, -2.0, 3.0], ml_dtypes.bfloat16)
    swapped = source.astype(source.dtype.newbyteorder(">"))
    for make in (mx.asarray, mx.array):
        array = make(swapped)
        assert (array.dtype, array.tolist()) == (mx.bfloat16, [1.5, -2.0, 3.0])
    with pytest.raises(ValueError, match="foreign byte order requires a copy, but copy=False"):
        mx.asarray(swapped, copy=False)


def test_bfloat16_without_ml_dtypes(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    with pytest.raises(TypeError, match=r"NumPy has no dtype bfloat16; install ml_dtypes"):
        np.asarray(mx.ones(2, dtype=mx.bfloat16))


# `__array__` and the interfaces.


def test_array_method():
    x = mx.arange(4.0)
    mx.eval(x)
    assert address(x.__array__()) == address(x)
    assert address(x.__array__(np.float32)) == address(x)
    assert x.__array__(np.float64).dtype == np.float64
    assert x.__array__(dtype="int8", copy=None).tolist() == [0, 1, 2, 3]
    assert address(x.__array__(copy=False)) == address(x)
    copied = x.__array__(copy=True)
    assert copied.flags.owndata
    assert copied.flags.writeable
    assert address(copied) != address(x)
    for dtype in (np.float64, "int32"):
        with pytest.raises(
            ValueError, match="to another dtype requires a copy, but copy=False"
        ) as found:
            x.__array__(dtype, copy=False)
        assert isinstance(found.value, BufferError)
    assert np.array(x, copy=False).ctypes.data == address(x)
    with pytest.raises(ValueError, match="copy"):
        np.array(x, dtype=np.float64, copy=False)
    with pytest.raises(TypeError):
        x.__array__("no dtype")


def test_array_interface():
    x = mx.arange(12.0).reshape(3, 4)
    mx.eval(x)
    interface = x.__array_interface__
    assert interface["version"] == 3
    assert interface["strides"] is None
    assert (interface["shape"], interface["typestr"]) == ((3, 4), "<f4")
    assert interface["data"][1] is True
    stepped = x.T[::2]
    mx.eval(stepped)
    assert stepped.__array_interface__["strides"] == (8, 16)
    assert not hasattr(mx.ones(2, dtype=mx.bfloat16), "__array_interface__")

    class Only:
        __array_interface__ = interface

    told = np.asarray(Only())
    x[:] = 5
    mx.eval(x)
    assert told.tolist() == np.arange(12).reshape(3, 4).tolist()


def test_cuda():
    assert not hasattr(mx.ones(2), "__cuda_array_interface__")
    with pytest.raises(AttributeError, match=r"the memory is the CPU's: got .*expected"):
        mx.ones(2).__cuda_array_interface__  # noqa: B018

    class OnDevice:
        __cuda_array_interface__: ClassVar = {
            "shape": (2,),
            "typestr": "<f4",
            "data": (0, True),
            "version": 3,
        }

    for make in (mx.asarray, mx.array):
        with pytest.raises(
            BufferError, match="has only __cuda_array_interface__, expected memory of"
        ):
            make(OnDevice())


# `from_numpy`.


@pytest.mark.covers("from_numpy")
def test_from_numpy_hands_memory_over():
    source = np.arange(4, dtype=np.float32)
    array = mx.from_numpy(source)
    assert address(array) == source.ctypes.data
    with pytest.raises(ValueError, match="read-only"):
        source[0] = 1
    doubled = array * 2
    source.flags.writeable = True  # what the promise forbids shows that the operation has waited
    source[:] = 7
    assert doubled.tolist() == [14] * 4


def test_from_numpy_copies_where_asked():
    source = np.arange(4, dtype=np.float32)
    array = mx.from_numpy(source, zero_copy=False)
    source[:] = 9
    assert source.flags.writeable
    assert array.tolist() == [0, 1, 2, 3]


def test_from_numpy_that_fails_changes_nothing():
    for source in (
        np.arange(4, dtype=">f4"),
        np.zeros(9, np.uint8)[1:].view(np.float32),
        np.array([object()]),
    ):
        with contextlib.suppress(TypeError, ValueError):
            mx.from_numpy(source)
            raise AssertionError("refused")
        assert source.flags.writeable
    for other in ([1, 2], mx.ones(2), memoryview(b"ab")):
        with pytest.raises(TypeError, match=r"^\[from_numpy\] .*expected a NumPy array"):
            mx.from_numpy(other)


# Files that are mapped.


def test_mapped_for_reading(tmp_path):
    np.save(tmp_path / "x.npy", VALUES)
    before = (tmp_path / "x.npy").read_bytes()
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    array = mx.asarray(mapped)
    assert address(array) == mapped.ctypes.data
    assert not np.asarray(array).flags.writeable
    doubled = array * 2
    array += 1
    array[0] = 100
    mx.eval(array, doubled)
    assert doubled.tolist() == [0, 2, 4, 6, 8, 10]
    assert array.tolist() == [100, 2, 3, 4, 5, 6]
    assert (tmp_path / "x.npy").read_bytes() == before


def test_mapped_for_writing(tmp_path):
    np.save(tmp_path / "x.npy", VALUES)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r+")
    array = mx.asarray(mapped)
    doubled = array * 2
    mapped[:] = 9
    assert doubled.tolist() == [0, 2, 4, 6, 8, 10]
    assert array.tolist() == [9] * 6


def test_mapped_by_hand(tmp_path):
    path = tmp_path / "raw"
    path.write_bytes(VALUES.tobytes())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        array = mx.asarray(mapped).view(mx.float32)
        assert array.tolist() == VALUES.tolist()
        del array


def test_what_neither_the_buffer_nor_dlpack_gives_is_had_by_the_method():
    class Neither:
        said = BufferError

        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **keywords):
            raise self.said("no word for it")

        def __array__(self, dtype=None, copy=None):
            return np.array([1.0, 2.0])

    for take in (mx.asarray, mx.array):
        assert take(Neither()).tolist() == [1, 2]
    Neither.said = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        mx.asarray(Neither())
