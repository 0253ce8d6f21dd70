"""Sorting, searching, and what is counted."""

from itertools import pairwise

import numpy as np
import umber.core as mx
from arrays import ALL, FLOATS, INTEGERS, REAL
from domains import DISTINCT, SMALL
from op_table import OpRecord, bind

from records.reductions import label

AXES = ({}, {"axis": 0}, {"axis": 1}, {"axis": None})
LONG = (5, 531)


def sorting(name, oracle, choices=AXES, **fields) -> list[OpRecord]:
    """One record an axis; the last one by default."""
    options = {"shapes": ((5, 6),), "dtypes": INTEGERS + FLOATS, "domain": DISTINCT} | fields
    return [
        OpRecord(
            label(name, chosen),
            bind(name, **chosen),
            lambda x, chosen=chosen: oracle(x, **chosen),
            **options,
        )
        for chosen in choices
    ]


def stable_order(x, **keywords):
    return np.argsort(x, kind="stable", **keywords)


def largest(x, k, axis=-1):
    """The k largest, in increasing order."""
    return np.take(np.sort(x, axis), range(x.shape[axis] - k, x.shape[axis]), axis)


def partitioned(name, finish, cuts=(3,), **fields) -> OpRecord:
    """The order inside the parts is free: what is compared is each part sorted."""

    def split_sorted(module, parts):
        sides = (parts[:, a:b] for a, b in pairwise((0, *cuts, None)))
        return module.concatenate([module.sort(side, axis=1) for side in sides], axis=1)

    return OpRecord(
        name,
        lambda x: split_sorted(mx, finish(mx, x)),
        lambda x: np.sort(x, axis=1),
        shapes=((4, 7),),
        dtypes=INTEGERS + FLOATS,
        domain=DISTINCT,
        **fields,
    )


def median(x, **keywords):
    return np.median(x, **keywords)


RECORDS = [
    *sorting("sort", np.sort, differentiable=(0,), second_order=False, long=(LONG,), dtypes=REAL),
    *sorting("argsort", stable_order, result="uint32", long=(LONG,)),
    partitioned(
        "partition",
        lambda module, x: module.partition(x, 3, axis=1),
        differentiable=(0,),
        second_order=False,
    ),
    partitioned(
        "partition[several]",
        lambda module, x: module.partition(x, [-2, 2, 3, 5], axis=1),
        (2, 3, 4, 5, 6),
        differentiable=(0,),
        second_order=False,
    ),
    partitioned(
        "argpartition",
        lambda module, x: module.take_along_axis(x, module.argpartition(x, 3, axis=1), axis=1),
    ),
    partitioned(
        "argpartition[several]",
        lambda module, x: module.take_along_axis(x, module.argpartition(x, (2, 5), axis=1), axis=1),
        (2, 3, 5, 6),
    ),
    OpRecord(
        "topk",
        lambda x: bind("sort", axis=-1)(bind("topk", 2)(x)),
        lambda x: largest(x, 2),
        shapes=((4, 6),),
        dtypes=INTEGERS + FLOATS,
        domain=DISTINCT,
    ),
    *sorting("median", median, ({}, {"axis": 1}, {"axis": 0, "keepdims": True}), result="inexact"),
    *sorting(
        "minmax",
        lambda x, **k: [np.min(x, **k), np.max(x, **k)],
        ({}, {"axis": 1}, {"axis": 0, "keepdims": True}),
    ),
    *sorting(
        "count_nonzero",
        np.count_nonzero,
        ({}, {"axis": 1}, {"axis": (0, 1)}),
        result="int32",
        dtypes=ALL,
        domain=SMALL,
    ),
]
