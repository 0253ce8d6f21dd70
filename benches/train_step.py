"""The training step of the digits example in umber (or MLX) and in PyTorch, from the same weights.

Run as a program it trains for some steps and prints the losses: `train_step.py torch --steps 5`.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from libraries import PACKAGES, Library

# Sizes of the example's layers and minibatches.
LAYERS = (64, 128, 64, 10)
BATCH = 64
RATE = 2e-3


def weights() -> list[tuple[np.ndarray, np.ndarray]]:
    """The same starting point for everybody."""
    generator = np.random.default_rng(0)
    made = []
    for inputs, outputs in itertools.pairwise(LAYERS):
        bound = inputs**-0.5
        weight = generator.uniform(-bound, bound, (outputs, inputs)).astype(np.float32)
        made.append((weight, np.zeros(outputs, np.float32)))
    return made


def batch() -> tuple[np.ndarray, np.ndarray]:
    """A minibatch of pictures and labels."""
    generator = np.random.default_rng(1)
    pictures = generator.uniform(0, 1, (BATCH, LAYERS[0])).astype(np.float32)
    return pictures, generator.integers(0, LAYERS[-1], BATCH).astype(np.int32)


def lazy_step(library: Library) -> Callable[[], Any]:
    """The step with MLX's API, which umber shares."""
    core, nn = library.core, library.nn
    layers = []
    for weight, bias in weights():
        layer = nn.Linear(weight.shape[1], weight.shape[0])
        layer.weight, layer.bias = core.array(weight), core.array(bias)
        layers += [layer, nn.ReLU()]
    model = nn.Sequential(*layers[:-1])
    optimizer = library.optimizers.Adam(learning_rate=RATE, bias_correction=True)
    pictures, labels = (core.array(values) for values in batch())

    def loss(model: Any, pictures: Any, labels: Any) -> Any:
        return nn.losses.cross_entropy(model(pictures), labels, reduction="mean")

    loss_and_gradients = nn.value_and_grad(model, loss)
    core.eval(model.parameters(), pictures, labels)

    def step() -> Any:
        value, gradients = loss_and_gradients(model, pictures, labels)
        optimizer.update(model, gradients)
        core.eval(value, model.parameters(), optimizer.state)
        return value

    return step


def torch_step(library: Library) -> Callable[[], Any]:
    """The step in PyTorch, as its tutorials write it."""
    torch = library.core
    layers = []
    for weight, bias in weights():
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0])
        layer.weight.data, layer.bias.data = torch.from_numpy(weight), torch.from_numpy(bias)
        layers += [layer, torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    pictures, labels = (torch.from_numpy(values) for values in batch())
    labels = labels.long()

    def step() -> Any:
        optimizer.zero_grad(set_to_none=True)
        value = torch.nn.functional.cross_entropy(model(pictures), labels)
        value.backward()
        optimizer.step()
        return value

    return step


def build(library: Library) -> Callable[[], Any]:
    """A function that makes one training step and returns its loss."""
    return torch_step(library) if library.name == "torch" else lazy_step(library)


def main() -> None:
    """Print the losses of the first steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", choices=[name for name in PACKAGES if name != "numpy"])
    parser.add_argument("--steps", type=int, default=10)
    options = parser.parse_args()
    step = build(Library(options.library, threads=2))
    for _ in range(options.steps):
        print(f"{float(step().item()):.6f}")


if __name__ == "__main__":
    main()
