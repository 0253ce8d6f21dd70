"""Gathering and scattering by integer arrays, and by brackets."""

import numpy as np
import umber.core as mx
from arrays import INEXACT, NUMERIC, REAL
from domains import ANY, DISTINCT, POSITIVE, index
from op_table import OpRecord, bind, op


def gathering(name, call, oracle, shapes, size, **fields) -> OpRecord:
    """Reads `x` at integer places; the second input is the places."""
    options = {
        "shapes": shapes,
        "fixed": {1: "int32"},
        "domain": (ANY, index(size)),
        "differentiable": (0,),
        "second_order": False,
    }
    return OpRecord(name, call, oracle, **options | fields)


def scattering(name, call, oracle, shapes, places, **fields) -> OpRecord:
    """Changes `x` at fixed places to values; differentiable in both."""
    options = {
        "shapes": shapes,
        "domain": (DISTINCT, ANY),
        "differentiable": (0, 1),
        "second_order": False,
        "layouts": True,
    }
    return OpRecord(
        name,
        lambda x, values: call(x, places(mx.array), values),
        lambda x, values: oracle(x, places(np.array), values),
        **options | fields,
    )


def put(x, places, values, axis):
    """NumPy's `put_along_axis` on a copy."""
    result = x.copy()
    np.put_along_axis(result, places, values, axis)
    return result


def put_block(x, update):
    result = x.copy()
    result[1:3, 2:5] = update
    return result


def put_flat(x, places, values):
    result = x.copy()
    result.reshape(-1)[places] = values
    return result


def assign(x, places, values):
    """`x[places] = values` on a copy that NumPy or umber makes."""
    result = x.copy() if isinstance(x, np.ndarray) else x + mx.zeros_like(x)
    result[places] = values
    return result


def accumulate(ufunc):
    """`ufunc.at` on a copy: repeated places count each time."""

    def apply(x, places, values):
        result = x.copy()
        ufunc.at(result, places, values)
        return result

    return apply


ROWS = ((5, 3), (4,))
UNEQUAL = [0, -1, 2]
REPEATED = [1, 1, -2, 0]

RECORDS = [
    gathering("take", bind("take", axis=0), lambda x, i: np.take(x, i, 0), ROWS, 5),
    gathering(
        "take[last axis]",
        bind("take", axis=-1),
        lambda x, i: np.take(x, i, -1),
        ((2, 5), (2, 3)),
        5,
    ),
    gathering("take[flat]", op("take"), np.take, ((5, 3), (2, 2)), 15),
    gathering("take[one]", bind("take", axis=1), lambda x, i: np.take(x, i, 1), ((2, 5), ()), 5),
    gathering(
        "take[nothing]", bind("take", axis=0), lambda x, i: np.take(x, i, 0), ((5, 3), (0,)), 5
    ),
    *(
        gathering(
            f"take[{mode}]",
            lambda x, i, mode=mode: mx.take(x, 3 * i, axis=1, mode=mode),
            lambda x, i, mode=mode: np.take(x, 3 * i, 1, mode=mode),
            ((2, 5), (4,)),
            5,
        )
        for mode in ("wrap", "clip")
    ),
    OpRecord(
        "take[int]",
        bind("take", -2, axis=0),
        lambda x: np.take(x, -2, 0),
        shapes=((5, 3),),
        differentiable=(0,),
        second_order=False,
    ),
    *(
        gathering(
            f"take_along_axis[{axis}]",
            bind("take_along_axis", axis=axis),
            lambda x, i, axis=axis: np.take_along_axis(x, i, axis),
            shapes,
            4,
        )
        for axis, shapes in (
            (0, ((4, 3), (2, 3))),
            (-1, ((3, 4), (3, 6))),
            (1, ((2, 4, 3), (2, 4, 3))),
        )
    ),
    gathering(
        "take_along_axis[flat]",
        bind("take_along_axis", axis=None),
        lambda x, i: np.take_along_axis(x, i, None),
        ((2, 4), (6,)),
        8,
    ),
    gathering("array.__getitem__[rows]", lambda x, i: x[i], lambda x, i: x[i], ROWS, 5),
    gathering(
        "array.__getitem__[columns]", lambda x, i: x[:, i], lambda x, i: x[:, i], ((3, 5), (4,)), 5
    ),
    gathering(
        "array.__getitem__[slices and places]",
        lambda x, i: x[1:, None, i, ::-2],
        lambda x, i: x[1:, None, i, ::-2],
        ((3, 5, 4), (2, 2)),
        5,
    ),
    OpRecord(
        "array.__getitem__[slices]",
        lambda x: x[1:, ..., ::-2],
        lambda x: x[1:, ..., ::-2],
        shapes=((3, 2, 5),),
        differentiable=(0,),
        second_order=False,
    ),
    scattering(
        "put_along_axis",
        bind("put_along_axis", axis=1),
        lambda x, i, v: put(x, i, v, 1),
        ((3, 4), (3, 2)),
        lambda array: array([[0, 3], [1, 2], [3, -3]]),
    ).but(
        call=lambda x, v: mx.put_along_axis(x, mx.array([[0, 3], [1, 2], [3, -3]]), v, axis=1),
    ),
    OpRecord(
        "put_along_axis[flat]",
        lambda x, v: mx.put_along_axis(x, mx.array([0, 7, -2]), v, axis=None),
        lambda x, v: put_flat(x, np.array([0, 7, -2]), v),
        shapes=((3, 4), (3,)),
        differentiable=(0, 1),
        second_order=False,
    ),
    scattering(
        "array.__setitem__[rows]", assign, assign, ((4, 3), (3, 3)), lambda array: array(UNEQUAL)
    ),
    scattering(
        "array.__setitem__[slices]",
        assign,
        assign,
        ((4, 5), (2, 1)),
        lambda array: (slice(1, None, 2), slice(None, 1, -1)),
    ),
    scattering(
        "array.__setitem__[slice and places]",
        assign,
        assign,
        ((2, 4), (2, 3)),
        lambda array: (slice(None), array(UNEQUAL)),
    ),
    *(
        scattering(
            f"ArrayAt.{name}",
            lambda x, i, v, name=name: getattr(x.at[i], name)(v),
            accumulate(ufunc),
            ((4, 3), (4, 3)),
            lambda array: array(REPEATED),
            **fields,
        )
        for name, ufunc, fields in (
            ("add", np.add, {}),
            ("subtract", np.subtract, {"dtypes": NUMERIC}),
            ("multiply", np.multiply, {}),
            ("divide", np.divide, {"dtypes": INEXACT, "domain": (DISTINCT, POSITIVE)}),
            ("maximum", np.maximum, {"dtypes": REAL}),
            ("minimum", np.minimum, {"dtypes": REAL}),
        )
    ),
    OpRecord(
        "slice",
        lambda x: mx.slice(x, mx.array([1, 0]), (0, 2), (2, 3, 2)),
        lambda x: x[1:3, :, 0:2],
        shapes=((4, 3, 5),),
        differentiable=(0,),
        second_order=False,
    ),
    OpRecord(
        "slice_update",
        lambda x, update: mx.slice_update(x, update, mx.array([1, 2]), (0, 1)),
        lambda x, update: put_block(x, update),
        shapes=((4, 5), (2, 3)),
        differentiable=(0, 1),
        second_order=False,
    ),
]
