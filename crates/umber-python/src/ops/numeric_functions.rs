//! Special functions, components of floating-point and complex numbers, and compositions of elementwise functions.
//!
//! One subject: tables with one line for each function; most lines are their documentation.

use pyo3::prelude::*;
use umber_core::ops;

use super::elementwise::{binary_functions, unary_functions};
use crate::args::{Operand, StreamArg, compute, record_on};
use crate::array::PyArray;
use crate::dtype::DtypeArg;
use crate::new_array::NewArray;

unary_functions! {
    register_unary (a, /, *, stream = None)
    /// Base-2 exponential of each element: `2**a`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// exp, log2
    ///
    /// Examples
    /// --------
    /// >>> mx.exp2(mx.array([3.0, -1.0]))
    /// array([8, 0.5], dtype=float32)
    exp2 exp2,
    /// Real cube root of each element.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// sqrt, power
    ///
    /// Notes
    /// -----
    /// Negative numbers have a negative cube root, whereas ``a ** (1 / 3)`` gives NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.cbrt(mx.array([-8.0, 27.0]))
    /// array([-2, 3], dtype=float32)
    cbrt cbrt,
    /// Complementary error function of each element: `1 - erf(a)`, accurate for large elements.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// erf, erfinv
    ///
    /// Notes
    /// -----
    /// For large `a` the difference ``1 - erf(a)`` loses all digits to cancellation; this function does not.
    ///
    /// Examples
    /// --------
    /// >>> mx.erfc(mx.array([0.0, 5.0]))
    /// array([1, 1.53746e-12], dtype=float32)
    /// >>> 1 - mx.erf(mx.array([0.0, 5.0]))
    /// array([1, 0], dtype=float32)
    erfc erfc,
    /// Logarithm of the absolute value of the gamma function of each element.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// lgamma, digamma
    ///
    /// Notes
    /// -----
    /// Infinite at zero and the negative integers (DLMF 5.2).
    ///
    /// Examples
    /// --------
    /// >>> mx.gammaln(mx.array([1.0, 5.0, 0.0]))
    /// array([0, 3.17805, inf], dtype=float32)
    gammaln gammaln,
    /// Alias of `gammaln`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// gammaln
    ///
    /// Examples
    /// --------
    /// >>> mx.lgamma(mx.array([1.0, 5.0]))
    /// array([0, 3.17805], dtype=float32)
    lgamma gammaln,
    /// Logarithmic derivative of the gamma function of each element.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// gammaln
    ///
    /// Notes
    /// -----
    /// The derivative of ``log(gamma(a))`` (DLMF 5.2). Negative integers give NaN, zero an infinity.
    ///
    /// Examples
    /// --------
    /// >>> mx.digamma(mx.array([1.0, 2.0]))
    /// array([-0.577216, 0.422784], dtype=float32)
    digamma digamma,
    /// Modified Bessel function of the first kind of order zero of each element.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// i0e, i1
    ///
    /// Notes
    /// -----
    /// DLMF 10.25. Grows like ``exp(a)`` and overflows; `i0e` does not.
    ///
    /// Examples
    /// --------
    /// >>> mx.i0(mx.array([0.0, 1.0]))
    /// array([1, 1.26607], dtype=float32)
    i0 i0,
    /// Exponentially scaled `i0` of each element: `exp(-abs(a)) * i0(a)`, without overflow.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// i0
    ///
    /// Examples
    /// --------
    /// >>> mx.i0e(mx.array([0.0, 1000.0]))
    /// array([1, 0.0126172], dtype=float32)
    i0e i0e,
    /// Modified Bessel function of the first kind of order one of each element.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// i1e, i0
    ///
    /// Notes
    /// -----
    /// DLMF 10.25. Grows like ``exp(a)`` and overflows; `i1e` does not.
    ///
    /// Examples
    /// --------
    /// >>> mx.i1(mx.array([0.0, 1.0]))
    /// array([0, 0.565159], dtype=float32)
    i1 i1,
    /// Exponentially scaled `i1` of each element: `exp(-abs(a)) * i1(a)`, without overflow.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// i1
    ///
    /// Examples
    /// --------
    /// >>> mx.i1e(mx.array([0.0, 1000.0]))
    /// array([0, 0.0126109], dtype=float32)
    i1e i1e,
    /// Normalised sinc of each element: `sin(pi * a) / (pi * a)`, and 1 at zero.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// sin
    ///
    /// Notes
    /// -----
    /// Exactly zero at nonzero integers.
    ///
    /// Examples
    /// --------
    /// >>> mx.sinc(mx.array([0.0, 0.5, -3.0]))
    /// array([1, 0.63662, 0], dtype=float32)
    sinc sinc,
    /// Round each element to the nearest integer in floating point; halves are rounded to even.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// round, floor, ceil
    ///
    /// Notes
    /// -----
    /// Both parts of a complex number are rounded. The gradient is zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.rint(mx.array([0.5, 1.5, -2.6]))
    /// array([0, 2, -3], dtype=float32)
    rint rint,
    /// Absolute value of each element in floating point.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// abs
    ///
    /// Notes
    /// -----
    /// Unlike `abs`, it converts integers and booleans to float32.
    ///
    /// Examples
    /// --------
    /// >>> mx.fabs(mx.array([-3, 0, 2]))
    /// array([3, 0, 2], dtype=float32)
    fabs fabs,
    /// Test the sign bit of each element: true for negative numbers and `-0.0`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Bool array of the same shape as `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// sign, copysign
    ///
    /// Notes
    /// -----
    /// For NaN, its sign bit is returned.
    ///
    /// Examples
    /// --------
    /// >>> mx.signbit(mx.array([-0.0, 0.0, -3.0]))
    /// array([True, False, True], dtype=bool)
    signbit signbit,
    /// Distance from each element to the next number away from zero, with the sign of the element.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and real dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// nextafter, finfo
    ///
    /// Notes
    /// -----
    /// Infinities and NaN give NaN; the largest finite number gives the distance to the number below. The gradient is
    /// zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.spacing(mx.array([1.0, -2.0]))
    /// array([1.19209e-07, -2.38419e-07], dtype=float32)
    spacing spacing,
    /// Number of bits set in the absolute value of each integer.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape, integer or boolean.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     uint8 array of the same shape as `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is floating or complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// packbits, bitwise_and
    ///
    /// Examples
    /// --------
    /// >>> mx.bitwise_count(mx.array([7, -8, 0]))
    /// array([3, 1, 0], dtype=uint8)
    bitwise_count bitwise_count,
    /// Test whether the imaginary part of each element is zero.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Bool array of the same shape as `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// iscomplex, real
    ///
    /// Notes
    /// -----
    /// Always true for real dtypes.
    ///
    /// Examples
    /// --------
    /// >>> mx.isreal(mx.array([1 + 0j, 1j]))
    /// array([True, False], dtype=bool)
    isreal isreal,
    /// Test whether the imaginary part of each element is nonzero.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of any shape and dtype.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Bool array of the same shape as `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// isreal, imag
    ///
    /// Notes
    /// -----
    /// Always false for real dtypes.
    ///
    /// Examples
    /// --------
    /// >>> mx.iscomplex(mx.array([1 + 0j, 1j]))
    /// array([False, True], dtype=bool)
    iscomplex iscomplex,
}

