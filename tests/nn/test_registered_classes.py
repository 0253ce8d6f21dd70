"""Instances of registered classes as attributes of modules: their children are parameters."""

import copy
import pickle
import warnings
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest
import umber.core as mx
from umber import nn, optimizers
from umber.utils import (
    register_dataclass,
    register_tree_node,
    tree_flatten,
    tree_map,
    tree_unflatten,
)


@register_dataclass
@dataclass(frozen=True)
class Affine:
    scale: mx.array
    shift: mx.array
    power: int = field(default=1, metadata={"static": True})

    def __call__(self, x):
        return self.scale * x**self.power + self.shift


class Pair:
    """Children by index, of one dtype; neither arguments nor children may be anything else."""

    def __init__(self, first, second):
        if first.dtype != second.dtype:
            raise ValueError(f"got {first.dtype} and {second.dtype}, expected one dtype")
        self.first, self.second = first, second


register_tree_node(Pair, lambda p: ((p.first, p.second), None), lambda _, c: Pair(*c))


@register_dataclass
@dataclass
class Block:
    inner: Affine
    layers: list
    head: nn.Module


@register_dataclass
@dataclass
class Statistics:
    """A mutable class, whose `mean` changes in the forward pass."""

    mean: mx.array
    gain: mx.array


@register_dataclass
@dataclass(frozen=True)
class Settings:
    sizes: tuple
    name: str


class Model(nn.Module):
    def __init__(self, power=2):
        super().__init__()
        self.affine = Affine(mx.array([2.0, 3.0]), mx.array([0.5, -1.0]), power)
        self.pair = Pair(mx.array([1.5]), mx.array([0.25]))
        self.weight = mx.array([1.0, 2.0])

    def __call__(self, x):
        return self.affine(x * self.weight) * self.pair.first + self.pair.second


class Plain(nn.Module):
    """The function of `Model` without registered classes."""

    def __init__(self):
        super().__init__()
        self.affine = {"scale": mx.array([2.0, 3.0]), "shift": mx.array([0.5, -1.0])}
        self.pair = [mx.array([1.5]), mx.array([0.25])]
        self.weight = mx.array([1.0, 2.0])

    def __call__(self, x):
        y = self.affine["scale"] * (x * self.weight) ** 2 + self.affine["shift"]
        return y * self.pair[0] + self.pair[1]


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        affine = Affine(mx.ones(2), mx.zeros(2))
        self.blocks = [Block(affine, [nn.Linear(2, 2), mx.ones(3)], nn.Dropout(0.5))]


PATHS = ["affine.scale", "affine.shift", "pair.0", "pair.1", "weight"]
X = mx.array([0.5, -1.5])


def loss_of(model):
    return lambda x: (model(x) ** 2).sum()


def paths(tree):
    return [path for path, _ in tree_flatten(tree)]


def same(a, b):
    a, b = tree_flatten(a), tree_flatten(b)
    return [p for p, _ in a] == [p for p, _ in b] and all(
        np.allclose(x, y, rtol=1e-6) for (_, x), (_, y) in zip(a, b, strict=True)
    )


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_children_are_parameters():
    model = Model()
    assert list(model) == ["affine", "pair", "weight"]
    assert paths(model.parameters()) == PATHS
    assert model.parameters()["affine"].keys() == {"scale", "shift"}
    assert isinstance(model.parameters()["pair"], list)
    assert model.parameters()["affine"]["scale"] is model.affine.scale
    assert same(model.parameters(), Plain().parameters())
    assert same(model.state_dict(), dict(tree_flatten(Plain().parameters())))
    assert paths(Nested().parameters()) == [
        *("blocks.0.inner.scale", "blocks.0.inner.shift", "blocks.0.layers.0.weight"),
        *("blocks.0.layers.0.bias", "blocks.0.layers.1"),
    ]


def test_names_with_an_underscore_are_not_parameters():
    model = nn.Module()
    model._hidden = Affine(mx.ones(2), mx.zeros(2))
    assert model.parameters() == {}
    assert "_hidden" in model


