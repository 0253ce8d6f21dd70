"""GGUF: what files of others mean, what umber writes, and which files are refused."""

import struct

import numpy as np
import pytest
import umber.core as mx
from arrays import dtype_of, name_of, to_numpy
from gguf_files import TYPES, VALUES, blocks, elements, gguf

PLAIN = {
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F64": "float64",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
}
KEPT = ("Q4_0", "Q4_1", "Q8_0")
EXPANDED = [name for name in TYPES if name not in PLAIN and name not in KEPT]


def load(tmp_path, data, **options):
    path = tmp_path / "x.gguf"
    path.write_bytes(data)
    return mx.load(path, **options)


@pytest.mark.parametrize("kind", PLAIN)
def test_plain_tensors(kind, tmp_path):
    size = TYPES[kind][2]
    values = np.arange(6)
    data = {
        "F32": values.astype(np.float32),
        "F16": values.astype(np.float16),
        "F64": values.astype(np.float64),
        "BF16": (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16),
    }.get(kind, values.astype(f"i{size}"))
    loaded = load(tmp_path, gguf([("x", kind, (2, 3), data.tobytes())]))["x"]
    assert name_of(loaded.dtype) == PLAIN[kind]
    assert to_numpy(loaded).tolist() == values.reshape(2, 3).tolist()


@pytest.mark.parametrize("kind", EXPANDED)
def test_blocks_become_float16(kind, tmp_path):
    data = blocks(kind, 1024)
    loaded = load(tmp_path, gguf([("x", kind, (4, 256), data)]))["x"]
    assert (name_of(loaded.dtype), loaded.shape) == ("float16", (4, 256))
    expected = elements(kind, data)
    # One rounding to float16 of a value computed in float32.
    bound = np.abs(expected) * 2.0**-11 + 4e-3 * np.abs(expected).max() * 2.0**-11 + 2.0**-25
    assert (np.abs(to_numpy(loaded).astype(np.float64).ravel() - expected) <= bound).all()


