//! Printing of arrays, in MLX's format or NumPy's.

use std::sync::{LazyLock, PoisonError, RwLock};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyTuple};
use umber_core::Array;
use umber_core::runtime::printing::{PrintOptions as Options, Style, html, text};

use crate::array::PyArray;
use crate::enter::enter;

/// Maximum number of decimals, more than any dtype has.
const MAX_DECIMALS: i64 = 1100;
/// Precision that selects the default of the style.
const SHORTEST: i64 = -1;

/// The options; global to the process.
static OPTIONS: LazyLock<RwLock<Options>> = LazyLock::new(RwLock::default);

fn current() -> Options {
    OPTIONS.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Set the options, and return the previous ones.
fn replace(options: Options) -> Options {
    std::mem::replace(&mut *OPTIONS.write().unwrap_or_else(PoisonError::into_inner), options)
}

/// Options for printing arrays, with the names of ``numpy.get_printoptions``.
///
/// See Also
/// --------
/// set_printoptions, printoptions, get_printoptions
///
/// Examples
/// --------
/// >>> mx.get_printoptions().precision
/// -1
#[pyclass(name = "PrintOptions", module = "umber.core", frozen)]
struct PrintOptions(Options);

#[pymethods]
impl PrintOptions {
    /// Number of decimals; -1 for the shortest form of style ``"mlx"``.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.get_printoptions().precision
    /// -1
    #[getter]
    fn precision(&self) -> i64 {
        self.0.precision().map_or(SHORTEST, |precision| precision as i64)
    }

    /// Number of elements above which arrays are abbreviated.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.get_printoptions().threshold
    /// 0
    #[getter]
    fn threshold(&self) -> usize {
        self.0.threshold()
    }

    /// Number of elements at each end of an abbreviated axis.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> mx.get_printoptions().edgeitems
    /// 3
    #[getter]
    fn edgeitems(&self) -> usize {
        self.0.edgeitems()
    }

    /// Number of characters in a line; None if rows are not wrapped.
    ///
    /// Returns
    /// -------
    /// int or None
    ///
    /// Examples
    /// --------
    /// >>> mx.get_printoptions().linewidth is None
    /// True
    #[getter]
    fn linewidth(&self) -> Option<usize> {
        self.0.linewidth()
    }

    /// Whether small numbers are written without exponents.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> mx.get_printoptions().suppress
    /// False
    #[getter]
    fn suppress(&self) -> bool {
        self.0.suppress
    }

    /// Text of NaN.
    ///
    /// Returns
    /// -------
    /// str
    ///
    /// Examples
    /// --------
    /// >>> mx.get_printoptions().nanstr
    /// 'nan'
    #[getter]
    fn nanstr(&self) -> &str {
        self.0.nanstr()
    }

    /// Text of infinity.
    ///
    /// Returns
    /// -------
    /// str
    ///
    /// Examples
    /// --------
    /// >>> mx.get_printoptions().infstr
    /// 'inf'
    #[getter]
    fn infstr(&self) -> &str {
        self.0.infstr()
    }

    /// ``"mlx"`` or ``"numpy"``.
    ///
    /// Returns
    /// -------
    /// str
    ///
    /// Examples
    /// --------
    /// >>> mx.get_printoptions().style
    /// 'mlx'
    #[getter]
    fn style(&self) -> &'static str {
        name_of(self.0.style)
    }
}

fn name_of(style: Style) -> &'static str {
    match style {
        Style::Mlx => "mlx",
        Style::Numpy => "numpy",
    }
}

/// The options that a call sets.
#[derive(Clone, PartialEq, Eq, Default)]
struct Change {
    /// -1 is the default of the style.
    precision: Option<i64>,
    threshold: Option<usize>,
    edgeitems: Option<usize>,
    linewidth: Option<usize>,
    suppress: Option<bool>,
    nanstr: Option<String>,
    infstr: Option<String>,
    style: Option<Style>,
}

impl Change {
    /// The options after the call: the defaults if it sets none.
    fn applied(self, options: Options) -> Options {
        if self == Change::default() {
            return Options::default();
        }
        Options {
            precision: self.precision.map_or(options.precision, |precision| usize::try_from(precision).ok()),
            threshold: self.threshold.or(options.threshold),
            edgeitems: self.edgeitems.or(options.edgeitems),
            linewidth: self.linewidth.or(options.linewidth),
            suppress: self.suppress.unwrap_or(options.suppress),
            nanstr: self.nanstr.or(options.nanstr),
            infstr: self.infstr.or(options.infstr),
            style: self.style.unwrap_or(options.style),
        }
    }
}

fn checked_precision(op: &str, precision: i64) -> PyResult<i64> {
    if (SHORTEST..=MAX_DECIMALS).contains(&precision) {
        return Ok(precision);
    }
    Err(PyValueError::new_err(format!(
        "[{op}] precision must be between 0 and {MAX_DECIMALS}, or -1, got {precision}"
    )))
}

