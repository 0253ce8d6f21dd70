"""`buffer_from_arrow`: tables of other libraries as buffers, over their memory."""

import ctypes
from ctypes import POINTER, addressof, c_void_p

import numpy as np
import pytest
import umber.data as dx
from arrow_capsules import Made, MadeStream, pointers


def numbers(name, array, form, **options):
    made = Made(form, len(array), [None, array.ctypes.data], keep=array, **options)
    made.schema.name = name.encode()
    return made


def texts(name, parts, form=b"z", **options):
    content = np.array(list(b"".join(parts)), np.uint8)
    dtype = np.int64 if form in b"ZU" else np.int32
    offsets = np.cumsum([0, *map(len, parts)]).astype(dtype)
    buffers = [None, offsets.ctypes.data, content.ctypes.data if len(content) else None]
    made = Made(form, len(parts), buffers, keep=(content, offsets), **options)
    made.schema.name = name.encode()
    return made


def table(columns, length, *, offset=0, buffers=(None,), **options):
    made = Made(b"+s", length, buffers, offset=offset, **options)
    made.columns = columns
    made.lists = [
        pointers([addressof(getattr(c, kind)) for c in columns]) for kind in ("schema", "data")
    ]
    for structure, children in zip((made.schema, made.data), made.lists, strict=True):
        structure.n_children = len(columns)
        structure.children = ctypes.cast(children, POINTER(c_void_p))
    return made


def rows(buffer):
    return [{k: v.tolist() for k, v in sample.items()} for sample in buffer]


def ints(text):
    return list(np.frombuffer(text, np.int8))


@pytest.mark.parametrize("form", [b"z", b"Z", b"u", b"U"])
def test_rows_have_numbers_and_texts(form):
    array = np.arange(3, dtype=np.float32)
    made = table([numbers("x", array, b"f"), texts("t", [b"one", b"", b"\xff"], form)], 3)
    buffer = dx.buffer_from_arrow(made)
    assert rows(buffer) == [
        {"x": 0.0, "t": ints(b"one")},
        {"x": 1.0, "t": []},
        {"x": 2.0, "t": [-1]},
    ]
    assert buffer[0]["t"].dtype == np.int8
    assert buffer[0]["x"].dtype == np.float32
    # Shared: the memory of the producer is seen.
    array[1] = 7
    assert buffer[1]["x"] == 7
    assert not buffer[1]["x"].flags.writeable
    kept = buffer[0]["t"]
    del buffer
    assert kept.tobytes() == b"one"


def test_offsets_and_lists():
    made = table(
        [
            texts("t", [b"no", b"a", b"bc", b"d"]),
            numbers("x", np.arange(10, dtype=np.int64), b"l", offset=2),
        ],
        2,
        offset=1,
    )
    made.columns[1].data.length = 8
    assert rows(dx.buffer_from_arrow(made)) == [
        {"t": ints(b"a"), "x": 3},
        {"t": ints(b"bc"), "x": 4},
    ]
    array = np.arange(6, dtype=np.int32)
    lists = Made(b"+w:2", 3, [None], child=numbers("item", array, b"i"))
    lists.schema.name = b"p"
    buffer = dx.buffer_from_arrow(table([lists], 3))
    assert rows(buffer) == [{"p": [0, 1]}, {"p": [2, 3]}, {"p": [4, 5]}]
    assert buffer.batch(2)[0]["p"].tolist() == [[0, 1], [2, 3]]


def test_chunks_are_not_joined():
    def chunk(values):
        array = np.array(values, np.int16)
        return table(
            [numbers("x", array, b"s"), texts("t", [b"%d" % v for v in values])], len(values)
        )

    chunks = [chunk([1, 2]), chunk([]), chunk([3]), chunk([4, 5, 6])]
    arrays = [c.columns[0].keep[0] for c in chunks]
    stream = MadeStream(chunks, b"+s")
    stream.made_schema = chunk([])
    buffer = dx.buffer_from_arrow(stream)
    assert len(buffer) == 6
    assert stream.released == 1
    assert [int(s["x"]) for s in buffer] == [1, 2, 3, 4, 5, 6]
    assert [s["t"].tobytes() for s in buffer.to_stream().prefetch(2, 2)] == [
        b"%d" % v for v in range(1, 7)
    ]
    arrays[2][0] = 9
    assert buffer[2]["x"] == 9
    assert [int(s["x"]) for s in buffer.shuffle(seed=1)] != [int(s["x"]) for s in buffer]


def test_bad_tables_are_refused_by_column():
    array = np.arange(3, dtype=np.int32)
    mask = np.array([0b101], np.uint8)
    nulls = Made(b"i", 3, [mask.ctypes.data, array.ctypes.data], null_count=1, keep=(array, mask))
    nulls.schema.name = b"n"
    with pytest.raises(ValueError, match=r"\[buffer_from_arrow\] column 'n' has 1 nulls"):
        dx.buffer_from_arrow(table([nulls], 3))
    strings = texts("t", [b"a", b"b", b"c"], null_count=1)
    strings.buffers[0] = mask.ctypes.data
    with pytest.raises(ValueError, match="column 't' has 1 nulls"):
        dx.buffer_from_arrow(table([strings], 3))
    made = table([numbers("x", array, b"i")], 3, buffers=[mask.ctypes.data], null_count=1)
    with pytest.raises(ValueError, match="column 'x' has 1 nulls"):
        dx.buffer_from_arrow(made)
    with pytest.raises(TypeError, match=r"column 'd': .*'tdD'"):
        dx.buffer_from_arrow(table([numbers("d", array, b"tdD")], 3))
    inner = table([numbers("x", array, b"i")], 3)
    inner.schema.name = b"s"
    with pytest.raises(TypeError, match="column 's' is a struct"):
        dx.buffer_from_arrow(table([inner], 3))
    with pytest.raises(TypeError, match="expected a table, got an array of Arrow's type 'i'"):
        dx.buffer_from_arrow(numbers("x", array, b"i"))
    with pytest.raises(TypeError, match=r"\[buffer_from_arrow\] table: got dict"):
        dx.buffer_from_arrow({})
    with pytest.raises(ValueError, match="malformed"):
        dx.buffer_from_arrow(table([numbers("x", array, b"i")], 4))
    descending = texts("t", [b"abc", b"d"])
    descending.keep[0][1][1] = 9
    with pytest.raises(ValueError, match="do not ascend"):
        dx.buffer_from_arrow(table([descending], 2))


def test_tables_of_pyarrow():
    pa = pytest.importorskip("pyarrow")
    made = pa.table({"x": [1, 2, 3], "t": ["a", "bc", ""]})
    assert rows(dx.buffer_from_arrow(made)) == [
        {"x": 1, "t": ints(b"a")},
        {"x": 2, "t": ints(b"bc")},
        {"x": 3, "t": []},
    ]
