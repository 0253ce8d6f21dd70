"""Reductions and scans that pass over what is not a number."""

import warnings

import numpy as np
import umber.core as mx
from arrays import FLOATS, INEXACT, INTEGERS, REAL
from domains import DISTINCT, POSITIVE, with_gaps
from op_table import OpRecord, bind

from records.reductions import AXES, ONE_AXIS, label, product, reduction

FEW_AXES = ({}, {"axis": 0}, {"axis": (0, 2), "keepdims": True})


def not_a_number(x):
    """Products of numbers only, which wrap around in integers."""
    return x if x.dtype.kind not in "fc" else np.where(np.isnan(x), 1, x)


def quiet(oracle):
    """NumPy warns where a row holds no number, as rows do that one element fills."""

    def silent(x, **keywords):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return oracle(x, **keywords)

    return silent


def gappy(name, oracle, choices=AXES, domain=POSITIVE, **fields) -> list[OpRecord]:
    fields = {"differentiable": (0,), "second_order": False, "long": None} | fields
    return reduction(name, quiet(oracle), choices, domain=with_gaps(domain), **fields)


def scan(name, oracle, **fields) -> list[OpRecord]:
    return [
        OpRecord(
            label(name, options),
            bind(name, **options),
            lambda x, options=options: oracle(x, **options),
            shapes=((2, 3, 4),),
            domain=with_gaps(POSITIVE),
            dtypes=INTEGERS + FLOATS,
            differentiable=(0,),
            **fields,
        )
        for options in ({}, {"axis": 1})
    ]


MASK = np.array([[True, False, True, True], [False, True, True, False], [True, True, False, True]])


def selected(name, options, domain=POSITIVE, **fields) -> OpRecord:
    """A reduction of elements under a mask."""
    function = quiet(getattr(np, name))
    return OpRecord(
        f"{name}[where,{label('', options)}]",
        lambda x: getattr(mx, name)(x, where=mx.array(MASK), **options),
        lambda x: function(x, where=MASK, **options),
        shapes=((3, 4),),
        domain=with_gaps(domain),
        **{"dtypes": INTEGERS + FLOATS, "differentiable": (0,), "second_order": False} | fields,
    )


def cumulative(ufunc, neutral):
    """Accumulate without widening integers."""

    def oracle(x, axis=None):
        x = np.where(np.isnan(x), neutral, x).astype(x.dtype)
        x, axis = (x.ravel(), 0) if axis is None else (x, axis)
        return ufunc.accumulate(x, axis=axis, dtype=x.dtype)

    return oracle


RECORDS = [
    *gappy("nansum", np.nansum, result="sum", empty=((2, 0, 4),)),
    *gappy(
        "nanprod",
        lambda x, **keywords: product(not_a_number(x), **keywords),
        FEW_AXES,
        result="sum",
        tolerance=6,
        empty=((2, 0, 4),),
    ),
    *gappy("nanmean", np.nanmean, result="inexact"),
    *gappy("nanvar", np.nanvar, result="spread", dtypes=INTEGERS + INEXACT, tolerance=4),
    # A root has no slope at zero, hence more than one number a row.
    *gappy(
        "nanstd",
        np.nanstd,
        (*FEW_AXES, {"axis": 1, "ddof": 1}),
        shape=(5, 3, 4),
        result="spread",
        dtypes=FLOATS,
        tolerance=4,
    ),
    *gappy("nanmin", np.nanmin, dtypes=REAL, domain=DISTINCT),
    *gappy("nanmax", np.nanmax, dtypes=REAL, domain=DISTINCT),
    *(
        # NumPy refuses rows without a number.
        record.but(differentiable=(), layouts=False)
        for name, oracle in (("nanargmin", np.nanargmin), ("nanargmax", np.nanargmax))
        for record in gappy(
            name, oracle, ONE_AXIS, result="uint32", dtypes=INTEGERS + FLOATS, domain=DISTINCT
        )
    ),
    selected("nansum", {"axis": 0}, result="sum", tolerance=2),
    selected("nansum", {"initial": 5}, result="sum", tolerance=2),
    selected("nanprod", {"axis": 1, "initial": 2}, result="sum", tolerance=6),
    selected("nanmin", {"axis": 0, "initial": 4}, domain=DISTINCT),
    selected("nanmax", {"initial": 0, "keepdims": True}, domain=DISTINCT),
    selected("nanmean", {"axis": 1}, result="inexact"),
    selected("nanvar", {}, result="spread", tolerance=4),
    selected("nanstd", {"ddof": 1, "keepdims": True}, result="spread", tolerance=4),
    *gappy("nanmedian", np.nanmedian, result="inexact", dtypes=REAL, domain=DISTINCT),
    *scan("nancumsum", cumulative(np.add, 0), second_order=False, tolerance=3),
    *scan("nancumprod", cumulative(np.multiply, 1), tolerance=6),
]
