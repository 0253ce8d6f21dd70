"""An ordinary program that type checkers must accept: `make check` reads it, nothing runs it."""

from __future__ import annotations

import numpy as np
import umber.core as mx
from umber import nn, optimizers
from umber.utils import tree_flatten, tree_map, tree_reduce, tree_unflatten


class Perceptron(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(2)]
        self.norm = nn.LayerNorm(width)
        self.scale = mx.ones((width,))

    def __call__(self, x: mx.array) -> mx.array:
        for layer in self.layers:
            x = nn.relu(layer(x))
        return self.norm(x) * self.scale


def loss_of(model: Perceptron, x: mx.array, y: mx.array) -> mx.array:
    return nn.losses.mse_loss(model(x), y)


def train(x: mx.array) -> float:
    model = Perceptron(4)
    optimizer = optimizers.Adam(learning_rate=optimizers.cosine_decay(1e-3, 100))
    optimizer.learning_rate = 1e-3
    mx.random.state = [mx.random.key(3)]
    loss, gradients = nn.value_and_grad(model, loss_of)(model, x, x)
    optimizer.update(model, gradients)
    mx.eval(model.parameters(), optimizer.state, loss)
    model.update(tree_map(lambda p: p * 2, model.parameters()))
    count = tree_reduce(lambda total, p: total + p.size, model.parameters(), 0)
    model.freeze()
    model.eval()
    print(model.layers[0].weight.shape, model["norm"], count)
    return float(loss) + float(loss.item())


def files(x: mx.array, model: Perceptron) -> mx.array:
    mx.save("x.npy", x)
    mx.savez("x.npz", x, y=x)
    mx.save_safetensors("weights.safetensors", dict(tree_flatten(model.parameters())))
    model.save_weights("weights.safetensors")
    model.load_weights("weights.safetensors")
    weight = mx.load("weights.safetensors")["w"] + 1
    arrays, metadata = mx.load("weights.safetensors", return_metadata=True)
    for name, value in mx.load("x.npz").items():
        print(name, value.shape, metadata)
    model.update(tree_unflatten(list(arrays.items())))
    mx.export_function("function", model, x, shapeless=True)
    with mx.exporter("functions", model) as exporter:
        exporter(x)
    print(bytes(memoryview(x)))
    (output,) = mx.import_function("function")(x)
    result: mx.array = weight + output + mx.load("x.npy")
    return result


def derivatives(x: mx.array) -> mx.array:
    value, gradient = mx.value_and_grad(lambda p, q: (p * q).sum())(x, x)
    slope = mx.grad(lambda p: p.sum())(x)
    compiled = mx.compile(lambda p: p + 1)
    mapped = mx.vmap(lambda p: p.sum())(x)
    result: mx.array = gradient + slope + compiled(x) + mapped.shape[0] + value.item()
    return result


def operations(x: mx.array) -> list[int]:
    z = x[0] + x[:, None] @ x.T
    z[0] = 3
    z = mx.mean([x[0], x[1]]) + mx.add([1, 2], z)
    z[mx.array([0])] += 1
    first = mx.split(x, 2)[0] + 1
    q, r = mx.linalg.qr(x)
    u, s, vt = mx.linalg.svd(x)
    rows, columns = mx.meshgrid(x[0], x[1])
    key, other = mx.random.split(mx.random.key(0))
    chosen = mx.where(x > 0, x, 0)
    attended = mx.fast.scaled_dot_product_attention(x, x, x, scale=1.0, mask=None)
    mx.eval(z, first, q, r, u, s, vt, rows, columns, key, other, chosen, attended)
    array = np.array(x.astype(mx.float32))
    return [len(row.shape) for row in x] + [array.ndim, x.ndim + x.shape[0]]
