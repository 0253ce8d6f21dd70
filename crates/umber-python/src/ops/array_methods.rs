//! Methods of `array` that are also functions of the module.
//!
//! One subject: one table of methods per family; most lines are their documentation.
#![allow(unsafe_op_in_unsafe_fn, reason = "what `pymethods` writes around methods made by a table")]

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::Array;
use umber_core::ops::{self, ElementOrder, Selection};
use umber_core::types::ReduceKind;

use super::selecting::mode_of;
use crate::args::{Ints, Operand, StreamArg, axes, keep, record_on, scan_order};
use crate::array::PyArray;
use crate::dtype::{DtypeArg, summing};
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// Methods, one family per table. A row has a summary, a name and an example; the macro adds the shared documentation and code.
macro_rules! methods {
    (unary $($(#[$doc:meta])* $name:ident $example:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                $(#[$doc])*
                #[doc = ""]
                #[doc = " Parameters"]
                #[doc = " ----------"]
                #[doc = " stream : Stream or Device, optional"]
                #[doc = "     Where the operation runs. Default: the default stream of the default device."]
                #[doc = ""]
                #[doc = " Returns"]
                #[doc = " -------"]
                #[doc = " array"]
                #[doc = "     Same shape. All but `abs` and `square` compute integers in float32."]
                #[doc = ""]
                #[doc = " See Also"]
                #[doc = " --------"]
                #[doc = concat!("umber.core.", stringify!($name))]
                #[doc = ""]
                #[doc = " Examples"]
                #[doc = " --------"]
                #[doc = $example]
                #[pyo3(signature = (*, stream = None))]
                fn $name(&self, stream: Option<StreamArg>) -> PyResult<NewArray> {
                    record_on(stream, || ops::$name(&self.get())).map(NewArray::from)
                }
            )*
        }
    };
    (reductions $($(#[$doc:meta])* $name:ident $example:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                $(#[$doc])*
                #[doc = ""]
                #[doc = " Parameters"]
                #[doc = " ----------"]
                #[doc = " axis : int or sequence of int, optional"]
                #[doc = "     Axes to reduce. Default: all axes."]
                #[doc = " keepdims : bool, optional"]
                #[doc = "     Keep reduced axes with length 1. Default: False."]
                #[doc = " stream : Stream or Device, optional"]
                #[doc = "     Where the operation runs. Default: the default stream of the default device."]
                #[doc = ""]
                #[doc = " Returns"]
                #[doc = " -------"]
                #[doc = " array"]
                #[doc = "     Without the reduced axes, unless `keepdims`."]
                #[doc = ""]
                #[doc = " Raises"]
                #[doc = " ------"]
                #[doc = " IndexError"]
                #[doc = "     If an axis is out of bounds."]
                #[doc = " ValueError"]
                #[doc = "     If an axis occurs twice, or, where the result needs an element, if there is none."]
                #[doc = ""]
                #[doc = " See Also"]
                #[doc = " --------"]
                #[doc = concat!("umber.core.", stringify!($name))]
                #[doc = ""]
                #[doc = " Examples"]
                #[doc = " --------"]
                #[doc = $example]
                #[pyo3(signature = (axis = None, keepdims = false, *, stream = None))]
                fn $name(&self, axis: Option<Ints>, keepdims: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
                    record_on(stream, || ops::$name(&self.get(), axes(axis.as_ref()), keep(keepdims))).map(NewArray::from)
                }
            )*
        }
    };
    (typed_reductions $($(#[$doc:meta])* $name:ident $kind:ident $example:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                $(#[$doc])*
                #[doc = ""]
                #[doc = " Parameters"]
                #[doc = " ----------"]
                #[doc = " axis : int or sequence of int, optional"]
                #[doc = "     Axes to reduce. Default: all axes."]
                #[doc = " keepdims : bool, optional"]
                #[doc = "     Keep reduced axes with length 1. Default: False."]
                #[doc = " dtype : Dtype or str, optional"]
                #[doc = "     Type to convert the elements to first."]
                #[doc = " stream : Stream or Device, optional"]
                #[doc = "     Where the operation runs. Default: the default stream of the default device."]
                #[doc = ""]
                #[doc = " Returns"]
                #[doc = " -------"]
                #[doc = " array"]
                #[doc = "     Without the reduced axes, unless `keepdims`. Booleans and narrow integers are widened to"]
                #[doc = "     32 bits unless `dtype` is given."]
                #[doc = ""]
                #[doc = " Raises"]
                #[doc = " ------"]
                #[doc = " IndexError"]
                #[doc = "     If an axis is out of bounds."]
                #[doc = " ValueError"]
                #[doc = "     If an axis occurs twice."]
                #[doc = ""]
                #[doc = " See Also"]
                #[doc = " --------"]
                #[doc = concat!("umber.core.", stringify!($name))]
                #[doc = ""]
                #[doc = " Examples"]
                #[doc = " --------"]
                #[doc = $example]
                #[pyo3(signature = (axis = None, keepdims = false, *, dtype = None, stream = None))]
                fn $name(
                    &self,
                    axis: Option<Ints>,
                    keepdims: bool,
                    dtype: Option<DtypeArg>,
                    stream: Option<StreamArg>,
                ) -> PyResult<NewArray> {
                    let (a, axes, keep) = (self.get(), axes(axis.as_ref()), keep(keepdims));
                    let selection = with_dtype(&a, dtype);
                    record_on(stream, || ops::reduce_selected(ReduceKind::$kind, &a, axes, keep, selection)).map(NewArray::from)
                }
            )*
        }
    };
    (arg_reductions $($(#[$doc:meta])* $name:ident $example:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                $(#[$doc])*
                #[doc = ""]
                #[doc = " Parameters"]
                #[doc = " ----------"]
                #[doc = " axis : int, optional"]
                #[doc = "     Axis to reduce. Default: the flattened array."]
                #[doc = " keepdims : bool, optional"]
                #[doc = "     Keep the reduced axis with length 1; all axes if `axis` is None. Default: False."]
                #[doc = " stream : Stream or Device, optional"]
                #[doc = "     Where the operation runs. Default: the default stream of the default device."]
                #[doc = ""]
                #[doc = " Returns"]
                #[doc = " -------"]
                #[doc = " array"]
                #[doc = "     Indices, uint32."]
                #[doc = ""]
                #[doc = " Raises"]
                #[doc = " ------"]
                #[doc = " IndexError"]
                #[doc = "     If the axis is out of bounds."]
                #[doc = " ValueError"]
                #[doc = "     If there are no elements."]
                #[doc = ""]
                #[doc = " See Also"]
                #[doc = " --------"]
                #[doc = concat!("umber.core.", stringify!($name))]
                #[doc = ""]
                #[doc = " Examples"]
                #[doc = " --------"]
                #[doc = $example]
                #[pyo3(signature = (axis = None, keepdims = false, *, stream = None))]
                fn $name(&self, axis: Option<i64>, keepdims: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
                    record_on(stream, || ops::$name(&self.get(), axis, keep(keepdims))).map(NewArray::from)
                }
            )*
        }
    };
    (dispersions $($(#[$doc:meta])* $name:ident $function:ident $example:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                $(#[$doc])*
                #[doc = ""]
                #[doc = " Parameters"]
                #[doc = " ----------"]
                #[doc = " axis : int or sequence of int, optional"]
                #[doc = "     Axes to reduce. Default: all axes."]
                #[doc = " keepdims : bool, optional"]
                #[doc = "     Keep reduced axes with length 1. Default: False."]
                #[doc = " ddof : int, optional"]
                #[doc = "     Delta degrees of freedom: the divisor is the number of elements minus `ddof`. Default: 0."]
                #[doc = " correction : float, optional"]
                #[doc = "     The array API standard's name for `ddof`, which it overrides."]
                #[doc = " dtype : Dtype or str, optional"]
                #[doc = "     Type to convert the elements to first."]
                #[doc = " stream : Stream or Device, optional"]
                #[doc = "     Where the operation runs. Default: the default stream of the default device."]
                #[doc = ""]
                #[doc = " Returns"]
                #[doc = " -------"]
                #[doc = " array"]
                #[doc = "     Without the reduced axes, unless `keepdims`; float32 for integers."]
                #[doc = ""]
                #[doc = " Raises"]
                #[doc = " ------"]
                #[doc = " IndexError"]
                #[doc = "     If an axis is out of bounds."]
                #[doc = " ValueError"]
                #[doc = "     If an axis occurs twice."]
                #[doc = ""]
                #[doc = " See Also"]
                #[doc = " --------"]
                #[doc = concat!("umber.core.", stringify!($name))]
                #[doc = ""]
                #[doc = " Examples"]
                #[doc = " --------"]
                #[doc = $example]
                #[pyo3(signature = (
                    axis = None, keepdims = false, ddof = 0, *, correction = None, dtype = None, stream = None
                ))]
                fn $name(
                    &self,
                    axis: Option<Ints>,
                    keepdims: bool,
                    ddof: i64,
                    correction: Option<f64>,
                    dtype: Option<DtypeArg>,
                    stream: Option<StreamArg>,
                ) -> PyResult<NewArray> {
                    let ddof = correction.unwrap_or(ddof as f64);
                    let (a, axes, keep) = (self.get(), axes(axis.as_ref()), keep(keepdims));
                    let selection = with_dtype(&a, dtype);
                    record_on(stream, || ops::$function(&a, axes, keep, ddof, selection)).map(NewArray::from)
                }
            )*
        }
    };
    (scans $($(#[$doc:meta])* $name:ident $example:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                $(#[$doc])*
                #[doc = ""]
                #[doc = " Parameters"]
                #[doc = " ----------"]
                #[doc = " axis : int, optional"]
                #[doc = "     Axis to scan. Default: the flattened array."]
                #[doc = " reverse : bool, optional"]
                #[doc = "     Scan from the end. Default: False."]
                #[doc = " inclusive : bool, optional"]
                #[doc = "     Include the element itself, not only those before it. Default: True."]
                #[doc = " stream : Stream or Device, optional"]
                #[doc = "     Where the operation runs. Default: the default stream of the default device."]
                #[doc = ""]
                #[doc = " Returns"]
                #[doc = " -------"]
                #[doc = " array"]
                #[doc = "     Same shape, or one axis if `axis` is None."]
                #[doc = ""]
                #[doc = " Raises"]
                #[doc = " ------"]
                #[doc = " IndexError"]
                #[doc = "     If the axis is out of bounds."]
                #[doc = ""]
                #[doc = " See Also"]
                #[doc = " --------"]
                #[doc = concat!("umber.core.", stringify!($name))]
                #[doc = ""]
                #[doc = " Examples"]
                #[doc = " --------"]
                #[doc = $example]
                #[pyo3(signature = (axis = None, *, reverse = false, inclusive = true, stream = None))]
                fn $name(
                    &self,
                    axis: Option<i64>,
                    reverse: bool,
                    inclusive: bool,
                    stream: Option<StreamArg>,
                ) -> PyResult<NewArray> {
                    record_on(stream, || ops::$name(&self.get(), scan_order(axis, reverse, inclusive))).map(NewArray::from)
                }
            )*
        }
    };
    (typed_scans $($(#[$doc:meta])* $name:ident $example:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                $(#[$doc])*
                #[doc = ""]
                #[doc = " Parameters"]
                #[doc = " ----------"]
                #[doc = " axis : int, optional"]
                #[doc = "     Axis to scan. Default: the flattened array."]
                #[doc = " reverse : bool, optional"]
                #[doc = "     Scan from the end. Default: False."]
                #[doc = " inclusive : bool, optional"]
                #[doc = "     Include the element itself, not only those before it. Default: True."]
                #[doc = " stream : Stream or Device, optional"]
                #[doc = "     Where the operation runs. Default: the default stream of the default device."]
                #[doc = ""]
                #[doc = " Returns"]
                #[doc = " -------"]
                #[doc = " array"]
                #[doc = "     Same shape, or one axis if `axis` is None. Same dtype; sums of booleans are int32."]
                #[doc = ""]
                #[doc = " Raises"]
                #[doc = " ------"]
                #[doc = " IndexError"]
                #[doc = "     If the axis is out of bounds."]
                #[doc = ""]
                #[doc = " See Also"]
                #[doc = " --------"]
                #[doc = concat!("umber.core.", stringify!($name))]
                #[doc = ""]
                #[doc = " Examples"]
                #[doc = " --------"]
                #[doc = $example]
                #[pyo3(signature = (axis = None, *, reverse = false, inclusive = true, stream = None))]
                fn $name(
                    &self,
                    axis: Option<i64>,
                    reverse: bool,
                    inclusive: bool,
                    stream: Option<StreamArg>,
                ) -> PyResult<NewArray> {
                    let order = scan_order(axis, reverse, inclusive);
                    record_on(stream, || ops::$name(&self.get(), order, None)).map(NewArray::from)
                }
            )*
        }
    };
}

