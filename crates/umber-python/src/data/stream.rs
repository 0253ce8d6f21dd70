//! `Stream`: samples read once, in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use umber_data::random::Key;
use umber_data::run::Context;
use umber_data::stage::{Axes, BatchOptions, Length, Padding, Policy, SlidingWindow};
use umber_data::{Buffer, Name, Operation, Stream};

use super::buffer::{PyBuffer, dynamic_options, output, part_of, sizes};
use super::by_rank::{Even, rank_and_size};
use super::callable::{ErrorHandler, Kind, SampleTransform, callable, named_numbers, refill};
use super::ending::detached;
use super::errors::OrRaiseData;
use super::samples::{Views, dict_of};
use super::state;

/// Which values become arrays of umber.
#[derive(Clone)]
enum Arrays {
    None,
    All,
    Keys(Arc<[String]>),
}

/// Samples that are read once, in order.
///
/// A sample is a dict of arrays. `Buffer.to_stream` and the functions `stream_*` make streams. Operations return new streams, which
/// advance the one they are made of; nothing is computed before a sample is read.
///
/// Examples
/// --------
/// >>> import umber.data as dx
/// >>> stream = dx.buffer_from_vector([{"x": n} for n in range(5)]).to_stream()
/// >>> [s["x"].tolist() for s in stream.batch(2)]
/// [[0, 1], [2, 3], [4]]
/// >>> stream.reset()
/// >>> int(stream.next()["x"])
/// 0
#[pyclass(name = "Stream", module = "umber.data", frozen)]
pub(super) struct PyStream {
    pub(super) stream: Stream,
    arrays: Arrays,
    /// Samples read in this pass, by all handles of the stream.
    delivered: Arc<AtomicU64>,
}

/// A count that is not negative.
fn count(op: &str, argument: &str, number: i64) -> PyResult<u64> {
    u64::try_from(number)
        .map_err(|_| PyValueError::new_err(format!("[{op}] {argument}: got {number}, expected at least 0")))
}

/// A count that is at least one.
fn positive(op: &str, argument: &str, number: i64) -> PyResult<usize> {
    usize::try_from(number)
        .ok()
        .filter(|&number| number > 0)
        .ok_or_else(|| PyValueError::new_err(format!("[{op}] {argument}: got {number}, expected at least 1")))
}

impl PyStream {
    pub(super) fn new(stream: Stream) -> PyStream {
        PyStream { stream, arrays: Arrays::None, delivered: Arc::default() }
    }

    /// A stream below this one.
    pub(super) fn derive(&self, stream: Stream) -> PyStream {
        PyStream { stream, arrays: self.arrays.clone(), delivered: Arc::default() }
    }

    /// Another handle of this stream.
    fn handle(&self, arrays: Arrays) -> PyStream {
        PyStream { stream: self.stream.clone(), arrays, delivered: Arc::clone(&self.delivered) }
    }

    pub(super) fn unchanged(&self) -> PyStream {
        self.handle(self.arrays.clone())
    }

    fn length(&self, py: Python<'_>) -> PyResult<Length> {
        detached(py, || self.stream.check().map(|()| self.stream.length())).or_raise(py)
    }

    pub(super) fn apply(&self, operation: Arc<dyn Operation>) -> PyStream {
        self.derive(self.stream.apply_shared(operation))
    }

    fn read<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(read) = detached(py, || self.stream.next()) else { return Ok(None) };
        let sample = read.or_raise(py)?;
        self.delivered.fetch_add(1, Ordering::Relaxed);
        let is_array = |key: &str| match &self.arrays {
            Arrays::None => false,
            Arrays::All => true,
            Arrays::Keys(keys) => keys.iter().any(|other| other == key),
        };
        dict_of(py, sample, Views::AsTheyAre, is_array).map(Some)
    }
}

