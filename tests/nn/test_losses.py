"""Loss functions against their formulas in NumPy."""

import math

import numpy as np
import pytest
import umber.core as mx
from arrays import to_numpy
from umber import nn
from umber._mlx_rules import set_mlx_rules
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


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("loss", [losses.cross_entropy, losses.nll_loss])
def test_ignored_rows_have_no_gradient_whatever_they_hold(loss, reduction, bad):
    x = mx.array([[1.0, 2, 3], [bad, 0, bad]])
    targets = mx.array([0, -1])

    def total(x):
        return loss(x, targets, ignore_index=-1, reduction=reduction).sum()

    value, gradient = mx.value_and_grad(total)(x)
    assert math.isfinite(value.item())
    assert gradient[1].tolist() == [0, 0, 0]
    assert mx.array_equal(gradient[0], mx.grad(total)(mx.array([[1.0, 2, 3], [0, 0, 0]]))[0])


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
    for shape, message in (
        ((5,), r"shape of targets, \(5,\), does not match scores of shape"),
        ((4, 4), r"got targets of shape \(4, 4\), expected"),
        ((4, 1), r"got targets of shape \(4, 1\), expected"),
        ((), r"shape of targets, \(\), does not match scores of shape"),
    ):
        with pytest.raises(ValueError, match=rf"^\[cross_entropy\] {message}"):
            losses.cross_entropy(x, mx.zeros(shape, dtype=mx.int32))
    with pytest.raises(ValueError, match=r"^\[cross_entropy\] got the label smoothing 1"):
        losses.cross_entropy(x, mx.array(CLASSES), label_smoothing=1)
    with pytest.raises(ValueError, match=r"^\[cross_entropy\] got weights of shape \(5,\), exp"):
        losses.cross_entropy(x, mx.array(CLASSES), weights=mx.ones((5,)))
    with pytest.raises((IndexError, ValueError)):
        losses.cross_entropy(x, mx.array(CLASSES), axis=2)
    with pytest.raises(ValueError, match=r"^\[nll_loss\] shape of targets, \(4, 5\), does not"):
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


# Scores and labels whose differences or squares are beyond float16, with losses that are not.
FAR = np.array([[300.0, -250.0, 1.5], [-0.25, 600.0, 4.0], [0.5, 0.0, -2.0], [-300.0, 250.0, 8.0]])
NEAR = np.array([[0.5, 250.0, 1.0], [0.25, -600.0, 0.0], [1.5, 1.0, 2.0], [300.0, 100.0, -8.0]])
WIDE = np.array([[1e-3, 2e3, 0.5], [1e4, 4e4, 2.0], [1.0, 1e-5, 3.0], [6e4, 5e3, 1.0]])
LABELS = np.array([0, 2, 1, 0])
CHANCES = np.array([[0.0, 1.0, 0.25], [1.0, 0.0, 0.5], [0.75, 0.0, 0.0], [1.0, 1.0, 0.0]])

