"""Compiled functions give what the plain ones give, and trace once for each shape and dtype."""

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, assert_dtype, flatten, to_numpy, to_umber
from op_table import gather_records
from tolerances import tolerance_of
from traces import Traces

RECORDS = [record for record in gather_records() if record.arity and record.compilable]


def dtypes_for(record):
    """One inexact and one integer dtype."""
    chosen = [name for name in ("float32", "int32") if name in record.dtypes]
    return chosen or record.dtypes[:1]


@pytest.mark.covers("compile")
@pytest.mark.parametrize(
    ("record", "dtype"),
    [pytest.param(r, dtype, id=f"{r.name}-{dtype}") for r in RECORDS for dtype in dtypes_for(r)],
)
def test_compiled(record, dtype, rng):
    compiled = mx.compile(lambda *x: tuple(flatten(record.call(*x))))
    name = record.result_of(dtype)
    for _ in range(2):
        inputs = [
            to_umber(value, record.dtype_of_input(i, dtype))
            for i, value in enumerate(record.sample(rng, dtype))
        ]
        results = flatten(compiled(*inputs))
        for result, want in zip(results, flatten(record.call(*inputs)), strict=True):
            assert_dtype(result, name)
            tolerance = tolerance_of(name, record.tolerance)
            assert_close(to_numpy(result), to_numpy(want), tolerance, record.name)


@pytest.mark.parametrize(
    "record",
    [pytest.param(r, id=r.name) for r in RECORDS if r.differentiable and "float32" in r.dtypes],
)
def test_compiled_gradient(record, rng):
    """compile around vjp."""
    values = record.sample(rng, "float32")
    inputs = [to_umber(v, record.dtype_of_input(i, "float32")) for i, v in enumerate(values)]

    def gradient(*arrays):
        def function(*primals):
            full = list(arrays)
            for i, primal in zip(record.differentiable, primals, strict=True):
                full[i] = primal
            return flatten(record.call(*full))

        primals = [arrays[i] for i in record.differentiable]
        outputs = function(*primals)
        return tuple(mx.vjp(function, primals, [mx.ones_like(o) for o in outputs])[1])

    results = mx.compile(gradient)(*inputs)
    for result, want in zip(results, gradient(*inputs), strict=True):
        tolerance = tolerance_of("float32", 4 * record.tolerance)
        assert_close(to_numpy(result), to_numpy(want), tolerance, record.name)


def test_cache_hits_by_shape_and_dtype():
    traced = Traces(lambda x: mx.exp(x) + 1)
    for _ in range(3):
        traced(mx.ones((2, 3)))
    assert traced.count == 1
    traced(mx.ones((3, 2)))
    assert traced.count == 2
    traced(mx.ones((2, 3), dtype=mx.float16))
    assert traced.count == 3
    traced(mx.zeros((2, 3)))
    assert traced.count == 3


def test_cache_looks_at_constants():
    """Python numbers and strings are part of what makes two calls the same."""
    traced = Traces(lambda x, power: x**power)
    x = mx.array([1.0, 2.0])
    assert traced(x, 2).tolist() == [1.0, 4.0]
    assert traced(x, 3).tolist() == [1.0, 8.0]
    assert traced(x, 2).tolist() == [1.0, 4.0]
    assert traced.count == 2


def test_shapeless_takes_every_shape():
    traced = Traces(lambda x: mx.abs(x) * 2, shapeless=True)
    assert traced(mx.array([-1.0, 2.0])).tolist() == [2.0, 4.0]
    assert traced(mx.array([-1.0, -3.0, 5.0])).tolist() == [2.0, 6.0, 10.0]
    assert traced(mx.array([[-1.0], [4.0]])).tolist() == [[2.0], [8.0]]


def test_captured_state():
    """Arrays named in `inputs` and `outputs` are read and written at every call."""
    state = [mx.array(1.0)]

    def step(x):
        state[0] = state[0] + x
        return state[0] * 2

    compiled = mx.compile(step, inputs=state, outputs=state)
    assert compiled(mx.array(2.0)).item() == 6.0
    assert compiled(mx.array(2.0)).item() == 10.0
    assert state[0].item() == 5.0


