"""MNIST and Fashion-MNIST: 28×28 grey images of ten classes."""

from __future__ import annotations

import gzip
import math
import os
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from umber.data.datasets._files import (
    Archive,
    buffer_from_columns,
    fetch,
    load_columns,
    root_folder,
    save_columns,
)
from umber.data.datasets._pickles import read_pickle

if TYPE_CHECKING:
    from umber.data import Buffer

_URLS = {
    "mnist": "https://raw.githubusercontent.com/fgnt/mnist/master/",
    "fashion-mnist": "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
}
_SHAPE = (28, 28)


def load_mnist(root: str | os.PathLike[str] | None = None, train: bool = True) -> Buffer:
    """MNIST: 60,000 and 10,000 handwritten digits.

    Parameters
    ----------
    root : str or path, optional
        The folder of the files: those published (``train-images-idx3-ubyte.gz`` and so on, also
        decompressed), or what mlx-data wrote (``train.pkl``). Files that are missing are
        downloaded. Default: ``~/.cache/mlx.data/mnist``.
    train : bool
        The training set, or else the test set.

    Returns
    -------
    Buffer
        Samples with ``image`` (28×28×1, uint8) and ``label`` (uint8).

    Raises
    ------
    ConnectionError
        If a file is missing and cannot be downloaded.
    ValueError
        If a file is damaged.

    See Also
    --------
    load_fashion_mnist, load_cifar10

    Examples
    --------
    A folder with a test set of one image:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from umber.data.datasets import load_mnist
    >>> head = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28])
    >>> with tempfile.TemporaryDirectory() as root:
    ...     _ = Path(root, "t10k-images-idx3-ubyte").write_bytes(head + bytes(28 * 28))
    ...     _ = Path(root, "t10k-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
    ...     buffer = load_mnist(root, train=False)
    >>> buffer[0]["image"].shape, int(buffer[0]["label"])
    ((28, 28, 1), 7)
    """
    return buffer_from_columns(**read_mnist("mnist", root_folder(root, "mnist"), train))


def load_fashion_mnist(root: str | os.PathLike[str] | None = None, train: bool = True) -> Buffer:
    """Fashion-MNIST: 60,000 and 10,000 images of clothes.

    Parameters
    ----------
    root : str or path, optional
        The folder of the files, which have the names of MNIST's. Files that are missing are
        downloaded. Default: ``~/.cache/mlx.data/fashion-mnist``.
    train : bool
        The training set, or else the test set.

    Returns
    -------
    Buffer
        Samples with ``image`` (28×28×1, uint8) and ``label`` (uint8).

    Raises
    ------
    ConnectionError
        If a file is missing and cannot be downloaded.
    ValueError
        If a file is damaged.

    See Also
    --------
    load_mnist

    Examples
    --------
    A folder with a test set of one image:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from umber.data.datasets import load_fashion_mnist
    >>> head = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28])
    >>> with tempfile.TemporaryDirectory() as root:
    ...     _ = Path(root, "t10k-images-idx3-ubyte").write_bytes(head + bytes(28 * 28))
    ...     _ = Path(root, "t10k-labels-idx1-ubyte").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
    ...     buffer = load_fashion_mnist(root, train=False)
    >>> buffer[0]["image"].shape, int(buffer[0]["label"])
    ((28, 28, 1), 7)
    """
    folder = root_folder(root, "fashion-mnist")
    return buffer_from_columns(**read_mnist("fashion-mnist", folder, train))


def read_mnist(name: str, folder: Path, train: bool) -> dict[str, np.ndarray]:
    """The columns of a split, from the published files, or else from mlx-data's cache."""
    op = "load_" + name.replace("-", "_")
    prefix = "train" if train else "t10k"
    files = {"image": f"{prefix}-images-idx3-ubyte", "label": f"{prefix}-labels-idx1-ubyte"}
    cache = folder / ("train.pkl" if train else "test.pkl")
    there = all(
        (folder / file).is_file() or (folder / f"{file}.gz").is_file() for file in files.values()
    )
    if not there:
        saved = load_columns(op, cache.with_suffix(".npz"), cache)
        if saved is None and cache.is_file():
            saved = _read_cache(op, cache)
            save_columns(cache.with_suffix(".npz"), saved)
        if saved is not None:
            return saved
    columns = {}
    for key, file in files.items():
        path = folder / file
        if not path.is_file():
            archive = Archive(f"{_URLS[name]}{file}.gz")
            path = fetch(op, folder, archive, quiet=False, validate_download=True)
        columns[key] = read_idx(op, path)
    images, labels = columns["image"], columns["label"]
    if images.shape[1:] != _SHAPE or labels.shape != images.shape[:1]:
        raise ValueError(
            f"[{op}] {folder}: images of shape {images.shape} and labels of shape {labels.shape} "
            "do not belong together"
        )
    return {"image": images[..., None], "label": labels}


def read_idx(op: str, path: Path) -> np.ndarray:
    """An array of bytes from a file of MNIST's format, which may be compressed by gzip.

    The header is two zeros, the type (8: unsigned bytes), the number of dimensions and their
    lengths as big-endian 32-bit integers.
    """
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"[{op}] {path} is damaged: {error}; get it again") from error
    dimensions = data[3] if data[:3] == b"\0\0\x08" and len(data) > 3 else 0
    start = 4 + 4 * dimensions
    if not dimensions or len(data) < start:
        raise ValueError(f"[{op}] {path} is not a file of unsigned bytes in IDX format")
    shape = struct.unpack(f">{dimensions}I", data[4:start])
    expected = start + math.prod(shape)
    if len(data) != expected:
        raise ValueError(f"[{op}] {path} has {len(data)} bytes; its shape {shape} needs {expected}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def _read_cache(op: str, path: Path) -> dict[str, np.ndarray]:
    """The list of samples that mlx-data wrote."""
    samples = read_pickle(path.read_bytes(), source=str(path))
    try:
        return {
            "image": np.stack([sample["image"] for sample in samples]).reshape(-1, *_SHAPE, 1),
            "label": np.array([sample["label"] for sample in samples], np.uint8),
        }
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"[{op}] {path} does not hold samples of MNIST: {error}") from error
