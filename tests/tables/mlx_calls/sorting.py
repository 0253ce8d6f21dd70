"""Sorting and searching."""

import numpy as np

from mlx_calls.draw import REAL, Draw, Given


def axis_or_none(draw: Draw, shape):
    return draw.pick([None, draw.axis(shape), draw.axis(shape)])


def sort(draw):
    a = draw.array(draw.shape(1, 3), REAL)
    return draw.call(a, either={"axis": axis_or_none(draw, a.shape)})


def argsort(draw):
    a = draw.distinct(draw.shape(1, 3), REAL[1:])
    return draw.call(a, either={"axis": axis_or_none(draw, a.shape)})


def partition(draw):
    a = draw.distinct(draw.shape(1, 3, zero=0.0), REAL[1:])
    axis = axis_or_none(draw, a.shape)
    size = int(np.prod(a.shape)) if axis is None else a.shape[axis]
    return draw.call(a, must={"kth": draw.int(-size, size - 1), "axis": axis})


def topk(draw):
    a = draw.distinct(draw.shape(1, 3, zero=0.0), REAL[1:])
    axis = axis_or_none(draw, a.shape)
    size = int(np.prod(a.shape)) if axis is None else a.shape[axis]
    return draw.call(a, must={"k": draw.int(1, size), "axis": axis})


def searchsorted(draw):
    dtype = draw.dtype(REAL[1:])
    rows = Given(np.sort(draw.values((draw.int(0, 9),), dtype)), dtype)
    values = draw.array(draw.shape(0, 2), dtype)
    return draw.call(rows, values, either={"side": draw.pick(["left", "right"])})


def unique(draw):
    a = draw.array(draw.shape(1, 2, zero=0.0), REAL)
    return draw.call(
        a,
        must={"size": draw.int(1, 9)},
        either={
            "return_index": draw.chance(0.3),
            "return_inverse": draw.chance(0.3),
            "return_counts": draw.chance(0.3),
        },
    )


CALLS = {
    "argpartition": partition,
    "argsort": argsort,
    "partition": partition,
    "searchsorted": searchsorted,
    "sort": sort,
    "topk": topk,
    "unique": unique,
}
