//! Conversion between Python values and arrays: numbers, nested sequences, and objects that export their memory.

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyComplex, PyFloat, PyInt, PyList, PyTuple};
use pyo3::{ffi, intern};
use umber_core::graph::ArrayInternals;
use umber_core::runtime::printing::MAX_AXES;
use umber_core::{Array, DType, Scalar, Shape, ops};

use crate::args::{check_fits, number};
use crate::array::PyArray;
use crate::dtype::{DtypeArg, NumberType};
use crate::enter::{OrRaise, to_exception};
use crate::interop::{Copying, from_ndarray, from_shared, struct_format};

/// An array with the value of `object`; `None` if it is no number, sequence or exporter of memory.
pub(crate) fn from_object(object: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Option<Array>> {
    if let Ok(array) = object.cast::<PyArray>() {
        let array = array.get().get();
        return match dtype {
            Some(dtype) => ops::astype(&array, dtype).or_raise().map(Some),
            None => Ok(Some(array)),
        };
    }
    if let Some(value) = number(object)? {
        let dtype = dtype.unwrap_or(value.default_dtype());
        check_fits(value, dtype)?;
        return Ok(Some(Array::scalar(value, dtype)));
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        return from_sequence(object, dtype).map(Some);
    }
    let Some(array) = shared(object, Copying::IfNeeded)? else { return Ok(None) };
    match dtype {
        Some(dtype) => ops::astype(&array, dtype).or_raise().map(Some),
        None => Ok(Some(array)),
    }
}

/// A list or tuple of arrays of umber, or of such lists.
pub(crate) fn is_of_arrays(object: &Bound<'_, PyAny>) -> bool {
    let has_arrays = |item: &Bound<'_, PyAny>| item.is_instance_of::<PyArray>();
    let mut level = object.clone();
    // Deeper lists are rejected where they are converted.
    for _ in 0..64 {
        let first = if let Ok(list) = level.cast::<PyList>() {
            if list.iter().any(|item| has_arrays(&item)) {
                return true;
            }
            list.get_item(0).ok()
        } else if let Ok(tuple) = level.cast::<PyTuple>() {
            if tuple.iter().any(|item| has_arrays(&item)) {
                return true;
            }
            tuple.get_item(0).ok()
        } else {
            return false;
        };
        match first {
            Some(first) => level = first,
            None => return false,
        }
    }
    false
}

/// An array over the memory that an object exports; `None` for Python's own values and objects that export none.
pub(crate) fn shared(object: &Bound<'_, PyAny>, copying: Copying) -> PyResult<Option<Array>> {
    if let Some(array) = from_ndarray(object, copying)? {
        return Ok(Some(array));
    }
    if is_number(object)
        || object.is_none()
        || object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
        || object.is_instance_of::<pyo3::types::PyString>()
    {
        return Ok(None);
    }
    from_shared(object, copying)
}

/// The numbers of a nested sequence in row-major order, and their common dtype.
struct Flat {
    numbers: Vec<Scalar>,
    /// Sub-arrays, where the leaves are arrays instead of numbers.
    arrays: Vec<Array>,
    dtype: Option<DType>,
}

/// An array from nested lists and tuples of numbers or of arrays of equal shape.
fn from_sequence(object: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Array> {
    if matches!(dtype, None | Some(DType::Float32))
        && let Ok(list) = object.cast_exact::<PyList>()
        && let Some(floats) = floats_of(list)?
    {
        return Array::from_slice(&floats, [floats.len()]).or_raise();
    }
    let mut shape: Vec<usize> = Vec::new();
    let mut flat = Flat { numbers: Vec::new(), arrays: Vec::new(), dtype: None };
    measure(object, &mut shape)?;
    collect(object, &shape, 0, &mut flat)?;
    if !flat.arrays.is_empty() {
        return stack(flat.arrays, &shape, dtype);
    }
    if dtype.is_none()
        && flat.dtype == Some(DType::UInt64)
        && let Some(Scalar::Int(number)) =
            flat.numbers.iter().find(|number| matches!(number, Scalar::Int(..0)))
    {
        return Err(to_exception(umber_core::types::error!(
            Overflow("array"),
            "negative integer {number} and an integer beyond int64 have no common dtype"
        )));
    }
    let dtype = dtype.or(flat.dtype).unwrap_or(DType::Float32);
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(flat.numbers.len() * dtype.size()).map_err(|_| no_memory())?;
    for value in flat.numbers {
        match (value, dtype) {
            (Scalar::Float(value), DType::Float32) => bytes.extend_from_slice(&(value as f32).to_ne_bytes()),
            _ => {
                check_fits(value, dtype)?;
                bytes.extend_from_slice(&value.to_bytes(dtype)[..dtype.size()]);
            }
        }
    }
    from_bytes(&bytes, &Shape::from(shape), dtype)
}

/// Fast path for a list of Python floats, the most common long list; `None` for any other list.
fn floats_of(list: &Bound<'_, PyList>) -> PyResult<Option<Vec<f32>>> {
    if list.is_empty() || !list.get_item(0)?.is_exact_instance_of::<PyFloat>() {
        return Ok(None);
    }
    let mut floats = Vec::new();
    floats.try_reserve_exact(list.len()).map_err(|_| no_memory())?;
    for item in list {
        match item.cast_exact::<PyFloat>() {
            Ok(number) => floats.push(number.value() as f32),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(floats))
}

fn no_memory() -> PyErr {
    PyMemoryError::new_err("[array] out of memory for the numbers of the nested lists")
}

/// An array with a copy of these bytes.
pub(crate) fn from_bytes(bytes: &[u8], shape: &Shape, dtype: DType) -> PyResult<Array> {
    let array = Array::from_slice(bytes, [bytes.len()]).or_raise()?;
    let storage = array.storage().expect("created from elements").clone();
    let layout = umber_core::Layout::contiguous(shape.clone());
    Array::from_storage(storage.with_layout(layout), dtype).or_raise()
}

/// Infer the shape of a nested sequence from the first element of each level.
fn measure(object: &Bound<'_, PyAny>, shape: &mut Vec<usize>) -> PyResult<()> {
    let mut level = object.clone();
    loop {
        if shape.len() > 64 {
            return Err(PyValueError::new_err("[array] lists are nested deeper than 64 levels"));
        }
        let (length, first) = if let Ok(list) = level.cast::<PyList>() {
            (list.len(), list.get_item(0).ok())
        } else if let Ok(tuple) = level.cast::<PyTuple>() {
            (tuple.len(), tuple.get_item(0).ok())
        } else {
            if let Some(array) = leaf_array(&level)? {
                shape.extend(array.shape().iter());
            }
            return Ok(());
        };
        shape.push(length);
        match first {
            Some(first) => level = first,
            None => return Ok(()),
        }
    }
}

/// The error for ragged lists.
fn ragged(got: &str, depth: usize, shape: &[usize]) -> PyResult<()> {
    Err(PyValueError::new_err(format!(
        "[array] nested lists must have equal lengths at each depth: got {got} at depth {depth}, expected \
         shape {}",
        Shape::from(shape)
    )))
}

fn collect(object: &Bound<'_, PyAny>, shape: &[usize], depth: usize, flat: &mut Flat) -> PyResult<()> {
    let items = if let Ok(list) = object.cast::<PyList>() {
        collect_items(list.iter())?
    } else if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        collect_items(tuple.iter())?
    } else if let Ok(tuple) = object.cast::<PyTuple>() {
        // By its iterator, which a subclass of tuple may override, as `Lengths` of traced arrays does.
        collect_items(tuple.try_iter()?.collect::<PyResult<Vec<_>>>()?.into_iter())?
    } else if let Ok(array) = object.cast::<PyArray>() {
        return flat.push_array(array.get().get(), shape, depth);
    } else {
        let value = match number(object)? {
            Some(value) => Some(value),
            None => foreign_number(object)?,
        };
        let Some(value) = value else {
            return match leaf_array(object)? {
                Some(array) => flat.push_array(array, shape, depth),
                None => Err(to_exception(umber_core::types::error!(
                    Type("array"),
                    "got {} as an element, expected a number or an array",
                    object.get_type().name()?
                ))),
            };
        };
        if depth != shape.len() {
            return ragged("a number", depth, shape);
        }
        if !flat.arrays.is_empty() {
            flat.arrays.push(as_array(value));
            return Ok(());
        }
        return flat.push(value);
    };
    if depth >= shape.len() || items.len() != shape[depth] {
        return ragged(&format!("a sequence of length {}", items.len()), depth, shape);
    }
    let is_row = depth + 1 == shape.len();
    for item in items {
        match item.cast_exact::<PyFloat>() {
            // Fast path for the most common element type.
            Ok(number) if is_row && flat.arrays.is_empty() => flat.push(Scalar::Float(number.value()))?,
            _ => collect(&item, shape, depth + 1, flat)?,
        }
    }
    Ok(())
}

/// The array that is an element of a nested sequence: one of umber, or an exporter of memory with at least one axis.
fn leaf_array(object: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    if let Ok(array) = object.cast::<PyArray>() {
        return Ok(Some(array.get().get()));
    }
    // Bytes export their memory, but are not read as arrays of numbers here.
    if is_number(object) || object.is_instance_of::<PyBytes>() || object.is_instance_of::<PyByteArray>() {
        return Ok(None);
    }
    Ok(shared(object, Copying::IfNeeded)?.filter(|array| array.ndim() > 0))
}

/// Collect the items of a sequence first, because reading them may run code that changes the sequence.
fn collect_items<'py>(
    items: impl ExactSizeIterator<Item = Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let mut collected = Vec::new();
    collected.try_reserve_exact(items.len()).map_err(|_| no_memory())?;
    collected.extend(items);
    Ok(collected)
}

impl Flat {
    /// Add an array that is an element at `depth`. Numbers collected so far become 0-d arrays, to keep the order.
    fn push_array(&mut self, array: Array, shape: &[usize], depth: usize) -> PyResult<()> {
        if shape.get(depth..) != Some(&array.shape()[..]) {
            return ragged(&format!("an array of shape {}", array.shape()), depth, shape);
        }
        let numbers = std::mem::take(&mut self.numbers);
        self.arrays.extend(numbers.into_iter().map(as_array));
        self.arrays.push(array);
        Ok(())
    }

    fn push(&mut self, value: Scalar) -> PyResult<()> {
        let value_dtype = value.default_dtype();
        if self.dtype != Some(value_dtype) {
            self.dtype = Some(self.dtype.map_or(value_dtype, |dtype| common_dtype(dtype, value_dtype)));
        }
        self.numbers.try_reserve(1).map_err(|_| no_memory())?;
        self.numbers.push(value);
        Ok(())
    }
}

/// The common dtype of numbers. Integers stay integers: with one beyond int64 it is uint64, and a negative integer then raises.
fn common_dtype(a: DType, b: DType) -> DType {
    let is_integral = |dtype: DType| dtype.is_integer() || dtype == DType::Bool;
    if is_integral(a) && is_integral(b) && [a, b].contains(&DType::UInt64) {
        return DType::UInt64;
    }
    umber_core::types::promote(a, b)
}

/// A number as a 0-d array.
fn as_array(value: Scalar) -> Array {
    Array::scalar(value, value.default_dtype())
}

/// The value of a number that is not Python's own, such as NumPy's scalars.
pub(crate) fn foreign_number(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    let is_scalar = object.getattr("shape").ok().and_then(|s| s.extract::<Vec<usize>>().ok());
    if is_scalar.is_none_or(|shape| !shape.is_empty()) {
        return Ok(None);
    }
    let Ok(item) = object.call_method0("item") else { return Ok(None) };
    number(&item)
}

/// The value of a number that is not a subclass of Python's, such as `Decimal` and `Fraction`: by `__float__`, else by
/// `__index__`, else by `__complex__`.
pub(crate) fn number_by_methods(object: &Bound<'_, PyAny>) -> Option<Scalar> {
    let class = object.get_type();
    let has = |method: &str| class.hasattr(method).unwrap_or(false);
    if has("__float__") {
        return object.extract().ok().map(Scalar::Float);
    }
    if has("__index__") {
        return object.extract().ok().map(Scalar::Int);
    }
    if !has("__complex__") {
        return None;
    }
    let value: Bound<'_, PyComplex> = object.call_method0("__complex__").ok()?.cast_into().ok()?;
    Some(Scalar::Complex(value.real(), value.imag()))
}

/// Arrays of one shape stacked along as many leading axes as the lists had.
fn stack(arrays: Vec<Array>, shape: &[usize], dtype: Option<DType>) -> PyResult<Array> {
    // Array rows may be mixed with rows of numbers, whose elements are 0-d arrays; flattened pieces can be concatenated.
    let rows = arrays
        .iter()
        .map(|array| ops::reshape(array, [-1]))
        .collect::<umber_core::Result<Vec<_>>>()
        .or_raise()?;
    let is_even = rows.windows(2).all(|pair| pair[0].shape() == pair[1].shape());
    let rows: Vec<&Array> = rows.iter().collect();
    let stacked = if is_even { ops::stack(&rows, 0) } else { ops::concatenate(&rows, Some(0)) }.or_raise()?;
    let shape: Vec<i64> = shape.iter().map(|&length| length as i64).collect();
    let shaped = ops::reshape(&stacked, &shape).or_raise()?;
    match dtype {
        Some(dtype) => ops::astype(&shaped, dtype).or_raise(),
        None => Ok(shaped),
    }
}

/// A Python number with the value of `value`.
pub(crate) fn to_number(py: Python<'_>, value: Scalar) -> PyResult<Py<PyAny>> {
    Ok(match value {
        Scalar::Bool(v) => PyBool::new(py, v).to_owned().into_any().unbind(),
        Scalar::Int(v) => v.into_pyobject(py)?.into_any().unbind(),
        Scalar::UInt(v) => v.into_pyobject(py)?.into_any().unbind(),
        Scalar::Float(v) => PyFloat::new(py, v).into_any().unbind(),
        Scalar::Complex(re, im) => PyComplex::from_doubles(py, re, im).into_any().unbind(),
    })
}

/// Limit on the number of empty lists that `tolist` creates.
const MAX_EMPTY_LISTS: usize = 1 << 24;

/// The elements as nested lists; a 0-d array as a number.
pub(crate) fn to_list(py: Python<'_>, array: &Array) -> PyResult<Py<PyAny>> {
    if array.ndim() > MAX_AXES {
        return Err(PyValueError::new_err(format!(
            "[tolist] array of {} axes; the maximum is {MAX_AXES}",
            array.ndim()
        )));
    }
    // The lists of an array without elements are not bounded by its memory.
    let lists = array.shape().iter().take_while(|&&n| n > 0).try_fold(1usize, |all, &n| all.checked_mul(n));
    if array.size() == 0 && lists.is_none_or(|lists| lists > MAX_EMPTY_LISTS) {
        return Err(PyValueError::new_err(format!(
            "[tolist] shape {} makes more than {MAX_EMPTY_LISTS} empty lists",
            array.shape()
        )));
    }
    let dense = crate::enter::enter(py, || array.to_dense())?;
    let dtype = dense.dtype();
    match viewed_format(dtype) {
        Some(format) if dense.size() >= MIN_FOR_VIEW && dense.ndim() <= MAX_VIEW_AXES => {
            to_list_by_view(py, &dense, format)
        }
        Some(_) | None => nested_lists(py, dense_bytes(&dense), dense.shape(), dtype, dtype.size()),
    }
}

/// Below this number of elements, creating each number is faster than creating a `memoryview`.
const MIN_FOR_VIEW: usize = 64;

/// The maximum number of axes of a `memoryview`.
const MAX_VIEW_AXES: usize = 64;

/// The struct format of a dtype if a `memoryview` converts its elements to the same numbers as `tolist`.
fn viewed_format(dtype: DType) -> Option<&'static str> {
    let is_convertible =
        dtype == DType::Bool || dtype.is_integer() || matches!(dtype, DType::Float32 | DType::Float64);
    struct_format(dtype).filter(|_| is_convertible)?.to_str().ok()
}

