"""Arguments of unusual types that mean something: layers and optimizers are made of them."""

from decimal import Decimal
from fractions import Fraction
from unittest.mock import MagicMock

import numpy as np
import pytest
import umber.core as mx
from umber import nn, optimizers
from umber.utils import tree_flatten

TRUE = [True, 1, 2.5, "no", (False,), [0], {"a": 1}, object(), np.bool_(True), mx.array(True)]
FALSE = [False, None, 0, 0.0, "", (), [], {}, np.bool_(False), np.array(0), mx.array(False)]
# The layer with a flag, and whether the flag takes effect.
FLAGS = {
    "Linear": (lambda flag: nn.Linear(2, 3, bias=flag), lambda m: "bias" in m),
    "Linear by place": (lambda flag: nn.Linear(2, 3, flag), lambda m: "bias" in m),
    "Bilinear": (lambda flag: nn.Bilinear(2, 2, 3, bias=flag), lambda m: "bias" in m),
    "Conv1d": (lambda flag: nn.Conv1d(2, 3, 1, bias=flag), lambda m: "bias" in m),
    "Conv2d": (lambda flag: nn.Conv2d(2, 3, 1, bias=flag), lambda m: "bias" in m),
    "Conv3d": (lambda flag: nn.Conv3d(2, 3, 1, bias=flag), lambda m: "bias" in m),
    "ConvTranspose1d": (lambda flag: nn.ConvTranspose1d(2, 3, 1, bias=flag), lambda m: "bias" in m),
    "ConvTranspose2d": (lambda flag: nn.ConvTranspose2d(2, 3, 1, bias=flag), lambda m: "bias" in m),
    "ConvTranspose3d": (lambda flag: nn.ConvTranspose3d(2, 3, 1, bias=flag), lambda m: "bias" in m),
    "QuantizedLinear": (lambda flag: nn.QuantizedLinear(64, 2, bias=flag), lambda m: "bias" in m),
    "LayerNorm": (lambda flag: nn.LayerNorm(2, affine=flag), lambda m: "weight" in m),
    "LayerNorm bias": (lambda flag: nn.LayerNorm(2, bias=flag), lambda m: "bias" in m),
    "BatchNorm": (lambda flag: nn.BatchNorm(2, affine=flag), lambda m: "weight" in m),
    "BatchNorm running": (
        lambda flag: nn.BatchNorm(2, track_running_stats=flag),
        lambda m: "running_mean" in m,
    ),
    "GroupNorm": (lambda flag: nn.GroupNorm(1, 2, affine=flag), lambda m: "weight" in m),
    "InstanceNorm": (lambda flag: nn.InstanceNorm(2, affine=flag), lambda m: "weight" in m),
    "RNN": (lambda flag: nn.RNN(2, 3, bias=flag), lambda m: m.bias is not None),
    "GRU": (lambda flag: nn.GRU(2, 3, bias=flag), lambda m: getattr(m, "b", None) is not None),
    "LSTM": (lambda flag: nn.LSTM(2, 3, bias=flag), lambda m: m.bias is not None),
    "MultiHeadAttention": (
        lambda flag: nn.MultiHeadAttention(4, 2, bias=flag),
        lambda m: "bias" in m.query_proj,
    ),
    "SinusoidalPositionalEncoding": (
        lambda flag: nn.SinusoidalPositionalEncoding(4, cos_first=flag),
        lambda m: m(mx.array([0]))[0, 0].item() > 0,
    ),
    "Adam": (
        lambda flag: optimizers.Adam(0.1, bias_correction=flag),
        lambda o: o.apply_gradients(mx.ones(1), mx.zeros(1)).item() > -0.2,
    ),
    "SGD": (
        lambda flag: optimizers.SGD(0.1, momentum=0.5, nesterov=flag),
        lambda o: o.apply_gradients(mx.ones(1), mx.zeros(1)).item() < -0.12,
    ),
}


