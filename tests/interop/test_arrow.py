"""Arrow, both ways: capsules made and read by hand, and arrays of pyarrow where installed."""

import gc

import arrow_capsules as arrow
import numpy as np
import pytest
import umber.core as mx
from arrow_capsules import Data, Made, MadeStream, Schema
from capsules import api

pytestmark = pytest.mark.host

FORMATS = {
    "int8": b"c",
    "uint8": b"C",
    "int16": b"s",
    "uint16": b"S",
    "int32": b"i",
    "uint32": b"I",
    "int64": b"l",
    "uint64": b"L",
    "float16": b"e",
    "float32": b"f",
    "float64": b"g",
}


def made(values, form=None, **options):
    """An Arrow array over the memory of a NumPy array."""
    form = FORMATS[values.dtype.name] if form is None else form
    options.setdefault("keep", values)
    validity = options.pop("validity", None)
    bitmap = None if validity is None else np.packbits(validity, bitorder="little")
    if bitmap is not None:
        options["keep"] = values, bitmap
        options.setdefault("null_count", -1)
    buffers = [None if bitmap is None else bitmap.ctypes.data, values.ctypes.data]
    return Made(form, options.pop("length", values.size), buffers, **options)


def nested(values, **options):
    """A list of fixed size for each row."""
    child = made(values.reshape(-1), **options)
    rows, size = values.shape
    return Made(b"+w:%d" % size, rows, [None], child=child)


@pytest.mark.parametrize("name", FORMATS)
def test_export(name):
    x = mx.arange(6).astype(getattr(mx, name))
    mx.eval(x)
    schema, data = x[2:].__arrow_c_array__()
    structure, array = arrow.structure_of(schema), arrow.structure_of(data)
    assert structure.format == FORMATS[name]
    assert (array.length, array.null_count, array.offset, array.n_buffers, array.n_children) == (
        4,
        0,
        0,
        2,
        0,
    )
    assert array.buffers[0] is None
    assert array.buffers[1] == x.__array_interface__["data"][0] + 2 * x.itemsize
    assert arrow.structure_of(x.__arrow_c_schema__()).format == FORMATS[name]


def test_export_of_several_axes():
    x = mx.arange(24.0).reshape(2, 3, 4)
    schema, data = x.__arrow_c_array__()
    structure, array = arrow.structure_of(schema), arrow.structure_of(data)
    formats, lengths = [], []
    for _ in range(2):
        formats.append(structure.format)
        lengths.append((array.length, array.n_buffers))
        structure, array = arrow.child_of(structure), arrow.child_of(array)
    assert (formats, structure.format) == ([b"+w:3", b"+w:4"], b"f")
    assert (lengths, array.length) == ([(2, 1), (6, 1)], 24)
    assert mx.from_arrow(x.transpose(2, 0, 1)).tolist() == x.transpose(2, 0, 1).tolist()


def test_export_of_bool_packs_bits():
    values = [True, False, False, True, True, False, True, True, True, False]
    _, data = mx.array(values).__arrow_c_array__()
    array = arrow.structure_of(data)
    bits = np.frombuffer((np.ctypeslib.ctypes.c_uint8 * 2).from_address(array.buffers[1]), np.uint8)
    assert array.length == 10
    assert np.unpackbits(bits, bitorder="little", count=10).tolist() == [
        int(value) for value in values
    ]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_empty_arrays(shape):
    for dtype in (mx.float32, mx.bool_):
        x = mx.zeros(shape, dtype=dtype)
        _, data = x.__arrow_c_array__()
        array = arrow.structure_of(data)
        array = array if array.n_children == 0 else arrow.child_of(array)
        assert array.buffers[1]
        back = mx.from_arrow(x)
        assert (back.shape, back.dtype) == (shape, dtype)


@pytest.mark.parametrize("dtype", [mx.bfloat16, mx.complex64])
def test_dtypes_that_arrow_lacks(dtype):
    for export in ("__arrow_c_array__", "__arrow_c_schema__"):
        with pytest.raises(
            TypeError, match=rf"\[{export}\] Arrow has no type for dtype {dtype.name}"
        ):
            getattr(mx.ones(2, dtype=dtype), export)()
    with pytest.raises(
        BufferError, match=r"Arrow has no 0-d arrays; reshape the array to \(1,\) first"
    ):
        mx.array(1.0).__arrow_c_array__()


