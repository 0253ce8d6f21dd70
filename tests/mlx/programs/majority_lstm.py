"""An LSTM that counts: which of two symbols came more often, with a compiled training step."""

from functools import partial

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim


class Counter(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.lstm = nn.LSTM(2, hidden)
        self.out = nn.Linear(hidden, 1)

    def __call__(self, x):
        hidden, _ = self.lstm(x)
        return self.out(hidden[..., -1, :]).squeeze(-1)


def sequences(count, length):
    bits = mx.random.bernoulli(0.5, (count, length)).astype(mx.int32)
    return mx.eye(2)[bits], (2 * bits.sum(axis=1) > length).astype(mx.float32)


mx.random.seed(11)
model = Counter(16)
optimizer = optim.RMSprop(learning_rate=optim.cosine_decay(2e-2, 100, 1e-3))
state = [model.state, optimizer.state, mx.random.state]


def loss_of(x, y):
    return nn.losses.binary_cross_entropy(model(x), y)


@partial(mx.compile, inputs=state, outputs=state)
def step(x, y):
    loss, gradients = nn.value_and_grad(model, loss_of)(x, y)
    optimizer.update(model, gradients)
    return loss


losses = []
for _ in range(100):
    losses.append(step(*sequences(64, 9)))
    mx.eval(state, losses[-1])

x, y = sequences(256, 9)
accuracy = mx.mean((model(x) > 0) == (y > 0.5)).item()
assert accuracy > 0.9, accuracy
assert losses[-1].item() < losses[0].item()
hidden, cell = model.lstm(x[0])
assert hidden.shape == cell.shape == (9, 16)
print(f"first loss {losses[0].item():.4f}, counts: {accuracy > 0.9}")
print(f"rate after {optimizer.step.item()} steps: {optimizer.learning_rate.item():.6f}")
