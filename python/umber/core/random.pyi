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
        """Reduce to a list of the current key, for copying and pickling."""

    def __setitem__(self, index: int, value: Any) -> None: ...


def bernoulli(
    p: _Operand = 0.5,
    shape: _Shape | None = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw booleans that are True with probability `p`.

    Parameters
    ----------
    p : array_like, optional
        Floating-point probabilities. Default: 0.5.
    shape : int or sequence of int, optional
        Shape of the result, to which `p` broadcasts. Default: the shape of `p`.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        bool.

    Raises
    ------
    ValueError
        If `p` is not floating point, `p` does not broadcast to `shape`,
        the shape has a negative length, or `key` is not a key.

    See Also
    --------
    randint, categorical

    Notes
    -----
    Probabilities above 1 give True, those below 0 and NaN give False.

    Examples
    --------
    >>> mx.random.bernoulli(mx.array([0.0, 1.0]))
    array([False, True], dtype=bool)
    """


def beta(
    a: _Operand,
    b: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw from the beta distribution with parameters `a` and `b`.

    Parameters
    ----------
    a, b : array_like
        Parameters, above 0.
    shape : int or sequence of int, optional
        Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `dtype` in ``[0, 1]``. Elements whose parameters are not positive are NaN.

    Raises
    ------
    ValueError
        If `a` or `b` is a number that is not positive, the dtype is not real floating point, the parameters do not
        broadcast to `shape`, the shape has a negative length, or `key` is not a key.

    See Also
    --------
    gamma, dirichlet

    Notes
    -----
    Computed as ``x / (x + y)`` of gamma draws `x` and `y` with parameters `a` and `b`, from their logarithms, so that
    small parameters do not underflow. No gradient flows to `a` and `b`.

    Examples
    --------
    >>> mx.random.beta(2.0, 6.0, (2,), key=mx.random.key(0))
    array([0.125141, 0.463742], dtype=float32)
    """


def binomial(
    n: _Operand,
    p: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw the number of successes in `n` trials with probability `p` each.

    Parameters
    ----------
    n : array_like
        Number of trials, at least 0; rounded down to an integer.
    p : array_like
        Probability of success, from 0 to 1.
    shape : int or sequence of int, optional
        Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
    dtype : Dtype, optional
        Integer or real floating-point dtype of the result. Default: int32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Counts of `dtype`. Elements whose `n` is negative or NaN, or whose `p` is not from 0 to 1, are -1, which wraps in
        unsigned dtypes. Counts above the maximum of an integer dtype become the maximum.

    Raises
    ------
    ValueError
        If `n` is a number that is negative, NaN or above the maximum of an integer dtype, `p` is a number that is not from 0
        to 1, the dtype is bool or complex, the parameters do not
        broadcast to `shape`, the shape has a negative length, or `key` is not a key.

    See Also
    --------
    multinomial, bernoulli, poisson, geometric

    Notes
    -----
    Drawn by inversion for small means, and by transformed rejection for others (W. Hörmann, Journal of Statistical
    Computation and Simulation 46, 1993). The gradient is zero.

    Examples
    --------
    >>> mx.random.binomial(10, mx.array([0.0, 0.3, 1.0]), key=mx.random.key(0))
    array([0, 4, 10], dtype=int32)
    """


def categorical(
    logits: _Operand,
    axis: int = ...,
    shape: _Shape | None = None,
    num_samples: int | None = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw class indices with probabilities ``softmax(logits)`` along an axis.

    Parameters
    ----------
    logits : array_like
        Unnormalised log-probabilities.
    axis : int, optional
        Axis of the classes. Default: -1.
    shape : int or sequence of int, optional
        Shape of the result, to which the shape of `logits` without `axis` broadcasts. Default: the latter.
    num_samples : int, optional
        Number of draws, along a new last axis. At most one of `shape` and `num_samples` may be given. Default: one
        draw.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Class indices as uint32.

    Raises
    ------
    ValueError
        If both `shape` and `num_samples` are given, there are no classes, the shapes do not broadcast,
        the shape has a negative length, or `key` is not a key.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    choice, gumbel, bernoulli

    Notes
    -----
    With a single set of logits and `shape` or `num_samples`, the cumulative sum of ``exp(logits - max(logits))`` is
    inverted; otherwise the result is ``argmax(logits + gumbel)``.

    Examples
    --------
    >>> mx.random.categorical(mx.array([-mx.inf, 0.0, -mx.inf]), num_samples=4)
    array([1, 1, 1, 1], dtype=uint32)
    """


def chisquare(
    df: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw from the chi-square distribution with `df` degrees of freedom.

    Parameters
    ----------
    df : array_like
        Degrees of freedom, above 0, which is the mean.
    shape : int or sequence of int, optional
        Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `dtype`. Elements whose `df` is not positive are NaN.

    Raises
    ------
    ValueError
        If `df` is a number that is not positive, the dtype is not real floating point, the parameters do not
        broadcast to `shape`, the shape has a negative length, or `key` is not a key.

    See Also
    --------
    gamma, f, t

    Notes
    -----
    Computed as twice a gamma draw with shape parameter ``df / 2``. No gradient flows to `df`.

    Examples
    --------
    >>> mx.random.chisquare(3.0, (2,), key=mx.random.key(0))
    array([1.95328, 4.77212], dtype=float32)
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
    """Draw integers or slices of an array at random, with or without replacement.

    Parameters
    ----------
    a : int or array_like
        An integer `n` stands for ``arange(n)`` as uint32; of an array, slices along `axis` are drawn.
    shape : int or sequence of int, optional
        Shape of the draws, which takes the place of `axis` in the result. Default: a single draw.
    replace : bool, optional
        Allow an item to be drawn more than once. Default: True.
    p : array_like, optional
        Probabilities of the items, which sum to 1. Default: uniform.
    axis : int, optional
        Axis of the items. Default: 0.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.
    size : int or sequence of int, optional
        NumPy's name of `shape`. Only one of them may be given.

    Returns
    -------
    array
        uint32 for an integer `a`, else the dtype of `a`.

    Raises
    ------
    ValueError
        If there are no items, there are too few without replacement (of non-zero probability), or `p` has another shape
        or does not sum to 1.
    TypeError
        If both `shape` and `size` are given.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    permutation, categorical, randint

    Notes
    -----
    Without replacement, weighted items are those with the largest ``log(p) + gumbel`` (P. S. Efraimidis and P. G.
    Spirakis, Information Processing Letters 97, 2006). In `vmap` and `compile`, where the values of `p` are unknown,
    its sum is not checked and the probabilities are normalised.

    Examples
    --------
    >>> mx.random.choice(52, (5,), replace=False, key=mx.random.key(0))
    array([4, 17, 41, 51, 12], dtype=uint32)
    >>> mx.random.choice(mx.array([10, 20, 30]), (2,), p=[0.0, 0.0, 1.0])
    array([30, 30], dtype=int32)
    """


def dirichlet(
    alpha: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw probability vectors from the Dirichlet distribution.

    Parameters
    ----------
    alpha : array_like
        Parameters along the last axis, above 0.
    shape : int or sequence of int, optional
        Shape of the result without its last axis. Default: that of `alpha`.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `dtype` that sum to 1 along the last axis.

    Raises
    ------
    ValueError
        If an element of `alpha` is not positive, `alpha` is 0-D, the dtype is not real floating point, `alpha` does not
        broadcast, the shape has a negative length, or `key` is not a key.

    See Also
    --------
    beta, gamma

    Notes
    -----
    Computed as gamma draws with parameters `alpha` divided by their sum. If `alpha` has not been evaluated, its
    elements are not checked, and invalid ones give NaN. No gradient flows to `alpha`.

    Examples
    --------
    >>> x = mx.random.dirichlet(mx.array([1.0, 2.0, 5.0]), (4,))
    >>> x.shape, mx.allclose(x.sum(axis=-1), mx.ones(4)).item()
    ((4, 3), True)
    """


def exponential(
    shape: _Shape | None = None,
    dtype: _DType = None,
    scale: _Operand | None = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw from the exponential distribution with mean `scale`.

    Parameters
    ----------
    shape : int or sequence of int, optional
        Shape of the result. Default: the shape of `scale`.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    scale : array_like, optional
        Mean, which broadcasts to `shape`. Default: 1.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `shape` and `dtype`, computed as ``-scale * log(1 - u)`` of a uniform `u`. Elements whose `scale` is
        negative are NaN.

    Raises
    ------
    ValueError
        If the dtype is not real floating point, `scale` is a negative number, `scale` does not broadcast to `shape`,
        the shape has a negative length, or `key` is not a key.

    See Also
    --------
    gamma, poisson, geometric

    Examples
    --------
    >>> mx.random.exponential((2,), scale=3.0, key=mx.random.key(0))
    array([0.73117, 4.89082], dtype=float32)
    """


def f(
    dfnum: _Operand,
    dfden: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw from the F distribution with `dfnum` and `dfden` degrees of freedom.

    Parameters
    ----------
    dfnum, dfden : array_like
        Degrees of freedom of the numerator and the denominator, above 0.
    shape : int or sequence of int, optional
        Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `dtype`. Elements whose parameters are not positive are NaN.

    Raises
    ------
    ValueError
        If `dfnum` or `dfden` is a number that is not positive, the dtype is not real floating point, the parameters do not
        broadcast to `shape`, the shape has a negative length, or `key` is not a key.

    See Also
    --------
    chisquare, t, beta

    Notes
    -----
    Computed as ``(x / dfnum) / (y / dfden)`` of chi-square draws `x` and `y`, from their logarithms, so that few degrees of
    freedom do not underflow. No gradient flows to the parameters.

    Examples
    --------
    >>> mx.random.f(3.0, 12.0, (2,), key=mx.random.key(0))
    array([0.342737, 2.5464], dtype=float32)
    """


def gamma(
    a: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    scale: _Operand | None = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw from the gamma distribution with shape parameter `a` and scale `scale`.

    Parameters
    ----------
    a : array_like
        Shape parameter, above 0. Its mean is ``a * scale``.
    shape : int or sequence of int, optional
        Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    scale : array_like, optional
        Scale. Default: 1.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `dtype`. Elements whose `a` is not positive or whose `scale` is negative are NaN.

    Raises
    ------
    ValueError
        If `a` is a number that is not positive, `scale` is a negative number, the dtype is not real floating point, the
        parameters do not broadcast to `shape`, the shape has a negative length, or `key` is not a key.

    See Also
    --------
    beta, chisquare, dirichlet, exponential

    Notes
    -----
    Drawn in float64 by rejection (G. Marsaglia and W. W. Tsang, ACM Transactions on Mathematical Software 26, 2000).
    Differentiable with respect to `scale`; `a` has no gradient.

    Examples
    --------
    >>> mx.random.gamma(2.5, (2,), key=mx.random.key(0))
    array([1.90364, 3.72197], dtype=float32)
    """


def geometric(
    p: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw the number of trials up to and including the first success.

    Parameters
    ----------
    p : array_like
        Probability of success, above 0 and at most 1.
    shape : int or sequence of int, optional
        Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
    dtype : Dtype, optional
        Integer or real floating-point dtype of the result. Default: int32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Counts of `dtype`, at least 1. Elements whose `p` is not above 0 and at most 1 are -1, which wraps in unsigned dtypes.
        Counts above the maximum of an integer dtype become the maximum.

    Raises
    ------
    ValueError
        If `p` is a number that is not above 0 and at most 1, the dtype is bool or complex, the parameters do not
        broadcast to `shape`, the shape has a negative length, or `key` is not a key.

    See Also
    --------
    binomial, exponential, bernoulli

    Notes
    -----
    Computed as ``floor(log(1 - u) / log(1 - p)) + 1`` of a uniform `u` in float64. The gradient is zero.

    Examples
    --------
    >>> mx.random.geometric(0.25, (3,), key=mx.random.key(0))
    array([3, 5, 4], dtype=int32)
    """


def gumbel(
    shape: _Shape = [],
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw from the standard Gumbel distribution: ``-log(-log(u))`` of a uniform `u`.

    Parameters
    ----------
    shape : int or sequence of int, optional
        Shape of the result. Default: a scalar.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `shape` and `dtype`.

    Raises
    ------
    ValueError
        If the dtype is not real floating point,
        the shape has a negative length, or `key` is not a key.

    See Also
    --------
    categorical

    Notes
    -----
    ``argmax(logits + gumbel)`` draws a class with probabilities ``softmax(logits)``.

    Examples
    --------
    >>> mx.random.gumbel((2,), key=mx.random.key(0))
    array([-0.425993, 1.52325], dtype=float32)
    """


def key(seed: int) -> array:
    """Make a random key from a seed.

    Parameters
    ----------
    seed : int
        Integer from 0 to ``2**64 - 1``.

    Returns
    -------
    array
        The upper and the lower 32 bits of the seed: uint32 of shape ``(2,)``.

    Raises
    ------
    ValueError
        If the seed is out of range.
    TypeError
        If the seed is not an integer.

    See Also
    --------
    split, seed

    Notes
    -----
    A draw depends only on its key, shape and dtype. The generator is Threefry 2x32 (J. K. Salmon et al., Parallel
    Random Numbers: As Easy as 1, 2, 3, 2011).

    Examples
    --------
    >>> mx.random.key(7)
    array([0, 7], dtype=uint32)
    """


def laplace(
    shape: _Shape = [],
    dtype: _DType = None,
    loc: _Operand = 0.0,
    scale: _Operand = 1.0,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw from the Laplace distribution with mean `loc` and scale `scale`.

    Parameters
    ----------
    shape : int or sequence of int, optional
        Shape of the result, which broadcasts with `loc` and `scale`. Default: a scalar.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    loc : array_like, optional
        Mean. Default: 0.0.
    scale : array_like, optional
        Scale. Default: 1.0.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `dtype` and of the broadcast shape.

    Raises
    ------
    ValueError
        If the dtype is not real floating point, `scale` is a negative number, the shapes do not broadcast,
        the shape has a negative length, or `key` is not a key.

    See Also
    --------
    normal, exponential

    Notes
    -----
    The density is ``exp(-abs(x - loc) / scale) / (2 * scale)``. Elements of an array `scale` are not checked: where they are
    negative, the draw is mirrored at `loc`.

    Examples
    --------
    >>> mx.random.laplace((3,), loc=5.0, scale=0.0)
    array([5, 5, 5], dtype=float32)
    """


def lognormal(
    sigma: _Operand = 1.0,
    shape: _Shape | None = None,
    dtype: _DType = None,
    mean: _Operand = 0.0,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw from the log-normal distribution, whose logarithm is normal.

    Parameters
    ----------
    sigma : array_like, optional
        Standard deviation of the logarithm. Default: 1.0.
    shape : int or sequence of int, optional
        Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    mean : array_like, optional
        Mean of the logarithm. Default: 0.0.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `dtype`. Elements whose `sigma` is negative are NaN.

    Raises
    ------
    ValueError
        If `sigma` is a negative number, the dtype is not real floating point, the parameters do not broadcast to `shape`,
        the shape has a negative length, or `key` is not a key.

    See Also
    --------
    normal, gamma

    Notes
    -----
    Computed as ``exp(mean + sigma * z)``, where `z` is the draw of `normal` with the same key. Differentiable with respect
    to both parameters.

    Examples
    --------
    >>> mx.random.lognormal(mx.array([0.0, 0.5]), mean=1.0, key=mx.random.key(0))
    array([2.71828, 4.17128], dtype=float32)
    """


def multinomial(
    n: _Operand,
    p: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw how often each category occurs in `n` trials with probabilities `p`.

    Parameters
    ----------
    n : array_like
        Number of trials, at least 0, which broadcasts with the leading axes of `p`; rounded down to an integer.
    p : array_like
        Probabilities of the categories along the last axis, which sum to 1.
    shape : int or sequence of int, optional
        Shape of the result without its last axis. Default: the broadcast shape of `n` and of `p` without its last axis.
    dtype : Dtype, optional
        Integer or real floating-point dtype of the result. Default: int32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Counts of `dtype` and shape ``(*shape, p.shape[-1])`` that sum to `n` along the last axis. Rows whose `n` is negative
        or NaN are -1, which wraps in unsigned dtypes.

    Raises
    ------
    ValueError
        If `n` is a number that is negative, NaN or above the maximum of an integer dtype, `p` is negative, not finite or does
        not sum to 1, there are no categories, the dtype is bool or complex, the parameters do not
        broadcast to `shape`, the shape has a negative length, or `key` is not a key.

    See Also
    --------
    binomial, choice, categorical

    Notes
    -----
    Computed from binomial draws, which divide the trials between halves of the categories, then between quarters, and so on.
    `p` is evaluated; in `vmap` and `compile`, where its values are unknown, its sum is not checked, the probabilities are
    normalised, and invalid ones give -1. The gradient is zero.

    Examples
    --------
    >>> mx.random.multinomial(10, mx.array([0.5, 0.3, 0.2]), (2,), key=mx.random.key(0))
    array([[8, 0, 2],
           [8, 1, 1]], dtype=int32)
    """


def multivariate_normal(
    mean: _Operand,
    cov: _Operand,
    shape: _Shape = [],
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw vectors from the multivariate normal distribution.

    Parameters
    ----------
    mean : array_like
        Mean of shape ``(..., d)``.
    cov : array_like
        Covariance of shape ``(..., d, d)``, symmetric and positive semi-definite, which is not checked.
    shape : int or sequence of int, optional
        Shape of the result without its last axis. It broadcasts with the leading axes of `mean` and `cov`. Default: a
        scalar.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `dtype` and shape ``(*shape, d)``.

    Raises
    ------
    ValueError
        If the dtype is not real floating point, the shapes do not match or broadcast,
        the shape has a negative length, or `key` is not a key.

    See Also
    --------
    normal

    Notes
    -----
    Computed as ``mean + z @ C`` with a standard normal `z` and the symmetric square root `C` of the covariance, from
    its singular value decomposition.

    Examples
    --------
    >>> mx.random.multivariate_normal(mx.zeros(2), mx.eye(2), (5, 3)).shape
    (5, 3, 2)
    """


def normal(
    shape: _Shape = [],
    dtype: _DType = None,
    loc: _Operand | None = None,
    scale: _Operand | None = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw from the normal distribution with mean `loc` and standard deviation `scale`.

    Parameters
    ----------
    shape : int or sequence of int, optional
        Shape of the result, which broadcasts with `loc` and `scale`. Default: a scalar.
    dtype : Dtype, optional
        Real or complex floating-point dtype of the result. Default: float32.
    loc : array_like, optional
        Mean. Default: 0.
    scale : array_like, optional
        Standard deviation. Default: 1.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `dtype` and of the broadcast shape. Real and imaginary parts of complex numbers have variance 1/2
        each before scaling.

    Raises
    ------
    ValueError
        If the dtype is not floating point, `scale` is a negative number, the shapes do not broadcast,
        the shape has a negative length, or `key` is not a key.

    See Also
    --------
    lognormal, truncated_normal, multivariate_normal, t, uniform

    Notes
    -----
    Computed from the inverse error function of a uniform draw. Elements of an array `scale` are not checked: where they are
    negative, the draw is mirrored at `loc`.

    Examples
    --------
    >>> mx.random.normal((2,), loc=10.0, key=mx.random.key(0))
    array([9.21523, 10.8564], dtype=float32)
    """


def permutation(
    x: int | array,
    axis: int = 0,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Return integers or the slices of an array in random order.

    Parameters
    ----------
    x : int or array_like
        An integer `n` stands for ``arange(n)``; an array is permuted along `axis`.
    axis : int, optional
        Axis to permute. Default: 0.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        uint32 of shape ``(x,)`` for an integer, else a permuted copy of `x`.

    Raises
    ------
    ValueError
        If the integer is negative or `key` is not a key.
    TypeError
        If `x` is neither an integer nor an array.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    shuffle, choice

    Examples
    --------
    >>> mx.random.permutation(5, key=mx.random.key(0))
    array([1, 2, 0, 4, 3], dtype=uint32)
    """


def poisson(
    lam: _Operand = 1.0,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw from the Poisson distribution with mean `lam`.

    Parameters
    ----------
    lam : array_like, optional
        Mean, at least 0. Default: 1.0.
    shape : int or sequence of int, optional
        Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
    dtype : Dtype, optional
        Integer or real floating-point dtype of the result. Default: int32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Counts of `dtype`. Elements whose `lam` is negative or NaN are -1, which wraps in unsigned dtypes. Counts above
        the maximum of an integer dtype become the maximum.

    Raises
    ------
    ValueError
        If `lam` is a number that is negative, NaN or above the maximum of an integer dtype, the dtype is bool or
        complex, `lam` does not broadcast to `shape`, the shape has a negative length, or `key` is not a key.

    See Also
    --------
    binomial, exponential, gamma

    Notes
    -----
    Drawn by counting exponential waiting times for small means, and by transformed rejection for others (W. Hörmann,
    Insurance: Mathematics and Economics 12, 1993).

    Examples
    --------
    >>> mx.random.poisson(4.0, (3,), key=mx.random.key(0))
    array([4, 1, 2], dtype=int32)
    """


def randint(
    low: _Operand,
    high: _Operand,
    shape: _Shape = [],
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw integers uniformly from ``[low, high)``.

    Parameters
    ----------
    low, high : array_like
        Bounds, which broadcast to `shape`.
    shape : int or sequence of int, optional
        Shape of the result. Default: a scalar.
    dtype : Dtype, optional
        Integer dtype or bool. Default: int32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Integers of `shape` and `dtype`.

    Raises
    ------
    ValueError
        If ``low >= high`` for numbers, the bounds do not fit the dtype, the dtype is not integer or bool, the bounds do
        not broadcast to `shape`, the shape has a negative length, or `key` is not a key.

    See Also
    --------
    uniform, permutation, choice

    Notes
    -----
    Bounds of at most ``2**24`` in magnitude scale a float32 draw; larger bounds scale 64 random bits, with a bias of at
    most ``(high - low) / 2**64``. Where an array of bounds has ``low >= high``, the result is `low`.

    Examples
    --------
    >>> mx.random.randint(0, 10, (3,), key=mx.random.key(0))
    array([9, 3, 6], dtype=int32)
    """


def seed(seed: int) -> None:
    """Set the global random key from a seed.

    Parameters
    ----------
    seed : int
        Integer from 0 to ``2**64 - 1``.

    Raises
    ------
    ValueError
        If the seed is out of range.
    TypeError
        If the seed is not an integer.

    See Also
    --------
    key

    Notes
    -----
    Functions that are called without a key draw from the global state, which starts from an arbitrary seed.
    `random.state` holds its key: save it with ``list(mx.random.state)`` and assign it to restore the state.

    Examples
    --------
    >>> mx.random.seed(1)
    >>> first = mx.random.normal((3,))
    >>> mx.random.seed(1)
    >>> mx.array_equal(first, mx.random.normal((3,))).item()
    True
    """


def shuffle(
    x: _Operand,
    axis: int = 0,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Permute an array in place along an axis and return it.

    Parameters
    ----------
    x : array_like
        Array to permute. Anything but an `mx.array` stays unchanged, and a permuted copy is returned.
    axis : int, optional
        Axis to permute. Default: 0.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        `x` itself, or the copy.

    Raises
    ------
    ValueError
        If `key` is not a key.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    permutation

    Examples
    --------
    >>> x = mx.array([7, 8, 9])
    >>> mx.random.shuffle(x, key=mx.random.key(0)) is x
    True
    >>> x
    array([8, 9, 7], dtype=int32)
    """


def split(key: array, num: int = 2, stream: _StreamOrDevice = None) -> array:
    """Split a key into several independent keys.

    Parameters
    ----------
    key : array
        Key from `key` or `split`.
    num : int, optional
        Number of new keys. Default: 2.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        One key per row: uint32 of shape ``(num, 2)``.

    Raises
    ------
    ValueError
        If `num` is negative or `key` is not uint32 of shape ``(2,)``.

    See Also
    --------
    key

    Examples
    --------
    >>> first, second = mx.random.split(mx.random.key(0))
    >>> mx.random.split(mx.random.key(0), 3).shape
    (3, 2)
    """


def t(
    df: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw from Student's t distribution with `df` degrees of freedom.

    Parameters
    ----------
    df : array_like
        Degrees of freedom, above 0.
    shape : int or sequence of int, optional
        Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `dtype`. Elements whose `df` is not positive are NaN.

    Raises
    ------
    ValueError
        If `df` is a number that is not positive, the dtype is not real floating point, the parameters do not
        broadcast to `shape`, the shape has a negative length, or `key` is not a key.

    See Also
    --------
    normal, chisquare, f

    Notes
    -----
    Computed as ``z * sqrt(df / x)`` of a normal draw `z` and a chi-square draw `x` with `df` degrees of freedom. No gradient
    flows to `df`.

    Examples
    --------
    >>> mx.random.t(5.0, (2,), key=mx.random.key(0))
    array([-0.0519253, -1.57024], dtype=float32)
    """


def truncated_normal(
    lower: _Operand,
    upper: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw from the standard normal distribution truncated to ``[lower, upper]``.

    Parameters
    ----------
    lower, upper : array_like
        Bounds.
    shape : int or sequence of int, optional
        Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `dtype`, within the bounds.

    Raises
    ------
    ValueError
        If the dtype is not real floating point, the bounds do not broadcast to `shape`,
        the shape has a negative length, or `key` is not a key.

    See Also
    --------
    normal

    Examples
    --------
    >>> x = mx.random.truncated_normal(-1, 1, (1000,))
    >>> (x.min() >= -1).item(), (x.max() <= 1).item()
    (True, True)
    """


def uniform(
    low: _Operand = 0,
    high: _Operand = 1,
    shape: _Shape = [],
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw from the uniform distribution over ``[low, high)``.

    Parameters
    ----------
    low : array_like, optional
        Lower bound, which broadcasts to `shape`. Default: 0.
    high : array_like, optional
        Upper bound, which broadcasts to `shape`. Default: 1.
    shape : int or sequence of int, optional
        Shape of the result. Default: a scalar.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Numbers of `shape` and `dtype`.

    Raises
    ------
    ValueError
        If the dtype is not real floating point, the bounds do not broadcast to `shape`,
        the shape has a negative length, or `key` is not a key.

    See Also
    --------
    randint, normal

    Examples
    --------
    >>> mx.random.uniform(-1, 1, (2,), key=mx.random.key(0))
    array([-0.567409, 0.608248], dtype=float32)
    """


def vonmises(
    mu: _Operand,
    kappa: _Operand,
    shape: _Shape | None = None,
    dtype: _DType = None,
    key: array | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Draw angles from the von Mises distribution about `mu` with concentration `kappa`.

    Parameters
    ----------
    mu : array_like
        Mean direction, an angle.
    kappa : array_like
        Concentration, at least 0; 0 gives the uniform distribution.
    shape : int or sequence of int, optional
        Shape of the result, to which the parameters broadcast. Default: the broadcast shape of the parameters.
    dtype : Dtype, optional
        Real floating-point dtype of the result. Default: float32.
    key : array, optional
        Key from `key` or `split`. Default: a new key from the global state.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Angles of `dtype` between ``-pi`` and ``pi``. Elements whose `kappa` is negative are NaN.

    Raises
    ------
    ValueError
        If `kappa` is a negative number, the dtype is not real floating point, the parameters do not
        broadcast to `shape`, the shape has a negative length, or `key` is not a key.

    See Also
    --------
    normal, uniform

    Notes
    -----
    The density is proportional to ``exp(kappa * cos(x - mu))``. Drawn in float64 by rejection (D. J. Best and N. I. Fisher,
    Applied Statistics 28, 1979). Differentiable with respect to `mu`; `kappa` has no gradient.

    Examples
    --------
    >>> mx.random.vonmises(0.0, 4.0, (2,), key=mx.random.key(0))
    array([-0.408592, 0.846736], dtype=float32)
    """
