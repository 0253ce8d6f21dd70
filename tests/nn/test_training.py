"""Whole models in training: compiled steps, saved states, what is learned."""

import numpy as np
import pytest
import umber.core as mx
from umber import nn, optimizers
from umber.utils import tree_flatten, tree_map, tree_unflatten

RNG = np.random.default_rng(0)
IMAGES = RNG.normal(size=(16, 8, 8, 3)).astype(np.float32)
TOKENS = RNG.integers(0, 11, size=(16, 6))
CLASSES = RNG.integers(0, 4, size=16)


def convolutional():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False),
        nn.BatchNorm(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, groups=2),
        nn.GroupNorm(2, 8),
        nn.GELU(),
        nn.Dropout2d(0.2),
        nn.AdaptiveAvgPool2d(1),
        lambda x: x.flatten(1),
        nn.Linear(8, 4),
    )


class Tagger(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.embedding = nn.Embedding(11, 8, padding_idx=0)
        self.body = make()
        self.head = nn.Linear(8, 4)

    def __call__(self, tokens):
        y = self.body(self.embedding(tokens))
        y = y[0] if isinstance(y, tuple) else y
        return self.head(y[:, -1])


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.TransformerEncoder(1, 8, 2, dropout=0.1)

    def __call__(self, x):
        return self.encoder(x, "causal")


MODELS = {
    "convolutional": (convolutional, IMAGES),
    "rnn": (lambda: Tagger(lambda: nn.RNN(8, 8)), TOKENS),
    "lstm": (lambda: Tagger(lambda: nn.LSTM(8, 4, num_layers=2, bidirectional=True)), TOKENS),
    "gru": (lambda: Tagger(lambda: nn.GRU(8, 8)), TOKENS),
    "transformer": (lambda: Tagger(Encoder), TOKENS),
}
OPTIMIZERS = {
    "SGD": lambda rate: optimizers.SGD(rate, momentum=0.9, nesterov=True, weight_decay=0.01),
    "Adam": lambda rate: optimizers.Adam(rate, bias_correction=True),
    "AdamW": optimizers.AdamW,
    "Adamax": optimizers.Adamax,
    "Adagrad": optimizers.Adagrad,
    "RMSprop": optimizers.RMSprop,
    "AdaDelta": optimizers.AdaDelta,
    "Lion": optimizers.Lion,
    "Adafactor": lambda rate: optimizers.Adafactor(rate, beta_1=0.9),
    "Muon": optimizers.Muon,
    "several": lambda rate: optimizers.MultiOptimizer(
        [optimizers.Muon(rate), optimizers.AdamW(rate)], [lambda path, x: x.ndim >= 2]
    ),
}


def stepper(model, optimizer):
    loss_and_gradients = nn.value_and_grad(
        model, lambda x, y: nn.losses.cross_entropy(model(x), y, reduction="mean")
    )

    def step(x, y):
        loss, gradients = loss_and_gradients(x, y)
        gradients, _ = optimizers.clip_grad_norm(gradients, 1.0)
        optimizer.update(model, gradients)
        return loss

    return step


def data(inputs):
    return mx.array(inputs), mx.array(CLASSES)


@pytest.mark.parametrize("name", MODELS)
def test_models_learn(name):
    mx.random.seed(0)
    make, inputs = MODELS[name]
    model = make()
    optimizer = optimizers.Adam(0.02)
    step = stepper(model, optimizer)
    losses = []
    for _ in range(40):
        losses.append(step(*data(inputs)).item())
        mx.eval(model.state, optimizer.state)
    assert losses[-1] < 0.6 * losses[0]
    model.eval()
    assert model(data(inputs)[0]).tolist() == model(data(inputs)[0]).tolist()


@pytest.mark.parametrize("name", MODELS)
def test_compiled_steps(name):
    """A compiled step changes model, optimizer and random numbers as the plain one does."""
    make, inputs = MODELS[name]

    def train(transform):
        mx.random.seed(0)
        model, optimizer = make(), optimizers.AdamW(optimizers.cosine_decay(0.01, 10))
        optimizer.init(model.trainable_parameters())
        step = transform(stepper(model, optimizer), [model.state, optimizer.state])
        losses = []
        for _ in range(5):
            losses.append(step(*data(inputs)).item())
            mx.eval(model.state, optimizer.state)
        return losses, model

    def compiled(step, state):
        state = [*state, mx.random.state]
        return mx.compile(step, inputs=state, outputs=state)

    losses, model = train(lambda step, state: step)
    again, twin = train(compiled)
    np.testing.assert_allclose(again, losses, rtol=1e-4)
    for (path, a), (_, b) in zip(
        tree_flatten(twin.parameters()), tree_flatten(model.parameters()), strict=True
    ):
        np.testing.assert_allclose(np.array(a), np.array(b), atol=2e-4, err_msg=path)


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("scheduled", [True, False])
def test_training_continues_from_files(name, scheduled, tmp_path):
    """Weights and state, saved and loaded, give the very same weights as going on."""

    def make():
        rate = optimizers.linear_schedule(0.0, 0.05, 8) if scheduled else 0.05
        return convolutional().eval(), OPTIMIZERS[name](rate)

    mx.random.seed(1)
    model, optimizer = make()
    step = stepper(model, optimizer)
    for _ in range(3):
        step(*data(IMAGES))
    model.save_weights(tmp_path / "model.safetensors")
    mx.save_safetensors(
        str(tmp_path / "optimizer.safetensors"), dict(tree_flatten(optimizer.state))
    )

    twin, other = make()
    twin.load_weights(tmp_path / "model.safetensors")
    other.state = tree_unflatten(mx.load(str(tmp_path / "optimizer.safetensors")))
    again = stepper(twin, other)
    for _ in range(3):
        step(*data(IMAGES))
        again(*data(IMAGES))
    want, got = (tree_map(lambda x: x.tolist(), m.parameters()) for m in (model, twin))
    assert got == want
    want, got = (dict(tree_flatten(o.state)) for o in (optimizer, other))
    assert {k: v.tolist() for k, v in got.items()} == {k: v.tolist() for k, v in want.items()}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_lower_a_loss(name):
    mx.random.seed(1)
    rate = {"AdaDelta": 20.0, "Adagrad": 0.2, "Muon": 0.05, "several": 0.05}.get(name, 0.02)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = OPTIMIZERS[name](rate)
    x = mx.random.normal((64, 3))
    y = x[:, :1] - 2 * x[:, 1:2] * x[:, 2:]
    loss = nn.value_and_grad(model, lambda x, y: nn.losses.mse_loss(model(x), y))
    losses = []
    for _ in range(150):
        value, gradients = loss(x, y)
        optimizer.update(model, gradients)
        mx.eval(model.state, optimizer.state)
        losses.append(value.item())
    assert losses[-1] < 0.7 * losses[0]


def test_padding_stays_zero():
    mx.random.seed(0)
    model = Tagger(lambda: nn.GRU(8, 8))
    optimizer = optimizers.Adam(0.02)
    step = stepper(model, optimizer)
    for _ in range(3):
        step(*data(TOKENS))
    assert model.embedding.weight[0].tolist() == [0.0] * 8
    assert (TOKENS == 0).any()


def test_gradients_evaluated_before_the_update_leave_all_as_it_was():
    """Updates only record: what fails later has taken the place of the weights by then."""
    model = nn.Sequential(nn.Embedding(5, 4), nn.Linear(4, 5))
    optimizer = optimizers.Adam(0.1)
    loss_and_grad = nn.value_and_grad(
        model, lambda x, y: nn.losses.cross_entropy(model(x), y, reduction="mean")
    )

    def step(x, y):
        loss, gradients = loss_and_grad(mx.array(x), mx.array(y))
        mx.eval(loss, gradients)
        optimizer.update(model, gradients)
        mx.eval(model.state, optimizer.state)

    step([0, 1], [2, 3])
    before = [x.tolist() for _, x in tree_flatten([model.state, optimizer.state])]
    with pytest.raises(IndexError):
        step([0, 7], [2, 3])
    assert [x.tolist() for _, x in tree_flatten([model.state, optimizer.state])] == before
    step([0, 4], [2, 3])
