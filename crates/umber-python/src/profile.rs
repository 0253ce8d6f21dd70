//! `profile`: time, memory and arithmetic of the operations in a block.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyModuleNotFoundError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use umber_core::observer::profile::{Profile, Row, WithMemory};

use crate::enter::OrRaise;

/// A record of the operations that ran in a block; made by `profile`.
///
/// Examples
/// --------
/// >>> with mx.profile() as p:
/// ...     mx.eval(mx.ones((100, 100)) @ mx.ones((100, 100)))
/// >>> p.rows[0]["operation"], p.rows[0]["flops"]
/// ('matmul', 2000000)
#[pyclass(name = "Profile", module = "umber.core", frozen)]
struct PyProfile(Arc<Profile>);

#[pymethods]
impl PyProfile {
    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().0.start().or_raise()?;
        Ok(slf)
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, _args: &Bound<'_, PyTuple>) {
        self.0.stop();
    }

    fn __str__(&self) -> String {
        self.0.to_string().trim_end().into()
    }

    fn __repr__(&self) -> String {
        let rows = self.0.rows();
        let own: Duration = rows.iter().map(|row| row.own).sum();
        format!("Profile({} rows, {:.3} ms)", rows.len(), own.as_secs_f64() * 1e3)
    }

    /// Rows of the profile: one for each operation and each sequence of fused operations.
    ///
    /// Returns
    /// -------
    /// list of dict
    ///     The longest ``self_time`` first. Times are in seconds. The keys are ``operation``; ``fused``, the operations in
    ///     one kernel, empty if there is one only; ``device``; ``calls``; ``kernels``; ``total_time`` and ``self_time``, with
    ///     and without the operations inside, such as those in the body of a loop; ``bytes_read`` and ``bytes_written``;
    ///     ``bandwidth`` in bytes per second; ``flops`` and ``flop_rate``, None if unknown; and ``lines``, a dict from
    ///     ``file:line`` to the calls and the time of the operations that this line recorded.
    ///
    /// Examples
    /// --------
    /// >>> x = mx.arange(10_000.0)
    /// >>> mx.eval(x)
    /// >>> with mx.profile() as p:
    /// ...     mx.eval(mx.sum(mx.exp(x)))
    /// >>> p.rows[0]["fused"]
    /// ('exp', 'sum')
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = self.0.rows().iter().map(|row| row_dict(py, row)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, rows)
    }

    /// Time in seconds during which the block was running.
    ///
    /// Returns
    /// -------
    /// float
    ///
    /// Examples
    /// --------
    /// >>> with mx.profile() as p:
    /// ...     pass
    /// >>> p.wall_time < 1
    /// True
    #[getter]
    fn wall_time(&self) -> f64 {
        self.0.wall_time().as_secs_f64()
    }

    /// Bytes of host memory at the peak, by the line of the program that allocated them.
    ///
    /// Returns
    /// -------
    /// dict or None
    ///     From ``file:line`` to bytes, the largest first. None without ``memory=True``, and inside the block.
    ///
    /// Examples
    /// --------
    /// >>> with mx.profile(memory=True) as p:
    /// ...     mx.eval(mx.arange(1_000_000) * 2)
    /// >>> sum(p.memory.values()) >= 4_000_000
    /// True
    #[getter]
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(peak) = self.0.memory_at_peak() else { return Ok(None) };
        let memory = PyDict::new(py);
        peak.by_line.iter().try_for_each(|(line, bytes)| memory.set_item(&**line, bytes))?;
        Ok(Some(memory))
    }

    /// Write the operations in Chrome's trace format.
    ///
    /// Parameters
    /// ----------
    /// file : str or PathLike
    ///     Path of the file, which is overwritten.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If the file cannot be written.
    ///
    /// Notes
    /// -----
    /// Open the file in https://ui.perfetto.dev or chrome://tracing. Each thread is a track. Up to 1,048,576 operations
    /// are kept.
    ///
    /// Examples
    /// --------
    /// >>> import json, tempfile
    /// >>> with mx.profile() as p:
    /// ...     mx.eval(mx.arange(10_000) * 2)
    /// >>> with tempfile.TemporaryDirectory() as folder:
    /// ...     p.export(f"{folder}/trace.json")
    /// ...     with open(f"{folder}/trace.json") as file:
    /// ...         len(json.load(file).get("traceEvents"))
    /// 3
    fn export(&self, py: Python<'_>, file: PathBuf) -> PyResult<()> {
        py.detach(|| std::fs::write(file, self.0.chrome_trace()))?;
        Ok(())
    }

    /// Draw the time of each operation with Matplotlib.
    ///
    /// Parameters
    /// ----------
    /// ax : matplotlib.axes.Axes, optional
    ///     Axes to draw in. Default: those of a new figure.
    /// max_rows : int, optional
    ///     Number of operations to draw, the longest time first. Default: 20.
    ///
    /// Returns
    /// -------
    /// matplotlib.axes.Axes
    ///
    /// Raises
    /// ------
    /// ModuleNotFoundError
    ///     If Matplotlib is not installed.
    ///
    /// Examples
    /// --------
    /// >>> with mx.profile() as p:
    /// ...     mx.eval(mx.arange(10_000) * 2)
    /// >>> axes = p.plot()  # doctest: +SKIP
    #[pyo3(signature = (ax = None, max_rows = 20))]
    fn plot<'py>(
        &self,
        py: Python<'py>,
        ax: Option<Bound<'py, PyAny>>,
        max_rows: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let ax = match ax {
            Some(ax) => ax,
            None => new_axes(py)?,
        };
        let rows = self.0.rows();
        let rows: Vec<&Row> = rows.iter().take(max_rows).rev().collect();
        let positions: Vec<usize> = (0..rows.len()).collect();
        let times: Vec<f64> = rows.iter().map(|row| row.own.as_secs_f64() * 1e3).collect();
        let titles: Vec<String> = rows.iter().map(|row| row.title()).collect();
        ax.call_method1("barh", (positions.clone(), times))?;
        ax.call_method1("set_yticks", (positions, titles))?;
        ax.call_method1("set_xlabel", ("self time in ms",))?;
        Ok(ax)
    }
}

