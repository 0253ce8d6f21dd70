"""Control flow: against plain Python loops and JAX, under every transform, in bounded memory."""

import gc
import itertools
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
import umber.core as mx

MIB = 1 << 20


def arrays_of(tree):
    if isinstance(tree, mx.array):
        return [tree]
    if isinstance(tree, dict):
        return [leaf for item in tree.values() for leaf in arrays_of(item)]
    if isinstance(tree, list | tuple):
        return [leaf for item in tree for leaf in arrays_of(item)]
    return []


def assert_same(got, expected, tolerance=1e-5):
    got, expected = arrays_of(got), arrays_of(expected)
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        assert a.shape == b.shape
        assert a.dtype == b.dtype
        np.testing.assert_allclose(np.array(a), np.array(b), rtol=tolerance, atol=tolerance)


def python_scan(f, carry, xs, length=None, reverse=False):
    """What `scan` means."""
    length = xs.shape[0] if length is None else length
    rows = [None] * length
    for i in reversed(range(length)) if reverse else range(length):
        carry, rows[i] = f(carry, None if xs is None else xs[i])
    return carry, mx.stack(rows)


# --- what scan answers ----------------------------------------------------------------------


def decay(carry, x):
    carry = mx.tanh(carry * 0.9 + x)
    return carry, carry * x


XS = mx.array(np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32))
START = mx.array([0.1, -0.2, 0.3])


@pytest.mark.covers("scan")
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"unroll": 3},
        {"unroll": True},
        {"checkpoint": 2},
        {"checkpoint": "sqrt"},
        {"checkpoint": 3, "unroll": 2},
    ],
)
def test_scan_is_a_python_loop(reverse, options):
    got = mx.scan(decay, START, XS, reverse=reverse, **options)
    assert_same(got, python_scan(decay, START, XS, reverse=reverse))


@pytest.mark.parametrize("options", [{}, {"unroll": 3}, {"checkpoint": 2}, {"checkpoint": "sqrt"}])
@pytest.mark.parametrize("reverse", [False, True])
def test_gradient_of_scan(reverse, options):
    def loss(scan):
        def run(start, xs):
            carry, ys = scan(
                decay, start, xs, reverse=reverse, **(options if scan is mx.scan else {})
            )
            return (carry * carry).sum() + (ys * mx.arange(7)[:, None]).sum()

        return run

    got = mx.value_and_grad(loss(mx.scan), (0, 1))(START, XS)
    assert_same(got, mx.value_and_grad(loss(python_scan), (0, 1))(START, XS))


def test_scan_against_jax():
    jax = pytest.importorskip("jax")

    def body(np_):
        def f(carry, x):
            a, b = carry["a"], carry["b"]
            a = np_.sin(a) + x[0] * b
            return {"a": a, "b": b * 0.5 + x[1]}, (a * b, x[0])

        return f

    rng = np.random.default_rng(1)
    values = [rng.normal(size=s).astype(np.float32) for s in ((2,), (2,), (5, 2), (5, 2))]

    def run(np_, scan):
        def f(a, b, x, y):
            carry, ys = scan(body(np_), {"a": a, "b": b}, (x, y))
            return (carry["a"] * carry["b"]).sum() + (ys[0] ** 2).sum() + ys[1].sum()

        return f

    import jax.numpy as jnp

    expected = jax.value_and_grad(run(jnp, jax.lax.scan), (0, 1, 2, 3))(*map(jnp.array, values))
    got = mx.value_and_grad(run(mx, mx.scan), (0, 1, 2, 3))(*map(mx.array, values))
    np.testing.assert_allclose(got[0].item(), expected[0], rtol=1e-5)
    for a, b in zip(got[1], expected[1], strict=True):
        np.testing.assert_allclose(np.array(a), np.array(b), rtol=1e-4, atol=1e-5)


