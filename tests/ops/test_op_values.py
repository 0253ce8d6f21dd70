"""Every op gives the reference's values, in every dtype and layout, for empty and 0-d arrays."""

import numpy as np
import pytest
from arrays import FLOATS, assert_close, assert_dtype, flatten, represent, to_numpy, to_umber
from layouts import MEMORY, arrange
from op_table import gather_records
from tolerances import tolerance_of

RECORDS = gather_records()
CASES = [
    pytest.param(record, dtype, id=f"{record.name}-{dtype}")
    for record in RECORDS
    for dtype in record.dtypes
]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e4, -1e4, np.inf, -np.inf, np.nan]


def check(record, dtype, inputs, values, note):
    """The op on `inputs` gives what the oracle gives on `values`."""
    results = flatten(record.call(*inputs))
    wanted = record.expected(values, dtype)
    assert len(results) == len(wanted), f"{note}: {len(results)} results, expected {len(wanted)}"
    name = record.result_of(dtype)
    for result, want in zip(results, wanted, strict=True):
        assert_dtype(result, name, note)
        assert_close(to_numpy(result), want, tolerance_of(name, record.tolerance), note)


def convert(record, dtype, values):
    """Umber arrays of the record's input dtypes."""
    return [to_umber(value, record.dtype_of_input(i, dtype)) for i, value in enumerate(values)]


@pytest.mark.parametrize(("record", "dtype"), CASES)
def test_values(record, dtype, rng):
    values = record.sample(rng, dtype)
    for layout in MEMORY if record.layouts else ("contiguous",):
        pairs = [
            arrange(layout, value, record.dtype_of_input(i, dtype))
            for i, value in enumerate(values)
        ]
        check(record, dtype, [a for a, _ in pairs], [v for _, v in pairs], layout)
    for note, shapes in (("empty", record.empty), ("0-d", record.scalar)):
        if shapes is not None:
            values = record.sample(rng, dtype, shapes)
            check(record, dtype, convert(record, dtype, values), values, note)


@pytest.mark.parametrize(("record", "dtype"), [case for case in CASES if case.values[0].long])
def test_long_arrays(record, dtype, rng):
    """Whole vectors, whole blocks and what is left over, with and without gaps in memory."""
    values = record.sample(rng, dtype, record.long)
    wide = record.but(tolerance=4 * record.tolerance)
    for layout in ("contiguous", "transposed", "reversed"):
        pairs = [
            arrange(layout, value, record.dtype_of_input(i, dtype))
            for i, value in enumerate(values)
        ]
        check(wide, dtype, [a for a, _ in pairs], [v for _, v in pairs], layout)


@pytest.mark.parametrize(
    ("record", "dtype"),
    [
        pytest.param(record, dtype, id=f"{record.name}-{dtype}")
        for record in RECORDS
        if record.specials
        for dtype in FLOATS
        if dtype in record.dtypes
    ],
)
def test_special_values(record, dtype):
    """NaN, infinities, signed zeros and large values, in all combinations."""
    special = represent(np.array(SPECIAL), dtype)
    values = [axis.ravel() for axis in np.meshgrid(*[special] * record.arity, indexing="ij")]
    results = flatten(record.call(*convert(record, dtype, values)))
    name = record.result_of(dtype)
    for result, want in zip(results, record.expected(values, dtype), strict=True):
        with np.errstate(all="ignore"):
            # Overflow of the narrow dtype is expected too, hence the rounding of the reference.
            want = represent(want, name)
        got = to_numpy(result)
        assert_close(got, want, tolerance_of(name, record.tolerance), record.name)


@pytest.mark.parametrize(
    "record", [pytest.param(r, id=r.name) for r in RECORDS if r.arity and not r.fixed]
)
def test_inputs_are_unchanged(record, rng):
    """An op leaves its inputs alone."""
    dtype = "float32" if "float32" in record.dtypes else record.dtypes[0]
    values = record.sample(rng, dtype)
    inputs = convert(record, dtype, values)
    for result in flatten(record.call(*inputs)):
        to_numpy(result)
    for array, value in zip(inputs, values, strict=True):
        assert_close(to_numpy(array), value)
