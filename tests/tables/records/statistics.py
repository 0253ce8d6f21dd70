"""Spans, weighted means, covariances and correlations; reductions of selected elements."""

import numpy as np
import umber.core as mx
from arrays import FLOATS, INEXACT, INTEGERS, NUMERIC
from domains import ABOVE_ONE, ANY, DISTINCT, POSITIVE
from op_table import OpRecord, bind

from records.reductions import label, reduction

MASK = np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]])


def several(name, call, oracle, *shapes, **fields) -> OpRecord:
    fields = {
        "dtypes": FLOATS,
        "result": "inexact",
        "differentiable": tuple(range(len(shapes))),
        "tolerance": 8,
    } | fields
    return OpRecord(name, call, oracle, shapes=shapes, **fields)


def selected(name, options, **fields) -> OpRecord:
    """A reduction of elements under a mask."""
    function = getattr(np, name)
    return OpRecord(
        f"{name}[where,{label('', options)}]",
        lambda x: getattr(mx, name)(x, where=mx.array(MASK), **options),
        lambda x: function(x, where=MASK, **options),
        shapes=((3, 4),),
        **{"dtypes": INTEGERS + FLOATS, "differentiable": (0,), "second_order": False} | fields,
    )


RECORDS = [
    *reduction(
        "ptp",
        np.ptp,
        dtypes=INTEGERS + FLOATS,
        domain=DISTINCT,
        differentiable=(0,),
        second_order=False,
    ),
    *reduction("average", np.average, ({}, {"axis": 1}), result="inexact", differentiable=(0,)),
    several(
        "average[weights]",
        lambda x, w: mx.average(x, weights=w),
        lambda x, w: np.average(x, weights=w),
        (3, 4),
        (3, 4),
        dtypes=INTEGERS + INEXACT,
        domain=POSITIVE,
    ),
    several(
        "average[weights,axis]",
        lambda x, w: mx.average(x, axis=1, weights=w, keepdims=True),
        lambda x, w: np.average(x, axis=1, weights=w, keepdims=True),
        (3, 4, 2),
        (4,),
        domain=POSITIVE,
    ),
    several(
        "average[returned]",
        lambda x, w: mx.average(x, (0, 2), w, returned=True),
        lambda x, w: np.average(x, (0, 2), w, returned=True),
        (3, 4, 2),
        (3, 2),
        domain=POSITIVE,
    ),
    several(
        "average[returned,no weights]",
        lambda x: mx.average(x, 0, returned=True),
        lambda x: np.average(x, 0, returned=True),
        (3, 4),
    ),
    several("cov", bind("cov"), np.cov, (3, 5), dtypes=INTEGERS + INEXACT),
    several("cov[variance]", bind("cov"), np.cov, (5,)),
    several(
        "cov[columns,bias]",
        bind("cov", rowvar=False, bias=True),
        lambda x: np.cov(x, rowvar=False, bias=True),
        (5, 3),
    ),
    several("cov[two]", bind("cov"), np.cov, (2, 5), (5,)),
    several(
        "cov[weights]",
        lambda x, w: mx.cov(x, aweights=w, fweights=mx.array([1, 2, 1, 3, 1])),
        lambda x, w: np.cov(x, aweights=w, fweights=[1, 2, 1, 3, 1]),
        (3, 5),
        (5,),
        domain=(ANY, POSITIVE),
        dtypes=FLOATS[2:],
    ),
    several(
        "cov[fweights]",
        lambda x: mx.cov(x, fweights=mx.array([2, 1, 3, 1, 2]), ddof=2),
        lambda x: np.cov(x, fweights=[2, 1, 3, 1, 2], ddof=2),
        (3, 5),
    ),
    # Variables that do not vary have no correlation, hence no repeated values.
    *(
        several(name, bind("corrcoef", **options), oracle, *shapes, dtypes=dtypes, layouts=False)
        for name, options, oracle, shapes, dtypes in (
            ("corrcoef", {}, np.corrcoef, ((3, 5),), INEXACT),
            ("corrcoef[two]", {}, np.corrcoef, ((5,), (5,)), FLOATS),
            (
                "corrcoef[columns]",
                {"rowvar": False},
                lambda x: np.corrcoef(x, rowvar=False),
                ((5, 3),),
                FLOATS,
            ),
        )
    ),
    selected("sum", {"axis": 0}, dtypes=NUMERIC, result="sum", tolerance=2),
    selected("sum", {"initial": 5}, result="sum", tolerance=2),
    selected("prod", {"axis": 1, "initial": 2}, result="sum", domain=POSITIVE, tolerance=3),
    selected("min", {"axis": 0, "initial": 4}, domain=DISTINCT),
    selected("max", {"axis": (0, 1), "initial": 0, "keepdims": True}, domain=DISTINCT),
    selected("all", {"axis": 1}, result="bool", differentiable=()),
    selected("any", {"axis": 0, "keepdims": True}, result="bool", differentiable=()),
    selected("mean", {"axis": 1}, dtypes=NUMERIC, result="inexact"),
    selected("var", {"axis": 1}, result="spread", tolerance=4),
    selected("var", {"ddof": 1}, result="spread", tolerance=4),
    selected("std", {"axis": 1, "ddof": 1, "keepdims": True}, result="spread", tolerance=4),
    *(
        OpRecord(
            f"{name}[mean]",
            lambda x, mean, name=name: getattr(mx, name)(x, axis=1, mean=mean),
            lambda x, mean, name=name: getattr(np, name)(x, axis=1, mean=mean),
            shapes=((3, 4), (3, 1)),
            domain=(POSITIVE, ABOVE_ONE),
            dtypes=FLOATS,
            result="spread",
            differentiable=(0, 1),
            tolerance=4,
        )
        for name in ("var", "std", "nanvar", "nanstd")
    ),
    *(
        OpRecord(
            f"{name}[dtype={dtype}]",
            lambda x, name=name, dtype=dtype: getattr(mx, name)(x, dtype=getattr(mx, dtype)),
            lambda x, name=name: getattr(np, name)(x.astype(np.float64)),
            shapes=((3, 4),),
            dtypes=INTEGERS + FLOATS,
            result=dtype,
            domain=POSITIVE,
            tolerance=2,
        )
        for name in ("sum", "mean", "var", "std", "max")
        for dtype in ("float32", "float64")
    ),
]