def test_exported_memory_lives_until_it_is_released():
    mx.synchronize()
    gc.collect()
    before = mx.get_active_memory()
    x = mx.arange(1 << 20, dtype=mx.float32)
    mx.eval(x)
    schema, data = x.reshape(-1, 4).__arrow_c_array__()
    array = arrow.structure_of(data)
    moved = Data.from_buffer_copy(arrow.child_of(array))
    arrow.child_of(array).release = None
    del x
    arrow.release(array)
    del schema, data
    assert mx.get_active_memory() - before >= 4 << 20
    assert (np.ctypeslib.ctypes.c_float * 4).from_address(moved.buffers[1])[3] == 3.0
    arrow.release(moved)
    gc.collect()
    assert mx.get_active_memory() - before < 4 << 20


def test_exported_memory_is_read_only_for_others():
    x = mx.arange(4.0)
    mx.eval(x)
    capsules = x.__arrow_c_array__()
    assert not np.asarray(x).flags.writeable
    del capsules


@pytest.mark.covers("from_arrow")
@pytest.mark.parametrize("name", FORMATS)
def test_import_is_zero_copy(name):
    values = np.arange(8).astype(name)
    for source, expected in [
        (made(values), values),
        (made(values, offset=3, length=4), values[3:7]),
        (nested(values.reshape(2, 4)), values.reshape(2, 4)),
    ]:
        x = mx.from_arrow(source, copy=False)
        assert x.dtype == getattr(mx, name)
        assert x.tolist() == expected.tolist()
        assert x.__array_interface__["data"][0] == expected.ctypes.data
        assert not np.asarray(x).flags.writeable


def test_asarray_and_array_speak_arrow():
    values = np.arange(4.0, dtype=np.float32)
    x = mx.asarray(made(values))
    assert x.__array_interface__["data"][0] == values.ctypes.data
    assert mx.array(made(values)).tolist() == values.tolist()
    assert mx.asarray(made(values), mx.int32).tolist() == [0, 1, 2, 3]
    assert (mx.asarray(made(values), copy=True)).__array_interface__["data"][
        0
    ] != values.ctypes.data


def test_offsets_of_lists_and_of_their_elements_add_up():
    values = np.arange(20, dtype=np.int32)
    child = made(values, offset=2, length=18)
    source = Made(b"+w:3", 2, [None], offset=4, child=child)
    assert mx.from_arrow(source).tolist() == values[2:].reshape(-1, 3)[4:6].tolist()


def test_import_of_bool_unpacks_bits():
    bits = np.array([0b10110101, 0b00000001], np.uint8)
    source = Made(b"b", 7, [None, bits.ctypes.data], offset=2, keep=bits)
    assert mx.from_arrow(source).tolist() == [True, False, True, True, False, True, True]
    source = Made(b"b", 7, [None, bits.ctypes.data], offset=2, keep=bits)
    with pytest.raises(
        BufferError, match="booleans as bits, which requires a copy, but copy=False"
    ):
        mx.from_arrow(source, copy=False)


def test_callbacks_are_called_once_when_the_last_array_is_gone():
    source = made(np.arange(4.0))
    x = mx.from_arrow(source)
    assert source.released == [Schema]
    y = x[1:]
    mx.eval(y)
    del x
    gc.collect()
    assert source.released == [Schema]
    del y
    gc.collect()
    assert source.released == [Schema, Data]


def test_failed_imports_release_what_they_took():
    for source in (made(np.arange(4.0), b"u"), made(np.arange(4.0), offset=-1)):
        with pytest.raises((TypeError, BufferError)):
            mx.from_arrow(source)
        gc.collect()
        assert source.released in ([Schema], [Schema, Data])
    copied = made(np.arange(4.0))
    x = mx.from_arrow(copied, copy=True)
    gc.collect()
    assert copied.released == [Schema, Data] or copied.released == [Data, Schema]
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_a_capsule_is_consumed_once():
    source = made(np.arange(4.0))

    class Fixed:
        capsules = source.__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    keeper = Fixed()
    x = mx.from_arrow(keeper)
    with pytest.raises(BufferError, match="already consumed"):
        mx.from_arrow(keeper)
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


VALID = np.array([True, False, True, True, False])


@pytest.mark.parametrize("name", ["float32", "int16"])
def test_nulls(name):
    values = np.arange(5).astype(name)

    def source():
        return made(values, validity=VALID)

    for convert in (mx.from_arrow, mx.asarray):
        with pytest.raises(ValueError, match="2 of 5 elements are null"):
            convert(source())
    x, mask = mx.from_arrow(source(), nulls="mask")
    assert (x.dtype, mask.dtype) == (getattr(mx, name), mx.bool_)
    assert mask.tolist() == (~VALID).tolist()
    assert x.__array_interface__["data"][0] == values.ctypes.data
    filled = mx.from_arrow(source(), nulls="nan")
    assert filled.dtype == (mx.float32 if name == "float32" else mx.float64)
    assert np.array_equal(np.asarray(filled), np.where(VALID, values, np.nan), equal_nan=True)
    with pytest.raises(BufferError, match="copy=False"):
        mx.from_arrow(source(), nulls="nan", copy=False)


