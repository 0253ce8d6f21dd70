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
IMPORTS = stub_types.IMPORTS | {
    "Iterable": "collections.abc",
    "overload": "typing",
    **dict.fromkeys("LoadAudioInfo TokenizeMode".split(), "umber.data._enums"),
    **dict.fromkeys("FileFetcher FileFetcherHandle".split(), "umber.data._fetchers"),
}
IMPORTED_AS = stub_types.IMPORTED_AS

PARAMETERS = {
    **{f"_Mfsc.{name}": "int" for name in ("n_filterbank", "sampling_freq")},
    **{
        f"_Mfsc.{name}": "float"
        for name in (
            "frame_size_ms",
            "frame_stride_ms",
            "pre_emphasis_coeff",
            "low_freq",
            "high_freq",
            "mel_floor",
        )
    },
    **{f"_Mfsc.{name}": "str" for name in ("window_type", "freq_scale")},
    # Functions.
    "buffer_from_vector.data": "Iterable[_Sample]",
    "columns": "dict[str, Any]",
    "table": "Any",
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
    "file": "_File",
    "paths": "_Path | Sequence[_Path]",
    "path_or_bytes": "_Path | bytes | bytearray | memoryview",
    "content": "_Bytes",
    **dict.fromkeys("tarfile tarkey tar_prefix local_prefix".split(), "_Path"),
    **dict.fromkeys("dst_key info_key okey sep quote resampling_quality".split(), "str"),
    **dict.fromkeys("from_key nested shuffle_shards unzip".split(), "bool"),
    **dict.fromkeys("input_sample_rate sample_rate".split(), "int"),
    "info_type": "LoadAudioInfo",
    "file_fetcher": "FileFetcher",
    "file_fetcher_handle": "FileFetcherHandle",
    # Texts.
    **dict.fromkeys("symbols trie".split(), "CharTrie"),
    "merges": "BPEMerges",
    "mode": "TokenizeMode",
    "ignore_unk": "bool",
    "trie_key_scores": "Sequence[float]",
    **dict.fromkeys("input left right token".split(), "_Bytes"),
    **dict.fromkeys("id BPEMerges.add.token".split(), "int"),
    "graph": "GraphInt64",
    **dict.fromkeys("array lengths levenshtein.args".split(), "Any"),
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
        "buffer_from_vector buffer_from_arrays buffer_from_arrow files_from_tar Stream.to_buffer"
        " Buffer.load_image Buffer.load_audio".split(),
        "Buffer",
    ),
    **dict.fromkeys(
        "stream_python_iterable stream_line_reader stream_csv_reader stream_csv_reader_from_string"
        " stream_webdataset chain mix zip Buffer.to_stream Buffer.ordered_prefetch"
        " Stream.load_image Stream.load_audio".split(),
        "Stream",
    ),
    "Buffer.size": "int",
    "Stream.next": "_Sample",
    **dict.fromkeys("report state_dict".split(), "dict[str, Any]"),
    # Functions; the methods of these names are above.
    "load_image": "Any",
    "load_audio": "tuple[Any, int]",
    **dict.fromkeys("CharTrie.insert CharTrie.root".split(), "CharTrieNode"),
    "CharTrie.search": "CharTrieNode | None",
    "CharTrie.key": "list[str]",
    "CharTrie.key_string": "str",
    "CharTrie.key_bytes": "bytes",
    "CharTrie.num_keys": "int",
    "CharTrieNode.accepts": "bool",
    **dict.fromkeys(
        "tokenize_shortest tokenize_rand BPETokenizer.tokenize".split(),
        "list[int]",
    ),
    "Tokenizer.tokenize": "GraphInt64",
    "BPEMerges.add": "None",
    "BPEMerges.can_merge": "int | None",
    **dict.fromkeys("uniq remove".split(), "tuple[Any, Any]"),
    "levenshtein": "Any",
    **dict.fromkeys("set_state load_state_dict reset close _close".split(), "None"),
}

RESULTS_OF_CLASSES = {"Buffer": "Buffer", "Stream": "Stream"}

UNSEEN: dict[str, tuple[str, ...]] = {}
CONSTANTS: dict[str, str] = {}
ATTRIBUTES = {
    **dict.fromkeys("CharTrieNode.id CharTrieNode.uid".split(), "int"),
    "CharTrieNode.children": "dict[str, CharTrieNode]",
}

SPECIAL_METHODS: dict[str, str | tuple[str, ...] | None] = {
    **stub_types.SPECIAL_METHODS,
    "Buffer.__getitem__": (
        "(self, index: int) -> _Sample",
        "(self, index: _Slice | Sequence[int]) -> Buffer",
    ),
    "Buffer.__iter__": "(self) -> Iterator[_Sample]",
    "Stream.__next__": "(self) -> _Sample",
    "Stream.__call__": "(self) -> _Sample",
    "TokenizerIterator.__next__": "(self) -> list[int]",
    "__exit__": "(self, *_args: object) -> None",
    "__length_hint__": "(self) -> int",
}
