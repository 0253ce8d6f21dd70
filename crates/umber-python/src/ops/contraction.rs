//! Products of arrays.
//!
//! One subject: one binding per product; most lines are their documentation.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::{Array, ops};

use crate::args::{Ints, Operand, StreamArg, index, record_on};
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// Functions of two arrays.
macro_rules! products {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, b, /, *, stream = None))]
            fn $name(a: Operand, b: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let (a, b) = Operand::pair(a, b)?;
                record_on(stream, || ops::$name(&a, &b)).map(NewArray::from)
            }
        )*

        fn register_products(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

products! {
    /// Matrix product over the last two axes; leading axes broadcast.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Arrays of shapes ``(..., m, k)`` and ``(..., k, n)``. A 1-D `a` is a row, a 1-D `b` a column.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape ``(..., m, n)`` in the promoted dtype, without the axis of a 1-D operand.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If an operand is 0-D, the inner dimensions differ, or the leading axes do not broadcast.
    ///
    /// See Also
    /// --------
    /// dot, einsum, addmm, linalg.multi_dot
    ///
    /// Notes
    /// -----
    /// Integers wrap on overflow. For bool, the sum is a logical "or" and the product a logical "and".
    ///
    /// Examples
    /// --------
    /// >>> mx.matmul(mx.array([[1.0, 2.0], [3.0, 4.0]]), mx.array([1.0, -1.0]))
    /// array([-1, -1], dtype=float32)
    /// >>> mx.matmul(mx.ones((5, 2, 3)), mx.ones((3, 4))).shape
    /// (5, 2, 4)
    matmul,
    /// Dot product: sum of products over the last axis of `a` and the second to last axis of `b`.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Arrays of shapes ``(..., k)`` and ``(..., k, n)``. A 1-D `b` is summed over its only axis; a 0-D operand
    ///     multiplies.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     The other axes of `a`, then those of `b`, in the promoted dtype.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the summed axes differ in length.
    ///
    /// See Also
    /// --------
    /// matmul, vdot, inner, tensordot
    ///
    /// Notes
    /// -----
    /// Unlike in `matmul`, the other axes do not broadcast:
    /// ``dot(a, b)[i, j, k, m] = sum(a[i, j, :] * b[k, :, m])``.
    ///
    /// Examples
    /// --------
    /// >>> mx.dot(mx.array([[1, 2], [3, 4]]), mx.array([10, 1]))
    /// array([12, 34], dtype=int32)
    /// >>> mx.dot(mx.ones((2, 3, 4)), mx.ones((5, 4, 6))).shape
    /// (2, 3, 5, 6)
    dot,
    /// Sum of ``conj(a) * b`` over all elements of two arrays of equal size.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Arrays of any shapes with the same number of elements; both are flattened.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     A scalar of the promoted dtype.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the sizes differ.
    ///
    /// See Also
    /// --------
    /// vecdot, dot, inner
    ///
    /// Examples
    /// --------
    /// >>> mx.vdot(mx.array([1j, 2]), mx.array([1j, 3]))
    /// array(7+0j, dtype=complex64)
    vdot,
    /// Inner product: sum of products over the last axis of both arrays.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Arrays of shapes ``(..., k)`` and ``(..., k)``. A 0-D operand multiplies.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     The other axes of `a`, then those of `b`, in the promoted dtype.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the last axes differ in length.
    ///
    /// See Also
    /// --------
    /// vdot, vecdot, tensordot
    ///
    /// Notes
    /// -----
    /// No operand is conjugated.
    ///
    /// Examples
    /// --------
    /// >>> mx.inner(mx.array([1, 2, 3]), mx.array([4, 5, 6]))
    /// array(32, dtype=int32)
    inner,
    /// Outer product: every element of `a` times every element of `b`, both flattened.
    ///
    /// Parameters
    /// ----------
    /// a, b : array_like
    ///     Arrays of any shapes.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape ``(a.size, b.size)`` in the promoted dtype: ``outer(a, b)[i, j] = a[i] * b[j]``.
    ///
    /// See Also
    /// --------
    /// kron, tensordot
    ///
    /// Examples
    /// --------
    /// >>> mx.outer(mx.array([1, 2]), mx.array([1, 10]))
    /// array([[1, 10],
    ///        [2, 20]], dtype=int32)
    outer,
}

/// Scaled matrix product plus a scaled array: ``alpha * (a @ b) + beta * c``.
///
/// Parameters
/// ----------
/// c : array_like
///     Array that broadcasts to the shape of ``a @ b``.
/// a, b : array_like
///     Operands of the product, as in `matmul`.
/// alpha : float, optional
///     Factor of the product. Default: 1.0.
/// beta : float, optional
///     Factor of `c`. Default: 1.0.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape of ``a @ b`` in the promoted dtype; float32 for integers where a factor has a fraction.
///
/// Raises
/// ------
/// ValueError
///     If the shapes of `a` and `b` do not match, or `c` does not broadcast.
///
/// See Also
/// --------
/// matmul
///
/// Notes
/// -----
/// A term whose factor is zero is left out, even if it holds NaN or infinity.
///
/// Examples
/// --------
/// >>> mx.addmm(mx.array([1.0, 2.0]), mx.eye(2), mx.eye(2), alpha=2.0, beta=10.0)
/// array([[12, 20],
///        [10, 22]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (c, a, b, /, alpha = 1.0, beta = 1.0, *, stream = None))]
fn addmm(
    c: Operand,
    a: Operand,
    b: Operand,
    alpha: f64,
    beta: f64,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, b) = Operand::pair(a, b)?;
    let c = c.promote_with(&a)?;
    record_on(stream, || ops::addmm(&c, &a, &b, alpha, beta)).map(NewArray::from)
}

