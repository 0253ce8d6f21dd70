"""Files that are memory: mapped when loaded, whole when saved, refused when damaged."""

import contextlib
import gzip
import io
import os
import pathlib
import pickle
import resource
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
import warnings
import zipfile
import zlib

import numpy as np
import pytest
import umber.core as mx
from arrays import ALL, dtype_of, name_of, to_numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import examples

VALUES = np.array([[0, 1, 2], [3, 4, 5]])
PLAIN = [name for name in ALL if name != "bfloat16"]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

WRITERS = {
    "npy": lambda file, a, **o: mx.save(file, a, **o),
    "npz": lambda file, a, **o: mx.savez(file, a=a, **o),
    "compressed.npz": lambda file, a, **o: mx.savez_compressed(file, a=a, **o),
    "safetensors": lambda file, a, **o: mx.save_safetensors(file, {"a": a}, **o),
    "gguf": lambda file, a, **o: mx.save_gguf(file, {"a": a}, **o),
}
MAPPED = [name for name in WRITERS if name != "compressed.npz"]


def only(loaded):
    return loaded["a"] if isinstance(loaded, dict) else loaded


def is_mapped(path):
    return str(path) in pathlib.Path("/proc/self/maps").read_text()


# Round trips


@pytest.mark.covers("load", "save", "savez", "savez_compressed", "save_safetensors", "save_gguf")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("writer", ["npy", "npz", "compressed.npz"])
@pytest.mark.parametrize("mmap", [True, False])
def test_every_dtype(name, writer, mmap, tmp_path):
    path = tmp_path / f"x.{writer}"
    base = mx.array(VALUES, dtype=dtype_of(name))
    for array in (base, base.T, base[:, ::2], base[1, 2], base[:0]):
        WRITERS[writer](path, array)
        loaded = only(mx.load(path, mmap=mmap))
        assert (name_of(loaded.dtype), loaded.shape) == (name, array.shape)
        assert loaded.tolist() == array.tolist()


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("as_path", [str, pathlib.Path, lambda path: Wrapped(path)])
def test_paths(writer, as_path, tmp_path):
    path = tmp_path / f"x.{writer}"
    WRITERS[writer](as_path(path), mx.arange(3))
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert only(mx.load(as_path(path))).tolist() == [0, 1, 2]


class Wrapped:
    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return str(self.path)


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("opened", ["memory", "file", "unbuffered", "temporary"])
def test_open_files(writer, opened, tmp_path):
    path = tmp_path / "x"
    files = {
        "memory": io.BytesIO,
        "file": lambda: path.open("w+b"),
        "unbuffered": lambda: path.open("w+b", buffering=0),
        "temporary": tempfile.NamedTemporaryFile,
    }
    with files[opened]() as file:
        file.write(b"before ")
        WRITERS[writer](file, mx.arange(1000))
        for _ in range(2):
            file.seek(7)
            assert only(mx.load(file)).tolist() == list(range(1000))
            assert file.tell() == os.stat(path).st_size if opened == "file" else file.read() == b""


def test_arrays_one_after_the_other(tmp_path):
    path = tmp_path / "several"
    with open(path, "wb") as file:
        mx.save(file, mx.arange(3))
        np.save(file, VALUES)
        mx.save(file, mx.ones((2,), dtype=mx.float16))
    for opened in (lambda: path.open("rb"), lambda: io.BytesIO(path.read_bytes())):
        with opened() as file:
            found = [mx.load(file).tolist() for _ in range(3)]
            assert found == [[0, 1, 2], VALUES.tolist(), [1, 1]]
            with pytest.raises(ValueError, match=r"^\[load\]"):
                mx.load(file)


def test_extensions(tmp_path):
    x = mx.arange(2)
    for writer, extension in (("npy", "npy"), ("npz", "npz"), ("compressed.npz", "npz")):
        WRITERS[writer](tmp_path / "a.b", x)
        (tmp_path / f"a.b.{extension}").unlink()
    WRITERS["safetensors"](str(tmp_path / "a"), x)
    WRITERS["gguf"](str(tmp_path / "a"), x)
    assert {path.name for path in tmp_path.iterdir()} == {"a.safetensors", "a.gguf"}


@pytest.mark.parametrize("writer", WRITERS)
def test_the_content_tells_the_format(writer, tmp_path):
    path = tmp_path / f"x.{writer}"
    WRITERS[writer](path, mx.arange(3))
    for name in ("x", "x.bin", "x.UPPER"):
        other = path.replace(tmp_path / name)
        assert only(mx.load(other)).tolist() == [0, 1, 2]
        other.replace(path)
    wrong = "npy" if writer != "npy" else "npz"
    format = writer.removeprefix("compressed.")
    message = (
        rf'the file is an? {format} file.*, expected an {wrong} file.*: pass format="{format}"'
    )
    with pytest.raises(ValueError, match=rf"^\[load\] .*: {message}"):
        mx.load(path, format=wrong)


def test_names_of_npz(tmp_path):
    path = tmp_path / "x.npz"
    mx.savez(path, mx.ones(1), np.zeros(2), **{"a/b.c": mx.arange(2), "ä": mx.array(3)})
    assert {name: value.tolist() for name, value in mx.load(path).items()} == {
        "arr_0": [1],
        "arr_1": [0, 0],
        "a/b.c": [0, 1],
        "ä": 3,
    }
    with pytest.raises(
        ValueError, match=r"^\[savez\] the name arr_0 is used by a positional and a keyword"
    ):
        mx.savez(path, mx.ones(1), arr_0=mx.ones(1))
    mx.savez(path, progress=mx.ones(1))
    assert list(mx.load(path)) == ["progress"]
    mx.savez(path)
    assert mx.load(path) == {}


# Mapping


@LINUX
@pytest.mark.parametrize("writer", MAPPED)
def test_loading_maps(writer, tmp_path):
    path = tmp_path / f"x.{writer}"
    WRITERS[writer](path, mx.arange(100_000))
    mx.clear_cache()
    before = mx.get_active_memory()
    array = only(mx.load(path))
    assert is_mapped(path)
    assert mx.get_active_memory() == before
    assert not np.asarray(array).flags.writeable
    np.testing.assert_array_equal(np.asarray(array), np.arange(100_000))
    array[0] = 5
    assert array[:2].tolist() == [5, 1]
    assert only(mx.load(path))[0].item() == 0
    del array
    assert not is_mapped(path)


