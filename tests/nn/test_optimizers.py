"""Optimizers, schedules and clipping against their update rules in NumPy."""

import math

import numpy as np
import pytest
import umber.core as mx
from umber import nn, optimizers
from umber.utils import tree_flatten, tree_map, tree_unflatten

F32 = np.float32
STEPS = 8


class Sgd:
    def __init__(self, rate, momentum=0.0, weight_decay=0.0, dampening=0.0, nesterov=False):
        self.options = (rate, momentum, weight_decay, dampening, nesterov)
        self.v = 0

    def __call__(self, w, g, t):
        rate, momentum, weight_decay, dampening, nesterov = self.options
        g = g + weight_decay * w
        if momentum == 0:
            return w - rate * g
        self.v = momentum * self.v + (1 - dampening) * g
        return w - rate * (g + momentum * self.v if nesterov else self.v)


class Adam:
    def __init__(self, rate, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, correct=False):
        self.options = (rate, betas, eps, weight_decay, correct)
        self.m = self.v = 0

    def __call__(self, w, g, t):
        rate, (b1, b2), eps, weight_decay, correct = self.options
        w = w - rate * weight_decay * w
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * g**2
        m, v = self.m, self.v
        if correct:
            m, v = m / (1 - b1**t), v / (1 - b2**t)
        return w - rate * m / (np.sqrt(v) + eps)


class Adamax(Adam):
    def __call__(self, w, g, t):
        rate, (b1, b2), eps, *_ = self.options
        self.m = b1 * self.m + (1 - b1) * g
        self.v = np.maximum(b2 * self.v, np.abs(g))
        return w - rate * self.m / (self.v + eps)


class Adagrad:
    def __init__(self, rate, eps=1e-8):
        self.rate, self.eps, self.v = rate, eps, 0

    def __call__(self, w, g, t):
        self.v = self.v + g**2
        return w - self.rate * g / (np.sqrt(self.v) + self.eps)


class Rmsprop:
    def __init__(self, rate, alpha=0.99, eps=1e-8):
        self.rate, self.alpha, self.eps, self.v = rate, alpha, eps, 0

    def __call__(self, w, g, t):
        self.v = self.alpha * self.v + (1 - self.alpha) * g**2
        return w - self.rate * g / (np.sqrt(self.v) + self.eps)


class Adadelta:
    def __init__(self, rate, rho=0.9, eps=1e-6):
        self.rate, self.rho, self.eps = rate, rho, eps
        self.v = self.u = 0

    def __call__(self, w, g, t):
        self.v = self.rho * self.v + (1 - self.rho) * g**2
        d = np.sqrt(self.u + self.eps) / np.sqrt(self.v + self.eps) * g
        self.u = self.rho * self.u + (1 - self.rho) * d**2
        return w - self.rate * d


class Lion:
    def __init__(self, rate, betas=(0.9, 0.99), weight_decay=0.0):
        self.rate, self.betas, self.weight_decay, self.m = rate, betas, weight_decay, 0

    def __call__(self, w, g, t):
        b1, b2 = self.betas
        c = b1 * self.m + (1 - b1) * g
        self.m = b2 * self.m + (1 - b2) * g
        return w - self.rate * (np.sign(c) + self.weight_decay * w)


class Nadam(Adam):
    """Dozat, 2016, algorithm 2, with the momentum schedule of section 3."""

    def __init__(self, *args, psi=4e-3, **kwargs):
        super().__init__(*args, **kwargs)
        self.psi, self.product = psi, 1

    def __call__(self, w, g, t):
        rate, (b1, b2), eps, weight_decay, decoupled = self.options
        if decoupled:
            w = w - rate * weight_decay * w
        else:
            g = g + weight_decay * w
        mu, after = (b1 * (1 - 0.5 * 0.96 ** (i * self.psi)) for i in (t, t + 1))
        self.product *= mu
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * g**2
        m = after * self.m / (1 - self.product * after) + (1 - mu) * g / (1 - self.product)
        return w - rate * m / (np.sqrt(self.v / (1 - b2**t)) + eps)


class Radam(Adam):
    """Liu et al., 2020, algorithm 2."""

    def __call__(self, w, g, t):
        rate, (b1, b2), eps, weight_decay, decoupled = self.options
        if decoupled:
            w = w - rate * weight_decay * w
        else:
            g = g + weight_decay * w
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * g**2
        m = self.m / (1 - b1**t)
        most = 2 / (1 - b2) - 1
        rho = most - 2 * t * b2**t / (1 - b2**t)
        if rho <= 5:
            return w - rate * m
        r = np.sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
        return w - rate * m * r * np.sqrt(1 - b2**t) / (np.sqrt(self.v) + eps)


class Lamb(Adam):
    """You et al., 2020, algorithm 2, for one parameter."""

    def __call__(self, w, g, t):
        rate, (b1, b2), eps, weight_decay, _ = self.options
        self.m = b1 * self.m + (1 - b1) * g
        self.v = b2 * self.v + (1 - b2) * g**2
        u = self.m / (1 - b1**t) / (np.sqrt(self.v / (1 - b2**t)) + eps) + weight_decay * w
        return w - rate * np.linalg.norm(w) / np.linalg.norm(u) * u


def rms(x):
    return np.sqrt(np.mean(x**2))


class Adafactor:
    """Shazeer, Stern, 2018, algorithms 4 and 5, for parameters with one axis."""

    def __init__(self, rate=None, clip=1.0, decay=-0.8, b1=None, weight_decay=0.0, scale=True):
        self.rate, self.clip, self.decay = rate, clip, decay
        self.b1, self.weight_decay, self.scale = b1, weight_decay, scale
        self.v = self.m = 0

    def __call__(self, w, g, t):
        rate = min(0.01, 1 / np.sqrt(t)) if self.rate is None else self.rate
        rate *= max(1e-3, rms(w)) if self.scale else 1
        b2 = 1 - t**self.decay
        self.v = b2 * self.v + (1 - b2) * (g**2 + 1e-30)
        u = g / np.sqrt(self.v)
        u = u / max(1, rms(u) / self.clip) * rate
        if self.b1 is not None:
            self.m = u = self.b1 * self.m + (1 - self.b1) * u
        return w - self.weight_decay * rate * w - u


