"""The buffer protocol, outwards: what each request is answered."""

import collections.abc
import hashlib
import io
import subprocess
import sys

import buffers
import numpy as np
import pytest
import umber.core as mx
from arrays import ALL

pytestmark = pytest.mark.host

SAID = [name for name in ALL if name != "bfloat16"]
LAYOUTS = {
    "dense": lambda x: x,
    "transposed": lambda x: x.T,
    "stepped": lambda x: x[1::2, ::3],
    "backwards": lambda x: x[::-1, ::-1],
    "row": lambda x: x[2],
    "column": lambda x: x[:, 1],
    "broadcast": lambda x: np.broadcast_to(x[:1], (4, 6)),
    "0-d": lambda x: x[1, 2],
    "empty": lambda x: x[:0],
    "axes of one": lambda x: x[1:2, None, 2:4],
}
REQUESTS = {
    "simple": buffers.SIMPLE,
    "nd": buffers.ND,
    "strides": buffers.STRIDES,
    "c": buffers.C_CONTIGUOUS,
    "f": buffers.F_CONTIGUOUS,
    "any": buffers.ANY_CONTIGUOUS,
    "full": buffers.FULL_RO,
    "format": buffers.FORMAT | buffers.STRIDES,
}


def source(name="float32", layout="dense"):
    values = LAYOUTS[layout](np.arange(30).reshape(5, 6).astype(name.rstrip("_")))
    return values if isinstance(values, np.ndarray) else np.asarray(values)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SAID)
def test_a_view_tells_what_the_array_is(name, layout):
    values = source(name, layout)
    array = mx.asarray(values)
    view = memoryview(array)
    assert view.shape == values.shape
    assert (view.nbytes, view.itemsize, view.ndim) == (values.nbytes, values.itemsize, values.ndim)
    assert view.format == memoryview(values).format.lstrip("<=@") or np.dtype(view.format)
    assert np.asarray(view).dtype == values.dtype
    assert not view.format.startswith(("=", "<", "@"))
    assert view.tobytes() == values.tobytes()
    if values.size and all(length > 1 for length in values.shape):
        assert view.strides == values.strides


@pytest.mark.parametrize("request_name", REQUESTS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_requests_are_obeyed_as_numpy_obeys_them(layout, request_name):
    flags = REQUESTS[request_name]
    values = source("int32", layout)
    array = mx.asarray(values)
    flagged = values.flags
    possible = {
        "simple": flagged.c_contiguous,
        "nd": flagged.c_contiguous,
        "c": flagged.c_contiguous,
        "f": flagged.f_contiguous,
        "any": flagged.c_contiguous or flagged.f_contiguous,
    }.get(request_name, True)
    if not possible:
        with (
            pytest.raises(
                BufferError,
                match=r"^\[buffer\] array of shape \[.*\] and strides \[.*\] .* is not contiguous",
            ),
            buffers.requested(array, flags),
        ):
            pass
        return
    with buffers.requested(array, flags) as view:
        assert view.obj is array
        assert (view.len, view.itemsize) == (values.nbytes, 4)
        assert (view.format is not None) == bool(flags & buffers.FORMAT)
        has_axes = values.ndim > 0
        assert bool(view.shape) == (has_axes and bool(flags & buffers.ND))
        assert bool(view.strides) == (has_axes and flags & buffers.STRIDES == buffers.STRIDES)
        assert not view.suboffsets
        if values.size:
            assert view.buf == values.__array_interface__["data"][0]


def test_bytes_of_views_are_numpys_or_refused():
    """No consumer of plain bytes is given others' bytes."""
    for layout in LAYOUTS:
        values = source("float32", layout)
        array = mx.asarray(values)
        assert bytes(array) == values.tobytes()
        if values.flags.c_contiguous:
            assert hashlib.sha256(array).digest() == hashlib.sha256(values.tobytes()).digest()
            file = io.BytesIO()
            file.write(array)
            assert file.getvalue() == values.tobytes()
        else:
            for consume in (hashlib.sha256, io.BytesIO().write):
                with pytest.raises(BufferError):
                    consume(array)
    one = mx.arange(1)
    mx.eval(one)
    with pytest.raises(BufferError):
        hashlib.sha256(mx.broadcast_to(one, (1 << 24,)))


@pytest.mark.parametrize("flags", [buffers.WRITABLE, buffers.WRITABLE | buffers.FULL_RO])
def test_read_only_memory_is_not_given_for_writing(flags):
    frozen = source()
    frozen.flags.writeable = False
    shared = mx.arange(3)
    mx.eval(shared)
    other = shared[1:]
    mx.eval(other)
    for array in (mx.asarray(frozen), shared, mx.broadcast_to(mx.arange(3), (2, 3))):
        assert memoryview(array).readonly
        with (
            pytest.raises(BufferError, match=r"read-only, or visible elsewhere: got .* expected"),
            buffers.requested(array, flags),
        ):
            pass
    alone = mx.zeros(3)
    assert not memoryview(alone).readonly
    with buffers.requested(alone, flags) as view:
        assert not view.readonly


def test_views_are_taken_of_values_not_of_promises():
    pending = mx.arange(6.0) * 2
    assert memoryview(pending).tolist() == [0, 2, 4, 6, 8, 10]


def test_errors_of_evaluation_come_out_as_they_are():
    def bad():
        return mx.arange(3)[mx.array([10])]

    with pytest.raises(IndexError) as direct:
        mx.eval(bad())
    for export in (memoryview, np.asarray, np.from_dlpack, lambda x: x.__array__()):
        with pytest.raises(IndexError) as found:
            export(bad())
        assert str(found.value) == str(direct.value)


def test_arrays_without_values_have_no_view():
    for transform in (mx.vmap, mx.compile):
        for export in (memoryview, np.asarray, np.from_dlpack, lambda x: x.__array_interface__):
            with pytest.raises((ValueError, TypeError, BufferError), match="value"):
                transform(lambda x, export=export: export(x) and x)(mx.ones(3))


def test_failed_requests_hold_nothing():
    array = mx.zeros((4, 4)).T
    mx.eval(array)
    before = sys.getrefcount(array)
    for _ in range(100):
        with pytest.raises(BufferError):
            hashlib.sha256(array)
    assert sys.getrefcount(array) == before


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 688 is of Python 3.12")
def test_arrays_are_buffers():
    assert isinstance(mx.zeros(1), collections.abc.Buffer)


def test_other_threads_run_while_a_view_waits():
    """The interpreter lock is released while the array is computed for a view."""
    program = (
        "import threading, time, umber.core as mx\n"
        "x = mx.random.normal((700, 700)); mx.eval(x)\n"
        "for _ in range(12): x = x @ x / 30\n"
        "ticks = []\n"
        "done = threading.Event()\n"
        "def tick():\n"
        "    while not done.is_set(): ticks.append(time.perf_counter()); time.sleep(0.001)\n"
        "thread = threading.Thread(target=tick); thread.start(); time.sleep(0.02)\n"
        "start = time.perf_counter(); memoryview(x); end = time.perf_counter()\n"
        "done.set(); thread.join()\n"
        "print(end - start, sum(start < t < end for t in ticks))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    seconds, ticks = done.stdout.split()
    assert int(ticks) > 0 or float(seconds) < 0.01
