//! Products and powers of matrices, and other functions that the array API standard defines in `linalg`.

use pyo3::prelude::*;
use umber_core::ops;
use umber_core::ops::linalg;

use super::One;
use crate::args::{Operand, StreamArg, record_on};
use crate::dtype::{DtypeArg, summing};
use crate::new_array::NewArray;
use crate::ops::shaping::list;

/// Integer power of square matrices.
///
/// Parameters
/// ----------
/// a : array_like
///     Square matrices of shape ``(..., n, n)``, of any dtype.
/// n : int
///     Exponent. 0 gives the identity; a negative exponent is a power of the inverse.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape and dtype of `a`; float32 for a negative power of integers.
///
/// Raises
/// ------
/// ValueError
///     If the matrices are not square.
/// RuntimeError
///     When evaluated, if `n` is negative and a matrix is singular.
///
/// See Also
/// --------
/// expm, inv, matmul
///
/// Notes
/// -----
/// Integers wrap on overflow.
///
/// Examples
/// --------
/// >>> mx.linalg.matrix_power(mx.array([[1, 1], [0, 1]]), 5)
/// array([[1, 5],
///        [0, 1]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, n, *, stream = None))]
fn matrix_power(a: Operand, n: i64, stream: Option<StreamArg>) -> One {
    let a = a.into_array();
    record_on(stream, || linalg::matrix_power(&a, n)).map(NewArray::from)
}

/// Product of two or more matrices in the order that needs the fewest multiplications.
///
/// Parameters
/// ----------
/// arrays : sequence of array_like
///     Matrices. The first may be a 1-D row, the last a 1-D column.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Product in the promoted dtype, without the axes of 1-D operands.
///
/// Raises
/// ------
/// ValueError
///     If there are fewer than two arrays, an inner one is not a matrix, or the inner dimensions differ.
/// TypeError
///     If `arrays` is not a sequence of arrays.
///
/// See Also
/// --------
/// matmul, einsum
///
/// Notes
/// -----
/// The order is found by dynamic programming (T. H. Cormen et al., Introduction to Algorithms, chapter 15.2).
///
/// Examples
/// --------
/// >>> mx.linalg.multi_dot([mx.ones((2, 100)), mx.ones((100, 50)), mx.ones((50, 3))]).shape
/// (2, 3)
#[pyfunction]
#[pyo3(signature = (arrays, *, stream = None))]
fn multi_dot(arrays: &Bound<'_, PyAny>, stream: Option<StreamArg>) -> One {
    let arrays = list("multi_dot", arrays)?;
    record_on(stream, || linalg::multi_dot(&arrays.iter().collect::<Vec<_>>())).map(NewArray::from)
}

/// Cross product of vectors of length 3 (or 2, with a third element of 0).
///
/// Parameters
/// ----------
/// a, b : array_like
///     Arrays of vectors. Other axes broadcast.
/// axis : int, optional
///     Axis of the vectors in `a`, `b` and the result. Default: `axisa`, `axisb` and `axisc` apply.
/// axisa, axisb, axisc : int, optional
///     Axes of the vectors in `a`, in `b` and in the result. Ignored where `axis` is given. Default: -1.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Vectors of length 3 in the promoted dtype.
///
/// Raises
/// ------
/// ValueError
///     If the vectors have another length, or the other axes do not broadcast.
/// IndexError
///     If an axis is out of bounds.
///
/// See Also
/// --------
/// outer, vecdot
///
/// Notes
/// -----
/// Two vectors of length 2 give a vector of length 3, unlike in NumPy.
///
/// Examples
/// --------
/// >>> mx.linalg.cross(mx.array([1, 0, 0]), mx.array([0, 1, 0]))
/// array([0, 0, 1], dtype=int32)
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

/// Diagonals of the matrices along the last two axes.
///
/// Parameters
/// ----------
/// x : array_like
///     Matrices of shape ``(..., m, n)``, of any dtype.
/// offset : int, optional
///     Diagonal above (positive) or below (negative) the main one. Default: 0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape ``(..., length)``, dtype of `x`. Empty where the offset is out of the matrix.
///
/// Raises
/// ------
/// ValueError
///     If `x` has fewer than two axes.
///
/// See Also
/// --------
/// trace, diag
///
/// Examples
/// --------
/// >>> mx.linalg.diagonal(mx.array([[1, 2], [3, 4]]), offset=1)
/// array([2], dtype=int32)
#[pyfunction]
#[pyo3(signature = (x, /, *, offset = 0, stream = None))]
fn diagonal(x: Operand, offset: i64, stream: Option<StreamArg>) -> One {
    let x = x.into_array();
    record_on(stream, || ops::diagonal(&x, offset, -2, -1)).map(NewArray::from)
}

/// Sum of the diagonal of the matrices along the last two axes.
///
/// Parameters
/// ----------
/// x : array_like
///     Matrices of shape ``(..., m, n)``, of any dtype.
/// offset : int, optional
///     Diagonal above (positive) or below (negative) the main one. Default: 0.
/// dtype : Dtype, optional
///     Dtype of the sum. Default: as in `sum`, which widens small integers and bool to 32 bits.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape ``(...)``.
///
/// Raises
/// ------
/// ValueError
///     If `x` has fewer than two axes.
///
/// See Also
/// --------
/// diagonal, sum
///
/// Examples
/// --------
/// >>> mx.linalg.trace(mx.array([[1, 2], [3, 4]]))
/// array(5, dtype=int32)
#[pyfunction]
#[pyo3(signature = (x, /, *, offset = 0, dtype = None, stream = None))]
fn trace(x: Operand, offset: i64, dtype: Option<DtypeArg>, stream: Option<StreamArg>) -> One {
    let x = x.into_array();
    record_on(stream, || ops::trace(&x, offset, -2, -1, summing(dtype, x.dtype()))).map(NewArray::from)
}

/// Transpose of the matrices along the last two axes.
///
/// Parameters
/// ----------
/// x : array_like
///     Matrices of shape ``(..., m, n)``, of any dtype.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape ``(..., n, m)``, dtype of `x`.
///
/// Raises
/// ------
/// ValueError
///     If `x` has fewer than two axes.
///
/// See Also
/// --------
/// transpose
///
/// Examples
/// --------
/// >>> mx.linalg.matrix_transpose(mx.ones((5, 2, 3))).shape
/// (5, 3, 2)
#[pyfunction]
#[pyo3(signature = (x, /, *, stream = None))]
fn matrix_transpose(x: Operand, stream: Option<StreamArg>) -> One {
    let x = x.into_array();
    record_on(stream, || ops::matrix_transpose(&x)).map(NewArray::from)
}

/// Functions of the package that the array API standard also defines in `linalg`.
const SHARED: [&str; 4] = ["matmul", "outer", "tensordot", "vecdot"];

/// Add the functions to the submodule, including the shared functions of the package.
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
