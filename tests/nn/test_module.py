"""`umber.nn.Module`, the containers and `value_and_grad`: the contract that models build on."""

import copy
import io
import pickle
import typing

import numpy as np
import pytest
import umber.core as mx
from umber import nn
from umber.mlx.distributed import Group
from umber.utils import tree_flatten


class Model(nn.Module):
    """All that a module may hold."""

    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(2, 3), nn.ReLU(), [mx.ones((5,))]]
        self.named = {"x": nn.Linear(3, 1, bias=False), "n": 3}
        self.scale = mx.ones((2,))
        self._hidden = mx.zeros((4,))
        self.head = nn.Linear(1, 1)
        self.text = "text"
        self.function = abs
        self.pair = (mx.zeros((1,)), nn.Linear(1, 1))


def shapes(tree):
    return {path: leaf.shape for path, leaf in tree_flatten(tree)}


PARAMETERS = {
    "layers.0.weight": (3, 2),
    "layers.0.bias": (3,),
    "layers.2.0": (5,),
    "named.x.weight": (1, 3),
    "scale": (2,),
    "head.weight": (1, 1),
    "head.bias": (1,),
    "pair.0": (1,),
    "pair.1.weight": (1, 1),
    "pair.1.bias": (1,),
}


def test_parameters_are_the_arrays_whose_names_have_no_underscore():
    model = Model()
    assert shapes(model.parameters()) == PARAMETERS
    assert shapes(model.trainable_parameters()) == PARAMETERS
    assert model.parameters()["layers"][1] == {}
    assert model.parameters()["named"]["n"] == {}


def test_attributes_are_entries_if_they_are_trees_of_arrays():
    model = Model()
    assert list(model) == ["layers", "named", "scale", "_hidden", "head", "pair"]
    assert model.scale is model["scale"]
    assert (model.text, model.function) == ("text", abs)
    assert model.state is model


def test_attributes_change_between_entry_and_plain():
    model = Model()
    model.scale = "none"
    assert "scale" not in model
    assert model.scale == "none"
    model.scale = mx.zeros((1,))
    assert model.scale.shape == (1,)
    del model.scale
    assert not hasattr(model, "scale")


@pytest.mark.parametrize("access", [getattr, delattr])
def test_missing_attributes(access):
    with pytest.raises(AttributeError, match="'Model' object has no attribute 'nope'"):
        access(Model(), "nope")


def test_repr_lists_the_children():
    assert repr(Model()) == (
        "Model(\n"
        "  (layers.0): Linear(input_dims=2, output_dims=3, bias=True)\n"
        "  (layers.1): ReLU()\n"
        "  (named.x): Linear(input_dims=3, output_dims=1, bias=False)\n"
        "  (head): Linear(input_dims=1, output_dims=1, bias=True)\n"
        "  (pair.1): Linear(input_dims=1, output_dims=1, bias=True)\n"
        ")"
    )
    nested = nn.Sequential(nn.Sequential(nn.Tanh()))
    assert repr(nested) == "Sequential(\n  (layers.0): Sequential(\n    (layers.0): Tanh()\n  )\n)"


def test_children_and_modules():
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU()))
    assert model.children() == {"layers": [model.layers[0], model.layers[1]]}
    assert dict(model.named_modules()).keys() == {"", "layers.0", "layers.1", "layers.1.layers.0"}
    assert [module is model for module in model.modules()].count(True) == 1
    leaves = model.leaf_modules()
    assert leaves["layers"][0] is model.layers[0]
    assert leaves["layers"][1] == {"layers": [model.layers[1].layers[0]]}


def test_filter_and_map_calls_the_filter_with_paths():
    seen = []

    def keep(module, key, value):
        seen.append((type(module).__name__, key))
        return nn.Module.valid_parameter_filter(module, key, value)

    mapped = Model().filter_and_map(keep, lambda x: x.ndim)
    assert mapped["layers"] == [{"weight": 2, "bias": 1}, {}, [1]]
    assert ("Model", "layers.2.0") in seen
    assert ("Linear", "weight") in seen
    with pytest.raises(RuntimeError, match=r"^\[filter_and_map\] weight: got array, expected a"):
        nn.Linear(1, 1).filter_and_map(
            nn.Module.valid_parameter_filter, is_leaf_fn=lambda *_: False
        )


