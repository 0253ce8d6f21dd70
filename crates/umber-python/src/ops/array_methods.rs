//! Methods of `array` that are functions of the module too.
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

/// Methods, a family a table: name and documentation in a row.
macro_rules! methods {
    (unary $($name:ident $doc:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                #[doc = $doc]
                #[pyo3(signature = (*, stream = None))]
                fn $name(&self, stream: Option<StreamArg>) -> PyResult<NewArray> {
                    record_on(stream, || ops::$name(&self.get())).map(NewArray::from)
                }
            )*
        }
    };
    (reductions $($name:ident $doc:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                #[doc = $doc]
                #[pyo3(signature = (axis = None, keepdims = false, *, stream = None))]
                fn $name(&self, axis: Option<Ints>, keepdims: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
                    record_on(stream, || ops::$name(&self.get(), axes(axis.as_ref()), keep(keepdims))).map(NewArray::from)
                }
            )*
        }
    };
    (typed_reductions $($name:ident $kind:ident $doc:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                #[doc = $doc]
                #[pyo3(signature = (axis = None, keepdims = false, *, dtype = None, stream = None))]
                fn $name(
                    &self,
                    axis: Option<Ints>,
                    keepdims: bool,
                    dtype: Option<DtypeArg>,
                    stream: Option<StreamArg>,
                ) -> PyResult<NewArray> {
                    let (a, axes, keep) = (self.get(), axes(axis.as_ref()), keep(keepdims));
                    let selection = answering(&a, dtype);
                    record_on(stream, || ops::reduce_selected(ReduceKind::$kind, &a, axes, keep, selection)).map(NewArray::from)
                }
            )*
        }
    };
    (arg_reductions $($name:ident $doc:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                #[doc = $doc]
                #[pyo3(signature = (axis = None, keepdims = false, *, stream = None))]
                fn $name(&self, axis: Option<i64>, keepdims: bool, stream: Option<StreamArg>) -> PyResult<NewArray> {
                    record_on(stream, || ops::$name(&self.get(), axis, keep(keepdims))).map(NewArray::from)
                }
            )*
        }
    };
    (dispersions $($name:ident $function:ident $doc:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                #[doc = $doc]
                ///
                /// `correction` is the array API standard's name for `ddof`.
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
                    let selection = answering(&a, dtype);
                    record_on(stream, || ops::$function(&a, axes, keep, ddof, selection)).map(NewArray::from)
                }
            )*
        }
    };
    (scans $($name:ident $doc:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                #[doc = $doc]
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
    (typed_scans $($name:ident $doc:literal,)*) => {
        #[pymethods]
        impl PyArray {
            $(
                #[doc = $doc]
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

/// A reduction of all elements of `a`, converted to `dtype` first.
fn answering(a: &Array, dtype: Option<DtypeArg>) -> Selection<'static> {
    Selection { dtype: summing(dtype, a.dtype()), ..Selection::default() }
}

methods! { unary
    abs "Absolute value of each element.",
    cos "Cosine of each element.",
    exp "`e` to the power of each element.",
    log "Natural logarithm of each element.",
    log10 "Logarithm to base 10 of each element.",
    log1p "`log(1 + a)` of each element.",
    log2 "Logarithm to base 2 of each element.",
    reciprocal "One over each element.",
    rsqrt "One over the square root of each element.",
    sin "Sine of each element.",
    sqrt "Square root of each element.",
    square "Each element times itself.",
}

methods! { reductions
    all "Whether all elements over `axis` are different from zero.",
    any "Whether any element over `axis` is different from zero.",
    logsumexp "`log(sum(exp(a)))` over `axis`.",
    max "Largest element over `axis`.",
    min "Smallest element over `axis`.",
}

methods! { typed_reductions
    prod Prod "Product over `axis`, of elements converted to `dtype` first.",
    sum Sum "Sum over `axis`, of elements converted to `dtype` first.",
}

methods! { arg_reductions
    argmax "Index of the first largest element along `axis`.",
    argmin "Index of the first smallest element along `axis`.",
}

methods! { dispersions
    std std_selected "Standard deviation over `axis`.",
    var var_selected "Variance over `axis`.",
}

methods! { scans
    cummax "Largest element so far along `axis`.",
    cummin "Smallest element so far along `axis`.",
    logcumsumexp "`log(cumsum(exp(a)))` along `axis`.",
}

methods! { typed_scans
    cumprod "Product so far along `axis`.",
    cumsum "Sum so far along `axis`.",
}

/// Integers given one by one, or as one sequence.
fn spread(args: &Bound<'_, PyTuple>) -> PyResult<Ints> {
    if args.len() == 1 { args.get_item(0)?.extract() } else { args.extract() }
}

#[pymethods]
impl PyArray {
    /// The elements converted to `dtype`. With `copy` false an array that has that dtype is answered itself.
    ///
    /// Python's `int`, `float` and `complex` keep the width of an array of their kind (int64 stays int64). Where the kind
    /// changes they stand for int32, float32 and complex64, or for 64 bits a number where those would lose values that
    /// the dtype of the array can hold.
    #[pyo3(signature = (dtype, stream = None, *, copy = true))]
    fn astype<'py>(
        slf: &Bound<'py, Self>,
        dtype: DtypeArg,
        stream: Option<StreamArg>,
        copy: bool,
    ) -> PyResult<Bound<'py, Self>> {
        let array = slf.get().get();
        let dtype = dtype.beside(array.dtype());
        if !copy && array.dtype() == dtype {
            return Ok(slf.clone());
        }
        record_on(stream, || ops::astype(&array, dtype)).map(NewArray::from)?.object(slf.py())
    }

    /// Mean over `axis`, of elements converted to `dtype` first.
    #[pyo3(signature = (axis = None, keepdims = false, *, dtype = None, stream = None))]
    fn mean(
        &self,
        axis: Option<Ints>,
        keepdims: bool,
        dtype: Option<DtypeArg>,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        let (a, axes, keep) = (self.get(), axes(axis.as_ref()), keep(keepdims));
        let selection = answering(&a, dtype);
        record_on(stream, || ops::mean_selected(&a, axes, keep, selection)).map(NewArray::from)
    }

    /// The bytes read as another dtype; the last axis shrinks or grows with the size of an element.
    ///
    /// Python's `int`, `float` and `complex` stand for the dtype of their kind whose real numbers are as wide as those of
    /// the array. Raises `TypeError` where there is none.
    #[pyo3(signature = (dtype, *, stream = None))]
    fn view(&self, dtype: DtypeArg, stream: Option<StreamArg>) -> PyResult<NewArray> {
        let array = self.get();
        let dtype = dtype.viewing(array.dtype())?;
        record_on(stream, || ops::view(&array, dtype)).map(NewArray::from)
    }

    /// Complex conjugate of each element.
    #[pyo3(signature = (*, stream = None))]
    fn conj(&self, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::conjugate(&self.get())).map(NewArray::from)
    }

    /// Another shape of the same size, as integers or one sequence; one length may be -1.
    ///
    /// Elements are read and placed with the last axis running fastest ("C"), or the first one ("F").
    #[pyo3(signature = (*shape, order = "C", stream = None))]
    fn reshape(
        &self,
        shape: &Bound<'_, PyTuple>,
        order: &str,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        let shape = spread(shape)?;
        match super::stacking::element_order("reshape", order)? {
            ElementOrder::RowMajor => record_on(stream, || ops::reshape(&self.get(), shape.as_slice())),
            ElementOrder::ColumnMajor => record_on(stream, || {
                let reversed: Vec<i64> = shape.as_slice().iter().rev().copied().collect();
                ops::transpose(&ops::reshape(&ops::transpose(&self.get(), None)?, &reversed)?, None)
            }),
        }
        .map(NewArray::from)
    }

    /// The axes in another order, as integers or one sequence; reversed by default.
    #[pyo3(signature = (*axes, stream = None))]
    fn transpose(&self, axes: &Bound<'_, PyTuple>, stream: Option<StreamArg>) -> PyResult<NewArray> {
        if axes.is_empty() || (axes.len() == 1 && axes.get_item(0)?.is_none()) {
            return record_on(stream, || ops::transpose(&self.get(), None)).map(NewArray::from);
        }
        let axes = spread(axes)?;
        record_on(stream, || ops::transpose(&self.get(), Some(axes.as_slice()))).map(NewArray::from)
    }

    /// Two axes exchanged.
    #[pyo3(signature = (axis1, axis2, *, stream = None))]
    fn swapaxes(&self, axis1: i64, axis2: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::swapaxes(&self.get(), axis1, axis2)).map(NewArray::from)
    }

    /// An axis moved to another place, or several axes to as many places.
    #[pyo3(signature = (source, destination, *, stream = None))]
    fn moveaxis(&self, source: Ints, destination: Ints, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::moveaxes(&self.get(), source.as_slice(), destination.as_slice()))
            .map(NewArray::from)
    }

    /// The axes from `start_axis` to `end_axis` merged into one.
    #[pyo3(signature = (start_axis = 0, end_axis = -1, *, stream = None))]
    fn flatten(&self, start_axis: i64, end_axis: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::flatten(&self.get(), start_axis, end_axis)).map(NewArray::from)
    }

    /// Without axes of length one: all of them, or those given.
    #[pyo3(signature = (axis = None, *, stream = None))]
    fn squeeze(&self, axis: Option<Ints>, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::squeeze(&self.get(), axes(axis.as_ref()))).map(NewArray::from)
    }

    /// Parts along `axis`: a number of equal ones, or cut before each of the given indices.
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

    /// Rounded to `decimals` places, halves to even.
    #[pyo3(signature = (decimals = 0, *, stream = None))]
    fn round(&self, decimals: i32, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::round(&self.get(), decimals)).map(NewArray::from)
    }

    /// All elements along one axis: the last axis runs fastest ("C"), or the first one ("F").
    #[pyo3(signature = (order = "C", *, stream = None))]
    fn ravel(&self, order: &str, stream: Option<StreamArg>) -> PyResult<NewArray> {
        let order = super::stacking::element_order("ravel", order)?;
        record_on(stream, || ops::ravel(&self.get(), order)).map(NewArray::from)
    }

    /// Elements at `indices` along `axis` (of the flattened array by default).
    ///
    /// `mode` says what becomes of indices outside: "raise", "wrap" or "clip"; negative ones are outside but for "raise".
    #[pyo3(signature = (indices, axis = None, *, mode = "raise", stream = None))]
    fn take(
        &self,
        indices: Operand,
        axis: Option<i64>,
        mode: &str,
        stream: Option<StreamArg>,
    ) -> PyResult<NewArray> {
        let (indices, mode) = (indices.alone(), mode_of("take", mode)?);
        record_on(stream, || ops::take_within(&self.get(), &indices, axis, mode)).map(NewArray::from)
    }

    /// An array of its own with the same value. `order` is NumPy's, and says nothing about the value.
    #[pyo3(signature = (order = "C"))]
    fn copy(&self, order: &str) -> PyArray {
        let _ = order;
        self.get().into()
    }

    /// A matrix with this array on diagonal `k`, or diagonal `k` of this matrix.
    #[pyo3(signature = (k = 0, *, stream = None))]
    fn diag(&self, k: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::diag(&self.get(), k)).map(NewArray::from)
    }

    /// The elements on a diagonal of two axes.
    #[pyo3(signature = (offset = 0, axis1 = 0, axis2 = 1, stream = None))]
    fn diagonal(&self, offset: i64, axis1: i64, axis2: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
        record_on(stream, || ops::diagonal(&self.get(), offset, axis1, axis2)).map(NewArray::from)
    }

    /// The last two axes exchanged.
    #[getter(mT)]
    fn matrix_transposed(&self) -> PyResult<NewArray> {
        ops::matrix_transpose(&self.get()).or_raise().map(NewArray::from)
    }

    /// The real part.
    #[getter]
    fn real(&self) -> PyResult<NewArray> {
        ops::real(&self.get()).or_raise().map(NewArray::from)
    }

    /// The imaginary part.
    #[getter]
    fn imag(&self) -> PyResult<NewArray> {
        ops::imag(&self.get()).or_raise().map(NewArray::from)
    }
}