class Muon:
    """Without matrices: a momentum."""

    def __init__(self, rate, momentum=0.95, weight_decay=0.01, nesterov=True):
        self.options = (rate, momentum, weight_decay, nesterov)
        self.v = 0

    def __call__(self, w, g, t):
        rate, momentum, weight_decay, nesterov = self.options
        g = g + weight_decay * w
        self.v = momentum * self.v + (1 - momentum) * g
        return w - rate * (momentum * self.v + (1 - momentum) * g if nesterov else self.v)


RULES = {
    "sgd": (optimizers.SGD(0.1), Sgd(0.1)),
    "sgd decay": (optimizers.SGD(0.1, weight_decay=0.2), Sgd(0.1, weight_decay=0.2)),
    "momentum": (
        optimizers.SGD(0.1, momentum=0.9, dampening=0.3, weight_decay=0.2),
        Sgd(0.1, 0.9, 0.2, 0.3),
    ),
    "nesterov": (optimizers.SGD(0.1, momentum=0.9, nesterov=True), Sgd(0.1, 0.9, nesterov=True)),
    "adam": (optimizers.Adam(0.1), Adam(0.1)),
    "adam corrected": (
        optimizers.Adam(0.1, betas=(0.8, 0.95), eps=1e-3, bias_correction=True),
        Adam(0.1, (0.8, 0.95), 1e-3, correct=True),
    ),
    "adamw": (optimizers.AdamW(0.1), Adam(0.1, weight_decay=0.01)),
    "adamw corrected": (
        optimizers.AdamW(0.1, weight_decay=0.3, bias_correction=True),
        Adam(0.1, weight_decay=0.3, correct=True),
    ),
    "adamax": (optimizers.Adamax(0.1), Adamax(0.1)),
    "nadam": (optimizers.NAdam(0.1), Nadam(0.1)),
    "nadam decay": (
        optimizers.NAdam(0.1, (0.8, 0.95), 1e-3, weight_decay=0.2, momentum_decay=0.5),
        Nadam(0.1, (0.8, 0.95), 1e-3, 0.2, psi=0.5),
    ),
    "nadam decoupled": (
        optimizers.NAdam(0.1, weight_decay=0.2, decoupled_weight_decay=True),
        Nadam(0.1, weight_decay=0.2, correct=True),
    ),
    "radam": (optimizers.RAdam(0.1), Radam(0.1)),
    "radam decay": (
        optimizers.RAdam(0.1, (0.8, 0.95), 1e-3, weight_decay=0.2),
        Radam(0.1, (0.8, 0.95), 1e-3, 0.2),
    ),
    "radam decoupled": (
        optimizers.RAdam(0.1, weight_decay=0.2, decoupled_weight_decay=True),
        Radam(0.1, weight_decay=0.2, correct=True),
    ),
    "radam never rectified": (optimizers.RAdam(0.1, (0.9, 0.6)), Radam(0.1, (0.9, 0.6))),
    "adagrad": (optimizers.Adagrad(0.1), Adagrad(0.1)),
    "rmsprop": (optimizers.RMSprop(0.1), Rmsprop(0.1)),
    "rmsprop 0.5": (optimizers.RMSprop(0.1, alpha=0.5, eps=0.1), Rmsprop(0.1, 0.5, 0.1)),
    "adadelta": (optimizers.AdaDelta(0.1), Adadelta(0.1)),
    "adadelta 0.5": (optimizers.AdaDelta(1.0, rho=0.5, eps=1e-3), Adadelta(1.0, 0.5, 1e-3)),
    "muon": (optimizers.Muon(0.1), Muon(0.1)),
    "muon plain": (
        optimizers.Muon(0.1, momentum=0.5, weight_decay=0.2, nesterov=False),
        Muon(0.1, 0.5, 0.2, False),
    ),
    "lion": (optimizers.Lion(0.1), Lion(0.1)),
    "lion decay": (
        optimizers.Lion(0.1, betas=(0.8, 0.9), weight_decay=0.2),
        Lion(0.1, (0.8, 0.9), 0.2),
    ),
}


def gradient_at(t, size):
    return np.cos(np.arange(size) + t).astype(F32)


@pytest.mark.parametrize("name", RULES)
def test_update_rules(name):
    optimizer, rule = RULES[name]
    expected = np.linspace(-1, 1, 6)
    tree = {"a": [mx.array(expected[:4].astype(F32))], "b": mx.array(expected[4:].astype(F32))}
    for t in range(1, STEPS + 1):
        g = gradient_at(t, 6)
        tree = optimizer.apply_gradients({"a": [mx.array(g[:4])], "b": mx.array(g[4:])}, tree)
        expected = rule(expected, g.astype(np.float64), t)
        got = np.concatenate([np.array(tree["a"][0]), np.array(tree["b"])])
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    assert optimizer.step.item() == STEPS


@pytest.mark.parametrize("name", RULES)
def test_parameters_and_state_keep_their_dtype(name):
    optimizer, _ = RULES[name]
    fresh = type(optimizer)(0.1)
    parameters = {"w": mx.ones((3,), dtype=mx.float16)}
    new = fresh.apply_gradients({"w": mx.full((3,), 0.5, dtype=mx.float16)}, parameters)
    assert new["w"].dtype == mx.float16
    assert all(x.dtype == mx.float16 for x in fresh.state["w"].values())


def test_state_is_a_tree_beside_the_parameters():
    optimizer = optimizers.Adam(0.1)
    assert [path for path, _ in tree_flatten(optimizer.state)] == ["step", "learning_rate"]
    assert (optimizer.step.dtype, optimizer.learning_rate.dtype) == (mx.uint64, mx.float32)
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1, bias=False))
    optimizer.init(model.trainable_parameters())
    assert {path: x.shape for path, x in tree_flatten(optimizer.state)} == {
        "step": (),
        "learning_rate": (),
        **{
            f"layers.{path}.{moment}": shape
            for path, shape in {"0.weight": (3, 2), "0.bias": (3,), "2.weight": (1, 3)}.items()
            for moment in "mv"
        },
    }


