"""vmap against a Python loop, for every choice of mapped inputs and several axes."""

import itertools

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, assert_dtype, flatten, to_numpy, to_umber
from op_table import gather_records
from tolerances import tolerance_of

RECORDS = [record for record in gather_records() if record.batchable and record.arity]
LANES = 3


def dtype_for(record) -> str:
    """One dtype is enough: batching does not look at values."""
    return next(name for name in ("float32", "int32", *record.dtypes) if name in record.dtypes)


def check(record, dtype, rng, in_axes, out_axes):
    """Mapped inputs hold LANES samples along their axis; the others hold the first sample."""
    samples = [record.sample(rng, dtype) for _ in range(LANES)]
    names = [record.dtype_of_input(i, dtype) for i in range(record.arity)]
    lanes = [
        [to_umber(samples[0 if axis is None else k][i], names[i]) for i, axis in enumerate(in_axes)]
        for k in range(LANES)
    ]
    inputs = [
        lanes[0][i]
        if axis is None
        else to_umber(np.stack([sample[i] for sample in samples], axis), names[i])
        for i, axis in enumerate(in_axes)
    ]
    function = mx.vmap(
        lambda *x: tuple(flatten(record.call(*x))), in_axes=in_axes, out_axes=out_axes
    )
    results = flatten(function(*inputs))
    loops = [flatten(record.call(*lane)) for lane in lanes]
    name = record.result_of(dtype)
    note = f"in_axes={in_axes}, out_axes={out_axes}"
    for result, parts in zip(results, zip(*loops, strict=True), strict=True):
        assert_dtype(result, name, note)
        want = np.stack([to_numpy(part) for part in parts], out_axes)
        assert_close(to_numpy(result), want, tolerance_of(name, record.tolerance), note)


def choices(record):
    """Each input alone, all of them along the first axis, all along the last."""
    for mapped in itertools.product((True, False), repeat=record.arity):
        if any(mapped):
            yield tuple(0 if m else None for m in mapped)
    yield tuple(len(shape) for shape in record.shapes)
    yield tuple(-1 for _ in record.shapes)


@pytest.mark.covers("vmap")
@pytest.mark.parametrize("record", [pytest.param(r, id=r.name) for r in RECORDS])
def test_vmap(record, rng):
    dtype = dtype_for(record)
    for in_axes in choices(record):
        check(record, dtype, rng, in_axes, 0)
    first = (0,) * record.arity
    check(record, dtype, rng, first, -1)


@pytest.mark.parametrize("record", [pytest.param(r, id=r.name) for r in RECORDS])
def test_nested_vmap(record, rng):
    """Two mapped axes, one inside the other, against two loops."""
    dtype = dtype_for(record)
    samples = [[record.sample(rng, dtype) for _ in range(2)] for _ in range(LANES)]
    inputs = [
        to_umber(
            np.stack([np.stack([inner[i] for inner in outer], -1) for outer in samples]),
            record.dtype_of_input(i, dtype),
        )
        for i in range(record.arity)
    ]

    def single(*arrays):
        return tuple(flatten(record.call(*arrays)))

    def lane(values):
        arrays = [to_umber(v, record.dtype_of_input(i, dtype)) for i, v in enumerate(values)]
        return [to_numpy(part) for part in single(*arrays)]

    loops = [[lane(values) for values in outer] for outer in samples]
    results = flatten(mx.vmap(mx.vmap(single, in_axes=-1))(*inputs))
    name = record.result_of(dtype)
    for position, result in enumerate(results):
        want = np.array([[parts[position] for parts in outer] for outer in loops])
        assert_close(to_numpy(result), want, tolerance_of(name, record.tolerance), "nested")


def dtype_for_gradient(record) -> str | None:
    names = ("float32", "complex64", "float64", "complex128")
    return next((name for name in names if name in record.dtypes), None)


