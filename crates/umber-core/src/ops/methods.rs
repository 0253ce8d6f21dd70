//! The common functions as methods of [`Array`].
//!
//! A method takes the arguments of its function, but axes as [`AxesArgument`] or [`ReductionArgument`], and the other operand as
//! [`Operand`]; an option that has a default is left to the function. Functions that have an operator are no methods.

use umber_types::{DType, KeepAxes, Result, SortOrder};

use super::{
    AxesArgument, AxisArgument, Closeness, Operand, Precision, ReductionArgument, ScanOrder, ShapeArgument,
    Split,
};
use crate::graph::Array;

/// Methods that call the function of the same name, for which `$x` is the array.
macro_rules! methods {
    ($($name:ident($($argument:ident: $type:ty),*) -> $output:ty, |$x:ident| $call:expr;)*) => {$(
        #[doc = concat!("[`ops::", stringify!($name), "`](fn@crate::ops::", stringify!($name), ") of this array.")]
        #[inline]
        pub fn $name(&self, $($argument: $type),*) -> Result<$output> {
            let $x = self;
            $call
        }
    )*};
}

/// Elementwise functions of one array.
macro_rules! unary_methods {
    ($($name:ident)*) => { methods! { $($name() -> Array, |x| super::$name(x);)* } };
}

/// Elementwise functions of the array and another operand.
macro_rules! binary_methods {
    ($($name:ident)*) => {
        methods! {
            $($name(other: impl Operand) -> Array, |x| {
                super::$name(x, &other.beside(x).map_err(|error| error.or_op(stringify!($name)))?)
            };)*
        }
    };
}

/// Reductions over axes.
macro_rules! reduction_methods {
    ($($name:ident($($argument:ident: $type:ty),*))*) => {
        methods! {
            $($name(axes: impl ReductionArgument $(, $argument: $type)*) -> Array, |x| {
                super::$name(x, slice(axes.axes().as_ref()), axes.keep_axes() $(, $argument)*)
            };)*
        }
    };
}

/// Axes as the functions take them.
fn slice<A: AsRef<[i64]>>(axes: Option<&A>) -> Option<&[i64]> {
    axes.map(AsRef::as_ref)
}

/// # Elementwise functions
impl Array {
    unary_methods! {
        abs sign square sqrt rsqrt reciprocal cbrt exp exp2 expm1 log log2 log10 log1p
        sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh degrees radians
        sigmoid erf erfc erfinv gammaln digamma
        floor ceil trunc rint isnan isinf isfinite signbit logical_not
        real imag conjugate angle stop_gradient
    }

    binary_methods! {
        power maximum minimum floor_divide fmod arctan2 hypot copysign logaddexp
        equal not_equal less less_equal greater greater_equal
        logical_and logical_or logical_xor
    }

    methods! {
        astype(dtype: DType) -> Array, |x| super::astype(x, dtype);
        round(decimals: i32) -> Array, |x| super::round(x, decimals);
        clip(low: impl Operand, high: impl Operand) -> Array, |x| {
            let bound = |bound: Result<Array>| bound.map_err(|error| error.or_op("clip"));
            super::clip(x, Some(&bound(low.beside(x))?), Some(&bound(high.beside(x))?))
        };
        select(a: &Array, b: &Array) -> Array, |condition| super::select(condition, a, b);
        isclose(other: impl Operand, tolerance: Closeness) -> Array, |x| {
            super::isclose(x, &other.beside(x).map_err(|error| error.or_op("isclose"))?, tolerance)
        };
        allclose(other: impl Operand, tolerance: Closeness) -> Array, |x| {
            super::allclose(x, &other.beside(x).map_err(|error| error.or_op("allclose"))?, tolerance)
        };
    }
}

/// # Reductions, scans and sorting
///
/// The axes are `..` for all, or one or more axes; [`keep`](crate::ops::keep) keeps them with length one.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape, ops::keep};
///
/// let x = Array::from([[1.0f32, 2.0], [3.0, 5.0]]);
/// assert_eq!(x.sum(..)?.item()?.as_f64(), 11.0);
/// assert_eq!(x.max(0)?.to_vec::<f32>()?, [3.0, 5.0]);
/// assert_eq!(x.mean([0, 1])?.shape(), &Shape::scalar());
/// assert_eq!((&x - x.mean(keep(-1))?).to_vec::<f32>()?, [-0.5, 0.5, -1.0, 1.0]);
/// # Ok::<(), umber::Error>(())
/// ```
impl Array {
    reduction_methods! {
        sum() prod() min() max() mean() all() any() count_nonzero() logsumexp() median() ptp()
        var(ddof: i64) std(ddof: i64)
    }