def test_trees_numbers_and_none():
    def f(carry, x):
        assert x is None
        return {"b": carry["b"] * 2, "a": (carry["a"][0] + 1, None)}, [carry["b"], None, 3]

    carry, ys = mx.scan(f, {"a": (0, None), "b": mx.array(1.0)}, length=4)
    assert carry["a"][0].item() == 4
    assert carry["a"][1] is None
    assert carry["b"].item() == 16
    assert ys[0].tolist() == [1, 2, 4, 8]
    assert ys[1] is None
    assert ys[2].tolist() == [3, 3, 3, 3]
    # A Python number takes the dtype that the function gives it.
    carry, _ = mx.scan(lambda c, x: (c + x, None), 0, mx.array([0.5, 1.5]))
    assert carry.dtype == mx.float32
    assert carry.item() == 2.0


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_no_iterations(shape):
    start = mx.ones(shape)
    f = lambda c, x: (c * x, c + x)  # noqa: E731
    carry, ys = mx.scan(f, start, mx.zeros((0, *shape)))
    assert_same((carry, ys), (start, mx.zeros((0, *shape))))
    gradient = mx.grad(lambda s: mx.scan(f, s, mx.zeros((0, *shape)))[0].sum())(start)
    assert_same(gradient, mx.ones(shape))
    assert_same(mx.fori_loop(3, 1, lambda i, c: c * 0, start), start)


def test_a_body_is_followed_once():
    calls = []

    def f(carry, x):
        calls.append(1)
        return carry + x, None

    carry, _ = mx.scan(f, mx.array(0), mx.arange(1000))
    assert carry.item() == 499500
    assert len(calls) == 1


def test_ten_thousand_iterations_and_back():
    def loss(rate):
        return mx.fori_loop(0, 10_000, lambda i, c: c * rate, mx.array(1.0))

    value, gradient = mx.value_and_grad(loss)(mx.array(0.9999))
    np.testing.assert_allclose(value.item(), 0.9999**1e4, rtol=1e-2)
    np.testing.assert_allclose(gradient.item(), 1e4 * 0.9999**9999, rtol=1e-2)


def test_matrices_indices_and_updates():
    weights = mx.array(np.random.default_rng(2).normal(size=(4, 4)).astype(np.float32) / 2)

    def f(carry, i):
        state, log = carry
        state = mx.softmax(weights @ state)
        log[i] = state.max()
        return (state, log), mx.argmax(state)

    def run(scan):
        return scan(f, (mx.ones(4), mx.zeros(6)), mx.arange(6))

    assert_same(run(mx.scan), run(python_scan))


# --- transforms ----------------------------------------------------------------------------


def by_scan(x, w):
    carry, ys = mx.scan(lambda c, t: (mx.sin(c * w) + t, c * t), x, mx.array([0.3, -0.5, 0.7]))
    return carry + ys.sum()


def by_python(x, w):
    total = 0
    for t in (0.3, -0.5, 0.7):
        total = total + x * t
        x = mx.sin(x * w) + t
    return x + total


def fori(x, w):
    return mx.fori_loop(0, 3, lambda i, c: mx.sin(c * w) * (i + 1), x)


def fori_python(x, w):
    for i in range(3):
        x = mx.sin(x * w) * (i + 1)
    return x


def conditional(x, w):
    return mx.cond(x > w, lambda a, b: mx.sin(a) * b, lambda a, b: a * a + w * b, x, w)


def conditional_python(x, w):
    return mx.where(x > w, mx.sin(x) * w, x * x + w * w)


def switched(x, w):
    index = (x > 0).astype(mx.int32) + (x > 1).astype(mx.int32)
    return mx.switch(index, [lambda a: a * w, lambda a: mx.exp(a) + w, mx.cos], x)


def switched_python(x, w):
    return mx.where(x > 1, mx.cos(x), mx.where(x > 0, mx.exp(x) + w, x * w))


def mapped(x, w):
    return mx.map(lambda t: mx.sin(t * x) * w, mx.array([0.5, 1.5, 2.5])).sum()


def mapped_python(x, w):
    return sum(mx.sin(t * x) * w for t in (0.5, 1.5, 2.5))


