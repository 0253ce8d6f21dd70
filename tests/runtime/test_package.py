"""`import umber`, and names and submodules that are loaded when they are used."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import umber

SUBMODULES = ["array_api", "core", "data", "nn", "optimizers", "utils"]


def run(code):
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_importing_the_package_loads_nothing():
    added = run(
        "import sys; before = {*sys.modules}; import umber; dir(umber); "
        "print(*sorted({*sys.modules} - before))"
    )
    assert {*added.split()} - {"itertools", "reprlib"} == {"umber"}


@pytest.mark.parametrize("name", SUBMODULES)
def test_submodules_are_attributes(name):
    code = f"import umber, sys; module = umber.{name}; print(module is sys.modules['umber.{name}'])"
    assert run(code) == "True\n"
    assert name in dir(umber)


def test_other_names_are_missing():
    with pytest.raises(AttributeError, match="module 'umber' has no attribute 'nothing'"):
        _ = umber.nothing
    assert not hasattr(umber, "_errors_")
    assert "__version__" in dir(umber)


PACKAGES = [
    *("umber.nn", "umber.nn.layers", "umber.nn.utils", "umber.optimizers"),
    "umber.optimizers.optimizers",
]


def test_importing_layers_and_optimizers_loads_what_most_programs_use():
    loaded = run(
        "import sys; sys.modules.pop('inspect', None); import umber.nn as nn, umber.optimizers; "
        "nn.Linear(2, 3); print(*sys.modules)"
    ).split()
    assert "umber.nn.layers.linear" in loaded
    assert not {"ast", "dataclasses", "dis", "inspect", "textwrap", "tokenize"} & {*loaded}
    assert not {"umber.nn.losses", "umber.nn.model_summary", "umber.nn.layers.recurrent"} & {
        *loaded
    }
    of_optimizers = {name for name in loaded if name.startswith("umber.optimizers")}
    assert of_optimizers == {"umber.optimizers", "umber.optimizers.optimizers"}


@pytest.mark.parametrize("name", PACKAGES)
def test_names_are_found_on_first_use(name):
    module = importlib.import_module(name)
    namespace = {}
    exec(f"from {name} import *", namespace)
    for public in module.__all__:
        assert public in dir(module)
        assert namespace[public] is getattr(module, public) is vars(module)[public]
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        _ = module.nothing


@pytest.mark.parametrize("name", PACKAGES)
def test_type_checkers_see_the_names_that_are_found_on_first_use(name):
    module = importlib.import_module(name)
    tree = ast.parse(Path(module.__file__).read_text())
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            source = importlib.import_module(node.module)
            aliases = [alias.name for alias in node.names]
            for name in source.__all__ if aliases == ["*"] else aliases:
                names.add(name)
                assert not hasattr(module, name) or getattr(module, name) is getattr(source, name)
    assert {*module.__all__} <= names


def submodules():
    """The modules that define public names."""
    owners = {
        getattr(getattr(module, public), "__module__", "")
        for module in map(importlib.import_module, PACKAGES)
        for public in module.__all__
    }
    return sorted(owner for owner in owners if owner.startswith("umber."))


@pytest.mark.parametrize("name", submodules())
def test_modules_guard_their_names_however_they_are_imported(name):
    run(
        f"""
import importlib, types
module = importlib.import_module({name!r})
for key in getattr(module, "__all__", None) or dir(module):
    value = getattr(module, key)
    if getattr(value, "__module__", "") != {name!r} or key.startswith("_"):
        continue
    of_class = {{**vars(value)}} if isinstance(value, type) else {{key: value}}
    for method, function in of_class.items():
        if isinstance(function, types.FunctionType) and not method.startswith("_"):
            if method not in ("init_single", "apply_single"):
                assert hasattr(function, "__guarded__"), (value, method)
"""
    )


def test_objects_of_modules_that_are_not_imported_are_unpickled():
    text = run(
        "import pickle, umber.nn as nn, umber.optimizers as optim; "
        "print(pickle.dumps([nn.GRU(2, 3), optim.Lion(1e-3), optim.cosine_decay(1.0, 5)]).hex())"
    ).strip()
    out = run(
        f"import pickle; print(*(type(x).__name__ for x in pickle.loads(bytes.fromhex('{text}'))))"
    )
    assert out == "GRU Lion _Call\n"


def test_several_threads_find_a_name_at_once():
    run(
        "import umber.nn as nn\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    found = {*pool.map(lambda _: nn.Transformer, range(64))}\n"
        "assert found == {nn.Transformer}"
    )
