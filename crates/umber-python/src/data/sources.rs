//! Functions that make buffers and streams.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use umber_data::stage::{Iterable, Stop};
use umber_data::{Buffer, Name, Stream, Value, source};

use super::buffer::PyBuffer;
use super::callable::PythonSamples;
use super::errors::OrRaiseData;
use super::samples::sample_of;
use super::stream::PyStream;
use crate::interop::{TableColumn, import_table};

/// Make a buffer of samples in memory.
///
/// Parameters
/// ----------
/// data : sequence of dict
///     Samples: dicts of arrays, numbers, bytes or lists. Arrays are shared, strided and read-only ones alike; others are copied.
///
/// Returns
/// -------
/// Buffer
///
/// Raises
/// ------
/// TypeError
///     If a sample is not a dict, a key not a str, or a value no array.
/// ValueError
///     If a value is a str.
///
/// See Also
/// --------
/// buffer_from_arrays : faster where the samples are rows of arrays
///
/// Notes
/// -----
/// A Python int becomes int64, a float float64, bytes int8, a bytearray or memoryview uint8, a list what NumPy makes of it.
///
/// Examples
/// --------
/// >>> buffer = dx.buffer_from_vector([{"x": np.arange(3), "name": b"a"}])
/// >>> buffer[0]["x"], bytes(buffer[0]["name"])
/// (array([0, 1, 2]), b'a')
#[pyfunction]
fn buffer_from_vector(data: &Bound<'_, PyAny>) -> PyResult<PyBuffer> {
    if data.is_instance_of::<PyDict>() {
        return Err(PyTypeError::new_err(
            "[buffer_from_vector] data: got one dict, expected a list of them; for a dict of columns use buffer_from_arrays",
        ));
    }
    let mut samples = Vec::with_capacity(data.len().unwrap_or(0));
    for (index, item) in data.try_iter()?.enumerate() {
        samples.push(sample_of(&item?, || format!("[buffer_from_vector] sample {index}"))?);
    }
    Ok(PyBuffer(Buffer::from_samples(samples)))
}

/// Make a buffer whose samples are the rows of arrays, without a copy.
///
/// Parameters
/// ----------
/// columns : dict of str to array_like
///     Arrays of one length: sample i has row i of each.
///
/// Returns
/// -------
/// Buffer
///
/// Raises
/// ------
/// TypeError
///     If a value is no array.
/// ValueError
///     If the lengths differ, or a value has no axis.
///
/// See Also
/// --------
/// buffer_from_vector
///
/// Notes
/// -----
/// A batch of rows is one copy of each row into the batch, without samples in between: the fastest source.
///
/// Examples
/// --------
/// >>> rows = dx.buffer_from_arrays({"x": np.arange(6).reshape(3, 2), "y": np.array([0, 1, 0])})
/// >>> rows[1]
/// {'x': array([2, 3]), 'y': array(1)}
#[pyfunction]
fn buffer_from_arrays(py: Python<'_>, columns: &Bound<'_, PyDict>) -> PyResult<PyBuffer> {
    let columns = sample_of(columns, || "[buffer_from_arrays] columns".to_owned())?;
    Buffer::from_columns(columns).map(PyBuffer).or_raise(py)
}

