"""Unary, binary, ternary and cast records."""

import numpy as np
import umber.core as mx
from arrays import ALL, BOOL, COMPLEX, FLOATS, INEXACT, INTEGERS, NUMERIC, REAL
from domains import (
    ABOVE_ONE,
    ANY,
    DISTINCT,
    EXPONENT,
    HALF_OPEN_UNIT,
    OFF_STEPS,
    POSITIVE,
    PROBABILITY,
    SHIFT,
    SMALL,
    UNIT,
)
from op_table import OpRecord, bind, op
from scipy import special

LONG = (3, 347)


def unary(name, oracle, **options) -> OpRecord:
    """A function of one array, element by element."""
    options = {"empty": ((0, 4),), "scalar": ((),), "long": (LONG,), "specials": True} | options
    return OpRecord(name, op(name), oracle, **options)


def smooth(name, oracle, **options) -> OpRecord:
    """A unary function with a derivative; integers become float32."""
    return unary(name, oracle, **{"result": "inexact", "differentiable": (0,)} | options)


def stepwise(name, oracle, **options) -> OpRecord:
    """A unary function whose derivative is zero where it has one."""
    options = {"differentiable": (0,), "second_order": False, "domain": OFF_STEPS} | options
    return unary(name, oracle, **options)


def predicate(name, oracle, **options) -> OpRecord:
    """A unary question."""
    return unary(name, oracle, **{"result": "bool"} | options)


def binary(name, oracle, **options) -> OpRecord:
    """A function of two arrays, broadcast against each other."""
    options = {
        "shapes": ((3, 4), (3, 4)),
        "empty": ((0, 4), (1, 4)),
        "scalar": ((), ()),
        "long": (LONG, LONG),
        "specials": True,
    } | options
    return OpRecord(name, op(name), oracle, **options)


def arithmetic(name, oracle, **options) -> OpRecord:
    """A binary function differentiable in both arguments."""
    return binary(name, oracle, **{"differentiable": (0, 1)} | options)


def comparison(name, oracle, **options) -> OpRecord:
    """A binary question."""
    return binary(name, oracle, **{"result": "bool", "domain": SMALL} | options)


def bitwise(name, oracle, **options) -> OpRecord:
    """A binary function of integers and booleans."""
    return binary(
        name, oracle, **{"dtypes": BOOL + INTEGERS, "refuses": INEXACT, "specials": False} | options
    )


def aliases(record: OpRecord, *names: str) -> list[OpRecord]:
    """The record, and one for each other name of the function."""
    return [record, *(record.but(name=name, call=op(name)) for name in names)]


def sign(x):
    """The sign of a boolean is itself."""
    return x if x.dtype == bool else np.sign(x)


def sigmoid(x):
    return special.expit(x)


def rsqrt(x):
    return 1 / np.sqrt(x)


def nearest(x):
    return np.round(x)


def power(x, y):
    """Integer powers wrap around."""
    return np.power(x, y)


def logical_xor_of(x, y):
    return np.logical_xor(x != 0, y != 0)


def quotient(x, y):
    """Python's floor division; booleans divide as integers."""
    if x.dtype == bool:
        return (x & y).astype(bool)
    return np.floor_divide(x, y)


def add_any(x, y):
    """Booleans add as `or`."""
    return np.logical_or(x, y) if x.dtype == bool else np.add(x, y)


def subtract_any(x, y):
    """Booleans subtract as `xor`."""
    return np.logical_xor(x, y) if x.dtype == bool else np.subtract(x, y)


def power_any(x, y):
    return np.logical_or(x, ~y) if x.dtype == bool else np.power(x, y)


def square_any(x):
    return x if x.dtype == bool else np.square(x)


def shift_as(function):
    """Booleans shift as uint8."""
    return lambda x, y: function(*(v.astype(np.uint8) if v.dtype == bool else v for v in (x, y)))


def logaddexp_any(x, y):
    if x.dtype.kind != "c":
        return np.logaddexp(x, y)
    return np.log(np.exp(x) + np.exp(y))


