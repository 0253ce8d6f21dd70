"""Names of MLX's core API that umber does not have yet, or not right yet.

The lists only shrink: whoever adds a name takes it out (`test_core_mlx.py` fails until then).
"""

EXPECTED = set(
    """
<<<<<<< HEAD
    dequantize from_fp8 gather_qmm gather_qqmm qqmm quantize quantized_matmul to_fp8
=======
    ThreadLocalStream clear_streams get_array_buffer_size
    new_thread_local_stream new_thread_unsafe_stream
    save_gguf savez savez_compressed
    set_wired_limit
>>>>>>> quant
    """.split()
)

# Known to differ without being meant to: what is wrong.
WRONG: dict[str, str] = {}
