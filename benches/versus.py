"""Measures umber and its peers in one run and prints ratios of times.

Every library runs in its own process. Results are compared before anything is timed. Then the
libraries are timed in turn, and each round starts with a different one; the processes of the others
are stopped meanwhile, because their spinning threads would use the CPU. `torch:1` is PyTorch with
one thread, which is faster for small programs; umber is compared with the faster one. A time is the
median over the rounds; a ratio is umber's time over the peer's, so lower is better for umber.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import chart
import numpy as np
from libraries import PACKAGES, environment
from programs import PROGRAMS, Program
from worker import sketch

HERE = Path(__file__).resolve().parent

# The benchmarks of large.py.
LARGE = ("chain", "memory")


class Peer:
    """A worker process, which is stopped (SIGSTOP) between requests."""

    def __init__(self, name: str, python: str, threads: int) -> None:
        """Start the worker and wait until its library is imported."""
        library, _, thread_suffix = name.partition(":")
        threads = int(thread_suffix or threads)
        self.process = subprocess.Popen(
            [python, str(HERE / "worker.py"), library, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(threads),
        )
        self.info = self.read()
        if "missing" not in self.info:
            os.kill(self.process.pid, signal.SIGSTOP)

    def read(self) -> dict[str, Any]:
        """Read the next response."""
        line = self.process.stdout.readline()
        if not line:
            return {"error": f"the process ended with status {self.process.wait()}"}
        return json.loads(line)

    def ask(self, method: str, *arguments: Any) -> dict[str, Any]:
        """Send a request to the worker and return its response."""
        if self.process.poll() is not None:
            return {"error": f"the process ended with status {self.process.returncode}"}
        os.kill(self.process.pid, signal.SIGCONT)
        self.process.stdin.write(json.dumps([method, arguments]) + "\n")
        self.process.stdin.flush()
        response = self.read()
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGSTOP)
        return response

    def close(self) -> None:
        """End the worker."""
        self.process.kill()
        self.process.wait()


def compare_results(program: Program, sketches: dict[str, list[float]]) -> dict[str, bool]:
    """Whether each result agrees with the reference, if any, or with the first library's."""
    if not sketches:
        return {}
    if program.reference is not None:
        expected = np.array(sketch(program.reference()))
    else:
        expected = np.array(next(iter(sketches.values())))
    return {
        name: len(values) == len(expected)
        and bool(np.allclose(values, expected, rtol=program.tolerance, atol=program.tolerance))
        for name, values in sketches.items()
    }


def measure(key: str, peers: dict[str, Peer], rounds: int) -> dict[str, Any]:
    """Times of a program by library, and remarks on libraries that were skipped."""
    program = PROGRAMS[key]
    remarks, calls, sketches = {}, {}, {}
    for name in program.libraries:
        if name not in peers:
            continue
        is_checked = not (key == "multiply_add" and name == "numpy")
        response = peers[name].ask("prepare", key, is_checked)
        if "error" in response:
            remarks[name] = response["error"]
            continue
        calls[name] = response["calls"]
        if is_checked:
            sketches[name] = response["sketch"]
    for name, is_correct in compare_results(program, sketches).items():
        if not is_correct:
            remarks[name] = "wrong result"
            del calls[name]
    times: dict[str, list[float]] = {name: [] for name in calls}
    for round_index in range(rounds):
        order = list(calls)
        for name in (
            order[round_index % len(order) :] + order[: round_index % len(order)] if order else []
        ):
            response = peers[name].ask("sample", calls[name])
            if "error" in response:
                remarks[name] = response["error"]
            else:
                times[name].append(response["seconds"] / program.per_call)
    medians = {name: statistics.median(samples) for name, samples in times.items() if samples}
    return {"title": program.title, "seconds": medians, "remarks": remarks, "samples": times}


def duration(seconds: float) -> str:
    """A time with a suitable unit."""
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def relative_spread(samples: list[float]) -> float:
    """Half the interquartile range, relative to the median."""
    if len(samples) < 4:
        return 0.0
    low, median, high = statistics.quantiles(samples, n=4)
    return (high - low) / 2 / median


