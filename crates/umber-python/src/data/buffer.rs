//! `Buffer`: samples with random access.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PySlice, PyString};
use umber_data::stage::{Axes, BatchOptions, DynamicBatchOptions, Padding};
use umber_data::{Buffer, Name, Operation};

use super::by_rank::{Even, rank_and_size};
use super::callable::{Kind, SampleTransform, named_numbers};
use super::ending::detached;
use super::errors::OrRaiseData;
use super::samples::{Views, dict_of};
use super::stream::PyStream;
use crate::args::Ints;

/// Samples of known length, with random access, made when they are read.
///
/// A sample is a dict of arrays. `buffer_from_vector`, `buffer_from_arrays`, `buffer_from_arrow` and `files_from_tar` make buffers.
/// Operations return new buffers; nothing is computed before a sample is read.
///
/// Examples
/// --------
/// >>> import umber.data as dx
/// >>> buffer = dx.buffer_from_vector([{"x": 1}, {"x": 2}, {"x": 3}])
/// >>> len(buffer), int(buffer[-1]["x"])
/// (3, 3)
/// >>> buffer.batch(2)[0]["x"]
/// array([1, 2])
#[pyclass(name = "Buffer", module = "umber.data", frozen)]
#[derive(Clone)]
pub(super) struct PyBuffer(pub(super) Buffer);

/// Sizes of batches: a number or a sequence.
pub(super) fn sizes(op: &str, sizes: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let numbers = sizes.extract::<Ints>().map_err(|error| {
        if error.is_instance_of::<PyTypeError>(sizes.py()) {
            PyTypeError::new_err(format!("[{op}] batch_size: got {sizes}, expected int or a list of int"))
        } else if error.is_instance_of::<PyOverflowError>(sizes.py()) {
            PyValueError::new_err(format!("[{op}] batch_size: {sizes} is out of range"))
        } else {
            error
        }
    })?;
    let check = |&size: &i64| {
        usize::try_from(size).ok().filter(|&size| size > 0).ok_or_else(|| {
            PyValueError::new_err(format!("[{op}] batch_size: got {size}, expected at least 1"))
        })
    };
    numbers.as_slice().iter().map(check).collect()
}

/// A limit that mlx-data gives as a number, below one for none.
pub(super) fn limit(number: i64) -> Option<u64> {
    u64::try_from(number).ok().filter(|&number| number > 0)
}

/// An output key: empty to overwrite.
pub(super) fn output(key: &str) -> Option<Name> {
    (!key.is_empty()).then(|| Name::new(key))
}

/// The options of a dynamic batch.
pub(super) fn dynamic_options(
    key: &str,
    min_data_size: i64,
    max_data_size: i64,
    pad: Option<&Bound<'_, PyDict>>,
    dim: Option<&Bound<'_, PyDict>>,
    drop_outliers: bool,
) -> PyResult<DynamicBatchOptions> {
    Ok(DynamicBatchOptions {
        key: Name::new(key),
        min_size: limit(min_data_size),
        max_size: limit(max_data_size),
        drops_outliers: drop_outliers,
        padding: Padding(named_numbers(pad)?),
        axes: Axes(named_numbers(dim)?),
    })
}

impl PyBuffer {
    pub(super) fn apply(&self, operation: Arc<dyn Operation>) -> PyBuffer {
        PyBuffer(self.0.apply_shared(operation))
    }

    pub(super) fn unchanged(&self) -> PyBuffer {
        self.clone()
    }

    /// An index from the start, unless it is out of bounds. `None` if the object is no integer.
    fn index(&self, object: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        if object.is_instance_of::<PyBool>() {
            return Ok(None);
        }
        let Ok(number) = object.call_method0("__index__") else { return Ok(None) };
        let len = self.0.len();
        // An integer of more than 64 bits is out of bounds of every buffer.
        let index = number.extract::<i64>().ok();
        let from_start =
            index.and_then(|index| if index < 0 { index.checked_add_unsigned(len) } else { Some(index) });
        let index = from_start.and_then(|index| u64::try_from(index).ok()).filter(|&index| index < len);
        index.map(Some).ok_or_else(|| {
            PyIndexError::new_err(format!(
                "[Buffer] index {number} is out of bounds for a buffer of {len} samples"
            ))
        })
    }
}

