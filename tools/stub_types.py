"""The types in the stubs, which tools/stubs.py cannot read from the extension module.

Names are looked up from the most to the least specific: `array.sum.axis`, `sum.axis`, `axis` for a
parameter, `random.split`, `split` for a result. ` | None` is added where the default is None.
"""

# Private type aliases of the stubs, in order of definition. Unused ones are omitted.
ALIASES = {
    "_Scalar": "bool | int | float | complex",
    # In a class with a property `str`, that name does not mean the type.
    "_Text": "str",
    "_Operand": "array | _Scalar | _Buffer | _SupportsArray | Sequence[_Operand]",
    "_Shape": "int | Sequence[int]",
    # `Any` includes NumPy's dtypes, which the stubs cannot name without importing NumPy.
    "_DType": "Dtype | str | type[Any] | Any",
    "_Axes": "int | Sequence[int]",
    "_Device": "Device | DeviceType",
    "_StreamOrDevice": "Stream | ThreadLocalStream | Device | DeviceType | None",
    "_IndexItem": (
        "int | slice | array | EllipsisType | Sequence[_IndexItem] | None | _Buffer"
        " | _SupportsArray"
    ),
    "_Index": "_IndexItem | tuple[_IndexItem, ...]",
    "_Tree": "array | list[_Tree] | tuple[_Tree, ...] | dict[str, _Tree] | Any",
    "_File": "str | PathLike[str] | BinaryIO",
}

# Private protocols of the stubs and their methods. Unused ones are omitted.
PROTOCOLS = {
    # NumPy's arrays and scalars, among others; type checkers know buffers only from Python 3.12 on.
    "_SupportsArray": {"__array__": "(self) -> Any"},
}

# Private type variables for functions that take functions. Unused ones are omitted.
VARIABLES = {"_P": "ParamSpec", "_R": "TypeVar"}

# The modules that define the names in types.
IMPORTS = {
    "Any": "typing",
    "BinaryIO": "typing",
    "Callable": "collections.abc",
    "Collection": "collections.abc",
    "Enum": "enum",
    "Iterator": "collections.abc",
    "Literal": "typing",
    "Mapping": "collections.abc",
    "NoReturn": "typing",
    "ParamSpec": "typing",
    "PathLike": "os",
    "Protocol": "typing",
    "Self": "typing",
    "Sequence": "collections.abc",
    "TracebackType": "types",
    "TypeVar": "typing",
    "EllipsisType": "types",
    "_Buffer": "typing_extensions",
}
# Names that are imported under a different name.
IMPORTED_AS = {"_Buffer": "Buffer"}

# Functions whose `axis` may be several axes; elsewhere it is one axis.
SEVERAL_AXES = (
    "all amax amin any average count_nonzero expand_dims flip gradient log_softmax logsumexp"
    " max mean median min minmax nanmax nanmean nanmedian nanmin nanpercentile nanprod"
    " nanquantile nanstd nansum nanvar norm percentile prod ptp quantile roll size softmax"
    " squeeze std sum trim_zeros var"
).split()