binary_functions! {
    register_binary pair (a, b, /, *, stream = None)
    /// Base-2 logarithm of a sum of powers of two: `log2(2**a + 2**b)`, without overflow.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Operands of real dtypes whose shapes broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is complex, or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// logaddexp
    ///
    /// Examples
    /// --------
    /// >>> mx.logaddexp2(mx.array([1.0, 1000.0]), mx.array([1.0, 1000.0]))
    /// array([2, 1001], dtype=float32)
    logaddexp2 logaddexp2,
    /// Length of the hypotenuse: `sqrt(a**2 + b**2)`, without overflow of the squares.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Operands of real dtypes whose shapes broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is complex, or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// arctan2, abs
    ///
    /// Notes
    /// -----
    /// An infinity in either operand gives infinity. The gradient at the origin is zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.hypot(mx.array([3.0, 3e30]), mx.array([4.0, 4e30]))
    /// array([5, 5e+30], dtype=float32)
    hypot hypot,
    /// Magnitude of `a` with the sign of `b`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Magnitudes, of a real dtype.
    /// b : array_like
    ///     Signs, of a real dtype; the shapes of `a` and `b` broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is complex, or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// signbit, sign
    ///
    /// Notes
    /// -----
    /// The sign of zero and of NaN counts.
    ///
    /// Examples
    /// --------
    /// >>> mx.copysign(mx.array([3.0, -1.0]), mx.array([-0.0, 2.0]))
    /// array([-3, 1], dtype=float32)
    copysign copysign,
    /// Next floating-point number after `a` in the direction of `b`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Starting points, of a real dtype.
    /// b : array_like
    ///     Where to step to, of a real dtype; the shapes of `a` and `b` broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is complex, or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// spacing
    ///
    /// Notes
    /// -----
    /// `b` where both are equal; NaN if either is NaN. The gradient is zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.nextafter(mx.array([1.0]), 2.0) - 1
    /// array([1.19209e-07], dtype=float32)
    /// >>> mx.nextafter(mx.array([0.0]), -1.0)
    /// array([-1.4013e-45], dtype=float32)
    nextafter nextafter,
    /// Heaviside step function: 0 where `a` is negative, 1 where it is positive, `b` where it is zero.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Input of a real dtype.
    /// b : array_like
    ///     Values at zero, of a real dtype; the shapes of `a` and `b` broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is complex, or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// sign, where
    ///
    /// Notes
    /// -----
    /// NaN in `a` stays NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.heaviside(mx.array([-1.5, 0.0, 2.0]), 0.5)
    /// array([0, 0.5, 1], dtype=float32)
    heaviside heaviside,
    /// Maximum of two arrays, element by element; where one is NaN, the other one.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Operands whose shapes broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape and the promoted dtype; float32 for float8.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// maximum, nanmax
    ///
    /// Notes
    /// -----
    /// NaN only where both are NaN. Complex numbers are ordered by their real parts, then by their imaginary parts.
    /// Where both are equal, the gradient flows to `b`.
    ///
    /// Examples
    /// --------
    /// >>> mx.fmax(mx.array([1.0, mx.nan]), mx.array([2.0, 3.0]))
    /// array([2, 3], dtype=float32)
    fmax fmax,
    /// Minimum of two arrays, element by element; where one is NaN, the other one.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Operands whose shapes broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape and the promoted dtype; float32 for float8.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// minimum, nanmin
    ///
    /// Notes
    /// -----
    /// NaN only where both are NaN. Complex numbers are ordered by their real parts, then by their imaginary parts.
    /// Where both are equal, the gradient flows to `b`.
    ///
    /// Examples
    /// --------
    /// >>> mx.fmin(mx.array([1.0, mx.nan]), mx.array([2.0, 3.0]))
    /// array([1, 3], dtype=float32)
    fmin fmin,
    /// Greatest common divisor of integers, element by element.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Integers whose shapes broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape and the promoted dtype; not negative unless it overflows.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If the promoted dtype is not an integer dtype, or an operand is not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// lcm
    ///
    /// Notes
    /// -----
    /// ``gcd(0, b) = abs(b)``, and ``gcd(0, 0) = 0``.
    ///
    /// Examples
    /// --------
    /// >>> mx.gcd(mx.array([12, -8, 0]), mx.array([18, 12, -5]))
    /// array([6, 4, 5], dtype=int32)
    gcd gcd,
    /// Least common multiple of integers, element by element.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Integers whose shapes broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape and the promoted dtype; not negative unless it overflows.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If the promoted dtype is not an integer dtype, or an operand is not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// gcd
    ///
    /// Notes
    /// -----
    /// Zero if either is zero; integers wrap around on overflow.
    ///
    /// Examples
    /// --------
    /// >>> mx.lcm(mx.array([4, -6, 0]), mx.array([6, 4, 5]))
    /// array([12, 12, 0], dtype=int32)
    lcm lcm,
}

