"""`custom_root` and `custom_linear_solve` against direct solutions and finite differences."""

import numpy as np
import pytest
import umber.core as mx


def matrix(seed, n, symmetric=False):
    a = np.random.default_rng(seed).normal(size=(n, n))
    return mx.array(a @ a.T + n * np.eye(n) if symmetric else a + 2 * n * np.eye(n))


def vector(seed, n):
    return mx.array(np.random.default_rng(seed).normal(size=n))


def dot(x, y):
    return (x * y).sum()


def conjugate_gradients(matvec, b):
    """In a loop without a reverse mode."""

    def step(state):
        x, r, p, _ = state
        q = matvec(p)
        alpha = dot(r, r) / dot(p, q)
        new = r - alpha * q
        return x + alpha * p, new, new + dot(new, new) / dot(r, r) * p, state[3] + 1

    start = (mx.zeros_like(b), b, b, mx.array(0))
    proceed = lambda state: (dot(state[1], state[1]) > 1e-24) & (state[3] < 50)  # noqa: E731
    return mx.while_loop(proceed, step, start)[0]


def dense(matvec, b):
    return mx.linalg.solve(mx.jacfwd(matvec)(b), b)


def newton(f, x):
    """In a loop without a reverse mode."""
    step = lambda x: x - mx.linalg.solve(mx.jacfwd(f)(x), f(x))  # noqa: E731
    return mx.while_loop(lambda x: mx.abs(f(x)).max() > 1e-12, step, x)


def scalar_newton(f, x):
    return mx.while_loop(lambda x: mx.abs(f(x)) > 1e-12, lambda x: x - f(x) / mx.grad(f)(x), x)


def divide(g, y):
    return y / g(mx.ones_like(y))


def check_gradients(f, args, tolerance=1e-6):
    """All first derivatives against central differences along random directions."""
    rng = np.random.default_rng(5)
    for i, x in enumerate(args):
        gradient = mx.grad(f, i)(*args)
        direction = mx.array(rng.normal(size=x.shape))
        shifted = lambda t, i=i, d=direction: f(*args[:i], args[i] + t * d, *args[i + 1 :])  # noqa: E731
        numeric = (shifted(1e-5) - shifted(-1e-5)) / 2e-5
        exact = dot(gradient, direction).item()
        np.testing.assert_allclose(exact, numeric.item(), rtol=tolerance, atol=tolerance)
        tangents = [direction if j == i else mx.zeros_like(a) for j, a in enumerate(args)]
        pushed = mx.jvp(f, list(args), tangents)[1][0]
        np.testing.assert_allclose(pushed.item(), exact, rtol=1e-9, atol=1e-9)


# --- linear systems -------------------------------------------------------------------------


def symmetric_solution(a, b):
    a = (a + a.T) / 2
    x = mx.custom_linear_solve(lambda x: a @ x, b, conjugate_gradients, symmetric=True)
    return dot(mx.sin(x), mx.arange(b.size, dtype=mx.float64))


def general_solution(a, b):
    x = mx.custom_linear_solve(lambda x: a @ x, b, dense, transpose_solve=dense)
    return dot(mx.sin(x), mx.arange(b.size, dtype=mx.float64))


def direct(a, b, symmetric=False):
    a = (a + a.T) / 2 if symmetric else a
    return dot(mx.sin(mx.linalg.solve(a, b)), mx.arange(b.size, dtype=mx.float64))


SYSTEMS = {
    "symmetric": (symmetric_solution, lambda a, b: direct(a, b, True), matrix(0, 4, True)),
    "general": (general_solution, direct, matrix(1, 4)),
}


@pytest.mark.covers("custom_linear_solve")
@pytest.mark.parametrize("name", SYSTEMS)
def test_linear_systems(name):
    f, g, a = SYSTEMS[name]
    b = vector(2, 4)
    np.testing.assert_allclose(f(a, b).item(), g(a, b).item(), rtol=1e-9)
    check_gradients(f, (a, b))
    for i in (0, 1):
        got, expected = mx.grad(f, i)(a, b), mx.grad(g, i)(a, b)
        np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", SYSTEMS)
def test_second_derivatives(name):
    f, g, a = SYSTEMS[name]
    b = vector(2, 4)
    for outer, inner in ((mx.grad, mx.grad), (mx.jacfwd, mx.grad), (mx.grad, mx.jacfwd)):
        second = lambda f, outer=outer, inner=inner: outer(  # noqa: E731
            lambda a, b: dot(inner(f, 1)(a, b), mx.cos(b)) + inner(f)(a, b).sum(), 0
        )
        got, expected = second(f)(a, b), second(g)(a, b)
        np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", SYSTEMS)
