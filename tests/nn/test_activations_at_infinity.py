"""Activation functions and their derivatives at ±∞ and where intermediate results overflow."""

import math

import numpy as np
import pytest
import umber.core as mx
from arrays import to_numpy
from umber import nn

INF = math.inf
FLOATS = (mx.float16, mx.bfloat16, mx.float32, mx.float64)

# Function: its limits at -∞ and +∞, then those of its derivative.
LIMITS = {
    "sigmoid": (nn.sigmoid, (0, 1), (0, 0)),
    "log_sigmoid": (nn.log_sigmoid, (-INF, 0), (1, 0)),
    "tanh": (nn.tanh, (-1, 1), (0, 0)),
    "hard_tanh": (nn.hard_tanh, (-1, 1), (0, 0)),
    "softsign": (nn.softsign, (-1, 1), (0, 0)),
    "softplus": (nn.softplus, (0, INF), (0, 1)),
    "relu": (nn.relu, (0, INF), (0, 1)),
    "relu2": (nn.relu2, (0, INF), (0, INF)),
    "relu6": (nn.relu6, (0, 6), (0, 0)),
    "leaky_relu": (nn.leaky_relu, (-INF, INF), (0.01, 1)),
    "prelu": (lambda x: nn.prelu(x, mx.array(0.25, x.dtype)), (-INF, INF), (0.25, 1)),
    "elu": (nn.elu, (-1, INF), (0, 1)),
    "celu": (lambda x: nn.celu(x, 2.0), (-2, INF), (0, 1)),
    "selu": (nn.selu, (-1.7580993408473766, INF), (0, 1.0507009873554805)),
    "silu": (nn.silu, (0, INF), (0, 1)),
    "mish": (nn.mish, (0, INF), (0, 1)),
    "gelu": (nn.gelu, (0, INF), (0, 1)),
    "gelu_approx": (nn.gelu_approx, (0, INF), (0, 1)),
    "gelu_fast_approx": (nn.gelu_fast_approx, (0, INF), (0, 1)),
    "hardswish": (nn.hardswish, (0, INF), (0, 1)),
    "hard_shrink": (nn.hard_shrink, (-INF, INF), (1, 1)),
    "softshrink": (nn.softshrink, (-INF, INF), (1, 1)),
    "step": (lambda x: nn.step(x).astype(x.dtype), (0, 1), (0, 0)),
    "glu": (lambda x: nn.glu(mx.stack([x, x], axis=-1)).squeeze(-1), (0, INF), (0, 1)),
    "erf": (mx.erf, (-1, 1), (0, 0)),
    "arctan": (mx.arctan, (-math.pi / 2, math.pi / 2), (0, 0)),
    "expm1": (mx.expm1, (-1, INF), (0, INF)),
    "logaddexp": (lambda x: mx.logaddexp(x, 0), (0, INF), (0, 1)),
    "clip": (lambda x: mx.clip(x, -2, 3), (-2, 3), (0, 0)),
}
MODULES = {
    "sigmoid": nn.Sigmoid(),
    "log_sigmoid": nn.LogSigmoid(),
    "tanh": nn.Tanh(),
    "hard_tanh": nn.HardTanh(),
    "softsign": nn.Softsign(),
    "softplus": nn.Softplus(),
    "relu": nn.ReLU(),
    "relu2": nn.ReLU2(),
    "relu6": nn.ReLU6(),
    "leaky_relu": nn.LeakyReLU(),
    "elu": nn.ELU(),
    "celu": nn.CELU(2.0),
    "selu": nn.SELU(),
    "silu": nn.SiLU(),
    "mish": nn.Mish(),
    "gelu": nn.GELU(),
    "gelu_approx": nn.GELU("tanh"),
    "gelu_fast_approx": nn.GELU("fast"),
    "hardswish": nn.Hardswish(),
    "hard_shrink": nn.HardShrink(),
    "softshrink": nn.Softshrink(),
}
TOLERANCE = {mx.float16: 2e-3, mx.bfloat16: 1e-2, mx.float32: 1e-6, mx.float64: 1e-12}


def slope(function):
    return mx.grad(lambda x: function(x).sum())


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("count", [1, 40])
def test_activations_have_their_limits_at_infinity(name, dtype, count):
    function, limits, slopes = LIMITS[name]
    x = mx.array([-INF, INF] * count, dtype=dtype)
    values, derivatives = limits * count, slopes * count
    ones = mx.ones(x.shape, dtype)
    found = {
        "value": function(x),
        "compiled": mx.compile(function)(x),
        "vmap": mx.vmap(function)(x),
    }
    if name in MODULES:
        found["module"] = MODULES[name](x)
    for how, value in found.items():
        np.testing.assert_allclose(to_numpy(value), values, rtol=TOLERANCE[dtype], err_msg=how)
    found = {
        "grad": slope(function)(x),
        "compiled": mx.compile(slope(function))(x),
        "vmap": mx.vmap(mx.grad(function))(x),
        "jvp": mx.jvp(function, [x], [ones])[1][0],
    }
    for how, value in found.items():
        np.testing.assert_allclose(to_numpy(value), derivatives, rtol=TOLERANCE[dtype], err_msg=how)


GATED = ("silu", "mish", "gelu", "gelu_approx", "gelu_fast_approx", "hardswish")


@pytest.mark.parametrize("name", GATED)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gates_are_0_or_1_where_their_arguments_overflow(name, dtype):
    function = LIMITS[name][0]
    largest = float(mx.finfo(dtype).max)
    x = mx.array([-largest, -largest / 4, -3000, 3000, largest / 4, largest], dtype=dtype)
    assert function(x).tolist() == [0, 0, 0, *x[3:].tolist()]
    assert slope(function)(x).tolist() == [0, 0, 0, 1, 1, 1]
    assert slope(slope(function))(x).tolist() == [0] * 6
    assert slope(slope(function))(mx.array([-INF, INF], dtype=dtype)).tolist() == [0, 0]


# A step compares, which is false for NaN.
@pytest.mark.parametrize("name", sorted(LIMITS.keys() - {"step"}))
def test_activations_keep_nan(name):
    assert mx.isnan(LIMITS[name][0](mx.array([math.nan]))).all()


def test_gates_of_integers_and_complex_numbers():
    for name in GATED:
        function = LIMITS[name][0]
        small = mx.array([0, 3, 200], dtype=mx.uint8)
        assert function(small).dtype == mx.float32
        np.testing.assert_array_equal(
            to_numpy(function(small)), to_numpy(function(small.astype(mx.float32)))
        )
    z = mx.array([1 + 2j, -3 + 0.5j])
    np.testing.assert_allclose(to_numpy(nn.silu(z)), to_numpy(z * mx.sigmoid(z)), rtol=1e-5)


def test_clipped_derivatives_do_not_multiply_what_is_infinite():
    """A derivative that is cut off is 0, whatever it would be multiplied by."""
    x = mx.array([2.0, -2.0])
    for function in (
        lambda x: mx.minimum(x, 0) * mx.array([INF, -INF]),
        lambda x: mx.maximum(x, 3) * mx.array([INF, -INF]),
    ):
        found = slope(function)(x).tolist()
        assert 0 in found
        assert not any(map(math.isnan, found))
