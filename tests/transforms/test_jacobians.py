"""jacfwd, jacrev, hessian, linearize, eval_shape, and auxiliary results by has_aux."""

import numpy as np
import pytest
import umber.core as mx
from arrays import to_numpy

BOTH = pytest.mark.parametrize("jacobian", [mx.jacfwd, mx.jacrev])


def close(got, want, tolerance=1e-5):
    np.testing.assert_allclose(to_numpy(got), np.asarray(want), rtol=tolerance, atol=tolerance)
    assert got.shape == np.asarray(want).shape


def function(x, y):
    return {"outer": mx.outer(mx.sin(x), y), "sum": (x * x).sum() + y[0]}


X, Y = mx.array([0.5, -1.0, 2.0]), mx.array([3.0, 0.25])
SIN, COS = np.sin(to_numpy(X)), np.cos(to_numpy(X))
WANT = {
    ("outer", 0): np.einsum("i,j,ik->ijk", COS, to_numpy(Y), np.eye(3)),
    ("outer", 1): np.einsum("i,jk->ijk", SIN, np.eye(2)),
    ("sum", 0): 2 * to_numpy(X),
    ("sum", 1): [1.0, 0.0],
}


@BOTH
def test_structure_is_that_of_the_result_then_of_the_arguments(jacobian):
    got = jacobian(function)(X, Y)
    assert set(got) == {"outer", "sum"}
    close(got["outer"], WANT["outer", 0])
    close(got["sum"], WANT["sum", 0])
    close(jacobian(function, argnums=1)(X, Y)["outer"], WANT["outer", 1])
    both = jacobian(function, argnums=(0, 1))(X, Y)
    assert isinstance(both["sum"], tuple)
    for (name, i), want in WANT.items():
        close(both[name][i], want)
    close(jacobian(function, argnums=[1])(X, Y)["sum"], WANT["sum", 1])


@BOTH
def test_trees_of_arguments(jacobian):
    got = jacobian(lambda p, n: (p["w"] * n, p["b"][0]))({"w": X, "b": [Y]}, 2)
    close(got[0]["w"], 2 * np.eye(3))
    close(got[0]["b"][0], np.zeros((3, 2)))
    close(got[1]["w"], np.zeros((2, 3)))
    close(got[1]["b"][0], np.eye(2))


@BOTH
def test_shapes_at_the_edges(jacobian):
    assert jacobian(lambda x: x * 3)(mx.array(2.0)).item() == 3.0
    assert jacobian(lambda x: x * 3)(mx.zeros((0, 2))).shape == (0, 2, 0, 2)
    assert jacobian(lambda x: x.sum())(mx.zeros((0, 2))).shape == (0, 2)
    assert jacobian(lambda x: x[:0])(X).shape == (0, 3)
    assert jacobian(lambda x: mx.zeros((2,)))(X).tolist() == [[0.0] * 3] * 2
    assert jacobian(lambda x: x > 0)(X).tolist() == [[0.0] * 3] * 3
    matrix = jacobian(lambda x: x.T)(mx.arange(6.0).reshape(2, 3))
    assert matrix.shape == (3, 2, 2, 3)
    assert (matrix.sum(axis=(0, 1)) == 1).all().item()


@BOTH
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "bool_"])
def test_dtypes(jacobian, dtype):
    x = mx.array([1, 0, 1]).astype(getattr(mx, dtype))
    got = jacobian(lambda x: x * 2)(x)
    assert got.dtype == (x.dtype if mx.issubdtype(x.dtype, mx.floating) else mx.float32)
    assert got.tolist() == [[2.0, 0, 0], [0, 2.0, 0], [0, 0, 2.0]]


@BOTH
def test_complex_numbers(jacobian):
    z = mx.array([1 + 2j, -0.5 + 1j])
    at = to_numpy(z)
    close(jacobian(lambda z: z * z * z)(z), np.diag(3 * at**2))
    close(jacobian(lambda z: mx.abs(z) ** 2)(z), np.diag(2 * at))
    # As grad: the gradient of a real function of z = x + iy is df/dx + i df/dy.
    close(
        jacobian(lambda z: (mx.abs(z) ** 2).sum())(z), mx.grad(lambda z: (mx.abs(z) ** 2).sum())(z)
    )
    close(jacobian(lambda x: mx.exp(1j * x))(X), np.diag(1j * np.exp(1j * to_numpy(X))))


