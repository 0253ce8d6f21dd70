"""Pickles of data are read without running them, and all others are refused."""

import contextlib
import io
import pickle
import pickletools
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from umber.data.datasets._pickles import read_pickle

VALUES = {
    "numbers": [0, 1, -1, 255, 2**31, -(2**40), 2**100, True, False, None, 0.5, float("inf")],
    "texts": ["", "a", "é\n\\", "日本" * 3000, b"", b"\xff\x00", b"x" * 300],
    "containers": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), {}, {"a": {"b": [1]}}, [[]]],
    "samples": [
        {"image": np.full((2, 2, 1), i % 256, np.uint8), "label": np.uint8(i % 10)}
        for i in range(300)
    ],
}
ARRAYS = [
    *(np.arange(3).astype(name) for name in ("?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8")),
    np.array(["ab", "c"]),
    np.array(3.5),
    np.zeros((0, 3)),
    np.arange(6).reshape(2, 3).T,
    np.arange(6)[::2],
    np.arange(3, dtype=">i4"),
]


def equal(a, b):
    if isinstance(a, np.ndarray | np.generic):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(equal, a, b))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("name", VALUES)
def test_values(name, protocol):
    assert equal(read_pickle(pickle.dumps(VALUES[name], protocol)), VALUES[name])


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{list(a.shape)}")
def test_arrays(array, protocol):
    value = [array, array, {"again": array}]
    read = read_pickle(pickle.dumps(value, protocol))
    assert equal(read, value)
    # The same array three times is stored once.
    assert read[0] is read[1] is read[2]["again"]


DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | arrays(st.sampled_from(["u1", "i8", ">f4", "?"]), array_shapes(min_dims=0, min_side=0)),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
)


@given(DATA, st.integers(0, 5))
def test_random_data(value, protocol):
    assert equal(read_pickle(pickle.dumps(value, protocol)), value)


@given(st.binary())
def test_random_bytes(data):
    """Random bytes, most of which are no pickles, are data or a `ValueError`."""
    with contextlib.suppress(ValueError):
        read_pickle(data)


def test_names_of_numpy_1():
    """Files of NumPy 1 name its modules without the underscore."""
    data = pickle.dumps([np.arange(3), np.float32(2)], 2).replace(b"numpy._core", b"numpy.core")
    assert equal(read_pickle(data), [np.arange(3), np.float32(2)])


def text(value):
    """A string as Python 2 wrote it with protocol 2."""
    return b"U" + bytes([len(value)]) + value if len(value) < 256 else long_text(value)


def long_text(value):
    return b"T" + struct.pack("<i", len(value)) + value


def python_2_array(values):
    """An array as Python 2 wrote it: its bytes are a string."""
    shape = b"".join(b"K" + bytes([length]) for length in values.shape)
    return (
        b"cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85"
        + text(b"b")
        + b"\x87Rq\x03(K\x01("
        + shape
        + b"tcnumpy\ndtype\nq\x04"
        + text(b"u1")
        + b"K\x00K\x01\x87Rq\x05(K\x03"
        + text(b"|")
        + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89"
        + long_text(values.tobytes())
        + b"tb"
    )


def test_python_2():
    """As in CIFAR's archives: a dict of strings, whose arrays are strings, too."""
    values = np.arange(200, dtype=np.uint8).reshape(2, 100)
    data = b"\x80\x02}q\x00(" + text(b"data") + python_2_array(values)
    data += text(b"labels") + b"]q\x06(K\x03K\x04eu."
    pickletools.dis(data, io.StringIO())
    theirs = pickle.loads(data, encoding="latin1")
    ours = read_pickle(data)
    assert equal(ours, theirs)
    assert equal(ours, {"data": values, "labels": [3, 4]})


