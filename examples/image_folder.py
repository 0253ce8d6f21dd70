"""Trains a network from a folder of images, is killed, and goes on where it was.

    python examples/image_folder.py

The folder has scikit-learn's handwritten digits as JPEG files and pieces of its two photographs as
PNG files, a subfolder for each of the twelve classes. The pipeline decodes, resizes, crops and
flips them on threads. A second process trains the same way and kills itself in the middle of an
epoch. The training that goes on from its last checkpoint has the same losses as the first one, bit
for bit. Writes `image_folder.png`.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import umber.core as mx
import umber.data as dx
from common.files import check_output, staging
from common.options import Options, fail, positive_number, run, whole_number
from common.training import SHOWN_EVERY, check_loss
from tqdm import tqdm
from umber import nn, optimizers
from umber.data import datasets

FIGURE_FILE = "image_folder.png"
CLASSES = 12
# The side of the pieces of photographs. Images are resized to `LARGE` and cropped to `SIDE`.
PIECE, LARGE, SIDE = 32, 18, 16
# The mean and the standard deviation of the pixels, channel by channel.
MEAN, STD = (0.4, 0.4, 0.4), (0.3, 0.3, 0.3)
# One of so many images is held out.
PARTS = 5
SAVED_EVERY = 20


def parse_options() -> argparse.Namespace:
    options = Options("Train a network from a folder of images, with an interruption.")
    add = options.add_argument
    add("--steps", type=whole_number(1), default=600, help="training steps")
    add("--batch-size", type=whole_number(1, 1024), default=64, help="images in one training step")
    add("--learning-rate", type=positive_number, default=3e-3, help="Adam's step size")
    add("--channels", type=whole_number(1, 512), default=16, help="channels of the first layer")
    options.add_seed_and_output()
    # How the program starts the process that is killed.
    add("--folder", type=Path, help=argparse.SUPPRESS)
    add("--kill-after", type=whole_number(0), help=argparse.SUPPRESS)
    return options.parse_args()


def write_images(folder: Path) -> int:
    """Write the digits with `save_image` and pieces of the photographs with Matplotlib."""
    from matplotlib.image import imsave
    from sklearn.datasets import load_digits, load_sample_images

    digits = load_digits()
    samples = []
    for number, (image, label) in enumerate(zip(digits.images, digits.target, strict=True)):
        (folder / f"digit {label}").mkdir(parents=True, exist_ok=True)
        grey = np.kron(image * 15.9, np.ones((2, 2))).astype(np.uint8)
        file = f"digit {label}/{number}".encode()
        samples.append({"image": np.repeat(grey[:, :, None], 3, axis=2), "file": file})
    for _ in dx.buffer_from_vector(samples).save_image("image", "file", folder):
        pass
    photographs = load_sample_images()
    for name, photograph in zip(photographs.filenames, photographs.images, strict=True):
        pieces = folder / Path(name).stem
        pieces.mkdir()
        for top in range(0, photograph.shape[0] - PIECE, 2 * PIECE):
            for left in range(0, photograph.shape[1] - PIECE, 2 * PIECE):
                piece = photograph[top : top + PIECE, left : left + PIECE]
                imsave(pieces / f"{top}-{left}.png", piece)
    return sum(path.is_file() for path in folder.rglob("*"))


def parts(images: Path) -> tuple[dx.Buffer, dx.Buffer]:
    """The images to train with and the others, not decoded yet."""
    buffer = datasets.load_images_from_folder(images)
    buffer = buffer.filter_key("file", remove=True).filter_key("folder", remove=True)
    training = [index for index in range(len(buffer)) if index % PARTS]
    return buffer[training], buffer.partition(PARTS, 0)


def batches(images: Path, options: argparse.Namespace) -> dx.Stream:
    """Endless batches; the order, the crops and the flips are new in every epoch."""
    training, _ = parts(images)
    return (
        training.to_stream(shuffle=True)
        .image_resize_smallest_side("image", LARGE)
        .image_random_crop("image", SIDE, SIDE)
        .image_random_h_flip("image", 0.5)
        .image_normalize("image", MEAN, STD)
        .repeat(-1)
        .batch(options.batch_size)
        .prefetch()
        .arrays()
    )


class Network(nn.Module):
    """Three convolutions, 16 × 16 → 8 × 8 → 4 × 4, and a linear layer to the classes."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(3, channels, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(channels, 2 * channels, kernel_size=3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(2 * channels, 2 * channels, kernel_size=3, padding=1),
            nn.ReLU(),
        )
        self.linear = nn.Linear(2 * channels, CLASSES)

    def __call__(self, images: mx.array) -> mx.array:
        return self.linear(self.convolutions(images).mean((1, 2)))