def test_update_changes_the_model_where_there_are_gradients():
    model = nn.Linear(2, 2)
    weight, bias = np.array(model.weight), model.bias
    optimizer = optimizers.SGD(0.5)
    optimizer.update(model, {"weight": mx.ones((2, 2))})
    np.testing.assert_allclose(np.array(model.weight), weight - 0.5, rtol=1e-6)
    assert model.bias is bias


def test_init_keeps_the_state_that_is_there():
    optimizer = optimizers.SGD(0.1, momentum=0.9)
    gradients = {"a": mx.ones((2,))}
    optimizer.apply_gradients(gradients, {"a": mx.zeros((2,))})
    optimizer.init({"a": mx.zeros((2,)), "b": [mx.zeros((3,))]})
    assert optimizer.state["a"]["v"].tolist() == [1.0, 1.0]
    assert optimizer.state["b"][0]["v"].tolist() == [0.0] * 3


def test_a_saved_state_continues_the_training(tmp_path):
    gradients = {"layers": [{"w": mx.array([0.3, -0.1])}]}
    parameters = tree_map(mx.zeros_like, gradients)
    first = optimizers.AdamW(0.1, bias_correction=True)
    middle = first.apply_gradients(gradients, parameters)
    mx.save_safetensors(str(tmp_path / "state.safetensors"), dict(tree_flatten(first.state)))
    second = optimizers.AdamW(0.7, bias_correction=True)
    second.state = tree_unflatten(mx.load(str(tmp_path / "state.safetensors")))
    for _ in range(2):
        expected = first.apply_gradients(gradients, middle)
        got = second.apply_gradients(gradients, middle)
        assert got["layers"][0]["w"].tolist() == expected["layers"][0]["w"].tolist()
    assert second.step.item() == 3


def test_learning_rate_may_be_assigned():
    optimizer = optimizers.SGD(1)
    assert optimizer.learning_rate.dtype == mx.float32
    optimizer.learning_rate = 0.25
    assert optimizer.apply_gradients(mx.ones((1,)), mx.ones((1,))).item() == 0.75


def test_learning_rate_may_be_a_schedule():
    optimizer = optimizers.SGD(lambda step: 0.5**step)
    w = mx.zeros((1,))
    for t in range(4):
        w = optimizer.apply_gradients(mx.ones((1,)), w)
        assert optimizer.learning_rate.item() == 0.5**t
    assert w.item() == -(1 + 0.5 + 0.25 + 0.125)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("make", [optimizers.SGD, optimizers.Adam, optimizers.Muon])
def test_a_schedule_may_be_assigned(make, compiled):
    schedule = optimizers.linear_schedule(1.0, 0.0, 4)
    given, assigned = make(schedule), make(0.5)
    assigned.learning_rate = schedule
    rates = []
    for optimizer in (given, assigned):
        w = mx.ones((2,))
        optimizer.init({"w": w})

        def step(w, optimizer=optimizer):
            return optimizer.apply_gradients({"w": mx.ones((2,))}, {"w": w})["w"]

        if compiled:
            step = mx.compile(step, inputs=optimizer.state, outputs=optimizer.state)
        rates.append([])
        for _ in range(3):
            w = step(w)
            rates[-1].append(optimizer.learning_rate.item())
        rates[-1] += w.tolist()
    assert rates[0][:3] == [1.0, 0.75, 0.5]
    assert rates[0] == rates[1]


def test_schedules_are_assigned_to_all_optimizers():
    optimizer = optimizers.MultiOptimizer(
        [optimizers.SGD(0.1), optimizers.Adam(0.2)], [lambda path, x: path == "a"]
    )
    optimizer.learning_rate = lambda step: 0.5 ** (step + 1)
    tree = {"a": mx.ones(1), "b": mx.ones(1)}
    optimizer.apply_gradients(tree, tree)
    optimizer.apply_gradients(tree, tree)
    assert [o.learning_rate.item() for o in optimizer.optimizers] == [0.25, 0.25]


@pytest.mark.parametrize("value", [0.5, 1, np.float32(0.5), np.array([0.5])])
def test_a_schedule_may_give_a_number(value):
    optimizer = optimizers.Adam(lambda step: value)
    tree = {"a": mx.ones(1)}
    assert optimizer.apply_gradients(tree, tree)["a"].dtype == mx.float32
    assert optimizer.learning_rate.dtype == mx.float32


def test_a_model_is_no_gradient():
    model = nn.Linear(2, 2)
    gradients = tree_map(mx.ones_like, model.parameters())
    multi = optimizers.MultiOptimizer([optimizers.SGD(0.1)])
    for optimizer in (optimizers.Adam(0.1), optimizers.SGD(0.1), multi):
        before = tree_flatten(gradients)
        with pytest.raises(
            TypeError,
            match=r"^\[update\] arguments are in the wrong order: got Linear as gradients, exp",
        ):
            optimizer.update(gradients, model)
        with pytest.raises(
            TypeError, match=r"^\[apply_gradients\] arguments are in the wrong order: got"
        ):
            optimizer.apply_gradients(model, gradients)
        after = tree_flatten(gradients)
        assert all(a is b for (_, a), (_, b) in zip(after, before, strict=True))
        assert all(
            optimizer.step.item() == 0
            for optimizer in getattr(optimizer, "optimizers", [optimizer])
        )
        optimizer.update(model, gradients)


@pytest.mark.parametrize("eps", [0, 0.0, -1e-8, float("nan")])
@pytest.mark.parametrize("make", [optimizers.RMSprop, optimizers.Adagrad, optimizers.AdaDelta])
def test_eps_above_zero(make, eps):
    with pytest.raises(
        ValueError, match=rf"^\[{make.__name__}\] got eps .*, expected a number above"
    ):
        make(0.1, eps=eps)