@pytest.mark.parametrize("name", FLAGS)
def test_of_a_flag_the_truth_value_counts(name):
    make, takes_effect = FLAGS[name]
    for flag in TRUE:
        assert takes_effect(make(flag)), flag
    for flag in FALSE:
        assert not takes_effect(make(flag)), flag


HALVES = [0.5, np.float32(0.5), np.float16(0.5), np.array(0.5), Fraction(1, 2), Decimal("0.5")]
# Made of a number that is 0.5, and compared by what it computes.
NUMBERS = {
    "LayerNorm": lambda n: nn.LayerNorm(2, eps=n)(mx.array([1.0, 2.0])),
    "RMSNorm": lambda n: nn.RMSNorm(2, eps=n)(mx.array([1.0, 2.0])),
    "BatchNorm": lambda n: nn.BatchNorm(1, eps=n, momentum=n)(mx.array([[1.0], [2.0]])),
    "GroupNorm": lambda n: nn.GroupNorm(1, 2, eps=n)(mx.array([[1.0, 2.0]])),
    "InstanceNorm": lambda n: nn.InstanceNorm(1, eps=n)(mx.array([[[1.0], [2.0]]])),
    "Dropout": lambda n: mx.array(nn.Dropout(n).p),
    "PReLU": lambda n: nn.PReLU(init=n)(mx.array([-1.0])),
    "RoPE": lambda n: nn.RoPE(2, scale=n)(mx.ones((1, 2, 2))),
    "CELU": lambda n: nn.CELU(n)(mx.array([-1.0])),
    "constant": lambda n: nn.init.constant(n)(mx.zeros(2)),
    "uniform": lambda n: nn.init.uniform(n, n)(mx.zeros(2)),
    **{
        name: lambda n, make=make: make(n).apply_gradients(mx.ones(2), mx.zeros(2))
        for name, make in {
            "SGD": lambda n: optimizers.SGD(n, momentum=n, weight_decay=n, dampening=n),
            "Adam": lambda n: optimizers.Adam(n, betas=[0.5, 0.5], eps=n),
            "AdamW": lambda n: optimizers.AdamW(n, eps=n, weight_decay=n),
            "RMSprop": lambda n: optimizers.RMSprop(n, alpha=n, eps=n),
            "AdaDelta": lambda n: optimizers.AdaDelta(n, rho=n, eps=n),
            "Lion": lambda n: optimizers.Lion(n, weight_decay=n),
            "Muon": lambda n: optimizers.Muon(n, momentum=n, weight_decay=n),
            "Adafactor": lambda n: optimizers.Adafactor(n, beta_1=n, clip_threshold=n),
        }.items()
    },
    "linear_schedule": lambda n: optimizers.linear_schedule(n, 1.0, 4)(mx.array(1)),
    "cosine_decay": lambda n: optimizers.cosine_decay(n, 4)(mx.array(1)),
    "exponential_decay": lambda n: optimizers.exponential_decay(n, n)(mx.array(1)),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_any_type(name):
    expected = NUMBERS[name](0.5)
    for number in HALVES:
        mx.random.seed(0)
        got = NUMBERS[name](number)
        assert (got.dtype, got.tolist()) == (expected.dtype, expected.tolist()), number


def test_integers_of_any_type():
    for one in (1, True, np.int64(1), np.uint8(1), np.array(1)):
        assert nn.Linear(one, one).weight.shape == (1, 1)
        assert nn.Conv2d(1, 1, one, one, 0, one, one)(mx.ones((1, 2, 2, 1))).shape == (1, 2, 2, 1)
        assert nn.Embedding(one, one).weight.shape == (1, 1)
        assert nn.MultiHeadAttention(one, one).num_heads == 1


@pytest.mark.parametrize("sizes", [[2, 3], np.array([2, 3]), mx.array([2, 3]), range(2, 4)])
def test_sizes_of_any_sequence(sizes):
    x = mx.ones((1, 7, 8, 1))
    for make in (nn.Conv2d, nn.ConvTranspose2d):
        expected = make(1, 1, (2, 3), stride=(2, 3), dilation=(2, 3))(x).shape
        assert make(1, 1, sizes, stride=sizes, dilation=sizes)(x).shape == expected
    for make in (nn.MaxPool2d, nn.AvgPool2d):
        assert make(sizes, sizes)(x).shape == make((2, 3), (2, 3))(x).shape


def test_lengths_of_schedules_may_be_fractions():
    """As a share of all steps, for example."""
    steps = 0.1 * 25
    assert optimizers.linear_schedule(0.0, 1.0, steps)(mx.array(1)).item() == pytest.approx(0.4)
    assert optimizers.linear_schedule(0.0, 1.0, steps)(mx.array(3)).item() == pytest.approx(1.0)
    assert optimizers.cosine_decay(1.0, 1e2)(mx.array(50)).item() == pytest.approx(0.5)
    assert optimizers.step_decay(1.0, 0.5, 2.0)(mx.array(5)).item() == pytest.approx(0.25)
    joined = optimizers.join_schedules([lambda s: mx.array(1.0), lambda s: mx.array(2.0)], [steps])
    assert [joined(mx.array(step)).item() for step in (2, 3)] == [1.0, 2.0]


def test_initialisers_without_a_dtype():
    for make in (nn.init.normal, nn.init.uniform, nn.init.glorot_normal, nn.init.he_uniform):
        assert make(dtype=None)(mx.zeros((2, 2))).dtype == mx.float32
    assert nn.init.constant(0.5, dtype=None)(mx.zeros(2)).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("eps", [0, 0.0, -1e-5, float("nan")])
@pytest.mark.parametrize(
    "make",
    [
        nn.LayerNorm,
        nn.RMSNorm,
        nn.BatchNorm,
        nn.InstanceNorm,
        lambda n, eps: nn.GroupNorm(1, n, eps),
    ],
)
def test_eps_of_norms_is_positive(make, eps):
    with pytest.raises(ValueError, match=r"^\[\w+Norm\] got eps .*, expected a number above 0"):
        make(2, eps=eps)


X = mx.arange(24).reshape(1, 4, 6) / 5
STEP = {"w": mx.array([[0.5, -1.0], [2.0, 1.0]])}
# What MLX takes as well: an unusual argument, the usual one, and what is computed with either.
SAME = {
    "groups in an array": (mx.array(2), 2, lambda n: nn.Conv1d(6, 4, 2, groups=n)(X)),
    "dims in an array": (mx.array(6), 6, lambda n: nn.RoPE(n)(X)),
    "dims of sines": (8.0, 8, lambda n: nn.SinusoidalPositionalEncoding(n)(mx.arange(3))),
    "dims of sines, a ratio": (
        Fraction(8),
        8,
        lambda n: nn.SinusoidalPositionalEncoding(n)(mx.arange(3)),
    ),
    "dims that are not read": (None, 6, lambda n: nn.InstanceNorm(n)(X)),
    "offset of NumPy": (np.int64(3), 3, lambda n: nn.RoPE(6)(X, n)),
    "offset in NumPy's array": (np.array([3]), 3, lambda n: nn.RoPE(6)(X, n)),
    "corners": ([], False, lambda n: nn.Upsample(2, "linear", align_corners=n)(X)),
    "antialias": ({}, False, lambda n: nn.Upsample(0.5, "linear", antialias=n)(X)),
    "mean": (None, 0.0, lambda n: nn.init.normal(mean=n)(X)),
    "std": (None, 1.0, lambda n: nn.init.normal(std=n)(X)),
    "sparse": (None, 1.0, lambda n: nn.init.sparse(0.5, std=n)(X[0])),
    **{
        f"rate of {kind.__name__} in a {type(rate).__name__}": (
            rate,
            0.5,
            lambda n, kind=kind: kind(n).apply_gradients(STEP, STEP)["w"],
        )
        for kind in (optimizers.SGD, optimizers.Adam, optimizers.Lion, optimizers.Muon)
        for rate in ([0.5], (0.5,))
    },
    **{
        f"betas of {kind.__name__}": (
            (Fraction(1, 2), Decimal("0.75")),
            (0.5, 0.75),
            lambda n, kind=kind: kind(0.1, betas=n).apply_gradients(STEP, STEP)["w"],
        )
        for kind in (optimizers.Adam, optimizers.AdamW, optimizers.Adamax, optimizers.Lion)
    },
    "eps of Adafactor": (
        (Fraction(1, 2), Fraction(1, 4)),
        (0.5, 0.25),
        lambda n: optimizers.Adafactor(eps=n).apply_gradients(STEP, STEP)["w"],
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_unusual_arguments_compute_what_the_usual_ones_do(name):
    unusual, usual, compute = SAME[name]
    mx.random.seed(0)
    expected = compute(usual)
    mx.random.seed(0)
    got = compute(unusual)
    assert (got.dtype, got.tolist()) == (expected.dtype, expected.tolist())


@pytest.mark.parametrize("rate", [[], [0.5, 0.6], [[0.5, 0.6]], ["0.5"]])
def test_lists_of_other_than_one_rate_are_refused(rate):
    """Several would broadcast, and give parameters another shape."""
    with pytest.raises(
        TypeError, match=r"^\[SGD\] learning_rate: got (list|str), expected a number"
    ):
        optimizers.SGD(rate)


@pytest.mark.parametrize("eps", [(1e-30, 1e-3), [1e-30, 1e-3], np.array([1e-30, 1e-3])])
def test_pairs_of_any_sequence(eps):
    optimizer = optimizers.Adafactor(eps=eps)
    tree = {"w": mx.ones((2, 2))}
    expected = optimizers.Adafactor().apply_gradients(tree, tree)
    got = optimizer.apply_gradients(tree, tree)
    assert [x.tolist() for _, x in tree_flatten(got)] == [
        x.tolist() for _, x in tree_flatten(expected)
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.Linear(2.5, 2),
        lambda: nn.Linear("2", 2),
        lambda: nn.Dropout("0.5"),
        lambda: nn.LayerNorm(2, eps="1e-5"),
        lambda: optimizers.SGD(0.1, momentum="0.9"),
        lambda: nn.init.normal(std=[1.0])(mx.zeros(2)),
    ],
)
def test_what_is_no_number_is_refused(make):
    with pytest.raises(TypeError, match=r"^\[\w+\] \w+: got .*, expected (an integer|a number)"):
        make()


class Half:
    """A number by its methods alone."""

    def __float__(self):
        return 0.5


class Third:
    def __index__(self):
        return 3


class Turn:
    def __complex__(self):
        return 1j


@pytest.mark.parametrize(
    ("number", "value", "dtype"),
    [
        (Decimal("1.5"), 1.5, mx.float32),
        (Fraction(1, 4), 0.25, mx.float32),
        (Half(), 0.5, mx.float32),
        (Third(), 3, mx.float32),
        (Turn(), 1j, mx.complex64),
        (MagicMock(), 1.0, mx.float32),
    ],
    ids=lambda entry: type(entry).__name__,
)
def test_numbers_by_their_methods_are_operands(number, value, dtype):
    x = mx.array([1.0, 2.0])
    for got, want in [
        (x + number, np.array(x) + value),
        (number * x if not isinstance(number, MagicMock) else x * number, np.array(x) * value),
        (mx.subtract(number, x), value - np.array(x)),
        (mx.where(x > 1, x, number), np.where(np.array(x) > 1, np.array(x), value)),
    ]:
        assert got.dtype == dtype
        np.testing.assert_allclose(np.array(got), want)
    assert (x == number).tolist() == (np.array(x) == value).tolist()
    y = mx.array([1.0, 2.0])
    y += number
    np.testing.assert_allclose(np.array(y), np.array(x) + value)


def test_ends_of_a_line_may_be_decimals():
    assert mx.linspace(0, Decimal("1.5"), 3).tolist() == [0, 0.75, 1.5]


def test_operands_that_are_no_numbers_are_refused():
    with pytest.raises(TypeError, match="got object, expected an array or a number"):
        mx.array(1.0) + object()