/// Make a buffer whose samples are the rows of a table of another library, without a copy.
///
/// Parameters
/// ----------
/// table : object with `__arrow_c_stream__` or `__arrow_c_array__`
///     A table of pyarrow, polars, Hugging Face's datasets and others. Columns have numbers, lists of fixed size of them, or texts;
///     texts and binary become int8.
///
/// Returns
/// -------
/// Buffer
///
/// Raises
/// ------
/// TypeError
///     If it does not speak Arrow or is no table, or a column has another type.
/// ValueError
///     If a column has nulls.
///
/// See Also
/// --------
/// buffer_from_arrays
///
/// Notes
/// -----
/// Chunks are not joined. Booleans, which Arrow stores as bits, are copied.
///
/// Examples
/// --------
/// >>> try:
/// ...     dx.buffer_from_arrow({"x": 1})
/// ... except TypeError as error:
/// ...     print(error)
/// [buffer_from_arrow] table: got dict, expected an object with __arrow_c_stream__ or __arrow_c_array__
#[pyfunction]
fn buffer_from_arrow(table: &Bound<'_, PyAny>) -> PyResult<PyBuffer> {
    let py = table.py();
    let Some((names, chunks)) = import_table(table)? else {
        let class = table.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "[buffer_from_arrow] table: got {class}, expected an object with __arrow_c_stream__ or __arrow_c_array__"
        )));
    };
    let make = || -> umber_data::Result<Buffer> {
        let column = |column| {
            Ok(match column {
                TableColumn::Rows(array) => source::TableColumn::Rows(Value::from_array(&array)?),
                TableColumn::Texts { bytes, offsets } => {
                    source::TableColumn::Texts { bytes: Value::from_array(&bytes)?, offsets }
                }
            })
        };
        let chunks: umber_data::Result<Vec<Vec<source::TableColumn>>> =
            chunks.into_iter().map(|chunk| chunk.into_iter().map(column).collect()).collect();
        let names = names.iter().map(|name| Name::new(name)).collect();
        let table = source::Table::new(names, chunks?)?;
        let count = table.len();
        Ok(Buffer::from_rows(Arc::new(table), count, format!("buffer_from_arrow({count})")))
    };
    make().map(PyBuffer).or_raise(py)
}

/// Read the samples of a Python iterable.
///
/// Parameters
/// ----------
/// iterable_factory : callable
///     Returns an iterable of dicts. It is called for every pass.
///
/// Returns
/// -------
/// Stream
///
/// Raises
/// ------
/// TypeError
///     If it is not a function; when a sample is read, if that is not a dict of arrays.
///
/// Notes
/// -----
/// An iterator with methods `state_dict` and `load_state_dict` is asked for its state, which JSON must hold. Others are read again up
/// to their position when a state is loaded.
///
/// Examples
/// --------
/// >>> squares = dx.stream_python_iterable(lambda: ({"x": n * n} for n in range(3)))
/// >>> [int(s["x"]) for s in squares]
/// [0, 1, 4]
#[pyfunction]
fn stream_python_iterable(iterable_factory: &Bound<'_, PyAny>) -> PyResult<PyStream> {
    let (samples, interpreter) = PythonSamples::new(iterable_factory)?;
    Ok(PyStream::new(Stream::new(Iterable::new(Box::new(samples), Some(interpreter)))))
}

fn streams_of(streams: &Bound<'_, PyAny>) -> PyResult<Vec<Stream>> {
    let streams = streams.try_iter()?.map(|stream| {
        let stream = stream?;
        match stream.cast::<PyStream>() {
            Ok(stream) => Ok(stream.get().stream.clone()),
            Err(_) => Err(PyTypeError::new_err(format!(
                "got {}, expected a Stream; a Buffer has to_stream()",
                stream.get_type().name()?
            ))),
        }
    });
    streams.collect()
}

/// Read one stream after the other.
///
/// Parameters
/// ----------
/// *streams : Stream
///     The streams.
///
/// Returns
/// -------
/// Stream
///
/// See Also
/// --------
/// mix, zip, Buffer.append
///
/// Examples
/// --------
/// >>> a = dx.buffer_from_vector([{"x": 1}]).to_stream()
/// >>> b = dx.buffer_from_vector([{"x": 2}]).to_stream()
/// >>> [int(s["x"]) for s in dx.chain(a, b)]
/// [1, 2]
#[pyfunction]
#[pyo3(signature = (*streams))]
fn chain(streams: &Bound<'_, PyAny>) -> PyResult<PyStream> {
    Ok(PyStream::new(Stream::chain(streams_of(streams)?)))
}

