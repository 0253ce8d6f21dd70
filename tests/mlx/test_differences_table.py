"""Every row of the table of differences still shows a difference."""

import importlib
import subprocess
import sys

import numpy as np
import pytest
import umber.core as mx
from differences_from_mlx import COMPARED_WITH, all_differences
from mlx_calls.outcome import Refused, difference, find, settle

mlx = pytest.importorskip("mlx.core")

ROWS = [pytest.param(row, id=row.example) for row in all_differences()]
# A crash or a hang of MLX ends its own process only.
PROGRAM = """
import numpy as np
import mlx.core as mx
result = {example}
mx.eval(result)
print(result)
"""


def names_of(module):
    """What examples may use."""
    package = module.__name__.partition(".")[0]
    parts = ("nn", "optimizers", "utils")
    return {
        "mx": module,
        "np": np,
        **{part: importlib.import_module(f"{package}.{part}") for part in parts},
    }


def evaluate(example, module):
    try:
        return settle(eval(example, names_of(module)), module)
    except Exception as error:
        return Refused(type(error).__name__, str(error))


def alone(example):
    """MLX's printed result in a process of its own; its last words if it has none."""
    command = [sys.executable, "-c", PROGRAM.format(example=example)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except subprocess.TimeoutExpired:
        return "does not end"
    return run.stdout.strip() if run.returncode == 0 else f"ends with {run.returncode}"


@pytest.mark.parametrize("row", ROWS)
def test_difference_shows(row):
    ours = evaluate(row.example, mx)
    if row.alone:
        result = str(ours if isinstance(ours, Refused) else eval(row.example, names_of(mx)))
        assert alone(row.example) != result, "no longer a difference: take the row out"
        return
    theirs = evaluate(row.example, mlx)
    assert difference(ours, theirs), "no longer a difference: take the row out"
    if row.accuracy:
        assert difference(ours, theirs, row.accuracy) is None


@pytest.mark.parametrize("row", ROWS)
def test_names_are_public(row):
    for name in row.names.split():
        first, _, rest = name.partition(".")
        home = names_of(mlx).get(first)
        found = find(home, rest) if home else find(mlx, name)
        assert "*" in name or found is not None, name


def test_version():
    """The page names the version that was compared."""
    import importlib.metadata

    assert importlib.metadata.version("mlx") == COMPARED_WITH, "look at the table again"
