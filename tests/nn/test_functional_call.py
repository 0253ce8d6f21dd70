"""`nn.functional_call`: a module as a function of its parameters."""

import numpy as np
import pytest
import umber.core as mx
from umber import nn
from umber.utils import tree_flatten, tree_map


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(3, 4), (nn.Linear(4, 2), nn.Tanh())]
        self.scales = (mx.ones(2), mx.zeros(2))

    def __call__(self, x, power=1):
        x = self.layers[0](x)
        for layer in self.layers[1]:
            x = layer(x)
        return (x * self.scales[0] + self.scales[1]) ** power


def arrays(model):
    return dict(tree_flatten(model))


def assert_unchanged(model, before):
    after = arrays(model)
    assert after.keys() == before.keys()
    assert all(after[path] is before[path] for path in before)


X = mx.array([[0.5, -1.0, 2.0], [1.0, 0.0, -0.5]])


@pytest.mark.parametrize("is_flat", [False, True])
def test_it_is_the_call_of_a_module_with_these_parameters(is_flat):
    model, other = Net(), Net()
    before = arrays(model)
    parameters = other.parameters()
    if is_flat:
        parameters = tree_flatten(parameters, destination={})
    got = nn.functional_call(model, parameters, X, power=2)
    assert mx.array_equal(got, other(X, power=2))
    assert_unchanged(model, before)


def test_absent_parameters_are_its_own():
    model, twin = Net(), Net()
    twin.update(model.parameters())
    twin.update({"layers": [{}, [{"bias": mx.ones(2)}]]})
    before = arrays(model)
    for given in ({"layers.1.0.bias": mx.ones(2)}, {"layers": [{}, [{"bias": mx.ones(2)}]]}):
        assert mx.array_equal(nn.functional_call(model, given, X), twin(X))
    assert mx.array_equal(nn.functional_call(model, {}, X), model(X))
    assert_unchanged(model, before)


def test_a_flat_dict_of_trees():
    model, other = Net(), Net()
    given = {"layers.0": other.layers[0].parameters(), "scales.0": mx.zeros(2)}
    y = nn.functional_call(model, given, X)
    assert y.tolist() == [[0.0, 0.0]] * 2


def test_gradients():
    model = Net()

    def loss(parameters):
        return nn.functional_call(model, parameters, X).sum()

    before = arrays(model)
    got = mx.grad(loss)(model.parameters())
    _, expected = nn.value_and_grad(model, lambda: model(X).sum())()
    for (path, a), (_, b) in zip(tree_flatten(got), tree_flatten(expected), strict=True):
        np.testing.assert_allclose(np.array(a), np.array(b), rtol=1e-6, err_msg=path)
    flat = mx.grad(loss)(tree_flatten(model.parameters(), destination={}))
    assert mx.array_equal(flat["layers.0.weight"], got["layers"][0]["weight"])
    tangents = tree_map(mx.ones_like, model.parameters())
    _, (jvp,) = mx.jvp(loss, [model.parameters()], [tangents])
    slope = sum(g.sum().item() for _, g in tree_flatten(got))
    np.testing.assert_allclose(jvp.item(), slope, rtol=1e-5)
    assert_unchanged(model, before)


def test_an_ensemble_by_vmap():
    models = [Net() for _ in range(3)]
    stacked = tree_map(lambda *leaves: mx.stack(leaves), *[m.parameters() for m in models])
    base = Net()
    before = arrays(base)
    call = mx.vmap(lambda p, x: nn.functional_call(base, p, x), in_axes=(0, None))
    expected = np.stack([np.array(model(X)) for model in models])
    np.testing.assert_allclose(np.array(call(stacked, X)), expected, rtol=1e-5)
    np.testing.assert_allclose(np.array(mx.compile(call)(stacked, X)), expected, rtol=1e-5)
    gradients = mx.grad(lambda p: call(p, X).sum())(stacked)
    for i, model in enumerate(models):
        _, own = nn.value_and_grad(model, lambda model=model: model(X).sum())()
        np.testing.assert_allclose(
            np.array(gradients["layers"][0]["weight"][i]),
            np.array(own["layers"][0]["weight"]),
            rtol=1e-5,
        )
    assert_unchanged(base, before)


def test_compiled():
    model, other = Net(), Net()
    before = arrays(model)
    call = mx.compile(lambda p, x: nn.functional_call(model, p, x))
    for parameters in (other.parameters(), model.parameters()):
        want = nn.functional_call(model, parameters, X)
        np.testing.assert_allclose(np.array(call(parameters, X)), np.array(want), rtol=1e-6)
    assert_unchanged(model, before)


