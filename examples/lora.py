"""Fine-tunes a network to rotated digits with low-rank adapters (LoRA).

    python examples/lora.py

A network is trained on the handwritten digits of scikit-learn and frozen. Then each of its linear
layers y = W x + b becomes y = W x + b + s B A x (Hu et al., "LoRA: Low-Rank Adaptation of Large
Language Models", 2021), and only the low-rank matrices A and B are trained on the digits rotated by
90 degrees. At the end each W is replaced by W + s B A, which removes the adapters. Writes
`lora.safetensors`, which contains the adapters only, and `lora.png`.
"""

from __future__ import annotations

import argparse
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import umber.core as mx
from common.digits import CLASSES, PIXELS, SIDE, Digits, accuracy, predictions, read_digits
from common.files import check_output, staging
from common.options import Options, positive_number, run, whole_number
from common.training import fit, minibatches
from umber import nn, optimizers
from umber.utils import tree_flatten

WEIGHTS_FILE = "lora.safetensors"
FIGURE_FILE = "lora.png"


def parse_options() -> argparse.Namespace:
    options = Options("Fine-tune a network to rotated digits with low-rank adapters.")
    add = options.add_argument
    add("--steps", type=whole_number(1), default=600, help="steps of the training on digits")
    add("--adapter-steps", type=whole_number(1), default=600, help="steps on rotated digits")
    add("--batch-size", type=whole_number(1, 1024), default=64, help="digits in one training step")
    add("--learning-rate", type=positive_number, default=3e-3, help="Adam's step size at first")
    add("--hidden", type=whole_number(1, 4096), default=256, help="size of the hidden layers")
    add("--rank", type=whole_number(1, 64), default=4, help="rank of the adapters")
    add("--scale", type=positive_number, default=4.0, help="the adapters' factor s")
    options.add_seed_and_output()
    return options.parse_args()


class LoRALinear(nn.Module):
    """y = W x + b + s B A x with W and b of a trained layer; B is initialized to zeros."""

    def __init__(self, linear: nn.Linear, rank: int, scale: float) -> None:
        super().__init__()
        outputs, inputs = linear.weight.shape
        self.linear = linear
        self.scale = scale
        self.lora_a = mx.random.normal((rank, inputs), scale=1 / math.sqrt(inputs))
        self.lora_b = mx.zeros((outputs, rank))

    def __call__(self, x: mx.array) -> mx.array:
        return self.linear(x) + self.scale * (x @ self.lora_a.T) @ self.lora_b.T

    def merged(self) -> nn.Linear:
        """A linear layer with the weight W + s B A, which computes the same without adapters."""
        outputs, inputs = self.linear.weight.shape
        linear = nn.Linear(inputs, outputs)
        weight = self.linear.weight + self.scale * self.lora_b @ self.lora_a
        linear.update({"weight": weight, "bias": self.linear.bias})
        return linear


class Network(nn.Module):
    """Two hidden layers."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        sizes = [PIXELS, hidden, hidden, CLASSES]
        self.layers = [nn.Linear(*pair) for pair in pairwise(sizes)]

    def __call__(self, x: mx.array) -> mx.array:
        *hidden, last = self.layers
        for layer in hidden:
            x = nn.gelu(layer(x))
        return last(x)


def add_adapters(model: Network, rank: int, scale: float) -> None:
    """Freeze the model and add a trainable adapter to each of its layers."""
    model.freeze()
    adapted = [LoRALinear(layer, rank, scale) for layer in model.layers]
    model.update_modules({"layers": adapted})


def merge_adapters(model: Network) -> None:
    """Replace each layer and its adapter by one linear layer."""
    model.update_modules({"layers": [layer.merged() for layer in model.layers]})


def rotated(digits: Digits) -> Digits:
    """The digits, rotated counterclockwise by 90 degrees."""
    images = digits.images.reshape(-1, SIDE, SIDE)
    return digits._replace(images=mx.rot90(images, axes=(1, 2)).reshape(-1, PIXELS))


def train(model: Network, digits: Digits, steps: int, options: argparse.Namespace) -> list[float]:
    """Minimize the cross-entropy of minibatches with Adam; the learning rate decays to 0.

    Returns the loss of each step.
    """

    def loss_fn(images: mx.array, labels: mx.array) -> mx.array:
        return nn.losses.cross_entropy(model(images), labels, reduction="mean")

    batches = minibatches(
        options.batch_size, digits.images[digits.train], digits.labels[digits.train]
    )
    optimizer = optimizers.Adam(optimizers.cosine_decay(options.learning_rate, steps))
    return fit(model, optimizer, loss_fn, batches, steps)


def parameter_count(parameters: object) -> int:
    """The number of elements of all arrays in a tree."""
    return sum(array.size for _, array in tree_flatten(parameters))


def draw(file: Path, losses: dict[str, list[float]], accuracies: dict[str, float]) -> None:
    """The losses of both trainings, and the accuracies."""
    from common.drawing import draw_losses
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.set_yscale("log")
    for title, values in losses.items():
        draw_losses(left, values, title)
    right.barh(list(accuracies), list(accuracies.values()))
    right.set_xlim(0, 1)
    right.invert_yaxis()
    right.set_title("test accuracy")
    figure.savefig(file, dpi=120)


def main() -> int:
    options = parse_options()
    mx.random.seed(options.seed)
    check_output(options.output, WEIGHTS_FILE, FIGURE_FILE)
    upright = read_digits()
    rotated_digits = rotated(upright)
    model = Network(options.hidden)
    losses = {"digits": train(model, upright, options.steps, options)}
    accuracies = {
        "upright digits": accuracy(model, upright),
        "rotated digits": accuracy(model, rotated_digits),
    }
    print(f"trained: {accuracies['upright digits']:.2%} of upright digits")
    print(f"before adapting: {accuracies['rotated digits']:.2%} of rotated digits")

    frozen_count = parameter_count(model.parameters())
    add_adapters(model, options.rank, options.scale)
    losses["rotated digits"] = train(model, rotated_digits, options.adapter_steps, options)
    adapters = dict(tree_flatten(model.trainable_parameters()))
    accuracies["rotated digits, adapted"] = accuracy(model, rotated_digits)
    print(
        f"adapted: {accuracies['rotated digits, adapted']:.2%} of rotated digits, with "
        f"{parameter_count(adapters)} trainable and {frozen_count} frozen parameters"
    )

    adapted_predictions = predictions(model, rotated_digits)
    merge_adapters(model)
    agree = float(np.mean(predictions(model, rotated_digits) == adapted_predictions))
    merged_count = parameter_count(model.parameters())
    print(f"merged into {merged_count} parameters: {agree:.2%} of predictions agree")
    with staging(options.output, WEIGHTS_FILE, FIGURE_FILE) as folder:
        mx.save_safetensors(folder / WEIGHTS_FILE, adapters)
        draw(folder / FIGURE_FILE, losses, accuracies)
    return 0


if __name__ == "__main__":
    run(main)
