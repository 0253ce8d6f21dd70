"""Exceptions of `umber.data`. Each is also of the standard class that fits."""


class DataError(RuntimeError):
    """A stage of a pipeline failed.

    Attributes
    ----------
    stage : str or None
        The stage, by the name of its method.
    index : int or None
        The number of the sample in its source.
    key : str or None
        The key of the value at fault.
    path : str or None
        The file at fault.
    """

    stage: str | None = None
    index: int | None = None
    key: str | None = None
    path: str | None = None


class DataValueError(DataError, ValueError):
    """A value, shape or option is not acceptable."""


class DataTypeError(DataError, TypeError):
    """A dtype or class is not acceptable."""


class DataIndexError(DataError, IndexError):
    """An index is out of bounds."""


class DataAxisError(DataError, ValueError, IndexError):
    """An axis is out of bounds."""


class DataMemoryError(DataError, MemoryError):
    """There is no memory, or a limit forbids to take it."""


class DataFileError(DataError, OSError):
    """A file cannot be read, or holds something else than it should."""


class DataFileNotFoundError(DataFileError, FileNotFoundError):
    """A file does not exist."""


for _class in (
    DataError,
    DataValueError,
    DataTypeError,
    DataIndexError,
    DataAxisError,
    DataMemoryError,
    DataFileError,
    DataFileNotFoundError,
):
    _class.__module__ = "umber.data"
