"""Properties, methods and special methods of `array`: the function's calls, said the other way."""

from mlx_calls import creation, elementwise, indexing, reductions, shaping
from mlx_calls.draw import ALL, BOOL, FLOATS, INTEGERS, REAL, Call, Draw, Dtype, Given, Item

FUNCTIONS = {
    name: group.CALLS[name]
    for group, names in (
        (
            elementwise,
            "abs conj cos exp log log10 log1p log2 reciprocal round rsqrt sin sqrt square",
        ),
        (
            reductions,
            "all any argmax argmin cummax cummin logcumsumexp logsumexp max mean "
            "min prod std sum var",
        ),
        (creation, "diag"),
        (shaping, "diagonal flatten moveaxis split squeeze swapaxes"),
    )
    for name in names.split()
}


def method(make):
    """A call whose array is an argument by keyword is turned so that the array comes first."""

    def turned(draw: Draw) -> Call:
        call = make(draw)
        if call.args and isinstance(call.args[0], Given):
            return call
        kwargs = dict(call.kwargs)
        return Call((kwargs.pop("a"), *call.args), kwargs)

    return turned


def prop(draw):
    return Call((draw.array(),))


def scan(draw):
    call = reductions.CALLS["cumsum"](draw)
    return Call(call.args, {name: v for name, v in call.kwargs.items() if name != "dtype"})


def statistics(draw):
    a = draw.array(None, REAL)
    axis = {"axis": draw.axes(a.shape)} if draw.chance() else {}
    return Call((a,), axis | draw.pick([{}, {"correction": 1}, {"ddof": 1}]))


def astype(draw):
    return draw.call(draw.array(None, REAL, 0.0), must={"dtype": Dtype(draw.dtype(ALL))})


def view(draw):
    a = draw.array((*draw.shape(1, 3)[:-1], 8))
    return draw.call(a, must={"dtype": Dtype(draw.dtype(ALL))})


def reshape(draw):
    call = shaping.reshape(draw)
    shape = call.args[1] if len(call.args) > 1 else call.kwargs["shape"]
    # MLX ends the process for `reshape()` without a shape.
    return Call((call.args[0], *(shape if shape and draw.chance() else [shape])))


def transpose(draw):
    a = draw.array(draw.shape(0, 4))
    axes = [int(axis) for axis in draw.rng.permutation(len(a.shape))]
    return draw.pick([Call((a,)), Call((a, *axes)), Call((a, axes)), Call((a, tuple(axes)))])


def single(draw):
    shape = draw.pick([(), (1,), (1, 1)])
    return Call((draw.array(shape, REAL, 0.0),))


def whole(draw):
    return Call((draw.array((), INTEGERS),))


def binary(make):
    """The array first; what it meets may be a number."""

    def turned(draw):
        call = make(draw)
        operands = list(call.args) + list(call.kwargs.values())
        operands.sort(key=lambda operand: not isinstance(operand, Given))
        first, second = operands[:2]
        if isinstance(second, Given) and len(second.shape) > len(first.shape):
            first, second = second, first
        return Call((first, second))

    return turned


def inplace(make):
    """The result must fit the array's shape and dtype."""

    def turned(draw):
        first, second = binary(make)(draw).args
        if isinstance(second, Given):
            values = draw.values(draw.broadcastable(first.shape), first.dtype, 1, 3)
            second = Given(values, first.dtype)
        return Call((first, second))

    return turned


def matrices(draw):
    size = draw.int(1, 4)
    dtype = draw.dtype(FLOATS)
    return Call(
        (draw.array((*draw.shape(0, 1), size, size), dtype), draw.array((size, size), dtype))
    )


def at(draw):
    """`a.at[index].add(value)` and its siblings, with repeated indices."""
    a = draw.array(draw.shape(1, 3, zero=0.0), FLOATS)
    index = indexing.indices(draw, (draw.int(1, 4),), a.shape[0], ("int32", "uint32"))
    value = draw.array((len(index.values), *a.shape[1:]), a.dtype, 0.5, 2)
    names = "add subtract multiply divide maximum minimum".split()
    return Call((a, Item(index), draw.pick(names), value))


def length(draw):
    return Call((draw.array(draw.shape(1, 3)),))


ARITHMETIC = elementwise.binary()
DIVIDING = elementwise.dividing
BITWISE = elementwise.binary(BOOL + INTEGERS)
COMPARING = elementwise.binary(REAL)
FLOATING = elementwise.binary(FLOATS, low=0.5, special=0.0)

CALLS = {
    **{f"array.{name}": method(make) for name, make in FUNCTIONS.items()},
    **{f"array.{name}": scan for name in ("cumsum", "cumprod")},
    **{f"array.{name}": statistics for name in ("std", "var")},
    **dict.fromkeys(
        [f"array.{n}" for n in "T dtype imag itemsize nbytes ndim real shape size".split()], prop
    ),
    "array.mT": lambda draw: Call((draw.array(draw.shape(2, 4)),)),
    "array.astype": astype,
    "array.view": view,
    "array.reshape": reshape,
    "array.transpose": transpose,
    **dict.fromkeys(["array.item", "array.__bool__", "array.__float__", "array.__int__"], single),
    "array.__complex__": single,
    "array.__index__": whole,
    "array.tolist": prop,
    **dict.fromkeys(["array.__copy__", "array.__pos__", "array.__array__"], prop),
    "array.__deepcopy__": lambda draw: Call((draw.array(), {})),
    "array.__bytes__": lambda draw: Call((draw.array(None, ("float32", "int32", "uint8")),)),
    "array.__abs__": method(elementwise.CALLS["abs"]),
    "array.__neg__": method(elementwise.CALLS["negative"]),
    "array.__invert__": method(elementwise.CALLS["bitwise_invert"]),
    "array.__len__": length,
    "array.__iter__": length,
    "array.__dlpack_device__": prop,
    **{f"array.__{op}__": binary(ARITHMETIC) for op in "add radd sub rsub mul rmul".split()},
    **{f"array.__{op}__": inplace(ARITHMETIC) for op in "iadd isub imul".split()},
    **{f"array.__{op}__": binary(COMPARING) for op in "lt le gt ge".split()},
    **{f"array.__{op}__": binary(ARITHMETIC) for op in "eq ne".split()},
    **{f"array.__{op}__": binary(BITWISE) for op in "and or xor".split()},
    **{f"array.__{op}__": inplace(BITWISE) for op in "iand ior ixor".split()},
    **{f"array.__{op}__": binary(elementwise.shift) for op in "lshift rshift".split()},
    **{f"array.__{op}__": inplace(elementwise.shift) for op in "ilshift irshift".split()},
    **{
        f"array.__{op}__": binary(FLOATING)
        for op in "truediv rtruediv div rdiv floordiv rfloordiv mod rmod pow rpow".split()
    },
    **{f"array.__{op}__": inplace(FLOATING) for op in "itruediv ifloordiv imod ipow".split()},
    "array.__matmul__": matrices,
    "array.__imatmul__": matrices,
    "array.__getitem__": indexing.getitem,
    "array.__setitem__": lambda draw: draw.pick([indexing.setitem, indexing.masked_setitem])(draw),
    "array.at": at,
}
