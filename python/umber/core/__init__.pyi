# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.

"""Lazy, differentiable arrays that share memory."""
import builtins
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from os import PathLike
from types import EllipsisType, TracebackType
from typing import Any, BinaryIO, Literal, ParamSpec, Protocol, Self, TypeAlias, TypeVar
from typing_extensions import Buffer as _Buffer
from . import fast as fast
from . import fft as fft
from . import linalg as linalg
from . import random as random
from . import special as special

_P = ParamSpec("_P")
_R = TypeVar("_R")

class _SupportsArray(Protocol):
    def __array__(self) -> Any: ...

_Scalar: TypeAlias = builtins.bool | int | float | complex
_Text: TypeAlias = str
_Operand: TypeAlias = array | _Scalar | _Buffer | _SupportsArray | Sequence[_Operand]
_Shape: TypeAlias = int | Sequence[int]
_DType: TypeAlias = Dtype | str | type[Any] | Any
_Axes: TypeAlias = int | Sequence[int]
_Device: TypeAlias = Device | DeviceType
_StreamOrDevice: TypeAlias = Stream | ThreadLocalStream | Device | DeviceType | None
_IndexItem: TypeAlias = int | builtins.slice | array | EllipsisType | Sequence[_IndexItem] | None | _Buffer | _SupportsArray
_Index: TypeAlias = _IndexItem | tuple[_IndexItem, ...]
_Tree: TypeAlias = array | list[_Tree] | tuple[_Tree, ...] | dict[str, _Tree] | Any
_File: TypeAlias = str | PathLike[str] | BinaryIO

__array_api_version__: str

__version__: str

bfloat16: Dtype

bool: Dtype

bool_: Dtype

complex128: Dtype

complex64: Dtype

complexfloating: DtypeCategory

cpu: DeviceType

e: float

euler_gamma: float

float16: Dtype

float32: Dtype

float64: Dtype

float8_e3m4: Dtype

float8_e4m3: Dtype

float8_e4m3b11fnuz: Dtype

float8_e4m3fn: Dtype

float8_e4m3fnuz: Dtype

float8_e5m2: Dtype

float8_e5m2fnuz: Dtype

float8_e8m0fnu: Dtype

floating: DtypeCategory

generic: DtypeCategory

gpu: DeviceType

inexact: DtypeCategory

inf: float

int16: Dtype

int32: Dtype

int64: Dtype

int8: Dtype

integer: DtypeCategory

nan: float

newaxis: None

number: DtypeCategory

pi: float

signedinteger: DtypeCategory

uint16: Dtype

uint32: Dtype

uint64: Dtype

uint8: Dtype

unsignedinteger: DtypeCategory


class ArgumentError(TypeError, ValueError, RuntimeError):
    """An argument has a type that the function does not accept."""


class ArrayAt:
    """An array and the index at which to update it; made by ``a.at[index]``.

    Examples
    --------
    >>> mx.zeros(3).at[1].add(5)
    array([0, 5, 0], dtype=float32)
    """
    def __getitem__(self, index: _Index) -> ArrayAt: ...
    def add(self, value: _Operand) -> array:
        """Add a value at the index.

        Parameters
        ----------
        value : array_like
            Value, broadcast to the shape of the indexed elements and converted to the dtype.

        Returns
        -------
        array
            Updated copy. Repeated indices accumulate.

        Raises
        ------
        TypeError
            If there is no index: ``a.at.add(value)``.
        IndexError
            If an index is out of bounds.
        ValueError
            If `value` cannot be broadcast to the indexed elements.

        Examples
        --------
        >>> mx.zeros(3).at[mx.array([0, 0])].add(5)
        array([10, 0, 0], dtype=float32)
        """

    def divide(self, value: _Operand) -> array:
        """Divide by a value at the index.

        Parameters
        ----------
        value : array_like
            Value, broadcast to the shape of the indexed elements.

        Returns
        -------
        array
            Updated copy; integers are divided as by ``//``. Repeated indices accumulate.

        Raises
        ------
        TypeError
            If there is no index.
        IndexError
            If an index is out of bounds.
        ValueError
            If `value` cannot be broadcast to the indexed elements.

        Examples
        --------
        >>> mx.ones(3).at[0].divide(4)
        array([0.25, 1, 1], dtype=float32)
        >>> mx.array([7, 8]).at[0].divide(2)
        array([3, 8], dtype=int32)
        """

    def maximum(self, value: _Operand) -> array:
        """Take the maximum with a value at the index.

        Parameters
        ----------
        value : array_like
            Value, broadcast to the shape of the indexed elements and converted to the dtype.

        Returns
        -------
        array
            Updated copy. Repeated indices accumulate.

        Raises
        ------
        TypeError
            If there is no index.
        IndexError
            If an index is out of bounds.
        ValueError
            If `value` cannot be broadcast to the indexed elements.

        Examples
        --------
        >>> mx.ones(3).at[mx.array([0, 0])].maximum(mx.array([5, 3]))
        array([5, 1, 1], dtype=float32)
        """

    def minimum(self, value: _Operand) -> array:
        """Take the minimum with a value at the index.

        Parameters
        ----------
        value : array_like
            Value, broadcast to the shape of the indexed elements and converted to the dtype.

        Returns
        -------
        array
            Updated copy. Repeated indices accumulate.

        Raises
        ------
        TypeError
            If there is no index.
        IndexError
            If an index is out of bounds.
        ValueError
            If `value` cannot be broadcast to the indexed elements.

        Examples
        --------
        >>> mx.ones(3).at[mx.array([0, 0])].minimum(mx.array([5, -3]))
        array([-3, 1, 1], dtype=float32)
        """

    def multiply(self, value: _Operand) -> array:
        """Multiply by a value at the index.

        Parameters
        ----------
        value : array_like
            Value, broadcast to the shape of the indexed elements and converted to the dtype.

        Returns
        -------
        array
            Updated copy. Repeated indices accumulate.

        Raises
        ------
        TypeError
            If there is no index.
        IndexError
            If an index is out of bounds.
        ValueError
            If `value` cannot be broadcast to the indexed elements.

        Examples
        --------
        >>> mx.ones(3).at[mx.array([0, 0])].multiply(5)
        array([25, 1, 1], dtype=float32)
        """

    def subtract(self, value: _Operand) -> array:
        """Subtract a value at the index.

        Parameters
        ----------
        value : array_like
            Value, broadcast to the shape of the indexed elements and converted to the dtype.

        Returns
        -------
        array
            Updated copy. Repeated indices accumulate.

        Raises
        ------
        TypeError
            If there is no index, or if the array is boolean.
        IndexError
            If an index is out of bounds.
        ValueError
            If `value` cannot be broadcast to the indexed elements.

        Examples
        --------
        >>> mx.zeros(3).at[mx.array([0, 0])].subtract(5)
        array([-10, 0, 0], dtype=float32)
        """


class ArrayFlags:
    """Memory layout of an array, with the names of ``numpy.ndarray.flags``.

    See Also
    --------
    array.flags

    Examples
    --------
    >>> mx.array([[1, 2], [3, 4]]).T.flags.f_contiguous
    True
    """
    def __getitem__(self, index: int) -> Any: ...
    def __repr__(self) -> str: ...
    @property
    def aligned(self) -> builtins.bool:
        """Whether elements are aligned to their size: always True.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.ones((2, 3)).flags.aligned
        True
        """

    @property
    def c_contiguous(self) -> builtins.bool:
        """Whether the elements are dense, the last axis changing fastest.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.ones((2, 3)).flags.c_contiguous
        True
        """

    @property
    def contiguous(self) -> builtins.bool:
        """Alias of `c_contiguous`.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.ones((2, 3)).flags.contiguous
        True
        """

    @property
    def f_contiguous(self) -> builtins.bool:
        """Whether the elements are dense, the first axis changing fastest.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.ones((2, 3)).flags.f_contiguous
        False
        """

    @property
    def fnc(self) -> builtins.bool:
        """Whether the array is `f_contiguous` and not `c_contiguous`.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.array([[1, 2], [3, 4]]).T.flags.fnc
        True
        """

    @property
    def forc(self) -> builtins.bool:
        """Whether the array is `c_contiguous` or `f_contiguous`.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.ones((2, 3)).flags.forc
        True
        """

    @property
    def fortran(self) -> builtins.bool:
        """Alias of `f_contiguous`.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.array([[1, 2], [3, 4]]).T.flags.fortran
        True
        """

    @property
    def owndata(self) -> builtins.bool:
        """Whether the array keeps its memory alive: always True.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.ones((2, 3)).flags.owndata
        True
        """

    @property
    def writeable(self) -> builtins.bool:
        """Whether a view of the array would be writable.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.ones((2, 3)).flags.writeable
        True
        """

    @property
    def writebackifcopy(self) -> builtins.bool:
        """Whether the array is a copy to be written back to another one: always False.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.ones((2, 3)).flags.writebackifcopy
        False
        """


class ArrayIndexError(IndexError, ValueError):
    """An index is out of bounds, or is not a valid index."""


class ArrayIterator:
    """Iterator over the slices along the first axis.

    Examples
    --------
    >>> [x.item() for x in mx.array([1, 2])]
    [1, 2]
    """
    def __iter__(self) -> Self: ...
    def __next__(self) -> array: ...


class ArrayLike:
    """Wrapper of an object from which an array can be made.

    Parameters
    ----------
    object : array_like
        A number, a nested sequence, or an object that shares its memory.

    Raises
    ------
    TypeError
        If an array cannot be made of `object`.

    See Also
    --------
    array

    Examples
    --------
    >>> mx.ArrayLike([1, 2]).object
    [1, 2]
    """
    def __init__(self, object: _Operand) -> None: ...
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> Any: ...
    @property
    def object(self) -> Any:
        """The wrapped object.

        Returns
        -------
        object

        Examples
        --------
        >>> mx.ArrayLike([1, 2]).object
        [1, 2]
        """


class ArrayNamespaceInfo:
    """Information about a namespace of the Python array API standard.

    Examples
    --------
    >>> mx.__array_namespace_info__().default_device()
    Device(cpu, 0)
    """
    def __init__(self) -> None: ...
    def capabilities(self) -> dict[str, builtins.bool | int | None]:
        """Return the optional features of the namespace.

        Returns
        -------
        dict
            Values of "boolean indexing", "data-dependent shapes" and "max dimensions".

        Examples
        --------
        >>> mx.__array_namespace_info__().capabilities()
        {'boolean indexing': True, 'data-dependent shapes': True, 'max dimensions': None}
        """

    def default_device(self) -> Device:
        """Return the device on which arrays are created by default.

        Returns
        -------
        Device

        Examples
        --------
        >>> mx.__array_namespace_info__().default_device()
        Device(cpu, 0)
        """

    def default_dtypes(self, *, device: _Device | None = None) -> dict[str, Dtype]:
        """Return the dtypes that arrays get by default.

        Parameters
        ----------
        device : Device, DeviceType or str, optional
            An available device; the dtypes are the same on every device. Default: None.

        Returns
        -------
        dict
            Dtypes by kind: "real floating", "complex floating", "integral" and "indexing" (of indices).

        Raises
        ------
        ValueError
            If the device is unknown or not available.

        Examples
        --------
        >>> mx.__array_namespace_info__().default_dtypes().get("integral")
        umber.core.int32
        """

    def devices(self) -> tuple[Device, ...]:
        """Return the available devices.

        Returns
        -------
        tuple of Device

        Examples
        --------
        >>> len(mx.__array_namespace_info__().devices()) >= 1
        True
        """

    def dtypes(
        self,
        *,
        device: _Device | None = None,
        kind: str | tuple[str, ...] | None = None,
    ) -> dict[str, Dtype]:
        """Return the dtypes of the standard by name.

        Parameters
        ----------
        device : Device, DeviceType or str, optional
            An available device; the dtypes are the same on every device. Default: None.
        kind : str or tuple of str, optional
            Kinds to include: "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating" or
            "numeric". Default: all.

        Returns
        -------
        dict
            Dtypes by name.

        Raises
        ------
        ValueError
            If a kind is unknown, or if the device is unknown or not available.

        Examples
        --------
        >>> mx.__array_namespace_info__().dtypes(kind="real floating")
        {'float32': umber.core.float32, 'float64': umber.core.float64}
        """


class AxisError(ArrayIndexError):
    """An axis is out of bounds for the number of dimensions of an array."""


class CopyError(BufferError, ValueError):
    """Memory cannot be shared as requested, for example because a copy is needed but not allowed."""


class DTypeError(ArgumentError):
    """An operation is not defined for a dtype."""


class Device:
    """Device that operations run on.

    Parameters
    ----------
    type : DeviceType
        Kind of device: ``mx.cpu`` or ``mx.gpu``.
    index : int, optional
        Number of the device of that kind. Default: 0.

    Raises
    ------
    TypeError
        If `type` is not a DeviceType.
    OverflowError
        If `index` is negative.

    See Also
    --------
    default_device, is_available

    Notes
    -----
    A device equals its kind, whatever its index. It need not be available.

    Examples
    --------
    >>> mx.Device(mx.cpu)
    Device(cpu, 0)
    """
    def __init__(self, type: DeviceType, index: int = 0) -> None: ...
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """Return the state that pickle stores."""

    def __repr__(self) -> str: ...
    @property
    def type(self) -> DeviceType:
        """Kind of device.

        Returns
        -------
        DeviceType

        Examples
        --------
        >>> mx.Device(mx.cpu).type
        DeviceType.cpu
        """


class DeviceType(Enum):
    """A kind of device: the host processor or an accelerator."""
    cpu = 0
    gpu = 1


class Dtype:
    """Type of an array's elements.

    Parameters
    ----------
    name : str, Dtype or type
        Name of the dtype, or another object that stands for one, such as a NumPy dtype.

    Raises
    ------
    TypeError
        If `name` does not name a dtype.

    See Also
    --------
    finfo, iinfo, result_type

    Notes
    -----
    A dtype equals every object that names it where a dtype is accepted: strings and NumPy dtypes.

    Examples
    --------
    >>> mx.Dtype("float32")
    umber.core.float32
    >>> mx.float32 == "float32"
    True
    """
    def __init__(self, name: _DType) -> None: ...
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    @property
    def __numpy_dtype__(self) -> Any:
        """NumPy's dtype for the same elements.

        Returns
        -------
        numpy.dtype
            For bfloat16 and float8 dtypes, that of the package ml_dtypes.

        Raises
        ------
        TypeError
            If ml_dtypes is required but not installed.

        Notes
        -----
        NumPy (2.4 or later) reads it wherever it accepts a dtype.

        Examples
        --------
        >>> np.dtype(mx.float32)
        dtype('float32')
        """

    def __reduce__(self) -> _Text | tuple[Any, ...]:
        """Helper for pickle."""

    def __repr__(self) -> _Text: ...
    @property
    def alignment(self) -> int:
        """Alignment of an element in bytes.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.float32.alignment
        4
        """

    @property
    def byteorder(self) -> _Text:
        """NumPy's byte order: "=" for the native one, "|" for dtypes of one byte.

        Returns
        -------
        str

        Examples
        --------
        >>> mx.float32.byteorder
        '='
        """

    @property
    def char(self) -> _Text:
        """NumPy's character code of the dtype.

        Returns
        -------
        str

        Examples
        --------
        >>> mx.float32.char
        'f'
        """

    @property
    def descr(self) -> list[tuple[_Text, _Text]]:
        """NumPy's description of the dtype as a list with one unnamed field.

        Returns
        -------
        list of tuple

        Examples
        --------
        >>> mx.float32.descr
        [('', '<f4')]
        """

    @property
    def fields(self) -> None:
        """Fields of a structured dtype: always None.

        Returns
        -------
        None

        Examples
        --------
        >>> mx.float32.fields
        """

    @property
    def hasobject(self) -> builtins.bool:
        """Whether elements are Python objects: always False.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.float32.hasobject
        False
        """

    @property
    def isnative(self) -> builtins.bool:
        """Whether elements have the native byte order: always True.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.float32.isnative
        True
        """

    @property
    def itemsize(self) -> int:
        """Number of bytes of one element; NumPy's name for `size`.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.float32.itemsize
        4
        """

    @property
    def kind(self) -> _Text:
        """NumPy's letter for the kind of number: "b", "i", "u", "f" or "c".

        Returns
        -------
        str

        Examples
        --------
        >>> mx.float32.kind
        'f'
        """

    @property
    def name(self) -> _Text:
        """Name of the dtype.

        Returns
        -------
        str

        Examples
        --------
        >>> mx.float32.name
        'float32'
        """

    @property
    def names(self) -> None:
        """Names of the fields of a structured dtype: always None.

        Returns
        -------
        None

        Examples
        --------
        >>> mx.float32.names
        """

    def newbyteorder(self, new_order: _Text = "S") -> Any:
        """Return NumPy's dtype with another byte order.

        Parameters
        ----------
        new_order : str, optional
            Byte order, as NumPy names it. Default: "S", swapped.

        Returns
        -------
        numpy.dtype

        Raises
        ------
        ValueError
            If NumPy does not know the byte order.

        Examples
        --------
        >>> mx.float32.newbyteorder(">")
        dtype('>f4')
        """

    @property
    def num(self) -> int:
        """NumPy's number of the dtype.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.float32.num
        11
        """

    @property
    def size(self) -> int:
        """Number of bytes of one element.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.float32.size
        4
        """

    @property
    def str(self) -> _Text:
        """NumPy's type string: byte order, kind and size.

        Returns
        -------
        str

        Examples
        --------
        >>> mx.float32.str
        '<f4'
        """

    @property
    def subdtype(self) -> None:
        """Dtype and shape of a subarray dtype: always None.

        Returns
        -------
        None

        Examples
        --------
        >>> mx.float32.subdtype
        """

    @property
    def type(self) -> Any:
        """NumPy's scalar class of this dtype.

        Returns
        -------
        type

        Examples
        --------
        >>> mx.float32.type
        <class 'numpy.float32'>
        """


class DtypeCategory(Enum):
    """A category of dtypes."""
    complexfloating = 0
    floating = 1
    inexact = 2
    signedinteger = 3
    unsignedinteger = 4
    integer = 5
    number = 6
    generic = 7


class FileError(OSError, RuntimeError):
    """A file cannot be read or written."""


class FileMissingError(FileError, FileNotFoundError, ValueError):
    """A file does not exist."""


class FormatError(ValueError, RuntimeError):
    """A file is damaged or has an unknown format, or its format cannot represent the data."""


class FunctionExporter:
    """Context manager that traces a function several times and writes one file; made by `exporter`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with mx.exporter(f"{folder}/f", mx.exp) as export:
    ...         export(mx.zeros(3))
    """
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> builtins.bool | None: ...
    def close(self) -> None:
        """Write the file. Later calls have no effect.

        Raises
        ------
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     export = mx.exporter(f"{folder}/f", mx.exp)
        ...     export(mx.zeros(3))
        ...     export.close()
        ...     len(os.listdir(folder))
        1
        """


class InPlaceKeepsType:
    """Context manager in which augmented assignments must keep the dtype and the shape of an array.

    Notes
    -----
    Inside, ``x += y`` and the like raise TypeError where the dtype of `x` would change and ValueError where its shape
    would, as the array API standard requires. Outside they change `x`, as in MLX. Holds for the thread that enters it.

    Examples
    --------
    >>> x = mx.array([1, 2])
    >>> with mx.InPlaceKeepsType():
    ...     x += 1
    >>> x += 0.5
    >>> x
    array([2.5, 3.5], dtype=float32)
    """
    def __init__(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> builtins.bool | None: ...


class NonFiniteError(FloatingPointError):
    """An operation produced a NaN or an infinity, see `debug_nans`."""


class PrintOptions:
    """Options for printing arrays, with the names of ``numpy.get_printoptions``.

    See Also
    --------
    set_printoptions, printoptions, get_printoptions

    Examples
    --------
    >>> mx.get_printoptions().precision
    -1
    """
    @property
    def edgeitems(self) -> int:
        """Number of elements at each end of an abbreviated axis.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.get_printoptions().edgeitems
        3
        """

    @property
    def infstr(self) -> str:
        """Text of infinity.

        Returns
        -------
        str

        Examples
        --------
        >>> mx.get_printoptions().infstr
        'inf'
        """

    @property
    def linewidth(self) -> int | None:
        """Number of characters in a line; None if rows are not wrapped.

        Returns
        -------
        int or None

        Examples
        --------
        >>> mx.get_printoptions().linewidth is None
        True
        """

    @property
    def nanstr(self) -> str:
        """Text of NaN.

        Returns
        -------
        str

        Examples
        --------
        >>> mx.get_printoptions().nanstr
        'nan'
        """

    @property
    def precision(self) -> int:
        """Number of decimals; -1 for the shortest form of style ``"mlx"``.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.get_printoptions().precision
        -1
        """

    @property
    def style(self) -> str:
        """``"mlx"`` or ``"numpy"``.

        Returns
        -------
        str

        Examples
        --------
        >>> mx.get_printoptions().style
        'mlx'
        """

    @property
    def suppress(self) -> builtins.bool:
        """Whether small numbers are written without exponents.

        Returns
        -------
        bool

        Examples
        --------
        >>> mx.get_printoptions().suppress
        False
        """

    @property
    def threshold(self) -> int:
        """Number of elements above which arrays are abbreviated.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.get_printoptions().threshold
        0
        """


class Profile:
    """A record of the operations that ran in a block; made by `profile`.

    Examples
    --------
    >>> with mx.profile() as p:
    ...     mx.eval(mx.ones((100, 100)) @ mx.ones((100, 100)))
    >>> p.rows[0]["operation"], p.rows[0]["flops"]
    ('matmul', 2000000)
    """
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> builtins.bool | None: ...
    def __repr__(self) -> str: ...
    def __str__(self) -> str: ...
    def export(self, file: str | PathLike[str]) -> None:
        """Write the operations in Chrome's trace format.

        Parameters
        ----------
        file : str or PathLike
            Path of the file, which is overwritten.

        Raises
        ------
        OSError
            If the file cannot be written.

        Notes
        -----
        Open the file in https://ui.perfetto.dev or chrome://tracing. Each thread is a track. Up to 1,048,576 operations
        are kept.

        Examples
        --------
        >>> import json, tempfile
        >>> with mx.profile() as p:
        ...     mx.eval(mx.arange(10_000) * 2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     p.export(f"{folder}/trace.json")
        ...     with open(f"{folder}/trace.json") as file:
        ...         len(json.load(file).get("traceEvents"))
        3
        """

    @property
    def memory(self) -> dict[str, int] | None:
        """Bytes of host memory at the peak, by the line of the program that allocated them.

        Returns
        -------
        dict or None
            From ``file:line`` to bytes, the largest first. None without ``memory=True``, and inside the block.

        Examples
        --------
        >>> with mx.profile(memory=True) as p:
        ...     mx.eval(mx.arange(1_000_000) * 2)
        >>> sum(p.memory.values()) >= 4_000_000
        True
        """

    def plot(self, ax: Any = None, max_rows: int = 20) -> Any:
        """Draw the time of each operation with Matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw in. Default: those of a new figure.
        max_rows : int, optional
            Number of operations to draw, the longest time first. Default: 20.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ModuleNotFoundError
            If Matplotlib is not installed.

        Examples
        --------
        >>> with mx.profile() as p:
        ...     mx.eval(mx.arange(10_000) * 2)
        >>> axes = p.plot()  # doctest: +SKIP
        """

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows of the profile: one for each operation and each sequence of fused operations.

        Returns
        -------
        list of dict
            The longest ``self_time`` first. Times are in seconds. The keys are ``operation``; ``fused``, the operations in
            one kernel, empty if there is one only; ``device``; ``calls``; ``kernels``; ``total_time`` and ``self_time``, with
            and without the operations inside, such as those in the body of a loop; ``bytes_read`` and ``bytes_written``;
            ``bandwidth`` in bytes per second; ``flops`` and ``flop_rate``, None if unknown; and ``lines``, a dict from
            ``file:line`` to the calls and the time of the operations that this line recorded.

        Examples
        --------
        >>> x = mx.arange(10_000.0)
        >>> mx.eval(x)
        >>> with mx.profile() as p:
        ...     mx.eval(mx.sum(mx.exp(x)))
        >>> p.rows[0]["fused"]
        ('exp', 'sum')
        """

    @property
    def wall_time(self) -> float:
        """Time in seconds during which the block was running.

        Returns
        -------
        float

        Examples
        --------
        >>> with mx.profile() as p:
        ...     pass
        >>> p.wall_time < 1
        True
        """


class RangeError(OverflowError, ValueError, RuntimeError):
    """A number or size exceeds the range of the type that stores it."""


class ShapeDtypeStruct:
    """The shape and dtype of an array, without its elements.

    Parameters
    ----------
    shape : int or sequence of int
        Lengths of the axes.
    dtype : Dtype or str
        Type of the elements.

    Raises
    ------
    ValueError
        If a length is negative.

    See Also
    --------
    eval_shape

    Notes
    -----
    Instances are immutable, compare by value, and can be hashed. The attributes are `shape`, `dtype`, `ndim`, `size` and
    `nbytes`.

    Examples
    --------
    >>> spec = mx.ShapeDtypeStruct((1024, 1024), mx.float16)
    >>> spec.size, spec.nbytes
    (1048576, 2097152)
    """
    def __init__(self, shape: _Shape, dtype: _DType) -> None: ...
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def dtype(self) -> Dtype:
        """Type of the elements.

        Returns
        -------
        Dtype

        Examples
        --------
        >>> mx.ShapeDtypeStruct((2, 3), mx.float16).dtype
        umber.core.float16
        """

    @property
    def nbytes(self) -> int:
        """Number of bytes that the elements would take.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.ShapeDtypeStruct((2, 3), mx.float16).nbytes
        12
        """

    @property
    def ndim(self) -> int:
        """Number of axes.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.ShapeDtypeStruct((2, 3), mx.float16).ndim
        2
        """

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes.

        Returns
        -------
        tuple of int

        Examples
        --------
        >>> mx.ShapeDtypeStruct((2, 3), mx.float16).shape
        (2, 3)
        """

    @property
    def size(self) -> int:
        """Number of elements.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.ShapeDtypeStruct((2, 3), mx.float16).size
        6
        """


class Stream:
    """Queue of operations on a device; made by `new_stream`.

    See Also
    --------
    new_stream, default_stream, stream

    Examples
    --------
    >>> mx.default_stream(mx.cpu).device
    Device(cpu, 0)
    """
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def device(self) -> Device:
        """Device that the stream belongs to.

        Returns
        -------
        Device

        Examples
        --------
        >>> mx.default_stream(mx.cpu).device
        Device(cpu, 0)
        """


class StreamContext:
    """Context manager that makes a stream or device the default for this thread.

    Parameters
    ----------
    s : Stream, Device or DeviceType
        Stream, or device whose default stream is used.

    Raises
    ------
    TypeError
        If `s` is none of these.

    See Also
    --------
    stream

    Examples
    --------
    >>> with mx.StreamContext(mx.cpu):
    ...     mx.array(1) + 1
    array(2, dtype=int32)
    """
    def __init__(self, s: Sequence[int]) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> builtins.bool | None: ...


class ThreadLocalStream:
    """Stream that is a different one on each thread; made by `new_thread_local_stream`.

    See Also
    --------
    new_thread_local_stream

    Examples
    --------
    >>> mx.new_thread_local_stream(mx.cpu).device
    Device(cpu, 0)
    """
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def device(self) -> Device:
        """Device that the stream belongs to.

        Returns
        -------
        Device

        Examples
        --------
        >>> mx.new_thread_local_stream(mx.cpu).device
        Device(cpu, 0)
        """


class array:
    """N-dimensional array of elements of one dtype.

    Parameters
    ----------
    val : array_like
        A number, a nested sequence of numbers or arrays, an `array`, or an object that shares its memory: by the buffer
        protocol, `__array_interface__`, DLPack, or `__array__`. The elements are copied.
    dtype : Dtype, str or type, optional
        Type of the elements. Default: that of `val`; for Python numbers bool, int32 (int64 or uint64 if they do not fit),
        float32 or complex64.

    Raises
    ------
    TypeError
        If an array cannot be made of `val`, or if `dtype` does not name a dtype.
    ValueError
        If nested sequences have different lengths.
    OverflowError
        If an integer does not fit the dtype.

    See Also
    --------
    asarray, zeros, ones, full, arange

    Notes
    -----
    Operations on arrays are lazy: they are recorded, and computed when a value is needed or by `eval`. Inside transforms
    an array may be traced, without a value. Augmented assignments and item assignments update an array in place; views
    taken before keep their values.

    Examples
    --------
    >>> mx.array([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]], dtype=int32)
    >>> mx.array([1, 2.5], dtype=mx.float16)
    array([1, 2.5], dtype=float16)
    """
    def __init__(self, val: _Operand, dtype: _DType = None) -> None: ...
    def __abs__(self) -> array: ...
    def __add__(self, other: _Operand) -> array: ...
    def __and__(self, other: _Operand) -> array: ...
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> Any:
        """Convert to a NumPy array.

        Parameters
        ----------
        dtype : numpy.dtype, optional
            Type of the elements. Default: the same.
        copy : bool, optional
            True always copies; False raises where a copy is necessary. Default: None, copy only to convert the dtype.

        Returns
        -------
        numpy.ndarray
            View of this array's memory, or a copy.

        Raises
        ------
        TypeError
            If NumPy does not know the dtype.
        ValueError
            If `copy` is False and the dtype differs, or the memory is not the CPU's; the exception is
            also a BufferError.

        Notes
        -----
        bfloat16 and float8 arrays require the package ml_dtypes.

        Examples
        --------
        >>> np.asarray(mx.array([1, 2])).sum()
        np.int64(3)
        """

    def __array_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Run a NumPy function on arrays: umber's function of the same name, where there is one.

        Parameters
        ----------
        func : callable
            NumPy's function.
        types : sequence of type
            Types that implement the protocol.
        args : tuple
            Positional arguments.
        kwargs : dict
            Keyword arguments.

        Returns
        -------
        array or object
            An array from umber's function; otherwise what NumPy returns for views of the arrays.

        Raises
        ------
        TypeError
            If NumPy's function would write into an array.
        ValueError
            If an array without a value, inside a transform, would have to be converted to a NumPy array.

        Notes
        -----
        Implements NEP 18.

        Examples
        --------
        >>> np.concatenate([mx.array([1.0]), mx.array([2.0])])
        array([1, 2], dtype=float32)
        """

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's array interface, version 3.

        Returns
        -------
        dict
            Values of "shape", "typestr", "data", "strides" and "version".

        Raises
        ------
        AttributeError
            If the interface has no type for the elements, such as bfloat16, or the memory is not the
            CPU's.

        Examples
        --------
        >>> mx.array([1, 2]).__array_interface__["typestr"]
        '<i4'
        """

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        """Return the module with the functions of the Python array API standard.

        Parameters
        ----------
        api_version : str, optional
            Version of the standard, from "2021.12" to "2025.12". Default: the newest.

        Returns
        -------
        module
            `umber.array_api`.

        Raises
        ------
        ValueError
            If the version is not supported.

        Examples
        --------
        >>> mx.array(1).__array_namespace__().__name__
        'umber.array_api'
        """

    __array_priority__: float
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Run a NumPy ufunc on arrays: umber's function of the same name, where there is one.

        Parameters
        ----------
        ufunc : numpy.ufunc
            The ufunc.
        method : str
            How it was called: "__call__", "reduce", "accumulate" and so on.
        *inputs : array_like
            Operands.
        **kwargs : object
            Further arguments of the ufunc.

        Returns
        -------
        array or object
            An array from umber's function; otherwise what NumPy returns for views of the arrays.

        Raises
        ------
        TypeError
            If `out` is an array and `where` is given.
        ValueError
            If an array without a value, inside a transform, would have to be converted to a NumPy array.

        Notes
        -----
        Implements NEP 13.

        Examples
        --------
        >>> np.sin(mx.array([0.0]))
        array([0], dtype=float32)
        """

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """Arrow capsules of this array's schema and memory.

        The memory is a copy if the array is not dense or of bool, which Arrow stores as bits. The schema is that of the array,
        whatever `requested_schema` says.
        """

    def __arrow_c_schema__(self) -> Any:
        """An Arrow schema capsule: the dtype, in lists of fixed size for the axes after the first."""

    def __bool__(self) -> builtins.bool: ...
    def __bytes__(self) -> bytes:
        """Return the bytes of the elements in row-major order.

        Returns
        -------
        bytes

        See Also
        --------
        tobytes

        Examples
        --------
        >>> bytes(mx.array([1, 258], mx.uint16))
        b'\\x01\\x00\\x02\\x01'
        """

    def __ceil__(self) -> int: ...
    def __complex__(self) -> complex: ...
    def __copy__(self) -> array: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """CUDA array interface: not available, because the memory is the CPU's.

        Raises
        ------
        AttributeError
            Always.

        Examples
        --------
        >>> hasattr(mx.array([1, 2]), "__cuda_array_interface__")
        False
        """

    def __deepcopy__(self, _memo: Any) -> Self: ...
    def __div__(self, other: _Operand) -> array: ...
    def __divmod__(self, other: _Operand) -> tuple[array, ...]: ...
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: builtins.bool | None = None,
    ) -> Any:
        """A DLPack capsule of this array's memory, versioned and with flags if `max_version` is 1.0 or more.

        A capsule without a version cannot mark its memory as read-only. It then holds a copy of memory that is shared, unless
        `copy` is false; memory that its producer declared read-only raises `BufferError`, unless `copy` is true. Memory with negative
        strides, which PyTorch and others reject, is copied unless `copy` is false, too.
        """

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device type and index that the memory is on: `(1, 0)` for the CPU."""

    def __eq__(self, other: object) -> array: ...  # type: ignore[override]
    def __float__(self) -> float: ...
    def __floor__(self) -> int: ...
    def __floordiv__(self, other: _Operand) -> array: ...
    def __format__(self, spec: str) -> str: ...
    def __ge__(self, other: _Operand) -> array: ...
    def __getitem__(self, index: _Index) -> array: ...
    def __getstate__(self) -> Any:
        """Return the state for pickle: the bytes of the elements, the shape and the name of the dtype.

        Returns
        -------
        tuple of bytes, list and str

        Examples
        --------
        >>> mx.array([1, 2], mx.int8).__getstate__()
        (b'\\x01\\x02', [2], 'int8')
        """

    def __gt__(self, other: _Operand) -> array: ...
    def __hash__(self) -> int: ...
    def __iadd__(self, other: _Operand) -> array: ...
    def __iand__(self, other: _Operand) -> array: ...
    def __ifloordiv__(self, other: _Operand) -> array: ...
    def __ilshift__(self, other: _Operand) -> array: ...
    def __imatmul__(self, other: _Operand) -> array: ...
    def __imod__(self, other: _Operand) -> array: ...
    def __imul__(self, other: _Operand) -> array: ...
    def __index__(self) -> int: ...
    def __int__(self) -> int: ...
    def __invert__(self) -> array: ...
    def __ior__(self, other: _Operand) -> array: ...
    def __ipow__(self, exponent: _Operand, modulo: None = None) -> array: ...
    def __irshift__(self, other: _Operand) -> array: ...
    def __isub__(self, other: _Operand) -> array: ...
    def __iter__(self) -> Iterator[array]: ...
    def __itruediv__(self, other: _Operand) -> array: ...
    def __ixor__(self, other: _Operand) -> array: ...
    def __le__(self, other: _Operand) -> array: ...
    def __len__(self) -> int: ...
    def __lshift__(self, other: _Operand) -> array: ...
    def __lt__(self, other: _Operand) -> array: ...
    def __matmul__(self, other: _Operand) -> array: ...
    def __mod__(self, other: _Operand) -> array: ...
    def __mul__(self, other: _Operand) -> array: ...
    def __ne__(self, other: object) -> array: ...  # type: ignore[override]
    def __neg__(self) -> array: ...
    def __or__(self, other: _Operand) -> array: ...
    def __pos__(self) -> array: ...
    def __pow__(self, exponent: _Operand, modulo: None = None) -> array: ...
    def __radd__(self, other: _Operand) -> array: ...
    def __rand__(self, other: _Operand) -> array: ...
    def __rdiv__(self, other: _Operand) -> array: ...
    def __rdivmod__(self, other: _Operand) -> tuple[array, ...]: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """Return the parts that pickle needs, for protocols before 5.

        Returns
        -------
        tuple

        Examples
        --------
        >>> import pickle
        >>> pickle.loads(pickle.dumps(mx.array([1, 2])))
        array([1, 2], dtype=int32)
        """

    def __repr__(self) -> str: ...
    def __reversed__(self) -> Iterator[array]: ...
    def __rfloordiv__(self, other: _Operand) -> array: ...
    def __rlshift__(self, other: _Operand) -> array: ...
    def __rmatmul__(self, other: _Operand) -> array: ...
    def __rmod__(self, other: _Operand) -> array: ...
    def __rmul__(self, other: _Operand) -> array: ...
    def __ror__(self, other: _Operand) -> array: ...
    def __round__(self, ndigits: int | None = None, /) -> array:
        """Round to a number of decimals, halves to even.

        Parameters
        ----------
        ndigits : int, optional
            Number of decimals. Default: None, round to integers.

        Returns
        -------
        array
            Same shape and dtype.

        See Also
        --------
        round

        Examples
        --------
        >>> round(mx.array([1.256, 2.5]), 2)
        array([1.26, 2.5], dtype=float32)
        """

    def __rpow__(self, base: _Operand, modulo: None = None) -> array: ...
    def __rrshift__(self, other: _Operand) -> array: ...
    def __rshift__(self, other: _Operand) -> array: ...
    def __rsub__(self, other: _Operand) -> array: ...
    def __rtruediv__(self, other: _Operand) -> array: ...
    def __rxor__(self, other: _Operand) -> array: ...
    def __setitem__(self, index: _Index, value: _Operand) -> None: ...
    def __setstate__(self, state: Any) -> None: ...
    def __sub__(self, other: _Operand) -> array: ...
    def __truediv__(self, other: _Operand) -> array: ...
    def __trunc__(self) -> int: ...
    def __xor__(self, other: _Operand) -> array: ...
    @property
    def T(self) -> array:
        """The array with its axes in reverse order.

        Returns
        -------
        array
            View.

        See Also
        --------
        mT, transpose

        Examples
        --------
        >>> mx.ones((2, 3, 4)).T.shape
        (4, 3, 2)
        """

    def abs(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute the absolute value of each element; the magnitude of complex numbers.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape. All but `abs` and `square` compute integers in float32.

        See Also
        --------
        umber.core.abs

        Examples
        --------
        >>> mx.array([-2.0, 3.0]).abs()
        array([2, 3], dtype=float32)
        """

    def all(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Test whether all elements over axes are non-zero.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Axes to reduce. Default: all axes.
        keepdims : bool, optional
            Keep reduced axes with length 1. Default: False.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Without the reduced axes, unless `keepdims`.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If an axis occurs twice, or, where the result needs an element, if there is none.

        See Also
        --------
        umber.core.all

        Examples
        --------
        >>> mx.array([[1, 0], [1, 1]]).all(axis=1)
        array([False, True], dtype=bool)
        """

    def any(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Test whether any element over axes is non-zero.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Axes to reduce. Default: all axes.
        keepdims : bool, optional
            Keep reduced axes with length 1. Default: False.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Without the reduced axes, unless `keepdims`.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If an axis occurs twice, or, where the result needs an element, if there is none.

        See Also
        --------
        umber.core.any

        Examples
        --------
        >>> mx.array([[0, 0], [0, 1]]).any(axis=1)
        array([False, True], dtype=bool)
        """

    def argmax(
        self,
        axis: int | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Return the index of the first maximum along an axis.

        Parameters
        ----------
        axis : int, optional
            Axis to reduce. Default: the flattened array.
        keepdims : bool, optional
            Keep the reduced axis with length 1; all axes if `axis` is None. Default: False.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Indices, uint32.

        Raises
        ------
        IndexError
            If the axis is out of bounds.
        ValueError
            If there are no elements.

        See Also
        --------
        umber.core.argmax

        Examples
        --------
        >>> mx.array([[1, 5], [3, 2]]).argmax(axis=1)
        array([1, 0], dtype=uint32)
        """

    def argmin(
        self,
        axis: int | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Return the index of the first minimum along an axis.

        Parameters
        ----------
        axis : int, optional
            Axis to reduce. Default: the flattened array.
        keepdims : bool, optional
            Keep the reduced axis with length 1; all axes if `axis` is None. Default: False.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Indices, uint32.

        Raises
        ------
        IndexError
            If the axis is out of bounds.
        ValueError
            If there are no elements.

        See Also
        --------
        umber.core.argmin

        Examples
        --------
        >>> mx.array([[1, 5], [3, 2]]).argmin(axis=1)
        array([0, 1], dtype=uint32)
        """

    def argpartition(
        self,
        kth: _Axes | array,
        axis: int = ...,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Return the indices that partition the array along an axis about its `kth` element.

        Parameters
        ----------
        kth : int or sequence of int
            Position, along the axis, of the element that gets its sorted place, or positions of several.
        axis : int, optional
            Axis to partition. None partitions the flattened array. Default: -1.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Indices, uint32. No element before position `kth` is larger, none after it is smaller.

        Raises
        ------
        IndexError
            If the axis is out of bounds.
        TypeError
            If `kth` is not an integer or a sequence of integers. Booleans are not.
        ValueError
            If `kth` is empty, or a position in it is out of bounds.

        See Also
        --------
        umber.core.argpartition, partition

        Examples
        --------
        >>> a = mx.array([5, 1, 4, 2])
        >>> a[a.argpartition(1)][:2].max()
        array(2, dtype=int32)
        """

    def argsort(
        self,
        axis: int = ...,
        kind: str | None = None,
        *,
        stable: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Return the indices that sort the array along an axis.

        Parameters
        ----------
        axis : int, optional
            Axis to sort. None sorts the flattened array. Default: -1.
        kind : str, optional
            Accepted for compatibility with NumPy; has no effect.
        stable : bool, optional
            Accepted for compatibility with NumPy; the sort is always stable.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Indices, uint32. Equal elements keep their order; NaN comes last.

        Raises
        ------
        IndexError
            If the axis is out of bounds.

        See Also
        --------
        umber.core.argsort, sort

        Examples
        --------
        >>> mx.array([3, 1, 2]).argsort()
        array([1, 2, 0], dtype=uint32)
        """

    def astype(
        self,
        dtype: _DType,
        stream: _StreamOrDevice = None,
        *,
        copy: builtins.bool = True,
    ) -> array:
        """Convert the elements to another dtype.

        Parameters
        ----------
        dtype : Dtype, str or type
            Target dtype. Python's `bool`, `int`, `float` and `complex` stand for a dtype of that kind.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.
        copy : bool, optional
            If False, return this array where it already has the dtype. Default: True.

        Returns
        -------
        array
            Same shape, of dtype `dtype`.

        Raises
        ------
        TypeError
            If `dtype` does not name a dtype.

        See Also
        --------
        view, umber.core.array

        Notes
        -----
        Floating-point numbers are truncated towards zero when converted to integers; non-zero elements become True.

        `int`, `float` and `complex` keep the width of an array of the same kind (int64 stays int64). For an array of another
        kind they stand for int32, float32 and complex64, or for int64, float64 and complex128 where the narrower dtype would
        lose values.

        Examples
        --------
        >>> mx.array([1.5, -2.5]).astype(mx.int8)
        array([1, -2], dtype=int8)
        """

    @property
    def at(self) -> ArrayAt:
        """Index of functional updates: ``a.at[index].add(value)`` returns a new array.

        Returns
        -------
        ArrayAt
            Object to index with ``[]``. Its methods are `add`, `subtract`, `multiply`, `divide`, `maximum` and `minimum`.

        Notes
        -----
        If an index occurs several times, every occurrence counts, unlike with ``a[index] += value``.

        Examples
        --------
        >>> a = mx.zeros(3)
        >>> a.at[mx.array([0, 0, 2])].add(1)
        array([2, 0, 1], dtype=float32)
        >>> a
        array([0, 0, 0], dtype=float32)
        """

    def clip(
        self,
        min: _Operand | None = None,
        max: _Operand | None = None,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Limit the elements to an interval.

        Parameters
        ----------
        min, max : array_like, optional
            Bounds, broadcast against the array. None sets no bound. Default: None.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            ``minimum(maximum(a, min), max)``.

        Raises
        ------
        ValueError
            If the shapes cannot be broadcast.

        See Also
        --------
        umber.core.clip

        Examples
        --------
        >>> mx.array([1, 5, 9]).clip(2, 8)
        array([2, 5, 8], dtype=int32)
        """

    def compress(
        self,
        condition: _Operand,
        axis: int | None = None,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Select slices along an axis by a condition.

        Parameters
        ----------
        condition : array_like
            One axis, at most as long as the axis; non-zero elements select.
        axis : int, optional
            Axis to select along. Default: the flattened array.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            The selected slices.

        Raises
        ------
        IndexError
            If the axis is out of bounds, or if the condition selects beyond its end.
        ValueError
            If `condition` does not have one axis.

        See Also
        --------
        umber.core.compress, take

        Notes
        -----
        `condition` is evaluated, since the shape of the result depends on it.

        Examples
        --------
        >>> mx.array([[1, 2, 3], [4, 5, 6]]).compress([True, False, True], axis=1)
        array([[1, 3],
               [4, 6]], dtype=int32)
        """

    def conj(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute the complex conjugate of each element.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape and dtype.

        See Also
        --------
        umber.core.conjugate

        Examples
        --------
        >>> mx.array([1 + 2j]).conj()
        array([1-2j], dtype=complex64)
        """

    def conjugate(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute the complex conjugate of each element.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape and dtype.

        See Also
        --------
        umber.core.conjugate, conj

        Examples
        --------
        >>> mx.array([1 + 2j]).conjugate()
        array([1-2j], dtype=complex64)
        """

    def copy(self, order: str = "C") -> array:
        """Return a new array with the same elements.

        Parameters
        ----------
        order : str, optional
            Accepted for compatibility with NumPy; has no effect.

        Returns
        -------
        array
            Same shape and dtype. Updating one of the two arrays in place does not change the other.

        Examples
        --------
        >>> a = mx.array([1, 2])
        >>> b = a.copy()
        >>> b[0] = 5
        >>> a
        array([1, 2], dtype=int32)
        """

    def cos(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute the cosine of each element, in radians.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape. All but `abs` and `square` compute integers in float32.

        See Also
        --------
        umber.core.cos

        Examples
        --------
        >>> mx.array([0.0]).cos()
        array([1], dtype=float32)
        """

    def cummax(
        self,
        axis: int | None = None,
        *,
        reverse: builtins.bool = False,
        inclusive: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute the cumulative maximum along an axis.

        Parameters
        ----------
        axis : int, optional
            Axis to scan. Default: the flattened array.
        reverse : bool, optional
            Scan from the end. Default: False.
        inclusive : bool, optional
            Include the element itself, not only those before it. Default: True.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape, or one axis if `axis` is None.

        Raises
        ------
        IndexError
            If the axis is out of bounds.

        See Also
        --------
        umber.core.cummax

        Examples
        --------
        >>> mx.array([1, 3, 2]).cummax()
        array([1, 3, 3], dtype=int32)
        """

    def cummin(
        self,
        axis: int | None = None,
        *,
        reverse: builtins.bool = False,
        inclusive: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute the cumulative minimum along an axis.

        Parameters
        ----------
        axis : int, optional
            Axis to scan. Default: the flattened array.
        reverse : bool, optional
            Scan from the end. Default: False.
        inclusive : bool, optional
            Include the element itself, not only those before it. Default: True.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape, or one axis if `axis` is None.

        Raises
        ------
        IndexError
            If the axis is out of bounds.

        See Also
        --------
        umber.core.cummin

        Examples
        --------
        >>> mx.array([3, 1, 2]).cummin()
        array([3, 1, 1], dtype=int32)
        """

    def cumprod(
        self,
        axis: int | None = None,
        *,
        reverse: builtins.bool = False,
        inclusive: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute the cumulative product along an axis.

        Parameters
        ----------
        axis : int, optional
            Axis to scan. Default: the flattened array.
        reverse : bool, optional
            Scan from the end. Default: False.
        inclusive : bool, optional
            Include the element itself, not only those before it. Default: True.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape, or one axis if `axis` is None. Same dtype; sums of booleans are int32.

        Raises
        ------
        IndexError
            If the axis is out of bounds.

        See Also
        --------
        umber.core.cumprod

        Examples
        --------
        >>> mx.array([1, 2, 3]).cumprod()
        array([1, 2, 6], dtype=int32)
        """

    def cumsum(
        self,
        axis: int | None = None,
        *,
        reverse: builtins.bool = False,
        inclusive: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute the cumulative sum along an axis.

        Parameters
        ----------
        axis : int, optional
            Axis to scan. Default: the flattened array.
        reverse : bool, optional
            Scan from the end. Default: False.
        inclusive : bool, optional
            Include the element itself, not only those before it. Default: True.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape, or one axis if `axis` is None. Same dtype; sums of booleans are int32.

        Raises
        ------
        IndexError
            If the axis is out of bounds.

        See Also
        --------
        umber.core.cumsum

        Examples
        --------
        >>> mx.array([1, 2, 3]).cumsum()
        array([1, 3, 6], dtype=int32)
        >>> mx.array([1, 2, 3]).cumsum(reverse=True, inclusive=False)
        array([5, 3, 0], dtype=int32)
        """

    @property
    def device(self) -> Device:
        """Device whose memory holds the array.

        Returns
        -------
        Device

        Examples
        --------
        >>> mx.array(1).device
        Device(cpu, 0)
        """

    def diag(self, k: int = 0, *, stream: _StreamOrDevice = None) -> array:
        """Build a diagonal matrix from a vector, or extract a diagonal from a matrix.

        Parameters
        ----------
        k : int, optional
            Diagonal: 0 is the main one, positive ones are above it. Default: 0.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            A square matrix for an array with one axis, a vector for one with two.

        Raises
        ------
        ValueError
            If the array has neither one nor two axes.

        See Also
        --------
        umber.core.diag, diagonal

        Examples
        --------
        >>> mx.array([1, 2]).diag()
        array([[1, 0],
               [0, 2]], dtype=int32)
        >>> mx.array([[1, 2], [3, 4]]).diag()
        array([1, 4], dtype=int32)
        """

    def diagonal(
        self,
        offset: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Return a diagonal of two axes.

        Parameters
        ----------
        offset : int, optional
            Diagonal: 0 is the main one, positive ones are above it. Default: 0.
        axis1, axis2 : int, optional
            Rows and columns of the matrices. Default: 0 and 1.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Without `axis1` and `axis2`, with the diagonal as a new last axis.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If the array has fewer than two axes.

        See Also
        --------
        umber.core.diagonal, trace

        Examples
        --------
        >>> mx.array([[1, 2, 3], [4, 5, 6]]).diagonal(1)
        array([2, 6], dtype=int32)
        """

    def dot(self, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
        """Compute the dot product: over this array's last axis and the second to last (or only) axis of `b`.

        Parameters
        ----------
        b : array_like
            Second operand.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Sum of products; a matrix product for two matrices.

        Raises
        ------
        ValueError
            If the two axes have different lengths.

        See Also
        --------
        umber.core.matmul, umber.core.inner, umber.core.tensordot

        Examples
        --------
        >>> mx.array([[1, 2], [3, 4]]).dot(mx.array([1, 10]))
        array([21, 43], dtype=int32)
        """

    @property
    def dtype(self) -> Dtype:
        """Type of the elements.

        Returns
        -------
        Dtype

        Examples
        --------
        >>> mx.ones((2, 3)).dtype
        umber.core.float32
        """

    def exp(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute the exponential of each element.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape. All but `abs` and `square` compute integers in float32.

        See Also
        --------
        umber.core.exp

        Examples
        --------
        >>> mx.array([0.0, 1.0]).exp()
        array([1, 2.71828], dtype=float32)
        """

    def fill(self, value: _Operand) -> array:
        """Set every element to a number in place, and return the array.

        Parameters
        ----------
        value : scalar
            Number, or array with one element, converted to the dtype.

        Returns
        -------
        array
            This array.

        Raises
        ------
        ValueError
            If `value` is not a single number.

        See Also
        --------
        umber.core.full

        Examples
        --------
        >>> mx.zeros((2, 2)).fill(3)
        array([[3, 3],
               [3, 3]], dtype=float32)
        """

    @property
    def flags(self) -> ArrayFlags:
        """Memory layout of the array, with the names of ``numpy.ndarray.flags``.

        Returns
        -------
        ArrayFlags

        Notes
        -----
        The array is evaluated.

        Examples
        --------
        >>> mx.ones((2, 3)).flags.c_contiguous
        True
        """

    def flatten(
        self,
        start_axis: int = 0,
        end_axis: int = ...,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Merge consecutive axes into one.

        Parameters
        ----------
        start_axis : int, optional
            First axis to merge. Default: 0.
        end_axis : int, optional
            Last axis to merge. Default: -1.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Array with the merged axes; a 0-d array becomes one of shape ``(1,)``.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If `start_axis` comes after `end_axis`.

        See Also
        --------
        umber.core.flatten, ravel, reshape

        Examples
        --------
        >>> mx.ones((2, 3, 4)).flatten(1).shape
        (2, 12)
        """

    @property
    def imag(self) -> array:
        """Imaginary part of each element.

        Returns
        -------
        array
            Same shape; float32 for complex64, float64 for complex128, otherwise zeros of the same dtype.

        See Also
        --------
        real, umber.core.imag

        Examples
        --------
        >>> mx.array([1 + 2j]).imag
        array([2], dtype=float32)
        """

    def item(self) -> Any:
        """Return the element of an array of size 1 as a Python number.

        Returns
        -------
        bool, int, float or complex
            The element.

        Raises
        ------
        ValueError
            If the array does not have exactly one element, or if it has no value because it is traced.

        See Also
        --------
        tolist

        Notes
        -----
        The array is evaluated.

        Examples
        --------
        >>> mx.array([2.5]).item()
        2.5
        """

    @property
    def itemsize(self) -> int:
        """Number of bytes of one element.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.ones((2, 3)).itemsize
        4
        """

    def log(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute the natural logarithm of each element.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape. All but `abs` and `square` compute integers in float32.

        See Also
        --------
        umber.core.log

        Examples
        --------
        >>> mx.array([0.0, 1.0]).log()
        array([-inf, 0], dtype=float32)
        """

    def log10(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute the base-10 logarithm of each element.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape. All but `abs` and `square` compute integers in float32.

        See Also
        --------
        umber.core.log10

        Examples
        --------
        >>> mx.array([1.0, 100.0]).log10()
        array([0, 2], dtype=float32)
        """

    def log1p(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute ``log(1 + a)`` of each element, accurately near zero.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape. All but `abs` and `square` compute integers in float32.

        See Also
        --------
        umber.core.log1p

        Examples
        --------
        >>> mx.array([0.0, 1e-6]).log1p()
        array([0, 1e-06], dtype=float32)
        """

    def log2(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute the base-2 logarithm of each element.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape. All but `abs` and `square` compute integers in float32.

        See Also
        --------
        umber.core.log2

        Examples
        --------
        >>> mx.array([1.0, 8.0]).log2()
        array([0, 3], dtype=float32)
        """

    def logcumsumexp(
        self,
        axis: int | None = None,
        *,
        reverse: builtins.bool = False,
        inclusive: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute ``log(cumsum(exp(a)))`` along an axis, without overflow.

        Parameters
        ----------
        axis : int, optional
            Axis to scan. Default: the flattened array.
        reverse : bool, optional
            Scan from the end. Default: False.
        inclusive : bool, optional
            Include the element itself, not only those before it. Default: True.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape, or one axis if `axis` is None.

        Raises
        ------
        IndexError
            If the axis is out of bounds.

        See Also
        --------
        umber.core.logcumsumexp

        Examples
        --------
        >>> mx.array([0.0, 0.0]).logcumsumexp()
        array([0, 0.693147], dtype=float32)
        """

    def logsumexp(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute ``log(sum(exp(a)))`` over axes, without overflow.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Axes to reduce. Default: all axes.
        keepdims : bool, optional
            Keep reduced axes with length 1. Default: False.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Without the reduced axes, unless `keepdims`.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If an axis occurs twice, or, where the result needs an element, if there is none.

        See Also
        --------
        umber.core.logsumexp

        Examples
        --------
        >>> mx.array([1000.0, 1000.0]).logsumexp()
        array(1000.69, dtype=float32)
        """

    @property
    def mT(self) -> array:
        """The array with its last two axes exchanged.

        Returns
        -------
        array
            View.

        Raises
        ------
        ValueError
            If the array has fewer than two axes.

        See Also
        --------
        T, swapaxes, umber.core.matrix_transpose

        Examples
        --------
        >>> mx.ones((2, 3, 4)).mT.shape
        (2, 4, 3)
        """

    def max(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute the maximum over axes; NaN if any element is NaN.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Axes to reduce. Default: all axes.
        keepdims : bool, optional
            Keep reduced axes with length 1. Default: False.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Without the reduced axes, unless `keepdims`.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If an axis occurs twice, or, where the result needs an element, if there is none.

        See Also
        --------
        umber.core.max

        Examples
        --------
        >>> mx.array([[1, 5], [3, 2]]).max(axis=1)
        array([5, 3], dtype=int32)
        """

    def mean(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        dtype: _DType = None,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute the mean over axes.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Axes to reduce. Default: all axes.
        keepdims : bool, optional
            Keep reduced axes with length 1. Default: False.
        dtype : Dtype or str, optional
            Type to convert the elements to first. Default: their own; float32 for integers and booleans.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Without the reduced axes, unless `keepdims`. NaN where there are no elements.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If an axis occurs twice.

        See Also
        --------
        umber.core.mean, var, std

        Examples
        --------
        >>> mx.array([[1, 2], [3, 5]]).mean(axis=0)
        array([2, 3.5], dtype=float32)
        """

    def min(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute the minimum over axes; NaN if any element is NaN.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Axes to reduce. Default: all axes.
        keepdims : bool, optional
            Keep reduced axes with length 1. Default: False.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Without the reduced axes, unless `keepdims`.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If an axis occurs twice, or, where the result needs an element, if there is none.

        See Also
        --------
        umber.core.min

        Examples
        --------
        >>> mx.array([[1, 5], [3, 2]]).min(axis=1)
        array([1, 2], dtype=int32)
        """

    def moveaxis(
        self,
        source: _Axes,
        destination: _Axes,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Move axes to new positions; the others keep their order.

        Parameters
        ----------
        source : int or sequence of int
            Axes to move.
        destination : int or sequence of int
            Their new positions.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            View with moved axes.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If an axis occurs twice, or if the numbers of axes differ.

        See Also
        --------
        umber.core.moveaxis, transpose

        Examples
        --------
        >>> mx.ones((2, 3, 4)).moveaxis(0, -1).shape
        (3, 4, 2)
        """

    @property
    def nbytes(self) -> int:
        """Number of bytes of all elements.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.ones((2, 3)).nbytes
        24
        """

    @property
    def ndim(self) -> int:
        """Number of axes.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.ones((2, 3)).ndim
        2
        """

    def nonzero(self, *, stream: _StreamOrDevice = None) -> tuple[array, ...]:
        """Return the indices of the non-zero elements.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        tuple of array
            One uint32 array for each axis, in row-major order of the elements.

        Raises
        ------
        ValueError
            If the array has no axes, or if it has no value because it is traced.

        See Also
        --------
        umber.core.nonzero

        Notes
        -----
        The shape of the result depends on values, so the array is evaluated.

        Examples
        --------
        >>> mx.array([0, 3, 0, 4]).nonzero()
        (array([1, 3], dtype=uint32),)
        """

    def partition(
        self,
        kth: _Axes | array,
        axis: int = ...,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Partition the array in place along an axis about its `kth` element, and return it.

        Parameters
        ----------
        kth : int or sequence of int
            Position, along the axis, of the element that gets its sorted place, or positions of several.
        axis : int, optional
            Axis to partition. Default: -1.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            This array. No element before position `kth` is larger, none after it is smaller.

        Raises
        ------
        IndexError
            If the axis is out of bounds.
        TypeError
            If `kth` is not an integer or a sequence of integers. Booleans are not.
        ValueError
            If `kth` is empty, or a position in it is out of bounds.

        See Also
        --------
        umber.core.partition, argpartition

        Examples
        --------
        >>> a = mx.array([5, 1, 4, 2])
        >>> _ = a.partition(1)
        >>> a[1]
        array(2, dtype=int32)
        """

    def prod(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        dtype: _DType = None,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute the product over axes.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Axes to reduce. Default: all axes.
        keepdims : bool, optional
            Keep reduced axes with length 1. Default: False.
        dtype : Dtype or str, optional
            Type to convert the elements to first.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Without the reduced axes, unless `keepdims`. Booleans and narrow integers are widened to
            32 bits unless `dtype` is given.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If an axis occurs twice.

        See Also
        --------
        umber.core.prod

        Examples
        --------
        >>> mx.array([[1, 2], [3, 4]]).prod(axis=0)
        array([3, 8], dtype=int32)
        """

    def ptp(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute the range of values over axes: the maximum minus the minimum.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Axes to reduce. Default: all axes.
        keepdims : bool, optional
            Keep reduced axes with length 1. Default: False.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Without the reduced axes, unless `keepdims`.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If there are no elements.

        See Also
        --------
        max, min

        Examples
        --------
        >>> mx.array([[1, 5], [2, 9]]).ptp(axis=1)
        array([4, 7], dtype=int32)
        """

    def put(
        self,
        indices: _Operand,
        values: _Operand,
        mode: Literal['raise', 'wrap', 'clip'] = "raise",
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Set elements at indices of the flattened array in place, and return the array.

        Parameters
        ----------
        indices : integer array_like
            Indices into the flattened array.
        values : array_like
            New values; repeated if there are fewer than indices.
        mode : {"raise", "wrap", "clip"}, optional
            What to do with indices out of bounds: raise, wrap around, or clip to the valid range. Default: "raise".
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            This array.

        Raises
        ------
        IndexError
            If `mode` is "raise" and an index is out of bounds.

        See Also
        --------
        take, umber.core.put_along_axis

        Examples
        --------
        >>> mx.zeros(4).put([0, 2, 3], [1, 2])
        array([1, 0, 2, 1], dtype=float32)
        """

    def ravel(self, order: str = "C", *, stream: _StreamOrDevice = None) -> array:
        """Return all elements along one axis.

        Parameters
        ----------
        order : {"C", "F"}, optional
            Read elements with the last axis ("C") or the first axis ("F") changing fastest. Default: "C".
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            One axis; a view where the memory layout allows it.

        Raises
        ------
        ValueError
            If `order` is unknown.

        See Also
        --------
        umber.core.ravel, flatten, reshape

        Examples
        --------
        >>> mx.array([[1, 2], [3, 4]]).ravel("F")
        array([1, 3, 2, 4], dtype=int32)
        """

    @property
    def real(self) -> array:
        """Real part of each element.

        Returns
        -------
        array
            Same shape; float32 for complex64, float64 for complex128, otherwise the array itself.

        See Also
        --------
        imag, umber.core.real

        Examples
        --------
        >>> mx.array([1 + 2j]).real
        array([1], dtype=float32)
        """

    def reciprocal(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute ``1 / a`` of each element.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape. All but `abs` and `square` compute integers in float32.

        See Also
        --------
        umber.core.reciprocal

        Examples
        --------
        >>> mx.array([4]).reciprocal()
        array([0.25], dtype=float32)
        """

    def repeat(
        self,
        repeats: int | _Operand,
        axis: int | None = None,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Repeat each element along an axis.

        Parameters
        ----------
        repeats : int or integer array_like
            Number of repetitions: one for all, or one for each element.
        axis : int, optional
            Axis to repeat along. Default: the flattened array.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            The elements, each repeated.

        Raises
        ------
        IndexError
            If the axis is out of bounds.
        ValueError
            If a number of repetitions is negative.

        See Also
        --------
        umber.core.repeat, umber.core.tile

        Examples
        --------
        >>> mx.array([1, 2]).repeat(2)
        array([1, 1, 2, 2], dtype=int32)
        >>> mx.array([1, 2]).repeat(mx.array([3, 1]))
        array([1, 1, 1, 2], dtype=int32)
        """

    def reshape(self, *shape: _Shape, order: str = "C", stream: _StreamOrDevice = None) -> array:
        """Change the shape without changing the elements.

        Parameters
        ----------
        *shape : int or sequence of int
            New shape, as separate integers or one sequence. One length may be -1: it is inferred from the size.
        order : {"C", "F"}, optional
            Read and write elements with the last axis ("C") or the first axis ("F") changing fastest. Default: "C".
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Array of that shape; a view where the memory layout allows it.

        Raises
        ------
        ValueError
            If the sizes differ, if more than one length is -1, or if `order` is unknown.

        See Also
        --------
        umber.core.reshape, flatten, ravel

        Examples
        --------
        >>> mx.arange(6).reshape(2, -1)
        array([[0, 1, 2],
               [3, 4, 5]], dtype=int32)
        """

    def round(self, decimals: int = 0, *, stream: _StreamOrDevice = None) -> array:
        """Round to a number of decimals, halves to even.

        Parameters
        ----------
        decimals : int, optional
            Number of decimals; negative to round to tens, hundreds and so on. Default: 0.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape and dtype.

        See Also
        --------
        umber.core.round

        Examples
        --------
        >>> mx.array([0.5, 1.5, 2.26]).round()
        array([0, 2, 2], dtype=float32)
        >>> mx.array([15, 25]).round(-1)
        array([20, 20], dtype=int32)
        """

    def rsqrt(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute ``1 / sqrt(a)`` of each element.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape. All but `abs` and `square` compute integers in float32.

        See Also
        --------
        umber.core.rsqrt

        Examples
        --------
        >>> mx.array([4.0]).rsqrt()
        array([0.5], dtype=float32)
        """

    def searchsorted(
        self,
        v: _Operand,
        side: Literal['left', 'right'] = "left",
        sorter: _Operand | None = None,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Find the indices at which values would be inserted into this sorted array.

        Parameters
        ----------
        v : array_like
            Values to insert.
        side : {"left", "right"}, optional
            Insert before or after equal elements. Default: "left".
        sorter : integer array_like, optional
            Indices that sort the array, if it is not sorted. Default: None.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Indices, uint32, of the shape of `v`.

        Raises
        ------
        ValueError
            If the array does not have one axis, or if `side` is unknown.

        See Also
        --------
        umber.core.searchsorted, argsort

        Examples
        --------
        >>> mx.array([1, 3, 5]).searchsorted(mx.array([3, 6]))
        array([1, 3], dtype=uint32)
        >>> mx.array([1, 3, 5]).searchsorted(3, side="right")
        array(2, dtype=uint32)
        """

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes.

        Returns
        -------
        tuple of int

        Examples
        --------
        >>> mx.ones((2, 3)).shape
        (2, 3)
        """

    def sin(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute the sine of each element, in radians.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape. All but `abs` and `square` compute integers in float32.

        See Also
        --------
        umber.core.sin

        Examples
        --------
        >>> mx.array([0.0]).sin()
        array([0], dtype=float32)
        """

    @property
    def size(self) -> int:
        """Number of elements.

        Returns
        -------
        int

        Examples
        --------
        >>> mx.ones((2, 3)).size
        6
        """

    def sort(
        self,
        axis: int = ...,
        kind: str | None = None,
        *,
        stable: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Sort the array in place along an axis, and return it.

        Parameters
        ----------
        axis : int, optional
            Axis to sort. Default: -1.
        kind : str, optional
            Accepted for compatibility with NumPy; has no effect.
        stable : bool, optional
            Accepted for compatibility with NumPy; the sort is always stable.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            This array.

        Raises
        ------
        IndexError
            If the axis is out of bounds.

        See Also
        --------
        umber.core.sort, argsort

        Notes
        -----
        `umber.core.sort` returns a new array instead. NaN comes last.

        Examples
        --------
        >>> a = mx.array([3, 1, 2])
        >>> _ = a.sort()
        >>> a
        array([1, 2, 3], dtype=int32)
        """

    def split(
        self,
        indices_or_sections: int | Sequence[int] | array,
        axis: int = 0,
        *,
        stream: _StreamOrDevice = None,
    ) -> list[array]:
        """Split into parts along an axis.

        Parameters
        ----------
        indices_or_sections : int or sequence of int
            Number of equal parts, or the indices before which to split.
        axis : int, optional
            Axis to split. Default: 0.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        list of array
            Views of the parts.

        Raises
        ------
        IndexError
            If the axis is out of bounds.
        ValueError
            If the axis length is not divisible by the number of parts.

        See Also
        --------
        umber.core.split

        Examples
        --------
        >>> mx.arange(5).split([1, 3])
        [array([0], dtype=int32), array([1, 2], dtype=int32), array([3, 4], dtype=int32)]
        """

    def sqrt(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute the square root of each element.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape. All but `abs` and `square` compute integers in float32.

        See Also
        --------
        umber.core.sqrt

        Examples
        --------
        >>> mx.array([4.0, 9.0]).sqrt()
        array([2, 3], dtype=float32)
        """

    def square(self, *, stream: _StreamOrDevice = None) -> array:
        """Compute the square of each element.

        Parameters
        ----------
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape. All but `abs` and `square` compute integers in float32.

        See Also
        --------
        umber.core.square

        Examples
        --------
        >>> mx.array([2, -3]).square()
        array([4, 9], dtype=int32)
        """

    def squeeze(self, axis: _Axes | None = None, *, stream: _StreamOrDevice = None) -> array:
        """Remove axes of length 1.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Axes to remove. Default: all axes of length 1.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            View without these axes.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If an axis has another length than 1.

        See Also
        --------
        umber.core.squeeze, umber.core.expand_dims

        Examples
        --------
        >>> mx.ones((1, 3, 1)).squeeze(0).shape
        (3, 1)
        """

    def std(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        ddof: int = 0,
        *,
        correction: float | None = None,
        dtype: _DType = None,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute the standard deviation over axes.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Axes to reduce. Default: all axes.
        keepdims : bool, optional
            Keep reduced axes with length 1. Default: False.
        ddof : int, optional
            Delta degrees of freedom: the divisor is the number of elements minus `ddof`. Default: 0.
        correction : float, optional
            The array API standard's name for `ddof`, which it overrides.
        dtype : Dtype or str, optional
            Type to convert the elements to first.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Without the reduced axes, unless `keepdims`; float32 for integers.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If an axis occurs twice.

        See Also
        --------
        umber.core.std

        Examples
        --------
        >>> mx.array([1.0, 2.0, 3.0]).std(ddof=1)
        array(1, dtype=float32)
        """

    @property
    def strides(self) -> tuple[int, ...]:
        """Number of bytes between neighbouring elements along each axis.

        Returns
        -------
        tuple of int

        Notes
        -----
        The array is evaluated.

        Examples
        --------
        >>> mx.ones((2, 3)).strides
        (12, 4)
        """

    def sum(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        dtype: _DType = None,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute the sum over axes.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Axes to reduce. Default: all axes.
        keepdims : bool, optional
            Keep reduced axes with length 1. Default: False.
        dtype : Dtype or str, optional
            Type to convert the elements to first.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Without the reduced axes, unless `keepdims`. Booleans and narrow integers are widened to
            32 bits unless `dtype` is given.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If an axis occurs twice.

        See Also
        --------
        umber.core.sum

        Examples
        --------
        >>> mx.array([[1, 2], [3, 4]]).sum(axis=0)
        array([4, 6], dtype=int32)
        >>> mx.array([100, 100], mx.int8).sum()
        array(200, dtype=int32)
        """

    def swapaxes(self, axis1: int, axis2: int, *, stream: _StreamOrDevice = None) -> array:
        """Exchange two axes.

        Parameters
        ----------
        axis1, axis2 : int
            Axes to exchange.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            View with exchanged axes.

        Raises
        ------
        IndexError
            If an axis is out of bounds.

        See Also
        --------
        umber.core.swapaxes, transpose

        Examples
        --------
        >>> mx.ones((2, 3, 4)).swapaxes(0, 2).shape
        (4, 3, 2)
        """

    def take(
        self,
        indices: _Operand,
        axis: int | None = None,
        *,
        mode: str = "raise",
        stream: _StreamOrDevice = None,
    ) -> array:
        """Take elements at indices along an axis.

        Parameters
        ----------
        indices : integer array_like
            Indices, of any shape.
        axis : int, optional
            Axis to index. Default: the flattened array.
        mode : {"raise", "wrap", "clip"}, optional
            What to do with indices out of bounds: raise, wrap around, or clip to the valid range. Negative indices count from
            the end only with "raise". Default: "raise".
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            The axis is replaced by the axes of `indices`.

        Raises
        ------
        TypeError
            If `indices` are not integers.
        IndexError
            If the axis, or with "raise" an index, is out of bounds.

        See Also
        --------
        umber.core.take

        Examples
        --------
        >>> mx.array([[1, 2, 3], [4, 5, 6]]).take(mx.array([2, 0]), axis=1)
        array([[3, 1],
               [6, 4]], dtype=int32)
        """

    def to_device(self, device: _Device, /, *, stream: Stream | None = None) -> array:
        """Transfer the array to the memory of a device.

        Parameters
        ----------
        device : Device, DeviceType or str
            Target: a device, its type, or "cpu" or "gpu".
        stream : Stream, optional
            Stream of the transfer. Default: the default stream of the device.

        Returns
        -------
        array
            On that device; this array if it is there already.

        Raises
        ------
        TypeError
            If `stream` is not a Stream.
        ValueError
            If the device is unknown or not available.

        Examples
        --------
        >>> mx.array([1, 2]).to_device("cpu")
        array([1, 2], dtype=int32)
        """

    def tobytes(self, order: str = "C") -> bytes:
        """Return the bytes of the elements.

        Parameters
        ----------
        order : {"C", "F", "A", "K"}, optional
            Row-major ("C") or column-major ("F") order. "A" means "F" if the array is column-major in memory, else "C". "K" means
            "C". Default: "C".

        Returns
        -------
        bytes

        Raises
        ------
        ValueError
            If `order` is unknown.

        Notes
        -----
        The array is evaluated.

        Examples
        --------
        >>> mx.array([[1, 2], [3, 4]], mx.uint8).tobytes("F")
        b'\\x01\\x03\\x02\\x04'
        """

    def tofile(self, fid: str | PathLike[str] | BinaryIO) -> None:
        """Write the bytes of the elements, in row-major order, to a file.

        Parameters
        ----------
        fid : path or file
            Path, or object with a method `write` for bytes.

        Raises
        ------
        OSError
            If the file cannot be written.

        See Also
        --------
        tobytes, save

        Examples
        --------
        >>> import io
        >>> file = io.BytesIO()
        >>> mx.array([1, 2], mx.uint8).tofile(file)
        >>> file.getvalue()
        b'\\x01\\x02'
        """

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers.

        Returns
        -------
        list, bool, int, float or complex
            One list per axis; a number for a 0-d array.

        Raises
        ------
        ValueError
            If the array has no value because it is traced.

        See Also
        --------
        item

        Notes
        -----
        The array is evaluated.

        Examples
        --------
        >>> mx.array([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """

    def trace(
        self,
        offset: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        dtype: _DType = None,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute the sum of a diagonal.

        Parameters
        ----------
        offset : int, optional
            Diagonal: 0 is the main one, positive ones are above it. Default: 0.
        axis1, axis2 : int, optional
            Rows and columns of the matrices. Default: 0 and 1.
        dtype : Dtype or str, optional
            Type to convert the elements to first.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Without `axis1` and `axis2`.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If the array has fewer than two axes.

        See Also
        --------
        umber.core.trace, diagonal

        Examples
        --------
        >>> mx.array([[1, 2], [3, 4]]).trace()
        array(5, dtype=int32)
        """

    def transpose(self, *axes: _Axes, stream: _StreamOrDevice = None) -> array:
        """Permute the axes.

        Parameters
        ----------
        *axes : int or sequence of int
            New order of the axes, as separate integers or one sequence. Default: reversed.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            View with permuted axes.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If `axes` does not name every axis once.

        See Also
        --------
        umber.core.transpose, swapaxes, moveaxis

        Examples
        --------
        >>> mx.ones((2, 3, 4)).transpose(2, 0, 1).shape
        (4, 2, 3)
        """

    def var(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        ddof: int = 0,
        *,
        correction: float | None = None,
        dtype: _DType = None,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Compute the variance over axes.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Axes to reduce. Default: all axes.
        keepdims : bool, optional
            Keep reduced axes with length 1. Default: False.
        ddof : int, optional
            Delta degrees of freedom: the divisor is the number of elements minus `ddof`. Default: 0.
        correction : float, optional
            The array API standard's name for `ddof`, which it overrides.
        dtype : Dtype or str, optional
            Type to convert the elements to first.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Without the reduced axes, unless `keepdims`; float32 for integers.

        Raises
        ------
        IndexError
            If an axis is out of bounds.
        ValueError
            If an axis occurs twice.

        See Also
        --------
        umber.core.var

        Examples
        --------
        >>> mx.array([1.0, 2.0, 3.0, 4.0]).var()
        array(1.25, dtype=float32)
        """

    def view(self, dtype: _DType, *, stream: _StreamOrDevice = None) -> array:
        """Reinterpret the bytes of the elements as another dtype.

        Parameters
        ----------
        dtype : Dtype, str or type
            New dtype. Python's `int`, `float` and `complex` stand for the dtype of that kind whose real numbers are as wide
            as those of the array.
        stream : Stream or Device, optional
            Where the operation runs. Default: the default stream of the default device.

        Returns
        -------
        array
            Same shape, except that the last axis grows or shrinks with the ratio of the item sizes.

        Raises
        ------
        TypeError
            If `dtype` is a Python type and no dtype of that kind is as wide.
        ValueError
            If the bytes of the last axis are not a whole number of new elements, or if a 0-d array is viewed as a dtype of
            another size.

        See Also
        --------
        umber.core.view, astype

        Examples
        --------
        >>> mx.array([1.0, -1.0]).view(mx.uint32)
        array([1065353216, 3212836864], dtype=uint32)
        >>> mx.array([1.0]).view(mx.uint16)
        array([0, 16256], dtype=uint16)
        """

    def __buffer__(self, flags: int, /) -> memoryview: ...


class custom_function:
    """Function whose derivatives and batching are defined by rules of its own.

    Parameters
    ----------
    f : callable
        The function: takes arrays or pytrees (nested lists, tuples and dicts) of arrays, and returns such.

    Raises
    ------
    TypeError
        If `f` is not callable.

    See Also
    --------
    checkpoint, grad, vmap

    Notes
    -----
    Used as a decorator. The methods `vjp`, `jvp` and `vmap` are decorators that set the rules. Without rules, the object
    behaves as `f`. A transform that has no rule differentiates or batches the operations of `f` itself. With rules, the
    arrays that `f` captures count as constants. Rules are ordinary functions of arrays and may be differentiated, batched
    and compiled themselves.

    Examples
    --------
    >>> @mx.custom_function
    ... def clip_gradient(x):
    ...     return x
    >>> @clip_gradient.vjp
    ... def clip_gradient_vjp(x, cotangent, output):
    ...     return mx.clip(cotangent, -1, 1)
    >>> mx.grad(lambda x: 100 * clip_gradient(x))(mx.array(3.0))
    array(1, dtype=float32)
    """
    def __init__(self, f: Callable[..., Any]) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any: ...
    def __reduce__(self) -> _Text | tuple[Any, ...]:
        """Return the parts that pickle and copy need."""

    def __repr__(self) -> str: ...
    def jvp(self, f: Callable[..., Any]) -> custom_function:
        """Set the rule for Jacobian-vector products.

        Parameters
        ----------
        f : callable
            Called as ``f(primals, tangents, **kwargs)``. `primals` is the positional argument, or a tuple of several.
            `tangents` has the structure of `primals`, with None for arrays that do not change. Returns tangents with the
            structure of the function's result; None stands for zeros.

        Returns
        -------
        custom_function
            This object, so that the method works as a decorator.

        Raises
        ------
        TypeError
            If `f` is not callable.
        ValueError
            When the rule runs: if what it returns differs from the result in structure or shape, or if a keyword argument has
            a tangent.

        See Also
        --------
        custom_function.vjp, custom_function.vmap

        Examples
        --------
        >>> @mx.custom_function
        ... def double(x):
        ...     return 2 * x
        >>> @double.jvp
        ... def double_jvp(x, tangent):
        ...     return 2 * tangent
        >>> mx.jvp(double, [mx.array(3.0)], [mx.array(1.0)])
        ([array(6, dtype=float32)], [array(2, dtype=float32)])
        """

    def vjp(self, f: Callable[..., Any]) -> custom_function:
        """Set the rule for vector-Jacobian products.

        Parameters
        ----------
        f : callable
            Called as ``f(primals, cotangents, outputs, **kwargs)``. `primals` is the positional argument, or a tuple of
            several. `cotangents` and `outputs` have the structure of the function's result. Returns cotangents with the
            structure of `primals`; None stands for zeros.

        Returns
        -------
        custom_function
            This object, so that the method works as a decorator.

        Raises
        ------
        TypeError
            If `f` is not callable.
        ValueError
            When the rule runs: if what it returns differs from `primals` in structure or shape.

        See Also
        --------
        custom_function.jvp, custom_function.vmap

        Notes
        -----
        `outputs` carries this rule as its derivative. So second derivatives of what the rule computes from `outputs` use the
        rule again, never the operations of the function itself.

        Examples
        --------
        >>> @mx.custom_function
        ... def safe_sqrt(x):
        ...     return mx.sqrt(x)
        >>> @safe_sqrt.vjp
        ... def safe_sqrt_vjp(x, cotangent, output):
        ...     return cotangent * 0.5 / mx.maximum(output, 1e-3)
        >>> mx.grad(safe_sqrt)(mx.array(0.0))
        array(500, dtype=float32)
        """

    def vmap(self, f: Callable[..., Any]) -> custom_function:
        """Set the rule for batches.

        Parameters
        ----------
        f : callable
            Called as ``f(inputs, axes, **kwargs)``. `inputs` is the positional argument, or a tuple of several; its arrays
            include their batch axes. `axes` has the structure of `inputs` and holds the batch axis of each array, or None for
            arrays that are the same for the whole batch. Returns a pair: the outputs, and their batch axes (structured like
            the outputs, or one value for all; None for outputs without a batch axis).

        Returns
        -------
        custom_function
            This object, so that the method works as a decorator.

        Raises
        ------
        TypeError
            If `f` is not callable.
        ValueError
            When the rule runs: if it does not return a pair, if the outputs differ from the result in structure, or if a
            keyword argument has a batch axis.

        See Also
        --------
        custom_function.vjp, custom_function.jvp

        Examples
        --------
        >>> @mx.custom_function
        ... def total(x):
        ...     return x.sum()
        >>> @total.vmap
        ... def total_vmap(x, axis):
        ...     return x.sum(axis=[i for i in range(x.ndim) if i != axis]), 0
        >>> mx.vmap(total)(mx.ones((3, 4)))
        array([4, 4, 4], dtype=float32)
        """


class finfo:
    """Numerical limits of a floating-point dtype.

    Parameters
    ----------
    dtype : dtype or array
        Floating-point or complex dtype, or an array of it. For a complex dtype the limits are those of its parts.

    Raises
    ------
    TypeError
        If the dtype is neither floating-point nor complex.

    See Also
    --------
    iinfo

    Notes
    -----
    Attributes: `bits`, `eps`, `max`, `min`, `smallest_normal`, `tiny`, `precision`, `resolution` and `dtype`.

    Examples
    --------
    >>> mx.finfo(mx.float16)
    finfo(min=-65504, max=65504, dtype=float16)
    >>> mx.finfo(mx.float32).eps
    1.1920928955078125e-07
    """
    def __init__(self, dtype: array | _DType) -> None: ...
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def bits(self) -> int:
        """Number of bits of a real number."""

    @property
    def dtype(self) -> Dtype:
        """The dtype that has these limits."""

    @property
    def eps(self) -> float:
        """Distance from 1 to the next larger representable number."""

    @property
    def max(self) -> float:
        """Largest number."""

    @property
    def min(self) -> float:
        """Smallest (most negative) number."""

    @property
    def precision(self) -> int:
        """Number of decimal digits that the dtype represents exactly.

        Returns
        -------
        int
            ``floor(-log10(eps))``.

        Examples
        --------
        >>> mx.finfo(mx.float32).precision
        6
        """

    @property
    def resolution(self) -> float:
        """Decimal resolution of the dtype: ``10 ** -precision``.

        Returns
        -------
        float
            Distance of neighbouring decimal numbers near 1 at this precision.

        Examples
        --------
        >>> mx.finfo(mx.float32).resolution
        1e-06
        """

    @property
    def smallest_normal(self) -> float:
        """Smallest positive normal number."""

    @property
    def tiny(self) -> float:
        """Alias of `smallest_normal`.

        Returns
        -------
        float
            Smallest positive normal number.

        Examples
        --------
        >>> mx.finfo(mx.float16).tiny
        6.103515625e-05
        """


class iinfo:
    """Numerical limits of an integer dtype.

    Parameters
    ----------
    dtype : dtype or array
        Integer dtype, or an array of it.

    Raises
    ------
    TypeError
        If the dtype is not an integer type.

    See Also
    --------
    finfo

    Notes
    -----
    Attributes: `bits`, `max`, `min` and `dtype`.

    Examples
    --------
    >>> mx.iinfo(mx.int8)
    iinfo(min=-128, max=127, dtype=int8)
    """
    def __init__(self, dtype: array | _DType) -> None: ...
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def bits(self) -> int:
        """Number of bits of an element."""

    @property
    def dtype(self) -> Dtype:
        """The dtype that has these limits."""

    @property
    def max(self) -> int:
        """Largest number."""

    @property
    def min(self) -> int:
        """Smallest number."""


def __array_namespace_info__() -> ArrayNamespaceInfo:
    """Return information about this namespace: its capabilities, devices and dtypes.

    Returns
    -------
    ArrayNamespaceInfo

    Examples
    --------
    >>> mx.__array_namespace_info__().default_dtypes().get("real floating")
    umber.core.float32
    """


def abs(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Absolute value of each element; of a complex number its modulus.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`. The dtype of `a`; the real dtype of the same precision for complex numbers, float32 for
        float8.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    fabs, sign

    Notes
    -----
    The minimum of a signed integer dtype has no positive counterpart and stays as it is. The gradient at zero is
    zero.

    Examples
    --------
    >>> mx.abs(mx.array([-2, 3]))
    array([2, 3], dtype=int32)
    >>> mx.abs(mx.array([3 + 4j]))
    array([5], dtype=float32)
    """


absolute = abs

def acos(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Alias of `arccos`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    arccos

    Examples
    --------
    >>> mx.acos(mx.array([1.0, -1.0]))
    array([0, 3.14159], dtype=float32)
    """


def acosh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Alias of `arccosh`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    arccosh

    Examples
    --------
    >>> mx.acosh(mx.array([1.0, 2.0]))
    array([0, 1.31696], dtype=float32)
    """


def add(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Sum of two arrays, element by element: `a + b`.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for float8.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    subtract, multiply

    Notes
    -----
    Integers wrap around on overflow. The sum of booleans is their logical OR.

    Examples
    --------
    >>> mx.add(mx.array([1, 2]), mx.array([[10], [20]]))
    array([[11, 12],
           [21, 22]], dtype=int32)
    """


def addmm(
    c: _Operand,
    a: _Operand,
    b: _Operand,
    /,
    alpha: float = 1.0,
    beta: float = 1.0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Scaled matrix product plus a scaled array: ``alpha * (a @ b) + beta * c``.

    Parameters
    ----------
    c : array_like
        Array that broadcasts to the shape of ``a @ b``.
    a, b : array_like
        Operands of the product, as in `matmul`.
    alpha : float, optional
        Factor of the product. Default: 1.0.
    beta : float, optional
        Factor of `c`. Default: 1.0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of ``a @ b`` in the promoted dtype; float32 for integers where a factor has a fraction.

    Raises
    ------
    ValueError
        If the shapes of `a` and `b` do not match, or `c` does not broadcast.

    See Also
    --------
    matmul

    Notes
    -----
    A term whose factor is zero is left out, even if it holds NaN or infinity.

    Examples
    --------
    >>> mx.addmm(mx.array([1.0, 2.0]), mx.eye(2), mx.eye(2), alpha=2.0, beta=10.0)
    array([[12, 20],
           [10, 22]], dtype=float32)
    """


def all(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Test whether all elements over axes are nonzero.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array without the reduced axes, or with length one for them if `keepdims`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or `where` does not broadcast.

    See Also
    --------
    any, allclose

    Notes
    -----
    NaN is not zero. No elements give True.

    Examples
    --------
    >>> mx.all(mx.array([[1, 0], [1, 1]]), axis=1)
    array([False, True], dtype=bool)
    """


def allclose(
    a: _Operand,
    b: _Operand,
    /,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    *,
    equal_nan: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Test whether all elements of `a` are close to those of `b`.

    Parameters
    ----------
    a, b : array_like
        Arrays to compare; their shapes broadcast.
    rtol : float, optional
        Relative tolerance. Default: 1e-5.
    atol : float, optional
        Absolute tolerance. Default: 1e-8.
    equal_nan : bool, optional
        Whether NaN is close to NaN. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        0-d bool array: ``all(isclose(a, b))``.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    isclose, array_equal

    Examples
    --------
    >>> mx.allclose(mx.array([1.0, 2.0]), mx.array([1.0, 2.000001]))
    array(True, dtype=bool)
    """


amax = max

amin = min

def angle(
    a: _Operand,
    /,
    deg: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Angle of each complex number from the positive real axis.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    deg : bool, optional
        Return degrees instead of radians. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`. The real dtype of the same precision; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    abs, arctan2

    Notes
    -----
    ``arctan2(imag(a), real(a))``, in [-pi, pi]. Real numbers give 0, or pi if negative.

    Examples
    --------
    >>> mx.angle(mx.array([1j, -1]))
    array([1.5708, 3.14159], dtype=float32)
    >>> mx.angle(mx.array([1j, -1]), deg=True)
    array([90, 180], dtype=float32)
    """


def any(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Test whether any element over axes is nonzero.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array without the reduced axes, or with length one for them if `keepdims`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or `where` does not broadcast.

    See Also
    --------
    all, count_nonzero

    Notes
    -----
    NaN is not zero. No elements give False.

    Examples
    --------
    >>> mx.any(mx.array([[1, 0], [0, 0]]), axis=1)
    array([True, False], dtype=bool)
    """


def append(
    arr: _Operand,
    values: _Operand,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Append values to an array along an axis.

    Parameters
    ----------
    arr : array_like
        Input of any shape.
    values : array_like
        Values, of the shape of `arr` except along `axis`.
    axis : int, optional
        Axis to append along. Default: flatten both arrays first.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The joined array, in the promoted dtype of both.

    Raises
    ------
    IndexError
        If `axis` is out of bounds.
    ValueError
        If the shapes differ along another axis.

    See Also
    --------
    insert, concatenate

    Examples
    --------
    >>> mx.append(mx.array([[1, 2]]), mx.array([[3, 4]]), axis=0)
    array([[1, 2],
           [3, 4]], dtype=int32)
    >>> mx.append(mx.array([1, 2]), 3.5)
    array([1, 2, 3.5], dtype=float32)
    """


def apply_along_axis(
    func1d: Callable[..., Any],
    axis: int,
    arr: _Operand,
    *args: Any,
    **kwargs: Any,
) -> array:
    """Apply a function to every 1-D slice of an array along an axis.

    Parameters
    ----------
    func1d : callable
        Called as ``func1d(row, *args, **kwargs)`` with a 1-D array. Returns an array or a number.
    axis : int
        Axis of the slices.
    arr : array_like
        Array of at least one element.
    *args, **kwargs : object
        Further arguments of `func1d`.

    Returns
    -------
    array
        Shape of `arr` with `axis` replaced by the axes of the result of `func1d`.

    Raises
    ------
    ValueError
        If `arr` has no elements.
    IndexError
        If `axis` is out of bounds.
    TypeError
        If `func1d` returns something else than an array or a number.

    See Also
    --------
    vmap, fromfunction

    Notes
    -----
    As in `vmap`, the function is traced once, on a slice without values.

    Examples
    --------
    >>> mx.apply_along_axis(lambda row: row.max() - row.min(), 1, mx.array([[1, 2], [3, 7]]))
    array([1, 4], dtype=int32)
    """


def arange(
    start: float | None = None,
    stop: float | None = None,
    step: float | None = None,
    dtype: _DType = None,
    *,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Create evenly spaced values in a half-open interval, with a given step.

    Parameters
    ----------
    start : int or float, optional
        First value. Default: 0. A single positional argument is `stop`.
    stop : int or float
        End of the interval, which is not part of the result.
    step : int or float, optional
        Distance of neighbouring values; may be negative. Default: 1.
    dtype : dtype, optional
        Dtype of the result. Default: int32 if all numbers are integers (int64 if necessary), otherwise float32.
    device : Device or str, optional
        Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
        `stream`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The values ``start + i * step`` before `stop`, ``ceil((stop - start) / step)`` elements along one axis. An infinite
        step towards `stop` yields `start` alone.

    Raises
    ------
    ValueError
        If the step is zero or NaN, an end is infinite or NaN, or the device is not available.
    TypeError
        If `stop` is missing, an argument is no real number, or the dtype is bool.

    See Also
    --------
    linspace, logspace, geomspace

    Notes
    -----
    The numbers may be arrays of one element; they are evaluated.

    Examples
    --------
    >>> mx.arange(3)
    array([0, 1, 2], dtype=int32)
    >>> mx.arange(1, 2, 0.25)
    array([1, 1.25, 1.5, 1.75], dtype=float32)
    >>> mx.arange(5, 0, -2)
    array([5, 3, 1], dtype=int32)
    """


def arccos(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse cosine of each element, in radians.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    cos, arcsin, arctan

    Notes
    -----
    Real results lie in [0, pi]; real numbers outside of [-1, 1] give NaN.

    Examples
    --------
    >>> mx.arccos(mx.array([1.0, 0.0, -1.0]))
    array([0, 1.5708, 3.14159], dtype=float32)
    """


def arccosh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse hyperbolic cosine of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    cosh, arcsinh, arctanh

    Notes
    -----
    Real results are not negative; real numbers below 1 give NaN.

    Examples
    --------
    >>> mx.arccosh(mx.array([1.0, 2.0]))
    array([0, 1.31696], dtype=float32)
    """


def arcsin(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse sine of each element, in radians.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    sin, arccos, arctan

    Notes
    -----
    Real results lie in [-pi/2, pi/2]; real numbers outside of [-1, 1] give NaN.

    Examples
    --------
    >>> mx.arcsin(mx.array([0.0, 1.0]))
    array([0, 1.5708], dtype=float32)
    """


def arcsinh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse hyperbolic sine of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    sinh, arccosh, arctanh

    Examples
    --------
    >>> mx.arcsinh(mx.array([0.0, 1.0]))
    array([0, 0.881374], dtype=float32)
    """


def arctan(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse tangent of each element, in radians.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    tan, arctan2

    Notes
    -----
    Real results lie in [-pi/2, pi/2]. `arctan2` finds the quadrant of a point as well.

    Examples
    --------
    >>> mx.arctan(mx.array([0.0, mx.inf]))
    array([0, 1.5708], dtype=float32)
    """


def arctan2(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Angle of the point `(b, a)` from the positive x axis, in radians.

    Parameters
    ----------
    a : array_like
        Ordinates (y).
    b : array_like
        Abscissas (x); the shapes of `a` and `b` broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.

    Raises
    ------
    TypeError
        If an operand is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    arctan, angle, hypot

    Notes
    -----
    ``arctan(a / b)`` with the quadrant of the point taken into account: results lie in [-pi, pi].

    Examples
    --------
    >>> mx.arctan2(mx.array([0.0, 1.0, -1.0]), mx.array([-1.0, 0.0, -1.0]))
    array([3.14159, 1.5708, -2.35619], dtype=float32)
    """


def arctanh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse hyperbolic tangent of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    tanh, arcsinh, arccosh

    Notes
    -----
    -1 and 1 give infinities; real numbers outside of [-1, 1] give NaN.

    Examples
    --------
    >>> mx.arctanh(mx.array([0.0, 0.5, 1.0]))
    array([0, 0.549306, inf], dtype=float32)
    """


def argmax(
    a: _Operand,
    /,
    axis: int | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Index of the maximum along an axis.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to search. Default: the flattened array.
    keepdims : bool, optional
        Keep the reduced axis (all axes if `axis` is None) with length one. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        uint32 array of indices: the first one if several elements are the maximum.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If the axis has no elements.

    See Also
    --------
    max, argmin, nanargmax

    Notes
    -----
    NaN counts as the maximum. Without `axis`, the index is that into the flattened array.

    Examples
    --------
    >>> mx.argmax(mx.array([[3, 1, 1], [2, 4, 9]]), axis=1)
    array([0, 2], dtype=uint32)
    >>> mx.argmax(mx.array([[3, 1, 1], [2, 4, 9]]))
    array(5, dtype=uint32)
    """


def argmin(
    a: _Operand,
    /,
    axis: int | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Index of the minimum along an axis.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to search. Default: the flattened array.
    keepdims : bool, optional
        Keep the reduced axis (all axes if `axis` is None) with length one. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        uint32 array of indices: the first one if several elements are the minimum.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If the axis has no elements.

    See Also
    --------
    min, argmax, nanargmin

    Notes
    -----
    NaN counts as the minimum. Without `axis`, the index is that into the flattened array.

    Examples
    --------
    >>> mx.argmin(mx.array([[3, 1, 1], [2, 4, 9]]), axis=1)
    array([1, 0], dtype=uint32)
    >>> mx.argmin(mx.array([[3, 1, 1], [2, 4, 9]]))
    array(1, dtype=uint32)
    """


def argpartition(
    a: _Operand,
    /,
    kth: _Axes | array,
    axis: int = ...,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Compute the indices that partition the elements along an axis.

    Parameters
    ----------
    a : array_like
        Input of any dtype.
    kth : int or sequence of int
        Index of the element, or indices of the elements, in their sorted positions; negative ones count from the end. No
        element before such a position is larger, none after it is smaller.
    axis : int or None, optional
        Axis to partition along; ``None`` partitions the flattened array. Default: -1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Indices, uint32, of the shape of `a` (1-d for ``axis=None``).

    Raises
    ------
    IndexError
        If `axis` is out of bounds.
    TypeError
        If `kth` is not an integer or a sequence of integers. Booleans are not.
    ValueError
        If `kth` is empty, or an index in it is out of bounds.

    See Also
    --------
    partition, argsort, take_along_axis

    Examples
    --------
    >>> mx.argpartition(mx.array([50, 10, 40]), 0)[0]
    array(1, dtype=uint32)
    >>> mx.argpartition(mx.array([50, 10, 40]), [0, -1])
    array([1, 2, 0], dtype=uint32)
    """


def argsort(
    a: _Operand,
    /,
    axis: int = ...,
    *,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
    stream: _StreamOrDevice = None,
) -> array:
    """Compute the indices that sort the elements along an axis.

    Parameters
    ----------
    a : array_like
        Input of any dtype.
    axis : int or None, optional
        Axis to sort along; ``None`` sorts the flattened array. Default: -1.
    descending : bool, optional
        Whether to sort in descending order. Default: False.
    stable : bool, optional
        Accepted for the array API standard. Every sort is stable. Default: True.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Indices, uint32, of the shape of `a` (1-d for ``axis=None``).

    Raises
    ------
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    sort, lexsort, argpartition, take_along_axis

    Notes
    -----
    Equal elements keep their order, also with `descending`. NaN comes last in either order.

    Examples
    --------
    >>> mx.argsort(mx.array([3, 1, 1]))
    array([1, 2, 0], dtype=uint32)
    >>> mx.argsort(mx.array([3, 1, 1]), descending=True)
    array([0, 1, 2], dtype=uint32)
    """


def argwhere(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Find the coordinates of the nonzero elements, one row for each.

    Parameters
    ----------
    a : array_like
        Input of any shape. It is evaluated, since its values determine the shape of the result.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Matrix of shape ``(count, a.ndim)``, uint32, in row-major order of the elements.

    Raises
    ------
    ValueError
        Inside `vmap` and `compile`, where `a` has no value.

    See Also
    --------
    nonzero, flatnonzero

    Examples
    --------
    >>> mx.argwhere(mx.array([[0, 3], [4, 0]]))
    array([[0, 1],
           [1, 0]], dtype=uint32)
    """


around = round

def array_equal(
    a: _Operand,
    b: _Operand,
    equal_nan: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Test whether two arrays have the same shape and equal elements.

    Parameters
    ----------
    a, b : array_like
        Arrays to compare.
    equal_nan : bool, optional
        Whether NaN is equal to NaN. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        0-d bool array. False if the shapes differ.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.

    See Also
    --------
    array_equiv, allclose

    Notes
    -----
    Dtypes may differ; elements are compared in the promoted dtype.

    Examples
    --------
    >>> mx.array_equal(mx.array([1, 2]), mx.array([1.0, 2.0]))
    array(True, dtype=bool)
    >>> mx.array_equal(mx.array([1, 2]), mx.array([[1, 2]]))
    array(False, dtype=bool)
    """


def array_equiv(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Test whether two arrays are equal after broadcasting.

    Parameters
    ----------
    a, b : array_like
        Arrays to compare.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        0-d bool array. False if the shapes do not broadcast.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.

    See Also
    --------
    array_equal, equal

    Examples
    --------
    >>> mx.array_equiv(mx.array([1, 2]), mx.array([[1, 2], [1, 2]]))
    array(True, dtype=bool)
    >>> mx.array_equiv(mx.array([1, 2]), mx.array([1, 2, 3]))
    array(False, dtype=bool)
    """


def array_split(
    ary: _Operand,
    indices_or_sections: int | Sequence[int] | array,
    axis: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> list[array]:
    """Split an array along an axis into parts whose lengths may differ by one.

    Parameters
    ----------
    ary : array_like
        Input of at least one axis.
    indices_or_sections : int or sequence of int
        Number of parts, of which the first ones are longer by one where the length is no multiple of it, or the indices
        before which to split.
    axis : int, optional
        Axis to split along. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    list of array
        Views of `ary`.

    Raises
    ------
    IndexError
        If `axis` is out of bounds.
    ValueError
        If the number of sections is below 1 or above 2**24.

    See Also
    --------
    split

    Examples
    --------
    >>> mx.array_split(mx.arange(5), 3)
    [array([0, 1], dtype=int32), array([2, 3], dtype=int32), array([4], dtype=int32)]
    """


def as_strided(
    a: _Operand,
    /,
    shape: _Shape | None = None,
    strides: Sequence[int] | None = None,
    offset: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """View the flattened array with a given shape, strides and offset.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    shape : int or sequence of int, optional
        Shape of the result. Default: the shape of `a`.
    strides : int or sequence of int, optional
        Stride of each axis, in elements; may be zero or negative. Default: the strides of a row-major array.
    offset : int, optional
        Index of the first element in the flattened array. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The elements ``flatten(a)[offset + sum(index * strides)]``.

    Raises
    ------
    ValueError
        If the view reaches outside of the array, or there is not one stride for each axis.

    See Also
    --------
    reshape, broadcast_to

    Examples
    --------
    >>> mx.as_strided(mx.arange(5), (3, 3), (1, 1))
    array([[0, 1, 2],
           [1, 2, 3],
           [2, 3, 4]], dtype=int32)
    """


def asarray(
    a: _Operand,
    dtype: _DType = None,
    *,
    device: _Device | None = None,
    copy: builtins.bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Return an array that shares memory with an object where possible.

    Parameters
    ----------
    a : array_like
        An array, an object that shares its memory, a number, or a nested sequence.
    dtype : Dtype, str or type, optional
        Type of the elements. Default: that of `a`.
    device : Device, DeviceType or str, optional
        Device of the result. Default: that of the memory of `a`.
    copy : bool, optional
        True always copies, False never does. Default: None, copy only where necessary.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array

    Raises
    ------
    TypeError
        If an array cannot be made of `a`.
    ValueError
        If the device is not available. If `copy` is False and a copy is necessary, the exception is also a BufferError.

    See Also
    --------
    array, from_numpy, from_arrow, set_view_policy

    Notes
    -----
    Memory is requested by these protocols, in this order: the buffer protocol, `__array_interface__`, `__dlpack__`,
    `__arrow_c_array__`, `__arrow_c_stream__`, `__array__`. Operations on memory that its producer can still write run eagerly.

    Examples
    --------
    >>> n = np.zeros(2, dtype=np.float32)
    >>> a = mx.asarray(n)
    >>> n[0] = 5
    >>> a
    array([5, 0], dtype=float32)
    """


def asin(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Alias of `arcsin`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    arcsin

    Examples
    --------
    >>> mx.asin(mx.array([0.0, 1.0]))
    array([0, 1.5708], dtype=float32)
    """


def asinh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Alias of `arcsinh`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    arcsinh

    Examples
    --------
    >>> mx.asinh(mx.array([0.0, 1.0]))
    array([0, 0.881374], dtype=float32)
    """


def associative_scan(
    fn: Callable[..., Any],
    elems: Any,
    reverse: builtins.bool = False,
    axis: int = 0,
) -> Any:
    """Combine all prefixes of sequences with an associative function, in logarithmic depth.

    Parameters
    ----------
    fn : callable
        Called as ``fn(a, b)`` with two trees like `elems`, of slices of the sequences; combines them element by element along
        the axis and returns such a tree. Must be associative; earlier elements are in `a`.
    elems : array or pytree of arrays
        Sequences of equal length along `axis`.
    reverse : bool, optional
        Combine suffixes instead: start at the last element. Default: False.
    axis : int, optional
        Axis of the sequences. Default: 0.

    Returns
    -------
    array or pytree of arrays
        Arrays of the structure, shapes and dtypes of `elems`. Element ``i`` combines elements 0 to ``i``.

    Raises
    ------
    TypeError
        If `fn` is not callable, or returns another structure or other dtypes.
    ValueError
        If `elems` holds no arrays, if lengths differ, or if `fn` returns other shapes.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    scan, cumsum, cumprod

    Notes
    -----
    ``out[i] = fn(out[i - 1], elems[i])``, computed by combining neighbours, scanning these pairs and inserting the prefixes
    between them (Blelloch, "Prefix sums and their applications", 1990): about ``2 n`` combinations in ``2 log2(n)`` calls of
    `fn`. These are recorded as ordinary operations, so all transforms apply. `scan` needs less memory, but its steps run in
    order.

    Examples
    --------
    >>> mx.associative_scan(mx.maximum, mx.array([1, 4, 2, 5, 3]))
    array([1, 4, 4, 5, 5], dtype=int32)
    >>> compose = lambda f, g: (f[0] * g[0], g[0] * f[1] + g[1])
    >>> mx.associative_scan(compose, (mx.full(3, 0.5), mx.ones(3)))[1]
    array([1, 1.5, 1.75], dtype=float32)
    """


def astype(
    a: _Operand,
    dtype: _DType,
    /,
    *,
    copy: builtins.bool = True,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Convert the elements of an array to another dtype.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    dtype : dtype, str or type
        Dtype of the result. Python's `int`, `float` and `complex` keep the width of an array of their kind: int64
        stays int64. For other arrays they stand for int32, float32 and complex64, or for the 64-bit dtype (128-bit
        for complex numbers) if those would lose values that the dtype of `a` holds.
    copy : bool, optional
        If False, return `a` itself if it has the dtype already and is on the device. Default: True.
    device : Device or str, optional
        Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
        `stream`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the same shape with the given dtype.

    Raises
    ------
    TypeError
        If `dtype` names no dtype, or `a` is not convertible to an array.
    ValueError
        If the device is not available.

    See Also
    --------
    view, can_cast, result_type

    Notes
    -----
    Floating-point numbers are truncated towards zero when converted to integers; the result is unspecified for NaN,
    infinities and numbers out of range. Integers wrap around. Complex numbers lose their imaginary part. Everything
    but zero becomes True.

    Examples
    --------
    >>> mx.astype(mx.array([1.7, -1.7]), mx.int32)
    array([1, -1], dtype=int32)
    >>> mx.astype(mx.array([300]), mx.uint8)
    array([44], dtype=uint8)
    >>> mx.astype(mx.array([1], dtype=mx.int64), float).dtype
    umber.core.float64
    """


def async_eval(*args: _Tree) -> None:
    """Start to compute arrays that are still pending, without waiting for them.

    Parameters
    ----------
    *args : array or pytree of arrays
        Arrays, or nested lists, tuples and dicts of them. ``random.state`` counts as its arrays; other objects are ignored.

    See Also
    --------
    eval, synchronize

    Notes
    -----
    Reading one of the arrays waits until it is evaluated. Python can meanwhile record the next operations.

    Examples
    --------
    >>> y = mx.ones((512, 512)) @ mx.ones((512, 512))
    >>> mx.async_eval(y)
    >>> y[0, 0].item()
    512.0
    """


def atan(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Alias of `arctan`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    arctan

    Examples
    --------
    >>> mx.atan(mx.array([0.0, 1.0]))
    array([0, 0.785398], dtype=float32)
    """


def atan2(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Alias of `arctan2`.

    Parameters
    ----------
    a : array_like
        Ordinates (y).
    b : array_like
        Abscissas (x); the shapes of `a` and `b` broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.

    Raises
    ------
    TypeError
        If an operand is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    arctan2

    Examples
    --------
    >>> mx.atan2(mx.array([1.0]), mx.array([1.0]))
    array([0.785398], dtype=float32)
    """


def atanh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Alias of `arctanh`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    arctanh

    Examples
    --------
    >>> mx.atanh(mx.array([0.0, 0.5]))
    array([0, 0.549306], dtype=float32)
    """


def atleast_1d(*arys: array, stream: _StreamOrDevice = None) -> array | list[array]:
    """View arrays with at least one axis.

    Parameters
    ----------
    *arys : array_like
        Inputs. A 0-d array gets shape ``(1,)``; other arrays keep their shape.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array or list of array
        The array for a single input, otherwise a list.

    See Also
    --------
    atleast_2d, atleast_3d, expand_dims

    Examples
    --------
    >>> mx.atleast_1d(3)
    array([3], dtype=int32)
    """


def atleast_2d(*arys: array, stream: _StreamOrDevice = None) -> array | list[array]:
    """View arrays with at least two axes.

    Parameters
    ----------
    *arys : array_like
        Inputs. Missing axes, of length one, are inserted in front: shape ``(n,)`` becomes ``(1, n)``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array or list of array
        The array for a single input, otherwise a list.

    See Also
    --------
    atleast_1d, atleast_3d, expand_dims

    Examples
    --------
    >>> mx.atleast_2d(mx.array([1, 2]))
    array([[1, 2]], dtype=int32)
    """


def atleast_3d(*arys: array, stream: _StreamOrDevice = None) -> array | list[array]:
    """View arrays with at least three axes.

    Parameters
    ----------
    *arys : array_like
        Inputs. Shape ``(n,)`` becomes ``(1, n, 1)``, and shape ``(m, n)`` becomes ``(m, n, 1)``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array or list of array
        The array for a single input, otherwise a list.

    See Also
    --------
    atleast_1d, atleast_2d, expand_dims

    Examples
    --------
    >>> [x.shape for x in mx.atleast_3d(mx.zeros(2), mx.zeros((2, 3)))]
    [(1, 2, 1), (2, 3, 1)]
    """


def average(
    a: _Operand,
    axis: _Axes | None = None,
    weights: _Operand | None = None,
    returned: builtins.bool = False,
    *,
    keepdims: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array | tuple[array, array]:
    """Weighted mean of the elements over axes: `sum(a * weights) / sum(weights)`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    weights : array_like, optional
        Weights, of the shape of `a`, or of the lengths of `axis` (which must be ascending). Default: equal weights,
        as `mean`.
    returned : bool, optional
        Also return the sum of the weights. Default: False.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array or tuple of array
        Weighted mean: float32 if `a` and `weights` are integers or booleans, else their promoted dtype. ``(mean,
        sum_of_weights)``, both of the same shape and dtype, if `returned`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or `weights` has another shape.

    See Also
    --------
    mean, median

    Notes
    -----
    Infinite or NaN where the weights add up to zero.

    Examples
    --------
    >>> mx.average(mx.array([1.0, 4.0]), weights=mx.array([2.0, 1.0]))
    array(2, dtype=float32)
    >>> mx.average(mx.array([1.0, 4.0]), weights=mx.array([2.0, 1.0]), returned=True)
    (array(2, dtype=float32), array(3, dtype=float32))
    """


def bartlett(M: int, *, stream: _StreamOrDevice = None) -> array:
    """Bartlett window: a triangle with zeros at both ends.

    Parameters
    ----------
    M : int
        Number of points. Below 1 the window is empty; for 1 it is ``[1]``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        ``w[n] = 1 - abs(2 * n / (M - 1) - 1)``, float32 of shape ``(M,)``.

    Raises
    ------
    OverflowError
        If the window has more elements than memory can address.

    See Also
    --------
    blackman, hamming, hanning, kaiser

    Notes
    -----
    F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proceedings of the
    IEEE 66 (1978).

    Examples
    --------
    >>> mx.bartlett(5)
    array([0, 0.5, 1, 0.5, 0], dtype=float32)
    """


def bincount(
    x: _Operand,
    /,
    weights: _Operand | None = None,
    minlength: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Count the occurrences of each integer from zero to the maximum.

    Parameters
    ----------
    x : array_like
        Integers or booleans with one axis, none negative.
    weights : array_like, optional
        Weights of the elements, of the shape of `x`, to be summed instead of counted. Default: none.
    minlength : int, optional
        Smallest length of the result. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of length ``max(max(x) + 1, minlength)``: int32 counts, or floating-point sums of `weights` (float32
        for integers).

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    ValueError
        If `x` has not one axis of integers, an element or `minlength` is negative, or `weights` has another shape;
        inside `vmap` and `compile`, as values decide the length.

    See Also
    --------
    histogram, unique

    Notes
    -----
    `x` is evaluated.

    Examples
    --------
    >>> mx.bincount(mx.array([0, 2, 2]))
    array([1, 0, 2], dtype=int32)
    >>> mx.bincount(mx.array([0, 2, 2]), weights=mx.array([0.5, 1.0, 2.0]))
    array([0.5, 0, 3], dtype=float32)
    """


def bitwise_and(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Bitwise AND of two arrays.

    Parameters
    ----------
    a, b : array_like
        Operands of integer or boolean dtypes whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype.

    Raises
    ------
    TypeError
        If an operand is floating or complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    bitwise_or, bitwise_xor, logical_and

    Examples
    --------
    >>> mx.bitwise_and(mx.array([12, 7]), 10)
    array([8, 2], dtype=int32)
    """


def bitwise_count(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Number of bits set in the absolute value of each integer.

    Parameters
    ----------
    a : array_like
        Input of any shape, integer or boolean.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        uint8 array of the same shape as `a`.

    Raises
    ------
    TypeError
        If `a` is floating or complex, or not convertible to an array.

    See Also
    --------
    packbits, bitwise_and

    Examples
    --------
    >>> mx.bitwise_count(mx.array([7, -8, 0]))
    array([3, 1, 0], dtype=uint8)
    """


def bitwise_invert(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Bitwise NOT of each element; logical NOT for booleans.

    Parameters
    ----------
    a : array_like
        Input of any shape, integer or boolean.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape and dtype as `a`.

    Raises
    ------
    TypeError
        If `a` is floating or complex, or not convertible to an array.

    See Also
    --------
    logical_not, bitwise_and

    Notes
    -----
    Of a signed integer this is ``-a - 1``.

    Examples
    --------
    >>> mx.bitwise_invert(mx.array([0, 5]))
    array([-1, -6], dtype=int32)
    >>> mx.bitwise_invert(mx.array([True, False]))
    array([False, True], dtype=bool)
    """


def bitwise_left_shift(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Alias of `left_shift`.

    Parameters
    ----------
    a : array_like
        Integers or booleans to shift.
    b : array_like
        Numbers of bits to shift by; the shapes of `a` and `b` broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; uint8 if both operands are boolean.

    Raises
    ------
    TypeError
        If an operand is floating or complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    left_shift

    Examples
    --------
    >>> mx.bitwise_left_shift(mx.array([1, 3]), 2)
    array([4, 12], dtype=int32)
    """


bitwise_not = bitwise_invert

def bitwise_or(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Bitwise OR of two arrays.

    Parameters
    ----------
    a, b : array_like
        Operands of integer or boolean dtypes whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype.

    Raises
    ------
    TypeError
        If an operand is floating or complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    bitwise_and, bitwise_xor, logical_or

    Examples
    --------
    >>> mx.bitwise_or(mx.array([12, 7]), 10)
    array([14, 15], dtype=int32)
    """


def bitwise_right_shift(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Alias of `right_shift`.

    Parameters
    ----------
    a : array_like
        Integers or booleans to shift.
    b : array_like
        Numbers of bits to shift by; the shapes of `a` and `b` broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; uint8 if both operands are boolean.

    Raises
    ------
    TypeError
        If an operand is floating or complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    right_shift

    Examples
    --------
    >>> mx.bitwise_right_shift(mx.array([8, -8]), 1)
    array([4, -4], dtype=int32)
    """


def bitwise_xor(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Bitwise exclusive OR of two arrays.

    Parameters
    ----------
    a, b : array_like
        Operands of integer or boolean dtypes whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype.

    Raises
    ------
    TypeError
        If an operand is floating or complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    bitwise_and, bitwise_or, logical_xor

    Examples
    --------
    >>> mx.bitwise_xor(mx.array([12, 7]), 10)
    array([6, 13], dtype=int32)
    """


def blackman(M: int, *, stream: _StreamOrDevice = None) -> array:
    """Blackman window: a sum of three cosine terms with small side lobes.

    Parameters
    ----------
    M : int
        Number of points. Below 1 the window is empty; for 1 it is ``[1]``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        ``w[n] = 0.42 - 0.5 * cos(t) + 0.08 * cos(2 * t)`` with ``t = 2 * pi * n / (M - 1)``, float32 of shape ``(M,)``.

    Raises
    ------
    OverflowError
        If the window has more elements than memory can address.

    See Also
    --------
    bartlett, hamming, hanning, kaiser

    Notes
    -----
    F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proceedings of the
    IEEE 66 (1978). The end points are about 1e-17, not exactly zero.

    Examples
    --------
    >>> mx.blackman(5)[1:4]
    array([0.34, 1, 0.34], dtype=float32)
    """


def block(arrays: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Assemble an array from nested lists of blocks.

    Parameters
    ----------
    arrays : nested list of array_like
        Blocks. The innermost lists are joined along the last axis, the lists around them along the axis before it, and so on.
        All blocks are nested equally deep.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The assembled array, in the promoted dtype of all blocks.

    Raises
    ------
    ValueError
        If a list is empty, blocks are nested to different depths or more than 64 levels deep, or shapes do not fit.

    See Also
    --------
    concatenate, stack, hstack, vstack

    Examples
    --------
    >>> mx.block([[mx.eye(2), mx.ones((2, 1))], [mx.zeros((1, 3))]])
    array([[1, 0, 1],
           [0, 1, 1],
           [0, 0, 0]], dtype=float32)
    """


def block_masked_mm(
    a: _Operand,
    b: _Operand,
    /,
    block_size: int = 64,
    mask_out: _Operand | None = None,
    mask_lhs: _Operand | None = None,
    mask_rhs: _Operand | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Matrix product with masked blocks of the operands and the result.

    Parameters
    ----------
    a, b : array_like
        Operands of the product, as in `matmul`.
    block_size : int, optional
        Rows and columns of a block. Blocks at the ends may be smaller. Default: 64.
    mask_out : array_like, optional
        Mask of the result, with one element per block: bool keeps or zeroes a block, numbers scale it. Default: no
        mask.
    mask_lhs, mask_rhs : array_like, optional
        Masks of `a` and `b`. Default: no mask.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of ``a @ b`` in the promoted dtype.

    Raises
    ------
    ValueError
        If the shapes do not match, a mask does not have one element per block, or `block_size` is not positive.

    See Also
    --------
    matmul

    Examples
    --------
    >>> mask = mx.array([[True, False], [True, True]])
    >>> mx.block_masked_mm(mx.array([[1.0, 2.0], [3.0, 4.0]]), mx.eye(2), block_size=1, mask_out=mask)
    array([[1, 0],
           [3, 4]], dtype=float32)
    """


def broadcast_arrays(*arrays: array, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """Broadcast arrays to their common shape.

    Parameters
    ----------
    *arrays : array_like
        Inputs.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    list of array
        Views of the inputs in the common shape. Each keeps its dtype.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    broadcast_to, broadcast_shapes

    Examples
    --------
    >>> [x.shape for x in mx.broadcast_arrays(mx.zeros((2, 1)), mx.zeros(3))]
    [(2, 3), (2, 3)]
    """


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Compute the shape that all given shapes broadcast to.

    Parameters
    ----------
    *shapes : int or sequence of int
        Shapes. Without any the result is ``()``.

    Returns
    -------
    tuple of int
        The common shape. Shapes are aligned at the last axis; a length of one stretches to the other lengths.

    Raises
    ------
    ValueError
        If the shapes do not broadcast, or a length is negative.

    See Also
    --------
    broadcast_to, broadcast_arrays

    Examples
    --------
    >>> mx.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """


def broadcast_to(a: _Operand, /, shape: _Shape, *, stream: _StreamOrDevice = None) -> array:
    """Broadcast an array to a shape.

    Parameters
    ----------
    a : array_like
        Input whose lengths, aligned at the last axis, are equal to those of `shape` or one.
    shape : int or sequence of int
        Shape of the result.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        View of `a` in the new shape; no element is copied.

    Raises
    ------
    ValueError
        If `a` does not broadcast to `shape`.

    See Also
    --------
    broadcast_arrays, broadcast_shapes

    Examples
    --------
    >>> mx.broadcast_to(mx.array([1, 2]), (2, 2))
    array([[1, 2],
           [1, 2]], dtype=int32)
    """


def can_cast(from_: array | _DType, to: _DType) -> builtins.bool:
    """Test whether promotion converts a dtype to another.

    Parameters
    ----------
    from_ : dtype or array
        Source, a dtype or an array of it.
    to : dtype
        Target.

    Returns
    -------
    bool
        Whether ``result_type(from_, to)`` is `to`.

    Raises
    ------
    TypeError
        If an argument has no dtype.

    See Also
    --------
    result_type, issubdtype

    Examples
    --------
    >>> mx.can_cast(mx.int32, mx.float16)
    True
    >>> mx.can_cast(mx.float32, mx.int32)
    False
    """


def cbrt(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Real cube root of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    sqrt, power

    Notes
    -----
    Negative numbers have a negative cube root, whereas ``a ** (1 / 3)`` gives NaN.

    Examples
    --------
    >>> mx.cbrt(mx.array([-8.0, 27.0]))
    array([-2, 3], dtype=float32)
    """


def ceil(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Smallest integer not below each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape and dtype as `a`; float32 for float8. Integers and booleans are returned unchanged.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    floor, trunc, round

    Notes
    -----
    The result has a floating dtype if the input has; use `astype` for integers. The gradient is zero.

    Examples
    --------
    >>> mx.ceil(mx.array([1.2, -1.7]))
    array([2, -1], dtype=float32)
    """


def checkpoint(fun: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that recomputes its intermediate values for the gradient instead of keeping them.

    Parameters
    ----------
    fun : callable
        Function of arrays or pytrees (nested lists, tuples and dicts) of arrays.

    Returns
    -------
    callable
        Takes the arguments of `fun` and returns what `fun` returns.

    Raises
    ------
    TypeError
        If `fun` is not callable.

    See Also
    --------
    grad, scan, umber.nn.utils.checkpoint

    Notes
    -----
    Saves memory at the cost of one more forward pass (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016):
    only the arguments are kept for the gradient. Arrays that `fun` captures, such as parameters of layers, get their
    gradients too. Random numbers are the same in the recomputation.

    Examples
    --------
    >>> block = mx.checkpoint(lambda x: mx.tanh(mx.exp(x) * 0.1))
    >>> mx.grad(lambda x: block(x).sum())(mx.zeros(2))
    array([0.0990066, 0.0990066], dtype=float32)
    """


def choose(
    a: _Operand,
    choices: array | Sequence[_Operand],
    mode: Literal['raise', 'wrap', 'clip'] = "raise",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Select each element from the choice whose number an index array holds.

    Parameters
    ----------
    a : array_like
        Integer indices of choices.
    choices : sequence of array_like
        Arrays to select from. An array counts as the sequence of its elements along axis 0. Indices and choices broadcast.
    mode : {"raise", "wrap", "clip"}, optional
        Treatment of indices out of bounds, negative ones included: ``"raise"`` an error, ``"wrap"`` modulo the number of
        choices, ``"clip"`` to the nearest valid index. Default: ``"raise"``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        ``out[i] = choices[a[i]][i]``, in the promoted dtype of the choices.

    Raises
    ------
    ValueError
        If there are no choices, shapes do not broadcast, the mode is unknown, or in mode ``"raise"`` an index is out of
        bounds.
    TypeError
        If `a` are not integers.

    See Also
    --------
    select, where, take

    Examples
    --------
    >>> mx.choose(mx.array([0, 1, 1]), [mx.array([1, 2, 3]), mx.array([10, 20, 30])])
    array([1, 20, 30], dtype=int32)
    """


def clear_cache() -> None:
    """Release all cached memory to the system.

    See Also
    --------
    get_cache_memory, set_cache_limit

    Examples
    --------
    >>> mx.clear_cache()
    """


def clear_streams() -> None:
    """Wait for this thread's current stream, and release this thread's streams.

    See Also
    --------
    new_stream, synchronize

    Notes
    -----
    Operations go to the default stream again. Streams from `new_stream` remain valid, since other threads may use them.

    Examples
    --------
    >>> mx.clear_streams()
    """


def clip(
    a: _Operand,
    /,
    a_min: _Operand | None = None,
    a_max: _Operand | None = None,
    *,
    min: _Operand | None = None,
    max: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Limit the elements of an array to an interval: `minimum(maximum(a, a_min), a_max)`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    a_min : array_like, optional
        Lower limit; broadcasts with `a`. Default: no limit.
    a_max : array_like, optional
        Upper limit; broadcasts with `a`. Default: no limit.
    min, max : array_like, optional
        The array API standard's names for `a_min` and `a_max`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype.

    Raises
    ------
    TypeError
        If a limit is given under both of its names, or an argument is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer out of the range of the dtype of `a` would limit every element: a lower limit above it,
        or an upper limit below.

    See Also
    --------
    maximum, minimum

    Notes
    -----
    NaN stays NaN. If a lower limit exceeds the upper one, the result is the upper one. A Python integer beyond all
    integers of the dtype of `a` does not limit: a lower limit below the dtype's range, or an upper limit above it.
    At a limit, the gradient flows to the limit.

    Examples
    --------
    >>> mx.clip(mx.array([-1.0, 0.5, 9.0]), 0, 1)
    array([0, 0.5, 1], dtype=float32)
    >>> mx.clip(mx.array([1, 5, 9], dtype=mx.uint8), -5, 6)
    array([1, 5, 6], dtype=uint8)
    """


def column_stack(tup: Sequence[_Operand], *, stream: _StreamOrDevice = None) -> array:
    """Join vectors as columns, and matrices as they are, into a matrix.

    Parameters
    ----------
    tup : sequence of array_like
        Vectors and matrices with the same number of rows.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The joined matrix, in the promoted dtype of all arrays.

    Raises
    ------
    ValueError
        If there are no arrays, or the numbers of rows differ.

    See Also
    --------
    hstack, stack, concatenate

    Examples
    --------
    >>> mx.column_stack([mx.array([1, 2]), mx.array([[3, 4], [5, 6]])])
    array([[1, 3, 4],
           [2, 5, 6]], dtype=int32)
    """


def compile(
    fun: Callable[_P, _R],
    inputs: Any = None,
    outputs: Any = None,
    shapeless: builtins.bool = False,
) -> Callable[_P, _R]:
    """Return a function that records the graph of another one on its first call and replays it later.

    Parameters
    ----------
    fun : callable
        Function of arrays, pytrees (nested lists, tuples and dicts) of arrays, and constants.
    inputs : array or nested list, tuple or dict of arrays, optional
        State that `fun` reads besides its arguments, such as parameters or ``random.state``. Default: None.
    outputs : array or nested list, tuple or dict of arrays, optional
        State that `fun` changes besides returning, such as the state of an optimizer. Default: None.
    shapeless : bool, optional
        Reuse a graph for other axis lengths where that gives the same results as tracing again. Default: False.

    Returns
    -------
    callable
        Takes the arguments of `fun` and returns what `fun` returns.

    Raises
    ------
    TypeError
        If `fun` is not callable, or if `inputs` or `outputs` is not an array or a container; from the returned function,
        if an argument has no hash and is neither an array nor a known constant.
    ValueError
        From the returned function: if `fun` reads the value of an argument, for example by ``x.item()`` or ``if x > 0``.

    See Also
    --------
    disable_compile, enable_compile, export_function

    Notes
    -----
    `fun` is traced again for every new combination of the arguments' structure, shapes and dtypes, of their constants,
    and of the default stream. Constants are numbers (by type and bits), strings, bytes, None, slices, sets, dataclasses
    (by their fields), and other objects (by hash and equality). The 256 combinations used most recently are kept.

    State that is neither an argument nor in `inputs` is fixed when `fun` is traced. Side effects other than changes to
    `outputs` happen only while tracing. If a call raises, the state is unchanged.

    If `fun` is a module or a method of one, and for modules among its arguments, the module is state without being declared:
    each call reads and changes its arrays and `random.state`, and its other attributes, such as its training mode, are
    constants of the call. A module in `inputs` or `outputs` is only what these declare.

    With `shapeless`, a second trace at other lengths decides which axes may vary. Lengths that `fun` reads, and lengths on
    which its graph depends in a way that cannot be determined, still cause a new trace. The results are always those of
    `fun`.

    Examples
    --------
    >>> @mx.compile
    ... def f(x, y):
    ...     print("traced")
    ...     return mx.exp(-x) + y
    >>> f(mx.array(0.0), mx.array(2.0))
    traced
    array(3, dtype=float32)
    >>> f(mx.array(0.0), mx.array(5.0))
    array(6, dtype=float32)
    >>> state = {"count": mx.array(0)}
    >>> def step(x):
    ...     state["count"] = state["count"] + 1
    ...     return x * state["count"]
    >>> step = mx.compile(step, inputs=state, outputs=state)
    >>> step(mx.array(10)).item(), step(mx.array(10)).item(), state["count"].item()
    (10, 20, 2)
    """


def compress(
    condition: _Operand,
    a: _Operand,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Select parts of an array along an axis by a 1-d condition.

    Parameters
    ----------
    condition : array_like
        1-d condition; nonzero elements count as true. Elements beyond its end are not selected. It is evaluated, since it
        determines the shape of the result.
    a : array_like
        Input of any shape.
    axis : int, optional
        Axis to select along. Default: flatten the array first.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The selected parts, in the dtype of `a`.

    Raises
    ------
    IndexError
        If `axis` is out of bounds, or the condition is true beyond the end of the axis.
    ValueError
        If the condition is not 1-d; inside `vmap` and `compile`, where it has no value.

    See Also
    --------
    extract, take

    Examples
    --------
    >>> mx.compress([False, True], mx.array([[1, 2], [3, 4], [5, 6]]), axis=0)
    array([[3, 4]], dtype=int32)
    """


def concat(arrays: Sequence[array], axis: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """Alias of `concatenate`, the name in the array API standard.

    Parameters
    ----------
    arrays : sequence of array_like
        Arrays that have the same shape except along `axis`. An array counts as the sequence of its elements along axis 0.
    axis : int or None, optional
        Axis to join along; ``None`` flattens the arrays first. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The joined array, in the promoted dtype of all arrays.

    Raises
    ------
    IndexError
        If `axis` is out of bounds.
    ValueError
        If there are no arrays, an array is 0-d, or the shapes differ along another axis.
    TypeError
        If `arrays` is not a sequence.

    See Also
    --------
    concatenate

    Examples
    --------
    >>> mx.concat([mx.array([1]), mx.array([2, 3])])
    array([1, 2, 3], dtype=int32)
    """


def concatenate(
    arrays: Sequence[array],
    axis: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Join arrays along an existing axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Arrays that have the same shape except along `axis`. An array counts as the sequence of its elements along axis 0.
    axis : int or None, optional
        Axis to join along; ``None`` flattens the arrays first. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The joined array, in the promoted dtype of all arrays.

    Raises
    ------
    IndexError
        If `axis` is out of bounds.
    ValueError
        If there are no arrays, an array is 0-d, or the shapes differ along another axis.
    TypeError
        If `arrays` is not a sequence.

    See Also
    --------
    stack, split, block, hstack, vstack

    Examples
    --------
    >>> mx.concatenate([mx.array([[1, 2]]), mx.array([[3.5, 4.5]])])
    array([[1, 2],
           [3.5, 4.5]], dtype=float32)
    """


def cond(
    pred: _Operand,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
) -> Any:
    """Return ``true_fun(*operands)`` if a scalar condition holds, otherwise ``false_fun(*operands)``.

    Parameters
    ----------
    pred : scalar array_like
        Condition; numbers count as true unless zero.
    true_fun, false_fun : callable
        Functions of the operands. Both return arrays of the same structure, shapes and dtypes.
    *operands : array_like or pytree of array_like
        Arguments of the chosen function.

    Returns
    -------
    array or pytree of arrays
        What the chosen function returns.

    Raises
    ------
    TypeError
        If the functions return different dtypes or structures, or if one of them is not callable.
    ValueError
        If `pred` is not a scalar, if the functions return different shapes, or if one reads the value of an operand.

    See Also
    --------
    switch, where, while_loop

    Notes
    -----
    Both functions are traced once, on arrays without values, but only the chosen one is executed. Gradients are those of
    the branch that is executed. Under `vmap` with a batched `pred`, both branches are executed and their results are
    selected.

    Examples
    --------
    >>> f = lambda x: mx.cond(x > 0, mx.sqrt, mx.negative, x)
    >>> f(mx.array(9.0)), f(mx.array(-4.0))
    (array(3, dtype=float32), array(4, dtype=float32))
    """


def conj(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Alias of `conjugate`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape and dtype as `a`. Real arrays are returned unchanged.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    conjugate

    Examples
    --------
    >>> mx.conj(mx.array([1 + 2j]))
    array([1-2j], dtype=complex64)
    """


def conjugate(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Complex conjugate of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape and dtype as `a`. Real arrays are returned unchanged.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    real, imag

    Examples
    --------
    >>> mx.conjugate(mx.array([1 + 2j, 3 - 4j]))
    array([1-2j, 3+4j], dtype=complex64)
    """


def contiguous(
    a: _Operand,
    /,
    allow_col_major: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Copy an array into contiguous row-major memory, unless it is stored that way already.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    allow_col_major : bool, optional
        Accepted for compatibility with MLX. The result is row-major in either case. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array equal to `a`. It shares memory with `a` only if `a` is row-major and its memory holds little else.

    See Also
    --------
    as_strided

    Examples
    --------
    >>> x = mx.contiguous(mx.array([[1, 2], [3, 4]]).T)
    >>> np.asarray(x).strides
    (8, 4)
    """


def conv1d(
    input: _Operand,
    weight: _Operand,
    /,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Convolution over one spatial axis.

    Parameters
    ----------
    input : array_like
        Shape ``(N, L, C)``: batch, length, channels.
    weight : array_like
        Shape ``(O, K, C / groups)``: output channels, kernel, input channels.
    stride : int or sequence of int, optional
        Step of the kernel; one number for all spatial axes or one for each. Default: 1.
    padding : int or sequence of int, optional
        Zeros on both sides of each spatial axis. A negative number crops. Default: 0.
    dilation : int or sequence of int, optional
        Distance between the elements of the kernel. Default: 1.
    groups : int, optional
        Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
        1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(N, L_out, O)`` in the promoted dtype, with
        ``L_out = (L + 2 * padding - dilation * (K - 1) - 1) // stride + 1``.

    Raises
    ------
    ValueError
        If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
        another number of axes, or the kernel is longer than the padded input.

    See Also
    --------
    conv_general, conv_transpose1d, convolve

    Notes
    -----
    The kernel is not flipped, as usual in machine learning. Integers are exact and wrap on overflow; float16 and
    bfloat16 are summed in float32 and rounded once.

    Examples
    --------
    >>> x, w = mx.array([1.0, 2.0, 4.0]).reshape(1, 3, 1), mx.array([1.0, -1.0]).reshape(1, 2, 1)
    >>> mx.conv1d(x, w).flatten()
    array([-1, -2], dtype=float32)
    """


def conv2d(
    input: _Operand,
    weight: _Operand,
    /,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Convolution over two spatial axes.

    Parameters
    ----------
    input : array_like
        Shape ``(N, H, W, C)``: batch, height, width, channels.
    weight : array_like
        Shape ``(O, KH, KW, C / groups)``: output channels, kernel, input channels.
    stride : int or sequence of int, optional
        Step of the kernel; one number for all spatial axes or one for each. Default: 1.
    padding : int or sequence of int, optional
        Zeros on both sides of each spatial axis. A negative number crops. Default: 0.
    dilation : int or sequence of int, optional
        Distance between the elements of the kernel. Default: 1.
    groups : int, optional
        Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
        1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(N, H_out, W_out, O)`` in the promoted dtype, with
        ``H_out = (H + 2 * padding - dilation * (KH - 1) - 1) // stride + 1`` and `W_out` alike.

    Raises
    ------
    ValueError
        If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
        another number of axes, or the kernel is longer than the padded input.

    See Also
    --------
    conv_general, conv_transpose2d

    Notes
    -----
    The kernel is not flipped, as usual in machine learning. Integers are exact and wrap on overflow; float16 and
    bfloat16 are summed in float32 and rounded once.

    Examples
    --------
    >>> mx.conv2d(mx.ones((1, 32, 32, 3)), mx.ones((16, 3, 3, 3)), stride=2, padding=1).shape
    (1, 16, 16, 16)
    """


def conv3d(
    input: _Operand,
    weight: _Operand,
    /,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Convolution over three spatial axes.

    Parameters
    ----------
    input : array_like
        Shape ``(N, D, H, W, C)``: batch, depth, height, width, channels.
    weight : array_like
        Shape ``(O, KD, KH, KW, C / groups)``: output channels, kernel, input channels.
    stride : int or sequence of int, optional
        Step of the kernel; one number for all spatial axes or one for each. Default: 1.
    padding : int or sequence of int, optional
        Zeros on both sides of each spatial axis. A negative number crops. Default: 0.
    dilation : int or sequence of int, optional
        Distance between the elements of the kernel. Default: 1.
    groups : int, optional
        Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
        1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(N, D_out, H_out, W_out, O)`` in the promoted dtype, with
        ``D_out = (D + 2 * padding - dilation * (KD - 1) - 1) // stride + 1`` and `H_out`, `W_out` alike.

    Raises
    ------
    ValueError
        If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
        another number of axes, or the kernel is longer than the padded input.

    See Also
    --------
    conv_general, conv_transpose3d

    Notes
    -----
    The kernel is not flipped, as usual in machine learning. Integers are exact and wrap on overflow; float16 and
    bfloat16 are summed in float32 and rounded once.

    Examples
    --------
    >>> mx.conv3d(mx.ones((1, 4, 8, 8, 2)), mx.ones((5, 3, 3, 3, 2))).shape
    (1, 2, 6, 6, 5)
    """


def conv_general(
    input: _Operand,
    weight: _Operand,
    /,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] | Sequence[Sequence[int]] = 0,
    kernel_dilation: int | Sequence[int] = 1,
    input_dilation: int | Sequence[int] = 1,
    groups: int = 1,
    flip: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Convolution over any number of spatial axes.

    Parameters
    ----------
    input : array_like
        Shape ``(N, ..., C)``: batch, spatial axes, channels.
    weight : array_like
        Shape ``(O, ..., C / groups)``: output channels, kernel, input channels.
    stride : int or sequence of int, optional
        Step of the kernel; one number for all spatial axes or one for each. Default: 1.
    padding : int, sequence of int or pair of sequences of int, optional
        Zeros on both sides of each spatial axis, or the zeros before and the zeros after. A negative number crops.
        Default: 0.
    kernel_dilation : int or sequence of int, optional
        Distance between the elements of the kernel. Default: 1.
    input_dilation : int or sequence of int, optional
        Distance between the elements of the input, with zeros between them. Default: 1.
    groups : int, optional
        Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
        1.
    flip : bool, optional
        Flip the kernel along its spatial axes, as in the convolution of mathematics. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(N, ..., O)`` in the promoted dtype:
        ``out[n, o, c] = sum(x[n, o * stride + t * kernel_dilation - padding, i] * weight[c, t, i])`` over `t` and `i`.

    Raises
    ------
    ValueError
        If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
        another number of axes, or the kernel is longer than the padded input.
    TypeError
        If an option is not an integer or a sequence of integers.

    See Also
    --------
    conv1d, conv2d, conv3d, convolve

    Notes
    -----
    Integers are exact and wrap on overflow; float16 and bfloat16 are summed in float32 and rounded once.

    Examples
    --------
    >>> x, w = mx.array([1.0, 2.0, 4.0]).reshape(1, 3, 1), mx.array([1.0, -1.0]).reshape(1, 2, 1)
    >>> mx.conv_general(x, w, padding=([1], [0])).flatten()
    array([-1, -1, -2], dtype=float32)
    >>> mx.conv_general(x, w, flip=True).flatten()
    array([1, 2], dtype=float32)
    """


def conv_transpose1d(
    input: _Operand,
    weight: _Operand,
    /,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Transposed convolution over one spatial axis: the derivative of `conv1d` with respect to its input.

    Parameters
    ----------
    input : array_like
        Shape ``(N, L, C)``: batch, length, channels.
    weight : array_like
        Shape ``(O, K, C / groups)``: output channels, kernel, input channels.
    stride : int or sequence of int, optional
        Step of the convolution, which is the distance between input elements in the result; one number or one for each
        axis. Default: 1.
    padding : int or sequence of int, optional
        Elements cropped from both ends of the result. Default: 0.
    dilation : int or sequence of int, optional
        Distance between the elements of the kernel. Default: 1.
    output_padding : int or sequence of int, optional
        Elements added to the end of the result. Default: 0.
    groups : int, optional
        Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
        1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(N, L_out, O)`` in the promoted dtype, with
        ``L_out = (L - 1) * stride - 2 * padding + dilation * (K - 1) + 1 + output_padding``.

    Raises
    ------
    ValueError
        If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
        another number of axes, or the result is empty.

    See Also
    --------
    conv1d

    Examples
    --------
    >>> x, w = mx.array([1.0, 2.0]).reshape(1, 2, 1), mx.array([1.0, 10.0]).reshape(1, 2, 1)
    >>> mx.conv_transpose1d(x, w, stride=2).flatten()
    array([1, 10, 2, 20], dtype=float32)
    """


def conv_transpose2d(
    input: _Operand,
    weight: _Operand,
    /,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Transposed convolution over two spatial axes: the derivative of `conv2d` with respect to its input.

    Parameters
    ----------
    input : array_like
        Shape ``(N, H, W, C)``: batch, height, width, channels.
    weight : array_like
        Shape ``(O, KH, KW, C / groups)``: output channels, kernel, input channels.
    stride : int or sequence of int, optional
        Step of the convolution, which is the distance between input elements in the result; one number or one for each
        axis. Default: 1.
    padding : int or sequence of int, optional
        Elements cropped from both ends of the result. Default: 0.
    dilation : int or sequence of int, optional
        Distance between the elements of the kernel. Default: 1.
    output_padding : int or sequence of int, optional
        Elements added to the end of the result. Default: 0.
    groups : int, optional
        Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
        1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(N, H_out, W_out, O)`` in the promoted dtype, with
        ``H_out = (H - 1) * stride - 2 * padding + dilation * (KH - 1) + 1 + output_padding`` and `W_out` alike.

    Raises
    ------
    ValueError
        If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
        another number of axes, or the result is empty.

    See Also
    --------
    conv2d

    Examples
    --------
    >>> mx.conv_transpose2d(mx.ones((1, 8, 8, 16)), mx.ones((4, 2, 2, 16)), stride=2).shape
    (1, 16, 16, 4)
    """


def conv_transpose3d(
    input: _Operand,
    weight: _Operand,
    /,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Transposed convolution over three spatial axes: the derivative of `conv3d` by its input.

    Parameters
    ----------
    input : array_like
        Shape ``(N, D, H, W, C)``: batch, depth, height, width, channels.
    weight : array_like
        Shape ``(O, KD, KH, KW, C / groups)``: output channels, kernel, input channels.
    stride : int or sequence of int, optional
        Step of the convolution, which is the distance between input elements in the result; one number or one for each
        axis. Default: 1.
    padding : int or sequence of int, optional
        Elements cropped from both ends of the result. Default: 0.
    dilation : int or sequence of int, optional
        Distance between the elements of the kernel. Default: 1.
    output_padding : int or sequence of int, optional
        Elements added to the end of the result. Default: 0.
    groups : int, optional
        Number of groups of channels. Output channels of a group see only the input channels of the same group. Default:
        1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(N, D_out, H_out, W_out, O)`` in the promoted dtype, with
        ``D_out = (D - 1) * stride - 2 * padding + dilation * (KD - 1) + 1 + output_padding`` and `H_out`, `W_out`
        alike.

    Raises
    ------
    ValueError
        If the shapes do not match, `groups` does not divide the channels, an option is out of range or given for
        another number of axes, or the result is empty.

    See Also
    --------
    conv3d

    Examples
    --------
    >>> mx.conv_transpose3d(mx.ones((1, 2, 4, 4, 3)), mx.ones((5, 2, 2, 2, 3)), stride=2).shape
    (1, 4, 8, 8, 5)
    """


def convolve(
    a: _Operand,
    v: _Operand,
    /,
    mode: str = "full",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete convolution of two 1-D arrays: ``out[k] = sum_i a[i] * v[k - i]``.

    Parameters
    ----------
    a, v : array_like
        1-D arrays of at least one element.
    mode : {'full', 'same', 'valid'}, optional
        'full' returns every overlap, ``len(a) + len(v) - 1`` elements; 'same' the middle ``max(len(a), len(v))`` of
        them; 'valid' only complete overlaps. Default: 'full'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        One axis, promoted dtype.

    Raises
    ------
    ValueError
        If an array is empty or not 1-D, or `mode` is unknown.

    See Also
    --------
    correlate, conv1d

    Examples
    --------
    >>> mx.convolve(mx.array([1.0, 2.0, 3.0]), mx.array([0.0, 1.0, 0.5]))
    array([0, 1, 2.5, 4, 1.5], dtype=float32)
    """


def copysign(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Magnitude of `a` with the sign of `b`.

    Parameters
    ----------
    a : array_like
        Magnitudes, of a real dtype.
    b : array_like
        Signs, of a real dtype; the shapes of `a` and `b` broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.

    Raises
    ------
    TypeError
        If an operand is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    signbit, sign

    Notes
    -----
    The sign of zero and of NaN counts.

    Examples
    --------
    >>> mx.copysign(mx.array([3.0, -1.0]), mx.array([-0.0, 2.0]))
    array([-3, 1], dtype=float32)
    """


def corrcoef(
    x: _Operand,
    y: _Operand | None = None,
    rowvar: builtins.bool = True,
    *,
    dtype: _DType = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Pearson correlation coefficients of variables.

    Parameters
    ----------
    x : array_like
        Observations of one variable (at most one axis) or several (a matrix).
    y : array_like, optional
        More variables with the same number of observations, appended to those of `x`. Default: none.
    rowvar : bool, optional
        Each row of a matrix is a variable and each column an observation; the other way round if False. Default:
        True.
    dtype : dtype, str or type, optional
        Dtype to compute in and of the result; float32 if it is not inexact. Default: float32 for integers and
        booleans, else the promoted dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Symmetric matrix (Hermitian for complex numbers) of coefficients in [-1, 1]; for one variable 1, 0-d.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    ValueError
        If `x` or `y` has more than two axes, or the numbers of observations differ.

    See Also
    --------
    cov

    Notes
    -----
    ``c[i, j] / sqrt(c[i, i] * c[j, j])`` with the covariance matrix ``c``. NaN for a variable that does not vary.

    Examples
    --------
    >>> mx.corrcoef(mx.array([[0.0, 1.0, 2.0], [4.0, 2.0, 0.0]]))
    array([[1, -1],
           [-1, 1]], dtype=float32)
    """


def correlate(
    a: _Operand,
    v: _Operand,
    /,
    mode: str = "valid",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Cross-correlation of two 1-D arrays: ``out[k] = sum_i a[i + k] * conj(v[i])``.

    Parameters
    ----------
    a, v : array_like
        1-D arrays of at least one element.
    mode : {'full', 'same', 'valid'}, optional
        'full' returns every overlap, ``len(a) + len(v) - 1`` elements; 'same' the middle ``max(len(a), len(v))`` of
        them; 'valid' only complete overlaps. Default: 'valid'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        One axis, promoted dtype.

    Raises
    ------
    ValueError
        If an array is empty or not 1-D, or `mode` is unknown.

    See Also
    --------
    convolve

    Examples
    --------
    >>> mx.correlate(mx.array([1.0, 2.0, 3.0]), mx.array([0.0, 1.0, 0.5]))
    array([3.5], dtype=float32)
    """


def cos(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Cosine of each element, an angle in radians.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    arccos, sin, tan

    Examples
    --------
    >>> mx.cos(mx.array([0.0, mx.pi]))
    array([1, -1], dtype=float32)
    """


def cosh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Hyperbolic cosine of each element: `(exp(a) + exp(-a)) / 2`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    arccosh, sinh, tanh

    Examples
    --------
    >>> mx.cosh(mx.array([0.0, 1.0]))
    array([1, 1.54308], dtype=float32)
    """


def count_nonzero(
    a: _Operand,
    /,
    *,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Count the nonzero elements over axes.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to count over. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        int32 array without the reduced axes, or with length one for them if `keepdims`; int64 if int32 cannot count
        the elements.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice.

    See Also
    --------
    any, nonzero, sum

    Notes
    -----
    NaN is not zero.

    Examples
    --------
    >>> mx.count_nonzero(mx.array([[0.0, 2.0], [mx.nan, 1.0]]), axis=1)
    array([1, 2], dtype=int32)
    """


def cov(
    m: _Operand,
    y: _Operand | None = None,
    rowvar: builtins.bool = True,
    bias: builtins.bool = False,
    ddof: int | None = None,
    fweights: _Operand | None = None,
    aweights: _Operand | None = None,
    *,
    dtype: _DType = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Covariance matrix of variables.

    Parameters
    ----------
    m : array_like
        Observations of one variable (at most one axis) or several (a matrix).
    y : array_like, optional
        More variables with the same number of observations, appended to those of `m`. Default: none.
    rowvar : bool, optional
        Each row of a matrix is a variable and each column an observation; the other way round if False. Default:
        True.
    bias : bool, optional
        Divide by the number of observations ``n`` instead of ``n - 1``. Default: False.
    ddof : int, optional
        Divide by ``n - ddof``; takes precedence over `bias`. Default: 1, or 0 with `bias`.
    fweights : array_like of int, optional
        How many times each observation occurs. Default: once.
    aweights : array_like, optional
        Importance of each observation. Default: equal.
    dtype : dtype, str or type, optional
        Dtype to compute in and of the result; float32 if it is not inexact. Default: float32 for integers and
        booleans, else the promoted dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Symmetric matrix (Hermitian for complex numbers) of the covariances; for one variable its variance, 0-d.

    Raises
    ------
    TypeError
        If `fweights` is not of an integer dtype, or an argument is not convertible to an array.
    ValueError
        If `m` or `y` has more than two axes, the numbers of observations differ, or weights have another shape or are
        negative. Inside `vmap` and `compile`, values of weights are not checked.

    See Also
    --------
    corrcoef, var

    Notes
    -----
    ``sum(w * (x - mean(x)) * conj(y - mean(y))) / (n - ddof)`` with the weights ``w = fweights * aweights`` and ``n
    = sum(w)``. With `aweights`, `ddof` is multiplied by ``sum(w * aweights) / sum(w)``.

    Examples
    --------
    >>> mx.cov(mx.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    array([[1, -1],
           [-1, 1]], dtype=float32)
    >>> mx.cov(mx.array([1.0, 2.0, 4.0]), ddof=0)
    array(1.55556, dtype=float32)
    """


def cross(
    a: _Operand,
    b: _Operand,
    axis: int | None = None,
    *,
    axisa: int = ...,
    axisb: int = ...,
    axisc: int = ...,
    stream: _StreamOrDevice = None,
) -> array:
    """Cross product of vectors of length 3 (or 2, with a third element of 0).

    Parameters
    ----------
    a, b : array_like
        Arrays of vectors. Other axes broadcast.
    axis : int, optional
        Axis of the vectors in `a`, `b` and the result. Default: `axisa`, `axisb` and `axisc` apply.
    axisa, axisb, axisc : int, optional
        Axes of the vectors in `a`, in `b` and in the result. Ignored where `axis` is given. Default: -1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Vectors of length 3 in the promoted dtype.

    Raises
    ------
    ValueError
        If the vectors have another length, or the other axes do not broadcast.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    outer, vecdot

    Notes
    -----
    Two vectors of length 2 give a vector of length 3, unlike in NumPy.

    Examples
    --------
    >>> mx.linalg.cross(mx.array([1, 0, 0]), mx.array([0, 1, 0]))
    array([0, 0, 1], dtype=int32)
    """


def cummax(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: builtins.bool = False,
    inclusive: builtins.bool = True,
    stream: _StreamOrDevice = None,
) -> array:
    """Cumulative maximum along an axis.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to accumulate along. Default: the flattened array.
    reverse : bool, optional
        Accumulate from the end of the axis. Default: False.
    inclusive : bool, optional
        Include each element in its own result; otherwise results are shifted by one and start from the lowest value
        of the dtype (negative infinity for floating dtypes). Default: True.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape of `a`, or one axis without `axis`. The dtype is that of `a`; float32 for float8.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    cummin, max

    Notes
    -----
    NaN makes itself and all later results NaN.

    Examples
    --------
    >>> mx.cummax(mx.array([1, 3, 2, 5]))
    array([1, 3, 3, 5], dtype=int32)
    >>> mx.cummax(mx.array([1.0, 3.0, 2.0]), inclusive=False)
    array([-inf, 1, 3], dtype=float32)
    """


def cummin(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: builtins.bool = False,
    inclusive: builtins.bool = True,
    stream: _StreamOrDevice = None,
) -> array:
    """Cumulative minimum along an axis.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to accumulate along. Default: the flattened array.
    reverse : bool, optional
        Accumulate from the end of the axis. Default: False.
    inclusive : bool, optional
        Include each element in its own result; otherwise results are shifted by one and start from the highest
        value of the dtype (infinity for floating dtypes). Default: True.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape of `a`, or one axis without `axis`. The dtype is that of `a`; float32 for float8.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    cummax, min

    Notes
    -----
    NaN makes itself and all later results NaN.

    Examples
    --------
    >>> mx.cummin(mx.array([3, 1, 2, 0]))
    array([3, 1, 1, 0], dtype=int32)
    """


def cumprod(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: builtins.bool = False,
    inclusive: builtins.bool = True,
    dtype: _DType = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Cumulative product along an axis.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to accumulate along. Default: the flattened array.
    reverse : bool, optional
        Accumulate from the end of the axis. Default: False.
    inclusive : bool, optional
        Include each element in its own result; otherwise results are shifted by one and start from one. Default:
        True.
    dtype : dtype, str or type, optional
        Dtype to compute in and of the result. Default: that of `a`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape of `a`, or one axis without `axis`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    prod, cumsum, nancumprod, cumulative_prod

    Notes
    -----
    Integers wrap around on overflow; pass `dtype` for a wider one.

    Examples
    --------
    >>> mx.cumprod(mx.array([2, 3, 4]))
    array([2, 6, 24], dtype=int32)
    >>> mx.cumprod(mx.array([2, 3, 4]), reverse=True)
    array([24, 12, 4], dtype=int32)
    """


def cumsum(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: builtins.bool = False,
    inclusive: builtins.bool = True,
    dtype: _DType = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Cumulative sum along an axis.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to accumulate along. Default: the flattened array.
    reverse : bool, optional
        Accumulate from the end of the axis. Default: False.
    inclusive : bool, optional
        Include each element in its own result; otherwise results are shifted by one and start from zero. Default:
        True.
    dtype : dtype, str or type, optional
        Dtype to compute in and of the result. Default: that of `a`; int32 for booleans.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape of `a`, or one axis without `axis`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    sum, cumprod, nancumsum, cumulative_sum

    Notes
    -----
    Integers wrap around on overflow; pass `dtype` for a wider one.

    Examples
    --------
    >>> mx.cumsum(mx.array([[1, 2, 3], [4, 5, 6]]), axis=1)
    array([[1, 3, 6],
           [4, 9, 15]], dtype=int32)
    >>> mx.cumsum(mx.array([1, 2, 3]), reverse=True)
    array([6, 5, 3], dtype=int32)
    >>> mx.cumsum(mx.array([1, 2, 3]), inclusive=False)
    array([0, 1, 3], dtype=int32)
    """


def cumulative_prod(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: builtins.bool = False,
    inclusive: builtins.bool = True,
    dtype: _DType = None,
    include_initial: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Cumulative product along an axis, as the array API standard names it.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to accumulate along. Default: the flattened array.
    reverse : bool, optional
        Accumulate from the end of the axis. Default: False.
    inclusive : bool, optional
        Include each element in its own result; otherwise results are shifted by one and start from one. Default:
        True.
    dtype : dtype, str or type, optional
        Dtype to compute in and of the result. Default: that of `a`.
    include_initial : bool, optional
        Insert a one before the first result, after the last one if `reverse`. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape of `a`, or one axis without `axis`. The axis is longer by one if `include_initial`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    cumprod

    Notes
    -----
    Integers wrap around on overflow; pass `dtype` for a wider one.

    Examples
    --------
    >>> mx.cumulative_prod(mx.array([2, 3, 4]))
    array([2, 6, 24], dtype=int32)
    >>> mx.cumulative_prod(mx.array([2, 3, 4]), include_initial=True)
    array([1, 2, 6, 24], dtype=int32)
    """


def cumulative_sum(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: builtins.bool = False,
    inclusive: builtins.bool = True,
    dtype: _DType = None,
    include_initial: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Cumulative sum along an axis, as the array API standard names it.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to accumulate along. Default: the flattened array.
    reverse : bool, optional
        Accumulate from the end of the axis. Default: False.
    inclusive : bool, optional
        Include each element in its own result; otherwise results are shifted by one and start from zero. Default:
        True.
    dtype : dtype, str or type, optional
        Dtype to compute in and of the result. Default: that of `a`; int32 for booleans.
    include_initial : bool, optional
        Insert a zero before the first result, after the last one if `reverse`. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape of `a`, or one axis without `axis`. The axis is longer by one if `include_initial`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    cumsum

    Notes
    -----
    Integers wrap around on overflow; pass `dtype` for a wider one.

    Examples
    --------
    >>> mx.cumulative_sum(mx.array([2, 3, 4]))
    array([2, 5, 9], dtype=int32)
    >>> mx.cumulative_sum(mx.array([2, 3, 4]), include_initial=True)
    array([0, 2, 5, 9], dtype=int32)
    """


def custom_linear_solve(
    matvec: Callable[..., Any],
    b: Any,
    solve: Callable[..., Any],
    transpose_solve: Callable[..., Any] | None = None,
    symmetric: builtins.bool = False,
    has_aux: builtins.bool = False,
) -> Any:
    """Solve a linear system with a solver, and differentiate it implicitly.

    Parameters
    ----------
    matvec : callable
        Linear function: takes a tree like `b` and returns one. Derivatives reach the arrays that it captures.
    b : array or pytree of arrays
        Right-hand side: floating-point or complex arrays.
    solve : callable
        Called as ``solve(matvec, b)``; returns the ``x`` with ``matvec(x) = b``, a tree like `b`. Not differentiated.
    transpose_solve : callable, optional
        Called as ``transpose_solve(vecmat, b)`` like `solve`, with the function of the conjugate transpose. Reverse mode needs it.
        Default: none.
    symmetric : bool, optional
        Whether the matrix equals its conjugate transpose, so that `solve` solves both. Default: False.
    has_aux : bool, optional
        Whether `solve` and `transpose_solve` return pairs ``(x, aux)``, where `aux` is any object. Default: False.

    Returns
    -------
    array or pytree of arrays
        What `solve` returned. With `has_aux` a pair ``(x, aux)``; no derivative passes through `aux`.

    Raises
    ------
    TypeError
        If a function is not callable, if `b` holds other dtypes, or if `matvec` or `solve` returns other structures or dtypes.
    ValueError
        If `matvec` or `solve` returns other shapes, if `matvec` reads the value of its argument, or if a reverse-mode derivative is
        taken without `transpose_solve` and `symmetric`.

    See Also
    --------
    custom_root, umber.core.linalg.solve

    Notes
    -----
    ``A dx = db - dA x``: tangents are solutions of one more system, and cotangents of one with the conjugate transpose. So an
    iterative solver in a `while_loop` has gradients without storing its steps, and higher derivatives too. `matvec` is
    traced once more, on an array without values.

    Examples
    --------
    >>> def jacobi(matvec, b):
    ...     step = lambda x: x + 0.2 * (b - matvec(x))
    ...     return mx.while_loop(lambda x: mx.abs(b - matvec(x)).max() > 1e-5, step, mx.zeros_like(b))
    >>> def f(d, b):
    ...     return mx.custom_linear_solve(lambda x: d * x, b, jacobi, symmetric=True).sum()
    >>> mx.grad(f)(mx.array([2.0, 4.0]), mx.array([4.0, 8.0])).round(3)
    array([-1, -0.5], dtype=float32)
    """


def custom_root(
    f: Callable[..., Any],
    initial_guess: Any,
    solve: Callable[..., Any],
    tangent_solve: Callable[..., Any],
    has_aux: builtins.bool = False,
) -> Any:
    """Find a root of a function with a solver, and differentiate it implicitly.

    Parameters
    ----------
    f : callable
        Function of the unknowns; returns a tree like `initial_guess`. Derivatives reach the arrays that it captures.
    initial_guess : array or pytree of arrays
        Floating-point or complex arrays. No derivative reaches them.
    solve : callable
        Called as ``solve(f, initial_guess)``; returns an ``x`` with ``f(x) = 0``, a tree like `initial_guess`. Not differentiated.
    tangent_solve : callable
        Called as ``tangent_solve(g, y)`` with `f` linearised at the root, a linear function, and a tree `y` like
        `initial_guess`; returns the ``x`` with ``g(x) = y``. For scalars ``lambda g, y: y / g(mx.ones_like(y))``, for vectors
        ``lambda g, y: mx.linalg.solve(mx.jacfwd(g)(y), y)``. Must be differentiable for reverse mode.
    has_aux : bool, optional
        Whether `solve` returns a pair ``(x, aux)``, where `aux` is any object. Default: False.

    Returns
    -------
    array or pytree of arrays
        What `solve` returned. With `has_aux` a pair ``(x, aux)``; no derivative passes through `aux`.

    Raises
    ------
    TypeError
        If a function is not callable, if `initial_guess` holds other dtypes, or if `f` or `solve` returns other structures or
        dtypes.
    ValueError
        If `f` or `solve` returns other shapes, or if `f` reads the value of an unknown.

    See Also
    --------
    custom_linear_solve, custom_function, while_loop

    Notes
    -----
    By the implicit function theorem, ``df/dx dx + df/dp dp = 0`` at the root for the parameters ``p`` that `f` captures. Tangents
    solve this system with `tangent_solve`; cotangents solve the transposed one with its derivative. Memory and time of a
    gradient do not depend on the number of the solver's steps. `f` is traced once more, on arrays without values.

    Examples
    --------
    >>> def newton(f, x):
    ...     return mx.while_loop(lambda x: mx.abs(f(x)) > 1e-5, lambda x: x - f(x) / mx.grad(f)(x), x)
    >>> def square_root(a):
    ...     f = lambda x: x * x - a
    ...     return mx.custom_root(f, mx.array(1.0), newton, lambda g, y: y / g(mx.array(1.0)))
    >>> mx.value_and_grad(square_root)(mx.array(4.0))
    (array(2, dtype=float32), array(0.25, dtype=float32))
    """


def debug_nans(
    enable: builtins.bool = True,
    *,
    infs: builtins.bool = False,
    action: Literal['raise', 'warn'] = "raise",
) -> Any:
    """Search the result of every operation for NaN, and raise for the operation that produced it.

    Parameters
    ----------
    enable : bool, optional
        Whether to search from now on. Default: True.
    infs : bool, optional
        Whether to search for infinities, too. Default: False.
    action : {"raise", "warn"}, optional
        What to do about an operation that produced a NaN: raise NonFiniteError, or show a RuntimeWarning and continue.
        Default: "raise".

    Returns
    -------
    DebugNansContext
        Context manager: at the end of its block the setting before the call is restored.

    Raises
    ------
    ValueError
        If `action` is neither "raise" nor "warn".
    NonFiniteError
        Not from this call, but from an evaluation, or from an operation on a few evaluated elements, in which an operation
        produced a NaN. It is a FloatingPointError.

    See Also
    --------
    nan_to_num, isnan

    Notes
    -----
    An elementwise operation produced a NaN where its result is NaN and none of its inputs is, at the same index. Any other
    operation produced one if its result holds NaN and no input does. So NaN in the data is allowed, and the first operation
    that computes a new one is reported: its name, the line of the program that recorded it, the number of NaN, the first
    index, and what the inputs hold. The rule for infinities is the same. Constants and bits that `view` reinterprets are
    not searched.

    Operations inside compiled functions, loops and derivatives are searched too; the message names the iteration of a loop,
    and the operation whose derivative failed. A fused loop is searched at its end. If it holds NaN, its operations are run
    again one by one. A NaN that an operation in the same fused loop removes, as ``where`` may, is not reported.

    The setting holds for the whole process, its threads and streams. ``UMBER_DEBUG_NANS=1`` in the environment turns it
    on at import. While it is on, programs are several times slower: results are read again, no memory is overwritten in place,
    plans are not reused, and the host waits for every operation of another device. When it is off it costs nothing.

    If warnings are errors to the program, "warn" raises NonFiniteError.

    Examples
    --------
    >>> with mx.debug_nans():
    ...     mx.log(mx.array([1.0, -1.0]))
    Traceback (most recent call last):
    ...
    umber.core.NonFiniteError: [log] produced 1 NaN ...
    """


def default_device() -> Device:
    """Return the device that this thread's operations run on by default.

    Returns
    -------
    Device

    See Also
    --------
    set_default_device, default_stream

    Examples
    --------
    >>> mx.set_default_device(mx.cpu)
    >>> mx.default_device()
    Device(cpu, 0)
    """


def default_stream(device: _Device) -> Stream:
    """Return the stream that this thread's operations on a device use by default.

    Parameters
    ----------
    device : Device or DeviceType
        An available device.

    Returns
    -------
    Stream

    Raises
    ------
    TypeError
        If `device` is not a device.
    ValueError
        If the device is not available.

    See Also
    --------
    set_default_stream, new_stream

    Examples
    --------
    >>> mx.default_stream(mx.cpu).device
    Device(cpu, 0)
    """


def deg2rad(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Alias of `radians`.

    Parameters
    ----------
    a : array_like
        Angles in degrees, of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    radians

    Examples
    --------
    >>> mx.deg2rad(mx.array([180]))
    array([3.14159], dtype=float32)
    """


def degrees(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Convert angles from radians to degrees: `a * 180 / pi`.

    Parameters
    ----------
    a : array_like
        Angles in radians, of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    radians

    Examples
    --------
    >>> mx.degrees(mx.array([0.0, mx.pi]))
    array([0, 180], dtype=float32)
    """


def delete(
    arr: _Operand,
    obj: _IndexItem,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Delete elements at given indices along an axis.

    Parameters
    ----------
    arr : array_like
        Input of any shape.
    obj : int, slice or array_like
        Indices to delete: an integer, a slice, or an array of integers or bool. An array is evaluated.
    axis : int, optional
        Axis to delete from. Default: flatten the array first.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the remaining elements, in the dtype of `arr`.

    Raises
    ------
    IndexError
        If `axis` or an index is out of bounds, or `obj` is no index.
    ValueError
        If a mask has another length than the axis, or an index array has no value, as inside `vmap` and `compile`.

    See Also
    --------
    insert, append, trim_zeros

    Examples
    --------
    >>> mx.delete(mx.array([1, 2, 3, 4]), [0, -1])
    array([2, 3], dtype=int32)
    >>> mx.delete(mx.array([[1, 2], [3, 4]]), 0, axis=1)
    array([[2],
           [4]], dtype=int32)
    """


def depends(
    inputs: array | Sequence[array],
    dependencies: array | Sequence[array],
) -> array | list[array]:
    """Return arrays unchanged, to be computed only after other arrays.

    Parameters
    ----------
    inputs : array or sequence of array
        Arrays to return.
    dependencies : array or sequence of array
        Arrays to evaluate before `inputs`.

    Returns
    -------
    array or list of array
        Arrays equal to `inputs`: one array if `inputs` is one, otherwise a list.

    Raises
    ------
    ValueError
        If `inputs` or `dependencies` is neither an array nor a list or tuple of arrays.

    See Also
    --------
    eval, synchronize

    Notes
    -----
    Adds an order of evaluation to the graph that the data flow does not imply. Gradients pass through to `inputs`;
    `dependencies` get none.

    Examples
    --------
    >>> a, b = mx.array([1.0, 2.0]), mx.array([3.0])
    >>> mx.depends(a, b)
    array([1, 2], dtype=float32)
    """


def dequantize(
    w: _Operand,
    /,
    scales: _Operand,
    biases: _Operand | None = None,
    group_size: int | None = None,
    bits: int | None = None,
    mode: str = "affine",
    global_scale: _Operand | None = None,
    dtype: _DType = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Recover the elements of a quantised array: ``scales * codes + biases``, group by group.

    Parameters
    ----------
    w : array_like
        Packed codes from `quantize`, uint32.
    scales : array_like
        Scales from `quantize`.
    biases : array_like, optional
        Biases from `quantize`, required in mode 'affine'. Default: None.
    group_size : int, optional
        Elements per scale. Default: the default of the mode, see `quantize`.
    bits : int, optional
        Bits per element. Default: the default of the mode, see `quantize`.
    mode : {'affine', 'mxfp4', 'mxfp8', 'nvfp4'}, optional
        Format of `w`. Default: 'affine'.
    global_scale : array_like, optional
        The value passed to `quantize`. Only for 'nvfp4'. Default: None.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: that of the scales and biases in mode 'affine', else bfloat16,
        or float32 with `global_scale`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of the array that was quantised.

    Raises
    ------
    ValueError
        If the shapes do not match each other and the mode, or biases are missing.
    TypeError
        If `dtype` is not real floating point.

    See Also
    --------
    quantize, from_fp8

    Notes
    -----
    Differentiable with respect to scales and biases in mode 'affine'; the gradient of the packed `w` is zero. float16
    and bfloat16 are computed in float32 and rounded once.

    Examples
    --------
    >>> codes, scales, biases = mx.quantize(mx.arange(32.0), group_size=32, bits=8)
    >>> mx.dequantize(codes, scales, biases, group_size=32, bits=8)[-1]
    array(31, dtype=float32)
    """


def device_count(device_type: DeviceType) -> int:
    """Return the number of available devices of a kind.

    Parameters
    ----------
    device_type : DeviceType
        Kind of device.

    Returns
    -------
    int

    Raises
    ------
    TypeError
        If `device_type` is not a DeviceType.

    See Also
    --------
    is_available

    Examples
    --------
    >>> mx.device_count(mx.cpu)
    1
    """


def device_info(d: _Device | None = None) -> dict[str, str | int]:
    """Return information about a device.

    Parameters
    ----------
    d : Device or DeviceType, optional
        An available device. Default: the default device.

    Returns
    -------
    dict
        Values of "device_name", "architecture" and "memory_size" (in bytes).

    Raises
    ------
    TypeError
        If `d` is not a device.
    ValueError
        If the device is not available.

    Examples
    --------
    >>> sorted(mx.device_info(mx.cpu))[0]
    'architecture'
    """


def diag(a: _Operand, /, k: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """Extract a diagonal of a matrix, or build a matrix with a vector on a diagonal.

    Parameters
    ----------
    a : array_like
        Matrix or vector.
    k : int, optional
        Diagonal: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        For a matrix its diagonal, a vector; for a vector a square matrix with ``a.size + abs(k)`` rows, zero off the
        diagonal.

    Raises
    ------
    ValueError
        If `a` has other than one or two axes.

    See Also
    --------
    diagonal, diagflat, eye

    Examples
    --------
    >>> mx.diag(mx.array([[1, 2], [3, 4]]))
    array([1, 4], dtype=int32)
    >>> mx.diag(mx.array([1, 2]))
    array([[1, 0],
           [0, 2]], dtype=int32)
    """


def diag_indices(n: int, ndim: int = 2, *, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """Compute the indices of the main diagonal of an array whose axes have equal length.

    Parameters
    ----------
    n : int
        Length of each axis.
    ndim : int, optional
        Number of axes, at most 64. Default: 2.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    tuple of array
        `ndim` arrays of the indices ``0, ..., n - 1``, uint32.

    Raises
    ------
    ValueError
        If `n` is negative, or `ndim` is above 64.

    See Also
    --------
    diagonal, fill_diagonal, tril_indices, triu_indices

    Examples
    --------
    >>> a = mx.array([[1, 2], [3, 4]])
    >>> a[mx.diag_indices(2)]
    array([1, 4], dtype=int32)
    """


def diagflat(v: _Operand, k: _Operand = 0, *, stream: _StreamOrDevice = None) -> array:
    """Build a matrix with the elements of the flattened input on a diagonal.

    Parameters
    ----------
    v : array_like
        Input of any shape.
    k : int, optional
        Diagonal: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Square matrix with ``v.size + abs(k)`` rows, of the dtype of `v`; zero off the diagonal.

    Raises
    ------
    OverflowError
        If the matrix has more elements than memory can address.

    See Also
    --------
    diag, diagonal

    Examples
    --------
    >>> mx.diagflat(mx.array([1, 2]), 1)
    array([[0, 1, 0],
           [0, 0, 2],
           [0, 0, 0]], dtype=int32)
    """


def diagonal(
    a: _Operand,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    stream: _StreamOrDevice = None,
) -> array:
    """Extract a diagonal of the matrices along two axes.

    Parameters
    ----------
    a : array_like
        Input of at least two axes.
    offset : int, optional
        Diagonal to extract: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
    axis1, axis2 : int, optional
        Axes of the rows and columns of the matrices. Default: 0 and 1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The elements ``a[..., i, ..., i + offset, ...]``. The two axes are removed, and the diagonal is the last axis.

    Raises
    ------
    IndexError
        If an axis is out of bounds.
    ValueError
        If `a` has fewer than two axes, or the axes are the same.

    See Also
    --------
    diag, diagflat, fill_diagonal, trace

    Examples
    --------
    >>> mx.diagonal(mx.array([[1, 2, 3], [4, 5, 6]]), offset=1)
    array([2, 6], dtype=int32)
    """


def diff(
    a: _Operand,
    /,
    n: int = 1,
    axis: int = ...,
    *,
    prepend: _Operand | None = None,
    append: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Differences of adjacent elements along an axis: `a[i + 1] - a[i]`.

    Parameters
    ----------
    a : array_like
        Input with at least one axis.
    n : int, optional
        How many times to take the difference. Default: 1.
    axis : int, optional
        Axis to difference along. Default: -1, the last one.
    prepend : array_like, optional
        Values to insert before `a` along the axis; a number is repeated along the other axes. Default: none.
    append : array_like, optional
        Values to append to `a` along the axis, likewise. Default: none.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array whose axis is shorter by `n`, down to zero; the dtype is that of `a`, promoted with `prepend` and
        `append`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If `n` is negative, or `prepend` or `append` does not fit the shape of `a`.

    See Also
    --------
    ediff1d, gradient, cumsum

    Notes
    -----
    The difference of booleans is their logical XOR. Unsigned integers wrap around.

    Examples
    --------
    >>> mx.diff(mx.array([1, 4, 9, 16]))
    array([3, 5, 7], dtype=int32)
    >>> mx.diff(mx.array([1, 4, 9, 16]), n=2)
    array([2, 2], dtype=int32)
    >>> mx.diff(mx.array([1, 4, 9]), prepend=0)
    array([1, 3, 5], dtype=int32)
    """


def digamma(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithmic derivative of the gamma function of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    gammaln

    Notes
    -----
    The derivative of ``log(gamma(a))`` (DLMF 5.2). Negative integers give NaN, zero an infinity.

    Examples
    --------
    >>> mx.digamma(mx.array([1.0, 2.0]))
    array([-0.577216, 0.422784], dtype=float32)
    """


def digitize(
    x: _Operand,
    bins: str | _Operand,
    right: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Find the index of the bin that each element belongs to.

    Parameters
    ----------
    x : array_like
        Real input of any shape.
    bins : array_like
        1-d edges of the bins, in ascending or descending order. They are evaluated.
    right : bool, optional
        Whether the right edge of each bin belongs to it, instead of the left one. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Indices, uint32, of the shape of `x`: ``i`` where ``bins[i - 1] <= x < bins[i]``, or with `right` where
        ``bins[i - 1] < x <= bins[i]``; 0 and ``len(bins)`` outside of the edges. For descending edges
        ``bins[i - 1] > x >= bins[i]``, or with `right` ``bins[i - 1] >= x > bins[i]``.

    Raises
    ------
    ValueError
        If `bins` is not 1-d, an argument is complex, or `bins` is not monotonic; inside `vmap` and `compile` the order is
        not checked.

    See Also
    --------
    searchsorted, histogram, bincount

    Examples
    --------
    >>> mx.digitize(mx.array([0.5, 1.0, 7.0]), mx.array([0.0, 1.0, 2.0]))
    array([1, 2, 3], dtype=uint32)
    >>> mx.digitize(mx.array([0.5, 1.0, 7.0]), mx.array([0.0, 1.0, 2.0]), right=True)
    array([1, 1, 3], dtype=uint32)
    """


def disable_compile() -> None:
    """Make compiled functions call their original function on every call.

    This is for debugging: values can then be read inside a function. The setting holds for the whole process. The
    environment variable ``UMBER_DISABLE_COMPILE`` sets it at the start.

    See Also
    --------
    enable_compile, compile

    Examples
    --------
    >>> f = mx.compile(lambda x: x + 1 if x > 0 else x - 1)
    >>> mx.disable_compile()
    >>> f(mx.array(2.0))
    array(3, dtype=float32)
    >>> mx.enable_compile()
    """


def divide(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Quotient of two arrays, element by element: `a / b`.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    floor_divide, remainder, reciprocal

    Notes
    -----
    Integers are converted to float32 first. Division by zero follows IEEE 754: an infinity, or NaN for ``0 / 0``.

    Examples
    --------
    >>> mx.divide(mx.array([1, 3]), mx.array([2, 0]))
    array([0.5, inf], dtype=float32)
    """


def divmod(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> list[array]:
    """Floor quotient and remainder of two arrays.

    Parameters
    ----------
    a, b : array_like
        Operands of real dtypes whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    list of array
        ``[floor_divide(a, b), remainder(a, b)]``, each of the broadcast shape and the promoted dtype.

    Raises
    ------
    TypeError
        If an operand is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    floor_divide, remainder

    Notes
    -----
    ``a = quotient * b + remainder``.

    Examples
    --------
    >>> mx.divmod(mx.array([7, -7]), 2)
    [array([3, -4], dtype=int32), array([1, 1], dtype=int32)]
    """


def dot(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Dot product: sum of products over the last axis of `a` and the second to last axis of `b`.

    Parameters
    ----------
    a, b : array_like
        Arrays of shapes ``(..., k)`` and ``(..., k, n)``. A 1-D `b` is summed over its only axis; a 0-D operand
        multiplies.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The other axes of `a`, then those of `b`, in the promoted dtype.

    Raises
    ------
    ValueError
        If the summed axes differ in length.

    See Also
    --------
    matmul, vdot, inner, tensordot

    Notes
    -----
    Unlike in `matmul`, the other axes do not broadcast:
    ``dot(a, b)[i, j, k, m] = sum(a[i, j, :] * b[k, :, m])``.

    Examples
    --------
    >>> mx.dot(mx.array([[1, 2], [3, 4]]), mx.array([10, 1]))
    array([12, 34], dtype=int32)
    >>> mx.dot(mx.ones((2, 3, 4)), mx.ones((5, 4, 6))).shape
    (2, 3, 5, 6)
    """


def dsplit(
    ary: _Operand,
    indices_or_sections: int | Sequence[int] | array,
    *,
    stream: _StreamOrDevice = None,
) -> list[array]:
    """Split an array of at least three axes along its third axis.

    Parameters
    ----------
    ary : array_like
        Input of at least three axes.
    indices_or_sections : int or sequence of int
        Number of parts of equal length, or the indices before which to split.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    list of array
        Views of `ary`.

    Raises
    ------
    ValueError
        If `ary` has fewer than three axes, or the length of the axis is no multiple of the number of sections.

    See Also
    --------
    split, hsplit, vsplit, dstack

    Examples
    --------
    >>> [x.shape for x in mx.dsplit(mx.zeros((1, 2, 3)), [1])]
    [(1, 2, 1), (1, 2, 2)]
    """


def dstack(tup: Sequence[_Operand], *, stream: _StreamOrDevice = None) -> array:
    """Join arrays along the third axis.

    Parameters
    ----------
    tup : sequence of array_like
        Arrays that have the same shape except along the third axis. A vector counts as shape ``(1, n, 1)``, a matrix as
        shape ``(m, n, 1)``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The joined array, of at least three axes, in the promoted dtype of all arrays.

    Raises
    ------
    ValueError
        If there are no arrays, or their shapes do not fit.

    See Also
    --------
    hstack, vstack, stack, concatenate, dsplit

    Examples
    --------
    >>> mx.dstack([mx.array([1, 2]), mx.array([3, 4])])
    array([[[1, 3],
            [2, 4]]], dtype=int32)
    """


def ediff1d(
    ary: _Operand,
    to_end: _Operand | None = None,
    to_begin: _Operand | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Differences of adjacent elements of the flattened array.

    Parameters
    ----------
    ary : array_like
        Input of any shape and dtype.
    to_end : array_like, optional
        Values to append to the differences. Default: none.
    to_begin : array_like, optional
        Values to insert before the differences. Default: none.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array with one axis and the dtype of `ary`.

    Raises
    ------
    TypeError
        If the dtype of `to_end` or `to_begin` does not promote to that of `ary`, or an argument is not convertible.
    OverflowError
        If a Python integer does not fit the dtype of `ary`.

    See Also
    --------
    diff

    Notes
    -----
    The difference of booleans is their logical XOR.

    Examples
    --------
    >>> mx.ediff1d(mx.array([1, 2, 4]), to_end=9, to_begin=0)
    array([0, 1, 2, 9], dtype=int32)
    """


def einsum(
    subscripts: str | _Operand,
    *operands: _Operand | Sequence[int | EllipsisType],
    optimize: Any = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum of products in Einstein notation, such as ``einsum("ij,jk->ik", a, b)``.

    Parameters
    ----------
    subscripts : str or array_like
        One letter per axis, terms separated by commas, then ``->`` and the axes of the result. Alternatively the first
        array of the form ``einsum(a, [0, 1], b, [1, 2], [0, 2])``, with axis numbers from 0 to 51 or ``Ellipsis``.
    *operands : array_like
        One array per term.
    optimize : object, optional
        Ignored: the order of products is always optimised. Default: None.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Promoted dtype. Small integers and bool widen to 32 bits where a sum over a single operand is taken, as in
        `sum`.

    Raises
    ------
    ValueError
        If the subscripts are malformed, or do not match the number, the axes or the lengths of the operands.
    TypeError
        If `subscripts` is neither a string nor an array followed by a list.

    See Also
    --------
    einsum_path, tensordot, matmul

    Notes
    -----
    An index that is absent from the result is summed over. An index that appears twice in one term selects the
    diagonal. ``...`` stands for the axes without a letter, which broadcast. Without ``->`` the result has every index
    that appears once, in alphabetical order.

    Examples
    --------
    >>> a = mx.array([[1, 2], [3, 4]])
    >>> mx.einsum("ii->", a)
    array(5, dtype=int32)
    >>> mx.einsum("ij,j->i", a, mx.array([10, 1]))
    array([12, 34], dtype=int32)
    """


def einsum_path(
    subscripts: str | _Operand,
    *operands: _Operand | Sequence[int | EllipsisType],
    optimize: Any = None,
) -> tuple[list[Any], str]:
    """Order in which `einsum` multiplies its operands, and a description of the cost.

    Parameters
    ----------
    subscripts : str or array_like
        Subscripts, as in `einsum`.
    *operands : array_like
        Operands, as in `einsum`; only their shapes matter.
    optimize : object, optional
        Ignored: the order is always optimised. Default: None.

    Returns
    -------
    tuple of list and str
        One tuple per product, with the positions of its operands in the list of remaining arrays; the product is
        appended to that list. The string reports the scaling and the number of operations.

    Raises
    ------
    ValueError
        If there are no operands, or the subscripts do not match them.
    TypeError
        If `subscripts` is neither a string nor an array followed by a list.

    See Also
    --------
    einsum

    Notes
    -----
    For up to eight operands the order has the minimum cost.

    Examples
    --------
    >>> path, report = mx.einsum_path("ij,jk,kl->il", mx.ones((2, 10)), mx.ones((10, 10)), mx.ones((10, 3)))
    >>> path
    [(0, 1), (0, 1)]
    """


def empty(
    shape: _Shape,
    dtype: _DType = None,
    *,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Create an array with unspecified elements.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the array.
    dtype : dtype, optional
        Dtype of the array. Default: float32.
    device : Device or str, optional
        Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
        `stream`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the given shape. The elements are currently zeros; programs must not rely on it.

    Raises
    ------
    ValueError
        If a length is negative, or the device is not available.
    OverflowError
        If the array has more elements than memory can address.

    See Also
    --------
    empty_like, zeros

    Examples
    --------
    >>> mx.empty((2, 3)).shape
    (2, 3)
    """


def empty_like(
    a: _Operand,
    /,
    dtype: _DType = None,
    *,
    shape: _Shape | None = None,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Create an array with unspecified elements and the shape and dtype of another array.

    Parameters
    ----------
    a : array_like
        Array that determines shape and dtype.
    dtype : dtype, optional
        Dtype of the result. Default: the dtype of `a`.
    shape : int or sequence of int, optional
        Shape of the result. Default: the shape of `a`.
    device : Device or str, optional
        Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
        `stream`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array whose elements are currently zeros; programs must not rely on it.

    Raises
    ------
    ValueError
        If a length is negative, or the device is not available.

    See Also
    --------
    empty, zeros_like, ones_like, full_like

    Examples
    --------
    >>> x = mx.empty_like(mx.array([1, 2]), shape=(2, 3))
    >>> x.shape, x.dtype
    ((2, 3), umber.core.int32)
    """


def enable_compile() -> None:
    """Make compiled functions replay their graphs, whatever ``UMBER_DISABLE_COMPILE`` says.

    Reverts `disable_compile`. The setting holds for the whole process.

    See Also
    --------
    disable_compile, compile

    Examples
    --------
    >>> mx.enable_compile()
    >>> mx.compile(lambda x: x + 1)(mx.array(2.0))
    array(3, dtype=float32)
    """


def equal(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Test whether two arrays are equal, element by element: `a == b`.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the broadcast shape.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    not_equal, isclose, array_equal

    Notes
    -----
    NaN is equal to nothing. Signed integers and uint64 are compared by their exact values, and so are Python
    integers beyond the range of the dtype.

    Examples
    --------
    >>> mx.equal(mx.array([1, 2]), mx.array([1.0, mx.nan]))
    array([True, False], dtype=bool)
    """


def erf(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Error function of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    erfc, erfinv

    Notes
    -----
    The integral of ``2 / sqrt(pi) * exp(-t**2)`` over t from 0 to `a` (DLMF 7.2).

    Examples
    --------
    >>> mx.erf(mx.array([0.0, 1.0, mx.inf]))
    array([0, 0.842701, 1], dtype=float32)
    """


def erfc(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Complementary error function of each element: `1 - erf(a)`, accurate for large elements.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    erf, erfinv

    Notes
    -----
    For large `a` the difference ``1 - erf(a)`` loses all digits to cancellation; this function does not.

    Examples
    --------
    >>> mx.erfc(mx.array([0.0, 5.0]))
    array([1, 1.53746e-12], dtype=float32)
    >>> 1 - mx.erf(mx.array([0.0, 5.0]))
    array([1, 0], dtype=float32)
    """


def erfinv(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse error function of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    erf

    Notes
    -----
    -1 and 1 give infinities; numbers outside of [-1, 1] give NaN.

    Examples
    --------
    >>> mx.erfinv(mx.array([0.0, 0.5, 1.0]))
    array([0, 0.476936, inf], dtype=float32)
    """


def eval(*args: _Tree) -> None:
    """Compute arrays that are still pending, and wait until they are evaluated.

    Parameters
    ----------
    *args : array or pytree of arrays
        Arrays, or nested lists, tuples and dicts of them. ``random.state`` counts as its arrays; other objects are ignored.

    See Also
    --------
    async_eval

    Notes
    -----
    Operations are recorded in a graph and computed together when a value is needed: here, or when an array is printed,
    converted or read. Evaluate once per step of a training loop. An error of a pending operation is raised here.

    Examples
    --------
    >>> x = mx.random.normal((1000,))
    >>> y = {"mean": x.mean(), "max": x.max()}
    >>> mx.eval(x, y)
    """


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Compute the shapes and dtypes of a function's results without running its operations.

    Parameters
    ----------
    fun : callable
        Function of arrays.
    *args : array, ShapeDtypeStruct, or pytree of them
        Positional arguments of `fun`. Other objects are passed to `fun` unchanged.
    **kwargs : array, ShapeDtypeStruct, or pytree of them
        Keyword arguments of `fun`.

    Returns
    -------
    ShapeDtypeStruct or pytree
        What ``fun(*args, **kwargs)`` returns, with a `ShapeDtypeStruct` in place of each array.

    Raises
    ------
    TypeError
        If `fun` is not callable.
    ValueError
        If `fun` reads the value of an argument.

    See Also
    --------
    ShapeDtypeStruct, vmap

    Notes
    -----
    No memory is allocated for the arguments and nothing is computed. The random state does not advance, and modules that `fun`
    uses keep their arrays.

    Examples
    --------
    >>> huge = mx.ShapeDtypeStruct((1 << 20, 1 << 20), mx.float16)
    >>> mx.eval_shape(lambda a: (a @ a).sum(axis=0), huge)
    ShapeDtypeStruct(shape=(1048576,), dtype=float16)
    """


def exp(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Exponential of each element: `e**a`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    expm1, exp2, log

    Examples
    --------
    >>> mx.exp(mx.array([0.0, 1.0, -mx.inf]))
    array([1, 2.71828, 0], dtype=float32)
    """


def exp2(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Base-2 exponential of each element: `2**a`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    exp, log2

    Examples
    --------
    >>> mx.exp2(mx.array([3.0, -1.0]))
    array([8, 0.5], dtype=float32)
    """


def expand_dims(a: _Operand, /, axis: _Axes, *, stream: _StreamOrDevice = None) -> array:
    """Insert axes of length one.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    axis : int or sequence of int
        Positions of the new axes in the result.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        View of `a` with the new axes.

    Raises
    ------
    IndexError
        If a position is out of bounds of the result.
    ValueError
        If a position is given twice.

    See Also
    --------
    squeeze, newaxis

    Examples
    --------
    >>> mx.expand_dims(mx.zeros(3), 1).shape
    (3, 1)
    >>> mx.expand_dims(mx.zeros(3), (0, -1)).shape
    (1, 3, 1)
    """


def expm1(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Exponential minus one: `exp(a) - 1`, accurate near zero.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    exp, log1p

    Notes
    -----
    For small `a` the difference ``exp(a) - 1`` loses most of its digits to cancellation; this function does not.

    Examples
    --------
    >>> x = mx.array([1e-10])
    >>> mx.expm1(x)
    array([1e-10], dtype=float32)
    >>> mx.exp(x) - 1
    array([0], dtype=float32)
    """


def export_function(
    file_or_callback: _File | Callable[[dict[str, Any]], None],
    fun: Callable[..., Any],
    *args: Any,
    shapeless: builtins.bool = False,
    metadata: Mapping[str, str] | None = None,
    **kwargs: Any,
) -> None:
    """Write the graph of a function to a file, or pass it to a callback.

    Parameters
    ----------
    file_or_callback : path or callable
        File to write, or a function that is called with one dict for each part of the graph.
    fun : callable
        Takes arrays by position or name; returns an array, or a tuple or list of arrays.
    *args : array
        Example arguments to trace `fun` with. One tuple or list of arrays, one dict of arrays, or both are accepted, too.
    shapeless : bool, optional
        Trace `fun` at other axis lengths, too, so that the imported function accepts other lengths. Default: False.
    metadata : str, optional
        Text to store in the file. Default: none.
    **kwargs : array
        Example keyword arguments.

    Raises
    ------
    TypeError
        If `fun` is not callable, or if `file_or_callback` is neither a path nor callable.
    ValueError
        If an argument is not an array, if `fun` returns anything but arrays, if it uses an operation that cannot be
        exported, or if `metadata` is given with a callback.
    OSError
        If the file cannot be written.

    See Also
    --------
    import_function, exporter, export_to_dot

    Notes
    -----
    The file is a safetensors file: arrays that `fun` captures are its tensors, the operations are in its metadata.

    Modules that `fun` uses have their own arrays again after the trace. A warning says if `fun` updates them, or draws random
    numbers without a key, as layers do in training mode: an imported function does neither.

    With `shapeless`, the imported function accepts any length along the axes for which all traces agree. Lengths that
    `fun` reads, and lengths on which its graph depends in a way that cannot be determined, stay fixed. A call with another
    length there raises ValueError, which names the argument, the axis and both lengths.

    A callback receives dicts whose ``"type"`` is ``"inputs"``, ``"keyword_inputs"``, ``"outputs"``, ``"constants"`` or, for
    each operation, ``"primitive"``. A primitive has MLX's ``"name"`` and ``"arguments"``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mx.export_function(f"{folder}/f", lambda x: mx.exp(x) + 1, mx.zeros(2), shapeless=True)
    ...     f = mx.import_function(f"{folder}/f")
    >>> f(mx.zeros(3))
    (array([2, 2, 2], dtype=float32),)
    """


def export_to_dot(file: _File, *args: Any, **kwargs: Any) -> None:
    """Write the graph of pending arrays, or of a function, in Graphviz's DOT language.

    Parameters
    ----------
    file : path or text file
        File to write: a path, or an object with a method `write` for text.
    *args : array, pytree of arrays, or callable
        Outputs of the graph. If the first is a function, the others are its positional arguments, and the graph of the
        function is written.
    **kwargs : array
        Further outputs, shown under their names. Not allowed with a function.

    Raises
    ------
    TypeError
        If `file` is neither a path nor a file, or if a keyword argument is not an array or is passed with a function.
    ValueError
        If arguments are given but hold no arrays.
    OSError
        If the file cannot be written.

    See Also
    --------
    export_function

    Notes
    -----
    Operations are boxes with MLX's names; arrays without a name are called A, B, C, …. Operations on few elements are
    executed eagerly and are not part of the graph of pending arrays, unless ``UMBER_EAGER=0`` is set in the environment.
    The graph of a function contains them.

    Examples
    --------
    >>> import io
    >>> text = io.StringIO()
    >>> mx.export_to_dot(text, lambda x: mx.exp(x) * 2, mx.zeros(2))
    >>> [name in text.getvalue() for name in ("digraph", "Exp", "Multiply")]
    [True, True, True]
    """


def exporter(
    file: _File,
    fun: Callable[..., Any],
    *,
    shapeless: builtins.bool = False,
    metadata: Mapping[str, str] | None = None,
) -> FunctionExporter:
    """Return a context manager that exports a function traced with several sets of arguments to one file.

    Parameters
    ----------
    file : path
        File to write.
    fun : callable
        Takes arrays by position or name; returns an array, or a tuple or list of arrays.
    shapeless : bool, optional
        Trace `fun` at other axis lengths, too, as in `export_function`. Default: False.
    metadata : str, optional
        Text to store in the file. Default: none.

    Returns
    -------
    FunctionExporter
        Call it with example arguments to add a trace. The file is written at the end of the ``with`` block, unless an
        exception leaves the block, or by its method `close`.

    Raises
    ------
    TypeError
        If `fun` is not callable, or if `file` is not a path.

    See Also
    --------
    export_function, import_function

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with mx.exporter(f"{folder}/f", lambda x: x * 2) as export:
    ...         export(mx.zeros(3))
    ...         export(mx.zeros((2, 2)))
    ...     f = mx.import_function(f"{folder}/f")
    >>> f(mx.ones((2, 2)))
    (array([[2, 2],
           [2, 2]], dtype=float32),)
    """


def extract(condition: _Operand, arr: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Select the elements of the flattened array where a condition is true.

    Parameters
    ----------
    condition : array_like
        Condition, which is flattened; nonzero elements count as true. It is evaluated, since it determines the shape of the
        result.
    arr : array_like
        Input of any shape.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        1-d array of the selected elements, in the dtype of `arr`.

    Raises
    ------
    IndexError
        If the condition is true beyond the end of `arr`.
    ValueError
        Inside `vmap` and `compile`, where the condition has no value.

    See Also
    --------
    compress, where, place

    Examples
    --------
    >>> a = mx.array([[1, 2], [3, 4]])
    >>> mx.extract(a % 2 == 0, a)
    array([2, 4], dtype=int32)
    """


def eye(
    n: int,
    m: int | None = None,
    k: int = 0,
    dtype: _DType = None,
    *,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Create a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n : int
        Number of rows.
    m : int, optional
        Number of columns. Default: `n`.
    k : int, optional
        Diagonal: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
    dtype : dtype, optional
        Dtype of the matrix. Default: float32.
    device : Device or str, optional
        Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
        `stream`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Matrix of shape ``(n, m)``.

    Raises
    ------
    ValueError
        If a length is negative, or the device is not available.

    See Also
    --------
    identity, diag, tri

    Examples
    --------
    >>> mx.eye(2, 3, k=1)
    array([[0, 1, 0],
           [0, 0, 1]], dtype=float32)
    """


def fabs(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Absolute value of each element in floating point.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    abs

    Notes
    -----
    Unlike `abs`, it converts integers and booleans to float32.

    Examples
    --------
    >>> mx.fabs(mx.array([-3, 0, 2]))
    array([3, 0, 2], dtype=float32)
    """


def fill_diagonal(
    a: array,
    val: _Operand,
    wrap: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> None:
    """Set the main diagonal of an array, in place.

    Parameters
    ----------
    a : array
        Array to change, a matrix or an array of more axes of equal length.
    val : array_like
        Values, converted to the dtype of `a`; they are repeated if there are fewer than diagonal elements.
    wrap : bool, optional
        Whether the diagonal of a matrix with more rows than columns starts again at the first column, after one row without
        it. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Raises
    ------
    ValueError
        If `a` has fewer than two axes, more than two of different length, or there are no values.
    TypeError
        If `a` is no array.

    See Also
    --------
    diagonal, diag_indices, diag

    Examples
    --------
    >>> a = mx.zeros((2, 3))
    >>> mx.fill_diagonal(a, [1, 2])
    >>> a
    array([[1, 0, 0],
           [0, 2, 0]], dtype=float32)
    """


fix = trunc

def flatnonzero(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Find the indices of the nonzero elements of the flattened array.

    Parameters
    ----------
    a : array_like
        Input of any shape. It is evaluated, since its values determine the shape of the result.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Indices in ascending order, uint32.

    Raises
    ------
    ValueError
        Inside `vmap` and `compile`, where `a` has no value.

    See Also
    --------
    nonzero, argwhere, unravel_index

    Examples
    --------
    >>> mx.flatnonzero(mx.array([[0, 3], [4, 0]]))
    array([1, 2], dtype=uint32)
    """


def flatten(
    a: _Operand,
    /,
    start_axis: int = 0,
    end_axis: int = ...,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Merge consecutive axes of an array into one.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    start_axis, end_axis : int, optional
        First and last axis to merge. Values beyond the array's axes mean its first or last axis. Default: 0 and -1, all
        axes.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The elements of `a` in row-major order. A 0-d array becomes an array of shape ``(1,)``.

    Raises
    ------
    ValueError
        If `start_axis` comes after `end_axis`.

    See Also
    --------
    unflatten, ravel, reshape

    Examples
    --------
    >>> mx.flatten(mx.zeros((2, 3, 4)), 1).shape
    (2, 12)
    """


def flip(a: _Operand, /, axis: _Axes | None = None, *, stream: _StreamOrDevice = None) -> array:
    """Reverse the order of the elements along axes.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    axis : int or sequence of int, optional
        Axes to reverse. Default: all axes.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        View of `a` with the axes reversed.

    Raises
    ------
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    fliplr, flipud, rot90

    Examples
    --------
    >>> mx.flip(mx.array([[1, 2], [3, 4]]), 1)
    array([[2, 1],
           [4, 3]], dtype=int32)
    """


def fliplr(m: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Reverse the order of the columns: ``m[:, ::-1]``.

    Parameters
    ----------
    m : array_like
        Input of at least two axes.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        View of `m` with the second axis reversed.

    Raises
    ------
    ValueError
        If `m` has fewer than two axes.

    See Also
    --------
    flip, flipud, rot90

    Examples
    --------
    >>> mx.fliplr(mx.array([[1, 2], [3, 4]]))
    array([[2, 1],
           [4, 3]], dtype=int32)
    """


def flipud(m: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Reverse the order of the rows: ``m[::-1]``.

    Parameters
    ----------
    m : array_like
        Input of at least one axis.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        View of `m` with the first axis reversed.

    Raises
    ------
    ValueError
        If `m` is 0-d.

    See Also
    --------
    flip, fliplr, rot90

    Examples
    --------
    >>> mx.flipud(mx.array([[1, 2], [3, 4]]))
    array([[3, 4],
           [1, 2]], dtype=int32)
    """


def float_power(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Elements of `a` raised to the powers `b` in double precision.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape; float64, or complex128 if either operand is complex.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    power

    Notes
    -----
    Unlike `power`, integers have negative powers. Negative real numbers to a fractional power give NaN.

    Examples
    --------
    >>> mx.float_power(mx.array([2]), mx.array([3, 0, -1]))
    array([8, 1, 0.5], dtype=float64)
    """


def floor(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Largest integer not above each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape and dtype as `a`; float32 for float8. Integers and booleans are returned unchanged.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    ceil, trunc, round

    Notes
    -----
    The result has a floating dtype if the input has; use `astype` for integers. The gradient is zero.

    Examples
    --------
    >>> mx.floor(mx.array([1.7, -1.2]))
    array([1, -2], dtype=float32)
    """


def floor_divide(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Quotient rounded down to an integer: `floor(a / b)`.

    Parameters
    ----------
    a, b : array_like
        Operands of real dtypes whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for float8.

    Raises
    ------
    TypeError
        If an operand is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    divide, remainder, divmod

    Notes
    -----
    The quotient of an integer and zero is zero. The gradient is zero.

    Examples
    --------
    >>> mx.floor_divide(mx.array([7, -7, 7]), mx.array([2, 2, 0]))
    array([3, -4, 0], dtype=int32)
    >>> mx.floor_divide(mx.array([-7.5]), 2)
    array([-4], dtype=float32)
    """


def fmax(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Maximum of two arrays, element by element; where one is NaN, the other one.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for float8.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    maximum, nanmax

    Notes
    -----
    NaN only where both are NaN. Complex numbers are ordered by their real parts, then by their imaginary parts.
    Where both are equal, the gradient flows to `b`.

    Examples
    --------
    >>> mx.fmax(mx.array([1.0, mx.nan]), mx.array([2.0, 3.0]))
    array([2, 3], dtype=float32)
    """


def fmin(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Minimum of two arrays, element by element; where one is NaN, the other one.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for float8.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    minimum, nanmin

    Notes
    -----
    NaN only where both are NaN. Complex numbers are ordered by their real parts, then by their imaginary parts.
    Where both are equal, the gradient flows to `b`.

    Examples
    --------
    >>> mx.fmin(mx.array([1.0, mx.nan]), mx.array([2.0, 3.0]))
    array([1, 3], dtype=float32)
    """


def fmod(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Remainder of the truncated division, with the sign of `a`.

    Parameters
    ----------
    a, b : array_like
        Operands of real dtypes whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for float8.

    Raises
    ------
    TypeError
        If both operands are boolean, or one is complex or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    remainder, modf

    Notes
    -----
    ``a - trunc(a / b) * b``, as C's ``fmod``. The remainder of an integer and zero is zero, of a floating-point
    number and zero NaN.

    Examples
    --------
    >>> mx.fmod(mx.array([7, -7]), 3)
    array([1, -1], dtype=int32)
    """


def fori_loop(
    lower: _Operand,
    upper: _Operand,
    body_fun: Callable[..., Any],
    init: Any,
    *,
    unroll: int | builtins.bool | None = None,
    checkpoint: int | Literal['sqrt'] | None = None,
) -> Any:
    """Update a value in a loop over integers: ``carry = body_fun(i, carry)`` for ``lower <= i < upper``.

    Parameters
    ----------
    lower, upper : int or integer scalar array
        Bounds of the loop. If ``upper <= lower``, the result is `init`.
    body_fun : callable
        Called as ``body_fun(i, carry)``; returns the next carry, of the same structure, shapes and dtypes. ``i`` is an int32
        scalar array, or int64 if a bound needs it.
    init : array_like or pytree of array_like
        First carry. Python numbers take the dtype that `body_fun` gives them.
    unroll : int or bool, optional
        Number of iterations to combine into one, for small functions; True for all of them. Default: 1.
    checkpoint : int or {"sqrt"}, optional
        Keep only every k-th carry for the gradient and recompute the others, as in `scan`. Default: None, keep all.

    Returns
    -------
    array or pytree of arrays
        Last carry.

    Raises
    ------
    TypeError
        If a bound is not an integer, or if the carry changes its dtype or structure.
    ValueError
        If a bound is not a scalar, or if the carry changes its shape.

    See Also
    --------
    scan, while_loop

    Notes
    -----
    If the bounds are Python integers or evaluated arrays that are not traced, this is a `scan` without rows and has a
    gradient. Otherwise it is a `while_loop`, which has none.

    Examples
    --------
    >>> mx.fori_loop(1, 6, lambda i, carry: carry * i, mx.array(1))
    array(120, dtype=int32)
    """


def frexp(a: _Operand, /, *, stream: _StreamOrDevice = None) -> tuple[array, array]:
    """Mantissa and exponent of each element: `a = mantissa * 2**exponent`.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    mantissa : array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`. ``0.5 <= abs(mantissa)
        < 1``.
    exponent : array
        int32 array of the same shape.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    ldexp, modf

    Notes
    -----
    Zero, infinities and NaN are their own mantissas, with exponent 0.

    Examples
    --------
    >>> mx.frexp(mx.array([8.0, -3.0, 0.0]))
    (array([0.5, -0.75, 0], dtype=float32), array([4, 2, 0], dtype=int32))
    """


def from_arrow(
    x: Any,
    /,
    *,
    nulls: Literal['raise', 'mask', 'nan'] = "raise",
    copy: builtins.bool | None = None,
) -> array | tuple[array, array]:
    """Array over the memory of an object that exports Arrow data.

    Parameters
    ----------
    x : object with `__arrow_c_array__` or `__arrow_c_stream__`
        A column: an array, chunked array or series of any library, or a table of one column.
    nulls : {"raise", "mask", "nan"}, optional
        What to do about nulls. "raise" raises; "mask" returns a mask of them, too; "nan" replaces them by NaN, and integers and
        booleans become float64. Default: "raise".
    copy : bool, optional
        True always copies, False raises where sharing is impossible, None copies only where it must. Default: None.

    Returns
    -------
    array or tuple of array
        1-D, or with further axes for lists of fixed size. With ``nulls="mask"`` a pair of the elements and a mask of the same
        shape, true where an element is null; the elements under it are unspecified.

    Raises
    ------
    TypeError
        If `x` does not speak Arrow, or its type has no dtype: strings, dates, dictionaries and others.
    ValueError
        If there are nulls, unless `nulls` says otherwise. If `copy` is False and a copy is necessary, the exception is also a
        BufferError.

    See Also
    --------
    asarray, from_dlpack

    Notes
    -----
    Booleans, which Arrow stores as bits, and data in several chunks are copied. Arrow data is immutable, so that operations on
    it stay lazy; on objects of pandas, which may be over memory that NumPy writes to, they run when they are recorded. An array that
    pyarrow made over a NumPy array counts as immutable, too: do not write to it.

    Source: the Arrow C data interface and PyCapsule interface, https://arrow.apache.org/docs/format/CDataInterface.html.

    Examples
    --------
    >>> mx.from_arrow(mx.array([1.0, 2.0]))
    array([1, 2], dtype=float32)
    """


def from_dlpack(
    x: Any,
    /,
    *,
    device: _Device | None = None,
    copy: builtins.bool | None = None,
) -> array:
    """Array over the memory of an object that exports DLPack.

    Parameters
    ----------
    x : object with `__dlpack__` and `__dlpack_device__`
        Array of any library, in memory of the host.
    device : Device, optional
        Device of the result. The producer is asked to copy memory of another device to the host. Default: the producer's.
    copy : bool, optional
        True always copies, False raises where sharing is impossible, None copies only where it must. Default: None.

    Returns
    -------
    array
        Same shape and dtype as `x`, sharing its memory unless copied.

    Raises
    ------
    BufferError
        If `copy` is False and the memory cannot be shared.

    See Also
    --------
    asarray

    Notes
    -----
    Operations on memory that its producer can still write are evaluated when they are recorded.

    Examples
    --------
    >>> a = np.array([1.0, 2.0])
    >>> x = mx.from_dlpack(a)
    >>> a[0] = 5.0
    >>> x
    array([5, 2], dtype=float64)
    """


def from_fp8(x: _Operand, dtype: _DType = None, *, stream: _StreamOrDevice = None) -> array:
    """Convert float8 (E4M3) codes to floating-point numbers.

    Parameters
    ----------
    x : array_like
        Array of uint8 codes, or of dtype float8_e4m3fn.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: bfloat16.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of the shape of `x`.

    Raises
    ------
    TypeError
        If the dtype of `x` or the dtype of the result is not one of these.

    See Also
    --------
    to_fp8, dequantize

    Examples
    --------
    >>> mx.from_fp8(mx.to_fp8(mx.array([1.0, -2.0, 0.3])), dtype=mx.float32)
    array([1, -2, 0.3125], dtype=float32)
    """


def from_numpy(a: Any, *, zero_copy: builtins.bool = True) -> array:
    """Return an array over the memory of a NumPy array.

    Parameters
    ----------
    a : numpy.ndarray
        NumPy array.
    zero_copy : bool, optional
        Share the memory and make `a` read-only, so that operations stay lazy; otherwise copy it. Default: True.

    Returns
    -------
    array

    Raises
    ------
    TypeError
        If `a` is not a NumPy array, or if umber has no dtype for its elements.
    BufferError
        If `zero_copy` is set and the memory cannot be shared.

    See Also
    --------
    asarray, array

    Examples
    --------
    >>> n = np.zeros(2, dtype=np.float32)
    >>> a = mx.from_numpy(n)
    >>> n.flags.writeable
    False
    """


def fromfunction(
    function: Callable[..., Any],
    shape: _Shape,
    *,
    dtype: _DType = None,
    **kwargs: Any,
) -> Any:
    """Call a function with the indices of every element of a shape along each axis.

    Parameters
    ----------
    function : callable
        Called as ``function(*indices, **kwargs)`` with one array of the given shape per axis.
    shape : int or sequence of int
        Shape of the arrays of indices.
    dtype : Dtype, optional
        Dtype of the indices. Default: float32.
    **kwargs : object
        Further arguments of `function`.

    Returns
    -------
    object
        The result of `function`.

    Raises
    ------
    ValueError
        If a length is negative.
    TypeError
        If `function` is not callable.

    See Also
    --------
    indices, meshgrid

    Examples
    --------
    >>> mx.fromfunction(lambda i, j: i == j, (2, 2), dtype=mx.int32)
    array([[True, False],
           [False, True]], dtype=bool)
    """


def full(
    shape: _Shape,
    vals: _Operand | None = None,
    dtype: _DType = None,
    *,
    fill_value: _Operand | None = None,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Create an array filled with a value.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the array.
    vals : array_like
        Value, which broadcasts to `shape`.
    dtype : dtype, optional
        Dtype of the array. Default: the dtype of `vals`; for a Python number int32 (int64 if necessary), float32, complex64
        or bool.
    fill_value : array_like, optional
        The name of `vals` in the array API standard. Exactly one of the two is given.
    device : Device or str, optional
        Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
        `stream`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the given shape, filled with `vals`.

    Raises
    ------
    ValueError
        If `vals` does not broadcast to `shape`, a length is negative, or the device is not available.
    TypeError
        If none or both of `vals` and `fill_value` are given.
    OverflowError
        If a Python integer does not fit the dtype.

    See Also
    --------
    full_like, zeros, ones, broadcast_to

    Examples
    --------
    >>> mx.full((2, 2), 7)
    array([[7, 7],
           [7, 7]], dtype=int32)
    >>> mx.full((2, 2), mx.array([1, 2.5]))
    array([[1, 2.5],
           [1, 2.5]], dtype=float32)
    """


def full_like(
    a: _Operand,
    vals: _Operand | None = None,
    dtype: _DType = None,
    *,
    fill_value: _Operand | None = None,
    shape: _Shape | None = None,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Create an array filled with a value, with the shape and dtype of another array.

    Parameters
    ----------
    a : array_like
        Array that determines shape and dtype.
    vals : array_like
        Value, which broadcasts to the shape and is converted to the dtype.
    dtype : dtype, optional
        Dtype of the result. Default: the dtype of `a`.
    fill_value : array_like, optional
        The name of `vals` in the array API standard. Exactly one of the two is given.
    shape : int or sequence of int, optional
        Shape of the result. Default: the shape of `a`.
    device : Device or str, optional
        Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
        `stream`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array filled with `vals`.

    Raises
    ------
    ValueError
        If `vals` does not broadcast to the shape, a length is negative, or the device is not available.
    TypeError
        If none or both of `vals` and `fill_value` are given.
    OverflowError
        If a Python integer does not fit the dtype.

    See Also
    --------
    full, zeros_like, ones_like

    Examples
    --------
    >>> mx.full_like(mx.array([1, 2]), 2.5)
    array([2, 2], dtype=int32)
    >>> mx.full_like(mx.array([1, 2]), 2.5, dtype=mx.float32)
    array([2.5, 2.5], dtype=float32)
    """


def gammaln(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithm of the absolute value of the gamma function of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    lgamma, digamma

    Notes
    -----
    Infinite at zero and the negative integers (DLMF 5.2).

    Examples
    --------
    >>> mx.gammaln(mx.array([1.0, 5.0, 0.0]))
    array([0, 3.17805, inf], dtype=float32)
    """


def gather_mm(
    a: _Operand,
    b: _Operand,
    /,
    lhs_indices: _Operand | None = None,
    rhs_indices: _Operand | None = None,
    *,
    sorted_indices: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Matrix product of matrices selected by index: ``a[lhs_indices] @ b[rhs_indices]``.

    Parameters
    ----------
    a, b : array_like
        Stacks of matrices, of shapes ``(..., m, k)`` and ``(..., k, n)``.
    lhs_indices : array_like of int, optional
        Flat indices into the batch axes of `a`. Negative indices count from the end. Default: all matrices in order.
    rhs_indices : array_like of int, optional
        Flat indices into the batch axes of `b`, as for `lhs_indices`. Both broadcast. Default: all matrices in order.
    sorted_indices : bool, optional
        Hint that the indices are sorted. It changes nothing. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(*index_shape, m, n)`` in the promoted dtype.

    Raises
    ------
    ValueError
        If the inner dimensions differ, or the indices do not broadcast.
    TypeError
        If the indices are not integers.
    IndexError
        When evaluated, if an index is out of bounds.

    See Also
    --------
    matmul, gather_qmm

    Notes
    -----
    The selected matrices are not copied.

    Examples
    --------
    >>> a, b = mx.ones((2, 1, 1)), mx.array([10.0, 20.0, 30.0]).reshape(3, 1, 1)
    >>> mx.gather_mm(a, b, rhs_indices=mx.array([2, 0])).flatten()
    array([30, 10], dtype=float32)
    """


def gather_qmm(
    x: _Operand,
    w: _Operand,
    /,
    scales: _Operand,
    biases: _Operand | None = None,
    lhs_indices: _Operand | None = None,
    rhs_indices: _Operand | None = None,
    transpose: builtins.bool = True,
    group_size: int | None = None,
    bits: int | None = None,
    mode: str = "affine",
    global_scale: _Operand | None = None,
    *,
    sorted_indices: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Product with quantised matrices selected by index: ``x[lhs_indices] @ w[rhs_indices].T``.

    Parameters
    ----------
    x : array_like
        Stack of matrices of shape ``(..., m, k)``.
    w : array_like
        Packed codes of matrices of shape ``(..., n, k)``, or ``(..., k, n)`` with ``transpose=False``.
    scales : array_like
        Scales from `quantize`.
    biases : array_like, optional
        Biases from `quantize`, required in mode 'affine'. Default: None.
    lhs_indices : array_like of int, optional
        Flat indices into the batch axes of `x`. Negative indices count from the end. Default: all matrices in order.
    rhs_indices : array_like of int, optional
        Flat indices into the batch axes of `w`, as for `lhs_indices`. Both broadcast. Default: all matrices in order.
    transpose : bool, optional
        Multiply by the transpose of the matrix, ``x @ w.T``, else ``x @ w``. Default: True.
    group_size : int, optional
        Elements per scale. Default: the default of the mode, see `quantize`.
    bits : int, optional
        Bits per element. Default: the default of the mode, see `quantize`.
    mode : {'affine', 'mxfp4', 'mxfp8', 'nvfp4'}, optional
        Format of `w`. Default: 'affine'.
    global_scale : array_like, optional
        One number, or one for each matrix of `w`. Only for 'nvfp4'. Default: None.
    sorted_indices : bool, optional
        Hint that the indices are sorted. It changes nothing. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(*index_shape, m, n)`` in the promoted dtype of `x` and the scales.

    Raises
    ------
    ValueError
        If the shapes do not match each other and the mode, or biases are missing.
    TypeError
        If an operand is complex or the indices are not integers.
    IndexError
        When evaluated, if an index is out of bounds.

    See Also
    --------
    quantized_matmul, gather_mm, gather_qqmm

    Examples
    --------
    >>> w = mx.quantize(mx.ones((2, 3, 64)))
    >>> mx.gather_qmm(mx.ones((1, 1, 64)), *w, rhs_indices=mx.array([1, 0, 1])).shape
    (3, 1, 3)
    """


def gather_qqmm(
    x: _Operand,
    w: _Operand,
    /,
    scales: _Operand | None = None,
    lhs_indices: _Operand | None = None,
    rhs_indices: _Operand | None = None,
    group_size: int | None = None,
    bits: int | None = None,
    mode: str = "nvfp4",
    global_scale_x: _Operand | None = None,
    global_scale_w: _Operand | None = None,
    *,
    sorted_indices: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Product of two quantised matrices selected by index: ``x[lhs_indices] @ w[rhs_indices].T``.

    Parameters
    ----------
    x : array_like
        Stack of matrices of shape ``(..., m, k)``, not quantised. It is quantised by the function.
    w : array_like
        Stack of matrices of shape ``(..., n, k)``, which is quantised by the function, or packed codes from `quantize`.
    scales : array_like, optional
        Scales from `quantize`, required where `w` is packed. Default: None.
    lhs_indices : array_like of int, optional
        Flat indices into the batch axes of `x`. Negative indices count from the end. Default: all matrices in order.
    rhs_indices : array_like of int, optional
        Flat indices into the batch axes of `w`, as for `lhs_indices`. Both broadcast. Default: all matrices in order.
    group_size : int, optional
        Elements per scale. Default: the default of the mode, see `quantize`.
    bits : int, optional
        Bits per element. Default: the default of the mode, see `quantize`.
    mode : {'nvfp4', 'mxfp8', 'mxfp4'}, optional
        Format of both operands. Default: 'nvfp4'.
    global_scale_x, global_scale_w : array_like, optional
        Largest magnitudes in `x` and `w`: one number, or one for each matrix of the operand. Both or neither, only for
        'nvfp4'. Default: None.
    sorted_indices : bool, optional
        Hint that the indices are sorted. It changes nothing. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(*index_shape, m, n)``. Dtype of `x`, or the promoted dtype of `x` and an unquantised `w`.

    Raises
    ------
    ValueError
        If the shapes do not match each other and the mode, the mode is 'affine', `w` is packed without `scales`, or
        only one global scale is given.
    TypeError
        If an operand is complex or the indices are not integers.
    IndexError
        When evaluated, if an index is out of bounds.

    See Also
    --------
    qqmm, gather_qmm, gather_mm

    Examples
    --------
    >>> x, w = mx.ones((1, 1, 32)), mx.ones((2, 1, 32))
    >>> mx.gather_qqmm(x, w, rhs_indices=mx.array([1, 0, 1]), mode="mxfp8").flatten()
    array([32, 32, 32], dtype=float32)
    """


def gcd(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Greatest common divisor of integers, element by element.

    Parameters
    ----------
    a, b : array_like
        Integers whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; not negative unless it overflows.

    Raises
    ------
    TypeError
        If the promoted dtype is not an integer dtype, or an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    lcm

    Notes
    -----
    ``gcd(0, b) = abs(b)``, and ``gcd(0, 0) = 0``.

    Examples
    --------
    >>> mx.gcd(mx.array([12, -8, 0]), mx.array([18, 12, -5]))
    array([6, 4, 5], dtype=int32)
    """


def geomspace(
    start: _Operand,
    stop: _Operand,
    num: int = 50,
    endpoint: builtins.bool = True,
    dtype: _DType = None,
    *,
    axis: int = 0,
    stream: _StreamOrDevice = None,
) -> array:
    """Create values in geometric progression between two ends.

    Parameters
    ----------
    start, stop : array_like
        Ends of the progression, of the same sign and not zero; or complex. Arrays broadcast.
    num : int, optional
        Number of values. Default: 50.
    endpoint : bool, optional
        Whether the last value is `stop`. If False, `stop` would be the next value. Default: True.
    dtype : dtype, optional
        Dtype of the result. Default: float32, for complex ends complex64.
    axis : int, optional
        Axis of the result along which the values lie, for arrays as ends. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        ``start * (stop / start) ** (i / (num - endpoint))``. The ends are exact. Complex values follow the spiral that
        takes the shorter way around zero.

    Raises
    ------
    ValueError
        If `num` is negative, an end is zero or not finite, real ends differ in sign, or the ends do not broadcast.
    IndexError
        If `axis` is out of bounds.
    TypeError
        If an end is complex and `dtype` is not.

    See Also
    --------
    logspace, linspace

    Notes
    -----
    Inside `vmap`, `compile` and `grad`, where values are unknown, invalid ends yield NaN instead of an error. If the ends are
    arrays, the values are differentiable with respect to them.

    Examples
    --------
    >>> mx.geomspace(1, 1000, 4)
    array([1, 10, 100, 1000], dtype=float32)
    >>> mx.geomspace(1, 8, 3, endpoint=False)
    array([1, 2, 4], dtype=float32)
    """


def get_active_memory() -> int:
    """Return the number of bytes that arrays occupy on the default device.

    Returns
    -------
    int

    See Also
    --------
    get_peak_memory, get_cache_memory, set_memory_limit

    Examples
    --------
    >>> x = mx.zeros(1000)
    >>> mx.eval(x)
    >>> mx.get_active_memory() >= x.nbytes
    True
    """


def get_array_buffer_size(*args: Any) -> int:
    """Return the number of bytes of the buffers behind arrays.

    Parameters
    ----------
    *args : array or pytree of arrays
        Evaluated arrays, or nested lists, tuples and dicts of them. Other objects are ignored.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If an array is not evaluated.

    See Also
    --------
    get_active_memory

    Notes
    -----
    A buffer that several arrays share is counted once. A view counts as its whole buffer.

    Examples
    --------
    >>> x = mx.zeros(1000)
    >>> mx.eval(x)
    >>> mx.get_array_buffer_size(x, x[:10])
    4000
    """


def get_cache_memory() -> int:
    """Return the number of bytes that are cached for reuse.

    Returns
    -------
    int

    See Also
    --------
    clear_cache, set_cache_limit

    Examples
    --------
    >>> mx.clear_cache()
    >>> mx.get_cache_memory()
    0
    """


def get_memory_limit() -> int:
    """Return the memory limit in bytes.

    Returns
    -------
    int

    See Also
    --------
    set_memory_limit

    Examples
    --------
    >>> mx.get_memory_limit() > 0
    True
    """


def get_num_threads() -> int:
    """Return the number of CPU threads that a kernel uses, including the calling one.

    Returns
    -------
    int

    See Also
    --------
    set_num_threads

    Examples
    --------
    >>> mx.get_num_threads() >= 1
    True
    """


def get_peak_memory() -> int:
    """Return the peak of the active memory in bytes since the start or the last reset.

    Returns
    -------
    int

    See Also
    --------
    reset_peak_memory, get_active_memory

    Examples
    --------
    >>> mx.get_peak_memory() >= mx.get_active_memory()
    True
    """


def get_printoptions() -> PrintOptions:
    """Return the current options for printing arrays.

    Returns
    -------
    PrintOptions
        Object with the options of `set_printoptions` as attributes.

    See Also
    --------
    set_printoptions, printoptions

    Examples
    --------
    >>> mx.get_printoptions().precision
    -1
    """


def grad(
    fun: Callable[_P, Any],
    argnums: int | Sequence[int] | None = None,
    argnames: str | Sequence[str] | None = None,
    *,
    has_aux: builtins.bool = False,
    holomorphic: builtins.bool = False,
) -> Callable[_P, Any]:
    """Return a function that computes the gradient of a scalar-valued function.

    Parameters
    ----------
    fun : callable
        Function to differentiate. Returns a scalar array, or a tuple whose first item is one.
    argnums : int or sequence of int, optional
        Positional arguments to differentiate with respect to. Default: 0, or none if `argnames` is given.
    argnames : str or sequence of str, optional
        Keyword arguments to differentiate with respect to. Default: none.
    has_aux : bool, optional
        Whether `fun` returns a pair ``(value, aux)``, where `aux` is any object. Default: False.
    holomorphic : bool, optional
        Compute the complex derivative ``df/dz`` of a complex value with respect to complex arguments. Default: False.

    Returns
    -------
    callable
        Takes the arguments of `fun` and returns the gradient: a pytree with the structure of the chosen argument, or a
        tuple of such pytrees if `argnums` is a sequence. With `argnames` it returns a pair ``(positional, named)``, where
        `named` is a dict by argument name and `positional` is None if `argnums` is not given. With `has_aux` it returns
        ``(gradient, aux)``.

    Raises
    ------
    TypeError
        If `fun` is not callable; from the returned function, if `has_aux` is set and `fun` does not return a pair, or if
        `holomorphic` is set and an argument or the value is not complex.
    ValueError
        If `argnums` is negative or repeated; from the returned function, if it names an argument that the call does not
        have, if a chosen argument holds anything but arrays, or if the value is not a scalar array.

    See Also
    --------
    value_and_grad, vjp, jacrev, hessian

    Notes
    -----
    Reverse-mode differentiation. A chosen argument is an array or a pytree (nested lists, tuples and dicts) of arrays.
    Gradients have the shape and dtype of their argument; integers and booleans get float32. Arrays that the result does
    not depend on get zeros. Arrays that `fun` captures are constants.

    For a real value and complex ``z = x + iy`` the gradient is ``df/dx + i df/dy``, the direction of steepest ascent.

    `fun` receives the caller's own lists and dicts, including subclasses such as modules. Their arrays are replaced by
    traced arrays during the call and restored after it; other changes that `fun` makes to a container persist. Tuples are
    rebuilt. Traced arrays have values, so ``x.item()`` and ``if x > 0`` work inside `fun`.

    Examples
    --------
    >>> mx.grad(lambda x: (x**2).sum())(mx.array([1.0, 2.0, 3.0]))
    array([2, 4, 6], dtype=float32)
    >>> loss = lambda p, x: (p["w"] * x + p["b"]).sum()
    >>> mx.grad(loss)({"w": mx.array(2.0), "b": mx.array(0.0)}, mx.array([1.0, 3.0]))
    {'w': array(4, dtype=float32), 'b': array(2, dtype=float32)}
    >>> mx.grad(lambda x, y: x * y, argnums=(0, 1))(mx.array(2.0), mx.array(3.0))
    (array(3, dtype=float32), array(2, dtype=float32))
    """


def gradient(
    f: _Operand,
    *varargs: _Operand,
    axis: _Axes | None = None,
    edge_order: Literal[1, 2] = 1,
    stream: _StreamOrDevice = None,
) -> array | list[array]:
    """Numerical gradient of sampled values, by differences of adjacent elements.

    Parameters
    ----------
    f : array_like
        Values at the points of a grid.
    *varargs : array_like
        Spacing: nothing for unit distances, one number for all axes, or for each axis a number or the coordinates
        along it.
    axis : int or sequence of int, optional
        Axes to differentiate along. Default: all axes.
    edge_order : int, optional
        Differences at the two ends of an axis: 1 from two points, 2 from three points. Default: 1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array or list of array
        Derivatives of the shape of `f` along each axis, an array for a single axis; float32 if `f` and the spacing
        are integers or booleans, else the promoted dtype.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice or has fewer than ``edge_order + 1`` points, the spacing does not fit the axes, or
        `edge_order` is neither 1 nor 2.

    See Also
    --------
    diff, grad

    Notes
    -----
    Interior points use second-order accurate central differences, for uneven coordinates the derivative of the
    parabola through three points. `mx.grad` differentiates functions; this function differentiates samples.

    Examples
    --------
    >>> mx.gradient(mx.array([0.0, 1.0, 4.0, 9.0]))
    array([1, 2, 4, 5], dtype=float32)
    >>> mx.gradient(mx.array([0.0, 1.0, 4.0, 9.0]), 2.0, edge_order=2)
    array([0, 1, 2, 3], dtype=float32)
    >>> mx.gradient(mx.array([[0.0, 1.0], [4.0, 9.0]]), axis=1)
    array([[1, 1],
           [5, 5]], dtype=float32)
    """


def greater(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Test whether `a` is greater than `b`, element by element: `a > b`.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the broadcast shape.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    greater_equal, less

    Notes
    -----
    Complex numbers are ordered by their real parts, then by their imaginary parts. Comparisons with NaN are false.
    Signed integers and uint64 are compared by their exact values, and so are Python integers beyond the range of
    the dtype.

    Examples
    --------
    >>> mx.greater(mx.array([1, 2, 3]), 2)
    array([False, False, True], dtype=bool)
    """


def greater_equal(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Test whether `a` is at least `b`, element by element: `a >= b`.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the broadcast shape.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    greater, less_equal

    Notes
    -----
    Complex numbers are ordered by their real parts, then by their imaginary parts. Comparisons with NaN are false.
    Signed integers and uint64 are compared by their exact values, and so are Python integers beyond the range of
    the dtype.

    Examples
    --------
    >>> mx.greater_equal(mx.array([1, 2, 3]), 2)
    array([False, True, True], dtype=bool)
    """


def hadamard_transform(
    a: _Operand,
    scale: float | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Walsh-Hadamard transform along the last axis: ``scale * (H @ x)``.

    Parameters
    ----------
    a : array_like
        Last axis of length ``m * 2**k`` with `m` one of 1, 12, 20 and 28. Integers are computed in float32.
    scale : float, optional
        Factor of the result. Default: ``1 / sqrt(length)``, which preserves the 2-norm.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `a`; its floating or complex dtype, float32 for integers.

    Raises
    ------
    ValueError
        If there is no matrix for the length of the last axis, or the axis is empty.

    Notes
    -----
    `H` is a Kronecker product of a Hadamard matrix of order `m` and of Sylvester's matrices. Orders 12, 20 and 28 are
    constructions of R. Paley (J. Math. Phys. 12, 1933) and J. Williamson (Duke Math. J. 11, 1944). float16 and bfloat16
    are computed in float32 and rounded once. A 0-D array counts as length 1.

    Examples
    --------
    >>> mx.hadamard_transform(mx.array([1.0, 2.0, 3.0, 4.0]), scale=1.0)
    array([10, -2, -4, 0], dtype=float32)
    """


def hamming(M: int, *, stream: _StreamOrDevice = None) -> array:
    """Hamming window: a raised cosine that does not reach zero at its ends.

    Parameters
    ----------
    M : int
        Number of points. Below 1 the window is empty; for 1 it is ``[1]``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        ``w[n] = 0.54 - 0.46 * cos(2 * pi * n / (M - 1))``, float32 of shape ``(M,)``.

    Raises
    ------
    OverflowError
        If the window has more elements than memory can address.

    See Also
    --------
    bartlett, blackman, hanning, kaiser

    Notes
    -----
    F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proceedings of the
    IEEE 66 (1978).

    Examples
    --------
    >>> mx.hamming(5)
    array([0.08, 0.54, 1, 0.54, 0.08], dtype=float32)
    """


def hanning(M: int, *, stream: _StreamOrDevice = None) -> array:
    """Hann window: a raised cosine with zeros at both ends.

    Parameters
    ----------
    M : int
        Number of points. Below 1 the window is empty; for 1 it is ``[1]``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        ``w[n] = 0.5 - 0.5 * cos(2 * pi * n / (M - 1))``, float32 of shape ``(M,)``.

    Raises
    ------
    OverflowError
        If the window has more elements than memory can address.

    See Also
    --------
    bartlett, blackman, hamming, kaiser

    Notes
    -----
    F. J. Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", Proceedings of the
    IEEE 66 (1978).

    Examples
    --------
    >>> mx.hanning(5)
    array([0, 0.5, 1, 0.5, 0], dtype=float32)
    """


def heaviside(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Heaviside step function: 0 where `a` is negative, 1 where it is positive, `b` where it is zero.

    Parameters
    ----------
    a : array_like
        Input of a real dtype.
    b : array_like
        Values at zero, of a real dtype; the shapes of `a` and `b` broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.

    Raises
    ------
    TypeError
        If an operand is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    sign, where

    Notes
    -----
    NaN in `a` stays NaN.

    Examples
    --------
    >>> mx.heaviside(mx.array([-1.5, 0.0, 2.0]), 0.5)
    array([0, 0.5, 1], dtype=float32)
    """


def hessian(
    fun: Callable[_P, Any],
    argnums: int | Sequence[int] | None = None,
    has_aux: builtins.bool = False,
    *,
    holomorphic: builtins.bool = False,
) -> Callable[_P, Any]:
    """Return a function that computes the second derivatives of a function.

    Parameters
    ----------
    fun : callable
        Function to differentiate. Returns an array or a pytree (nested lists, tuples and dicts) of arrays.
    argnums : int or sequence of int, optional
        Positional arguments to differentiate with respect to. Default: 0.
    has_aux : bool, optional
        Whether `fun` returns a pair ``(outputs, aux)``, where `aux` is any object. Default: False.
    holomorphic : bool, optional
        Require complex arguments and outputs, and compute complex derivatives. Default: False.

    Returns
    -------
    callable
        Takes the arguments of `fun` and returns the Hessian: the output pytree with the argument pytree in place of each
        array, and the argument pytree again in place of each array there. Each leaf has shape
        ``output.shape + input1.shape + input2.shape``. With `has_aux` it returns ``(hessian, aux)``.

    Raises
    ------
    TypeError
        If `fun` is not callable; from the returned function, if `has_aux` is set and `fun` does not return a pair, or if
        `holomorphic` is set and an argument or output is not complex.
    ValueError
        If `argnums` is negative or repeated; from the returned function, if arguments or outputs hold anything but arrays.

    See Also
    --------
    grad, jacfwd, jacrev

    Notes
    -----
    Computed as ``jacfwd(jacrev(fun))``: forward mode over reverse mode.

    Examples
    --------
    >>> mx.hessian(lambda x: x[0] ** 2 * x[1])(mx.array([3.0, 5.0]))
    array([[10, 6],
           [6, 0]], dtype=float32)
    """


def histogram(
    a: _Operand,
    bins: str | _Operand = 10,
    range: tuple[float, float] | None = None,
    density: builtins.bool | None = None,
    weights: _Operand | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, array]:
    """Count the elements in each bin.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    bins : int, str or array_like, optional
        Number of bins of equal width; name of a rule that chooses it; or bin edges in ascending order. Default: 10.
    range : tuple of float, optional
        Lower and upper end of bins of equal width. Default: minimum and maximum of `a`.
    density : bool, optional
        Divide each count by the total and by the width of its bin, so that the integral is one. Default: False.
    weights : array_like, optional
        Weights of the elements, of the shape of `a`, to be summed instead of counted. Not with a rule. Default:
        none.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    counts : array
        int32 counts, or sums of `weights` in their dtype; a floating dtype with `density`.
    edges : array
        Edges of the bins, one more than there are bins: the dtype of `a`, float32 for integers; or `bins` if it
        holds the edges.

    Raises
    ------
    TypeError
        If `a` is complex, weights are given with a rule, or an argument is not convertible.
    ValueError
        If there are no bins, the edges descend, the rule is unknown, `range` descends or is not finite, the elements are
        not finite and no `range` is given, or `weights` has another shape. Inside `vmap` and `compile` also if `bins` is a
        rule.

    See Also
    --------
    histogram2d, histogramdd, histogram_bin_edges, bincount, digitize

    Notes
    -----
    A bin includes its lower edge; the last bin includes its upper edge too. Elements outside of the bins, and NaN,
    are not counted.

    The rules are ``"sqrt"``, ``"sturges"`` (1926), ``"rice"``, ``"scott"`` (1979), ``"fd"`` (Freedman and Diaconis,
    1981), ``"doane"`` (1976), ``"stone"`` (1984) and ``"auto"``, which takes the smaller width of ``"sturges"`` and
    ``"fd"``. They evaluate `a`.

    Examples
    --------
    >>> mx.histogram(mx.array([1.0, 2.0, 1.0, 4.0]), bins=3)
    (array([2, 1, 1], dtype=int32), array([1, 2, 3, 4], dtype=float32))
    """


def histogram2d(
    x: _Operand,
    y: _Operand,
    bins: _Operand = 10,
    range: Sequence[Sequence[float] | None] | None = None,
    density: builtins.bool | None = None,
    weights: _Operand | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, array, array]:
    """Count the points of a plane in each bin of a grid.

    Parameters
    ----------
    x, y : array_like
        Coordinates of the points: vectors of one length.
    bins : int, array_like or pair of either, optional
        Number of bins of equal width along both axes; bin edges along both axes in ascending order; or a pair with one of
        these for each axis. Default: 10.
    range : sequence of tuple of float, optional
        For each axis lower and upper end of bins of equal width, or None. Default: minimum and maximum along each axis.
    density : bool, optional
        Divide each count by the total and by the area of its bin, so that the integral is one. Default: False.
    weights : array_like, optional
        Weights of the points, of the shape of `x`, to be summed instead of counted. Default: none.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    counts : array
        int32 counts, or sums of `weights` in their dtype; a floating dtype with `density`. `x` along the first axis, `y`
        along the second.
    x_edges, y_edges : array
        Edges of the bins along each axis, of the dtype of the coordinates, float32 for integers; or those in `bins`.

    Raises
    ------
    TypeError
        If `x` or `y` is complex, or an argument is not convertible.
    ValueError
        If there are no bins, the edges descend, `bins` or `range` has not one entry for each axis, a range descends or is
        not finite, the points are not finite and no `range` is given, or `x`, `y` and `weights` are not vectors of one
        length.

    See Also
    --------
    histogram, histogramdd

    Notes
    -----
    A bin includes its lower edge; the last bin along each axis includes its upper edge too. Points outside of the bins,
    and those with a NaN, are not counted.

    Examples
    --------
    >>> mx.histogram2d(mx.array([1, 2, 2]), mx.array([5, 5, 6]), bins=2)[0]
    array([[1, 0],
           [1, 1]], dtype=int32)
    """


def histogram_bin_edges(
    a: _Operand,
    bins: str | _Operand = 10,
    range: tuple[float, float] | None = None,
    weights: _Operand | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Edges of the bins of a histogram.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    bins : int, str or array_like, optional
        Number of bins of equal width; name of a rule that chooses it; or bin edges in ascending order. Default: 10.
    range : tuple of float, optional
        Lower and upper end of bins of equal width. Default: minimum and maximum of `a`.
    weights : array_like, optional
        Accepted for compatibility; it has no effect.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Edges, one more than there are bins: the dtype of `a`, float32 for integers; or `bins` if it holds the
        edges.

    Raises
    ------
    TypeError
        If `a` is complex, or an argument is not convertible.
    ValueError
        If there are no bins, the edges descend, the rule is unknown, `range` descends or is not finite, or the elements are
        not finite and no `range` is given. Inside `vmap` and `compile` also if `bins` is a rule.

    See Also
    --------
    histogram

    Notes
    -----
    The rules are ``"sqrt"``, ``"sturges"`` (1926), ``"rice"``, ``"scott"`` (1979), ``"fd"`` (Freedman and Diaconis,
    1981), ``"doane"`` (1976), ``"stone"`` (1984) and ``"auto"``, which takes the smaller width of ``"sturges"`` and
    ``"fd"``. They evaluate `a`.

    Examples
    --------
    >>> mx.histogram_bin_edges(mx.array([1.0, 2.0, 5.0]), bins=2)
    array([1, 3, 5], dtype=float32)
    >>> mx.histogram_bin_edges(mx.array([1.0, 2.0, 5.0]), bins=4, range=(0, 1))
    array([0, 0.25, 0.5, 0.75, 1], dtype=float32)
    """


def histogramdd(
    sample: _Operand,
    bins: _Operand = 10,
    range: Sequence[Sequence[float] | None] | None = None,
    density: builtins.bool | None = None,
    weights: _Operand | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, tuple[array, ...]]:
    """Count the points in each bin of a grid.

    Parameters
    ----------
    sample : array_like or sequence of array_like
        Points: a matrix of shape ``(N, D)`` with a row for each point, or a sequence of `D` vectors, the coordinates along
        each axis.
    bins : int, or sequence of int or array_like, optional
        Number of bins of equal width along every axis; or for each axis such a number or bin edges in ascending order.
        Default: 10.
    range : sequence of tuple of float, optional
        For each axis lower and upper end of bins of equal width, or None. Default: minimum and maximum along each axis.
    density : bool, optional
        Divide each count by the total and by the volume of its bin, so that the integral is one. Default: False.
    weights : array_like, optional
        Weights of the points, of shape ``(N,)``, to be summed instead of counted. Default: none.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    counts : array
        int32 counts, or sums of `weights` in their dtype; a floating dtype with `density`. One axis for each column of
        `sample`.
    edges : tuple of array
        Edges of the bins along each axis, of the dtype of its column, float32 for integers; or those in `bins`.

    Raises
    ------
    TypeError
        If `sample` is complex, or an argument is not convertible.
    ValueError
        If there are no bins, the edges descend, `bins` or `range` has not one entry for each axis, a range descends or is
        not finite, the points are not finite and no `range` is given, or the columns or `weights` have different lengths.

    See Also
    --------
    histogram, histogram2d

    Notes
    -----
    A bin includes its lower edge; the last bin along each axis includes its upper edge too. Points outside of the bins,
    and those with a NaN, are not counted.

    Examples
    --------
    >>> points = mx.array([[0.0, 5.0], [0.1, 7.0], [0.9, 7.0]])
    >>> counts, edges = mx.histogramdd(points, bins=(2, 3), range=[(0, 1), None])
    >>> counts
    array([[1, 0, 1],
           [0, 0, 1]], dtype=int32)
    >>> edges[0]
    array([0, 0.5, 1], dtype=float32)
    """


def hsplit(
    ary: _Operand,
    indices_or_sections: int | Sequence[int] | array,
    *,
    stream: _StreamOrDevice = None,
) -> list[array]:
    """Split an array along its second axis, or a vector along its only one.

    Parameters
    ----------
    ary : array_like
        Input of at least one axis.
    indices_or_sections : int or sequence of int
        Number of parts of equal length, or the indices before which to split.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    list of array
        Views of `ary`.

    Raises
    ------
    ValueError
        If `ary` is 0-d, or the length of the axis is no multiple of the number of sections.

    See Also
    --------
    split, vsplit, dsplit, hstack

    Examples
    --------
    >>> mx.hsplit(mx.array([[1, 2, 3], [4, 5, 6]]), [2])
    [array([[1, 2],
           [4, 5]], dtype=int32), array([[3],
           [6]], dtype=int32)]
    """


def hstack(tup: Sequence[_Operand], *, stream: _StreamOrDevice = None) -> array:
    """Join arrays along the second axis, or along the first for vectors.

    Parameters
    ----------
    tup : sequence of array_like
        Arrays that have the same shape except along that axis. A 0-d array counts as a vector of one element.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The joined array, in the promoted dtype of all arrays.

    Raises
    ------
    ValueError
        If there are no arrays, or their shapes do not fit.

    See Also
    --------
    vstack, dstack, column_stack, concatenate, hsplit

    Examples
    --------
    >>> mx.hstack([mx.array([1, 2]), mx.array([3])])
    array([1, 2, 3], dtype=int32)
    >>> mx.hstack([mx.array([[1], [2]]), mx.array([[3], [4]])])
    array([[1, 3],
           [2, 4]], dtype=int32)
    """


def hypot(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Length of the hypotenuse: `sqrt(a**2 + b**2)`, without overflow of the squares.

    Parameters
    ----------
    a, b : array_like
        Operands of real dtypes whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.

    Raises
    ------
    TypeError
        If an operand is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    arctan2, abs

    Notes
    -----
    An infinity in either operand gives infinity. The gradient at the origin is zero.

    Examples
    --------
    >>> mx.hypot(mx.array([3.0, 3e30]), mx.array([4.0, 4e30]))
    array([5, 5e+30], dtype=float32)
    """


def i0(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Modified Bessel function of the first kind of order zero of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    i0e, i1

    Notes
    -----
    DLMF 10.25. Grows like ``exp(a)`` and overflows; `i0e` does not.

    Examples
    --------
    >>> mx.i0(mx.array([0.0, 1.0]))
    array([1, 1.26607], dtype=float32)
    """


def i0e(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Exponentially scaled `i0` of each element: `exp(-abs(a)) * i0(a)`, without overflow.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    i0

    Examples
    --------
    >>> mx.i0e(mx.array([0.0, 1000.0]))
    array([1, 0.0126172], dtype=float32)
    """


def i1(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Modified Bessel function of the first kind of order one of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    i1e, i0

    Notes
    -----
    DLMF 10.25. Grows like ``exp(a)`` and overflows; `i1e` does not.

    Examples
    --------
    >>> mx.i1(mx.array([0.0, 1.0]))
    array([0, 0.565159], dtype=float32)
    """


def i1e(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Exponentially scaled `i1` of each element: `exp(-abs(a)) * i1(a)`, without overflow.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    i1

    Examples
    --------
    >>> mx.i1e(mx.array([0.0, 1000.0]))
    array([0, 0.0126109], dtype=float32)
    """


def identity(n: int, dtype: _DType = None, *, stream: _StreamOrDevice = None) -> array:
    """Create a square identity matrix.

    Parameters
    ----------
    n : int
        Number of rows and columns.
    dtype : dtype, optional
        Dtype of the matrix. Default: float32.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Identity matrix of shape ``(n, n)``.

    Raises
    ------
    ValueError
        If `n` is negative.

    See Also
    --------
    eye

    Examples
    --------
    >>> mx.identity(2)
    array([[1, 0],
           [0, 1]], dtype=float32)
    """


def imag(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Imaginary part of each element, zero for real dtypes.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`. float32 for complex64, float64 for complex128, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    real, conjugate, angle

    Examples
    --------
    >>> mx.imag(mx.array([1 + 2j, 3 + 0j]))
    array([2, 0], dtype=float32)
    """


def import_function(file: _File, return_metadata: builtins.bool = False) -> Any:
    """Read a function that `export_function` or `exporter` wrote.

    Parameters
    ----------
    file : path
        File to read.
    return_metadata : bool, optional
        Return the stored text, too. Default: False.

    Returns
    -------
    callable or tuple of callable and str
        Function that takes arrays by position or name (or one tuple or list, one dict, or both) and returns a tuple of
        arrays; with `return_metadata` a pair of it and the text.

    Raises
    ------
    TypeError
        If `file` is not a path.
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged or malicious; from the returned function, if no trace in the file matches the arguments.

    See Also
    --------
    export_function, exporter

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mx.export_function(f"{folder}/f", lambda x: x * 2, mx.zeros(2), metadata="doubles")
    ...     f, text = mx.import_function(f"{folder}/f", return_metadata=True)
    >>> f(mx.array([1.0, 2.0])), text
    ((array([2, 4], dtype=float32),), 'doubles')
    """


def indices(
    dimensions: _Shape,
    dtype: _DType = None,
    sparse: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array | tuple[array, ...]:
    """Compute the coordinates of every element of an array of a given shape.

    Parameters
    ----------
    dimensions : int or sequence of int
        Shape of the array.
    dtype : dtype, optional
        Dtype of the coordinates. Default: int32.
    sparse : bool, optional
        Whether to return a tuple of arrays that have length one along all axes but their own. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array or tuple of array
        Array of shape ``(len(dimensions), *dimensions)``, whose part ``i`` holds the coordinates along axis ``i``; with
        `sparse` a tuple of one array for each axis.

    Raises
    ------
    ValueError
        If a length is negative.

    See Also
    --------
    meshgrid, unravel_index

    Examples
    --------
    >>> mx.indices((2, 3))[1]
    array([[0, 1, 2],
           [0, 1, 2]], dtype=int32)
    """


def inner(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inner product: sum of products over the last axis of both arrays.

    Parameters
    ----------
    a, b : array_like
        Arrays of shapes ``(..., k)`` and ``(..., k)``. A 0-D operand multiplies.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The other axes of `a`, then those of `b`, in the promoted dtype.

    Raises
    ------
    ValueError
        If the last axes differ in length.

    See Also
    --------
    vdot, vecdot, tensordot

    Notes
    -----
    No operand is conjugated.

    Examples
    --------
    >>> mx.inner(mx.array([1, 2, 3]), mx.array([4, 5, 6]))
    array(32, dtype=int32)
    """


def insert(
    arr: _Operand,
    obj: _IndexItem,
    values: _Operand,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Insert values before given indices along an axis.

    Parameters
    ----------
    arr : array_like
        Input of any shape.
    obj : int, slice or array_like
        Indices, in `arr`, before which to insert: an integer, a slice, or an array of integers or bool. The length of the
        axis means its end. An array is evaluated.
    values : array_like
        Values, converted to the dtype of `arr`. They broadcast to as many elements as there are indices; at a single index
        any number of values is inserted.
    axis : int, optional
        Axis to insert along. Default: flatten the array first.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array with the values inserted, in the dtype of `arr`.

    Raises
    ------
    IndexError
        If `axis` or an index is out of bounds, or `obj` is no index.
    ValueError
        If the values do not broadcast, or an index array has no value, as inside `vmap` and `compile`.

    See Also
    --------
    delete, append, concatenate

    Examples
    --------
    >>> mx.insert(mx.array([1, 2, 3]), 1, mx.array([8, 9]))
    array([1, 8, 9, 2, 3], dtype=int32)
    >>> mx.insert(mx.array([1, 2, 3]), [0, 3], 7)
    array([7, 1, 2, 3, 7], dtype=int32)
    """


def interp(
    x: _Operand,
    xp: _Operand,
    fp: _Operand,
    left: _Operand | None = None,
    right: builtins.bool | None = None,
    period: float | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Piecewise linear interpolation between points.

    Parameters
    ----------
    x : array_like
        Real abscissas at which to interpolate, of any shape.
    xp : array_like
        Real abscissas of the points, with one axis, in ascending order; any order with `period`.
    fp : array_like
        Values at the points, real or complex, of the shape of `xp`.
    left : array_like, optional
        Value for `x` below the first point. Default: ``fp[0]``.
    right : array_like, optional
        Value for `x` above the last point. Default: ``fp[-1]``.
    period : float, optional
        Period of the function; `left` and `right` are then ignored. Default: not periodic.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Values of the shape of `x`; float32 if all are integers or booleans, else the promoted dtype of the three.

    Raises
    ------
    TypeError
        If `x` or `xp` is complex, or an argument is not convertible to an array.
    ValueError
        If `xp` and `fp` are not vectors of the same length of at least one, or `period` is zero or not finite.

    See Also
    --------
    searchsorted, trapezoid

    Notes
    -----
    The result is meaningless if `xp` descends somewhere. At repeated abscissas the last value counts. Between an
    infinite and a finite value lies the infinite one, between opposite infinities NaN.

    Examples
    --------
    >>> mx.interp(mx.array([-1.0, 0.5, 3.0]), mx.array([0.0, 2.0]), mx.array([1.0, 5.0]))
    array([1, 2, 5], dtype=float32)
    >>> mx.interp(mx.array([350, 10]), mx.array([0, 90, 180, 270]), mx.array([0.0, 1.0, 0.0, -1.0]), period=360)
    array([-0.111111, 0.111111], dtype=float32)
    """


def intersect1d(
    ar1: _Operand,
    ar2: _Operand,
    assume_unique: builtins.bool = False,
    return_indices: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array | tuple[array, ...]:
    """Find the distinct elements that are in both arrays, in ascending order.

    Parameters
    ----------
    ar1, ar2 : array_like
        Inputs, which are flattened and evaluated.
    assume_unique : bool, optional
        Whether the elements of each array are known to be distinct, which saves work. Default: False.
    return_indices : bool, optional
        Whether to return the first index of each element in either array. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array or tuple of array
        Common elements in the promoted dtype; with `return_indices` a tuple ``(values, indices1, indices2)`` of them and of
        uint32 indices into the flattened arrays.

    Raises
    ------
    ValueError
        Inside `vmap` and `compile`, where the arrays have no value.

    See Also
    --------
    union1d, setdiff1d, setxor1d, isin

    Notes
    -----
    NaN is not equal to anything, and so never in the result.

    Examples
    --------
    >>> mx.intersect1d(mx.array([5, 1, 5, 2]), mx.array([2, 7, 5]))
    array([2, 5], dtype=int32)
    """


invert = bitwise_invert

def is_available(device: _Device) -> builtins.bool:
    """Test whether a device is available.

    Parameters
    ----------
    device : Device or DeviceType
        Device to look for.

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If `device` is not a device.

    See Also
    --------
    device_count

    Examples
    --------
    >>> mx.is_available(mx.cpu)
    True
    """


def isclose(
    a: _Operand,
    b: _Operand,
    /,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    *,
    equal_nan: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Test element by element whether `a` is close to `b`: `|a - b| <= atol + rtol * |b|`.

    Parameters
    ----------
    a, b : array_like
        Arrays to compare; their shapes broadcast.
    rtol : float, optional
        Relative tolerance. Default: 1e-5.
    atol : float, optional
        Absolute tolerance. Default: 1e-8.
    equal_nan : bool, optional
        Whether NaN is close to NaN. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the broadcast shape.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    allclose, equal

    Notes
    -----
    The test is not symmetric: `b` is the reference. An infinity is close to itself only. Integers of 32 and 64 bits
    are compared in float64, smaller ones in float32.

    Examples
    --------
    >>> mx.isclose(mx.array([1.0, 1.0]), mx.array([1.000001, 1.1]))
    array([True, False], dtype=bool)
    """


def iscomplex(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Test whether the imaginary part of each element is nonzero.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the same shape as `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    isreal, imag

    Notes
    -----
    Always false for real dtypes.

    Examples
    --------
    >>> mx.iscomplex(mx.array([1 + 0j, 1j]))
    array([False, True], dtype=bool)
    """


def isdtype(dtype: _DType, kind: _DType | tuple[_DType, ...]) -> builtins.bool:
    """Test whether a dtype is of a kind, as in the array API standard.

    Parameters
    ----------
    dtype : dtype
        Dtype to test.
    kind : dtype, str or tuple
        A dtype, the name of a kind, or a tuple of these, of which one has to match. The names are ``"bool"``,
        ``"signed integer"``, ``"unsigned integer"``, ``"integral"``, ``"real floating"``, ``"complex floating"`` and
        ``"numeric"``.

    Returns
    -------
    bool
        Whether `dtype` is of the kind.

    Raises
    ------
    ValueError
        If a name is unknown.
    TypeError
        If `kind` is neither a dtype nor a name.

    See Also
    --------
    issubdtype

    Examples
    --------
    >>> mx.isdtype(mx.int8, "integral")
    True
    >>> mx.isdtype(mx.float32, ("integral", mx.float64))
    False
    """


def isfinite(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Test each element for being finite: neither infinite nor NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the same shape as `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    isinf, isnan

    Notes
    -----
    A complex element is finite if both parts are. Always true for integers and booleans.

    Examples
    --------
    >>> mx.isfinite(mx.array([1.0, mx.nan, mx.inf]))
    array([True, False, False], dtype=bool)
    """


def isin(
    element: _Operand,
    test_elements: _Operand,
    assume_unique: builtins.bool = False,
    invert: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Test which elements are contained in a set of values.

    Parameters
    ----------
    element : array_like
        Elements to test, of any shape.
    test_elements : array_like
        Values of the set, of any shape.
    assume_unique : bool, optional
        Accepted for compatibility with NumPy; it has no effect. Default: False.
    invert : bool, optional
        Whether to test for elements that are not contained. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the shape of `element`.

    See Also
    --------
    intersect1d, setdiff1d, searchsorted

    Notes
    -----
    NaN is not contained in any set. Values of different dtypes are compared exactly, without rounding.

    Examples
    --------
    >>> mx.isin(mx.array([1, 2, 5]), mx.array([2, 5]))
    array([False, True, True], dtype=bool)
    """


def isinf(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Test each element for an infinity of either sign.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the same shape as `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    isposinf, isneginf, isfinite

    Notes
    -----
    A complex element is infinite if either part is. Always false for integers and booleans.

    Examples
    --------
    >>> mx.isinf(mx.array([1.0, mx.nan, -mx.inf]))
    array([False, False, True], dtype=bool)
    """


def isnan(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Test each element for NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the same shape as `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    isfinite, isinf, nan_to_num

    Notes
    -----
    A complex element is NaN if either part is. Always false for integers and booleans.

    Examples
    --------
    >>> mx.isnan(mx.array([1.0, mx.nan, mx.inf]))
    array([False, True, False], dtype=bool)
    """


def isneginf(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Test each element for negative infinity.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the same shape as `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    isposinf, isinf

    Notes
    -----
    A complex element counts if it is equal to ``-inf + 0j``. Always false for integers and booleans.

    Examples
    --------
    >>> mx.isneginf(mx.array([1.0, mx.inf, -mx.inf]))
    array([False, False, True], dtype=bool)
    """


def isposinf(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Test each element for positive infinity.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the same shape as `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    isneginf, isinf

    Notes
    -----
    A complex element counts if it is equal to ``inf + 0j``. Always false for integers and booleans.

    Examples
    --------
    >>> mx.isposinf(mx.array([1.0, mx.inf, -mx.inf]))
    array([False, True, False], dtype=bool)
    """


def isreal(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Test whether the imaginary part of each element is zero.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the same shape as `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    iscomplex, real

    Notes
    -----
    Always true for real dtypes.

    Examples
    --------
    >>> mx.isreal(mx.array([1 + 0j, 1j]))
    array([True, False], dtype=bool)
    """


def issubdtype(arg1: _DType | DtypeCategory, arg2: _DType | DtypeCategory) -> builtins.bool:
    """Test whether a dtype or category of dtypes belongs to another.

    Parameters
    ----------
    arg1, arg2 : dtype or DtypeCategory
        Dtypes, such as ``mx.float32``, or categories, such as ``mx.floating``.

    Returns
    -------
    bool
        For two dtypes whether they are equal; otherwise whether `arg1` is, or belongs to, the category `arg2`.

    Raises
    ------
    TypeError
        If an argument is neither a dtype nor a category.

    See Also
    --------
    isdtype, can_cast

    Notes
    -----
    The categories are `complexfloating` and `floating`, which form `inexact`; `signedinteger` and `unsignedinteger`, which
    form `integer`; `inexact` and `integer` form `number`; `generic` contains all dtypes, also bool.

    Examples
    --------
    >>> mx.issubdtype(mx.float16, mx.floating)
    True
    >>> mx.issubdtype(mx.bool_, mx.number)
    False
    """


def ix_(*args: _Operand, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """Build index arrays that select the outer product of indices along each axis.

    Parameters
    ----------
    *args : array_like
        1-d arrays of integers or bool, one for each axis. A bool array stands for the indices of its true elements and is
        evaluated.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    tuple of array
        Index arrays that broadcast: array ``i`` varies along axis ``i``.

    Raises
    ------
    ValueError
        If an array is not 1-d.
    TypeError
        If an array is neither of integers nor of bool.

    See Also
    --------
    meshgrid, take

    Examples
    --------
    >>> a = mx.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    >>> a[mx.ix_([0, 2], [False, True, True])]
    array([[2, 3],
           [8, 9]], dtype=int32)
    """


def jacfwd(
    fun: Callable[_P, Any],
    argnums: int | Sequence[int] | None = None,
    has_aux: builtins.bool = False,
    *,
    holomorphic: builtins.bool = False,
) -> Callable[_P, Any]:
    """Return a function that computes the Jacobian of a function in forward mode.

    Parameters
    ----------
    fun : callable
        Function to differentiate. Returns an array or a pytree (nested lists, tuples and dicts) of arrays.
    argnums : int or sequence of int, optional
        Positional arguments to differentiate with respect to. Default: 0.
    has_aux : bool, optional
        Whether `fun` returns a pair ``(outputs, aux)``, where `aux` is any object. Default: False.
    holomorphic : bool, optional
        Require complex arguments and outputs, and compute the complex derivative. Default: False.

    Returns
    -------
    callable
        Takes the arguments of `fun` and returns the Jacobian: the output pytree with the argument pytree (a tuple of them
        if `argnums` is a sequence) in place of each array. Each leaf has shape ``output.shape + input.shape``. With
        `has_aux` it returns ``(jacobian, aux)``.

    Raises
    ------
    TypeError
        If `fun` is not callable; from the returned function, if `has_aux` is set and `fun` does not return a pair, or if
        `holomorphic` is set and an argument or output is not complex.
    ValueError
        If `argnums` is negative or repeated; from the returned function, if arguments or outputs hold anything but arrays.

    See Also
    --------
    jacrev, hessian, jvp

    Notes
    -----
    Computes one Jacobian-vector product for each input element, all in one `vmap`: best for functions with more outputs
    than inputs. Complex outputs are differentiated as holomorphic functions. For real outputs and complex
    ``z = x + iy`` the result is ``df/dx + i df/dy``, as in `grad`.

    Examples
    --------
    >>> mx.jacfwd(lambda x: mx.outer(x, x))(mx.array([1.0, 2.0])).shape
    (2, 2, 2)
    >>> mx.jacfwd(lambda x: x**2)(mx.array([1.0, 2.0]))
    array([[2, 0],
           [0, 4]], dtype=float32)
    """


def jacrev(
    fun: Callable[_P, Any],
    argnums: int | Sequence[int] | None = None,
    has_aux: builtins.bool = False,
    *,
    holomorphic: builtins.bool = False,
) -> Callable[_P, Any]:
    """Return a function that computes the Jacobian of a function in reverse mode.

    Parameters
    ----------
    fun : callable
        Function to differentiate. Returns an array or a pytree (nested lists, tuples and dicts) of arrays.
    argnums : int or sequence of int, optional
        Positional arguments to differentiate with respect to. Default: 0.
    has_aux : bool, optional
        Whether `fun` returns a pair ``(outputs, aux)``, where `aux` is any object. Default: False.
    holomorphic : bool, optional
        Require complex arguments and outputs, and compute the complex derivative. Default: False.

    Returns
    -------
    callable
        Takes the arguments of `fun` and returns the Jacobian: the output pytree with the argument pytree (a tuple of them
        if `argnums` is a sequence) in place of each array. Each leaf has shape ``output.shape + input.shape``. With
        `has_aux` it returns ``(jacobian, aux)``.

    Raises
    ------
    TypeError
        If `fun` is not callable; from the returned function, if `has_aux` is set and `fun` does not return a pair, or if
        `holomorphic` is set and an argument or output is not complex.
    ValueError
        If `argnums` is negative or repeated; from the returned function, if arguments or outputs hold anything but arrays.

    See Also
    --------
    jacfwd, hessian, vjp

    Notes
    -----
    Computes one vector-Jacobian product for each output element, all in one `vmap`: best for functions with more inputs
    than outputs. Complex outputs are differentiated as holomorphic functions. For real outputs and complex
    ``z = x + iy`` the result is ``df/dx + i df/dy``, as in `grad`.

    Examples
    --------
    >>> f = lambda x, y: {"sum": x.sum() * y, "x": x}
    >>> jacobian = mx.jacrev(f, argnums=(0, 1))(mx.array([1.0, 2.0]), mx.array(3.0))
    >>> jacobian["sum"]
    (array([3, 3], dtype=float32), array(3, dtype=float32))
    >>> jacobian["x"][0].shape
    (2, 2)
    """


def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any] | dict[Any, Any],
    *,
    has_aux: builtins.bool = False,
) -> tuple[Any, ...]:
    """Compute the outputs of a function and a Jacobian-vector product.

    Parameters
    ----------
    fun : callable
        Function to differentiate. Returns an array, a sequence of arrays, or a dict of arrays.
    primals : sequence
        Positional arguments of `fun`: arrays, or pytrees (nested lists, tuples and dicts) of arrays.
    tangents : sequence or dict
        One tangent for each array in `primals`, of its shape: structured like `primals`, or a flat list in their order.
    has_aux : bool, optional
        Whether `fun` returns a pair ``(outputs, aux)``, where `aux` is any object. Default: False.

    Returns
    -------
    outputs : list or dict
        Outputs of `fun` at `primals`. A single array becomes a list of one, a tuple becomes a list.
    tangents : list or dict
        Tangents of the outputs, with their structure.
    aux : object
        Only with `has_aux`: the second item that `fun` returned.

    Raises
    ------
    TypeError
        If `fun` is not callable, or if `has_aux` is set and `fun` does not return a pair.
    ValueError
        If primals or outputs hold anything but arrays, or if the tangents differ from the primals in number or shape.

    See Also
    --------
    vjp, jacfwd, linearize

    Notes
    -----
    Computes ``J v`` for the Jacobian ``J`` of `fun` and the tangent ``v``, by forward-mode differentiation: the directional
    derivative of `fun` along ``v``. Integer outputs have tangents in float32; outputs that do not depend on the primals
    have zeros.

    Examples
    --------
    >>> f = lambda x, y: (x * y, x + y)
    >>> mx.jvp(f, [mx.array(2.0), mx.array(3.0)], [mx.array(1.0), mx.array(10.0)])
    ([array(6, dtype=float32), array(5, dtype=float32)], [array(23, dtype=float32), array(11, dtype=float32)])
    """


def kaiser(M: int, beta: float, *, stream: _StreamOrDevice = None) -> array:
    """Kaiser window: a family of windows with an adjustable trade-off of width and side lobes.

    Parameters
    ----------
    M : int
        Number of points. Below 1 the window is empty; for 1 it is ``[1]``.
    beta : float
        Shape parameter; 0 gives a rectangular window, larger values lower side lobes and a wider main lobe.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        ``w[n] = i0(beta * sqrt(1 - t**2)) / i0(beta)`` with ``t = 2 * n / (M - 1) - 1``, where ``i0`` is the modified
        Bessel function of the first kind of order zero; float32 of shape ``(M,)``.

    Raises
    ------
    OverflowError
        If the window has more elements than memory can address.

    See Also
    --------
    bartlett, blackman, hamming, hanning, i0

    Notes
    -----
    J. F. Kaiser, "Digital filters", in F. F. Kuo and J. F. Kaiser, System Analysis by Digital Computer, Wiley (1966).

    Examples
    --------
    >>> mx.kaiser(5, 8.6)
    array([0.00133251, 0.340394, 1, 0.340394, 0.00133251], dtype=float32)
    """


def kron(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Kronecker product: `a` with each element replaced by that element times `b`.

    Parameters
    ----------
    a, b : array_like
        Arrays of any shapes. The shape with fewer axes is padded with ones in front.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Each axis has the product of both lengths. Promoted dtype.

    See Also
    --------
    outer

    Examples
    --------
    >>> mx.kron(mx.eye(2), mx.array([[1.0, 2.0]]))
    array([[1, 2, 0, 0],
           [0, 0, 1, 2]], dtype=float32)
    """


def lcm(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Least common multiple of integers, element by element.

    Parameters
    ----------
    a, b : array_like
        Integers whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; not negative unless it overflows.

    Raises
    ------
    TypeError
        If the promoted dtype is not an integer dtype, or an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    gcd

    Notes
    -----
    Zero if either is zero; integers wrap around on overflow.

    Examples
    --------
    >>> mx.lcm(mx.array([4, -6, 0]), mx.array([6, 4, 5]))
    array([12, 12, 0], dtype=int32)
    """


def ldexp(x: _Operand, n: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Multiply by a power of two: `x * 2**n`, rounded once.

    Parameters
    ----------
    x : array_like
        Real numbers; integers and booleans are converted to float32.
    n : array_like
        Exponents, integers or booleans; the shapes of `x` and `n` broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the dtype of `x`; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If `x` is complex, `n` is not of an integer dtype, or either is not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    frexp

    Examples
    --------
    >>> mx.ldexp(mx.array([1.0, 3.0]), mx.array([4, -1]))
    array([16, 1.5], dtype=float32)
    """


def left_shift(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Bits of `a` shifted left by `b`: `a * 2**b`.

    Parameters
    ----------
    a : array_like
        Integers or booleans to shift.
    b : array_like
        Numbers of bits to shift by; the shapes of `a` and `b` broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; uint8 if both operands are boolean.

    Raises
    ------
    TypeError
        If an operand is floating or complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    right_shift

    Notes
    -----
    Bits shifted out are lost. A count that is negative or at least the number of bits gives zero.

    Examples
    --------
    >>> mx.left_shift(mx.array([1, 3]), 2)
    array([4, 12], dtype=int32)
    """


def less(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Test whether `a` is less than `b`, element by element: `a < b`.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the broadcast shape.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    less_equal, greater

    Notes
    -----
    Complex numbers are ordered by their real parts, then by their imaginary parts. Comparisons with NaN are false.
    Signed integers and uint64 are compared by their exact values, and so are Python integers beyond the range of
    the dtype.

    Examples
    --------
    >>> mx.less(mx.array([1, 2, 3]), 2)
    array([True, False, False], dtype=bool)
    """


def less_equal(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Test whether `a` is at most `b`, element by element: `a <= b`.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the broadcast shape.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    less, greater_equal

    Notes
    -----
    Complex numbers are ordered by their real parts, then by their imaginary parts. Comparisons with NaN are false.
    Signed integers and uint64 are compared by their exact values, and so are Python integers beyond the range of
    the dtype.

    Examples
    --------
    >>> mx.less_equal(mx.array([1, 2, 3]), 2)
    array([True, True, False], dtype=bool)
    """


def lexsort(
    keys: array | Sequence[_Operand],
    axis: int = ...,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Compute the indices that sort by several keys; the last key has the highest priority.

    Parameters
    ----------
    keys : sequence of array_like
        Keys of the same shape. An array counts as the sequence of its elements along axis 0.
    axis : int, optional
        Axis to sort along. Default: -1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Indices, uint32, of the shape of a key. Where elements of the last key are equal, the key before it decides, and so
        on; elements that are equal in all keys keep their order.

    Raises
    ------
    IndexError
        If `axis` is out of bounds.
    ValueError
        If there are no keys, or their shapes differ.

    See Also
    --------
    argsort, sort

    Examples
    --------
    >>> mx.lexsort([mx.array([9, 1, 5]), mx.array([2, 2, 1])])
    array([2, 1, 0], dtype=uint32)
    """


def lgamma(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Alias of `gammaln`.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    gammaln

    Examples
    --------
    >>> mx.lgamma(mx.array([1.0, 5.0]))
    array([0, 3.17805], dtype=float32)
    """


def linearize(
    fun: Callable[..., Any],
    *primals: Sequence[Any],
    has_aux: builtins.bool = False,
) -> tuple[Any, ...]:
    """Compute the outputs of a function at a point, and its derivative there as a linear function.

    Parameters
    ----------
    fun : callable
        Function to differentiate. Returns an array or a pytree (nested lists, tuples and dicts) of arrays.
    *primals : array or pytree of arrays
        Positional arguments of `fun`: the point.
    has_aux : bool, optional
        Whether `fun` returns a pair ``(outputs, aux)``, where `aux` is any object. Default: False.

    Returns
    -------
    outputs : array or pytree of arrays
        ``fun(*primals)``.
    linear : callable
        Takes tangents with the structure and shapes of `primals` and returns the tangents of the outputs.
    aux : object
        Only with `has_aux`: the second item that `fun` returned.

    Raises
    ------
    TypeError
        If `fun` is not callable, or if `has_aux` is set and `fun` does not return a pair.
    ValueError
        If primals or outputs hold anything but arrays; from `linear`, if tangents differ from the primals in number,
        structure or shape.

    See Also
    --------
    jvp, jacfwd

    Notes
    -----
    ``linear(v)`` is the Jacobian-vector product ``J v`` that `jvp` computes. `fun` runs only once; `linear` keeps the
    intermediate values that it needs and can be called many times.

    Examples
    --------
    >>> value, linear = mx.linearize(lambda x: x**2, mx.array(3.0))
    >>> value, linear(mx.array(1.0)), linear(mx.array(10.0))
    (array(9, dtype=float32), array(6, dtype=float32), array(60, dtype=float32))
    """


def linspace(
    start: _Operand,
    stop: _Operand,
    num: int = 50,
    endpoint: builtins.bool = True,
    dtype: _DType = None,
    stream: _StreamOrDevice = None,
    *,
    retstep: builtins.bool = False,
    axis: int = 0,
    device: _Device | None = None,
) -> array | Any:
    """Create a given number of evenly spaced values between two ends.

    Parameters
    ----------
    start, stop : array_like
        Ends of the interval, real or complex. Arrays broadcast.
    num : int, optional
        Number of values. Default: 50.
    endpoint : bool, optional
        Whether the last value is `stop`. If False, `stop` would be the next value. Default: True.
    dtype : dtype, optional
        Dtype of the result. Default: float32, for complex ends complex64.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.
    retstep : bool, optional
        Whether to return the distance of neighbouring values, too. Default: False.
    axis : int, optional
        Axis of the result along which the values lie, for arrays as ends. Default: 0.
    device : Device or str, optional
        Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
        `stream`.

    Returns
    -------
    array
        The values ``start + i * (stop - start) / (num - endpoint)``. If `dtype` is an integer type, they are truncated
        towards zero.
    step : array
        Only with `retstep`: the distance of neighbouring values, NaN if there are none.

    Raises
    ------
    ValueError
        If `num` is negative, or the ends do not broadcast.
    IndexError
        If `axis` is out of bounds.
    TypeError
        If an end is complex and `dtype` is not.

    See Also
    --------
    arange, logspace, geomspace

    Notes
    -----
    If the ends are arrays, the values are differentiable with respect to them.

    Examples
    --------
    >>> mx.linspace(0, 1, 5)
    array([0, 0.25, 0.5, 0.75, 1], dtype=float32)
    >>> mx.linspace(mx.array([0, 1]), 2, 3, axis=-1)
    array([[0, 1, 2],
           [1, 1.5, 2]], dtype=float32)
    """


def load(
    file: _File,
    /,
    format: str | None = None,
    return_metadata: builtins.bool = False,
    *,
    mmap: builtins.bool = True,
    float8: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> Any:
    """Load an array, or several by name, from an npy, npz, safetensors or GGUF file.

    Parameters
    ----------
    file : path or file
        A path, or a file open in binary mode.
    format : {"npy", "npz", "safetensors", "gguf"}, optional
        Format of the file. Default: the one that its extension or its content tells.
    return_metadata : bool, optional
        Return the metadata, too; not for npy files. Default: False.
    mmap : bool, optional
        Map the file into memory instead of reading it. Default: True.
    float8 : bool, optional
        Load safetensors elements of F8_E4M3 and F8_E8M0 as float8_e4m3fn and float8_e8m0fnu instead of uint8. Default:
        False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array or dict of array
        An array for an npy file, otherwise arrays by name. With `return_metadata` a pair ``(arrays, metadata)``: the
        strings of a safetensors file, the values of a GGUF file (arrays, strings, lists of strings), or the text members
        of an npz file.

    Raises
    ------
    TypeError
        If `file` is neither a path nor a file, or if elements have a type without a dtype.
    FileNotFoundError
        If there is no such file.
    OSError
        If the file cannot be read.
    ValueError
        If the file is damaged, of unknown format, of another format than its extension or `format` says, or an archive
        without arrays.

    See Also
    --------
    save, savez, save_safetensors, save_gguf

    Notes
    -----
    A mapped file is read only when its arrays are used, and processes that load the same file share its memory. The
    arrays are read-only memory; updating one makes a copy. Compressed members of npz files, blocks of quantised GGUF
    tensors, elements of the other byte order, and file objects without a file descriptor are read immediately. Unaligned
    elements are copied when they are used.

    The save functions replace a file instead of overwriting it, so arrays mapped from it stay valid. If another program
    truncates a mapped file, reading the missing part ends the process with SIGBUS; if it overwrites the file in place,
    the arrays change. Use ``mmap=False`` for such files.

    GGUF tensors of types Q4_0, Q4_1 and Q8_0 stay quantised: ``name.weight`` (packed, uint32), ``name.scales`` and
    ``name.biases`` (float16), in groups of 32, as `quantized_matmul` takes them. Other quantised types become float16.

    Pickled objects are never loaded; the error for a PyTorch checkpoint explains how to convert it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mx.savez(f"{folder}/a.npz", x=mx.ones(2), n=mx.array(3))
    ...     arrays = mx.load(f"{folder}/a.npz", mmap=False)
    >>> arrays
    {'x': array([1, 1], dtype=float32), 'n': array(3, dtype=int32)}
    """


def log(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Natural logarithm of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    log2, log10, log1p, exp

    Notes
    -----
    Zero gives ``-inf``; negative real numbers give NaN.

    Examples
    --------
    >>> mx.log(mx.array([1.0, mx.e, 0.0]))
    array([0, 1, -inf], dtype=float32)
    """


def log10(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Base-10 logarithm of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    log, log2

    Notes
    -----
    Zero gives ``-inf``; negative real numbers give NaN.

    Examples
    --------
    >>> mx.log10(mx.array([1.0, 100.0]))
    array([0, 2], dtype=float32)
    """


def log1p(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Natural logarithm of one plus each element: `log(1 + a)`, accurate near zero.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    log, expm1

    Notes
    -----
    For small `a` the sum ``1 + a`` rounds away most digits of `a`; this function does not compute it. -1 gives
    ``-inf``, smaller real numbers give NaN.

    Examples
    --------
    >>> x = mx.array([1e-10])
    >>> mx.log1p(x)
    array([1e-10], dtype=float32)
    >>> mx.log(1 + x)
    array([0], dtype=float32)
    """


def log2(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Base-2 logarithm of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    log, log10, exp2

    Notes
    -----
    Zero gives ``-inf``; negative real numbers give NaN.

    Examples
    --------
    >>> mx.log2(mx.array([8.0, 0.25]))
    array([3, -2], dtype=float32)
    """


def log_softmax(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Logarithm of the softmax over one or more axes: `a - logsumexp(a)`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to normalise over. Default: all axes.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice.

    See Also
    --------
    softmax, logsumexp

    Notes
    -----
    Computed as ``(a - max(a)) - log(sum(exp(a - max(a))))``, which keeps digits that ``a - logsumexp(a)`` loses
    beside a large maximum. float16 and bfloat16 are computed in float32 and rounded once.

    Examples
    --------
    >>> mx.log_softmax(mx.array([1e6, 1e6, -mx.inf]))
    array([-0.693147, -0.693147, -inf], dtype=float32)
    """


def logaddexp(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithm of a sum of exponentials: `log(exp(a) + exp(b))`, without overflow.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    logaddexp2, logsumexp

    Examples
    --------
    >>> mx.logaddexp(mx.array([0.0, 1000.0]), mx.array([0.0, 1000.0]))
    array([0.693147, 1000.69], dtype=float32)
    """


def logaddexp2(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Base-2 logarithm of a sum of powers of two: `log2(2**a + 2**b)`, without overflow.

    Parameters
    ----------
    a, b : array_like
        Operands of real dtypes whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.

    Raises
    ------
    TypeError
        If an operand is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    logaddexp

    Examples
    --------
    >>> mx.logaddexp2(mx.array([1.0, 1000.0]), mx.array([1.0, 1000.0]))
    array([2, 1001], dtype=float32)
    """


def logcumsumexp(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: builtins.bool = False,
    inclusive: builtins.bool = True,
    stream: _StreamOrDevice = None,
) -> array:
    """Logarithm of the cumulative sum of exponentials along an axis: `log(cumsum(exp(a)))`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to accumulate along. Default: the flattened array.
    reverse : bool, optional
        Accumulate from the end of the axis. Default: False.
    inclusive : bool, optional
        Include each element in its own result; otherwise results are shifted by one and start from negative
        infinity. Default: True.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape of `a`, or one axis without `axis`. Dtype: float32 for integers, booleans and float8,
        else the dtype of `a`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    logsumexp, cumsum

    Notes
    -----
    Large elements do not overflow.

    Examples
    --------
    >>> mx.logcumsumexp(mx.array([1000.0, 1000.0]))
    array([1000, 1000.69], dtype=float32)
    """


def logical_and(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logical AND of two arrays: true where both elements are nonzero.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the broadcast shape.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    logical_or, logical_xor, logical_not, bitwise_and

    Notes
    -----
    Operands of any dtype; NaN is not zero.

    Examples
    --------
    >>> mx.logical_and(mx.array([0, 2]), mx.array([3.0, mx.nan]))
    array([False, True], dtype=bool)
    """


def logical_not(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logical NOT of each element: true where it is zero.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the same shape as `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    logical_and, logical_or, logical_xor, bitwise_invert

    Notes
    -----
    NaN is not zero, so it gives False.

    Examples
    --------
    >>> mx.logical_not(mx.array([0.0, 2.0, mx.nan]))
    array([True, False, False], dtype=bool)
    """


def logical_or(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logical OR of two arrays: true where either element is nonzero.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the broadcast shape.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    logical_and, logical_xor, logical_not, bitwise_or

    Notes
    -----
    Operands of any dtype; NaN is not zero.

    Examples
    --------
    >>> mx.logical_or(mx.array([0, 2]), mx.array([0.0, 0.0]))
    array([False, True], dtype=bool)
    """


def logical_xor(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logical XOR of two arrays: true where exactly one element is nonzero.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the broadcast shape.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    logical_and, logical_or, logical_not, bitwise_xor

    Notes
    -----
    Operands of any dtype; NaN is not zero.

    Examples
    --------
    >>> mx.logical_xor(mx.array([0, 2]), mx.array([3, 3]))
    array([True, False], dtype=bool)
    """


def logspace(
    start: _Operand,
    stop: _Operand,
    num: int = 50,
    endpoint: builtins.bool = True,
    base: _Operand = 10.0,
    dtype: _DType = None,
    *,
    axis: int = 0,
    stream: _StreamOrDevice = None,
) -> array:
    """Create values evenly spaced on a logarithmic scale; the ends are given as exponents.

    Parameters
    ----------
    start, stop : array_like
        Exponents of the first value and of the end, real or complex. Arrays broadcast.
    num : int, optional
        Number of values. Default: 50.
    endpoint : bool, optional
        Whether the last value is ``base**stop``. Default: True.
    base : array_like, optional
        Base of the powers. An array broadcasts with the ends. Default: 10.
    dtype : dtype, optional
        Dtype of the result. Default: float32, for complex arguments complex64.
    axis : int, optional
        Axis of the result along which the values lie, for arrays. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        ``base ** linspace(start, stop, num, endpoint)``, computed in double precision.

    Raises
    ------
    ValueError
        If `num` is negative, or shapes do not broadcast.
    IndexError
        If `axis` is out of bounds.
    TypeError
        If an argument is complex and `dtype` is not.

    See Also
    --------
    geomspace, linspace, arange

    Notes
    -----
    If the ends or the base are arrays, the values are differentiable with respect to them.

    Examples
    --------
    >>> mx.logspace(0, 3, 4)
    array([1, 10, 100, 1000], dtype=float32)
    >>> mx.logspace(0, 3, 4, base=2)
    array([1, 2, 4, 8], dtype=float32)
    """


def logsumexp(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Logarithm of the sum of exponentials over axes: `log(sum(exp(a)))`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`. Dtype: float32 for integers,
        booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or an axis without elements is reduced.

    See Also
    --------
    softmax, log_softmax, logaddexp, logcumsumexp

    Notes
    -----
    Computed as ``m + log(sum(exp(a - m)))`` with the maximum ``m``, so large elements do not overflow.

    Examples
    --------
    >>> mx.logsumexp(mx.array([1000.0, 1000.0]))
    array(1000.69, dtype=float32)
    """


def map(f: Callable[..., Any], xs: Any, batch_size: int | None = None) -> Any:
    """Apply a function to each row of arrays, one after the other, and stack the results.

    Parameters
    ----------
    f : callable
        Function of one row; returns an array or a pytree (nested lists, tuples and dicts) of arrays.
    xs : array or pytree of arrays
        Arrays with equal numbers of rows along their first axes.
    batch_size : int, optional
        Number of rows to compute together with `vmap`. Default: one row at a time.

    Returns
    -------
    array or pytree of arrays
        Results of all rows, stacked along a new first axis.

    Raises
    ------
    ValueError
        If numbers of rows differ, if an array in `xs` is a scalar, or if `batch_size` is less than 1.

    See Also
    --------
    vmap, scan

    Notes
    -----
    The results are those of ``vmap(f)(xs)``, with the intermediate memory of one row (or `batch_size` rows). `f` is traced
    once. The gradient keeps only `xs` and recomputes the rest.

    Examples
    --------
    >>> mx.map(lambda x: mx.outer(x, x).sum(), mx.array([[1.0, 2.0], [3.0, 4.0]]))
    array([9, 49], dtype=float32)
    """


def matmul(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Matrix product over the last two axes; leading axes broadcast.

    Parameters
    ----------
    a, b : array_like
        Arrays of shapes ``(..., m, k)`` and ``(..., k, n)``. A 1-D `a` is a row, a 1-D `b` a column.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(..., m, n)`` in the promoted dtype, without the axis of a 1-D operand.

    Raises
    ------
    ValueError
        If an operand is 0-D, the inner dimensions differ, or the leading axes do not broadcast.

    See Also
    --------
    dot, einsum, addmm, linalg.multi_dot

    Notes
    -----
    Integers wrap on overflow. For bool, the sum is a logical "or" and the product a logical "and".

    Examples
    --------
    >>> mx.matmul(mx.array([[1.0, 2.0], [3.0, 4.0]]), mx.array([1.0, -1.0]))
    array([-1, -1], dtype=float32)
    >>> mx.matmul(mx.ones((5, 2, 3)), mx.ones((3, 4))).shape
    (5, 2, 4)
    """


def matrix_norm(
    a: _Operand,
    /,
    ord: int | float | str | None = None,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Norm of vectors over one axis, or of matrices over two.

    Parameters
    ----------
    a : array_like
        Real or complex input. Integers and bool are computed in float32.
    ord : float or {'fro', 'nuc'}, optional
        Order of the norm, see the table. Default: the 2-norm of vectors, 'fro' for matrices.
    axis : int or sequence of int, optional
        One axis of vectors, or the axes of the rows and columns of matrices. Default: all axes of a 1-D or 2-D array;
        without `ord`, the 2-norm of all elements of an array of any shape.
    keepdims : bool, optional
        Keep the reduced axes with length 1. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Real, of the shape of `a` without the reduced axes.

    Raises
    ------
    ValueError
        If `ord` is not a norm of vectors or matrices, there are more than two axes, an axis is given twice, or the axis
        of a maximum or minimum is empty.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    linalg.vector_norm, linalg.matrix_norm, linalg.cond

    Notes
    -----
    ========  =============================  ====================================
    ord       vectors                        matrices
    ========  =============================  ====================================
    'fro'     none                           square root of the sum of squares
    'nuc'     none                           sum of the singular values
    inf       max(abs(x))                    max(sum(abs(x), axis=1))
    -inf      min(abs(x))                    min(sum(abs(x), axis=1))
    0         number of non-zero elements    none
    1, -1     sum(abs(x)**p)**(1/p)          max, min of sum(abs(x), axis=0)
    2, -2     sum(abs(x)**p)**(1/p)          largest, smallest singular value
    other     sum(abs(x)**p)**(1/p)          none
    ========  =============================  ====================================

    Intermediate results do not overflow where the norm is representable. The gradient of a vector norm at zero is zero;
    elements that tie for a maximum or minimum share its gradient.

    Examples
    --------
    >>> a = mx.array([[3.0, -4.0], [0.0, 0.0]])
    >>> mx.linalg.norm(a)
    array(5, dtype=float32)
    >>> mx.linalg.norm(a, ord=1, axis=1)
    array([7, 0], dtype=float32)
    """


def matrix_transpose(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Exchange the last two axes of an array.

    Parameters
    ----------
    a : array_like
        Input of at least two axes, a matrix or a batch of matrices.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        View of `a`, each matrix transposed.

    Raises
    ------
    ValueError
        If `a` has fewer than two axes.

    See Also
    --------
    transpose, swapaxes

    Examples
    --------
    >>> mx.matrix_transpose(mx.zeros((2, 3, 4))).shape
    (2, 4, 3)
    """


def max(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    dtype: _DType = None,
    initial: _Operand | None = None,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Maximum of the elements over axes; NaN if any element is NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    dtype : dtype, str or type, optional
        Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
        `a`.
    initial : array_like, optional
        Value that the reduction starts from; it broadcasts to the shape of the result. Required with `where`, then
        as a 0-d value. Default: none.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, an axis without elements is reduced without `initial`, `where` is given without a
        0-d `initial`, or one of them does not broadcast.

    See Also
    --------
    min, argmax, nanmax, maximum

    Notes
    -----
    Complex numbers are ordered by their real parts, then by their imaginary parts. If several elements are the
    maximum, they share the gradient equally.

    Examples
    --------
    >>> mx.max(mx.array([[3, 1], [2, 4]]), axis=1)
    array([3, 4], dtype=int32)
    >>> mx.max(mx.array([3, 1]), initial=9)
    array(9, dtype=int32)
    """


def maximum(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Maximum of two arrays, element by element; NaN if either is NaN.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for float8.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    minimum, fmax, max, clip

    Notes
    -----
    Complex numbers are ordered by their real parts, then by their imaginary parts. Where both are equal, the
    gradient flows to `b`.

    Examples
    --------
    >>> mx.maximum(mx.array([1.0, 5.0, mx.nan]), 3.0)
    array([3, 5, nan], dtype=float32)
    """


def mean(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    dtype: _DType = None,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Arithmetic mean of the elements over axes: `sum(a) / n`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    dtype : dtype, str or type, optional
        Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
        `a`; float32 for integers, booleans and float8.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or `where` does not broadcast.

    See Also
    --------
    average, median, var, nanmean

    Notes
    -----
    The mean of no elements is NaN. The sum is accumulated with more digits or divided before it is rounded, so it
    does not overflow; float16 and bfloat16 are accumulated in float32.

    Examples
    --------
    >>> mx.mean(mx.array([[1, 2], [3, 4]]), axis=0)
    array([2, 3], dtype=float32)
    >>> mx.mean(mx.array([1.0, 2.0, 9.0]), where=mx.array([True, True, False]))
    array(1.5, dtype=float32)
    """


def median(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Median of the elements over axes.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`. Dtype: float32 for integers,
        booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice.

    See Also
    --------
    mean, quantile, nanmedian

    Notes
    -----
    The middle element in sorted order, or the mean of the two middle ones if their number is even. NaN if any
    element is NaN, or if there are no elements.

    Examples
    --------
    >>> mx.median(mx.array([3, 1, 2, 10]))
    array(2.5, dtype=float32)
    """


def meshgrid(
    *arrays: array,
    sparse: builtins.bool = False,
    indexing: str = "xy",
    stream: _StreamOrDevice = None,
) -> tuple[array, ...]:
    """Create coordinate arrays of a grid from the coordinates along its axes.

    Parameters
    ----------
    *arrays : array_like
        Coordinates along each axis of the grid. Arrays of several axes are flattened.
    sparse : bool, optional
        Whether each result has length one along the axes of the other arrays, and broadcasts to the grid. Default: False.
    indexing : {"xy", "ij"}, optional
        ``"xy"``, Cartesian: the first array varies along axis 1, the second along axis 0. ``"ij"``, matrix: array ``i``
        varies along axis ``i``. Default: ``"xy"``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    tuple of array
        One array for each input, in the dtype of the input.

    Raises
    ------
    ValueError
        If `indexing` is neither ``"xy"`` nor ``"ij"``.

    See Also
    --------
    indices, ix_

    Examples
    --------
    >>> x, y = mx.meshgrid(mx.array([1, 2, 3]), mx.array([10, 20]))
    >>> x
    array([[1, 2, 3],
           [1, 2, 3]], dtype=int32)
    >>> y
    array([[10, 10, 10],
           [20, 20, 20]], dtype=int32)
    """


def min(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    dtype: _DType = None,
    initial: _Operand | None = None,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Minimum of the elements over axes; NaN if any element is NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    dtype : dtype, str or type, optional
        Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
        `a`.
    initial : array_like, optional
        Value that the reduction starts from; it broadcasts to the shape of the result. Required with `where`, then
        as a 0-d value. Default: none.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, an axis without elements is reduced without `initial`, `where` is given without a
        0-d `initial`, or one of them does not broadcast.

    See Also
    --------
    max, argmin, nanmin, minimum

    Notes
    -----
    Complex numbers are ordered by their real parts, then by their imaginary parts. If several elements are the
    minimum, they share the gradient equally.

    Examples
    --------
    >>> mx.min(mx.array([[3, 1], [2, 4]]), axis=1)
    array([1, 2], dtype=int32)
    >>> mx.min(mx.array([3, 1]), initial=0)
    array(0, dtype=int32)
    """


def minimum(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Minimum of two arrays, element by element; NaN if either is NaN.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for float8.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    maximum, fmin, min, clip

    Notes
    -----
    Complex numbers are ordered by their real parts, then by their imaginary parts. Where both are equal, the
    gradient flows to `b`.

    Examples
    --------
    >>> mx.minimum(mx.array([1.0, 5.0, mx.nan]), 3.0)
    array([1, 3, nan], dtype=float32)
    """


def minmax(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, array]:
    """Minimum and maximum of the elements over axes.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    minimum : array
        Array without the reduced axes, or with length one for them if `keepdims`.
    maximum : array
        Array of the same shape.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or an axis without elements is reduced.

    See Also
    --------
    min, max, ptp

    Notes
    -----
    Both are NaN if any element is NaN.

    Examples
    --------
    >>> mx.minmax(mx.array([[3, 1], [2, 4]]), axis=1)
    (array([1, 2], dtype=int32), array([3, 4], dtype=int32))
    """


mod = remainder

def modf(a: _Operand, /, *, stream: _StreamOrDevice = None) -> tuple[array, array]:
    """Fractional and integer part of each element, both with its sign.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    fraction : array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    integer : array
        Array of the same shape and dtype.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    trunc, fmod

    Notes
    -----
    The fraction of an infinity is zero. The gradient of the fraction is one, that of the integer part zero.

    Examples
    --------
    >>> mx.modf(mx.array([1.5, -2.25]))
    (array([0.5, -0.25], dtype=float32), array([1, -2], dtype=float32))
    """


def moveaxis(
    a: _Operand,
    /,
    source: _Axes,
    destination: _Axes,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Move axes of an array to new positions; the other axes keep their order.

    Parameters
    ----------
    a : array_like
        Input of at least one axis.
    source : int or sequence of int
        Axes to move.
    destination : int or sequence of int
        Their positions in the result, one for each axis in `source`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        View of `a` with the axes moved.

    Raises
    ------
    IndexError
        If an axis or a position is out of bounds.
    ValueError
        If `source` and `destination` differ in length, or one of them contains an axis twice.

    See Also
    --------
    transpose, swapaxes, rollaxis

    Examples
    --------
    >>> mx.moveaxis(mx.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    >>> mx.moveaxis(mx.zeros((2, 3, 4)), (0, 1), (-1, 0)).shape
    (3, 4, 2)
    """


def multiply(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Product of two arrays, element by element: `a * b`.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for float8.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    divide, matmul

    Notes
    -----
    Integers wrap around on overflow. The product of booleans is their logical AND.

    Examples
    --------
    >>> mx.multiply(mx.array([[1], [2]]), mx.array([10, 20]))
    array([[10, 20],
           [20, 40]], dtype=int32)
    """


def nan_to_num(
    a: _Operand,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Replace NaN and infinities by finite numbers.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    nan : float, optional
        Replacement of NaN. Default: 0.0.
    posinf : float, optional
        Replacement of positive infinity. Default: the largest finite number of the dtype.
    neginf : float, optional
        Replacement of negative infinity. Default: the most negative finite number of the dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape and dtype as `a`; float32 for float8. Integers and booleans are returned unchanged.

    Raises
    ------
    TypeError
        If `a` is not convertible to an array, or a replacement is not a number.

    See Also
    --------
    isnan, isinf, isfinite

    Notes
    -----
    In complex numbers both parts are replaced.

    Examples
    --------
    >>> mx.nan_to_num(mx.array([mx.nan, mx.inf, 1.5]), posinf=9.0)
    array([0, 9, 1.5], dtype=float32)
    """


def nanargmax(
    a: _Operand,
    /,
    axis: int | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Index of the maximum along an axis, ignoring NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to search. Default: the flattened array.
    keepdims : bool, optional
        Keep the reduced axis (all axes if `axis` is None) with length one. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        uint32 array of indices: the first one if several elements are the maximum.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If the axis has no elements; upon evaluation, if all elements along the axis are NaN.

    See Also
    --------
    argmax, nanmax

    Examples
    --------
    >>> mx.nanargmax(mx.array([[mx.nan, 3.0, 2.0], [4.0, mx.nan, 5.0]]), axis=1)
    array([1, 2], dtype=uint32)
    """


def nanargmin(
    a: _Operand,
    /,
    axis: int | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Index of the minimum along an axis, ignoring NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to search. Default: the flattened array.
    keepdims : bool, optional
        Keep the reduced axis (all axes if `axis` is None) with length one. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        uint32 array of indices: the first one if several elements are the minimum.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If the axis has no elements; upon evaluation, if all elements along the axis are NaN.

    See Also
    --------
    argmin, nanmin

    Examples
    --------
    >>> mx.nanargmin(mx.array([[mx.nan, 3.0, 2.0], [4.0, mx.nan, 5.0]]), axis=1)
    array([2, 0], dtype=uint32)
    """


def nancumprod(
    a: _Operand,
    /,
    axis: int | None = None,
    dtype: _DType = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Cumulative product along an axis, ignoring NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to accumulate along. Default: the flattened array.
    dtype : dtype, str or type, optional
        Dtype to compute in and of the result. Default: that of `a`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape of `a`, or one axis without `axis`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    cumprod, nanprod

    Notes
    -----
    NaN counts as 1.

    Examples
    --------
    >>> mx.nancumprod(mx.array([3.0, mx.nan, 2.0]))
    array([3, 3, 6], dtype=float32)
    """


def nancumsum(
    a: _Operand,
    /,
    axis: int | None = None,
    dtype: _DType = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Cumulative sum along an axis, ignoring NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to accumulate along. Default: the flattened array.
    dtype : dtype, str or type, optional
        Dtype to compute in and of the result. Default: that of `a`; int32 for booleans.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape of `a`, or one axis without `axis`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    cumsum, nansum

    Notes
    -----
    NaN counts as 0.

    Examples
    --------
    >>> mx.nancumsum(mx.array([1.0, mx.nan, 2.0]))
    array([1, 1, 3], dtype=float32)
    """


def nanmax(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    initial: _Operand | None = None,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Maximum of the elements over axes, ignoring NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    initial : array_like, optional
        Value that the reduction starts from; it broadcasts to the shape of the result. Required with `where`.
        Default: none.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, an axis without elements is reduced without `initial`, `where` is given without
        `initial`, or one of them does not broadcast.

    See Also
    --------
    max, nanargmax, fmax

    Notes
    -----
    NaN where all elements are NaN. If several elements are the maximum, they share the gradient equally.

    Examples
    --------
    >>> mx.nanmax(mx.array([[3.0, mx.nan, 2.0], [mx.nan, mx.nan, mx.nan]]), axis=1)
    array([3, nan], dtype=float32)
    """


def nanmean(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    dtype: _DType = None,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Arithmetic mean of the elements over axes, ignoring NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    dtype : dtype, str or type, optional
        Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
        `a`; float32 for integers, booleans and float8.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`.

    Raises
    ------
    TypeError
        If `dtype` is not inexact although `a` is, or an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or `where` does not broadcast.

    See Also
    --------
    mean, nanmedian, nansum

    Notes
    -----
    NaN where there is no other element.

    Examples
    --------
    >>> mx.nanmean(mx.array([1.0, mx.nan, 2.0]))
    array(1.5, dtype=float32)
    """


def nanmedian(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Median of the elements over axes, ignoring NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`. Dtype: float32 for integers,
        booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice.

    See Also
    --------
    median, nanquantile, nanmean

    Notes
    -----
    NaN where all elements are NaN, or there are none.

    Examples
    --------
    >>> mx.nanmedian(mx.array([4.0, 1.0, mx.nan, 2.0]))
    array(2, dtype=float32)
    """


def nanmin(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    initial: _Operand | None = None,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Minimum of the elements over axes, ignoring NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    initial : array_like, optional
        Value that the reduction starts from; it broadcasts to the shape of the result. Required with `where`.
        Default: none.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, an axis without elements is reduced without `initial`, `where` is given without
        `initial`, or one of them does not broadcast.

    See Also
    --------
    min, nanargmin, fmin

    Notes
    -----
    NaN where all elements are NaN. If several elements are the minimum, they share the gradient equally.

    Examples
    --------
    >>> mx.nanmin(mx.array([[3.0, mx.nan, 2.0], [mx.nan, mx.nan, mx.nan]]), axis=1)
    array([2, nan], dtype=float32)
    """


def nanpercentile(
    a: _Operand,
    q: _Operand,
    axis: _Axes | None = None,
    *,
    method: str = "linear",
    keepdims: builtins.bool = False,
    weights: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Percentiles of the elements over axes, ignoring NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    q : float or array_like
        Percentages in [0, 100], of any shape.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    method : str, optional
        One of ``"linear"``, ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
        ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``, ``"hazen"``,
        ``"weibull"``, ``"median_unbiased"`` and ``"normal_unbiased"``. Default: ``"linear"``.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    weights : array_like, optional
        Finite weights of the elements, not negative, of the shape of `a` or of the lengths of `axis`. Only with
        method ``"inverted_cdf"``. Default: equal weights.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `q` followed by the shape of the reduction. Methods that select an element (``"lower"``,
        ``"higher"``, ``"nearest"``, ``"inverted_cdf"`` and ``"closest_observation"``) keep the dtype of `a`; the
        others give float32 for integers and booleans.

    Raises
    ------
    TypeError
        If `a` is complex, `q` is complex, or an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If `q` is outside of [0, 100], the method is unknown, an axis is given twice, or `weights` is negative, not
        finite, of another shape or given with another method.

    See Also
    --------
    percentile, nanquantile

    Notes
    -----
    NaN where all elements are NaN, or there are none.

    The methods are those of Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996, with NumPy's names;
    ``"linear"`` interpolates at position ``q / 100 * (n - 1)`` of the sorted elements. Inside `vmap` and `compile`,
    values of `q` are limited to their range instead of checked.

    Examples
    --------
    >>> mx.nanpercentile(mx.array([4.0, 1.0, mx.nan, 2.0]), 50)
    array(2, dtype=float32)
    """


def nanprod(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    dtype: _DType = None,
    initial: _Operand | None = None,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Product of the elements over axes, ignoring NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    dtype : dtype, str or type, optional
        Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
        `a`, but int32 for booleans and smaller signed integers, and uint32 for smaller unsigned ones.
    initial : array_like, optional
        Value that the reduction starts from; it broadcasts to the shape of the result. Default: 1.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or `initial` or `where` does not broadcast.

    See Also
    --------
    prod, nanmean

    Notes
    -----
    NaN counts as 1, so the result is 1 if there are no other elements.

    Examples
    --------
    >>> mx.nanprod(mx.array([[3.0, mx.nan, 2.0], [mx.nan, mx.nan, mx.nan]]), axis=1)
    array([6, 1], dtype=float32)
    """


def nanquantile(
    a: _Operand,
    q: _Operand,
    axis: _Axes | None = None,
    *,
    method: str = "linear",
    keepdims: builtins.bool = False,
    weights: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Quantiles of the elements over axes, ignoring NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    q : float or array_like
        Probabilities in [0, 1], of any shape. An array must have a floating dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    method : str, optional
        One of ``"linear"``, ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
        ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``, ``"hazen"``,
        ``"weibull"``, ``"median_unbiased"`` and ``"normal_unbiased"``. Default: ``"linear"``.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    weights : array_like, optional
        Finite weights of the elements, not negative, of the shape of `a` or of the lengths of `axis`. Only with
        method ``"inverted_cdf"``. Default: equal weights.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `q` followed by the shape of the reduction. Methods that select an element (``"lower"``,
        ``"higher"``, ``"nearest"``, ``"inverted_cdf"`` and ``"closest_observation"``) keep the dtype of `a`; the
        others give float32 for integers and booleans.

    Raises
    ------
    TypeError
        If `a` is complex, `q` is an array that is not floating, or an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If `q` is outside of [0, 1], the method is unknown, an axis is given twice, or `weights` is negative, not
        finite, of another shape or given with another method.

    See Also
    --------
    quantile, nanpercentile, nanmedian

    Notes
    -----
    NaN where all elements are NaN, or there are none.

    The methods are those of Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996, with NumPy's names;
    ``"linear"`` interpolates at position ``q * (n - 1)`` of the sorted elements. Inside `vmap` and `compile`,
    values of `q` are limited to their range instead of checked.

    Examples
    --------
    >>> mx.nanquantile(mx.array([4.0, 1.0, mx.nan, 2.0]), 0.5)
    array(2, dtype=float32)
    """


def nanstd(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    ddof: int = 0,
    *,
    correction: int | None = None,
    dtype: _DType = None,
    where: _Operand | None = None,
    mean: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Standard deviation of the elements over axes, ignoring NaN: `sqrt(nanvar(a))`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    ddof : int, optional
        Delta degrees of freedom: the divisor is ``n - ddof``, where ``n`` counts the elements that are not NaN.
        Default: 0.
    correction : float, optional
        The array API standard's name for `ddof`; it takes precedence and may be fractional. Default: `ddof`.
    dtype : dtype, str or type, optional
        Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
        `a`; float32 for integers, booleans and float8.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    mean : array_like, optional
        Mean of the elements if it is known already, with the reduced axes kept. Default: the computed mean.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`; of the real dtype of the same
        precision.

    Raises
    ------
    TypeError
        If `dtype` is not inexact although `a` is, or an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or `where` or `mean` does not broadcast.

    See Also
    --------
    std, nanvar, nanmean

    Notes
    -----
    NaN where ``n <= ddof``. The gradient between equal elements, where the function is not differentiable, is zero.

    Examples
    --------
    >>> mx.nanstd(mx.array([1.0, mx.nan, 5.0]))
    array(2, dtype=float32)
    """


def nansum(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    dtype: _DType = None,
    initial: _Operand | None = None,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum of the elements over axes, ignoring NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    dtype : dtype, str or type, optional
        Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
        `a`, but int32 for booleans and smaller signed integers, and uint32 for smaller unsigned ones.
    initial : array_like, optional
        Value that the reduction starts from; it broadcasts to the shape of the result. Default: 0.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or `initial` or `where` does not broadcast.

    See Also
    --------
    sum, nanmean

    Notes
    -----
    NaN counts as 0, so the result is 0 if there are no other elements.

    Examples
    --------
    >>> mx.nansum(mx.array([[3.0, mx.nan, 2.0], [mx.nan, mx.nan, mx.nan]]), axis=1)
    array([5, 0], dtype=float32)
    """


def nanvar(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    ddof: int = 0,
    *,
    correction: int | None = None,
    dtype: _DType = None,
    where: _Operand | None = None,
    mean: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Variance of the elements over axes, ignoring NaN.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    ddof : int, optional
        Delta degrees of freedom: the divisor is ``n - ddof``, where ``n`` counts the elements that are not NaN.
        Default: 0.
    correction : float, optional
        The array API standard's name for `ddof`; it takes precedence and may be fractional. Default: `ddof`.
    dtype : dtype, str or type, optional
        Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
        `a`; float32 for integers, booleans and float8.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    mean : array_like, optional
        Mean of the elements if it is known already, with the reduced axes kept. Default: the computed mean.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`; of the real dtype of the same
        precision.

    Raises
    ------
    TypeError
        If `dtype` is not inexact although `a` is, or an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or `where` or `mean` does not broadcast.

    See Also
    --------
    var, nanstd, nanmean

    Notes
    -----
    ``sum(abs(a - mean)**2) / (n - ddof)``, real also for complex numbers. NaN where ``n <= ddof``.

    Examples
    --------
    >>> mx.nanvar(mx.array([1.0, mx.nan, 3.0]))
    array(1, dtype=float32)
    >>> mx.nanvar(mx.array([1.0, mx.nan, 3.0]), ddof=1)
    array(2, dtype=float32)
    """


def ndim(a: _Operand) -> int:
    """Return the number of axes of an array.

    Parameters
    ----------
    a : array_like
        Input of any shape.

    Returns
    -------
    int
        Number of axes.

    See Also
    --------
    shape, size

    Examples
    --------
    >>> mx.ndim([[1, 2, 3]])
    2
    """


def negative(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Negation of each element: `-a`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape and dtype as `a`; float32 for float8.

    Raises
    ------
    TypeError
        If `a` is boolean, or not convertible to an array.

    See Also
    --------
    abs, subtract

    Notes
    -----
    Unsigned integers wrap around.

    Examples
    --------
    >>> mx.negative(mx.array([-2, 3]))
    array([2, -3], dtype=int32)
    """


def new_stream(device: _Device) -> Stream:
    """Create a stream on a device, usable from every thread.

    Parameters
    ----------
    device : Device or DeviceType
        An available device.

    Returns
    -------
    Stream

    Raises
    ------
    TypeError
        If `device` is not a device.
    ValueError
        If the device is not available.

    See Also
    --------
    new_thread_local_stream, stream, synchronize

    Examples
    --------
    >>> s = mx.new_stream(mx.cpu)
    >>> mx.add(1, 2, stream=s)
    array(3, dtype=int32)
    """


def new_thread_local_stream(device: _Device) -> ThreadLocalStream:
    """Create a stream on a device that is a different one on each thread.

    Parameters
    ----------
    device : Device or DeviceType
        An available device.

    Returns
    -------
    ThreadLocalStream

    Raises
    ------
    TypeError
        If `device` is not a device.
    ValueError
        If the device is not available.

    See Also
    --------
    new_stream

    Examples
    --------
    >>> mx.new_thread_local_stream(mx.cpu).device
    Device(cpu, 0)
    """


def new_thread_unsafe_stream(device: _Device) -> Stream:
    """Alias of `new_stream`.

    Parameters
    ----------
    device : Device or DeviceType
        An available device.

    Returns
    -------
    Stream

    Raises
    ------
    TypeError
        If `device` is not a device.
    ValueError
        If the device is not available.

    See Also
    --------
    new_stream

    Examples
    --------
    >>> mx.new_thread_unsafe_stream(mx.cpu).device
    Device(cpu, 0)
    """


def nextafter(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Next floating-point number after `a` in the direction of `b`.

    Parameters
    ----------
    a : array_like
        Starting points, of a real dtype.
    b : array_like
        Where to step to, of a real dtype; the shapes of `a` and `b` broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.

    Raises
    ------
    TypeError
        If an operand is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    spacing

    Notes
    -----
    `b` where both are equal; NaN if either is NaN. The gradient is zero.

    Examples
    --------
    >>> mx.nextafter(mx.array([1.0]), 2.0) - 1
    array([1.19209e-07], dtype=float32)
    >>> mx.nextafter(mx.array([0.0]), -1.0)
    array([-1.4013e-45], dtype=float32)
    """


def nonzero(a: _Operand, /, *, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """Find the indices of the nonzero elements.

    Parameters
    ----------
    a : array_like
        Input of at least one axis. It is evaluated, since its values determine the shape of the result.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    tuple of array
        Coordinates of the nonzero elements in row-major order, one uint32 array for each axis. ``a[nonzero(a)]`` are the
        elements.

    Raises
    ------
    ValueError
        If `a` is 0-d; inside `vmap` and `compile`, where `a` has no value.

    See Also
    --------
    flatnonzero, argwhere, where

    Notes
    -----
    NaN is nonzero.

    Examples
    --------
    >>> mx.nonzero(mx.array([[0, 3], [4, 0]]))
    (array([0, 1], dtype=uint32), array([1, 0], dtype=uint32))
    """


def not_equal(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Test whether two arrays differ, element by element: `a != b`.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the broadcast shape.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    equal, isclose

    Notes
    -----
    NaN differs from everything, also from itself. Signed integers and uint64 are compared by their exact values,
    and so are Python integers beyond the range of the dtype.

    Examples
    --------
    >>> mx.not_equal(mx.array([1, 2]), mx.array([1.0, mx.nan]))
    array([False, True], dtype=bool)
    """


def ones(
    shape: _Shape,
    dtype: _DType = None,
    *,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Create an array of ones.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the array.
    dtype : dtype, optional
        Dtype of the array. Default: float32.
    device : Device or str, optional
        Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
        `stream`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the given shape, filled with ones.

    Raises
    ------
    ValueError
        If a length is negative, or the device is not available.
    OverflowError
        If the array has more elements than memory can address.

    See Also
    --------
    ones_like, zeros, full

    Examples
    --------
    >>> mx.ones(3)
    array([1, 1, 1], dtype=float32)
    """


def ones_like(
    a: _Operand,
    /,
    dtype: _DType = None,
    *,
    shape: _Shape | None = None,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Create an array of ones with the shape and dtype of another array.

    Parameters
    ----------
    a : array_like
        Array that determines shape and dtype.
    dtype : dtype, optional
        Dtype of the result. Default: the dtype of `a`.
    shape : int or sequence of int, optional
        Shape of the result. Default: the shape of `a`.
    device : Device or str, optional
        Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
        `stream`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array filled with ones.

    Raises
    ------
    ValueError
        If a length is negative, or the device is not available.

    See Also
    --------
    ones, zeros_like, full_like, empty_like

    Examples
    --------
    >>> mx.ones_like(mx.array([3, 4]), dtype=mx.float16)
    array([1, 1], dtype=float16)
    """


def outer(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Outer product: every element of `a` times every element of `b`, both flattened.

    Parameters
    ----------
    a, b : array_like
        Arrays of any shapes.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(a.size, b.size)`` in the promoted dtype: ``outer(a, b)[i, j] = a[i] * b[j]``.

    See Also
    --------
    kron, tensordot

    Examples
    --------
    >>> mx.outer(mx.array([1, 2]), mx.array([1, 10]))
    array([[1, 10],
           [2, 20]], dtype=int32)
    """


def packbits(
    a: _Operand,
    /,
    axis: int | None = None,
    bitorder: Literal['big', 'little'] = "big",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Pack eight elements into the bits of one uint8.

    Parameters
    ----------
    a : array_like
        Integers or booleans; a bit is 1 where the element is nonzero.
    axis : int, optional
        Axis to pack along. Default: the flattened array.
    bitorder : str, optional
        ``"big"`` if the first element is the most significant bit, ``"little"`` if it is the least significant one.
        Default: ``"big"``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        uint8 array; the axis has one element for eight of `a`, the last one padded with zero bits.

    Raises
    ------
    TypeError
        If `a` has another dtype, or is not convertible to an array.
    IndexError
        If the axis is out of bounds.
    ValueError
        If `bitorder` is neither ``"big"`` nor ``"little"``.

    See Also
    --------
    unpackbits, bitwise_count

    Examples
    --------
    >>> mx.packbits(mx.array([1, 0, 0, 0, 0, 0, 1, 1, 1]))
    array([131, 128], dtype=uint8)
    >>> mx.packbits(mx.array([1, 0, 1]), bitorder="little")
    array([5], dtype=uint8)
    """


def pad(
    a: _Operand,
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    mode: Literal['constant', 'edge', 'reflect', 'symmetric', 'wrap', 'linear_ramp', 'maximum', 'mean', 'median', 'minimum', 'empty'] = "constant",
    constant_values: _Operand = 0,
    *,
    end_values: _Operand = 0,
    stat_length: int | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Extend an array at the ends of its axes.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    pad_width : int or sequence
        Number of elements to add: one number for both ends of all axes, a pair ``(before, after)`` for all axes, or a
        sequence of one pair for each axis.
    mode : str, optional
        Content of the border: ``"constant"``, ``"edge"``, ``"reflect"``, ``"symmetric"``, ``"wrap"``, ``"linear_ramp"``,
        ``"maximum"``, ``"mean"``, ``"median"``, ``"minimum"`` or ``"empty"``; see Notes. Default: ``"constant"``.
    constant_values : array_like, optional
        Value of the border in mode ``"constant"``, converted to the dtype of `a`; it broadcasts to the result. Default: 0.
    end_values : array_like, optional
        Outermost value in mode ``"linear_ramp"``, a single number; other modes refuse it. Default: 0.
    stat_length : int, optional
        Number of elements next to the border that a statistic is computed from; modes without one refuse it. Default: all
        elements along the axis.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the dtype of `a`, extended by the given widths.

    Raises
    ------
    ValueError
        If a width is negative, there are not as many pairs as axes, the mode is unknown, a value does not broadcast,
        `stat_length` is 0, the mode does not use `end_values` or `stat_length`, or an axis of length 0 is padded in a mode
        that needs elements.
    TypeError
        If `pad_width` does not consist of integers.

    Notes
    -----
    The modes fill the border with

    - ``"constant"``: `constant_values`;
    - ``"edge"``: the element at the edge;
    - ``"reflect"``: the elements mirrored, without the edge element;
    - ``"symmetric"``: the elements mirrored, with the edge element;
    - ``"wrap"``: the elements of the opposite end, periodically;
    - ``"linear_ramp"``: equal steps from the element at the edge to `end_values`;
    - ``"maximum"``, ``"mean"``, ``"median"``, ``"minimum"``: the statistic of the elements along the axis;
    - ``"empty"``: unspecified values, currently zeros.

    Axes are padded one after the other, so that corners depend on the borders of the earlier axes. For integers a mean or a
    median is rounded to the nearest integer, halves to even, and a ramp is rounded down.

    Examples
    --------
    >>> mx.pad(mx.array([1, 2, 3]), (1, 2), constant_values=9)
    array([9, 1, 2, 3, 9, 9], dtype=int32)
    >>> mx.pad(mx.array([1, 2, 3]), (1, 2), mode="reflect")
    array([2, 1, 2, 3, 2, 1], dtype=int32)
    """


def partition(
    a: _Operand,
    /,
    kth: _Axes | array,
    axis: int = ...,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Partially sort the elements along an axis, such that one or several are in their sorted positions.

    Parameters
    ----------
    a : array_like
        Input of any dtype.
    kth : int or sequence of int
        Index of the element, or indices of the elements, in their sorted positions; negative ones count from the end. No
        element before such a position is larger, none after it is smaller.
    axis : int or None, optional
        Axis to partition along; ``None`` partitions the flattened array. Default: -1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Partitioned elements in the shape (1-d for ``axis=None``) and dtype of `a`. The order of the other elements is
        unspecified.

    Raises
    ------
    IndexError
        If `axis` is out of bounds.
    TypeError
        If `kth` is not an integer or a sequence of integers. Booleans are not.
    ValueError
        If `kth` is empty, or an index in it is out of bounds.

    See Also
    --------
    argpartition, sort, topk

    Notes
    -----
    NaN counts as larger than every number.

    Examples
    --------
    >>> mx.partition(mx.array([5, 1, 4, 2, 3]), 2)[2]
    array(3, dtype=int32)
    >>> mx.partition(mx.array([5, 1, 4, 2, 3]), [0, 3])[[0, 3]]
    array([1, 4], dtype=int32)
    """


def percentile(
    a: _Operand,
    q: _Operand,
    axis: _Axes | None = None,
    *,
    method: str = "linear",
    keepdims: builtins.bool = False,
    weights: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Percentiles of the elements over axes.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    q : float or array_like
        Percentages in [0, 100], of any shape.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    method : str, optional
        One of ``"linear"``, ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
        ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``, ``"hazen"``,
        ``"weibull"``, ``"median_unbiased"`` and ``"normal_unbiased"``. Default: ``"linear"``.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    weights : array_like, optional
        Finite weights of the elements, not negative, of the shape of `a` or of the lengths of `axis`. Only with
        method ``"inverted_cdf"``. Default: equal weights.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `q` followed by the shape of the reduction. Methods that select an element (``"lower"``,
        ``"higher"``, ``"nearest"``, ``"inverted_cdf"`` and ``"closest_observation"``) keep the dtype of `a`; the
        others give float32 for integers and booleans.

    Raises
    ------
    TypeError
        If `a` is complex, `q` is complex, or an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If `q` is outside of [0, 100], the method is unknown, an axis is given twice, an axis without elements is
        reduced, or `weights` is negative, not finite, of another shape or given with another method, or adds up to
        zero.

    See Also
    --------
    quantile, nanpercentile

    Notes
    -----
    NaN if any element is NaN.

    The methods are those of Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996, with NumPy's names;
    ``"linear"`` interpolates at position ``q / 100 * (n - 1)`` of the sorted elements. Inside `vmap` and `compile`,
    values of `q` are limited to their range instead of checked.

    Examples
    --------
    >>> mx.percentile(mx.array([4, 1, 3, 2]), 75)
    array(3.25, dtype=float32)
    """


def permute_dims(
    a: _Operand,
    /,
    axes: Sequence[int] | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Alias of `transpose`, the name in the array API standard.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    axes : int or sequence of int, optional
        Permutation of the axes: axis ``i`` of the result is axis ``axes[i]`` of `a`. Default: reverse the axes.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        View of `a` with its axes in the new order.

    Raises
    ------
    IndexError
        If an axis is out of bounds.
    ValueError
        If `axes` does not contain every axis exactly once.

    See Also
    --------
    transpose

    Examples
    --------
    >>> mx.permute_dims(mx.zeros((2, 3, 4)), (1, 2, 0)).shape
    (3, 4, 2)
    """


def piecewise(
    x: _Operand,
    condlist: _Operand,
    funclist: Sequence[_Operand | Callable[..., Any]],
    *args: Any,
    **kw: Any,
) -> array:
    """Evaluate a function that is defined by one expression per condition.

    Parameters
    ----------
    x : array_like
        Argument of the functions.
    condlist : array_like of bool or sequence of array_like of bool
        Conditions that broadcast to the shape of `x`. If several are true for an element, the last one counts.
    funclist : sequence of callable or array_like
        A function, number or array for each condition. One more is for elements where no condition holds, which are 0
        otherwise.
    *args, **kw : object
        Further arguments of the functions, which are called as ``f(x, *args, **kw)``.

    Returns
    -------
    array
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `funclist` has another length, or a condition is not bool or does not broadcast.
    TypeError
        If `funclist` is not a sequence of functions, numbers or arrays.

    See Also
    --------
    where, select

    Notes
    -----
    Functions must work element by element. They receive an array of the shape of `x` in which elements outside of their
    condition are replaced by one inside of it, so they see only valid arguments.

    Examples
    --------
    >>> x = mx.array([-2.0, -1.0, 1.0, 4.0])
    >>> mx.piecewise(x, [x > 0], [mx.sqrt, -1.0])
    array([-1, -1, 1, 2], dtype=float32)
    """


def place(
    arr: array,
    mask: _Operand,
    vals: _Operand,
    *,
    stream: _StreamOrDevice = None,
) -> None:
    """Set elements of an array, in place, where a mask is true, to consecutive values.

    Parameters
    ----------
    arr : array
        Array to change.
    mask : array_like
        Mask of the size of `arr`; nonzero elements count as true.
    vals : array_like
        Values, converted to the dtype of `arr`: the ``i``-th true element takes the ``i``-th value. They are repeated if
        there are fewer.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Raises
    ------
    ValueError
        If the mask differs in size, or there are no values for true elements.
    TypeError
        If `arr` is no array.

    See Also
    --------
    putmask, put, extract

    Examples
    --------
    >>> a = mx.array([1, 2, 3, 4])
    >>> mx.place(a, a > 2, [10, 20])
    >>> a
    array([1, 2, 10, 20], dtype=int32)
    """


def poly(seq_of_zeros: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Coefficients of the polynomial with given roots, or the characteristic polynomial of a matrix.

    Parameters
    ----------
    seq_of_zeros : array_like
        At most 4095 roots, or a square matrix of at most 4095 rows, whose eigenvalues are the roots.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Coefficients, the highest power first, the first one being one: float32 for integers, else the dtype of the
        input.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    ValueError
        If the input is neither a vector nor a square matrix, or too large.

    See Also
    --------
    roots, polyval

    Notes
    -----
    Computed in double precision.

    Examples
    --------
    >>> mx.poly(mx.array([1.0, 2.0]))
    array([1, -3, 2], dtype=float32)
    >>> mx.poly(mx.array([[2, 0], [0, 3]]))
    array([1, -5, 6], dtype=float32)
    """


def polyadd(a1: _Operand, a2: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Sum of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like
        Coefficients with at most one axis and at most 4096 elements, the highest power first.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Coefficients in the promoted dtype, the highest power first; as many as those of the longer polynomial.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    ValueError
        If coefficients have more than one axis or more than 4096 elements.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    polysub, polymul, polydiv, polyval

    Notes
    -----
    Leading zeros of the result are kept.

    Examples
    --------
    >>> mx.polyadd(mx.array([1, 2]), mx.array([5]))
    array([1, 7], dtype=int32)
    """


def polyder(p: _Operand, m: int = 1, *, stream: _StreamOrDevice = None) -> array:
    """Derivative of a polynomial.

    Parameters
    ----------
    p : array_like
        Coefficients with at most one axis and at most 4096 elements, the highest power first.
    m : int, optional
        How many times to differentiate. Default: 1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Coefficients in the dtype of `p`, fewer by `m`; none if there are no more than `m`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    ValueError
        If coefficients have more than one axis or more than 4096 elements, or `m` is negative.

    See Also
    --------
    polyint, polyval

    Examples
    --------
    >>> mx.polyder(mx.array([1, 1, 1]))
    array([2, 1], dtype=int32)
    """


def polydiv(u: _Operand, v: _Operand, *, stream: _StreamOrDevice = None) -> tuple[array, array]:
    """Quotient and remainder of two polynomials: `u = quotient * v + remainder`.

    Parameters
    ----------
    u : array_like
        Dividend: at least one coefficient, at most 4096, the highest power first.
    v : array_like
        Divisor: likewise, with a nonzero first coefficient.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    quotient : array
        Coefficients; float32 for integers, else the promoted dtype.
    remainder : array
        Coefficients of the same dtype, without leading coefficients of at most 1e-8.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    ValueError
        If coefficients have more than one axis, or there are none or more than 4096; inside `vmap` and `compile`,
        as values decide the length of the remainder.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    polymul, polyval

    Notes
    -----
    The remainder is evaluated. A zero first coefficient of `v` gives infinities and NaN.

    Examples
    --------
    >>> mx.polydiv(mx.array([3.0, 5.0, 2.0]), mx.array([2.0, 1.0]))
    (array([1.5, 1.75], dtype=float32), array([0.25], dtype=float32))
    """


def polyfit(
    x: _Operand,
    y: _Operand,
    deg: int,
    rcond: float | None = None,
    full: builtins.bool = False,
    w: _Operand | None = None,
    cov: builtins.bool | Literal['unscaled'] = False,
    *,
    stream: _StreamOrDevice = None,
) -> array | Any:
    """Least-squares fit of a polynomial to points.

    Parameters
    ----------
    x : array_like
        Real abscissas: a vector of at least one element.
    y : array_like
        Real ordinates, one for each abscissa; with a second axis, each column is fitted.
    deg : int
        Degree of the polynomial, 0 to 4095.
    rcond : float, optional
        Singular values of the scaled Vandermonde matrix up to `rcond` times the largest one count as zero. Default:
        the number of points times the machine epsilon of the dtype of `x`.
    full : bool, optional
        Also return diagnostics of the solution; takes precedence over `cov`. Default: False.
    w : array_like, optional
        Weights of the points, of the shape of `x`. Default: equal.
    cov : bool or str, optional
        Also return the covariance matrix of the coefficients, scaled by the variance of the residuals; with
        ``"unscaled"`` not scaled, for weights that are reciprocal standard deviations of `y`. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array or tuple
        Coefficients, the highest power first, along the first axis: float32 for integers, else the promoted dtype.
        ``(coefficients, residuals, rank, singular_values, rcond)`` if `full`; ``(coefficients, covariance)`` if
        `cov`, with a last axis for the columns of `y`.

    Raises
    ------
    TypeError
        If an argument is complex or not convertible to an array, or `cov` is neither a bool nor a string.
    ValueError
        If the degree is out of range, shapes do not match, `cov` is another string than ``"unscaled"``, or the
        covariance is requested for no more points than coefficients.

    See Also
    --------
    polyval, vander, linalg.lstsq

    Notes
    -----
    Minimises ``sum(w**2 * (y - p(x))**2)``, in double precision. Without `rcond` and `full`, coefficients of powers
    that the points do not distinguish from lower ones are zero; with either, the fit with the smallest coefficients
    is chosen.

    Examples
    --------
    >>> x, y = mx.array([0.0, 1.0, 2.0, 3.0]), mx.array([1.0, 3.0, 5.0, 7.5])
    >>> mx.polyfit(x, y, 1)
    array([2.15, 0.9], dtype=float32)
    >>> mx.polyfit(x, y, 1, cov=True)[1]
    array([[0.0075, -0.01125],
           [-0.01125, 0.02625]], dtype=float32)
    """


def polyint(
    p: _Operand,
    m: int = 1,
    k: _Operand | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Integral of a polynomial.

    Parameters
    ----------
    p : array_like
        Coefficients with at most one axis and at most 4096 elements, the highest power first.
    m : int, optional
        How many times to integrate, at most 4096. Default: 1.
    k : array_like, optional
        Constants of integration: one for all integrals, or at least `m`, the one of the first integral first.
        Default: zero.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Coefficients, more by `m`; float32 if `p` and `k` are integers or booleans, else their promoted dtype.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    ValueError
        If coefficients have more than one axis or more than 4096 elements, `m` is negative or too large, or there
        are too few constants.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    polyder, polyval

    Examples
    --------
    >>> mx.polyint(mx.array([2.0, 1.0]))
    array([1, 1, 0], dtype=float32)
    >>> mx.polyint(mx.array([2.0, 1.0]), k=5)
    array([1, 1, 5], dtype=float32)
    """


def polymul(a1: _Operand, a2: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Product of two polynomials: the convolution of their coefficients.

    Parameters
    ----------
    a1, a2 : array_like
        Coefficients with at most one axis and at most 4096 elements, the highest power first.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Coefficients in the promoted dtype, the highest power first; as many as those of both together minus one.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    ValueError
        If coefficients have more than one axis or more than 4096 elements, or there are none.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    polyadd, polysub, polydiv, polyval

    Examples
    --------
    >>> mx.polymul(mx.array([1, 1]), mx.array([1, -1]))
    array([1, 0, -1], dtype=int32)
    """


def polysub(a1: _Operand, a2: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Difference of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like
        Coefficients with at most one axis and at most 4096 elements, the highest power first.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Coefficients in the promoted dtype, the highest power first; as many as those of the longer polynomial.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    ValueError
        If coefficients have more than one axis or more than 4096 elements.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    polyadd, polymul, polydiv, polyval

    Notes
    -----
    Leading zeros of the result are kept.

    Examples
    --------
    >>> mx.polysub(mx.array([1, 2]), mx.array([5]))
    array([1, -3], dtype=int32)
    """


def polyval(p: _Operand, x: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Evaluate a polynomial at given points.

    Parameters
    ----------
    p : array_like
        Coefficients with at most one axis and at most 4096 elements, the highest power first.
    x : array_like
        Points of any shape.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Values of the shape of `x`, in the promoted dtype.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    ValueError
        If coefficients have more than one axis or more than 4096 elements.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    polyfit, roots, polyder

    Notes
    -----
    ``p[0] * x**(n - 1) + ... + p[n - 1]``, by Horner's rule; zero without coefficients. float16 and bfloat16 are
    computed in float32.

    Examples
    --------
    >>> mx.polyval(mx.array([1.0, 0.0, -2.0]), mx.array([0.0, 3.0]))
    array([-2, 7], dtype=float32)
    """


def positive(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Return the input unchanged: `+a`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The input as an array.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    negative

    Examples
    --------
    >>> mx.positive(mx.array([-1, 2]))
    array([-1, 2], dtype=int32)
    """


def pow(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Alias of `power`.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for float8.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    power

    Examples
    --------
    >>> mx.pow(mx.array([2, 3]), 2)
    array([4, 9], dtype=int32)
    """


def power(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Elements of `a` raised to the powers `b`: `a**b`.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for float8.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    float_power, square, exp

    Notes
    -----
    The power of two integers is an integer: it wraps around on overflow, and is zero for a negative exponent. A
    negative real number to a fractional power is NaN. Anything to the power of zero is one, also NaN.

    Examples
    --------
    >>> mx.power(mx.array([2, 3]), mx.array([10, 0]))
    array([1024, 1], dtype=int32)
    >>> mx.power(mx.array([2.0]), -1)
    array([0.5], dtype=float32)
    """


def printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    suppress: builtins.bool | None = None,
    nanstr: str | None = None,
    infstr: str | None = None,
    *,
    style: Literal['mlx', 'numpy'] | None = None,
) -> Any:
    """Return a context manager that sets how arrays are printed.

    Parameters
    ----------
    precision : int, optional
        Number of decimals of floating-point numbers, or -1 for the default of the style: in style ``"mlx"`` the shortest form with
        six significant digits, in style ``"numpy"`` at most 8 decimals.
    threshold : int, optional
        Arrays of more elements are abbreviated: the middle of long axes is omitted. ``mx.inf`` prints arrays whole. Default: 0 in
        style ``"mlx"``, 1000 in style ``"numpy"``.
    edgeitems : int, optional
        Number of elements at each end of an abbreviated axis. Default: 3.
    linewidth : int, optional
        Number of characters in a line, after which rows are wrapped. Default: unlimited in style ``"mlx"``, 75 in style
        ``"numpy"``.
    suppress : bool, optional
        Write small numbers, and in style ``"numpy"`` numbers of different magnitudes, without exponents. Large numbers have
        exponents: from 1e16 in style ``"mlx"``, from a power of ten of the dtype's digits in style ``"numpy"``. Default: False.
    nanstr : str, optional
        Text of NaN. Default: ``"nan"``.
    infstr : str, optional
        Text of infinity. Default: ``"inf"``.
    style : {"mlx", "numpy"}, optional
        ``"mlx"`` writes each number in its own form. ``"numpy"`` aligns numbers in columns with a common notation, as NumPy's
        ``repr``. Default: ``"mlx"``.

    Returns
    -------
    PrintOptionsContext

    Raises
    ------
    ValueError
        If `precision` is less than -1 or greater than 1100, another number is negative, or `style` is unknown.
    TypeError
        If an option has another type.

    See Also
    --------
    set_printoptions, get_printoptions

    Notes
    -----
    Options that are not given keep their values; without options, the defaults hold. The options hold for the whole process
    until the context is left.

    Examples
    --------
    >>> with mx.printoptions(precision=2):
    ...     print(mx.array(1 / 3))
    array(0.33, dtype=float32)
    >>> with mx.printoptions(threshold=10):
    ...     print(mx.arange(8))
    array([0, 1, 2, 3, 4, 5, 6, 7], dtype=int32)
    """


def prod(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    dtype: _DType = None,
    initial: _Operand | None = None,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Product of the elements over axes.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    dtype : dtype, str or type, optional
        Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
        `a`, but int32 for booleans and smaller signed integers, and uint32 for smaller unsigned ones.
    initial : array_like, optional
        Value that the reduction starts from; it broadcasts to the shape of the result. Default: 1.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or `initial` or `where` does not broadcast.

    See Also
    --------
    sum, cumprod, nanprod

    Notes
    -----
    The product of no elements is one. float16 and bfloat16 are accumulated in float32 and rounded once. Integers
    wrap around on overflow.

    Examples
    --------
    >>> mx.prod(mx.array([[1, 2], [3, 4]]), axis=1)
    array([2, 12], dtype=int32)
    """


def profile(*, memory: builtins.bool = False) -> Profile:
    """Return a context manager that records the operations that run in its block.

    Parameters
    ----------
    memory : bool, optional
        Whether to record which lines of the program allocated the memory in use at its peak. Default: False.

    Returns
    -------
    Profile
        ``print(p)`` prints a table by operation, ``p.rows`` is the table as data, ``p.memory`` the memory at the peak,
        ``p.export(file)`` writes a trace for Chrome or Perfetto, and ``p.plot()`` draws the times.

    Raises
    ------
    RuntimeError
        At the start of the block, if the profile is recording already.

    See Also
    --------
    get_peak_memory, debug_nans

    Notes
    -----
    Arrays are lazy: evaluate inside the block what is to be measured. Evaluations on all threads and streams of the process are
    recorded. Blocks may be nested and may overlap; each records everything that runs while it is active.

    Times are those of kernels, without the recording and planning of operations. Operations on an asynchronous device are
    waited for one by one, and their time is that until the event after them. Bytes are those of the inputs and results; an
    operation that reads a part of an input counts all of it, and elements that a broadcast repeats count once. Arithmetic is
    counted for elementwise operations (one for each element), reductions, matrix products and convolutions. Views, such as
    most slices and transposes, take no time and are not recorded. While a profile is active, operations record the line of the program, which takes about a microsecond each.

    Examples
    --------
    >>> x = mx.random.normal((100, 100))
    >>> mx.eval(x)
    >>> with mx.profile() as p:
    ...     mx.eval(mx.tanh(x @ x + 1))
    >>> p.rows[0]["fused"]
    ('matmul', 'add', 'tanh')
    >>> print(p)
    operations: 1, ... ms; wall time: ... ms
    operation ...
    """


def ptp(
    a: _Operand,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Range of the elements over axes: `max(a) - min(a)`.

    Parameters
    ----------
    a : array_like
        Input of any shape; not boolean.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`. The dtype is that of `a`.

    Raises
    ------
    TypeError
        If `a` is boolean, or not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or an axis without elements is reduced.

    See Also
    --------
    max, min, minmax

    Notes
    -----
    NaN if any element is NaN. The difference of integers wraps around if it does not fit the dtype.

    Examples
    --------
    >>> mx.ptp(mx.array([[1, 5], [2, 9]]), axis=1)
    array([4, 7], dtype=int32)
    """


def pure_callback(
    callback: Callable[..., Any],
    result_shape_dtypes: Any,
    *args: Any,
    vmap_method: Literal['sequential', 'expand_dims', 'broadcast_all'] | None = None,
    **kwargs: Any,
) -> Any:
    """Record a call of a Python function that computes with the values of its arguments.

    Parameters
    ----------
    callback : callable
        Called as ``callback(*args, **kwargs)`` when the results are evaluated, with evaluated arrays. Returns arrays, NumPy
        arrays or numbers in the structure of `result_shape_dtypes`. Must have no side effects.
    result_shape_dtypes : ShapeDtypeStruct or pytree of ShapeDtypeStruct
        Shapes and dtypes of the results. Arrays, and other objects with a shape and a dtype, are accepted.
    *args, **kwargs : array_like or pytree of array_like
        Arguments of `callback`. Numbers become arrays.
    vmap_method : {"sequential", "expand_dims", "broadcast_all"}, optional
        How `vmap` calls `callback`: once for each batch element, or once with batch axes in front of its arguments and results.
        Arguments without a batch get a batch axis of length one with "expand_dims", and are repeated along it with
        "broadcast_all". Default: None, an error.

    Returns
    -------
    array or pytree of arrays
        Results of `callback`, with the structure of `result_shape_dtypes`.

    Raises
    ------
    TypeError
        If `callback` is not callable, if an argument is not an array or number, or if `result_shape_dtypes` holds
        something else than shapes and dtypes; on evaluation, if the results differ from it in structure or dtype.
    ValueError
        If `vmap_method` is unknown, or missing under `vmap`; if a derivative is taken; on evaluation, if the results have
        other shapes.
    RuntimeError
        On evaluation, if `callback` raises an exception. The message contains its traceback.

    See Also
    --------
    custom_function, eval_shape, vmap

    Notes
    -----
    A way to call NumPy, SciPy or C code under `compile`, `vmap` and in loops, where arrays have no values. umber may call
    `callback` later, more than once, or not at all, and on another thread. It has no derivative; a `custom_function`
    around it can define one. Functions with callbacks cannot be exported.

    Examples
    --------
    >>> import math
    >>> def gamma(x):
    ...     return math.gamma(x.item())
    >>> f = lambda x: mx.pure_callback(gamma, x, x, vmap_method="sequential")
    >>> mx.compile(f)(mx.array(5.0))
    array(24, dtype=float32)
    >>> mx.vmap(f)(mx.array([1.0, 2.0, 3.0, 4.0]))
    array([1, 1, 2, 6], dtype=float32)
    """


def put(
    a: array,
    ind: _Operand,
    v: _Operand,
    mode: Literal['raise', 'wrap', 'clip'] = "raise",
    *,
    stream: _StreamOrDevice = None,
) -> None:
    """Set elements of an array, in place, at indices of the flattened array.

    Parameters
    ----------
    a : array
        Array to change.
    ind : array_like
        Integer indices of the flattened array.
    v : array_like
        Values, converted to the dtype of `a`; they are repeated if there are fewer than indices. Without values `a` stays
        unchanged.
    mode : {"raise", "wrap", "clip"}, optional
        Treatment of indices out of bounds: ``"raise"`` an error, ``"wrap"`` modulo the size, ``"clip"`` to the nearest valid
        index, so that negative indices become 0. Default: ``"raise"``, in which negative indices count from the end.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Raises
    ------
    IndexError
        In mode ``"raise"`` if an index is out of bounds; in any mode if `a` is empty and there are indices.
    TypeError
        If `a` is no array, or `ind` are not integers.
    ValueError
        If the mode is unknown.

    See Also
    --------
    place, putmask, put_along_axis, take

    Examples
    --------
    >>> a = mx.array([1, 2, 3, 4])
    >>> mx.put(a, [0, 2, 3], [-1, -2])
    >>> a
    array([-1, 2, -2, -1], dtype=int32)
    """


def put_along_axis(
    a: _Operand,
    /,
    indices: _Operand,
    values: _Operand,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Return a copy of an array with values set along an axis at an index array.

    Parameters
    ----------
    a : array_like
        Input of any shape. It is not changed.
    indices : array_like
        Integer indices with as many axes as `a`. Along the other axes they broadcast to `a`.
    values : array_like
        Values, converted to the dtype of `a`. They broadcast to the shape of the indices.
    axis : int or None, optional
        Axis to index; ``None`` indexes the flattened array with 1-d `indices`. Default: None.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape and dtype of `a`.

    Raises
    ------
    IndexError
        If `axis` or an index is out of bounds. The latter may be raised only when the result is evaluated.
    ValueError
        If the numbers of axes differ, or shapes do not broadcast.
    TypeError
        If `indices` are not integers.

    See Also
    --------
    take_along_axis, put

    Examples
    --------
    >>> a = mx.array([[1, 2, 3], [4, 5, 6]])
    >>> mx.put_along_axis(a, mx.array([[0], [2]]), 9, axis=1)
    array([[9, 2, 3],
           [4, 5, 9]], dtype=int32)
    """


def putmask(
    a: array,
    mask: _Operand,
    values: _Operand,
    *,
    stream: _StreamOrDevice = None,
) -> None:
    """Set elements of an array, in place, where a mask is true, to the values at the same positions.

    Parameters
    ----------
    a : array
        Array to change.
    mask : array_like
        Mask of the size of `a`; nonzero elements count as true.
    values : array_like
        Values, converted to the dtype of `a`: element ``i`` of the flattened array takes ``values[i]``. They are repeated
        if there are fewer elements than in `a`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Raises
    ------
    ValueError
        If the mask differs in size, or there are no values.
    TypeError
        If `a` is no array.

    See Also
    --------
    place, put, where

    Examples
    --------
    >>> a = mx.array([1, 2, 3, 4])
    >>> mx.putmask(a, a > 2, [10, 20])
    >>> a
    array([1, 2, 10, 20], dtype=int32)
    """


def qqmm(
    x: _Operand,
    w: _Operand,
    scales: _Operand | None = None,
    group_size: int | None = None,
    bits: int | None = None,
    mode: str = "nvfp4",
    global_scale_x: _Operand | None = None,
    global_scale_w: _Operand | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Product of two quantised matrices: ``x @ w.T`` with both operands in the same format.

    Parameters
    ----------
    x : array_like
        Shape ``(..., m, k)`` or ``(k,)``, not quantised. It is quantised by the function.
    w : array_like
        Array of shape ``(..., n, k)``, which is quantised by the function, or packed codes from `quantize`. Batch axes
        broadcast.
    scales : array_like, optional
        Scales from `quantize`, required where `w` is packed. Default: None.
    group_size : int, optional
        Elements per scale. Default: the default of the mode, see `quantize`.
    bits : int, optional
        Bits per element. Default: the default of the mode, see `quantize`.
    mode : {'nvfp4', 'mxfp8', 'mxfp4'}, optional
        Format of both operands. Default: 'nvfp4'.
    global_scale_x, global_scale_w : array_like, optional
        Largest magnitudes in `x` and `w`. Both or neither, only for 'nvfp4'. Default: None.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(..., m, n)``. Dtype of `x`, or the promoted dtype of `x` and an unquantised `w`.

    Raises
    ------
    ValueError
        If the shapes do not match each other and the mode, the mode is 'affine', `w` is packed without `scales`, or
        only one global scale is given.
    TypeError
        If an operand is complex.

    See Also
    --------
    quantized_matmul, gather_qqmm, quantize

    Notes
    -----
    Products are summed in float32. Gradients of unquantised operands pass straight through the rounding.

    Examples
    --------
    >>> mx.qqmm(mx.ones((2, 32)), mx.ones((3, 32)), mode="mxfp8")
    array([[32, 32, 32],
           [32, 32, 32]], dtype=float32)
    """


def quantile(
    a: _Operand,
    q: _Operand,
    axis: _Axes | None = None,
    *,
    method: str = "linear",
    keepdims: builtins.bool = False,
    weights: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Quantiles of the elements over axes.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    q : float or array_like
        Probabilities in [0, 1], of any shape. An array must have a floating dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    method : str, optional
        One of ``"linear"``, ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
        ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``, ``"hazen"``,
        ``"weibull"``, ``"median_unbiased"`` and ``"normal_unbiased"``. Default: ``"linear"``.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    weights : array_like, optional
        Finite weights of the elements, not negative, of the shape of `a` or of the lengths of `axis`. Only with
        method ``"inverted_cdf"``. Default: equal weights.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `q` followed by the shape of the reduction. Methods that select an element (``"lower"``,
        ``"higher"``, ``"nearest"``, ``"inverted_cdf"`` and ``"closest_observation"``) keep the dtype of `a`; the
        others give float32 for integers and booleans.

    Raises
    ------
    TypeError
        If `a` is complex, `q` is an array that is not floating, or an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If `q` is outside of [0, 1], the method is unknown, an axis is given twice, an axis without elements is
        reduced, or `weights` is negative, not finite, of another shape or given with another method, or adds up to
        zero.

    See Also
    --------
    percentile, median, nanquantile

    Notes
    -----
    NaN if any element is NaN.

    The methods are those of Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996, with NumPy's names;
    ``"linear"`` interpolates at position ``q * (n - 1)`` of the sorted elements. Inside `vmap` and `compile`,
    values of `q` are limited to their range instead of checked.

    Examples
    --------
    >>> mx.quantile(mx.array([4.0, 1.0, 3.0, 2.0]), mx.array([0.25, 0.5]))
    array([1.75, 2.5], dtype=float32)
    >>> mx.quantile(mx.array([4, 1, 3, 2]), 0.5, method="lower")
    array(2, dtype=int32)
    >>> mx.quantile(mx.array([1, 2, 3]), 0.5, method="inverted_cdf", weights=mx.array([1, 1, 4]))
    array(3, dtype=int32)
    """


def quantize(
    w: _Operand,
    /,
    group_size: int | None = None,
    bits: int | None = None,
    mode: str = "affine",
    *,
    global_scale: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> list[array]:
    """Quantise a matrix: store each group of elements of the last axis in a few bits and one scale.

    Parameters
    ----------
    w : array_like
        Real floating-point array. `group_size` divides the length `n` of its last axis.
    group_size : int, optional
        Elements per scale. Default: see the table.
    bits : int, optional
        Bits per element. Default: see the table.
    mode : {'affine', 'mxfp4', 'mxfp8', 'nvfp4'}, optional
        Format. Default: 'affine'.
    global_scale : array_like, optional
        Largest magnitude in `w`, to which scales are relative. Only for 'nvfp4'. Default: None.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    list of array
        Packed codes, uint32 of shape ``(..., n * bits / 32)`` with the first code in the lowest bits; scales of shape
        ``(..., n / group_size)``; in mode 'affine', biases like the scales.

    Raises
    ------
    ValueError
        If the mode is unknown, `group_size` or `bits` is not one of the mode, `group_size` does not divide the last
        axis, or `global_scale` is given for another mode than 'nvfp4'.
    TypeError
        If `w` is not real floating point.

    See Also
    --------
    dequantize, quantized_matmul, qqmm

    Notes
    -----
    ======  ===================  =======================  ============  ======
    mode    group_size           bits                     scales        biases
    ======  ===================  =======================  ============  ======
    affine  32, 64, 128          1, 2, 3, 4, 5, 6, 8      like `w`      yes
    mxfp4   32                   4 (E2M1)                 E8M0, uint8   no
    mxfp8   32                   8 (E4M3)                 E8M0, uint8   no
    nvfp4   16                   4 (E2M1)                 E4M3, uint8   no
    ======  ===================  =======================  ============  ======

    The defaults of 'affine' are groups of 64 and 4 bits. In mode 'affine' an element is ``scale * code + bias`` with an
    integer code; the end of the group's range that is farther from zero is represented exactly. In the other modes it
    is ``scale * code`` with a float4 or float8 code.

    NaN is ignored in the search for scales. Scales and biases are differentiable with respect to `w`. The MX formats
    are those of the OCP Microscaling Formats (MX) specification 1.0.

    Examples
    --------
    >>> w = mx.arange(64.0).reshape(2, 32)
    >>> codes, scales, biases = mx.quantize(w, group_size=32, bits=8)
    >>> codes.shape, scales.shape, biases.shape
    ((2, 8), (2, 1), (2, 1))
    """


def quantized_matmul(
    x: _Operand,
    w: _Operand,
    /,
    scales: _Operand,
    biases: _Operand | None = None,
    transpose: builtins.bool = True,
    group_size: int | None = None,
    bits: int | None = None,
    mode: str = "affine",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Product with a quantised matrix: ``x @ w.T``, or ``x @ w`` with ``transpose=False``.

    Parameters
    ----------
    x : array_like
        Shape ``(..., m, k)`` or ``(k,)``.
    w : array_like
        Packed codes of a matrix of shape ``(..., n, k)``, or ``(..., k, n)`` with ``transpose=False``. Batch axes
        broadcast.
    scales : array_like
        Scales from `quantize`.
    biases : array_like, optional
        Biases from `quantize`, required in mode 'affine'. Default: None.
    transpose : bool, optional
        Multiply by the transpose of the matrix, ``x @ w.T``, else ``x @ w``. Default: True.
    group_size : int, optional
        Elements per scale. Default: the default of the mode, see `quantize`.
    bits : int, optional
        Bits per element. Default: the default of the mode, see `quantize`.
    mode : {'affine', 'mxfp4', 'mxfp8', 'nvfp4'}, optional
        Format of `w`. Default: 'affine'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(..., m, n)`` in the promoted dtype of `x` and the scales.

    Raises
    ------
    ValueError
        If the shapes do not match each other and the mode, or biases are missing.
    TypeError
        If `x` is complex.

    See Also
    --------
    quantize, gather_qmm, qqmm

    Notes
    -----
    Accumulates in float32, or float64 for float64. Differentiable with respect to `x`, scales and biases; the gradient
    of the packed `w` is zero.

    Examples
    --------
    >>> mx.quantized_matmul(mx.ones((2, 64)), *mx.quantize(mx.ones((3, 64))))
    array([[64, 64, 64],
           [64, 64, 64]], dtype=float32)
    """


def rad2deg(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Alias of `degrees`.

    Parameters
    ----------
    a : array_like
        Angles in radians, of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    degrees

    Examples
    --------
    >>> mx.rad2deg(mx.array([mx.pi]))
    array([180], dtype=float32)
    """


def radians(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Convert angles from degrees to radians: `a * pi / 180`.

    Parameters
    ----------
    a : array_like
        Angles in degrees, of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    degrees

    Examples
    --------
    >>> mx.radians(mx.array([0, 180]))
    array([0, 3.14159], dtype=float32)
    """


def ravel(a: _Operand, order: str = "C", *, stream: _StreamOrDevice = None) -> array:
    """Flatten an array in row-major or column-major order.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    order : {"C", "F"}, optional
        Order in which elements are read: ``"C"`` is row-major (the last axis varies fastest), ``"F"`` column-major (the
        first axis varies fastest). Default: ``"C"``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        1-d array of the elements of `a`.

    Raises
    ------
    ValueError
        If `order` is neither ``"C"`` nor ``"F"``.

    See Also
    --------
    flatten, reshape

    Examples
    --------
    >>> mx.ravel(mx.array([[1, 2], [3, 4]]), order="F")
    array([1, 3, 2, 4], dtype=int32)
    """


def ravel_multi_index(
    multi_index: array | Sequence[_Operand],
    dims: int | Sequence[int],
    mode: Literal['raise', 'wrap', 'clip'] | Sequence[Literal['raise', 'wrap', 'clip']] = "raise",
    order: Literal['C', 'F'] = "C",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Convert coordinates to indices of the flattened array.

    Parameters
    ----------
    multi_index : sequence of array_like
        Integer coordinates, one array for each axis. They broadcast.
    dims : int or sequence of int
        Shape of the array.
    mode : str or tuple of str, optional
        Treatment of coordinates out of bounds, for all axes or for each axis: ``"raise"``, ``"wrap"`` (modulo the length)
        or ``"clip"`` (to the nearest valid index). Default: ``"raise"``.
    order : {"C", "F"}, optional
        Order of the flattened elements: ``"C"`` is row-major, ``"F"`` column-major. Default: ``"C"``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Indices, uint32, of the broadcast shape of the coordinates.

    Raises
    ------
    ValueError
        If a coordinate is negative or out of bounds in mode ``"raise"`` (inside `vmap` and `compile` that is not checked),
        the mode is unknown, there is not one array for each axis, or shapes do not broadcast.
    TypeError
        If coordinates are not integers.

    See Also
    --------
    unravel_index

    Examples
    --------
    >>> mx.ravel_multi_index(([1, 3], [2, 0]), (2, 3), mode="wrap")
    array([5, 3], dtype=uint32)
    """


def real(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Real part of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`. float32 for complex64, float64 for complex128, else the dtype of `a`. Real arrays are
        returned unchanged.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    imag, conjugate, angle

    Examples
    --------
    >>> mx.real(mx.array([1 + 2j, 3 + 0j]))
    array([1, 3], dtype=float32)
    """


def real_if_close(a: _Operand, tol: float = 100.0, *, stream: _StreamOrDevice = None) -> array:
    """Real part of a complex array if all imaginary parts are close to zero, else the array.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    tol : float, optional
        Bound of the imaginary parts: a multiple of the machine epsilon if greater than one, otherwise an absolute
        bound. Default: 100.0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Real array if all imaginary parts are below the bound, else `a`. Real arrays are returned unchanged.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.
    ValueError
        Inside `vmap` and `compile`, if `a` is complex: its values decide the dtype.

    See Also
    --------
    real, isreal

    Notes
    -----
    Complex arrays are evaluated.

    Examples
    --------
    >>> mx.real_if_close(mx.array([1 + 1e-7j]))
    array([1], dtype=float32)
    >>> mx.real_if_close(mx.array([1 + 1e-7j]), tol=1e-9)
    array([1+1e-07j], dtype=complex64)
    """


def reciprocal(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Reciprocal of each element: `1 / a`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    divide, rsqrt

    Notes
    -----
    Integers are converted to float32 first, so nothing is truncated. Zero gives an infinity.

    Examples
    --------
    >>> mx.reciprocal(mx.array([4, 0]))
    array([0.25, inf], dtype=float32)
    """


def remainder(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Remainder of the floor division, with the sign of `b`.

    Parameters
    ----------
    a, b : array_like
        Operands of real dtypes whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for float8.

    Raises
    ------
    TypeError
        If an operand is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    fmod, floor_divide, divmod

    Notes
    -----
    ``a - floor_divide(a, b) * b``, as Python's ``%``. The remainder of an integer and zero is `a`, of a
    floating-point number and zero NaN.

    Examples
    --------
    >>> mx.remainder(mx.array([7, -7]), 3)
    array([1, 2], dtype=int32)
    """


def repeat(
    array: array,
    repeats: int | _Operand,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Repeat each element of an array.

    Parameters
    ----------
    array : array_like
        Input of any shape.
    repeats : int or array_like
        Number of repetitions of each element. An array of integers has one count for each element along the axis, or one for
        all, and is evaluated.
    axis : int, optional
        Axis to repeat along. Default: flatten the array first.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array in the dtype of `array`. The length of the axis is the sum of the counts.

    Raises
    ------
    IndexError
        If `axis` is out of bounds.
    ValueError
        If a count is negative, the number of counts is wrong, or counts have no value, as inside `vmap` and `compile`.
    TypeError
        If the counts are not integers.

    See Also
    --------
    tile, resize, broadcast_to

    Examples
    --------
    >>> mx.repeat(mx.array([1, 2]), 2)
    array([1, 1, 2, 2], dtype=int32)
    >>> mx.repeat(mx.array([1, 2]), mx.array([1, 3]))
    array([1, 2, 2, 2], dtype=int32)
    """


def reset_peak_memory() -> None:
    """Reset the peak memory to the memory that is active now.

    See Also
    --------
    get_peak_memory

    Examples
    --------
    >>> mx.reset_peak_memory()
    """


def reshape(
    a: _Operand,
    /,
    shape: _Shape,
    *,
    copy: builtins.bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Reshape an array; the elements keep their row-major order.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    shape : int or sequence of int
        New shape, of the same number of elements. One length may be -1; it follows from the others.
    copy : bool, optional
        ``False`` requires a view: `a` is evaluated, and the call fails if only a copy can have the new shape. Default:
        copy only where necessary.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the given shape and the dtype of `a`. It shares memory with `a` if strides can express the new shape.

    Raises
    ------
    ValueError
        If the sizes differ, or more than one length is -1.
    BufferError
        If `copy` is ``False`` and a copy is necessary.

    See Also
    --------
    flatten, unflatten, ravel, resize

    Examples
    --------
    >>> mx.reshape(mx.arange(6), (2, -1))
    array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """


def resize(a: _Operand, new_shape: _Shape, *, stream: _StreamOrDevice = None) -> array:
    """Repeat or truncate the elements of an array to fill a new shape.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    new_shape : int or sequence of int
        Shape of the result; its size is arbitrary.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The elements of `a` in row-major order, repeated from the start as often as necessary. Zeros if `a` is empty.

    Raises
    ------
    ValueError
        If a length is negative.

    See Also
    --------
    reshape, tile, repeat

    Examples
    --------
    >>> mx.resize(mx.array([1, 2, 3]), (2, 2))
    array([[1, 2],
           [3, 1]], dtype=int32)
    """


def result_type(*arrays_and_dtypes: array | _DType | _Scalar) -> Dtype:
    """Compute the dtype of the result of an operation on the arguments.

    Parameters
    ----------
    *arrays_and_dtypes : array, dtype or number
        Arrays, dtypes, Python numbers and their types.

    Returns
    -------
    dtype
        The promoted dtype.

    Raises
    ------
    ValueError
        If there are no arguments.
    TypeError
        If an argument has no dtype.

    See Also
    --------
    can_cast

    Notes
    -----
    Python numbers and number types are weak: they raise the kind of the dtype (bool, integer, floating, complex) where
    necessary, but not its precision.

    Examples
    --------
    >>> mx.result_type(mx.int8, mx.uint8)
    umber.core.int16
    >>> mx.result_type(mx.float16, 2.5)
    umber.core.float16
    >>> mx.result_type(mx.array([1, 2]), 2.5)
    umber.core.float32
    """


def right_shift(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Bits of `a` shifted right by `b`: `floor(a / 2**b)`.

    Parameters
    ----------
    a : array_like
        Integers or booleans to shift.
    b : array_like
        Numbers of bits to shift by; the shapes of `a` and `b` broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; uint8 if both operands are boolean.

    Raises
    ------
    TypeError
        If an operand is floating or complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    left_shift

    Notes
    -----
    The shift is arithmetic: it keeps the sign of signed integers. A count that is negative or at least the number
    of bits gives zero, or -1 for negative integers.

    Examples
    --------
    >>> mx.right_shift(mx.array([8, -8]), 1)
    array([4, -4], dtype=int32)
    >>> mx.right_shift(mx.array([8, -8]), 40)
    array([0, -1], dtype=int32)
    """


def rint(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Round each element to the nearest integer in floating point; halves are rounded to even.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    round, floor, ceil

    Notes
    -----
    Both parts of a complex number are rounded. The gradient is zero.

    Examples
    --------
    >>> mx.rint(mx.array([0.5, 1.5, -2.6]))
    array([0, 2, -3], dtype=float32)
    """


def roll(
    a: _Operand,
    shift: int | Sequence[int],
    axis: _Axes | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Shift elements along axes; elements that leave at one end reenter at the other.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    shift : int or sequence of int
        Number of positions to shift by: one for all axes, or one for each axis in `axis`. Negative numbers shift towards
        the front. Several shifts of one axis add up.
    axis : int or sequence of int, optional
        Axes to shift along. Default: shift the flattened array, then restore the shape.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape and dtype of `a`.

    Raises
    ------
    IndexError
        If an axis is out of bounds.
    ValueError
        If there are several shifts, but not as many as axes.

    Examples
    --------
    >>> mx.roll(mx.arange(5), 2)
    array([3, 4, 0, 1, 2], dtype=int32)
    >>> mx.roll(mx.array([[1, 2, 3], [4, 5, 6]]), 1, axis=1)
    array([[3, 1, 2],
           [6, 4, 5]], dtype=int32)
    """


def rollaxis(
    a: _Operand,
    axis: int,
    start: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Move one axis to the position before another.

    Parameters
    ----------
    a : array_like
        Input of at least one axis.
    axis : int
        Axis to move.
    start : int, optional
        Axis before which `axis` is placed; the number of axes means the end. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        View of `a` with the axis moved.

    Raises
    ------
    IndexError
        If `axis` is out of bounds, or `start` is not between ``-a.ndim`` and ``a.ndim``.

    See Also
    --------
    moveaxis

    Examples
    --------
    >>> mx.rollaxis(mx.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    >>> mx.rollaxis(mx.zeros((2, 3, 4)), 0, 3).shape
    (3, 4, 2)
    """


def roots(p: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Roots of a polynomial.

    Parameters
    ----------
    p : array_like
        Coefficients with at most one axis and at most 4096 elements, the highest power first.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Complex roots: complex128 for float64 and complex128, else complex64.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    ValueError
        If coefficients have more than one axis or more than 4096 elements; inside `vmap` and `compile`, as values
        decide the number of roots.

    See Also
    --------
    poly, polyval

    Notes
    -----
    The eigenvalues of the companion matrix, computed in double precision. Leading zeros are removed, for which `p`
    is evaluated; trailing zeros are roots at zero.

    Examples
    --------
    >>> mx.roots(mx.array([1.0, -3.0, 2.0]))
    array([2+0j, 1+0j], dtype=complex64)
    """


def rot90(
    m: _Operand,
    k: int = 1,
    axes: tuple[int, int] = (0, 1),
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Rotate an array by multiples of 90 degrees in the plane of two axes.

    Parameters
    ----------
    m : array_like
        Input of at least two axes.
    k : int, optional
        Number of rotations by 90 degrees; negative numbers rotate in the opposite direction. Default: 1.
    axes : tuple of two int, optional
        Axes of the plane. The rotation goes from the first towards the second. Default: ``(0, 1)``, counterclockwise.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        View of `m`, rotated.

    Raises
    ------
    IndexError
        If an axis is out of bounds.
    ValueError
        If the axes are the same.

    See Also
    --------
    flip, fliplr, flipud

    Examples
    --------
    >>> mx.rot90(mx.array([[1, 2], [3, 4]]))
    array([[2, 4],
           [1, 3]], dtype=int32)
    """


def round(a: _Operand, /, decimals: int = 0, stream: _StreamOrDevice = None) -> array:
    """Round each element to a number of decimals; halves are rounded to even.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    decimals : int, optional
        Number of decimal places; negative for tens, hundreds and so on. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape and dtype as `a`; float32 for float8.

    Raises
    ------
    TypeError
        If `decimals` is not an integer, or `a` is not convertible to an array.

    See Also
    --------
    rint, floor, ceil, trunc

    Notes
    -----
    Integers are rounded exactly, in integer arithmetic. float16 and bfloat16 are computed in float32. Both parts of
    a complex number are rounded. The gradient is zero.

    Examples
    --------
    >>> mx.round(mx.array([0.5, 1.5, 2.6]))
    array([0, 2, 3], dtype=float32)
    >>> mx.round(mx.array([1.25, 0.12]), 1)
    array([1.2, 0.1], dtype=float32)
    >>> mx.round(mx.array([1250, 1350]), -2)
    array([1200, 1400], dtype=int32)
    """


row_stack = vstack

def rsqrt(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Reciprocal square root of each element: `1 / sqrt(a)`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    sqrt, reciprocal

    Notes
    -----
    Zero gives an infinity, negative real numbers give NaN.

    Examples
    --------
    >>> mx.rsqrt(mx.array([4.0, 0.0]))
    array([0.5, inf], dtype=float32)
    """


def save(
    file: _File,
    arr: array,
    *,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Save an array to an npy file.

    Parameters
    ----------
    file : path or file
        A path, to which ``.npy`` is added if it is missing, or a file open in binary mode.
    arr : array
        Array, or object that shares its memory, such as a NumPy array.
    progress : callable, optional
        Called as ``progress(written, total)`` with numbers of bytes; an exception that it raises stops the saving.
        Default: None.

    Raises
    ------
    TypeError
        If `file` is neither a path nor a file, or if `arr` is not an array.
    OSError
        If the file cannot be written.

    See Also
    --------
    load, savez, save_safetensors

    Notes
    -----
    A path is written atomically: a temporary file beside it replaces it, keeping its permissions, once all data is on the
    disk. So a failure leaves an existing file unchanged, and an array may be saved over the file from which it is mapped.
    bfloat16 has no name in the format: it is written as elements of two bytes (``<V2``), which `load` and MLX read as
    bfloat16.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mx.save(f"{folder}/a.npy", mx.array([1, 2]))
    ...     mx.load(f"{folder}/a.npy", mmap=False)
    array([1, 2], dtype=int32)
    """


def save_gguf(
    file: _File,
    arrays: Mapping[str, array],
    metadata: Mapping[str, array | int | float | str | list[Any]] | None = None,
    *,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Save arrays and metadata by name to a GGUF file (version 3).

    Parameters
    ----------
    file : path or file
        A path, to which ``.gguf`` is added if it is missing, or a file open in binary mode.
    arrays : dict of array
        Arrays by name.
    metadata : dict, optional
        Values by name: arrays of at most one axis (integers, bool, float32 or float64), numbers, strings, lists of
        strings, and lists of arrays and lists. Default: none.
    progress : callable, optional
        Called as ``progress(written, total)`` with numbers of bytes, as in `save`. Default: None.

    Raises
    ------
    TypeError
        If an argument has the wrong type, or if the format has no type for a dtype (bool, unsigned integers, complex
        numbers).
    OSError
        If the file cannot be written.

    See Also
    --------
    load, save_safetensors

    Notes
    -----
    Arrays are aligned to the integer ``general.alignment`` in the metadata, or to 32 bytes. Paths are written atomically,
    as in `save`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mx.save_gguf(f"{folder}/a.gguf", {"x": mx.ones(2)}, {"general.name": "demo"})
    ...     arrays, metadata = mx.load(f"{folder}/a.gguf", return_metadata=True)
    >>> metadata
    {'general.name': 'demo'}
    """


def save_safetensors(
    file: _File,
    arrays: Mapping[str, array],
    metadata: Mapping[str, str] | None = None,
    *,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Save arrays and strings by name to a safetensors file.

    Parameters
    ----------
    file : path or file
        A path, to which ``.safetensors`` is added if it is missing, or a file open in binary mode.
    arrays : dict of array
        Arrays by name.
    metadata : dict of str, optional
        Strings by name. Default: none.
    progress : callable, optional
        Called as ``progress(written, total)`` with numbers of bytes, as in `save`. Default: None.

    Raises
    ------
    TypeError
        If an argument has the wrong type, or if the format has no type for a dtype (complex128).
    OSError
        If the file cannot be written.

    See Also
    --------
    load, save_gguf, savez

    Notes
    -----
    Data starts at a multiple of 64 bytes and elements are aligned to their size, so that `load` can map them. Paths are
    written atomically, as in `save`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mx.save_safetensors(f"{folder}/a.safetensors", {"x": mx.ones(2)}, {"step": "10"})
    ...     arrays, metadata = mx.load(f"{folder}/a.safetensors", return_metadata=True)
    >>> metadata
    {'step': '10'}
    """


def savez(file: _File, *args: array, **kwargs: array | Callable[[int, int], object]) -> None:
    """Save several arrays to an npz file, an uncompressed zip archive of npy files.

    Parameters
    ----------
    file : path or file
        A path, to which ``.npz`` is added if it is missing, or a file open in binary mode.
    *args : array
        Arrays that are saved as ``arr_0``, ``arr_1`` and so on.
    **kwargs : array
        Arrays that are saved by name. A callable `progress` is not saved but called as in `save`.

    Raises
    ------
    TypeError
        If `file` is neither a path nor a file, or if an argument is not an array.
    ValueError
        If two arrays have the same name.
    OSError
        If the file cannot be written.

    See Also
    --------
    load, savez_compressed, save

    Notes
    -----
    Arrays are aligned to 64 bytes, so that `load` can map them. Paths are written atomically, as in `save`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mx.savez(f"{folder}/a.npz", mx.ones(2), n=mx.array(3))
    ...     mx.load(f"{folder}/a.npz", mmap=False)
    {'n': array(3, dtype=int32), 'arr_0': array([1, 1], dtype=float32)}
    """


def savez_compressed(
    file: _File,
    *args: array,
    **kwargs: array | Callable[[int, int], object],
) -> None:
    """Save several arrays to an npz file, compressed with deflate.

    Parameters
    ----------
    file : path or file
        A path, to which ``.npz`` is added if it is missing, or a file open in binary mode.
    *args : array
        Arrays that are saved as ``arr_0``, ``arr_1`` and so on.
    **kwargs : array
        Arrays that are saved by name. A callable `progress` is not saved but called as in `save`, with numbers of
        uncompressed bytes.

    Raises
    ------
    TypeError
        If `file` is neither a path nor a file, or if an argument is not an array.
    ValueError
        If two arrays have the same name.
    OSError
        If the file cannot be written.

    See Also
    --------
    load, savez

    Notes
    -----
    `load` decompresses the arrays instead of mapping them.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mx.savez_compressed(f"{folder}/a.npz", x=mx.zeros(10000))
    ...     os.path.getsize(f"{folder}/a.npz") < 1000
    True
    """


def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: builtins.bool = False,
    unroll: int | builtins.bool | None = None,
    checkpoint: int | Literal['sqrt'] | None = None,
) -> tuple[Any, Any]:
    """Carry a value through the rows of arrays: ``carry, y = f(carry, x)`` for each row ``x``, in order.

    Parameters
    ----------
    f : callable
        Called as ``f(carry, x)``; returns a pair ``(carry, y)``. The carry keeps its structure, shapes and dtypes.
    init : array_like or pytree of array_like
        First carry. Python numbers take the dtype that `f` gives them.
    xs : array or pytree of arrays, optional
        Arrays with equal numbers of rows along their first axes. Default: None; `f` then gets None for ``x``.
    length : int, optional
        Number of iterations, required without `xs`. Default: the number of rows of `xs`.
    reverse : bool, optional
        Start at the last row. Each ``y`` is stored at the position of its row. Default: False.
    unroll : int or bool, optional
        Number of iterations to combine into one, for small functions; True for all of them. Default: 1.
    checkpoint : int or {"sqrt"}, optional
        Keep only every k-th carry for the gradient and recompute the others. Default: None, keep all.

    Returns
    -------
    carry : array or pytree of arrays
        Last carry.
    ys : array or pytree of arrays
        All ``y``, stacked along a new first axis.

    Raises
    ------
    TypeError
        If `f` does not return a pair, or if the carry changes its dtype or structure.
    ValueError
        If the carry changes its shape, if numbers of rows differ, if neither `xs` nor `length` is given, or if `length`,
        `unroll` or `checkpoint` is out of range.

    See Also
    --------
    associative_scan, fori_loop, map, while_loop, cumsum

    Notes
    -----
    `f` is traced once, on arrays without values. Memory besides the results does not grow with the number of iterations
    ``n``. A gradient keeps ``n`` carries. With ``checkpoint=k`` it keeps ``n / k + k`` of them and runs `f` once more per
    iteration; ``"sqrt"`` chooses the `k` that minimises this number (Griewank, "Achieving logarithmic growth of temporal
    and spatial complexity in reverse automatic differentiation", 1992). Random numbers drawn without a key differ from
    iteration to iteration.

    Examples
    --------
    >>> f = lambda carry, x: (carry + x, carry * x)
    >>> mx.scan(f, mx.array(0.0), mx.array([1.0, 2.0, 3.0]))
    (array(6, dtype=float32), array([0, 2, 9], dtype=float32))
    >>> mx.scan(lambda c, _: (2 * c, c), mx.array(1.0), length=4)
    (array(16, dtype=float32), array([1, 2, 4, 8], dtype=float32))
    """


def searchsorted(
    sorted_sequence: _Operand,
    values: _Operand,
    /,
    side: Literal['left', 'right'] = "left",
    sorter: _Operand | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Find the indices at which values would be inserted into a sorted array.

    Parameters
    ----------
    sorted_sequence : array_like
        1-d array in ascending order, or in any order with `sorter`.
    values : array_like
        Values to search for, of any shape. Values of different dtypes are compared exactly, without rounding.
    side : {"left", "right"}, optional
        Index before (``"left"``) or after (``"right"``) equal elements. Default: ``"left"``.
    sorter : array_like, optional
        Indices that sort `sorted_sequence`, such as the result of `argsort`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Number of elements that are less than each value, with ``"right"`` also of those equal to it; uint32 of the shape of
        `values`.

    Raises
    ------
    ValueError
        If `sorted_sequence` is not 1-d, `sorter` differs in shape, or `side` is unknown.
    TypeError
        If `sorter` does not contain integers.
    IndexError
        If an index in `sorter` is out of bounds, when the result is evaluated.

    See Also
    --------
    digitize, sort, argsort

    Notes
    -----
    NaN counts as larger than every number and as equal to itself. If the array is not sorted, the result is unspecified, but
    never larger than its length.

    Examples
    --------
    >>> mx.searchsorted(mx.array([1, 2, 2, 4]), mx.array([2, 0, 9]))
    array([1, 0, 4], dtype=uint32)
    >>> mx.searchsorted(mx.array([1, 2, 2, 4]), mx.array([2, 0, 9]), side="right")
    array([3, 0, 4], dtype=uint32)
    """


def segment_max(
    data: _Operand,
    segment_ids: _Operand,
    num_segments: int | None = None,
    indices_are_sorted: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Maximum of each segment of the leading axis.

    Parameters
    ----------
    data : array_like
        Rows along the leading axis.
    segment_ids : array_like
        Vector of integers: the segment of each row, in any order. Rows with a negative id are dropped.
    num_segments : int, optional
        Number of segments. Default: the maximum id plus one.
    indices_are_sorted : bool, optional
        Whether the ids ascend: the default number of segments is then read from the last id alone. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Maxima of the dtype of `data` and shape ``(num_segments, *data.shape[1:])``; NaN if any element is NaN. An empty
        segment gives the minimum of the dtype: minus infinity, or the smallest integer.

    Raises
    ------
    TypeError
        If `segment_ids` has no integers, or an argument is not convertible to an array.
    ValueError
        If `segment_ids` is not a vector of the length of `data`, or `num_segments` is negative; inside `vmap` and `compile`
        also if there is no `num_segments`, as values decide it.
    IndexError
        If an id is not below `num_segments`. Raised when the result is evaluated.

    See Also
    --------
    segment_min, max

    Notes
    -----
    ``out[k]`` is ``data[segment_ids == k].max(axis=0)``; equal maxima share the gradient. Without `num_segments` the ids are evaluated.

    Examples
    --------
    >>> mx.segment_max(mx.array([3.0, 5.0, 7.0]), mx.array([2, 0, 2]))
    array([5, -inf, 7], dtype=float32)
    """


def segment_mean(
    data: _Operand,
    segment_ids: _Operand,
    num_segments: int | None = None,
    indices_are_sorted: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Arithmetic mean of each segment of the leading axis.

    Parameters
    ----------
    data : array_like
        Rows along the leading axis.
    segment_ids : array_like
        Vector of integers: the segment of each row, in any order. Rows with a negative id are dropped.
    num_segments : int, optional
        Number of segments. Default: the maximum id plus one.
    indices_are_sorted : bool, optional
        Whether the ids ascend: the default number of segments is then read from the last id alone. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Means of shape ``(num_segments, *data.shape[1:])``, float32 for integers. An empty segment gives 0.

    Raises
    ------
    TypeError
        If `segment_ids` has no integers, or an argument is not convertible to an array.
    ValueError
        If `segment_ids` is not a vector of the length of `data`, or `num_segments` is negative; inside `vmap` and `compile`
        also if there is no `num_segments`, as values decide it.
    IndexError
        If an id is not below `num_segments`. Raised when the result is evaluated.

    See Also
    --------
    segment_sum, mean

    Notes
    -----
    ``out[k]`` is ``data[segment_ids == k].mean(axis=0)``, but 0 instead of NaN for an empty segment. Without `num_segments` the ids are evaluated.

    Examples
    --------
    >>> mx.segment_mean(mx.array([1.0, 2.0, 4.0]), mx.array([2, 0, 2]))
    array([2, 0, 2.5], dtype=float32)
    """


def segment_min(
    data: _Operand,
    segment_ids: _Operand,
    num_segments: int | None = None,
    indices_are_sorted: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Minimum of each segment of the leading axis.

    Parameters
    ----------
    data : array_like
        Rows along the leading axis.
    segment_ids : array_like
        Vector of integers: the segment of each row, in any order. Rows with a negative id are dropped.
    num_segments : int, optional
        Number of segments. Default: the maximum id plus one.
    indices_are_sorted : bool, optional
        Whether the ids ascend: the default number of segments is then read from the last id alone. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Minima of the dtype of `data` and shape ``(num_segments, *data.shape[1:])``; NaN if any element is NaN. An empty
        segment gives the maximum of the dtype: infinity, or the largest integer.

    Raises
    ------
    TypeError
        If `segment_ids` has no integers, or an argument is not convertible to an array.
    ValueError
        If `segment_ids` is not a vector of the length of `data`, or `num_segments` is negative; inside `vmap` and `compile`
        also if there is no `num_segments`, as values decide it.
    IndexError
        If an id is not below `num_segments`. Raised when the result is evaluated.

    See Also
    --------
    segment_max, min

    Notes
    -----
    ``out[k]`` is ``data[segment_ids == k].min(axis=0)``; equal minima share the gradient. Without `num_segments` the ids are evaluated.

    Examples
    --------
    >>> mx.segment_min(mx.array([3.0, 5.0, 7.0]), mx.array([2, 0, 2]))
    array([5, inf, 3], dtype=float32)
    """


def segment_prod(
    data: _Operand,
    segment_ids: _Operand,
    num_segments: int | None = None,
    indices_are_sorted: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Product of each segment of the leading axis.

    Parameters
    ----------
    data : array_like
        Rows along the leading axis.
    segment_ids : array_like
        Vector of integers: the segment of each row, in any order. Rows with a negative id are dropped.
    num_segments : int, optional
        Number of segments. Default: the maximum id plus one.
    indices_are_sorted : bool, optional
        Whether the ids ascend: the default number of segments is then read from the last id alone. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Products of shape ``(num_segments, *data.shape[1:])``. Booleans and integers of fewer than 32 bits are converted to
        32-bit integers first. An empty segment gives 1.

    Raises
    ------
    TypeError
        If `segment_ids` has no integers, or an argument is not convertible to an array.
    ValueError
        If `segment_ids` is not a vector of the length of `data`, or `num_segments` is negative; inside `vmap` and `compile`
        also if there is no `num_segments`, as values decide it.
    IndexError
        If an id is not below `num_segments`. Raised when the result is evaluated.

    See Also
    --------
    segment_sum, prod

    Notes
    -----
    ``out[k]`` is ``data[segment_ids == k].prod(axis=0)``. Without `num_segments` the ids are evaluated.

    Examples
    --------
    >>> mx.segment_prod(mx.array([3, 5, 7]), mx.array([2, 0, 2]))
    array([5, 1, 21], dtype=int32)
    """


def segment_sum(
    data: _Operand,
    segment_ids: _Operand,
    num_segments: int | None = None,
    indices_are_sorted: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum of each segment of the leading axis.

    Parameters
    ----------
    data : array_like
        Rows along the leading axis.
    segment_ids : array_like
        Vector of integers: the segment of each row, in any order. Rows with a negative id are dropped.
    num_segments : int, optional
        Number of segments. Default: the maximum id plus one.
    indices_are_sorted : bool, optional
        Whether the ids ascend: the default number of segments is then read from the last id alone. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Sums of shape ``(num_segments, *data.shape[1:])``. Booleans and integers of fewer than 32 bits are converted to 32-bit
        integers first. An empty segment gives 0.

    Raises
    ------
    TypeError
        If `segment_ids` has no integers, or an argument is not convertible to an array.
    ValueError
        If `segment_ids` is not a vector of the length of `data`, or `num_segments` is negative; inside `vmap` and `compile`
        also if there is no `num_segments`, as values decide it.
    IndexError
        If an id is not below `num_segments`. Raised when the result is evaluated.

    See Also
    --------
    segment_mean, segment_prod, bincount, sum

    Notes
    -----
    ``out[k]`` is ``data[segment_ids == k].sum(axis=0)``. Without `num_segments` the ids are evaluated.

    Examples
    --------
    >>> mx.segment_sum(mx.array([1.0, 2.0, 4.0]), mx.array([2, 0, 2]))
    array([2, 0, 5], dtype=float32)
    >>> mx.segment_sum(mx.array([1.0, 2.0, 4.0]), mx.array([0, -1, 0]), num_segments=2)
    array([5, 0], dtype=float32)
    """


def segmented_mm(
    a: _Operand,
    b: _Operand,
    /,
    segments: array,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Matrix products over segments of the inner axis: ``a[:, start:end] @ b[start:end]``.

    Parameters
    ----------
    a, b : array_like
        Matrices of shapes ``(m, k)`` and ``(k, n)``.
    segments : array_like of int
        Shape ``(..., 2)``: start and end of each segment, between 0 and `k`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(*segments.shape[:-1], m, n)`` in the promoted dtype.

    Raises
    ------
    ValueError
        If `a` or `b` is not a matrix, the inner dimensions differ, or the last axis of `segments` is not of length 2.
    TypeError
        If `segments` are not integers.
    IndexError
        When evaluated, if a segment lies outside the inner axis.

    See Also
    --------
    matmul, gather_mm

    Notes
    -----
    A segment that ends before it starts is empty, and its product is zero.

    Examples
    --------
    >>> mx.segmented_mm(mx.array([[1.0, 2.0, 3.0]]), mx.ones((3, 1)), mx.array([[0, 2], [2, 3]])).flatten()
    array([3, 3], dtype=float32)
    """


def select(
    condlist: Sequence[_Operand],
    choicelist: Sequence[_Operand],
    default: _Operand = 0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Select elements from the choice of the first condition that is true.

    Parameters
    ----------
    condlist : sequence of array_like
        Conditions, bool arrays.
    choicelist : sequence of array_like
        Values for each condition, as many as conditions.
    default : array_like, optional
        Value where no condition is true. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Elements in the promoted dtype of the choices and the default. Conditions, choices and the default broadcast.

    Raises
    ------
    ValueError
        If there are no conditions, not as many choices as conditions, or the shapes do not broadcast.
    TypeError
        If a condition is not bool.

    See Also
    --------
    where, choose, piecewise

    Examples
    --------
    >>> x = mx.arange(6)
    >>> mx.select([x < 2, x < 4], [x, 10 * x], default=-1)
    array([0, 1, 20, 30, -1, -1], dtype=int32)
    """


def set_cache_limit(limit: int) -> int:
    """Set the maximum number of bytes to cache for reuse, and return the previous limit.

    Parameters
    ----------
    limit : int
        Maximum number of cached bytes.

    Returns
    -------
    int
        Previous limit in bytes.

    Raises
    ------
    OverflowError
        If `limit` is negative or does not fit 64 bits.

    See Also
    --------
    clear_cache, get_cache_memory

    Examples
    --------
    >>> before = mx.set_cache_limit(2**30)
    >>> mx.set_cache_limit(before)
    1073741824
    """


def set_default_device(device: _Device) -> None:
    """Set the device that this thread's operations run on by default.

    Parameters
    ----------
    device : Device or DeviceType
        An available device.

    Raises
    ------
    TypeError
        If `device` is not a device.
    ValueError
        If the device is not available.

    See Also
    --------
    default_device, stream

    Examples
    --------
    >>> mx.set_default_device(mx.cpu)
    """


def set_default_stream(stream: Stream) -> None:
    """Set the stream that this thread's operations use by default.

    Parameters
    ----------
    stream : Stream
        Stream; its device becomes the default device.

    Raises
    ------
    TypeError
        If `stream` is not a Stream.

    See Also
    --------
    default_stream, stream

    Examples
    --------
    >>> before = mx.default_stream(mx.cpu)
    >>> mx.set_default_stream(mx.new_stream(mx.cpu))
    >>> mx.set_default_stream(before)
    """


def set_memory_limit(limit: int) -> int:
    """Set the memory limit, and return the previous one.

    Parameters
    ----------
    limit : int
        Maximum number of bytes that arrays may occupy.

    Returns
    -------
    int
        Previous limit in bytes.

    Raises
    ------
    OverflowError
        If `limit` is negative or does not fit 64 bits.

    See Also
    --------
    get_memory_limit, set_cache_limit

    Notes
    -----
    An allocation that would exceed the limit raises MemoryError.

    Examples
    --------
    >>> before = mx.set_memory_limit(8 * 2**30)
    >>> mx.set_memory_limit(before)
    8589934592
    """


def set_num_threads(n: int) -> int:
    """Set the number of CPU threads that a kernel uses, and return the previous number.

    Parameters
    ----------
    n : int
        Number of threads from 1 to 256, including the calling one.

    Returns
    -------
    int
        Previous number.

    Raises
    ------
    ValueError
        If `n` is not in this range.

    See Also
    --------
    get_num_threads

    Notes
    -----
    Holds for the whole process, from the next kernel on. The initial number is the environment variable
    ``UMBER_NUM_THREADS``, or the number of processors that affinity and control groups leave to the process.

    Examples
    --------
    >>> before = mx.set_num_threads(1)
    >>> mx.set_num_threads(before)
    1
    """


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    suppress: builtins.bool | None = None,
    nanstr: str | None = None,
    infstr: str | None = None,
    *,
    style: Literal['mlx', 'numpy'] | None = None,
) -> None:
    """Set how arrays are printed.

    Parameters
    ----------
    precision : int, optional
        Number of decimals of floating-point numbers, or -1 for the default of the style: in style ``"mlx"`` the shortest form with
        six significant digits, in style ``"numpy"`` at most 8 decimals.
    threshold : int, optional
        Arrays of more elements are abbreviated: the middle of long axes is omitted. ``mx.inf`` prints arrays whole. Default: 0 in
        style ``"mlx"``, 1000 in style ``"numpy"``.
    edgeitems : int, optional
        Number of elements at each end of an abbreviated axis. Default: 3.
    linewidth : int, optional
        Number of characters in a line, after which rows are wrapped. Default: unlimited in style ``"mlx"``, 75 in style
        ``"numpy"``.
    suppress : bool, optional
        Write small numbers, and in style ``"numpy"`` numbers of different magnitudes, without exponents. Large numbers have
        exponents: from 1e16 in style ``"mlx"``, from a power of ten of the dtype's digits in style ``"numpy"``. Default: False.
    nanstr : str, optional
        Text of NaN. Default: ``"nan"``.
    infstr : str, optional
        Text of infinity. Default: ``"inf"``.
    style : {"mlx", "numpy"}, optional
        ``"mlx"`` writes each number in its own form. ``"numpy"`` aligns numbers in columns with a common notation, as NumPy's
        ``repr``. Default: ``"mlx"``.

    Raises
    ------
    ValueError
        If `precision` is less than -1 or greater than 1100, another number is negative, or `style` is unknown.
    TypeError
        If an option has another type.

    See Also
    --------
    get_printoptions, printoptions

    Notes
    -----
    Options that are not given keep their values; a call without options restores the defaults. Holds for the whole process.

    Examples
    --------
    >>> mx.set_printoptions(precision=2)
    >>> mx.array(1 / 3)
    array(0.33, dtype=float32)
    >>> mx.set_printoptions(style="numpy", precision=4)
    >>> mx.array([[1.0, -0.5], [100 / 3, mx.nan]])
    array([[ 1.    , -0.5   ],
           [33.3333,     nan]], dtype=float32)
    >>> mx.set_printoptions()
    """


def set_view_policy(policy: Literal['checked', 'writable', 'readonly']) -> str:
    """Set how arrays share memory with views of other libraries, and return the previous policy.

    Parameters
    ----------
    policy : {"checked", "writable", "readonly"}
        The new policy; "checked" is the initial one.

    Returns
    -------
    str
        Previous policy.

    Raises
    ------
    ValueError
        If the policy is unknown.

    See Also
    --------
    asarray, from_numpy

    Notes
    -----
    "checked": a view is writable exactly if nothing else can see the memory. Operations on memory that others can write
    run eagerly.

    "writable": a view is writable whenever the memory is, even while it is shared or a derivative is taken, and
    operations stay lazy. The program is responsible for the effects of its writes.

    "readonly": as "checked", but no view is writable.

    Examples
    --------
    >>> before = mx.set_view_policy("readonly")
    >>> np.asarray(mx.ones(2)).flags.writeable
    False
    >>> mx.set_view_policy(before)
    'readonly'
    """


def set_wired_limit(limit: int) -> int:
    """Set how much memory may be kept resident, and return the previous limit.

    Parameters
    ----------
    limit : int
        Number of bytes.

    Returns
    -------
    int
        Always 0.

    Raises
    ------
    OverflowError
        If `limit` is negative or does not fit 64 bits.

    Notes
    -----
    Only the memory of some GPUs can be kept resident. In this build the call has no effect.

    Examples
    --------
    >>> mx.set_wired_limit(2**30)
    0
    """


def setdiff1d(
    ar1: _Operand,
    ar2: _Operand,
    assume_unique: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Find the distinct elements of one array that are not in another, in ascending order.

    Parameters
    ----------
    ar1, ar2 : array_like
        Inputs, which are flattened and evaluated.
    assume_unique : bool, optional
        Whether the elements of `ar1` are known to be distinct; they then keep their order. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Elements of `ar1` that are not in `ar2`, 1-d, in the dtype of `ar1`.

    Raises
    ------
    ValueError
        Inside `vmap` and `compile`, where the arrays have no value.

    See Also
    --------
    intersect1d, union1d, setxor1d, isin

    Notes
    -----
    NaN is not equal to anything, so that the NaN of `ar1` is always in the result.

    Examples
    --------
    >>> mx.setdiff1d(mx.array([3, 1, 2, 3]), mx.array([2]))
    array([1, 3], dtype=int32)
    """


def setxor1d(
    ar1: _Operand,
    ar2: _Operand,
    assume_unique: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Find the distinct elements that are in exactly one of two arrays, in ascending order.

    Parameters
    ----------
    ar1, ar2 : array_like
        Inputs, which are flattened and evaluated.
    assume_unique : bool, optional
        Whether the elements of each array are known to be distinct, which saves work. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        1-d array in the promoted dtype.

    Raises
    ------
    ValueError
        Inside `vmap` and `compile`, where the arrays have no value.

    See Also
    --------
    intersect1d, union1d, setdiff1d

    Notes
    -----
    NaN is not equal to anything, so that the NaN of either array is in the result.

    Examples
    --------
    >>> mx.setxor1d(mx.array([3, 1, 3]), mx.array([2, 1]))
    array([2, 3], dtype=int32)
    """


def shape(a: _Operand) -> tuple[int, ...]:
    """Return the shape of an array.

    Parameters
    ----------
    a : array_like
        Input of any shape.

    Returns
    -------
    tuple of int
        Length of each axis.

    See Also
    --------
    ndim, size

    Examples
    --------
    >>> mx.shape([[1, 2, 3]])
    (1, 3)
    """


def sigmoid(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logistic sigmoid of each element: `1 / (1 + exp(-a))`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    tanh, softmax

    Examples
    --------
    >>> mx.sigmoid(mx.array([0.0, 2.0, -mx.inf]))
    array([0.5, 0.880797, 0], dtype=float32)
    """


def sign(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Sign of each element: -1, 0 or 1; of a complex number `a / abs(a)`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape and dtype as `a`; float32 for float8.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    abs, signbit, copysign

    Notes
    -----
    NaN stays NaN. Complex zero gives zero. The gradient of real numbers is zero.

    Examples
    --------
    >>> mx.sign(mx.array([-2.5, 0.0, 7.0]))
    array([-1, 0, 1], dtype=float32)
    >>> mx.sign(mx.array([3 + 4j]))
    array([0.6+0.8j], dtype=complex64)
    """


def signbit(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Test the sign bit of each element: true for negative numbers and `-0.0`.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Bool array of the same shape as `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    sign, copysign

    Notes
    -----
    For NaN, its sign bit is returned.

    Examples
    --------
    >>> mx.signbit(mx.array([-0.0, 0.0, -3.0]))
    array([True, False, True], dtype=bool)
    """


def sin(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Sine of each element, an angle in radians.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    arcsin, cos, tan

    Examples
    --------
    >>> mx.sin(mx.array([0.0, mx.pi / 2]))
    array([0, 1], dtype=float32)
    """


def sinc(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Normalised sinc of each element: `sin(pi * a) / (pi * a)`, and 1 at zero.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    sin

    Notes
    -----
    Exactly zero at nonzero integers.

    Examples
    --------
    >>> mx.sinc(mx.array([0.0, 0.5, -3.0]))
    array([1, 0.63662, 0], dtype=float32)
    """


def sinh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Hyperbolic sine of each element: `(exp(a) - exp(-a)) / 2`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    arcsinh, cosh, tanh

    Examples
    --------
    >>> mx.sinh(mx.array([0.0, 1.0]))
    array([0, 1.1752], dtype=float32)
    """


def size(a: _Operand, axis: _Axes | None = None) -> int:
    """Return the number of elements of an array, in all or along given axes.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    axis : int or sequence of int, optional
        Axes whose lengths are multiplied. Default: all axes.

    Returns
    -------
    int
        Product of the lengths of the axes.

    Raises
    ------
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    shape, ndim

    Examples
    --------
    >>> mx.size(mx.zeros((2, 3)))
    6
    >>> mx.size(mx.zeros((2, 3)), 1)
    3
    """


def slice(
    a: _Operand,
    start_indices: _Operand,
    axes: Sequence[int],
    slice_size: Sequence[int],
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Extract a block of a given size that starts at computed indices.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    start_indices : array_like
        First index of the block along each axis in `axes`; integers, non-negative. They may be the result of a computation.
    axes : int or sequence of int
        Axes that `start_indices` refer to. The block starts at 0 along the other axes.
    slice_size : int or sequence of int
        Shape of the block, one length for every axis of `a`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of shape `slice_size` and the dtype of `a`.

    Raises
    ------
    IndexError
        If an axis is out of bounds, or the block extends beyond the array. The latter is raised when the result is evaluated.
    ValueError
        If the block is larger than the array, or there is not one start for each axis.
    TypeError
        If `start_indices` are not integers.

    See Also
    --------
    slice_update, take

    Examples
    --------
    >>> a = mx.array([[1, 2, 3], [4, 5, 6]])
    >>> mx.slice(a, mx.array([1]), axes=1, slice_size=(2, 2))
    array([[2, 3],
           [5, 6]], dtype=int32)
    """


def slice_update(
    a: _Operand,
    update: _Operand,
    start_indices: _Operand,
    axes: Sequence[int],
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Return a copy of an array with a block replaced that starts at computed indices.

    Parameters
    ----------
    a : array_like
        Input of any shape. It is not changed.
    update : array_like
        Block with as many axes as `a`, converted to the dtype of `a`.
    start_indices : array_like
        First index of the block along each axis in `axes`; integers, non-negative. They may be the result of a computation.
    axes : int or sequence of int
        Axes that `start_indices` refer to. The block starts at 0 along the other axes.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape and dtype of `a`.

    Raises
    ------
    IndexError
        If an axis is out of bounds, or the block extends beyond the array. The latter may be raised only when the result is
        evaluated.
    ValueError
        If the block is larger than the array, or there is not one start for each axis.
    TypeError
        If `start_indices` are not integers.

    See Also
    --------
    slice, put_along_axis

    Examples
    --------
    >>> mx.slice_update(mx.array([1, 2, 3, 4]), mx.array([8, 9]), mx.array([2]), axes=0)
    array([1, 2, 8, 9], dtype=int32)
    """


def softmax(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    precise: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Softmax over one or more axes: `exp(a) / sum(exp(a))`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to normalise over. Default: all axes.
    precise : bool, optional
        Compute float16 and bfloat16 in float32 throughout. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice.

    See Also
    --------
    log_softmax, logsumexp, sigmoid

    Notes
    -----
    Computed as ``exp(a - max(a)) / sum(exp(a - max(a)))``, so large inputs do not overflow. NaN where all inputs
    are ``-inf`` or any is ``inf`` or NaN.

    Examples
    --------
    >>> mx.softmax(mx.array([0.0, 0.0]))
    array([0.5, 0.5], dtype=float32)
    >>> mx.softmax(mx.array([[1000.0, 1000.0], [0.0, -mx.inf]]), axis=-1)
    array([[0.5, 0.5],
           [1, 0]], dtype=float32)
    """


def sort(
    a: _Operand,
    /,
    axis: int = ...,
    *,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
    stream: _StreamOrDevice = None,
) -> array:
    """Sort the elements along an axis.

    Parameters
    ----------
    a : array_like
        Input of any dtype.
    axis : int or None, optional
        Axis to sort along; ``None`` sorts the flattened array. Default: -1.
    descending : bool, optional
        Whether to sort in descending order. Default: False.
    stable : bool, optional
        Accepted for the array API standard. Every sort is stable. Default: True.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Sorted elements in the shape (1-d for ``axis=None``) and dtype of `a`.

    Raises
    ------
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    argsort, lexsort, partition, topk

    Notes
    -----
    NaN comes last in either order. Complex numbers are ordered by their real parts, then by their imaginary parts.

    Examples
    --------
    >>> mx.sort(mx.array([3, 1, 2]))
    array([1, 2, 3], dtype=int32)
    >>> mx.sort(mx.array([1.0, float("nan"), 2.0]), descending=True)
    array([2, 1, nan], dtype=float32)
    """


def spacing(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Distance from each element to the next number away from zero, with the sign of the element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    nextafter, finfo

    Notes
    -----
    Infinities and NaN give NaN; the largest finite number gives the distance to the number below. The gradient is
    zero.

    Examples
    --------
    >>> mx.spacing(mx.array([1.0, -2.0]))
    array([1.19209e-07, -2.38419e-07], dtype=float32)
    """


def split(
    a: _Operand,
    /,
    indices_or_sections: int | Sequence[int] | array,
    axis: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> list[array]:
    """Split an array along an axis.

    Parameters
    ----------
    a : array_like
        Input of at least one axis.
    indices_or_sections : int or sequence of int
        Number of parts of equal length, or the indices before which to split. Negative indices count from the end; indices
        beyond the end give empty parts.
    axis : int, optional
        Axis to split along. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    list of array
        Views of `a`: as many as there are sections, or one more than there are indices.

    Raises
    ------
    IndexError
        If `axis` is out of bounds.
    ValueError
        If the length of the axis is no multiple of the number of sections, or that number is below 1 or above 2**24.

    See Also
    --------
    array_split, unstack, concatenate, hsplit, vsplit, dsplit

    Examples
    --------
    >>> mx.split(mx.arange(5), [2, 4])
    [array([0, 1], dtype=int32), array([2, 3], dtype=int32), array([4], dtype=int32)]
    """


def sqrt(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Square root of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    rsqrt, square, cbrt

    Notes
    -----
    Negative real numbers give NaN. For complex roots, convert them to a complex dtype first.

    Examples
    --------
    >>> mx.sqrt(mx.array([4.0, 2.0]))
    array([2, 1.41421], dtype=float32)
    >>> mx.sqrt(mx.array([-4 + 0j]))
    array([0+2j], dtype=complex64)
    """


def square(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Square of each element: `a * a`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape and dtype as `a`; float32 for float8.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    sqrt, power

    Notes
    -----
    Integers wrap around on overflow.

    Examples
    --------
    >>> mx.square(mx.array([-2, 3]))
    array([4, 9], dtype=int32)
    """


def squeeze(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Remove axes of length one.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    axis : int or sequence of int, optional
        Axes to remove. Default: all axes of length one.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        View of `a` without these axes.

    Raises
    ------
    IndexError
        If an axis is out of bounds.
    ValueError
        If a given axis is longer than one, or given twice.

    See Also
    --------
    expand_dims

    Examples
    --------
    >>> mx.squeeze(mx.zeros((1, 3, 1))).shape
    (3,)
    >>> mx.squeeze(mx.zeros((1, 3, 1)), 0).shape
    (3, 1)
    """


def stack(arrays: Sequence[array], axis: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """Join arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Arrays of the same shape. An array counts as the sequence of its elements along axis 0.
    axis : int or None, optional
        Position of the new axis in the result. Default: 0, also for ``None``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The joined array, of one axis more, in the promoted dtype of all arrays.

    Raises
    ------
    IndexError
        If `axis` is out of bounds.
    ValueError
        If there are no arrays, or the shapes differ.
    TypeError
        If `arrays` is not a sequence.

    See Also
    --------
    concatenate, unstack

    Examples
    --------
    >>> mx.stack([mx.array([1, 2]), mx.array([3, 4])], axis=-1)
    array([[1, 3],
           [2, 4]], dtype=int32)
    """


def std(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    ddof: int = 0,
    *,
    correction: float | None = None,
    dtype: _DType = None,
    where: _Operand | None = None,
    mean: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Standard deviation of the elements over axes: `sqrt(var(a))`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    ddof : int, optional
        Delta degrees of freedom: the divisor is the number of elements minus `ddof`. Default: 0.
    correction : float, optional
        The array API standard's name for `ddof`; it takes precedence and may be fractional. Default: `ddof`.
    dtype : dtype, str or type, optional
        Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
        `a`; float32 for integers, booleans and float8.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    mean : array_like, optional
        Mean of the elements if it is known already, with the reduced axes kept. Default: the computed mean.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`; of the real dtype of the same
        precision.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or `where` or `mean` does not broadcast.

    See Also
    --------
    var, mean, nanstd

    Notes
    -----
    Real also for complex numbers. A divisor of zero or less gives an infinity or NaN. The squares do not overflow
    unless the result does. The gradient between equal elements, where the function is not differentiable, is zero.

    Examples
    --------
    >>> mx.std(mx.array([[1.0, 5.0], [2.0, 2.0]]), axis=1)
    array([2, 0], dtype=float32)
    """


def stop_gradient(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Return the input and let no gradient pass through it.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array with the values, shape and dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    grad, vjp

    Notes
    -----
    Derivatives treat the result as a constant.

    Examples
    --------
    >>> mx.grad(lambda x: x * mx.stop_gradient(x))(mx.array(3.0))
    array(3, dtype=float32)
    """


def stream(s: _StreamOrDevice) -> StreamContext:
    """Return a context manager that makes a stream or device the default for this thread.

    Parameters
    ----------
    s : Stream, Device or DeviceType
        Stream, or device whose default stream is used.

    Returns
    -------
    StreamContext

    Raises
    ------
    TypeError
        If `s` is none of these.
    ValueError
        If the device is not available.

    See Also
    --------
    set_default_stream, new_stream

    Examples
    --------
    >>> with mx.stream(mx.cpu):
    ...     mx.array(1) + 1
    array(2, dtype=int32)
    """


def subtract(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Difference of two arrays, element by element: `a - b`.

    Parameters
    ----------
    a, b : array_like
        Operands whose shapes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for float8.

    Raises
    ------
    TypeError
        If an operand is not convertible to an array.
    ValueError
        If the shapes do not broadcast.
    OverflowError
        If a Python integer does not fit the dtype of the other operand.

    See Also
    --------
    add, negative

    Notes
    -----
    Integers wrap around on overflow. The difference of booleans is their logical XOR.

    Examples
    --------
    >>> mx.subtract(mx.array([5.0, 7.0]), 2)
    array([3, 5], dtype=float32)
    """


def sum(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    dtype: _DType = None,
    initial: _Operand | None = None,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum of the elements over axes.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    dtype : dtype, str or type, optional
        Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
        `a`, but int32 for booleans and smaller signed integers, and uint32 for smaller unsigned ones.
    initial : array_like, optional
        Value that the reduction starts from; it broadcasts to the shape of the result. Default: 0.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or `initial` or `where` does not broadcast.

    See Also
    --------
    mean, prod, cumsum, nansum

    Notes
    -----
    The sum of no elements is zero. float16 and bfloat16 are accumulated in float32 and rounded once. Integers wrap
    around on overflow.

    Examples
    --------
    >>> a = mx.array([[1, 2], [3, 4]])
    >>> mx.sum(a, axis=0)
    array([4, 6], dtype=int32)
    >>> mx.sum(a, where=a > 1)
    array(9, dtype=int32)
    """


def swapaxes(
    a: _Operand,
    /,
    axis1: int,
    axis2: int,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Exchange two axes of an array.

    Parameters
    ----------
    a : array_like
        Input of at least one axis.
    axis1, axis2 : int
        The axes to exchange.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        View of `a` with the axes exchanged.

    Raises
    ------
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    transpose, moveaxis, matrix_transpose

    Examples
    --------
    >>> mx.swapaxes(mx.zeros((2, 3, 4)), 0, -1).shape
    (4, 3, 2)
    """


def switch(index: _Operand, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Return ``branches[index](*operands)``, executing only that function.

    Parameters
    ----------
    index : integer scalar array_like
        Number of the function, clamped to ``[0, len(branches) - 1]``.
    branches : sequence of callable
        Functions of the operands. All return arrays of the same structure, shapes and dtypes.
    *operands : array_like or pytree of array_like
        Arguments of the chosen function.

    Returns
    -------
    array or pytree of arrays
        What the chosen function returns.

    Raises
    ------
    TypeError
        If `index` is not an integer, or if the functions return different dtypes or structures.
    ValueError
        If `branches` is empty, if `index` is not a scalar, or if the functions return different shapes.

    See Also
    --------
    cond, where

    Notes
    -----
    All functions are traced once. Gradients and `vmap` work as in `cond`.

    Examples
    --------
    >>> branches = [lambda x: x + 1, lambda x: x * 10, lambda x: -x]
    >>> mx.switch(mx.array(1), branches, mx.array(3.0))
    array(30, dtype=float32)
    >>> mx.switch(99, branches, mx.array(3.0))
    array(-3, dtype=float32)
    """


def synchronize(stream: _StreamOrDevice = None) -> None:
    """Wait until all operations given to a stream have finished.

    Parameters
    ----------
    stream : Stream, Device or DeviceType, optional
        Stream, or device whose default stream is used. Default: this thread's current stream.

    Raises
    ------
    TypeError
        If `stream` is none of these.
    ValueError
        If the device is not available.

    See Also
    --------
    eval, async_eval

    Notes
    -----
    The first error of an operation since the last call is raised here, for example of arrays given to `async_eval`.

    Examples
    --------
    >>> mx.synchronize()
    """


def take(
    a: _Operand,
    /,
    indices: _Operand,
    axis: int | None = None,
    *,
    mode: str = "raise",
    stream: _StreamOrDevice = None,
) -> array:
    """Take elements of an array at indices along an axis.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    indices : array_like
        Integer indices of any shape.
    axis : int, optional
        Axis to index. Default: index the flattened array.
    mode : {"raise", "wrap", "clip"}, optional
        Treatment of indices out of bounds: ``"raise"`` an error, ``"wrap"`` modulo the length, ``"clip"`` to the nearest
        valid index, so that negative indices become 0. Default: ``"raise"``, in which negative indices count from the end.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Elements in the dtype of `a`. The axes of `indices` replace `axis` in the shape of `a`.

    Raises
    ------
    IndexError
        If `axis` is out of bounds, or if there are indices but no elements. In mode ``"raise"`` also if an index is out of
        bounds, when the result is evaluated.
    TypeError
        If `indices` are not integers.
    ValueError
        If the mode is unknown.

    See Also
    --------
    take_along_axis, put_along_axis, compress

    Examples
    --------
    >>> mx.take(mx.array([[1, 2], [3, 4]]), mx.array([1, 1, 0]), axis=0)
    array([[3, 4],
           [3, 4],
           [1, 2]], dtype=int32)
    >>> mx.take(mx.array([1, 2, 3]), mx.array([-1, 4]), mode="wrap")
    array([3, 2], dtype=int32)
    """


def take_along_axis(
    a: _Operand,
    /,
    indices: _Operand,
    axis: int = ...,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Take elements along an axis with an index array that has the axes of the input.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    indices : array_like
        Integer indices with as many axes as `a`. Along the other axes `a` and `indices` broadcast. Negative indices count
        from the end.
    axis : int or None, optional
        Axis to index; ``None`` indexes the flattened array with 1-d `indices`. Default: -1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape of `indices`, broadcast along the other axes, and the dtype of `a`:
        ``out[i, j] = a[i, indices[i, j]]`` for the last of two axes.

    Raises
    ------
    IndexError
        If `axis` is out of bounds; if an index is, when the result is evaluated.
    ValueError
        If the numbers of axes differ, or the shapes do not broadcast.
    TypeError
        If `indices` are not integers.

    See Also
    --------
    put_along_axis, take, argsort, argmax

    Examples
    --------
    >>> a = mx.array([[30, 10, 20], [1, 3, 2]])
    >>> mx.take_along_axis(a, mx.argsort(a, axis=1), axis=1)
    array([[10, 20, 30],
           [1, 2, 3]], dtype=int32)
    """


def tan(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Tangent of each element, an angle in radians.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    arctan, sin, cos

    Examples
    --------
    >>> mx.tan(mx.array([0.0, mx.pi / 4]))
    array([0, 1], dtype=float32)
    """


def tanh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Hyperbolic tangent of each element: `sinh(a) / cosh(a)`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    arctanh, sinh, cosh, sigmoid

    Examples
    --------
    >>> mx.tanh(mx.array([0.0, 1.0, mx.inf]))
    array([0, 0.761594, 1], dtype=float32)
    """


def tensordot(
    a: _Operand,
    b: _Operand,
    /,
    axes: int | Sequence[Sequence[int]] = 2,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum of products over pairs of axes of `a` and `b`.

    Parameters
    ----------
    a, b : array_like
        Arrays whose summed axes have equal lengths.
    axes : int or pair of sequences of int, optional
        An integer `n` pairs the last `n` axes of `a` with the first `n` of `b`. Two sequences pair ``axes[0][i]`` of
        `a` with ``axes[1][i]`` of `b`. Default: 2.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The other axes of `a`, then those of `b`, in the promoted dtype.

    Raises
    ------
    ValueError
        If the axes differ in number or length, an axis is given twice, `axes` is negative or larger than the number of
        axes.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    einsum, dot, inner, outer

    Examples
    --------
    >>> mx.tensordot(mx.ones((2, 3, 4)), mx.ones((4, 3, 5)), axes=([1, 2], [1, 0])).shape
    (2, 5)
    >>> mx.tensordot(mx.array([1, 2]), mx.array([1, 10]), axes=0)
    array([[1, 10],
           [2, 20]], dtype=int32)
    """


def tile(a: _Operand, reps: _Axes, /, *, stream: _StreamOrDevice = None) -> array:
    """Repeat an array as a whole along its axes.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    reps : int or sequence of int
        Number of repetitions along each axis. The shorter of `reps` and the shape of `a` is padded with ones in front.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of shape ``a.shape[i] * reps[i]`` and the dtype of `a`.

    Raises
    ------
    ValueError
        If a number of repetitions is negative.

    See Also
    --------
    repeat, broadcast_to

    Examples
    --------
    >>> mx.tile(mx.array([1, 2]), (2, 2))
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32)
    """


def to_fp8(x: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Round to the nearest float8 (E4M3) and return its bits as uint8.

    Parameters
    ----------
    x : array_like
        Real floating-point array.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        uint8 codes of the shape of `x`.

    Raises
    ------
    TypeError
        If `x` is not real floating point.

    See Also
    --------
    from_fp8

    Notes
    -----
    Ties go to even. Magnitudes above 448, the maximum of E4M3, become 448; NaN stays NaN. E4M3 is defined in the OCP
    8-bit Floating Point Specification.

    Examples
    --------
    >>> mx.to_fp8(mx.array([1.0, -2.0, 1e9]))
    array([56, 192, 126], dtype=uint8)
    """


def topk(a: _Operand, /, k: int, axis: int = ..., *, stream: _StreamOrDevice = None) -> array:
    """Select the k largest elements along an axis, in ascending order.

    Parameters
    ----------
    a : array_like
        Input of any dtype.
    k : int
        Number of elements.
    axis : int or None, optional
        Axis to select along; ``None`` selects from the flattened array. Default: -1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The largest elements in the dtype of `a`. The axis has length `k`.

    Raises
    ------
    IndexError
        If `axis` is out of bounds.
    ValueError
        If `k` is negative or larger than the length of the axis.

    See Also
    --------
    sort, partition, max

    Notes
    -----
    NaN counts as larger than every number.

    Examples
    --------
    >>> mx.topk(mx.array([5, 1, 4, 2, 3]), 2)
    array([4, 5], dtype=int32)
    """


def trace(
    a: _Operand,
    /,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: _DType = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum of the elements on a diagonal of two axes.

    Parameters
    ----------
    a : array_like
        Input with at least two axes.
    offset : int, optional
        Which diagonal: above the main one if positive, below it if negative. Default: 0.
    axis1 : int, optional
        Axis of the rows. Default: 0.
    axis2 : int, optional
        Axis of the columns. Default: 1.
    dtype : dtype, str or type, optional
        Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
        `a`, but int32 for booleans and smaller signed integers, and uint32 for smaller unsigned ones.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array with the other axes of `a`; 0-d for a matrix.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If `a` has fewer than two axes, or `axis1` and `axis2` are the same.

    See Also
    --------
    diagonal, diag, sum

    Examples
    --------
    >>> mx.trace(mx.array([[1, 2], [3, 4]]))
    array(5, dtype=int32)
    >>> mx.trace(mx.array([[1, 2], [3, 4]]), offset=1)
    array(2, dtype=int32)
    """


def transpose(
    a: _Operand,
    /,
    axes: Sequence[int] | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Permute the axes of an array.

    Parameters
    ----------
    a : array_like
        Input of any shape.
    axes : int or sequence of int, optional
        Permutation of the axes: axis ``i`` of the result is axis ``axes[i]`` of `a`. Default: reverse the axes.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        View of `a` with its axes in the new order.

    Raises
    ------
    IndexError
        If an axis is out of bounds.
    ValueError
        If `axes` does not contain every axis exactly once.

    See Also
    --------
    swapaxes, moveaxis, matrix_transpose

    Examples
    --------
    >>> mx.transpose(mx.array([[1, 2, 3], [4, 5, 6]]))
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)
    >>> mx.transpose(mx.zeros((2, 3, 4)), (1, 2, 0)).shape
    (3, 4, 2)
    """


def trapezoid(
    y: _Operand,
    x: _Operand | None = None,
    dx: float = 1.0,
    axis: int = ...,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Integral along an axis by the trapezoidal rule.

    Parameters
    ----------
    y : array_like
        Values to integrate, with at least one axis.
    x : array_like, optional
        Abscissas of the values: a vector as long as the axis, or an array that broadcasts with `y`. Default:
        equidistant.
    dx : float, optional
        Distance of the abscissas, if `x` is not given. Default: 1.0.
    axis : int, optional
        Axis to integrate along. Default: -1, the last one.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the axis; float32 for integers and booleans, else the promoted dtype.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If the axis is out of bounds.
    ValueError
        If the length of `x` is not that of the axis, or the shapes do not broadcast.

    See Also
    --------
    interp, cumsum

    Notes
    -----
    ``sum((x[i + 1] - x[i]) * (y[i] + y[i + 1]) / 2)``; zero for fewer than two values.

    Examples
    --------
    >>> mx.trapezoid(mx.array([1.0, 2.0, 3.0]), dx=2.0)
    array(8, dtype=float32)
    >>> mx.trapezoid(mx.array([1.0, 2.0, 3.0]), x=mx.array([0.0, 1.0, 3.0]))
    array(6.5, dtype=float32)
    """


def tri(
    n: int,
    m: int | None = None,
    k: int = 0,
    dtype: _DType = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Create a matrix with ones on and below a diagonal and zeros elsewhere.

    Parameters
    ----------
    n : int
        Number of rows.
    m : int, optional
        Number of columns. Default: `n`.
    k : int, optional
        Diagonal: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
    dtype : dtype, optional
        Dtype of the matrix. Default: float32.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Matrix of shape ``(n, m)``.

    Raises
    ------
    ValueError
        If a length is negative.

    See Also
    --------
    tril, triu, eye

    Examples
    --------
    >>> mx.tri(2, 3)
    array([[1, 0, 0],
           [1, 1, 0]], dtype=float32)
    """


def tril(x: _Operand, k: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """Return the lower triangle of each matrix, with zeros above a diagonal.

    Parameters
    ----------
    x : array_like
        Input of at least two axes, a matrix or a batch of matrices.
    k : int, optional
        Last diagonal to keep: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has fewer than two axes.

    See Also
    --------
    triu, tri, tril_indices

    Examples
    --------
    >>> mx.tril(mx.array([[1, 2], [3, 4]]))
    array([[1, 0],
           [3, 4]], dtype=int32)
    """


def tril_indices(
    n: int,
    k: int = 0,
    m: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, ...]:
    """Compute row and column indices of the elements on and below a diagonal of a matrix.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int, optional
        Diagonal: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
    m : int, optional
        Number of columns. Default: `n`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    tuple of array
        Row indices and column indices, uint32, in row-major order.

    Raises
    ------
    ValueError
        If a length is negative.

    See Also
    --------
    triu_indices, tril, diag_indices

    Examples
    --------
    >>> mx.tril_indices(2)
    (array([0, 1, 1], dtype=uint32), array([0, 0, 1], dtype=uint32))
    """


def trim_zeros(
    filt: _Operand,
    trim: str = "fb",
    axis: _Axes | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Remove zeros at the ends of an array.

    Parameters
    ----------
    filt : array_like
        Input of any shape. It is evaluated, since its values determine the shape of the result.
    trim : {"fb", "f", "b"}, optional
        Ends to trim: ``"f"`` the front, ``"b"`` the back, ``"fb"`` both. Default: ``"fb"``.
    axis : int or sequence of int, optional
        Axes to trim. Default: all axes.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The smallest block of `filt` along these axes that contains all nonzero elements (with ``"f"`` and ``"b"`` one end of
        each axis stays).

    Raises
    ------
    IndexError
        If an axis is out of bounds.
    ValueError
        If `trim` is unknown; inside `vmap` and `compile`, where `filt` has no value.

    See Also
    --------
    delete, nonzero

    Examples
    --------
    >>> mx.trim_zeros(mx.array([0, 0, 1, 0, 2, 0]))
    array([1, 0, 2], dtype=int32)
    """


def triu(x: _Operand, k: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """Return the upper triangle of each matrix, with zeros below a diagonal.

    Parameters
    ----------
    x : array_like
        Input of at least two axes, a matrix or a batch of matrices.
    k : int, optional
        First diagonal to keep: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has fewer than two axes.

    See Also
    --------
    tril, tri, triu_indices

    Examples
    --------
    >>> mx.triu(mx.array([[1, 2], [3, 4]]), k=1)
    array([[0, 2],
           [0, 0]], dtype=int32)
    """


def triu_indices(
    n: int,
    k: int = 0,
    m: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, ...]:
    """Compute row and column indices of the elements on and above a diagonal of a matrix.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int, optional
        Diagonal: 0 is the main diagonal, positive ones lie above it, negative ones below. Default: 0.
    m : int, optional
        Number of columns. Default: `n`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    tuple of array
        Row indices and column indices, uint32, in row-major order.

    Raises
    ------
    ValueError
        If a length is negative.

    See Also
    --------
    tril_indices, triu, diag_indices

    Examples
    --------
    >>> mx.triu_indices(2)
    (array([0, 0, 1], dtype=uint32), array([0, 1, 1], dtype=uint32))
    """


true_divide = divide

def trunc(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Integer part of each element: each is rounded towards zero.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape and dtype as `a`; float32 for float8. Integers and booleans are returned unchanged.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    floor, ceil, round, modf

    Notes
    -----
    The result has a floating dtype if the input has; use `astype` for integers. The gradient is zero.

    Examples
    --------
    >>> mx.trunc(mx.array([1.7, -1.7]))
    array([1, -1], dtype=float32)
    """


def unflatten(
    a: _Operand,
    /,
    axis: int,
    shape: _Shape,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Split one axis of an array into several.

    Parameters
    ----------
    a : array_like
        Input of at least one axis.
    axis : int
        Axis to split.
    shape : int or sequence of int
        Lengths of the new axes. Their product is the length of `axis`; one length may be -1 and follows from the others.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array whose axis `axis` is replaced by axes of the lengths in `shape`; the dtype of `a`.

    Raises
    ------
    IndexError
        If `axis` is out of bounds.
    ValueError
        If the product of the lengths is not the length of `axis`.

    See Also
    --------
    flatten, reshape

    Examples
    --------
    >>> mx.unflatten(mx.zeros((2, 12)), 1, (3, -1)).shape
    (2, 3, 4)
    """


def union1d(ar1: _Operand, ar2: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Find the distinct elements that are in either array, in ascending order.

    Parameters
    ----------
    ar1, ar2 : array_like
        Inputs, which are flattened and evaluated.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        1-d array in the promoted dtype. NaN comes last, and counts once.

    Raises
    ------
    ValueError
        Inside `vmap` and `compile`, where the arrays have no value.

    See Also
    --------
    intersect1d, setdiff1d, setxor1d, unique

    Examples
    --------
    >>> mx.union1d(mx.array([3, 1, 3]), mx.array([2, 1]))
    array([1, 2, 3], dtype=int32)
    """


def unique(
    a: _Operand,
    /,
    size: int | None = None,
    return_index: builtins.bool = False,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    fill_value: _Operand | None = None,
    *,
    axis: int | None = None,
    equal_nan: builtins.bool | None = None,
    stream: _StreamOrDevice = None,
) -> array | tuple[array, ...]:
    """Find the distinct elements of an array, in ascending order.

    Parameters
    ----------
    a : array_like
        Input of any shape. Without `size` it is evaluated, since its values determine the shape of the result.
    size : int, optional
        Number of elements to return: the smallest distinct ones, then `fill_value`. The shape is then known, so that the
        function works inside `vmap` and `compile`. Default: all distinct elements.
    return_index : bool, optional
        Whether to return the first index of each distinct element. Default: False.
    return_inverse : bool, optional
        Whether to return the index of the distinct element that each element equals. Default: False.
    return_counts : bool, optional
        Whether to return the number of occurrences of each distinct element. Default: False.
    fill_value : array_like, optional
        Padding for `size`. Default: the smallest element.
    axis : int, optional
        Axis along which distinct subarrays are found; they are ordered lexicographically. Default: flatten the array first.
    equal_nan : bool, optional
        Whether NaN equals NaN. Default: True without `size`, False with it.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    values : array
        Distinct elements in the dtype of `a`, NaN last. Alone if nothing else is requested, otherwise part of a tuple.
    indices : array
        With `return_index`: indices of the flattened array, or along `axis`; uint32.
    inverse : array
        With `return_inverse`: indices into `values`, uint32, of the shape of `a`, or 1-d for an `axis`. Elements that `size`
        excludes have the last index.
    counts : array
        With `return_counts`: numbers of occurrences, int32; 0 for padding.

    Raises
    ------
    ValueError
        If `size` is negative; if `a` is empty and `size` is given without `fill_value`; without `size` inside `vmap` and
        `compile`, where `a` has no value.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    unique_all, unique_counts, unique_inverse, unique_values, isin

    Examples
    --------
    >>> mx.unique(mx.array([3, 1, 3, 2]))
    array([1, 2, 3], dtype=int32)
    >>> mx.unique(mx.array([3, 1, 3]), return_counts=True)
    (array([1, 3], dtype=int32), array([1, 2], dtype=int32))
    >>> mx.unique(mx.array([3, 1, 3]), size=3, fill_value=0)
    array([1, 3, 0], dtype=int32)
    """


def unique_all(x: _Operand, /, *, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """Find the distinct elements of an array, their first indices, inverse indices and counts.

    Parameters
    ----------
    x : array_like
        Input of any shape. It is evaluated, since its values determine the shape of the result.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    UniqueAllResult
        Named tuple ``(values, indices, inverse_indices, counts)``: distinct elements in ascending order, index of the first
        occurrence of each in the flattened array (uint32), index into `values` for each element of `x` (uint32, the shape
        of `x`), and number of occurrences (int32).

    Raises
    ------
    ValueError
        Inside `vmap` and `compile`, where `x` has no value.

    See Also
    --------
    unique, unique_counts, unique_inverse, unique_values

    Notes
    -----
    NaN is different from every element, also from other NaN.

    Examples
    --------
    >>> mx.unique_all(mx.array([3, 1, 3])).indices
    array([1, 0], dtype=uint32)
    """


def unique_counts(x: _Operand, /, *, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """Find the distinct elements of an array and their counts.

    Parameters
    ----------
    x : array_like
        Input of any shape. It is evaluated, since its values determine the shape of the result.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    UniqueCountsResult
        Named tuple ``(values, counts)``: distinct elements in ascending order, and number of occurrences (int32).

    Raises
    ------
    ValueError
        Inside `vmap` and `compile`, where `x` has no value.

    See Also
    --------
    unique, unique_all, bincount

    Notes
    -----
    NaN is different from every element, also from other NaN.

    Examples
    --------
    >>> values, counts = mx.unique_counts(mx.array([3, 1, 3]))
    >>> counts
    array([1, 2], dtype=int32)
    """


def unique_inverse(x: _Operand, /, *, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """Find the distinct elements of an array and the indices that reconstruct it.

    Parameters
    ----------
    x : array_like
        Input of any shape. It is evaluated, since its values determine the shape of the result.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    UniqueInverseResult
        Named tuple ``(values, inverse_indices)``: distinct elements in ascending order, and uint32 indices of the shape of
        `x`, such that ``values[inverse_indices]`` equals `x`.

    Raises
    ------
    ValueError
        Inside `vmap` and `compile`, where `x` has no value.

    See Also
    --------
    unique, unique_all

    Notes
    -----
    NaN is different from every element, also from other NaN.

    Examples
    --------
    >>> values, inverse = mx.unique_inverse(mx.array([3, 1, 3]))
    >>> values[inverse]
    array([3, 1, 3], dtype=int32)
    """


def unique_values(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Find the distinct elements of an array, in ascending order, with every NaN distinct.

    Parameters
    ----------
    x : array_like
        Input of any shape. It is evaluated, since its values determine the shape of the result.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Distinct elements in the dtype of `x`. NaN comes last; every NaN is an element of its own.

    Raises
    ------
    ValueError
        Inside `vmap` and `compile`, where `x` has no value.

    See Also
    --------
    unique, unique_all

    Examples
    --------
    >>> mx.unique_values(mx.array([3, 1, 3]))
    array([1, 3], dtype=int32)
    """


def unpackbits(
    a: _Operand,
    /,
    axis: int | None = None,
    count: int | None = None,
    bitorder: Literal['big', 'little'] = "big",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Unpack the bits of each uint8 into eight elements 0 or 1.

    Parameters
    ----------
    a : array_like
        uint8 array.
    axis : int, optional
        Axis to unpack along. Default: the flattened array.
    count : int, optional
        Number of bits to return along the axis, padded with zeros if there are fewer; a negative number leaves out
        that many at the end. Default: all.
    bitorder : str, optional
        ``"big"`` if the first element is the most significant bit, ``"little"`` if it is the least significant one.
        Default: ``"big"``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        uint8 array of zeros and ones; the axis is eight times as long, or has `count` elements.

    Raises
    ------
    TypeError
        If `a` has another dtype, or is not convertible to an array.
    IndexError
        If the axis is out of bounds.
    ValueError
        If `bitorder` is neither ``"big"`` nor ``"little"``, or a negative `count` leaves out more bits than there
        are.

    See Also
    --------
    packbits

    Examples
    --------
    >>> mx.unpackbits(mx.array([5], dtype=mx.uint8), count=-2)
    array([0, 0, 0, 0, 0, 1], dtype=uint8)
    >>> mx.unpackbits(mx.array([5], dtype=mx.uint8), count=4, bitorder="little")
    array([1, 0, 1, 0], dtype=uint8)
    """


def unravel_index(
    indices: _Operand,
    shape: _Shape,
    order: Literal['C', 'F'] = "C",
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, ...]:
    """Convert indices of the flattened array to coordinates.

    Parameters
    ----------
    indices : array_like
        Integer indices of the flattened array, of any shape.
    shape : int or sequence of int
        Shape of the array.
    order : {"C", "F"}, optional
        Order of the flattened elements: ``"C"`` is row-major, ``"F"`` column-major. Default: ``"C"``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    tuple of array
        Coordinates, one uint32 array for each axis, of the shape of `indices`.

    Raises
    ------
    ValueError
        If an index is negative or out of bounds; inside `vmap` and `compile` that is not checked.
    TypeError
        If `indices` are not integers.

    See Also
    --------
    ravel_multi_index, argmax, flatnonzero

    Examples
    --------
    >>> mx.unravel_index(mx.array([5, 2]), (2, 3))
    (array([1, 0], dtype=uint32), array([2, 2], dtype=uint32))
    """


def unstack(
    x: _Operand,
    /,
    *,
    axis: int = 0,
    stream: _StreamOrDevice = None,
) -> tuple[array, ...]:
    """Split an array into its elements along an axis, and remove that axis.

    Parameters
    ----------
    x : array_like
        Input of at least one axis.
    axis : int, optional
        Axis to split along. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    tuple of array
        Views of `x`, as many as the axis is long, each without the axis.

    Raises
    ------
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    stack, split

    Examples
    --------
    >>> mx.unstack(mx.array([[1, 2], [3, 4]]), axis=1)
    (array([1, 3], dtype=int32), array([2, 4], dtype=int32))
    """


def unwrap(
    p: _Operand,
    discont: float | None = None,
    axis: int = -1,
    *,
    period: float = 6.283185307179586,
    stream: _StreamOrDevice = None,
) -> array:
    """Remove jumps of more than half a period by adding multiples of the period.

    Parameters
    ----------
    p : array_like
        Input of a real dtype with at least one axis.
    discont : float, optional
        Smallest jump to remove; values below half the period have no effect. Default: half the period.
    axis : int, optional
        Axis along which to unwrap. Default: -1, the last one.
    period : float, optional
        Period of the values. Default: 2 * pi.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the same shape, in which adjacent elements differ by at most half a period unless the difference is
        below `discont`. Integers keep their dtype if the period is an integer, otherwise they become float32.

    Raises
    ------
    TypeError
        If `p` is complex, or boolean with an integer period; if an argument is not convertible.
    IndexError
        If an axis is out of bounds.
    ValueError
        If the period is not positive.

    See Also
    --------
    diff, angle

    Notes
    -----
    The gradient with respect to `p` is one.

    Examples
    --------
    >>> mx.unwrap(mx.array([22, 23, 0, 1]), period=24)
    array([22, 23, 24, 25], dtype=int32)
    >>> mx.unwrap(mx.array([0.0, 3.0, -3.0]))
    array([0, 3, 3.28319], dtype=float32)
    """


def value_and_grad(
    fun: Callable[_P, _R],
    argnums: int | Sequence[int] | None = None,
    argnames: str | Sequence[str] | None = None,
    *,
    has_aux: builtins.bool = False,
    holomorphic: builtins.bool = False,
) -> Callable[_P, tuple[_R, Any]]:
    """Return a function that computes the value of a scalar-valued function and its gradient.

    Parameters
    ----------
    fun : callable
        Function to differentiate. Returns a scalar array, or a tuple whose first item is one.
    argnums : int or sequence of int, optional
        Positional arguments to differentiate with respect to. Default: 0, or none if `argnames` is given.
    argnames : str or sequence of str, optional
        Keyword arguments to differentiate with respect to. Default: none.
    has_aux : bool, optional
        Whether `fun` returns a pair ``(value, aux)``, where `aux` is any object. Default: False.
    holomorphic : bool, optional
        Compute the complex derivative ``df/dz`` of a complex value with respect to complex arguments. Default: False.

    Returns
    -------
    callable
        Takes the arguments of `fun` and returns ``(value, gradient)``. `value` is what `fun` returned: if that is a tuple,
        the whole tuple. With `has_aux` it returns ``((value, aux), gradient)``. `gradient` is structured as in `grad`.

    Raises
    ------
    TypeError
        If `fun` is not callable; from the returned function, if `has_aux` is set and `fun` does not return a pair, or if
        `holomorphic` is set and an argument or the value is not complex.
    ValueError
        If `argnums` is negative or repeated; from the returned function, if it names an argument that the call does not
        have, if a chosen argument holds anything but arrays, or if the value is not a scalar array.

    See Also
    --------
    grad, vjp, umber.nn.value_and_grad

    Notes
    -----
    `fun` runs once for both results. See `grad` for pytrees, dtypes, complex numbers and mutable arguments.

    Examples
    --------
    >>> mx.value_and_grad(lambda x: (x**2).sum())(mx.array([1.0, 2.0, 3.0]))
    (array(14, dtype=float32), array([2, 4, 6], dtype=float32))
    >>> f = lambda x: (x**2, {"double": 2 * x})
    >>> (value, aux), gradient = mx.value_and_grad(f, has_aux=True)(mx.array(3.0))
    >>> value.item(), aux["double"].item(), gradient.item()
    (9.0, 6.0, 6.0)
    """


def vander(
    x: _Operand,
    N: int | None = None,
    increasing: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Vandermonde matrix: powers of the elements of a vector.

    Parameters
    ----------
    x : array_like
        Input with one axis.
    N : int, optional
        Number of columns. Default: the length of `x`.
    increasing : bool, optional
        Powers from 0 to ``N - 1``; otherwise from ``N - 1`` to 0. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Matrix of shape ``(len(x), N)`` with the powers of ``x[i]`` in row ``i``; int32 for booleans, else the dtype
        of `x`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    ValueError
        If `x` has not one axis, or `N` is negative.

    See Also
    --------
    polyfit, polyval

    Examples
    --------
    >>> mx.vander(mx.array([2, 3]), 3)
    array([[4, 2, 1],
           [9, 3, 1]], dtype=int32)
    >>> mx.vander(mx.array([2, 3]), 3, increasing=True)
    array([[1, 2, 4],
           [1, 3, 9]], dtype=int32)
    """


def var(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    ddof: int = 0,
    *,
    correction: float | None = None,
    dtype: _DType = None,
    where: _Operand | None = None,
    mean: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Variance of the elements over axes: `sum(abs(a - mean(a))**2) / (n - ddof)`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    ddof : int, optional
        Delta degrees of freedom: the divisor is the number of elements minus `ddof`. Default: 0.
    correction : float, optional
        The array API standard's name for `ddof`; it takes precedence and may be fractional. Default: `ddof`.
    dtype : dtype, str or type, optional
        Dtype that elements are converted to before the reduction, and the dtype of the result. Default: that of
        `a`; float32 for integers, booleans and float8.
    where : array_like, optional
        Condition that broadcasts to the shape of `a`; elements where it is zero are left out. Default: all
        elements.
    mean : array_like, optional
        Mean of the elements if it is known already, with the reduced axes kept. Default: the computed mean.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`; of the real dtype of the same
        precision.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or `where` or `mean` does not broadcast.

    See Also
    --------
    std, mean, cov, nanvar

    Notes
    -----
    Real also for complex numbers. A divisor of zero or less gives an infinity or NaN. float16 and bfloat16 are
    computed in float32.

    Examples
    --------
    >>> mx.var(mx.array([1.0, 3.0]))
    array(1, dtype=float32)
    >>> mx.var(mx.array([1.0, 3.0]), ddof=1)
    array(2, dtype=float32)
    """


def vdot(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Sum of ``conj(a) * b`` over all elements of two arrays of equal size.

    Parameters
    ----------
    a, b : array_like
        Arrays of any shapes with the same number of elements; both are flattened.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        A scalar of the promoted dtype.

    Raises
    ------
    ValueError
        If the sizes differ.

    See Also
    --------
    vecdot, dot, inner

    Examples
    --------
    >>> mx.vdot(mx.array([1j, 2]), mx.array([1j, 3]))
    array(7+0j, dtype=complex64)
    """


def vecdot(
    a: _Operand,
    b: _Operand,
    /,
    *,
    axis: int = ...,
    stream: _StreamOrDevice = None,
) -> array:
    """Dot product of vectors along an axis: sum of ``conj(a) * b`` over `axis`.

    Parameters
    ----------
    a, b : array_like
        Arrays with equal lengths along `axis`; other axes broadcast.
    axis : int, optional
        Axis to sum over. A negative axis counts from the end of either array. Default: -1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The broadcast shape without `axis`, in the promoted dtype.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    vdot, inner

    Examples
    --------
    >>> mx.vecdot(mx.array([[1, 2], [3, 4]]), mx.array([1, 1]))
    array([3, 7], dtype=int32)
    """


def vectorize(
    pyfunc: Callable[..., Any],
    *,
    excluded: Collection[int | str] = (),
    signature: str | None = None,
) -> Callable[..., Any]:
    """Return a function that broadcasts its arguments and applies another one to all of their elements.

    Parameters
    ----------
    pyfunc : callable
        Function of scalar arrays, or of the core axes that `signature` names. Returns an array or a pytree (nested lists,
        tuples and dicts) of arrays; with `signature` an array, or a tuple of as many as it names.
    excluded : collection of int and str, optional
        Positions and names of arguments to pass to `pyfunc` as they are. Default: none.
    signature : str, optional
        Core axes of inputs and outputs, such as ``"(m,n),(n)->(m)"`` for a product of a matrix and a vector. Default: inputs
        have no core axes, and outputs any.

    Returns
    -------
    callable
        Takes arrays of more axes, in front of the core axes. These broadcast, and the results have them in front.

    Raises
    ------
    TypeError
        If `pyfunc` is not callable or `excluded` holds something else than integers and strings; from the returned
        function, if an argument is not an array or number, or if the number of inputs or outputs differs from `signature`.
    ValueError
        If `signature` is not one, or if `excluded` holds a negative number; from the returned function, if shapes do not
        broadcast or do not match `signature`.

    See Also
    --------
    vmap, apply_along_axis, umber.core.fast.kernel

    Notes
    -----
    A `vmap` over each broadcast axis; arguments are not repeated along axes that they lack. As in `vmap`, `pyfunc` is traced
    once, on arrays without values, and all transforms apply. None is passed as it is. Keyword arguments that are not excluded
    count as inputs after the positional ones. Signatures are those of NumPy's generalised ufuncs.

    Examples
    --------
    >>> clip = mx.vectorize(lambda x, low: mx.maximum(x, low))
    >>> clip(mx.array([[1, 2], [3, 4]]), mx.array([2, 4]))
    array([[2, 4],
           [3, 4]], dtype=int32)
    >>> product = mx.vectorize(lambda a, x: a @ x, signature="(m,n),(n)->(m)")
    >>> product(mx.ones((5, 2, 3)), mx.ones((4, 1, 3))).shape
    (4, 5, 2)
    """


def view(a: _Operand, dtype: _DType, stream: _StreamOrDevice = None) -> array:
    """Reinterpret the bytes of an array as another dtype.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    dtype : dtype, str or type
        Dtype to read the bytes as. Python's `int`, `float` and `complex` specify a kind and keep the width: for float32
        they stand for int32, float32 and complex64.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array with the given dtype. The last axis shrinks or grows by the ratio of the element sizes.

    Raises
    ------
    TypeError
        If `dtype` names no dtype, or no dtype of that kind is as wide as that of `a`.
    ValueError
        If the bytes of the last axis are no whole number of elements, or a 0-d array is viewed as a dtype of
        another size.

    See Also
    --------
    astype

    Notes
    -----
    Bits have no derivative: differentiating raises ValueError. `astype` converts values instead.

    Examples
    --------
    >>> mx.view(mx.array([1.0, -2.0]), mx.uint32)
    array([1065353216, 3221225472], dtype=uint32)
    >>> mx.view(mx.array([1.0, -2.0]), mx.uint16).shape
    (4,)
    """


def vjp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    cotangents: Sequence[Any] | dict[Any, Any],
    *,
    has_aux: builtins.bool = False,
) -> tuple[Any, ...]:
    """Compute the outputs of a function and a vector-Jacobian product.

    Parameters
    ----------
    fun : callable
        Function to differentiate. Returns an array, a sequence of arrays, or a dict of arrays.
    primals : sequence
        Positional arguments of `fun`: arrays, or pytrees (nested lists, tuples and dicts) of arrays.
    cotangents : sequence or dict
        One cotangent for each output, of its shape: structured like the outputs, or a flat list in their order.
    has_aux : bool, optional
        Whether `fun` returns a pair ``(outputs, aux)``, where `aux` is any object. Default: False.

    Returns
    -------
    outputs : list or dict
        Outputs of `fun` at `primals`. A single array becomes a list of one, a tuple becomes a list.
    gradients : list
        Cotangents of `primals`, with their structure.
    aux : object
        Only with `has_aux`: the second item that `fun` returned.

    Raises
    ------
    TypeError
        If `fun` is not callable, or if `has_aux` is set and `fun` does not return a pair.
    ValueError
        If primals or outputs hold anything but arrays, or if the cotangents differ from the outputs in number or shape.

    See Also
    --------
    jvp, grad, jacrev

    Notes
    -----
    Computes ``J^T v`` for the Jacobian ``J`` of `fun` and the cotangent ``v``, by reverse-mode differentiation. For complex
    arrays the cotangent is multiplied by the conjugate of the derivative. Integer primals get cotangents in float32.

    Examples
    --------
    >>> f = lambda x, y: (x * y, x + y)
    >>> mx.vjp(f, [mx.array(2.0), mx.array(3.0)], [mx.array(1.0), mx.array(10.0)])
    ([array(6, dtype=float32), array(5, dtype=float32)], [array(13, dtype=float32), array(12, dtype=float32)])
    """


def vmap(fun: Callable[_P, _R], in_axes: Any = 0, out_axes: Any = 0) -> Callable[_P, _R]:
    """Return a function that applies another one to every element of a batch axis, vectorised.

    Parameters
    ----------
    fun : callable
        Function of one batch element. Returns arrays or a pytree (nested lists, tuples and dicts) of arrays.
    in_axes : int, None, or nested tuple, list or dict of them, optional
        Batch axis of each positional argument; None passes the whole argument to every element. One value applies to
        all, otherwise it is structured like the arguments, as in ``({"w": 0, "b": None}, 1)``. Default: 0.
    out_axes : int, None, or nested tuple, list or dict of them, optional
        Where each output gets its batch axis. None is for outputs that do not depend on the batch; these are returned
        once. For a single output a tuple of one is accepted. Default: 0.

    Returns
    -------
    callable
        Takes the arguments of `fun` with batch axes and returns its results with batch axes. Keyword arguments are mapped
        over their first axis. Numbers are passed to every element as they are.

    Raises
    ------
    TypeError
        If `fun` is not callable, or if `in_axes` or `out_axes` hold anything but integers and None.
    ValueError
        From the returned function: if batch axes have different lengths, if no argument has one, if the structure of
        the axes does not match, or if `out_axes` is None for an output that depends on the batch.
    IndexError
        From the returned function: if an axis is out of bounds.

    See Also
    --------
    map, scan, jacrev

    Notes
    -----
    `fun` runs once, on traced arrays without the batch axis, and every operation in it is replaced by one on the whole
    batch. The traced arrays have no values: ``x.item()``, ``if x > 0`` and conversion to NumPy raise ValueError. Select
    with `where` or `cond` instead.

    Examples
    --------
    >>> mx.vmap(mx.inner)(mx.array([[1.0, 2.0], [3.0, 4.0]]), mx.array([[1.0, 1.0], [0.0, 1.0]]))
    array([3, 4], dtype=float32)
    >>> w = mx.array([1.0, 2.0])
    >>> x = mx.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> mx.vmap(mx.grad(lambda w, x: mx.inner(w, x) ** 2), in_axes=(None, 0))(w, x)
    array([[2, 0],
           [0, 4],
           [6, 6]], dtype=float32)
    """


def vsplit(
    ary: _Operand,
    indices_or_sections: int | Sequence[int] | array,
    *,
    stream: _StreamOrDevice = None,
) -> list[array]:
    """Split an array of at least two axes along its first axis.

    Parameters
    ----------
    ary : array_like
        Input of at least two axes.
    indices_or_sections : int or sequence of int
        Number of parts of equal length, or the indices before which to split.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    list of array
        Views of `ary`.

    Raises
    ------
    ValueError
        If `ary` has fewer than two axes, or the length of the axis is no multiple of the number of sections.

    See Also
    --------
    split, hsplit, dsplit, vstack

    Examples
    --------
    >>> mx.vsplit(mx.array([[1, 2], [3, 4]]), 2)
    [array([[1, 2]], dtype=int32), array([[3, 4]], dtype=int32)]
    """


def vstack(tup: Sequence[_Operand], *, stream: _StreamOrDevice = None) -> array:
    """Join arrays along the first axis; each vector counts as a row.

    Parameters
    ----------
    tup : sequence of array_like
        Arrays that have the same shape except along the first axis, after vectors have become rows.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The joined array, of at least two axes, in the promoted dtype of all arrays.

    Raises
    ------
    ValueError
        If there are no arrays, or their shapes do not fit.

    See Also
    --------
    hstack, dstack, stack, concatenate, vsplit

    Examples
    --------
    >>> mx.vstack([mx.array([1, 2]), mx.array([[3, 4], [5, 6]])])
    array([[1, 2],
           [3, 4],
           [5, 6]], dtype=int32)
    """


def where(
    condition: _Operand,
    x: _Operand | None = None,
    y: _Operand | None = None,
    /,
    *,
    stream: _StreamOrDevice = None,
) -> array | Any:
    """Select elements from two arrays by a condition, or find where it holds.

    Parameters
    ----------
    condition : array_like
        Condition; nonzero elements count as true.
    x, y : array_like, optional
        Values where the condition is true and false. The three arguments broadcast. Default: neither, which means
        ``nonzero(condition)``.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array or tuple of array
        Elements of `x` where `condition` is true, otherwise of `y`, in their promoted dtype. Without `x` and `y` the indices
        of the nonzero elements, a tuple.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.
    TypeError
        If only one of `x` and `y` is given.

    See Also
    --------
    nonzero, select, choose

    Notes
    -----
    The gradient of the result with respect to `x` is zero where `condition` is false, and vice versa for `y`. A NaN or
    infinity in the derivative of a value that is not selected still spreads: ``0 * inf`` is NaN. Make such inputs valid
    before they are used.

    Examples
    --------
    >>> x = mx.array([1.0, -2.0, 3.0])
    >>> mx.where(x > 0, x, 0.1 * x)
    array([1, -0.2, 3], dtype=float32)
    """


def while_loop(
    cond_fun: Callable[..., Any],
    body_fun: Callable[..., Any],
    init: Any,
    *,
    max_iterations: int | None = None,
    checkpoint: int | Literal['sqrt'] | None = None,
) -> Any:
    """Update a value in a loop while a condition holds: ``carry = body_fun(carry)``.

    Parameters
    ----------
    cond_fun : callable
        Called as ``cond_fun(carry)``; returns a scalar.
    body_fun : callable
        Called as ``body_fun(carry)``; returns the next carry, of the same structure, shapes and dtypes.
    init : array_like or pytree of array_like
        First carry. Python numbers take the dtype that `body_fun` gives them.
    max_iterations : int, optional
        Stop after this number of iterations even if the condition holds; gives the loop a gradient. Default: no limit.
    checkpoint : int or {"sqrt"}, optional
        With `max_iterations`: keep only every k-th carry for the gradient, as in `scan`. Default: None, keep all.

    Returns
    -------
    array or pytree of arrays
        First carry for which ``cond_fun(carry)`` is false, or the carry after `max_iterations`.

    Raises
    ------
    TypeError
        If the carry changes its dtype or structure.
    ValueError
        If the condition is not a scalar, if the carry changes its shape, if `max_iterations` is negative, if `checkpoint` is out
        of range or given without `max_iterations`, or if a reverse-mode gradient is taken without it.

    See Also
    --------
    fori_loop, scan, cond

    Notes
    -----
    Both functions are traced once, on arrays without values. Memory does not grow with the number of iterations. `jvp`
    works. `grad` and `vjp` need `max_iterations`, because the number of carries to keep is otherwise unknown: they run the loop
    again and keep the carries of `max_iterations` iterations. Under `vmap` the loop runs until the condition is false for every
    batch element; elements whose condition is false keep their value.

    Examples
    --------
    >>> mx.while_loop(lambda x: x < 100, lambda x: 2 * x, mx.array(3))
    array(192, dtype=int32)
    >>> root = lambda a: mx.while_loop(
    ...     lambda x: mx.abs(x * x - a) > 1e-4, lambda x: (x + a / x) / 2, 1.0, max_iterations=20
    ... )
    >>> mx.value_and_grad(root)(mx.array(4.0))
    (array(2, dtype=float32), array(0.25, dtype=float32))
    """


def zeros(
    shape: _Shape,
    dtype: _DType = None,
    *,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Create an array of zeros.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the array.
    dtype : dtype, optional
        Dtype of the array. Default: float32.
    device : Device or str, optional
        Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
        `stream`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the given shape, filled with zeros.

    Raises
    ------
    ValueError
        If a length is negative, or the device is not available.
    OverflowError
        If the array has more elements than memory can address.

    See Also
    --------
    zeros_like, ones, full, empty

    Examples
    --------
    >>> mx.zeros((2, 2), mx.int8)
    array([[0, 0],
           [0, 0]], dtype=int8)
    """


def zeros_like(
    a: _Operand,
    /,
    dtype: _DType = None,
    *,
    shape: _Shape | None = None,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Create an array of zeros with the shape and dtype of another array.

    Parameters
    ----------
    a : array_like
        Array that determines shape and dtype.
    dtype : dtype, optional
        Dtype of the result. Default: the dtype of `a`.
    shape : int or sequence of int, optional
        Shape of the result. Default: the shape of `a`.
    device : Device or str, optional
        Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
        `stream`.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array filled with zeros.

    Raises
    ------
    ValueError
        If a length is negative, or the device is not available.

    See Also
    --------
    zeros, ones_like, full_like, empty_like

    Examples
    --------
    >>> mx.zeros_like(mx.array([1, 2]))
    array([0, 0], dtype=int32)
    """
