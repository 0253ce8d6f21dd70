# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, BinaryIO, Literal, Protocol, Self, TypeAlias, overload
from umber.data._enums import LoadAudioInfo, TokenizeMode
from umber.data._fetchers import FileFetcher, FileFetcherHandle

class _Group(Protocol):
    def rank(self) -> int: ...
    def size(self) -> int: ...

_Sample: TypeAlias = dict[str, Any]
_Slice: TypeAlias = slice
_Path: TypeAlias = str | PathLike[str]
_File: TypeAlias = str | PathLike[str] | BinaryIO
_Bytes: TypeAlias = str | bytes | bytearray
_Numbers: TypeAlias = float | Sequence[float]
_Ints: TypeAlias = int | Sequence[int]
_DType: TypeAlias = str | type[Any] | Any


class BPEMerges:
    """The pairs that byte pair encoding merges.

    Examples
    --------
    >>> merges = dx.core.BPEMerges()
    >>> merges.add("a", "b", 7)
    >>> merges.can_merge("a", "b"), merges.can_merge("b", "a")
    (7, None)
    """
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    def add(self, left: _Bytes, right: _Bytes, token: int) -> None:
        """Add a pair.

        Parameters
        ----------
        left, right : str or bytes
            The pair.
        token : int
            The identifier of both together. Pairs of lower identifiers are merged first.

        Examples
        --------
        >>> merges = dx.core.BPEMerges()
        >>> merges.add("a", "b", 7)
        >>> merges.can_merge("a", "b")
        7
        """

    def can_merge(self, left: _Bytes, right: _Bytes) -> int | None:
        """The identifier of two strings together.

        Parameters
        ----------
        left, right : str or bytes
            The pair.

        Returns
        -------
        int or None
            None if they are not merged.

        Examples
        --------
        >>> merges = dx.core.BPEMerges()
        >>> merges.add("a", "b", 7)
        >>> merges.can_merge("b", "a") is None
        True
        """


class BPETokenizer:
    """Splits texts into tokens by byte pair encoding.

    Parameters
    ----------
    symbols : CharTrie
        The tokens that merging begins with. A text is split into the longest of them.
    merges : BPEMerges
        The pairs that are merged: the lowest identifier first, of equal pairs the leftmost.

    Examples
    --------
    >>> from umber.data.core import BPEMerges, BPETokenizer, CharTrie
    >>> symbols, merges = CharTrie(), BPEMerges()
    >>> node = symbols.insert("a")
    >>> merges.add("a", "a", 1)
    >>> BPETokenizer(symbols, merges).tokenize("aaa")
    [1, 0]
    """
    def __init__(self, symbols: CharTrie, merges: BPEMerges) -> None: ...
    def tokenize(self, input: _Bytes) -> list[int]:
        """The tokens of a text.

        Parameters
        ----------
        input : str or bytes
            The text.

        Returns
        -------
        list of int

        Raises
        ------
        ValueError
            If a part of the text is no symbol.

        Examples
        --------
        >>> symbols, merges = dx.core.CharTrie(), dx.core.BPEMerges()
        >>> ids = [symbols.insert(token).id for token in ["a", "b"]]
        >>> merges.add("a", "b", 2)
        >>> dx.core.BPETokenizer(symbols, merges).tokenize("aab")
        [0, 2]
        """


