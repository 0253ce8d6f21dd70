//! Sources that read files: lines, tables, tar archives, shards; and the functions that load one file.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PyString};
use umber_data::decode::ImageOptions;
use umber_data::ops::{AudioContent, AudioInfo, Change, FileInput, ImageContent, Keys, LoadAudio, LoadImage};
use umber_data::random::{Draw, Key, Position};
use umber_data::records::Nesting;
use umber_data::source::{Content, FileName, RecordFormat, Records, TarNames, WebDataset};
use umber_data::stage::{Iterable, RecordsFromKey};
use umber_data::{Name, Operation, Sample, Stream, Value};

use super::buffer::PyBuffer;
use super::errors::OrRaiseData;
use super::files::{byte_of, content_of, fetch_of};
use super::operations::{image_options, quality_of};
use super::samples::{Views, object_of, value_of};
use super::stream::PyStream;

/// A stream of the records of some content.
fn records(
    py: Python<'_>,
    name: &'static str,
    content: Content,
    format: RecordFormat,
    unzip: bool,
) -> PyResult<PyStream> {
    let records = py.detach(|| Records::new(name, content, format, unzip)).or_raise(py)?;
    Ok(PyStream::new(Stream::new(Iterable::new(Box::new(records), None))))
}

/// The format of tables.
fn csv_format(py: Python<'_>, op: &str, sep: &str, quote: &str) -> PyResult<RecordFormat> {
    let (sep, quote) = (byte_of(op, "sep", sep)?, byte_of(op, "quote", quote)?);
    RecordFormat::csv(sep, quote).map_err(|error| error.at_stage(op)).or_raise(py)
}

pub(super) fn nesting(nested: bool) -> Nesting {
    if nested { Nesting::Open } else { Nesting::Keep }
}

