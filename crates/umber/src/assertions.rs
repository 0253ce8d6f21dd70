//! Assertions about arrays, for tests.
//!
//! Arrays do not implement `PartialEq`: `==` would have to evaluate, could fail, and might mean the elements, as in NumPy, or the
//! whole array. [`Array::equals`] compares the elements of two arrays, and [`ops::equal`] element by
//! element.

use umber_core::{Array, ops};
use umber_types::{KeepAxes, Result};

/// Panic unless two arrays have the same shape, dtype and elements; NaN is equal to NaN.
///
/// An argument is an array, a reference to one, or a Rust value that converts to one; further arguments are a message as in
/// [`assert_eq!`].
///
/// ```
/// use umber::{Array, assert_array_eq};
///
/// let x = Array::from([1.0f32, 2.0]);
/// assert_array_eq!(&x * 2.0, [2.0f32, 4.0]);
/// assert_array_eq!(x.sum(..)?, 3.0f32, "the sum of {x}");
/// # Ok::<(), umber::Error>(())
/// ```
#[macro_export]
macro_rules! assert_array_eq {
    ($left:expr, $right:expr $(, $($message:tt)+)?) => {
        $crate::assertions::assert_equal(
            &$crate::Array::from($left),
            &$crate::Array::from($right),
            $crate::__message!($($($message)+)?),
        )
    };
}

/// Panic unless two arrays have the same shape and `|left - right| <= atol + rtol * |right|` for all elements; NaN is close to
/// NaN.
///
/// The tolerances are 1e-5 relative and 1e-8 absolute, or those given as `rtol = …`, `atol = …`, in this order. Arguments are as in
/// [`assert_array_eq!`].
///
/// ```
/// use umber::{Array, assert_allclose};
///
/// let x = Array::from([1.0f32, 2.0]);
/// assert_allclose!(x.exp()?.log()?, &x);
/// assert_allclose!(x.sin()?, [0.84f32, 0.91], rtol = 0.0, atol = 0.01);
/// # Ok::<(), umber::Error>(())
/// ```
#[macro_export]
macro_rules! assert_allclose {
    ($left:expr, $right:expr $(, rtol = $relative:expr)? $(, atol = $absolute:expr)? $(,)?) => {{
        let tolerance = $crate::ops::Closeness {
            $(relative: $relative,)?
            $(absolute: $absolute,)?
            equal_nan: true,
            ..$crate::ops::Closeness::default()
        };
        $crate::assertions::assert_close(&$crate::Array::from($left), &$crate::Array::from($right), tolerance)
    }};
}

/// A message that may be missing.
#[doc(hidden)]
#[macro_export]
macro_rules! __message {
    () => {
        ::std::option::Option::None
    };
    ($($message:tt)+) => {
        ::std::option::Option::Some(::std::format_args!($($message)+))
    };
}

/// [`assert_array_eq!`](crate::assert_array_eq) as a function.
///
/// # Panics
/// If the arrays differ, or the evaluation of one fails.
#[track_caller]
pub fn assert_equal(left: &Array, right: &Array, message: Option<std::fmt::Arguments<'_>>) {
    let is_same = || ops::array_equal(left, right, ops::NanIsEqual::Yes)?.item();
    if left.dtype() == right.dtype() && unwrap(is_same()).as_bool() {
        return;
    }
    let message = message.map(|message| format!(": {message}")).unwrap_or_default();
    panic!("arrays differ{message}\n left: {left}\nright: {right}\n{}", unwrap(difference(left, right)));
}

/// [`assert_allclose!`](crate::assert_allclose) as a function.
///
/// # Panics
/// If the arrays are not close, or the evaluation of one fails.
#[track_caller]
pub fn assert_close(left: &Array, right: &Array, tolerance: ops::Closeness) {
    let is_close = || ops::allclose(left, right, tolerance)?.item();
    if left.shape() == right.shape() && unwrap(is_close()).as_bool() {
        return;
    }
    let ops::Closeness { relative, absolute, .. } = tolerance;
    panic!(
        "arrays are not close with rtol={relative} and atol={absolute}\n left: {left}\nright: {right}\n{}",
        unwrap(difference(left, right))
    );
}

/// What differs.
fn difference(left: &Array, right: &Array) -> Result<String> {
    if left.shape() != right.shape() {
        return Ok(format!("shapes: {} and {}", left.shape(), right.shape()));
    }
    if left.dtype() != right.dtype() {
        return Ok(format!("dtypes: {} and {}", left.dtype(), right.dtype()));
    }
    let number = ops::count_nonzero(&ops::not_equal(left, right)?, None, KeepAxes::No)?.item()?.as_i64();
    let of = left.size();
    Ok(format!("{number} of {of} elements are not equal"))
}

#[track_caller]
fn unwrap<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}