PARAMETERS = {
    # Operands.
    **dict.fromkeys(
        "a b bias biases c condition cov freqs high indices input k lhs_indices logits loc low"
        " lower m mask_lhs mask_out mask_rhs mean other p q rhs_indices scale scales sinks"
        " global_scale global_scale_x global_scale_w sorted_sequence start_indices stft_matrix"
        " targets update upper v vals values w weight"
        " window x y constant_values fill_value exponent a_min a_max min max"
        " a1 a2 ary fp initial left right to_begin to_end weights where xp log_probs".split(),
        "_Operand",
    ),
    **dict.fromkeys("key segments".split(), "array"),
    "operands": "_Operand",
    # Control flow.
    **dict.fromkeys("scan.xs scan.init fori_loop.init while_loop.init map.xs".split(), "Any"),
    **dict.fromkeys("cond.operands switch.operands".split(), "Any"),
    **dict.fromkeys("cond.pred switch.index".split(), "_Operand"),
    **dict.fromkeys("true_fun false_fun cond_fun body_fun".split(), "Callable[..., Any]"),
    "branches": "Sequence[Callable[..., Any]]",
    **{f"{name}.unroll": "int | bool" for name in ("scan", "fori_loop")},
    **{
        f"{name}.checkpoint": "int | Literal['sqrt']"
        for name in ("scan", "fori_loop", "while_loop")
    },
    "map.batch_size": "int",
    "while_loop.max_iterations": "int",
    "associative_scan.elems": "Any",
    "pure_callback.callback": "Callable[..., Any]",
    **{f"pure_callback.{name}": "Any" for name in ("result_shape_dtypes", "args", "kwargs")},
    "pure_callback.vmap_method": "Literal['sequential', 'expand_dims', 'broadcast_all']",
    **dict.fromkeys(
        "custom_root.f custom_root.solve custom_root.tangent_solve custom_linear_solve.matvec"
        " custom_linear_solve.solve custom_linear_solve.transpose_solve".split(),
        "Callable[..., Any]",
    ),
    **dict.fromkeys("custom_root.initial_guess custom_linear_solve.b".split(), "Any"),
    "custom_linear_solve.symmetric": "bool",
    "vectorize.signature": "str",
    "vectorize.excluded": "Collection[int | str]",
    **{f"gradient.{name}": "_Operand" for name in ("f", "varargs")},
    **dict.fromkeys("aweights fweights".split(), "_Operand"),
    "average.weights": "_Operand",
    **{f"{name}.q": "_Operand" for name in "quantile percentile".split()},
    **{f"nan{name}.q": "_Operand" for name in "quantile percentile".split()},
    "apply_along_axis.arr": "_Operand",
    "arys": "array",
    "arrays": "Sequence[array]",
    "broadcast_arrays.arrays": "array",
    "block.arrays": "_Operand",
    "meshgrid.arrays": "array",
    "tup": "Sequence[_Operand]",
    "save_safetensors.arrays": "Mapping[str, array]",
    "save_gguf.arrays": "Mapping[str, array]",
    "arr": "array",
    "val": "_Operand",
    "object": "_Operand",
    "obj": "_Operand",
    "asarray.a": "_Operand",
    "array": "array",
    "value": "_Operand",
    # Polynomials, phases, ends, pieces.
    **dict.fromkeys("u seq_of_zeros filt prepend append end_values".split(), "_Operand"),
    **dict.fromkeys("diagflat.v polydiv.v".split(), "_Operand"),
    "fill_diagonal.a": "array",
    "fill_diagonal.val": "_Operand",
    "ndigits": "int",
    "wrap": "bool",
    "trim": "str",
    "discont": "float",
    "stat_length": "int",
    "tol": "float",
    "optimize": "Any",
    "orthogonalize": "bool",
    **{f"{name}.type": "Literal[1, 2, 3, 4]" for name in "dct idct dst idst".split()},
    **{f"einsum{suffix}.subscripts": "str | _Operand" for suffix in ("", "_path")},
    **{
        f"einsum{suffix}.operands": "_Operand | Sequence[int | EllipsisType]"
        for suffix in ("", "_path")
    },
    "piecewise.condlist": "_Operand",
    "funclist": "Sequence[_Operand | Callable[..., Any]]",
    "kw": "Any",
    # Searching, sets, histograms, choosing, editing.
    **dict.fromkeys("ar1 ar2 element test_elements sorter weights ind".split(), "_Operand"),
    "bins": "str | _Operand",
    **dict.fromkeys("data sample segment_ids".split(), "_Operand"),
    "num_segments": "int",
    "indices_are_sorted": "bool",
    **{f"{name}.bins": "_Operand" for name in ("histogram2d", "histogramdd")},
    **{
        f"{name}.range": "Sequence[Sequence[float] | None]"
        for name in ("histogram2d", "histogramdd")
    },
    **dict.fromkeys("extract.arr delete.arr insert.arr append.arr".split(), "_Operand"),
    **dict.fromkeys("place.mask putmask.mask".split(), "_Operand"),
    **dict.fromkeys("put.a putmask.a".split(), "array"),
    **{f"{name}.v": "_Operand" for name in ("put",)},
    "vals": "_Operand",
    "full.vals": "_Operand",
    **dict.fromkeys("layer_norm.weight layer_norm.bias rms_norm.weight".split(), "_Operand | None"),
    # `fast`.
    "ignore_index": "int",
    "rope.base": "float | None",
    "rope.offset": "int | array",
    "scaled_dot_product_attention.mask": "array | Literal['causal']",
    **{
        f"gated_delta_update.{name}": "_Operand"
        for name in ("gamma", "beta", "initial_state", "mask")
    },
    "kernel.function": "Callable[..., Any]",
    **{f"{device}_kernel.name": "str" for device in ("metal", "cuda", "precompiled_cuda")},
    **dict.fromkeys("input_names output_names".split(), "Sequence[str]"),
    **{f"{device}_kernel.source": "str" for device in ("metal", "cuda")},
    "header": "str",
    **dict.fromkeys("ensure_row_contiguous atomic_outputs".split(), "bool"),
    "compiled_source": "bytes",
    "precompiled_cuda_kernel.inputs": "Sequence[_Operand]",
    "output_shapes": "Sequence[Sequence[int]]",
    "output_dtypes": "Sequence[_DType]",
    "scalars": "Sequence[bool | int | float]",
    **dict.fromkeys("grid threadgroup".split(), "tuple[int, int, int]"),
    "compile_options": "Any",
    "shared_memory": "int",
    "init_value": "float",
    "full_like.vals": "_Operand",
    "default": "_Operand",
    **dict.fromkeys("condlist choicelist".split(), "Sequence[_Operand]"),
    **dict.fromkeys("choices keys multi_index".split(), "array | Sequence[_Operand]"),
    "delete.obj": "_IndexItem",
    "insert.obj": "_IndexItem",
    "ix_.args": "_Operand",
    "range": "tuple[float, float]",
    **dict.fromkeys("put.mode choose.mode".split(), "Literal['raise', 'wrap', 'clip']"),
    "ravel_multi_index.mode": (
        "Literal['raise', 'wrap', 'clip'] | Sequence[Literal['raise', 'wrap', 'clip']]"
    ),
    "ravel_multi_index.dims": "int | Sequence[int]",
    **dict.fromkeys("edgeitems linewidth".split(), "int"),
    **dict.fromkeys("nanstr infstr".split(), "str"),
    "suppress": "bool",
    **{f"{name}.threshold": "float" for name in ("set_printoptions", "printoptions")},
    **{f"{name}.style": "Literal['mlx', 'numpy']" for name in ("set_printoptions", "printoptions")},
    "searchsorted.side": "Literal['left', 'right']",
    "minlength": "int",
    "ndim": "int",
    **{f"{name}.{p}": "int" for name in ("tril_indices", "triu_indices") for p in "nkm"},
    "diag_indices.n": "int",
    **dict.fromkeys("dims dimensions new_shape".split(), "_Shape"),
    **dict.fromkeys(
        "assume_unique density descending invert return_counts return_indices right stable".split(),
        "bool",
    ),
    # Axes, shapes and counts.
    "axis": "int",
    **{f"{name}.axis": "_Axes" for name in SEVERAL_AXES},
    "axes": "Sequence[int]",
    "array.transpose.axes": "_Axes",
    "tensordot.axes": "int | Sequence[Sequence[int]]",
    "fftshift.axes": "_Axes",
    "ifftshift.axes": "_Axes",
    "shape": "_Shape",
    "array.reshape.shape": "_Shape",
    "shapes": "Sequence[int]",
    "strides": "Sequence[int]",
    "s": "Sequence[int]",
    "reps": "_Axes",
    "kth": "_Axes | array",
    "pad_width": "int | Sequence[int] | Sequence[Sequence[int]]",
    "indices_or_sections": "int | Sequence[int] | array",
    "slice_size": "Sequence[int]",
    "shift": "int | Sequence[int]",
    "repeats": "int | _Operand",
    "subscripts": "str",
    "source": "int",
    "destination": "int",
    **dict.fromkeys(
        "axis1 axis2 bits block_size ddof correction decimals diagonal dims dst end_axis group_size"
        " groups hop_length length M N n num num_samples n_fft offset size src"
        " start_axis win_length precision limit max_norm".split(),
        "int",
    ),
    **{f"{name}.m": "int" for name in ("eye", "tri")},
    **{f"{name}.m": "int" for name in ("polyder", "polyint")},
    "polyint.k": "_Operand",
    "polyfit.full": "bool",
    "polyfit.cov": "bool | Literal['unscaled']",
    "matrix_rank.tol": "_Operand",
    "matrix_rank.hermitian": "bool",
    **dict.fromkeys("axisa axisb axisc".split(), "int"),
    **{f"{name}.order": "Literal['C', 'F']" for name in ("unravel_index", "ravel_multi_index")},
    **{f"{name}.k": "int" for name in "eye tri tril triu diag topk rot90".split()},
    **{f"{name}.start": "int" for name in ("rollaxis",)},
    "count": "int",
    "deg": "int",
    "edge_order": "Literal[1, 2]",
    "rot90.axes": "tuple[int, int]",
    "seed": "int",
    "dilation": "int | Sequence[int]",
    "input_dilation": "int | Sequence[int]",
    "kernel_dilation": "int | Sequence[int]",
    "output_padding": "int | Sequence[int]",
    "padding": "int | Sequence[int]",
    "conv_general.padding": "int | Sequence[int] | Sequence[Sequence[int]]",
    "stride": "int | Sequence[int]",
    "as_strided.strides": "Sequence[int]",
    "randint.low": "_Operand",
    "permutation.x": "int | array",
    "choice.a": "int | _Operand",
    "choice.replace": "bool",
    "choice.p": "_Operand",
    "random.beta.b": "_Operand",
    "dirichlet.alpha": "_Operand",
    "exponential.scale": "_Operand",
    "poisson.lam": "_Operand",
    **dict.fromkeys("df dfnum dfden kappa mu sigma binomial.n multinomial.n".split(), "_Operand"),
    # Numbers.
    **dict.fromkeys(
        "alpha atol base beta d dx eps nan neginf period posinf rtol start step stop".split(),
        "float",
    ),
    "hadamard_transform.scale": "float",
    "rope.scale": "float",
    "scaled_dot_product_attention.scale": "float",
    "ord": "int | float | str",
    "linalg.vector_norm.ord": "float",
    "matrix_norm.axis": "_Axes",
    **{f"linalg.{name}.rtol": "_Operand" for name in ("pinv", "matrix_rank")},
    **{
        f"{name}.{end}": "_Operand"
        for name in ("linspace", "logspace", "geomspace")
        for end in ("start", "stop")
    },
    "logspace.base": "_Operand",
    "linalg.pinv.rcond": "_Operand",
    **{f"special.{name}.n": "_Operand" for name in ("comb", "expn", "factorial", "polygamma")},
    "special.spence.z": "_Operand",
    "special.multigammaln.d": "int",
    **{f"linalg.{name}.hermitian": "bool" for name in ("pinv", "svd")},
    **{f"moveaxis.{name}": "_Axes" for name in ("source", "destination")},
    **{f"{name}.correction": "float" for name in ("std", "var")},
    "vector_norm.axis": "_Axes",
    "linalg.cond.p": "int | float | str",
    "rcond": "float",
    "linalg.matrix_power.n": "int",
    "multi_dot.arrays": "Sequence[_Operand]",
    # Flags and words.
    **dict.fromkeys(
        "allow_col_major center compute_uv copy descending endpoint equal_nan flip force_fused"
        " full_matrices include_initial inclusive increasing keepdims onesided precise retstep"
        " return_index return_inverse"
        " return_metadata returned reverse rowvar shapeless sorted sorted_indices sparse stable"
        " strict traditional transpose".split(),
        "bool",
    ),
    "cholesky.upper": "bool",
    "cov.bias": "bool",
    "cholesky_inv.upper": "bool",
    "tri_inv.upper": "bool",
    "solve_triangular.upper": "bool",
    "mode": "str",
    "indexing": "str",
    "method": "str",
    "bitorder": "Literal['big', 'little']",
    **dict.fromkeys("ravel.order reshape.order copy.order tobytes.order".split(), "str"),
    "array.sort.kind": "str",
    "array.argsort.kind": "str",
    "array.tofile.fid": "str | PathLike[str] | BinaryIO",
    "Dtype.newbyteorder.new_order": "_Text",
    "ArrayFlags.__getitem__.name": "str",
    "norm": "str",
    "pad_mode": "str",
    "UPLO": "str",
    "side": "str",
    "pad.mode": (
        "Literal['constant', 'edge', 'reflect', 'symmetric', 'wrap', 'linear_ramp', 'maximum',"
        " 'mean', 'median', 'minimum', 'empty']"
    ),
    "policy": "Literal['checked', 'writable', 'readonly']",
    "set_view_policy.mode": "Literal['checked', 'writable', 'readonly']",
    "mask": "str | array",
    # Types, devices, streams.
    "dtype": "_DType",
    "to": "_DType",
    "from_": "array | _DType",
    "kind": "_DType | tuple[_DType, ...]",
    "arg1": "_DType | DtypeCategory",
    "arg2": "_DType | DtypeCategory",
    "arrays_and_dtypes": "array | _DType | _Scalar",
    "finfo.dtype": "array | _DType",
    "iinfo.dtype": "array | _DType",
    "device": "_Device",
    "device_type": "DeviceType",
    "Dtype.name": "_DType",
    "Device.type": "DeviceType",
    "Device.index": "int",
    "type": "DeviceType",
    "stream": "_StreamOrDevice",
    "set_default_stream.stream": "Stream",
    "device_info.d": "_Device",
    "stream.s": "_StreamOrDevice",
    "stream.stream": "_StreamOrDevice",
    # Functions and trees.
    **dict.fromkeys("fun fn pyfunc".split(), "Callable[..., Any]"),
    **{
        f"{name}.fun": "Callable[_P, _R]"
        for name in ("compile", "checkpoint", "value_and_grad", "vmap")
    },
    **{f"{name}.fun": "Callable[_P, Any]" for name in ("grad", "jacfwd", "jacrev", "hessian")},
    "f": "Callable[..., Any]",
    "func1d": "Callable[..., Any]",
    "function": "Callable[..., Any]",
    "argnums": "int | Sequence[int]",
    "argnames": "str | Sequence[str]",
    "primals": "Sequence[Any]",
    "tangents": "Sequence[Any] | dict[Any, Any]",
    "cotangents": "Sequence[Any] | dict[Any, Any]",
    "has_aux": "bool",
    "holomorphic": "bool",
    "in_axes": "Any",
    "out_axes": "Any",
    "inputs": "Any",
    "outputs": "Any",
    "depends.inputs": "array | Sequence[array]",
    "dependencies": "array | Sequence[array]",
    "args": "Any",
    "kwargs": "Any",
    "eval.args": "_Tree",
    "async_eval.args": "_Tree",
    "savez.args": "array",
    "savez_compressed.args": "array",
    # Files and interchange.
    "Profile.export.file": "str | PathLike[str]",
    "Profile.plot.ax": "Any",
    "Profile.plot.max_rows": "int",
    "profile.memory": "bool",
    **dict.fromkeys("debug_nans.enable debug_nans.infs".split(), "bool"),
    "debug_nans.action": "Literal['raise', 'warn']",
    "file": "_File",
    "file_or_callback": "_File | Callable[[dict[str, Any]], None]",
    "format": "str",
    "mmap": "bool",
    "float8": "bool",
    "progress": "Callable[[int, int], object]",
    "savez.kwargs": "array | Callable[[int, int], object]",
    "savez_compressed.kwargs": "array | Callable[[int, int], object]",
    "metadata": "Mapping[str, str]",
    "save_gguf.metadata": "Mapping[str, array | int | float | str | list[Any]]",
    "from_dlpack.x": "Any",
    "from_arrow.x": "Any",
    "nulls": "Literal['raise', 'mask', 'nan']",
    "requested_schema": "Any",
    "from_numpy.a": "Any",
    "zero_copy": "bool",
    "max_version": "tuple[int, int]",
    "dl_device": "tuple[int, int]",
    "__dlpack__.stream": "int",
    "__array__.dtype": "Any",
    "api_version": "str",
    "to_device.stream": "Stream",
    "ArrayNamespaceInfo.dtypes.kind": "str | tuple[str, ...]",
    "ldexp.n": "_Operand",
    "angle.deg": "bool",
    "ArrayLike.object": "_Operand",
    "__array_ufunc__.inputs": "Any",
    **dict.fromkeys("ufunc func types".split(), "Any"),
    "__array_ufunc__.method": "str",
    "__array_function__.args": "tuple[Any, ...]",
    "__array_function__.kwargs": "dict[str, Any]",
    "memo": "Any",
    "state": "Any",
}

