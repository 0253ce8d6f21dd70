"""Attention, transformers and positional encodings against their formulas in NumPy."""

import math

import numpy as np
import pytest
import umber.core as mx
from umber import nn

F64 = np.float64


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def linear(layer, x):
    y = x @ np.array(layer.weight).T
    return y + np.array(layer.bias) if "bias" in layer else y


def attention(layer, q, k, v, mask=0.0):
    """One sample: the heads one after the other."""
    q, k, v = linear(layer.query_proj, q), linear(layer.key_proj, k), linear(layer.value_proj, v)
    heads = [np.split(x, layer.num_heads, axis=-1) for x in (q, k, v)]
    outputs = [
        softmax(a @ b.T / math.sqrt(a.shape[-1]) + mask) @ c for a, b, c in zip(*heads, strict=True)
    ]
    return linear(layer.out_proj, np.concatenate(outputs, axis=-1))


def wide(layer):
    layer.set_dtype(mx.float64)
    return layer


@pytest.mark.parametrize("bias", [True, False])
def test_multi_head_attention(bias, rng):
    layer = wide(nn.MultiHeadAttention(8, 2, 3, 4, 5, 6, 7, bias=bias))
    q, k, v = (rng.normal(size=(2, n, d)) for n, d in ((3, 3), (5, 4), (5, 5)))
    y = layer(*map(mx.array, (q, k, v)))
    expected = [attention(layer, *sample) for sample in zip(q, k, v, strict=True)]
    np.testing.assert_allclose(np.array(y), expected, rtol=1e-10)
    # Without an axis of samples
    one = layer(*(mx.array(x[0]) for x in (q, k, v)))
    np.testing.assert_allclose(np.array(one), expected[0], rtol=1e-10)


def test_masks_of_attention(rng):
    layer = wide(nn.MultiHeadAttention(8, 4))
    x = rng.normal(size=(2, 5, 8))
    lower = np.tri(5, dtype=bool)
    expected = [attention(layer, s, s, s, np.where(lower, 0, -np.inf)) for s in x]
    masks = [
        "causal",
        mx.array(lower),
        mx.where(mx.array(lower), 0.0, -math.inf),
        nn.MultiHeadAttention.create_additive_causal_mask(5),
        nn.MultiHeadAttention.create_additive_causal_mask(5)[None, None],
    ]
    for mask in masks:
        y = layer(*[mx.array(x)] * 3, mask)
        np.testing.assert_allclose(np.array(y), expected, rtol=1e-10)
    # The last of fewer queries sees all keys.
    y = layer(mx.array(x[:, 2:]), *[mx.array(x)] * 2, "causal")
    np.testing.assert_allclose(np.array(y), np.array(expected)[:, 2:], rtol=1e-10)


def test_halves_attend_in_float32():
    layer = nn.MultiHeadAttention(4, 1)
    layer.apply(lambda x: mx.eye(4) * 150)
    layer.set_dtype(mx.float16)
    x = mx.array([[100.0, 0, 0, 0], [0, 100, 0, 0]], mx.float16)
    # Scores beyond 65504, and yet no infinity.
    layer.out_proj.weight = mx.eye(4, dtype=mx.float16)
    y = layer(x, x, x)
    assert y.dtype == mx.float16
    np.testing.assert_array_equal(np.array(y), np.array(x) * 150)


def test_causal_masks():
    mask = nn.MultiHeadAttention.create_additive_causal_mask(3, mx.float16)
    assert mask.dtype == mx.float16
    low = -65504.0
    assert mask.tolist() == [[0, low, low], [0, 0, low], [0, 0, 0]]


def layer_norm(layer, x):
    centred = x - x.mean(axis=-1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + layer.eps)
    return normal * np.array(layer.weight) + np.array(layer.bias)


def network(layer, x):
    return linear(layer.linear2, np.maximum(linear(layer.linear1, x), 0))


def encode(layer, x, mask):
    if layer.norm_first:
        n = layer_norm(layer.ln1, x)
        x = x + attention(layer.attention, n, n, n, mask)
        return x + network(layer, layer_norm(layer.ln2, x))
    x = layer_norm(layer.ln1, x + attention(layer.attention, x, x, x, mask))
    return layer_norm(layer.ln2, x + network(layer, x))