@pytest.mark.parametrize("make", [optimizers.Adam, optimizers.AdamW, optimizers.Adamax])
def test_eps_from_zero(make):
    make(0.1, eps=0)
    for eps in (-1e-8, float("nan")):
        with pytest.raises(ValueError, match=r"got eps .*, expected at least 0"):
            make(0.1, eps=eps)


@pytest.mark.parametrize("tree", [{"a.b": 1, "c": [{"d.e": 2}, (3, 4)]}, {0: 1, 1: 2}])
def test_several_optimizers_keep_keys_and_tuples(tree):
    tree = tree_map(lambda n: mx.full((n,), 1.0), tree)
    optimizer = optimizers.MultiOptimizer(
        [optimizers.SGD(1.0), optimizers.SGD(0.5)], [lambda path, x: x.size % 2 == 0]
    )
    new = optimizer.apply_gradients(tree, tree)
    expected = tree_map(lambda x: 0.0 if x.size % 2 == 0 else 0.5, tree)
    assert {path: x[0].item() for path, x in tree_flatten(new)} == dict(tree_flatten(expected))
    assert new.keys() == tree.keys()


def test_schedulers_of_a_rule_of_ones_own():
    class Noisy(optimizers.Optimizer):
        def init_single(self, parameter, state):
            state["seen"] = mx.array(0.0)

        def apply_single(self, gradient, parameter, state):
            state["seen"] = state["seen"] + self.state["noise"]
            return parameter - gradient

    optimizer = Noisy({"noise": lambda step: mx.array(2.0) + step})
    for _ in range(2):
        optimizer.apply_gradients({"w": mx.ones((1,))}, {"w": mx.ones((1,))})
    assert optimizer.state["w"]["seen"].item() == 5.0
    with pytest.raises(
        NotImplementedError, match=r"^\[Optimizer\] the class must define init_single"
    ):
        optimizers.Optimizer().init({"w": mx.ones((1,))})
    with pytest.raises(
        NotImplementedError, match=r"^\[Optimizer\] the class must define apply_single"
    ):
        optimizers.Optimizer().apply_single(mx.ones((1,)), mx.ones((1,)), {})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: optimizers.SGD(0.1, nesterov=True),
            r"^\[SGD\] nesterov requires .*got momentum 0\.0 and dampening 0\.0",
        ),
        (
            lambda: optimizers.SGD(0.1, momentum=0.9, dampening=0.1, nesterov=True),
            r"^\[SGD\] nesterov requires .*got momentum 0\.9 and dampening 0\.1",
        ),
        (lambda: optimizers.Adam(0.1, betas=(1.0, 0.9)), r"^\[Adam\] got betas \(1\.0, 0\.9\)"),
        (lambda: optimizers.AdamW(0.1, betas=(0.9,)), r"^\[AdamW\] got betas"),
        (lambda: optimizers.Adamax(0.1, eps=-1), r"^\[Adamax\] got eps -1, expected at least 0"),
        (lambda: optimizers.NAdam(0.1, betas=(1.0, 0.9)), r"^\[NAdam\] got betas \(1\.0, 0\.9\)"),
        (lambda: optimizers.NAdam(0.1, momentum_decay=-1), r"^\[NAdam\] got momentum_decay -1"),
        (lambda: optimizers.RAdam(0.1, eps=-1), r"^\[RAdam\] got eps -1, expected at least 0"),
        (lambda: optimizers.LAMB(0.1, betas=(0.9,)), r"^\[LAMB\] got betas"),
        (lambda: optimizers.Lion(0.1, betas=(0.9, 1.0)), r"^\[Lion\] got betas"),
        (
            lambda: optimizers.Adafactor(relative_step=False),
            r"^\[Adafactor\] needs a learning_rate or relative_step=True",
        ),
        (
            lambda: optimizers.MultiOptimizer([]),
            r"^\[MultiOptimizer\] needs at least one optimizer",
        ),
        (lambda: optimizers.step_decay(0.1, 0.5, 0), r"^\[step_decay\] got the step size 0"),
        (lambda: optimizers.cosine_decay(0.1, 0), r"^\[cosine_decay\] got 0 steps"),
        (lambda: optimizers.clip_grad_norm({}, -1.0), r"^\[clip_grad_norm\] got max_norm -1"),
        (lambda: optimizers.clip_grad_value({}, -1.0), r"^\[clip_grad_value\] got clip_value -1"),
        (lambda: optimizers.RMSprop(0.1, alpha=-1), r"^\[RMSprop\] got alpha -1"),
        (lambda: optimizers.Adagrad(0.1, eps=-1), r"^\[Adagrad\] got eps -1"),
        (lambda: optimizers.AdaDelta(0.1, rho=-1), r"^\[AdaDelta\] got rho -1"),
        (lambda: optimizers.MultiOptimizer([optimizers.SGD(1)], [abs]), r"got 1 filters for 1 opt"),
        (lambda: optimizers.linear_schedule(0, 1, 0), r"^\[linear_schedule\] got 0 steps"),
        (
            lambda: optimizers.join_schedules([], []),
            r"^\[join_schedules\] needs at least one schedule",
        ),
        (lambda: optimizers.join_schedules([abs], [3]), r"got 1 boundaries for 1 schedules"),
    ],
)
def test_wrong_options(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_training_lowers_the_loss():
    mx.random.seed(0)
    x = mx.random.normal((64, 3))
    y = x @ mx.array([[1.0], [-2.0], [0.5]]) + 0.25
    model = nn.Linear(3, 1)
    optimizer = optimizers.Adam(0.1)
    loss_and_grad = nn.value_and_grad(model, lambda x, y: nn.losses.mse_loss(model(x), y))
    for _ in range(200):
        loss, gradients = loss_and_grad(x, y)
        optimizer.update(model, gradients)
        mx.eval(model.state, optimizer.state)
    assert loss.item() < 1e-4
    np.testing.assert_allclose(np.array(model.weight), [[1, -2, 0.5]], atol=0.02)
    np.testing.assert_allclose(np.array(model.bias), [0.25], atol=0.02)


def test_multi_optimizer_splits_the_parameters():
    optimizer = optimizers.MultiOptimizer(
        [optimizers.SGD(1.0), optimizers.SGD(10.0, momentum=0.5)],
        [lambda path, gradient: path.endswith("bias")],
    )
    ones = {"layers": [{"bias": mx.ones((1,))}, {"weight": mx.ones((2,)), "bias": mx.ones((1,))}]}
    new = optimizer.apply_gradients(ones, ones)
    assert tree_map(lambda x: x.tolist(), new) == {
        "layers": [{"bias": [0.0]}, {"weight": [-9.0, -9.0], "bias": [0.0]}]
    }
    paths = [path for path, _ in tree_flatten(optimizer.state)]
    assert "states.1.layers.1.weight.v" in paths
    assert "states.0.layers.1.weight.v" not in paths
    assert optimizer.learning_rate.item() == 1.0
    optimizer.learning_rate = 2.0
    assert [o.learning_rate.item() for o in optimizer.optimizers] == [2.0, 2.0]
    optimizer.state = optimizer.state
    with pytest.raises(ValueError, match=r"^\[MultiOptimizer\] got 0 states, expected 2"):
        optimizer.state = {}


@pytest.mark.parametrize("compiled", [False, True])
def test_groups_without_weight_decay(compiled):
    mx.random.seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3), nn.Conv1d(3, 2, 1), nn.BatchNorm(2))
    before = {path: np.array(w) for path, w in tree_flatten(model.trainable_parameters())}
    rate = optimizers.linear_schedule(0.5, 0.25, 1)
    optimizer = optimizers.MultiOptimizer(
        [optimizers.AdamW(rate, weight_decay=0.0), optimizers.AdamW(rate, weight_decay=0.1)],
        [lambda path, gradient: gradient.ndim < 2],
    )
    zeros = tree_map(mx.zeros_like, model.trainable_parameters())
    optimizer.init(zeros)
    state = [model.state, optimizer.state]

    def step():
        optimizer.update(model, zeros)

    if compiled:
        step = mx.compile(step, inputs=state, outputs=state)
    for _ in range(2):
        step()
    for path, w in tree_flatten(model.trainable_parameters()):
        decayed = path in ("layers.0.weight", "layers.2.weight")
        factor = (1 - 0.05) * (1 - 0.025) if decayed else 1
        np.testing.assert_allclose(np.array(w), before[path] * factor, rtol=1e-6, err_msg=path)