binary_functions! {
    register_double in_double (a, b, /, *, stream = None)
    /// Elements of `a` raised to the powers `b` in double precision.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Operands whose shapes broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape; float64, or complex128 if either operand is complex.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    ///
    /// See Also
    /// --------
    /// power
    ///
    /// Notes
    /// -----
    /// Unlike `power`, integers have negative powers. Negative real numbers to a fractional power give NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.float_power(mx.array([2]), mx.array([3, 0, -1]))
    /// array([8, 1, 0.5], dtype=float64)
    float_power float_power,
}

/// Reinterpret the bytes of an array as another dtype.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// dtype : dtype, str or type
///     Dtype to read the bytes as. Python's `int`, `float` and `complex` specify a kind and keep the width: for float32
///     they stand for int32, float32 and complex64.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array with the given dtype. The last axis shrinks or grows by the ratio of the element sizes.
///
/// Raises
/// ------
/// TypeError
///     If `dtype` names no dtype, or no dtype of that kind is as wide as that of `a`.
/// ValueError
///     If the bytes of the last axis are no whole number of elements, or a 0-d array is viewed as a dtype of
///     another size.
///
/// See Also
/// --------
/// astype
///
/// Notes
/// -----
/// Bits have no derivative: differentiating raises ValueError. `astype` converts values instead.
///
/// Examples
/// --------
/// >>> mx.view(mx.array([1.0, -2.0]), mx.uint32)
/// array([1065353216, 3221225472], dtype=uint32)
/// >>> mx.view(mx.array([1.0, -2.0]), mx.uint16).shape
/// (4,)
#[pyfunction]
#[pyo3(signature = (a, dtype, stream = None))]
fn view(a: Operand, dtype: DtypeArg, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    let dtype = dtype.viewing(a.dtype())?;
    record_on(stream, || ops::view(&a, dtype)).map(NewArray::from)
}