def decode(layer, x, memory, mask):
    if layer.norm_first:
        n = layer_norm(layer.ln1, x)
        x = x + attention(layer.self_attention, n, n, n, mask)
        n = layer_norm(layer.ln2, x)
        x = x + attention(layer.cross_attention, n, memory, memory)
        return x + network(layer, layer_norm(layer.ln3, x))
    x = layer_norm(layer.ln1, x + attention(layer.self_attention, x, x, x, mask))
    x = layer_norm(layer.ln2, x + attention(layer.cross_attention, x, memory, memory))
    return layer_norm(layer.ln3, x + network(layer, x))


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("checkpoint", [True, False])
def test_transformer(norm_first, checkpoint, rng):
    model = wide(nn.Transformer(8, 2, 2, 2, norm_first=norm_first, checkpoint=checkpoint))
    model.apply(lambda x: x + 0.05)
    source, target = rng.normal(size=(2, 6, 8)), rng.normal(size=(2, 4, 8))
    lower = np.where(np.tri(4, dtype=bool), 0, -1e9)
    y = model(mx.array(source), mx.array(target), None, mx.array(lower), None)
    for sample in range(2):
        memory, x = source[sample], target[sample]
        for layer in model.encoder.layers:
            memory = encode(layer, memory, 0)
        memory = layer_norm(model.encoder.ln, memory)
        for layer in model.decoder.layers:
            x = decode(layer, x, memory, lower)
        expected = layer_norm(model.decoder.ln, x)
        np.testing.assert_allclose(np.array(y)[sample], expected, rtol=1e-9, atol=1e-10)


def test_checkpoints_have_the_same_gradients():
    def gradients(checkpoint):
        mx.random.seed(1)
        model = nn.TransformerEncoder(2, 8, 2, checkpoint=checkpoint)
        x = mx.random.normal((1, 3, 8))
        return nn.value_and_grad(model, lambda x: model(x).square().sum())(x)

    loss, plain = gradients(False)
    again, kept = gradients(True)
    assert loss.item() == again.item()
    a, b = (g["layers"][0]["linear1"]["weight"] for g in (plain, kept))
    np.testing.assert_allclose(np.array(a), np.array(b), rtol=1e-5)
    with pytest.raises(
        TypeError, match=r"^\[checkpoint\] got function and NoneType, expected a Mo"
    ):
        nn.utils.checkpoint(lambda x: x)


def test_transformers_of_other_parts():
    model = nn.Transformer(8, 2, custom_encoder=nn.Identity(), custom_decoder=nn.Linear(8, 8))
    assert type(model.encoder) is nn.Identity
    assert type(model.decoder) is nn.Linear
    encoder = nn.TransformerEncoder(1, 8, 2, mlp_dims=3, dropout=0.5, activation=nn.gelu)
    layer = encoder.layers[0]
    assert (layer.linear1.weight.shape, layer.dropout2.p) == ((3, 8), 0.5)
    assert layer.activation is nn.gelu