#[pymethods]
impl PyStream {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.read(py)
    }

    fn __call__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.next(py)
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&self, py: Python<'_>, _args: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        detached(py, || format!("{:?}", self.stream))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        match self.length(py)? {
            // Python has no longer lengths.
            Length::Exact(count) => Ok(count.min(isize::MAX as u64) as usize),
            Length::Unknown => {
                Err(PyTypeError::new_err("the length of this stream is not known before it is read"))
            }
            Length::Endless => Err(PyTypeError::new_err("this stream has no end")),
        }
    }

    fn __length_hint__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(match self.length(py)? {
            Length::Exact(count) => {
                let rest = count.saturating_sub(self.delivered.load(Ordering::Relaxed));
                rest.min(isize::MAX as u64) as usize
            }
            Length::Unknown | Length::Endless => 0,
        })
    }

    /// The next sample.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Empty at the end of the stream.
    ///
    /// Raises
    /// ------
    /// DataError
    ///     If a stage fails. The next call goes on behind the sample.
    ///
    /// Examples
    /// --------
    /// >>> dx.buffer_from_vector([{"x": 1}]).to_stream().next()
    /// {'x': array(1)}
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        Ok(self.read(py)?.unwrap_or_else(|| PyDict::new(py)))
    }

    /// Begin the next pass: sources start again, random stages draw new numbers.
    ///
    /// Examples
    /// --------
    /// >>> stream.reset()
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.delivered.store(0, Ordering::Relaxed);
        detached(py, || self.stream.reset(&Context::alone())).or_raise(py)
    }

    /// Stop the threads of the stream. It can be read again after `reset`.
    ///
    /// Examples
    /// --------
    /// >>> with stream.prefetch() as ahead:
    /// ...     sample = ahead.next()
    fn close(&self, py: Python<'_>) {
        detached(py, || self.stream.close());
    }

    /// Merge samples into batches.
    ///
    /// Parameters
    /// ----------
    /// batch_size : int or list of int
    ///     Samples in a batch. Several sizes are used in turn.
    /// pad : dict of str to float, optional
    ///     What shorter values of a key are filled up with at their ends. Default: zero.
    /// dim : dict of str to int, optional
    ///     The axis along which the values of a key are joined. Others are stacked along a new first axis.
    ///
    /// Returns
    /// -------
    /// Stream
    ///     The last batch may be smaller.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a size is below one; when a batch is read, if its samples differ in keys or a key's values in their number
    ///     of axes.
    /// TypeError
    ///     When a batch is read, if a key's values differ in dtype.
    ///
    /// See Also
    /// --------
    /// dynamic_batch, Buffer.batch
    ///
    /// Notes
    /// -----
    /// An error in a sample fails its batch, and the next batch begins behind it; `on_error` above the batch leaves the sample out
    /// instead.
    ///
    /// Examples
    /// --------
    /// >>> [s["x"].tolist() for s in stream.batch([1, 3])]
    /// [[0], [1, 2, 3], [4]]
    #[pyo3(signature = (batch_size, pad = None, dim = None))]
    fn batch(
        &self,
        py: Python<'_>,
        batch_size: &Bound<'_, PyAny>,
        pad: Option<&Bound<'_, PyDict>>,
        dim: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyStream> {
        let options = BatchOptions {
            sizes: sizes("batch", batch_size)?,
            padding: Padding(named_numbers(pad)?),
            axes: Axes(named_numbers(dim)?),
        };
        self.stream.batch(options).map(|stream| self.derive(stream)).or_raise(py)
    }

    /// Gather samples and merge those of similar size into batches of about the same number of elements.
    ///
    /// Parameters
    /// ----------
    /// buffer_size : int
    ///     How many samples are gathered.
    /// key : str
    ///     The key whose values are measured.
    /// min_data_size, max_data_size : int, optional
    ///     Least and largest number of elements of a batch, with padding. Samples without others to reach the least number wait for
    ///     the next gathering, and are left out at the end. Default: none.
    /// pad, dim : dict, optional
    ///     As for `batch`.
    /// shuffle : bool, optional
    ///     Shuffle the batches of a gathering. Default: False, smaller samples first.
    /// drop_outliers : bool, optional
    ///     Leave out samples larger than `max_data_size`. Default: False, they are batches of their own.
    /// max_skipped_samples : int, optional
    ///     How many samples that are too few for a batch are kept for the next gathering. Default: 1000.
    /// num_threads : int, optional
    ///     Threads that gather. Default: 1, which adds none; below `prefetch` its threads gather.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `buffer_size` is below one, or `min_data_size` exceeds `max_data_size`.
    ///
    /// See Also
    /// --------
    /// batch, Buffer.dynamic_batch
    ///
    /// Examples
    /// --------
    /// >>> rows = dx.buffer_from_vector([{"x": np.ones(n)} for n in (5, 1, 4, 1, 2)])
    /// >>> [b["x"].shape for b in rows.to_stream().dynamic_batch(5, "x", max_data_size=6)]
    /// [(3, 2), (1, 4), (1, 5)]
    #[pyo3(signature = (buffer_size, key, *, min_data_size = -1, max_data_size = -1, pad = None, dim = None, shuffle = false, drop_outliers = false, max_skipped_samples = 1000, num_threads = 1))]
    #[allow(clippy::too_many_arguments)] // Python's arguments.
    fn dynamic_batch(
        &self,
        py: Python<'_>,
        buffer_size: i64,
        key: &str,
        min_data_size: i64,
        max_data_size: i64,
        pad: Option<&Bound<'_, PyDict>>,
        dim: Option<&Bound<'_, PyDict>>,
        shuffle: bool,
        drop_outliers: bool,
        max_skipped_samples: i64,
        num_threads: i64,
    ) -> PyResult<PyStream> {
        let options = dynamic_options(key, min_data_size, max_data_size, pad, dim, drop_outliers)?;
        let size = positive("dynamic_batch", "buffer_size", buffer_size)?;
        let most_kept = count("dynamic_batch", "max_skipped_samples", max_skipped_samples)? as usize;
        let above = self.gathering("dynamic_batch", size, num_threads)?;
        let batches = above.dynamic_batch(size, options, shuffle.then(Key::next), most_kept);
        batches.map(|stream| self.derive(stream)).or_raise(py)
    }

    /// Gather samples into a buffer, apply a function to it, and read the result.
    ///
    /// Parameters
    /// ----------
    /// buffer_size : int
    ///     How many samples are gathered.
    /// on_refill : callable, optional
    ///     Takes a Buffer and returns one, for example sorted by length. Default: none.
    /// num_threads : int, optional
    ///     Threads that gather. Default: 1, which adds none; below `prefetch` its threads gather.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `buffer_size` or `num_threads` are below one.
    ///
    /// Examples
    /// --------
    /// >>> [int(s["x"]) for s in stream.buffered(3, lambda b: b.perm([2, 0]) if len(b) > 2 else b)]
    /// [2, 0, 3, 4]
    #[pyo3(signature = (buffer_size, on_refill = None, num_threads = 1))]
    fn buffered(
        &self,
        buffer_size: i64,
        on_refill: Option<&Bound<'_, PyAny>>,
        num_threads: i64,
    ) -> PyResult<PyStream> {
        let size = positive("buffered", "buffer_size", buffer_size)?;
        let function = on_refill.map(|function| callable("buffered", "on_refill", function)).transpose()?;
        let above = self.gathering("buffered", size, num_threads)?;
        Ok(self.derive(above.buffered(size, function.map(refill))))
    }

    /// Windows that slide over an axis of a value, a sample each.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key.
    /// size : int
    ///     Elements of a window. The last windows may be shorter.
    /// stride : int
    ///     Elements between the starts of windows.
    /// dim : int, optional
    ///     The axis. Default: the last.
    /// index_key : str, optional
    ///     Where the number of the window goes. Default: nowhere.
    ///
    /// Returns
    /// -------
    /// Stream
    ///     Windows share the memory of the value; other values are those of the whole sample.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `size` or `stride` are below one; when a sample is read, if it lacks the key or the axis.
    ///
    /// Examples
    /// --------
    /// >>> text = dx.buffer_from_vector([{"x": np.arange(5)}]).to_stream()
    /// >>> [s["x"].tolist() for s in text.sliding_window("x", 3, 2)]
    /// [[0, 1, 2], [2, 3, 4]]
    #[pyo3(signature = (key, size, stride, dim = -1, index_key = ""))]
    fn sliding_window(
        &self,
        py: Python<'_>,
        key: &str,
        size: i64,
        stride: i64,
        dim: i64,
        index_key: &str,
    ) -> PyResult<PyStream> {
        let size = positive("sliding_window", "size", size)?;
        let stride = positive("sliding_window", "stride", stride)?;
        let window = SlidingWindow::new(Name::new(key), size, stride, dim, output(index_key)).or_raise(py)?;
        Ok(self.derive(self.stream.sliding_window(window)))
    }

    /// Every `num_partitions`-th sample, from `partition` on.
    ///
    /// Parameters
    /// ----------
    /// num_partitions : int
    ///     Number of parts.
    /// partition : int
    ///     Which part, from 0.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If there is no such part.
    ///
    /// See Also
    /// --------
    /// by_rank
    ///
    /// Examples
    /// --------
    /// >>> [int(s["x"]) for s in stream.partition(2, 1)]
    /// [1, 3]
    fn partition(&self, py: Python<'_>, num_partitions: i64, partition: i64) -> PyResult<PyStream> {
        let (count, part) = part_of(num_partitions, partition)?;
        self.stream.partition(count, part).map(|stream| self.derive(stream)).or_raise(py)
    }

    /// `partition`, if `cond` is true.
    fn partition_if(
        &self,
        py: Python<'_>,
        cond: bool,
        num_partitions: i64,
        partition: i64,
    ) -> PyResult<PyStream> {
        if cond { self.partition(py, num_partitions, partition) } else { Ok(self.unchanged()) }
    }

    /// The samples of one process of a group: sample i belongs to rank ``i % size``.
    ///
    /// Parameters
    /// ----------
    /// group : object, optional
    ///     Has methods `rank` and `size`. Default: a single process.
    /// even : {"drop"}, optional
    ///     Give all ranks the same number of samples: leave out the last ones that do not divide evenly. Default: the first ranks
    ///     may have one more.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If the group lacks the methods.
    /// ValueError
    ///     If `even` is another text, or "pad", which a `Buffer` can do.
    ///
    /// See Also
    /// --------
    /// Buffer.by_rank, partition
    ///
    /// Examples
    /// --------
    /// >>> len(stream.by_rank())
    /// 5
    #[pyo3(signature = (group = None, *, even = None))]
    fn by_rank(&self, group: Option<&Bound<'_, PyAny>>, even: Option<&str>) -> PyResult<PyStream> {
        let even = Even::of(even)?;
        if even == Even::Pad {
            return Err(PyValueError::new_err(
                "[by_rank] a stream cannot be padded with samples from its start; use even='drop', or Buffer.by_rank",
            ));
        }
        let (rank, size) = rank_and_size(group)?;
        Ok(self.derive(self.stream.by_rank(size, rank, even == Even::Drop)))
    }

    /// Make samples ahead, on threads.
    ///
    /// Parameters
    /// ----------
    /// prefetch_size : int, optional
    ///     How many samples are made ahead. Default: two a thread.
    /// num_threads : int, optional
    ///     Number of threads. Default: as many as cores.
    /// ordered : bool, optional
    ///     Deliver the samples in order: the same sequence for every number of threads. False delivers them as they get ready.
    ///     Default: True.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a number is below one.
    ///
    /// Notes
    /// -----
    /// All stages above run on these threads, up to the next prefetch. They start when the first sample is read, and stop with
    /// `close`, `reset`, the last use of the stream, or the program.
    ///
    /// Examples
    /// --------
    /// >>> [int(s["x"]) for s in stream.prefetch(4, 2)]
    /// [0, 1, 2, 3, 4]
    #[pyo3(signature = (prefetch_size = None, num_threads = None, *, ordered = true))]
    pub(super) fn prefetch(
        &self,
        prefetch_size: Option<i64>,
        num_threads: Option<i64>,
        ordered: bool,
    ) -> PyResult<PyStream> {
        let size = prefetch_size.map(|size| positive("prefetch", "prefetch_size", size)).transpose()?;
        let threads = num_threads.map(|threads| positive("prefetch", "num_threads", threads)).transpose()?;
        Ok(self.derive(self.stream.prefetch(size, threads, ordered)))
    }

    /// `prefetch`, if `cond` is true.
    #[pyo3(signature = (cond, prefetch_size = None, num_threads = None, *, ordered = true))]
    fn prefetch_if(
        &self,
        cond: bool,
        prefetch_size: Option<i64>,
        num_threads: Option<i64>,
        ordered: bool,
    ) -> PyResult<PyStream> {
        if cond { self.prefetch(prefetch_size, num_threads, ordered) } else { Ok(self.unchanged()) }
    }

    /// Read several passes as one.
    ///
    /// Parameters
    /// ----------
    /// num_time : int
    ///     How often the stream is reset at its end: there are ``num_time + 1`` passes. Below one, for ever.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Examples
    /// --------
    /// >>> len(stream.repeat(2))
    /// 15
    fn repeat(&self, num_time: i64) -> PyStream {
        self.derive(self.stream.repeat(super::buffer::limit(num_time)))
    }

    /// Shuffle within a buffer.
    ///
    /// Parameters
    /// ----------
    /// buffer_size : int
    ///     Of how many samples one is chosen at random each time.
    /// seed : int, optional
    ///     Seed of the order. Default: the next one of the process, see `umber.data.core.set_state`.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `buffer_size` is below one.
    ///
    /// See Also
    /// --------
    /// Buffer.shuffle, Buffer.to_stream
    ///
    /// Notes
    /// -----
    /// Directly below the source it shuffles what is to be made, not what is made: a buffer of 10,000 images holds no image.
    ///
    /// Examples
    /// --------
    /// >>> sorted(int(s["x"]) for s in stream.shuffle(3, seed=1))
    /// [0, 1, 2, 3, 4]
    #[pyo3(signature = (buffer_size, *, seed = None))]
    fn shuffle(&self, buffer_size: i64, seed: Option<u64>) -> PyResult<PyStream> {
        let size = positive("shuffle", "buffer_size", buffer_size)?;
        Ok(self.derive(self.stream.shuffle(size, seed)))
    }

    /// `shuffle`, if `cond` is true.
    #[pyo3(signature = (cond, buffer_size, *, seed = None))]
    fn shuffle_if(&self, cond: bool, buffer_size: i64, seed: Option<u64>) -> PyResult<PyStream> {
        if cond { self.shuffle(buffer_size, seed) } else { Ok(self.unchanged()) }
    }

    /// The first samples of a pass.
    ///
    /// Parameters
    /// ----------
    /// n : int
    ///     How many.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Examples
    /// --------
    /// >>> len(stream.repeat(0).take(7))
    /// 7
    fn take(&self, n: i64) -> PyResult<PyStream> {
        Ok(self.derive(self.stream.take(count("take", "n", n)?)))
    }

    /// All but the first samples of a pass.
    ///
    /// Parameters
    /// ----------
    /// n : int
    ///     How many are left out.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Examples
    /// --------
    /// >>> [int(s["x"]) for s in stream.skip(3)]
    /// [3, 4]
    fn skip(&self, n: i64) -> PyResult<PyStream> {
        Ok(self.derive(self.stream.skip(count("skip", "n", n)?)))
    }

    /// Number the samples.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     Where the number goes, as int64.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Examples
    /// --------
    /// >>> [int(s["i"]) for s in stream.skip(3).enumerate("i")]
    /// [0, 1]
    fn enumerate(&self, key: &str) -> PyStream {
        self.derive(self.stream.enumerate(Name::new(key)))
    }

    /// Keep the samples for which a function returns true.
    ///
    /// Parameters
    /// ----------
    /// func : callable
    ///     Takes a dict of NumPy arrays, returns a bool.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// See Also
    /// --------
    /// sample_transform
    ///
    /// Examples
    /// --------
    /// >>> [int(s["x"]) for s in stream.filter(lambda s: s["x"] % 2 == 1)]
    /// [1, 3]
    fn filter(&self, func: &Bound<'_, PyAny>) -> PyResult<PyStream> {
        Ok(self.apply(Arc::new(SampleTransform::new("filter", func, Kind::Predicate)?)))
    }

    /// Keep the samples of the first pass in memory, for the following ones.
    ///
    /// Returns
    /// -------
    /// Stream
    ///     Stages above draw no new random numbers after the first pass.
    ///
    /// Examples
    /// --------
    /// >>> len(list(stream.cache().repeat(1)))
    /// 10
    fn cache(&self) -> PyStream {
        self.derive(self.stream.cache())
    }

    /// Read all samples of the pass into a buffer.
    ///
    /// Returns
    /// -------
    /// Buffer
    ///
    /// Examples
    /// --------
    /// >>> len(stream.to_buffer())
    /// 5
    fn to_buffer(&self, py: Python<'_>) -> PyResult<PyBuffer> {
        let samples = detached(py, || self.stream.iter().collect::<umber_data::Result<Vec<_>>>());
        samples.map(|samples| PyBuffer(Buffer::from_samples(samples))).or_raise(py)
    }

    /// Deliver arrays of umber instead of NumPy's, without a copy.
    ///
    /// Parameters
    /// ----------
    /// keys : list of str, optional
    ///     Which values. Default: all.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Examples
    /// --------
    /// >>> stream.batch(5).arrays().next()["x"]
    /// array([0, 1, 2, 3, 4], dtype=int64)
    #[pyo3(signature = (keys = None))]
    fn arrays(&self, keys: Option<&Bound<'_, PyAny>>) -> PyResult<PyStream> {
        let arrays = match keys {
            None => Arrays::All,
            Some(keys) if keys.is_instance_of::<PyString>() => Arrays::Keys([keys.extract()?].into()),
            Some(keys) => {
                let keys = keys.extract::<Vec<String>>().map_err(|_| {
                    PyTypeError::new_err(format!("[arrays] keys: got {keys}, expected a list of str"))
                });
                Arrays::Keys(keys?.into())
            }
        };
        Ok(self.handle(arrays))
    }

    /// Say what becomes of samples that fail in the stages above.
    ///
    /// Parameters
    /// ----------
    /// policy : {"raise", "skip"} or callable
    ///     "skip" leaves the sample out and counts it in `report`. A function takes the exception and returns a substitute, or
    ///     None to leave the sample out, or raises.
    /// limit : int, optional
    ///     More failures than this are raised. Default: none.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `policy` is another text.
    ///
    /// See Also
    /// --------
    /// report
    ///
    /// Examples
    /// --------
    /// >>> inverse = stream.key_transform("x", lambda x: 6 // int(x)).on_error("skip")
    /// >>> [int(s["x"]) for s in inverse], inverse.report()["skipped"]
    /// ([6, 3, 2, 1], 1)
    #[pyo3(signature = (policy, *, limit = None))]
    fn on_error(&self, policy: &Bound<'_, PyAny>, limit: Option<i64>) -> PyResult<PyStream> {
        let limit = limit.map(|limit| count("on_error", "limit", limit)).transpose()?;
        let policy = match policy.extract::<String>().as_deref() {
            Ok("raise") => Policy::Raise,
            Ok("skip") => Policy::Skip,
            Ok(other) => {
                return Err(PyValueError::new_err(format!(
                    "[on_error] policy: got '{other}', expected 'raise', 'skip' or a function"
                )));
            }
            Err(_) => {
                let function = callable("on_error", "policy", policy)?.clone().unbind();
                Policy::Call(Arc::new(ErrorHandler(function)))
            }
        };
        Ok(self.derive(self.stream.on_error(policy, limit)))
    }

    /// What the pipeline has done so far.
    ///
    /// Returns
    /// -------
    /// dict
    ///     ``delivered``, samples read of this stream in this pass; ``skipped``, samples left out by `on_error`; ``errors``, the
    ///     first 100 of them with ``stage``, ``index``, ``key``, ``path`` and ``message``; ``stages``, operations and threads with
    ///     ``name``, ``calls``, ``seconds`` of all threads together, and ``waits``, the seconds that the reader waited.
    ///
    /// Examples
    /// --------
    /// >>> sorted(stream.report())
    /// ['delivered', 'errors', 'skipped', 'stages']
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = detached(py, || self.stream.check().map(|()| self.stream.report())).or_raise(py)?;
        let errors = report.errors.iter().map(|error| {
            let row = PyDict::new(py);
            row.set_item("stage", error.stage())?;
            row.set_item("index", error.index())?;
            row.set_item("key", error.key())?;
            row.set_item("path", error.path().map(|path| path.to_string_lossy()))?;
            row.set_item("message", error.to_string())?;
            Ok(row)
        });
        let errors: PyResult<Vec<_>> = errors.collect();
        let stages = report.stages.iter().map(|stage| {
            let row = PyDict::new(py);
            row.set_item("name", &stage.name)?;
            row.set_item("calls", stage.calls)?;
            row.set_item("seconds", stage.time.as_secs_f64())?;
            row.set_item("waits", stage.waits.as_secs_f64())?;
            Ok(row)
        });
        let stages: PyResult<Vec<_>> = stages.collect();
        let dict = PyDict::new(py);
        dict.set_item("delivered", self.delivered.load(Ordering::Relaxed))?;
        dict.set_item("skipped", report.skipped)?;
        dict.set_item("errors", errors?)?;
        dict.set_item("stages", stages?)?;
        Ok(dict)
    }

    /// The position of the stream, to go on from later or in another process.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Of numbers, texts and lists, as JSON can hold. It is that behind the last sample read.
    ///
    /// See Also
    /// --------
    /// load_state_dict
    ///
    /// Examples
    /// --------
    /// >>> rows = dx.buffer_from_vector([{"x": n} for n in range(6)]).to_stream(shuffle=True, seed=3)
    /// >>> first = rows.next(), rows.next()
    /// >>> state = rows.state_dict()
    /// >>> rest = [int(s["x"]) for s in rows]
    /// >>> rows.load_state_dict(state)
    /// >>> rest == [int(s["x"]) for s in rows]
    /// True
    fn state_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let saved = detached(py, || self.stream.check().map(|()| self.stream.state())).or_raise(py)?;
        state::dict_of(py, &saved, self.delivered.load(Ordering::Relaxed))
    }

    /// Go on where `state_dict` was called, of this stream or of an equal one.
    ///
    /// Parameters
    /// ----------
    /// state : dict
    ///     The state.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If it is the state of another pipeline; the message names the first stage that differs.
    ///
    /// See Also
    /// --------
    /// state_dict
    ///
    /// Notes
    /// -----
    /// Another number of threads is the same pipeline. Functions are compared by their names.
    ///
    /// Examples
    /// --------
    /// >>> stream.load_state_dict(stream.state_dict())
    fn load_state_dict(&self, py: Python<'_>, state: &Bound<'_, PyDict>) -> PyResult<()> {
        let (saved, delivered) = state::saved_of(state)?;
        detached(py, || self.stream.load_state(&saved)).or_raise(py)?;
        self.delivered.store(delivered, Ordering::Relaxed);
        Ok(())
    }

    /// Apply a function to every sample.
    ///
    /// Parameters
    /// ----------
    /// func : callable
    ///     Takes a dict of NumPy arrays, which are private to the sample, and returns a dict; an empty one leaves the sample out.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// See Also
    /// --------
    /// key_transform, filter
    ///
    /// Examples
    /// --------
    /// >>> stream.sample_transform(lambda s: {"y": s["x"] + 1}).next()
    /// {'y': array(1)}
    fn sample_transform(&self, func: &Bound<'_, PyAny>) -> PyResult<PyStream> {
        Ok(self.apply(Arc::new(SampleTransform::new("sample_transform", func, Kind::SampleOrNone)?)))
    }

    /// `sample_transform`, if `cond` is true.
    fn sample_transform_if(&self, cond: bool, func: &Bound<'_, PyAny>) -> PyResult<PyStream> {
        if cond { self.sample_transform(func) } else { Ok(self.unchanged()) }
    }
}

impl PyStream {
    /// The stream above a stage that gathers, on threads of its own if there are several.
    fn gathering(&self, op: &str, size: usize, num_threads: i64) -> PyResult<Stream> {
        match positive(op, "num_threads", num_threads)? {
            1 => Ok(self.stream.clone()),
            threads => Ok(self.stream.prefetch(Some(size.min(4 * threads)), Some(threads), true)),
        }
    }
}
