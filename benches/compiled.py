"""Costs and benefits of `compile` in umber: the time to record a step, and to compile a function.

`compiled.py` prints the time to record one training step of a digits classifier and of a four-layer
transformer, uncompiled and compiled (without evaluation), and the time per node to trace and
compile long functions.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests/support"))

import umber.core as mx
from small_transformer import Transformer
from umber import nn, optimizers

NODES = (1_000, 100_000)
ROUNDS = 41


def training(model: Any) -> tuple[Callable[[], Any], Any]:
    """A training step, and the state that it updates."""
    optimizer = optimizers.Adam(1e-3, bias_correction=True)
    optimizer.init(model.trainable_parameters())
    state = [model.state, optimizer.state, mx.random.state]

    def loss(inputs: mx.array, targets: mx.array) -> mx.array:
        return nn.losses.cross_entropy(model(inputs), targets, reduction="mean")

    value_and_grad = nn.value_and_grad(model, loss)

    def step(inputs: mx.array, targets: mx.array) -> mx.array:
        value, gradients = value_and_grad(inputs, targets)
        optimizer.update(model, gradients)
        return value

    return step, state


def recording_time(step: Callable[..., Any], state: Any, *arrays: mx.array) -> float:
    """Seconds to record a step: the median over the rounds."""
    times = []
    for _ in range(ROUNDS):
        mx.eval(state)
        start = time.thread_time()
        value = step(*arrays)
        times.append(time.thread_time() - start)
        mx.eval(value, state)
    return statistics.median(times)


def digits() -> tuple[Any, mx.array, mx.array]:
    layers = [(nn.Linear(i, o), nn.ReLU(), nn.Dropout(0.2)) for i, o in ((64, 128), (128, 128))]
    model = nn.Sequential(*itertools.chain(*layers), nn.Linear(128, 10))
    return model, mx.random.normal((32, 64)), mx.random.randint(0, 10, (32,))


def transformer() -> tuple[Any, mx.array, mx.array]:
    tokens = mx.random.randint(0, 11, (3, 6))
    return Transformer(), tokens, mx.roll(tokens, -1, axis=1)


def compile_time(nodes: int) -> float:
    """Seconds per node to compile a long function, without the time to trace it."""

    def function(x: mx.array) -> mx.array:
        y = x
        for i in range(nodes // 2):
            y = mx.sin(y) if i % 3 else y.sum(0, keepdims=True)
            y = y + x
        return y

    x = mx.ones((4,))
    start = time.thread_time()
    traced = function(x)
    tracing_time = time.thread_time() - start
    del traced
    start = time.thread_time()
    mx.compile(function)(x)
    return (time.thread_time() - start - tracing_time) / nodes


def main() -> None:
    """Print the table."""
    print("| step | as written, ms | compiled, ms | compiled / written |\n|---|---|---|---|")
    for make in (digits, transformer):
        model, *batch = make()
        step, state = training(model)
        written = recording_time(step, state, *batch)
        fast = mx.compile(step, inputs=state, outputs=state)
        mx.eval(fast(*batch), state)
        compiled = recording_time(fast, state, *batch)
        ratio = compiled / written
        print(f"| {make.__name__} | {written * 1e3:.2f} | {compiled * 1e3:.2f} | {ratio:.3f} |")
    for nodes in NODES:
        print(f"compiling {nodes} nodes: {compile_time(nodes) * 1e6:.1f} µs a node")


if __name__ == "__main__":
    main()