#[pymethods]
impl PyBuffer {
    fn __len__(&self) -> usize {
        self.0.len() as usize
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = index.cast::<PySlice>() {
            let slice = slice.indices(self.0.len() as isize)?;
            let indices = (0..slice.slicelength as isize)
                .map(|number| (slice.start + number * slice.step) as u64)
                .collect();
            let selected = self.0.select(indices, "slice").or_raise(py)?;
            return Ok(PyBuffer(selected).into_pyobject(py)?.into_any());
        }
        if let Some(index) = self.index(index)? {
            let sample = detached(py, || self.0.get(index)).or_raise(py)?;
            return Ok(dict_of(py, sample, Views::AsTheyAre, |_| false)?.into_any());
        }
        if index.is_instance_of::<PyString>() || index.try_iter().is_err() {
            return Err(PyTypeError::new_err(format!(
                "[Buffer] an index is an int, a slice or a sequence of int, got {}",
                index.get_type().name()?
            )));
        }
        Ok(self.perm(py, index)?.into_pyobject(py)?.into_any())
    }

    fn __iter__(&self) -> PyBufferIterator {
        PyBufferIterator { buffer: self.0.clone(), next: 0.into() }
    }

    /// Number of samples.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> dx.buffer_from_vector([{"x": 1}]).size()
    /// 1
    fn size(&self) -> u64 {
        self.0.len()
    }

    /// The samples of this buffer, then those of another.
    ///
    /// Parameters
    /// ----------
    /// buffer : Buffer
    ///     The other one.
    ///
    /// Returns
    /// -------
    /// Buffer
    ///
    /// See Also
    /// --------
    /// chain : the same for streams
    ///
    /// Examples
    /// --------
    /// >>> len(buffer.append(buffer))
    /// 6
    fn append(&self, buffer: &Bound<'_, PyBuffer>) -> PyBuffer {
        PyBuffer(self.0.append(&buffer.get().0))
    }