/// Read streams side by side: a sample has the values of one sample of each.
///
/// Parameters
/// ----------
/// *streams : Stream
///     The streams, whose keys differ. The shortest one ends it.
///
/// Returns
/// -------
/// Stream
///
/// Raises
/// ------
/// ValueError
///     When a sample is read, if two streams have a key.
///
/// See Also
/// --------
/// chain, mix
///
/// Examples
/// --------
/// >>> a = dx.buffer_from_vector([{"x": 1}]).to_stream()
/// >>> b = dx.buffer_from_vector([{"y": 2}]).to_stream()
/// >>> dx.zip(a, b).next()
/// {'x': array(1), 'y': array(2)}
#[pyfunction]
#[pyo3(signature = (*streams))]
fn zip(streams: &Bound<'_, PyAny>) -> PyResult<PyStream> {
    Ok(PyStream::new(Stream::zip(streams_of(streams)?)))
}

/// Read each sample from a random stream.
///
/// Parameters
/// ----------
/// streams : sequence of Stream
///     The streams.
/// weights : sequence of float
///     How often each is chosen; positive, of any sum.
/// seed : int, optional
///     Seed of the choices. Default: the next one of the process, see `umber.data.core.set_state`.
/// stop : {"first", "all"}, optional
///     End when a stream is chosen that has ended, or when all have. Default: "first".
///
/// Returns
/// -------
/// Stream
///
/// Raises
/// ------
/// ValueError
///     If the numbers of weights and streams differ, a weight is not positive, or `stop` is another text.
///
/// See Also
/// --------
/// chain, zip
///
/// Examples
/// --------
/// >>> a = dx.buffer_from_vector([{"x": 1}]).to_stream().repeat(0)
/// >>> b = dx.buffer_from_vector([{"x": 2}]).to_stream().repeat(0)
/// >>> counts = [int(s["x"]) for s in dx.mix([a, b], [1, 3], seed=0).take(1000)]
/// >>> 650 < counts.count(2) < 850
/// True
#[pyfunction]
#[pyo3(signature = (streams, weights, *, seed = None, stop = "first"))]
fn mix(
    py: Python<'_>,
    streams: &Bound<'_, PyAny>,
    weights: Vec<f64>,
    seed: Option<u64>,
    stop: &str,
) -> PyResult<PyStream> {
    let stop = match stop {
        "first" => Stop::First,
        "all" => Stop::All,
        other => {
            return Err(pyo3::exceptions::PyValueError::new_err(format!(
                "[mix] stop: got '{other}', expected 'first' or 'all'"
            )));
        }
    };
    Stream::mix(streams_of(streams)?, weights, seed, stop).map(PyStream::new).or_raise(py)
}

/// Set the seed of all random stages that are made after it.
///
/// Parameters
/// ----------
/// seed : int or None, optional
///     The seed; None takes one from the operating system. Default: 1234.
///
/// Examples
/// --------
/// >>> dx.core.set_state(7)
#[pyfunction]
#[pyo3(signature = (seed = Some(1234)))]
fn set_state(py: Python<'_>, seed: Option<u64>) -> PyResult<()> {
    let seed = match seed {
        Some(seed) => seed,
        None => {
            let bytes: [u8; 8] = py.import("os")?.call_method1("urandom", (8,))?.extract()?;
            u64::from_ne_bytes(bytes)
        }
    };
    umber_data::random::set_seed(seed);
    Ok(())
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(buffer_from_vector, module)?)?;
    module.add_function(wrap_pyfunction!(buffer_from_arrays, module)?)?;
    module.add_function(wrap_pyfunction!(buffer_from_arrow, module)?)?;
    module.add_function(wrap_pyfunction!(stream_python_iterable, module)?)?;
    module.add_function(wrap_pyfunction!(chain, module)?)?;
    module.add_function(wrap_pyfunction!(zip, module)?)?;
    module.add_function(wrap_pyfunction!(mix, module)?)?;
    module.add_function(wrap_pyfunction!(set_state, module)?)
}
