"""`debug_nans`: the first operation that produces a NaN is reported, and no other."""

import os
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest
import umber.core as mx

LARGE = 5_000  # More elements than run eagerly.


def large(*values):
    """The values, then ones."""
    return mx.array([*values, *[1.0] * (LARGE - len(values))])


def raises(text):
    return pytest.raises(mx.NonFiniteError, match=text)


def line_of(text, file=__file__):
    """`recorded at` the line of this file that contains the text."""
    with open(file, encoding="utf-8") as source:
        lines = source.read().split("\n")
    (number,) = [i for i, line in enumerate(lines, 1) if text in line and "line_of" not in line]
    return f"recorded at {file}:{number}"


@pytest.mark.covers("debug_nans", "NonFiniteError")
def test_the_error():
    x = mx.array([[1.0, 2.0], [3.0, -4.0]])
    with mx.debug_nans(), raises(r"^\[sqrt\] produced 1 NaN in a result of 4 elements") as caught:
        mx.eval(mx.sqrt(x))  # the error
    assert isinstance(caught.value, FloatingPointError)
    assert mx.NonFiniteError.__module__ == "umber.core"
    text = str(caught.value)
    assert "(shape (2, 2), dtype float32), the first at index (1, 1), from -4.0" in text
    assert "; input 0 is finite" in text
    assert text.endswith(line_of("# the error"))


@pytest.mark.parametrize("maker", [mx.array, large], ids=["small", "large"])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("log", lambda make: mx.log(make(-1.0, 2.0))),
        ("subtract", lambda make: make(mx.inf, 1.0) - make(mx.inf, 2.0)),
        ("divide", lambda make: make(0.0, 1.0) / make(0.0, 2.0)),
        ("multiply", lambda make: make(mx.inf, 1.0) * 0),
        ("log", lambda make: mx.exp(mx.log(make(-1.0)) + 1).sum()),
        ("sqrt", lambda make: mx.sum(mx.sqrt(make(4.0, -1.0)) * 2)),
        ("matmul", lambda make: make(mx.inf)[None] @ mx.zeros((make(1.0).size, 1))),
        ("mean", lambda make: mx.mean(make(1.0)[:0]) + make(1.0)),
        ("astype", lambda make: make(1000.0).astype(mx.float8_e4m3fn)),
        ("log", lambda make: mx.log(make(-1.0).astype(mx.float16))),
        ("log", lambda make: mx.log(make(-1.0).astype(mx.bfloat16))),
        ("log", lambda make: mx.log(make(-1.0).astype(mx.float64))),
        ("divide", lambda make: make(0.0).astype(mx.complex64) / 0),
        ("log", lambda make: mx.log(make(1.0, -1.0)[::-2])),
        ("log", lambda make: mx.log(make(-1.0, 1.0)[0])),
    ],
)
def test_the_operation_is_named(maker, name, function):
    def make(*values):
        return maker(*values) if maker is large else maker([*values])

    with mx.debug_nans(), raises(rf"^\[{name}\] "):
        mx.eval(function(make))
    mx.eval(function(make))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1,
        lambda x: mx.sum(x),
        lambda x: x.reshape(-1, 2)[::-1],
        lambda x: mx.concatenate([x, x]),
        lambda x: mx.where(mx.isnan(x), mx.nan, x * 2),
        lambda x: mx.full((3,), mx.nan) + 1,
        lambda x: mx.full((LARGE,), mx.nan),
        lambda x: mx.where(x[1:] > 0, mx.nan, x[1:]),
        lambda x: mx.nan_to_num(x),
        lambda x: mx.array([0x7FC00000], mx.uint32).view(mx.float32),
        lambda x: mx.nanmean(x),
        lambda x: mx.sort(x),
        lambda x: mx.zeros((0,)) / 0,
        lambda x: mx.arange(4) // 1,
        lambda x: mx.scan(lambda c, row: (mx.where(row > 0, mx.nan, row), row), x[0], x[1:5])[0],
        lambda x: mx.compile(lambda x: mx.where(x > 0, mx.nan, x) * 2)(x),
    ],
)
@pytest.mark.parametrize(
    "make", [lambda: mx.array([mx.nan, 1.0, 2.0, 3.0, 4.0, 5.0]), lambda: large(mx.nan)]
)
def test_a_nan_of_the_program_passes(function, make):
    """NaN in the data, or written by the program as a constant, is no fault."""
    x = make()
    expected = function(x)
    mx.eval(expected)
    with mx.debug_nans():
        found = function(x)
        mx.eval(found)
    np.testing.assert_array_equal(np.array(found), np.array(expected))


