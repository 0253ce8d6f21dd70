"""What a module is beside a dict: its trees of tuples, its names, its identity, its warnings."""

import collections
import copy
import dataclasses
import functools
import pickle
import types
import warnings
import weakref
from typing import NamedTuple

import numpy as np
import pytest
import umber.core as mx
from umber import nn, optimizers
from umber.utils import tree_flatten, tree_map, tree_unflatten


class Pair(NamedTuple):
    first: object
    second: object


class Shape(tuple):
    """Made of two arguments, unlike a tuple."""

    def __new__(cls, first, second):
        return super().__new__(cls, (first, second))

    def __getnewargs__(self):
        return tuple(self)


class Held(nn.Module):
    """A module with one attribute."""

    def __init__(self, layers):
        super().__init__()
        self.layers = layers


def paths(tree):
    return [path for path, _ in tree_flatten(tree)]


def linear():
    return nn.Linear(2, 2)


WEIGHTS = ["weight", "bias"]
# What is held, and the paths of its parameters.
CONTAINERS = {
    "tuple": (lambda: (linear(), nn.Dropout(0.5)), [f"0.{w}" for w in WEIGHTS]),
    "named tuple": (lambda: Pair(linear(), mx.ones(2)), [*(f"0.{w}" for w in WEIGHTS), "1"]),
    "tuple of its own": (lambda: Shape(mx.ones(3), linear()), ["0", "1.weight", "1.bias"]),
    "tuple in a list": (lambda: [(linear(), 3)], ["0.0.weight", "0.0.bias"]),
    "list in a tuple": (lambda: ([mx.ones(2)], "a"), ["0.0"]),
    "dict of tuples in a list": (
        lambda: [{"a": (mx.ones(2), (mx.ones(3), {"b": Pair(mx.ones(4), 1)}))}],
        ["0.a.0", "0.a.1.0", "0.a.1.1.b.0"],
    ),
    "tuples in tuples": (
        lambda: (((mx.ones(2),),), (linear(),)),
        ["0.0.0", "1.0.weight", "1.0.bias"],
    ),
    "ordered dict": (
        lambda: collections.OrderedDict(a=(mx.ones(2),), b=mx.ones(3)),
        ["a.0", "b"],
    ),
    "default dict": (lambda: collections.defaultdict(list, a=[mx.ones(2)]), ["a.0"]),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_containers_of_parameters(name, tmp_path):
    make, expected = CONTAINERS[name]
    expected = [f"layers.{path}" for path in expected]
    model = Held(make())
    kind = type(model.layers)
    assert paths(model.parameters()) == expected
    assert paths(model.trainable_parameters()) == expected
    doubled = [2 * x for _, x in tree_flatten(model.parameters())]
    model.update(tree_map(lambda x: 2 * x, model.parameters()))
    model.update(tree_unflatten(tree_flatten(model.parameters())))
    found = [x for _, x in tree_flatten(model.parameters())]
    assert all(mx.array_equal(a, b) for a, b in zip(found, doubled, strict=True))
    assert type(model.layers) is kind
    model.apply(lambda x: x.astype(mx.float16))
    assert {x.dtype for _, x in tree_flatten(model.parameters())} == {mx.float16}
    assert model.freeze() is model
    assert paths(model.trainable_parameters()) == []
    model.unfreeze()
    for ending in ("safetensors", "npz"):
        file = str(tmp_path / f"weights.{ending}")
        model.save_weights(file)
        twin = Held(make())
        twin.apply(lambda x: x.astype(mx.float16))
        twin.load_weights(file)
        assert type(twin.layers) is kind
        pairs = zip(tree_flatten(twin.parameters()), tree_flatten(model.parameters()), strict=True)
        assert all(mx.array_equal(a, b) for (_, a), (_, b) in pairs)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert paths(twin.parameters()) == expected


def test_attributes_named_like_a_method():
    model = nn.Linear(2, 2)
    model.pop = 3
    model.setdefault = "x"
    model.name = mx.ones(1)
    assert (model.pop, model.setdefault) == (3, "x")
    assert sorted(model.parameters()) == ["bias", "name", "weight"]
    with pytest.raises(AttributeError, match="values"):
        model.values = mx.ones(1)


def test_modules_in_tuples():
    inner = nn.Sequential(nn.ReLU(), nn.Dropout(0.5))
    model = Held((linear(), Pair(inner, {"x": (nn.Tanh(),)})))
    assert model.layers[1].second["x"][0] in model.modules()
    assert {path for path, _ in model.named_modules()} == {
        "",
        "layers.0",
        "layers.1.0",
        "layers.1.0.layers.0",
        "layers.1.0.layers.1",
        "layers.1.1.x.0",
    }
    assert model.children()["layers"][0] is model.layers[0]
    assert isinstance(model.children()["layers"][1], Pair)
    leaves = tree_flatten(model.leaf_modules(), is_leaf=nn.Module.is_module)
    assert [path for path, _ in leaves] == [
        "layers.0",
        "layers.1.0.layers.0",
        "layers.1.0.layers.1",
        "layers.1.1.x.0",
    ]
    model.eval()
    assert not inner.layers[1].training
    new = nn.Tanh()
    model.update_modules({"layers": ({}, [new])})
    assert model.layers[1].first is new
    assert isinstance(model.layers[1], Pair)
    assert "(layers.1.1.x.0): Tanh()" in repr(model)
    nn.quantize(Held((nn.Linear(64, 2), nn.ReLU())))
    quantized = Held((nn.Linear(64, 2), nn.ReLU()))
    nn.quantize(quantized)
    assert isinstance(quantized.layers[0], nn.QuantizedLinear)


def test_settings_in_tuples_are_no_parameters():
    model = nn.Conv2d(1, 1, 3)
    assert set(model.parameters()) == {"weight", "bias"}
    assert model.children() == {}
    model.sizes = ((1, 2), ["a"])
    assert set(model.parameters()) == {"weight", "bias"}
    endless = [1]
    endless.append(endless)
    model.pair = (endless, 2)
    assert set(model.parameters()) == {"weight", "bias"}
    seen = []
    nn.Conv2d(1, 1, 3).filter_and_map(
        lambda m, k, v: isinstance(v, tuple), lambda v: seen.append(v)
    )
    assert (3, 3) in seen or (1, 1) in seen


def test_tied_modules_in_tuples():
    shared = linear()
    model = Held((shared, shared))
    assert paths(model.parameters()) == ["layers.0.weight", "layers.0.bias"]
    model.load_weights([("layers.1.weight", mx.ones((2, 2))), ("layers.0.bias", mx.zeros(2))])
    assert shared.weight.tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "make",
    [optimizers.Adam, lambda rate: optimizers.SGD(rate, momentum=0.9)],
)
def test_training_of_tuples(make, compiled):
    """The same steps as of lists."""

    class Model(nn.Module):
        def __init__(self, kind):
            super().__init__()
            mx.random.seed(0)
            self.layers = kind([linear(), nn.Linear(2, 1)])
            self.scale = kind([mx.ones(2), kind([mx.zeros(2)])])

        def __call__(self, x):
            x = self.scale[0] * self.layers[0](x) + self.scale[1][0]
            return self.layers[1](x)

    x, y = mx.array([[0.5, -1.0], [2.0, 0.25]]), mx.array([[1.0], [-1.0]])
    trained = []
    for kind in (list, tuple):
        model, optimizer = Model(kind), make(0.1)
        loss = nn.value_and_grad(model, lambda x, y, m=model: nn.losses.mse_loss(m(x), y))
        optimizer.init(model.trainable_parameters())

        def step(x, y, loss=loss, optimizer=optimizer, model=model):
            value, gradients = loss(x, y)
            gradients, _ = optimizers.clip_grad_norm(gradients, 1.0)
            optimizer.update(model, gradients)
            return value

        if compiled:
            state = [model.state, optimizer.state]
            step = mx.compile(step, inputs=state, outputs=state)
        values = [step(x, y).item() for _ in range(5)]
        assert len(set(values)) == 5
        trained.append(values)
        assert isinstance(model.layers, kind)
        multi = optimizers.MultiOptimizer([make(0.1), make(0.2)], [lambda p, x: x.ndim == 1])
        multi.update(model, loss(x, y)[1])
        trained[-1].append(loss(x, y)[0].item())
    assert trained[0] == trained[1]