/// A selection of all elements of `a`, which are converted to `dtype` first.
fn with_dtype(a: &Array, dtype: Option<DtypeArg>) -> Selection<'static> {
    Selection { dtype: summing(dtype, a.dtype()), ..Selection::default() }
}

methods! { unary
    /// Compute the absolute value of each element; the magnitude of complex numbers.
    abs ">>> mx.array([-2.0, 3.0]).abs()\narray([2, 3], dtype=float32)",
    /// Compute the cosine of each element, in radians.
    cos ">>> mx.array([0.0]).cos()\narray([1], dtype=float32)",
    /// Compute the exponential of each element.
    exp ">>> mx.array([0.0, 1.0]).exp()\narray([1, 2.71828], dtype=float32)",
    /// Compute the natural logarithm of each element.
    log ">>> mx.array([0.0, 1.0]).log()\narray([-inf, 0], dtype=float32)",
    /// Compute the base-10 logarithm of each element.
    log10 ">>> mx.array([1.0, 100.0]).log10()\narray([0, 2], dtype=float32)",
    /// Compute ``log(1 + a)`` of each element, accurately near zero.
    log1p ">>> mx.array([0.0, 1e-6]).log1p()\narray([0, 1e-06], dtype=float32)",
    /// Compute the base-2 logarithm of each element.
    log2 ">>> mx.array([1.0, 8.0]).log2()\narray([0, 3], dtype=float32)",
    /// Compute ``1 / a`` of each element.
    reciprocal ">>> mx.array([4]).reciprocal()\narray([0.25], dtype=float32)",
    /// Compute ``1 / sqrt(a)`` of each element.
    rsqrt ">>> mx.array([4.0]).rsqrt()\narray([0.5], dtype=float32)",
    /// Compute the sine of each element, in radians.
    sin ">>> mx.array([0.0]).sin()\narray([0], dtype=float32)",
    /// Compute the square root of each element.
    sqrt ">>> mx.array([4.0, 9.0]).sqrt()\narray([2, 3], dtype=float32)",
    /// Compute the square of each element.
    square ">>> mx.array([2, -3]).square()\narray([4, 9], dtype=int32)",
}

