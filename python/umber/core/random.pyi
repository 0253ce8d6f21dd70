# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.

"""Random numbers from keys (threefry2x32), or from the global state."""
from typing import Any
from umber.core import _DType, _Operand, _Shape, _StreamOrDevice, array


state: _RandomState


class _RandomState:
    """The global key, as a sequence of one array that `compile` can capture."""
    __array_state__: bool
    def __delitem__(self, index: int) -> None: ...
    def __getitem__(self, index: int) -> Any: ...
    def __len__(self) -> int: ...
    def __setitem__(self, index: int, value: Any) -> None: ...


def bernoulli(
    p: _Operand = 0.5,
    shape: _Shape | None = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Bools that are true with probability `p`."""


def categorical(
    logits: _Operand,
    axis: int = ...,
    shape: _Shape | None = None,
    num_samples: int | None = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Indices drawn with the probabilities that `softmax(logits)` gives along `axis`, as uint32.

    `shape` is the whole shape of the result, `num_samples` adds a last axis; at most one may be given.
    """


def gumbel(
    shape: _Shape = [],
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Numbers of the standard Gumbel distribution."""


def key(seed: int) -> array:
    """A key from a seed: two words, uint32."""


def laplace(
    shape: _Shape = [],
    dtype: _DType = None,
    loc: float = 0.0,
    scale: float = 1.0,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Numbers of the Laplace distribution with mean `loc` and scale `scale`."""


def normal(
    shape: _Shape = [],
    dtype: _DType = None,
    loc: _Operand | None = None,
    scale: _Operand | None = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Normally distributed numbers of mean `loc` and standard deviation `scale`."""


def permutation(
    x: int | array,
    axis: int = 0,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """A random order of `0..x` for an integer `x`; of an array, its parts along `axis` in a random order."""


def randint(
    low: _Operand,
    high: _Operand,
    shape: _Shape = [],
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Integers in `[low, high)`."""


def seed(seed: int) -> None:
    """Set the global key from a seed."""


def split(key: array, num: int = 2, stream: _StreamOrDevice = None) -> array:
    """`num` keys from one."""


def truncated_normal(
    lower: _Operand,
    upper: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Normally distributed numbers that lie between `lower` and `upper`."""


def uniform(
    low: _Operand = 0,
    high: _Operand = 1,
    shape: _Shape = [],
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Uniform numbers in `[low, high)`."""
