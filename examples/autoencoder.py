"""Trains a variational autoencoder on scikit-learn's digits and samples new digits from it.

    python examples/autoencoder.py

Kingma and Welling, "Auto-Encoding Variational Bayes", 2014: an encoder maps each image x to the
normal distribution q(z|x) of its code z, a decoder maps z to the probability p(x|z) of each pixel,
and both are trained to maximize E[log p(x|z)] - KL(q(z|x) ‖ N(0, 1)). Writes `autoencoder.png`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import umber.core as mx
from common.digits import PIXELS, SIDE, Digits, read_digits
from common.files import check_output, staging
from common.options import Options, positive_number, run, whole_number
from common.training import fit, minibatches
from umber import nn, optimizers

FIGURE_FILE = "autoencoder.png"
ROWS, COLUMNS = 6, 12


def parse_options() -> argparse.Namespace:
    options = Options("Train a variational autoencoder on scikit-learn's handwritten digits.")
    add = options.add_argument
    add("--steps", type=whole_number(1), default=2000, help="training steps")
    add("--batch-size", type=whole_number(1, 1024), default=64, help="digits in one training step")
    add("--learning-rate", type=positive_number, default=2e-3, help="Adam's step size at first")
    add("--hidden", type=whole_number(1, 4096), default=128, help="size of the hidden layers")
    add("--code", type=whole_number(1, 256), default=8, help="size of a digit's code")
    options.add_seed_and_output()
    return options.parse_args()


class Autoencoder(nn.Module):
    """An encoder, which returns the mean and log-variance of codes, and a decoder."""

    def __init__(self, hidden: int, code: int) -> None:
        super().__init__()
        self.code = code
        self.encoder = nn.Sequential(
            nn.Linear(PIXELS, hidden), nn.SiLU(), nn.Linear(hidden, 2 * code)
        )
        self.decoder = nn.Sequential(nn.Linear(code, hidden), nn.SiLU(), nn.Linear(hidden, PIXELS))

    def encode(self, x: mx.array) -> tuple[mx.array, mx.array]:
        """The mean and the log-variance of q(z|x)."""
        mean, log_variance = mx.split(self.encoder(x), 2, axis=-1)
        return mean, log_variance

    def decode(self, z: mx.array) -> mx.array:
        """The logits of p(x|z) of each pixel."""
        logits: mx.array = self.decoder(z)
        return logits

    def __call__(self, x: mx.array) -> tuple[mx.array, mx.array, mx.array]:
        mean, log_variance = self.encode(x)
        # A sample of q(z|x), reparameterized so that gradients flow to its mean and variance.
        z = mean + mx.exp(log_variance / 2) * mx.random.normal(mean.shape)
        return self.decode(z), mean, log_variance

    def sample(self, count: int) -> mx.array:
        """Images decoded from random codes, (count, 64)."""
        return mx.sigmoid(self.decode(mx.random.normal((count, self.code))))


def negative_bound(model: Autoencoder, x: mx.array) -> mx.array:
    """KL(q(z|x) ‖ N(0, 1)) - E[log p(x|z)], averaged over the images."""
    logits, mean, log_variance = model(x)
    reconstruction = nn.losses.binary_cross_entropy(logits, x, reduction="none").sum(axis=-1)
    divergence = -0.5 * mx.sum(1 + log_variance - mean**2 - mx.exp(log_variance), axis=-1)
    return mx.mean(reconstruction + divergence)


def draw(file: Path, model: Autoencoder, losses: list[float], digits: Digits) -> None:
    """Plot the bound of each step, test digits with their reconstructions, and samples."""
    from common.drawing import draw_images, draw_losses
    from matplotlib.figure import Figure

    x = digits.images[digits.test][: ROWS * COLUMNS // 2]
    pairs = mx.stack([x, mx.sigmoid(model.decode(model.encode(x)[0]))], axis=1)
    pictures = {
        "digits and their reconstructions": pairs,
        "samples": model.sample(ROWS * COLUMNS),
    }
    figure = Figure(figsize=(15, 4), layout="constrained")
    left, *others = figure.subplots(1, 3)
    draw_losses(left, losses, "negative bound, nats")
    for axes, (title, images) in zip(others, pictures.items(), strict=True):
        draw_images(axes, np.array(images).reshape(ROWS, COLUMNS, SIDE, SIDE), title)
    figure.savefig(file, dpi=120)


def main() -> int:
    options = parse_options()
    mx.random.seed(options.seed)
    check_output(options.output, FIGURE_FILE)
    digits = read_digits()
    model = Autoencoder(options.hidden, options.code)
    losses = fit(
        model,
        optimizers.Adam(optimizers.cosine_decay(options.learning_rate, options.steps)),
        lambda x: negative_bound(model, x),
        minibatches(options.batch_size, digits.images[digits.train]),
        options.steps,
    )
    bound = negative_bound(model, digits.images[digits.test]).item()
    print(f"negative bound of the test digits {bound:.2f} nats")
    with staging(options.output, FIGURE_FILE) as folder:
        draw(folder / FIGURE_FILE, model, losses, digits)
    return 0


if __name__ == "__main__":
    run(main)
