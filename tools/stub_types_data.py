"""The types in the stub of umber.core._data, which holds the compiled parts of umber.data.

The tables are those of stub_types.py. A key without the name of a function holds for every function
of the module; what holds for an operation holds for its conditional twin `…_if`.
"""

import stub_types

ALIASES = {
    # Arrays of NumPy, or of umber below `Stream.arrays`.
    "_Sample": "dict[str, Any]",
    # In classes with a method `slice`, that name does not mean the type.
    "_Slice": "slice",
    "_Path": "str | PathLike[str]",
    "_File": "str | PathLike[str] | BinaryIO",
    "_Bytes": "str | bytes | bytearray",
    "_Numbers": "float | Sequence[float]",
    "_Ints": "int | Sequence[int]",
    "_DType": stub_types.ALIASES["_DType"].replace("Dtype | ", ""),
}

PROTOCOLS = {
    "_Group": {"rank": "(self) -> int", "size": "(self) -> int"},
}

VARIABLES: dict[str, str] = {}
IMPORTS = stub_types.IMPORTS | {"Iterable": "collections.abc", "overload": "typing"}
IMPORTED_AS = stub_types.IMPORTED_AS

PARAMETERS = {
    # Functions.
    "buffer_from_vector.data": "Iterable[_Sample]",
    "columns": "dict[str, Any]",
    "iterable_factory": "Callable[[], Iterable[_Sample]]",
    "streams": "Stream",
    "mix.streams": "Iterable[Stream]",
    "weights": "Sequence[float]",
    "stop": "Literal['first', 'all']",
    "set_state.seed": "int | None",
    "seed": "int",
    # Keys and files.
    **dict.fromkeys(
        "key ikey output_key size_key filename_key index_key filenamePrefix".split(), "str"
    ),
    "arrays.keys": "str | list[str]",
    "prefix": "_Path",
    **dict.fromkeys("from_memory info orient strict".split(), "bool"),
    "format": "str",
    "channels": "int",
    "at_least": "tuple[int, int]",
    # Operations.
    **dict.fromkeys("cond crop remove writable".split(), "bool"),
    **dict.fromkeys(
        "dim low high num_shards lpad rpad size pad_multiple count w h num_trial".split(), "int"
    ),
    **dict.fromkeys("pad_value value pad prob angle".split(), "float"),
    "squeeze.dim": "_Ints",
    **dict.fromkeys("dims starts ends sizes".split(), "_Ints"),
    **dict.fromkeys("area_range aspect_ratio_range".split(), "tuple[float, float]"),
    **dict.fromkeys("old replacement".split(), "_Bytes"),
    "byte_map": "Sequence[_Bytes]",
    **dict.fromkeys("scale.scale bias mean std".split(), "_Numbers"),
    "scale": "float",
    "dtype": "_DType",
    "preset": "Literal['default', 'rec601', 'rec709', 'rec2020', 'green']",
    "layout": "Literal['HWC', 'CHW']",
    "key_transform.func": "Callable[[Any], Any]",
    "sample_transform.func": "Callable[[_Sample], _Sample]",
    "filter.func": "Callable[[_Sample], bool]",
    # Batches, order, threads.
    "batch_size": "_Ints",
    **{f"{name}.pad": "Mapping[str, float]" for name in ("batch", "dynamic_batch")},
    **{f"{name}.dim": "Mapping[str, int]" for name in ("batch", "dynamic_batch")},
    **dict.fromkeys(
        "min_data_size max_data_size max_skipped_samples buffer_size num_thread num_threads"
        " prefetch_size num_partitions partition num_time stride n limit".split(),
        "int",
    ),
    **dict.fromkeys("shuffle drop_outliers ordered".split(), "bool"),
    **dict.fromkeys("buffer size_buffer".split(), "Buffer"),
    "perm": "Sequence[int]",
    "on_refill": "Callable[[Buffer], Buffer]",
    "group": "_Group",
    "even": "Literal['drop', 'pad']",
    "policy": ("Literal['raise', 'skip'] | Callable[[Exception, _Sample], _Sample | None]"),
    "load_state_dict.state": "dict[str, Any]",
}

RETURNS = {
    **dict.fromkeys(
        "buffer_from_vector buffer_from_arrays Stream.to_buffer".split(),
        "Buffer",
    ),
    **dict.fromkeys(
        "stream_python_iterable chain mix zip Buffer.to_stream Buffer.ordered_prefetch".split(),
        "Stream",
    ),
    "Buffer.size": "int",
    "Stream.next": "_Sample",
    **dict.fromkeys("report state_dict".split(), "dict[str, Any]"),
    **dict.fromkeys("set_state load_state_dict reset close _close".split(), "None"),
}

RESULTS_OF_CLASSES = {"Buffer": "Buffer", "Stream": "Stream"}

UNSEEN: dict[str, tuple[str, ...]] = {}
CONSTANTS: dict[str, str] = {}
ATTRIBUTES: dict[str, str] = {}

SPECIAL_METHODS: dict[str, str | tuple[str, ...] | None] = {
    **stub_types.SPECIAL_METHODS,
    "Buffer.__getitem__": (
        "(self, index: int) -> _Sample",
        "(self, index: _Slice | Sequence[int]) -> Buffer",
    ),
    "Buffer.__iter__": "(self) -> Iterator[_Sample]",
    "Stream.__next__": "(self) -> _Sample",
    "Stream.__call__": "(self) -> _Sample",
    "__exit__": "(self, *_args: object) -> None",
    "__length_hint__": "(self) -> int",
}
