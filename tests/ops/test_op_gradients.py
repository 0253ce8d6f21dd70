"""vjp and jvp against finite differences, against each other, and differentiated again."""

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, assert_dtype, flatten, represent, to_numpy, to_umber, widen
from finite_differences import directional, inner
from op_table import dtypes_for_gradients, gather_records
from tolerances import gradient_tolerance_of, second_order_tolerance_of

RECORDS = [record for record in gather_records() if record.differentiable]
CASES = [
    pytest.param(record, dtype, id=f"{record.name}-{dtype}")
    for record in RECORDS
    for dtype in dtypes_for_gradients(record)
]


class Problem:
    """A record at one point, as a function of its differentiable inputs only."""

    def __init__(self, record, dtype, rng):
        self.record, self.dtype = record, dtype
        self.values = record.sample(rng, dtype)
        self.primals = [self.array(i, self.values[i]) for i in record.differentiable]
        self.directions = [self.direction(rng, i) for i in record.differentiable]

    def array(self, index, value):
        return to_umber(value, self.record.dtype_of_input(index, self.dtype))

    def direction(self, rng, index):
        value = self.values[index]
        way = rng.uniform(-1, 1, value.shape)
        if value.dtype.kind == "c":
            way = way + 1j * rng.uniform(-1, 1, value.shape)
        return represent(way, self.dtype)

    def function(self, *arrays):
        """The op on umber arrays, the other inputs held still."""
        inputs = [self.array(i, value) for i, value in enumerate(self.values)]
        for i, array in zip(self.record.differentiable, arrays, strict=True):
            inputs[i] = array
        return flatten(self.record.call(*inputs))

    def reference(self, *arrays):
        """The oracle on NumPy arrays in double precision."""
        inputs = [widen(value) for value in self.values]
        for i, array in zip(self.record.differentiable, arrays, strict=True):
            inputs[i] = array
        result = self.record.oracle(*inputs)
        return list(result) if isinstance(result, list | tuple) else [result]

    def expected_tangents(self):
        points = [widen(self.values[i]) for i in self.record.differentiable]
        return directional(self.reference, points, [widen(way) for way in self.directions])

    def tangents(self):
        ways = [to_umber(way, self.dtype) for way in self.directions]
        return mx.jvp(self.function, self.primals, ways)

    def cotangents(self, rng, outputs):
        name = self.record.result_of(self.dtype)
        drawn = []
        for output in outputs:
            value = rng.uniform(-1, 1, output.shape)
            if "complex" in name:
                value = value + 1j * rng.uniform(-1, 1, output.shape)
            drawn.append(represent(value, name))
        return drawn


def scale_of(*lists) -> float:
    """What an error in an inner product of these is measured against."""
    return 1.0 + float(np.prod([np.sqrt(inner(values, values)) for values in lists]))


@pytest.mark.covers("vjp", "jvp")
@pytest.mark.parametrize(("record", "dtype"), CASES)
def test_derivatives(record, dtype, rng):
    """J t is the finite difference; <ct, J t> = <Jᵀ ct, t>; shapes and dtypes are right."""
    problem = Problem(record, dtype, rng)
    # A cast to a coarser dtype rounds the derivative too.
    names = (dtype, record.result_of(dtype))
    tolerance = max(gradient_tolerance_of(name, record.tolerance) for name in names)
    expected = problem.expected_tangents()

    outputs, tangents = problem.tangents()
    for output, tangent, want in zip(outputs, tangents, expected, strict=True):
        assert_dtype(tangent, record.result_of(dtype), "tangent")
        assert_close(to_numpy(tangent), want, tolerance, "jvp")
        assert tangent.shape == output.shape

    cotangents = problem.cotangents(rng, outputs)
    name = record.result_of(dtype)
    _, pulled = mx.vjp(problem.function, problem.primals, [to_umber(c, name) for c in cotangents])
    for primal, gradient in zip(problem.primals, pulled, strict=True):
        assert gradient.shape == primal.shape
        assert_dtype(gradient, dtype, "gradient")

    gradients = [widen(to_numpy(gradient)) for gradient in pulled]
    ways = [widen(way) for way in problem.directions]
    forward = inner([widen(c) for c in cotangents], expected)
    backward = inner(gradients, ways)
    limit = tolerance.relative * scale_of(gradients, ways)
    assert abs(forward - backward) <= limit, f"<ct, J t> = {forward}, <Jᵀ ct, t> = {backward}"


def dtypes_for_curvature(record):
    """The widest real and the widest complex dtype."""
    for names in (("float64", "float32"), ("complex128", "complex64")):
        yield from [name for name in names if name in record.dtypes][:1]


