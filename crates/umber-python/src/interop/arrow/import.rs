//! Import of Arrow arrays, streams of arrays, and tables.
//!
//! One subject: the checks of foreign structures that arrays and the columns of tables share.

use std::ffi::{CStr, c_int};
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::{ffi, intern};
use umber_core::memory::{Access, ExternalWrites, is_mapped};
use umber_core::types::layout::row_major_strides;
use umber_core::types::{Bool, ErrorKind, error};
use umber_core::{Array, DType, Error, Result, Scalar, Shape, ops};

use super::super::foreign_buffer::{Copying, ForeignBuffer, Provenance, refuse};
use super::super::formats::ByteOrder;
use super::{ARRAY_NAME, Data, SCHEMA_NAME, STREAM_NAME, Schema, Stream, dtype_of};
use crate::enter::{OrRaise, enter, to_exception};
use crate::new_array::NewArray;

/// Limit on the number of nested lists, so that a malicious schema does not cause recursion of arbitrary depth.
const MAX_AXES: usize = 64;

/// A structure that was moved here, and is released when it is dropped.
struct Owned<T: Released>(Box<T>);

/// A structure with a release callback.
trait Released: Sized {
    const EMPTY: Self;

    /// The callback of the structure at an address.
    fn callback(&mut self) -> &mut Option<unsafe extern "C" fn(*mut Self)>;
}

macro_rules! released {
    ($($structure:ident { $($field:ident: $value:expr),* })*) => {$(
        impl Released for $structure {
            const EMPTY: $structure = $structure { $($field: $value,)* release: None, private_data: std::ptr::null_mut() };

            fn callback(&mut self) -> &mut Option<unsafe extern "C" fn(*mut $structure)> {
                &mut self.release
            }
        }

        // SAFETY: the interfaces allow a structure to be released from any thread.
        unsafe impl Send for Owned<$structure> {}
        // SAFETY: shared references only read the structure, which nobody changes until it is dropped.
        unsafe impl Sync for Owned<$structure> {}
    )*};
}

released! {
    Schema {
        format: std::ptr::null(), name: std::ptr::null(), metadata: std::ptr::null(), flags: 0, n_children: 0,
        children: std::ptr::null_mut(), dictionary: std::ptr::null_mut()
    }
    Data {
        length: 0, null_count: 0, offset: 0, n_buffers: 0, n_children: 0, buffers: std::ptr::null_mut(),
        children: std::ptr::null_mut(), dictionary: std::ptr::null_mut()
    }
    Stream { get_schema: None, get_next: None, get_last_error: None }
}

impl<T: Released> Owned<T> {
    /// Move the structure out of a capsule.
    fn from_capsule(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<Owned<T>> {
        // SAFETY: the object is live; the function returns false for anything but a capsule of that name, which holds such a
        // structure. A structure is moved by clearing the callback of the original.
        unsafe {
            if ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) != 1 {
                return Err(PyTypeError::new_err(format!(
                    "[from_arrow] got {}, expected a capsule named '{}'",
                    capsule.get_type().name()?,
                    name.to_string_lossy()
                )));
            }
            let original = ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr()).cast::<T>();
            if (*original).callback().is_none() {
                return Err(refuse("[from_arrow] the capsule was already consumed".into()));
            }
            let moved = Box::new(original.read());
            *(*original).callback() = None;
            Ok(Owned(moved))
        }
    }
}

impl<T: Released> Drop for Owned<T> {
    fn drop(&mut self) {
        let Some(release) = *self.0.callback() else { return };
        let structure: *mut T = &raw mut *self.0;
        // Callbacks of Python producers need the interpreter; after it has shut down, the memory is leaked.
        Python::try_attach(|_| {
            // SAFETY: this holder owns the structure and releases it once.
            unsafe { release(structure) };
        });
    }
}

/// Whether an object is one of pandas, whose columns may be NumPy arrays that programs write to.
fn is_of_pandas(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let module = object.get_type().module()?;
    Ok(module.to_string_lossy().split('.').next() == Some("pandas"))
}

