"""DLPack, outwards: capsules read by hand."""

import gc
import subprocess
import sys
import threading

import capsules
import numpy as np
import pytest
import umber.core as mx
from arrays import ALL, dtype_of
from capsules import IS_COPIED, PLAIN, READ_ONLY, VERSIONED

pytestmark = pytest.mark.host

CODES = {
    "bool_": (6, 8),
    **{f"int{bits}": (0, bits) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (1, bits) for bits in (8, 16, 32, 64)},
    **{f"float{bits}": (2, bits) for bits in (16, 32, 64)},
    "bfloat16": (4, 16),
    "complex64": (5, 64),
    "complex128": (5, 128),
}


def evaluated(*shape, dtype=mx.float32):
    array = mx.zeros(shape, dtype=dtype)
    mx.eval(array)
    return array


def frozen():
    source = np.zeros(4, np.float32)
    source.flags.writeable = False
    return mx.asarray(source)


def seen_elsewhere():
    array = mx.arange(4.0)
    other = array[1:]
    mx.eval(array, other)
    return array, other


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        (None, PLAIN),
        ((0, 8), PLAIN),
        ((0, 99), PLAIN),
        ((1, 0), VERSIONED),
        ((1, 3), VERSIONED),
        ((2, 0), VERSIONED),
    ],
)
def test_version(asked, name):
    capsule = evaluated(2).__dlpack__(max_version=asked)
    assert capsules.name_of(capsule) == name
    if name == VERSIONED:
        managed = capsules.managed_of(capsule)
        assert (managed.major, managed.minor, managed.flags) == (1, 1, 0)


@pytest.mark.parametrize("name", ALL)
def test_codes(name):
    tensor = capsules.tensor_of(capsule := evaluated(2, 3, dtype=dtype_of(name)).__dlpack__())
    assert (tensor.code, tensor.bits, tensor.lanes) == (*CODES[name], 1)
    assert (tensor.device_type, tensor.device_id) == (1, 0)
    del capsule


def test_layouts():
    base = mx.arange(30.0).reshape(5, 6)
    mx.eval(base)
    for array, strides, offset in [
        (base, (6, 1), 0),
        (base.T, (1, 6), 0),
        (base[1:, ::2], (6, 2), 6),
        (base[::-1][::-1], (6, 1), 0),
        (mx.broadcast_to(base[:1], (4, 6)), (0, 1), 0),
    ]:
        mx.eval(array)
        start = base.__array_interface__["data"][0]
        capsule = array.__dlpack__(max_version=(1, 0))
        tensor = capsules.tensor_of(capsule)
        assert capsules.shape_of(tensor) == array.shape
        assert capsules.strides_of(tensor) == strides
        assert tensor.data + tensor.byte_offset == start + 4 * offset


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_negative_strides_are_copied_unless_copies_are_refused(max_version):
    base = mx.arange(30.0).reshape(5, 6)
    backwards = base[::-1, ::2]
    mx.eval(base, backwards)
    start = base.__array_interface__["data"][0]
    capsule = backwards.__dlpack__(max_version=max_version)
    tensor = capsules.tensor_of(capsule)
    assert capsules.strides_of(tensor) == (3, 1)
    assert not start <= tensor.data < start + base.nbytes
    if max_version:
        assert capsules.managed_of(capsule).flags == IS_COPIED
    view = np.from_dlpack(backwards)
    assert view.tolist() == backwards.tolist()
    del base, capsule, view
    shared = backwards.__dlpack__(max_version=(1, 0), copy=False)
    assert capsules.strides_of(capsules.tensor_of(shared)) == (-6, 2)


def test_odd_shapes():
    scalar = capsules.tensor_of(one := mx.array(3.0).__dlpack__())
    assert scalar.ndim == 0
    assert scalar.data
    assert not scalar.shape
    assert not scalar.strides
    empty = capsules.tensor_of(none := evaluated(0, 3).__dlpack__())
    assert not empty.data
    assert capsules.shape_of(empty) == (0, 3)
    assert capsules.strides_of(empty) == (3, 1)
    thin = capsules.tensor_of(row := mx.asarray(np.ones((1, 4), np.float32)).__dlpack__())
    assert capsules.strides_of(thin) == (4, 1)
    del one, none, row


