"""`umber.core` gives what `mlx.core` gives: random valid calls of every name, where MLX is.

`UMBER_MLX_CALLS` sets how many calls a name gets.
"""

import os
import zlib

import pytest
import umber.core as mx
from differences_from_mlx import all_differences
from mlx_calls import Draw, gather_calls
from mlx_calls.outcome import Refused, difference, find, ignore_form, outcome_of

mlx = pytest.importorskip("mlx.core")

CALLS_A_NAME = int(os.environ.get("UMBER_MLX_CALLS", "40"))
CALLS = gather_calls()
DIFFERENCES = all_differences()

# Not compared by random calls: what they are, and which tests stand for them.
EXEMPT = {
    "transforms and evaluation: test_transforms.py, test_compile.py, test_vmap.py": """
        async_eval eval grad value_and_grad vjp jvp vmap compile enable_compile disable_compile
        checkpoint custom_function depends
    """,
    "files: test_io.py": """
        load save savez savez_compressed save_safetensors save_gguf
    """,
    "kernels in a device's language: test_fast.py": """
        fast.metal_kernel fast.cuda_kernel fast.precompiled_cuda_kernel
    """,
    "graphs in files": """
        FunctionExporter export_function export_to_dot exporter import_function
    """,
    "quantized matrices: test_quantization_mlx.py": """
        dequantize from_fp8 gather_qmm gather_qqmm qqmm quantize quantized_matmul to_fp8
    """,
    "memory, devices and streams: test_memory.py, test_threads.py": """
        clear_cache get_active_memory get_array_buffer_size get_cache_memory get_memory_limit
        get_peak_memory reset_peak_memory set_cache_limit set_memory_limit set_wired_limit
        Device DeviceType Stream StreamContext ThreadLocalStream clear_streams default_device
        default_stream device_count device_info is_available new_stream new_thread_local_stream
        new_thread_unsafe_stream set_default_device set_default_stream stream synchronize
    """,
    "classes, compared through what they do": """
        array ArrayAt ArrayIterator ArrayLike Dtype DtypeCategory PrintOptions
    """,
    "Python's protocols: test_interop.py, test_array.py": """
        array.__array_namespace__ array.__dlpack__ array.__getstate__ array.__setstate__
        array.__hash__ array.__init__ array.__new__ array.__class__ array.__module__ array.__doc__
        array.__delattr__ array.__dir__ array.__getattribute__ array.__init_subclass__
        array.__reduce__ array.__reduce_ex__ array.__setattr__ array.__sizeof__
        array.__subclasshook__
    """,
}
EXEMPTED = {name for names in EXEMPT.values() for name in names.split()}


def core_names():
    """Every public function and class of MLX's core, and every member of its array."""
    homes = (
        *(("", mlx), ("random.", mlx.random), ("linalg.", mlx.linalg), ("fft.", mlx.fft)),
        ("fast.", mlx.fast),
    )
    for prefix, home in homes:
        for name in dir(home):
            if not name.startswith("_") and callable(getattr(home, name)):
                yield prefix + name
    for name in dir(mlx.array):
        yield f"array.{name}"


def check(name, call):
    """Compare one call; a difference must have its row in the table."""
    rows = [row for row in DIFFERENCES if row.covers(name, call)]
    theirs = outcome_of(name, call, mlx)
    ours = outcome_of(name, call, mx)
    if any(row.only_form for row in rows):
        ours, theirs = ignore_form(ours), ignore_form(theirs)
    elif any(not row.accuracy and not row.may_refuse for row in rows):
        return
    if isinstance(ours, Refused) and any(row.may_refuse for row in rows):
        return
    accuracy = next((row.accuracy for row in rows), None)
    found = difference(ours, theirs, accuracy)
    assert found is None, f"{name} {call}: {found}\number {ours}\nMLX {theirs}"


@pytest.mark.parametrize("name", sorted(CALLS))
def test_same_as_mlx(name):
    for number in range(CALLS_A_NAME):
        check(name, CALLS[name](Draw(zlib.crc32(name.encode()), number)))


@pytest.mark.parametrize("name", sorted(CALLS))
def test_calls_are_valid(name):
    """The generator makes calls that MLX takes, or it would compare nothing."""
    outcomes = [
        outcome_of(name, CALLS[name](Draw(zlib.crc32(name.encode()), number)), mlx)
        for number in range(20)
    ]
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    assert len(refused) <= len(outcomes) / 3, refused[0]


def test_every_name_is_compared():
    """A name of MLX is compared by random calls or stands in EXEMPT."""
    names = set(core_names())
    assert not names - CALLS.keys() - EXEMPTED, "add a generator to tests/tables/mlx_calls"
    assert not CALLS.keys() & EXEMPTED - {"array"}


def test_missing_names():
    """Every name of MLX is here."""
    assert not {name for name in core_names() if find(mx, name) is None}