def nested(x, w):
    def outer(c, t):
        inner = mx.fori_loop(
            0, 2, lambda i, d: mx.cond(d > 0, lambda e: mx.sin(e) * w, lambda e: e * t, d), c
        )
        return inner + t, inner

    carry, ys = mx.scan(outer, x, mx.array([0.2, 0.4]), checkpoint=2)
    return carry * ys.sum()


def nested_python(x, w):
    total = 0
    for t in (0.2, 0.4):
        for _ in range(2):
            x = mx.where(x > 0, mx.sin(x) * w, x * t)
        total = total + x
        x = x + t
    return x * total


BODIES = {
    "scan": (by_scan, by_python),
    "fori_loop": (fori, fori_python),
    "cond": (conditional, conditional_python),
    "switch": (switched, switched_python),
    "map": (mapped, mapped_python),
    "nested": (nested, nested_python),
}


def lanes(f):
    """`f` of (x, w) summed over several x's, as vmap gives them."""
    return lambda x, w: mx.vmap(f, (0, None))(mx.stack([x, x + 0.9, x - 1.2]), w).sum()


def both_lanes(f):
    def g(x, w):
        return mx.vmap(f)(mx.stack([x, x - 0.5]), mx.stack([w, w + 0.5])).sum()

    return g


def gradient(f):
    return mx.grad(f)


def gradient_of_w(f):
    return mx.grad(f, 1)


def tangent(f):
    return lambda x, w: mx.jvp(f, [x, w], [mx.array(0.7), mx.array(-0.4)])[1][0]


def pulled(f):
    return lambda x, w: sum(mx.vjp(f, [x, w], [mx.array(1.5)])[1])


TRANSFORMS = [lanes, both_lanes, gradient, gradient_of_w, tangent, pulled, mx.compile]
CHAINS = [
    *itertools.product(TRANSFORMS, repeat=1),
    *itertools.product(TRANSFORMS, repeat=2),
    (gradient, gradient, gradient),
    (lanes, gradient, gradient_of_w),
    (gradient, lanes, gradient),
    (tangent, pulled, lanes),
    (pulled, tangent, gradient),
    (tangent, lanes, gradient),
    (mx.compile, gradient, lanes),
    (gradient, mx.compile, lanes),
    (lanes, mx.compile, gradient),
    (gradient, gradient, mx.compile),
    (both_lanes, tangent, gradient_of_w),
    (both_lanes, lanes, gradient),
]
BY_THREES = [lanes, gradient, tangent, mx.compile, mx.checkpoint]


def check_chain(name, chain, points):
    """The same transforms of a loop and of what it is in Python, the outermost named first."""
    f, g = BODIES[name]
    for transform in reversed(chain):
        f, g = transform(f), transform(g)
    message = " of ".join(getattr(t, "__name__", "compile") for t in chain)
    for x, w in points:
        x, w = mx.array(x), mx.array(w)
        np.testing.assert_allclose(
            f(x, w).item(), g(x, w).item(), rtol=2e-4, atol=2e-4, err_msg=message
        )


@pytest.mark.parametrize("name", BODIES)
def test_compositions_of_transforms(name):
    for chain in CHAINS:
        check_chain(name, chain, ((0.4, 1.3), (-0.6, 0.8)))


@pytest.mark.parametrize("name", BODIES)
def test_compositions_three_deep(name):
    for chain in itertools.product(BY_THREES, repeat=3):
        check_chain(name, chain, ((0.4, 1.3),))


def test_integer_carries_and_unused_values():
    def f(x, n, unused):
        carry = mx.fori_loop(0, 3, lambda i, c: (c[0] * 2, c[1] + 1, c[2] * 1.0), (x, n, unused))
        return carry[0] + carry[1].astype(mx.float32)

    x, n, unused = mx.array(1.5), mx.array(2), mx.array(4.0)
    got = mx.grad(f, (0, 1, 2))(x, n, unused)
    assert [g.item() for g in got] == [8.0, 1.0, 0.0]