# Results. Functions and methods of `array` that are not listed return an array.
RETURNS = {
    "exporter": "FunctionExporter",
    **dict.fromkeys(
        "eval async_eval seed clear_cache reset_peak_memory synchronize".split(), "None"
    ),
    **dict.fromkeys("save savez savez_compressed save_safetensors save_gguf".split(), "None"),
    **dict.fromkeys(
        "enable_compile disable_compile clear_streams export_to_dot export_function".split(), "None"
    ),
    **dict.fromkeys("set_default_device set_default_stream set_printoptions".split(), "None"),
    **dict.fromkeys(
        "get_active_memory get_cache_memory get_memory_limit get_peak_memory set_cache_limit"
        " set_memory_limit set_wired_limit get_array_buffer_size device_count"
        " get_num_threads set_num_threads".split(),
        "int",
    ),
    **dict.fromkeys("is_available issubdtype isdtype can_cast".split(), "bool"),
    **dict.fromkeys("compile checkpoint vmap".split(), "Callable[_P, _R]"),
    "grad": "Callable[_P, Any]",
    "value_and_grad": "Callable[_P, tuple[_R, Any]]",
    "vectorize": "Callable[..., Any]",
    "scan": "tuple[Any, Any]",
    **dict.fromkeys(
        "associative_scan fori_loop while_loop map cond switch pure_callback custom_root"
        " custom_linear_solve".split(),
        "Any",
    ),
    "linalg.cond": "array",
    **dict.fromkeys("jacfwd jacrev hessian".split(), "Callable[_P, Any]"),
    **dict.fromkeys("vjp jvp linearize".split(), "tuple[Any, ...]"),
    "eval_shape": "Any",
    **dict.fromkeys("broadcast_arrays meshgrid unstack".split(), "tuple[array, ...]"),
    **dict.fromkeys("divmod gated_delta_update precompiled_cuda_kernel".split(), "list[array]"),
    **dict.fromkeys("kernel metal_kernel cuda_kernel".split(), "Callable[..., Any]"),
    "frexp": "tuple[array, array]",
    "modf": "tuple[array, array]",
    "polydiv": "tuple[array, array]",
    **dict.fromkeys("atleast_1d atleast_2d atleast_3d".split(), "array | list[array]"),
    "minmax": "tuple[array, array]",
    "average": "array | tuple[array, array]",
    "linspace": "array | Any",
    "gradient": "array | list[array]",
    "fromfunction": "Any",
    "shape": "tuple[int, ...]",
    **dict.fromkeys("ndim size".split(), "int"),
    "unique": "array | tuple[array, ...]",
    **dict.fromkeys("split array_split hsplit vsplit dsplit quantize".split(), "list[array]"),
    # These return tuples for some arguments (`where` of a condition only, `polyfit` with `full`);
    # a union with `Any` makes the usual form usable without a cast.
    **dict.fromkeys("polyfit where".split(), "array | Any"),
    **dict.fromkeys("intersect1d indices".split(), "array | tuple[array, ...]"),
    **dict.fromkeys(
        "nonzero tril_indices triu_indices diag_indices ix_ unravel_index unique_all unique_counts"
        " unique_inverse".split(),
        "tuple[array, ...]",
    ),
    **dict.fromkeys("put place putmask fill_diagonal".split(), "None"),
    "histogram": "tuple[array, array]",
    "histogram2d": "tuple[array, array, array]",
    "histogramdd": "tuple[array, tuple[array, ...]]",
    "random.split": "array",
    "depends": "array | list[array]",
    "broadcast_shapes": "tuple[int, ...]",
    "einsum_path": "tuple[list[Any], str]",
    # The result depends on the file and the arguments; a union would make type checkers reject
    # valid uses of each of its members.
    **dict.fromkeys("load import_function".split(), "Any"),
    "default_device": "Device",
    "default_stream": "Stream",
    "device_info": "dict[str, str | int]",
    "new_stream": "Stream",
    "new_thread_unsafe_stream": "Stream",
    "new_thread_local_stream": "ThreadLocalStream",
    "stream": "StreamContext",
    "get_printoptions": "PrintOptions",
    "printoptions": "Any",
    "debug_nans": "Any",
    "profile": "Profile",
    "Profile.export": "None",
    "Profile.plot": "Any",
    "result_type": "Dtype",
    "set_view_policy": "str",
    "get_view_policy": "str",
    "view_policy": "str",
    "cpu_features": "dict[str, bool]",
    "eig": "tuple[array, array]",
    "eigh": "tuple[array, array]",
    "lu": "tuple[array, array, array]",
    "lu_factor": "tuple[array, array]",
    "qr": "array | tuple[array, array]",
    "from_arrow": "array | tuple[array, array]",
    "slogdet": "tuple[array, array]",
    "lstsq": "tuple[array, array, array, array]",
    "svd": "array | tuple[array, array, array]",
    **dict.fromkeys(
        "ArrayAt.add ArrayAt.subtract ArrayAt.multiply ArrayAt.divide ArrayAt.maximum"
        " ArrayAt.minimum".split(),
        "array",
    ),
    **{f"custom_function.{rule}": "custom_function" for rule in ("vjp", "jvp", "vmap")},
    **{f"array.{name}": "array" for name in ("sort", "partition", "fill", "put")},
    "array.tobytes": "bytes",
    "array.tofile": "None",
    "Dtype.newbyteorder": "Any",
    "array.item": "Any",
    "array.tolist": "Any",
    "array.__array__": "Any",
    "array.__array_ufunc__": "Any",
    "array.__array_function__": "Any",
    "ArrayLike.__array__": "Any",
    "array.__array_namespace__": "Any",
    "__array_namespace_info__": "ArrayNamespaceInfo",
    "ArrayNamespaceInfo.capabilities": "dict[str, bool | int | None]",
    "ArrayNamespaceInfo.default_device": "Device",
    "ArrayNamespaceInfo.default_dtypes": "dict[str, Dtype]",
    "ArrayNamespaceInfo.devices": "tuple[Device, ...]",
    "ArrayNamespaceInfo.dtypes": "dict[str, Dtype]",
    "array.__arrow_c_array__": "tuple[Any, Any]",
    "array.__arrow_c_schema__": "Any",
    "array.__dlpack__": "Any",
    "array.__dlpack_device__": "tuple[int, int]",
    "array.__getstate__": "Any",
    "array.__setstate__": "None",
    "FunctionExporter.close": "None",
    "array.__reduce__": "tuple[Any, ...]",
    "array.__bytes__": "bytes",
    **dict.fromkeys("array.__trunc__ array.__floor__ array.__ceil__".split(), "int"),
    "array.__format__": "str",
    "array.__sizeof__": "int",
    "custom_function.__reduce__": "_Text | tuple[Any, ...]",
    "Dtype.__reduce__": "_Text | tuple[Any, ...]",
    "Device.__reduce__": "tuple[Any, ...]",
    "DeviceType.__reduce__": "tuple[Any, ...]",
    "_RandomState.__reduce__": "tuple[Any, ...]",
    "Stream.__reduce__": "tuple[Any, ...]",
}

