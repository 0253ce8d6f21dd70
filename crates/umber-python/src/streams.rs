//! `Device`, `Stream` and what chooses between them.

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
    /// The kind that an object is; `None` of one that is no kind.
    pub(crate) fn find(object: &Bound<'_, PyAny>) -> PyResult<Option<PyDeviceType>> {
        let place = KINDS.place(object)?;
        Ok(place.map(|place| PyDeviceType(if place == 0 { DeviceType::Cpu } else { DeviceType::Gpu })))
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

/// A device to run on.
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

    /// The kind of device.
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

    /// That of the kind, which a device is equal to.
    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.r#type().into_pyobject(py)?.hash()
    }

    /// Helper for pickle.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let device = slf.get();
        let arguments = (device.r#type(), device.0.index);
        Ok((slf.get_type(), arguments).into_pyobject(slf.py())?.into_any())
    }
}

/// A queue of work on a device.
#[pyclass(name = "Stream", module = "umber.core", frozen)]
#[derive(Clone, Copy)]
pub(crate) struct PyStream(pub(crate) Stream);

#[pymethods]
impl PyStream {
    /// The device that the stream is on.
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

/// A stream that is another one on each thread.
#[pyclass(name = "ThreadLocalStream", module = "umber.core", frozen)]
#[derive(Clone, Copy)]
pub(crate) struct PyThreadLocalStream(pub(crate) ThreadLocalStream);

#[pymethods]
impl PyThreadLocalStream {
    /// The device that the stream is on.
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

/// Makes a stream or device the default inside a `with` block.
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

/// The device that this thread's operations run on.
#[pyfunction]
fn default_device() -> PyDevice {
    PyDevice(device::default_device())
}

/// Choose the device that this thread's operations run on.
#[pyfunction]
fn set_default_device(device: &Bound<'_, PyAny>) -> PyResult<()> {
    device::set_default_device(device_of(device)?).or_raise()
}

/// The stream that this thread's operations on a device go to.
#[pyfunction]
fn default_stream(device: &Bound<'_, PyAny>) -> PyResult<PyStream> {
    device::default_stream(device_of(device)?).or_raise().map(PyStream)
}

/// Choose the stream that this thread's operations go to.
#[pyfunction]
fn set_default_stream(stream: &Bound<'_, PyStream>) -> PyResult<()> {
    device::set_default_stream(stream.get().0).or_raise()
}

/// How many threads work on a kernel on the CPU, the calling one included.
#[pyfunction]
fn get_num_threads() -> usize {
    device::num_threads()
}

/// Let `n` threads (from 1 to 256) work on a kernel on the CPU, the calling one included; returns how many it were.
///
/// It holds for the whole process, from the next kernel on. The first number is `UMBER_NUM_THREADS` of the environment, or
/// the processors that affinity and control groups leave to the process.
#[pyfunction]
fn set_num_threads(n: i64) -> PyResult<usize> {
    device::set_num_threads(n).or_raise()
}

/// A new stream on a device, usable from every thread.
#[pyfunction]
fn new_stream(device: &Bound<'_, PyAny>) -> PyResult<PyStream> {
    device::new_stream(device_of(device)?).or_raise().map(PyStream)
}

/// A new stream on a device, usable from every thread: `new_stream` by another name.
#[pyfunction(name = "new_thread_unsafe_stream")]
fn new_shared_stream(device: &Bound<'_, PyAny>) -> PyResult<PyStream> {
    new_stream(device)
}

/// A stream on a device that is another one on each thread.
#[pyfunction]
fn new_thread_local_stream(device: &Bound<'_, PyAny>) -> PyResult<PyThreadLocalStream> {
    device::new_thread_local_stream(device_of(device)?).or_raise().map(PyThreadLocalStream)
}

/// Wait for this thread's stream and let go of this thread's streams; operations go to the default stream again.
///
/// Streams from `new_stream` go on working, since other threads may use them.
#[pyfunction]
fn clear_streams(py: Python<'_>) -> PyResult<()> {
    enter(py, || umber_core::synchronize(device::current_stream()))?;
    device::clear_streams();
    Ok(())
}

/// A context that makes a stream or device the default.
#[pyfunction]
fn stream(s: StreamArg) -> StreamContext {
    StreamContext { stream: s.0, before: None }
}

/// Is there such a device?
#[pyfunction]
fn is_available(device: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(device::is_available(device_of(device)?))
}

/// Number of devices of a kind.
#[pyfunction]
fn device_count(device_type: PyDeviceType) -> usize {
    device::device_count(device_type.0)
}

/// What is known of a device: its name and number of threads.
#[pyfunction]
#[pyo3(signature = (d = None))]
fn device_info<'py>(py: Python<'py>, d: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyDict>> {
    let wanted = d.map_or(Ok(device::default_device()), device_of)?;
    device::default_stream(wanted).or_raise()?;
    let backend = backend(wanted).expect("a device with a stream has a backend");
    let info = PyDict::new(py);
    info.set_item("device_name", backend.name())?;
    info.set_item("architecture", backend.name())?;
    info.set_item("memory_size", backend.allocator().total())?;
    Ok(info)
}

/// Wait until everything given to a stream has run.
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