/// The `axes` of `tensordot`: a count, or one list for each operand.
enum DotAxes {
    Count(i64),
    Lists(Vec<Ints>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for DotAxes {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(count) = object.extract::<i64>() {
            return Ok(DotAxes::Count(count));
        }
        // PyO3 reserves memory for the whole sequence before it reads an element.
        if let Ok(length) = object.len()
            && length != 2
        {
            return Err(PyValueError::new_err(format!(
                "[tensordot] got {length} lists of axes, expected two"
            )));
        }
        match object.extract::<Vec<Ints>>() {
            Ok(lists) => Ok(DotAxes::Lists(lists)),
            Err(_) => Err(PyTypeError::new_err(format!(
                "got {}, expected a number of axes or two lists of axes",
                object.get_type().name()?
            ))),
        }
    }
}

/// Sum of products over pairs of axes of `a` and `b`.
///
/// Parameters
/// ----------
/// a, b : array_like
///     Arrays whose summed axes have equal lengths.
/// axes : int or pair of sequences of int, optional
///     An integer `n` pairs the last `n` axes of `a` with the first `n` of `b`. Two sequences pair ``axes[0][i]`` of
///     `a` with ``axes[1][i]`` of `b`. Default: 2.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     The other axes of `a`, then those of `b`, in the promoted dtype.
///
/// Raises
/// ------
/// ValueError
///     If the axes differ in number or length, an axis is given twice, `axes` is negative or larger than the number of
///     axes.
/// IndexError
///     If an axis is out of bounds.
///
/// See Also
/// --------
/// einsum, dot, inner, outer
///
/// Examples
/// --------
/// >>> mx.tensordot(mx.ones((2, 3, 4)), mx.ones((4, 3, 5)), axes=([1, 2], [1, 0])).shape
/// (2, 5)
/// >>> mx.tensordot(mx.array([1, 2]), mx.array([1, 10]), axes=0)
/// array([[1, 10],
///        [2, 20]], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, b, /, axes = DotAxes::Count(2), *, stream = None), text_signature = "(a, b, /, axes=2, *, stream=None)")]
fn tensordot(a: Operand, b: Operand, axes: DotAxes, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, b) = Operand::pair(a, b)?;
    let dot = |axes: &DotAxes| match axes {
        DotAxes::Count(count) => match usize::try_from(*count) {
            Ok(count) => ops::tensordot_count(&a, &b, count),
            Err(_) => Err(umber_core::types::error!(
                Value("tensordot"),
                "number of axes must not be negative, got {count}"
            )),
        },
        DotAxes::Lists(lists) => match &lists[..] {
            [left, right] => ops::tensordot(&a, &b, left.as_slice(), right.as_slice()),
            other => Err(umber_core::types::error!(
                Value("tensordot"),
                "got {} lists of axes, expected two",
                other.len()
            )),
        },
    };
    record_on(stream, || dot(&axes)).map(NewArray::from)
}

