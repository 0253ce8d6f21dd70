"""Two spirals told apart by a small network, trained on shuffled batches."""

import math
from itertools import pairwise

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np


class Network(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = [nn.Linear(a, b) for a, b in pairwise(widths)]

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = mx.tanh(layer(x))
        return self.layers[-1](x)


def spirals(count):
    turn = mx.sqrt(mx.random.uniform(shape=(count,))) * 2.5 * math.pi
    points = mx.stack([turn * mx.cos(turn), turn * mx.sin(turn)], axis=1) / (2.5 * math.pi)
    return mx.concatenate([points, -points]), mx.repeat(mx.arange(2), count)


def loss_of(model, x, y):
    return nn.losses.cross_entropy(model(x), y, reduction="mean")


def batches(x, y, size, rng):
    order = mx.array(rng.permutation(y.size))
    for start in range(0, y.size, size):
        chosen = order[start : start + size]
        yield x[chosen], y[chosen]


def main():
    mx.random.seed(3)
    rng = np.random.default_rng(3)
    x, y = spirals(200)
    model = Network([2, 32, 32, 2])
    mx.eval(model.parameters())
    optimizer = optim.Adam(learning_rate=1e-2)
    step = nn.value_and_grad(model, loss_of)
    first = loss_of(model, x, y).item()
    for _ in range(60):
        for some_x, some_y in batches(x, y, 64, rng):
            _, gradients = step(model, some_x, some_y)
            optimizer.update(model, gradients)
            mx.eval(model.parameters(), optimizer.state)
    last = loss_of(model, x, y).item()
    accuracy = mx.mean(mx.argmax(model(x), axis=1) == y).item()
    assert last < 0.1 * first
    assert accuracy > 0.97
    print(f"first loss {first:.4f}; learned: {accuracy > 0.97}; steps {optimizer.step.item()}")


if __name__ == "__main__":
    main()
