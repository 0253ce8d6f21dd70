"""An ordinary program that type checkers must accept: `make check` reads it, nothing runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import umber.core as mx
import umber.data as dx
from umber import nn, optimizers
from umber.utils import register_dataclass, tree_flatten, tree_map, tree_reduce, tree_unflatten


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


@register_dataclass
@dataclass
class Affine:
    scale: mx.array
    shift: mx.array

    @mx.compile
    def __call__(self, x: mx.array, *, times: int = 1) -> mx.array:
        return x * self.scale * times + self.shift

    @mx.vmap
    def each(self, x: mx.array) -> mx.array:
        return self(x, times=2)


class Network(nn.Module):
    def __init__(self, width: int, activation: Callable[[mx.array], mx.array] = nn.relu) -> None:
        super().__init__()
        self.attention = nn.MultiHeadAttention(width, 2)
        self.ahead = nn.Sequential(nn.Linear(width, width), activation, nn.GELU(), nn.Dropout(0.1))
        self.convolution = nn.Conv2d(1, 1, [3, 3], stride=2, padding=(1, 1))
        self.pool = nn.MaxPool2d(2, stride=[2, 2])
        self.recurrent = nn.LSTM(width, width)
        self.parts: dict[str, nn.Module] = {"norm": nn.RMSNorm(width)}

    def __call__(self, x: mx.array, mask: mx.array | None = None) -> mx.array:
        hidden, cell = self.recurrent(self.ahead(self.attention(x, x, x, mask)))
        part: nn.Sequential = self.ahead[1:].append(nn.Flatten(0, 1))
        assert len(part) == len(list(self.ahead)), nn.summary(part, x).total
        z: mx.array = self.parts["norm"](hidden + cell)
        return self.pool(self.convolution(z[..., None]))


class Momentum(optimizers.Optimizer):
    def __init__(self, learning_rate: float | mx.array | optimizers.schedulers.Schedule) -> None:
        super().__init__()
        self._maybe_schedule("learning_rate", learning_rate)

    def init_single(self, parameter: mx.array, state: dict[str, mx.array]) -> None:
        state["v"] = mx.zeros_like(parameter)

    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        state["v"] = 0.9 * state["v"] + gradient
        return parameter - self.learning_rate * state["v"]


def optimizers_of_all_kinds() -> list[optimizers.Optimizer]:
    warmup = optimizers.linear_schedule(0, 1e-3, 10)
    rate = optimizers.join_schedules([warmup, optimizers.cosine_decay(1e-3, 90)], [10])
    rules = [Momentum(0.1), optimizers.RMSprop(0.1)]
    cycle = optimizers.cyclic(0.0, 1e-3, mode="triangular2")
    return [
        optimizers.SGD(rate, momentum=0.9, nesterov=True),
        optimizers.SGD(lambda step: 0.1 / (step + 1)),
        optimizers.AdamW(mx.array(1e-3), betas=[0.9, 0.99]),
        optimizers.Adafactor(eps=[1e-30, 1e-3]),
        optimizers.NAdam(optimizers.one_cycle(1e-3, 100, anneal_strategy="linear")),
        optimizers.RAdam(cycle, decoupled_weight_decay=True),
        optimizers.MultiSteps(optimizers.LAMB(1e-3), every_k=4),
        optimizers.MultiOptimizer(rules, [lambda path, gradient: gradient.ndim > 1]),
    ]


def train_with_outputs(model: Network, x: mx.array) -> mx.array:
    def loss_and_output(model: Network, x: mx.array) -> tuple[mx.array, mx.array]:
        y = model(x)
        return y.sum(), y

    for optimizer in optimizers_of_all_kinds():
        state = [model.state, optimizer.state, mx.random.state]

        @partial(mx.compile, inputs=state, outputs=state)
        def step(x: mx.array, optimizer: optimizers.Optimizer = optimizer) -> mx.array:
            (loss, _), gradients = nn.value_and_grad(model, loss_and_output)(model, x)
            gradients, norm = optimizers.clip_grad_norm(gradients, max_norm=1.0)
            optimizer.update(model, gradients)
            return loss + norm

        mx.eval(step(x), state)
    model.apply(nn.init.normal(0.0, 0.02), lambda module, name, value: name == "weight")
    model.freeze(recurse=False, keys=["bias"]).unfreeze()
    linear = [name for name, part in model.named_modules() if isinstance(part, nn.Linear)]
    leaves = tree_flatten(model.leaf_modules(), is_leaf=nn.Module.is_module)
    return nn.losses.triplet_loss(x, x, x, margin=len(linear + leaves))


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
    plateau = optimizers.ReduceLROnPlateau(optimizer, mode="max", patience=3)
    plateau.step(loss)
    ema = optimizers.EMA(model, decay=0.99)
    ema.update(model)
    with ema.swapped(model) as averaged:
        averaged(x)
    info = optimizers.LBFGS(max_iter=2).update_with(model, loss_of, model, x, x)
    clipped: dict[str, mx.array] = optimizers.clip_grad_value(gradients, 1.0)
    best, info = optimizers.LBFGS().minimize(lambda p, scale: p["norm"] * scale, clipped, 2.0)
    print(info.fun, info.nit, info.success, best)
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


def pipelines(x: mx.array) -> int:
    class Alone:
        def rank(self) -> int:
            return 0

        def size(self) -> int:
            return 1

    buffer = dx.buffer_from_vector([{"x": np.arange(3), "y": 1}, {"x": [0.5], "y": b"a"}])
    rows = dx.buffer_from_arrays({"x": x, "y": np.zeros(2)}).by_rank(Alone(), even="drop")
    first = rows[0]["x"] + buffer[-1]["x"]
    print(first, [sample["y"] for sample in buffer[:1]], len(buffer[[0, 1]]))
    stream = (
        buffer.pad_to_size("x", 0, 3, 0)
        .squeeze_if(len(buffer) > 3, "x")
        .key_transform("x", lambda a: a / 2, writable=False)
        .sample_transform(lambda s: {**s, "z": s["x"].sum()})
        .to_stream(shuffle=True, seed=1)
        .filter(lambda s: bool(s["z"] > 0))
        .on_error(lambda error, sample: None, limit=3)
        .image_normalize("x", (0.5, 0.5, 0.5), 0.5, dtype="float16")
        .cast("x", np.float32)
        .cast("z", mx.float32)
        .batch([2, 1], pad={"x": -1}, dim={"y": 0})
        .prefetch(2, 1)
        .arrays(["x"])
    )
    with dx.chain(stream, dx.mix([stream], [1.0], stop="all")) as chained:
        for batch in chained:
            value: mx.array = batch["x"]
            print(value + next(stream)["x"], stream.next(), stream())
    stream.load_state_dict(stream.state_dict())
    return len(stream) + int(stream.report()["delivered"])


def derivatives(x: mx.array) -> mx.array:
    value, gradient = mx.value_and_grad(lambda p, q: (p * q).sum())(x, x)
    slope = mx.grad(lambda p: p.sum())(x)
    compiled = mx.compile(lambda p: p + 1)
    mapped = mx.vmap(lambda p: p.sum())(x)
    affine = Affine(mx.ones(2), mx.zeros(2))
    moved: mx.array = affine(x, times=3) + affine.each(x)
    result: mx.array = moved + gradient + slope + compiled(x) + mapped.shape[0] + value.item()
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
