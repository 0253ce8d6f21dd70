"""`umber.nn` gives what `mlx.nn` gives, where MLX is: names, signatures, functions, losses.

Layers are compared in `test_nn_layers_mlx.py`, optimizers in `test_optimizers_mlx.py`.
"""

import inspect

import numpy as np
import pytest
import umber.core as mx
from mlx_trees import assert_same
from tolerances import gradient_tolerance_of, tolerance_of
from umber import nn, optimizers, utils

mlx = pytest.importorskip("mlx.core")
mlx_nn = pytest.importorskip("mlx.nn")
mlx_optimizers = pytest.importorskip("mlx.optimizers")
mlx_utils = pytest.importorskip("mlx.utils")

F32 = np.float32
RNG = np.random.default_rng(0)
X = (RNG.normal(size=(8, 6)) * 2).astype(F32)
Y = RNG.normal(size=(8, 6)).astype(F32)
P = RNG.uniform(0.05, 0.95, size=(8, 6)).astype(F32)
W = RNG.uniform(0.5, 2, size=8).astype(F32)
CLASSES = RNG.integers(0, 6, size=8)
HALVES = ["float32", "float16", "bfloat16"]


def arrays(core, inputs, dtype):
    """The inputs in both frameworks, floats with the dtype."""
    given = [core.array(x) for x in inputs]
    return [x.astype(getattr(core, dtype)) if x.dtype == core.float32 else x for x in given]


# Function, inputs, options.
FUNCTIONS = [
    *(
        (name, (X,), {})
        for name in (
            *("celu", "elu", "gelu", "gelu_approx", "gelu_fast_approx", "glu", "hard_shrink"),
            *("hard_tanh", "hardswish", "leaky_relu", "log_sigmoid", "log_softmax", "mish", "relu"),
            *("relu2", "relu6", "selu", "sigmoid", "silu", "softmax", "softmin", "softplus"),
            *("softshrink", "softsign", "step", "tanh"),
        )
    ),
    ("celu", (X,), {"alpha": 0.5}),
    ("elu", (X,), {"alpha": 2.0}),
    ("glu", (X,), {"axis": 0}),
    ("hard_shrink", (X,), {"lambd": 1.0}),
    ("hard_tanh", (X,), {"min_val": -0.5, "max_val": 2.0}),
    ("leaky_relu", (X,), {"negative_slope": 0.3}),
    ("log_softmax", (X,), {"axis": 0}),
    ("prelu", (X, Y[0]), {}),
    ("softmax", (X,), {"axis": 0}),
    ("softmin", (X,), {"axis": 0}),
    ("softshrink", (X,), {"lambd": 1.0}),
    ("step", (X,), {"threshold": 0.5}),
]

LOSSES = [
    ("cross_entropy", (X, CLASSES), {}),
    ("cross_entropy", (X, CLASSES, W), {"label_smoothing": 0.1, "reduction": "mean"}),
    ("cross_entropy", (X.T, CLASSES), {"axis": 0}),
    ("cross_entropy", (X, P), {"label_smoothing": 0.2}),
    ("binary_cross_entropy", (X, P), {}),
    ("binary_cross_entropy", (X, P, Y), {"reduction": "none"}),
    ("binary_cross_entropy", (P, P[::-1].copy()), {"with_logits": False}),
    ("nll_loss", (X, CLASSES), {}),
    ("nll_loss", (X.T, CLASSES), {"axis": 0, "reduction": "sum"}),
    ("kl_div_loss", (np.log(P), np.log(P[::-1])), {}),
    ("kl_div_loss", (np.log(P), np.log(P[::-1])), {"axis": 0, "reduction": "mean"}),
    ("mse_loss", (X, Y), {}),
    ("mse_loss", (X, Y), {"reduction": "none"}),
    ("l1_loss", (X, Y), {}),
    ("l1_loss", (X, Y), {"reduction": "sum"}),
    ("smooth_l1_loss", (X, Y), {}),
    ("smooth_l1_loss", (X, Y), {"beta": 0.3, "reduction": "none"}),
    ("huber_loss", (X, Y), {}),
    ("huber_loss", (X, Y), {"delta": 0.3, "reduction": "mean"}),
    ("log_cosh_loss", (X, Y), {}),
    ("hinge_loss", (X, np.sign(Y)), {}),
    ("gaussian_nll_loss", (X, Y, P), {}),
    ("gaussian_nll_loss", (X, Y, P), {"full": True, "eps": 0.5, "reduction": "none"}),
    ("cosine_similarity_loss", (X, Y), {}),
    ("cosine_similarity_loss", (X, Y), {"axis": 0, "eps": 30.0, "reduction": "mean"}),
    ("margin_ranking_loss", (X, Y, np.sign(P - 0.5)), {}),
    ("margin_ranking_loss", (X, Y, np.sign(P - 0.5)), {"margin": 0.4, "reduction": "sum"}),
    ("triplet_loss", (X, Y, P), {}),
    ("triplet_loss", (X, Y, P), {"axis": 0, "p": 3, "margin": 0.2, "eps": 0.1}),
]

