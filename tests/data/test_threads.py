"""Pipelines on threads: errors, interrupts, forks, exits, memory and Python's own functions."""

import contextlib
import os
import subprocess
import sys
import threading
import time
import traceback

import numpy as np
import pytest
import umber.core as mx
import umber.data as dx


def buffer(count):
    return dx.buffer_from_vector([{"n": n} for n in range(count)])


def numbers(samples):
    return [int(sample["n"]) for sample in samples]


class Odd(Exception):
    """An exception of a user's own."""


def refuse_odd(n):
    if int(n) % 2:
        raise Odd(int(n))
    return n


def read_through(stream):
    """Numbers and exceptions in their order."""
    out = []
    while True:
        try:
            sample = stream.next()
        except Odd as error:
            out.append(error)
        else:
            if not sample:
                return out
            out.append(int(sample["n"]))


STREAMS = {
    "alone": lambda s: s,
    "one": lambda s: s.prefetch(2, 1),
    "four": lambda s: s.prefetch(9, 4),
    "window": lambda s: s.filter(lambda s: True).enumerate("i").prefetch(4, 2),
    "twice": lambda s: s.prefetch(2, 2).prefetch(2, 2),
}


@pytest.mark.parametrize("how", STREAMS)
def test_exceptions_come_out_in_their_places(how):
    got = read_through(STREAMS[how](buffer(9).to_stream().key_transform("n", refuse_odd)))
    assert [int(e.args[0]) if isinstance(e, Odd) else e for e in got] == list(range(9))
    for error in got[1::2]:
        assert error.__notes__ == [
            f"in umber.data: [key_transform] sample {error.args[0]}, key 'n'"
        ]
        assert "refuse_odd" in "".join(traceback.format_exception(error))


def test_exceptions_of_iterables_come_out():
    class Source:
        n = -1

        def __iter__(self):
            return self

        def __next__(self):
            self.n += 1
            if self.n == 5:
                raise StopIteration
            refuse_odd(self.n)
            return {"n": self.n}

    got = read_through(dx.stream_python_iterable(Source).prefetch(2, 2))
    assert [type(e) for e in got] == [int, Odd, int, Odd, int]
    for bad, text in ((3, "dict"), ({}, "keys"), ({"x": "a"}, "key 'x'")):
        with pytest.raises((TypeError, ValueError), match=text):
            dx.stream_python_iterable(lambda bad=bad: iter([bad])).next()
    with pytest.raises(TypeError, match="iterable"):
        dx.stream_python_iterable(lambda: 3).next()


def test_native_errors_name_their_place():
    stream = buffer(3).pad("x", 0, 1, 1, 0).to_stream().prefetch(2, 2)
    for index in range(3):
        with pytest.raises(dx.DataError, match=rf"\[pad\] sample {index}, key 'x'") as caught:
            stream.next()
        assert isinstance(caught.value, ValueError)
        assert (caught.value.stage, caught.value.index, caught.value.key) == ("pad", index, "x")
    assert stream.next() == {}
    missing = dx.buffer_from_vector([{"f": b"/none"}]).load_file("f")
    with pytest.raises(FileNotFoundError, match="none") as caught:
        missing[0]
    assert caught.value.path == "/none"
    assert isinstance(caught.value, dx.DataError)


@pytest.mark.parametrize("threads", [0, 2])
def test_failing_samples_are_left_out_and_reported(threads):
    def stream(**options):
        made = buffer(10).to_stream().key_transform("n", refuse_odd).on_error("skip", **options)
        made = made.batch(2)
        return made.prefetch(3, threads) if threads else made

    made = stream()
    assert [b["n"].tolist() for b in made] == [[0, 2], [4, 6], [8]]
    report = made.report()
    assert (report["delivered"], report["skipped"]) == (3, 5)
    assert [e["index"] for e in report["errors"]] == [1, 3, 5, 7, 9]
    error = report["errors"][0]
    assert (error["stage"], error["key"], error["path"]) == ("key_transform", "n", None)
    assert "Odd: 1" in error["message"]
    limited = stream(limit=2)
    assert limited.next()["n"].tolist() == [0, 2]
    with pytest.raises(RuntimeError, match="more than 2 samples failed"):
        list(limited)


def test_functions_decide_about_errors():
    seen = []

    def decide(error):
        seen.append(error)
        if error.args[0] == 5:
            raise KeyError("five")
        return None if error.args[0] == 1 else {"n": -error.args[0]}

    stream = buffer(7).to_stream().key_transform("n", refuse_odd).on_error(decide).prefetch(2, 2)
    assert numbers(stream.next() for _ in range(4)) == [0, 2, -3, 4]
    with pytest.raises(KeyError, match="five"):
        stream.next()
    assert numbers(stream) == [6]
    assert all(isinstance(error, Odd) for error in seen)
    for policy in ("ignore", 3, None):
        with pytest.raises((TypeError, ValueError), match="policy"):
            buffer(2).to_stream().on_error(policy)