/// Dot product of vectors along an axis: sum of ``conj(a) * b`` over `axis`.
///
/// Parameters
/// ----------
/// a, b : array_like
///     Arrays with equal lengths along `axis`; other axes broadcast.
/// axis : int, optional
///     Axis to sum over. A negative axis counts from the end of either array. Default: -1.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     The broadcast shape without `axis`, in the promoted dtype.
///
/// Raises
/// ------
/// ValueError
///     If the shapes do not broadcast.
/// IndexError
///     If `axis` is out of bounds.
///
/// See Also
/// --------
/// vdot, inner
///
/// Examples
/// --------
/// >>> mx.vecdot(mx.array([[1, 2], [3, 4]]), mx.array([1, 1]))
/// array([3, 7], dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, b, /, *, axis = -1, stream = None))]
fn vecdot(a: Operand, b: Operand, axis: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, b) = Operand::pair(a, b)?;
    record_on(stream, || ops::vecdot(&a, &b, axis)).map(NewArray::from)
}

/// Kronecker product: `a` with each element replaced by that element times `b`.
///
/// Parameters
/// ----------
/// a, b : array_like
///     Arrays of any shapes. The shape with fewer axes is padded with ones in front.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Each axis has the product of both lengths. Promoted dtype.
///
/// See Also
/// --------
/// outer
///
/// Examples
/// --------
/// >>> mx.kron(mx.eye(2), mx.array([[1.0, 2.0]]))
/// array([[1, 2, 0, 0],
///        [0, 0, 1, 2]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, b, *, stream = None))]
fn kron(a: Operand, b: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, b) = Operand::pair(a, b)?;
    record_on(stream, || ops::kron(&a, &b)).map(NewArray::from)
}

/// An index of `einsum` as a number: 0 to 25 are `A` to `Z`, 26 to 51 `a` to `z`.
fn letter(entry: &Bound<'_, PyAny>) -> PyResult<String> {
    if entry.is(entry.py().Ellipsis()) {
        return Ok("...".to_owned());
    }
    let value = index(entry)?;
    let letters = ('A'..='Z').chain('a'..='z');
    letters.into_iter().nth(usize::try_from(value).unwrap_or(usize::MAX)).map(String::from).ok_or_else(|| {
        PyValueError::new_err(format!(
            "[einsum] index {value} is out of range, expected 0 to 51 or an ellipsis"
        ))
    })
}

/// The subscripts and operands of a call: a string and arrays, or arrays that alternate with lists of axis numbers.
fn parse_operands(first: &Bound<'_, PyAny>, others: &Bound<'_, PyTuple>) -> PyResult<(String, Vec<Array>)> {
    let operand = |item: &Bound<'_, PyAny>| item.extract::<Operand>().map(Operand::into_array);
    if let Ok(subscripts) = first.extract::<String>() {
        return Ok((subscripts, others.iter().map(|item| operand(&item)).collect::<PyResult<_>>()?));
    }
    if others.is_empty() {
        let class = first.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "got {class}, expected a string, or arrays and lists of numbers"
        )));
    }
    let items: Vec<Bound<'_, PyAny>> = std::iter::once(first.clone()).chain(others.iter()).collect();
    let letters = |list: &Bound<'_, PyAny>| {
        let numbers = list.try_iter().map_err(|_| {
            let class =
                list.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "got {class}, expected a string, or a list of numbers after each array"
            ))
        })?;
        numbers.map(|number| letter(&number?)).collect::<PyResult<Vec<String>>>().map(|all| all.concat())
    };
    let pairs = items.chunks_exact(2);
    let output = pairs.remainder().first().map(&letters).transpose()?;
    let terms = pairs.clone().map(|pair| letters(&pair[1])).collect::<PyResult<Vec<String>>>()?;
    let arrays = pairs.map(|pair| operand(&pair[0])).collect::<PyResult<_>>()?;
    let arrow = output.map_or(String::new(), |output| format!("->{output}"));
    Ok((terms.join(",") + &arrow, arrays))
}