/// Read the lines of a file.
///
/// Parameters
/// ----------
/// file : path or file object
///     The file, or an object with `read` and `seek`, which is read from where it is.
/// key : str
///     Where the lines go, as int8, without the newlines.
/// unzip : bool, optional
///     Whether the content may be compressed with gzip or zstd. Files whose suffix says so are always decompressed. Default: False.
/// local_prefix : path, optional
///     The folder that `file` is relative to. Default: the current one.
/// file_fetcher : FileFetcher, optional
///     Called with the name before the file is opened.
/// file_fetcher_handle : FileFetcherHandle, optional
///     Kept as long as the call; files that are open stay readable when they are erased.
///
/// Returns
/// -------
/// Stream
///
/// Raises
/// ------
/// OSError
///     If the file cannot be read; FileNotFoundError if there is none.
/// TypeError
///     If `file` is neither a path nor a file object.
///
/// See Also
/// --------
/// stream_csv_reader, Stream.line_reader_from_key
///
/// Notes
/// -----
/// Lines end with a newline; a carriage return stays. The state of the stream is a position in the file, to which another stream goes
/// without reading what is before it, unless the file is compressed.
///
/// Examples
/// --------
/// >>> import io
/// >>> lines = dx.stream_line_reader(io.BytesIO(b"one\ntwo"), "line")
/// >>> [bytes(s["line"]) for s in lines]
/// [b'one', b'two']
#[pyfunction]
#[pyo3(signature = (
    file, key, unzip = false, *, local_prefix = PathBuf::new(), file_fetcher = None, file_fetcher_handle = None
))]
fn stream_line_reader(
    file: &Bound<'_, PyAny>,
    key: &str,
    unzip: bool,
    local_prefix: PathBuf,
    file_fetcher: Option<&Bound<'_, PyAny>>,
    file_fetcher_handle: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyStream> {
    const OP: &str = "stream_line_reader";
    let _ = file_fetcher_handle;
    let content = content_of(OP, file, local_prefix, fetch_of(OP, file_fetcher)?)?;
    records(file.py(), OP, content, RecordFormat::Lines(Name::new(key)), unzip)
}

/// Read the rows of a file of comma-separated values.
///
/// Parameters
/// ----------
/// file : path or file object
///     The file, or an object with `read` and `seek`, which is read from where it is. Its first row names the columns.
/// sep : str, optional
///     The character between fields. Default: ",".
/// quote : str, optional
///     The character around fields that contain separators, quotes or newlines. Default: '"'.
/// local_prefix : path, optional
///     The folder that `file` is relative to. Default: the current one.
/// file_fetcher : FileFetcher, optional
///     Called with the name before the file is opened.
/// file_fetcher_handle : FileFetcherHandle, optional
///     Kept as long as the call; files that are open stay readable when they are erased.
///
/// Returns
/// -------
/// Stream
///     Samples with a text, as int8, for each column.
///
/// Raises
/// ------
/// OSError
///     If the file cannot be read; FileNotFoundError if there is none. When a sample is read, if a row has another number of fields
///     than the first, or a quoted field never ends.
/// ValueError
///     If `sep` or `quote` is not one character, or both are the same.
///
/// See Also
/// --------
/// stream_csv_reader_from_string, Stream.csv_reader_from_key
///
/// Notes
/// -----
/// The format is that of RFC 4180, with any of the usual ends of lines. Empty lines, and a byte order mark at the start, are passed
/// over.
///
/// Examples
/// --------
/// >>> import io
/// >>> rows = dx.stream_csv_reader(io.BytesIO(b'name,age\n"Lovelace, Ada",36\n'))
/// >>> {key: bytes(value) for key, value in rows.next().items()}
/// {'name': b'Lovelace, Ada', 'age': b'36'}
#[pyfunction]
#[pyo3(signature = (
    file, sep = ",", quote = "\"", *, local_prefix = PathBuf::new(), file_fetcher = None, file_fetcher_handle = None
))]
fn stream_csv_reader(
    file: &Bound<'_, PyAny>,
    sep: &str,
    quote: &str,
    local_prefix: PathBuf,
    file_fetcher: Option<&Bound<'_, PyAny>>,
    file_fetcher_handle: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyStream> {
    const OP: &str = "stream_csv_reader";
    let _ = file_fetcher_handle;
    let format = csv_format(file.py(), OP, sep, quote)?;
    let content = content_of(OP, file, local_prefix, fetch_of(OP, file_fetcher)?)?;
    records(file.py(), OP, content, format, false)
}

/// Read the rows of comma-separated values in a text.
///
/// Parameters
/// ----------
/// content : str or bytes
///     The text. Its first row names the columns.
/// sep : str, optional
///     The character between fields. Default: ",".
/// quote : str, optional
///     The character around fields that contain separators, quotes or newlines. Default: '"'.
///
/// Returns
/// -------
/// Stream
///     Samples with a text, as int8, for each column.
///
/// Raises
/// ------
/// ValueError
///     If `sep` or `quote` is not one character, or both are the same; when a sample is read, if a row has another number of fields
///     than the first.
///
/// See Also
/// --------
/// stream_csv_reader
///
/// Examples
/// --------
/// >>> rows = dx.stream_csv_reader_from_string("x;y\n1;2\n", sep=";")
/// >>> {key: bytes(value) for key, value in rows.next().items()}
/// {'x': b'1', 'y': b'2'}
#[pyfunction]
#[pyo3(signature = (content, sep = ",", quote = "\""))]
fn stream_csv_reader_from_string(content: &Bound<'_, PyAny>, sep: &str, quote: &str) -> PyResult<PyStream> {
    const OP: &str = "stream_csv_reader_from_string";
    let format = csv_format(content.py(), OP, sep, quote)?;
    let bytes = super::operations::text(OP, "content", content)?;
    records(content.py(), OP, Content::Memory(bytes.into()), format, false)
}

/// Make a buffer of the names of the files in a tar archive.
///
/// Parameters
/// ----------
/// tarfile : path
///     The archive. It may be compressed, if its suffix says so.
/// nested : bool, optional
///     Whether a file `a.tar` in the archive is replaced by its own files, named `a/…`. Default: False.
/// num_threads : int, optional
///     Without effect: to find the files takes one pass over their headers.
///
/// Returns
/// -------
/// Buffer
///     Samples with the key `file`: a name as int8, in the order of the archive.
///
/// Raises
/// ------
/// OSError
///     If the archive cannot be read or is damaged; FileNotFoundError if there is none.
///
/// See Also
/// --------
/// Buffer.read_from_tar, stream_webdataset
///
/// Examples
/// --------
/// >>> import io, tarfile, tempfile
/// >>> with tempfile.NamedTemporaryFile(suffix=".tar") as file:
/// ...     with tarfile.open(file.name, "w") as archive:
/// ...         info = tarfile.TarInfo("a.txt")
/// ...         info.size = 2
/// ...         archive.addfile(info, io.BytesIO(b"hi"))
/// ...     files = dx.files_from_tar(file.name).read_from_tar(file.name, "file", "text")
/// ...     sample = files[0]
/// >>> bytes(sample["file"]), bytes(sample["text"])
/// (b'a.txt', b'hi')
#[pyfunction]
#[pyo3(signature = (tarfile, nested = false, num_threads = 1))]
fn files_from_tar(py: Python<'_>, tarfile: PathBuf, nested: bool, num_threads: i64) -> PyResult<PyBuffer> {
    let _ = num_threads;
    let file = FileName { name: tarfile, folder: PathBuf::new(), fetch: None };
    py.detach(|| TarNames::buffer(&file, nesting(nested))).map(PyBuffer).or_raise(py)
}

/// Read the samples of a web data set: tar archives in which the files of a sample are neighbours.
///
/// Parameters
/// ----------
/// paths : path or sequence of path
///     The archives, called shards. They may be compressed, if their suffixes say so.
/// shuffle_shards : bool, optional
///     Whether every pass reads the shards in a random order of its own. Default: False.
/// seed : int, optional
///     Seed of these orders. Default: the next one of the process, see `umber.data.core.set_state`.
///
/// Returns
/// -------
/// Stream
///     Files whose names agree up to the first dot of the file name are a sample, with the key ``__key__`` for that part of the name
///     and a key for each suffix, in lower case. Contents are uint8 and share the mapped file.
///
/// Raises
/// ------
/// OSError
///     When a sample is read, if a shard cannot be read; the stream goes on with the next shard.
/// ValueError
///     When a sample is read, if it has two files of one suffix.
///
/// See Also
/// --------
/// files_from_tar
///
/// Notes
/// -----
/// Files without a suffix, and those whose names start with a dot, are passed over.
///
/// Examples
/// --------
/// >>> import io, tarfile, tempfile
/// >>> with tempfile.NamedTemporaryFile(suffix=".tar") as file:
/// ...     with tarfile.open(file.name, "w") as archive:
/// ...         for name, content in [("a/1.txt", b"one"), ("a/1.cls", b"0")]:
/// ...             info = tarfile.TarInfo(name)
/// ...             info.size = len(content)
/// ...             archive.addfile(info, io.BytesIO(content))
/// ...     sample = dx.stream_webdataset([file.name]).next()
/// >>> {key: bytes(value) for key, value in sample.items()}
/// {'__key__': b'a/1', 'txt': b'one', 'cls': b'0'}
#[pyfunction]
#[pyo3(signature = (paths, *, shuffle_shards = false, seed = None))]
fn stream_webdataset(
    paths: &Bound<'_, PyAny>,
    shuffle_shards: bool,
    seed: Option<u64>,
) -> PyResult<PyStream> {
    let refuse = || PyTypeError::new_err("[stream_webdataset] paths: expected a path or a sequence of paths");
    let names: Vec<PathBuf> = match paths.extract::<PathBuf>() {
        Ok(path) => vec![path],
        Err(_) => paths
            .try_iter()
            .and_then(|paths| paths.map(|path| path?.extract::<PathBuf>()).collect())
            .map_err(|_| refuse())?,
    };
    if names.is_empty() {
        return Err(PyValueError::new_err("[stream_webdataset] paths: got none, expected at least one"));
    }
    let file = |name: PathBuf| FileName { name, folder: PathBuf::new(), fetch: None };
    let key = shuffle_shards.then(|| Key::from_optional_seed(seed));
    let shards = WebDataset::new(names.into_iter().map(file).collect(), key);
    Ok(PyStream::new(Stream::new(Iterable::new(Box::new(shards), None))))
}

/// A path or the bytes of a file.
fn input_of(op: &str, object: &Bound<'_, PyAny>) -> PyResult<(FileInput, Value)> {
    let is_content = object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
        || object.is_instance_of::<PyMemoryView>();
    if is_content {
        return Ok((FileInput::Content, value_of(object)?));
    }
    let path = object.py().import("os")?.call_method1("fspath", (object,)).map_err(|_| {
        let class = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!("[{op}] path_or_bytes: got {class}, expected a path or bytes"))
    })?;
    let name = match path.cast::<PyString>() {
        Ok(text) => Value::from_bytes(text.to_str()?.as_bytes()),
        Err(_) => Value::from_bytes(path.cast::<PyBytes>()?.as_bytes()),
    };
    Ok((FileInput::Name(PathBuf::new()), name.or_raise(object.py())?))
}