def test_update_replaces_a_part():
    model = Model()
    head, bias = model.head.weight, model.head.bias
    new = mx.full((1, 1), 7.0)
    assert model.update({"head": {"weight": new}, "layers": [{}, {}, [mx.zeros((5,))]]}) is model
    assert model.head.weight is new
    assert model.head.weight is not head
    assert model.head.bias is bias
    assert model.layers[2][0].tolist() == [0.0] * 5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"nope": mx.ones(1)},
            r"\[Module\.update\] nope does not exist in the module \(value of type",
        ),
        (
            {"head": {"nope": mx.ones(1)}},
            r"\[Module\.update\] head\.nope does not exist in the module \(value of",
        ),
        ({"head": mx.ones(1)}, r"\[Module\.update\] head: cannot replace Linear with array"),
        ({"scale": 5}, r"\[Module\.update\] scale: cannot replace array with int"),
        ({"scale": {"a": mx.ones(1)}}, r"\[Module\.update\] scale: cannot replace array with dict"),
        (
            {"layers": [{}, {}, {}, mx.ones(1)]},
            r"\[Module\.update\] layers\.3 does not exist in the module \(value of",
        ),
        (
            {"layers": [{}] * 4},
            r"\[Module\.update\] layers\.3 does not exist in the module \(value of",
        ),
        (
            {"layers": {"a": mx.ones(1)}},
            r"\[Module\.update\] layers: cannot replace list with dict",
        ),
        ([mx.ones(1)], r"\[Module\.update\] 0 does not exist in the module \(value of type"),
    ],
)
def test_update_refuses_what_has_no_place(parameters, message):
    model = Model()
    before = dict(tree_flatten(model))
    broken = {"scale": mx.zeros((2,)), **parameters} if isinstance(parameters, dict) else parameters
    with pytest.raises(ValueError, match=r"^\[Module\.update\]") as error:
        model.update(broken)
    assert error.match(message)
    assert all(value is before[path] for path, value in tree_flatten(model))
    model.update(parameters, strict=False)
    assert all(value is before[path] for path, value in tree_flatten(model))


def test_update_wants_a_tree():
    with pytest.raises(TypeError, match=r"^\[Module\.update\] got int, expected a tree"):
        Model().update(5)


def test_update_with_the_flat_list_of_a_dict_with_number_keys():
    model = nn.Module()
    model.experts = {"0": nn.Linear(1, 1), "1": nn.Linear(1, 1)}
    model.load_weights([("experts.1.bias", mx.full((1,), 3.0))], strict=False)
    assert model.experts["1"].bias.item() == 3.0


def test_update_modules():
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    tanh = nn.Tanh()
    assert model.update_modules({"layers": [{}, tanh]}) is model
    assert model.layers[1] is tanh
    for modules in ({"nope": tanh}, {"layers": [mx.ones(1)]}, {"layers": tanh}):
        with pytest.raises(ValueError, match=r"^\[update_modules\]"):
            model.update_modules(modules)
        model.update_modules(modules, strict=False)
    assert repr(model).count("Linear") == 1


def test_apply_and_set_dtype():
    model = nn.Linear(2, 2)
    model.index = mx.arange(3)
    assert model.apply(lambda x: x + 1, lambda m, k, v: k == "index") is model
    assert model.index.tolist() == [1, 2, 3]
    model.set_dtype(mx.float16)
    assert (model.weight.dtype, model.index.dtype) == (mx.float16, mx.arange(3).dtype)
    model.set_dtype(mx.float32, predicate=None)
    assert (model.weight.dtype, model.index.dtype) == (mx.float32, mx.float32)


