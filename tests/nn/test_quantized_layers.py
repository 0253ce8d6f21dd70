"""Layers with weights of few bits, and how models get them."""

import numpy as np
import pytest
import umber.core as mx
import umber.nn as nn
from arrays import to_numpy
from umber import optimizers

MODES = ("affine", "mxfp4", "mxfp8", "nvfp4")


@pytest.mark.parametrize("mode", MODES)
def test_linear(mode):
    layer = nn.Linear(128, 8)
    few = layer.to_quantized(mode=mode)
    words, scales, *biases = mx.quantize(layer.weight, mode=mode)
    dense = mx.dequantize(words, scales, *biases, mode=mode, dtype=mx.float32)
    x = mx.random.normal((3, 128))
    np.testing.assert_allclose(to_numpy(few(x)), to_numpy(x @ dense.T + layer.bias), atol=1e-5)
    assert set(few.parameters()) == {"weight", "scales", "bias"} | set(["biases"] * len(biases))
    assert set(few.trainable_parameters()) == {"bias"}
    assert nn.QuantizedLinear(128, 8, mode=mode).trainable_parameters() == {}
    assert nn.Linear(128, 8, bias=False).to_quantized(mode=mode)(x).shape == (3, 8)


@pytest.mark.parametrize("mode", MODES)
def test_embedding(mode):
    layer = nn.Embedding(10, 128)
    few = layer.to_quantized(mode=mode)
    dense = mx.dequantize(*mx.quantize(layer.weight, mode=mode), mode=mode)
    which = mx.array([[1, 9], [0, 0]])
    assert mx.array_equal(few(which), dense[which])
    x = mx.random.normal((3, 128))
    expected = to_numpy(x @ dense.astype(mx.float32).T)
    np.testing.assert_allclose(to_numpy(few.as_linear(x)), expected, atol=1e-4)
    assert few.trainable_parameters() == {}


def test_representations():
    assert repr(nn.QuantizedLinear(128, 8)) == (
        "QuantizedLinear(input_dims=128, output_dims=8, bias=True, "
        "group_size=64, bits=4, mode=affine)"
    )
    assert repr(nn.QuantizedEmbedding(10, 128, mode="nvfp4")) == (
        "QuantizedEmbedding(10, 128, group_size=16, bits=4, mode=nvfp4)"
    )
    layer = nn.QQLinear(128, 8)
    text = "QQLinear(input_dims=128, output_dims=8, group_size=16, bits=4, mode=nvfp4)"
    assert repr(layer) == text
    assert repr(layer.eval()) == text


@pytest.mark.parametrize("mode", ["nvfp4", "mxfp8"])
def test_both_quantised(mode):
    layer, x = nn.QQLinear(64, 8, mode=mode), mx.random.normal((3, 64))
    trained = layer(x)
    assert set(layer.trainable_parameters()) == {"weight"}
    _, gradient = nn.value_and_grad(layer, lambda: layer(x).sum())()
    assert gradient["weight"].shape == (8, 64)
    layer.eval()
    assert layer.weight.dtype == mx.uint32
    assert set(layer.parameters()) == {"weight", "scales"}
    np.testing.assert_allclose(to_numpy(layer(x)), to_numpy(trained), atol=1e-5)
    layer.train()
    assert layer.weight.dtype == mx.bfloat16
    assert set(layer.parameters()) == {"weight"}
    layer = nn.Linear(64, 8, bias=False).to_quantized(mode=mode, quantize_input=True)
    assert isinstance(layer, nn.QQLinear)


def model():
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Embedding(4, 64), nn.LayerNorm(64))


def test_quantize_a_model():
    some = model()
    assert nn.quantize(some) is None
    names = [type(layer).__name__ for layer in some.layers]
    assert names == ["QuantizedLinear", "ReLU", "QuantizedEmbedding", "LayerNorm"]
    nn.quantize(some)
    seen = []

    def wanted(path, layer):
        seen.append(path)
        return {"bits": 8, "group_size": 32} if path == "layers.0" else False

    some = model()
    nn.quantize(some, class_predicate=wanted)
    assert seen == [f"layers.{i}" for i in range(4)]
    assert (some.layers[0].bits, some.layers[0].group_size) == (8, 32)
    assert isinstance(some.layers[2], nn.Embedding)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda m: nn.quantize(m, class_predicate=lambda p, m: True),
            ValueError,
            r"\[quantize\] got ReLU at 'layers.1', expected a layer that has to_quantized",
        ),
        (
            lambda m: nn.quantize(m, class_predicate=lambda p, m: 3),
            ValueError,
            r"\[quantize\] got int from class_predicate",
        ),
        (
            lambda m: nn.quantize(m, 128),
            ValueError,
            r"\[quantize\] layers\.0: last axis of w must be .*got shape \(128, 64\)",
        ),
        (lambda m: nn.quantize(m, mode="fp3"), ValueError, r"got mode 'fp3'"),
        (
            lambda m: nn.quantize(m, mode="nvfp4", quantize_input=True),
            NotImplementedError,
            r"\[quantize\] layers\.0: the layer must not have a bias",
        ),
        (
            lambda m: m.layers[0].to_quantized(quantize_input=True),
            ValueError,
            r"\[to_quantized\] quantize_input does not support mode 'affine'",
        ),
        (
            lambda m: m.layers[2].to_quantized(mode="nvfp4", quantize_input=True),
            ValueError,
            r"\[to_quantized\] quantize_input requires a Linear layer",
        ),
        (lambda m: nn.QuantizedLinear(64, 8, mode="fp3"), ValueError, r"got mode 'fp3'"),
        (lambda m: nn.QuantizedLinear(60, 8), ValueError, "last axis of w must be"),
    ],
)
def test_bad_calls_change_nothing(call, error, message):
    some = model()
    with pytest.raises(error, match=message):
        call(some)
    assert [type(layer).__name__ for layer in some.layers] == [
        "Linear", "ReLU", "Embedding", "LayerNorm",
    ]  # fmt: skip


