"""Objects that describe memory which is not there are refused, not read."""

import ctypes
import mmap
import sys

import numpy as np
import pytest
import umber.core as mx

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux tells what is mapped"
)


class Liar:
    """Tells of memory by the array interface."""

    def __init__(self, address, shape, strides=None, typestr="<f4"):
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": typestr,
            "data": (address, True),
            "strides": strides,
        }


def edge():
    """A mapping of one page with nothing behind it, and its address."""
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 2 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
    assert libc.munmap(address + page, page) == 0
    return memory, address, page


@pytest.mark.parametrize("make", [mx.array, mx.asarray, mx.exp, lambda x: mx.ones(2) + x])
@pytest.mark.parametrize("address", [8, 0xDEAD0000, 2**47 - 4096, 2**63 - 8, 2**64 - 4096])
def test_wild_addresses(make, address):
    with pytest.raises(ValueError, match=r"\[\w+\] the described memory.*got.*expected|memory"):
        make(Liar(address, (1000,)))


def test_a_range_that_runs_past_the_end_of_a_mapping():
    memory, address, page = edge()
    inside = mx.asarray(Liar(address, (page // 4,)))
    assert inside.sum().item() == 0
    for shape, strides in [
        ((page // 4 + 1,), None),
        ((2, page // 4), None),
        ((3, 2), (page // 2, 4)),
        ((2, 2), (1 << 40, 4)),
    ]:
        with pytest.raises(ValueError, match="the described memory is not mapped"):
            mx.asarray(Liar(address, shape, strides))
    with pytest.raises(ValueError, match="the described memory is not mapped"):
        mx.asarray(Liar(address + 4, (page // 4,), typestr=">f4"))
    del inside, memory


def test_a_range_that_starts_before_a_mapping():
    memory, address, _ = edge()
    with pytest.raises(ValueError, match="the described memory is not mapped"):
        mx.asarray(Liar(address, (1 << 44,), (-4,)))
    del memory


def test_objects_of_ctypes_at_any_address():
    wild = (ctypes.c_float * 1000).from_address(0xDEAD0000)
    for make in (mx.array, mx.asarray):
        with pytest.raises(ValueError, match="the described memory is not mapped"):
            make(memoryview(wild))
    own = (ctypes.c_float * 4)(1, 2, 3, 4)
    assert mx.asarray(memoryview(own)).tolist() == [1, 2, 3, 4]


def test_honest_objects_are_shared():
    source = np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::-1]
    teller = Liar(source.ctypes.data, source.shape, source.strides)
    assert mx.asarray(teller).tolist() == source.tolist()
    assert mx.asarray(Liar(8, (0,))).shape == (0,)
