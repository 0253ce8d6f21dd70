"""How far a result may be from the reference: one line a dtype.

A record may widen its line by a factor, with the reason beside it. Integers and booleans are exact.
"""

from typing import NamedTuple


class Tolerance(NamedTuple):
    """|got - want| <= absolute + relative * |want|, element by element."""

    relative: float
    absolute: float

    def times(self, factor: float) -> "Tolerance":
        """The same tolerance, wider."""
        return Tolerance(self.relative * factor, self.absolute * factor)


EXACT = Tolerance(0.0, 0.0)

# A few units in the last place: 2^-10, 2^-7, 2^-23, 2^-52 and what a short sum of products adds.
BY_DTYPE = {
    "float16": Tolerance(3e-3, 3e-3),
    "bfloat16": Tolerance(2e-2, 2e-2),
    "float32": Tolerance(2e-6, 2e-6),
    "float64": Tolerance(2e-14, 2e-14),
    "complex64": Tolerance(4e-6, 4e-6),
    "complex128": Tolerance(4e-14, 4e-14),
}

# Derivatives go through more operations than values and are compared with finite differences.
GRADIENT_FACTOR = {
    "float16": 4.0,
    "bfloat16": 4.0,
    "float32": 50.0,
    "float64": 1e5,
    "complex64": 50.0,
    "complex128": 1e5,
}

# Second derivatives are compared with finite differences of first ones. In double precision what
# remains is their truncation error, which is largest near poles (`divide`, `tan`, `arctanh`).
SECOND_ORDER_FACTOR = {
    "float32": 500.0,
    "float64": 1e6,
    "complex64": 250.0,
    "complex128": 1e5,
}


def tolerance_of(dtype: str, factor: float = 1.0) -> Tolerance:
    """The tolerance for values of this dtype."""
    line = BY_DTYPE.get(dtype, EXACT)
    return line.times(factor)


def gradient_tolerance_of(dtype: str, factor: float = 1.0) -> Tolerance:
    """The tolerance for derivatives of this dtype."""
    return tolerance_of(dtype, factor * GRADIENT_FACTOR.get(dtype, 1.0))


def second_order_tolerance_of(dtype: str, factor: float = 1.0) -> Tolerance:
    """The tolerance for second derivatives of this dtype."""
    return tolerance_of(dtype, factor * SECOND_ORDER_FACTOR.get(dtype, 1.0))