fn checked_count(op: &str, name: &str, count: i64) -> PyResult<usize> {
    usize::try_from(count)
        .map_err(|_| PyValueError::new_err(format!("[{op}] {name} must not be negative, got {count}")))
}

/// A number of elements, or infinity.
struct Threshold(i64);

impl<'a, 'py> FromPyObject<'a, 'py> for Threshold {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.cast::<PyFloat>().is_ok_and(|number| number.value() == f64::INFINITY) {
            return Ok(Threshold(i64::MAX));
        }
        object.extract().map(Threshold)
    }
}

fn checked_style(op: &str, style: &str) -> PyResult<Style> {
    match style {
        "mlx" => Ok(Style::Mlx),
        "numpy" => Ok(Style::Numpy),
        other => Err(PyValueError::new_err(format!("[{op}] got style '{other}', expected 'mlx' or 'numpy'"))),
    }
}

/// Context manager that sets the print options; made by `printoptions`.
///
/// Examples
/// --------
/// >>> with mx.printoptions(precision=2):
/// ...     print(mx.array(1 / 3))
/// array(0.33, dtype=float32)
#[pyclass(name = "PrintOptionsContext", module = "umber.core")]
struct PrintOptionsContext {
    change: Change,
    before: Option<Options>,
}

#[pymethods]
impl PrintOptionsContext {
    fn __enter__(&mut self) {
        self.before = Some(replace(self.change.clone().applied(current())));
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&mut self, _args: &Bound<'_, PyTuple>) {
        if let Some(before) = self.before.take() {
            replace(before);
        }
    }
}

/// Set how arrays are printed.
///
/// Parameters
/// ----------
/// precision : int, optional
///     Number of decimals of floating-point numbers, or -1 for the default of the style: in style ``"mlx"`` the shortest form with
///     six significant digits, in style ``"numpy"`` at most 8 decimals.
/// threshold : int, optional
///     Arrays of more elements are abbreviated: the middle of long axes is omitted. ``mx.inf`` prints arrays whole. Default: 0 in
///     style ``"mlx"``, 1000 in style ``"numpy"``.
/// edgeitems : int, optional
///     Number of elements at each end of an abbreviated axis. Default: 3.
/// linewidth : int, optional
///     Number of characters in a line, after which rows are wrapped. Default: unlimited in style ``"mlx"``, 75 in style
///     ``"numpy"``.
/// suppress : bool, optional
///     Write small numbers, and in style ``"numpy"`` numbers of different magnitudes, without exponents. Large numbers have
///     exponents: from 1e16 in style ``"mlx"``, from a power of ten of the dtype's digits in style ``"numpy"``. Default: False.
/// nanstr : str, optional
///     Text of NaN. Default: ``"nan"``.
/// infstr : str, optional
///     Text of infinity. Default: ``"inf"``.
/// style : {"mlx", "numpy"}, optional
///     ``"mlx"`` writes each number in its own form. ``"numpy"`` aligns numbers in columns with a common notation, as NumPy's
///     ``repr``. Default: ``"mlx"``.
///
/// Raises
/// ------
/// ValueError
///     If `precision` is less than -1 or greater than 1100, another number is negative, or `style` is unknown.
/// TypeError
///     If an option has another type.
///
/// See Also
/// --------
/// get_printoptions, printoptions
///
/// Notes
/// -----
/// Options that are not given keep their values; a call without options restores the defaults. Holds for the whole process.
///
/// Examples
/// --------
/// >>> mx.set_printoptions(precision=2)
/// >>> mx.array(1 / 3)
/// array(0.33, dtype=float32)
/// >>> mx.set_printoptions(style="numpy", precision=4)
/// >>> mx.array([[1.0, -0.5], [100 / 3, mx.nan]])
/// array([[ 1.    , -0.5   ],
///        [33.3333,     nan]], dtype=float32)
/// >>> mx.set_printoptions()
#[pyfunction]
#[pyo3(
    signature = (
        precision = None, threshold = None, edgeitems = None, linewidth = None, suppress = None, nanstr = None,
        infstr = None, *, style = None
    )
)]
fn set_printoptions(
    precision: Option<i64>,
    threshold: Option<Threshold>,
    edgeitems: Option<i64>,
    linewidth: Option<i64>,
    suppress: Option<bool>,
    nanstr: Option<String>,
    infstr: Option<String>,
    style: Option<&str>,
) -> PyResult<()> {
    let op = "set_printoptions";
    let change = Change {
        precision: precision.map(|precision| checked_precision(op, precision)).transpose()?,
        threshold: threshold.map(|Threshold(count)| checked_count(op, "threshold", count)).transpose()?,
        edgeitems: edgeitems.map(|edgeitems| checked_count(op, "edgeitems", edgeitems)).transpose()?,
        linewidth: linewidth.map(|linewidth| checked_count(op, "linewidth", linewidth)).transpose()?,
        suppress,
        nanstr,
        infstr,
        style: style.map(|style| checked_style(op, style)).transpose()?,
    };
    replace(change.applied(current()));
    Ok(())
}

