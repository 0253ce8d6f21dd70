"""Shapeless functions: one graph for many lengths where that is right, else one for each."""

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, flatten, to_numpy, to_umber
from op_table import gather_records
from test_compile_calls import Traces
from tolerances import tolerance_of

RECORDS = [record for record in gather_records() if record.arity and record.compilable]


def dtype_for(record) -> str:
    return next(name for name in ("float32", "int32", *record.dtypes) if name in record.dtypes)


def other_lengths(shapes):
    """The same shapes with every length that occurs replaced by another, or only one of them."""
    lengths = sorted({length for shape in shapes for length in shape if length > 1})
    for changed in (lengths, *([length] for length in lengths)):
        for more in (1, 3):
            table = {length: length + more for length in changed}
            yield tuple(tuple(table.get(length, length) for length in shape) for shape in shapes)


@pytest.mark.parametrize("record", [pytest.param(r, id=r.name) for r in RECORDS])
def test_every_op(record, rng):
    """At lengths that the op takes, a shapeless function gives what the plain one gives."""
    dtype = dtype_for(record)
    compiled = mx.compile(lambda *x: tuple(flatten(record.call(*x))), shapeless=True)
    for shapes in (record.shapes, *other_lengths(record.shapes), record.shapes):
        try:
            values = record.sample(rng, dtype, shapes)
        except ValueError:
            continue
        inputs = [to_umber(v, record.dtype_of_input(i, dtype)) for i, v in enumerate(values)]
        try:
            wanted = [to_numpy(want) for want in flatten(record.call(*inputs))]
        except (ValueError, IndexError, TypeError):
            with pytest.raises((ValueError, IndexError, TypeError)):
                mx.eval(*compiled(*inputs))
            continue
        results = compiled(*inputs)
        tolerance = tolerance_of(record.result_of(dtype), record.tolerance)
        for result, want in zip(results, wanted, strict=True):
            assert result.shape == want.shape
            assert_close(to_numpy(result), want, tolerance, f"{record.name} at {shapes}")


def test_traced_twice_for_all_lengths():

    def layer(x, weight, bias):
        y = mx.softmax(mx.tanh(x * weight + bias) * 2, axis=-1)
        return mx.flatten(y, 0, 1), y.max(axis=1, keepdims=True)

    weights = mx.random.normal((4,)), mx.random.normal((4,))

    traced = Traces(layer, shapeless=True)
    for shape in ((2, 3, 4), (5, 6, 4), (7, 2, 4), (9, 9, 4), (2, 3, 4)):
        x = mx.random.normal(shape)
        for got, want in zip(traced(x, *weights), layer(x, *weights), strict=True):
            assert mx.allclose(got, want, atol=1e-6)
    assert traced.count == 2
    # An axis that was not confirmed, or of length one, asks for another trace.
    assert traced(mx.ones((1, 3, 4)), *weights)[0].shape == (3, 4)
    assert traced.count == 3


BIAS, SCALE = mx.random.normal((4,)), mx.random.normal((4,))
WEIGHT, STACK = mx.random.normal((4, 5)), mx.random.normal((1, 4, 5))


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda x: x * SCALE + BIAS, id="affine"),
        pytest.param(lambda x: mx.where(x > 0, x, BIAS), id="where"),
        pytest.param(lambda x: mx.addmm(BIAS[:1], x, WEIGHT), id="addmm"),
        pytest.param(lambda x: (x @ WEIGHT).sum(-1, keepdims=True) * BIAS, id="sum"),
        pytest.param(lambda x: mx.tanh(x @ WEIGHT) @ WEIGHT.T + BIAS, id="two products"),
        pytest.param(lambda x: mx.softmax(x @ WEIGHT @ WEIGHT.T, axis=1), id="softmax"),
        pytest.param(lambda x: mx.einsum("...d,dk->...k", x, WEIGHT), id="einsum"),
        pytest.param(lambda x: mx.tensordot(x, WEIGHT, 1), id="tensordot"),
        pytest.param(lambda x: mx.vmap(lambda row: row @ WEIGHT)(x), id="vmap"),
        pytest.param(lambda x: mx.flatten(x @ WEIGHT, 0, -2), id="flatten"),
        pytest.param(lambda x: mx.swapaxes(x @ WEIGHT, -1, -2) @ x, id="swapaxes"),
    ],
)
@pytest.mark.parametrize("shapes", [((2, 3), (5, 6), (7, 2), (9, 8), (4, 3)), ((2,), (5,), (7,))])
def test_values_from_outside(function, shapes):
    """What a function closes over is spread to the lengths of its arguments, whichever."""
    traced = Traces(function, shapeless=True)
    for shape in shapes:
        x = mx.random.normal((*shape, 4))
        assert mx.allclose(traced(x), function(x), atol=1e-5)
    assert traced.count == 2


