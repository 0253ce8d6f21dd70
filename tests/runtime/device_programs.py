"""Programs for a process that has two simulated accelerators: `python device_programs.py NAME`."""

import re
import sys
import threading

import numpy as np
import pytest
import umber.core as mx
from umber import array_api as xp

CPU = mx.Device(mx.cpu, 0)
FIRST, SECOND = mx.Device(mx.gpu, 0), mx.Device(mx.gpu, 1)


def where(array):
    """The kind and the index of an array's device: devices of one kind are equal as in MLX."""
    kind = "gpu" if array.device.type == mx.gpu else "cpu"
    return kind, int(repr(array.device).split(", ")[1][:-1])


def raises(error, text, function):
    with pytest.raises(error, match=re.escape(text)) as found:
        function()
    return str(found.value)


def there_are_devices():
    assert mx.device_count(mx.gpu) == 2
    assert mx.is_available(mx.gpu)
    assert mx.is_available(SECOND)
    assert not mx.is_available(mx.Device(mx.gpu, 2))
    assert mx.device_info(FIRST)["device_name"] == "simulated accelerator"
    assert len(xp.__array_namespace_info__().devices()) == 3
    assert mx.default_device() == mx.cpu


def arrays_are_where_they_are_made():
    with mx.stream(FIRST):
        assert where(mx.zeros(3)) == where(mx.array([1, 2])) == ("gpu", 0)
        assert where(mx.asarray(np.ones(3))) == where(mx.random.normal((2,))) == ("gpu", 0)
    assert where(mx.zeros(3)) == ("cpu", 0)
    assert where(mx.zeros(3, device=SECOND)) == where(mx.arange(3, device=SECOND)) == ("gpu", 1)
    assert where(mx.asarray([1, 2], device="gpu")) == ("gpu", 0)
    assert where(xp.asarray([1, 2], device=SECOND)) == ("gpu", 1)
    host = mx.ones(3)
    assert where(mx.add(host, host, stream=FIRST)) == ("gpu", 0)
    assert where(mx.astype(host, mx.float32, device=FIRST)) == ("gpu", 0)
    raises(ValueError, "copy=False", lambda: mx.asarray(np.ones(3), device=FIRST, copy=False))


def arrays_move():
    x = mx.arange(6).reshape(2, 3)
    moved = x.to_device(FIRST)
    assert where(moved) == ("gpu", 0)
    assert moved.to_device(FIRST) is moved
    assert where(moved.to_device(SECOND)) == ("gpu", 1)
    back = moved.to_device(SECOND).T[::-1].to_device(CPU)
    assert where(back) == ("cpu", 0)
    assert back.tolist() == x.T[::-1].tolist()
    for dtype in (mx.bool_, mx.float16, mx.complex64, mx.float8_e4m3fn, mx.int64):
        y = mx.array([0, 1, 1]).astype(dtype)
        assert y.to_device(FIRST).dtype == dtype
        assert y.to_device(FIRST).to_device(CPU).astype(mx.float32).tolist() == [0, 1, 1]
    assert mx.zeros((0, 3)).to_device(FIRST).sum().item() == 0


def gradients_come_back():
    def loss(w, x):
        with mx.stream(FIRST):
            return (mx.tanh(w.to_device(FIRST) * x.to_device(SECOND).to_device(FIRST)) ** 2).sum()

    w, x = mx.array([0.5, -1.0, 2.0]), mx.array([1.0, 2.0, 3.0])
    value, slope = mx.value_and_grad(loss)(w, x)
    expected, expected_slope = mx.value_and_grad(lambda w, x: (mx.tanh(w * x) ** 2).sum())(w, x)
    assert where(value) == ("gpu", 0)
    assert where(slope) == ("cpu", 0)
    assert np.allclose(value, expected)
    assert np.allclose(slope, expected_slope)
    rows = mx.vmap(lambda row: (row * 2).to_device(FIRST))(mx.ones((2, 3)))
    assert where(rows) == ("gpu", 0)
    assert rows.tolist() == [[2, 2, 2]] * 2


def numpy_sees_a_copy():
    x = mx.array([1.0, 2.0]).to_device(FIRST)
    view = np.asarray(x)
    assert view.tolist() == [1, 2]
    assert not view.flags.writeable
    assert np.array(x).flags.writeable
    assert memoryview(x).readonly
    assert bytes(x) == bytes(x.to_device(CPU))
    assert repr(x) == "array([1, 2], dtype=float32)"
    assert x.__dlpack_device__() == (12, 0)
    assert x.to_device(CPU).__dlpack_device__() == (1, 0)
    raises(BufferError, "dl_device=(1, 0)", x.__dlpack__)
    raises(BufferError, "copy=False", lambda: x.__dlpack__(dl_device=(1, 0), copy=False))
    capsule = x.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
    assert "dltensor" in repr(capsule)