IN_HALVES = {
    "mse": (losses.mse_loss, (FAR, NEAR), {}),
    "l1": (losses.l1_loss, (FAR * 100, NEAR * 100), {}),
    "smooth l1": (losses.smooth_l1_loss, (FAR, NEAR), {"beta": 1000.0}),
    "smooth l1 fine": (losses.smooth_l1_loss, (FAR, NEAR), {"beta": 1e-8}),
    "huber": (losses.huber_loss, (FAR, NEAR), {"delta": 400.0}),
    "log cosh": (losses.log_cosh_loss, (FAR, NEAR), {}),
    "log cosh small": (losses.log_cosh_loss, (FAR * 1e-4, NEAR * 0), {}),
    "hinge": (losses.hinge_loss, (FAR, NEAR), {}),
    "gaussian": (losses.gaussian_nll_loss, (FAR, NEAR, WIDE), {}),
    "gaussian eps": (losses.gaussian_nll_loss, (FAR * 1e-3, NEAR * 1e-3, WIDE * 0), {"full": True}),
    "cosine": (losses.cosine_similarity_loss, (FAR, NEAR), {}),
    "cosine 0": (losses.cosine_similarity_loss, (FAR * 100, NEAR * 100), {"axis": 0}),
    "margin": (losses.margin_ranking_loss, (FAR * 100, NEAR * 100, np.sign(FAR)), {"margin": 0.5}),
    "triplet": (losses.triplet_loss, (FAR, NEAR, FAR + 1), {}),
    "triplet 1": (losses.triplet_loss, (FAR, NEAR, FAR + 1), {"p": 1, "axis": 0}),
    "triplet 3": (losses.triplet_loss, (FAR, NEAR, FAR + 1), {"p": 3}),
    "nll": (losses.nll_loss, (FAR * 100, LABELS), {}),
    "kl": (losses.kl_div_loss, (-np.abs(FAR) * 100, -np.abs(NEAR) / 100), {}),
    "binary logits": (losses.binary_cross_entropy, (FAR / 10, CHANCES), {}),
    "binary": (losses.binary_cross_entropy, (CHANCES, CHANCES[::-1]), {"with_logits": False}),
    "cross entropy": (losses.cross_entropy, (FAR + 3000, LABELS), {}),
    "cross entropy 0": (losses.cross_entropy, (FAR + 3000, LABELS[:3]), {"axis": 0}),
    "cross entropy smooth": (losses.cross_entropy, (FAR, LABELS), {"label_smoothing": 0.25}),
    "cross entropy probabilities": (losses.cross_entropy, (FAR + 3000, CHANCES), {}),
    "cross entropy weights": (losses.cross_entropy, (FAR, LABELS, WIDE[:, 2]), {}),
}


@pytest.mark.parametrize("name", IN_HALVES)
@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16], ids=str)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses_of_halves_are_rounded_once(name, dtype, reduction):
    function, inputs, options = IN_HALVES[name]

    def given(x):
        return mx.array(x).astype(dtype) if x.dtype.kind == "f" else mx.array(x)

    halves = [given(x) for x in inputs]
    wide = [x.astype(mx.float64) if x.dtype == dtype else x for x in halves]

    def loss(*arrays):
        return function(*arrays, **options, reduction=reduction)

    expected = loss(*wide)
    found = loss(*halves)
    assert found.dtype == dtype
    unit = float(mx.finfo(dtype).eps)
    np.testing.assert_allclose(
        to_numpy(found), to_numpy(expected.astype(dtype)), rtol=unit, atol=1e-7
    )
    floats = tuple(i for i, x in enumerate(halves) if x.dtype == dtype)

    def slopes(arrays):
        # A cotangent of 1 / 64 keeps the gradients of squares within float16.
        found = mx.grad(lambda *arrays: (loss(*arrays) / 64).sum(), floats)(*arrays)
        return (found,) if isinstance(found, mx.array) else found

    for ours, theirs in zip(slopes(halves), slopes(wide), strict=True):
        assert ours.dtype == dtype
        np.testing.assert_allclose(
            to_numpy(ours), to_numpy(theirs.astype(dtype)), rtol=2 * unit, atol=1e-6
        )


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.float32, mx.float64], ids=str)
def test_offsets_do_not_enter_losses(dtype):
    """Integers are exact beside an offset, and so are the losses of their differences."""
    offset = {mx.float16: 1000, mx.bfloat16: 128, mx.float32: 2**22, mx.float64: 2.0**50}[dtype]
    steps = np.array([[0.0, 1, 3], [5, 2, 2]])
    at, far = mx.array(steps, dtype=dtype), mx.array(steps + offset, dtype=dtype)
    exact = np_log_softmax(steps)
    unit = float(mx.finfo(dtype).eps)
    labels, chances = mx.array([1, 2]), mx.array([[0.5, 0.25, 0.25], [0, 1, 0]], dtype=dtype)
    pairs = {
        "log_softmax": nn.log_softmax,
        "module": nn.LogSoftmax(),
        "classes": lambda x: losses.cross_entropy(x, labels),
        "fast": lambda x: mx.fast.cross_entropy(x, labels),
        "smooth": lambda x: losses.cross_entropy(x, labels, label_smoothing=0.1),
        "probabilities": lambda x: losses.cross_entropy(x, chances),
        "other axis": lambda x: losses.cross_entropy(x.T, labels, axis=0),
    }
    for name, function in pairs.items():
        for how in (function, mx.compile(function)):
            np.testing.assert_allclose(
                to_numpy(how(far)), to_numpy(how(at)), rtol=unit, err_msg=name
            )
        slope = mx.grad(lambda x, function=function: function(x).sum())
        np.testing.assert_allclose(to_numpy(slope(far)), to_numpy(slope(at)), atol=unit)
    # The reference is rounded as well.
    for found, want in ((nn.log_softmax(far), exact), (nn.log_softmax(far.T, axis=0), exact.T)):
        np.testing.assert_allclose(to_numpy(found), want, rtol=unit, atol=unit)
    # The losses of near certainty are small and not 0.
    sure = mx.array([20.0, 0.0], dtype=dtype) + offset
    for loss in (
        losses.cross_entropy(sure, mx.array(0)),
        losses.binary_cross_entropy(mx.array(20.0, dtype=dtype), mx.array(1.0, dtype=dtype)),
    ):
        if dtype != mx.float16:  # whose smallest number is larger
            assert loss.item() == pytest.approx(math.log1p(math.exp(-20)), rel=2 * unit)