def test_read_only_is_said_exactly_where_it_is():
    array, other = seen_elsewhere()
    row = mx.arange(3.0)
    mx.eval(row)
    broadcast = mx.broadcast_to(row, (2, 3))
    for source, flags in [
        (evaluated(3), 0),
        (array, READ_ONLY),
        (other, READ_ONLY),
        (frozen(), READ_ONLY),
        (broadcast, READ_ONLY),
        (mx.asarray(np.zeros(3, np.float32)), 0),
    ]:
        capsule = source.__dlpack__(max_version=(1, 0))
        assert capsules.managed_of(capsule).flags == flags
        copied = source.__dlpack__(max_version=(1, 0), copy=True)
        assert capsules.managed_of(copied).flags == IS_COPIED
        assert capsules.tensor_of(copied).data != capsules.tensor_of(capsule).data


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_copy(max_version):
    array = mx.arange(4.0)
    mx.eval(array)
    address = array.__array_interface__["data"][0]
    for copy, same in [(None, True), (False, True), (True, False)]:
        fresh = mx.arange(4.0) if copy else array
        capsule = array.__dlpack__(max_version=max_version, copy=copy)
        assert (capsules.tensor_of(capsule).data == address) == same
        del fresh, capsule
    copied = np.from_dlpack(array, copy=True)
    assert copied.flags.writeable
    copied[0] = 9
    assert array.tolist() == [0, 1, 2, 3]


def test_a_capsule_that_cannot_say_read_only():
    """Memory seen elsewhere is copied for it; memory declared read-only is refused."""
    array, other = seen_elsewhere()
    capsule = array.__dlpack__()
    assert capsules.tensor_of(capsule).data != array.__array_interface__["data"][0]
    for make in (lambda: array, frozen):
        with pytest.raises(BufferError, match=r"got max_version=None, expected \(1, 0\)") as found:
            make().__dlpack__(copy=False)
        assert isinstance(found.value, ValueError)
        assert isinstance(found.value, mx.CopyError)
    with pytest.raises(BufferError, match=r"got max_version=\(0, 8\), expected"):
        frozen().__dlpack__(max_version=(0, 8))
    assert capsules.name_of(frozen().__dlpack__(copy=True)) == PLAIN
    assert other.tolist() == [1, 2, 3]


def test_a_capsule_that_cannot_say_read_only_is_alone():
    """Who asks for no version may take the memory for unchanging, as JAX does."""
    array = evaluated(4)
    capsule = array.__dlpack__()
    assert capsules.tensor_of(capsule).data == array.__array_interface__["data"][0]
    assert not np.asarray(array).flags.writeable
    del capsule
    view = np.asarray(array)
    assert view.flags.writeable
    capsule = array.__dlpack__()
    assert capsules.tensor_of(capsule).data != array.__array_interface__["data"][0]
    view[0] = 9
    assert array.tolist()[0] == 9
    with pytest.raises(BufferError, match="read-only or shared memory needs a versioned capsule"):
        array.__dlpack__(copy=False)


def test_no_writable_capsule_under_readonly():
    before = mx.set_view_policy("readonly")
    try:
        array = evaluated(3)
        assert capsules.managed_of(array.__dlpack__(max_version=(1, 0))).flags == READ_ONLY
        plain = capsules.tensor_of(capsule := array.__dlpack__())
        assert plain.data != array.__array_interface__["data"][0]
        del capsule
    finally:
        mx.set_view_policy(before)


def test_device():
    pending = mx.arange(3) + 1
    kind, index = pending.__dlpack_device__()
    assert (int(kind), int(index)) == (1, 0)
    assert capsules.tensor_of(pending.__dlpack__(dl_device=(1, 0))).device_type == 1
    for device in [(2, 0), (8, 0), (99, 0), (1, 1), (-1, 0)]:
        with pytest.raises(BufferError, match=r"export to device \(.*only to \(1, 0\), the CPU"):
            pending.__dlpack__(dl_device=device)
    with pytest.raises(OverflowError, match=r"dl_device: got \(1099511627776, 0\), expected int"):
        pending.__dlpack__(dl_device=(2**40, 0))
    with pytest.raises(OverflowError, match=r"max_version: got \(-1, 0\), expected integers"):
        pending.__dlpack__(max_version=(-1, 0))


@pytest.mark.parametrize("stream", [0, 1, -1, 7, 2**40])
def test_the_cpu_has_no_streams(stream):
    with pytest.raises(ValueError, match=rf"stream must be None on the CPU, got {stream}"):
        evaluated(2).__dlpack__(stream=stream)


