//! Export of arrays as Arrow capsules: an axis is the length of the array, and each further one a list of fixed size.

use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use umber_core::{Array, DType, ops};

use super::super::export::Export;
use super::super::foreign_buffer::refuse;
use super::{ARRAY_NAME, Data, SCHEMA_NAME, Schema, format_of};
use crate::array::PyArray;
use crate::enter::{enter, warn_if_traced};

/// What the `private_data` of a schema owns.
struct SchemaParts {
    format: CString,
    children: Vec<*mut Schema>,
}

/// What the `private_data` of an array owns. A consumer may move a child out, so each level has its own.
struct DataParts {
    buffers: [*const c_void; 2],
    children: Vec<*mut Data>,
    /// Keeps the memory of the elements.
    _export: Option<Export>,
}

/// The flag of a schema whose elements may be null. None are, but this is the default of other libraries, whose types would differ
/// otherwise.
const NULLABLE: i64 = 2;

/// Memory for arrays without elements: some consumers reject a null pointer.
static NO_ELEMENTS: u64 = 0;

/// The release callback of a structure, which releases the children that are still there.
macro_rules! release {
    ($function:ident, $structure:ty, $parts:ty) => {
        unsafe extern "C" fn $function(structure: *mut $structure) {
            // SAFETY: the parts were boxed for this structure, and a holder releases it once. Children are boxed, too; those that
            // a consumer moved out have no callback.
            unsafe {
                let parts = Box::from_raw((*structure).private_data.cast::<$parts>());
                for &child in &parts.children {
                    if let Some(release) = (*child).release {
                        release(child);
                    }
                    drop(Box::from_raw(child));
                }
                (*structure).release = None;
            }
        }
    };
}

release! { release_schema, Schema, SchemaParts }
release! { release_data, Data, DataParts }

/// The schema of nested lists of these lengths.
fn schema(dtype_format: &CStr, lists: &[usize], name: &'static CStr) -> Schema {
    let (format, children) = match lists.split_first() {
        None => (dtype_format.to_owned(), Vec::new()),
        Some((length, inner)) => {
            let format = CString::new(format!("+w:{length}")).expect("there is no zero byte in it");
            (format, vec![Box::into_raw(Box::new(schema(dtype_format, inner, c"item")))])
        }
    };
    let mut parts = Box::new(SchemaParts { format, children });
    Schema {
        format: parts.format.as_ptr(),
        name: name.as_ptr(),
        metadata: std::ptr::null(),
        flags: NULLABLE,
        n_children: parts.children.len() as i64,
        children: if parts.children.is_empty() { null_mut() } else { parts.children.as_mut_ptr() },
        dictionary: null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
    }
}

/// Nested lists of these lengths over dense elements.
fn data(export: Export, elements: *const c_void, length: usize, lists: &[usize]) -> Data {
    let parts = match lists.split_first() {
        None => {
            DataParts { buffers: [std::ptr::null(), elements], children: Vec::new(), _export: Some(export) }
        }
        Some((&size, inner)) => {
            let child = Box::new(data(export, elements, length * size, inner));
            DataParts { buffers: [std::ptr::null(); 2], children: vec![Box::into_raw(child)], _export: None }
        }
    };
    let mut parts = Box::new(parts);
    let is_list = !parts.children.is_empty();
    Data {
        length: length as i64,
        null_count: 0,
        offset: 0,
        n_buffers: if is_list { 1 } else { 2 },
        n_children: parts.children.len() as i64,
        buffers: parts.buffers.as_mut_ptr(),
        children: if is_list { parts.children.as_mut_ptr() } else { null_mut() },
        dictionary: null_mut(),
        release: Some(release_data),
        private_data: Box::into_raw(parts).cast(),
    }
}

/// The destructor of a capsule whose consumer may have moved the structure out.
macro_rules! destroy {
    ($function:ident, $structure:ty, $name:ident) => {
        unsafe extern "C" fn $function(capsule: *mut ffi::PyObject) {
            // SAFETY: Python calls this once with the capsule, which holds a box; its name is never changed.
            unsafe {
                let structure = ffi::PyCapsule_GetPointer(capsule, $name.as_ptr()).cast::<$structure>();
                if let Some(release) = (*structure).release {
                    release(structure);
                }
                drop(Box::from_raw(structure));
            }
        }
    };
}

destroy! { destroy_schema, Schema, SCHEMA_NAME }
destroy! { destroy_data, Data, ARRAY_NAME }

/// A capsule that owns a boxed structure.
fn capsule<'py, T>(
    py: Python<'py>,
    structure: T,
    name: &'static CStr,
    destroy: unsafe extern "C" fn(*mut ffi::PyObject),
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the name is static, and `destroy` frees the box.
    unsafe {
        let pointer = Box::into_raw(Box::new(structure)).cast();
        Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(pointer, name.as_ptr(), Some(destroy)))
    }
}

/// The schema of an array.
fn schema_of(array: &Array, op: &str) -> PyResult<Schema> {
    let Some(format) = format_of(array.dtype()) else {
        return Err(PyTypeError::new_err(format!(
            "[{op}] Arrow has no type for dtype {}; convert the array with astype or view first",
            array.dtype()
        )));
    };
    let Some((_, lists)) = array.shape().split_first() else {
        return Err(refuse(format!("[{op}] Arrow has no 0-d arrays; reshape the array to (1,) first")));
    };
    Ok(schema(format, lists, c""))
}

#[pymethods]
impl PyArray {
    /// An Arrow schema capsule: the dtype, in lists of fixed size for the axes after the first.
    fn __arrow_c_schema__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let schema = schema_of(&slf.get().get(), "__arrow_c_schema__")?;
        capsule(slf.py(), schema, SCHEMA_NAME, destroy_schema)
    }

    /// Arrow capsules of this array's schema and memory.
    ///
    /// The memory is a copy if the array is not dense or of bool, which Arrow stores as bits. The schema is that of the array,
    /// whatever `requested_schema` says.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        slf: &Bound<'py, Self>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let _ = requested_schema;
        let (py, array) = (slf.py(), slf.get().get());
        let schema = capsule(py, schema_of(&array, "__arrow_c_array__")?, SCHEMA_NAME, destroy_schema)?;
        warn_if_traced(py, &array)?;
        let dense = enter(py, || match array.dtype() {
            DType::Bool => {
                ops::packbits(&ops::flatten(&array, 0, -1)?, None, ops::BitOrder::Little)?.to_dense()
            }
            _ => array.to_dense(),
        })?;
        let export = Export::read_only(&dense)?;
        let elements = if export.bytes() == 0 {
            (&raw const NO_ELEMENTS).cast()
        } else {
            export.start().cast_const().cast()
        };
        let (&length, lists) = array.shape().split_first().expect("the schema exists");
        let data = data(export, elements, length, lists);
        Ok((schema, capsule(py, data, ARRAY_NAME, destroy_data)?))
    }
}
