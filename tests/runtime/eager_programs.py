"""Operations on a few elements, one result a line: run with and without `UMBER_EAGER`.

`python eager_programs.py` prints the name and the bytes of each result.
"""

import numpy as np
import umber.core as mx

SHAPES = ((), (1,), (3,), (64,), (100,), (2, 3, 5), (8, 128), (1024,), (0,), (3, 0))
DTYPES = (
    "bool_ uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64 "
    "complex64 complex128"
).split()
UNARY = "abs negative square exp log sqrt tanh sigmoid sin floor sign isnan logical_not".split()
BINARY = (
    "add subtract multiply divide floor_divide remainder power maximum minimum equal less "
    "less_equal greater greater_equal logaddexp arctan2"
).split()
REDUCTIONS = "sum max min prod mean all any".split()
NUMBERS = (2, -3, 0.5)


def arranged(x):
    """The array in several layouts that hold the same or other elements of it."""
    yield "dense", x
    if x.ndim:
        yield "reversed", x[::-1]
        yield "broadcast", mx.broadcast_to(x[:1], x.shape)
    if x.ndim > 1:
        yield "transposed", x.T


def drawn(rng, shape, dtype):
    """Numbers that every function takes somewhere, as an array of the dtype."""
    values = rng.uniform(-3, 5, shape)
    return mx.array(np.asarray(values), dtype=mx.float64).astype(getattr(mx, dtype))


def outcomes():
    """The name of each operation with its result, or with what it raises."""
    rng = np.random.default_rng(7)

    def tried(name, call, *arrays):
        try:
            result = call(*arrays)
        except (TypeError, ValueError) as error:
            return name, type(error).__name__
        return name, f"{result.dtype} {result.shape} {bytes(result).hex()}"

    for shape in SHAPES:
        for dtype in DTYPES:
            a, b = drawn(rng, shape, dtype), drawn(rng, shape, dtype)
            one = drawn(rng, (), dtype)
            mx.eval(a, b, one)
            for (layout, x), (_, y) in zip(arranged(a), arranged(b), strict=True):
                where = f"{dtype} {shape} {layout}"
                for op in UNARY:
                    yield tried(f"{op} {where}", getattr(mx, op), x)
                for op in BINARY:
                    f = getattr(mx, op)
                    yield tried(f"{op} {where}", f, x, y)
                    yield tried(f"{op} one {where}", f, x, one)
                    yield tried(f"{op} of one {where}", f, one, x)
                for op in REDUCTIONS:
                    yield tried(f"{op} {where}", getattr(mx, op), x)
                yield tried(f"where {where}", lambda x, y: mx.where(x > y, x, y), x, y)
                for n in NUMBERS:
                    yield tried(f"number {n} {where}", lambda x, n=n: (x * n - n) / (n + x * x), x)
                    yield tried(f"compared {n} {where}", lambda x, n=n: (x < n) | (n == x), x)


if __name__ == "__main__":
    for name, result in outcomes():
        print(name, result)
