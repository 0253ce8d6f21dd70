"""Functions of one, two and three operands."""

import numpy as np

from mlx_calls.draw import (
    ALL,
    BOOL,
    COMPLEX,
    FLOATS,
    INTEGERS,
    NUMERIC,
    REAL,
    Call,
    Draw,
    Dtype,
    Given,
)

SPECIALS = 0.1


# MLX shows names such as `a` and `b` in signatures, yet takes most of these by position only.


def unary(dtypes=ALL, low=-3.0, high=3.0, special=SPECIALS):
    """One array."""

    def make(draw: Draw) -> Call:
        a = draw.array(None, dtypes, low, high, special if draw.chance(0.3) else 0.0)
        return Call((a,))

    return make


def operands(draw, dtypes, low=-3.0, high=3.0, special=SPECIALS, kinds="bif", mixed=True):
    """Two operands that broadcast; one may be a Python number."""
    special = special if draw.chance(0.2) else 0.0
    shape = draw.shape()
    a = draw.array(shape, dtypes, low, high, special)
    other = dtypes if mixed and draw.chance(0.5) else a.dtype
    b = draw.array(draw.broadcastable(shape), other, low, high, special)
    if draw.chance(0.3):
        # A number that every dtype can hold.
        b = draw.number(max(low, 0), high, "bi" if a.dtype not in FLOATS + COMPLEX else kinds)
    return (a, b) if draw.chance(0.6) else (b, a)


def binary(dtypes=ALL, **options):
    return lambda draw: Call(operands(draw, dtypes, **options))


def away_from_zero(given):
    """Whole numbers without zero: what dividing by it gives is not part of the comparison."""
    if not isinstance(given, Given):
        return given or 1
    values = np.where(given.values == 0, 1, given.values)
    return Given(values.astype(given.values.dtype), given.dtype)


def dividing(draw):
    a, b = operands(draw, REAL[1:], special=0.0)
    return Call((a, away_from_zero(b)))


def power(draw):
    dtypes = draw.pick([FLOATS, INTEGERS, COMPLEX])
    a, b = operands(draw, dtypes, low=0.0, high=3.0, kinds="if", special=0.0)
    if dtypes == COMPLEX:
        a = away_from_zero(a)
    return draw.call(a, b)


def shift(draw):
    a = draw.array(None, INTEGERS, 0, 9)
    b = draw.array(draw.broadcastable(a.shape), a.dtype, 0, 5)
    return Call((a, draw.pick([b, draw.int(0, 5)])))


def astype(draw):
    a = draw.array(low=0.0)
    return Call((a, Dtype(draw.dtype(ALL if a.dtype != "complex64" else COMPLEX))))


def clip(draw):
    a = draw.array(None, REAL[1:], 0.0, 5.0)
    low, high = draw.pick([None, 1, draw.array(draw.broadcastable(a.shape), a.dtype, 0, 2)]), 3
    if low is not None and draw.chance(0.3):
        high = None
    return draw.call(a, must={"a_min": low, "a_max": high})


def round_(draw):
    return draw.call(draw.array(None, ALL), either={"decimals": draw.int(-1, 3)})


def nan_to_num(draw):
    a = draw.array(None, FLOATS, special=0.4)
    return draw.call(
        a,
        either={
            "nan": draw.float(-2, 2),
            "posinf": draw.pick([None, 7.0]),
            "neginf": draw.pick([None, -7.0]),
        },
    )


def view(draw):
    a = draw.array((*draw.shape(1, 3)[:-1], 8))
    return draw.call(a, must={"dtype": Dtype(draw.dtype(ALL))})


def closeness(draw):
    a = draw.array(None, REAL, special=0.1)
    b = Given(np.where(draw.rng.random(a.shape) < 0.7, a.values, 0).astype(a.values.dtype), a.dtype)
    return draw.call(
        a,
        b,
        either={"rtol": draw.pick([1e-5, 0.5]), "atol": draw.pick([1e-8, 0.1])},
        keyword={"equal_nan": draw.chance()},
    )


def array_equal(draw):
    a = draw.array(None, ALL, special=0.1)
    b = draw.pick([a, draw.array(a.shape), draw.array()])
    return draw.call(a, b, keyword={"equal_nan": draw.chance()})


def where(draw):
    x, y = operands(draw, ALL)
    y = draw.pick([y, draw.number()])
    shape_of = getattr(x, "shape", ()) or getattr(y, "shape", ())
    condition = draw.array(draw.broadcastable(shape_of), draw.pick([BOOL, ALL]))
    return Call((condition, x, y))


ANGLES = unary(ALL, -1.5, 1.5)
UNIT = unary(ALL, -0.95, 0.95)
POSITIVE = unary(ALL, 0.1, 4.0)
REAL_ONLY = unary(REAL)

CALLS = {
    "abs": unary(),
    **dict.fromkeys(("acos", "arccos", "asin", "arcsin", "atanh", "arctanh"), UNIT),
    **dict.fromkeys(("acosh", "arccosh"), unary(ALL, 1.1, 4.0)),
    **dict.fromkeys(("asinh", "arcsinh", "atan", "arctan"), unary()),
    "astype": astype,
    "bitwise_invert": unary(BOOL + INTEGERS),
    **dict.fromkeys(("ceil", "floor", "trunc"), REAL_ONLY),
    "clip": clip,
    **dict.fromkeys(("conj", "conjugate"), unary()),
    **dict.fromkeys(("cos", "cosh", "sin", "sinh", "tan", "tanh", "exp"), ANGLES),
    "expm1": unary(REAL),
    **dict.fromkeys(("degrees", "radians"), unary(REAL)),
    "erf": REAL_ONLY,
    "erfinv": unary(REAL, -0.95, 0.95),
    "imag": unary(),
    "real": unary(),
    **dict.fromkeys(("isfinite", "isinf", "isnan"), unary(special=0.4)),
    **dict.fromkeys(("isneginf", "isposinf"), unary(REAL, special=0.4)),
    **dict.fromkeys(("log", "log10", "log2"), POSITIVE),
    "log1p": unary(ALL, -0.9, 4.0),
    "logical_not": unary(),
    "nan_to_num": nan_to_num,
    "negative": unary(NUMERIC),
    "positive": unary(),
    "reciprocal": unary(FLOATS + COMPLEX, 0.2, 3.0),
    "round": round_,
    "rsqrt": unary(FLOATS + COMPLEX, 0.2, 4.0),
    "sqrt": unary(ALL, 0.0, 9.0),
    "sigmoid": REAL_ONLY,
    "sign": unary(ALL),
    "square": unary(),
    "stop_gradient": unary(),
    "view": view,
    **dict.fromkeys(("add", "multiply", "subtract"), binary()),
    **dict.fromkeys(("equal", "not_equal"), binary()),
    **dict.fromkeys(("greater", "greater_equal", "less", "less_equal"), binary(REAL)),
    **dict.fromkeys(("maximum", "minimum"), binary(REAL)),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), binary()),
    **dict.fromkeys(("arctan2", "atan2"), binary(FLOATS, special=0.0)),
    "logaddexp": binary(FLOATS),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), binary(BOOL + INTEGERS)),
    **dict.fromkeys(
        ("left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift"), shift
    ),
    **dict.fromkeys(("divide", "floor_divide", "remainder", "divmod"), dividing),
    **dict.fromkeys(("pow", "power"), power),
    **dict.fromkeys(("allclose", "isclose"), closeness),
    "array_equal": array_equal,
    "where": where,
}
