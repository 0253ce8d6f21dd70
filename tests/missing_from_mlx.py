"""Names of MLX's core API that umber does not have yet, or not right yet.

The lists only shrink: whoever adds a name takes it out (`test_core_mlx.py` fails until then).
"""

EXPECTED = set(
    """
    ArrayLike FunctionExporter ThreadLocalStream array.__array_namespace__ array.__bytes__
    array.__div__ array.__rdiv__ array.view bartlett blackman block_masked_mm checkpoint
    clear_streams conv1d conv2d conv3d conv_general conv_transpose1d conv_transpose2d
    conv_transpose3d convolve custom_function depends dequantize einsum_path export_function
    export_to_dot exporter fft.fft fft.fft2 fft.fftfreq fft.fftn fft.fftshift fft.ifft
    fft.ifft2 fft.ifftn fft.ifftshift fft.irfft fft.irfft2 fft.irfftn fft.istft fft.rfft
    fft.rfft2 fft.rfftfreq fft.rfftn fft.stft from_fp8 gather_mm gather_qmm gather_qqmm
    get_array_buffer_size hadamard_transform hamming hanning import_function linalg.cholesky
    linalg.cholesky_inv linalg.cross linalg.det linalg.eig linalg.eigh linalg.eigvals
    linalg.eigvalsh linalg.inv linalg.lu linalg.lu_factor linalg.norm linalg.pinv linalg.qr
    linalg.slogdet linalg.solve linalg.solve_triangular linalg.svd linalg.tri_inv
    matrix_norm new_thread_local_stream new_thread_unsafe_stream qqmm quantize
    quantized_matmul random.multivariate_normal save_gguf savez savez_compressed
    segmented_mm set_wired_limit to_fp8 unique view
    """.split()
)

# Known to differ without being meant to: what is wrong.
WRONG = {
    "array.__format__": "an empty format of a 0-d array prints the array, MLX the number",
    "random.categorical": "draws differ for logits of a single row, of shape (1, n)",
}