HOLOMORPHIC = {
    "square": (lambda z: z * z, lambda z: 2 * z),
    "cube": (lambda z: z**3, lambda z: 3 * z**2),
    "exp": (mx.exp, np.exp),
    "sin": (mx.sin, np.cos),
    "log": (mx.log, lambda z: 1 / z),
    "sqrt": (mx.sqrt, lambda z: 0.5 / np.sqrt(z)),
    "reciprocal": (lambda z: 1 / z, lambda z: -1 / z**2),
    "rotation": (lambda z: 1j * z, lambda z: 1j + 0 * z),
    "composition": (lambda z: mx.exp(1j * z * z), lambda z: 2j * z * np.exp(1j * z * z)),
}


@pytest.mark.covers("jacfwd", "jacrev")
@pytest.mark.parametrize(("f", "derivative"), HOLOMORPHIC.values(), ids=HOLOMORPHIC)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_derivatives_of_holomorphic_functions(f, derivative, dtype):
    z = mx.array([1 + 2j, -0.5 + 1j, 0.3 - 0.7j]).astype(getattr(mx, dtype))
    want = derivative(to_numpy(z))
    slope = mx.grad(f, holomorphic=True)
    for one, expected in zip(z, want, strict=True):
        got = slope(one)
        assert got.dtype == z.dtype
        close(got, expected)
        value, got = mx.value_and_grad(f, holomorphic=True)(one)
        close(value, f(one))
        close(got, expected)
    close(mx.grad(lambda z: f(z).sum(), holomorphic=True)(z), want)
    close(mx.vmap(slope)(z), want)
    close(mx.compile(slope)(z[0]), want[0])
    close(mx.grad(mx.compile(f), holomorphic=True)(z[0]), want[0])
    close(mx.grad(mx.checkpoint(f), holomorphic=True)(z[0]), want[0])
    for jacobian in (mx.jacrev, mx.jacfwd):
        close(jacobian(f, holomorphic=True)(z), np.diag(want))


def test_higher_derivatives_of_holomorphic_functions():
    z = mx.array(0.5 - 1j)
    second = mx.grad(mx.grad(lambda z: z**3, holomorphic=True), holomorphic=True)
    close(second(z), 6 * to_numpy(z))
    close(mx.grad(second, holomorphic=True)(z), 6)
    close(mx.hessian(lambda z: z**3, holomorphic=True)(z), 6 * to_numpy(z))
    # The gradient of a real function of a derivative is df/dx + i df/dy, as of any.
    real = mx.grad(lambda z: mx.real(mx.grad(lambda z: z**3, holomorphic=True)(z)))(z)
    close(real, np.conj(6 * to_numpy(z)))


def test_holomorphic_functions_of_trees():
    p = {"a": mx.array(1 + 1j), "b": [mx.array(2 - 1j)]}
    (value, aux), gradient = mx.value_and_grad(
        lambda p, x: (p["a"] * p["b"][0] * x, "aux"), has_aux=True, holomorphic=True
    )(p, mx.array(2.0))
    assert aux == "aux"
    close(value, 2 * (1 + 1j) * (2 - 1j))
    close(gradient["a"], 2 * (2 - 1j))
    close(gradient["b"][0], 2 * (1 + 1j))
    one, two = mx.grad(lambda a, b: a * b * b, argnums=(0, 1), holomorphic=True)(p["a"], p["b"][0])
    close(one, (2 - 1j) ** 2)
    close(two, 2 * (1 + 1j) * (2 - 1j))


@pytest.mark.parametrize("transform", ["grad", "value_and_grad", "jacfwd", "jacrev", "hessian"])
def test_real_numbers_are_not_holomorphic(transform):
    make = getattr(mx, transform)
    z = mx.array(1 + 1j)
    for wrong in (mx.array(1.0), mx.array(1), {"w": mx.array(1.0)}):
        with pytest.raises(
            TypeError, match=r"complex arguments and results, got (float32|int32) for args\[0\]"
        ):
            make(lambda x: z, holomorphic=True)(wrong)
    with pytest.raises(
        TypeError, match=r"holomorphic requires complex .*got float32 for the function's"
    ):
        make(mx.abs, holomorphic=True)(z)


