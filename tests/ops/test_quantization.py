"""Quantised numbers against NumPy bit for bit, products, derivatives, batches, bad calls."""

import numpy as np
import pytest
import quantized
import umber.core as mx
from arrays import represent, to_numpy, to_umber
from quantized import FORMATS, USUAL, hard_rows, same_bits

RNG = np.random.default_rng(7)
ERRORS = (TypeError, ValueError)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(("mode", "size", "bits"), FORMATS)
def test_bits_are_those_of_the_definition(mode, size, bits, dtype):
    rows = [*hard_rows(size), *RNG.standard_normal((40, size))]
    x = represent(np.concatenate(rows).reshape(-1, size).astype(np.float32), dtype)
    x = x.repeat(2, 1).reshape(len(x), 2 * size)
    expected = quantized.quantize(
        x.astype(np.float32), mode, size, bits,
        rounded=lambda x: represent(x, dtype).astype(np.float32),
    )  # fmt: skip
    found = mx.quantize(to_umber(x, dtype), size, bits, mode)
    assert [part.dtype for part in found[:2]] == [
        mx.uint32,
        getattr(mx, dtype) if mode == "affine" else mx.uint8,
    ]
    for part, other in zip(found, expected, strict=True):
        same_bits(to_numpy(part), other)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_global_scale(dtype):
    x = represent(RNG.standard_normal((30, 64)).astype(np.float32), dtype)
    largest = np.float32(np.abs(x.astype(np.float32)).max())
    expected = quantized.quantize(
        x.astype(np.float32), "nvfp4", 16, 4, largest,
        lambda x: represent(x, dtype).astype(np.float32),
    )  # fmt: skip
    found = mx.quantize(to_umber(x, dtype), mode="nvfp4", global_scale=mx.array(largest))
    for part, other in zip(found, expected, strict=True):
        same_bits(to_numpy(part), other)
    back = mx.dequantize(*found, mode="nvfp4", global_scale=mx.array(largest), dtype=mx.float32)
    assert np.abs(to_numpy(back) - x.astype(np.float32)).max() < 0.7
    np.testing.assert_allclose(
        to_numpy(back),
        quantized.dequantize(*expected, None, "nvfp4", 16, 4) * largest / 2688,
        rtol=1e-6,
    )


@pytest.mark.parametrize(("mode", "size", "bits"), FORMATS)
def test_dequantize(mode, size, bits):
    x = RNG.standard_normal((4, 3, 4 * size)).astype(np.float32)
    parts = quantized.quantize(x, mode, size, bits)
    given = [mx.array(part) for part in parts]
    biases = parts[2] if mode == "affine" else None
    expected = quantized.dequantize(*parts[:2], biases, mode, size, bits)
    for name in ("float32", "float64", "bfloat16", "float16"):
        found = mx.dequantize(
            *given, group_size=size, bits=bits, mode=mode, dtype=getattr(mx, name)
        )
        epsilon = {"float32": 1e-6, "float64": 1e-14, "bfloat16": 8e-3, "float16": 1e-3}[name]
        np.testing.assert_allclose(to_numpy(found), expected, atol=epsilon * 6, rtol=epsilon)
    default = mx.dequantize(*given, group_size=size, bits=bits, mode=mode).dtype
    assert default == (mx.float32 if mode == "affine" else mx.bfloat16)


@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("rows", [1, 2, 5, 9, 12, 13, 17, 40, 95])
@pytest.mark.parametrize(("mode", "size", "bits"), FORMATS)
def test_products(mode, size, bits, rows, transpose):
    w = RNG.standard_normal((37, 9 * size)).astype(np.float32)
    parts = quantized.quantize(w, mode, size, bits)
    biases = parts[2] if mode == "affine" else None
    dense = quantized.dequantize(*parts[:2], biases, mode, size, bits)
    dense = dense.T if transpose else dense
    x = RNG.standard_normal((rows, len(dense))).astype(np.float32)
    given = [mx.array(part) for part in parts]
    options = {"transpose": transpose, "group_size": size, "bits": bits, "mode": mode}
    bound = np.abs(x) @ np.abs(dense) * 6e-6 + 1e-6
    found = to_numpy(mx.quantized_matmul(mx.array(x), *given, **options))
    assert (np.abs(found - x.astype(np.float64) @ dense) <= bound).all()
    x = mx.array(x)
    same_bits(to_numpy(mx.compile(lambda x: mx.quantized_matmul(x, *given, **options))(x)), found)
    exact = mx.quantized_matmul(x.astype(mx.float64), *given, **options)
    assert exact.dtype == mx.float64
    np.testing.assert_allclose(to_numpy(exact), to_numpy(x).astype(float) @ dense, atol=1e-11)


