# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.

"""Special functions, under the names of `scipy.special`."""
from umber.core import _Axes, _Operand, _StreamOrDevice, array


def beta(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Beta function: `gamma(a) * gamma(b) / gamma(a + b)`.

    Parameters
    ----------
    a : array_like
        First arguments, real.
    b : array_like
        Second arguments, real.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    betaln, gamma, comb

    Notes
    -----
    The integral of ``t**(a - 1) * (1 - t)**(b - 1)`` from 0 to 1 for positive arguments (DLMF 5.12). The
    gamma functions are not computed where they overflow.

    Examples
    --------
    >>> mx.special.beta(mx.array([1.0, 0.5, 200.0]), mx.array([2.0, 0.5, 1.0]))
    array([0.5, 3.14159, 0.005], dtype=float32)
    """


def betainc(
    a: _Operand,
    b: _Operand,
    x: _Operand,
    /,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Regularised incomplete beta function.

    Parameters
    ----------
    a : array_like
        First parameters, not negative.
    b : array_like
        Second parameters, not negative.
    x : array_like
        Upper limits of the integral, in [0, 1].
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast. If a second derivative with respect to `a` or `b` is requested.

    See Also
    --------
    beta, gammainc

    Notes
    -----
    The integral of ``t**(a - 1) * (1 - t)**(b - 1)`` from 0 to `x`, divided by ``beta(a, b)`` (DLMF 8.17): the
    distribution function of the beta distribution. NaN where `a` or `b` is negative or `x` is outside [0, 1].
    The derivatives with respect to `a` and `b` are those of the continued fraction, term by term; there are no second
    ones.

    Examples
    --------
    >>> mx.special.betainc(2.0, 3.0, mx.array([0.0, 0.5, 1.0]))
    array([0, 0.6875, 1], dtype=float32)
    """


def betaln(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithm of the absolute value of the beta function.

    Parameters
    ----------
    a : array_like
        First arguments, real.
    b : array_like
        Second arguments, real.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    beta, gammaln

    Notes
    -----
    Where an argument is large, the difference of logarithms of gamma functions is computed without
    cancellation, by Stirling's formula (DLMF 5.11).

    Examples
    --------
    >>> mx.special.betaln(mx.array([1.0, 1e6]), mx.array([2.0, 0.5]))
    array([-0.693147, -6.33539], dtype=float32)
    """


def comb(n: _Operand, k: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Number of combinations of `n` things taken `k` at a time; zero where `k > n` or either is negative.

    Parameters
    ----------
    n : array_like
        Numbers of things, real.
    k : array_like
        Numbers of things taken, real.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    factorial, beta

    Notes
    -----
    ``1 / ((n + 1) * beta(n - k + 1, k + 1))``, which also interpolates between whole numbers. Results for
    whole numbers are rounded to whole numbers.

    Examples
    --------
    >>> mx.special.comb(5, mx.array([0, 2, 5, 6]))
    array([1, 10, 1, 0], dtype=float32)
    """


def digamma(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithmic derivative of the gamma function of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    gammaln

    Notes
    -----
    The derivative of ``log(gamma(a))`` (DLMF 5.2). Negative integers give NaN, zero an infinity.

    Examples
    --------
    >>> mx.digamma(mx.array([1.0, 2.0]))
    array([-0.577216, 0.422784], dtype=float32)
    """


def entr(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Term of the entropy of each element: `-x * log(x)`, zero at zero, negative infinity below.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    rel_entr, xlogy

    Examples
    --------
    >>> mx.special.entr(mx.array([0.0, 0.5, -1.0]))
    array([0, 0.346574, -inf], dtype=float32)
    """


def erf(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Error function of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    erfc, erfinv

    Notes
    -----
    The integral of ``2 / sqrt(pi) * exp(-t**2)`` over t from 0 to `a` (DLMF 7.2).

    Examples
    --------
    >>> mx.erf(mx.array([0.0, 1.0, mx.inf]))
    array([0, 0.842701, 1], dtype=float32)
    """


def erfc(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Complementary error function of each element: `1 - erf(a)`, accurate for large elements.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    erf, erfinv

    Notes
    -----
    For large `a` the difference ``1 - erf(a)`` loses all digits to cancellation; this function does not.

    Examples
    --------
    >>> mx.erfc(mx.array([0.0, 5.0]))
    array([1, 1.53746e-12], dtype=float32)
    >>> 1 - mx.erf(mx.array([0.0, 5.0]))
    array([1, 0], dtype=float32)
    """


def erfcinv(y: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse of the complementary error function of each element, for elements in [0, 2].

    Parameters
    ----------
    y : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `y`; float32 for integers, booleans and float8, else the dtype of `y`.

    Raises
    ------
    TypeError
        If `y` is complex, or not convertible to an array.

    See Also
    --------
    erfc, erfinv, ndtri

    Notes
    -----
    Accurate for small `y`, where ``erfinv(1 - y)`` loses digits. NaN outside [0, 2].

    Examples
    --------
    >>> mx.special.erfcinv(mx.array([1.0, 1e-30, 0.0]))
    array([0, 8.14862, inf], dtype=float32)
    """


def erfcx(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Scaled complementary error function of each element: `exp(x**2) * erfc(x)`.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    erfc, log_ndtr

    Notes
    -----
    Falls like ``1 / x`` where `erfc` underflows (DLMF 7.9, 7.12).

    Examples
    --------
    >>> mx.special.erfcx(mx.array([0.0, 1.0, 100.0]))
    array([1, 0.427584, 0.00564161], dtype=float32)
    """


def erfinv(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse error function of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    erf

    Notes
    -----
    -1 and 1 give infinities; numbers outside of [-1, 1] give NaN.

    Examples
    --------
    >>> mx.erfinv(mx.array([0.0, 0.5, 1.0]))
    array([0, 0.476936, inf], dtype=float32)
    """


def exp1(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Exponential integral E1 of each element: the integral of `exp(-t) / t` from `x` to infinity.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    expi, expn

    Notes
    -----
    Infinite at zero, NaN below (DLMF 6.2.1).

    Examples
    --------
    >>> mx.special.exp1(mx.array([1.0, 10.0]))
    array([0.219384, 4.15697e-06], dtype=float32)
    """


def expi(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Exponential integral Ei of each element: principal value of the integral of `exp(t) / t` to `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    exp1, expn

    Notes
    -----
    Negative infinity at zero (DLMF 6.2.5).

    Examples
    --------
    >>> mx.special.expi(mx.array([1.0, -1.0]))
    array([1.89512, -0.219384], dtype=float32)
    """


def expit(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logistic sigmoid of each element: `1 / (1 + exp(-a))`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    tanh, softmax

    Examples
    --------
    >>> mx.sigmoid(mx.array([0.0, 2.0, -mx.inf]))
    array([0.5, 0.880797, 0], dtype=float32)
    """


def expm1(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Exponential minus one: `exp(a) - 1`, accurate near zero.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    exp, log1p

    Notes
    -----
    For small `a` the difference ``exp(a) - 1`` loses most of its digits to cancellation; this function does not.

    Examples
    --------
    >>> x = mx.array([1e-10])
    >>> mx.expm1(x)
    array([1e-10], dtype=float32)
    >>> mx.exp(x) - 1
    array([0], dtype=float32)
    """


def expn(n: _Operand, x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Generalised exponential integral of `x`, of whole order `n`.

    Parameters
    ----------
    n : array_like
        Orders, whole numbers.
    x : array_like
        Lower limits, not negative.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast. If a derivative with respect to `n` is requested.

    See Also
    --------
    exp1, expi

    Notes
    -----
    The integral of ``exp(-x * t) / t**n`` from 1 to infinity (DLMF 8.19). NaN where `x` is negative or `n` is
    no whole number. Negative orders, which the derivatives of order zero need, are computed too. There is no
    derivative with respect to `n`.

    Examples
    --------
    >>> mx.special.expn(2, mx.array([0.0, 1.0]))
    array([1, 0.148496], dtype=float32)
    """


def factorial(n: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Factorial of each element: `gamma(n + 1)`, zero below zero.

    Parameters
    ----------
    n : array_like
        Input of any shape and real dtype; whole numbers or numbers between them.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `n`; float32 for integers, booleans and float8, else the dtype of `n`.

    Raises
    ------
    TypeError
        If `n` is complex, or not convertible to an array.

    See Also
    --------
    gamma, comb

    Notes
    -----
    Products up to 170! are finite in float64, up to 34! in float32.

    Examples
    --------
    >>> mx.special.factorial(mx.array([0, 4, 10, -1]))
    array([1, 24, 3.6288e+06, 0], dtype=float32)
    """


def gamma(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Gamma function of each element.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    gammaln, gammasgn, factorial, digamma

    Notes
    -----
    The integral of ``t**(x - 1) * exp(-t)`` over positive `t`, continued to negative `x` (DLMF 5.2). Infinite
    at zero, with its sign; NaN at the negative integers.

    Examples
    --------
    >>> mx.special.gamma(mx.array([5.0, 0.0, -0.5]))
    array([24, inf, -3.54491], dtype=float32)
    """


def gammainc(a: _Operand, x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Regularised lower incomplete gamma function.

    Parameters
    ----------
    a : array_like
        Parameter of the integrand, not negative.
    x : array_like
        Upper limits of the integral, not negative.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast. If a second derivative with respect to `a` is requested.

    See Also
    --------
    gammaincc, gammaincinv, gamma

    Notes
    -----
    The integral of ``t**(a - 1) * exp(-t)`` from 0 to `x`, divided by ``gamma(a)`` (DLMF 8.2.4): the
    distribution function of the gamma distribution. NaN where either argument is negative. Near ``x = a``,
    large parameters use Temme's uniform expansion (1987). The derivative with respect to `a` is that of the series,
    fraction or expansion, term by term; there is no second one.

    Examples
    --------
    >>> mx.special.gammainc(0.5, mx.array([0.0, 1.0, 10.0]))
    array([0, 0.842701, 0.999992], dtype=float32)
    """


def gammaincc(a: _Operand, x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Regularised upper incomplete gamma function: `1 - gammainc(a, x)`, accurate where that cancels.

    Parameters
    ----------
    a : array_like
        Parameter of the integrand, not negative.
    x : array_like
        Lower limits of the integral, not negative.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast. If a second derivative with respect to `a` is requested.

    See Also
    --------
    gammainc, gammainccinv, gamma

    Notes
    -----
    The integral of ``t**(a - 1) * exp(-t)`` from `x` to infinity, divided by ``gamma(a)`` (DLMF 8.2.4). NaN
    where either argument is negative. There is no second derivative with respect to `a`.

    Examples
    --------
    >>> mx.special.gammaincc(0.5, mx.array([0.0, 1.0, 10.0]))
    array([1, 0.157299, 7.74422e-06], dtype=float32)
    """


def gammainccinv(a: _Operand, y: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse of the regularised upper incomplete gamma function: the `x` with `gammaincc(a, x) = y`.

    Parameters
    ----------
    a : array_like
        Parameter of the integrand, positive.
    y : array_like
        Probabilities, in [0, 1].
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast. If a second derivative with respect to `a` is requested.

    See Also
    --------
    gammaincc, gammaincinv

    Notes
    -----
    Accurate for small `y`, where ``gammaincinv(a, 1 - y)`` loses digits. NaN where `a` is not positive or `y` is outside
    [0, 1].

    Examples
    --------
    >>> mx.special.gammainccinv(2.0, mx.array([0.0, 0.5, 0.95, 1.0]))
    array([inf, 1.67835, 0.355362, 0], dtype=float32)
    """


def gammaincinv(a: _Operand, y: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Inverse of the regularised lower incomplete gamma function: the `x` with `gammainc(a, x) = y`.

    Parameters
    ----------
    a : array_like
        Parameter of the integrand, positive.
    y : array_like
        Probabilities, in [0, 1].
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast. If a second derivative with respect to `a` is requested.

    See Also
    --------
    gammainc, gammainccinv

    Notes
    -----
    The quantile function of the gamma distribution (DLMF 8.12), by Halley's method on the logarithm of the smaller tail.
    NaN where `a` is not positive or `y` is outside [0, 1]. Derivatives follow from the implicit function theorem.

    Examples
    --------
    >>> mx.special.gammaincinv(2.0, mx.array([0.0, 0.5, 0.95, 1.0]))
    array([0, 1.67835, 4.74386, inf], dtype=float32)
    """


def gammaln(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithm of the absolute value of the gamma function of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    lgamma, digamma

    Notes
    -----
    Infinite at zero and the negative integers (DLMF 5.2).

    Examples
    --------
    >>> mx.gammaln(mx.array([1.0, 5.0, 0.0]))
    array([0, 3.17805, inf], dtype=float32)
    """


def gammasgn(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Sign of the gamma function of each element.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    gamma, gammaln

    Notes
    -----
    1 or -1; NaN at the negative integers and at minus infinity, where there is none. ``gamma(x)`` is
    ``gammasgn(x) * exp(gammaln(x))``. The derivative is zero.

    Examples
    --------
    >>> mx.special.gammasgn(mx.array([2.5, -0.5, -1.5]))
    array([1, -1, 1], dtype=float32)
    """


def i0(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Modified Bessel function of the first kind of order zero of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    i0e, i1

    Notes
    -----
    DLMF 10.25. Grows like ``exp(a)`` and overflows; `i0e` does not.

    Examples
    --------
    >>> mx.i0(mx.array([0.0, 1.0]))
    array([1, 1.26607], dtype=float32)
    """


def i0e(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Exponentially scaled `i0` of each element: `exp(-abs(a)) * i0(a)`, without overflow.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    i0

    Examples
    --------
    >>> mx.i0e(mx.array([0.0, 1000.0]))
    array([1, 0.0126172], dtype=float32)
    """


def i1(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Modified Bessel function of the first kind of order one of each element.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    i1e, i0

    Notes
    -----
    DLMF 10.25. Grows like ``exp(a)`` and overflows; `i1e` does not.

    Examples
    --------
    >>> mx.i1(mx.array([0.0, 1.0]))
    array([0, 0.565159], dtype=float32)
    """


def i1e(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Exponentially scaled `i1` of each element: `exp(-abs(a)) * i1(a)`, without overflow.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.

    See Also
    --------
    i1

    Examples
    --------
    >>> mx.i1e(mx.array([0.0, 1000.0]))
    array([0, 0.0126109], dtype=float32)
    """


def j0(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Bessel function of the first kind and order zero of each element.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    j1, y0, i0

    Notes
    -----
    Even; oscillates like ``sqrt(2 / (pi * x)) * cos(x - pi / 4)`` and is zero at infinity (DLMF 10.2, 10.17). The
    derivative is ``-j1(x)``.

    Examples
    --------
    >>> mx.special.j0(mx.array([0.0, 1.0, 10.0]))
    array([1, 0.765198, -0.245936], dtype=float32)
    """


def j1(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Bessel function of the first kind and order one of each element.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    j0, y1, i1

    Notes
    -----
    Odd; oscillates like ``sqrt(2 / (pi * x)) * sin(x - pi / 4)`` and is zero at infinity (DLMF 10.2, 10.17). The
    derivative is ``j0(x) - j1(x) / x``.

    Examples
    --------
    >>> mx.special.j1(mx.array([0.0, 1.0, -10.0]))
    array([0, 0.440051, -0.0434727], dtype=float32)
    """


def k0(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Modified Bessel function of the second kind and order zero of each element.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    k0e, k1, i0

    Notes
    -----
    Infinite at zero, NaN below, decays like ``exp(-x)`` (DLMF 10.25). The derivative is ``-k1(x)``.

    Examples
    --------
    >>> mx.special.k0(mx.array([0.0, 1.0, 10.0]))
    array([inf, 0.421024, 1.77801e-05], dtype=float32)
    """


def k0e(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Modified Bessel function of the second kind and order zero, scaled by `exp(x)`.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    k0, k1e, i0e

    Notes
    -----
    ``exp(x) * k0(x)``, also where `k0` underflows (DLMF 10.40).

    Examples
    --------
    >>> mx.special.k0e(mx.array([0.0, 1.0, 1000.0]))
    array([inf, 1.14446, 0.0396283], dtype=float32)
    """


def k1(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Modified Bessel function of the second kind and order one of each element.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    k1e, k0, i1

    Notes
    -----
    Infinite at zero, NaN below, decays like ``exp(-x)`` (DLMF 10.25). The derivative is ``-k0(x) - k1(x) / x``.

    Examples
    --------
    >>> mx.special.k1(mx.array([0.0, 1.0, 10.0]))
    array([inf, 0.601907, 1.86488e-05], dtype=float32)
    """


def k1e(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Modified Bessel function of the second kind and order one, scaled by `exp(x)`.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    k1, k0e, i1e

    Notes
    -----
    ``exp(x) * k1(x)``, also where `k1` underflows (DLMF 10.40).

    Examples
    --------
    >>> mx.special.k1e(mx.array([0.0, 1.0, 1000.0]))
    array([inf, 1.63615, 0.0396481], dtype=float32)
    """


def kl_div(x: _Operand, y: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Term of the Kullback-Leibler divergence of each pair: `x * log(x / y) - x + y`.

    Parameters
    ----------
    x : array_like
        First arguments, real.
    y : array_like
        Second arguments, real.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    rel_entr, entr

    Notes
    -----
    Not negative, and convex in both arguments. Infinity outside the domain: positive `x` and `y`, and zero
    `x` with non-negative `y`, where it is `y`.

    Examples
    --------
    >>> mx.special.kl_div(mx.array([0.0, 2.0, 1.0]), mx.array([1.0, 1.0, 0.0]))
    array([1, 0.386294, inf], dtype=float32)
    """


def log1p(a: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Natural logarithm of one plus each element: `log(1 + a)`, accurate near zero.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is neither an array nor convertible to one.

    See Also
    --------
    log, expm1

    Notes
    -----
    For small `a` the sum ``1 + a`` rounds away most digits of `a`; this function does not compute it. -1 gives
    ``-inf``, smaller real numbers give NaN.

    Examples
    --------
    >>> x = mx.array([1e-10])
    >>> mx.log1p(x)
    array([1e-10], dtype=float32)
    >>> mx.log(1 + x)
    array([0], dtype=float32)
    """


def log_expit(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithm of the logistic sigmoid of each element: `-log(1 + exp(-x))`.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    expit, logit

    Notes
    -----
    Does not overflow, and keeps its digits where the sigmoid is close to one.

    Examples
    --------
    >>> mx.special.log_expit(mx.array([0.0, -1000.0, 10.0]))
    array([-0.693147, -1000, -4.53989e-05], dtype=float32)
    """


def log_ndtr(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithm of the distribution function of the standard normal distribution, accurate in both tails.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    ndtr, erfcx

    Notes
    -----
    ``log(ndtr(x))``, also where `ndtr` underflows.

    Examples
    --------
    >>> mx.special.log_ndtr(mx.array([0.0, -100.0]))
    array([-0.693147, -5005.52], dtype=float32)
    """


def log_softmax(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Logarithm of the softmax over one or more axes: `a - logsumexp(a)`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to normalise over. Default: all axes.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice.

    See Also
    --------
    softmax, logsumexp

    Notes
    -----
    Computed as ``(a - max(a)) - log(sum(exp(a - max(a))))``, which keeps digits that ``a - logsumexp(a)`` loses
    beside a large maximum. float16 and bfloat16 are computed in float32 and rounded once.

    Examples
    --------
    >>> mx.log_softmax(mx.array([1e6, 1e6, -mx.inf]))
    array([-0.693147, -0.693147, -inf], dtype=float32)
    """


def loggamma(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Principal branch of the logarithm of the gamma function of each element, NaN below zero.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    gammaln, gamma

    Notes
    -----
    It is not real below zero, where `gammaln` is the logarithm of the absolute value (DLMF 5.2).

    Examples
    --------
    >>> mx.special.loggamma(mx.array([1.0, 5.0, -0.5]))
    array([0, 3.17805, nan], dtype=float32)
    """


def logit(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Log-odds of each element, the inverse of the logistic sigmoid: `log(x / (1 - x))`.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    expit, log_expit

    Notes
    -----
    NaN outside [0, 1].

    Examples
    --------
    >>> mx.special.logit(mx.array([0.0, 0.5, 0.75]))
    array([-inf, 0, 1.09861], dtype=float32)
    """


def logsumexp(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Logarithm of the sum of exponentials over axes: `log(sum(exp(a)))`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length one. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array without the reduced axes, or with length one for them if `keepdims`. Dtype: float32 for integers,
        booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice, or an axis without elements is reduced.

    See Also
    --------
    softmax, log_softmax, logaddexp, logcumsumexp

    Notes
    -----
    Computed as ``m + log(sum(exp(a - m)))`` with the maximum ``m``, so large elements do not overflow.

    Examples
    --------
    >>> mx.logsumexp(mx.array([1000.0, 1000.0]))
    array(1000.69, dtype=float32)
    """


def multigammaln(a: _Operand, d: int, /, *, stream: _StreamOrDevice = None) -> array:
    """Logarithm of the multivariate gamma function of dimension `d`.

    Parameters
    ----------
    a : array_like
        Input of any shape and real dtype.
    d : int
        Dimension, positive.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is complex, or not convertible to an array.
    ValueError
        If `d` is not positive.

    See Also
    --------
    gammaln

    Notes
    -----
    ``d * (d - 1) / 4 * log(pi)`` plus the sum of ``gammaln(a - i / 2)`` for `i` below `d` (DLMF 35.3.4). NaN
    unless ``a > (d - 1) / 2``.

    Examples
    --------
    >>> mx.special.multigammaln(mx.array([2.0, 10.0]), 3)
    array([1.59631, 36.8129], dtype=float32)
    """


def ndtr(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Distribution function of the standard normal distribution at each element.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    log_ndtr, ndtri, erfc

    Notes
    -----
    ``erfc(-x / sqrt(2)) / 2``, accurate in the lower tail.

    Examples
    --------
    >>> mx.special.ndtr(mx.array([0.0, 1.96, -10.0]))
    array([0.5, 0.975002, 7.61985e-24], dtype=float32)
    """


def ndtri(p: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Quantile function of the standard normal distribution, the inverse of `ndtr`.

    Parameters
    ----------
    p : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `p`; float32 for integers, booleans and float8, else the dtype of `p`.

    Raises
    ------
    TypeError
        If `p` is complex, or not convertible to an array.

    See Also
    --------
    ndtr, erfcinv

    Notes
    -----
    ``-sqrt(2) * erfcinv(2 * p)``. NaN outside [0, 1].

    Examples
    --------
    >>> mx.special.ndtri(mx.array([0.5, 0.975, 0.0]))
    array([0, 1.95996, -inf], dtype=float32)
    """


def polygamma(n: _Operand, x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Polygamma function: the derivative of order `n` of `digamma` at `x`.

    Parameters
    ----------
    n : array_like
        Orders, whole numbers that are not negative.
    x : array_like
        Arguments, real.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast. If a derivative with respect to `n` is requested.

    See Also
    --------
    digamma, zeta

    Notes
    -----
    ``(-1)**(n + 1) * factorial(n) * zeta(n + 1, x)`` for positive `n` (DLMF 5.15.1), also below zero. NaN
    where `n` is negative or no whole number. Infinite at the poles ``x = 0, -1, …``. There is no derivative
    with respect to `n`.

    Examples
    --------
    >>> mx.special.polygamma(1, mx.array([1.0, 2.0]))
    array([1.64493, 0.644934], dtype=float32)
    """


def rel_entr(x: _Operand, y: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Term of the relative entropy of each pair: `x * log(x / y)`, infinity outside the domain.

    Parameters
    ----------
    x : array_like
        First arguments, real.
    y : array_like
        Second arguments, real.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    kl_div, entr

    Notes
    -----
    The domain is positive `x` and `y`, and zero `x` with non-negative `y`, where it is zero.

    Examples
    --------
    >>> mx.special.rel_entr(mx.array([0.0, 2.0, 1.0]), mx.array([1.0, 1.0, 0.0]))
    array([0, 1.38629, inf], dtype=float32)
    """


def softmax(
    a: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    precise: bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Softmax over one or more axes: `exp(a) / sum(exp(a))`.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to normalise over. Default: all axes.
    precise : bool, optional
        Compute float16 and bfloat16 in float32 throughout. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

    Raises
    ------
    TypeError
        If an argument is not convertible to an array.
    IndexError
        If an axis is out of bounds.
    ValueError
        If an axis is given twice.

    See Also
    --------
    log_softmax, logsumexp, sigmoid

    Notes
    -----
    Computed as ``exp(a - max(a)) / sum(exp(a - max(a)))``, so large inputs do not overflow. NaN where all inputs
    are ``-inf`` or any is ``inf`` or NaN.

    Examples
    --------
    >>> mx.softmax(mx.array([0.0, 0.0]))
    array([0.5, 0.5], dtype=float32)
    >>> mx.softmax(mx.array([[1000.0, 1000.0], [0.0, -mx.inf]]), axis=-1)
    array([[0.5, 0.5],
           [1, 0]], dtype=float32)
    """


def spence(z: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Dilogarithm of `1 - z`: the integral of `log(t) / (1 - t)` from 1 to `z`.

    Parameters
    ----------
    z : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `z`; float32 for integers, booleans and float8, else the dtype of `z`.

    Raises
    ------
    TypeError
        If `z` is complex, or not convertible to an array.

    See Also
    --------
    expi

    Notes
    -----
    NaN below zero (DLMF 25.12). Other libraries define the dilogarithm as ``spence(1 - z)``.

    Examples
    --------
    >>> mx.special.spence(mx.array([0.0, 1.0, 2.0]))
    array([1.64493, 0, -0.822467], dtype=float32)
    """


def xlog1py(x: _Operand, y: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`x * log(1 + y)` of each pair, zero where `x` is zero and `y` is not NaN; accurate for small `y`.

    Parameters
    ----------
    x : array_like
        Factors, real.
    y : array_like
        Arguments of the logarithm less one, real.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    xlogy, entr

    Notes
    -----
    Where `x` is zero and `y` is at most -1, the derivatives are zero too.

    Examples
    --------
    >>> mx.special.xlog1py(mx.array([0.0, 2.0]), mx.array([-1.0, 1e-10]))
    array([0, 2e-10], dtype=float32)
    """


def xlogy(x: _Operand, y: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """`x * log(y)` of each pair, zero where `x` is zero and `y` is not NaN.

    Parameters
    ----------
    x : array_like
        Factors, real.
    y : array_like
        Arguments of the logarithm, real.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    xlog1py, entr

    Notes
    -----
    Where `x` is zero and `y` is not positive, the derivatives are zero too.

    Examples
    --------
    >>> mx.special.xlogy(mx.array([0.0, 2.0]), mx.array([0.0, 3.0]))
    array([0, 2.19722], dtype=float32)
    """


def y0(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Bessel function of the second kind and order zero of each element.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    y1, j0, k0

    Notes
    -----
    Negative infinity at zero, NaN below (DLMF 10.2). The derivative is ``-y1(x)``.

    Examples
    --------
    >>> mx.special.y0(mx.array([0.0, 1.0, 10.0]))
    array([-inf, 0.088257, 0.0556712], dtype=float32)
    """


def y1(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Bessel function of the second kind and order one of each element.

    Parameters
    ----------
    x : array_like
        Input of any shape and real dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Same shape as `x`; float32 for integers, booleans and float8, else the dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex, or not convertible to an array.

    See Also
    --------
    y0, j1, k1

    Notes
    -----
    Negative infinity at zero, NaN below (DLMF 10.2). The derivative is ``y0(x) - y1(x) / x``.

    Examples
    --------
    >>> mx.special.y1(mx.array([0.0, 1.0, 10.0]))
    array([-inf, -0.781213, 0.249015], dtype=float32)
    """


def zeta(x: _Operand, q: _Operand | None = None, /, *, stream: _StreamOrDevice = None) -> array:
    """Hurwitz zeta function, and Riemann's zeta function where `q` is not given.

    Parameters
    ----------
    x : array_like
        Exponents, real.
    q : array_like, optional
        First terms of the sum, real. Default: 1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Array of the broadcast shape and the promoted dtype; float32 for integers, booleans and float8.

    Raises
    ------
    TypeError
        If an argument is complex, or not convertible to an array.
    ValueError
        If the shapes do not broadcast. If a second derivative with respect to `x` is requested.

    See Also
    --------
    polygamma

    Notes
    -----
    The sum of ``(q + n)**-x`` over the natural numbers `n`. Infinite at the poles ``x = 1`` and ``q = 0, -1, …``.
    NaN for ``x < 1``, unless `q` is one, and for negative `q`, unless `x` is a whole number (DLMF 25.2, 25.11).
    There is no second derivative with respect to `x`.

    Examples
    --------
    >>> mx.special.zeta(mx.array([2.0, 0.0, -1.0]))
    array([1.64493, -0.5, -0.0833333], dtype=float32)
    >>> mx.special.zeta(2, mx.array([1.0, 2.0]))
    array([1.64493, 0.644934], dtype=float32)
    """
