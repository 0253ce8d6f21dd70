"""Optimizers as Python objects: their reprs, copies and pickles."""

import copy
import pickle

import pytest
import umber.core as mx
from umber import nn, optimizers
from umber.utils import tree_flatten, tree_map


def halved(step):
    return 0.5 ** (step + 1)


def test_reprs_show_what_the_values_are_now():
    optimizer = optimizers.SGD(0.1, momentum=0.9)
    optimizer.apply_gradients({"w": mx.ones(2)}, {"w": mx.ones(2)})
    optimizer.learning_rate = 0.25
    optimizer.weight_decay = 0.5
    assert repr(optimizer) == (
        "SGD(learning_rate=0.25, momentum=0.9, weight_decay=0.5, dampening=0.0, nesterov=False, "
        "step=1)"
    )
    optimizer.learning_rate = halved
    assert repr(optimizer).startswith("SGD(learning_rate=0.25 by halved, momentum=0.9")
    assert repr(optimizers.Adafactor()).startswith("Adafactor(eps=(1e-30, 0.001), ")
    assert repr(optimizers.LBFGS(history_size=5)) == (
        "LBFGS(max_iter=500, tolerance_grad=1e-07, tolerance_change=1e-09, history_size=5, "
        "max_linesearch_steps=25, step=0)"
    )


def test_reprs_of_several_optimizers():
    optimizer = optimizers.MultiOptimizer(
        [optimizers.Lion(0.1), optimizers.MultiOptimizer([optimizers.Optimizer()])],
        [lambda path, x: False],
    )
    first, lion, inner, base, *_ = repr(optimizer).splitlines()
    assert first == "MultiOptimizer("
    assert lion.startswith("  (0) test_reprs_of_several_optimizers.<locals>.<lambda>: Lion(lear")
    assert inner == "  (1) takes_rest: MultiOptimizer("
    assert base == "    (0) takes_rest: Optimizer(step=0)"


def test_reprs_of_what_goes_with_an_optimizer():
    optimizer = optimizers.MultiSteps(optimizers.Lion(0.1), 4)
    optimizer.init({"w": mx.ones(2)})
    assert "optimizer" in optimizer.state
    assert repr(optimizer) == (
        "MultiSteps(optimizer=Lion(learning_rate=0.1, betas=(0.9, 0.99), weight_decay=0.0, "
        "step=0), every_k=4)"
    )
    ema = optimizers.EMA({"w": mx.ones(2)}, 0.5)
    ema.update({"w": mx.ones(2)})
    assert repr(ema) == "EMA(decay=0.5, bias_correction=True, step=1)"
    plateau = optimizers.ReduceLROnPlateau(optimizers.Optimizer(), patience=3)
    assert repr(plateau) == (
        "ReduceLROnPlateau(optimizer=Optimizer(step=0), mode='min', factor=0.1, patience=3, "
        "threshold=0.0001, threshold_mode='rel', cooldown=0, min_lr=0.0, eps=1e-08, best=inf, "
        "num_bad_epochs=0, cooldown_counter=0)"
    )


def test_html_shows_options_schedules_and_the_size_of_the_state():
    optimizer = optimizers.Adam(optimizers.cosine_decay(0.5, 10), betas=[0.5, 0.75])
    parameters = {"w": mx.ones((2, 3)), "b": [mx.ones(3)]}
    optimizer.apply_gradients(parameters, parameters)
    html = optimizer._repr_html_()
    assert html.startswith('<div style="font-family: monospace"><div')
    assert "Adam(learning_rate=0.5 by cosine_decay(init=0.5, decay_steps=10, end=0.0), " in html
    assert "betas=[0.5, 0.75]" in html
    assert "step=1)" in html
    arrays = [array for _, array in tree_flatten(optimizer.state)]
    size = 12 + 2 * 4 * 9
    assert len(arrays) == 6
    assert sum(array.nbytes for array in arrays) == size
    assert f"state: 6 arrays, {size} bytes<" in html
    assert optimizers.SGD(lambda step: 0.1)._repr_html_().count("&lt;lambda&gt;") == 1


def test_html_of_several_optimizers_unfolds():
    inner = optimizers.MultiSteps(optimizers.Lion(0.1), 4)
    optimizer = optimizers.MultiOptimizer([optimizers.SGD(0.2), inner], [lambda *_: True])
    html = optimizer._repr_html_()
    assert html.count("<details") == html.count("</details>") == 2
    assert "MultiOptimizer() <span" in html
    assert "&lt;lambda&gt;: SGD(learning_rate=0.2, " in html
    assert "(1) takes_rest: MultiSteps(every_k=4) <span" in html
    assert "optimizer: Lion(learning_rate=0.1, " in html
    total = len([leaf for _, leaf in tree_flatten(optimizer.state) if isinstance(leaf, mx.array)])
    assert f'MultiOptimizer() <span style="opacity: 0.6">state: {total} arrays, ' in html


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (lambda: optimizers.EMA({"w": mx.ones(2)}, 0.5), "EMA(decay=0.5, bias_correction=True, "),
        (lambda: optimizers.LBFGS(history_size=5), "history_size=5, "),
        (lambda: optimizers.ReduceLROnPlateau(optimizers.SGD(0.1)), "optimizer: SGD("),
    ],
)
def test_html_of_what_goes_with_an_optimizer(made, shown):
    html = made()._repr_html_()
    assert shown in html
    assert " arrays, " in html