def test_half_precision_sums_are_rounded_once():
    x = mx.array(1.0, dtype=mx.float16)

    def f(w):
        _, ys = mx.scan(lambda c, t: (c, t * w), mx.array(0), mx.full((4096,), 0.1, mx.float16))
        return ys.astype(mx.float32).sum()

    np.testing.assert_allclose(mx.grad(f)(x).item(), 4096 * float(np.float16(0.1)), rtol=1e-3)


# --- while --------------------------------------------------------------------------------


def collatz(n):
    def step(c):
        n, count = c
        return mx.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

    return mx.while_loop(lambda c: c[0] != 1, step, (n, mx.array(0)))[1]


@pytest.mark.covers("while_loop")
def test_while_loop():
    assert collatz(mx.array(27)).item() == 111
    assert collatz(mx.array(1)).item() == 0
    numbers = mx.array([1, 7, 27, 97])
    assert mx.vmap(collatz)(numbers).tolist() == [0, 16, 111, 118]
    assert mx.compile(mx.vmap(collatz))(numbers).tolist() == [0, 16, 111, 118]
    # The condition may be the same for all lanes while the rest differs.
    f = lambda x: mx.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1]  # noqa: E731
    assert mx.vmap(f)(mx.array([1.0, 3.0])).tolist() == [32.0, 96.0]


def test_while_loop_forwards():
    def power(x):
        return mx.while_loop(lambda c: c < 100, lambda c: c * x, x)

    values, tangents = mx.jvp(power, [mx.array(3.0)], [mx.array(1.0)])
    assert values[0].item() == 243.0
    assert tangents[0].item() == 5 * 3.0**4
    values, tangents = mx.jvp(mx.vmap(power), [mx.array([2.0, 3.0])], [mx.ones(2)])
    assert values[0].tolist() == [128.0, 243.0]
    assert tangents[0].tolist() == [7 * 64.0, 405.0]


def test_gradients_of_unknown_lengths_are_refused():
    with pytest.raises(ValueError, match=r"\[while_loop\] .* no gradient.*scan or a fori_loop"):
        mx.grad(lambda x: mx.while_loop(lambda c: c < 9, lambda c: c * x, x))(mx.array(2.0))
    limit = mx.ones(10_000, dtype=mx.int32).sum()
    with pytest.raises(ValueError, match=r"\[fori_loop\] .* no gradient"):
        mx.grad(lambda x: mx.fori_loop(0, limit, lambda i, c: c * x, x))(mx.array(2.0))


@pytest.mark.covers("fori_loop")
def test_bounds_of_fori_loop():
    body = lambda i, c: c + i  # noqa: E731
    for upper in (5, mx.array(5), mx.array([2, 3]).sum(), np.int32(5)):
        assert mx.fori_loop(2, upper, body, 0).item() == 9
    totals = mx.vmap(lambda n: mx.fori_loop(0, n, body, 0))(mx.array([0, 3, 5]))
    assert totals.tolist() == [0, 3, 10]
    assert (
        mx.fori_loop(2**40, 2**40 + 2, lambda i, c: i, mx.array(0, dtype=mx.int64)).item()
        == 2**40 + 1
    )


# --- branches ------------------------------------------------------------------------------


@pytest.mark.covers("cond", "switch")
def test_only_the_chosen_branch_runs():
    x = mx.array([1.0, 2.0])
    good = lambda v: v * 2  # noqa: E731
    bad = lambda v: mx.linalg.cholesky(mx.zeros((2, 2)) - v[:, None])[0]  # noqa: E731
    assert mx.cond(True, good, bad, x).tolist() == [2.0, 4.0]
    with pytest.raises(Exception, match="branch 0 of cond"):
        mx.eval(mx.cond(False, good, bad, x))
    for index, expected in ((-3, 1.0), (0, 1.0), (1, 2.0), (9, 3.0)):
        branches = [lambda v, k=k: v * k for k in (1.0, 2.0, 3.0)]
        assert mx.switch(mx.array(index), branches, mx.array(1.0)).item() == expected


