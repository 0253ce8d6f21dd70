"""Loss functions against their formulas in NumPy."""

import math

import numpy as np
import pytest
import umber.core as mx
from umber.nn import losses

F32 = np.float32
RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 5)).astype(F32)
Y = RNG.normal(size=(4, 5)).astype(F32)
SIGNS = np.sign(RNG.normal(size=(4, 5))).astype(F32)
PROBABILITIES = RNG.uniform(0.05, 0.95, size=(4, 5)).astype(F32)
VARIANCES = RNG.uniform(0.1, 2, size=(4, 5)).astype(F32)
CLASSES = np.array([0, 4, 2, 2])


def np_log_softmax(x, axis=-1):
    x = x.astype(np.float64)
    return x - np.log(np.exp(x).sum(axis=axis, keepdims=True))


def np_cosine(x, y, axis):
    norms = np.linalg.norm(x, axis=axis) * np.linalg.norm(y, axis=axis)
    return (x * y).sum(axis=axis) / norms


def np_smooth_l1(x, y, beta):
    d = np.abs(x - y)
    return np.where(d < beta, d**2 / (2 * beta), d - beta / 2)


def np_huber(x, y, delta):
    d = np.abs(x - y)
    return np.where(d <= delta, d**2 / 2, delta * (d - delta / 2))


def np_gaussian_nll(x, y, v, eps=1e-6):
    v = np.maximum(v, eps)
    return 0.5 * (np.log(v) + (y - x) ** 2 / v)


def np_triplet(a, p, n, degree, margin, axis):
    def distance(d):
        return ((np.abs(d) ** degree).sum(axis=axis) + 1e-6) ** (1 / degree)

    return np.maximum(distance(a - p) - distance(a - n) + margin, 0)