/// Whether others may write the memory of an object: Arrow's is immutable, but not where it is that of NumPy.
fn stability_of(object: &Bound<'_, PyAny>) -> PyResult<ExternalWrites> {
    Ok(if is_of_pandas(object)? { ExternalWrites::Possible } else { ExternalWrites::Fixed })
}

/// The type of an array: the dtype of its elements, in lists of these sizes.
struct ArrayType {
    dtype: DType,
    lists: Vec<usize>,
    /// The number of the column, if the array is one of a table.
    column: Option<usize>,
    stability: ExternalWrites,
}

/// Elements, and where they are null, if there are nulls.
struct Elements {
    values: Array,
    nulls: Option<Vec<Bool>>,
}

fn malformed(what: &str) -> PyErr {
    refuse(format!("[from_arrow] the array is malformed: {what}"))
}

/// The format of a schema.
///
/// # Safety
/// The schema is a live one that follows the specification.
unsafe fn format_of<'a>(schema: *const Schema) -> PyResult<&'a CStr> {
    // SAFETY: the specification requires a format, which lives as long as the schema.
    unsafe {
        if schema.is_null() || (*schema).format.is_null() {
            return Err(malformed("a schema has no format"));
        }
        Ok(CStr::from_ptr((*schema).format))
    }
}

impl ArrayType {
    /// # Safety
    /// The schema is a live one that follows the specification.
    unsafe fn of(mut schema: *const Schema) -> PyResult<ArrayType> {
        let (mut lists, mut column) = (Vec::new(), None);
        loop {
            // SAFETY: the caller guarantees that the schema is live, and so are its children.
            let (format, own) = unsafe { (format_of(schema)?, &*schema) };
            let text = format.to_string_lossy();
            if !own.dictionary.is_null() {
                return Err(unsupported("dictionary-encoded arrays are not supported; decode them first"));
            }
            if let Some(dtype) = dtype_of(format) {
                return Ok(ArrayType { dtype, lists, column, stability: ExternalWrites::Fixed });
            }
            let list = text.strip_prefix("+w:").and_then(|size| size.parse::<usize>().ok());
            match list {
                Some(size) if lists.len() < MAX_AXES => lists.push(size),
                None if text == "+s" && lists.is_empty() && column.is_none() && own.n_children == 1 => {
                    column = Some(0);
                }
                None if text == "+s" => {
                    return Err(unsupported(format!(
                        "the object is a table or struct of {} columns, expected one column",
                        own.n_children
                    )));
                }
                Some(_) | None => {
                    return Err(unsupported(format!(
                        "arrays of Arrow's type '{text}' are not supported, expected booleans, integers, \
                         floating-point numbers or lists of fixed size of them"
                    )));
                }
            }
            if own.n_children != 1 || own.children.is_null() {
                return Err(malformed("a list has no type of elements"));
            }
            // SAFETY: the specification gives `n_children` pointers.
            schema = unsafe { *own.children };
        }
    }

    /// The shape of this many elements.
    fn shape(&self, length: usize) -> PyResult<Shape> {
        let lengths: Vec<usize> = std::iter::once(length).chain(self.lists.iter().copied()).collect();
        let shape = Shape::from(lengths);
        if !shape.is_addressable() {
            return Err(malformed(&format!("shape {shape} is too large to address")));
        }
        Ok(shape)
    }
}

fn unsupported(text: impl AsRef<str>) -> PyErr {
    PyTypeError::new_err(format!("[from_arrow] {}", text.as_ref()))
}

/// A contiguous range of the elements at one level of nested lists.
struct Level<'a> {
    data: &'a Data,
    start: usize,
    count: usize,
}

