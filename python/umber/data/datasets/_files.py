"""Where the files of data sets are, and how they are downloaded, verified and unpacked.

A data set has a folder: the argument `root`, or `~/.cache/mlx.data/NAME`, which mlx-data uses, too.
A file that is there is used without network. What is written there appears whole or not at all:
it is written under another name and renamed.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import sys
import tarfile
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

import numpy as np

import umber.data as dx

if TYPE_CHECKING:
    from umber.data import Buffer

_BLOCK = 1 << 20
# Seconds without an answer.
_TIMEOUT = 60
_ALGORITHMS = {32: "md5", 64: "sha256"}


@dataclass(frozen=True)
class Archive:
    """A published file.

    Attributes
    ----------
    url : str
        Where it is, or "" if it cannot be downloaded without an account.
    digest : str
        Its MD5 or SHA-256 in hexadecimal, or "" if it has a checksum of its own.
    file : str
        Its name, where that is not the end of the URL.
    """

    url: str
    digest: str = ""
    file: str = ""

    @property
    def name(self) -> str:
        return self.file or self.url.rpartition("/")[2]


def root_folder(root: str | os.PathLike[str] | None, name: str) -> Path:
    """The folder of the data set `name`."""
    return Path.home() / ".cache" / "mlx.data" / name if root is None else Path(root)


def check_choice(op: str, argument: str, value: str, choices: Iterable[str]) -> None:
    """Raise `ValueError` for a value that is none of the choices."""
    choices = list(choices)
    if value not in choices:
        raise ValueError(f"[{op}] unknown {argument} {value!r}; use one of {', '.join(choices)}")


def buffer_from_columns(**columns: np.ndarray) -> Buffer:
    """A buffer whose samples are the rows of the columns."""
    return dx.buffer_from_arrays(columns)


def load_columns(op: str, path: Path, *sources: Path) -> dict[str, np.ndarray] | None:
    """The columns that `save_columns` wrote; none if one of its sources is newer."""
    if not path.is_file():
        return None
    written = path.stat().st_mtime_ns
    if any(source.is_file() and source.stat().st_mtime_ns > written for source in sources):
        return None
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"[{op}] {path} is damaged: {error}; delete it") from error


def save_columns(path: Path, columns: dict[str, np.ndarray]) -> None:
    """Keep columns that took long to read; in a read-only folder, they are read every time."""
    with suppress(OSError), atomic(path) as part, part.open("wb") as file:
        np.savez(file, **columns)  # type: ignore[arg-type]


def fetch(op: str, folder: Path, archive: Archive, *, quiet: bool, validate_download: bool) -> Path:
    """The archive in the folder, downloaded if it is not there."""
    target = folder / archive.name
    if target.is_file():
        return target
    digest = hashlib.new(_ALGORITHMS[len(archive.digest)]) if archive.digest else None
    folder.mkdir(parents=True, exist_ok=True)
    with atomic(target) as part:
        try:
            request = urllib.request.urlopen(archive.url, timeout=_TIMEOUT)
            with request as response, part.open("wb") as file:
                size = int(response.headers.get("Content-Length") or 0)
                with Progress(f"downloading {archive.name}", size, quiet=quiet) as progress:
                    copy(response, file, progress, digest.update if digest else None)
                if size and file.tell() != size:
                    raise OSError(f"the connection ended after {file.tell()} of {size} bytes")
        except (OSError, HTTPException) as error:
            raise ConnectionError(
                f"[{op}] cannot download {archive.url}: {error}; put the file {archive.name} into "
                f"{folder}"
            ) from error
        if validate_download and digest and digest.hexdigest() != archive.digest:
            raise RuntimeError(_mismatch(op, archive.url, digest, archive.digest))
    return target


def verify(op: str, path: Path, digest: str, *, quiet: bool) -> None:
    """Raise `RuntimeError` if the file has another checksum."""
    actual = hashlib.new(_ALGORITHMS[len(digest)])
    with (
        path.open("rb") as file,
        Progress(f"verifying {path.name}", path.stat().st_size, quiet=quiet) as progress,
    ):
        while block := file.read(_BLOCK):
            actual.update(block)
            progress.add(len(block))
    if actual.hexdigest() != digest:
        raise RuntimeError(_mismatch(op, str(path), actual, digest))


def _mismatch(op: str, file: str, actual: hashlib._Hash, expected: str) -> str:
    return (
        f"[{op}] {file} is damaged or another version: its {actual.name} is {actual.hexdigest()}, "
        f"expected {expected}; get it again, or pass validate_download=False"
    )


def tar_of(
    op: str, folder: Path, archive: Archive, *, quiet: bool, validate_download: bool
) -> Path:
    """The tar file in the folder, decompressed from the archive `*.tar.gz` if it is not there.

    An archive that was downloaded for it is deleted; one that was there is not.
    """
    target = folder / archive.name.removesuffix(".gz")
    if target.is_file():
        return target
    was_there = (folder / archive.name).is_file()
    source = fetch(op, folder, archive, quiet=quiet, validate_download=validate_download)
    try:
        with (
            gzip.open(source) as compressed,
            atomic(target) as part,
            part.open("wb") as file,
            Progress(f"decompressing {source.name}", 0, quiet=quiet) as progress,
        ):
            copy(compressed, file, progress)
    except (EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"[{op}] {source} is damaged: {error}; get it again") from error
    if not was_there:
        source.unlink(missing_ok=True)
    return target


def unzip_members(op: str, source: Path, folder: Path, names: Iterable[str]) -> None:
    """Write members of a zip file to the folder; other members are not looked at."""
    try:
        with zipfile.ZipFile(source) as archive:
            for name in names:
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with (
                    archive.open(name) as member,
                    atomic(target) as part,
                    part.open("wb") as file,
                ):
                    shutil.copyfileobj(member, file, _BLOCK)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ValueError(f"[{op}] {source} is damaged or another archive: {error}") from error


@contextmanager
def open_tar(op: str, path: Path) -> Iterator[tarfile.TarFile]:
    """A tar file, compressed or not, whose faults are errors that name it."""
    try:
        with tarfile.open(path) as tar:
            yield tar
    except (tarfile.TarError, EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"[{op}] {path} is damaged: {error}") from error


def read_member(op: str, tar: tarfile.TarFile, name: str) -> bytes:
    """The content of a regular file in a tar file, in memory."""
    try:
        file = tar.extractfile(name)
    except KeyError:
        file = None
    if file is None:
        raise ValueError(f"[{op}] {os.fsdecode(tar.name or '')} has no file {name}")
    return file.read()


@contextmanager
def atomic(target: Path) -> Iterator[Path]:
    """The path of a file to write, which becomes `target` if all goes well."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        # As files that are opened for writing have it; mkstemp's are the user's alone.
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o666 & ~mask)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def copy(
    source: _Readable,
    target: IO[bytes],
    progress: Progress,
    also: Callable[[bytes], None] | None = None,
) -> None:
    """Copy a file in blocks, which `also` sees, too."""
    while block := source.read(_BLOCK):
        target.write(block)
        if also is not None:
            also(block)
        progress.add(len(block))


class Progress:
    """A line on stderr that says how far a file is; none if `quiet`, or where no one looks."""

    def __init__(self, text: str, size: int, *, quiet: bool) -> None:
        self.text = text
        self.size = size
        self.done = 0
        self.shown = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self.last = 0.0

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown:
            self.show()
            print(file=sys.stderr)

    def add(self, size: int) -> None:
        self.done += size
        if self.shown and time.monotonic() - self.last > 0.2:
            self.show()

    def show(self) -> None:
        self.last = time.monotonic()
        of = f" of {self.size / 1e6:.1f}" if self.size else ""
        print(f"\r{self.text}: {self.done / 1e6:.1f}{of} MB", end="", file=sys.stderr, flush=True)