def test_log_cosh_of_small_errors():
    errors = np.array([1e-4, -3e-3, 0.5, 0.99, 1.0, -1.5, 30.0])
    x = mx.array(errors, dtype=mx.float32)
    expected = np.log1p(2 * np.sinh(errors / 2) ** 2)
    found = losses.log_cosh_loss(x, mx.zeros(7))
    np.testing.assert_allclose(np.array(found), expected, rtol=3e-7)
    slope = mx.grad(lambda x: losses.log_cosh_loss(x, mx.zeros(7)).sum())(x)
    np.testing.assert_allclose(np.array(slope), np.tanh(errors), rtol=1e-6)


INF = math.inf
LOG2 = math.log(2)
# Function of what is differentiated, where, the values, and the gradients of their sum.
PRODUCTS_WITH_INFINITY = {
    "cross entropy": (
        lambda x, p: losses.cross_entropy(x, p),
        ([-INF, 0, 0], [0, 1, 0]),
        LOG2,
        ([0, -0.5, 0.5], [0, 0, 0]),
    ),
    "cross entropy of nothing likely": (
        lambda x, p: losses.cross_entropy(x, p),
        ([-INF, 0, 0], [0.5, 0.5, 0]),
        INF,
        ([-0.5, 0, 0.5], [INF, 0, 0]),
    ),
    "cross entropy of an ignored class": (
        lambda x: losses.cross_entropy(x, mx.array([1, 2]), reduction="sum"),
        ([[-INF, 0, 0], [-INF, 0, 0]],),
        2 * LOG2,
        ([[0, -0.5, 0.5], [0, 0.5, -0.5]],),
    ),
    "cross entropy weights": (
        lambda x: losses.cross_entropy(
            x, mx.array([0, 1]), weights=mx.array([0.0, 1.0], dtype=x.dtype)
        ),
        ([[-INF, 0, 0], [0, 0, -INF]],),
        [0, LOG2],
        ([[0, 0, 0], [0.5, -0.5, 0]],),
    ),
    "kl": (
        lambda x, p: losses.kl_div_loss(x, p),
        ([-INF, -LOG2, -LOG2], [-INF, -LOG2, -LOG2]),
        0,
        ([0, -0.5, -0.5], [0, 0.5, 0.5]),
    ),
    "kl of an impossible class": (
        lambda x, p: losses.kl_div_loss(x, p),
        ([-1, -1], [-INF, 0]),
        1,
        ([0, -1], [0, 2]),
    ),
    "kl of a class said to be impossible": (
        lambda x: losses.kl_div_loss(x, mx.array([0.0, -INF], dtype=x.dtype)),
        ([-INF, 0],),
        INF,
        ([-1, 0],),
    ),
    "binary logits": (
        lambda x: losses.binary_cross_entropy(
            x, mx.array([0, 1, 0, 1], dtype=x.dtype), reduction="none"
        ),
        ([-INF, INF, INF, -INF],),
        [0, 0, INF, INF],
        ([0, 0, 1, -1],),
    ),
    "binary logits of both": (
        lambda x, t: losses.binary_cross_entropy(x, t, reduction="none"),
        ([-INF, INF], [0, 1]),
        [0, 0],
        ([0, 0], [0, 0]),
    ),
    "binary weights": (
        lambda x: losses.binary_cross_entropy(
            x,
            mx.array([0, 1], dtype=x.dtype),
            weights=mx.array([0, 1], dtype=x.dtype),
            reduction="sum",
        ),
        ([INF, 0],),
        LOG2,
        ([0, -0.5],),
    ),
    "binary": (
        lambda p: losses.binary_cross_entropy(
            p, mx.array([0, 1], dtype=p.dtype), with_logits=False, reduction="none"
        ),
        ([0, 1],),
        [0, 0],
        ([1, -1],),
    ),
    "huber": (
        lambda x: losses.huber_loss(x, mx.zeros(2, x.dtype)),
        ([INF, -INF],),
        [INF, INF],
        ([1, -1],),
    ),
    "smooth l1": (
        lambda x: losses.smooth_l1_loss(x, mx.zeros(2, x.dtype), reduction="none"),
        ([INF, -INF],),
        [INF, INF],
        ([1, -1],),
    ),
    "log cosh": (
        lambda x: losses.log_cosh_loss(x, mx.zeros(2, x.dtype)),
        ([INF, -INF],),
        [INF, INF],
        ([1, -1],),
    ),
}


