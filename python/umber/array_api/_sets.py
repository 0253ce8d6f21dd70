"""Set functions: indices and counts have the default index dtype."""

from __future__ import annotations

from typing import NamedTuple

import umber.core as mx
from umber._errors import guard

from ._index import index


class UniqueAllResult(NamedTuple):
    """What `unique_all` answers."""

    values: mx.array
    indices: mx.array
    inverse_indices: mx.array
    counts: mx.array


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` answers."""

    values: mx.array
    counts: mx.array


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` answers."""

    values: mx.array
    inverse_indices: mx.array


def unique_all(x: mx.array, /) -> UniqueAllResult:
    """The distinct elements: where each is first, which of them each is, how often it occurs.

    They rise; every not-a-number counts for itself. `x` is evaluated.
    """
    values, *places = mx.unique_all(x)
    return UniqueAllResult(values, *map(index, places))


def unique_counts(x: mx.array, /) -> UniqueCountsResult:
    """The distinct elements and how often each occurs; every not-a-number counts for itself."""
    values, counts = mx.unique_counts(x)
    return UniqueCountsResult(values, index(counts))


def unique_inverse(x: mx.array, /) -> UniqueInverseResult:
    """The distinct elements and which of them each element of `x` is."""
    values, inverse = mx.unique_inverse(x)
    return UniqueInverseResult(values, index(inverse))


guard({name: value for name, value in globals().items() if name.startswith("unique")})
