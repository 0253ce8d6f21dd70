//! Conversion of float64 and complex128 arrays of other libraries to float32 and complex64 in `array`.
//!
//! Enabled for programs that import umber under MLX's name (`umber.mlx`), which expect these dtypes as from MLX.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use umber_core::{Array, DType, ops};

use crate::array::PyArray;
use crate::enter::OrRaise;

static IS_ON: AtomicBool = AtomicBool::new(false);

/// Set whether arrays of other libraries are narrowed to float32 and complex64, as MLX does.
///
/// Parameters
/// ----------
/// is_on : bool
///     Whether `array` converts their float64 and complex128 elements.
///
/// Raises
/// ------
/// TypeError
///     If `is_on` is not a bool.
///
/// Examples
/// --------
/// >>> mx._set_narrowing(False)
#[pyfunction]
#[pyo3(name = "_set_narrowing")]
fn set_narrowing(is_on: bool) {
    IS_ON.store(is_on, Ordering::Relaxed);
}

/// Whether programs run under MLX's name.
pub(crate) fn is_under_mlx() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Narrow `array`, which was created from `object` without a dtype argument. Arrays of umber, and sequences, keep their dtype.
#[inline]
pub(crate) fn narrow_dtype(array: Array, object: &Bound<'_, PyAny>) -> PyResult<Array> {
    if IS_ON.load(Ordering::Relaxed) { narrow_array(array, object) } else { Ok(array) }
}

#[cold]
fn narrow_array(array: Array, object: &Bound<'_, PyAny>) -> PyResult<Array> {
    let is_ours = object.is_instance_of::<PyArray>()
        || object.is_instance_of::<PyList>()
        || object.is_instance_of::<PyTuple>();
    match array.dtype() {
        DType::Float64 if !is_ours => ops::astype(&array, DType::Float32).or_raise(),
        DType::Complex128 if !is_ours => ops::astype(&array, DType::Complex64).or_raise(),
        _ => Ok(array),
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(set_narrowing, module)?)
}
