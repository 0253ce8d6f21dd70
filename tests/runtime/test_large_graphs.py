"""A million nodes: record, differentiate, evaluate, print, drop, without recursion."""

import gc
import resource
import threading
import time

import pytest
import umber.core as mx
from small_stacks import call_in_thread

NODES = 1_000_000


def chain(x, length=NODES):
    """`length` nodes, one on the other; each adds a constant."""
    one = mx.array(1.0)
    for _ in range(length):
        x = x + one
    return x


def test_chain_is_recorded_evaluated_and_dropped():
    x = chain(mx.array(0.0))
    mx.eval(x)
    assert x.item() == NODES
    del x
    gc.collect()


def test_chain_of_different_numbers_takes_time_in_proportion():
    def seconds(count):
        x = mx.zeros(2000)
        mx.eval(x)
        for i in range(count):
            x = x + (i + 0.5)
        begin = time.perf_counter()
        mx.eval(x)
        assert x[0].item() == pytest.approx(count**2 / 2, rel=1e-3)
        return time.perf_counter() - begin

    seconds(100)
    few, many = min(seconds(2000) for _ in range(3)), min(seconds(32_000) for _ in range(2))
    # 16 in proportion, 256 where each is compared with all.
    assert many < 80 * few


def test_chain_is_dropped_without_evaluation():
    x = chain(mx.array(0.0))
    del x
    gc.collect()


@pytest.mark.parametrize(
    "step",
    [
        lambda a, b: (a + a, b),
        lambda a, b: (a * b, a),
        lambda a, b: (a + b, a - b),
        lambda a, b: (mx.where(a < b, a, a), b),
        lambda a, b: (mx.concatenate([a, b, a, b])[:2000], a),
        lambda a, b: (-a + a, b),
        lambda a, b: (-a * abs(a), b),
        lambda a, b: (-a * -b, a),
        lambda a, b: (-a + b, a),
        lambda a, b: ((a[None] * a[None])[0], b),
    ],
    ids=[
        "twice the same",
        "the last two",
        "a ladder",
        "three of one",
        "four of two",
        "one and what reads it",
        "two that read one",
        "two that read two",
        "the last but one beside",
        "views",
    ],
)
def test_what_has_an_input_more_than_once_is_dropped_without_recursion(step):
    """Arrays of too many elements to be computed as they are written, on a small stack."""

    def drop():
        a, b = mx.zeros((2000,)) + mx.arange(2000.0), mx.ones((2000,))
        for _ in range(NODES // 10):
            a, b = step(a, b)
        del a
        del b
        gc.collect()

    call_in_thread(4 << 20, drop)


def test_what_threads_share_is_dropped_by_whoever_is_last():
    for _ in range(5):
        a, b = mx.zeros((2000,)) + mx.arange(2000.0), mx.ones((2000,))
        for _ in range(20_000):
            a, b = a + b, a - b
        held = [[a], [b]]
        del a, b
        threads = [threading.Thread(target=part.clear) for part in held]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def test_chain_is_differentiated():
    def function(x):
        return chain(x)

    value, slope = mx.value_and_grad(function)(mx.array(2.0))
    assert slope.item() == 1.0
    assert value.item() == NODES + 2


def test_chain_in_a_thread_with_a_small_stack():
    """Depth costs heap, not stack: 256 KiB are enough."""

    def work():
        x = chain(mx.array(0.0), 200_000).item()
        slope = mx.grad(lambda x: chain(x, 50_000))(mx.array(0.0))
        return [x, slope.item()]

    assert call_in_thread(256 * 1024, work) == [200_000, 1.0]


def test_unevaluated_chain_prints():
    assert repr(chain(mx.array(0.0), 100_000)) == "array(100000, dtype=float32)"


def test_jvp_and_vmap_of_a_long_chain():
    x = mx.array([1.0, 2.0])
    _, tangents = mx.jvp(lambda x: chain(x, 20_000), [x], [mx.ones(2)])
    assert tangents[0].tolist() == [1.0, 1.0]
    assert mx.vmap(lambda x: chain(x, 20_000))(x).tolist() == [20_001.0, 20_002.0]


def test_wide_graph():
    """Many nodes side by side."""
    parts = [mx.array(float(k)) * 2 for k in range(20_000)]
    total = mx.stack(parts).sum()
    assert total.item() == pytest.approx(20_000 * 19_999)


def test_shared_nodes_are_evaluated_once():
    """x doubles with itself 60 times: 2^60 paths, 60 nodes."""
    x = mx.array(1.0)
    for _ in range(60):
        x = x + x
    assert x.item() == 2.0**60
    slope = mx.grad(lambda v: sum_of_doubles(v, 60))(mx.array(1.0))
    assert slope.item() == 2.0**60


def sum_of_doubles(v, times):
    for _ in range(times):
        v = v + v
    return v


def test_loop_with_evaluation_keeps_no_history():
    """Many updates with an `eval` now and then use constant memory."""
    x = mx.zeros((64,))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for step in range(200_000):
        x = x * 0.5 + 1.0
        if step % 100 == 0:
            mx.eval(x)
    mx.eval(x)
    assert x[0].item() == 2.0
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 50_000, f"{grown} KiB more"
