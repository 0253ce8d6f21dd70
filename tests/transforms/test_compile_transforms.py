"""compile with the other transforms: inside, around, and nested to three levels."""

import itertools

import pytest
import umber.core as mx
from arrays import assert_close, flatten, to_numpy, to_umber
from op_table import gather_records
from tolerances import gradient_tolerance_of, tolerance_of

RECORDS = [record for record in gather_records() if record.arity and record.compilable]


def function(x):
    """Elementwise parts around a reduction and a product."""
    return mx.tanh(x) * mx.softmax(x) + mx.sin(x) * (x @ mx.cos(x)) * 0.3


TRANSFORMS = {
    "compile": mx.compile,
    "grad": lambda f: mx.grad(lambda x: f(x).sum()),
    "vjp": lambda f: lambda x: mx.vjp(f, [x], [mx.sin(x)])[1][0],
    "jvp": lambda f: lambda x: mx.jvp(f, [x], [mx.cos(x)])[1][0],
    "vmap": lambda f: lambda x: mx.vmap(f)(mx.stack([x, 0.5 * x])).sum(0),
}


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(names, id="-".join(names))
        for depth in (1, 2, 3)
        for names in itertools.product(TRANSFORMS, repeat=depth)
        if "compile" in names
    ],
)
def test_nested(names):
    """The innermost transform is named last; without compile the same must come out."""
    compiled = plain = function
    for name in reversed(names):
        compiled = TRANSFORMS[name](compiled)
        plain = plain if name == "compile" else TRANSFORMS[name](plain)
    for values in ([0.3, -0.7, 1.1], [0.1, 0.2, -0.4]):
        x = mx.array(values)
        got, want = compiled(x), plain(x)
        assert_close(to_numpy(got), to_numpy(want), tolerance_of("float32", 8), "-".join(names))


def in_one_dtype(record, rng):
    """A record as a function of its arrays, and a point."""
    dtype = next(name for name in ("float32", "int32", *record.dtypes) if name in record.dtypes)
    values = record.sample(rng, dtype)
    arrays = [to_umber(v, record.dtype_of_input(i, dtype)) for i, v in enumerate(values)]
    return arrays, dtype


@pytest.mark.parametrize("record", [pytest.param(r, id=r.name) for r in RECORDS if r.batchable])
def test_batches_of_every_op(record, rng):
    """compile(vmap) and vmap(compile) are vmap."""
    arrays, dtype = in_one_dtype(record, rng)
    stacked = [mx.stack([array, array]) for array in arrays]

    def call(*x):
        return tuple(flatten(record.call(*x)))

    wanted = flatten(mx.vmap(call)(*stacked))
    tolerance = tolerance_of(record.result_of(dtype), record.tolerance)
    for mapped in (mx.compile(mx.vmap(call)), mx.vmap(mx.compile(call))):
        for got, want in zip(flatten(mapped(*stacked)), wanted, strict=True):
            assert_close(to_numpy(got), to_numpy(want), tolerance, record.name)


@pytest.mark.parametrize(
    "record",
    [pytest.param(r, id=r.name) for r in RECORDS if r.differentiable and "float32" in r.dtypes],
)
def test_derivatives_of_every_op(record, rng):
    """compile(jvp), jvp(compile) are jvp; vjp(compile) is vjp."""
    arrays, _ = in_one_dtype(record, rng)
    arrays = [
        to_umber(to_numpy(array), "float32") if i in record.differentiable else array
        for i, array in enumerate(arrays)
    ]

    def call(*primals):
        full = list(arrays)
        for i, primal in zip(record.differentiable, primals, strict=True):
            full[i] = primal
        return tuple(flatten(record.call(*full)))

    primals = [arrays[i] for i in record.differentiable]
    ways = [mx.cos(mx.arange(p.size).reshape(p.shape)).astype(p.dtype) for p in primals]

    def forward(f):
        return lambda *x: tuple(mx.jvp(f, list(x), ways)[1])

    def backward(f):
        return lambda *x: tuple(mx.vjp(f, list(x), [mx.ones_like(y) for y in f(*x)])[1])

    compiled = mx.compile(call)
    factor = 4 * record.tolerance
    tolerance = max(tolerance_of("float32", factor), gradient_tolerance_of("float32", 0.1 * factor))
    for wanted, candidates in (
        (forward(call)(*primals), (mx.compile(forward(call)), forward(compiled))),
        (backward(call)(*primals), (backward(compiled),)),
    ):
        for candidate in candidates:
            for got, want in zip(candidate(*primals), wanted, strict=True):
                assert_close(to_numpy(got), to_numpy(want), tolerance, record.name)