def test_updates_create_new_instances():
    model = Model(power=3)
    old, pair = model.affine, model.pair
    model.update({"affine": {"scale": mx.zeros(2)}})
    assert isinstance(model.affine, Affine)
    assert model.affine is not old
    assert (model.affine.power, model.affine.shift) == (3, old.shift)
    assert old.scale.tolist() == [2, 3]
    assert model.pair is pair
    model.update({"affine": Affine(mx.ones(2), mx.ones(2)), "pair": [{}, mx.zeros(1)]})
    assert model.affine.shift.tolist() == [1, 1]
    assert model.affine.power == 3
    assert model.pair.second.item() == 0


def test_nested_instances_are_created_once_from_the_inside():
    model, calls = Nested(), []

    class Counted:
        def __init__(self, *children):
            calls.append(children)
            self.children = children

    register_tree_node(Counted, lambda c: (c.children, None), lambda _, c: Counted(*c))
    model.outer = Counted(Counted(mx.ones(1), mx.ones(2)), (mx.ones(3), Counted(mx.ones(4))))
    calls.clear()
    model.apply(lambda a: a + 1)
    assert len(calls) == 3
    assert [a.tolist()[0] for _, a in tree_flatten(model.outer)] == [2, 2, 2, 2]
    assert paths(model.outer) == ["0.0", "0.1", "1.0", "1.1.0"]
    assert model.blocks[0].inner.shift.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ({"affine": {"nothing": mx.ones(2)}}, r"affine\.nothing does not exist in the module"),
        ({"affine": {"scale": {"a": mx.ones(2)}}}, r"affine\.scale: cannot replace array with"),
        ({"pair": [mx.ones(1)] * 3}, r"pair\.2 does not exist in the module"),
        ({"pair": {"a": mx.ones(1)}}, r"pair: cannot replace Pair with dict"),
        ({"affine": mx.ones(2)}, r"affine: cannot replace Affine with array"),
    ],
)
def test_updates_that_do_not_fit_change_nothing(update, message):
    model = Model()
    before = {**model}
    with pytest.raises(ValueError, match=r"^\[Module\.update\] " + message):
        model.update({"weight": mx.zeros(2)} | update)
    assert {**model} == before
    model.update(update, strict=False)


def test_an_instance_that_its_class_refuses_changes_nothing():
    model = Model()
    before = {**model}
    with pytest.raises(ValueError, match=r"got umber\.core\.float16 and umber\.core\.float32"):
        model.update({"weight": mx.zeros(2), "pair": [mx.zeros(1, mx.float16)]})
    assert {**model} == before
    # Both children change at once.
    model.set_dtype(mx.float16)
    assert {a.dtype for _, a in tree_flatten(model.parameters())} == {mx.float16}


def test_freezing():
    model = Model()
    model.freeze(keys="affine")
    assert paths(model.trainable_parameters()) == PATHS[2:]
    assert paths(model.parameters()) == PATHS
    model.unfreeze()
    model.freeze(keys=["affine.shift", "pair.0"])
    assert paths(model.trainable_parameters()) == ["affine.scale", "pair.1", "weight"]
    model.freeze()
    assert paths(model.trainable_parameters()) == []
    model.unfreeze()
    assert paths(model.trainable_parameters()) == PATHS


@pytest.mark.parametrize("name", ["w.safetensors", "w.npz"])
def test_files(tmp_path, name):
    model, other = Model(), Model(power=5)
    model.apply(lambda a: a * 3)
    model.save_weights(tmp_path / name)
    assert sorted(mx.load(str(tmp_path / name))) == sorted(PATHS)
    other.load_weights(tmp_path / name)
    assert same(other.parameters(), model.parameters())
    assert other.affine.power == 5
    # The files of modules with dicts and lists in these places are the same.
    Plain().load_weights(tmp_path / name)


