"""Trains a small network on the handwritten digits that scikit-learn ships.

    python examples/digits.py                                  train, save, draw
    python examples/digits.py --weights out/digits.safetensors only evaluate

The digits are taken from NumPy's memory without a copy, a fifth of them is held out for the test.
Training writes `digits.safetensors` and `digits.png` to the output folder, both or none.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np
import umber.core as mx
from tqdm import tqdm
from umber import nn, optimizers

PROGRAM = Path(__file__).name
WEIGHTS_FILE = "digits.safetensors"
FIGURE_FILE = "digits.png"
PIXELS, CLASSES = 64, 10
# The held-out fifth is always the same, so that saved weights are never tested on what they know.
SPLIT_SEED = 0
MISREAD_SHOWN = 10


class Options(argparse.ArgumentParser):
    """A parser that says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        fail(f"{message} (see --help)")


def fail(message: object) -> NoReturn:
    """End the program with one line on stderr and status 2."""
    print(f"{PROGRAM}: error: {' '.join(str(message).split())}", file=sys.stderr)
    raise SystemExit(2)


def whole_number(lowest: int, highest: int = 2**63 - 1):
    """An option's type: a whole number in a range."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = None
        if value is None or not lowest <= value <= highest:
            raise argparse.ArgumentTypeError(
                f"got {text!r}, expected a whole number from {lowest} to {highest}"
            )
        return value

    return parse


def positive_number(text: str) -> float:
    """An option's type: a finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a number above 0")
    return value


def parse_options() -> argparse.Namespace:
    options = Options(
        prog=PROGRAM,
        description="Train a small network on scikit-learn's handwritten digits.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    add = options.add_argument
    add("--epochs", type=whole_number(1), default=30, help="passes over the training set")
    add("--batch-size", type=whole_number(1), default=32, help="digits in one training step")
    add("--learning-rate", type=positive_number, default=2e-3, help="Adam's step size at the start")
    add("--hidden", type=whole_number(1, 4096), default=128, help="size of the hidden layers")
    add("--seed", type=whole_number(0), default=0, help="seed of the weights and of the batches")
    add("--output", type=Path, default=Path("out"), help="folder for the weights and the figure")
    add("--weights", type=Path, help="a file of weights: evaluate it, without training or output")
    return options.parse_args()


class Digits(NamedTuple):
    """All digits as umber arrays, and which of them are for training and for the test."""

    images: mx.array
    labels: mx.array
    train: mx.array
    test: mx.array


class Epoch(NamedTuple):
    """What an epoch came to."""

    loss: float
    accuracy: float


def shared(source: np.ndarray) -> mx.array:
    """The NumPy array as an umber array in the same memory."""
    # Nobody can write to it any more, so operations on it may stay lazy.
    source.flags.writeable = False
    array = mx.asarray(source)
    ours, theirs = address(np.asarray(array)), address(source)
    if ours != theirs:
        sys.exit(f"{PROGRAM}: error: NumPy's array at {theirs:#x} was copied to {ours:#x}")
    return array


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def read_digits() -> Digits:
    # Imported here, as matplotlib below: a wrong option should not have to wait for them.
    from sklearn.datasets import load_digits

    source = load_digits()
    pixels = np.ascontiguousarray(source.data / 16, dtype=np.float32)
    labels = np.ascontiguousarray(source.target, dtype=np.int32)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(labels)).astype(np.int32)
    held_out = len(labels) // 5
    digits = Digits(
        shared(pixels), shared(labels), mx.array(order[held_out:]), mx.array(order[:held_out])
    )
    print(
        f"{len(labels)} digits, {held_out} held out; zero-copy: pixels at {address(pixels):#x} "
        f"in NumPy and in umber, labels at {address(labels):#x}"
    )
    return digits


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


def predictions(model: nn.Module, digits: Digits) -> np.ndarray:
    """The class that the model sees in each digit of the test set."""
    model.eval()
    return np.array(mx.argmax(model(digits.images[digits.test]), axis=-1))