/// Convert with `memoryview.tolist`, whose loop runs inside the interpreter; from outside, each number costs C API calls.
fn to_list_by_view(py: Python<'_>, dense: &Array, format: &str) -> PyResult<Py<PyAny>> {
    let bytes = dense_bytes(dense);
    // SAFETY: the bytes outlive the views, which are released before this function returns.
    let view = unsafe {
        let start = bytes.as_ptr().cast_mut().cast();
        Bound::from_owned_ptr_or_err(
            py,
            ffi::PyMemoryView_FromMemory(start, bytes.len() as isize, ffi::PyBUF_READ),
        )
    }?;
    let elements = if dense.ndim() == 1 {
        view.call_method1(intern!(py, "cast"), (format,))
    } else {
        view.call_method1(intern!(py, "cast"), (format, dense.shape().to_vec()))
    }?;
    let list = elements.call_method0(intern!(py, "tolist"));
    // Release explicitly: code run by the cyclic garbage collector may hold references to the views.
    for view in [elements, view] {
        view.call_method0(intern!(py, "release"))?;
    }
    list.map(Bound::unbind)
}

fn nested_lists(
    py: Python<'_>,
    bytes: &[u8],
    shape: &[usize],
    dtype: DType,
    size: usize,
) -> PyResult<Py<PyAny>> {
    let Some((&length, rest)) = shape.split_first() else {
        return to_number(py, Scalar::from_bytes(dtype, bytes));
    };
    let step = rest.iter().product::<usize>() * size;
    if rest.is_empty() {
        return row(py, bytes, dtype, size);
    }
    let items = (0..length)
        .map(|i| nested_lists(py, &bytes[i * step..(i + 1) * step], rest, dtype, size))
        .collect::<PyResult<Vec<_>>>()?;
    Ok(PyList::new(py, items)?.into_any().unbind())
}