SCHEDULES = {
    "exponential": (optimizers.exponential_decay(0.1, 0.9), lambda t: 0.1 * 0.9**t),
    "step": (optimizers.step_decay(0.1, 0.5, 4), lambda t: 0.1 * 0.5 ** (t // 4)),
    "cosine": (
        optimizers.cosine_decay(0.1, 10),
        lambda t: 0.05 * (1 + math.cos(math.pi * min(t, 10) / 10)),
    ),
    "cosine to 0.02": (
        optimizers.cosine_decay(0.1, 10, 0.02),
        lambda t: 0.02 + 0.04 * (1 + math.cos(math.pi * min(t, 10) / 10)),
    ),
    "linear": (optimizers.linear_schedule(0.3, 0.1, 5), lambda t: 0.3 - 0.04 * min(t, 5)),
    "joined": (
        optimizers.join_schedules(
            [
                optimizers.linear_schedule(0.0, 0.1, 3),
                optimizers.exponential_decay(0.1, 0.5),
                optimizers.step_decay(1.0, 0.1, 2),
            ],
            [3, 6],
        ),
        lambda t: (
            0.1 * t / 3 if t < 3 else 0.1 * 0.5 ** (t - 3) if t < 6 else 0.1 ** ((t - 6) // 2)
        ),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name):
    schedule, formula = SCHEDULES[name]
    for t in (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 13):
        got = schedule(mx.array(t, dtype=mx.uint64))
        np.testing.assert_allclose(np.array(got), formula(t), rtol=1e-5, atol=1e-8)


def test_clip_grad_norm():
    grads = {"a": mx.array([3.0, 4.0]), "b": [mx.array([12.0])]}
    clipped, norm = optimizers.clip_grad_norm(grads, 6.5)
    assert norm.item() == 13
    np.testing.assert_allclose(np.array(clipped["a"]), [1.5, 2.0], rtol=1e-5)
    np.testing.assert_allclose(np.array(clipped["b"][0]), [6.0], rtol=1e-5)
    unchanged, _ = optimizers.clip_grad_norm(grads, 100.0)
    assert tree_map(lambda x: x.tolist(), unchanged) == {"a": [3.0, 4.0], "b": [[12.0]]}
    zeros, norm = optimizers.clip_grad_norm({"a": mx.zeros((2,))}, 1.0)
    assert (zeros["a"].tolist(), norm.item()) == ([0.0, 0.0], 0.0)
    assert optimizers.clip_grad_norm({}, 1.0)[1].item() == 0.0


def test_clip_grad_norm_of_half_precision_does_not_overflow():
    grads = {"a": mx.full((4,), 30000.0, dtype=mx.float16)}
    clipped, norm = optimizers.clip_grad_norm(grads, 1.0)
    assert norm.item() == 60000
    assert clipped["a"].dtype == mx.float16
    np.testing.assert_allclose(np.array(clipped["a"]), [0.5] * 4, rtol=1e-3)


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.float32, mx.float64])
@pytest.mark.parametrize("limit", [0, 0.5, 2, 1e9, np.float32(0.5), mx.array(0.5)])
def test_clip_grad_value(dtype, limit):
    values = np.array([-3.0, -0.25, 0.0, np.nan, 0.5, np.inf, -np.inf])
    grads = {
        "a": [mx.array(values).astype(dtype), mx.zeros((0, 2), dtype)],
        "b": mx.ones((), dtype),
    }
    clipped = optimizers.clip_grad_value(grads, limit)
    got = np.array(clipped["a"][0].astype(mx.float64))
    bound = float(mx.array(float(limit)).astype(dtype).astype(mx.float64).item())
    np.testing.assert_array_equal(got, np.clip(values, -bound, bound))
    assert {x.dtype for _, x in tree_flatten(clipped)} == {dtype}
    assert clipped["a"][1].shape == (0, 2)
    assert clipped["b"].item() == min(1, bound)
    assert grads["b"].item() == 1


def test_clip_grad_value_of_complex_gradients():
    with pytest.raises(TypeError, match=r"^\[clip_grad_value\] got a gradient of .*complex64"):
        optimizers.clip_grad_value({"a": mx.array([1j])}, 1.0)


ADAFACTORS = {
    "as it is": ({}, {}),
    "rate": ({"learning_rate": 0.1, "relative_step": False}, {"rate": 0.1}),
    "unscaled": ({"scale_parameter": False, "clip_threshold": 0.3}, {"scale": False, "clip": 0.3}),
    "momentum": ({"beta_1": 0.9, "weight_decay": 0.1}, {"b1": 0.9, "weight_decay": 0.1}),
}


@pytest.mark.parametrize("case", ADAFACTORS)
def test_adafactor_of_vectors(case):
    options, twins = ADAFACTORS[case]
    optimizer, rule = optimizers.Adafactor(**options), Adafactor(**twins)
    expected = np.linspace(-1, 1, 6)
    w = mx.array(expected.astype(F32))
    for t in range(1, STEPS + 1):
        g = gradient_at(t, 6)
        w = optimizer.apply_gradients({"w": mx.array(g)}, {"w": w})["w"]
        expected = rule(expected, g.astype(np.float64), t)
        np.testing.assert_allclose(np.array(w), expected, rtol=1e-4, atol=1e-5)


def test_adafactor_keeps_rows_and_columns_of_matrices():
    optimizer = optimizers.Adafactor(scale_parameter=False, clip_threshold=1e9)
    g = np.outer([1, 2, 3], [1, 0.5, 4, 2]).astype(F32)
    new = optimizer.apply_gradients({"w": mx.array(g)}, {"w": mx.zeros((3, 4))})
    state = optimizer.state["w"]
    np.testing.assert_allclose(np.array(state["exp_avg_sq_row"]), (g**2).mean(axis=1), rtol=1e-5)
    np.testing.assert_allclose(np.array(state["exp_avg_sq_col"]), (g**2).mean(axis=0), rtol=1e-5)
    # Squares of rank one are kept without loss, so that every step is as long.
    np.testing.assert_allclose(np.array(new["w"]), np.full((3, 4), -0.01), rtol=1e-4)


@pytest.mark.parametrize("decay", [0.0, 0.3])
@pytest.mark.parametrize("shape", [(), (6,), (2, 3)])
def test_lamb_scales_each_parameter(shape, decay):
    optimizer = optimizers.LAMB(0.1, betas=(0.8, 0.95), eps=1e-3, weight_decay=decay)
    rules = [Lamb(0.1, (0.8, 0.95), 1e-3, decay) for _ in range(2)]
    size = math.prod(shape)
    expected = [np.linspace(1, 2, size), np.linspace(-30, 10, size)]
    tree = [mx.array(w.astype(F32)).reshape(shape) for w in expected]
    for t in range(1, STEPS + 1):
        g = gradient_at(t, size)
        gradients = {"w": [mx.array(g).reshape(shape)] * 2}
        tree = optimizer.apply_gradients(gradients, {"w": tree})["w"]
        expected = [rule(w, g, t) for rule, w in zip(rules, expected, strict=True)]
        for got, w in zip(tree, expected, strict=True):
            np.testing.assert_allclose(np.array(got).ravel(), w, rtol=1e-4, atol=1e-5)


def test_lamb_of_zeros_steps_as_adam():
    """The quotient of the norms is 1 where one of them is 0."""
    g = mx.array([0.5, -2.0])
    got = optimizers.LAMB(0.1).apply_gradients({"w": g}, {"w": mx.zeros(2)})["w"]
    adam = optimizers.Adam(0.1, eps=1e-6, bias_correction=True)
    expected = adam.apply_gradients({"w": g}, {"w": mx.zeros(2)})["w"]
    np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-5)
    empty = {"w": mx.zeros((0, 3))}
    assert optimizers.LAMB(0.1).apply_gradients(empty, empty)["w"].shape == (0, 3)


@pytest.mark.parametrize("make", [optimizers.NAdam, optimizers.RAdam, optimizers.LAMB])
def test_rules_in_float64(make):
    """Corrections of the bias are not rounded to float32."""
    rule = {"NAdam": Nadam, "RAdam": Radam, "LAMB": Lamb}[make.__name__](0.1)
    optimizer = make(0.1, **({"weight_decay": 0.0, "eps": 1e-8} if make is optimizers.LAMB else {}))
    optimizer.state["learning_rate"] = mx.array(0.1, mx.float64)
    expected = np.linspace(1, 2, 4)
    w = mx.array(expected)
    for t in range(1, STEPS + 1):
        g = gradient_at(t, 4).astype(np.float64)
        w = optimizer.apply_gradients({"w": mx.array(g)}, {"w": w})["w"]
        expected = rule(expected, g, t)
        np.testing.assert_allclose(np.array(w), expected, rtol=1e-12)


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (5, 5)])
def test_muon_steps_along_orthogonal_matrices(shape, rng):
    g = rng.normal(size=shape).astype(F32)
    optimizer = optimizers.Muon(1.0, weight_decay=0.0)
    step = -np.array(optimizer.apply_gradients({"w": mx.array(g)}, {"w": mx.zeros(shape)})["w"])
    u, _, vt = np.linalg.svd(g, full_matrices=False)
    scale = max(1, shape[0] / shape[1]) ** 0.5
    values = np.diag(u.T @ step.astype(np.float64) @ vt.T) / scale
    # Five steps of the iteration move all but tiny singular values between 0.7 and 1.2.
    assert ((values > 0.6) & (values < 1.25)).all()
    np.testing.assert_allclose(step, u @ np.diag(values * scale) @ vt, atol=1e-4)