/// The pixels of one image.
///
/// Parameters
/// ----------
/// path_or_bytes : path or bytes
///     The name of a file, or its content: JPEG, PNG, GIF, BMP, PNM or TGA.
/// channels : {1, 2, 3, 4}, optional
///     Number of channels of the result. Default: that of the file, without alpha.
/// orient : bool, optional
///     Whether to turn the image as its Exif data say. Default: False.
/// at_least : tuple of int, optional
///     A width and a height: a JPEG may be decoded at a half, a quarter or an eighth of its size while it is not smaller than these.
///
/// Returns
/// -------
/// numpy.ndarray
///     uint8 of shape (height, width, channels).
///
/// Raises
/// ------
/// OSError
///     If the file cannot be read or decoded; FileNotFoundError if there is none.
/// ValueError
///     If bytes cannot be decoded.
///
/// See Also
/// --------
/// load_audio, Buffer.load_image
///
/// Examples
/// --------
/// >>> dx.load_image(b"P5 2 1 255 \x01\x02").ravel()
/// array([1, 2], dtype=uint8)
#[pyfunction]
#[pyo3(signature = (path_or_bytes, *, channels = None, orient = false, at_least = None))]
fn load_image<'py>(
    path_or_bytes: &Bound<'py, PyAny>,
    channels: Option<usize>,
    orient: bool,
    at_least: Option<(usize, usize)>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = path_or_bytes.py();
    let (input, value) = input_of("load_image", path_or_bytes)?;
    let options: ImageOptions = image_options(channels, orient, at_least, true);
    let draw = Draw::new(Key::from_seed(0), Position::default());
    let load = || {
        LoadImage::new(Keys::new("image", ""), input, ImageContent::Pixels, options)?
            .change(value, &draw)
            .map_err(|error| error.at_stage("load_image"))
    };
    object_of(py, py.detach(load).or_raise(py)?, Views::AsTheyAre)
}