def test_value_and_grad_puts_elements_of_tuples_back():
    model = Held((mx.ones(2), linear()))
    before = model.layers

    def fail():
        assert model.layers[0] is not before[0]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        nn.value_and_grad(model, fail)()
    assert all(a is b for a, b in zip(model.layers, before, strict=True))

    def replace():
        model.layers = (mx.zeros(2), model.layers[1])
        return model.layers[0].sum()

    nn.value_and_grad(model, replace)()
    assert model.layers[0].tolist() == [0.0, 0.0]

    def remove():
        total = model.layers[0].sum()
        del model.layers
        return total

    nn.value_and_grad(model, remove)()
    assert "layers" not in model


def test_updates_of_tuples_are_checked():
    model = Held((mx.ones(2), linear()))
    for update, message in (
        ({"layers": [1]}, r"\[Module\.update\] layers\.0: cannot replace array with int"),
        ({"layers": {"0": mx.ones(2)}}, r"layers: cannot replace tuple with dict"),
        ({"layers": [{}, {}, mx.ones(2)]}, r"layers\.2 does not exist"),
        ({"layers": [{}, {"nope": mx.ones(2)}]}, r"layers\.1\.nope does not exist"),
    ):
        before = model.layers
        with pytest.raises(ValueError, match=message):
            model.update(update)
        assert model.layers is before


