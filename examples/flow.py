"""Trains a normalising flow on points of two moons and samples from it.

    python examples/flow.py

Dinh, Sohl-Dickstein and Bengio, "Density Estimation Using Real NVP", 2017: an invertible map
z = f(x), composed of coupling layers, each of which transforms one coordinate depending on the
other. With z normally distributed, log p(x) = log N(f(x); 0, 1) + log |det ∂f/∂x|, which training
maximizes. A sample is the inverse of f at a normally distributed z. Writes `flow.png`.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import umber.core as mx
from common.files import check_output, staging
from common.options import Options, number_in, positive_number, run, whole_number
from common.training import fit
from umber import nn, optimizers

FIGURE_FILE = "flow.png"
TEST_POINTS = 5000
DRAWN_POINTS = 2000
# The x and y range of the figure, and the resolution of the density plot.
CORNERS = (-1.8, 2.8, -1.5, 2.0)
GRID = 120


def parse_options() -> argparse.Namespace:
    options = Options("Train a normalising flow on two moons.")
    add = options.add_argument
    add("--steps", type=whole_number(1), default=1500, help="training steps")
    add("--batch-size", type=whole_number(1, 65536), default=256, help="points in a training step")
    add("--learning-rate", type=positive_number, default=3e-3, help="Adam's step size at first")
    add("--couplings", type=whole_number(2, 64), default=8, help="how many the flow is made of")
    add("--hidden", type=whole_number(1, 4096), default=64, help="size of the hidden layers")
    add("--noise", type=number_in(0, 1), default=0.08, help="how far points are off the moons")
    options.add_seed_and_output()
    return options.parse_args()


def two_moons(count: int, noise: float) -> mx.array:
    """Noisy points of two interleaved half circles of radius 1, (count, 2)."""
    angle = math.pi * mx.random.uniform(shape=(count,))
    upper = mx.random.bernoulli(shape=(count,))
    x = mx.where(upper, mx.cos(angle), 1 - mx.cos(angle))
    y = mx.where(upper, mx.sin(angle), 0.5 - mx.sin(angle))
    return mx.stack([x, y], axis=1) + noise * mx.random.normal((count, 2))


class Coupling(nn.Module):
    """x_i ↦ exp(s(x_j)) x_i + t(x_j) for one coordinate i; the other, j, is unchanged."""

    def __init__(self, coordinate: int, hidden: int) -> None:
        super().__init__()
        last = nn.Linear(hidden, 2)
        # Zeros make the initial flow the identity.
        last.apply(nn.init.constant(0.0))
        self.network = nn.Sequential(
            nn.Linear(1, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(), last
        )
        self.coordinate = coordinate

    def scale_and_shift(self, other: mx.array) -> tuple[mx.array, mx.array]:
        s, t = mx.split(self.network(other), 2, axis=-1)
        # Bounded so that the inverse cannot overflow.
        return 2 * mx.tanh(s), t

    def split(self, x: mx.array) -> tuple[mx.array, mx.array]:
        """The coordinate that the layer transforms, and the other."""
        first, second = mx.split(x, 2, axis=-1)
        return (first, second) if self.coordinate == 0 else (second, first)

    def merge(self, active: mx.array, other: mx.array) -> mx.array:
        return mx.concatenate([active, other] if self.coordinate == 0 else [other, active], axis=-1)

    def __call__(self, x: mx.array) -> tuple[mx.array, mx.array]:
        """The transformed points, and log |det| of the map's Jacobian at each."""
        active, other = self.split(x)
        s, t = self.scale_and_shift(other)
        return self.merge(mx.exp(s) * active + t, other), s.squeeze(-1)

    def inverse(self, z: mx.array) -> mx.array:
        active, other = self.split(z)
        s, t = self.scale_and_shift(other)
        return self.merge((active - t) * mx.exp(-s), other)


class Flow(nn.Module):
    """A sequence of coupling layers that alternate between the two coordinates."""

    def __init__(self, couplings: int, hidden: int) -> None:
        super().__init__()
        self.couplings = [Coupling(i % 2, hidden) for i in range(couplings)]

    def log_density(self, x: mx.array) -> mx.array:
        """log p(x) of points (..., 2)."""
        log_determinant = mx.zeros(x.shape[:-1])
        for coupling in self.couplings:
            x, log_scale = coupling(x)
            log_determinant = log_determinant + log_scale
        log_normal = -0.5 * mx.sum(x**2, axis=-1) - math.log(2 * math.pi)
        return log_normal + log_determinant

    def sample(self, count: int) -> mx.array:
        """Points drawn from p, (count, 2)."""
        x = mx.random.normal((count, 2))
        for coupling in reversed(self.couplings):
            x = coupling.inverse(x)
        return x


def density_integral(flow: Flow) -> float:
    """The integral of the density over [-4, 4]², which should be close to 1."""
    ticks = mx.linspace(-4, 4, 200)
    x, y = mx.meshgrid(ticks, ticks)
    cell = (ticks[1] - ticks[0]) ** 2
    return float((mx.exp(flow.log_density(mx.stack([x, y], axis=-1))).sum() * cell).item())


def draw(file: Path, flow: Flow, losses: list[float], noise: float) -> None:
    """Plot the loss of each step, the flow's density, the data, and samples of the flow."""
    from common.drawing import draw_losses
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 3.5), layout="constrained")
    left, *others = figure.subplots(1, 4)
    draw_losses(left, losses, "-log p(x), nats")
    x, y = mx.meshgrid(mx.linspace(*CORNERS[:2], GRID), mx.linspace(*CORNERS[2:], GRID))
    density = mx.exp(flow.log_density(mx.stack([x, y], axis=-1)))
    points = {"data": two_moons(DRAWN_POINTS, noise), "samples": flow.sample(DRAWN_POINTS)}
    others[0].set_title("density")
    others[0].imshow(np.array(density), origin="lower", extent=CORNERS)
    for axes, (title, cloud) in zip(others[1:], points.items(), strict=True):
        axes.set_title(title)
        axes.scatter(*np.array(cloud).T, s=2)
        axes.set(xlim=CORNERS[:2], ylim=CORNERS[2:], aspect="equal")
    figure.savefig(file, dpi=120)


def main() -> int:
    options = parse_options()
    mx.random.seed(options.seed)
    check_output(options.output, FIGURE_FILE)
    flow = Flow(options.couplings, options.hidden)

    def batches() -> Iterator[tuple[mx.array]]:
        while True:
            yield (two_moons(options.batch_size, options.noise),)

    losses = fit(
        flow,
        optimizers.Adam(
            optimizers.cosine_decay(options.learning_rate, options.steps), bias_correction=True
        ),
        lambda x: -mx.mean(flow.log_density(x)),
        batches(),
        options.steps,
    )
    test = two_moons(TEST_POINTS, options.noise)
    print(f"-log p(x) of new points {-mx.mean(flow.log_density(test)).item():.3f} nats")
    print(f"the density's integral {density_integral(flow):.3f}")
    with staging(options.output, FIGURE_FILE) as folder:
        draw(folder / FIGURE_FILE, flow, losses, options.noise)
    return 0


if __name__ == "__main__":
    run(main)
