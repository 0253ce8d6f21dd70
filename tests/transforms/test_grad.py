"""grad, value_and_grad, vjp, jvp: arguments, trees, composition in any order, stop_gradient."""

import math

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, to_numpy
from tolerances import tolerance_of

F32 = tolerance_of("float32", 4)
F64 = tolerance_of("float64", 64)


def scalar(x):
    return mx.array(float(x))


@pytest.mark.covers("grad", "value_and_grad")
def test_grad_of_scalar_functions():
    assert mx.grad(lambda x: x * x)(scalar(3)).item() == 6.0
    assert mx.grad(mx.sin)(scalar(0)).item() == 1.0
    value, slope = mx.value_and_grad(lambda x: x**3)(scalar(2))
    assert (value.item(), slope.item()) == (8.0, pytest.approx(12.0))


def test_argnums_and_argnames():
    def f(x, y, *, z):
        return x * y + z * z

    a, b, c = scalar(2), scalar(3), scalar(4)
    assert mx.grad(f)(a, b, z=c).item() == 3.0
    assert mx.grad(f, argnums=1)(a, b, z=c).item() == 2.0
    both = mx.grad(f, argnums=(0, 1))(a, b, z=c)
    assert [g.item() for g in both] == [3.0, 2.0]
    assert mx.grad(f, argnums=[1])(a, b, z=c).item() == 2.0
    value, (positional, named) = mx.value_and_grad(f, argnums=0, argnames="z")(a, b, z=c)
    assert (value.item(), positional.item(), named["z"].item()) == (22.0, 3.0, 8.0)
    nothing, named = mx.grad(f, argnames=["z"])(a, b, z=c)
    assert nothing is None
    assert named["z"].item() == 8.0


def test_trees_of_parameters():
    parameters = {
        "layers": [{"w": scalar(2), "b": scalar(1)}, {"w": scalar(3), "b": scalar(0)}],
        "t": (scalar(5),),
    }

    def f(p, x):
        for layer in p["layers"]:
            x = layer["w"] * x + layer["b"]
        return x * p["t"][0]

    gradient = mx.grad(f)(parameters, scalar(1))
    assert gradient["layers"][0]["w"].item() == 15.0
    assert gradient["layers"][0]["b"].item() == 15.0
    assert gradient["layers"][1]["w"].item() == 15.0
    assert gradient["layers"][1]["b"].item() == 5.0
    assert isinstance(gradient["t"], tuple)
    assert gradient["t"][0].item() == 9.0


def test_auxiliary_results():
    (value, aux), slope = mx.value_and_grad(lambda x: (x * x, {"double": x * 2}))(scalar(3))
    assert (value.item(), aux["double"].item(), slope.item()) == (9.0, 6.0, 6.0)


def test_unused_arguments_have_zero_gradient():
    zero = mx.grad(lambda x, y: y * 2)(mx.ones((2, 3)), scalar(1))
    assert zero.tolist() == [[0.0] * 3] * 2


def test_integer_input_has_a_float_gradient():
    """An integer changed by a small amount is a float: the derivative is float32."""
    slope = mx.grad(lambda x: (x * x).sum())(mx.array([1, 2, 3]))
    assert slope.dtype == mx.float32
    assert slope.tolist() == [2.0, 4.0, 6.0]


def test_any_depth():
    """Derivatives of x⁵ up to the sixth, and of sin up to the fourth."""
    function, expected = (lambda x: x * x * x * x * x), 1.0
    for order in range(1, 7):
        function = mx.grad(function)
        expected *= 6 - order
        at_two = expected * 2.0 ** (5 - order) if order <= 5 else 0.0
        assert function(scalar(2)).item() == pytest.approx(at_two)
    wave = mx.sin
    for want in (math.cos(1), -math.sin(1), -math.cos(1), math.sin(1)):
        wave = mx.grad(wave)
        assert wave(scalar(1)).item() == pytest.approx(want, rel=1e-5)


def energy(x):
    return (mx.tanh(x) * mx.exp(-x * x)).sum() + mx.logsumexp(x) * x[0]


def hessian_reference(x):
    """Finite differences of the gradient, which test_op_gradients.py checks."""
    step, columns = 1e-2, []
    for k in range(len(x)):
        way = np.eye(len(x))[k] * step
        right, left = (
            to_numpy(mx.grad(energy)(mx.array((x + s * way).astype(np.float32)))) for s in (1, -1)
        )
        columns.append((right - left) / (2 * step))
    return np.stack(columns)