def test_freeze_and_unfreeze():
    model = Model()
    assert model.freeze() is model
    assert shapes(model.trainable_parameters()) == {}
    assert shapes(model.parameters()) == PARAMETERS
    model.unfreeze(keys="weight")
    assert set(shapes(model.trainable_parameters())) == {
        "layers.0.weight",
        "named.x.weight",
        "head.weight",
        "pair.1.weight",
    }
    model.unfreeze()
    model.freeze(recurse=False)
    assert set(shapes(model.trainable_parameters())) == {
        path for path in PARAMETERS if path not in ("scale", "layers.2.0", "pair.0")
    }
    model.unfreeze(recurse=False)
    model.freeze(keys=["bias", "scale"])
    assert not {"scale", "head.bias"} & set(shapes(model.trainable_parameters()))


def test_strict_freeze_wants_a_module_with_each_key():
    model = Model()
    model.freeze(keys=["weight", "scale"], strict=True)
    assert "head.bias" in shapes(model.trainable_parameters())
    with pytest.raises(
        KeyError, match=r"\[freeze\] got the key 'weight', expected a member of Model"
    ):
        model.freeze(keys="weight", recurse=False, strict=True)


def test_arrays_of_other_libraries_are_no_parameters():
    model = nn.Linear(2, 2)
    with pytest.warns(UserWarning, match=r"^\[Linear\] weight: got a numpy array, which is"):
        model.weight = np.zeros((2, 2))
    assert "weight" not in model
    # Numbers are settings.
    model.eps = np.float32(1e-3)
    model.count = np.int64(3)
    assert set(model.parameters()) == {"bias"}


@pytest.mark.parametrize("recurse", [True, False])
@pytest.mark.parametrize("method", ["freeze", "unfreeze"])
def test_strict_freeze_wants_the_keys(method, recurse):
    model = Model()
    with pytest.raises(KeyError, match="got the key 'nope', expected a member"):
        getattr(model, method)(keys="nope", recurse=recurse, strict=True)
    assert shapes(model.trainable_parameters()) == PARAMETERS


def test_train_and_eval_reach_all_modules():
    model = Model()
    assert model.training
    assert model.eval() is model
    assert not any(module.training for module in model.modules())
    model.train()
    assert all(module.training for module in model.modules())


def test_apply_to_modules_gives_paths():
    paths = []
    model = nn.Sequential(nn.ReLU(), nn.Linear(1, 1))
    model.apply_to_modules(lambda path, module: paths.append((path, type(module).__name__)))
    assert sorted(paths) == [("", "Sequential"), ("layers.0", "ReLU"), ("layers.1", "Linear")]


def network():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


@pytest.mark.parametrize("as_path", [str, lambda path: path])
def test_weights_go_through_a_file(tmp_path, as_path):
    file = as_path(tmp_path / "weights.safetensors")
    saved, loaded = network(), network()
    saved.save_weights(file)
    assert loaded.load_weights(file) is loaded
    for (path, value), (_, expected) in zip(
        tree_flatten(loaded.parameters()), tree_flatten(saved.parameters()), strict=True
    ):
        np.testing.assert_array_equal(np.array(value), np.array(expected), err_msg=path)


def test_weights_go_through_npz(tmp_path):
    saved, loaded = network(), network()
    saved.save_weights(tmp_path / "weights.npz")
    loaded.load_weights(tmp_path / "weights.npz")
    for (_, value), (_, expected) in zip(
        tree_flatten(loaded.parameters()), tree_flatten(saved.parameters()), strict=True
    ):
        np.testing.assert_array_equal(np.array(value), np.array(expected))


@pytest.mark.parametrize("opened", [lambda path: io.BytesIO(), lambda path: path.open("w+b")])
def test_weights_go_through_an_open_file(tmp_path, opened):
    saved, loaded = network(), network()
    with opened(tmp_path / "weights") as file:
        saved.save_weights(file)
        file.seek(0)
        assert loaded.load_weights(file) is loaded
    for (_, value), (_, expected) in zip(
        tree_flatten(loaded.parameters()), tree_flatten(saved.parameters()), strict=True
    ):
        np.testing.assert_array_equal(np.array(value), np.array(expected))


