"""Any thread, any time: graphs and streams go everywhere, errors stay apart."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import umber.core as mx

WORKERS = 4


def in_thread(function):
    """The result of a function run in a new thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function).result(timeout=60)


def test_made_here_evaluated_there():
    x = mx.arange(10) * 2
    assert in_thread(lambda: x.tolist()) == list(range(0, 20, 2))
    y = in_thread(lambda: mx.arange(5) + 1)
    assert y.tolist() == [1, 2, 3, 4, 5]


def test_many_threads_evaluate_one_graph():
    """Overlapping graphs: each node runs once, everybody sees the same values."""
    shared = mx.random.normal((200, 200), key=mx.random.key(0))
    base = shared @ shared
    arrays = [base + float(k) for k in range(16)]
    start = threading.Barrier(WORKERS)

    def work(offset):
        start.wait()
        for array in arrays[offset:] + arrays[:offset]:
            mx.eval(array)

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(work, range(WORKERS)))
    want = np.array(shared) @ np.array(shared)
    for k, array in enumerate(arrays):
        np.testing.assert_allclose(np.array(array), want + k, rtol=1e-3, atol=1e-3)


def test_transforms_in_threads():
    """Tracing in one thread does not show in another."""

    def work(k):
        scale = float(k + 1)
        f = mx.compile(mx.value_and_grad(lambda x: (mx.sin(x) * scale).sum()))
        x = mx.array([0.1, 0.2, 0.3])
        for _ in range(30):
            value, slope = f(x)
        batch = mx.vmap(mx.grad(lambda v: v * v * scale))(x)
        return value.item(), slope.tolist(), batch.tolist()

    with ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(work, range(WORKERS)))
    for k, (value, slope, batch) in enumerate(results):
        x = np.array([0.1, 0.2, 0.3])
        assert value == pytest.approx(np.sin(x).sum() * (k + 1), rel=1e-5)
        np.testing.assert_allclose(slope, np.cos(x) * (k + 1), rtol=1e-5)
        np.testing.assert_allclose(batch, 2 * x * (k + 1), rtol=1e-5)


def test_one_compiled_function_in_many_threads():
    f = mx.compile(lambda x: mx.exp(x) + 1)

    def work(k):
        x = mx.full((k + 1,), float(k) / 4)
        return [f(x).tolist() for _ in range(20)][-1]

    with ThreadPoolExecutor(WORKERS) as pool:
        for k, got in enumerate(pool.map(work, range(WORKERS))):
            np.testing.assert_allclose(got, np.full(k + 1, np.exp(k / 4) + 1), rtol=1e-6)


@pytest.mark.covers("stream")
def test_streams_are_usable_everywhere():
    stream = in_thread(lambda: mx.new_stream(mx.cpu))
    x = mx.add(mx.array([1.0, 2.0]), 1.0, stream=stream)
    assert x.tolist() == [2.0, 3.0]
    y = mx.multiply(x, 2.0)  # on the default stream, after the other
    assert in_thread(lambda: mx.add(y, 1.0, stream=stream).tolist()) == [5.0, 7.0]
    with mx.stream(stream):
        assert mx.default_stream(mx.cpu) == stream
        z = mx.ones(3) * 3
    assert mx.default_stream(mx.cpu) != stream
    mx.synchronize(stream)
    assert z.tolist() == [3.0, 3.0, 3.0]


@pytest.mark.covers("ThreadLocalStream", "new_thread_local_stream")
def test_thread_local_streams():
    """One object, another stream on each thread, wherever a stream is taken."""
    local = mx.new_thread_local_stream(mx.cpu)
    assert local.device == mx.cpu
    assert local == local
    assert local != mx.new_thread_local_stream(mx.cpu)
    assert repr(local).startswith("ThreadLocalStream(Device(cpu, 0), ")

    def here():
        with mx.stream(local):
            return mx.default_stream(mx.cpu)

    ours = here()
    assert here() == ours != mx.default_stream(mx.cpu)
    assert in_thread(here) != ours
    x = mx.add(mx.array([1.0]), 2.0, stream=local)
    mx.synchronize(local)
    assert x.tolist() == in_thread(lambda: mx.add(x, 0.0, stream=local).tolist()) == [3.0]
    with pytest.raises(TypeError):
        mx.ThreadLocalStream()


@pytest.mark.covers("StreamContext", "new_thread_unsafe_stream", "clear_streams")
def test_cleared_streams():
    """Thread-local streams are made anew, operations go to the first stream, others go on."""

    def work():
        stream, local = mx.new_thread_unsafe_stream(mx.cpu), mx.new_thread_local_stream(mx.cpu)
        before = mx.StreamContext(local)
        mx.set_default_stream(stream)
        x = mx.ones(3) * 2
        mx.clear_streams()
        assert mx.default_stream(mx.cpu) != stream
        with before, mx.stream(local):
            y = mx.add(x, 1.0, stream=stream)
        return y.tolist()

    assert in_thread(work) == [3.0, 3.0, 3.0]


