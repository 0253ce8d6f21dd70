"""`umber.optimizers` gives what `mlx.optimizers` gives: weights, states, schedules, clipping."""

import numpy as np
import pytest
import umber.core as mx
from mlx_trees import assert_same, to_mlx
from tolerances import Tolerance, tolerance_of
from umber import nn, optimizers

mlx = pytest.importorskip("mlx.core")
mlx_nn = pytest.importorskip("mlx.nn")
mlx_optimizers = pytest.importorskip("mlx.optimizers")

F32 = np.float32
STEPS = 20

# Name, options beside the learning rate.
OPTIMIZERS = [
    ("SGD", {}),
    ("SGD", {"weight_decay": 0.1}),
    ("SGD", {"momentum": 0.9, "weight_decay": 0.1, "dampening": 0.2}),
    ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("Adam", {}),
    ("Adam", {"betas": [0.8, 0.95], "eps": 1e-3}),
    ("Adam", {"bias_correction": True}),
    ("AdamW", {}),
    ("AdamW", {"weight_decay": 0.3, "bias_correction": True}),
    ("Adamax", {}),
    ("Adamax", {"betas": [0.8, 0.95], "eps": 1e-3}),
    ("Adagrad", {}),
    ("Adagrad", {"eps": 1e-2}),
    ("RMSprop", {}),
    ("RMSprop", {"alpha": 0.5, "eps": 1e-2}),
    ("AdaDelta", {}),
    ("AdaDelta", {"rho": 0.5, "eps": 1e-3}),
    ("Lion", {}),
    ("Lion", {"betas": [0.8, 0.9], "weight_decay": 0.1}),
    ("Adafactor", {}),
    ("Adafactor", {"relative_step": False}),
    ("Adafactor", {"beta_1": 0.9, "weight_decay": 0.1, "scale_parameter": False}),
    ("Adafactor", {"warmup_init": True, "clip_threshold": 0.5, "decay_rate": -0.5}),
    ("Muon", {}),
    ("Muon", {"nesterov": False, "ns_steps": 3, "weight_decay": 0.2, "momentum": 0.5}),
]
RATES = {
    "number": lambda module: 0.1,
    "exponential": lambda module: module.exponential_decay(0.1, 0.9),
    "step": lambda module: module.step_decay(0.1, 0.5, 6),
    "cosine": lambda module: module.cosine_decay(0.1, 15, 0.01),
    "joined": lambda module: module.join_schedules(
        [module.linear_schedule(0.0, 0.1, 5), module.exponential_decay(0.1, 0.9)], [5]
    ),
}


def random_tree(rng, holes=True):
    """Parameters with every number of axes, in dicts and lists."""
    layers = [{"w": (5, 3), "b": (5,)}, *([{}] if holes else []), {"w": (3, 4)}]
    shapes = {"layers": layers, "k": (4, 2, 2, 3), "s": ()}

    def draw(shape):
        if isinstance(shape, dict):
            return {key: draw(child) for key, child in shape.items()}
        if isinstance(shape, list):
            return [draw(child) for child in shape]
        return mx.array(np.asarray(rng.normal(size=shape), dtype=F32))

    return draw(shapes)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=str)
def test_twenty_steps(name, options, rate):
    ours, theirs = (
        getattr(module, name)(RATES[rate](module), **options)
        for module in (optimizers, mlx_optimizers)
    )
    rng = np.random.default_rng(5)
    parameters = random_tree(rng)
    twin = to_mlx(parameters)
    for step in range(STEPS):
        gradients = random_tree(rng)
        parameters = ours.apply_gradients(gradients, parameters)
        twin = theirs.apply_gradients(to_mlx(gradients), twin)
        if step in (0, 1, STEPS - 1):
            # Each step rounds, and where a root is divided by, small gradients matter much.
            assert_same(parameters, twin, Tolerance(2e-5, 2e-5))
            assert_same(ours.state, theirs.state, Tolerance(2e-5, 2e-5))


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=str)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves(name, options, dtype):
    ours, theirs = (
        getattr(module, name)(0.1, **options) for module in (optimizers, mlx_optimizers)
    )
    rng = np.random.default_rng(5)
    w, g = (np.asarray(rng.normal(size=(4, 6)), dtype=F32) for _ in range(2))
    new, twin = (
        optimizer.apply_gradients(
            {"w": core.array(g).astype(getattr(core, dtype))},
            {"w": core.array(w).astype(getattr(core, dtype))},
        )
        for core, optimizer in ((mx, ours), (mlx, theirs))
    )
    # A product of halves rounds as often as it is long in MLX, and Muon multiplies matrices.
    assert_same(new, twin, tolerance_of(dtype, 4))
    assert_same(ours.state, theirs.state, tolerance_of(dtype, 8))


@pytest.mark.parametrize("rate", [rate for rate in RATES if rate != "number"])
def test_schedules(rate):
    ours, theirs = RATES[rate](optimizers), RATES[rate](mlx_optimizers)
    for step in range(25):
        got, want = ours(mx.array(step, mx.uint64)), theirs(mlx.array(step, mlx.uint64))
        assert_same(got, want, tolerance_of("float32", 4))


def test_clip_grad_norm():
    rng = np.random.default_rng(5)
    gradients = random_tree(rng)
    for max_norm in (0.0, 0.5, 1e3):
        ours = optimizers.clip_grad_norm(gradients, max_norm)
        theirs = mlx_optimizers.clip_grad_norm(to_mlx(gradients), max_norm)
        assert_same(ours, theirs, tolerance_of("float32", 4))


def test_several_optimizers():
    def make(module):
        return module.MultiOptimizer(
            [module.Muon(0.05), module.SGD(0.1, momentum=0.9), module.AdamW(0.01)],
            [lambda path, x: x.ndim >= 2, lambda path, x: path.endswith("b")],
        )

    ours, theirs = make(optimizers), make(mlx_optimizers)
    rng = np.random.default_rng(5)
    parameters = random_tree(rng, holes=False)  # MLX cannot join two holes.
    twin = to_mlx(parameters)
    for _ in range(3):
        gradients = random_tree(rng, holes=False)
        parameters = ours.apply_gradients(gradients, parameters)
        twin = theirs.apply_gradients(to_mlx(gradients), twin)
    assert_same(parameters, twin, tolerance_of("float32", 8))
    assert_same(ours.state, theirs.state, tolerance_of("float32", 8))


def test_models_are_updated_alike():
    def train(core, layers, module):
        core.random.seed(3)
        model = layers.Sequential(
            layers.Conv2d(3, 4, 3, bias=False),
            layers.BatchNorm(4),
            layers.ReLU(),
            layers.MaxPool2d(2),
        )
        x = core.array(np.random.default_rng(1).normal(size=(2, 8, 8, 3)).astype(F32))
        optimizer = module.AdamW(module.linear_schedule(0.0, 0.01, 10))
        step = layers.value_and_grad(model, lambda: core.square(model(x) - 1).mean())
        losses = []
        for _ in range(STEPS):
            loss, gradients = step()
            gradients, _ = module.clip_grad_norm(gradients, 1.0)
            optimizer.update(model, gradients)
            losses.append(loss.item())
        return losses, model.parameters()

    losses, parameters = train(mx, nn, optimizers)
    expected, theirs = train(mlx, mlx_nn, mlx_optimizers)
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    assert_same(parameters, theirs, Tolerance(1e-3, 1e-3))
