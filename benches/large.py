"""Benchmarks of extreme sizes, each in its own process: a deep graph and a large array.

`large.py chain` records, differentiates, evaluates and drops a chain of a million nodes on a small
stack; `large.py memory` measures the peak memory of an elementwise chain on a large array. Both
print one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from pathlib import Path
from typing import Any

from libraries import Library

NODES = 1_000_000
# Recursion over a million nodes would need a stack a thousand times as large.
STACK = 256 * 1024
MEMORY_BYTES = 1 << 30


def status(field: str) -> int:
    """A field of /proc/self/status in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise ValueError(f"this system does not report {field}")


def chain(library: Library, nodes: int) -> dict[str, Any]:
    """Seconds to record, evaluate, differentiate and drop a chain of nodes."""
    core = library.core
    x = core.array([1.0])
    step = core.array([1e-6])
    times = {}

    def timed(name: str, function: Any) -> Any:
        start = time.perf_counter()
        result = function()
        times[name] = time.perf_counter() - start
        return result

    def add_steps(total: Any) -> Any:
        for _ in range(nodes):
            total = total + step
        return total

    def drop_last() -> None:
        del retained[-1]

    retained = [timed("record", lambda: add_steps(x))]
    timed("evaluate", lambda: core.eval(retained[0]))
    value = float(retained[0].item())
    retained.append(timed("record again", lambda: add_steps(x)))
    timed("drop unevaluated", drop_last)
    gradient = core.grad(lambda x: add_steps(x).sum())
    retained.append(timed("differentiate", lambda: gradient(x)))
    timed("evaluate gradient", lambda: core.eval(retained[1]))
    slope = float(retained[1].item())
    timed("drop", retained.clear)
    # The rounding errors of float32 additions accumulate, so the sum is checked only roughly.
    is_correct = abs(value - (1 + 1e-6 * nodes)) < 0.1 and slope == 1.0
    return {"nodes": nodes, "right": is_correct, "seconds": times}


def on_small_stack(function: Any) -> Any:
    """Call a function in a thread with a small stack and return its result."""
    results: list[Any] = []
    threading.stack_size(STACK)
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0] if results else {"error": "the chain failed"}


def memory(library: Library, size: int) -> dict[str, Any]:
    """Peak memory of an elementwise chain, relative to the bytes of its input and output."""
    core = library.core
    before = status("VmRSS")
    x = core.full((size // 4,), 0.5)
    core.eval(x)
    y = core.exp(-x) * x + core.tanh(x) / (1.0 + x * x) - 0.25
    core.eval(y)
    peak = status("VmHWM") - before
    middle = float(y[size // 8].item())
    return {
        "bytes": size,
        "right": abs(middle - (0.5 * 0.6065306597 + 0.4621171573 / 1.25 - 0.25)) < 1e-5,
        "peak over input and output": peak / (2 * size),
        "reported over input and output": core.get_peak_memory() / (2 * size),
    }


def main() -> None:
    """Run one of the benchmarks and print its result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", choices=["chain", "memory"])
    parser.add_argument("--library", default="umber", choices=["umber", "mlx"])
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--bytes", type=int, default=MEMORY_BYTES)
    options = parser.parse_args()
    library = Library(options.library, threads=2)
    if options.program == "chain":
        result = on_small_stack(lambda: chain(library, options.nodes))
    else:
        result = memory(library, options.bytes)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