@pytest.mark.parametrize("name", PRODUCTS_WITH_INFINITY)
@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.float32, mx.float64], ids=str)
def test_zero_times_infinity_counts_as_zero(name, dtype):
    function, inputs, values, slopes = PRODUCTS_WITH_INFINITY[name]
    arrays = [mx.array(x, dtype=dtype) for x in inputs]
    tolerance = {"rtol": 2 * float(mx.finfo(dtype).eps), "atol": float(mx.finfo(dtype).eps)}
    places = tuple(range(len(arrays)))
    gradient = mx.grad(lambda *arrays: function(*arrays).sum(), places)
    for value, found in (
        (function(*arrays), gradient(*arrays)),
        (mx.compile(function)(*arrays), mx.compile(gradient)(*arrays)),
    ):
        np.testing.assert_allclose(to_numpy(value), values, **tolerance)
        found = (found,) if isinstance(found, mx.array) else found
        for ours, expected in zip(found, slopes, strict=True):
            np.testing.assert_allclose(to_numpy(ours), expected, **tolerance)


def test_gradients_of_probabilities_that_are_zero():
    """Where the logit is finite, a probability of 0 has the slope of any other."""
    x = mx.array([0.0, 1.0, 3.0])
    slope = mx.grad(lambda p: losses.cross_entropy(x, p))(mx.array([0.0, 1.0, 0.0]))
    assert slope.tolist() == [3, 2, 0]
    slope = mx.grad(lambda t: losses.binary_cross_entropy(x, t, reduction="sum"))(mx.zeros(3))
    assert slope.tolist() == [0, -1, -3]