class Buffer:
    """Samples of known length, with random access, made when they are read.

    A sample is a dict of arrays. `buffer_from_vector`, `buffer_from_arrays`, `buffer_from_arrow` and `files_from_tar` make buffers.
    Operations return new buffers; nothing is computed before a sample is read.

    Examples
    --------
    >>> import umber.data as dx
    >>> buffer = dx.buffer_from_vector([{"x": 1}, {"x": 2}, {"x": 3}])
    >>> len(buffer), int(buffer[-1]["x"])
    (3, 3)
    >>> buffer.batch(2)[0]["x"]
    array([1, 2])
    """
    @overload
    def __getitem__(self, index: int) -> _Sample: ...
    @overload
    def __getitem__(self, index: _Slice | Sequence[int]) -> Buffer: ...
    def __iter__(self) -> Iterator[_Sample]: ...
    def __len__(self) -> int: ...
    def __repr__(self) -> str: ...
    def append(self, buffer: Buffer) -> Buffer:
        """The samples of this buffer, then those of another.

        Parameters
        ----------
        buffer : Buffer
            The other one.

        Returns
        -------
        Buffer

        See Also
        --------
        chain : the same for streams

        Examples
        --------
        >>> len(buffer.append(buffer))
        6
        """

    def batch(
        self,
        batch_size: _Ints,
        pad: Mapping[str, float] | None = None,
        dim: Mapping[str, int] | None = None,
    ) -> Buffer:
        """Merge samples that follow each other into batches.

        Parameters
        ----------
        batch_size : int or list of int
            Samples in a batch. Several sizes are used in turn.
        pad : dict of str to float, optional
            What shorter values of a key are filled up with at their ends. Default: zero.
        dim : dict of str to int, optional
            The axis along which the values of a key are joined. Others are stacked along a new first axis.

        Returns
        -------
        Buffer
            The last batch may be smaller.

        Raises
        ------
        ValueError
            If a size is below one; when a batch is read, if its samples differ in keys or a key's values in their number
            of axes.
        TypeError
            When a batch is read, if a key's values differ in dtype.

        See Also
        --------
        dynamic_batch : batches of about the same number of elements

        Notes
        -----
        A batch is one new array a key, which nothing else sees: `umber.core.asarray` of it copies nothing.

        Examples
        --------
        >>> rows = dx.buffer_from_vector([{"x": [1]}, {"x": [2, 3]}])
        >>> rows.batch(2, pad={"x": -1})[0]["x"]
        array([[ 1, -1],
               [ 2,  3]])
        >>> rows.batch(2, dim={"x": 0})[0]["x"]
        array([1, 2, 3])
        """

    def by_rank(
        self,
        group: _Group | None = None,
        *,
        even: Literal['drop', 'pad'] | None = None,
    ) -> Buffer:
        """The samples of one process of a group: sample i belongs to rank ``i % size``.

        Parameters
        ----------
        group : object, optional
            Has methods `rank` and `size`. Default: a single process.
        even : {"drop", "pad"}, optional
            Give all ranks the same number of samples: leave out those that do not divide evenly, or fill up with samples from
            the start. Default: the first ranks may have one more.

        Returns
        -------
        Buffer

        Raises
        ------
        TypeError
            If the group lacks the methods.
        ValueError
            If `even` is another text.

        See Also
        --------
        partition

        Examples
        --------
        >>> len(buffer.by_rank())
        3
        """

    def cast(self, key: str, dtype: _DType, output_key: str = "") -> Buffer:
        """Convert a value to another dtype.

        Parameters
        ----------
        key : str
            The key.
        dtype : Dtype or str
            The dtype.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        See Also
        --------
        scale

        Examples
        --------
        >>> buffer.cast("x", "float32")[0]["x"]
        array(1., dtype=float32)
        """

    def cast_if(self, cond: bool, key: str, dtype: _DType, output_key: str = "") -> Buffer:
        """`cast`, if `cond` is true; else the samples stay as they are."""

    def concretize(self) -> Buffer:
        """Make all samples now, once.

        Returns
        -------
        Buffer
            Of the samples in memory.

        Examples
        --------
        >>> len(buffer.concretize())
        3
        """

    def dynamic_batch(
        self,
        key: str,
        *,
        size_buffer: Buffer | None = None,
        min_data_size: int = ...,
        max_data_size: int = ...,
        pad: Mapping[str, float] | None = None,
        dim: Mapping[str, int] | None = None,
        drop_outliers: bool = False,
    ) -> Buffer:
        """Merge samples of similar size into batches of about the same number of elements.

        Little of such batches is padding.

        Parameters
        ----------
        key : str
            The key whose values are measured.
        size_buffer : Buffer, optional
            A sample for each of this buffer, whose value of `key` is the shape. Default: the samples are made to measure them.
        min_data_size : int, optional
            Least number of elements of a batch, with padding; samples without others to reach it are left out. Default: none.
        max_data_size : int, optional
            Largest number of elements of a batch, with padding. Default: none, so that all samples are one batch.
        pad, dim : dict, optional
            As for `batch`.
        drop_outliers : bool, optional
            Leave out samples larger than `max_data_size`. Default: False, they are batches of their own.

        Returns
        -------
        Buffer
            Smaller samples first.

        Raises
        ------
        ValueError
            If `min_data_size` exceeds `max_data_size`, the lengths of the buffers differ, or a sample lacks the key.

        See Also
        --------
        batch

        Examples
        --------
        >>> rows = dx.buffer_from_vector([{"x": np.ones(n)} for n in (5, 1, 4, 1, 2)])
        >>> [b["x"].shape for b in rows.dynamic_batch("x", max_data_size=6)]
        [(3, 2), (1, 4), (1, 5)]
        """

    def filter_by_shape(self, key: str, dim: int, low: int = ..., high: int = ...) -> Buffer:
        """Leave out samples by the length of an axis: they become empty, and a stream drops them.

        Parameters
        ----------
        key : str
            The key whose value is measured.
        dim : int
            The axis.
        low, high : int, optional
            Least and largest length to keep. Default: -1, no limit.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> rows = dx.buffer_from_vector([{"x": np.ones(n)} for n in (1, 4, 2)]).to_stream()
        >>> [s["x"].size for s in rows.filter_by_shape("x", 0, 2, 3)]
        [2]
        """

    def filter_by_shape_if(
        self,
        cond: bool,
        key: str,
        dim: int,
        low: int = ...,
        high: int = ...,
    ) -> Buffer:
        """`filter_by_shape`, if `cond` is true; else the samples stay as they are."""

    def filter_key(self, key: str, remove: bool = False) -> Buffer:
        """Keep one key, or remove it.

        Parameters
        ----------
        key : str
            The key.
        remove : bool, optional
            Remove the key instead of all others. Default: False.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> rows = dx.buffer_from_vector([{"x": 1, "y": 2}])
        >>> rows.filter_key("x")[0], rows.filter_key("x", remove=True)[0]
        ({'x': array(1)}, {'y': array(2)})
        """

    def filter_key_if(self, cond: bool, key: str, remove: bool = False) -> Buffer:
        """`filter_key`, if `cond` is true; else the samples stay as they are."""

    def image_center_crop(self, key: str, w: int, h: int, output_key: str = "") -> Buffer:
        """Take the middle of an image.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        w, h : int
            Width and height of the result.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If a size is below one; when a sample is read, if the image is smaller.

        See Also
        --------
        image_random_crop

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.arange(25, dtype=np.uint8).reshape(5, 5, 1)}])
        >>> images.image_center_crop("image", 1, 1)[0]["image"].item()
        12
        """

    def image_center_crop_if(
        self,
        cond: bool,
        key: str,
        w: int,
        h: int,
        output_key: str = "",
    ) -> Buffer:
        """`image_center_crop`, if `cond` is true; else the samples stay as they are."""

    def image_channel_reduction(
        self,
        key: str,
        preset: Literal['default', 'rec601', 'rec709', 'rec2020', 'green'] = "default",
        output_key: str = "",
    ) -> Buffer:
        """Reduce the channels of an RGB image to one.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, 3), or a stack of such.
        preset : {"default", "rec601", "rec709", "rec2020", "green"}, optional
            The weights: those of a standard for video, or the green channel alone. Default: those of rec601.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream
            Of shape (height, width, 1).

        Raises
        ------
        ValueError
            If the preset is unknown.

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.full((1, 1, 3), 9, np.uint8)}])
        >>> images.image_channel_reduction("image")[0]["image"].ravel()
        array([9], dtype=uint8)
        """

    def image_channel_reduction_if(
        self,
        cond: bool,
        key: str,
        preset: Literal['default', 'rec601', 'rec709', 'rec2020', 'green'] = "default",
        output_key: str = "",
    ) -> Buffer:
        """`image_channel_reduction`, if `cond` is true; else the samples stay as they are."""

    def image_normalize(
        self,
        key: str,
        mean: _Numbers,
        std: _Numbers,
        *,
        scale: float = ...,
        layout: Literal['HWC', 'CHW'] = "HWC",
        dtype: _DType = None,
        output_key: str = "",
    ) -> Buffer:
        """Compute ``(image * scale - mean) / std`` for each channel in one pass.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such. Any dtype: of floating images in [0, 1], pass
            ``scale=1``.
        mean, std : float or sequence of float
            A number, or one for each channel.
        scale : float, optional
            Default: 1/255.
        layout : {"HWC", "CHW"}, optional
            Order of the result's axes: channels last or first. Default: "HWC".
        dtype : Dtype or str, optional
            Dtype of the result. Default: float32.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If `layout` is another text; when a sample is read, if the numbers do not fit the channels.
        TypeError
            If the dtype is not a floating one.

        See Also
        --------
        scale

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.full((1, 1, 3), 255, np.uint8)}])
        >>> images.image_normalize("image", 0.5, [0.5, 1, 2])[0]["image"].ravel()
        array([1.  , 0.5 , 0.25], dtype=float32)
        """

    def image_normalize_if(
        self,
        cond: bool,
        key: str,
        mean: _Numbers,
        std: _Numbers,
        *,
        scale: float = ...,
        layout: Literal['HWC', 'CHW'] = "HWC",
        dtype: _DType = None,
        output_key: str = "",
    ) -> Buffer:
        """`image_normalize`, if `cond` is true; else the samples stay as they are."""

    def image_random_area_crop(
        self,
        key: str,
        area_range: tuple[float, float],
        aspect_ratio_range: tuple[float, float],
        num_trial: int = 10,
        output_key: str = "",
    ) -> Buffer:
        """Take a random part of an image, of random area and proportions.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        area_range : tuple of float
            Least and largest area, as a part of the image's.
        aspect_ratio_range : tuple of float
            Least and largest ratio of width to height, relative to the image's.
        num_trial : int, optional
            How often a window is drawn that does not fit, before the whole image is taken. Default: 10.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If a range or `num_trial` makes no sense.

        See Also
        --------
        image_random_crop

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.zeros((8, 8, 3), np.uint8)}])
        >>> images.image_random_area_crop("image", (0.25, 0.5), (1, 1))[0]["image"].shape[0] < 8
        True
        """

    def image_random_area_crop_if(
        self,
        cond: bool,
        key: str,
        area_range: tuple[float, float],
        aspect_ratio_range: tuple[float, float],
        num_trial: int = 10,
        output_key: str = "",
    ) -> Buffer:
        """`image_random_area_crop`, if `cond` is true; else the samples stay as they are."""

    def image_random_crop(self, key: str, w: int, h: int, output_key: str = "") -> Buffer:
        """Take a random part of an image.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        w, h : int
            Width and height of the result.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If a size is below one; when a sample is read, if the image is smaller.

        See Also
        --------
        image_center_crop, image_random_area_crop

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.zeros((5, 5, 3), np.uint8)}])
        >>> images.image_random_crop("image", 3, 2)[0]["image"].shape
        (2, 3, 3)
        """

    def image_random_crop_if(
        self,
        cond: bool,
        key: str,
        w: int,
        h: int,
        output_key: str = "",
    ) -> Buffer:
        """`image_random_crop`, if `cond` is true; else the samples stay as they are."""

    def image_random_h_flip(self, key: str, prob: float, output_key: str = "") -> Buffer:
        """Flip an image from left to right, at random.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        prob : float
            Probability of a flip.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.arange(2, dtype=np.uint8).reshape(1, 2, 1)}])
        >>> images.image_random_h_flip("image", 1)[0]["image"].ravel()
        array([1, 0], dtype=uint8)
        """

    def image_random_h_flip_if(
        self,
        cond: bool,
        key: str,
        prob: float,
        output_key: str = "",
    ) -> Buffer:
        """`image_random_h_flip`, if `cond` is true; else the samples stay as they are."""

    def image_resize(self, key: str, w: int, h: int, output_key: str = "") -> Buffer:
        """Resize an image, with antialiasing.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        w, h : int
            Width and height of the result.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If a size is below one.

        See Also
        --------
        image_resize_smallest_side

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.zeros((4, 6, 3), np.uint8)}])
        >>> images.image_resize("image", 3, 2)[0]["image"].shape
        (2, 3, 3)
        """

    def image_resize_if(self, cond: bool, key: str, w: int, h: int, output_key: str = "") -> Buffer:
        """`image_resize`, if `cond` is true; else the samples stay as they are."""

    def image_resize_smallest_side(self, key: str, size: int, output_key: str = "") -> Buffer:
        """Resize an image so that its smaller side has a length, in proportion.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        size : int
            Length of the smaller side.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If `size` is below one.

        See Also
        --------
        image_resize

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.zeros((4, 6, 3), np.uint8)}])
        >>> images.image_resize_smallest_side("image", 2)[0]["image"].shape
        (2, 3, 3)
        """

    def image_resize_smallest_side_if(
        self,
        cond: bool,
        key: str,
        size: int,
        output_key: str = "",
    ) -> Buffer:
        """`image_resize_smallest_side`, if `cond` is true; else the samples stay as they are."""

    def image_rotate(
        self,
        key: str,
        angle: float,
        crop: bool = False,
        output_key: str = "",
    ) -> Buffer:
        """Rotate an image about its centre.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        angle : float
            Angle in degrees.
        crop : bool, optional
            Keep the size of the image; else the result has room for all of it. Default: False.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream
            Pixels are those of the nearest ones of the image; zero outside of it.

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.zeros((4, 6, 1), np.uint8)}])
        >>> images.image_rotate("image", 90)[0]["image"].shape
        (6, 4, 1)
        """

    def image_rotate_if(
        self,
        cond: bool,
        key: str,
        angle: float,
        crop: bool = False,
        output_key: str = "",
    ) -> Buffer:
        """`image_rotate`, if `cond` is true; else the samples stay as they are."""

    def key_transform(
        self,
        key: str,
        func: Callable[[Any], Any],
        output_key: str = "",
        *,
        writable: bool = True,
    ) -> Buffer:
        """Apply a function to the value of a key.

        Parameters
        ----------
        key : str
            The key.
        func : callable
            Takes a NumPy array, returns an array, number or bytes. It may write to its argument, which is private to the sample.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.
        writable : bool, optional
            False passes the array without a copy; it is read-only where something else sees the memory. Default: True.

        Returns
        -------
        Buffer or Stream

        See Also
        --------
        sample_transform, cast, scale, image_normalize

        Examples
        --------
        >>> buffer.key_transform("x", lambda x: x * 10)[0]["x"]
        array(10)
        """

    def key_transform_if(
        self,
        cond: bool,
        key: str,
        func: Callable[[Any], Any],
        output_key: str = "",
        *,
        writable: bool = True,
    ) -> Buffer:
        """`key_transform`, if `cond` is true; else the samples stay as they are."""

    def load_audio(
        self,
        key: str,
        prefix: _Path = ...,
        info: bool = False,
        from_memory: bool = False,
        info_type: LoadAudioInfo | None = None,
        sample_rate: int = 0,
        resampling_quality: str = "sinc-fastest",
        info_key: str = "",
        output_key: str = "",
    ) -> Buffer:
        """Read a sound file: WAV or FLAC.

        Parameters
        ----------
        key : str
            The key of the file's name, as bytes.
        prefix : path, optional
            The folder that the name is relative to. Default: the current one.
        info : bool, optional
            Read what the header tells instead of the samples. Default: False.
        from_memory : bool, optional
            Whether the value is the content of a file, not its name. Default: False.
        info_type : LoadAudioInfo, optional
            What is told: ``All`` for frames, channels and rate, or one of them, or ``NumSeconds``. Default: ``All``.
        sample_rate : int, optional
            The rate to resample to. Default: 0, that of the file.
        resampling_quality : {"sinc-best", "sinc-medium", "sinc-fastest", "zero-order-hold", "linear"}, optional
            How to resample. Default: "sinc-fastest".
        info_key : str, optional
            Where what the header tells goes besides.
        output_key : str, optional
            Where the float32 samples of shape (frames, channels) go. Default: they replace the name.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If the quality is unknown.
        OSError
            When a sample is read, if the file cannot be read or decoded.

        See Also
        --------
        resample_audio, umber.data.load_audio

        Examples
        --------
        >>> import io, wave
        >>> file = io.BytesIO()
        >>> with wave.open(file, "wb") as sound:
        ...     sound.setparams((1, 2, 8000, 0, "NONE", ""))
        ...     sound.writeframes(np.array([0, 16384], dtype="<i2").tobytes())
        >>> sounds = dx.buffer_from_vector([{"x": file.getvalue()}])
        >>> sounds.load_audio("x", from_memory=True)[0]["x"].ravel()
        array([0. , 0.5], dtype=float32)
        """

    def load_audio_if(
        self,
        cond: bool,
        key: str,
        prefix: _Path = ...,
        info: bool = False,
        from_memory: bool = False,
        info_type: LoadAudioInfo | None = None,
        sample_rate: int = 0,
        resampling_quality: str = "sinc-fastest",
        info_key: str = "",
        output_key: str = "",
    ) -> Buffer:
        """`load_audio`, if `cond` is true; else the samples stay as they are."""

    def load_file(self, key: str, prefix: _Path = ..., output_key: str = "") -> Buffer:
        """Read a file, whose name is the value, as int8.

        Parameters
        ----------
        key : str
            The key of the name, as bytes.
        prefix : path, optional
            The folder that the name is relative to. Default: the current one.
        output_key : str, optional
            Where the content goes. Default: it replaces the name.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        OSError
            When a sample is read, if the file cannot be.

        See Also
        --------
        load_numpy, load_image, load_audio

        Examples
        --------
        >>> import pathlib, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = pathlib.Path(folder, "a.txt").write_bytes(b"text")
        >>> bytes(dx.buffer_from_vector([{"file": b"a.txt"}]).load_file("file", folder)[0]["file"])
        b'text'
        """

    def load_file_if(
        self,
        cond: bool,
        key: str,
        prefix: _Path = ...,
        output_key: str = "",
    ) -> Buffer:
        """`load_file`, if `cond` is true; else the samples stay as they are."""

    def load_image(
        self,
        key: str,
        prefix: _Path = ...,
        info: bool = False,
        format: str = "RGB",
        from_memory: bool = False,
        output_key: str = "",
        *,
        channels: int | None = None,
        orient: bool = False,
        at_least: tuple[int, int] | None = None,
        strict: bool = True,
    ) -> Buffer:
        """Decode an image: JPEG, PNG, GIF (its first frame), BMP, PNM or TGA.

        Parameters
        ----------
        key : str
            The key of the file's name, or of its content.
        prefix : path, optional
            The folder that the name is relative to. Default: the current one.
        info : bool, optional
            Only read the size: an int64 array of width and height. Default: False.
        format : str, optional
            Not used; mlx-data has it.
        from_memory : bool, optional
            The value is the content of the file, not its name. Default: False.
        output_key : str, optional
            Where the image goes. Default: it replaces the value.
        channels : int, optional
            1 for grey, 3 for RGB, 4 for RGBA. Default: those of the file, without transparency; JPEGs have 3.
        orient : bool, optional
            Turn the image upright as its Exif data say. Default: False.
        at_least : tuple of int, optional
            Width and height: a JPEG may be decoded at a half, quarter or eighth of its size while it is not smaller, which is faster.
        strict : bool, optional
            An image that ends early is an error; False gives what there is. Default: True.

        Returns
        -------
        Buffer or Stream
            Images are uint8, of shape (height, width, channels).

        Raises
        ------
        OSError
            When a sample is read, if the file cannot be, or is damaged.

        See Also
        --------
        umber.data.load_image : one image

        Examples
        --------
        >>> grey = np.frombuffer(b"P5 2 1 255 \\x10\\x20", np.uint8)
        >>> dx.buffer_from_vector([{"image": grey}]).load_image("image", from_memory=True)[0]["image"].shape
        (1, 2, 1)
        """

    def load_image_if(
        self,
        cond: bool,
        key: str,
        prefix: _Path = ...,
        info: bool = False,
        format: str = "RGB",
        from_memory: bool = False,
        output_key: str = "",
        *,
        channels: int | None = None,
        orient: bool = False,
        at_least: tuple[int, int] | None = None,
        strict: bool = True,
    ) -> Buffer:
        """`load_image`, if `cond` is true; else the samples stay as they are."""

    def load_numpy(
        self,
        key: str,
        prefix: _Path = ...,
        from_memory: bool = False,
        output_key: str = "",
    ) -> Buffer:
        """Read an array from a file in NumPy's format npy.

        Parameters
        ----------
        key : str
            The key of the name, or of the content.
        prefix : path, optional
            The folder that the name is relative to. Default: the current one.
        from_memory : bool, optional
            The value is the content of the file, not its name. Default: False.
        output_key : str, optional
            Where the array goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        OSError
            When a sample is read, if the file cannot be, or is not in this format.

        See Also
        --------
        load_file

        Examples
        --------
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> np.save(folder + "/a.npy", np.arange(3))
        >>> dx.buffer_from_vector([{"file": b"a.npy"}]).load_numpy("file", folder)[0]["file"]
        array([0, 1, 2])
        """

    def load_numpy_if(
        self,
        cond: bool,
        key: str,
        prefix: _Path = ...,
        from_memory: bool = False,
        output_key: str = "",
    ) -> Buffer:
        """`load_numpy`, if `cond` is true; else the samples stay as they are."""

    def load_video(
        self,
        key: str,
        prefix: _Path = ...,
        info: bool = False,
        from_memory: bool = False,
        output_key: str = "",
    ) -> Buffer:
        """Raise: video is not decoded here.

        Parameters
        ----------
        key : str
            The key of the file's name.
        prefix, output_key : str, optional
            As for `load_image`.
        info, from_memory : bool, optional
            As for `load_image`.

        Returns
        -------
        Buffer or Stream
            Never.

        Raises
        ------
        NotImplementedError
            Always. Decode video with PyAV in a `key_transform`; operations on images take stacks of frames.

        See Also
        --------
        load_image, key_transform

        Examples
        --------
        >>> buffer.load_video("x")
        Traceback (most recent call last):
        ...
        NotImplementedError: [load_video] video is not decoded here; ...
        """

    def load_video_if(
        self,
        cond: bool,
        key: str,
        prefix: _Path = ...,
        info: bool = False,
        from_memory: bool = False,
        output_key: str = "",
    ) -> Buffer:
        """`load_video`, if `cond` is true; else the samples stay as they are."""

    def ordered_prefetch(self, prefetch_size: int, num_thread: int) -> Stream:
        """Read the samples in order, made ahead by threads.

        Parameters
        ----------
        prefetch_size : int
            How many samples are made ahead.
        num_thread : int
            Number of threads.

        Returns
        -------
        Stream

        See Also
        --------
        Stream.prefetch

        Examples
        --------
        >>> [int(s["x"]) for s in buffer.ordered_prefetch(2, 2)]
        [1, 2, 3]
        """

    def pad(
        self,
        key: str,
        dim: int,
        lpad: int,
        rpad: int,
        pad_value: float,
        output_key: str = "",
    ) -> Buffer:
        """Add elements before and after an axis.

        Parameters
        ----------
        key : str
            The key.
        dim : int
            The axis.
        lpad, rpad : int
            How many elements are added before and after.
        pad_value : float
            Their value.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If a number of elements is negative; when a sample is read, if the axis is out of bounds.

        See Also
        --------
        pad_to_size, pad_to_multiple

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": [7, 8]}]).pad("x", 0, 1, 2, 0)[0]["x"]
        array([0, 7, 8, 0, 0])
        """

    def pad_if(
        self,
        cond: bool,
        key: str,
        dim: int,
        lpad: int,
        rpad: int,
        pad_value: float,
        output_key: str = "",
    ) -> Buffer:
        """`pad`, if `cond` is true; else the samples stay as they are."""

    def pad_to_multiple(
        self,
        key: str,
        dim: int,
        pad_multiple: int,
        pad_value: float,
        output_key: str = "",
    ) -> Buffer:
        """Add elements after an axis up to a multiple of a length.

        Parameters
        ----------
        key : str
            The key.
        dim : int
            The axis.
        pad_multiple : int
            The length.
        pad_value : float
            Value of the added elements.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If `pad_multiple` is below one.

        See Also
        --------
        pad, pad_to_size

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": [7, 8, 9]}]).pad_to_multiple("x", 0, 2, 0)[0]["x"]
        array([7, 8, 9, 0])
        """

    def pad_to_multiple_if(
        self,
        cond: bool,
        key: str,
        dim: int,
        pad_multiple: int,
        pad_value: float,
        output_key: str = "",
    ) -> Buffer:
        """`pad_to_multiple`, if `cond` is true; else the samples stay as they are."""

    def pad_to_size(
        self,
        key: str,
        dim: int,
        size: int,
        pad_value: float,
        output_key: str = "",
    ) -> Buffer:
        """Add elements after an axis up to a length.

        Parameters
        ----------
        key : str
            The key.
        dim : int
            The axis.
        size : int
            The length; longer values stay as they are.
        pad_value : float
            Value of the added elements.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        See Also
        --------
        pad, pad_to_multiple

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": [7, 8]}]).pad_to_size("x", 0, 4, -1)[0]["x"]
        array([ 7,  8, -1, -1])
        """

    def pad_to_size_if(
        self,
        cond: bool,
        key: str,
        dim: int,
        size: int,
        pad_value: float,
        output_key: str = "",
    ) -> Buffer:
        """`pad_to_size`, if `cond` is true; else the samples stay as they are."""

    def partition(self, num_partitions: int, partition: int) -> Buffer:
        """Every `num_partitions`-th sample, from `partition` on.

        Parameters
        ----------
        num_partitions : int
            Number of parts.
        partition : int
            Which part, from 0.

        Returns
        -------
        Buffer

        Raises
        ------
        ValueError
            If there is no such part.

        See Also
        --------
        by_rank

        Examples
        --------
        >>> [int(s["x"]) for s in buffer.partition(2, 0)]
        [1, 3]
        """

    def partition_if(self, cond: bool, num_partitions: int, partition: int) -> Buffer:
        """`partition`, if `cond` is true."""

    def perm(self, perm: Sequence[int]) -> Buffer:
        """The samples at these indices, in this order.

        Parameters
        ----------
        perm : sequence of int
            Indices; negative ones count from the end. They may repeat.

        Returns
        -------
        Buffer

        Raises
        ------
        IndexError
            If an index is out of bounds.

        Examples
        --------
        >>> [int(s["x"]) for s in buffer.perm([2, 0])]
        [3, 1]
        """

    def random_slice(self, ikey: str, dims: _Ints, sizes: _Ints, output_key: str = "") -> Buffer:
        """Take a random part of a value, without a copy.

        Parameters
        ----------
        ikey : str
            The key.
        dims, sizes : int or list of int
            For each of these axes, the length of the part.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": np.arange(5)}]).random_slice("x", 0, 2)[0]["x"].shape
        (2,)
        """

    def random_slice_if(
        self,
        cond: bool,
        ikey: str,
        dims: _Ints,
        sizes: _Ints,
        output_key: str = "",
    ) -> Buffer:
        """`random_slice`, if `cond` is true; else the samples stay as they are."""

    def read_from_tar(
        self,
        tarkey: _Path,
        ikey: str,
        okey: str,
        prefix: _Path = ...,
        tar_prefix: _Path = ...,
        from_key: bool = False,
        file_fetcher: FileFetcher | None = None,
        nested: bool = False,
        num_threads: int = 1,
    ) -> Buffer:
        """Read a file in a tar archive, as uint8, without a copy.

        Parameters
        ----------
        tarkey : path
            The archive; with `from_key`, the key of its name.
        ikey : str
            The key of the file's name, as bytes.
        okey : str
            Where the content goes.
        prefix : path, optional
            The folder in the archive that names are relative to.
        tar_prefix : path, optional
            The folder that the archive's name is relative to. Default: the current one.
        from_key : bool, optional
            Whether samples name their archives. Default: False.
        file_fetcher : FileFetcher, optional
            Called with the name of an archive before it is opened.
        nested : bool, optional
            Whether a file `a.tar` in the archive is replaced by its own files, named `a/…`. Default: False.
        num_threads : int, optional
            Without effect: to find the files takes one pass over their headers.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        OSError
            When a sample is read, if the archive cannot be read or is damaged; FileNotFoundError if there is none, or no such file in it.

        See Also
        --------
        umber.data.files_from_tar

        Notes
        -----
        An archive is mapped and its files are found when it is first read; then each takes a search by name.

        Examples
        --------
        >>> import io, tarfile, tempfile
        >>> with tempfile.NamedTemporaryFile(suffix=".tar") as file:
        ...     with tarfile.open(file.name, "w") as archive:
        ...         info = tarfile.TarInfo("a.txt")
        ...         info.size = 2
        ...         archive.addfile(info, io.BytesIO(b"hi"))
        ...     texts = dx.buffer_from_vector([{"x": b"a.txt"}]).read_from_tar(file.name, "x", "x")
        ...     content = texts[0]["x"]
        >>> bytes(content)
        b'hi'
        """

    def read_from_tar_if(
        self,
        cond: bool,
        tarkey: _Path,
        ikey: str,
        okey: str,
        prefix: _Path = ...,
        tar_prefix: _Path = ...,
        from_key: bool = False,
        file_fetcher: FileFetcher | None = None,
        nested: bool = False,
        num_threads: int = 1,
    ) -> Buffer:
        """`read_from_tar`, if `cond` is true; else the samples stay as they are."""

    def remove_value(
        self,
        key: str,
        size_key: str,
        dim: int,
        value: float,
        pad: float = 0.0,
    ) -> Buffer:
        """Remove elements of a value from the rows of a padded array.

        Parameters
        ----------
        key : str
            The key of the array.
        size_key : str
            The key with the number of elements of each row, which is updated.
        dim : int
            The axis of the rows' elements.
        value : float
            The value to remove.
        pad : float, optional
            What fills up the rows at their ends. Default: 0.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> rows = dx.buffer_from_vector([{"x": [5, 1, 5, 2], "n": 4}])
        >>> rows.remove_value("x", "n", 0, 5)[0]
        {'x': array([1, 2, 0, 0]), 'n': array(2)}
        """

    def remove_value_if(
        self,
        cond: bool,
        key: str,
        size_key: str,
        dim: int,
        value: float,
        pad: float = 0.0,
    ) -> Buffer:
        """`remove_value`, if `cond` is true; else the samples stay as they are."""

    def rename_key(self, key: str, output_key: str) -> Buffer:
        """Rename a key.

        Parameters
        ----------
        key, output_key : str
            The old and the new name.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> buffer.rename_key("x", "y")[0]
        {'y': array(1)}
        """

    def rename_key_if(self, cond: bool, key: str, output_key: str) -> Buffer:
        """`rename_key`, if `cond` is true; else the samples stay as they are."""

    def replace(self, key: str, old: _Bytes, replacement: _Bytes, count: int = ...) -> Buffer:
        """Replace a part of a text.

        Parameters
        ----------
        key : str
            The key of the text.
        old, replacement : str or bytes
            What is replaced, and by what.
        count : int, optional
            How many occurrences, from the start. Default: -1, all.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If `old` is empty.

        See Also
        --------
        replace_bytes

        Examples
        --------
        >>> bytes(dx.buffer_from_vector([{"x": b"a-b-c"}]).replace("x", "-", " ", 1)[0]["x"])
        b'a b-c'
        """

    def replace_bytes(self, ikey: str, byte_map: Sequence[_Bytes], output_key: str = "") -> Buffer:
        """Replace every byte of a text by a text.

        Parameters
        ----------
        ikey : str
            The key of the text.
        byte_map : list of str or bytes
            What each byte becomes; bytes beyond the list are removed.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If there are more than 256 entries.

        See Also
        --------
        replace

        Examples
        --------
        >>> upper = [chr(byte).upper() for byte in range(128)]
        >>> bytes(dx.buffer_from_vector([{"x": b"abc"}]).replace_bytes("x", upper)[0]["x"])
        b'ABC'
        """

    def replace_bytes_if(
        self,
        cond: bool,
        ikey: str,
        byte_map: Sequence[_Bytes],
        output_key: str = "",
    ) -> Buffer:
        """`replace_bytes`, if `cond` is true; else the samples stay as they are."""

    def replace_if(
        self,
        cond: bool,
        key: str,
        old: _Bytes,
        replacement: _Bytes,
        count: int = ...,
    ) -> Buffer:
        """`replace`, if `cond` is true; else the samples stay as they are."""

    def resample_audio(
        self,
        key: str,
        sample_rate: int,
        input_sample_rate: int = 0,
        info_key: str = "",
        resampling_quality: str = "sinc-fastest",
        output_key: str = "",
    ) -> Buffer:
        """Resample a sound.

        Parameters
        ----------
        key : str
            The key of the sound, of shape (frames, channels) or (frames,).
        sample_rate : int
            The rate of the result.
        input_sample_rate : int, optional
            The rate of the sound. Default: 0, that under `info_key`.
        info_key : str, optional
            The key of the rate, or of what `load_audio` tells.
        resampling_quality : {"sinc-best", "sinc-medium", "sinc-fastest", "zero-order-hold", "linear"}, optional
            How to resample. Default: "sinc-fastest".
        output_key : str, optional
            Where the float32 result goes. Default: it replaces the sound.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If neither `input_sample_rate` nor `info_key` is given, or the quality is unknown.

        See Also
        --------
        load_audio

        Examples
        --------
        >>> sounds = dx.buffer_from_vector([{"x": np.zeros((800, 1), np.float32)}])
        >>> sounds.resample_audio("x", 16000, 8000)[0]["x"].shape
        (1600, 1)
        """

    def resample_audio_if(
        self,
        cond: bool,
        key: str,
        sample_rate: int,
        input_sample_rate: int = 0,
        info_key: str = "",
        resampling_quality: str = "sinc-fastest",
        output_key: str = "",
    ) -> Buffer:
        """`resample_audio`, if `cond` is true; else the samples stay as they are."""

    def sample_transform(self, func: Callable[[_Sample], _Sample]) -> Buffer:
        """Apply a function to every sample.

        Parameters
        ----------
        func : callable
            Takes a dict of NumPy arrays, which are private to the sample, and returns a dict.

        Returns
        -------
        Buffer

        See Also
        --------
        key_transform

        Examples
        --------
        >>> buffer.sample_transform(lambda s: {"y": s["x"] + 1})[0]
        {'y': array(2)}
        """

    def sample_transform_if(self, cond: bool, func: Callable[[_Sample], _Sample]) -> Buffer:
        """`sample_transform`, if `cond` is true."""

    def save_image(
        self,
        key: str,
        filename_key: str,
        prefix: _Path,
        filenamePrefix: str = "",
    ) -> Buffer:
        """Write an image as JPEG, of quality 80.

        Parameters
        ----------
        key : str
            The key of the image.
        filename_key : str
            The key of the file's name, whose suffix becomes ``jpg``.
        prefix : path
            The folder that the name is relative to.
        filenamePrefix : str, optional
            Begins the name. Default: nothing.

        Returns
        -------
        Buffer or Stream
            Samples stay as they are.

        Raises
        ------
        OSError
            When a sample is read, if the file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> rows = dx.buffer_from_vector([{"image": np.zeros((8, 8, 3), np.uint8), "name": b"a.png"}])
        >>> _ = rows.save_image("image", "name", folder)[0]
        >>> os.listdir(folder)
        ['a.jpg']
        """

    def save_image_if(
        self,
        cond: bool,
        key: str,
        filename_key: str,
        prefix: _Path,
        filenamePrefix: str = "",
    ) -> Buffer:
        """`save_image`, if `cond` is true; else the samples stay as they are."""

    def scale(
        self,
        key: str,
        scale: _Numbers,
        bias: _Numbers | None = None,
        dtype: _DType = None,
        output_key: str = "",
    ) -> Buffer:
        """Compute ``x * scale + bias`` in one pass.

        Parameters
        ----------
        key : str
            The key.
        scale, bias : float or sequence of float
            A number, or one for each index of the last axis. `bias` is 0 by default.
        dtype : Dtype or str, optional
            Dtype of the result. Default: float32.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If the numbers of scales and biases differ; when a sample is read, if they do not fit the last axis.
        TypeError
            If the dtype is complex.

        See Also
        --------
        cast, image_normalize

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": [0, 2]}]).scale("x", 0.5, 1)[0]["x"]
        array([1., 2.], dtype=float32)
        """

    def scale_if(
        self,
        cond: bool,
        key: str,
        scale: _Numbers,
        bias: _Numbers | None = None,
        dtype: _DType = None,
        output_key: str = "",
    ) -> Buffer:
        """`scale`, if `cond` is true; else the samples stay as they are."""

    def shape(self, key: str, output_key: str, dim: int | None = None) -> Buffer:
        """Add the shape of a value, or the length of one axis.

        Parameters
        ----------
        key : str
            The key whose value is measured.
        output_key : str
            Where the int64 result goes.
        dim : int, optional
            The axis. Default: all.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": np.ones((2, 3))}]).shape("x", "size")[0]["size"]
        array([2, 3])
        """

    def shape_if(self, cond: bool, key: str, output_key: str, dim: int | None = None) -> Buffer:
        """`shape`, if `cond` is true; else the samples stay as they are."""

    def shard(self, key: str, num_shards: int, output_key: str = "") -> Buffer:
        """Divide the first axis into shards: shape (n, ...) becomes (num_shards, n / num_shards, ...).

        Parameters
        ----------
        key : str
            The key.
        num_shards : int
            Number of shards, which divides the length of the axis.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If `num_shards` is below one; when a sample is read, if it does not divide the length.

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": np.arange(4)}]).shard("x", 2)[0]["x"]
        array([[0, 1],
               [2, 3]])
        """

    def shard_if(self, cond: bool, key: str, num_shards: int, output_key: str = "") -> Buffer:
        """`shard`, if `cond` is true; else the samples stay as they are."""

    def shuffle(self, *, seed: int | None = None) -> Buffer:
        """A random order, the same in every pass.

        Parameters
        ----------
        seed : int, optional
            Seed of the order. Default: the next one of the process, see `umber.data.core.set_state`.

        Returns
        -------
        Buffer

        See Also
        --------
        to_stream : with ``shuffle=True``, a new order every pass

        Examples
        --------
        >>> sorted(int(s["x"]) for s in buffer.shuffle(seed=1))
        [1, 2, 3]
        """

    def shuffle_if(self, cond: bool, *, seed: int | None = None) -> Buffer:
        """`shuffle`, if `cond` is true."""

    def size(self) -> int:
        """Number of samples.

        Returns
        -------
        int

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": 1}]).size()
        1
        """

    def slice(
        self,
        ikey: str,
        dims: _Ints,
        starts: _Ints,
        ends: _Ints,
        output_key: str = "",
    ) -> Buffer:
        """Take a part of a value, without a copy.

        Parameters
        ----------
        ikey : str
            The key.
        dims, starts, ends : int or list of int
            For each of these axes, the first index and the one past the last, which is cut to the length.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If the lists differ in length or an end is below its start; when a sample is read, if an axis is out of bounds.

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": np.arange(5)}]).slice("x", 0, 1, 4)[0]["x"]
        array([1, 2, 3])
        """

    def slice_if(
        self,
        cond: bool,
        ikey: str,
        dims: _Ints,
        starts: _Ints,
        ends: _Ints,
        output_key: str = "",
    ) -> Buffer:
        """`slice`, if `cond` is true; else the samples stay as they are."""

    def squeeze(self, key: str, dim: _Ints | None = None, output_key: str = "") -> Buffer:
        """Remove axes of length one.

        Parameters
        ----------
        key : str
            The key.
        dim : int or list of int, optional
            The axes. Default: all of length one.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": np.ones((1, 3, 1))}]).squeeze("x", -1)[0]["x"].shape
        (1, 3)
        """

    def squeeze_if(
        self,
        cond: bool,
        key: str,
        dim: _Ints | None = None,
        output_key: str = "",
    ) -> Buffer:
        """`squeeze`, if `cond` is true; else the samples stay as they are."""

    def to_stream(self, *, shuffle: bool = False, seed: int | None = None) -> Stream:
        """Read the samples in order, or in a new random order every pass.

        Parameters
        ----------
        shuffle : bool, optional
            A new random order every pass, which takes no memory. Default: False.
        seed : int, optional
            Seed of the orders. Default: the next one of the process, see `umber.data.core.set_state`.

        Returns
        -------
        Stream

        Examples
        --------
        >>> stream = buffer.to_stream(shuffle=True, seed=7)
        >>> sorted(int(s["x"]) for s in stream)
        [1, 2, 3]
        """

    def tokenize(
        self,
        key: str,
        trie: CharTrie,
        mode: TokenizeMode | None = None,
        ignore_unk: bool = False,
        trie_key_scores: Sequence[float] = ...,
        output_key: str = "",
    ) -> Buffer:
        """Split a text into tokens of a trie.

        Parameters
        ----------
        key : str
            The key of the text.
        trie : CharTrie
            The tokens.
        mode : TokenizeMode, optional
            ``Shortest`` for the tokens of least total cost, ``Rand`` for random ones. Default: ``Shortest``.
        ignore_unk : bool, optional
            Whether bytes that belong to no token are left out, as few as possible, instead of raising. Default: False.
        trie_key_scores : list of float, optional
            What each token costs, by its identifier. Default: 1 each.
        output_key : str, optional
            Where the int64 tokens go. Default: they replace the text.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If there is not one score for each token; when a sample is read, if a part of the text is no token.

        See Also
        --------
        tokenize_bpe, umber.data.core.Tokenizer

        Examples
        --------
        >>> trie = dx.core.CharTrie()
        >>> for token in ["un", "happy"]:
        ...     _ = trie.insert(token)
        >>> dx.buffer_from_vector([{"x": b"unhappy"}]).tokenize("x", trie)[0]["x"]
        array([0, 1])
        """

    def tokenize_bpe(
        self,
        key: str,
        symbols: CharTrie,
        merges: BPEMerges,
        output_key: str = "",
    ) -> Buffer:
        """Split a text into tokens by byte pair encoding.

        Parameters
        ----------
        key : str
            The key of the text.
        symbols : CharTrie
            The tokens that merging begins with.
        merges : BPEMerges
            The pairs that are merged.
        output_key : str, optional
            Where the int64 tokens go. Default: they replace the text.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            When a sample is read, if a part of the text is no symbol.

        See Also
        --------
        tokenize, umber.data.core.BPETokenizer

        Examples
        --------
        >>> symbols, merges = dx.core.CharTrie(), dx.core.BPEMerges()
        >>> node = symbols.insert("a")
        >>> merges.add("a", "a", 1)
        >>> dx.buffer_from_vector([{"x": b"aaa"}]).tokenize_bpe("x", symbols, merges)[0]["x"]
        array([1, 0])
        """

    def tokenize_bpe_if(
        self,
        cond: bool,
        key: str,
        symbols: CharTrie,
        merges: BPEMerges,
        output_key: str = "",
    ) -> Buffer:
        """`tokenize_bpe`, if `cond` is true; else the samples stay as they are."""

    def tokenize_if(
        self,
        cond: bool,
        key: str,
        trie: CharTrie,
        mode: TokenizeMode | None = None,
        ignore_unk: bool = False,
        trie_key_scores: Sequence[float] = ...,
        output_key: str = "",
    ) -> Buffer:
        """`tokenize`, if `cond` is true; else the samples stay as they are."""


