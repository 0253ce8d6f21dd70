"""The standard's special cases: values of functions, operators and operators in place."""

import math
import operator

import numpy as np
import pytest
import umber.array_api as xp
from special_cases import COMPLEX, REAL

OPERATORS = {
    "add": (operator.add, operator.iadd),
    "subtract": (operator.sub, operator.isub),
    "multiply": (operator.mul, operator.imul),
    "divide": (operator.truediv, operator.itruediv),
    "floor_divide": (operator.floordiv, operator.ifloordiv),
    "remainder": (operator.mod, operator.imod),
    "pow": (operator.pow, operator.ipow),
    "abs": (operator.abs,),
}


def value_of(text: str) -> float | bool:
    """The number that a word stands for."""
    try:
        return float(text.strip("± "))
    except ValueError:
        return eval(text.strip("± "), {"pi": math.pi})


def cases(lines: str) -> list[tuple[list[str], str]]:
    """Arguments and result of each case, as words."""
    parts = (line.partition("->") for line in lines.split(";"))
    return [([one.strip() for one in left.split(",")], right.strip()) for left, _, right in parts]


def is_same(got: float, text: str, tolerance: float) -> bool:
    """Is it the number that a word stands for, sign of zero included?"""
    want = value_of(text)
    if math.isnan(want):
        return math.isnan(got)
    if text.startswith("±"):
        got, want = abs(got), abs(want)
    elif want == 0 and text[0] in "+-" and math.copysign(1, got) != (-1 if text[0] == "-" else 1):
        return False
    return got == want or math.isclose(got, want, rel_tol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", REAL)
def test_real(name, dtype):
    wanted = cases(REAL[name])
    columns = zip(*(arguments for arguments, _ in wanted), strict=True)
    columns = [np.array([value_of(word) for word in column], dtype) for column in columns]
    for function in (getattr(xp, name), *OPERATORS.get(name, ())):
        # As one array, and one by one as 0-d arrays.
        together = np.asarray(function(*map(xp.asarray, columns))).tolist()
        for row, (arguments, result) in enumerate(wanted):
            alone = function(*(xp.asarray(column[row]) for column in columns)).item()
            for got in (together[row], alone):
                message = f"{function} of {arguments}: got {got}, expected {result}"
                assert is_same(got, result, 1e-6), message


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name, dtype):
    wanted = cases(COMPLEX[name])
    values = [complex(*map(value_of, arguments[0].split())) for arguments, _ in wanted]
    found = np.asarray(getattr(xp, name)(xp.asarray(np.array(values, dtype)))).tolist()
    for got, (arguments, result) in zip(found, wanted, strict=True):
        real, imaginary = result.split()
        is_right = is_same(got.real, real, 1e-6) and is_same(got.imag, imaginary, 1e-6)
        assert is_right, f"{name} of {arguments[0]}: got {got}, expected {result}"