def test_batches_of_systems(name):
    f, g, a = SYSTEMS[name]
    b = mx.stack([vector(i, 4) for i in range(3)])
    both = mx.stack([a, 2 * a, a + mx.eye(4, dtype=mx.float64)])
    for axes, args in (((None, 0), (a, b)), ((0, 0), (both, b)), ((0, None), (both, b[0]))):
        for take in (lambda f: f, lambda f: mx.value_and_grad(f, (0, 1))):
            got, expected = mx.vmap(take(f), axes)(*args), mx.vmap(take(g), axes)(*args)
            for x, y in zip(leaves(got), leaves(expected), strict=True):
                np.testing.assert_allclose(np.array(x), np.array(y), rtol=1e-7, atol=1e-9)
            compiled = mx.compile(mx.vmap(take(f), axes))(*args)
            for x, y in zip(leaves(compiled), leaves(expected), strict=True):
                np.testing.assert_allclose(np.array(x), np.array(y), rtol=1e-7, atol=1e-9)


def leaves(tree):
    return [x for item in tree for x in leaves(item)] if isinstance(tree, tuple) else [tree]


def test_gradient_of_a_batch():
    f, g, a = SYSTEMS["general"]
    b = mx.stack([vector(i, 4) for i in range(3)])
    total = lambda f: lambda a: mx.vmap(f, (None, 0))(a, b).sum()  # noqa: E731
    got, expected = mx.grad(total(f))(a), mx.grad(total(g))(a)
    np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-7, atol=1e-9)


def test_complex_systems():
    rng = np.random.default_rng(3)
    a = mx.array(rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)) + 4 * np.eye(3))
    b = mx.array(rng.normal(size=3) + 1j * rng.normal(size=3))

    def f(a, b):
        x = mx.custom_linear_solve(lambda x: a @ x, b, dense, transpose_solve=dense)
        return (mx.abs(x) ** 2).sum()

    def g(a, b):
        return (mx.abs(mx.linalg.solve(a, b)) ** 2).sum()

    for i in (0, 1):
        got, expected = mx.grad(f, i)(a, b), mx.grad(g, i)(a, b)
        np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-7, atol=1e-9)

    hermitian = lambda a: (a + mx.conj(a).T) / 2 + 4 * mx.eye(3)  # noqa: E731

    def symmetric(a, b):
        a = hermitian(a)
        x = mx.custom_linear_solve(lambda x: a @ x, b, dense, symmetric=True)
        return (mx.abs(x) ** 2).sum()

    for i in (0, 1):
        got = mx.grad(symmetric, i)(a, b)
        expected = mx.grad(lambda a, b: g(hermitian(a), b), i)(a, b)
        np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-7, atol=1e-9)


def test_systems_of_trees_and_aux():
    a = matrix(4, 3)

    def f(d, b):
        def matvec(x):
            return {"u": a @ x["u"] + x["v"].sum() * mx.ones(3, mx.float64), "v": d * x["v"]}

        def solve(matvec, b):
            v = b["v"] / matvec({"u": mx.zeros(3, mx.float64), "v": mx.ones(2, mx.float64)})["v"]
            u = mx.linalg.solve(a, b["u"] - v.sum())
            return {"u": u, "v": v}, {"steps": 3, "residual": b["u"] * d.sum()}

        def transpose_solve(vecmat, b):
            u = mx.linalg.solve(a.T, b["u"])
            return {"u": u, "v": (b["v"] - u.sum()) / d}, None

        x, aux = mx.custom_linear_solve(matvec, b, solve, transpose_solve, has_aux=True)
        assert aux["steps"] == 3
        return dot(x["u"], x["u"]) + x["v"].sum() + aux["residual"].sum()

    def expected(d, b):
        v = b["v"] / d
        u = mx.linalg.solve(a, b["u"] - v.sum())
        return dot(u, u) + v.sum() + mx.stop_gradient(b["u"] * d.sum()).sum()

    d, b = mx.array([2.0, 3.0], mx.float64), {"u": vector(5, 3), "v": vector(6, 2)}
    got, wanted = mx.value_and_grad(f, (0, 1))(d, b), mx.value_and_grad(expected, (0, 1))(d, b)
    np.testing.assert_allclose(got[0].item(), wanted[0].item(), rtol=1e-9)
    np.testing.assert_allclose(np.array(got[1][0]), np.array(wanted[1][0]), rtol=1e-8)
    for key in b:
        np.testing.assert_allclose(np.array(got[1][1][key]), np.array(wanted[1][1][key]), rtol=1e-8)