class CharTrie:
    """Tokens by their bytes, with identifiers.

    Examples
    --------
    >>> from umber.data.core import CharTrie
    >>> trie = CharTrie()
    >>> trie.insert("un").id, trie.insert("happy").id
    (0, 1)
    >>> trie.search("happy").id, trie.search("hap")
    (1, None)
    >>> trie.key_string(1), trie.num_keys()
    ('happy', 2)
    """
    def __init__(self) -> None: ...
    def __repr__(self) -> str: ...
    def insert(self, token: _Bytes, id: int = ...) -> CharTrieNode:
        """Insert a token.

        Parameters
        ----------
        token : str, bytes or list of str
            The token, or its characters.
        id : int, optional
            Its identifier. Default: -1, the number of tokens so far. A token that the trie has keeps its identifier.

        Returns
        -------
        CharTrieNode

        Examples
        --------
        >>> dx.core.CharTrie().insert(b"a", 7).id
        7
        """

    def key(self, id: int) -> list[str]:
        """The bytes of a token, each as a character.

        Parameters
        ----------
        id : int
            The identifier.

        Returns
        -------
        list of str

        Raises
        ------
        IndexError
            If no token has the identifier.

        Examples
        --------
        >>> trie = dx.core.CharTrie()
        >>> node = trie.insert("ab")
        >>> trie.key(node.id)
        ['a', 'b']
        """

    def key_bytes(self, id: int) -> bytes:
        """A token as bytes.

        Parameters
        ----------
        id : int
            The identifier.

        Returns
        -------
        bytes

        Raises
        ------
        IndexError
            If no token has the identifier.

        Examples
        --------
        >>> trie = dx.core.CharTrie()
        >>> node = trie.insert("ab")
        >>> trie.key_bytes(node.id)
        b'ab'
        """

    def key_string(self, id: int) -> str:
        """A token as text.

        Parameters
        ----------
        id : int
            The identifier.

        Returns
        -------
        str

        Raises
        ------
        IndexError
            If no token has the identifier.
        UnicodeDecodeError
            If the token is not UTF-8; use `key_bytes`.

        Examples
        --------
        >>> trie = dx.core.CharTrie()
        >>> node = trie.insert("ab")
        >>> trie.key_string(node.id)
        'ab'
        """

    def num_keys(self) -> int:
        """The number of different identifiers.

        Returns
        -------
        int

        Examples
        --------
        >>> trie = dx.core.CharTrie()
        >>> node = trie.insert("ab")
        >>> trie.num_keys()
        1
        """

    def root(self) -> CharTrieNode:
        """The node of the empty token.

        Returns
        -------
        CharTrieNode

        Examples
        --------
        >>> trie = dx.core.CharTrie()
        >>> node = trie.insert("ab")
        >>> list(trie.root().children)
        ['a']
        """

    def search(self, token: _Bytes) -> CharTrieNode | None:
        """Find a token.

        Parameters
        ----------
        token : str, bytes or list of str
            The token, or its characters.

        Returns
        -------
        CharTrieNode or None
            None if the trie does not have it.

        Examples
        --------
        >>> dx.core.CharTrie().search("a") is None
        True
        """


