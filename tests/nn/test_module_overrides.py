"""Modules whose class overrides methods of `Module` or of `dict`: who calls them, and who must not.

MLX calls the overrides in the same places; the calls of `update` are those of the root only.
"""

import copy
import functools
import itertools
import pickle

import numpy as np
import pytest
import umber.core as mx
from umber import nn, optimizers
from umber.utils import tree_flatten, tree_map


class Derived(nn.Module):
    """Computes with an array that its `update` derives from a parameter."""

    def __init__(self):
        super().__init__()
        self.w = mx.ones(2)
        self._w = self.w
        self.calls = 0

    def update(self, parameters, *args, **kwargs):
        super().update(parameters, *args, **kwargs)
        self._w = 2 * self.w
        self.calls += 1
        return self

    def __call__(self, x):
        return (self._w * x).sum()


X = mx.array([2.0, 3.0])


def weight_and_derived(model):
    return model.w.tolist(), model._w.tolist()


def test_gradients_go_through_update():
    model = Derived()
    own, derived = model.w, model._w
    value, gradients = nn.value_and_grad(model, model)(X)
    assert (value.item(), gradients["w"].tolist()) == (10.0, [4.0, 6.0])
    assert model.calls == 1
    # What update has derived from traced arrays is gone as well.
    assert model.w is own
    assert model._w is derived


def test_an_error_leaves_the_module_its_arrays():
    model = Derived()
    own, derived = model.w, model._w

    def loss(x):
        model(x)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        nn.value_and_grad(model, loss)(X)
    assert model.w is own
    assert model._w is derived


def test_an_update_that_fails_changes_nothing():
    class Failing(Derived):
        def update(self, parameters, *args, **kwargs):
            super().update(parameters, *args, **kwargs)
            self.added = mx.zeros(1)
            raise KeyError("mine")

    model = Failing()
    own, derived = model.w, model._w
    with pytest.raises(KeyError, match="mine"):
        nn.value_and_grad(model, model)(X)
    assert model.w is own
    assert model._w is derived
    assert set(model) == {"w", "_w"}


def test_what_the_function_replaces_stays():
    model = Derived()
    own = model.w

    def loss(x):
        value = model(x)
        model._w = mx.zeros(2)
        model.count = mx.array(1)
        return value

    nn.value_and_grad(model, loss)(X)
    assert model.w is own
    assert model._w.tolist() == [0, 0]
    assert model.count.item() == 1


def test_updates_in_lists_and_entries_that_come_and_go_are_undone():
    class Cached(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(2, 2), {"scale": mx.ones(2)}]
            self._cache = [mx.zeros(1)]
            self._old = mx.zeros(1)

        def update(self, parameters, strict=True):
            super().update(tree_map(lambda x: x * 1, parameters), strict)
            self._cache[0] = self.layers[1]["scale"] * 2
            self._cache.append(self.layers[0].weight)
            self._new = self.layers[0].bias
            object.__setattr__(self, "plain", self._new)
            del self._old
            return self

        def __call__(self, x):
            return (self.layers[0](x) * self._cache[0]).sum()

    model = Cached()
    before = dict(tree_flatten(model))
    _, gradients = nn.value_and_grad(model, model)(mx.ones((1, 2)))
    assert all(np.abs(np.array(g)).max() > 0 for _, g in tree_flatten(gradients))
    after = dict(tree_flatten(model))
    assert before.keys() == after.keys()
    assert all(after[path] is before[path] for path in before)
    assert not hasattr(model, "plain")