def test_weights_of_another_kind_of_file(tmp_path):
    with pytest.raises(ValueError, match=r"^\[save_weights\] got the file .*weights\.bin"):
        network().save_weights(tmp_path / "weights.bin")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w.pop("layers.0.bias"), r"missing parameters of the model \(1\): layers\.0"),
        (
            lambda w: w.update(x=mx.ones(1)),
            r"\[load_weights\] parameters that the model lacks \(1\): x",
        ),
        (lambda w: w.update({"layers.0.bias": mx.ones(9)}), r"got the shape \(9,\), expected \(4,"),
        (lambda w: w.update({"layers.0.bias": 5}), r"layers\.0\.bias: got int, expected an array"),
        (
            lambda w: w.update({"layers.999999999999.bias": mx.ones(1)}),
            r"\[load_weights\] parameters that the model lacks \(1\):",
        ),
    ],
)
def test_strict_loading_takes_exactly_the_models_weights(change, message):
    model = network()
    before = dict(tree_flatten(model.parameters()))
    weights = {path: value + 1 for path, value in before.items()}
    change(weights)
    with pytest.raises(ValueError, match=r"^\[load_weights\]") as error:
        model.load_weights(list(weights.items()))
    assert error.match(message)
    assert all(value is before[path] for path, value in tree_flatten(model.parameters()))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (3, "got int, expected a file, pairs"),
        (mx.ones(2), "got array, expected a file, pairs"),
        ([1, 2], "got int as an entry, expected pairs"),
        ([("weight", mx.ones(1), 0)], "got tuple as an entry, expected pairs"),
        ([(mx.ones(1), "weight")], r"got tuple as an entry, expected pairs \(path, array\)"),
    ],
)
def test_loading_what_is_neither_a_file_nor_pairs(weights, message):
    with pytest.raises(TypeError, match=rf"^\[load_weights\] {message}"):
        network().load_weights(weights)


def test_loading_a_file_without_names(tmp_path):
    file = tmp_path / "a.npy"
    mx.save(file, mx.ones((2, 3)))
    for strict in (True, False):
        with pytest.raises(
            ValueError, match=r"^\[load_weights\] .* holds one array of shape \(2, 3\) without a"
        ) as error:
            network().load_weights(file, strict)
        assert error.match(
            r".* holds one array of shape \(2, 3\) without a name, expected named arrays"
        )


def test_loading_a_part():
    model = network()
    bias = mx.full((2,), 9.0)
    model.load_weights(
        [("layers.2.bias", bias), ("layers.999999999999.x", mx.ones(1))], strict=False
    )
    assert model.layers[2].bias is bias
    assert model.load_weights([], strict=False) is model


def test_state_dicts():
    model, twin = network(), network()
    state = model.state_dict()
    assert list(state) == [path for path, _ in tree_flatten(model.parameters())]
    assert all(value is state[path] for path, value in tree_flatten(model.parameters()))
    assert twin.load_state_dict(state) == ([], [])
    assert twin.state_dict().keys() == state.keys()
    assert all(value is state[path] for path, value in twin.state_dict().items())
    model.update({"layers": [{"bias": mx.zeros(4)}]})
    assert state["layers.0.bias"] is twin.layers[0].bias
    assert "running_mean" in nn.BatchNorm(2).state_dict()
    assert nn.ReLU().state_dict() == {}


def test_state_dicts_with_other_paths():
    model = network()
    bias = mx.full((2,), 9.0)
    keys = model.load_state_dict({"layers.2.bias": bias, "x": mx.ones(1)}, strict=False)
    assert keys.missing_keys == ["layers.0.bias", "layers.0.weight", "layers.2.weight"]
    assert keys.unexpected_keys == ["x"]
    assert model.layers[2].bias is bias


