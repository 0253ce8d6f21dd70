"""Trains a convolutional network on the handwritten digits that scikit-learn ships.

    python examples/convolutional_digits.py
    python examples/convolutional_digits.py --weights out/convolutional_digits.safetensors

Each training step shifts the digits by up to one pixel at random, as data augmentation.
Writes `convolutional_digits.safetensors` and `convolutional_digits.png`, both or none.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import umber.core as mx
from common.digits import (
    CLASSES,
    SIDE,
    Digits,
    accuracy,
    draw_misclassified,
    predictions,
    read_digits,
    save_weights,
)
from common.files import check_output, load_weights, staging
from common.options import Options, positive_number, run, whole_number
from common.training import fit, minibatches
from umber import nn, optimizers

WEIGHTS_FILE = "convolutional_digits.safetensors"
FIGURE_FILE = "convolutional_digits.png"


def parse_options() -> argparse.Namespace:
    options = Options("Train a convolutional network on scikit-learn's handwritten digits.")
    add = options.add_argument
    add("--steps", type=whole_number(1), default=900, help="training steps")
    add("--batch-size", type=whole_number(1, 1024), default=64, help="digits in one training step")
    add("--learning-rate", type=positive_number, default=3e-3, help="AdamW's step size at first")
    add("--channels", type=whole_number(1, 512), default=24, help="channels of the first layer")
    add("--weights", type=Path, help="a file of weights: evaluate it, without training or output")
    options.add_seed_and_output()
    return options.parse_args()


class ConvolutionalNetwork(nn.Module):
    """Two convolutions with pooling, 8 × 8 → 4 × 4 → 2 × 2, and a linear layer to the classes."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, channels, kernel_size=3, padding=1)
        self.norm1 = nn.BatchNorm(channels)
        self.conv2 = nn.Conv2d(channels, 2 * channels, kernel_size=3, padding=1)
        self.norm2 = nn.BatchNorm(2 * channels)
        self.pool = nn.MaxPool2d(2)
        self.dropout = nn.Dropout(0.3)
        self.linear = nn.Linear(2 * channels * (SIDE // 4) ** 2, CLASSES)

    def __call__(self, images: mx.array) -> mx.array:
        x = images.reshape(-1, SIDE, SIDE, 1)
        x = self.pool(nn.relu(self.norm1(self.conv1(x))))
        x = self.pool(nn.relu(self.norm2(self.conv2(x))))
        return self.linear(self.dropout(x.flatten(1)))


def shifted(images: mx.array) -> mx.array:
    """The images, each shifted by -1, 0 or 1 pixels along both axes."""
    count = images.shape[0]
    padded = mx.pad(images.reshape(count, SIDE, SIDE), [(0, 0), (1, 1), (1, 1)])
    rows = mx.random.randint(0, 3, (count, 1, 1)) + mx.arange(SIDE)[:, None]
    columns = mx.random.randint(0, 3, (count, 1, 1)) + mx.arange(SIDE)
    return padded[mx.arange(count)[:, None, None], rows, columns]


def train(model: ConvolutionalNetwork, digits: Digits, options: argparse.Namespace) -> list[float]:
    """Minimize the cross-entropy of minibatches with AdamW; the learning rate decays to 0."""

    def loss_fn(images: mx.array, labels: mx.array) -> mx.array:
        return nn.losses.cross_entropy(model(shifted(images)), labels, reduction="mean")

    batches: Iterator[tuple[mx.array, ...]] = minibatches(
        options.batch_size, digits.images[digits.train], digits.labels[digits.train]
    )
    rate = optimizers.cosine_decay(options.learning_rate, options.steps)
    return fit(model, optimizers.AdamW(rate), loss_fn, batches, options.steps)


def draw(file: Path, model: nn.Module, losses: list[float], digits: Digits) -> None:
    """Plot the loss of each step and misclassified digits of the test set."""
    from common.drawing import draw_losses, side_by_side
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = side_by_side(figure, 2)
    axes = left.subplots()
    axes.set_yscale("log")
    draw_losses(axes, losses)
    draw_misclassified(right, digits, predictions(model, digits))
    figure.savefig(file, dpi=120)


def main() -> int:
    options = parse_options()
    mx.random.seed(options.seed)
    model = ConvolutionalNetwork(options.channels)
    if options.weights is not None:
        load_weights(model, options.weights)
        print(f"test accuracy {accuracy(model, read_digits()):.2%}")
        return 0
    check_output(options.output, WEIGHTS_FILE, FIGURE_FILE)
    digits = read_digits()
    losses = train(model, digits, options)
    print(f"test accuracy {accuracy(model, digits):.2%}")
    with staging(options.output, WEIGHTS_FILE, FIGURE_FILE) as folder:
        fresh = ConvolutionalNetwork(options.channels)
        identical = save_weights(model, fresh, folder / WEIGHTS_FILE, digits)
        draw(folder / FIGURE_FILE, model, losses, digits)
    return 0 if identical else 1


if __name__ == "__main__":
    run(main)