methods! { reductions
    /// Test whether all elements over axes are non-zero.
    all ">>> mx.array([[1, 0], [1, 1]]).all(axis=1)\narray([False, True], dtype=bool)",
    /// Test whether any element over axes is non-zero.
    any ">>> mx.array([[0, 0], [0, 1]]).any(axis=1)\narray([False, True], dtype=bool)",
    /// Compute ``log(sum(exp(a)))`` over axes, without overflow.
    logsumexp ">>> mx.array([1000.0, 1000.0]).logsumexp()\narray(1000.69, dtype=float32)",
    /// Compute the maximum over axes; NaN if any element is NaN.
    max ">>> mx.array([[1, 5], [3, 2]]).max(axis=1)\narray([5, 3], dtype=int32)",
    /// Compute the minimum over axes; NaN if any element is NaN.
    min ">>> mx.array([[1, 5], [3, 2]]).min(axis=1)\narray([1, 2], dtype=int32)",
}

methods! { typed_reductions
    /// Compute the product over axes.
    prod Prod ">>> mx.array([[1, 2], [3, 4]]).prod(axis=0)\narray([3, 8], dtype=int32)",
    /// Compute the sum over axes.
    sum Sum ">>> mx.array([[1, 2], [3, 4]]).sum(axis=0)\narray([4, 6], dtype=int32)\n\
        >>> mx.array([100, 100], mx.int8).sum()\narray(200, dtype=int32)",
}