@pytest.mark.parametrize("policy", ["skip", lambda error: None])
def test_what_ends_a_program_is_no_failing_sample(policy):
    for exception in (KeyboardInterrupt, SystemExit, GeneratorExit):

        def leave(n, exception=exception):
            raise exception

        with pytest.raises(exception):
            list(buffer(3).to_stream().key_transform("n", leave).on_error(policy))


def test_reports_count_calls():
    stream = (
        buffer(6).to_stream().cast("n", "float32").key_transform("n", lambda n: n).prefetch(2, 2)
    )
    list(stream)
    stages = {row["name"]: row for row in stream.report()["stages"]}
    assert stages["cast"]["calls"] == stages["key_transform"]["calls"] == 6
    assert all(row["seconds"] >= 0 and row["waits"] >= 0 for row in stages.values())


def test_streams_may_go_at_any_moment():
    shapes = np.random.default_rng(0)

    def slowly(n):
        if int(n) % 3 == 0:
            time.sleep(0.0003)
        return refuse_odd(n)

    for _ in range(500):
        size, threads, reads = (int(n) for n in shapes.integers(1, 5, 3))
        stream = buffer(12).to_stream().shuffle(3).key_transform("n", slowly)
        if reads % 2:
            stream = stream.on_error("skip").batch(2)
        stream = stream.prefetch(size, threads)
        for _ in range(reads):
            with contextlib.suppress(Odd):
                stream.next()
        if size == 1:
            stream.reset()
        elif size == 2:
            stream.close()
            assert stream.next() == {}
        del stream


def test_a_slow_reader_stops_the_source():
    drawn = []

    def source():
        for n in range(10_000):
            drawn.append(n)
            yield {"n": n}

    stream = dx.stream_python_iterable(source).batch(2).prefetch(3, 2)
    for delivered in range(1, 5):
        stream.next()
        time.sleep(0.05)
        assert len(drawn) <= 2 * (delivered + 3)
    stream.close()


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_endless_streams_have_flat_memory():
    x = np.zeros((64, 256), np.float32)
    stream = dx.buffer_from_arrays({"x": x}).to_stream(shuffle=True).repeat(0).shuffle(32)
    batches = stream.cast("x", "float64").batch(16).prefetch(4, 2)
    for _ in range(150):
        batches.next()
    before = resident()
    for _ in range(800):
        batches.next()
        batches.state_dict()
    assert resident() - before < 8 << 20


def test_several_readers_share_the_samples():
    stream = buffer(400).to_stream().key_transform("n", lambda n: n).prefetch(4, 2)
    seen = [[] for _ in range(4)]
    threads = [threading.Thread(target=lambda own=own: own.extend(numbers(stream))) for own in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(n for own in seen for n in own) == list(range(400))
    assert all(own == sorted(own) for own in seen)


def test_pipelines_nest():
    def inner(n):
        below = buffer(int(n)).to_stream().key_transform("n", lambda m: m * 2)
        return sum(numbers(below.prefetch(2, 2)))

    outer = buffer(8).to_stream().key_transform("n", inner).prefetch(2, 2).batch(2).prefetch(2, 2)
    assert [n for b in outer for n in b["n"].tolist()] == [n * (n - 1) for n in range(8)]
    nested = dx.stream_python_iterable(lambda: iter(buffer(5).to_stream().prefetch(2, 2)))
    assert numbers(nested.prefetch(2, 2)) == list(range(5))


def test_transforms_use_arrays_and_threads():
    def compute(n):
        results = []
        thread = threading.Thread(target=lambda: results.append(mx.exp(mx.array(float(n)))))
        thread.start()
        product = mx.ones((8, 8)) @ mx.full((8, 8), float(n))
        thread.join()
        return product[0, 0] + 0 * results[0]

    for threads in (1, 3):
        stream = buffer(12).to_stream().key_transform("n", compute, "y").prefetch(4, threads)
        assert [float(s["y"]) for s in stream] == [8.0 * n for n in range(12)]


def test_streams_as_contexts_close():
    with buffer(9).to_stream().prefetch(2, 2) as stream:
        assert int(stream.next()["n"]) == 0
    assert stream.next() == {}
    stream.reset()
    assert numbers(stream) == list(range(9))


def test_functions_that_use_their_own_pipeline_are_refused():
    def handler(error):
        return {"n": held[0].report()["skipped"]}

    def source():
        yield {"n": 0}
        yield held[0].next()

    streams = (
        buffer(3).to_stream().key_transform("n", refuse_odd).on_error(handler),
        dx.stream_python_iterable(source),
    )
    for stream in streams:
        held = [stream]
        with pytest.raises(RuntimeError, match="uses the stream that waits for it"):
            list(stream)
        # With threads it is refused, too, unless nobody waits just then; it never hangs.
        stream.reset()
        held = [stream.prefetch(2, 2)]
        with contextlib.suppress(RuntimeError):
            list(held[0].take(3))


def run(program, seconds=60):
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + program],
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


