//! `Device`, `Stream` and the functions that select them.
//!
//! One subject: devices and streams; most lines are documentation of their functions.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use umber_core::backend::backend;
use umber_core::device::ThreadLocalStream;
use umber_core::{Device, DeviceType, Stream, device};

use crate::args::StreamArg;
use crate::enter::{OrRaise, enter, to_exception};
use crate::enumeration::Enumeration;

static KINDS: Enumeration = Enumeration::new(
    "DeviceType",
    "A kind of device: the host processor or an accelerator.",
    &["cpu", "gpu"],
);

/// A kind of device.
#[derive(Clone, Copy)]
pub(crate) struct PyDeviceType(pub(crate) DeviceType);

impl PyDeviceType {
    /// Convert an object to a kind of device; `None` for other objects.
    pub(crate) fn find(object: &Bound<'_, PyAny>) -> PyResult<Option<PyDeviceType>> {
        let index = KINDS.index_of(object)?;
        Ok(index.map(|index| PyDeviceType(if index == 0 { DeviceType::Cpu } else { DeviceType::Gpu })))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for PyDeviceType {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match PyDeviceType::find(&object)? {
            Some(kind) => Ok(kind),
            None => {
                Err(PyTypeError::new_err(format!("got {}, expected DeviceType", object.get_type().name()?)))
            }
        }
    }
}

impl<'py> IntoPyObject<'py> for PyDeviceType {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        KINDS.member(py, usize::from(self.0 == DeviceType::Gpu))
    }
}

/// Device that operations run on.
///
/// Parameters
/// ----------
/// type : DeviceType
///     Kind of device: ``mx.cpu`` or ``mx.gpu``.
/// index : int, optional
///     Number of the device of that kind. Default: 0.
///
/// Raises
/// ------
/// TypeError
///     If `type` is not a DeviceType.
/// OverflowError
///     If `index` is negative.
///
/// See Also
/// --------
/// default_device, is_available
///
/// Notes
/// -----
/// A device equals its kind, whatever its index. It need not be available.
///
/// Examples
/// --------
/// >>> mx.Device(mx.cpu)
/// Device(cpu, 0)
#[pyclass(name = "Device", module = "umber.core", frozen)]
#[derive(Clone, Copy)]
pub(crate) struct PyDevice(pub(crate) Device);

#[pymethods]
impl PyDevice {
    #[new]
    #[pyo3(signature = (r#type, index = 0))]
    fn new(r#type: PyDeviceType, index: i64) -> PyResult<PyDevice> {
        let index = u32::try_from(index).map_err(|_| {
            to_exception(umber_core::types::error!(
                Overflow("Device"),
                "index: got {index}, expected 0 to {}",
                u32::MAX
            ))
        })?;
        Ok(PyDevice(Device { kind: r#type.0, index }))
    }

    /// Kind of device.
    ///
    /// Returns
    /// -------
    /// DeviceType
    ///
    /// Examples
    /// --------
    /// >>> mx.Device(mx.cpu).type
    /// DeviceType.cpu
    #[getter]
    fn r#type(&self) -> PyDeviceType {
        PyDeviceType(self.0.kind)
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        if let Ok(other) = other.cast::<PyDevice>() {
            return Ok(other.get().0 == self.0);
        }
        Ok(PyDeviceType::find(other)?.is_some_and(|kind| kind.0 == self.0.kind))
    }

    /// Hash of the kind, since a device compares equal to its kind.
    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.r#type().into_pyobject(py)?.hash()
    }

    /// Return the state that pickle stores.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let device = slf.get();
        let arguments = (device.r#type(), device.0.index);
        Ok((slf.get_type(), arguments).into_pyobject(slf.py())?.into_any())
    }
}

/// Queue of operations on a device; made by `new_stream`.
///
/// See Also
/// --------
/// new_stream, default_stream, stream
///
/// Examples
/// --------
/// >>> mx.default_stream(mx.cpu).device
/// Device(cpu, 0)
#[pyclass(name = "Stream", module = "umber.core", frozen)]
#[derive(Clone, Copy)]
pub(crate) struct PyStream(pub(crate) Stream);

#[pymethods]
impl PyStream {
    /// Device that the stream belongs to.
    ///
    /// Returns
    /// -------
    /// Device
    ///
    /// Examples
    /// --------
    /// >>> mx.default_stream(mx.cpu).device
    /// Device(cpu, 0)
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device)
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyStream>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> u64 {
        u64::from(self.0.index)
    }
}

