"""Running sums, products and extrema along an axis, and differences."""

import numpy as np
from arrays import FLOATS, INTEGERS, NUMERIC
from domains import ANY, DISTINCT, POSITIVE
from op_table import OpRecord, bind

from records.reductions import LONG, label

CHOICES = (
    {"axis": 0},
    {"axis": -1, "reverse": True},
    {"axis": 1, "inclusive": False},
    {"axis": 1, "reverse": True, "inclusive": False},
    {},
)


def running(accumulate, start):
    """MLX's scan from a NumPy ufunc: the direction, and whether an element counts for itself."""

    def scan(x, axis=None, reverse=False, inclusive=True):
        x, axis = (x.ravel(), 0) if axis is None else (x, axis)
        x = np.flip(x, axis) if reverse else x
        if not inclusive:
            edge = np.full_like(np.take(x, [0], axis), start(x.dtype))
            x = np.concatenate([edge, np.delete(x, -1, axis)], axis)
        result = accumulate(x, axis=axis)
        return np.flip(result, axis) if reverse else result

    return scan


def lowest(dtype):
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def highest(dtype):
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


def constant(value):
    return lambda dtype: value


def same_kind(ufunc):
    """Accumulate without widening integers."""
    return lambda x, axis: ufunc.accumulate(x, axis=axis, dtype=x.dtype)


def scan(name, oracle, choices=CHOICES, **fields) -> list[OpRecord]:
    """One record for each choice of axis and direction."""
    options = {"shapes": ((2, 3, 4),), "second_order": False, "differentiable": (0,)} | fields
    return [
        OpRecord(
            label(name, chosen),
            bind(name, **chosen),
            lambda x, chosen=chosen: oracle(x, **chosen),
            **options,
        )
        for chosen in choices
    ]


def log_sums(x, axis):
    return np.logaddexp.accumulate(x, axis=axis)


SUMS = {"dtypes": NUMERIC, "tolerance": 3}
PRODUCTS = {"dtypes": INTEGERS + FLOATS, "domain": POSITIVE, "tolerance": 6}
EXTREMA = {"dtypes": INTEGERS + FLOATS, "domain": DISTINCT}


def without_gradient(records: list[OpRecord]) -> list[OpRecord]:
    """An exclusive scan of extrema starts at infinity, which finite differences cannot pass."""
    return [r.but(differentiable=()) if "inclusive" in r.name else r for r in records]


cumulative_sum = running(same_kind(np.add), constant(0))
cumulative_product = running(same_kind(np.multiply), constant(1))

RECORDS = [
    *scan("cumsum", cumulative_sum, **SUMS),
    *scan("cumulative_sum", cumulative_sum, CHOICES[:1], **SUMS),
    *(
        record.but(name="cumsum[long]", shapes=(LONG,))
        for record in scan(
            "cumsum",
            cumulative_sum,
            CHOICES[-1:],
            dtypes=("int32", "float32", "float64"),
            domain=POSITIVE,
            tolerance=10,
            differentiable=(),
        )
    ),
    *(
        record.but(second_order=True)
        for record in (
            *scan("cumprod", cumulative_product, **PRODUCTS),
            *scan("cumulative_prod", cumulative_product, CHOICES[:1], **PRODUCTS),
        )
    ),
    *without_gradient(scan("cummax", running(np.maximum.accumulate, lowest), **EXTREMA)),
    *without_gradient(scan("cummin", running(np.minimum.accumulate, highest), **EXTREMA)),
    *(
        record.but(second_order=True)
        for record in scan(
            "logcumsumexp",
            running(log_sums, lowest),
            CHOICES[:2],
            dtypes=FLOATS,
            domain=ANY,
            tolerance=3,
        )
    ),
    *(
        OpRecord(
            label("diff", chosen),
            bind("diff", **chosen),
            lambda x, chosen=chosen: np.diff(x, **chosen),
            shapes=((3, 5),),
            dtypes=NUMERIC,
            differentiable=(0,),
            second_order=False,
            tolerance=2,
        )
        for chosen in ({}, {"n": 2}, {"axis": 0})
    ),
]
