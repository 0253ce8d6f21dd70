"""The loop that trains the examples' models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import umber.core as mx
from tqdm import tqdm
from umber import nn, optimizers

from common.options import fail

# The bar shows the loss of every so many steps, and the loop waits for it.
SHOWN_EVERY = 10


def check_loss(loss: float, when: str, progress: tqdm) -> None:
    """End the program if a loss is not finite: what was trained is worth no file."""
    if not math.isfinite(loss):
        progress.close()
        fail(f"training failed: got a loss of {loss} {when}, expected a finite one")


def fit(
    model: nn.Module,
    optimizer: optimizers.Optimizer,
    loss_fn: Callable[..., mx.array],
    batches: Iterator[tuple[mx.array, ...]],
    steps: int,
) -> list[float]:
    """One step of the optimizer for each of `steps` batches, under a progress bar.

    Returns the loss of each step. `loss_fn` is called with the arrays of a batch, whose shapes must
    stay the same, since the step is compiled.
    """
    loss_and_grad = nn.value_and_grad(model, loss_fn)
    optimizer.init(model.trainable_parameters())
    state = [model.state, optimizer.state, mx.random.state]

    @partial(mx.compile, inputs=state, outputs=state)
    def step(*batch: mx.array) -> Any:
        loss, gradients = loss_and_grad(*batch)
        optimizer.update(model, gradients)
        return loss

    model.train()
    losses = []
    with tqdm(total=steps, unit="step", leave=False) as progress:
        for number in range(1, steps + 1):
            losses.append(step(*next(batches)))
            mx.eval(losses[-1], state)
            if number % SHOWN_EVERY == 0 or number == steps:
                check_loss(losses[-1].item(), f"in step {number}", progress)
                progress.set_postfix(loss=f"{losses[-1].item():.4f}", refresh=False)
            progress.update()
    model.eval()
    return [float(loss.item()) for loss in losses]


def minibatches(size: int, *arrays: mx.array) -> Iterator[tuple[mx.array, ...]]:
    """Endless batches of the arrays' rows; each row once before any comes again."""
    rows = arrays[0].shape[0]
    size = min(size, rows)
    while True:
        order = mx.random.permutation(rows)
        for start in range(0, rows - size + 1, size):
            batch = order[start : start + size]
            yield tuple(array[batch] for array in arrays)
