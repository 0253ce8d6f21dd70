# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.

"""Lazy, differentiable arrays that share memory."""
import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from os import PathLike
from types import EllipsisType, TracebackType
from typing import Any, BinaryIO, Literal, ParamSpec, Protocol, Self, TypeAlias, TypeVar
from typing_extensions import Buffer as _Buffer
from . import fast as fast
from . import fft as fft
from . import linalg as linalg
from . import random as random

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
    """An argument has a type that the function does not take."""


class ArrayAt:
    """An array, and the place in it that is to be updated."""
    def __getitem__(self, index: _Index) -> ArrayAt: ...
    def add(self, value: _Operand) -> array:
        """The array with `value` added at the index."""

    def divide(self, value: _Operand) -> array:
        """The array divided by `value` at the index; integers as by `//`."""

    def maximum(self, value: _Operand) -> array:
        """The array with the larger of it and `value` at the index."""

    def minimum(self, value: _Operand) -> array:
        """The array with the smaller of it and `value` at the index."""

    def multiply(self, value: _Operand) -> array:
        """The array multiplied by `value` at the index."""

    def subtract(self, value: _Operand) -> array:
        """The array with `value` subtracted at the index."""


class ArrayFlags:
    """How the elements of an array lie in memory, under the names of `numpy.ndarray.flags`."""
    def __getitem__(self, index: int) -> Any: ...
    def __repr__(self) -> str: ...
    @property
    def aligned(self) -> builtins.bool:
        """Elements lie at multiples of their size: always true."""

    @property
    def c_contiguous(self) -> builtins.bool:
        """Are the elements dense, the last axis running fastest?"""

    @property
    def contiguous(self) -> builtins.bool:
        """The same as `c_contiguous`."""

    @property
    def f_contiguous(self) -> builtins.bool:
        """Are the elements dense, the first axis running fastest?"""

    @property
    def fnc(self) -> builtins.bool:
        """Whether `f_contiguous` holds and `c_contiguous` does not."""

    @property
    def forc(self) -> builtins.bool:
        """Whether one of `c_contiguous` and `f_contiguous` holds."""

    @property
    def fortran(self) -> builtins.bool:
        """The same as `f_contiguous`."""

    @property
    def owndata(self) -> builtins.bool:
        """The array keeps its memory alive: always true."""

    @property
    def writeable(self) -> builtins.bool:
        """May a view of the array be written?"""

    @property
    def writebackifcopy(self) -> builtins.bool:
        """The array stands for no other one: always false."""


class ArrayIndexError(IndexError, ValueError):
    """An index lies outside its axis, or is none."""


class ArrayIterator:
    """Iterates over the first axis."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> array: ...


class ArrayLike:
    """An object that an array can be made of, checked: a number, a nested sequence, or what shares its memory."""
    def __init__(self, object: _Operand) -> None: ...
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> Any: ...
    @property
    def object(self) -> Any:
        """The object that is like an array."""


class ArrayNamespaceInfo:
    """What can be asked of a namespace of the array API standard."""
    def __init__(self) -> None: ...
    def capabilities(self) -> dict[str, builtins.bool | int | None]:
        """What the namespace can do: a dict of "boolean indexing", "data-dependent shapes" and "max dimensions"."""

    def default_device(self) -> Device:
        """The device that arrays are made on."""

    def default_dtypes(self, *, device: _Device | None = None) -> dict[str, Dtype]:
        """The dtypes that arrays have where none is given, by kind; "indexing" is that of indices."""

    def devices(self) -> tuple[Device, ...]:
        """The devices that there are."""

    def dtypes(
        self,
        *,
        device: _Device | None = None,
        kind: str | tuple[str, ...] | None = None,
    ) -> dict[str, Dtype]:
        """The dtypes of the standard by name; with a `kind` those of that kind, or of any of a tuple of kinds."""


class AxisError(ArrayIndexError):
    """An axis lies outside the dimensions of an array."""


class CopyError(BufferError, ValueError):
    """Memory cannot be shared as asked: a copy is needed and was forbidden, or the like."""


class DTypeError(ArgumentError):
    """An operation is not defined for a dtype."""


class Device:
    """A device to run on."""
    def __init__(self, type: DeviceType, index: int = 0) -> None: ...
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """Helper for pickle."""

    def __repr__(self) -> str: ...
    @property
    def type(self) -> DeviceType:
        """The kind of device."""


class DeviceType(Enum):
    """A kind of device: the host processor or an accelerator."""
    cpu = 0
    gpu = 1


class Dtype:
    """The type of an array's elements."""
    def __init__(self, name: _DType) -> None: ...
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    @property
    def __numpy_dtype__(self) -> Any:
        """The same type as NumPy's: `numpy.dtype(umber.core.float32)` works, and so does passing a dtype to NumPy's
        functions. bfloat16 and floats of eight bits are ml_dtypes'.
        """

    def __reduce__(self) -> _Text | tuple[Any, ...]:
        """Helper for pickle."""

    def __repr__(self) -> _Text: ...
    @property
    def alignment(self) -> int:
        """Bytes that the address of an element is a multiple of."""

    @property
    def byteorder(self) -> _Text:
        """"=" for the byte order of the machine, "|" for dtypes of one byte."""

    @property
    def char(self) -> _Text:
        """NumPy's character for the dtype: "f" for float32."""

    @property
    def descr(self) -> list[tuple[_Text, _Text]]:
        """NumPy's description of the dtype as a list of fields, of which there is one without a name."""

    @property
    def fields(self) -> None:
        """The fields of an element: always `None`."""

    @property
    def hasobject(self) -> builtins.bool:
        """Whether elements refer to Python's objects: always false."""

    @property
    def isnative(self) -> builtins.bool:
        """Whether elements have the byte order of the machine: always true."""

    @property
    def itemsize(self) -> int:
        """Bytes per element, under NumPy's name."""

    @property
    def kind(self) -> _Text:
        """NumPy's letter for the kind of number: "b", "i", "u", "f" or "c"."""

    @property
    def name(self) -> _Text:
        """The dtype's name: `"float32"`."""

    @property
    def names(self) -> None:
        """The names of the fields of an element: always `None`."""

    def newbyteorder(self, new_order: _Text = "S") -> Any:
        """NumPy's dtype with another byte order."""

    @property
    def num(self) -> int:
        """NumPy's number for the dtype."""

    @property
    def size(self) -> int:
        """Bytes per element."""

    @property
    def str(self) -> _Text:
        """NumPy's byte order, kind and size: "<f4" for float32."""

    @property
    def subdtype(self) -> None:
        """The dtype and shape of an element that is an array: always `None`."""

    @property
    def type(self) -> Any:
        """NumPy's class of numbers of this dtype."""


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
    """There is no file of that name."""


class FormatError(ValueError, RuntimeError):
    """A file is damaged, in no known format, or holds or is to hold what its format has no place for."""


class FunctionExporter:
    """Traces one function several times, then writes a file: a context manager, made by `exporter`."""
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> builtins.bool | None: ...
    def close(self) -> None:
        """Write the file. Later calls do nothing."""