def accuracy(model: nn.Module, digits: Digits) -> float:
    truth = np.array(digits.labels[digits.test])
    return float(np.mean(predictions(model, digits) == truth))


def train(model: nn.Module, digits: Digits, options: argparse.Namespace) -> list[Epoch]:
    """Adam on the cross-entropy of minibatches, its rate falling to 0; prints a line an epoch."""

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
            progress.write(
                f"epoch {epoch:3d}  loss {history[-1].loss:.4f}  "
                f"accuracy {history[-1].accuracy:6.2%}  {speed:8.0f} samples/s"
            )
    return history


def draw(file: Path, history: list[Epoch], digits: Digits, seen: np.ndarray) -> None:
    """The loss of each epoch, and digits of the test set that were misread."""
    from matplotlib.figure import Figure

    truth = np.array(digits.labels[digits.test])
    images = np.array(digits.images[digits.test]).reshape(-1, 8, 8)
    misread = np.flatnonzero(seen != truth)
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subfigures(1, 2)
    axes = left.subplots()
    epochs = range(1, len(history) + 1)
    axes.semilogy(epochs, [epoch.loss for epoch in history], label="training loss")
    axes.semilogy(epochs, [1 - epoch.accuracy for epoch in history], label="test error")
    axes.set_xlabel("epoch")
    axes.legend()
    right.suptitle(f"{len(misread)} of {len(truth)} misread")
    for i, cell in enumerate(right.subplots(2, MISREAD_SHOWN // 2).flat):
        cell.axis("off")
        if i < len(misread):
            cell.imshow(images[misread[i]], cmap="gray_r")
            cell.set_title(f"{truth[misread[i]]} read as {seen[misread[i]]}", fontsize=8)
    figure.savefig(file, dpi=120)


def check_output(folder: Path) -> None:
    """Fail now rather than after the training if the folder cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        fail(f"cannot write to {folder}: {error.strerror or error}")
    for name in (WEIGHTS_FILE, FIGURE_FILE):
        if (folder / name).is_dir():
            fail(f"cannot write {folder / name}: it is a folder")


def save(
    model: nn.Module, history: list[Epoch], digits: Digits, options: argparse.Namespace
) -> bool:
    """Write both files, each complete; returns whether the weights read back predict the same."""
    folder = options.output
    seen = predictions(model, digits)
    with tempfile.TemporaryDirectory(prefix=".digits-", dir=folder) as staging:
        weights, figure = Path(staging, WEIGHTS_FILE), Path(staging, FIGURE_FILE)
        model.save_weights(weights)
        fresh = network(options.hidden).load_weights(weights)
        identical = np.array_equal(predictions(fresh, digits), seen)
        draw(figure, history, digits, seen)
        os.replace(weights, folder / WEIGHTS_FILE)
        os.replace(figure, folder / FIGURE_FILE)
    print(f"wrote {folder / WEIGHTS_FILE} and {folder / FIGURE_FILE}")
    print(
        f"a fresh model with the weights read back predicts {'the same' if identical else 'OTHER'}"
    )
    return identical


def evaluate(options: argparse.Namespace) -> int:
    """Read weights and test them."""
    model = network(options.hidden)
    try:
        model.load_weights(options.weights)
    except (OSError, RuntimeError, TypeError, ValueError) as error:
        fail(f"cannot use the weights in {options.weights}: {error}")
    print(f"test accuracy {accuracy(model, read_digits()):.2%}")
    return 0


def main(options: argparse.Namespace) -> int:
    mx.random.seed(options.seed)
    if options.weights is not None:
        return evaluate(options)
    check_output(options.output)
    digits = read_digits()
    model = network(options.hidden)
    history = train(model, digits, options)
    print(f"test accuracy {history[-1].accuracy:.2%}")
    try:
        return 0 if save(model, history, digits, options) else 1
    except (OSError, RuntimeError) as error:
        fail(f"cannot write to {options.output}: {error}")


if __name__ == "__main__":
    try:
        sys.exit(main(parse_options()))
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        sys.exit(130)
