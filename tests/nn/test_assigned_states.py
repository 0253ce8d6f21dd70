"""States that are assigned to optimizers: seen by compiled functions, refused if another's."""

import numpy as np
import pytest
import umber.core as mx
from umber import nn, optimizers
from umber.utils import tree_flatten, tree_map

RULES = {
    "Adam": lambda: optimizers.Adam(0.1),
    "SGD": lambda: optimizers.SGD(0.1, momentum=0.9),
    "MultiOptimizer": lambda: optimizers.MultiOptimizer(
        [optimizers.SGD(0.1, momentum=0.9), optimizers.Adam(0.1)],
        [lambda path, x: path.endswith("bias")],
    ),
    "MultiSteps": lambda: optimizers.MultiSteps(optimizers.Adam(0.1), 2),
}


def copied(tree):
    return tree_map(lambda leaf: mx.array(leaf), tree)


def flat(tree):
    return {path: np.array(leaf) for path, leaf in tree_flatten(tree)}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("restores", ["state", "update"])
def test_a_compiled_step_sees_an_assigned_state(rule, restores):
    mx.random.seed(0)
    model, optimizer = nn.Linear(3, 2), rule()
    optimizer.init(model.trainable_parameters())
    x = mx.random.normal((4, 3))
    loss_and_grad = nn.value_and_grad(model, lambda x: mx.mean(model(x) ** 2))
    state = [model.state, optimizer.state]

    def step(x):
        loss, gradients = loss_and_grad(x)
        optimizer.update(model, gradients)
        return loss

    step = mx.compile(step, inputs=state, outputs=state)
    step(x)
    weights, saved = copied(model.parameters()), copied(optimizer.state)
    expected = [step(x).item() for _ in range(4)]
    after = flat(optimizer.state)
    for _ in range(2):
        # The dict that was assigned stays as it was, so it can be assigned again.
        model.update(weights) if restores == "update" else model.load_weights(tree_flatten(weights))
        optimizer.state = saved
        assert [step(x).item() for _ in range(4)] == expected
        for path, leaf in flat(optimizer.state).items():
            assert np.array_equal(leaf, after[path]), path


def test_a_compiled_step_sees_the_assigned_state_of_an_average():
    tree = {"w": mx.array([1.0])}
    ema = optimizers.EMA(tree, decay=0.5, bias_correction=False)
    update = mx.compile(lambda w: ema.update({"w": w}), inputs=ema.state, outputs=ema.state)
    saved = copied(ema.state)
    for _ in range(2):
        update(mx.array([3.0]))
        assert ema.average["w"].item() == 2.0
        ema.state = saved


def test_an_assigned_state_is_kept_itself_unless_a_function_declares_the_old_one():
    gradients = {"w": mx.ones(2)}
    optimizer = optimizers.Adam(0.1)
    first = optimizer.state
    second = copied(first)
    # As in MLX: states of several runs may take turns in one optimizer.
    for state, count in [(first, 1), (second, 2), (first, 1)]:
        optimizer.state = state
        assert optimizer.state is state
        for _ in range(count):
            optimizer.apply_gradients(gradients, gradients)
    assert first["step"].item() == second["step"].item() == 2
    step = mx.compile(lambda: optimizer.apply_gradients(gradients, gradients), outputs=first)
    optimizer.state = second
    assert optimizer.state is first
    # The dict is free again when the function is gone.
    del step
    optimizer.state = second
    assert optimizer.state is second


STATES = {
    "Adam": optimizers.Adam(0.1),
    "SGD": optimizers.SGD(0.1),
    "AdaDelta": optimizers.AdaDelta(0.1),
    "Lion": optimizers.Lion(0.1),
    "NAdam": optimizers.NAdam(0.1),
    "Adafactor": optimizers.Adafactor(0.1, relative_step=False),
}
ENTRIES = {
    "Adam": "m, v",
    "SGD": "v",
    "AdaDelta": "v, u",
    "Lion": "m",
    "NAdam": "m, v, mu_product",
    "Adafactor": "exp_avg_sq_row, exp_avg_sq_col",
}
WEIGHTS = {"layers": [{}, {"w": mx.ones((3, 2))}], "n": mx.array([1])}


@pytest.mark.parametrize("source", STATES)
@pytest.mark.parametrize("target", STATES)
@pytest.mark.parametrize("inside", [False, True])
def test_a_state_of_another_optimizer_is_refused(source, target, inside):
    source_rule, target_rule = (type(STATES[name]) for name in (source, target))

    def create(rule):
        optimizer = rule(0.1, relative_step=False) if rule is optimizers.Adafactor else rule(0.1)
        return optimizers.MultiOptimizer([optimizer]) if inside else optimizer

    first, second = create(source_rule), create(target_rule)
    first.init(WEIGHTS)
    second.state = copied(first.state)
    if source == target:
        second.apply_gradients(WEIGHTS, WEIGHTS)
        return
    before = flat(second.state)
    with pytest.raises((ValueError, KeyError)) as caught:
        second.apply_gradients(WEIGHTS, WEIGHTS)
    text = caught.value.args[0]
    assert f"the state of {target} for layers.1.w" in text
    assert f"got {ENTRIES[source]}" in text
    assert f"expected {ENTRIES[target]}" in text
    assert flat(second.state).keys() == before.keys()


def test_a_state_with_other_entries_is_refused_by_init():
    first, second = optimizers.Adam(0.1), optimizers.SGD(0.1)
    first.init(WEIGHTS)
    second.state = first.state
    with pytest.raises(ValueError, match=r"^\[init\] the state of SGD for layers\.1\.w: got m, v"):
        second.init(WEIGHTS)


def test_states_that_are_empty_or_have_entries_of_a_subclass_are_accepted():
    class WithCount(optimizers.SGD):
        def apply_single(self, gradient, parameter, state):
            state["count"] = state.get("count", mx.array(0)) + 1
            return super().apply_single(gradient, parameter, state)

    first, second = WithCount(0.1), WithCount(0.1)
    first.apply_gradients(WEIGHTS, WEIGHTS)
    second.state = copied(first.state)
    second.apply_gradients(WEIGHTS, WEIGHTS)
    assert second.state["layers"][1]["w"]["count"].item() == 2
    optimizer = optimizers.SGD(0.1)
    optimizer.state = {**optimizer.state, "layers": [{}, {"w": {}}]}
    optimizer.apply_gradients(WEIGHTS, WEIGHTS)
    assert [*optimizer.state["layers"][1]["w"]] == ["v"]


def test_rules_without_a_module_are_those_of_a_user():
    def apply_single(self, gradient, parameter, state):
        return parameter - gradient

    apply_single.__module__ = None
    rule = type("Descent", (optimizers.SGD,), {"apply_single": apply_single})
    optimizer = rule(0.1)
    optimizer.state = {**optimizer.state, "w": {"count": mx.array(0)}}
    ones = {"w": mx.ones(2)}
    assert optimizer.apply_gradients(ones, ones)["w"].tolist() == [0.0, 0.0]
