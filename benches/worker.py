"""The worker process of a library, which prepares and times programs on request of versus.py.

Requests and responses are lines of JSON on standard input and output.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from typing import Any

import numpy as np
from libraries import Library
from programs import PROGRAMS

# The duration of one sample in seconds, which determines its number of calls.
SAMPLE_SECONDS = 0.03
SKETCH_SIZE = 4096


def sketch(values: np.ndarray) -> list[float]:
    """Evenly spaced elements of a result and its mean, which suffice to detect wrong results."""
    flat = np.asarray(values, np.float64).ravel()
    return [*flat[:: max(1, flat.size // SKETCH_SIZE)], flat.mean()]


class Worker:
    """Handles requests, which consist of a method name and its arguments."""

    def __init__(self, name: str, threads: int) -> None:
        """Import the library."""
        self.library = Library(name, threads)
        self.run: Any = None

    def prepare(self, program: str, check: bool) -> dict[str, Any]:
        """Prepare a program; returns a sketch of its result and the number of calls per sample."""
        self.run = None
        gc.collect()
        self.run = PROGRAMS[program].build(self.library)
        result = self.run()
        result_sketch = sketch(self.library.numpy(result)) if check else []
        calls, elapsed = 1, 0.0
        while elapsed < SAMPLE_SECONDS and calls < 10**6:
            calls *= 2
            elapsed = self.sample(calls)["seconds"] * calls
        return {
            "sketch": result_sketch,
            "calls": max(1, round(calls * SAMPLE_SECONDS / max(elapsed, SAMPLE_SECONDS))),
        }

    def sample(self, calls: int) -> dict[str, float]:
        """The mean time of a call, after a warm-up call."""
        run = self.run
        run()
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        for _ in range(calls):
            run()
        seconds = time.perf_counter() - start
        gc.enable()
        return {"seconds": seconds / calls}


def main() -> None:
    """Handle requests until standard input is closed."""
    responses = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # output that a library prints must not mix with the responses

    def respond(value: dict[str, Any]) -> None:
        responses.write(json.dumps(value) + "\n")

    try:
        worker = Worker(sys.argv[1], int(sys.argv[2]))
    except ImportError as error:
        respond({"missing": str(error)})
        return
    respond({"version": worker.library.version})
    for line in sys.stdin:
        method, arguments = json.loads(line)
        try:
            respond(getattr(worker, method)(*arguments))
        except Exception as error:
            respond({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
