"""Shapeless functions: one graph for many lengths where that is right, else one for each."""

import sys

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, flatten, to_numpy, to_umber
from hypothesis import given, settings
from hypothesis import strategies as st
from op_table import gather_records
from random_cases import examples
from tolerances import tolerance_of
from traces import Traces

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


LENGTHS = st.sampled_from([2, 3, 4, 5, 6, 8, 10, 12])


def joined(x):
    return mx.concatenate([x.flatten(), x[0]])


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda x: x.mean(), id="mean"),
        pytest.param(lambda x: x.var(), id="var"),
        pytest.param(lambda x: x.std(axis=(0, 1), ddof=4), id="std"),
        pytest.param(lambda x: x.sum() / x.mean(), id="count"),
        pytest.param(lambda x: x.flatten().mean(), id="flat mean"),
        pytest.param(lambda x: mx.where(x > 0.1, x, x.mean()), id="where"),
        pytest.param(lambda x: mx.softmax(x, axis=-1) + x.mean(axis=0), id="softmax"),
        pytest.param(lambda x: joined(x).mean(), id="joined mean"),
        pytest.param(lambda x: joined(x)[:9], id="joined start"),
        pytest.param(lambda x: x[:5], id="start"),
        pytest.param(lambda x: x[-5:], id="end"),
        pytest.param(lambda x: x[4::-1], id="backwards"),
        pytest.param(lambda x: x[-8:8] * 2, id="bounds on both sides"),
        pytest.param(lambda x: x[2:-2].sum() + x, id="middle"),
        pytest.param(lambda x: x[:, 3::2].sum(), id="steps"),
        pytest.param(lambda x: x.at[:5].add(1.0), id="update"),
        pytest.param(lambda x: x.at[-4:, :3].multiply(2.0), id="update of a corner"),
        pytest.param(lambda x: mx.split(x, [5])[0], id="split"),
        pytest.param(lambda x: mx.split(x, [4, -2])[1].sum() * x, id="split in the middle"),
        pytest.param(lambda x: mx.roll(x, 12, axis=0), id="roll"),
        pytest.param(lambda x: mx.roll(x, 4), id="roll of all"),
        pytest.param(lambda x: x.reshape(3, -1), id="reshape"),
        pytest.param(lambda x: x.reshape(12) * 2, id="reshape to a number"),
        pytest.param(lambda x: mx.diagonal(x), id="diagonal"),
        pytest.param(lambda x: mx.median(x, axis=0), id="median"),
        pytest.param(lambda x: x + x.T, id="square"),
        pytest.param(lambda x: x.sum(axis=0) * x.sum(axis=1), id="sums"),
        pytest.param(lambda x: mx.grad(lambda x: (x * x).mean())(x), id="gradient"),
        pytest.param(lambda x: mx.linalg.norm(x) / x[:3, :3].mean(), id="norm"),
    ],
)
@settings(max_examples=examples(20))
@given(shapes=st.lists(st.tuples(LENGTHS, LENGTHS), min_size=3, max_size=6))
def test_lengths_that_agree_by_chance(function, shapes):
    """Equal products and sums, bounds met or not: a function gives what it gives as written."""
    compiled = mx.compile(function, shapeless=True)
    for shape in shapes:
        x = mx.arange(1, shape[0] * shape[1] + 1).reshape(shape).astype(mx.float32) / 7
        try:
            want = function(x)
        except ValueError:
            with pytest.raises(ValueError, match=r"^\["):
                mx.eval(compiled(x))
            continue
        result = compiled(x)
        assert result.shape == want.shape
        np.testing.assert_allclose(to_numpy(result), to_numpy(want), rtol=1e-5, atol=1e-5)


def test_equal_sizes_prove_nothing():
    mean = mx.compile(lambda x: x.mean(), shapeless=True)
    assert [mean(mx.ones(shape)).item() for shape in ((2, 6), (3, 4), (4, 4), (5, 5))] == [1.0] * 4
    start = mx.compile(lambda x, y: mx.concatenate([x, y])[:5], shapeless=True)
    for lengths in ((2, 3), (3, 2), (4, 5), (2, 2), (1, 3), (7, 8)):
        assert start(*(mx.ones(length) for length in lengths)).shape == (min(5, sum(lengths)),)
    for part in (
        slice(3, None, 2),
        slice(None, None, 3),
        slice(None, None, -1),
        slice(-1, None, -2),
    ):
        taken = mx.compile(lambda x, part=part: x[part].sum(), shapeless=True)
        for length in (1, 4, 5, 6, 3, 9):
            assert taken(mx.ones(length)).item() == len(range(length)[part])
    column = mx.compile(lambda x, y: mx.concatenate([x, y]).reshape(5, 1), shapeless=True)
    assert column(mx.ones(2), mx.ones(3)).shape == column(mx.ones(3), mx.ones(2)).shape == (5, 1)
    with pytest.raises(ValueError, match="reshape"):
        column(mx.ones(4), mx.ones(5))


def test_bounds_beyond_any_length_mean_the_end():
    traced = Traces(lambda x: x[: sys.maxsize] + x[-sys.maxsize :], shapeless=True)
    for length in (3, 4, 9, 12):
        assert traced(mx.ones(length)).tolist() == [2.0] * length
    assert traced.count == 2


def test_axes_of_one_length_may_be_of_one_by_necessity():
    add = mx.compile(lambda x, y: x * 0 + mx.ones_like(y), shapeless=True)
    for length in (4, 5, 6):
        assert add(mx.ones(length), mx.ones(length)).tolist() == [1.0] * length
    with pytest.raises(ValueError, match="broadcast"):
        mx.eval(add(mx.ones(5), mx.ones(7)))


@pytest.mark.parametrize("places", [[0], [3], [1, 1]])
def test_empty_parts_do_not_hold_on_to_other_lengths(places):
    """A function that splits off nothing is not traced again at each length of the other axis."""
    parts = Traces(lambda x: mx.split(x, places, axis=0), shapeless=True)
    for columns in range(4, 10):
        x = np.arange(3.0 * columns, dtype=np.float32).reshape(3, columns)
        for part, expected in zip(parts(mx.array(x)), np.split(x, places), strict=True):
            assert part.shape == expected.shape
            assert np.array_equal(part, expected)
    assert parts.count <= 2
