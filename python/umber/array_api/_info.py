"""What can be asked of the namespace itself."""

from __future__ import annotations

import umber.core as mx

from ._index import INDEX


class ArrayNamespaceInfo(mx.ArrayNamespaceInfo):
    """What the namespace is capable of, and which devices and dtypes it has."""

    def default_dtypes(self, *, device: mx.Device | None = None) -> dict[str, mx.Dtype]:
        """The dtypes of arrays where none is given, by kind; "indexing" is that of indices."""
        return {**super().default_dtypes(device=device), "indexing": INDEX}
