"""`umber.core` gives what `mlx.core` gives: random valid calls of every name, where MLX is."""

import zlib

import pytest
import umber.core as mx
from covers import covered_names
from differences_from_mlx import all_differences
from mlx_calls import Draw, gather_calls
from mlx_calls.outcome import Refused, difference, find, ignore_form, outcome_of
from random_cases import EXTRA_SEEDS, examples

mlx = pytest.importorskip("mlx.core")

CALLS_A_NAME = examples(40)
CALLS = gather_calls()
DIFFERENCES = all_differences()

# Compared neither by random calls nor by a test that carries the marker `covers`.
COMPARED_ELSEWHERE = {
    "quantised matrices: test_quantization_mlx.py": """
        dequantize from_fp8 gather_qmm gather_qqmm qqmm quantize quantized_matmul to_fp8
    """,
    "a class, compared by its methods": """
        ArrayAt
    """,
    "Python's protocols: test_shared_memory.py, test_array_object.py": """
        array.__array_namespace__ array.__dlpack__ array.__getstate__ array.__setstate__
        array.__hash__ array.__init__ array.__new__ array.__class__ array.__module__ array.__doc__
        array.__delattr__ array.__dir__ array.__getattribute__ array.__init_subclass__
        array.__reduce__ array.__reduce_ex__ array.__setattr__ array.__sizeof__
        array.__subclasshook__
    """,
}
ELSEWHERE = {name for names in COMPARED_ELSEWHERE.values() for name in names.split()}


def core_names():
    """Every public function and class of MLX's core, and every member of its array."""
    homes = (
        *(("", mlx), ("random.", mlx.random), ("linalg.", mlx.linalg), ("fft.", mlx.fft)),
        ("fast.", mlx.fast),
    )
    for prefix, home in homes:
        for name in dir(home):
            if not name.startswith("_") and callable(getattr(home, name)):
                yield prefix + name
    for name in dir(mlx.array):
        yield f"array.{name}"


def check(name, call):
    """Compare one call; a difference must have its row in the table."""
    rows = [row for row in DIFFERENCES if row.covers(name, call)]
    theirs = outcome_of(name, call, mlx)
    ours = outcome_of(name, call, mx)
    if any(row.only_form for row in rows):
        ours, theirs = ignore_form(ours), ignore_form(theirs)
    elif any(not row.accuracy and not row.may_refuse for row in rows):
        return
    if isinstance(ours, Refused) and any(row.may_refuse for row in rows):
        return
    accuracy = next((row.accuracy for row in rows), None)
    found = difference(ours, theirs, accuracy)
    assert found is None, f"{name} {call}: {found}\number {ours}\nMLX {theirs}"


@pytest.mark.drawn
@pytest.mark.parametrize("name", sorted(CALLS))
def test_same_as_mlx(name):
    for number in range(CALLS_A_NAME):
        check(name, CALLS[name](Draw(zlib.crc32(name.encode()), number, *EXTRA_SEEDS)))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_calls_are_valid(name):
    """The generator makes calls that MLX takes, or it would compare nothing."""
    outcomes = [
        outcome_of(name, CALLS[name](Draw(zlib.crc32(name.encode()), number)), mlx)
        for number in range(20)
    ]
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    assert len(refused) <= len(outcomes) / 3, refused[0]


def test_every_name_is_compared():
    """A name of MLX is compared by random calls, or another test stands for it."""
    others = covered_names() | ELSEWHERE
    missing = set(core_names()) - CALLS.keys() - others
    assert not missing, "add a generator to tests/tables/mlx_calls"
    assert not CALLS.keys() & ELSEWHERE


def test_missing_names():
    """Every name of MLX is here."""
    assert not {name for name in core_names() if find(mx, name) is None}