CLASSED = {
    "cross_entropy": lambda x, t, **options: losses.cross_entropy(x, t, **options),
    "weights": lambda x, t, **options: losses.cross_entropy(
        x, t, weights=mx.ones(t.shape), **options
    ),
    "label_smoothing": lambda x, t, **options: losses.cross_entropy(
        x, t, label_smoothing=0.1, **options
    ),
    "weights and label_smoothing": lambda x, t, **options: losses.cross_entropy(
        x, t, weights=mx.ones(t.shape), label_smoothing=0.1, **options
    ),
    "axis": lambda x, t, **options: losses.cross_entropy(
        mx.moveaxis(x, -1, 0), t, axis=0, **options
    ),
    "mean": lambda x, t, **options: losses.cross_entropy(x, t, reduction="mean", **options),
    "sum": lambda x, t, **options: losses.cross_entropy(x, t, reduction="sum", **options),
    "nll_loss": lambda x, t, **options: losses.nll_loss(x, t, **options),
    "nll_loss axis": lambda x, t, **options: losses.nll_loss(
        mx.moveaxis(x, -1, 0), t, axis=0, **options
    ),
    "nll_loss mean": lambda x, t, **options: losses.nll_loss(x, t, reduction="mean", **options),
    "fast": lambda x, t, **options: mx.fast.cross_entropy(x, t, **options),
    "fast nll_loss": lambda x, t, **options: mx.fast.nll_loss(x, t, **options),
}
TRANSFORMS = {
    "plain": lambda f: f,
    "compile": mx.compile,
    "grad": lambda f: lambda x, t: mx.grad(lambda x: f(x, t).sum())(x),
    "value_and_grad": lambda f: lambda x, t: mx.value_and_grad(lambda x: f(x, t).sum())(x),
    "compiled grad": lambda f: mx.compile(lambda x, t: mx.grad(lambda x: f(x, t).sum())(x)),
    "jvp": lambda f: lambda x, t: mx.jvp(lambda x: f(x, t), [x], [mx.ones_like(x)]),
    "vmap": lambda f: lambda x, t: mx.vmap(f)(x, t),
    "vmap of targets": lambda f: lambda x, t: mx.vmap(lambda t: f(x[0], t))(t),
    "vmap of grad": lambda f: lambda x, t: mx.vmap(mx.grad(lambda x, t: f(x, t).sum()))(x, t),
    "checkpoint": lambda f: lambda x, t: mx.grad(lambda x: mx.checkpoint(f)(x, t).sum())(x),
}


@pytest.mark.parametrize("name", CLASSED)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_targets_that_are_no_classes(name, transform):
    function, how = CLASSED[name], TRANSFORMS[transform]
    x = mx.array(RNG.normal(size=(4, 5)).astype(F32))
    for bad in (-1, -5, -6, -100, 5, 77):
        for dtype in (mx.int8, mx.int32, mx.int64):
            targets = mx.array([0, 4, bad, 1], dtype=dtype)
            with pytest.raises(
                IndexError, match=rf"index {bad} is (out of bounds|negative; set ignore_index)"
            ):
                mx.eval(how(function)(x, targets))
    with pytest.raises(IndexError, match="index 255 is out of bounds"):
        mx.eval(how(function)(x, mx.array([0, 4, 255, 1], dtype=mx.uint8)))
    ignoring = how(lambda x, t: function(x, t, ignore_index=-100))
    with pytest.raises(IndexError, match="class index -2 is negative; set ignore_index"):
        mx.eval(ignoring(x, mx.array([0, -100, -2, 1])))
    mx.eval(how(function)(x, mx.array([0, 4, 2, 1])))


