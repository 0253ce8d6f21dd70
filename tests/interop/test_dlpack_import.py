"""DLPack, inwards: capsules made by hand, good and bad."""

import ctypes
import gc
import weakref

import capsules
import numpy as np
import pytest
import umber.core as mx
from arrays import ALL, dtype_of
from capsules import IS_COPIED, PLAIN, READ_ONLY, VERSIONED, Made, Producer

pytestmark = pytest.mark.host

FORMS = {"plain": None, "1.0": (1, 0), "1.99": (1, 99)}
VALUES = np.arange(24, dtype=np.float32)
START = VALUES.ctypes.data


def made(shape=(4,), data=START, **options):
    return Made(data, shape, **options)


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.covers("from_dlpack")
@pytest.mark.parametrize("version", FORMS.values(), ids=FORMS)
def test_a_capsule_is_taken_over(version):
    source = made(version=version)
    array = mx.from_dlpack(source.capsule)
    assert array.tolist() == [0, 1, 2, 3]
    assert address(array) == START
    assert capsules.name_of(source.capsule) == b"used_" + source.name
    part = array[1:]
    pending = mx.from_dlpack(made(version=version).capsule) * 2
    with pytest.raises(BufferError, match="the capsule was already consumed"):
        mx.from_dlpack(source.capsule)
    assert source.deleted == 0
    del array
    gc.collect()
    mx.eval(part)
    del part
    gc.collect()
    assert source.deleted == 1
    assert pending.tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("version", FORMS.values(), ids=FORMS)
def test_a_capsule_without_deleter(version):
    array = mx.from_dlpack(made(version=version, deleter=False).capsule)
    assert array.tolist() == [0, 1, 2, 3]
    del array
    gc.collect()


@pytest.mark.parametrize("version", FORMS.values(), ids=FORMS)
def test_a_copy_is_deleted_at_once(version):
    values = VALUES.copy()
    source = made(data=values.ctypes.data, version=version)
    array = mx.from_dlpack(Producer(source.capsule), copy=True)
    assert source.deleted == 1
    values[:] = 9
    assert array.tolist() == [0, 1, 2, 3]