/// Stream that is a different one on each thread; made by `new_thread_local_stream`.
///
/// See Also
/// --------
/// new_thread_local_stream
///
/// Examples
/// --------
/// >>> mx.new_thread_local_stream(mx.cpu).device
/// Device(cpu, 0)
#[pyclass(name = "ThreadLocalStream", module = "umber.core", frozen)]
#[derive(Clone, Copy)]
pub(crate) struct PyThreadLocalStream(pub(crate) ThreadLocalStream);

#[pymethods]
impl PyThreadLocalStream {
    /// Device that the stream belongs to.
    ///
    /// Returns
    /// -------
    /// Device
    ///
    /// Examples
    /// --------
    /// >>> mx.new_thread_local_stream(mx.cpu).device
    /// Device(cpu, 0)
    #[getter]
    fn device(&self) -> PyDevice {
        PyDevice(self.0.device)
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyThreadLocalStream>().is_ok_and(|other| other.get().0 == self.0)
    }

    fn __hash__(&self) -> u64 {
        u64::from(self.0.index)
    }
}

/// A device argument: a `Device` or a `DeviceType`.
fn device_of(object: &Bound<'_, PyAny>) -> PyResult<Device> {
    if let Ok(device) = object.cast::<PyDevice>() {
        return Ok(device.get().0);
    }
    if let Some(kind) = PyDeviceType::find(object)? {
        return Ok(Device { kind: kind.0, index: 0 });
    }
    Err(PyTypeError::new_err(format!("got {}, expected a Device", object.get_type().name()?)))
}

/// Context manager that makes a stream or device the default for this thread.
///
/// Parameters
/// ----------
/// s : Stream, Device or DeviceType
///     Stream, or device whose default stream is used.
///
/// Raises
/// ------
/// TypeError
///     If `s` is none of these.
///
/// See Also
/// --------
/// stream
///
/// Examples
/// --------
/// >>> with mx.StreamContext(mx.cpu):
/// ...     mx.array(1) + 1
/// array(2, dtype=int32)
#[pyclass(name = "StreamContext", module = "umber.core")]
pub(crate) struct StreamContext {
    stream: Stream,
    before: Option<Stream>,
}

#[pymethods]
impl StreamContext {
    #[new]
    fn new(s: StreamArg) -> StreamContext {
        StreamContext { stream: s.0, before: None }
    }

    fn __enter__(&mut self) -> PyResult<()> {
        self.before = Some(device::current_stream());
        device::set_default_stream(self.stream).or_raise()
    }

    #[pyo3(signature = (*_args))]
    fn __exit__(&mut self, _args: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        self.before.take().map_or(Ok(()), |before| device::set_default_stream(before).or_raise())
    }
}

/// Return the device that this thread's operations run on by default.
///
/// Returns
/// -------
/// Device
///
/// See Also
/// --------
/// set_default_device, default_stream
///
/// Examples
/// --------
/// >>> mx.set_default_device(mx.cpu)
/// >>> mx.default_device()
/// Device(cpu, 0)
#[pyfunction]
fn default_device() -> PyDevice {
    PyDevice(device::default_device())
}

/// Set the device that this thread's operations run on by default.
///
/// Parameters
/// ----------
/// device : Device or DeviceType
///     An available device.
///
/// Raises
/// ------
/// TypeError
///     If `device` is not a device.
/// ValueError
///     If the device is not available.
///
/// See Also
/// --------
/// default_device, stream
///
/// Examples
/// --------
/// >>> mx.set_default_device(mx.cpu)
#[pyfunction]
fn set_default_device(device: &Bound<'_, PyAny>) -> PyResult<()> {
    device::set_default_device(device_of(device)?).or_raise()
}

/// Return the stream that this thread's operations on a device use by default.
///
/// Parameters
/// ----------
/// device : Device or DeviceType
///     An available device.
///
/// Returns
/// -------
/// Stream
///
/// Raises
/// ------
/// TypeError
///     If `device` is not a device.
/// ValueError
///     If the device is not available.
///
/// See Also
/// --------
/// set_default_stream, new_stream
///
/// Examples
/// --------
/// >>> mx.default_stream(mx.cpu).device
/// Device(cpu, 0)
#[pyfunction]
fn default_stream(device: &Bound<'_, PyAny>) -> PyResult<PyStream> {
    device::default_stream(device_of(device)?).or_raise().map(PyStream)
}