@pytest.mark.parametrize("kind", KEPT)
@pytest.mark.parametrize("name", ["layer.weight", "embedding"])
def test_affine_blocks_stay_quantised(kind, name, tmp_path):
    data = blocks(kind, 512)
    loaded = load(tmp_path, gguf([(name, kind, (2, 256), data)]))
    stem = name.removesuffix(".weight")
    assert list(loaded) == [name, f"{stem}.scales", f"{stem}.biases"]
    packed, scales, biases = map(to_numpy, loaded.values())
    bits = 8 if kind == "Q8_0" else 4
    assert (packed.dtype, packed.shape) == (np.uint32, (2, 256 * bits // 32))
    assert (scales.dtype, biases.dtype) == (np.float16, np.float16)
    assert scales.shape == biases.shape == (2, 8)
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    integers = (packed[..., None] >> shifts & (2**bits - 1)).reshape(2, 8, 32)
    wide = [part.astype(np.float64)[..., None] for part in (scales, biases)]
    np.testing.assert_allclose(
        (wide[0] * integers + wide[1]).ravel(), elements(kind, data), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("kind", TYPES)
def test_same_as_mlx(kind, tmp_path):
    core = pytest.importorskip("mlx.core")
    path = tmp_path / "x.gguf"
    size = TYPES[kind][1]
    data = blocks(kind, 512) if size > 1 else (np.arange(512) % 100).astype(np.uint8).tobytes()
    shape = (2, 256) if size > 1 else (512 // TYPES[kind][2],)
    path.write_bytes(gguf([("a.weight", kind, shape, data), ("b", kind, shape, data)]))
    try:
        theirs = core.load(str(path))
    except RuntimeError:
        pytest.skip(f"MLX does not read {kind}")
    ours = mx.load(path)
    if kind == "BF16":
        # MLX rounds to float16.
        ours = {name: array.astype(mx.float16) for name, array in ours.items()}
    assert ours.keys() == theirs.keys()
    for name, array in theirs.items():
        own, other = to_numpy(ours[name]), np.array(array)
        assert (own.dtype, own.shape) == (other.dtype, other.shape)
        if kind == "Q4_K":
            # MLX's scales of odd groups are not those of ggml, the format's library; ours are.
            continue
        if kind.endswith("K"):
            # MLX's float16 is not always the nearest one.
            np.testing.assert_allclose(own, other, rtol=2e-3, atol=2e-2)
        else:
            np.testing.assert_array_equal(own, other)


METADATA = [
    *((f"s.{kind}", kind, 1) for kind in VALUES if kind not in ("text", "list")),
    *((f"l.{kind}", "list", (kind, [1, 0])) for kind in VALUES if kind not in ("text", "list")),
    ("t", "text", "grüße"),
    ("l.text", "list", ("text", ["a", ""])),
    ("none", "list", ("text", [])),
    ("deep", "list", ("list", [("i32", [1]), ("text", ["a"])])),
]


def test_metadata_of_every_type(tmp_path):
    arrays, metadata = load(tmp_path, gguf([], METADATA), return_metadata=True)
    assert arrays == {}
    assert list(metadata) == [key for key, _, _ in METADATA]
    names = {"f32": "float32", "f64": "float64", "bool": "bool_"}
    for kind in VALUES:
        if kind in ("text", "list"):
            continue
        dtype = names.get(
            kind, kind.replace("u", "uint").replace("i", "int").replace("uintnt", "uint")
        )
        for key, values in ((f"s.{kind}", 1), (f"l.{kind}", [1, 0])):
            assert name_of(metadata[key].dtype) == dtype
            assert metadata[key].tolist() == values
    assert (metadata["t"], metadata["l.text"], metadata["none"]) == ("grüße", ["a", ""], [])
    assert metadata["deep"][0].tolist() == [1]
    assert metadata["deep"][1] == ["a"]


@pytest.mark.parametrize("name", PLAIN.values())
def test_arrays_go_through_a_file(name, tmp_path):
    arrays = {
        "matrix": mx.array([[0, 1, 2], [3, 4, 5]], dtype=dtype_of(name)),
        "turned": mx.array([[0, 1, 2], [3, 4, 5]], dtype=dtype_of(name)).T,
        "number": mx.array(1, dtype=dtype_of(name)),
        "nothing": mx.zeros((0, 3), dtype=dtype_of(name)),
    }
    mx.save_gguf(tmp_path / "x", arrays)
    loaded = mx.load(tmp_path / "x.gguf")
    assert list(loaded) == list(arrays)
    for key, array in arrays.items():
        assert loaded[key].dtype == array.dtype
        assert loaded[key].tolist() == array.tolist()


def test_metadata_goes_through_a_file(tmp_path):
    given = {
        "text": "ä",
        "texts": ["a", "b"],
        "none": [],
        "numbers": mx.array([1, 2]),
        "half": mx.array(0.5),
        "wide": mx.array(1.1, dtype=mx.float64),
        "truth": mx.array([True, False]),
        "nothing": mx.zeros((0,)),
        "python": 3,
        "general.alignment": 64,
    }
    mx.save_gguf(tmp_path / "x.gguf", {"a": mx.ones(3), "b": mx.ones(2)}, given)
    arrays, found = mx.load(tmp_path / "x.gguf", return_metadata=True)
    assert list(found) == list(given)
    assert arrays["b"].tolist() == [1, 1]
    for key, value in given.items():
        if isinstance(value, mx.array):
            assert found[key].dtype == value.dtype
            assert found[key].tolist() == value.tolist()
        else:
            assert (found[key].item() if isinstance(value, int) else found[key]) == value


def test_lists_of_lists_go_through_a_file(tmp_path):
    data = gguf([], [("k", "list", ("list", [("i32", [1, 2]), ("list", [("text", ["a"])])]))])
    _, metadata = load(tmp_path, data, return_metadata=True)
    for _ in range(2):
        numbers, texts = metadata["k"]
        assert (numbers.dtype, numbers.tolist(), texts) == (mx.int32, [1, 2], [["a"]])
        mx.save_gguf(tmp_path / "y.gguf", {}, metadata)
        metadata = mx.load(tmp_path / "y.gguf", return_metadata=True)[1]
    assert (tmp_path / "y.gguf").read_bytes().rstrip(b"\0") == data.rstrip(b"\0")


def test_lists_in_lists_have_an_end(tmp_path):
    deep = ["a"]
    for _ in range(8):
        deep = [deep]
    endless = []
    endless.append(endless)
    for value in (deep, endless):
        with pytest.raises(ValueError, match=r"^\[save_gguf\] metadata 'k'.* nested deeper than"):
            mx.save_gguf(tmp_path / "x.gguf", {}, {"k": value})
    mx.save_gguf(tmp_path / "x.gguf", {}, {"k": deep[0]})
    assert mx.load(tmp_path / "x.gguf", return_metadata=True)[1] == {"k": deep[0]}


def test_an_alignment_that_elements_cannot_have(tmp_path):
    with pytest.raises(ValueError, match=r"'general.alignment' must be a multiple of 8, got 3"):
        mx.save_gguf(tmp_path / "x.gguf", {"a": mx.ones(3)}, {"general.alignment": mx.array(3)})


@pytest.mark.parametrize(
    ("value", "words"),
    [("x", 'got the text "x"'), (["x"], "got a list"), (mx.ones(()), "an array of float32")],
)
def test_an_alignment_that_is_no_integer(value, words, tmp_path):
    with pytest.raises(ValueError, match=r"must be an integer from 1 to 2\*\*30, got") as error:
        mx.save_gguf(tmp_path / "x.gguf", {}, {"general.alignment": value})
    assert words in str(error.value)


def test_mlx_reads_what_umber_writes(tmp_path):
    core = pytest.importorskip("mlx.core")
    path = tmp_path / "x.gguf"
    arrays = {"a": mx.arange(6).reshape(2, 3), "b": mx.ones((3,), dtype=mx.float16)}
    mx.save_gguf(path, arrays, {"k": "v", "n": mx.array([1, 2]), "l": ["x", "y"]})
    theirs, metadata = core.load(str(path), return_metadata=True)
    for name, array in arrays.items():
        assert np.array(theirs[name]).tolist() == array.tolist()
    assert (metadata["k"], metadata["l"], metadata["n"].tolist()) == ("v", ["x", "y"], [1, 2])
    core.save_gguf(str(path), {"c": core.arange(4)}, {"k": "w", "n": core.array(3)})
    ours, metadata = mx.load(path, return_metadata=True)
    assert ours["c"].tolist() == [0, 1, 2, 3]
    assert (metadata["k"], metadata["n"].item()) == ("w", 3)


ONE = np.ones(3, np.float32).tobytes()
# The length of its list stands behind magic, counts, key and types.
LISTED = gguf([], [("k", "list", ("text", []))])
REFUSED = {
    "another magic word": (b"GGUX" + gguf([])[4:], "not a GGUF file: wrong magic number"),
    "nothing": (b"", "not a GGUF file: wrong magic number"),
    "a newer version": (gguf([], version=9), "GGUF version 9 is not supported, expected 2 or 3"),
    "the other byte order": (
        b"GGUF\0\0\0\x03" + gguf([])[8:],
        "(a big-endian file) is not supported, expected 2 or 3",
    ),
    "many tensors": (gguf([])[:8] + b"\xff" * 16, "truncated: got 24 bytes, expected at least 32"),
    "a long name": (
        gguf([])[:8] + b"\1" + b"\0" * 15 + b"\xff" * 8,
        "truncated: got 32 bytes, expected at least",
    ),
    "a name twice": (gguf([("a", "F32", (3,), ONE)] * 2), "duplicate name 'a'"),
    "metadata twice": (gguf([], [("k", "i32", 1)] * 2), "duplicate metadata key 'k'"),
    "a made name twice": (
        gguf([("a", "Q8_0", (32,), blocks("Q8_0", 32)), ("a.scales", "F32", (3,), ONE)]),
        "duplicate name 'a.scales'",
    ),
    "names that are no text": (
        gguf([], [(b"\xff", "i32", 1)]),
        "string before byte 33 is not UTF-8",
    ),
    "a text that is none": (
        gguf([], [("k", "text", b"\xff")]),
        "metadata 'k': string before byte 46 is not UTF-8",
    ),
    "a long list": (
        LISTED[:41] + b"\xff" * 8 + LISTED[49:],
        "a list of 18446744073709551615 values does not fit in the remaining 15 bytes",
    ),
    "an unknown type": (
        gguf([("a", 77, (3,), ONE)]),
        "tensor type 77 (unknown) is not supported, expected plain numbers",
    ),
    "a family that is not read": (
        gguf([("a", 16, (256,), ONE)]),
        "tensor type 16 (IQ family) is not supported, expected plain numbers",
    ),
    "past the end": (
        gguf([("a", "F32", (300,), ONE)]),
        "1200 bytes of data at 64 + 0 exceed the file length 96",
    ),
    "an offset that overflows": (
        gguf([("a", "F32", (3,), ONE)], offsets=[2**64 - 4]),
        f"12 bytes of data at 64 + {2**64 - 4} exceed the file length 96",
    ),
    "an overlap": (
        gguf([("a", "F32", (3,), ONE), ("b", "F32", (3,), ONE)], offsets=[0, 8]),
        "'b': data at 8 overlaps the previous tensor, which ends at 12",
    ),
    "a huge shape": (gguf([("a", "F32", (2**40, 2**40), ONE)]), "is too large to address"),
    "many axes": (gguf([("a", "F32", (1,) * 70, ONE)]), "array of 70 axes; the maximum is 64"),
    "broken blocks": (
        gguf([("a", "Q8_0", (33,), blocks("Q8_0", 64))]),
        "last axis of shape (33,) is not divisible by the block size 32",
    ),
    "no alignment": (
        gguf([("a", "F32", (3,), ONE)], [("general.alignment", "u32", 0)]),
        "must be an integer from 1 to 2**30, got 0",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_damaged_files(kind, tmp_path):
    data, words = REFUSED[kind]
    with pytest.raises(ValueError, match=r"^\[load\] .*x\.gguf: ") as error:
        load(tmp_path, data)
    assert words in str(error.value)


@pytest.mark.parametrize("dtype", [mx.bool_, mx.uint8, mx.uint64, mx.complex64])
def test_dtypes_without_a_word(dtype, tmp_path):
    with pytest.raises(
        TypeError, match=r"^\[save_gguf\] 'a': dtype \w+ is not supported by the gguf"
    ):
        mx.save_gguf(tmp_path / "x.gguf", {"a": mx.zeros((2,), dtype=dtype)})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (mx.ones((2, 2)), r"arrays must be one-dimensional, .* got shape \(2, 2\)"),
        (mx.array(1, dtype=mx.float16), r"dtype float16 is not supported in metadata, expected"),
        ([1, 2], r"list contains 1, expected only strings, or only arrays and lists"),
        (None, r"got NoneType, expected an array"),
        ({"a": 1}, r"got dict, expected an array"),
        (["a", 1], r"list contains 'a', expected only strings, or only arrays"),
        ([["a"], "b"], r"list contains 'b', expected only strings, or only arrays"),
        ([["a"], mx.array(1)], r"arrays must be one-dimensional, .* got shape \(\)"),
        ([None], r"got NoneType, expected an array"),
    ],
)
def test_metadata_that_cannot_be_written(value, message, tmp_path):
    with pytest.raises((TypeError, ValueError), match=rf"^\[save_gguf\] metadata 'k': {message}"):
        mx.save_gguf(tmp_path / "x.gguf", {}, {"k": value})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("alignment", [64, mx.array(64), mx.array(64, mx.uint64)])
def test_the_alignment_is_written_as_others_read_it(alignment, tmp_path):
    path = tmp_path / "x.gguf"
    mx.save_gguf(path, {"x": mx.arange(4.0)}, {"general.alignment": alignment})
    key = b"general.alignment"
    kind, number = struct.unpack_from(
        "<II", (data := path.read_bytes()), data.index(key) + len(key)
    )
    assert (kind, number) == (4, 64)
    assert mx.load(path)["x"].tolist() == [0, 1, 2, 3]
