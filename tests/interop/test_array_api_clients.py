"""What speaks the array API gives with umber's arrays what it gives with NumPy's."""

import importlib.util
import json
import os
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# What the programs of a group import.
NEEDS = {
    "scipy": ["scipy"],
    "sklearn": ["sklearn"],
    "extra": ["array_api_extra", "array_api_compat"],
    "dask": ["dask"],
    "gradients": ["scipy", "array_api_extra"],
}


def names_in(group: str) -> list[str]:
    """The names of a group's programs, from the text: the other process imports it."""
    text = (HERE / "array_api_clients" / f"{group}_programs.py").read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if line.startswith("def ") and line[4] != "_")
    return [line[4 : line.index("(")] for line in lines]


@lru_cache
def outcomes(group: str) -> dict[str, str | None]:
    """What is wrong with each program of a group."""
    for name in NEEDS[group]:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    command = [sys.executable, "-m", "array_api_clients", group]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize(("group", "name"), [(g, name) for g in NEEDS for name in names_in(g)])
def test_program(group, name):
    assert outcomes(group)[name] is None, outcomes(group)[name]
