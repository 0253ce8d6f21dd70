"""Averages of parameters: exponential and equal weights, swapping, saving, compiled steps."""

import numpy as np
import pytest
import umber.core as mx
from umber import nn, optimizers
from umber.utils import tree_flatten, tree_unflatten

OPTIONS = [(decay, True) for decay in (0.0, 0.5, 0.99, 0.9999, 1.0)] + [(0.0, False), (0.9, False)]


def average(history, decay, bias_correction):
    """Of the parameters after each update, beginning with those at the start, by its definition."""
    if not bias_correction:
        mean = history[0]
        for w in history[1:]:
            mean = decay * mean + (1 - decay) * w
        return mean
    weights = decay ** np.arange(len(history) - 1)[::-1].astype(np.float64)
    return np.tensordot(weights / weights.sum(), np.stack(history[1:]), 1)


@pytest.mark.parametrize("dtype", [mx.float32, mx.float64])
@pytest.mark.parametrize(("decay", "bias_correction"), OPTIONS)
def test_averages(rng, decay, bias_correction, dtype):
    history = rng.normal(size=(9, 2, 3)) + 5
    ema = optimizers.EMA({"a": [{}, mx.array(history[0], dtype)]}, decay, bias_correction)
    assert mx.array_equal(ema.average["a"][1], mx.array(history[0], dtype))
    for t, w in enumerate(history[1:], 1):
        ema.update({"a": [{}, mx.array(w, dtype)], "b": 3})
        got = ema.average["a"][1]
        assert got.dtype == dtype
        expected = average(history[: t + 1], decay, bias_correction)
        rtol = 1e-6 if dtype == mx.float32 else 1e-13
        np.testing.assert_allclose(np.array(got), expected, rtol=rtol)
    assert ema.state["step"].item() == 8


def test_small_changes_of_half_precision_are_kept():
    ema = optimizers.EMA({"w": mx.ones(2, mx.bfloat16)}, 0.999, bias_correction=False)
    for _ in range(100):
        ema.update({"w": mx.full(2, 1.0078125, mx.bfloat16)})
    assert ema.average["w"].dtype == mx.float32
    expected = 1 + 0.0078125 * (1 - 0.999**100)
    np.testing.assert_allclose(np.array(ema.average["w"]), [expected] * 2, rtol=1e-6)


def test_integers_are_the_latest():
    ema = optimizers.EMA({"n": mx.array([1, 2]), "w": mx.zeros(())}, 0.9)
    ema.update({"n": mx.array([5, 6]), "w": mx.ones(())})
    assert ema.average["n"].tolist() == [5, 6]
    assert ema.average["n"].dtype == mx.int32


def test_one_array_is_a_tree():
    ema = optimizers.EMA(mx.zeros(2), 1.0)
    for value in (1.0, 2.0, 6.0):
        ema.update(mx.full((2,), value))
    assert ema.average.tolist() == [3, 3]


def test_the_average_is_a_copy():
    w = mx.zeros(2)
    ema = optimizers.EMA({"w": w}, 0.5)
    w += 7
    assert ema.average["w"].tolist() == [0, 0]
    n = mx.array([1])
    ema = optimizers.EMA({"n": n})
    ema.update({"n": n})
    n += 1
    assert ema.average["n"].tolist() == [1]


def network(dtype=mx.float32):
    mx.random.seed(1)
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm(3), nn.Linear(3, 1))
    model.set_dtype(dtype)
    return model


def same(tree, other):
    pairs = [*zip(tree_flatten(tree), tree_flatten(other), strict=True)]
    return all(p == q and x is y for (p, x), (q, y) in pairs)


@pytest.mark.parametrize("dtype", [mx.float16, mx.float32])
def test_a_model_has_the_averages_for_a_while(dtype):
    model = network(dtype)
    ema = optimizers.EMA(model, 0.5)
    first = np.array(model.layers[0].weight)
    for _ in range(2):
        model.layers[0].weight = model.layers[0].weight + 1
        ema.update(model)
    own = model.parameters()
    with ema.swapped(model) as swapped:
        assert swapped is model
        assert model.layers[0].weight.dtype == dtype
        # The weights of the two are 1/3 and 2/3.
        tolerance = 1e-6 if dtype == mx.float32 else 2e-3
        np.testing.assert_allclose(
            np.array(model.layers[0].weight), first + 5 / 3, atol=3 * tolerance
        )
        assert {path for path, _ in tree_flatten(ema.average)} == {
            path for path, _ in tree_flatten(model.parameters())
        }
    assert same(model.parameters(), own)
    with pytest.raises(RuntimeError, match=r"^inside$"), ema.swapped(model):
        raise RuntimeError("inside")
    assert same(model.parameters(), own)
    model.update(ema.average)
    assert model.layers[0].weight is ema.average["layers"][0]["weight"]


