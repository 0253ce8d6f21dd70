"""Sorting functions: indices have the default index dtype."""

from __future__ import annotations

import umber.core as mx
from umber._errors import guard

from ._index import index


def argsort(
    x: mx.array, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> mx.array:
    """The indices that sort `x` along `axis`: equal elements in their order, not-a-number last."""
    return index(mx.argsort(x, axis, descending=descending, stable=stable))


guard(globals())
