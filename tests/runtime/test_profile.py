"""`profile`: what ran, how long, and which line recorded it."""

import json
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import umber.core as mx

LARGE = 20_000  # More elements than run eagerly.


def here(text):
    """The `file:line` of the line of this file that ends in a comment."""
    with open(__file__, encoding="utf-8") as file:
        lines = file.read().split("\n")
    (number,) = [i for i, line in enumerate(lines, 1) if line.endswith("# " + text)]
    return f"{__file__}:{number}"


def row_of(profile, operation):
    (row,) = [row for row in profile.rows if row["operation"] == operation]
    return row


@pytest.fixture
def x():
    x = mx.random.normal((200, 100), key=mx.random.key(0))
    mx.eval(x)
    return x


@pytest.mark.covers("profile", "Profile")
def test_rows(x):
    with mx.profile() as p:
        for _ in range(3):
            mx.eval(mx.sum(mx.exp(x) * 2, axis=1))  # the sum
    assert isinstance(p, mx.Profile)
    (row,) = p.rows
    assert row["operation"] == "sum"
    assert row["fused"] == ("exp", "multiply", "sum")
    assert row["calls"] == row["kernels"] == 3
    assert row["bytes_read"] == 3 * x.nbytes
    assert row["bytes_written"] == 3 * 200 * 4
    assert row["flops"] == 3 * 3 * x.size
    assert 0 < row["self_time"] == row["total_time"] <= p.wall_time
    assert row["bandwidth"] == pytest.approx((3 * x.nbytes + 2400) / row["self_time"])
    assert row["flop_rate"] == pytest.approx(9 * x.size / row["self_time"])
    assert row["device"] == str(mx.default_device())
    assert row["lines"] == {here("the sum"): (3, pytest.approx(row["self_time"]))}


@pytest.mark.parametrize(
    ("operation", "function", "flops"),
    [
        ("matmul", lambda x: x.T @ x, 2 * 100 * 200 * 100),
        ("tanh", lambda x: mx.tanh(x @ x.T), 2 * 200 * 100 * 200 + 200 * 200),
        ("convolution", lambda x: mx.conv1d(x[None], mx.ones((7, 3, 100))), 2 * 198 * 7 * 300),
        ("sort", lambda x: mx.sort(x), None),
        ("max", lambda x: mx.max(x), 20_000),
    ],
)
def test_arithmetic(x, operation, function, flops):
    with mx.profile() as p:
        mx.eval(function(x))
    assert row_of(p, operation)["flops"] == flops


@pytest.mark.host
def test_small_operations_that_run_eagerly():
    a, b = mx.array([1.0, 2.0]), mx.array([3.0, 4.0])
    with mx.profile() as p:
        c = a + b  # the sum of small arrays
        d = c * 2
        assert d.tolist() == [8, 12]
    row = row_of(p, "add")
    assert row["calls"] == 1
    assert list(row["lines"]) == [here("the sum of small arrays")]
    assert row_of(p, "multiply")["flops"] == 2


def test_nothing_is_recorded_outside_of_the_block(x):
    with mx.profile() as p:
        pass
    mx.eval(mx.exp(x))
    assert p.rows == []
    assert "operations: 0, " in str(p)
    y = mx.exp(x)
    with mx.profile() as p:
        mx.eval(y)
    assert [row["operation"] for row in p.rows] == ["exp"]
    assert p.rows[0]["lines"] == {}
    assert p.rows[0]["fused"] == ()


def test_loops_and_their_bodies(x):
    def body(carry, row):
        return mx.tanh(carry + row), mx.sort(carry)

    with mx.profile() as p:
        mx.eval(mx.scan(body, x[0], x))
    loop = row_of(p, "scan")
    assert loop["calls"] == 1
    assert loop["kernels"] == 0
    assert row_of(p, "sort")["calls"] == 200
    inner = sum(row["total_time"] for row in p.rows if row["operation"] != "scan")
    assert loop["self_time"] < loop["total_time"]
    assert loop["total_time"] >= inner
    assert sum(row["self_time"] for row in p.rows) <= p.wall_time


def test_compiled_functions_and_derivatives(x):
    def f(x):
        return mx.sum(mx.tanh(x @ x.T))

    step = mx.compile(mx.value_and_grad(f))
    with mx.profile() as p:
        mx.eval(step(x))
    assert any("matmul" in (row["operation"], *row["fused"]) for row in p.rows)
    with mx.profile() as p:
        mx.eval(mx.grad(f)(x))
    assert any("in the derivative of" in line for row in p.rows for line in row["lines"])


def test_nested_and_repeated_blocks(x):
    with mx.profile() as outer:
        mx.eval(mx.exp(x))
        with mx.profile() as inner:
            mx.eval(mx.sin(x))
        mx.eval(mx.cos(x))
    assert [row["operation"] for row in inner.rows] == ["sin"]
    assert {row["operation"] for row in outer.rows} == {"exp", "sin", "cos"}
    with inner:
        mx.eval(mx.sin(x))
        with pytest.raises(RuntimeError, match=r"^\[profile\] .*active already"), inner:
            pass
        mx.eval(mx.sin(x))
    assert inner.rows[0]["calls"] == 3


def test_a_block_that_raises_ends(x):
    p = mx.profile()

    def fails():
        with p:
            mx.eval(mx.exp(x))
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    mx.eval(mx.exp(x))
    assert p.rows[0]["calls"] == 1


@pytest.mark.host
def test_a_step_that_fails_is_not_recorded(x):
    with mx.profile() as p:
        y = mx.take(x, mx.array([0, 10**8]))
        with pytest.raises(IndexError):
            mx.eval(y)
        mx.eval(mx.exp(x))
    assert [row["operation"] for row in p.rows] == ["exp"]