# Function, inputs, options, expected values before the reduction, default reduction.
LOSSES = {
    "mse": (losses.mse_loss, (X, Y), {}, (X - Y) ** 2, "mean"),
    "l1": (losses.l1_loss, (X, Y), {}, np.abs(X - Y), "mean"),
    "smooth l1": (losses.smooth_l1_loss, (X, Y), {}, np_smooth_l1(X, Y, 1), "mean"),
    "smooth l1 0.3": (
        losses.smooth_l1_loss,
        (X, Y),
        {"beta": 0.3},
        np_smooth_l1(X, Y, 0.3),
        "mean",
    ),
    "smooth l1 0": (losses.smooth_l1_loss, (X, Y), {"beta": 0}, np.abs(X - Y), "mean"),
    "huber": (losses.huber_loss, (X, Y), {}, np_huber(X, Y, 1), "none"),
    "huber 0.3": (losses.huber_loss, (X, Y), {"delta": 0.3}, np_huber(X, Y, 0.3), "none"),
    "log cosh": (losses.log_cosh_loss, (X, Y), {}, np.log(np.cosh(X - Y)), "none"),
    "hinge": (losses.hinge_loss, (X, SIGNS), {}, np.maximum(1 - X * SIGNS, 0), "none"),
    "binary logits": (
        losses.binary_cross_entropy,
        (X, PROBABILITIES),
        {},
        np.logaddexp(0, X) - X * PROBABILITIES,
        "mean",
    ),
    "binary": (
        losses.binary_cross_entropy,
        (PROBABILITIES, VARIANCES / 2),
        {"with_logits": False},
        -(VARIANCES / 2 * np.log(PROBABILITIES) + (1 - VARIANCES / 2) * np.log(1 - PROBABILITIES)),
        "mean",
    ),
    "gaussian": (
        losses.gaussian_nll_loss,
        (X, Y, VARIANCES),
        {},
        np_gaussian_nll(X, Y, VARIANCES),
        "mean",
    ),
    "gaussian full": (
        losses.gaussian_nll_loss,
        (X, Y, VARIANCES),
        {"full": True, "eps": 0.5},
        np_gaussian_nll(X, Y, VARIANCES, 0.5) + 0.5 * math.log(2 * math.pi),
        "mean",
    ),
    "cosine": (losses.cosine_similarity_loss, (X, Y), {}, np_cosine(X, Y, 1), "none"),
    "cosine 0": (
        losses.cosine_similarity_loss,
        (X, Y),
        {"axis": 0},
        np_cosine(X, Y, 0),
        "none",
    ),
    "margin": (
        losses.margin_ranking_loss,
        (X, Y, SIGNS),
        {"margin": 0.3},
        np.maximum(-SIGNS * (X - Y) + 0.3, 0),
        "none",
    ),
    "triplet": (
        losses.triplet_loss,
        (X, Y, X * 0.5),
        {},
        np_triplet(X, Y, X * 0.5, 2, 1, -1),
        "none",
    ),
    "triplet 1": (
        losses.triplet_loss,
        (X, Y, X * 0.5),
        {"p": 1, "margin": 0.2, "axis": 0},
        np_triplet(X, Y, X * 0.5, 1, 0.2, 0),
        "none",
    ),
    "nll": (losses.nll_loss, (X, CLASSES), {}, -X[np.arange(4), CLASSES], "none"),
    "nll 0": (
        losses.nll_loss,
        (X.T, CLASSES),
        {"axis": 0},
        -X[np.arange(4), CLASSES],
        "none",
    ),
    "kl": (
        losses.kl_div_loss,
        (np_log_softmax(X).astype(F32), np_log_softmax(Y).astype(F32)),
        {},
        (np.exp(np_log_softmax(Y)) * (np_log_softmax(Y) - np_log_softmax(X))).sum(axis=-1),
        "none",
    ),
    "cross entropy": (
        losses.cross_entropy,
        (X, CLASSES),
        {},
        -np_log_softmax(X)[np.arange(4), CLASSES],
        "none",
    ),
    "cross entropy 0": (
        losses.cross_entropy,
        (X.T, CLASSES),
        {"axis": 0},
        -np_log_softmax(X)[np.arange(4), CLASSES],
        "none",
    ),
    "cross entropy 3d": (
        losses.cross_entropy,
        (X.reshape(2, 2, 5), CLASSES.reshape(2, 2)),
        {},
        -np_log_softmax(X)[np.arange(4), CLASSES].reshape(2, 2),
        "none",
    ),
    "cross entropy smooth": (
        losses.cross_entropy,
        (X, CLASSES),
        {"label_smoothing": 0.1},
        -(0.9 * np_log_softmax(X)[np.arange(4), CLASSES] + 0.1 * np_log_softmax(X).mean(axis=-1)),
        "none",
    ),
    "cross entropy probabilities": (
        losses.cross_entropy,
        (X, np.exp(np_log_softmax(Y)).astype(F32)),
        {},
        -(np.exp(np_log_softmax(Y)) * np_log_softmax(X)).sum(axis=-1),
        "none",
    ),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_follow_their_formulas(name):
    function, inputs, options, values, default = LOSSES[name]
    inputs = [mx.array(x) for x in inputs]
    reduced = {"none": values, "mean": values.mean(), "sum": values.sum()}
    for reduction, expected in reduced.items():
        loss = function(*inputs, **options, reduction=reduction)
        assert loss.shape == expected.shape
        np.testing.assert_allclose(np.array(loss), expected, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(
        np.array(function(*inputs, **options)), reduced[default], rtol=2e-5, atol=1e-6
    )


@pytest.mark.parametrize("name", LOSSES)
def test_losses_refuse_other_reductions(name):
    function, inputs, options, *_ = LOSSES[name]
    with pytest.raises(ValueError, match=rf"^\[{function.__name__}\] got the reduction 'max'"):
        function(*(mx.array(x) for x in inputs), **options, reduction="max")


@pytest.mark.parametrize(
    "function", [losses.mse_loss, losses.l1_loss, losses.smooth_l1_loss, losses.margin_ranking_loss]
)
def test_losses_do_not_broadcast_by_accident(function):
    more = [mx.ones((4, 5))] if function is losses.margin_ranking_loss else []
    with pytest.raises(ValueError, match=r"of shape \(5,\), expected \(4, 5\)"):
        function(mx.ones((4, 5)), mx.ones((5,)), *more)


def test_cross_entropy_refuses():
    x = mx.array(X)
    for shape in ((5,), (4, 4), (4, 1), ()):
        with pytest.raises(ValueError, match=r"^\[cross_entropy\] got targets of shape \("):
            losses.cross_entropy(x, mx.zeros(shape, dtype=mx.int32))
    with pytest.raises(ValueError, match=r"^\[cross_entropy\] got the label smoothing 1"):
        losses.cross_entropy(x, mx.array(CLASSES), label_smoothing=1)
    with pytest.raises(ValueError, match=r"^\[cross_entropy\] got weights of shape \(5,\), exp"):
        losses.cross_entropy(x, mx.array(CLASSES), weights=mx.ones((5,)))
    with pytest.raises((IndexError, ValueError)):
        losses.cross_entropy(x, mx.array(CLASSES), axis=2)
    with pytest.raises(ValueError, match=r"^\[nll_loss\] got targets of shape \(4, 5\)"):
        losses.nll_loss(x, x)


def test_weights_multiply_the_values():
    weights = np.array([1, 0, 2, 3], dtype=F32)
    values = -np_log_softmax(X)[np.arange(4), CLASSES] * weights
    loss = losses.cross_entropy(
        mx.array(X), mx.array(CLASSES), weights=mx.array(weights), reduction="mean"
    )
    np.testing.assert_allclose(loss.item(), values.mean(), rtol=1e-5)
    loss = losses.binary_cross_entropy(
        mx.array(X), mx.array(PROBABILITIES), weights=mx.array(VARIANCES)
    )
    values = (np.logaddexp(0, X) - X * PROBABILITIES) * VARIANCES
    np.testing.assert_allclose(loss.item(), values.mean(), rtol=1e-5)


def test_far_out_logits_do_not_overflow():
    x = mx.array([[1000.0, -1000.0]])
    assert losses.cross_entropy(x, mx.array([0])).tolist() == [0.0]
    assert losses.cross_entropy(x, mx.array([1])).tolist() == [2000.0]
    bce = losses.binary_cross_entropy(x, mx.array([[0.0, 1.0]]), reduction="none")
    assert bce.tolist() == [[1000.0, 1000.0]]
    certain = losses.binary_cross_entropy(
        mx.array([0.0, 1.0]), mx.array([1.0, 1.0]), with_logits=False, reduction="none"
    )
    assert certain.tolist() == [100.0, 0.0]
    assert losses.log_cosh_loss(mx.array([500.0]), mx.array([-500.0])).item() == pytest.approx(
        1000 - math.log(2)
    )


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.float32, mx.float64])
def test_gradients_of_certain_probabilities(dtype):
    """Where the logarithm is cut off it is constant; everywhere else its slope is that of log."""
    p = mx.array([0.0, 1.0, 0.0, 1.0, 0.25], dtype=dtype)
    t = mx.array([0.0, 1.0, 1.0, 0.0, 1.0], dtype=dtype)

    def loss(p):
        return losses.binary_cross_entropy(p, t, with_logits=False, reduction="sum")

    assert mx.grad(loss)(p).tolist() == [1.0, -1.0, 0.0, 0.0, -4.0]
    tiny = mx.array([float(mx.finfo(dtype).smallest_normal) / 64], dtype=dtype)
    assert mx.all(mx.isfinite(mx.grad(lambda p: loss(mx.broadcast_to(p, (5,))))(tiny)))


