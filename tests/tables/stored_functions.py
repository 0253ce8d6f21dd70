"""Functions whose exported files are kept in `tests/io/function_files`, and what they compute.

The files were written by earlier releases: a renamed primitive or field must still read them.
`python tests/tables/stored_functions.py` writes the files that are missing, never those that exist.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import umber.core as mx

FOLDER = Path(__file__).parents[1] / "io/function_files"


def ramp(*shape: int) -> mx.array:
    """Numbers between -1 and 1 without a pattern that a wrong order of elements would keep."""
    size = 1
    for length in shape:
        size *= length
    return mx.sin(mx.arange(size, dtype=mx.float32) * 1.7).reshape(shape)


def quantized(x: mx.array, w: mx.array) -> list[mx.array]:
    """Products with quantised weights, and the weights back."""
    out = []
    for mode, group, bits in (("affine", 32, 4), ("affine", 64, 8), ("mxfp4", 32, 4)):
        words, *rest = mx.quantize(w, group_size=group, bits=bits, mode=mode)
        biases = rest[1] if len(rest) == 2 else None
        for transpose in (True, False):
            left = x if transpose else x[:, : w.shape[0]]
            out.append(
                mx.quantized_matmul(
                    left,
                    words,
                    rest[0],
                    biases,
                    transpose=transpose,
                    group_size=group,
                    bits=bits,
                    mode=mode,
                )
            )
        out.append(mx.dequantize(words, rest[0], biases, group_size=group, bits=bits, mode=mode))
    return out


def convolution(x: mx.array, w: mx.array) -> list[mx.array]:
    """A strided, padded, dilated convolution and its gradients."""

    def loss(x: mx.array, w: mx.array) -> mx.array:
        return mx.square(mx.conv2d(x, w, stride=2, padding=1, dilation=(1, 2))).sum()

    return [
        mx.conv2d(x, w, stride=2, padding=1),
        mx.conv_transpose2d(x, w, stride=2),
        *mx.grad(loss, argnums=(0, 1))(x, w),
    ]


def fast(x: mx.array, w: mx.array) -> list[mx.array]:
    """Rotary positions, norms, attention, and their gradients."""

    def rope(x: mx.array) -> mx.array:
        return mx.fast.rope(x, 8, traditional=False, base=1e4, scale=1.0, offset=3)

    return [
        rope(x),
        mx.fast.rope(x, 4, traditional=True, base=None, scale=0.5, offset=0, freqs=w[:2] + 2),
        mx.grad(lambda x: (rope(x) * x).sum())(x),
        mx.fast.rms_norm(x, w, 1e-5),
        mx.fast.layer_norm(x, w, None, 1e-5),
        mx.fast.scaled_dot_product_attention(x, x, x, scale=0.3, mask="causal"),
    ]


def reductions(x: mx.array) -> list[mx.array]:
    """Reductions, scans, orders and searches."""
    return [
        x.sum(axis=0),
        mx.var(x, axis=1, ddof=1),
        mx.std(x, axis=0, keepdims=True),
        mx.logsumexp(x, axis=-1),
        mx.softmax(x, axis=0, precise=True),
        mx.cumsum(x, axis=1, reverse=True, inclusive=False),
        mx.logcumsumexp(x, axis=0),
        mx.argmax(x, axis=1),
        mx.argmin(x),
        mx.sort(x, axis=0),
        mx.argsort(x, axis=1),
        mx.topk(x, 2, axis=-1),
        mx.median(x, axis=0),
        mx.any(x > 0.9, axis=0),
        mx.max(x, axis=0),
        mx.grad(lambda x: mx.max(x, axis=0).sum())(x),
    ]


def indexing(x: mx.array, i: mx.array) -> list[mx.array]:
    """Gathers, scatters, slices and shapes."""
    y = x[1:, ::2]
    z = mx.zeros_like(x).at[i].add(x[i] * 2.0).at[:, 0].maximum(0.25)
    return [
        x[i],
        y,
        z,
        mx.take_along_axis(x, mx.argsort(x, axis=1), axis=1),
        mx.put_along_axis(x, i[:, None], mx.array(3.0), axis=1),
        mx.pad(x, ((1, 0), (0, 2)), constant_values=7.0),
        mx.concatenate([x, -x], axis=1),
        x.T.reshape(-1),
        mx.roll(x, 1, axis=0),
        mx.where(x > 0, x, i[:, None].astype(mx.float32)),
        x.astype(mx.float16).astype(mx.int8),
        x.view(mx.uint32) >> 3,
    ]


def control(x: mx.array) -> list[mx.array]:
    """Loops and branches that are traced once."""
    carry, rows = mx.scan(lambda c, row: (c * 0.5 + row, mx.tanh(c)), x[0], x)
    return [
        carry,
        rows,
        mx.fori_loop(0, 4, lambda i, v: v * 1.5 + i, x[0]),
        mx.while_loop(lambda v: v.sum() < 50.0, lambda v: mx.abs(v) + 1.0, x[0]),
        mx.cond(x[0, 0] > 0, lambda v: mx.exp(v), lambda v: -v, x),
        mx.grad(lambda x: mx.scan(lambda c, row: (c * row, c), x[0], x)[0].sum())(x),
    ]


def numerics(x: mx.array) -> list[mx.array]:
    """Fourier transforms and linear algebra."""
    a = x @ x.T + 4 * mx.eye(x.shape[0])
    q, r = mx.linalg.qr(x.T, stream=mx.cpu)
    return [
        mx.real(mx.fft.fft(x)),
        mx.fft.irfft(mx.fft.rfft(x, axis=0), axis=0),
        mx.linalg.cholesky(a, stream=mx.cpu),
        mx.linalg.inv(a, stream=mx.cpu),
        mx.linalg.solve(a, x, stream=mx.cpu),
        q @ r,
        mx.linalg.eigvalsh(a, stream=mx.cpu),
        mx.linalg.svd(x, stream=mx.cpu)[1],
        mx.linalg.norm(x),
        mx.einsum("ij,kj->ik", x, x),
    ]


def randoms(key: mx.array, logits: mx.array) -> list[mx.array]:
    """Draws from a key."""
    return [
        mx.random.uniform(shape=(3,), key=key),
        mx.random.normal(shape=(3,), key=key),
        mx.random.randint(0, 100, (4,), key=key),
        mx.random.bernoulli(0.3, (5,), key=key),
        mx.random.categorical(logits, num_samples=4, key=key),
        mx.random.permutation(7, key=key),
        mx.random.split(key, 3),
    ]


# Name of the file -> the function and its arguments.
FUNCTIONS: dict[str, tuple[Callable[..., list[mx.array]], Callable[[], list[mx.array]]]] = {
    "quantized": (quantized, lambda: [ramp(3, 64), ramp(64, 64)]),
    "convolution": (convolution, lambda: [ramp(2, 7, 8, 3), ramp(4, 3, 3, 3)]),
    "fast": (fast, lambda: [ramp(1, 2, 5, 8), ramp(8)]),
    "reductions": (reductions, lambda: [ramp(4, 5)]),
    "indexing": (indexing, lambda: [ramp(4, 5), mx.array([0, 3, 1, 2])]),
    "control": (control, lambda: [ramp(3, 4)]),
    "numerics": (numerics, lambda: [ramp(4, 6)]),
    "randoms": (randoms, lambda: [mx.random.key(5), ramp(2, 6)]),
}


def main() -> None:
    """Write the files that do not exist yet."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, (function, arguments) in FUNCTIONS.items():
        path = FOLDER / f"{name}.safetensors"
        if not path.exists():
            mx.export_function(str(path), function, *arguments())
            print(f"wrote {path}")


if __name__ == "__main__":
    main()
