"""Gradient accumulation: the same updates as with larger batches."""

import numpy as np
import pytest
import umber.core as mx
from umber import nn, optimizers
from umber.utils import tree_flatten, tree_map, tree_unflatten

MAKES = {
    "sgd": lambda: optimizers.SGD(0.1),
    "adam": lambda: optimizers.Adam(optimizers.exponential_decay(0.1, 0.9), bias_correction=True),
    "multi": lambda: optimizers.MultiOptimizer(
        [optimizers.SGD(0.1, momentum=0.9), optimizers.Lion(0.01)],
        [lambda path, x: path.endswith("bias")],
    ),
    "nested": lambda: optimizers.MultiSteps(optimizers.AdamW(0.1), 1),
}


def network(dtype=mx.float32):
    mx.random.seed(2)
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    model.set_dtype(dtype)
    return model


def gradients_of(model, t):
    rng = np.random.default_rng(t)
    return tree_map(
        lambda w: mx.array(rng.normal(size=w.shape)).astype(w.dtype), model.parameters()
    )


def arrays(tree):
    return {path: np.array(x.astype(mx.float64)) for path, x in tree_flatten(tree)}


def assert_close(tree, other, tolerance=1e-6):
    tree, other = arrays(tree), arrays(other)
    assert tree.keys() == other.keys()
    for path, x in tree.items():
        np.testing.assert_allclose(x, other[path], rtol=tolerance, atol=tolerance, err_msg=path)


def accumulated(optimizer, model, steps, compiled=False):
    def step(gradients):
        optimizer.update(model, gradients)

    if compiled:
        state = [model.state, optimizer.state]
        step = mx.compile(step, inputs=state, outputs=state)
    for t in steps:
        step(gradients_of(model, t))
        mx.eval(model.state, optimizer.state)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("every_k", [1, 3])
@pytest.mark.parametrize("name", MAKES)
def test_updates_are_those_by_the_means(name, every_k, compiled):
    model, twin = network(), network()
    optimizer, plain = optimizers.MultiSteps(MAKES[name](), every_k), MAKES[name]()
    for t in range(3):
        steps = range(t * every_k, (t + 1) * every_k)
        for step in steps[:-1]:
            before = arrays(model)
            accumulated(optimizer, model, [step], compiled)
            assert_close(model, tree_unflatten([(k, mx.array(v)) for k, v in before.items()]), 0)
            assert optimizer.step.item() == t
        accumulated(optimizer, model, steps[-1:], compiled)
        trees = [gradients_of(twin, step) for step in steps]
        means = tree_map(lambda *x: sum(x) / every_k, *trees)
        plain.update(twin, means)
        assert_close(model, twin)
        assert optimizer.step.item() == t + 1
        assert optimizer.state["mini_step"].item() == 0
        assert optimizer.learning_rate.item() == plain.learning_rate.item()
    assert_close(optimizer.state["optimizer"], plain.state)


@pytest.mark.parametrize("name", MAKES)
def test_one_compiled_step_for_all_calls(name):
    model, twin = network(), network()
    optimizer, other = (
        optimizers.MultiSteps(MAKES[name](), 3),
        optimizers.MultiSteps(MAKES[name](), 3),
    )
    optimizer.init(model.parameters())
    state, traces = [model.state, optimizer.state], []

    def step(gradients):
        traces.append(0)
        optimizer.update(model, gradients)

    step = mx.compile(step, inputs=state, outputs=state)
    for t in range(10):
        step(gradients_of(model, t))
        accumulated(other, twin, [t])
        assert_close(model, twin, 1e-5)
        assert_close(optimizer.state, other.state, 1e-5)
    assert len(traces) == 1


def test_a_schedule_that_reads_the_step_is_only_called_for_updates():
    seen = []

    def schedule(step):
        seen.append(step.item())
        return 0.5 if seen[-1] < 1 else 0.25

    optimizer = optimizers.MultiSteps(optimizers.SGD(schedule), 2)
    w = mx.zeros(1)
    for _ in range(4):
        w = optimizer.apply_gradients({"w": mx.ones(1)}, {"w": w})["w"]
    assert w.item() == -0.75
    assert seen == [0, 0, 1]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_half_precision(dtype, compiled):
    model = network(dtype)
    optimizer = optimizers.MultiSteps(optimizers.Adam(0.1), 8)
    accumulated(optimizer, model, range(8), compiled)
    assert {w.dtype for _, w in tree_flatten(model.parameters())} == {dtype}
    states = optimizer.state["optimizer"]["layers"][0]["weight"]
    assert {x.dtype for x in states.values()} == {dtype}
    assert optimizer.state["gradients"]["layers"][0]["weight"].dtype == mx.float32
    # A sum of eight gradients of this size is out of the range of float16.
    w = mx.zeros(1, mx.float16)
    optimizer = optimizers.MultiSteps(optimizers.SGD(1e-4), 8)
    for _ in range(8):
        w = optimizer.apply_gradients({"w": mx.full(1, 60000.0, mx.float16)}, {"w": w})["w"]
    np.testing.assert_allclose(np.array(w), [-6], rtol=1e-3)


