"""Modules that stand at several places, or inside themselves."""

import numpy as np
import pytest
import umber.core as mx
from umber import nn, optimizers
from umber.utils import tree_flatten


class Autoencoder(nn.Module):
    """One linear map, used twice."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.layers = [nn.Tanh(), self.first]

    def __call__(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        return x


def paths(tree):
    return [path for path, _ in tree_flatten(tree)]


def test_they_count_once():
    model = Autoencoder()
    assert paths(model.parameters()) == ["first.weight", "first.bias"]
    assert paths(model.trainable_parameters()) == ["first.weight", "first.bias"]
    assert model.parameters()["layers"] == [{}, {}]
    # They are still found at all their places.
    assert paths(model.filter_and_map(nn.Module.valid_parameter_filter))[2:] == [
        "layers.1.weight",
        "layers.1.bias",
    ]
    assert {path for path, _ in model.named_modules()} == {"", "first", "layers.0", "layers.1"}


def test_they_have_the_gradient_of_all_their_uses():
    model = Autoencoder()
    _, gradients = nn.value_and_grad(model, lambda x: model(x).sum())(mx.array([[0.3, -0.4]]))
    w, b = (np.array(model.first[name], dtype=np.float64) for name in ("weight", "bias"))

    def loss(w):
        return (np.tanh(np.array([[0.3, -0.4]]) @ w.T + b) @ w.T + b).sum()

    for place in np.ndindex(2, 2):
        step = np.zeros((2, 2))
        step[place] = 1e-6
        slope = (loss(w + step) - loss(w - step)) / 2e-6
        np.testing.assert_allclose(gradients["first"]["weight"][place].item(), slope, rtol=1e-4)


def test_an_optimizer_steps_once():
    model = Autoencoder()
    weight = np.array(model.first.weight)
    loss = nn.value_and_grad(model, lambda x: model(x).sum())
    optimizer = optimizers.SGD(0.1, momentum=0.9)
    _, gradients = loss(mx.ones((1, 2)))
    optimizer.update(model, gradients)
    expected = weight - 0.1 * np.array(gradients["first"]["weight"])
    np.testing.assert_allclose(np.array(model.first.weight), expected, rtol=1e-6)
    assert model.layers[1] is model.first
    assert "layers.1.weight.v" not in paths(optimizer.state)


def test_they_are_saved_once(tmp_path):
    file = str(tmp_path / "tied.safetensors")
    model, twin = Autoencoder(), Autoencoder()
    model.save_weights(file)
    assert set(mx.load(file)) == {"first.weight", "first.bias"}
    twin.load_weights(file)
    assert twin.first.weight.tolist() == model.first.weight.tolist()


@pytest.mark.parametrize("places", [["first"], ["layers.1"], ["first", "layers.1"]])
def test_files_may_name_any_of_the_places(places):
    model = Autoencoder()
    weights = {f"{place}.weight": mx.full((2, 2), 3.0) for place in places}
    weights |= {f"{place}.bias": mx.full((2,), 4.0) for place in places}
    model.load_weights(list(weights.items()))
    assert model.first.weight.tolist() == [[3.0, 3.0]] * 2
    del weights[f"{places[-1]}.bias"]
    if len(places) == 1:
        with pytest.raises(ValueError, match=r"missing parameters of the model \(1\): first\.bias"):
            model.load_weights(list(weights.items()))


def test_equal_arrays_are_no_tie():
    """Two modules that begin with the same array are two, as in MLX."""
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model.layers[1].weight = model.layers[0].weight
    assert len(paths(model.parameters())) == 4
    model.update({"layers": [{"weight": mx.zeros((2, 2))}]})
    assert model.layers[1].weight.tolist() != [[0.0, 0.0]] * 2


def test_a_module_may_contain_itself():
    model = nn.Linear(2, 2)
    model.child = nn.Linear(2, 2, bias=False)
    model.child.parent = model
    assert paths(model.parameters()) == ["weight", "bias", "child.weight"]
    assert [path for path, _ in model.named_modules()] == ["", "child"]
    assert "(child): Linear" in repr(model)
    model.freeze()
    assert paths(model.trainable_parameters()) == []
    assert not model.eval().child.training
    model.set_dtype(mx.float16)
    assert model.child.weight.dtype == mx.float16
