"""Views and small results that are there at once behave as those that are computed later."""

import threading

import numpy as np
import pytest
import umber.core as mx


def evaluated(shape):
    x = mx.arange(np.prod(shape)).reshape(shape).astype(mx.float32)
    mx.eval(x)
    return x


@pytest.mark.parametrize(
    "index",
    [
        0,
        -1,
        (1, 2),
        (slice(None), -1),
        (0, slice(None), 1),
        (slice(None), 2, slice(None)),
        (..., 0),
        (slice(1, 2), 0),
    ],
)
def test_places_and_axes(index):
    x = evaluated((2, 3, 4))
    assert np.array_equal(np.array(x[index]), np.array(x)[index])
    assert np.array_equal(np.array((x + 1)[index]), np.array(x)[index] + 1)


@pytest.mark.parametrize("index", [2, -3, (0, 3), (0, 0, 0, 0), (slice(None), -4)])
def test_places_outside(index):
    with pytest.raises(IndexError):
        evaluated((2, 3, 4))[index]


def test_nothing_between():
    assert evaluated((2, 0, 4))[1].shape == (0, 4)
    with pytest.raises(IndexError):
        evaluated((2, 0, 4))[1, 0]


@pytest.mark.parametrize(
    "view", [lambda x: x[1], lambda x: x.T, lambda x: x.reshape(-1), lambda x: x[:, 0]]
)
def test_updates_leave_views_alone(view):
    x = evaluated((3, 4))
    seen = view(x)
    before = np.array(seen)
    x[...] = -1
    x += 5
    assert np.array_equal(np.array(seen), before)
    assert np.array_equal(np.array(x), np.full((3, 4), 4.0))


def test_updates_of_views_leave_their_origin_alone():
    x = evaluated((3, 4))
    row = x[1]
    row[0] = -1
    row *= 2
    assert np.array_equal(np.array(x), np.arange(12.0).reshape(3, 4))


def test_views_of_memory_that_others_write():
    memory = np.zeros((2, 3), np.float32)
    x = mx.asarray(memory)
    row, turned = x[1], x.T
    memory[...] = 7
    assert np.array_equal(np.array(row), np.zeros(3))
    assert np.array_equal(np.array(turned), np.zeros((3, 2)))
    assert np.array_equal(np.array(x[1]), np.full(3, 7.0))


def test_views_in_other_threads_are_traced():
    def loss(x):
        found = []
        worker = threading.Thread(target=lambda: found.append((x[1] * x.T[0].sum()).sum()))
        worker.start()
        worker.join()
        return found[0]

    x = evaluated((2, 2))
    here = mx.grad(lambda x: (x[1] * x.T[0].sum()).sum())(x)
    assert np.array_equal(np.array(mx.grad(loss)(x)), np.array(here))


def test_many_small_results():
    x = evaluated((50, 6))
    rows = [x[i] * 2 + x[0] for i in range(50)]
    sums = [mx.sum(x[i]) for i in range(50)]
    mx.eval(rows, sums)
    assert np.array_equal(np.array(mx.stack(rows)), np.array(x) * 2 + np.array(x)[0])
    assert [s.item() for s in sums] == list(np.array(x).sum(1))


def test_threads_share_small_results():
    """Whoever asks for a result that another thread has in its hands waits for it."""
    x = evaluated((4,))
    for _ in range(200):
        y = x * 3
        threads = [threading.Thread(target=mx.eval, args=(y,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert y.tolist() == [0.0, 3.0, 6.0, 9.0]


def test_small_operands_that_lie_apart():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    a = mx.array(x)
    for turn in [(2, 0, 1), (1, 2, 0), (0, 2, 1)]:
        assert np.array_equal(
            np.array(a.transpose(turn) + a[:, ::-1].transpose(turn)),
            x.transpose(turn) + x[:, ::-1].transpose(turn),
        )
    assert np.array_equal(np.array(a[:, :, ::2] * a[:, :1, 1::2]), x[:, :, ::2] * x[:, :1, 1::2])
