"""A reader of pickles that hold data: NumPy arrays, lists, tuples, dicts, numbers, bytes and texts.

A pickle is a program. `pickle.load` runs it with any function that it names; this reader calls none
of them. It interprets the instructions itself, knows the few names with which NumPy's arrays,
dtypes and scalars are written, builds those from bytes whose length it checks, and refuses the
rest. It does not recurse, and it allocates in proportion to the file, whatever the pickle says.

It reads protocols 0 to 5 of Python 3, and 1 and 2 of Python 2, whose strings become latin-1 text,
as CIFAR's archives need.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from typing import Any, Literal

import numpy as np


def read_pickle(data: bytes, *, source: str = "pickle") -> Any:
    """Read the value in a pickle of plain data.

    Parameters
    ----------
    data : bytes
        The pickle.
    source : str
        What errors call it: the name of its file.

    Returns
    -------
    object
        The value. Its arrays are read-only.

    Raises
    ------
    ValueError
        If the pickle holds anything but data, or is truncated or damaged.
    """
    try:
        return _Machine(data).run()
    except _Refused as error:
        raise ValueError(f"[read_pickle] {source}: {error}") from None
    # What else damaged instructions run into: an empty stack, texts that are no numbers, and so on.
    except (IndexError, KeyError, TypeError, ValueError, OverflowError, struct.error) as error:
        raise ValueError(f"[read_pickle] {source}: damaged pickle ({error})") from None


class _Refused(Exception):
    """The pickle asks for something other than data."""


class _Mark:
    """The place on the stack where a list, tuple or dict begins."""


class _Name:
    """A name of NumPy's or of a built-in type by which pickles create data."""

    def __init__(self, build: Callable[..., Any] | None) -> None:
        self.build = build


class _Pending:
    """An array or dtype between its creation and its state."""

    def __init__(self, complete: Callable[[Any], Any]) -> None:
        self.complete = complete
        self.memo_keys: list[int] = []


class _Arguments(tuple[Any, ...]):
    """A tuple that contains a name: the arguments of a call."""


# What is on the stack without being data.
_INTERNAL = frozenset((_Mark, _Name, _Pending, _Arguments))

_DTYPE = re.compile(r"([<>|=]?)(?:([biufcSU])([1-9]\d{0,8})|\?)")
_KEYS = (str, bytes, int, float, type(None))


def _shown(value: Any) -> str:
    """A value in a message; that of a deep list would recurse."""
    return value[:80] if isinstance(value, str) else type(value).__name__


def _dtype(text: Any, *_: Any) -> _Pending:
    """A dtype by its name; its state adds the byte order."""
    if not isinstance(text, str) or not _DTYPE.fullmatch(text):
        raise _Refused(f"dtype {_shown(text)} is not one of numbers, booleans or texts")
    plain = np.dtype(text)

    def complete(state: Any) -> np.dtype:
        if len(state) < 5 or any(part is not None for part in state[2:5]):
            raise _Refused(f"dtype {text!r} has fields or a subarray")
        if state[1] not in ("<", ">", "|", "="):
            raise _Refused(f"byte order {_shown(state[1])} of dtype {text!r} is unknown")
        return plain if state[1] == "|" else plain.newbyteorder(state[1])

    return _Pending(complete)


def _elements(raw: Any, dtype: Any, shape: Any, order: Literal["C", "F"]) -> np.ndarray:
    """An array over bytes, which must be as many as shape and dtype need."""
    if isinstance(raw, str):
        # Python 2 wrote bytes as strings.
        raw = raw.encode("latin-1")
    if not isinstance(dtype, np.dtype) or not isinstance(raw, bytes | bytearray):
        raise _Refused("an array without a dtype or without bytes")
    if type(shape) is not tuple or len(shape) > 32 or not {int}.issuperset(map(type, shape)):
        raise _Refused("a shape that is no short tuple of integers")
    if any(length < 0 for length in shape):
        raise _Refused(f"shape {shape} has a negative length")
    if math.prod(shape) * dtype.itemsize != len(raw):
        raise _Refused(f"shape {shape} of {dtype} does not fit {len(raw)} bytes")
    if not raw:
        return np.empty(shape, dtype, order)
    return np.frombuffer(bytes(raw), dtype).reshape(shape, order=order)


