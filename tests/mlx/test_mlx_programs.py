"""Programs for MLX give on umber what they give on MLX; `tests/mlx/programs/` holds them."""

import ast
import functools
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
import umber

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
MLX_IS_HERE = importlib.util.find_spec("mlx") is not None


def output_of(*command):
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@functools.cache
def on_umber(program):
    return output_of("-m", "umber.mlx", program)


def name_of(program):
    return program.stem


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_program_finds_what_it_asserts(program):
    assert on_umber(program).strip()


@pytest.mark.skipif(not MLX_IS_HERE, reason="MLX is not installed")
@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_program_prints_what_it_prints_with_mlx(program):
    assert on_umber(program) == output_of(program)


def imported_by(file):
    """The absolute names that a file imports."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


@pytest.mark.parametrize("program", PROGRAMS, ids=name_of)
def test_programs_know_nothing_of_umber(program):
    assert not re.search(r"\bumber\b", program.read_text())


def test_umber_imports_nothing_by_the_name_of_mlx():
    for file in Path(umber.__file__).parent.rglob("*.py"):
        assert not [name for name in imported_by(file) if name.split(".")[0] == "mlx"], file