@pytest.mark.parametrize(
    ("record", "dtype"),
    [
        pytest.param(record, dtype, id=f"{record.name}-{dtype}")
        for record in RECORDS
        if record.second_order
        for dtype in dtypes_for_curvature(record)
    ],
)
def test_second_derivatives(record, dtype, rng):
    """Forward over reverse against finite differences of the gradient; the other orders agree."""
    problem = Problem(record, dtype, rng)
    name = record.result_of(dtype)
    cotangents = [
        to_umber(c, name) for c in problem.cotangents(rng, problem.function(*problem.primals))
    ]
    ways = [to_umber(way, dtype) for way in problem.directions]

    def gradient(*primals):
        return mx.vjp(problem.function, list(primals), cotangents)[1]

    def gradient_at(*points):
        return [widen(to_numpy(g)) for g in gradient(*[to_umber(p, dtype) for p in points])]

    _, curvature = mx.jvp(gradient, problem.primals, ways)
    points = [widen(to_numpy(primal)) for primal in problem.primals]
    # A long step, since the gradient that is differenced carries rounding errors.
    directions = [widen(way) for way in problem.directions]
    wanted = directional(gradient_at, points, directions)
    tolerance = max(second_order_tolerance_of(each, record.tolerance) for each in (dtype, name))
    for got, want in zip(curvature, wanted, strict=True):
        assert_close(to_numpy(got), want, tolerance, "forward over reverse")

    # The curvature is symmetric: backwards along the ways it is the same.
    _, twice = mx.vjp(gradient, problem.primals, ways)
    for got, want in zip(twice, wanted, strict=True):
        assert_close(to_numpy(got), want, tolerance, "reverse over reverse")

    def slope(*primals):
        return mx.jvp(problem.function, list(primals), ways)[1]

    if record.compilable:
        compiled = mx.compile(lambda *primals: mx.jvp(gradient, list(primals), ways)[1])
        for got, want in zip(compiled(*problem.primals), wanted, strict=True):
            assert_close(to_numpy(got), want, tolerance, "compiled")

    _, bend = mx.jvp(slope, problem.primals, ways)
    across = inner([widen(to_numpy(c)) for c in cotangents], [widen(to_numpy(b)) for b in bend])
    along = inner(directions, wanted)
    limit = tolerance.relative * scale_of(directions, wanted)
    assert abs(across - along) <= limit, "forward over forward"


@pytest.mark.parametrize(
    ("record", "dtype"),
    [
        pytest.param(record, dtype, id=f"{record.name}-{dtype}")
        for record in RECORDS
        for dtype in ("float16", "bfloat16")
        if dtype in record.dtypes and record.result_of(dtype) == dtype
    ],
)
def test_half_gradients_keep_the_dtype(record, dtype, rng):
    """Gradients of half precision are of half precision, and near those of float32."""
    problem = Problem(record, dtype, rng)
    outputs, tangents = problem.tangents()
    cotangents = [to_umber(c, dtype) for c in problem.cotangents(rng, outputs)]
    _, pulled = mx.vjp(problem.function, problem.primals, cotangents)
    for tangent, want in zip(tangents, problem.expected_tangents(), strict=True):
        assert_dtype(tangent, dtype, "tangent")
        assert_close(to_numpy(tangent), want, gradient_tolerance_of(dtype, record.tolerance), "jvp")
    for gradient in pulled:
        assert_dtype(gradient, dtype, "gradient")
        assert np.isfinite(to_numpy(gradient)).all()


def test_trees_of_primals_and_outputs():
    x, y = mx.array([1.0, 2.0]), mx.array(3.0)

    def f(p, q):
        return {"product": p["x"] * q[0], "more": [p["x"], (q[0] * 2,)]}

    primals = [{"x": x}, (y,)]
    outputs, pulled = mx.vjp(f, primals, {"product": x, "more": [x, (y,)]})
    assert outputs["product"].tolist() == [3, 6]
    assert outputs["more"][1][0].item() == 6
    assert pulled[0]["x"].tolist() == [4, 8]
    assert isinstance(pulled[1], tuple)
    assert pulled[1][0].item() == 1 + 4 + 2 * 3
    again = mx.vjp(f, primals, [x, x, y])[1]
    assert again[0]["x"].tolist() == [4, 8]
    for tangents in (primals, [x, y]):
        values, pushed = mx.jvp(f, primals, tangents)
        assert values["product"].tolist() == [3, 6]
        assert pushed["product"].tolist() == [6, 12]
        assert pushed["more"][1][0].item() == 6
    outputs, pulled = mx.vjp(lambda x: ((x, x), [x * 2]), [x], [(x, x), [x]])
    assert isinstance(outputs, list)
    assert isinstance(outputs[0], tuple)
    assert pulled[0].tolist() == [4, 8]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
def test_arrays_of_numpy_are_differentiated(dtype):
    """Optimizers of other libraries call with their own arrays, and may write over them."""
    given = np.array([1, 2, 3], dtype=dtype)
    value, gradient = mx.value_and_grad(lambda x: (mx.abs(x) ** 2).sum())(given)
    assert value.item() == 14
    assert gradient.dtype == mx.array(given).dtype
    given[:] = 0
    np.testing.assert_allclose(np.array(gradient), [2, 4, 6], rtol=1e-6)
    one, two = mx.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(np.ones(2), mx.full((2,), 3.0))
    assert (one.tolist(), two.tolist()) == ([3, 3], [1, 1])


def test_integers_of_numpy_are_not_differentiated():
    with pytest.raises(ValueError, match="got ndarray, expected only arrays"):
        mx.grad(lambda x: x.sum())(np.arange(3))