def test_only_the_root_is_asked_to_update():
    class Root(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Derived()

        def __call__(self, x):
            return self.inner(x) + self.inner.w.sum()

    model = Root()
    _, gradients = nn.value_and_grad(model, model)(X)
    model.load_weights([("inner.w", mx.zeros(2))])
    assert model.inner.calls == 0
    assert gradients["inner"]["w"].tolist() == [1, 1]


def test_a_method_of_one_object_counts_too():
    model = nn.Linear(2, 2)
    calls = []
    object.__setattr__(
        model, "update", lambda p, **kwargs: (calls.append(1), nn.Module.update(model, p, **kwargs))
    )
    nn.value_and_grad(model, lambda x: model(x).sum())(X)
    model.load_weights(tree_flatten(model.parameters()))
    assert len(calls) == 2


def test_checkpoints_go_through_update():
    model = Derived()
    own, derived = model.w, model._w
    function = nn.utils.checkpoint(model)
    assert mx.grad(function)(X).tolist() == [2, 2]
    # Once: not the function is run again for the gradient, but the operations that it recorded.
    assert model.calls == 1
    assert model.w is own
    assert model._w is derived
    _, gradients = nn.value_and_grad(model, function)(X)
    assert gradients["w"].tolist() == [4, 6]


@pytest.mark.parametrize("strict", [True, False])
def test_weights_are_loaded_through_update(strict, tmp_path):
    file = str(tmp_path / "w.npz")
    model = Derived()
    model.load_weights([("w", mx.array([3.0, 4.0]))], strict=strict).save_weights(file)
    assert (model.calls, *weight_and_derived(model)) == (1, [3, 4], [6, 8])
    other = Derived().load_weights(file, strict=strict)
    assert (other.calls, *weight_and_derived(other)) == (1, [3, 4], [6, 8])
    with pytest.raises(
        ValueError, match=r"^\[load_weights\] parameters that the model lacks \(1\): v"
    ):
        other.load_weights([("v", X)])
    with pytest.raises(ValueError, match=r"^\[load_weights\] w: got the shape \(3,\)"):
        other.load_weights([("w", mx.ones(3))])
    other.load_weights([], strict=False)
    assert other.calls == 1


def test_parameters_under_names_of_their_own():
    """A module may list its parameters by the names of a file, and take them by these."""

    class Renamed(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = mx.ones(2)

        def parameters(self):
            return {"theirs": {"w": self.w}}

        def update(self, parameters, strict=True):
            return super().update({"w": parameters["theirs"]["w"]}, strict)

    model = Renamed().load_weights([("theirs.w", X)])
    assert model.w.tolist() == [2, 3]
    with pytest.raises(
        ValueError, match=r"\[load_weights\] parameters that the model lacks \(1\): w"
    ):
        model.load_weights([("w", X)])


def test_parameters_that_are_listed_are_those_of_strict_files():
    class Part(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = mx.ones(2)
            self.fixed = mx.ones(2)

        def filter_and_map(self, filter_fn, map_fn=None, is_leaf_fn=None):
            return super().filter_and_map(
                lambda m, k, v: k != "fixed" and filter_fn(m, k, v), map_fn, is_leaf_fn
            )

    model = Part()
    assert list(model.parameters()) == ["w"]
    assert list(model.trainable_parameters()) == ["w"]
    assert model.load_weights([("w", X)]).w.tolist() == [2, 3]
    with pytest.raises(
        ValueError, match=r"\[load_weights\] parameters that the model lacks \(1\): fixed"
    ):
        model.load_weights([("w", X), ("fixed", X)])
    assert model.load_weights([("fixed", X)], strict=False).fixed.tolist() == [2, 3]
    _, gradients = nn.value_and_grad(model, lambda x: (model.w * x * model.fixed).sum())(X)
    assert list(gradients) == ["w"]


def test_tied_modules_count_once_through_an_override():
    class Same(nn.Module):
        def filter_and_map(self, *args, **kwargs):
            return super().filter_and_map(*args, **kwargs)

    model = Same()
    model.first = nn.Linear(2, 2)
    model.layers = [model.first]
    assert [path for path, _ in tree_flatten(model.parameters())] == ["first.weight", "first.bias"]


def test_filters_of_subclasses():
    class Private(nn.Module):
        def __init__(self):
            super().__init__()
            self._hidden = mx.ones(2)
            self.w = mx.ones(2)
            self.layer = nn.ReLU()

        @staticmethod
        def valid_parameter_filter(module, key, value):
            return isinstance(value, mx.array)

        @staticmethod
        def trainable_parameter_filter(module, key, value):
            return key == "w"

        @staticmethod
        def valid_child_filter(module, key, value):
            return False

    model = Private()
    assert list(model.parameters()) == ["_hidden", "w"]
    assert list(model.trainable_parameters()) == ["w"]
    assert model.children() == {}
    assert model.modules() == [model]
    assert repr(model) == "Private()"
    model.freeze()
    assert model._no_grad == {"_hidden", "w"}


# Which methods of the module itself and of the one in it are called by which.
STATIC = ("is_module", "valid_child_filter", "valid_parameter_filter", "trainable_parameter_filter")
RECORDED = (
    *("update", "filter_and_map", "parameters", "trainable_parameters", "children", "modules"),
    *("named_modules", "apply_to_modules", "apply", "update_modules", "leaf_modules", "train"),
    *("_validate_keys", "_validate_keys_recursive", "_set_training_mode"),
    *STATIC,
)
CALLS = {
    "value_and_grad": "trainable_parameters > filter_and_map > trainable_parameter_filter, update",
    "checkpoint": "trainable_parameters > filter_and_map > trainable_parameter_filter, update",
    "load_weights": "parameters > filter_and_map > valid_parameter_filter, update",
    "save_weights": "parameters > filter_and_map > valid_parameter_filter",
    "parameters": "parameters > filter_and_map > valid_parameter_filter",
    "modules": "modules > apply_to_modules > children > filter_and_map > valid_child_filter, "
    "apply_to_modules > is_module, apply_to_modules > inner.children",
    "named_modules": "named_modules > apply_to_modules > inner.children > inner.filter_and_map",
    "apply_to_modules": "apply_to_modules > inner.children, apply_to_modules > is_module",
    "freeze": "apply_to_modules > filter_and_map > valid_parameter_filter, "
    "apply_to_modules > inner.filter_and_map, apply_to_modules > inner._validate_keys",
    "freeze one": "filter_and_map, _validate_keys",
    "freeze keys": "_validate_keys_recursive > modules > apply_to_modules, "
    "apply_to_modules > _validate_keys, apply_to_modules > inner._validate_keys",
    "unfreeze": "apply_to_modules > inner.children",
    "unfreeze keys": "_validate_keys_recursive > modules > apply_to_modules, "
    "apply_to_modules > inner._validate_keys",
    "eval": "train > apply_to_modules > inner._set_training_mode",
    "set_dtype": "apply > filter_and_map, apply > update",
    "quantize": "leaf_modules > filter_and_map > valid_child_filter, update_modules",
    "repr": "children > filter_and_map > valid_child_filter, is_module",
    "optimizer": "update",
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_of_overrides(name, tmp_path):
    stack, seen = [], set()

    def recorded(method, function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            inner = method not in STATIC and isinstance(args[0], Inner)
            stack.append("inner." * inner + method)
            seen.update([stack[-1], tuple(stack[-2:])])
            try:
                return function(*args, **kwargs)
            finally:
                stack.pop()

        return staticmethod(call) if method in STATIC else call

    methods = {method: recorded(method, getattr(nn.Module, method)) for method in RECORDED}

    class Inner(nn.Module):
        locals().update(methods)

    class Outer(nn.Module):
        locals().update(methods)

        def __call__(self, x):
            return (self.w * self.inner.w * x).sum()

    model, inner = Outer(), Inner()
    model.w, inner.w, model.inner = mx.ones(2), mx.ones(2), inner
    file = str(tmp_path / "w.npz")
    model.save_weights(file)
    seen.clear()
    {
        "value_and_grad": lambda: nn.value_and_grad(model, model)(X),
        "checkpoint": lambda: nn.utils.checkpoint(model)(X),
        "load_weights": lambda: model.load_weights(file),
        "save_weights": lambda: model.save_weights(file),
        "parameters": lambda: model.parameters(),
        "modules": lambda: model.modules(),
        "named_modules": lambda: model.named_modules(),
        "apply_to_modules": lambda: model.apply_to_modules(lambda path, module: None),
        "freeze": lambda: model.freeze(),
        "freeze one": lambda: model.freeze(recurse=False),
        "freeze keys": lambda: model.freeze(keys=["w"], strict=True),
        "unfreeze": lambda: model.unfreeze(),
        "unfreeze keys": lambda: model.unfreeze(keys=["w"], strict=True),
        "eval": lambda: model.eval(),
        "set_dtype": lambda: model.set_dtype(mx.float16),
        "quantize": lambda: nn.quantize(model),
        "repr": lambda: repr(model),
        "optimizer": lambda: optimizers.SGD(0.1).update(model, {"w": mx.ones(2)}),
    }[name]()
    for chain in CALLS[name].split(", "):
        links = chain.split(" > ")
        assert links[0] in seen
        assert set(itertools.pairwise(links)) <= seen
    assert "inner.update" not in seen


def test_modules_are_looked_for_after_the_call():
    """What `apply_fn` puts into a module is visited, as in MLX."""
    model = nn.Sequential(nn.ReLU())
    visited = []

    def visit(path, module):
        visited.append(path)
        if not path:
            module.layers = [nn.ReLU(), nn.Tanh()]

    model.apply_to_modules(visit)
    assert visited == ["", "layers.1", "layers.0"]


# Methods of dict


def fail(*args, **kwargs):
    raise AssertionError("an override was called")


METHODS = {
    "__getitem__": lambda self, i: getattr(self, str(i)),
    "__contains__": fail,
    "__iter__": fail,
    "__len__": fail,
    "__eq__": fail,
    "__bool__": fail,
    "__reversed__": fail,
    "__delitem__": fail,
    **dict.fromkeys(("get", "keys", "values", "items", "pop", "setdefault", "copy", "clear"), fail),
}
# Python's own copies go through it.
COPIED_BY = {"items"}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_dict_are_free(name, tmp_path):
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = mx.ones(2)
            self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]
            self.named = {"a": nn.Linear(2, 2)}

        def __call__(self, x):
            return self.named["a"](self.layers[1](self.layers[0](x * self.w)))

    setattr(Own, name, METHODS[name])
    Own.__hash__ = object.__hash__
    model, x = Own(), mx.ones((1, 2))
    assert model.w.shape == (2,)
    assert not hasattr(model, "nothing")
    model.w = 3
    model.w = mx.ones(2)
    model.extra = mx.ones(1)
    del model.extra
    assert not hasattr(model, "extra")
    with pytest.warns(UserWarning, match="modules"):
        model.hidden = {nn.ReLU()}
    model.hidden = {model.layers[0]}

    assert len(tree_flatten(model.parameters())) == 7
    assert len(model.modules()) == 4
    assert len(tree_flatten(model.leaf_modules(), is_leaf=nn.Module.is_module)) == 3
    assert repr(model).startswith("Own(\n")
    model.freeze(keys="w", strict=True).unfreeze(keys="w", strict=True).freeze().unfreeze()
    model.eval().train()
    model.update({"w": mx.zeros(2), "layers": [{"weight": mx.zeros((2, 2))}]})
    assert model.w.tolist() == [0, 0]
    model.update(model)
    model.update_modules({"layers": [nn.Linear(2, 2)]})
    model.apply(lambda a: a + 1)
    model.set_dtype(mx.float32)
    nn.quantize(model, class_predicate=lambda path, module: False)
    _, gradients = nn.value_and_grad(model, lambda x: model(x).sum())(x)
    assert len(tree_flatten(gradients)) == 7
    mx.eval(mx.grad(lambda x: nn.utils.checkpoint(model)(x).sum())(x))
    file = str(tmp_path / "w.safetensors")
    model.save_weights(file)
    assert Own().load_weights(file).w.tolist() == model.w.tolist()
    step = mx.compile(model, inputs=model.state, outputs=model.state)
    assert step(x).tolist() == model(x).tolist()
    if name not in COPIED_BY:
        assert copy.copy(model)(x).tolist() == copy.deepcopy(model)(x).tolist()

    outer = nn.Sequential(model, Own())
    assert len(tree_flatten(outer.trainable_parameters())) == 14
    assert len(outer.modules()) == 9
    outer.update(outer.parameters())
    if name != "__contains__":
        optimizers.Adam(0.1).update(model, gradients)
        assert not np.isnan(np.array(model.w)).any()


class Indexed(nn.Module):
    """Layers by their numbers."""

    def __init__(self, layers):
        super().__init__()
        for i, layer in enumerate(layers):
            setattr(self, str(i), layer)

    def __getitem__(self, i):
        return getattr(self, str(i))

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __setitem__(self, i, layer):
        setattr(self, str(i), layer)


def test_layers_by_their_numbers():
    model = Indexed([nn.Linear(2, 2), nn.ReLU()])
    assert isinstance(model[0], nn.Linear)
    assert [type(layer) for layer in model] == [nn.Linear, nn.ReLU]
    model[1] = nn.Tanh()
    assert isinstance(model["1"], nn.Tanh)
    with pytest.raises(AttributeError, match="no attribute '2'"):
        model[2]
    model.update({"0": {"weight": mx.zeros((2, 2))}})
    assert model[0].weight.tolist() == [[0, 0], [0, 0]]
    assert isinstance(pickle.loads(pickle.dumps(model))[0], nn.Linear)


@pytest.mark.parametrize("name", ["__getitem__", "__setitem__", "get"])
@pytest.mark.parametrize(
    "make",
    [
        *(nn.LayerNorm, nn.RMSNorm, nn.BatchNorm),
        *(lambda dims, kind=kind: kind(dims, dims) for kind in (nn.RNN, nn.LSTM, nn.GRU)),
        *(lambda dims: nn.GroupNorm(1, dims), lambda dims: nn.InstanceNorm(dims, affine=True)),
        lambda dims: nn.QuantizedLinear(64, dims, group_size=64).unfreeze(),
    ],
)
def test_layers_read_their_attributes(name, make):
    """As MLX's layers do, whose subclasses may define other items."""
    layer = make(4)
    x = mx.random.normal((2, 3, layer._width() if hasattr(layer, "_width") else 4))
    expected = layer(x)
    kind = type(layer)
    other = kind.__new__(type(kind.__name__, (kind,), {name: fail}))
    object.__setattr__(other, "__dict__", vars(layer))
    dict.update(other, layer)
    got = other(x)
    assert tree_map(lambda y: y.tolist(), got) == tree_map(lambda y: y.tolist(), expected)
    other.unfreeze()