class InPlaceKeepsType:
    """Inside, `x += y` and its kin raise where the dtype or the shape of `x` would change, as the array API standard has
    it; outside such a block they change it, as MLX has it. For the thread that enters it.
    """
    def __init__(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> builtins.bool | None: ...


class PrintOptions:
    """How arrays are printed."""
    @property
    def precision(self) -> int:
        """Decimals of a number; -1 for the shortest form with six significant digits."""


class RangeError(OverflowError, ValueError, RuntimeError):
    """A number or a size lies beyond what can hold it."""


class ShapeDtypeStruct:
    """The shape and dtype of an array without the array."""
    def __init__(self, shape: _Shape, dtype: _DType) -> None: ...
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def dtype(self) -> Dtype:
        """Type of the elements."""

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""

    @property
    def ndim(self) -> int:
        """Number of axes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""

    @property
    def size(self) -> int:
        """Number of elements."""


class Stream:
    """A queue of work on a device."""
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def device(self) -> Device:
        """The device that the stream is on."""


class StreamContext:
    """Makes a stream or device the default inside a `with` block."""
    def __init__(self, s: Sequence[int]) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> builtins.bool | None: ...


class ThreadLocalStream:
    """A stream that is another one on each thread."""
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def device(self) -> Device:
        """The device that the stream is on."""


class array:
    """An N-dimensional array of numbers of one dtype.

    Operations on arrays are recorded and computed when a value is needed.
    """
    def __init__(self, val: _Operand, dtype: _DType = None) -> None: ...
    def __abs__(self) -> array: ...
    def __add__(self, other: _Operand) -> array: ...
    def __and__(self, other: _Operand) -> array: ...
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> Any:
        """This array as a NumPy array: a view unless `copy` is true or `dtype` differs.

        bfloat16 and floats of eight bits need the package ml_dtypes.
        """

    def __array_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """NumPy's other functions on arrays: ours of the same name where there is one."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's array interface, version 3."""

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        """The module of functions that the array API standard asks for, as a version of it says: `umber.array_api`."""

    __array_priority__: float
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """NumPy's ufuncs on arrays: ours of the same name where there is one."""

    def __bool__(self) -> builtins.bool: ...
    def __bytes__(self) -> bytes:
        """The elements' bytes in row-major order."""

    def __ceil__(self) -> int: ...
    def __complex__(self) -> complex: ...
    def __copy__(self) -> array: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """What arrays on a CUDA device have; this array is on the CPU."""

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

        A capsule without a version cannot say that its memory must not be written. Of memory that is merely seen
        elsewhere it then holds a copy, unless `copy` is false; memory that its producer declared read-only raises
        `BufferError`, unless `copy` is true.
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
        """The elements as bytes with shape and dtype, for pickle."""

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
        """For pickle, of every protocol."""

    def __repr__(self) -> str: ...
    def __reversed__(self) -> Iterator[array]: ...
    def __rfloordiv__(self, other: _Operand) -> array: ...
    def __rlshift__(self, other: _Operand) -> array: ...
    def __rmatmul__(self, other: _Operand) -> array: ...
    def __rmod__(self, other: _Operand) -> array: ...
    def __rmul__(self, other: _Operand) -> array: ...
    def __ror__(self, other: _Operand) -> array: ...
    def __round__(self, ndigits: int | None = None, /) -> array:
        """Each element rounded to the nearest integer, or to `ndigits` places, halves to even; an array of the same dtype."""

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
        """The array with its axes in reverse order."""

    def abs(self, *, stream: _StreamOrDevice = None) -> array:
        """Absolute value of each element."""

    def all(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Whether all elements over `axis` are different from zero."""

    def any(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Whether any element over `axis` is different from zero."""

    def argmax(
        self,
        axis: int | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Index of the first largest element along `axis`."""

    def argmin(
        self,
        axis: int | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Index of the first smallest element along `axis`."""

    def argpartition(self, kth: int, axis: int = ..., *, stream: _StreamOrDevice = None) -> array:
        """Indices that partition the array along `axis` about its `kth` element, as uint32."""

    def argsort(
        self,
        axis: int = ...,
        kind: str | None = None,
        *,
        stable: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Indices that sort the array along `axis` (the flattened array if `None`), as uint32; equal elements keep their
        order. `kind` and `stable` are NumPy's, and change nothing.
        """

    def astype(
        self,
        dtype: _DType,
        stream: _StreamOrDevice = None,
        *,
        copy: builtins.bool = True,
    ) -> array:
        """The elements converted to `dtype`. With `copy` false an array that has that dtype is answered itself.

        Python's `int`, `float` and `complex` keep the width of an array of their kind (int64 stays int64). Where the kind
        changes they stand for int32, float32 and complex64, or for 64 bits a number where those would lose values that
        the dtype of the array can hold.
        """

    @property
    def at(self) -> ArrayAt:
        """Updates at an index that give a new array: `a.at[index].add(v)`.

        Where an index occurs several times every occurrence counts.
        """

    def clip(
        self,
        min: _Operand | None = None,
        max: _Operand | None = None,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """The elements limited to `min..=max`; `None` does not limit."""

    def compress(
        self,
        condition: _Operand,
        axis: int | None = None,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """The parts along `axis` (elements of the flattened array by default) where `condition`, of one axis and perhaps
        shorter, is not zero. `condition` is evaluated.
        """

    def conj(self, *, stream: _StreamOrDevice = None) -> array:
        """Complex conjugate of each element."""

    def conjugate(self, *, stream: _StreamOrDevice = None) -> array:
        """Complex conjugate of each element."""

    def copy(self, order: str = "C") -> array:
        """An array of its own with the same value. `order` is NumPy's, and says nothing about the value."""

    def cos(self, *, stream: _StreamOrDevice = None) -> array:
        """Cosine of each element."""

    def cummax(
        self,
        axis: int | None = None,
        *,
        reverse: builtins.bool = False,
        inclusive: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Largest element so far along `axis`."""

    def cummin(
        self,
        axis: int | None = None,
        *,
        reverse: builtins.bool = False,
        inclusive: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Smallest element so far along `axis`."""

    def cumprod(
        self,
        axis: int | None = None,
        *,
        reverse: builtins.bool = False,
        inclusive: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Product so far along `axis`."""

    def cumsum(
        self,
        axis: int | None = None,
        *,
        reverse: builtins.bool = False,
        inclusive: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Sum so far along `axis`."""

    @property
    def device(self) -> Device:
        """The device whose memory the array is in."""

    def diag(self, k: int = 0, *, stream: _StreamOrDevice = None) -> array:
        """A matrix with this array on diagonal `k`, or diagonal `k` of this matrix."""

    def diagonal(
        self,
        offset: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        stream: _StreamOrDevice = None,
    ) -> array:
        """The elements on a diagonal of two axes."""

    def dot(self, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
        """The dot product with `b`: over the last axis of this array and the second to last (or only) one of `b`."""

    @property
    def dtype(self) -> Dtype:
        """Type of the elements."""

    def exp(self, *, stream: _StreamOrDevice = None) -> array:
        """`e` to the power of each element."""

    def fill(self, value: _Operand) -> array:
        """Set every element to `value`, in place, and return the array."""

    @property
    def flags(self) -> ArrayFlags:
        """How the elements lie in memory, under the names of `numpy.ndarray.flags`. The array is evaluated."""

    def flatten(
        self,
        start_axis: int = 0,
        end_axis: int = ...,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """The axes from `start_axis` to `end_axis` merged into one."""

    @property
    def imag(self) -> array:
        """The imaginary part."""

    def item(self) -> Any:
        """The one element of an array of size one, as a Python number."""

    @property
    def itemsize(self) -> int:
        """Bytes per element."""

    def log(self, *, stream: _StreamOrDevice = None) -> array:
        """Natural logarithm of each element."""

    def log10(self, *, stream: _StreamOrDevice = None) -> array:
        """Logarithm to base 10 of each element."""

    def log1p(self, *, stream: _StreamOrDevice = None) -> array:
        """`log(1 + a)` of each element."""

    def log2(self, *, stream: _StreamOrDevice = None) -> array:
        """Logarithm to base 2 of each element."""

    def logcumsumexp(
        self,
        axis: int | None = None,
        *,
        reverse: builtins.bool = False,
        inclusive: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """`log(cumsum(exp(a)))` along `axis`."""

    def logsumexp(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """`log(sum(exp(a)))` over `axis`."""

    @property
    def mT(self) -> array:
        """The last two axes exchanged."""

    def max(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Largest element over `axis`."""

    def mean(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        dtype: _DType = None,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Mean over `axis`, of elements converted to `dtype` first."""

    def min(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Smallest element over `axis`."""

    def moveaxis(
        self,
        source: _Axes,
        destination: _Axes,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """An axis moved to another place, or several axes to as many places."""

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""

    @property
    def ndim(self) -> int:
        """Number of axes."""

    def nonzero(self, *, stream: _StreamOrDevice = None) -> tuple[array, ...]:
        """The indices of the elements that are not zero: a tuple of a uint32 array for each axis. The array is evaluated."""

    def partition(self, kth: int, axis: int = ..., *, stream: _StreamOrDevice = None) -> array:
        """Bring the `kth` element along `axis` to its sorted place, none larger before it and none smaller after it, in place,
        and return the array.
        """

    def prod(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        dtype: _DType = None,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Product over `axis`, of elements converted to `dtype` first."""

    def ptp(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Largest element over `axis` minus the smallest."""

    def put(
        self,
        indices: _Operand,
        values: _Operand,
        mode: Literal['raise', 'wrap', 'clip'] = "raise",
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Set the elements at `indices` of the flattened array to `values`, which begin again when they are used up, in place,
        and return the array. `mode` says what becomes of indices outside: "raise", "wrap" or "clip".
        """

    def ravel(self, order: str = "C", *, stream: _StreamOrDevice = None) -> array:
        """All elements along one axis: the last axis runs fastest ("C"), or the first one ("F")."""

    @property
    def real(self) -> array:
        """The real part."""

    def reciprocal(self, *, stream: _StreamOrDevice = None) -> array:
        """One over each element."""

    def repeat(
        self,
        repeats: int | _Operand,
        axis: int | None = None,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Each element `repeats` times along `axis` (of the flattened array by default): a number, or one for each element."""

    def reshape(self, *shape: _Shape, order: str = "C", stream: _StreamOrDevice = None) -> array:
        """Another shape of the same size, as integers or one sequence; one length may be -1.

        Elements are read and placed with the last axis running fastest ("C"), or the first one ("F").
        """

    def round(self, decimals: int = 0, *, stream: _StreamOrDevice = None) -> array:
        """Rounded to `decimals` places, halves to even."""

    def rsqrt(self, *, stream: _StreamOrDevice = None) -> array:
        """One over the square root of each element."""

    def searchsorted(
        self,
        v: _Operand,
        side: Literal['left', 'right'] = "left",
        sorter: _Operand | None = None,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Where each value would go into this sorted array of one axis, as uint32: before ("left") or after ("right") equal
        elements.

        `sorter` holds the indices that bring the array in order, if it is not.
        """

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""

    def sin(self, *, stream: _StreamOrDevice = None) -> array:
        """Sine of each element."""

    @property
    def size(self) -> int:
        """Number of elements."""

    def sort(
        self,
        axis: int = ...,
        kind: str | None = None,
        *,
        stable: builtins.bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Sort the array in place along `axis`, as NumPy's method does, and return it; `sort` of the module returns a new
        array. `kind` and `stable` are NumPy's, and change nothing.
        """

    def split(
        self,
        indices_or_sections: int | Sequence[int] | array,
        axis: int = 0,
        *,
        stream: _StreamOrDevice = None,
    ) -> list[array]:
        """Parts along `axis`: a number of equal ones, or cut before each of the given indices."""

    def sqrt(self, *, stream: _StreamOrDevice = None) -> array:
        """Square root of each element."""

    def square(self, *, stream: _StreamOrDevice = None) -> array:
        """Each element times itself."""

    def squeeze(self, axis: _Axes | None = None, *, stream: _StreamOrDevice = None) -> array:
        """Without axes of length one: all of them, or those given."""

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
        """Standard deviation over `axis`.

        `correction` is the array API standard's name for `ddof`.
        """

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from an element to the next one along each axis. The array is evaluated."""

    def sum(
        self,
        axis: _Axes | None = None,
        keepdims: builtins.bool = False,
        *,
        dtype: _DType = None,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Sum over `axis`, of elements converted to `dtype` first."""

    def swapaxes(self, axis1: int, axis2: int, *, stream: _StreamOrDevice = None) -> array:
        """Two axes exchanged."""

    def take(
        self,
        indices: _Operand,
        axis: int | None = None,
        *,
        mode: str = "raise",
        stream: _StreamOrDevice = None,
    ) -> array:
        """Elements at `indices` along `axis` (of the flattened array by default).

        `mode` says what becomes of indices outside: "raise", "wrap" or "clip"; negative ones are outside but for "raise".
        """

    def to_device(self, device: _Device, /, *, stream: Stream | None = None) -> array:
        """The array in the memory of `device`: itself where that is the one it is in.

        The transfer goes to `stream`, else to the default stream of the device.
        """

    def tobytes(self, order: str = "C") -> bytes:
        """The bytes of the elements in row-major order ("C"), or in column-major order ("F")."""

    def tofile(self, fid: str | PathLike[str] | BinaryIO) -> None:
        """Write the bytes of the elements, in row-major order, to a path or to an object with the method `write`."""

    def tolist(self) -> Any:
        """The elements as nested lists; a 0-d array as a number."""

    def trace(
        self,
        offset: int = 0,
        axis1: int = 0,
        axis2: int = 1,
        dtype: _DType = None,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """The sum of the elements on a diagonal of two axes."""

    def transpose(self, *axes: _Axes, stream: _StreamOrDevice = None) -> array:
        """The axes in another order, as integers or one sequence; reversed by default."""

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
        """Variance over `axis`.

        `correction` is the array API standard's name for `ddof`.
        """

    def view(self, dtype: _DType, *, stream: _StreamOrDevice = None) -> array:
        """The bytes read as another dtype; the last axis shrinks or grows with the size of an element.

        Python's `int`, `float` and `complex` stand for the dtype of their kind whose real numbers are as wide as those of
        the array. Raises `TypeError` where there is none.
        """

    def __buffer__(self, flags: int, /) -> memoryview: ...


class custom_function:
    """A function whose derivatives and batches follow rules of its own, given by the decorators `vjp`, `jvp` and `vmap`.

    Without rules it is the function itself. With rules, arrays that it captures count as constant. A rule for what
    is not asked of it is not called, and where there is none the function's own operations are followed.
    """
    def __init__(self, f: Callable[..., Any]) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __repr__(self) -> str: ...
    def jvp(self, f: Callable[..., Any]) -> custom_function:
        """Give the rule `f(primals, tangents)` that answers tangents built like the function's result.

        `tangents` is built like `primals`, with `None` for what does not change. `None` in the answer is zero.
        """

    def vjp(self, f: Callable[..., Any]) -> custom_function:
        """Give the rule `f(primals, cotangents, outputs)` that answers cotangents built like `primals`.

        `primals` is the positional argument, or a tuple of several; `cotangents` and `outputs` are built as the
        function's result is. Keyword arguments are passed on. `None` in the answer is a cotangent of zero.

        Second derivatives follow the rules, too: of what the rule computes from `outputs` they are those that the rule
        gives, never those of the function's own operations.
        """

    def vmap(self, f: Callable[..., Any]) -> custom_function:
        """Give the rule `f(inputs, axes)` that answers the outputs for a batch and their axes, as a tuple of the two.

        `axes` is built like `inputs`, with the batch axis of each array or `None`. Axes of the outputs are built like
        those, or one number or `None` for all; of one output they may be a tuple of one.
        """


class finfo:
    """Limits of a floating-point dtype, given by itself or by an array of it; of a complex one, those of its parts."""
    def __init__(self, dtype: array | _DType) -> None: ...
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def bits(self) -> int:
        """Bits of one real number."""

    @property
    def dtype(self) -> Dtype:
        """The dtype these are the limits of."""

    @property
    def eps(self) -> float:
        """Distance from 1 to the next larger number."""

    @property
    def max(self) -> float:
        """Largest number."""

    @property
    def min(self) -> float:
        """Smallest (most negative) number."""

    @property
    def precision(self) -> int:
        """Decimal digits that every number keeps."""

    @property
    def resolution(self) -> float:
        """The last of these digits of 1: `10 ** -precision`."""

    @property
    def smallest_normal(self) -> float:
        """Smallest positive normal number."""

    @property
    def tiny(self) -> float:
        """Another name for `smallest_normal`."""


class iinfo:
    """Limits of an integer dtype, given by itself or by an array of it."""
    def __init__(self, dtype: array | _DType) -> None: ...
    def __eq__(self, other: object) -> builtins.bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def bits(self) -> int:
        """Bits of an element."""

    @property
    def dtype(self) -> Dtype:
        """The dtype these are the limits of."""

    @property
    def max(self) -> int:
        """Largest number."""

    @property
    def min(self) -> int:
        """Smallest number."""


def __array_namespace_info__() -> ArrayNamespaceInfo:
    """What can be asked of this namespace: its capabilities, devices and dtypes."""


def abs(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Absolute value of each element; of a complex number its modulus."""


absolute = abs

def acos(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The same as `arccos`."""


def acosh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The same as `arccosh`."""


def add(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """`a + b`, element by element with broadcasting."""


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
    """`alpha * (a @ b) + beta * c`."""


def all(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Whether all elements over `axis` are different from zero.

    Elements where `where` does not hold are left out.
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
    """Whether all of `isclose(a, b)` hold, as a 0-d bool array."""


amax = max

amin = min

def angle(
    a: _Operand,
    /,
    deg: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """The angle of complex numbers in radians, or degrees; of real ones 0 or π."""


def any(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    where: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Whether any element over `axis` is different from zero.

    Elements where `where` does not hold are left out.
    """


def append(
    arr: _Operand,
    values: _Operand,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`values` behind the elements of `arr` along `axis`; both flattened by default."""


def apply_along_axis(
    func1d: Callable[..., Any],
    axis: int,
    arr: _Operand,
    *args: Any,
    **kwargs: Any,
) -> array:
    """`func1d(row, *args, **kwargs)` of every row of `arr` along `axis`; the axes of its result stand where `axis` was.

    The function is followed once, on a row without values, as `vmap` does.
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
    """`start, start + step, …` up to but not including `stop`; `arange(stop)` and `arange(stop=stop)` start at zero.

    The dtype is int32 (int64 where the values need it) if all numbers are integers, else float32, unless given. An infinite
    step reaches no second element.
    """


def arccos(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse cosine of each element, in radians."""


def arccosh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse hyperbolic cosine of each element."""


def arcsin(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse sine of each element, in radians."""


def arcsinh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse hyperbolic sine of each element."""


def arctan(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse tangent of each element, in radians."""


def arctan2(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The angle of the point `(b, a)`, in radians."""


def arctanh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse hyperbolic tangent of each element."""


def argmax(
    a: _Operand,
    /,
    axis: int | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Index of the first largest element along `axis` (of the flattened array by default), as uint32."""


def argmin(
    a: _Operand,
    /,
    axis: int | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Index of the first smallest element along `axis` (of the flattened array by default), as uint32."""


def argpartition(
    a: _Operand,
    /,
    kth: int,
    axis: int = ...,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Indices that partition `a` along `axis` about its `kth` element, as uint32."""


def argsort(
    a: _Operand,
    /,
    axis: int = ...,
    *,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
    stream: _StreamOrDevice = None,
) -> array:
    """Indices that sort `a` along `axis` (the flattened array if `None`), as uint32; equal elements keep their order."""


def argwhere(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The indices of the elements that are not zero, a row of uint32 for each. `a` is evaluated."""


around = round

def array_equal(
    a: _Operand,
    b: _Operand,
    equal_nan: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Whether shapes and all elements are equal, as a 0-d bool array."""


def array_equiv(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Whether all elements are equal after broadcasting, as a 0-d bool array; shapes that do not broadcast are not."""


def array_split(
    ary: _Operand,
    indices_or_sections: int | Sequence[int] | array,
    axis: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> list[array]:
    """`ary` cut along `axis` into parts whose lengths differ by one at most, or before each of the given indices."""


def as_strided(
    a: _Operand,
    /,
    shape: _Shape | None = None,
    strides: Sequence[int] | None = None,
    offset: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """The flattened `a` seen under a shape and strides (in elements) from `offset`."""


def asarray(
    a: _Operand,
    dtype: _DType = None,
    *,
    device: _Device | None = None,
    copy: builtins.bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """An array of `a`: shared with whatever `a` shares its memory by, unless `dtype` or `copy` asks for a copy.

    Asked in this order: the buffer protocol, `__array_interface__`, `__dlpack__`, `__array__`. Operations on an array
    whose producer can still write run when they are recorded. Where `copy` is false and a copy is needed, the
    exception is a `BufferError` and a `ValueError`.
    """


def asin(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The same as `arcsin`."""


def asinh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The same as `arcsinh`."""


def astype(
    a: _Operand,
    dtype: _DType,
    /,
    *,
    copy: builtins.bool = True,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """The elements of `a` converted to `dtype`. With `copy` false an array that has that dtype is answered itself.

    Python's `int`, `float` and `complex` keep the width of an array of their kind (int64 stays int64). Where the kind
    changes they stand for int32, float32 and complex64, or for 64 bits a number where those would lose values that the dtype
    of `a` can hold.
    """


def async_eval(*args: _Tree) -> None:
    """Start computing arrays and return; reading one waits for it."""


def atan(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The same as `arctan`."""


def atan2(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The same as `arctan2`."""


def atanh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The same as `arctanh`."""


def atleast_1d(*arys: array, stream: _StreamOrDevice = None) -> array | list[array]:
    """Arrays with at least one axis: a list, or one array for one."""


def atleast_2d(*arys: array, stream: _StreamOrDevice = None) -> array | list[array]:
    """Arrays with at least two axes: a list, or one array for one."""


def atleast_3d(*arys: array, stream: _StreamOrDevice = None) -> array | list[array]:
    """Arrays with at least three axes: a list, or one array for one."""


def average(
    a: _Operand,
    axis: _Axes | None = None,
    weights: _Operand | None = None,
    returned: builtins.bool = False,
    *,
    keepdims: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array | tuple[array, array]:
    """Weighted mean over `axis`: `sum(a * weights) / sum(weights)`, not finite where the weights add up to zero.

    `weights` have the shape of `a`, or that of the axes alone; without them it is the mean. With `returned` the sum of
    the weights comes with it.
    """


def bartlett(M: int, *, stream: _StreamOrDevice = None) -> array:
    """The triangle from 0 to 1 and back: `1 - |2n / (M - 1) - 1|`.

    float32 of shape `(M,)`: empty for `M` below 1, a single one for 1. See F. J. Harris, On the Use of
    Windows for Harmonic Analysis with the Discrete Fourier Transform, 1978.
    """


def bincount(
    x: _Operand,
    /,
    weights: _Operand | None = None,
    minlength: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """How often each integer from zero on occurs in `x`, as int32, or the sum of the `weights` of its occurrences, in floating
    point; at least `minlength` elements. `x` is evaluated.
    """


def bitwise_and(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Bits set in both."""


def bitwise_count(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Number of bits set in the absolute value of each integer, as uint8."""


def bitwise_invert(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Every bit inverted; of bool, not."""


def bitwise_left_shift(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """The same as `left_shift`."""


bitwise_not = bitwise_invert

def bitwise_or(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Bits set in either."""


def bitwise_right_shift(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """The same as `right_shift`."""


def bitwise_xor(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Bits set in exactly one."""


def blackman(M: int, *, stream: _StreamOrDevice = None) -> array:
    """The Blackman window: `0.42 - 0.5 cos(2πn / (M - 1)) + 0.08 cos(4πn / (M - 1))`.

    float32 of shape `(M,)`: empty for `M` below 1, a single one for 1. See F. J. Harris, On the Use of
    Windows for Harmonic Analysis with the Discrete Fourier Transform, 1978.
    """


def block(arrays: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """An array from nested lists of blocks: the innermost lists join along the last axis, the next along the one before."""


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
    """Matrix product with blocks of `block_size` by `block_size` elements masked, of the result and of either operand.

    A mask has an element a block: of bool it keeps blocks or leaves them out, of numbers it scales them.
    """


def broadcast_arrays(*arrays: array, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """All arrays broadcast to their common shape."""


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that all shapes broadcast to."""


def broadcast_to(a: _Operand, /, shape: _Shape, *, stream: _StreamOrDevice = None) -> array:
    """`a` under a shape that it broadcasts to; never copies."""


def can_cast(from_: array | _DType, to: _DType) -> builtins.bool:
    """Does promotion lead from `from_` (a dtype or an array) to `to`?"""


def cbrt(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Real cube root of each element."""


def ceil(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Smallest integer not below each element."""


def checkpoint(fun: Callable[_P, _R]) -> Callable[_P, _R]:
    """A function that computes what `fun` does, and computes it again when its gradient is taken.

    What lies between its arguments and its results is not kept for the gradient: less memory for more work. Arrays
    that `fun` captures, such as the parameters of a layer, get their gradients too (Chen et al., 2016).
    """


def choose(
    a: _Operand,
    choices: array | Sequence[_Operand],
    mode: Literal['raise', 'wrap', 'clip'] = "raise",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """At each place the element of the choice whose number `a` has there. An index outside raises, begins again from the other
    end ("wrap") or becomes the nearest one ("clip").
    """


def clear_cache() -> None:
    """Give everything kept for reuse back to the system."""


def clear_streams() -> None:
    """Wait for this thread's stream and let go of this thread's streams; operations go to the default stream again.

    Streams from `new_stream` go on working, since other threads may use them.
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
    """`a` limited to `a_min..=a_max`; `None` does not limit, nor does a number below or above all that integers of the dtype
    of `a` can be. `min` and `max` are the array API standard's names.
    """


def column_stack(tup: Sequence[_Operand], *, stream: _StreamOrDevice = None) -> array:
    """Vectors as the columns of a matrix, beside matrices as they are."""


def compile(
    fun: Callable[_P, _R],
    inputs: Any = None,
    outputs: Any = None,
    shapeless: builtins.bool = False,
) -> Callable[_P, _R]:
    """A function that records the graph of `fun` on its first call and replays it on later ones.

    The graph is recorded anew for arguments of another structure, other shapes or dtypes, and for other constants:
    numbers, strings, None, dataclasses by their fields, other objects by their hash and equality. (ValueError or
    TypeError for arguments that have no hash.) The 256 combinations used last are kept. `inputs` and `outputs` are
    nested lists and dicts of arrays that `fun` reads and changes besides its arguments and results, such as
    parameters, the state of an optimizer, `random.state`.

    With `shapeless`, arguments of other shapes reuse the graph where that gives what recording it anew would give; a
    function that reads lengths of axes itself, or whose graph depends on them in ways that cannot be told, is recorded
    for each combination of them.
    """


def compress(
    condition: _Operand,
    a: _Operand,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """The parts of `a` along `axis` (elements of the flattened array by default) where `condition`, of one axis and perhaps
    shorter, is not zero. `condition` is evaluated.
    """


def concat(arrays: Sequence[array], axis: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """The same as `concatenate`."""


def concatenate(
    arrays: Sequence[array],
    axis: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Arrays joined along `axis` (flattened first if `None`)."""


def cond(
    pred: _Operand,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
) -> Any:
    """`true_fun(*operands)` where the scalar `pred` holds, else `false_fun(*operands)`; only one of them runs.

    Both functions are followed once, on arrays without values, and return (nested lists, tuples and dicts of) arrays
    of one structure, equal shapes and equal dtypes. A derivative is that of the branch that runs. Under `vmap`, where
    `pred` differs from lane to lane, both run and results are selected.

    Raises `ValueError` for a `pred` that is no scalar and for branches that return other shapes, `TypeError` for branches
    that return other dtypes or structures.
    """


def conj(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Complex conjugate of each element."""


def conjugate(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Complex conjugate of each element."""


def contiguous(
    a: _Operand,
    /,
    allow_col_major: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` in dense row-major memory."""


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

    The input has shape `(N, L, C)`, the weight `(O, K, C / groups)`; `stride`, `padding` (zeros on both sides) and `dilation` are one number or one for each axis. Channels of different `groups` do not mix. Integers are exact and wrap; 16-bit floats are summed in float32.
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

    The input has shape `(N, H, W, C)`, the weight `(O, KH, KW, C / groups)`; `stride`, `padding` (zeros on both sides) and `dilation` are one number or one for each axis. Channels of different `groups` do not mix. Integers are exact and wrap; 16-bit floats are summed in float32.
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

    The input has shape `(N, D, H, W, C)`, the weight `(O, KD, KH, KW, C / groups)`; `stride`, `padding` (zeros on both sides) and `dilation` are one number or one for each axis. Channels of different `groups` do not mix. Integers are exact and wrap; 16-bit floats are summed in float32.
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

    The input has shape `(N, ..., C)`, the weight `(O, ..., C / groups)`. `padding` is one number, one for each axis, or two
    lists: zeros before and after. `input_dilation - 1` zeros stand between the elements of the input; `flip` reads the
    kernel backwards.
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
    """Transposed convolution over one spatial axis: the derivative of a convolution by its input.

    The input has shape `(N, L, C)`, the weight `(O, K, C / groups)`. The result is `(length - 1) * stride - 2 * padding + dilation * (taps - 1) + 1 + output_padding` long.
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
    """Transposed convolution over two spatial axes: the derivative of a convolution by its input.

    The input has shape `(N, H, W, C)`, the weight `(O, KH, KW, C / groups)`. The result is `(length - 1) * stride - 2 * padding + dilation * (taps - 1) + 1 + output_padding` long.
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
    """Transposed convolution over three spatial axes: the derivative of a convolution by its input.

    The input has shape `(N, D, H, W, C)`, the weight `(O, KD, KH, KW, C / groups)`. The result is `(length - 1) * stride - 2 * padding + dilation * (taps - 1) + 1 + output_padding` long.
    """


def convolve(
    a: _Operand,
    v: _Operand,
    /,
    mode: str = "full",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete convolution of two one-dimensional arrays, as NumPy's: `mode` is `full`, `same` or `valid`."""


def copysign(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The magnitude of `a` with the sign of `b`."""


def corrcoef(
    x: _Operand,
    y: _Operand | None = None,
    rowvar: builtins.bool = True,
    *,
    dtype: _DType = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Correlation coefficients, -1 to 1, of the variables in `x` and `y`, in rows or (without `rowvar`) in columns.

    Not a number for a variable that does not vary. Integers answer float32.
    """


def correlate(
    a: _Operand,
    v: _Operand,
    /,
    mode: str = "valid",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Cross-correlation of two one-dimensional arrays, the second conjugated, as NumPy's: `mode` is `full`, `same` or `valid`."""


def cos(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Cosine of each element, in radians."""


def cosh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Hyperbolic cosine of each element."""


def count_nonzero(
    a: _Operand,
    /,
    *,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """How many elements over `axis` are different from zero."""


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
    """Covariance matrix of the variables in `m` and `y`, in rows or (without `rowvar`) in columns; a variance for one.

    Sums are divided by the number of observations less `ddof`, which is 1, or 0 with `bias`. `fweights` say how often
    each observation was made, `aweights` how much it counts. Integers answer float32.
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
    """Cross products of vectors of length 3 (or 2: the third element is 0) along `axis`, or without it along `axisa` of `a`
    and `axisb` of `b`, into `axisc` of the result.
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
    """Largest element so far along `axis` (of the flattened array by default)."""


def cummin(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: builtins.bool = False,
    inclusive: builtins.bool = True,
    stream: _StreamOrDevice = None,
) -> array:
    """Smallest element so far along `axis` (of the flattened array by default)."""


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
    """Product so far along `axis` (of the flattened array by default)."""


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
    """Sum so far along `axis` (of the flattened array by default)."""


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
    """The same as `cumprod`; with `include_initial` a one comes first."""


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
    """The same as `cumsum`; with `include_initial` a zero comes first."""


def default_device() -> Device:
    """The device that this thread's operations run on."""


def default_stream(device: _Device) -> Stream:
    """The stream that this thread's operations on a device go to."""


def deg2rad(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """The same as `radians`."""


def degrees(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Radians to degrees."""


def delete(
    arr: _Operand,
    obj: _IndexItem,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`arr` without the elements at `obj` (an integer, a slice, or an array of integers or bool) along `axis`, of the flattened
    array by default. An array of indices is evaluated.
    """


def depends(
    inputs: array | Sequence[array],
    dependencies: array | Sequence[array],
) -> array | list[array]:
    """The same arrays as `inputs`, one or a list, computed only after all of `dependencies`.

    Gradients pass to `inputs`, none to `dependencies`.
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
    """What the arrays that `quantize` gives stand for: `scales * codes + biases`, group by group.

    The result is of `dtype`: by default that of scales and biases, or where scales are codes bfloat16 (with `global_scale` float32).
    Derivatives pass to scales and biases in mode 'affine'; those of the packed `w` are zero.
    """


def device_count(device_type: DeviceType) -> int:
    """Number of devices of a kind."""


def device_info(d: _Device | None = None) -> dict[str, str | int]:
    """What is known of a device: its name and number of threads."""


def diag(a: _Operand, /, k: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """A matrix with `a` on diagonal `k`, or diagonal `k` of a matrix."""


def diag_indices(n: int, ndim: int = 2, *, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """The indices, uint32, of the main diagonal of an array with `ndim` axes of length `n`: a tuple of an array for each."""


def diagflat(v: _Operand, k: _Operand = 0, *, stream: _StreamOrDevice = None) -> array:
    """A matrix with all elements of `v` one after the other on its `k`-th diagonal."""


def diagonal(
    a: _Operand,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    stream: _StreamOrDevice = None,
) -> array:
    """The elements of `a` on a diagonal of two axes."""


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
    """The differences of neighbours along `axis`, taken `n` times; `prepend` and `append` (arrays, or numbers that are
    repeated) stand before `a` and behind it.
    """


def digamma(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Derivative of the logarithm of the gamma function of each element (DLMF 5.2)."""


def digitize(
    x: _Operand,
    bins: str | _Operand,
    right: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Which of the intervals between `bins`, rising or falling, each element of `x` lies in, as uint32.

    `i` where `bins[i-1] <= x < bins[i]`, or with `right` where `bins[i-1] < x <= bins[i]`.
    """


def disable_compile() -> None:
    """Let compiled functions run as written."""


def divide(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """`a / b`; integers divide as float32."""


def divmod(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> list[array]:
    """A list of the quotient rounded down, and the remainder."""


def dot(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Product of numbers with anything, of vectors as a sum, of others over the last axis of `a` and the last but one of `b` (the only one of a vector); the other axes do not broadcast."""


def dsplit(
    ary: _Operand,
    indices_or_sections: int | Sequence[int] | array,
    *,
    stream: _StreamOrDevice = None,
) -> list[array]:
    """`ary` cut along its third axis into equal parts, or before each of the given indices."""


def dstack(tup: Sequence[_Operand], *, stream: _StreamOrDevice = None) -> array:
    """Arrays joined along the third axis, vectors and matrices being one deep."""


def ediff1d(
    ary: _Operand,
    to_end: _Operand | None = None,
    to_begin: _Operand | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Differences of neighbours in the flattened array, with `to_begin` in front of them and `to_end` behind."""


def einsum(
    subscripts: str | _Operand,
    *operands: _Operand | Sequence[int | EllipsisType],
    optimize: Any = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Sums of products as Einstein's summation writes them: `einsum("ij,jk->ik", a, b)`, or `einsum(a, [0, 1], b, [1, 2], [0, 2])`.

    The order of products is always a cheap one (`einsum_path` says which), whatever `optimize` asks for.
    """


def einsum_path(
    subscripts: str | _Operand,
    *operands: _Operand | Sequence[int | EllipsisType],
    optimize: Any = None,
) -> tuple[list[Any], str]:
    """The order in which `einsum` multiplies its operands, and a description of its cost.

    A list of tuples, each naming the places, in the list of what is left, of the operands of one product, which then goes to
    the end of that list. Up to eight operands the order is the cheapest there is.
    """


def empty(
    shape: _Shape,
    dtype: _DType = None,
    *,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """An array whose elements are not promised to be anything; they are zeros."""


def empty_like(
    a: _Operand,
    /,
    dtype: _DType = None,
    *,
    shape: _Shape | None = None,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """An array with the shape and dtype of `a`, unless others are given, whose elements are not promised to be anything."""


def enable_compile() -> None:
    """Let compiled functions replay graphs, whatever `UMBER_DISABLE_COMPILE` says."""


def equal(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Where `a == b`."""


def erf(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Error function of each element."""


def erfc(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`1 - erf(a)` of each element, accurate where `erf(a)` is near one."""


def erfinv(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse of the error function of each element."""


def eval(*args: _Tree) -> None:
    """Compute arrays, given one by one or in nested lists, tuples and dicts, and `random.state`; anything else in there is left
    alone.
    """


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What `fun(*args, **kwargs)` would give, with a `ShapeDtypeStruct` in place of each array; nothing is computed.

    Arguments hold arrays or `ShapeDtypeStruct`s. Anything else in arguments and results stays as it is, and the random
    state stays where it was.
    """


def exp(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`e` to the power of each element."""


def exp2(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """2 to the power of each element."""


def expand_dims(a: _Operand, /, axis: _Axes, *, stream: _StreamOrDevice = None) -> array:
    """`a` with new axes of length one at `axis`."""


def expm1(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`exp(a) - 1`, accurate near zero."""


def export_function(
    file_or_callback: _File | Callable[[dict[str, Any]], None],
    fun: Callable[..., Any],
    *args: Any,
    shapeless: builtins.bool = False,
    metadata: Mapping[str, str] | None = None,
    **kwargs: Any,
) -> None:
    """Write the graph of `fun` to a file, or hand it to a callback.

    `fun` takes arrays, by position or name, and returns an array or a tuple or list of arrays; it is traced once with
    arrays like those given. With `shapeless` it is traced at some other lengths, too, and the function that is imported
    takes any along the axes for which all traces agree. Lengths that `fun` reads, and those on which its graph depends in
    ways that cannot be told, stay as they are: a call with another one raises ValueError, which names the argument, the
    axis and both lengths. `metadata` is a text kept beside the function. The file is a safetensors file: what the
    function captured are its tensors, and its steps are in its metadata. A callback is called with dictionaries whose
    `type` is `inputs`, `keyword_inputs`, `outputs`, `constants` and, for every operation, `primitive`, with the `name` and
    the `arguments` that MLX gives it.

    Raises ValueError where `fun` returns anything else, or an operation cannot be kept.
    """


def export_to_dot(file: _File, *args: Any, **kwargs: Any) -> None:
    """Write the graph behind arrays in the language of Graphviz.

    `args` and `kwargs` are the outputs: arrays, or nested lists, tuples and dicts of them, and arrays by name. Arrays
    without a name are called A, B, C, …; operations are called as in MLX. `file` is a path or an open text file.
    Operations on a few elements are computed as they are written, and are not in the graph, unless `UMBER_EAGER=0` is in
    the environment. Those of a function are: `export_to_dot(file, f, x)` writes the graph of `f(x)`.
    """


def exporter(
    file: _File,
    fun: Callable[..., Any],
    *,
    shapeless: builtins.bool = False,
    metadata: Mapping[str, str] | None = None,
) -> FunctionExporter:
    """An object that traces `fun` at every call, for several signatures, and writes them to one file when it is closed.

    Use it in a `with` block; if an error leaves the block, no file is written. The parameters are those of
    `export_function`.
    """


def extract(condition: _Operand, arr: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """The elements of the flattened `arr` where the flattened `condition` is not zero. `condition` is evaluated."""


def eye(
    n: int,
    m: int | None = None,
    k: int = 0,
    dtype: _DType = None,
    *,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """A matrix of `n` rows and `m` (by default `n`) columns with ones on diagonal `k`."""


def fabs(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Absolute value of each element in floating point."""


def fill_diagonal(
    a: array,
    val: _Operand,
    wrap: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> None:
    """Set the main diagonal of `a` to `val`, which begins again when it is used up; with `wrap` the diagonal of a tall matrix
    begins again below, after one row without it.
    """


fix = trunc

def flatnonzero(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The indices, uint32, of the elements of the flattened array that are not zero. `a` is evaluated."""


def flatten(
    a: _Operand,
    /,
    start_axis: int = 0,
    end_axis: int = ...,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with the axes from `start_axis` to `end_axis` merged into one."""


def flip(a: _Operand, /, axis: _Axes | None = None, *, stream: _StreamOrDevice = None) -> array:
    """`a` with the order of elements along `axis` (all axes by default) reversed."""


def fliplr(m: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """`m` with its columns in reverse order."""


def flipud(m: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """`m` with its rows in reverse order."""


def float_power(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`a` to the power of `b` in double precision."""


def floor(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Largest integer not above each element."""


def floor_divide(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """The quotient rounded down; zero where an integer is divided by zero."""


def fmax(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The larger of `a` and `b`; the other one where one is not a number."""


def fmin(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The smaller of `a` and `b`; the other one where one is not a number."""


def fmod(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """The remainder of `a / b`, with the sign of `a`."""


def fori_loop(
    lower: _Operand,
    upper: _Operand,
    body_fun: Callable[..., Any],
    init: Any,
    *,
    unroll: int | builtins.bool | None = None,
    checkpoint: int | Literal['sqrt'] | None = None,
) -> Any:
    """`carry = body_fun(i, carry)` for `i` from `lower` to before `upper`, beginning with `init`; answers the last carry.

    `i` is an int32 scalar (int64 where a bound needs it). Between Python integers, or arrays that have a value and are
    not traced, this is a `scan` without rows: it has a gradient, which keeps the carry of every iteration, or of every
    k-th with `checkpoint=k` (as in `scan`). Between arrays that are still to be computed it is a `while_loop`.

    Raises `ValueError` for bounds that are no scalars and for a carry that changes its shape, naming the leaf; `TypeError`
    for bounds that are no integers and for a carry that changes its dtype or structure.
    """


def frexp(a: _Operand, /, *, stream: _StreamOrDevice = None) -> tuple[array, array]:
    """Mantissa and exponent: `a = mantissa * 2**exponent` with `0.5 <= abs(mantissa) < 1`, the exponent an int32."""


def from_dlpack(
    x: Any,
    /,
    *,
    device: _Device | None = None,
    copy: builtins.bool | None = None,
) -> array:
    """An array over the memory of an object with `__dlpack__`, shared unless `copy` is true.

    With `device` the producer is asked to bring memory of another device to the CPU. Operations on memory that its
    producer can still write run when they are recorded.
    """


def from_fp8(x: _Operand, dtype: _DType = None, *, stream: _StreamOrDevice = None) -> array:
    """The number that each float of eight bits (E4M3), in uint8, is; of `dtype`, bfloat16 by default."""


def from_numpy(a: Any, *, zero_copy: builtins.bool = True) -> array:
    """An array over the memory of a NumPy array.

    With `zero_copy` the memory is handed over: `a` becomes read-only, so that operations stay lazy. Without, it is
    copied.
    """


def fromfunction(
    function: Callable[..., Any],
    shape: _Shape,
    *,
    dtype: _DType = None,
    **kwargs: Any,
) -> Any:
    """`function(*indices, **kwargs)` of the index of every element of `shape` along each axis: arrays of `dtype`."""


def full(
    shape: _Shape,
    vals: _Operand | None = None,
    dtype: _DType = None,
    *,
    fill_value: _Operand | None = None,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """`vals` broadcast to `shape`, in its own dtype unless one is given. `fill_value` is the array API standard's name for
    `vals`.
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
    """`vals` broadcast to the shape of `a`, in the dtype of `a`, unless others are given. `fill_value` is the array API
    standard's name for `vals`.
    """


def gammaln(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithm of the absolute value of the gamma function of each element (DLMF 5.2)."""


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
    """Matrix product of matrices picked by flat indices into the batch axes: `a[lhs_indices] @ b[rhs_indices]`.

    Index arrays broadcast; without one, all matrices of its operand are taken in order. Indices are integers, negative ones
    count from the end, and one out of bounds is an `IndexError`. `sorted_indices` is a hint that is not needed.
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
    """`quantized_matmul` of matrices picked by flat indices into the batch axes of `x` and of `w`.

    Index arrays broadcast; without one, all matrices of its operand are taken in order. Indices are integers, negative ones
    count from the end, and one out of bounds is an `IndexError`. `global_scale`, in mode 'nvfp4', is one number or one for each matrix
    of `w`. `sorted_indices` is a hint that is not needed.
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
    """`qqmm` of matrices picked by flat indices into the batch axes of `x` and of `w`.

    Index arrays are as in `gather_qmm`; global scales are one number, or one for each matrix of their operand. `sorted_indices` is a
    hint that is not needed.
    """


def gcd(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Greatest common divisor of integers."""


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
    """`num` values from `start` to `stop`, each the same multiple of the one before; with `endpoint` the last is `stop`.
    Complex numbers, which go the shorter way around zero, answer complex64 unless a dtype is given.

    `start` and `stop` have one sign, and neither is zero. Arrays broadcast, and the values lie along `axis`.
    """


def get_active_memory() -> int:
    """Bytes in use by arrays, on the default device."""


def get_array_buffer_size(*args: Any) -> int:
    """Bytes of the memory behind arrays, given one by one or in nested lists, tuples and dicts; anything else in there is left
    alone.

    Memory that several arrays share counts once, and as a whole even where they are parts of it. Raises `ValueError` for an
    array that is not evaluated.
    """


def get_cache_memory() -> int:
    """Bytes kept for reuse."""


def get_memory_limit() -> int:
    """The most bytes that arrays may use; an allocation beyond it raises `MemoryError`."""


def get_num_threads() -> int:
    """How many threads work on a kernel on the CPU, the calling one included."""


def get_peak_memory() -> int:
    """The most bytes in use at once since the start or `reset_peak_memory`."""


def get_printoptions() -> PrintOptions:
    """How arrays are printed now."""


def grad(
    fun: Callable[_P, Any],
    argnums: int | Sequence[int] | None = None,
    argnames: str | Sequence[str] | None = None,
    *,
    has_aux: builtins.bool = False,
    holomorphic: builtins.bool = False,
) -> Callable[_P, Any]:
    """A function that computes the gradient of `fun` with respect to the arguments `argnums` (positions, the first by
    default) and `argnames` (keywords). `fun` returns a scalar array, or a tuple that begins with one. With `has_aux` it
    returns a pair of the value and anything else, and the answer is the pair of the gradient and that.

    `fun` is called with the very lists and dicts that it is given, of whatever class (a module, say): their arrays are
    replaced for the call and put back afterwards, and whatever else `fun` does to them lasts. Tuples are rebuilt.

    Of a real value with respect to complex `z = x + iy` the gradient is `df/dx + i df/dy`. With `holomorphic` it is the
    complex derivative `df/dz` of a complex value with respect to complex arguments. Raises `TypeError` where either has
    another dtype.
    """


def gradient(
    f: _Operand,
    *varargs: _Operand,
    axis: _Axes | None = None,
    edge_order: Literal[1, 2] = 1,
    stream: _StreamOrDevice = None,
) -> array | list[array]:
    """Slopes of `f` along `axis` (each of all axes by default) from differences of neighbours: an array, or a list of them.

    `varargs` are the distance of neighbours, for all axes or one an axis, or the places along each axis. At the ends the
    slope comes from two points (`edge_order` 1) or three (2). Integers answer float32.
    """


def greater(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Where `a > b`."""


def greater_equal(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Where `a >= b`."""


def hadamard_transform(
    a: _Operand,
    scale: float | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Walsh-Hadamard transform along the last axis, of length `m * 2**k` with `m` one of 1, 12, 20 and 28.

    `scale` is `1 / sqrt(length)` by default. Integers become float32. The matrices are Sylvester's, Paley's and Williamson's.
    """


def hamming(M: int, *, stream: _StreamOrDevice = None) -> array:
    """The Hamming window: `0.54 - 0.46 cos(2πn / (M - 1))`.

    float32 of shape `(M,)`: empty for `M` below 1, a single one for 1. See F. J. Harris, On the Use of
    Windows for Harmonic Analysis with the Discrete Fourier Transform, 1978.
    """


def hanning(M: int, *, stream: _StreamOrDevice = None) -> array:
    """The Hann window: `0.5 - 0.5 cos(2πn / (M - 1))`.

    float32 of shape `(M,)`: empty for `M` below 1, a single one for 1. See F. J. Harris, On the Use of
    Windows for Harmonic Analysis with the Discrete Fourier Transform, 1978.
    """


def heaviside(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """0 where `a` is negative, 1 where it is positive, `b` where it is zero."""


def hessian(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    has_aux: builtins.bool = False,
    *,
    holomorphic: builtins.bool = False,
) -> Callable[..., Any]:
    """A function that computes the second derivatives of `fun`: `jacfwd` of `jacrev`.

    The answer is built as the result of `fun` is, with the structure of the arguments in place of each array, and
    that structure once more in place of each array there.
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
    """How many elements of `a`, or what `weights`, fall into each bin, and the edges of the bins: (counts, edges).

    `bins` is a number of bins of one width over `range` (by default from the least element to the greatest), the name of a rule
    for it ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"; not with weights), or an array of rising edges. A
    bin begins with its lower edge, the last one has its upper edge too. With `density` the integral is one.
    """


def histogram_bin_edges(
    a: _Operand,
    bins: str | _Operand = 10,
    range: tuple[float, float] | None = None,
    weights: _Operand | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """The edges of the bins of a histogram; `weights` change nothing."""


def hsplit(
    ary: _Operand,
    indices_or_sections: int | Sequence[int] | array,
    *,
    stream: _StreamOrDevice = None,
) -> list[array]:
    """`ary` cut along its second axis (or only one) into equal parts, or before each of the given indices."""


def hstack(tup: Sequence[_Operand], *, stream: _StreamOrDevice = None) -> array:
    """Arrays joined along the second axis, vectors along their only one."""


def hypot(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`sqrt(a**2 + b**2)` without overflow on the way."""


def i0(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Modified Bessel function of the first kind of order zero (DLMF 10.25)."""


def i0e(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`exp(-|a|) i0(a)`, which does not overflow."""


def i1(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Modified Bessel function of the first kind of order one (DLMF 10.25)."""


def i1e(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`exp(-|a|) i1(a)`, which does not overflow."""


def identity(n: int, dtype: _DType = None, *, stream: _StreamOrDevice = None) -> array:
    """The identity matrix of order `n`."""


def imag(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Imaginary part of each element."""


def import_function(file: _File, return_metadata: builtins.bool = False) -> Any:
    """The function that `export_function` or an `exporter` wrote to `file`; it returns a tuple of arrays.

    It is called with arrays by position and name, or with one tuple and/or one dictionary of arrays. With
    `return_metadata` also the text that was saved beside it. A file that is damaged, or made to do harm, raises
    ValueError.
    """


def indices(
    dimensions: _Shape,
    dtype: _DType = None,
    sparse: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array | tuple[array, ...]:
    """The coordinates of every element of an array of shape `dimensions`: stacked along a new first axis, or with `sparse` a
    tuple of arrays with lengths of one along the other axes. The dtype is int32 unless one is given.
    """


def inner(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Sum of products over the last axis of both."""


def insert(
    arr: _Operand,
    obj: _IndexItem,
    values: _Operand,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`arr` with `values` put in before the elements at `obj` (an integer, a slice, or an array of integers or bool) along
    `axis`, of the flattened array by default. An array of indices is evaluated.
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
    """Straight lines between the points `(xp, fp)`, at every element of `x`.

    `xp` must rise. Below and above the points the values are `left` and `right`, by default those at the ends; with a
    `period` the points repeat instead, in any order. Inexact, in the dtype that holds all three; `fp` may be complex.
    """


def intersect1d(
    ar1: _Operand,
    ar2: _Operand,
    assume_unique: builtins.bool = False,
    return_indices: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array | tuple[array, ...]:
    """The distinct elements that are in both arrays, in ascending order; with `return_indices` also where each stands first in
    either. The arrays are evaluated.
    """


invert = bitwise_invert

def is_available(device: _Device) -> builtins.bool:
    """Is there such a device?"""


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
    """Where `|a - b| <= atol + rtol * |b|`; infinities are close only to themselves."""


def iscomplex(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Where the imaginary part is different from zero."""


def isdtype(dtype: _DType, kind: _DType | tuple[_DType, ...]) -> builtins.bool:
    """Is `dtype` of a kind: a dtype, a kind of the array API standard by name, or any of a tuple of these?"""


def isfinite(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Where elements are neither infinite nor not a number."""


def isin(
    element: _Operand,
    test_elements: _Operand,
    assume_unique: builtins.bool = False,
    invert: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Whether each element is among the test elements, or with `invert` whether it is not. Not-a-number is among nothing."""


def isinf(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Where elements are infinite."""


def isnan(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Where elements are not a number."""


def isneginf(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Where elements are negative infinity."""


def isposinf(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Where elements are positive infinity."""


def isreal(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Where the imaginary part is zero."""


def issubdtype(arg1: _DType | DtypeCategory, arg2: _DType | DtypeCategory) -> builtins.bool:
    """Is `arg1` the same as, or a kind of, `arg2`?"""


def ix_(*args: _Operand, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """Index arrays that pick the rectangle of the given rows, columns, …: each runs along an axis of its own. A bool array picks
    where it is true, and is evaluated.
    """


def jacfwd(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    has_aux: builtins.bool = False,
    *,
    holomorphic: builtins.bool = False,
) -> Callable[..., Any]:
    """A function that computes the Jacobian of `fun` with respect to the arguments `argnums`, column by column.

    The answer is built as the result of `fun` is, with the structure of the argument (of a tuple of arguments where
    `argnums` is a sequence) in place of each array, and in there arrays with the axes of the output, then those of
    the input. It suits functions with more outputs than inputs. With `has_aux` the function returns a pair of its
    result and anything else, and so does the answer. Of complex outputs it is the derivative of a holomorphic
    function; of real outputs with respect to complex `z = x + iy` it is `df/dx + i df/dy`, as of `grad`. With
    `holomorphic`, arguments and outputs that are not complex raise `TypeError`.
    """


def jacrev(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    has_aux: builtins.bool = False,
    *,
    holomorphic: builtins.bool = False,
) -> Callable[..., Any]:
    """As `jacfwd`, computed row by row, which suits functions with more inputs than outputs."""


def jvp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any] | dict[Any, Any],
    *,
    has_aux: builtins.bool = False,
) -> tuple[Any, ...]:
    """Jacobian-vector product: the outputs of `fun` at `primals`, and `tangents` pushed forward to the outputs.

    Primals, outputs and what belongs to them are lists of arrays, or of lists, tuples and dicts of arrays; outputs may
    be a dict, too. With `has_aux` the function returns a pair of outputs and anything else, which is the third of the
    answer.
    """


def kaiser(M: int, beta: float, *, stream: _StreamOrDevice = None) -> array:
    """The Kaiser window `i0(beta * sqrt(1 - t**2)) / i0(beta)` with `t = 2n / (M - 1) - 1`.

    float32 of shape `(M,)`: empty for `M` below 1, a single one for 1. See J. F. Kaiser, Digital Filters, 1966.
    """


def kron(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Kronecker product: blocks of `b` scaled by the elements of `a`."""


def lcm(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Least common multiple of integers."""


def ldexp(x: _Operand, n: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`x` times 2 to the power of the integer `n`, rounded once."""


def left_shift(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Bits of `a` moved up by `b`."""


def less(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Where `a < b`."""


def less_equal(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Where `a <= b`."""


def lexsort(
    keys: array | Sequence[_Operand],
    axis: int = ...,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """The indices, uint32, that sort by several keys along `axis`: by the last one, where it is equal by the one before it.

    `keys` is a sequence of arrays of one shape, or an array whose first axis it is.
    """


def lgamma(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The same as `gammaln`."""


def linearize(
    fun: Callable[..., Any],
    *primals: Sequence[Any],
    has_aux: builtins.bool = False,
) -> tuple[Any, ...]:
    """`fun(*primals)`, and the linear function that takes tangents of `primals` to those of the result.

    `fun` is called once; the linear function keeps what it needs and can be called many times, with arrays built and
    shaped as `primals` are. With `has_aux` the function returns a pair, and what comes second is the third answer.
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
    """`num` values from `start` to `stop`, evenly spaced; with `endpoint` the last one is `stop`. Complex numbers answer
    complex64 unless a dtype is given.

    Arrays broadcast, and the values lie along `axis`. With `retstep` the distance of neighbours comes with them, NaN
    where there are none.
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
    """Load an array or several from a file: npy, npz, safetensors or GGUF.

    `file` is a path or a file open in binary mode, `format` one of `"npy"`, `"npz"`, `"safetensors"` and `"gguf"`; without
    it the extension tells the format, and where that says nothing the content does. An npy file gives an array, the
    others a dict of arrays by name. With `return_metadata` they give `(arrays, metadata)`: the texts of a safetensors
    file, the values of a GGUF file (arrays, texts, lists of texts), the texts among the members of an npz file.

    The arrays are the file itself, mapped and read-only: loading reads nothing but the header, data is read when it is
    used, and processes that load the same file share its memory. Compressed members of npz files, blocks of quantised
    GGUF tensors, elements of the other byte order, and files that are no files of the system are read at once; elements
    that do not lie at a multiple of their size are copied when they are used. A file that is replaced, as all functions
    here that save replace it, stays as it was for those who have loaded it. But one that is cut short or overwritten in
    place takes the memory away: reading what is gone ends the process with SIGBUS, and reading what was overwritten
    gives the new bytes. With `mmap=False` all is read at once, and what happens to the file does not matter.

    Of a GGUF file, tensors of types Q4_0, Q4_1 and Q8_0 stay quantised: `name.weight` (packed, uint32), `name.scales` and
    `name.biases` (float16) with groups of 32, as `quantized_matmul` takes them. Other quantised types become float16.

    Tensors of a safetensors file in F8_E4M3 and F8_E8M0 are their bits in uint8, as MLX has them, and with `float8=True`
    float8_e4m3fn and float8_e8m0fnu, which `view` makes of the bits as well.

    Raises FileNotFoundError or OSError where the file cannot be read, ValueError where it is damaged, in no known
    format, in another than its extension says, or an archive without arrays, and TypeError where its elements have no
    dtype. Pickled objects are never loaded; the error about a PyTorch checkpoint says how to convert it.
    """


def log(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Natural logarithm of each element."""


def log10(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithm to base 10 of each element."""


def log1p(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`log(1 + a)`, accurate near zero."""


def log2(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithm to base 2 of each element."""


def log_softmax(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """The logarithm of `softmax` over `axis` (all axes by default): `(a - max(a)) - log(sum(exp(a - max(a))))`.

    The result has the shape and the floating dtype of `a`, float32 for integers; 16-bit floats compute in float32. Beside a large
    maximum it keeps the digits that `a - logsumexp(a)` loses. Raises IndexError for an axis that is not there.
    """


def logaddexp(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`log(exp(a) + exp(b))` without overflow."""


def logaddexp2(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`log2(2**a + 2**b)` without overflow."""


def logcumsumexp(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: builtins.bool = False,
    inclusive: builtins.bool = True,
    stream: _StreamOrDevice = None,
) -> array:
    """`log(cumsum(exp(a)))` along `axis` without overflow."""


def logical_and(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Where both are different from zero."""


def logical_not(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Where elements are zero."""


def logical_or(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Where either is different from zero."""


def logical_xor(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Where exactly one is different from zero."""


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
    """`base` to the power of `num` evenly spaced values from `start` to `stop`; with `endpoint` the last one is `stop`.
    Complex numbers answer complex64 unless a dtype is given.

    Arrays broadcast, and the values lie along `axis`.
    """


def logsumexp(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`log(sum(exp(a)))` over `axis` without overflow."""


def map(f: Callable[..., Any], xs: Any, batch_size: int | None = None) -> Any:
    """`f(x)` for each row `x` of `xs`, one after the other: the results of all rows, stacked.

    `xs` is a (nested list, tuple or dict of) arrays with equal numbers of rows along their first axes. As `vmap` along
    these, in the memory of one row at a time; with `batch_size` of that many rows, which `vmap` computes together. A
    gradient works and keeps nothing but `xs`.

    Raises `ValueError` for rows of different numbers and for a `batch_size` below one.
    """


def matmul(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Matrix product over the last two axes; leading axes broadcast, 1-D operands are vectors."""


def matrix_norm(
    a: _Operand,
    /,
    ord: int | float | str | None = None,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Norms: of vectors over one axis (`sum(|a|**ord)**(1/ord)`), of matrices over two (`ord` 'fro', 'nuc', 1, -1, 2, -2,
    inf or -inf); without `axis` and `ord` the 2-norm of all elements.
    """


def matrix_transpose(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`a` with its last two axes exchanged."""


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
    """Largest element over `axis`; not a number if any is.

    Elements are converted to `dtype` first; those where `where` does not hold are left out; `initial` is
    what the reduction starts from.
    """


def maximum(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The larger of `a` and `b`; not a number if either is."""


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
    """Mean over `axis`; integers answer float32.

    Elements are converted to `dtype` first, in which the mean is answered; those where `where` does not hold are left
    out.
    """


def median(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Median over `axis`: the mean of the middle two where their number is even."""


def meshgrid(
    *arrays: array,
    sparse: builtins.bool = False,
    indexing: str = "xy",
    stream: _StreamOrDevice = None,
) -> tuple[array, ...]:
    """Coordinates of a grid from the coordinates along each of its axes, with `indexing` "xy" or "ij".

    Of arrays with several axes the elements are taken in row-major order.
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
    """Smallest element over `axis`; not a number if any is.

    Elements are converted to `dtype` first; those where `where` does not hold are left out; `initial` is
    what the reduction starts from.
    """


def minimum(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The smaller of `a` and `b`; not a number if either is."""


def minmax(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, array]:
    """Smallest and largest element over `axis`."""


mod = remainder

def modf(a: _Operand, /, *, stream: _StreamOrDevice = None) -> tuple[array, array]:
    """The fraction and the whole part of each number, both with its sign."""


def moveaxis(
    a: _Operand,
    /,
    source: _Axes,
    destination: _Axes,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with an axis moved to another place, or several axes to as many places."""


def multiply(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """`a * b`."""


def nan_to_num(
    a: _Operand,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with not-a-number and infinities replaced; infinities by the largest finite values unless given."""


def nanargmax(
    a: _Operand,
    /,
    axis: int | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Index of the first largest number along `axis`, as uint32. Where there is none, evaluation raises ValueError."""


def nanargmin(
    a: _Operand,
    /,
    axis: int | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Index of the first smallest number along `axis`, as uint32. Where there is none, evaluation raises ValueError."""


def nancumprod(
    a: _Operand,
    /,
    axis: int | None = None,
    dtype: _DType = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Product so far of what is a number, along `axis` (of the flattened array by default)."""


def nancumsum(
    a: _Operand,
    /,
    axis: int | None = None,
    dtype: _DType = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum so far of what is a number, along `axis` (of the flattened array by default)."""


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
    """Largest number over `axis`; NaN where there is none.

    Elements where `where` does not hold are left out; `initial`, which it needs, is what the reduction starts
    from.
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
    """Mean over `axis` of what is a number; NaN where nothing is. Integers answer float32.

    `dtype` is what it is computed and answered in; elements where `where` does not hold are left out.
    """


def nanmedian(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Median over `axis` of what is a number; NaN where nothing is."""


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
    """Smallest number over `axis`; NaN where there is none.

    Elements where `where` does not hold are left out; `initial`, which it needs, is what the reduction starts
    from.
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
    """Values over `axis` below which `q` hundredths (0 to 100) of what is a number lie; NaN where nothing is.

    The result has the shape of `q` followed by that of the reduction. `method` is one of NumPy's: "linear",
    "lower", "higher", "midpoint", "nearest", and the nine of R. J. Hyndman and Y. Fan, Sample Quantiles in
    Statistical Packages, 1996. Methods that pick an element keep the dtype; else integers answer float32.
    `weights`, of the shape of `a` or of `axis` alone, say how often each element counts, and need the method
    "inverted_cdf".
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
    """Product over `axis` of what is a number; 1 where nothing is.

    `dtype` is what it is computed and answered in; elements where `where` does not hold are left out; `initial`
    is what the reduction starts from.
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
    """Values over `axis` below which the parts `q` (0 to 1) of what is a number lie; NaN where nothing is.

    The result has the shape of `q` followed by that of the reduction. `method` is one of NumPy's: "linear",
    "lower", "higher", "midpoint", "nearest", and the nine of R. J. Hyndman and Y. Fan, Sample Quantiles in
    Statistical Packages, 1996. Methods that pick an element keep the dtype; else integers answer float32.
    `weights`, of the shape of `a` or of `axis` alone, say how often each element counts, and need the method
    "inverted_cdf".
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
    """Standard deviation over `axis` of what is a number: the square root of `nanvar`.

    NaN where `ddof` leaves nothing; `correction` is the array API standard's name for `ddof`, `dtype` is what
    it is computed in. Elements where `where` does not hold are left out; `mean` is their mean, where it is
    known already, with the axes kept.
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
    """Sum over `axis` of what is a number; 0 where nothing is.

    `dtype` is what it is computed and answered in; elements where `where` does not hold are left out; `initial`
    is what the reduction starts from.
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
    """Variance over `axis` of what is a number: squared distances from the mean divided by `n - ddof`.

    NaN where `ddof` leaves nothing; `correction` is the array API standard's name for `ddof`, `dtype` is what
    it is computed in. Elements where `where` does not hold are left out; `mean` is their mean, where it is
    known already, with the axes kept.
    """


def ndim(a: _Operand) -> int:
    """The number of axes of `a`."""


def negative(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`-a`. Not defined for bool."""


def new_stream(device: _Device) -> Stream:
    """A new stream on a device, usable from every thread."""


def new_thread_local_stream(device: _Device) -> ThreadLocalStream:
    """A stream on a device that is another one on each thread."""


def new_thread_unsafe_stream(device: _Device) -> Stream:
    """A new stream on a device, usable from every thread: `new_stream` by another name."""


def nextafter(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The next floating-point number after `a` towards `b`."""


def nonzero(a: _Operand, /, *, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """The indices of the elements that are not zero: a tuple of an uint32 array for each axis, in row-major order.

    `a` is evaluated, since its values decide the shape; inside `vmap` and `compile` that raises ValueError.
    """


def not_equal(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Where `a != b`."""


def ones(
    shape: _Shape,
    dtype: _DType = None,
    *,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """An array full of ones."""


def ones_like(
    a: _Operand,
    /,
    dtype: _DType = None,
    *,
    shape: _Shape | None = None,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Ones with the shape and dtype of `a`, unless others are given."""


def outer(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Products of every element of `a` with every element of `b`, both flattened."""


def packbits(
    a: _Operand,
    /,
    axis: int | None = None,
    bitorder: Literal['big', 'little'] = "big",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Eight elements (bool or integers) along `axis`, or of the flattened array, as the bits of one uint8.

    A bit is 1 where the element is not zero; zeros fill the last byte. `bitorder` says whether the first bit is the
    highest ("big") or the lowest ("little").
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
    """`a` with elements added around it.

    `mode` says which: "constant" (`constant_values`), the element at the "edge", the array mirrored ("reflect" at the edge
    element, "symmetric" beside it) or again and again ("wrap"), a "linear_ramp" to `end_values`, the "maximum", "mean",
    "median" or "minimum" of each line (of the `stat_length` elements next to the border), or "empty": whatever.
    """


def partition(
    a: _Operand,
    /,
    kth: int,
    axis: int = ...,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Elements along `axis` with the `kth` in its sorted place, none larger before it and none smaller after it."""


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
    """Values over `axis` below which `q` hundredths (0 to 100) of the elements lie; NaN if any element is.

    The result has the shape of `q` followed by that of the reduction. `method` is one of NumPy's: "linear",
    "lower", "higher", "midpoint", "nearest", and the nine of R. J. Hyndman and Y. Fan, Sample Quantiles in
    Statistical Packages, 1996. Methods that pick an element keep the dtype; else integers answer float32.
    `weights`, of the shape of `a` or of `axis` alone, say how often each element counts, and need the method
    "inverted_cdf".
    """


def permute_dims(
    a: _Operand,
    /,
    axes: Sequence[int] | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """The same as `transpose`."""


def piecewise(
    x: _Operand,
    condlist: _Operand,
    funclist: Sequence[_Operand | Callable[..., Any]],
    *args: Any,
    **kw: Any,
) -> array:
    """`x` where each function (or number) of `funclist` is taken at the elements for which the condition of the same place holds;
    of several conditions the last one counts. One more function is for the elements for which none holds, else they are zero.

    Functions are called as `f(x, *args, **kw)` with an array of the shape of `x`, in which elements that are not theirs are
    replaced by one that is, and must work element by element. The result has the dtype of `x`.
    """


def place(
    arr: array,
    mask: _Operand,
    vals: _Operand,
    *,
    stream: _StreamOrDevice = None,
) -> None:
    """Set the elements of `arr` where `mask` holds to those of `vals` one after the other, which begin again when they are
    used up.
    """


def poly(seq_of_zeros: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Coefficients of the polynomial with these roots, or with the eigenvalues of a square matrix as roots; the first is one.
    Integers answer float32.
    """


def polyadd(a1: _Operand, a2: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Sum of two polynomials.

    Polynomials are vectors of coefficients, the highest power first.
    """


def polyder(p: _Operand, m: int = 1, *, stream: _StreamOrDevice = None) -> array:
    """Derivative of the polynomial with coefficients `p`, taken `m` times."""


def polydiv(u: _Operand, v: _Operand, *, stream: _StreamOrDevice = None) -> tuple[array, array]:
    """Quotient and remainder of two polynomials: (quotient, remainder), the latter without coefficients in front that are
    nearly zero, for which it is evaluated. Integers answer float32.
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
    """Coefficients of the polynomial of degree `deg` that lies closest to the points `(x, y)`, the highest power first.

    `sum(w**2 * (y - p(x))**2)` is least. `y` may have several columns, each with its polynomial in a column of the
    result. Computed in double precision; integers answer float32.

    Singular values of the powers of `x` up to `rcond` times the greatest count as zero. With `full` the answer is
    (coefficients, residuals, rank, singular values, rcond); with `cov` it is (coefficients, covariances), in the unit of
    the residuals, or for "unscaled" of the weights.
    """


def polyint(
    p: _Operand,
    m: int = 1,
    k: _Operand | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Integral of the polynomial with coefficients `p`, taken `m` times. `k` are the values at zero, one for all or one for
    each, the first integral's first; zero by default. Integers answer float32.
    """


def polymul(a1: _Operand, a2: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Product of two polynomials.

    Polynomials are vectors of coefficients, the highest power first.
    """


def polysub(a1: _Operand, a2: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Difference of two polynomials.

    Polynomials are vectors of coefficients, the highest power first.
    """


def polyval(p: _Operand, x: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Values of the polynomial with coefficients `p`, the highest power first, at every element of `x`."""


def positive(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`a` itself."""


def pow(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The same as `power`."""


def power(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`a` to the power of `b`."""


def printoptions(precision: int = ...) -> Any:
    """Print options for a `with` block."""


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
    """Product over `axis` (all axes by default). Small integers and bool answer int32 or uint32.

    Elements are converted to `dtype` first; those where `where` does not hold are left out; `initial` is
    what the reduction starts from.
    """


def ptp(
    a: _Operand,
    axis: _Axes | None = None,
    keepdims: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Largest element over `axis` minus the smallest."""


def put(
    a: array,
    ind: _Operand,
    v: _Operand,
    mode: Literal['raise', 'wrap', 'clip'] = "raise",
    *,
    stream: _StreamOrDevice = None,
) -> None:
    """Set the elements of `a` at the indices `ind` of the flattened array to `v`, which begins again when it is used up."""


def put_along_axis(
    a: _Operand,
    /,
    indices: _Operand,
    values: _Operand,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with `values` put at `indices` along `axis` (of the flattened array if `None`)."""


def putmask(
    a: array,
    mask: _Operand,
    values: _Operand,
    *,
    stream: _StreamOrDevice = None,
) -> None:
    """Set the elements of `a` where `mask` holds to those of `values` at the same place; those begin again when there are fewer."""


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
    """The product `x @ w.T` of matrices that are both quantised, in mode 'nvfp4', 'mxfp8' or 'mxfp4'.

    `x` of shape `(..., m, k)` is quantised on the way. `w`, `(..., n, k)`, is too, or has been: then it is packed and `scales` are given.
    `global_scale_x` and `global_scale_w`, in mode 'nvfp4', are the largest magnitudes in `x` and `w`. Derivatives pass straight
    through the rounding to what comes unquantised.
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
    """Values over `axis` below which the parts `q` (0 to 1) of the elements lie; NaN if any element is.

    The result has the shape of `q` followed by that of the reduction. `method` is one of NumPy's: "linear",
    "lower", "higher", "midpoint", "nearest", and the nine of R. J. Hyndman and Y. Fan, Sample Quantiles in
    Statistical Packages, 1996. Methods that pick an element keep the dtype; else integers answer float32.
    `weights`, of the shape of `a` or of `axis` alone, say how often each element counts, and need the method
    "inverted_cdf".
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
    """Store each group of `group_size` neighbours in the last axis of `w` in few bits: a list of packed codes (uint32), scales and, in
    mode 'affine', biases.

    ======  ===============  ===================  ============  ======
    mode    group_size       bits                 scales        biases
    ======  ===============  ===================  ============  ======
    affine  32, *64*, 128    1, 2, 3, *4*, 5,     like `w`      yes
                             6, 8
    mxfp4   *32*             *4* (E2M1)           E8M0, uint8   no
    mxfp8   *32*             *8* (E4M3)           E8M0, uint8   no
    nvfp4   *16*             *4* (E2M1)           E4M3, uint8   no
    ======  ===============  ===================  ============  ======

    `w` is real floating point with a last axis of n elements, which `group_size` divides; codes are `[..., n * bits / 32]`,
    the first in the lowest bits, scales and biases `[..., n / group_size]`. `global_scale`, in mode 'nvfp4', is the largest
    magnitude in `w`, relative to which scales are stored. Scales and biases are differentiable in `w`. The formats are those of
    the OCP Microscaling Formats (MX) specification 1.0, and NVFP4.
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
    """The product of `x` with a quantised matrix: `x @ w.T`, or `x @ w` without `transpose`.

    `x` is `(..., m, k)` or `(k,)`, `w` stands for `(..., n, k)` (without `transpose` `(..., k, n)`), packed along its last axis; batch
    axes broadcast. The result is `(..., m, n)` in the dtype that holds `x` and the scales. Derivatives pass to `x`, scales
    and biases; those of the packed `w` are zero.
    """


def rad2deg(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """The same as `degrees`."""


def radians(a: _Operand, stream: _StreamOrDevice = None) -> array:
    """Degrees to radians."""


def ravel(a: _Operand, order: str = "C", *, stream: _StreamOrDevice = None) -> array:
    """All elements along one axis: in `order` "C" the last axis runs fastest, in "F" the first."""


def ravel_multi_index(
    multi_index: array | Sequence[_Operand],
    dims: int | Sequence[int],
    mode: Literal['raise', 'wrap', 'clip'] | Sequence[Literal['raise', 'wrap', 'clip']] = "raise",
    order: Literal['C', 'F'] = "C",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """The places, uint32, in the flattened array of shape `dims` of the elements with these coordinates, an array for each axis.
    One outside raises, begins again from the other end ("wrap") or becomes the nearest one ("clip"): as `mode` says, one
    for all axes or a tuple with one for each. In `order` "F" the first axis runs fastest.
    """


def real(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Real part of each element."""


def real_if_close(a: _Operand, tol: float = 100.0, *, stream: _StreamOrDevice = None) -> array:
    """The real part of complex numbers if all imaginary parts are below `tol` times the precision of the dtype (below `tol`
    itself if that is not above one), else `a` as it is. Complex numbers are evaluated.
    """


def reciprocal(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """One over each element."""


def remainder(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """The remainder of `a / b`, with the sign of `b`."""


def repeat(
    array: array,
    repeats: int | _Operand,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Each element of `array` `repeats` times along `axis` (of the flattened array by default); an array of repeats has one
    count for each element, and is evaluated.
    """


def reset_peak_memory() -> None:
    """Measure the peak anew from what is in use now."""


def reshape(
    a: _Operand,
    /,
    shape: _Shape,
    *,
    copy: builtins.bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` under another shape of the same size; one length may be -1 and follows from the others.

    Memory is shared where strides can say the new shape. With `copy` false `a` is evaluated, and ValueError raised where
    they cannot.
    """


def resize(a: _Operand, new_shape: _Shape, *, stream: _StreamOrDevice = None) -> array:
    """The elements of `a` in row-major order, begun again as often as needed, in another shape."""


def result_type(*arrays_and_dtypes: array | _DType | _Scalar) -> Dtype:
    """The dtype that operations on all of these answer in. Python numbers, and their types, take part as numbers do beside
    arrays: they raise the kind where they have to, never the precision.
    """


def right_shift(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """Bits of `a` moved down by `b`."""


def rint(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Each number rounded to the nearest integer, halves to even, in floating point."""


def roll(
    a: _Operand,
    shift: int | Sequence[int],
    axis: _Axes | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with elements moved by `shift` along `axis`, those that fall off come back at the other end."""


def rollaxis(
    a: _Operand,
    axis: int,
    start: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with one axis moved back until it lies before `start`."""


def roots(p: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """The roots of the polynomial with coefficients `p`, the highest power first: complex64, or complex128 of float64.

    The eigenvalues of its companion matrix, computed in double precision. `p` is evaluated, since leading zeros do not count.
    """


def rot90(
    m: _Operand,
    k: int = 1,
    axes: tuple[int, int] = (0, 1),
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`m` turned `k` times by a right angle, from the first of `axes` towards the second."""


def round(a: _Operand, /, decimals: int = 0, stream: _StreamOrDevice = None) -> array:
    """`a` rounded to `decimals` places, halves to even."""


row_stack = vstack

def rsqrt(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """One over the square root of each element."""


def save(
    file: _File,
    arr: array,
    *,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Save one array into an npy file.

    `file` is a path, to which `.npy` is added where it is missing, or a file open in binary mode. NumPy has no word for
    bfloat16: it is written as elements of two bytes (`<V2`), which `load` and MLX read as bfloat16.

    A path is written whole or not at all: into a file beside it that takes its place, keeping its permissions, once all
    is on the disk. So a failure leaves what was there, and an array may be saved over the file it is mapped from.
    `progress` is called with the bytes of arrays that are written and their number in all; what it raises ends the saving.

    Raises OSError where the file cannot be written.
    """


def save_gguf(
    file: _File,
    arrays: Mapping[str, array],
    metadata: Mapping[str, array | int | float | str | list[Any]] | None = None,
    *,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Save arrays by name, and metadata by name, into a GGUF file (version 3).

    `file` is a path, to which `.gguf` is added where it is missing, or a file open in binary mode. Metadata are arrays of
    no or one axis (of integers, bool, float32 or float64), numbers, texts, lists of texts, and lists of arrays and lists;
    the integer `general.alignment` says what the places of arrays in the file are multiples of, otherwise 32. Paths are
    written whole or not at all and `progress` is told how far the saving is, as in `save`.

    Raises TypeError for a dtype that the format has no word for (bool, unsigned integers, complex numbers), and OSError
    where the file cannot be written.
    """


def save_safetensors(
    file: _File,
    arrays: Mapping[str, array],
    metadata: Mapping[str, str] | None = None,
    *,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Save arrays by name, and texts by name, into a safetensors file.

    `file` is a path, to which `.safetensors` is added where it is missing, or a file open in binary mode. Data begins at
    a multiple of 64 bytes and every element lies at a multiple of its size, so that `load` maps it. Paths are written
    whole or not at all and `progress` is told how far the saving is, as in `save`.

    Raises TypeError for a dtype that the format has no word for (complex128), and OSError where the file cannot be written.
    """


def savez(file: _File, *args: array, **kwargs: array | Callable[[int, int], object]) -> None:
    """Save several arrays into an npz file, a zip archive of npy files: `args` as `arr_0`, `arr_1` and so on, `kwargs` by name.

    `file` is a path, to which `.npz` is added where it is missing, or a file open in binary mode. Arrays lie in the file
    as in memory, each at a multiple of 64 bytes, so that `load` maps them. Paths are written whole or not at all, as by
    `save`. A function given as `progress` is told how far the saving is, as in `save`; an array may have that name as well.

    Raises ValueError where two arrays have one name, and OSError where the file cannot be written.
    """


def savez_compressed(
    file: _File,
    *args: array,
    **kwargs: array | Callable[[int, int], object],
) -> None:
    """Save several arrays into an npz file as `savez` does, each made smaller with deflate.

    `load` unpacks the arrays instead of mapping them. `progress` counts the bytes of arrays as they are in memory.
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
    """Take a carry through the rows of `xs`: `carry, y = f(carry, x)` for each row `x`, in order.

    `init`, the first carry, and `xs` are (nested lists, tuples and dicts of) arrays; each array of `xs` has `length`
    rows along its first axis. Without `xs`, `x` is `None` and `length` is needed. Answers the last carry and the `y`s,
    stacked along a new first axis; with `reverse` the last row comes first, and results stand where their rows do.

    `f` is followed once, on arrays without values; the carry keeps its structure, shapes and dtypes. (Python numbers
    in `init` take the dtype that `f` gives them.) Draws without a key differ from one iteration to the next. `unroll`
    makes that many iterations one, for small bodies.

    Memory beside the results does not grow with `length`. A gradient keeps the carry of every iteration: `length` times
    the carry. With `checkpoint=k` it keeps every k-th and computes those between again: `length / k + k` times the
    carry, for one more run of `f`; `checkpoint="sqrt"` takes the k that makes this least (Griewank, 1992).

    Raises `ValueError` for a carry that changes its shape, naming the leaf, for rows of different numbers, and without
    `xs` and `length`; `TypeError` for a carry that changes its dtype or structure, and where `f` returns no pair.
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
    """Where each value would go into a sorted array of one axis, as uint32: before ("left") or after ("right") equal elements.

    Not-a-number is greater than every number. `sorter` holds the indices that bring the array in order, if it is not.
    """


def segmented_mm(
    a: _Operand,
    b: _Operand,
    /,
    segments: array,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Product of two matrices cut along the inner axis: `a[:, from:to] @ b[from:to]` for each pair in the last axis of `segments`."""


def select(
    condlist: Sequence[_Operand],
    choicelist: Sequence[_Operand],
    default: _Operand = 0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """At each place the choice of the first condition that holds there, or `default` where none does."""


def set_cache_limit(limit: int) -> int:
    """Set how many bytes may be kept for reuse; returns the limit before."""


def set_default_device(device: _Device) -> None:
    """Choose the device that this thread's operations run on."""


def set_default_stream(stream: Stream) -> None:
    """Choose the stream that this thread's operations go to."""


def set_memory_limit(limit: int) -> int:
    """Set the memory limit in bytes; returns the one before."""


def set_num_threads(n: int) -> int:
    """Let `n` threads (from 1 to 256) work on a kernel on the CPU, the calling one included; returns how many it were.

    It holds for the whole process, from the next kernel on. The first number is `UMBER_NUM_THREADS` of the environment, or
    the processors that affinity and control groups leave to the process.
    """


def set_printoptions(precision: int = ...) -> None:
    """Choose how many decimals are printed; -1 for the shortest form with six significant digits."""


def set_view_policy(policy: Literal['checked', 'writable', 'readonly']) -> str:
    """Choose how memory is shared, and return the policy before.

    - "checked", the default: views are writable exactly when nothing else can see the memory, and operations on memory
      that others can write run when they are recorded.
    - "writable": views are writable whenever the memory is, even while it is shared or a derivative is being taken, and
      operations wait. What a write does to them is the program's business.
    - "readonly": as "checked", and no view is writable.
    """


def set_wired_limit(limit: int) -> int:
    """Set how much memory is to stay resident; returns the limit before.

    Only the memory of some GPUs can be kept resident, so the limit of this build is always 0.
    """


def setdiff1d(
    ar1: _Operand,
    ar2: _Operand,
    assume_unique: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """The distinct elements of `ar1` that are not in `ar2`, in ascending order, or as they are with `assume_unique`. The arrays are evaluated."""


def setxor1d(
    ar1: _Operand,
    ar2: _Operand,
    assume_unique: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """The distinct elements that are in one array but not in both, in ascending order. The arrays are evaluated."""


def shape(a: _Operand) -> tuple[int, ...]:
    """The shape of `a`, as a tuple."""


def sigmoid(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`1 / (1 + exp(-a))` of each element."""


def sign(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """-1, 0 or 1 as each element is below, at or above zero; of a complex number `a / |a|`."""


def signbit(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Where the sign bit is set: negative numbers and -0.0."""


def sin(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Sine of each element, in radians."""


def sinc(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`sin(πa) / (πa)` of each element, and 1 at zero."""


def sinh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Hyperbolic sine of each element."""


def size(a: _Operand, axis: _Axes | None = None) -> int:
    """The number of elements of `a`, or its length along `axis` (over all of several axes)."""


def slice(
    a: _Operand,
    start_indices: _Operand,
    axes: Sequence[int],
    slice_size: Sequence[int],
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """The part of `a` of lengths `slice_size` from `start_indices` along `axes`."""


def slice_update(
    a: _Operand,
    update: _Operand,
    start_indices: _Operand,
    axes: Sequence[int],
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with `update` in place of the part from `start_indices` along `axes`."""


def softmax(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    precise: builtins.bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Exponentials over `axis` (all axes by default) divided by their sum; `precise` computes in float32 at least."""


def sort(
    a: _Operand,
    /,
    axis: int = ...,
    *,
    descending: builtins.bool = False,
    stable: builtins.bool = True,
    stream: _StreamOrDevice = None,
) -> array:
    """Elements in order along `axis` (of the flattened array if `None`); not-a-number last, also with `descending`."""


def spacing(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Distance from each element to the next number away from zero."""


def split(
    a: _Operand,
    /,
    indices_or_sections: int | Sequence[int] | array,
    axis: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> list[array]:
    """`a` cut along `axis` into equal parts, or before each of the given indices."""


def sqrt(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Square root of each element."""


def square(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`a * a`."""


def squeeze(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` without the axes of length one: all of them, or those given."""


def stack(arrays: Sequence[array], axis: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """Arrays of one shape joined along a new axis."""


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
    """Standard deviation over `axis`: the square root of the variance.

    Elements are converted to `dtype` first; those where `where` does not hold are left out. `mean` is their
    mean, where it is known already, with the axes kept. `correction` is the array API standard's name for
    `ddof`.
    """


def stop_gradient(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The value of `a`, through which no gradient passes."""


def stream(s: _StreamOrDevice) -> StreamContext:
    """A context that makes a stream or device the default."""


def subtract(a: _Operand, b: _Operand, stream: _StreamOrDevice = None) -> array:
    """`a - b`."""


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
    """Sum over `axis` (all axes by default). Small integers and bool answer int32 or uint32.

    Elements are converted to `dtype` first; those where `where` does not hold are left out; `initial` is
    what the reduction starts from.
    """


def swapaxes(
    a: _Operand,
    /,
    axis1: int,
    axis2: int,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with two axes exchanged."""


def switch(index: _Operand, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """`branches[index](*operands)`; only that function runs. An `index` outside is brought to the nearest end.

    As `cond` otherwise, which is this with two functions.

    Raises `ValueError` without any branch, for an `index` that is no scalar and for branches that return other shapes;
    `TypeError` for an `index` that is no integer and for branches that return other dtypes or structures.
    """


def synchronize(stream: _StreamOrDevice = None) -> None:
    """Wait until everything given to a stream has run."""


def take(
    a: _Operand,
    /,
    indices: _Operand,
    axis: int | None = None,
    *,
    mode: str = "raise",
    stream: _StreamOrDevice = None,
) -> array:
    """Elements of `a` at `indices` along `axis` (of the flattened array by default).

    `mode` says what becomes of indices outside: "raise", "wrap" or "clip"; negative ones are outside but for "raise".
    """


def take_along_axis(
    a: _Operand,
    /,
    indices: _Operand,
    axis: int = ...,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Elements of `a` at `indices` along `axis` (of the flattened array if `None`), other axes matched one to one."""


def tan(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Tangent of each element, in radians."""


def tanh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Hyperbolic tangent of each element."""


def tensordot(
    a: _Operand,
    b: _Operand,
    /,
    axes: int | Sequence[Sequence[int]] = 2,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum of products over the last `axes` axes of `a` and the first of `b`, or over two lists of axes."""


def tile(a: _Operand, reps: _Axes, /, *, stream: _StreamOrDevice = None) -> array:
    """`a` repeated as a whole, `reps` times along each axis."""


def to_fp8(x: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """The nearest float of eight bits (E4M3 of the OCP's 8-bit specification), in uint8, to each real number.

    Ties go to even; magnitudes above 448 become that, NaN stays NaN.
    """


def topk(a: _Operand, /, k: int, axis: int = ..., *, stream: _StreamOrDevice = None) -> array:
    """The `k` largest elements along `axis` (of the flattened array if `None`), in ascending order."""


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
    """The sum of the elements on a diagonal of two axes."""


def transpose(
    a: _Operand,
    /,
    axes: Sequence[int] | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with its axes in the order of `axes`, reversed by default."""


def trapezoid(
    y: _Operand,
    x: _Operand | None = None,
    dx: float = 1.0,
    axis: int = ...,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Area under straight lines between the values `y` along `axis`, at places `x` or at a distance of `dx`."""


def tri(
    n: int,
    m: int | None = None,
    k: int = 0,
    dtype: _DType = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """A matrix of `n` rows and `m` (by default `n`) columns with ones on and below diagonal `k`."""


def tril(x: _Operand, k: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """`x` with zeros above diagonal `k` of the last two axes."""


def tril_indices(
    n: int,
    k: int = 0,
    m: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, ...]:
    """Row and column indices, uint32, of the elements on or below diagonal `k` of an `n` by `m` (by default `n`) matrix."""


def trim_zeros(
    filt: _Operand,
    trim: str = "fb",
    axis: _Axes | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`filt` without the zeros in front ("f" in `trim`) and at the back ("b") of `axis`, of all axes by default. It is evaluated."""


def triu(x: _Operand, k: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """`x` with zeros below diagonal `k` of the last two axes."""


def triu_indices(
    n: int,
    k: int = 0,
    m: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, ...]:
    """Row and column indices, uint32, of the elements on or above diagonal `k` of an `n` by `m` (by default `n`) matrix."""


true_divide = divide

def trunc(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Each element without its fraction."""


def unflatten(
    a: _Operand,
    /,
    axis: int,
    shape: _Shape,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with `axis` split into axes of the lengths of `shape`; one may be -1."""


def union1d(ar1: _Operand, ar2: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """The distinct elements that are in either array, in ascending order. The arrays are evaluated."""


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
    """The distinct elements of `a` in ascending order, not-a-number last.

    With a `size` that many of the least ones, then `fill_value` (by default the least one); the shape is known, so that it
    works inside `vmap` and `compile`. Without one as many as there are; `a` is evaluated.

    `return_index` adds where each stands first in the flattened array (uint32), `return_inverse` which of them each element
    is (uint32, the shape of `a`), `return_counts` how often each occurs (int32). Not-a-number equals itself if
    `equal_nan`, by default without a size. Along an `axis` the distinct parts of the array are found, ordered by their first
    elements, then their second ones and so on; `return_inverse` has one number for each.
    """


def unique_all(x: _Operand, /, *, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """The distinct elements of `x`: (values, indices, inverse_indices, counts). Every not-a-number counts for itself."""


def unique_counts(x: _Operand, /, *, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """The distinct elements of `x` and how often each occurs: (values, counts). Every not-a-number counts for itself."""


def unique_inverse(x: _Operand, /, *, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """The distinct elements of `x` and which of them each element is: (values, inverse_indices). Every not-a-number counts
    for itself.
    """


def unique_values(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The distinct elements of `x` in ascending order. Every not-a-number counts for itself."""


def unpackbits(
    a: _Operand,
    /,
    axis: int | None = None,
    count: int | None = None,
    bitorder: Literal['big', 'little'] = "big",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """The bits of each uint8 along `axis`, or of the flattened array, as eight uint8 that are 0 or 1.

    `count` takes that many bits, with zeros where there are fewer, or leaves off so many at the end if negative.
    """


def unravel_index(
    indices: _Operand,
    shape: _Shape,
    order: Literal['C', 'F'] = "C",
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, ...]:
    """The coordinates, a tuple of an uint32 array for each axis, of places in the flattened array of a shape; in `order` "F"
    it was flattened with the first axis running fastest.
    """


def unstack(
    x: _Operand,
    /,
    *,
    axis: int = 0,
    stream: _StreamOrDevice = None,
) -> tuple[array, ...]:
    """The parts of `x` along `axis`, without that axis."""


def unwrap(
    p: _Operand,
    discont: float | None = None,
    axis: int = -1,
    *,
    period: float = 6.283185307179586,
    stream: _StreamOrDevice = None,
) -> array:
    """Values along `axis` with multiples of `period` added, so that neighbours differ by half of it at most; steps below
    `discont`, by default half the period, stay as they are. Integers stay integers if the period is one.
    """


def value_and_grad(
    fun: Callable[_P, _R],
    argnums: int | Sequence[int] | None = None,
    argnames: str | Sequence[str] | None = None,
    *,
    has_aux: builtins.bool = False,
    holomorphic: builtins.bool = False,
) -> Callable[_P, tuple[_R, Any]]:
    """As `grad`, for a function that computes the value too: `(value, gradient)`, or with `has_aux` `((value, aux),
    gradient)`.
    """


def vander(
    x: _Operand,
    N: int | None = None,
    increasing: builtins.bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Powers of the elements of a vector, those of `x[i]` in row `i`: `N` of them, falling unless `increasing`."""


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
    """Variance over `axis`: squared distances from the mean divided by `n - ddof`.

    Elements are converted to `dtype` first; those where `where` does not hold are left out. `mean` is their
    mean, where it is known already, with the axes kept. `correction` is the array API standard's name for
    `ddof`.
    """


def vdot(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Sum of `conj(a) * b` over all elements of two arrays of one size."""


def vecdot(
    a: _Operand,
    b: _Operand,
    /,
    *,
    axis: int = ...,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum of products over `axis`, the first operand conjugated; other axes broadcast."""


def view(a: _Operand, dtype: _DType, stream: _StreamOrDevice = None) -> array:
    """The bytes of `a` read as another dtype; the last axis shrinks or grows with the size of an element.

    Python's `int`, `float` and `complex` stand for the dtype of their kind whose real numbers are as wide as those of `a`.
    Raises `TypeError` where there is none.
    """


def vjp(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    cotangents: Sequence[Any] | dict[Any, Any],
    *,
    has_aux: builtins.bool = False,
) -> tuple[Any, ...]:
    """Vector-Jacobian product: the outputs of `fun` at `primals`, and `cotangents` pulled back to the inputs.

    Primals, outputs and what belongs to them are lists of arrays, or of lists, tuples and dicts of arrays; outputs may
    be a dict, too. With `has_aux` the function returns a pair of outputs and anything else, which is the third of the
    answer.
    """


def vmap(fun: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Callable[..., Any]:
    """A function that maps `fun` over axis `in_axes` of its arguments and stacks the results along `out_axes`.

    Axes are integers or `None` (the same in every lane, or not stacked), one for all or nested as the arguments are,
    such as `({"a": 0, "b": None}, 1)`; of one result `out_axes` may be a tuple of one. Keyword arguments are mapped
    over their first axis.
    """


def vsplit(
    ary: _Operand,
    indices_or_sections: int | Sequence[int] | array,
    *,
    stream: _StreamOrDevice = None,
) -> list[array]:
    """`ary` cut along its first axis into equal parts, or before each of the given indices."""


def vstack(tup: Sequence[_Operand], *, stream: _StreamOrDevice = None) -> array:
    """Arrays joined along the first axis, each vector being a row."""


def where(
    condition: _Operand,
    x: _Operand | None = None,
    y: _Operand | None = None,
    /,
    *,
    stream: _StreamOrDevice = None,
) -> array | Any:
    """Elements of `x` where `condition` is not zero, else of `y`. Of `condition` alone the same as `nonzero`."""


def while_loop(cond_fun: Callable[..., Any], body_fun: Callable[..., Any], init: Any) -> Any:
    """`carry = body_fun(carry)` for as long as `cond_fun(carry)` holds, beginning with `init`; answers the last carry.

    The carry is a (nested list, tuple or dict of) arrays that keeps its structure, shapes and dtypes; `cond_fun`
    returns a scalar. Both functions are followed once. Memory does not grow with the number of iterations. Under
    `vmap` it goes on until no lane does, and lanes that have ended keep what they have. `jvp` works; a gradient does
    not (`scan` and `fori_loop` have one), since it cannot be known how many carries it would have to keep.

    Raises `ValueError` for a condition that is no scalar and for a carry that changes its shape, naming the leaf;
    `TypeError` for a carry that changes its dtype or structure.
    """


def zeros(
    shape: _Shape,
    dtype: _DType = None,
    *,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """An array full of zeros."""


def zeros_like(
    a: _Operand,
    /,
    dtype: _DType = None,
    *,
    shape: _Shape | None = None,
    device: _Device | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Zeros with the shape and dtype of `a`, unless others are given."""