def test_weights_by_path():
    model = Model()
    state = model.state_dict()
    assert [*state] == PATHS
    other = tree_map(lambda a: a + 1, state)
    assert model.load_state_dict(other) == ([], [])
    assert same(model.state_dict(), other)
    partly = {"pair.1": mx.zeros(1), "affine.scale": mx.zeros(2), "pair.9": mx.zeros(1)}
    missing, unexpected = model.load_state_dict(partly, strict=False)
    assert (missing, unexpected) == (["affine.shift", "pair.0", "weight"], ["pair.9"])
    assert model.pair.second.item() == 0
    with pytest.raises(ValueError, match=r"affine\.scale: got the shape \(3,\), expected \(2,\)"):
        model.load_weights(state | {"affine.scale": mx.ones(3)})
    nested = Nested()
    nested.load_weights({path: a + 1 for path, a in nested.state_dict().items()})
    assert nested.blocks[0].inner.scale.tolist() == [2, 2]
    assert nested.blocks[0].layers[1].tolist() == [2, 2, 2]


def test_modules_inside_are_modules_of_the_model():
    model = Nested()
    block = model.blocks[0]
    named = dict(model.named_modules())
    assert {*named} == {"", "blocks.0.layers.0", "blocks.0.head"}
    assert named["blocks.0.head"] is block.head
    model.eval()
    assert not block.head.training
    leaves = tree_flatten(model.leaf_modules(), is_leaf=nn.Module.is_module)
    assert [path for path, _ in leaves] == ["blocks.0.layers.0", "blocks.0.head"]
    assert "(blocks.0.layers.0): Linear(input_dims=2" in repr(model)
    model.update_modules({"blocks": [{"head": nn.ReLU()}]})
    assert isinstance(model.blocks[0].head, nn.ReLU)
    assert model.blocks[0].layers is block.layers
    assert "13 parameters" in model._repr_html_()
    assert nn.summary(model).total == 13


def test_gradients_are_those_of_a_module_without_classes():
    model, plain = Model(), Plain()
    before = {**model}
    value, gradients = nn.value_and_grad(model, loss_of(model))(X)
    expected_value, expected = nn.value_and_grad(plain, loss_of(plain))(X)
    assert value.item() == expected_value.item()
    assert same(gradients, expected)
    assert same(model.parameters(), plain.parameters())
    assert {key: type(each) for key, each in model.items()} == {
        key: type(each) for key, each in before.items()
    }
    # Of the module as an argument, the gradient is a module's tree with the classes themselves.
    of_module = mx.grad(lambda model, x: (model(x) ** 2).sum())(model, X)
    assert isinstance(of_module["affine"], Affine)
    assert same(tree_unflatten(tree_flatten(of_module)), expected)
    model.freeze(keys=["affine.scale", "pair"])
    _, gradients = nn.value_and_grad(model, loss_of(model))(X)
    assert paths(gradients) == ["affine.shift", "weight"]


def test_gradients_agree_with_finite_differences():
    model, step = Model(), 1e-2
    _, gradients = nn.value_and_grad(model, loss_of(model))(X)
    for path, gradient in tree_flatten(gradients):
        for i in range(gradient.size):
            change = mx.array(np.eye(gradient.size, dtype=np.float32)[i] * step)
            values = []
            for sign in (1, -1):
                other = Model()
                other.load_weights({path: other.state_dict()[path] + sign * change}, strict=False)
                values.append(loss_of(other)(X).item())
            estimate = (values[0] - values[1]) / (2 * step)
            assert gradient[i].item() == pytest.approx(estimate, rel=2e-2)


def test_the_model_has_its_arrays_back_after_an_error():
    model = Model()
    before = model.state_dict()

    def fail(x):
        model(x)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        nn.value_and_grad(model, fail)(X)
    assert all(model.state_dict()[path] is before[path] for path in PATHS)


