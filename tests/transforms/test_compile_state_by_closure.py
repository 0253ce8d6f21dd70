"""State of compiled functions that they have by name as well as in `inputs` and `outputs`."""

import numpy as np
import pytest
import umber.core as mx

BOTH = pytest.mark.parametrize("shapeless", [False, True])


def number(value):
    return mx.array(float(value))


@BOTH
def test_what_is_read_by_name_is_what_it_is_now(shapeless):
    w = mx.zeros(3)
    compiled = mx.compile(lambda x: w * x, inputs=[w], shapeless=shapeless)
    assert compiled(number(3)).tolist() == [0, 0, 0]
    w[0] = 5
    assert compiled(number(3)).tolist() == [15, 0, 0]
    assert w.tolist() == [5, 0, 0]


@BOTH
@pytest.mark.parametrize("wrap", [lambda w: [w], lambda w: (w,), lambda w: {"w": [w]}, lambda w: w])
def test_what_is_written_by_name_stays(wrap, shapeless):
    w = mx.zeros(3)

    def add(x):
        w[1] = w[1] + x
        return w * 2

    compiled = mx.compile(add, inputs=wrap(w), outputs=wrap(w), shapeless=shapeless)
    assert compiled(number(3)).tolist() == [0, 6, 0]
    assert w.tolist() == [0, 3, 0]
    assert compiled(number(4)).tolist() == [0, 14, 0]
    w[0] = 1
    assert compiled(number(1)).tolist() == [2, 16, 0]
    assert w.tolist() == [1, 8, 0]


def test_what_is_only_written_keeps_its_name():
    w = mx.ones(3)

    def put(x):
        w[1] = x
        return w * 2

    compiled = mx.compile(put, outputs=[w])
    for x in (4.0, 6.0):
        assert compiled(number(x)).tolist() == [2, 2 * x, 2]
        assert w.tolist() == [1, x, 1]


def test_names_and_containers_show_the_same_array():
    w = mx.ones(2)
    state = {"w": w}

    def step(x):
        w[0] += x
        state["w"] *= 2
        return state["w"] - w

    compiled = mx.compile(step, inputs=state, outputs=state)
    want = [1.0, 1.0]
    for x in (1.0, 2.0):
        assert compiled(number(x)).tolist() == [0, 0]
        want = [2 * (want[0] + x), 2 * want[1]]
        assert w.tolist() == state["w"].tolist() == want
    assert state["w"] is w


def test_replaced_arrays_leave_the_old_ones_alone():
    state = [mx.zeros(2), mx.ones(2)]
    first, second = state

    def step(x):
        state[0], state[1] = state[1], state[0] + x

    compiled = mx.compile(step, inputs=state, outputs=state)
    for count in range(1, 4):
        compiled(number(1))
        assert first.tolist() == [0, 0]
        assert second.tolist() == [1, 1]
        plain = [mx.zeros(2), mx.ones(2)]
        for _ in range(count):
            plain[0], plain[1] = plain[1], plain[0] + 1
        assert [array.tolist() for array in state] == [array.tolist() for array in plain]


def test_slopes_by_names():
    w, rate = mx.array([1.0, 2.0]), mx.array(0.5)

    def train(x):
        loss, slope = mx.value_and_grad(lambda w: (w * x).sum() ** 2)(w)
        w[:] = w - rate * slope
        return loss

    plain = mx.array(w)
    compiled = mx.compile(train, inputs=[w, rate], outputs=[w])
    for x in (0.1, 0.2, 0.3):
        loss, slope = mx.value_and_grad(lambda v, x=x: (v * x).sum() ** 2)(plain)
        plain = plain - rate * slope
        assert mx.allclose(compiled(number(x)), loss).item()
        assert mx.allclose(w, plain).item()
        rate -= 0.1


@pytest.mark.parametrize("outputs", [False, True])
def test_a_failed_call_leaves_what_has_a_name(outputs):
    w = mx.zeros(2)

    def fail(x):
        w[0] = x
        raise KeyError("no")

    compiled = mx.compile(fail, inputs=[w], outputs=[w] if outputs else None)
    for _ in range(2):
        with pytest.raises(KeyError):
            compiled(number(1))
        assert w.tolist() == [0, 0]


def test_what_is_not_written_is_left_alone():
    memory = np.zeros(2, np.float32)
    shared, kept = mx.asarray(memory), mx.ones(2)
    state = {"shared": shared, "kept": kept, "new": mx.zeros(2)}

    def step(x):
        state["new"] = state["shared"] + kept * x

    compiled = mx.compile(step, inputs=state, outputs=state)
    for x in (1.0, 2.0):
        compiled(number(x))
        assert state["new"].tolist() == (memory + x).tolist()
        assert state["shared"] is shared
        assert state["kept"] is kept
        memory += 1
        assert shared.tolist() == memory.tolist()
