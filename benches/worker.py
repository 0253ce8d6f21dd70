"""The process of one library: makes programs ready and times them as versus.py asks.

Requests and answers are lines of JSON on standard input and output.
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

# Enough calls for one sample to last about this long, in seconds.
SAMPLE = 0.03
SKETCH = 4096


def sketch(values: np.ndarray) -> list[float]:
    """Evenly spread elements of a result and its mean: enough to tell right from wrong."""
    flat = np.asarray(values, np.float64).ravel()
    return [*flat[:: max(1, flat.size // SKETCH)], flat.mean()]


class Worker:
    """Answers requests; a request names a method and its arguments."""

    def __init__(self, name: str, threads: int) -> None:
        """Import the library."""
        self.library = Library(name, threads)
        self.run: Any = None

    def prepare(self, program: str, check: bool) -> dict[str, Any]:
        """Make a program ready, return a sketch of its result and the calls a sample needs."""
        self.run = None
        gc.collect()
        self.run = PROGRAMS[program].build(self.library)
        result = self.run()
        answer = sketch(self.library.numpy(result)) if check else []
        calls, spent = 1, 0.0
        while spent < SAMPLE and calls < 10**6:
            calls *= 2
            spent = self.sample(calls)["seconds"] * calls
        return {"sketch": answer, "calls": max(1, round(calls * SAMPLE / max(spent, SAMPLE)))}

    def sample(self, calls: int) -> dict[str, float]:
        """The time of one call, as the mean of many after one that warms up."""
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
    """Serve until standard input closes."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints must not get among the answers

    def answer(value: dict[str, Any]) -> None:
        answers.write(json.dumps(value) + "\n")

    try:
        worker = Worker(sys.argv[1], int(sys.argv[2]))
    except ImportError as error:
        answer({"missing": str(error)})
        return
    answer({"version": worker.library.version})
    for line in sys.stdin:
        method, arguments = json.loads(line)
        try:
            answer(getattr(worker, method)(*arguments))
        except Exception as error:
            answer({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
