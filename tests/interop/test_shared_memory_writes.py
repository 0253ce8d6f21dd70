"""Who may write through a view, and what a write is seen by."""

import contextlib

import capsules
import numpy as np
import pytest
import umber.core as mx

pytestmark = pytest.mark.host


@contextlib.contextmanager
def policy(name):
    before = mx.set_view_policy(name)
    try:
        yield
    finally:
        mx.set_view_policy(before)


def fresh(*values):
    array = mx.array(values or (1.0, 2.0, 3.0))
    mx.eval(array)
    return array


def large():
    """As many elements as operations wait for: on fewer they are computed as they are written."""
    array = mx.arange(2000.0)
    mx.eval(array)
    return array


ROUTES = {
    "asarray": np.asarray,
    "memoryview": lambda x: np.asarray(memoryview(x)),
    "from_dlpack": np.from_dlpack,
    "__array__": lambda x: x.__array__(),
}
MAKERS = {
    "array": lambda: mx.array([1.0, 2.0, 3.0]),
    "result": lambda: mx.arange(3.0) + 1,
    "updated": lambda: mx.zeros(3).at[0].add(1),
    "slice of what is gone": lambda: mx.arange(10.0)[3:6],
    "transposed": lambda: mx.arange(6.0).reshape(2, 3).T,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_who_is_alone_may_write(route, make):
    array = make()
    view = route(array)
    assert view.flags.writeable
    view[...] = 7
    assert np.all(np.asarray(array.tolist()) == 7)
    second = route(array)
    assert second.flags.writeable
    second[...] = 8
    assert (view == 8).all()


def test_what_is_seen_elsewhere_may_not_be_written():
    def slice_alive():
        x = fresh()
        other = x[1:]
        mx.eval(other)
        return x, other

    def pending_operation():
        x = large()
        return x, x * 2

    def same_value_in_two_arrays():
        x = fresh()
        return x, mx.asarray(x)

    def captured_by_a_function():
        x = fresh()
        compiled = mx.compile(lambda y: y + x)
        compiled(fresh())
        return x, compiled

    def in_a_list_of_a_gradient():
        x = fresh()
        return x, mx.vjp(lambda y: y * x, [fresh()], [fresh()])

    for make in (slice_alive, pending_operation, same_value_in_two_arrays, captured_by_a_function):
        array, other = make()
        for route in ROUTES.values():
            view = route(array)
            assert not view.flags.writeable, make.__name__
            with pytest.raises(ValueError, match="read-only"):
                view[0] = 1
        del other, view
    array, _ = in_a_list_of_a_gradient()
    assert array.tolist() == [1, 2, 3]


def test_a_broadcast_is_never_written():
    for name in ("checked", "writable"):
        with policy(name):
            row = mx.arange(3.0)
            mx.eval(row)
            view = np.asarray(mx.broadcast_to(row, (2, 3)))
            assert not view.flags.writeable


def test_writable_again_once_the_others_are_gone():
    array = large()
    other = array[:2]
    mx.eval(other)
    assert not np.asarray(array).flags.writeable
    del other
    assert np.asarray(array).flags.writeable
    doubled = array * 2
    assert not np.asarray(array).flags.writeable
    mx.eval(doubled)
    assert np.asarray(array).flags.writeable


# Program order.


@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_nobody_writes_what_a_view_for_reading_shows(route):
    a = mx.arange(4.0)
    b = a[::2]
    mx.eval(b)
    shown = route(a)
    assert not shown.flags.writeable
    del a
    assert not np.asarray(b).flags.writeable
    b[0] = 7
    assert shown.tolist() == [0, 1, 2, 3]
    c = mx.arange(4.0)
    d = c[::2]
    mx.eval(d)
    shown = route(c)
    c += 1
    mx.eval(c)
    assert not route(d).flags.writeable
    del shown
    assert route(d).flags.writeable


@pytest.mark.parametrize("name", ["checked", "writable"])
def test_a_copy_shares_nothing(name):
    x = mx.zeros(2)
    with policy(name):
        if name == "checked":
            mx.eval(x)
        y = mx.array(x)
        view = np.asarray(x)
        assert view.flags.writeable
        view[:] = 9
        assert y.tolist() == [0, 0]
    # One that is not computed yet, or followed, is the same value.
    assert mx.array(x + 1).tolist() == [10, 10]
    assert mx.grad(lambda x: mx.array(x).sum())(x).tolist() == [1, 1]


def test_operations_run_when_recorded_while_somebody_can_write():
    array = fresh()
    view = np.asarray(array)
    results = [
        array * 2,
        array[1:],
        array.T,
        array.reshape(3, 1),
        mx.array(array),
        array.astype(mx.float32),
    ]
    grown = results[0] + 1
    view[:] = 100
    assert [r.flatten().tolist() for r in results] == [[2, 4, 6], [2, 3], *[[1, 2, 3]] * 4]
    assert grown.tolist() == [3, 5, 7]
    assert (array * 2).tolist() == [200] * 3


def test_laziness_comes_back_with_the_last_writer():
    source = np.ones(3, np.float32)
    array = mx.asarray(source)
    early = array * 2
    view = memoryview(fresh())
    del view
    lazy = mx.from_numpy(source) * 2
    source.flags.writeable = True
    source[:] = 5
    assert early.tolist() == [2] * 3
    assert lazy.tolist() == [10] * 3


@pytest.mark.parametrize(
    ("make", "waits"),
    [
        (lambda s: mx.asarray(s), False),
        (lambda s: mx.from_dlpack(s), False),
        (lambda s: mx.asarray(memoryview(s).toreadonly()), False),
        (lambda s: mx.asarray(s, copy=True), True),
        (lambda s: mx.array(s), True),
    ],
)
def test_queued_operations_against_a_later_write(make, waits):
    source = np.array([1.0, 2.0], np.float32)
    array = make(source)
    results = [array * 2, mx.sum(array), mx.exp(array - array), array + array[0]]
    source[:] = 50
    assert results[0].tolist() == [2, 4]
    assert results[1].item() == 3
    assert results[2].tolist() == [1, 1]
    assert results[3].tolist() == [2, 3]
    assert array.tolist() == ([1, 2] if waits else [50, 50])


def test_a_read_only_view_of_writable_memory_is_not_trusted():
    base = np.zeros(4, np.float32)
    view = base[:2]
    view.flags.writeable = False
    for array in (mx.asarray(view), mx.from_dlpack(view), mx.from_numpy(view)):
        result = array + 1
        base[:] = 9
        assert result.tolist() == [1, 1]
        base[:] = 0


def test_memory_that_nobody_writes_stays_lazy():
    frozen = np.zeros(4, np.float32)
    frozen.flags.writeable = False
    for source in (frozen, frozen[1:], np.frombuffer(bytes(16), np.float32), bytes(4)):
        array = mx.asarray(source)
        result = array * 2
        if source is frozen:
            frozen.flags.writeable = True
            frozen[:] = 1
            assert result.tolist() == [2] * 4
            frozen[:] = 0
            frozen.flags.writeable = False
        assert not np.asarray(array).flags.writeable


# Transforms.


def squared_behind(x):
    view = np.array(x, copy=False)
    view[:] *= view
    return x.sum()


@pytest.mark.filterwarnings(r"ignore:\[grad\]")
@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
@pytest.mark.parametrize("transform", [mx.grad, mx.value_and_grad, mx.checkpoint])
def test_a_write_behind_a_derivative_is_refused(transform, route):
    def behind(x):
        route(x)[...] *= 2
        return x.sum()

    x = fresh()
    call = transform(behind)
    if transform is mx.checkpoint:
        call = mx.grad(call)
    with pytest.raises((ValueError, BufferError), match=r"read-only|value"):
        call(x)
    assert x.tolist() == [1, 2, 3]


@pytest.mark.filterwarnings(r"ignore:\[grad\]")
def test_a_write_behind_a_derivative_as_mlx_documents_it():
    with policy("writable"):
        x = fresh(3.0)
        value, gradient = mx.value_and_grad(squared_behind)(x)
        assert (value.item(), gradient.item()) == (9, 1)
        assert x.item() == 9
    with pytest.raises(ValueError, match="read-only"):
        mx.value_and_grad(squared_behind)(fresh(3.0))


def test_the_same_in_mlx():
    mlx = pytest.importorskip("mlx.core")
    x = mlx.array([3.0])
    value, gradient = mlx.value_and_grad(squared_behind)(x)
    assert (value.item(), gradient.item()) == (9, 1)
    assert x.item() == 9


@pytest.mark.filterwarnings(r"ignore:\[grad\]")
def test_reading_inside_a_derivative_warns_and_is_a_constant():
    x = fresh()
    with pytest.warns(RuntimeWarning, match="counts as a constant"):
        gradient = mx.grad(lambda y: (y * mx.array(np.asarray(y))).sum())(x)
    assert gradient.tolist() == [1, 2, 3]
    with pytest.warns(RuntimeWarning):
        mx.grad(lambda y: (np.asarray(y.astype(mx.bfloat16)) is None) or y.sum())(x)


def test_export_without_a_value_is_an_error():
    for transform in (mx.compile, mx.vmap):
        for route in (*ROUTES.values(), lambda x: x.__dlpack__()):
            with pytest.raises((ValueError, BufferError, TypeError), match="value"):
                transform(lambda x, route=route: route(x) is None or x)(fresh())


# The other policies.


def test_writable_trusts_whoever_writes():
    with policy("writable"):
        array = fresh()
        other = array[:2]
        mx.eval(other)
        view = np.asarray(array)
        assert view.flags.writeable
        view[0] = 9
        assert other.tolist() == [9, 2]
        source = np.ones(2, np.float32)
        result = mx.asarray(source) * 2
        source[:] = 5
        assert result.tolist() == [10, 10]
        frozen = np.ones(2, np.float32)
        frozen.flags.writeable = False
        assert not np.asarray(mx.asarray(frozen)).flags.writeable


def test_writable_views_still_keep_their_memory():
    with policy("writable"):
        array = mx.full((1000,), 7.0)
        mx.eval(array)
        view = np.asarray(array)
        array[:] = 1
        array += 1
        mx.eval(array)
        del array
        mx.eval([mx.full((1000,), float(k)) for k in range(50)])
        assert (view == 7).all()


def test_readonly_gives_nothing_for_writing():
    with policy("readonly"):
        array = fresh()
        for route in ROUTES.values():
            assert not route(array).flags.writeable
        assert np.asarray(array, copy=True).flags.writeable
        source = np.ones(2, np.float32)
        result = mx.asarray(source) * 2
        source[:] = 5
        assert result.tolist() == [2, 2]


@pytest.mark.covers("set_view_policy")
def test_names():
    assert mx.set_view_policy("readonly") == "checked"
    assert mx.set_view_policy("writable") == "readonly"
    assert mx.set_view_policy("checked") == "writable"
    for wrong in ("", "Checked", "read-only"):
        with pytest.raises(ValueError, match=rf"^\[set_view_policy\] got '{wrong}', expected"):
            mx.set_view_policy(wrong)
    with pytest.raises(TypeError, match="expected"):
        mx.set_view_policy(3)
    assert mx.set_view_policy("checked") == "checked"


# Memory that must not be touched, guarded by the system.


def guarded(values):
    memory = capsules.Guarded()
    memory.fill(values.tobytes())
    return memory, np.frombuffer(memory.memory(), values.dtype, count=values.size)


UPDATES = {
    "+=": lambda x: x.__iadd__(1),
    "*= array": lambda x: x.__imul__(mx.full(x.shape, 2.0)),
    "item": lambda x: x.__setitem__(0, 5),
    "slice": lambda x: x.__setitem__(slice(None), 3),
    "mask": lambda x: x.__setitem__(x > 2, 0),
    "at": lambda x: x.at[mx.array([0, 1])].add(1),
    "chain": lambda x: mx.exp(x * 0) + mx.sin(x) * 2 - x,
    "compiled": lambda x: mx.compile(lambda y: mx.exp(y) * 2 + y)(x),
    "sort": lambda x: mx.sort(x),
    "cumsum": lambda x: mx.cumsum(x),
    "gradient": lambda x: mx.grad(lambda y: (mx.sin(y) * y).sum())(x),
    "put": lambda x: mx.put_along_axis(x, mx.array([1]), mx.array([9.0]), 0),
    "loop": lambda x: mx.fori_loop(0, 3, lambda i, y: y * 2 + 1, x),
    "donated": lambda x: [x := x * 2 + 1 for _ in range(3)][-1],
}


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
@pytest.mark.parametrize("route", ["asarray", "from_numpy", "dlpack", "capsule"])
def test_sealed_memory_is_never_written(route, update):
    """A write into these pages would end the process."""
    values = np.arange(1024, dtype=np.float32)
    memory, source = guarded(values)
    memory.seal()
    if route == "capsule":
        made = capsules.Made(memory.address, (1024,), version=(1, 0), flags=capsules.READ_ONLY)
        array = mx.from_dlpack(made.capsule)
    else:
        source.flags.writeable = False
        array = {"asarray": mx.asarray, "from_numpy": mx.from_numpy, "dlpack": mx.from_dlpack}[
            route
        ](source)
    result = update(array)
    mx.eval(array, [result] if result is not None else [])
    del array, result
    assert (source == values).all()


def edge_views():
    """Arrays over all of a page between two that must not be touched."""
    values = np.arange(1024, dtype=np.float32)
    memory, _ = guarded(values)
    whole = np.frombuffer(memory.memory(), np.float32)
    yield memory, whole, whole
    yield memory, whole, whole[::-1]
    yield memory, whole, whole[::3]
    yield memory, whole, whole[1:].reshape(-1, 11).T
    yield memory, whole, whole.reshape(32, 32)[::-1, ::-2]
    yield memory, whole, np.broadcast_to(whole[-4:], (1000, 4))
    yield memory, whole, np.broadcast_to(whole[:1], (5, 1))
    yield memory, whole, whole[1020:]
    yield memory, whole, np.lib.stride_tricks.sliding_window_view(whole, 100)


def test_nothing_outside_of_a_view_is_read():
    """A step outside of the page would end the process."""
    for _, _, source in edge_views():
        array = mx.asarray(source)
        assert np.array_equal(np.asarray(array), source)
        for result in (array + 1, array.sum(), array.T * 2, mx.sort(array), mx.array(source)):
            mx.eval(result)
        assert bytes(array) == source.tobytes()
        assert memoryview(array).tobytes() == source.tobytes()
        assert np.array_equal(np.from_dlpack(array), source)
        assert np.array_equal(mx.from_dlpack(array, copy=True).tolist(), source)
