"""Exceptions are of the classes that programs for MLX catch, and of those of Python's habits.

`CALLS` is made of bad calls whose exceptions in MLX 0.32.4 were noted beside them.
"""

import re

import numpy as np
import pytest
import umber.core as mx
import umber.nn as nn

F = mx.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
I = mx.array([1, 2, 3])

# An expression, what MLX raises, and what Python's habit is.
CALLS = {
    "mx.array('x')": (ValueError, TypeError),
    "mx.array(['x'])": (ValueError, TypeError),
    "mx.array({})": (ValueError, TypeError),
    "mx.array(object())": (ValueError, TypeError),
    "mx.array([None])": (ValueError, TypeError),
    "mx.array([[1], [1, 2]])": (ValueError, ValueError),
    "mx.abs('x')": (ValueError, TypeError),
    "mx.add(F, 'x')": (ValueError, TypeError),
    "mx.maximum('x', F)": (ValueError, TypeError),
    "mx.where(F, 'x', 1)": (ValueError, TypeError),
    "mx.clip(F, 'x', 1)": (ValueError, TypeError),
    "F.reshape('x')": (ValueError, TypeError),
    "F.transpose('x')": (ValueError, TypeError),
    "mx.zeros(F)": (RuntimeError, TypeError),
    "mx.broadcast_shapes(F)": (RuntimeError, TypeError),
    "mx.bitwise_and(F, F)": (RuntimeError, TypeError),
    "mx.bitwise_or(F, 1)": (RuntimeError, TypeError),
    "mx.left_shift(F, F)": (RuntimeError, TypeError),
    "F ^ F": (RuntimeError, TypeError),
    "F + 2**70": (RuntimeError, OverflowError),
    "mx.sum(F, axis=9)": (ValueError, IndexError),
    "mx.concatenate([F, F], axis=5)": (IndexError, ValueError),
    "F[F]": (ValueError, IndexError),
    "F[:, 0, 0]": (ValueError, IndexError),
    "F.__setitem__((0, 0, 0), 1)": (ValueError, IndexError),
    "F.__setitem__(F, 1)": (ValueError, IndexError),
    "mx.take(F, 99)": (ValueError, IndexError),
    "nn.GELU(approx='x')": (ValueError, ValueError),
}


@pytest.mark.parametrize("call", CALLS)
def test_classes_of_bad_calls(call):
    before = F.tolist()
    for kind in CALLS[call]:
        with pytest.raises(kind) as caught:
            eval(call)
    assert re.match(r"\[\w+(\.\w+)?\] .*", str(caught.value), re.DOTALL), str(caught.value)
    assert F.tolist() == before


OPERATORS = "+ - * / // % ** & | ^ << >> @".split()
NO_OPERANDS = {
    "str": "ab",
    "dict": {},
    "set": {1},
    "list of str": ["a"],
    "list of arrays": [mx.array(1)],
    "tuple of arrays": (mx.array(1), mx.array(2)),
    "range": range(2),
    "object": object(),
    "function": len,
}


