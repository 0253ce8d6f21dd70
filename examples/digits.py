"""Trains a small network on the handwritten digits that scikit-learn ships.

    python examples/digits.py                                  train, save, draw
    python examples/digits.py --weights out/digits.safetensors only evaluate

The digits are used in NumPy's memory, without a copy. A fifth of them is held out for testing.
Training writes `digits.safetensors` and `digits.png` to the output folder, both or none.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import NamedTuple

import umber.core as mx
from common.digits import (
    CLASSES,
    PIXELS,
    Digits,
    accuracy,
    draw_misclassified,
    predictions,
    read_digits,
    save_weights,
)
from common.files import check_output, load_weights, staging
from common.options import Options, positive_number, run, whole_number
from common.training import check_loss
from tqdm import tqdm
from umber import nn, optimizers

WEIGHTS_FILE = "digits.safetensors"
FIGURE_FILE = "digits.png"


def parse_options() -> argparse.Namespace:
    options = Options("Train a small network on scikit-learn's handwritten digits.")
    add = options.add_argument
    add("--epochs", type=whole_number(1), default=30, help="passes over the training set")
    add("--batch-size", type=whole_number(1), default=32, help="digits in one training step")
    add("--learning-rate", type=positive_number, default=2e-3, help="Adam's step size at the start")
    add("--hidden", type=whole_number(1, 4096), default=128, help="size of the hidden layers")
    add("--weights", type=Path, help="a file of weights: evaluate it, without training or output")
    options.add_seed_and_output()
    return options.parse_args()


class Epoch(NamedTuple):
    """The results of an epoch."""

    loss: float
    accuracy: float


def network(hidden: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(PIXELS, hidden),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(hidden, CLASSES),
    )


def train(model: nn.Module, digits: Digits, options: argparse.Namespace) -> list[Epoch]:
    """Minimize the cross-entropy of minibatches with Adam; the learning rate decays to 0.

    Prints one line per epoch.
    """

    def loss_fn(images: mx.array, labels: mx.array) -> mx.array:
        return nn.losses.cross_entropy(model(images), labels, reduction="mean")

    size = digits.train.size
    starts = range(0, size, options.batch_size)
    steps = options.epochs * len(starts)
    rate = optimizers.cosine_decay(options.learning_rate, steps)
    optimizer = optimizers.Adam(rate, bias_correction=True)
    loss_and_grad = nn.value_and_grad(model, loss_fn)
    history = []
    with tqdm(total=steps, unit="step", leave=False) as progress:
        for epoch in range(1, options.epochs + 1):
            begin = time.perf_counter()
            model.train()
            order = digits.train[mx.random.permutation(size)]
            total = mx.array(0.0)
            for start in starts:
                batch = order[start : start + options.batch_size]
                loss, gradients = loss_and_grad(digits.images[batch], digits.labels[batch])
                optimizer.update(model, gradients)
                total = total + loss * batch.size
                mx.eval(model.state, optimizer.state, total)
                progress.update()
            speed = size / (time.perf_counter() - begin)
            history.append(Epoch(total.item() / size, accuracy(model, digits)))
            check_loss(history[-1].loss, f"in epoch {epoch}", progress)
            progress.write(
                f"epoch {epoch:3d}  loss {history[-1].loss:.4f}  "
                f"accuracy {history[-1].accuracy:6.2%}  {speed:8.0f} samples/s"
            )
    return history


def draw(file: Path, model: nn.Module, history: list[Epoch], digits: Digits) -> None:
    """Plot the loss of each epoch and misclassified digits of the test set."""
    from common.drawing import side_by_side
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = side_by_side(figure, 2)
    axes = left.subplots()
    epochs = range(1, len(history) + 1)
    axes.semilogy(epochs, [epoch.loss for epoch in history], label="training loss")
    axes.semilogy(epochs, [1 - epoch.accuracy for epoch in history], label="test error")
    axes.set_xlabel("epoch")
    axes.legend()
    draw_misclassified(right, digits, predictions(model, digits))
    figure.savefig(file, dpi=120)


def main() -> int:
    options = parse_options()
    mx.random.seed(options.seed)
    model = network(options.hidden)
    if options.weights is not None:
        load_weights(model, options.weights)
        print(f"test accuracy {accuracy(model, read_digits()):.2%}")
        return 0
    check_output(options.output, WEIGHTS_FILE, FIGURE_FILE)
    digits = read_digits()
    history = train(model, digits, options)
    print(f"test accuracy {history[-1].accuracy:.2%}")
    with staging(options.output, WEIGHTS_FILE, FIGURE_FILE) as folder:
        identical = save_weights(model, network(options.hidden), folder / WEIGHTS_FILE, digits)
        draw(folder / FIGURE_FILE, model, history, digits)
    return 0 if identical else 1


if __name__ == "__main__":
    run(main)