UNARY = [
    *aliases(smooth("arccos", np.arccos, domain=UNIT, tolerance=2), "acos"),
    *aliases(smooth("arccosh", np.arccosh, domain=ABOVE_ONE, tolerance=4), "acosh"),
    *aliases(smooth("arcsin", np.arcsin, domain=UNIT, tolerance=2), "asin"),
    *aliases(smooth("arcsinh", np.arcsinh, tolerance=2), "asinh"),
    *aliases(smooth("arctan", np.arctan), "atan"),
    *aliases(smooth("arctanh", np.arctanh, domain=HALF_OPEN_UNIT, tolerance=2), "atanh"),
    smooth("cos", np.cos),
    smooth("cosh", np.cosh, tolerance=2),
    smooth("sin", np.sin),
    smooth("sinh", np.sinh, tolerance=2),
    smooth("tan", np.tan, domain=SMALL, tolerance=4),
    smooth("tanh", np.tanh, tolerance=2),
    smooth("exp", np.exp, tolerance=2),
    smooth("expm1", np.expm1, dtypes=REAL, tolerance=2),
    smooth("log", np.log, domain=POSITIVE),
    smooth("log2", np.log2, domain=POSITIVE),
    smooth("log10", np.log10, domain=POSITIVE),
    smooth("log1p", np.log1p, domain=POSITIVE),
    smooth("sqrt", np.sqrt, domain=POSITIVE),
    smooth("rsqrt", rsqrt, domain=POSITIVE),
    smooth("reciprocal", np.reciprocal, domain=POSITIVE),
    smooth("sigmoid", sigmoid, dtypes=REAL),
    smooth("erf", special.erf, dtypes=REAL, refuses=COMPLEX),
    smooth(
        "erfinv", special.erfinv, dtypes=REAL, domain=HALF_OPEN_UNIT, refuses=COMPLEX, tolerance=4
    ),
    smooth("degrees", lambda x: x * (180 / np.pi), second_order=False, tolerance=2),
    smooth("radians", lambda x: x * (np.pi / 180), second_order=False),
    unary("square", square_any, differentiable=(0,)),
    unary(
        "negative",
        np.negative,
        dtypes=NUMERIC,
        differentiable=(0,),
        second_order=False,
        refuses=BOOL,
    ),
    unary("positive", lambda x: x, differentiable=(0,), second_order=False),
    unary("abs", np.abs, result="real", domain=POSITIVE, differentiable=(0,)),
    *aliases(unary("conjugate", np.conjugate, differentiable=(0,), second_order=False), "conj"),
    unary("real", np.real, result="real", differentiable=(0,), second_order=False),
    unary("imag", np.imag, result="real", dtypes=COMPLEX, differentiable=(0,), second_order=False),
    unary("stop_gradient", lambda x: x),
    stepwise("ceil", np.ceil, dtypes=REAL, refuses=COMPLEX),
    stepwise("floor", np.floor, dtypes=REAL, refuses=COMPLEX),
    stepwise("trunc", np.trunc, dtypes=REAL, refuses=COMPLEX),
    stepwise("round", nearest, domain=OFF_STEPS),
    unary(
        "sign",
        sign,
        dtypes=REAL,
        domain=ANY,
        specials=False,
        differentiable=(0,),
        second_order=False,
    ),
    unary("bitwise_invert", np.invert, dtypes=BOOL + INTEGERS, refuses=INEXACT, specials=False),
    predicate("logical_not", np.logical_not),
    predicate("isfinite", np.isfinite),
    predicate("isinf", np.isinf),
    predicate("isnan", np.isnan),
    predicate("isneginf", np.isneginf, dtypes=REAL),
    predicate("isposinf", np.isposinf, dtypes=REAL),
    # An infinity becomes the largest finite value of the input's dtype, not of the oracle's.
    unary(
        "nan_to_num",
        np.nan_to_num,
        dtypes=REAL,
        specials=False,
        differentiable=(0,),
        second_order=False,
    ),
    unary(
        "round[decimals=2]", lambda x: np.round(x, 2), dtypes=("float32", "float64"), specials=False
    ).but(call=bind("round", decimals=2)),
    unary(
        "round[decimals=-1]", lambda x: np.round(x, -1), dtypes=("int32", "int64", "float32")
    ).but(call=bind("round", decimals=-1), specials=False),
]

