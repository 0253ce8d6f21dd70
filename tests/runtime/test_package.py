"""`import umber`: submodules by attribute, loaded when they are used."""

import subprocess
import sys

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