/// The samples of one sound.
///
/// Parameters
/// ----------
/// path_or_bytes : path or bytes
///     The name of a file, or its content: WAV or FLAC.
/// sample_rate : int, optional
///     The rate to resample to. Default: 0, that of the file.
/// resampling_quality : str, optional
///     See `Buffer.load_audio`. Default: "sinc-fastest".
///
/// Returns
/// -------
/// samples : numpy.ndarray
///     float32 of shape (frames, channels).
/// rate : int
///     Frames a second.
///
/// Raises
/// ------
/// OSError
///     If the file cannot be read or decoded; FileNotFoundError if there is none.
/// ValueError
///     If bytes cannot be decoded, or the quality is unknown.
///
/// See Also
/// --------
/// load_image, Buffer.load_audio
///
/// Examples
/// --------
/// >>> import io, wave
/// >>> file = io.BytesIO()
/// >>> with wave.open(file, "wb") as sound:
/// ...     sound.setparams((1, 2, 8000, 0, "NONE", ""))
/// ...     sound.writeframes(np.array([0, 16384], dtype="<i2").tobytes())
/// >>> samples, rate = dx.load_audio(file.getvalue())
/// >>> samples.ravel(), rate
/// (array([0. , 0.5], dtype=float32), 8000)
#[pyfunction]
#[pyo3(signature = (path_or_bytes, *, sample_rate = 0, resampling_quality = "sinc-fastest"))]
fn load_audio<'py>(
    path_or_bytes: &Bound<'py, PyAny>,
    sample_rate: i64,
    resampling_quality: &str,
) -> PyResult<(Bound<'py, PyAny>, i64)> {
    let py = path_or_bytes.py();
    let (input, value) = input_of("load_audio", path_or_bytes)?;
    let quality = quality_of("load_audio", resampling_quality)?;
    let draw = Draw::new(Key::from_seed(0), Position::default());
    let load = || {
        let operation = LoadAudio::new(
            Keys::new("sound", ""),
            input,
            AudioContent::Samples,
            AudioInfo::Rate,
            sample_rate,
            quality,
            "rate",
        )?;
        let sample = Sample::from_iter([(Name::new("sound"), value)]);
        let loaded = operation.apply(sample, &draw).map_err(|error| error.at_stage("load_audio"))?;
        let mut loaded = loaded.unwrap_or_default();
        let rate = loaded.take("rate")?.as_slice::<i32>().map_or(0, |rate| i64::from(rate[0]));
        Ok((loaded.take("sound")?, rate))
    };
    let (sound, rate) = py.detach(load).or_raise(py)?;
    Ok((object_of(py, sound, Views::AsTheyAre)?, if sample_rate > 0 { sample_rate } else { rate }))
}