/// Set the stream that this thread's operations use by default.
///
/// Parameters
/// ----------
/// stream : Stream
///     Stream; its device becomes the default device.
///
/// Raises
/// ------
/// TypeError
///     If `stream` is not a Stream.
///
/// See Also
/// --------
/// default_stream, stream
///
/// Examples
/// --------
/// >>> before = mx.default_stream(mx.cpu)
/// >>> mx.set_default_stream(mx.new_stream(mx.cpu))
/// >>> mx.set_default_stream(before)
#[pyfunction]
fn set_default_stream(stream: &Bound<'_, PyStream>) -> PyResult<()> {
    device::set_default_stream(stream.get().0).or_raise()
}

/// Return the number of CPU threads that a kernel uses, including the calling one.
///
/// Returns
/// -------
/// int
///
/// See Also
/// --------
/// set_num_threads
///
/// Examples
/// --------
/// >>> mx.get_num_threads() >= 1
/// True
#[pyfunction]
fn get_num_threads() -> usize {
    device::num_threads()
}

/// Set the number of CPU threads that a kernel uses, and return the previous number.
///
/// Parameters
/// ----------
/// n : int
///     Number of threads from 1 to 256, including the calling one.
///
/// Returns
/// -------
/// int
///     Previous number.
///
/// Raises
/// ------
/// ValueError
///     If `n` is not in this range.
///
/// See Also
/// --------
/// get_num_threads
///
/// Notes
/// -----
/// Holds for the whole process, from the next kernel on. The initial number is the environment variable
/// ``UMBER_NUM_THREADS``, or the number of processors that affinity and control groups leave to the process.
///
/// Examples
/// --------
/// >>> before = mx.set_num_threads(1)
/// >>> mx.set_num_threads(before)
/// 1
#[pyfunction]
fn set_num_threads(n: i64) -> PyResult<usize> {
    device::set_num_threads(n).or_raise()
}

/// Create a stream on a device, usable from every thread.
///
/// Parameters
/// ----------
/// device : Device or DeviceType
///     An available device.
///
/// Returns
/// -------
/// Stream
///
/// Raises
/// ------
/// TypeError
///     If `device` is not a device.
/// ValueError
///     If the device is not available.
///
/// See Also
/// --------
/// new_thread_local_stream, stream, synchronize
///
/// Examples
/// --------
/// >>> s = mx.new_stream(mx.cpu)
/// >>> mx.add(1, 2, stream=s)
/// array(3, dtype=int32)
#[pyfunction]
fn new_stream(device: &Bound<'_, PyAny>) -> PyResult<PyStream> {
    device::new_stream(device_of(device)?).or_raise().map(PyStream)
}

/// Alias of `new_stream`.
///
/// Parameters
/// ----------
/// device : Device or DeviceType
///     An available device.
///
/// Returns
/// -------
/// Stream
///
/// Raises
/// ------
/// TypeError
///     If `device` is not a device.
/// ValueError
///     If the device is not available.
///
/// See Also
/// --------
/// new_stream
///
/// Examples
/// --------
/// >>> mx.new_thread_unsafe_stream(mx.cpu).device
/// Device(cpu, 0)
#[pyfunction(name = "new_thread_unsafe_stream")]
fn new_shared_stream(device: &Bound<'_, PyAny>) -> PyResult<PyStream> {
    new_stream(device)
}

/// Create a stream on a device that is a different one on each thread.
///
/// Parameters
/// ----------
/// device : Device or DeviceType
///     An available device.
///
/// Returns
/// -------
/// ThreadLocalStream
///
/// Raises
/// ------
/// TypeError
///     If `device` is not a device.
/// ValueError
///     If the device is not available.
///
/// See Also
/// --------
/// new_stream
///
/// Examples
/// --------
/// >>> mx.new_thread_local_stream(mx.cpu).device
/// Device(cpu, 0)
#[pyfunction]
fn new_thread_local_stream(device: &Bound<'_, PyAny>) -> PyResult<PyThreadLocalStream> {
    device::new_thread_local_stream(device_of(device)?).or_raise().map(PyThreadLocalStream)
}

/// Wait for this thread's current stream, and release this thread's streams.
///
/// See Also
/// --------
/// new_stream, synchronize
///
/// Notes
/// -----
/// Operations go to the default stream again. Streams from `new_stream` remain valid, since other threads may use them.
///
/// Examples
/// --------
/// >>> mx.clear_streams()
#[pyfunction]
fn clear_streams(py: Python<'_>) -> PyResult<()> {
    enter(py, || umber_core::synchronize(device::current_stream()))?;
    device::clear_streams();
    Ok(())
}