    /// Merge samples that follow each other into batches.
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
    /// Buffer
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
    /// dynamic_batch : batches of about the same number of elements
    ///
    /// Notes
    /// -----
    /// A batch is one new array a key, which nothing else sees: `umber.core.asarray` of it copies nothing.
    ///
    /// Examples
    /// --------
    /// >>> rows = dx.buffer_from_vector([{"x": [1]}, {"x": [2, 3]}])
    /// >>> rows.batch(2, pad={"x": -1})[0]["x"]
    /// array([[ 1, -1],
    ///        [ 2,  3]])
    /// >>> rows.batch(2, dim={"x": 0})[0]["x"]
    /// array([1, 2, 3])
    #[pyo3(signature = (batch_size, pad = None, dim = None))]
    fn batch(
        &self,
        py: Python<'_>,
        batch_size: &Bound<'_, PyAny>,
        pad: Option<&Bound<'_, PyDict>>,
        dim: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyBuffer> {
        let options = BatchOptions {
            sizes: sizes("batch", batch_size)?,
            padding: Padding(named_numbers(pad)?),
            axes: Axes(named_numbers(dim)?),
        };
        self.0.batch(options).map(PyBuffer).or_raise(py)
    }

    /// Merge samples of similar size into batches of about the same number of elements.
    ///
    /// Little of such batches is padding.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key whose values are measured.
    /// size_buffer : Buffer, optional
    ///     A sample for each of this buffer, whose value of `key` is the shape. Default: the samples are made to measure them.
    /// min_data_size : int, optional
    ///     Least number of elements of a batch, with padding; samples without others to reach it are left out. Default: none.
    /// max_data_size : int, optional
    ///     Largest number of elements of a batch, with padding. Default: none, so that all samples are one batch.
    /// pad, dim : dict, optional
    ///     As for `batch`.
    /// drop_outliers : bool, optional
    ///     Leave out samples larger than `max_data_size`. Default: False, they are batches of their own.
    ///
    /// Returns
    /// -------
    /// Buffer
    ///     Smaller samples first.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `min_data_size` exceeds `max_data_size`, the lengths of the buffers differ, or a sample lacks the key.
    ///
    /// See Also
    /// --------
    /// batch
    ///
    /// Examples
    /// --------
    /// >>> rows = dx.buffer_from_vector([{"x": np.ones(n)} for n in (5, 1, 4, 1, 2)])
    /// >>> [b["x"].shape for b in rows.dynamic_batch("x", max_data_size=6)]
    /// [(3, 2), (1, 4), (1, 5)]
    #[pyo3(signature = (key, *, size_buffer = None, min_data_size = -1, max_data_size = -1, pad = None, dim = None, drop_outliers = false))]
    #[allow(clippy::too_many_arguments)] // Python's arguments.
    fn dynamic_batch(
        &self,
        py: Python<'_>,
        key: &str,
        size_buffer: Option<&Bound<'_, PyBuffer>>,
        min_data_size: i64,
        max_data_size: i64,
        pad: Option<&Bound<'_, PyDict>>,
        dim: Option<&Bound<'_, PyDict>>,
        drop_outliers: bool,
    ) -> PyResult<PyBuffer> {
        let options = dynamic_options(key, min_data_size, max_data_size, pad, dim, drop_outliers)?;
        let sizes = size_buffer.map(|buffer| buffer.get().0.clone());
        detached(py, || self.0.dynamic_batch(&options, sizes.as_ref())).map(PyBuffer).or_raise(py)
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
    /// Buffer
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
    /// >>> [int(s["x"]) for s in buffer.partition(2, 0)]
    /// [1, 3]
    fn partition(&self, py: Python<'_>, num_partitions: i64, partition: i64) -> PyResult<PyBuffer> {
        let (count, part) = part_of(num_partitions, partition)?;
        self.0.partition(count, part).map(PyBuffer).or_raise(py)
    }

    /// `partition`, if `cond` is true.
    fn partition_if(
        &self,
        py: Python<'_>,
        cond: bool,
        num_partitions: i64,
        partition: i64,
    ) -> PyResult<PyBuffer> {
        if cond { self.partition(py, num_partitions, partition) } else { Ok(self.clone()) }
    }

    /// The samples at these indices, in this order.
    ///
    /// Parameters
    /// ----------
    /// perm : sequence of int
    ///     Indices; negative ones count from the end. They may repeat.
    ///
    /// Returns
    /// -------
    /// Buffer
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If an index is out of bounds.
    ///
    /// Examples
    /// --------
    /// >>> [int(s["x"]) for s in buffer.perm([2, 0])]
    /// [3, 1]
    fn perm(&self, py: Python<'_>, perm: &Bound<'_, PyAny>) -> PyResult<PyBuffer> {
        let refuse = |object: &Bound<'_, PyAny>| {
            PyTypeError::new_err(format!("[perm] perm: got {object}, expected a sequence of int"))
        };
        let indices = perm.try_iter().map_err(|_| refuse(perm))?.map(|index| {
            let index = index?;
            self.index(&index)?.ok_or_else(|| refuse(&index))
        });
        let indices: PyResult<Vec<u64>> = indices.collect();
        self.0.select(indices?, "perm").map(PyBuffer).or_raise(py)
    }

    /// A random order, the same in every pass.
    ///
    /// Parameters
    /// ----------
    /// seed : int, optional
    ///     Seed of the order. Default: the next one of the process, see `umber.data.core.set_state`.
    ///
    /// Returns
    /// -------
    /// Buffer
    ///
    /// See Also
    /// --------
    /// to_stream : with ``shuffle=True``, a new order every pass
    ///
    /// Examples
    /// --------
    /// >>> sorted(int(s["x"]) for s in buffer.shuffle(seed=1))
    /// [1, 2, 3]
    #[pyo3(signature = (*, seed = None))]
    fn shuffle(&self, seed: Option<u64>) -> PyBuffer {
        PyBuffer(self.0.shuffle(seed))
    }

    /// `shuffle`, if `cond` is true.
    #[pyo3(signature = (cond, *, seed = None))]
    fn shuffle_if(&self, cond: bool, seed: Option<u64>) -> PyBuffer {
        if cond { self.shuffle(seed) } else { self.clone() }
    }

    /// Make all samples now, once.
    ///
    /// Returns
    /// -------
    /// Buffer
    ///     Of the samples in memory.
    ///
    /// Examples
    /// --------
    /// >>> len(buffer.concretize())
    /// 3
    fn concretize(&self, py: Python<'_>) -> PyResult<PyBuffer> {
        detached(py, || self.0.concretize()).map(PyBuffer).or_raise(py)
    }

    /// Read the samples in order, or in a new random order every pass.
    ///
    /// Parameters
    /// ----------
    /// shuffle : bool, optional
    ///     A new random order every pass, which takes no memory. Default: False.
    /// seed : int, optional
    ///     Seed of the orders. Default: the next one of the process, see `umber.data.core.set_state`.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// Examples
    /// --------
    /// >>> stream = buffer.to_stream(shuffle=True, seed=7)
    /// >>> sorted(int(s["x"]) for s in stream)
    /// [1, 2, 3]
    #[pyo3(signature = (*, shuffle = false, seed = None))]
    fn to_stream(&self, shuffle: bool, seed: Option<u64>) -> PyStream {
        PyStream::new(if shuffle { self.0.to_shuffled_stream(seed) } else { self.0.to_stream() })
    }

    /// Read the samples in order, made ahead by threads.
    ///
    /// Parameters
    /// ----------
    /// prefetch_size : int
    ///     How many samples are made ahead.
    /// num_thread : int
    ///     Number of threads.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// See Also
    /// --------
    /// Stream.prefetch
    ///
    /// Examples
    /// --------
    /// >>> [int(s["x"]) for s in buffer.ordered_prefetch(2, 2)]
    /// [1, 2, 3]
    fn ordered_prefetch(&self, prefetch_size: i64, num_thread: i64) -> PyResult<PyStream> {
        PyStream::new(self.0.to_stream()).prefetch(Some(prefetch_size), Some(num_thread), true)
    }

    /// The samples of one process of a group: sample i belongs to rank ``i % size``.
    ///
    /// Parameters
    /// ----------
    /// group : object, optional
    ///     Has methods `rank` and `size`. Default: a single process.
    /// even : {"drop", "pad"}, optional
    ///     Give all ranks the same number of samples: leave out those that do not divide evenly, or fill up with samples from
    ///     the start. Default: the first ranks may have one more.
    ///
    /// Returns
    /// -------
    /// Buffer
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If the group lacks the methods.
    /// ValueError
    ///     If `even` is another text.
    ///
    /// See Also
    /// --------
    /// partition
    ///
    /// Examples
    /// --------
    /// >>> len(buffer.by_rank())
    /// 3
    #[pyo3(signature = (group = None, *, even = None))]
    fn by_rank(
        &self,
        py: Python<'_>,
        group: Option<&Bound<'_, PyAny>>,
        even: Option<&str>,
    ) -> PyResult<PyBuffer> {
        let even = Even::of(even)?;
        let (rank, size) = rank_and_size(group)?;
        let len = self.0.len();
        let end = match even {
            Even::No => len,
            Even::Drop => len / size * size,
            Even::Pad if len == 0 => 0,
            Even::Pad => len.div_ceil(size) * size,
        };
        let indices = (rank..end).step_by(size as usize).map(|index| index % len.max(1)).collect();
        self.0.select(indices, "by_rank").map(PyBuffer).or_raise(py)
    }

    /// Apply a function to every sample.
    ///
    /// Parameters
    /// ----------
    /// func : callable
    ///     Takes a dict of NumPy arrays, which are private to the sample, and returns a dict.
    ///
    /// Returns
    /// -------
    /// Buffer
    ///
    /// See Also
    /// --------
    /// key_transform
    ///
    /// Examples
    /// --------
    /// >>> buffer.sample_transform(lambda s: {"y": s["x"] + 1})[0]
    /// {'y': array(2)}
    fn sample_transform(&self, func: &Bound<'_, PyAny>) -> PyResult<PyBuffer> {
        Ok(self.apply(Arc::new(SampleTransform::new("sample_transform", func, Kind::Sample)?)))
    }

    /// `sample_transform`, if `cond` is true.
    fn sample_transform_if(&self, cond: bool, func: &Bound<'_, PyAny>) -> PyResult<PyBuffer> {
        if cond { self.sample_transform(func) } else { Ok(self.clone()) }
    }
}

/// Number and index of a part.
pub(super) fn part_of(num_partitions: i64, partition: i64) -> PyResult<(u64, u64)> {
    match (u64::try_from(num_partitions), u64::try_from(partition)) {
        (Ok(count), Ok(part)) if part < count => Ok((count, part)),
        _ => Err(PyValueError::new_err(format!(
            "[partition] partition {partition} of {num_partitions}: expected 0 <= partition < num_partitions"
        ))),
    }
}

/// Iterates over a buffer.
#[pyclass(name = "BufferIterator", module = "umber.data", frozen)]
pub(super) struct PyBufferIterator {
    buffer: Buffer,
    next: std::sync::atomic::AtomicU64,
}

#[pymethods]
impl PyBufferIterator {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let index = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if index >= self.buffer.len() {
            return Ok(None);
        }
        let sample = detached(py, || self.buffer.get(index)).or_raise(py)?;
        dict_of(py, sample, Views::AsTheyAre, |_| false).map(Some)
    }

    fn __length_hint__(&self) -> usize {
        let next = self.next.load(std::sync::atomic::Ordering::Relaxed);
        self.buffer.len().saturating_sub(next) as usize
    }
}
