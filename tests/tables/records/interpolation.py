"""Straight lines between points, slopes, areas, differences."""

import numpy as np
import umber.core as mx
from arrays import FLOATS, INEXACT, INTEGERS, NUMERIC
from domains import ANY, Domain
from op_table import OpRecord, bind, op

POINTS = [-2.0, -1.25, 0.5, 1.0, 2.5]
# Between the points, not on them.
PLACES = Domain(1.1, 2.4, -4, 5)
RISING = np.array([0.0, 0.5, 2.0, 2.5, 4.0, 4.25])


def several(name, call, oracle, *shapes, **fields) -> OpRecord:
    fields = {
        "dtypes": FLOATS,
        "result": "inexact",
        "differentiable": tuple(range(len(shapes))),
        "second_order": False,
        "tolerance": 4,
    } | fields
    return OpRecord(name, call, oracle, shapes=shapes, **fields)


def interpolating(name, shape=(3, 4), domain=ANY, **options) -> OpRecord:
    """At `x`, values `fp` at fixed points."""
    return several(
        name,
        lambda x, fp: mx.interp(x, mx.array(POINTS, x.dtype), fp, **options),
        lambda x, fp: np.interp(x, POINTS, fp, **options),
        shape,
        (5,),
        domain=domain,
    )


def sloping(name, shape, *spacing, dtypes=FLOATS, **options) -> OpRecord:
    given = [mx.array(s, mx.float32) if isinstance(s, np.ndarray) else s for s in spacing]
    return several(
        name,
        lambda f: op("gradient")(f, *given, **options),
        lambda f: np.gradient(f, *spacing, **options),
        shape,
        dtypes=dtypes,
    )


RECORDS = [
    interpolating("interp", domain=PLACES),
    interpolating("interp[outside]", left=-7.0, right=9.0).but(differentiable=()),
    interpolating("interp[flat ends]").but(differentiable=(1,)),
    interpolating("interp[0-d]", shape=(), domain=PLACES),
    interpolating("interp[period]", domain=PLACES, period=6.0),
    # In the points too.
    several(
        "interp[points]",
        lambda x, step, fp: mx.interp(x, mx.cumsum(step) - 5, fp),
        lambda x, step, fp: np.interp(x, np.cumsum(step) - 5, fp),
        (6,),
        (4,),
        (4,),
        domain=(PLACES, Domain(2.0, 3.0, 1, 3), ANY),
        dtypes=FLOATS[2:],
    ),
    several(
        "interp[complex]",
        lambda x, fp: mx.interp(x, mx.array(POINTS, mx.float32), fp),
        lambda x, fp: np.interp(x, POINTS, fp),
        (7,),
        (5,),
        fixed={0: "float32"},
        dtypes=("complex64",),
        domain=(PLACES, ANY),
        differentiable=(1,),
    ),
    several(
        "interp[integers]",
        lambda x: mx.interp(x, mx.array([-4, 0, 8]), mx.array([1, 3, -1])),
        lambda x: np.interp(x, [-4, 0, 8], [1, 3, -1]),
        (5,),
        dtypes=("int8", "uint8", "int32", "int64"),
    ),
    sloping("gradient", (5,), dtypes=INTEGERS + INEXACT),
    sloping("gradient[axes]", (3, 4, 2)),
    sloping("gradient[axis]", (3, 4), axis=1),
    sloping("gradient[two axes]", (3, 4, 5), 2.0, 0.5, axis=(2, 0)),
    sloping("gradient[edges]", (5, 3), 0.5, axis=0, edge_order=2),
    sloping("gradient[two points]", (2,), 0.5),
    sloping("gradient[places]", (6, 2), RISING, axis=0, dtypes=FLOATS[2:]),
    sloping(
        "gradient[places,edges]",
        (2, 6),
        RISING,
        axis=-1,
        edge_order=2,
        dtypes=FLOATS[2:],
    ),
    several(
        "gradient[spacing]",
        lambda f, h: op("gradient")(f, h),
        lambda f, h: np.gradient(f, h),
        (6,),
        (),
        domain=Domain(0.5, 2.0),
        dtypes=FLOATS[2:],
    ),
    several("trapezoid", bind("trapezoid"), np.trapezoid, (3, 5), dtypes=INTEGERS + INEXACT),
    several(
        "trapezoid[axis,dx]",
        bind("trapezoid", dx=0.5, axis=0),
        lambda y: np.trapezoid(y, dx=0.5, axis=0),
        (3, 5),
        empty=((0, 4),),
    ),
    several("trapezoid[places]", bind("trapezoid"), np.trapezoid, (3, 5), (5,), second_order=True),
    several(
        "trapezoid[many places]",
        bind("trapezoid", axis=0),
        lambda y, x: np.trapezoid(y, x, axis=0),
        (4, 3),
        (4, 3),
        second_order=True,
    ),
    several("ediff1d", op("ediff1d"), np.ediff1d, (2, 3), dtypes=NUMERIC, result="same"),
    several(
        "ediff1d[ends]",
        lambda x, y: mx.ediff1d(x, to_end=y, to_begin=y[:1]),
        lambda x, y: np.ediff1d(x, to_end=y, to_begin=y[:1]),
        (5,),
        (2,),
        result="same",
    ),
]
