"""How long shared memory lives, on how many threads, and that none of it leaks."""

import gc
import os
import subprocess
import sys
import threading
import time
import weakref

import capsules
import numpy as np
import pytest
import umber.core as mx
from small_stacks import call_in_thread

pytestmark = pytest.mark.host

MIB = 1 << 20


class Owner(np.ndarray):
    """An array of NumPy's that can be watched."""


class Told:
    """Memory told of by the array interface, that can be watched."""

    def __init__(self):
        self.values = np.arange(6, dtype=np.float32)
        self.__array_interface__ = self.values.__array_interface__


class Spoken:
    """Speaks DLPack, and can be watched by what it holds."""

    def __init__(self):
        self.values = np.arange(6, dtype=np.float32).view(Owner)

    def __dlpack__(self, **keywords):
        return self.values.__dlpack__(**keywords)


def owner():
    return np.arange(6, dtype=np.float32).view(Owner)


@pytest.mark.parametrize("make", [owner, Told])
def test_a_source_lives_as_long_as_what_is_made_of_it(make):
    source = make()
    gone = weakref.ref(source)
    array = mx.asarray(source)
    view = np.asarray(array)
    part = array[2:4]
    mx.set_view_policy("writable")
    try:
        pending = array * 2
    finally:
        mx.set_view_policy("checked")
    del source, array
    gc.collect()
    assert gone() is not None
    assert view[5] == 5
    assert part.tolist() == [2, 3]
    assert pending.tolist() == [0, 2, 4, 6, 8, 10]
    del view, part, pending
    gc.collect()
    assert gone() is None


def test_a_producer_of_capsules():
    source = Spoken()
    gone = weakref.ref(source.values)
    array = mx.from_dlpack(source)
    del source
    gc.collect()
    assert gone() is not None
    assert array[3].item() == 3
    del array
    gc.collect()
    assert gone() is None


def test_the_last_array_may_die_on_another_thread():
    source = owner()
    gone = weakref.ref(source)
    box = [mx.asarray(source)]
    del source
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert gone() is None


ROUTES = {
    "asarray": np.asarray,
    "memoryview": memoryview,
    "from_dlpack": np.from_dlpack,
    "interface": lambda x: np.asarray(
        type(
            "Told",
            (),
            {
                "__array_interface__": x.__array_interface__,
                "keep": x,
            },
        )()
    ),
}


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_a_view_outlives_everything(route):
    base = mx.get_active_memory()
    array = mx.full((1000,), 7.0)
    mx.eval(array)
    view = route(array)
    array[:] = mx.arange(1000.0)
    mx.eval(array)
    array += 1
    array = mx.exp(array * 0) + array
    mx.eval(array)
    del array
    mx.clear_cache()
    for k in range(10_000):
        made = mx.full((1000,), float(k))
        if k % 10 == 0:
            mx.eval(made)
    del made
    gc.collect()
    assert (np.asarray(view) == 7).all()
    assert mx.get_active_memory() >= base + 4000
    del view
    gc.collect()
    assert mx.get_active_memory() <= base + 4096


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


ELEMENTS = MIB // 4


def exported(route):
    def once():
        array = mx.ones((ELEMENTS,))
        mx.eval(array)
        return route(array)

    return once


def raises(call, *args, **keywords):
    try:
        call(*args, **keywords)
    except (BufferError, ValueError, TypeError):
        return
    raise AssertionError("not refused")


def numpy_source():
    return np.ones(ELEMENTS, np.float32)


LEAKS = {
    "np.asarray": exported(np.asarray),
    "memoryview": exported(memoryview),
    "np.from_dlpack": exported(np.from_dlpack),
    "capsule not consumed": exported(lambda x: x.__dlpack__()),
    "versioned capsule not consumed": exported(lambda x: x.__dlpack__(max_version=(1, 0))),
    "copied capsule": exported(lambda x: x.__dlpack__(copy=True)),
    "interface": exported(lambda x: x.__array_interface__),
    "bfloat16": exported(lambda x: np.asarray(x.astype(mx.bfloat16))),
    "refused buffer": exported(lambda x: raises(b"".join, [x[::2]])),
    "refused device": exported(lambda x: raises(x.__dlpack__, dl_device=(2, 0))),
    "refused stream": exported(lambda x: raises(x.__dlpack__, stream=1)),
    "refused cast": exported(lambda x: raises(x.__array__, np.float64, copy=False)),
    "asarray": lambda: mx.asarray(numpy_source()),
    "asarray of a memoryview": lambda: mx.asarray(memoryview(numpy_source())),
    "asarray of an interface": lambda: mx.asarray(Told()),
    "asarray by copy": lambda: mx.asarray(numpy_source(), copy=True),
    "asarray of bytes": lambda: mx.asarray(bytes(MIB)),
    "asarray of other byte order": lambda: mx.asarray(numpy_source().astype(">f4")),
    "from_numpy": lambda: mx.from_numpy(numpy_source()),
    "from_dlpack": lambda: mx.from_dlpack(numpy_source()),
    "from_dlpack by copy": lambda: mx.from_dlpack(numpy_source(), copy=True),
    "operations": lambda: mx.eval(mx.asarray(numpy_source()) * 2),
    "refused asarray": lambda: raises(mx.asarray, numpy_source(), mx.int8, copy=False),
    "refused order": lambda: raises(mx.asarray, numpy_source().astype(">f4"), copy=False),
    "refused elements": lambda: raises(mx.asarray, numpy_source().astype(np.longdouble)),
    "refused capsule": lambda: raises(
        mx.from_dlpack, capsules.Producer(numpy_source().__dlpack__(), device=(2, 0))
    ),
}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("route", LEAKS)
def test_a_thousand_rounds_leave_nothing(route):
    once = LEAKS[route]
    if route == "asarray of bytes":
        once()
    base = mx.get_active_memory()
    for _ in range(30):
        once()
    gc.collect()
    before = resident()
    for _ in range(1000):
        once()
    gc.collect()
    # Each round handles a megabyte: a leak of one in fifty would show.
    assert resident() - before < 16 * MIB
    assert mx.get_active_memory() <= base + 64 * 1024