class Call:
    """Pickles as the call of a function."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


def hostile_calls():
    import builtins
    import functools
    import os
    import subprocess

    return {
        "os.system": Call(os.system, "touch HOSTILE"),
        "subprocess": Call(subprocess.getoutput, "touch HOSTILE"),
        "eval": Call(builtins.eval, "open('HOSTILE', 'w')"),
        "getattr": Call(builtins.getattr, "text", "format"),
        "partial": Call(functools.partial, os.system, "touch HOSTILE"),
        "numpy.save": Call(np.save, "HOSTILE", 1),
        "numpy.load": Call(np.load, "HOSTILE"),
        "numpy.zeros": Call(np.zeros, 3),
        "numpy.memmap": Call(np.memmap, "HOSTILE", "u1", "w+", 0, 3),
        "object": object(),
        "set": {1, 2},
        "complex": 1j,
        "class": Call,
        "object array": np.array([{}, None], object),
        "record array": np.zeros(2, [("a", "i4")]),
        "dates": np.array(["2020-01-01"], "M8[D]"),
    }


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("name", hostile_calls())
def test_calls_are_refused(name, protocol, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps([1, hostile_calls()[name]], protocol)
    with pytest.raises(ValueError, match=r"^\[read_pickle\] train\.pkl: "):
        read_pickle(data, source="train.pkl")
    assert not list(tmp_path.iterdir())


RECONSTRUCT = b"cnumpy.core.multiarray\n_reconstruct\n"
DTYPE = b"cnumpy\ndtype\n"
U1 = DTYPE + b"X\x02\x00\x00\x00u1\x85R"
# By hand, what no pickler writes.
PROGRAMS = {
    "empty": b"",
    "no value": b".",
    "no end": b"N",
    "mark": b"(.",
    "function": DTYPE + b".",
    "function in a tuple": DTYPE + b"\x85.",
    "function in a list": b"]" + DTYPE + b"a.",
    "function in a tuple in a list": b"]" + DTYPE + b"\x85a.",
    "function in a dict": b"}K\x01" + DTYPE + b"s.",
    "function as a key": b"}" + DTYPE + b"K\x01s.",
    "array without state": RECONSTRUCT + b")R.",
    "array without state in a list": b"(" + RECONSTRUCT + b")Rl.",
    "array without state in its own state": RECONSTRUCT + b")R2\x85b.",
    "state of a function": DTYPE + b"}b.",
    "state of a list": b"]}b.",
    "state of a dict": b"}}b.",
    "call of a list": b"])R.",
    "call of a number": b"K\x01)R.",
    "call of an array": RECONSTRUCT + b")R)R.",
    "call of numpy.ndarray": b"cnumpy\nndarray\n)R.",
    "call by another name": b"cnumpy.core.multiarray\n_reconstruct.__globals__\n)R.",
    "name from the stack": b"\x8c\x02os\x8c\x06system\x93.",
    "names that are no texts": b"K\x01K\x02\x93.",
    "names that are lists": b"]]\x93.",
    "new object": b"cnumpy\nndarray\n)\x81.",
    "new object by keywords": b"cnumpy\nndarray\n)}\x92.",
    "instance": b"(ios\nsystem\n.",
    "object on the mark": b"(cnumpy\nndarray\no.",
    "extension": b"\x82\x01.",
    "persistent": b"Pid\n.",
    "persistent from the stack": b"K\x01Q.",
    "buffer from outside": b"\x97.",
    "memo that is empty": b"h\x05.",
    "memo far away": b"j\xff\xff\xff\xff.",
    "memo of nothing": b"q\x00.",
    "bytes beyond the end": b"B\xff\xff\xff\xffabc.",
    "bytes of 2^63": b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7fabc.",
    "text that is no UTF-8": b"X\x01\x00\x00\x00\xff.",
    "string of negative length": b"T\xff\xff\xff\xffabc.",
    "number of negative length": b"\x8b\xff\xff\xff\xff.",
    "number without digits": b"Iabc\n.",
    "line without end": b"I" + b"1" * 10_000,
    "append without list": b"K\x01K\x02a.",
    "append without value": b"]a.",
    "items without mark": b"}K\x01u.",
    "items of odd number": b"}(K\x01u.",
    "key that cannot be hashed": b"}]K\x01s.",
    "key that is deep": b"})" + b"\x85" * 100_000 + b"K\x01s.",
    "tuple of too few": b"K\x01\x87.",
    "pop too often": b"00.",
    "bytes of a number": b"cbuiltins\nbytes\nJ\x00\x00\x00\x7f\x85R.",
    "encoding that is another": b"c_codecs\nencode\nX\x01\x00\x00\x00aX\x03\x00\x00\x00hex\x86R.",
    "dtype of objects": DTYPE + b"X\x01\x00\x00\x00O\x85R(K\x03X\x01\x00\x00\x00|NNNtb.",
    "dtype of fields": DTYPE + b"X\x02\x00\x00\x00V8\x85R(K\x03X\x01\x00\x00\x00|NNNtb.",
    "dtype by a list": DTYPE + b"]\x85R.",
    "dtype of a gigabyte": DTYPE
    + b"X\x0b\x00\x00\x00S1000000000\x85R(K\x03X\x01\x00\x00\x00|NNNtb.",
    "dtype with a state of fields": U1 + b"(K\x03X\x01\x00\x00\x00|N)}tb.",
    "dtype with a short state": U1 + b"(K\x03tb.",
    "dtype with an unknown order": U1 + b"(K\x03X\x01\x00\x00\x00!NNNtb.",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_refused(name):
    with pytest.raises(ValueError, match=r"^\[read_pickle\] pickle: "):
        read_pickle(PROGRAMS[name])


def array_program(shape, raw):
    """An array of bytes with a shape and bytes that may not fit."""
    dtype = U1 + b"(K\x03X\x01\x00\x00\x00|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    return RECONSTRUCT + b")R(K\x01" + shape + dtype + b"\x89" + raw + b"tb."


@pytest.mark.parametrize(
    ("shape", "raw"),
    [
        (b"K\x03\x85", b"C\x02ab"),
        (b"K\x01\x85", b"C\x02ab"),
        (b"J\xff\xff\xff\xff\x85", b"C\x02ab"),
        (b"J\xff\xff\xff\xffJ\xfe\xff\xff\xff\x86", b"C\x02ab"),
        (b"\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01K\x00\x86", b"C\x00"),
        (b"G@\x00\x00\x00\x00\x00\x00\x00\x85", b"C\x02ab"),
        (b"]", b"C\x02ab"),
        (b"K\x02", b"C\x02ab"),
        (b"K\x02\x85", b"]"),
        (b"K\x02\x85", b"N"),
        (b"(" + b"K\x01" * 100 + b"t", b"C\x01a"),
    ],
)
def test_arrays_that_do_not_fit_their_bytes(shape, raw):
    with pytest.raises(ValueError, match=r"^\[read_pickle\]"):
        read_pickle(array_program(shape, raw))
    assert read_pickle(array_program(b"K\x02\x85", b"C\x02ab")).tolist() == [97, 98]


def test_deep_nesting():
    """Depth costs no recursion."""
    depth = 200_000
    value = read_pickle(b"]" * depth + b"a" * (depth - 1) + b".")
    for _ in range(depth - 1):
        (value,) = value
    assert value == []


def test_sharing_costs_no_memory():
    """A list of ten times the list before, thirty times over, is thirty lists."""
    data = b"]q\x00"
    for _ in range(30):
        data += b"0](" + b"h\x00" * 10 + b"eq\x00"
    value = read_pickle(data + b".")
    for _ in range(30):
        assert len(value) == 10
        assert value[0] is value[9]
        value = value[0]


DEEP = b"]" * 100_000 + b"a" * 99_999


@pytest.mark.parametrize(
    "data",
    [
        DEEP + b"X\x01\x00\x00\x00a\x93.",
        DTYPE + DEEP + b"\x85R.",
        U1 + b"(K\x03" + DEEP + b"NNNtb.",
        b"c_codecs\nencode\nX\x01\x00\x00\x00a" + DEEP + b"\x86R.",
    ],
    ids=["name", "dtype", "byte order", "encoding"],
)
def test_deep_arguments(data):
    """Messages do not recurse either."""
    with pytest.raises(ValueError, match=r"^\[read_pickle\] pickle: .* list"):
        read_pickle(data)


LONG = b"X" + struct.pack("<I", 100_000) + b"a" * 100_000 + b"q\x07"


@pytest.mark.parametrize(
    "once",
    [
        b"c_codecs\nencode\nh\x07\x85R",
        array_program(b"J" + struct.pack("<i", 100_000) + b"\x85", b"h\x07")[:-1],
    ],
    ids=["encode", "array"],
)
def test_copies_cost_no_memory(once):
    """A long string may be converted, but not a thousand times."""
    assert len(read_pickle(LONG + b"(" + once + b"l.")) == 1
    with pytest.raises(ValueError, match="more bytes than it has"):
        read_pickle(LONG + b"(" + once * 1000 + b"l.")


def test_truncated_anywhere():
    data = pickle.dumps(VALUES["samples"][:2], 4)
    for end in range(len(data)):
        with pytest.raises(ValueError, match=r"^\[read_pickle\]"):
            read_pickle(data[:end])


def test_damaged_anywhere(rng):
    """A changed byte gives another value or a `ValueError`."""
    data = pickle.dumps([VALUES["samples"][:2], "text", 1.5, (1, 2)], 2)
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= int(rng.integers(1, 256))
        try:
            read_pickle(bytes(damaged))
        except ValueError as error:
            assert str(error).startswith("[read_pickle]")  # noqa: PT017
