"""Small archives in the formats of published data sets."""

import gzip
import io
import pickle
import struct
import tarfile
import zipfile

import numpy as np


def write_tar(path, members, mode="w"):
    """A tar file of names and contents, compressed if `mode` says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, mode) as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def write_zip(path, members):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def idx(array):
    """An array of bytes in MNIST's format."""
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def write_mnist(folder, images, labels, *, train=True, compressed=True):
    folder.mkdir(parents=True, exist_ok=True)
    prefix = "train" if train else "t10k"
    for name, array in (
        (f"{prefix}-images-idx3-ubyte", images),
        (f"{prefix}-labels-idx1-ubyte", labels),
    ):
        content = idx(array)
        if compressed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)


def cifar_pickles(images, labels, key):
    """The content of a file of CIFAR's archives of pickles."""
    rows = np.ascontiguousarray(images.transpose(0, 3, 1, 2)).reshape(len(images), -1)
    return pickle.dumps({"data": rows, key: [int(label) for label in labels]}, 2)


def cifar_records(images, labels, label_bytes):
    """The content of a file of CIFAR's archives of records."""
    rows = images.transpose(0, 3, 1, 2).reshape(len(images), -1)
    coarse = np.full((len(images), label_bytes - 1), 7, np.uint8)
    return np.concatenate([coarse, labels[:, None].astype(np.uint8), rows], 1).tobytes()


def wav(samples, rate=16000):
    """One channel of 16-bit integers."""
    body = samples.astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", 1, 1, rate, 2 * rate, 2, 16)
    head = b"WAVEfmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(body))
    return b"RIFF" + struct.pack("<I", len(head) + len(body)) + head + body