def test_weights_in_files(tmp_path):
    path = str(tmp_path / "w.safetensors")
    some, other = model(), model()
    nn.quantize(some, 32, 8)
    nn.quantize(other, 32, 8)
    some.save_weights(path)
    other.load_weights(path)
    x = mx.random.normal((2, 64))
    assert mx.array_equal(some.layers[0](x), other.layers[0](x))


def test_codes_stay_frozen():
    """A step of an optimizer would turn packed codes into floats."""
    x = mx.ones((2, 64))
    some = nn.Sequential(nn.Linear(64, 8))
    nn.quantize(some)
    some.unfreeze()
    codes = some.layers[0].weight
    assert set(some.trainable_parameters()["layers"][0]) == {"scales", "biases", "bias"}
    _, gradients = nn.value_and_grad(some, lambda x: some(x).sum())(x)
    optimizers.SGD(0.1).update(some, gradients)
    assert some.layers[0].weight is codes
    assert some(x).shape == (2, 8)
    some.layers[0].unfreeze(keys=["weight", "bias"])
    assert "weight" not in some.layers[0].trainable_parameters()
    few = nn.QuantizedEmbedding(4, 32, mode="mxfp4").unfreeze()
    assert few.trainable_parameters() == {}
    both = nn.QQLinear(64, 8).eval()
    gradients = {"weight": mx.zeros(both.weight.shape)}
    optimizers.Adam(0.1).update(both, gradients)
    assert both.weight.dtype == mx.uint32


def test_tied_modules_stay_tied():
    layer = nn.Embedding(4, 64)
    some = nn.Sequential(layer, nn.Sequential(layer))
    nn.quantize(some)
    assert isinstance(some.layers[0], nn.QuantizedEmbedding)
    assert some.layers[1].layers[0] is some.layers[0]
    parted = nn.Sequential(layer, layer)
    nn.quantize(parted, class_predicate=lambda path, _: path.endswith("1"))
    assert [type(layer).__name__ for layer in parted.layers] == ["Embedding", "QuantizedEmbedding"]


class Experts(nn.Module):
    """A layer of a user's, whose form with few bits knows nothing of inputs."""

    def __init__(self):
        super().__init__()
        self.weight = mx.zeros((2, 64))

    def __call__(self, x):
        return x @ self.weight.T

    def to_quantized(self, group_size=None, bits=None, mode="affine"):
        return nn.Identity(group_size, bits, mode)


def test_layers_of_others_need_not_quantize_inputs():
    for predicate in (None, lambda path, layer: {"quantize_input": False, "bits": 8}):
        some = nn.Sequential(Experts())
        nn.quantize(some, class_predicate=predicate)
        assert isinstance(some.layers[0], nn.Identity)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'quantize_input'$"):
        nn.quantize(nn.Sequential(Experts()), quantize_input=True)


@pytest.mark.parametrize("answer", [None, 0, {}, ""])
def test_answers_that_count_as_false_leave_a_layer(answer):
    some = model()
    nn.quantize(some, class_predicate=lambda path, layer: answer)
    assert not any("scales" in layer for layer in some.layers)


def test_errors_of_what_users_hand_to_quantize_stay():
    with pytest.raises(TypeError, match=r"^.*<lambda>\(\) takes 1 positional argument but 2 were"):
        nn.quantize(model(), class_predicate=lambda path: True)

    class Odd(nn.Identity):
        def to_quantized(self):
            return self

    with pytest.raises(
        TypeError, match=r"^[\w.<>]*Odd\.to_quantized\(\) got an unexpected keyword"
    ):
        nn.quantize(nn.Sequential(Odd()))


def test_errors_of_quantize_say_which_layer():
    some = nn.Sequential(nn.Linear(64, 2), nn.Linear(100, 2))
    with pytest.raises(ValueError, match=r"^\[quantize\] layers\.1: last axis of w must be"):
        nn.quantize(some)