/// The axes of a new figure of Matplotlib.
fn new_axes(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let pyplot = py.import("matplotlib.pyplot").map_err(|error| {
        let is_missing = error.is_instance_of::<PyModuleNotFoundError>(py);
        if !is_missing {
            return error;
        }
        PyModuleNotFoundError::new_err(
            "[plot] Matplotlib is not installed; install it with pip install matplotlib",
        )
    })?;
    pyplot.call_method0("subplots")?.get_item(1)
}

fn row_dict<'py>(py: Python<'py>, row: &Row) -> PyResult<Bound<'py, PyDict>> {
    let lines: HashMap<&str, (u64, f64)> =
        row.lines.iter().map(|time| (&*time.line, (time.calls, time.own.as_secs_f64()))).collect();
    let dict = PyDict::new(py);
    dict.set_item("operation", row.operation)?;
    dict.set_item("fused", PyTuple::new(py, &row.fused)?)?;
    dict.set_item("device", row.device.to_string())?;
    dict.set_item("calls", row.calls)?;
    dict.set_item("kernels", row.kernels)?;
    dict.set_item("total_time", row.total.as_secs_f64())?;
    dict.set_item("self_time", row.own.as_secs_f64())?;
    dict.set_item("bytes_read", row.bytes_read)?;
    dict.set_item("bytes_written", row.bytes_written)?;
    dict.set_item("bandwidth", row.bandwidth())?;
    dict.set_item("flops", row.flops)?;
    dict.set_item("flop_rate", row.flop_rate())?;
    dict.set_item("lines", lines)?;
    Ok(dict)
}

/// Return a context manager that records the operations that run in its block.
///
/// Parameters
/// ----------
/// memory : bool, optional
///     Whether to record which lines of the program allocated the memory in use at its peak. Default: False.
///
/// Returns
/// -------
/// Profile
///     ``print(p)`` prints a table by operation, ``p.rows`` is the table as data, ``p.memory`` the memory at the peak,
///     ``p.export(file)`` writes a trace for Chrome or Perfetto, and ``p.plot()`` draws the times.
///
/// Raises
/// ------
/// RuntimeError
///     At the start of the block, if the profile is recording already.
///
/// See Also
/// --------
/// get_peak_memory, debug_nans
///
/// Notes
/// -----
/// Arrays are lazy: evaluate inside the block what is to be measured. Evaluations on all threads and streams of the process are
/// recorded. Blocks may be nested and may overlap; each records everything that runs while it is active.
///
/// Times are those of kernels, without the recording and planning of operations. Operations on an asynchronous device are
/// waited for one by one, and their time is that until the event after them. Bytes are those of the inputs and results; an
/// operation that reads a part of an input counts all of it, and elements that a broadcast repeats count once. Arithmetic is
/// counted for elementwise operations (one for each element), reductions, matrix products and convolutions. Views, such as
/// most slices and transposes, take no time and are not recorded. While a profile is active, operations record the line of the program, which takes about a microsecond each.
///
/// Examples
/// --------
/// >>> x = mx.random.normal((100, 100))
/// >>> mx.eval(x)
/// >>> with mx.profile() as p:
/// ...     mx.eval(mx.tanh(x @ x + 1))
/// >>> p.rows[0]["fused"]
/// ('matmul', 'add', 'tanh')
/// >>> print(p)
/// operations: 1, ... ms; wall time: ... ms
/// operation ...
#[pyfunction]
#[pyo3(signature = (*, memory = false))]
fn profile(memory: bool) -> PyProfile {
    let with_memory = if memory { WithMemory::Yes } else { WithMemory::No };
    PyProfile(Arc::new(Profile::new(with_memory)))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyProfile>()?;
    module.add_function(wrap_pyfunction!(profile, module)?)
}