@pytest.mark.parametrize("other", NO_OPERANDS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_operators_refuse_what_is_no_array(operator, other):
    scope = {"x": mx.array(3), "y": NO_OPERANDS[other]}
    for expression in (f"x {operator} y", f"y {operator} x"):
        if operator == "%" and expression[0] == "y" and other == "str":
            continue
        with pytest.raises(TypeError) as caught:
            eval(expression, scope)
        assert isinstance(caught.value, ValueError), expression
        assert str(caught.value).startswith("["), str(caught.value)
    with pytest.raises((TypeError, ValueError)):
        exec(f"x {operator}= y", scope)
    assert scope["x"].item() == 3


def test_other_classes_may_know_better():
    class Unit:
        def __rmul__(self, other):
            return "mine"

        def __mul__(self, other):
            return "mine"

    assert mx.array(3) * Unit() == Unit() * mx.array(3) == "mine"
    with pytest.raises(TypeError, match="unsupported operand"):
        mx.array(3) + Unit()
    template = "%s"
    assert template % mx.array(3) == str(mx.array(3))
    assert (mx.array(3) * [1, 2]).tolist() == [3, 6]


FOREIGN = {
    "empty": b"",
    "text": b"no arrays at all\n" * 9,
    "zeros": bytes(64),
    "npy magic": b"\x93NUMPY",
    "zip magic": b"PK\x03\x04" + bytes(30),
    "gguf magic": b"GGUF" + bytes(4),
}


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors", ".gguf"])
def test_files_that_are_missing_cut_or_foreign(tmp_path, suffix):
    missing = tmp_path / f"missing{suffix}"
    for kind in (RuntimeError, ValueError, OSError, FileNotFoundError, mx.FileError):
        with pytest.raises(kind):
            mx.load(str(missing))
    for name, content in FOREIGN.items():
        file = tmp_path / f"{name.replace(' ', '_')}{suffix}"
        file.write_bytes(content)
        for kind in (RuntimeError, ValueError):
            with pytest.raises(kind, match=r"\[load\]"):
                mx.load(str(file))


@pytest.mark.parametrize("save", ["save", "savez", "save_safetensors", "save_gguf"])
def test_cut_files_and_places_that_cannot_be_written(tmp_path, save):
    suffix = {"save": "npy", "savez": "npz"}.get(save, save.removeprefix("save_"))
    file = tmp_path / f"whole.{suffix}"
    x = mx.arange(100.0)
    given = {"savez": ((), {"x": x}), "save": ((x,), {})}.get(save, (({"x": x},), {}))
    write = getattr(mx, save)
    write(str(file), *given[0], **given[1])
    whole = file.read_bytes()
    for end in (10, len(whole) // 2):
        file.write_bytes(whole[:end])
        for kind in (RuntimeError, ValueError):
            with pytest.raises(kind):
                mx.eval(mx.load(str(file)))
    nowhere = str(tmp_path / "no" / f"folder.{suffix}")
    for kind in (RuntimeError, OSError):
        with pytest.raises(kind):
            write(nowhere, *given[0], **given[1])


def test_weights_and_functions_in_files(tmp_path):
    for kind in (RuntimeError, OSError):
        with pytest.raises(kind):
            nn.Linear(2, 2).load_weights(str(tmp_path / "missing.safetensors"))
        with pytest.raises(kind):
            mx.import_function(str(tmp_path / "missing.mlxfn"))


@pytest.mark.covers(
    "ArgumentError",
    "ArrayIndexError",
    "AxisError",
    "CopyError",
    "DTypeError",
    "FileError",
    "FileMissingError",
    "FormatError",
    "RangeError",
)
def test_classes_and_their_bases():
    bases = {
        "ArgumentError": (TypeError, ValueError, RuntimeError),
        "DTypeError": (TypeError, ValueError, RuntimeError),
        "ArrayIndexError": (IndexError, ValueError),
        "AxisError": (IndexError, ValueError),
        "CopyError": (BufferError, ValueError),
        "RangeError": (OverflowError, ValueError, RuntimeError),
        "FileError": (OSError, RuntimeError),
        "FileMissingError": (FileNotFoundError, RuntimeError, ValueError),
        "FormatError": (ValueError, RuntimeError),
        "NonFiniteError": (FloatingPointError, ArithmeticError),
    }
    for name, expected in bases.items():
        class_ = getattr(mx, name)
        assert class_.__module__ == "umber.core"
        assert class_.__doc__
        assert all(issubclass(class_, base) for base in expected)


def test_exceptions_of_the_users_own_functions_stay_what_they_are():
    def fails(error):
        def function(x):
            raise error

        return function

    for error in (TypeError("mine"), ValueError("mine"), IndexError("mine"), OSError(2, "mine")):
        for transform in (mx.grad, mx.vmap, mx.compile, mx.checkpoint):
            with pytest.raises(type(error)) as caught:
                transform(fails(error))(mx.ones(2))
            assert caught.value is error
    with pytest.raises(TypeError) as caught:
        mx.vmap(lambda: 3)(mx.ones(2))
    assert type(caught.value) is TypeError
    assert np.asarray(F).shape == (2, 3)