def test_bad_arguments():
    array = evaluated(2)
    with pytest.raises(TypeError, match=r"stream must be None on the CPU, got str"):
        array.__dlpack__(stream="default")
    for keywords in [{"max_version": 1}, {"dl_device": "cpu"}, {"copy": "yes"}, {"what": 1}]:
        with pytest.raises(TypeError):
            array.__dlpack__(**keywords)
    with pytest.raises(TypeError):
        array.__dlpack__(None)


def test_capsules_are_freed_once():
    base = mx.get_active_memory()
    array = evaluated(1 << 18)
    capsules.tensor_of(capsule := array.__dlpack__())
    free = capsules.consume(array.__dlpack__(max_version=(1, 0)))
    del array
    assert mx.get_active_memory() >= base + (1 << 20)
    del capsule
    assert mx.get_active_memory() >= base + (1 << 20)
    free()
    assert mx.get_active_memory() <= base + 4096


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_exports_die_in_any_order(order):
    base = mx.get_active_memory()
    array = evaluated(1 << 16)
    views = {0: np.asarray(array), 1: np.from_dlpack(array), 2: memoryview(array)}
    addresses = {view.__array_interface__["data"][0] for view in (views[0], views[1])}
    assert len(addresses) == 1
    views[0][5] = 3
    assert views[1][5] == 3
    assert views[2][5] == 3
    del array
    for which in order:
        gc.collect()
        assert mx.get_active_memory() > base
        del views[which]
    gc.collect()
    assert mx.get_active_memory() <= base + 4096


def test_a_consumed_capsule_does_nothing_when_it_dies():
    array = evaluated(4)
    capsule = array.__dlpack__()
    free = capsules.consume(capsule)
    del capsule
    gc.collect()
    free()
    assert array.tolist() == [0] * 4


@pytest.mark.parametrize(
    "asked",
    [
        {"max_version": (1, 0)},
        {"max_version": (1, 5), "copy": None},
        {"copy": None, "dl_device": None, "max_version": (1, 0), "stream": None},
        {"dl_device": (1, 0), "max_version": (1, 0), "copy": False},
        # A name that is not the one object that Python keeps of its text.
        {"".join(["max_", "version"]): (2, 3)},
    ],
)
def test_however_consumers_ask_they_get_the_same_capsule(asked):
    array = evaluated(3, 4)
    capsule, plain = array.__dlpack__(**asked), array.__dlpack__(max_version=(1, 0))
    assert capsules.name_of(capsule) == VERSIONED
    tensor = capsules.tensor_of(capsule)
    assert capsules.shape_of(tensor) == (3, 4)
    assert tensor.data == capsules.tensor_of(plain).data


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"max_version": 1}, TypeError),
        ({"max_version": (1,)}, (TypeError, ValueError)),
        ({"max_version": (1, 0), "other": None}, TypeError),
        ({"max_version": (1, 0), "stream": 1}, ValueError),
        ({"max_version": (1, 0), "dl_device": (2, 0)}, BufferError),
    ],
)
def test_other_wishes_are_refused_as_ever(asked, error):
    with pytest.raises(error, match=r"^\[__dlpack__\]"):
        evaluated(2).__dlpack__(**asked)


def test_deleters_run_on_any_thread_without_the_lock():
    """Called as a consumer in C would: ctypes lets go of the interpreter lock around the call."""
    base = mx.get_active_memory()
    sources = [np.ones(1 << 12, np.float32) for _ in range(20)]
    before = [sys.getrefcount(source) for source in sources]
    made = [evaluated(1 << 12) for _ in range(20)] + [mx.asarray(source) for source in sources]
    frees = [capsules.consume(array.__dlpack__(max_version=(1, 0))) for array in made]
    del made
    threads = [threading.Thread(target=free) for free in frees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert mx.get_active_memory() <= base + 4096
    assert [sys.getrefcount(source) for source in sources] == before


def test_a_deleter_after_the_interpreter(tmp_path):
    """A consumer that outlives the interpreter may still call the deleter."""
    program = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "import ctypes, atexit, capsules, numpy as np, umber.core as mx\n"
        "arrays = [mx.ones(1000), mx.asarray(np.ones(1000, np.float32))]\n"
        "mx.eval(arrays)\n"
        "libc = ctypes.CDLL(None)\n"
        "for array in arrays:\n"
        "    managed = capsules.managed_of(capsule := array.__dlpack__(max_version=(1, 0)))\n"
        "    capsules.consume(capsule)\n"
        "    libc.__cxa_atexit(ctypes.c_void_p(managed.deleter),\n"
        "        ctypes.c_void_p(ctypes.addressof(managed)), None)\n"
        "print('done')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
