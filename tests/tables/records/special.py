"""Records of special functions, of the parts of numbers, and of integers' divisors."""

import numpy as np
from arrays import BOOL, COMPLEX, FLOATS, INEXACT, INTEGERS, REAL
from domains import ANY, DISTINCT, EXPONENT, OFF_STEPS, POSITIVE
from op_table import OpRecord, bind, op
from scipy import special

from records.elementwise import (
    aliases,
    arithmetic,
    binary,
    predicate,
    smooth,
    unary,
)

REAL_ONLY = {"dtypes": REAL, "refuses": COMPLEX}


def bits_of(x):
    """NumPy counts the bits of integers only."""
    return np.bitwise_count(x.astype(np.uint8) if x.dtype == bool else x)


SPECIAL = [
    smooth("exp2", lambda x: np.power(2.0, x), tolerance=2),
    smooth("cbrt", np.cbrt, domain=POSITIVE, **REAL_ONLY),
    smooth("erfc", special.erfc, **REAL_ONLY),
    # SciPy's value at minus infinity is not C's.
    *aliases(
        smooth(
            "gammaln", special.gammaln, domain=POSITIVE, specials=False, tolerance=2, **REAL_ONLY
        ),
        "lgamma",
    ),
    smooth("digamma", special.digamma, domain=POSITIVE, specials=False, tolerance=2, **REAL_ONLY),
    smooth("i0", special.i0, tolerance=2, specials=False, **REAL_ONLY),
    smooth("i0e", special.i0e, domain=POSITIVE, specials=False, **REAL_ONLY),
    smooth("i1", special.i1, tolerance=2, specials=False, **REAL_ONLY),
    smooth("i1e", special.i1e, domain=POSITIVE, specials=False, **REAL_ONLY),
    smooth("sinc", np.sinc, domain=POSITIVE, tolerance=2),
    smooth("fabs", np.fabs, domain=POSITIVE, second_order=False, **REAL_ONLY),
]

PARTS = [
    predicate("signbit", np.signbit, **REAL_ONLY),
    predicate("isreal", np.isreal),
    predicate("iscomplex", np.iscomplex),
    unary(
        "angle", np.angle, result="spread", domain=POSITIVE, differentiable=(0,), second_order=False
    ),
    unary("angle[deg]", lambda x: np.angle(x, deg=True), result="spread", tolerance=2).but(
        call=bind("angle", deg=True)
    ),
    # Neighbours are those of the dtype itself: test_special_functions.py has all dtypes.
    unary("spacing", np.spacing, dtypes=("float64",), refuses=COMPLEX),
    binary("nextafter", np.nextafter, dtypes=("float64",), refuses=COMPLEX),
    arithmetic(
        "copysign",
        np.copysign,
        result="inexact",
        domain=POSITIVE,
        **REAL_ONLY,
    ).but(differentiable=(0,), second_order=False),
    OpRecord(
        "ldexp",
        op("ldexp"),
        np.ldexp,
        shapes=((3, 4), (3, 4)),
        fixed={1: "int32"},
        result="inexact",
        differentiable=(0,),
        second_order=False,
        empty=((0, 4), (1, 4)),
        scalar=((), ()),
        **REAL_ONLY,
    ),
    unary("frexp[mantissa]", lambda x: np.frexp(x)[0], result="inexact", domain=OFF_STEPS).but(
        call=lambda x: op("frexp")(x)[0], dtypes=REAL, differentiable=(0,), second_order=False
    ),
    unary("frexp[exponent]", lambda x: np.frexp(x)[1], result="int32", specials=False).but(
        call=lambda x: op("frexp")(x)[1], **REAL_ONLY
    ),
    unary(
        "bitwise_count",
        bits_of,
        result="uint8",
        dtypes=BOOL + INTEGERS,
        refuses=INEXACT,
        specials=False,
    ),
]

TWO = [
    arithmetic("hypot", np.hypot, result="inexact", domain=POSITIVE, **REAL_ONLY),
    arithmetic("logaddexp2", np.logaddexp2, result="inexact", tolerance=2, **REAL_ONLY),
    binary("fmod", np.fmod, dtypes=INTEGERS + FLOATS, domain=(ANY, POSITIVE)).but(
        refuses=COMPLEX, differentiable=(0,), second_order=False
    ),
    binary("heaviside", np.heaviside, result="inexact", **REAL_ONLY),
    arithmetic("fmax", np.fmax, dtypes=REAL),
    arithmetic("fmin", np.fmin, dtypes=REAL),
    binary("float_power", np.float_power, result="float64", dtypes=REAL).but(
        domain=(POSITIVE, EXPONENT), specials=False
    ),
    binary("float_power[complex]", np.float_power, result="complex128", dtypes=COMPLEX).but(
        domain=(POSITIVE, EXPONENT), specials=False
    ),
    binary("gcd", np.gcd, dtypes=INTEGERS, refuses=BOOL + INEXACT, specials=False),
    binary("lcm", np.lcm, dtypes=INTEGERS, refuses=BOOL + INEXACT, specials=False),
]

OTHER_NAMES = [
    smooth("rad2deg", np.rad2deg, dtypes=REAL, second_order=False, tolerance=2),
    smooth("deg2rad", np.deg2rad, dtypes=REAL, second_order=False),
    OpRecord(
        "clip[min, max]",
        bind("clip", min=-1, max=1),
        lambda x: np.clip(x, -1, 1),
        dtypes=("int32", "float32", "float64"),
        domain=DISTINCT,
        differentiable=(0,),
        second_order=False,
    ),
    OpRecord("nan_to_num[complex]", op("nan_to_num"), np.nan_to_num, dtypes=COMPLEX),
]

RECORDS = [*SPECIAL, *PARTS, *TWO, *OTHER_NAMES]