class CharTrieNode:
    """A node of a trie: the start of a token, or a token.

    Attributes
    ----------
    id : int
        The identifier of the token that ends here; -1 for none.
    uid : int
        The number of the node, in the order in which nodes were made.
    children : dict of str to CharTrieNode
        The nodes that one more byte leads to.

    Examples
    --------
    >>> trie = dx.core.CharTrie()
    >>> node = trie.insert("ab")
    >>> node.accepts(), trie.root().accepts(), list(trie.root().children)
    (True, False, ['a'])
    """
    def __repr__(self) -> str: ...
    def accepts(self) -> bool:
        """Whether a token ends here.

        Returns
        -------
        bool

        Examples
        --------
        >>> trie = dx.core.CharTrie()
        >>> node = trie.insert("ab")
        >>> node.accepts(), trie.root().accepts()
        (True, False)
        """

    @property
    def children(self) -> dict[str, CharTrieNode]:
        """The nodes that one more byte leads to, by that byte as text."""

    @property
    def id(self) -> int:
        """The identifier of the token that ends here; -1 for none."""

    @property
    def uid(self) -> int:
        """The number of the node, in the order in which nodes were made."""


class GraphInt64:
    """All ways to make up a text of tokens, as `Tokenizer.tokenize` returns them.

    Examples
    --------
    >>> trie = dx.core.CharTrie()
    >>> node = trie.insert("a")
    >>> dx.core.Tokenizer(trie).tokenize("aa")
    GraphInt64(3 nodes, 2 edges)
    """
    def __repr__(self) -> str: ...