impl Level<'_> {
    /// A buffer that is large enough for the range; `bits` for each element.
    fn buffer(&self, index: usize, bits: usize) -> PyResult<*const u8> {
        if self.data.buffers.is_null() || (self.data.n_buffers as usize) <= index {
            return Err(malformed(&format!("buffer {index} is missing")));
        }
        // SAFETY: the specification gives `n_buffers` pointers.
        let start = unsafe { *self.data.buffers.add(index) }.cast::<u8>();
        let bytes = (self.start + self.count).checked_mul(bits).map(|bits| bits.div_ceil(8));
        let Some(bytes) = bytes.filter(|&bytes| isize::try_from(bytes).is_ok()) else {
            return Err(malformed("its length is too large to address"));
        };
        if self.count > 0 && (start.is_null() || !is_mapped(start, bytes)) {
            return Err(malformed(&format!(
                "buffer {index} of {bytes} bytes at address {start:p} is not mapped"
            )));
        }
        Ok(start)
    }

    /// The bits of a buffer, one for each element of the range.
    fn bits(&self, index: usize) -> PyResult<Vec<Bool>> {
        let buffer = self.buffer(index, 1)?;
        let bit = |i: usize| {
            // SAFETY: the buffer has a bit for each element of the range.
            let byte = unsafe { *buffer.add(i / 8) };
            Bool::from(byte >> (i % 8) & 1 == 1)
        };
        Ok((self.start..self.start + self.count).map(bit).collect())
    }

    /// Where elements of the range are null, if any are.
    fn nulls(&self) -> PyResult<Option<Vec<Bool>>> {
        // SAFETY: the specification gives `n_buffers` pointers; the first one may be null if nothing is.
        let has_bitmap = self.data.n_buffers > 0
            && !self.data.buffers.is_null()
            && unsafe { !(*self.data.buffers).is_null() };
        if !has_bitmap || self.data.null_count == 0 || self.count == 0 {
            return Ok(None);
        }
        let nulls: Vec<Bool> =
            self.bits(0)?.into_iter().map(|is_valid| Bool::from(!is_valid.get())).collect();
        Ok(nulls.iter().any(|is_null| is_null.get()).then_some(nulls))
    }
}

/// A length or offset of a structure.
fn size(value: i64) -> PyResult<usize> {
    usize::try_from(value).map_err(|_| malformed(&format!("a length or offset is {value}")))
}

/// The array in a structure.
///
/// # Safety
/// The structure follows the specification, for a schema of type `array_type`.
unsafe fn elements(
    py: Python<'_>,
    array_type: &ArrayType,
    data: &Arc<Owned<Data>>,
    copying: Copying,
) -> PyResult<Elements> {
    let mut levels = Vec::new();
    let mut current: &Data = &data.0;
    let (mut start, mut count) = (size(current.offset)?, size(current.length)?);
    let sizes = array_type.column.map(|column| (column, 1));
    let sizes = sizes.into_iter().chain(array_type.lists.iter().map(|&size| (0, size)));
    if start.checked_add(count).is_none() {
        return Err(malformed("its length is too large to address"));
    }
    for (child, list) in sizes {
        levels.push(Level { data: current, start, count });
        if current.n_children <= child as i64 || current.children.is_null() {
            return Err(malformed("a list has no elements"));
        }
        // SAFETY: the specification gives `n_children` pointers to live structures.
        current = match unsafe { (*current.children.add(child)).as_ref() } {
            Some(child) => child,
            None => return Err(malformed("a list has no elements")),
        };
        let (offset, length) = (size(current.offset)?, size(current.length)?);
        let range = start.checked_mul(list).zip(count.checked_mul(list));
        let Some((first, number)) =
            range.filter(|(first, number)| first.checked_add(*number).is_some_and(|end| end <= length))
        else {
            return Err(malformed(&format!("{length} elements are too few for {count} lists of {list}")));
        };
        let Some(end) = offset.checked_add(length) else {
            return Err(malformed("its length is too large to address"));
        };
        debug_assert!(offset + first + number <= end);
        (start, count) = (offset + first, number);
    }
    let leaf = Level { data: current, start, count };
    let shape = array_type.shape(size(data.0.length)?)?;

    let mut nulls: Option<Vec<Bool>> = leaf.nulls()?;
    for level in &levels {
        let Some(own) = level.nulls()? else { continue };
        let all = nulls.get_or_insert_with(|| vec![Bool::from(false); count]);
        let block = count / level.count;
        for (i, is_null) in own.into_iter().enumerate() {
            if is_null.get() {
                all[i * block..(i + 1) * block].fill(Bool::from(true));
            }
        }
    }
    let nulls = nulls.filter(|nulls| nulls.iter().any(|is_null| is_null.get()));

    if array_type.dtype == DType::Bool {
        copying.allow("Arrow stores booleans as bits, which requires a copy")?;
        let values = Array::from_slice(&leaf.bits(1)?, shape).or_raise()?;
        return Ok(Elements { values, nulls });
    }
    let itemsize = array_type.dtype.size();
    let buffer = leaf.buffer(1, 8 * itemsize)?;
    let foreign = ForeignBuffer {
        start: buffer.cast_mut().wrapping_add(start * itemsize),
        dtype: array_type.dtype,
        order: ByteOrder::Native,
        strides: row_major_strides(&shape).iter().map(|step| step * itemsize as isize).collect(),
        shape,
        access: Access::ReadOnly,
        stability: array_type.stability,
        // `Level::buffer` has asked the operating system.
        provenance: Provenance::Owner,
    };
    // SAFETY: the producer keeps the buffers valid until the structure is released, which the last owner does.
    let values = unsafe { foreign.check(copying)?.take(py, Box::new(Arc::clone(data))) }?;
    Ok(Elements { values, nulls })
}