def _reconstruct(*_: Any) -> _Pending:
    """An array whose shape, dtype and bytes follow as its state."""

    def complete(state: Any) -> np.ndarray:
        # The first entry is the version, which the oldest arrays lack.
        shape, dtype, is_fortran, raw = state[-4:]
        return _elements(raw, dtype, shape, "F" if is_fortran else "C")

    return _Pending(complete)


def _frombuffer(raw: Any, dtype: Any, shape: Any, order: Any) -> np.ndarray:
    return _elements(raw, dtype, shape, "F" if order == "F" else "C")


def _scalar(dtype: Any, raw: Any) -> Any:
    return _elements(raw, dtype, (), "C")[()]


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    """How protocol 2 writes bytes."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise _Refused(f"encoding {_shown(encoding)} of bytes is not latin-1")
    return text.encode("latin-1")


def _bytes(value: Any = b"", *_: Any) -> bytes:
    # Only of bytes: bytes(10**12) would allocate them.
    if not isinstance(value, bytes):
        raise _Refused("bytes of another value")
    return value


_ARRAYS = {"_reconstruct": _Name(_reconstruct), "scalar": _Name(_scalar)}
_NAMES = {
    ("numpy", "ndarray"): _Name(None),
    ("numpy", "dtype"): _Name(_dtype),
    ("_codecs", "encode"): _Name(_encode),
    **{(module, "bytes"): _Name(_bytes) for module in ("builtins", "__builtin__")},
    # NumPy 2 renamed its modules.
    **{
        (f"numpy.{core}.multiarray", name): value
        for core in ("core", "_core")
        for name, value in _ARRAYS.items()
    },
    **{(f"numpy.{core}.numeric", "_frombuffer"): _Name(_frombuffer) for core in ("core", "_core")},
}


class _Machine:
    """The stack, the memo and the position in the pickle."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        # Bytes of arrays, scalars and converted strings. A pickle of data writes each of them; one
        # that builds them again and again from the same string exceeds this.
        self.allowance = 4 * len(data)

    def run(self) -> Any:
        data, size = self.data, len(self.data)
        while self.at < size:
            code = data[self.at]
            self.at += 1
            if code == _STOP:
                value = self.stack.pop()
                _require_data([value])
                return value
            instruction = _INSTRUCTIONS.get(code)
            if instruction is None:
                raise _Refused(
                    f"instruction {bytes([code])!r} at byte {self.at - 1} is not one of data"
                )
            instruction(self)
        raise _Refused(f"it ends within its data, at byte {size}")

    def take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self.data):
            raise _Refused(f"it ends within its data, at byte {len(self.data)}")
        part = self.data[self.at : end]
        self.at = end
        return part

    def count(self, width: int) -> int:
        """An unsigned integer of so many bytes."""
        return int.from_bytes(self.take(width), "little")

    def sized(self, width: int) -> bytes:
        """Bytes behind their length, which is an unsigned integer of so many bytes."""
        return self.take(self.count(width))

    def line(self) -> str:
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise _Refused(f"it ends within a line, at byte {self.at}")
        text = self.data[self.at : end].decode("latin-1")
        self.at = end + 1
        return text

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def since_mark(self) -> list[Any]:
        stack = self.stack
        start = len(stack) - 1
        while not isinstance(stack[start], _Mark):
            start -= 1
            if start < 0:
                raise _Refused("a container without a beginning")
        values = stack[start + 1 :]
        del stack[start:]
        return values

    def put(self, key: int) -> None:
        value = self.stack[-1]
        self.memo[key] = value
        if isinstance(value, _Pending):
            value.memo_keys.append(key)

    def get(self, key: int) -> None:
        self.push(self.memo[key])

    def top(self, size: int) -> list[Any]:
        """Remove the last values of the stack."""
        start = len(self.stack) - size
        if start < 0:
            raise _Refused("an instruction without its values")
        values = self.stack[start:]
        del self.stack[start:]
        return values

    def push_tuple(self, values: list[Any]) -> None:
        if _Name in map(type, values):
            _require_data([value for value in values if type(value) is not _Name])
            self.push(_Arguments(values))
        else:
            _require_data(values)
            self.push(tuple(values))

    def extend(self, values: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) is not list:
            raise _Refused("values for a list that is none")
        _require_data(values)
        target.extend(values)

    def update(self, values: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) is not dict or len(values) % 2:
            raise _Refused("keys and values for a dict that is none")
        _require_data(values)
        for key, value in zip(values[::2], values[1::2], strict=True):
            # Hashing a deep tuple would recurse.
            if not isinstance(key, _KEYS):
                raise _Refused(f"a key of type {type(key).__name__}")
            target[key] = value

    def push_list(self, values: list[Any]) -> None:
        self.push([])
        self.extend(values)

    def push_dict(self, values: list[Any]) -> None:
        self.push({})
        self.update(values)

    def find(self, module: Any, name: Any) -> None:
        known = _NAMES.get((module, name)) if type(module) is type(name) is str else None
        if known is None:
            raise _Refused(
                f"it names {_shown(module)}.{_shown(name)}; only NumPy arrays, lists, tuples, "
                "dicts, numbers, bytes and texts are read"
            )
        self.push(known)

    def reduce(self) -> None:
        arguments, name = self.stack.pop(), self.stack.pop()
        if not isinstance(name, _Name) or name.build is None or not isinstance(arguments, tuple):
            raise _Refused("a call of a value that is no function")
        self.push(self.counted(name.build(*arguments)))

    def counted(self, value: Any) -> Any:
        """The value, whose bytes are taken off the allowance."""
        if isinstance(value, np.ndarray | np.generic):
            self.allowance -= value.nbytes
        elif isinstance(value, bytes):
            self.allowance -= len(value)
        if self.allowance < 0:
            raise _Refused("arrays and strings of more bytes than it has")
        return value

    def build(self) -> None:
        state, pending = self.stack.pop(), self.stack[-1]
        if not isinstance(pending, _Pending) or type(state) is not tuple:
            raise _Refused("a state for a value that has none")
        self.stack[-1] = value = self.counted(pending.complete(state))
        for key in pending.memo_keys:
            if self.memo.get(key) is pending:
                self.memo[key] = value