@pytest.mark.parametrize("compiled", [False, True])
def test_mixed_dtypes(compiled):
    optimizer = optimizers.MultiSteps(optimizers.SGD(0.5, momentum=0.5), 2)
    parameters = {"w": mx.ones(2, mx.float16), "n": mx.array([1])}
    optimizer.init({"w": mx.zeros(2), "n": mx.array([1])})

    def step(parameters):
        gradients = {"w": mx.full(2, 0.5), "n": mx.array([7])}
        return optimizer.apply_gradients(gradients, parameters)

    if compiled:
        step = mx.compile(step, inputs=optimizer.state, outputs=optimizer.state)
    for _ in range(4):
        parameters = step(parameters)
    assert parameters["w"].dtype == mx.float32
    assert parameters["w"].tolist() == [1 - 0.5 * 0.5 - 0.5 * 0.75] * 2
    assert parameters["n"].tolist() == [1]


def test_one_array_is_a_tree():
    optimizer = optimizers.MultiSteps(optimizers.Adam(0.1), 2)
    twin = optimizers.Adam(0.1)
    w = mx.array([1.0, -2.0])
    expected = twin.apply_gradients(mx.array([2.0, 3.0]), w)
    for gradient in ([1.0, 2.0], [3.0, 4.0]):
        w = optimizer.apply_gradients(mx.array(gradient), w)
    assert w.tolist() == expected.tolist()


def test_parameters_may_join_later():
    model = network()
    model.layers[0].freeze()
    optimizer = optimizers.MultiSteps(optimizers.SGD(1.0), 2)
    ones = tree_map(mx.ones_like, model.trainable_parameters())
    optimizer.update(model, ones)
    model.unfreeze()
    before = arrays(model)
    optimizer.update(model, tree_map(mx.ones_like, model.parameters()))
    after = arrays(model)
    # The mean is over all calls: a parameter without a gradient in the first has 0 there.
    for path in before:
        expected = 0.5 if path.startswith("layers.0") else 1.0
        np.testing.assert_allclose(before[path] - after[path], expected, rtol=1e-5)


def test_a_saved_state_continues(tmp_path):
    first, second = network(), network()
    optimizer = optimizers.MultiSteps(optimizers.Adam(0.1), 3)
    accumulated(optimizer, first, range(5))
    second.update(first.parameters())
    path = str(tmp_path / "state.safetensors")
    mx.save_safetensors(path, dict(tree_flatten(optimizer.state)))
    resumed = optimizers.MultiSteps(optimizers.Adam(0.5), 3)
    resumed.state = tree_unflatten(mx.load(path))
    accumulated(optimizer, first, range(5, 9))
    accumulated(resumed, second, range(5, 9))
    assert_close(second, first, 0)
    assert_close(resumed.state, optimizer.state, 0)


def test_the_rate_is_that_of_the_optimizer():
    inner = optimizers.SGD(0.5)
    optimizer = optimizers.MultiSteps(inner, 2)
    optimizer.learning_rate = 0.25
    assert inner.learning_rate.item() == optimizer.learning_rate.item() == 0.25
    plateau = optimizers.ReduceLROnPlateau(optimizer, patience=0, factor=0.5)
    for _ in range(2):
        plateau.step(1.0)
    assert inner.learning_rate.item() == 0.125
    assert repr(optimizer).startswith("MultiSteps(optimizer=SGD(learning_rate=0.125, ")


class Stubborn(optimizers.Adam):
    def apply_single(self, gradient, parameter, state):
        super().apply_single(gradient, parameter, state)
        raise RuntimeError("of the rule")


@pytest.mark.parametrize("compiled", [False, True])
def test_an_error_changes_nothing(compiled):
    model = network()
    optimizer = optimizers.MultiSteps(Stubborn(0.1), 2)
    optimizer.init(model.parameters())
    if not compiled:
        accumulated(optimizer, model, [0])
    before = [*tree_flatten(model.parameters()), *tree_flatten(optimizer.state)]
    with pytest.raises(RuntimeError, match=r"^of the rule$"):
        accumulated(optimizer, model, [1], compiled)
    after = [*tree_flatten(model.parameters()), *tree_flatten(optimizer.state)]
    assert all(
        p == q and mx.array_equal(x, y) for (p, x), (q, y) in zip(before, after, strict=True)
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: optimizers.MultiSteps(3, 2), TypeError, r"optimizer: got int, expected an opt"),
        (
            lambda: optimizers.MultiSteps(optimizers.SGD(0.1), 0),
            ValueError,
            r"got every_k 0, expected at least 1",
        ),
        (
            lambda: setattr(optimizers.MultiSteps(optimizers.SGD(0.1), 2), "state", 3),
            TypeError,
            "state: got int, expected a dict",
        ),
        (
            lambda: setattr(optimizers.MultiSteps(optimizers.SGD(0.1), 2), "state", {}),
            ValueError,
            "state: got a dict without 'mini_step'",
        ),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=rf"^\[MultiSteps\] {message}"):
        call()


def test_wrong_gradients():
    model = network()
    optimizer = optimizers.MultiSteps(optimizers.SGD(0.1), 2)
    with pytest.raises(ValueError, match=r"^\[update\] nope is not a parameter"):
        optimizer.update(model, {"nope": mx.ones(2)})
    with pytest.raises(TypeError, match=r"^\[update\] arguments are in the wrong order"):
        optimizer.update({}, model)
    assert optimizer.state["mini_step"].item() == 0