/// Multiply by a power of two: `x * 2**n`, rounded once.
///
/// Parameters
/// ----------
/// x : array_like
///     Real numbers; integers and booleans are converted to float32.
/// n : array_like
///     Exponents, integers or booleans; the shapes of `x` and `n` broadcast.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the broadcast shape and the dtype of `x`; float32 for integers, booleans and float8.
///
/// Raises
/// ------
/// TypeError
///     If `x` is complex, `n` is not of an integer dtype, or either is not convertible to an array.
/// ValueError
///     If the shapes do not broadcast.
///
/// See Also
/// --------
/// frexp
///
/// Examples
/// --------
/// >>> mx.ldexp(mx.array([1.0, 3.0]), mx.array([4, -1]))
/// array([16, 1.5], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, n, /, *, stream = None))]
fn ldexp(x: Operand, n: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (x, n) = (x.into_array(), n.into_array());
    record_on(stream, || ops::ldexp(&x, &n)).map(NewArray::from)
}

/// Mantissa and exponent of each element: `a = mantissa * 2**exponent`.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and real dtype.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// mantissa : array
///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`. ``0.5 <= abs(mantissa)
///     < 1``.
/// exponent : array
///     int32 array of the same shape.
///
/// Raises
/// ------
/// TypeError
///     If `a` is complex, or not convertible to an array.
///
/// See Also
/// --------
/// ldexp, modf
///
/// Notes
/// -----
/// Zero, infinities and NaN are their own mantissas, with exponent 0.
///
/// Examples
/// --------
/// >>> mx.frexp(mx.array([8.0, -3.0, 0.0]))
/// (array([0.5, -0.75, 0], dtype=float32), array([4, 2, 0], dtype=int32))
#[pyfunction]
#[pyo3(signature = (a, /, *, stream = None))]
fn frexp(a: Operand, stream: Option<StreamArg>) -> PyResult<(PyArray, PyArray)> {
    let a = a.into_array();
    let (mantissa, exponent) = record_on(stream, || ops::frexp(&a))?;
    Ok((mantissa.into(), exponent.into()))
}