/// The schemas and arrays of an object.
struct Chunks {
    array_type: ArrayType,
    chunks: Vec<Arc<Owned<Data>>>,
}

/// Arrays and their schema, which is released first.
type Parts = (Vec<Arc<Owned<Data>>>, Owned<Schema>);

/// Read the single array of an object, or all arrays of its stream; `None` if it does not speak Arrow.
fn chunks(object: &Bound<'_, PyAny>) -> PyResult<Option<Chunks>> {
    let Some((chunks, schema)) = parts(object)? else { return Ok(None) };
    // SAFETY: capsules and streams hold schemas that follow the specification.
    let array_type = unsafe { ArrayType::of(&raw const *schema.0) }?;
    let array_type = ArrayType { stability: stability_of(object)?, ..array_type };
    Ok(Some(Chunks { array_type, chunks }))
}

fn parts(object: &Bound<'_, PyAny>) -> PyResult<Option<Parts>> {
    let py = object.py();
    if let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_array__"))? {
        let result = method.call0()?;
        let capsules =
            result.cast::<PyTuple>().ok().filter(|capsules| capsules.len() == 2).ok_or_else(|| {
                PyTypeError::new_err("[from_arrow] __arrow_c_array__ must return a pair of capsules")
            })?;
        let schema = Owned::<Schema>::from_capsule(&capsules.get_item(0)?, SCHEMA_NAME)?;
        let data = Owned::<Data>::from_capsule(&capsules.get_item(1)?, ARRAY_NAME)?;
        return Ok(Some((vec![Arc::new(data)], schema)));
    }
    let Some(method) = object.getattr_opt(intern!(py, "__arrow_c_stream__"))? else { return Ok(None) };
    let capsule = method.call0()?;
    let stream = Owned::<Stream>::from_capsule(capsule.as_any(), STREAM_NAME)?;
    read_stream(py, stream).map(Some)
}

/// Read all arrays of a stream. Its callbacks run with the GIL released, since they may compute in other threads.
fn read_stream(py: Python<'_>, mut stream: Owned<Stream>) -> PyResult<Parts> {
    enter(py, || {
        let mut schema = Owned(Box::new(Schema::EMPTY));
        stream.call(|stream| stream.get_schema, &mut schema)?;
        let mut all = Vec::new();
        loop {
            let mut data = Owned(Box::new(Data::EMPTY));
            stream.call(|stream| stream.get_next, &mut data)?;
            if data.0.release.is_none() {
                return Ok((all, schema));
            }
            all.push(Arc::new(data));
        }
    })
}

