"""Every public function with arguments that are wrong in one place: an exception or an answer.

A valid call is drawn, then one argument is exchanged for something hostile. Whatever happens, it is
one of Python's own exceptions with words that name the operation, and the inputs stay as they were.
"""

import re
import zlib

import numpy as np
import pytest
import umber.core as mx
from arrays import to_numpy
from mlx_calls import Draw, Given, gather_calls, realise
from mlx_calls.outcome import find
from random_cases import EXTRA_SEEDS, examples

CALLS = gather_calls()
# Printing options are of the process; nothing is fuzzed into them.
STATEFUL = {"set_printoptions", "printoptions", "get_printoptions", "random.seed"}
NAMES = sorted(CALLS.keys() - STATEFUL)
TRIES = examples(40)
TYPED = (TypeError, ValueError, IndexError, OverflowError, MemoryError, BufferError, AttributeError)
# Not evaluated: the result is as large as what was asked for.
TOO_LARGE = 10**6


class Thing:
    """An object that no function knows."""

    def __repr__(self) -> str:
        return "Thing()"


class Liar:
    """Claims to be a sequence, a number and an index, and fails in each."""

    def __len__(self):
        return 3

    def __getitem__(self, index):
        raise ZeroDivisionError("a mistake of the caller")

    def __index__(self):
        raise ZeroDivisionError("a mistake of the caller")


def hostile(draw: Draw):
    """Something that hardly any argument can be."""
    plain = [
        *(None, "text", "", b"bytes", Thing(), True, {}, set(), [], (), [[1], [1, 2]], [None]),
        *(2**31, -(2**31), 2**63 - 1, -(2**63), 2**64, 2**70, -(2**70), 10**400, -1, 0, 99),
        *(0.5, float("nan"), float("inf"), -float("inf"), 1e308, 1j, complex("nan"), Ellipsis),
        *((2**40, 2**40), [-1, -1], (2**62,), (0, 2**62), [0.5], ["a"], [0, 0], (9, -9), Liar()),
        *(slice(None), slice(0, 0, 0), int, len, np.float32("nan"), np.int64(-(2**62))),
        *(np.zeros(2, "datetime64[s]"), np.array(["a"]), np.array([object()]), np.zeros((2, 0))),
    ]
    shape = draw.shape(0, 4)
    arrays = [
        draw.array(shape),
        draw.array((0,), "float32"),
        draw.array((2, 0, 3), "int32"),
        draw.array((7,), "complex64"),
        draw.array((3, 2), "bool_"),
        Given(np.array([2**62, -(2**62)]), "int64"),
        Given(np.array([2**64 - 1], "uint64"), "uint64"),
        Given(np.array([np.nan, np.inf, -np.inf], "float32"), "float32"),
    ]
    return draw.pick(arrays) if draw.chance(0.35) else draw.pick(plain)


def spoil(draw, name, call):
    """One argument exchanged, dropped or added; a method keeps its array."""
    kept = 1 if name.partition(".")[0] in ("array", "Dtype") and "." in name else 0
    args, kwargs = list(call.args), dict(call.kwargs)
    way = draw.int(0, 9)
    if way == 0 and len(args) > kept:
        args.pop()
    elif way == 1 or (len(args) == kept and not kwargs):
        args.append(hostile(draw))
    elif kwargs and (len(args) == kept or draw.chance()):
        kwargs[draw.pick(sorted(kwargs))] = hostile(draw)
    else:
        args[draw.int(kept, len(args) - 1)] = hostile(draw)
    return type(call)(tuple(args), kwargs)


def run(name, args, kwargs):
    """The call, on arrays that exist already."""
    home, _, member = name.rpartition(".")
    if name == "array.__setitem__":
        return args[0].__setitem__(*args[1:], **kwargs)
    if name == "array.at":
        index, method, *rest = [*args[1:], None, None][:4]
        return getattr(args[0].at[index], method if isinstance(method, str) else "add")(*rest)
    if home in ("array", "Dtype"):
        got = getattr(args[0], member)
        return got(*args[1:], **kwargs) if callable(got) else got
    return find(mx, name)(*args, **kwargs)


def small(tree) -> list:
    """The arrays of a result that may be evaluated."""
    if isinstance(tree, mx.array):
        return [tree] if tree.size < TOO_LARGE else []
    if isinstance(tree, list | tuple) and len(tree) < 100:
        return [array for part in tree for array in small(part)]
    return []


def fault_of(error: BaseException) -> str | None:
    """What is wrong with how an error was raised."""
    text = str(error)
    if isinstance(error, ZeroDivisionError):
        return None if "mistake of the caller" in text else "a division by zero"
    # What only the values decide is no fault of the call.
    if isinstance(error, RuntimeError) and re.search(r"singular|not positive definite", text):
        return None
    if not isinstance(error, TYPED):
        return f"an error of class {type(error).__mro__}"
    if "panicked" in text or not text:
        return "not for users"
    named = isinstance(error, ValueError | IndexError) and not isinstance(error, UnicodeError)
    if named and not isinstance(error, TypeError) and not text.startswith(NAMED + NUMPYS):
        return "does not begin with the operation's name in brackets"
    return None


# Errors of Python itself and of conversions that happen before an operation is known.
NAMED = ("[", "an integer below", "Converting ", "embedded null", "Invalid format specifier")
# NumPy answers for these, in its own words.
NUMPYS = ("Could not convert",)


def try_one(name, call):
    """Run a spoilt call; the fault, if there is one."""
    args, kwargs = list(realise(call.args, mx)), realise(call.kwargs, mx)
    given = [
        (array, part.values)
        for part, array in zip(call.args, args, strict=True)
        if isinstance(part, Given)
    ]
    failed = False
    try:
        mx.eval(small(run(name, args, kwargs)))
    except RecursionError:
        return None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        failed = True
        fault = fault_of(error)
        if fault:
            return f"{fault}: {type(error).__name__}: {str(error)[:200]}"
    changes = not failed and (name.startswith("array.__i") or name == "array.__setitem__")
    for array, values in given[1:] if changes else given:
        np.testing.assert_array_equal(to_numpy(array), values)
    return None


@pytest.mark.drawn
@pytest.mark.parametrize("name", NAMES)
def test_bad_input(name, capfd):
    for number in range(TRIES):
        draw = Draw(zlib.crc32(name.encode()), 77, number, *EXTRA_SEEDS)
        call = spoil(draw, name, CALLS[name](draw))
        fault = try_one(name, call)
        assert fault is None, f"{name} {call}\n{fault}"
    assert "panicked" not in capfd.readouterr().err