BINARY = [
    arithmetic("add", add_any, second_order=False),
    arithmetic("subtract", subtract_any, second_order=False),
    arithmetic("multiply", np.multiply),
    arithmetic("divide", np.true_divide, result="inexact", domain=(ANY, POSITIVE)),
    *aliases(
        arithmetic("power", power_any, domain=(POSITIVE, EXPONENT), specials=False, tolerance=4),
        "pow",
    ),
    arithmetic("maximum", np.maximum, dtypes=REAL),
    arithmetic("minimum", np.minimum, dtypes=REAL),
    arithmetic("logaddexp", logaddexp_any, result="inexact", dtypes=REAL, tolerance=2),
    *aliases(
        arithmetic(
            "arctan2", np.arctan2, result="inexact", dtypes=REAL, domain=POSITIVE, refuses=COMPLEX
        ),
        "atan2",
    ),
    # remainder and floor_divide are exact only when the quotient is computed exactly.
    binary(
        "remainder", np.remainder, dtypes=INTEGERS + FLOATS, domain=(ANY, POSITIVE), specials=False
    ).but(refuses=COMPLEX),
    binary(
        "floor_divide", quotient, dtypes=INTEGERS + FLOATS, domain=(ANY, POSITIVE), specials=False
    ),
    binary("divmod", np.divmod, dtypes=INTEGERS + FLOATS, domain=(ANY, POSITIVE), specials=False),
    bitwise("bitwise_and", np.bitwise_and),
    bitwise("bitwise_or", np.bitwise_or),
    bitwise("bitwise_xor", np.bitwise_xor),
    *aliases(
        bitwise("left_shift", shift_as(np.left_shift), result="shift", domain=(ANY, SHIFT)),
        "bitwise_left_shift",
    ),
    *aliases(
        bitwise("right_shift", shift_as(np.right_shift), result="shift", domain=(ANY, SHIFT)),
        "bitwise_right_shift",
    ),
    comparison("equal", np.equal),
    comparison("not_equal", np.not_equal),
    comparison("less", np.less, dtypes=REAL),
    comparison("less_equal", np.less_equal, dtypes=REAL),
    comparison("greater", np.greater, dtypes=REAL),
    comparison("greater_equal", np.greater_equal, dtypes=REAL),
    comparison("logical_and", np.logical_and),
    comparison("logical_or", np.logical_or),
    comparison("logical_xor", logical_xor_of),
    comparison("isclose", np.isclose, specials=False),
]

BROADCASTING = [
    arithmetic(
        "add[rows]", add_any, shapes=((3, 4), (4,)), empty=None, scalar=None, specials=False
    ),
    arithmetic(
        "multiply[outer]", np.multiply, shapes=((3, 1), (1, 4)), empty=None, scalar=None
    ).but(specials=False),
    arithmetic(
        "subtract[scalar array]", subtract_any, shapes=((3, 4), ()), empty=None, scalar=None
    ).but(specials=False, second_order=False),
    arithmetic(
        "divide[ranks]", np.true_divide, shapes=((4,), (2, 3, 4)), empty=None, scalar=None
    ).but(specials=False, result="inexact", domain=(ANY, POSITIVE)),
]

CHOOSING = [
    OpRecord(
        "where",
        op("where"),
        np.where,
        shapes=((3, 4), (3, 4), (3, 4)),
        fixed={0: "bool_"},
        differentiable=(1, 2),
        second_order=False,
        empty=((0, 4), (1, 4), (0, 1)),
        scalar=((), (), ()),
    ),
    OpRecord(
        "where[broadcast]",
        op("where"),
        np.where,
        shapes=((3, 1), (4,), (2, 1, 1)),
        fixed={0: "bool_"},
        differentiable=(1, 2),
        second_order=False,
    ),
    OpRecord(
        "clip",
        bind("clip", -1, 1),
        lambda x: np.clip(x, -1, 1),
        dtypes=("int8", "int16", "int32", "int64", *FLOATS),
        domain=DISTINCT,
        differentiable=(0,),
        second_order=False,
        empty=((0, 4),),
        scalar=((),),
    ),
    OpRecord(
        "clip[below]",
        bind("clip", None, 2),
        lambda x: np.minimum(x, 2),
        dtypes=INTEGERS + FLOATS,
        domain=DISTINCT,
        differentiable=(0,),
        second_order=False,
    ),
    OpRecord(
        "clip[arrays]",
        op("clip"),
        np.clip,
        shapes=((3, 4), (4,), (3, 1)),
        dtypes=FLOATS,
        domain=(ANY, PROBABILITY, ABOVE_ONE),
        differentiable=(0,),
        second_order=False,
    ),
]


def casting(target: str) -> OpRecord:
    """`astype` to one dtype, from all that hold no more than it can."""
    sources = REAL if target not in COMPLEX else ALL
    return OpRecord(
        f"astype[{target}]",
        lambda x: mx.astype(x, getattr(mx, target)),
        lambda x: x,
        dtypes=sources,
        result=target,
        domain=POSITIVE,
        # The result may be of a narrower dtype than the input.
        differentiable=(0,) if target in ("float32", "float64", *COMPLEX) else (),
        second_order=False,
        empty=((0, 4),),
        scalar=((),),
    )


CASTS = [casting(target) for target in ALL]


RECORDS = [*UNARY, *BINARY, *BROADCASTING, *CHOOSING, *CASTS]