/// A column of a chunk of a table.
pub(crate) enum TableColumn {
    /// An array whose first axis counts rows.
    Rows(Array),
    /// Texts: the bytes of all, where each begins, and the end of the last one.
    Texts { bytes: Array, offsets: Vec<usize> },
}

/// The type of a column of a table.
enum ColumnType {
    Rows(ArrayType),
    /// Texts with offsets of this many bytes.
    Texts(usize),
}

/// The names of the columns of a table, and its chunks, each with all columns.
pub(crate) type Table = (Vec<String>, Vec<Vec<TableColumn>>);

/// The names and chunks of a table that speaks Arrow; `None` if the object does not. Errors name the column.
pub(crate) fn import_table(object: &Bound<'_, PyAny>) -> PyResult<Option<Table>> {
    let py = object.py();
    let Some((chunks, schema)) = parts(object)? else { return Ok(None) };
    let stability = stability_of(object)?;
    // SAFETY: capsules and streams hold schemas that follow the specification.
    let format = unsafe { format_of(&raw const *schema.0) }?;
    let count = size(schema.0.n_children)?;
    if format != c"+s" || (count > 0 && schema.0.children.is_null()) {
        return Err(unsupported(format!(
            "expected a table, got an array of Arrow's type '{}'",
            format.to_string_lossy()
        )));
    }
    let (mut names, mut types) = (Vec::new(), Vec::new());
    for index in 0..count {
        // SAFETY: the specification gives `n_children` pointers to live schemas, whose names are texts or null.
        let (child, name) = unsafe {
            let child: *const Schema = *schema.0.children.add(index);
            if child.is_null() {
                return Err(malformed("a table lacks the type of a column"));
            }
            let name = (*child).name;
            (child, if name.is_null() { "".into() } else { CStr::from_ptr(name).to_string_lossy() })
        };
        // SAFETY: as above.
        let column_type = match unsafe { format_of(child) }?.to_bytes() {
            // SAFETY: as above.
            b"z" | b"u" if unsafe { (*child).dictionary.is_null() } => ColumnType::Texts(4),
            // SAFETY: as above.
            b"Z" | b"U" if unsafe { (*child).dictionary.is_null() } => ColumnType::Texts(8),
            // SAFETY: as above.
            _ => match unsafe { ArrayType::of(child) } {
                Ok(array_type) if array_type.column.is_none() => {
                    ColumnType::Rows(ArrayType { column: Some(index), stability, ..array_type })
                }
                Ok(_) => {
                    return Err(unsupported(format!("column '{name}' is a struct; flatten the table first")));
                }
                Err(error) => {
                    let text = format!("column '{name}': {}", error.value(py));
                    return Err(PyErr::from_type(error.get_type(py), text));
                }
            },
        };
        names.push(name.into_owned());
        types.push(column_type);
    }
    let mut imported = Vec::with_capacity(chunks.len());
    for chunk in &chunks {
        let column = |(index, column_type): (usize, &ColumnType)| {
            // SAFETY: the structures are of a capsule or stream with this schema.
            let (column, nulls) = unsafe {
                match column_type {
                    ColumnType::Rows(array_type) => {
                        let found = elements(py, array_type, chunk, Copying::IfNeeded)?;
                        (TableColumn::Rows(found.values), found.nulls)
                    }
                    ColumnType::Texts(width) => texts(py, chunk, index, *width)?,
                }
            };
            match nulls {
                None => Ok(column),
                Some(nulls) => {
                    let nulls = nulls.iter().filter(|is_null| is_null.get()).count();
                    Err(refuse(format!(
                        "[buffer_from_arrow] column '{}' has {nulls} nulls; fill or drop them first",
                        names[index]
                    )))
                }
            }
        };
        imported.push(types.iter().enumerate().map(column).collect::<PyResult<Vec<_>>>()?);
    }
    Ok(Some((names, imported)))
}