@pytest.mark.parametrize(
    ("state", "strict", "error", "message"),
    [
        ({"x": mx.ones(1)}, True, ValueError, r"parameters that the model lacks \(1\): x"),
        ({}, True, ValueError, r"missing parameters of the model \(4\): layers\.0\.bias, la"),
        ({"layers.2.bias": mx.ones(9)}, False, ValueError, r"layers\.2\.bias: got the shape \(9,"),
        ({"layers.2.bias": 3}, False, ValueError, r"layers\.2\.bias: got int, expected an array"),
        ([("layers.2.bias", mx.ones(2))], False, TypeError, "got list, expected a dict of arrays"),
        ({1: mx.ones(2)}, False, TypeError, "got tuple as an entry, expected pairs"),
    ],
)
def test_wrong_state_dicts_change_nothing(state, strict, error, message):
    model = network()
    before = model.state_dict()
    with pytest.raises(error, match=rf"^\[load_state_dict\] {message}"):
        model.load_state_dict(state, strict)
    assert all(value is before[path] for path, value in model.state_dict().items())


def test_modules_are_copied_and_pickled():
    model = network().eval()
    model.layers[0].freeze(keys="bias")
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert repr(twin) == repr(model)
        assert not twin.training
        assert shapes(twin.trainable_parameters()) == shapes(model.trainable_parameters())
        np.testing.assert_array_equal(
            np.array(twin.layers[0].weight), np.array(model.layers[0].weight)
        )
        assert twin.layers[0] is not model.layers[0]


def test_sequential():
    x = mx.array([-1.0, 2.0])
    assert nn.Sequential(nn.ReLU(), lambda x: x + 1)(x).tolist() == [1.0, 3.0]
    assert nn.Sequential()(x) is x


def squared_error(model):
    def loss(x, y, weight=1.0):
        return weight * nn.losses.mse_loss(model(x), y)

    return loss


def test_value_and_grad_gives_the_gradients_of_the_trainable_parameters():
    model = nn.Linear(3, 2)
    x = np.arange(12, dtype=np.float32).reshape(4, 3) / 10
    y = np.ones((4, 2), dtype=np.float32)
    value, gradients = nn.value_and_grad(model, squared_error(model))(
        mx.array(x), mx.array(y), weight=3.0
    )
    w, b = np.array(model.weight), np.array(model.bias)
    error = x @ w.T + b - y
    np.testing.assert_allclose(value.item(), 3 * np.mean(error**2), rtol=1e-5)
    np.testing.assert_allclose(
        np.array(gradients["weight"]), 3 * 2 / error.size * error.T @ x, rtol=1e-4
    )
    np.testing.assert_allclose(
        np.array(gradients["bias"]), 3 * 2 / error.size * error.sum(axis=0), rtol=1e-4
    )


def test_value_and_grad_says_that_the_value_has_the_type_of_the_function():
    hints = typing.get_type_hints(nn.value_and_grad)
    arguments, result = typing.get_args(hints["fn"])
    assert typing.get_args(hints["return"]) == (arguments, tuple[result, typing.Any])


def test_value_and_grad_leaves_frozen_parameters_out_and_the_model_as_it_was():
    model = network()
    model.layers[0].freeze()
    before = dict(tree_flatten(model.parameters()))
    _, gradients = nn.value_and_grad(model, squared_error(model))(mx.ones((1, 3)), mx.ones((1, 2)))
    assert set(shapes(gradients)) == {"layers.2.weight", "layers.2.bias"}
    assert all(value is before[path] for path, value in tree_flatten(model.parameters()))


def test_value_and_grad_restores_the_model_after_an_error():
    model = network()
    before = dict(tree_flatten(model.parameters()))

    def fail(x):
        model(x)
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        nn.value_and_grad(model, fail)(mx.ones((1, 3)))
    assert all(value is before[path] for path, value in tree_flatten(model.parameters()))


def test_value_and_grad_keeps_what_the_function_assigns():
    model = nn.Linear(2, 1)
    model.calls = mx.array(0)
    model.freeze(keys="calls")

    def loss(x):
        model.calls = model.calls + 1
        model.bias = mx.full((1,), 5.0)
        return model(x).sum(), x

    (value, extra), gradients = nn.value_and_grad(model, loss)(mx.ones((1, 2)))
    assert model.calls.item() == 1
    assert model.bias.item() == 5.0
    assert extra.shape == (1, 2)
    np.testing.assert_allclose(value.item(), np.array(model.weight).sum() + 5, rtol=1e-5)
    assert gradients["bias"].item() == 0.0