@pytest.mark.parametrize("name", CLASSED)
@pytest.mark.parametrize("ignored", [-100, -1, 0, 3, 5, 1000])
@pytest.mark.parametrize("dtype", [mx.int16, mx.int64, mx.uint16], ids=str)
def test_ignored_targets_do_not_count(name, ignored, dtype):
    if ignored < 0 and dtype == mx.uint16:
        ignored = 65535
    function = CLASSED[name]
    x = mx.array(RNG.normal(size=(6, 5)).astype(F32))
    classes = np.array([4, 1, 2, 4, 1, 2])
    is_counted = np.array([True, False, True, True, False, True])
    targets = mx.array(np.where(is_counted, classes, ignored), dtype=dtype)

    def loss(x, t=targets):
        return function(x, t, ignore_index=ignored)

    kept = mx.array(np.flatnonzero(is_counted))
    expected = function(x[kept], mx.array(classes[is_counted], dtype=dtype))
    for found in (loss(x), mx.compile(loss)(x)):
        if expected.ndim == 0:
            np.testing.assert_allclose(found.item(), expected.item(), rtol=1e-6)
        else:
            assert found[mx.array(np.flatnonzero(~is_counted))].tolist() == [0, 0]
            np.testing.assert_allclose(np.array(found[kept]), np.array(expected), rtol=1e-6)
    slope = mx.grad(lambda x: loss(x).sum())(x)
    assert not np.array(slope)[~is_counted].any()
    rest = mx.grad(lambda x: function(x, mx.array(classes[is_counted], dtype=dtype)).sum())(x[kept])
    np.testing.assert_allclose(np.array(slope[kept]), np.array(rest), rtol=1e-5, atol=1e-7)
    if expected.ndim == 1:
        each = mx.vmap(lambda x, t: loss(x, t))(x, targets)
        np.testing.assert_allclose(np.array(each), np.array(loss(x)), rtol=1e-6)


@pytest.fixture
def mlx_rules():
    set_mlx_rules(True)
    yield
    set_mlx_rules(False)


@pytest.mark.usefixtures("mlx_rules")
@pytest.mark.parametrize("dtype", [mx.int8, mx.int32, mx.int64], ids=str)
@pytest.mark.parametrize("how", [lambda f: f, mx.compile, mx.checkpoint, mx.vmap])
def test_negative_targets_by_the_rules_of_mlx(how, dtype):
    """They count from the end; what lies before the first class can be masked afterwards."""
    x = mx.array(RNG.normal(size=(7, 5)).astype(F32))
    classes = np.array([0, 4, -1, -5, 2, -6, -100])
    targets, is_class = mx.array(classes, dtype=dtype), mx.array(classes >= -5)
    rows, counted = np.arange(5), classes[:5]
    for name, scores in (
        ("cross_entropy", np_log_softmax(np.array(x))),
        ("nll_loss", np.array(x, dtype=np.float64)),
    ):
        function = getattr(losses, name)
        found = np.array(how(lambda x, t, f=function: f(x, t))(x, targets))
        np.testing.assert_allclose(found[:5], -scores[rows, counted], rtol=1e-5)
        assert found[5:].tolist() == [0, 0]
        mean = how(lambda x, t, f=function: f(x, t, reduction="mean"))(x, targets)
        np.testing.assert_allclose(np.array(mean).mean(), found.mean(), rtol=1e-5)
        slope = mx.grad(lambda x, f=function: (how(f)(x, targets) * is_class).sum())(x)
        positive = mx.array(counted % 5)
        rest = mx.grad(lambda x, f=function, t=positive: how(f)(x, t).sum())(x[:5])
        np.testing.assert_allclose(np.array(slope[:5]), np.array(rest), rtol=1e-5, atol=1e-7)
        assert not np.array(slope[5:]).any()