# The results of methods that are not listed, by class.
RESULTS_OF_CLASSES = {"array": "array"}

# Methods that Python before 3.12 does not show, but that type checkers need.
UNSEEN = {"array": ("__buffer__",)}

# Module attributes that may be assigned values of other types.
CONSTANTS = {"state": "_RandomState | Sequence[array]"}

# Properties and class attributes.
ATTRIBUTES = {
    **dict.fromkeys("array.T array.mT array.real array.imag".split(), "array"),
    "array.shape": "tuple[int, ...]",
    "array.strides": "tuple[int, ...]",
    "array.flags": "ArrayFlags",
    **{
        f"ArrayFlags.{name}": "bool"
        for name in (
            "c_contiguous f_contiguous contiguous fortran forc fnc writeable aligned owndata"
            " writebackifcopy"
        ).split()
    },
    "array.dtype": "Dtype",
    "array.at": "ArrayAt",
    "array.device": "Device",
    "array.__array_interface__": "dict[str, Any]",
    "array.__cuda_array_interface__": "dict[str, Any]",
    "__wrapped__": "Callable[..., Any]",
    **dict.fromkeys("array.ndim array.size array.itemsize array.nbytes".split(), "int"),
    "ArrayLike.object": "Any",
    "Dtype.size": "int",
    "Dtype.name": "_Text",
    "Dtype.itemsize": "int",
    **{f"Dtype.{name}": "_Text" for name in ("kind", "char", "str", "byteorder")},
    **{f"Dtype.{name}": "int" for name in ("num", "alignment")},
    **{f"Dtype.{name}": "bool" for name in ("isnative", "hasobject")},
    **{f"Dtype.{name}": "None" for name in ("fields", "names", "subdtype")},
    "Dtype.descr": "list[tuple[_Text, _Text]]",
    "Dtype.type": "Any",
    "Dtype.__numpy_dtype__": "Any",
    "Dtype.category": "DtypeCategory",
    "Device.type": "DeviceType",
    "Device.index": "int",
    "Stream.device": "Device",
    "ThreadLocalStream.device": "Device",
    "Stream.index": "int",
    **dict.fromkeys(
        "finfo.max finfo.min finfo.eps finfo.smallest_normal finfo.tiny finfo.resolution".split(),
        "float",
    ),
    **dict.fromkeys("finfo.bits finfo.precision iinfo.bits iinfo.max iinfo.min".split(), "int"),
    "finfo.dtype": "Dtype",
    "iinfo.dtype": "Dtype",
    **{f"PrintOptions.{name}": "int" for name in ("precision", "threshold", "edgeitems")},
    "PrintOptions.linewidth": "int | None",
    "PrintOptions.suppress": "bool",
    **{f"PrintOptions.{name}": "str" for name in ("nanstr", "infstr", "style")},
    "Profile.rows": "list[dict[str, Any]]",
    "Profile.wall_time": "float",
    "Profile.memory": "dict[str, int] | None",
    "ShapeDtypeStruct.shape": "tuple[int, ...]",
    "ShapeDtypeStruct.dtype": "Dtype",
    **dict.fromkeys("ndim size nbytes".split(), "int"),
    "DeviceType.name": "str",
    "DeviceType.value": "int",
    "DtypeCategory.name": "str",
    "DtypeCategory.value": "int",
}