PRELUDE = """
import os, signal, sys, threading, time
import numpy as np
import umber.core as mx, umber.data as dx
def buffer(count):
    return dx.buffer_from_vector([{"n": n} for n in range(count)])
def slow(n):
    time.sleep(SECONDS)
    return n
def slowed(count):
    return buffer(count).to_stream().key_transform("n", slow)
SECONDS = 0.01
"""
INTERRUPT = """
def slowly():
    yield {"n": 0}
    time.sleep(1.2)
    yield {"n": 1}
sent = []
def interrupt():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
def interrupted(read):
    threading.Timer(0.3, interrupt).start()
    try:
        read()
    except KeyboardInterrupt:
        return time.perf_counter() - sent.pop()
    raise SystemExit("no interrupt")
SECONDS = 1.0
"""
WAITS = {
    "a source": "s = dx.stream_python_iterable(slowly).prefetch(2, 1); s.next()",
    "a transform": "s = slowed(9).prefetch(4, 2)",
    "a window": """
s = slowed(9).filter(lambda s: True).batch(2).prefetch(4, 2)""",
    "another reader": """
s = dx.stream_python_iterable(slowly).prefetch(2, 1); s.next()
threading.Thread(target=s.next).start(); time.sleep(0.1)""",
    "no threads": "s = slowed(9)",
    "a batch": "s = slowed(9).batch(9)",
    "a batch of samples": """
s = slowed(9).filter(lambda s: True).batch(9)""",
}


@pytest.mark.parametrize("what", WAITS)
def test_an_interrupt_ends_the_wait(what):
    ended = run(
        f"{INTERRUPT}\n{WAITS[what]}\nprint(interrupted(s.next), flush=True)\nos._exit(0)\n"
    )
    assert ended.returncode == 0, ended.stderr
    # 0.1 s on a quiet machine.
    assert float(ended.stdout) < 0.5


def test_a_stream_goes_on_after_an_interrupt():
    program = """
s = dx.stream_python_iterable(slowly).filter(lambda s: True).batch(2).prefetch(2, 1)
interrupted(s.next)
print(s.next()["n"].tolist())
"""
    assert run(INTERRUPT + program).stdout in ("[0, 1]\n", "[0]\n")


EXITS = {
    "live": """
s = buffer(99).to_stream().repeat(0).key_transform('n', lambda n: n + 1).prefetch(64, 4)""",
    "asleep": "s = slowed(99).repeat(0).prefetch(64, 4)",
    "failing": """
def fail(n):
    if int(n):
        raise ValueError(n)
    return n
s = buffer(99).to_stream().key_transform('n', fail).prefetch(64, 4)""",
    "window": """
s = slowed(99).filter(lambda s: True).batch(2).prefetch(8, 4)""",
    "source": """
def endless():
    while True:
        yield {"n": 0}
s = dx.stream_python_iterable(endless).prefetch(8, 2)""",
    "nested": """
def inner(n):
    return sum(int(s["n"]) for s in slowed(5).prefetch(2, 2))
s = buffer(99).to_stream().key_transform('n', inner).prefetch(8, 2)""",
    "thread": """
s = slowed(99).repeat(0).prefetch(64, 4)
threading.Thread(target=lambda: list(s), daemon=True).start()""",
}


@pytest.mark.parametrize("what", EXITS)
def test_programs_end_with_live_threads(what):
    for end in ("", "sys.exit(0)", "keep = [s]; keep.append(keep)"):
        ended = run(f"{EXITS[what]}\ns.next()\n{end}\n")
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


FORK = """
def child(check):
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        try:
            check()
        except BaseException as error:
            print("child:", type(error), error, file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
def refused(call):
    try:
        call()
    except RuntimeError as error:
        assert "fork" in str(error), error
    else:
        raise AssertionError("no error")
def new_ones_work():
    stream = buffer(20).to_stream().key_transform("n", slow).prefetch(4, 2)
    assert [int(s["n"]) for s in stream] == list(range(20))
"""
FORKS = {
    "running threads": """
s = buffer(50).to_stream().key_transform("n", slow).prefetch(4, 2)
s.next()
def check():
    refused(s.next)
    repr(s), len(s), s.report(), s.state_dict()
    new_ones_work()
for _ in range(5):
    child(check)
assert int(s.next()["n"]) == 1
""",
    "a reader": """
def slowly():
    for n in range(9):
        time.sleep(0.3)
        yield {"n": n}
s = dx.stream_python_iterable(slowly)
threading.Thread(target=s.next).start()
time.sleep(0.1)
def check():
    for call in (s.next, s.state_dict, s.report, s.reset, lambda: len(s)):
        refused(call)
    s.close()
    repr(s)
    new_ones_work()
child(check)
""",
    "nothing": """
s = buffer(9).to_stream().batch(2)
s.next()
def check():
    assert s.next()["n"].tolist() == [2, 3]
    new_ones_work()
child(check)
assert s.next()["n"].tolist() == [2, 3]
""",
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("what", FORKS)
def test_children_have_streams_of_their_own(what):
    ended = run(FORK + FORKS[what])
    assert (ended.returncode, ended.stderr) == (0, "")