def test_a_part_of_a_model():
    model = network()
    model.layers[0].freeze()
    ema = optimizers.EMA(model.trainable_parameters(), 0.9)
    ema.update(model)
    assert not any("layers.0" in path for path, _ in tree_flatten(ema.average))
    frozen = model.layers[0].weight
    with ema.swapped(model):
        assert model.layers[0].weight is frozen
        assert model.layers[2].weight is not None
    with pytest.raises(TypeError, match=r"^\[EMA\] got NoneType as a, expected an array"):
        optimizers.EMA({"a": None})


def train(compiled, calls, ema, model, optimizer):
    x = mx.random.normal((16, 2), key=mx.random.key(3))
    loss_and_grad = nn.value_and_grad(model, lambda x: mx.square(model(x) - 1).mean())
    state = [model.state, optimizer.state, ema.state]

    def step(x):
        loss, gradients = loss_and_grad(x)
        optimizer.update(model, gradients)
        ema.update(model)
        return loss

    if compiled:
        step = mx.compile(step, inputs=state, outputs=state)
    for _ in range(calls):
        mx.eval(step(x), state)


@pytest.mark.parametrize("decay", [0.9, 1.0])
def test_compiled_steps(decay):
    averages = []
    for compiled in (False, True):
        model = network()
        ema = optimizers.EMA(model, decay)
        train(compiled, 6, ema, model, optimizers.Adam(0.1))
        assert ema.state["step"].item() == 6
        averages.append(tree_flatten(ema.average))
    for (path, x), (_, y) in zip(*averages, strict=True):
        np.testing.assert_allclose(np.array(y), np.array(x), rtol=1e-4, atol=1e-6, err_msg=path)


def test_a_saved_state_continues(tmp_path):
    history = [mx.full((2,), value) for value in (1.0, 2.0, 4.0, 7.0)]
    first = optimizers.EMA({"layers": [{"w": history[0]}]}, 0.5)
    for w in history[:2]:
        first.update({"layers": [{"w": w}]})
    path = str(tmp_path / "ema.safetensors")
    mx.save_safetensors(path, dict(tree_flatten(first.state)))
    second = optimizers.EMA({"layers": [{"w": mx.zeros(2)}]}, 0.5)
    second.state = tree_unflatten(mx.load(path))
    for w in history[2:]:
        for ema in (first, second):
            ema.update({"layers": [{"w": w}]})
        assert second.average["layers"][0]["w"].tolist() == first.average["layers"][0]["w"].tolist()


@pytest.mark.parametrize("state", [3, {}, {"step": mx.array(0)}])
def test_states_that_lack_something(state):
    ema = optimizers.EMA(mx.ones(1))
    with pytest.raises(ValueError, match=r"^\[EMA\] state: got \w+ without .*average"):
        ema.state = state
    assert ema.average.tolist() == [1]


def test_wrong_arguments_change_nothing():
    for decay in (-0.1, 1.5, float("nan")):
        with pytest.raises(
            ValueError, match=r"^\[EMA\] got decay .*, expected a number from 0 to 1"
        ):
            optimizers.EMA({}, decay)
    with pytest.raises(ValueError, match=r"^\[EMA\] decay 1 without bias_correction never"):
        optimizers.EMA({}, 1, bias_correction=False)
    ema = optimizers.EMA({"a": mx.ones(2), "b": mx.ones(3)})
    for tree in ({"a": mx.ones(2), "b": mx.ones(1)}, {"a": mx.ones(2)}, 3, None):
        with pytest.raises((ValueError, KeyError, TypeError), match=r"\[\w+\] "):
            ema.update(tree)
    assert ema.state["step"].item() == 0
    assert ema.average["a"].tolist() == [1, 1]
    with (
        pytest.raises((ValueError, KeyError, TypeError), match=r"\[\w+\] "),
        ema.swapped(nn.Linear(2, 1)),
    ):
        pass
