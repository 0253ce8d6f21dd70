"""Between NumPy and umber: values, samples, comparison.

A NumPy array stands for the exact values of an umber array. bfloat16, which NumPy lacks, is carried
as float32 whose values bfloat16 can represent.
"""

import numpy as np
import umber.core as mx
from tolerances import EXACT, Tolerance

BOOL = ("bool_",)
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = UNSIGNED + SIGNED
HALF = ("float16", "bfloat16")
FLOATS = (*HALF, "float32", "float64")
COMPLEX = ("complex64", "complex128")
INEXACT = FLOATS + COMPLEX
REAL = BOOL + INTEGERS + FLOATS
NUMERIC = INTEGERS + INEXACT
ALL = BOOL + INTEGERS + INEXACT


def dtype_of(name: str):
    """The umber dtype with this name."""
    return getattr(mx, name)


def name_of(dtype) -> str:
    """`umber.core.float32` → `float32`; boolean is `bool_`."""
    name = str(dtype).rpartition(".")[2]
    return "bool_" if name == "bool" else name


def carrier_of(name: str) -> np.dtype:
    """The NumPy dtype that carries values of this umber dtype."""
    return np.dtype({"bfloat16": "float32", "bool_": "bool"}.get(name, name))


def kind_of(name: str) -> str:
    """`b`, `u`, `i`, `f` or `c`."""
    return carrier_of(name).kind


def round_to_bfloat16(values: np.ndarray) -> np.ndarray:
    """The nearest bfloat16 values, ties to even, as float32. NaN stays NaN."""
    single = np.asarray(values, np.float32)
    bits = single.view(np.uint32)
    rounded = bits + (((bits >> 16) & 1) + 0x7FFF)
    result = (rounded & np.uint32(0xFFFF0000)).view(np.float32)
    return np.where(np.isnan(single), single, result)


def represent(values, name: str) -> np.ndarray:
    """The values rounded to what this dtype can hold, in its carrier."""
    if name == "bfloat16":
        return round_to_bfloat16(values)
    return np.asarray(values).astype(carrier_of(name))


def to_umber(values: np.ndarray, name: str):
    """An umber array of this dtype with these values."""
    array = mx.array(np.array(values, order="C"), dtype_of(name))
    assert name_of(array.dtype) == name
    return array


def to_numpy(array) -> np.ndarray:
    """The values of an umber array in its carrier."""
    if array.dtype == mx.bfloat16:
        array = array.astype(mx.float32)
    return np.array(array)


def widen(values: np.ndarray) -> np.ndarray:
    """Floating values in double precision, complex in double complex; others as they are."""
    if values.dtype.kind == "f":
        return values.astype(np.float64)
    if values.dtype.kind == "c":
        return values.astype(np.complex128)
    return values


def flatten(result) -> list:
    """An op's result as a flat list of arrays."""
    return list(result) if isinstance(result, list | tuple) else [result]


def assert_close(got: np.ndarray, want: np.ndarray, tolerance: Tolerance = EXACT, note: str = ""):
    """Same shape; values within the tolerance; NaN and infinities in the same places."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{note}: shape {got.shape}, expected {want.shape}"
    if tolerance == EXACT:
        equal = np.array_equal(got, want, equal_nan=got.dtype.kind in "fc")
        assert equal, f"{note}: got\n{got}\nexpected\n{want}"
        return
    np.testing.assert_allclose(
        widen(got),
        widen(want),
        rtol=tolerance.relative,
        atol=tolerance.absolute,
        equal_nan=True,
        err_msg=note,
    )


def assert_dtype(array, name: str, note: str = ""):
    """The array has the dtype of this name."""
    assert name_of(array.dtype) == name, f"{note}: dtype {array.dtype}, expected {name}"