/// Sum of products in Einstein notation, such as ``einsum("ij,jk->ik", a, b)``.
///
/// Parameters
/// ----------
/// subscripts : str or array_like
///     One letter per axis, terms separated by commas, then ``->`` and the axes of the result. Alternatively the first
///     array of the form ``einsum(a, [0, 1], b, [1, 2], [0, 2])``, with axis numbers from 0 to 51 or ``Ellipsis``.
/// *operands : array_like
///     One array per term.
/// optimize : object, optional
///     Ignored: the order of products is always optimised. Default: None.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Promoted dtype. Small integers and bool widen to 32 bits where a sum over a single operand is taken, as in
///     `sum`.
///
/// Raises
/// ------
/// ValueError
///     If the subscripts are malformed, or do not match the number, the axes or the lengths of the operands.
/// TypeError
///     If `subscripts` is neither a string nor an array followed by a list.
///
/// See Also
/// --------
/// einsum_path, tensordot, matmul
///
/// Notes
/// -----
/// An index that is absent from the result is summed over. An index that appears twice in one term selects the
/// diagonal. ``...`` stands for the axes without a letter, which broadcast. Without ``->`` the result has every index
/// that appears once, in alphabetical order.
///
/// Examples
/// --------
/// >>> a = mx.array([[1, 2], [3, 4]])
/// >>> mx.einsum("ii->", a)
/// array(5, dtype=int32)
/// >>> mx.einsum("ij,j->i", a, mx.array([10, 1]))
/// array([12, 34], dtype=int32)
#[pyfunction]
#[pyo3(signature = (subscripts, *operands, optimize = None, stream = None))]
fn einsum(
    subscripts: &Bound<'_, PyAny>,
    operands: &Bound<'_, PyTuple>,
    optimize: Option<&Bound<'_, PyAny>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let _ = optimize;
    let (subscripts, arrays) = parse_operands(subscripts, operands)?;
    let arrays: Vec<&Array> = arrays.iter().collect();
    record_on(stream, || ops::einsum(&subscripts, &arrays)).map(NewArray::from)
}

/// Order in which `einsum` multiplies its operands, and a description of the cost.
///
/// Parameters
/// ----------
/// subscripts : str or array_like
///     Subscripts, as in `einsum`.
/// *operands : array_like
///     Operands, as in `einsum`; only their shapes matter.
/// optimize : object, optional
///     Ignored: the order is always optimised. Default: None.
///
/// Returns
/// -------
/// tuple of list and str
///     One tuple per product, with the positions of its operands in the list of remaining arrays; the product is
///     appended to that list. The string reports the scaling and the number of operations.
///
/// Raises
/// ------
/// ValueError
///     If there are no operands, or the subscripts do not match them.
/// TypeError
///     If `subscripts` is neither a string nor an array followed by a list.
///
/// See Also
/// --------
/// einsum
///
/// Notes
/// -----
/// For up to eight operands the order has the minimum cost.
///
/// Examples
/// --------
/// >>> path, report = mx.einsum_path("ij,jk,kl->il", mx.ones((2, 10)), mx.ones((10, 10)), mx.ones((10, 3)))
/// >>> path
/// [(0, 1), (0, 1)]
#[pyfunction]
#[pyo3(signature = (subscripts, *operands, optimize = None))]
fn einsum_path<'py>(
    py: Python<'py>,
    subscripts: &Bound<'py, PyAny>,
    operands: &Bound<'py, PyTuple>,
    optimize: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Vec<Bound<'py, PyTuple>>, String)> {
    let _ = optimize;
    let (subscripts, arrays) = parse_operands(subscripts, operands)?;
    let arrays: Vec<&Array> = arrays.iter().collect();
    let contraction = ops::einsum_path(&subscripts, &arrays).or_raise()?;
    let path =
        contraction.path.iter().map(|positions| PyTuple::new(py, positions)).collect::<PyResult<_>>()?;
    Ok((path, contraction.to_string()))
}