@pytest.mark.parametrize("rows", [1, 4, 12, 40])
@pytest.mark.parametrize(("mode", "size", "bits"), [how for how in FORMATS if how[0] != "affine"])
def test_every_float_of_few_bits_in_products(mode, size, bits, rows):
    codes = np.arange(1 << bits)
    sign = np.where(codes & 8, -1.0, 1.0)
    levels = quantized.from_fp8(codes) if bits == 8 else sign * quantized.FP4[codes & 7]
    # A column of each, and one of all that are numbers.
    table = np.repeat(codes[:, None], 256, axis=1)
    table = np.vstack([table, np.resize(codes[np.isfinite(levels)], 256)])
    scales = np.full((len(table), 256 // size), 0x38 if mode == "nvfp4" else 127, np.uint8)
    x = np.arange(rows * 256.0).reshape(rows, 256) * 7 % 32 - 15
    found = to_numpy(
        mx.quantized_matmul(
            mx.array(x.astype(np.float32)), mx.array(quantized.pack(table, bits)), mx.array(scales),
            group_size=size, bits=bits, mode=mode,
        )
    )  # fmt: skip
    expected = x @ levels[table].T
    same_bits(found[:, :-1], expected[:, :-1].astype(np.float32))
    bound = np.abs(x) @ np.abs(levels[table[-1]]) * 1e-6
    assert (np.abs(found[:, -1] - expected[:, -1]) <= bound).all()


@pytest.mark.parametrize("rows", [1, 4, 12, 40])
@pytest.mark.parametrize("mode", ["mxfp4", "mxfp8", "nvfp4"])
def test_multiples_of_the_identity_give_rows_back(mode, rows, rng):
    x = rng.standard_normal((rows, 128)).astype(np.float32)
    # Six is the largest of four bits, and needs no scale.
    six = mx.quantize(6 * mx.eye(128), mode=mode)
    found = to_numpy(mx.quantized_matmul(mx.array(x), *six, mode=mode))
    np.testing.assert_allclose(found, 6 * x, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("rows", [1, 4, 12, 40])
@pytest.mark.parametrize("mode", ["mxfp4", "mxfp8"])
def test_scales_of_any_size(mode, rows):
    bits = 4 if mode == "mxfp4" else 8
    # A half, or one, in all places; the last scale is infinite.
    words = mx.full((7, bits), 0x11111111 if bits == 4 else 0x38383838, dtype=mx.uint32)
    scales = np.array([[10], [30], [100], [127], [200], [254], [255]], np.uint8)
    found = mx.quantized_matmul(
        mx.full((rows, 32), 2**-9), words, mx.array(scales), group_size=32, bits=bits, mode=mode
    )
    sums = 32 * 2**-9 * (0.5 if bits == 4 else 1) * 2.0 ** (scales[:, 0] - 127.0)
    sums[-1] = np.inf
    same_bits(to_numpy(found), np.tile(sums.astype(np.float32), (rows, 1)))


@pytest.mark.parametrize("size", [32, 64, 128])
@pytest.mark.parametrize("bits", [1, 2, 3, 4, 5, 6, 8])
def test_sums_of_whole_numbers_are_exact(bits, size):
    """Codes lie at all places of words, and across two, in rows of any number of groups."""
    rng = np.random.default_rng(size + bits)
    for groups, columns, rows in [
        (1, 3, 1),
        (2, 9, 4),
        (3, 1, 2),
        (5, 6, 7),
        (8, 2, 1),
        (11, 5, 12),
    ]:
        codes = rng.integers(0, 1 << bits, (columns, groups * size)).astype(np.uint32)
        scales = rng.choice([-2, 1, 4], (columns, groups)).astype(np.float32)
        biases = rng.integers(-9, 9, (columns, groups)).astype(np.float32)
        x = rng.integers(-8, 9, (rows, groups * size)).astype(np.float32)
        weights = codes * np.repeat(scales, size, 1) + np.repeat(biases, size, 1)
        parts = map(mx.array, (quantized.pack(codes, bits), scales, biases))
        found = mx.quantized_matmul(mx.array(x), *parts, group_size=size, bits=bits)
        np.testing.assert_array_equal(to_numpy(found), x @ weights.T)


def dense_of(parts, mode="affine", size=64, bits=4):
    return mx.dequantize(*parts, group_size=size, bits=bits, mode=mode)


def test_dtypes_of_products():
    w, x = mx.random.normal((8, 64)), mx.ones((2, 64))
    words, scales, biases = mx.quantize(w)
    for of_x, of_scales, result in [
        ("float32", "float16", "float32"),
        ("float16", "float16", "float16"),
        ("bfloat16", "bfloat16", "bfloat16"),
        ("float16", "bfloat16", "float32"),
        ("int32", "float16", "float16"),
        ("float64", "float32", "float64"),
    ]:
        factors = [part.astype(getattr(mx, of_scales)) for part in (scales, biases)]
        out = mx.quantized_matmul(x.astype(getattr(mx, of_x)), words, *factors)
        assert out.dtype == getattr(mx, result)
        expected = to_numpy(x @ mx.dequantize(words, *factors, dtype=mx.float32).T)
        np.testing.assert_allclose(to_numpy(out), expected, atol=0.1)


def test_empty_products():
    words, scales, biases = mx.quantize(mx.ones((8, 64)))
    multiply = mx.quantized_matmul
    assert multiply(mx.ones((0, 64)), words, scales, biases).shape == (0, 8)
    assert multiply(mx.ones((3, 64)), words[:0], scales[:0], biases[:0]).shape == (3, 0)
    none = multiply(mx.ones((3, 0)), words[:, :0], scales[:, :0], biases[:, :0])
    assert none.tolist() == [[0.0] * 8] * 3
    assert [part.shape for part in mx.quantize(mx.ones((0, 64)))] == [(0, 8), (0, 1), (0, 1)]
    assert [part.shape for part in mx.quantize(mx.ones((3, 0)))] == [(3, 0)] * 3


@pytest.mark.parametrize("gathered", [False, True])
@pytest.mark.parametrize("rows", [1, 3, 8, 40])
@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
def test_outliers_cost_no_digits(bits, rows, gathered, rng):
    """Activations far above their neighbours, which meet zeros of the matrix or others."""
    depth, columns, zero = 256, 64, (1 << (bits - 1)) - 1
    codes = rng.integers(0, 1 << bits, (columns, depth))
    codes[:, ::128] = zero
    scales = rng.uniform(0.01, 0.1, (columns, depth // 64)).astype(np.float32)
    packed = np.packbits(
        ((codes[..., None] >> np.arange(bits)) & 1).astype(np.uint8).reshape(columns, -1),
        axis=1,
        bitorder="little",
    )
    stored = [mx.array(a) for a in (packed.view(np.uint32), scales, -zero * scales)]
    weight = to_numpy(mx.dequantize(*stored, bits=bits)).astype(np.float64)
    assert not weight[:, ::128].any()
    for height in (1.0, 30.0, 1e3, 3e4, 1e9, 1e22):
        for place in (0, 1):
            x = (rng.standard_normal((rows, depth)) * 1e-3).astype(np.float32)
            x[:, place::128] *= height
            if gathered:
                left, right = mx.array(x)[:, None], [a[None] for a in stored]
                y = mx.gather_qmm(left, *right, rhs_indices=mx.zeros(rows, mx.uint32), bits=bits)
            else:
                y = mx.quantized_matmul(mx.array(x), *stored, bits=bits)
            error = np.abs(to_numpy(y).reshape(rows, columns) - x.astype(np.float64) @ weight.T)
            terms = np.abs(x).astype(np.float64) @ np.abs(weight.T)
            assert (error / terms).max() < 3e-6, (height, place)


@pytest.mark.parametrize("rows", [1, 3, 16, 40])
@pytest.mark.parametrize("size", [32, 64, 128])
@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
def test_weights_of_one_sign_cost_no_digits(bits, size, rows):
    rng = np.random.default_rng(bits)
    x = rng.standard_normal((rows, 256)).astype(np.float32)
    codes = np.zeros((17, 256), np.uint32)
    # Columns of nothing, of few ones, of what is far above the rest, and of either sign.
    codes[1::2, ::50] = 1
    codes[2::5, 3] = 2**bits - 1
    codes[3::5] = rng.integers(0, 2**bits, (3, 256))
    x[:, 3] = 0
    scales = np.ones((17, 256 // size), np.float32)
    biases = np.zeros_like(scales)
    biases[3::5] = -(2 ** (bits - 1))
    weights = codes * np.repeat(scales, size, 1) + np.repeat(biases, size, 1).astype(np.float64)
    packed = mx.array(quantized.pack(codes, bits))
    parts = (packed, mx.array(scales), mx.array(biases))
    found = np.array(
        mx.quantized_matmul(mx.array(x), *parts, transpose=True, group_size=size, bits=bits)
    )
    magnitudes = np.abs(x).astype(np.float64) @ np.abs(weights).T
    assert (np.abs(found - x.astype(np.float64) @ weights.T) <= 4e-7 * magnitudes).all()


@pytest.mark.parametrize("rows", [1, 4, 12, 13, 16, 40])
@pytest.mark.parametrize("bits", [1, 2, 3, 4, 5, 6, 8])
def test_numbers_of_any_size_keep_their_digits(bits, rows, rng):
    """Rows of very large and of very small numbers, beside each other and of each group."""
    depth, columns = 192, 33
    weight = mx.array(rng.standard_normal((columns, depth)).astype(np.float32))
    parts = mx.quantize(weight, bits=bits)
    weights = to_numpy(mx.dequantize(*parts, bits=bits)).astype(np.float64)
    sizes = np.array([1.0, 1e-36, 1e-30, 1e-20, 1e-15, 1e-5, 1e5, 1e15, 1e20, 1e30])
    for first in range(len(sizes)):
        x = rng.standard_normal((rows, depth)).astype(np.float32)
        x *= sizes[(first + np.arange(rows)) % len(sizes), None].astype(np.float32)
        x[:, 64:128] *= np.float32(1e-3)
        found = to_numpy(mx.quantized_matmul(mx.array(x), *parts, bits=bits)).astype(np.float64)
        terms = np.abs(x).astype(np.float64) @ np.abs(weights).T
        error = np.abs(found - x.astype(np.float64) @ weights.T)
        # What is below the least normal number is rounded as coarsely as that.
        assert (error <= 2e-6 * terms + 1e-43).all(), sizes[first]


def test_infinite_numbers_meet_weights_not_codes():
    words, scales, biases = mx.quantize(mx.full((1, 64), 3.0))
    x = mx.zeros(64)
    x[3] = mx.inf
    assert mx.quantized_matmul(x, words, scales, biases).item() == mx.inf


def test_parts_in_any_layout():
    x, w = mx.random.normal((256, 5)).T, mx.random.normal((16, 256))
    words, scales, biases = (part[::2] for part in mx.quantize(w))
    expected = to_numpy(x @ dense_of((words, scales, biases)).T)
    found = to_numpy(mx.quantized_matmul(x, words, scales, biases))
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("of_x", "of_w"),
    [((2, 3), ()), ((), (2,)), ((3,), (2, 3)), ((2, 3), (3,)), ((2, 1), (3,)), ((2,), (1,))],
)
def test_batches_broadcast(of_x, of_w):
    x, w = mx.random.normal((*of_x, 4, 64)), mx.random.normal((*of_w, 6, 64))
    parts = mx.quantize(w)
    expected = to_numpy(x @ mx.swapaxes(dense_of(parts), -1, -2))
    np.testing.assert_allclose(to_numpy(mx.quantized_matmul(x, *parts)), expected, atol=1e-4)


@pytest.mark.parametrize("transpose", [True, False])
def test_gathered_products(transpose):
    x = mx.random.normal((5, 2, 64 if transpose else 6))
    parts = mx.quantize(mx.random.normal((3, 6, 64)))
    left, right = mx.array([[0, -1, 2], [2, 3, 4]]), mx.array([2, 0, 2])
    options = {"lhs_indices": left, "rhs_indices": right, "transpose": transpose}
    w = dense_of(parts)
    w = mx.swapaxes(w, -1, -2) if transpose else w
    expected = to_numpy(mx.gather_mm(x, w, left, right))
    found = mx.gather_qmm(x, *parts, **options)
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-4)
    same_bits(to_numpy(mx.gather_qmm(x, *parts, **options, sorted_indices=True)), to_numpy(found))
    with pytest.raises(IndexError, match=r"\[gather_qmm\] index 3 is out of bounds"):
        mx.eval(mx.gather_qmm(x, *parts, rhs_indices=mx.array([3]), lhs_indices=mx.array([0]),
                              transpose=transpose))  # fmt: skip


def test_global_scale_of_each_matrix():
    w = mx.random.normal((3, 6, 64))
    largest = mx.max(mx.abs(w), axis=(1, 2))
    parts = [mx.quantize(w[i], mode="nvfp4", global_scale=largest[i]) for i in range(3)]
    words, scales = (mx.stack(some) for some in zip(*parts, strict=True))
    x, which = mx.random.normal((4, 2, 64)), mx.array([2, 0, 1, 2])
    found = mx.gather_qmm(x, words, scales, rhs_indices=which, mode="nvfp4", global_scale=largest)
    dense = [
        mx.dequantize(*parts[i], mode="nvfp4", global_scale=largest[i]) for i in which.tolist()
    ]
    expected = to_numpy(mx.stack([a @ b.T for a, b in zip(x, dense, strict=True)]))
    np.testing.assert_allclose(to_numpy(found), expected, atol=1e-4)


# Derivatives


@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("gathered", [False, True])
def test_derivatives_of_products(transpose, gathered):
    x = mx.random.normal((3, 2, 64 if transpose else 6))
    words, scales, biases = mx.quantize(mx.random.normal((3, 6, 64)))
    which = {"rhs_indices": mx.array([2, 0, 2])} if gathered else {}

    def f(x, scales, biases):
        multiply = mx.gather_qmm if gathered else mx.quantized_matmul
        return mx.sin(multiply(x, words, scales, biases, transpose=transpose, **which)).sum()

    def g(x, scales, biases):
        w = mx.dequantize(words, scales, biases)
        w = mx.swapaxes(w, -1, -2) if transpose else w
        return mx.sin(mx.gather_mm(x, w, **which) if gathered else x @ w).sum()

    at = (x, scales, biases)
    for order in (lambda f: f, lambda f: lambda *at: mx.grad(f)(*at).sum()):
        found, expected = (mx.grad(order(h), (0, 1, 2))(*at) for h in (f, g))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(to_numpy(a), to_numpy(b), atol=2e-2, rtol=1e-3)
    tangents = [mx.random.normal(part.shape) for part in at]
    (found,), (expected,) = (mx.jvp(h, at, tangents)[1] for h in (f, g))
    np.testing.assert_allclose(found.item(), expected.item(), rtol=1e-3, atol=2e-2)
    pulled = mx.grad(f, (0, 1, 2))(*at)
    both = sum((a * b).sum().item() for a, b in zip(pulled, tangents, strict=True))
    np.testing.assert_allclose(both, found.item(), rtol=1e-3, atol=2e-2)


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_derivatives_of_quantize(bits):
    x = RNG.standard_normal((3, 64)).astype(np.float64)
    way = RNG.standard_normal(x.shape)
    weights = [mx.array(RNG.standard_normal((3, 2)), mx.float64) for _ in range(2)]

    def f(x):
        parts = mx.quantize(x, 32, bits)
        return sum((w * p).sum() for w, p in zip(weights, parts[1:], strict=True))

    at, step = mx.array(x, mx.float64), 1e-7
    slope = (
        f(mx.array(x + step * way, mx.float64)) - f(mx.array(x - step * way, mx.float64))
    ).item()
    slope /= 2 * step
    pulled = (mx.grad(f)(at) * mx.array(way, mx.float64)).sum().item()
    pushed = mx.jvp(f, [at], [mx.array(way, mx.float64)])[1][0].item()
    np.testing.assert_allclose([pulled, pushed], slope, rtol=1e-4)


def test_packed_codes_have_no_derivative(rng):
    words, scales, biases = mx.quantize(mx.random.normal((8, 64)))
    of_words = mx.grad(lambda w: mx.quantized_matmul(mx.ones(64), w, scales, biases).sum())
    assert not to_numpy(of_words(words)).any()
    # The same numbers every time: of one set in dozens the derivative of a scale is zero.
    w = mx.array(rng.standard_normal((2, 64)).astype(np.float32))
    through = mx.grad(lambda w: mx.dequantize(*mx.quantize(w)).sum())(w)
    assert (to_numpy(through) != 0).sum() == 2


def test_derivatives_pass_straight_through_rounding():
    x, w = mx.random.normal((3, 64)), mx.random.normal((5, 64))
    rounded = [
        mx.dequantize(*mx.quantize(a, mode="nvfp4"), mode="nvfp4", dtype=mx.float32) for a in (x, w)
    ]
    out, pulled = mx.vjp(lambda x, w: mx.qqmm(x, w), (x, w), (mx.ones((3, 5)),))
    np.testing.assert_allclose(to_numpy(out[0]), to_numpy(rounded[0] @ rounded[1].T), atol=1e-4)
    expected = mx.ones((3, 5)) @ rounded[1], mx.ones((5, 3)) @ rounded[0]
    for a, b in zip(pulled, expected, strict=True):
        np.testing.assert_allclose(to_numpy(a), to_numpy(b), atol=1e-4)
    scales = {"global_scale_x": mx.max(mx.abs(x)), "global_scale_w": mx.max(mx.abs(w))}
    out, pulled = mx.vjp(lambda x, w: mx.qqmm(x, w, **scales), (x, w), (mx.ones((3, 5)),))
    np.testing.assert_allclose(to_numpy(out[0]), to_numpy(x @ w.T), atol=6)
    for a, b in zip(pulled, expected, strict=True):
        np.testing.assert_allclose(to_numpy(a), to_numpy(b), atol=6)


# Batches


def over_lanes(f, axes, *given):
    """`f` on each lane, one after the other."""
    count = next(a.shape[0] for a, axis in zip(given, axes, strict=True) if axis is not None)
    lanes = [
        f(*(a if axis is None else a[i] for a, axis in zip(given, axes, strict=True)))
        for i in range(count)
    ]
    return [mx.stack(parts) for parts in zip(*lanes, strict=True)]


def check_lanes(f, axes, *given):
    found, expected = mx.vmap(f, in_axes=axes)(*given), over_lanes(f, axes, *given)
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(to_numpy(a), to_numpy(b), atol=1e-4)


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
@pytest.mark.parametrize("stacked", [(), (3,)])
def test_vmap_of_products(axes, stacked):
    x = mx.random.normal((*(4,) * (axes[0] == 0), *stacked, 2, 64))
    parts = mx.quantize(mx.random.normal((*(4,) * (axes[1] == 0), *stacked, 6, 64)))
    check_lanes(
        lambda x, w, s, b: [mx.quantized_matmul(x, w, s, b)], (axes[0],) + (axes[1],) * 3, x, *parts
    )
    if stacked:
        index = mx.array([2, 0, 1, 1])
        check_lanes(
            lambda x, w, s, b: [mx.gather_qmm(x, w, s, b, None, index[:3])],
            (axes[0],) + (axes[1],) * 3,
            x,
            *parts,
        )
        check_lanes(
            lambda i, x, w, s, b: [mx.gather_qmm(x, w, s, b, i, i)],
            (0, axes[0]) + (axes[1],) * 3,
            mx.array([[0, 1], [2, -1], [1, 1], [2, 0]]),
            x,
            *parts,
        )


def test_vmap_of_quantize():
    x, largest = mx.random.normal((4, 3, 64)), mx.array([1.0, 2.0, 3.0, 4.0])
    check_lanes(mx.quantize, (0,), x)
    nvfp4 = lambda x, g: mx.quantize(x, mode="nvfp4", global_scale=g)  # noqa: E731
    check_lanes(nvfp4, (0, 0), x, largest)
    check_lanes(nvfp4, (None, 0), x[0], largest)
    check_lanes(nvfp4, (0, None), x, largest[0])
    check_lanes(lambda x: mx.vmap(nvfp4, in_axes=(0, None))(x, largest[0]), (0,), x)
    check_lanes(lambda x: mx.vmap(nvfp4, in_axes=(0, 0))(x, largest[:3]), (0,), x)
    check_lanes(lambda x: [mx.qqmm(x, x[:2])], (0,), x)


def test_functions_in_files(tmp_path):
    parts = mx.quantize(mx.random.normal((3, 6, 64)))
    fp4 = mx.quantize(mx.random.normal((6, 64)), mode="nvfp4")

    def f(x):
        y = mx.gather_qmm(x, *parts, rhs_indices=mx.array([2, 0]))
        z = mx.quantized_matmul(x, *fp4, mode="nvfp4") + mx.qqmm(x, x[0], mode="mxfp8").sum()
        again = mx.dequantize(*mx.quantize(x, 32, 3), group_size=32, bits=3)
        return y + z, again, mx.from_fp8(mx.to_fp8(x))

    x = mx.random.normal((2, 6, 64))
    path = str(tmp_path / "f.safetensors")
    mx.export_function(path, f, x)
    for a, b in zip(mx.import_function(path)(x), f(x), strict=True):
        np.testing.assert_allclose(to_numpy(a), to_numpy(b), atol=1e-5)


# Floats of eight bits


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_fp8(dtype):
    middles = (quantized.FP8[:126] + quantized.FP8[1:127]) / 2
    values = [*quantized.FP8, *-quantized.FP8, *middles, 464, 480, 1e9, 1e-9, np.inf, -np.inf]
    values = represent(
        np.array([*values, *RNG.standard_normal(500), *(middles * (1 + 1e-9))]), dtype
    )
    same_bits(to_numpy(mx.to_fp8(to_umber(values, dtype))), quantized.to_fp8(values))
    codes = np.arange(256, dtype=np.uint8)
    found = mx.from_fp8(mx.array(codes), getattr(mx, dtype))
    same_bits(to_numpy(found), quantized.from_fp8(codes).astype(to_numpy(found).dtype))
    assert mx.from_fp8(mx.array(codes)).dtype == mx.bfloat16


# Bad calls

W, S, B = mx.quantize(mx.ones((8, 64)))
X = mx.ones((2, 64))
FP = mx.quantize(mx.ones((8, 64)), mode="nvfp4")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mx.quantize(X, mode="fp3"), r"\[quantize\] got mode 'fp3', expected one of"),
        (lambda: mx.quantize(X, bits=7), r"\[quantize\] got bits 7, expected 1, 2, 3"),
        (lambda: mx.quantize(X, 16), r"\[quantize\] got group_size 16, expected 32, 64 or 128"),
        (lambda: mx.quantize(X, 64, mode="nvfp4"), r"got group_size 64, expected 16 for mode"),
        (lambda: mx.quantize(X, 128), r"\[quantize\] last axis of w must .*got shape \(2, 64\)"),
        (lambda: mx.quantize(mx.array(1.0)), r"\[quantize\] last axis of w must be divisible by"),
        (lambda: mx.quantize(W), r"\[quantize\] w must be float16, bfloat16, float32"),
        (lambda: mx.quantize(X, global_scale=mx.array(1.0)), "global_scale requires mode 'nvfp4',"),
        (
            lambda: mx.quantize(X, mode="nvfp4", global_scale=mx.ones(2)),
            r"\[quantize\] global_scale must be a scalar, got shape \(2,\)",
        ),
        (lambda: mx.dequantize(X, S, B), r"\[dequantize\] w must hold packed codes in"),
        (lambda: mx.dequantize(W, S), r"\[dequantize\] mode 'affine' requires biases"),
        (
            lambda: mx.dequantize(W, S[:4], B[:4]),
            r"\[dequantize\] shapes of w, \(8, 8\), and scales, \(4, 1\), do not",
        ),
        (
            lambda: mx.dequantize(W, S, B[:4]),
            r"\[dequantize\] scales and biases must have the .*got \(8, 1\) and \(4, 1\)",
        ),
        (lambda: mx.dequantize(W, S, B, 32), r"\[dequantize\] shapes of w, \(8, 8\), and scales,"),
        (lambda: mx.dequantize(*FP, B, mode="nvfp4"), "mode 'nvfp4' does not take biases"),
        (lambda: mx.dequantize(FP[0], S, mode="nvfp4"), "scales must be uint8 for mode"),
        (lambda: mx.dequantize(W, S, B, dtype=mx.int32), r"\[dequantize\] dtype int32 is not"),
        (lambda: mx.quantized_matmul(X, W, FP[1], B), "scales must be real"),
        (lambda: mx.quantized_matmul(X[:, :32], W, S, B), r"inner dimensions differ: x"),
        (lambda: mx.quantized_matmul(X[0, 0], W, S, B), "inner dimensions differ: x"),
        (lambda: mx.quantized_matmul(X, W[0], S[0], B[0]), "w must have at least 2 axes,"),
        (
            lambda: mx.quantized_matmul(X.astype(mx.complex64), W, S, B),
            r"\[quantized_matmul\] x must be float16, bfloat16,",
        ),
        (lambda: mx.quantized_matmul(X, W, S, B, bits=9), r"\[quantized_matmul\] got bits 9"),
        (
            lambda: mx.quantized_matmul(mx.ones((3, 2, 64)), *mx.quantize(mx.ones((2, 8, 64)))),
            r"\[quantized_matmul\] batch axes of shapes \(3,\) and \(2,\) cannot be",
        ),
        (
            lambda: mx.gather_qmm(X, W, S, B, rhs_indices=mx.array([0.5])),
            r"\[gather_qmm\] indices must be integers, not",
        ),
        (
            lambda: mx.gather_qmm(X, *FP, mode="nvfp4", global_scale=mx.ones(3)),
            r"\[gather_qmm\] global_scale must be a scalar or .*got shape \(3,\)",
        ),
        (lambda: mx.qqmm(X, X, mode="affine"), r"\[qqmm\] mode 'affine' is not supported,"),
        (lambda: mx.qqmm(X, FP[0]), r"\[qqmm\] w of dtype uint32 requires scales"),
        (lambda: mx.qqmm(X, X, FP[1]), r"\[qqmm\] w must hold packed codes in uint32, not float32"),
        (lambda: mx.qqmm(X[:, :32], X), r"\[qqmm\] x and w .*got shapes \(2, 32\) and \(2, 64\)"),
        (lambda: mx.qqmm(X, X, global_scale_x=mx.array(1.0)), "and global_scale_w must be given"),
        (lambda: mx.gather_qqmm(W, X), r"\[gather_qqmm\] x must be float16, bfloat16,"),
        (
            lambda: mx.gather_qqmm(X, X, lhs_indices=mx.array([0.5])),
            r"\[gather_qqmm\] indices must be integers, not",
        ),
        (lambda: mx.to_fp8(W), r"\[to_fp8\] x must be float16, bfloat16, float32"),
        (lambda: mx.from_fp8(W), r"\[from_fp8\] x must be uint8 or float8_e4m3fn, not uint32"),
        (lambda: mx.from_fp8(mx.array([1], mx.uint8), mx.int8), r"\[from_fp8\] dtype int8 is not"),
    ],
)  # fmt: skip
def test_bad_calls(call, message):
    with pytest.raises(ERRORS, match=message):
        call()


def test_usual_formats():
    for mode, (size, bits) in USUAL.items():
        x = mx.random.normal((2, 128))
        for a, b in zip(mx.quantize(x, mode=mode), mx.quantize(x, size, bits, mode), strict=True):
            same_bits(to_numpy(a), to_numpy(b))