@pytest.mark.parametrize(
    "record",
    [pytest.param(r, id=r.name) for r in RECORDS if r.differentiable and dtype_for_gradient(r)],
)
def test_gradients_and_lanes(record, rng):
    """vmap of vjp, compiled too, and vjp of vmap against a loop of vjps; likewise vmap of jvp."""
    dtype = dtype_for_gradient(record)
    first = record.sample(rng, dtype)
    samples = [first, *(record.sample(rng, dtype) for _ in range(LANES - 1))]
    others = {i: to_umber(v, record.dtype_of_input(i, dtype)) for i, v in enumerate(first)}

    def function(*primals):
        inputs = others | dict(zip(record.differentiable, primals, strict=True))
        return flatten(record.call(*(inputs[i] for i in range(record.arity))))

    def gradient(*arrays):
        ones = [mx.ones_like(output) for output in function(*arrays)]
        return tuple(mx.vjp(function, list(arrays), ones)[1])

    def tangent(*arrays):
        return tuple(mx.jvp(function, list(arrays), [mx.ones_like(a) for a in arrays])[1])

    def gradient_of_lanes(*arrays):
        mapped = mx.vmap(lambda *x: tuple(function(*x)))
        ones = [mx.ones_like(output) for output in flatten(mapped(*arrays))]
        return mx.vjp(lambda *x: flatten(mapped(*x)), list(arrays), ones)[1]

    points = [[to_umber(s[i], dtype) for i in record.differentiable] for s in samples]
    stacked = [mx.stack(list(column)) for column in zip(*points, strict=True)]
    tolerance = tolerance_of(dtype, 4 * record.tolerance)
    wrap = mx.compile if record.compilable else lambda f: f
    for lane, candidates in (
        (gradient, (mx.vmap(gradient), wrap(mx.vmap(gradient)), gradient_of_lanes)),
        (tangent, (mx.vmap(tangent), mx.vmap(wrap(tangent)))),
    ):
        loops = [lane(*point) for point in points]
        for candidate in candidates:
            results = flatten(candidate(*stacked))
            for result, parts in zip(results, zip(*loops, strict=True), strict=True):
                want = np.stack([to_numpy(part) for part in parts])
                assert_close(to_numpy(result), want, tolerance, record.name)


def test_axes_may_differ(rng):
    """Each input and each output has an axis of its own."""
    a, b = rng.normal(size=(4, 2)), rng.normal(size=(3, 4))
    outer = mx.vmap(lambda x, y: (x[:, None] * y, x.sum()), in_axes=(0, 1), out_axes=(2, 0))
    product, total = outer(to_umber(a, "float64"), to_umber(b, "float64"))
    assert_close(to_numpy(product), np.einsum("ki,jk->ijk", a, b), tolerance_of("float64"))
    assert_close(to_numpy(total), a.sum(1), tolerance_of("float64"))


@pytest.mark.parametrize("axes", [(1,), [1], 1, (-2,)])
def test_the_axis_of_one_result_may_stand_in_a_sequence(axes):
    x = mx.arange(24).reshape(3, 2, 4)
    expected = x.transpose(1, 0, 2).tolist()
    assert mx.vmap(lambda x: x, out_axes=axes)(x).tolist() == expected
    named = mx.vmap(lambda x: {"y": x}, out_axes=axes)(x)
    assert named["y"].tolist() == expected
    assert mx.vmap(lambda x: (x,), out_axes=axes)(x)[0].tolist() == expected
    assert mx.vmap(lambda x: x, in_axes=(1,), out_axes=axes)(x).tolist() == x.tolist()
    assert mx.vmap(lambda x: mx.ones(2), out_axes=(None,))(x).tolist() == [1.0, 1.0]
    for wrong in ((1, 2), (), ((1,),)):
        with pytest.raises(ValueError, match=r"\[vmap\] out_axes"):
            mx.vmap(lambda x: x, out_axes=wrong)(x)


def test_trees_of_axes(rng):
    """in_axes may be a tree of the argument's form; None leaves a part unmapped."""
    x, w = rng.normal(size=(5, 3)), rng.normal(size=(3,))
    mapped = mx.vmap(lambda d: (d["x"] * d["w"]).sum(), in_axes={"x": 0, "w": None})
    result = mapped({"x": to_umber(x, "float64"), "w": to_umber(w, "float64")})
    assert_close(to_numpy(result), x @ w, tolerance_of("float64", 4))
