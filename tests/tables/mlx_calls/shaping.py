"""Shape and layout."""

from mlx_calls.draw import ALL, Call


def as_strided(draw):
    a = draw.array((3, 4))
    shape, strides = draw.pick([((2, 3), (1, 2)), ((3,), (3,)), ((2, 2, 2), (4, 1, 0)), ((), ())])
    must = {"shape": shape, "strides": strides}
    return draw.call(a, must=must, either={"offset": draw.int(0, 3)})


def several(draw):
    return Call(tuple(draw.array() for _ in range(draw.int(1, 3))))


def broadcast_arrays(draw):
    shape = draw.shape()
    return Call(tuple(draw.array(draw.broadcastable(shape)) for _ in range(draw.int(1, 3))))


def broadcast_shapes(draw):
    shape = draw.shape()
    shapes = tuple(draw.broadcastable(shape) for _ in range(draw.int(1, 3)))
    return Call(tuple(draw.pick([shape, list(shape)]) for shape in shapes))


def broadcast_to(draw):
    shape = draw.shape()
    a = draw.array(draw.broadcastable(shape))
    a = a if draw.chance(0.8) else draw.number()
    return draw.call(a, must={"shape": draw.pick([shape, list(shape)])})


def concatenate(draw):
    shape = list(draw.shape(1, 3))
    axis = draw.axis(shape)
    arrays = []
    for _ in range(draw.int(1, 3)):
        shape[axis] = draw.int(0, 3)
        arrays.append(draw.array(tuple(shape)))
    axis = draw.pick([axis, axis, None])
    return draw.call(draw.pick([arrays, tuple(arrays)]), must={"axis": axis})


def contiguous(draw):
    return draw.call(draw.array(), either={"allow_col_major": draw.chance()})


def diagonal(draw):
    first, second = draw.pick([(0, 1), (1, 0), (-1, -2), (-1, 0)])
    return draw.call(
        draw.array(draw.shape(2, 3)),
        must={"offset": draw.int(-2, 2), "axis1": first, "axis2": second},
    )


def expand_dims(draw):
    a = draw.array()
    new = draw.axes((*a.shape, 1), 1)
    new = new if isinstance(new, int) or len(new) < 2 else type(new)([0, -1])
    return draw.call(a, must={"axis": new})


def flatten(draw):
    a = draw.array()
    start = draw.int(0, max(len(a.shape) - 1, 0))
    end = draw.int(start, max(len(a.shape) - 1, 0))
    if draw.chance(0.4):
        start, end = start - max(len(a.shape), 1), end - max(len(a.shape), 1)
    return draw.call(a, must={"start_axis": start, "end_axis": end})


def flip(draw):
    a = draw.array(draw.shape(1, 3))
    return draw.call(a, either={"axis": draw.axes(a.shape)})


def matrix(draw):
    return Call((draw.array(draw.shape(2, 4)),))


def moveaxis(draw):
    a = draw.array(draw.shape(1, 4))
    return draw.call(a, must={"source": draw.axis(a.shape), "destination": draw.axis(a.shape)})


def swapaxes(draw):
    a = draw.array(draw.shape(1, 4))
    return draw.call(a, must={"axis1": draw.axis(a.shape), "axis2": draw.axis(a.shape)})


def pad(draw):
    a = draw.array(draw.shape(1, 3, zero=0.0), ALL)
    mode = draw.pick(["constant", "constant", "edge", "reflect", "symmetric"])
    most = 2 if mode == "constant" or mode == "edge" else max(min(a.shape) - 1, 0)
    widths = [(draw.int(0, most), draw.int(0, most)) for _ in a.shape]
    width = draw.pick([widths, tuple(widths), widths[0], [widths[0]], draw.int(0, most)])
    either = {"mode": mode}
    if mode == "constant":
        either["constant_values"] = draw.pick([0, 1, draw.array((), a.dtype)])
        return draw.call(a, width, either=either)
    return draw.call(a, width, must=either)


def transpose(draw):
    a = draw.array(draw.shape(0, 4))
    order = [int(axis) for axis in draw.rng.permutation(len(a.shape))]
    order = [axis - len(order) if draw.chance(0.2) else axis for axis in order]
    return draw.call(a, either={"axes": draw.pick([None, order, tuple(order)])})


