"""A common interface of the libraries that the benchmarks compare."""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np

# Environment variables that set the number of threads; read when a library is imported.
THREAD_VARIABLES = (
    "UMBER_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
)
PACKAGES = {"umber": "umber", "mlx": "mlx", "torch": "torch", "numpy": "numpy"}


class Library:
    """A library: creates arrays, waits for results and converts them to NumPy."""

    def __init__(self, name: str, threads: int) -> None:
        """Import the library; `name` is a key of PACKAGES."""
        self.name = name
        self.threads = threads
        self.lazy = name in ("umber", "mlx")
        if self.lazy:
            self.core: Any = importlib.import_module(f"{name}.core")
            self.nn = importlib.import_module(f"{name}.nn")
            self.optimizers = importlib.import_module(f"{name}.optimizers")
        else:
            self.core = importlib.import_module(name)
        if name == "torch":
            self.core.set_num_threads(threads)
        self.version = version(name)

    def array(self, values: np.ndarray) -> Any:
        """An array of the library with these values."""
        if self.name == "torch":
            return self.core.from_numpy(values.copy())
        if self.lazy:
            result = self.core.array(values)
            self.core.eval(result)
            return result
        return values

    def wait(self, result: Any) -> Any:
        """Wait until the result is computed, and return it."""
        if self.lazy:
            self.core.eval(result)
        return result

    def numpy(self, result: Any) -> np.ndarray:
        """A result as a NumPy array."""
        return result.detach().numpy() if self.name == "torch" else np.asarray(result)


def version(name: str) -> str:
    """The version of an installed package."""
    from importlib import metadata

    try:
        return metadata.version(PACKAGES[name])
    except metadata.PackageNotFoundError:
        return "unknown"


def environment(threads: int) -> dict[str, str]:
    """The environment variables of a worker that uses `threads` threads."""
    return {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