MAKERS = {
    "SGD": lambda: optimizers.SGD(1e-4, momentum=0.9),
    "Adam": lambda: optimizers.Adam(0.01),
    "Muon": lambda: optimizers.Muon(0.01),
    "MultiOptimizer": lambda: optimizers.MultiOptimizer(
        [optimizers.SGD(1e-4), optimizers.Adam(0.01)], [lambda path, _: path.startswith("aff")]
    ),
    "MultiSteps": lambda: optimizers.MultiSteps(optimizers.SGD(1e-4), 2),
}


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("name", MAKERS)
def test_training(name, is_compiled):
    model, plain = Model(), Plain()
    losses = []
    for each in (model, plain):
        optimizer = MAKERS[name]()
        optimizer.init(each.trainable_parameters())
        loss_and_grad = nn.value_and_grad(each, loss_of(each))

        def step(x, each=each, optimizer=optimizer, loss_and_grad=loss_and_grad):
            loss, gradients = loss_and_grad(x)
            optimizer.update(each, gradients)
            return loss

        if is_compiled:
            state = [each.state, optimizer.state]
            step = partial(mx.compile, inputs=state, outputs=state)(step)
        losses.append([step(X).item() for _ in range(6)])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert losses[0][-1] < losses[0][0]
    assert same(model.parameters(), plain.parameters())
    assert isinstance(model.affine, Affine)
    assert model.affine.power == 2


def test_other_users_of_parameters():
    model, plain = Model(), Plain()
    for each in (model, plain):
        optimizers.LBFGS(max_iter=3).update_with(each, loss_of(each), X)
    assert same(model.parameters(), plain.parameters())
    average = optimizers.EMA(model, 0.5, bias_correction=False)
    before = model.state_dict()
    model.apply(lambda a: a + 1)
    average.update(model)
    with average.swapped(model):
        assert same(model.state_dict(), {path: a + 0.5 for path, a in before.items()})
    assert same(model.state_dict(), {path: a + 1 for path, a in before.items()})
    checkpointed = nn.utils.checkpoint(model)
    _, expected = nn.value_and_grad(model, loss_of(model))(X)
    _, gradients = nn.value_and_grad(model, loss_of(checkpointed))(X)
    assert same(gradients, expected)
    with pytest.raises(ValueError, match=r"\[update\] affine\.nothing is not a parameter"):
        optimizers.SGD(0.1).update(model, {"affine": {"nothing": mx.ones(2)}})
    adam = optimizers.Adam(0.1)
    adam.init(model.trainable_parameters())
    adam.state["affine"]["scale"]["m"] = mx.ones(3)
    with pytest.raises(ValueError, match=r"the state of Adam for affine\.scale: got m of shape"):
        adam.update(model, expected)


def test_compiled_modules():
    model = Model()
    compiled = mx.compile(model)
    first = compiled(X)
    assert same(first, model(X))
    model.update({"affine": {"scale": mx.zeros(2)}})
    assert same(compiled(X), model(X))
    assert not same(compiled(X), first)


def test_functional_calls():
    model = Model()
    affine, pair = model.affine, model.pair
    other = tree_map(lambda a: a + 1, model.parameters())
    expected = Model().update(other)(X)
    assert same(nn.functional_call(model, other, X), expected)
    assert same(nn.functional_call(model, dict(tree_flatten(other)), X), expected)
    assert model.affine is affine
    assert model.pair is pair
    stacked = tree_map(lambda *arrays: mx.stack(arrays), model.parameters(), other)
    ensemble = mx.vmap(lambda p: nn.functional_call(model, p, X))(stacked)
    assert same(list(ensemble), [model(X), expected])


class Normalised(nn.Module):
    def __init__(self):
        super().__init__()
        self.statistics = Statistics(mx.zeros(2), mx.ones(2))
        self.freeze(keys="statistics.mean")

    def __call__(self, x):
        self.statistics.mean = 0.5 * self.statistics.mean + 0.5 * x
        return (x - self.statistics.mean) * self.statistics.gain


def test_changes_of_attributes_in_the_forward_pass():
    model = Normalised()
    _loss, gradients = nn.value_and_grad(model, loss_of(model))(X)
    assert paths(gradients) == ["statistics.gain"]
    assert model.statistics.mean.tolist() == (0.5 * X).tolist()
    assert model.statistics.gain.tolist() == [1, 1]
    nn.summary(model, X)
    assert model.statistics.mean.tolist() == (0.5 * X).tolist()
    model.statistics.gain = mx.zeros(2)
    assert model.parameters()["statistics"]["gain"].tolist() == [0, 0]