def test_value_and_grad_of_something_else():
    with pytest.raises(TypeError, match=r"^\[value_and_grad\] got int and"):
        nn.value_and_grad(5, abs)
    with pytest.raises(TypeError, match=r"^\[value_and_grad\] got ReLU and int"):
        nn.value_and_grad(nn.ReLU(), 5)


def test_trees_of_parameters_go_through_grad():
    model = network()

    def loss(parameters, x):
        model.update(parameters)
        return model(x).square().sum()

    gradients = mx.grad(loss)(model.parameters(), mx.ones((2, 3)))
    assert shapes(gradients) == shapes(model.parameters())
    assert all(np.isfinite(np.array(g)).all() for _, g in tree_flatten(gradients))


def test_gradients_of_one_process_are_their_average():
    gradients = {"a": mx.array([1.0, 2.0]), "b": [mx.array(3.0)]}
    assert nn.average_gradients(gradients) is gradients
    assert nn.average_gradients(gradients, Group(), all_reduce_size=0) is gradients

    class Two(Group):
        def size(self):
            return 2

    with pytest.raises(ValueError, match=r"^\[average_gradients\] got a group of 2 processes"):
        nn.average_gradients(gradients, Two())


def test_properties_say_what_they_lack():
    class Model(nn.Module):
        @property
        def width(self):
            return self.missing

    with pytest.raises(AttributeError, match="'Model' object has no attribute 'missing'"):
        Model().width  # noqa: B018


def test_modules_without_init_say_so():
    class Model(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(1, 1)

    for use in (
        lambda m: m.trainable_parameters(),
        lambda m: m.freeze(),
        lambda m: m.training,
        lambda m: nn.value_and_grad(m, lambda: mx.zeros(()))(),
    ):
        with pytest.raises(
            AttributeError,
            match=r"^\[\w+\] module is not initialised: call super\(\)\.__init__\(\)",
        ):
            use(Model())


def test_arrays_of_other_libraries_inside_of_what_is_assigned():
    model = nn.Linear(2, 2)
    with pytest.warns(UserWarning, match=r"^\[Linear\] w\.0: got a numpy array") as found:
        model.w = [np.zeros(2)]
    assert found[0].filename == __file__
    with pytest.warns(UserWarning, match=r"^\[Linear\] d\.a\.1: got a numpy array"):
        model.d = {"a": (1, np.zeros(2))}
    with pytest.warns(UserWarning, match=r"^\[Linear\] b: got a numpy array") as found:
        model["b"] = np.zeros(2)
    assert found[0].filename == __file__
    endless = [1]
    endless.append(endless)
    model.settings = endless


def test_layers_refuse_several_arrays():
    """Arrays of a tuple are not stacked, as they were the outputs of a layer before."""
    x = mx.ones((1, 4, 3))
    for layer in (nn.Linear(3, 2), nn.Conv1d(3, 2, 1), nn.ReLU(), nn.Softmax(), nn.Tanh()):
        with pytest.raises(TypeError):
            nn.Sequential(nn.LSTM(3, 3), layer)(x)
        with pytest.raises(TypeError):
            layer((x, x))
    with pytest.raises(TypeError):
        nn.QuantizedLinear(64, 2)((mx.ones((1, 64)), mx.ones((1, 64))))


def test_bilinear_names_both_inputs():
    with pytest.raises(
        ValueError, match=r"^\[Bilinear\] got inputs of shapes \(2, 2\) and \(2, 4\)"
    ):
        nn.Bilinear(2, 3, 4)(mx.ones((2, 2)), mx.ones((2, 4)))


@pytest.mark.parametrize("keys", [3, [3]])
def test_keys_are_names(keys):
    with pytest.raises(TypeError, match=r"^\[freeze\] keys: got \w+, expected a string or a list"):
        Model().freeze(keys=keys)