@pytest.mark.covers("map")
def test_map_in_batches():
    xs = mx.array(np.random.default_rng(3).normal(size=(7, 2, 2)).astype(np.float32))
    f = lambda m: {"product": m @ m, "trace": mx.trace(m)}  # noqa: E731
    expected = mx.vmap(f)(xs)
    for batch_size in (None, 1, 2, 3, 7, 100):
        assert_same(mx.map(f, xs, batch_size), expected)
    loss = lambda v: mx.map(lambda m: (m @ m).sum(), v, 3).sum()  # noqa: E731
    assert_same(mx.grad(loss)(xs), mx.grad(lambda v: (v @ v).sum())(xs), 1e-4)


# --- random numbers ------------------------------------------------------------------------


def test_draws_differ_between_iterations():
    def draw():
        mx.random.seed(3)
        return mx.scan(lambda c, x: (c, mx.random.uniform(shape=(2,))), mx.array(0), length=50)[1]

    drawn = np.array(draw())
    assert len(np.unique(drawn)) == 100
    np.testing.assert_array_equal(drawn, np.array(draw()))
    both = mx.fori_loop(0, 4, lambda i, c: c + (mx.random.uniform() < 2), 0)
    assert both.item() == 4
    walk = mx.while_loop(
        lambda c: c[0] < 1, lambda c: (mx.random.uniform(), c[1] + 1), (mx.array(0.5), 0)
    )
    del walk
    rows = mx.vmap(lambda s: mx.scan(lambda c, x: (c, mx.random.uniform()), s, length=5)[1])(
        mx.zeros(3)
    )
    assert len(np.unique(np.array(rows))) == 15


# --- errors --------------------------------------------------------------------------------