CALLS = [
    *((nn, mlx_nn, *row) for row in FUNCTIONS),
    *((nn.losses, mlx_nn.losses, *row) for row in LOSSES),
]


def name_of(value):
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(("ours", "theirs", "name", "inputs", "options"), CALLS, ids=name_of)
def test_functions(ours, theirs, name, inputs, options, dtype):
    y = getattr(ours, name)(*arrays(mx, inputs, dtype), **options)
    z = getattr(theirs, name)(*arrays(mlx, inputs, dtype), **options)
    # Halves round after every operation in MLX.
    assert_same(y, z, tolerance_of(dtype, 8 if dtype == "float32" else 4))


@pytest.mark.parametrize(
    ("ours", "theirs", "name", "inputs", "options"),
    [call for call in CALLS if call[2] != "step"],  # whose values are integers
    ids=name_of,
)
def test_gradients_of_functions(ours, theirs, name, inputs, options):
    def gradients(core, functions):
        floats = [i for i, x in enumerate(inputs) if x.dtype == F32]

        def loss(*given):
            return (getattr(functions, name)(*given, **options) * 3).sum()

        return core.grad(loss, argnums=floats)(*arrays(core, inputs, "float32"))

    assert_same(gradients(mx, ours), gradients(mlx, theirs), gradient_tolerance_of("float32"))


INITIALISERS = {
    "constant": (3.0,),
    "normal": (1.0, 2.0),
    "uniform": (-1.0, 2.0),
    "identity": (),
    "glorot_normal": (),
    "glorot_uniform": (),
    "he_normal": (),
    "he_uniform": (),
    "orthogonal": (2.0,),
    "sparse": (0.3, 1.0, 2.0),
}


@pytest.mark.parametrize("name", INITIALISERS)
@pytest.mark.parametrize("dtype", HALVES)
def test_initialisers(name, dtype):
    shapes = {
        "identity": [(4, 4)],
        "orthogonal": [(4, 4), (6, 4), (4, 6)],
        "sparse": [(4, 6), (3, 10)],
    }
    for shape in shapes.get(name, [(4, 6), (4, 3, 3, 6)]):

        def make(core, layers, shape=shape):
            core.random.seed(9)
            options = {"dtype": getattr(core, dtype)}
            return getattr(layers.init, name)(*INITIALISERS[name], **options)(core.zeros(shape))

        # Where values are normal there is the error of MLX's erfinv.
        factor = {"orthogonal": 4}.get(name, 1)
        assert_same(make(mx, nn), make(mlx, mlx_nn), tolerance_of(dtype, factor))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("he_normal", {"mode": "fan_out", "gain": 2.0}),
        ("he_uniform", {"mode": "fan_out"}),
        ("glorot_normal", {"gain": 3.0}),
        ("glorot_uniform", {"gain": 0.5}),
    ],
)
def test_options_of_initialisers(name, options):
    def make(core, layers):
        core.random.seed(9)
        return getattr(layers.init, name)()(core.zeros((4, 3, 6)), **options)

    assert_same(make(mx, nn), make(mlx, mlx_nn), tolerance_of("float32"))