/// Return the current options for printing arrays.
///
/// Returns
/// -------
/// PrintOptions
///     Object with the options of `set_printoptions` as attributes.
///
/// See Also
/// --------
/// set_printoptions, printoptions
///
/// Examples
/// --------
/// >>> mx.get_printoptions().precision
/// -1
#[pyfunction]
fn get_printoptions() -> PrintOptions {
    PrintOptions(current())
}

/// Return a context manager that sets how arrays are printed.
///
/// Parameters
/// ----------
/// precision : int, optional
///     Number of decimals of floating-point numbers, or -1 for the default of the style: in style ``"mlx"`` the shortest form with
///     six significant digits, in style ``"numpy"`` at most 8 decimals.
/// threshold : int, optional
///     Arrays of more elements are abbreviated: the middle of long axes is omitted. ``mx.inf`` prints arrays whole. Default: 0 in
///     style ``"mlx"``, 1000 in style ``"numpy"``.
/// edgeitems : int, optional
///     Number of elements at each end of an abbreviated axis. Default: 3.
/// linewidth : int, optional
///     Number of characters in a line, after which rows are wrapped. Default: unlimited in style ``"mlx"``, 75 in style
///     ``"numpy"``.
/// suppress : bool, optional
///     Write small numbers, and in style ``"numpy"`` numbers of different magnitudes, without exponents. Large numbers have
///     exponents: from 1e16 in style ``"mlx"``, from a power of ten of the dtype's digits in style ``"numpy"``. Default: False.
/// nanstr : str, optional
///     Text of NaN. Default: ``"nan"``.
/// infstr : str, optional
///     Text of infinity. Default: ``"inf"``.
/// style : {"mlx", "numpy"}, optional
///     ``"mlx"`` writes each number in its own form. ``"numpy"`` aligns numbers in columns with a common notation, as NumPy's
///     ``repr``. Default: ``"mlx"``.
///
/// Returns
/// -------
/// PrintOptionsContext
///
/// Raises
/// ------
/// ValueError
///     If `precision` is less than -1 or greater than 1100, another number is negative, or `style` is unknown.
/// TypeError
///     If an option has another type.
///
/// See Also
/// --------
/// set_printoptions, get_printoptions
///
/// Notes
/// -----
/// Options that are not given keep their values; without options, the defaults hold. The options hold for the whole process
/// until the context is left.
///
/// Examples
/// --------
/// >>> with mx.printoptions(precision=2):
/// ...     print(mx.array(1 / 3))
/// array(0.33, dtype=float32)
/// >>> with mx.printoptions(threshold=10):
/// ...     print(mx.arange(8))
/// array([0, 1, 2, 3, 4, 5, 6, 7], dtype=int32)
#[pyfunction]
#[pyo3(
    signature = (
        precision = None, threshold = None, edgeitems = None, linewidth = None, suppress = None, nanstr = None,
        infstr = None, *, style = None
    )
)]
fn printoptions(
    precision: Option<i64>,
    threshold: Option<Threshold>,
    edgeitems: Option<i64>,
    linewidth: Option<i64>,
    suppress: Option<bool>,
    nanstr: Option<String>,
    infstr: Option<String>,
    style: Option<&str>,
) -> PyResult<PrintOptionsContext> {
    let op = "printoptions";
    let change = Change {
        precision: precision.map(|precision| checked_precision(op, precision)).transpose()?,
        threshold: threshold.map(|Threshold(count)| checked_count(op, "threshold", count)).transpose()?,
        edgeitems: edgeitems.map(|edgeitems| checked_count(op, "edgeitems", edgeitems)).transpose()?,
        linewidth: linewidth.map(|linewidth| checked_count(op, "linewidth", linewidth)).transpose()?,
        suppress,
        nanstr,
        infstr,
        style: style.map(|style| checked_style(op, style)).transpose()?,
    };
    Ok(PrintOptionsContext { change, before: None })
}

#[pymethods]
impl PyArray {
    /// Return the array as HTML, which notebooks display: a table of at most two axes, the text of more, and the shape, dtype,
    /// size and device.
    ///
    /// Returns
    /// -------
    /// str
    ///
    /// See Also
    /// --------
    /// set_printoptions
    ///
    /// Notes
    /// -----
    /// The array is evaluated. The print options apply.
    ///
    /// Examples
    /// --------
    /// >>> "shape (2,), dtype int32, 8 bytes" in mx.array([1, 2])._repr_html_()
    /// True
    #[pyo3(name = "_repr_html_")]
    fn repr_html(&self, py: Python<'_>) -> PyResult<String> {
        let (array, options) = (self.get(), current());
        enter(py, move || html(&array, &options))
    }
}

/// Register the print options in the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PrintOptions>()?;
    module.add_function(wrap_pyfunction!(set_printoptions, module)?)?;
    module.add_function(wrap_pyfunction!(get_printoptions, module)?)?;
    module.add_function(wrap_pyfunction!(printoptions, module)?)
}

/// Format an evaluated array: `array([1, 2], dtype=int32)`.
pub(crate) fn repr(array: &Array) -> umber_core::Result<String> {
    text(array, &current())
}