class Shadowing(nn.Module):
    default = None
    _weight = None

    @functools.cached_property
    def mask(self):
        return mx.zeros(1)

    @property
    def scale(self):
        return self._scale

    @scale.setter
    def scale(self, value):
        self._scale = value

    @property
    def late(self):
        raise AttributeError("not yet")

    def helper(self):
        return 1


DICT_METHODS = [name for name in dir(dict) if not name.startswith("_")]
METHODS = [
    *DICT_METHODS,
    *("parameters", "update", "state", "training", "apply", "eval", "train", "children", "modules"),
    *("freeze", "unfreeze", "load_weights", "is_module", "set_dtype", "helper", "mask", "default"),
]


@pytest.mark.parametrize("value", [mx.zeros, lambda n: nn.Linear(n, n), lambda n: [n], dict, tuple])
@pytest.mark.parametrize("name", METHODS)
def test_entries_named_like_a_method_are_refused(name, value):
    model = Shadowing()
    value = value() if value in (dict, tuple) else value(2)
    with pytest.raises(AttributeError, match=rf"^\[Shadowing\] '{name}' is a (meth|prop|class)"):
        setattr(model, name, value)
    assert name not in model


def test_names_that_may_be_assigned():
    model = Shadowing()
    model.scale = mx.ones(2)
    assert (model._scale is model.scale, "scale" in model) == (True, False)
    # The property lets the entry through.
    model.late = mx.ones(3)
    assert model.late.shape == (3,)
    # Plain values take the place of a method, as in any class.
    model.helper = 3
    assert model.helper == 3
    model.mro = mx.ones(1)
    assert model.mro.shape == (1,)
    # As an item an entry hides nothing.
    model["values"] = mx.ones(2)
    assert callable(model.values)
    assert set(model.parameters()) == {"late", "mro", "values"}