def test_threads_and_streams(x):
    def work(function):
        with mx.stream(mx.new_stream(mx.cpu)):
            mx.eval(function(x))

    with mx.profile() as p:
        threads = [threading.Thread(target=work, args=(f,)) for f in (mx.exp, mx.sin, mx.cos)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        y = mx.tan(x)
        mx.async_eval(y)
        mx.synchronize()
        mx.eval(y)
    assert {row["operation"] for row in p.rows} == {"exp", "sin", "cos", "tan"}


def test_concurrent_blocks(x):
    """Each block records what runs while it is active, whichever thread runs it."""
    begun, done = threading.Event(), threading.Event()
    profiles = []

    def other():
        with mx.profile() as p:
            profiles.append(p)
            begun.set()
            done.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    assert begun.wait(10)
    with mx.profile() as p:
        mx.eval(mx.exp(x))
    done.set()
    thread.join()
    assert p.rows[0]["operation"] == profiles[0].rows[0]["operation"] == "exp"


def test_the_table(x):
    with mx.profile() as p:
        mx.eval(mx.sum(mx.exp(x)), x.T @ x)  # both
    lines = str(p).split("\n")
    assert lines[0].startswith("operations: 2, ")
    assert lines[1].split()[:3] == ["operation", "calls", "kernels"]
    assert {line.split()[0] for line in lines[2:]} == {"sum(exp)", "matmul"}
    assert all(line.endswith(here("both")) for line in lines[2:])
    assert repr(p).startswith("Profile(2 rows, ")


def test_export(x, tmp_path):
    with mx.profile() as p:
        mx.eval(mx.sum(mx.exp(x)))  # the line with "quotes"
        time.sleep(0.01)
        mx.eval(mx.sin(x))
    p.export(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [event["name"] for event in events] == ["sum", "sin"]
    assert events[0]["args"]["fused"] == "exp sum"
    assert events[0]["args"]["line"] == here('the line with "quotes"')
    assert events[1]["ts"] - events[0]["ts"] >= 10_000
    assert all(event["dur"] > 0 for event in events)
    (named,) = {event["tid"] for event in trace["traceEvents"] if event["ph"] == "M"}
    assert {event["tid"] for event in events} == {named}
    with pytest.raises(OSError, match="No such file"):
        p.export(tmp_path / "nowhere" / "trace.json")
    mx.profile().export(str(tmp_path / "empty.json"))
    assert json.loads((tmp_path / "empty.json").read_text())["traceEvents"] == []


@pytest.mark.host
def test_memory_at_the_peak():
    with mx.profile(memory=True) as p:
        assert p.memory is None
        a = mx.arange(1_000_000)  # a, small
        mx.eval(a)
        b = mx.ones((3_000_000,), mx.float32) * a[0]  # b, large
        mx.eval(b)
        del b
        c = a * 2  # c, after the peak
        mx.eval(c)
    assert p.memory[here("a, small")] >= 4_000_000
    assert p.memory[here("b, large")] >= 12_000_000
    assert here("c, after the peak") not in p.memory
    sizes = list(p.memory.values())
    assert sizes == sorted(sizes, reverse=True)
    assert "MB of memory at the peak" in str(p)
    with mx.profile() as p:
        pass
    assert p.memory is None


def test_buffers_are_reused_as_without_a_profile():
    """A profile holds no array, so that steps may overwrite their inputs."""

    def peak():
        x = mx.zeros((500_000,)) + 1
        mx.eval(x)
        mx.reset_peak_memory()
        before = mx.get_active_memory()
        for _ in range(3):
            x = mx.sort(x + 1)
            mx.eval(x)
        return mx.get_peak_memory() - before

    expected = peak()
    with mx.profile(memory=True):
        assert peak() == expected


def test_results_do_not_change(x):
    expected = np.array(mx.softmax(mx.tanh(x) + 1, axis=-1))
    with mx.profile(memory=True), mx.debug_nans():
        found = np.array(mx.softmax(mx.tanh(x) + 1, axis=-1))
    np.testing.assert_array_equal(found, expected)


def test_plot(x):
    class Axes:
        def __init__(self):
            self.calls = {}

        def __getattr__(self, name):
            return lambda *args: self.calls.update({name: args})

    with mx.profile() as p:
        mx.eval(mx.sum(mx.exp(x)), x.T @ x, mx.sort(x))
    axes = Axes()
    assert p.plot(axes) is axes
    assert len(axes.calls["barh"][1]) == 3
    assert set(axes.calls["set_yticks"][1]) == {"sum(exp)", "matmul", "sort"}
    p.plot(axes, max_rows=1)
    assert len(axes.calls["barh"][1]) == 1


def test_plot_without_matplotlib():
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import umber.core as mx\n"
        "try:\n    mx.profile().plot()\n"
        "except ModuleNotFoundError as error:\n    print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("[plot] Matplotlib is not installed")


DEVICE_PROGRAM = """
import umber.core as mx
mx.set_default_device(mx.gpu)
x = mx.random.normal((100, 100))
mx.eval(x)
with mx.profile() as p:
    mx.eval(mx.sum(mx.exp(x)))
    mx.eval(mx.scan(lambda c, r: (c + r, c), x[0], x)[0])
for row in p.rows:
    print(row["operation"], row["device"], row["calls"], row["self_time"] > 0)
"""


def test_a_device():
    done = subprocess.run(
        [sys.executable, "-c", DEVICE_PROGRAM],
        env={"UMBER_SIMULATED_GPU": "1", "PATH": "", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    printed = done.stdout.splitlines()
    assert "sum Device(gpu, 0) 1 True" in printed, printed
    assert "scan Device(gpu, 0) 1 True" in printed, printed
