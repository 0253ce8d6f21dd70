"""The benchmark programs, and the libraries that can run each."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import train_step
from libraries import Library

# A prepared program: each call does the complete work and returns the result.
Run = Callable[[], Any]

ELEMENTS = 10**7
# Operations in one call of the program `record`.
RECORDED = 1000
GELU_SCALE = math.sqrt(2 / math.pi)


@dataclass(frozen=True)
class Program:
    """A program, the libraries it is compared with, and upper limits of the time ratios."""

    title: str
    build: Callable[[Library], Run]
    libraries: tuple[str, ...]
    # The maximum ratio of umber's time to that of each library.
    limits: dict[str, float]
    # Results must agree with the reference, or with each other if there is none.
    reference: Callable[[], np.ndarray] | None = None
    tolerance: float = 1e-5
    # The number of repetitions in one call; times are reported per repetition.
    per_call: int = 1


def numbers(seed: int, *shape: int) -> np.ndarray:
    """Normally distributed float32 numbers, the same for every library."""
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def multiply_add(library: Library) -> Run:
    """x * y + z; for NumPy, a copy that moves as many bytes with as many threads."""
    if library.name == "numpy":
        return copy_as_many_bytes(library)
    x, y, z = (library.array(numbers(seed, ELEMENTS)) for seed in range(3))
    if library.name == "torch":
        return lambda: library.core.addcmul(z, x, y)
    return lambda: library.wait(x * y + z)


def copy_as_many_bytes(library: Library) -> Run:
    """Copy two arrays: four arrays of memory traffic, as many as x * y + z reads and writes."""
    source = numbers(0, 2 * ELEMENTS)
    target = np.zeros_like(source)
    pool = ThreadPoolExecutor(library.threads)
    pairs = list(
        zip(
            np.array_split(target, library.threads),
            np.array_split(source, library.threads),
            strict=True,
        )
    )

    def run() -> None:
        for _ in pool.map(lambda pair: np.copyto(*pair), pairs):
            pass

    return run


def gelu(library: Library) -> Run:
    """The GELU approximation by tanh, as elementwise operations."""
    x = library.array(numbers(0, ELEMENTS))
    tanh = library.core.tanh

    def run() -> Any:
        inner = GELU_SCALE * (x + 0.044715 * x * x * x)
        return library.wait(0.5 * x * (1 + tanh(inner)))

    return run


def gelu_reference() -> np.ndarray:
    """The result of `gelu` in float64."""
    x = numbers(0, ELEMENTS).astype(np.float64)
    return 0.5 * x * (1 + np.tanh(GELU_SCALE * (x + 0.044715 * x**3)))


def record(library: Library) -> Run:
    """Record additions without evaluating them."""
    x, y = (library.array(numbers(seed, 1)) for seed in range(2))

    def run() -> Any:
        for _ in range(RECORDED - 1):
            x + y
        return x + y

    return run


def evaluate_one(library: Library) -> Run:
    """Record and evaluate one addition of one element."""
    x, y = (library.array(numbers(seed, 1)) for seed in range(2))
    return lambda: library.wait(x + y)


def add_reference() -> np.ndarray:
    """The result of `record` and `evaluate_one`."""
    return numbers(0, 1) + numbers(1, 1)


def matmul(library: Library) -> Run:
    """A matrix product of 1024 × 1024 matrices."""
    a, b = (library.array(numbers(seed, 1024, 1024)) for seed in range(2))
    return lambda: library.wait(a @ b)


def matmul_reference() -> np.ndarray:
    """The product in float64."""
    return numbers(0, 1024, 1024).astype(np.float64) @ numbers(1, 1024, 1024).astype(np.float64)


def attention(queries: int, keys: int, mask: str | None) -> Callable[[Library], Run]:
    """Scaled dot-product attention with 8 heads of 64 features."""

    def build(library: Library) -> Run:
        shapes = ((1, 8, queries, 64), (1, 8, keys, 64), (1, 8, keys, 64))
        q, k, v = (library.array(numbers(seed, *shape)) for seed, shape in enumerate(shapes))
        if library.name == "torch":
            attend = library.core.nn.functional.scaled_dot_product_attention
            return lambda: attend(q, k, v, is_causal=mask == "causal")
        attend = library.core.fast.scaled_dot_product_attention
        return lambda: library.wait(attend(q, k, v, scale=0.125, mask=mask))

    return build


PROGRAMS = {
    "multiply_add": Program(
        "x*y+z, 1e7 float32, against a copy of as many bytes",
        multiply_add,
        ("umber", "numpy", "mlx", "torch"),
        {"numpy": 1.5},
        lambda: numbers(0, ELEMENTS) * numbers(1, ELEMENTS) + numbers(2, ELEMENTS),
    ),
    "gelu": Program(
        "gelu chain, 1e7 float32",
        gelu,
        ("umber", "mlx", "torch"),
        {"mlx": 1.0, "torch": 1.0},
        gelu_reference,
    ),
    "record": Program(
        "record one binary op",
        record,
        ("umber", "mlx"),
        {"mlx": 1.0},
        add_reference,
        per_call=RECORDED,
    ),
    "evaluate_one": Program(
        "record and eval a one-element add",
        evaluate_one,
        ("umber", "mlx", "torch:1"),
        {"mlx": 1.0},
        add_reference,
    ),
    "matmul": Program(
        "matmul 1024³ float32",
        matmul,
        ("umber", "mlx", "torch", "numpy"),
        {"torch": 1 / 0.8},
        matmul_reference,
        tolerance=1e-4,
    ),
    "attention": Program(
        "attention 8 heads, 2048 × 2048, 64 features, causal",
        attention(2048, 2048, "causal"),
        ("umber", "mlx", "torch"),
        {"mlx": 1.0, "torch": 1.0},
        tolerance=1e-4,
    ),
    "decode": Program(
        "attention of one query to 16384 keys, 8 heads of 64 features",
        attention(1, 16384, None),
        ("umber", "mlx", "torch"),
        {"mlx": 1.0, "torch": 1.0},
        tolerance=1e-4,
    ),
    "train_step": Program(
        "training step of the digits example",
        train_step.build,
        ("umber", "mlx", "torch", "torch:1"),
        {"torch": 1.0, "torch:1": 1.0},
        # Dropout masks differ between the libraries; without dropout (below) losses must agree.
        tolerance=0.1,
    ),
    "train_step_without_dropout": Program(
        "the same without dropout",
        train_step.build_without_dropout,
        ("umber", "mlx", "torch", "torch:1"),
        {},
        tolerance=1e-4,
    ),
}
