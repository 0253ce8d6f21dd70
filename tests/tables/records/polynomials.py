"""Polynomials as vectors of coefficients, and bits in bytes."""

import numpy as np
import umber.core as mx
from arrays import BOOL, FLOATS, INEXACT, INTEGERS, NUMERIC
from domains import ANY, DISTINCT, POSITIVE, SMALL, Domain
from op_table import OpRecord, bind, op

BYTES = Domain(0, 1, 0, 256)


def polynomial(name, call, oracle, *shapes, **fields) -> OpRecord:
    fields = {
        "dtypes": NUMERIC,
        "differentiable": tuple(range(len(shapes))),
        "domain": SMALL,
        "tolerance": 6,
    } | fields
    return OpRecord(name, call, oracle, shapes=shapes, **fields)


def fitting(name, degree, *shapes, **fields) -> OpRecord:
    """Points that are told apart, as repeated ones are not, and values that no polynomial meets."""
    return polynomial(
        name,
        lambda x, y: mx.polyfit(x, y, degree),
        lambda x, y: np.polyfit(x, y, degree),
        *shapes,
        **{"dtypes": FLOATS[2:], "domain": (DISTINCT, ANY), "tolerance": 20, "layouts": False}
        | fields,
    )


RECORDS = [
    polynomial("polyval", op("polyval"), np.polyval, (4,), (2, 3)),
    polynomial("polyval[0-d]", op("polyval"), np.polyval, (3,), ()),
    polynomial("polyval[nothing]", op("polyval"), np.polyval, (0,), (3,)),
    polynomial("polyadd", op("polyadd"), np.polyadd, (4,), (2,), second_order=False),
    polynomial("polysub", op("polysub"), np.polysub, (2,), (3,), second_order=False),
    polynomial("polymul", op("polymul"), np.convolve, (4,), (2,)),
    polynomial("polymul[long]", op("polymul"), np.convolve, (3,), (9,)),
    polynomial("polyder", op("polyder"), np.polyder, (4,), second_order=False),
    polynomial(
        "polyder[twice]", bind("polyder", 2), lambda p: np.polyder(p, 2), (5,), second_order=False
    ),
    polynomial(
        "polyint",
        bind("polyint", 2),
        lambda p: np.polyint(p, 2),
        (4,),
        result="inexact",
        second_order=False,
    ),
    fitting("polyfit", 2, (7,), (7,)),
    fitting("polyfit[columns]", 3, (8,), (8, 2)),
    fitting("polyfit[integers]", 1, (6,), (6,), dtypes=("int32",), result="float32").but(
        differentiable=()
    ),
    polynomial(
        "polyfit[weights]",
        lambda x, y, w: mx.polyfit(x, y, 1, w=w),
        lambda x, y, w: np.polyfit(x, y, 1, w=w),
        (7,),
        (7,),
        (7,),
        dtypes=FLOATS[2:],
        domain=(DISTINCT, ANY, POSITIVE),
        tolerance=20,
        layouts=False,
    ),
    polynomial("vander", op("vander"), np.vander, (4,)),
    polynomial(
        "vander[rising]",
        bind("vander", 3, increasing=True),
        lambda x: np.vander(x, 3, increasing=True),
        (4,),
    ),
    polynomial("vander[nothing]", bind("vander", 0), lambda x: np.vander(x, 0), (4,)).but(
        second_order=False
    ),
    *(
        OpRecord(
            f"packbits[{options}]",
            bind("packbits", **options),
            lambda x, options=options: np.packbits(x != 0, **options),
            shapes=((3, 11),),
            dtypes=BOOL + INTEGERS,
            result="uint8",
            domain=SMALL,
            refuses=INEXACT,
            empty=((0, 4),),
        )
        for options in ({}, {"axis": 1}, {"axis": 0, "bitorder": "little"})
    ),
    *(
        OpRecord(
            f"unpackbits[{options}]",
            bind("unpackbits", **options),
            lambda x, options=options: np.unpackbits(x, **options),
            shapes=((2, 3),),
            dtypes=("uint8",),
            domain=BYTES,
            refuses=(*INEXACT, "int8", "int32"),
            empty=((0, 4),),
        )
        for options in (
            {},
            {"axis": 1, "bitorder": "little"},
            {"axis": 0},
            {"axis": 1, "count": 13},
            {"axis": 1, "count": 30},
        )
    ),
    OpRecord(
        "unpackbits[fewer]",
        bind("unpackbits", axis=1, count=-3),
        lambda x: np.unpackbits(x, axis=1, count=-3),
        shapes=((2, 3),),
        dtypes=("uint8",),
        domain=BYTES,
    ),
]