class Stream:
    """Samples that are read once, in order.

    A sample is a dict of arrays. `Buffer.to_stream` and the functions `stream_*` make streams. Operations return new streams, which
    advance the one they are made of; nothing is computed before a sample is read.

    Examples
    --------
    >>> import umber.data as dx
    >>> stream = dx.buffer_from_vector([{"x": n} for n in range(5)]).to_stream()
    >>> [s["x"].tolist() for s in stream.batch(2)]
    [[0, 1], [2, 3], [4]]
    >>> stream.reset()
    >>> int(stream.next()["x"])
    0
    """
    def __call__(self) -> _Sample: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_args: object) -> None: ...
    def __iter__(self) -> Self: ...
    def __len__(self) -> int: ...
    def __length_hint__(self) -> int: ...
    def __next__(self) -> _Sample: ...
    def __repr__(self) -> str: ...
    def arrays(self, keys: str | list[str] | None = None) -> Stream:
        """Deliver arrays of umber instead of NumPy's, without a copy.

        Parameters
        ----------
        keys : list of str, optional
            Which values. Default: all.

        Returns
        -------
        Stream

        Examples
        --------
        >>> stream.batch(5).arrays().next()["x"]
        array([0, 1, 2, 3, 4], dtype=int64)
        """

    def batch(
        self,
        batch_size: _Ints,
        pad: Mapping[str, float] | None = None,
        dim: Mapping[str, int] | None = None,
    ) -> Stream:
        """Merge samples into batches.

        Parameters
        ----------
        batch_size : int or list of int
            Samples in a batch. Several sizes are used in turn.
        pad : dict of str to float, optional
            What shorter values of a key are filled up with at their ends. Default: zero.
        dim : dict of str to int, optional
            The axis along which the values of a key are joined. Others are stacked along a new first axis.

        Returns
        -------
        Stream
            The last batch may be smaller.

        Raises
        ------
        ValueError
            If a size is below one; when a batch is read, if its samples differ in keys or a key's values in their number
            of axes.
        TypeError
            When a batch is read, if a key's values differ in dtype.

        See Also
        --------
        dynamic_batch, Buffer.batch

        Notes
        -----
        An error in a sample fails its batch, and the next batch begins behind it; `on_error` above the batch leaves the sample out
        instead.

        Examples
        --------
        >>> [s["x"].tolist() for s in stream.batch([1, 3])]
        [[0], [1, 2, 3], [4]]
        """

    def buffered(
        self,
        buffer_size: int,
        on_refill: Callable[[Buffer], Buffer] | None = None,
        num_threads: int = 1,
    ) -> Stream:
        """Gather samples into a buffer, apply a function to it, and read the result.

        Parameters
        ----------
        buffer_size : int
            How many samples are gathered.
        on_refill : callable, optional
            Takes a Buffer and returns one, for example sorted by length. Default: none.
        num_threads : int, optional
            Threads that gather. Default: 1, which adds none; below `prefetch` its threads gather.

        Returns
        -------
        Stream

        Raises
        ------
        ValueError
            If `buffer_size` or `num_threads` are below one.

        Examples
        --------
        >>> [int(s["x"]) for s in stream.buffered(3, lambda b: b.perm([2, 0]) if len(b) > 2 else b)]
        [2, 0, 3, 4]
        """

    def by_rank(
        self,
        group: _Group | None = None,
        *,
        even: Literal['drop', 'pad'] | None = None,
    ) -> Stream:
        """The samples of one process of a group: sample i belongs to rank ``i % size``.

        Parameters
        ----------
        group : object, optional
            Has methods `rank` and `size`. Default: a single process.
        even : {"drop"}, optional
            Give all ranks the same number of samples: leave out the last ones that do not divide evenly. Default: the first ranks
            may have one more.

        Returns
        -------
        Stream

        Raises
        ------
        TypeError
            If the group lacks the methods.
        ValueError
            If `even` is another text, or "pad", which a `Buffer` can do.

        See Also
        --------
        Buffer.by_rank, partition

        Examples
        --------
        >>> len(stream.by_rank())
        5
        """

    def cache(self) -> Stream:
        """Keep the samples of the first pass in memory, for the following ones.

        Returns
        -------
        Stream
            Stages above draw no new random numbers after the first pass.

        Examples
        --------
        >>> len(list(stream.cache().repeat(1)))
        10
        """

    def cast(self, key: str, dtype: _DType, output_key: str = "") -> Stream:
        """Convert a value to another dtype.

        Parameters
        ----------
        key : str
            The key.
        dtype : Dtype or str
            The dtype.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        See Also
        --------
        scale

        Examples
        --------
        >>> buffer.cast("x", "float32")[0]["x"]
        array(1., dtype=float32)
        """

    def cast_if(self, cond: bool, key: str, dtype: _DType, output_key: str = "") -> Stream:
        """`cast`, if `cond` is true; else the samples stay as they are."""

    def close(self) -> None:
        """Stop the threads of the stream. It can be read again after `reset`.

        Examples
        --------
        >>> with stream.prefetch() as ahead:
        ...     sample = ahead.next()
        """

    def csv_reader_from_key(
        self,
        key: str,
        sep: str = ",",
        quote: str = '"',
        from_memory: bool = False,
        local_prefix: _Path = ...,
        file_fetcher: FileFetcher | None = None,
    ) -> Stream:
        """Read the rows of every file of comma-separated values.

        Parameters
        ----------
        key : str
            The key of the files' names, as bytes. Other keys are left out.
        sep : str, optional
            The character between fields. Default: ",".
        quote : str, optional
            The character around fields that contain separators, quotes or newlines. Default: '"'.
        from_memory : bool, optional
            Whether the value is the content of a file, not its name. Default: False.
        local_prefix : path, optional
            The folder that names are relative to. Default: the current one.
        file_fetcher : FileFetcher, optional
            Called with a name before the file is opened.

        Returns
        -------
        Stream
            Samples with a text, as int8, for each column.

        See Also
        --------
        line_reader_from_key, stream_csv_reader

        Examples
        --------
        >>> tables = dx.buffer_from_vector([{"x": b"n\\n1\\n2"}, {"x": b"n\\n3"}]).to_stream()
        >>> [bytes(s["n"]) for s in tables.csv_reader_from_key("x", from_memory=True)]
        [b'1', b'2', b'3']
        """

    def dynamic_batch(
        self,
        buffer_size: int,
        key: str,
        *,
        min_data_size: int = ...,
        max_data_size: int = ...,
        pad: Mapping[str, float] | None = None,
        dim: Mapping[str, int] | None = None,
        shuffle: bool = False,
        drop_outliers: bool = False,
        max_skipped_samples: int = 1000,
        num_threads: int = 1,
    ) -> Stream:
        """Gather samples and merge those of similar size into batches of about the same number of elements.

        Parameters
        ----------
        buffer_size : int
            How many samples are gathered.
        key : str
            The key whose values are measured.
        min_data_size, max_data_size : int, optional
            Least and largest number of elements of a batch, with padding. Samples without others to reach the least number wait for
            the next gathering, and are left out at the end. Default: none.
        pad, dim : dict, optional
            As for `batch`.
        shuffle : bool, optional
            Shuffle the batches of a gathering. Default: False, smaller samples first.
        drop_outliers : bool, optional
            Leave out samples larger than `max_data_size`. Default: False, they are batches of their own.
        max_skipped_samples : int, optional
            How many samples that are too few for a batch are kept for the next gathering. Default: 1000.
        num_threads : int, optional
            Threads that gather. Default: 1, which adds none; below `prefetch` its threads gather.

        Returns
        -------
        Stream

        Raises
        ------
        ValueError
            If `buffer_size` is below one, or `min_data_size` exceeds `max_data_size`.

        See Also
        --------
        batch, Buffer.dynamic_batch

        Examples
        --------
        >>> rows = dx.buffer_from_vector([{"x": np.ones(n)} for n in (5, 1, 4, 1, 2)])
        >>> [b["x"].shape for b in rows.to_stream().dynamic_batch(5, "x", max_data_size=6)]
        [(3, 2), (1, 4), (1, 5)]
        """

    def enumerate(self, key: str) -> Stream:
        """Number the samples.

        Parameters
        ----------
        key : str
            Where the number goes, as int64.

        Returns
        -------
        Stream

        Examples
        --------
        >>> [int(s["i"]) for s in stream.skip(3).enumerate("i")]
        [0, 1]
        """

    def filter(self, func: Callable[[_Sample], bool]) -> Stream:
        """Keep the samples for which a function returns true.

        Parameters
        ----------
        func : callable
            Takes a dict of NumPy arrays, returns a bool.

        Returns
        -------
        Stream

        See Also
        --------
        sample_transform

        Examples
        --------
        >>> [int(s["x"]) for s in stream.filter(lambda s: s["x"] % 2 == 1)]
        [1, 3]
        """

    def filter_by_shape(self, key: str, dim: int, low: int = ..., high: int = ...) -> Stream:
        """Leave out samples by the length of an axis: they become empty, and a stream drops them.

        Parameters
        ----------
        key : str
            The key whose value is measured.
        dim : int
            The axis.
        low, high : int, optional
            Least and largest length to keep. Default: -1, no limit.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> rows = dx.buffer_from_vector([{"x": np.ones(n)} for n in (1, 4, 2)]).to_stream()
        >>> [s["x"].size for s in rows.filter_by_shape("x", 0, 2, 3)]
        [2]
        """

    def filter_by_shape_if(
        self,
        cond: bool,
        key: str,
        dim: int,
        low: int = ...,
        high: int = ...,
    ) -> Stream:
        """`filter_by_shape`, if `cond` is true; else the samples stay as they are."""

    def filter_key(self, key: str, remove: bool = False) -> Stream:
        """Keep one key, or remove it.

        Parameters
        ----------
        key : str
            The key.
        remove : bool, optional
            Remove the key instead of all others. Default: False.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> rows = dx.buffer_from_vector([{"x": 1, "y": 2}])
        >>> rows.filter_key("x")[0], rows.filter_key("x", remove=True)[0]
        ({'x': array(1)}, {'y': array(2)})
        """

    def filter_key_if(self, cond: bool, key: str, remove: bool = False) -> Stream:
        """`filter_key`, if `cond` is true; else the samples stay as they are."""

    def image_center_crop(self, key: str, w: int, h: int, output_key: str = "") -> Stream:
        """Take the middle of an image.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        w, h : int
            Width and height of the result.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If a size is below one; when a sample is read, if the image is smaller.

        See Also
        --------
        image_random_crop

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.arange(25, dtype=np.uint8).reshape(5, 5, 1)}])
        >>> images.image_center_crop("image", 1, 1)[0]["image"].item()
        12
        """

    def image_center_crop_if(
        self,
        cond: bool,
        key: str,
        w: int,
        h: int,
        output_key: str = "",
    ) -> Stream:
        """`image_center_crop`, if `cond` is true; else the samples stay as they are."""

    def image_channel_reduction(
        self,
        key: str,
        preset: Literal['default', 'rec601', 'rec709', 'rec2020', 'green'] = "default",
        output_key: str = "",
    ) -> Stream:
        """Reduce the channels of an RGB image to one.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, 3), or a stack of such.
        preset : {"default", "rec601", "rec709", "rec2020", "green"}, optional
            The weights: those of a standard for video, or the green channel alone. Default: those of rec601.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream
            Of shape (height, width, 1).

        Raises
        ------
        ValueError
            If the preset is unknown.

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.full((1, 1, 3), 9, np.uint8)}])
        >>> images.image_channel_reduction("image")[0]["image"].ravel()
        array([9], dtype=uint8)
        """

    def image_channel_reduction_if(
        self,
        cond: bool,
        key: str,
        preset: Literal['default', 'rec601', 'rec709', 'rec2020', 'green'] = "default",
        output_key: str = "",
    ) -> Stream:
        """`image_channel_reduction`, if `cond` is true; else the samples stay as they are."""

    def image_normalize(
        self,
        key: str,
        mean: _Numbers,
        std: _Numbers,
        *,
        scale: float = ...,
        layout: Literal['HWC', 'CHW'] = "HWC",
        dtype: _DType = None,
        output_key: str = "",
    ) -> Stream:
        """Compute ``(image * scale - mean) / std`` for each channel in one pass.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such. Any dtype: of floating images in [0, 1], pass
            ``scale=1``.
        mean, std : float or sequence of float
            A number, or one for each channel.
        scale : float, optional
            Default: 1/255.
        layout : {"HWC", "CHW"}, optional
            Order of the result's axes: channels last or first. Default: "HWC".
        dtype : Dtype or str, optional
            Dtype of the result. Default: float32.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If `layout` is another text; when a sample is read, if the numbers do not fit the channels.
        TypeError
            If the dtype is not a floating one.

        See Also
        --------
        scale

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.full((1, 1, 3), 255, np.uint8)}])
        >>> images.image_normalize("image", 0.5, [0.5, 1, 2])[0]["image"].ravel()
        array([1.  , 0.5 , 0.25], dtype=float32)
        """

    def image_normalize_if(
        self,
        cond: bool,
        key: str,
        mean: _Numbers,
        std: _Numbers,
        *,
        scale: float = ...,
        layout: Literal['HWC', 'CHW'] = "HWC",
        dtype: _DType = None,
        output_key: str = "",
    ) -> Stream:
        """`image_normalize`, if `cond` is true; else the samples stay as they are."""

    def image_random_area_crop(
        self,
        key: str,
        area_range: tuple[float, float],
        aspect_ratio_range: tuple[float, float],
        num_trial: int = 10,
        output_key: str = "",
    ) -> Stream:
        """Take a random part of an image, of random area and proportions.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        area_range : tuple of float
            Least and largest area, as a part of the image's.
        aspect_ratio_range : tuple of float
            Least and largest ratio of width to height, relative to the image's.
        num_trial : int, optional
            How often a window is drawn that does not fit, before the whole image is taken. Default: 10.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If a range or `num_trial` makes no sense.

        See Also
        --------
        image_random_crop

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.zeros((8, 8, 3), np.uint8)}])
        >>> images.image_random_area_crop("image", (0.25, 0.5), (1, 1))[0]["image"].shape[0] < 8
        True
        """

    def image_random_area_crop_if(
        self,
        cond: bool,
        key: str,
        area_range: tuple[float, float],
        aspect_ratio_range: tuple[float, float],
        num_trial: int = 10,
        output_key: str = "",
    ) -> Stream:
        """`image_random_area_crop`, if `cond` is true; else the samples stay as they are."""

    def image_random_crop(self, key: str, w: int, h: int, output_key: str = "") -> Stream:
        """Take a random part of an image.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        w, h : int
            Width and height of the result.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If a size is below one; when a sample is read, if the image is smaller.

        See Also
        --------
        image_center_crop, image_random_area_crop

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.zeros((5, 5, 3), np.uint8)}])
        >>> images.image_random_crop("image", 3, 2)[0]["image"].shape
        (2, 3, 3)
        """

    def image_random_crop_if(
        self,
        cond: bool,
        key: str,
        w: int,
        h: int,
        output_key: str = "",
    ) -> Stream:
        """`image_random_crop`, if `cond` is true; else the samples stay as they are."""

    def image_random_h_flip(self, key: str, prob: float, output_key: str = "") -> Stream:
        """Flip an image from left to right, at random.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        prob : float
            Probability of a flip.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.arange(2, dtype=np.uint8).reshape(1, 2, 1)}])
        >>> images.image_random_h_flip("image", 1)[0]["image"].ravel()
        array([1, 0], dtype=uint8)
        """

    def image_random_h_flip_if(
        self,
        cond: bool,
        key: str,
        prob: float,
        output_key: str = "",
    ) -> Stream:
        """`image_random_h_flip`, if `cond` is true; else the samples stay as they are."""

    def image_resize(self, key: str, w: int, h: int, output_key: str = "") -> Stream:
        """Resize an image, with antialiasing.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        w, h : int
            Width and height of the result.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If a size is below one.

        See Also
        --------
        image_resize_smallest_side

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.zeros((4, 6, 3), np.uint8)}])
        >>> images.image_resize("image", 3, 2)[0]["image"].shape
        (2, 3, 3)
        """

    def image_resize_if(self, cond: bool, key: str, w: int, h: int, output_key: str = "") -> Stream:
        """`image_resize`, if `cond` is true; else the samples stay as they are."""

    def image_resize_smallest_side(self, key: str, size: int, output_key: str = "") -> Stream:
        """Resize an image so that its smaller side has a length, in proportion.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        size : int
            Length of the smaller side.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If `size` is below one.

        See Also
        --------
        image_resize

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.zeros((4, 6, 3), np.uint8)}])
        >>> images.image_resize_smallest_side("image", 2)[0]["image"].shape
        (2, 3, 3)
        """

    def image_resize_smallest_side_if(
        self,
        cond: bool,
        key: str,
        size: int,
        output_key: str = "",
    ) -> Stream:
        """`image_resize_smallest_side`, if `cond` is true; else the samples stay as they are."""

    def image_rotate(
        self,
        key: str,
        angle: float,
        crop: bool = False,
        output_key: str = "",
    ) -> Stream:
        """Rotate an image about its centre.

        Parameters
        ----------
        key : str
            The key of the image, of shape (height, width, channels), or a stack of such.
        angle : float
            Angle in degrees.
        crop : bool, optional
            Keep the size of the image; else the result has room for all of it. Default: False.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream
            Pixels are those of the nearest ones of the image; zero outside of it.

        Examples
        --------
        >>> images = dx.buffer_from_vector([{"image": np.zeros((4, 6, 1), np.uint8)}])
        >>> images.image_rotate("image", 90)[0]["image"].shape
        (6, 4, 1)
        """

    def image_rotate_if(
        self,
        cond: bool,
        key: str,
        angle: float,
        crop: bool = False,
        output_key: str = "",
    ) -> Stream:
        """`image_rotate`, if `cond` is true; else the samples stay as they are."""

    def key_transform(
        self,
        key: str,
        func: Callable[[Any], Any],
        output_key: str = "",
        *,
        writable: bool = True,
    ) -> Stream:
        """Apply a function to the value of a key.

        Parameters
        ----------
        key : str
            The key.
        func : callable
            Takes a NumPy array, returns an array, number or bytes. It may write to its argument, which is private to the sample.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.
        writable : bool, optional
            False passes the array without a copy; it is read-only where something else sees the memory. Default: True.

        Returns
        -------
        Buffer or Stream

        See Also
        --------
        sample_transform, cast, scale, image_normalize

        Examples
        --------
        >>> buffer.key_transform("x", lambda x: x * 10)[0]["x"]
        array(10)
        """

    def key_transform_if(
        self,
        cond: bool,
        key: str,
        func: Callable[[Any], Any],
        output_key: str = "",
        *,
        writable: bool = True,
    ) -> Stream:
        """`key_transform`, if `cond` is true; else the samples stay as they are."""

    def line_reader_from_key(
        self,
        key: str,
        dst_key: str,
        from_memory: bool = False,
        unzip: bool = False,
        local_prefix: _Path = ...,
        file_fetcher: FileFetcher | None = None,
    ) -> Stream:
        """Read the lines of every file.

        Parameters
        ----------
        key : str
            The key of the files' names, as bytes.
        dst_key : str
            Where the lines go, as int8, without the newlines. Other keys are left out.
        from_memory : bool, optional
            Whether the value is the content of a file, not its name. Default: False.
        unzip : bool, optional
            Whether the content may be compressed with gzip or zstd. Files whose suffix says so are always decompressed. Default: False.
        local_prefix : path, optional
            The folder that names are relative to. Default: the current one.
        file_fetcher : FileFetcher, optional
            Called with a name before the file is opened.

        Returns
        -------
        Stream

        See Also
        --------
        csv_reader_from_key, stream_line_reader

        Examples
        --------
        >>> texts = dx.buffer_from_vector([{"x": b"a\\nb"}, {"x": b"c"}]).to_stream()
        >>> [bytes(s["line"]) for s in texts.line_reader_from_key("x", "line", from_memory=True)]
        [b'a', b'b', b'c']
        """

    def load_audio(
        self,
        key: str,
        prefix: _Path = ...,
        info: bool = False,
        from_memory: bool = False,
        info_type: LoadAudioInfo | None = None,
        sample_rate: int = 0,
        resampling_quality: str = "sinc-fastest",
        info_key: str = "",
        output_key: str = "",
    ) -> Stream:
        """Read a sound file: WAV or FLAC.

        Parameters
        ----------
        key : str
            The key of the file's name, as bytes.
        prefix : path, optional
            The folder that the name is relative to. Default: the current one.
        info : bool, optional
            Read what the header tells instead of the samples. Default: False.
        from_memory : bool, optional
            Whether the value is the content of a file, not its name. Default: False.
        info_type : LoadAudioInfo, optional
            What is told: ``All`` for frames, channels and rate, or one of them, or ``NumSeconds``. Default: ``All``.
        sample_rate : int, optional
            The rate to resample to. Default: 0, that of the file.
        resampling_quality : {"sinc-best", "sinc-medium", "sinc-fastest", "zero-order-hold", "linear"}, optional
            How to resample. Default: "sinc-fastest".
        info_key : str, optional
            Where what the header tells goes besides.
        output_key : str, optional
            Where the float32 samples of shape (frames, channels) go. Default: they replace the name.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If the quality is unknown.
        OSError
            When a sample is read, if the file cannot be read or decoded.

        See Also
        --------
        resample_audio, umber.data.load_audio

        Examples
        --------
        >>> import io, wave
        >>> file = io.BytesIO()
        >>> with wave.open(file, "wb") as sound:
        ...     sound.setparams((1, 2, 8000, 0, "NONE", ""))
        ...     sound.writeframes(np.array([0, 16384], dtype="<i2").tobytes())
        >>> sounds = dx.buffer_from_vector([{"x": file.getvalue()}])
        >>> sounds.load_audio("x", from_memory=True)[0]["x"].ravel()
        array([0. , 0.5], dtype=float32)
        """

    def load_audio_if(
        self,
        cond: bool,
        key: str,
        prefix: _Path = ...,
        info: bool = False,
        from_memory: bool = False,
        info_type: LoadAudioInfo | None = None,
        sample_rate: int = 0,
        resampling_quality: str = "sinc-fastest",
        info_key: str = "",
        output_key: str = "",
    ) -> Stream:
        """`load_audio`, if `cond` is true; else the samples stay as they are."""

    def load_file(self, key: str, prefix: _Path = ..., output_key: str = "") -> Stream:
        """Read a file, whose name is the value, as int8.

        Parameters
        ----------
        key : str
            The key of the name, as bytes.
        prefix : path, optional
            The folder that the name is relative to. Default: the current one.
        output_key : str, optional
            Where the content goes. Default: it replaces the name.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        OSError
            When a sample is read, if the file cannot be.

        See Also
        --------
        load_numpy, load_image, load_audio

        Examples
        --------
        >>> import pathlib, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = pathlib.Path(folder, "a.txt").write_bytes(b"text")
        >>> bytes(dx.buffer_from_vector([{"file": b"a.txt"}]).load_file("file", folder)[0]["file"])
        b'text'
        """

    def load_file_if(
        self,
        cond: bool,
        key: str,
        prefix: _Path = ...,
        output_key: str = "",
    ) -> Stream:
        """`load_file`, if `cond` is true; else the samples stay as they are."""

    def load_image(
        self,
        key: str,
        prefix: _Path = ...,
        info: bool = False,
        format: str = "RGB",
        from_memory: bool = False,
        output_key: str = "",
        *,
        channels: int | None = None,
        orient: bool = False,
        at_least: tuple[int, int] | None = None,
        strict: bool = True,
    ) -> Stream:
        """Decode an image: JPEG, PNG, GIF (its first frame), BMP, PNM or TGA.

        Parameters
        ----------
        key : str
            The key of the file's name, or of its content.
        prefix : path, optional
            The folder that the name is relative to. Default: the current one.
        info : bool, optional
            Only read the size: an int64 array of width and height. Default: False.
        format : str, optional
            Not used; mlx-data has it.
        from_memory : bool, optional
            The value is the content of the file, not its name. Default: False.
        output_key : str, optional
            Where the image goes. Default: it replaces the value.
        channels : int, optional
            1 for grey, 3 for RGB, 4 for RGBA. Default: those of the file, without transparency; JPEGs have 3.
        orient : bool, optional
            Turn the image upright as its Exif data say. Default: False.
        at_least : tuple of int, optional
            Width and height: a JPEG may be decoded at a half, quarter or eighth of its size while it is not smaller, which is faster.
        strict : bool, optional
            An image that ends early is an error; False gives what there is. Default: True.

        Returns
        -------
        Buffer or Stream
            Images are uint8, of shape (height, width, channels).

        Raises
        ------
        OSError
            When a sample is read, if the file cannot be, or is damaged.

        See Also
        --------
        umber.data.load_image : one image

        Examples
        --------
        >>> grey = np.frombuffer(b"P5 2 1 255 \\x10\\x20", np.uint8)
        >>> dx.buffer_from_vector([{"image": grey}]).load_image("image", from_memory=True)[0]["image"].shape
        (1, 2, 1)
        """

    def load_image_if(
        self,
        cond: bool,
        key: str,
        prefix: _Path = ...,
        info: bool = False,
        format: str = "RGB",
        from_memory: bool = False,
        output_key: str = "",
        *,
        channels: int | None = None,
        orient: bool = False,
        at_least: tuple[int, int] | None = None,
        strict: bool = True,
    ) -> Stream:
        """`load_image`, if `cond` is true; else the samples stay as they are."""

    def load_numpy(
        self,
        key: str,
        prefix: _Path = ...,
        from_memory: bool = False,
        output_key: str = "",
    ) -> Stream:
        """Read an array from a file in NumPy's format npy.

        Parameters
        ----------
        key : str
            The key of the name, or of the content.
        prefix : path, optional
            The folder that the name is relative to. Default: the current one.
        from_memory : bool, optional
            The value is the content of the file, not its name. Default: False.
        output_key : str, optional
            Where the array goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        OSError
            When a sample is read, if the file cannot be, or is not in this format.

        See Also
        --------
        load_file

        Examples
        --------
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> np.save(folder + "/a.npy", np.arange(3))
        >>> dx.buffer_from_vector([{"file": b"a.npy"}]).load_numpy("file", folder)[0]["file"]
        array([0, 1, 2])
        """

    def load_numpy_if(
        self,
        cond: bool,
        key: str,
        prefix: _Path = ...,
        from_memory: bool = False,
        output_key: str = "",
    ) -> Stream:
        """`load_numpy`, if `cond` is true; else the samples stay as they are."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was called, of this stream or of an equal one.

        Parameters
        ----------
        state : dict
            The state.

        Raises
        ------
        ValueError
            If it is the state of another pipeline; the message names the first stage that differs.

        See Also
        --------
        state_dict

        Notes
        -----
        Another number of threads is the same pipeline. Functions are compared by their names.

        Examples
        --------
        >>> stream.load_state_dict(stream.state_dict())
        """

    def load_video(
        self,
        key: str,
        prefix: _Path = ...,
        info: bool = False,
        from_memory: bool = False,
        output_key: str = "",
    ) -> Stream:
        """Raise: video is not decoded here.

        Parameters
        ----------
        key : str
            The key of the file's name.
        prefix, output_key : str, optional
            As for `load_image`.
        info, from_memory : bool, optional
            As for `load_image`.

        Returns
        -------
        Buffer or Stream
            Never.

        Raises
        ------
        NotImplementedError
            Always. Decode video with PyAV in a `key_transform`; operations on images take stacks of frames.

        See Also
        --------
        load_image, key_transform

        Examples
        --------
        >>> buffer.load_video("x")
        Traceback (most recent call last):
        ...
        NotImplementedError: [load_video] video is not decoded here; ...
        """

    def load_video_if(
        self,
        cond: bool,
        key: str,
        prefix: _Path = ...,
        info: bool = False,
        from_memory: bool = False,
        output_key: str = "",
    ) -> Stream:
        """`load_video`, if `cond` is true; else the samples stay as they are."""

    def next(self) -> _Sample:
        """The next sample.

        Returns
        -------
        dict
            Empty at the end of the stream.

        Raises
        ------
        DataError
            If a stage fails. The next call goes on behind the sample.

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": 1}]).to_stream().next()
        {'x': array(1)}
        """

    def on_error(
        self,
        policy: Literal['raise', 'skip'] | Callable[[Exception, _Sample], _Sample | None],
        *,
        limit: int | None = None,
    ) -> Stream:
        """Say what becomes of samples that fail in the stages above.

        Parameters
        ----------
        policy : {"raise", "skip"} or callable
            "skip" leaves the sample out and counts it in `report`. A function takes the exception and returns a substitute, or
            None to leave the sample out, or raises.
        limit : int, optional
            More failures than this are raised. Default: none.

        Returns
        -------
        Stream

        Raises
        ------
        ValueError
            If `policy` is another text.

        See Also
        --------
        report

        Examples
        --------
        >>> inverse = stream.key_transform("x", lambda x: 6 // int(x)).on_error("skip")
        >>> [int(s["x"]) for s in inverse], inverse.report()["skipped"]
        ([6, 3, 2, 1], 1)
        """

    def pad(
        self,
        key: str,
        dim: int,
        lpad: int,
        rpad: int,
        pad_value: float,
        output_key: str = "",
    ) -> Stream:
        """Add elements before and after an axis.

        Parameters
        ----------
        key : str
            The key.
        dim : int
            The axis.
        lpad, rpad : int
            How many elements are added before and after.
        pad_value : float
            Their value.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If a number of elements is negative; when a sample is read, if the axis is out of bounds.

        See Also
        --------
        pad_to_size, pad_to_multiple

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": [7, 8]}]).pad("x", 0, 1, 2, 0)[0]["x"]
        array([0, 7, 8, 0, 0])
        """

    def pad_if(
        self,
        cond: bool,
        key: str,
        dim: int,
        lpad: int,
        rpad: int,
        pad_value: float,
        output_key: str = "",
    ) -> Stream:
        """`pad`, if `cond` is true; else the samples stay as they are."""

    def pad_to_multiple(
        self,
        key: str,
        dim: int,
        pad_multiple: int,
        pad_value: float,
        output_key: str = "",
    ) -> Stream:
        """Add elements after an axis up to a multiple of a length.

        Parameters
        ----------
        key : str
            The key.
        dim : int
            The axis.
        pad_multiple : int
            The length.
        pad_value : float
            Value of the added elements.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If `pad_multiple` is below one.

        See Also
        --------
        pad, pad_to_size

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": [7, 8, 9]}]).pad_to_multiple("x", 0, 2, 0)[0]["x"]
        array([7, 8, 9, 0])
        """

    def pad_to_multiple_if(
        self,
        cond: bool,
        key: str,
        dim: int,
        pad_multiple: int,
        pad_value: float,
        output_key: str = "",
    ) -> Stream:
        """`pad_to_multiple`, if `cond` is true; else the samples stay as they are."""

    def pad_to_size(
        self,
        key: str,
        dim: int,
        size: int,
        pad_value: float,
        output_key: str = "",
    ) -> Stream:
        """Add elements after an axis up to a length.

        Parameters
        ----------
        key : str
            The key.
        dim : int
            The axis.
        size : int
            The length; longer values stay as they are.
        pad_value : float
            Value of the added elements.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        See Also
        --------
        pad, pad_to_multiple

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": [7, 8]}]).pad_to_size("x", 0, 4, -1)[0]["x"]
        array([ 7,  8, -1, -1])
        """

    def pad_to_size_if(
        self,
        cond: bool,
        key: str,
        dim: int,
        size: int,
        pad_value: float,
        output_key: str = "",
    ) -> Stream:
        """`pad_to_size`, if `cond` is true; else the samples stay as they are."""

    def partition(self, num_partitions: int, partition: int) -> Stream:
        """Every `num_partitions`-th sample, from `partition` on.

        Parameters
        ----------
        num_partitions : int
            Number of parts.
        partition : int
            Which part, from 0.

        Returns
        -------
        Stream

        Raises
        ------
        ValueError
            If there is no such part.

        See Also
        --------
        by_rank

        Examples
        --------
        >>> [int(s["x"]) for s in stream.partition(2, 1)]
        [1, 3]
        """

    def partition_if(self, cond: bool, num_partitions: int, partition: int) -> Stream:
        """`partition`, if `cond` is true."""

    def prefetch(
        self,
        prefetch_size: int | None = None,
        num_threads: int | None = None,
        *,
        ordered: bool = True,
    ) -> Stream:
        """Make samples ahead, on threads.

        Parameters
        ----------
        prefetch_size : int, optional
            How many samples are made ahead. Default: two a thread.
        num_threads : int, optional
            Number of threads. Default: as many as cores.
        ordered : bool, optional
            Deliver the samples in order: the same sequence for every number of threads. False delivers them as they get ready.
            Default: True.

        Returns
        -------
        Stream

        Raises
        ------
        ValueError
            If a number is below one.

        Notes
        -----
        All stages above run on these threads, up to the next prefetch. They start when the first sample is read, and stop with
        `close`, `reset`, the last use of the stream, or the program.

        Examples
        --------
        >>> [int(s["x"]) for s in stream.prefetch(4, 2)]
        [0, 1, 2, 3, 4]
        """

    def prefetch_if(
        self,
        cond: bool,
        prefetch_size: int | None = None,
        num_threads: int | None = None,
        *,
        ordered: bool = True,
    ) -> Stream:
        """`prefetch`, if `cond` is true."""

    def random_slice(self, ikey: str, dims: _Ints, sizes: _Ints, output_key: str = "") -> Stream:
        """Take a random part of a value, without a copy.

        Parameters
        ----------
        ikey : str
            The key.
        dims, sizes : int or list of int
            For each of these axes, the length of the part.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": np.arange(5)}]).random_slice("x", 0, 2)[0]["x"].shape
        (2,)
        """

    def random_slice_if(
        self,
        cond: bool,
        ikey: str,
        dims: _Ints,
        sizes: _Ints,
        output_key: str = "",
    ) -> Stream:
        """`random_slice`, if `cond` is true; else the samples stay as they are."""

    def read_from_tar(
        self,
        tarkey: _Path,
        ikey: str,
        okey: str,
        prefix: _Path = ...,
        tar_prefix: _Path = ...,
        from_key: bool = False,
        file_fetcher: FileFetcher | None = None,
        nested: bool = False,
        num_threads: int = 1,
    ) -> Stream:
        """Read a file in a tar archive, as uint8, without a copy.

        Parameters
        ----------
        tarkey : path
            The archive; with `from_key`, the key of its name.
        ikey : str
            The key of the file's name, as bytes.
        okey : str
            Where the content goes.
        prefix : path, optional
            The folder in the archive that names are relative to.
        tar_prefix : path, optional
            The folder that the archive's name is relative to. Default: the current one.
        from_key : bool, optional
            Whether samples name their archives. Default: False.
        file_fetcher : FileFetcher, optional
            Called with the name of an archive before it is opened.
        nested : bool, optional
            Whether a file `a.tar` in the archive is replaced by its own files, named `a/…`. Default: False.
        num_threads : int, optional
            Without effect: to find the files takes one pass over their headers.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        OSError
            When a sample is read, if the archive cannot be read or is damaged; FileNotFoundError if there is none, or no such file in it.

        See Also
        --------
        umber.data.files_from_tar

        Notes
        -----
        An archive is mapped and its files are found when it is first read; then each takes a search by name.

        Examples
        --------
        >>> import io, tarfile, tempfile
        >>> with tempfile.NamedTemporaryFile(suffix=".tar") as file:
        ...     with tarfile.open(file.name, "w") as archive:
        ...         info = tarfile.TarInfo("a.txt")
        ...         info.size = 2
        ...         archive.addfile(info, io.BytesIO(b"hi"))
        ...     texts = dx.buffer_from_vector([{"x": b"a.txt"}]).read_from_tar(file.name, "x", "x")
        ...     content = texts[0]["x"]
        >>> bytes(content)
        b'hi'
        """

    def read_from_tar_if(
        self,
        cond: bool,
        tarkey: _Path,
        ikey: str,
        okey: str,
        prefix: _Path = ...,
        tar_prefix: _Path = ...,
        from_key: bool = False,
        file_fetcher: FileFetcher | None = None,
        nested: bool = False,
        num_threads: int = 1,
    ) -> Stream:
        """`read_from_tar`, if `cond` is true; else the samples stay as they are."""

    def remove_value(
        self,
        key: str,
        size_key: str,
        dim: int,
        value: float,
        pad: float = 0.0,
    ) -> Stream:
        """Remove elements of a value from the rows of a padded array.

        Parameters
        ----------
        key : str
            The key of the array.
        size_key : str
            The key with the number of elements of each row, which is updated.
        dim : int
            The axis of the rows' elements.
        value : float
            The value to remove.
        pad : float, optional
            What fills up the rows at their ends. Default: 0.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> rows = dx.buffer_from_vector([{"x": [5, 1, 5, 2], "n": 4}])
        >>> rows.remove_value("x", "n", 0, 5)[0]
        {'x': array([1, 2, 0, 0]), 'n': array(2)}
        """

    def remove_value_if(
        self,
        cond: bool,
        key: str,
        size_key: str,
        dim: int,
        value: float,
        pad: float = 0.0,
    ) -> Stream:
        """`remove_value`, if `cond` is true; else the samples stay as they are."""

    def rename_key(self, key: str, output_key: str) -> Stream:
        """Rename a key.

        Parameters
        ----------
        key, output_key : str
            The old and the new name.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> buffer.rename_key("x", "y")[0]
        {'y': array(1)}
        """

    def rename_key_if(self, cond: bool, key: str, output_key: str) -> Stream:
        """`rename_key`, if `cond` is true; else the samples stay as they are."""

    def repeat(self, num_time: int) -> Stream:
        """Read several passes as one.

        Parameters
        ----------
        num_time : int
            How often the stream is reset at its end: there are ``num_time + 1`` passes. Below one, for ever.

        Returns
        -------
        Stream

        Examples
        --------
        >>> len(stream.repeat(2))
        15
        """

    def replace(self, key: str, old: _Bytes, replacement: _Bytes, count: int = ...) -> Stream:
        """Replace a part of a text.

        Parameters
        ----------
        key : str
            The key of the text.
        old, replacement : str or bytes
            What is replaced, and by what.
        count : int, optional
            How many occurrences, from the start. Default: -1, all.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If `old` is empty.

        See Also
        --------
        replace_bytes

        Examples
        --------
        >>> bytes(dx.buffer_from_vector([{"x": b"a-b-c"}]).replace("x", "-", " ", 1)[0]["x"])
        b'a b-c'
        """

    def replace_bytes(self, ikey: str, byte_map: Sequence[_Bytes], output_key: str = "") -> Stream:
        """Replace every byte of a text by a text.

        Parameters
        ----------
        ikey : str
            The key of the text.
        byte_map : list of str or bytes
            What each byte becomes; bytes beyond the list are removed.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If there are more than 256 entries.

        See Also
        --------
        replace

        Examples
        --------
        >>> upper = [chr(byte).upper() for byte in range(128)]
        >>> bytes(dx.buffer_from_vector([{"x": b"abc"}]).replace_bytes("x", upper)[0]["x"])
        b'ABC'
        """

    def replace_bytes_if(
        self,
        cond: bool,
        ikey: str,
        byte_map: Sequence[_Bytes],
        output_key: str = "",
    ) -> Stream:
        """`replace_bytes`, if `cond` is true; else the samples stay as they are."""

    def replace_if(
        self,
        cond: bool,
        key: str,
        old: _Bytes,
        replacement: _Bytes,
        count: int = ...,
    ) -> Stream:
        """`replace`, if `cond` is true; else the samples stay as they are."""

    def report(self) -> dict[str, Any]:
        """What the pipeline has done so far.

        Returns
        -------
        dict
            ``delivered``, samples read of this stream in this pass; ``skipped``, samples left out by `on_error`; ``errors``, the
            first 100 of them with ``stage``, ``index``, ``key``, ``path`` and ``message``; ``stages``, operations and threads with
            ``name``, ``calls``, ``seconds`` of all threads together, and ``waits``, the seconds that the reader waited.

        Examples
        --------
        >>> sorted(stream.report())
        ['delivered', 'errors', 'skipped', 'stages']
        """

    def resample_audio(
        self,
        key: str,
        sample_rate: int,
        input_sample_rate: int = 0,
        info_key: str = "",
        resampling_quality: str = "sinc-fastest",
        output_key: str = "",
    ) -> Stream:
        """Resample a sound.

        Parameters
        ----------
        key : str
            The key of the sound, of shape (frames, channels) or (frames,).
        sample_rate : int
            The rate of the result.
        input_sample_rate : int, optional
            The rate of the sound. Default: 0, that under `info_key`.
        info_key : str, optional
            The key of the rate, or of what `load_audio` tells.
        resampling_quality : {"sinc-best", "sinc-medium", "sinc-fastest", "zero-order-hold", "linear"}, optional
            How to resample. Default: "sinc-fastest".
        output_key : str, optional
            Where the float32 result goes. Default: it replaces the sound.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If neither `input_sample_rate` nor `info_key` is given, or the quality is unknown.

        See Also
        --------
        load_audio

        Examples
        --------
        >>> sounds = dx.buffer_from_vector([{"x": np.zeros((800, 1), np.float32)}])
        >>> sounds.resample_audio("x", 16000, 8000)[0]["x"].shape
        (1600, 1)
        """

    def resample_audio_if(
        self,
        cond: bool,
        key: str,
        sample_rate: int,
        input_sample_rate: int = 0,
        info_key: str = "",
        resampling_quality: str = "sinc-fastest",
        output_key: str = "",
    ) -> Stream:
        """`resample_audio`, if `cond` is true; else the samples stay as they are."""

    def reset(self) -> None:
        """Begin the next pass: sources start again, random stages draw new numbers.

        Examples
        --------
        >>> stream.reset()
        """

    def sample_transform(self, func: Callable[[_Sample], _Sample]) -> Stream:
        """Apply a function to every sample.

        Parameters
        ----------
        func : callable
            Takes a dict of NumPy arrays, which are private to the sample, and returns a dict; an empty one leaves the sample out.

        Returns
        -------
        Stream

        See Also
        --------
        key_transform, filter

        Examples
        --------
        >>> stream.sample_transform(lambda s: {"y": s["x"] + 1}).next()
        {'y': array(1)}
        """

    def sample_transform_if(self, cond: bool, func: Callable[[_Sample], _Sample]) -> Stream:
        """`sample_transform`, if `cond` is true."""

    def save_image(
        self,
        key: str,
        filename_key: str,
        prefix: _Path,
        filenamePrefix: str = "",
    ) -> Stream:
        """Write an image as JPEG, of quality 80.

        Parameters
        ----------
        key : str
            The key of the image.
        filename_key : str
            The key of the file's name, whose suffix becomes ``jpg``.
        prefix : path
            The folder that the name is relative to.
        filenamePrefix : str, optional
            Begins the name. Default: nothing.

        Returns
        -------
        Buffer or Stream
            Samples stay as they are.

        Raises
        ------
        OSError
            When a sample is read, if the file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> rows = dx.buffer_from_vector([{"image": np.zeros((8, 8, 3), np.uint8), "name": b"a.png"}])
        >>> _ = rows.save_image("image", "name", folder)[0]
        >>> os.listdir(folder)
        ['a.jpg']
        """

    def save_image_if(
        self,
        cond: bool,
        key: str,
        filename_key: str,
        prefix: _Path,
        filenamePrefix: str = "",
    ) -> Stream:
        """`save_image`, if `cond` is true; else the samples stay as they are."""

    def scale(
        self,
        key: str,
        scale: _Numbers,
        bias: _Numbers | None = None,
        dtype: _DType = None,
        output_key: str = "",
    ) -> Stream:
        """Compute ``x * scale + bias`` in one pass.

        Parameters
        ----------
        key : str
            The key.
        scale, bias : float or sequence of float
            A number, or one for each index of the last axis. `bias` is 0 by default.
        dtype : Dtype or str, optional
            Dtype of the result. Default: float32.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If the numbers of scales and biases differ; when a sample is read, if they do not fit the last axis.
        TypeError
            If the dtype is complex.

        See Also
        --------
        cast, image_normalize

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": [0, 2]}]).scale("x", 0.5, 1)[0]["x"]
        array([1., 2.], dtype=float32)
        """

    def scale_if(
        self,
        cond: bool,
        key: str,
        scale: _Numbers,
        bias: _Numbers | None = None,
        dtype: _DType = None,
        output_key: str = "",
    ) -> Stream:
        """`scale`, if `cond` is true; else the samples stay as they are."""

    def shape(self, key: str, output_key: str, dim: int | None = None) -> Stream:
        """Add the shape of a value, or the length of one axis.

        Parameters
        ----------
        key : str
            The key whose value is measured.
        output_key : str
            Where the int64 result goes.
        dim : int, optional
            The axis. Default: all.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": np.ones((2, 3))}]).shape("x", "size")[0]["size"]
        array([2, 3])
        """

    def shape_if(self, cond: bool, key: str, output_key: str, dim: int | None = None) -> Stream:
        """`shape`, if `cond` is true; else the samples stay as they are."""

    def shard(self, key: str, num_shards: int, output_key: str = "") -> Stream:
        """Divide the first axis into shards: shape (n, ...) becomes (num_shards, n / num_shards, ...).

        Parameters
        ----------
        key : str
            The key.
        num_shards : int
            Number of shards, which divides the length of the axis.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If `num_shards` is below one; when a sample is read, if it does not divide the length.

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": np.arange(4)}]).shard("x", 2)[0]["x"]
        array([[0, 1],
               [2, 3]])
        """

    def shard_if(self, cond: bool, key: str, num_shards: int, output_key: str = "") -> Stream:
        """`shard`, if `cond` is true; else the samples stay as they are."""

    def shuffle(self, buffer_size: int, *, seed: int | None = None) -> Stream:
        """Shuffle within a buffer.

        Parameters
        ----------
        buffer_size : int
            Of how many samples one is chosen at random each time.
        seed : int, optional
            Seed of the order. Default: the next one of the process, see `umber.data.core.set_state`.

        Returns
        -------
        Stream

        Raises
        ------
        ValueError
            If `buffer_size` is below one.

        See Also
        --------
        Buffer.shuffle, Buffer.to_stream

        Notes
        -----
        Directly below the source it shuffles what is to be made, not what is made: a buffer of 10,000 images holds no image.

        Examples
        --------
        >>> sorted(int(s["x"]) for s in stream.shuffle(3, seed=1))
        [0, 1, 2, 3, 4]
        """

    def shuffle_if(self, cond: bool, buffer_size: int, *, seed: int | None = None) -> Stream:
        """`shuffle`, if `cond` is true."""

    def skip(self, n: int) -> Stream:
        """All but the first samples of a pass.

        Parameters
        ----------
        n : int
            How many are left out.

        Returns
        -------
        Stream

        Examples
        --------
        >>> [int(s["x"]) for s in stream.skip(3)]
        [3, 4]
        """

    def slice(
        self,
        ikey: str,
        dims: _Ints,
        starts: _Ints,
        ends: _Ints,
        output_key: str = "",
    ) -> Stream:
        """Take a part of a value, without a copy.

        Parameters
        ----------
        ikey : str
            The key.
        dims, starts, ends : int or list of int
            For each of these axes, the first index and the one past the last, which is cut to the length.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If the lists differ in length or an end is below its start; when a sample is read, if an axis is out of bounds.

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": np.arange(5)}]).slice("x", 0, 1, 4)[0]["x"]
        array([1, 2, 3])
        """

    def slice_if(
        self,
        cond: bool,
        ikey: str,
        dims: _Ints,
        starts: _Ints,
        ends: _Ints,
        output_key: str = "",
    ) -> Stream:
        """`slice`, if `cond` is true; else the samples stay as they are."""

    def sliding_window(
        self,
        key: str,
        size: int,
        stride: int,
        dim: int = ...,
        index_key: str = "",
    ) -> Stream:
        """Windows that slide over an axis of a value, a sample each.

        Parameters
        ----------
        key : str
            The key.
        size : int
            Elements of a window. The last windows may be shorter.
        stride : int
            Elements between the starts of windows.
        dim : int, optional
            The axis. Default: the last.
        index_key : str, optional
            Where the number of the window goes. Default: nowhere.

        Returns
        -------
        Stream
            Windows share the memory of the value; other values are those of the whole sample.

        Raises
        ------
        ValueError
            If `size` or `stride` are below one; when a sample is read, if it lacks the key or the axis.

        Examples
        --------
        >>> text = dx.buffer_from_vector([{"x": np.arange(5)}]).to_stream()
        >>> [s["x"].tolist() for s in text.sliding_window("x", 3, 2)]
        [[0, 1, 2], [2, 3, 4]]
        """

    def squeeze(self, key: str, dim: _Ints | None = None, output_key: str = "") -> Stream:
        """Remove axes of length one.

        Parameters
        ----------
        key : str
            The key.
        dim : int or list of int, optional
            The axes. Default: all of length one.
        output_key : str, optional
            Where the result goes. Default: it replaces the value.

        Returns
        -------
        Buffer or Stream

        Examples
        --------
        >>> dx.buffer_from_vector([{"x": np.ones((1, 3, 1))}]).squeeze("x", -1)[0]["x"].shape
        (1, 3)
        """

    def squeeze_if(
        self,
        cond: bool,
        key: str,
        dim: _Ints | None = None,
        output_key: str = "",
    ) -> Stream:
        """`squeeze`, if `cond` is true; else the samples stay as they are."""

    def state_dict(self) -> dict[str, Any]:
        """The position of the stream, to go on from later or in another process.

        Returns
        -------
        dict
            Of numbers, texts and lists, as JSON can hold. It is that behind the last sample read.

        See Also
        --------
        load_state_dict

        Examples
        --------
        >>> rows = dx.buffer_from_vector([{"x": n} for n in range(6)]).to_stream(shuffle=True, seed=3)
        >>> first = rows.next(), rows.next()
        >>> state = rows.state_dict()
        >>> rest = [int(s["x"]) for s in rows]
        >>> rows.load_state_dict(state)
        >>> rest == [int(s["x"]) for s in rows]
        True
        """

    def take(self, n: int) -> Stream:
        """The first samples of a pass.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        Stream

        Examples
        --------
        >>> len(stream.repeat(0).take(7))
        7
        """

    def to_buffer(self) -> Buffer:
        """Read all samples of the pass into a buffer.

        Returns
        -------
        Buffer

        Examples
        --------
        >>> len(stream.to_buffer())
        5
        """

    def tokenize(
        self,
        key: str,
        trie: CharTrie,
        mode: TokenizeMode | None = None,
        ignore_unk: bool = False,
        trie_key_scores: Sequence[float] = ...,
        output_key: str = "",
    ) -> Stream:
        """Split a text into tokens of a trie.

        Parameters
        ----------
        key : str
            The key of the text.
        trie : CharTrie
            The tokens.
        mode : TokenizeMode, optional
            ``Shortest`` for the tokens of least total cost, ``Rand`` for random ones. Default: ``Shortest``.
        ignore_unk : bool, optional
            Whether bytes that belong to no token are left out, as few as possible, instead of raising. Default: False.
        trie_key_scores : list of float, optional
            What each token costs, by its identifier. Default: 1 each.
        output_key : str, optional
            Where the int64 tokens go. Default: they replace the text.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            If there is not one score for each token; when a sample is read, if a part of the text is no token.

        See Also
        --------
        tokenize_bpe, umber.data.core.Tokenizer

        Examples
        --------
        >>> trie = dx.core.CharTrie()
        >>> for token in ["un", "happy"]:
        ...     _ = trie.insert(token)
        >>> dx.buffer_from_vector([{"x": b"unhappy"}]).tokenize("x", trie)[0]["x"]
        array([0, 1])
        """

    def tokenize_bpe(
        self,
        key: str,
        symbols: CharTrie,
        merges: BPEMerges,
        output_key: str = "",
    ) -> Stream:
        """Split a text into tokens by byte pair encoding.

        Parameters
        ----------
        key : str
            The key of the text.
        symbols : CharTrie
            The tokens that merging begins with.
        merges : BPEMerges
            The pairs that are merged.
        output_key : str, optional
            Where the int64 tokens go. Default: they replace the text.

        Returns
        -------
        Buffer or Stream

        Raises
        ------
        ValueError
            When a sample is read, if a part of the text is no symbol.

        See Also
        --------
        tokenize, umber.data.core.BPETokenizer

        Examples
        --------
        >>> symbols, merges = dx.core.CharTrie(), dx.core.BPEMerges()
        >>> node = symbols.insert("a")
        >>> merges.add("a", "a", 1)
        >>> dx.buffer_from_vector([{"x": b"aaa"}]).tokenize_bpe("x", symbols, merges)[0]["x"]
        array([1, 0])
        """

    def tokenize_bpe_if(
        self,
        cond: bool,
        key: str,
        symbols: CharTrie,
        merges: BPEMerges,
        output_key: str = "",
    ) -> Stream:
        """`tokenize_bpe`, if `cond` is true; else the samples stay as they are."""

    def tokenize_if(
        self,
        cond: bool,
        key: str,
        trie: CharTrie,
        mode: TokenizeMode | None = None,
        ignore_unk: bool = False,
        trie_key_scores: Sequence[float] = ...,
        output_key: str = "",
    ) -> Stream:
        """`tokenize`, if `cond` is true; else the samples stay as they are."""