def numpy_gets_no_copy_that_it_forbids():
    x = mx.arange(2.0, device=FIRST)
    raises(ValueError, "cannot share memory of", lambda: np.array(x, copy=False))
    raises(BufferError, "cannot share memory of", lambda: x.__array__(copy=False))
    assert np.array(x, copy=None).tolist() == [0, 1]


def arrays_like_another_are_on_its_device():
    x = mx.arange(2.0, device=SECOND)
    for like in [xp.zeros_like, xp.ones_like, xp.empty_like, lambda x: xp.full_like(x, 3)]:
        assert where(like(x)) == ("gpu", 1)
    assert where(xp.zeros_like(x, device=CPU)) == ("cpu", 0)


def errors_are_told():
    mx.set_default_device(FIRST)
    x = mx.arange(3)
    text = "index 5 is out of bounds"
    raises(IndexError, text, lambda: mx.eval(mx.take(x, mx.array([5]))))
    mx.synchronize()
    later = mx.take(x, mx.array([5])) + 1
    mx.async_eval(later)
    raises(IndexError, text, mx.synchronize)
    for _ in range(2):
        raises(IndexError, text, lambda: mx.eval(later))
    raises(IndexError, text, later.tolist)
    raises(IndexError, text, lambda: (later * 2).tolist())
    assert (x + 1).tolist() == [1, 2, 3]
    body = lambda carry, i: (carry, x[i])  # noqa: E731
    found = raises(IndexError, text, lambda: mx.eval(mx.scan(body, x, mx.array([0, 1, 5, 2]))[1]))
    assert "in iteration 2 of scan" in found


def memory_is_counted():
    mx.set_default_device(FIRST)
    before = mx.get_active_memory()
    x = mx.zeros((1024, 256)) + 1
    mx.eval(x)
    assert mx.get_active_memory() - before == x.nbytes
    mx.reset_peak_memory()
    v = x
    del x
    for _ in range(5):
        v = v * 2 + 1
        mx.eval(v)
    assert mx.get_peak_memory() - before <= 2 * v.nbytes
    limit = mx.set_memory_limit(1 << 20)
    raises(MemoryError, "out of memory", lambda: mx.eval(mx.zeros((1 << 10, 1 << 10)) + 1))
    mx.set_memory_limit(limit)
    assert (v + 1).shape == (1024, 256)


def streams_and_threads_agree():
    mx.set_default_device(FIRST)
    streams = [mx.new_stream(FIRST) for _ in range(3)]
    x = mx.arange(100, dtype=mx.int64)
    mx.eval(x)
    y = x
    for i in range(60):
        y = mx.add(mx.multiply(y, 3, stream=streams[i % 3]), x, stream=streams[(i + 1) % 3]) % 1009
        if i % 7 == 0:
            mx.async_eval(y)
    expected = np.arange(100)
    for _ in range(60):
        expected = (expected * 3 + np.arange(100)) % 1009
    assert y.tolist() == expected.tolist()
    found = []

    def work(i):
        mx.set_default_device(SECOND if i % 2 else FIRST)
        found.append((y + i).sum().item() - 100 * i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected.sum()] * 4


def copies_are_made_once():
    x = mx.random.normal((256, 256))
    mx.eval(x)
    mx.set_default_device(FIRST)
    before = mx.get_active_memory()
    for _ in range(3):
        mx.eval((x * 2).sum())
    assert mx.get_active_memory() - before <= x.nbytes + 64
    mx.set_default_device(CPU)
    shared = np.asarray(x)
    x += 1
    with mx.stream(FIRST):
        assert np.allclose(x.sum().item(), shared.sum() + 256 * 256, rtol=1e-4)


def copies_of_copies_are_not_kept():
    x = mx.random.normal((256, 256))
    mx.eval(x)
    before = [mx.get_active_memory()]
    with mx.stream(FIRST):
        before.append(mx.get_active_memory())
    y = x
    for _ in range(10):
        y = y.to_device(FIRST).T.to_device(CPU).T
        mx.eval(y)
    assert y.tolist() == x.tolist()
    after = [mx.get_active_memory()]
    with mx.stream(FIRST):
        after.append(mx.get_active_memory())
    assert all(now - then <= 3 * x.nbytes for now, then in zip(after, before, strict=True))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