/// Matrix product of matrices selected by index: ``a[lhs_indices] @ b[rhs_indices]``.
///
/// Parameters
/// ----------
/// a, b : array_like
///     Stacks of matrices, of shapes ``(..., m, k)`` and ``(..., k, n)``.
/// lhs_indices : array_like of int, optional
///     Flat indices into the batch axes of `a`. Negative indices count from the end. Default: all matrices in order.
/// rhs_indices : array_like of int, optional
///     Flat indices into the batch axes of `b`, as for `lhs_indices`. Both broadcast. Default: all matrices in order.
/// sorted_indices : bool, optional
///     Hint that the indices are sorted. It changes nothing. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape ``(*index_shape, m, n)`` in the promoted dtype.
///
/// Raises
/// ------
/// ValueError
///     If the inner dimensions differ, or the indices do not broadcast.
/// TypeError
///     If the indices are not integers.
/// IndexError
///     When evaluated, if an index is out of bounds.
///
/// See Also
/// --------
/// matmul, gather_qmm
///
/// Notes
/// -----
/// The selected matrices are not copied.
///
/// Examples
/// --------
/// >>> a, b = mx.ones((2, 1, 1)), mx.array([10.0, 20.0, 30.0]).reshape(3, 1, 1)
/// >>> mx.gather_mm(a, b, rhs_indices=mx.array([2, 0])).flatten()
/// array([30, 10], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, b, /, lhs_indices = None, rhs_indices = None, *, sorted_indices = false, stream = None))]
fn gather_mm(
    a: Operand,
    b: Operand,
    lhs_indices: Option<Operand>,
    rhs_indices: Option<Operand>,
    sorted_indices: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let _ = sorted_indices;
    let (a, b) = Operand::pair(a, b)?;
    let (lhs, rhs) = (lhs_indices.map(Operand::into_array), rhs_indices.map(Operand::into_array));
    record_on(stream, || ops::gather_mm(&a, &b, lhs.as_ref(), rhs.as_ref())).map(NewArray::from)
}

/// Matrix products over segments of the inner axis: ``a[:, start:end] @ b[start:end]``.
///
/// Parameters
/// ----------
/// a, b : array_like
///     Matrices of shapes ``(m, k)`` and ``(k, n)``.
/// segments : array_like of int
///     Shape ``(..., 2)``: start and end of each segment, between 0 and `k`.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape ``(*segments.shape[:-1], m, n)`` in the promoted dtype.
///
/// Raises
/// ------
/// ValueError
///     If `a` or `b` is not a matrix, the inner dimensions differ, or the last axis of `segments` is not of length 2.
/// TypeError
///     If `segments` are not integers.
/// IndexError
///     When evaluated, if a segment lies outside the inner axis.
///
/// See Also
/// --------
/// matmul, gather_mm
///
/// Notes
/// -----
/// A segment that ends before it starts is empty, and its product is zero.
///
/// Examples
/// --------
/// >>> mx.segmented_mm(mx.array([[1.0, 2.0, 3.0]]), mx.ones((3, 1)), mx.array([[0, 2], [2, 3]])).flatten()
/// array([3, 3], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, b, /, segments, *, stream = None))]
fn segmented_mm(a: Operand, b: Operand, segments: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let ((a, b), segments) = (Operand::pair(a, b)?, segments.into_array());
    record_on(stream, || ops::segmented_mm(&a, &b, &segments)).map(NewArray::from)
}

