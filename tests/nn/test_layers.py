"""Layers and activation functions against their formulas in NumPy."""

import math

import numpy as np
import pytest
import umber.core as mx
from umber import nn
from umber.utils import tree_flatten

F32 = np.float32
POINTS = np.array([-100, -3.5, -1, -0.5, -0.25, 0, 0.25, 0.5, 1, 2.5, 6, 7, 100], dtype=F32)


def np_sigmoid(x):
    return 1 / (1 + np.exp(-x))


def np_softplus(x):
    return np.logaddexp(x, 0)


def np_gelu(x):
    return np.array([v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x])


def np_gelu_approx(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def np_elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def np_softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# Module, function, formula in float64.
ACTIVATIONS = {
    "sigmoid": (nn.Sigmoid(), nn.sigmoid, np_sigmoid),
    "log_sigmoid": (nn.LogSigmoid(), nn.log_sigmoid, lambda x: -np_softplus(-x)),
    "tanh": (nn.Tanh(), nn.tanh, np.tanh),
    "hard_tanh": (nn.HardTanh(), nn.hard_tanh, lambda x: np.clip(x, -1, 1)),
    "softsign": (nn.Softsign(), nn.softsign, lambda x: x / (1 + np.abs(x))),
    "softplus": (nn.Softplus(), nn.softplus, np_softplus),
    "relu": (nn.ReLU(), nn.relu, lambda x: np.maximum(x, 0)),
    "relu2": (nn.ReLU2(), nn.relu2, lambda x: np.maximum(x, 0) ** 2),
    "relu6": (nn.ReLU6(), nn.relu6, lambda x: np.clip(x, 0, 6)),
    "leaky_relu": (nn.LeakyReLU(), nn.leaky_relu, lambda x: np.where(x > 0, x, 0.01 * x)),
    "leaky_relu 2": (
        nn.LeakyReLU(2.0),
        lambda x: nn.leaky_relu(x, 2.0),
        lambda x: np.where(x > 0, x, 2 * x),
    ),
    "prelu": (
        nn.PReLU(),
        lambda x: nn.prelu(x, mx.array([0.25])),
        lambda x: np.where(x > 0, x, 0.25 * x),
    ),
    "elu": (nn.ELU(), nn.elu, np_elu),
    "elu 2": (nn.ELU(2.0), lambda x: nn.elu(x, 2.0), lambda x: np_elu(x, 2.0)),
    "celu": (nn.CELU(), nn.celu, np_elu),
    "celu 2": (nn.CELU(2.0), lambda x: nn.celu(x, 2.0), lambda x: 2 * np_elu(x / 2)),
    "selu": (
        nn.SELU(),
        nn.selu,
        lambda x: 1.0507009873554805 * np_elu(x, 1.6732632423543772),
    ),
    "silu": (nn.SiLU(), nn.silu, lambda x: x * np_sigmoid(x)),
    "mish": (nn.Mish(), nn.mish, lambda x: x * np.tanh(np_softplus(x))),
    "gelu": (nn.GELU(), nn.gelu, np_gelu),
    "gelu tanh": (nn.GELU("tanh"), nn.gelu_approx, np_gelu_approx),
    "gelu precise": (nn.GELU("precise"), nn.gelu_approx, np_gelu_approx),
    "gelu fast": (nn.GELU("fast"), nn.gelu_fast_approx, lambda x: x * np_sigmoid(1.702 * x)),
    "hardswish": (nn.Hardswish(), nn.hardswish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    "hard_shrink": (nn.HardShrink(), nn.hard_shrink, lambda x: np.where(np.abs(x) > 0.5, x, 0)),
    "softshrink": (
        nn.Softshrink(),
        nn.softshrink,
        lambda x: np.where(np.abs(x) > 0.5, x - 0.5 * np.sign(x), 0),
    ),
    "softmax": (nn.Softmax(), nn.softmax, np_softmax),
    "softmin": (nn.Softmin(), nn.softmin, lambda x: np_softmax(-x)),
    "log_softmax": (
        nn.LogSoftmax(),
        nn.log_softmax,
        lambda x: x - x.max() - np.log(np.exp(x - x.max()).sum()),
    ),
}
OF_AN_AXIS = {"softmax": nn.softmax, "softmin": nn.softmin, "log_softmax": nn.log_softmax}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_follow_their_formulas(name):
    module, function, formula = ACTIVATIONS[name]
    with np.errstate(over="ignore"):
        expected = formula(POINTS.astype(np.float64))
    for y in (function(mx.array(POINTS)), module(mx.array(POINTS))):
        assert y.dtype == mx.float32
        np.testing.assert_allclose(np.array(y), expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_keep_dtype_and_shape(name):
    module = ACTIVATIONS[name][0]
    module.set_dtype(mx.float16)
    for shape in ((2, 3), (0, 3), (2, 0, 3)):
        y = module(mx.zeros(shape, dtype=mx.float16))
        assert (y.shape, y.dtype) == (shape, mx.float16)


@pytest.mark.parametrize("name", [name for name in ACTIVATIONS if name not in OF_AN_AXIS])
def test_gradients_of_activations_are_finite_and_right(name):
    _, function, formula = ACTIVATIONS[name]
    gradient = np.array(mx.grad(lambda x: function(x).sum())(mx.array(POINTS)))
    assert np.isfinite(gradient).all()
    x = np.array([-2.7, -0.8, -0.3, 0.3, 0.8, 2.7])
    step = 1e-6
    expected = (formula(x + step) - formula(x - step)) / (2 * step)
    gradient = np.array(mx.grad(lambda x: function(x).sum())(mx.array(x.astype(F32))))
    np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
def test_slopes_of_exponential_units_at_zero(alpha):
    zero = mx.array(0.0)
    assert mx.grad(lambda x: nn.elu(x, alpha))(zero).item() == alpha
    assert mx.grad(lambda x: nn.celu(x, alpha))(zero).item() == 1.0


@pytest.mark.parametrize("name", OF_AN_AXIS)
def test_normalising_activations_take_an_axis(name):
    x = np.arange(6, dtype=F32).reshape(2, 3) ** 2
    along_rows = np.array(OF_AN_AXIS[name](mx.array(x.T), axis=0)).T
    np.testing.assert_allclose(along_rows, np.array(OF_AN_AXIS[name](mx.array(x))), rtol=1e-6)
    # Shifted far out, the result is the same but for the rounding of 1000 in float32.
    shifted = np.array(OF_AN_AXIS[name](mx.array(x + 1000)))
    np.testing.assert_allclose(shifted, np.array(OF_AN_AXIS[name](mx.array(x))), atol=1e-4)


def test_step_and_glu():
    assert nn.step(mx.array([-1.0, 0.0, 2.0])).tolist() == [0, 1, 1]
    assert nn.Step(1.0)(mx.array([0.9, 1.0])).tolist() == [0, 1]
    x = np.linspace(-2, 2, 8, dtype=F32).reshape(2, 4)
    expected = x[:, :2] * np_sigmoid(x[:, 2:])
    np.testing.assert_allclose(np.array(nn.glu(mx.array(x))), expected, rtol=1e-5)
    np.testing.assert_allclose(np.array(nn.GLU(0)(mx.array(x.T))), expected.T, rtol=1e-5)


def test_prelu_learns_its_slopes():
    layer = nn.PReLU(2, init=0.5)
    layer.weight = mx.array([0.5, 0.1])
    assert nn.PReLU(2, init=0.5).weight.tolist() == [0.5, 0.5]
    _, gradients = nn.value_and_grad(layer, lambda x: layer(x).sum())(mx.array([[-1.0, -2.0]]))
    assert gradients["weight"].tolist() == [-1.0, -2.0]


def test_prelu_at_zero_and_beyond_numbers():
    points = mx.array([0.0, -0.0, math.inf, -math.inf, math.nan, 2.0, -2.0])
    alpha = mx.array([0.25])
    values = nn.prelu(points, alpha).tolist()
    assert values[:4] == [0.0, 0.0, math.inf, -math.inf]
    assert math.isnan(values[4])
    slopes = mx.grad(lambda x: nn.prelu(x, alpha).sum())(points).tolist()
    assert slopes == [0.25, 0.25, 1.0, 0.25, 0.25, 1.0, 0.25]
    # What is above 0 says nothing about the slope below, be it infinite.
    above = mx.array([math.inf, 1.0, -3.0])
    assert mx.grad(lambda a: nn.prelu(above, a).sum())(alpha).tolist() == [-3.0]


def test_gelu_wants_a_known_approximation():
    with pytest.raises(ValueError, match=r"^\[GELU\] got the approximation 'best', expected one"):
        nn.GELU("best")


def test_linear():
    layer = nn.Linear(3, 2)
    x = np.random.default_rng(0).normal(size=(4, 5, 3)).astype(F32)
    expected = x @ np.array(layer.weight).T + np.array(layer.bias)
    np.testing.assert_allclose(np.array(layer(mx.array(x))), expected, rtol=1e-5, atol=1e-6)
    assert layer(mx.array(x[0, 0])).shape == (2,)
    assert layer(mx.zeros((0, 3))).shape == (0, 2)
    plain = nn.Linear(3, 2, bias=False)
    np.testing.assert_allclose(
        np.array(plain(mx.array(x))), x @ np.array(plain.weight).T, rtol=1e-5, atol=1e-6
    )
    assert "bias" not in plain
    with pytest.raises(ValueError, match=r"\(4, ?2\)"):
        layer(mx.zeros((4, 2)))


@pytest.mark.parametrize(("x1", "x2"), [((2,), (3,)), ((5, 2), (5, 3)), ((4, 5, 2), (4, 5, 3))])
def test_bilinear(x1, x2):
    rng = np.random.default_rng(0)
    x1, x2 = rng.normal(size=x1).astype(F32), rng.normal(size=x2).astype(F32)
    for bias in (True, False):
        layer = nn.Bilinear(2, 3, 4, bias=bias)
        expected = np.einsum("...i,oji,...j->...o", x1, np.array(layer.weight), x2)
        if bias:
            expected = expected + np.array(layer.bias)
        np.testing.assert_allclose(
            np.array(layer(mx.array(x1), mx.array(x2))), expected, rtol=1e-4, atol=1e-5
        )
    assert repr(layer) == "Bilinear(input1_dims=2, input2_dims=3, output_dims=4, bias=False)"


def test_identity_ignores_its_arguments():
    x = mx.ones((2,))
    assert nn.Identity(3, bias=False)(x) is x


@pytest.mark.parametrize(
    ("make", "bound"),
    [
        (lambda: nn.Linear(16, 400), 1 / 4),
        (lambda: nn.Bilinear(25, 8, 50), 1 / 5),
    ],
)
def test_uniform_weights_fill_their_interval(make, bound):
    mx.random.seed(0)
    layer = make()
    for name in ("weight", "bias"):
        values = np.array(layer[name])
        assert values.dtype == F32
        assert np.abs(values).max() <= bound
    weight = np.array(layer.weight)
    assert abs(weight.mean()) < 0.05 * bound
    np.testing.assert_allclose(weight.std(), bound / np.sqrt(3), rtol=0.05)


def test_the_seed_decides_the_weights():
    def weights():
        mx.random.seed(7)
        model = nn.Sequential(nn.Linear(3, 4), nn.Embedding(5, 6), nn.Bilinear(2, 2, 2))
        return dict(tree_flatten(model.parameters()))

    first, second = weights(), weights()
    for path, value in first.items():
        np.testing.assert_array_equal(np.array(value), np.array(second[path]))
    # The order of the draws is part of the contract.
    mx.random.seed(7)
    s = 1 / np.sqrt(3)
    np.testing.assert_array_equal(
        np.array(first["layers.0.weight"]), np.array(mx.random.uniform(-s, s, (4, 3)))
    )
    np.testing.assert_array_equal(
        np.array(first["layers.0.bias"]), np.array(mx.random.uniform(-s, s, (4,)))
    )
    np.testing.assert_array_equal(
        np.array(first["layers.1.weight"]),
        np.array(mx.random.normal((5, 6), scale=1 / np.sqrt(6))),
    )


def test_embedding():
    layer = nn.Embedding(7, 3)
    table = np.array(layer.weight)
    indices = np.array([[0, 6], [2, 2]])
    np.testing.assert_array_equal(np.array(layer(mx.array(indices))), table[indices])
    np.testing.assert_array_equal(np.array(layer(mx.array(4))), table[4])
    x = np.ones((2, 3), dtype=F32)
    np.testing.assert_allclose(np.array(layer.as_linear(mx.array(x))), x @ table.T, rtol=1e-5)
    _, gradients = nn.value_and_grad(layer, lambda i: layer(i).sum())(mx.array(indices))
    np.testing.assert_array_equal(
        np.array(gradients["weight"])[:, 0], np.bincount(indices.ravel(), minlength=7)
    )
    assert repr(layer) == "Embedding(7, 3)"


def test_embedding_of_places_that_hold_nothing():
    for padding in (2, -5):
        layer = nn.Embedding(7, 3, padding_idx=padding)
        assert layer.weight[2].tolist() == [0.0] * 3
        assert np.array(layer.weight)[[0, 1, 3, 4, 5, 6]].all()
        call = layer.__call__
        indices = mx.array([[0, 2], [-5, 6]])
        _, gradients = nn.value_and_grad(layer, lambda i, call=call: call(i).sum())(indices)
        assert np.array(gradients["weight"])[:, 0].tolist() == [1.0, 0, 0, 0, 0, 0, 1]
        assert repr(layer) == "Embedding(7, 3, padding_idx=2)"
    for padding in (7, -8):
        with pytest.raises(
            ValueError, match=rf"^\[Embedding\] padding_idx {padding} is out of bounds for 7"
        ):
            nn.Embedding(7, 3, padding_idx=padding)


@pytest.mark.parametrize("p", [0.2, 0.5, 0.9])
def test_dropout_zeroes_and_scales(p):
    mx.random.seed(1)
    x = np.random.default_rng(0).normal(size=(200, 100)).astype(F32) + 10
    y = np.array(nn.Dropout(p)(mx.array(x)))
    kept = y != 0
    assert abs(kept.mean() - (1 - p)) < 0.02
    np.testing.assert_allclose(y[kept], x[kept] / (1 - p), rtol=1e-5)


def test_dropout_does_nothing_in_evaluation_or_with_probability_zero():
    x = mx.ones((3,))
    assert nn.Dropout(0.5).eval()(x) is x
    assert nn.Dropout(0.0)(x) is x
    assert nn.Dropout(0.5)(x.astype(mx.float16)).dtype == mx.float16


def test_dropout_drops_infinities_too():
    mx.random.seed(1)
    y = np.array(nn.Dropout(0.5)(mx.full((100,), math.inf)))
    assert set(y.tolist()) == {0.0, math.inf}


@pytest.mark.parametrize(
    ("layer", "shape", "axes"),
    [
        (nn.Dropout2d(), (3, 4, 5, 64), (1, 2)),
        (nn.Dropout2d(), (4, 5, 64), (0, 1)),
        (nn.Dropout3d(), (3, 2, 4, 5, 64), (1, 2, 3)),
        (nn.Dropout3d(), (2, 4, 5, 64), (0, 1, 2)),
    ],
)
def test_dropout_of_channels(layer, shape, axes):
    mx.random.seed(1)
    y = np.array(layer(mx.ones(shape)))
    assert set(np.unique(y).tolist()) == {0.0, 2.0}
    assert (y.min(axis=axes) == y.max(axis=axes)).all()


def test_dropout_refuses():
    for p in (1.0, -0.1, math.nan):
        with pytest.raises(ValueError, match=r"^\[Dropout\] got the probability .* expected \[0, "):
            nn.Dropout(p)
    with pytest.raises(ValueError, match=r"^\[Dropout2d\] got an input with 2 axes, expected 3 or"):
        nn.Dropout2d()(mx.ones((2, 2)))
    with pytest.raises(ValueError, match=r"^\[Dropout3d\] got an input with 3 axes, expected 4 or"):
        nn.Dropout3d().eval()(mx.ones((2, 2, 2)))
    assert repr(nn.Dropout(0.3)) == "Dropout(p=0.3)"


@pytest.mark.parametrize("shape", [(6,), (4, 6), (2, 3, 6), (0, 6)])
def test_normalization_layers(shape):
    x = np.random.default_rng(0).normal(size=shape) * 3 + 5
    weight, bias = np.linspace(0.5, 2, 6), np.linspace(-1, 1, 6)
    layer, rms = nn.LayerNorm(6), nn.RMSNorm(6)
    layer.weight = rms.weight = mx.array(weight.astype(F32))
    layer.bias = mx.array(bias.astype(F32))
    inverse = 1 / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    normal = (x - x.mean(axis=-1, keepdims=True)) * inverse
    given = mx.array(x.astype(F32))
    np.testing.assert_allclose(np.array(layer(given)), normal * weight + bias, rtol=1e-4, atol=1e-5)
    root = np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(np.array(rms(given)), x / root * weight, rtol=1e-5)
    plain = nn.LayerNorm(6, affine=False)
    np.testing.assert_allclose(np.array(plain(given)), normal, rtol=1e-4, atol=1e-5)


def test_normalization_of_half_precision_is_done_in_float32():
    x = np.full((2, 8), 60000, dtype=np.float16)
    x[:, ::2] *= -1
    for layer in (nn.LayerNorm(8), nn.RMSNorm(8)):
        y = layer(mx.array(x))
        assert y.dtype == mx.float32
        np.testing.assert_allclose(np.array(y), np.sign(x), rtol=1e-5)
        layer.set_dtype(mx.float16)
        y = layer(mx.array(x))
        assert y.dtype == mx.float16
        np.testing.assert_array_equal(np.array(y), np.sign(x))


def test_normalization_of_whole_numbers():
    x = mx.array([[1, 2, 6], [0, 0, 3]])
    for layer in (nn.LayerNorm(3), nn.RMSNorm(3)):
        y = layer(x)
        assert y.dtype == mx.float32
        assert y.tolist() == layer(x.astype(mx.float32)).tolist()


def test_normalization_layers_refuse():
    with pytest.raises(ValueError, match=r"^\[LayerNorm\] the input's last axis: got size 6, exp"):
        nn.LayerNorm(1)(mx.ones((2, 6)))
    with pytest.raises(ValueError, match=r"^\[RMSNorm\] the input's last axis: got size 6, exp"):
        nn.RMSNorm(5)(mx.ones((2, 6)))
    with pytest.raises(ValueError, match=r"^\[RMSNorm\] input must have at least one axis"):
        nn.RMSNorm(5)(mx.array(1.0))


def test_normalization_layers_say_what_they_are():
    assert repr(nn.LayerNorm(6, bias=False)) == "LayerNorm(6, eps=1e-05, affine=True)"
    assert repr(nn.LayerNorm(6, affine=False)) == "LayerNorm(6, eps=1e-05, affine=False)"
    assert repr(nn.RMSNorm(6, eps=1e-3)) == "RMSNorm(6, eps=0.001)"
    assert list(nn.LayerNorm(6)) == ["weight", "bias"]
    assert list(nn.LayerNorm(6, bias=False)) == ["weight"]
    assert list(nn.LayerNorm(6, affine=False)) == []
