"""Quantised numbers and products are those of MLX, bit for bit, where MLX is."""

import numpy as np
import pytest
import quantized
import umber.core as mx
import umber.nn as nn
from arrays import to_numpy
from quantized import FORMATS, hard_rows, same_bits

mlx = pytest.importorskip("mlx.core")
import mlx.nn as mlx_nn  # noqa: E402

mlx.set_default_device(mlx.cpu)
RNG = np.random.default_rng(11)
DTYPES = ("float32", "float16", "bfloat16")


def to_mlx(x, name):
    return mlx.array(x).astype(getattr(mlx, name))


def from_mlx(x):
    floating = x.dtype in (mlx.float16, mlx.bfloat16)
    return np.array(x.astype(mlx.float32) if floating else x)


def pair(x, name, *options, **more):
    ours = mx.quantize(mx.array(x).astype(getattr(mx, name)), *options, **more)
    theirs = mlx.quantize(to_mlx(x, name), *options, **more)
    return ours, theirs


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("mode", "size", "bits"), FORMATS)
def test_same_bits(mode, size, bits, dtype):
    rows = hard_rows(size)
    if mode != "affine":
        # Infinities and NaN: see the page of differences.
        rows = rows[np.isfinite(rows).all(1)]
    x = np.concatenate([rows, RNG.standard_normal((200, size)).astype(np.float32)])
    x = np.concatenate([x, x[::-1]], 1)
    x = np.concatenate([x, x[:, ::-1]], 1) if size == 16 else x
    ours, theirs = pair(x, dtype, size, bits, mode)
    for a, b in zip(ours, theirs, strict=True):
        same_bits(to_numpy(a), from_mlx(b))


@pytest.mark.parametrize("dtype", DTYPES)
def test_same_bits_with_a_global_scale(dtype):
    x = RNG.standard_normal((100, 64)).astype(np.float32)
    for largest in (0.5, 3.3, 2688.0):
        ours = mx.quantize(
            mx.array(x).astype(getattr(mx, dtype)), mode="nvfp4", global_scale=mx.array(largest)
        )
        theirs = mlx.quantize(to_mlx(x, dtype), mode="nvfp4", global_scale=mlx.array(largest))
        for a, b in zip(ours, theirs, strict=True):
            same_bits(to_numpy(a), from_mlx(b))


@pytest.mark.parametrize("mode", ["mxfp4", "mxfp8", "nvfp4"])
def test_scales_of_every_magnitude(mode):
    size = quantized.USUAL[mode][0]
    halves = np.arange(1, 0x7C00, 3, dtype=np.uint16).view(np.float16).astype(np.float32)
    x = np.zeros((len(halves), 2 * size), np.float32)
    x[:, 0], x[:, size] = halves, -halves
    ours, theirs = pair(x, "float16", mode=mode)
    for a, b in zip(ours, theirs, strict=True):
        same_bits(to_numpy(a), from_mlx(b))


@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize(("mode", "size", "bits"), FORMATS)
def test_products_with_what_mlx_stored(mode, size, bits, transpose, tmp_path):
    w = RNG.standard_normal((128, 256)).astype(np.float32)
    theirs = mlx.quantize(mlx.array(w), size, bits, mode)
    path = str(tmp_path / "w.safetensors")
    names = ("weight", "scales", "biases")
    mlx.save_safetensors(path, dict(zip(names, theirs, strict=False)))
    loaded = mx.load(path)
    ours = [loaded[name] for name in names if name in loaded]
    options = {"transpose": transpose, "group_size": size, "bits": bits, "mode": mode}
    for rows in (1, 3, 20):
        x = RNG.standard_normal((rows, 256 if transpose else 128)).astype(np.float32)
        found = mx.quantized_matmul(mx.array(x), *ours, **options)
        expected = mlx.quantized_matmul(mlx.array(x), *theirs, **options)
        np.testing.assert_allclose(to_numpy(found), np.array(expected), atol=2e-4)
    found = mx.dequantize(*ours, group_size=size, bits=bits, mode=mode)
    expected = mlx.dequantize(*theirs, group_size=size, bits=bits, mode=mode)
    np.testing.assert_allclose(to_numpy(found), from_mlx(expected), rtol=1e-6, atol=1e-7)


def test_gathered_products():
    x, w = RNG.standard_normal((3, 5, 256)), RNG.standard_normal((4, 128, 256))
    x, w = x.astype(np.float32), w.astype(np.float32)
    left, right = np.array([0, 2, 1], np.uint32), np.array([3, 0, 0], np.uint32)
    found = mx.gather_qmm(mx.array(x), *mx.quantize(mx.array(w)), mx.array(left), mx.array(right))
    expected = mlx.gather_qmm(
        mlx.array(x), *mlx.quantize(mlx.array(w)), mlx.array(left), mlx.array(right)
    )
    np.testing.assert_allclose(to_numpy(found), np.array(expected), atol=2e-4)


def test_fp8():
    x = np.concatenate([RNG.standard_normal(2000) * 10.0 ** RNG.integers(-4, 4, 2000), [0, np.inf]])
    for name in DTYPES:
        ours = mx.to_fp8(mx.array(x.astype(np.float32)).astype(getattr(mx, name)))
        same_bits(to_numpy(ours), np.array(mlx.to_fp8(to_mlx(x.astype(np.float32), name))))
    codes = np.arange(256, dtype=np.uint8)
    for name in DTYPES:
        ours = mx.from_fp8(mx.array(codes), getattr(mx, name))
        same_bits(to_numpy(ours), from_mlx(mlx.from_fp8(mlx.array(codes), getattr(mlx, name))))


def test_derivatives():
    x, w = (RNG.standard_normal(shape).astype(np.float32) for shape in ((5, 256), (128, 256)))

    def gradients(m):
        words, *factors = m.quantize(m.array(w))
        f = lambda x, s, b: m.sin(m.quantized_matmul(x, words, s, b)).sum()  # noqa: E731
        return m.grad(f, (0, 1, 2))(m.array(x), *factors)

    for a, b in zip(gradients(mx), gradients(mlx), strict=True):
        np.testing.assert_allclose(to_numpy(a), np.array(b), atol=5e-3)


def test_layers():
    makers = [
        lambda nn: nn.QuantizedLinear(128, 8),
        lambda nn: nn.QuantizedLinear(128, 8, False, 32, 8),
        lambda nn: nn.QuantizedLinear(128, 8, mode="mxfp4"),
        lambda nn: nn.QuantizedEmbedding(10, 128),
        lambda nn: nn.QQLinear(128, 8),
        lambda nn: nn.QQLinear(128, 8).eval(),
        lambda nn: nn.Linear(128, 8).to_quantized(mode="nvfp4"),
        lambda nn: nn.Embedding(4, 64).to_quantized(bits=3),
    ]
    for make in makers:
        ours, theirs = make(nn), make(mlx_nn)
        assert repr(ours) == repr(theirs)
        assert ours.parameters().keys() == theirs.parameters().keys()
        assert ours.trainable_parameters().keys() == theirs.trainable_parameters().keys()