def test_hessian_in_four_ways():
    x = np.array([0.3, -0.7, 1.1], np.float32)
    at, basis = mx.array(x), mx.eye(3)

    def forward_over_reverse(way):
        return mx.jvp(mx.grad(energy), [at], [way])[1][0]

    def reverse_over_reverse(way):
        return mx.grad(lambda y: (mx.grad(energy)(y) * way).sum())(at)

    def reverse_over_forward(way):
        return mx.grad(lambda y: mx.jvp(energy, [y], [way])[1][0])(at)

    def forward_over_forward(way):
        inner = mx.vmap(
            lambda other: mx.jvp(lambda y: mx.jvp(energy, [y], [other])[1][0], [at], [way])[1][0]
        )
        return inner(basis)

    want = hessian_reference(x)
    for product in (
        forward_over_reverse,
        reverse_over_reverse,
        reverse_over_forward,
        forward_over_forward,
    ):
        got = to_numpy(mx.vmap(product)(basis))
        np.testing.assert_allclose(got, want, atol=2e-3, err_msg=product.__name__)


def test_jacobian_by_vmap():
    w = mx.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

    def f(x):
        return w @ x

    x = mx.array([0.1, 0.2, 0.3])
    by_rows = mx.vmap(lambda ct: mx.vjp(f, [x], [ct])[1][0])(mx.eye(2))
    by_columns = mx.vmap(lambda t: mx.jvp(f, [x], [t])[1][0], out_axes=1)(mx.eye(3))
    assert by_rows.tolist() == w.tolist()
    assert by_columns.tolist() == w.tolist()


def test_per_sample_gradients():
    xs, ys = mx.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), mx.array([1.0, 0.0, -1.0])
    w = mx.array([0.5, -0.5])

    def loss(w, x, y):
        return mx.square((w * x).sum() - y)

    rows = mx.vmap(mx.grad(loss), in_axes=(None, 0, 0))(w, xs, ys)
    want = [mx.grad(loss)(w, x, y).tolist() for x, y in zip(xs, ys, strict=True)]
    assert rows.tolist() == want
    total = mx.grad(lambda w: mx.vmap(loss, in_axes=(None, 0, 0))(w, xs, ys).sum())(w)
    assert_close(to_numpy(total), np.array(want).sum(0), F32)


def test_compositions_agree():
    """compile, vmap and grad in every order around one function."""

    def f(x):
        return mx.sin(x) * mx.exp(x / 2)

    x = mx.array([0.1, 0.9, -0.4])
    values = to_numpy(x).astype(np.float64)
    want = np.exp(values / 2) * (np.cos(values) + np.sin(values) / 2)
    for composed in (
        mx.vmap(mx.grad(f)),
        mx.grad(lambda x: mx.vmap(f)(x).sum()),
        mx.compile(mx.vmap(mx.grad(f))),
        mx.vmap(mx.compile(mx.grad(f))),
        mx.vmap(mx.grad(mx.compile(f))),
        mx.grad(mx.compile(lambda x: mx.vmap(f)(x).sum())),
        lambda x: mx.jvp(mx.vmap(f), [x], [mx.ones(3)])[1][0],
        mx.compile(lambda x: mx.jvp(f, [x], [mx.ones(3)])[1][0]),
    ):
        assert_close(to_numpy(composed(x)), want, F32)


def test_stop_gradient():
    slope = mx.grad(lambda x: x * mx.stop_gradient(x * x))(scalar(3))
    assert slope.item() == 9.0
    assert mx.grad(lambda x: mx.stop_gradient(x))(scalar(3)).item() == 0.0
    tangent = mx.jvp(lambda x: x + mx.stop_gradient(x), [scalar(3)], [scalar(1)])[1][0]
    assert tangent.item() == 1.0


def test_vjp_and_jvp_of_several():
    def f(x, y):
        return x * y, x.sum()

    x, y = mx.array([1.0, 2.0]), mx.array([3.0, 4.0])
    outputs, gradients = mx.vjp(f, [x, y], [mx.array([1.0, 10.0]), scalar(100)])
    assert [o.tolist() for o in outputs] == [[3.0, 8.0], 3.0]
    assert [g.tolist() for g in gradients] == [[103.0, 140.0], [1.0, 20.0]]
    outputs, tangents = mx.jvp(f, [x, y], [mx.ones(2), mx.zeros(2)])
    assert [t.tolist() for t in tangents] == [[3.0, 4.0], 2.0]


@pytest.mark.filterwarnings(r"ignore:\[grad\]")
def test_values_can_be_looked_at_inside_grad():
    """The arrays of grad carry data: Python may branch on them."""

    def f(x):
        return x * 2 if x.item() > 0 else x * 3

    assert mx.grad(f)(scalar(1)).item() == 2.0
    assert mx.grad(f)(scalar(-1)).item() == 3.0