def repeat(draw):
    a = draw.array(draw.shape(1, 3))
    return draw.call(
        a,
        must={"repeats": draw.int(0, 3)},
        either={"axis": draw.pick([None, draw.axis(a.shape)])},
    )


def reshape(draw):
    shape = draw.shape(0, 3, zero=0.0)
    a = draw.array(shape)
    new = [size for size in shape for size in ((size, 1) if draw.chance(0.3) else (size,))]
    draw.rng.shuffle(new)
    new = [int(size) for size in new]
    if new and draw.chance(0.4):
        new[draw.int(0, len(new) - 1)] = -1
    return draw.call(a, must={"shape": draw.pick([new, tuple(new)])})


def roll(draw):
    a = draw.array(draw.shape(1, 3))
    way = draw.int(0, 3)
    if way == 0:
        return Call((a, draw.int(-9, 9)))
    if way == 1:
        return Call((a, draw.int(-9, 9), draw.axis(a.shape)))
    axes = draw.axes(a.shape, 1)
    axes = (axes,) if isinstance(axes, int) else tuple(axes)
    shift = tuple(draw.int(-9, 9) for _ in axes) if way == 2 else draw.int(-9, 9)
    return Call((a, shift, axes))


def split(draw):
    a = draw.array(draw.shape(1, 3))
    axis = draw.axis(a.shape)
    size = a.shape[axis]
    places = sorted(draw.int(0, size) for _ in range(draw.int(0, 3)))
    if draw.chance() and size:
        places = draw.pick([part for part in range(1, size + 1) if size % part == 0])
    return draw.call(a, must={"indices_or_sections": places, "axis": axis})


def squeeze(draw):
    shape = tuple(draw.pick([1, 1, 2, 3]) for _ in range(draw.int(0, 4)))
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    axis = None
    if ones and draw.chance(0.7):
        axis = draw.pick([draw.pick(ones), ones, tuple(ones), ones[0] - len(shape)])
    return draw.call(draw.array(shape), either={"axis": axis})


def stack(draw):
    shape = draw.shape(0, 2)
    arrays = [draw.array(shape) for _ in range(draw.int(1, 3))]
    return draw.call(arrays, either={"axis": draw.axis((*shape, 1))})


def tile(draw):
    a = draw.array(draw.shape(0, 3))
    reps = draw.pick([draw.int(0, 3), [draw.int(0, 2) for _ in range(draw.int(1, 4))]])
    return Call((a, reps))


def unflatten(draw):
    shape = draw.shape(1, 3, zero=0.0)
    axis = draw.axis(shape)
    size = shape[axis]
    parts = [p for p in range(1, size + 1) if size % p == 0]
    first = draw.pick(parts)
    new = draw.pick([[first, size // first], (first, -1), (size,), [1, -1, first]])
    return draw.call(draw.array(shape), must={"axis": axis, "shape": new})


def unstack(draw):
    a = draw.array(draw.shape(1, 3, zero=0.0))
    return draw.call(a, keyword={"axis": draw.axis(a.shape)})


CALLS = {
    "as_strided": as_strided,
    **dict.fromkeys(("atleast_1d", "atleast_2d", "atleast_3d"), several),
    "broadcast_arrays": broadcast_arrays,
    "broadcast_shapes": broadcast_shapes,
    "broadcast_to": broadcast_to,
    **dict.fromkeys(("concat", "concatenate"), concatenate),
    "contiguous": contiguous,
    "diagonal": diagonal,
    "expand_dims": expand_dims,
    "flatten": flatten,
    "flip": flip,
    "matrix_transpose": matrix,
    "moveaxis": moveaxis,
    "pad": pad,
    **dict.fromkeys(("permute_dims", "transpose"), transpose),
    "repeat": repeat,
    "reshape": reshape,
    "roll": roll,
    "split": split,
    "squeeze": squeeze,
    "stack": stack,
    "swapaxes": swapaxes,
    "tile": tile,
    "unflatten": unflatten,
    "unstack": unstack,
}
