//! Products of arrays.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use umber_core::{Array, ops};

use crate::args::{Ints, Operand, StreamArg, index, record_on};
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// Functions of two arrays.
macro_rules! products {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
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
    matmul "Matrix product over the last two axes; leading axes broadcast, 1-D operands are vectors.",
    dot "Product of numbers with anything, of vectors as a sum, of others over the last axis of `a` and the last but one of `b` (the only one of a vector); the other axes do not broadcast.",
    vdot "Sum of `conj(a) * b` over all elements of two arrays of one size.",
    inner "Sum of products over the last axis of both.",
    outer "Products of every element of `a` with every element of `b`, both flattened.",
}

/// `alpha * (a @ b) + beta * c`.
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
    let c = c.beside(&a)?;
    record_on(stream, || ops::addmm(&c, &a, &b, alpha, beta)).map(NewArray::from)
}

/// What `axes` of `tensordot` says: how many, or which of each.
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
        // Room for all of a sequence is made before it is read.
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

/// Sum of products over the last `axes` axes of `a` and the first of `b`, or over two lists of axes.
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

/// Sum of products over `axis`, the first operand conjugated; other axes broadcast.
#[pyfunction]
#[pyo3(signature = (a, b, /, *, axis = -1, stream = None))]
fn vecdot(a: Operand, b: Operand, axis: i64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, b) = Operand::pair(a, b)?;
    record_on(stream, || ops::vecdot(&a, &b, axis)).map(NewArray::from)
}

/// Kronecker product: blocks of `b` scaled by the elements of `a`.
#[pyfunction]
#[pyo3(signature = (a, b, *, stream = None))]
fn kron(a: Operand, b: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, b) = Operand::pair(a, b)?;
    record_on(stream, || ops::kron(&a, &b)).map(NewArray::from)
}

/// An index of `einsum` as a number: 0 to 25 are `A` to `Z`, 26 to 51 `a` to `z`.
fn letter(number: &Bound<'_, PyAny>) -> PyResult<String> {
    if number.is(number.py().Ellipsis()) {
        return Ok("...".to_owned());
    }
    let at = index(number)?;
    let letters = ('A'..='Z').chain('a'..='z');
    letters.into_iter().nth(usize::try_from(at).unwrap_or(usize::MAX)).map(String::from).ok_or_else(|| {
        PyValueError::new_err(format!("[einsum] index {at} is out of range, expected 0 to 51 or an ellipsis"))
    })
}

/// The subscripts and operands of a call: a string and arrays, or arrays and a list of numbers behind each.
fn subscripted(first: &Bound<'_, PyAny>, others: &Bound<'_, PyTuple>) -> PyResult<(String, Vec<Array>)> {
    let operand = |item: &Bound<'_, PyAny>| item.extract::<Operand>().map(Operand::alone);
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

/// Sums of products as Einstein's summation writes them: `einsum("ij,jk->ik", a, b)`, or `einsum(a, [0, 1], b, [1, 2], [0, 2])`.
///
/// The order of products is always a cheap one (`einsum_path` says which), whatever `optimize` asks for.
#[pyfunction]
#[pyo3(signature = (subscripts, *operands, optimize = None, stream = None))]
fn einsum(
    subscripts: &Bound<'_, PyAny>,
    operands: &Bound<'_, PyTuple>,
    optimize: Option<&Bound<'_, PyAny>>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let _ = optimize;
    let (subscripts, arrays) = subscripted(subscripts, operands)?;
    let arrays: Vec<&Array> = arrays.iter().collect();
    record_on(stream, || ops::einsum(&subscripts, &arrays)).map(NewArray::from)
}

/// The order in which `einsum` multiplies its operands, and a description of its cost.
///
/// A list of tuples, each naming the places, in the list of what is left, of the operands of one product, which then goes to
/// the end of that list. Up to eight operands the order is the cheapest there is.
#[pyfunction]
#[pyo3(signature = (subscripts, *operands, optimize = None))]
fn einsum_path<'py>(
    py: Python<'py>,
    subscripts: &Bound<'py, PyAny>,
    operands: &Bound<'py, PyTuple>,
    optimize: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Vec<Bound<'py, PyTuple>>, String)> {
    let _ = optimize;
    let (subscripts, arrays) = subscripted(subscripts, operands)?;
    let arrays: Vec<&Array> = arrays.iter().collect();
    let found = ops::einsum_path(&subscripts, &arrays).or_raise()?;
    let path = found.path.iter().map(|places| PyTuple::new(py, places)).collect::<PyResult<_>>()?;
    Ok((path, found.to_string()))
}

/// Matrix product of matrices picked by flat indices into the batch axes: `a[lhs_indices] @ b[rhs_indices]`.
///
/// Index arrays broadcast; without one, all matrices of its operand are taken in order. Indices are integers, negative ones
/// count from the end, and one out of bounds is an `IndexError`. `sorted_indices` is a hint that is not needed.
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
    let (lhs, rhs) = (lhs_indices.map(Operand::alone), rhs_indices.map(Operand::alone));
    record_on(stream, || ops::gather_mm(&a, &b, lhs.as_ref(), rhs.as_ref())).map(NewArray::from)
}

/// Product of two matrices cut along the inner axis: `a[:, from:to] @ b[from:to]` for each pair in the last axis of `segments`.
#[pyfunction]
#[pyo3(signature = (a, b, /, segments, *, stream = None))]
fn segmented_mm(a: Operand, b: Operand, segments: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let ((a, b), segments) = (Operand::pair(a, b)?, segments.alone());
    record_on(stream, || ops::segmented_mm(&a, &b, &segments)).map(NewArray::from)
}

/// Matrix product with blocks of `block_size` by `block_size` elements masked, of the result and of either operand.
///
/// A mask has an element a block: of bool it keeps blocks or leaves them out, of numbers it scales them.
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
    let [out, lhs, rhs] = [mask_out, mask_lhs, mask_rhs].map(|mask| mask.map(Operand::alone));
    let masks = ops::BlockMasks { out: out.as_ref(), lhs: lhs.as_ref(), rhs: rhs.as_ref() };
    record_on(stream, || ops::block_masked_mm(&a, &b, block_size, masks)).map(NewArray::from)
}

/// Walsh-Hadamard transform along the last axis, of length `m * 2**k` with `m` one of 1, 12, 20 and 28.
///
/// `scale` is `1 / sqrt(length)` by default. Integers become float32. The matrices are Sylvester's, Paley's and Williamson's.
#[pyfunction]
#[pyo3(signature = (a, scale = None, stream = None))]
fn hadamard_transform(a: Operand, scale: Option<f64>, stream: Option<StreamArg>) -> PyResult<NewArray> {
    record_on(stream, || ops::hadamard_transform(&a.alone(), scale)).map(NewArray::from)
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