#[pymethods]
impl PyStream {
    /// Read the lines of every file.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the files' names, as bytes.
    /// dst_key : str
    ///     Where the lines go, as int8, without the newlines. Other keys are left out.
    /// from_memory : bool, optional
    ///     Whether the value is the content of a file, not its name. Default: False.
    /// unzip : bool, optional
    ///     Whether the content may be compressed with gzip or zstd. Files whose suffix says so are always decompressed. Default: False.
    /// local_prefix : path, optional
    ///     The folder that names are relative to. Default: the current one.
    /// file_fetcher : FileFetcher, optional
    ///     Called with a name before the file is opened.
    ///
    /// Returns
    /// -------
    /// Stream
    ///
    /// See Also
    /// --------
    /// csv_reader_from_key, stream_line_reader
    ///
    /// Examples
    /// --------
    /// >>> texts = dx.buffer_from_vector([{"x": b"a\nb"}, {"x": b"c"}]).to_stream()
    /// >>> [bytes(s["line"]) for s in texts.line_reader_from_key("x", "line", from_memory=True)]
    /// [b'a', b'b', b'c']
    #[pyo3(signature = (
        key, dst_key, from_memory = false, unzip = false, local_prefix = PathBuf::new(), file_fetcher = None
    ))]
    fn line_reader_from_key(
        &self,
        key: &str,
        dst_key: &str,
        from_memory: bool,
        unzip: bool,
        local_prefix: PathBuf,
        file_fetcher: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyStream> {
        const OP: &str = "line_reader_from_key";
        let format = RecordFormat::Lines(Name::new(dst_key));
        let fetch = fetch_of(OP, file_fetcher)?;
        let records = RecordsFromKey::new(OP, key, format, from_memory, unzip, local_prefix, fetch);
        Ok(self.derive(self.stream.records(records)))
    }

    /// Read the rows of every file of comma-separated values.
    ///
    /// Parameters
    /// ----------
    /// key : str
    ///     The key of the files' names, as bytes. Other keys are left out.
    /// sep : str, optional
    ///     The character between fields. Default: ",".
    /// quote : str, optional
    ///     The character around fields that contain separators, quotes or newlines. Default: '"'.
    /// from_memory : bool, optional
    ///     Whether the value is the content of a file, not its name. Default: False.
    /// local_prefix : path, optional
    ///     The folder that names are relative to. Default: the current one.
    /// file_fetcher : FileFetcher, optional
    ///     Called with a name before the file is opened.
    ///
    /// Returns
    /// -------
    /// Stream
    ///     Samples with a text, as int8, for each column.
    ///
    /// See Also
    /// --------
    /// line_reader_from_key, stream_csv_reader
    ///
    /// Examples
    /// --------
    /// >>> tables = dx.buffer_from_vector([{"x": b"n\n1\n2"}, {"x": b"n\n3"}]).to_stream()
    /// >>> [bytes(s["n"]) for s in tables.csv_reader_from_key("x", from_memory=True)]
    /// [b'1', b'2', b'3']
    #[pyo3(signature = (
        key, sep = ",", quote = "\"", from_memory = false, local_prefix = PathBuf::new(), file_fetcher = None
    ))]
    #[allow(clippy::too_many_arguments)] // Python's arguments.
    fn csv_reader_from_key(
        &self,
        py: Python<'_>,
        key: &str,
        sep: &str,
        quote: &str,
        from_memory: bool,
        local_prefix: PathBuf,
        file_fetcher: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyStream> {
        const OP: &str = "csv_reader_from_key";
        let format = csv_format(py, OP, sep, quote)?;
        let fetch = fetch_of(OP, file_fetcher)?;
        let records = RecordsFromKey::new(OP, key, format, from_memory, false, local_prefix, fetch);
        Ok(self.derive(self.stream.records(records)))
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(stream_line_reader, module)?)?;
    module.add_function(wrap_pyfunction!(stream_csv_reader, module)?)?;
    module.add_function(wrap_pyfunction!(stream_csv_reader_from_string, module)?)?;
    module.add_function(wrap_pyfunction!(files_from_tar, module)?)?;
    module.add_function(wrap_pyfunction!(stream_webdataset, module)?)?;
    module.add_function(wrap_pyfunction!(load_image, module)?)?;
    module.add_function(wrap_pyfunction!(load_audio, module)?)
}
