"""Files: what is saved is loaded again, and damaged files are errors that leave nothing behind."""

import json
import struct

import numpy as np
import pytest
import umber.core as mx
from arrays import ALL, assert_close, dtype_of, name_of, to_numpy

SAFETENSORS = [name for name in ALL if name != "complex128"]


@pytest.mark.parametrize("name", SAFETENSORS)
def test_safetensors_round_trip(name, tmp_path):
    arrays = {
        "matrix": mx.array([[0, 1, 1], [1, 0, 1]], dtype=dtype_of(name)),
        "turned": mx.array([[0, 1, 1], [1, 0, 1]], dtype=dtype_of(name)).T,
        "number": mx.array(1, dtype=dtype_of(name)),
        "nothing": mx.zeros((0, 3), dtype=dtype_of(name)),
    }
    path = tmp_path / "file.safetensors"
    mx.save_safetensors(str(path), arrays)
    loaded = mx.load(str(path))
    assert loaded.keys() == arrays.keys()
    for key, array in arrays.items():
        assert name_of(loaded[key].dtype) == name
        assert_close(to_numpy(loaded[key]), to_numpy(array), note=key)


def test_metadata_and_paths(tmp_path):
    path = tmp_path / "with metadata.safetensors"
    mx.save_safetensors(path, {"a": mx.ones(2)}, metadata={"made by": "a test"})
    arrays, metadata = mx.load(path, return_metadata=True)
    assert arrays["a"].tolist() == [1.0, 1.0]
    assert metadata["made by"] == "a test"
    mx.save_safetensors(str(tmp_path / "short"), {"a": mx.ones(1)})
    assert (tmp_path / "short.safetensors").exists()


def test_other_readers_agree(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    path = str(tmp_path / "x.safetensors")
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    mx.save_safetensors(path, {"x": mx.array(values), "t": mx.array(values).T})
    theirs = safetensors.load_file(path)
    assert theirs["x"].tolist() == values.tolist()
    assert theirs["t"].tolist() == values.T.tolist()
    safetensors.save_file({"y": values}, path)
    assert mx.load(path)["y"].tolist() == values.tolist()


def test_saving_over_a_file_that_is_loaded(tmp_path):
    """Arrays taken from a file keep their values when the file is written anew."""
    path = str(tmp_path / "x.safetensors")
    mx.save_safetensors(path, {"x": mx.arange(5)})
    loaded = mx.load(path)["x"]
    mx.save_safetensors(path, {"x": loaded * 2})
    assert mx.load(path)["x"].tolist() == [0, 2, 4, 6, 8]
    assert loaded.tolist() == [0, 1, 2, 3, 4]


def header(entries) -> bytes:
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


DAMAGED = {
    "empty file": b"",
    "cut length": b"\x01\x02",
    "header longer than the file": struct.pack("<Q", 1 << 60) + b"{}",
    "no json": struct.pack("<Q", 3) + b"abc",
    "json of the wrong kind": struct.pack("<Q", 2) + b"[]",
    "data cut short": header({"a": entry()}) + b"\0" * 4,
    "unknown dtype": header({"a": entry(dtype="Q7")}) + b"\0" * 8,
    "offsets backwards": header({"a": entry(offsets=(8, 0))}) + b"\0" * 8,
    "offsets past the end": header({"a": entry(offsets=(8, 16))}) + b"\0" * 8,
    "shape does not fit": header({"a": entry(shape=(3,))}) + b"\0" * 8,
    "negative size": header({"a": entry(shape=(-2,))}) + b"\0" * 8,
    "huge shape": header({"a": entry(shape=(1 << 40, 1 << 40))}) + b"\0" * 8,
    "missing field": header({"a": {"dtype": "F32", "shape": [2]}}) + b"\0" * 8,
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_damaged_safetensors(kind, tmp_path):
    path = tmp_path / "bad.safetensors"
    path.write_bytes(DAMAGED[kind])
    with pytest.raises((ValueError, OSError, RuntimeError), match=r"^\["):
        mx.eval(mx.load(str(path)))


def test_every_cut_of_a_good_file_is_an_error(tmp_path):
    whole_path, cut_path = tmp_path / "whole.safetensors", tmp_path / "cut.safetensors"
    mx.save_safetensors(str(whole_path), {"a": mx.arange(10), "b": mx.ones((3, 3))})
    whole = whole_path.read_bytes()
    for length in range(0, len(whole), 7):
        cut_path.write_bytes(whole[:length])
        with pytest.raises((ValueError, OSError, RuntimeError)):
            mx.eval(mx.load(str(cut_path)))


def test_paths_that_cannot_be_used(tmp_path):
    with pytest.raises(OSError, match="absent"):
        mx.load(str(tmp_path / "absent.safetensors"))
    with pytest.raises(OSError, match="nowhere"):
        mx.save_safetensors(str(tmp_path / "nowhere" / "x.safetensors"), {"a": mx.ones(1)})
    with pytest.raises((ValueError, OSError)):
        mx.load(str(tmp_path / "file.unknown"))
    with pytest.raises((TypeError, ValueError)):
        mx.save_safetensors(str(tmp_path / "x.safetensors"), {"a": 3})
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_keeps_the_old_file(tmp_path):
    """The new file takes the old one's place only when it is whole."""
    path = tmp_path / "x.safetensors"
    mx.save_safetensors(str(path), {"a": mx.ones(2)})
    bad = mx.zeros(3)[mx.array([9])]
    with pytest.raises(IndexError):
        mx.save_safetensors(str(path), {"a": bad})
    assert mx.load(str(path))["a"].tolist() == [1.0, 1.0]
    assert [p.name for p in tmp_path.iterdir()] == ["x.safetensors"]