def test_reprs_of_optimizers_of_ones_own():
    class Own(optimizers.Optimizer):
        def __init__(self, size, *rest, **options):
            super().__init__({"noise": halved})
            self.size = mx.array(size)

    assert repr(Own(3)) == "Own(size=3, step=0)"
    own = Own([3, 4])
    own.state["noise"] = mx.array(0.5)
    assert repr(own) == "Own(size=array([3, 4], dtype=int32), noise=0.5 by halved, step=0)"


def test_reprs_in_a_trace():
    optimizer = optimizers.SGD(0.1)
    seen = []

    @mx.compile
    def step(x):
        optimizer.state["learning_rate"] = x
        seen.append(repr(optimizer))
        optimizer.state["learning_rate"] = mx.array(0.1)
        return x + 1

    step(mx.array(1.0))
    assert seen[0].startswith("SGD(learning_rate=traced, ")


def test_several_optimizers_have_a_number_of_steps():
    optimizer = optimizers.MultiOptimizer(
        [optimizers.SGD(0.1), optimizers.Adam(0.1)], [lambda path, x: False]
    )
    optimizer.apply_gradients({"w": mx.ones(2)}, {"w": mx.ones(2)})
    assert optimizer.step.item() == 1


def is_vector(path, gradient):
    return gradient.ndim < 2


RATE = optimizers.join_schedules(
    [optimizers.linear_schedule(0.0, 0.1, 3), optimizers.cosine_decay(0.1, 9)], [3]
)
MAKES = {
    "sgd": lambda: optimizers.SGD(0.1, momentum=0.9),
    "adamw": lambda: optimizers.AdamW(RATE, weight_decay=0.1),
    "nadam": lambda: optimizers.NAdam(optimizers.one_cycle(0.1, 10)),
    "adafactor": lambda: optimizers.Adafactor(),
    "function": lambda: optimizers.RMSprop(halved),
    "groups": lambda: optimizers.MultiOptimizer(
        [optimizers.Muon(RATE), optimizers.Lion(optimizers.cyclic(0.0, 0.1, 2))], [is_vector]
    ),
    "accumulated": lambda: optimizers.MultiSteps(optimizers.Adam(RATE), 2),
}
COPIES = {
    "deepcopy": copy.deepcopy,
    **{
        f"protocol {protocol}": lambda x, protocol=protocol: pickle.loads(pickle.dumps(x, protocol))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}


def stepped(optimizer, parameters, steps):
    for t in steps:
        gradients = tree_map(lambda w, t=t: w * 0.5 + t, parameters)
        parameters = optimizer.apply_gradients(gradients, parameters)
    return parameters


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", MAKES)
def test_copies_go_on_alone(name, way):
    optimizer = MAKES[name]()
    start = stepped(optimizer, {"w": mx.ones((2, 3)), "b": [mx.array([1.0, -2.0])]}, range(3))
    before = {path: x.tolist() for path, x in tree_flatten(optimizer.state)}
    twin = COPIES[way](optimizer)
    assert type(twin) is type(optimizer)
    assert repr(twin) == repr(optimizer)
    expected = stepped(twin, start, range(3, 6))
    # The copy has a state of its own.
    assert {path: x.tolist() for path, x in tree_flatten(optimizer.state)} == before
    got = stepped(optimizer, start, range(3, 6))
    for (path, x), (_, y) in zip(tree_flatten(got), tree_flatten(expected), strict=True):
        assert x.tolist() == y.tolist(), path
    states = tree_flatten(optimizer.state), tree_flatten(twin.state)
    for (path, x), (other, y) in zip(*states, strict=True):
        assert path == other
        assert x.dtype == y.dtype
        assert x.tolist() == y.tolist(), path


@pytest.mark.parametrize("way", COPIES)
def test_copies_of_what_goes_with_an_optimizer(way):
    optimizer = optimizers.SGD(0.5)
    plateau = optimizers.ReduceLROnPlateau(optimizer, patience=0, factor=0.5)
    ema = optimizers.EMA({"w": mx.ones(2)}, 0.5)
    lbfgs = optimizers.LBFGS(max_iter=3)
    lbfgs.minimize(lambda x: mx.square(mx.square(x)).sum(), mx.ones(2))
    twin, plateau, ema_twin, lbfgs_twin = COPIES[way]([optimizer, plateau, ema, lbfgs])
    plateau.step(1.0)
    plateau.step(1.0)
    assert twin.learning_rate.item() == 0.25
    assert optimizer.learning_rate.item() == 0.5
    ema_twin.update({"w": mx.full((2,), 3.0)})
    assert (ema_twin.average["w"].tolist(), ema.average["w"].tolist()) == ([3, 3], [1, 1])
    assert lbfgs_twin.step.item() == 3
    assert [s.tolist() for s in lbfgs_twin.state["s"]] == [s.tolist() for s in lbfgs.state["s"]]


def test_a_copy_in_a_compiled_step():
    optimizer = copy.deepcopy(optimizers.AdamW(RATE))
    model = nn.Linear(2, 1)
    gradients = tree_map(mx.ones_like, model.parameters())
    state = [model.state, optimizer.state]
    step = mx.compile(lambda: optimizer.update(model, gradients), inputs=state, outputs=state)
    for _ in range(3):
        step()
    assert optimizer.step.item() == 3
