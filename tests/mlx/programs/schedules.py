"""Learning rates that change from step to step, and one optimizer for each part of a model."""

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
from mlx.optimizers.schedulers import cosine_decay, linear_schedule
from mlx.utils import tree_map

TARGET = mx.array([3.0, -2.0, 0.5])


def descend(optimizer, steps):
    """The weights, and the rate of each step."""
    parameters, rates = {"w": mx.zeros(3)}, []
    slope = mx.grad(lambda p: mx.square(p["w"] - TARGET).sum())
    for _ in range(steps):
        parameters = optimizer.apply_gradients(slope(parameters), parameters)
        mx.eval(parameters, optimizer.state)
        rates.append(optimizer.learning_rate.item())
    return parameters["w"], rates


warm_up = optim.join_schedules([linear_schedule(0.0, 0.1, 10), cosine_decay(0.1, 40)], [10])
_, rates = descend(optim.SGD(learning_rate=warm_up), 50)
assert max(rates) == max(rates[8:13])
assert rates[0] < 0.02
print("warm-up and decay", [round(rate, 4) for rate in rates[::7]])

_, rates = descend(optim.SGD(learning_rate=optim.step_decay(0.2, 0.5, 4)), 12)
print("steps", [round(rate, 4) for rate in rates])
_, rates = descend(optim.SGD(learning_rate=optim.exponential_decay(0.1, 0.9)), 5)
print("exponential", [round(rate, 5) for rate in rates])

for optimizer in [
    optim.SGD(0.1, momentum=0.9, nesterov=True),
    optim.Adam(0.3, bias_correction=True),
    optim.AdamW(0.3, weight_decay=0.0),
    optim.Adagrad(1.0),
    optim.Lion(cosine_decay(0.1, 120)),
    optim.Adamax(0.5),
]:
    weights, _ = descend(optimizer, 120)
    assert mx.allclose(weights, TARGET, atol=0.1), (type(optimizer).__name__, weights)
    print(type(optimizer).__name__, "arrives")

mx.random.seed(1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
both = optim.MultiOptimizer(
    [optim.SGD(learning_rate=0.5), optim.SGD(learning_rate=0.0)],
    [lambda name, weight: weight.ndim == 2],
)
before = tree_map(lambda p: mx.array(p), model.parameters())
x = mx.random.normal((16, 4))
gradients = nn.value_and_grad(model, lambda x: mx.square(model(x)).mean())(x)[1]
both.update(model, gradients)
moved = tree_map(lambda a, b: bool(mx.any(a != b).item()), before, model.parameters())
assert moved == {"layers": [{"weight": True, "bias": False}, {}, {"weight": True, "bias": False}]}
print("moved", moved)