/// Contiguous elements as a list of numbers.
fn row(py: Python<'_>, bytes: &[u8], dtype: DType, size: usize) -> PyResult<Py<PyAny>> {
    let elements = bytes.chunks_exact(size);
    let list = match dtype {
        DType::Float32 => {
            let value = |four: &[u8]| f64::from(f32::from_ne_bytes(four.try_into().expect("chunks of four")));
            PyList::new(py, elements.map(value))
        }
        DType::Float64 => {
            let value = |eight: &[u8]| f64::from_ne_bytes(eight.try_into().expect("chunks of eight"));
            PyList::new(py, elements.map(value))
        }
        _ => {
            let numbers = elements
                .map(|element| to_number(py, Scalar::from_bytes(dtype, element)))
                .collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, numbers)
        }
    };
    Ok(list?.into_any().unbind())
}

/// Whether it is one of Python's own numbers.
pub(crate) fn is_number(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyComplex>()
}

/// Whether [`array`] accepts this type of object. (A sequence may still be ragged.)
pub(crate) fn is_array_like(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    if object.is_instance_of::<PyArray>()
        || is_number(object)
        || object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>()
    {
        return Ok(true);
    }
    shared(object, Copying::IfNeeded).map(|array| array.is_some())
}

/// A new array with the value of `object`, as `array(val, dtype)` creates it. Never shares memory.
pub(crate) fn array(object: &Bound<'_, PyAny>, dtype: Option<DType>) -> PyResult<Array> {
    let converted = match shared_by_others(object)? {
        Some(array) => match dtype {
            Some(dtype) => Some(ops::astype(&array, dtype).or_raise()?),
            None => Some(array),
        },
        None => from_object(object, dtype)?,
    };
    match converted {
        Some(array) => Ok(array),
        None => Err(to_exception(umber_core::types::error!(
            Type("array"),
            "got {}, expected numbers, a nested sequence of numbers, or an object that exports its memory",
            object.get_type().name()?
        ))),
    }
}