class Recursive(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = mx.array(1.0)

    def __call__(self, depth):
        if depth == 0:
            return self.w
        before = self.w
        inner = nn.functional_call(self, {"w": self.w * 10}, depth - 1)
        assert self.w is before
        return self.w + inner


def test_nested_calls():
    model = Recursive()
    own = model.w
    assert nn.functional_call(model, {"w": mx.array(2.0)}, 2).item() == 222.0
    assert model.w is own


class Careless(nn.Module):
    """Replaces and deletes its parameters, or raises."""

    def __init__(self, act):
        super().__init__()
        self.w = mx.ones(2)
        self.pair = (mx.ones(1), [mx.zeros(1)])
        self.inner = nn.Linear(2, 2)
        self.act = act

    def __call__(self):
        self.act(self)
        return self.w if "w" in self else None


def replace(model):
    model.w = mx.zeros(2)
    model.pair = (mx.zeros(1), [mx.ones(1)])
    model.inner.weight = mx.zeros((2, 2))


def delete(model):
    del model.w
    del model.pair
    del model.inner.bias


def fail(model):
    replace(model)
    raise ZeroDivisionError("mine")


@pytest.mark.parametrize("act", [replace, delete, fail])
def test_the_module_is_restored(act):
    model = Careless(act)
    before = arrays(model)
    other = Careless(act).parameters()
    try:
        nn.functional_call(model, other)
    except ZeroDivisionError:
        assert act is fail
    assert arrays(model).keys() == before.keys()
    assert_unchanged(model, before)


def test_an_overridden_update_is_called_and_undone():
    class Derived(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = mx.ones(2)
            self._doubled = 2 * self.w

        def update(self, parameters, strict=True):
            super().update(parameters, strict)
            self._doubled = 2 * self.w
            return self

        def __call__(self):
            return self._doubled

    model = Derived()
    before = arrays(model)
    assert nn.functional_call(model, {"w": mx.full((2,), 4.0)}).tolist() == [8.0, 8.0]
    assert_unchanged(model, before)


def test_running_averages():
    model = nn.BatchNorm(3)
    parameters = model.parameters()
    before = arrays(model)
    nn.functional_call(model, parameters, X)
    assert_unchanged(model, before)
    nn.functional_call(model, model.trainable_parameters(), X)
    assert model.running_mean is not before["running_mean"]
    assert model.weight is before["weight"]


def test_modules_with_several_paths():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(2, 2, bias=False)
            self.second = self.first

        def __call__(self, x):
            return self.second(self.first(x))

    model = Shared()
    own = model.first.weight
    for path in ("first.weight", "second.weight"):
        y = nn.functional_call(model, {path: 2 * mx.eye(2)}, mx.ones((1, 2)))
        assert y.tolist() == [[4.0, 4.0]]
        assert model.first.weight is own


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda m: nn.functional_call(lambda x: x, {}, X),
            TypeError,
            r"^\[functional_call\] got function and dict, expected a Module and a dict",
        ),
        (
            lambda m: nn.functional_call(m, [mx.ones(1)], X),
            TypeError,
            r"^\[functional_call\] got Net and list, expected a Module and a dict",
        ),
        (
            lambda m: nn.functional_call(m, {"layers.0.wight": mx.ones(1)}, X),
            ValueError,
            r"layers\.0\.wight does not exist in the module",
        ),
        (
            lambda m: nn.functional_call(m, {"layers.0.weight": 3}, X),
            ValueError,
            r"layers\.0\.weight: cannot replace array with int",
        ),
        (
            lambda m: nn.functional_call(m, {"layers.0.weight": mx.ones((4, 9))}, X),
            ValueError,
            r"^\[Linear\] ",
        ),
        (lambda m: nn.functional_call(m, {}, X, nope=1), TypeError, "nope"),
    ],
)
def test_wrong_calls_change_nothing(call, error, message):
    model = Net()
    before = arrays(model)
    with pytest.raises(error, match=message):
        call(model)
    assert_unchanged(model, before)


def test_errors_name_the_function():
    model = nn.Sequential(nn.Linear(2, 3))
    x = mx.ones((1, 2))
    for parameters, text in [
        ({"scale": mx.ones(2)}, "scale does not exist in the module (value of type array)"),
        ({"layers.0.scale": mx.ones(2)}, "layers.0.scale does not exist in the module"),
        ({"layers": [{"scale": mx.ones(2)}]}, "layers.0.scale does not exist in the module"),
        ({"layers": mx.ones(2)}, "layers: cannot replace list with array"),
        ({"layers": [{"weight": "x"}]}, "layers.0.weight: cannot replace array with str"),
    ]:
        with pytest.raises(ValueError, match=r"^\[functional_call\] ") as caught:
            nn.functional_call(model, parameters, x)
        assert text in str(caught.value)
    with pytest.raises(ValueError, match=r"^\[Module\.update\] scale does not exist"):
        model.update({"scale": mx.ones(2)})
