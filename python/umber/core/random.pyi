# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.

"""Random numbers from keys (threefry2x32), or from the global state."""
from collections.abc import Sequence
from typing import Any
from umber.core import _DType, _Operand, _Shape, _StreamOrDevice, array


state: _RandomState | Sequence[array]


class _RandomState:
    """The global key, as a sequence of one array that `compile` can capture."""
    __array_state__: bool
    def __delitem__(self, index: int) -> None: ...
    def __getitem__(self, index: int) -> Any: ...
    def __len__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]:
        """A copy or a pickle is a list of the key, as it is now."""

    def __setitem__(self, index: int, value: Any) -> None: ...


def bernoulli(
    p: _Operand = 0.5,
    shape: _Shape | None = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Bools that are true with probability `p`."""


def beta(
    a: _Operand,
    b: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Numbers of the beta distribution with parameters `a` and `b`, in `[0, 1]`; no gradient flows to them."""


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


def choice(
    a: int | _Operand,
    shape: _Shape = [],
    replace: bool = True,
    p: _Operand | None = None,
    axis: int = 0,
    key: array | None = None,
    stream: _StreamOrDevice = None,
    *,
    size: int | None = None,
) -> array:
    """Parts of `a` along `axis` (or of `0..a` for an integer, as uint32), drawn at random into the axes of `shape`.

    `replace` says whether a part can be drawn more than once. `p` are probabilities of the parts, of shape
    `(length,)`, which sum to one (Efraimidis and Spirakis, 2006, without replacement); inside `vmap` and `compile`,
    where they have no values, they count in proportion. Raises `ValueError` if there are not enough parts, without
    replacement not enough of a probability above zero.
    """


def dirichlet(
    alpha: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Probabilities of the Dirichlet distribution: along the last axis they sum to one.

    `alpha` has the parameters along its last axis; `shape` is that of the result without it. An element that is not
    positive raises `ValueError`; where `alpha` is not computed yet its draws are NaN. No gradient flows to `alpha`.
    """


def exponential(
    shape: _Shape = [],
    dtype: _DType = None,
    scale: _Operand | None = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Numbers of the exponential distribution with mean `scale`."""


def gamma(
    a: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    scale: _Operand | None = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Numbers of the gamma distribution with shape parameter `a` and the given scale, of mean `a * scale`.

    `shape` is that of the result, by default that of the parameters. Elements whose `a` is not positive are NaN.
    The scale has a gradient, `a` has none. (Marsaglia and Tsang, ACM TOMS 26, 2000.)
    """


def gumbel(
    shape: _Shape = [],
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Numbers of the standard Gumbel distribution."""


def key(seed: int) -> array:
    """A key from a seed (an integer from 0 to 2**64 - 1): two words, uint32."""


def laplace(
    shape: _Shape = [],
    dtype: _DType = None,
    loc: _Operand = 0.0,
    scale: _Operand = 1.0,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Numbers of the Laplace distribution with mean `loc` and scale `scale`."""


def multivariate_normal(
    mean: _Operand,
    cov: _Operand,
    shape: _Shape = [],
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Normal vectors with a mean `[..., d]` and a covariance `[..., d, d]`; of shape `shape + [d]`.

    `shape` broadcasts with the other axes of both. The covariance should be symmetric and positive semi-definite, which
    is not checked; its symmetric square root comes from a singular value decomposition.
    """


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


def poisson(
    lam: _Operand = 1.0,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Counts of the Poisson distribution with mean `lam`, as an integer (int32 by default) or real dtype.

    Elements whose `lam` is negative or NaN are -1, and counts that the dtype cannot hold are its greatest number.
    (Hörmann, Insurance: Mathematics and Economics 12, 1993.)
    """


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
    """Set the global key from a seed (an integer from 0 to 2**64 - 1)."""


def shuffle(
    x: _Operand,
    axis: int = 0,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Put the parts of `x` along `axis` into random order, in place, and answer it. What is not an array of umber stays as it
    is: the answer is a copy.
    """


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