def test_null_lists_mask_their_elements():
    values = np.arange(6, dtype=np.float32)
    bitmap = np.array([0b101], np.uint8)
    child = made(values, validity=np.array([True] * 5 + [False]))
    source = Made(b"+w:2", 3, [bitmap.ctypes.data], null_count=1, child=child, keep=bitmap)
    x, mask = mx.from_arrow(source, nulls="mask")
    assert mask.tolist() == [[False, False], [True, True], [False, True]]
    assert x.tolist() == values.reshape(3, 2).tolist()


def test_no_nulls():
    values = np.arange(3.0)
    assert mx.from_arrow(made(values, validity=np.array([True] * 3))).tolist() == [0, 1, 2]
    x, mask = mx.from_arrow(made(values), nulls="mask")
    assert (x.tolist(), mask.tolist()) == ([0, 1, 2], [False] * 3)
    assert mx.from_arrow(made(values), nulls="nan", copy=False).tolist() == [0, 1, 2]


@pytest.mark.parametrize("case", ["pandas", "table", "nulls"])
def test_asarray_leaves_what_arrow_does_not_express_to_the_method_of_numpy(case):
    values = np.arange(4.0)

    class Source:
        __module__ = "pandas.core.series" if case == "pandas" else "library"

        def __arrow_c_array__(self, requested_schema=None):
            column = made(values, validity=np.array([False] * 4) if case == "nulls" else None)
            source = Made(b"+s", 4, [None], child=column) if case == "table" else column
            return source.__arrow_c_array__()

        def __array__(self, dtype=None, copy=None):
            return np.full((4, 1), 7.0)

    assert mx.asarray(Source()).tolist() == [[7.0]] * 4
    x, _ = mx.from_arrow(Source(), nulls="mask")
    assert x.tolist() == values.tolist()


def test_streams():
    first, second = np.arange(3, dtype=np.float32), np.arange(3, 5, dtype=np.float32)
    stream = MadeStream([made(first), made(second[:0]), made(second)])
    x = mx.from_arrow(stream)
    assert x.tolist() == [0, 1, 2, 3, 4]
    assert stream.released == 1
    one = MadeStream([made(first)])
    assert mx.asarray(one, copy=False).__array_interface__["data"][0] == first.ctypes.data
    with pytest.raises(BufferError, match="joining chunks requires a copy, but copy=False"):
        mx.from_arrow(MadeStream([made(first), made(second)]), copy=False)
    empty = mx.from_arrow(MadeStream([]))
    assert (empty.shape, empty.dtype) == ((0,), mx.float32)
    halves = MadeStream([made(first, validity=np.array([True, True, False])), made(second)])
    assert mx.from_arrow(halves, nulls="mask")[1].tolist() == [False, False, True, False, False]


def test_a_failing_stream_raises_its_message():
    stream = MadeStream([made(np.arange(3, dtype=np.float32))], message=b"the disk is on fire")
    with pytest.raises(
        RuntimeError, match=r"\[from_arrow\] the stream failed with status 5: the disk is on fire"
    ):
        mx.from_arrow(stream)
    assert stream.released == 1


