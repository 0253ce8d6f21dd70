"""Memory statistics: what is alive is counted, what is dropped is given back, limits hold."""

import gc
import subprocess
import sys

import numpy as np
import pytest
import umber.core as mx

MIB = 1 << 20
PAGE = 4096


def near(base):
    """Nothing but small constants is alive beside what was."""
    return abs(mx.get_active_memory() - base) <= PAGE


@pytest.fixture(autouse=True)
def quiet():
    """No garbage of other tests while counting."""
    gc.collect()
    mx.synchronize()
    mx.clear_cache()
    yield
    gc.collect()


@pytest.mark.covers("get_active_memory")
def test_active_memory_follows_arrays():
    base = mx.get_active_memory()
    x = mx.ones((MIB,))  # 4 MiB once evaluated
    assert near(base)
    mx.eval(x)
    assert mx.get_active_memory() >= base + 4 * MIB
    assert mx.get_active_memory() <= base + 4 * MIB + PAGE
    del x
    assert near(base)


def test_intermediate_results_are_given_back():
    base = mx.get_active_memory()
    x = mx.random.normal((512, 512))
    y = ((x @ x).sum(axis=0) + (x @ x.T).max(axis=1)).sum()
    mx.eval(y)
    assert mx.get_active_memory() - base <= x.nbytes + PAGE
    del x, y
    assert near(base)


def test_transforms_leave_nothing_behind():
    def step(x):
        return mx.value_and_grad(lambda v: (mx.tanh(v @ v) * v).sum())(x)

    x = mx.random.normal((64, 64))
    mx.eval(x)
    compiled = mx.compile(step)
    mx.eval(step(x), compiled(x))
    gc.collect()
    base = mx.get_active_memory()
    for _ in range(20):
        mx.eval(step(x), compiled(x), mx.vmap(lambda r: r * 2)(x))
    gc.collect()
    assert near(base)


def chained(x):
    return mx.sin(x) * 2 + 1


