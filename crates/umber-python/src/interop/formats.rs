//! Names of dtypes in other formats: PEP 3118, NumPy's `typestr`, DLPack.

use std::ffi::{CStr, CString};
use std::sync::OnceLock;

use umber_core::DType;

use crate::dtype::is_of_ml_dtypes;

/// The PEP 3118 format of an element; `None` for dtypes without one.
pub(crate) fn struct_format(dtype: DType) -> Option<&'static CStr> {
    Some(match dtype {
        DType::Bool => c"?",
        DType::UInt8 => c"B",
        DType::UInt16 => c"H",
        DType::UInt32 => c"I",
        DType::UInt64 => c"Q",
        DType::Int8 => c"b",
        DType::Int16 => c"h",
        DType::Int32 => c"i",
        DType::Int64 => c"q",
        DType::Float16 => c"e",
        DType::Float32 => c"f",
        DType::Float64 => c"d",
        DType::Complex64 => c"Zf",
        DType::Complex128 => c"Zd",
        _ => return None,
    })
}

/// The name of a dtype instead of a PEP 3118 format, as MLX writes it: consumers of bytes ignore it, others reject it.
pub(super) fn name_as_format(dtype: DType) -> &'static CStr {
    static NAMES: OnceLock<Vec<(DType, CString)>> = OnceLock::new();
    let named = |dtype: DType| CString::new(dtype.name()).ok().map(|name| (dtype, name));
    let names = NAMES.get_or_init(|| DType::ALL.into_iter().filter_map(named).collect());
    names.iter().find(|(own, _)| *own == dtype).map_or(c"B", |(_, name)| name)
}

/// Whether elements have the native byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Native,
    Swapped,
}

/// The dtype of a PEP 3118 format and its item size.
pub(super) fn from_struct_format(format: &str, itemsize: usize) -> Option<(DType, ByteOrder)> {
    let (order, code) = match format.as_bytes().first()? {
        b'@' | b'=' | b'<' => (ByteOrder::Native, &format[1..]),
        b'>' | b'!' => (ByteOrder::Swapped, &format[1..]),
        _ => (ByteOrder::Native, format),
    };
    let dtype = match (code, itemsize) {
        ("?", 1) => DType::Bool,
        ("B" | "c", 1) => DType::UInt8,
        ("b", 1) => DType::Int8,
        ("H", 2) => DType::UInt16,
        ("h", 2) => DType::Int16,
        ("I" | "L", 4) => DType::UInt32,
        ("i" | "l", 4) => DType::Int32,
        ("Q" | "L" | "N", 8) => DType::UInt64,
        ("q" | "l" | "n", 8) => DType::Int64,
        ("e", 2) => DType::Float16,
        ("f", 4) => DType::Float32,
        ("d", 8) => DType::Float64,
        ("Zf", 8) => DType::Complex64,
        ("Zd", 16) => DType::Complex128,
        _ => DType::from_name(code).filter(|&dtype| is_of_ml_dtypes(dtype) && dtype.size() == itemsize)?,
    };
    Some((dtype, if itemsize == 1 { ByteOrder::Native } else { order }))
}

/// The `typestr` of NumPy's array interface; `None` for dtypes without one.
pub(super) fn typestr(dtype: DType) -> Option<String> {
    let kind = match dtype {
        DType::Bool => 'b',
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => 'u',
        DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => 'i',
        DType::Float16 | DType::Float32 | DType::Float64 => 'f',
        DType::Complex64 | DType::Complex128 => 'c',
        _ => return None,
    };
    let order = if dtype.size() == 1 { '|' } else { '<' };
    Some(format!("{order}{kind}{}", dtype.size()))
}

/// The dtype of a `typestr`.
pub(super) fn from_typestr(typestr: &str) -> Option<DType> {
    DType::ALL
        .into_iter()
        .find(|&dtype| self::typestr(dtype).is_some_and(|own| own.get(1..) == typestr.get(1..)))
}

/// The byte order of a `typestr`.
pub(super) fn order_of_typestr(typestr: &str) -> ByteOrder {
    if typestr.starts_with('>') { ByteOrder::Swapped } else { ByteOrder::Native }
}

/// DLPack's type code of the first float8 dtype.
const FIRST_FLOAT8: u8 = 7;

/// DLPack's type code and bits.
pub(super) fn dlpack_code(dtype: DType) -> (u8, u8) {
    let bits = (dtype.size() * 8) as u8;
    let code = match dtype {
        DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64 => 0,
        DType::UInt8 | DType::UInt16 | DType::UInt32 | DType::UInt64 => 1,
        DType::Float16 | DType::Float32 | DType::Float64 => 2,
        DType::BFloat16 => 4,
        DType::Complex64 | DType::Complex128 => 5,
        DType::Bool => 6,
        // `DType::FLOAT8` is in the order of DLPack's codes.
        _ => FIRST_FLOAT8 + (dtype as u8 - DType::FLOAT8[0] as u8),
    };
    (code, bits)
}

/// The dtype of DLPack's type code and bits.
pub(super) fn from_dlpack_code(code: u8, bits: u8) -> Option<DType> {
    if code >= FIRST_FLOAT8 {
        return DType::FLOAT8.get(usize::from(code - FIRST_FLOAT8)).copied().filter(|_| bits == 8);
    }
    DType::COMPUTE.into_iter().find(|&dtype| dlpack_code(dtype) == (code, bits))
}