/// The texts of a column of a chunk, and where they are null.
///
/// # Safety
/// The structure follows the specification, for a table whose column `index` has texts with offsets of `width` bytes.
unsafe fn texts(
    py: Python<'_>,
    data: &Arc<Owned<Data>>,
    index: usize,
    width: usize,
) -> PyResult<(TableColumn, Option<Vec<Bool>>)> {
    let table: &Data = &data.0;
    let (start, count) = (size(table.offset)?, size(table.length)?);
    if table.n_children <= index as i64 || table.children.is_null() {
        return Err(malformed("a table lacks a column"));
    }
    // SAFETY: the specification gives `n_children` pointers to live structures.
    let Some(column) = (unsafe { (*table.children.add(index)).as_ref() }) else {
        return Err(malformed("a table lacks a column"));
    };
    let (offset, length) = (size(column.offset)?, size(column.length)?);
    let first = offset.checked_add(start).filter(|first| first.checked_add(count).is_some());
    let Some(first) = first.filter(|_| start.checked_add(count).is_some_and(|end| end <= length)) else {
        return Err(malformed(&format!("{length} texts are too few for {count} rows")));
    };
    let mut nulls = Level { data: column, start: first, count }.nulls()?;
    if let Some(own) = (Level { data: table, start, count }).nulls()? {
        nulls = Some(own);
    }
    let mut offsets = vec![0; count + 1];
    // Without rows, there may be no offsets.
    if count > 0 {
        let buffer = Level { data: column, start: first, count: count + 1 }.buffer(1, 8 * width)?;
        for (row, offset) in offsets.iter_mut().enumerate() {
            // SAFETY: the buffer has an offset for each text and the end of the last one; it need not be aligned.
            let number = unsafe {
                let at = buffer.add((first + row) * width);
                if width == 4 {
                    i64::from(at.cast::<i32>().read_unaligned())
                } else {
                    at.cast::<i64>().read_unaligned()
                }
            };
            *offset = size(number)?;
        }
    }
    if !offsets.is_sorted() {
        return Err(malformed("the offsets of texts do not ascend"));
    }
    let bytes = Level { data: column, start: 0, count: offsets[count] };
    let shape = Shape::from([bytes.count]);
    if bytes.count == 0 {
        let bytes = Array::full(shape, 0, DType::Int8);
        return Ok((TableColumn::Texts { bytes, offsets }, nulls));
    }
    let foreign = ForeignBuffer {
        start: bytes.buffer(2, 8)?.cast_mut(),
        dtype: DType::Int8,
        order: ByteOrder::Native,
        strides: row_major_strides(&shape),
        shape,
        access: Access::ReadOnly,
        stability: ExternalWrites::Fixed,
        // `Level::buffer` has asked the operating system.
        provenance: Provenance::Owner,
    };
    // SAFETY: the producer keeps the buffers valid until the structure is released, which the last owner does.
    let bytes = unsafe { foreign.check(Copying::IfNeeded)?.take(py, Box::new(Arc::clone(data))) }?;
    Ok((TableColumn::Texts { bytes, offsets }, nulls))
}

/// A callback of a stream that fills a structure.
type Fill<T> = unsafe extern "C" fn(*mut Stream, *mut T) -> c_int;

