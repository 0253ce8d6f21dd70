"""Operations on a few elements are computed as they are written: nothing else differs."""

import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import umber.core as mx

PROGRAMS = Path(__file__).with_name("eager_programs.py")


def run(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_results_are_those_of_recorded_operations():
    eager, recorded = (run(str(PROGRAMS), UMBER_EAGER=mode).splitlines() for mode in ("1", "0"))
    assert len(eager) == len(recorded) > 10_000
    for now, later in zip(eager, recorded, strict=True):
        assert now == later


@pytest.mark.parametrize(("mode", "holds"), [("1", False), ("0", True)])
def test_what_is_computed_as_written_leaves_nothing_to_draw(mode, holds):
    program = (
        "import io, umber.core as mx; x = mx.array([1.0, 2.0]); text = io.StringIO(); "
        "mx.export_to_dot(text, x + x); print('Add' in text.getvalue())"
    )
    assert run("-c", program, UMBER_EAGER=mode) == f"{holds}\n"


def test_more_elements_are_recorded():
    text = io.StringIO()
    x = mx.ones(1025)
    mx.export_to_dot(text, x + x)
    assert '"Add"' in text.getvalue()


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_chains_in_16_bits_are_recorded(dtype):
    """They are rounded once, where one kernel runs them."""
    x = mx.array([1.0, 2.0]).astype(dtype)
    mx.eval(x)
    text = io.StringIO()
    mx.export_to_dot(text, x + x)
    assert '"Add"' in text.getvalue()


def test_derivatives_pass_through():
    x = mx.array([1.0, 2.0, 3.0])
    weight = x * 2

    def loss(x):
        return (mx.sin(x * weight) - x / 2).sum()

    slope = mx.grad(loss)(x)
    wanted = np.cos(np.array([2.0, 8.0, 18.0])) * np.array([2.0, 4.0, 6.0]) - 0.5
    np.testing.assert_allclose(np.array(slope), wanted, rtol=1e-5)
    np.testing.assert_allclose(np.array(mx.grad(lambda x: mx.grad(loss)(x).sum())(x)).shape, (3,))
    lanes = mx.vmap(lambda row: row + weight)(mx.zeros((4, 3)))
    assert lanes.tolist() == [[2.0, 4.0, 6.0]] * 4


def test_compiled_functions_see_every_operation():
    calls = []

    @mx.compile
    def double(x):
        calls.append(x)
        y = x + x
        return y * x + scale

    scale = mx.array(1.0) + 1
    assert double(mx.array(3.0)).item() == 20
    assert double(mx.array(4.0)).item() == 34
    assert len(calls) == 1


@pytest.mark.host
def test_memory_of_others_is_read_as_written():
    theirs = np.ones(3, dtype=np.float32)
    shared = mx.asarray(theirs)
    doubled = shared + shared
    row = mx.asarray(np.ones((2, 3), dtype=np.float32))[0]
    theirs[:] = 5
    assert doubled.tolist() == [2, 2, 2]
    assert shared.tolist() == [5, 5, 5]
    assert row.tolist() == [1, 1, 1]


@pytest.mark.host
def test_operations_wait_for_writers_that_are_trusted():
    before = mx.set_view_policy("writable")
    try:
        for length in (2, 2000):
            x = mx.array([1.0, *([2.0] * (length - 1))])
            view = np.asarray(x)
            later = x + 1
            view[0] = 9
            assert later[:2].tolist() == [10, 3]
    finally:
        mx.set_view_policy(before)


@pytest.mark.host
def test_a_view_keeps_what_it_shows():
    x = mx.array([1.0, 2.0])
    y = x + 1
    view = np.asarray(y)
    assert view.flags.writeable
    z = y + 1
    y += 10
    assert view.tolist() == [2, 3]
    assert z.tolist() == [3, 4]
    assert y.tolist() == [12, 13]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: x + mx.ones(2), r"\[add\] shapes"),
        (lambda x: x - "a", r"\[subtract\] got str"),
        (
            lambda x: x & x,
            r"\[bitwise_and\] dtype float32 is not supported, expected bool or integers",
        ),
        (lambda x: mx.array([1], dtype=mx.uint8) + 300, r"300 does not fit uint8"),
        (lambda x: mx.array([1]) + 2**70, "does not fit any dtype"),
        (lambda x: x[3], r"\[index\]"),
        (lambda x: x[0, 0], r"\[index\]"),
        (lambda x: x[::0], r"\[index\]"),
    ],
)
def test_errors_stay(call, error):
    with pytest.raises((ValueError, TypeError, IndexError), match=error):
        call(mx.array([1.0, 2.0, 3.0]))


def test_numbers_take_the_dtype_of_the_array():
    for dtype in (mx.float16, mx.bfloat16, mx.float32, mx.float64, mx.complex64):
        x = mx.array([1.0, 2.0]).astype(dtype)
        for result in (x + 1, 1 + x, x * 0.5, 0.5 / x, x**2, 2 - x):
            assert result.dtype == dtype
    whole = mx.array([1, 2], dtype=mx.int16)
    assert (whole + 1).dtype == mx.int16
    assert (whole + 0.5).dtype == (whole / 2).dtype == mx.float32
    assert (whole > 1.5).tolist() == [False, True]
    assert (whole < 2**70).tolist() == [True, True]


def test_parts_at_places():
    values = np.arange(24).reshape(2, 3, 4)
    x = mx.array(values)
    for index in (
        0,
        -1,
        (1, 2),
        (1, -1, 0),
        (slice(None), 1),
        (slice(None), slice(None), -2),
        (0, slice(None), 3),
        (True, 0),
        False,
        np.int64(1),
    ):
        np.testing.assert_array_equal(np.array(x[index]), values[index])
    for index in (2, -3, (0, 3), (0, 0, 0, 0), 2**80):
        with pytest.raises((IndexError, ValueError)):
            x[index]


def test_objects_are_changed_while_other_threads_read_them():
    x = mx.array([0.0])
    go_on = True
    seen = []

    def read():
        while go_on:
            seen.append((x + 0).item() + x[0].item() - x.item() * 0)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20_000):
        x += 1
    go_on = False
    for thread in threads:
        thread.join()
    assert x.item() == 20_000
    assert all(value >= 0 for value in seen)