def rotated(x, dims, traditional, base, scale, offset):
    y = x.copy()
    for place in range(x.shape[-2]):
        for i in range(dims // 2):
            angle = (place + offset) * scale * base ** (-2 * i / dims)
            a, b = (2 * i, 2 * i + 1) if traditional else (i, i + dims // 2)
            u, v = x[..., place, a], x[..., place, b]
            y[..., place, a] = u * math.cos(angle) - v * math.sin(angle)
            y[..., place, b] = u * math.sin(angle) + v * math.cos(angle)
    return y


@pytest.mark.parametrize("traditional", [True, False])
@pytest.mark.parametrize(("dims", "base", "scale"), [(8, 10000, 1.0), (4, 100, 0.5), (2, 3.0, 2.0)])
@pytest.mark.parametrize("offset", [0, 3, -2])
def test_rope(traditional, dims, base, scale, offset, rng):
    layer = nn.RoPE(dims, traditional, base, scale)
    for shape in ((2, 3, 5, 8), (3, 5, 8), (5, 8)):
        x = rng.normal(size=shape)
        expected = rotated(x, dims, traditional, base, scale, offset)
        y = layer(mx.array(x), offset=offset)
        np.testing.assert_allclose(np.array(y), expected, rtol=1e-10, atol=1e-12)


def test_rope_of_samples_at_other_places(rng):
    x = rng.normal(size=(2, 3, 5, 8))
    y = nn.RoPE(8)(mx.array(x), offset=mx.array([2, 70]))
    expected = [rotated(s, 8, False, 10000, 1.0, o) for s, o in zip(x, (2, 70), strict=True)]
    np.testing.assert_allclose(np.array(y), expected, rtol=1e-9, atol=1e-11)
    same = nn.RoPE(8)(mx.array(x), offset=mx.array(2))
    np.testing.assert_allclose(np.array(same)[0], expected[0], rtol=1e-9, atol=1e-11)


def test_rope_of_halves_turns_in_float32(rng):
    x = rng.normal(size=(3, 500, 8)).astype(np.float16)
    y = nn.RoPE(8)(mx.array(x))
    assert y.dtype == mx.float16
    expected = rotated(x.astype(F64), 8, False, 10000, 1.0, 0)
    np.testing.assert_allclose(np.array(y), expected, atol=2e-3)


def test_attention_between_rotated_vectors_depends_on_the_distance(rng):
    rope = nn.RoPE(8)
    q, k = (mx.array(rng.normal(size=(1, 1, 8))) for _ in range(2))
    scores = [
        (rope(q, offset=5 + shift) * rope(k, offset=2 + shift)).sum().item() for shift in (0, 9)
    ]
    np.testing.assert_allclose(*scores, rtol=1e-10)


@pytest.mark.parametrize(
    ("dims", "shape", "offset"),
    [
        (7, (3, 5, 8), 0),
        (10, (3, 5, 8), 0),
        (0, (3, 5, 8), 0),
        (8, (8,), 0),
        (8, (3, 5, 8), 1.5),
        (8, (3, 5, 8), mx.array([1, 2])),
        (8, (3, 5, 8), mx.array(1.5)),
    ],
)
def test_rope_refuses(dims, shape, offset):
    with pytest.raises(ValueError, match=r"^\[RoPE\] got .* expected "):
        nn.RoPE(dims)(mx.zeros(shape), offset=offset)


def test_rope_of_integers():
    with pytest.raises(ValueError, match=r"^\[RoPE\] got an input with the shape \(2, 8\) and"):
        nn.RoPE(8)(mx.zeros((2, 8), dtype=mx.int32))


def test_sinusoidal_positions():
    layer = nn.SinusoidalPositionalEncoding(6)
    places = np.array([0.0, 1.0, 30.0])
    angles = places[:, None] * np.array([1, 1e-2, 1e-4])
    expected = math.sqrt(1 / 3) * np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)
    np.testing.assert_allclose(np.array(layer(mx.array(places))), expected, rtol=1e-5, atol=1e-6)
    assert layer.parameters() == {}
    turns = nn.SinusoidalPositionalEncoding(2, 1.0, 1.0, 1, cos_first=True, full_turns=True)
    y = turns(mx.array([0.0, 0.25, 0.5]))
    np.testing.assert_allclose(np.array(y), [[1, 0], [0, 1], [-1, 0]], atol=1e-6)
    for dims in (0, 5, -2):
        with pytest.raises(ValueError, match=rf"^\[SinusoidalPositionalEncoding\] got {dims} dims"):
            nn.SinusoidalPositionalEncoding(dims)


def test_positions_refuse():
    for low, high in ((0.0, 1.0), (0.1, -1.0)):
        with pytest.raises(ValueError, match=r"^\[SinusoidalPositionalEncoding\] got the freq"):
            nn.SinusoidalPositionalEncoding(4, low, high)
    with pytest.raises(ValueError, match=r"^\[ALiBi\] got 0 heads, expected at least 1"):
        nn.ALiBi()(mx.zeros((1, 0, 2, 2)))


@pytest.mark.parametrize(
    ("heads", "slopes"),
    [
        (1, [2**-8]),
        (4, [2**-2, 2**-4, 2**-6, 2**-8]),
        (3, [2**-4, 2**-8, 2**-2]),
        (6, [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]),
    ],
)
def test_slopes_of_alibi(heads, slopes):
    assert nn.ALiBi.create_alibi_slope(heads).shape == (heads, 1, 1)
    np.testing.assert_allclose(np.array(nn.ALiBi.create_alibi_slope(heads)).ravel(), slopes)


def test_alibi(rng):
    scores = rng.normal(size=(2, 4, 3, 5)).astype(np.float32)
    slopes = np.array([2**-2, 2**-4, 2**-6, 2**-8])[:, None, None]
    mask = np.where(np.tri(3, 5), 0, -5).astype(np.float32)
    for offset in (0, 2):
        distance = np.abs(np.arange(offset, offset + 3)[:, None] - np.arange(5))
        y = nn.ALiBi()(mx.array(scores), offset=offset, mask=mx.array(mask))
        np.testing.assert_allclose(np.array(y), scores - slopes * distance + mask, rtol=1e-5)
    assert nn.ALiBi()(mx.array(scores).astype(mx.float16)).dtype == mx.float16
    with pytest.raises(
        ValueError, match=r"^\[ALiBi\] got scores with the shape \(3, 5\), expected"
    ):
        nn.ALiBi()(mx.zeros((3, 5)))


def test_attention_refuses():
    for arguments, dims, heads in (((8, 3), 8, 3), ((8, 0), 8, 0), ((8, 2, 8, 8, 8, 7), 7, 2)):
        message = rf"dims 8 and value_dims {dims} must be divisible by num_heads {heads}"
        with pytest.raises(ValueError, match=rf"^\[MultiHeadAttention\] {message}"):
            nn.MultiHeadAttention(*arguments)
    x = mx.zeros((1, 3, 8))
    with pytest.raises(ValueError, match=r'mask: got "lower", expected "causal"'):
        nn.MultiHeadAttention(8, 2)(x, x, x, "lower")
    with pytest.raises(ValueError, match=r"\(4, 4\)"):
        nn.MultiHeadAttention(8, 2)(x, x, x, mx.zeros((4, 4)))


def test_attention_to_nothing_gives_zeros():
    x = mx.zeros((2, 2, 3, 4))
    nothing = mx.zeros((2, 2, 0, 4))
    y = mx.fast.scaled_dot_product_attention(x, nothing, nothing, scale=1.0)
    assert (y.shape, y.abs().sum().item()) == ((2, 2, 3, 4), 0.0)
