"""Adversarial input raises an error and never crashes the process."""

import copy
import pickle

import numpy as np
import pytest
import umber.core as mx
import umber.nn as nn
import umber.optimizers as optim


@pytest.mark.parametrize("make", [mx.array, mx.asarray, lambda x: mx.array(1) + x, mx.exp])
@pytest.mark.parametrize("scalar", [np.datetime64("2020"), np.timedelta64(3, "s")])
def test_dates_are_refused(make, scalar):
    with pytest.raises(TypeError):
        make(scalar)


def nested_in_itself():
    items = []
    items.append(items)
    return items


def nested_deep():
    item = mx.array(1.0)
    for _ in range(10_000):
        item = [item]
    return item


@pytest.mark.parametrize("make", [nested_in_itself, nested_deep])
def test_trees_without_end_are_refused(make):
    tree = make()
    calls = [
        lambda: mx.eval(tree),
        lambda: mx.grad(lambda q: mx.array(1.0))(tree),
        lambda: mx.vmap(lambda q: q)(tree),
        lambda: mx.compile(lambda q: q)(tree),
        lambda: mx.compile(lambda: mx.array(1.0), inputs=tree)(),
    ]
    for call in calls:
        with pytest.raises((ValueError, RecursionError)):
            call()


def test_results_do_not_follow_foreign_memory():
    source = np.zeros(3, np.float32)
    shared = mx.asarray(source)
    results = [
        mx.grad(lambda q: (q * shared).sum())(mx.ones(3)),
        mx.array(shared),
        shared.astype(mx.float32),
        mx.vmap(lambda q: q)(shared),
        mx.compile(lambda q: q)(shared),
    ]
    mx.eval(results)
    source[:] = 9
    assert [result.tolist() for result in results] == [[0.0] * 3] * 5
    assert shared.tolist() == [9.0] * 3


def test_dtypes_are_pickled_and_copied():
    for dtype in (mx.float32, mx.bool_, mx.bfloat16):
        assert pickle.loads(pickle.dumps(dtype)) == dtype
        assert copy.deepcopy({"dtype": dtype}) == {"dtype": dtype}


def test_slice_bounds_of_any_size_are_clamped():
    assert mx.arange(5)[-(2**80) : 2**80].tolist() == [0, 1, 2, 3, 4]


def test_a_name_that_the_format_keeps_is_refused(tmp_path):
    with pytest.raises(ValueError, match="__metadata__"):
        mx.save_safetensors(tmp_path / "x.safetensors", {"__metadata__": mx.ones(2)})


def test_state_made_while_tracing_is_carried_out():
    model = nn.Linear(2, 1)
    optimizer = optim.SGD(0.1, momentum=0.9)
    state = [model.state, optimizer.state]
    x, y = mx.ones((4, 2)), mx.ones((4, 1))

    def step(x, y):
        loss, gradients = nn.value_and_grad(model, lambda x, y: nn.losses.mse_loss(model(x), y))(
            x, y
        )
        optimizer.update(model, gradients)
        return loss

    compiled = mx.compile(step, inputs=state, outputs=state)
    losses = [compiled(x, y).item() for _ in range(4)]
    assert losses[-1] < losses[0]
    mx.eval(optimizer.state)
    assert int(optimizer.step.item()) == 4


def test_many_axes():
    """Nothing that nests an axis deep takes stack without end."""
    x = mx.zeros((1,) * 20_000)
    assert repr(x) == "array(..., dtype=float32)"
    with pytest.raises(ValueError, match=r"\[tolist\]"):
        x.tolist()
    assert mx.zeros((1,) * 100).sum().item() == 0


def test_many_parts():
    """An array without elements can be cut into any number of parts, but not into too many."""
    for cut in (
        lambda: mx.split(mx.zeros(0), 2**40),
        lambda: mx.unstack(mx.zeros((2**31, 0))),
        lambda: mx.fft.fftfreq(2**60),
    ):
        with pytest.raises((ValueError, OverflowError), match=r"\[\w+\]"):
            cut()
    with pytest.raises((MemoryError, RuntimeError, ValueError)):
        mx.eval(mx.fft.fftfreq(2**45))


class Raises:
    """An integer that cannot be had."""

    def __index__(self):
        raise LookupError("its own words")


class Refuses:
    """The same, with an error that lists of integers raise, too."""

    def __index__(self):
        raise TypeError("its own words")


INTEGERS = {
    "reshape": lambda x, given: mx.reshape(x, given),
    "sum": lambda x, given: mx.sum(x, axis=given),
    "transpose": lambda x, given: mx.transpose(x, given),
    "tile": lambda x, given: mx.tile(x, given),
    "zeros": lambda _, given: mx.zeros(given),
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_are_not_bytes_and_say_themselves_what_is_wrong(name):
    x, function = mx.ones((2, 1)), INTEGERS[name]
    for given in (b"\x01\x00", bytearray(b"\x01\x00")):
        with pytest.raises(TypeError, match=r"got byte.*, expected an integer or a sequence of"):
            function(x, given)
    for kind, error in ((Raises, LookupError), (Refuses, TypeError)):
        for given in (kind(), [kind()], (1, kind())):
            with pytest.raises(error, match="its own words"):
                function(x, given)


@pytest.mark.parametrize("kind", [np.array, tuple, range, iter, mx.array], ids=str)
def test_integers_come_in_any_sequence(kind):
    given = range(2) if kind is range else kind([0, 1])
    assert mx.sum(mx.ones((2, 3)), axis=given).item() == 6.0
