//! Elementwise functions.

use pyo3::prelude::*;
use umber::ops;

use crate::args::{Operand, StreamArg, on};
use crate::array::PyArray;

/// Functions of one array or number: signature, documentation and call in one row.
macro_rules! unary_functions {
    ($($name:ident $function:ident $doc:literal),* $(,)?) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, /, *, stream = None))]
            fn $name(a: Operand, stream: Option<StreamArg>) -> PyResult<PyArray> {
                let a = a.alone();
                on(stream, || ops::$function(&a)).map(PyArray::from)
            }
        )*

        fn register_unary(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

/// Functions of two arrays or numbers.
macro_rules! binary_functions {
    ($($name:ident $function:ident $doc:literal),* $(,)?) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, b, stream = None))]
            fn $name(a: Operand, b: Operand, stream: Option<StreamArg>) -> PyResult<PyArray> {
                let (a, b) = Operand::pair(a, b)?;
                on(stream, || ops::$function(&a, &b)).map(PyArray::from)
            }
        )*

        fn register_binary(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

unary_functions! {
    sqrt sqrt "Square root of each element.",
    exp exp "`e` to the power of each element.",
    sin sin "Sine of each element, in radians.",
}

binary_functions! {
    add add "Sum of two arrays, element by element.",
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_unary(module)?;
    register_binary(module)
}
