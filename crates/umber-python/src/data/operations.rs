//! The operations on samples: an entry each, from which the methods of both classes and their conditional twins follow.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::{PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyString};
use umber_data::decode::ImageOptions;
use umber_data::image::Layout;
use umber_data::ops::{
    self, AudioContent, AudioInfo, FileInput, ImageContent, Keys, Selection, TarInput, TokenizeMode,
};
use umber_data::sound::Quality;
use umber_data::{DataError, Name, Operation};

use super::buffer::{PyBuffer, output};
use super::callable::KeyTransform;
use super::errors::OrRaiseData;
use super::files::fetch_of;
use super::readers::nesting;
use super::stream::PyStream;
use super::text::{CharTrie, PyMerges, member_of, unknown};
use crate::args::Ints;
use crate::dtype::DtypeArg;

/// An operation, shared by the samples of a pipeline.
type Shared = PyResult<Arc<dyn Operation>>;

fn shared(py: Python<'_>, operation: Result<impl Operation, DataError>) -> Shared {
    Ok(Arc::new(operation.or_raise(py)?))
}

/// A number for all axes, or one for each index of the last.
fn numbers(op: &str, argument: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    if let Ok(number) = object.extract::<f64>() {
        return Ok(vec![number]);
    }
    let numbers = object.try_iter().and_then(|items| items.map(|item| item?.extract::<f64>()).collect());
    numbers.map_err(|_| {
        PyTypeError::new_err(format!("[{op}] {argument}: expected a number or a sequence of numbers"))
    })
}

/// Bytes of a text, bytes or a bytearray.
pub(super) fn text(op: &str, argument: &str, object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(text.to_str()?.as_bytes().to_vec());
    }
    if let Ok(bytes) = object.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    if let Ok(bytes) = object.cast::<PyByteArray>() {
        return Ok(bytes.to_vec());
    }
    let class = object.get_type().name()?;
    Err(PyTypeError::new_err(format!("[{op}] {argument}: got {class}, expected str or bytes")))
}

/// A method of resampling by its name.
pub(super) fn quality_of(op: &str, name: &str) -> PyResult<Quality> {
    name.parse().map_err(|error| PyValueError::new_err(format!("[{op}] {error}")))
}

/// The refusal of video.
fn refuse_video() -> PyResult<Result<ops::LoadFile, DataError>> {
    Err(PyNotImplementedError::new_err(
        "[load_video] video is not decoded here; decode it with PyAV in a key_transform, which returns the frames as uint8 of shape \
         (frames, height, width, channels)",
    ))
}

/// The options of decoded images.
pub(super) fn image_options(
    channels: Option<usize>,
    orient: bool,
    at_least: Option<(usize, usize)>,
    strict: bool,
) -> ImageOptions {
    ImageOptions { channels, orient, at_least, strict, ..ImageOptions::default() }
}