impl Owned<Stream> {
    /// Call a callback to fill a structure.
    fn call<T: Released>(
        &mut self,
        callback: impl FnOnce(&Stream) -> Option<Fill<T>>,
        target: &mut Owned<T>,
    ) -> Result<()> {
        let Some(call) = callback(&self.0) else {
            return Err(error!(Buffer("from_arrow"), "the stream lacks a callback"));
        };
        let stream: *mut Stream = &raw mut *self.0;
        // SAFETY: the stream is live, and the structure is empty and outlives the call.
        let status = unsafe { call(stream, &raw mut *target.0) };
        if status == 0 {
            return Ok(());
        }
        // SAFETY: after a failed call, the stream has a message that lives until the next call, or none.
        let message = unsafe {
            let message = self.0.get_last_error.map_or(std::ptr::null(), |call| call(stream));
            if message.is_null() {
                "no reason is given".into()
            } else {
                CStr::from_ptr(message).to_string_lossy()
            }
        };
        Err(error!(Runtime("from_arrow"), "the stream failed with status {status}: {message}"))
    }
}

/// The elements of all chunks.
fn join(
    py: Python<'_>,
    array_type: &ArrayType,
    chunks: &[Arc<Owned<Data>>],
    copying: Copying,
) -> PyResult<Elements> {
    // Empty chunks need not be copied.
    let mut full: Vec<_> = chunks.iter().filter(|chunk| chunk.0.length != 0).collect();
    if full.is_empty() {
        full.extend(chunks.first());
    }
    if full.len() > 1 {
        copying.allow("joining chunks requires a copy")?;
    }
    if full.is_empty() {
        let values = Array::full(array_type.shape(0)?, 0, array_type.dtype);
        return Ok(Elements { values, nulls: None });
    }
    // SAFETY: the structures are of capsules or streams with this schema.
    let read = |chunk| unsafe { elements(py, array_type, chunk, copying) };
    let mut parts: Vec<Elements> = full.into_iter().map(read).collect::<PyResult<_>>()?;
    if parts.len() == 1 {
        return Ok(parts.remove(0));
    }
    let has_nulls = parts.iter().any(|part| part.nulls.is_some());
    let mut nulls = Vec::new();
    for part in parts.iter_mut().filter(|_| has_nulls) {
        nulls.append(&mut part.nulls.take().unwrap_or_else(|| vec![Bool::from(false); part.values.size()]));
    }
    let values: Vec<&Array> = parts.iter().map(|part| &part.values).collect();
    let joined = enter(py, || {
        let joined = ops::concatenate(&values, Some(0))?;
        joined.eval()?;
        Ok(joined)
    })?;
    Ok(Elements { values: joined, nulls: has_nulls.then_some(nulls) })
}

/// The exception for nulls.
fn refuse_nulls(op: &str, nulls: &[Bool]) -> PyErr {
    let count = nulls.iter().filter(|is_null| is_null.get()).count();
    to_exception(Error::new(
        ErrorKind::Value,
        format!(
            "[{op}] {count} of {} elements are null; from_arrow(…, nulls='mask') returns a mask of them, \
             nulls='nan' replaces them",
            nulls.len()
        ),
    ))
}

/// An object as another protocol's alternative.
pub(in super::super) enum Imported {
    Array(Array),
    /// It contains nulls that no dtype expresses: this exception, whatever other protocols make of them.
    Nulls(PyErr),
    /// It does not speak Arrow, or another protocol expresses it better.
    Declined,
}

/// An array over the memory of an object that speaks Arrow.
///
/// Left to `__array__` are tables, which have two axes there, and floating-point numbers with nulls, for which their library
/// chooses NaN; also the objects of pandas, whose memory is not immutable.
pub(in super::super) fn import(object: &Bound<'_, PyAny>, copying: Copying) -> PyResult<Imported> {
    let has_method = object.hasattr(intern!(object.py(), "__array__"))?;
    if has_method && is_of_pandas(object)? {
        return Ok(Imported::Declined);
    }
    let Some(Chunks { array_type, chunks }) = chunks(object)? else { return Ok(Imported::Declined) };
    if has_method && array_type.column.is_some() {
        return Ok(Imported::Declined);
    }
    let elements = join(object.py(), &array_type, &chunks, copying)?;
    Ok(match elements.nulls {
        None => Imported::Array(elements.values),
        Some(_) if has_method && array_type.dtype.is_floating() => Imported::Declined,
        Some(nulls) => Imported::Nulls(refuse_nulls("asarray", &nulls)),
    })
}

