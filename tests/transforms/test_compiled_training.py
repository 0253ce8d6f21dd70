"""Training steps, compiled whole: the same losses as step by step."""

import numpy as np
import pytest
import umber.core as mx
from small_transformer import Transformer
from umber import nn, optimizers

STEPS = 100


def perceptron():
    """The model of the digits example, smaller."""
    return nn.Sequential(
        nn.Linear(16, 12),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(12, 12),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(12, 5),
    )


def digits(generator):
    return generator.uniform(size=(8, 16)).astype(np.float32), generator.integers(0, 5, 8)


def sentences(generator):
    tokens = generator.integers(0, 11, (3, 6))
    return tokens, np.roll(tokens, -1, axis=1)


def losses(make_model, make_batch, wrap, optimizer):
    """The losses of some steps from one starting point."""
    mx.random.seed(7)
    model = make_model()
    mx.eval(model.parameters())
    state = [model.state, optimizer.state, mx.random.state]

    def loss(inputs, targets):
        return nn.losses.cross_entropy(model(inputs), targets, reduction="mean")

    value_and_grad = nn.value_and_grad(model, loss)

    def step(inputs, targets):
        value, gradients = value_and_grad(inputs, targets)
        optimizer.update(model, gradients)
        return value

    step = wrap(step, state)
    generator = np.random.default_rng(3)
    found = []
    for _ in range(STEPS):
        inputs, targets = make_batch(generator)
        found.append(step(mx.array(inputs), mx.array(targets)))
        mx.eval(found[-1], state)
    return np.array([value.item() for value in found])


@pytest.mark.parametrize(
    ("make_model", "make_batch"),
    [
        pytest.param(perceptron, digits, id="digits"),
        pytest.param(Transformer, sentences, id="transformer"),
    ],
)
def test_losses(make_model, make_batch):
    """With Adam's state, a falling rate and dropout's random state captured."""

    def adam():
        return optimizers.Adam(optimizers.cosine_decay(1e-2, STEPS), bias_correction=True)

    traces = []

    def compiled(step, state):
        return mx.compile(lambda *x: (traces.append(0), step(*x))[1], inputs=state, outputs=state)

    plain = losses(make_model, make_batch, lambda step, _: step, adam())
    fast = losses(make_model, make_batch, compiled, adam())
    np.testing.assert_allclose(fast, plain, rtol=1e-5, atol=1e-5)
    assert plain[-10:].mean() < plain[:10].mean()
    # The optimizer's state does not exist before the first step.
    assert len(traces) <= 2
