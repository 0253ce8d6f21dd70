"""`associative_scan`: against sequential loops, under every transform, and its errors."""

import numpy as np
import pytest
import umber.core as mx


def compose(f, g):
    """Composition of affine functions, which is associative but not commutative."""
    return f[0] * g[0], g[0] * f[1] + g[1]


def recurrence(a, b, reverse=False):
    """The same in order, along the first axis."""
    h, rows = np.zeros_like(b[0]), np.zeros_like(b)
    for i in reversed(range(len(b))) if reverse else range(len(b)):
        h = a[i] * h + b[i]
        rows[i] = h
    return rows


def coefficients(length, *shape):
    rng = np.random.default_rng(length)
    return (
        rng.uniform(0.5, 1.5, size=(length, *shape)).astype(np.float32),
        rng.normal(size=(length, *shape)).astype(np.float32),
    )


@pytest.mark.covers("associative_scan")
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 7, 8, 31, 100])
def test_is_a_recurrence(length, reverse):
    a, b = coefficients(length, 3)
    expected = recurrence(a, b, reverse) if length else b
    for axis in (0, 1, -1):
        moved = [mx.array(np.moveaxis(x, 0, axis)) for x in (a, b)]
        _, h = mx.associative_scan(compose, tuple(moved), reverse=reverse, axis=axis)
        np.testing.assert_allclose(
            np.moveaxis(np.array(h), axis, 0), expected, rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize(
    ("fn", "ufunc"),
    [(mx.add, np.add), (mx.maximum, np.maximum), (mx.bitwise_xor, np.bitwise_xor)],
)
def test_is_accumulate(fn, ufunc):
    x = np.random.default_rng(0).integers(0, 100, size=(2, 13)).astype(np.int32)
    got = mx.associative_scan(fn, mx.array(x), axis=1)
    assert got.dtype == mx.int32
    np.testing.assert_array_equal(np.array(got), ufunc.accumulate(x, axis=1))


def test_matrix_products():
    x = np.random.default_rng(1).normal(size=(9, 3, 3)).astype(np.float32)
    got = mx.associative_scan(lambda a, b: b @ a, mx.array(x))
    expected = x[0]
    for i in range(9):
        expected = x[i] @ expected if i else expected
        np.testing.assert_allclose(np.array(got[i]), expected, rtol=1e-4, atol=1e-4)


def test_trees_keep_their_structure():
    elems = {"a": [mx.arange(5), None], "b": (np.arange(5.0),)}

    def fn(x, y):
        assert x["a"][1] is None
        return {"b": (x["b"][0] + y["b"][0],), "a": [x["a"][0] + y["a"][0], None]}

    got = mx.associative_scan(fn, elems)
    assert got["a"][0].tolist() == [0, 1, 3, 6, 10]
    assert got["a"][1] is None
    assert got["b"][0].tolist() == [0, 1, 3, 6, 10]


def test_depth_is_logarithmic():
    calls = []
    fn = lambda x, y: calls.append(x.shape) or x + y  # noqa: E731
    assert mx.associative_scan(fn, mx.ones(1 << 16))[-1].item() == 1 << 16
    assert len(calls) <= 2 * 16
    assert all(shape[0] > 0 for shape in calls)


def total(a, b, reverse=False):
    _, h = mx.associative_scan(compose, (a, b), reverse=reverse)
    return (h * mx.sin(mx.arange(h.shape[0], dtype=mx.float32))[:, None]).sum()


def total_in_order(a, b, reverse=False):
    step = lambda h, ab: (ab[0] * h + ab[1],) * 2  # noqa: E731
    _, h = mx.scan(step, mx.zeros(b.shape[1:], b.dtype), (a, b), reverse=reverse)
    return (h * mx.sin(mx.arange(h.shape[0], dtype=mx.float32))[:, None]).sum()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [1, 2, 6, 7])
def test_gradients(length, reverse):
    a, b = map(mx.array, coefficients(length, 2))

    def f(a, b):
        return total(a, b, reverse)

    def g(a, b):
        return total_in_order(a, b, reverse)

    for got, expected in zip(mx.grad(f, (0, 1))(a, b), mx.grad(g, (0, 1))(a, b), strict=True):
        np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-3, atol=1e-4)
    tangents = [mx.sin(a), mx.cos(b)]
    got, expected = mx.jvp(f, [a, b], tangents), mx.jvp(g, [a, b], tangents)
    np.testing.assert_allclose(got[1][0].item(), expected[1][0].item(), rtol=1e-3)
    got, expected = mx.hessian(f)(a, b), mx.hessian(g)(a, b)
    np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-3, atol=1e-3)


def test_gradient_by_finite_differences():
    a, b = (mx.array(x.astype(np.float64)) for x in coefficients(5, 1))
    gradient = mx.grad(total)(a, b)
    for i in range(5):
        step = mx.zeros_like(a)
        step[i] = 1e-6
        numeric = (total(a + step, b) - total(a - step, b)) / 2e-6
        np.testing.assert_allclose(gradient[i, 0].item(), numeric.item(), rtol=1e-6)


def test_batches_and_compiled():
    a, b = map(mx.array, coefficients(4, 7, 2))
    expected = mx.stack([total(a[i], b[i]) for i in range(4)])
    np.testing.assert_allclose(np.array(mx.vmap(total)(a, b)), np.array(expected), rtol=1e-4)
    np.testing.assert_allclose(mx.compile(total)(a[0], b[0]).item(), expected[0].item(), rtol=1e-4)
    got = mx.compile(mx.vmap(mx.grad(total)))(a, b)
    expected = mx.stack([mx.grad(total_in_order)(a[i], b[i]) for i in range(4)])
    np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("elems", "options", "error", "text"),
    [
        (mx.array(1.0), {}, IndexError, r"axis 0 is out of bounds for elems of shape \(\)"),
        (mx.ones((2, 3)), {"axis": 2}, IndexError, "axis 2 is out of bounds"),
        ([mx.ones(3), mx.ones(4)], {}, ValueError, r"3 for elems\[0\] and 4 for elems\[1\]"),
        ([mx.ones((3, 3)), mx.ones(3)], {"axis": 1}, IndexError, r"elems\[1\] of shape \(3"),
        ([], {}, ValueError, "elems holds no arrays"),
        ("text", {}, TypeError, "got str"),
    ],
)
def test_bad_sequences(elems, options, error, text):
    with pytest.raises(error, match=r"^\[associative_scan\] .*" + text):
        mx.associative_scan(lambda a, b: a, elems, **options)


@pytest.mark.parametrize(
    ("fn", "error", "text"),
    [
        (lambda a, b: (a + b).sum(), ValueError, r"returned shape \(\)"),
        (lambda a, b: a.astype(mx.float16), TypeError, "returned dtype float16"),
        (lambda a, b: (a, b), TypeError, "a tuple of 2, expected an array"),
        (lambda a, b: None, TypeError, "returned result as None"),
        (3, TypeError, "expected a function"),
    ],
)
def test_bad_functions(fn, error, text):
    with pytest.raises(error, match=r"^\[associative_scan\] .*" + text):
        mx.associative_scan(fn, mx.ones(5))


def test_an_error_of_the_function_is_raised():
    def fn(a, b):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mx.associative_scan(fn, mx.ones(5))