methods! { arg_reductions
    /// Return the index of the first maximum along an axis.
    argmax ">>> mx.array([[1, 5], [3, 2]]).argmax(axis=1)\narray([1, 0], dtype=uint32)",
    /// Return the index of the first minimum along an axis.
    argmin ">>> mx.array([[1, 5], [3, 2]]).argmin(axis=1)\narray([0, 1], dtype=uint32)",
}

methods! { dispersions
    /// Compute the standard deviation over axes.
    std std_selected ">>> mx.array([1.0, 2.0, 3.0]).std(ddof=1)\narray(1, dtype=float32)",
    /// Compute the variance over axes.
    var var_selected ">>> mx.array([1.0, 2.0, 3.0, 4.0]).var()\narray(1.25, dtype=float32)",
}

methods! { scans
    /// Compute the cumulative maximum along an axis.
    cummax ">>> mx.array([1, 3, 2]).cummax()\narray([1, 3, 3], dtype=int32)",
    /// Compute the cumulative minimum along an axis.
    cummin ">>> mx.array([3, 1, 2]).cummin()\narray([3, 1, 1], dtype=int32)",
    /// Compute ``log(cumsum(exp(a)))`` along an axis, without overflow.
    logcumsumexp ">>> mx.array([0.0, 0.0]).logcumsumexp()\narray([0, 0.693147], dtype=float32)",
}

