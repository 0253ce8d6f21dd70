"""Reductions of segments: of the rows that share an id."""

import numpy as np
import umber.core as mx
from arrays import REAL
from domains import ANY, DISTINCT, POSITIVE, Domain
from op_table import OpRecord, bind

COUNT = 5
# Some rows are dropped, and one segment is empty.
IDS = Domain(0.0, 1.0, -1, COUNT - 1)


def by_segment(combine, identity):
    """The same reduction of the rows of each segment, one segment after the other."""

    def oracle(x, ids):
        empty = np.full(x.shape[1:], identity(x.dtype) if callable(identity) else identity)
        rows = [x[ids == k] for k in range(COUNT)]
        return np.stack([combine(part) if len(part) else empty for part in rows])

    return oracle


def extreme(sign):
    """The value beyond all others of a dtype."""

    def of(dtype):
        if dtype.kind == "b":
            return sign > 0
        if dtype.kind == "f":
            return sign * np.inf
        return np.iinfo(dtype).max if sign > 0 else np.iinfo(dtype).min

    return of


def total(x):
    return x.sum(0, dtype=np.uint64 if x.dtype.kind == "u" else None)


def product(x):
    return x.prod(0, dtype=np.uint64 if x.dtype.kind == "u" else None)


def finite(reduce):
    """Without the infinities of empty segments, between which there are no finite differences."""

    def call(*given):
        out = reduce(*given)
        module = np if isinstance(out, np.ndarray) else mx
        return module.where(module.isinf(out), module.zeros_like(out), out)

    return call


def segments(name, oracle, domain=ANY, wrap=lambda f: f, **fields) -> list[OpRecord]:
    """Rows that are matrices, and rows that are numbers."""
    call, oracle = wrap(bind(name, COUNT)), wrap(oracle)
    options = {
        "fixed": {1: "int32"},
        "domain": (domain, IDS),
        "differentiable": (0,),
        "second_order": False,
        **fields,
    }
    return [
        OpRecord(
            name,
            call,
            oracle,
            shapes=((7, 2, 3), (7,)),
            empty=((0, 3), (0,)),
            long=((700, 5), (700,)),
            **options,
        ),
        OpRecord(f"{name}[vector]", call, oracle, shapes=((9,), (9,)), **options),
    ]


RECORDS = [
    *segments("segment_sum", by_segment(total, 0), result="sum"),
    *(
        record.but(long=None)
        for record in segments(
            "segment_prod", by_segment(product, 1), POSITIVE, result="sum", tolerance=4
        )
    ),
    *segments(
        "segment_min",
        by_segment(lambda x: x.min(0), extreme(1)),
        DISTINCT,
        finite,
        dtypes=REAL,
    ),
    *segments(
        "segment_max",
        by_segment(lambda x: x.max(0), extreme(-1)),
        DISTINCT,
        finite,
        dtypes=REAL,
    ),
    *segments("segment_mean", by_segment(lambda x: x.mean(0), 0), result="inexact"),
]