def test_settings_are_not_parameters():
    model = nn.Module()
    model.settings = Settings((2, 3), "a")
    assert model.parameters() == {}
    assert model.children() == {}
    assert model.settings.name == "a"


def test_what_is_still_hidden_warns():
    model = nn.Module()
    with pytest.warns(UserWarning, match=r"affine: got a Affine that holds arrays"):
        model.affine = Affine(mx.ones(2), mx.zeros(2), mx.ones(1))
    with pytest.warns(UserWarning, match=r"other\.scale: got a numpy array"):
        model.other = Affine(np.ones(2), mx.zeros(2))
    assert paths(model.parameters()) == ["affine.scale", "affine.shift", "other.shift"]

    class Unknown:
        def __init__(self):
            self.x = mx.ones(2)

    with pytest.warns(UserWarning, match=r"unknown: got a Unknown that holds arrays"):
        model.unknown = Unknown()
    assert "unknown" not in model


def test_attributes_replace_each_other():
    model = Model()
    model.affine = 3
    assert "affine" not in model
    assert model.affine == 3
    model.affine = Affine(mx.ones(2), mx.zeros(2))
    assert paths(model.parameters())[-2:] == ["affine.scale", "affine.shift"]
    del model.affine
    assert not hasattr(model, "affine")


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_copies(duplicate):
    model = Model()
    twin = duplicate(model)
    twin.apply(lambda a: a + 1)
    assert same(model.parameters(), Plain().parameters())
    assert not same(twin.parameters(), model.parameters())
    assert twin.affine.power == 2


def test_names_tie_modules_only():
    model = Model()
    with pytest.raises(ValueError, match=r"got 'affine\.scale', expected a parameter of a module"):
        model.tie_weights("weight", "affine.scale")


def test_an_overridden_update_is_called_and_undone():
    class Counted(Model):
        def __init__(self):
            super().__init__()
            self.updates = 0

        def update(self, parameters, strict=True):
            self.updates += 1
            return super().update(parameters, strict)

    model = Counted()
    _, gradients = nn.value_and_grad(model, loss_of(model))(X)
    plain = Plain()
    _, expected = nn.value_and_grad(plain, loss_of(plain))(X)
    assert same(gradients, expected)
    assert same(model.parameters(), plain.parameters())
    model.load_weights({path: a + 1 for path, a in model.state_dict().items()})
    assert model.affine.scale.tolist() == [3, 4]
    assert model.updates == 2


def test_instances_in_containers():
    model = nn.Module()
    model.parts = (Affine(mx.ones(1), None), 3)
    model.by_name = {"a.b": Affine(mx.ones(1), mx.zeros(1))}
    assert paths(model.trainable_parameters()) == [
        *("parts.0.scale", "by_name.a.b.scale", "by_name.a.b.shift"),
    ]
    model.load_weights({path: a + 1 for path, a in model.state_dict().items()})
    model.apply(lambda a: a * 3)
    assert model.parts[0].scale.item() == 6
    assert (model.parts[0].shift, model.parts[1]) == (None, 3)
    assert model.by_name["a.b"].shift.item() == 3


def test_an_instance_in_two_modules_is_not_shared():
    affine = Affine(mx.ones(1), mx.ones(1))
    model = nn.Module()
    model.a, model.b = nn.Module(), nn.Module()
    model.a.affine = model.b.affine = affine
    assert len(model.state_dict()) == 4
    model.a.update({"affine": {"scale": mx.zeros(1)}})
    assert model.b.affine is affine
    assert affine.scale.item() == 1


def test_an_instance_that_the_forward_pass_replaces_stays():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.affine = Affine(mx.ones(2), mx.zeros(2))
            self.freeze(keys="affine.shift")

        def __call__(self, x):
            y = self.affine(x)
            self.affine = Affine(self.affine.scale, self.affine.shift + 1)
            return y

    model = Counting()
    scale = model.affine.scale
    _, gradients = nn.value_and_grad(model, loss_of(model))(X)
    assert paths(gradients) == ["affine.scale"]
    assert model.affine.scale is scale
    assert model.affine.shift.tolist() == [1, 1]