def test_forward_mode_needs_no_transpose():
    a, b = matrix(1, 4), vector(2, 4)
    f = lambda b: mx.custom_linear_solve(lambda x: a @ x, b, dense)  # noqa: E731
    np.testing.assert_allclose(np.array(mx.jacfwd(f)(b)), np.linalg.inv(np.array(a)), rtol=1e-7)
    with pytest.raises(ValueError, match=r"^\[custom_linear_solve\] .*transpose_solve.*symmetric"):
        mx.grad(lambda b: f(b).sum())(b)


# --- roots ----------------------------------------------------------------------------------


def cube_root(a):
    return mx.custom_root(lambda x: x**3 - a, mx.array(1.0, mx.float64), scalar_newton, divide)


@pytest.mark.covers("custom_root")
def test_scalar_roots():
    a = mx.array(8.0, mx.float64)
    assert cube_root(a).item() == pytest.approx(2)
    assert mx.grad(cube_root)(a).item() == pytest.approx(1 / 12)
    assert mx.grad(mx.grad(cube_root))(a).item() == pytest.approx(-2 / 9 * 8 ** (-5 / 3))
    assert mx.jvp(cube_root, [a], [mx.array(3.0)])[1][0].item() == pytest.approx(3 / 12)
    assert mx.compile(mx.grad(cube_root))(a).item() == pytest.approx(1 / 12)
    several = mx.array([1.0, 8.0, 27.0], mx.float64)
    np.testing.assert_allclose(np.array(mx.vmap(cube_root)(several)), [1, 2, 3], rtol=1e-9)
    np.testing.assert_allclose(
        np.array(mx.vmap(mx.grad(cube_root))(several)), [1 / 3, 1 / 12, 1 / 27], rtol=1e-9
    )


def vector_root(w, c):
    """Of a contraction: a fixed point."""
    f = lambda x: x - mx.tanh(w @ x + c) / 2  # noqa: E731
    return mx.custom_root(f, mx.zeros_like(c), newton, dense)


def vector_root_by_iteration(w, c):
    x = mx.zeros_like(c)
    for _ in range(80):
        x = mx.tanh(w @ x + c) / 2
    return x


def test_vector_roots():
    w, c = matrix(7, 3) / 12, vector(8, 3)
    weighted = lambda f: lambda w, c: dot(f(w, c), mx.arange(3, dtype=mx.float64))  # noqa: E731
    f, g = weighted(vector_root), weighted(vector_root_by_iteration)
    np.testing.assert_allclose(f(w, c).item(), g(w, c).item(), rtol=1e-9)
    check_gradients(f, (w, c))
    for i in (0, 1):
        np.testing.assert_allclose(
            np.array(mx.grad(f, i)(w, c)), np.array(mx.grad(g, i)(w, c)), rtol=1e-7, atol=1e-9
        )
    got, expected = (mx.hessian(lambda c, f=f: f(w, c))(c) for f in (f, g))
    np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-6, atol=1e-9)
    cs = mx.stack([c, -c, 2 * c])
    for transform in (
        lambda f: mx.vmap(mx.grad(f, (0, 1)), (None, 0)),
        lambda f: mx.compile(mx.vmap(mx.grad(f, (0, 1)), (None, 0))),
        lambda f: mx.grad(lambda w, cs: mx.vmap(f, (None, 0))(w, cs).sum(), (0, 1)),
    ):
        for got, expected in zip(transform(f)(w, cs), transform(g)(w, cs), strict=True):
            np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-7, atol=1e-9)


def test_an_iterative_tangent_solve():
    """A solver without a reverse mode, which `custom_linear_solve` gives one."""
    a, c = matrix(9, 3, True), vector(10, 3)

    def tangent_solve(g, y):
        return mx.custom_linear_solve(g, y, conjugate_gradients, symmetric=True)

    def f(c):
        # The gradient of a convex function, so that its Jacobian is symmetric.
        return mx.custom_root(
            lambda x: a @ x + x**3 - c, mx.zeros_like(c), newton, tangent_solve
        ).sum()

    check_gradients(f, (c,))


