"""Every public callable refuses bad input by a typed error whose message begins with `[op]`."""

import re

import pytest
import umber.core as mx
from error_table import BY_NAME, EXEMPT, ROWS, BadCall, all_bad_calls, all_names

REFUSALS = (TypeError, ValueError, IndexError, OverflowError, BufferError)

# Words of a forced form, and of riddles.
BANNED = re.compile(r"expected (another|others|fewer)\b|what it got|got no\b.*expected at least")

CALLS = all_bad_calls()


def values_of(call: BadCall):
    """The arrays among the arguments, as lists."""
    given = (*call.args, *(call.kwargs or {}).values())
    return [value.tolist() for value in given if isinstance(value, mx.array)]


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_is_refused(call):
    before = values_of(call)
    with pytest.raises(REFUSALS) as caught:
        call()
    text = str(caught.value)
    assert type(caught.value).__name__ != "PanicException"
    op = re.match(r"\[([\w.]+)\] ", text)
    assert op is not None, text
    assert op.group(1).rpartition(".")[2] in {call.name.rpartition(".")[2], call.alias_of}, text
    assert not BANNED.search(text), text
    assert text.count(str(BY_NAME["axis"])) <= 1, text
    assert not getattr(caught.value, "__notes__", None)
    assert values_of(call) == before


@pytest.mark.parametrize("name", all_names())
def test_has_a_bad_call(name):
    assert any(call.name == name for call in CALLS), (
        f"{name} has no bad call: Python knows no signature of it, from which "
        f"tests/tables/error_table.py makes them. Add a line to ROWS there: '{name}': lambda: "
        f"<a call that must be refused>"
    )


def test_lists_are_needed():
    """Exemptions and rows by hand are of names that are there."""
    names = set(all_names())
    assert set(ROWS) <= names
    exempt = {name for listed in EXEMPT.values() for name in listed.split()}
    assert not exempt & names
