"""Reductions over any axes, and softmax."""

import numpy as np
from arrays import BOOL, FLOATS, INTEGERS, REAL
from domains import ANY, DISTINCT, NEAR_ONE, POSITIVE, SMALL
from op_table import OpRecord, bind
from scipy import special

SHAPE = (2, 3, 4)
LONG = (19, 5, 67)
AXES = (
    {},
    {"axis": 0},
    {"axis": -1, "keepdims": True},
    {"axis": (0, 2)},
    {"axis": [1, -1], "keepdims": True},
)
ONE_AXIS = ({}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": -2})


def label(name: str, options: dict) -> str:
    """`sum[axis=0,keepdims=True]`"""
    inside = ",".join(f"{key}={value}" for key, value in options.items())
    return f"{name}[{inside}]" if inside else name


def for_numpy(options: dict) -> dict:
    """NumPy wants axes as a tuple."""
    return {
        key: tuple(value) if isinstance(value, list) else value for key, value in options.items()
    }


def reduction(name, oracle, choices=AXES, shape=SHAPE, **fields) -> list[OpRecord]:
    """One record for each choice of axes."""
    records = []
    for options in choices:
        numpy_options = for_numpy(options)
        records.append(
            OpRecord(
                label(name, options),
                bind(name, **options),
                lambda x, keywords=numpy_options: oracle(x, **keywords),
                **{"shapes": (shape,), "long": (LONG,), **fields},
                scalar=((),) if not options else None,
            )
        )
    return records


def product(x, **keywords):
    """A product that wraps around in 64 bits; the table then narrows it."""
    return np.prod(x.astype(np.uint64) if x.dtype.kind == "u" else x, **keywords)


def variance(x, **keywords):
    return np.var(x, **keywords)


def log_sum_exp(x, **keywords):
    return special.logsumexp(x, **keywords)


def soft_max(x, **keywords):
    return special.softmax(x, **keywords) if x.size else x


def log_soft_max(x, **keywords):
    return special.log_softmax(x, **keywords) if x.size else x


RECORDS = [
    *reduction(
        "sum", np.sum, result="sum", differentiable=(0,), second_order=False, empty=((2, 0, 4),)
    ),
    *reduction(
        # Products of 24 factors: each multiplication rounds.
        "prod",
        product,
        result="sum",
        domain=POSITIVE,
        differentiable=(0,),
        empty=((2, 0, 4),),
        tolerance=6,
        long=None,
    ),
    *(
        record.but(name="prod[long]", scalar=None, tolerance=20)
        for record in reduction("prod", product, ({},), dtypes=FLOATS, domain=NEAR_ONE)
    ),
    *reduction("mean", np.mean, result="inexact", differentiable=(0,), second_order=False),
    *reduction("var", variance, result="spread", dtypes=REAL, differentiable=(0,), tolerance=4),
    *reduction("std", np.std, result="spread", dtypes=REAL, differentiable=(0,), tolerance=2),
    *reduction(
        "var", variance, ({"ddof": 1}, {"axis": 0, "ddof": 1}), dtypes=FLOATS, differentiable=(0,)
    ),
    *reduction(
        "std",
        np.std,
        ({"axis": -1, "ddof": 1, "keepdims": True},),
        dtypes=FLOATS,
        differentiable=(0,),
    ),
    *reduction(
        "min", np.min, dtypes=REAL, domain=DISTINCT, differentiable=(0,), second_order=False
    ),
    *reduction(
        "max", np.max, dtypes=REAL, domain=DISTINCT, differentiable=(0,), second_order=False
    ),
    *reduction("all", np.all, result="bool", empty=((2, 0, 4),)),
    *reduction("any", np.any, result="bool", domain=SMALL, empty=((2, 0, 4),)),
    *reduction("argmin", np.argmin, ONE_AXIS, result="uint32", dtypes=REAL, domain=DISTINCT),
    *reduction("argmax", np.argmax, ONE_AXIS, result="uint32", dtypes=REAL, domain=DISTINCT),
    # Booleans and ties: the first of equal elements wins.
    *(
        record.but(name=f"{record.name}[ties]", scalar=None)
        for record in reduction(
            "argmax", np.argmax, ({}, {"axis": 1}), result="uint32", dtypes=BOOL + INTEGERS
        )
    ),
    *reduction(
        "logsumexp", log_sum_exp, result="inexact", dtypes=REAL, differentiable=(0,), tolerance=2
    ),
    *reduction(
        "softmax",
        soft_max,
        ({}, {"axis": -1}, {"axis": 0}, {"axis": (0, 2)}),
        result="inexact",
        dtypes=REAL,
        differentiable=(0,),
        domain=ANY,
        empty=((0, 3, 4),),
    ),
    *reduction(
        "log_softmax",
        log_soft_max,
        ({}, {"axis": -1}, {"axis": 0}, {"axis": (0, 2)}),
        result="inexact",
        dtypes=REAL,
        differentiable=(0,),
        domain=ANY,
        empty=((0, 3, 4),),
        # A difference of the size of the spread, rounded.
        tolerance=4,
    ),
    OpRecord(
        "softmax[precise]",
        bind("softmax", axis=-1, precise=True),
        lambda x: special.softmax(x, axis=-1),
        dtypes=FLOATS,
        differentiable=(0,),
    ),
]