    methods! {
        argmin(axis: impl AxisArgument) -> Array, |x| super::argmin(x, axis.axis(), KeepAxes::No);
        argmax(axis: impl AxisArgument) -> Array, |x| super::argmax(x, axis.axis(), KeepAxes::No);
        softmax(axes: impl AxesArgument) -> Array, |x| super::softmax(x, slice(axes.axes().as_ref()), Precision::Native);
        log_softmax(axes: impl AxesArgument) -> Array, |x| super::log_softmax(x, slice(axes.axes().as_ref()));
        cumsum(order: impl Into<ScanOrder>) -> Array, |x| super::cumsum(x, order.into(), None);
        cumprod(order: impl Into<ScanOrder>) -> Array, |x| super::cumprod(x, order.into(), None);
        cummax(order: impl Into<ScanOrder>) -> Array, |x| super::cummax(x, order.into());
        cummin(order: impl Into<ScanOrder>) -> Array, |x| super::cummin(x, order.into());
        sort(axis: impl AxisArgument, order: SortOrder) -> Array, |x| super::sort(x, axis.axis(), order);
        argsort(axis: impl AxisArgument, order: SortOrder) -> Array, |x| super::argsort(x, axis.axis(), order);
        topk(k: i64, axis: impl AxisArgument) -> Array, |x| super::topk(x, k, axis.axis());
        diff(order: i64, axis: i64) -> Array, |x| super::diff(x, order, axis);
    }
}

/// # Shapes and selections
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, Shape};
///
/// let x: Array = (0..6).collect();
/// let (rows, matrix) = (2usize, x.reshape([2, -1])?);
/// assert_eq!(x.reshape((rows, -1))?.shape(), matrix.shape());
/// assert_eq!(matrix.transpose(..)?.shape(), &Shape::from([3, 2]));
/// assert_eq!(matrix.expand_dims(0)?.squeeze(..)?.shape(), matrix.shape());
/// # Ok::<(), umber::Error>(())
/// ```
impl Array {
    methods! {
        reshape(shape: impl ShapeArgument) -> Array, |x| super::reshape(x, shape);
        flatten(start_axis: i64, end_axis: i64) -> Array, |x| super::flatten(x, start_axis, end_axis);
        unflatten(axis: i64, shape: impl ShapeArgument) -> Array, |x| super::unflatten(x, axis, shape);
        squeeze(axes: impl AxesArgument) -> Array, |x| super::squeeze(x, slice(axes.axes().as_ref()));
        expand_dims(axes: impl ShapeArgument) -> Array, |x| super::expand_dims(x, axes.lengths().as_ref());
        transpose(axes: impl AxesArgument) -> Array, |x| super::transpose(x, slice(axes.axes().as_ref()));
        matrix_transpose() -> Array, |x| super::matrix_transpose(x);
        swapaxes(axis1: i64, axis2: i64) -> Array, |x| super::swapaxes(x, axis1, axis2);
        moveaxis(source: i64, destination: i64) -> Array, |x| super::moveaxis(x, source, destination);
        flip(axes: impl AxesArgument) -> Array, |x| super::flip(x, slice(axes.axes().as_ref()));
        broadcast_to(shape: impl ShapeArgument) -> Array, |x| super::broadcast_to(x, shape);
        repeat(repeats: i64, axis: impl AxisArgument) -> Array, |x| super::repeat(x, repeats, axis.axis());
        tile(reps: impl ShapeArgument) -> Array, |x| super::tile(x, reps.lengths().as_ref());
        split(at: Split<'_>, axis: i64) -> Vec<Array>, |x| super::split(x, at, axis);
        unstack(axis: i64) -> Vec<Array>, |x| super::unstack(x, axis);
        diag(k: i64) -> Array, |x| super::diag(x, k);
        tril(k: i64) -> Array, |x| super::tril(x, k);
        triu(k: i64) -> Array, |x| super::triu(x, k);
        take(indices: &Array, axis: impl AxisArgument) -> Array, |x| super::take(x, indices, axis.axis());
        take_along_axis(indices: &Array, axis: impl AxisArgument) -> Array, |x| {
            super::take_along_axis(x, indices, axis.axis())
        };
        contiguous() -> Array, |x| super::contiguous(x);
    }
}

/// # Products
impl Array {
    methods! {
        matmul(other: &Array) -> Array, |x| super::matmul(x, other);
        dot(other: &Array) -> Array, |x| super::dot(x, other);
        vdot(other: &Array) -> Array, |x| super::vdot(x, other);
        vecdot(other: &Array, axis: i64) -> Array, |x| super::vecdot(x, other, axis);
        inner(other: &Array) -> Array, |x| super::inner(x, other);
        outer(other: &Array) -> Array, |x| super::outer(x, other);
        kron(other: &Array) -> Array, |x| super::kron(x, other);
        tensordot(other: &Array, axes: &[i64], other_axes: &[i64]) -> Array, |x| {
            super::tensordot(x, other, axes, other_axes)
        };
    }
}
