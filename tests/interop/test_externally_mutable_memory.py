"""Results computed from memory that others may write hold the values from before the write."""

import pickle
import warnings

import numpy as np
import pytest
import umber.core as mx

pytestmark = pytest.mark.host

WHOLE = {
    "slice": lambda x, v: x.__setitem__(slice(None), v),
    "ellipsis": lambda x, v: x.__setitem__(..., v),
    "nothing": lambda x, v: x.__setitem__((), v),
    "bounds": lambda x, v: x.__setitem__(slice(0, x.shape[0]), v),
    "two": lambda x, v: x.reshape(1, -1).__setitem__((slice(None), slice(None)), v),
    "mask": lambda x, v: x.__setitem__(mx.ones(x.shape, mx.bool_), v),
    "attribute": lambda x, v: x.at[:].add(mx.array(v) - x),
}


def exposed(values):
    """An array of umber's own whose memory a view that is out may write, and the view."""
    own = mx.array(values)
    view = np.asarray(own)
    assert view.flags.writeable
    return own, view


SOURCES = {
    "numpy": lambda values: (values, values),
    "shared": lambda values: (mx.asarray(values), values),
    "buffer": lambda values: (memoryview(values), values),
    "exposed": exposed,
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("index", [index for index in WHOLE if index not in ("two", "attribute")])
def test_what_is_assigned_is_copied(index, source):
    value, memory = SOURCES[source](np.array([1, 2, 3], np.float32))
    x = mx.zeros(3)
    WHOLE[index](x, value)
    memory[:] = 9
    assert x.tolist() == [1, 2, 3]
    np.asarray(x)[0] = 7
    assert memory.tolist() == [9, 9, 9]


def test_what_is_assigned_of_itself_is_copied():
    x = mx.arange(3.0)
    view = np.asarray(x)
    x[:] = view
    view[0] = 9
    assert x.tolist() == [0, 1, 2]


def test_what_is_assigned_of_a_file_is_copied(tmp_path):
    path = tmp_path / "x.npy"
    mx.save(path, mx.arange(4.0))
    x = mx.zeros(4)
    x[:] = mx.load(path)
    with open(path, "r+b") as file:
        np.save(file, np.full(4, 8, np.float32))
    assert x.tolist() == [0, 1, 2, 3]


def test_a_buffer_that_is_filled_again_and_again():
    buffer, history = np.zeros(3, np.float32), [mx.zeros(3) for _ in range(3)]
    for i, kept in enumerate(history):
        buffer[:] = i
        kept[:] = buffer
    assert [kept.tolist() for kept in history] == [[i] * 3 for i in range(3)]


def test_a_gradient_of_what_was_assigned():
    source = np.ones(3, np.float32)

    def f(w):
        b = mx.zeros(3)
        b[:] = source
        source[:] = 50
        return (b * w).sum()

    assert mx.grad(f)(mx.ones(3)).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "call",
    [
        lambda f, x: mx.vmap(f)(x),
        lambda f, x: mx.cond(mx.array(True), f, f, x),
        lambda f, x: mx.map(f, x),
        lambda f, x: mx.scan(lambda carry, y: (carry, f(y)), mx.array(0.0), x)[1],
        lambda f, x: mx.checkpoint(f)(x),
        lambda f, x: mx.vmap(mx.grad(lambda y: f(y) * 1))(x) * x * 0 + 2,
    ],
    ids=["vmap", "cond", "map", "scan", "checkpoint", "vmap_grad"],
)
def test_arguments_are_what_they_were_at_the_call(call):
    source = np.ones(3, np.float32)

    def f(x):
        doubled = x * 2
        source[:] = 100
        return doubled

    assert call(f, mx.asarray(source)).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    "leave",
    [
        lambda x, path: bytes(x),
        lambda x, path: pickle.dumps(x),
        lambda x, path: mx.save(path, x),
        lambda x, path: mx.savez(path, x=x),
        lambda x, path: mx.save_safetensors(path, {"x": x}),
    ],
    ids=["bytes", "pickle", "save", "savez", "save_safetensors"],
)
def test_values_that_leave_a_derivative_are_warned_of(leave, tmp_path):
    def f(x):
        leave(x, str(tmp_path / "x"))
        return x.sum()

    with pytest.warns(RuntimeWarning, match="counts as a constant"):
        mx.grad(f)(mx.ones(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(mx.ones(2))
