# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.

"""Lazy, differentiable arrays that share memory."""
import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from types import EllipsisType, TracebackType
from typing import Any, BinaryIO, Literal, Self, TypeAlias
from typing_extensions import Buffer as _Buffer
from . import random as random

_Scalar: TypeAlias = bool | int | float | complex
_Operand: TypeAlias = array | _Scalar | _Buffer
_Nested: TypeAlias = _Operand | Sequence[_Nested]
_Shape: TypeAlias = int | Sequence[int]
_Axes: TypeAlias = int | Sequence[int]
_Device: TypeAlias = Device | DeviceType
_StreamOrDevice: TypeAlias = Stream | Device | DeviceType | None
_IndexItem: TypeAlias = int | builtins.slice | array | EllipsisType | Sequence[_IndexItem] | None | _Buffer
_Index: TypeAlias = _IndexItem | tuple[_IndexItem, ...]
_Tree: TypeAlias = array | list[_Tree] | tuple[_Tree, ...] | dict[str, _Tree] | Any
_File: TypeAlias = str | PathLike[str] | BinaryIO

bfloat16: Dtype

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


class ArrayAt:
    """An array, and the place in it that is to be updated."""
    def __getitem__(self, index: _Index) -> ArrayAt: ...
    def add(self, value: _Operand) -> array:
        """The array with `value` added at the index."""

    def divide(self, value: _Operand) -> array:
        """The array divided by `value` at the index."""

    def maximum(self, value: _Operand) -> array:
        """The array with the larger of it and `value` at the index."""

    def minimum(self, value: _Operand) -> array:
        """The array with the smaller of it and `value` at the index."""

    def multiply(self, value: _Operand) -> array:
        """The array multiplied by `value` at the index."""

    def subtract(self, value: _Operand) -> array:
        """The array with `value` subtracted at the index."""


class ArrayIterator:
    """Iterates over the first axis."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> array: ...


class AxisError(IndexError, ValueError):
    """An axis lies outside the dimensions of an array."""


class CopyError(BufferError, ValueError):
    """Memory cannot be shared as asked: a copy is needed and was forbidden, or the like."""


class DTypeError(TypeError, ValueError):
    """An operation is not defined for a dtype."""


class Device:
    """A device to run on."""
    def __init__(self, type: DeviceType, index: int = 0) -> None: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def type(self) -> DeviceType:
        """The kind of device."""


class DeviceType:
    """A kind of device."""
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __int__(self) -> int: ...
    def __repr__(self) -> str: ...
    cpu: DeviceType
    gpu: DeviceType


class Dtype:
    """The type of an array's elements."""
    def __init__(self, name: str | Dtype) -> None: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> str | tuple[Any, ...]:
        """Helper for pickle."""

    def __repr__(self) -> str: ...
    @property
    def size(self) -> int:
        """Bytes per element."""


class DtypeCategory:
    """A category of dtypes."""
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __int__(self) -> int: ...
    def __repr__(self) -> str: ...
    complexfloating: DtypeCategory
    floating: DtypeCategory
    generic: DtypeCategory
    inexact: DtypeCategory
    integer: DtypeCategory
    number: DtypeCategory
    signedinteger: DtypeCategory
    unsignedinteger: DtypeCategory


class PrintOptions:
    """How arrays are printed."""
    @property
    def precision(self) -> int:
        """Decimals of a number; -1 for the shortest form with six significant digits."""


class Stream:
    """A queue of work on a device."""
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...
    @property
    def device(self) -> Device:
        """The device that the stream is on."""


class StreamContext:
    """Makes a stream or device the default inside a `with` block."""
    def __init__(self, s: Sequence[int]) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> bool | None: ...


