//! NumPy-compatible attributes and methods about memory: `strides`, `flags`, `tobytes`, `tofile`.

use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use smallvec::SmallVec;
use umber_core::graph::ArrayInternals;
use umber_core::types::layout::Strides;
use umber_core::{Layout, ops};

use super::export::Export;
use crate::array::{PyArray, note_shape};
use crate::convert;
use crate::enter::{OrRaise, enter, warn_if_traced};

/// Memory layout of an array, with the names of ``numpy.ndarray.flags``.
///
/// See Also
/// --------
/// array.flags
///
/// Examples
/// --------
/// >>> mx.array([[1, 2], [3, 4]]).T.flags.f_contiguous
/// True
#[pyclass(name = "ArrayFlags", module = "umber.core", frozen)]
pub(super) struct ArrayFlags {
    /// Whether the elements are dense, the last axis changing fastest.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).flags.c_contiguous
    /// True
    #[pyo3(get)]
    c_contiguous: bool,
    /// Whether the elements are dense, the first axis changing fastest.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).flags.f_contiguous
    /// False
    #[pyo3(get)]
    f_contiguous: bool,
    /// Whether a view of the array would be writable.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).flags.writeable
    /// True
    #[pyo3(get)]
    writeable: bool,
}

#[pymethods]
impl ArrayFlags {
    /// Alias of `c_contiguous`.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).flags.contiguous
    /// True
    #[getter]
    fn contiguous(&self) -> bool {
        self.c_contiguous
    }

    /// Alias of `f_contiguous`.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> mx.array([[1, 2], [3, 4]]).T.flags.fortran
    /// True
    #[getter]
    fn fortran(&self) -> bool {
        self.f_contiguous
    }

    /// Whether the array is `c_contiguous` or `f_contiguous`.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).flags.forc
    /// True
    #[getter]
    fn forc(&self) -> bool {
        self.c_contiguous || self.f_contiguous
    }

    /// Whether the array is `f_contiguous` and not `c_contiguous`.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> mx.array([[1, 2], [3, 4]]).T.flags.fnc
    /// True
    #[getter]
    fn fnc(&self) -> bool {
        self.f_contiguous && !self.c_contiguous
    }

    /// Whether elements are aligned to their size: always True.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).flags.aligned
    /// True
    #[getter]
    fn aligned(&self) -> bool {
        true
    }

    /// Whether the array keeps its memory alive: always True.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).flags.owndata
    /// True
    #[getter]
    fn owndata(&self) -> bool {
        true
    }

    /// Whether the array is a copy to be written back to another one: always False.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).flags.writebackifcopy
    /// False
    #[getter]
    fn writebackifcopy(&self) -> bool {
        false
    }

    /// Return a flag by its name in capitals or by NumPy's letters.
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

/// Memory layout of an array, and whether a view would be writable. Traced arrays have no memory: their layout is that of a
/// dense array.
fn layout_of(py: Python<'_>, array: &PyArray) -> PyResult<(Layout, bool)> {
    let current = note_shape(array.get());
    if current.is_traced() {
        return Ok((Layout::contiguous(current.shape().clone()), false));
    }
    drop(current);
    let export = Export::new(py, array)?;
    let is_writable = export.is_writable();
    Ok((export.layout, is_writable))
}

/// Whether the elements are dense, the first axis changing fastest.
pub(super) fn is_column_major(layout: &Layout) -> bool {
    let axes: SmallVec<[usize; 4]> = (0..layout.ndim()).rev().collect();
    layout.shape.contains(&0) || layout.permute(&axes).is_contiguous()
}

#[pymethods]
impl PyArray {
    /// Number of bytes between neighbouring elements along each axis.
    ///
    /// Returns
    /// -------
    /// tuple of int
    ///
    /// Notes
    /// -----
    /// The array is evaluated.
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).strides
    /// (12, 4)
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let itemsize = self.get().dtype().size() as isize;
        let (layout, _) = layout_of(py, self)?;
        let strides: Strides = layout.strides.iter().map(|&stride| stride * itemsize).collect();
        PyTuple::new(py, strides)
    }

    /// Memory layout of the array, with the names of ``numpy.ndarray.flags``.
    ///
    /// Returns
    /// -------
    /// ArrayFlags
    ///
    /// Notes
    /// -----
    /// The array is evaluated.
    ///
    /// Examples
    /// --------
    /// >>> mx.ones((2, 3)).flags.c_contiguous
    /// True
    #[getter]
    fn flags(&self, py: Python<'_>) -> PyResult<ArrayFlags> {
        let (layout, writeable) = layout_of(py, self)?;
        Ok(ArrayFlags {
            c_contiguous: layout.is_contiguous(),
            f_contiguous: is_column_major(&layout),
            writeable,
        })
    }

    /// Return the bytes of the elements.
    ///
    /// Parameters
    /// ----------
    /// order : {"C", "F", "A", "K"}, optional
    ///     Row-major ("C") or column-major ("F") order. "A" means "F" if the array is column-major in memory, else "C". "K" means
    ///     "C". Default: "C".
    ///
    /// Returns
    /// -------
    /// bytes
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `order` is unknown.
    ///
    /// Notes
    /// -----
    /// The array is evaluated.
    ///
    /// Examples
    /// --------
    /// >>> mx.array([[1, 2], [3, 4]], mx.uint8).tobytes("F")
    /// b'\x01\x03\x02\x04'
    #[pyo3(signature = (order = "C"))]
    fn tobytes<'py>(&self, py: Python<'py>, order: &str) -> PyResult<Bound<'py, PyBytes>> {
        let array = self.get();
        let is_column_major = || -> PyResult<bool> {
            let (layout, _) = layout_of(py, self)?;
            Ok(is_column_major(&layout) && !layout.is_contiguous())
        };
        let order = if order == "A" && is_column_major()? { "F" } else { order };
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

    /// Write the bytes of the elements, in row-major order, to a file.
    ///
    /// Parameters
    /// ----------
    /// fid : path or file
    ///     Path, or object with a method `write` for bytes.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the file cannot be written.
    ///
    /// See Also
    /// --------
    /// tobytes, save
    ///
    /// Examples
    /// --------
    /// >>> import io
    /// >>> file = io.BytesIO()
    /// >>> mx.array([1, 2], mx.uint8).tofile(file)
    /// >>> file.getvalue()
    /// b'\x01\x02'
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