@pytest.mark.usefixtures("mlx_rules")
def test_other_targets_by_the_rules_of_mlx():
    x = mx.array(RNG.normal(size=(2, 5, 3)).astype(F32))
    targets = mx.array([[0, -1, -100], [2, -2, -5]])
    for function in (losses.cross_entropy, losses.nll_loss):
        along = function(x, targets, axis=1)
        last = function(mx.swapaxes(x, 1, 2), mx.array([[0, 4, -100], [2, 3, 0]]))
        np.testing.assert_allclose(np.array(along), np.array(last), rtol=1e-6)
        ignoring = function(x, targets, axis=1, ignore_index=-2, reduction="sum")
        rest = along.sum() - along[1, 1]
        np.testing.assert_allclose(ignoring.item(), rest.item(), rtol=1e-6)
        for dtype in (mx.int32, mx.uint8):
            with pytest.raises(IndexError, match="index 5 is out of bounds"):
                mx.eval(function(mx.array(X), mx.array([0, 1, 2, 5], dtype=dtype)))
    smooth = losses.cross_entropy(mx.array(X), mx.array([0, -1, -9, 2]), label_smoothing=0.1)
    uniform = -np_log_softmax(X)[2].mean()
    np.testing.assert_allclose(smooth[2].item(), 0.1 * uniform, rtol=1e-5)


def test_means_of_nothing_but_ignored_targets():
    x, targets = mx.array(X), mx.full((4,), -100)
    for function in (losses.cross_entropy, losses.nll_loss):
        options = {"ignore_index": -100}
        assert math.isnan(function(x, targets, reduction="mean", **options).item())
        assert function(x, targets, reduction="sum", **options).item() == 0
        slope = mx.grad(lambda x, f=function: f(x, targets, reduction="mean", ignore_index=-100))
        assert slope(x).tolist() == [[0] * 5] * 4


def test_ignored_rows_may_hold_anything():
    x = mx.array([[0.0, 0.0], [INF, -INF], [-INF, -INF], [math.nan, 0.0]])
    targets = mx.array([1, -1, -1, -1])
    for reduction, value in (("mean", LOG2), ("sum", LOG2), ("none", [LOG2, 0, 0, 0])):
        found = losses.cross_entropy(x, targets, reduction=reduction, ignore_index=-1)
        np.testing.assert_allclose(np.array(found), value, rtol=1e-6)


def test_probabilities_are_not_ignored():
    with pytest.raises(ValueError, match=r"^\[cross_entropy\] ignore_index requires class"):
        losses.cross_entropy(mx.array(X), mx.array(PROBABILITIES), ignore_index=1)


def test_norms_of_vectors_far_out():
    for size in (1e-25, 1.0, 1e25):
        x = mx.array([[3.0, 4.0]]) * size
        y = mx.array([[4.0, 3.0]]) * size
        eps = 1e-8 if size >= 1 else 0.0
        assert losses.cosine_similarity_loss(x, y, eps=eps).item() == pytest.approx(0.96, rel=1e-6)
    wide = losses.gaussian_nll_loss(mx.array([1e25]), mx.array([0.0]), mx.array([1e25]))
    assert wide.item() == pytest.approx(0.5e25, rel=1e-6)


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_smooth_l1_of_integers_is_floating(beta):
    x, y = mx.array([1, 2]), mx.array([3, 2])
    got = losses.smooth_l1_loss(x, y, beta, reduction="none")
    assert (got.dtype, got.tolist()) == (mx.float32, [2 - beta / 2, 0])


@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16])
def test_triplet_distances_in_range_have_squares_out_of_range(dtype):
    x, zero = mx.full((1, 2), 1e30, dtype), mx.zeros((1, 2), dtype)
    assert nn.losses.triplet_loss(x, zero, zero).item() == 1
    loss, gradient = mx.value_and_grad(lambda x: nn.losses.triplet_loss(x, zero, x).sum())(x)
    np.testing.assert_allclose(loss.item(), 2**0.5 * 1e30, rtol=1e-2)
    np.testing.assert_allclose(np.array(gradient.astype(mx.float32)), 0.5**0.5, rtol=1e-2)
