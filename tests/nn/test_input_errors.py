"""Inputs that do not fit a layer: the error names the layer, the shape and what it expects."""

import pytest
import umber.core as mx
from umber import nn

TRANSPOSED = nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d
CONVOLUTIONS = [nn.Conv1d, nn.Conv2d, nn.Conv3d, *TRANSPOSED]
POOLS = [
    pool
    for name, pool in vars(nn).items()
    if name.endswith(("Pool1d", "Pool2d", "Pool3d")) and isinstance(pool, type)
]
LAYOUTS = {1: "L", 2: "H, W", 3: "D, H, W"}


def message_of(call, kind=ValueError):
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.__suppress_context__
    return str(caught.value)


@pytest.mark.parametrize("layer", CONVOLUTIONS)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("padding", [0, "same"])
def test_convolutions(layer, groups, padding):
    options = {} if layer in TRANSPOSED else {"groups": groups, "padding": padding}
    if layer is nn.Conv3d:
        del options["groups"]
    axes = layer.axes
    module = layer(8, 4, 3, **options)
    expected = f"expected (N, {LAYOUTS[axes]}, 8): "
    name = layer.__name__
    for shape, hint in [
        ((2, 8, *[5] * axes), "channels are the last axis: use mx.moveaxis(x, 1, -1)"),
        ((2, *[5] * axes, 6), "channels are the last axis"),
        ((*[5] * axes, 8), "add an axis for samples: use x[None]"),
        ((8, *[5] * axes), "channels are the last axis"),
        ((), "channels are the last axis"),
    ]:
        text = message_of(lambda shape=shape: module(mx.zeros(shape)))
        assert text == f"[{name}] got an input with the shape {shape}, {expected}{hint}"
    assert module(mx.moveaxis(mx.zeros((2, 8, *[5] * axes)), 1, -1)).shape[-1] == 4


def test_other_errors_of_convolutions_are_as_they_were():
    with pytest.raises(ValueError, match=r"^\[conv2d\] "):
        nn.Conv2d(8, 4, 7)(mx.zeros((1, 3, 3, 8)))
    with pytest.raises(TypeError, match="conv2d"):
        nn.Conv2d(8, 4, 3)("text")


@pytest.mark.parametrize("pool", POOLS)
def test_pools(pool):
    axes, name, layout = pool.axes, pool.__name__, LAYOUTS[pool.axes]
    for ndim in (0, axes, axes + 3):
        shape = (4,) * ndim
        with pytest.raises(ValueError, match=r"channels are the last axis$") as caught:
            pool(2)(mx.zeros(shape))
        assert str(caught.value).startswith(
            f"[{name}] got an input with the shape {shape}, "
            f"expected (N, {layout}, C) or ({layout}, C)"
        )
    # With and without an axis for samples.
    assert pool(2)(mx.zeros((3, *[4] * axes, 5))).shape == (3, *[2] * axes, 5)
    assert pool(2)(mx.zeros((*[4] * axes, 5))).shape == (*[2] * axes, 5)


@pytest.mark.parametrize(
    ("layer", "call", "size"),
    [
        (nn.Linear(64, 3), "Linear", 64),
        (nn.Linear(64, 3, bias=False), "Linear", 64),
        (nn.QuantizedLinear(64, 32), "QuantizedLinear", 64),
        (nn.QuantizedLinear(64, 32, bits=8), "QuantizedLinear", 64),
        (nn.QQLinear(64, 32), "QQLinear", 64),
        (nn.QQLinear(64, 32).eval(), "QQLinear", 64),
        (nn.PReLU(64), "PReLU", 64),
        (nn.Embedding(5, 64).as_linear, "as_linear", 64),
        (nn.QuantizedEmbedding(5, 64).as_linear, "as_linear", 64),
    ],
)
def test_the_last_axis(layer, call, size):
    for shape in [(8, 32), (2, 8, 32), *([()] if call != "PReLU" else [])]:
        text = message_of(lambda shape=shape: layer(mx.zeros(shape)))
        assert text == f"[{call}] got an input with the shape {shape}, expected (..., {size})"


def test_a_subclass_is_named():
    class Projection(nn.Linear):
        pass

    with pytest.raises(ValueError, match=r"^\[Projection\] got an input with the shape \(2, 3\)"):
        Projection(4, 5)(mx.zeros((2, 3)))


def test_projections_of_attention_are_named_in_a_note():
    model = nn.MultiHeadAttention(8, 2)
    x = mx.zeros((2, 5, 8))
    with pytest.raises(
        ValueError, match=r"^\[Linear\] .* \(2, 5, 6\), expected \(\.\.\., 8\)"
    ) as e:
        model(x, x, mx.zeros((2, 5, 6)))
    assert e.value.__notes__[0].startswith("in value_proj of MultiHeadAttention: Linear(")


@pytest.mark.parametrize("layer", [nn.Embedding(5, 64), nn.QuantizedEmbedding(5, 64)])
def test_indices(layer):
    text = message_of(lambda: layer(mx.array([0.0, 1.0])), IndexError)
    assert text == (
        f"[{type(layer).__name__}] got an input of dtype float32, "
        "expected integers, the indices of vectors"
    )
    assert layer(mx.array([0, 1])).shape == (2, 64)