def test_a_new_nan_beside_old_ones():
    x = mx.array([mx.nan, -1.0, 4.0])
    with mx.debug_nans(), raises(r"produced 1 NaN .* index \(1,\), from -1.0; input 0 holds 1 NaN"):
        mx.eval(mx.sqrt(x))


def test_the_state_of_the_inputs():
    x, y = large(mx.inf, 2.0, mx.inf), large(mx.inf, mx.nan)
    with mx.debug_nans(), raises(r"\[subtract\] .* from inf, inf") as caught:
        mx.eval(x - y)
    assert "; input 0 holds 2 infinities; input 1 holds 1 NaN and 1 infinity" in str(caught.value)


def test_inside_a_fused_region_the_line_is_that_of_the_operation():
    def f(x):
        a = x * 2
        b = mx.log(a)  # the log
        c = b + 1
        return mx.sum(c)

    for function in (f, mx.compile(f)):
        with mx.debug_nans(), raises(r"^\[log\] ") as caught:
            mx.eval(function(large(1.0, -3.0)))
        assert line_of("# the log") in str(caught.value)
        assert "from -6.0" in str(caught.value)


def test_an_epilogue_of_a_product_and_the_product():
    x, w = mx.ones((70, 60)), mx.ones((60, 50))
    with mx.debug_nans(), raises(r"^\[log\] "):
        mx.eval(mx.log(x @ w - 100) * 2)
    with mx.debug_nans(), raises(r"^\[matmul\] "):
        mx.eval(mx.tanh((x * mx.inf) @ (w * 0) - 100) * 2)


def test_nan_that_a_fused_operation_removes_is_not_reported():
    x = large(-1.0)
    with mx.debug_nans():
        y = mx.where(x > 0, mx.log(x), 0)
        assert mx.sum(y).item() == 0


def test_a_derivative():
    x = mx.array([0.0, 1.0])
    with mx.debug_nans(), raises(r"in the derivative of sqrt$") as caught:
        mx.eval(mx.grad(lambda x: mx.sum(mx.where(x > 0, mx.sqrt(x), 0)))(x))  # its sqrt
    assert line_of("# its sqrt") in str(caught.value)
    with mx.debug_nans(), raises(r"in the derivative of "):
        mx.eval(mx.jvp(lambda x: mx.sqrt(x), [x], [mx.array([0.0, 1.0])])[1])


def test_iterations_of_loops():
    def body(carry, row):
        return mx.log(carry) - row, row

    with mx.debug_nans(), raises(r"^\[log\] (.|\n)*\nin iteration 2 of scan"):
        mx.eval(mx.scan(body, mx.array(3.0), mx.ones(5))[0])
    with mx.debug_nans(), raises(r"^\[log\] (.|\n)*\nin iteration 2 of fori_loop"):
        mx.eval(mx.fori_loop(0, 5, lambda i, x: mx.log(x) - 1, mx.array(3.0)))
    with mx.debug_nans(), raises(r"^\[log\] "):
        mx.eval(mx.cond(mx.array(True), lambda x: mx.log(x), lambda x: x, mx.array(-1.0)))


def test_vmap():
    with mx.debug_nans(), raises(r"^\[log\] "):
        mx.eval(mx.vmap(lambda x: mx.log(x) + 1)(mx.array([1.0, -1.0])))


@pytest.mark.parametrize("make", [lambda v: mx.array([v, 1.0]), large], ids=["small", "large"])
@pytest.mark.parametrize(
    ("name", "value", "function"),
    [
        ("exp", 1000.0, mx.exp),
        ("divide", 0.0, lambda x: 1 / x),
        ("log", 0.0, mx.log),
        ("astype", 1e6, lambda x: x.astype(mx.float16)),
    ],
)
def test_infinities_on_request(make, name, value, function):
    x = make(value)
    with mx.debug_nans():
        mx.eval(function(x))
    with mx.debug_nans(infs=True), raises(rf"^\[{name}\] produced 1 infinity"):
        mx.eval(function(x))
    with mx.debug_nans(infs=True):
        mx.eval(make(mx.inf) + 1)


