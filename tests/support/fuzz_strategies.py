"""Random arrays in random layouts, random indices: each as umber's and as NumPy's."""

from dataclasses import dataclass

import numpy as np
import umber.core as mx
from arrays import FLOATS, INTEGERS, kind_of, represent, to_umber
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from random_cases import examples


def fuzzed(few: int):
    """Settings of a fuzz test that normally tries `few` examples."""
    return settings(
        max_examples=examples(few),
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@dataclass
class Twin:
    """The same array twice."""

    ours: mx.array
    theirs: np.ndarray
    dtype: str

    def __repr__(self) -> str:
        return f"{self.dtype}{self.theirs.shape}:{self.theirs.tolist()}"


def shapes(low=0, high=4, most=5, zero=True):
    """Shapes of `low` to `high` axes; some without elements."""
    sizes = st.integers(0 if zero else 1, most)
    return st.lists(sizes, min_size=low, max_size=high).map(tuple)


SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan)


@st.composite
def values(draw, shape, dtype, low=-4, high=4, special=False):
    """NumPy values of a dtype from a drawn seed, which shrinks faster than elements."""
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    kind = kind_of(dtype)
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in "iu":
        start = max(low, 0) if kind == "u" else low
        return np.asarray(rng.integers(int(np.ceil(start)), int(high) + 1, shape)).astype(dtype)
    numbers = np.asarray(rng.uniform(low, high, shape))
    if special and draw(st.booleans()):
        numbers = np.where(rng.random(shape) < 0.3, rng.choice(SPECIAL, shape), numbers)
    if kind == "c":
        numbers = numbers + 1j * np.asarray(rng.uniform(low, high, shape))
    return np.asarray(represent(numbers, dtype))


def some_slice(size: int):
    """Any slice of an axis, its ends out of range too."""
    ends = st.none() | st.integers(-size - 2, size + 2)
    steps = st.sampled_from([None, 1, 2, 3, -1, -2, -3])
    return st.builds(slice, ends, ends, steps)


@st.composite
def rearranged(draw, twin: Twin):
    """A view of a twin: transposed, cut, reversed, broadcast, with or without copies before."""
    ours, theirs = twin.ours, twin.theirs
    for _ in range(draw(st.integers(0, 2))):
        way = draw(st.sampled_from(["transpose", "slice", "reverse", "broadcast", "expand"]))
        if way == "transpose":
            axes = draw(st.permutations(range(theirs.ndim)))
            ours, theirs = mx.transpose(ours, axes), theirs.transpose(axes)
        elif way == "slice":
            window = tuple(draw(some_slice(size)) for size in theirs.shape)
            ours, theirs = ours[window], theirs[window]
        elif way == "reverse":
            window = tuple(slice(None, None, -1) for _ in theirs.shape)
            ours, theirs = ours[window], theirs[window]
        elif way == "broadcast" and theirs.ndim < 4:
            shape = (draw(st.integers(0, 3)), *theirs.shape)
            ours, theirs = mx.broadcast_to(ours, shape), np.broadcast_to(theirs, shape)
        elif way == "expand" and theirs.ndim < 4:
            axis = draw(st.integers(0, theirs.ndim))
            ours, theirs = mx.expand_dims(ours, axis), np.expand_dims(theirs, axis)
    return Twin(ours, np.asarray(theirs), twin.dtype)


@st.composite
def twins(draw, dtypes=INTEGERS + FLOATS, shape=None, low=-4, high=4, special=False, layouts=True):
    """An array of one of these dtypes, in any layout."""
    dtype = draw(st.sampled_from(dtypes))
    theirs = draw(values(draw(shapes() if shape is None else shape), dtype, low, high, special))
    twin = Twin(to_umber(theirs, dtype), theirs, dtype)
    return draw(rearranged(twin)) if layouts else twin


def axis_of(shape):
    """One axis, counted from either end."""
    return st.integers(-len(shape), len(shape) - 1)


@st.composite
def axes_of(draw, shape):
    """`None`, one axis, or several."""
    if not shape or draw(st.booleans()):
        return None
    if draw(st.booleans()):
        return draw(axis_of(shape))
    some = draw(st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=1))
    return tuple(axis - len(shape) if draw(st.booleans()) else axis for axis in some)


@st.composite
def indices(draw, shape, arrays=True, masks=True, unique=False):
    """Two index expressions that say the same: with umber's arrays and with NumPy's."""
    ours, theirs = [], []
    common = draw(shapes(0, 2, 3)) if arrays else ()
    position, spread, used, masked = 0, False, False, False
    while position < len(shape):
        size = shape[position]
        way = draw(st.sampled_from(["integer", "slice", "slice", "new", "array", "mask", "end"]))
        if way == "new" and len(ours) < 5:
            ours.append(None)
            theirs.append(None)
            continue
        if way == "mask" and masks and not used and not unique:
            depth = draw(st.integers(1, len(shape) - position))
            mask = draw(values(shape[position : position + depth], "bool_"))
            ours.append(mx.array(mask))
            theirs.append(mask)
            position, used, masked = position + depth, True, True
            continue
        if way == "end" and not spread:
            spread = True
            if draw(st.booleans()):
                ours.append(...)
                theirs.append(...)
                position = draw(st.integers(position, len(shape)))
                continue
            break
        if way == "integer" and size:
            part = draw(st.integers(-size, size - 1))
            ours.append(part)
            theirs.append(part)
        elif way == "array" and arrays and size and not (used and (unique or masked)):
            rng = np.random.default_rng(draw(st.integers(0, 1000)))
            if unique:
                part = rng.permutation(size)[: draw(st.integers(0, size))]
            else:
                part = rng.integers(-size, size, draw(st.sampled_from([common, common[-1:], ()])))
            dtype = draw(st.sampled_from(["int32", "int64", "int8"]))
            ours.append(draw(st.sampled_from([mx.array(part.astype(dtype)), part.tolist()])))
            if isinstance(ours[-1], list) and part.size == 0:
                ours[-1] = mx.array(part.astype(dtype))
            theirs.append(part.astype(dtype))
            used = True
        else:
            part = draw(some_slice(size))
            ours.append(part)
            theirs.append(part)
        position += 1
    if len(ours) == 1 and draw(st.booleans()):
        return ours[0], theirs[0]
    return tuple(ours), tuple(theirs)
