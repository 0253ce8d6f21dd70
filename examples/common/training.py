"""The training loop of the examples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import umber.core as mx
from tqdm import tqdm
from umber import nn, optimizers

from common.options import fail

# The progress bar shows the loss once in so many steps; this waits for the evaluation.
SHOWN_EVERY = 10


def check_loss(loss: float, when: str, progress: tqdm) -> None:
    """End the program if the loss is not finite, so that no useless weights are written."""
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
    """Train for `steps` steps, one batch each, with a progress bar.

    Returns the loss of each step. `loss_fn` is called with the arrays of a batch, whose shapes must
    not change between steps, because the step is compiled.
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
        for step_number in range(1, steps + 1):
            losses.append(step(*next(batches)))
            mx.eval(losses[-1], state)
            if step_number % SHOWN_EVERY == 0 or step_number == steps:
                check_loss(losses[-1].item(), f"in step {step_number}", progress)
                progress.set_postfix(loss=f"{losses[-1].item():.4f}", refresh=False)
            progress.update()
    model.eval()
    return [float(loss.item()) for loss in losses]


def minibatches(size: int, *arrays: mx.array) -> Iterator[tuple[mx.array, ...]]:
    """Endless random batches of the arrays' rows, reshuffled after each pass over the rows."""
    rows = arrays[0].shape[0]
    size = min(size, rows)
    while True:
        order = mx.random.permutation(rows)
        for start in range(0, rows - size + 1, size):
            batch = order[start : start + size]
            yield tuple(array[batch] for array in arrays)