def test_warnings():
    x = large(-1.0)
    y = mx.sqrt(x) + 1
    with mx.debug_nans(action="warn"):
        with pytest.warns(RuntimeWarning, match=r"^\[sqrt\] produced 1 NaN") as found:
            mx.eval(y)
        assert len(found) == 1
        assert np.isnan(y[0].item())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with raises(r"^\[sqrt\] "):
                mx.eval(mx.sqrt(x))


def test_a_failed_evaluation_changes_nothing():
    x = large(-1.0, 4.0)
    y = mx.sqrt(x + 0)
    z = y * 2
    with mx.debug_nans():
        for _ in range(2):
            with raises(r"^\[sqrt\] "):
                mx.eval(z)
    np.testing.assert_array_equal(np.array(z)[:3], [np.nan, 4, 2])
    np.testing.assert_array_equal(np.array(x)[:3], [-1, 4, 1])


def test_the_setting_is_restored():
    x = mx.array([-1.0])
    with mx.debug_nans():
        with mx.debug_nans(False):
            mx.eval(mx.log(x))
        with pytest.raises(mx.NonFiniteError):
            mx.eval(mx.log(x))
        with mx.debug_nans(action="warn"), pytest.warns(RuntimeWarning):
            mx.eval(mx.log(x))
    mx.eval(mx.log(x))
    mx.debug_nans()
    try:
        with pytest.raises(mx.NonFiniteError):
            mx.eval(mx.log(x))
    finally:
        mx.debug_nans(False)
    mx.eval(mx.log(x))


def test_results_do_not_change():
    """With the search, programs compute what they compute without it."""

    def program(x):
        y = mx.softmax(mx.tanh(x.astype(mx.bfloat16)) * 3 + 1, axis=-1)
        z = mx.grad(lambda x: mx.sum(mx.exp(-mx.square(x)) @ x.T))(x)
        return (
            y.astype(mx.float32),
            z,
            mx.cumsum(x),
            mx.scan(lambda c, r: (c + r, c * r), x[0], x)[1],
        )

    x = mx.random.normal((40, 40), key=mx.random.key(1))
    expected = [np.array(part) for part in program(x)]
    with mx.debug_nans(infs=True):
        found = [np.array(part) for part in program(x)]
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def test_other_threads_and_async_eval():
    errors = []

    def work():
        try:
            mx.eval(mx.log(large(-1.0)))
        except mx.NonFiniteError as error:
            errors.append(error)

    with mx.debug_nans():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert len(errors) == 1
        y = mx.log(large(-1.0))
        mx.async_eval(y)
        with raises(r"^\[log\] "):
            y.tolist()
        with raises(r"^\[log\] "):
            mx.synchronize()


def test_bad_arguments():
    with pytest.raises(
        ValueError, match=r"^\[debug_nans\] action must be 'raise' or 'warn', got \"stop\""
    ):
        mx.debug_nans(action="stop")
    mx.eval(mx.log(mx.array([-1.0])))


PROGRAM = """
import umber.core as mx
x = mx.array([-1.0] * 5000)
try:
    mx.eval(mx.log(x))
    print("passed")
except FloatingPointError as error:
    print(str(error).split("]")[0])
"""


@pytest.mark.parametrize(
    ("value", "printed"), [("1", "[log"), ("0", "passed"), ("", "passed"), ("yes", "passed")]
)
def test_the_environment(value, printed):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"UMBER_DEBUG_NANS": value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == printed
    assert ("UMBER_DEBUG_NANS" in done.stderr) == (value == "yes")


DEVICE_PROGRAM = """
import umber.core as mx
mx.set_default_device(mx.gpu)
x = mx.array([1.0, -1.0, 2.0])
def loop(x):
    return mx.scan(lambda c, r: (c + mx.log(r), c), x[0], x)[0]
for function in (lambda x: mx.sum(mx.log(x) + 1), mx.compile(lambda x: mx.log(x) * 2), loop):
    with mx.debug_nans():
        try:
            mx.eval(function(x))
        except mx.NonFiniteError as error:
            print(str(error).split("]")[0])
mx.synchronize()
"""


def test_a_device():
    done = subprocess.run(
        [sys.executable, "-c", DEVICE_PROGRAM],
        env=os.environ | {"UMBER_SIMULATED_GPU": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["[log"] * 3, done.stderr
