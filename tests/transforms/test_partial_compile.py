"""Whatever part of a program is compiled, it gives the same, and needs no more memory."""

import gc

import numpy as np
import pytest
import umber.core as mx

SIDE = 96
PROGRAMS = 500


def unary(rng, dtype):
    floats = [mx.tanh, mx.sin, mx.square, lambda x: mx.exp(-mx.abs(x)), mx.sigmoid]
    integers = [mx.abs, mx.negative, lambda x: x * x, lambda x: x % 7, lambda x: x & 255]
    function = rng.choice(floats if dtype == mx.float32 else integers)
    return lambda x, y: (function(x), y)


def binary(rng, _):
    function = rng.choice([mx.add, mx.subtract, mx.multiply, mx.maximum])
    return lambda x, y: (function(x, y), x)


def scaled(rng, _):
    factor = int(rng.integers(1, 4))
    return lambda x, y: (x * factor + 1, y)


def rows(rng, _):
    axis = int(rng.integers(2))
    return lambda x, y: (x - mx.max(x, axis=axis, keepdims=True), y)


def reduced(rng, _):
    axis = int(rng.integers(2))
    return lambda x, y: (mx.broadcast_to(mx.sum(x, axis=axis, keepdims=True), x.shape), y)


def transposed(_, __):
    return lambda x, y: (x.T, y)


def moved(rng, _):
    places = int(rng.integers(1, SIDE))
    return lambda x, y: (mx.roll(x, places, axis=0), y)


def swapped(_, __):
    return lambda x, y: (y, x)


def product(_, dtype):
    if dtype != mx.float32:
        return lambda x, y: (x + y, y)
    return lambda x, y: (mx.tanh(x @ y * 0.01), x)


def written(rng, _):
    start = int(rng.integers(SIDE - 4))

    def function(x, y):
        x = x + 0
        x[start : start + 4] = y[:4]
        return x, y

    return function


def chosen(rng, _):
    # No two stages compute the same: what is computed once for two readers has to be kept.
    factor = int(rng.integers(2, 1000))
    return lambda x, y: (mx.where(x > y, x, y * factor), y)


STAGES = [unary, unary, binary, scaled, rows, reduced, transposed, moved, swapped, product]
STAGES += [written, chosen]


def program(rng, dtype):
    """Stages, and the same with some of them compiled, one by one or together."""
    stages = [rng.choice(STAGES)(rng, dtype) for _ in range(rng.integers(2, 9))]
    first, last = sorted(rng.integers(0, len(stages) + 1, 2))

    def part(x, y):
        for stage in stages[first:last]:
            x, y = stage(x, y)
        return x, y

    together = [*stages[:first], mx.compile(part), *stages[last:]]
    apart = [mx.compile(stage) if rng.random() < 0.5 else stage for stage in stages]
    return stages, [together, apart]


def run(stages, x, y):
    for stage in stages:
        x, y = stage(x, y)
    return x


def measured(stages, x, y):
    """The result, and how much memory arrays took beside what was there."""
    gc.collect()
    mx.synchronize()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    result = run(stages, x, y)
    mx.eval(result)
    return result, mx.get_peak_memory() - before


@pytest.fixture
def no_older_garbage():
    """Make collections skip the objects of other tests, which would take most of the time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("no_older_garbage")
@pytest.mark.parametrize("dtype", [mx.float32, mx.int32], ids=["float32", "int32"])
def test_compiled_parts_give_the_same_in_no_more_memory(dtype):
    rng = np.random.default_rng(5)
    for number in range(PROGRAMS // 2):
        values = rng.normal(size=(2, SIDE, SIDE)) * 3
        x, y = (mx.array(value).astype(dtype) for value in values)
        mx.eval(x, y)
        stages, compiled = program(rng, dtype)
        want, plain = measured(stages, x, y)
        for other in compiled:
            run(other, x, y)
            got, needed = measured(other, x, y)
            if dtype == mx.int32:
                np.testing.assert_array_equal(got, want, err_msg=f"program {number}")
            else:
                np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4, err_msg=f"{number}")
            assert needed <= plain + 4096, f"program {number}: {needed} beside {plain}"


def distances(n):
    row = mx.arange(n).astype(mx.float32)
    return mx.square(row[:, None] - row[None])


INPUT_FREE = {
    "sum": lambda a: mx.sum(mx.exp(-distances(4000) * a)),
    "product": lambda a: mx.sum(distances(3000) @ mx.full((3000, 2), a)),
    "mask": lambda a: mx.sum(mx.where(distances(4000) > 9, a, 0)),
    "random": lambda a: mx.sum(mx.random.uniform(shape=(4000, 4000), key=mx.random.key(3)) * a),
    "small result": lambda a: mx.sum(distances(4000), axis=0)[:5] * a,
}
TRANSFORMS = {
    "compile": mx.compile,
    "nested": lambda f: mx.compile(lambda a: mx.compile(f)(a) * 2),
    "grad of compile": lambda f: mx.grad(lambda a: mx.sum(mx.compile(f)(a))),
    "compile of grad": lambda f: mx.compile(mx.grad(lambda a: mx.sum(f(a)))),
    "vmap of compile": lambda f: lambda a: mx.vmap(mx.compile(f))(a[None]),
    "shapeless": lambda f: mx.compile(f, shapeless=True),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("function", INPUT_FREE.values(), ids=INPUT_FREE)
def test_input_free_parts_are_kept_only_if_small(function, transform):
    compiled = transform(function)
    a = mx.array(1e-3)
    gc.collect()
    before = mx.get_active_memory()
    for _ in range(2):
        mx.eval(compiled(a))
    gc.collect()
    assert mx.get_active_memory() - before <= (16 << 20) + 4096


def test_arrays_of_a_closure_are_evaluated_once_for_all():
    grid = distances(2000)
    compiled = mx.compile(lambda a: mx.sum(grid * a))
    mx.eval(compiled(mx.array(2.0)))
    before = mx.get_active_memory()
    mx.eval(grid)
    assert mx.get_active_memory() - before <= 4096
