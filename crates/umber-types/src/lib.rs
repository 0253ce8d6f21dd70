//! The vocabulary that every umber crate shares.
//!
//! Imports no other umber crate.
//!
//! Nothing here computes on array data. A [`DType`] is an element type, a [`Shape`] the lengths of the
//! axes, a [`Layout`] the locations of elements in a buffer, the kinds are the members of each operation
//! family, and [`Error`] is the one error type of the workspace.

pub mod conv_params;
pub mod device;
pub mod dtype;
pub mod element;
pub mod error;
pub mod float8;
pub mod kinds;
pub mod layout;
pub mod nested;
pub mod promote;
pub mod quantization;
pub mod scalar;
pub mod shape;
pub mod tape;
pub mod truncate;

pub use conv_params::{ConvAxis, ConvParams};
pub use device::{Device, DeviceType, Stream};
pub use dtype::{DType, Kind};
pub use element::{Bool, Element, Value};
pub use error::{Context, Error, ErrorKind, Result};
pub use float8::Float8;
pub use half::{bf16, f16};
pub use kinds::{
    ArgReduceKind, BinaryKind, Extremum, KeepAxes, Masking, Pairing, QuantizationMode, ReduceKind,
    ScanDirection, ScanExtent, ScanKind, ScatterKind, Side, SortOrder, TernaryKind, UnaryKind,
};
pub use layout::Layout;
pub use nested::{Elements, IntoElements, Nested, NestedVectors};
pub use num_complex::{Complex, Complex32, Complex64};
pub use promote::promote;
pub use quantization::Quantization;
pub use scalar::Scalar;
pub use shape::{Axes, Shape};