def _require_data(values: list[Any]) -> None:
    if not _INTERNAL.isdisjoint(map(type, values)):
        raise _Refused("a function, or an array without its state, where data is expected")


def _constant(value: Any) -> Callable[[_Machine], None]:
    return lambda machine: machine.push(value)


def _long(width: int) -> Callable[[_Machine], None]:
    return lambda machine: machine.push(int.from_bytes(machine.sized(width), "little", signed=True))


def _text(width: int, encoding: str) -> Callable[[_Machine], None]:
    errors = "surrogatepass" if encoding == "utf-8" else "strict"
    return lambda machine: machine.push(machine.sized(width).decode(encoding, errors))


def _tuple(size: int) -> Callable[[_Machine], None]:
    return lambda machine: machine.push_tuple(machine.top(size))


def _int_line(machine: _Machine) -> None:
    line = machine.line()
    machine.push(line == "01" if line in ("00", "01") else int(line))


def _stack_global(machine: _Machine) -> None:
    machine.find(*machine.top(2))


_STOP = ord(".")
# By the names of the module pickletools.
_INSTRUCTIONS: dict[int, Callable[[_Machine], Any]] = {
    b"\x80"[0]: lambda m: m.take(1),  # PROTO
    b"\x95"[0]: lambda m: m.take(8),  # FRAME
    b"("[0]: lambda m: m.push(_Mark()),  # MARK
    b"0"[0]: lambda m: m.stack.pop(),  # POP
    b"1"[0]: lambda m: m.since_mark(),  # POP_MARK
    b"N"[0]: _constant(None),  # NONE
    b"\x88"[0]: _constant(True),  # NEWTRUE
    b"\x89"[0]: _constant(False),  # NEWFALSE
    b"I"[0]: _int_line,  # INT
    b"L"[0]: lambda m: m.push(int(m.line().removesuffix("L"))),  # LONG
    b"J"[0]: lambda m: m.push(int.from_bytes(m.take(4), "little", signed=True)),  # BININT
    b"K"[0]: lambda m: m.push(m.count(1)),  # BININT1
    b"M"[0]: lambda m: m.push(m.count(2)),  # BININT2
    b"\x8a"[0]: _long(1),  # LONG1
    b"\x8b"[0]: _long(4),  # LONG4
    b"F"[0]: lambda m: m.push(float(m.line())),  # FLOAT
    b"G"[0]: lambda m: m.push(struct.unpack(">d", m.take(8))[0]),  # BINFLOAT
    b"T"[0]: _text(4, "latin-1"),  # BINSTRING
    b"U"[0]: _text(1, "latin-1"),  # SHORT_BINSTRING
    b"V"[0]: lambda m: m.push(m.line().encode("latin-1").decode("raw-unicode-escape")),  # UNICODE
    b"X"[0]: _text(4, "utf-8"),  # BINUNICODE
    b"\x8c"[0]: _text(1, "utf-8"),  # SHORT_BINUNICODE
    b"\x8d"[0]: _text(8, "utf-8"),  # BINUNICODE8
    b"B"[0]: lambda m: m.push(m.sized(4)),  # BINBYTES
    b"C"[0]: lambda m: m.push(m.sized(1)),  # SHORT_BINBYTES
    b"\x8e"[0]: lambda m: m.push(m.sized(8)),  # BINBYTES8
    b"\x96"[0]: lambda m: m.push(bytearray(m.sized(8))),  # BYTEARRAY8
    b"]"[0]: lambda m: m.push([]),  # EMPTY_LIST
    b"a"[0]: lambda m: m.extend(m.top(1)),  # APPEND
    b"e"[0]: lambda m: m.extend(m.since_mark()),  # APPENDS
    b"l"[0]: lambda m: m.push_list(m.since_mark()),  # LIST
    b")"[0]: _constant(()),  # EMPTY_TUPLE
    b"t"[0]: lambda m: m.push_tuple(m.since_mark()),  # TUPLE
    b"\x85"[0]: _tuple(1),  # TUPLE1
    b"\x86"[0]: _tuple(2),  # TUPLE2
    b"\x87"[0]: _tuple(3),  # TUPLE3
    b"}"[0]: lambda m: m.push({}),  # EMPTY_DICT
    b"d"[0]: lambda m: m.push_dict(m.since_mark()),  # DICT
    b"s"[0]: lambda m: m.update(m.top(2)),  # SETITEM
    b"u"[0]: lambda m: m.update(m.since_mark()),  # SETITEMS
    b"p"[0]: lambda m: m.put(int(m.line())),  # PUT
    b"q"[0]: lambda m: m.put(m.count(1)),  # BINPUT
    b"r"[0]: lambda m: m.put(m.count(4)),  # LONG_BINPUT
    b"\x94"[0]: lambda m: m.put(len(m.memo)),  # MEMOIZE
    b"g"[0]: lambda m: m.get(int(m.line())),  # GET
    b"h"[0]: lambda m: m.get(m.count(1)),  # BINGET
    b"j"[0]: lambda m: m.get(m.count(4)),  # LONG_BINGET
    b"c"[0]: lambda m: m.find(m.line(), m.line()),  # GLOBAL
    b"\x93"[0]: _stack_global,  # STACK_GLOBAL
    b"R"[0]: lambda m: m.reduce(),  # REDUCE
    b"b"[0]: lambda m: m.build(),  # BUILD
}