def test_a_module_is_an_object():
    relu, other = nn.ReLU(), nn.ReLU()
    first, second = linear(), linear()
    assert bool(relu)
    assert relu == copy.copy([relu])[0]
    assert relu != other
    assert nn.Dropout(0.1) != nn.Dropout(0.5)
    empty = {}
    assert (relu == {}, empty == relu, relu != {}, relu == 3) == (False, False, True, False)
    assert {first, second, first} == {second, first}
    assert {first: 1}[first] == 1
    layers = [first, relu, second]
    assert (second in layers, linear() in layers) == (True, False)
    assert layers.index(second) == 2
    layers.remove(second)
    assert len(layers) == 2
    assert layers.count(relu) == 1
    assert isinstance(first, dict)
    assert ("weight" in first, first in first) == (True, False)
    assert len(first) == 2
    assert weakref.ref(first)() is first
    assert relu not in (other, None)
    for twin in (copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        assert twin != first
        assert hash(twin) != hash(first)
        assert paths(twin.parameters()) == WEIGHTS
    holder = Held([relu])
    holder.table = {relu: 1}
    relus = copy.deepcopy([relu, {relu: 1}])
    assert relus[0] in relus[1]
    relus = pickle.loads(pickle.dumps([relu, {relu}, {relu: 1}]))
    assert relus[0] in relus[1]
    assert relus[0] in relus[2]
    Held([relu]).update(Held([nn.ReLU()]))


@dataclasses.dataclass
class Record:
    x: object = None


class Custom:
    def __init__(self, x):
        self.x = x


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


HOLDERS = {
    "set": lambda x: {x},
    "frozenset": lambda x: frozenset([x]),
    "deque": lambda x: collections.deque([x]),
    "values": lambda x: {"a": x}.values(),
    "mapping": lambda x: types.MappingProxyType({"a": x}),
    "dataclass": Record,
    "object": Custom,
    "slots": Slotted,
    "namespace": lambda x: types.SimpleNamespace(x=x),
    "user list": lambda x: collections.UserList([x]),
    "user dict": lambda x: collections.UserDict(a=x),
    "partial": lambda x: functools.partial(abs, x),
    "set in an object": lambda x: Custom([{"a": {1, x}}]),
    "object in a list": lambda x: [1, Custom(x)],
}


@pytest.mark.parametrize("kind", ["modules", "arrays"])
@pytest.mark.parametrize("name", HOLDERS)
def test_what_holds_arrays_or_modules_warns_once(name, kind):
    if kind == "arrays" and "set" in name.split(" ")[0]:
        held = HOLDERS[name](Custom(mx.ones(2)))
    else:
        held = HOLDERS[name](linear() if kind == "modules" else mx.ones(2))
    model = nn.Module()
    place = "parts.1" if name == "object in a list" else "parts"
    with pytest.warns(
        UserWarning, match=rf"^\[Module\] {place}: got a \w+ that holds {kind}, "
    ) as found:
        model.parts = held
    assert (len(found), found[0].filename) == (1, __file__)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.parts = held
        if name not in ("values", "mapping"):
            copy.deepcopy(model)
        nn.Module()._parts = held


def test_what_holds_nothing_of_its_own_does_not_warn():
    class Trainer:
        def __init__(self, model):
            self.model = model

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Held([linear()])
        model.trainer = Trainer(model)
        model.by_name = types.SimpleNamespace(first=model.layers[0], weight=model.layers[0].weight)
        model.forward = model.layers[0].__call__
        model.activation = nn.gelu
        model.partial = functools.partial(nn.leaky_relu, negative_slope=0.1)
        model.kind = nn.Linear
        model.optimizer = optimizers.Adam(0.1)
        model.numbers = {1, 2.5, "a", None}
        model.settings = Record(3)
        model.dtype = mx.float32
        model.again = types.SimpleNamespace()
        model.again.again = model.again
        model.scalar = np.float32(3)


def test_arrays_of_numpy_warn_once():
    model = linear()
    with pytest.warns(UserWarning, match=r"^\[Linear\] mask: got a numpy array, which is neither"):
        model.mask = np.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.mask = np.zeros(3)
        pickle.loads(pickle.dumps(model))
    with pytest.warns(UserWarning, match=r"^\[Linear\] other: got a numpy array"):
        model.other = np.zeros(3)


KEYS = {
    "dots": {"a.b": 1, "c": 2},
    "dots beside dicts": {"a.b": 1, "a": {"c": 2}},
    "only dots": {"a.b.c": 1, "a.b.d": 2},
    "numbers": {0: 1, 1: 2},
    "numbers with gaps": {7: 1, 2: 2},
    "texts of numbers": {"0": 1, "1": 2},
    "leading zeros": {"01": 1, "1": 2},
    "negative": {"-1": 1, "0": 2},
    "mixed": {0: 1, "x": 2, 2.5: 3},
    "dots in dots": {"a.b": {"c.d": 1}, "a": {"x.y": 2}},
}


def with_arrays(tree):
    return tree_map(lambda n: mx.full((2,), float(n)), tree)


@pytest.mark.parametrize("ending", ["safetensors", "npz"])
@pytest.mark.parametrize("name", KEYS)
def test_keys_go_through_files(name, ending, tmp_path):
    model = Held(with_arrays(KEYS[name]))
    file = str(tmp_path / f"weights.{ending}")
    model.save_weights(file)
    twin = Held(tree_map(mx.zeros_like, model.layers))
    twin.load_weights(file)
    assert tree_map(lambda x: x[0].item(), twin.layers) == KEYS[name]
    twin = Held(tree_map(mx.zeros_like, model.layers))
    twin.update(tree_unflatten(tree_flatten(model.parameters())))
    assert tree_map(lambda x: x[0].item(), twin.layers) == KEYS[name]


@pytest.mark.parametrize("name", KEYS)
def test_states_of_optimizers_go_through_files(name, tmp_path):
    model = Held(with_arrays(KEYS[name]))
    gradients = tree_map(mx.ones_like, model.parameters())
    first = optimizers.Adam(0.1)
    first.update(model, gradients)
    file = str(tmp_path / "state.safetensors")
    mx.save_safetensors(file, dict(tree_flatten(first.state)))
    second = optimizers.Adam(0.1)
    second.state = tree_unflatten(list(mx.load(file).items()))
    new = [o.apply_gradients(gradients, model) for o in (first, second)]
    pairs = zip(tree_flatten(new[0]), tree_flatten(new[1]), strict=True)
    assert all(mx.array_equal(a, b) for (_, a), (_, b) in pairs)


@pytest.mark.parametrize("keys", [{"a.b": 1, "a": {"b": 2}}, {0: 1, "0": 2}, {"a": [1], "a.0": 2}])
def test_equal_paths_are_refused(keys, tmp_path):
    model = Held(with_arrays(keys))
    model.update(tree_map(lambda x: 2 * x, model.parameters()))
    doubled = tree_map(lambda n: 2.0 * n, keys)
    assert tree_map(lambda x: x[0].item(), model.layers) == doubled
    for name in ("weights.npz", "weights.safetensors"):
        with pytest.raises(ValueError, match=r"^\[save_weights\] two parameters have the path '"):
            model.save_weights(str(tmp_path / name))
        assert not (tmp_path / name).exists()
    with pytest.raises(ValueError, match=r"^\[load_weights\] two parameters have the path '"):
        model.load_weights([("layers.a.b", mx.zeros(2))])


def test_a_parameter_with_the_name_of_an_argument(tmp_path):
    model = nn.Module()
    model.file = mx.ones(2)
    with pytest.raises(
        ValueError, match=r"^\[save_weights\] parameter name 'file' clashes with an argument of"
    ):
        model.save_weights(str(tmp_path / "weights.npz"))
    model.save_weights(str(tmp_path / "weights.safetensors"))
    twin = nn.Module()
    twin.file = mx.zeros(2)
    assert twin.load_weights(str(tmp_path / "weights.safetensors")).file.tolist() == [1.0, 1.0]


def test_loading_checks_arrays_and_changes_nothing():
    model = Held((mx.ones(2), mx.ones(3)))
    before = model.layers
    for strict in (True, False):
        with pytest.raises(ValueError, match=r"^\[load_weights\] layers\.1: got int, expected an"):
            model.load_weights([("layers.0", mx.zeros(2)), ("layers.1", 3)], strict=strict)
        assert model.layers is before
    model.load_weights([("layers.1", mx.zeros(5)), ("nope", 3)], strict=False)
    assert model.layers[1].shape == (5,)


@pytest.mark.parametrize("module", [nn, nn.losses, nn.init, optimizers], ids=lambda m: m.__name__)
def test_public_functions_pickle_as_names(module):
    functions = [getattr(module, name) for name in dir(module)]
    functions = [f for f in functions if isinstance(f, types.FunctionType)]
    assert functions
    for function in functions:
        if not function.__name__.startswith("_"):
            assert pickle.loads(pickle.dumps(function)) is function


def test_sequential_of_functions_pickles():
    model = nn.Sequential(nn.Linear(2, 3), nn.relu)
    loaded = pickle.loads(pickle.dumps(model))
    x = mx.array([[1.0, -2.0]])
    assert mx.array_equal(loaded(x), model(x))
