"""`losses.ctc_loss` against the sum over all alignments."""

import itertools
import math
import warnings

import numpy as np
import pytest
import umber.core as mx
from umber import nn
from umber.nn import losses

F32 = np.float32


def spelled(alignment, blank):
    """The labels of an alignment: equal neighbours joined, blanks dropped."""
    joined = [label for label, _ in itertools.groupby(alignment)]
    return [label for label in joined if label != blank]


def loss_by_enumeration(log_probs, target, blank=0):
    """Minus the logarithm of the probability of every alignment that spells the target."""
    frames, labels = log_probs.shape
    total = 0.0
    for alignment in itertools.product(range(labels), repeat=frames):
        if spelled(alignment, blank) == list(target):
            total += math.exp(sum(log_probs[t, label] for t, label in enumerate(alignment)))
    return -math.log(total) if total > 0 else math.inf


def random_log_probs(rng, *shape):
    x = rng.normal(size=shape) * 2
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


CASES = {
    "one label": ([1], 4, 3, 0),
    "two labels": ([1, 2], 4, 3, 0),
    "repeated": ([1, 1], 4, 3, 0),
    "as long as it can be": ([2, 1, 2], 3, 3, 0),
    "no label": ([], 3, 3, 0),
    "other blank": ([0, 1, 0], 5, 3, 2),
    "one frame": ([1], 1, 2, 0),
    "impossible": ([1, 1], 2, 3, 0),
    "too long": ([1, 2, 1], 2, 3, 0),
    "no frames": ([1], 0, 3, 0),
    "nothing of nothing": ([], 0, 3, 0),
}


@pytest.mark.parametrize("name", CASES)
def test_loss_is_that_of_all_alignments(name, rng):
    target, frames, labels, blank = CASES[name]
    log_probs = random_log_probs(rng, frames, labels)
    expected = loss_by_enumeration(log_probs, target, blank)
    targets = mx.array(np.array(target, dtype=np.int32))
    loss = losses.ctc_loss(mx.array(log_probs.astype(F32)), targets, blank=blank)
    assert loss.shape == ()
    np.testing.assert_allclose(loss.item(), expected, rtol=1e-5, atol=1e-6)


def batch(rng):
    log_probs = random_log_probs(rng, 3, 5, 4)
    targets = np.array([[1, 2, 3], [2, 2, -1], [3, 99, 99]], dtype=np.int32)
    return log_probs, targets, np.array([5, 4, 2]), np.array([3, 2, 1])


def test_samples_have_lengths_of_their_own(rng):
    log_probs, targets, frames, labels = batch(rng)
    expected = [
        loss_by_enumeration(p[:t], y[:s])
        for p, y, t, s in zip(log_probs, targets, frames, labels, strict=True)
    ]
    inputs = [mx.array(x) for x in (log_probs.astype(F32), targets, frames, labels)]
    values = losses.ctc_loss(*inputs)
    np.testing.assert_allclose(np.array(values), expected, rtol=1e-5)
    for reduction, value in {"mean": np.mean(expected), "sum": np.sum(expected)}.items():
        loss = losses.ctc_loss(*inputs, reduction=reduction)
        np.testing.assert_allclose(loss.item(), value, rtol=1e-5)


