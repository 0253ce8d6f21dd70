"""Modules in exported functions: their state afterwards, and what the export says about it."""

import functools
import warnings

import numpy as np
import pytest
import umber.core as mx
from umber import nn
from umber.utils import tree_flatten

X = mx.array(np.random.default_rng(0).normal(size=(4, 3)), mx.float32)


def normalised():
    return nn.Sequential(nn.Linear(3, 3), nn.BatchNorm(3))


def closure(model):
    return lambda x: model(x) + 1


def of_functions(model):
    def inner(x):
        return model(x)

    def outer(x):
        return inner(x)

    return outer


def global_variable(model):
    global MODEL
    MODEL = model
    return calls_global


def calls_global(x):
    return MODEL(x)


REACHED_BY = {
    "module": lambda model: model,
    "method": lambda model: model.__call__,
    "closure": closure,
    "inner function": of_functions,
    "global": global_variable,
    "partial": lambda model: functools.partial(model),
    "vmapped": lambda model: mx.vmap(lambda x: model(mx.stack([x, -x]))),
    "compiled": mx.compile,
}


@pytest.mark.parametrize("reach", REACHED_BY.values(), ids=REACHED_BY)
@pytest.mark.parametrize("shapeless", [False, True])
def test_a_module_in_training_mode_is_as_before(tmp_path, reach, shapeless):
    model = normalised()
    before = {path: np.array(a) for path, a in tree_flatten(model.parameters())}
    objects = dict(tree_flatten(model.parameters()))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        mx.export_function(str(tmp_path / "f"), reach(model), X, shapeless=shapeless)
    after = dict(tree_flatten(model.parameters()))
    assert after.keys() == before.keys()
    for path, a in after.items():
        assert a is objects[path]
        assert np.array_equal(np.array(a), before[path]), path
    model.save_weights(str(tmp_path / "weights.npz"))
    for warning in found:
        assert "layers.1.running_mean of Sequential" in str(warning.message)
        assert "call model.eval() before the export" in str(warning.message)
    model(X)
    assert not np.array_equal(
        np.array(model.layers[1].running_mean), before["layers.1.running_mean"]
    )


def test_the_export_says_that_state_is_updated(tmp_path):
    model = normalised()
    with pytest.warns(UserWarning, match=r"^\[export_function\] the function updates layers\.1\.r"):
        mx.export_function(str(tmp_path / "f"), model, X)
    with (
        pytest.warns(UserWarning, match=r"^\[export_function\] the function updates layers\.1\.r"),
        mx.exporter(str(tmp_path / "f"), model) as export,
    ):
        export(X)
    with pytest.warns(UserWarning, match=r"^\[export_function\] the function updates"):
        mx.export_function(lambda entry: None, model, X)


def test_the_export_says_that_random_numbers_are_fixed(tmp_path):
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    with pytest.warns(UserWarning, match=r"^\[export_function\] the function draws random numbers"):
        mx.export_function(str(tmp_path / "f"), model, X)


def test_an_evaluated_model_is_exported_silently(tmp_path):
    model = nn.Sequential(normalised(), nn.Dropout(0.5)).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mx.export_function(str(tmp_path / "f"), model, X)
        key = mx.random.key(0)
        mx.export_function(str(tmp_path / "g"), lambda k: mx.random.normal((2,), key=k), key)
    assert mx.allclose(mx.import_function(str(tmp_path / "f"))(X)[0], model(X))


def test_parameters_created_in_the_first_call_remain(tmp_path):
    class Lazy(nn.Module):
        def __call__(self, x):
            if "weight" not in self:
                self.weight = mx.full((x.shape[-1], 2), 3.0)
            return x @ self.weight

    model = Lazy()
    mx.export_function(str(tmp_path / "f"), model, X)
    assert model.weight.tolist() == [[3.0, 3.0]] * 3


def test_a_counter_is_as_before(tmp_path):
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = mx.array(0)

        def __call__(self, x):
            self.calls = self.calls + 1
            return x * 2

    model = Counting()
    with pytest.warns(UserWarning, match="the function updates calls of Counting"):
        mx.export_function(str(tmp_path / "f"), model, X)
    assert model.calls.item() == 0


def test_a_failing_function_leaves_the_module_as_before(tmp_path):
    model = normalised()

    def fails(x):
        raise RuntimeError(f"after {model(x).shape}")

    with pytest.raises(RuntimeError, match="after"):
        mx.export_function(str(tmp_path / "f"), fails, X)
    model.save_weights(str(tmp_path / "weights.npz"))


def test_eval_shape_leaves_modules_as_before():
    model = normalised()
    before = np.array(model.layers[1].running_mean)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mx.eval_shape(model, X).shape == (4, 3)
    assert np.array_equal(np.array(model.layers[1].running_mean), before)
