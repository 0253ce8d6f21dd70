"""The functions of the array API standard, over the arrays of `umber.core`.

Most of them are functions of `umber.core`. The others are defined here, where MLX and the standard
differ:
the dtype of indices (int64 in the standard, uint32 in MLX), cumulative sums of small integers, and
names of parameters. ``x.__array_namespace__()`` returns this module, or an older version of the
standard for `api_version`. The environment variable `UMBER_ARRAY_API_VERSION` chooses the version
that this module itself follows.
"""

import umber.core as _core
from umber.core import (
    abs as abs,
    acos as acos,
    acosh as acosh,
    add as add,
    all as all,
    any as any,
    arange as arange,
    asin as asin,
    asinh as asinh,
    astype as astype,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    bitwise_and as bitwise_and,
    bitwise_invert as bitwise_invert,
    bitwise_left_shift as bitwise_left_shift,
    bitwise_or as bitwise_or,
    bitwise_right_shift as bitwise_right_shift,
    bitwise_xor as bitwise_xor,
    bool as bool,
    broadcast_shapes as broadcast_shapes,
    broadcast_to as broadcast_to,
    can_cast as can_cast,
    ceil as ceil,
    complex64 as complex64,
    complex128 as complex128,
    concat as concat,
    conj as conj,
    copysign as copysign,
    cos as cos,
    cosh as cosh,
    diff as diff,
    divide as divide,
    e as e,
    empty as empty,
    empty_like as empty_like,
    equal as equal,
    exp as exp,
    expand_dims as expand_dims,
    expm1 as expm1,
    eye as eye,
    finfo as finfo,
    flip as flip,
    float32 as float32,
    float64 as float64,
    floor as floor,
    floor_divide as floor_divide,
    from_dlpack as from_dlpack,
    greater as greater,
    greater_equal as greater_equal,
    hypot as hypot,
    iinfo as iinfo,
    imag as imag,
    inf as inf,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    isdtype as isdtype,
    isfinite as isfinite,
    isin as isin,
    isinf as isinf,
    isnan as isnan,
    less as less,
    less_equal as less_equal,
    linspace as linspace,
    log as log,
    log1p as log1p,
    log2 as log2,
    log10 as log10,
    logaddexp as logaddexp,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    matmul as matmul,
    matrix_transpose as matrix_transpose,
    max as max,
    maximum as maximum,
    mean as mean,
    meshgrid as meshgrid,
    min as min,
    minimum as minimum,
    moveaxis as moveaxis,
    multiply as multiply,
    nan as nan,
    negative as negative,
    newaxis as newaxis,
    nextafter as nextafter,
    not_equal as not_equal,
    ones as ones,
    ones_like as ones_like,
    permute_dims as permute_dims,
    pi as pi,
    positive as positive,
    pow as pow,
    prod as prod,
    real as real,
    reciprocal as reciprocal,
    remainder as remainder,
    repeat as repeat,
    reshape as reshape,
    result_type as result_type,
    roll as roll,
    round as round,
    sign as sign,
    signbit as signbit,
    sin as sin,
    sinh as sinh,
    sort as sort,
    sqrt as sqrt,
    square as square,
    squeeze as squeeze,
    stack as stack,
    std as std,
    subtract as subtract,
    sum as sum,
    take as take,
    take_along_axis as take_along_axis,
    tan as tan,
    tanh as tanh,
    tensordot as tensordot,
    tile as tile,
    tril as tril,
    triu as triu,
    trunc as trunc,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
    unique_values as unique_values,
    unstack as unstack,
    var as var,
    vecdot as vecdot,
    where as where,
    zeros as zeros,
    zeros_like as zeros_like,
)

from . import fft as fft, linalg as linalg
from ._creation import asarray as asarray, full as full, full_like as full_like
from ._elementwise import clip as clip
from ._manipulation import broadcast_arrays as broadcast_arrays
from ._searching import (
    argmax as argmax,
    argmin as argmin,
    count_nonzero as count_nonzero,
    nonzero as nonzero,
    searchsorted as searchsorted,
)
from ._sets import (
    unique_all as unique_all,
    unique_counts as unique_counts,
    unique_inverse as unique_inverse,
)
from ._sorting import argsort as argsort
from ._statistics import cumulative_prod as cumulative_prod, cumulative_sum as cumulative_sum
from ._versions import apply_requested_version as _apply_requested_version

__array_api_version__: str


def __getattr__(name: str) -> object:
    """Look up names that the standard lacks in `umber.core`."""
    if not name.startswith("_") and hasattr(_core, name):
        return getattr(_core, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_apply_requested_version(globals())