@BOTH
def test_auxiliary_results(jacobian):
    got, aux = jacobian(lambda x: (x * 2, {"seen": x.shape, "sum": x.sum()}), has_aux=True)(X)
    close(got, 2 * np.eye(3))
    assert (aux["seen"], aux["sum"].item()) == ((3,), 1.5)
    with pytest.raises(
        TypeError, match=r"\[jac(fwd|rev)\] has_aux requires .* a pair \(value, aux\), got array"
    ):
        jacobian(lambda x: x, has_aux=True)(X)


@BOTH
def test_composed_with_other_transforms(jacobian):
    w = mx.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    rows = mx.stack([X, X * 2])

    def f(x):
        return w @ mx.sin(x)

    want = [to_numpy(w) * np.cos(to_numpy(x)) for x in rows]
    close(mx.vmap(jacobian(f))(rows), want)
    close(mx.compile(jacobian(f))(X), want[0])
    close(jacobian(mx.compile(f))(X), want[0])
    close(jacobian(mx.checkpoint(f))(X), want[0])
    gradient = mx.grad(lambda x: jacobian(f)(x).sum())(X)
    close(gradient, -np.sin(to_numpy(X)) * to_numpy(w).sum(axis=0))
    second = jacobian(jacobian(f))(X)
    assert second.shape == (2, 3, 3)
    close(second.sum(axis=2), -to_numpy(w) * np.sin(to_numpy(X)))


def energy(x, y):
    return (mx.sin(x) * y.sum()).sum() + (x**3).sum() * y[0] ** 2


@pytest.mark.covers("hessian")
def test_hessian():
    got = mx.hessian(energy)(X, Y)
    close(got, np.diag(-SIN * 3.25 + 6 * to_numpy(X) * 9))
    both = mx.hessian(energy, argnums=(0, 1))(X, Y)
    assert [[h.shape for h in row] for row in both] == [[(3, 3), (3, 2)], [(2, 3), (2, 2)]]
    close(both[0][1], both[1][0].T)
    close(both[1][1], [[2 * (to_numpy(X) ** 3).sum(), 0], [0, 0]])
    tree = mx.hessian(lambda p: energy(p["x"], p["y"]))({"x": X, "y": Y})
    close(tree["x"]["y"], both[0][1])
    got, aux = mx.hessian(lambda x: ((x**3).sum(), "aux"), has_aux=True)(X)
    close(got, np.diag(6 * to_numpy(X)))
    assert aux == "aux"
    close(mx.vmap(mx.hessian(lambda x: (x**3).sum()))(X[:, None]), 6 * to_numpy(X)[:, None, None])


@pytest.mark.covers("linearize")
def test_linearize():
    calls = []

    def f(p, y):
        calls.append(1)
        return {"product": p["a"] * y, "number": mx.exp(y)}

    a, y = mx.array(3.0), mx.array(0.0)
    out, pushed = mx.linearize(f, {"a": a}, y)
    assert (out["product"].item(), out["number"].item()) == (0.0, 1.0)
    for da, dy in ((1.0, 0.0), (0.0, 1.0), (2.0, -1.0)):
        tangents = pushed({"a": mx.array(da)}, mx.array(dy))
        assert tangents["product"].item() == 3 * dy
        assert tangents["number"].item() == dy
    assert len(calls) == 1
    rows = mx.vmap(pushed)({"a": mx.ones(3)}, mx.arange(3.0))
    assert rows["product"].tolist() == [0.0, 3.0, 6.0]
    _, twice, aux = mx.linearize(lambda x: (x * x, "aux"), a, has_aux=True)
    assert (twice(mx.array(1.0)).item(), aux) == (6.0, "aux")
    slope = mx.grad(lambda x: mx.linearize(lambda v: v * v * v, x)[1](mx.array(1.0)))(a)
    assert slope.item() == 18.0


def test_linearize_refuses_other_tangents():
    _, pushed = mx.linearize(lambda p, y: p["a"] * y, {"a": X}, X)
    for tangents, message in (
        ((X,), r"tangents: got tuple of 1, expected a tuple of 2"),
        ((X, X), r"tangents\[0\]: got array, expected a dict of 'a'"),
        (
            ({"a": Y}, X),
            r"tangents\[0\]\['a'\]: got shape \(2,\), expected an array of shape \(3,\)",
        ),
        (({"a": X}, None), r"tangents\[1\]: got no array, expected an array of shape \(3,\)"),
    ):
        with pytest.raises(ValueError, match=r"\[linearize\] " + message):
            pushed(*tangents)