class Tokenizer:
    """Splits texts into tokens of a trie.

    Parameters
    ----------
    trie : CharTrie
        The tokens.
    ignore_unk : bool, optional
        Whether bytes that belong to no token are left out, as few as possible, instead of raising. Default: False.
    trie_key_scores : list of float, optional
        What each token costs, by its identifier. Default: 1 each.

    Raises
    ------
    ValueError
        If there is not one score for each token.

    Examples
    --------
    >>> from umber.data.core import CharTrie, Tokenizer, TokenizerIterator
    >>> trie = CharTrie()
    >>> for token in ["a", "aa", "b"]:
    ...     _ = trie.insert(token)
    >>> tokenizer = Tokenizer(trie)
    >>> tokenizer.tokenize_shortest("aab")
    [1, 2]
    >>> list(TokenizerIterator(tokenizer.tokenize("aab")))
    [[1, 2], [0, 0, 2]]
    """
    def __init__(
        self,
        trie: CharTrie,
        ignore_unk: bool = False,
        trie_key_scores: Sequence[float] = ...,
    ) -> None: ...
    def tokenize(self, input: _Bytes) -> GraphInt64:
        """All ways to make up the text of tokens.

        Parameters
        ----------
        input : str or bytes
            The text.

        Returns
        -------
        GraphInt64
            What `TokenizerIterator` iterates over.

        Raises
        ------
        ValueError
            If a part of the text is no token.

        Examples
        --------
        >>> trie = dx.core.CharTrie()
        >>> ids = [trie.insert(token).id for token in ["a", "b", "ab"]]
        >>> sorted(dx.core.TokenizerIterator(dx.core.Tokenizer(trie).tokenize("aab")))
        [[0, 0, 1], [0, 2]]
        """

    def tokenize_rand(self, input: _Bytes) -> list[int]:
        """Random tokens that make up the text.

        Parameters
        ----------
        input : str or bytes
            The text.

        Returns
        -------
        list of int

        Raises
        ------
        ValueError
            If a part of the text is no token.

        Examples
        --------
        >>> trie = dx.core.CharTrie()
        >>> ids = [trie.insert(token).id for token in ["a", "b", "ab"]]
        >>> dx.core.Tokenizer(trie).tokenize_rand("aab") in ([0, 2], [0, 0, 1])
        True
        """

    def tokenize_shortest(self, input: _Bytes) -> list[int]:
        """The tokens of least total cost; of several, those whose last token is longest.

        Parameters
        ----------
        input : str or bytes
            The text.

        Returns
        -------
        list of int

        Raises
        ------
        ValueError
            If a part of the text is no token.

        Examples
        --------
        >>> trie = dx.core.CharTrie()
        >>> ids = [trie.insert(token).id for token in ["a", "b", "ab"]]
        >>> dx.core.Tokenizer(trie).tokenize_shortest("aab")
        [0, 2]
        """