def test_training_gives_the_same_losses():
    """A model, a loss and an optimizer together, from the same seed."""

    def losses_of(core, layers, optimizer, transform):
        core.random.seed(1)
        model = layers.Sequential(layers.Linear(6, 16), layers.GELU(), layers.Linear(16, 6))
        x, y = core.array(X), core.array(CLASSES)

        def loss_fn(x, y):
            return layers.losses.cross_entropy(model(x), y, reduction="mean")

        losses = []
        for _ in range(20):
            loss, gradients = transform(model, loss_fn)(x, y)
            optimizer.update(model, gradients)
            losses.append(loss.item())
        return losses

    ours = losses_of(mx, nn, optimizers.Adam(0.01), nn.value_and_grad)
    theirs = losses_of(mlx, mlx_nn, mlx_optimizers.Adam(0.01), mlx_nn.value_and_grad)
    np.testing.assert_allclose(ours, theirs, rtol=1e-3)
    assert ours[-1] < 0.8 * ours[0]


# Names of MLX that are not here on purpose, or not yet.
ABSENT = {
    # They need collective operations.
    "AllToShardedLinear", "FullyShardedModule", "QuantizedAllToShardedLinear",
    "QuantizedShardedToAllLinear", "ShardedToAllLinear",
    "clip_grad_norm_sharded", "fully_shard",
}  # fmt: skip

HOMES = {
    "nn": (nn, mlx_nn),
    "losses": (nn.losses, mlx_nn.losses),
    "init": (nn.init, mlx_nn.init),
    "nn.utils": (nn.utils, mlx_nn.utils),
    "optimizers": (optimizers, mlx_optimizers),
    "utils": (utils, mlx_utils),
}


def public_names(home):
    """The classes and functions that are defined in MLX, not the names that its files import."""
    for name in dir(home):
        value = getattr(home, name)
        defined = getattr(value, "__module__", None) or ""
        if not name.startswith("_") and callable(value) and defined.startswith("mlx"):
            yield name


def parameters_of(function):
    """All but `*args` and `**kwargs`, which say nothing."""
    parameters = inspect.signature(function).parameters.values()
    return [p for p in parameters if p.name != "args" and p.kind is not p.VAR_KEYWORD]


def same_default(ours, theirs):
    """Lists and tuples are equal, dtypes and functions are compared by name."""
    if isinstance(theirs, (list, tuple)):
        return list(ours) == list(theirs)
    if callable(theirs):
        return callable(ours)
    return ours == theirs or str(ours).split(".")[-1] == str(theirs).split(".")[-1]


@pytest.mark.parametrize("home", HOMES)
def test_names_and_signatures(home):
    ours, theirs = HOMES[home]
    for name in public_names(theirs):
        if name in ABSENT:
            assert not hasattr(ours, name), f"{name} is there now: take it out of ABSENT"
            continue
        # `mlx.optimizers` and `mlx.nn.utils` also show what they import.
        if not hasattr(ours, name) and getattr(theirs, name).__module__ != theirs.__name__:
            assert any(hasattr(other, name) for other, _ in HOMES.values()), name
            continue
        assert_same_parameters(getattr(ours, name), getattr(theirs, name), f"{home}.{name}")


def assert_same_parameters(ours, theirs, name):
    ours, theirs = parameters_of(ours), parameters_of(theirs)
    # What umber has more can only be given by name.
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in ours[len(theirs) :]), name
    for a, b in zip(ours, theirs, strict=False):
        assert a.name == b.name, name
        assert same_default(a.default, b.default), f"{name}: {a.name}"


def members(cls):
    return {name for name in dir(cls) if not name.startswith("_")} - set(dir(dict)) - ABSENT


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in public_names(mlx_nn)
        if inspect.isclass(getattr(mlx_nn, name)) and name not in ABSENT
    ],
)
def test_members_of_layers(name):
    ours, theirs = getattr(nn, name), getattr(mlx_nn, name)
    assert members(theirs) <= members(ours)
    for member in members(theirs):
        if callable(getattr(theirs, member)) and not isinstance(getattr(theirs, member), type):
            assert_same_parameters(
                getattr(ours, member), getattr(theirs, member), f"{name}.{member}"
            )


def test_calls_of_layers():
    """What a layer is called with has MLX's names, and defaults where MLX has some."""
    for name in public_names(mlx_nn):
        theirs = getattr(mlx_nn, name)
        if not inspect.isclass(theirs) or name in ABSENT or name == "Module":
            continue
        ours = parameters_of(getattr(nn, name).__call__)
        for a, b in zip(ours[1:], parameters_of(theirs.__call__)[1:], strict=False):
            assert a.name == b.name, name
            if b.default is not inspect.Parameter.empty:
                assert a.default == b.default, f"{name}: {a.name}"
