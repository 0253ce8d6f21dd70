//! Products and powers of matrices, and what the array API counts among them.

use pyo3::prelude::*;
use umber_core::ops;
use umber_core::ops::linalg;

use super::One;
use crate::args::{Operand, StreamArg, record_on};
use crate::dtype::{DtypeArg, summing};
use crate::new_array::NewArray;
use crate::ops::shaping::list;

/// Square matrices to the power of the integer `n`; negative powers are of the inverse.
#[pyfunction]
#[pyo3(signature = (a, n, *, stream = None))]
fn matrix_power(a: Operand, n: i64, stream: Option<StreamArg>) -> One {
    let a = a.alone();
    record_on(stream, || linalg::matrix_power(&a, n)).map(NewArray::from)
}

/// Product of two or more matrices, in the order that takes the fewest multiplications.
#[pyfunction]
#[pyo3(signature = (arrays, *, stream = None))]
fn multi_dot(arrays: &Bound<'_, PyAny>, stream: Option<StreamArg>) -> One {
    let arrays = list("multi_dot", arrays)?;
    record_on(stream, || linalg::multi_dot(&arrays.iter().collect::<Vec<_>>())).map(NewArray::from)
}

/// Cross products of vectors of length 3 (or 2: the third element is 0) along `axis`, or without it along `axisa` of `a`
/// and `axisb` of `b`, into `axisc` of the result.
#[pyfunction]
#[pyo3(signature = (a, b, axis = None, *, axisa = -1, axisb = -1, axisc = -1, stream = None))]
fn cross(
    a: Operand,
    b: Operand,
    axis: Option<i64>,
    axisa: i64,
    axisb: i64,
    axisc: i64,
    stream: Option<StreamArg>,
) -> One {
    let (a, b) = Operand::pair(a, b)?;
    let [left, right, result] = axis.map_or([axisa, axisb, axisc], |axis| [axis; 3]);
    record_on(stream, || linalg::cross_along(&a, &b, linalg::CrossAxes { left, right, result }))
        .map(NewArray::from)
}

/// Diagonals of the matrices along the last two axes, `offset` above the main one.
#[pyfunction]
#[pyo3(signature = (x, /, *, offset = 0, stream = None))]
fn diagonal(x: Operand, offset: i64, stream: Option<StreamArg>) -> One {
    let x = x.alone();
    record_on(stream, || ops::diagonal(&x, offset, -2, -1)).map(NewArray::from)
}

/// Sums of the diagonals of the matrices along the last two axes, `offset` above the main one.
#[pyfunction]
#[pyo3(signature = (x, /, *, offset = 0, dtype = None, stream = None))]
fn trace(x: Operand, offset: i64, dtype: Option<DtypeArg>, stream: Option<StreamArg>) -> One {
    let x = x.alone();
    record_on(stream, || ops::trace(&x, offset, -2, -1, summing(dtype, x.dtype()))).map(NewArray::from)
}

/// The matrices along the last two axes transposed.
#[pyfunction]
#[pyo3(signature = (x, /, *, stream = None))]
fn matrix_transpose(x: Operand, stream: Option<StreamArg>) -> One {
    let x = x.alone();
    record_on(stream, || ops::matrix_transpose(&x)).map(NewArray::from)
}

/// Functions of the whole package that the array API has here too.
const SHARED: [&str; 4] = ["matmul", "outer", "tensordot", "vecdot"];

/// Put the functions into the submodule; some are the package's own.
pub(super) fn register(linalg: &Bound<'_, PyModule>, package: &Bound<'_, PyModule>) -> PyResult<()> {
    linalg.add_function(wrap_pyfunction!(matrix_power, linalg)?)?;
    linalg.add_function(wrap_pyfunction!(multi_dot, linalg)?)?;
    linalg.add_function(wrap_pyfunction!(cross, linalg)?)?;
    linalg.add_function(wrap_pyfunction!(diagonal, linalg)?)?;
    linalg.add_function(wrap_pyfunction!(trace, linalg)?)?;
    linalg.add_function(wrap_pyfunction!(matrix_transpose, linalg)?)?;
    for name in SHARED {
        linalg.add(name, package.getattr(name)?)?;
    }
    Ok(())
}