@LINUX
@pytest.mark.parametrize("writer", WRITERS)
def test_loading_without_a_map(writer, tmp_path):
    path = tmp_path / f"x.{writer}"
    WRITERS[writer](path, mx.arange(1000))
    array = only(mx.load(path, mmap=False))
    assert not is_mapped(path)
    path.write_bytes(b"")
    assert array.tolist() == list(range(1000))


@LINUX
def test_loading_reads_nothing(tmp_path):
    """A file larger than the memory there may be is loaded, and a part of it is read."""
    path = tmp_path / "huge.npy"
    elements = 1 << 40
    np.save(path, np.zeros(0, np.float32))
    header = np.lib.format.magic(1, 0)
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({elements},), }}"
    text = text.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(header + struct.pack("<H", len(text)) + text.encode())
        try:
            file.truncate(128 + 4 * elements)
        except OSError:
            pytest.skip("the file system has no files with holes of this size")
        file.seek(128 + 4 * (elements - 2))
        file.write(np.array([1, 2], np.float32).tobytes())
    peak = mx.get_active_memory()
    array = mx.load(path)
    assert array.shape == (elements,)
    assert array[-3:].tolist() == [0, 1, 2]
    assert mx.get_active_memory() - peak < 1 << 20


@LINUX
@pytest.mark.parametrize("shift", range(1, 8))
def test_what_is_not_aligned_is_copied_when_used(shift, tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.arange(1000.0))
    data = path.read_bytes()
    with open(path, "wb") as file:
        file.write(b"x" * shift + data)
    with open(path, "rb") as file:
        file.seek(shift)
        array = mx.load(file)
    assert is_mapped(path)
    np.testing.assert_array_equal(np.array(array), np.arange(1000.0))
    assert mx.sum(array).item() == 499500


def test_data_is_aligned(tmp_path):
    arrays = {"b": mx.array([True]), "a": mx.ones((3,), dtype=mx.float64), "c": mx.arange(5)}
    mx.save(tmp_path / "x.npy", arrays["b"])
    assert os.path.getsize(tmp_path / "x.npy") % 64 == 1
    mx.savez(tmp_path / "x.npz", **arrays)
    with zipfile.ZipFile(tmp_path / "x.npz") as archive, open(tmp_path / "x.npz", "rb") as file:
        assert archive.testzip() is None
        for info in archive.infolist():
            file.seek(info.header_offset + 26)
            name, extra = struct.unpack("<HH", file.read(4))
            assert (info.header_offset + 30 + name + extra) % 64 == 0
    mx.save_safetensors(tmp_path / "x.safetensors", arrays)
    start = struct.unpack("<Q", (tmp_path / "x.safetensors").read_bytes()[:8])[0]
    assert (8 + start) % 64 == 0


@pytest.mark.parametrize("writer", WRITERS)
def test_saving_over_the_file_it_is_mapped_from(writer, tmp_path):
    path = tmp_path / f"x.{writer}"
    WRITERS[writer](path, mx.arange(100_000))
    array = only(mx.load(path))
    lazy = array + 1
    WRITERS[writer](path, array)
    WRITERS[writer](path, array[:10])
    assert array[-1].item() == 99_999
    assert lazy[-1].item() == 100_000
    assert only(mx.load(path)).tolist() == list(range(10))


# NumPy's files


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("order", ["little", "big", "fortran", "negative"])
def test_reads_what_numpy_writes(name, order, tmp_path):
    values = VALUES.astype(name)
    values = {
        "little": values,
        "big": values.astype(values.dtype.newbyteorder(">")),
        "fortran": np.asfortranarray(values),
        "negative": values[::-1],
    }[order]
    np.save(tmp_path / "x.npy", values)
    np.savez(tmp_path / "x.npz", a=values)
    np.savez_compressed(tmp_path / "y.npz", a=values)
    for file in ("x.npy", "x.npz", "y.npz"):
        loaded = only(mx.load(tmp_path / file))
        assert name_of(loaded.dtype) == name
        assert loaded.tolist() == values.tolist()


@pytest.mark.parametrize("name", PLAIN)
def test_numpy_reads_what_umber_writes(name, tmp_path):
    base = mx.array(VALUES, dtype=dtype_of(name))
    for array in (base, base.T, base[::-1], base[0, 0], base[:0]):
        for writer in ("npy", "npz", "compressed.npz"):
            path = tmp_path / f"x.{writer}"
            WRITERS[writer](path, array)
            theirs = np.load(path)
            theirs = theirs if writer == "npy" else theirs["a"]
            assert theirs.dtype == np.dtype(name)
            assert theirs.tolist() == array.tolist()
    mx.save(tmp_path / "f.npy", base.T)
    assert np.load(tmp_path / "f.npy").flags.f_contiguous


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions_of_npy(version, tmp_path):
    with open(tmp_path / "x.npy", "wb") as file:
        np.lib.format.write_array(file, VALUES, version=version)
    assert mx.load(tmp_path / "x.npy").tolist() == VALUES.tolist()