def test_references_are_balanced():
    source = np.ones(8, np.float32)
    array = mx.array([1.0, 2.0])
    mx.eval(array)
    before = sys.getrefcount(source), sys.getrefcount(array)
    for _ in range(50):
        mx.asarray(source)
        mx.asarray(source, copy=True)
        np.asarray(array)
        np.from_dlpack(array)
        mx.from_dlpack(source)
        mx.from_dlpack(source, copy=True)
        raises(mx.asarray, source, mx.int8, copy=False)
        raises(array.__dlpack__, stream=3)
    gc.collect()
    assert (sys.getrefcount(source), sys.getrefcount(array)) == before


def test_many_threads_on_the_same_arrays():
    """Exporting, importing, computing and dropping at once: values stay right, nothing is lost."""
    shared = mx.arange(4096.0)
    source = np.arange(4096, dtype=np.float32)
    mx.eval(shared)
    expected = np.arange(4096, dtype=np.float32)
    faults = []
    stop = time.monotonic() + 3

    def work(number):
        try:
            kept = []
            while time.monotonic() < stop:
                views = [np.asarray(shared), np.from_dlpack(shared), np.asarray(memoryview(shared))]
                imports = [
                    mx.asarray(source),
                    mx.from_dlpack(source),
                    mx.asarray(views[number % 3]),
                ]
                results = [array * 2 + number for array in (*imports, shared)]
                mx.eval(results)
                for result in results:
                    assert np.array_equal(np.asarray(result), expected * 2 + number)
                assert all(np.array_equal(view, expected) for view in views)
                kept = (kept + views + imports)[-20:]
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_views_at_the_end_of_the_interpreter():
    program = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "import numpy as np, umber.core as mx\n"
        "a = mx.ones(1000); v = np.asarray(a); m = memoryview(a)\n"
        "b = mx.asarray(np.ones(1000)); c = mx.from_dlpack(np.ones(10)); d = b * 2\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def best(call, rounds=200):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_sharing_costs_the_same_whatever_the_size():
    """A gigabyte that nobody has touched yet: sharing it touches none of it."""
    large, small = np.empty(1 << 28, np.float32), np.empty(16, np.float32)
    calls = {
        "np.asarray(x)": lambda source: (lambda x: lambda: np.asarray(x))(mx.asarray(source)),
        "memoryview(x)": lambda source: (lambda x: lambda: memoryview(x))(mx.asarray(source)),
        "np.from_dlpack(x)": lambda source: (lambda x: lambda: np.from_dlpack(x))(
            mx.asarray(source)
        ),
        "from_dlpack(ndarray)": lambda source: lambda: mx.from_dlpack(source),
        "asarray(ndarray)": lambda source: lambda: mx.asarray(source),
    }
    before = resident()
    for name, make in calls.items():
        assert best(make(large)) < 3 * best(make(small)) + 20e-6, name
    assert resident() - before < 4 * MIB


@pytest.mark.parametrize(
    "step",
    [
        lambda x: mx.asarray(np.asarray(x)),
        lambda x: mx.asarray(memoryview(x)),
        lambda x: mx.from_dlpack(np.from_dlpack(x)),
        lambda x: mx.asarray(np.asarray(x)[:]),
    ],
    ids=["asarray", "memoryview", "dlpack", "views"],
)
def test_memory_that_went_back_and_forth_is_let_go_of_without_recursion(step):
    base = mx.get_active_memory()

    def drop():
        x = mx.zeros((1000,))
        mx.eval(x)
        for _ in range(50_000):
            x = step(x)
        assert x[999].item() == 0
        del x
        gc.collect()

    call_in_thread(4 << 20, drop)
    assert mx.get_active_memory() <= base
