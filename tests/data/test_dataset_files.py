"""Files of data sets: downloads, checksums, and archives that are damaged or hostile."""

import gzip
import hashlib
import io
import os
from http.client import IncompleteRead
from typing import ClassVar

import numpy as np
import pytest
from dataset_archives import write_tar, write_zip
from umber.data.datasets._files import (
    Archive,
    atomic,
    check_choice,
    fetch,
    load_columns,
    open_tar,
    read_member,
    root_folder,
    save_columns,
    tar_of,
    unzip_members,
    verify,
)

QUIET = {"quiet": True, "validate_download": True}


@pytest.fixture
def published(tmp_path):
    """A file that can be downloaded, and its contents."""
    content = gzip.compress(b"content" * 1000)
    path = tmp_path / "server" / "x.tar.gz"
    path.parent.mkdir()
    path.write_bytes(content)
    return path, content


def test_default_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert root_folder(None, "mnist") == tmp_path / ".cache" / "mlx.data" / "mnist"
    assert root_folder("here", "mnist").name == "here"


@pytest.mark.parametrize("algorithm", ["md5", "sha256"])
def test_download(published, tmp_path, algorithm):
    path, content = published
    folder = tmp_path / "a" / "b"
    archive = Archive(path.as_uri(), hashlib.new(algorithm, content).hexdigest())
    assert fetch("op", folder, archive, **QUIET).read_bytes() == content
    # Not again.
    path.unlink()
    assert fetch("op", folder, archive, **QUIET).read_bytes() == content
    assert os.listdir(folder) == ["x.tar.gz"]


def test_download_of_another_file(published, tmp_path):
    path, content = published
    archive = Archive(path.as_uri(), "0" * 32)
    with pytest.raises(RuntimeError, match=r"^\[op\] file:.*its md5 is .*, expected 0000"):
        fetch("op", tmp_path / "a", archive, **QUIET)
    assert os.listdir(tmp_path / "a") == []
    fetched = fetch("op", tmp_path / "a", archive, quiet=True, validate_download=False)
    assert fetched.read_bytes() == content


def test_refused_download_names_the_file(tmp_path):
    archive = Archive((tmp_path / "none.tar").as_uri(), "0" * 32)
    with pytest.raises(
        ConnectionError, match=r"^\[op\] cannot .*put the file none\.tar into .*/a$"
    ):
        fetch("op", tmp_path / "a", archive, **QUIET)
    assert os.listdir(tmp_path / "a") == []


class Response(io.BytesIO):
    """An answer that promises ten bytes."""

    headers: ClassVar = {"Content-Length": "10"}


class InterruptedResponse(Response):
    def read(self, size=-1):
        raise IncompleteRead(b"abc", 7)


@pytest.mark.parametrize("response", [Response, InterruptedResponse])
def test_interrupted_download(response, tmp_path, monkeypatch):
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: response(b"abc"))
    with pytest.raises(ConnectionError, match=r"^\[op\] cannot .*3 (of 10 bytes|bytes read)"):
        fetch("op", tmp_path, Archive("http://localhost/x.tar"), **QUIET)
    assert os.listdir(tmp_path) == []


def test_verify(tmp_path):
    (tmp_path / "x").write_bytes(b"abc")
    verify("op", tmp_path / "x", hashlib.sha256(b"abc").hexdigest(), quiet=True)
    with pytest.raises(RuntimeError, match=r"its sha256 is ba7816.*validate_download=False"):
        verify("op", tmp_path / "x", "1" * 64, quiet=True)


def test_decompressed_archive(published, tmp_path):
    path, _ = published
    archive = Archive(path.as_uri())
    target = tar_of("op", tmp_path / "a", archive, **QUIET)
    assert target.read_bytes() == b"content" * 1000
    # What was downloaded for it is gone.
    assert os.listdir(tmp_path / "a") == ["x.tar"]
    # What was there stays.
    tar_of("op", path.parent, archive, **QUIET)
    assert sorted(os.listdir(path.parent)) == ["x.tar", "x.tar.gz"]


def test_truncated_archive(published):
    path, content = published
    path.write_bytes(content[:-20])
    with pytest.raises(ValueError, match=r"^\[op\] .*x\.tar\.gz is damaged"):
        tar_of("op", path.parent, Archive(path.as_uri()), **QUIET)
    assert os.listdir(path.parent) == ["x.tar.gz"]


def test_zip_members(tmp_path):
    members = {"a/x": b"x", "../outside": b"no", "/absolute": b"no", "a/other": b"no"}
    path = write_zip(tmp_path / "archive" / "a.zip", members)
    unzip_members("op", path, tmp_path / "archive", ["a/x"])
    files = {
        file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*") if file.is_file()
    }
    assert files == {"archive/a.zip", "archive/a/x"}
    with pytest.raises(ValueError, match=r"^\[op\] .*a\.zip is damaged or another archive"):
        unzip_members("op", path, tmp_path, ["a/missing"])
    path.write_bytes(b"no zip")
    with pytest.raises(ValueError, match=r"^\[op\] .*a\.zip is damaged"):
        unzip_members("op", path, tmp_path, ["a/x"])


def test_tar_members(tmp_path):
    path = write_tar(tmp_path / "a.tar", {"../x": b"abc", "y": b""})
    with open_tar("op", path) as tar:
        assert read_member("op", tar, "../x") == b"abc"
        assert read_member("op", tar, "y") == b""
        with pytest.raises(ValueError, match=r"^\[op\] .*a\.tar has no file z"):
            read_member("op", tar, "z")
    assert os.listdir(tmp_path) == ["a.tar"]
    path.write_bytes(b"no tar" * 1000)
    with pytest.raises(ValueError, match=r"^\[op\] .*a\.tar is damaged"), open_tar("op", path):
        pass


def test_files_appear_whole(tmp_path):
    target = tmp_path / "x"
    target.write_text("old")

    def fail():
        with atomic(target) as part:
            part.write_text("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["x"]


def test_saved_columns(tmp_path):
    path, source = tmp_path / "x.npz", tmp_path / "source"
    assert load_columns("op", path, source) is None
    save_columns(path, {"a": np.arange(3), "b": np.zeros((2, 2))})
    source.write_bytes(b"")
    os.utime(source, (1, 1))
    assert load_columns("op", path, source)["a"].tolist() == [0, 1, 2]
    os.utime(path, (0, 0))
    assert load_columns("op", path, source) is None
    path.write_bytes(b"no zip")
    with pytest.raises(ValueError, match=r"^\[op\] .*x\.npz is damaged"):
        load_columns("op", path)
    np.savez(path, a=np.array([{}], object))
    with pytest.raises(ValueError, match=r"^\[op\] .*x\.npz is damaged"):
        load_columns("op", path)


def test_choices():
    check_choice("op", "split", "a", ("a", "b"))
    with pytest.raises(ValueError, match=r"^\[op\] unknown split 'c'; use one of a, b$"):
        check_choice("op", "split", "c", ("a", "b"))