def test_gradient_against_finite_differences(rng):
    log_probs, targets, frames, labels = batch(rng)
    rest = [mx.array(x) for x in (targets, frames, labels)]

    def loss(x):
        return losses.ctc_loss(nn.log_softmax(x), *rest, reduction="sum")

    logits = rng.normal(size=log_probs.shape)
    gradient = np.array(mx.grad(loss)(mx.array(logits, mx.float64)))
    step = 1e-5
    for place in itertools.product(*map(range, logits.shape)):
        moved = [logits.copy(), logits.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        up, down = (loss(mx.array(x, mx.float64)).item() for x in moved)
        np.testing.assert_allclose(gradient[place], (up - down) / (2 * step), atol=1e-7)
    # Frames after the end of a sample say nothing.
    assert (gradient[2, 2:] == 0).all()


def test_impossible_targets_have_no_gradient():
    log_probs = mx.log(mx.full((2, 3), 1 / 3))
    targets = mx.array([1, 1])
    loss, gradient = mx.value_and_grad(lambda x: losses.ctc_loss(x, targets))(log_probs)
    assert loss.item() == math.inf
    assert gradient.tolist() == [[0.0] * 3] * 2


def test_labels_without_probability():
    log_probs = mx.array([[0.0, -math.inf, -math.inf], [0.0, -math.inf, -math.inf]])
    assert losses.ctc_loss(log_probs, mx.array([1])).item() == math.inf
    assert losses.ctc_loss(log_probs, mx.array([], mx.int32)).item() == 0.0
    gradient = mx.grad(lambda x: losses.ctc_loss(x, mx.array([1])))(log_probs)
    assert np.isfinite(np.array(gradient)).all()


def test_halves_are_added_in_float32(rng):
    log_probs = random_log_probs(rng, 40, 5).astype(np.float16)
    targets = mx.array([1, 2, 3, 4])
    loss = losses.ctc_loss(mx.array(log_probs), targets)
    assert loss.dtype == mx.float32
    exact = losses.ctc_loss(mx.array(log_probs.astype(F32)), targets)
    assert loss.item() == exact.item()


def test_labels_are_integers():
    with pytest.raises(ValueError, match=r"^\[ctc_loss\] got targets of dtype .*float32, exp"):
        losses.ctc_loss(mx.zeros((5, 3)), mx.array([1.5]))
    with pytest.raises(IndexError, match="7"):
        losses.ctc_loss(mx.zeros((5, 3)), mx.array([7])).item()


def test_it_can_be_learned():
    mx.random.seed(0)
    logits, targets = mx.zeros((6, 4)), mx.array([1, 3, 3])
    gradient = mx.grad(lambda x: losses.ctc_loss(nn.log_softmax(x), targets))
    for _ in range(100):
        logits = logits - 2.0 * gradient(logits)
        mx.eval(logits)
    best = mx.argmax(logits, axis=1).tolist()
    assert spelled(best, blank=0) == [1, 3, 3]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (((5,), (1,)), {}, r"got log_probs of shape \(5,\)"),
        (((2, 5, 3), (3, 2)), {}, r"got targets of shape \(3, 2\), expected \(2, S\)"),
        (((5, 3), (1, 2)), {}, r"got targets of shape \(1, 2\), expected \(S,\)"),
        (((2, 5, 3), (2, 2), (3,)), {}, r"got input_lengths of shape \(3,\), expected \(2,\)"),
        (
            ((2, 5, 3), (2, 2), (2,), (1,)),
            {},
            r"got target_lengths of shape \(1,\), expected \(2,\)",
        ),
        (((5, 3), (2,)), {"blank": 3}, r"got the blank 3, expected a label from 0 to 2"),
        (((5, 3), (2,)), {"reduction": "max"}, r"got the reduction 'max'"),
    ],
)
def test_it_refuses(arguments, options, message):
    log_probs, *others = arguments
    inputs = [mx.zeros(log_probs), *(mx.ones(shape, dtype=mx.int32) for shape in others)]
    with pytest.raises(ValueError, match=rf"^\[ctc_loss\] {message}"):
        losses.ctc_loss(*inputs, **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"input_lengths": [9, 5]}, "input_lengths of sample 0 must be between 0 and 5, got 9"),
        ({"input_lengths": [5, -1]}, "input_lengths of sample 1 must be between 0 and 5, got -1"),
        (
            {"target_lengths": [3, 4]},
            "target_lengths of sample 1 must be between 0 and 3, got 4",
        ),
        ({"targets": [[1, 2, 3], [1, -1, 2]]}, "label -1 of sample 1 is invalid, expected 0"),
        ({"targets": [[1, 2, 3], [1, 4, 2]]}, "label 4 of sample 1 is invalid, expected 0"),
        ({"targets": [[1, 2, 3], [1, 0, 2]]}, "label 0 of sample 1 .* except the blank 0"),
    ],
)
def test_values_out_of_range(change, message):
    arguments = {
        "targets": [[1, 2, 3], [1, 2, 3]],
        "input_lengths": [5, 5],
        "target_lengths": [3, 3],
        **change,
    }
    arguments = {name: mx.array(value) for name, value in arguments.items()}
    log_probs = nn.log_softmax(mx.zeros((2, 5, 4)))
    with pytest.raises((ValueError, IndexError), match=rf"^\[ctc_loss\] {message}"):
        losses.ctc_loss(log_probs, **arguments)
    with pytest.raises((ValueError, IndexError), match=message):
        mx.grad(lambda x: losses.ctc_loss(x, **arguments).sum())(log_probs)
    # What has no values when it is called is not checked.
    compiled = mx.compile(lambda x, y: losses.ctc_loss(log_probs, x, y))
    assert compiled(arguments["targets"], mx.array([9, -1])).shape == (2,)


def test_targets_may_be_made_of_what_is_differentiated():
    """Reading them to check them is no mistake that `grad` has to warn of."""

    def loss(x):
        return losses.ctc_loss(nn.log_softmax(x), mx.argmax(x[::2], axis=1), blank=3)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mx.isfinite(mx.grad(loss)(mx.eye(4))).all()