def test_muon_of_nothing():
    optimizer = optimizers.Muon(0.1)
    empty = {"w": mx.zeros((0, 3))}
    assert optimizer.apply_gradients(empty, empty)["w"].shape == (0, 3)


def test_parameters_may_join_later():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model.layers[0].freeze()
    optimizer = optimizers.Adam(0.1)
    loss = nn.value_and_grad(model, lambda x: model(x).square().sum())
    for _ in range(2):
        optimizer.update(model, loss(mx.ones((1, 2)))[1])
    before = optimizer.state["layers"][1]["weight"]["m"].tolist()
    model.unfreeze()
    gradients = loss(mx.ones((1, 2)))[1]
    optimizer.update(model, gradients)
    m = np.array(optimizer.state["layers"][0]["weight"]["m"])
    np.testing.assert_allclose(m, 0.1 * np.array(gradients["layers"][0]["weight"]), rtol=1e-5)
    assert optimizer.state["layers"][1]["weight"]["m"].tolist() != before
    assert optimizer.step.item() == 3


@pytest.mark.parametrize(
    ("gradients", "message"),
    [
        ({"nope": mx.ones((2,))}, "nope is not a parameter, but has a gradient"),
        ({"layers": [{"nope": mx.ones((2,))}]}, r"layers\.0\.nope is not a parameter, but has a"),
        ({"layers": [{}, {}, {}]}, "got a list of 3 gradients for layers, expected a tree"),
        ({"layers": [{"weight": mx.ones((3, 2, 2))}]}, r"layers\.0\.weight: got the shape \(3, "),
        ({"layers": [{"weight": None}]}, r"gradient for layers\.0\.weight: got NoneType"),
        ({"layers": [mx.ones((2,))]}, r"the parameter for layers\.0: got Linear"),
        ([mx.ones((2,))], "got a list of 1 gradients for the parameters"),
    ],
)
def test_gradients_without_a_parameter_change_nothing(gradients, message):
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    optimizer = optimizers.SGD(0.1, momentum=0.9)
    optimizer.init(model.trainable_parameters())
    before = [*tree_flatten(model.parameters()), *tree_flatten(optimizer.state)]
    with pytest.raises((ValueError, TypeError), match=rf"^\[update\] .*{message}"):
        optimizer.update(model, gradients)
    after = [*tree_flatten(model.parameters()), *tree_flatten(optimizer.state)]
    assert all(a is b for (_, a), (_, b) in zip(after, before, strict=True))


