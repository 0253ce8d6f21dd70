//! Arrow's PyCapsule interface, both ways (structures after the published C data and C stream interfaces).
//!
//! Whoever holds a structure calls its release callback once, from any thread; a structure is moved by copying it and clearing the
//! callback of the original. Both sides treat the buffers as immutable.

mod export;
mod import;

use std::ffi::{CStr, c_char, c_int, c_void};

use umber_core::DType;

pub(super) use import::{Imported, import, register};
pub(crate) use import::{TableColumn, import_table};

const SCHEMA_NAME: &CStr = c"arrow_schema";
const ARRAY_NAME: &CStr = c"arrow_array";
const STREAM_NAME: &CStr = c"arrow_array_stream";

/// The type of an array.
#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

/// The buffers of an array.
#[expect(clippy::struct_field_names, reason = "the names of the interface")]
#[repr(C)]
struct Data {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Data,
    dictionary: *mut Data,
    release: Option<unsafe extern "C" fn(*mut Data)>,
    private_data: *mut c_void,
}

/// A sequence of arrays of one type.
#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Data) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// The format of a dtype's elements; `None` for dtypes that Arrow lacks.
fn format_of(dtype: DType) -> Option<&'static CStr> {
    Some(match dtype {
        // One bit for each element.
        DType::Bool => c"b",
        DType::Int8 => c"c",
        DType::UInt8 => c"C",
        DType::Int16 => c"s",
        DType::UInt16 => c"S",
        DType::Int32 => c"i",
        DType::UInt32 => c"I",
        DType::Int64 => c"l",
        DType::UInt64 => c"L",
        DType::Float16 => c"e",
        DType::Float32 => c"f",
        DType::Float64 => c"g",
        _ => return None,
    })
}

/// The dtype of a format.
fn dtype_of(format: &CStr) -> Option<DType> {
    DType::COMPUTE.into_iter().find(|&dtype| format_of(dtype) == Some(format))
}