@pytest.mark.covers("eval_shape", "ShapeDtypeStruct")
def test_eval_shape_computes_nothing():
    huge = mx.ShapeDtypeStruct((1 << 20, 1 << 20), mx.float32)
    before = mx.get_peak_memory()
    got = mx.eval_shape(
        lambda x, n, *, p: {"y": (x @ x) * n, "p": p["w"][:3], "n": n}, huge, 3, p={"w": X}
    )
    assert got["y"] == huge
    assert got["p"] == mx.ShapeDtypeStruct(3, mx.float32)
    assert got["n"] == 3
    assert mx.get_peak_memory() <= before + 4096
    gradient = mx.eval_shape(mx.grad(lambda x: x.sum()), huge)
    assert (gradient.shape, gradient.dtype, gradient.ndim) == (huge.shape, mx.float32, 2)
    assert (gradient.size, gradient.nbytes) == (1 << 40, 1 << 42)
    assert repr(gradient) == "ShapeDtypeStruct(shape=(1048576, 1048576), dtype=float32)"
    assert len({gradient, huge}) == 1


def test_eval_shape_leaves_the_random_state():
    mx.random.seed(7)
    first = mx.random.uniform(shape=(4,)).tolist()
    mx.random.seed(7)
    assert mx.eval_shape(lambda: mx.random.uniform(shape=(5,))).shape == (5,)
    assert mx.random.uniform(shape=(4,)).tolist() == first


def test_eval_shape_refuses_values():
    with pytest.raises(ValueError, match="has no value"):
        mx.eval_shape(lambda x: x.item(), mx.array(1.0))
    with pytest.raises(ValueError, match=r"ShapeDtypeStruct"):
        mx.ShapeDtypeStruct((-1,), mx.float32)


def test_has_aux_of_grad_vjp_and_jvp():
    def f(x):
        return x * x, {"double": x * 2}

    x, one = mx.array(3.0), mx.array(1.0)
    slope, aux = mx.grad(f, has_aux=True)(x)
    assert (slope.item(), aux["double"].item()) == (6.0, 6.0)
    (value, aux), slope = mx.value_and_grad(f, has_aux=True)(x)
    assert (value.item(), aux["double"].item(), slope.item()) == (9.0, 6.0, 6.0)
    outputs, pulled, aux = mx.vjp(f, [x], [one], has_aux=True)
    assert (outputs[0].item(), pulled[0].item(), aux["double"].item()) == (9.0, 6.0, 6.0)
    outputs, pushed, aux = mx.jvp(f, [x], [one], has_aux=True)
    assert (outputs[0].item(), pushed[0].item(), aux["double"].item()) == (9.0, 6.0, 6.0)
    for call in (
        lambda: mx.grad(lambda x: x, has_aux=True)(x),
        lambda: mx.value_and_grad(lambda x: (x, 1, 2), has_aux=True)(x),
        lambda: mx.vjp(lambda x: [x, x], [x], [one], has_aux=True),
    ):
        with pytest.raises(TypeError, match="has_aux requires the function to return"):
            call()


def test_wrong_arguments():
    for make in (mx.jacfwd, mx.jacrev, mx.hessian):
        with pytest.raises(TypeError, match="got int, expected a function"):
            make(3)
        with pytest.raises(ValueError, match="argnums must not be negative, got -1"):
            make(abs, argnums=-1)
        with pytest.raises(
            ValueError, match="argnums contains 2, but the call has 2 positional arguments"
        ):
            make(lambda x, y: x, argnums=2)(X, Y)
        with pytest.raises(ValueError, match=r"args\[0\]\['a'\]: got float, expected only arrays"):
            make(lambda p: p["b"])({"a": 1.0, "b": X})
        with pytest.raises(
            ValueError, match=r"the function's result\[1\]: got str, expected only arrays"
        ):
            make(lambda x: (x, "no"))(X)
    for call in (lambda: mx.linearize(3), lambda: mx.eval_shape("f")):
        with pytest.raises(TypeError, match="expected a function"):
            call()