class array:
    """An N-dimensional array of numbers of one dtype.

    Operations on arrays are recorded and computed when a value is needed.
    """
    def __init__(self, val: _Nested, dtype: Dtype | None = None) -> None: ...
    def __abs__(self) -> array: ...
    def __add__(self, other: _Operand) -> array: ...
    def __and__(self, other: _Operand) -> array: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """This array as a NumPy array: a view unless `copy` is true or `dtype` differs.

        bfloat16 needs the package ml_dtypes.
        """

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's array interface, version 3."""

    __array_priority__: float
    def __bool__(self) -> bool: ...
    def __complex__(self) -> complex: ...
    def __copy__(self) -> array: ...
    def __deepcopy__(self, _memo: Any) -> Self: ...
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of this array's memory.

        Without `max_version`, or below 1.0, the capsule cannot say that it is read-only: then memory that others see
        raises `BufferError`, unless `copy` is true.
        """

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device type and index that the memory is on: `(1, 0)`, the CPU."""

    def __eq__(self, other: object) -> array: ...  # type: ignore[override]
    def __float__(self) -> float: ...
    def __floordiv__(self, other: _Operand) -> array: ...
    def __format__(self, spec: str) -> str: ...
    def __ge__(self, other: _Operand) -> array: ...
    def __getitem__(self, index: _Index) -> array: ...
    def __getnewargs__(self) -> array: ...
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
    def __ipow__(self, exponent: _Operand) -> array: ...
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
    def __repr__(self) -> str: ...
    def __rfloordiv__(self, other: _Operand) -> array: ...
    def __rlshift__(self, other: _Operand) -> array: ...
    def __rmatmul__(self, other: _Operand) -> array: ...
    def __rmod__(self, other: _Operand) -> array: ...
    def __rmul__(self, other: _Operand) -> array: ...
    def __ror__(self, other: _Operand) -> array: ...
    def __rpow__(self, base: _Operand, modulo: None = None) -> array: ...
    def __rrshift__(self, other: _Operand) -> array: ...
    def __rshift__(self, other: _Operand) -> array: ...
    def __rsub__(self, other: _Operand) -> array: ...
    def __rtruediv__(self, other: _Operand) -> array: ...
    def __rxor__(self, other: _Operand) -> array: ...
    def __setitem__(self, index: _Index, value: _Nested) -> None: ...
    def __setstate__(self, state: Any) -> None: ...
    def __sub__(self, other: _Operand) -> array: ...
    def __truediv__(self, other: _Operand) -> array: ...
    def __xor__(self, other: _Operand) -> array: ...
    @property
    def T(self) -> array:
        """The array with its axes in reverse order."""

    def abs(self, *, stream: _StreamOrDevice = None) -> array:
        """Absolute value of each element."""

    def all(
        self,
        axis: _Axes | None = None,
        keepdims: bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Whether all elements over `axis` are different from zero."""

    def any(
        self,
        axis: _Axes | None = None,
        keepdims: bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Whether any element over `axis` is different from zero."""

    def argmax(
        self,
        axis: int | None = None,
        keepdims: bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Index of the first largest element along `axis`."""

    def argmin(
        self,
        axis: int | None = None,
        keepdims: bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Index of the first smallest element along `axis`."""

    def astype(self, dtype: Dtype, *, stream: _StreamOrDevice = None) -> array:
        """The elements converted to `dtype`."""

    @property
    def at(self) -> ArrayAt:
        """Updates at an index that give a new array: `a.at[index].add(v)`.

        Where an index occurs several times every occurrence counts.
        """

    def conj(self, *, stream: _StreamOrDevice = None) -> array:
        """Complex conjugate of each element."""

    def cos(self, *, stream: _StreamOrDevice = None) -> array:
        """Cosine of each element."""

    def cummax(
        self,
        axis: int | None = None,
        *,
        reverse: bool = False,
        inclusive: bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Largest element so far along `axis`."""

    def cummin(
        self,
        axis: int | None = None,
        *,
        reverse: bool = False,
        inclusive: bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Smallest element so far along `axis`."""

    def cumprod(
        self,
        axis: int | None = None,
        *,
        reverse: bool = False,
        inclusive: bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Product so far along `axis`."""

    def cumsum(
        self,
        axis: int | None = None,
        *,
        reverse: bool = False,
        inclusive: bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Sum so far along `axis`."""

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

    @property
    def dtype(self) -> Dtype:
        """Type of the elements."""

    def exp(self, *, stream: _StreamOrDevice = None) -> array:
        """`e` to the power of each element."""

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

    def item(self) -> _Scalar:
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
        reverse: bool = False,
        inclusive: bool = True,
        stream: _StreamOrDevice = None,
    ) -> array:
        """`log(cumsum(exp(a)))` along `axis`."""

    def logsumexp(
        self,
        axis: _Axes | None = None,
        keepdims: bool = False,
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
        keepdims: bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Largest element over `axis`."""

    def mean(
        self,
        axis: _Axes | None = None,
        keepdims: bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Mean over `axis`."""

    def min(
        self,
        axis: _Axes | None = None,
        keepdims: bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Smallest element over `axis`."""

    def moveaxis(self, source: int, destination: int, *, stream: _StreamOrDevice = None) -> array:
        """An axis moved to another place."""

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""

    @property
    def ndim(self) -> int:
        """Number of axes."""

    def prod(
        self,
        axis: _Axes | None = None,
        keepdims: bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Product over `axis`."""

    @property
    def real(self) -> array:
        """The real part."""

    def reciprocal(self, *, stream: _StreamOrDevice = None) -> array:
        """One over each element."""

    def reshape(self, *shape: _Shape, stream: _StreamOrDevice = None) -> array:
        """Another shape of the same size, as integers or one sequence; one length may be -1."""

    def round(self, decimals: int = 0, *, stream: _StreamOrDevice = None) -> array:
        """Rounded to `decimals` places, halves to even."""

    def rsqrt(self, *, stream: _StreamOrDevice = None) -> array:
        """One over the square root of each element."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""

    def sin(self, *, stream: _StreamOrDevice = None) -> array:
        """Sine of each element."""

    @property
    def size(self) -> int:
        """Number of elements."""

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
        keepdims: bool = False,
        ddof: int = 0,
        *,
        correction: int | None = None,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Standard deviation over `axis`.

        `correction` is the array API standard's name for `ddof`.
        """

    def sum(
        self,
        axis: _Axes | None = None,
        keepdims: bool = False,
        *,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Sum over `axis`."""

    def swapaxes(self, axis1: int, axis2: int, *, stream: _StreamOrDevice = None) -> array:
        """Two axes exchanged."""

    def tolist(self) -> Any:
        """The elements as nested lists; a 0-d array as a number."""

    def transpose(self, *axes: _Axes, stream: _StreamOrDevice = None) -> array:
        """The axes in another order, as integers or one sequence; reversed by default."""

    def var(
        self,
        axis: _Axes | None = None,
        keepdims: bool = False,
        ddof: int = 0,
        *,
        correction: int | None = None,
        stream: _StreamOrDevice = None,
    ) -> array:
        """Variance over `axis`.

        `correction` is the array API standard's name for `ddof`.
        """


class finfo:
    """Limits of a floating-point dtype; of a complex one, those of its parts."""
    def __init__(self, dtype: Dtype) -> None: ...
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
    def smallest_normal(self) -> float:
        """Smallest positive normal number."""


class iinfo:
    """Limits of an integer dtype."""
    def __init__(self, dtype: Dtype) -> None: ...
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


def abs(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Absolute value of each element; of a complex number its modulus."""


def acos(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The same as `arccos`."""


def acosh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The same as `arccosh`."""


def add(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
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
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Whether all elements over `axis` are different from zero."""


def allclose(
    a: _Operand,
    b: _Operand,
    /,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    *,
    equal_nan: bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Whether all of `isclose(a, b)` hold, as a 0-d bool array."""


def any(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Whether any element over `axis` is different from zero."""


def arange(
    start: float,
    stop: float | None = None,
    step: float | None = None,
    dtype: Dtype | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`start, start + step, …` up to but not including `stop`; `arange(stop)` starts at zero.

    The dtype is int32 (int64 where the values need it) if all numbers are integers, else float32, unless given.
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
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Index of the first largest element along `axis` (of the flattened array by default), as uint32."""


def argmin(
    a: _Operand,
    /,
    axis: int | None = None,
    keepdims: bool = False,
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


def argsort(a: _Operand, /, axis: int = ..., *, stream: _StreamOrDevice = None) -> array:
    """Indices that sort `a` along `axis` (the flattened array if `None`), as uint32."""


def array_equal(
    a: _Operand,
    b: _Operand,
    equal_nan: bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Whether shapes and all elements are equal, as a 0-d bool array."""


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
    a: _Nested,
    dtype: Dtype | None = None,
    *,
    copy: bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """An array of `a`: shared with whatever `a` shares its memory by, unless `dtype` or `copy` asks for a copy.

    Operations on an array whose producer can still write run when they are recorded.
    """


def asin(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The same as `arcsin`."""


def asinh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The same as `arcsinh`."""


def astype(a: _Operand, dtype: Dtype, /, *, stream: _StreamOrDevice = None) -> array:
    """The elements of `a` converted to `dtype`."""


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


def bitwise_and(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Bits set in both."""


def bitwise_invert(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Every bit inverted; of bool, not."""


def bitwise_left_shift(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """The same as `left_shift`."""


def bitwise_or(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Bits set in either."""


def bitwise_right_shift(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """The same as `right_shift`."""


def bitwise_xor(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Bits set in exactly one."""


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


def can_cast(from_: array | Dtype, to: Dtype) -> bool:
    """Does promotion lead from `from_` (a dtype or an array) to `to`?"""


def ceil(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Smallest integer not below each element."""


def clear_cache() -> None:
    """Give everything kept for reuse back to the system."""


def clip(
    a: _Operand,
    /,
    a_min: _Operand,
    a_max: _Operand,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` limited to `a_min..=a_max`; `None` does not limit."""


def compile(
    fun: Callable[..., Any],
    inputs: Any = None,
    outputs: Any = None,
    shapeless: bool = False,
) -> Callable[..., Any]:
    """A function that records the graph of `fun` on its first call and replays it on later ones.

    The graph is recorded anew for arguments of another structure, other shapes, dtypes or constants. `inputs` and
    `outputs` are (nested lists and dicts of) arrays that `fun` reads and changes besides its arguments and results.
    `shapeless` is accepted: graphs are kept for every combination of shapes.
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


def conj(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Complex conjugate of each element."""


def conjugate(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Complex conjugate of each element."""


def contiguous(
    a: _Operand,
    /,
    allow_col_major: bool = False,
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
    flip: bool = False,
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
    keepdims: bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """How many elements over `axis` are different from zero."""


def cummax(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: bool = False,
    inclusive: bool = True,
    stream: _StreamOrDevice = None,
) -> array:
    """Largest element so far along `axis` (of the flattened array by default)."""


def cummin(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: bool = False,
    inclusive: bool = True,
    stream: _StreamOrDevice = None,
) -> array:
    """Smallest element so far along `axis` (of the flattened array by default)."""


def cumprod(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: bool = False,
    inclusive: bool = True,
    dtype: Dtype | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Product so far along `axis` (of the flattened array by default)."""


def cumsum(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: bool = False,
    inclusive: bool = True,
    dtype: Dtype | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum so far along `axis` (of the flattened array by default)."""


def cumulative_prod(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: bool = False,
    inclusive: bool = True,
    dtype: Dtype | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """The same as `cumprod`."""


def cumulative_sum(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: bool = False,
    inclusive: bool = True,
    dtype: Dtype | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """The same as `cumsum`."""


def default_device() -> Device:
    """The device that this thread's operations run on."""


def default_stream(device: _Device) -> Stream:
    """The stream that this thread's operations on a device go to."""


def degrees(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Radians to degrees."""


def device_count(device_type: DeviceType) -> int:
    """Number of devices of a kind."""


def device_info(d: _Device | None = None) -> dict[str, str | int]:
    """What is known of a device: its name and number of threads."""


def diag(a: _Operand, /, k: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """A matrix with `a` on diagonal `k`, or diagonal `k` of a matrix."""


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
    stream: _StreamOrDevice = None,
) -> array:
    """The differences of neighbours along `axis`, taken `n` times."""


def disable_compile() -> None:
    """Let compiled functions run as written."""


def divide(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """`a / b`; integers divide as float32."""


def divmod(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> tuple[array, ...]:
    """The quotient rounded down, and the remainder."""


def einsum(subscripts: str, *operands: _Operand, stream: _StreamOrDevice = None) -> array:
    """Sums of products as Einstein's summation writes them: `einsum("ij,jk->ik", a, b)`."""


def einsum_path(subscripts: str, *operands: _Operand) -> tuple[list[Any], str]:
    """The order in which `einsum` multiplies its operands, and a description of its cost.

    A list of tuples, each naming the places, in the list of what is left, of the operands of one product, which then goes to
    the end of that list. Up to eight operands the order is the cheapest there is.
    """


def empty(
    shape: _Shape,
    dtype: Dtype | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """An array whose elements are not promised to be anything; they are zeros."""


def empty_like(
    a: _Operand,
    /,
    dtype: Dtype | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """An array with the shape of `a` whose elements are not promised to be anything."""


def enable_compile() -> None:
    """Let compiled functions replay graphs, whatever `UMBER_DISABLE_COMPILE` says."""


def equal(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Where `a == b`."""


def erf(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Error function of each element."""


def erfinv(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse of the error function of each element."""


def eval(*args: _Tree) -> None:
    """Compute arrays, given one by one or in nested lists, tuples and dicts; anything else in there is left alone."""


def exp(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`e` to the power of each element."""


def expand_dims(a: _Operand, /, axis: _Axes, *, stream: _StreamOrDevice = None) -> array:
    """`a` with new axes of length one at `axis`."""


def expm1(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`exp(a) - 1`, accurate near zero."""


def eye(
    n: int,
    m: int | None = None,
    k: int = 0,
    dtype: Dtype | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """A matrix of `n` rows and `m` (by default `n`) columns with ones on diagonal `k`."""


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


def floor(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Largest integer not above each element."""


def floor_divide(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """The quotient rounded down; zero where an integer is divided by zero."""


def from_dlpack(x: Any, /, *, device: _Device | None = None, copy: bool | None = None) -> array:
    """An array over the memory of an object with `__dlpack__`, shared unless `copy` is true."""


def from_numpy(a: Any, *, zero_copy: bool = True) -> array:
    """An array over the memory of a NumPy array.

    With `zero_copy` the memory is handed over: `a` becomes read-only, so that operations stay lazy. Without, it is
    copied.
    """


def full(
    shape: _Shape,
    vals: _Operand,
    dtype: Dtype | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`vals` broadcast to `shape`, in its own dtype unless one is given."""


def full_like(
    a: _Operand,
    vals: _Operand,
    dtype: Dtype | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`vals` broadcast to the shape of `a`, in the dtype of `a` unless one is given."""


def gather_mm(
    a: _Operand,
    b: _Operand,
    /,
    lhs_indices: _Operand | None = None,
    rhs_indices: _Operand | None = None,
    *,
    sorted_indices: bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Matrix product of matrices picked by flat indices into the batch axes: `a[lhs_indices] @ b[rhs_indices]`.

    Index arrays broadcast; without one, all matrices of its operand are taken in order. Indices are integers, negative ones
    count from the end, and one out of bounds is an `IndexError`. `sorted_indices` is a hint that is not needed.
    """


def get_active_memory() -> int:
    """Bytes in use by arrays."""


def get_cache_memory() -> int:
    """Bytes kept for reuse."""


def get_memory_limit() -> int:
    """The most bytes that arrays may use; an allocation beyond it raises `MemoryError`."""


def get_peak_memory() -> int:
    """The most bytes in use at once since the start or `reset_peak_memory`."""


def get_printoptions() -> PrintOptions:
    """How arrays are printed now."""


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    argnames: str | Sequence[str] | None = None,
) -> Callable[..., Any]:
    """A function that computes the gradient of `fun` with respect to the arguments `argnums` (positions, the first by
    default) and `argnames` (keywords). `fun` returns a scalar array, or a tuple that begins with one.
    """


def greater(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Where `a > b`."""


def greater_equal(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Where `a >= b`."""


def hadamard_transform(
    a: _Operand,
    scale: float | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Walsh-Hadamard transform along the last axis, of length `m * 2**k` with `m` one of 1, 12, 20 and 28.

    `scale` is `1 / sqrt(length)` by default. Integers become float32. The matrices are Sylvester's, Paley's and Williamson's.
    """


def identity(n: int, dtype: Dtype | None = None, *, stream: _StreamOrDevice = None) -> array:
    """The identity matrix of order `n`."""


def imag(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Imaginary part of each element."""


def inner(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Sum of products over the last axis of both."""


def is_available(device: _Device) -> bool:
    """Is there such a device?"""


def isclose(
    a: _Operand,
    b: _Operand,
    /,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    *,
    equal_nan: bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Where `|a - b| <= atol + rtol * |b|`; infinities are close only to themselves."""


def isdtype(dtype: Dtype, kind: Dtype | str | tuple[Dtype | str, ...]) -> bool:
    """Is `dtype` of a kind: a dtype, a kind of the array API standard by name, or any of a tuple of these?"""


def isfinite(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Where elements are neither infinite nor not a number."""


def isinf(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Where elements are infinite."""


def isnan(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Where elements are not a number."""


def isneginf(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Where elements are negative infinity."""


def isposinf(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Where elements are positive infinity."""


def issubdtype(arg1: Dtype | DtypeCategory, arg2: Dtype | DtypeCategory) -> bool:
    """Is `arg1` the same as, or a kind of, `arg2`?"""


def jvp(
    fun: Callable[..., Any],
    primals: Sequence[array],
    tangents: Sequence[array],
) -> tuple[list[array], list[array]]:
    """Jacobian-vector product: the outputs of `fun` at `primals`, and `tangents` pushed forward to the outputs."""


def kron(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Kronecker product: blocks of `b` scaled by the elements of `a`."""


def left_shift(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Bits of `a` moved up by `b`."""


def less(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Where `a < b`."""


def less_equal(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Where `a <= b`."""


def linspace(
    start: float,
    stop: float,
    num: int = 50,
    endpoint: bool = True,
    dtype: Dtype | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`num` values from `start` to `stop`, evenly spaced; with `endpoint` the last one is `stop`."""


def load(
    file: _File,
    /,
    format: str | None = None,
    return_metadata: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array | dict[str, array] | tuple[dict[str, array], dict[str, Any]]:
    """Read arrays from a file: one from npy, a dict from safetensors.

    With `return_metadata` a safetensors file gives `(arrays, metadata)`.
    """


def log(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Natural logarithm of each element."""


def log10(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithm to base 10 of each element."""


def log1p(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`log(1 + a)`, accurate near zero."""


def log2(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithm to base 2 of each element."""


def logaddexp(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`log(exp(a) + exp(b))` without overflow."""


def logcumsumexp(
    a: _Operand,
    /,
    axis: int | None = None,
    *,
    reverse: bool = False,
    inclusive: bool = True,
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


def logsumexp(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`log(sum(exp(a)))` over `axis` without overflow."""


def matmul(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Matrix product over the last two axes; leading axes broadcast, 1-D operands are vectors."""


def matrix_transpose(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`a` with its last two axes exchanged."""


def max(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Largest element over `axis`; not a number if any is."""


def maximum(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The larger of `a` and `b`; not a number if either is."""


def mean(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Mean over `axis`; integers answer float32."""


def median(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Median over `axis`: the mean of the middle two where their number is even."""


def meshgrid(
    *arrays: array,
    sparse: bool = False,
    indexing: str = "xy",
    stream: _StreamOrDevice = None,
) -> tuple[array, ...]:
    """Coordinates of a grid from the coordinates along each of its axes, with `indexing` "xy" or "ij"."""


def min(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Smallest element over `axis`; not a number if any is."""


def minimum(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The smaller of `a` and `b`; not a number if either is."""


def minmax(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, array]:
    """Smallest and largest element over `axis`."""


def moveaxis(
    a: _Operand,
    /,
    source: int,
    destination: int,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with an axis moved to another place."""


def multiply(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
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


def negative(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`-a`. Not defined for bool."""


def new_stream(device: _Device) -> Stream:
    """A new stream on a device, usable from every thread."""


def not_equal(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Where `a != b`."""


def ones(shape: _Shape, dtype: Dtype | None = None, *, stream: _StreamOrDevice = None) -> array:
    """An array full of ones."""


def ones_like(
    a: _Operand,
    /,
    dtype: Dtype | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Ones with the shape of `a`, and its dtype unless one is given."""


def outer(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Products of every element of `a` with every element of `b`, both flattened."""


def pad(
    a: _Operand,
    pad_width: int | Sequence[int] | Sequence[Sequence[int]],
    mode: Literal['constant', 'edge', 'reflect', 'symmetric'] = "constant",
    constant_values: _Operand = 0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with elements added around it: `mode` is "constant", "edge", "reflect" or "symmetric"."""


def partition(
    a: _Operand,
    /,
    kth: int,
    axis: int = ...,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Elements along `axis` with the `kth` in its sorted place, none larger before it and none smaller after it."""


def permute_dims(
    a: _Operand,
    /,
    axes: Sequence[int] | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """The same as `transpose`."""


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
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Product over `axis` (all axes by default). Small integers and bool answer int32 or uint32."""


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


def radians(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Degrees to radians."""


def real(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Real part of each element."""


def reciprocal(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """One over each element."""


def remainder(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """The remainder of `a / b`, with the sign of `b`."""


def repeat(
    array: array,
    repeats: int | array,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Each element `repeats` times along `axis` (of the flattened array by default)."""


def reset_peak_memory() -> None:
    """Measure the peak anew from what is in use now."""


def reshape(a: _Operand, /, shape: _Shape, *, stream: _StreamOrDevice = None) -> array:
    """`a` under another shape of the same size; one length may be -1 and follows from the others."""


def result_type(*arrays_and_dtypes: array | Dtype | _Scalar) -> Dtype:
    """The dtype that operations on all of these answer in."""


def right_shift(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Bits of `a` moved down by `b`."""


def roll(
    a: _Operand,
    shift: int | Sequence[int],
    axis: _Axes | None = None,
    /,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with elements moved by `shift` along `axis`, those that fall off come back at the other end."""


def round(a: _Operand, /, decimals: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """`a` rounded to `decimals` places, halves to even."""


def rsqrt(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """One over the square root of each element."""


def save(file: _File, arr: array) -> None:
    """Write one array into an npy file, whole or not at all."""


def save_safetensors(
    file: _File,
    arrays: Mapping[str, array],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write arrays by name (and texts by name) into a safetensors file, whole or not at all."""


def searchsorted(
    sorted_sequence: _Operand,
    values: _Operand,
    /,
    side: str = "left",
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Where each value would go into a sorted array of one axis: before ("left") or after ("right") equal elements."""


def segmented_mm(
    a: _Operand,
    b: _Operand,
    /,
    segments: array,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Product of two matrices cut along the inner axis: `a[:, from:to] @ b[from:to]` for each pair in the last axis of `segments`."""


def set_cache_limit(limit: int) -> int:
    """Set how many bytes may be kept for reuse; returns the limit before."""


def set_default_device(device: _Device) -> None:
    """Choose the device that this thread's operations run on."""


def set_default_stream(stream: Stream) -> None:
    """Choose the stream that this thread's operations go to."""


def set_memory_limit(limit: int) -> int:
    """Set the memory limit in bytes; returns the one before."""


def set_printoptions(precision: int = ...) -> None:
    """Choose how many decimals are printed; -1 for the shortest form with six significant digits."""


def set_view_policy(policy: Literal['checked', 'writable', 'readonly']) -> str:
    """Choose when views of arrays are writable: "checked" (the default: exactly when nothing else can see the
    memory), "writable" (whenever the memory itself is) or "readonly" (never). Returns the policy before.
    """


def sigmoid(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`1 / (1 + exp(-a))` of each element."""


def sign(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """-1, 0 or 1 as each element is below, at or above zero; of a complex number `a / |a|`."""


def sin(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Sine of each element, in radians."""


def sinh(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Hyperbolic sine of each element."""


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
    precise: bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Exponentials over `axis` (all axes by default) divided by their sum; `precise` computes in float32 at least."""


def sort(a: _Operand, /, axis: int = ..., *, stream: _StreamOrDevice = None) -> array:
    """Elements in ascending order along `axis` (of the flattened array if `None`); not-a-number last."""


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
    keepdims: bool = False,
    ddof: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Standard deviation over `axis`: the square root of the variance."""


def stop_gradient(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The value of `a`, through which no gradient passes."""


def stream(s: _StreamOrDevice) -> StreamContext:
    """A context that makes a stream or device the default."""


def subtract(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """`a - b`."""


def sum(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum over `axis` (all axes by default). Small integers and bool answer int32 or uint32."""


def swapaxes(
    a: _Operand,
    /,
    axis1: int,
    axis2: int,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """`a` with two axes exchanged."""


def synchronize(stream: _StreamOrDevice = None) -> None:
    """Wait until everything given to a stream has run."""


def take(
    a: _Operand,
    /,
    indices: _Operand,
    axis: int | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Elements of `a` at `indices` along `axis` (of the flattened array by default)."""


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


def topk(a: _Operand, /, k: int, axis: int = ..., *, stream: _StreamOrDevice = None) -> array:
    """The `k` largest elements along `axis` (of the flattened array if `None`), in no promised order."""


def trace(
    a: _Operand,
    /,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Dtype | None = None,
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


def tri(
    n: int,
    m: int | None = None,
    k: int = 0,
    dtype: Dtype | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """A matrix of `n` rows and `m` (by default `n`) columns with ones on and below diagonal `k`."""


def tril(x: _Operand, k: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """`x` with zeros above diagonal `k` of the last two axes."""


def triu(x: _Operand, k: int = 0, *, stream: _StreamOrDevice = None) -> array:
    """`x` with zeros below diagonal `k` of the last two axes."""


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


def unstack(
    x: _Operand,
    /,
    *,
    axis: int = 0,
    stream: _StreamOrDevice = None,
) -> tuple[array, ...]:
    """The parts of `x` along `axis`, without that axis."""


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    argnames: str | Sequence[str] | None = None,
) -> Callable[..., Any]:
    """As `grad`, for a function that computes the value too: `(value, gradient)`."""


def var(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: bool = False,
    ddof: int = 0,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Variance over `axis`: squared distances from the mean divided by `n - ddof`."""


def vecdot(
    a: _Operand,
    b: _Operand,
    /,
    *,
    axis: int = ...,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum of products over `axis`, the first operand conjugated; other axes broadcast."""


def vjp(
    fun: Callable[..., Any],
    primals: Sequence[array],
    cotangents: Sequence[array],
) -> tuple[list[array], list[array]]:
    """Vector-Jacobian product: the outputs of `fun` at `primals`, and `cotangents` pulled back to the inputs."""


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = None,
    out_axes: Any = None,
) -> Callable[..., Any]:
    """A function that maps `fun` over axis `in_axes` of its arguments and stacks the results along `out_axes`.

    Axes are integers or `None` (the same in every lane, or not stacked), one for all or nested as the arguments are.
    """


def where(
    condition: _Operand,
    x: _Operand,
    y: _Operand,
    /,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Elements of `x` where `condition` is not zero, else of `y`."""


def zeros(
    shape: _Shape,
    dtype: Dtype | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """An array full of zeros."""


def zeros_like(
    a: _Operand,
    /,
    dtype: Dtype | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Zeros with the shape of `a`, and its dtype unless one is given."""