class TokenizerIterator:
    """Iterates over the ways to make up a text, as lists of identifiers.

    Parameters
    ----------
    graph : GraphInt64
        What `Tokenizer.tokenize` returned.

    Examples
    --------
    >>> trie = dx.core.CharTrie()
    >>> for token in ["a", "aa"]:
    ...     _ = trie.insert(token)
    >>> list(dx.core.TokenizerIterator(dx.core.Tokenizer(trie).tokenize("aa")))
    [[1], [0, 0]]
    """
    def __init__(self, graph: GraphInt64) -> None: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> list[int]: ...


class _Mfsc:
    """Computes mel-frequency spectral coefficients: what `umber.data.features.mfsc` uses with ``native=True``.

    Examples
    --------
    >>> from umber.data.features import mfsc
    >>> mfsc(40, 16000, native=True)(np.zeros(16000, np.float32)).shape
    (98, 40)
    """
    def __init__(
        self,
        n_filterbank: int,
        sampling_freq: int,
        frame_size_ms: float,
        frame_stride_ms: float,
        pre_emphasis_coeff: float,
        window_type: str,
        low_freq: float,
        high_freq: float,
        mel_floor: float,
        freq_scale: str,
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


def _close() -> None:
    """Stop the threads of all pipelines; called before the interpreter ends."""


def buffer_from_arrays(columns: dict[str, Any]) -> Buffer:
    """Make a buffer whose samples are the rows of arrays, without a copy.

    Parameters
    ----------
    columns : dict of str to array_like
        Arrays of one length: sample i has row i of each.

    Returns
    -------
    Buffer

    Raises
    ------
    TypeError
        If a value is no array.
    ValueError
        If the lengths differ, or a value has no axis.

    See Also
    --------
    buffer_from_vector

    Notes
    -----
    A batch of rows is one copy of each row into the batch, without samples in between: the fastest source.

    Examples
    --------
    >>> rows = dx.buffer_from_arrays({"x": np.arange(6).reshape(3, 2), "y": np.array([0, 1, 0])})
    >>> rows[1]
    {'x': array([2, 3]), 'y': array(1)}
    """


def buffer_from_arrow(table: Any) -> Buffer:
    """Make a buffer whose samples are the rows of a table of another library, without a copy.

    Parameters
    ----------
    table : object with `__arrow_c_stream__` or `__arrow_c_array__`
        A table of pyarrow, polars, Hugging Face's datasets and others. Columns have numbers, lists of fixed size of them, or texts;
        texts and binary become int8.

    Returns
    -------
    Buffer

    Raises
    ------
    TypeError
        If it does not speak Arrow or is no table, or a column has another type.
    ValueError
        If a column has nulls.

    See Also
    --------
    buffer_from_arrays

    Notes
    -----
    Chunks are not joined. Booleans, which Arrow stores as bits, are copied.

    Examples
    --------
    >>> try:
    ...     dx.buffer_from_arrow({"x": 1})
    ... except TypeError as error:
    ...     print(error)
    [buffer_from_arrow] table: got dict, expected an object with __arrow_c_stream__ or __arrow_c_array__
    """


def buffer_from_vector(data: Iterable[_Sample]) -> Buffer:
    """Make a buffer of samples in memory.

    Parameters
    ----------
    data : sequence of dict
        Samples: dicts of arrays, numbers, bytes or lists. Arrays are shared, strided and read-only ones alike; others are copied.

    Returns
    -------
    Buffer

    Raises
    ------
    TypeError
        If a sample is not a dict, a key not a str, or a value no array.
    ValueError
        If a value is a str.

    See Also
    --------
    buffer_from_arrays : faster where the samples are rows of arrays

    Notes
    -----
    A Python int becomes int64, a float float64, bytes int8, a bytearray or memoryview uint8, a list what NumPy makes of it.

    Examples
    --------
    >>> buffer = dx.buffer_from_vector([{"x": np.arange(3), "name": b"a"}])
    >>> buffer[0]["x"], bytes(buffer[0]["name"])
    (array([0, 1, 2]), b'a')
    """


def chain(*streams: Stream) -> Stream:
    """Read one stream after the other.

    Parameters
    ----------
    *streams : Stream
        The streams.

    Returns
    -------
    Stream

    See Also
    --------
    mix, zip, Buffer.append

    Examples
    --------
    >>> a = dx.buffer_from_vector([{"x": 1}]).to_stream()
    >>> b = dx.buffer_from_vector([{"x": 2}]).to_stream()
    >>> [int(s["x"]) for s in dx.chain(a, b)]
    [1, 2]
    """


def files_from_tar(tarfile: _Path, nested: bool = False, num_threads: int = 1) -> Buffer:
    """Make a buffer of the names of the files in a tar archive.

    Parameters
    ----------
    tarfile : path
        The archive. It may be compressed, if its suffix says so.
    nested : bool, optional
        Whether a file `a.tar` in the archive is replaced by its own files, named `a/…`. Default: False.
    num_threads : int, optional
        Without effect: to find the files takes one pass over their headers.

    Returns
    -------
    Buffer
        Samples with the key `file`: a name as int8, in the order of the archive.

    Raises
    ------
    OSError
        If the archive cannot be read or is damaged; FileNotFoundError if there is none.

    See Also
    --------
    Buffer.read_from_tar, stream_webdataset

    Examples
    --------
    >>> import io, tarfile, tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".tar") as file:
    ...     with tarfile.open(file.name, "w") as archive:
    ...         info = tarfile.TarInfo("a.txt")
    ...         info.size = 2
    ...         archive.addfile(info, io.BytesIO(b"hi"))
    ...     files = dx.files_from_tar(file.name).read_from_tar(file.name, "file", "text")
    ...     sample = files[0]
    >>> bytes(sample["file"]), bytes(sample["text"])
    (b'a.txt', b'hi')
    """


def levenshtein(*args: Any) -> Any:
    """The edits between sequences, by kind (Levenshtein 1966).

    Parameters
    ----------
    *args : array_like
        The hypothesis and the reference: sequences of one dtype, or a row for each. Where rows are padded, each is followed by the number
        of elements of its rows that count: ``(hypothesis, hypothesis_lengths, reference, reference_lengths)``.

    Returns
    -------
    numpy.ndarray
        int64 of shape (rows, 3), or (3,): deletions, insertions and substitutions.

    Raises
    ------
    ValueError
        If numbers of rows differ or a length exceeds a row.
    TypeError
        If the dtypes differ.

    Examples
    --------
    >>> dx.core.levenshtein(np.array([1, 2, 3]), np.array([1, 3]))
    array([0, 1, 0])
    """


def load_audio(
    path_or_bytes: _Path | bytes | bytearray | memoryview,
    *,
    sample_rate: int = 0,
    resampling_quality: str = "sinc-fastest",
) -> tuple[Any, int]:
    """The samples of one sound.

    Parameters
    ----------
    path_or_bytes : path or bytes
        The name of a file, or its content: WAV or FLAC.
    sample_rate : int, optional
        The rate to resample to. Default: 0, that of the file.
    resampling_quality : str, optional
        See `Buffer.load_audio`. Default: "sinc-fastest".

    Returns
    -------
    samples : numpy.ndarray
        float32 of shape (frames, channels).
    rate : int
        Frames a second.

    Raises
    ------
    OSError
        If the file cannot be read or decoded; FileNotFoundError if there is none.
    ValueError
        If bytes cannot be decoded, or the quality is unknown.

    See Also
    --------
    load_image, Buffer.load_audio

    Examples
    --------
    >>> import io, wave
    >>> file = io.BytesIO()
    >>> with wave.open(file, "wb") as sound:
    ...     sound.setparams((1, 2, 8000, 0, "NONE", ""))
    ...     sound.writeframes(np.array([0, 16384], dtype="<i2").tobytes())
    >>> samples, rate = dx.load_audio(file.getvalue())
    >>> samples.ravel(), rate
    (array([0. , 0.5], dtype=float32), 8000)
    """


def load_image(
    path_or_bytes: _Path | bytes | bytearray | memoryview,
    *,
    channels: int | None = None,
    orient: bool = False,
    at_least: tuple[int, int] | None = None,
) -> Any:
    """The pixels of one image.

    Parameters
    ----------
    path_or_bytes : path or bytes
        The name of a file, or its content: JPEG, PNG, GIF, BMP, PNM or TGA.
    channels : {1, 2, 3, 4}, optional
        Number of channels of the result. Default: that of the file, without alpha.
    orient : bool, optional
        Whether to turn the image as its Exif data say. Default: False.
    at_least : tuple of int, optional
        A width and a height: a JPEG may be decoded at a half, a quarter or an eighth of its size while it is not smaller than these.

    Returns
    -------
    numpy.ndarray
        uint8 of shape (height, width, channels).

    Raises
    ------
    OSError
        If the file cannot be read or decoded; FileNotFoundError if there is none.
    ValueError
        If bytes cannot be decoded.

    See Also
    --------
    load_audio, Buffer.load_image

    Examples
    --------
    >>> dx.load_image(b"P5 2 1 255 \\x01\\x02").ravel()
    array([1, 2], dtype=uint8)
    """


def mix(
    streams: Iterable[Stream],
    weights: Sequence[float],
    *,
    seed: int | None = None,
    stop: Literal['first', 'all'] = "first",
) -> Stream:
    """Read each sample from a random stream.

    Parameters
    ----------
    streams : sequence of Stream
        The streams.
    weights : sequence of float
        How often each is chosen; positive, of any sum.
    seed : int, optional
        Seed of the choices. Default: the next one of the process, see `umber.data.core.set_state`.
    stop : {"first", "all"}, optional
        End when a stream is chosen that has ended, or when all have. Default: "first".

    Returns
    -------
    Stream

    Raises
    ------
    ValueError
        If the numbers of weights and streams differ, a weight is not positive, or `stop` is another text.

    See Also
    --------
    chain, zip

    Examples
    --------
    >>> a = dx.buffer_from_vector([{"x": 1}]).to_stream().repeat(0)
    >>> b = dx.buffer_from_vector([{"x": 2}]).to_stream().repeat(0)
    >>> counts = [int(s["x"]) for s in dx.mix([a, b], [1, 3], seed=0).take(1000)]
    >>> 650 < counts.count(2) < 850
    True
    """


def remove(array: Any, lengths: Any, dim: int, value: float, pad: float) -> tuple[Any, Any]:
    """Leave out elements that equal a value, in padded sequences.

    Parameters
    ----------
    array : array_like
        Sequences along an axis.
    lengths : array_like of int
        The number of elements of each sequence that count.
    dim : int
        The axis of the sequences.
    value : float
        The value.
    pad : float
        What sequences are filled up with.

    Returns
    -------
    array, lengths : numpy.ndarray
        The shortened sequences and their lengths.

    Raises
    ------
    ValueError
        If a length is negative or exceeds the axis, or there is not one for each sequence.

    See Also
    --------
    uniq

    Examples
    --------
    >>> dx.core.remove(np.array([1, 0, 2]), np.array([3]), 0, 0, -1)
    (array([ 1,  2, -1]), array([2]))
    """


def set_state(seed: int | None = ...) -> None:
    """Set the seed of all random stages that are made after it.

    Parameters
    ----------
    seed : int or None, optional
        The seed; None takes one from the operating system. Default: 1234.

    Examples
    --------
    >>> dx.core.set_state(7)
    """


def stream_csv_reader(
    file: _File,
    sep: str = ",",
    quote: str = '"',
    *,
    local_prefix: _Path = ...,
    file_fetcher: FileFetcher | None = None,
    file_fetcher_handle: FileFetcherHandle | None = None,
) -> Stream:
    """Read the rows of a file of comma-separated values.

    Parameters
    ----------
    file : path or file object
        The file, or an object with `read` and `seek`, which is read from where it is. Its first row names the columns.
    sep : str, optional
        The character between fields. Default: ",".
    quote : str, optional
        The character around fields that contain separators, quotes or newlines. Default: '"'.
    local_prefix : path, optional
        The folder that `file` is relative to. Default: the current one.
    file_fetcher : FileFetcher, optional
        Called with the name before the file is opened.
    file_fetcher_handle : FileFetcherHandle, optional
        Kept as long as the call; files that are open stay readable when they are erased.

    Returns
    -------
    Stream
        Samples with a text, as int8, for each column.

    Raises
    ------
    OSError
        If the file cannot be read; FileNotFoundError if there is none. When a sample is read, if a row has another number of fields
        than the first, or a quoted field never ends.
    ValueError
        If `sep` or `quote` is not one character, or both are the same.

    See Also
    --------
    stream_csv_reader_from_string, Stream.csv_reader_from_key

    Notes
    -----
    The format is that of RFC 4180, with any of the usual ends of lines. Empty lines, and a byte order mark at the start, are passed
    over.

    Examples
    --------
    >>> import io
    >>> rows = dx.stream_csv_reader(io.BytesIO(b'name,age\\n"Lovelace, Ada",36\\n'))
    >>> {key: bytes(value) for key, value in rows.next().items()}
    {'name': b'Lovelace, Ada', 'age': b'36'}
    """


def stream_csv_reader_from_string(content: _Bytes, sep: str = ",", quote: str = '"') -> Stream:
    """Read the rows of comma-separated values in a text.

    Parameters
    ----------
    content : str or bytes
        The text. Its first row names the columns.
    sep : str, optional
        The character between fields. Default: ",".
    quote : str, optional
        The character around fields that contain separators, quotes or newlines. Default: '"'.

    Returns
    -------
    Stream
        Samples with a text, as int8, for each column.

    Raises
    ------
    ValueError
        If `sep` or `quote` is not one character, or both are the same; when a sample is read, if a row has another number of fields
        than the first.

    See Also
    --------
    stream_csv_reader

    Examples
    --------
    >>> rows = dx.stream_csv_reader_from_string("x;y\\n1;2\\n", sep=";")
    >>> {key: bytes(value) for key, value in rows.next().items()}
    {'x': b'1', 'y': b'2'}
    """


def stream_line_reader(
    file: _File,
    key: str,
    unzip: bool = False,
    *,
    local_prefix: _Path = ...,
    file_fetcher: FileFetcher | None = None,
    file_fetcher_handle: FileFetcherHandle | None = None,
) -> Stream:
    """Read the lines of a file.

    Parameters
    ----------
    file : path or file object
        The file, or an object with `read` and `seek`, which is read from where it is.
    key : str
        Where the lines go, as int8, without the newlines.
    unzip : bool, optional
        Whether the content may be compressed with gzip or zstd. Files whose suffix says so are always decompressed. Default: False.
    local_prefix : path, optional
        The folder that `file` is relative to. Default: the current one.
    file_fetcher : FileFetcher, optional
        Called with the name before the file is opened.
    file_fetcher_handle : FileFetcherHandle, optional
        Kept as long as the call; files that are open stay readable when they are erased.

    Returns
    -------
    Stream

    Raises
    ------
    OSError
        If the file cannot be read; FileNotFoundError if there is none.
    TypeError
        If `file` is neither a path nor a file object.

    See Also
    --------
    stream_csv_reader, Stream.line_reader_from_key

    Notes
    -----
    Lines end with a newline; a carriage return stays. The state of the stream is a position in the file, to which another stream goes
    without reading what is before it, unless the file is compressed.

    Examples
    --------
    >>> import io
    >>> lines = dx.stream_line_reader(io.BytesIO(b"one\\ntwo"), "line")
    >>> [bytes(s["line"]) for s in lines]
    [b'one', b'two']
    """


def stream_python_iterable(iterable_factory: Callable[[], Iterable[_Sample]]) -> Stream:
    """Read the samples of a Python iterable.

    Parameters
    ----------
    iterable_factory : callable
        Returns an iterable of dicts. It is called for every pass.

    Returns
    -------
    Stream

    Raises
    ------
    TypeError
        If it is not a function; when a sample is read, if that is not a dict of arrays.

    Notes
    -----
    An iterator with methods `state_dict` and `load_state_dict` is asked for its state, which JSON must hold. Others are read again up
    to their position when a state is loaded.

    Examples
    --------
    >>> squares = dx.stream_python_iterable(lambda: ({"x": n * n} for n in range(3)))
    >>> [int(s["x"]) for s in squares]
    [0, 1, 4]
    """


def stream_webdataset(
    paths: _Path | Sequence[_Path],
    *,
    shuffle_shards: bool = False,
    seed: int | None = None,
) -> Stream:
    """Read the samples of a web data set: tar archives in which the files of a sample are neighbours.

    Parameters
    ----------
    paths : path or sequence of path
        The archives, called shards. They may be compressed, if their suffixes say so.
    shuffle_shards : bool, optional
        Whether every pass reads the shards in a random order of its own. Default: False.
    seed : int, optional
        Seed of these orders. Default: the next one of the process, see `umber.data.core.set_state`.

    Returns
    -------
    Stream
        Files whose names agree up to the first dot of the file name are a sample, with the key ``__key__`` for that part of the name
        and a key for each suffix, in lower case. Contents are uint8 and share the mapped file.

    Raises
    ------
    OSError
        When a sample is read, if a shard cannot be read; the stream goes on with the next shard.
    ValueError
        When a sample is read, if it has two files of one suffix.

    See Also
    --------
    files_from_tar

    Notes
    -----
    Files without a suffix, and those whose names start with a dot, are passed over.

    Examples
    --------
    >>> import io, tarfile, tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".tar") as file:
    ...     with tarfile.open(file.name, "w") as archive:
    ...         for name, content in [("a/1.txt", b"one"), ("a/1.cls", b"0")]:
    ...             info = tarfile.TarInfo(name)
    ...             info.size = len(content)
    ...             archive.addfile(info, io.BytesIO(content))
    ...     sample = dx.stream_webdataset([file.name]).next()
    >>> {key: bytes(value) for key, value in sample.items()}
    {'__key__': b'a/1', 'txt': b'one', 'cls': b'0'}
    """


def uniq(array: Any, lengths: Any, dim: int, pad: float) -> tuple[Any, Any]:
    """Leave out elements that equal the one before, in padded sequences.

    Parameters
    ----------
    array : array_like
        Sequences along an axis.
    lengths : array_like of int
        The number of elements of each sequence that count.
    dim : int
        The axis of the sequences.
    pad : float
        What sequences are filled up with.

    Returns
    -------
    array, lengths : numpy.ndarray
        The shortened sequences and their lengths.

    Raises
    ------
    ValueError
        If a length is negative or exceeds the axis, or there is not one for each sequence.

    See Also
    --------
    remove

    Examples
    --------
    >>> dx.core.uniq(np.array([[1, 1, 2, 2, 1]]), np.array([5]), 1, 0)
    (array([[1, 2, 1, 0, 0]]), array([3]))
    """


def zip(*streams: Stream) -> Stream:
    """Read streams side by side: a sample has the values of one sample of each.

    Parameters
    ----------
    *streams : Stream
        The streams, whose keys differ. The shortest one ends it.

    Returns
    -------
    Stream

    Raises
    ------
    ValueError
        When a sample is read, if two streams have a key.

    See Also
    --------
    chain, mix

    Examples
    --------
    >>> a = dx.buffer_from_vector([{"x": 1}]).to_stream()
    >>> b = dx.buffer_from_vector([{"y": 2}]).to_stream()
    >>> dx.zip(a, b).next()
    {'x': array(1), 'y': array(2)}
    """
