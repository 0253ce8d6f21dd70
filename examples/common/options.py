"""Command-line options and exit statuses of the examples: 0, or 2 after a one-line error."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

PROGRAM = Path(sys.argv[0]).name


def fail(message: object) -> NoReturn:
    """End the program with one line on stderr and status 2."""
    print(f"{PROGRAM}: error: {' '.join(str(message).split())}", file=sys.stderr)
    raise SystemExit(2)


class Options(argparse.ArgumentParser):
    """An argument parser that shows defaults in its help and reports errors in one line."""

    def __init__(self, description: str) -> None:
        super().__init__(
            prog=PROGRAM,
            description=description,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        fail(f"{message} (see --help)")

    def add_seed_and_output(self) -> None:
        """Add the options of the examples that use random numbers and write files."""
        self.add_argument("--seed", type=whole_number(0), default=0, help="seed of random numbers")
        self.add_argument("--output", type=folder, default=Path("out"), help="folder for the files")


def whole_number(lowest: int, highest: int = 2**63 - 1) -> Callable[[str], int]:
    """An option type: an integer in a range."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = None
        if value is None or not lowest <= value <= highest:
            raise argparse.ArgumentTypeError(
                f"got {text!r}, expected a whole number from {lowest} to {highest}"
            )
        return value

    return parse


def positive_number(text: str) -> float:
    """An option type: a finite number above 0."""
    value = _number(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"got {text!r}, expected a number above 0")
    return value


def number_in(lowest: float, highest: float) -> Callable[[str], float]:
    """An option type: a number in a range that includes both ends."""

    def parse(text: str) -> float:
        value = _number(text)
        if not lowest <= value <= highest:
            raise argparse.ArgumentTypeError(
                f"got {text!r}, expected a number from {lowest} to {highest}"
            )
        return value

    return parse


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def folder(text: str) -> Path:
    """An option type: a folder with a nonempty name."""
    if not text:
        # `Path("")` is the current folder.
        raise argparse.ArgumentTypeError("got '', expected the name of a folder")
    return Path(text)


def run(main: Callable[[], int]) -> NoReturn:
    """Exit with the status that `main` returns."""
    if sys.stdout is None:
        fail("cannot write to the standard output: got none, expected one that is open")
    try:
        status = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        sys.exit(130)
    except OSError as error:
        # Errors of files are reported where the files are used; here it is an error of `print`.
        if error.filename is not None:
            raise
        # At exit, Python would flush the buffer again and report the error a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        fail(f"cannot write to the standard output: {error.strerror or error}")
    sys.exit(status)
