"""Every Python block of the documentation and of the README runs, those of a page in order.

The blocks of a page share a namespace. A block that imports a package which is not installed is
left out, and the page counts as skipped once the others have run.
"""

import ast
import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def missing_packages(code):
    """The packages that a block imports, not within `try`, and that are not installed."""
    names = set()
    for statement in ast.parse(code).body:
        if isinstance(statement, ast.Import):
            names.update(alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            names.add(statement.module)
    packages = {name.partition(".")[0] for name in names} - {"mlx"}
    return {name for name in packages if importlib.util.find_spec(name) is None}


def program_of(page):
    """The page's blocks at the lines where they stand, and the packages that others would need."""
    text = page.read_text(encoding="utf-8")
    program, missing = "", set()
    for block in BLOCK.finditer(text):
        if lacking := missing_packages(block[1]):
            missing |= lacking
            continue
        line = text[: block.start()].count("\n") + 1
        program += "\n" * (line - program.count("\n")) + block[1]
    return program, missing


WITH_CODE = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_blocks_run(page, tmp_path):
    program, missing = program_of(page)
    code = f"exec(compile({program!r}, {str(page)!r}, 'exec'), {{'__name__': '__main__'}})"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    if missing:
        pytest.skip(f"blocks that need {', '.join(sorted(missing))} were left out")


def test_pages_are_found():
    assert ROOT / "docs/usage/memory.md" in WITH_CODE
    assert ROOT / "README.md" in WITH_CODE


# What pages may name though it does not exist: names of other libraries, and of MLX.
ABSENT = {"nn.Parameter", "nn.ModuleList", "nn.ModuleDict", "nn.MultiheadAttention"}
ABSENT |= {"nn.utils.clip_grad_norm_", "nn.init.kaiming_normal_"}
ABSENT |= {"mx.metal", "mx.cuda", "mx.distributed"}
NAME = re.compile(r"\b(?:mx|nn|optimizers)(?:\.[A-Za-z_]\w*)+")
CODE = re.compile(r"`[^`\n]+`")
NAMESPACE = {"mx": "umber.core", "nn": "umber.nn", "optimizers": "umber.optimizers"}
GUIDES = [page for page in PAGES if page.parent.name in {"docs", "start", "howto", "coming_from"}]


def exists(name):
    first, *rest = name.split(".")
    value = importlib.import_module(NAMESPACE[first])
    for part in rest:
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_names_exist(page):
    code = " ".join(CODE.findall(page.read_text(encoding="utf-8")))
    # Names of JAX and PyTorch begin with those of their packages.
    names = {match[0] for match in NAME.finditer(re.sub(r"\b(?:jax|torch)\.[\w.]+", "", code))}
    assert {name for name in names - ABSENT if not exists(name)} == set()
