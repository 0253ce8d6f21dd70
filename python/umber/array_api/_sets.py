"""Set functions, whose indices and counts are int64."""

from __future__ import annotations

from typing import NamedTuple

import umber.core as mx
from umber._errors import guard

from ._index import index


class UniqueAllResult(NamedTuple):
    """The result of `unique_all`."""

    values: mx.array
    indices: mx.array
    inverse_indices: mx.array
    counts: mx.array


class UniqueCountsResult(NamedTuple):
    """The result of `unique_counts`."""

    values: mx.array
    counts: mx.array


class UniqueInverseResult(NamedTuple):
    """The result of `unique_inverse`."""

    values: mx.array
    inverse_indices: mx.array


def unique_all(x: mx.array, /) -> UniqueAllResult:
    """Distinct elements with first indices, inverse indices and counts.

    Parameters
    ----------
    x : array
        The array. It is evaluated, since its values decide the shape.

    Returns
    -------
    UniqueAllResult
        ``values``, ascending; ``indices`` of the first occurrences in the flattened `x`;
        ``inverse_indices`` of the elements of `x` in ``values``; ``counts``. Every NaN is distinct.
    """
    values, *indices = mx.unique_all(x)
    return UniqueAllResult(values, *map(index, indices))


def unique_counts(x: mx.array, /) -> UniqueCountsResult:
    """Distinct elements and their counts.

    Parameters
    ----------
    x : array
        The array. It is evaluated, since its values decide the shape.

    Returns
    -------
    UniqueCountsResult
        ``values``, ascending, and ``counts``. Every NaN is distinct.
    """
    values, counts = mx.unique_counts(x)
    return UniqueCountsResult(values, index(counts))


def unique_inverse(x: mx.array, /) -> UniqueInverseResult:
    """Distinct elements and the index of every element among them.

    Parameters
    ----------
    x : array
        The array. It is evaluated, since its values decide the shape.

    Returns
    -------
    UniqueInverseResult
        ``values``, ascending, and ``inverse_indices`` of the shape of `x`. Every NaN is distinct.
    """
    values, inverse = mx.unique_inverse(x)
    return UniqueInverseResult(values, index(inverse))


guard({name: value for name, value in globals().items() if name.startswith("unique")})
