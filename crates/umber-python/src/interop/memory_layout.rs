//! What clients of NumPy's arrays read about memory: `strides`, `flags`, `tobytes`, `tofile`.

use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use smallvec::SmallVec;
use umber_core::graph::ArrayInternals;
use umber_core::types::layout::Strides;
use umber_core::{Layout, ops};

use super::export::Export;
use crate::array::{PyArray, noting_sizes};
use crate::convert;
use crate::enter::{OrRaise, enter, warn_if_traced};

/// How the elements of an array lie in memory, under the names of `numpy.ndarray.flags`.
#[pyclass(name = "ArrayFlags", module = "umber.core", frozen)]
pub(super) struct ArrayFlags {
    /// Are the elements dense, the last axis running fastest?
    #[pyo3(get)]
    c_contiguous: bool,
    /// Are the elements dense, the first axis running fastest?
    #[pyo3(get)]
    f_contiguous: bool,
    /// May a view of the array be written?
    #[pyo3(get)]
    writeable: bool,
}

#[pymethods]
impl ArrayFlags {
    /// The same as `c_contiguous`.
    #[getter]
    fn contiguous(&self) -> bool {
        self.c_contiguous
    }

    /// The same as `f_contiguous`.
    #[getter]
    fn fortran(&self) -> bool {
        self.f_contiguous
    }

    /// Whether one of `c_contiguous` and `f_contiguous` holds.
    #[getter]
    fn forc(&self) -> bool {
        self.c_contiguous || self.f_contiguous
    }

    /// Whether `f_contiguous` holds and `c_contiguous` does not.
    #[getter]
    fn fnc(&self) -> bool {
        self.f_contiguous && !self.c_contiguous
    }

    /// Elements lie at multiples of their size: always true.
    #[getter]
    fn aligned(&self) -> bool {
        true
    }

    /// The array keeps its memory alive: always true.
    #[getter]
    fn owndata(&self) -> bool {
        true
    }

    /// The array stands for no other one: always false.
    #[getter]
    fn writebackifcopy(&self) -> bool {
        false
    }

    /// A flag by its name in capitals, or by NumPy's letters for it: `flags["C_CONTIGUOUS"]`, `flags["C"]`.
    fn __getitem__(&self, name: &str) -> PyResult<bool> {
        Ok(match name {
            "C" | "C_CONTIGUOUS" | "CONTIGUOUS" => self.c_contiguous,
            "F" | "F_CONTIGUOUS" | "FORTRAN" => self.f_contiguous,
            "W" | "WRITEABLE" => self.writeable,
            "A" | "ALIGNED" => self.aligned(),
            "O" | "OWNDATA" => self.owndata(),
            "X" | "WRITEBACKIFCOPY" => self.writebackifcopy(),
            "FORC" => self.forc(),
            "FNC" => self.fnc(),
            "B" | "BEHAVED" => self.writeable,
            "CA" | "CARRAY" => self.c_contiguous && self.writeable,
            "FA" | "FARRAY" => self.fnc() && self.writeable,
            other => {
                return Err(PyKeyError::new_err(format!(
                    "[flags] unknown flag '{other}', expected the name of a NumPy array flag, such as \
                     'C_CONTIGUOUS'"
                )));
            }
        })
    }

    fn __repr__(&self) -> String {
        format!(
            "ArrayFlags(c_contiguous={}, f_contiguous={}, writeable={})",
            python_bool(self.c_contiguous),
            python_bool(self.f_contiguous),
            python_bool(self.writeable)
        )
    }
}

fn python_bool(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// How the elements lie, and whether a view of them may be written. Inside transforms there is no memory: the layout is
/// that of a dense array.
fn layout_of(py: Python<'_>, array: &PyArray) -> PyResult<(Layout, bool)> {
    let now = noting_sizes(array.get());
    if now.is_traced() {
        return Ok((Layout::contiguous(now.shape().clone()), false));
    }
    drop(now);
    let export = Export::new(py, array)?;
    let is_writable = export.is_writable();
    Ok((export.layout, is_writable))
}

/// Are the elements dense, the first axis running fastest?
pub(super) fn is_column_major(layout: &Layout) -> bool {
    let axes: SmallVec<[usize; 4]> = (0..layout.ndim()).rev().collect();
    layout.shape.contains(&0) || layout.permute(&axes).is_contiguous()
}

#[pymethods]
impl PyArray {
    /// Bytes from an element to the next one along each axis. The array is evaluated.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let itemsize = self.get().dtype().size() as isize;
        let (layout, _) = layout_of(py, self)?;
        let strides: Strides = layout.strides.iter().map(|&stride| stride * itemsize).collect();
        PyTuple::new(py, strides)
    }

    /// How the elements lie in memory, under the names of `numpy.ndarray.flags`. The array is evaluated.
    #[getter]
    fn flags(&self, py: Python<'_>) -> PyResult<ArrayFlags> {
        let (layout, writeable) = layout_of(py, self)?;
        Ok(ArrayFlags {
            c_contiguous: layout.is_contiguous(),
            f_contiguous: is_column_major(&layout),
            writeable,
        })
    }

    /// The bytes of the elements in row-major order ("C"), or in column-major order ("F").
    #[pyo3(signature = (order = "C"))]
    fn tobytes<'py>(&self, py: Python<'py>, order: &str) -> PyResult<Bound<'py, PyBytes>> {
        let array = self.get();
        let array = match order {
            "C" | "A" | "K" => array,
            "F" => ops::transpose(&array, None).or_raise()?,
            other => {
                return Err(PyValueError::new_err(format!(
                    "[tobytes] got order '{other}', expected 'C', 'F', 'A' or 'K'"
                )));
            }
        };
        warn_if_traced(py, &array)?;
        let dense = enter(py, move || array.to_dense())?;
        Ok(PyBytes::new(py, convert::dense_bytes(&dense)))
    }

    /// Write the bytes of the elements, in row-major order, to a path or to an object with the method `write`.
    fn tofile(&self, py: Python<'_>, fid: &Bound<'_, PyAny>) -> PyResult<()> {
        let bytes = self.tobytes(py, "C")?;
        if fid.hasattr("write")? {
            return fid.call_method1("write", (bytes,)).map(drop);
        }
        let file = py.import("builtins")?.call_method1("open", (fid, "wb")).map_err(|error| {
            if !error.is_instance_of::<PyTypeError>(py) {
                return error;
            }
            let got = crate::pytree::class_of(fid);
            PyTypeError::new_err(format!(
                "[tofile] fid: got {got}, expected a path or an object with the method write"
            ))
        })?;
        let written = file.call_method1("write", (bytes,));
        file.call_method0("close")?;
        written.map(drop)
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrayFlags>()
}