def test_members_that_are_no_arrays(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(
        path,
        a=VALUES,
        name=np.array("grüße"),
        names=np.array(["a", "bc"]),
        raw=np.array(b"x"),
        dates=np.array(["2020-01-01"], "M8[D]"),
    )
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("notes.txt", "hello")
    with pytest.warns(RuntimeWarning, match="'dates' is left out|notes.txt"):
        arrays, texts = mx.load(path, return_metadata=True)
    assert arrays["a"].tolist() == VALUES.tolist()
    assert list(arrays) == ["a"]
    assert texts == {"name": "grüße", "names": ["a", "bc"], "raw": "x"}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert list(mx.load(path)) == ["a"]
    assert len(caught) == 5


def test_mlx_and_umber_read_each_other(tmp_path):
    core = pytest.importorskip("mlx.core")
    names = [name for name in ALL if name not in ("complex128", "float64")]
    theirs = {name: core.array(VALUES).astype(getattr(core, name)) for name in names}
    ours = {name: mx.array(VALUES, dtype=dtype_of(name)) for name in names}
    path = str(tmp_path / "x")
    for save in ("savez", "savez_compressed"):
        getattr(core, save)(path, **theirs)
        loaded = mx.load(path + ".npz")
        getattr(mx, save)(path, **ours)
        back = core.load(path + ".npz")
        for name in names:
            assert name_of(loaded[name].dtype) == name
            assert np.array_equal(
                np.array(loaded[name].astype(mx.float32)),
                VALUES.clip(0, 1 if name == "bool_" else 9),
            )
            assert back[name].dtype == theirs[name].dtype
            assert np.array_equal(
                np.array(back[name].astype(core.float32)),
                VALUES.clip(0, 1 if name == "bool_" else 9),
            )
    for name in names:
        core.save_safetensors(path, {"x": theirs[name]}, {"k": "v"})
        loaded, notes = mx.load(path + ".safetensors", return_metadata=True)
        assert (name_of(loaded["x"].dtype), notes) == (name, {"k": "v"})
        mx.save_safetensors(path, {"x": ours[name]}, {"k": "v"})
        back, notes = core.load(path + ".safetensors", return_metadata=True)
        assert (back["x"].dtype, notes) == (theirs[name].dtype, {"k": "v"})
        core.save(path, theirs[name])
        assert mx.load(path + ".npy").dtype == dtype_of(name)


# Saving


@pytest.mark.parametrize("writer", WRITERS)
def test_links_and_permissions(writer, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    real = folder / f"real.{writer}"
    link = tmp_path / f"link.{writer}"
    link.symlink_to(pathlib.Path("folder") / real.name)
    WRITERS[writer](link, mx.arange(3))
    assert link.is_symlink()
    real.chmod(0o640)
    WRITERS[writer](link, mx.arange(4))
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert only(mx.load(real)).tolist() == [0, 1, 2, 3]
    assert [path.name for path in folder.iterdir()] == [real.name]
    umask = os.umask(0o027)
    try:
        WRITERS[writer](tmp_path / f"new.{writer}", mx.arange(3))
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / f"new.{writer}").stat().st_mode) == 0o640


@pytest.mark.parametrize("writer", WRITERS)
def test_progress(writer, tmp_path):
    told = []
    path = tmp_path / f"x.{writer}"
    array = mx.zeros((5_000_000,))
    WRITERS[writer](path, array, progress=lambda done, total: told.append((done, total)))
    assert len(told) > 2
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (20_000_000, 20_000_000)
    before = path.read_bytes()

    def stop(done, total):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        WRITERS[writer](path, array + 1, progress=stop)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    with pytest.raises(
        TypeError, match=r"progress: got int, expected a function|expected an array"
    ):
        WRITERS[writer](path, array, progress=3)


def in_a_process(code, *args, **options):
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, args)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@LINUX
@pytest.mark.parametrize("writer", WRITERS)
def test_a_killed_process_leaves_the_old_file(writer, tmp_path):
    path = tmp_path / f"x.{writer}"
    WRITERS[writer](path, mx.arange(3))
    code = """
        import sys, time
        sys.path[:0] = sys.argv[3].split(":")
        import umber.core as mx
        from test_load_and_save import WRITERS
        def progress(done, total):
            print("half", flush=True)
            time.sleep(100)
        WRITERS[sys.argv[1]](sys.argv[2], mx.zeros((5_000_000,)), progress=progress)
    """
    folders = [str(pathlib.Path(__file__).parent), *sys.path]
    process = in_a_process(code, writer, path, ":".join(folders))
    assert process.stdout.readline() == "half\n", process.stderr.read()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert only(mx.load(path)).tolist() == [0, 1, 2]


