"""Time umber against its peers in one run and print ratios.

Every library runs in a process of its own. Results are compared before anything is timed. Then the
libraries are sampled in turn, each round starting with another one, while the processes of the
others are stopped, so that their spinning threads cost nobody anything. `torch:1` is PyTorch with
one thread: small work is faster that way, and umber is held against the faster one. A time is the
median over the rounds; a ratio is umber's time over the peer's, so that less is better for umber.
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

# The programs of large.py.
LARGE = ("chain", "memory")


class Peer:
    """A worker process; it is stopped whenever it has nothing to do."""

    def __init__(self, name: str, python: str, threads: int) -> None:
        """Start the worker and wait until its library is imported."""
        library, _, own_threads = name.partition(":")
        threads = int(own_threads or threads)
        self.process = subprocess.Popen(
            [python, str(HERE / "worker.py"), library, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(threads),
        )
        self.about = self.read()
        if "missing" not in self.about:
            os.kill(self.process.pid, signal.SIGSTOP)

    def read(self) -> dict[str, Any]:
        """The next answer."""
        line = self.process.stdout.readline()
        if not line:
            return {"error": f"the process ended with status {self.process.wait()}"}
        return json.loads(line)

    def ask(self, method: str, *arguments: Any) -> dict[str, Any]:
        """Let the worker run for one request."""
        if self.process.poll() is not None:
            return {"error": f"the process ended with status {self.process.returncode}"}
        os.kill(self.process.pid, signal.SIGCONT)
        self.process.stdin.write(json.dumps([method, arguments]) + "\n")
        self.process.stdin.flush()
        answer = self.read()
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGSTOP)
        return answer

    def close(self) -> None:
        """End the worker."""
        self.process.kill()
        self.process.wait()


def agreeing(program: Program, sketches: dict[str, list[float]]) -> dict[str, bool]:
    """Which results agree with the reference, or with the first library's where there is none."""
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
    """Times of a program by library, and remarks on libraries that were left out."""
    program = PROGRAMS[key]
    remarks, calls, sketches = {}, {}, {}
    for name in program.libraries:
        if name not in peers:
            continue
        checked = not (key == "multiply_add" and name == "numpy")
        answer = peers[name].ask("prepare", key, checked)
        if "error" in answer:
            remarks[name] = answer["error"]
            continue
        calls[name] = answer["calls"]
        if checked:
            sketches[name] = answer["sketch"]
    for name, right in agreeing(program, sketches).items():
        if not right:
            remarks[name] = "wrong result"
            del calls[name]
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(rounds):
        order = list(calls)
        for name in order[turn % len(order) :] + order[: turn % len(order)] if order else []:
            answer = peers[name].ask("sample", calls[name])
            if "error" in answer:
                remarks[name] = answer["error"]
            else:
                times[name].append(answer["seconds"] / program.per_call)
    medians = {name: statistics.median(each) for name, each in times.items() if each}
    return {"title": program.title, "seconds": medians, "remarks": remarks, "samples": times}


def duration(seconds: float) -> str:
    """A time in the unit that suits it."""
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def spread(samples: list[float]) -> float:
    """Half the distance between the quartiles, relative to the median."""
    if len(samples) < 4:
        return 0.0
    low, middle, high = statistics.quantiles(samples, n=4)
    return (high - low) / 2 / middle


def lines_of(key: str, result: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The lines of the table for a program, and the limits it missed."""
    lines, missed = [result["title"]], []
    own = result["seconds"].get("umber")
    for name, seconds in result["seconds"].items():
        text = f"    {name:8} {duration(seconds):>9} ±{spread(result['samples'][name]):4.0%}"
        limit = PROGRAMS[key].limits.get(name)
        if own is not None and name != "umber":
            ratio = own / seconds
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
    """The result of one of the programs of large.py."""
    done = subprocess.run(
        [python, str(HERE / "large.py"), program],
        capture_output=True,
        text=True,
        env=environment(threads),
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        return {"error": f"status {done.returncode}: {last}"}
    return json.loads(done.stdout.splitlines()[-1])


def large_lines(results: dict[str, dict[str, Any]]) -> tuple[list[str], list[str]]:
    """The lines of the table for the programs of large.py, and the limits they missed."""
    lines, missed = [], []
    for program, result in results.items():
        if "error" in result or not result["right"]:
            lines.append(f"{program}: {result.get('error', 'wrong result')}")
            missed.append(lines[-1])
        elif program == "chain":
            lines.append(f"chain of {result['nodes']} nodes, stack of 256 KiB")
            lines += [f"    {step:18} {duration(each)}" for step, each in result["seconds"].items()]
        else:
            ratio = result["peak over input and output"]
            verdict = "ok" if ratio <= 1.05 else "MISSED"
            lines.append(f"peak memory of an elementwise chain on {result['bytes'] / 1e9:.2f} GB")
            lines.append(f"    over input + output: {ratio:.3f}   (at most 1.05: {verdict})")
            if ratio > 1.05:
                missed.append(f"memory: {ratio:.3f} of input + output, at most 1.05")
    return lines, missed


def parse() -> argparse.Namespace:
    """The options."""
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
    """Measure and print."""
    options = parse()
    peers: dict[str, Peer] = {}
    for name in options.libraries.split(","):
        python = sys.executable if name in ("umber", "numpy") else options.peers
        peer = Peer(name, python, options.threads)
        if "version" in peer.about:
            peers[name] = peer
            print(f"{name} {peer.about['version']}")
        else:
            print(f"{name}: left out ({peer.about.get('missing') or peer.about['error']})")
    print(f"{options.threads} threads, load {os.getloadavg()[0]:.1f} at the start\n")
    wanted = re.compile(options.programs)
    missed, record = [], {}
    try:
        for key in filter(wanted.search, PROGRAMS):
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
            for program in filter(wanted.search, LARGE)
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
