//! Elementwise functions.
//!
//! One subject: tables with one line for each function; most lines are their documentation.

use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use umber_core::Array;
use umber_core::ops::{self, Closeness, Side};

use crate::args::{DeviceArg, Operand, StreamArg, record_on, resolve_stream};
use crate::array::PyArray;
use crate::dtype::DtypeArg;
use crate::new_array::NewArray;
use crate::operators::{Comparand, compared};

/// Functions of one array or number. A row is the documentation, the Python name and the function of `ops`.
macro_rules! unary_functions {
    ($register:ident $signature:tt $($(#[$doc:meta])* $name:ident $function:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = $signature)]
            fn $name(a: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let a = a.into_array();
                record_on(stream, || ops::$function(&a)).map(NewArray::from)
            }
        )*

        fn $register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

/// Functions of two arrays or numbers; `$convert` is the conversion of `Operand`. A row is the documentation, the Python name
/// and the function of `ops`.
macro_rules! binary_functions {
    ($register:ident $convert:ident $signature:tt $($(#[$doc:meta])* $name:ident $function:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = $signature)]
            fn $name(a: Operand, b: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let (a, b) = Operand::$convert(a, b)?;
                record_on(stream, || ops::$function(&a, &b)).map(NewArray::from)
            }
        )*

        fn $register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

/// Comparisons of two arrays or numbers. A row is the documentation, the name and the operator.
macro_rules! comparisons {
    ($register:ident $signature:tt $($(#[$doc:meta])* $name:ident $op:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = $signature)]
            fn $name(a: Comparand, b: Comparand, stream: Option<StreamArg>) -> PyResult<NewArray> {
                compared(a, b, CompareOp::$op, stream, ops::$name)
            }
        )*

        fn $register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

pub(super) use {binary_functions, unary_functions};

unary_functions! {
    register_unary (a, /, *, stream = None)
    /// Square root of each element.
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
    /// rsqrt, square, cbrt
    ///
    /// Notes
    /// -----
    /// Negative real numbers give NaN. For complex roots, convert them to a complex dtype first.
    ///
    /// Examples
    /// --------
    /// >>> mx.sqrt(mx.array([4.0, 2.0]))
    /// array([2, 1.41421], dtype=float32)
    /// >>> mx.sqrt(mx.array([-4 + 0j]))
    /// array([0+2j], dtype=complex64)
    sqrt sqrt,
    /// Reciprocal square root of each element: `1 / sqrt(a)`.
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
    /// sqrt, reciprocal
    ///
    /// Notes
    /// -----
    /// Zero gives an infinity, negative real numbers give NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.rsqrt(mx.array([4.0, 0.0]))
    /// array([0.5, inf], dtype=float32)
    rsqrt rsqrt,
    /// Reciprocal of each element: `1 / a`.
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
    /// divide, rsqrt
    ///
    /// Notes
    /// -----
    /// Integers are converted to float32 first, so nothing is truncated. Zero gives an infinity.
    ///
    /// Examples
    /// --------
    /// >>> mx.reciprocal(mx.array([4, 0]))
    /// array([0.25, inf], dtype=float32)
    reciprocal reciprocal,
    /// Exponential of each element: `e**a`.
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
    /// expm1, exp2, log
    ///
    /// Examples
    /// --------
    /// >>> mx.exp(mx.array([0.0, 1.0, -mx.inf]))
    /// array([1, 2.71828, 0], dtype=float32)
    exp exp,
    /// Exponential minus one: `exp(a) - 1`, accurate near zero.
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
    /// exp, log1p
    ///
    /// Notes
    /// -----
    /// For small `a` the difference ``exp(a) - 1`` loses most of its digits to cancellation; this function does not.
    ///
    /// Examples
    /// --------
    /// >>> x = mx.array([1e-10])
    /// >>> mx.expm1(x)
    /// array([1e-10], dtype=float32)
    /// >>> mx.exp(x) - 1
    /// array([0], dtype=float32)
    expm1 expm1,
    /// Natural logarithm of each element.
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
    /// log2, log10, log1p, exp
    ///
    /// Notes
    /// -----
    /// Zero gives ``-inf``; negative real numbers give NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.log(mx.array([1.0, mx.e, 0.0]))
    /// array([0, 1, -inf], dtype=float32)
    log log,
    /// Base-2 logarithm of each element.
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
    /// log, log10, exp2
    ///
    /// Notes
    /// -----
    /// Zero gives ``-inf``; negative real numbers give NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.log2(mx.array([8.0, 0.25]))
    /// array([3, -2], dtype=float32)
    log2 log2,
    /// Base-10 logarithm of each element.
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
    /// log, log2
    ///
    /// Notes
    /// -----
    /// Zero gives ``-inf``; negative real numbers give NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.log10(mx.array([1.0, 100.0]))
    /// array([0, 2], dtype=float32)
    log10 log10,
    /// Natural logarithm of one plus each element: `log(1 + a)`, accurate near zero.
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
    /// log, expm1
    ///
    /// Notes
    /// -----
    /// For small `a` the sum ``1 + a`` rounds away most digits of `a`; this function does not compute it. -1 gives
    /// ``-inf``, smaller real numbers give NaN.
    ///
    /// Examples
    /// --------
    /// >>> x = mx.array([1e-10])
    /// >>> mx.log1p(x)
    /// array([1e-10], dtype=float32)
    /// >>> mx.log(1 + x)
    /// array([0], dtype=float32)
    log1p log1p,
    /// Sine of each element, an angle in radians.
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
    /// arcsin, cos, tan
    ///
    /// Examples
    /// --------
    /// >>> mx.sin(mx.array([0.0, mx.pi / 2]))
    /// array([0, 1], dtype=float32)
    sin sin,
    /// Cosine of each element, an angle in radians.
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
    /// arccos, sin, tan
    ///
    /// Examples
    /// --------
    /// >>> mx.cos(mx.array([0.0, mx.pi]))
    /// array([1, -1], dtype=float32)
    cos cos,
    /// Tangent of each element, an angle in radians.
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
    /// arctan, sin, cos
    ///
    /// Examples
    /// --------
    /// >>> mx.tan(mx.array([0.0, mx.pi / 4]))
    /// array([0, 1], dtype=float32)
    tan tan,
    /// Inverse sine of each element, in radians.
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
    /// sin, arccos, arctan
    ///
    /// Notes
    /// -----
    /// Real results lie in [-pi/2, pi/2]; real numbers outside of [-1, 1] give NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.arcsin(mx.array([0.0, 1.0]))
    /// array([0, 1.5708], dtype=float32)
    arcsin arcsin,
    /// Inverse cosine of each element, in radians.
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
    /// cos, arcsin, arctan
    ///
    /// Notes
    /// -----
    /// Real results lie in [0, pi]; real numbers outside of [-1, 1] give NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.arccos(mx.array([1.0, 0.0, -1.0]))
    /// array([0, 1.5708, 3.14159], dtype=float32)
    arccos arccos,
    /// Inverse tangent of each element, in radians.
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
    /// tan, arctan2
    ///
    /// Notes
    /// -----
    /// Real results lie in [-pi/2, pi/2]. `arctan2` finds the quadrant of a point as well.
    ///
    /// Examples
    /// --------
    /// >>> mx.arctan(mx.array([0.0, mx.inf]))
    /// array([0, 1.5708], dtype=float32)
    arctan arctan,
    /// Hyperbolic sine of each element: `(exp(a) - exp(-a)) / 2`.
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
    /// arcsinh, cosh, tanh
    ///
    /// Examples
    /// --------
    /// >>> mx.sinh(mx.array([0.0, 1.0]))
    /// array([0, 1.1752], dtype=float32)
    sinh sinh,
    /// Hyperbolic cosine of each element: `(exp(a) + exp(-a)) / 2`.
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
    /// arccosh, sinh, tanh
    ///
    /// Examples
    /// --------
    /// >>> mx.cosh(mx.array([0.0, 1.0]))
    /// array([1, 1.54308], dtype=float32)
    cosh cosh,
    /// Hyperbolic tangent of each element: `sinh(a) / cosh(a)`.
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
    /// arctanh, sinh, cosh, sigmoid
    ///
    /// Examples
    /// --------
    /// >>> mx.tanh(mx.array([0.0, 1.0, mx.inf]))
    /// array([0, 0.761594, 1], dtype=float32)
    tanh tanh,
    /// Inverse hyperbolic sine of each element.
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
    /// sinh, arccosh, arctanh
    ///
    /// Examples
    /// --------
    /// >>> mx.arcsinh(mx.array([0.0, 1.0]))
    /// array([0, 0.881374], dtype=float32)
    arcsinh arcsinh,
    /// Inverse hyperbolic cosine of each element.
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
    /// cosh, arcsinh, arctanh
    ///
    /// Notes
    /// -----
    /// Real results are not negative; real numbers below 1 give NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.arccosh(mx.array([1.0, 2.0]))
    /// array([0, 1.31696], dtype=float32)
    arccosh arccosh,
    /// Inverse hyperbolic tangent of each element.
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
    /// tanh, arcsinh, arccosh
    ///
    /// Notes
    /// -----
    /// -1 and 1 give infinities; real numbers outside of [-1, 1] give NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.arctanh(mx.array([0.0, 0.5, 1.0]))
    /// array([0, 0.549306, inf], dtype=float32)
    arctanh arctanh,
    /// Error function of each element.
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
    /// erfc, erfinv
    ///
    /// Notes
    /// -----
    /// The integral of ``2 / sqrt(pi) * exp(-t**2)`` over t from 0 to `a` (DLMF 7.2).
    ///
    /// Examples
    /// --------
    /// >>> mx.erf(mx.array([0.0, 1.0, mx.inf]))
    /// array([0, 0.842701, 1], dtype=float32)
    erf erf,
    /// Inverse error function of each element.
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
    /// erf
    ///
    /// Notes
    /// -----
    /// -1 and 1 give infinities; numbers outside of [-1, 1] give NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.erfinv(mx.array([0.0, 0.5, 1.0]))
    /// array([0, 0.476936, inf], dtype=float32)
    erfinv erfinv,
    /// Logistic sigmoid of each element: `1 / (1 + exp(-a))`.
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
    /// tanh, softmax
    ///
    /// Examples
    /// --------
    /// >>> mx.sigmoid(mx.array([0.0, 2.0, -mx.inf]))
    /// array([0.5, 0.880797, 0], dtype=float32)
    sigmoid sigmoid,
    /// Absolute value of each element; of a complex number its modulus.
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
    ///     Same shape as `a`. The dtype of `a`; the real dtype of the same precision for complex numbers, float32 for
    ///     float8.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// fabs, sign
    ///
    /// Notes
    /// -----
    /// The minimum of a signed integer dtype has no positive counterpart and stays as it is. The gradient at zero is
    /// zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.abs(mx.array([-2, 3]))
    /// array([2, 3], dtype=int32)
    /// >>> mx.abs(mx.array([3 + 4j]))
    /// array([5], dtype=float32)
    abs abs,
    /// Negation of each element: `-a`.
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
    ///     Same shape and dtype as `a`; float32 for float8.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is boolean, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// abs, subtract
    ///
    /// Notes
    /// -----
    /// Unsigned integers wrap around.
    ///
    /// Examples
    /// --------
    /// >>> mx.negative(mx.array([-2, 3]))
    /// array([2, -3], dtype=int32)
    negative negative,
    /// Return the input unchanged: `+a`.
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
    ///     The input as an array.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// negative
    ///
    /// Examples
    /// --------
    /// >>> mx.positive(mx.array([-1, 2]))
    /// array([-1, 2], dtype=int32)
    positive positive,
    /// Sign of each element: -1, 0 or 1; of a complex number `a / abs(a)`.
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
    ///     Same shape and dtype as `a`; float32 for float8.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// abs, signbit, copysign
    ///
    /// Notes
    /// -----
    /// NaN stays NaN. Complex zero gives zero. The gradient of real numbers is zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.sign(mx.array([-2.5, 0.0, 7.0]))
    /// array([-1, 0, 1], dtype=float32)
    /// >>> mx.sign(mx.array([3 + 4j]))
    /// array([0.6+0.8j], dtype=complex64)
    sign sign,
    /// Square of each element: `a * a`.
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
    ///     Same shape and dtype as `a`; float32 for float8.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// sqrt, power
    ///
    /// Notes
    /// -----
    /// Integers wrap around on overflow.
    ///
    /// Examples
    /// --------
    /// >>> mx.square(mx.array([-2, 3]))
    /// array([4, 9], dtype=int32)
    square square,
    /// Largest integer not above each element.
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
    ///     Same shape and dtype as `a`; float32 for float8. Integers and booleans are returned unchanged.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// ceil, trunc, round
    ///
    /// Notes
    /// -----
    /// The result has a floating dtype if the input has; use `astype` for integers. The gradient is zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.floor(mx.array([1.7, -1.2]))
    /// array([1, -2], dtype=float32)
    floor floor,
    /// Smallest integer not below each element.
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
    ///     Same shape and dtype as `a`; float32 for float8. Integers and booleans are returned unchanged.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// floor, trunc, round
    ///
    /// Notes
    /// -----
    /// The result has a floating dtype if the input has; use `astype` for integers. The gradient is zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.ceil(mx.array([1.2, -1.7]))
    /// array([2, -1], dtype=float32)
    ceil ceil,
    /// Integer part of each element: each is rounded towards zero.
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
    ///     Same shape and dtype as `a`; float32 for float8. Integers and booleans are returned unchanged.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// floor, ceil, round, modf
    ///
    /// Notes
    /// -----
    /// The result has a floating dtype if the input has; use `astype` for integers. The gradient is zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.trunc(mx.array([1.7, -1.7]))
    /// array([1, -1], dtype=float32)
    trunc trunc,
    /// Logical NOT of each element: true where it is zero.
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
    /// logical_and, logical_or, logical_xor, bitwise_invert
    ///
    /// Notes
    /// -----
    /// NaN is not zero, so it gives False.
    ///
    /// Examples
    /// --------
    /// >>> mx.logical_not(mx.array([0.0, 2.0, mx.nan]))
    /// array([True, False, False], dtype=bool)
    logical_not logical_not,
    /// Real part of each element.
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
    ///     Same shape as `a`. float32 for complex64, float64 for complex128, else the dtype of `a`. Real arrays are
    ///     returned unchanged.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// imag, conjugate, angle
    ///
    /// Examples
    /// --------
    /// >>> mx.real(mx.array([1 + 2j, 3 + 0j]))
    /// array([1, 3], dtype=float32)
    real real,
    /// Imaginary part of each element, zero for real dtypes.
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
    ///     Same shape as `a`. float32 for complex64, float64 for complex128, else the dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// real, conjugate, angle
    ///
    /// Examples
    /// --------
    /// >>> mx.imag(mx.array([1 + 2j, 3 + 0j]))
    /// array([2, 0], dtype=float32)
    imag imag,
    /// Return the input and let no gradient pass through it.
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
    ///     Array with the values, shape and dtype of `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// grad, vjp
    ///
    /// Notes
    /// -----
    /// Derivatives treat the result as a constant.
    ///
    /// Examples
    /// --------
    /// >>> mx.grad(lambda x: x * mx.stop_gradient(x))(mx.array(3.0))
    /// array(3, dtype=float32)
    stop_gradient stop_gradient,
    /// Alias of `arccos`.
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
    /// arccos
    ///
    /// Examples
    /// --------
    /// >>> mx.acos(mx.array([1.0, -1.0]))
    /// array([0, 3.14159], dtype=float32)
    acos arccos,
    /// Alias of `arccosh`.
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
    /// arccosh
    ///
    /// Examples
    /// --------
    /// >>> mx.acosh(mx.array([1.0, 2.0]))
    /// array([0, 1.31696], dtype=float32)
    acosh arccosh,
    /// Alias of `arcsin`.
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
    /// arcsin
    ///
    /// Examples
    /// --------
    /// >>> mx.asin(mx.array([0.0, 1.0]))
    /// array([0, 1.5708], dtype=float32)
    asin arcsin,
    /// Alias of `arcsinh`.
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
    /// arcsinh
    ///
    /// Examples
    /// --------
    /// >>> mx.asinh(mx.array([0.0, 1.0]))
    /// array([0, 0.881374], dtype=float32)
    asinh arcsinh,
    /// Alias of `arctan`.
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
    /// arctan
    ///
    /// Examples
    /// --------
    /// >>> mx.atan(mx.array([0.0, 1.0]))
    /// array([0, 0.785398], dtype=float32)
    atan arctan,
    /// Alias of `arctanh`.
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
    /// arctanh
    ///
    /// Examples
    /// --------
    /// >>> mx.atanh(mx.array([0.0, 0.5]))
    /// array([0, 0.549306], dtype=float32)
    atanh arctanh,
}

unary_functions! {
    register_unary_named (a, stream = None)
    /// Complex conjugate of each element.
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
    ///     Same shape and dtype as `a`. Real arrays are returned unchanged.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// real, imag
    ///
    /// Examples
    /// --------
    /// >>> mx.conjugate(mx.array([1 + 2j, 3 - 4j]))
    /// array([1-2j, 3+4j], dtype=complex64)
    conjugate conjugate,
    /// Alias of `conjugate`.
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
    ///     Same shape and dtype as `a`. Real arrays are returned unchanged.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is neither an array nor convertible to one.
    ///
    /// See Also
    /// --------
    /// conjugate
    ///
    /// Examples
    /// --------
    /// >>> mx.conj(mx.array([1 + 2j]))
    /// array([1-2j], dtype=complex64)
    conj conjugate,
    /// Bitwise NOT of each element; logical NOT for booleans.
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
    ///     Same shape and dtype as `a`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `a` is floating or complex, or not convertible to an array.
    ///
    /// See Also
    /// --------
    /// logical_not, bitwise_and
    ///
    /// Notes
    /// -----
    /// Of a signed integer this is ``-a - 1``.
    ///
    /// Examples
    /// --------
    /// >>> mx.bitwise_invert(mx.array([0, 5]))
    /// array([-1, -6], dtype=int32)
    /// >>> mx.bitwise_invert(mx.array([True, False]))
    /// array([False, True], dtype=bool)
    bitwise_invert bitwise_invert,
    /// Test each element for NaN.
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
    /// isfinite, isinf, nan_to_num
    ///
    /// Notes
    /// -----
    /// A complex element is NaN if either part is. Always false for integers and booleans.
    ///
    /// Examples
    /// --------
    /// >>> mx.isnan(mx.array([1.0, mx.nan, mx.inf]))
    /// array([False, True, False], dtype=bool)
    isnan isnan,
    /// Test each element for an infinity of either sign.
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
    /// isposinf, isneginf, isfinite
    ///
    /// Notes
    /// -----
    /// A complex element is infinite if either part is. Always false for integers and booleans.
    ///
    /// Examples
    /// --------
    /// >>> mx.isinf(mx.array([1.0, mx.nan, -mx.inf]))
    /// array([False, False, True], dtype=bool)
    isinf isinf,
    /// Test each element for being finite: neither infinite nor NaN.
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
    /// isinf, isnan
    ///
    /// Notes
    /// -----
    /// A complex element is finite if both parts are. Always true for integers and booleans.
    ///
    /// Examples
    /// --------
    /// >>> mx.isfinite(mx.array([1.0, mx.nan, mx.inf]))
    /// array([True, False, False], dtype=bool)
    isfinite isfinite,
    /// Test each element for positive infinity.
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
    /// isneginf, isinf
    ///
    /// Notes
    /// -----
    /// A complex element counts if it is equal to ``inf + 0j``. Always false for integers and booleans.
    ///
    /// Examples
    /// --------
    /// >>> mx.isposinf(mx.array([1.0, mx.inf, -mx.inf]))
    /// array([False, True, False], dtype=bool)
    isposinf isposinf,
    /// Test each element for negative infinity.
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
    /// isposinf, isinf
    ///
    /// Notes
    /// -----
    /// A complex element counts if it is equal to ``-inf + 0j``. Always false for integers and booleans.
    ///
    /// Examples
    /// --------
    /// >>> mx.isneginf(mx.array([1.0, mx.inf, -mx.inf]))
    /// array([False, False, True], dtype=bool)
    isneginf isneginf,
    /// Convert angles from radians to degrees: `a * 180 / pi`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Angles in radians, of any shape and dtype.
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
    /// radians
    ///
    /// Examples
    /// --------
    /// >>> mx.degrees(mx.array([0.0, mx.pi]))
    /// array([0, 180], dtype=float32)
    degrees degrees,
    /// Convert angles from degrees to radians: `a * pi / 180`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Angles in degrees, of any shape and dtype.
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
    /// degrees
    ///
    /// Examples
    /// --------
    /// >>> mx.radians(mx.array([0, 180]))
    /// array([0, 3.14159], dtype=float32)
    radians radians,
    /// Alias of `degrees`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Angles in radians, of any shape and dtype.
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
    /// degrees
    ///
    /// Examples
    /// --------
    /// >>> mx.rad2deg(mx.array([mx.pi]))
    /// array([180], dtype=float32)
    rad2deg degrees,
    /// Alias of `radians`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Angles in degrees, of any shape and dtype.
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
    /// radians
    ///
    /// Examples
    /// --------
    /// >>> mx.deg2rad(mx.array([180]))
    /// array([3.14159], dtype=float32)
    deg2rad radians,
}

binary_functions! {
    register_binary_named pair (a, b, stream = None)
    /// Sum of two arrays, element by element: `a + b`.
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
    /// subtract, multiply
    ///
    /// Notes
    /// -----
    /// Integers wrap around on overflow. The sum of booleans is their logical OR.
    ///
    /// Examples
    /// --------
    /// >>> mx.add(mx.array([1, 2]), mx.array([[10], [20]]))
    /// array([[11, 12],
    ///        [21, 22]], dtype=int32)
    add add,
    /// Difference of two arrays, element by element: `a - b`.
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
    /// add, negative
    ///
    /// Notes
    /// -----
    /// Integers wrap around on overflow. The difference of booleans is their logical XOR.
    ///
    /// Examples
    /// --------
    /// >>> mx.subtract(mx.array([5.0, 7.0]), 2)
    /// array([3, 5], dtype=float32)
    subtract subtract,
    /// Product of two arrays, element by element: `a * b`.
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
    /// divide, matmul
    ///
    /// Notes
    /// -----
    /// Integers wrap around on overflow. The product of booleans is their logical AND.
    ///
    /// Examples
    /// --------
    /// >>> mx.multiply(mx.array([[1], [2]]), mx.array([10, 20]))
    /// array([[10, 20],
    ///        [20, 40]], dtype=int32)
    multiply multiply,
    /// Quotient of two arrays, element by element: `a / b`.
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
    ///     Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.
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
    /// floor_divide, remainder, reciprocal
    ///
    /// Notes
    /// -----
    /// Integers are converted to float32 first. Division by zero follows IEEE 754: an infinity, or NaN for ``0 / 0``.
    ///
    /// Examples
    /// --------
    /// >>> mx.divide(mx.array([1, 3]), mx.array([2, 0]))
    /// array([0.5, inf], dtype=float32)
    divide divide,
    /// Quotient rounded down to an integer: `floor(a / b)`.
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
    ///     Array of the broadcast shape and the promoted dtype; float32 for float8.
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
    /// divide, remainder, divmod
    ///
    /// Notes
    /// -----
    /// The quotient of an integer and zero is zero. The gradient is zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.floor_divide(mx.array([7, -7, 7]), mx.array([2, 2, 0]))
    /// array([3, -4, 0], dtype=int32)
    /// >>> mx.floor_divide(mx.array([-7.5]), 2)
    /// array([-4], dtype=float32)
    floor_divide floor_divide,
    /// Remainder of the floor division, with the sign of `b`.
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
    ///     Array of the broadcast shape and the promoted dtype; float32 for float8.
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
    /// fmod, floor_divide, divmod
    ///
    /// Notes
    /// -----
    /// ``a - floor_divide(a, b) * b``, as Python's ``%``. The remainder of an integer and zero is `a`, of a
    /// floating-point number and zero NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.remainder(mx.array([7, -7]), 3)
    /// array([1, 2], dtype=int32)
    remainder remainder,
    /// Remainder of the truncated division, with the sign of `a`.
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
    ///     Array of the broadcast shape and the promoted dtype; float32 for float8.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If both operands are boolean, or one is complex or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// remainder, modf
    ///
    /// Notes
    /// -----
    /// ``a - trunc(a / b) * b``, as C's ``fmod``. The remainder of an integer and zero is zero, of a floating-point
    /// number and zero NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.fmod(mx.array([7, -7]), 3)
    /// array([1, -1], dtype=int32)
    fmod fmod,
    /// Bitwise AND of two arrays.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Operands of integer or boolean dtypes whose shapes broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape and the promoted dtype.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is floating or complex, or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// bitwise_or, bitwise_xor, logical_and
    ///
    /// Examples
    /// --------
    /// >>> mx.bitwise_and(mx.array([12, 7]), 10)
    /// array([8, 2], dtype=int32)
    bitwise_and bitwise_and,
    /// Bitwise OR of two arrays.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Operands of integer or boolean dtypes whose shapes broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape and the promoted dtype.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is floating or complex, or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// bitwise_and, bitwise_xor, logical_or
    ///
    /// Examples
    /// --------
    /// >>> mx.bitwise_or(mx.array([12, 7]), 10)
    /// array([14, 15], dtype=int32)
    bitwise_or bitwise_or,
    /// Bitwise exclusive OR of two arrays.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Operands of integer or boolean dtypes whose shapes broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape and the promoted dtype.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is floating or complex, or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// bitwise_and, bitwise_or, logical_xor
    ///
    /// Examples
    /// --------
    /// >>> mx.bitwise_xor(mx.array([12, 7]), 10)
    /// array([6, 13], dtype=int32)
    bitwise_xor bitwise_xor,
    /// Bits of `a` shifted left by `b`: `a * 2**b`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Integers or booleans to shift.
    /// b : array_like
    ///     Numbers of bits to shift by; the shapes of `a` and `b` broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape and the promoted dtype; uint8 if both operands are boolean.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is floating or complex, or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// right_shift
    ///
    /// Notes
    /// -----
    /// Bits shifted out are lost. A count that is negative or at least the number of bits gives zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.left_shift(mx.array([1, 3]), 2)
    /// array([4, 12], dtype=int32)
    left_shift left_shift,
    /// Bits of `a` shifted right by `b`: `floor(a / 2**b)`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Integers or booleans to shift.
    /// b : array_like
    ///     Numbers of bits to shift by; the shapes of `a` and `b` broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape and the promoted dtype; uint8 if both operands are boolean.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is floating or complex, or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// left_shift
    ///
    /// Notes
    /// -----
    /// The shift is arithmetic: it keeps the sign of signed integers. A count that is negative or at least the number
    /// of bits gives zero, or -1 for negative integers.
    ///
    /// Examples
    /// --------
    /// >>> mx.right_shift(mx.array([8, -8]), 1)
    /// array([4, -4], dtype=int32)
    /// >>> mx.right_shift(mx.array([8, -8]), 40)
    /// array([0, -1], dtype=int32)
    right_shift right_shift,
    /// Alias of `left_shift`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Integers or booleans to shift.
    /// b : array_like
    ///     Numbers of bits to shift by; the shapes of `a` and `b` broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape and the promoted dtype; uint8 if both operands are boolean.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is floating or complex, or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// left_shift
    ///
    /// Examples
    /// --------
    /// >>> mx.bitwise_left_shift(mx.array([1, 3]), 2)
    /// array([4, 12], dtype=int32)
    bitwise_left_shift left_shift,
    /// Alias of `right_shift`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Integers or booleans to shift.
    /// b : array_like
    ///     Numbers of bits to shift by; the shapes of `a` and `b` broadcast.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of the broadcast shape and the promoted dtype; uint8 if both operands are boolean.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If an operand is floating or complex, or not convertible to an array.
    /// ValueError
    ///     If the shapes do not broadcast.
    /// OverflowError
    ///     If a Python integer does not fit the dtype of the other operand.
    ///
    /// See Also
    /// --------
    /// right_shift
    ///
    /// Examples
    /// --------
    /// >>> mx.bitwise_right_shift(mx.array([8, -8]), 1)
    /// array([4, -4], dtype=int32)
    bitwise_right_shift right_shift,
}

comparisons! {
    register_comparisons (a, b, stream = None)
    /// Test whether two arrays are equal, element by element: `a == b`.
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
    ///     Bool array of the broadcast shape.
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
    /// not_equal, isclose, array_equal
    ///
    /// Notes
    /// -----
    /// NaN is equal to nothing. Signed integers and uint64 are compared by their exact values, and so are Python
    /// integers beyond the range of the dtype.
    ///
    /// Examples
    /// --------
    /// >>> mx.equal(mx.array([1, 2]), mx.array([1.0, mx.nan]))
    /// array([True, False], dtype=bool)
    equal Eq,
    /// Test whether two arrays differ, element by element: `a != b`.
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
    ///     Bool array of the broadcast shape.
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
    /// equal, isclose
    ///
    /// Notes
    /// -----
    /// NaN differs from everything, also from itself. Signed integers and uint64 are compared by their exact values,
    /// and so are Python integers beyond the range of the dtype.
    ///
    /// Examples
    /// --------
    /// >>> mx.not_equal(mx.array([1, 2]), mx.array([1.0, mx.nan]))
    /// array([False, True], dtype=bool)
    not_equal Ne,
    /// Test whether `a` is less than `b`, element by element: `a < b`.
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
    ///     Bool array of the broadcast shape.
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
    /// less_equal, greater
    ///
    /// Notes
    /// -----
    /// Complex numbers are ordered by their real parts, then by their imaginary parts. Comparisons with NaN are false.
    /// Signed integers and uint64 are compared by their exact values, and so are Python integers beyond the range of
    /// the dtype.
    ///
    /// Examples
    /// --------
    /// >>> mx.less(mx.array([1, 2, 3]), 2)
    /// array([True, False, False], dtype=bool)
    less Lt,
    /// Test whether `a` is at most `b`, element by element: `a <= b`.
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
    ///     Bool array of the broadcast shape.
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
    /// less, greater_equal
    ///
    /// Notes
    /// -----
    /// Complex numbers are ordered by their real parts, then by their imaginary parts. Comparisons with NaN are false.
    /// Signed integers and uint64 are compared by their exact values, and so are Python integers beyond the range of
    /// the dtype.
    ///
    /// Examples
    /// --------
    /// >>> mx.less_equal(mx.array([1, 2, 3]), 2)
    /// array([True, True, False], dtype=bool)
    less_equal Le,
    /// Test whether `a` is greater than `b`, element by element: `a > b`.
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
    ///     Bool array of the broadcast shape.
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
    /// greater_equal, less
    ///
    /// Notes
    /// -----
    /// Complex numbers are ordered by their real parts, then by their imaginary parts. Comparisons with NaN are false.
    /// Signed integers and uint64 are compared by their exact values, and so are Python integers beyond the range of
    /// the dtype.
    ///
    /// Examples
    /// --------
    /// >>> mx.greater(mx.array([1, 2, 3]), 2)
    /// array([False, False, True], dtype=bool)
    greater Gt,
    /// Test whether `a` is at least `b`, element by element: `a >= b`.
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
    ///     Bool array of the broadcast shape.
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
    /// greater, less_equal
    ///
    /// Notes
    /// -----
    /// Complex numbers are ordered by their real parts, then by their imaginary parts. Comparisons with NaN are false.
    /// Signed integers and uint64 are compared by their exact values, and so are Python integers beyond the range of
    /// the dtype.
    ///
    /// Examples
    /// --------
    /// >>> mx.greater_equal(mx.array([1, 2, 3]), 2)
    /// array([False, True, True], dtype=bool)
    greater_equal Ge,
}

binary_functions! {
    register_binary pair (a, b, /, *, stream = None)
    /// Elements of `a` raised to the powers `b`: `a**b`.
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
    /// float_power, square, exp
    ///
    /// Notes
    /// -----
    /// The power of two integers is an integer: it wraps around on overflow, and is zero for a negative exponent. A
    /// negative real number to a fractional power is NaN. Anything to the power of zero is one, also NaN.
    ///
    /// Examples
    /// --------
    /// >>> mx.power(mx.array([2, 3]), mx.array([10, 0]))
    /// array([1024, 1], dtype=int32)
    /// >>> mx.power(mx.array([2.0]), -1)
    /// array([0.5], dtype=float32)
    power power,
    /// Maximum of two arrays, element by element; NaN if either is NaN.
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
    /// minimum, fmax, max, clip
    ///
    /// Notes
    /// -----
    /// Complex numbers are ordered by their real parts, then by their imaginary parts. Where both are equal, the
    /// gradient flows to `b`.
    ///
    /// Examples
    /// --------
    /// >>> mx.maximum(mx.array([1.0, 5.0, mx.nan]), 3.0)
    /// array([3, 5, nan], dtype=float32)
    maximum maximum,
    /// Minimum of two arrays, element by element; NaN if either is NaN.
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
    /// maximum, fmin, min, clip
    ///
    /// Notes
    /// -----
    /// Complex numbers are ordered by their real parts, then by their imaginary parts. Where both are equal, the
    /// gradient flows to `b`.
    ///
    /// Examples
    /// --------
    /// >>> mx.minimum(mx.array([1.0, 5.0, mx.nan]), 3.0)
    /// array([1, 3, nan], dtype=float32)
    minimum minimum,
    /// Logarithm of a sum of exponentials: `log(exp(a) + exp(b))`, without overflow.
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
    ///     Array of the broadcast shape; float32 if both operands are integers or booleans, else the promoted dtype.
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
    /// logaddexp2, logsumexp
    ///
    /// Examples
    /// --------
    /// >>> mx.logaddexp(mx.array([0.0, 1000.0]), mx.array([0.0, 1000.0]))
    /// array([0.693147, 1000.69], dtype=float32)
    logaddexp logaddexp,
    /// Angle of the point `(b, a)` from the positive x axis, in radians.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Ordinates (y).
    /// b : array_like
    ///     Abscissas (x); the shapes of `a` and `b` broadcast.
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
    /// arctan, angle, hypot
    ///
    /// Notes
    /// -----
    /// ``arctan(a / b)`` with the quadrant of the point taken into account: results lie in [-pi, pi].
    ///
    /// Examples
    /// --------
    /// >>> mx.arctan2(mx.array([0.0, 1.0, -1.0]), mx.array([-1.0, 0.0, -1.0]))
    /// array([3.14159, 1.5708, -2.35619], dtype=float32)
    arctan2 arctan2,
    /// Alias of `power`.
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
    /// power
    ///
    /// Examples
    /// --------
    /// >>> mx.pow(mx.array([2, 3]), 2)
    /// array([4, 9], dtype=int32)
    pow power,
    /// Alias of `arctan2`.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Ordinates (y).
    /// b : array_like
    ///     Abscissas (x); the shapes of `a` and `b` broadcast.
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
    /// arctan2
    ///
    /// Examples
    /// --------
    /// >>> mx.atan2(mx.array([1.0]), mx.array([1.0]))
    /// array([0.785398], dtype=float32)
    atan2 arctan2,
}

binary_functions! {
    register_logical compared (a, b, /, *, stream = None)
    /// Logical AND of two arrays: true where both elements are nonzero.
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
    ///     Bool array of the broadcast shape.
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
    /// logical_or, logical_xor, logical_not, bitwise_and
    ///
    /// Notes
    /// -----
    /// Operands of any dtype; NaN is not zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.logical_and(mx.array([0, 2]), mx.array([3.0, mx.nan]))
    /// array([False, True], dtype=bool)
    logical_and logical_and,
    /// Logical OR of two arrays: true where either element is nonzero.
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
    ///     Bool array of the broadcast shape.
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
    /// logical_and, logical_xor, logical_not, bitwise_or
    ///
    /// Notes
    /// -----
    /// Operands of any dtype; NaN is not zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.logical_or(mx.array([0, 2]), mx.array([0.0, 0.0]))
    /// array([False, True], dtype=bool)
    logical_or logical_or,
    /// Logical XOR of two arrays: true where exactly one element is nonzero.
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
    ///     Bool array of the broadcast shape.
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
    /// logical_and, logical_or, logical_not, bitwise_xor
    ///
    /// Notes
    /// -----
    /// Operands of any dtype; NaN is not zero.
    ///
    /// Examples
    /// --------
    /// >>> mx.logical_xor(mx.array([0, 2]), mx.array([3, 3]))
    /// array([True, False], dtype=bool)
    logical_xor logical_xor,
}

/// Convert the elements of an array to another dtype.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// dtype : dtype, str or type
///     Dtype of the result. Python's `int`, `float` and `complex` keep the width of an array of their kind: int64
///     stays int64. For other arrays they stand for int32, float32 and complex64, or for the 64-bit dtype (128-bit
///     for complex numbers) if those would lose values that the dtype of `a` holds.
/// copy : bool, optional
///     If False, return `a` itself if it has the dtype already and is on the device. Default: True.
/// device : Device or str, optional
///     Device of the result, as in the array API standard: a Device, ``"cpu"`` or ``"gpu"``. Default: that of
///     `stream`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the same shape with the given dtype.
///
/// Raises
/// ------
/// TypeError
///     If `dtype` names no dtype, or `a` is not convertible to an array.
/// ValueError
///     If the device is not available.
///
/// See Also
/// --------
/// view, can_cast, result_type
///
/// Notes
/// -----
/// Floating-point numbers are truncated towards zero when converted to integers; the result is unspecified for NaN,
/// infinities and numbers out of range. Integers wrap around. Complex numbers lose their imaginary part. Everything
/// but zero becomes True.
///
/// Examples
/// --------
/// >>> mx.astype(mx.array([1.7, -1.7]), mx.int32)
/// array([1, -1], dtype=int32)
/// >>> mx.astype(mx.array([300]), mx.uint8)
/// array([44], dtype=uint8)
/// >>> mx.astype(mx.array([1], dtype=mx.int64), float).dtype
/// umber.core.float64
#[pyfunction]
#[pyo3(signature = (a, dtype, /, *, copy = true, device = None, stream = None))]
fn astype<'py>(
    a: &Bound<'py, PyAny>,
    dtype: DtypeArg,
    copy: bool,
    device: Option<DeviceArg>,
    stream: Option<StreamArg>,
) -> PyResult<Bound<'py, PyAny>> {
    let stream = resolve_stream("astype", stream, device)?;
    let array = a.extract::<Operand>()?.into_array();
    let dtype = dtype.dtype_for(array.dtype());
    let is_on_device = stream.is_none_or(|StreamArg(stream)| stream.device == array.device());
    if !copy && is_on_device && a.is_instance_of::<PyArray>() && array.dtype() == dtype {
        return Ok(a.clone());
    }
    let result = record_on(stream, || ops::astype(&array, dtype)).map(NewArray::from)?;
    let result = match stream {
        Some(StreamArg(stream)) => result.on(stream)?,
        None => result,
    };
    Ok(result.object(a.py())?.into_any())
}

/// A limit of [`clip`] as an array; `None` for a Python number outside the range of the integer dtype of `a` on `side`, which
/// limits no element.
fn limit(value: Option<Operand>, a: &Array, side: Side) -> PyResult<Option<Array>> {
    let Some(value) = value else { return Ok(None) };
    if let Operand::Number(number) = &value
        && number.check_fits(number.weak_dtype(a.dtype())).is_err()
        && (number.as_f64() > 0.0) == (side == Side::Right)
    {
        return Ok(None);
    }
    value.promote_with(a).map(Some)
}

/// Limit the elements of an array to an interval: `minimum(maximum(a, a_min), a_max)`.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// a_min : array_like, optional
///     Lower limit; broadcasts with `a`. Default: no limit.
/// a_max : array_like, optional
///     Upper limit; broadcasts with `a`. Default: no limit.
/// min, max : array_like, optional
///     The array API standard's names for `a_min` and `a_max`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Array of the broadcast shape and the promoted dtype.
///
/// Raises
/// ------
/// TypeError
///     If a limit is given under both of its names, or an argument is not convertible to an array.
/// ValueError
///     If the shapes do not broadcast.
/// OverflowError
///     If a Python integer out of the range of the dtype of `a` would limit every element: a lower limit above it,
///     or an upper limit below.
///
/// See Also
/// --------
/// maximum, minimum
///
/// Notes
/// -----
/// NaN stays NaN. If a lower limit exceeds the upper one, the result is the upper one. A Python integer beyond all
/// integers of the dtype of `a` does not limit: a lower limit below the dtype's range, or an upper limit above it.
/// At a limit, the gradient flows to the limit.
///
/// Examples
/// --------
/// >>> mx.clip(mx.array([-1.0, 0.5, 9.0]), 0, 1)
/// array([0, 0.5, 1], dtype=float32)
/// >>> mx.clip(mx.array([1, 5, 9], dtype=mx.uint8), -5, 6)
/// array([1, 5, 6], dtype=uint8)
#[pyfunction]
#[pyo3(signature = (a, /, a_min = None, a_max = None, *, min = None, max = None, stream = None))]
fn clip(
    a: Operand,
    a_min: Option<Operand>,
    a_max: Option<Operand>,
    min: Option<Operand>,
    max: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    if a_min.is_some() && min.is_some() || a_max.is_some() && max.is_some() {
        return Err(PyTypeError::new_err("[clip] a limit is given under both of its names; pass only one"));
    }
    let a = a.into_array();
    let (low, high) = (limit(a_min.or(min), &a, Side::Left)?, limit(a_max.or(max), &a, Side::Right)?);
    record_on(stream, || ops::clip(&a, low.as_ref(), high.as_ref())).map(NewArray::from)
}

/// Round each element to a number of decimals; halves are rounded to even.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// decimals : int, optional
///     Number of decimal places; negative for tens, hundreds and so on. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Same shape and dtype as `a`; float32 for float8.
///
/// Raises
/// ------
/// TypeError
///     If `decimals` is not an integer, or `a` is not convertible to an array.
///
/// See Also
/// --------
/// rint, floor, ceil, trunc
///
/// Notes
/// -----
/// Integers are rounded exactly, in integer arithmetic. float16 and bfloat16 are computed in float32. Both parts of
/// a complex number are rounded. The gradient is zero.
///
/// Examples
/// --------
/// >>> mx.round(mx.array([0.5, 1.5, 2.6]))
/// array([0, 2, 3], dtype=float32)
/// >>> mx.round(mx.array([1.25, 0.12]), 1)
/// array([1.2, 0.1], dtype=float32)
/// >>> mx.round(mx.array([1250, 1350]), -2)
/// array([1200, 1400], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, /, decimals = 0, stream = None))]
fn round(a: Operand, decimals: i32, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::round(&a, decimals)).map(NewArray::from)
}

/// Replace NaN and infinities by finite numbers.
///
/// Parameters
/// ----------
/// a : array_like
///     Input of any shape and dtype.
/// nan : float, optional
///     Replacement of NaN. Default: 0.0.
/// posinf : float, optional
///     Replacement of positive infinity. Default: the largest finite number of the dtype.
/// neginf : float, optional
///     Replacement of negative infinity. Default: the most negative finite number of the dtype.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Same shape and dtype as `a`; float32 for float8. Integers and booleans are returned unchanged.
///
/// Raises
/// ------
/// TypeError
///     If `a` is not convertible to an array, or a replacement is not a number.
///
/// See Also
/// --------
/// isnan, isinf, isfinite
///
/// Notes
/// -----
/// In complex numbers both parts are replaced.
///
/// Examples
/// --------
/// >>> mx.nan_to_num(mx.array([mx.nan, mx.inf, 1.5]), posinf=9.0)
/// array([0, 9, 1.5], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, nan = 0.0, posinf = None, neginf = None, *, stream = None))]
fn nan_to_num(
    a: Operand,
    nan: f64,
    posinf: Option<f64>,
    neginf: Option<f64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.into_array();
    record_on(stream, || ops::nan_to_num(&a, nan, posinf, neginf)).map(NewArray::from)
}

/// Test element by element whether `a` is close to `b`: `|a - b| <= atol + rtol * |b|`.
///
/// Parameters
/// ----------
/// a, b : array_like
///     Arrays to compare; their shapes broadcast.
/// rtol : float, optional
///     Relative tolerance. Default: 1e-5.
/// atol : float, optional
///     Absolute tolerance. Default: 1e-8.
/// equal_nan : bool, optional
///     Whether NaN is close to NaN. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Bool array of the broadcast shape.
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
/// allclose, equal
///
/// Notes
/// -----
/// The test is not symmetric: `b` is the reference. An infinity is close to itself only. Integers of 32 and 64 bits
/// are compared in float64, smaller ones in float32.
///
/// Examples
/// --------
/// >>> mx.isclose(mx.array([1.0, 1.0]), mx.array([1.000001, 1.1]))
/// array([True, False], dtype=bool)
#[pyfunction]
#[pyo3(signature = (a, b, /, rtol = 1e-5, atol = 1e-8, *, equal_nan = false, stream = None))]
fn isclose(
    a: Operand,
    b: Operand,
    rtol: f64,
    atol: f64,
    equal_nan: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, b) = Operand::compared(a, b)?;
    let closeness = Closeness { relative: rtol, absolute: atol, equal_nan };
    record_on(stream, || ops::isclose(&a, &b, closeness)).map(NewArray::from)
}

/// Test whether all elements of `a` are close to those of `b`.
///
/// Parameters
/// ----------
/// a, b : array_like
///     Arrays to compare; their shapes broadcast.
/// rtol : float, optional
///     Relative tolerance. Default: 1e-5.
/// atol : float, optional
///     Absolute tolerance. Default: 1e-8.
/// equal_nan : bool, optional
///     Whether NaN is close to NaN. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     0-d bool array: ``all(isclose(a, b))``.
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
/// isclose, array_equal
///
/// Examples
/// --------
/// >>> mx.allclose(mx.array([1.0, 2.0]), mx.array([1.0, 2.000001]))
/// array(True, dtype=bool)
#[pyfunction]
#[pyo3(signature = (a, b, /, rtol = 1e-5, atol = 1e-8, *, equal_nan = false, stream = None))]
fn allclose(
    a: Operand,
    b: Operand,
    rtol: f64,
    atol: f64,
    equal_nan: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, b) = Operand::compared(a, b)?;
    let closeness = Closeness { relative: rtol, absolute: atol, equal_nan };
    record_on(stream, || ops::allclose(&a, &b, closeness)).map(NewArray::from)
}

/// Test whether two arrays have the same shape and equal elements.
///
/// Parameters
/// ----------
/// a, b : array_like
///     Arrays to compare.
/// equal_nan : bool, optional
///     Whether NaN is equal to NaN. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     0-d bool array. False if the shapes differ.
///
/// Raises
/// ------
/// TypeError
///     If an operand is not convertible to an array.
///
/// See Also
/// --------
/// array_equiv, allclose
///
/// Notes
/// -----
/// Dtypes may differ; elements are compared in the promoted dtype.
///
/// Examples
/// --------
/// >>> mx.array_equal(mx.array([1, 2]), mx.array([1.0, 2.0]))
/// array(True, dtype=bool)
/// >>> mx.array_equal(mx.array([1, 2]), mx.array([[1, 2]]))
/// array(False, dtype=bool)
#[pyfunction]
#[pyo3(signature = (a, b, equal_nan = false, stream = None))]
fn array_equal(a: Operand, b: Operand, equal_nan: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, b) = Operand::compared(a, b)?;
    let nan = if equal_nan { ops::NanIsEqual::Yes } else { ops::NanIsEqual::No };
    record_on(stream, || ops::array_equal(&a, &b, nan)).map(NewArray::from)
}

/// Test whether two arrays are equal after broadcasting.
///
/// Parameters
/// ----------
/// a, b : array_like
///     Arrays to compare.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     0-d bool array. False if the shapes do not broadcast.
///
/// Raises
/// ------
/// TypeError
///     If an operand is not convertible to an array.
///
/// See Also
/// --------
/// array_equal, equal
///
/// Examples
/// --------
/// >>> mx.array_equiv(mx.array([1, 2]), mx.array([[1, 2], [1, 2]]))
/// array(True, dtype=bool)
/// >>> mx.array_equiv(mx.array([1, 2]), mx.array([1, 2, 3]))
/// array(False, dtype=bool)
#[pyfunction]
#[pyo3(signature = (a, b, *, stream = None))]
fn array_equiv(a: Operand, b: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, b) = Operand::compared(a, b)?;
    record_on(stream, || ops::array_equiv(&a, &b)).map(NewArray::from)
}

/// Floor quotient and remainder of two arrays.
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
/// list of array
///     ``[floor_divide(a, b), remainder(a, b)]``, each of the broadcast shape and the promoted dtype.
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
/// floor_divide, remainder
///
/// Notes
/// -----
/// ``a = quotient * b + remainder``.
///
/// Examples
/// --------
/// >>> mx.divmod(mx.array([7, -7]), 2)
/// [array([3, -4], dtype=int32), array([1, 1], dtype=int32)]
#[pyfunction]
#[pyo3(signature = (a, b, stream = None))]
fn divmod(a: Operand, b: Operand, stream: Option<StreamArg>) -> PyResult<Vec<NewArray>> {
    let (a, b) = Operand::pair(a, b)?;
    let (quotient, remainder) = record_on(stream, || ops::divmod(&a, &b))?;
    Ok(vec![quotient.into(), remainder.into()])
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_unary(module)?;
    register_unary_named(module)?;
    register_binary_named(module)?;
    register_comparisons(module)?;
    register_binary(module)?;
    register_logical(module)?;
    for function in [
        wrap_pyfunction!(astype, module)?,
        wrap_pyfunction!(clip, module)?,
        wrap_pyfunction!(round, module)?,
        wrap_pyfunction!(nan_to_num, module)?,
        wrap_pyfunction!(isclose, module)?,
        wrap_pyfunction!(allclose, module)?,
        wrap_pyfunction!(array_equal, module)?,
        wrap_pyfunction!(array_equiv, module)?,
        wrap_pyfunction!(divmod, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
