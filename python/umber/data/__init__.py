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
    buffer_from_vector,
    chain,
    mix,
    stream_python_iterable,
    zip,
)
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

__all__ = [
    "Buffer",
    "DataAxisError",
    "DataError",
    "DataFileError",
    "DataFileNotFoundError",
    "DataIndexError",
    "DataMemoryError",
    "DataTypeError",
    "DataValueError",
    "Stream",
    "buffer_from_arrays",
    "buffer_from_vector",
    "chain",
    "mix",
    "stream_python_iterable",
    "zip",
]

# Threads that ask for the interpreter's lock while it ends would hang.
atexit.register(_data._close)