/// Array over the memory of an object that exports Arrow data.
///
/// Parameters
/// ----------
/// x : object with `__arrow_c_array__` or `__arrow_c_stream__`
///     A column: an array, chunked array or series of any library, or a table of one column.
/// nulls : {"raise", "mask", "nan"}, optional
///     What to do about nulls. "raise" raises; "mask" returns a mask of them, too; "nan" replaces them by NaN, and integers and
///     booleans become float64. Default: "raise".
/// copy : bool, optional
///     True always copies, False raises where sharing is impossible, None copies only where it must. Default: None.
///
/// Returns
/// -------
/// array or tuple of array
///     1-D, or with further axes for lists of fixed size. With ``nulls="mask"`` a pair of the elements and a mask of the same
///     shape, true where an element is null; the elements under it are unspecified.
///
/// Raises
/// ------
/// TypeError
///     If `x` does not speak Arrow, or its type has no dtype: strings, dates, dictionaries and others.
/// ValueError
///     If there are nulls, unless `nulls` says otherwise. If `copy` is False and a copy is necessary, the exception is also a
///     BufferError.
///
/// See Also
/// --------
/// asarray, from_dlpack
///
/// Notes
/// -----
/// Booleans, which Arrow stores as bits, and data in several chunks are copied. Arrow data is immutable, so that operations on
/// it stay lazy; on objects of pandas, which may be over memory that NumPy writes to, they run when they are recorded. An array that
/// pyarrow made over a NumPy array counts as immutable, too: do not write to it.
///
/// Source: the Arrow C data interface and PyCapsule interface, https://arrow.apache.org/docs/format/CDataInterface.html.
///
/// Examples
/// --------
/// >>> mx.from_arrow(mx.array([1.0, 2.0]))
/// array([1, 2], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, /, *, nulls = "raise", copy = None))]
fn from_arrow<'py>(x: &Bound<'py, PyAny>, nulls: &str, copy: Option<bool>) -> PyResult<Bound<'py, PyAny>> {
    let (py, copying) = (x.py(), Copying::of(copy));
    if !["raise", "mask", "nan"].contains(&nulls) {
        return Err(to_exception(error!(
            Value("from_arrow"),
            "nulls: got '{nulls}', expected 'raise', 'mask' or 'nan'"
        )));
    }
    let Some(Chunks { array_type, chunks }) = chunks(x)? else {
        return Err(unsupported(format!(
            "got {}, expected an object with __arrow_c_array__ or __arrow_c_stream__",
            x.get_type().name()?
        )));
    };
    let Elements { values, nulls: found } = join(py, &array_type, &chunks, copying)?;
    let object = |array: Array| NewArray::sharing(array).object(py).map(Bound::into_any);
    match (nulls, found) {
        ("mask", found) => {
            let mask = match found {
                Some(found) => Array::from_slice(&found, values.shape()).or_raise()?,
                None => Array::full(values.shape(), false, DType::Bool),
            };
            Ok(PyTuple::new(py, [object(values)?, object(mask)?])?.into_any())
        }
        ("nan", found) => {
            let dtype = if values.dtype().is_floating() { values.dtype() } else { DType::Float64 };
            if dtype != values.dtype() || found.is_some() {
                copying.allow("the replacement of nulls requires a copy")?;
            }
            let replaced = || -> Result<Array> {
                let floats = ops::astype(&values, dtype)?;
                let Some(found) = found else { return Ok(floats) };
                let mask = Array::from_slice(&found, values.shape())?;
                ops::select(&mask, &Array::scalar(Scalar::Float(f64::NAN), dtype), &floats)
            };
            object(replaced().or_raise()?)
        }
        (_, Some(found)) => Err(refuse_nulls("from_arrow", &found)),
        (_, None) => object(values),
    }
}

pub(in super::super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(from_arrow, module)?)
}