_BINARY = "add and floordiv lshift matmul mod mul or pow rshift sub truediv xor".split()

# Special methods, whose signatures in the module contain no types.
SPECIAL_METHODS = {
    **{
        f"array.__{prefix}{name}__": "(self, other: _Operand) -> array"
        for name in _BINARY
        for prefix in ("", "r", "i")
    },
    **{f"array.__{name}__": "(self, other: _Operand) -> array" for name in ("div", "rdiv", "idiv")},
    "array.__pow__": "(self, exponent: _Operand, modulo: None = None) -> array",
    "array.__rpow__": "(self, base: _Operand, modulo: None = None) -> array",
    "array.__ipow__": "(self, exponent: _Operand, modulo: None = None) -> array",
    "array.__divmod__": "(self, other: _Operand) -> tuple[array, ...]",
    "array.__rdivmod__": "(self, other: _Operand) -> tuple[array, ...]",
    **{
        f"array.__{name}__": "(self, other: _Operand) -> array" for name in ("lt", "le", "gt", "ge")
    },
    **{
        f"array.__{name}__": "(self, other: object) -> array  # type: ignore[override]"
        for name in ("eq", "ne")
    },
    **{f"array.__{name}__": "(self) -> array" for name in ("abs", "invert", "neg", "pos")},
    "array.__getitem__": "(self, index: _Index) -> array",
    "array.__setitem__": "(self, index: _Index, value: _Operand) -> None",
    "array.__delitem__": None,
    "array.__iter__": "(self) -> Iterator[array]",
    "array.__reversed__": "(self) -> Iterator[array]",
    "ArrayAt.__getitem__": "(self, index: _Index) -> ArrayAt",
    "ArrayIterator.__next__": "(self) -> array",
    "__bool__": "(self) -> bool",
    "__buffer__": "(self, flags: int, /) -> memoryview",
    "__release_buffer__": "(self, buffer: memoryview, /) -> None",
    "__call__": "(self, *args: Any, **kwargs: Any) -> Any",
    "custom_function.__getattribute__": None,
    "array.__reduce_ex__": None,
    "__get__": "(self, instance: Any, owner: Any = None) -> Any",
    "__complex__": "(self) -> complex",
    "__contains__": "(self, value: object) -> bool",
    "__enter__": "(self) -> Self",
    "__exit__": (
        "(self, kind: type[BaseException] | None, error: BaseException | None,"
        " traceback: TracebackType | None) -> bool | None"
    ),
    "__eq__": "(self, other: object) -> bool",
    "__float__": "(self) -> float",
    "__getitem__": "(self, index: int) -> Any",
    "__hash__": "(self) -> int",
    "__index__": "(self) -> int",
    "__int__": "(self) -> int",
    "__iter__": "(self) -> Self",
    "__next__": "(self) -> Any",
    "__len__": "(self) -> int",
    "__setitem__": "(self, index: int, value: Any) -> None",
    "__delitem__": "(self, index: int) -> None",
    "__deepcopy__": "(self, _memo: Any) -> Self",
    "__format__": "(self, spec: str) -> str",
    "__repr__": "(self) -> str",
    "Dtype.__repr__": "(self) -> _Text",
    "__str__": "(self) -> str",
    # CPython defines all six comparisons for a class that defines one; these are omitted.
    "__ne__": None,
    "__lt__": None,
    "__le__": None,
    "__gt__": None,
    "__ge__": None,
}
