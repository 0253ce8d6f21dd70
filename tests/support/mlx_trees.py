"""Trees of arrays of umber and of MLX side by side."""

import numpy as np
import umber.core as mx
from umber.utils import tree_flatten, tree_map


def numpy_of(x) -> np.ndarray:
    """Values of an array of either framework, those of halves as float32."""
    is_half = str(x.dtype).split(".")[-1] in ("float16", "bfloat16")
    if not is_half:
        return np.array(x)
    return np.array(x.astype(mx.float32 if isinstance(x, mx.array) else _mlx().float32))


def to_mlx(tree):
    """The same tree of arrays in MLX."""
    return tree_map(lambda x: _mlx().array(np.array(x)), tree)


def form(x) -> tuple:
    """Shape and name of the dtype."""
    return x.shape, str(x.dtype).split(".")[-1]


def assert_same(ours, theirs, tolerance) -> None:
    """The same places, shapes and dtypes, and values that are near."""
    ours, theirs = (dict(tree_flatten(tree)) for tree in (ours, theirs))
    assert {path: form(x) for path, x in ours.items()} == {
        path: form(x) for path, x in theirs.items()
    }
    for path, x in ours.items():
        got, want = numpy_of(x), numpy_of(theirs[path])
        # What is added up is larger than what is left after cancellation.
        size = max(1.0, float(np.abs(want).max())) if want.size else 1.0
        np.testing.assert_allclose(
            got, want, rtol=tolerance.relative, atol=tolerance.absolute * size, err_msg=path
        )


def _mlx():
    import mlx.core

    return mlx.core
