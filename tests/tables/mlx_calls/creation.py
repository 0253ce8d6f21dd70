"""Making arrays."""

from mlx_calls.draw import ALL, FLOATS, REAL, Call, Draw, Dtype


def dtype_or_none(draw: Draw, dtypes=ALL):
    return None if draw.chance(0.2) else Dtype(draw.dtype(dtypes))


def arange(draw):
    if draw.chance(0.3):
        return draw.call(draw.number(-2, 9, "if"), keyword={"dtype": dtype_or_none(draw, REAL[1:])})
    start, stop = draw.number(-5, 5, "if"), draw.number(-5, 9, "if")
    step = draw.pick([1, 2, -1, 0.5, -1.5, 3, 0.7])
    if draw.chance(0.2):
        return draw.call(start, stop, must={"step": step})
    return draw.call(
        must={"start": start, "stop": stop, "step": step},
        either={"dtype": Dtype(draw.dtype((*FLOATS, "int32", "int64", "int16")))},
    )


def nested(draw, shape, kinds):
    if not shape:
        return draw.number(kinds=kinds)
    return [nested(draw, shape[1:], kinds) for _ in range(shape[0])]


def array(draw):
    value = draw.pick([draw.array(), nested(draw, draw.shape(high=2), draw.pick("bifc"))])
    dtypes = ALL if not isinstance(value, int | float | complex | list | tuple) else ("float32",)
    return draw.call(must={"val": value}, either={"dtype": dtype_or_none(draw, dtypes)})


def asarray(draw):
    value = draw.pick([draw.array(), nested(draw, draw.shape(high=2), draw.pick("bif"))])
    return draw.call(value, keyword={"dtype": Dtype("float32"), "copy": None})


def window(draw):
    return draw.call(must={"M": draw.int(0, 9)})


def diag(draw):
    a = draw.array(draw.shape(1, 2))
    return draw.call(a, either={"k": draw.int(-2, 2)})


def sized(draw):
    shape = draw.shape()
    shape = draw.pick([shape, list(shape), draw.int(0, 5)])
    return draw.call(must={"shape": shape}, either={"dtype": dtype_or_none(draw)})


def like(draw):
    return draw.call(draw.array(), either={"dtype": dtype_or_none(draw)})


def eye(draw):
    return draw.call(
        must={"n": draw.int(0, 4)},
        either={
            "m": draw.pick([None, draw.int(0, 5)]),
            "k": draw.int(-3, 3),
            "dtype": dtype_or_none(draw),
        },
    )


def full(draw):
    shape = draw.shape()
    vals = draw.pick([draw.number(0, 3), draw.array(draw.broadcastable(shape), low=0)])
    return draw.call(
        must={"shape": draw.pick([shape, list(shape)]), "vals": vals},
        either={"dtype": dtype_or_none(draw)},
    )


def full_like(draw):
    a = draw.array()
    vals = draw.pick([draw.number(0, 3), draw.array(draw.broadcastable(a.shape), low=0)])
    return draw.call(a, vals, either={"dtype": dtype_or_none(draw)})


def identity(draw):
    return draw.call(must={"n": draw.int(0, 4)}, either={"dtype": dtype_or_none(draw)})


def linspace(draw):
    return draw.call(
        must={"start": draw.number(-5, 5, "if"), "stop": draw.number(-5, 5, "if")},
        either={
            "num": draw.int(0, 9),
            "endpoint": draw.chance(),
            "dtype": draw.pick([None, Dtype(draw.dtype(FLOATS))]),
        },
    )


def meshgrid(draw):
    dtype = draw.dtype()
    arrays = [draw.array(draw.shape(1, 1), dtype) for _ in range(draw.int(1, 3))]
    return draw.call(
        *arrays, keyword={"sparse": draw.chance(), "indexing": draw.pick(["xy", "ij"])}
    )


def triangle(draw):
    return draw.call(must={"x": draw.array(draw.shape(2, 3))}, either={"k": draw.int(-3, 3)})


def from_dlpack(draw):
    return Call((draw.values(draw.shape(), draw.pick(["float32", "int32", "uint8", "float16"])),))


CALLS = {
    "arange": arange,
    "array": array,
    "asarray": asarray,
    **dict.fromkeys(("bartlett", "blackman", "hamming", "hanning"), window),
    "diag": diag,
    **dict.fromkeys(("empty", "ones", "zeros"), sized),
    **dict.fromkeys(("empty_like", "ones_like", "zeros_like"), like),
    **dict.fromkeys(("eye", "tri"), eye),
    "from_dlpack": from_dlpack,
    "full": full,
    "full_like": full_like,
    "identity": identity,
    "linspace": linspace,
    "meshgrid": meshgrid,
    **dict.fromkeys(("tril", "triu"), triangle),
}
