"""Every public callable is tested: it has a record, or a test that carries its marker `covers`."""

import inspect

import pytest
import umber.core as mx
from covers import MODULES, covered_names, marked_tests
from mlx_calls import gather_calls
from op_table import REQUIRED, gather_records, is_public

RECORDS = gather_records()
RECORDED = set().union(*(record.names for record in RECORDS))
# Classes whose methods have records.
RECORDED |= {name.rpartition(".")[0] for name in RECORDED if name[0].isupper()}


def public_callables(module, prefix=""):
    """Names without an underscore that can be called: functions and classes, not constants."""
    for name in dir(module):
        value = getattr(module, name)
        if not name.startswith("_") and callable(value) and not inspect.ismodule(value):
            yield prefix + name


def all_callables():
    modules = [(mx, ""), *((getattr(mx, name), f"{name}.") for name in MODULES)]
    return [name for module, prefix in modules for name in public_callables(module, prefix)]


@pytest.mark.parametrize("name", all_callables())
def test_has_a_record(name):
    assert name in RECORDED | covered_names(), (
        f'add an OpRecord for {name}, or mark its test: @pytest.mark.covers("{name}")'
    )


def test_a_record_needs_no_marker():
    """A function is covered by a record or by a marker, not by both."""
    assert not RECORDED & covered_names()


@pytest.mark.parametrize("marked", marked_tests(), ids=lambda marked: marked.test)
def test_a_marked_test_calls_what_it_covers(marked):
    missing = {name for name in marked.covers if not is_public(name)}
    assert not missing, f"{marked.test} covers names that umber.core does not have"
    unused = set(marked.covers) - marked.used
    assert not unused, f"{marked.test} covers names that it does not use"


def test_every_record_names_a_function():
    """A record or a generator of calls whose function is gone says so, instead of not running."""
    assert {name for name in RECORDED | gather_calls().keys() if not is_public(name)} == set()


@pytest.mark.parametrize("name", sorted(REQUIRED))
def test_is_there(name):
    home = mx
    for part in name.split("."):
        home = getattr(home, part)
    assert callable(home)
