"""Reading of weights, and writing of output files: all files or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import umber.core as mx
from umber import nn
from umber.utils import tree_flatten

from common.options import fail

Model = TypeVar("Model", bound=nn.Module)

# The errors of reading and writing files; any other exception is a bug.
FILE_ERRORS = (OSError, RuntimeError, TypeError, ValueError)


def check_output(folder: Path, *names: str) -> None:
    """Fail before the training if the files cannot be written to the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        fail(f"cannot write to {folder}: {error.strerror or error}")
    for name in names:
        if (folder / name).is_dir():
            fail(f"cannot write {folder / name}: it is a folder")


@contextmanager
def staging(folder: Path, *names: str) -> Iterator[Path]:
    """A temporary folder to write files to; they are moved to `folder` once all are complete."""
    try:
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=folder) as staged:
            yield Path(staged)
            for name in names:
                os.replace(Path(staged, name), folder / name)
    except (OSError, RuntimeError) as error:
        fail(f"cannot write to {folder}: {error}")
    print("wrote " + " and ".join(str(folder / name) for name in names))


def load_weights(model: Model, file: Path) -> Model:
    """Load parameters from a file, whose names and dtypes must match and values be finite."""
    expected = {name: value.dtype for name, value in tree_flatten(model.parameters())}
    try:
        model.load_weights(file)
        for name, value in tree_flatten(model.parameters()):
            if value.dtype != expected[name]:
                raise TypeError(f"{name}: got {value.dtype}, expected {expected[name]}")
            if not mx.isfinite(value).all():
                raise ValueError(f"{name}: got numbers that are not finite, expected finite ones")
    except FILE_ERRORS as error:
        fail(f"cannot use the weights in {file}: {error}")
    return model
