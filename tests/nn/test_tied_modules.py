"""Modules that stand at several places, or inside themselves, and tied parameters."""

import copy
import pickle

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


# Parameters tied by `tie_weights`


class Language(nn.Module):
    """An embedding whose matrix is also that of the output."""

    def __init__(self, tied=True):
        super().__init__()
        mx.random.seed(3)
        self.embedding = nn.Embedding(6, 4)
        self.norm = nn.LayerNorm(4)
        self.heads = [nn.Linear(4, 6, bias=False)]
        if tied:
            self.tie_weights("embedding.weight", "heads.0.weight")
        else:
            self.heads[0].weight = self.embedding.weight

    def __call__(self, tokens):
        return self.heads[0](mx.tanh(self.norm(self.embedding(tokens))))

    def is_tied(self):
        return mx.array_equal(self.embedding.weight, self.heads[0].weight).item()


class AsLinear(Language):
    """The same function by one module that is called twice."""

    def __init__(self):
        super().__init__(tied=False)
        self.heads = []

    def __call__(self, tokens):
        return self.embedding.as_linear(mx.tanh(self.norm(self.embedding(tokens))))


TOKENS = mx.array([[0, 1, 2], [3, 5, 1]])
TARGETS = mx.array([[1, 2, 3], [5, 1, 0]])
NAMES = ["embedding.weight", "norm.weight", "norm.bias"]


def train(model, optimizer, compiled, steps=4):
    def loss_fn(tokens, targets):
        return nn.losses.cross_entropy(model(tokens), targets, reduction="mean")

    loss_and_grad = nn.value_and_grad(model, loss_fn)
    optimizer.init(model.trainable_parameters())

    def step(tokens, targets):
        loss, gradients = loss_and_grad(tokens, targets)
        optimizer.update(model, gradients)
        return loss

    if compiled:
        state = [model.state, optimizer.state]
        step = mx.compile(step, inputs=state, outputs=state)
    return [step(TOKENS, TARGETS).item() for _ in range(steps)]


def test_a_tied_parameter_counts_once():
    model = Language()
    assert paths(model.parameters()) == NAMES
    assert paths(model.trainable_parameters()) == NAMES
    assert model.parameters()["heads"] == [{}]
    assert paths(model.heads[0].parameters()) == ["weight"]
    assert model.is_tied()
    assert paths(Language(tied=False).parameters()) == [*NAMES, "heads.0.weight"]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        lambda: optimizers.SGD(0.5, momentum=0.9),
        lambda: optimizers.AdamW(0.1),
        lambda: optimizers.MultiOptimizer(
            [optimizers.SGD(0.1), optimizers.Adam(0.1)], [lambda path, x: x.ndim == 1]
        ),
    ],
)
def test_training_keeps_the_tie(make, compiled):
    model, twin = Language(), AsLinear()
    losses = train(model, make(), compiled)
    np.testing.assert_allclose(losses, train(twin, make(), compiled), rtol=1e-5)
    assert losses[-1] < losses[0]
    assert model.is_tied()
    np.testing.assert_allclose(
        np.array(model.heads[0].weight), np.array(twin.embedding.weight), rtol=1e-4, atol=1e-6
    )


def test_without_a_tie_equal_arrays_part_as_in_mlx():
    model = Language(tied=False)
    train(model, optimizers.SGD(0.5), False, steps=1)
    assert not model.is_tied()


@pytest.mark.parametrize("ending", ["safetensors", "npz"])
def test_files_of_tied_parameters(ending, tmp_path):
    file = str(tmp_path / f"weights.{ending}")
    model, twin = Language(), Language()
    model.apply(lambda x: x + 1)
    model.save_weights(file)
    assert sorted(mx.load(file)) == sorted(NAMES)
    twin.load_weights(file)
    assert twin.is_tied()
    assert mx.array_equal(twin.heads[0].weight, model.embedding.weight)


@pytest.mark.parametrize(
    "names",
    [["embedding.weight"], ["heads.0.weight"], ["embedding.weight", "heads.0.weight"]],
)
def test_files_may_have_any_of_the_names(names):
    model = Language()
    weights = {name: mx.full((6, 4), float(i)) for i, name in enumerate(names)}
    weights |= {"norm.weight": mx.ones(4), "norm.bias": mx.zeros(4)}
    model.load_weights(weights)
    assert model.embedding.weight.tolist() == [[len(names) - 1.0] * 4] * 6
    assert model.is_tied()
    for name in names:
        del weights[name]
    with pytest.raises(ValueError, match=r"missing .* \(1\): embedding\.weight$"):
        model.load_weights(weights)