def test_roots_of_trees_and_aux():
    def solve(f, guess):
        return {"x": mx.sqrt(4 * guess["x"]), "y": (guess["y"][0] * 6,)}, (7, guess["x"] * 2)

    def f(a, start):
        equations = lambda t: {"x": t["x"] ** 2 - a, "y": (t["y"][0] - a * t["x"] + a - 4 + 2,)}  # noqa: E731

        def tangent_solve(g, y):
            one, zero = mx.ones_like(y["x"]), mx.zeros_like(y["x"])
            columns = [g({"x": p, "y": (q,)}) for p, q in ((one, zero), (zero, one))]
            jacobian = mx.stack([mx.stack([c["x"], c["y"][0]]) for c in columns], axis=1)
            x = mx.linalg.solve(jacobian, mx.stack([y["x"], y["y"][0]]))
            return {"x": x[0], "y": (x[1],)}

        guess = {"x": start, "y": (start,)}
        root, (count, array) = mx.custom_root(equations, guess, solve, tangent_solve, has_aux=True)
        assert count == 7
        return root["x"] + root["y"][0] + array

    # x = sqrt(a), y = a x - a + 2: at a = 4 these are 2 and 6.
    value, slopes = mx.value_and_grad(f, (0, 1))(mx.array(4.0), mx.array(1.0))
    assert value.item() == pytest.approx(10)
    assert slopes[0].item() == pytest.approx(0.25 + 2 + 4 * 0.25 - 1)
    assert slopes[1].item() == 0


def test_the_guess_and_captures_of_the_solver_are_constants():
    def f(a, start):
        solve = lambda f, x: mx.sqrt(a) + 0 * start  # noqa: E731
        return mx.custom_root(lambda x: x * x - a, start, solve, divide)

    slopes = mx.grad(f, (0, 1))(mx.array(4.0), mx.array(1.0))
    assert slopes[0].item() == 0.25
    assert slopes[1].item() == 0


# --- errors ---------------------------------------------------------------------------------

X = mx.ones(3)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: mx.custom_root(3, X, newton, dense), TypeError, "expected a function"),
        (lambda: mx.custom_root(mx.sin, X, newton, 3), TypeError, "expected a function"),
        (lambda: mx.custom_root(mx.sin, mx.arange(3), newton, dense), TypeError, "dtype int32"),
        (lambda: mx.custom_root(mx.sin, "x", newton, dense), TypeError, "initial_guess: got str"),
        (lambda: mx.custom_root(mx.sum, X, newton, dense), ValueError, r"f returned shape \(\)"),
        (lambda: mx.custom_root(lambda x: (x,), X, newton, dense), TypeError, "a tuple of 1"),
        (
            lambda: mx.custom_root(mx.sin, X, lambda f, x: x[:2], dense),
            ValueError,
            r"solve returned shape \(2,\)",
        ),
        (
            lambda: mx.custom_root(mx.sin, X, lambda f, x: x, dense, has_aux=True),
            TypeError,
            "has_aux",
        ),
        (
            lambda: mx.grad(
                lambda a: mx.custom_root(
                    lambda x: x * a, X, lambda f, x: x, lambda g, y: y[:2]
                ).sum()
            )(mx.array(2.0)),
            ValueError,
            r"tangent_solve returned shape \(2,\)",
        ),
    ],
)
def test_bad_roots(call, error, text):
    with pytest.raises(error, match=r"^\[custom_root\] .*" + text):
        call()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: mx.custom_linear_solve(3, X, dense), TypeError, "expected a function"),
        (lambda: mx.custom_linear_solve(mx.sin, X, dense, 3), TypeError, "expected a function"),
        (lambda: mx.custom_linear_solve(mx.sin, mx.arange(3), dense), TypeError, "dtype int32"),
        (
            lambda: mx.custom_linear_solve(mx.sum, X, dense),
            ValueError,
            r"matvec returned shape \(\)",
        ),
        (
            lambda: mx.custom_linear_solve(mx.sin, X, lambda f, b: b.astype(mx.float16)),
            TypeError,
            "solve returned dtype float16",
        ),
    ],
)
def test_bad_systems(call, error, text):
    with pytest.raises(error, match=r"^\[custom_linear_solve\] .*" + text):
        call()


def test_errors_of_the_users_functions_are_raised():
    def broken(*_):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        mx.custom_root(mx.sin, X, broken, dense)
    with pytest.raises(KeyError, match="mine"):
        mx.grad(lambda a: mx.custom_root(lambda x: x - a, X, lambda f, x: x, broken).sum())(X)
    with pytest.raises(KeyError, match="mine"):
        mx.grad(
            lambda b: mx.custom_linear_solve(
                lambda x: x, b, lambda f, b: b, transpose_solve=broken
            ).sum()
        )(X)