@LINUX
@pytest.mark.parametrize("writer", MAPPED)
def test_a_full_disk_leaves_the_old_file(writer, tmp_path):
    path = tmp_path / f"x.{writer}"
    WRITERS[writer](path, mx.arange(3))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        with pytest.raises(OSError, match=r"^\[save\w*\] .*x\."):
            WRITERS[writer](path, mx.zeros((5_000_000,)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert only(mx.load(path)).tolist() == [0, 1, 2]


def test_ctrl_c_ends_a_saving(tmp_path):
    path = tmp_path / "x.npy"

    def press(done, total):
        signal.raise_signal(signal.SIGINT)

    # A shell's jobs in the background are told to ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            mx.save(path, mx.zeros((5_000_000,)), progress=press)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not list(tmp_path.iterdir())


@contextlib.contextmanager
def ctrl_c():
    """An alarm that comes soon and does what Ctrl-C does."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_pipes_are_written_to(tmp_path):
    path = tmp_path / "x.npy"
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    mx.save(path, mx.arange(300_000))
    reader.join()
    assert mx.load(io.BytesIO(read[0])).tolist() == list(range(300_000))
    assert stat.S_ISFIFO(os.stat(path).st_mode)


def test_ctrl_c_ends_the_waiting_for_a_pipe(tmp_path):
    path = tmp_path / "x.npy"
    os.mkfifo(path)
    with pytest.raises(KeyboardInterrupt), ctrl_c():
        mx.save(path, mx.arange(3))
    # Somebody has opened it and reads nothing, until it is full.
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(KeyboardInterrupt), ctrl_c():
        mx.save(path, mx.arange(300_000))
    os.close(reader)


def test_a_pipe_is_no_file_to_load(tmp_path):
    os.mkfifo(tmp_path / "x.npy")
    with pytest.raises(
        OSError, match=r"^\[load\] .*x.npy is a pipe, expected a file or a binary file"
    ):
        mx.load(tmp_path / "x.npy")


def test_devices_and_folders(tmp_path):
    with open(os.devnull, "wb") as file:
        mx.save(file, mx.ones(3))
    (tmp_path / "x.npy").symlink_to(os.devnull)
    mx.save(tmp_path / "x.npy", mx.ones(3))
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(OSError, match=r"^\[save\] .*folder.npy is a directory"):
        mx.save(tmp_path / "folder.npy", mx.ones(3))
    with pytest.raises(OSError, match=r"^\[load\] .*folder.npy is a directory, expected a file"):
        mx.load(tmp_path / "folder.npy")


class Failing(io.RawIOBase):
    def write(self, data):
        raise BrokenPipeError("gone")

    def read(self, count=-1):
        raise BrokenPipeError("gone")


@pytest.mark.parametrize("writer", WRITERS)
def test_errors_of_open_files_pass_through(writer):
    with pytest.raises(BrokenPipeError, match="gone"):
        WRITERS[writer](Failing(), mx.ones(3))
    with pytest.raises(BrokenPipeError, match="gone"):
        mx.load(Failing())


# Refusals


def npy(text, data=b"\0" * 24, version=1):
    """An npy file with this header."""
    text = text if isinstance(text, bytes) else text.encode()
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def header(descr="'<f8'", fortran="False", shape="(3,)"):
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n"


def archive(*members, **options):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as out, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in members:
            out.writestr(name, data)
    return file.getvalue()


GOOD = npy(header())


def overlapping():
    """Two entries of a directory that share the bytes of one member."""
    data = archive(("a.npy", GOOD), ("b.npy", GOOD))
    at = data.rindex(b"PK\1\2")
    return data[: at + 42] + bytes(4) + data[at + 46 :]


def bomb(claimed):
    data = bytearray(archive(("a.npy", GOOD), compression=zipfile.ZIP_DEFLATED))
    at = data.rindex(b"PK\1\2")
    data[at + 24 : at + 28] = struct.pack("<I", claimed)
    return bytes(data)


def pickled():
    file = io.BytesIO()
    np.save(file, np.array([{}], dtype=object), allow_pickle=True)
    return file.getvalue()


REFUSED = {
    "npy": {
        "nothing": (b"", r"0 bytes are too few for an npy file"),
        "another magic word": (b"\x93NUMPX" + GOOD[6:], r"not an npy file: wrong magic number"),
        "only a magic word": (b"\x93NUMPY", r"6 bytes are too few for an npy file"),
        "a newer version": (
            GOOD[:6] + b"\x09" + GOOD[7:],
            r"npy version 9 is not supported, expected 1, 2 or 3",
        ),
        "a header past the end": (
            GOOD[:8] + b"\xff\xff" + GOOD[10:],
            r"damaged or truncated: got 92 bytes, expected at least 65545",
        ),
        "a huge header": (
            npy(header(), version=2)[:8] + b"\xff" * 4 + b"{}",
            r"npy header of 4294967295 bytes exceeds the maximum of 1048576",
        ),
        "a header that is no dict": (
            npy("[1, 2]"),
            r"npy header: character 0 is '\[', expected '{'",
        ),
        "a header without a shape": (
            npy("{'descr': '<f8', 'fortran_order': False}"),
            r"npy header .* is invalid, expected descr, fortran_order \(a bool\) and",
        ),
        "a key twice": (
            npy("{'shape': (1,), 'shape': (2,), 'descr': '<f8', 'fortran_order': False}"),
            r'duplicate key "shape" in npy header',
        ),
        "another key": (
            npy("{'shape': (1,), 'x': (2,), 'descr': '<f8', 'fortran_order': False}"),
            r'unknown key "x" in npy header, expected descr, fortran_order and shape',
        ),
        "a shape of words": (
            npy(header(shape="(a,)")),
            r'shape in npy header contains "a,.*", expected a non-negative integer',
        ),
        "a negative length": (
            npy(header(shape="(-3,)")),
            r'shape in npy header contains "-3,.*", expected a non-negative integer',
        ),
        "lengths that overflow": (
            npy(header(shape="(4294967296, 4294967296, 4294967296)")),
            r"shape \(4294967296, .*\) is too large to address",
        ),
        "a length beyond 64 bits": (
            npy(header(shape="(99999999999999999999,)")),
            r'contains "99999999999999999999,.*", expected a non-negative integer',
        ),
        "many axes": (
            npy(header(shape="(" + "1," * 70 + ")")),
            r"array of 70 axes; the maximum is 64",
        ),
        "too little data": (
            npy(header(shape="(4,)")),
            r"damaged or truncated: got 92 bytes, expected at least 100",
        ),
        "much too little data": (
            npy(header(shape="(1000000000000,)")),
            r"damaged or truncated: got 104 bytes, expected at least 80000",
        ),
        "a text as order": (
            npy(header(fortran="'no'")),
            r"npy header .* is invalid, expected descr, fortran_order \(a bool\) and shape",
        ),
        "an open list": (npy(header(descr="[('a', '<f8'")), r"npy header ends inside a list"),
        "bytes that are no text": (
            npy(b"{'descr': '\xff', 'fortran_order': False, 'shape': ()}"),
            r'npy files with elements of type "�" are not supported',
        ),
        "an unknown type": (
            npy(header(descr="'<f7'")),
            r'npy files with elements of type "<f7" are not supported',
        ),
        "records": (
            npy(header(descr="[('a', '<f8'), ('b', '<i4')]")),
            r"npy files with records are not supported",
        ),
        "texts": (npy(header(descr="'<U2'")), r"npy files with strings are not supported"),
        "long doubles": (
            npy(header(descr="'<f16'")),
            r'npy files with elements of type "<f16" are not supported',
        ),
        "pickled objects": (
            pickled(),
            r"npy files with pickled Python objects \(which may run any code\) are not",
        ),
    },
    "npz": {
        "nothing": (b"", r"not a zip archive, or truncated: no end of central directory"),
        "no archive": (
            b"PK\3\4" + b"\0" * 100,
            r"not a zip archive, or truncated: no end of central directory",
        ),
        "cut short": (
            archive(("a.npy", GOOD))[:-30],
            r"not a zip archive, or truncated: no end of central directory",
        ),
        "a name twice": (
            archive(("a.npy", GOOD), ("a.npy", GOOD)),
            r"duplicate member 'a\.npy' in zip archive",
        ),
        "overlapping members": (overlapping(), r"zip members overlap at byte 0"),
        "a member that is no npy file": (
            archive(("a.npy", b"hello")),
            r"'a\.npy': not an npy file: wrong magic number",
        ),
        "a damaged header": (
            archive(("a.npy", npy(header(shape="(4,)")))),
            r"'a\.npy': .* damaged or truncated: got 92 bytes, expected at least 100",
        ),
        "a claim of 4 GB": (
            bomb(0xF000_0000),
            r"size 4026531840 is impossible for \d+ compressed bytes; the maximum is \d+",
        ),
        "a claim of too much": (
            bomb(len(GOOD) + 1),
            r"zip member is damaged: its data is shorter than the recorded size",
        ),
        "a claim of too little": (
            bomb(len(GOOD) - 1),
            r"zip member is damaged: its data is longer than the recorded size",
        ),
        "another packing": (
            archive(("a.npy", GOOD), compression=zipfile.ZIP_LZMA),
            r"compression method 14 is not supported, expected stored or deflate",
        ),
        "a directory past the end": (
            archive(("a.npy", GOOD))[:-6] + b"\xff\xff\xff\x7f\0\0",
            r"zip directory at bytes \d+ to \d+ extends beyond byte \d+",
        ),
        "names that are no text": (
            archive(("ab.npy", GOOD)).replace(b"ab.npy", b"\xff\xfe.npy"),
            r"zip member name is not UTF-8",
        ),
    },
}
CASES = [(kind, name) for kind, cases in REFUSED.items() for name in cases]


@pytest.mark.parametrize(("kind", "name"), CASES)
@pytest.mark.parametrize("how", ["mapped", "copied", "object"])
def test_damaged_files(kind, name, how, tmp_path):
    path = tmp_path / f"x.{kind}"
    content, message = REFUSED[kind][name]
    path.write_bytes(content)
    file = io.BytesIO(content) if how == "object" else path
    with pytest.raises((ValueError, TypeError), match=rf"^\[load\] .*: .*{message}") as error:
        mx.load(file, format=kind, mmap=how == "mapped")
    assert "BytesIO" in str(error.value) if how == "object" else "x.n" in str(error.value)


def test_a_damaged_member_is_found_by_its_checksum(tmp_path):
    data = bytearray(archive(("a.npy", GOOD), compression=zipfile.ZIP_DEFLATED))
    at = data.rindex(b"PK\1\2")
    data[at + 16 : at + 20] = struct.pack("<I", zlib.crc32(GOOD) ^ 1)
    (tmp_path / "x.npz").write_bytes(data)
    with pytest.raises(ValueError, match="checksum differs"):
        mx.load(tmp_path / "x.npz")


@pytest.mark.parametrize("writer", ["umber", "numpy"])
def test_checksums_of_stored_members(writer, tmp_path):
    path = tmp_path / "x.npz"
    (mx if writer == "umber" else np).savez(path, a=np.arange(1000), b=np.ones(3))
    data = bytearray(path.read_bytes())
    assert mx.load(io.BytesIO(data))["b"].tolist() == [1, 1, 1]
    assert mx.load(path, mmap=False)["a"].tolist() == list(range(1000))
    data[data.index(np.arange(500, 510).tobytes())] ^= 1
    path.write_bytes(data)
    for file in (path, io.BytesIO(data)):
        with pytest.raises(ValueError, match=r"^\[load\] .*'a.npy': .*its checksum differs"):
            mx.load(file, mmap=False)
    # What is mapped is not read before it is used.
    assert mx.load(path)["a"].tolist() != list(range(1000))


def test_texts_that_are_none_are_left_out(tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, a=VALUES, raw=np.array([b"\xff"]), surrogate=np.array("\ud800"))
    with pytest.warns(RuntimeWarning, match="left out: .* strings that are not valid Unicode"):
        assert list(mx.load(path)) == ["a"]
    np.save(tmp_path / "x.npy", np.array([b"\xff"]))
    with pytest.raises(
        TypeError, match=r"npy files with strings that are not valid Unicode are not"
    ):
        mx.load(tmp_path / "x.npy")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (header(shape="(3)"), r"shape in npy header is \(3\), expected \(3,\)"),
        (header(shape="(3.5,)"), r"character \d+ is '\.', expected '\)'"),
        ("{'descr': ", r"npy header has value \"\", expected a string, a bool or a shape"),
        ("{'descr'", r"npy header ends after 8 characters, expected ':'"),
        (header() + "}", r"'}' after the end of the npy header"),
        (header() + " import os", r"'i' after the end of the npy header"),
    ],
)
def test_faults_of_npy_headers(text, message):
    with pytest.raises(ValueError, match=message) as error:
        mx.load(io.BytesIO(npy(text, data=b"\0" * 24 if "}" in text else b"")))
    assert "Some" not in str(error.value)


def test_a_large_header_of_safetensors(tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", 101 << 20) + b"{")
    os.truncate(path, (101 << 20) + 16)
    with pytest.raises(
        ValueError, match=r"header of 105906176 bytes exceeds the format's maximum of 100000000"
    ):
        mx.load(path)


@pytest.mark.parametrize(
    ("save", "name"),
    [
        (lambda file: mx.savez(file, **{"\ud800": mx.ones(1)}), "savez"),
        (lambda file: mx.save_safetensors(file, {"\ud800": mx.ones(1)}), "save_safetensors"),
        (lambda file: mx.save_safetensors(file, {}, {"\ud800": "a"}), "save_safetensors"),
        (lambda file: mx.save_safetensors(file, {}, {"a": "\ud800"}), "save_safetensors"),
        (lambda file: mx.save_gguf(file, {}, {"\ud800": "a"}), "save_gguf"),
        (lambda file: mx.save_gguf(file, {}, {"a": "\ud800"}), "save_gguf"),
        (lambda file: mx.save_gguf(file, {}, {"a": ["\ud800"]}), "save_gguf"),
        (lambda file: mx.save("\ud800", mx.ones(1)), "save"),
    ],
)
def test_texts_that_no_file_can_say(save, name):
    fault = "is not a valid file name" if name == "save" else "contains a lone surrogate"
    with pytest.raises(ValueError, match=rf"^\[{name}\] .*: '\\ud800' {fault}") as error:
        save(io.BytesIO())
    assert not isinstance(error.value, UnicodeError)


class Sipped(io.BytesIO):
    """Gives a few bytes of what is asked for, as streams may."""

    def read(self, count=-1):
        return super().read(7 if count < 0 else min(count, 7))


@pytest.mark.parametrize("writer", WRITERS)
def test_readers_that_give_less_than_all(writer):
    assert only(mx.load(Sipped(SAMPLES[writer]))).tolist() == VALUES.tolist()


@pytest.mark.parametrize("answer", ["all", -5, 2.5, b"5"])
def test_writers_that_answer_no_number(answer):
    class Odd:
        def write(self, data):
            return answer

    with pytest.raises(
        TypeError, match=r"^\[save\] write\(\) of file returned .*, expected the number of bytes"
    ) as error:
        mx.save(Odd(), mx.ones(3))
    assert repr(answer) in str(error.value)


@pytest.mark.parametrize("use", [mx.load, lambda file: mx.save(file, mx.ones(1))])
def test_errors_of_paths_pass_through(use):
    class Path:
        def __fspath__(self):
            raise kind("the reason")

    for kind in (RuntimeError, TypeError):
        with pytest.raises(kind, match=r"^the reason$"):
            use(Path())


def test_duplicated_names_of_safetensors(tmp_path):
    entry = '"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'
    for name, text in {
        "a": f"{{{entry},{entry}}}",
        "__metadata__": f'{{"__metadata__":{{}},"__metadata__":{{}},{entry}}}',
        "k": f'{{"__metadata__":{{"k":"a","k":"b"}},{entry}}}',
    }.items():
        path = tmp_path / "x.safetensors"
        path.write_bytes(struct.pack("<Q", len(text)) + text.encode() + b"x")
        with pytest.raises(
            ValueError,
            match=rf"^\[load\] .*x.safetensors: invalid .* header: duplicate name '{name}'",
        ):
            mx.load(path)


@pytest.mark.parametrize(
    ("word", "dtype"), [("F8_E4M3", "uint8"), ("F8_E8M0", "uint8"), ("F6_E2M3", None), ("F4", None)]
)
def test_small_floats_of_safetensors(word, dtype, tmp_path):
    text = f'{{"a":{{"dtype":"{word}","shape":[2],"data_offsets":[0,2]}}}}'
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text.encode() + b"\1\2")
    if dtype is None:
        with pytest.raises(TypeError, match=rf"'a': elements of type \"{word}\" are not supported"):
            mx.load(path)
    else:
        loaded = mx.load(path)["a"]
        assert (name_of(loaded.dtype), loaded.tolist()) == (dtype, [1, 2])


def test_what_is_no_file(tmp_path):
    for bad in (3, None, b"x.npy", object()):
        with pytest.raises(TypeError, match=r"^\[load\] file: got .*, expected a path or a file"):
            mx.load(bad)
        with pytest.raises(TypeError, match=r"^\[save\] file: got .*, expected a path or a file"):
            mx.save(bad, mx.ones(1))
    with pytest.raises(TypeError, match=r"text mode"):
        mx.load(io.StringIO("x"))
    with open(tmp_path / "t", "w") as file, pytest.raises(TypeError, match=r"text mode"):
        mx.save(file, mx.ones(1))
    with pytest.raises(FileNotFoundError, match=r"^\[load\] .*absent"):
        mx.load(tmp_path / "absent.npy")
    with pytest.raises(FileNotFoundError, match=r"^\[save\] .*absent"):
        mx.save(tmp_path / "absent" / "x.npy", mx.ones(1))
    with pytest.raises(
        ValueError, match=r"^\[load\] format: got \"xyz\", expected one of npy, npz"
    ):
        mx.load(tmp_path / "x.npy", format="xyz")
    mx.save(tmp_path / "x.npy", mx.ones(1))
    with pytest.raises(ValueError, match=r"return_metadata"):
        mx.load(tmp_path / "x.npy", return_metadata=True)
    (tmp_path / "garbage").write_bytes(b"garbage " * 10)
    with pytest.raises(
        ValueError, match=r"^\[load\] .*garbage: unknown file format, expected npy, npz"
    ):
        mx.load(tmp_path / "garbage")


# Files of other formats


def torch_checkpoint():
    """What torch.save writes: a zip archive of a pickle and the bytes of tensors."""
    return archive(
        ("model/data.pkl", pickle.dumps({"w": 1}, protocol=2)),
        ("model/data/0", bytes(64)),
        ("model/version", b"3\n"),
    )


FOREIGN = {
    "checkpoint": (
        torch_checkpoint(),
        "the file is a PyTorch checkpoint, .*safetensors.torch.save_file",
    ),
    "old checkpoint": (
        pickle.dumps({"w": 1}, protocol=2),
        r"the file is a pickle \(perhaps an old PyTorch checkpoint\), .*torch.load",
    ),
    "newer pickle": (pickle.dumps([1], protocol=5), "the file is a pickle"),
    "script": (archive(("m/constants.pkl", b"")), "the file is a TorchScript archive"),
    "texts": (
        archive(("a.txt", b"hello"), ("b/c.txt", b"x")),
        r"no member of the zip archive is an array: 'a.txt' \(not an npy file\), 'b/c.txt'",
    ),
    "many texts": (
        archive(*((f"{i}.txt", b"") for i in range(9))),
        r"no member of the zip archive is an array: .*, … \(9 members\)",
    ),
    "empty archive": (archive(), "zip archive is empty, expected an npz file with an array"),
    "folder": (archive(("a/", b"")), "zip archive is empty, expected an npz file with an array"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(100), "the file is an HDF5 file"),
    "gzip": (gzip.compress(GOOD), "the file is a gzip file, .*unpack it first"),
    "pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
        r"the file is a Git LFS pointer \(.* not downloaded\), .*git lfs pull",
    ),
    "page": (b"\n<!DOCTYPE html><html></html>", "the file is an HTML page"),
    "text": (b'{"weight_map": {}}', "the file is a JSON file"),
    "ggml": (
        b"lmgg" + bytes(40),
        r"the file is a GGML file \(the predecessor of GGUF\), .*convert it to GGUF",
    ),
    "tar": (
        bytes(257) + b"ustar\x0000" + bytes(248),
        "the file is a tar archive, .*unpack it first",
    ),
}


@pytest.mark.parametrize("suffix", ["pt", "bin", "npz", "npy", "safetensors", "gguf"])
@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_files_are_named(kind, suffix, tmp_path):
    content, message = FOREIGN[kind]
    is_plain_archive = content.startswith(b"PK") and "Torch" not in message
    if is_plain_archive and suffix in ("npy", "safetensors", "gguf"):
        message = 'the file is an npz file .*format="npz"'
    path = tmp_path / f"model.{suffix}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"^\[load\] .*model\.{suffix}: {message}"):
        mx.load(path)
    with path.open("rb") as file, pytest.raises(ValueError, match=FOREIGN[kind][1]):
        mx.load(file)
    with pytest.raises(ValueError, match=FOREIGN[kind][1]):
        mx.load(io.BytesIO(content))


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("extension", ["npy", "npz", "safetensors", "gguf"])
def test_extensions_of_other_formats(writer, extension, tmp_path):
    format = writer.removeprefix("compressed.")
    if format == extension:
        return
    written = tmp_path / f"x.{writer}"
    WRITERS[writer](written, mx.arange(3))
    path = written.replace(tmp_path / f"y.{extension}")
    with pytest.raises(ValueError, match=rf'the file is an? {format} .*format="{format}"'):
        mx.load(path)
    assert only(mx.load(path, format=format)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_are_arrays_by_content(compression, tmp_path):
    path = tmp_path / "x.npz"
    one, two = (npy(header(shape="(1,)"), data=struct.pack("<d", value)) for value in (1, 2))
    members = {
        "w": one,
        "b.npy": two,
        "both": one,
        "both.npy": two,
        "deep/a.bin": two,
        "x.npy.npy": one,
    }
    path.write_bytes(archive(*members.items(), ("notes", b"hello, world"), compression=compression))
    with pytest.warns(RuntimeWarning, match="'notes' is left out"):
        loaded = mx.load(path)
    with np.load(path) as expected:
        assert {name: array.tolist() for name, array in loaded.items()} == {
            "w": [1],
            "b": [2],
            "both": [1],
            "both.npy": [2],
            "deep/a.bin": [2],
            "x.npy": [1],
        }
        assert all(array.tolist() == expected[name].tolist() for name, array in loaded.items())


def test_archives_without_arrays(tmp_path):
    path = tmp_path / "x.npz"
    for save in (mx.savez, mx.savez_compressed):
        save(path)
        assert mx.load(path) == {}
        assert zipfile.ZipFile(path).namelist() == []
    np.savez(path, name=np.array("text"))
    with pytest.raises(
        ValueError, match=r"the npz file holds only strings; pass return_metadata=True"
    ):
        mx.load(path)
    assert mx.load(path, return_metadata=True) == ({}, {"name": "text"})
    np.savez(path, dates=np.array(["2020-01-01"], "M8[D]"))
    with pytest.raises(ValueError, match=r"no member of the zip archive is an array: 'dates' \("):
        mx.load(path)


# Random damage


def samples():
    x = mx.array(VALUES, dtype=mx.float32)
    found = {}
    for writer in WRITERS:
        file = io.BytesIO()
        if writer == "gguf":
            mx.save_gguf(file, {"a": x, "b": mx.arange(3)}, {"k": "v", "n": mx.array([1, 2])})
        elif writer == "safetensors":
            mx.save_safetensors(file, {"a": x, "b": mx.arange(3)}, {"k": "v"})
        else:
            WRITERS[writer](file, x)
        found[writer] = file.getvalue()
    return found


SAMPLES = samples()


@pytest.mark.parametrize("writer", WRITERS)
@settings(max_examples=examples(300))
@given(data=st.data())
def test_mutated_files(writer, data):
    whole = bytearray(SAMPLES[writer])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        match data.draw(st.sampled_from(["byte", "integer", "cut", "repeat", "swap"])):
            case "byte":
                whole[at] = data.draw(st.integers(0, 255))
            case "integer":
                large = data.draw(st.sampled_from([0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]))
                whole[at : at + 8] = struct.pack("<Q", large)
            case "cut":
                whole = whole[: at + 1]
            case "repeat":
                whole[at:at] = whole[at : at + 40]
            case "swap":
                other = data.draw(st.integers(0, len(whole) - 1))
                whole[at], whole[other] = whole[other], whole[at]
    error = refusal(bytes(whole), writer.rpartition(".")[2])
    assert error is None or str(error).startswith("[load] <BytesIO>: ")


def refusal(content, format):
    """What loading raises; what it gives instead can be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = mx.load(io.BytesIO(content), format=format)
    except (ValueError, TypeError) as error:
        return error
    for array in loaded.values() if isinstance(loaded, dict) else [loaded]:
        to_numpy(array)
    return None


@pytest.mark.parametrize("writer", WRITERS)
def test_every_cut_is_an_error(writer, tmp_path):
    path = tmp_path / "x"
    whole = SAMPLES[writer]
    for length in range(len(whole) - (32 if writer == "gguf" else 1)):
        path.write_bytes(whole[:length])
        with pytest.raises((ValueError, TypeError), match=r"^\[load\] "):
            mx.load(path, format=writer.rpartition(".")[2])


def test_what_a_raw_file_does_not_take_is_no_success():
    read, write = os.pipe()
    os.set_blocking(write, False)
    with (
        open(read, "rb"),
        open(write, "wb", buffering=0) as raw,
        pytest.raises(BlockingIOError, match=r"^\[save\] non-blocking files are not supported"),
    ):
        mx.save(raw, mx.arange(1 << 18))

    class Quiet:
        """Says nothing of how much it took: all."""

        def __init__(self):
            self.bytes = b""

        def write(self, data):
            self.bytes += bytes(data)

    quiet = Quiet()
    mx.save(quiet, mx.arange(3))
    assert mx.load(io.BytesIO(quiet.bytes)).tolist() == [0, 1, 2]


def test_parts_that_others_left_are_no_hindrance(tmp_path):
    code = """
        import os
        import umber.core as mx

        for number in range(3):
            open(f".x.npy.{os.getpid()}-{number}.part", "w").close()
        mx.save("x.npy", mx.ones(3))
        assert mx.load("x.npy").tolist() == [1, 1, 1]
        os.symlink("/dev/stdout", "out.npy")
        mx.save("out.npy", mx.arange(2))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=tmp_path,
        capture_output=True,
        check=True,
        timeout=120,
    )
    assert mx.load(io.BytesIO(done.stdout)).tolist() == [0, 1]


@pytest.mark.parametrize("length", [(32 << 20) - 128, (32 << 20) + 1, (36 << 20) + 4096 - 128])
@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors", "gguf"])
def test_large_files_hold_what_was_saved(length, suffix, tmp_path):
    """Those are written past the page cache, in blocks, by threads."""
    numbers = np.arange(length, dtype=np.uint32).astype(np.int8)
    array, path = mx.asarray(numbers), tmp_path / f"x.{suffix}"
    if suffix == "npy":
        mx.save(path, array)
        assert np.array_equal(np.load(path), numbers)
        return
    save = {"npz": mx.savez, "safetensors": mx.save_safetensors, "gguf": mx.save_gguf}[suffix]
    if suffix == "npz":
        save(path, x=array, y=mx.ones(3))
    else:
        save(path, {"x": array, "y": mx.ones(3)})
    loaded = mx.load(path)
    assert np.array_equal(np.asarray(loaded["x"]), numbers)
    assert loaded["y"].tolist() == [1, 1, 1]


@LINUX
@pytest.mark.parametrize("write", [mx.savez, mx.save_safetensors, mx.save_gguf])
def test_an_open_file_is_written_with_what_is_mapped_from_it(write, tmp_path):
    def save(file, arrays):
        return write(file, **arrays) if write is mx.savez else write(file, arrays)

    path = str(tmp_path / f"x.{write.__name__.removeprefix('save').strip('_') or 'npz'}")
    path = path.replace("x.z", "x.npz")
    count = 3_000_000
    save(path, {"a": mx.full((count,), 1.0), "b": mx.full((count,), 2.0)})
    old = mx.load(path)
    # One that is there, and one that is still to be computed.
    swapped = {"a": old["b"], "b": old["a"] + 4}
    with open(path, "r+b") as file:
        save(file, swapped)
    new = mx.load(path, mmap=False)
    for name, value in (("a", 2.0), ("b", 5.0)):
        assert mx.all(new[name] == value).item(), name


def run_with_little_memory(lines):
    """Run a program in a process with 3 GB of addresses and one thread."""
    program = "import resource, umber.core as mx\n"
    program += "resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n" + lines
    env = {**os.environ, "UMBER_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env)
    return done.returncode, done.stdout, done.stderr


def test_a_stream_without_end_that_is_no_npy_file():
    class Zeros:
        def read(self, count=-1):
            return bytes(1 << 20)

    with pytest.raises(ValueError, match="npy"):
        mx.load(Zeros(), format="npy")


@LINUX
def test_a_stream_that_memory_does_not_hold():
    code, out, err = run_with_little_memory(
        textwrap.dedent("""
        class Long:
            left = 10 << 30
            def read(self, count=-1):
                self.left -= 1 << 24
                return bytes(1 << 24) if self.left > 0 else b""
        try:
            mx.load(Long(), format="safetensors")
        except MemoryError as error:
            print(error)
        """)
    )
    assert code == 0, err
    assert "[load] out of memory reading a file: more than " in out


@LINUX
def test_thousands_of_files_leave_room_for_mappings(tmp_path):
    path = tmp_path / "small.npy"
    mx.save(path, mx.arange(4))
    before = len(pathlib.Path("/proc/self/maps").read_text().splitlines())
    kept = [mx.load(path) for _ in range(17_000)]
    mapped = len(pathlib.Path("/proc/self/maps").read_text().splitlines()) - before
    assert 0 < mapped < 16_400
    assert kept[0].tolist() == kept[-1].tolist() == [0, 1, 2, 3]
    kept.clear()
    mx.load(path)


@pytest.mark.skipif(os.getuid() != 0, reason="gives files away")
def test_the_owner_of_a_file_is_kept(tmp_path):
    path = tmp_path / "x.npy"
    mx.save(path, mx.arange(4))
    os.chown(path, 1234, 2345)
    path.chmod(0o640)
    mx.save(path, mx.arange(5))
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 2345, 0o640)


@LINUX
def test_the_access_list_of_a_file_is_kept(tmp_path):
    path = tmp_path / "x.npy"
    mx.save(path, mx.arange(4))
    # The owner, a user, the group, the mask and others: what they are, what they may, who they are.
    entries = [(1, 6, -1), (2, 6, 1234), (4, 4, -1), (16, 6, -1), (32, 0, -1)]
    wanted = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(path, "system.posix_acl_access", wanted)
    except OSError:
        pytest.skip("the file system has no access lists")
    mx.save(path, mx.arange(5))
    assert os.getxattr(path, "system.posix_acl_access") == wanted


def test_a_path_is_that_of_the_call(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    mx.save("x.npy", mx.arange(4), progress=lambda done, total: os.chdir("elsewhere"))
    assert (tmp_path / "x.npy").exists()
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_callback_of_other_arguments_is_the_users_fault(tmp_path):
    with pytest.raises(TypeError, match=r"^\S*<lambda>\(\) takes 1 positional argument but 2"):
        mx.save(tmp_path / "x.npy", mx.arange(4), progress=lambda done: None)
    with pytest.raises(TypeError, match=r"^\[save\] missing 1 required"):
        mx.save(tmp_path / "x.npy")


@pytest.mark.skipif(os.getuid() != 0, reason="becomes somebody else")
def test_another_group_may_no_more_than_others(tmp_path):
    path = tmp_path / "x.npy"
    mx.save(path, mx.arange(4))
    for place in [tmp_path, *tmp_path.parents]:
        if not place.stat().st_mode & 0o001:
            pytest.skip("the folder is root's alone")
    tmp_path.chmod(0o777)
    os.chown(path, 1111, 4321)
    path.chmod(0o664)
    program = f"""
import os
os.setgroups([])
os.setgid(2222)
os.setuid(1111)
import umber.core as mx
mx.save({str(path)!r}, mx.arange(5))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    if "ImportError" in run.stderr or "Permission" in run.stderr:
        pytest.skip("the interpreter is root's alone")
    assert run.returncode == 0, run.stderr
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1111, 2222, 0o644)
