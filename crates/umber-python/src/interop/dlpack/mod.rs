//! DLPack, both ways (structures after the published header, version 1.1).
//!
//! A capsule owns its managed tensor until a consumer renames it; then the consumer calls the deleter, once, from
//! any thread.

mod export;
mod import;

use std::ffi::{CStr, c_void};

pub(crate) use export::before_dlpack;
pub(super) use import::import;
pub(super) use import::register;

const CPU: i32 = 1;
/// Device types of host memory, including memory that CUDA or ROCm pinned and CUDA managed memory.
const CPU_READABLE: [i32; 4] = [CPU, 3, 11, 13];
const READ_ONLY: u64 = 1;
const IS_COPIED: u64 = 2;
const VERSION: Version = Version { major: 1, minor: 1 };

const NAME: &CStr = c"dltensor";
const USED_NAME: &CStr = c"used_dltensor";
const VERSIONED_NAME: &CStr = c"dltensor_versioned";
const USED_VERSIONED_NAME: &CStr = c"used_dltensor_versioned";

#[repr(C)]
#[derive(Clone, Copy)]
struct Version {
    major: u32,
    minor: u32,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device_id: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

#[repr(C)]
struct ManagedVersioned {
    version: Version,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut ManagedVersioned)>,
    flags: u64,
    tensor: Tensor,
}

/// The name of a device type.
fn device_name(kind: i32) -> &'static str {
    match kind {
        1 => "CPU",
        2 => "CUDA",
        3 => "CUDA host",
        4 => "OpenCL",
        7 => "Vulkan",
        8 => "Metal",
        9 => "VPI",
        10 => "ROCm",
        11 => "ROCm host",
        12 => "extension",
        13 => "CUDA managed",
        14 => "oneAPI",
        15 => "WebGPU",
        16 => "Hexagon",
        17 => "MAIA",
        _ => "unknown",
    }
}

/// The name of a type code, for messages about unsupported types.
fn type_name(code: u8) -> &'static str {
    match code {
        0 => "int",
        1 => "uint",
        2 => "float",
        3 => "opaque",
        4 => "bfloat",
        5 => "complex",
        6 => "bool",
        7 => "float8_e3m4",
        8 => "float8_e4m3",
        9 => "float8_e4m3b11fnuz",
        10 => "float8_e4m3fn",
        11 => "float8_e4m3fnuz",
        12 => "float8_e5m2",
        13 => "float8_e5m2fnuz",
        14 => "float8_e8m0fnu",
        15 => "float6_e2m3fn",
        16 => "float6_e3m2fn",
        17 => "float4_e2m1fn",
        _ => "unknown",
    }
}
