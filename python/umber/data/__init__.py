"""Pipelines of samples that feed arrays without copies, with mlx-data's API.

A sample is a dict of NumPy arrays. A `Buffer` has samples with random access, a `Stream` is read
once. Operations of both, such as `batch`, `shuffle` and `key_transform`, return new ones and
compute nothing before a sample is read. `Stream.prefetch` computes ahead on threads; order, random
numbers and states do not depend on how many.
"""

import atexit

from umber.core import _data
from umber.core._data import (
    Buffer,
    Stream,
    buffer_from_arrays,
    buffer_from_arrow,
    buffer_from_vector,
    chain,
    files_from_tar,
    load_audio,
    load_image,
    mix,
    stream_csv_reader,
    stream_csv_reader_from_string,
    stream_line_reader,
    stream_python_iterable,
    stream_webdataset,
    zip,
)
from umber.data._enums import LoadAudioInfo, TokenizeMode
from umber.data._errors import (
    DataAxisError,
    DataError,
    DataFileError,
    DataFileNotFoundError,
    DataIndexError,
    DataMemoryError,
    DataTypeError,
    DataValueError,
)

# Not imported from `typing`, whose import takes longer than this module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from umber.data import core, datasets, features, tokenizer_helpers  # noqa: F401

__all__ = [
    "All",
    "Buffer",
    "DataAxisError",
    "DataError",
    "DataFileError",
    "DataFileNotFoundError",
    "DataIndexError",
    "DataMemoryError",
    "DataTypeError",
    "DataValueError",
    "LoadAudioInfo",
    "NumChannels",
    "NumFrames",
    "NumSeconds",
    "Rand",
    "SampleRate",
    "Shortest",
    "Stream",
    "TokenizeMode",
    "buffer_from_arrays",
    "buffer_from_arrow",
    "buffer_from_vector",
    "chain",
    "files_from_tar",
    "load_audio",
    "load_image",
    "mix",
    "stream_csv_reader",
    "stream_csv_reader_from_string",
    "stream_line_reader",
    "stream_python_iterable",
    "stream_webdataset",
    "zip",
]

# The members of the enumerations, as mlx-data has them.
Shortest, Rand = TokenizeMode
All, NumFrames, NumChannels, SampleRate, NumSeconds = LoadAudioInfo

_SUBMODULES = ("core", "datasets", "features", "tokenizer_helpers")


def __getattr__(name: str) -> object:
    if name == "__version__":
        import umber

        return umber.__version__
    if name in _SUBMODULES:
        from importlib import import_module

        return import_module(f"umber.data.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "__version__", *_SUBMODULES})


# Threads that ask for the interpreter's lock while it ends would hang.
atexit.register(_data._close)