def test_random_state_is_drawn_anew():
    """With the generator's state captured, each call draws other numbers."""
    mx.random.seed(3)
    draw = mx.compile(
        lambda: mx.random.uniform(shape=(4,)), inputs=mx.random.state, outputs=mx.random.state
    )
    assert draw().tolist() != draw().tolist()


def test_trees_in_and_out():
    def function(tree):
        return {"sum": tree["a"] + tree["b"][0], "pair": (tree["a"], [tree["b"][1]])}

    tree = {"a": mx.array(1.0), "b": [mx.array(2.0), mx.array(3.0)]}
    result = mx.compile(function)(tree)
    assert result["sum"].item() == 3.0
    assert result["pair"][1][0].item() == 3.0


def test_keyword_arguments():
    compiled = mx.compile(lambda x, scale: x * scale)
    assert compiled(mx.array(2.0), scale=mx.array(4.0)).item() == 8.0


def test_compiled_inside_transforms():
    """grad and vmap see through a compiled function, and a compiled function through them."""
    inner = mx.compile(lambda x: mx.sin(x) * x)
    x = mx.array([0.3, 0.7, 1.1])
    values = to_numpy(x).astype(np.float64)
    slope = np.cos(values) * values + np.sin(values)
    gradient = mx.grad(lambda x: inner(x).sum())(x)
    assert_close(to_numpy(gradient), slope, tolerance_of("float32", 4))
    mapped = mx.vmap(inner)(x)
    assert_close(to_numpy(mapped), np.sin(values) * values, tolerance_of("float32", 4))
    both = mx.compile(mx.vmap(mx.grad(inner)))(x)
    assert_close(to_numpy(both), slope, tolerance_of("float32", 4))


def test_nothing_is_fused_wrongly(rng):
    """A long elementwise chain with broadcasts, casts and shared values agrees with NumPy."""
    a, b = rng.normal(size=(31, 1)), rng.normal(size=(17,))

    def chain(x, y, module):
        s = x * y + 1
        t = module.tanh(s) - s / (module.abs(y) + 2)
        return module.where(t > 0, t * t, module.exp(t)) + s

    want = chain(a, b, np)
    x, y = to_umber(a, "float64"), to_umber(b, "float64")
    for function in (chain, mx.compile(lambda x, y, module=mx: chain(x, y, module))):
        got = function(x, y, mx) if function is chain else function(x, y)
        assert_close(to_numpy(got), want, tolerance_of("float64", 10))


@pytest.mark.covers("enable_compile", "disable_compile")
def test_disabled_compile_runs_the_body():
    traced = Traces(lambda x: x + 1)
    x = mx.array(1.0)
    mx.disable_compile()
    try:
        traced(x)
        traced(x)
        assert traced.count == 2
    finally:
        mx.enable_compile()


@pytest.mark.parametrize(
    "after", [mx.exp, mx.sum, mx.mean, mx.sigmoid, lambda a: mx.exp(a) + a, mx.logsumexp]
)
def test_constants_alone_where_choices_are_gone(after):
    """A choice between equal constants is one of them: the steps behind it have no argument."""
    condition, x = mx.array([True, False, True]), mx.array([1.0, 2.0, 4.0])
    level = mx.array(1.5)
    functions = [
        lambda b, x: after(mx.where(b, 1.5, 1.5)),
        lambda b, x: after(mx.where(b, 1.5, mx.array(1.5))),
        lambda b, x: after(mx.where(b, level, level)),
        lambda b, x: after(mx.where(mx.array(True), 1.5, 2.0)),
        lambda b, x: after(mx.where(b, 1.5, 1.5)) * x,
        lambda b, x: mx.grad(lambda x: after(x * mx.where(b, 1.5, 1.5)).sum())(x),
        lambda b, x: mx.vmap(lambda c, x: after(mx.where(c, 1.5, 1.5)[None]) * x)(b, x),
    ]

    def gradient(function):
        return to_numpy(mx.grad(lambda x: function(condition, x).sum())(x))

    for function in functions:
        want = to_numpy(function(condition, x))
        compiled = mx.compile(function)
        for _ in range(2):
            np.testing.assert_array_equal(to_numpy(compiled(condition, x)), want)
        np.testing.assert_array_equal(gradient(compiled), gradient(function))