def test_several_optimizers_step_together_or_not_at_all():
    optimizer = optimizers.MultiOptimizer(
        [optimizers.Adam(0.1), optimizers.Adam(0.1)], [lambda path, x: path == "a"]
    )
    tree = {"a": mx.ones((2,)), "b": mx.ones((2,))}
    optimizer.apply_gradients(tree, tree)
    before = tree_flatten(optimizer.state)
    with pytest.raises(ValueError, match=r"^\[apply_gradients\] the gradient for b: got the shape"):
        optimizer.apply_gradients({"a": mx.ones((2,)), "b": mx.ones((3,))}, tree)
    assert all(x is y for (_, x), (_, y) in zip(tree_flatten(optimizer.state), before, strict=True))


def test_init_wants_a_tree_with_names():
    with pytest.raises(TypeError, match=r"^\[init\] parameters: got list, expected a dict"):
        optimizers.SGD(0.1).init([mx.ones((1,))])


def test_several_optimizers_and_places_without_parameters():
    optimizer = optimizers.MultiOptimizer(
        [optimizers.SGD(1.0), optimizers.SGD(10.0)], [lambda path, x: x.ndim == 2]
    )
    tree = {"layers": [{"w": mx.ones((1, 1)), "b": mx.ones((1,))}, {}, {"w": mx.ones((1, 1))}]}
    new = optimizer.apply_gradients(tree, tree)
    assert tree_map(lambda x: x.item(), new) == {"layers": [{"w": 0.0, "b": -9.0}, {}, {"w": 0.0}]}


@pytest.mark.parametrize(
    "make",
    [
        lambda rate: optimizers.SGD(rate),
        lambda rate: optimizers.Adam(rate),
        lambda rate: setattr(optimizers.SGD(0.1), "learning_rate", rate),
        lambda rate: optimizers.SGD(lambda step: rate),
    ],
)
@pytest.mark.parametrize("rate", ["0.1", None, [0.1, 0.2], b"1"])
def test_a_learning_rate_is_a_number(make, rate):
    text = rf"^\[\w+\] learning_rate: got {type(rate).__name__}, expected a number"
    with pytest.raises(TypeError, match=text):
        make(rate)


@pytest.mark.parametrize("rate", [1, 0.5, np.float32(0.5), np.array(0.5), mx.array(0.5), True])
def test_learning_rates_of_any_kind_of_number(rate):
    assert optimizers.SGD(rate).learning_rate.item() == float(rate)


@pytest.mark.parametrize("make", [lambda: optimizers.SGD(0.1), lambda: optimizers.Adam(0.1)])
@pytest.mark.parametrize("dtype", [mx.int32, mx.uint32, mx.bool_])
def test_parameters_that_are_no_floats_stay(dtype, make):
    """A step would turn indices, masks or packed codes into floats."""
    model = nn.Linear(2, 2)
    model.places = [mx.array([1, 0]).astype(dtype)]
    loss = nn.value_and_grad(model, lambda x: (model(x) * model.places[0]).sum())
    before = model.weight
    make().update(model, loss(mx.ones((1, 2)))[1])
    assert model.places[0].dtype == dtype
    assert model.places[0].tolist() == [1, 0]
    assert model.weight.tolist() != before.tolist()


