"""Random index expressions as NumPy takes them: integers, slices, None, ..., arrays and masks.

`cases` draws a shape and an index for it; `for_umber` turns NumPy's arrays in it into umber's.
"""

from collections.abc import Sequence

import numpy as np
import umber.core as mx
from hypothesis import strategies as st

# Shapes of index arrays that broadcast together, in turn.
PICKS = (
    ((2,),),
    ((3, 1), (1, 2)),
    ((1,), (3,)),
    ((0,),),
    ((2, 2), (2,), (1, 2)),
    ((),),
    ((2,), ()),
)
INDEX_DTYPES = ("int8", "uint8", "int32", "uint32", "int64", "uint64")


LENGTHS = st.integers(0, 5)


def shapes(lengths=LENGTHS, axes: tuple[int, int] = (1, 4)):
    """Shapes with as many axes as said."""
    return st.lists(lengths, min_size=axes[0], max_size=axes[1]).map(tuple)


def filled(shape: Sequence[int], dtype: str = "int32") -> np.ndarray:
    """Different elements, as far as the dtype has them."""
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


@st.composite
def slices(draw, size: int):
    """Any slice, inside or outside of the axis, forwards or backwards."""
    place = st.none() | st.integers(-size - 2, size + 2)
    step = st.none() | st.sampled_from([1, 2, 3, -1, -2, -4])
    return slice(draw(place), draw(place), draw(step))


def places(size: int):
    """Integers inside of the axis, counted from either end."""
    return st.integers(-size, size - 1)


@st.composite
def index_arrays(draw, size: int, shape: Sequence[int]):
    """An array of places, of any integer dtype."""
    name = draw(st.sampled_from(INDEX_DTYPES))
    inside = st.integers(0, size - 1) if name.startswith("u") else places(size)
    count = int(np.prod(shape))
    drawn = draw(st.lists(inside, min_size=count, max_size=count))
    return np.array(drawn, dtype=name).reshape(shape)


@st.composite
def masks(draw, shape: Sequence[int], count: int | None = None):
    """A bool array; with so many true elements, or with any number of them."""
    size = int(np.prod(shape))
    if count is None:
        drawn = draw(st.lists(st.booleans(), min_size=size, max_size=size))
        return np.array(drawn, dtype=bool).reshape(shape)
    order = draw(st.permutations(range(size)))
    mask = np.zeros(size, bool)
    mask[order[:count]] = True
    return mask.reshape(shape)


@st.composite
def basic(draw, shape: Sequence[int]):
    """Integers, slices, None and one ellipsis, for a shape."""
    used = draw(st.integers(0, len(shape)))
    parts = []
    for size in shape[:used]:
        integers = [places(size)] if size else []
        parts.append(draw(st.one_of(slices(size), *integers)))
    if used == len(shape) or draw(st.booleans()):
        spot = draw(st.integers(0, len(parts)))
        # What stands after the ellipsis counts from the last axis.
        parts = [*parts[:spot], ...] if spot < len(parts) else [*parts, ...]
    return with_new_axes(draw, parts)


def with_new_axes(draw, parts: list):
    """The parts with None put in at up to two places."""
    parts = list(parts)
    for _ in range(draw(st.integers(0, 2))):
        parts.insert(draw(st.integers(0, len(parts))), None)
    return tuple(parts)


@st.composite
def advanced(draw, shape: Sequence[int], with_masks: bool = True):
    """Index arrays (they broadcast together) and masks on some axes, slices or integers on others.

    No axis of the shape is empty. A mask may cover several axes; beside index arrays it has as many
    true elements as they have.
    """
    picks = draw(st.sampled_from(PICKS))
    kinds = [draw(st.sampled_from("aamsi" if with_masks else "aasi")) for _ in shape]
    only_masks = with_masks and "a" not in kinds and kinds.count("m") == 1
    parts, axis, count = [], 0, 0
    while axis < len(shape):
        kind, size = kinds[axis], shape[axis]
        if kind == "m" and only_masks:
            covered = shape[axis : axis + draw(st.integers(1, len(shape) - axis))]
            parts.append(draw(masks(covered)))
            axis += len(covered)
            continue
        if kind == "m":
            # Masks meet index arrays as one axis of places: two, or one that broadcasts.
            picks = draw(st.sampled_from((((2,),), ((1,),), ((3, 2), (2,)))))
            parts.append(draw(masks((size,), 2 if size >= 2 else 1)))
        elif kind == "a":
            parts.append(None)
        else:
            parts.append(draw(slices(size) if kind == "s" else places(size)))
        axis += 1
    for axis, part in enumerate(parts):
        if part is None:
            parts[axis] = draw(index_arrays(shape[axis], picks[count % len(picks)]))
            count += 1
    spots = [i for i in range(len(parts) + 1) if draw(st.booleans())][:1]
    if spots:
        parts.insert(spots[0], ...)
    return with_new_axes(draw, parts)


@st.composite
def cases(draw, with_masks: bool = True):
    """A shape and an index for it."""
    if draw(st.integers(0, 2)) == 0:
        shape = draw(shapes())
        return shape, draw(basic(shape))
    shape = draw(shapes(st.integers(1, 5), (1, 3)))
    return shape, draw(advanced(shape, with_masks))


def for_umber(index):
    """NumPy's arrays in an index as umber's."""
    if isinstance(index, tuple):
        return tuple(for_umber(part) for part in index)
    return mx.array(index) if isinstance(index, np.ndarray) else index


def is_valid(shape: Sequence[int], index) -> bool:
    """Whether NumPy takes the index: masks and index arrays meet in one shape."""
    try:
        np.zeros(shape, bool)[index]
    except IndexError:
        return False
    return True


def names_twice(shape: Sequence[int], index) -> bool:
    """Whether some element is picked more than once."""
    hits = np.zeros(shape, int)
    np.add.at(hits, index, 1)
    return hits.max(initial=0) > 1