@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        (chained, 1),
        (mx.compile(chained), 1),
        (mx.compile(lambda x: mx.stop_gradient(x) + 1), 1),
        (mx.compile(mx.vmap(chained)), 1),
        (lambda x: mx.stop_gradient(x) + 1, 1),
        (lambda x: mx.sin(mx.stop_gradient(mx.stop_gradient(x))), 1),
        (lambda x: mx.stop_gradient(x + 1) * 2, 1),
        (lambda x: mx.sin(x) + mx.stop_gradient(x), 1),
        (lambda x: mx.stop_gradient(mx.cumsum(x, axis=-1)) + 1, 2),
    ],
)
def test_memory_of_dropped_arguments_is_reused(function, arrays):
    def peak(keep):
        mx.clear_cache()
        mx.reset_peak_memory()
        base = mx.get_active_memory()
        x = mx.arange(8 * MIB // 4, dtype=mx.float32).reshape(1024, -1)
        mx.eval(x)
        kept = x if keep else None
        y = function(x)
        del x
        mx.eval(y)
        assert kept is None or kept[0, 1].item() == 1.0
        return (mx.get_peak_memory() - base) / (8 * MIB)

    peak(keep=False)
    assert peak(keep=False) <= arrays + 0.1
    assert peak(keep=True) <= arrays + 1.1


@pytest.mark.covers("get_peak_memory", "reset_peak_memory")
def test_peak_memory():
    mx.reset_peak_memory()
    base = mx.get_active_memory()
    x = mx.ones((2 * MIB,))
    mx.eval(x)
    del x
    peak = mx.get_peak_memory()
    assert peak >= base + 8 * MIB
    mx.reset_peak_memory()
    assert mx.get_peak_memory() < peak


def test_elementwise_chain_takes_inputs_and_output_only():
    """A fused chain allocates no intermediate results."""
    x = mx.random.uniform(shape=(4 * MIB,))
    y = mx.random.uniform(shape=(4 * MIB,))
    mx.eval(x, y)
    mx.reset_peak_memory()
    base = mx.get_active_memory()
    z = mx.exp(x * y + 1) - mx.tanh(x) * mx.sqrt(y) + mx.sigmoid(x - y)
    mx.eval(z)
    assert mx.get_peak_memory() - base <= z.nbytes * 1.05


def test_donation_reuses_a_temporary():
    """A chain over a temporary does not need a second buffer of its size."""
    mx.reset_peak_memory()
    base = mx.get_active_memory()
    x = mx.random.uniform(shape=(4 * MIB,))
    for _ in range(4):
        x = x * 0.5 + 1.0
        mx.eval(x)
    assert mx.get_peak_memory() - base <= 2.1 * x.nbytes


def test_views_share_memory():
    x = mx.random.uniform(shape=(MIB,))
    mx.eval(x)
    base = mx.get_active_memory()
    views = [x.reshape(1024, 1024).T, x[5:100], x[::-2], mx.broadcast_to(x, (50, MIB))]
    mx.eval(views)
    assert mx.get_active_memory() - base <= 64 * 1024


def test_a_view_keeps_its_buffer_alive():
    base = mx.get_active_memory()
    x = mx.arange(MIB)
    part = x[10:12]
    mx.eval(part)
    del x
    assert part.tolist() == [10, 11]
    del part
    assert near(base)


@pytest.mark.parametrize("evaluated", [True, False])
@pytest.mark.parametrize("allow_col_major", [True, False])
@pytest.mark.parametrize(
    "make",
    [
        lambda: mx.random.normal((64, 4096)),
        lambda: mx.concatenate([mx.ones((32, 4096)), mx.zeros((32, 4096))]),
        lambda: mx.arange(64 * 4096, dtype=mx.int16).reshape(64, 4096),
    ],
)
def test_a_dense_copy_of_a_part_keeps_nothing_else(make, allow_col_major, evaluated):
    gc.collect()
    before = mx.get_active_memory()
    whole = make()
    if evaluated:
        mx.eval(whole)
    part = mx.contiguous(whole[-2:], allow_col_major=allow_col_major)
    mx.eval(part)
    wanted = np.array(whole[-2:])
    del whole
    gc.collect()
    assert np.array_equal(np.array(part), wanted)
    assert mx.get_active_memory() - before <= part.nbytes + (32 << 10)


def test_what_is_dense_alone_is_not_copied():
    x = mx.random.normal((64, 4096))
    mx.eval(x)
    before = mx.get_active_memory()
    same = [mx.contiguous(x), mx.contiguous(x.reshape(4096, 64)), mx.contiguous(x.flatten())]
    mx.eval(same)
    assert mx.get_active_memory() == before


@pytest.mark.covers("get_cache_memory", "set_cache_limit", "clear_cache")
def test_cache_is_counted_and_cleared():
    x = mx.ones((MIB,))
    mx.eval(x)
    del x
    assert mx.get_cache_memory() >= 4 * MIB
    mx.clear_cache()
    assert mx.get_cache_memory() == 0
    before = mx.set_cache_limit(0)
    try:
        x = mx.ones((MIB,))
        mx.eval(x)
        del x
        assert mx.get_cache_memory() == 0
    finally:
        assert mx.set_cache_limit(before) == 0


@pytest.mark.covers("set_memory_limit", "get_memory_limit", "device_info")
def test_memory_limit_is_an_error_and_not_a_crash():
    keep = mx.array([1.0, 2.0])
    mx.eval(keep)
    installed = mx.device_info()["memory_size"]
    limit = mx.get_active_memory() + MIB
    before = mx.set_memory_limit(limit)
    try:
        assert mx.get_memory_limit() == limit
        assert mx.device_info()["memory_size"] == installed
        with pytest.raises((MemoryError, RuntimeError)):
            mx.eval(mx.ones((64 * MIB,)))
        assert (keep + 1).tolist() == [2.0, 3.0]
    finally:
        mx.set_memory_limit(before)
    assert mx.ones((MIB,)).sum().item() == MIB


def test_numpy_views_keep_memory_alive():
    base = mx.get_active_memory()
    x = mx.arange(MIB)
    view = np.asarray(x)
    del x
    gc.collect()
    assert view[-1] == MIB - 1
    del view
    gc.collect()
    assert near(base)


@pytest.mark.covers("get_array_buffer_size")
def test_buffers_count_once():
    """Bytes of whole buffers: a part and a turned view share that of the array."""
    x = mx.arange(100).reshape(10, 10)
    mx.eval(x)
    part, turned, repeated = x[2:3], x.T, mx.broadcast_to(x[:1], (10, 10))
    mx.eval(part, turned, repeated)
    whole = mx.get_array_buffer_size(x)
    assert whole >= x.nbytes
    assert mx.get_array_buffer_size(part) == whole
    assert mx.get_array_buffer_size(x, {"a": [turned, 3, "text"]}) == whole
    assert mx.get_array_buffer_size(repeated) == whole
    other = mx.arange(5)
    mx.eval(other)
    assert mx.get_array_buffer_size(x, other) == whole + mx.get_array_buffer_size(other)
    shared = np.ones(1000, np.float32)
    assert mx.get_array_buffer_size(mx.asarray(shared)) == shared.nbytes
    assert mx.get_array_buffer_size() == mx.get_array_buffer_size(3) == 0
    refused = r"^\[get_array_buffer_size\] array of shape \(3000,\)"
    with pytest.raises(ValueError, match=refused):
        mx.get_array_buffer_size(mx.zeros(3000) + 1)


@pytest.mark.covers("set_wired_limit")
def test_nothing_is_wired():
    assert mx.set_wired_limit(2**20) == 0
    assert mx.set_wired_limit(0) == 0
    with pytest.raises(ValueError, match=r"^\[set_wired_limit\] limit must be between 0 and"):
        mx.set_wired_limit(-1)


def test_many_small_programs_do_not_grow():
    """The resident set of a process that trains for a while stays where it was."""
    program = (
        "import resource, umber.core as mx\n"
        "w = mx.random.normal((32, 32)); x = mx.random.normal((16, 32)); mx.eval(w, x)\n"
        "step = mx.value_and_grad(lambda w: mx.square(mx.tanh(x @ w)).mean())\n"
        "def train(n):\n"
        "    global w\n"
        "    for _ in range(n):\n"
        "        loss, g = step(w); w = w - 0.1 * g; mx.eval(w, loss)\n"
        "train(300); before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "train(3000); print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 8192, f"{done.stdout} KiB more"


@pytest.mark.host
@pytest.mark.parametrize("exported", [False, True])
def test_shared_memory_beside_arguments_without_values(exported):
    """A transformed function may use memory that others can write: it takes what it holds."""
    if exported:
        shared = mx.ones(3)
        view = np.asarray(shared)
    else:
        view = np.ones(3, np.float32)
        shared = mx.asarray(view)
    assert mx.compile(lambda t: t + shared)(mx.ones(3)).tolist() == [2, 2, 2]
    assert mx.vmap(lambda t: t * shared.sum())(mx.ones(2)).tolist() == [3, 3]
    assert mx.vmap(mx.grad(lambda t: (t * shared).sum()))(mx.ones((2, 3))).tolist() == [[1] * 3] * 2
    value, slope = mx.value_and_grad(lambda t: (t * shared).sum())(mx.ones(3))
    view[:] = 5
    assert (value.item(), slope.tolist()) == (3, [1, 1, 1])


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize(
    ("call", "shape", "dtype"),
    [
        (lambda x: mx.argsort(x, axis=-1), (16, 2**16), mx.float32),
        (lambda x: mx.argsort(x), (2**20,), mx.complex64),
        (lambda x: mx.sort(x), (2**20,), mx.float16),
        (lambda x: mx.fft.fft(x), (2**20,), mx.complex64),
        (lambda x: mx.fft.fft(x), (12, 100_003), mx.complex64),
        (lambda x: mx.fft.rfft(x), (1_000_003,), mx.float32),
        (lambda x: mx.fft.irfft(x), (2**19 + 1,), mx.complex64),
    ],
)
def test_what_a_kernel_needs_is_no_memory_of_arrays(threads, call, shape, dtype):
    """Whether a program fits its limit must not depend on how many threads there are."""
    x = mx.random.normal(shape).astype(dtype)
    expected = call(x)
    mx.eval(x, expected)
    gc.collect()
    before = mx.set_memory_limit(2**62)
    count = mx.get_num_threads()
    mx.set_num_threads(threads)
    try:
        base = mx.get_active_memory()
        mx.set_memory_limit(base + expected.nbytes + 2**18)
        mx.reset_peak_memory()
        answer = call(x)
        mx.eval(answer)
        assert mx.get_peak_memory() - base <= expected.nbytes + 2**18
        assert mx.array_equal(answer, expected, equal_nan=True)
        del answer
        gc.collect()
        assert near(base)
    finally:
        mx.set_memory_limit(before)
        mx.set_num_threads(count)


def test_an_array_counts_the_same_wherever_it_lies():
    """Memory that is kept for reuse may be a little larger than what is asked for."""
    base = mx.get_active_memory()
    for kept in (2_200_000, 2_000_000, 2_150_000):
        x = mx.zeros((kept,), dtype=mx.int8) + 1
        mx.eval(x)
        del x
        y = mx.zeros((2_000_000,), dtype=mx.int8) + 1
        mx.eval(y)
        assert base + 2_000_000 <= mx.get_active_memory() <= base + 2_000_000 + 2 * PAGE
        del y
        assert near(base)