def test_all_ways_to_assign_keep_the_tie():
    model = Language()
    head = model.heads[0]
    for i, assign in enumerate(
        [
            lambda x: setattr(model.embedding, "weight", x),
            lambda x: setattr(head, "weight", x),
            lambda x: head.__setitem__("weight", x),
            lambda x: model.update({"embedding": {"weight": x}}),
            lambda x: model.update({"heads": [{"weight": x}]}),
            lambda x: head.update({"weight": x}),
            lambda x: model.apply(lambda old: x if old.ndim == 2 else old),
            lambda x: model.load_state_dict({"heads.0.weight": x}, strict=False),
        ]
    ):
        value = mx.full((6, 4), float(i))
        assign(value)
        assert head.weight is value
        assert model.embedding.weight is value
    model.set_dtype(mx.float16)
    assert model.embedding.weight.dtype == mx.float16
    assert head.weight.dtype == mx.float16
    y = nn.functional_call(model, {"heads.0.weight": mx.zeros((6, 4))}, TOKENS)
    assert not np.array(y).any()
    assert model.embedding.weight.dtype == mx.float16


def test_copies_are_tied_among_themselves():
    model = Language()
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        twin.embedding.weight = mx.zeros((6, 4))
        assert twin.is_tied()
        assert paths(twin.parameters()) == NAMES
        assert np.array(model.embedding.weight).any()
        assert model.is_tied()


@pytest.mark.parametrize("frozen", [0, 1])
def test_freezing_one_name_freezes_all(frozen):
    model = Language()
    modules = [model.embedding, model.heads[0]]
    modules[frozen].freeze()
    assert paths(model.trainable_parameters()) == NAMES[1:]
    modules[1 - frozen].unfreeze()
    assert paths(model.trainable_parameters()) == NAMES
    part = Language(tied=False)
    part.heads[0].freeze()
    part.tie_weights("embedding.weight", "heads.0.weight")
    assert paths(part.trainable_parameters()) == NAMES[1:]


@pytest.mark.parametrize(
    "release", [lambda head: delattr(head, "weight"), lambda head: setattr(head, "weight", None)]
)
def test_a_name_can_be_untied(release):
    model = Language()
    release(model.heads[0])
    assert "weight" not in model.heads[0]
    model.heads[0].weight = mx.zeros((6, 4))
    assert not model.is_tied()
    model.embedding.weight = mx.ones((6, 4))
    assert not model.is_tied()
    assert paths(model.parameters()) == [*NAMES, "heads.0.weight"]


def test_ties_join():
    model = nn.Sequential(*[nn.Linear(2, 2, bias=False) for _ in range(4)])
    model.tie_weights("layers.2.weight", "layers.3.weight")
    model.tie_weights("layers.0.weight", "layers.1.weight", "layers.0.weight")
    model.tie_weights("layers.1.weight", "layers.3.weight")
    assert paths(model.parameters()) == ["layers.0.weight"]
    model[2].weight = mx.zeros((2, 2))
    assert all(layer.weight is model[2].weight for layer in model)


@pytest.mark.parametrize(
    ("tied", "message"),
    [
        (("embedding.weight",), r"got the paths \('embedding\.weight',\), expected two or more"),
        (("embedding.weight", "heads.0"), r"got 'heads\.0', expected a parameter of a module"),
        (("embedding.weight", "head.weight"), r"got 'head\.weight', expected a parameter of a mo"),
        (("embedding.weight", "extra.0"), r"got 'extra\.0', expected a parameter of a module"),
        (
            ("embedding.weight", "norm.weight"),
            r"norm\.weight has the shape \(4,\) and dtype .*float32, expected those of embedding",
        ),
    ],
)
def test_wrong_ties_change_nothing(tied, message):
    model = Language(tied=False)
    model.extra = [mx.zeros((6, 4))]
    before = paths(model.parameters())
    with pytest.raises(ValueError, match=rf"^\[tie_weights\] {message}"):
        model.tie_weights(*tied)
    assert paths(model.parameters()) == before