def test_ties_share_the_gradient():
    """Equal extrema get equal parts, as in MLX; at a corner one side is taken."""
    assert mx.grad(lambda x: x.max())(mx.array([1.0, 3.0, 3.0])).tolist() == [0.0, 0.5, 0.5]
    assert mx.grad(lambda x: x.min(axis=0).sum())(mx.array([[1.0, 3.0], [1.0, 2.0]])).tolist() == [
        [0.5, 0.0],
        [0.5, 1.0],
    ]
    assert mx.grad(lambda x: mx.abs(x).sum())(mx.array([-2.0, 0.0, 2.0])).tolist() == [
        -1.0,
        0.0,
        1.0,
    ]


def test_products_with_zeros():
    assert mx.grad(lambda x: x.prod())(mx.array([2.0, 0.0, 3.0])).tolist() == [0.0, 6.0, 0.0]
    assert mx.grad(lambda x: x.prod())(mx.array([0.0, 0.0, 3.0])).tolist() == [0.0, 0.0, 0.0]
    assert mx.grad(lambda x: (x**2).sum())(mx.array([0.0, 3.0])).tolist() == [0.0, 6.0]


def test_where_hides_a_bad_branch():
    """No NaN leaks through a branch that was not taken, when its input is made safe."""
    x = mx.array([0.0, 4.0])
    slope = mx.grad(lambda x: mx.where(x > 0, mx.sqrt(mx.where(x > 0, x, 1)), 0).sum())(x)
    assert slope.tolist() == [0.0, 0.25]


def test_complex_gradients():
    """The gradient of a real function of z = x + iy is ∂f/∂x + i ∂f/∂y."""
    z = mx.array([1 + 2j, 0.5 - 1j])
    slope = mx.grad(lambda z: mx.square(mx.abs(z)).sum())(z)
    np.testing.assert_allclose(to_numpy(slope), 2 * to_numpy(z), rtol=1e-6)
    slope = mx.grad(lambda z: mx.real(z * z).sum())(z)
    np.testing.assert_allclose(to_numpy(slope), 2 * np.conj(to_numpy(z)), rtol=1e-6)


def test_training_a_line():
    """Gradient descent finds the line through noiseless points."""
    x = mx.linspace(-1, 1, 50)
    y = 3.0 * x - 0.5
    parameters = [scalar(0), scalar(0)]
    step = mx.value_and_grad(lambda p: mx.mean(mx.square(p[0] * x + p[1] - y)))
    for _ in range(200):
        loss, gradient = step(parameters)
        parameters = [p - 0.3 * g for p, g in zip(parameters, gradient, strict=True)]
        mx.eval(parameters)
    assert loss.item() < 1e-8
    assert parameters[0].item() == pytest.approx(3.0, abs=1e-4)
    assert parameters[1].item() == pytest.approx(-0.5, abs=1e-4)


def test_a_weight_that_many_products_use_turned():
    """The gradients of the turned weight are summed before they are turned back."""
    rng = np.random.default_rng(8)
    w = mx.array(rng.standard_normal((3, 4)), dtype=mx.float64)
    xs = [mx.array(rng.standard_normal((2, 4)), dtype=mx.float64) for _ in range(5)]

    def each(w):
        return sum(mx.square(x @ w.T).sum() for x in xs)

    def once(w):
        turned = w.T
        return sum(mx.square(x @ turned).sum() for x in xs)

    assert_close(mx.grad(each)(w), mx.grad(once)(w), F64)

    def again(f):
        return mx.grad(lambda w: mx.square(mx.grad(f)(w)).sum())

    assert_close(again(each)(w), again(once)(w), F64)
    lanes = mx.stack([w, 2 * w])
    assert_close(mx.vmap(mx.grad(each))(lanes), mx.vmap(mx.grad(once))(lanes), F64)


def test_turned_in_different_ways():
    x = mx.arange(8.0).reshape(2, 2, 2)
    weights = [mx.array(np.random.default_rng(i).standard_normal((2, 2, 2))) for i in range(3)]

    def f(x):
        turned = [x.transpose(1, 0, 2), x.transpose(2, 1, 0), x.transpose(1, 0, 2)]
        return sum((w * y).sum() for w, y in zip(weights, turned, strict=True))

    expected = sum(
        np.transpose(np.array(w), axes)
        for w, axes in zip(weights, [(1, 0, 2), (2, 1, 0), (1, 0, 2)], strict=True)
    )
    assert_close(mx.grad(f)(x), expected, F32)