/// Fractional and integer part of each element, both with its sign.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and real dtype.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// fraction : array
///     Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.
/// integer : array
///     Array of the same shape and dtype.
///
/// Raises
/// ------
/// TypeError
///     If `a` is complex, or not convertible to an array.
///
/// See Also
/// --------
/// trunc, fmod
///
/// Notes
/// -----
/// The fraction of an infinity is zero. The gradient of the fraction is one, that of the integer part zero.
///
/// Examples
/// --------
/// >>> mx.modf(mx.array([1.5, -2.25]))
/// (array([0.5, -0.25], dtype=float32), array([1, -2], dtype=float32))
#[pyfunction]
#[pyo3(signature = (a, /, *, stream = None))]
fn modf(a: Operand, stream: Option<StreamArg>) -> PyResult<(PyArray, PyArray)> {
    let a = a.into_array();
    let (fraction, integral) = record_on(stream, || ops::modf(&a))?;
    Ok((fraction.into(), integral.into()))
}

/// Real part of a complex array if all imaginary parts are close to zero, else the array.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// tol : float, optional
///     Bound of the imaginary parts: a multiple of the machine epsilon if greater than one, otherwise an absolute
///     bound. Default: 100.0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Real array if all imaginary parts are below the bound, else `a`. Real arrays are returned unchanged.
///
/// Raises
/// ------
/// TypeError
///     If `a` is neither an array nor convertible to one.
/// ValueError
///     Inside `vmap` and `compile`, if `a` is complex: its values decide the dtype.
///
/// See Also
/// --------
/// real, isreal
///
/// Notes
/// -----
/// Complex arrays are evaluated.
///
/// Examples
/// --------
/// >>> mx.real_if_close(mx.array([1 + 1e-7j]))
/// array([1], dtype=float32)
/// >>> mx.real_if_close(mx.array([1 + 1e-7j]), tol=1e-9)
/// array([1+1e-07j], dtype=complex64)
#[pyfunction]
#[pyo3(signature = (a, tol = 100.0, *, stream = None))]
fn real_if_close(py: Python<'_>, a: Operand, tol: f64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    compute(py, stream, || ops::real_if_close(&a, tol)).map(NewArray::from)
}

/// Angle of each complex number from the positive real axis.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// deg : bool, optional
///     Return degrees instead of radians. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Same shape as `a`. The real dtype of the same precision; float32 for integers, booleans and float8.
///
/// Raises
/// ------
/// TypeError
///     If `a` is neither an array nor convertible to one.
///
/// See Also
/// --------
/// abs, arctan2
///
/// Notes
/// -----
/// ``arctan2(imag(a), real(a))``, in [-pi, pi]. Real numbers give 0, or pi if negative.
///
/// Examples
/// --------
/// >>> mx.angle(mx.array([1j, -1]))
/// array([1.5708, 3.14159], dtype=float32)
/// >>> mx.angle(mx.array([1j, -1]), deg=True)
/// array([90, 180], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, /, deg = false, *, stream = None))]
fn angle(a: Operand, deg: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    let convert = if deg { ops::degrees } else { ops::positive };
    record_on(stream, || convert(&ops::angle(&a)?)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_unary(module)?;
    register_binary(module)?;
    register_double(module)?;
    for function in [
        wrap_pyfunction!(view, module)?,
        wrap_pyfunction!(ldexp, module)?,
        wrap_pyfunction!(frexp, module)?,
        wrap_pyfunction!(modf, module)?,
        wrap_pyfunction!(real_if_close, module)?,
        wrap_pyfunction!(angle, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