def lines_of(key: str, result: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The output lines of a program, and the limits it missed."""
    lines, missed = [result["title"]], []
    umber_time = result["seconds"].get("umber")
    for name, seconds in result["seconds"].items():
        text = (
            f"    {name:8} {duration(seconds):>9} ±{relative_spread(result['samples'][name]):4.0%}"
        )
        limit = PROGRAMS[key].limits.get(name)
        if umber_time is not None and name != "umber":
            ratio = umber_time / seconds
            text += f"   umber/{name} = {ratio:.3g}"
            if limit is not None:
                verdict = "ok" if ratio <= limit else "MISSED"
                text += f"   (at most {limit:.3g}: {verdict})"
                if ratio > limit:
                    missed.append(f"{key}: umber/{name} = {ratio:.3g}, at most {limit:.3g}")
        lines.append(text)
    for name, remark in result["remarks"].items():
        lines.append(f"    {name:8} {remark}")
        if name == "umber":
            missed.append(f"{key}: {remark}")
    return lines, missed


def large(program: str, python: str, threads: int) -> dict[str, Any]:
    """Run a benchmark of large.py and return its result."""
    process = subprocess.run(
        [python, str(HERE / "large.py"), program],
        capture_output=True,
        text=True,
        env=environment(threads),
        check=False,
    )
    if process.returncode:
        last_line = (process.stderr.strip().splitlines() or [""])[-1]
        return {"error": f"status {process.returncode}: {last_line}"}
    return json.loads(process.stdout.splitlines()[-1])


def large_lines(results: dict[str, dict[str, Any]]) -> tuple[list[str], list[str]]:
    """The output lines of the benchmarks of large.py, and the limits they missed."""
    lines, missed = [], []
    for program, result in results.items():
        if "error" in result or not result["right"]:
            lines.append(f"{program}: {result.get('error', 'wrong result')}")
            missed.append(lines[-1])
        elif program == "chain":
            lines.append(f"chain of {result['nodes']} nodes, stack of 256 KiB")
            lines += [f"    {step:18} {duration(time)}" for step, time in result["seconds"].items()]
        else:
            ratio = result["peak over input and output"]
            verdict = "ok" if ratio <= 1.05 else "MISSED"
            lines.append(f"peak memory of an elementwise chain on {result['bytes'] / 1e9:.2f} GB")
            lines.append(f"    over input + output: {ratio:.3f}   (at most 1.05: {verdict})")
            if ratio > 1.05:
                missed.append(f"memory: {ratio:.3f} of input + output, at most 1.05")
    return lines, missed


def parse() -> argparse.Namespace:
    """Parse the command-line options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", default="", metavar="RE", help="only programs that match")
    parser.add_argument(
        "--libraries",
        default=",".join([*PACKAGES, "torch:1"]),
        help="comma-separated; torch:1 is torch with one thread",
    )
    parser.add_argument(
        "--peers",
        default=sys.executable,
        metavar="PYTHON",
        help="interpreter of the peers, if they live elsewhere than umber",
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", type=Path, metavar="JSON", help="write every sample to this file")
    parser.add_argument(
        "--chart",
        type=Path,
        default=Path("out/bench.png"),
        metavar="PNG",
        help="draw the ratios there",
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a limit is missed")
    options = parser.parse_args()
    if shutil.which(options.peers) is None:
        parser.error(f"--peers: got {options.peers}, expected a Python interpreter")
    programs = [*PROGRAMS, *LARGE]
    if not any(map(re.compile(options.programs).search, programs)):
        parser.error(f"--programs: got {options.programs}, expected one of {', '.join(programs)}")
    return options


def main() -> int:
    """Run the benchmarks and print the results."""
    options = parse()
    peers: dict[str, Peer] = {}
    for name in options.libraries.split(","):
        python = sys.executable if name in ("umber", "numpy") else options.peers
        peer = Peer(name, python, options.threads)
        if "version" in peer.info:
            peers[name] = peer
            print(f"{name} {peer.info['version']}")
        else:
            print(f"{name}: left out ({peer.info.get('missing') or peer.info['error']})")
    print(f"{options.threads} threads, load {os.getloadavg()[0]:.1f} at the start\n")
    pattern = re.compile(options.programs)
    missed, record = [], {}
    try:
        for key in filter(pattern.search, PROGRAMS):
            record[key] = measure(key, peers, options.rounds)
            lines, failures = lines_of(key, record[key])
            missed += failures
            print(*lines, sep="\n", flush=True)
    finally:
        for peer in peers.values():
            peer.close()
    if "umber" in peers:
        results = {
            program: large(program, sys.executable, options.threads)
            for program in filter(pattern.search, LARGE)
        }
        lines, failures = large_lines(results)
        missed += failures
        record.update(results)
        print(*lines, sep="\n")
    if options.out:
        options.out.write_text(json.dumps(record, indent=1) + "\n")
    if chart.draw(record, options.chart):
        print(f"\nwrote {options.chart}")
    print(f"\n{len(missed)} limits missed", *missed, sep="\n    ")
    return int(options.strict and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