/// As [`array`], for a Python number type as dtype: its width is that of an array source, or of integers that do not fit int32.
pub(crate) fn array_of(object: &Bound<'_, PyAny>, dtype: Option<DtypeArg>) -> PyResult<Array> {
    let Some(DtypeArg::Number(kind)) = dtype else {
        return array(object, dtype.map(DtypeArg::default_dtype));
    };
    let dtype = DtypeArg::Number(kind);
    let converted = array(object, None)?;
    let is_sequence = object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>();
    if !(is_number(object) || is_sequence) || is_of_arrays(object) {
        return ops::astype(&converted, dtype.dtype_for(converted.dtype())).or_raise();
    }
    match kind {
        NumberType::Int if converted.dtype().is_integer() => Ok(converted),
        // Converted from the numbers, which may be more precise than an array of the default width.
        NumberType::Int | NumberType::Float | NumberType::Complex => {
            array(object, Some(dtype.default_dtype()))
        }
    }
}

/// A copy of the memory that an object other than an array of umber exports.
fn shared_by_others(object: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    if object.is_instance_of::<PyArray>() { Ok(None) } else { shared(object, Copying::Always) }
}

/// The bytes of a dense evaluated array.
pub(crate) fn dense_bytes(dense: &Array) -> &[u8] {
    let storage = dense.storage().expect("evaluated by the caller");
    storage.host().and_then(|host| host.dense_bytes(dense.dtype())).expect("made dense by the caller")
}
