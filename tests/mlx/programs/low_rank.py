"""A frozen network adapted by a low-rank update of its linear layers, saved and loaded."""

import os
import tempfile

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
from mlx.utils import tree_flatten, tree_unflatten


class LowRankLinear(nn.Module):
    """A linear layer plus the product of two thin matrices."""

    @classmethod
    def around(cls, linear, rank):
        outputs, inputs = linear.weight.shape
        layer = cls(inputs, outputs, rank)
        layer.linear = linear
        return layer

    def __init__(self, inputs, outputs, rank, scale=2.0):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self._scale = scale
        self.down = mx.random.uniform(-1, 1, (inputs, rank)) * inputs**-0.5
        self.up = mx.zeros((rank, outputs))

    def _extra_repr(self):
        return f"rank={self.up.shape[0]}"

    def __call__(self, x):
        return self.linear(x) + self._scale * ((x @ self.down) @ self.up)

    def merged(self):
        linear = nn.Linear(*self.down.shape[:1], self.up.shape[1])
        linear.weight = self.linear.weight + self._scale * (self.down @ self.up).T
        linear.bias = self.linear.bias
        return linear


def network():
    return nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.LayerNorm(32), nn.Linear(32, 4))


def count(parameters):
    return sum(value.size for _, value in tree_flatten(parameters))


mx.random.seed(5)
model = network()
whole = count(model.parameters())
x = mx.random.normal((64, 8))
goal = mx.sin(x @ mx.random.normal((8, 4)))
plain = model(x)

model.freeze()
assert not tree_flatten(model.trainable_parameters())
adapted = [
    (name, LowRankLinear.around(layer, 4))
    for name, layer in model.named_modules()
    if isinstance(layer, nn.Linear)
]
model.update_modules(tree_unflatten(sorted(adapted)))
names = sorted(name for name, _ in tree_flatten(model.trainable_parameters()))
assert names == ["layers.0.down", "layers.0.up", "layers.3.down", "layers.3.up"]
assert mx.allclose(model(x), plain, atol=1e-6), "the update begins as nothing"
print(f"{count(model.trainable_parameters())} of {whole} weights are trained: {names}")

frozen = {name: mx.array(v) for name, v in tree_flatten(model.parameters()) if name not in names}
optimizer = optim.Adam(learning_rate=2e-2)
step = nn.value_and_grad(model, lambda x, y: nn.losses.mse_loss(model(x), y))
losses = []
for _ in range(80):
    loss, gradients = step(x, goal)
    optimizer.update(model, gradients)
    mx.eval(model.state, optimizer.state)
    losses.append(loss.item())
assert losses[-1] < 0.5 * losses[0], losses
for name, value in tree_flatten(model.parameters()):
    assert name not in frozen or mx.array_equal(value, frozen[name]), name
print(f"loss {losses[0]:.3f} more than halved")

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "update.safetensors")
    mx.save_safetensors(path, dict(tree_flatten(model.trainable_parameters())))
    model_file = os.path.join(folder, "model.safetensors")
    model.save_weights(model_file)
    saved = mx.load(path)
    again = network()
    again.update_modules(
        tree_unflatten(
            [
                (name, LowRankLinear(*layer.weight.shape[::-1], 4))
                for name, layer in again.named_modules()
                if isinstance(layer, nn.Linear)
            ]
        )
    )
    again.load_weights(model_file)
    try:
        again.load_weights(path)
    except ValueError:
        print("half of the weights are not enough, unless asked for")
    again.load_weights(path, strict=False)
print(sorted((name, value.shape) for name, value in saved.items()))
assert mx.array_equal(again(x), model(x))

merged = tree_unflatten(
    [
        (name, layer.merged())
        for name, layer in again.named_modules()
        if isinstance(layer, LowRankLinear)
    ]
)
again.update_modules(merged)
assert mx.allclose(again(x), model(x), atol=1e-4)
print("merged into", count(again.parameters()), "weights")