/// Matrix product with masked blocks of the operands and the result.
///
/// Parameters
/// ----------
/// a, b : array_like
///     Operands of the product, as in `matmul`.
/// block_size : int, optional
///     Rows and columns of a block. Blocks at the ends may be smaller. Default: 64.
/// mask_out : array_like, optional
///     Mask of the result, with one element per block: bool keeps or zeroes a block, numbers scale it. Default: no
///     mask.
/// mask_lhs, mask_rhs : array_like, optional
///     Masks of `a` and `b`. Default: no mask.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape of ``a @ b`` in the promoted dtype.
///
/// Raises
/// ------
/// ValueError
///     If the shapes do not match, a mask does not have one element per block, or `block_size` is not positive.
///
/// See Also
/// --------
/// matmul
///
/// Examples
/// --------
/// >>> mask = mx.array([[True, False], [True, True]])
/// >>> mx.block_masked_mm(mx.array([[1.0, 2.0], [3.0, 4.0]]), mx.eye(2), block_size=1, mask_out=mask)
/// array([[1, 0],
///        [3, 4]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, b, /, block_size = 64, mask_out = None, mask_lhs = None, mask_rhs = None, *, stream = None))]
fn block_masked_mm(
    a: Operand,
    b: Operand,
    block_size: i64,
    mask_out: Option<Operand>,
    mask_lhs: Option<Operand>,
    mask_rhs: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, b) = Operand::pair(a, b)?;
    let [out, lhs, rhs] = [mask_out, mask_lhs, mask_rhs].map(|mask| mask.map(Operand::into_array));
    let masks = ops::BlockMasks { out: out.as_ref(), lhs: lhs.as_ref(), rhs: rhs.as_ref() };
    record_on(stream, || ops::block_masked_mm(&a, &b, block_size, masks)).map(NewArray::from)
}

/// Walsh-Hadamard transform along the last axis: ``scale * (H @ x)``.
///
/// Parameters
/// ----------
/// a : array_like
///     Last axis of length ``m * 2**k`` with `m` one of 1, 12, 20 and 28. Integers are computed in float32.
/// scale : float, optional
///     Factor of the result. Default: ``1 / sqrt(length)``, which preserves the 2-norm.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape of `a`; its floating or complex dtype, float32 for integers.
///
/// Raises
/// ------
/// ValueError
///     If there is no matrix for the length of the last axis, or the axis is empty.
///
/// Notes
/// -----
/// `H` is a Kronecker product of a Hadamard matrix of order `m` and of Sylvester's matrices. Orders 12, 20 and 28 are
/// constructions of R. Paley (J. Math. Phys. 12, 1933) and J. Williamson (Duke Math. J. 11, 1944). float16 and bfloat16
/// are computed in float32 and rounded once. A 0-D array counts as length 1.
///
/// Examples
/// --------
/// >>> mx.hadamard_transform(mx.array([1.0, 2.0, 3.0, 4.0]), scale=1.0)
/// array([10, -2, -4, 0], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, scale = None, stream = None))]
fn hadamard_transform(a: Operand, scale: Option<f64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    record_on(stream, || ops::hadamard_transform(&a.into_array(), scale)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_products(module)?;
    for function in [
        wrap_pyfunction!(addmm, module)?,
        wrap_pyfunction!(tensordot, module)?,
        wrap_pyfunction!(vecdot, module)?,
        wrap_pyfunction!(kron, module)?,
        wrap_pyfunction!(einsum, module)?,
        wrap_pyfunction!(einsum_path, module)?,
        wrap_pyfunction!(gather_mm, module)?,
        wrap_pyfunction!(segmented_mm, module)?,
        wrap_pyfunction!(block_masked_mm, module)?,
        wrap_pyfunction!(hadamard_transform, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
