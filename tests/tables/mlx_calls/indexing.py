"""Reading and writing along axes."""

import numpy as np

from mlx_calls.draw import BOOL, FLOATS, SIGNED, UNSIGNED, Given, Item


def indices(draw, shape, size, dtypes=("int32", "int64", "uint32", "int16", "uint8")):
    """Indices into an axis of this size; signed ones count from both ends."""
    dtype = draw.pick(dtypes)
    low = -size if dtype in SIGNED else 0
    return Given(draw.rng.integers(low, max(size, low + 1), shape).astype(dtype), dtype)


def take(draw):
    a = draw.array(draw.shape(1, 3, zero=0.0))
    axis = draw.pick([None, draw.axis(a.shape)])
    size = int(np.prod(a.shape)) if axis is None else a.shape[axis]
    index = indices(draw, draw.shape(0, 2), size)
    index = draw.pick([index, index, draw.int(-size, size - 1)])
    return draw.call(a, must={"indices": index, "axis": axis})


def along(draw):
    a = draw.array(draw.shape(1, 3, zero=0.0))
    axis = draw.axis(a.shape)
    shape = list(a.shape)
    shape[axis] = draw.int(0, 4)
    if draw.chance(0.2):
        flat = indices(draw, (draw.int(0, 4),), int(np.prod(a.shape)), ("int32", "uint32"))
        return a, flat, None
    return a, indices(draw, tuple(shape), a.shape[axis], ("int32", "int64", "uint32")), axis


def take_along_axis(draw):
    a, index, axis = along(draw)
    return draw.call(a, must={"indices": index, "axis": axis})


def put_along_axis(draw):
    a = draw.array(draw.shape(1, 3, zero=0.0))
    axis = draw.axis(a.shape)
    shape = list(a.shape)
    shape[axis] = draw.int(1, shape[axis])
    # Each place at most once, since the order of writes is not promised.
    order = np.argsort(draw.rng.random(a.shape), axis=axis).astype("int32")
    index = Given(np.take(order, range(shape[axis]), axis), "int32")
    values = draw.array(draw.pick([tuple(shape), ()]), a.dtype)
    return draw.call(a, must={"indices": index, "values": values, "axis": axis})


def window(draw):
    a = draw.array(draw.shape(1, 3, zero=0.0))
    axes = [int(axis) for axis in draw.rng.permutation(len(a.shape))[: draw.int(1, len(a.shape))]]
    sizes = [draw.int(1, a.shape[axis]) for axis in axes]
    start = [draw.int(0, a.shape[axis] - size) for axis, size in zip(axes, sizes, strict=True)]
    return a, Given(np.array(start, "int32"), "int32"), axes, sizes


def slice_(draw):
    a, start, axes, sizes = window(draw)
    full = [sizes[axes.index(i)] if i in axes else size for i, size in enumerate(a.shape)]
    return draw.call(a, must={"start_indices": start, "axes": axes, "slice_size": full})


def slice_update(draw):
    a, start, axes, sizes = window(draw)
    full = [sizes[axes.index(i)] if i in axes else size for i, size in enumerate(a.shape)]
    update = draw.array(tuple(full), a.dtype)
    return draw.call(a, must={"update": update, "start_indices": start, "axes": axes})


def basic_part(draw, size):
    way = draw.int(0, 3)
    if way == 0 and size:
        return draw.int(-size, size - 1)
    step = draw.pick([None, 1, 2, -1, -2])
    ends = [None, *range(-size - 2, size + 3)]
    return slice(draw.pick(ends), draw.pick(ends), step)


def expression(draw, shape, arrays=True):
    """An index: integers, slices, `None`, an ellipsis and, at times, integer arrays."""
    parts = []
    spread = False
    for position, size in enumerate(shape):
        if draw.chance(0.1):
            parts.append(None)
        if not spread and draw.chance(0.1):
            parts.append(...)
            spread = True
            break
        if draw.chance(0.15):
            break
        if arrays and size and draw.chance(0.2):
            parts.append(indices(draw, draw.pick([(), (2,), (2,), (3, 1)])[-1:], size))
        else:
            parts.append(basic_part(draw, size))
        del position
    shapes = {part.shape for part in parts if isinstance(part, Given)}
    if len(shapes) > 1:
        shape_of = max(shapes)
        parts = [
            Given(np.broadcast_to(part.values.ravel()[:1], shape_of).copy(), part.dtype)
            if isinstance(part, Given)
            else part
            for part in parts
        ]
    if len(parts) == 1 and draw.chance():
        return Item(parts[0])
    return Item(tuple(parts))


def getitem(draw):
    a = draw.array(draw.shape(1, 3))
    return draw.call(a, expression(draw, a.shape))


def setitem(draw):
    a = draw.array(draw.shape(1, 3))
    key = expression(draw, a.shape, arrays=False)
    with_none = key.parts if isinstance(key.parts, tuple) else (key.parts,)
    shape = np.empty(a.shape)[with_none].shape
    value = draw.pick(
        [draw.number(0, 3, "bi"), draw.array(shape, a.dtype), draw.array((), a.dtype)]
    )
    return draw.call(a, key, value)


def masked_setitem(draw):
    a = draw.array(draw.shape(1, 3, zero=0.0), FLOATS + UNSIGNED)
    depth = draw.int(1, len(a.shape))
    mask = draw.array(a.shape[:depth], BOOL)
    return draw.call(a, Item(mask), draw.array((), a.dtype))


CALLS = {
    "put_along_axis": put_along_axis,
    "slice": slice_,
    "slice_update": slice_update,
    "take": take,
    "take_along_axis": take_along_axis,
}
