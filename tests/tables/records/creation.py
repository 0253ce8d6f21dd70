"""Arrays made from sizes and scalars: no inputs, or an input that gives only its shape."""

import numpy as np
import umber.core as mx
from arrays import ALL, FLOATS, INTEGERS, NUMERIC, dtype_of
from op_table import OpRecord, op


def making(name, call, oracle, dtypes=ALL, **fields) -> list[OpRecord]:
    """One record a dtype: `call(dtype)` against `oracle()` cast to it."""
    return [
        OpRecord(
            f"{name},{dtype}]" if "[" in name else f"{name}[{dtype}]",
            lambda call=call, dtype=dtype: call(dtype_of(dtype)),
            oracle,
            shapes=(),
            dtypes=(dtype,),
            result=dtype,
            batchable=False,
            layouts=False,
            **fields,
        )
        for dtype in dtypes
    ]


def default(name, call, oracle, dtype) -> OpRecord:
    """A call without a dtype."""
    return OpRecord(
        name, call, oracle, shapes=(), dtypes=(dtype,), result=dtype, batchable=False, layouts=False
    )


def like(name, call, oracle) -> OpRecord:
    """Shape and dtype come from an array."""
    return OpRecord(name, call, oracle, shapes=((3, 4),), empty=((0, 4),), scalar=((),))


RECORDS = [
    *making("arange", lambda d: mx.arange(7, dtype=d), lambda: np.arange(7), NUMERIC),
    *making(
        "arange[step", lambda d: mx.arange(9, 1, -3, dtype=d), lambda: np.arange(9, 1, -3), NUMERIC
    ),
    default("arange[ints]", lambda: mx.arange(2, 11, 3), lambda: np.arange(2, 11, 3), "int32"),
    default(
        "arange[floats]",
        lambda: mx.arange(0.5, 3.0, 0.5),
        lambda: np.arange(0.5, 3.0, 0.5),
        "float32",
    ),
    default("arange[stop float]", lambda: mx.arange(3.0), lambda: np.arange(3.0), "float32"),
    default("arange[nothing]", lambda: mx.arange(3, 0), lambda: np.arange(3, 0), "int32"),
    *making(
        "linspace", lambda d: mx.linspace(-1, 2, 7, dtype=d), lambda: np.linspace(-1, 2, 7), FLOATS
    ),
    *making(
        "linspace[ints",
        lambda d: mx.linspace(0, 12, 5, dtype=d),
        lambda: np.linspace(0, 12, 5),
        INTEGERS,
    ),
    default("linspace[50]", lambda: mx.linspace(0, 1), lambda: np.linspace(0, 1), "float32"),
    default("linspace[one]", lambda: mx.linspace(3, 4, 1), lambda: np.linspace(3, 4, 1), "float32"),
    default(
        "linspace[none]", lambda: mx.linspace(3, 4, 0), lambda: np.linspace(3, 4, 0), "float32"
    ),
    default(
        "linspace[open]",
        lambda: mx.linspace(0, 10, 5, endpoint=False),
        lambda: np.linspace(0, 10, 5, endpoint=False),
        "float32",
    ),
    OpRecord(
        "linspace[arrays]",
        lambda x, y: mx.linspace(x, y, 5, axis=-1),
        lambda x, y: np.linspace(x, y, 5, axis=-1),
        shapes=((2, 3), (3,)),
        dtypes=INTEGERS + FLOATS,
        result="float32",
        differentiable=(0, 1),
    ),
    *making("full", lambda d: mx.full((2, 3), 1, dtype=d), lambda: np.full((2, 3), 1)),
    default("full[int]", lambda: mx.full(4, 7), lambda: np.full(4, 7), "int32"),
    default("full[float]", lambda: mx.full((2, 0), 1.5), lambda: np.full((2, 0), 1.5), "float32"),
    default("full[bool]", lambda: mx.full((), True), lambda: np.full((), True), "bool_"),
    default("full[complex]", lambda: mx.full((2,), 1j), lambda: np.full(2, 1j), "complex64"),
    OpRecord(
        "full[array]", lambda x: mx.full((2, 3), x), lambda x: np.full((2, 3), x), shapes=((3,),)
    ),
    *making("zeros", lambda d: mx.zeros((2, 3), d), lambda: np.zeros((2, 3))),
    default("zeros[int shape]", lambda: mx.zeros(3), lambda: np.zeros(3), "float32"),
    default("zeros[0-d]", lambda: mx.zeros(()), lambda: np.zeros(()), "float32"),
    *making("ones", lambda d: mx.ones([2, 3], d), lambda: np.ones((2, 3))),
    default("ones[default]", lambda: mx.ones((0, 2)), lambda: np.ones((0, 2)), "float32"),
    like("zeros_like", op("zeros_like"), np.zeros_like),
    like("ones_like", op("ones_like"), np.ones_like),
    like("full_like", lambda x: mx.full_like(x, 1), lambda x: np.full_like(x, 1)),
    *making("eye", lambda d: mx.eye(3, dtype=d), lambda: np.eye(3)),
    default("eye[wide]", lambda: mx.eye(2, 4, 1), lambda: np.eye(2, 4, 1), "float32"),
    default("eye[below]", lambda: mx.eye(4, 3, k=-2), lambda: np.eye(4, 3, -2), "float32"),
    default("eye[outside]", lambda: mx.eye(2, 2, 5), lambda: np.eye(2, 2, 5), "float32"),
    *making("identity", lambda d: mx.identity(3, d), lambda: np.identity(3)),
    *making("tri", lambda d: mx.tri(3, 4, dtype=d), lambda: np.tri(3, 4)),
    default("tri[square]", lambda: mx.tri(3), lambda: np.tri(3), "float32"),
    default("tri[k]", lambda: mx.tri(3, 5, k=-1), lambda: np.tri(3, 5, -1), "float32"),
]