methods! { typed_scans
    /// Compute the cumulative product along an axis.
    cumprod ">>> mx.array([1, 2, 3]).cumprod()\narray([1, 2, 6], dtype=int32)",
    /// Compute the cumulative sum along an axis.
    cumsum ">>> mx.array([1, 2, 3]).cumsum()\narray([1, 3, 6], dtype=int32)\n\
        >>> mx.array([1, 2, 3]).cumsum(reverse=True, inclusive=False)\narray([5, 3, 0], dtype=int32)",
}

/// Integers passed as separate arguments, or as one sequence.
fn ints_of(args: &Bound<'_, PyTuple>) -> PyResult<Ints> {
    if args.len() == 1 { args.get_item(0)?.extract() } else { args.extract() }
}

#[pymethods]
impl PyArray {
    /// Convert the elements to another dtype.
    ///
    /// Parameters
    /// ----------
    /// dtype : Dtype, str or type
    ///     Target dtype. Python's `bool`, `int`, `float` and `complex` stand for a dtype of that kind.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    /// copy : bool, optional
    ///     If False, return this array where it already has the dtype. Default: True.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape, of dtype `dtype`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `dtype` does not name a dtype.
    ///
    /// See Also
    /// --------
    /// view, umber.core.array
    ///
    /// Notes
    /// -----
    /// Floating-point numbers are truncated towards zero when converted to integers; non-zero elements become True.
    ///
    /// `int`, `float` and `complex` keep the width of an array of the same kind (int64 stays int64). For an array of another
    /// kind they stand for int32, float32 and complex64, or for int64, float64 and complex128 where the narrower dtype would
    /// lose values.
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1.5, -2.5]).astype(mx.int8)
    /// array([1, -2], dtype=int8)
    #[pyo3(signature = (dtype, stream = None, *, copy = true))]
    fn astype<'py>(
        slf: &Bound<'py, Self>,
        dtype: DtypeArg,
        stream: Option<StreamArg>,
        copy: bool,
    ) -> PyResult<Bound<'py, Self>> {
        let array = slf.get().get();
        let dtype = dtype.dtype_for(array.dtype());
        if !copy && array.dtype() == dtype {
            return Ok(slf.clone());
        }
        record_on(stream, || ops::astype(&array, dtype)).map(NewArray::from)?.object(slf.py())
    }

    /// Compute the mean over axes.
    ///
    /// Parameters
    /// ----------
    /// axis : int or sequence of int, optional
    ///     Axes to reduce. Default: all axes.
    /// keepdims : bool, optional
    ///     Keep reduced axes with length 1. Default: False.
    /// dtype : Dtype or str, optional
    ///     Type to convert the elements to first. Default: their own; float32 for integers and booleans.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Without the reduced axes, unless `keepdims`. NaN where there are no elements.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis occurs twice.
    ///
    /// See Also
    /// --------
    /// umber.core.mean, var, std
    ///
    /// Examples
    /// --------
    /// >>> mx.array([[1, 2], [3, 5]]).mean(axis=0)
    /// array([2, 3.5], dtype=float32)
    #[pyo3(signature = (axis = None, keepdims = false, *, dtype = None, stream = None))]
    fn mean(
        &self,
        axis: Option<Ints>,
        keepdims: bool,
        dtype: Option<DtypeArg>,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        let (a, axes, keep) = (self.get(), axes(axis.as_ref()), keep(keepdims));
        let selection = with_dtype(&a, dtype);
        record_on(stream, || ops::mean_selected(&a, axes, keep, selection)).map(NewArray::from)
    }

    /// Reinterpret the bytes of the elements as another dtype.
    ///
    /// Parameters
    /// ----------
    /// dtype : Dtype, str or type
    ///     New dtype. Python's `int`, `float` and `complex` stand for the dtype of that kind whose real numbers are as wide
    ///     as those of the array.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape, except that the last axis grows or shrinks with the ratio of the item sizes.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `dtype` is a Python type and no dtype of that kind is as wide.
    /// ValueError
    ///     If the bytes of the last axis are not a whole number of new elements, or if a 0-d array is viewed as a dtype of
    ///     another size.
    ///
    /// See Also
    /// --------
    /// umber.core.view, astype
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1.0, -1.0]).view(mx.uint32)
    /// array([1065353216, 3212836864], dtype=uint32)
    /// >>> mx.array([1.0]).view(mx.uint16)
    /// array([0, 16256], dtype=uint16)
    #[pyo3(signature = (dtype, *, stream = None))]
    fn view(&self, dtype: DtypeArg, stream: Option<StreamArg>) -> PyResult<NewArray> {
        let array = self.get();
        let dtype = dtype.viewing(array.dtype())?;
        record_on(stream, || ops::view(&array, dtype)).map(NewArray::from)
    }

    /// Compute the complex conjugate of each element.
    ///
    /// Parameters
    /// ----------
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape and dtype.
    ///
    /// See Also
    /// --------
    /// umber.core.conjugate
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1 + 2j]).conj()
    /// array([1-2j], dtype=complex64)
    #[pyo3(signature = (*, stream = None))]
    fn conj(&self, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::conjugate(&self.get())).map(NewArray::from)
    }

    /// Change the shape without changing the elements.
    ///
    /// Parameters
    /// ----------
    /// *shape : int or sequence of int
    ///     New shape, as separate integers or one sequence. One length may be -1: it is inferred from the size.
    /// order : {"C", "F"}, optional
    ///     Read and write elements with the last axis ("C") or the first axis ("F") changing fastest. Default: "C".
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array of that shape; a view where the memory layout allows it.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the sizes differ, if more than one length is -1, or if `order` is unknown.
    ///
    /// See Also
    /// --------
    /// umber.core.reshape, flatten, ravel
    ///
    /// Examples
    /// --------
    /// >>> mx.arange(6).reshape(2, -1)
    /// array([[0, 1, 2],
    ///        [3, 4, 5]], dtype=int32)
    #[pyo3(signature = (*shape, order = "C", stream = None))]
    fn reshape(
        &self,
        shape: &Bound<'_, PyTuple>,
        order: &str,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        let shape = ints_of(shape)?;
        match super::stacking::element_order("reshape", order)? {
            ElementOrder::RowMajor => record_on(stream, || ops::reshape(&self.get(), shape.as_slice())),
            ElementOrder::ColumnMajor => record_on(stream, || {
                let reversed: Vec<i64> = shape.as_slice().iter().rev().copied().collect();
                ops::transpose(&ops::reshape(&ops::transpose(&self.get(), None)?, &reversed)?, None)
            }),
        }
        .map(NewArray::from)
    }

    /// Permute the axes.
    ///
    /// Parameters
    /// ----------
    /// *axes : int or sequence of int
    ///     New order of the axes, as separate integers or one sequence. Default: reversed.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     View with permuted axes.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If `axes` does not name every axis once.
    ///
    /// See Also
    /// --------
    /// umber.core.transpose, swapaxes, moveaxis
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3, 4)).transpose(2, 0, 1).shape
    /// (4, 2, 3)
    #[pyo3(signature = (*axes, stream = None))]
    fn transpose(&self, axes: &Bound<'_, PyTuple>, stream: Option<StreamArg>) -> PyResult<NewArray> {
        if axes.is_empty() || (axes.len() == 1 && axes.get_item(0)?.is_none()) {
            return record_on(stream, || ops::transpose(&self.get(), None)).map(NewArray::from);
        }
        let axes = ints_of(axes)?;
        record_on(stream, || ops::transpose(&self.get(), Some(axes.as_slice()))).map(NewArray::from)
    }

    /// Exchange two axes.
    ///
    /// Parameters
    /// ----------
    /// axis1, axis2 : int
    ///     Axes to exchange.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     View with exchanged axes.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// umber.core.swapaxes, transpose
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3, 4)).swapaxes(0, 2).shape
    /// (4, 3, 2)
    #[pyo3(signature = (axis1, axis2, *, stream = None))]
    fn swapaxes(&self, axis1: i64, axis2: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::swapaxes(&self.get(), axis1, axis2)).map(NewArray::from)
    }

    /// Move axes to new positions; the others keep their order.
    ///
    /// Parameters
    /// ----------
    /// source : int or sequence of int
    ///     Axes to move.
    /// destination : int or sequence of int
    ///     Their new positions.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     View with moved axes.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis occurs twice, or if the numbers of axes differ.
    ///
    /// See Also
    /// --------
    /// umber.core.moveaxis, transpose
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3, 4)).moveaxis(0, -1).shape
    /// (3, 4, 2)
    #[pyo3(signature = (source, destination, *, stream = None))]
    fn moveaxis(&self, source: Ints, destination: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::moveaxes(&self.get(), source.as_slice(), destination.as_slice()))
            .map(NewArray::from)
    }

    /// Merge consecutive axes into one.
    ///
    /// Parameters
    /// ----------
    /// start_axis : int, optional
    ///     First axis to merge. Default: 0.
    /// end_axis : int, optional
    ///     Last axis to merge. Default: -1.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Array with the merged axes; a 0-d array becomes one of shape ``(1,)``.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If `start_axis` comes after `end_axis`.
    ///
    /// See Also
    /// --------
    /// umber.core.flatten, ravel, reshape
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3, 4)).flatten(1).shape
    /// (2, 12)
    #[pyo3(signature = (start_axis = 0, end_axis = -1, *, stream = None))]
    fn flatten(&self, start_axis: i64, end_axis: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::flatten(&self.get(), start_axis, end_axis)).map(NewArray::from)
    }

    /// Remove axes of length 1.
    ///
    /// Parameters
    /// ----------
    /// axis : int or sequence of int, optional
    ///     Axes to remove. Default: all axes of length 1.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     View without these axes.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If an axis has another length than 1.
    ///
    /// See Also
    /// --------
    /// umber.core.squeeze, umber.core.expand_dims
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((1, 3, 1)).squeeze(0).shape
    /// (3, 1)
    #[pyo3(signature = (axis = None, *, stream = None))]
    fn squeeze(&self, axis: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::squeeze(&self.get(), axes(axis.as_ref()))).map(NewArray::from)
    }

    /// Split into parts along an axis.
    ///
    /// Parameters
    /// ----------
    /// indices_or_sections : int or sequence of int
    ///     Number of equal parts, or the indices before which to split.
    /// axis : int, optional
    ///     Axis to split. Default: 0.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// list of array
    ///     Views of the parts.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If the axis is out of bounds.
    /// ValueError
    ///     If the axis length is not divisible by the number of parts.
    ///
    /// See Also
    /// --------
    /// umber.core.split
    ///
    /// Examples
    /// --------
    /// >>> mx.arange(5).split([1, 3])
    /// [array([0], dtype=int32), array([1, 2], dtype=int32), array([3, 4], dtype=int32)]
    #[pyo3(signature = (indices_or_sections, axis = 0, *, stream = None))]
    fn split(
        &self,
        indices_or_sections: &Bound<'_, PyAny>,
        axis: i64,
        stream: Option<StreamArg>,
    ) -> PyResult<Vec<NewArray>> {
        let _ = stream;
        let parts = super::shaping::split_array(&self.get(), indices_or_sections, axis)?;
        Ok(parts.into_iter().map(NewArray::from).collect())
    }

    /// Round to a number of decimals, halves to even.
    ///
    /// Parameters
    /// ----------
    /// decimals : int, optional
    ///     Number of decimals; negative to round to tens, hundreds and so on. Default: 0.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape and dtype.
    ///
    /// See Also
    /// --------
    /// umber.core.round
    ///
    /// Examples
    /// --------
    /// >>> mx.array([0.5, 1.5, 2.26]).round()
    /// array([0, 2, 2], dtype=float32)
    /// >>> mx.array([15, 25]).round(-1)
    /// array([20, 20], dtype=int32)
    #[pyo3(signature = (decimals = 0, *, stream = None))]
    fn round(&self, decimals: i32, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::round(&self.get(), decimals)).map(NewArray::from)
    }

    /// Return all elements along one axis.
    ///
    /// Parameters
    /// ----------
    /// order : {"C", "F"}, optional
    ///     Read elements with the last axis ("C") or the first axis ("F") changing fastest. Default: "C".
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     One axis; a view where the memory layout allows it.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `order` is unknown.
    ///
    /// See Also
    /// --------
    /// umber.core.ravel, flatten, reshape
    ///
    /// Examples
    /// --------
    /// >>> mx.array([[1, 2], [3, 4]]).ravel("F")
    /// array([1, 3, 2, 4], dtype=int32)
    #[pyo3(signature = (order = "C", *, stream = None))]
    fn ravel(&self, order: &str, stream: Option<StreamArg>) -> PyResult<NewArray> {
        let order = super::stacking::element_order("ravel", order)?;
        record_on(stream, || ops::ravel(&self.get(), order)).map(NewArray::from)
    }

    /// Take elements at indices along an axis.
    ///
    /// Parameters
    /// ----------
    /// indices : integer array_like
    ///     Indices, of any shape.
    /// axis : int, optional
    ///     Axis to index. Default: the flattened array.
    /// mode : {"raise", "wrap", "clip"}, optional
    ///     What to do with indices out of bounds: raise, wrap around, or clip to the valid range. Negative indices count from
    ///     the end only with "raise". Default: "raise".
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     The axis is replaced by the axes of `indices`.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `indices` are not integers.
    /// IndexError
    ///     If the axis, or with "raise" an index, is out of bounds.
    ///
    /// See Also
    /// --------
    /// umber.core.take
    ///
    /// Examples
    /// --------
    /// >>> mx.array([[1, 2, 3], [4, 5, 6]]).take(mx.array([2, 0]), axis=1)
    /// array([[3, 1],
    ///        [6, 4]], dtype=int32)
    #[pyo3(signature = (indices, axis = None, *, mode = "raise", stream = None))]
    fn take(
        &self,
        indices: Operand,
        axis: Option<i64>,
        mode: &str,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        let (indices, mode) = (indices.into_array(), mode_of("take", mode)?);
        record_on(stream, || ops::take_within(&self.get(), &indices, axis, mode)).map(NewArray::from)
    }

    /// Return a new array with the same elements.
    ///
    /// Parameters
    /// ----------
    /// order : str, optional
    ///     Accepted for compatibility with NumPy; has no effect.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape and dtype. Updating one of the two arrays in place does not change the other.
    ///
    /// Examples
    /// --------
    /// >>> a = mx.array([1, 2])
    /// >>> b = a.copy()
    /// >>> b[0] = 5
    /// >>> a
    /// array([1, 2], dtype=int32)
    #[pyo3(signature = (order = "C"))]
    fn copy(&self, order: &str) -> PyArray {
        let _ = order;
        self.get().into()
    }

    /// Build a diagonal matrix from a vector, or extract a diagonal from a matrix.
    ///
    /// Parameters
    /// ----------
    /// k : int, optional
    ///     Diagonal: 0 is the main one, positive ones are above it. Default: 0.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     A square matrix for an array with one axis, a vector for one with two.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the array has neither one nor two axes.
    ///
    /// See Also
    /// --------
    /// umber.core.diag, diagonal
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1, 2]).diag()
    /// array([[1, 0],
    ///        [0, 2]], dtype=int32)
    /// >>> mx.array([[1, 2], [3, 4]]).diag()
    /// array([1, 4], dtype=int32)
    #[pyo3(signature = (k = 0, *, stream = None))]
    fn diag(&self, k: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::diag(&self.get(), k)).map(NewArray::from)
    }

    /// Return a diagonal of two axes.
    ///
    /// Parameters
    /// ----------
    /// offset : int, optional
    ///     Diagonal: 0 is the main one, positive ones are above it. Default: 0.
    /// axis1, axis2 : int, optional
    ///     Rows and columns of the matrices. Default: 0 and 1.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Without `axis1` and `axis2`, with the diagonal as a new last axis.
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an axis is out of bounds.
    /// ValueError
    ///     If the array has fewer than two axes.
    ///
    /// See Also
    /// --------
    /// umber.core.diagonal, trace
    ///
    /// Examples
    /// --------
    /// >>> mx.array([[1, 2, 3], [4, 5, 6]]).diagonal(1)
    /// array([2, 6], dtype=int32)
    #[pyo3(signature = (offset = 0, axis1 = 0, axis2 = 1, stream = None))]
    fn diagonal(&self, offset: i64, axis1: i64, axis2: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::diagonal(&self.get(), offset, axis1, axis2)).map(NewArray::from)
    }

    /// The array with its last two axes exchanged.
    ///
    /// Returns
    /// -------
    /// array
    ///     View.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the array has fewer than two axes.
    ///
    /// See Also
    /// --------
    /// T, swapaxes, umber.core.matrix_transpose
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3, 4)).mT.shape
    /// (2, 4, 3)
    #[getter(mT)]
    fn matrix_transposed(&self) -> PyResult<NewArray> {
        ops::matrix_transpose(&self.get()).or_raise().map(NewArray::from)
    }

    /// Real part of each element.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape; float32 for complex64, float64 for complex128, otherwise the array itself.
    ///
    /// See Also
    /// --------
    /// imag, umber.core.real
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1 + 2j]).real
    /// array([1], dtype=float32)
    #[getter]
    fn real(&self) -> PyResult<NewArray> {
        ops::real(&self.get()).or_raise().map(NewArray::from)
    }

    /// Imaginary part of each element.
    ///
    /// Returns
    /// -------
    /// array
    ///     Same shape; float32 for complex64, float64 for complex128, otherwise zeros of the same dtype.
    ///
    /// See Also
    /// --------
    /// real, umber.core.imag
    ///
    /// Examples
    /// --------
    /// >>> mx.array([1 + 2j]).imag
    /// array([2], dtype=float32)
    #[getter]
    fn imag(&self) -> PyResult<NewArray> {
        ops::imag(&self.get()).or_raise().map(NewArray::from)
    }
}