VALUES = np.arange(4.0)
MALFORMED = {
    "a negative length": (lambda: made(VALUES, length=-1), "a length or offset is -1"),
    "a negative offset": (lambda: made(VALUES, offset=-2), "a length or offset is -2"),
    "a huge length": (lambda: made(VALUES, length=2**62), "too large to address"),
    "a long range": (
        lambda: made(VALUES, length=2**63 - 1, offset=2**63 - 1),
        "too large to address",
    ),
    "no buffers": (lambda: Made(b"g", 4, []), "buffer 1 is missing"),
    "no address": (lambda: Made(b"g", 4, [None, None]), "not mapped"),
    "a wrong address": (lambda: Made(b"g", 4, [None, 4096]), "not mapped"),
    "a wrong bitmap": (
        lambda: Made(b"g", 4, [4096, VALUES.ctypes.data], null_count=-1),
        "not mapped",
    ),
    "few elements": (
        lambda: Made(b"+w:3", 2, [None], child=made(VALUES)),
        "4 elements are too few for 2 lists of 3",
    ),
    "a huge list": (
        lambda: Made(b"+w:9223372036854775807", 2, [None], child=made(VALUES)),
        "too few",
    ),
    "no elements": (lambda: Made(b"+w:2", 2, [None]), "a list has no type of elements"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_arrays(case):
    make, reason = MALFORMED[case]
    with pytest.raises(BufferError, match=reason):
        mx.from_arrow(make())


@pytest.mark.parametrize("form", [b"u", b"+l", b"tdD", b"n", b"d:9,2", b"+w:-1", b"+w:x", b""])
def test_unsupported_types(form):
    with pytest.raises(
        TypeError, match=r"\[from_arrow\] arrays of Arrow's type '.*' are not supported"
    ):
        mx.from_arrow(made(VALUES, form))


def test_other_bad_arguments():
    with pytest.raises(
        TypeError, match=r"dictionary-encoded arrays are not supported; decode them"
    ):
        mx.from_arrow(made(VALUES, dictionary=4096))
    with pytest.raises(TypeError, match=r"table or struct of 2 columns, expected one column"):
        mx.from_arrow(Made(b"+s", 4, [None], n_children=2))
    with pytest.raises(TypeError, match=r"got list, expected an object with __arrow_c_array__"):
        mx.from_arrow([1, 2])
    with pytest.raises(ValueError, match=r"nulls: got 'drop', expected 'raise', 'mask' or 'nan'"):
        mx.from_arrow(made(VALUES), nulls="drop")

    class Odd:
        def __init__(self, result):
            self.result = result

        def __arrow_c_array__(self, requested_schema=None):
            return self.result

    capsule = api.PyCapsule_New(1, b"something else", None)
    for result in (None, (1, 2), (capsule, capsule), ()):
        with pytest.raises(TypeError, match=r"\[from_arrow\]"):
            mx.from_arrow(Odd(result))


def test_a_table_of_one_column_is_that_column():
    source = Made(b"+s", 3, [None], offset=1, child=made(VALUES))
    assert mx.from_arrow(source).tolist() == [1.0, 2.0, 3.0]


def test_round_trip_without_copies():
    x = mx.arange(12.0).reshape(3, 4)
    mx.eval(x)
    back = mx.from_arrow(x)
    assert back.tolist() == x.tolist()
    assert back.__array_interface__["data"][0] == x.__array_interface__["data"][0]


def test_writes_to_the_memory_of_pandas_reach_no_recorded_operation():
    memory = np.arange(3.0)

    class Series:
        """As pandas has it: over NumPy's memory, which programs write to."""

        __module__ = "pandas.core.series"

        def __arrow_c_array__(self, requested_schema=None):
            return mx.asarray(memory).__arrow_c_array__(requested_schema)

    x = mx.from_arrow(Series())
    doubled = x * 2
    memory[0] = 100
    assert doubled.tolist() == [0, 2, 4]
    assert x.tolist() == [100, 1, 2]


def test_pyarrow():
    pa = pytest.importorskip("pyarrow")
    for name in FORMATS:
        column = pa.array(np.arange(5).astype(name))
        x = mx.from_arrow(column, copy=False)
        assert x.tolist() == column.to_pylist()
        back = pa.array(x[1:])
        assert back.type == column.type
        assert back.to_pylist() == x[1:].tolist()
    chunked = pa.chunked_array([pa.array([1, 2]), pa.array([3, None])])
    with pytest.raises(ValueError, match="1 of 4 elements are null"):
        mx.asarray(chunked)
    x, mask = mx.from_arrow(chunked, nulls="mask")
    assert (x[:3].tolist(), mask.tolist()) == ([1, 2, 3], [False, False, False, True])
    assert mx.asarray(pa.array([True, False])).tolist() == [True, False]
    assert np.isnan(mx.asarray(pa.array([1.5, None]))[1].item())
    rows = pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float64(), 2))
    assert mx.from_arrow(rows[1:]).tolist() == [[3.0, 4.0]]
    matrix = pa.array(mx.arange(6.0).reshape(3, 2))
    assert matrix.to_pylist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert matrix.type == pa.list_(pa.float32(), 2)
    assert mx.from_arrow(pa.table({"a": [1.0, 2.0]})).tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="'u' are not supported"):
        mx.from_arrow(pa.array(["text"]))
    flags = pa.array(mx.array([True, False, True]))
    assert (flags.type, flags.to_pylist()) == (pa.bool_(), [True, False, True])