LAYOUTS = {
    "no strides": ((2, 3), None, 0, VALUES[:6].reshape(2, 3)),
    "transposed": ((3, 2), (1, 3), 0, VALUES[:6].reshape(2, 3).T),
    "stepped": ((2, 3), (12, 2), 0, VALUES.reshape(2, 12)[:, :6:2]),
    "broadcast": ((4, 3), (0, 1), 0, np.broadcast_to(VALUES[:3], (4, 3))),
    "backwards": ((4,), (-1,), 12, VALUES[3::-1]),
    "offset": ((4,), (1,), 8, VALUES[2:6]),
    "large steps of one": ((1, 3), (2**61, 1), 0, VALUES[:3].reshape(1, 3)),
    "odd steps of one": ((1, 3, 1), (777, 1, -5), 0, VALUES[:3].reshape(1, 3, 1)),
    "0-d": ((), None, 4, VALUES[1]),
    "empty": ((0, 3), (3, 1), 0, VALUES[:0].reshape(0, 3)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("version", FORMS.values(), ids=FORMS)
def test_layouts_are_shared(layout, version):
    shape, strides, offset, expected = LAYOUTS[layout]
    source = made(shape, strides=strides, byte_offset=offset, version=version)
    array = mx.from_dlpack(Producer(source.capsule), copy=False)
    assert array.shape == expected.shape
    assert np.asarray(array).tolist() == expected.tolist()
    assert address(array) == START + offset or array.size == 0
    assert mx.exp(array * 0).shape == expected.shape


def test_an_empty_tensor_needs_no_address():
    assert mx.from_dlpack(made((0,), data=None).capsule).shape == (0,)
    with pytest.raises(BufferError, match="the described memory has no address"):
        mx.from_dlpack(made((1,), data=None).capsule)


def test_memory_aligned_for_bytes_only_is_copied():
    raw = np.zeros(20, np.uint8)
    raw[1:17] = np.frombuffer(VALUES[:4].tobytes(), np.uint8)
    start = raw.ctypes.data + (1 if raw.ctypes.data % 4 == 0 else 0)
    source = made(data=start)
    raw[1:17] = np.frombuffer(VALUES[:4].tobytes(), np.uint8)
    array = mx.from_dlpack(source.capsule)
    assert array.tolist() == [0, 1, 2, 3]
    assert source.deleted == 1
    refused = made(data=start)
    with pytest.raises(ValueError, match="misaligned elements require a copy, but copy=False"):
        mx.from_dlpack(Producer(refused.capsule), copy=False)
    assert refused.deleted == 0
    assert capsules.name_of(refused.capsule) == PLAIN


@pytest.mark.parametrize("name", [name for name in ALL if name != "bfloat16"])
def test_dtypes_are_never_narrowed(name):
    values = np.arange(4).astype(name.rstrip("_"))
    array = mx.from_dlpack(values)
    assert array.dtype == dtype_of(name)
    assert address(array) == values.ctypes.data


def test_bfloat16():
    bits = np.array([0x3FC0, 0xC000], np.uint16)
    array = mx.from_dlpack(made((2,), data=bits.ctypes.data, code=4, bits=16).capsule)
    assert (array.dtype, array.tolist()) == (mx.bfloat16, [1.5, -2.0])


REFUSED = {
    "float6": ({"code": 15, "bits": 6}, r"type code 15 \(float6_e2m3fn\) with bits=6 and lanes=1"),
    "float4": ({"code": 17, "bits": 4}, r"type code 17 \(float4_e2m1fn\)"),
    "float8 of other bits": ({"code": 10, "bits": 16}, r"float8_e4m3fn\) with bits=16"),
    "float128": ({"bits": 128}, r"type code 2 \(float\) with bits=128"),
    "opaque": ({"code": 3, "bits": 64}, r"type code 3 \(opaque\)"),
    "int4": ({"code": 0, "bits": 4}, r"type code 0 \(int\) with bits=4"),
    "lanes": ({"lanes": 2}, r"lanes=2 are not supported"),
    "no lanes": ({"lanes": 0}, r"lanes=0 are not supported"),
    "future code": ({"code": 200}, r"type code 200 \(unknown\)"),
    "cuda": ({"device": (2, 0)}, r"cannot read memory of device type 2, CUDA; pass device"),
    "metal": ({"device": (8, 0)}, r"cannot read memory of device type 8, Metal"),
    "unknown device": ({"device": (99, 0)}, r"cannot read memory of device type 99, unknown"),
    "no device": ({"device": (0, 0)}, r"cannot read memory of device type 0"),
    "negative length": ({"shape": (-1, 2)}, r"lengths must not be negative, got shape \(-1, 2\)"),
    "negative axes": ({"ndim": -1}, r"tensor has ndim=-1, expected 0 to 64"),
    "many axes": ({"ndim": 65}, r"tensor has ndim=65, expected 0 to 64"),
    "all axes": ({"ndim": 2**31 - 1}, r"tensor has ndim=2147483647"),
    "no shape": ({"null_shape": True}, r"tensor with ndim=1 has no shape"),
    "large": ({"shape": (2**62, 4)}, r"shape .* is too large to address"),
    "large product": ({"shape": (2**33, 2**33)}, r"shape .* is too large to address"),
    "large bytes": ({"shape": (2**61,)}, r"shape .* is too large to address"),
    "large and empty": ({"shape": (0, 2**62, 2**62)}, r"shape .* is too large to address"),
    "large strides": ({"shape": (2, 2), "strides": (2**62, 1)}, r"strides .* are too large"),
    "large reach": ({"shape": (2**20, 2), "strides": (2**45, 1)}, r"strides .* are too large"),
    "far away": ({"shape": (2, 2), "strides": (2**44, 1)}, r"memory is not mapped: \d+ bytes at"),
    "far offset": ({"byte_offset": 2**62}, r"memory is not mapped"),
    "offset around all memory": (
        {"byte_offset": 2**64 - 1},
        r"byte_offset 18446744073709551615 is too large to address",
    ),
    "before the start": ({"shape": (4,), "strides": (-(2**44),)}, r"memory is not mapped"),
}


@pytest.mark.parametrize("version", [None, (1, 0)], ids=["plain", "versioned"])
@pytest.mark.parametrize("fault", REFUSED)
def test_bad_capsules_are_refused_and_left_alone(fault, version):
    options, message = REFUSED[fault]
    source = made(version=version, **{"shape": (4,), **options})
    for copy in (None, True, False):
        with pytest.raises(BufferError, match=rf"^\[from_dlpack\] .*{message}"):
            mx.from_dlpack(Producer(source.capsule), copy=copy)
    assert capsules.name_of(source.capsule) == source.name
    gc.collect()
    assert source.deleted == 0


@pytest.mark.parametrize("version", [(2, 0), (0, 1), (99, 1)])
def test_other_major_versions_are_not_read(version):
    """Only the version field is touched: the rest of the structure is not there."""
    memory = capsules.Guarded()
    field = memory.address + memory.bytes - 8
    ctypes.memmove(field, (ctypes.c_uint32 * 2)(*version), 8)
    capsule = capsules.api.PyCapsule_New(field, VERSIONED, None)
    with pytest.raises(
        BufferError, match=rf"capsule version {version[0]}\.{version[1]} is not supported"
    ):
        mx.from_dlpack(capsule)
    assert capsules.name_of(capsule) == VERSIONED
    memory.free()


@pytest.mark.parametrize("device", [3, 11, 13])
def test_memory_that_devices_share_with_the_cpu(device):
    assert mx.from_dlpack(made(device=(device, 1)).capsule).tolist() == [0, 1, 2, 3]


def test_flags():
    for flags, writable in [
        (0, True),
        (READ_ONLY, False),
        (IS_COPIED, True),
        (3, False),
        (4, True),
    ]:
        values = VALUES.copy()
        source = made(data=values.ctypes.data, version=(1, 1), flags=flags)
        array = mx.from_dlpack(source.capsule)
        assert np.asarray(array).flags.writeable == writable
        again = array.__dlpack__(max_version=(1, 1))
        assert capsules.managed_of(again).flags == (0 if writable else READ_ONLY)
        del again
    # Without flags nobody knows who may write: nobody by way of umber.
    assert not np.asarray(mx.from_dlpack(made().capsule)).flags.writeable


def test_copy_is_verified():
    values = VALUES.copy()
    for flags in (0, READ_ONLY, IS_COPIED):
        source = made(data=values.ctypes.data, version=(1, 0), flags=flags)
        producer = Producer(source.capsule)
        array = mx.from_dlpack(producer, copy=True)
        assert producer.asked[0]["copy"] is True
        assert (address(array) == values.ctypes.data) == (flags == IS_COPIED)
        assert np.asarray(array).flags.writeable
    source = made(version=(1, 0), flags=IS_COPIED)
    with pytest.raises(ValueError, match="the producer made a copy, but copy=False"):
        mx.from_dlpack(Producer(source.capsule), copy=False)
    assert source.deleted == 0


def test_what_a_producer_is_asked():
    def asked(**keywords):
        producer = Producer(made(version=(1, 0)).capsule)
        mx.from_dlpack(producer, **keywords)
        return producer.asked

    assert asked() == [{"max_version": (1, 1)}]
    assert asked(copy=False) == [{"max_version": (1, 1), "copy": False}]
    assert asked(device=mx.cpu) == [{"max_version": (1, 1), "dl_device": (1, 0)}]
    assert asked(device=mx.Device(mx.cpu), copy=True) == [
        {"max_version": (1, 1), "dl_device": (1, 0), "copy": True}
    ]


def test_memory_of_other_devices_is_asked_for_only_where_it_may_be_copied():
    cuda = Producer(made().capsule, device=(2, 0))
    for keywords in ({}, {"copy": True}, {"copy": False}, {"device": mx.cpu, "copy": False}):
        with pytest.raises(
            BufferError, match=r"cannot read memory of device type 2, CUDA; pass device"
        ):
            mx.from_dlpack(cuda, **keywords)
        assert cuda.asked == []
    assert mx.from_dlpack(cuda, device=mx.cpu).tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="gpu"):
        mx.from_dlpack(Producer(made().capsule), device=mx.gpu)
    with pytest.raises(TypeError, match="device"):
        mx.from_dlpack(Producer(made().capsule), device=3)


def test_old_producers():
    class WithoutKeywords:
        calls = 0

        def __dlpack__(self):
            self.calls += 1
            return made().capsule

    class WithStreamOnly(WithoutKeywords):
        def __dlpack__(self, stream=None):
            assert stream is None
            return super().__dlpack__()

    for kind in (WithoutKeywords, WithStreamOnly):
        producer = kind()
        assert mx.from_dlpack(producer).tolist() == [0, 1, 2, 3]
        values = VALUES.copy()
        copied = mx.from_dlpack(producer, copy=True)
        assert address(copied) != START
        assert producer.calls == 2
        del values


def test_an_error_inside_a_producer_is_told_once():
    class Failing:
        calls = 0

        def __dlpack__(self, **keywords):
            self.calls += 1
            raise TypeError(f"the reason, call {self.calls}")

    class Refusing:
        calls = 0

        def __dlpack__(self, **keywords):
            self.calls += 1
            raise BufferError("no")

    failing, refusing = Failing(), Refusing()
    with pytest.raises(TypeError, match="the reason, call 1"):
        mx.from_dlpack(failing)
    assert failing.calls == 2
    with pytest.raises(BufferError, match=r"^no$"):
        mx.from_dlpack(refusing)
    assert refusing.calls == 1


def test_an_error_inside_an_old_producer_is_told():
    class Failing:
        def __dlpack__(self, stream=None):
            raise kind("the reason")

    for kind in (TypeError, BufferError):
        with pytest.raises(kind, match=r"^the reason$"):
            mx.from_dlpack(Failing())


@pytest.mark.parametrize("device", [(2**40, 0), 1, (1,), ("cpu", 0)])
def test_a_device_that_is_none(device):
    with pytest.raises(
        TypeError, match=r"^\[from_dlpack\] __dlpack_device__ returned .*, expected"
    ) as e:
        mx.from_dlpack(Producer(made().capsule, device=device))
    assert repr(device) in str(e.value)


@pytest.mark.parametrize("nothing", [None, 3, "text", [1], object(), capsules.api])
def test_what_is_no_producer(nothing):
    with pytest.raises(
        TypeError, match=r"^\[from_dlpack\] got .*expected an object with __dlpack__"
    ):
        mx.from_dlpack(nothing)


def test_a_producer_that_gives_no_capsule():
    for wrong in (None, 3, "capsule", np.zeros(2)):
        with pytest.raises(TypeError, match=r"^\[from_dlpack\] got "):
            mx.from_dlpack(Producer(wrong))


def test_own_arrays():
    array = mx.arange(4.0)
    mx.eval(array)
    assert address(mx.from_dlpack(array)) == address(array)
    assert address(mx.from_dlpack(array, copy=True)) != address(array)
    assert mx.grad(lambda x: (mx.from_dlpack(x) ** 2).sum())(array).tolist() == [0, 2, 4, 6]
    assert mx.grad(lambda x: (mx.asarray(x, copy=True) ** 2).sum())(array).tolist() == [0, 2, 4, 6]
    assert mx.vmap(mx.from_dlpack)(array).tolist() == array.tolist()


def test_cycles_through_capsules_are_collected():
    """A producer that holds arrays of ours, a capsule of them, and itself."""

    class Holder:
        def __init__(self):
            self.array = mx.ones((1 << 16,))
            self.capsule = self.array.__dlpack__(max_version=(1, 0))
            self.myself = self

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

    base = mx.get_active_memory()
    holder = Holder()
    holder.imported = mx.from_dlpack(holder)
    gone = weakref.ref(holder)
    assert mx.get_active_memory() > base
    del holder
    gc.collect()
    assert gone() is None
    assert mx.get_active_memory() <= base + 4096
