"""Every public callable has a record, or a line below that says which test stands for it."""

import inspect

import pytest
import umber.core as mx
from op_table import REQUIRED, gather_records

# Not ops: what they are, and where they are tested.
EXEMPT = {
    "evaluation and transforms: test_transforms.py, test_compile.py, test_vmap.py": """
        eval async_eval synchronize grad value_and_grad vjp jvp vmap compile enable_compile
        disable_compile
    """,
    "rules and Jacobians: test_custom_function.py, test_checkpoint.py, test_jacobians.py": """
        checkpoint custom_function depends jacfwd jacrev hessian linearize eval_shape
        ShapeDtypeStruct
    """,
    "control flow: test_control_flow.py": """
        scan fori_loop map while_loop cond switch
    """,
    "making arrays from Python and NumPy: test_dtypes.py, test_errors.py, test_interop.py": """
        array asarray from_dlpack from_numpy
    """,
    "what the array API asks of a namespace: test_array_api.py": """
        ArrayFlags ArrayNamespaceInfo InPlaceKeepsType
    """,
    "dtypes and their arithmetic: test_dtypes.py": """
        Dtype DtypeCategory result_type issubdtype isdtype can_cast finfo iinfo
    """,
    "answers in Python values: test_array.py": """
        allclose array_equal broadcast_shapes
    """,
    "answers that are no arrays, and functions of functions: test_numpy_functions.py": """
        shape ndim size apply_along_axis fromfunction
    """,
    "shapes and dtypes without promised values: test_array.py": """
        empty empty_like
    """,
    "the order in which einsum multiplies: test_products.py": """
        einsum_path
    """,
    "the same bits read as another dtype: test_array.py": """
        view
    """,
    "memory: test_memory.py": """
        get_active_memory get_peak_memory reset_peak_memory get_cache_memory set_cache_limit
        set_memory_limit get_memory_limit clear_cache set_view_policy get_view_policy
        get_array_buffer_size set_wired_limit
    """,
    "devices and streams: test_threads.py": """
        Device DeviceType Stream StreamContext default_device set_default_device default_stream
        set_default_stream get_num_threads set_num_threads new_stream stream is_available
        device_count device_info
        ThreadLocalStream new_thread_local_stream new_thread_unsafe_stream clear_streams
    """,
    "functions in files, and graphs as pictures: test_export.py": """
        export_function exporter FunctionExporter import_function export_to_dot
    """,
    "files: test_io.py": """
        load save savez savez_compressed save_safetensors save_gguf
    """,
    "printing: test_printing.py": """
        set_printoptions get_printoptions printoptions PrintOptions
    """,
    "helper classes of array, tested through it: test_indexing.py": """
        ArrayAt ArrayIterator ArrayLike
    """,
    "exceptions, raised in test_errors.py": """
        ArgumentError ArrayIndexError AxisError CopyError DTypeError FileError
        FileMissingError FormatError RangeError
    """,
    "kernels that users write: test_fast.py": """
        fast.kernel fast.metal_kernel fast.cuda_kernel fast.precompiled_cuda_kernel
    """,
    "frequencies and frames of a signal: test_fft.py": """
        fft.fftfreq fft.rfftfreq fft.stft fft.istft
    """,
    "random numbers have no NumPy twin: test_random.py": """
        random.key random.seed random.split random.uniform random.normal random.bernoulli
        random.categorical random.permutation random.randint random.truncated_normal
        random.gumbel random.laplace random.multivariate_normal random.choice random.shuffle
        random.exponential random.gamma random.beta random.dirichlet random.poisson
    """,
    "the package's functions under the array API's other name: test_linalg.py": """
        linalg.matmul linalg.outer linalg.tensordot linalg.vecdot
    """,
}
RECORDS = gather_records()
RECORDED = set().union(*(record.names for record in RECORDS))
EXEMPTED = {name for names in EXEMPT.values() for name in names.split()}


def public_callables(module, prefix=""):
    """Names without an underscore that can be called: functions and classes, not constants."""
    for name in dir(module):
        value = getattr(module, name)
        if not name.startswith("_") and callable(value) and not inspect.ismodule(value):
            yield prefix + name


def all_callables():
    modules = (
        (mx, ""),
        (mx.random, "random."),
        (mx.linalg, "linalg."),
        (mx.fft, "fft."),
        (mx.fast, "fast."),
    )
    return [name for module, prefix in modules for name in public_callables(module, prefix)]


@pytest.mark.parametrize("name", all_callables())
def test_has_a_record(name):
    assert name in RECORDED | EXEMPTED, f"add an OpRecord for {name}"


def test_exemptions_are_needed():
    """An op with a record does not stand in the list of exemptions too."""
    assert not RECORDED & EXEMPTED


@pytest.mark.parametrize("name", sorted(REQUIRED))
def test_is_there(name):
    home = mx
    for part in name.split("."):
        home = getattr(home, part)
    assert callable(home)
