"""`while_loop` with `max_iterations`: values, and gradients through as many iterations as ran."""

import itertools

import numpy as np
import pytest
import umber.core as mx


def grow(x, w):
    """Multiply until the value is large: the number of iterations depends on the value."""
    return mx.while_loop(lambda c: c < 20.0, lambda c: c * w + mx.sin(c), x, max_iterations=12)


def grow_python(x, w):
    """The same without control flow: every batch element by itself."""
    for _ in range(12):
        y = x * w + mx.sin(x)
        x = mx.where(x < 20.0, y, x)
    return x


def lanes(f):
    return lambda x, w: mx.vmap(f, (0, None))(mx.stack([x, x + 0.9, x + 30]), w).sum()


def gradient(f):
    return mx.grad(f)


def gradient_of_w(f):
    return mx.grad(f, 1)


def tangent(f):
    return lambda x, w: mx.jvp(f, [x, w], [mx.array(0.7), mx.array(-0.4)])[1][0]


TRANSFORMS = [lanes, gradient, gradient_of_w, tangent, mx.compile]
CHAINS = [
    *itertools.product(TRANSFORMS, repeat=1),
    *itertools.product(TRANSFORMS, repeat=2),
    (gradient, gradient, gradient_of_w),
    (lanes, gradient, gradient_of_w),
    (gradient, lanes, gradient),
    (tangent, lanes, gradient),
    (mx.compile, gradient, lanes),
    (gradient, mx.compile, lanes),
]
POINTS = [(0.5, 1.5), (3.0, 2.5), (25.0, 2.0)]


@pytest.mark.parametrize(
    "chain", CHAINS, ids=lambda c: "-".join(getattr(t, "__name__", "f") for t in c)
)
def test_compositions_of_transforms(chain):
    f, g = grow, grow_python
    for transform in reversed(chain):
        f, g = transform(f), transform(g)
    for x, w in POINTS:
        x, w = mx.array(x), mx.array(w)
        np.testing.assert_allclose(f(x, w).item(), g(x, w).item(), rtol=3e-4, atol=3e-4)


@pytest.mark.parametrize("checkpoint", [None, 1, 2, 5, 100, "sqrt"])
def test_checkpoints(checkpoint):
    def f(x, w):
        step = lambda c: {"x": mx.tanh(c["x"] * w), "n": c["n"] + 1}  # noqa: E731
        carry = mx.while_loop(
            lambda c: c["n"] < 7,
            step,
            {"x": x, "n": 0},
            max_iterations=10,
            checkpoint=checkpoint,
        )
        return carry["x"].sum()

    def expected(x, w):
        for _ in range(7):
            x = mx.tanh(x * w)
        return x.sum()

    x, w = mx.array([0.3, -1.2]), mx.array(0.9)
    for got, wanted in zip(mx.grad(f, (0, 1))(x, w), mx.grad(expected, (0, 1))(x, w), strict=True):
        np.testing.assert_allclose(np.array(got), np.array(wanted), rtol=1e-5)


@pytest.mark.parametrize(("limit", "count"), [(0, 0), (1, 1), (3, 3), (4, 4), (9, 4)])
def test_the_limit_ends_the_loop(limit, count):
    loop = lambda x: mx.while_loop(lambda c: c < 16.0, lambda c: 2 * c, x, max_iterations=limit)  # noqa: E731
    value, slope = mx.value_and_grad(loop)(mx.array(1.0))
    assert (value.item(), slope.item()) == (2.0**count, 2.0**count)
    assert mx.compile(mx.grad(loop))(mx.array(1.0)).item() == 2.0**count
    assert mx.grad(mx.compile(loop))(mx.array(1.0)).item() == 2.0**count


def test_iterations_after_the_end_do_not_run():
    """The body divides by zero after the end; neither value nor gradient sees it."""
    f = lambda x: mx.while_loop(lambda c: c > 0.0, lambda c: c - 1 / c, x, max_iterations=50)  # noqa: E731
    value, slope = mx.value_and_grad(f)(mx.array(1.0))
    assert value.item() == 0
    assert slope.item() == 2


def test_captured_arrays_and_conditions_of_arrays():
    def f(w, limit):
        return mx.while_loop(
            lambda c: c[1] < limit,
            lambda c: (c[0] @ w, c[1] + 1),
            (mx.ones(2), 0),
            max_iterations=8,
        )[0].sum()

    w = mx.array([[0.5, 0.25], [1.0, -0.5]])
    expected = mx.grad(lambda w: (mx.ones(2) @ w @ w @ w).sum())(w)
    got = mx.grad(f)(w, mx.array(3))
    np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-5)


def test_batch_elements_end_by_themselves():
    x = mx.array([0.5, 3.0, 25.0, 19.0])
    w = mx.array([1.5, 2.5, 2.0, 3.0])
    got = mx.vmap(mx.value_and_grad(grow, (0, 1)))(x, w)
    for i in range(4):
        value, slopes = mx.value_and_grad(grow_python, (0, 1))(x[i], w[i])
        np.testing.assert_allclose(got[0][i].item(), value.item(), rtol=1e-5)
        for a, b in zip(got[1], slopes, strict=True):
            np.testing.assert_allclose(a[i].item(), b.item(), rtol=1e-4)


def test_random_numbers_are_those_of_the_forward_pass():
    def f(x):
        step = lambda c: (c[0] * mx.random.uniform(), c[1] + 1)  # noqa: E731
        return mx.while_loop(lambda c: c[1] < 3, step, (x, 0), max_iterations=5)[0]

    mx.random.seed(3)
    value, slope = mx.value_and_grad(f)(mx.array(2.0))
    np.testing.assert_allclose(slope.item(), value.item() / 2, rtol=1e-6)


def test_exported(tmp_path):
    path = str(tmp_path / "f")
    mx.export_function(
        path,
        lambda x: mx.while_loop(lambda c: c < 9.0, lambda c: 2 * c, x, max_iterations=2),
        mx.array(1.0),
    )
    loaded = mx.import_function(path)
    assert loaded(mx.array(1.0))[0].item() == 4
    assert mx.grad(lambda x: loaded(x)[0])(mx.array(1.0)).item() == 4


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"max_iterations": -1}, ValueError, "max_iterations must not be negative, got -1"),
        ({"max_iterations": 1.5}, TypeError, ""),
        ({"max_iterations": 3, "checkpoint": 0}, ValueError, "checkpoint: got 0"),
        ({"checkpoint": 2}, ValueError, "checkpoint: needs max_iterations"),
    ],
)
def test_bad_options(options, error, text):
    with pytest.raises(error, match=r"^\[while_loop\] .*" + text):
        mx.while_loop(lambda c: c < 3, lambda c: c + 1, mx.array(0), **options)


def test_the_error_without_a_limit_names_it():
    loop = lambda x: mx.while_loop(lambda c: c < 9.0, lambda c: 2 * c, x)  # noqa: E731
    with pytest.raises(ValueError, match=r"^\[while_loop\] .*Set max_iterations"):
        mx.grad(loop)(mx.array(1.0))