class Training:
    """A network, its optimizer and the pipeline."""

    def __init__(self, images: Path, options: argparse.Namespace) -> None:
        mx.random.seed(options.seed)
        dx.core.set_state(options.seed)
        self.steps = options.steps
        self.model = Network(options.channels)
        self.optimizer = optimizers.Adam(options.learning_rate)
        self.optimizer.init(self.model.trainable_parameters())
        self.stream = batches(images, options)
        self.losses: list[float] = []

    def save(self, file: Path) -> None:
        """Write the state of everything. The file is complete, or it is the one before."""
        state: dict[str, Any] = {
            "parameters": self.model.parameters(),
            "optimizer": self.optimizer.state,
            "stream": json.dumps(self.stream.state_dict()),
            "losses": self.losses,
        }
        part = file.with_suffix(".part")
        part.write_bytes(pickle.dumps(state))
        part.replace(file)

    def load(self, file: Path) -> None:
        state = pickle.loads(file.read_bytes())
        self.model.update(state["parameters"])
        self.optimizer.state = state["optimizer"]
        self.stream.load_state_dict(json.loads(state["stream"]))
        self.losses = state["losses"]

    def run(self, checkpoint: Path | None = None, kill_after: int | None = None) -> list[float]:
        """Train to the end, or until the process kills itself; returns the loss of each step."""

        def loss_fn(images: mx.array, labels: mx.array) -> mx.array:
            return nn.losses.cross_entropy(self.model(images), labels, reduction="mean")

        loss_and_grad = nn.value_and_grad(self.model, loss_fn)
        state = [self.model.state, self.optimizer.state]

        @partial(mx.compile, inputs=state, outputs=state)
        def step(images: mx.array, labels: mx.array) -> Any:
            loss, gradients = loss_and_grad(images, labels)
            self.optimizer.update(self.model, gradients)
            return loss

        done = len(self.losses)
        with tqdm(total=self.steps, initial=done, unit="step", leave=False) as progress:
            for number in range(done, self.steps):
                if checkpoint is not None and number % SAVED_EVERY == 0:
                    self.save(checkpoint)
                if number == kill_after:
                    os.kill(os.getpid(), signal.SIGKILL)
                batch = next(self.stream)
                loss = step(batch["image"], batch["label"])
                mx.eval(loss, state)
                self.losses.append(loss.item())
                check_loss(self.losses[-1], f"in step {number + 1}", progress)
                if number % SHOWN_EVERY == 0:
                    progress.set_postfix(loss=f"{self.losses[-1]:.4f}", refresh=False)
                progress.update()
        self.stream.close()
        return self.losses


def accuracy(model: Network, images: Path) -> float:
    """The part of the images held out that the network recognises."""
    _, held_out = parts(images)
    batch = (
        held_out.image_resize_smallest_side("image", LARGE)
        .image_center_crop("image", SIDE, SIDE)
        .image_normalize("image", MEAN, STD)
        .batch(len(held_out))[0]
    )
    predicted = mx.argmax(model(mx.asarray(batch["image"])), axis=1)
    return float((predicted == mx.asarray(batch["label"])).mean().item())


def kill_a_training(folder: Path, step: int) -> None:
    """Train in another process, which is killed before a step."""
    arguments = [*sys.argv[1:], "--folder", str(folder), "--kill-after", str(step)]
    done = subprocess.run([sys.executable, __file__, *arguments], check=False)
    if done.returncode != -signal.SIGKILL:
        fail(f"the second process was to be killed, but ended with status {done.returncode}")


def draw(file: Path, losses: list[float], interrupted: int, examples: mx.array) -> None:
    """Plot the loss of each step, and images as the network sees them."""
    from common.drawing import draw_losses, side_by_side
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = side_by_side(figure, 2)
    axes = left.subplots()
    axes.set_yscale("log")
    axes.axvline(interrupted, color="grey", linestyle=":", label="killed")
    draw_losses(axes, losses)
    shown = np.asarray(examples * mx.array(STD) + mx.array(MEAN)).clip(0, 1)
    for image, each in zip(shown, right.subplots(3, 6).flat, strict=False):
        each.imshow(image)
    for each in right.axes:
        each.axis("off")
    figure.savefig(file, dpi=120)


def main() -> int:
    options = parse_options()
    if options.folder is not None:
        training = Training(options.folder / "images", options)
        training.run(options.folder / "checkpoint", options.kill_after)
        return 0
    check_output(options.output, FIGURE_FILE)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        images, killed = folder / "images", options.steps // 2
        print(f"{write_images(images)} images of {CLASSES} classes")
        whole = Training(images, options)
        losses = whole.run()
        print(f"without interruption: loss {losses[-1]:.4f} in step {len(losses)}")
        kill_a_training(folder, killed)
        resumed = Training(images, options)
        resumed.load(folder / "checkpoint")
        print(f"killed after step {killed}, goes on after step {len(resumed.losses)}")
        is_equal = resumed.run() == losses
        word = "the same" if is_equal else "not the same"
        print(f"with interruption: loss {resumed.losses[-1]:.4f}, {word}")
        print(f"test accuracy {accuracy(resumed.model, images):.2%}")
        examples = next(batches(images, options))["image"]
    with staging(options.output, FIGURE_FILE) as staged:
        draw(staged / FIGURE_FILE, losses, killed, examples)
    return 0 if is_equal else 1


if __name__ == "__main__":
    run(main)
