"""The inspection class of the namespace."""

from __future__ import annotations

import umber.core as mx

from ._index import INDEX


class ArrayNamespaceInfo(mx.ArrayNamespaceInfo):
    """Capabilities, devices and dtypes of the namespace."""

    def default_dtypes(self, *, device: mx.Device | None = None) -> dict[str, mx.Dtype]:
        """Default dtypes by kind; ``"indexing"`` is the dtype of indices."""
        return {**super().default_dtypes(device=device), "indexing": INDEX}