A = mx.array(2.0)


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (
            lambda: mx.scan(lambda c, x: (c.astype(mx.float16), x), mx.ones(2), mx.ones(3)),
            TypeError,
            "carry with dtype float16, expected dtype float32",
        ),
        (
            lambda: mx.scan(lambda c, x: ({"w": mx.ones(3)}, x), {"w": mx.ones(2)}, mx.ones(3)),
            ValueError,
            r"\[scan\] the function returned carry\['w'\] with shape \(3,\).*expected shape \(2,\)",
        ),
        (
            lambda: mx.scan(lambda c, x: ([c], x), mx.ones(2), mx.ones(3)),
            TypeError,
            r"carry as a list of 1, expected an array",
        ),
        (lambda: mx.scan(lambda c, x: c, mx.ones(2), mx.ones(3)), TypeError, "expected a pair"),
        (lambda: mx.scan(lambda c, x: (c, x), 0), ValueError, "needs sequences or a length"),
        (
            lambda: mx.scan(lambda c, x: (c, x), 0, length=-1),
            ValueError,
            r"\[scan\] length must not be negative, got -1",
        ),
        (
            lambda: mx.map(lambda x: x, mx.ones(3), -1),
            ValueError,
            r"\[map\] batch_size must not be negative, got -1",
        ),
        (
            lambda: mx.scan(lambda c, x: (c, x), 0, (mx.ones(2), mx.ones(3))),
            ValueError,
            r"xs\[1\] has 3 rows, but other sequences have 2",
        ),
        (
            lambda: mx.scan(lambda c, x: (c, x), 0, mx.ones(2), 3),
            ValueError,
            "xs has 2 rows, but length is 3",
        ),
        (lambda: mx.scan(lambda c, x: (c, x), 0, mx.array(2)), ValueError, "xs is a scalar"),
        (lambda: mx.scan(3, 0, mx.ones(2)), TypeError, "expected a function"),
        (lambda: mx.scan(lambda c, x: (c, "y"), 0, mx.ones(2)), TypeError, "y: got str"),
        (
            lambda: mx.scan(lambda c, x: (c, x), 0, mx.ones(2), checkpoint=0),
            ValueError,
            "checkpoint",
        ),
        (lambda: mx.scan(lambda c, x: (c, x), 0, mx.ones(2), unroll=0), ValueError, "unroll"),
        (
            lambda: mx.fori_loop(0, 3, lambda i, c: c[None], mx.ones(2)),
            ValueError,
            r"\[fori_loop\].*carry with shape \(1, 2\), expected shape \(2,\)",
        ),
        (lambda: mx.fori_loop(0, 2.5, lambda i, c: c, 0), TypeError, r"\[fori_loop\] upper"),
        (
            lambda: mx.fori_loop(0, mx.array([1, 2]), lambda i, c: c, 0),
            ValueError,
            r"\[fori_loop\] upper must be a scalar, got shape \(2,\)",
        ),
        (
            lambda: mx.fori_loop(0, 3, lambda i, c: c.astype(mx.float16), mx.ones(2)),
            TypeError,
            r"\[fori_loop\].*carry with dtype float16, expected dtype float32",
        ),
        (lambda: mx.while_loop(lambda c: c > 1, lambda c: c, mx.ones(2)), ValueError, "scalar"),
        (
            lambda: mx.while_loop(lambda c: c > 1, lambda c: c[None], mx.array(2)),
            ValueError,
            r"\[while_loop\].*carry with shape \(1,\), expected shape \(\)",
        ),
        (
            lambda: mx.while_loop(lambda c: c > 1, lambda c: c.astype(mx.int8), mx.array(2)),
            TypeError,
            r"\[while_loop\].*carry with dtype int8, expected dtype int32",
        ),
        (lambda: mx.cond(mx.ones(2), lambda: 1, lambda: 2), ValueError, r"\[cond\] pred"),
        (
            lambda: mx.cond(True, lambda: mx.ones(2), lambda: mx.ones(3)),
            ValueError,
            r"\[cond\] branches return result with different shapes: \(3,\) and \(2,\)",
        ),
        (
            lambda: mx.cond(True, lambda: {"y": A}, lambda: {"y": A.astype(mx.float16)}),
            TypeError,
            r"\[cond\] branches return result\['y'\] with different dtypes: float16 and float32",
        ),
        (
            lambda: mx.switch(mx.array(0), [lambda: A, lambda: A, lambda: A[None]]),
            ValueError,
            r"\[switch\] branches return result with different shapes: \(\) and \(1,\)",
        ),
        (
            lambda: mx.switch(mx.array([0]), [lambda: 1]),
            ValueError,
            r"\[switch\] index must be a scalar, got shape \(1,\)",
        ),
        (lambda: mx.cond(True, lambda: (1, 2), lambda: 1), TypeError, "a tuple of 2"),
        (lambda: mx.switch(mx.array(0), []), ValueError, r"\[switch\]"),
        (lambda: mx.switch(mx.array(0.5), [lambda: 1]), TypeError, r"\[switch\] index"),
        (lambda: mx.map(lambda x: x, mx.ones(3), 0), ValueError, "batch_size"),
        (lambda: mx.map(lambda x: x, ()), ValueError, r"\[map\]"),
    ],
)
def test_errors(call, error, match):
    with pytest.raises(error, match=match) as raised:
        call()
    # Shapes are no matter of dtypes, whose class of error is both.
    assert error is not ValueError or not isinstance(raised.value, TypeError)


@pytest.mark.parametrize("read", [lambda c: c.item(), bool, print, np.array])
def test_reading_inside_a_body_says_what_to_do(read):
    def f(carry, x):
        read(carry)
        return carry, x

    with pytest.raises(ValueError, match=r"no value: it is traced by scan\..*mx.cond"):
        mx.scan(f, mx.array(1.0), mx.ones(2))


def test_a_failure_says_in_which_iteration():
    def f(carry, i):
        return carry, mx.arange(3)[i]

    with pytest.raises(IndexError, match="in iteration 3 of scan"):
        mx.eval(mx.scan(f, mx.array(0), mx.arange(6))[1])
    # Nothing was changed: the next evaluation fails alike.
    _, ys = mx.scan(f, mx.array(0), mx.arange(6))
    for _ in range(2):
        with pytest.raises(IndexError):
            mx.eval(ys)


# --- memory --------------------------------------------------------------------------------