def test_stacks_of_weights():
    traced = Traces(lambda x: x @ STACK, shapeless=True)
    for shape in ((2, 3), (5, 6), (7, 2)):
        x = mx.random.normal((*shape, 4))
        assert mx.allclose(traced(x), x @ STACK, atol=1e-5)
    assert traced.count == 2


def test_joined_axes_of_one_length():
    """Two axes that change while their product does not."""
    traced = Traces(lambda x: x @ WEIGHT, shapeless=True)
    for shape in ((2, 6), (3, 5), (4, 3), (6, 2), (3, 4), (12, 7)):
        x = mx.random.normal((*shape, 4))
        assert mx.allclose(traced(x), x @ WEIGHT, atol=1e-5)
    assert traced.count == 2


def test_weights_made_anew_are_recognised():
    weight = mx.random.normal((5, 4))
    traced = Traces(lambda x: mx.tanh(x @ weight.T), shapeless=True)
    for rows in (2, 3, 4, 5):
        x = mx.random.normal((rows, 4))
        assert mx.allclose(traced(x), mx.tanh(x @ weight.T), atol=1e-6)
    assert traced.count == 2


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.reshape(x.shape[0], -1),
        lambda x: x / x.shape[0],
        lambda x: x.mean(0),
        lambda x: mx.pad(x, [(0, -len(x) % 4), (0, 0)]),
        lambda x: x[: x.size // 4],
        lambda x: x[:-1] - x[1:],
        lambda x: x if len(x) < 10 else -x,
        lambda x: mx.roll(x, 1, axis=0),
        lambda x: x + mx.arange(mx.size(x, 0))[:, None],
        lambda x: mx.concatenate([x, mx.zeros_like(x)], axis=0),
        lambda x: sum(row for row in x),
        lambda x: mx.median(x, axis=0),
        lambda x: mx.grad(lambda x: x[1:].sum() + x.max(0).sum())(x),
        lambda x: mx.fft.fft(x, axis=0).real,
        lambda x: mx.repeat(x, 2, axis=0),
        lambda x: x.reshape(2, -1),
        lambda x: mx.triu(x),
    ],
)
def test_lengths_that_shape_the_graph(function):
    """Whatever a function makes of lengths, its result is right at each."""
    traced = Traces(function, shapeless=True)
    for shape in ((8, 4), (16, 4), (24, 4), (9, 5), (10, 6), (12, 4), (8, 4)):
        try:
            x = mx.random.normal(shape)
            want = to_numpy(function(x))
        except ValueError:
            continue
        got = to_numpy(traced(x))
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_ranks_and_dtypes_are_others():
    traced = Traces(lambda x: mx.abs(x) * 2, shapeless=True)
    for shape in ((2,), (3,), (4,), (2, 2), (3, 3), (5, 2)):
        assert traced(-mx.ones(shape)).shape == shape
    assert traced.count == 4
    assert traced(mx.array([1, 2])).dtype == mx.int32
    assert traced.count == 5


def test_state_and_constants():
    state = {"w": mx.array([1.0, 2.0])}

    def step(x, factor):
        state["w"] = state["w"] + x.max(0)
        return x * state["w"] * factor

    traced = Traces(step, inputs=state, outputs=state, shapeless=True)
    for rows, factor in ((2, 1), (3, 1), (4, 1), (5, 2), (6, 2), (7, 2)):
        before = state["w"]
        x = mx.random.normal((rows, 2))
        got = traced(x, factor)
        want = x * (before + x.max(0)) * factor
        assert mx.allclose(got, want, atol=1e-6)
    assert traced.count == 4