/// The methods of `Buffer` and `Stream`, and the same with `_if`, of functions that make operations.
macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        fn $name:ident, $conditional:ident ($($argument:ident: $type:ty),*) [$($signature:tt)*] $make:block
    )*) => {
        /// What makes each operation of its arguments.
        mod make {
            use super::*;
            $(
                #[allow(clippy::too_many_arguments, non_snake_case)] // Python's arguments and names.
                pub(super) fn $name(py: Python<'_>, $($argument: $type),*) -> Shared {
                    let operation = $make;
                    shared(py, operation)
                }
            )*
        }
        operations!(@class PyBuffer; $($(#[$doc])* $name $conditional ($($argument: $type),*) [$($signature)*];)*);
        operations!(@class PyStream; $($(#[$doc])* $name $conditional ($($argument: $type),*) [$($signature)*];)*);
    };
    (@class $class:ident; $($(#[$doc:meta])* $name:ident $conditional:ident ($($argument:ident: $type:ty),*) [$($signature:tt)*];)*) => {
        #[pymethods]
        impl $class {
            $(
                $(#[$doc])*
                #[pyo3(signature = ($($signature)*))]
                #[allow(clippy::too_many_arguments, non_snake_case)] // Python's arguments and names.
                fn $name(&self, py: Python<'_>, $($argument: $type),*) -> PyResult<$class> {
                    Ok(self.apply(make::$name(py, $($argument),*)?))
                }

                #[doc = concat!("`", stringify!($name), "`, if `cond` is true; else the samples stay as they are.")]
                #[pyo3(signature = (cond, $($signature)*))]
                #[allow(clippy::too_many_arguments, non_snake_case)] // Python's arguments and names.
                fn $conditional(&self, py: Python<'_>, cond: bool, $($argument: $type),*) -> PyResult<$class> {
                    if cond { Ok(self.apply(make::$name(py, $($argument),*)?)) } else { Ok(self.unchanged()) }
                }
            )*
        }
    };
}

operations! {
    /// Apply a function to the value of a key.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key.
    /// func : callable
    ///     Takes a NumPy array, returns an array, number or bytes. It may write to its argument, which is private to the sample.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    /// writable : bool, optional
    ///     False passes the array without a copy; it is read-only where something else sees the memory. Default: True.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// See Also
    /// --------
    /// sample_transform, cast, scale, image_normalize
    ///
    /// Examples
    /// --------
    /// >>> buffer.key_transform("x", lambda x: x * 10)[0]["x"]
    /// array(10)
    fn key_transform, key_transform_if(key: &str, func: &Bound<'_, PyAny>, output_key: &str, writable: bool)
    [key, func, output_key = "", *, writable = true] {
        Ok(KeyTransform::new(key, func, output(output_key), writable)?)
    }

    /// Leave out samples by the length of an axis: they become empty, and a stream drops them.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key whose value is measured.
    /// dim : int
    ///     The axis.
    /// low, high : int, optional
    ///     Least and largest length to keep. Default: -1, no limit.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Examples
    /// --------
    /// >>> rows = dx.buffer_from_vector([{"x": np.ones(n)} for n in (1, 4, 2)]).to_stream()
    /// >>> [s["x"].size for s in rows.filter_by_shape("x", 0, 2, 3)]
    /// [2]
    fn filter_by_shape, filter_by_shape_if(key: &str, dim: i64, low: i64, high: i64) [key, dim, low = -1, high = -1] {
        Ok(ops::FilterByShape::new(key, dim, low, high))
    }

    /// Keep one key, or remove it.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key.
    /// remove : bool, optional
    ///     Remove the key instead of all others. Default: False.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Examples
    /// --------
    /// >>> rows = dx.buffer_from_vector([{"x": 1, "y": 2}])
    /// >>> rows.filter_key("x")[0], rows.filter_key("x", remove=True)[0]
    /// ({'x': array(1)}, {'y': array(2)})
    fn filter_key, filter_key_if(key: &str, remove: bool) [key, remove = false] {
        Ok(ops::FilterKey::new(key, if remove { Selection::Others } else { Selection::Key }))
    }

    /// Rename a key.
    ///
    /// Parameters
    /// ----------
    /// key, output_key : str
    ///     The old and the new name.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Examples
    /// --------
    /// >>> buffer.rename_key("x", "y")[0]
    /// {'y': array(1)}
    fn rename_key, rename_key_if(key: &str, output_key: &str) [key, output_key] {
        Ok(ops::RenameKey::new(key, output_key))
    }

    /// Add the shape of a value, or the length of one axis.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key whose value is measured.
    /// output_key : str
    ///     Where the int64 result goes.
    /// dim : int, optional
    ///     The axis. Default: all.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Examples
    /// --------
    /// >>> dx.buffer_from_vector([{"x": np.ones((2, 3))}]).shape("x", "size")[0]["size"]
    /// array([2, 3])
    fn shape, shape_if(key: &str, output_key: &str, dim: Option<i64>) [key, output_key, dim = None] {
        Ok(ops::ShapeOf::new(Keys::new(key, output_key), dim))
    }

    /// Divide the first axis into shards: shape (n, ...) becomes (num_shards, n / num_shards, ...).
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key.
    /// num_shards : int
    ///     Number of shards, which divides the length of the axis.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `num_shards` is below one; when a sample is read, if it does not divide the length.
    ///
    /// Examples
    /// --------
    /// >>> dx.buffer_from_vector([{"x": np.arange(4)}]).shard("x", 2)[0]["x"]
    /// array([[0, 1],
    ///        [2, 3]])
    fn shard, shard_if(key: &str, num_shards: i64, output_key: &str) [key, num_shards, output_key = ""] {
        ops::Shard::new(Keys::new(key, output_key), num_shards)
    }

    /// Remove axes of length one.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key.
    /// dim : int or list of int, optional
    ///     The axes. Default: all of length one.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Examples
    /// --------
    /// >>> dx.buffer_from_vector([{"x": np.ones((1, 3, 1))}]).squeeze("x", -1)[0]["x"].shape
    /// (1, 3)
    fn squeeze, squeeze_if(key: &str, dim: Option<Ints>, output_key: &str) [key, dim = None, output_key = ""] {
        let axes = dim.map(|axes| axes.as_slice().to_vec()).unwrap_or_default();
        Ok(ops::Squeeze::new(Keys::new(key, output_key), axes))
    }

    /// Take a part of a value, without a copy.
    ///
    /// Parameters
    /// ----------
    /// ikey : str
    ///     The key.
    /// dims, starts, ends : int or list of int
    ///     For each of these axes, the first index and the one past the last, which is cut to the length.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the lists differ in length or an end is below its start; when a sample is read, if an axis is out of bounds.
    ///
    /// Examples
    /// --------
    /// >>> dx.buffer_from_vector([{"x": np.arange(5)}]).slice("x", 0, 1, 4)[0]["x"]
    /// array([1, 2, 3])
    fn slice, slice_if(ikey: &str, dims: Ints, starts: Ints, ends: Ints, output_key: &str)
    [ikey, dims, starts, ends, output_key = ""] {
        let list = |numbers: Ints| numbers.as_slice().to_vec();
        ops::Slice::new(Keys::new(ikey, output_key), list(dims), list(starts), list(ends))
    }

    /// Take a random part of a value, without a copy.
    ///
    /// Parameters
    /// ----------
    /// ikey : str
    ///     The key.
    /// dims, sizes : int or list of int
    ///     For each of these axes, the length of the part.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Examples
    /// --------
    /// >>> dx.buffer_from_vector([{"x": np.arange(5)}]).random_slice("x", 0, 2)[0]["x"].shape
    /// (2,)
    fn random_slice, random_slice_if(ikey: &str, dims: Ints, sizes: Ints, output_key: &str)
    [ikey, dims, sizes, output_key = ""] {
        let list = |numbers: Ints| numbers.as_slice().to_vec();
        ops::RandomSlice::new(Keys::new(ikey, output_key), list(dims), list(sizes))
    }

    /// Add elements before and after an axis.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key.
    /// dim : int
    ///     The axis.
    /// lpad, rpad : int
    ///     How many elements are added before and after.
    /// pad_value : float
    ///     Their value.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a number of elements is negative; when a sample is read, if the axis is out of bounds.
    ///
    /// See Also
    /// --------
    /// pad_to_size, pad_to_multiple
    ///
    /// Examples
    /// --------
    /// >>> dx.buffer_from_vector([{"x": [7, 8]}]).pad("x", 0, 1, 2, 0)[0]["x"]
    /// array([0, 7, 8, 0, 0])
    fn pad, pad_if(key: &str, dim: i64, lpad: i64, rpad: i64, pad_value: f64, output_key: &str)
    [key, dim, lpad, rpad, pad_value, output_key = ""] {
        ops::Pad::new(Keys::new(key, output_key), dim, lpad, rpad, pad_value)
    }

    /// Add elements after an axis up to a length.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key.
    /// dim : int
    ///     The axis.
    /// size : int
    ///     The length; longer values stay as they are.
    /// pad_value : float
    ///     Value of the added elements.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// See Also
    /// --------
    /// pad, pad_to_multiple
    ///
    /// Examples
    /// --------
    /// >>> dx.buffer_from_vector([{"x": [7, 8]}]).pad_to_size("x", 0, 4, -1)[0]["x"]
    /// array([ 7,  8, -1, -1])
    fn pad_to_size, pad_to_size_if(key: &str, dim: i64, size: i64, pad_value: f64, output_key: &str)
    [key, dim, size, pad_value, output_key = ""] {
        Ok(ops::PadToSize::new(Keys::new(key, output_key), dim, size, pad_value))
    }

    /// Add elements after an axis up to a multiple of a length.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key.
    /// dim : int
    ///     The axis.
    /// pad_multiple : int
    ///     The length.
    /// pad_value : float
    ///     Value of the added elements.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `pad_multiple` is below one.
    ///
    /// See Also
    /// --------
    /// pad, pad_to_size
    ///
    /// Examples
    /// --------
    /// >>> dx.buffer_from_vector([{"x": [7, 8, 9]}]).pad_to_multiple("x", 0, 2, 0)[0]["x"]
    /// array([7, 8, 9, 0])
    fn pad_to_multiple, pad_to_multiple_if(key: &str, dim: i64, pad_multiple: i64, pad_value: f64, output_key: &str)
    [key, dim, pad_multiple, pad_value, output_key = ""] {
        ops::PadToMultiple::new(Keys::new(key, output_key), dim, pad_multiple, pad_value)
    }

    /// Remove elements of a value from the rows of a padded array.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the array.
    /// size_key : str
    ///     The key with the number of elements of each row, which is updated.
    /// dim : int
    ///     The axis of the rows' elements.
    /// value : float
    ///     The value to remove.
    /// pad : float, optional
    ///     What fills up the rows at their ends. Default: 0.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Examples
    /// --------
    /// >>> rows = dx.buffer_from_vector([{"x": [5, 1, 5, 2], "n": 4}])
    /// >>> rows.remove_value("x", "n", 0, 5)[0]
    /// {'x': array([1, 2, 0, 0]), 'n': array(2)}
    fn remove_value, remove_value_if(key: &str, size_key: &str, dim: i64, value: f64, pad: f64)
    [key, size_key, dim, value, pad = 0.0] {
        Ok(ops::RemoveValue::new(key, size_key, dim, value, pad))
    }

    /// Replace a part of a text.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the text.
    /// old, replacement : str or bytes
    ///     What is replaced, and by what.
    /// count : int, optional
    ///     How many occurrences, from the start. Default: -1, all.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `old` is empty.
    ///
    /// See Also
    /// --------
    /// replace_bytes
    ///
    /// Examples
    /// --------
    /// >>> bytes(dx.buffer_from_vector([{"x": b"a-b-c"}]).replace("x", "-", " ", 1)[0]["x"])
    /// b'a b-c'
    fn replace, replace_if(key: &str, old: &Bound<'_, PyAny>, replacement: &Bound<'_, PyAny>, count: i64)
    [key, old, replacement, count = -1] {
        ops::Replace::new(
            Keys::new(key, ""),
            text("replace", "old", old)?,
            text("replace", "replacement", replacement)?,
            count,
        )
    }

    /// Replace every byte of a text by a text.
    ///
    /// Parameters
    /// ----------
    /// ikey : str
    ///     The key of the text.
    /// byte_map : list of str or bytes
    ///     What each byte becomes; bytes beyond the list are removed.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If there are more than 256 entries.
    ///
    /// See Also
    /// --------
    /// replace
    ///
    /// Examples
    /// --------
    /// >>> upper = [chr(byte).upper() for byte in range(128)]
    /// >>> bytes(dx.buffer_from_vector([{"x": b"abc"}]).replace_bytes("x", upper)[0]["x"])
    /// b'ABC'
    fn replace_bytes, replace_bytes_if(ikey: &str, byte_map: &Bound<'_, PyAny>, output_key: &str)
    [ikey, byte_map, output_key = ""] {
        let map: PyResult<Vec<Vec<u8>>> =
            byte_map.try_iter()?.map(|item| text("replace_bytes", "byte_map", &item?)).collect();
        ops::ReplaceBytes::new(Keys::new(ikey, output_key), map?)
    }

    /// Convert a value to another dtype.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key.
    /// dtype : Dtype or str
    ///     The dtype.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// See Also
    /// --------
    /// scale
    ///
    /// Examples
    /// --------
    /// >>> buffer.cast("x", "float32")[0]["x"]
    /// array(1., dtype=float32)
    fn cast, cast_if(key: &str, dtype: DtypeArg, output_key: &str) [key, dtype, output_key = ""] {
        Ok(ops::Cast::new(Keys::new(key, output_key), dtype.default_dtype()))
    }

    /// Compute ``x * scale + bias`` in one pass.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key.
    /// scale, bias : float or sequence of float
    ///     A number, or one for each index of the last axis. `bias` is 0 by default.
    /// dtype : Dtype or str, optional
    ///     Dtype of the result. Default: float32.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the numbers of scales and biases differ; when a sample is read, if they do not fit the last axis.
    /// TypeError
    ///     If the dtype is complex.
    ///
    /// See Also
    /// --------
    /// cast, image_normalize
    ///
    /// Examples
    /// --------
    /// >>> dx.buffer_from_vector([{"x": [0, 2]}]).scale("x", 0.5, 1)[0]["x"]
    /// array([1., 2.], dtype=float32)
    fn scale, scale_if(key: &str, scale: &Bound<'_, PyAny>, bias: Option<&Bound<'_, PyAny>>, dtype: Option<DtypeArg>, output_key: &str)
    [key, scale, bias = None, dtype = None, output_key = ""] {
        let scale = numbers("scale", "scale", scale)?;
        let bias = bias.map_or_else(|| Ok(vec![0.0]), |bias| numbers("scale", "bias", bias))?;
        let dtype = dtype.map_or(umber_core::DType::Float32, DtypeArg::default_dtype);
        ops::Scale::new(Keys::new(key, output_key), scale, bias, dtype)
    }

    /// Read a file, whose name is the value, as int8.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the name, as bytes.
    /// prefix : path, optional
    ///     The folder that the name is relative to. Default: the current one.
    /// output_key : str, optional
    ///     Where the content goes. Default: it replaces the name.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// OSError
    ///     When a sample is read, if the file cannot be.
    ///
    /// See Also
    /// --------
    /// load_numpy, load_image, load_audio
    ///
    /// Examples
    /// --------
    /// >>> import pathlib, tempfile
    /// >>> folder = tempfile.mkdtemp()
    /// >>> _ = pathlib.Path(folder, "a.txt").write_bytes(b"text")
    /// >>> bytes(dx.buffer_from_vector([{"file": b"a.txt"}]).load_file("file", folder)[0]["file"])
    /// b'text'
    fn load_file, load_file_if(key: &str, prefix: PathBuf, output_key: &str)
    [key, prefix = PathBuf::new(), output_key = ""] {
        Ok(ops::LoadFile::new(Keys::new(key, output_key), prefix))
    }

    /// Read an array from a file in NumPy's format npy.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the name, or of the content.
    /// prefix : path, optional
    ///     The folder that the name is relative to. Default: the current one.
    /// from_memory : bool, optional
    ///     The value is the content of the file, not its name. Default: False.
    /// output_key : str, optional
    ///     Where the array goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// OSError
    ///     When a sample is read, if the file cannot be, or is not in this format.
    ///
    /// See Also
    /// --------
    /// load_file
    ///
    /// Examples
    /// --------
    /// >>> import tempfile
    /// >>> folder = tempfile.mkdtemp()
    /// >>> np.save(folder + "/a.npy", np.arange(3))
    /// >>> dx.buffer_from_vector([{"file": b"a.npy"}]).load_numpy("file", folder)[0]["file"]
    /// array([0, 1, 2])
    fn load_numpy, load_numpy_if(key: &str, prefix: PathBuf, from_memory: bool, output_key: &str)
    [key, prefix = PathBuf::new(), from_memory = false, output_key = ""] {
        Ok(ops::LoadNumpy::new(Keys::new(key, output_key), FileInput::new(prefix, from_memory)))
    }

    /// Decode an image: JPEG, PNG, GIF (its first frame), BMP, PNM or TGA.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the file's name, or of its content.
    /// prefix : path, optional
    ///     The folder that the name is relative to. Default: the current one.
    /// info : bool, optional
    ///     Only read the size: an int64 array of width and height. Default: False.
    /// format : str, optional
    ///     Not used; mlx-data has it.
    /// from_memory : bool, optional
    ///     The value is the content of the file, not its name. Default: False.
    /// output_key : str, optional
    ///     Where the image goes. Default: it replaces the value.
    /// channels : int, optional
    ///     1 for grey, 3 for RGB, 4 for RGBA. Default: those of the file, without transparency; JPEGs have 3.
    /// orient : bool, optional
    ///     Turn the image upright as its Exif data say. Default: False.
    /// at_least : tuple of int, optional
    ///     Width and height: a JPEG may be decoded at a half, quarter or eighth of its size while it is not smaller, which is faster.
    /// strict : bool, optional
    ///     An image that ends early is an error; False gives what there is. Default: True.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///     Images are uint8, of shape (height, width, channels).
    ///
    /// Raises
    /// ------
    /// OSError
    ///     When a sample is read, if the file cannot be, or is damaged.
    ///
    /// See Also
    /// --------
    /// umber.data.load_image : one image
    ///
    /// Examples
    /// --------
    /// >>> grey = np.frombuffer(b"P5 2 1 255 \x10\x20", np.uint8)
    /// >>> dx.buffer_from_vector([{"image": grey}]).load_image("image", from_memory=True)[0]["image"].shape
    /// (1, 2, 1)
    fn load_image, load_image_if(
        key: &str, prefix: PathBuf, info: bool, format: &str, from_memory: bool, output_key: &str,
        channels: Option<usize>, orient: bool, at_least: Option<(usize, usize)>, strict: bool
    )
    [key, prefix = PathBuf::new(), info = false, format = "RGB", from_memory = false, output_key = "",
     *, channels = None, orient = false, at_least = None, strict = true] {
        let _ = format;
        let content = if info { ImageContent::Size } else { ImageContent::Pixels };
        let options = image_options(channels, orient, at_least, strict);
        ops::LoadImage::new(Keys::new(key, output_key), FileInput::new(prefix, from_memory), content, options)
    }

    /// Write an image as JPEG, of quality 80.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the image.
    /// filename_key : str
    ///     The key of the file's name, whose suffix becomes ``jpg``.
    /// prefix : path
    ///     The folder that the name is relative to.
    /// filenamePrefix : str, optional
    ///     Begins the name. Default: nothing.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///     Samples stay as they are.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     When a sample is read, if the file cannot be written.
    ///
    /// Examples
    /// --------
    /// >>> import os, tempfile
    /// >>> folder = tempfile.mkdtemp()
    /// >>> rows = dx.buffer_from_vector([{"image": np.zeros((8, 8, 3), np.uint8), "name": b"a.png"}])
    /// >>> _ = rows.save_image("image", "name", folder)[0]
    /// >>> os.listdir(folder)
    /// ['a.jpg']
    fn save_image, save_image_if(key: &str, filename_key: &str, prefix: PathBuf, filenamePrefix: &str)
    [key, filename_key, prefix, filenamePrefix = ""] {
        Ok(ops::SaveImage::new(key, filename_key, prefix, filenamePrefix))
    }

    /// Resize an image, with antialiasing.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the image, of shape (height, width, channels), or a stack of such.
    /// w, h : int
    ///     Width and height of the result.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a size is below one.
    ///
    /// See Also
    /// --------
    /// image_resize_smallest_side
    ///
    /// Examples
    /// --------
    /// >>> images = dx.buffer_from_vector([{"image": np.zeros((4, 6, 3), np.uint8)}])
    /// >>> images.image_resize("image", 3, 2)[0]["image"].shape
    /// (2, 3, 3)
    fn image_resize, image_resize_if(key: &str, w: i64, h: i64, output_key: &str) [key, w, h, output_key = ""] {
        ops::ImageResize::new(Keys::new(key, output_key), w, h)
    }

    /// Resize an image so that its smaller side has a length, in proportion.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the image, of shape (height, width, channels), or a stack of such.
    /// size : int
    ///     Length of the smaller side.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `size` is below one.
    ///
    /// See Also
    /// --------
    /// image_resize
    ///
    /// Examples
    /// --------
    /// >>> images = dx.buffer_from_vector([{"image": np.zeros((4, 6, 3), np.uint8)}])
    /// >>> images.image_resize_smallest_side("image", 2)[0]["image"].shape
    /// (2, 3, 3)
    fn image_resize_smallest_side, image_resize_smallest_side_if(key: &str, size: i64, output_key: &str)
    [key, size, output_key = ""] {
        ops::ImageResizeSmallestSide::new(Keys::new(key, output_key), size)
    }

    /// Take the middle of an image.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the image, of shape (height, width, channels), or a stack of such.
    /// w, h : int
    ///     Width and height of the result.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a size is below one; when a sample is read, if the image is smaller.
    ///
    /// See Also
    /// --------
    /// image_random_crop
    ///
    /// Examples
    /// --------
    /// >>> images = dx.buffer_from_vector([{"image": np.arange(25, dtype=np.uint8).reshape(5, 5, 1)}])
    /// >>> images.image_center_crop("image", 1, 1)[0]["image"].item()
    /// 12
    fn image_center_crop, image_center_crop_if(key: &str, w: i64, h: i64, output_key: &str)
    [key, w, h, output_key = ""] {
        ops::ImageCenterCrop::new(Keys::new(key, output_key), w, h)
    }

    /// Take a random part of an image.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the image, of shape (height, width, channels), or a stack of such.
    /// w, h : int
    ///     Width and height of the result.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a size is below one; when a sample is read, if the image is smaller.
    ///
    /// See Also
    /// --------
    /// image_center_crop, image_random_area_crop
    ///
    /// Examples
    /// --------
    /// >>> images = dx.buffer_from_vector([{"image": np.zeros((5, 5, 3), np.uint8)}])
    /// >>> images.image_random_crop("image", 3, 2)[0]["image"].shape
    /// (2, 3, 3)
    fn image_random_crop, image_random_crop_if(key: &str, w: i64, h: i64, output_key: &str)
    [key, w, h, output_key = ""] {
        ops::ImageRandomCrop::new(Keys::new(key, output_key), w, h)
    }

    /// Take a random part of an image, of random area and proportions.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the image, of shape (height, width, channels), or a stack of such.
    /// area_range : tuple of float
    ///     Least and largest area, as a part of the image's.
    /// aspect_ratio_range : tuple of float
    ///     Least and largest ratio of width to height, relative to the image's.
    /// num_trial : int, optional
    ///     How often a window is drawn that does not fit, before the whole image is taken. Default: 10.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a range or `num_trial` makes no sense.
    ///
    /// See Also
    /// --------
    /// image_random_crop
    ///
    /// Examples
    /// --------
    /// >>> images = dx.buffer_from_vector([{"image": np.zeros((8, 8, 3), np.uint8)}])
    /// >>> images.image_random_area_crop("image", (0.25, 0.5), (1, 1))[0]["image"].shape[0] < 8
    /// True
    fn image_random_area_crop, image_random_area_crop_if(
        key: &str, area_range: (f64, f64), aspect_ratio_range: (f64, f64), num_trial: i64, output_key: &str
    )
    [key, area_range, aspect_ratio_range, num_trial = 10, output_key = ""] {
        ops::ImageRandomAreaCrop::new(Keys::new(key, output_key), area_range, aspect_ratio_range, num_trial)
    }

    /// Flip an image from left to right, at random.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the image, of shape (height, width, channels), or a stack of such.
    /// prob : float
    ///     Probability of a flip.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Examples
    /// --------
    /// >>> images = dx.buffer_from_vector([{"image": np.arange(2, dtype=np.uint8).reshape(1, 2, 1)}])
    /// >>> images.image_random_h_flip("image", 1)[0]["image"].ravel()
    /// array([1, 0], dtype=uint8)
    fn image_random_h_flip, image_random_h_flip_if(key: &str, prob: f64, output_key: &str)
    [key, prob, output_key = ""] {
        ops::ImageRandomHFlip::new(Keys::new(key, output_key), prob)
    }

    /// Rotate an image about its centre.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the image, of shape (height, width, channels), or a stack of such.
    /// angle : float
    ///     Angle in degrees.
    /// crop : bool, optional
    ///     Keep the size of the image; else the result has room for all of it. Default: False.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///     Pixels are those of the nearest ones of the image; zero outside of it.
    ///
    /// Examples
    /// --------
    /// >>> images = dx.buffer_from_vector([{"image": np.zeros((4, 6, 1), np.uint8)}])
    /// >>> images.image_rotate("image", 90)[0]["image"].shape
    /// (6, 4, 1)
    fn image_rotate, image_rotate_if(key: &str, angle: f64, crop: bool, output_key: &str)
    [key, angle, crop = false, output_key = ""] {
        ops::ImageRotate::new(Keys::new(key, output_key), angle, crop)
    }

    /// Reduce the channels of an RGB image to one.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the image, of shape (height, width, 3), or a stack of such.
    /// preset : {"default", "rec601", "rec709", "rec2020", "green"}, optional
    ///     The weights: those of a standard for video, or the green channel alone. Default: those of rec601.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///     Of shape (height, width, 1).
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the preset is unknown.
    ///
    /// Examples
    /// --------
    /// >>> images = dx.buffer_from_vector([{"image": np.full((1, 1, 3), 9, np.uint8)}])
    /// >>> images.image_channel_reduction("image")[0]["image"].ravel()
    /// array([9], dtype=uint8)
    fn image_channel_reduction, image_channel_reduction_if(key: &str, preset: &str, output_key: &str)
    [key, preset = "default", output_key = ""] {
        ops::ImageChannelReduction::new(Keys::new(key, output_key), preset)
    }

    /// Compute ``(image * scale - mean) / std`` for each channel in one pass.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the image, of shape (height, width, channels), or a stack of such. Any dtype: of floating images in [0, 1], pass
    ///     ``scale=1``.
    /// mean, std : float or sequence of float
    ///     A number, or one for each channel.
    /// scale : float, optional
    ///     Default: 1/255.
    /// layout : {"HWC", "CHW"}, optional
    ///     Order of the result's axes: channels last or first. Default: "HWC".
    /// dtype : Dtype or str, optional
    ///     Dtype of the result. Default: float32.
    /// output_key : str, optional
    ///     Where the result goes. Default: it replaces the value.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `layout` is another text; when a sample is read, if the numbers do not fit the channels.
    /// TypeError
    ///     If the dtype is not a floating one.
    ///
    /// See Also
    /// --------
    /// scale
    ///
    /// Examples
    /// --------
    /// >>> images = dx.buffer_from_vector([{"image": np.full((1, 1, 3), 255, np.uint8)}])
    /// >>> images.image_normalize("image", 0.5, [0.5, 1, 2])[0]["image"].ravel()
    /// array([1.  , 0.5 , 0.25], dtype=float32)
    fn image_normalize, image_normalize_if(
        key: &str, mean: &Bound<'_, PyAny>, std: &Bound<'_, PyAny>, scale: f64, layout: &str,
        dtype: Option<DtypeArg>, output_key: &str
    )
    [key, mean, std, *, scale = 1.0 / 255.0, layout = "HWC", dtype = None, output_key = ""] {
        let layout = match layout {
            "HWC" => Layout::Hwc,
            "CHW" => Layout::Chw,
            other => {
                return Err(PyValueError::new_err(format!(
                    "[image_normalize] layout: got '{other}', expected 'HWC' or 'CHW'"
                )));
            }
        };
        let (mean, std) = (numbers("image_normalize", "mean", mean)?, numbers("image_normalize", "std", std)?);
        let dtype = dtype.map_or(umber_core::DType::Float32, DtypeArg::default_dtype);
        ops::ImageNormalize::new(Keys::new(key, output_key), mean, std, scale, layout, dtype)
    }

    /// Split a text into tokens of a trie.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the text.
    /// trie : CharTrie
    ///     The tokens.
    /// mode : TokenizeMode, optional
    ///     ``Shortest`` for the tokens of least total cost, ``Rand`` for random ones. Default: ``Shortest``.
    /// ignore_unk : bool, optional
    ///     Whether bytes that belong to no token are left out, as few as possible, instead of raising. Default: False.
    /// trie_key_scores : list of float, optional
    ///     What each token costs, by its identifier. Default: 1 each.
    /// output_key : str, optional
    ///     Where the int64 tokens go. Default: they replace the text.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If there is not one score for each token; when a sample is read, if a part of the text is no token.
    ///
    /// See Also
    /// --------
    /// tokenize_bpe, umber.data.core.Tokenizer
    ///
    /// Examples
    /// --------
    /// >>> trie = dx.core.CharTrie()
    /// >>> for token in ["un", "happy"]:
    /// ...     _ = trie.insert(token)
    /// >>> dx.buffer_from_vector([{"x": b"unhappy"}]).tokenize("x", trie)[0]["x"]
    /// array([0, 1])
    fn tokenize, tokenize_if(
        key: &str, trie: &CharTrie, mode: Option<&Bound<'_, PyAny>>, ignore_unk: bool, trie_key_scores: Vec<f64>,
        output_key: &str
    )
    [key, trie, mode = None, ignore_unk = false, trie_key_scores = Vec::new(), output_key = ""] {
        let mode = match mode.map(|mode| member_of("tokenize", "mode", mode)).transpose()?.as_deref() {
            None | Some("Shortest") => TokenizeMode::Shortest,
            Some("Rand") => TokenizeMode::Random,
            Some(other) => {
                return Err(PyValueError::new_err(format!("[tokenize] mode: got {other}, expected Shortest or Rand")));
            }
        };
        ops::Tokenize::new(Keys::new(key, output_key), trie.trie(), mode, unknown(ignore_unk), trie_key_scores)
    }

    /// Split a text into tokens by byte pair encoding.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the text.
    /// symbols : CharTrie
    ///     The tokens that merging begins with.
    /// merges : BPEMerges
    ///     The pairs that are merged.
    /// output_key : str, optional
    ///     Where the int64 tokens go. Default: they replace the text.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     When a sample is read, if a part of the text is no symbol.
    ///
    /// See Also
    /// --------
    /// tokenize, umber.data.core.BPETokenizer
    ///
    /// Examples
    /// --------
    /// >>> symbols, merges = dx.core.CharTrie(), dx.core.BPEMerges()
    /// >>> node = symbols.insert("a")
    /// >>> merges.add("a", "a", 1)
    /// >>> dx.buffer_from_vector([{"x": b"aaa"}]).tokenize_bpe("x", symbols, merges)[0]["x"]
    /// array([1, 0])
    fn tokenize_bpe, tokenize_bpe_if(key: &str, symbols: &CharTrie, merges: &PyMerges, output_key: &str)
    [key, symbols, merges, output_key = ""] {
        Ok(ops::TokenizeBpe::new(Keys::new(key, output_key), &symbols.trie(), &merges.merges()))
    }

    /// Read a sound file: WAV or FLAC.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the file's name, as bytes.
    /// prefix : path, optional
    ///     The folder that the name is relative to. Default: the current one.
    /// info : bool, optional
    ///     Read what the header tells instead of the samples. Default: False.
    /// from_memory : bool, optional
    ///     Whether the value is the content of a file, not its name. Default: False.
    /// info_type : LoadAudioInfo, optional
    ///     What is told: ``All`` for frames, channels and rate, or one of them, or ``NumSeconds``. Default: ``All``.
    /// sample_rate : int, optional
    ///     The rate to resample to. Default: 0, that of the file.
    /// resampling_quality : {"sinc-best", "sinc-medium", "sinc-fastest", "zero-order-hold", "linear"}, optional
    ///     How to resample. Default: "sinc-fastest".
    /// info_key : str, optional
    ///     Where what the header tells goes besides.
    /// output_key : str, optional
    ///     Where the float32 samples of shape (frames, channels) go. Default: they replace the name.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the quality is unknown.
    /// OSError
    ///     When a sample is read, if the file cannot be read or decoded.
    ///
    /// See Also
    /// --------
    /// resample_audio, umber.data.load_audio
    ///
    /// Examples
    /// --------
    /// >>> import io, wave
    /// >>> file = io.BytesIO()
    /// >>> with wave.open(file, "wb") as sound:
    /// ...     sound.setparams((1, 2, 8000, 0, "NONE", ""))
    /// ...     sound.writeframes(np.array([0, 16384], dtype="<i2").tobytes())
    /// >>> sounds = dx.buffer_from_vector([{"x": file.getvalue()}])
    /// >>> sounds.load_audio("x", from_memory=True)[0]["x"].ravel()
    /// array([0. , 0.5], dtype=float32)
    fn load_audio, load_audio_if(
        key: &str, prefix: PathBuf, info: bool, from_memory: bool, info_type: Option<&Bound<'_, PyAny>>, sample_rate: i64,
        resampling_quality: &str, info_key: &str, output_key: &str
    )
    [key, prefix = PathBuf::new(), info = false, from_memory = false, info_type = None, sample_rate = 0,
     resampling_quality = "sinc-fastest", info_key = "", output_key = ""] {
        let told = match info_type.map(|told| member_of("load_audio", "info_type", told)).transpose()?.as_deref() {
            None | Some("All") => AudioInfo::All,
            Some("NumFrames") => AudioInfo::Frames,
            Some("NumChannels") => AudioInfo::Channels,
            Some("SampleRate") => AudioInfo::Rate,
            Some("NumSeconds") => AudioInfo::Seconds,
            Some(other) => {
                return Err(PyValueError::new_err(format!(
                    "[load_audio] info_type: got {other}, expected a member of LoadAudioInfo"
                )));
            }
        };
        let content = if info { AudioContent::Info } else { AudioContent::Samples };
        let quality = quality_of("load_audio", resampling_quality)?;
        let (keys, input) = (Keys::new(key, output_key), FileInput::new(prefix, from_memory));
        ops::LoadAudio::new(keys, input, content, told, sample_rate, quality, info_key)
    }

    /// Resample a sound.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the sound, of shape (frames, channels) or (frames,).
    /// sample_rate : int
    ///     The rate of the result.
    /// input_sample_rate : int, optional
    ///     The rate of the sound. Default: 0, that under `info_key`.
    /// info_key : str, optional
    ///     The key of the rate, or of what `load_audio` tells.
    /// resampling_quality : {"sinc-best", "sinc-medium", "sinc-fastest", "zero-order-hold", "linear"}, optional
    ///     How to resample. Default: "sinc-fastest".
    /// output_key : str, optional
    ///     Where the float32 result goes. Default: it replaces the sound.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If neither `input_sample_rate` nor `info_key` is given, or the quality is unknown.
    ///
    /// See Also
    /// --------
    /// load_audio
    ///
    /// Examples
    /// --------
    /// >>> sounds = dx.buffer_from_vector([{"x": np.zeros((800, 1), np.float32)}])
    /// >>> sounds.resample_audio("x", 16000, 8000)[0]["x"].shape
    /// (1600, 1)
    fn resample_audio, resample_audio_if(
        key: &str, sample_rate: i64, input_sample_rate: i64, info_key: &str, resampling_quality: &str, output_key: &str
    )
    [key, sample_rate, input_sample_rate = 0, info_key = "", resampling_quality = "sinc-fastest", output_key = ""] {
        let quality = quality_of("resample_audio", resampling_quality)?;
        ops::ResampleAudio::new(Keys::new(key, output_key), sample_rate, input_sample_rate, info_key, quality)
    }

    /// Raise: video is not decoded here.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the file's name.
    /// prefix, output_key : str, optional
    ///     As for `load_image`.
    /// info, from_memory : bool, optional
    ///     As for `load_image`.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///     Never.
    ///
    /// Raises
    /// ------
    /// NotImplementedError
    ///     Always. Decode video with PyAV in a `key_transform`; operations on images take stacks of frames.
    ///
    /// See Also
    /// --------
    /// load_image, key_transform
    ///
    /// Examples
    /// --------
    /// >>> buffer.load_video("x")
    /// Traceback (most recent call last):
    /// ...
    /// NotImplementedError: [load_video] video is not decoded here; ...
    fn load_video, load_video_if(key: &str, prefix: PathBuf, info: bool, from_memory: bool, output_key: &str)
    [key, prefix = PathBuf::new(), info = false, from_memory = false, output_key = ""] {
        let _ = (key, prefix, info, from_memory, output_key);
        refuse_video()?
    }

    /// Read a file in a tar archive, as uint8, without a copy.
    ///
    /// Parameters
    /// ----------
    /// tarkey : path
    ///     The archive; with `from_key`, the key of its name.
    /// ikey : str
    ///     The key of the file's name, as bytes.
    /// okey : str
    ///     Where the content goes.
    /// prefix : path, optional
    ///     The folder in the archive that names are relative to.
    /// tar_prefix : path, optional
    ///     The folder that the archive's name is relative to. Default: the current one.
    /// from_key : bool, optional
    ///     Whether samples name their archives. Default: False.
    /// file_fetcher : FileFetcher, optional
    ///     Called with the name of an archive before it is opened.
    /// nested : bool, optional
    ///     Whether a file `a.tar` in the archive is replaced by its own files, named `a/…`. Default: False.
    /// num_threads : int, optional
    ///     Without effect: to find the files takes one pass over their headers.
    ///
    /// Returns
    /// -------
    /// Buffer or Stream
    ///
    /// Raises
    /// ------
    /// OSError
    ///     When a sample is read, if the archive cannot be read or is damaged; FileNotFoundError if there is none, or no such file in it.
    ///
    /// See Also
    /// --------
    /// umber.data.files_from_tar
    ///
    /// Notes
    /// -----
    /// An archive is mapped and its files are found when it is first read; then each takes a search by name.
    ///
    /// Examples
    /// --------
    /// >>> import io, tarfile, tempfile
    /// >>> with tempfile.NamedTemporaryFile(suffix=".tar") as file:
    /// ...     with tarfile.open(file.name, "w") as archive:
    /// ...         info = tarfile.TarInfo("a.txt")
    /// ...         info.size = 2
    /// ...         archive.addfile(info, io.BytesIO(b"hi"))
    /// ...     texts = dx.buffer_from_vector([{"x": b"a.txt"}]).read_from_tar(file.name, "x", "x")
    /// ...     content = texts[0]["x"]
    /// >>> bytes(content)
    /// b'hi'
    fn read_from_tar, read_from_tar_if(
        tarkey: PathBuf, ikey: &str, okey: &str, prefix: PathBuf, tar_prefix: PathBuf, from_key: bool,
        file_fetcher: Option<&Bound<'_, PyAny>>, nested: bool, num_threads: i64
    )
    [tarkey, ikey, okey, prefix = PathBuf::new(), tar_prefix = PathBuf::new(), from_key = false, file_fetcher = None,
     nested = false, num_threads = 1] {
        let _ = num_threads;
        let tar = if from_key { TarInput::Key(Name::new(&tarkey.to_string_lossy())) } else { TarInput::Path(tarkey) };
        let fetch = fetch_of("read_from_tar", file_fetcher)?;
        Ok(ops::ReadFromTar::new(tar, ikey, okey, prefix, tar_prefix, nesting(nested)).with_fetch(fetch))
    }
}