def test_order_between_streams():
    """A chain that hops between streams is computed in the order it was written."""
    streams = [mx.new_stream(mx.cpu) for _ in range(3)]
    x = mx.zeros(1000)
    for k in range(60):
        x = mx.add(x, float(k), stream=streams[k % 3])
    mx.async_eval(x)
    assert x.tolist() == [float(sum(range(60)))] * 1000


@pytest.mark.covers("Stream", "default_stream", "set_default_stream", "new_stream")
def test_defaults_belong_to_the_thread():
    """A default stream set in one thread is not seen in another."""
    ours = mx.default_stream(mx.cpu)
    assert type(ours) is mx.Stream

    def work():
        mx.set_default_stream(mx.new_stream(mx.cpu))
        return mx.default_stream(mx.cpu)

    theirs = in_thread(work)
    assert theirs != ours
    assert mx.default_stream(mx.cpu) == ours


def test_python_runs_while_evaluating():
    """The GIL is let go: another thread counts while a long evaluation runs."""
    a = mx.random.normal((700, 700), key=mx.random.key(1))
    mx.eval(a)
    x = a
    for _ in range(12):
        x = (x @ a) * 0.03
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    mx.eval(x)
    end = time.perf_counter()
    done.set()
    thread.join()
    inside = [tick for tick in ticks if start < tick < end]
    if end - start > 0.02:
        assert len(inside) >= 3


def wait_for(array):
    mx.async_eval(array)
    mx.eval(array)


def test_async_errors_reach_the_waiter():
    bad = mx.zeros(3)[mx.array([5])] + 1
    with pytest.raises(IndexError):
        wait_for(bad)
    # Whoever waits for the stream hears of it as well, once.
    with pytest.raises(IndexError):
        mx.synchronize()
    mx.synchronize()
    good = mx.zeros(3) + 1
    assert good.tolist() == [1.0, 1.0, 1.0]


def test_errors_of_one_thread_stay_there():
    def work(k):
        if k % 2:
            with pytest.raises(IndexError):
                mx.eval(mx.zeros(3)[mx.array([7])])
            return None
        return (mx.zeros(3) + k).tolist()

    with ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(work, range(20)))
    assert results[::2] == [[float(k)] * 3 for k in range(0, 20, 2)]


PROGRAM_HEAD = "import umber.core as mx, os, sys, threading, time\n"


def run(program, **options):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM_HEAD + program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"UMBER_TEST": "1"},
        **options,
    )


def test_fork_after_use():
    """The child of a fork has a pool of its own and computes."""
    done = run(
        "x = mx.random.normal((300, 300)); mx.eval(x @ x)\n"
        "pid = os.fork()\n"
        "y = (x @ x).sum() + mx.exp(x).sum(); mx.eval(y)\n"
        "if pid == 0: os._exit(0)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    assert done.returncode == 0, done.stderr


def test_exit_with_work_under_way():
    """Leaving the interpreter while streams and threads are busy is clean."""
    for _ in range(3):
        done = run(
            "f = mx.compile(mx.grad(lambda x: (x @ x).sum()))\n"
            "def work():\n"
            "    for _ in range(50): mx.async_eval(f(mx.ones((100, 100))))\n"
            "threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]\n"
            "[t.start() for t in threads]; time.sleep(0.05)\n"
        )
        assert done.returncode == 0, done.stderr


def test_keyboard_interrupt_stops_between_nodes():
    """Ctrl-C during a long evaluation raises in good time and leaves arrays usable."""
    program = (
        # A runner in the background may have passed on that the signal is ignored.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "a = mx.random.normal((500, 500)); mx.eval(a)\n"
        "x = a\n"
        "for _ in range(20000): x = mx.tanh(x @ a)\n"
        "print('ready', flush=True)\n"
        "try:\n"
        "    mx.eval(x); print('finished')\n"
        "except KeyboardInterrupt:\n"
        "    print((a.sum() * 0 + 1).item())\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM_HEAD + program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert out.strip() in ("1.0", "finished")


@pytest.mark.covers("get_num_threads", "set_num_threads")
def test_number_of_threads():
    """It can go up and down while arrays are computed, and changes no result."""
    before = mx.get_num_threads()
    x = mx.random.normal((300, 300), key=mx.random.key(0))
    expected = (x @ x).sum(axis=0).tolist()
    try:
        for count in (1, 7, 2, 3):
            mx.set_num_threads(count)
            assert mx.get_num_threads() == count
            assert np.allclose((x @ x).sum(axis=0), expected, rtol=1e-5)
        assert mx.set_num_threads(before) == 3
    finally:
        mx.set_num_threads(before)


@pytest.mark.parametrize("count", [0, -1, 257, 2**40])
def test_impossible_number_of_threads(count):
    with pytest.raises(
        ValueError, match=rf"^\[set_num_threads\] n must be between 1 and 256, got {count}"
    ):
        mx.set_num_threads(count)


def test_number_of_threads_of_the_environment():
    program = "import umber.core as mx; print(mx.get_num_threads())"
    found = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"UMBER_NUM_THREADS": "5"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "5"