def peak(run):
    gc.collect()
    mx.clear_cache()
    mx.reset_peak_memory()
    base = mx.get_active_memory()
    mx.eval(run())
    return mx.get_peak_memory() - base


def test_memory_does_not_grow_with_iterations():
    start = mx.ones((64, 64))
    mx.eval(start)
    few, many = (
        peak(lambda n=n: mx.fori_loop(0, n, lambda i, c: mx.tanh(c @ c) + 1, start))
        for n in (4, 400)
    )
    assert many <= few + 4096


def test_memory_of_a_gradient():
    size = 1 << 14  # 64 KiB
    start = mx.ones(size)
    mx.eval(start)

    def run(length, checkpoint=None):
        def loss(s):
            return mx.scan(lambda c, x: (mx.sin(c), None), s, length=length, checkpoint=checkpoint)[
                0
            ].sum()

        return peak(lambda: mx.grad(loss)(start))

    assert 400 * 4 * size <= run(400) <= 420 * 4 * size
    assert run(400, 20) <= 60 * 4 * size
    assert run(400, "sqrt") <= 60 * 4 * size


def test_memory_of_ten_thousand_iterations():
    """Plainly a carry an iteration is kept, with "sqrt" twice the root of their number."""
    start = mx.ones(1 << 10)
    mx.eval(start)

    def run(checkpoint):
        def loss(s):
            body = lambda c, x: (mx.sin(c) + x, None)  # noqa: E731
            xs = mx.arange(10_000, dtype=mx.float32) * 1e-4
            return mx.scan(body, s, xs, checkpoint=checkpoint)[0].sum()

        return peak(lambda: mx.grad(loss)(start))

    # The numbers that are read, and their copies in rows.
    read = 4 * 10_000 * 4
    assert 10_000 * start.nbytes <= run(None) <= 10_010 * start.nbytes + read
    assert run("sqrt") <= 220 * start.nbytes + read


def test_constants_of_a_gradient_are_not_kept():
    weights = mx.ones((256, 256)) / 300
    mx.eval(weights)

    def loss(w):
        return mx.fori_loop(0, 200, lambda i, c: w @ c, mx.ones(256)).sum()

    assert peak(lambda: mx.grad(loss)(weights)) <= 8 * weights.nbytes

    # Nor are weights that are carried through unchanged.
    def carried(w):
        return mx.fori_loop(0, 200, lambda i, c: (c[0], c[0] @ c[1]), (w, mx.ones(256)))[1].sum()

    assert peak(lambda: mx.grad(carried)(weights)) <= 8 * weights.nbytes
    assert_same(mx.grad(carried)(weights), mx.grad(loss)(weights))


def test_a_result_does_not_keep_residuals():
    start = mx.ones(1 << 14)
    mx.eval(start)
    base = mx.get_active_memory()

    def loss(s):
        carry, _ = mx.scan(lambda c, x: (mx.sin(c), None), s, length=100)
        return carry.sum(), carry

    (value, carry), gradient = mx.value_and_grad(loss)(start)
    mx.eval(value, carry, gradient)
    gc.collect()
    assert mx.get_active_memory() - base <= 3 * start.nbytes


