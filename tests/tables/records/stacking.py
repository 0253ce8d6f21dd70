"""Arrays joined as rows, columns or blocks, cut apart, mirrored and turned."""

import numpy as np
import umber.core as mx
from op_table import OpRecord, bind, op

from records.shaping import joining, moving

DEEP = (2, 3, 4)


def stacking(name, *shapes, **fields) -> OpRecord:
    """A join of a list of arrays, which NumPy has under the same name."""
    oracle = getattr(np, name.partition("[")[0])
    return joining(name, lambda *x: oracle(x), lambda *x: op(name)(list(x)), *shapes, **fields)


def turning(name, *after, shape=DEEP, **keywords) -> OpRecord:
    """A function of one array that NumPy has under the same name."""
    oracle = getattr(np, name)
    words = [str(value) for value in after] + [f"{k}={v}" for k, v in keywords.items()]
    return moving(
        f"{name}[{','.join(words)}]" if words else name,
        lambda x: oracle(x, *after, **keywords),
        bind(name, *after, **keywords),
        shape=shape,
    )


RECORDS = [
    stacking("hstack", (2, 3), (2, 0), (2, 1)),
    stacking("hstack[vectors]", (3,), (2,), scalar=((), ())),
    stacking("vstack", (2, 3), (3,), (1, 3)),
    stacking("vstack[vectors]", (3,), (3,), scalar=((), ())),
    stacking("dstack", (2, 3, 1), (2, 3)),
    stacking("dstack[vectors]", (3,), (3,), scalar=((), ())),
    stacking("column_stack", (3,), (3, 2), (3,)),
    joining(
        "block",
        lambda a, b, c: np.block([[a, b], [c]]),
        lambda a, b, c: mx.block([[a, b], [c]]),
        (2, 2),
        (2, 1),
        (1, 3),
    ),
    joining(
        "block[vectors]",
        lambda a, b: np.block([[a], [b]]),
        lambda a, b: mx.block([[a], [b]]),
        (3,),
        (3,),
    ),
    joining("block[one]", lambda a: np.block(a), lambda a: mx.block(a), (2, 3)),
    joining(
        "block[deep]",
        lambda a, b: np.block([[[a, b]], [[b, a]]]),
        lambda a, b: mx.block([[[a, b]], [[b, a]]]),
        (2, 1, 2),
        (2, 1, 2),
    ),
    turning("array_split", 3, shape=(7, 2)),
    turning("array_split", 5, axis=1, shape=(2, 3)),
    turning("array_split", [1, 5], axis=-1, shape=(2, 6)),
    turning("hsplit", 3),
    turning("hsplit", [1]),
    turning("hsplit", 2, shape=(4,)).but(name="hsplit[vector]"),
    turning("vsplit", 2),
    turning("dsplit", [1, 3]),
    turning("ravel"),
    turning("ravel", order="F"),
    turning("ravel", shape=()).but(name="ravel[0-d]"),
    turning("fliplr"),
    turning("flipud"),
    *(turning("rot90", k) for k in (1, 2, 3, 4, -1)),
    turning("rot90", 1, (1, 2)),
    turning("rot90", 3, (-1, 0)),
    turning("rollaxis", 2),
    turning("rollaxis", 0, 3),
    turning("rollaxis", 1, -1),
]