/// Return a context manager that makes a stream or device the default for this thread.
///
/// Parameters
/// ----------
/// s : Stream, Device or DeviceType
///     Stream, or device whose default stream is used.
///
/// Returns
/// -------
/// StreamContext
///
/// Raises
/// ------
/// TypeError
///     If `s` is none of these.
/// ValueError
///     If the device is not available.
///
/// See Also
/// --------
/// set_default_stream, new_stream
///
/// Examples
/// --------
/// >>> with mx.stream(mx.cpu):
/// ...     mx.array(1) + 1
/// array(2, dtype=int32)
#[pyfunction]
fn stream(s: StreamArg) -> StreamContext {
    StreamContext { stream: s.0, before: None }
}

/// Test whether a device is available.
///
/// Parameters
/// ----------
/// device : Device or DeviceType
///     Device to look for.
///
/// Returns
/// -------
/// bool
///
/// Raises
/// ------
/// TypeError
///     If `device` is not a device.
///
/// See Also
/// --------
/// device_count
///
/// Examples
/// --------
/// >>> mx.is_available(mx.cpu)
/// True
#[pyfunction]
fn is_available(device: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(device::is_available(device_of(device)?))
}

/// Return the number of available devices of a kind.
///
/// Parameters
/// ----------
/// device_type : DeviceType
///     Kind of device.
///
/// Returns
/// -------
/// int
///
/// Raises
/// ------
/// TypeError
///     If `device_type` is not a DeviceType.
///
/// See Also
/// --------
/// is_available
///
/// Examples
/// --------
/// >>> mx.device_count(mx.cpu)
/// 1
#[pyfunction]
fn device_count(device_type: PyDeviceType) -> usize {
    device::device_count(device_type.0)
}

/// Return information about a device.
///
/// Parameters
/// ----------
/// d : Device or DeviceType, optional
///     An available device. Default: the default device.
///
/// Returns
/// -------
/// dict
///     Values of "device_name", "architecture" and "memory_size" (in bytes).
///
/// Raises
/// ------
/// TypeError
///     If `d` is not a device.
/// ValueError
///     If the device is not available.
///
/// Examples
/// --------
/// >>> sorted(mx.device_info(mx.cpu))[0]
/// 'architecture'
#[pyfunction]
#[pyo3(signature = (d = None))]
fn device_info<'py>(py: Python<'py>, d: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyDict>> {
    let device = d.map_or(Ok(device::default_device()), device_of)?;
    device::default_stream(device).or_raise()?;
    let backend = backend(device).expect("a device with a stream has a backend");
    let info = PyDict::new(py);
    info.set_item("device_name", backend.name())?;
    info.set_item("architecture", backend.name())?;
    info.set_item("memory_size", backend.allocator().total())?;
    Ok(info)
}

/// Wait until all operations given to a stream have finished.
///
/// Parameters
/// ----------
/// stream : Stream, Device or DeviceType, optional
///     Stream, or device whose default stream is used. Default: this thread's current stream.
///
/// Raises
/// ------
/// TypeError
///     If `stream` is none of these.
/// ValueError
///     If the device is not available.
///
/// See Also
/// --------
/// eval, async_eval
///
/// Notes
/// -----
/// The first error of an operation since the last call is raised here, for example of arrays given to `async_eval`.
///
/// Examples
/// --------
/// >>> mx.synchronize()
#[pyfunction]
#[pyo3(signature = (stream = None))]
fn synchronize(py: Python<'_>, stream: Option<StreamArg>) -> PyResult<()> {
    let stream = stream.map_or(device::current_stream(), |stream| stream.0);
    enter(py, || umber_core::synchronize(stream))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    KINDS.register(module)?;
    module.add_class::<PyDevice>()?;
    module.add_class::<PyStream>()?;
    module.add_class::<PyThreadLocalStream>()?;
    module.add_class::<StreamContext>()?;
    for function in [
        wrap_pyfunction!(default_device, module)?,
        wrap_pyfunction!(set_default_device, module)?,
        wrap_pyfunction!(default_stream, module)?,
        wrap_pyfunction!(set_default_stream, module)?,
        wrap_pyfunction!(get_num_threads, module)?,
        wrap_pyfunction!(set_num_threads, module)?,
        wrap_pyfunction!(new_stream, module)?,
        wrap_pyfunction!(new_shared_stream, module)?,
        wrap_pyfunction!(new_thread_local_stream, module)?,
        wrap_pyfunction!(clear_streams, module)?,
        wrap_pyfunction!(stream, module)?,
        wrap_pyfunction!(is_available, module)?,
        wrap_pyfunction!(device_count, module)?,
        wrap_pyfunction!(device_info, module)?,
        wrap_pyfunction!(synchronize, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
