"""The training step of the digits example in umber (or MLX) and in PyTorch, from equal weights.

As in the example, a step gathers a minibatch by index and computes two hidden layers with dropout,
cross-entropy, Adam with cosine decay of the learning rate, and a running sum of the loss. Without
dropout the losses of all libraries agree; versus.py uses this to check that they do the same work.

As a program, it trains for some steps and prints the losses: `train_step.py torch --steps 5`.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from libraries import PACKAGES, Library

# The sizes and settings of the digits example.
LAYERS = (64, 128, 128, 10)
DIGITS = 1438
BATCH = 32
DROPOUT = 0.2
RATE = 2e-3
STEPS = 30 * 45


def weights() -> list[tuple[np.ndarray, np.ndarray]]:
    """The initial weights and biases, the same for all libraries."""
    generator = np.random.default_rng(0)
    layers = []
    for inputs, outputs in itertools.pairwise(LAYERS):
        bound = inputs**-0.5
        weight = generator.uniform(-bound, bound, (outputs, inputs)).astype(np.float32)
        layers.append((weight, np.zeros(outputs, np.float32)))
    return layers


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random images and labels, and a permutation of the samples."""
    generator = np.random.default_rng(1)
    images = generator.uniform(0, 1, (DIGITS, LAYERS[0])).astype(np.float32)
    labels = generator.integers(0, LAYERS[-1], DIGITS).astype(np.int32)
    return images, labels, generator.permutation(DIGITS).astype(np.int32)


def starts() -> itertools.cycle:
    """The start indices of the minibatches, repeated for each epoch."""
    return itertools.cycle(range(0, DIGITS - BATCH + 1, BATCH))


def lazy_step(library: Library, dropout: float) -> Callable[[], Any]:
    """The training step in MLX's API, which umber shares."""
    core, nn, optimizers = library.core, library.nn, library.optimizers
    layers = []
    for weight, bias in weights():
        layer = nn.Linear(weight.shape[1], weight.shape[0])
        layer.weight, layer.bias = core.array(weight), core.array(bias)
        layers += [layer, nn.ReLU(), *([nn.Dropout(dropout)] if dropout else [])]
    model = nn.Sequential(*layers[: -2 if dropout else -1])
    optimizer = optimizers.Adam(optimizers.cosine_decay(RATE, STEPS), bias_correction=True)
    images, labels, order = (core.array(values) for values in data())
    total = core.array(0.0)
    batch_starts = starts()

    def loss(images: Any, labels: Any) -> Any:
        return nn.losses.cross_entropy(model(images), labels, reduction="mean")

    loss_and_gradients = nn.value_and_grad(model, loss)
    core.eval(model.parameters(), images, labels, order, total)

    def step() -> Any:
        nonlocal total
        start = next(batch_starts)
        batch = order[start : start + BATCH]
        value, gradients = loss_and_gradients(images[batch], labels[batch])
        optimizer.update(model, gradients)
        total = total + value * batch.size
        core.eval(model.state, optimizer.state, total)
        return value

    return step


def torch_step(library: Library, dropout: float) -> Callable[[], Any]:
    """The training step in PyTorch, as in its tutorials."""
    torch = library.core
    layers = []
    for weight, bias in weights():
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0])
        layer.weight.data, layer.bias.data = torch.from_numpy(weight), torch.from_numpy(bias)
        layers += [layer, torch.nn.ReLU(), *([torch.nn.Dropout(dropout)] if dropout else [])]
    model = torch.nn.Sequential(*layers[: -2 if dropout else -1])
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    images, labels, order = (torch.from_numpy(values).clone() for values in data())
    labels, order = labels.long(), order.long()
    total = torch.zeros(())
    batch_starts = starts()

    def step() -> Any:
        nonlocal total
        start = next(batch_starts)
        batch = order[start : start + BATCH]
        optimizer.zero_grad(set_to_none=True)
        value = torch.nn.functional.cross_entropy(model(images[batch]), labels[batch])
        value.backward()
        optimizer.step()
        schedule.step()
        total = total + value.detach() * len(batch)
        return value

    return step


def build(library: Library, dropout: float = DROPOUT) -> Callable[[], Any]:
    """A function that runs one training step and returns its loss."""
    make = torch_step if library.name == "torch" else lazy_step
    return make(library, dropout)


def build_without_dropout(library: Library) -> Callable[[], Any]:
    """The training step without dropout, which is deterministic."""
    return build(library, dropout=0.0)


def main() -> None:
    """Print the losses of the first steps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", choices=[name for name in PACKAGES if name != "numpy"])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--dropout", type=float, default=0.0)
    options = parser.parse_args()
    step = build(Library(options.library, threads=2), options.dropout)
    for _ in range(options.steps):
        print(f"{float(step().item()):.6f}")


if __name__ == "__main__":
    main()