def test_cosine_of_zero_vectors_has_a_gradient():
    zero, ones = mx.zeros((1, 3)), mx.ones((1, 3))

    def loss(a, b):
        return losses.cosine_similarity_loss(a, b, eps=0.5).sum()

    left, right = mx.grad(loss, argnums=(0, 1))(zero, ones)
    assert left.tolist() == [[2.0] * 3]
    assert right.tolist() == [[0.0] * 3]
    assert mx.grad(loss)(zero, zero).tolist() == [[0.0] * 3]


def test_gradient_of_cross_entropy_is_softmax_minus_target():
    gradient = mx.grad(lambda x: losses.cross_entropy(x, mx.array(CLASSES), reduction="mean"))(
        mx.array(X)
    )
    expected = (np.exp(np_log_softmax(X)) - np.eye(5)[CLASSES]) / 4
    np.testing.assert_allclose(np.array(gradient), expected, rtol=1e-4, atol=1e-6)


def test_empty_batches():
    assert losses.mse_loss(mx.zeros((0, 3)), mx.zeros((0, 3)), reduction="sum").item() == 0
    no_classes = mx.zeros((0,), dtype=mx.int32)
    assert losses.nll_loss(mx.zeros((0, 3)), no_classes).shape == (0,)
    assert losses.cross_entropy(mx.zeros((0, 3)), no_classes, reduction="sum").item() == 0