def test_a_loop_can_be_interrupted():
    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    loop = mx.fori_loop(0, 10**9, lambda i, c: c * 0.5 + 1, mx.array(1.0))
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            mx.eval(loop)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_lines_are_named_in_errors(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import umber.core as mx\n"
        "def body(carry, i):\n"
        "    return carry, mx.arange(3)[i]\n"
        "_, ys = mx.scan(body, mx.array(0), mx.arange(6))\n"
        "mx.eval(ys)\n"
    )
    done = subprocess.run(
        [sys.executable, program],
        env={**os.environ, "UMBER_TRACEBACK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "program.py:3\nin iteration 3 of scan" in done.stderr


# --- JAX -----------------------------------------------------------------------------------


def test_the_others_against_jax():
    jax = pytest.importorskip("jax")
    import jax.numpy as jnp

    def programs(np_, lax, vmap, grad):
        def power(x, n):
            return lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[1] * x), (0, x))[1]

        def fori(x):
            return lax.fori_loop(1, 5, lambda i, c: np_.sin(c) * i, x)

        def branch(i, x):
            return lax.switch(i, [np_.sin, lambda v: v * v, lambda v: v / 3], x)

        x = np_.array([0.5, 1.5, -0.25])
        return [
            vmap(power)(x, np_.array([0, 3, 5])),
            vmap(fori)(x),
            vmap(grad(fori))(x),
            vmap(grad(grad(fori)))(x),
            vmap(branch)(np_.array([-1, 1, 7]), x),
            vmap(grad(branch, 1))(np_.array([-1, 1, 7]), x),
            lax.map(lambda v: grad(fori)(v) * v, x, batch_size=2),
            grad(lambda v: lax.cond(v > 1, fori, lambda u: u * 3, v))(np_.array(1.25)),
            lax.scan(lambda c, v: (c + v, c), 0.0, x, reverse=True)[1],
        ]

    got = programs(mx, mx, mx.vmap, lambda f, n=0: mx.grad(f, n))
    for ours, theirs in zip(got, programs(jnp, jax.lax, jax.vmap, jax.grad), strict=True):
        np.testing.assert_allclose(np.array(ours), np.array(theirs), rtol=1e-4, atol=1e-5)


def test_gradients_beside_a_loop_that_none_passes_through():
    z = mx.array(1.0)

    def stopped(z):
        return mx.while_loop(lambda c: c < 3, lambda c: c * 2, mx.stop_gradient(z)) * z

    def counted(z):
        return mx.while_loop(lambda c: c < z * 3, lambda c: c + 1, mx.array(0)) * z

    def unread(z):
        return (
            mx.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * z), (mx.array(0), z))[0]
            * z
        )

    assert mx.grad(stopped)(z).item() == 4
    assert mx.grad(counted)(z).item() == 3
    assert mx.grad(unread)(z).item() == 3
    with pytest.raises(ValueError, match="a loop of unknown length has no gradient"):
        mx.grad(lambda z: mx.while_loop(lambda c: c < 3, lambda c: c * 2, z))(z)


def nested_cond(depth, choose):
    f = mx.square
    for _ in range(depth):
        f = (lambda inner: lambda x: mx.cond(choose(x), inner, lambda x: 3 * x, x))(f)
    return f


def test_branches_in_branches_are_followed_once():
    """Twice a level would be a million times here."""
    x, rows, flag = mx.array(1.5), mx.array([1.5, -2.0]), mx.array(True)
    f = nested_cond(20, lambda x: x > -9)
    assert mx.grad(f)(x).item() == 3
    assert mx.grad(mx.grad(f))(x).item() == 2
    assert mx.jvp(f, [x], [x])[1][0].item() == 4.5
    assert mx.compile(mx.grad(f))(x).item() == 3
    assert mx.vmap(f)(rows).tolist() == [2.25, 4]
    shared = nested_cond(20, lambda x: flag)
    assert mx.vmap(shared)(rows).tolist() == [2.25, 4]
    assert mx.vmap(mx.grad(shared))(rows).tolist() == [3, -4]


def test_branches_with_different_derivatives():
    """Where one branch has no derivative with respect to an operand, it is zero there."""
    f = lambda flag, x, y: mx.cond(flag, lambda x, y: x * 2, lambda x, y: y * y, x, y)  # noqa: E731
    for flag, expected in ((True, (2.0, 0.0)), (False, (0.0, 6.0))):
        slopes = mx.grad(f, argnums=(1, 2))(mx.array(flag), mx.array(1.0), mx.array(3.0))
        assert tuple(slope.item() for slope in slopes) == expected
        moved = mx.jvp(
            lambda x, y: f(mx.array(flag), x, y),  # noqa: B023
            [mx.array(1.0), mx.array(3.0)],
            [mx.array(1.0), mx.array(0.0)],
        )[1][0]
        assert moved.item() == expected[0]