def test_gradients_of_parts_of_one_array():
    """Each part's gradient is added where the part was, whatever else the array goes into."""
    x = mx.array(np.random.default_rng(3).standard_normal((6, 4)), dtype=mx.float64)
    rows = [slice(i, i + 1) for i in range(6)]
    ways = {
        "parts": lambda x: sum((i + 1) * mx.sin(x[row]).sum() for i, row in enumerate(rows)),
        "overlapping": lambda x: mx.square(x[1:] - x[:-1]).sum() + (x[::2] * x[1::2]).sum(),
        "part and whole": lambda x: mx.sin(x[2:5, ::-1]).sum() + mx.cos(x).sum() + x[0, 0],
        "whole and part": lambda x: mx.cos(x).sum() * x[3].sum() + x[..., 1].sum(),
        "halves": lambda x: sum(mx.square(part).sum() * k for k, part in enumerate(mx.split(x, 2))),
    }

    def by_difference(f, point):
        point = np.array(point)
        found = np.zeros_like(point)
        for place in np.ndindex(point.shape):
            step = np.zeros_like(point)
            step[place] = 1e-5
            up, down = (f(mx.array(point + s, dtype=mx.float64)).item() for s in (step, -step))
            found[place] = (up - down) / 2e-5
        return found

    for name, f in ways.items():
        slope = mx.grad(f)
        np.testing.assert_allclose(np.array(slope(x)), by_difference(f, x), atol=1e-8, err_msg=name)

        def squared(x, slope=slope):
            return mx.square(slope(x)).sum()

        np.testing.assert_allclose(
            np.array(mx.grad(squared)(x)), by_difference(squared, x), atol=1e-7, err_msg=name
        )
        np.testing.assert_allclose(np.array(mx.compile(slope)(x)), np.array(slope(x)), err_msg=name)
        lanes = mx.vmap(slope)(mx.stack([x, 2 * x]))
        np.testing.assert_allclose(np.array(lanes[1]), np.array(slope(2 * x)), err_msg=name)


@pytest.mark.parametrize("seed", range(40))
def test_values_read_on_the_way(seed):
    """Evaluating on the way changes nothing, also where constants are computed beside."""

    def followed(reads):
        draw = np.random.default_rng(seed)

        def f(x):
            values = [x, x * 1.0]
            for _ in range(draw.integers(4, 10)):
                one, other = (values[draw.integers(len(values))] for _ in range(2))
                ratio = mx.array(3.0) / (mx.array(float(draw.integers(3, 6))) - 1)
                values.append(
                    [
                        one * other,
                        one * ratio,
                        mx.sqrt(mx.abs(one) + mx.exp(ratio - 1)),
                        one / (mx.abs(other) + 1),
                        mx.where(ratio - 1 > mx.array(0.25), one, other) * 1.1,
                        mx.tanh(one) + mx.stop_gradient(other * ratio),
                    ][draw.integers(6)]
                )
                if draw.random() < 0.4 and reads:
                    mx.eval(values[-1])
            if reads:
                mx.eval(values[-1])
            return values[-1].sum()

        return f

    for x in (mx.array(1.7), mx.array([0.3, -1.2])):
        assert_close(mx.grad(followed(True))(x), mx.grad(followed(False))(x), F32)


def described(x):
    """Twice the sum of x."""
    return 2 * x.sum()


@pytest.mark.parametrize(
    "transform",
    [
        *(mx.grad, mx.value_and_grad, mx.vmap, mx.checkpoint, mx.custom_function, mx.compile),
        *(mx.jacfwd, mx.jacrev, mx.hessian, mx.fast.kernel),
    ],
)
def test_transformed_functions_say_what_they_are_of(transform):
    made = transform(described)
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        assert getattr(made, name) == getattr(described, name)
    assert callable(made.__wrapped__)
    assert getattr(transform(mx.compile(described)), "__name__") == "described"  # noqa: B009
    assert callable(transform(type("Callable", (), {"__call__": lambda self, x: x.sum()})()))


@pytest.mark.parametrize("kept", [True, False])
def test_parts_of_a_gradient_that_are_evaluated_meanwhile_count(kept):
    """The parts of a weight's gradient may be looked at before they are added."""
    w, xs, parts, calls = mx.ones((8, 8)), mx.ones((10, 1, 8)), [], 0

    @mx.custom_function
    def product(w, x):
        return x @ w

    @product.vjp
    def _(primals, cotangent, output):
        nonlocal calls
        calls += 1
        part = primals[1].T @ cotangent
        parts.append(part)
        if calls in (3, 9):
            mx.eval(parts)
        if calls >= 3 and not kept:
            parts.clear()
        return part, cotangent @ primals[0].T

    slope = mx.grad(lambda w: sum(product(w, xs[t]).sum() for t in range(10)))(w)
    assert slope.tolist() == [[10.0] * 8] * 8
