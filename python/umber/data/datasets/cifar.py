"""CIFAR-10 and CIFAR-100: 32×32 colour images of ten and a hundred classes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from umber.data.datasets._files import (
    Archive,
    buffer_from_columns,
    fetch,
    load_columns,
    open_tar,
    root_folder,
    save_columns,
    verify,
)
from umber.data.datasets._pickles import read_pickle

if TYPE_CHECKING:
    from umber.data import Buffer

Columns = dict[str, np.ndarray]

_PIXELS = 3 * 32 * 32


@dataclass(frozen=True)
class _Form:
    """One of the archives of a version, and how its files are read."""

    archive: Archive
    folder: str
    files: dict[bool, list[str]]
    parse: Callable[[str, _Version, bytes, str], Columns]


@dataclass(frozen=True)
class _Version:
    """One of the two data sets. The first form is the one to download."""

    name: str
    # The key of the labels in pickles.
    labels: str
    # In records, labels are before the pixels; the last one is the finest.
    label_bytes: int
    forms: tuple[_Form, _Form]


def load_cifar10(
    root: str | os.PathLike[str] | None = None,
    train: bool = True,
    quiet: bool = False,
    validate_download: bool = True,
) -> Buffer:
    """CIFAR-10: 50,000 and 10,000 colour images of ten classes.

    Parameters
    ----------
    root : str or path, optional
        The folder of the files: a published archive (``cifar-10-python.tar.gz`` or
        ``cifar-10-binary.tar.gz``), the folder in it, or what mlx-data wrote
        (``cifar10_train.pkl``). Without any, the archive is downloaded. Default:
        ``~/.cache/mlx.data/cifar``.
    train : bool
        The training set, or else the test set.
    quiet : bool
        Whether to hide the progress.
    validate_download : bool
        Whether to verify the archive's checksum when it is read.

    Returns
    -------
    Buffer
        Samples with ``image`` (32×32×3, uint8) and ``label`` (int64).

    Raises
    ------
    ConnectionError
        If there are no files and the archive cannot be downloaded.
    RuntimeError
        If the archive has another checksum.
    ValueError
        If a file is damaged, or is a pickle of anything but data.

    See Also
    --------
    load_cifar100, load_mnist

    Notes
    -----
    What is read from an archive or a cache of mlx-data's is saved beside it as
    ``cifar10_train.npz`` and ``cifar10_test.npz``.

    Examples
    --------
    A folder with a test set of one image:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from umber.data.datasets import load_cifar10
    >>> with tempfile.TemporaryDirectory() as root:
    ...     Path(root, "cifar-10-batches-bin").mkdir()
    ...     record = bytes([3]) + bytes(32 * 32 * 3)
    ...     _ = Path(root, "cifar-10-batches-bin", "test_batch.bin").write_bytes(record)
    ...     buffer = load_cifar10(root, train=False)
    >>> buffer[0]["image"].shape, int(buffer[0]["label"])
    ((32, 32, 3), 3)
    """
    return buffer_from_columns(**read_cifar(CIFAR10, root, train, quiet, validate_download))


def load_cifar100(
    root: str | os.PathLike[str] | None = None,
    train: bool = True,
    quiet: bool = False,
    validate_download: bool = True,
) -> Buffer:
    """CIFAR-100: 50,000 and 10,000 colour images of a hundred classes.

    Parameters
    ----------
    root : str or path, optional
        The folder of the files: a published archive (``cifar-100-python.tar.gz`` or
        ``cifar-100-binary.tar.gz``), the folder in it, or what mlx-data wrote
        (``cifar100_train.pkl``). Without any, the archive is downloaded. Default:
        ``~/.cache/mlx.data/cifar``.
    train : bool
        The training set, or else the test set.
    quiet : bool
        Whether to hide the progress.
    validate_download : bool
        Whether to verify the archive's checksum when it is read.

    Returns
    -------
    Buffer
        Samples with ``image`` (32×32×3, uint8) and ``label`` (int64), which is the fine label.

    Raises
    ------
    ConnectionError
        If there are no files and the archive cannot be downloaded.
    RuntimeError
        If the archive has another checksum.
    ValueError
        If a file is damaged, or is a pickle of anything but data.

    See Also
    --------
    load_cifar10

    Notes
    -----
    What is read from an archive or a cache of mlx-data's is saved beside it as
    ``cifar100_train.npz`` and ``cifar100_test.npz``.

    Examples
    --------
    A folder with a test set of one image:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from umber.data.datasets import load_cifar100
    >>> with tempfile.TemporaryDirectory() as root:
    ...     Path(root, "cifar-100-binary").mkdir()
    ...     record = bytes([0, 3]) + bytes(32 * 32 * 3)
    ...     _ = Path(root, "cifar-100-binary", "test.bin").write_bytes(record)
    ...     buffer = load_cifar100(root, train=False)
    >>> buffer[0]["image"].shape, int(buffer[0]["label"])
    ((32, 32, 3), 3)
    """
    return buffer_from_columns(**read_cifar(CIFAR100, root, train, quiet, validate_download))


def read_cifar(
    version: _Version,
    root: str | os.PathLike[str] | None,
    train: bool,
    quiet: bool = False,
    validate_download: bool = True,
) -> Columns:
    """The columns of a split, from the files that are there."""
    op = f"load_{version.name}"
    folder = root_folder(root, "cifar")
    splits = {True: f"{version.name}_train", False: f"{version.name}_test"}
    for form in version.forms:
        paths = [folder / form.folder / file for file in form.files[train]]
        if all(path.is_file() for path in paths):
            return _join(form.parse(op, version, path.read_bytes(), str(path)) for path in paths)
    saved = folder / f"{splits[train]}.npz"
    cache = folder / f"{splits[train]}.pkl"
    form = next((f for f in version.forms if (folder / f.archive.name).is_file()), version.forms[0])
    archive = folder / form.archive.name
    columns = load_columns(op, saved, cache, archive)
    if columns is not None:
        return columns
    if cache.is_file():
        columns = _read_cache(op, cache)
        save_columns(saved, columns)
        return columns
    # What is downloaded is verified on the way.
    if validate_download and archive.is_file():
        verify(op, archive, form.archive.digest, quiet=quiet)
    fetch(op, folder, form.archive, quiet=quiet, validate_download=validate_download)
    both = _read_archive(op, version, archive, form)
    for is_train, columns in both.items():
        save_columns(folder / f"{splits[is_train]}.npz", columns)
    return both[train]


def _read_archive(op: str, version: _Version, path: Path, form: _Form) -> dict[bool, Columns]:
    """Both splits in an archive, which is read once, from front to back."""
    wanted = {f"{form.folder}/{file}" for split in form.files.values() for file in split}
    parts: dict[str, Columns] = {}
    with open_tar(op, path) as tar:
        for member in tar:
            if member.name in wanted and (content := tar.extractfile(member)) is not None:
                source = f"{path}: {member.name}"
                parts[member.name] = form.parse(op, version, content.read(), source)
    if missing := wanted - parts.keys():
        raise ValueError(f"[{op}] {path} has no file {min(missing)}")
    return {
        train: _join(parts[f"{form.folder}/{file}"] for file in split)
        for train, split in form.files.items()
    }


def _parse_pickle(op: str, version: _Version, data: bytes, source: str) -> Columns:
    """A dict of rows of pixels, channel by channel, and a list of labels."""
    content = read_pickle(data, source=source)
    try:
        pixels = np.asarray(content["data"], np.uint8)
        return _columns(pixels, np.array(content[version.labels], np.int64))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"[{op}] {source} is not a file of CIFAR's images: {error}") from error


def _parse_records(op: str, version: _Version, data: bytes, source: str) -> Columns:
    """Records of labels and pixels, channel by channel."""
    size = version.label_bytes + _PIXELS
    if len(data) % size:
        raise ValueError(f"[{op}] {source} has {len(data)} bytes, expected a multiple of {size}")
    records = np.frombuffer(data, np.uint8).reshape(-1, size)
    labels = records[:, version.label_bytes - 1].astype(np.int64)
    return _columns(records[:, version.label_bytes :], labels)


def _columns(pixels: np.ndarray, labels: np.ndarray) -> Columns:
    if labels.shape != (len(pixels),):
        raise ValueError(f"{len(pixels)} images, labels of shape {labels.shape}")
    images = pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return {"image": np.ascontiguousarray(images), "label": labels}


def _join(parts: Iterable[Columns]) -> Columns:
    parts = list(parts)
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _read_cache(op: str, path: Path) -> Columns:
    """The list of samples that mlx-data wrote."""
    samples = read_pickle(path.read_bytes(), source=str(path))
    try:
        return {
            "image": np.stack([sample["image"] for sample in samples]).reshape(-1, 32, 32, 3),
            "label": np.array([sample["label"] for sample in samples], np.int64),
        }
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"[{op}] {path} does not hold samples of CIFAR: {error}") from error


_URL = "https://www.cs.toronto.edu/~kriz/"
_BATCHES = {True: [f"data_batch_{i}" for i in range(1, 6)], False: ["test_batch"]}
_SPLITS = {True: ["train"], False: ["test"]}


def _records(files: dict[bool, list[str]]) -> dict[bool, list[str]]:
    return {train: [f"{name}.bin" for name in names] for train, names in files.items()}


CIFAR10 = _Version(
    name="cifar10",
    labels="labels",
    label_bytes=1,
    forms=(
        _Form(
            Archive(_URL + "cifar-10-python.tar.gz", "c58f30108f718f92721af3b95e74349a"),
            "cifar-10-batches-py",
            _BATCHES,
            _parse_pickle,
        ),
        _Form(
            Archive(_URL + "cifar-10-binary.tar.gz", "c32a1d4ab5d03f1284b67883e8d87530"),
            "cifar-10-batches-bin",
            _records(_BATCHES),
            _parse_records,
        ),
    ),
)
CIFAR100 = _Version(
    name="cifar100",
    labels="fine_labels",
    label_bytes=2,
    forms=(
        _Form(
            Archive(_URL + "cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85"),
            "cifar-100-python",
            _SPLITS,
            _parse_pickle,
        ),
        _Form(
            Archive(_URL + "cifar-100-binary.tar.gz", "03b5dce01913d631647c71ecec9e9cb8"),
            "cifar-100-binary",
            _records(_SPLITS),
            _parse_records,
        ),
    ),
)