def test_a_rule_that_fails_changes_no_state():
    class Stubborn(optimizers.Adam):
        def apply_single(self, gradient, parameter, state):
            new = super().apply_single(gradient, parameter, state)
            if parameter.ndim == 1:
                return self.nothing_of_that_name
            return new

    model = nn.Linear(2, 2)
    gradients = tree_map(mx.ones_like, model.parameters())
    for optimizer in (
        Stubborn(0.1),
        optimizers.MultiOptimizer(
            [optimizers.Adam(0.1), Stubborn(0.1)], [lambda path, x: x.ndim == 2]
        ),
    ):
        optimizer.init(model.parameters())
        before = tree_flatten(optimizer.state)
        with pytest.raises(AttributeError, match=r"^'Stubborn' object has no attribute"):
            optimizer.update(model, gradients)
        after = tree_flatten(optimizer.state)
        assert all(a is b for (_, a), (_, b) in zip(after, before, strict=True))


def test_states_that_lack_something():
    optimizer = optimizers.SGD(0.1)
    with pytest.raises(TypeError, match=r"^\[SGD\] state: got list, expected a dict"):
        optimizer.state = []
    with pytest.raises(TypeError, match=r"^\[MultiOptimizer\] state: got list, expected a dict"):
        optimizers.MultiOptimizer([optimizer]).state = []
    optimizer.state = {"step": mx.array(0, mx.uint64)}
    tree = {"a": mx.ones(2)}
    with pytest.raises(KeyError, match=r"\[apply_gradients\] state lacks 'learning_rate'"):
        optimizer.apply_gradients(tree, tree)
    assert optimizer.step.item() == 0


ALL = [
    optimizers.AdaDelta,
    optimizers.Adagrad,
    optimizers.Adam,
    optimizers.AdamW,
    optimizers.Adamax,
    optimizers.LAMB,
    optimizers.Lion,
    optimizers.Muon,
    optimizers.NAdam,
    optimizers.RAdam,
    optimizers.RMSprop,
    optimizers.SGD,
    lambda rate: optimizers.SGD(rate, momentum=0.9),
    lambda rate: optimizers.Adafactor(rate, beta_1=0.9, relative_step=False),
    lambda rate: optimizers.MultiOptimizer(
        [optimizers.SGD(rate), optimizers.Adam(rate)], [lambda path, x: x.ndim < 2]
    ),
    lambda rate: optimizers.MultiSteps(optimizers.Adam(rate), 1),
]


@pytest.mark.parametrize("rule", ALL)
def test_one_array_is_a_tree(rule):
    alone, in_tree = rule(0.1), rule(0.1)
    w = v = mx.array([[1.0, -2.0], [3.0, 0.5]])
    for step in range(3):
        if step == 2:
            alone, before = rule(0.1), alone.state
            alone.state = before
        w = alone.apply_gradients(w * w, w)
        v = in_tree.apply_gradients({"v": v * v}, {"v": v})["v"]
        assert w.tolist() == v.tolist()


def test_states_of_parameters_that_lack_something():
    tree = {"layers": [{}, {"w": mx.ones((3, 2))}], "n": mx.array([1])}

    def restored(state, optimizer):
        optimizer.init(tree)
        optimizer.state = tree_unflatten(
            [pair for path, x in tree_flatten(optimizer.state) for pair in state(path, x)]
        )
        before = tree_flatten(optimizer.state)
        return optimizer, before

    def refused(state, optimizer, error, message):
        optimizer, before = restored(state, optimizer)
        with pytest.raises(error, match=message):
            optimizer.apply_gradients(tree, tree)
        after = tree_flatten(optimizer.state)
        assert [path for path, _ in after] == [path for path, _ in before]
        assert all(a is b for (_, a), (_, b) in zip(after, before, strict=True))

    def without_v(path, x):
        return [] if path.endswith("w.v") else [(path, x)]

    def reshaped(shape):
        return lambda path, x: [(path, mx.zeros(shape) if path.endswith("w.v") else x)]

    of = r"\[apply_gradients\] the state of {} for layers\.1\.w"
    lacks = of + " lacks 'v', expected {}"
    refused(without_v, optimizers.Adam(0.1), KeyError, lacks.format("Adam", "m, v"))
    refused(without_v, optimizers.AdaDelta(0.1), KeyError, lacks.format("AdaDelta", "v, u"))
    multi = optimizers.MultiOptimizer([optimizers.Adam(0.1)])
    refused(without_v, multi, KeyError, lacks.format("Adam", "m, v"))
    # Some of these would broadcast.
    for shape in ((4,), (4, 3, 2), (1, 3, 2)):
        message = of.format("Adam") + r": got v of shape .*, expected \(3, 2\)$"
        refused(reshaped(shape), optimizers.Adam(0.1), ValueError, message)
    # A state that is whole is none of these.
    optimizer, _ = restored(lambda path, x: [(path, x)], optimizers.Adam(0.1))
    assert optimizer.apply_gradients(tree, tree)["n"].tolist() == [1]


def test_a_state_with_a_bad_part_changes_nothing():
    inner = optimizers.MultiOptimizer([optimizers.Adam(0.1)])
    outer = optimizers.MultiOptimizer([optimizers.SGD(0.1), inner], [lambda path, x: True])
    before = [outer.optimizers[0].state, inner.optimizers[0].state]
    for bad in (3, {}, {"states": 3}, {"states": [3]}, {"states": [{}, {}]}):
        with pytest.raises((TypeError, ValueError), match=r"^\[MultiOptimizer\] |^\[Adam\] "):
            outer.state = {"states": [{"step": mx.array(7)}, bad]}
        after = [outer.optimizers[0].state, inner.optimizers[0].state]
        assert all(a is b for a, b in zip(after, before, strict=True))


def test_adafactor_keeps_means_in_the_dtype_of_the_parameters():
    for shape in ((3,), (3, 2)):
        optimizer = optimizers.Adafactor(beta_1=0.9)
        parameters = {"a": mx.ones(shape)}
        new = optimizer.apply_gradients({"a": mx.ones(shape, mx.bfloat16)}, parameters)
        assert {x.dtype for x in (new["a"], *optimizer.state["a"].values())} == {mx.float32}


@pytest.mark.parametrize("eps", [1e-3, (1e-3,), "ab"])
def test_adafactor_takes_two_eps(eps):
    with pytest.raises(TypeError, match=r"^\[Adafactor\] eps: got .*, expected two numbers"):
        optimizers.Adafactor(eps=eps)
